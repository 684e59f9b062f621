/* move - all journals and runs of a workspace into another store, and nobody loses a line. */
#ifndef RG_MOVE_H
#define RG_MOVE_H

#include "engine/engine.h"

struct rg_move_wish {
	struct roger_str here, there; /* rg_store_place() of the source and of the target */
	roger_progress *tell;	      /* or NULL */
	void *context;

	/* Add the one line that the target gets beyond the source's; NULL: none. */
	int (*note)(void *context, struct rg_engine *to, const struct roger_move_reply *moved,
		    struct roger_err *err);
	void *note_context;
};

/*
 * Both engines are of workspaces with `moving` set.  Every journal and run of `from` gets into
 * `to`, byte for byte; then `from` is moved, then `to` is live.  Killed anywhere, the same call
 * goes on, and reply says how much it was. ROGER_EREFUSED: the target has other contents;
 * *ret_occupied: it has entries, and nothing was done.
 */
RG_CHECKED int rg_engine_move(struct rg_engine *from, struct rg_engine *to,
			      const struct rg_move_wish *wish, struct roger_move_reply *reply,
			      bool *ret_occupied, struct roger_err *err);

/*
 * For a source whose messages were taken out one by one, in its exclusive transaction: it is moved
 * to that place.  *ret_left false: these journals, as they were measured before, have grown since,
 * so it stays.
 */
RG_CHECKED int rg_engine_leave(struct rg_engine *from, const struct rg_log_files *files,
			       struct roger_str place, bool *ret_left, struct roger_err *err);

#endif
