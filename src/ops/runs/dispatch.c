/* dispatch: the receipt that a run was given to a sub-agent. */
#include "ops/runs/run_document.h"

#include "ops/caller.h"
#include "ops/mail/send.h"
#include "facts/watchdog.h"

/*
 * The owner, who is to get the result, must be one agent, under a name that it can send under. A
 * name never seen is noted, or refused as a send to it would be; the caller's own is not noted.
 */
static int check_owner(struct roger *roger, struct roger_str owner, struct roger_str caller,
		       struct rg_arena *arena, struct roger_strs *notes, struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	const bool own = rg_str_equal(owner, caller);
	struct rg_known known = { 0 };
	struct rg_unknown unknown;
	int r;

	if (rg_config_reserves(config, owner))
		return rg_fail_member(err, ROGER_EDATA, "forward_to",
				      "forward_to: '%.*s' is a group; a result goes to one agent",
				      RG_STR_ARGS(owner));
	if (rg_config_reserves_sender(config, owner))
		return rg_fail_member(err, ROGER_EREFUSED, "forward_to",
				      "forward_to: '%.*s' is reserved; a result goes to an agent",
				      RG_STR_ARGS(owner));
	if (rg_engine_knows(roger->engine, owner))
		return ROGER_OK;
	r = rg_send_judge_unknown(roger, arena, &known, owner,
				  own && rg_caller_proves(roger, owner),
				  own ? "agent" : "forward_to", &unknown, err);
	if (r == ROGER_OK && !own && !unknown.expected)
		rg_arena_note(arena, notes, "'%.*s' has never been seen here", RG_STR_ARGS(owner));
	return r;
}

/* If the owner has retired, its successor gets the result; without one the dispatch is refused. */
static int find_heir(struct roger *roger, struct roger_run *run, struct rg_arena *arena,
		     struct roger_strs *notes, struct roger_err *err)
{
	const struct roger_retired *owner;
	struct roger_retired_list retired;
	struct roger_str heir, why;
	int r;

	r = rg_engine_retired(roger->engine, arena, &retired, err);
	owner = r < 0 ? NULL : rg_retired_find(&retired, run->owner);
	if (!owner)
		return r;
	heir = rg_retired_heir(&retired, run->owner);
	why = rg_agents_why_retired(owner, arena);
	if (!heir.length)
		return rg_fail_member(err, ROGER_EREFUSED, "forward_to",
				      "forward_to: '%.*s' %.*s; name who is to get the result",
				      RG_STR_ARGS(run->owner), RG_STR_ARGS(why));
	rg_arena_note(arena, notes, "'%.*s' %.*s; the result goes to '%.*s'",
		      RG_STR_ARGS(run->owner), RG_STR_ARGS(why), RG_STR_ARGS(heir));
	run->owner = heir;
	return ROGER_OK;
}

static int set_expected_by(struct roger *roger, const struct roger_dispatch_request *request,
			   int64_t now_ms, struct rg_arena *arena, struct roger_run *run,
			   struct roger_err *err)
{
	int64_t within_ms =
		request->within_ms ? request->within_ms : roger->workspace->config->run_within_ms;
	const char *wrong;
	int64_t by_ms;
	bool as_given;

	if (request->within_ms && request->expected_by.length)
		return rg_fail_member(err, ROGER_EUSAGE, "within",
				      "give --within or --expected-by, not both");
	run->expected_by = rg_run_instant(now_ms + within_ms, arena);
	if (!request->expected_by.length)
		return ROGER_OK;
	as_given = rg_clock_read_rfc3339(request->expected_by, &by_ms);
	wrong = as_given ? NULL : rg_clock_read(request->expected_by, now_ms, &by_ms);
	if (!wrong && by_ms <= now_ms)
		wrong = "a time to come; a span from now is --within";
	if (wrong)
		return rg_fail_member(err, ROGER_EDATA, "expected_by", "expected_by: expected %s",
				      wrong);
	/* The document keeps an instant with the offset that was given. */
	run->expected_by = as_given ? request->expected_by : rg_run_instant(by_ms, arena);
	return ROGER_OK;
}

int rg_run_make(struct roger *roger, const struct roger_dispatch_request *request,
		struct rg_arena *arena, struct roger_run *ret_run, struct roger_strs *notes,
		struct roger_err *err)
{
	const struct rg_watchdog_rules rules = rg_run_rules(roger);
	struct rg_buf reason = { .maximum = SIZE_MAX };
	int64_t now_ms = rg_clock_ms();
	struct rg_receipts receipts;
	int r;

	*ret_run = (struct roger_run){
		.run = request->run,
		.child = request->child.length ? request->child : request->run,
		.owner = request->forward_to.length ? request->forward_to : request->agent,
		.issue = request->issue,
		.task = request->task,
		.status = ROGER_RUN_ACTIVE,
	};
	ret_run->dispatched_at = ret_run->status_updated_at = rg_run_instant(now_ms, arena);
	r = set_expected_by(roger, request, now_ms, arena, ret_run, err);
	if (r == ROGER_OK)
		r = rg_run_receipts(ret_run, &receipts, err);
	if (r < 0)
		return r;
	rg_watchdog_explain(ret_run, &receipts, &rules, ROGER_RUN_ACTIVE, &reason);
	ret_run->status_reason = rg_arena_take(arena, &reason);
	if (!rg_record_keep(&rg_run_record, ret_run, arena))
		return rg_fail_memory(err);
	if (!ret_run->owner.length)
		return ROGER_OK;
	r = check_owner(roger, ret_run->owner, request->agent, arena, notes, err);
	return r < 0 ? r : find_heir(roger, ret_run, arena, notes, err);
}

int rg_run_put_new(struct roger *roger, struct roger_run *run, struct rg_arena *arena,
		   struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	struct rg_run_edit edit = rg_run_begin_edit(roger, run, NULL, arena);
	struct roger_str there, text;
	int r;

	rg_run_note_caller(&edit, "dispatched");
	r = rg_engine_records_hold(roger->engine, &held, err);
	if (r == ROGER_OK)
		r = rg_engine_run_find(roger->engine, run->run, arena, &there, err);
	if (r == ROGER_OK && there.data)
		r = rg_fail_member(err, ROGER_EREFUSED, "run",
				   "run '%.*s' was dispatched already; see `roger runs %.*s`",
				   RG_STR_ARGS(run->run), RG_STR_ARGS(run->run));
	return r < 0 ? r : rg_run_put(roger, run, there, arena, &text, err);
}

int rg_verb_dispatch(struct roger *roger, const struct roger_dispatch_request *request,
		     struct roger_runs_reply *reply, struct roger_err *err)
{
	struct rg_run_document document = { 0 };
	struct roger_run *run = &document.run;
	int r;

	r = rg_run_make(roger, request, reply->memory, run, &reply->notes, err);
	/* The caller must be the run's owner or its child: nobody makes a run of two others. */
	if (r == ROGER_OK)
		r = rg_caller_may_change(roger, run->owner.length ? "forward_to" : "agent", "run",
					 run->run, run->owner, run->child, err);
	if (r == ROGER_OK)
		r = rg_run_put_new(roger, run, reply->memory, err);
	reply->changed = true;
	return r < 0 ? r : rg_run_reply(reply, &document, err);
}
