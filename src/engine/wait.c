/* Waiting for mail: sleep on the journal's wake count, then read only what is new. */
#include "engine/inside.h"

#include "base/clock.h"

/* Other programs append without waking anybody, and the end of a lease wakes nobody: check the
 * file and the index this often. */
enum { LOOK_MS = 200, ASK_MS = 1000 };

enum { NEW_BYTES_MAX = 64 << 10 };

struct waiting {
	struct rg_engine *engine;
	struct roger_str agent;
	struct roger_strs boxes; /* whose mail it gets, when the index was asked last */
	struct rg_arena *boxes_memory;
	struct roger_str issue;
	struct roger_str from;
	struct rg_arena *arena;
	struct rg_found *found;
};

static int keep(const struct waiting *waiting, const struct roger_message *message,
		struct roger_err *err)
{
	struct rg_found found = { .found = true, .seq = message->seq };

	if (!rg_arena_copy(waiting->arena, message->id, &found.id) ||
	    !rg_arena_copy(waiting->arena, message->from, &found.from_phase) ||
	    !rg_arena_copy(waiting->arena, message->issue, &found.issue_id))
		return rg_fail_memory(err);
	*waiting->found = found;
	return ROGER_OK;
}

/* A wait may last for days: what was known before is given back. */
static int find_boxes(struct waiting *waiting, struct roger_err *err)
{
	struct rg_arena *memory = rg_arena_new();
	struct roger_strs boxes;
	int r = memory ? rg_engine_boxes(waiting->engine, waiting->agent, memory, &boxes, err)
		       : rg_fail_memory(err);

	if (r < 0) {
		rg_arena_free(memory);
		return r;
	}
	rg_arena_free(waiting->boxes_memory);
	waiting->boxes_memory = memory;
	waiting->boxes = boxes;
	return ROGER_OK;
}

/* Is there unread mail according to the index?  Corrects the figure. */
static int ask_index(struct waiting *waiting, struct roger_err *err)
{
	const struct rg_query query = { .unread = true,
					.to = waiting->agent,
					.gets = true,
					.issue = waiting->issue,
					.from = waiting->from,
					.free_at_ms = rg_clock_ms(),
					.limit = 1 };
	const struct rg_query all = { .unread = true, .to = waiting->agent, .gets = true };
	struct rg_engine *engine = waiting->engine;
	struct roger_message_list messages;
	int64_t unread;
	bool may;
	int r;

	r = find_boxes(waiting, err);
	if (r == ROGER_OK)
		r = rg_engine_may_have_mail(engine, waiting->agent, &may, err);
	if (r < 0 || !may)
		return r;
	r = rg_engine_find(engine, &query, waiting->arena, &messages, err);
	if (r == ROGER_OK && messages.count)
		return keep(waiting, &messages.items[0], err);
	return r == ROGER_OK ? rg_engine_count(engine, &all, &unread, err) : r;
}

/* So that most lines need not be read. */
static bool names_one(const struct waiting *waiting, struct roger_str line)
{
	size_t i = 0;

	while (i < waiting->boxes.count &&
	       !memmem(line.data, line.length, waiting->boxes.items[i].data,
		       waiting->boxes.items[i].length))
		i++;
	return i < waiting->boxes.count;
}

/* What the line says of its message only the index knows: it may not be the first one of its id. */
static int look_at_line(struct waiting *waiting, struct roger_str line, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = NULL;
	struct roger_message message;
	struct rg_json *json;
	int r = ROGER_OK;

	if (!names_one(waiting, line))
		return ROGER_OK;
	arena = rg_arena_new();
	if (!arena)
		return rg_fail_memory(err);
	if (rg_message_read(line, &json, arena, &message, NULL) == ROGER_OK) {
		if (!message.read && !message.archived_at_ms && !message.dead_at_ms &&
		    !rg_message_claimed(&message, rg_clock_ms(),
					waiting->engine->workspace->config->lease_ms_max) &&
		    rg_str_among(waiting->boxes, message.to) &&
		    (waiting->from.length == 0 || rg_str_equal(message.from, waiting->from)) &&
		    (waiting->issue.length == 0 || rg_str_equal(message.issue, waiting->issue)))
			r = ask_index(waiting, err);
		rg_json_free(json);
	}
	return r;
}

/* Read the lines from *at to end. */
static int look_at_lines(struct waiting *waiting, uint64_t *at, uint64_t end, struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(waiting->engine->store, &rg_store_messages, *at, end);
	struct rg_line line;
	bool found;
	int r;

	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found &&
	       !waiting->found->found) {
		r = look_at_line(waiting, line.text, err);
		if (r < 0)
			return r;
		*at = lines.at;
	}
	return r;
}

static int64_t pause_for(const struct rg_store *store, int64_t until_ns)
{
	const int64_t left_ms = (until_ns - rg_clock_monotonic_ns()) / 1000000 + 1;
	const int64_t most_ms = store->elsewhere ? ASK_MS : LOOK_MS;

	return left_ms < 0 ? 0 : left_ms < most_ms ? left_ms : most_ms;
}

static int wait_for_lines(struct waiting *waiting, uint64_t *at, int64_t until_ns,
			  struct roger_err *err)
{
	struct rg_store *store = waiting->engine->store;
	uint64_t end;
	uint32_t wake;
	int r;

	for (;;) {
		wake = rg_store_head(store).wake;
		r = rg_engine_settle(waiting->engine, &end, err);
		if (r == ROGER_OK && end > *at)
			r = look_at_lines(waiting, at, end, err);
		if (r < 0 || waiting->found->found)
			return r;
		if (rg_clock_monotonic_ns() >= until_ns)
			return ROGER_OK;
		store->names = &waiting->boxes;
		rg_engine_sleep(waiting->engine, wake, pause_for(store, until_ns));
		store->names = NULL;
	}
}

int rg_engine_wait(struct rg_engine *engine, struct roger_str agent, struct roger_str issue,
		   struct roger_str from, int64_t timeout_ms, struct rg_arena *arena,
		   struct rg_found *ret_found, struct roger_err *err)
{
	struct rg_found found = { 0 };
	struct waiting waiting = { .engine = engine,
				   .agent = agent,
				   .issue = issue,
				   .from = from,
				   .arena = arena,
				   .found = &found };
	int64_t until_ns = INT64_MAX, ask_again_ns;
	uint64_t at;
	int r;

	if (timeout_ms > 0 && timeout_ms < INT64_MAX / 1000000 - rg_clock_monotonic_ms() - 1)
		until_ns = rg_clock_monotonic_ns() + timeout_ms * 1000000;
	r = rg_engine_settle(engine, &at, err);
	while (r == ROGER_OK) {
		r = ask_index(&waiting, err);
		if (r < 0 || found.found || rg_clock_monotonic_ns() >= until_ns)
			break;
		ask_again_ns = rg_clock_monotonic_ns() + (int64_t)ASK_MS * 1000000;
		r = wait_for_lines(&waiting, &at, ask_again_ns < until_ns ? ask_again_ns : until_ns,
				   err);
		if (found.found)
			break;
	}
	rg_arena_free(waiting.boxes_memory);
	if (r == ROGER_OK)
		*ret_found = found;
	return r;
}

static int read_new(struct rg_store *store, uint64_t from, uint64_t end, struct rg_arena *arena,
		    struct roger_message_list *list, bool *ret_known, struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(store, &rg_store_messages, from, end);
	struct {
		struct roger_message *items;
		size_t count;
	} read = { 0 };
	struct roger_message message;
	struct roger_str text;
	struct rg_line line;
	bool found;
	int r;

	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found) {
		if (!rg_arena_copy(arena, line.text, &text))
			return rg_fail_memory(err);
		*ret_known = rg_message_read_within(text, arena, &message, NULL) == ROGER_OK;
		if (!*ret_known)
			break;
		if (rg_message_is_as_sent(&message) &&
		    !rg_arena_append(arena, &read.items, &read.count, &message, sizeof message))
			return rg_fail_memory(err);
	}
	*list = (struct roger_message_list){ read.items, read.count };
	return r;
}

int rg_engine_read_new(struct rg_engine *engine, uint64_t *from, struct rg_arena *arena,
		       struct roger_message_list *ret_messages, bool *ret_known,
		       struct roger_err *err)
{
	const uint64_t start = *from;
	struct rg_shared *shared;
	int r = rg_engine_settle(engine, from, err);

	shared = rg_store_head(engine->store).shared;
	*ret_messages = (struct roger_message_list){ 0 };
	*ret_known = r == ROGER_OK && start && start <= *from && *from - start <= NEW_BYTES_MAX &&
		     shared && atomic_load(&shared->own_from) <= start;
	return *ret_known
		       ? read_new(engine->store, start, *from, arena, ret_messages, ret_known, err)
		       : r;
}
