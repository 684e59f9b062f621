/*
 * log - any journal but messages: a file that lines are only added to.
 *
 * facts/kinds.h lists the kinds.  A writer holds RG_LOCK_RECORDS (RG_LOCK_CHANGE
 * for archives and cleanups); the chain continues from the last line that has one.
 * A torn last line is closed off with a newline.  Readers take whole lines and
 * need no lock.
 */
#ifndef RG_LOG_H
#define RG_LOG_H

#include "base/limits.h"
#include "store/lines.h"

/*
 * Append entries (JSON objects, a newline after each) to a file, creating it if missing. chained:
 * add chains; durable: sync.  A torn last line is closed off even if entries is empty. After an
 * error some whole lines may be in the file.
 */
RG_CHECKED int rg_log_append(int folder, const char *name, bool chained, struct roger_str entries,
			     bool durable, struct roger_err *err);

/* Replace a file by one without the lines that drop selects: new chain, synced.  All other lines
 * stay, even those that are not entries. */
RG_CHECKED int rg_log_purge(int folder, const char *name,
			    bool (*drop)(void *context, struct roger_str line), void *context,
			    int64_t *ret_dropped, struct roger_err *err);

#endif
