/* status: what needs attention now, and what to type next. */
#include "ops/proof/causes.h"
#include "ops/proof/seats.h"

int rg_verb_status(struct roger *roger, const struct roger_empty_request *request,
		   struct roger_status_reply *reply, struct roger_err *err)
{
	struct rg_causes causes;
	int r;

	(void)request;
	reply->workspace = rg_str(roger->workspace->root);
	r = rg_causes_find(&causes, roger, reply, err);
	if (r == ROGER_OK)
		r = rg_op_place(roger, reply->memory, &reply->store, &reply->served_by,
				&reply->standby, err);
	return r < 0 ? r
		     : rg_seats_show(roger, &causes.seats, reply->memory, &reply->worktrees, err);
}
