#include "ops/proof/seats.h"

#include "host/seat.h"

int rg_seats_show(struct roger *roger, const struct rg_seats *seats, struct rg_arena *arena,
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
