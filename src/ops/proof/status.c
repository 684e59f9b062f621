/* status: what needs attention now, and what to type next. */
#include "ops/proof/causes.h"

/* List the agents with a git worktree, and those whose worktree is gone but have unread mail. */
static int show_seats(struct roger *roger, struct roger_seat_list seats,
		      struct roger_seat_list *ret_list, struct roger_err *err)
{
	struct roger_seat *items = (struct roger_seat *)(uintptr_t)seats.items, *one;
	size_t i, count = 0;
	int r = ROGER_OK;

	for (i = 0; i < seats.count && r == ROGER_OK; i++) {
		const struct rg_query query = { .unread = true, .to = items[i].agent };

		one = &items[count];
		*one = items[i];
		if (one->standing != ROGER_SEAT_THERE)
			r = rg_engine_count(roger->engine, &query, &one->unread, err);
		count += one->standing == ROGER_SEAT_THERE || one->unread;
	}
	*ret_list = (struct roger_seat_list){ items, count };
	return r;
}

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
	return r < 0 ? r : show_seats(roger, causes.seats, &reply->worktrees, err);
}
