#include "index/index_vfs.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* --------------------------------------------------------- the database -- */

static struct rg_index_vfs *vfs_of_database(sqlite3_file *file)
{
	return (struct rg_index_vfs *)((uintptr_t)file->pMethods -
				       offsetof(struct rg_index_vfs, database));
}

/* Bytes of the first page; while they are the same, SQLite's cache is valid. */
enum { VERSION_AT = 24, VERSION_BYTES = 16 };

/* SQLite may write only whole pages. */
static int write_database(sqlite3_file *file, const void *data, int length, sqlite3_int64 at)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);

	if (length != RG_PAGE_BYTES || at % RG_PAGE_BYTES)
		return SQLITE_IOERR_WRITE;
	if (at == 0)
		memcpy(vfs->version, (const char *)data + VERSION_AT, VERSION_BYTES);
	return rg_index_pages_write(&vfs->pages, (uint64_t)at / RG_PAGE_BYTES, data);
}

/* For a part of a page the whole page is read.  SQLite compares the version with its cache's.  Two
 * files may agree in it and differ in the rest; then it gets a value that never matches. */
static int read_database(sqlite3_file *file, void *to, int length, sqlite3_int64 at)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	const uint64_t number = (uint64_t)at / RG_PAGE_BYTES;
	const sqlite3_int64 skip = at % RG_PAGE_BYTES;
	unsigned char page[RG_PAGE_BYTES];
	int r;

	if (number >= vfs->pages.count) {
		memset(to, 0, (size_t)length);
		return SQLITE_IOERR_SHORT_READ;
	}
	if (at == VERSION_AT && length == VERSION_BYTES) {
		memcpy(to, vfs->version, VERSION_BYTES);
		if (vfs->pages.renewed)
			*(unsigned char *)to ^= 0xff;
		return SQLITE_OK;
	}
	if (skip + length > RG_PAGE_BYTES)
		return SQLITE_IOERR_READ;
	r = rg_index_pages_read(&vfs->pages, number, length == RG_PAGE_BYTES ? to : page);
	if (r != SQLITE_OK)
		return r;
	if (length != RG_PAGE_BYTES) {
		memcpy(to, page + skip, (size_t)length);
	} else if (at == 0) {
		memcpy(vfs->version, (const char *)to + VERSION_AT, VERSION_BYTES);
		vfs->pages.renewed = false;
	}
	return SQLITE_OK;
}

static int size_database(sqlite3_file *file, sqlite3_int64 *ret_size)
{
	*ret_size = (sqlite3_int64)vfs_of_database(file)->pages.count * RG_PAGE_BYTES;
	return SQLITE_OK;
}

static int truncate_database(sqlite3_file *file, sqlite3_int64 size)
{
	return rg_index_pages_cut(&vfs_of_database(file)->pages, (uint64_t)size / RG_PAGE_BYTES);
}

/* Reads under the lock use the root as it is now.  Only a rollback for another process takes the
 * exclusive lock without the reserved one. */
static int lock_database(sqlite3_file *file, int level)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	int r = vfs->usual_database->xLock(file, level);

	if (r != SQLITE_OK)
		return r;
	if (level == SQLITE_LOCK_RESERVED)
		return rg_index_pages_begin_writing(&vfs->pages);
	if (level != SQLITE_LOCK_SHARED)
		return SQLITE_OK;
	r = rg_index_pages_begin(&vfs->pages);
	if (r != SQLITE_OK)
		(void)vfs->usual_database->xUnlock(file, SQLITE_LOCK_NONE);
	return r;
}

static int unlock_database(sqlite3_file *file, int level)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);

	vfs->pages.writing = false;
	if (vfs->pages.changed)
		rg_index_pages_forget(&vfs->pages);
	return vfs->usual_database->xUnlock(file, level);
}

/* SQLite calls this after the last page of a transaction, whether or not it syncs. */
static int control_database(sqlite3_file *file, int what, void *value)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);

	if (what == SQLITE_FCNTL_SYNC)
		return rg_index_pages_end(&vfs->pages);
	return what == SQLITE_FCNTL_SIZE_HINT
		       ? SQLITE_OK
		       : vfs->usual_database->xFileControl(file, what, value);
}

static int close_database(sqlite3_file *file)
{
	struct rg_index_vfs *vfs = vfs_of_database(file);
	sqlite3_file *recent = vfs->pages.files[RG_PAGES_RECENT];

	if (recent != file)
		(void)recent->pMethods->xClose(recent);
	rg_index_pages_deinit(&vfs->pages);
	return vfs->usual_database->xClose(file);
}

static void hook_database(struct rg_index_vfs *vfs, sqlite3_file *file, sqlite3_file *recent)
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
	vfs->pages.methods = vfs->usual_database;
	vfs->pages.files[RG_PAGES_FILE] = file;
	vfs->pages.files[RG_PAGES_RECENT] = recent;
	vfs->pages.root = vfs->pages.roots;
	vfs->pages.era = vfs->era;
}

/* ------------------------------------------------------------ the whole -- */

static int open_file(sqlite3_vfs *base, const char *name, sqlite3_file *file, int flags,
		     int *ret_flags)
{
	struct rg_index_vfs *vfs = (struct rg_index_vfs *)base;
	sqlite3_file *recent = file;
	int r = vfs->usual->xOpen(base, name, file, flags, ret_flags);

	if (r != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
		return r;
	/* Behind `file` there is room for the recent one. */
	if (vfs->recent) {
		recent = (void *)((char *)file + vfs->usual->szOsFile);
		r = vfs->usual->xOpen(base, vfs->recent, recent,
				      SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_READWRITE, NULL);
	}
	if (r == SQLITE_OK) {
		hook_database(vfs, file, recent);
		return SQLITE_OK;
	}
	(void)file->pMethods->xClose(file);
	file->pMethods = NULL;
	return r;
}

/* Say that there is no write-ahead log, whatever has that name; and no rollback journal of pages
 * that a checkpoint has copied, or is copying now. */
static int access_file(sqlite3_vfs *base, const char *name, int flags, int *ret)
{
	struct rg_index_vfs *vfs = (struct rg_index_vfs *)base;
	const struct rg_index_pages *pages = &vfs->pages;
	const size_t length = strlen(name);

	*ret = 0;
	if (length > 4 && strcmp(name + length - 4, "-wal") == 0)
		return SQLITE_OK;
	if (vfs->recent && (pages->root != &pages->roots[RG_PAGES_RECENT] || pages->root->sealed))
		return SQLITE_OK;
	return vfs->usual->xAccess(base, name, flags, ret);
}

/* Keep the path as it is: its folder is open already, and SQLite would look at each folder on the
 * way there, and refuse more than 512 bytes of them. */
static int keep_path(sqlite3_vfs *base, const char *path, int size, char *to)
{
	(void)base;
	return snprintf(to, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

/* The VFS is registered only during the open: the list of VFSs belongs to the whole program. */
static int open_registered(struct rg_path_vfs *vfs, const char *path, int flags, sqlite3 **ret_db)
{
	int r;

	snprintf(vfs->name, sizeof vfs->name, "roger-%p", (void *)vfs);
	vfs->base.zName = vfs->name;
	vfs->base.xFullPathname = keep_path;
	r = sqlite3_vfs_register(&vfs->base, 0);
	if (r == SQLITE_OK)
		r = sqlite3_open_v2(path, ret_db, flags, vfs->name);
	sqlite3_vfs_unregister(&vfs->base);
	return r;
}

int rg_path_vfs_open(struct rg_path_vfs *vfs, const char *path, int flags, sqlite3 **ret_db)
{
	const sqlite3_vfs *usual = sqlite3_vfs_find("unix");

	if (!usual)
		return SQLITE_ERROR;
	vfs->base = *usual;
	return open_registered(vfs, path, flags, ret_db);
}

int rg_index_vfs_open(struct rg_index_vfs *vfs, const char *path, int flags, sqlite3 **ret_db)
{
	vfs->usual = sqlite3_vfs_find("unix");
	if (!vfs->usual)
		return SQLITE_ERROR;
	vfs->path.base = *vfs->usual;
	vfs->path.base.szOsFile *= 2;
	vfs->path.base.xOpen = open_file;
	vfs->path.base.xAccess = access_file;
	return open_registered(&vfs->path, path, flags, ret_db);
}
