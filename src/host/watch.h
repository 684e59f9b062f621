/*
 * watch - sleeping until something changes in folders, or in a file.
 *
 * Only a hint: some file systems report nothing, so a watcher must also look from time
 * to time.
 */
#ifndef RG_WATCH_H
#define RG_WATCH_H

#include "base/err.h"

/* Open a watch, which is closed as a file is; RG_NO_FILE: the system has no more of them, and
 * rg_watch_wait() only sleeps. */
int rg_watch_open(void);

/* Wake when a file in the folder was written and closed, or added; best effort. */
void rg_watch_folder(int watch, int folder);

/* Wake whenever the file of that name in the folder is written to. */
bool rg_watch_file(int watch, int folder, const char *name);

/* Sleep until something changed since the last time, up to wait_ms. */
enum rg_watch_end { RG_WATCH_CHANGE, RG_WATCH_TIME, RG_WATCH_SIGNAL };
enum rg_watch_end rg_watch_wait(int watch, int64_t wait_ms);

#endif
