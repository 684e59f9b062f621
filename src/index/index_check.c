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
	/* Added up by read_states(). */
	{ "a message has another line or state than in the journal", NULL, true },
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
};

struct rg_index_checking {
	struct rg_index *index;
	sqlite3 *db;
	struct rg_index_vfs vfs;
	struct rg_index_sums sums;
	int64_t table_end; /* what messages.db has read; -1: it cannot be compared */
	uint64_t key;
	bool valid; /* the index is of this version and boot */
	int result, table_result;
	bool threaded;
	int code; /* SQLite's code if it failed */
	pthread_t thread;
};

static int prepare_statement(sqlite3 *db, const char *sql, sqlite3_stmt **ret)
{
	return sqlite3_prepare_v2(db, sql, -1, ret, NULL) == SQLITE_OK ? ROGER_OK : ROGER_EIO;
}

static int read_states(struct rg_index_checking *checking)
{
	uint64_t sum = 0;
	sqlite3_stmt *get;
	int step, r;

	r = prepare_statement(checking->db,
			      "SELECT id, position, line, read FROM messages"
			      " UNION ALL SELECT id, position, 0, read FROM archived",
			      &get);
	if (r < 0)
		return r;
	while ((step = sqlite3_step(get)) == SQLITE_ROW) {
		const struct roger_str id = rg_index_column(get, 0);

		sum += rg_index_state(rg_hash(checking->key, id.data, id.length),
				      sqlite3_column_int64(get, 1), sqlite3_column_int64(get, 2),
				      sqlite3_column_int(get, 3));
	}
	sqlite3_finalize(get);
	checking->sums.all[RG_RULE_STATES] = (int64_t)sum;
	return step == SQLITE_DONE ? ROGER_OK : ROGER_EIO;
}

static uint64_t figure_of(const struct rg_index_checking *checking, sqlite3_stmt *get, bool hashed)
{
	const uint64_t number = (uint64_t)sqlite3_column_int64(get, 0);
	struct roger_str name;

	if (!hashed)
		return number;
	name = rg_index_column(get, 2);
	return number * rg_hash(checking->key + (uint64_t)sqlite3_column_int64(get, 1), name.data,
				name.length);
}

static int read_rules(struct rg_index_checking *checking)
{
	sqlite3_stmt *get;
	uint64_t sum;
	int i, step, r;

	for (i = 0; i < RG_RULES; i++) {
		if (!rules[i].select)
			continue;
		r = prepare_statement(checking->db, rules[i].select, &get);
		if (r < 0)
			return r;
		for (sum = 0; (step = sqlite3_step(get)) == SQLITE_ROW;)
			sum += figure_of(checking, get, rules[i].hashed);
		sqlite3_finalize(get);
		checking->sums.all[i] = (int64_t)sum;
		if (step != SQLITE_DONE)
			return ROGER_EIO;
	}
	return read_states(checking);
}

/* The thread: reads all figures.  Ends the transaction early, so that writers wait less. */
static void *check_rows(void *context)
{
	struct rg_index_checking *checking = context;

	if (checking->result == ROGER_OK && checking->valid)
		checking->result = read_rules(checking);
	checking->code = sqlite3_errcode(checking->db);
	sqlite3_exec(checking->db, "ROLLBACK", NULL, NULL, NULL);
	checking->table_result =
		rg_index_seed_check(checking->index, &checking->table_end, &checking->sums);
	return NULL;
}

static int begin_check(struct rg_index_checking *checking, const struct rg_index *index)
{
	sqlite3_stmt *get;
	int step;

	checking->vfs = (struct rg_index_vfs){ 0 };
	rg_index_file_settings(index, &checking->vfs, false);
	if (rg_index_vfs_open(&checking->vfs, index->path,
			      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			      &checking->db) != SQLITE_OK)
		return ROGER_EIO;
	sqlite3_busy_timeout(checking->db, 1000);
	rg_index_distrust(checking->db);
	if (sqlite3_exec(checking->db,
			 "PRAGMA cache_size = -2000; PRAGMA temp_store = MEMORY; BEGIN", NULL, NULL,
			 NULL) != SQLITE_OK ||
	    prepare_statement(checking->db, "SELECT offset, version FROM progress", &get) < 0)
		return ROGER_EIO;
	step = sqlite3_step(get);
	checking->valid = step == SQLITE_ROW && sqlite3_column_int(get, 1) == RG_INDEX_VERSION;
	checking->sums.offset = sqlite3_column_int64(get, 0);
	sqlite3_finalize(get);
	return step == SQLITE_ROW || step == SQLITE_DONE ? ROGER_OK : ROGER_EIO;
}

int rg_index_check(struct rg_index *index, uint64_t key, struct rg_index_checking **ret_checking,
		   struct roger_err *err)
{
	struct rg_index_checking *checking = calloc(1, sizeof *checking);
	uint64_t inode;

	if (!checking)
		return rg_fail_memory(err);
	checking->index = index;
	checking->key = key;
	checking->result = rg_index_file_find(index, index->name, &inode, NULL);
	if (checking->result == ROGER_OK)
		checking->result = inode ? rg_index_file_recent(index, err) : ROGER_EIO;
	if (checking->result == ROGER_OK)
		checking->result = begin_check(checking, index);
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
		sqlite3_interrupt(checking->db);
	join_thread(checking);
	sqlite3_close_v2(checking->db);
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

		if (ends[table] != journal->offset || has == wanted)
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
