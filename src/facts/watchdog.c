#include "facts/watchdog.h"

#include "base/clock.h"
#include "base/limits.h"

/* Bytes for an instant printed by rg_clock_print_utc(). */
enum { INSTANT_BYTES = 32 };

/* ---------------------------------------------------------------- rules -- */

static bool used_up(const struct rg_receipts *receipts, const struct rg_watchdog_rules *rules)
{
	return receipts->recoveries > 0 && receipts->recoveries >= rules->recoveries_max;
}

enum roger_run_status rg_watchdog_judge(const struct rg_receipts *receipts,
					const struct rg_watchdog_rules *rules, int64_t now_ms)
{
	if (receipts->completed_ms && receipts->forwarded)
		return receipts->recoveries || receipts->from_recovery ? ROGER_RUN_RECOVERED
								       : ROGER_RUN_COMPLETED;
	if (receipts->completed_ms)
		return ROGER_RUN_NOT_FORWARDED;
	if (receipts->child_ended || used_up(receipts, rules))
		return ROGER_RUN_BLOCKED;
	return now_ms > receipts->expected_by_ms ? ROGER_RUN_SUSPECT : ROGER_RUN_ACTIVE;
}

enum roger_run_outcome rg_run_outcome(const struct roger_run *run,
				      const struct rg_receipts *receipts)
{
	static const char killed[] = "signal ";
	const struct roger_str ended = run->exit;

	if (run->limit_reached)
		return ROGER_RUN_TIMED_OUT;
	if (!ended.length)
		return receipts->completed_ms || receipts->child_lost ? ROGER_RUN_UNKNOWN : 0;
	if (rg_str_is(ended, "0"))
		return ROGER_RUN_SUCCEEDED;
	if (rg_str_is(ended, "lost"))
		return ROGER_RUN_UNKNOWN;
	return ended.length >= sizeof killed && rg_str_begins(ended, killed) ? ROGER_RUN_KILLED
									     : ROGER_RUN_FAILED;
}

bool rg_run_end_is_known(const struct roger_run *run)
{
	return run->exit.length && !rg_str_is(run->exit, "lost");
}

bool rg_run_failed(const struct roger_run *run)
{
	return run->status == ROGER_RUN_BLOCKED || run->outcome == ROGER_RUN_FAILED ||
	       run->outcome == ROGER_RUN_KILLED || run->outcome == ROGER_RUN_TIMED_OUT;
}

bool rg_run_wants_settling(const struct roger_run *run)
{
	return !run->settled_at.length && rg_run_failed(run);
}

static void explain_missing_forward(const struct roger_run *run, struct rg_buf *out)
{
	rg_assert(run->source.length > 0);
	rg_buf_printf(out, "Finished (%.*s); ", RG_STR_ARGS(run->source));
	if (run->result_message.length)
		rg_buf_printf(out, "%.*s has not read its result %.*s.",
			      RG_STR_ARGS(run->owner.length ? run->owner : RG_STR("its recipient")),
			      RG_STR_ARGS(run->result_message));
	else
		rg_buf_add_text(out, "nothing confirms that the result reached the main thread.");
}

static void explain_end(const struct roger_run *run, const struct rg_receipts *receipts,
			struct rg_buf *out)
{
	rg_assert(receipts->completed_ms && receipts->forwarded);
	if (receipts->recoveries)
		rg_buf_printf(out,
			      "Completion and forward are confirmed, with %lld recovery attempt%s.",
			      (long long)receipts->recoveries, rg_plural(receipts->recoveries));
	else if (receipts->from_recovery)
		rg_buf_printf(out, "Completion and forward are confirmed, by recovery (%.*s).",
			      RG_STR_ARGS(run->source));
	else
		rg_buf_add_text(out, "Completion receipt and confirmed forward exist.");
	if (receipts->completed_ms > receipts->expected_by_ms)
		rg_buf_printf(out, " It was late: expected by %.*s.",
			      RG_STR_ARGS(run->expected_by));
}

static void explain_block(const struct roger_run *run, const struct rg_receipts *receipts,
			  const struct rg_watchdog_rules *rules, struct rg_buf *out)
{
	int64_t status;

	rg_assert(receipts->child_ended || used_up(receipts, rules));
	if (receipts->child_lost)
		rg_buf_add_text(out, "The child's process and the roger run that watched it are "
				     "gone, and no result is known.");
	else if (receipts->child_ended)
		rg_buf_printf(out, "The child ended without a result (%s%.*s).",
			      rg_str_number(run->exit, &status) ? "exit " : "",
			      RG_STR_ARGS(run->exit));
	if (used_up(receipts, rules))
		rg_buf_printf(out, "%sNo result after %lld of %lld recovery attempts.",
			      out->length ? " " : "", (long long)receipts->recoveries,
			      (long long)rules->recoveries_max);
}

void rg_watchdog_explain(const struct roger_run *run, const struct rg_receipts *receipts,
			 const struct rg_watchdog_rules *rules, enum roger_run_status status,
			 struct rg_buf *out)
{
	switch (status) {
	case ROGER_RUN_ACTIVE:
		rg_buf_add_text(out, "Dispatch receipt exists and SLA has not been crossed.");
		break;
	case ROGER_RUN_SUSPECT:
		rg_buf_printf(out, "No result; it was expected by %.*s.",
			      RG_STR_ARGS(run->expected_by));
		break;
	case ROGER_RUN_NOT_FORWARDED:
		explain_missing_forward(run, out);
		break;
	case ROGER_RUN_COMPLETED:
	case ROGER_RUN_RECOVERED:
		explain_end(run, receipts, out);
		break;
	case ROGER_RUN_BLOCKED:
		explain_block(run, receipts, rules, out);
		break;
	}
}

/* A span in its largest unit: "4 min". */
static void add_about(int64_t ms, struct rg_buf *out)
{
	static const struct {
		int64_t from_ms, ms;
		const char *name;
	} units[] = { { 172800000, 86400000, "days" },
		      { 7200000, 3600000, "h" },
		      { 60000, 60000, "min" },
		      { INT64_MIN, 1000, "s" } };
	size_t i = 0;

	while (ms < units[i].from_ms)
		i++;
	rg_buf_printf(out, "%lld %s", (long long)(ms > 0 ? ms / units[i].ms : 0), units[i].name);
}

/* How the child ended, unless all was well or nobody knows: "exit 3", "killed". */
static bool add_bad_end(const struct roger_run *run, struct rg_buf *out)
{
	switch ((enum roger_run_outcome)run->outcome) {
	case ROGER_RUN_TIMED_OUT:
		rg_buf_add_text(out, "timed out");
		return true;
	case ROGER_RUN_KILLED:
		rg_buf_printf(out, "killed by %.*s", RG_STR_ARGS(run->exit));
		return true;
	case ROGER_RUN_FAILED:
		rg_buf_printf(out, rg_str_is(run->exit, "failed") ? "%.*s" : "failed: exit %.*s",
			      RG_STR_ARGS(run->exit));
		return true;
	case ROGER_RUN_SUCCEEDED:
	case ROGER_RUN_UNKNOWN:
		break;
	}
	return false;
}

void rg_run_print_words(const struct roger_run *run, int64_t now_ms, struct rg_buf *out)
{
	int64_t due_ms = now_ms;

	(void)!rg_clock_read_rfc3339(run->expected_by, &due_ms);
	switch ((enum roger_run_status)run->status) {
	case ROGER_RUN_ACTIVE:
		rg_buf_add_text(out, "running, ");
		add_about(due_ms - now_ms, out);
		rg_buf_add_text(out, " left");
		return;
	case ROGER_RUN_SUSPECT:
		rg_buf_add_text(out, "overdue by ");
		add_about(now_ms - due_ms, out);
		return;
	case ROGER_RUN_BLOCKED:
		if (!add_bad_end(run, out))
			rg_buf_add_text(out, run->outcome ? "lost" : "given up");
		return;
	case ROGER_RUN_NOT_FORWARDED:
	case ROGER_RUN_COMPLETED:
	case ROGER_RUN_RECOVERED:
		break;
	}
	if (!add_bad_end(run, out))
		rg_buf_add_text(out, run->status == ROGER_RUN_NOT_FORWARDED ? "finished" : "done");
	if (run->status == ROGER_RUN_NOT_FORWARDED)
		rg_buf_add_text(out, ", result unread");
	else if (run->status == ROGER_RUN_RECOVERED)
		rg_buf_add_text(out, ", recovered");
}

void rg_run_print_why(const struct roger_run *run, struct rg_buf *out)
{
	const struct roger_str owner = run->owner.length ? run->owner : RG_STR("its owner");
	const char *between = "";

	if (run->status == ROGER_RUN_SUSPECT) {
		rg_buf_add_text(out, "no result yet");
	} else if (run->status == ROGER_RUN_NOT_FORWARDED && run->result_message.length) {
		rg_buf_printf(out, "%.*s has not read %.*s", RG_STR_ARGS(owner),
			      RG_STR_ARGS(run->result_message));
	} else if (run->status == ROGER_RUN_NOT_FORWARDED) {
		rg_buf_printf(out, "nothing shows that %.*s knows its result", RG_STR_ARGS(owner));
	} else if (run->status == ROGER_RUN_BLOCKED) {
		if (run->outcome == ROGER_RUN_UNKNOWN) {
			rg_buf_add_text(out, "its program and the roger run that watched it are "
					     "gone");
			between = ", ";
		} else if (rg_str_is(run->exit, "failed") && !run->recovery_attempts) {
			rg_buf_add_text(out, "it ended without a result");
		}
		if (run->recovery_attempts)
			rg_buf_printf(out, "%sno result after %lld recover%s", between,
				      (long long)run->recovery_attempts,
				      run->recovery_attempts == 1 ? "y" : "ies");
	}
}

enum rg_recovery rg_watchdog_recovery(const struct rg_receipts *receipts,
				      const struct rg_watchdog_rules *rules, int64_t now_ms,
				      int64_t *ret_from_ms)
{
	int64_t cooled_ms = receipts->last_recovery_ms + rules->recovery_cooldown_ms;

	*ret_from_ms = 0;
	if (receipts->completed_ms)
		return RG_RECOVERY_DONE;
	if (receipts->settled)
		return RG_RECOVERY_SETTLED;
	if (receipts->recoveries >= rules->recoveries_max)
		return RG_RECOVERY_USED_UP;
	if (!receipts->child_ended && now_ms <= receipts->expected_by_ms) {
		*ret_from_ms = receipts->expected_by_ms + 1;
		return RG_RECOVERY_EARLY;
	}
	if (receipts->last_recovery_ms && now_ms < cooled_ms) {
		*ret_from_ms = cooled_ms;
		return RG_RECOVERY_COOLING;
	}
	return RG_RECOVERY_DUE;
}

static bool is_recovery(struct roger_str source)
{
	return rg_str_is(source, "history_fetch") || rg_str_is(source, "manual_recovery");
}

/* ------------------------------------------------------------- receipts -- */

static int read_instant(const char *member, struct roger_str text, int64_t *ret_ms,
			struct roger_err *err)
{
	*ret_ms = 0;
	if (text.length == 0 || (rg_clock_read_rfc3339(text, ret_ms) && *ret_ms > 0))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, member,
			      "%s: expected a time such as 2026-04-24T10:40:00+08:00", member);
}

static int fail_contradiction(const char *member, const char *what, struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EDATA, member, "%s: %s", member, what);
}

/* Reject impossible combinations, whoever wrote them. */
static int check_receipts(const struct roger_run *run, const struct rg_receipts *receipts,
			  struct roger_err *err)
{
	const int64_t began = receipts->dispatched_ms, ended = receipts->completed_ms,
		      recovered = receipts->last_recovery_ms;
	const struct {
		bool broken;
		const char *member, *what;
	} rules[] = {
		{ !began, "dispatchAt", "empty" },
		{ !run->status_updated_at.length, "statusUpdatedAt", "empty" },
		{ receipts->expected_by_ms < began, "expectedBy", "is before dispatchAt" },
		{ ended && ended < began, "completionReceivedAt", "is before dispatchAt" },
		{ receipts->forwarded && !ended, "forwardedToMain",
		  "is true without a completion receipt, which contradicts" },
		{ run->source.length && !ended, "resultSource",
		  "is set without a completion receipt" },
		{ ended && !run->source.length, "resultSource",
		  "is missing beside a completion receipt" },
		{ run->evidence.length && !receipts->forwarded, "forwardEvidence",
		  "is set, but forwardedToMain is false" },
		{ receipts->recoveries && !recovered, "lastRecoveryAt",
		  "is missing beside recoveryAttemptCount" },
		{ recovered && !receipts->recoveries, "recoveryAttemptCount",
		  "is 0 beside lastRecoveryAt" },
		{ recovered && recovered < began, "lastRecoveryAt", "is before dispatchAt" },
	};
	size_t i;

	for (i = 0; i < sizeof rules / sizeof *rules; i++)
		if (rules[i].broken)
			return fail_contradiction(rules[i].member, rules[i].what, err);
	return ROGER_OK;
}

int rg_run_receipts(const struct roger_run *run, struct rg_receipts *ret_receipts,
		    struct roger_err *err)
{
	struct rg_receipts receipts = {
		.forwarded = run->forwarded,
		.from_recovery = is_recovery(run->source),
		.recoveries = run->recovery_attempts,
		.extensions = run->extensions,
		.settled = run->settled_at.length > 0,
	};
	int64_t unused;
	const struct {
		const char *member;
		struct roger_str text;
		int64_t *ret_ms;
	} instants[] = {
		{ "dispatchAt", run->dispatched_at, &receipts.dispatched_ms },
		{ "expectedBy", run->expected_by, &receipts.expected_by_ms },
		{ "completionReceivedAt", run->completed_at, &receipts.completed_ms },
		{ "statusUpdatedAt", run->status_updated_at, &unused },
		{ "heartbeatAt", run->heartbeat_at, &unused },
		{ "lastRecoveryAt", run->last_recovery_at, &receipts.last_recovery_ms },
		{ "settledAt", run->settled_at, &unused },
	};
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < sizeof instants / sizeof *instants; i++)
		r = read_instant(instants[i].member, instants[i].text, instants[i].ret_ms, err);
	if (r == ROGER_OK)
		r = check_receipts(run, &receipts, err);
	if (r < 0)
		return r;
	receipts.child_ended =
		run->exit.length && !rg_str_is(run->exit, "0") && !receipts.completed_ms;
	receipts.child_lost = receipts.child_ended && rg_str_is(run->exit, "lost");
	*ret_receipts = receipts;
	return ROGER_OK;
}

/* ------------------------------------------------------------ documents -- */

/* Seed 001: "Receipt fields and status fields must remain explicit in stored state." */
static int check_explicit(const struct rg_value *object, struct roger_err *err)
{
	static const char *const nullable[] = { "completionReceivedAt", "resultSource" };
	size_t i;

	for (i = 0; i < sizeof nullable / sizeof *nullable; i++)
		if (!rg_json_member(object, nullable[i]))
			return fail_contradiction(nullable[i],
						  "is missing; write null for no value", err);
	return ROGER_OK;
}

int rg_run_read(struct roger_str text, struct rg_json **ret_json, struct rg_arena *arena,
		struct roger_run *ret_run, struct rg_receipts *ret_receipts, struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_run run = { 0 };
	int r;

	r = rg_json_read(text, &json, err);
	if (r < 0)
		return r;
	r = rg_record_decode(&rg_run_record, rg_json_root(json), &run, arena, err);
	if (r == ROGER_OK)
		r = check_explicit(rg_json_root(json), err);
	if (r == ROGER_OK)
		r = rg_run_receipts(&run, ret_receipts, err);
	if (r < 0)
		return r;
	*ret_run = run;
	*ret_json = json;
	json = NULL;
	return ROGER_OK;
}

void rg_run_print(const struct roger_run *run, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };

	rg_record_encode(&rg_run_record, run, &line);
	rg_json_add_pretty(out, rg_buf_str(&line));
	rg_buf_add_char(out, '\n');
	out->failed |= line.failed;
}

/* -------------------------------------------------------------- changes -- */

struct roger_str rg_run_instant(int64_t ms, struct rg_arena *arena)
{
	char text[INSTANT_BYTES];

	rg_clock_print_utc(ms, text);
	return rg_arena_str(arena, rg_str(text));
}

/* The time to record: now, but never before anything that the run holds, so that a clock that was
 * set back cannot cause a contradiction. */
static int64_t run_now(const struct rg_run_edit *edit)
{
	const struct rg_receipts *receipts = edit->receipts;
	const int64_t held[] = { receipts->dispatched_ms, receipts->completed_ms,
				 receipts->last_recovery_ms };
	int64_t now_ms = edit->now_ms;
	size_t i;

	for (i = 0; i < sizeof held / sizeof *held; i++)
		if (held[i] > now_ms)
			now_ms = held[i];
	return now_ms;
}

int rg_run_complete(struct rg_run_edit *edit, struct roger_str source, struct roger_err *err)
{
	struct rg_receipts *receipts = edit->receipts;
	struct roger_run *run = edit->run;

	if (!rg_name_valid(source))
		return rg_fail_member(err, ROGER_EDATA, "source",
				      "source: expected a word such as completion_event, "
				      "history_fetch or manual_recovery");
	if (receipts->completed_ms && rg_str_equal(run->source, source))
		return ROGER_OK;
	if (receipts->completed_ms)
		return rg_fail_member(err, ROGER_EREFUSED, "source",
				      "run '%.*s' was already completed at %.*s by %.*s",
				      RG_STR_ARGS(run->run), RG_STR_ARGS(run->completed_at),
				      RG_STR_ARGS(run->source));
	receipts->completed_ms = run_now(edit);
	run->completed_at = rg_run_instant(receipts->completed_ms, edit->arena);
	run->source = source;
	(void)!rg_arena_copy(edit->arena, source, &run->source);
	receipts->from_recovery = is_recovery(source);
	receipts->child_ended = receipts->child_lost = false;
	edit->changed = true;
	return ROGER_OK;
}

void rg_run_lose_child(struct rg_run_edit *edit)
{
	if (edit->receipts->completed_ms || edit->run->exit.length)
		return;
	edit->run->exit = RG_STR("lost");
	edit->receipts->child_ended = edit->receipts->child_lost = true;
}

void rg_run_beat(struct rg_run_edit *edit)
{
	edit->run->heartbeat_at = rg_run_instant(run_now(edit), edit->arena);
	edit->changed = true;
}

void rg_run_ended(struct rg_run_edit *edit)
{
	edit->run->ended_at = rg_run_instant(run_now(edit), edit->arena);
}

int rg_run_end_child(struct rg_run_edit *edit, struct roger_str child_exit, struct roger_err *err)
{
	struct roger_run *run = edit->run;

	if (rg_str_equal(run->exit, child_exit))
		return ROGER_OK;
	if (edit->receipts->completed_ms)
		return rg_fail_member(err, ROGER_EREFUSED, "exit",
				      "run '%.*s' was completed at %.*s; it has not failed",
				      RG_STR_ARGS(run->run), RG_STR_ARGS(run->completed_at));
	if (run->exit.length)
		return rg_fail_member(err, ROGER_EREFUSED, "exit",
				      "the child of run '%.*s' has already ended (%.*s)",
				      RG_STR_ARGS(run->run), RG_STR_ARGS(run->exit));
	run->exit = child_exit;
	edit->receipts->child_ended = edit->changed = true;
	return ROGER_OK;
}

int rg_run_forward(struct rg_run_edit *edit, struct roger_str evidence, struct roger_err *err)
{
	struct rg_receipts *receipts = edit->receipts;

	if (receipts->forwarded)
		return ROGER_OK;
	if (!receipts->completed_ms)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "run '%.*s' has no completion receipt, so nothing can have been "
			       "forwarded; `roger complete` records one",
			       RG_STR_ARGS(edit->run->run));
	edit->run->evidence = evidence;
	edit->run->forwarded = receipts->forwarded = edit->changed = true;
	return ROGER_OK;
}

static int may_extend(const struct rg_run_edit *edit, int64_t by_ms, struct roger_err *err)
{
	const struct rg_watchdog_rules *rules = &edit->rules;
	const struct rg_receipts *receipts = edit->receipts;
	const struct roger_run *run = edit->run;

	if (by_ms <= 0 || by_ms > rules->extension_ms_max)
		return rg_fail_member(err, ROGER_EDATA, "by", "by: expected at most %lld h",
				      (long long)rules->extension_ms_max / 3600000);
	if (receipts->completed_ms)
		return rg_fail(err, ROGER_EREFUSED, 0, "run '%.*s' was completed at %.*s",
			       RG_STR_ARGS(run->run), RG_STR_ARGS(run->completed_at));
	if (receipts->child_ended)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "the child of run '%.*s' has ended; more time does not help",
			       RG_STR_ARGS(run->run));
	if (used_up(receipts, rules))
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "run '%.*s' is blocked: its recovery attempts are used up",
			       RG_STR_ARGS(run->run));
	if (receipts->extensions >= rules->extensions_max)
		return rg_fail(
			err, ROGER_EREFUSED, 0,
			"run '%.*s' was extended %lld times; watchdog.max_extensions is %lld",
			RG_STR_ARGS(run->run), (long long)receipts->extensions,
			(long long)rules->extensions_max);
	return ROGER_OK;
}

int rg_run_extend(struct rg_run_edit *edit, int64_t by_ms, struct roger_err *err)
{
	struct rg_receipts *receipts = edit->receipts;
	const int64_t from_ms =
		edit->now_ms > receipts->expected_by_ms ? edit->now_ms : receipts->expected_by_ms;
	int r = may_extend(edit, by_ms, err);

	if (r < 0)
		return r;
	if (from_ms > RG_TIME_MS_MAX - by_ms)
		return rg_fail_member(err, ROGER_EDATA, "by",
				      "by: expected a time before the year 10000");
	receipts->expected_by_ms = from_ms + by_ms;
	edit->run->expected_by = rg_run_instant(from_ms + by_ms, edit->arena);
	edit->run->extensions = ++receipts->extensions;
	edit->changed = true;
	return ROGER_OK;
}

int rg_run_settle_failure(struct rg_run_edit *edit, bool stranded, struct roger_str by,
			  struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = SIZE_MAX };
	struct rg_receipts *receipts = edit->receipts;
	struct roger_run *run = edit->run, judged = *run;

	judged.status = (int)rg_watchdog_judge(receipts, &edit->rules, edit->now_ms);
	judged.outcome = (int)rg_run_outcome(run, receipts);
	if (receipts->settled)
		return ROGER_OK;
	if (!rg_run_wants_settling(&judged) &&
	    !(stranded && judged.status == ROGER_RUN_NOT_FORWARDED)) {
		rg_run_print_words(&judged, edit->now_ms, &words);
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "run '%.*s' is %.*s: there is nothing to dismiss",
			       RG_STR_ARGS(run->run), RG_STR_ARGS(rg_buf_str(&words)));
	}
	run->settled_at = rg_run_instant(run_now(edit), edit->arena);
	run->settled_by = by;
	receipts->settled = edit->changed = true;
	return ROGER_OK;
}

static int may_recover(const struct rg_run_edit *edit, struct roger_err *err)
{
	const struct roger_run *run = edit->run;
	char from[INSTANT_BYTES];
	int64_t from_ms;

	switch (rg_watchdog_recovery(edit->receipts, &edit->rules, edit->now_ms, &from_ms)) {
	case RG_RECOVERY_DUE:
		return ROGER_OK;
	case RG_RECOVERY_DONE:
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "run '%.*s' was completed at %.*s: there is nothing to recover",
			       RG_STR_ARGS(run->run), RG_STR_ARGS(run->completed_at));
	case RG_RECOVERY_SETTLED:
		return rg_fail(err, ROGER_EREFUSED, 0, "run '%.*s' was dismissed at %.*s",
			       RG_STR_ARGS(run->run), RG_STR_ARGS(run->settled_at));
	case RG_RECOVERY_EARLY:
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "run '%.*s' has time until %.*s; its result may still come",
			       RG_STR_ARGS(run->run), RG_STR_ARGS(run->expected_by));
	case RG_RECOVERY_COOLING:
		rg_clock_print_utc(from_ms, from);
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "the last recovery attempt for run '%.*s' was at %.*s; the next may "
			       "be made at %s",
			       RG_STR_ARGS(run->run), RG_STR_ARGS(run->last_recovery_at), from);
	case RG_RECOVERY_USED_UP:
		break;
	}
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "run '%.*s' had %lld recovery attempts; watchdog.max_recoveries is %lld",
		       RG_STR_ARGS(run->run), (long long)edit->receipts->recoveries,
		       (long long)edit->rules.recoveries_max);
}

int rg_run_recover(struct rg_run_edit *edit, struct roger_str action, struct roger_err *err)
{
	struct rg_receipts *receipts = edit->receipts;
	struct roger_run *run = edit->run;
	int r = may_recover(edit, err);

	if (r < 0)
		return r;
	receipts->last_recovery_ms = run_now(edit);
	run->last_recovery_at = rg_run_instant(receipts->last_recovery_ms, edit->arena);
	run->recovery_attempts = ++receipts->recoveries;
	run->recovery_action = action;
	edit->changed = true;
	return ROGER_OK;
}

/* The list is copied, since a document that is only tried has it, too. */
static void add_note(struct rg_run_edit *edit, int64_t at_ms, struct roger_str text)
{
	const struct roger_strs *before = &edit->run->notes;
	struct roger_strs notes = { 0 };
	char instant[INSTANT_BYTES];
	size_t i;

	rg_clock_print_utc(at_ms, instant);
	for (i = 0; i < before->count; i++)
		(void)!rg_arena_append(edit->arena, &notes.items, &notes.count, &before->items[i],
				       sizeof *before->items);
	rg_arena_note(edit->arena, &notes, "%s %.*s", instant, RG_STR_ARGS(text));
	edit->run->notes = notes;
}

void rg_run_note(struct rg_run_edit *edit, const char *format, ...)
{
	struct roger_str text = { "", 0 };
	va_list arguments;

	va_start(arguments, format);
	(void)!rg_arena_vprint(edit->arena, &text, format, arguments);
	va_end(arguments);
	add_note(edit, edit->now_ms, text);
}

void rg_run_note_once(struct rg_run_edit *edit, struct roger_str text)
{
	size_t i;

	for (i = 0; i < edit->run->notes.count; i++)
		if (rg_str_ends(edit->run->notes.items[i], text.data))
			return;
	add_note(edit, edit->now_ms, text);
}

/* A change of the status has a note: "active -> blocked: why". */
void rg_run_restate(struct rg_run_edit *edit)
{
	const enum roger_run_status status =
		rg_watchdog_judge(edit->receipts, &edit->rules, edit->now_ms);
	struct rg_buf reason = { .maximum = SIZE_MAX };
	struct roger_run *run = edit->run;
	const int before = run->status;
	struct roger_str why;

	rg_watchdog_explain(run, edit->receipts, &edit->rules, status, &reason);
	why = rg_arena_take(edit->arena, &reason);
	run->outcome = (int)rg_run_outcome(run, edit->receipts);
	run->status = (int)status;
	if (run->status == before && rg_str_equal(why, run->status_reason))
		return;
	run->status_reason = why;
	run->status_updated_at = rg_run_instant(run_now(edit), edit->arena);
	if (run->status == before)
		return;
	edit->changed = true;
	add_note(edit, run_now(edit),
		 rg_arena_text(edit->arena, "%s -> %s: %.*s", rg_run_status_names[before],
			       rg_run_status_names[status], RG_STR_ARGS(why)));
}
