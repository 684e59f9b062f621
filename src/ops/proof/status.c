/* status: what needs attention now, and what to type next. */
#include "ops/proof/concerns.h"

int rg_verb_status(struct roger *roger, const struct roger_empty_request *request,
		   struct roger_status_reply *reply, struct roger_err *err)
{
	struct rg_query unread = { .unread = true };
	struct roger_seat *seats, *one;
	struct rg_concerns concerns;
	size_t i, count = 0;
	int r;

	(void)request;
	reply->workspace = rg_str(roger->workspace->root);
	rg_concerns_find(&concerns, roger, reply, err);
	r = concerns.reading.r;
	if (r == ROGER_OK)
		r = rg_op_place(roger, reply->memory, &reply->store, &reply->served_by,
				&reply->standby, err);
	/* List the agents with a git worktree, and those whose worktree is gone but have unread
	 * mail. */
	seats = (struct roger_seat *)(uintptr_t)concerns.seats.items;
	for (i = 0; r == ROGER_OK && i < concerns.seats.count; i++) {
		one = &seats[count];
		*one = seats[i];
		unread.to = one->agent;
		if (one->standing != ROGER_SEAT_THERE)
			r = rg_engine_count(roger->engine, &unread, &one->unread, err);
		count += one->standing == ROGER_SEAT_THERE || one->unread;
	}
	reply->worktrees = (struct roger_seat_list){ seats, count };
	return r;
}
