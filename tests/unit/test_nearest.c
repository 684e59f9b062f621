/*
 * What base/nearest.h promises: the distance is that of a plain recursive
 * definition, it is the same both ways, and only words a person could have meant are
 * suggested; each case of what is a slip of the hand, and that among many known names the
 * one is found that a look at each in turn would find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/names.h"
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

/* ---------------------------------------------------------------- slips -- */

static bool is_slip(const char *typed, const char *known)
{
	bool slip = rg_is_slip(rg_str(typed), rg_str(known));

	/* Which of the two was there first makes no difference. */
	assert_int_equal(rg_is_slip(rg_str(known), rg_str(typed)), slip);
	return slip;
}

static void knows_slips(void **state)
{
	static const char *const slips[][2] = {
		/* Without case and `-_.`, of any length. */
		{ "BOB", "bob" },
		{ "a.b", "ab" },
		{ "worker_1", "worker-1" },
		{ "Worker1", "worker-1" },
		{ "code.reviewer", "code_reviewer" },
		{ "-x", "X_" },
		/* One letter changed, missing or swapped, at the start, within, at the end. */
		{ "ymplement", "implement" },
		{ "impletent", "implement" },
		{ "implemenz", "implement" },
		{ "mplement", "implement" },
		{ "implemnt", "implement" },
		{ "implemen", "implement" },
		{ "miplement", "implement" },
		{ "implmeent", "implement" },
		{ "implemetn", "implement" },
		{ "wroker-a", "worker-a" },
		{ "wrker:2", "worker:2" },
		{ "team/wroker/x", "team/worker/x" },
		{ "aaaab", "aaabb" },
		/* From three letters on. */
		{ "tset", "test" },
		{ "tesst", "test" },
		{ "plna", "plan" },
		{ "plans", "plan" },
		{ "pln", "plan" },
		{ "bob", "rob" },
		{ "laed", "lead" },
		/* A last token that is a word. */
		{ "worker/alpha", "worker/alhpa" },
		{ "a-b.worker", "a-b.wroker" },
		{ "code-reveiw", "code-review" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof slips / sizeof *slips; i++)
		if (!is_slip(slips[i][0], slips[i][1]))
			fail_msg("'%s' is a slip for '%s'", slips[i][0], slips[i][1]);
}

static void knows_what_is_no_slip(void **state)
{
	static const char *const others[][2] = {
		{ "implement", "implement" },
		/* Digits. */
		{ "worker-2", "worker-1" },
		{ "worker2", "worker1" },
		{ "worker12", "worker21" },
		{ "worker1", "worker" },
		{ "app1", "app2" },
		{ "app", "app2" },
		{ "worker1x", "workerx1" },
		{ "w2rker-a", "worker-a" },
		/* The last token, after each separator. */
		{ "WORKER-B", "WORKER-A" },
		{ "worker_ab", "worker_ac" },
		{ "worker.ab", "worker.ba" },
		{ "worker:a", "worker:ab" },
		{ "team/ab", "team/abc" },
		/* Shorter than three. */
		{ "bo", "bob" },
		{ "ab", "ba" },
		/* Two letters; one letter and case. */
		{ "implmnt", "implement" },
		{ "yxplement", "implement" },
		{ "Implemnt", "implement" },
		{ "plane", "plain" },
		{ "abcdef", "badcef" },
		{ "abcde", "cbade" },
		/* Neither letter nor digit. */
		{ "agent:bob", "agent/bob" },
		{ "lead@host", "leadxhost" },
		{ "agent:x", "agentx" },
		/* Nothing but what does not count. */
		{ "_", "." },
		{ "", "implement" },
		{ "implement", "test" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof others / sizeof *others; i++)
		if (is_slip(others[i][0], others[i][1]))
			fail_msg("'%s' is no slip for '%s'", others[i][0], others[i][1]);
}

/* What rg_slips_find() stands for. */
static struct roger_str first_of(struct roger_strs names, struct roger_str typed)
{
	size_t i;

	for (i = 0; i < names.count; i++)
		if (rg_is_slip(typed, names.items[i]))
			return names.items[i];
	return RG_STR("");
}

static uint64_t seed = 20261122;

static size_t any(size_t count)
{
	seed = seed * 6364136223846793005 + 1442695040888963407;
	return (size_t)(seed >> 33) % count;
}

/* Short, of few letters, so that many are slips for each other. */
static struct roger_str any_name(struct rg_arena *arena)
{
	static const char letters[] = "aabbcAB1-_.:";
	char text[10];
	size_t length = 1 + any(sizeof text - 1), i;
	struct roger_str name;

	for (i = 0; i < length; i++)
		text[i] = letters[any(sizeof letters - 1)];
	assert_true(rg_arena_copy(arena, (struct roger_str){ text, length }, &name));
	return name;
}

static void finds_what_a_look_at_each_finds(void **state)
{
	size_t round, i, at, found = 0;

	(void)state;
	for (round = 0; round < 200; round++) {
		struct rg_arena *arena = rg_arena_new();
		struct rg_names names = { .arena = arena };
		struct roger_str typed, first;
		struct rg_slips slips = { 0 };

		for (i = 0; i < 1 + round; i++)
			assert_true(rg_names_add(&names, any_name(arena)));
		slips.names = rg_names_list(&names);
		assert_true(round % 2 || rg_slips_init(&slips, slips.names, arena));
		for (i = 0; i < 200; i++) {
			at = 0;
			typed = any_name(arena);
			first = first_of(rg_names_list(&names), typed);
			if (!rg_str_equal(rg_slips_find(&slips, typed, &at), first))
				fail_msg("'%.*s': not '%.*s'", RG_STR_ARGS(typed),
					 RG_STR_ARGS(first));
			found += first.length > 0;
		}
		rg_arena_free(arena);
	}
	assert_true(found > 1000);
}

static void nobody_is_known(void **state)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_slips slips;
	size_t at = 0;

	(void)state;
	assert_true(rg_slips_init(&slips, (struct roger_strs){ 0 }, arena));
	assert_int_equal(rg_slips_find(&slips, RG_STR("worker"), &at).length, 0);
	rg_arena_free(arena);
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
		cmocka_unit_test(knows_slips),
		cmocka_unit_test(knows_what_is_no_slip),
		cmocka_unit_test(finds_what_a_look_at_each_finds),
		cmocka_unit_test(nobody_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
