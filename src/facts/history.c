#include "facts/history.h"

#include <stdlib.h>

#include "base/id.h"

const char *const rg_event_kinds[] = {
	"cycle",    "dispatched", "sent",      "delivered", "wake",	   "looked",	  "read",
	"late",	    "due",	  "timeout",   "refused",   "dead_letter", "redelivered", "stale",
	"recovery", "completed",  "forwarded", "run_note",  "activity",	   "archived",	  NULL,
};

/* As rg_message_types of the message system, with a name for "none" first. */
static const char *const type_names[] = { "none", "context", "result", "decision", "data", NULL };

#define AT(member) offsetof(struct roger_event, member)
static const struct roger_field fields[] = {
	{ "at", ROGER_INSTANT, AT(at_ms), ROGER_REQUIRED, NULL, NULL, "when" },
	{ "kind", ROGER_ENUM, AT(kind), ROGER_REQUIRED, rg_event_kinds, NULL, "what happened" },
	{ "actor", ROGER_TEXT, AT(actor), ROGER_SPARE, NULL, NULL, "who did it" },
	{ "peer", ROGER_TEXT, AT(peer), ROGER_SPARE, NULL, NULL, "to whom" },
	{ "words", ROGER_TEXT, AT(words), 0, NULL, NULL, "one line for people; no content" },
	{ "message", ROGER_TEXT, AT(message_id), ROGER_SPARE, NULL, NULL, "id of the message" },
	{ "run", ROGER_TEXT, AT(run_id), ROGER_SPARE, NULL, NULL, "id of the run" },
	{ "task", ROGER_TEXT, AT(task_id), ROGER_SPARE, NULL, NULL, "the task" },
	{ "issue", ROGER_TEXT, AT(issue_id), ROGER_SPARE, NULL, NULL, "unit of work" },
	{ "key", ROGER_TEXT, AT(key), ROGER_SPARE, NULL, NULL, "idempotent key" },
	{ "dead_letter", ROGER_TEXT, AT(dead_letter_id), ROGER_SPARE, NULL, NULL,
	  "id of the dead letter" },
	{ "seq", ROGER_INT, AT(seq), ROGER_SPARE, NULL, NULL, "the sender's number" },
	{ "type", ROGER_ENUM, AT(type), ROGER_SPARE, type_names, NULL, "of the message" },
	{ "bytes", ROGER_INT, AT(bytes), ROGER_SPARE, NULL, NULL, "length of its content" },
	{ "attempt", ROGER_INT, AT(attempt), ROGER_SPARE, NULL, NULL, "number of the attempt" },
	{ "file", ROGER_TEXT, AT(file), ROGER_SPARE, NULL, NULL, "evidence: where it is written" },
	{ "line", ROGER_INT, AT(line), ROGER_SPARE, NULL, NULL, "in that file, from 1" },
	{ 0 },
};
#undef AT
const struct roger_record rg_event_record = { "event", sizeof(struct roger_event), fields };

/* ----------------------------------------------------------------- order -- */

struct roger_event *rg_history_add(struct rg_history *history)
{
	return rg_arena_push(history->arena, &history->items, &history->count,
			     sizeof *history->items);
}

/* An event and where it was put in, since qsort() does not keep that. */
struct placed {
	const struct roger_event *event;
	size_t place;
};

static int compare_events(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->event->at_ms != y->event->at_ms)
		return x->event->at_ms < y->event->at_ms ? -1 : 1;
	if (x->event->kind != y->event->kind)
		return x->event->kind - y->event->kind;
	return (x->place > y->place) - (x->place < y->place);
}

static bool is_within(const struct roger_event *event, int64_t since_ms, int64_t until_ms)
{
	return event->at_ms >= since_ms && (!until_ms || event->at_ms < until_ms);
}

/* As many as rg_arena_push() would have made room for, so that more can be added. */
static size_t room_for(size_t count)
{
	size_t room = 1;

	while (room < count)
		room *= 2;
	return room;
}

int rg_history_arrange(struct rg_history *history, int64_t since_ms, int64_t until_ms,
		       struct roger_err *err)
{
	struct placed *order = rg_arena_get(history->arena, history->count * sizeof *order);
	struct roger_event *items =
		rg_arena_get(history->arena, room_for(history->count) * sizeof *items);
	size_t count = 0, i;

	if (!order || !items)
		return rg_fail_memory(err);
	for (i = 0; i < history->count; i++)
		if (is_within(&history->items[i], since_ms, until_ms))
			order[count++] = (struct placed){ &history->items[i], i };
	qsort(order, count, sizeof *order, compare_events);
	for (i = 0; i < count; i++)
		items[i] = *order[i].event;
	history->items = items;
	history->count = count;
	return ROGER_OK;
}

int rg_history_agents(const struct roger_events *events, struct rg_arena *arena,
		      struct roger_strs *ret_agents, struct roger_err *err)
{
	struct rg_counter seen = { .arena = arena };
	struct {
		struct roger_str *items;
		size_t count;
	} list = { 0 };
	struct roger_str names[2], *place;
	int64_t *known;
	size_t i, k;

	for (i = 0; i < events->count; i++) {
		names[0] = events->items[i].actor;
		names[1] = events->items[i].peer;
		for (k = 0; k < 2; k++) {
			if (!names[k].length)
				continue;
			known = rg_counter_of(&seen, names[k]);
			if (!known)
				return rg_fail_memory(err);
			if ((*known)++)
				continue;
			place = rg_arena_push(arena, &list.items, &list.count, sizeof *place);
			if (!place)
				return rg_fail_memory(err);
			*place = names[k];
		}
	}
	*ret_agents = (struct roger_strs){ list.items, list.count };
	return ROGER_OK;
}

/* --------------------------------------------------------------- figures -- */

static int compare_numbers(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int64_t rg_percentile(int64_t *values, size_t count, int percent)
{
	size_t rank;

	if (count == 0)
		return 0;
	qsort(values, count, sizeof *values, compare_numbers);
	rank = (count * (size_t)percent + 99) / 100;
	return values[rank ? rank - 1 : 0];
}

int64_t rg_permille(int64_t part, int64_t whole)
{
	return whole > 0 ? part * 1000 / whole : 0;
}

static struct roger_figure *slot_of(struct roger_figure *slots, size_t capacity,
				    struct roger_str name)
{
	size_t at = (size_t)rg_hash(0, name.data, name.length) & (capacity - 1);

	while (slots[at].name.data && !rg_str_equal(slots[at].name, name))
		at = (at + 1) & (capacity - 1);
	return &slots[at];
}

static bool grow(struct rg_counter *counter)
{
	size_t capacity = counter->capacity ? counter->capacity * 2 : 16, i;
	struct roger_figure *slots = rg_arena_get(counter->arena, capacity * sizeof *slots);

	if (!slots)
		return false;
	for (i = 0; i < counter->capacity; i++)
		if (counter->slots[i].name.data)
			*slot_of(slots, capacity, counter->slots[i].name) = counter->slots[i];
	counter->slots = slots;
	counter->capacity = capacity;
	return true;
}

int64_t *rg_counter_of(struct rg_counter *counter, struct roger_str name)
{
	struct roger_figure *slot;

	if (counter->count * 2 >= counter->capacity && !grow(counter))
		return NULL;
	slot = slot_of(counter->slots, counter->capacity, name);
	if (!slot->name.data) {
		if (!rg_arena_copy(counter->arena, name, &slot->name))
			return NULL;
		counter->count++;
	}
	return &slot->count;
}

static int compare_figures(const void *a, const void *b)
{
	const struct roger_figure *x = a, *y = b;
	size_t shorter = x->name.length < y->name.length ? x->name.length : y->name.length;
	int order;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	order = memcmp(x->name.data, y->name.data, shorter);
	return order ? order
		     : (x->name.length > y->name.length) - (x->name.length < y->name.length);
}

int rg_counter_figures(const struct rg_counter *counter, struct roger_figures *ret_figures,
		       struct roger_err *err)
{
	struct roger_figure *items = rg_arena_get(counter->arena, counter->count * sizeof *items);
	size_t count = 0, i;

	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < counter->capacity; i++)
		if (counter->slots[i].name.data)
			items[count++] = counter->slots[i];
	qsort(items, count, sizeof *items, compare_figures);
	*ret_figures = (struct roger_figures){ items, count };
	return ROGER_OK;
}
