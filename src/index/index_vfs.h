/*
 * index_vfs - how SQLite reads and writes the index: pages with checksums.
 *
 * Every page goes through index_pages: a wrong checksum is SQLITE_CORRUPT before
 * SQLite sees the page.
 *
 * SQLite writes the rollback journal of a page before it changes the file.  A process
 * that finds one left behind rolls back, but only to pages that match their checksums.
 * If a writer is killed while it writes checksums, the file is damaged and rebuilt.
 *
 * Only checkpoints sync (synchronous=OFF); everything else is left to SQLite's VFS for
 * files on disk, and not to its default one, which the host program may have replaced
 * with one for files of its own.  One connection at a time and one database: no
 * ATTACH, no VACUUM, no write-ahead log.
 */
#ifndef RG_INDEX_VFS_H
#define RG_INDEX_VFS_H

#include <sqlite3.h>

#include "index/index_pages.h"

/* SQLite's own VFS, which takes any path as it is. */
struct rg_path_vfs {
	sqlite3_vfs base; /* a copy of it with the changed functions */
	char name[32];
};

struct rg_index_vfs {
	struct rg_path_vfs path;
	const sqlite3_vfs *usual; /* SQLite's own, which does the work */
	const sqlite3_io_methods *usual_database;
	sqlite3_io_methods database; /* a copy with the changed functions */
	const char *recent; /* path of the file of recent pages, which is there, with two NULs as
			     * SQLite wants it; NULL: none */
	uint64_t era;	    /* this boot; 0: any */
	unsigned char version[16]; /* bytes of the first page that identify it to SQLite */
	struct rg_index_pages pages;
};

/* Like sqlite3_open_v2(), of an index and of another database; vfs, which begins as zeros, must
 * live until the connection is closed. */
int rg_index_vfs_open(struct rg_index_vfs *vfs, const char *path, int flags, sqlite3 **ret_db);
int rg_path_vfs_open(struct rg_path_vfs *vfs, const char *path, int flags, sqlite3 **ret_db);

#endif
