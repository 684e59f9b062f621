/*
 * What facts/watchdog.h promises, over every combination of receipts,
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
#include "base/limits.h"
#include "harsh.h"
#include "facts/watchdog.h"

static const struct rg_watchdog_rules rules = { 3, 300000, 2, 3600000 };

/* 2026-04-24T02:40:00Z, ten minutes, and what comes after. */
static const int64_t dispatched_ms = INT64_C(1776998400000), expected_ms = INT64_C(1776999000000);

struct desk {
	struct rg_arena *arena;
	struct roger_run run;
	struct rg_receipts receipts;
	bool changed; /* by the last change */
	struct roger_err err;
};

static struct rg_run_edit edit_at(struct desk *desk, int64_t now_ms)
{
	return (struct rg_run_edit){ .run = &desk->run,
				     .receipts = &desk->receipts,
				     .rules = rules,
				     .now_ms = now_ms,
				     .arena = desk->arena };
}

/* The result of a change; desk->changed is what it says of itself. */
static int done(struct desk *desk, const struct rg_run_edit *edit, int r)
{
	desk->changed = edit->changed;
	assert_false(rg_arena_failed(desk->arena));
	return r;
}

static int complete(struct desk *desk, const char *source, int64_t now_ms)
{
	struct rg_run_edit edit = edit_at(desk, now_ms);

	return done(desk, &edit, rg_run_complete(&edit, rg_str(source), &desk->err));
}

static int end_child(struct desk *desk, const char *child_exit)
{
	struct rg_run_edit edit = edit_at(desk, 0);

	return done(desk, &edit, rg_run_end_child(&edit, rg_str(child_exit), &desk->err));
}

static int forward(struct desk *desk, const char *evidence)
{
	struct rg_run_edit edit = edit_at(desk, 0);

	return done(desk, &edit, rg_run_forward(&edit, rg_str(evidence), &desk->err));
}

static int extend_by(struct desk *desk, const struct rg_watchdog_rules *by, int64_t by_ms,
		     int64_t now_ms)
{
	struct rg_run_edit edit = edit_at(desk, now_ms);

	edit.rules = *by;
	return done(desk, &edit, rg_run_extend(&edit, by_ms, &desk->err));
}

static int extend(struct desk *desk, int64_t by_ms, int64_t now_ms)
{
	return extend_by(desk, &rules, by_ms, now_ms);
}

static int recover(struct desk *desk, int64_t now_ms)
{
	struct rg_run_edit edit = edit_at(desk, now_ms);

	return done(desk, &edit, rg_run_recover(&edit, RG_STR("looking"), &desk->err));
}

static void beat(struct desk *desk, int64_t now_ms)
{
	struct rg_run_edit edit = edit_at(desk, now_ms);

	rg_run_beat(&edit);
	assert_int_equal(done(desk, &edit, ROGER_OK), ROGER_OK);
}

static void lose_child(struct desk *desk)
{
	struct rg_run_edit edit = edit_at(desk, 0);

	rg_run_lose_child(&edit);
}

static void restate(struct desk *desk, int64_t now_ms)
{
	struct rg_run_edit edit = edit_at(desk, now_ms);

	rg_run_restate(&edit);
	assert_int_equal(done(desk, &edit, ROGER_OK), ROGER_OK);
}

static int make_desk(void **state)
{
	struct desk *desk = calloc(1, sizeof *desk);

	desk->arena = rg_arena_new();
	desk->run = (struct roger_run){
		.run = RG_STR("r1"),
		.child = RG_STR("tester"),
		.dispatched_at = RG_STR("2026-04-24T10:40:00+08:00"),
		.expected_by = RG_STR("2026-04-24T10:50:00+08:00"),
		.status_updated_at = RG_STR("2026-04-24T10:40:00+08:00"),
		.status_reason = RG_STR("Dispatch receipt exists and SLA has not been crossed."),
		.owner = RG_STR("lead"),
		.status = ROGER_RUN_ACTIVE,
	};
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
	*state = desk;
	return 0;
}

static void says(struct desk *desk, enum roger_run_status status, enum roger_run_outcome outcome,
		 const char *exit, int64_t now_ms, const char *words)
{
	struct rg_buf out = { .maximum = SIZE_MAX };

	desk->run.status = (int)status;
	desk->run.outcome = (int)outcome;
	desk->run.exit = rg_str(exit);
	rg_run_print_words(&desk->run, now_ms, &out);
	rg_buf_add_char(&out, '\0');
	assert_string_equal(out.data, words);
	rg_buf_deinit(&out);
}

static void what_people_read(void **state)
{
	struct desk *desk = *state;
	const int64_t due = expected_ms, min = 60000, hour = 60 * min;

	says(desk, ROGER_RUN_ACTIVE, 0, "", due - 4 * min - 1, "running, 4 min left");
	says(desk, ROGER_RUN_ACTIVE, 0, "", due - 59999, "running, 59 s left");
	says(desk, ROGER_RUN_ACTIVE, 0, "", due, "running, 0 s left");
	says(desk, ROGER_RUN_SUSPECT, 0, "", due + 4 * min, "overdue by 4 min");
	says(desk, ROGER_RUN_SUSPECT, 0, "", due + 119 * min, "overdue by 119 min");
	says(desk, ROGER_RUN_SUSPECT, 0, "", due + 2 * hour, "overdue by 2 h");
	says(desk, ROGER_RUN_SUSPECT, 0, "", due + 48 * hour, "overdue by 2 days");
	says(desk, ROGER_RUN_NOT_FORWARDED, ROGER_RUN_SUCCEEDED, "0", due,
	     "finished, result unread");
	says(desk, ROGER_RUN_NOT_FORWARDED, ROGER_RUN_FAILED, "3", due,
	     "failed: exit 3, result unread");
	says(desk, ROGER_RUN_COMPLETED, ROGER_RUN_UNKNOWN, "", due, "done");
	says(desk, ROGER_RUN_RECOVERED, ROGER_RUN_SUCCEEDED, "0", due, "done, recovered");
	says(desk, ROGER_RUN_BLOCKED, ROGER_RUN_FAILED, "3", due, "failed: exit 3");
	says(desk, ROGER_RUN_BLOCKED, ROGER_RUN_FAILED, "failed", due, "failed");
	says(desk, ROGER_RUN_BLOCKED, ROGER_RUN_KILLED, "signal 9", due, "killed by signal 9");
	says(desk, ROGER_RUN_BLOCKED, ROGER_RUN_TIMED_OUT, "signal 15", due, "timed out");
	says(desk, ROGER_RUN_BLOCKED, ROGER_RUN_UNKNOWN, "lost", due, "lost");
	says(desk, ROGER_RUN_BLOCKED, 0, "", due, "given up");
}

static void leaves_open(struct desk *desk, enum roger_run_status status, const char *message,
			int64_t recoveries, const char *why)
{
	struct rg_buf out;

	rg_buf_init(&out, SIZE_MAX);
	desk->run.status = (int)status;
	desk->run.result_message = rg_str(message);
	desk->run.recovery_attempts = recoveries;
	rg_run_print_why(&desk->run, &out);
	rg_buf_add_char(&out, '\0');
	assert_string_equal(out.data, why);
	rg_buf_deinit(&out);
}

static void what_these_words_leave_open(void **state)
{
	struct desk *desk = *state;

	leaves_open(desk, ROGER_RUN_ACTIVE, "", 0, "");
	leaves_open(desk, ROGER_RUN_SUSPECT, "", 0, "no result yet");
	leaves_open(desk, ROGER_RUN_NOT_FORWARDED, "msg-1", 0, "lead has not read msg-1");
	leaves_open(desk, ROGER_RUN_NOT_FORWARDED, "", 0,
		    "nothing shows that lead knows its result");
	desk->run.owner = RG_STR("");
	leaves_open(desk, ROGER_RUN_NOT_FORWARDED, "msg-1", 0, "its owner has not read msg-1");
	desk->run.outcome = ROGER_RUN_FAILED;
	leaves_open(desk, ROGER_RUN_BLOCKED, "", 0, "");
	leaves_open(desk, ROGER_RUN_BLOCKED, "", 1, "no result after 1 recovery");
	desk->run.exit = RG_STR("failed");
	leaves_open(desk, ROGER_RUN_BLOCKED, "", 0, "it ended without a result");
	leaves_open(desk, ROGER_RUN_BLOCKED, "", 1, "no result after 1 recovery");
	desk->run.outcome = ROGER_RUN_UNKNOWN;
	leaves_open(desk, ROGER_RUN_BLOCKED, "", 2,
		    "its program and the roger run that watched it are gone, no result after 2 "
		    "recoveries");
	leaves_open(desk, ROGER_RUN_COMPLETED, "msg-1", 0, "");
	leaves_open(desk, ROGER_RUN_RECOVERED, "msg-1", 3, "");
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
	static const char *const starts[] = { "",
					      "Dispatch receipt",
					      "No result; it was expected by",
					      "Finished (",
					      "Completion receipt and confirmed forward",
					      "Completion and forward are confirmed",
					      NULL };

	if (status == ROGER_RUN_BLOCKED)
		return !strncmp(reason, "The child ended", 15) ||
		       !strncmp(reason, "No result after", 15);
	return !strncmp(reason, starts[status], strlen(starts[status]));
}

static void check(const struct rg_receipts *receipts, int64_t now_ms, int *seen)
{
	const struct roger_run run = { .expected_by = RG_STR("then"),
				       .source = RG_STR("completion_event"),
				       .exit = RG_STR("3") };
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
	struct roger_run run = { .run = RG_STR("r"),
				 .dispatched_at = rg_str(dispatch),
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
	assert_int_equal(complete(desk, "completion_event", 1), ROGER_OK);
	assert_true(rg_str_is(desk->run.completed_at, "2026-04-24T02:40:00.000Z"));
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
}

/* --------------------------------------------------------------- changes -- */

static void a_completion_is_received_once(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(complete(desk, "not a name", expected_ms), ROGER_EDATA);
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_true(desk->changed);
	assert_int_equal(complete(desk, "completion_event", expected_ms + 5), ROGER_OK);
	assert_false(desk->changed);
	assert_true(rg_str_is(desk->run.completed_at, "2026-04-24T02:50:00.000Z"));
	assert_int_equal(complete(desk, "manual_recovery", expected_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.member, "source");
	assert_int_equal(end_child(desk, "3"), ROGER_EREFUSED);
}

static void nothing_is_forwarded_before_it_is_done(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(forward(desk, "msg-1"), ROGER_EREFUSED);
	assert_false(desk->run.forwarded);
	assert_int_equal(complete(desk, "history_fetch", expected_ms), ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, expected_ms),
			 ROGER_RUN_NOT_FORWARDED);
	assert_int_equal(forward(desk, "msg-1"), ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, expected_ms),
			 ROGER_RUN_RECOVERED);
	assert_int_equal(forward(desk, "msg-2"), ROGER_OK);
	assert_false(desk->changed);
	assert_true(rg_str_is(desk->run.evidence, "msg-1"));
}

static void a_child_that_failed_may_still_be_heard(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(end_child(desk, "3"), ROGER_OK);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, dispatched_ms),
			 ROGER_RUN_BLOCKED);
	assert_int_equal(end_child(desk, "4"), ROGER_EREFUSED);
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
	assert_false(desk->receipts.child_ended);
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
	assert_int_equal(desk->run.extensions, 2);
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
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
	assert_int_equal(desk->run.recovery_attempts, 3);
	assert_int_equal(complete(desk, "completion_event", now_ms), ROGER_OK);
	assert_int_equal(recover(desk, now_ms += rules.recovery_cooldown_ms), ROGER_EREFUSED);
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
}

static void a_child_that_ended_need_not_be_waited_for(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(end_child(desk, "failed"), ROGER_OK);
	assert_int_equal(recover(desk, dispatched_ms), ROGER_OK);
	assert_int_equal(extend(desk, 60000, dispatched_ms), ROGER_EREFUSED);
}

static void restating_writes_what_changed(void **state)
{
	struct desk *desk = *state;

	restate(desk, dispatched_ms + 1);
	assert_false(desk->changed);
	assert_int_equal(desk->run.notes.count, 0);
	assert_true(rg_str_is(desk->run.status_updated_at, "2026-04-24T10:40:00+08:00"));
	restate(desk, expected_ms + 1);
	assert_true(desk->changed);
	assert_int_equal(desk->run.status, ROGER_RUN_SUSPECT);
	assert_true(rg_str_is(desk->run.status_updated_at, "2026-04-24T02:50:00.001Z"));
	assert_int_equal(desk->run.notes.count, 1);
	assert_true(rg_str_is(desk->run.notes.items[0],
			      "2026-04-24T02:50:00.001Z active -> suspect_delivery_failure: No "
			      "result; it was expected by "
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

	lose_child(desk);
	assert_true(rg_str_is(desk->run.exit, "lost"));
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
	assert_int_equal(complete(desk, "history_fetch", expected_ms), ROGER_OK);
	assert_false(desk->receipts.child_lost);
	assert_int_equal(rg_watchdog_judge(&desk->receipts, &rules, expected_ms),
			 ROGER_RUN_NOT_FORWARDED);
	lose_child(desk);
	assert_false(desk->receipts.child_ended);
}

static void a_heartbeat(void **state)
{
	struct desk *desk = *state;

	/* A clock that was set back makes no contradiction. */
	beat(desk, 5);
	assert_true(rg_str_is(desk->run.heartbeat_at, "2026-04-24T02:40:00.000Z"));
	desk->run.heartbeat_at = RG_STR("yesterday");
	assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, &desk->err), ROGER_EDATA);
	assert_string_equal(desk->err.member, "heartbeatAt");
}

/* ------------------------------------------------------- in words, exactly -- */

static void every_reason(void **state)
{
	static const struct rg_watchdog_rules once = { 1, 300000, 2, 3600000 };
	const struct {
		struct rg_receipts receipts;
		const char *message, *owner, *child_exit;
		enum roger_run_status status;
		const char *reason;
	} cases[] = {
		{ { 0 },
		  "",
		  "",
		  "",
		  ROGER_RUN_ACTIVE,
		  "Dispatch receipt exists and SLA has not been crossed." },
		/* A forward without a completion is nothing. */
		{ { .forwarded = true },
		  "",
		  "",
		  "",
		  ROGER_RUN_ACTIVE,
		  "Dispatch receipt exists and SLA has not been crossed." },
		{ { .expected_by_ms = 4 },
		  "",
		  "",
		  "",
		  ROGER_RUN_SUSPECT,
		  "No result; it was expected by then." },
		{ { .completed_ms = 3 },
		  "",
		  "lead",
		  "",
		  ROGER_RUN_NOT_FORWARDED,
		  "Finished (by hand); nothing confirms that the result reached the main thread." },
		{ { .completed_ms = 3 },
		  "msg-1",
		  "lead",
		  "",
		  ROGER_RUN_NOT_FORWARDED,
		  "Finished (by hand); lead has not read its result msg-1." },
		{ { .completed_ms = 3 },
		  "msg-1",
		  "",
		  "",
		  ROGER_RUN_NOT_FORWARDED,
		  "Finished (by hand); its recipient has not read its result msg-1." },
		{ { .completed_ms = 9, .forwarded = true },
		  "",
		  "",
		  "",
		  ROGER_RUN_COMPLETED,
		  "Completion receipt and confirmed forward exist." },
		{ { .completed_ms = 10, .forwarded = true },
		  "",
		  "",
		  "",
		  ROGER_RUN_COMPLETED,
		  "Completion receipt and confirmed forward exist." },
		{ { .completed_ms = 11, .forwarded = true },
		  "",
		  "",
		  "",
		  ROGER_RUN_COMPLETED,
		  "Completion receipt and confirmed forward exist. It was late: expected by "
		  "then." },
		{ { .completed_ms = 9, .forwarded = true, .from_recovery = true },
		  "",
		  "",
		  "",
		  ROGER_RUN_RECOVERED,
		  "Completion and forward are confirmed, by recovery (by hand)." },
		{ { .completed_ms = 9, .forwarded = true, .recoveries = 1 },
		  "",
		  "",
		  "",
		  ROGER_RUN_RECOVERED,
		  "Completion and forward are confirmed, with 1 recovery attempt." },
		{ { .completed_ms = 11, .forwarded = true, .recoveries = 2, .from_recovery = true },
		  "",
		  "",
		  "",
		  ROGER_RUN_RECOVERED,
		  "Completion and forward are confirmed, with 2 recovery attempts. It was late: "
		  "expected by then." },
		{ { .child_ended = true },
		  "",
		  "",
		  "3",
		  ROGER_RUN_BLOCKED,
		  "The child ended without a result (exit 3)." },
		{ { .child_ended = true },
		  "",
		  "",
		  "signal 9",
		  ROGER_RUN_BLOCKED,
		  "The child ended without a result (signal 9)." },
		{ { .child_ended = true, .child_lost = true },
		  "",
		  "",
		  "lost",
		  ROGER_RUN_BLOCKED,
		  "The child's process and the roger run that watched it are gone, and no result "
		  "is "
		  "known." },
		{ { .recoveries = 1 },
		  "",
		  "",
		  "",
		  ROGER_RUN_BLOCKED,
		  "No result after 1 of 1 recovery attempts." },
		{ { .child_ended = true, .recoveries = 2 },
		  "",
		  "",
		  "3",
		  ROGER_RUN_BLOCKED,
		  "The child ended without a result (exit 3). No result after 2 of 1 "
		  "recovery attempts." },
	};
	struct rg_receipts receipts;
	struct rg_buf reason;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct roger_run run = { .expected_by = RG_STR("then"),
					       .source = RG_STR("by hand"),
					       .result_message = rg_str(cases[i].message),
					       .owner = rg_str(cases[i].owner),
					       .exit = rg_str(cases[i].child_exit) };

		receipts = cases[i].receipts;
		receipts.expected_by_ms = receipts.expected_by_ms ? receipts.expected_by_ms : 10;
		assert_int_equal(rg_watchdog_judge(&receipts, &once, 5), cases[i].status);
		rg_buf_init(&reason, SIZE_MAX);
		rg_watchdog_explain(&run, &receipts, &once, cases[i].status, &reason);
		rg_buf_add_char(&reason, '\0');
		assert_string_equal(reason.data, cases[i].reason);
		rg_buf_deinit(&reason);
	}
}

/* When an attempt may be made, and from when on where only time is missing. */
static void every_recovery(void **state)
{
	static const struct rg_watchdog_rules twice = { 2, 100, 0, 0 };
	static const struct {
		struct rg_receipts receipts;
		int64_t now_ms;
		enum rg_recovery answer;
		int64_t from_ms;
	} cases[] = {
		{ { .completed_ms = 1 }, 5000, RG_RECOVERY_DONE, 0 },
		{ { .completed_ms = 1, .recoveries = 9 }, 5, RG_RECOVERY_DONE, 0 },
		{ { .recoveries = 2, .last_recovery_ms = 5 }, 5000, RG_RECOVERY_USED_UP, 0 },
		{ { .recoveries = 3, .last_recovery_ms = 5 }, 5, RG_RECOVERY_USED_UP, 0 },
		{ { 0 }, 999, RG_RECOVERY_EARLY, 1001 },
		{ { 0 }, 1000, RG_RECOVERY_EARLY, 1001 },
		{ { 0 }, 1001, RG_RECOVERY_DUE, 0 },
		{ { .child_ended = true }, 1, RG_RECOVERY_DUE, 0 },
		{ { .recoveries = 1, .last_recovery_ms = 1500 }, 1599, RG_RECOVERY_COOLING, 1600 },
		{ { .recoveries = 1, .last_recovery_ms = 1500 }, 1600, RG_RECOVERY_DUE, 0 },
		{ { .recoveries = 1, .last_recovery_ms = 1 }, 1000, RG_RECOVERY_EARLY, 1001 },
		{ { .child_ended = true, .recoveries = 1, .last_recovery_ms = 1 },
		  100,
		  RG_RECOVERY_COOLING,
		  101 },
		{ { .child_ended = true, .recoveries = 1, .last_recovery_ms = 1 },
		  101,
		  RG_RECOVERY_DUE,
		  0 },
	};
	struct rg_receipts receipts;
	int64_t from_ms;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		receipts = cases[i].receipts;
		receipts.expected_by_ms = 1000;
		from_ms = -1;
		assert_int_equal(rg_watchdog_recovery(&receipts, &twice, cases[i].now_ms, &from_ms),
				 cases[i].answer);
		assert_int_equal(from_ms, cases[i].from_ms);
	}
}

static void what_a_document_may_not_say(void **state)
{
	static const struct {
		const char *old, *new, *message; /* NULL: it may */
	} cases[] = {
		{ "\"dispatchAt\":\"2026-04-24T10:40:00+08:00\"", "\"dispatchAt\":\"\"",
		  "dispatchAt: empty" },
		{ "\"statusUpdatedAt\":\"2026-04-24T10:40:00+08:00\"", "\"statusUpdatedAt\":\"\"",
		  "statusUpdatedAt: empty" },
		{ "10:50:00+08:00", "10:40:00+08:00", NULL },
		{ "\"recoveryAttemptCount\":0,\"lastRecoveryAt\":null",
		  "\"recoveryAttemptCount\":1,\"lastRecoveryAt\":\"2026-04-24T02:40:00Z\"", NULL },
		{ "\"lastRecoveryAt\":null",
		  "\"lastRecoveryAt\":null,\"forwardEvidence\":\"msg-1\"",
		  "forwardEvidence: is set, but forwardedToMain is false" },
		{ "null,\"forwardedToMain\":false,\"resultSource\":null",
		  "\"2026-04-24T02:40:00Z\",\"forwardedToMain\":true,\"resultSource\":\"x\","
		  "\"forwardEvidence\":\"msg-1\"",
		  NULL },
		{ "null,\"forwardedToMain\":false,\"resultSource\":null",
		  "\"2026-04-24T02:40:00Z\",\"forwardedToMain\":true,\"resultSource\":\"x\"",
		  NULL },
		{ "null,\"forwardedToMain\":false,\"resultSource\":null",
		  "\"2026-04-24T02:39:59Z\",\"forwardedToMain\":true,\"resultSource\":\"x\"",
		  "completionReceivedAt: is before dispatchAt" },
		{ "10:50:00+08:00", "10:39:59+08:00", "expectedBy: is before dispatchAt" },
		{ "\"forwardedToMain\":false", "\"forwardedToMain\":true",
		  "forwardedToMain: is true without a completion receipt, which contradicts" },
		{ "\"completionReceivedAt\":null,", "",
		  "completionReceivedAt: is missing; write null for no value" },
		{ "\"resultSource\":null,", "",
		  "resultSource: is missing; write null for no value" },
		{ "\"resultSource\":null", "\"resultSource\":\"x\"",
		  "resultSource: is set without a completion receipt" },
		{ "\"completionReceivedAt\":null",
		  "\"completionReceivedAt\":\"2026-04-24T02:45:00Z\"",
		  "resultSource: is missing beside a completion receipt" },
		{ "\"recoveryAttemptCount\":0", "\"recoveryAttemptCount\":1",
		  "lastRecoveryAt: is missing beside recoveryAttemptCount" },
		{ "\"lastRecoveryAt\":null", "\"lastRecoveryAt\":\"2026-04-24T03:00:00Z\"",
		  "recoveryAttemptCount: is 0 beside lastRecoveryAt" },
		/* The whole of time, and nothing around it; 0 would mean none. */
		{ "2026-04-24T10:50:00+08:00", "9999-12-31T23:59:59.999Z", NULL },
		{ "2026-04-24T10:50:00+08:00", "9999-12-31T23:59:59.999-01:00",
		  "expectedBy: expected a time such as 2026-04-24T10:40:00+08:00" },
		{ "2026-04-24T10:40:00+08:00", "1970-01-01T00:00:00.001Z", NULL },
		{ "2026-04-24T10:40:00+08:00", "1970-01-01T00:00:00Z",
		  "dispatchAt: expected a time such as 2026-04-24T10:40:00+08:00" },
	};
	struct roger_err err;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(read_with(cases[i].old, cases[i].new, &err),
				 cases[i].message ? ROGER_EDATA : ROGER_OK);
		if (cases[i].message)
			assert_string_equal(err.message, cases[i].message);
	}
	assert_int_equal(read_with(valid, "", &err), ROGER_EDATA);
	assert_string_equal(err.message, "no JSON value");
	assert_int_equal(read_with(valid, "[]", &err), ROGER_EDATA);
	assert_string_equal(err.message, "expected an object, found an array");
}

/* Each instant is looked at, and the first that is none is named. */
static void every_instant_is_looked_at(void **state)
{
	static const char *const members[] = { "dispatchAt",	       "expectedBy",
					       "completionReceivedAt", "statusUpdatedAt",
					       "heartbeatAt",	       "lastRecoveryAt" };
	struct desk *desk = *state;
	struct roger_str *texts[] = {
		&desk->run.dispatched_at,     &desk->run.expected_by,  &desk->run.completed_at,
		&desk->run.status_updated_at, &desk->run.heartbeat_at, &desk->run.last_recovery_at,
	};
	char message[128];
	int i;

	for (i = 5; i >= 0; i--) {
		*texts[i] = RG_STR("yesterday");
		assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, &desk->err),
				 ROGER_EDATA);
		snprintf(message, sizeof message,
			 "%s: expected a time such as 2026-04-24T10:40:00+08:00", members[i]);
		assert_string_equal(desk->err.message, message);
	}
	/* And alone. */
	for (i = 0; i < 6; i++) {
		desk->run.dispatched_at = desk->run.expected_by = desk->run.status_updated_at =
			RG_STR("2026-04-24T10:40:00+08:00");
		desk->run.completed_at = desk->run.heartbeat_at = desk->run.last_recovery_at =
			RG_STR("");
		*texts[i] = RG_STR("yesterday");
		assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, &desk->err),
				 ROGER_EDATA);
		assert_string_equal(desk->err.member, members[i]);
	}
}

static void what_a_child_exit_says(void **state)
{
	static const struct {
		const char *child_exit;
		bool completed, ended, lost;
	} cases[] = {
		{ "", false, false, false },   { "0", false, false, false },
		{ "3", false, true, false },   { "failed", false, true, false },
		{ "lost", false, true, true }, { "lost", true, false, false },
		{ "3", true, false, false },
	};
	static const struct {
		const char *source;
		bool recovery;
	} sources[] = { { "completion_event", false },
			{ "history_fetch", true },
			{ "manual_recovery", true },
			{ "history", false } };
	struct desk *desk = *state;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		desk->run.exit = rg_str(cases[i].child_exit);
		desk->run.completed_at = cases[i].completed ? desk->run.expected_by : RG_STR("");
		desk->run.source = rg_str(cases[i].completed ? "completion_event" : "");
		assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
		assert_int_equal(desk->receipts.child_ended, cases[i].ended);
		assert_int_equal(desk->receipts.child_lost, cases[i].lost);
	}
	for (i = 0; i < sizeof sources / sizeof *sources; i++) {
		desk->run.source = rg_str(sources[i].source);
		assert_int_equal(rg_run_receipts(&desk->run, &desk->receipts, NULL), ROGER_OK);
		assert_int_equal(desk->receipts.from_recovery, sources[i].recovery);
		assert_int_equal(desk->receipts.completed_ms, expected_ms);
	}
}

/* Beside the status: what is recorded of its end, and nothing that follows from something else. */
static void how_a_child_ended(void **state)
{
	static const struct {
		const char *child_exit;
		bool completed, lost, limit;
		enum roger_run_outcome outcome;
	} cases[] = {
		{ "", false, false, false, 0 },
		{ "", true, false, false, ROGER_RUN_UNKNOWN },
		{ "", false, true, false, ROGER_RUN_UNKNOWN },
		{ "lost", false, true, false, ROGER_RUN_UNKNOWN },
		{ "lost", true, false, false, ROGER_RUN_UNKNOWN },
		{ "0", true, false, false, ROGER_RUN_SUCCEEDED },
		{ "3", true, false, false, ROGER_RUN_FAILED },
		{ "failed", false, false, false, ROGER_RUN_FAILED },
		{ "signal", false, false, false, ROGER_RUN_FAILED },
		{ "signal 9", false, false, false, ROGER_RUN_KILLED },
		{ "signal 15", false, false, true, ROGER_RUN_TIMED_OUT },
		{ "0", true, false, true, ROGER_RUN_TIMED_OUT },
	};
	struct desk *desk = *state;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		desk->run.exit = rg_str(cases[i].child_exit);
		desk->run.limit_reached = cases[i].limit;
		desk->receipts.completed_ms = cases[i].completed ? expected_ms : 0;
		desk->receipts.child_lost = cases[i].lost;
		assert_int_equal(rg_run_outcome(&desk->run, &desk->receipts), cases[i].outcome);
	}
}

/* Only where nothing is known of its end yet. */
static void a_child_is_lost_once(void **state)
{
	static const char *const exits[] = { "", "3", "lost" };
	struct desk *desk = *state;
	size_t i;
	int completed;

	for (i = 0; i < 3; i++)
		for (completed = 0; completed < 2; completed++) {
			bool lost = i == 0 && !completed;

			desk->run.exit = rg_str(exits[i]);
			desk->receipts.completed_ms = completed ? expected_ms : 0;
			desk->receipts.child_ended = desk->receipts.child_lost = false;
			lose_child(desk);
			assert_int_equal(desk->receipts.child_ended, lost);
			assert_int_equal(desk->receipts.child_lost, lost);
			assert_true(rg_str_is(desk->run.exit, lost ? "lost" : exits[i]));
		}
}

static void a_child_ends_once(void **state)
{
	struct desk *desk = *state;

	desk->changed = false;
	assert_int_equal(end_child(desk, "3"), ROGER_OK);
	assert_true(desk->changed && desk->receipts.child_ended);
	assert_int_equal(end_child(desk, "3"), ROGER_OK);
	assert_false(desk->changed);
	desk->changed = true;
	assert_int_equal(end_child(desk, "4"), ROGER_EREFUSED);
	assert_false(desk->changed);
	assert_string_equal(desk->err.message, "the child of run 'r1' has already ended (3)");
	assert_string_equal(desk->err.member, "exit");
	desk->run.exit = RG_STR("");
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_int_equal(end_child(desk, "4"), ROGER_EREFUSED);
	assert_string_equal(
		desk->err.message,
		"run 'r1' was completed at 2026-04-24T02:50:00.000Z; it has not failed");
}

static void a_forward_is_written_down(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(forward(desk, "msg-1"), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "run 'r1' has no completion receipt, so nothing can have been "
			    "forwarded; `roger complete` records one");
	/* What a source says before there is a receipt is no completion. */
	desk->run.source = RG_STR("completion_event");
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_true(desk->changed);
	assert_int_equal(desk->receipts.completed_ms, expected_ms);
	assert_int_equal(complete(desk, "history_fetch", expected_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "run 'r1' was already completed at 2026-04-24T02:50:00.000Z "
			    "by completion_event");
	assert_int_equal(complete(desk, "no name", expected_ms), ROGER_EDATA);
	assert_string_equal(desk->err.message, "source: expected a word such as completion_event, "
					       "history_fetch or manual_recovery");
	desk->changed = false;
	assert_int_equal(forward(desk, "msg-1"), ROGER_OK);
	assert_true(desk->changed && desk->run.forwarded && desk->receipts.forwarded);
	assert_true(rg_str_is(desk->run.evidence, "msg-1"));
}

/* Whatever is the latest that the run holds: nothing that comes is dated before it. */
static void nothing_is_dated_before_what_is_there(void **state)
{
	static const struct {
		int64_t completed_ms, last_recovery_ms, now_ms;
		const char *beat;
	} cases[] = {
		{ 0, 0, 1, "2026-04-24T02:40:00.000Z" },
		{ INT64_C(1776998401000), 0, 1, "2026-04-24T02:40:01.000Z" },
		{ 0, INT64_C(1776998402000), 1, "2026-04-24T02:40:02.000Z" },
		{ INT64_C(1776998403000), INT64_C(1776998402000), 1, "2026-04-24T02:40:03.000Z" },
		{ 0, 0, INT64_C(1776998404000), "2026-04-24T02:40:04.000Z" },
	};
	struct desk *desk = *state;
	size_t i;

	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		desk->receipts.completed_ms = cases[i].completed_ms;
		desk->receipts.last_recovery_ms = cases[i].last_recovery_ms;
		beat(desk, cases[i].now_ms);
		assert_true(rg_str_is(desk->run.heartbeat_at, cases[i].beat));
	}
}

static void why_more_time_is_refused(void **state)
{
	static const struct rg_watchdog_rules nearly_two = { 3, 0, 2, 7199999 };
	static const int64_t wrong[] = { 0, -1, 3600001, INT64_MAX, INT64_MIN };
	struct desk *desk = *state;
	size_t i;

	for (i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(extend(desk, wrong[i], dispatched_ms), ROGER_EDATA);
		assert_string_equal(desk->err.message, "by: expected at most 1 h");
	}
	assert_int_equal(extend_by(desk, &nearly_two, 7200000, dispatched_ms), ROGER_EDATA);
	assert_string_equal(desk->err.message, "by: expected at most 1 h");
	assert_int_equal(extend(desk, 1, dispatched_ms), ROGER_OK);
	assert_int_equal(desk->receipts.expected_by_ms, expected_ms + 1);
	assert_int_equal(extend(desk, 3600000, expected_ms + 1), ROGER_OK);
	assert_int_equal(desk->receipts.expected_by_ms, expected_ms + 3600001);
	assert_int_equal(extend(desk, 1, dispatched_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "run 'r1' was extended 2 times; watchdog.max_extensions is 2");
	desk->receipts.recoveries = 3;
	assert_int_equal(extend(desk, 1, dispatched_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "run 'r1' is blocked: its recovery attempts are used up");
	desk->receipts.child_ended = true;
	assert_int_equal(extend(desk, 1, dispatched_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "the child of run 'r1' has ended; more time does not help");
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_int_equal(extend(desk, 1, dispatched_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "run 'r1' was completed at 2026-04-24T02:50:00.000Z");
	assert_string_equal(desk->err.member, "");
}

/* Time ends with the year 9999. */
static void no_time_after_the_last(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(extend(desk, 2, RG_TIME_MS_MAX - 1), ROGER_EDATA);
	assert_string_equal(desk->err.message, "by: expected a time before the year 10000");
	assert_int_equal(extend(desk, 1, RG_TIME_MS_MAX - 1), ROGER_OK);
	assert_true(rg_str_is(desk->run.expected_by, "9999-12-31T23:59:59.999Z"));
	assert_int_equal(extend(desk, 1, dispatched_ms), ROGER_EDATA);
}

static void why_a_recovery_is_refused(void **state)
{
	struct desk *desk = *state;

	assert_int_equal(recover(desk, expected_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message, "run 'r1' has time until 2026-04-24T10:50:00+08:00; "
					       "its result may still come");
	/* A clock that was set back makes no recovery before the dispatch. */
	desk->receipts.child_ended = true;
	assert_int_equal(recover(desk, 1), ROGER_OK);
	assert_true(rg_str_is(desk->run.last_recovery_at, "2026-04-24T02:40:00.000Z"));
	assert_true(rg_str_is(desk->run.recovery_action, "looking"));
	assert_int_equal(desk->receipts.last_recovery_ms, dispatched_ms);
	assert_int_equal(desk->receipts.recoveries, 1);
	assert_int_equal(recover(desk, dispatched_ms + 299999), ROGER_EREFUSED);
	assert_string_equal(desk->err.message, "the last recovery attempt for run 'r1' was at "
					       "2026-04-24T02:40:00.000Z; the next may be made at "
					       "2026-04-24T02:45:00.000Z");
	desk->receipts.recoveries = 3;
	assert_int_equal(recover(desk, expected_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "run 'r1' had 3 recovery attempts; watchdog.max_recoveries is 3");
	assert_int_equal(complete(desk, "completion_event", expected_ms), ROGER_OK);
	assert_int_equal(recover(desk, expected_ms), ROGER_EREFUSED);
	assert_string_equal(desk->err.message,
			    "run 'r1' was completed at 2026-04-24T02:50:00.000Z: there is nothing "
			    "to recover");
}

static void notes_are_kept_in_order(void **state)
{
	static const char *const texts[] = { "one", "two", "three", "four" };
	struct desk *desk = *state;
	struct rg_run_edit edit;
	char expected[64];
	size_t i, k;

	for (i = 0; i < 4; i++) {
		edit = edit_at(desk, dispatched_ms + (int64_t)i);
		rg_run_note(&edit, "%s", texts[i]);
		assert_int_equal(desk->run.notes.count, i + 1);
		for (k = 0; k <= i; k++) {
			snprintf(expected, sizeof expected, "2026-04-24T02:40:00.00%zuZ %s", k,
				 texts[k]);
			assert_true(rg_str_is(desk->run.notes.items[k], expected));
		}
	}
}

/* Status and reason are judged apart: each is put right where it is not. */
static void restating_mends_what_is_wrong(void **state)
{
	struct desk *desk = *state;

	desk->run.status_reason = RG_STR("because");
	desk->changed = true;
	restate(desk, dispatched_ms + 1);
	assert_false(desk->changed);
	assert_int_equal(desk->run.notes.count, 0);
	assert_true(rg_str_is(desk->run.status_reason,
			      "Dispatch receipt exists and SLA has not been crossed."));
	assert_true(rg_str_is(desk->run.status_updated_at, "2026-04-24T02:40:00.001Z"));

	desk->run.status = ROGER_RUN_BLOCKED;
	restate(desk, 1);
	assert_true(desk->changed);
	assert_int_equal(desk->run.status, ROGER_RUN_ACTIVE);
	assert_true(rg_str_is(desk->run.status_updated_at, "2026-04-24T02:40:00.000Z"));
	assert_int_equal(desk->run.notes.count, 1);
	assert_true(rg_str_is(desk->run.notes.items[0],
			      "2026-04-24T02:40:00.000Z blocked -> active: Dispatch receipt exists "
			      "and SLA has not been crossed."));
}

static int change_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct roger_run run = { .run = RG_STR("r1"),
				 .expected_by = RG_STR("then"),
				 .status = ROGER_RUN_ACTIVE };
	struct rg_receipts receipts = { .dispatched_ms = 1, .expected_by_ms = 2 };
	struct rg_run_edit edit = {
		.run = &run, .receipts = &receipts, .rules = rules, .now_ms = 5, .arena = arena
	};
	struct rg_buf text;
	int r;

	rg_run_note(&edit, "one");
	rg_run_restate(&edit);
	assert_int_equal(rg_run_extend(&edit, 1, NULL), ROGER_OK);
	edit.now_ms = 9;
	assert_int_equal(rg_run_recover(&edit, RG_STR("looking"), NULL), ROGER_OK);
	rg_run_beat(&edit);
	assert_int_equal(rg_run_complete(&edit, RG_STR("completion_event"), NULL), ROGER_OK);
	rg_run_restate(&edit);
	if (rg_arena_failed(arena))
		return rg_fail_memory(err);
	rg_buf_init(&text, SIZE_MAX);
	rg_run_print(&run, &text);
	r = text.failed ? rg_fail_memory(err) : ROGER_OK;
	rg_buf_deinit(&text);
	return r;
}

static int read_scarcely(struct rg_arena *arena, struct roger_err *err)
{
	struct rg_receipts receipts;
	struct rg_json *json;
	struct roger_run run;
	int r = rg_run_read(RG_STR(valid), &json, arena, &run, &receipts, err);

	if (r == ROGER_OK)
		rg_json_free(json);
	return r;
}

static void memory_may_run_out(void **state)
{
	struct desk *desk = *state;
	struct rg_buf text;

	scarce_everywhere(change_scarcely);
	scarce_everywhere(read_scarcely);
	/* What had failed before stays failed. */
	rg_buf_init(&text, 2);
	rg_buf_add_text(&text, "too long");
	rg_run_print(&desk->run, &text);
	assert_true(text.failed);
	rg_buf_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_people_read),
		TEST(what_these_words_leave_open),
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
		TEST(every_reason),
		TEST(every_recovery),
		TEST(what_a_document_may_not_say),
		TEST(every_instant_is_looked_at),
		TEST(what_a_child_exit_says),
		TEST(how_a_child_ended),
		TEST(a_child_is_lost_once),
		TEST(a_child_ends_once),
		TEST(a_forward_is_written_down),
		TEST(nothing_is_dated_before_what_is_there),
		TEST(why_more_time_is_refused),
		TEST(no_time_after_the_last),
		TEST(why_a_recovery_is_refused),
		TEST(notes_are_kept_in_order),
		TEST(restating_mends_what_is_wrong),
		TEST(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
