/* cycle: periods of the send log (seed 000), in order of opening: by hand, or when one is over. */
#include "ops/keys/attempt.h"

#include <stdio.h>

static int open_next(struct roger *roger, const struct roger_cycle_request *request,
		     const struct roger_cycle_list *all, struct rg_arena *arena,
		     struct roger_err *err)
{
	struct roger_cycle cycle = {
		.id = request->id,
		.number = all->items[all->count - 1].number + 1,
		.opened_at_ms = rg_clock_ms(),
		.opened_by = request->by,
	};

	rg_assert(rg_engine_took_records(roger->engine) && all->count);
	if (!cycle.id.length && !rg_arena_print(arena, &cycle.id, "%lld", (long long)cycle.number))
		return rg_fail_memory(err);
	if (rg_cycle_number(all, cycle.id))
		return rg_fail_member(err, ROGER_EREFUSED, "id",
				      "id: there was a cycle '%.*s' already",
				      RG_STR_ARGS(cycle.id));
	return rg_records_write(roger, RG_LOG_CYCLES, RG_STR(""), &cycle, 1, err);
}

/* Open a cycle under the record lock: two callers at once get one after the other. */
static int open_cycle(struct roger *roger, const struct roger_cycle_request *request,
		      struct rg_arena *arena, struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	struct roger_cycle_list all;
	int r = rg_engine_records_hold(roger->engine, &held, err);

	if (r == ROGER_OK)
		r = rg_cycle_all(roger, arena, &all, err);
	return r < 0 ? r : open_next(roger, request, &all, arena, err);
}

static bool is_over(const struct roger *roger, const struct roger_cycle *cycle)
{
	const int64_t every_ms = roger->workspace->config->cycle_every_ms;

	return every_ms && rg_clock_ms() - cycle->opened_at_ms >= every_ms;
}

/* Open the next cycle, unless another process has.  Its number may already be another's id. */
static int open_in_time(struct roger *roger, struct rg_arena *arena, struct roger_cycle *cycle,
			struct roger_err *err)
{
	RG_CLEANUP(rg_engine_records_endp) struct rg_engine *held = NULL;
	struct roger_cycle_request request = { .by = RG_STR("roger") };
	struct roger_cycle_list all;
	int64_t number;
	char id[24];
	int r;

	r = rg_engine_records_hold(roger->engine, &held, err);
	if (r == ROGER_OK)
		r = rg_cycle_all(roger, arena, &all, err);
	if (r < 0)
		return r;
	*cycle = all.items[all.count - 1];
	if (!is_over(roger, cycle))
		return ROGER_OK;
	number = cycle->number;
	do {
		snprintf(id, sizeof id, "%lld", (long long)++number);
		request.id = rg_str(id);
	} while (rg_cycle_number(&all, request.id));
	r = open_next(roger, &request, &all, arena, err);
	return r < 0 ? r : rg_cycle_current(roger, arena, cycle, err);
}

int rg_cycle_begin(struct roger *roger, struct rg_arena *arena, struct roger_cycle *ret_cycle,
		   struct roger_err *err)
{
	int r = rg_cycle_current(roger, arena, ret_cycle, err);

	return r < 0 || !is_over(roger, ret_cycle) ? r : open_in_time(roger, arena, ret_cycle, err);
}

int rg_verb_cycle(struct roger *roger, const struct roger_cycle_request *request,
		  struct roger_cycle_reply *reply, struct roger_err *err)
{
	int r = ROGER_OK;

	if (request->id.length && !request->new_)
		return rg_fail_member(err, ROGER_EUSAGE, "new",
				      "new: to open cycle '%.*s' say `roger log cycle new %.*s`",
				      RG_STR_ARGS(request->id), RG_STR_ARGS(request->id));
	if (request->new_)
		r = open_cycle(roger, request, reply->memory, err);
	if (r == ROGER_OK)
		r = rg_cycle_all(roger, reply->memory, &reply->cycles, err);
	if (r < 0)
		return r;
	reply->current = reply->cycles.items[reply->cycles.count - 1].id;
	reply->number = reply->cycles.items[reply->cycles.count - 1].number;
	return ROGER_OK;
}
