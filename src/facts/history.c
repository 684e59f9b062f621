#include "facts/history.h"

#include <stdlib.h>

/* The order of kinds within one instant: a cause comes before its effect. */
static const unsigned char causes[] = {
	[ROGER_EVENT_CYCLE] = 0,	[ROGER_EVENT_SESSION] = 0,
	[ROGER_EVENT_DISPATCHED] = 1,	[ROGER_EVENT_ATTEMPTED] = 2,
	[ROGER_EVENT_SENT] = 3,		[ROGER_EVENT_DELIVERED] = 4,
	[ROGER_EVENT_WAKE] = 5,		[ROGER_EVENT_HANDED] = 6,
	[ROGER_EVENT_LOOKED] = 7,	[ROGER_EVENT_CLAIMED] = 8,
	[ROGER_EVENT_RETURNED] = 9,	[ROGER_EVENT_LEASE_EXPIRED] = 9,
	[ROGER_EVENT_READ] = 10,	[ROGER_EVENT_ACKNOWLEDGED] = 11,
	[ROGER_EVENT_LATE] = 12,	[ROGER_EVENT_DUE] = 13,
	[ROGER_EVENT_TIMEOUT] = 14,	[ROGER_EVENT_REFUSED] = 14,
	[ROGER_EVENT_DEAD_LETTER] = 15, [ROGER_EVENT_REDELIVERED] = 16,
	[ROGER_EVENT_STALE] = 16,	[ROGER_EVENT_RECOVERY] = 17,
	[ROGER_EVENT_COMPLETED] = 18,	[ROGER_EVENT_FORWARDED] = 19,
	[ROGER_EVENT_LOST] = 20,	[ROGER_EVENT_FAILED] = 20,
	[ROGER_EVENT_SETTLED] = 21,	[ROGER_EVENT_RUN_NOTE] = 21,
	[ROGER_EVENT_ACTIVITY] = 22,	[ROGER_EVENT_ARCHIVED] = 23,
	[ROGER_EVENT_DAMAGED] = 24,	[ROGER_EVENT_ACCEPTED] = 25,
	[ROGER_EVENT_RETIREMENT] = 26
};

/* ----------------------------------------------------------------- order -- */

/* An event with its sort keys: its journal line, then its cause, then the order of adding. */
struct placed {
	const struct rg_event *event;
	int64_t line;
	int cause;
	size_t place;
};

/* Events of one message at one instant stay together, lines of the journal first. */
static int compare_messages(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	int order;

	if (x->event->said.at_ms != y->event->said.at_ms)
		return x->event->said.at_ms < y->event->said.at_ms ? -1 : 1;
	order = rg_str_order(x->event->said.message, y->event->said.message);
	if (order)
		return order;
	if (x->line != y->line)
		return !x->line || (y->line && x->line > y->line) ? 1 : -1;
	if (x->cause != y->cause)
		return x->cause - y->cause;
	return (x->place > y->place) - (x->place < y->place);
}

static int compare_causes(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->event->said.at_ms != y->event->said.at_ms)
		return x->event->said.at_ms < y->event->said.at_ms ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->cause != y->cause)
		return x->cause - y->cause;
	return (x->place > y->place) - (x->place < y->place);
}

/* For one message at one instant: journal lines keep their order; an event from elsewhere comes
 * after the last of them that may have caused it. */
static void place_together(struct placed *placed, size_t count)
{
	size_t lines, i, k;

	rg_assert(count > 0);
	for (i = 0; i < count && placed[i].line; i++)
		if (i && placed[i - 1].cause > placed[i].cause)
			placed[i].cause = placed[i - 1].cause;
	for (lines = i; i < count && lines; i++) {
		placed[i].line = placed[0].line - 1;
		for (k = 0; k < lines && placed[k].cause <= placed[i].cause; k++)
			placed[i].line = placed[k].line;
	}
}

/* Without a message, an event that is an effect of a send comes after all lines of the journal. */
static struct placed placed_of(const struct rg_event *event, size_t place)
{
	const int cause = causes[event->said.kind];
	const bool after = !event->said.message.length && cause > causes[ROGER_EVENT_SENT];

	return (struct placed){ event, after ? INT64_MAX : event->line, cause, place };
}

static void place_all(struct placed *placed, size_t count)
{
	size_t from, to;

	rg_assert(count > 0);
	qsort(placed, count, sizeof *placed, compare_messages);
	for (from = 0; from < count; from = to) {
		for (to = from + 1; to < count; to++)
			if (placed[to].event->said.at_ms != placed[from].event->said.at_ms ||
			    !rg_str_equal(placed[to].event->said.message,
					  placed[from].event->said.message))
				break;
		if (placed[from].event->said.message.length)
			place_together(placed + from, to - from);
	}
	qsort(placed, count, sizeof *placed, compare_causes);
}

static bool is_within(const struct roger_event *event, int64_t since_ms, int64_t until_ms)
{
	return event->at_ms >= since_ms && (!until_ms || event->at_ms < until_ms);
}

int rg_history_arrange(struct rg_history *history, int64_t since_ms, int64_t until_ms,
		       struct roger_err *err)
{
	struct placed *order = rg_arena_room(history->arena, history->count * sizeof *order);
	struct rg_history arranged = { .arena = history->arena };
	size_t count = 0, i;

	if (!order)
		return rg_fail_memory(err);
	for (i = 0; i < history->count; i++)
		if (is_within(&history->items[i].said, since_ms, until_ms))
			order[count++] = placed_of(&history->items[i], i);
	if (count)
		place_all(order, count);
	for (i = 0; i < count; i++)
		if (!rg_arena_append(arranged.arena, &arranged.items, &arranged.count,
				     order[i].event, sizeof *order[i].event))
			return rg_fail_memory(err);
	*history = arranged;
	return ROGER_OK;
}

struct roger_strs rg_history_agents(const struct roger_event_list *events, struct rg_arena *arena)
{
	struct rg_names names = { .arena = arena };
	size_t i, k;

	for (i = 0; i < events->count; i++) {
		const struct roger_str both[] = { events->items[i].actor, events->items[i].peer };

		for (k = 0; k < 2; k++)
			if (both[k].length)
				(void)!rg_names_add(&names, both[k]);
	}
	return rg_names_list(&names);
}

/* --------------------------------------------------------------- figures -- */

/* Find the value byte by byte, the highest first: count each next byte of the values that begin
 * with the bytes found so far. */
int64_t rg_percentile(const int64_t *values, size_t count, int percent)
{
	size_t rank = (count * (size_t)percent + 99) / 100, counts[256], i;
	uint64_t found = 0, byte;
	int shift;

	rg_assert(percent >= 0 && percent <= 100);
	if (count == 0)
		return ROGER_UNKNOWN;
	rank = rank ? rank : 1;
	for (shift = 56; shift >= 0; shift -= 8) {
		memset(counts, 0, sizeof counts);
		for (i = 0; i < count; i++)
			if (((uint64_t)values[i] ^ found) >> shift < 256)
				counts[(uint64_t)values[i] >> shift & 255]++;
		for (byte = 0; rank > counts[byte]; byte++)
			rank -= counts[byte];
		found |= byte << shift;
	}
	return (int64_t)found;
}

int64_t rg_permille(int64_t part, int64_t whole)
{
	return whole > 0 ? part * 1000 / whole : ROGER_UNKNOWN;
}

int64_t *rg_counter_of(struct rg_counter *counter, struct roger_str name)
{
	const size_t place = rg_names_find(&counter->names, name);
	struct roger_str kept;

	if (place == SIZE_MAX && (!rg_arena_copy(counter->names.arena, name, &kept) ||
				  !rg_names_add(&counter->names, kept)))
		return &counter->lost;
	while (counter->count < counter->names.count)
		if (!rg_arena_push(counter->names.arena, &counter->counts, &counter->count,
				   sizeof *counter->counts))
			return &counter->lost;
	return &counter->counts[place == SIZE_MAX ? counter->count - 1 : place];
}

static int compare_figures(const void *a, const void *b)
{
	const struct roger_figure *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return rg_str_order(x->name, y->name);
}

struct roger_figure_list rg_counter_figures(const struct rg_counter *counter)
{
	const size_t count = counter->count;
	struct roger_figure *items = rg_arena_get(counter->names.arena, count * sizeof *items);
	size_t i;

	for (i = 0; items && i < count; i++)
		items[i] = (struct roger_figure){ counter->names.items[i], counter->counts[i] };
	if (!items)
		return (struct roger_figure_list){ 0 };
	qsort(items, count, sizeof *items, compare_figures);
	return (struct roger_figure_list){ items, count };
}
