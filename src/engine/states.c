/*
 * The states a message had, from its lines in the journal: the index knows the
 * first and the last of them, and between these every line is looked through.
 */
#include "engine/inside.h"

#include "facts/message.h"

/* Lines on their way into a list. */
struct looking {
	struct rg_engine *engine;
	struct roger_str id;
	struct rg_arena *arena;
	struct {
		struct rg_state *items;
		size_t count;
	} states;
};

static int keep(struct looking *looking, struct roger_message *message, int64_t number,
		const struct rg_line *line, struct roger_err *err)
{
	struct rg_state *state;

	/* What it says is nobody's business here. */
	message->content = message->metadata = (struct roger_str){ "", 0 };
	message->unknown = message->chain = (struct roger_str){ "", 0 };
	message->position = looking->states.count ? looking->states.items[0].line : number;
	state = rg_arena_push(looking->arena, &looking->states.items, &looking->states.count,
			      sizeof *state);
	if (!state || !rg_record_keep(&rg_message_record, message, looking->arena))
		return rg_fail_memory(err);
	*state = (struct rg_state){ *message, number, (int64_t)line->offset };
	return ROGER_OK;
}

/* Most lines are about other messages, and are passed over without being read. */
static int look_at(struct looking *looking, int64_t number, const struct rg_line *line,
		   struct roger_err *err)
{
	struct roger_message message;
	struct rg_arena *arena;
	struct rg_json *json = NULL;
	int r = ROGER_OK;

	/* An id that is no name may stand there with escapes. */
	if (line->too_long ||
	    (rg_name_valid(looking->id) &&
	     !memmem(line->text.data, line->text.length, looking->id.data, looking->id.length)))
		return ROGER_OK;
	arena = rg_arena_new();
	if (!arena)
		return rg_fail_memory(err);
	if (rg_message_read(line->text, &json, arena, &message, NULL) == ROGER_OK &&
	    rg_str_equal(message.id, looking->id))
		r = keep(looking, &message, number, line, err);
	rg_json_free(json);
	rg_arena_free(arena);
	return r;
}

static int look_through(struct looking *looking, const struct rg_entry *first, uint64_t end,
			struct roger_err *err)
{
	const struct rg_bytes bytes = rg_bytes_of(looking->engine->store, &rg_store_messages);
	int64_t number = first->position;
	struct rg_lines lines;
	struct rg_line line;
	bool found = true;
	int r;

	rg_lines_init(&lines, &bytes, first->offset, end);
	do {
		r = rg_lines_next(&lines, &line, &found, err);
		if (r == ROGER_OK && found)
			r = look_at(looking, number++, &line, err);
	} while (r == ROGER_OK && found);
	rg_lines_deinit(&lines);
	return r;
}

int rg_engine_states(struct rg_engine *engine, const struct roger_message *message,
		     struct rg_arena *arena, struct rg_states *ret_states, struct roger_err *err)
{
	struct looking looking = { .engine = engine, .id = message->id, .arena = arena };
	const struct rg_query query = { .ids = &message->id, .id_count = 1, .anywhere = true };
	struct rg_entries found;
	struct rg_entry first;
	int r;

	r = rg_index_find(engine->index, &query, arena, &found, err);
	if (r == ROGER_OK && found.count)
		r = rg_index_line(engine->index, found.items[0].position, &first, err);
	if (r == ROGER_OK && found.count)
		r = look_through(&looking, &first,
				 found.items[0].offset + found.items[0].length + 1, err);
	*ret_states = (struct rg_states){ looking.states.items, looking.states.count };
	return r;
}
