/* why: what a message, a run or an agent waits for, in one sentence, and what to do. */
#include <stdio.h>

#include "base/nearest.h"
#include "ops/address.h"
#include "ops/proof/concerns.h"
#include "ops/runs/run_list.h"

struct asking {
	struct roger_why_reply *reply;
	struct rg_concerns concerns;
	struct roger_status_reply now;
};

static void print_ago(const struct rg_concerns *concerns, int64_t at_ms, char span[32])
{
	rg_clock_print_span(concerns->now_ms > at_ms ? concerns->now_ms - at_ms : 0, span);
}

static void about_agent(struct asking *asking, struct roger_str name)
{
	struct rg_concerns *concerns = &asking->concerns;
	struct roger_why_reply *reply = asking->reply;
	const struct rg_agent_mail *box = rg_concerns_find_box(concerns, name);
	const struct roger_retired *retired = rg_retired_find(&concerns->retired, name);
	const struct roger_str heir =
		retired ? rg_retired_heir(&concerns->retired, name) : (struct roger_str){ "", 0 };
	struct roger_agent agent = { .name = name, .received = 1 };
	char span[32];

	reply->subject = ROGER_WHY_AGENT;
	if (box) {
		reply->words = rg_agent_mail_words(concerns, box, SIZE_MAX);
		reply->next = rg_agent_mail_next(concerns, box);
	} else {
		rg_reading_got(&concerns->reading,
			       rg_engine_last_looks(concerns->roger->engine, &agent, 1,
						    concerns->reading.err));
		print_ago(concerns, agent.last_looked_at_ms, span);
		reply->words = rg_arena_text(
			concerns->arena, "%.*s has no unread mail%s%s%s", RG_STR_ARGS(name),
			agent.last_looked_at_ms ? "; it looked " : "",
			agent.last_looked_at_ms ? span : "", agent.last_looked_at_ms ? " ago" : "");
	}
	if (!retired)
		return;
	print_ago(concerns, retired->at_ms, span);
	reply->words = rg_arena_text(
		concerns->arena, "%.*s; it retired %s ago%s%.*s%s%.*s%s", RG_STR_ARGS(reply->words),
		span, retired->reason.length ? ": " : "", RG_STR_ARGS(retired->reason),
		heir.length ? "; " : "", RG_STR_ARGS(heir), heir.length ? " gets its mail" : "");
}

/* Neither read nor archived? */
static bool is_waiting(const struct roger_trace *trace)
{
	size_t i;

	for (i = 0; i < trace->steps.count; i++)
		if (trace->steps.items[i].step == ROGER_STEP_ARCHIVED)
			return false;
	return trace->reached != ROGER_STEP_READ && trace->reached != ROGER_STEP_ACKNOWLEDGED;
}

/* What can be typed for a message: its number in this session, else its id. */
static struct roger_str name_of(const struct asking *asking, const struct roger_trace *trace)
{
	return trace->seq && trace->epoch == asking->now.epoch
		       ? rg_arena_text(asking->concerns.arena, "%.*s#%lld",
				       RG_STR_ARGS(trace->from), (long long)trace->seq)
		       : trace->id;
}

/* Answer with what trace says of the message that was asked for, of several the first that waits,
 * and what is to be done for its recipient's mail. */
static void about_message(struct asking *asking, const struct roger_trace_reply *found)
{
	struct rg_concerns *concerns = &asking->concerns;
	struct roger_why_reply *reply = asking->reply;
	const struct roger_trace *trace = found->traces.items;
	const struct rg_agent_mail *box;
	char of[64] = "";
	size_t i, count = (size_t)found->asked, waiting = 0;

	for (i = count; i-- > 0;)
		if (is_waiting(&found->traces.items[i])) {
			trace = &found->traces.items[i];
			waiting++;
		}
	if (count > 1 && waiting)
		snprintf(of, sizeof of, " (%zu of %zu unread)", waiting, count);
	box = waiting ? rg_concerns_find_box(concerns,
					     rg_retired_owner(&concerns->retired, trace->to))
		      : NULL;
	reply->subject = ROGER_WHY_MESSAGE;
	reply->what = trace->id;
	reply->words = rg_arena_text(concerns->arena, "%.*s to %.*s%s: %.*s%s%.*s%s",
				     RG_STR_ARGS(name_of(asking, trace)), RG_STR_ARGS(trace->to),
				     of, RG_STR_ARGS(trace->summary),
				     box && box->failed.length ? "; its wake command fails (" : "",
				     RG_STR_ARGS(box ? box->failed : RG_STR("")),
				     box && box->failed.length ? ")" : "");
	if (box)
		reply->next = rg_agent_mail_next(concerns, box);
}

/* Find the message that was meant, as trace knows it, in reply->traces. */
static int find_message(struct roger *roger, const struct roger_why_request *request,
			struct roger_trace_reply *reply, struct roger_err *err)
{
	const struct roger_trace_request typed = { .ids = { &request->what, 1 },
						   .agent = request->agent };
	const void *resolved = &typed;
	int r = rg_address_resolve(roger, &rg_op_trace, &typed, reply->memory, &resolved, err);

	return r < 0 ? r : rg_verb_trace(roger, resolved, reply, err);
}

/* Is it an agent, even one that only began a session, or is the successor of a retired one? */
static bool is_known(const struct rg_concerns *concerns, struct roger_str name)
{
	return rg_name_valid(name) &&
	       (rg_engine_knows(concerns->roger->engine, name) || rg_concerns_box(concerns, name) ||
		rg_retired_find(&concerns->retired, name) || rg_config_is_person(name) ||
		rg_engine_agent_of(&concerns->agents, name));
}

/* Find a known agent or run near an unknown name; "": none. */
static struct roger_str find_near(struct roger *roger, struct roger_str what,
				  struct rg_arena *arena)
{
	struct roger_str nearest = rg_run_near(roger, what, arena);
	struct roger_strs names;

	if (rg_engine_names(roger->engine, arena, &names, NULL) == ROGER_OK)
		rg_nearest_look(&nearest, what, rg_nearest_of(names, what));
	return nearest;
}

int rg_verb_why(struct roger *roger, const struct roger_why_request *request,
		struct roger_why_reply *reply, struct roger_err *err)
{
	struct asking asking = { .reply = reply, .now.memory = reply->memory };
	struct roger_trace_reply traces = { .memory = reply->memory };
	const struct roger_str what = request->what;
	struct roger_str text = { NULL, 0 }, near;
	int r = ROGER_OK;

	reply->what = what;
	rg_concerns_find(&asking.concerns, roger, &asking.now, err);
	if (rg_name_valid(what))
		r = rg_engine_run_find(roger->engine, what, reply->memory, &text, err);
	if (r < 0 || asking.concerns.reading.r < 0)
		return r < 0 ? r : asking.concerns.reading.r;
	if (text.data) {
		reply->subject = ROGER_WHY_RUN;
		rg_concerns_run(&asking.concerns, what, &reply->words, &reply->next);
	} else if (is_known(&asking.concerns, what)) {
		about_agent(&asking, what);
	} else {
		r = find_message(roger, request, &traces, err);
	}
	if (r == ROGER_OK && traces.traces.count)
		about_message(&asking, &traces);
	r = r < 0 ? r : asking.concerns.reading.r;
	if (r != ROGER_ENOENT)
		return r;
	near = find_near(roger, what, reply->memory);
	return rg_fail_member(err, ROGER_ENOENT, "what",
			      "what: no run, agent or message '%.*s', and no message with that "
			      "key" RG_MEANT
			      "%s `roger list`, `roger runs` and `roger agents` show them",
			      RG_STR_ARGS(what), RG_MEANT_ARGS(near), near.length ? "" : ";");
}
