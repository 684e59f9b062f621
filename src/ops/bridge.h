/*
 * bridge - what a handle that bridges keeps from one look to the next.
 */
#ifndef RG_BRIDGE_H
#define RG_BRIDGE_H

#include "ops/crossing.h"
#include "store/triggers.h"
#include "store/watch.h"

/* What was told of what still stands there, as hashes: it is not told at every look. */
struct rg_bridge_told {
	uint64_t *items;
	size_t count, capacity;
};

/* What stood before the offset of a file that its writer still has, as hashes. */
struct rg_bridge_before {
	uint64_t id, text;
	int64_t offset;
};

struct rg_bridge {
	struct rg_engine *engine;
	struct rg_triggers triggers;
	struct rg_watch *watch; /* NULL: the system has none; then we look by ourselves */
	struct rg_arena *scratch;
	bool is_bridge; /* of the workspace, until the handle is closed */
	bool watches_journal;
	bool recovered; /* nothing is left in .handing/ */
	bool busy;	/* somebody writes to a taken file */
	bool waits;	/* a taken file waits for room */
	struct rg_bridge_told told, telling;
	struct rg_bridge_told still; /* files that were read and have not changed since */
	struct {
		struct rg_bridge_before *items;
		size_t count, capacity;
	} before;
};

/* Was it not told before?  It counts as told from now on, as long as it is told at every look. */
bool rg_bridge_tell_once(struct rg_bridge *bridge, const char *kind, struct roger_str what,
			 struct roger_str to, int64_t number);

/*
 * handout.c: unread mail of agents that only know files goes into theirs, and
 * is marked read.
 */
RG_CHECKED int rg_handout(struct roger *roger, struct rg_bridge *bridge,
			  struct roger_bridge_reply *reply, struct roger_err *err);

#endif
