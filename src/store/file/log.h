/*
 * log - any journal but messages: a file that lines are only added to.
 *
 * facts/log_kinds.h lists the kinds.  A writer holds RG_LOCK_RECORDS (RG_LOCK_CHANGE
 * for archives and cleanups); the chain continues from the last line that has one.
 * A torn last line is closed off with a newline.  Readers take whole lines and
 * need no lock.
 */
#ifndef RG_LOG_H
#define RG_LOG_H

#include "host/workspace.h"
#include "store/chain.h"

/* A file that was appended to, kept open for the next append.  Starts with file = RG_NO_FILE. */
struct rg_open_log {
	char name[RG_FILE_NAME_BYTES];
	uint64_t device, inode;
	int file;
	bool made;	     /* the last append made the file */
	uint64_t end, chain; /* after the last append; end 0: not known */
};
void rg_log_close(struct rg_open_log *log);

/*
 * Append entries (JSON objects, a newline after each) to a file, creating it if missing.  chained:
 * add chains; durable: sync.  A torn last line is closed off even if entries is empty.  After an
 * error some whole lines may be in the file.  If the name belongs to another file than before,
 * that is opened.
 */
RG_CHECKED int rg_log_append(struct rg_open_log *log, int folder, const char *name, bool chained,
			     struct roger_str entries, bool durable, struct roger_err *err);

/* Replace a file by one without the lines that drop selects: new chain, synced.  All other lines
 * stay, even those that are not entries. */
RG_CHECKED int rg_log_purge(int folder, const char *name,
			    bool (*drop)(void *context, struct roger_str line), void *context,
			    int64_t *ret_dropped, struct roger_err *err);

#endif
