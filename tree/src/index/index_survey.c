/* Queries about many messages that need no texts. */
#include "index/index_db.h"

/* A lease that expired or was returned still names its holder. */
#define SELECT(table)                                                                              \
	"SELECT from_phase, to_phase, read, created_at, read_at, id,"                              \
	" EXISTS(SELECT 1 FROM leases WHERE position = " table ".rowid AND claimed_by <> ''),"     \
	" EXISTS(SELECT 1 FROM acks WHERE position = " table ".rowid) FROM " table

struct surveying {
	bool archived;
	rg_survey_see *see;
	void *context;
};

static int see_row(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	const struct surveying *surveying = context;

	if (!row)
		return surveying->see(surveying->context, NULL, err);
	return surveying->see(surveying->context,
			      &(struct rg_survey_row){
				      .archived = surveying->archived,
				      .from = rg_index_column(row, 0),
				      .to = rg_index_column(row, 1),
				      .read = sqlite3_column_int(row, 2) != 0,
				      .created_at_ms = sqlite3_column_int64(row, 3),
				      .read_at_ms = sqlite3_column_int64(row, 4),
				      .id = rg_index_column(row, 5),
				      .claimed = sqlite3_column_int(row, 6) != 0,
				      .acked = sqlite3_column_int(row, 7) != 0,
			      },
			      err);
}

static int see_table(struct rg_index *index, const char *sql, bool archived, int64_t since_ms,
		     int64_t until_ms, rg_survey_see *see, void *context, struct roger_err *err)
{
	struct surveying surveying = { archived, see, context };
	struct rg_question question;

	rg_question_init(&question, sql);
	rg_question_number(&question, " WHERE created_at >= ?1", since_ms);
	rg_question_number(&question, " AND created_at < ?2", until_ms ? until_ms : INT64_MAX);
	return rg_index_ask(index, &question, see_row, &surveying, err);
}

/* For all messages, scan the tables; for a time range, use its index. */
int rg_index_survey(struct rg_index *index, int64_t since_ms, int64_t until_ms, rg_survey_see *see,
		    void *context, struct roger_err *err)
{
	int r;

	r = see_table(index,
		      since_ms || until_ms ? SELECT("messages") " INDEXED BY messages_created"
					   : SELECT("messages") " NOT INDEXED",
		      false, since_ms, until_ms, see, context, err);
	return r < 0 ? r
		     : see_table(index, SELECT("archived"), true, since_ms, until_ms, see, context,
				 err);
}

int rg_index_overdue(struct rg_index *index, int64_t now_ms, int64_t limit, struct rg_arena *arena,
		     struct roger_strs *ret_ids, struct roger_err *err)
{
	struct rg_question question;

	rg_question_init(&question,
			 "SELECT m.id FROM leases l CROSS JOIN messages m ON m.rowid = l.position");
	rg_question_number(&question,
			   " WHERE m.read = 0 AND ((l.until > 0 AND l.until <= ?1)"
			   " OR (l.confirm_by > 0 AND l.confirm_by <= ?1)) ORDER BY l.position",
			   now_ms);
	rg_question_number(&question, " LIMIT ?2", limit);
	return rg_index_ask_texts(index, &question, arena, ret_ids, err);
}
