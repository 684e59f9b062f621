/* runner: sanitized */
/*
 * What index/index_vfs.h promises: at every moment of a transaction, whether it
 * is small, outgrows the cache, goes back to a savepoint, or fails, the files
 * as they are then give whoever opens them all of the transaction, or nothing
 * of it, or the word that they are damaged, which they are for no longer than
 * the sums are being written; a disk that is full fails it, and no more; and
 * whatever is changed in the file, moved, or put back from before, is damage.
 */
#include "folder.h"

#include <stdbool.h>

#include "index/index_vfs.h"

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

	vfs = (struct rg_index_vfs){ 0 };
	spy.aside = true;
	assert_int_equal(rg_index_vfs_open(&vfs, path, SQLITE_OPEN_READWRITE, &db), SQLITE_OK);
	text = contents(db);
	sqlite3_close(db);
	spy.aside = false;
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
	spy.real = sqlite3_vfs_find("unix");
	spy.vfs = *spy.real;
	spy.vfs.zName = "unix";
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

static const struct {
	const char *name, *sql;
	bool stays; /* nothing is changed in the end */
} cases[] = {
	{ "small", "UPDATE t SET text = 'new' WHERE n IN (3, 100, 188);", false },
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
	database->vfs = (struct rg_index_vfs){ 0 };
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

/* ---------------------------------------------------------------- damage -- */

enum { FILE_BYTES_MAX = 4 << 20 };

struct bytes {
	size_t length;
	unsigned char data[FILE_BYTES_MAX];
};

static void read_file(const char *path, struct bytes *to)
{
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	to->length = fread(to->data, 1, sizeof to->data, file);
	assert_true(to->length && to->length < sizeof to->data);
	fclose(file);
}

static void write_file(const char *path, const void *data, size_t length)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, length, file), length);
	fclose(file);
}

/* It gives what it held, or says that it is damaged; returns whether it does. */
static bool is_noticed(const char *path, const struct bytes *bytes, const char *expected)
{
	char *found;
	bool noticed;

	write_file(path, bytes->data, bytes->length);
	found = contents_of(path);
	noticed = !found;
	if (found)
		assert_string_equal(found, expected);
	sqlite3_free(found);
	return noticed;
}

static size_t page_at(size_t number)
{
	return RG_PAGES_ROOT_BYTES + ((number - 1) / RG_PAGE_GROUP * (RG_PAGE_GROUP + 1) + 1 +
				      (number - 1) % RG_PAGE_GROUP) *
					     RG_PAGE_BYTES;
}

/* A database of more than one group of pages, as it was and as it is. */
struct scene {
	struct folder folder;
	char path[300];
	struct bytes before, now, changed;
	char *text_before, *text;
	size_t pages;
};

static struct scene *make_scene(void)
{
	static const char more[] =
		"WITH RECURSIVE c(n) AS (SELECT 1001 UNION ALL SELECT n + 1 FROM c WHERE n < 1600)"
		" INSERT INTO t SELECT n, n || hex(zeroblob(900)) FROM c;";
	struct scene *scene = calloc(1, sizeof *scene);
	struct database database;

	assert_non_null(scene);
	open_database(&database);
	run(database.db, more);
	scene->text_before = contents(database.db);
	assert_non_null(scene->text_before);
	read_file(database.path, &scene->before);
	run(database.db, "UPDATE t SET text = n || text WHERE n % 3 = 0");
	scene->text = contents(database.db);
	read_file(database.path, &scene->now);
	close_database(&database);
	folder_make(&scene->folder);
	snprintf(scene->path, sizeof scene->path, "%s/db", scene->folder.path);
	memcpy(&scene->pages, scene->now.data + 24, sizeof scene->pages);
	assert_true(scene->pages > RG_PAGE_GROUP + 10);
	return scene;
}

static void remove_scene(struct scene *scene)
{
	sqlite3_free(scene->text_before);
	sqlite3_free(scene->text);
	folder_remove(&scene->folder);
	free(scene);
}

static void a_flipped_bit_is_noticed_anywhere(void **state)
{
	struct scene *scene = make_scene();
	size_t at, root = RG_PAGES_ROOT_HEAD + 2 * sizeof(uint64_t);

	(void)state;
	memcpy(&scene->changed, &scene->now, sizeof scene->changed);
	for (at = 0; at < scene->now.length; at += at < root ? 1 : 30011) {
		if (at >= root && at < RG_PAGES_ROOT_BYTES)
			at = RG_PAGES_ROOT_BYTES + at % 512;
		scene->changed.data[at] ^= (unsigned char)(1 << at % 8);
		if (!is_noticed(scene->path, &scene->changed, scene->text))
			fail_msg("a bit at %zu", at);
		scene->changed.data[at] ^= (unsigned char)(1 << at % 8);
	}
	assert_false(is_noticed(scene->path, &scene->changed, scene->text));
	remove_scene(scene);
}

static void a_page_of_elsewhere_or_from_before_is_noticed(void **state)
{
	struct scene *scene = make_scene();
	size_t page, at, other;
	int stale = 0;

	(void)state;
	for (page = 1; page + 7 < scene->pages; page += 7) {
		at = page_at(page);
		other = page_at(page + 7);
		memcpy(&scene->changed, &scene->now, sizeof scene->changed);
		memcpy(scene->changed.data + at, scene->now.data + other, RG_PAGE_BYTES);
		memcpy(scene->changed.data + other, scene->now.data + at, RG_PAGE_BYTES);
		if (memcmp(scene->now.data + at, scene->now.data + other, RG_PAGE_BYTES) != 0)
			assert_true(is_noticed(scene->path, &scene->changed, scene->text));
		if (memcmp(scene->now.data + at, scene->before.data + at, RG_PAGE_BYTES) == 0)
			continue;
		memcpy(&scene->changed, &scene->now, sizeof scene->changed);
		memcpy(scene->changed.data + at, scene->before.data + at, RG_PAGE_BYTES);
		assert_true(is_noticed(scene->path, &scene->changed, scene->text));
		/* With the sums that it had then, too. */
		memcpy(scene->changed.data + RG_PAGES_ROOT_BYTES,
		       scene->before.data + RG_PAGES_ROOT_BYTES, RG_PAGE_BYTES);
		assert_true(is_noticed(scene->path, &scene->changed, scene->text));
		stale++;
	}
	assert_true(stale > 5);
	remove_scene(scene);
}

/* To who opens it anew it is a database; who has seen what came later does not take it. */
static void a_whole_file_from_before_is_noticed_by_who_has_seen_more(void **state)
{
	struct scene *scene = make_scene();
	struct rg_index_vfs vfs;
	sqlite3 *db;
	char *text;

	(void)state;
	assert_false(is_noticed(scene->path, &scene->before, scene->text_before));
	write_file(scene->path, scene->now.data, scene->now.length);
	vfs = (struct rg_index_vfs){ 0 };
	spy.aside = true;
	assert_int_equal(rg_index_vfs_open(&vfs, scene->path, SQLITE_OPEN_READWRITE, &db),
			 SQLITE_OK);
	text = contents(db);
	assert_string_equal(text, scene->text);
	sqlite3_free(text);
	write_file(scene->path, scene->before.data, scene->before.length);
	assert_null(contents(db));
	sqlite3_close(db);
	spy.aside = false;
	remove_scene(scene);
}

static void big_endian(unsigned char *to, uint32_t number)
{
	int i;

	for (i = 3; i >= 0; i--, number >>= 8)
		to[i] = (unsigned char)number;
}

/* A rollback journal of SQLite's for one page, as a kill leaves it. */
static void leave_journal(const char *path, size_t pages, size_t number, const unsigned char *page)
{
	static const unsigned char magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	unsigned char bytes[512 + 4 + RG_PAGE_BYTES + 4] = { 0 };
	uint32_t sum = 77;
	char name[320];
	int at;

	for (at = RG_PAGE_BYTES - 200; at > 0; at -= 200)
		sum += page[at];
	memcpy(bytes, magic, sizeof magic);
	big_endian(bytes + 8, 1);
	big_endian(bytes + 12, 77);
	big_endian(bytes + 16, (uint32_t)pages);
	big_endian(bytes + 20, 512);
	big_endian(bytes + 24, RG_PAGE_BYTES);
	big_endian(bytes + 512, (uint32_t)number);
	memcpy(bytes + 516, page, RG_PAGE_BYTES);
	big_endian(bytes + 516 + RG_PAGE_BYTES, sum);
	snprintf(name, sizeof name, "%s-journal", path);
	write_file(name, bytes, sizeof bytes);
}

/* What another one left is rolled back to what the sums say, and to nothing else. */
static void a_rollback_journal_brings_in_nothing(void **state)
{
	struct scene *scene = make_scene();
	size_t page, restored = 0, refused = 0;

	(void)state;
	for (page = 1; page < scene->pages; page += 5) {
		const unsigned char *old = scene->before.data + page_at(page);
		bool same = memcmp(old, scene->now.data + page_at(page), RG_PAGE_BYTES) == 0;

		memcpy(&scene->changed, &scene->now, sizeof scene->changed);
		if (same)
			memset(scene->changed.data + page_at(page), 7, 100);
		leave_journal(scene->path, scene->pages, page, old);
		assert_int_equal(is_noticed(scene->path, &scene->changed, scene->text), !same);
		restored += same;
		refused += !same;
	}
	assert_true(restored > 5 && refused > 5);
	leave_journal(scene->path, scene->pages / 2, 1, scene->now.data + page_at(1));
	assert_true(is_noticed(scene->path, &scene->now, scene->text));
	remove_scene(scene);
}

static void a_write_ahead_log_is_not_looked_at(void **state)
{
	struct scene *scene = make_scene();
	char name[320];

	(void)state;
	snprintf(name, sizeof name, "%s-wal", scene->path);
	write_file(name, scene->before.data, 100000);
	assert_false(is_noticed(scene->path, &scene->now, scene->text));
	remove_scene(scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere_it_is_all_or_nothing_or_damaged),
		cmocka_unit_test(a_full_disk_fails_it_and_no_more),
		cmocka_unit_test(a_flipped_bit_is_noticed_anywhere),
		cmocka_unit_test(a_page_of_elsewhere_or_from_before_is_noticed),
		cmocka_unit_test(a_whole_file_from_before_is_noticed_by_who_has_seen_more),
		cmocka_unit_test(a_rollback_journal_brings_in_nothing),
		cmocka_unit_test(a_write_ahead_log_is_not_looked_at),
	};

	spy_on_sqlite();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
