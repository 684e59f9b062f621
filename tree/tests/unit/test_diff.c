/*
 * What data/diff.h promises: the pieces that differ, with what is around them;
 * and for any two texts, taking the lines with ' ' and '-' gives the first
 * back, those with ' ' and '+' the second.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "data/diff.h"

static void check(const char *before, const char *after, size_t context, const char *expected)
{
	struct rg_buf out = { .maximum = SIZE_MAX };

	rg_diff(rg_str(before), rg_str(after), context, &out);
	rg_buf_add_char(&out, 0);
	assert_false(out.failed);
	assert_string_equal(out.data, expected);
	rg_buf_deinit(&out);
}

static void test_pieces(void **state)
{
	(void)state;
	check("", "", 3, "");
	check("a\nb\n", "a\nb\n", 3, "");
	check("", "a\n", 3, "@@ -1 +1 @@\n+a\n");
	check("a\n", "", 3, "@@ -1 +1 @@\n-a\n");
	check("a", "a\n", 3, "@@ -1 +1 @@\n-a\n\\ no newline at the end\n+a\n");
	check("1\n2\n3\n4\n5\n", "1\n2\n3\n4\n4b\n5\n", 1, "@@ -4 +4 @@\n 4\n+4b\n 5\n");
	check("1\n2\n3\n4\n5\n6\n7\n", "0\n1\n2\n3\n4\n5\n7\n", 1,
	      "@@ -1 +1 @@\n+0\n 1\n@@ -5 +6 @@\n 5\n-6\n 7\n");
	check("a\nb\n", "a\nc\n", 0, "@@ -2 +2 @@\n-b\n+c\n");
}

/* The lines that have one of two signs, without it. */
static void take(struct roger_str diff, char sign, struct rg_buf *out)
{
	const char *line = diff.data, *end = diff.data + diff.length;

	while (line < end) {
		const char *next = (const char *)memchr(line, '\n', (size_t)(end - line)) + 1;

		if (*line == sign || *line == ' ')
			rg_buf_add(out, line + 1, (size_t)(next - line) - 1);
		line = next;
	}
}

/* Every pair of texts of up to five lines out of three. */
static void test_every_pair(void **state)
{
	enum { TEXTS = 364 };
	static char texts[TEXTS][12];
	size_t count = 0, i, j, length;

	(void)state;
	for (length = 0; length <= 5; length++)
		for (i = 0; i < (size_t[]){ 1, 3, 9, 27, 81, 243 }[length]; i++, count++)
			for (j = 0; j < length; j++) {
				size_t k, rest = i;

				for (k = 0; k < j; k++)
					rest /= 3;
				texts[count][2 * j] = (char)('a' + rest % 3);
				texts[count][2 * j + 1] = '\n';
			}
	assert_int_equal(count, TEXTS);
	for (i = 0; i < TEXTS; i++)
		for (j = 0; j < TEXTS; j++) {
			struct rg_buf diff = { .maximum = SIZE_MAX }, a = diff, b = diff;

			rg_diff(rg_str(texts[i]), rg_str(texts[j]), 99, &diff);
			take(rg_buf_str(&diff), '-', &a);
			take(rg_buf_str(&diff), '+', &b);
			if (i != j) {
				assert_true(rg_str_is(rg_buf_str(&a), texts[i]));
				assert_true(rg_str_is(rg_buf_str(&b), texts[j]));
			} else {
				assert_int_equal(diff.length, 0);
			}
			rg_buf_deinit(&diff);
			rg_buf_deinit(&a);
			rg_buf_deinit(&b);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_every_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
