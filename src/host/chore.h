/*
 * chore - who looks after wakes, trigger files and runs, and when that was done last.
 *
 * A file for each chore in chores/ of the data folder, a line each: since when the same
 * process does it without a pause, when it did last (to ten seconds), its id, its program. Evidence
 * for people, not a lock: best effort, never synced.
 */
#ifndef RG_CHORE_H
#define RG_CHORE_H

#include "host/workspace.h"

#define RG_CHORES_FOLDER "chores"

/* This process has just done it: wake, bridge or sweep. */
void rg_chore_done(const struct rg_workspace *workspace, const char *verb);

/* False: nobody ever did it here, as far as is known.  Texts in arena. */
RG_CHECKED bool rg_chore_find(const struct rg_workspace *workspace, const char *verb,
			      struct rg_arena *arena, struct roger_chore *ret_chore);

#endif
