/* What an arena promises: pieces stay where they are, texts end in a NUL, lists grow in place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

static void texts_are_kept(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_buf buf = { .maximum = 100 };
	struct roger_str copied, printed, kept;

	(void)state;
	assert_true(rg_arena_copy(arena, (struct roger_str){ "a\0bc", 3 }, &copied));
	assert_int_equal(copied.length, 3);
	assert_memory_equal(copied.data, "a\0b", 4);
	assert_true(
		rg_arena_print(arena, &printed, "%s/%.*s.%d", "folder", RG_STR_ARGS(copied), 7));
	assert_string_equal(printed.data, "folder/a.7");
	assert_int_equal(printed.length, 10);
	rg_buf_add_text(&buf, "word");
	assert_true(rg_arena_keep(arena, &buf, &kept));
	assert_null(buf.data);
	assert_string_equal(kept.data, "word");
	buf = (struct rg_buf){ .maximum = 100 };
	rg_buf_add_text(&buf, "text");
	kept = rg_arena_take(arena, &buf);
	assert_null(buf.data);
	assert_string_equal(kept.data, "text");
	printed = rg_arena_text(arena, "%s %d", "number", 3);
	assert_string_equal(printed.data, "number 3");
	assert_int_equal(printed.length, 8);
	assert_false(rg_arena_failed(arena));
	rg_arena_free(arena);
}

static void texts_are_listed(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct roger_strs list = { 0 };

	(void)state;
	assert_true(rg_arena_add(arena, &list, RG_STR("one")));
	assert_true(rg_arena_note(arena, &list, "%s %d", "number", 2));
	assert_int_equal(list.count, 2);
	assert_string_equal(list.items[0].data, "one");
	assert_string_equal(list.items[1].data, "number 2");
	assert_int_equal(list.items[1].length, 8);
	rg_arena_free(arena);
}

/* A buffer that could not take everything is not half kept. */
static void what_is_not_whole_is_not_kept(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_buf buf = { .maximum = 600 };
	struct roger_str kept = RG_STR("before");
	int i;

	(void)state;
	for (i = 0; i < 100; i++)
		rg_buf_add_text(&buf, "ten bytes.");
	assert_false(rg_arena_keep(arena, &buf, &kept));
	assert_null(buf.data);
	assert_string_equal(kept.data, "before");
	assert_true(rg_arena_failed(arena));
	rg_arena_free(arena);
}

/* What got no memory is remembered until all is forgotten. */
static void a_failure_is_remembered(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_buf buf = { .maximum = 2 };
	struct roger_str taken;

	(void)state;
	rg_buf_add_text(&buf, "too long");
	taken = rg_arena_take(arena, &buf);
	assert_string_equal(taken.data, "");
	assert_int_equal(taken.length, 0);
	assert_true(rg_arena_failed(arena));
	assert_non_null(rg_arena_get(arena, 10));
	assert_true(rg_arena_failed(arena));
	rg_arena_reset(arena);
	assert_false(rg_arena_failed(arena));
	assert_null(rg_arena_get(arena, SIZE_MAX));
	assert_null(rg_arena_get(arena, SIZE_MAX - 20));
	assert_true(rg_arena_failed(arena));
	rg_arena_free(arena);
}

static void lists_grow(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	uint64_t *items = NULL, *place;
	size_t count = 0, i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		place = rg_arena_push(arena, &items, &count, sizeof *items);
		assert_non_null(place);
		assert_int_equal(*place, 0);
		*place = i;
	}
	assert_int_equal(count, 100000);
	for (i = 0; i < count; i++)
		assert_int_equal(items[i], i);
	rg_arena_free(arena);
}

/* As it is, and also where it is one of the list, which moves as it grows. */
static void an_item_is_appended(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct {
		char letter;
		uint64_t number;
	} *items = NULL, item = { 'a', 1 };
	size_t count = 0, i;

	(void)state;
	assert_true(rg_arena_append(arena, &items, &count, &item, sizeof item));
	for (i = 0; i < 100; i++) {
		assert_true(rg_arena_append(arena, &items, &count, &items[i], sizeof *items));
		items[i].number = i;
	}
	assert_int_equal(count, 101);
	for (i = 0; i < count; i++) {
		assert_int_equal(items[i].letter, 'a');
		assert_int_equal(items[i].number, i < 100 ? i : 1);
	}
	rg_arena_free(arena);
}

/* What was forgotten is used again: an arena that is filled anew does not grow. */
static void a_reset_keeps_memory(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	size_t held = 0;
	int i, k;

	(void)state;
	for (i = 0; i < 10; i++) {
		for (k = 0; k < 20; k++)
			assert_non_null(rg_arena_get(arena, 10000));
		assert_true(i < 2 || rg_arena_held(arena) <= held);
		held = rg_arena_held(arena);
		rg_arena_reset(arena);
	}
	rg_arena_free(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_are_kept),
		cmocka_unit_test(texts_are_listed),
		cmocka_unit_test(what_is_not_whole_is_not_kept),
		cmocka_unit_test(a_failure_is_remembered),
		cmocka_unit_test(lists_grow),
		cmocka_unit_test(an_item_is_appended),
		cmocka_unit_test(a_reset_keeps_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
