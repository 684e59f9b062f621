/* move - move all journals and runs of a workspace into another store, without losing a line. */
#ifndef RG_MOVE_H
#define RG_MOVE_H

#include "engine/engine.h"

struct rg_move_wish {
	struct roger_str here, there; /* rg_store_place() of the source and of the target */
	roger_progress *tell;	      /* or NULL */
	void *context;

	/* May the run of this document be moved now?  Asked before anything is done. */
	int (*check_run)(struct roger_str document, struct roger_err *err);

	/* Add the one line that the target gets beyond the source's; NULL: none. */
	int (*note)(void *context, struct rg_engine *to, const struct roger_move_reply *moved,
		    struct roger_err *err);
	void *note_context;
};

/* May the workspace be moved, or was it already?  ROGER_EDATA: it is damaged; ROGER_EIO: it can
 * only be read. */
RG_CHECKED int rg_engine_check_source(struct rg_engine *from, struct roger_err *err);

/*
 * Both engines are of workspaces with `moving` set.  Every journal and run of `from` gets into
 * `to`, byte for byte; then `from` is marked as moved, then `to` as live.  After a kill, the same
 * call continues; reply says how much was moved.  ROGER_EREFUSED: the target has other contents;
 * *ret_occupied: it has entries, and nothing was done.
 */
RG_CHECKED int rg_engine_move(struct rg_engine *from, struct rg_engine *to,
			      const struct rg_move_wish *wish, struct roger_move_reply *reply,
			      bool *ret_occupied, struct roger_err *err);

/*
 * Mark a source whose messages were taken out one by one as moved to that place; needs its
 * exclusive transaction.  *ret_left false: these journals have grown since they were measured, so
 * the source stays.
 */
RG_CHECKED int rg_engine_leave(struct rg_engine *from, const struct rg_log_files *files,
			       struct roger_str place, bool *ret_left, struct roger_err *err);

#endif
