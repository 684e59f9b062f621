/*
 * The table of closed runs, so that lists and figures need not read their documents.
 *
 * A row is valid only for the version of the document that its stamp identifies.
 */
#include "index/index_db.h"

/* The members of a run that are texts, in the order of their columns. */
enum { TEXTS = 6, NUMBERS = 9 };

static struct roger_str *text_of(struct roger_run *run, int i)
{
	struct roger_str *const texts[TEXTS] = { &run->run,   &run->owner, &run->child,
						 &run->issue, &run->task,  &run->settled_at };

	return texts[i];
}

struct reading {
	struct rg_arena *arena;
	struct rg_closed_runs runs;
};

static int see_run(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct reading *reading = context;
	struct rg_closed_run *run;
	int i;

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
		.settled = sqlite3_column_bytes(row, NUMBERS + TEXTS - 1) > 0,
	};
	run->run.status = sqlite3_column_int(row, 7);
	run->run.outcome = sqlite3_column_int(row, 8);
	for (i = 0; i < TEXTS; i++)
		if (!rg_arena_copy(reading->arena, rg_index_column(row, NUMBERS + i),
				   text_of(&run->run, i)))
			return rg_fail_memory(err);
	return ROGER_OK;
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

static int put_run(struct rg_index *index, struct rg_closed_run *run, struct roger_err *err)
{
	const struct rg_receipts *receipts = &run->receipts;
	const int64_t numbers[NUMBERS] = { (int64_t)run->file,	    (int64_t)run->stamp,
					   receipts->dispatched_ms, receipts->expected_by_ms,
					   receipts->completed_ms,  receipts->recoveries,
					   receipts->forwarded,	    run->run.status,
					   run->run.outcome };
	sqlite3_stmt *add = rg_index_statement(index, RG_SQL_RUN_ADD, err);
	int i;

	if (!add)
		return ROGER_EIO;
	for (i = 0; i < NUMBERS; i++)
		sqlite3_bind_int64(add, 1 + i, numbers[i]);
	for (i = 0; i < TEXTS; i++)
		rg_index_bind(add, 1 + NUMBERS + i, *text_of(&run->run, i));
	return rg_index_step(index, add, err);
}

static int put_runs(struct rg_index *index, const struct rg_closed_runs *runs,
		    struct roger_err *err)
{
	size_t i;
	int r = rg_index_run(index, "BEGIN IMMEDIATE", err);

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	for (i = 0; i < runs->count && r == ROGER_OK; i++)
		r = runs->items[i].stamp ? put_run(index, &runs->items[i], err)
					 : rg_index_put(index, RG_SQL_RUN_DROP, err, "i",
							(int64_t)runs->items[i].file);
	if (r == ROGER_OK)
		r = rg_index_run(index, "COMMIT", err);
	if (r < 0 && index->db)
		rg_index_rollback(index);
	return r;
}

void rg_index_keep_closed_runs(struct rg_index *index, const struct rg_closed_runs *runs)
{
	/* One in memory is for this answer alone. */
	if (index->in_memory || rg_store_take(index->store, RG_LOCK_INDEX, 0, NULL) < 0)
		return;
	if (rg_index_reopen(index, NULL) == ROGER_OK)
		(void)!put_runs(index, runs, NULL);
	rg_store_release(index->store, RG_LOCK_INDEX);
}
