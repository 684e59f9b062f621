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

/* Note that the agent acts in the tree the workspace was opened from, or in none.  Best effort. */
void rg_seat_take(const struct rg_workspace *workspace, struct roger_str agent);

/*
 * The name of an agent that nobody named but its tool: in a working tree the tool's name, `@` and
 * the tree's, followed by .2 and so on where an agent of an earlier tree has that name, or a living
 * process of the tool.  Elsewhere the tool's name, then with -2 and so on.  pid: the tool's; 0: not
 * known, so the name is shared.
 */
enum { RG_SEAT_NAME_BYTES = 132 };
struct roger_str rg_seat_name(const struct rg_workspace *workspace, struct roger_str tool,
			      int64_t pid, char to[RG_SEAT_NAME_BYTES]);

/* List all seats by name; how much is unread is not set. */
RG_CHECKED int rg_seat_list(const struct rg_workspace *workspace, struct rg_arena *arena,
			    struct roger_seat_list *ret_seats, struct roger_err *err);

/* note: record that people were told of this tree; else: were they told before? */
bool rg_seat_told(const struct rg_workspace *workspace, bool note);

#endif
