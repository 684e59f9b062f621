/* dismiss: a person has seen a run's failure, a dead letter or damage, and continues. */
#include "ops/address.h"
#include "ops/keys/attempt.h"

#include <stdio.h>

/* Find a run by its id or a piece of it; *ret_run without a length: there is none. */
static int find_run(struct roger *roger, struct roger_str what, struct rg_arena *arena,
		    struct roger_str *ret_run, struct roger_err *err)
{
	const struct roger_settle_request typed = { .run = what };
	const void *resolved = &typed;
	struct roger_str text = { NULL, 0 };
	int r = rg_address_resolve(roger, &rg_op_settle, &typed, arena, &resolved, err);

	if (r < 0)
		return r;
	*ret_run = ((const struct roger_settle_request *)resolved)->run;
	if (rg_name_valid(*ret_run))
		r = rg_engine_run_find(roger->engine, *ret_run, arena, &text, err);
	if (!text.data)
		ret_run->length = 0;
	return r;
}

static int find_letter(struct roger *roger, struct roger_str what, struct rg_arena *arena,
		       struct roger_str *ret_id, struct roger_err *err)
{
	const struct roger_stale_request typed = { .id = what };
	struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS, .states = true };
	struct rg_reading reading = { roger, arena, err, ROGER_OK };
	const void *resolved = &typed;
	int r = rg_address_resolve(roger, &rg_op_stale, &typed, arena, &resolved, err);

	if (r < 0)
		return r;
	query.id = ((const struct roger_stale_request *)resolved)->id;
	*ret_id = query.id;
	if (!rg_read_letters(&reading, &query).count)
		ret_id->length = 0;
	return reading.r;
}

/* Dismiss a run, a dead letter or damage by its own verb: settle, stale or accept. */
static int dismiss_one(struct roger *roger, const struct roger_dismiss_request *request,
		       struct roger_dismiss_reply *reply, struct roger_err *err)
{
	struct roger_settle_request settle = { .agent = request->agent, .reason = request->reason };
	struct roger_stale_request stale = { .reason = request->reason };
	const struct roger_accept_request accept = { .place = request->what,
						     .reason = request->reason };
	struct roger_runs_reply settled = { .memory = reply->memory };
	struct roger_dead_letters_reply marked = { .memory = reply->memory };
	struct roger_accept_reply accepted = { .memory = reply->memory };
	int r = find_run(roger, request->what, reply->memory, &settle.run, err);

	if (r == ROGER_OK && !settle.run.length)
		r = find_letter(roger, request->what, reply->memory, &stale.id, err);
	if (r < 0)
		return r;
	if (settle.run.length)
		r = rg_op_perform(&rg_op_settle, roger, &settle, &settled, err);
	else if (stale.id.length)
		r = rg_op_perform(&rg_op_stale, roger, &stale, &marked, err);
	else
		r = rg_op_perform(&rg_op_accept, roger, &accept, &accepted, err);
	reply->runs = settled.runs;
	reply->dead_letters = marked.dead_letters;
	reply->damages = accepted.damages;
	if (r != ROGER_ENOENT || settle.run.length || stale.id.length)
		return r;
	return rg_fail_member(err, r, "what",
			      "what: no run, dead letter or damage '%.*s'; `roger status` shows "
			      "what needs attention",
			      RG_STR_ARGS(request->what));
}

int rg_verb_dismiss(struct roger *roger, const struct roger_dismiss_request *request,
		    struct roger_dismiss_reply *reply, struct roger_err *err)
{
	const uint64_t stored = rg_engine_stored(roger->engine);
	int r = dismiss_one(roger, request, reply, err);

	reply->changed = rg_engine_stored(roger->engine) != stored;
	/* The other verbs call this member run, id or place. */
	if (r < 0 && err->member[0] && strcmp(err->member, "agent") != 0 &&
	    strcmp(err->member, "reason") != 0)
		snprintf(err->member, sizeof err->member, "what");
	return r;
}
