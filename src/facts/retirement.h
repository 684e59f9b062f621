/*
 * retirement - agents that get no more mail (retired.jsonl).
 *
 * Each line holds all that are retired after it, so its last line is the state.
 * Mail to one is refused, or goes to the agent that took over.
 */
#ifndef RG_RETIREMENT_H
#define RG_RETIREMENT_H

#include "data/record.h"

extern const struct roger_record rg_retired_record, rg_retirement_record;

/* NULL: it is not retired. */
const struct roger_retired *rg_retired_find(const struct roger_retired_list *list,
					    struct roger_str name);

/* Who gets its mail, whoever took over from whom: the name itself where it is not retired, "":
 * nobody. */
struct roger_str rg_retired_heir(const struct roger_retired_list *list, struct roger_str name);

#endif
