/*
 * What facts/wake.h promises: an attempt is due once mail has waited, comes
 * again ever later and never beyond the most, and no clock keeps it from
 * coming; words get names and numbers and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts/wake.h"

static const struct rg_wake_rules rules = { 30000, 60000, 1800000 };

static int64_t wait_after(int64_t attempts, int64_t passed_ms)
{
	const int64_t now_ms = INT64_C(1763712000000);
	const struct rg_wake_case known = {
		.since_ms = attempts ? now_ms - 10 * passed_ms : now_ms - passed_ms,
		.attempts = attempts,
		.attempt_ms = attempts ? now_ms - passed_ms : 0,
	};

	return rg_wake_wait(&rules, &known, now_ms);
}

static void the_first_waits_for_a_look(void **state)
{
	(void)state;
	assert_int_equal(wait_after(0, 0), 30000);
	assert_int_equal(wait_after(0, 1), 29999);
	assert_int_equal(wait_after(0, 29999), 1);
	assert_int_equal(wait_after(0, 30000), 0);
	assert_int_equal(wait_after(0, INT64_C(86400000)), 0);
}

static void each_waits_twice_as_long_as_the_one_before(void **state)
{
	int64_t gap_ms = 60000;
	int64_t attempts;

	(void)state;
	for (attempts = 1; attempts <= 40; attempts++) {
		assert_int_equal(wait_after(attempts, 0), gap_ms);
		assert_int_equal(wait_after(attempts, gap_ms - 1), 1);
		assert_int_equal(wait_after(attempts, gap_ms), 0);
		gap_ms = gap_ms * 2 < 1800000 ? gap_ms * 2 : 1800000;
	}
	assert_int_equal(wait_after(INT64_MAX, 0), 1800000);
}

static void a_clock_that_was_set_back_delays_nothing(void **state)
{
	(void)state;
	assert_int_equal(wait_after(0, -1), 0);
	assert_int_equal(wait_after(0, -INT64_C(86400000)), 0);
	assert_int_equal(wait_after(7, -1), 0);
}

static void rules_of_nothing_and_of_much(void **state)
{
	const struct rg_wake_rules at_once = { 0, 1000, 1000 };
	const struct rg_wake_rules large = { 0, INT64_C(86400000), INT64_C(604800000) };
	const struct rg_wake_rules longest = { 0, INT64_MAX, INT64_MAX };
	const struct rg_wake_case fresh = { .since_ms = 5 };
	const struct rg_wake_case tried = { .since_ms = 5, .attempts = 100, .attempt_ms = 10 };

	(void)state;
	assert_int_equal(rg_wake_wait(&at_once, &fresh, 5), 0);
	assert_int_equal(rg_wake_wait(&at_once, &tried, 10), 1000);
	assert_int_equal(rg_wake_wait(&large, &tried, 10), INT64_C(604800000));
	/* The longest gap there is is not doubled. */
	assert_int_equal(rg_wake_wait(&longest, &tried, 10), INT64_MAX);
}

/* ----------------------------------------------------------------- words -- */

static void fills(const char *word, const char *expected)
{
	const struct rg_wake_values values = { RG_STR("bob"), RG_STR("app-42"), RG_STR("msg-1-a"),
					       12, RG_STR("s-7") };
	struct rg_buf out;

	rg_buf_init(&out, SIZE_MAX);
	rg_wake_fill(rg_str(word), &values, &out);
	rg_buf_add_char(&out, '\0');
	assert_false(out.failed);
	assert_string_equal(out.data, expected);
	rg_buf_deinit(&out);
}

static void words_are_filled(void **state)
{
	(void)state;
	fills("", "");
	fills("plain", "plain");
	fills("{agent}", "bob");
	fills("mail for {agent}: {count} in {issue}, first {id}",
	      "mail for bob: 12 in app-42, first msg-1-a");
	fills("{agent}{agent}{count}", "bobbob12");
	fills("{session}/{issue}", "s-7/app-42");
	/* Everything else in braces is somebody else's. */
	fills("#{pane_id} {} { {agen} {agent {AGENT} {content} {{agent}}",
	      "#{pane_id} {} { {agen} {agent {AGENT} {content} {bob}");
}

/* Before there is mail, only the agent is known: all else stays as it is. */
static void the_agent_alone_is_filled(void **state)
{
	static const struct {
		const char *word, *filled;
	} cases[] = {
		{ "", "" },
		{ "{agent}", "bob" },
		{ "tell {agent} {agent}.", "tell bob bob." },
		{ "{issue} {id} {count} {session} {agen", "{issue} {id} {count} {session} {agen" },
	};
	struct rg_buf out;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		rg_buf_init(&out, SIZE_MAX);
		rg_wake_fill_agent(rg_str(cases[i].word), RG_STR("bob"), &out);
		rg_buf_add_char(&out, '\0');
		assert_string_equal(out.data, cases[i].filled);
		rg_buf_deinit(&out);
	}
}

static void what_was_filled_in_is_not_looked_at_again(void **state)
{
	const struct rg_wake_values values = { RG_STR("{id}"), RG_STR("{count}"), RG_STR(""), 0 };
	struct rg_buf out;

	(void)state;
	rg_buf_init(&out, SIZE_MAX);
	rg_wake_fill(RG_STR("{agent} {issue} {id}"), &values, &out);
	assert_true(rg_str_is(rg_buf_str(&out), "{id} {count} "));
	rg_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_waits_for_a_look),
		cmocka_unit_test(each_waits_twice_as_long_as_the_one_before),
		cmocka_unit_test(a_clock_that_was_set_back_delays_nothing),
		cmocka_unit_test(rules_of_nothing_and_of_much),
		cmocka_unit_test(words_are_filled),
		cmocka_unit_test(the_agent_alone_is_filled),
		cmocka_unit_test(what_was_filled_in_is_not_looked_at_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
