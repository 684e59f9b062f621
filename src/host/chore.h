/*
 * chore - which process takes care of wakes, trigger files and runs, and when that was done last.
 *
 * Each chore has a file in chores/ of the data folder, with a line each for: since when the same
 * process does it without a pause, when it last did (to ten seconds), its id, its program.
 * Evidence for people, not a lock: best effort, never synced.
 */
#ifndef RG_CHORE_H
#define RG_CHORE_H

#include "host/workspace.h"

#define RG_CHORES_FOLDER "chores"

/* Record that this process has just done a chore: wake, bridge or sweep. */
void rg_chore_done(const struct rg_workspace *workspace, const char *verb);

/* Read who did a chore last; texts are in arena; pid 0: it has ended.  False: nobody is known. */
RG_CHECKED bool rg_chore_find(const struct rg_workspace *workspace, const char *verb,
			      struct rg_arena *arena, struct roger_chore *ret_chore);

#endif
