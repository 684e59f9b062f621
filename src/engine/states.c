/*
 * The earlier states of messages, from their lines in the journal.  The index
 * knows the first and last line of each; all lines between them are searched.
 */
#include "engine/inside.h"

#include <stdlib.h>

#include "base/table.h"
#include "facts/message.h"

/* A message whose lines are searched for. */
struct wanted {
	uint64_t id; /* hash of its id */
	const struct roger_message *message;
};

/* A range of lines, and its end in the file. */
struct stretch {
	int64_t line;
	uint64_t from, to;
};

/* The lines found so far. */
struct looking {
	struct rg_engine *engine;
	const struct roger_message *messages;
	size_t count;
	struct rg_table wanted;
	struct rg_arena *arena, *scratch;
	struct {
		struct stretch *items;
		size_t count;
	} stretches;
	struct {
		struct rg_state *items;
		size_t count;
	} states;
};

/* read: the texts are in a temporary buffer and must be copied. */
static int keep(struct looking *looking, struct roger_message message, bool read, int64_t line,
		uint64_t offset, struct roger_err *err)
{
	const int64_t bytes = (int64_t)message.content.length;
	const bool foreign = !message.chain.length;
	struct rg_state *state;

	/* The content is not needed. */
	message.content = message.metadata = (struct roger_str){ "", 0 };
	message.unknown = message.chain = (struct roger_str){ "", 0 };
	state = rg_arena_push(looking->arena, &looking->states.items, &looking->states.count,
			      sizeof *state);
	if (!state || (read && !rg_record_keep(&rg_message_record, &message, looking->arena)))
		return rg_fail_memory(err);
	*state = (struct rg_state){ message, bytes, line, (int64_t)offset, foreign };
	return ROGER_OK;
}

static struct wanted *wanted_of(const struct looking *looking, struct roger_str id)
{
	return rg_table_find(&looking->wanted, rg_hash(0, id.data, id.length));
}

/* ----------------------------------------------------------------- lines -- */

/* Most lines are about other messages; the start of a line of roger's shows that. */
static bool may_be_wanted(const struct looking *looking, struct roger_str text)
{
	static const char before[] = "{\"id\":\"", after[] = "\",\"issue_id\":";
	const size_t from = sizeof before - 1;
	const char *end;
	struct roger_str id;

	if (text.length < from || memcmp(text.data, before, from) != 0)
		return true;
	end = memmem(text.data, text.length, after, sizeof after - 1);
	if (!end || end < text.data + from)
		return true;
	id = (struct roger_str){ text.data + from, (size_t)(end - text.data) - from };
	return memchr(id.data, '\\', id.length) || wanted_of(looking, id);
}

static int look_at(struct looking *looking, int64_t number, const struct rg_line *line,
		   struct roger_err *err)
{
	struct roger_message message;
	struct rg_json *json = NULL;
	const struct wanted *wanted;
	int r = ROGER_OK;

	if (line->too_long || !may_be_wanted(looking, line->text))
		return ROGER_OK;
	rg_arena_reset(looking->scratch);
	if (rg_message_read(line->text, &json, looking->scratch, &message, NULL) == ROGER_OK) {
		wanted = wanted_of(looking, message.id);
		if (wanted)
			rg_message_follow(wanted->message, &message);
		message.position = wanted ? wanted->message->position : 0;
		if (wanted && number >= message.position)
			r = keep(looking, message, true, number, line->offset, err);
	}
	rg_json_free(json);
	return r;
}

static int look_through(struct looking *looking, const struct stretch *stretch,
			struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(looking->engine->store, &rg_store_messages);
	int64_t number = stretch->line;
	struct rg_lines lines;
	struct rg_line line;
	bool found = true;
	int r;

	rg_lines_init(&lines, &bytes, stretch->from, stretch->to);
	do {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r == ROGER_OK && found)
			r = look_at(looking, number++, &line, err);
	} while (r == ROGER_OK && found);
	rg_lines_deinit(&lines);
	return r;
}

/* ------------------------------------------------------------- stretches -- */

static int place_of(struct looking *looking, const struct roger_message *message,
		    struct rg_entry *ret_last, struct roger_err *err)
{
	const struct rg_query query = { .ids = &message->id, .id_count = 1, .archived = true };
	struct rg_entries found;
	int r;

	if (message->line)
		return rg_index_line(looking->engine->index, message->line, ret_last, err);
	r = rg_index_find(looking->engine->index, &query, looking->arena, &found, err);
	if (r == ROGER_OK && !found.count)
		return rg_fail(err, ROGER_EDATA, 0, "message '%.*s' is no longer archived",
			       RG_STR_ARGS(message->id));
	if (r == ROGER_OK)
		*ret_last = found.items[0];
	return r;
}

/* No line between says more: it was stored, and may have been read. */
static bool is_plain(const struct roger_message *message)
{
	/* Another program may repeat what a line before it said. */
	const bool repeated = message->read && !message->chain.length;

	return message->line && !repeated && !message->claimed_by.length &&
	       !message->handed_at_ms && !message->acked_at_ms && !message->archived_at_ms;
}

static int keep_plain(struct looking *looking, const struct roger_message *message,
		      struct roger_err *err)
{
	struct roger_message stored = *message;
	struct rg_entry first;
	int r = ROGER_OK;

	stored.read = false;
	stored.read_at_ms = 0;
	if (message->line != message->position) {
		r = rg_index_line(looking->engine->index, message->position, &first, err);
		if (r == ROGER_OK)
			r = keep(looking, stored, false, message->position, first.offset, err);
	}
	return r < 0 ? r
		     : keep(looking, *message, false, message->line, (uint64_t)message->byte, err);
}

/* Of a message that was claimed, handed out, accepted or archived, all lines are searched. */
static int want(struct looking *looking, const struct roger_message *message, struct roger_err *err)
{
	struct rg_entry first = { 0 }, last = { 0 };
	struct stretch *stretch;
	struct wanted *wanted;
	bool fresh;
	int r;

	if (message->line == message->position || is_plain(message))
		return keep_plain(looking, message, err);
	r = place_of(looking, message, &last, err);
	if (r == ROGER_OK)
		r = rg_index_line(looking->engine->index, message->position, &first, err);
	if (r < 0)
		return r;
	wanted = rg_table_put(&looking->wanted, rg_hash(0, message->id.data, message->id.length),
			      &fresh);
	stretch = rg_arena_push(looking->arena, &looking->stretches.items,
				&looking->stretches.count, sizeof *stretch);
	if (!wanted || !stretch)
		return rg_fail_memory(err);
	wanted->message = message;
	*stretch =
		(struct stretch){ message->position, first.offset, last.offset + last.length + 1 };
	return ROGER_OK;
}

static int compare_stretches(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

/* Overlapping ranges are merged. */
static int look(struct looking *looking, struct roger_err *err)
{
	struct stretch *stretches;
	size_t count, last = 0, i;
	int r = ROGER_OK;

	for (i = 0; i < looking->count && r == ROGER_OK; i++)
		r = want(looking, &looking->messages[i], err);
	stretches = looking->stretches.items;
	count = looking->stretches.count;
	if (r < 0 || !count)
		return r;
	qsort(stretches, count, sizeof *stretches, compare_stretches);
	for (i = 1; i < count; i++) {
		if (stretches[i].from > stretches[last].to)
			stretches[++last] = stretches[i];
		else if (stretches[i].to > stretches[last].to)
			stretches[last].to = stretches[i].to;
	}
	for (i = 0; i <= last && r == ROGER_OK; i++)
		r = look_through(looking, &stretches[i], err);
	return r;
}

int rg_engine_states(struct rg_engine *engine, const struct roger_message *messages, size_t count,
		     struct rg_arena *arena, struct rg_states *ret_states, struct roger_err *err)
{
	struct looking looking = { .engine = engine,
				   .messages = messages,
				   .count = count,
				   .arena = arena,
				   .scratch = rg_arena_new() };
	int r;

	rg_table_init(&looking.wanted, sizeof(struct wanted));
	r = looking.scratch ? rg_index_refresh(engine->index, rg_index_seen(engine->index), err)
			    : rg_fail_memory(err);
	if (r == ROGER_OK)
		r = look(&looking, err);
	*ret_states = (struct rg_states){ looking.states.items, looking.states.count };
	rg_table_deinit(&looking.wanted);
	rg_arena_free(looking.scratch);
	return r;
}
