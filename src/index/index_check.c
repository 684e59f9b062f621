/*
 * The figures of the index that doctor compares with the journal's: a rule is a sentence and a
 * SELECT. They are read on a connection and a thread of their own.
 */
#include "index/index_db.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "base/thread.h"

#define WITHIN_SPAN(table)                                                                         \
	" FROM spans CROSS JOIN " table " ON position BETWEEN first AND last"                      \
	" WHERE created_at BETWEEN oldest AND newest AND types & CASE message_type"                \
	" WHEN 'context' THEN 2 WHEN 'result' THEN 4 WHEN 'decision' THEN 8 ELSE 16 END"

/* The rules: a figure that the journal gives, too, is a sum, far below overflow; or hashes of
 * names, added and taken away as often as a row says, so that 0 is left. */
static const struct {
	const char *what, *select;
	bool hashed; /* (how often, number beside it, name) */
} rules[RG_RULES] = {
	{ "lines read", "SELECT lines FROM progress" },
	{ "lines that are no messages", "SELECT strays FROM progress" },
	{ "ids that another program made", "SELECT strange FROM progress" },
	{ "rows of messages", "SELECT count(*) FROM messages" },
	{ "rows of keys", "SELECT count(*) FROM keys" },
	{ "rows of replies", "SELECT count(*) FROM replies" },
	{ "rows and numbers of last_seen", "SELECT coalesce(sum(seq + 1), 0) FROM last_seen" },
	{ "rows and numbers of edges", "SELECT coalesce(sum(seq + 1), 0) FROM edges" },
	/* Added up by see_state(). */
	{ "a message has another line or state than in the journal",
	  "SELECT id, position, line, read FROM messages"
	  " UNION ALL SELECT id, position, 0, read FROM archived",
	  true },
	{ "messages of agents are counted otherwise",
	  "SELECT count(*), 1, from_phase FROM messages GROUP BY from_phase"
	  " UNION ALL SELECT count(*), 2, to_phase FROM messages GROUP BY to_phase"
	  " UNION ALL SELECT 1, 1, from_phase FROM archived"
	  " UNION ALL SELECT 1, 2, to_phase FROM archived"
	  " UNION ALL SELECT count(*), 3, to_phase FROM messages WHERE read = 0 GROUP BY to_phase"
	  " UNION ALL SELECT -sent, 1, name FROM agents"
	  " UNION ALL SELECT -received, 2, name FROM agents"
	  " UNION ALL SELECT -unread, 3, name FROM agents",
	  true },
	{ "messages of issues are counted otherwise",
	  "SELECT count(*), 0, issue_id FROM messages GROUP BY issue_id"
	  " UNION ALL SELECT -context - result - decision - data, 0, issue_id FROM issues",
	  true },
	{ "the bytes of issues are counted otherwise",
	  "SELECT sum(bytes), 0, issue_id FROM messages GROUP BY issue_id"
	  " UNION ALL SELECT -bytes, 0, issue_id FROM issues",
	  true },
	{ "unread messages of issues are counted otherwise",
	  "SELECT count(*), 0, issue_id FROM messages WHERE read = 0 GROUP BY issue_id"
	  " UNION ALL SELECT -unread, 0, issue_id FROM issues",
	  true },
	{ "messages outside the times or types of their span",
	  "SELECT count(*) FROM messages UNION ALL SELECT count(*) FROM archived"
	  " UNION ALL SELECT -count(*)" WITHIN_SPAN(
		  "messages") " UNION ALL SELECT -count(*)" WITHIN_SPAN("archived") },
	/* Added up by rg_index_seed_check(). */
	[RG_RULE_TABLE] = { "rows of messages", NULL },
	[RG_RULE_TABLE_ROWS] = { "a row of messages differs from the journal", NULL, true },
	[RG_RULE_TABLE_CODE] = { "it has a view or trigger that another program put in", NULL,
				 true },
};

struct rg_index_checking {
	struct rg_index *index; /* a handle of its own */
	struct rg_index_sums sums;
	int64_t table_end; /* what messages.db has read; -1: it cannot be compared */
	uint64_t key;
	bool valid;   /* the index is of this version and boot */
	bool hashed;  /* the rule that is read now is */
	uint64_t sum; /* of its rows so far */
	int result, table_result;
	bool threaded;
	int code; /* SQLite's code if it failed */
	pthread_t thread;
};

static int see_figure(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct rg_index_checking *checking = context;
	uint64_t number = (uint64_t)sqlite3_column_int64(row, 0);
	struct roger_str name;

	(void)err;
	if (checking->hashed) {
		name = rg_index_column(row, 2);
		number *= rg_hash(checking->key + (uint64_t)sqlite3_column_int64(row, 1), name.data,
				  name.length);
	}
	checking->sum += number;
	return ROGER_OK;
}

static int see_state(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	struct rg_index_checking *checking = context;
	const struct roger_str id = rg_index_column(row, 0);

	(void)err;
	checking->sum += rg_index_state(rg_hash(checking->key, id.data, id.length),
					sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2),
					sqlite3_column_int(row, 3));
	return ROGER_OK;
}

static int read_rules(struct rg_index_checking *checking)
{
	struct rg_question question;
	int i, r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < RG_RULE_TABLE; i++) {
		checking->hashed = rules[i].hashed;
		checking->sum = 0;
		rg_question_init(&question, rules[i].select);
		r = rg_index_ask_once(checking->index, &question,
				      i == RG_RULE_STATES ? see_state : see_figure, checking, NULL);
		rg_question_deinit(&question);
		checking->sums.all[i] = (int64_t)checking->sum;
	}
	return r;
}

/* The thread: reads all figures.  Ends the transaction early, so that writers wait less. */
static void *check_rows(void *context)
{
	struct rg_index_checking *checking = context;

	if (checking->result == ROGER_OK && checking->valid)
		checking->result = read_rules(checking);
	checking->code = sqlite3_errcode(checking->index->db) & 0xff;
	rg_index_finish(checking->index);
	checking->table_result =
		rg_index_seed_check(checking->index, &checking->table_end, &checking->sums);
	return NULL;
}

static int begin_check(struct rg_index_checking *checking)
{
	struct rg_index *index = checking->index;
	int r = rg_index_look(index, &checking->valid);

	if (r == ROGER_OK && checking->valid)
		r = rg_index_run(index, "PRAGMA temp_store = MEMORY; BEGIN", NULL);
	if (r == ROGER_OK && checking->valid)
		r = rg_index_load(index, NULL);
	checking->sums.offset = index->progress.offset;
	return r;
}

int rg_index_check(struct rg_index *index, uint64_t key, struct rg_index_checking **ret_checking,
		   struct roger_err *err)
{
	struct rg_index_checking *checking = calloc(1, sizeof *checking);
	int r = checking ? rg_index_new(index->store, index->workspace, &checking->index, err)
			 : rg_fail_memory(err);

	if (r < 0) {
		free(checking);
		return r;
	}
	checking->key = key;
	checking->result = begin_check(checking);
	checking->threaded = checking->result == ROGER_OK && checking->valid &&
			     rg_thread_start(&checking->thread, check_rows, checking);
	/* Without a second thread the check works, too, only slower. */
	if (!checking->threaded)
		check_rows(checking);
	*ret_checking = checking;
	return ROGER_OK;
}

static void join_thread(struct rg_index_checking *checking)
{
	if (checking->threaded)
		pthread_join(checking->thread, NULL);
	checking->threaded = false;
}

struct rg_index_checking *rg_index_checking_free(struct rg_index_checking *checking)
{
	if (!checking)
		return NULL;
	if (checking->threaded)
		sqlite3_interrupt(checking->index->db);
	join_thread(checking);
	rg_index_free(checking->index);
	free(checking);
	return NULL;
}

int64_t rg_index_checking_end(const struct rg_index_checking *checking)
{
	return checking->valid ? checking->sums.offset : 0;
}

int rg_index_checked(struct rg_index_checking *checking, const struct rg_index_sums *journal,
		     rg_index_differs *differs, void *context, struct roger_err *err)
{
	int64_t ends[] = { -1, -1 };
	char what[160];
	int i, r = ROGER_OK;

	join_thread(checking);
	if (checking->result == ROGER_ENOMEM)
		return rg_fail_memory(err);
	ends[1] = checking->table_end;
	if (checking->result == ROGER_OK && checking->valid)
		ends[0] = checking->sums.offset;
	snprintf(what, sizeof what, "it cannot be read: %s", sqlite3_errstr(checking->code));
	if (checking->result < 0 && rg_index_means_damage(checking->code))
		r = differs(context, false, what, err);
	if (r == ROGER_OK && checking->table_result == ROGER_EDATA)
		r = differs(context, true, "it cannot be read", err);
	for (i = 0; r == ROGER_OK && i < RG_RULES; i++) {
		const int64_t has = checking->sums.all[i], wanted = journal->all[i];
		const bool table = i >= RG_RULE_TABLE;

		if (has == wanted || (i != RG_RULE_TABLE_CODE && ends[table] != journal->offset))
			continue;
		snprintf(what, sizeof what, "%s: %lld; the journal has %lld", rules[i].what,
			 (long long)has, (long long)wanted);
		r = differs(context, table, rules[i].hashed ? rules[i].what : what, err);
		/* Rows that are missing are not added up, either. */
		if (i == RG_RULE_TABLE)
			break;
	}
	return r;
}
