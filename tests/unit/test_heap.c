/* heap: pieces apart from each other, zero where promised, whole after growing, and what does not
 * fit comes from elsewhere. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/heap.c"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static unsigned elsewhere; /* pieces that are not of the region */
static bool scarce;	   /* there is nothing elsewhere */

void *__real_malloc(size_t size)
{
	if (scarce)
		return NULL;
	elsewhere++;
	return malloc(size);
}

/* Only asked for what there can be nowhere. */
void *__real_calloc(size_t count, size_t size)
{
	assert_true(size && count > SIZE_MAX / size);
	return NULL;
}

void *__real_realloc(void *piece, size_t size)
{
	return realloc(piece, size);
}

void __real_free(void *piece)
{
	elsewhere -= piece != NULL;
	free(piece);
}

/* Each test starts with a region of which nothing is given out. */
static int setup(void **state)
{
	(void)state;
	clean = used > clean ? used : clean;
	used = 0;
	elsewhere = 0;
	scarce = false;
	return 0;
}

static bool holds(const unsigned char *piece, size_t length, unsigned char byte)
{
	for (size_t i = 0; i < length; i++)
		if (piece[i] != byte)
			return false;
	return true;
}

static void pieces_stand_apart(void **state)
{
	unsigned char *pieces[200];
	size_t i;

	(void)state;
	for (i = 0; i < 200; i++) {
		pieces[i] = i % 2 ? __wrap_malloc(i) : __wrap_calloc(i, 1);
		assert_non_null(pieces[i]);
		assert_true(is_ours(pieces[i]));
		assert_int_equal((uintptr_t)pieces[i] % ALIGNMENT, 0);
		if (i % 2 == 0)
			assert_true(holds(pieces[i], i, 0));
		memset(pieces[i], (int)i, i);
	}
	for (i = 0; i < 200; i++)
		assert_true(holds(pieces[i], i, (unsigned char)i));
	assert_int_equal(elsewhere, 0);
}

static void the_last_piece_is_used_again(void **state)
{
	unsigned char *first = __wrap_malloc(50), *piece = __wrap_malloc(100), *next;

	(void)state;
	memset(first, 5, 50);
	memset(piece, 0xa5, 100);
	__wrap_free(piece);
	next = __wrap_calloc(10, 10);
	assert_ptr_equal(next, piece);
	assert_true(holds(next, 100, 0));
	memset(next, 6, 100);
	/* One before it stays unused. */
	__wrap_free(first);
	piece = __wrap_malloc(10);
	assert_true(piece >= next + 100);
	assert_true(holds(next, 100, 6));
	__wrap_free(NULL);
}

static void the_last_piece_grows_where_it_stands(void **state)
{
	unsigned char *piece = __wrap_malloc(10), *grown, *next;
	size_t size;

	(void)state;
	memset(piece, 7, 10);
	for (size = 11; size < 5000; size += 13) {
		grown = __wrap_realloc(piece, size);
		assert_ptr_equal(grown, piece);
		assert_true(holds(grown, 10, 7));
	}
	memset(piece, 8, size - 13);
	next = __wrap_calloc(1, 64);
	assert_true(next >= piece + (size - 13));
	assert_true(holds(next, 64, 0));
	memset(next, 9, 64);
	assert_true(holds(piece, size - 13, 8));
}

static void another_one_moves(void **state)
{
	unsigned char *piece = __wrap_malloc(48), *next = __wrap_malloc(48), *moved;

	(void)state;
	memset(piece, 1, 48);
	memset(next, 2, 48);
	assert_ptr_equal(__wrap_realloc(piece, 20), piece);
	assert_ptr_equal(__wrap_realloc(piece, 48), piece);
	moved = __wrap_realloc(piece, 49);
	assert_true(moved >= next + 48);
	assert_true(holds(moved, 48, 1));
	assert_true(holds(next, 48, 2));
	assert_non_null(__wrap_realloc(NULL, 5));
}

static void what_does_not_fit_comes_from_elsewhere(void **state)
{
	unsigned char *all, *rest, *large, *moved;

	(void)state;
	large = __wrap_malloc(USUAL_BYTES - sizeof(struct head) + 1);
	assert_false(is_ours(large));
	__wrap_free(large);
	assert_null(__wrap_calloc(SIZE_MAX / 2, 3));
	assert_int_equal(elsewhere, 0);
	assert_int_equal(used, 0);

	all = __wrap_malloc(USUAL_BYTES - sizeof(struct head));
	assert_true(is_ours(all));
	assert_int_equal(used, USUAL_BYTES);
	memset(all, 3, USUAL_BYTES - sizeof(struct head));
	rest = __wrap_calloc(1, 1);
	assert_false(is_ours(rest));
	assert_int_equal(*rest, 0);
	rest = __wrap_realloc(rest, 100000);
	assert_non_null(rest);
	__wrap_free(rest);

	moved = __wrap_realloc(all, USUAL_BYTES);
	assert_false(is_ours(moved));
	assert_true(holds(moved, USUAL_BYTES - sizeof(struct head), 3));
	__wrap_free(moved);
	assert_int_equal(elsewhere, 0);
}

/* The region ends at every distance from what is asked for. */
static void the_end_is_exact(void **state)
{
	size_t left, size;

	for (left = 0; left <= 96; left += ALIGNMENT)
		for (size = 0; size <= 100; size++) {
			unsigned char *piece;

			setup(state);
			used = USUAL_BYTES - left;
			piece = __wrap_malloc(size);
			assert_int_equal(is_ours(piece),
					 sizeof(struct head) + round_up(size ? size : 1) <= left);
			assert_true(used <= USUAL_BYTES);
			if (is_ours(piece))
				assert_true((char *)piece + size <= region + USUAL_BYTES);
			else
				__wrap_free(piece);
		}
}

static void the_reserve_is_for_small_pieces_in_need(void **state)
{
	unsigned char *piece;
	size_t count;

	(void)state;
	used = USUAL_BYTES;
	piece = __wrap_malloc(1);
	assert_false(is_ours(piece));
	__wrap_free(piece);

	scarce = true;
	assert_null(__wrap_malloc(SMALL_BYTES + 1));
	assert_null(__wrap_calloc(1, SMALL_BYTES + 1));
	for (count = 0; (piece = __wrap_calloc(1, 1000)); count++) {
		assert_true(is_ours(piece));
		assert_true(holds(piece, 1000, 0));
		memset(piece, 1, 1000);
		piece = __wrap_realloc(piece, 1000);
		assert_non_null(piece);
	}
	assert_int_equal(count, (REGION_BYTES - USUAL_BYTES) / (sizeof(struct head) + 1008));
	assert_true(used <= REGION_BYTES);
}

/* At each length and each place of a difference, aligned or not. */
static void what_differs_first_decides(void **state)
{
	unsigned char one[40], other[40];
	size_t from, size, at;
	int more;

	(void)state;
	memset(one, 0x80, sizeof one);
	for (from = 0; from < 8; from++)
		for (size = 0; size <= 32; size++)
			for (at = 0; at < size; at++)
				for (more = -1; more <= 1; more++) {
					memcpy(other, one, sizeof one);
					other[from + at] = (unsigned char)(0x80 + more);
					other[from + size] = 0xff;
					if (at + 1 < size && more)
						other[from + at + 1] = (unsigned char)(0x80 - more);
					size_t volatile length = size;
					int order = memcmp(other + from, one + from, length);

					assert_int_equal((order > 0) - (order < 0), more);
				}
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces_stand_apart),
		TEST(the_last_piece_is_used_again),
		TEST(the_last_piece_grows_where_it_stands),
		TEST(another_one_moves),
		TEST(what_does_not_fit_comes_from_elsewhere),
		TEST(the_end_is_exact),
		TEST(the_reserve_is_for_small_pieces_in_need),
		TEST(what_differs_first_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
