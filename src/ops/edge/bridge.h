/*
 * bridge - what a handle that bridges keeps from one look to the next.
 */
#ifndef RG_BRIDGE_H
#define RG_BRIDGE_H

#include "ops/edge/crossing.h"
#include "base/table.h"
#include "host/triggers.h"
#include "host/watch.h"

struct rg_file_facts;

/* What stood before the offset of a file that its writer still has, as hashes. */
struct rg_bridge_before {
	uint64_t id, text;
	int64_t offset;
};

struct rg_bridge {
	struct rg_engine *engine;
	struct rg_triggers triggers;
	int watch; /* RG_NO_FILE: the system has none; then we look by ourselves */
	struct rg_arena *scratch;
	bool is_bridge; /* of the workspace, until the handle is closed */
	bool watches_journal;
	bool recovered; /* nothing is left in .handing/ */
	bool busy;	/* somebody writes to a taken file */
	bool waits;	/* a taken file waits for room */
	/* Hashes: of reports about what is still there, so that each is made once; and of files
	 * that were read and have not changed since. */
	struct rg_table told, telling, still;
	struct {
		struct rg_bridge_before *items;
		size_t count, capacity;
	} before;
};

/*
 * bridge_memory.c: the handle's own.  It is made once; the folders may be lost, and
 * made again by somebody; mail to be written out, and room where there was none,
 * show in the journal.
 */
RG_CHECKED int rg_bridge_open(struct roger *roger, struct roger_err *err);
RG_CHECKED int rg_bridge_reopen_lost(struct roger *roger, struct rg_bridge *bridge,
				     struct roger_err *err);
void rg_bridge_watch_journal(struct roger *roger, struct rg_bridge *bridge);

/* A look is over: what was told in it is what was told before the next one. */
void rg_bridge_swap_told(struct rg_bridge *bridge);

/* Does the file look as it did when this was asked last?  If so, it need not be read again. */
bool rg_bridge_is_still(struct rg_bridge *bridge, const struct rg_taken *taken,
			const struct rg_file_facts *facts);

/*
 * What of a file was taken in, to know later whether its writer emptied it and
 * began again, or wrote over that.  Out of memory only a shorter file is known to
 * be another text.
 */
void rg_bridge_remember_text(struct rg_bridge *bridge, const struct rg_taken *taken,
			     struct roger_str text);
void rg_bridge_forget_text(struct rg_bridge *bridge, const struct rg_taken *taken);
bool rg_bridge_is_rewritten(const struct rg_bridge *bridge, const struct rg_taken *taken,
			    struct roger_str text);

/* Is it news?  From now on it counts as reported, as long as each look reports it. */
bool rg_bridge_tell_once(struct rg_bridge *bridge, const char *kind, struct roger_str what,
			 struct roger_str to, int64_t number);

/*
 * Report the outcome of one file: a refusal is reported once and is not a failure; any other
 * code is returned, with why in err.
 */
RG_CHECKED int rg_bridge_set_aside(struct rg_bridge *bridge, struct roger_bridge_reply *reply,
				   int code, const struct roger_err *why, struct roger_str file,
				   struct roger_str to, struct roger_err *err);

/*
 * handout.c: unread mail of agents that only know files goes into theirs, and
 * is marked read.
 */
RG_CHECKED int rg_handout(struct roger *roger, struct rg_bridge *bridge,
			  struct roger_bridge_reply *reply, struct roger_err *err);

#endif
