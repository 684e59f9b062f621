/*
 * Whose mail an agent gets: its own, unless another took over from it, and that of all
 * whose mail goes to it by retired.jsonl.  The lines keep their recipients.
 */
#include "engine/inside.h"

#include <stdlib.h>

#include "base/clock.h"
#include "facts/message.h"
#include "facts/retirement.h"

/* The figures tell when roger makes retired.jsonl; another program's is seen after this time. */
enum { LOOK_MS = 100 };

int rg_engine_retired(struct rg_engine *engine, struct rg_arena *arena,
		      struct roger_retired_list *ret_list, struct roger_err *err)
{
	const struct rg_log_query newest = { .log = RG_LOG_RETIRED, .newest = true, .limit = 1 };
	struct rg_log_entries found = { 0 };
	union rg_log_record last;
	const int64_t now_ns = rg_clock_monotonic_ns();
	struct roger_str text;
	int r;

	*ret_list = (struct roger_retired_list){ 0 };
	if (engine->nobody_retired_ns &&
	    now_ns - engine->nobody_retired_ns < (int64_t)LOOK_MS * 1000000 &&
	    !rg_engine_may_have_retired(engine))
		return ROGER_OK;
	r = rg_engine_log_last(engine, RG_LOG_RETIRED, arena, &text, err);
	engine->nobody_retired_ns = r == ROGER_OK && !text.length && engine->store->files &&
						    rg_store_writable(engine->store)
					    ? now_ns
					    : 0;
	if (r < 0 || !text.length)
		return r;
	r = rg_log_kind_read(RG_LOG_RETIRED, text, arena, &last, NULL);
	if (r < 0) {
		/* The last line is not an entry: find the last one that is. */
		r = rg_engine_log_find(engine, &newest, arena, &found, err);
		if (r < 0 || !found.count)
			return r;
		r = rg_log_kind_read(RG_LOG_RETIRED, found.items[0].text, arena, &last, err);
	}
	if (r == ROGER_OK)
		*ret_list = last.retirement.retired;
	return r;
}

int rg_engine_boxes(struct rg_engine *engine, struct roger_str agent, struct rg_arena *arena,
		    struct roger_strs *ret_boxes, struct roger_err *err)
{
	struct roger_retired_list list;
	int r = rg_engine_retired(engine, arena, &list, err);

	if (r == ROGER_OK && !rg_retired_boxes(&list, agent, arena, ret_boxes))
		r = rg_fail_memory(err);
	return r;
}

/* Return the index of the first agent that does not come before name. */
static size_t place_of(const struct roger_agent_list *agents, struct roger_str name)
{
	size_t from = 0, to = agents->count, at;

	while (from < to) {
		at = (from + to) / 2;
		if (rg_str_order(agents->items[at].name, name) < 0)
			from = at + 1;
		else
			to = at;
	}
	return from;
}

const struct roger_agent *rg_engine_agent_of(const struct roger_agent_list *agents,
					     struct roger_str name)
{
	const size_t at = place_of(agents, name);

	return at < agents->count && rg_str_equal(agents->items[at].name, name) ? &agents->items[at]
										: NULL;
}

int rg_engine_agent(struct roger_agent_list *agents, struct roger_str name, struct rg_arena *arena,
		    struct roger_agent **ret_agent, struct roger_err *err)
{
	struct roger_agent *items = (struct roger_agent *)(uintptr_t)agents->items;
	const size_t at = place_of(agents, name);

	rg_assert(name.length > 0);
	if (!rg_engine_agent_of(agents, name)) {
		items = rg_arena_get(arena, (agents->count + 1) * sizeof *items);
		if (!items)
			return rg_fail_memory(err);
		if (at)
			memcpy(items, agents->items, at * sizeof *items);
		if (at < agents->count)
			memcpy(items + at + 1, agents->items + at,
			       (agents->count - at) * sizeof *items);
		items[at].name = name;
		*agents = (struct roger_agent_list){ items, agents->count + 1 };
	}
	*ret_agent = &items[at];
	return ROGER_OK;
}

/* A retired agent may be on another page than its successor. */
int rg_engine_hand_over(struct rg_engine *engine, const struct rg_agent_page *page,
			struct rg_arena *arena, struct roger_agent_list *agents,
			struct roger_err *err)
{
	struct rg_query unread = { .unread = true };
	struct roger_retired_list list;
	struct roger_agent *agent;
	struct roger_str owner;
	int64_t count = 0;
	bool there;
	size_t i;
	int r = rg_engine_retired(engine, arena, &list, err);

	for (i = 0; r == ROGER_OK && i < list.count; i++) {
		unread.to = list.items[i].name;
		owner = rg_retired_owner(&list, unread.to);
		there = rg_engine_agent_of(agents, unread.to) != NULL;
		if (rg_str_equal(owner, unread.to) || (!there && !page))
			continue;
		if (there) {
			r = rg_engine_agent(agents, unread.to, arena, &agent, err);
			count = agent->unread;
			agent->unread = 0;
		} else {
			r = rg_engine_count(engine, &unread, &count, err);
			there = count || rg_engine_knows(engine, unread.to);
		}
		if (r < 0 || !there || !rg_agent_page_has(page, owner))
			continue;
		r = rg_engine_agent(agents, owner, arena, &agent, err);
		if (r == ROGER_OK)
			agent->unread += count;
	}
	return r;
}

/* ------------------------------------------------------------- merging -- */

static int compare_newest(const void *a, const void *b)
{
	return rg_message_place_order(b, a);
}

static int add_found(struct rg_arena *arena, struct roger_message_list *got,
		     const struct roger_message_list *found, struct roger_err *err)
{
	size_t i;

	for (i = 0; i < found->count; i++)
		if (!rg_arena_append(arena, &got->items, &got->count, &found->items[i],
				     sizeof found->items[i]))
			return rg_fail_memory(err);
	return ROGER_OK;
}

/* Find free messages in a mailbox that was taken over; leases of its former owner are ignored. */
static int find_free(struct rg_engine *engine, const struct rg_query *query, struct rg_arena *arena,
		     struct roger_message_list *ret_messages, struct roger_err *err)
{
	const int64_t longest_ms = engine->workspace->config->lease_ms_max;
	const size_t most = query->limit ? (size_t)query->limit : SIZE_MAX;
	struct roger_message_list got = { 0 };
	struct rg_query held_too = rg_query_held_too(query);
	struct roger_message_list page, one = { .count = 1 };
	size_t i;
	int r;

	rg_assert(query->free_at_ms > 0);
	held_too.limit = RG_PAGE_MAX;
	do {
		r = rg_engine_find(engine, &held_too, arena, &page, err);
		for (i = 0; r == ROGER_OK && i < page.count && got.count < most; i++) {
			one.items = &page.items[i];
			held_too.after = one.items->position;
			if (!one.items->dead_at_ms &&
			    (!rg_message_claimed(one.items, query->free_at_ms, longest_ms) ||
			     rg_str_equal(one.items->claimed_by, query->to)))
				r = add_found(arena, &got, &one, err);
		}
	} while (r == ROGER_OK && got.count < most && page.count == RG_PAGE_MAX);
	*ret_messages = got;
	return r;
}

int rg_engine_find_got(struct rg_engine *engine, const struct rg_query *query,
		       struct rg_arena *arena, struct roger_message_list *ret_messages,
		       int64_t *ret_total, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *own = arena ? NULL : rg_arena_new();
	struct roger_message_list got = { 0 };
	struct rg_query of_box = *query;
	struct roger_message_list found;
	struct roger_strs boxes = { 0 };
	int64_t total = 0, all = 0;
	size_t i;
	int r = arena || own ? rg_engine_boxes(engine, query->to, arena ? arena : own, &boxes, err)
			     : rg_fail_memory(err);

	rg_assert(query->gets);
	of_box.gets = false;
	for (i = 0; i < boxes.count && r == ROGER_OK; i++) {
		of_box.to = boxes.items[i];
		r = rg_engine_find_page(engine, &of_box, arena, ret_messages ? &found : NULL,
					ret_total ? &total : NULL, err);
		all += total;
		if (r == ROGER_OK && ret_messages && query->free_at_ms &&
		    !rg_str_equal(of_box.to, query->to))
			r = find_free(engine, &of_box, arena, &found, err);
		if (r == ROGER_OK && ret_messages && boxes.count > 1)
			r = add_found(arena, &got, &found, err);
	}
	if (ret_total)
		*ret_total = all;
	if (r < 0 || !ret_messages)
		return r;
	if (got.count > 1)
		qsort((void *)(uintptr_t)got.items, got.count, sizeof *got.items,
		      query->newest ? compare_newest : rg_message_place_order);
	if (query->limit && got.count > (size_t)query->limit)
		got.count = (size_t)query->limit;
	*ret_messages = boxes.count == 1 ? found : got;
	return ROGER_OK;
}
