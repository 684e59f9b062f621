/*
 * What base/names.h promises: each text once, in the order they came, found among few
 * and among many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/names.h"

static void keeps_each_once_in_order(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_names names = { .arena = arena };
	struct roger_str name;
	size_t i, k;

	(void)state;
	for (i = 0; i < 3000; i++) {
		assert_true(rg_arena_print(arena, &name, "agent-%zu", i));
		assert_int_equal(rg_names_find(&names, name), SIZE_MAX);
		assert_true(rg_names_add(&names, name));
		assert_true(rg_names_add(&names, name));
		assert_int_equal(names.count, i + 1);
		for (k = i; k > 0; k /= 2)
			assert_int_equal(rg_names_find(&names, names.items[k]), k);
	}
	for (i = 0; i < names.count; i++) {
		assert_true(rg_arena_print(arena, &name, "agent-%zu", i));
		assert_true(rg_str_equal(names.items[i], name));
	}
	assert_int_equal(rg_names_find(&names, RG_STR("agent-")), SIZE_MAX);
	rg_arena_free(arena);
}

static void hashes_go_on(void **state)
{
	(void)state;
	assert_true(rg_names_hash(rg_names_hash(0, "work", 4), "er", 2) ==
		    rg_names_hash(0, "worker", 6));
	assert_true(rg_names_hash(0, "ab", 2) != rg_names_hash(0, "ba", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_each_once_in_order),
		cmocka_unit_test(hashes_go_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
