/*
 * log - a small journal beside messages.jsonl: lines that are only ever added.
 *
 * facts/kinds.h lists them.  Who adds to one holds RG_LOCK_RECORDS, or of
 * archives and cleanups the change lock; the chain goes on from the last line
 * that carries one.  A torn end is closed off with a newline.  Readers take
 * whole lines and no lock.
 */
#ifndef RG_LOG_H
#define RG_LOG_H

#include "base/limits.h"
#include "store/lines.h"

/*
 * Add entries, JSON objects with a newline behind each, to the file of that
 * name, which is made when missing; chained: as roger's, else as they are;
 * durable: synced.  A torn end is closed off even with nothing to add.  On an
 * error whole lines of it may stand.
 */
RG_CHECKED int rg_log_append(int folder, const char *name, bool chained, struct roger_str entries,
			     bool durable, struct roger_err *err);

/*
 * Put a file without some of its lines in place of it, chained anew, synced.
 * Every other line stays, also one that is no entry.
 */
RG_CHECKED int rg_log_purge(int folder, const char *name,
			    bool (*drop)(void *context, struct roger_str line), void *context,
			    int64_t *ret_dropped, struct roger_err *err);

#endif
