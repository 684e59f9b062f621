/*
 * What store/index_vfs.h promises: at every moment of a transaction, whether it
 * is small, outgrows the cache, goes back to a savepoint, or fails, the files
 * as they are then give whoever opens them all of the transaction, or nothing
 * of it, or the word that they are damaged, which they are for no longer than
 * the sums are being written; a disk that is full fails it, and no more; and
 * whatever is changed in the file, moved, or put back from before, is damage.
 */
#include "folder.h"

#include <stdbool.h>

#include "store/index_vfs.h"

/* What a default VFS below sees: every write to the two files, which it looks at half done, too. */
enum { DATABASE, ROLLBACK, FILES };

static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	sqlite3_io_methods methods[FILES];
	sqlite3_io_methods under[FILES];
	sqlite3_file *files[FILES]; /* NULL: not open */
	int writes[FILES];
	bool aside; /* what is opened now is not looked at */
	int cuts, damaged;
	int fail_at;	/* the write that fails, counted from 1; 0: none does */
	char path[300]; /* of copies of both */
	char *before;	/* what every cut must give; NULL: nothing is looked at */
} spy;

/* -------------------------------------------------------------- contents -- */

/* Every row, and what SQLite says of the whole; NULL: it is damaged. */
static char *contents(sqlite3 *db)
{
	static const char sql[] =
		"SELECT (SELECT group_concat(integrity_check) FROM pragma_integrity_check) || ' ' "
		"||"
		" (SELECT count(*) || ' ' || coalesce(group_concat(n || ':' || text), '') FROM"
		" (SELECT n, text FROM t ORDER BY n))";
	sqlite3_stmt *get = NULL;
	char *text = NULL;
	int r;

	r = sqlite3_prepare_v2(db, sql, -1, &get, NULL);
	if (r == SQLITE_OK && sqlite3_step(get) == SQLITE_ROW)
		text = sqlite3_mprintf("%s", sqlite3_column_text(get, 0));
	if (r == SQLITE_OK)
		r = sqlite3_finalize(get);
	/* What SQLite checks by itself goes on after a page that it cannot read. */
	if (text && strncmp(text, "ok ", 3) != 0) {
		sqlite3_free(text);
		return NULL;
	}
	if (!text && r != SQLITE_CORRUPT)
		fail_msg("%s", sqlite3_errmsg(db));
	return text;
}

static char *contents_of(const char *path)
{
	struct rg_index_vfs vfs;
	sqlite3 *db = NULL;
	char *text;

	rg_index_vfs_init(&vfs);
	spy.aside = true;
	assert_int_equal(rg_index_vfs_open(&vfs, path, SQLITE_OPEN_READWRITE, &db), SQLITE_OK);
	text = contents(db);
	sqlite3_close(db);
	spy.aside = false;
	rg_index_vfs_deinit(&vfs);
	return text;
}

/* ------------------------------------------------------------------ cuts -- */

/* By way of the open file: to open it once more would drop SQLite's locks on it. */
static void copy(int which, const char *path)
{
	sqlite3_file *file = spy.files[which];
	sqlite3_int64 size = 0;
	char *bytes;
	FILE *to;

	/* Not cut short in place: ext4 would write it out at once. */
	remove(path);
	to = fopen(path, "w");
	assert_non_null(to);
	if (file)
		assert_int_equal(spy.under[which].xFileSize(file, &size), SQLITE_OK);
	bytes = malloc((size_t)size + 1);
	assert_non_null(bytes);
	if (size)
		assert_int_equal(spy.under[which].xRead(file, bytes, (int)size, 0), SQLITE_OK);
	assert_int_equal(fwrite(bytes, 1, (size_t)size, to), size);
	free(bytes);
	fclose(to);
}

/* Killed here: what does the next one find? */
static void cut(void)
{
	char rollback[320], *found;

	/* What comes before a failure was looked at without one. */
	if (!spy.before || spy.writes[DATABASE] + spy.writes[ROLLBACK] < spy.fail_at)
		return;
	snprintf(rollback, sizeof rollback, "%s-journal", spy.path);
	copy(DATABASE, spy.path);
	copy(ROLLBACK, rollback);
	found = contents_of(spy.path);
	if (found && strcmp(found, spy.before) != 0)
		fail_msg("after %d and %d writes: %s", spy.writes[DATABASE], spy.writes[ROLLBACK],
			 found);
	spy.damaged += !found;
	sqlite3_free(found);
	spy.cuts++;
}

static int write_seen(int which, sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
	int r = spy.under[which].xWrite(file, data, length / 2, at);

	spy.writes[which]++;
	cut();
	if (r == SQLITE_OK && spy.writes[DATABASE] + spy.writes[ROLLBACK] == spy.fail_at)
		return SQLITE_FULL;
	if (r == SQLITE_OK)
		r = spy.under[which].xWrite(file, data, length, at);
	cut();
	return r;
}

static int write_database(sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
	return write_seen(DATABASE, file, data, length, at);
}

static int write_rollback(sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
	return write_seen(ROLLBACK, file, data, length, at);
}

static int close_rollback(sqlite3_file *file)
{
	spy.files[ROLLBACK] = NULL;
	return spy.under[ROLLBACK].xClose(file);
}

static int open_seen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *ret_flags)
{
	int which = flags & SQLITE_OPEN_MAIN_DB ? DATABASE : ROLLBACK;
	int r = spy.real->xOpen(spy.real, name, file, flags, ret_flags);

	(void)vfs;
	if (r != SQLITE_OK || !(flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL)) ||
	    spy.aside)
		return r;
	spy.files[which] = file;
	spy.under[which] = spy.methods[which] = *file->pMethods;
	spy.methods[which].xWrite = which == DATABASE ? write_database : write_rollback;
	if (which == ROLLBACK)
		spy.methods[which].xClose = close_rollback;
	file->pMethods = &spy.methods[which];
	return r;
}

static void spy_on_sqlite(void)
{
	spy.real = sqlite3_vfs_find(NULL);
	spy.vfs = *spy.real;
	spy.vfs.zName = "spy";
	spy.vfs.xOpen = open_seen;
	assert_int_equal(sqlite3_vfs_register(&spy.vfs, 1), SQLITE_OK);
}

/* ----------------------------------------------------------- transactions -- */

#define FILL                                                                                       \
	"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 200)"            \
	" INSERT INTO t SELECT n, n % 7 || '-' || hex(zeroblob(100)) FROM c;"

static const char setting_up[] =
	"CREATE TABLE t(n INTEGER PRIMARY KEY, text TEXT);"
	"CREATE INDEX texts ON t(text); CREATE TABLE once(n INTEGER UNIQUE);"
	"INSERT INTO once VALUES (1), (2), (3);" FILL;

static const char small_change[] = "UPDATE t SET text = 'new' WHERE n IN (3, 100, 188);";

static const struct {
	const char *name, *sql;
	bool stays; /* nothing is changed in the end */
} cases[] = {
	{ "small", small_change, false },
	{ "growing", "INSERT INTO t SELECT n + 1000, text || n FROM t WHERE n < 60;", false },
	{ "shrinking", "DELETE FROM t WHERE n > 10;", false },
	{ "beyond the cache", "PRAGMA cache_size = 4; UPDATE t SET text = text || n;", false },
	{ "a savepoint",
	  "BEGIN; UPDATE t SET text = 'one' WHERE n < 9; SAVEPOINT s; DELETE FROM t WHERE n > 90;"
	  "ROLLBACK TO s; UPDATE t SET text = 'two' WHERE n > 180; RELEASE s; COMMIT;",
	  false },
	{ "a savepoint beyond the cache",
	  "PRAGMA cache_size = 4; BEGIN; UPDATE t SET text = 'one' || n; SAVEPOINT s;"
	  "DELETE FROM t WHERE n > 50; ROLLBACK TO s; UPDATE t SET text = text || 'two'; COMMIT;",
	  false },
	{ "a failed statement",
	  "BEGIN; UPDATE t SET text = 'one' WHERE n < 9;"
	  "INSERT OR ABORT INTO once SELECT n FROM t ORDER BY n DESC;",
	  true },
	{ "given up", "BEGIN; UPDATE t SET text = 'x' || n; ROLLBACK;", true },
	{ "given up beyond the cache",
	  "PRAGMA cache_size = 4; BEGIN; UPDATE t SET text = 'x' || n; DELETE FROM t WHERE n > 66; "
	  "ROLLBACK;",
	  true },
};

struct database {
	struct folder folder;
	char path[300];
	struct rg_index_vfs vfs;
	sqlite3 *db;
};

static void run(sqlite3 *db, const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
}

static void open_database(struct database *database)
{
	spy.before = NULL;
	spy.fail_at = 0;
	folder_make(&database->folder);
	snprintf(database->path, sizeof database->path, "%s/db", database->folder.path);
	snprintf(spy.path, sizeof spy.path, "%s/copy", database->folder.path);
	rg_index_vfs_init(&database->vfs);
	assert_int_equal(rg_index_vfs_open(&database->vfs, database->path,
					   SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
					   &database->db),
			 SQLITE_OK);
	run(database->db, "PRAGMA auto_vacuum = FULL;"
			  "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF");
	run(database->db, setting_up);
	memset(spy.writes, 0, sizeof spy.writes);
	spy.cuts = spy.damaged = 0;
}

static void close_database(struct database *database)
{
	sqlite3_free(spy.before);
	spy.before = NULL;
	assert_int_equal(sqlite3_close(database->db), SQLITE_OK);
	rg_index_vfs_deinit(&database->vfs);
	folder_remove(&database->folder);
}

/* In a transaction left open after a failure, too. */
static int try(struct database *database, const char *sql)
{
	int r = sqlite3_exec(database->db, sql, NULL, NULL, NULL);

	if (!sqlite3_get_autocommit(database->db))
		(void)sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
	return r;
}

static void cut_anywhere_it_is_all_or_nothing_or_damaged(void **state)
{
	struct database database;
	char *after;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		open_database(&database);
		spy.before = contents(database.db);
		(void)try(&database, cases[i].sql);
		after = contents_of(database.path);
		assert_non_null(after);
		if ((strcmp(after, spy.before) == 0) != cases[i].stays)
			fail_msg("%s: %s", cases[i].name, after);
		/* Two writes of sums, each looked at half done and done; each rolled back, too. */
		if ((!cases[i].stays && spy.cuts < 8) || spy.damaged > 8)
			fail_msg("%s: %d cuts, %d damaged", cases[i].name, spy.cuts, spy.damaged);
		sqlite3_free(after);
		close_database(&database);
	}
}

static void one_write_holds_the_journal_of_a_small_one(void **state)
{
	struct database database;

	(void)state;
	open_database(&database);
	run(database.db, small_change);
	assert_true(spy.writes[DATABASE] > 4);
	assert_int_equal(spy.writes[ROLLBACK], 1);
	/* What nobody will roll back to is not written. */
	run(database.db, "BEGIN; UPDATE t SET text = 'x'; ROLLBACK");
	assert_int_equal(spy.writes[ROLLBACK], 1);
	close_database(&database);
}

/* Whichever write fails: here and elsewhere it is as before, and the next try succeeds. */
static void a_full_disk_fails_it_and_no_more(void **state)
{
	struct database database;
	char *here, *there;
	size_t i;
	int n, r;

	(void)state;
	for (i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (n = 1, r = SQLITE_FULL; r == SQLITE_FULL; n++) {
			open_database(&database);
			spy.before = contents(database.db);
			spy.fail_at = n;
			r = try(&database, cases[i].sql);
			spy.fail_at = 0;
			if (r == SQLITE_FULL) {
				here = contents(database.db);
				there = contents_of(database.path);
				assert_string_equal(here, spy.before);
				assert_string_equal(there, spy.before);
				sqlite3_free(there);
				/* It goes on as if nothing had been. */
				(void)try(&database, cases[i].sql);
				there = contents_of(database.path);
				assert_true((strcmp(here, there) == 0) == cases[i].stays);
				sqlite3_free(here);
				sqlite3_free(there);
			}
			close_database(&database);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere_it_is_all_or_nothing_or_damaged),
		cmocka_unit_test(one_write_holds_the_journal_of_a_small_one),
		cmocka_unit_test(a_full_disk_fails_it_and_no_more),
	};

	spy_on_sqlite();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
