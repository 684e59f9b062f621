/*
 * index_vfs - how SQLite writes the index: its rollback journal in one piece.
 *
 * SQLite writes three pieces for each page that a transaction changes, before
 * it changes the file.  Here they are collected, and written before the first
 * byte of the file changes.  So the file on disk is always as it was, or its
 * whole rollback journal is there: whoever is killed, any SQLite rolls back.
 * Nothing is synced (synchronous=OFF).  All else is done by SQLite's default
 * way of reaching files.  One connection at a time, and one
 * database: no ATTACH, no VACUUM.
 */
#ifndef RG_INDEX_VFS_H
#define RG_INDEX_VFS_H

#include <sqlite3.h>

#include "base/str.h"

struct rg_index_vfs {
	sqlite3_vfs base;
	sqlite3_vfs *usual; /* SQLite's default, which does the work */
	char name[32];
	const sqlite3_io_methods *usual_database, *usual_rollback;
	sqlite3_io_methods database, rollback; /* the same, but for what is changed here */
	sqlite3_file *rollback_file;	       /* NULL: not open */
	struct rg_buf pending;		       /* not yet written to it, */
	sqlite3_int64 pending_at;	       /* and where it belongs */
	bool met_wal;			       /* a write-ahead log was opened */
};

void rg_index_vfs_init(struct rg_index_vfs *vfs);
void rg_index_vfs_deinit(struct rg_index_vfs *vfs);

/* sqlite3_open_v2() by way of it, which must live until the connection is closed. */
int rg_index_vfs_open(struct rg_index_vfs *vfs, const char *path, int flags, sqlite3 **ret_db);

#endif
