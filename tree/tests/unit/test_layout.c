/*
 * What api/layout.h needs: each record that is an item of a list in a request or a
 * reply stands in roger_items of the header, with its size, and no two have one name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <roger.h>

static const struct roger_record *seen[128];
static size_t seen_count;

static void check_item(const struct roger_record *type)
{
	const struct roger_item *item = roger_items;
	size_t i;

	while (item->record && strcmp(item->record, type->name) != 0)
		item++;
	if (!item->record)
		fail_msg("'%s' is not in roger_items", type->name);
	assert_int_equal(item->size, type->size);
	for (i = 0; i < seen_count; i++)
		if (seen[i] != type && strcmp(seen[i]->name, type->name) == 0)
			fail_msg("two records are called '%s'", type->name);
	assert_true(seen_count < sizeof seen / sizeof *seen);
	seen[seen_count++] = type;
}

static void check_lists(const struct roger_record *type)
{
	const struct roger_field *field;

	for (field = type->fields; field->name; field++)
		if (field->kind == ROGER_RECORDS) {
			check_item(field->record);
			check_lists(field->record);
		}
}

static void test_every_item_has_its_size(void **state)
{
	const struct roger_op *const *op;

	(void)state;
	for (op = roger_ops(); *op; op++) {
		check_lists((*op)->request);
		check_lists((*op)->reply);
	}
	assert_true(seen_count > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_item_has_its_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
