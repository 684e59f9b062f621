/* Questions about many messages at once, answered without their text. */
#include "index/index_db.h"

/* A lease that has run out, or was given back, still says who had it. */
#define CLAIMED "EXISTS(SELECT 1 FROM leases WHERE position = messages.rowid AND claimed_by <> '')"

static int prepare(struct rg_index *index, const char *sql, sqlite3_stmt **ret,
		   struct roger_err *err)
{
	if (sqlite3_prepare_v2(index->db, sql, -1, ret, NULL) != SQLITE_OK)
		return rg_index_fail(index, "ask", err);
	return ROGER_OK;
}

/* When an archived message was read is only in its line. */
static int see_table(struct rg_index *index, const char *sql, bool archived, int64_t since_ms,
		     int64_t until_ms, rg_survey_see *see, void *context, struct roger_err *err)
{
	struct rg_survey_row row = { .archived = archived };
	sqlite3_stmt *statement;
	int step, r;

	r = prepare(index, sql, &statement, err);
	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, since_ms);
	sqlite3_bind_int64(statement, 2, until_ms ? until_ms : INT64_MAX);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW && r == ROGER_OK) {
		row.from = rg_index_column(statement, 0);
		row.to = rg_index_column(statement, 1);
		row.read = sqlite3_column_int(statement, 2) != 0;
		row.created_at_ms = sqlite3_column_int64(statement, 3);
		row.read_at_ms = sqlite3_column_int64(statement, 4);
		row.id = rg_index_column(statement, 5);
		row.claimed = sqlite3_column_int(statement, 6) != 0;
		r = see(context, &row, err);
	}
	sqlite3_finalize(statement);
	if (r == ROGER_OK && step != SQLITE_DONE)
		r = rg_index_fail(index, "survey", err);
	return r;
}

/* Of everything, the tables are gone through as they lie; of a part, by its index. */
int rg_index_survey(struct rg_index *index, int64_t since_ms, int64_t until_ms, rg_survey_see *see,
		    void *context, struct roger_err *err)
{
	int r;

	r = see_table(
		index,
		since_ms || until_ms
			? "SELECT from_phase, to_phase, read, created_at, read_at, id, " CLAIMED
			  " FROM messages INDEXED BY messages_created"
			  " WHERE created_at >= ?1 AND created_at < ?2"
			: "SELECT from_phase, to_phase, read, created_at, read_at, id, " CLAIMED
			  " FROM messages NOT INDEXED"
			  " WHERE created_at >= ?1 AND created_at < ?2",
		false, since_ms, until_ms, see, context, err);
	return r < 0 ? r
		     : see_table(index,
				 "SELECT from_phase, to_phase, read, created_at, 0, id, 0 FROM "
				 "archived"
				 " WHERE created_at >= ?1 AND created_at < ?2",
				 true, since_ms, until_ms, see, context, err);
}

int rg_index_overdue(struct rg_index *index, int64_t now_ms, int64_t limit, struct rg_arena *arena,
		     struct roger_strs *ret_ids, struct roger_err *err)
{
	struct {
		struct roger_str *items;
		size_t count;
	} list = { 0 };
	struct roger_str *id;
	sqlite3_stmt *statement;
	int step, r;

	r = prepare(index,
		    "SELECT m.id FROM leases l CROSS JOIN messages m ON m.rowid = l.position"
		    " WHERE m.read = 0 AND ((l.until > 0 AND l.until <= ?1)"
		    " OR (l.confirm_by > 0 AND l.confirm_by <= ?1)) ORDER BY l.position LIMIT ?2",
		    &statement, err);
	if (r < 0)
		return r;
	sqlite3_bind_int64(statement, 1, now_ms);
	sqlite3_bind_int64(statement, 2, limit);
	while ((step = sqlite3_step(statement)) == SQLITE_ROW && r == ROGER_OK) {
		id = rg_arena_push(arena, &list.items, &list.count, sizeof *id);
		if (!id || !rg_arena_copy(arena, rg_index_column(statement, 0), id))
			r = rg_fail_memory(err);
	}
	sqlite3_finalize(statement);
	if (r == ROGER_OK && step != SQLITE_DONE)
		r = rg_index_fail(index, "ask", err);
	if (r == ROGER_OK)
		*ret_ids = (struct roger_strs){ list.items, list.count };
	return r;
}
