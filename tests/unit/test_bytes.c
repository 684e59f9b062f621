/* bytes: copying, moving and comparing, every length and place against the obvious loop. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define memcpy own_memcpy
#define memmove own_memmove
#define memcmp own_memcmp
void *own_memcpy(void *restrict to, const void *restrict from, size_t length);
void *own_memmove(void *to, const void *from, size_t length);
int own_memcmp(const void *a, const void *b, size_t length);
#include "base/bytes.c"
#undef memcpy
#undef memmove
#undef memcmp

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROOM = 256, LENGTH_MAX = 80 };

static void fill(unsigned char *room)
{
	for (size_t i = 0; i < ROOM; i++)
		room[i] = (unsigned char)(i * 37 + 11);
}

/* Both ways from the same bytes: nothing else may change. */
static void check_move(size_t to, size_t from, size_t length)
{
	unsigned char moved[ROOM], expected[ROOM], before[ROOM];
	size_t i;

	fill(moved);
	fill(before);
	fill(expected);
	for (i = 0; i < length; i++)
		expected[to + i] = before[from + i];
	if (to + length <= from || from + length <= to) {
		assert_ptr_equal(own_memcpy(moved + to, moved + from, length), moved + to);
		assert_memory_equal(moved, expected, ROOM);
		fill(moved);
	}
	assert_ptr_equal(own_memmove(moved + to, moved + from, length), moved + to);
	assert_memory_equal(moved, expected, ROOM);
}

static void every_length_and_distance(void **state)
{
	size_t length, to;

	(void)state;
	for (length = 0; length <= LENGTH_MAX; length++)
		for (to = 0; to + length <= ROOM; to++)
			check_move(to, 100, length);
}

static int sign(int number)
{
	return (number > 0) - (number < 0);
}

static void the_first_difference_decides(void **state)
{
	unsigned char a[LENGTH_MAX] = { 0 }, b[LENGTH_MAX + 1] = { 0 };
	size_t length, at, i;

	(void)state;
	for (length = 0; length <= LENGTH_MAX; length++) {
		for (i = 0; i < length; i++)
			a[i] = b[i + 1] = (unsigned char)(i * 5);
		assert_int_equal(own_memcmp(a, b + 1, length), 0);
		for (at = 0; at < length; at++) {
			/* What comes behind it does not matter; bytes are not signed. */
			a[at] ^= 0x80;
			a[length - 1] ^= 0x41;
			assert_int_equal(sign(own_memcmp(a, b + 1, length)),
					 sign(memcmp(a, b + 1, length)));
			assert_int_equal(sign(own_memcmp(b + 1, a, length)),
					 sign(memcmp(b + 1, a, length)));
			a[at] ^= 0x80;
			a[length - 1] ^= 0x41;
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_and_distance),
		cmocka_unit_test(the_first_difference_decides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
