/*
 * watch - sleeping until something changes in folders, or in a file.
 *
 * Only a hint: some file systems report nothing, so a watcher must also look from time
 * to time.
 */
#ifndef RG_WATCH_H
#define RG_WATCH_H

#include "base/err.h"

struct rg_watch;

/* ROGER_EIO: the system has no more of them; then there is only looking. */
RG_CHECKED int rg_watch_new(struct rg_watch **ret_watch, struct roger_err *err);
struct rg_watch *rg_watch_free(struct rg_watch *watch);

/* Wake when a file in the folder was written and closed, or added; false: not possible.
 */
bool rg_watch_folder(struct rg_watch *watch, int folder);

/* Wake whenever the file of that name in the folder is written to. */
bool rg_watch_file(struct rg_watch *watch, int folder, const char *name);

/* Sleep until something changed since the last time, up to wait_ms.  watch NULL: only time passes.
 */
enum rg_watch_end { RG_WATCH_CHANGE, RG_WATCH_TIME, RG_WATCH_SIGNAL };
enum rg_watch_end rg_watch_wait(struct rg_watch *watch, int64_t wait_ms);

#endif
