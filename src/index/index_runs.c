/*
 * The table of closed runs, so that lists and figures need not read their documents.
 *
 * A row is valid only for the version of the document that its stamp identifies.
 */
#include "index/index_db.h"

int rg_index_closed_runs(struct rg_index *index, struct rg_arena *arena,
			 struct rg_closed_runs *ret_runs, struct roger_err *err)
{
	static const struct rg_index_place places[] = {
		{ 'i', offsetof(struct rg_closed_run, file) },
		{ 'i', offsetof(struct rg_closed_run, stamp) },
		{ 'i', offsetof(struct rg_closed_run, receipts.dispatched_ms) },
		{ 'i', offsetof(struct rg_closed_run, receipts.expected_by_ms) },
		{ 'i', offsetof(struct rg_closed_run, receipts.completed_ms) },
		{ 'i', offsetof(struct rg_closed_run, receipts.recoveries) },
		{ 'b', offsetof(struct rg_closed_run, receipts.forwarded) },
		{ 'd', offsetof(struct rg_closed_run, run.status) },
		{ 'd', offsetof(struct rg_closed_run, run.outcome) },
		{ 't', offsetof(struct rg_closed_run, run.run) },
		{ 't', offsetof(struct rg_closed_run, run.owner) },
		{ 't', offsetof(struct rg_closed_run, run.child) },
		{ 't', offsetof(struct rg_closed_run, run.issue) },
		{ 't', offsetof(struct rg_closed_run, run.task) },
		{ 't', offsetof(struct rg_closed_run, run.settled_at) },
		{ 'b', offsetof(struct rg_closed_run, receipts.settled) },
	};
	struct rg_question question;

	rg_question_init(&question, "SELECT *, settled_at <> '' FROM runs");
	return rg_index_collect(index, &question, places, sizeof *ret_runs->items, arena, ret_runs,
				err);
}

static int put_run(struct rg_index *index, const struct rg_closed_run *run, struct roger_err *err)
{
	const struct rg_receipts *receipts = &run->receipts;
	const struct roger_run *said = &run->run;

	if (!run->stamp)
		return rg_index_put(index, RG_SQL_RUN_DROP, err, "i", (int64_t)run->file);
	return rg_index_put(index, RG_SQL_RUN_ADD, err, "iiiiiiiiitttttt", (int64_t)run->file,
			    (int64_t)run->stamp, receipts->dispatched_ms, receipts->expected_by_ms,
			    receipts->completed_ms, receipts->recoveries,
			    (int64_t)receipts->forwarded, (int64_t)said->status,
			    (int64_t)said->outcome, said->run, said->owner, said->child,
			    said->issue, said->task, said->settled_at);
}

static int put_runs(struct rg_index *index, const void *context, struct roger_err *err)
{
	const struct rg_closed_runs *runs = context;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < runs->count && r == ROGER_OK; i++)
		r = put_run(index, &runs->items[i], err);
	return r;
}

void rg_index_keep_closed_runs(struct rg_index *index, const struct rg_closed_runs *runs)
{
	/* An index in memory is for this answer alone. */
	if (!index->in_memory)
		(void)!rg_index_write(index, 0, put_runs, runs, NULL);
}
