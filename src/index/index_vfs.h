/*
 * index_vfs - how SQLite reads and writes the index: pages with sums, and the
 * rollback journal in one piece.
 *
 * Every page goes through index_pages: what is not as it was written is
 * SQLITE_CORRUPT, before SQLite sees it.
 *
 * SQLite writes three pieces for each page that a transaction changes, before
 * it changes the file.  Here they are collected, and written before the first
 * byte of the file changes.  So the file on disk is always as it was, or its
 * whole rollback journal is there.  Whoever finds one that was left behind
 * rolls back, but only to pages that the sums know: nothing else comes in that
 * way.  Killed while the sums are written, the file is damaged, and made anew.
 *
 * Nothing is synced (synchronous=OFF).  All else is done by SQLite's default
 * way of reaching files.  One connection at a time, and one database: no
 * ATTACH, no VACUUM, no write-ahead log.
 */
#ifndef RG_INDEX_VFS_H
#define RG_INDEX_VFS_H

#include <sqlite3.h>

#include "base/str.h"
#include "index/index_pages.h"

struct rg_index_vfs {
	sqlite3_vfs base;
	sqlite3_vfs *usual; /* SQLite's default, which does the work */
	char name[32];
	const sqlite3_io_methods *usual_database, *usual_rollback;
	sqlite3_io_methods database, rollback; /* the same, but for what is changed here */
	sqlite3_file *rollback_file;	       /* NULL: not open */
	struct rg_buf pending;		       /* not yet written to it, */
	sqlite3_int64 pending_at;	       /* and where it belongs */
	struct rg_index_pages pages;
	uint64_t cached;	   /* the sum of the root that SQLite's cache goes with, */
	unsigned char version[16]; /* and by which bytes of the first page it knows it */
	bool reserved;		   /* this connection writes, */
	bool restoring;		   /* or rolls back what another one left */
};

void rg_index_vfs_init(struct rg_index_vfs *vfs);
void rg_index_vfs_deinit(struct rg_index_vfs *vfs);

/* sqlite3_open_v2() by way of it, which must live until the connection is closed. */
int rg_index_vfs_open(struct rg_index_vfs *vfs, const char *path, int flags, sqlite3 **ret_db);

#endif
