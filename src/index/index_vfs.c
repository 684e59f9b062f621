#include "index/index_vfs.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------- the database -- */

static struct rg_index_vfs *vfs_of_database(sqlite3_file *file)
{
	return (struct rg_index_vfs *)((uintptr_t)file->pMethods -
				       offsetof(struct rg_index_vfs, database));
}

/* In the first page; while these bytes are the same, SQLite's cache is valid. */
enum { VERSION_AT = 24, VERSION_BYTES = 16 };

/* Only whole pages. */
static int write_database(sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	uint64_t number = (uint64_t)at / RG_PAGE_BYTES;

	if (length != RG_PAGE_BYTES || at % RG_PAGE_BYTES)
		return SQLITE_IOERR_WRITE;
	if (at == 0)
		memcpy(vfs->version, (const char *)data + VERSION_AT, VERSION_BYTES);
	return vfs->restoring ? rg_index_pages_restore(&vfs->pages, number, data)
			      : rg_index_pages_write(&vfs->pages, number, data);
}

/* SQLite compares these bytes with its cache's.  Two files may agree in them and differ in the
 * rest; then it reads a value that never matches. */
static int read_version(const struct rg_index_vfs *vfs, unsigned char *to)
{
	int i;

	for (i = 0; i < VERSION_BYTES; i++)
		to[i] = vfs->cached == vfs->pages.sum ? vfs->version[i] : ~vfs->version[i];
	return SQLITE_OK;
}

/* Part of a page: read the whole page. */
static int read_part(struct rg_index_vfs *vfs, void *to, int length, sqlite3_int64 at)
{
	unsigned char page[RG_PAGE_BYTES];
	sqlite3_int64 skip = at % RG_PAGE_BYTES;
	int r;

	if (skip + length > RG_PAGE_BYTES)
		return SQLITE_IOERR_READ;
	r = rg_index_pages_read(&vfs->pages, (uint64_t)at / RG_PAGE_BYTES, page);
	if (r == SQLITE_OK)
		memcpy(to, page + skip, (size_t)length);
	return r;
}

static int read_database(sqlite3_file *file, void *to, int length, sqlite3_int64 at)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	int r;

	if ((uint64_t)at / RG_PAGE_BYTES >= vfs->pages.count) {
		memset(to, 0, (size_t)length);
		return SQLITE_IOERR_SHORT_READ;
	}
	if (at == VERSION_AT && length == VERSION_BYTES)
		return read_version(vfs, to);
	if (length != RG_PAGE_BYTES || at % RG_PAGE_BYTES)
		return read_part(vfs, to, length, at);
	r = rg_index_pages_read(&vfs->pages, (uint64_t)at / RG_PAGE_BYTES, to);
	if (r == SQLITE_OK && at == 0) {
		memcpy(vfs->version, (const char *)to + VERSION_AT, VERSION_BYTES);
		vfs->cached = vfs->pages.sum;
	}
	return r;
}

static int size_database(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	*ret_size = (sqlite3_int64)vfs_of_database(file)->pages.count * RG_PAGE_BYTES;
	return SQLITE_OK;
}

static int truncate_database(sqlite3_file *file, sqlite3_int64 size)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	uint64_t count = (uint64_t)size / RG_PAGE_BYTES;

	if (!vfs->restoring)
		return rg_index_pages_cut(&vfs->pages, count);
	return count == vfs->pages.count ? SQLITE_OK : SQLITE_CORRUPT;
}

/* Reads under the lock use the root as it is now. */
static int lock_database(sqlite3_file *file, int level)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	int r = vfs->usual_database->xLock(file, level);

	if (r != SQLITE_OK)
		return r;
	if (level == SQLITE_LOCK_SHARED) {
		r = rg_index_pages_begin(&vfs->pages);
		if (r != SQLITE_OK)
			(void)vfs->usual_database->xUnlock(file, SQLITE_LOCK_NONE);
	}
	/* Only a rollback for another process takes the exclusive lock without the reserved one. */
	vfs->reserved |= level == SQLITE_LOCK_RESERVED;
	vfs->restoring = level == SQLITE_LOCK_EXCLUSIVE && !vfs->reserved;
	return r;
}

static int unlock_database(sqlite3_file *file, int level)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);

	vfs->reserved = vfs->restoring = false;
	if (vfs->pages.changed)
		rg_index_pages_forget(&vfs->pages);
	return vfs->usual_database->xUnlock(file, level);
}

/* SQLite calls this after the last page of a transaction, whether or not it syncs. */
static int control_database(sqlite3_file *file, int what, void *value)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	int r;

	if (what == SQLITE_FCNTL_SIZE_HINT)
		return SQLITE_OK;
	if (what != SQLITE_FCNTL_SYNC)
		return vfs->usual_database->xFileControl(file, what, value);
	r = rg_index_pages_end(&vfs->pages);
	if (r == SQLITE_OK)
		vfs->cached = vfs->pages.sum;
	return r;
}

static int close_database(sqlite3_file *file)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);

	if (vfs->pages.recent)
		(void)vfs->usual_database->xClose(vfs->pages.recent);
	free(vfs->pages.recent);
	rg_index_pages_deinit(&vfs->pages);
	return vfs->usual_database->xClose(file);
}

static int open_recent(struct rg_index_vfs *vfs)
{
	sqlite3_file *file = calloc(1, (size_t)vfs->usual->szOsFile);
	int r;

	if (!file)
		return SQLITE_NOMEM;
	r = vfs->usual->xOpen(vfs->usual, vfs->recent, file,
			      SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READWRITE, NULL);
	if (r == SQLITE_OK)
		vfs->pages.recent = file;
	else
		free(file);
	return r;
}

static void hook_database(struct rg_index_vfs *vfs, sqlite3_file *file)
{
	vfs->usual_database = file->pMethods;
	vfs->database = *file->pMethods;
	vfs->database.iVersion = 1; /* no write-ahead log, never memory-mapped */
	vfs->database.xRead = read_database;
	vfs->database.xWrite = write_database;
	vfs->database.xTruncate = truncate_database;
	vfs->database.xFileSize = size_database;
	vfs->database.xLock = lock_database;
	vfs->database.xUnlock = unlock_database;
	vfs->database.xFileControl = control_database;
	vfs->database.xClose = close_database;
	file->pMethods = &vfs->database;
	rg_index_pages_init(&vfs->pages);
	vfs->pages.file = file;
	vfs->pages.methods = vfs->usual_database;
	vfs->pages.era = vfs->era;
}

/* ------------------------------------------------------------ the whole -- */

static struct rg_index_vfs *vfs_of(sqlite3_vfs *base)
{
	return (struct rg_index_vfs *)((uintptr_t)base - offsetof(struct rg_index_vfs, base));
}

static int open_file(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags,
		     int *ret_flags)
{
	struct rg_index_vfs *vfs = vfs_of(base);
	int r = vfs->usual->xOpen(vfs->usual, name, file, flags, ret_flags);

	if (r != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
		return r;
	hook_database(vfs, file);
	r = vfs->recent ? open_recent(vfs) : SQLITE_OK;
	if (r != SQLITE_OK) {
		(void)file->pMethods->xClose(file);
		file->pMethods = NULL;
	}
	return r;
}

/* The default VFS may belong to the host program: it must be passed itself. */
static int delete_file(sqlite3_vfs *base, const char *name, int sync_folder)
{
	sqlite3_vfs *usual = vfs_of(base)->usual;

	return usual->xDelete(usual, name, sync_folder);
}

static int access_file(sqlite3_vfs *base, const char *name, int flags, int *ret)
{
	const struct rg_index_pages *pages = &vfs_of(base)->pages;
	sqlite3_vfs *usual = vfs_of(base)->usual;
	size_t length = strlen(name);

	/* There is no write-ahead log, whatever has that name; and no rollback journal for what is
	 * as a checkpoint left it, or leaves it now. */
	*ret = 0;
	if (length > 4 && strcmp(name + length - 4, "-wal") == 0)
		return SQLITE_OK;
	if (pages->recent && (!pages->in_recent || pages->sealed))
		return SQLITE_OK;
	return usual->xAccess(usual, name, flags, ret);
}

static int full_path(sqlite3_vfs *base, const char *name, int bytes, char *to)
{
	sqlite3_vfs *usual = vfs_of(base)->usual;

	return usual->xFullPathname(usual, name, bytes, to);
}

static int randomness(sqlite3_vfs *base, int bytes, char *to)
{
	sqlite3_vfs *usual = vfs_of(base)->usual;

	return usual->xRandomness(usual, bytes, to);
}

static int sleep_us(sqlite3_vfs *base, int us)
{
	sqlite3_vfs *usual = vfs_of(base)->usual;

	return usual->xSleep(usual, us);
}

static int current_time(sqlite3_vfs *base, double *ret_days)
{
	sqlite3_vfs *usual = vfs_of(base)->usual;

	return usual->xCurrentTime(usual, ret_days);
}

static int last_error(sqlite3_vfs *base, int bytes, char *to)
{
	sqlite3_vfs *usual = vfs_of(base)->usual;

	return usual->xGetLastError(usual, bytes, to);
}

/* SQLite's cache stays right: only the root changes. */
int rg_index_vfs_checkpoint(struct rg_index_vfs *vfs)
{
	bool right = vfs->cached == vfs->pages.sum;
	int r = rg_index_pages_checkpoint(&vfs->pages);

	if (right)
		vfs->cached = vfs->pages.sum;
	return r;
}

/* Registered only during the open: the list of VFSs belongs to the whole program. */
int rg_index_vfs_open(struct rg_index_vfs *vfs, const char *path, int flags, sqlite3 **ret_db)
{
	int r;

	vfs->usual = sqlite3_vfs_find(NULL);
	if (!vfs->usual)
		return SQLITE_ERROR;
	snprintf(vfs->name, sizeof vfs->name, "roger-%p", (void *)vfs);
	vfs->cached = 0;
	vfs->reserved = vfs->restoring = false;
	vfs->base = (sqlite3_vfs){ .iVersion = 1,
				   .szOsFile = vfs->usual->szOsFile,
				   .mxPathname = vfs->usual->mxPathname,
				   .zName = vfs->name,
				   .xOpen = open_file,
				   .xDelete = delete_file,
				   .xAccess = access_file,
				   .xFullPathname = full_path,
				   .xRandomness = randomness,
				   .xSleep = sleep_us,
				   .xCurrentTime = current_time,
				   .xGetLastError = last_error };
	r = sqlite3_vfs_register(&vfs->base, 0);
	if (r == SQLITE_OK)
		r = sqlite3_open_v2(path, ret_db, flags, vfs->name);
	sqlite3_vfs_unregister(&vfs->base);
	return r;
}
