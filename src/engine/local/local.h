/*
 * local - the engine of files: one machine, many processes, no daemon.
 *
 * messages.jsonl is the truth and the only file that a send syncs.  What the
 * writers need to know at once is in the control file's tally; everything else
 * is asked of the index, which follows the journal.
 */
#ifndef RG_LOCAL_H
#define RG_LOCAL_H

#include "engine/engine.h"
#include "store/workspace.h"

/* The workspace stays the caller's and open. */
RG_CHECKED int rg_local_open(struct rg_workspace *workspace, struct rg_engine **ret_engine,
			     struct roger_err *err);

#endif
