/*
 * index_vfs - how SQLite reads and writes the index: pages with checksums, and a
 * rollback journal written in one piece.
 *
 * Every page goes through index_pages: a wrong checksum is SQLITE_CORRUPT before
 * SQLite sees the page.
 *
 * For each page that a transaction changes, SQLite writes three pieces of rollback
 * journal before it changes the file.  They are collected here and written before
 * the first byte of the file changes.  So either the file on disk is unchanged, or
 * its whole rollback journal is there.  A process that finds one left behind rolls
 * back, but only to pages that match their checksums.  If a writer is killed while
 * it writes checksums, the file is damaged and rebuilt.
 *
 * Only checkpoints sync (synchronous=OFF); everything else is left to SQLite's default
 * VFS.  One connection at a time and one database: no ATTACH, no VACUUM, no
 * write-ahead log.
 */
#ifndef RG_INDEX_VFS_H
#define RG_INDEX_VFS_H

#include <sqlite3.h>

#include "base/str.h"
#include "index/index_pages.h"

struct rg_index_vfs {
	sqlite3_vfs base;
	sqlite3_vfs *usual; /* SQLite's default VFS, which does the work */
	char name[32];
	const sqlite3_io_methods *usual_database, *usual_rollback;
	sqlite3_io_methods database, rollback; /* copies with the changed functions */
	sqlite3_file *rollback_file;	       /* NULL: not open */
	struct rg_buf pending;		       /* not written to it yet */
	sqlite3_int64 pending_at;	       /* offset of pending in it */
	struct rg_index_pages pages;
	const char *recent; /* path of the file of recent pages, which is there, with two NULs as
			     * SQLite wants it; NULL: none */
	uint64_t era;	    /* of the boot; 0: any */
	uint64_t cached;    /* checksum of the root that SQLite's cache belongs to */
	unsigned char version[16]; /* bytes of the first page that identify it to SQLite */
	bool reserved;		   /* this connection writes */
	bool restoring;		   /* or rolls back for another process */
};

void rg_index_vfs_init(struct rg_index_vfs *vfs);
void rg_index_vfs_deinit(struct rg_index_vfs *vfs);

/* Make what was committed durable.  Needs a transaction, and a lock that keeps others from writing.
 */
int rg_index_vfs_checkpoint(struct rg_index_vfs *vfs);

/* Like sqlite3_open_v2(); vfs must live until the connection is closed. */
int rg_index_vfs_open(struct rg_index_vfs *vfs, const char *path, int flags, sqlite3 **ret_db);

#endif
