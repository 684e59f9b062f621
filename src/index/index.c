/* The index file: opening, updating, rebuilding and healing it. */
#include "index/index_db.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/id.h"
#include "host/workspace.h"
#include "facts/message.h"
#include "index/index_schema.h"

/* How long to wait while another process rebuilds the index of a large journal. */
enum { SOON_MS = 200, HURRY_MS = 1000, INDEX_WAIT_MS = 120000, BUSY_WAIT_MS = 10000 };

/* Yield so often first: others hold the file for microseconds, and SQLite would sleep longer. */
enum { BUSY_YIELDS = 200 };

enum { HEAL_TRIES = 2 };

/* How old, in time, messages.db may become before it is updated. */
enum { SEED_AFTER_MS = 1000 };

/* How much rg_index_serve() takes in at most; the second is for a handle that wrote much, and costs
 * some seconds of processor.  More is left to the next reader. */
enum { SERVED_BYTES_MAX = 1 << 20, SERVED_MUCH_MAX = 64 << 20 };

/* Above this journal size, building both files at once would take too long. */
enum { SEED_AT_ONCE = 4 << 20 };

/* A message's state and where it is (index_tail.c). */
#define STATE                                                                                      \
	"SELECT m.position, m.line, m.offset, m.length, m.hash, m.first_offset, m.first_length,"   \
	" m.id, m.issue_id, m.from_phase, m.to_phase, m.read, coalesce(s.until, 0), m.seq,"        \
	" m.epoch"
#define STATE_LEASE " LEFT JOIN leases s ON s.position = m.position"

/* Raise the number in a row of last_seen or edges. */
#define RAISED                                                                                     \
	"(reader, sender, epoch, seq) VALUES (?1, ?2, ?3, ?4)"                                     \
	" ON CONFLICT(reader, sender) DO UPDATE SET"                                               \
	" seq = CASE WHEN ?3 > epoch OR (?3 = epoch AND ?4 > seq) THEN ?4 ELSE seq END,"           \
	" epoch = max(epoch, ?3)"

static const char *const statements[RG_SQL_COUNT] = {
#define RG_STATEMENT(name, sql) [RG_SQL_##name] = (sql),
#include "index/index_statements.h"
#undef RG_STATEMENT
};

/* ----------------------------------------------------------- statements -- */

bool rg_index_means_damage(int code)
{
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_NOMEM:
	case SQLITE_PERM:
	case SQLITE_READONLY:
	case SQLITE_INTERRUPT:
	case SQLITE_OK:
	case SQLITE_ROW:
	case SQLITE_DONE:
		return false;
	default:
		return true;
	}
}

int rg_index_fail(struct rg_index *index, const char *what, struct roger_err *err)
{
	int code = index->db ? sqlite3_extended_errcode(index->db) : SQLITE_NOMEM;

	/* Later calls overwrite the code, so remember the damage. */
	if (rg_index_means_damage(code) || index->vfs.pages.damaged)
		index->damaged = true;
	index->full |= (code & 0xff) == SQLITE_FULL;
	if ((code & 0xff) == SQLITE_NOMEM)
		return rg_fail_memory(err);
	if ((code & 0xff) == SQLITE_FULL)
		return rg_fail(err, ROGER_EIO, ENOSPC, "index '%s': %s", index->name, what);
	return rg_fail(err, (code & 0xff) == SQLITE_BUSY ? ROGER_ETIMEOUT : ROGER_EIO, 0,
		       "index '%s': %s: %s", index->name, what, sqlite3_errstr(code));
}

/* The failure may have rolled back already; then an error of ROLLBACK is no damage. */
void rg_index_rollback(struct rg_index *index)
{
	rg_assert(index->db != NULL);
	if (!sqlite3_get_autocommit(index->db))
		(void)sqlite3_exec(index->db, "ROLLBACK", NULL, NULL, NULL);
}

void rg_index_finish(struct rg_index *index)
{
	if (index->db && !sqlite3_get_autocommit(index->db))
		(void)rg_index_run_one(index, RG_SQL_END, NULL);
}

sqlite3_stmt *rg_index_statement(struct rg_index *index, enum rg_statement which,
				 struct roger_err *err)
{
	sqlite3_stmt **statement = &index->statements[which];

	rg_assert(index->db != NULL);
	if (!*statement &&
	    sqlite3_prepare_v3(index->db, statements[which], -1, SQLITE_PREPARE_PERSISTENT,
			       statement, NULL) != SQLITE_OK) {
		rg_index_fail(index, "prepare", err);
		return NULL;
	}
	return *statement;
}

int rg_index_run(struct rg_index *index, const char *sql, struct roger_err *err)
{
	if (sqlite3_exec(index->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return rg_index_fail(index, "run", err);
	return ROGER_OK;
}

int rg_index_step(struct rg_index *index, sqlite3_stmt *statement, struct roger_err *err)
{
	int step = sqlite3_step(statement), r = ROGER_OK;

	if (step != SQLITE_DONE && step != SQLITE_ROW)
		r = rg_index_fail(index, "write", err);
	sqlite3_reset(statement);
	return r;
}

void rg_index_bind(sqlite3_stmt *statement, int place, struct roger_str text)
{
	sqlite3_bind_text64(statement, place, text.length ? text.data : "", text.length,
			    SQLITE_STATIC, SQLITE_UTF8);
}

void rg_index_bind_text(sqlite3_stmt *statement, int place, struct roger_str text)
{
	if (text.length)
		rg_index_bind(statement, place, text);
	else
		sqlite3_bind_null(statement, place);
}

void rg_index_bind_number(sqlite3_stmt *statement, int place, int64_t number)
{
	if (number)
		sqlite3_bind_int64(statement, place, number);
	else
		sqlite3_bind_null(statement, place);
}

void rg_index_bind_message(sqlite3_stmt *statement, int first, const struct roger_message *message)
{
	rg_index_bind(statement, first, message->id);
	rg_index_bind(statement, first + 1, message->issue);
	rg_index_bind(statement, first + 2, message->from);
	rg_index_bind(statement, first + 3, message->to);
	sqlite3_bind_int64(statement, first + 4, message->pass);
	rg_index_bind(statement, first + 5, rg_str(rg_type_names[message->type]));
}

struct roger_str rg_index_column(sqlite3_stmt *statement, int column)
{
	const char *text = (const char *)sqlite3_column_text(statement, column);

	return (struct roger_str){ text ? text : "",
				   (size_t)sqlite3_column_bytes(statement, column) };
}

/* ------------------------------------------------------ opening, closing -- */

/* Why not WAL: decision 18 of docs/ARCHITECTURE.md.  A file being built needs no rollback. */
#define SETTINGS "PRAGMA synchronous = OFF; PRAGMA cache_size = -2000"
static const char usual_settings[] = "PRAGMA journal_mode = TRUNCATE; " SETTINGS;
static const char bulk_settings[] = "PRAGMA journal_mode = OFF; " SETTINGS;

void rg_index_leave(struct rg_index *index)
{
	size_t i;

	rg_index_tail_drop(index);
	/* Most commands never open the database: SQLite's code is not even loaded then. */
	if (!index->db)
		return;
	for (i = 0; i < RG_SQL_COUNT; i++) {
		sqlite3_finalize(index->statements[i]);
		index->statements[i] = NULL;
	}
	for (i = 0; i < RG_ASKED_MAX; i++) {
		sqlite3_finalize(index->asked[i].statement);
		free(index->asked[i].sql);
		index->asked[i] = (struct rg_asked){ 0 };
	}
	sqlite3_close_v2(index->db);
	index->db = NULL;
	index->inode = 0;
	index->progress = (struct rg_index_progress){ 0 };
	index->damaged = false;
}

/* Wait by the clock, not by tries: on a busy machine a sleep of 1 ms may take 40. */
static int wait_for_others(void *context, int tries)
{
	struct rg_index *index = context;
	int64_t now_ns = rg_clock_monotonic_ns();

	if (tries == 0)
		index->busy_until_ns = now_ns + BUSY_WAIT_MS * INT64_C(1000000);
	if (tries < BUSY_YIELDS)
		rg_clock_yield();
	else
		rg_clock_sleep(1);
	return now_ns < index->busy_until_ns;
}

static int open_db(struct rg_index *index, const char *path, const char *settings,
		   struct roger_err *err)
{
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;

	rg_index_leave(index);
	rg_index_file_settings(index, &index->vfs, settings == bulk_settings);
	if (index->in_memory)
		flags |= SQLITE_OPEN_MEMORY | SQLITE_OPEN_CREATE;
	if (rg_index_vfs_open(&index->vfs, path, flags, &index->db) != SQLITE_OK)
		return rg_index_fail(index, "open", err);
	sqlite3_busy_handler(index->db, wait_for_others, index);
	sqlite3_extended_result_codes(index->db, 1);
	rg_index_distrust_schema(index->db);
	return rg_index_run(index, settings, err);
}

static bool print_path(struct rg_index *index, const char **ret_path, const char *folder,
		       const char *name, const char *suffix)
{
	struct roger_str path;

	/* SQLite wants two NULs at the end of a name. */
	if (!rg_arena_print(index->memory, &path, "%s/%s%s%c", folder, name, suffix, '\0'))
		return false;
	*ret_path = path.data;
	return true;
}

/* SQLite takes paths of at most 512 bytes: leave room for the longest file name. */
enum { SQLITE_FOLDER_BYTES_MAX = 280 };

int rg_index_new(struct rg_store *store, const struct rg_workspace *workspace,
		 struct rg_index **ret_index, struct roger_err *err)
{
	const struct roger_str name = workspace->config->database_file;
	const char *folder = workspace->data_path;
	char short_folder[40];
	struct rg_index *index;

	if (name.length > 200)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "storage: expected file names of at most 200 bytes");
	snprintf(short_folder, sizeof short_folder, "/proc/self/fd/%d", workspace->data);
	if (strlen(folder) > SQLITE_FOLDER_BYTES_MAX)
		folder = short_folder;
	index = calloc(1, sizeof *index);
	if (!index)
		return rg_fail_memory(err);
	index->store = store;
	index->placed = workspace->config->places_configured;
	index->folder = workspace->data;
	index->workspace = workspace;
	snprintf(index->seed_name, sizeof index->seed_name, "%.*s", RG_STR_ARGS(name));
	snprintf(index->name, sizeof index->name, "%.240s-index", index->seed_name);
	index->memory = rg_arena_new();
	if (!index->memory || !print_path(index, &index->path, folder, index->name, "") ||
	    !print_path(index, &index->seed_path, folder, index->seed_name, "") ||
	    !print_path(index, &index->recent_path, folder, index->name, "-recent")) {
		rg_index_free(index);
		return rg_fail_memory(err);
	}
	*ret_index = index;
	return ROGER_OK;
}

struct rg_index *rg_index_free(struct rg_index *index)
{
	if (!index)
		return NULL;
	rg_index_leave(index);
	rg_altered_deinit(&index->altered);
	rg_arena_free(index->memory);
	free(index);
	return NULL;
}

void rg_index_on_progress(struct rg_index *index, roger_progress *tell, void *context)
{
	index->tell = tell;
	index->tell_context = context;
}

bool rg_index_report_progress(struct rg_index *index, const char *what, int64_t done, int64_t total)
{
	index->stopped = index->tell && !index->tell(index->tell_context, what, done, total);
	return !index->stopped;
}

uint64_t rg_index_hash(const struct rg_index *index, const struct roger_message *message)
{
	return rg_message_hash((uint64_t)index->progress.key, message);
}

const struct rg_index_progress *rg_index_progress(const struct rg_index *index)
{
	return &index->progress;
}

uint64_t rg_index_end(const struct rg_index *index)
{
	return (uint64_t)index->progress.offset;
}

const char *rg_index_name(const struct rg_index *index)
{
	return index->name;
}

const struct roger_err *rg_index_trouble(const struct rg_index *index)
{
	return &index->trouble;
}

static int make_tables(struct rg_index *index, struct roger_err *err)
{
	struct rg_index_progress *progress = &index->progress;
	char *sql;
	int r;

	rg_assert(!sqlite3_get_autocommit(index->db));
	r = rg_random(&progress->key, sizeof progress->key, err);
	if (r == ROGER_OK)
		r = rg_index_run(index, tables, err);
	if (r < 0)
		return r;
	sql = sqlite3_mprintf(
		"INSERT INTO progress VALUES (1, %d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, %lld, 0, 0, 0)",
		RG_INDEX_VERSION, (long long)progress->key);
	r = sql ? rg_index_run(index, sql, err) : rg_fail_memory(err);
	sqlite3_free(sql);
	return r;
}

/* Record how many lines messages.db holds, and when it was updated. */
static int note_seed(struct rg_index *index, int64_t lines, int64_t at_ms, struct roger_err *err)
{
	int r = rg_index_put(index, RG_SQL_SEED_SET, err, "ii", lines, at_ms);

	if (r == ROGER_OK)
		index->progress.seed_to = lines;
	return r;
}

/* Create all tables and rows in an empty open database. */
static int fill_index(struct rg_index *index, uint64_t end, struct roger_err *err)
{
	int r;

	rg_assert(index->db && !index->bulk);
	index->bulk = true;
	r = rg_altered_load(index->store, &index->altered, err);
	if (r == ROGER_OK)
		r = rg_index_run(index, "BEGIN", err);
	if (r == ROGER_OK)
		r = make_tables(index, err);
	if (r == ROGER_OK)
		r = rg_index_ingest(index, end, err);
	if (r == ROGER_OK)
		r = rg_index_run(index, bulk_end, err);
	index->bulk = false;
	if (r == ROGER_OK && end > SEED_AT_ONCE)
		r = note_seed(index, 0, rg_clock_ms(), err);
	if (r == ROGER_OK && index->told)
		r = rg_index_take_events(index, index->told, err);
	if (r == ROGER_OK)
		r = rg_index_run(index, "COMMIT", err);
	return r;
}

/* ------------------------------------------------------ the index in use -- */

/* Build an index in memory, which still answers when the file cannot be used. */
static int use_memory(struct rg_index *index, uint64_t end, const struct roger_err *why,
		      struct roger_err *err)
{
	int r;

	rg_warn(&index->trouble, why, "%.150s; answered from memory", why->message);
	index->in_memory = true;
	index->full = false;
	index->turn = index->store->turn;
	r = open_db(index, ":memory:", usual_settings, err);
	if (r == ROGER_OK)
		r = fill_index(index, end, err);
	/* A half filled index must not answer. */
	if (r < 0)
		rg_index_leave(index);
	return r;
}

void rg_index_distrust_schema(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* A view in place of a table could run for ever. */
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
}

static int use_file(struct rg_index *index, uint64_t inode, struct roger_err *err)
{
	int r = rg_index_file_recent(index, err);

	if (r == ROGER_OK)
		r = open_db(index, index->path, usual_settings, err);
	if (r == ROGER_OK)
		index->inode = inode;
	return r;
}

/* Load the progress row, if it is of this version.  Pages of another boot are not even read. */
static int load_progress(struct rg_index *index, bool *ret_valid, struct roger_err *err)
{
	enum { COLUMNS = sizeof index->progress / sizeof(int64_t) };
	int64_t found[1 + COLUMNS];
	bool there;
	int r = rg_index_look_up(index, RG_SQL_PROGRESS_GET, found, 1 + COLUMNS, &there, err, "");

	*ret_valid = there && found[0] == RG_INDEX_VERSION;
	if (there)
		memcpy(&index->progress, found + 1, sizeof index->progress);
	return r;
}

int rg_index_load(struct rg_index *index, struct roger_err *err)
{
	bool valid;
	int r = load_progress(index, &valid, err);

	if (r == ROGER_OK && !valid)
		return rg_fail(err, ROGER_EIO, 0,
			       "index '%s' was replaced by another process; try again",
			       index->name);
	return r;
}

int rg_index_hash_line(struct rg_index *index, int64_t offset, int64_t length, int64_t *ret_hash,
		       struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_LINE_BYTES_MAX };
	int r;

	if (length < 0 || offset < 0 || length > RG_LINE_BYTES_MAX)
		return rg_fail(err, ROGER_EDATA, 0, "index '%s' is damaged", index->name);
	r = rg_store_read_line(index->store, (uint64_t)offset, (size_t)length, &text, err);
	if (r == ROGER_OK)
		*ret_hash = (int64_t)rg_hash(0, text.data, text.length);
	return r;
}

int rg_index_last_hash(struct rg_index *index, int64_t *ret_hash, struct roger_err *err)
{
	return rg_index_hash_line(index, index->progress.last_offset, index->progress.last_length,
				  ret_hash, err);
}

/* Does the journal still have the last line that was read?  Its chain covers all before it. */
static bool same_journal(struct rg_index *index)
{
	struct rg_log_file messages = rg_store_messages;
	int64_t hash = 0;
	bool there;
	int r;

	r = rg_index_last_hash(index, &hash, NULL);
	/* The line is gone, or another one; other errors: the store cannot be asked now. */
	index->lost = r == ROGER_EIO || (r == ROGER_OK && hash != index->progress.last_hash);
	if (r < 0 || index->lost ||
	    index->store->ops->stat(index->store, &messages, &there, NULL) < 0)
		return false;
	return (uint64_t)index->progress.offset <= messages.size;
}

/* Build a new file, then rename it over the old one. */
static int rebuild_file(struct rg_index *index, uint64_t end, struct roger_err *err)
{
	char fresh[RG_INDEX_FRESH_BYTES], path[RG_INDEX_PATH_BYTES];
	uint64_t inode;
	int r;

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	rg_index_leave(index);
	index->turn = index->store->turn;
	r = rg_index_file_find(index, index->name, &inode, err);
	/* Accept an index of any version. */
	if (r == ROGER_OK)
		r = rg_index_file_check(index, index->path, "roger index ", index->name, err);
	if (r == ROGER_OK)
		r = rg_index_file_begin(index, index->name, fresh, err);
	if (r < 0)
		return r;
	snprintf(path, sizeof path, "%s.new", index->path);
	r = open_db(index, path, bulk_settings, err);
	if (r == ROGER_OK)
		r = fill_index(index, end, err);
	rg_index_leave(index);
	r = rg_index_file_end(index, index->name, fresh, r, err);
	if (r == ROGER_OK)
		r = rg_index_file_find(index, index->name, &inode, err);
	if (r == ROGER_OK)
		r = use_file(index, inode, err);
	return r == ROGER_OK ? rg_index_load(index, err) : r;
}

/* Is the open index of this version and journal?  Needs a transaction, or a file just opened. */
static int look_again(struct rg_index *index, bool *ret_usable, struct roger_err *err)
{
	int r = load_progress(index, ret_usable, err);

	/* The index left out the altered lines; these must still be the same ones. */
	if (r == ROGER_OK && *ret_usable)
		*ret_usable = same_journal(index) &&
			      rg_altered_load(index->store, &index->altered, NULL) == ROGER_OK &&
			      index->altered.mark == (uint64_t)index->progress.altered;
	if (r == ROGER_OK && *ret_usable)
		index->turn = index->store->turn;
	return r;
}

/* Open the file; close it if it is not usable, or it would pass for up to date. */
static int open_file(struct rg_index *index, uint64_t inode, bool *ret_usable,
		     struct roger_err *err)
{
	int r = use_file(index, inode, err);

	if (r == ROGER_OK)
		r = look_again(index, ret_usable, err);
	if (r == ROGER_OK && !*ret_usable)
		rg_index_leave(index);
	return r;
}

void rg_index_doubt(struct rg_index *index)
{
	index->damaged = true;
}

int rg_index_wrong(struct rg_index *index, struct roger_str about, struct roger_err *err)
{
	rg_index_doubt(index);
	return rg_fail(err, ROGER_EIO, 0,
		       "the index is wrong about '%.*s'; `roger doctor rebuild` rebuilds it",
		       RG_STR_ARGS(about));
}

int rg_index_run_one(struct rg_index *index, enum rg_statement which, struct roger_err *err)
{
	sqlite3_stmt *statement = rg_index_statement(index, which, err);

	return statement ? rg_index_step(index, statement, err) : ROGER_EIO;
}

bool rg_index_is_far_behind(uint64_t there, uint64_t end)
{
	enum { LITTLE_BYTES = 8 << 20 };

	/* A line costs eight times as much one by one as in a rebuild. */
	return end > there && end - there > LITTLE_BYTES && end - there > end / 4;
}

/* Take the lines in, in one transaction; after a failure the tables are unchanged. */
static int take_in(struct rg_index *index, uint64_t end, bool *ret_usable, struct roger_err *err)
{
	struct rg_index_progress before = index->progress;
	int r = rg_index_run_one(index, index->in_memory ? RG_SQL_BEGIN : RG_SQL_BEGIN_WRITE, err);

	rg_assert(index->in_memory || rg_store_took(index->store, RG_LOCK_INDEX));
	*ret_usable = true;
	if (r < 0)
		return r;
	if (!index->in_memory) {
		r = look_again(index, ret_usable, err);
		*ret_usable = *ret_usable && !rg_index_is_far_behind(rg_index_end(index), end);
	}
	if (r == ROGER_OK && *ret_usable && rg_index_end(index) < end)
		r = rg_store_check_ready(index->store, end - rg_index_end(index), err);
	if (r == ROGER_OK && *ret_usable && rg_index_end(index) < end)
		r = rg_index_ingest(index, end, err);
	if (r == ROGER_OK && *ret_usable)
		return rg_index_run_one(index, RG_SQL_END, err);
	rg_index_rollback(index);
	index->progress = before;
	return r;
}

/* Say that messages were lost: files detect that, but a restored database shows no trace. */
static void tell_lost(struct rg_index *index)
{
	struct rg_store *store = index->store;

	index->lost = false;
	if (store->elsewhere && !*store->trouble.message)
		rg_warn(&store->trouble, NULL,
			"the store lacks messages that this machine has seen: an older state of "
			"it was "
			"restored, or it is another workspace; index '%s' was rebuilt",
			index->name);
}

/* Use, update or rebuild the file.  The connection stays open while the file is the same:
 * opening it means reading the schema and preparing every statement. */
static int refresh_file(struct rg_index *index, uint64_t end, struct roger_err *err)
{
	uint64_t inode;
	bool usable = false;
	int r;

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	r = rg_index_file_find(index, index->name, &inode, err);
	if (r < 0)
		return r;
	if (inode && index->inode == inode && !index->damaged)
		r = take_in(index, end, &usable, err);
	if (r == ROGER_OK && !usable && inode) {
		r = open_file(index, inode, &usable, err);
		if (r == ROGER_OK && usable && rg_index_end(index) < end)
			r = take_in(index, end, &usable, err);
	}
	if (r < 0 && !index->damaged)
		return r;
	if (r == ROGER_OK && usable)
		return ROGER_OK;
	r = rg_store_check_ready(index->store, end, err);
	if (r < 0)
		return r;
	if (index->lost)
		tell_lost(index);
	return rebuild_file(index, end, err);
}

void rg_index_bring_seed_up(struct rg_index *index)
{
	if (rg_store_take(index->store, RG_LOCK_INDEX, 0, NULL) == ROGER_OK) {
		if (rg_index_peek(index))
			(void)rg_index_seed_follow(index, false, NULL);
		rg_store_release(index->store, RG_LOCK_INDEX);
	}
}

int rg_index_look(struct rg_index *index, bool *ret_valid)
{
	uint64_t inode;
	int r = rg_index_file_find(index, index->name, &inode, NULL);

	*ret_valid = false;
	if (r < 0 || !inode)
		return r;
	r = use_file(index, inode, NULL);
	return r < 0 ? r : load_progress(index, ret_valid, NULL);
}

uint64_t rg_index_peek(struct rg_index *index)
{
	bool valid;

	return !index->in_memory && rg_index_look(index, &valid) == ROGER_OK && valid
		       ? rg_index_end(index)
		       : 0;
}

/* Is messages.db out of date, and may it be updated now?  Usually it is updated after an answer, so
 * that nobody waits.  It is updated with an answer, at most once a second, if another file may be
 * in its place, which the answer then says, or if the journal is in a database. */
static bool is_due(struct rg_index *index)
{
	const struct rg_index_progress *progress = &index->progress;
	const int64_t age = rg_clock_ms() - progress->seed_at;

	if (index->serving)
		return true;
	if (!index->placed && !index->store->elsewhere &&
	    (progress->offset <= RG_SEED_REBUILT_BYTES_MAX ||
	     rg_index_file_changed_ms(index, index->seed_name)))
		return false;
	return !progress->seed_at ||
	       (progress->seed_to < progress->lines && (age < 0 || age >= SEED_AFTER_MS));
}

/* Update messages.db.  A failure does not fail the answer; it is tried again after a second. */
static int serve_others(struct rg_index *index, struct roger_err *err)
{
	struct roger_err why = { 0 };
	int r;

	index->trouble = why;
	if (!is_due(index))
		return ROGER_OK;
	r = rg_index_seed_follow(index, true, &why);
	if (r == ROGER_EREFUSED)
		index->trouble = why;
	return note_seed(index, r == ROGER_OK ? index->progress.lines : index->progress.seed_to,
			 rg_clock_ms(), err);
}

static int bring_file(struct rg_index *index, uint64_t end, bool rebuild, int64_t wait_ms,
		      struct roger_err *err)
{
	int r;

	/* A process that holds the lock for long is building the index: do not wait for that. */
	if (rg_store_is_long(index->store, end) && wait_ms > HURRY_MS)
		wait_ms = HURRY_MS;
	r = rg_store_take(index->store, RG_LOCK_INDEX, wait_ms, err);
	if (r == ROGER_ETIMEOUT && wait_ms == HURRY_MS)
		return rg_store_check_ready(index->store, end, err);
	if (r < 0)
		return r;
	index->in_memory = false;
	r = rebuild ? rebuild_file(index, end, err) : refresh_file(index, end, err);
	if (r == ROGER_OK)
		r = serve_others(index, err);
	rg_store_release(index->store, RG_LOCK_INDEX);
	return r;
}

bool rg_index_serve(struct rg_index *index, uint64_t end, bool changed,
		    const struct rg_log_files *told)
{
	const uint64_t most = told ? SERVED_MUCH_MAX : SERVED_BYTES_MAX;
	const struct rg_index_progress *progress = &index->progress;
	/* 0: messages.db is not there. */
	const int64_t changed_ms = rg_index_file_changed_ms(index, index->seed_name);
	const int64_t passed = rg_clock_ms() - changed_ms;
	struct rg_shared *shared = rg_store_shared(index->store);
	const uint64_t served = shared ? atomic_load(&shared->served) : 0; /* 0: unknown */
	/* Other programs write messages.db, too, so that its time may always be new. */
	const bool late = end > served + SERVED_BYTES_MAX / 2;
	/* A handle that has all tables open anyway pays little more. */
	const bool now = !changed && index->db && rg_index_end(index) >= end;
	const bool alone = index->tail.alone || told, is_short = alone && end <= most;
	uint64_t reach = end;
	int r;

	if (!now && !told && !late && passed >= 0 && passed < SEED_AFTER_MS)
		return false;
	if (index->in_memory || (!changed && !index->db && !alone) ||
	    (!now && changed_ms && served == end) ||
	    (now && changed_ms && progress->seed_at && progress->seed_to == progress->lines) ||
	    (!rg_index_peek(index) && end && !is_short))
		return true;
	if (rg_index_end(index) + most < end)
		reach = rg_index_end(index) + most;
	if (reach < end && !told)
		return true;
	index->serving = true;
	index->told = reach < end ? NULL : told;
	r = bring_file(index, reach, false, 0, NULL);
	if (r == ROGER_OK && index->told)
		r = rg_index_refresh_events(index, told, NULL);
	index->told = NULL;
	index->serving = false;
	/* Another process may have dropped the figures meanwhile. */
	shared = rg_store_shared(index->store);
	if (r == ROGER_OK && reach == end && shared && progress->seed_to == progress->lines)
		atomic_store(&shared->served, end);
	return r == ROGER_OK && reach == end;
}

/* Is the index open and up to date, and its file the one that has the name? */
static bool fresh_enough(struct rg_index *index, uint64_t end)
{
	return index->db && rg_index_end(index) >= end && index->turn == index->store->turn &&
	       (index->in_memory || rg_index_file_inode(index) == index->inode);
}

/* May the index file be written?  Beside a database it belongs to this machine, whoever leads. */
static bool may_write(const struct rg_index *index)
{
	return index->store->elsewhere || rg_store_writable(index->store);
}

/* Use the file if possible, else an index in memory. */
static int bring_up(struct rg_index *index, uint64_t end, bool rebuild, int64_t wait_ms,
		    struct roger_err *err)
{
	struct roger_err why = { 0 };
	int r;

	index->stopped = false;
	if (may_write(index))
		r = bring_file(index, end, rebuild, wait_ms, &why);
	else
		r = rg_fail(&why, ROGER_EIO, 0, "index '%s' cannot be written", index->name);
	if (r == ROGER_OK)
		return ROGER_OK;
	if (r == ROGER_ETIMEOUT || r == ROGER_ENOMEM || index->stopped) {
		if (err)
			*err = why;
		return r;
	}
	return use_memory(index, end, &why, err);
}

int rg_index_refresh(struct rg_index *index, uint64_t end, struct roger_err *err)
{
	bool usable;

	if (fresh_enough(index, end))
		return ROGER_OK;
	return index->db && index->in_memory && index->turn == index->store->turn
		       ? take_in(index, end, &usable, err)
		       : bring_up(index, end, false, INDEX_WAIT_MS, err);
}

int rg_index_try_refresh(struct rg_index *index, uint64_t end, struct roger_err *err)
{
	return bring_up(index, end, false, 0, err);
}

/* Needs no index lock: a process that replaces the file renames, and then it is opened again. */
bool rg_index_is_open(struct rg_index *index)
{
	uint64_t inode;
	bool usable = false;

	if (index->in_memory || index->damaged || !may_write(index))
		return false;
	if (index->db && index->turn == index->store->turn &&
	    rg_index_file_inode(index) == index->inode)
		return true;
	return rg_index_file_find(index, index->name, &inode, NULL) == ROGER_OK && inode &&
	       open_file(index, inode, &usable, NULL) == ROGER_OK && usable &&
	       rg_index_file_inode(index) == inode;
}

int rg_index_write(struct rg_index *index, int64_t wait_ms, rg_index_writing *writing,
		   const void *context, struct roger_err *err)
{
	const bool locks = !index->in_memory;
	struct rg_index_progress before;
	int r = locks ? rg_store_take(index->store, RG_LOCK_INDEX, wait_ms, err) : ROGER_OK;

	if (r < 0)
		return r;
	rg_assert(index->in_memory || rg_store_took(index->store, RG_LOCK_INDEX));
	/* Open the file again if it was replaced. */
	if (!index->in_memory && !fresh_enough(index, 0))
		r = refresh_file(index, rg_index_end(index), err);
	before = index->progress;
	if (r == ROGER_OK)
		r = rg_index_run_one(index, RG_SQL_BEGIN_WRITE, err);
	if (r == ROGER_OK)
		r = writing(index, context, err);
	if (r == ROGER_OK)
		r = rg_index_run_one(index, RG_SQL_END, err);
	if (r < 0 && index->db) {
		rg_index_rollback(index);
		index->progress = before;
	}
	if (locks)
		rg_store_release(index->store, RG_LOCK_INDEX);
	return r;
}

/* Another process may have rebuilt or removed the file.  If that happens again, an index in memory,
 * which nobody else can reach, answers. */
bool rg_index_heals(struct rg_index *index, int *tries, int *r, struct roger_err *err)
{
	struct roger_err why = { 0 };

	/* A file that was deleted or replaced while it was in use heals, too. */
	if (*r >= 0 || (*tries)++ > HEAL_TRIES ||
	    (!index->damaged && !index->full &&
	     (index->in_memory || (index->inode && rg_index_file_inode(index) == index->inode))))
		return false;
	if (index->db)
		rg_index_rollback(index);
	if (!index->full && *tries <= HEAL_TRIES) {
		*r = bring_up(index, rg_index_end(index), fresh_enough(index, 0), INDEX_WAIT_MS,
			      err);
	} else {
		(void)rg_fail(&why, ROGER_EIO, index->full ? ENOSPC : 0,
			      index->full ? "index '%s'" : "index '%s' keeps getting damaged",
			      index->name);
		*r = use_memory(index, rg_index_end(index), &why, err);
	}
	return *r == ROGER_OK;
}

/* A transaction first rolls back what a killed process left. */
static int make_durable(struct rg_index *index, struct roger_err *err)
{
	const uint64_t synced = rg_store_head(index->store).synced;
	bool usable = false;
	int r = rg_index_run_one(index, RG_SQL_BEGIN, err);

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	if (r == ROGER_OK)
		r = look_again(index, &usable, err);
	/* The index on disk is never ahead of the journal on disk. */
	if (r == ROGER_OK && usable && rg_index_end(index) <= synced &&
	    rg_index_pages_checkpoint(&index->vfs.pages) != SQLITE_OK)
		r = rg_index_fail(index, "make durable", err);
	rg_index_rollback(index);
	return r;
}

void rg_index_checkpoint(struct rg_index *index)
{
	bool usable = true;
	uint64_t inode;
	int r;

	/* Skip this while another process has the lock: the next checkpoint comes soon. */
	if (index->in_memory || rg_store_take(index->store, RG_LOCK_INDEX, SOON_MS, NULL) < 0)
		return;
	r = rg_index_file_find(index, index->name, &inode, NULL);
	if (r == ROGER_OK && inode && index->inode != inode)
		r = open_file(index, inode, &usable, NULL);
	if (r == ROGER_OK && inode && usable)
		(void)make_durable(index, NULL);
	rg_store_release(index->store, RG_LOCK_INDEX);
}

/* Make messages.db again.  Something else with its name is reported, and left alone. */
static int make_seed(struct rg_index *index, struct roger_err *err)
{
	uint64_t inode;
	int r;

	index->trouble = (struct roger_err){ 0 };
	r = rg_index_file_find(index, index->seed_name, &inode, &index->trouble);

	rg_assert(rg_store_took(index->store, RG_LOCK_INDEX));
	if (r < 0)
		return ROGER_OK;
	r = rg_index_seed_make(index, err);
	return r < 0 ? r : note_seed(index, index->progress.lines, rg_clock_ms(), err);
}

int rg_index_rebuild(struct rg_index *index, uint64_t end, const struct rg_log_files *told,
		     struct roger_err *err)
{
	int r = rg_store_take(index->store, RG_LOCK_INDEX, INDEX_WAIT_MS, err);

	if (r < 0)
		return r;
	index->in_memory = false;
	index->told = told;
	r = rebuild_file(index, end, err);
	index->told = NULL;
	if (r == ROGER_OK)
		r = make_seed(index, err);
	rg_store_release(index->store, RG_LOCK_INDEX);
	return r;
}
