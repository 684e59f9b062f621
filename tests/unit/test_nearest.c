/*
 * What base/nearest.h promises: only words a person could have meant are suggested; each case of
 * what is a slip of the hand, and that among many known names the one is found that a look at each
 * in turn would find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/names.h"
#include "base/nearest.h"

static bool is_near(const char *typed, const char *known)
{
	struct roger_str nearest = { "", 0 };

	return rg_nearest_look(&nearest, rg_str(typed), rg_str(known));
}

static void suggests_what_was_meant(void **state)
{
	(void)state;
	assert_true(is_near("reveiwer", "reviewer"));
	assert_true(is_near("max_contnt_length", "max_content_length"));
	assert_true(is_near("Lead", "lead"));
}

/* Of several words that may be meant the first one. */
static void finds_the_first(void **state)
{
	struct roger_str words[] = { RG_STR("reviewers"), RG_STR("writer"), RG_STR("reviewer"),
				     RG_STR("Reviewer") };
	const struct roger_strs all = { words, 4 }, none = { words, 0 };

	(void)state;
	assert_true(rg_str_is(rg_nearest_of(all, RG_STR("reveiwer")), "reviewer"));
	assert_true(rg_str_is(rg_nearest_of(all, RG_STR("wrter")), "writer"));
	assert_true(rg_str_is(rg_nearest_of(all, RG_STR("REVIEWER")), "Reviewer"));
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
		cmocka_unit_test(suggests_what_was_meant),
		cmocka_unit_test(finds_the_first),
		cmocka_unit_test(suggests_nothing_far_fetched),
		cmocka_unit_test(knows_slips),
		cmocka_unit_test(knows_what_is_no_slip),
		cmocka_unit_test(finds_what_a_look_at_each_finds),
		cmocka_unit_test(nobody_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
