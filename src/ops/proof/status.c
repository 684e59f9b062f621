/* status: what needs attention now, and what to type next. */
#include "ops/proof/causes.h"

/* Who sits in which git worktree, and whose mail waits where one is gone. */
static int show_seats(struct roger *roger, const struct rg_seats *seats, struct rg_arena *arena,
		      struct roger_seat_list *ret_list, struct roger_err *err)
{
	static const int standings[] = { [RG_SEAT_THERE] = ROGER_SEAT_THERE,
					 [RG_SEAT_GONE] = ROGER_SEAT_GONE,
					 [RG_SEAT_RECYCLED] = ROGER_SEAT_RECYCLED };
	struct roger_seat *items;
	size_t i, count = 0;
	int r = ROGER_OK;

	if (!seats->count)
		return r;
	items = rg_arena_get(arena, seats->count * sizeof *items);
	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < seats->count && r == ROGER_OK; i++) {
		const struct rg_seat *seat = &seats->items[i];
		const struct rg_query query = { .unread = true, .to = seat->agent };
		struct roger_seat *one = &items[count];

		*one = (struct roger_seat){ .agent = seat->agent,
					    .worktree = seat->tree,
					    .path = seat->folder,
					    .seen_at_ms = seat->seen_ms,
					    .standing = standings[seat->standing] };
		if (seat->standing != RG_SEAT_THERE)
			r = rg_engine_count(roger->engine, &query, &one->unread, err);
		count += seat->standing == RG_SEAT_THERE || one->unread;
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
	return r < 0 ? r : show_seats(roger, &causes.seats, reply->memory, &reply->worktrees, err);
}
