/*
 * What systems/watchdog.h promises, over every combination of receipts,
 * recoveries and instants: the status follows from the evidence, has a reason,
 * and no time alone ends a run; offsets, daylight saving and clocks that were
 * set back change nothing of that; contradictions are refused by member.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "systems/watchdog.h"

static const struct rg_watchdog_rules rules = { 3, 300000, 2, 3600000 };

/* 2026-04-24T02:40:00Z, ten minutes, and what comes after. */
static const int64_t dispatched_ms = INT64_C(1776998400000), expected_ms = INT64_C(1776999000000);

struct desk {
	struct rg_arena *arena;
	struct roger_run run;
	struct rg_receipts receipts;
	bool changed;
	struct roger_err err;
};

static int make_desk(void **state)
{
	struct desk *desk = calloc(1, sizeof *desk);

	desk->arena = rg_arena_new();
	desk->run = (struct roger_run){
		.run_id = RG_STR("r1"),
		.child_session_key = RG_STR("tester"),
		.dispatch_at = RG_STR("2026-04-24T10:40:00+08:00"),
		.expected_by = RG_STR("2026-04-24T10:50:00+08:00"),
		.status_updated_at = RG_STR("2026-04-24T10:40:00+08:00"),
		.status_reason = RG_STR("Dispatch receipt exists and SLA has not been crossed."),
		.owner_agent = RG_STR("lead"),
	};
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
	*state = desk;
	return 0;
}

static int clear_desk(void **state)
{
	struct desk *desk = *state;

	rg_arena_free(desk->arena);
	free(desk);
	return 0;
}

/* ---------------------------------------------------------------- status -- */

/* The same rule, said a second time and another way round. */
static enum roger_run_status expected_status(const struct rg_receipts *r, int64_t now_ms)
{
	bool hopeless = r->child_ended || r->recoveries >= rules.recoveries_max;

	if (!r->completed_ms)
		return hopeless			     ? ROGER_RUN_BLOCKED
		       : now_ms <= r->expected_by_ms ? ROGER_RUN_ACTIVE
						     : ROGER_RUN_SUSPECT;
	if (!r->forwarded)
		return ROGER_RUN_NOT_FORWARDED;
	return r->recoveries == 0 && !r->from_recovery ? ROGER_RUN_COMPLETED : ROGER_RUN_RECOVERED;
}

/* How the reason of each status must start. */
static bool fits(const char *reason, enum roger_run_status status)
{
	static const char *const starts[] = { "Dispatch receipt",
					      "No completion receipt, and SLA",
					      "Completion receipt exists",
					      "Completion receipt and confirmed forward",
					      "Completion and forward are confirmed",
					      NULL };

	if (status == ROGER_RUN_BLOCKED)
		return !strncmp(reason, "The child ended", 15) ||
		       !strncmp(reason, "No completion receipt after", 27);
	return !strncmp(reason, starts[status], strlen(starts[status]));
}

static void check(const struct rg_receipts *receipts, int64_t now_ms, int *seen)
{
	const struct roger_run run = { .expected_by = RG_STR("then"),
				       .result_source = RG_STR("completion_event"),
				       .child_exit = RG_STR("3") };
	enum roger_run_status status = rg_watchdog_judge(receipts, &rules, now_ms);
	struct rg_buf reason;

	assert_int_equal(status, expected_status(receipts, now_ms));
	rg_buf_init(&reason, 1000);
	rg_watchdog_explain(&run, receipts, &rules, status, &reason);
	rg_buf_add_char(&reason, '\0');
	assert_true(fits(reason.data, status));
	rg_buf_deinit(&reason);
	(*seen)++;
}

static void every_combination(void **state)
{
	/* Before the dispatch, at it, before, at and after the deadline, years later. */
	const int64_t nows[] = { 1,
				 dispatched_ms - 1,
				 dispatched_ms,
				 expected_ms - 1,
				 expected_ms,
				 expected_ms + 1,
				 expected_ms + INT64_C(10) * 365 * 86400000 };
	const int64_t completions[] = { 0, dispatched_ms, expected_ms, expected_ms + 1 };
	int seen = 0, forwarded, source, ended, recoveries;
	size_t now, completion;

	(void)state;
	for (now = 0; now < sizeof nows / sizeof *nows; now++)
		for (completion = 0; completion < 4; completion++)
			for (forwarded = 0; forwarded < 2; forwarded++)
				for (source = 0; source < 2; source++)
					for (ended = 0; ended < 2; ended++)
						for (recoveries = 0; recoveries < 5; recoveries++) {
							const struct rg_receipts receipts = {
								.dispatched_ms = dispatched_ms,
								.expected_by_ms = expected_ms,
								.completed_ms =
									completions[completion],
								.forwarded =
									forwarded && completion,
								.from_recovery = source,
								.child_ended = ended && !completion,
								.recoveries = recoveries,
								.last_recovery_ms =
									recoveries ? dispatched_ms
										   : 0,
							};

							check(&receipts, nows[now], &seen);
						}
	assert_int_equal(seen, 7 * 4 * 2 * 2 * 2 * 5);
}

/* However long one waits, without evidence there is no end, good or bad. */
static void time_alone_ends_nothing(void **state)
{
	struct desk *desk = *state;
	enum roger_run_status status;
	int64_t now_ms;

	for (now_ms = 1; now_ms < INT64_C(250000000000000); now_ms = now_ms * 2) {
		status = rg_watchdog_judge(&desk->receipts, &rules, now_ms);
		assert_true(status == ROGER_RUN_ACTIVE || status == ROGER_RUN_SUSPECT);
	}
}

static void no_recoveries_allowed_is_not_used_up(void **state)
{
	const struct rg_watchdog_rules none = { 0 };
	struct desk *desk = *state;
	int64_t from_ms;

	assert_int_equal(rg_watchdog_judge(&desk->receipts, &none, expected_ms + 1),
			 ROGER_RUN_SUSPECT);
	assert_int_equal(rg_watchdog_recovery(&desk->receipts, &none, expected_ms + 1, &from_ms),
			 RG_RECOVERY_USED_UP);
}

/* -------------------------------------------------------------- instants -- */

static enum roger_run_status judge_texts(const char *dispatch, const char *expected,
					 const char *now)
{
	struct roger_run run = { .run_id = RG_STR("r"),
				 .dispatch_at = rg_str(dispatch),
				 .expected_by = rg_str(expected),
				 .status_updated_at = rg_str(dispatch) };
	struct rg_receipts receipts;
	struct roger_err err;
	int64_t now_ms;

	assert_true(rg_clock_read_rfc3339(rg_str(now), &now_ms));
	if (rg_run_receipts(&run, &receipts, &err) < 0)
		fail_msg("%s", err.message);
	return rg_watchdog_judge(&receipts, &rules, now_ms);
}

static void offsets_count(void **state)
{
	static const char *const nows[] = { "2026-04-24T02:50:00Z", "2026-04-24T10:50:00+08:00",
					    "2026-04-23T22:50:00.000-04:00",
					    "2026-04-24T08:20:00+05:30" };
	static const char *const laters[] = { "2026-04-24T02:50:00.001Z",
					      "2026-04-24T10:50:00.001+08:00",
					      "2026-04-23T22:50:00.001-04:00" };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof nows / sizeof *nows; i++)
		assert_int_equal(
			judge_texts("2026-04-24T10:40:00+08:00", "2026-04-24T02:50:00Z", nows[i]),
			ROGER_RUN_ACTIVE);
	for (i = 0; i < sizeof laters / sizeof *laters; i++)
		assert_int_equal(
			judge_texts("2026-04-24T10:40:00+08:00", "2026-04-24T02:50:00Z", laters[i]),
			ROGER_RUN_SUSPECT);
}

/* The wall shows 02:30 twice in autumn and never in spring; the offset tells which. */
static void daylight_saving_is_an_offset(void **state)
{
	(void)state;
	assert_int_equal(judge_texts("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00",
				     "2026-10-25T02:59:59+02:00"),
			 ROGER_RUN_ACTIVE);
	assert_int_equal(judge_texts("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00",
				     "2026-10-25T02:30:01+01:00"),
			 ROGER_RUN_SUSPECT);
	assert_int_equal(judge_texts("2026-03-29T01:55:00+01:00", "2026-03-29T03:05:00+02:00",
				     "2026-03-29T03:05:00+02:00"),
			 ROGER_RUN_ACTIVE);
	assert_int_equal(judge_texts("2026-03-29T01:55:00+01:00", "2026-03-29T03:05:00+02:00",
				     "2026-03-29T02:05:01+01:00"),
			 ROGER_RUN_SUSPECT);
}

/* A clock set back to before the dispatch: the receipt is dated with the latest instant known. */
static void clocks_may_jump_back(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, 1), ROGER_RUN_ACTIVE);
	assert_int_equal(rg_run_complete(&desk->run, &desk->receipts, RG_STR("completion_event"), 1,
					 desk->arena, &desk->changed, NULL),
			 ROGER_OK);
	assert_true(rg_str_is(desk->run.completion_received_at, "2026-04-24T02:40:00.000Z"));
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
}

/* --------------------------------------------------------------- changes -- */

static int complete(struct desk *desk, const char *source, int64_t now_ms)
{
	return rg_run_complete(&desk->run, &desk->receipts, rg_str(source), now_ms, desk->arena,
			       &desk->changed, &desk->err);
}

static void a_completion_is_received_once(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(complete(desk, "not a name", expected_ms), ROGER_EDATA);
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_true(desk->changed);
	assert_int_equal(complete(desk, "completion_event", expected_ms + 5), ROGER_OK);
	assert_false(desk->changed);
	assert_true(rg_str_is(desk->run.completion_received_at, "2026-04-24T02:50:00.000Z"));
	assert_int_equal(complete(desk, "manual_recovery", expected_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.member, "source");
	assert_int_equal(
		rg_run_end_child(&desk->run, &desk->receipts, RG_STR("3"), &desk->changed, NULL),
		ROGER_EREFUSED);
}

static void nothing_is_forwarded_before_it_is_done(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(
		rg_run_forward(&desk->run, &desk->receipts, RG_STR("msg-1"), &desk->changed, NULL),
		ROGER_EREFUSED);
	assert_false(desk->run.forwarded_to_main);
	assert_int_equal(complete(desk, "history_fetch", expected_ms), ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, expected_ms),
			 ROGER_RUN_NOT_FORWARDED);
	assert_int_equal(
		rg_run_forward(&desk->run, &desk->receipts, RG_STR("msg-1"), &desk->changed, NULL),
		ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, expected_ms),
			 ROGER_RUN_RECOVERED);
	assert_int_equal(
		rg_run_forward(&desk->run, &desk->receipts, RG_STR("msg-2"), &desk->changed, NULL),
		ROGER_OK);
	assert_false(desk->changed);
	assert_true(rg_str_is(desk->run.forward_evidence, "msg-1"));
}

static void a_child_that_failed_may_still_be_heard(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(
		rg_run_end_child(&desk->run, &desk->receipts, RG_STR("3"), &desk->changed, NULL),
		ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, dispatched_ms),
			 ROGER_RUN_BLOCKED);
	assert_int_equal(
		rg_run_end_child(&desk->run, &desk->receipts, RG_STR("4"), &desk->changed, NULL),
		ROGER_EREFUSED);
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
	assert_false(desk->receipts.child_ended);
}

static int extend(struct desk *desk, int64_t by_ms, int64_t now_ms)
{
	return rg_run_extend(&desk->run, &desk->receipts, &rules, by_ms, now_ms, desk->arena,
			     &desk->err);
}

static void extensions_are_bounded(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(extend(desk, rules.extension_ms_max + 1, dispatched_ms), ROGER_EDATA);
	assert_int_equal(extend(desk, 60000, dispatched_ms), ROGER_OK);
	assert_true(rg_str_is(desk->run.expected_by, "2026-04-24T02:51:00.000Z"));
	/* Behind the deadline it counts from now. */
	assert_int_equal(extend(desk, 60000, expected_ms + 3600000), ROGER_OK);
	assert_true(rg_str_is(desk->run.expected_by, "2026-04-24T03:51:00.000Z"));
	assert_int_equal(extend(desk, 60000, dispatched_ms), ROGER_EREFUSED);
	assert_int_equal(desk->run.extension_count, 2);
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
}

static int recover(struct desk *desk, int64_t now_ms)
{
	return rg_run_recover(&desk->run, &desk->receipts, &rules, RG_STR("looking"), now_ms,
			      desk->arena, &desk->err);
}

static void recoveries_are_bounded_and_spaced(void **state)
{
	struct desk *desk = *state;
	int64_t now_ms = expected_ms + 1;

	assert_int_equal(recover(desk, expected_ms), ROGER_EREFUSED);
	assert_int_equal(recover(desk, now_ms), ROGER_OK);
	assert_int_equal(recover(desk, now_ms + rules.recovery_cooldown_ms - 1), ROGER_EREFUSED);
	/* A clock set back is no reason to hurry. */
	assert_int_equal(recover(desk, now_ms - 1), ROGER_EREFUSED);
	assert_int_equal(recover(desk, now_ms += rules.recovery_cooldown_ms), ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, now_ms), ROGER_RUN_SUSPECT);
	assert_int_equal(recover(desk, now_ms += rules.recovery_cooldown_ms), ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, now_ms), ROGER_RUN_BLOCKED);
	assert_int_equal(recover(desk, now_ms += rules.recovery_cooldown_ms), ROGER_EREFUSED);
	assert_int_equal(extend(desk, 60000, now_ms), ROGER_EREFUSED);
	assert_int_equal(desk->run.recovery_attempt_count, 3);
	assert_int_equal(complete(desk, "completion_event", now_ms), ROGER_OK);
	assert_int_equal(recover(desk, now_ms += rules.recovery_cooldown_ms), ROGER_EREFUSED);
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
}

static void a_child_that_ended_need_not_be_waited_for(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(rg_run_end_child(&desk->run, &desk->receipts, RG_STR("failed"),
					  &desk->changed, NULL),
			 ROGER_OK);
	assert_int_equal(recover(desk, dispatched_ms), ROGER_OK);
	assert_int_equal(extend(desk, 60000, dispatched_ms), ROGER_EREFUSED);
}

static void restating_writes_what_changed(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(rg_run_restate(&desk->run, &desk->receipts, &rules, dispatched_ms + 1,
					desk->arena, &desk->changed, NULL),
			 ROGER_OK);
	assert_false(desk->changed);
	assert_int_equal(desk->run.notes.count, 0);
	assert_true(rg_str_is(desk->run.status_updated_at, "2026-04-24T10:40:00+08:00"));
	assert_int_equal(rg_run_restate(&desk->run, &desk->receipts, &rules, expected_ms + 1,
					desk->arena, &desk->changed, NULL),
			 ROGER_OK);
	assert_true(desk->changed);
	assert_int_equal(desk->run.status, ROGER_RUN_SUSPECT);
	assert_true(rg_str_is(desk->run.status_updated_at, "2026-04-24T02:50:00.001Z"));
	assert_int_equal(desk->run.notes.count, 1);
	assert_true(rg_str_is(desk->run.notes.items[0],
			      "2026-04-24T02:50:00.001Z active -> suspect_delivery_failure: No "
			      "completion receipt, and SLA was crossed at "
			      "2026-04-24T10:50:00+08:00."));
}

/* ------------------------------------------------------------- documents -- */

static const char valid[] =
	"{\"runId\":\"r\",\"childSessionKey\":\"c\",\"dispatchAt\":\"2026-04-24T10:40:00+08:00\","
	"\"expectedBy\":\"2026-04-24T10:50:00+08:00\",\"completionReceivedAt\":null,"
	"\"forwardedToMain\":false,\"resultSource\":null,\"status\":\"active\","
	"\"statusUpdatedAt\":\"2026-04-24T10:40:00+08:00\",\"statusReason\":\"because\","
	"\"recoveryAttemptCount\":0,\"lastRecoveryAt\":null}";

/* The document with one piece of its text in place of another. */
static int read_with(const char *old, const char *new, struct roger_err *err)
{
	struct rg_arena *arena = rg_arena_new();
	struct rg_receipts receipts;
	struct roger_run run;
	struct rg_json *json = NULL;
	struct rg_buf text;
	const char *at = strstr(valid, old);
	int r;

	assert_non_null(at);
	rg_buf_init(&text, SIZE_MAX);
	rg_buf_add(&text, valid, (size_t)(at - valid));
	rg_buf_add_text(&text, new);
	rg_buf_add_text(&text, at + strlen(old));
	r = rg_run_read(rg_buf_str(&text), &json, arena, &run, &receipts, err);
	rg_json_free(json);
	rg_buf_deinit(&text);
	rg_arena_free(arena);
	return r;
}

static void what_is_wrong_is_named(void **state)
{
	static const struct {
		const char *old, *new, *member;
	} cases[] = {
		{ "\"runId\":\"r\"", "\"runId\":\"../r x\"", "runId" },
		{ "\"runId\":\"r\",", "", "runId" },
		{ "\"childSessionKey\":\"c\",", "", "childSessionKey" },
		{ "\"dispatchAt\":\"2026-04-24T10:40:00+08:00\"", "\"dispatchAt\":\"yesterday\"",
		  "dispatchAt" },
		{ "\"dispatchAt\":\"2026-04-24T10:40:00+08:00\"", "\"dispatchAt\":\"2026-04-24\"",
		  "dispatchAt" },
		{ "\"dispatchAt\":\"2026-04-24T10:40:00+08:00\"", "\"dispatchAt\":1776998400000",
		  "dispatchAt" },
		{ "\"expectedBy\":\"2026-04-24T10:50:00+08:00\"",
		  "\"expectedBy\":\"2026-04-24T10:50:00+09:00\"", "expectedBy" },
		{ "\"completionReceivedAt\":null,", "", "completionReceivedAt" },
		{ "\"completionReceivedAt\":null,\"forwardedToMain\":false,\"resultSource\":null",
		  "\"completionReceivedAt\":\"2026-04-24T02:39:59Z\",\"forwardedToMain\":false,"
		  "\"resultSource\":\"completion_event\"",
		  "completionReceivedAt" },
		{ "\"completionReceivedAt\":null",
		  "\"completionReceivedAt\":\"2026-04-24T02:45:00Z\"", "resultSource" },
		{ "\"resultSource\":null", "\"resultSource\":\"history_fetch\"", "resultSource" },
		{ "\"resultSource\":null,", "", "resultSource" },
		{ "\"forwardedToMain\":false", "\"forwardedToMain\":true", "forwardedToMain" },
		{ "\"forwardedToMain\":false", "\"forwardedToMain\":\"no\"", "forwardedToMain" },
		{ "\"status\":\"active\"", "\"status\":\"done\"", "status" },
		{ "\"statusReason\":\"because\",", "", "statusReason" },
		{ "\"recoveryAttemptCount\":0", "\"recoveryAttemptCount\":1", "lastRecoveryAt" },
		{ "\"recoveryAttemptCount\":0", "\"recoveryAttemptCount\":-1",
		  "recoveryAttemptCount" },
		{ "\"lastRecoveryAt\":null", "\"lastRecoveryAt\":\"2026-04-24T03:00:00Z\"",
		  "recoveryAttemptCount" },
		{ "\"recoveryAttemptCount\":0,\"lastRecoveryAt\":null",
		  "\"recoveryAttemptCount\":1,\"lastRecoveryAt\":\"2026-04-24T01:00:00Z\"",
		  "lastRecoveryAt" },
	};
	struct roger_err err;
	size_t i;

	(void)state;
	assert_int_equal(read_with("\"r\"", "\"r\"", &err), ROGER_OK);
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(read_with(cases[i].old, cases[i].new, &err), ROGER_EDATA);
		assert_string_equal(err.member, cases[i].member);
	}
	assert_int_equal(read_with("\"status\":", "status:", &err), ROGER_EDATA);
}

/* Members of others, their order and their digits survive; so does a document that is printed. */
static void foreign_members_survive(void **state)
{
	static const char text[] =
		"{\n  \"runId\": \"r\",\n  \"childSessionKey\": \"c\",\n"
		"  \"dispatchAt\": \"2026-04-24T10:40:00+08:00\",\n"
		"  \"expectedBy\": \"2026-04-24T10:50:00+08:00\",\n"
		"  \"completionReceivedAt\": \"2026-04-24T10:45:00.5+08:00\",\n"
		"  \"forwardedToMain\": true,\n  \"resultSource\": \"manual_recovery\",\n"
		"  \"status\": \"recovered\",\n"
		"  \"statusUpdatedAt\": \"2026-04-24T10:46:00+08:00\",\n"
		"  \"statusReason\": \"because \\\"[{,:}]\\\\\\\"\",\n"
		"  \"recoveryAction\": \"asked\",\n  \"recoveryAttemptCount\": 1,\n"
		"  \"lastRecoveryAt\": \"2026-04-24T10:44:00+08:00\",\n"
		"  \"notes\": [\n    \"one\",\n    \"two\"\n  ],\n"
		"  \"extensionCount\": 1,\n"
		"  \"x\": {\n    \"a\": 1.50,\n    \"b\": [],\n    \"c\": {},\n"
		"    \"d\": [\n      [\n        1\n      ]\n    ]\n  }\n}\n";
	struct desk *desk = *state;
	struct rg_json *json;
	struct rg_buf printed;

	assert_int_equal(rg_run_read(RG_STR(text), &json, desk->arena, &desk->run, &desk->receipts,
				     &desk->err),
			 ROGER_OK);
	assert_true(desk->receipts.from_recovery);
	assert_int_equal(desk->receipts.completed_ms, dispatched_ms + 300500);
	rg_buf_init(&printed, SIZE_MAX);
	rg_run_print(&desk->run, &printed);
	assert_int_equal(printed.length, sizeof text - 1);
	assert_memory_equal(printed.data, text, sizeof text - 1);
	rg_buf_deinit(&printed);
	rg_json_free(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_desk, clear_desk)

/* A child that nobody saw end is evidence, as long as nothing better is known. */
static void a_lost_child(void **state)
{
	struct desk *desk = *state;
	struct rg_buf reason;

	rg_run_lose_child(&desk->run, &desk->receipts);
	assert_true(rg_str_is(desk->run.child_exit, "lost"));
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, dispatched_ms),
			 ROGER_RUN_BLOCKED);
	rg_buf_init(&reason, SIZE_MAX);
	rg_watchdog_explain(&desk->run, &desk->receipts, &rules, ROGER_RUN_BLOCKED, &reason);
	rg_buf_add_char(&reason, '\0');
	assert_non_null(strstr(reason.data, "are gone, and no result is known."));
	rg_buf_deinit(&reason);
	/* As its document says it. */
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
	assert_true(desk->receipts.child_lost);
	assert_int_equal(rg_run_complete(&desk->run, &desk->receipts, RG_STR("history_fetch"),
					 expected_ms, desk->arena, &desk->changed, NULL),
			 ROGER_OK);
	assert_false(desk->receipts.child_lost);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, expected_ms),
			 ROGER_RUN_NOT_FORWARDED);
	rg_run_lose_child(&desk->run, &desk->receipts);
	assert_false(desk->receipts.child_ended);
}

static void a_heartbeat(void **state)
{
	struct desk *desk = *state;

	/* A clock that was set back makes no contradiction. */
	assert_int_equal(rg_run_beat(&desk->run, &desk->receipts, 5, desk->arena, NULL), ROGER_OK);
	assert_true(rg_str_is(desk->run.heartbeat_at, "2026-04-24T02:40:00.000Z"));
	desk->run.heartbeat_at = RG_STR("yesterday");
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, &desk->err), ROGER_EDATA);
	assert_string_equal(desk->err.member, "heartbeatAt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_combination),
		TEST(time_alone_ends_nothing),
		TEST(no_recoveries_allowed_is_not_used_up),
		TEST(offsets_count),
		TEST(daylight_saving_is_an_offset),
		TEST(clocks_may_jump_back),
		TEST(a_completion_is_received_once),
		TEST(nothing_is_forwarded_before_it_is_done),
		TEST(a_child_that_failed_may_still_be_heard),
		TEST(extensions_are_bounded),
		TEST(recoveries_are_bounded_and_spaced),
		TEST(a_child_that_ended_need_not_be_waited_for),
		TEST(restating_writes_what_changed),
		TEST(what_is_wrong_is_named),
		TEST(foreign_members_survive),
		TEST(a_lost_child),
		TEST(a_heartbeat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
