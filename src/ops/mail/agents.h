/* agents - who is here, who has retired, and who is meant by `all`. */
#ifndef RG_AGENTS_H
#define RG_AGENTS_H

#include "ops/op.h"
#include "facts/retirement.h"

/* Everybody who ever sent or got mail, or began a session lately; for a page, perhaps more than
 * it shows. */
RG_CHECKED int rg_agents_all(struct roger *roger, struct rg_agent_page *page,
			     struct rg_arena *arena, struct roger_agent_list *ret_agents,
			     struct roger_err *err);

/* Add the names that are known here: those that sent or received, and those in the
 * configuration. */
RG_CHECKED int rg_agents_names(struct roger *roger, struct rg_names *names, struct roger_err *err);

/* Print why mail to a retired agent is refused. */
struct roger_str rg_agents_why_retired(const struct roger_retired *retired, struct rg_arena *arena);

/* Add who gets nothing, copied, and why.  The arena remembers that memory ran out. */
void rg_agents_skip(struct rg_arena *arena, struct roger_left_out_list *list, struct roger_str to,
		    struct roger_str why);

/* Add one note for all that get nothing, since there may be many. */
void rg_agents_note_skipped(struct rg_arena *arena, struct roger_strs *notes,
			    const struct roger_left_out_list *skipped);

/* Find the agents that are not part of `all`, since they got mail, and never sent, read, looked
 * or arrived.  Needs the time of each agent's last look. */
RG_CHECKED int rg_agents_ghosts(struct roger *roger, const struct roger_agent_list *agents,
				struct rg_arena *arena, struct rg_names *ret_ghosts,
				struct roger_err *err);

/* Is this name one of those? */
RG_CHECKED int rg_agents_is_ghost(struct roger *roger, struct roger_str name,
				  struct rg_arena *arena, bool *ret_ghost, struct roger_err *err);

/* The agents in a group, or in `all`. */
struct rg_everyone {
	struct roger_strs names;
	struct roger_left_out_list skipped; /* who gets nothing, and why */
};

/*
 * The members of a group, or for `all` everybody who is configured, is file-only, or ever sent,
 * read, looked or arrived, but roger: a mailbox that only ever got mail is likely a slip.  Retired
 * agents are skipped, or their heirs take their place.
 */
RG_CHECKED int rg_agents_of(struct roger *roger, struct roger_str name, struct rg_arena *arena,
			    struct rg_everyone *ret_everyone, struct roger_err *err);

#endif
