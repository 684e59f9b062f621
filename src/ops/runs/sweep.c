/*
 * sweep: judge all runs, and do what their evidence asks for.
 *
 * Confirm forwards whose message was read, make recoveries that are due, tell
 * owners of runs that are blocked, write down every status that changed.  Sends that
 * were not confirmed in time are tried again where their sender asked for it.
 */
#include "ops/keys/attempt.h"
#include "ops/runs/run_list.h"
#include "ops/tools/trust.h"

#include "host/chore.h"

struct sweep {
	struct roger *roger;
	struct rg_arena *arena;
	struct roger_sweep_reply *reply;
	struct rg_run_list list;
	bool dry_run;
};

/* Report the run's status, if it is not the one that the document had. */
static void note_change(struct sweep *sweep, const struct rg_run_document *before,
			const struct rg_run_document *after)
{
	struct roger_run_change_list *changes = &sweep->reply->changes;
	const struct roger_run_change change = { before->run.run, (int)before->stored,
						 after->run.status, after->run.status_reason };

	if ((int)before->stored != after->run.status)
		(void)!rg_arena_append(sweep->arena, &changes->items, &changes->count, &change,
				       sizeof change);
}

/* Report a run that a rule keeps from being helped, and go on; a disk error ends the sweep. */
static int set_aside(struct sweep *sweep, const struct rg_run_document *document, int r,
		     const struct roger_err *inner, struct roger_err *err)
{
	const struct roger_run_trouble trouble = { .file = document->file,
						   .run = document->run.run,
						   .what = rg_str(inner->message) };

	if (r != ROGER_EREFUSED && r != ROGER_EDATA && r != ROGER_ENOENT) {
		if (err)
			*err = *inner;
		return r;
	}
	rg_run_add_trouble(&sweep->list.troubles, &trouble, sweep->arena);
	return ROGER_OK;
}

/* --------------------------------------------------------------- forwards -- */

static int confirm_forward(struct sweep *sweep, struct rg_run_document *document,
			   struct roger_err *err)
{
	struct rg_run_document after = *document;
	struct roger_err inner = { 0 };
	bool changed;
	int r = ROGER_OK;

	if (!sweep->dry_run)
		r = rg_run_update(sweep->roger, document->run.run, rg_run_change_forward,
				  &document->run.result_message, sweep->arena, &after, &changed,
				  &inner);
	if (r < 0)
		return set_aside(sweep, document, r, &inner, err);
	sweep->reply->forwarded++;
	note_change(sweep, document, &after);
	after.file = document->file;
	*document = after;
	document->stored = (enum roger_run_status)after.run.status;
	return r;
}

/* ------------------------------------------------------------- recoveries -- */

bool rg_run_recovery_is_due(const struct roger *roger, const struct rg_run_document *document)
{
	const struct rg_watchdog_rules rules = rg_run_rules(roger);
	int64_t from_ms;

	/* From a run that is known to have ended no result can come. */
	return !rg_run_end_is_known(&document->run) &&
	       rg_watchdog_recovery(&document->receipts, &rules, rg_clock_ms(), &from_ms) ==
		       RG_RECOVERY_DUE;
}

static int attend_run(struct sweep *sweep, struct rg_run_document *document, struct roger_err *err)
{
	bool recover = rg_run_recovery_is_due(sweep->roger, document),
	     escalate = !recover && rg_run_wants_escalation(sweep->roger, document);
	const struct roger_str run_id = document->run.run;
	struct rg_run_document after = *document;
	struct roger_err inner = { 0 };
	bool changed;
	int r;

	if (!recover && !escalate && (int)document->stored == document->run.status)
		return ROGER_OK;
	if (sweep->dry_run)
		r = ROGER_OK;
	else if (recover)
		r = rg_run_attempt(sweep->roger, run_id, RG_STR(""), sweep->arena, &after, &inner);
	else if (escalate)
		r = rg_run_escalate(sweep->roger, run_id, sweep->arena, &after, &inner);
	else
		r = rg_run_update(sweep->roger, run_id, NULL, NULL, sweep->arena, &after, &changed,
				  &inner);
	if (r < 0)
		return set_aside(sweep, document, r, &inner, err);
	sweep->reply->recoveries += recover;
	/* The last recovery attempt tells the owner, too; it counts if it reached somebody. */
	sweep->reply->escalations +=
		sweep->dry_run ? escalate
			       : (recover || escalate) && rg_run_is_escalated(&after.run);
	note_change(sweep, document, &after);
	document->run = after.run;
	return r;
}

static void count_statuses(struct sweep *sweep)
{
	struct roger_sweep_reply *reply = sweep->reply;
	int64_t *const counts[] = { [ROGER_RUN_ACTIVE] = &reply->active,
				    [ROGER_RUN_SUSPECT] = &reply->suspect,
				    [ROGER_RUN_NOT_FORWARDED] = &reply->not_forwarded,
				    [ROGER_RUN_COMPLETED] = &reply->completed,
				    [ROGER_RUN_RECOVERED] = &reply->recovered,
				    [ROGER_RUN_BLOCKED] = &reply->blocked };
	size_t i;

	for (i = 0; i < sweep->list.count; i++)
		(*counts[sweep->list.documents[i].run.status])++;
	reply->runs = (int64_t)sweep->list.count;
}

int rg_verb_sweep(struct roger *roger, const struct roger_sweep_request *request,
		  struct roger_sweep_reply *reply, struct roger_err *err)
{
	struct sweep sweep = {
		.roger = roger, .arena = reply->memory, .reply = reply, .dry_run = request->dry_run
	};
	struct roger_cycle cycle;
	size_t i;
	int r;

	if (!request->dry_run) {
		rg_chore_done(roger->workspace, "sweep");
		rg_attempt_settle_overdue(roger);
		rg_attempt_retry_due(roger);
	}
	r = request->dry_run ? ROGER_OK : rg_cycle_begin(roger, sweep.arena, &cycle, err);
	if (r < 0)
		return r;
	r = rg_run_list_load(roger, (struct rg_run_wish){ .readers = true }, sweep.arena,
			     &sweep.list, err);
	if (r < 0)
		return r;
	/* Confirm the runs whose result was read, as the list found out. */
	for (i = 0; i < sweep.list.count && r == ROGER_OK; i++)
		if (sweep.list.documents[i].forward_seen)
			r = confirm_forward(&sweep, &sweep.list.documents[i], err);
	for (i = 0; i < sweep.list.count && r == ROGER_OK; i++)
		r = attend_run(&sweep, &sweep.list.documents[i], err);
	if (r < 0)
		return r;
	count_statuses(&sweep);
	reply->troubles = sweep.list.troubles;
	return rg_trust_tell(roger, reply->memory, &reply->notes, err);
}
