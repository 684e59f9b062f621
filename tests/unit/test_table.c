/* What a table promises: every hash that was put is found, with its entry, however many come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/table.h"

struct entry {
	uint64_t hash;
	uint64_t value;
};

static uint64_t mixed(uint64_t i)
{
	return (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void fill(struct rg_table *table, uint64_t count)
{
	struct entry *entry;
	uint64_t i;
	bool fresh;

	for (i = 0; i < count; i++) {
		entry = rg_table_put(table, mixed(i), &fresh);
		assert_non_null(entry);
		assert_true(fresh);
		assert_int_equal(entry->value, 0);
		entry->value = i;
	}
}

static void what_was_put_is_found(void **state)
{
	struct rg_table table;
	struct entry *entry;
	uint64_t i;
	bool fresh;

	(void)state;
	rg_table_init(&table, sizeof *entry);
	assert_null(rg_table_find(&table, 1));
	fill(&table, 100000);
	for (i = 0; i < 100000; i++) {
		entry = rg_table_find(&table, mixed(i));
		assert_non_null(entry);
		assert_int_equal(entry->value, i);
		assert_ptr_equal(rg_table_put(&table, mixed(i), &fresh), entry);
		assert_false(fresh);
	}
	assert_null(rg_table_find(&table, mixed(100001)));
	assert_int_equal(table.count, 100000);
	rg_table_deinit(&table);
}

/* Others point to entries while the table grows. */
static void no_entry_moves(void **state)
{
	struct rg_table table;
	struct entry *first;
	bool fresh;

	(void)state;
	rg_table_init(&table, sizeof *first);
	first = rg_table_put(&table, 7, &fresh);
	fill(&table, 5000);
	assert_ptr_equal(rg_table_find(&table, 7), first);
	rg_table_deinit(&table);
}

static void all_come_once(void **state)
{
	struct rg_table table;
	struct entry *entry;
	uint64_t sum = 0;
	size_t i = 0, count = 0;

	(void)state;
	rg_table_init(&table, sizeof *entry);
	assert_true(rg_table_reserve(&table, 5000));
	assert_null(rg_table_next(&table, &i));
	fill(&table, 5000);
	for (i = 0; (entry = rg_table_next(&table, &i)); count++)
		sum += entry->value;
	assert_int_equal(count, 5000);
	assert_int_equal(sum, UINT64_C(5000) * 4999 / 2);
	rg_table_deinit(&table);
}

static void zero_is_a_hash_like_others(void **state)
{
	struct rg_table table;
	bool fresh;

	(void)state;
	rg_table_init(&table, sizeof(struct entry));
	assert_non_null(rg_table_put(&table, 0, &fresh));
	assert_true(fresh);
	assert_non_null(rg_table_find(&table, 0));
	rg_table_deinit(&table);
}

/* A struct whose first member is a uint64_t has 12 bytes on some machines of 32 bits. */
static void an_entry_has_any_size(void **state)
{
	struct rg_table table;
	const char *first, *second;
	bool fresh;

	(void)state;
	rg_table_init(&table, 12);
	first = rg_table_put(&table, 1, &fresh);
	second = rg_table_put(&table, 2, &fresh);
	assert_int_equal(second - first, 16);
	assert_ptr_equal(rg_table_find(&table, 1), first);
	rg_table_deinit(&table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_put_is_found),
		cmocka_unit_test(no_entry_moves),
		cmocka_unit_test(all_come_once),
		cmocka_unit_test(zero_is_a_hash_like_others),
		cmocka_unit_test(an_entry_has_any_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
