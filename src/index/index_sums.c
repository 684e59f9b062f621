/* Sums over the tables, computed on a connection and thread of their own. */
#include "index/index_db.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "facts/message.h"
#include "facts/message_history.h"

struct rg_index_summing {
	sqlite3 *db;
	struct rg_index_vfs vfs;
	struct rg_message_sums sums;
	sqlite3 *table_db; /* messages.db; NULL: none */
	struct rg_table_sums table;
	bool valid; /* of this version and boot */
	int result;
	bool threaded;
	int code; /* SQLite's code if it failed */
	pthread_t thread;
};

static int prepare(sqlite3 *db, const char *sql, sqlite3_stmt **ret)
{
	return sqlite3_prepare_v2(db, sql, -1, ret, NULL) == SQLITE_OK ? ROGER_OK : ROGER_EIO;
}

static int read_progress(sqlite3 *db, struct rg_message_sums *sums, bool *ret_valid)
{
	sqlite3_stmt *get;
	int step, r;

	r = prepare(db, "SELECT offset, lines, strays, version FROM progress", &get);
	if (r < 0)
		return r;
	step = sqlite3_step(get);
	*ret_valid = step == SQLITE_ROW && sqlite3_column_int(get, 3) == RG_INDEX_VERSION;
	sums->offset = sqlite3_column_int64(get, 0);
	sums->lines = sqlite3_column_int64(get, 1);
	sums->strays = sqlite3_column_int64(get, 2);
	sqlite3_finalize(get);
	return step == SQLITE_ROW || step == SQLITE_DONE ? ROGER_OK : ROGER_EIO;
}

/* One row of numbers, in the order of the sums that follow those of lines.  sum() fails on
 * overflow; positions and numbers stay far below that. */
static int read_small(sqlite3 *db, struct rg_message_sums *sums)
{
	static const char question[] =
		"SELECT * FROM (SELECT count(*), sum(read = 0) FROM messages),"
		"(SELECT count(*), sum(position) FROM mailbox),"
		"(SELECT count(*), sum(position) FROM archived),"
		"(SELECT count(*) FROM keys), (SELECT count(*) FROM replies),"
		"(SELECT sum(sent), sum(received), sum(unread) FROM agents),"
		"(SELECT count(*), sum(seq) FROM last_seen),"
		"(SELECT count(*), sum(seq) FROM edges),"
		"(SELECT sum(context + result + decision + data) FROM issues)";
	sqlite3_stmt *get;
	int step, i, r;

	r = prepare(db, question, &get);
	if (r < 0)
		return r;
	step = sqlite3_step(get);
	for (i = 0; step == SQLITE_ROW && i < sqlite3_column_count(get); i++)
		sums->all[2 + i] = sqlite3_column_int64(get, i);
	sqlite3_finalize(get);
	return step == SQLITE_ROW ? ROGER_OK : ROGER_EIO;
}

static void read_row(sqlite3_stmt *get, struct roger_message *message)
{
	*message = (struct roger_message){
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
}

static int read_table(sqlite3 *db, struct rg_table_sums *table)
{
	struct roger_message message;
	struct rg_buf scratch;
	sqlite3_stmt *get;
	int step, r;

	r = prepare(db,
		    "SELECT id, issue_id, from_phase, to_phase, run_counter, message_type,"
		    " content, metadata, read, created_at, read_at FROM messages NOT INDEXED",
		    &get);
	if (r < 0)
		return r;
	rg_buf_init(&scratch, SIZE_MAX);
	while ((step = sqlite3_step(get)) == SQLITE_ROW) {
		read_row(get, &message);
		table->messages++;
		table->rows = (int64_t)((uint64_t)table->rows +
					(uint64_t)rg_message_row(&scratch, &message));
	}
	r = scratch.failed ? ROGER_ENOMEM : step == SQLITE_DONE ? ROGER_OK : ROGER_EIO;
	rg_buf_deinit(&scratch);
	sqlite3_finalize(get);
	return r;
}

/* A file that cannot be read now is not a damaged file. */
static bool is_damage(int code)
{
	switch (code & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR:
	case SQLITE_FORMAT:
	case SQLITE_SCHEMA:
		return true;
	default:
		return false;
	}
}

static void sum_up_table(struct rg_index_summing *summing)
{
	struct rg_table_sums *table = &summing->table;
	int r = ROGER_OK;

	if (!summing->table_db)
		return;
	if (table->valid)
		r = read_table(summing->table_db, table);
	table->done = table->valid && r == ROGER_OK;
	table->damaged = !table->done && is_damage(sqlite3_errcode(summing->table_db));
	sqlite3_exec(summing->table_db, "ROLLBACK", NULL, NULL, NULL);
}

/* Ends the transactions too, so that writers wait no longer than needed. */
static void sum_up(struct rg_index_summing *summing)
{
	if (summing->result == ROGER_OK && summing->valid)
		summing->result = read_small(summing->db, &summing->sums);
	summing->code = sqlite3_errcode(summing->db);
	sqlite3_exec(summing->db, "ROLLBACK", NULL, NULL, NULL);
	sum_up_table(summing);
}

static void *sum_up_ahead(void *context)
{
	sum_up(context);
	return NULL;
}

/* The second thread handles no signals: they are the caller's. */
static bool start_thread(struct rg_index_summing *summing)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(&summing->thread, NULL, sum_up_ahead, summing) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

static const char beginning[] = "PRAGMA cache_size = -2000; BEGIN";

static int begin(struct rg_index_summing *summing, const struct rg_index *index)
{
	rg_index_vfs_init(&summing->vfs);
	rg_index_file_settings(index, &summing->vfs, false);
	if (rg_index_vfs_open(&summing->vfs, index->path,
			      SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			      &summing->db) != SQLITE_OK)
		return ROGER_EIO;
	sqlite3_busy_timeout(summing->db, 1000);
	rg_index_distrust(summing->db);
	if (sqlite3_exec(summing->db, beginning, NULL, NULL, NULL) != SQLITE_OK)
		return ROGER_EIO;
	return read_progress(summing->db, &summing->sums, &summing->valid);
}

/* Does the journal still have the last line that messages.db has read? */
static bool has_last_line(struct rg_index *index, sqlite3_stmt *get)
{
	int64_t hash = 0;

	return rg_index_hash_line(index, sqlite3_column_int64(get, 3), sqlite3_column_int64(get, 4),
				  &hash, NULL) == ROGER_OK &&
	       hash == sqlite3_column_int64(get, 5);
}

/* How far messages.db has read, if the next update would not rebuild it. */
static void begin_table(struct rg_index_summing *summing, struct rg_index *index)
{
	sqlite3_stmt *get;
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(index->seed_path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(db, 1000);
		rg_index_distrust(db);
	}
	summing->table_db = db;
	if (!db || sqlite3_exec(db, beginning, NULL, NULL, NULL) != SQLITE_OK ||
	    prepare(db,
		    "SELECT offset, version, boot_id, last_offset, last_length, last_hash"
		    " FROM progress",
		    &get) < 0)
		return;
	if (sqlite3_step(get) == SQLITE_ROW) {
		summing->table.offset = sqlite3_column_int64(get, 0);
		summing->table.valid = sqlite3_column_int(get, 1) == RG_INDEX_VERSION &&
				       (sqlite3_column_bytes(get, 2) == 0 ||
					rg_str_is(rg_index_column(get, 2), index->store->era)) &&
				       has_last_line(index, get);
	}
	sqlite3_finalize(get);
}

int rg_index_sum(struct rg_index *index, struct rg_index_summing **ret_summing,
		 struct roger_err *err)
{
	struct rg_index_summing *summing = calloc(1, sizeof *summing);
	uint64_t inode;

	if (!summing)
		return rg_fail_memory(err);
	summing->result = rg_index_file_find(index, index->name, &inode, NULL);
	if (summing->result == ROGER_OK)
		summing->result = inode ? rg_index_file_recent(index, err) : ROGER_EIO;
	if (summing->result == ROGER_OK)
		summing->result = begin(summing, index);
	if (rg_index_file_find(index, index->seed_name, &inode, NULL) == ROGER_OK && inode)
		begin_table(summing, index);
	summing->threaded = summing->result == ROGER_OK && summing->valid && start_thread(summing);
	/* Without the second thread it works too, only slower. */
	if (!summing->threaded)
		sum_up(summing);
	*ret_summing = summing;
	return ROGER_OK;
}

static void join(struct rg_index_summing *summing)
{
	if (summing->threaded)
		pthread_join(summing->thread, NULL);
	summing->threaded = false;
}

struct rg_index_summing *rg_index_summing_free(struct rg_index_summing *summing)
{
	if (!summing)
		return NULL;
	if (summing->threaded)
		sqlite3_interrupt(summing->table_db ? summing->table_db : summing->db);
	join(summing);
	sqlite3_close_v2(summing->db);
	sqlite3_close_v2(summing->table_db);
	rg_index_vfs_deinit(&summing->vfs);
	free(summing);
	return NULL;
}

int64_t rg_index_summing_end(const struct rg_index_summing *summing)
{
	return summing->valid ? summing->sums.offset : 0;
}

int rg_index_summed(struct rg_index_summing *summing, struct rg_message_sums *ret_sums,
		    struct rg_table_sums *ret_table, bool *ret_done, struct roger_err *err)
{
	join(summing);
	*ret_done = summing->result == ROGER_OK && summing->valid;
	*ret_sums = summing->sums;
	*ret_table = summing->table;
	if (summing->result == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (summing->result < 0 && is_damage(summing->code))
		return rg_fail(err, ROGER_EDATA, 0, "it cannot be read: %s",
			       sqlite3_errstr(summing->code));
	return ROGER_OK;
}
