/*
 * retirement - agents that get no more mail (retired.jsonl).
 *
 * Each line lists all retired agents, so the last line is the state.  Mail to a
 * retired agent is refused, or goes to the agent that took over.
 */
#ifndef RG_RETIREMENT_H
#define RG_RETIREMENT_H

#include "data/record.h"
#include "verbs.h"

/* Find an agent's entry; NULL: it is not retired. */
const struct roger_retired *rg_retired_find(const struct roger_retired_list *list,
					    struct roger_str name);

/* Who gets the agent's mail after all takeovers: name itself if it is not retired, "": nobody. */
struct roger_str rg_retired_heir(const struct roger_retired_list *list, struct roger_str name);

/* Who gets what was stored for the agent: its heir, else the agent itself. */
struct roger_str rg_retired_owner(const struct roger_retired_list *list, struct roger_str name);

/* List the names whose mail the agent gets, itself first; none if an heir gets its own mail.
 * false: out of memory. */
RG_CHECKED bool rg_retired_boxes(const struct roger_retired_list *list, struct roger_str agent,
				 struct rg_arena *arena, struct roger_strs *ret_boxes);

#endif
