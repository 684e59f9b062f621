/*
 * What base/nearest.h promises: the distance is that of a plain recursive
 * definition, it is the same both ways, and only words a person could have meant are
 * suggested.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/nearest.h"

static size_t distance(const char *a, const char *b)
{
	return rg_distance(rg_str(a), rg_str(b));
}

static bool is_near(const char *typed, const char *known)
{
	return rg_is_near(rg_str(typed), rg_str(known));
}

static void knows_distances(void **state)
{
	(void)state;
	assert_int_equal(distance("", ""), 0);
	assert_int_equal(distance("", "abc"), 3);
	assert_int_equal(distance("worker-a", "worker-a"), 0);
	assert_int_equal(distance("worker-a", "worker-b"), 1);
	assert_int_equal(distance("wroker-a", "worker-a"), 1);
	assert_int_equal(distance("kitten", "sitting"), 3);
	assert_int_equal(distance("LEAD", "lead"), 2);
	assert_int_equal(distance("Lead", "lead"), 1);
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

/* The definition: optimal string alignment, in halves, from the ends inwards. */
static size_t halves(const char *a, size_t a_length, const char *b, size_t b_length)
{
	size_t best, price;

	if (a_length == 0 || b_length == 0)
		return 2 * (a_length + b_length);
	price = a[a_length - 1] == b[b_length - 1]		   ? 0
		: lower(a[a_length - 1]) == lower(b[b_length - 1]) ? 1
								   : 2;
	best = halves(a, a_length - 1, b, b_length - 1) + price;
	best = least(best, halves(a, a_length - 1, b, b_length) + 2);
	best = least(best, halves(a, a_length, b, b_length - 1) + 2);
	if (a_length > 1 && b_length > 1 && a[a_length - 1] == b[b_length - 2] &&
	    a[a_length - 2] == b[b_length - 1])
		best = least(best, halves(a, a_length - 2, b, b_length - 2) + 2);
	return best;
}

/* Every pair of words of up to four letters out of three. */
static void equals_the_definition(void **state)
{
	static const char letters[] = "abA";
	char words[121][5] = { { 0 } };
	size_t count = 1, start = 0, end = 1, length, i, j;

	(void)state;
	for (length = 1; length <= 4; length++, start = end, end = count) {
		for (i = start; i < end; i++) {
			for (j = 0; j < 3; j++) {
				memcpy(words[count], words[i], sizeof words[i]);
				words[count++][length - 1] = letters[j];
			}
		}
	}
	assert_int_equal(count, 121);

	for (i = 0; i < count; i++) {
		for (j = 0; j < count; j++) {
			assert_int_equal(
				distance(words[i], words[j]),
				(halves(words[i], strlen(words[i]), words[j], strlen(words[j])) +
				 1) / 2);
			assert_int_equal(distance(words[i], words[j]),
					 distance(words[j], words[i]));
		}
	}
}

static void suggests_what_was_meant(void **state)
{
	(void)state;
	assert_true(is_near("reveiwer", "reviewer"));
	assert_true(is_near("max_contnt_length", "max_content_length"));
	assert_true(is_near("Lead", "lead"));
	assert_true(is_near("qa", "qa"));
}

/* Of words as near as each other the first one. */
static void finds_the_nearest(void **state)
{
	struct roger_str words[] = { RG_STR("reviewers"), RG_STR("writer"), RG_STR("reviewer"),
				     RG_STR("Reviewer") };
	const struct roger_strs all = { words, 4 }, none = { words, 0 };

	(void)state;
	assert_true(rg_str_is(rg_nearest_of(all, RG_STR("reveiwer")), "reviewer"));
	assert_true(rg_str_is(rg_nearest_of(all, RG_STR("wrter")), "writer"));
	assert_int_equal(rg_nearest_of(all, RG_STR("qa")).length, 0);
	assert_int_equal(rg_nearest_of(none, RG_STR("writer")).length, 0);
}

static void suggests_nothing_far_fetched(void **state)
{
	(void)state;
	assert_false(is_near("", "a"));
	assert_false(is_near("a", "b"));
	assert_false(is_near("qa", "ba2"));
	assert_false(is_near("plan", "implement"));
	assert_false(is_near("reviewer", "r"));
}

static void long_words_are_never_near(void **state)
{
	char word[65];

	(void)state;
	memset(word, 'x', sizeof word);
	assert_int_equal(
		rg_distance((struct roger_str){ word, 64 }, (struct roger_str){ word, 64 }), 0);
	assert_int_equal(
		rg_distance((struct roger_str){ word, 65 }, (struct roger_str){ word, 65 }),
		SIZE_MAX);
	assert_false(rg_is_near((struct roger_str){ word, 65 }, (struct roger_str){ word, 64 }));
	assert_false(rg_is_near((struct roger_str){ word, 64 }, (struct roger_str){ word, 65 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_distances),
		cmocka_unit_test(equals_the_definition),
		cmocka_unit_test(suggests_what_was_meant),
		cmocka_unit_test(finds_the_nearest),
		cmocka_unit_test(suggests_nothing_far_fetched),
		cmocka_unit_test(long_words_are_never_near),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
