/*
 * The table of closed runs, so that lists and figures need not read their documents.
 *
 * A row is valid only for the version of the document that its stamp identifies.
 */
#include "index/index_db.h"

struct reading {
	struct rg_arena *arena;
	struct rg_closed_runs runs;
};

static int see_run(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct reading *reading = context;
	struct rg_closed_run *run;
	struct roger_run *said;

	if (!row) {
		reading->runs.count = 0;
		return ROGER_OK;
	}
	run = rg_arena_push(reading->arena, &reading->runs.items, &reading->runs.count,
			    sizeof *run);
	if (!run)
		return rg_fail_memory(err);
	run->file = (uint64_t)sqlite3_column_int64(row, 0);
	run->stamp = (uint64_t)sqlite3_column_int64(row, 1);
	run->receipts = (struct rg_receipts){
		.dispatched_ms = sqlite3_column_int64(row, 2),
		.expected_by_ms = sqlite3_column_int64(row, 3),
		.completed_ms = sqlite3_column_int64(row, 4),
		.recoveries = sqlite3_column_int64(row, 5),
		.forwarded = sqlite3_column_int(row, 6),
		.settled = sqlite3_column_bytes(row, 14) > 0,
	};
	said = &run->run;
	said->status = sqlite3_column_int(row, 7);
	said->outcome = sqlite3_column_int(row, 8);
	return rg_kept(
		rg_arena_copy(reading->arena, rg_index_column(row, 9), &said->run) &&
			rg_arena_copy(reading->arena, rg_index_column(row, 10), &said->owner) &&
			rg_arena_copy(reading->arena, rg_index_column(row, 11), &said->child) &&
			rg_arena_copy(reading->arena, rg_index_column(row, 12), &said->issue) &&
			rg_arena_copy(reading->arena, rg_index_column(row, 13), &said->task) &&
			rg_arena_copy(reading->arena, rg_index_column(row, 14), &said->settled_at),
		err);
}

int rg_index_closed_runs(struct rg_index *index, struct rg_arena *arena,
			 struct rg_closed_runs *ret_runs, struct roger_err *err)
{
	struct reading reading = { .arena = arena };
	struct rg_question question;
	int r;

	rg_question_init(&question, "SELECT * FROM runs");
	r = rg_index_ask(index, &question, see_run, &reading, err);
	*ret_runs = reading.runs;
	return r;
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

static int put_runs(struct rg_index *index, const struct rg_closed_runs *runs,
		    struct roger_err *err)
{
	size_t i;
	int r = rg_index_run(index, "BEGIN IMMEDIATE", err);

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	for (i = 0; i < runs->count && r == ROGER_OK; i++)
		r = put_run(index, &runs->items[i], err);
	if (r == ROGER_OK)
		r = rg_index_run(index, "COMMIT", err);
	if (r < 0 && index->db)
		rg_index_rollback(index);
	return r;
}

void rg_index_keep_closed_runs(struct rg_index *index, const struct rg_closed_runs *runs)
{
	/* An index in memory is for this answer alone. */
	if (index->in_memory || rg_store_take(index->store, RG_LOCK_INDEX, 0, NULL) < 0)
		return;
	if (rg_index_reopen(index, NULL) == ROGER_OK)
		(void)!put_runs(index, runs, NULL);
	rg_store_release(index->store, RG_LOCK_INDEX);
}
