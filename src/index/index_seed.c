/*
 * messages.db: the table of seed 004, for other programs.
 *
 * roger never answers from it.  It follows the index: new lines are written by id,
 * under SQLite's lock, over whatever another program wrote for the same messages.
 * It is rebuilt if it is missing, damaged, or of another version, boot or journal.
 * Other rows belong to the programs that wrote them; doctor compares everything.
 */
#include "index/index_db.h"

#include <stdio.h>

#include "store/decoder.h"
#include "facts/message.h"

/* Wait so long for other programs' locks; then the table is updated next time. */
enum { BUSY_MS = 20 };

/* For a longer journal, the table is durable, since to rebuild it after a restart takes long. */
enum { DURABLE_BYTES = 4 << 20 };

/* The table of seed 004, and one that says how far the journal was read. */
static const char begin_tables[] =
	"BEGIN;\n"
	"CREATE TABLE IF NOT EXISTS messages (\n"
	"  id TEXT PRIMARY KEY,\n"
	"  issue_id TEXT NOT NULL,\n"
	"  from_phase TEXT NOT NULL,\n"
	"  to_phase TEXT NOT NULL,\n"
	"  run_counter INTEGER NOT NULL DEFAULT 1,\n"
	"  message_type TEXT NOT NULL,\n"
	"  content TEXT NOT NULL,\n"
	"  metadata TEXT,\n"
	"  read BOOLEAN NOT NULL DEFAULT 0,\n"
	"  created_at INTEGER NOT NULL,\n"
	"  read_at INTEGER\n"
	");\n"
	"CREATE TABLE progress(one INTEGER PRIMARY KEY CHECK(one = 1), version INTEGER NOT NULL,"
	" boot_id TEXT NOT NULL, offset INTEGER NOT NULL, last_offset INTEGER NOT NULL,"
	" last_length INTEGER NOT NULL, last_hash INTEGER NOT NULL);\n";

static const char end_tables[] =
	"CREATE INDEX IF NOT EXISTS idx_messages_issue_id ON messages(issue_id);\n"
	"CREATE INDEX IF NOT EXISTS idx_messages_to_phase ON messages(to_phase);\n"
	"CREATE INDEX IF NOT EXISTS idx_messages_from_phase ON messages(from_phase);\n"
	"CREATE INDEX IF NOT EXISTS idx_messages_issue_phase ON messages(issue_id, to_phase);\n"
	"CREATE INDEX IF NOT EXISTS idx_messages_issue_unread ON messages(issue_id, to_phase, "
	"read);\n"
	"CREATE INDEX IF NOT EXISTS idx_messages_created_at ON messages(created_at);\n"
	"CREATE INDEX IF NOT EXISTS idx_messages_run_counter ON messages(issue_id, run_counter);\n"
	"COMMIT";

static const char put_row[] =
	"INSERT INTO messages(id, issue_id, from_phase, to_phase, run_counter, message_type,"
	" content, metadata, read, created_at, read_at)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT(id) DO UPDATE SET"
	" issue_id = ?2, from_phase = ?3, to_phase = ?4, run_counter = ?5, message_type = ?6,"
	" content = ?7, metadata = ?8, read = ?9, created_at = ?10, read_at = ?11"
	" WHERE (issue_id, from_phase, to_phase, run_counter, message_type, content, metadata,"
	" read, created_at, read_at) IS NOT (?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)";

struct table {
	struct rg_index *index;
	int64_t end; /* how much of the journal the index has read */
	struct rg_path_vfs vfs;
	sqlite3 *db;
	sqlite3_stmt *put, *drop;
	struct rg_arena *arena; /* for one message */
	int64_t rows;		/* put so far */
	int64_t offset;		/* read up to here */
};

/* Report an error of SQLite; ROGER_EDATA: the file is damaged, or not as roger wrote it. */
static int fail_table(const struct table *table, const char *what, struct roger_err *err)
{
	int code = table->db ? sqlite3_errcode(table->db) & 0xff : SQLITE_NOMEM;

	return rg_fail(err,
		       code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_ERROR ||
				       code == SQLITE_CONSTRAINT || code == SQLITE_SCHEMA ||
				       code == SQLITE_MISMATCH || code == SQLITE_FORMAT
			       ? ROGER_EDATA
			       : ROGER_EIO,
		       0, "'%s': %s: %s", table->index->seed_name, what, sqlite3_errstr(code));
}

static int run_sql(const struct table *table, const char *sql, struct roger_err *err)
{
	return sqlite3_exec(table->db, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? ROGER_OK
		       : fail_table(table, "run", err);
}

static int step_statement(const struct table *table, sqlite3_stmt *statement, struct roger_err *err)
{
	int result = sqlite3_step(statement);

	sqlite3_reset(statement);
	return result == SQLITE_DONE || result == SQLITE_ROW ? ROGER_OK
							     : fail_table(table, "write", err);
}

static int prepare_statement(const struct table *table, const char *sql, sqlite3_stmt **ret,
			     struct roger_err *err)
{
	return sqlite3_prepare_v2(table->db, sql, -1, ret, NULL) == SQLITE_OK
		       ? ROGER_OK
		       : fail_table(table, "prepare", err);
}

/* ------------------------------------------------------- opening, closing -- */

static int open_table(struct table *table, const char *path, const char *settings,
		      struct roger_err *err)
{
	if (rg_path_vfs_open(&table->vfs, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			     &table->db) != SQLITE_OK)
		return fail_table(table, "open", err);
	table->arena = rg_arena_new();
	if (!table->arena)
		return rg_fail_memory(err);
	sqlite3_busy_timeout(table->db, BUSY_MS);
	rg_index_distrust_schema(table->db);
	return run_sql(table, settings, err);
}

static void close_table(struct table *table)
{
	sqlite3_finalize(table->put);
	sqlite3_finalize(table->drop);
	sqlite3_close_v2(table->db);
	rg_arena_free(table->arena);
	table->put = table->drop = NULL;
	table->db = NULL;
}

/* -------------------------------------------------------------- progress -- */

static bool is_durable(const struct table *table)
{
	return table->end > DURABLE_BYTES;
}

/* Is there a table of this version and journal, made in this boot or durable? */
static int load_progress(struct table *table, bool *ret_valid, struct roger_err *err)
{
	int64_t hash, last_offset = 0, last_length = 0, last_hash = 0;
	sqlite3_stmt *get;
	int r;

	*ret_valid = false;
	r = prepare_statement(table,
			      "SELECT offset, last_offset, last_length, last_hash, version, boot_id"
			      " FROM progress",
			      &get, err);
	if (r < 0)
		return r;
	if (sqlite3_step(get) == SQLITE_ROW) {
		table->offset = sqlite3_column_int64(get, 0);
		last_offset = sqlite3_column_int64(get, 1);
		last_length = sqlite3_column_int64(get, 2);
		last_hash = sqlite3_column_int64(get, 3);
		*ret_valid = sqlite3_column_int(get, 4) == RG_INDEX_VERSION &&
			     (sqlite3_column_bytes(get, 5) == 0 ||
			      rg_str_is(rg_index_column(get, 5), table->index->store->era)) &&
			     table->offset >= 0 && table->offset <= table->end;
	}
	sqlite3_finalize(get);
	if (*ret_valid)
		*ret_valid = rg_index_hash_line(table->index, last_offset, last_length, &hash,
						NULL) == ROGER_OK &&
			     hash == last_hash;
	return ROGER_OK;
}

/* Record that the table has what the index has. */
static int save_progress(const struct table *table, struct roger_err *err)
{
	const struct rg_index_progress *progress = rg_index_progress(table->index);
	sqlite3_stmt *set;
	int r;

	r = prepare_statement(table,
			      "UPDATE progress SET offset = ?1, last_offset = ?2, last_length = ?3,"
			      " last_hash = ?4, boot_id = CASE WHEN ?5 THEN '' ELSE boot_id END",
			      &set, err);
	if (r < 0)
		return r;
	sqlite3_bind_int64(set, 1, progress->offset);
	sqlite3_bind_int64(set, 2, progress->last_offset);
	sqlite3_bind_int64(set, 3, progress->last_length);
	sqlite3_bind_int64(set, 4, progress->last_hash);
	sqlite3_bind_int(set, 5, is_durable(table));
	r = step_statement(table, set, err);
	sqlite3_finalize(set);
	return r;
}

/* Sync a durable table: without a rollback journal SQLite syncs nothing. */
static int sync_table(const struct table *table, struct roger_err *err)
{
	sqlite3_file *file = NULL;

	if (!is_durable(table))
		return ROGER_OK;
	if (sqlite3_file_control(table->db, "main", SQLITE_FCNTL_FILE_POINTER, &file) !=
		    SQLITE_OK ||
	    file->pMethods->xSync(file, SQLITE_SYNC_NORMAL) != SQLITE_OK)
		return rg_fail(err, ROGER_EIO, 0, "'%s': sync", table->index->seed_name);
	return ROGER_OK;
}

/* ------------------------------------------------------------------ rows -- */

static int put_message(const struct table *table, const struct roger_message *message,
		       struct roger_err *err)
{
	sqlite3_stmt *put = table->put;

	rg_assert(put != NULL);
	rg_index_bind_message(put, 1, message);
	rg_index_bind(put, 7, message->content);
	rg_index_bind_text(put, 8, message->metadata);
	sqlite3_bind_int(put, 9, message->read);
	sqlite3_bind_int64(put, 10, message->created_at_ms);
	rg_index_bind_number(put, 11, message->read_at_ms);
	return step_statement(table, put, err);
}

static int put_entry(const struct table *table, const struct rg_entry *entry, struct roger_err *err)
{
	struct roger_message message;
	int r;

	rg_arena_reset(table->arena);
	r = rg_index_read_message(table->index, entry, table->arena, &message, err);
	return r < 0 ? r : put_message(table, &message, err);
}

/* Put the message as the index has it, or delete it if it is not living any more. */
static int take_message(const struct table *table, struct roger_str id, struct roger_err *err)
{
	struct rg_entry entry;
	int r = rg_index_living(table->index, id, &entry, err);

	rg_assert(table->put && table->drop);
	if (r < 0 || entry.position)
		return r < 0 ? r : put_entry(table, &entry, err);
	rg_index_bind(table->drop, 1, id);
	return step_statement(table, table->drop, err);
}

static int take_lines(const struct table *table, struct rg_decoder *decoder, struct roger_err *err)
{
	const struct rg_decoded *decoded;
	int r;

	while ((r = rg_decoder_next(decoder, &decoded, err)) == ROGER_OK && decoded) {
		if (decoded->is_message)
			r = take_message(table, decoded->message.id, err);
		if (r < 0)
			break;
	}
	return r;
}

/* Take in the lines that the index has read and the table has not. */
static int take_in(struct table *table, struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(table->index->store, &rg_store_messages);
	struct rg_decoder *decoder;
	int r;

	rg_assert(table->offset <= table->end);
	r = prepare_statement(table, put_row, &table->put, err);
	if (r == ROGER_OK)
		r = prepare_statement(table, "DELETE FROM messages WHERE id = ?1", &table->drop,
				      err);
	if (r == ROGER_OK)
		r = rg_decoder_open(&bytes, (uint64_t)table->offset, (uint64_t)table->end,
				    &table->index->altered, &decoder, err);
	if (r < 0)
		return r;
	r = take_lines(table, decoder, err);
	rg_decoder_close(decoder);
	return r == ROGER_OK ? save_progress(table, err) : r;
}

/* ------------------------------------------------------------ rebuilding -- */

/* How many tables, views or triggers of a database are such ones?  -1: unknown. */
static int count_objects(sqlite3 *db, const char *count)
{
	sqlite3_stmt *ask = NULL;
	int found = -1;

	if (sqlite3_prepare_v2(db, count, -1, &ask, NULL) == SQLITE_OK &&
	    sqlite3_step(ask) == SQLITE_ROW)
		found = sqlite3_column_int(ask, 0);
	sqlite3_finalize(ask);
	return found;
}
#define COUNT "SELECT count(*) FROM sqlite_master WHERE "

/* Is there a database of another program, without a table of messages?  False if unknown. */
static bool is_foreign_database(const char *path)
{
	struct rg_path_vfs vfs = { 0 };
	sqlite3 *db = NULL;
	bool foreign = false;

	if (rg_path_vfs_open(&vfs, path, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, &db) ==
	    SQLITE_OK) {
		rg_index_distrust_schema(db);
		foreign = count_objects(db, COUNT "type = 'table' AND name = 'messages'") == 0;
	}
	sqlite3_close(db);
	return foreign;
}

/* At a configured path, never replace another program's database. */
static int check_ours(struct rg_index *index, struct roger_err *err)
{
	static const char magic[] = "SQLite format 3";
	uint64_t inode;
	int r;

	r = rg_index_file_check(index, index->seed_path, magic, index->seed_name, err);
	if (r == ROGER_OK && index->placed)
		r = rg_index_file_find(index, index->seed_name, &inode, err);
	if (r < 0 || !index->placed || !inode || !is_foreign_database(index->seed_path))
		return r;
	return rg_index_file_refuse(index->seed_name, err);
}

enum { TELL_ROWS = 1000 };

static int see_entry(void *context, sqlite3_stmt *row, struct roger_err *err)
{
	const struct rg_entry entry = rg_index_entry(row);
	struct table *table = context;

	/* A half made table cannot stay, so the callback cannot stop this. */
	if (table->rows++ % TELL_ROWS == 0)
		(void)rg_index_report_progress(table->index, "messages.db", (int64_t)entry.offset,
					       table->end);
	return put_entry(table, &entry, err);
}

/* Put all living messages, as the index has them. */
static int put_all(struct table *table, struct roger_err *err)
{
	struct rg_question question;
	int r = prepare_statement(table, put_row, &table->put, err);

	if (r < 0)
		return r;
	rg_question_init(&question, "SELECT position, line, offset, length, hash, first_offset,"
				    " first_length FROM messages ORDER BY position");
	r = rg_index_ask_once(table->index, &question, see_entry, table, err);
	rg_question_deinit(&question);
	return r < 0 ? r : save_progress(table, err);
}

static int fill_table(struct table *table, struct roger_err *err)
{
	char *sql;
	int r = run_sql(table, begin_tables, err);

	if (r < 0)
		return r;
	sql = sqlite3_mprintf("INSERT INTO progress VALUES (1, %d, %Q, 0, 0, 0, 0)",
			      RG_INDEX_VERSION, table->index->store->era);
	r = sql ? run_sql(table, sql, err) : rg_fail_memory(err);
	sqlite3_free(sql);
	if (r == ROGER_OK)
		r = put_all(table, err);
	if (r == ROGER_OK)
		r = run_sql(table, end_tables, err);
	return r == ROGER_OK ? sync_table(table, err) : r;
}

int rg_index_seed_make(struct rg_index *index, struct roger_err *err)
{
	struct table table = { .index = index, .end = index->progress.offset };
	char fresh[RG_INDEX_FRESH_BYTES], path[RG_INDEX_PATH_BYTES];
	int r;

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	snprintf(path, sizeof path, "%s.new", index->seed_path);
	r = check_ours(index, err);
	if (r == ROGER_OK)
		r = rg_index_file_begin(index, index->seed_name, fresh, err);
	if (r < 0)
		return r;
	r = open_table(&table, path,
		       "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
		       "PRAGMA cache_size = -2000",
		       err);
	if (r == ROGER_OK)
		r = fill_table(&table, err);
	close_table(&table);
	return rg_index_file_end(index, index->seed_name, fresh, r, err);
}

/* ------------------------------------------------------------ in its place -- */

/* Update the table in a transaction; *ret_valid false: it must be rebuilt. */
static int bring_up(struct table *table, bool may_rebuild, bool *ret_valid, struct roger_err *err)
{
	int r;

	/* Other programs may have changed the mode, and have the file open. */
	(void)sqlite3_exec(table->db, "PRAGMA journal_mode = TRUNCATE", NULL, NULL, NULL);
	r = run_sql(table, "BEGIN IMMEDIATE", err);
	if (r == ROGER_OK)
		r = load_progress(table, ret_valid, err);
	if (may_rebuild && rg_index_is_far_behind((uint64_t)table->offset, (uint64_t)table->end))
		*ret_valid = false;
	if (r < 0 || !*ret_valid || table->offset == table->end)
		return r;
	r = take_in(table, err);
	return r == ROGER_OK ? run_sql(table, "COMMIT", err) : r;
}

/* Open and update messages.db; *ret_valid false, or ROGER_EDATA: it must be rebuilt. */
static int look_at_table(struct rg_index *index, bool may_rebuild, bool *ret_valid,
			 struct roger_err *err)
{
	struct table table = { .index = index, .end = index->progress.offset };
	uint64_t inode;
	int r;

	*ret_valid = false;
	r = rg_index_file_find(index, index->seed_name, &inode, err);
	if (r < 0 || !inode)
		return r;
	r = open_table(&table, index->seed_path,
		       is_durable(&table) ? "PRAGMA synchronous = NORMAL"
					  : "PRAGMA synchronous = OFF",
		       err);
	if (r == ROGER_OK)
		r = bring_up(&table, may_rebuild, ret_valid, err);
	close_table(&table);
	return r;
}

int rg_index_seed_follow(struct rg_index *index, bool anew, struct roger_err *err)
{
	bool valid;
	int r = look_at_table(index, anew, &valid, err);

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	if ((r == ROGER_OK ? valid : r != ROGER_EDATA) || !anew)
		return r;
	/* A rebuild takes minutes with ten million messages, and the caller only wants its mail. */
	if (index->progress.offset > RG_SEED_REBUILT_BYTES_MAX)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%s', which other programs read, is missing or out of date; `roger "
			       "doctor rebuild` rebuilds it",
			       index->seed_name);
	return rg_index_seed_make(index, err);
}

/* -------------------------------------------------------------- comparing -- */

static int add_up_rows(const struct table *table, struct rg_index_sums *sums, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf scratch = { .maximum = SIZE_MAX };
	struct roger_message message;
	uint32_t rows = 0;
	sqlite3_stmt *get;
	int step, r;

	r = prepare_statement(
		table,
		"SELECT id, issue_id, from_phase, to_phase, run_counter, message_type,"
		" content, metadata, read, created_at, read_at FROM messages NOT INDEXED",
		&get, err);
	if (r < 0)
		return r;
	while ((step = sqlite3_step(get)) == SQLITE_ROW) {
		message = (struct roger_message){
			.id = rg_index_column(get, 0),
			.issue = rg_index_column(get, 1),
			.from = rg_index_column(get, 2),
			.to = rg_index_column(get, 3),
			.pass = sqlite3_column_int64(get, 4),
			.type = rg_enum_find(rg_type_names, rg_index_column(get, 5)),
			.content = rg_index_column(get, 6),
			.metadata = rg_index_column(get, 7),
			.read = sqlite3_column_int(get, 8),
			.created_at_ms = sqlite3_column_int64(get, 9),
			.read_at_ms = sqlite3_column_int64(get, 10),
		};
		sums->all[RG_RULE_TABLE]++;
		rows += rg_message_row_hash(rg_message_text_hash(&scratch, &message), &message);
	}
	if (step != SQLITE_DONE)
		r = fail_table(table, "read", err);
	sqlite3_finalize(get);
	sums->all[RG_RULE_TABLE_ROWS] = rows;
	return scratch.failed ? rg_fail_memory(err) : r;
}

int rg_index_seed_check(struct rg_index *index, int64_t *ret_end, struct rg_index_sums *sums)
{
	struct rg_store *store = index->store;
	struct table table = { .index = index, .end = INT64_MAX };
	bool valid = false;
	size_t behind = 0;
	uint64_t inode;
	char next;
	int r = rg_index_file_find(index, index->seed_name, &inode, NULL);

	*ret_end = -1;
	/* Something else with the name of messages.db is not damage of it. */
	if (r < 0 || !inode)
		return ROGER_OK;
	r = open_table(&table, index->seed_path,
		       "PRAGMA busy_timeout = 1000; PRAGMA cache_size = -2000; BEGIN", NULL);
	/* What roger never wrote is not damaged: who reads next replaces it. */
	if (r == ROGER_OK && count_objects(table.db, COUNT "name = 'progress'")) {
		sums->all[RG_RULE_TABLE_CODE] =
			count_objects(table.db, COUNT "type IN ('view', 'trigger')") > 0;
		r = load_progress(&table, &valid, NULL);
	}
	/* Other programs may have added rows for lines that the table has not read. */
	if (r == ROGER_OK && valid)
		r = store->ops->read(store, &rg_store_messages, (uint64_t)table.offset, &next, 1,
				     &behind, NULL);
	valid &= !behind;
	if (r == ROGER_OK && valid)
		r = add_up_rows(&table, sums, NULL);
	if (r == ROGER_OK && valid)
		*ret_end = table.offset;
	close_table(&table);
	return r;
}
