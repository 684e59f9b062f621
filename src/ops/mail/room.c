#include "ops/mail/room.h"

#include <stdlib.h>

#include "facts/message.h"

static int refuse_full(const struct rg_outcome *outcome, int64_t limit, struct roger_err *err)
{
	const struct roger_message *which = outcome->which;

	if (outcome->verdict == RG_OVER_ISSUE)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "issue '%.*s' is full (limit %lld, too few of them read); "
			       "nothing was sent. Read or archive some, or raise "
			       "size_limits.max_messages_per_issue",
			       RG_STR_ARGS(which->issue), (long long)limit);
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "the mailbox of '%.*s' for issue '%.*s' is full (limit %lld, "
		       "too few of them read); nothing was sent. Wait until it reads, or "
		       "raise size_limits.max_messages_per_issue_phase",
		       RG_STR_ARGS(which->to), RG_STR_ARGS(which->issue), (long long)limit);
}

static int archive_oldest(struct roger *roger, struct roger_message *messages, size_t count,
			  const char *reason, struct roger_err *err)
{
	struct rg_outcome outcome;
	int64_t now_ms = rg_clock_ms();
	size_t i;
	int r;

	rg_assert(rg_engine_is_exclusive(roger->engine) && count);
	for (i = 0; i < count; i++) {
		messages[i].archived_at_ms = now_ms;
		messages[i].archive_reason = rg_str(reason);
		r = rg_engine_archive(roger->engine, &messages[i], err);
		if (r < 0)
			return r;
	}
	return rg_engine_commit(roger->engine, &outcome, err);
}

/* Add unread messages that are in the recipient's file: they may leave after all that is read. */
static int add_handed(struct roger *roger, struct rg_query query, struct rg_arena *arena,
		      struct roger_message_list *read, struct roger_err *err)
{
	struct roger_message_list unread;
	struct roger_message *all;
	size_t i;
	int r;

	query.unread = true;
	r = rg_engine_find(roger->engine, &query, arena, &unread, err);
	if (r < 0)
		return r;
	all = rg_arena_get(arena, (read->count + unread.count) * sizeof *all);
	if (!all)
		return rg_fail_memory(err);
	if (read->count)
		memcpy(all, read->items, read->count * sizeof *all);
	read->items = all;
	for (i = 0; i < unread.count; i++)
		if (unread.items[i].handed_at_ms)
			all[read->count++] = unread.items[i];
	return ROGER_OK;
}

/* A tenth of the limit leaves in addition, if it is read, so that the next sends into a full
 * mailbox find room. */
enum { BAND = 10 };

/* How many leave: the surplus and the band, as far as messages are read, but at least the
 * surplus. */
static int64_t with_band(int64_t surplus, int64_t limit, size_t read)
{
	int64_t most =
		surplus + limit / BAND < (int64_t)read ? surplus + limit / BAND : (int64_t)read;

	rg_assert(surplus > 0);
	return most > surplus ? most : surplus;
}

/* Find the messages that may leave, the first to leave first, and how many must. */
static int find_surplus(struct roger *roger, const struct rg_outcome *outcome, int64_t adding,
			struct rg_arena *arena, struct roger_message_list *ret_read,
			int64_t *ret_surplus, struct roger_err *err)
{
	bool whole_issue = outcome->verdict == RG_OVER_ISSUE;
	const struct rg_config *config = roger->workspace->config;
	int64_t limit =
		whole_issue ? config->messages_per_issue_max : config->messages_per_issue_phase_max;
	struct rg_query all = { .issue = outcome->which->issue }, read;
	size_t are_read;
	int64_t there;
	int r;

	if (!whole_issue)
		all.to = outcome->which->to;
	read = all;
	read.read = true;
	r = rg_engine_count(roger->engine, &all, &there, err);
	if (r < 0)
		return r;
	*ret_surplus = there + adding - limit;
	if (*ret_surplus <= 0)
		return ROGER_OK;
	r = rg_engine_find(roger->engine, &read, arena, ret_read, err);
	if (r == ROGER_OK && ret_read->count)
		qsort((void *)(uintptr_t)ret_read->items, ret_read->count, sizeof *ret_read->items,
		      rg_message_archive_order);
	are_read = ret_read->count;
	if (r == ROGER_OK && *ret_surplus > (int64_t)are_read)
		r = add_handed(roger, all, arena, ret_read, err);
	if (r < 0)
		return r;
	if (*ret_surplus > (int64_t)ret_read->count)
		return refuse_full(outcome, limit, err);
	*ret_surplus = with_band(*ret_surplus, limit, are_read);
	return ROGER_OK;
}

static int make_room(struct roger *roger, const struct rg_outcome *outcome, int64_t adding,
		     struct rg_arena *arena, int64_t *archived, struct roger_err *err)
{
	bool whole_issue = outcome->verdict == RG_OVER_ISSUE;
	struct roger_message_list found = { 0 };
	int64_t surplus = 0;
	int r;

	r = find_surplus(roger, outcome, adding, arena, &found, &surplus, err);
	if (r < 0 || surplus <= 0)
		return r;
	r = archive_oldest(roger, (struct roger_message *)(uintptr_t)found.items, (size_t)surplus,
			   whole_issue ? "limit of the issue" : "limit of the issue and recipient",
			   err);
	if (r == ROGER_OK)
		*archived += surplus;
	return r;
}

int rg_room_make(struct roger *roger, const struct rg_outcome *outcome, int64_t adding,
		 int64_t *archived, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_engine_begin(roger->engine, true, err);
	if (r == ROGER_OK)
		r = make_room(roger, outcome, adding, arena, archived, err);
	rg_engine_rollback(roger->engine);
	return r;
}

int rg_room_check(struct roger *roger, const struct rg_outcome *outcome, int64_t adding,
		  struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_message_list found = { 0 };
	int64_t surplus = 0;

	if (!arena)
		return rg_fail_memory(err);
	return find_surplus(roger, outcome, adding, arena, &found, &surplus, err);
}
