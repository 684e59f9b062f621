/*
 * arrive - where an agent is: the session that its tool began last.
 *
 * It is only in the activity log, and a hint for the wake of the agent.
 */
#ifndef RG_ARRIVE_H
#define RG_ARRIVE_H

#include "ops/op.h"

/* The session as the tool names it; "": none is known. */
RG_CHECKED int rg_arrive_last(struct roger *roger, struct roger_str agent, struct rg_arena *arena,
			      struct roger_str *ret_session, struct roger_err *err);

#endif
