/* runner: sanitized */
/*
 * What index/index_vfs.h promises after a power cut: whatever part of what was
 * not synced is on disk then, and in whatever order it came there, the index is
 * as one checkpoint left it, the last or the one that was being made, and is
 * never damaged.  Also when the power is cut again while that is made good, and
 * after a checkpoint of which a write or a sync failed, or that a kill ended there.
 */
#include "folder.h"

#include <stdbool.h>
#include <sys/stat.h>

#include "index/index_vfs.h"

enum { DATABASE, RECENT, ROLLBACK, FILES };
enum { WANTED = 3 }; /* the last checkpoint, the one being made, the one before a failed one */
enum { ROUNDS = 2, SEEDS = 2, STEPS = 6 };
enum { SECTOR = 512, IMAGES_EACH = 2 };

/* A write, or where data is NULL the new length. */
struct change {
	sqlite3_int64 at;
	int length;
	unsigned char *data;
};

struct disk {
	unsigned char *bytes; /* what is certainly there */
	size_t size, room;
	struct change *changes; /* since the last sync */
	size_t count;
};

static struct {
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	sqlite3_io_methods methods[FILES], under[FILES];
	const sqlite3_file *files[FILES];
	struct disk disks[FILES];
	bool looks;	   /* at each change */
	unsigned fails_in; /* which write, cut or sync from now on fails; 0: none */
	struct folder folder;
	unsigned images;
	char *wanted[WANTED]; /* the states that are right */
	char *kept[WANTED];   /* and were, when one image was kept */
	uint64_t era;
	unsigned seed;
} power;

static unsigned draw(unsigned below)
{
	power.seed = power.seed * 1103515245 + 12345;
	return (power.seed >> 16) % below;
}

/* ----------------------------------------------------------------- disks -- */

/* More than is asked for: under the sanitizers each change of it is a copy. */
static void make_room(struct disk *disk, size_t size)
{
	if (size <= disk->room)
		return;
	disk->room = 2 * size;
	disk->bytes = realloc(disk->bytes, disk->room);
	assert_non_null(disk->bytes);
}

static void put(struct disk *disk, sqlite3_int64 at, const unsigned char *data, size_t length)
{
	size_t end = (size_t)at + length;

	if (end > disk->size) {
		make_room(disk, end);
		memset(disk->bytes + disk->size, 0, end - disk->size);
		disk->size = end;
	}
	memcpy(disk->bytes + at, data, length);
}

static void resize(struct disk *disk, size_t size)
{
	static const unsigned char nothing;

	if (size < disk->size)
		disk->size = size;
	else if (size)
		put(disk, (sqlite3_int64)size - 1, &nothing, size > disk->size);
}

/* often: of eight sectors this many get there. */
static void apply(struct disk *disk, const struct change *change, unsigned often)
{
	int from, to;

	if (!change->data) {
		if (draw(8) < often)
			resize(disk, (size_t)change->at);
		return;
	}
	for (from = 0; from < change->length; from = to) {
		to = from + SECTOR - (int)((change->at + from) % SECTOR);
		if (to > change->length)
			to = change->length;
		if (draw(8) < often)
			put(disk, change->at + from, change->data + from, (size_t)(to - from));
	}
}

static void note(int which, sqlite3_int64 at, const void *data, int length)
{
	struct disk *disk = &power.disks[which];
	struct change change = { .at = at, .length = length };

	if (data) {
		change.data = malloc((size_t)length);
		assert_non_null(change.data);
		memcpy(change.data, data, (size_t)length);
	}
	disk->changes = realloc(disk->changes, (disk->count + 1) * sizeof change);
	assert_non_null(disk->changes);
	disk->changes[disk->count++] = change;
}

static void forget_changes(struct disk *disk, bool apply_them)
{
	size_t i;

	for (i = 0; i < disk->count; i++) {
		if (apply_them)
			apply(disk, &disk->changes[i], 8);
		free(disk->changes[i].data);
	}
	free(disk->changes);
	disk->changes = NULL;
	disk->count = 0;
}

static const char *const names[FILES] = { "db", "db-recent", "db-journal" };

static void path_of(int which, const char *prefix, char to[400])
{
	snprintf(to, 400, "%s/%s%s", power.folder.path, prefix, names[which]);
}

/* What the disk may hold after a power cut; kept: it is what it holds. */
static void write_image(const char *prefix, bool kept)
{
	const unsigned often = (unsigned[]){ 0, 4, 7, 8 }[draw(4)];
	struct disk image;
	char path[400];
	FILE *file;
	size_t i;
	int which;

	for (which = 0; which < FILES; which++) {
		image = (struct disk){ 0 };
		if (power.disks[which].size)
			put(&image, 0, power.disks[which].bytes, power.disks[which].size);
		for (i = 0; i < power.disks[which].count; i++)
			apply(&image, &power.disks[which].changes[i], often);
		path_of(which, prefix, path);
		remove(path);
		file = fopen(path, "w");
		assert_non_null(file);
		if (image.size)
			assert_int_equal(fwrite(image.bytes, 1, image.size, file), image.size);
		fclose(file);
		if (kept) {
			forget_changes(&power.disks[which], false);
			free(power.disks[which].bytes);
			power.disks[which] = image;
		} else {
			free(image.bytes);
		}
	}
}

/* ------------------------------------------------------------------ looks -- */

static sqlite3 *open_index(struct rg_index_vfs *vfs, const char *prefix, uint64_t era,
			   char recent[400])
{
	sqlite3 *db = NULL;
	char path[400];

	path_of(DATABASE, prefix, path);
	path_of(RECENT, prefix, recent);
	*vfs = (struct rg_index_vfs){ 0 };
	vfs->recent = recent;
	vfs->era = era;
	assert_int_equal(rg_index_vfs_open(vfs, path, SQLITE_OPEN_READWRITE, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = OFF;"
				      "PRAGMA cache_size = 20",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	return db;
}

static char *contents(sqlite3 *db)
{
	static const char sql[] =
		"SELECT (SELECT group_concat(integrity_check) FROM pragma_integrity_check) || "
		"count(*) || ' ' || coalesce(sum(n), 0) || ' ' || coalesce(sum(n * length(text)), "
		"0)"
		" || coalesce(max(text), '') FROM t";
	sqlite3_stmt *get = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &get, NULL) == SQLITE_OK &&
	    sqlite3_step(get) == SQLITE_ROW)
		text = sqlite3_mprintf("%s", sqlite3_column_text(get, 0));
	sqlite3_finalize(get);
	return text ? text : sqlite3_mprintf("damaged: %s", sqlite3_errmsg(db));
}

static void look(const char *prefix, uint64_t era)
{
	struct rg_index_vfs vfs;
	char recent[400], *found;
	sqlite3 *db;
	int i = 0;

	db = open_index(&vfs, prefix, era, recent);
	found = contents(db);
	sqlite3_close(db);
	while (i < WANTED && (!power.wanted[i] || strcmp(found, power.wanted[i]) != 0))
		i++;
	if (i == WANTED)
		fail_msg("image %u: '%.100s' in place of '%.100s'", power.images, found,
			 power.wanted[0]);
	sqlite3_free(found);
	power.images++;
}

static void take(char **to, char *text)
{
	sqlite3_free(*to);
	*to = text;
}

static void look_at_images(void)
{
	int i;

	if (!power.looks)
		return;
	power.looks = false;
	for (i = 0; i < IMAGES_EACH; i++) {
		write_image("image-", false);
		look("image-", power.era + 1000);
	}
	if (draw(24) == 0) {
		write_image("kept-", false);
		for (i = 0; i < WANTED; i++)
			take(&power.kept[i],
			     power.wanted[i] ? sqlite3_mprintf("%s", power.wanted[i]) : NULL);
	}
	power.looks = true;
}

static int which_of(const sqlite3_file *file)
{
	int which = 0;

	while (power.files[which] != file)
		which++;
	return which;
}

static bool fails(void)
{
	return power.fails_in && !--power.fails_in;
}

static int write_seen(sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
	int which = which_of(file);

	if (fails())
		return SQLITE_FULL;
	note(which, at, data, length);
	look_at_images();
	return power.under[which].xWrite(file, data, length, at);
}

static int truncate_seen(sqlite3_file *file, sqlite3_int64 size)
{
	int which = which_of(file);

	if (fails())
		return SQLITE_IOERR;
	note(which, size, NULL, 0);
	look_at_images();
	return power.under[which].xTruncate(file, size);
}

static int sync_seen(sqlite3_file *file, int flags)
{
	int which = which_of(file);

	(void)flags;
	if (fails())
		return SQLITE_IOERR;
	look_at_images();
	forget_changes(&power.disks[which], true);
	look_at_images();
	return SQLITE_OK;
}

static int open_seen(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags,
		     int *ret_flags)
{
	const char *slash = name ? strrchr(name, '/') : NULL;
	int r = power.real->xOpen(power.real, name, file, flags, ret_flags), which;

	(void)vfs;
	if (r != SQLITE_OK || !slash)
		return r;
	for (which = 0; which < FILES; which++) {
		if (strcmp(slash + 1, names[which]) != 0)
			continue;
		power.files[which] = file;
		power.under[which] = power.methods[which] = *file->pMethods;
		power.methods[which].xWrite = write_seen;
		power.methods[which].xTruncate = truncate_seen;
		power.methods[which].xSync = sync_seen;
		file->pMethods = &power.methods[which];
	}
	return r;
}

/* ------------------------------------------------------------------- acts -- */

static const char *const acts[] = {
	"INSERT INTO t SELECT max(n) + 1 + value, hex(randomblob(20)) FROM t,"
	" (SELECT 1 AS value UNION SELECT 2 UNION SELECT 3) GROUP BY value",
	"UPDATE t SET text = hex(randomblob(100)) WHERE n % 7 = 3",
	"DELETE FROM t WHERE n % 5 = 1 AND n > 100",
	"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 90)"
	" INSERT INTO t SELECT 1000 + (SELECT max(n) FROM t) + i, hex(zeroblob(200)) FROM c",
	"BEGIN; DELETE FROM t; ROLLBACK",
	"DELETE FROM t WHERE n > 40",
};

static int try_checkpoint(struct rg_index_vfs *vfs, sqlite3 *db)
{
	int r;

	assert_int_equal(sqlite3_exec(db, "BEGIN; SELECT count(*) FROM t", NULL, NULL, NULL),
			 SQLITE_OK);
	r = rg_index_pages_checkpoint(&vfs->pages);
	assert_int_equal(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	return r;
}

static void act(sqlite3 *db)
{
	if (sqlite3_exec(db, acts[draw(sizeof acts / sizeof *acts)], NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("act: %s", sqlite3_errmsg(db));
}

/* Several attempts fail before one succeeds; after some, another process continues. */
static void checkpoint(struct rg_index_vfs *vfs, sqlite3 **db, char recent[400])
{
	int r = SQLITE_IOERR;
	unsigned i;

	take(&power.wanted[1], contents(*db));
	/* What was just built is not on disk before the first one. */
	power.looks = power.wanted[0] != NULL;
	for (i = 1; power.looks && i < 40 && r != SQLITE_OK; i += 1 + draw(6)) {
		power.fails_in = i;
		r = try_checkpoint(vfs, *db);
		power.fails_in = 0;
		if (r != SQLITE_OK && draw(2)) {
			sqlite3_close(*db);
			*db = open_index(vfs, "", power.era, recent);
		}
		if (r == SQLITE_OK || power.wanted[2] || draw(2))
			continue;
		act(*db);
		power.wanted[2] = power.wanted[0];
		power.wanted[0] = power.wanted[1];
		power.wanted[1] = contents(*db);
	}
	assert_int_equal(try_checkpoint(vfs, *db), SQLITE_OK);
	take(&power.wanted[0], power.wanted[1]);
	power.wanted[1] = NULL;
	take(&power.wanted[2], NULL);
	power.looks = true;
	look_at_images();
	power.looks = false;
}

/* Built without a second file, as a rebuild does. */
static void build(void)
{
	struct rg_index_vfs vfs;
	sqlite3 *db = NULL;
	char path[400];
	FILE *file;

	path_of(DATABASE, "", path);
	vfs = (struct rg_index_vfs){ 0 };
	vfs.era = power.era;
	assert_int_equal(
		rg_index_vfs_open(&vfs, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &db),
		SQLITE_OK);
	assert_int_equal(sqlite3_exec(db,
				      "PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = OFF;"
				      "CREATE TABLE t(n INTEGER PRIMARY KEY, text TEXT);"
				      "CREATE INDEX texts ON t(text)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, acts[3], NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	path_of(RECENT, "", path);
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
}

/* Changes and checkpoints, with a look at what a power cut would leave at each write and sync; and
 * then it comes, at any of them, and the next boot goes on. */
static void one_boot(void)
{
	struct rg_index_vfs vfs;
	char recent[400];
	sqlite3 *db = open_index(&vfs, "", power.era, recent);
	unsigned i;

	if (!power.wanted[0])
		checkpoint(&vfs, &db, recent);
	for (i = 0; i < STEPS; i++) {
		power.looks = draw(2);
		act(db);
		power.looks = false;
		if (draw(3) == 0)
			checkpoint(&vfs, &db, recent);
	}
	sqlite3_close(db);
}

/* The power was cut when an image was kept. */
static void go_back(void)
{
	char from[400], to[400];
	struct disk *disk;
	struct stat facts;
	FILE *file;
	int which;

	for (which = 0; which < FILES; which++) {
		path_of(which, "kept-", from);
		path_of(which, "", to);
		assert_int_equal(rename(from, to), 0);
		assert_int_equal(stat(to, &facts), 0);
		disk = &power.disks[which];
		forget_changes(disk, false);
		disk->size = (size_t)facts.st_size;
		make_room(disk, disk->size + 1);
		file = fopen(to, "r");
		assert_non_null(file);
		assert_int_equal(fread(disk->bytes, 1, disk->size, file), disk->size);
		fclose(file);
	}
	for (which = 0; which < WANTED; which++) {
		take(&power.wanted[which], power.kept[which]);
		power.kept[which] = NULL;
	}
}

/* Where it was cut is where the next boot begins: what it finds there is its first state. */
static void cut_power(void)
{
	struct rg_index_vfs vfs;
	char recent[400];
	sqlite3 *db;

	if (power.kept[0])
		go_back();
	else
		write_image("", true);
	power.era++;
	look("", power.era);
	db = open_index(&vfs, "", power.era, recent);
	take(&power.wanted[0], contents(db));
	take(&power.wanted[1], NULL);
	take(&power.wanted[2], NULL);
	sqlite3_close(db);
}

static void a_power_cut_leaves_a_checkpoint(void **state)
{
	unsigned seed;
	int round, which;

	(void)state;
	for (seed = 1; seed <= SEEDS; seed++) {
		folder_make(&power.folder);
		power.seed = seed;
		power.era = 1;
		build();
		for (round = 0; round < ROUNDS; round++) {
			one_boot();
			cut_power();
		}
		for (which = 0; which < FILES; which++) {
			forget_changes(&power.disks[which], false);
			free(power.disks[which].bytes);
			power.disks[which] = (struct disk){ 0 };
		}
		take(&power.wanted[0], NULL);
		for (which = 0; which < WANTED; which++)
			take(&power.kept[which], NULL);
		folder_remove(&power.folder);
	}
	assert_true(power.images > 100 * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(a_power_cut_leaves_a_checkpoint) };

	power.real = sqlite3_vfs_find("unix");
	power.vfs = *power.real;
	power.vfs.zName = "unix";
	power.vfs.xOpen = open_seen;
	assert_int_equal(sqlite3_vfs_register(&power.vfs, 1), SQLITE_OK);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
