/* Waiting for mail: sleep on the journal's wake count, and ask once the figures say maybe. */
#include "engine/inside.h"

#include "base/clock.h"

/* Other programs append without waking anybody, and the end of a lease wakes nobody: look this
 * often; where lines are on another machine, each line wakes somebody. */
enum { LOOK_MS = 200, LOOK_ELSEWHERE_MS = 1000 };

enum { NEW_BYTES_MAX = 64 << 10 };

/* Is there mail for the query?  If not, counting the unread mail corrects the figure. */
static int ask_for_mail(struct rg_engine *engine, struct rg_query *query, struct rg_arena *scratch,
			struct rg_arena *arena, struct roger_message *ret_found,
			struct roger_err *err)
{
	const struct rg_query all = { .unread = true, .to = query->to, .gets = true };
	struct roger_message_list messages;
	int64_t unread;
	bool may;
	int r = rg_engine_may_have_mail(engine, query->to, &may, err);

	if (r < 0 || !may)
		return r;
	query->free_at_ms = rg_clock_ms();
	r = rg_engine_find(engine, query, scratch, &messages, err);
	if (r < 0 || !messages.count)
		return r < 0 ? r : rg_engine_count(engine, &all, &unread, err);
	*ret_found = messages.items[0];
	return rg_kept(rg_record_keep(&rg_message_record, ret_found, arena), err);
}

/* Sleep until something is appended, or only for these mailboxes if the store knows for whom. */
static void sleep_on(struct rg_engine *engine, const struct roger_strs *boxes, uint32_t wake,
		     int64_t until_ns)
{
	struct rg_store *store = engine->store;
	const int64_t left_ms = (until_ns - rg_clock_monotonic_ns()) / 1000000 + 1;
	const int64_t most_ms = store->elsewhere ? LOOK_ELSEWHERE_MS : LOOK_MS;

	store->names = boxes;
	rg_engine_sleep(engine, wake, left_ms < most_ms ? left_ms : most_ms);
	store->names = NULL;
}

int rg_engine_wait(struct rg_engine *engine, struct roger_str agent, struct roger_str issue,
		   struct roger_str from, int64_t timeout_ms, struct rg_arena *arena,
		   struct roger_message *ret_found, struct roger_err *err)
{
	struct rg_query query = {
		.unread = true, .to = agent, .gets = true, .issue = issue, .from = from, .limit = 1
	};
	/* A wait may last for days, so every look reuses this memory. */
	RG_CLEANUP(rg_arena_freep) struct rg_arena *scratch = rg_arena_new();
	struct roger_strs boxes;
	int64_t until_ns = INT64_MAX;
	uint32_t wake;
	int r = rg_kept(scratch, err);

	*ret_found = (struct roger_message){ .seq = 0 };
	if (timeout_ms > 0 && timeout_ms < INT64_MAX / 1000000 - rg_clock_monotonic_ms() - 1)
		until_ns = rg_clock_monotonic_ns() + timeout_ms * 1000000;
	while (r == ROGER_OK) {
		wake = rg_store_head(engine->store).wake;
		rg_arena_reset(scratch);
		r = ask_for_mail(engine, &query, scratch, arena, ret_found, err);
		if (r < 0 || ret_found->id.length || rg_clock_monotonic_ns() >= until_ns)
			break;
		r = rg_engine_boxes(engine, agent, scratch, &boxes, err);
		if (r == ROGER_OK)
			sleep_on(engine, &boxes, wake, until_ns);
	}
	return r;
}

static int read_new(struct rg_store *store, uint64_t from, uint64_t end, struct rg_arena *arena,
		    struct roger_message_list *list, bool *ret_known, struct roger_err *err)
{
	RG_CLEANUP(rg_lines_deinit)
	struct rg_lines lines = rg_lines_of(store, &rg_store_messages, from, end);
	struct roger_message message;
	struct roger_str text;
	struct rg_line line;
	bool found;
	int r;

	rg_assert(from <= end);
	while ((r = rg_lines_next(&lines, &line, &found, err)) == ROGER_OK && found) {
		if (!rg_arena_copy(arena, line.text, &text))
			return rg_fail_memory(err);
		*ret_known = rg_message_read_within(text, arena, &message, NULL) == ROGER_OK;
		if (!*ret_known)
			break;
		if (rg_message_is_as_sent(&message) &&
		    !rg_arena_append(arena, &list->items, &list->count, &message, sizeof message))
			return rg_fail_memory(err);
	}
	return r;
}

int rg_engine_read_new(struct rg_engine *engine, uint64_t *from, struct rg_arena *arena,
		       struct roger_message_list *ret_messages, bool *ret_known,
		       struct roger_err *err)
{
	const uint64_t start = *from;
	struct rg_shared *shared;
	int r = rg_engine_settle(engine, from, err);

	shared = rg_store_shared(engine->store);
	*ret_messages = (struct roger_message_list){ 0 };
	*ret_known = r == ROGER_OK && start && start <= *from && *from - start <= NEW_BYTES_MAX &&
		     shared && atomic_load(&shared->own_from) <= start;
	return *ret_known
		       ? read_new(engine->store, start, *from, arena, ret_messages, ret_known, err)
		       : r;
}
