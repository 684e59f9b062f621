/*
 * seat - in which working tree an agent was last seen.
 *
 * A file for each agent in worktrees/ of the data folder: its name, when git made the tree, the
 * tree's name in the repository, and its folder, a line each; it was written when the agent was
 * last seen there, to the minute.  Nothing is derived from it but what people are shown, and the
 * names of agents that nobody named.
 */
#ifndef RG_SEAT_H
#define RG_SEAT_H

#include "host/workspace.h"

#define RG_SEATS_FOLDER "worktrees"

/* The agent acts here: in the tree that the workspace was opened from, or in none.  Best effort. */
void rg_seat_take(const struct rg_workspace *workspace, struct roger_str agent);

/*
 * Who an agent is that nobody named but its tool: in a working tree the tool's name, `@` and the
 * tree's, followed by .2 and so on where an agent of an earlier tree has that name, or a living
 * process of the tool.  Else the tool's, then with -2 and so on.  pid: of the tool; 0: not known,
 * and then it shares the name.
 */
enum { RG_SEAT_NAME_BYTES = 132 };
struct roger_str rg_seat_name(const struct rg_workspace *workspace, struct roger_str tool,
			      int64_t pid, char to[RG_SEAT_NAME_BYTES]);

/* All, by name, without what is unread. */
RG_CHECKED int rg_seat_list(const struct rg_workspace *workspace, struct rg_arena *arena,
			    struct roger_seat_list *ret_seats, struct roger_err *err);

/* Was this told of the tree before?  It is from now on. */
bool rg_seat_told(const struct rg_workspace *workspace, bool note);

#endif
