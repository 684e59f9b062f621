/*
 * retry: the next attempts of sends that asked for them (--retry), even if the sender has gone. The
 * message's own line says that it is to be tried again, so this can be stopped at any point, and
 * two processes that do it at once begin one attempt.
 */
#include "ops/keys/attempt.h"

enum { DUE_MAX = 5000 };

/* Begin the next attempt, if the last one was settled. */
static int try_again(struct roger *roger, const struct roger_message *message,
		     struct rg_arena *arena)
{
	enum rg_sendlog_answer answer;
	struct rg_key_history history;
	struct rg_key_use use = { 0 };
	int64_t due_ms;
	int r;

	r = rg_key_look_up(roger, message->from, message->key, arena, &use, NULL);
	if (r == ROGER_OK)
		r = rg_key_judge(roger, &use, message->key, message->to, arena, &answer, &history,
				 &due_ms, NULL);
	if (r < 0 || answer != RG_SEND_AGAIN || !rg_str_equal(history.last->message, message->id))
		return r;
	return rg_attempt_begin(roger, &message->id, &history.last->attempt, 1, use.cycle.id,
				message->retry_within_ms, arena, NULL);
}

static bool is_to_be_tried(const struct roger *roger, const struct roger_message *message)
{
	return message->retry_within_ms > 0 && rg_sendlog_begins(message) &&
	       message->attempt < roger->workspace->config->attempts_max;
}

static int try_all(struct roger *roger, struct rg_arena *arena)
{
	struct roger_message_list late;
	struct roger_strs ids;
	size_t i;
	int r;

	r = rg_engine_overdue(roger->engine, rg_clock_ms(), false, DUE_MAX, arena, &ids, NULL);
	if (r < 0 || !ids.count)
		return r;
	r = rg_engine_find_ids(roger->engine, ids.items, ids.count, arena, &late, NULL);
	for (i = 0; r == ROGER_OK && i < late.count; i++)
		if (is_to_be_tried(roger, &late.items[i]))
			r = try_again(roger, &late.items[i], arena);
	return r;
}

void rg_attempt_retry_due(struct roger *roger)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();

	/* An attempt that cannot be written now stays due for the next sweep. */
	if (arena)
		(void)!try_all(roger, arena);
}
