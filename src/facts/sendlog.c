#include "facts/sendlog.h"

#include "base/id.h"
#include "facts/person.h"

/* ---------------------------------------------------------------- keys -- */

/* Split at the first colon; false: there is none. */
static bool cut_at_colon(struct roger_str text, struct roger_str *ret_head,
			 struct roger_str *ret_rest)
{
	const char *colon = text.length ? memchr(text.data, ':', text.length) : NULL;
	size_t length = colon ? (size_t)(colon - text.data) : 0;

	if (!colon)
		return false;
	*ret_head = (struct roger_str){ text.data, length };
	*ret_rest = (struct roger_str){ colon + 1, text.length - length - 1 };
	return true;
}

bool rg_key_split(struct roger_str key, struct rg_key *ret_key)
{
	struct rg_key parts;
	struct roger_str rest;

	if (!cut_at_colon(key, &parts.task, &rest) ||
	    !cut_at_colon(rest, &parts.verb, &parts.cycle) || !parts.task.length ||
	    !parts.verb.length || !parts.cycle.length)
		return false;
	*ret_key = parts;
	return true;
}

bool rg_key_verb_stable(struct roger_str verb)
{
	static const char *const stable[] = { "status-update",	"blocker-update", "escalation",
					      "finding-report", "dead-letter",	  NULL };

	return rg_enum_find(stable, verb) >= 0;
}

struct roger_str rg_key_task(struct roger_str key)
{
	struct rg_key parts;

	return rg_key_split(key, &parts) ? parts.task : key;
}

/* ------------------------------------------------------------- entries -- */

/* The id is computed from the attempt, so every writer uses the same one. */
static bool make_id(const char *prefix, const struct roger_attempt *attempt, int64_t number,
		    char to[RG_SENDLOG_ID_BYTES])
{
	const size_t length = strlen(prefix);
	char hex[RG_SHA256_HEX_BYTES];
	struct rg_buf text;
	bool whole;

	rg_buf_init(&text, SIZE_MAX);
	rg_json_add_string(&text, attempt->from);
	rg_json_add_string(&text, attempt->to);
	rg_json_add_string(&text, attempt->key);
	rg_json_add_string(&text, attempt->cycle);
	rg_buf_add_int(&text, number);
	whole = !text.failed;
	rg_sha256_hex(rg_buf_str(&text), hex);
	rg_buf_deinit(&text);
	/* doctor makes millions of these: no snprintf(). */
	memcpy(to, prefix, length);
	to[length] = '-';
	memcpy(to + length + 1, hex, 32);
	to[length + 33] = '\0';
	return whole;
}

bool rg_sendlog_id(const struct roger_attempt *attempt, char to[RG_SENDLOG_ID_BYTES])
{
	return make_id("snd", attempt, attempt->attempt, to);
}

bool rg_dead_letter_id(const struct roger_attempt *last, char to[RG_SENDLOG_ID_BYTES])
{
	return make_id("dl", last, last->attempt, to);
}

bool rg_digest_id(struct roger_str sender, struct roger_str key, char to[RG_SENDLOG_ID_BYTES])
{
	const struct roger_attempt attempt = { .from = sender, .key = key };

	return make_id("key", &attempt, 0, to);
}

int rg_sendlog_entry(const struct roger_message *message, int64_t max_attempts,
		     enum roger_attempt_outcome outcome, int64_t at_ms, struct rg_arena *arena,
		     struct roger_attempt *ret_attempt, struct roger_err *err)
{
	struct roger_attempt attempt = {
		.from = message->from,
		.to = message->to,
		.at_ms = at_ms,
		.key = message->key,
		.payload_bytes = (int64_t)message->content.length,
		.outcome = outcome,
		.attempt = message->attempt ? message->attempt : 1,
		.max_attempts = max_attempts,
		.cycle = message->cycle,
		.message = message->id,
	};
	char id[RG_SENDLOG_ID_BYTES], hex[RG_SHA256_HEX_BYTES];
	size_t chars = 0;

	(void)!rg_utf8_count(message->content, &chars);
	attempt.payload_chars = (int64_t)chars;
	rg_sha256_hex(message->content, hex);
	if (!rg_sendlog_id(&attempt, id) ||
	    !rg_arena_copy(arena, rg_str(hex), &attempt.payload_sha256) ||
	    !rg_arena_copy(arena, rg_str(id), &attempt.id))
		return rg_fail_memory(err);
	*ret_attempt = attempt;
	return ROGER_OK;
}

int rg_sendlog_letter(const struct roger_attempt *last, int64_t attempts, struct rg_arena *arena,
		      struct roger_dead_letter *ret_letter, struct roger_err *err)
{
	char id[RG_SENDLOG_ID_BYTES];

	if (!rg_dead_letter_id(last, id))
		return rg_fail_memory(err);
	*ret_letter = (struct roger_dead_letter){
		.task = rg_key_task(last->key),
		.from = last->from,
		.to = last->to,
		.at_ms = last->at_ms,
		.key = last->key,
		.payload_sha256 = last->payload_sha256,
		.payload_bytes = last->payload_bytes,
		.attempts = attempts,
		.status = ROGER_UNDELIVERED,
		.cycle = last->cycle,
		.message = last->message,
		.cause = last->cause,
		/* A task system may have given the letter a name of its own. */
		.filed_as =
			rg_str_is(last->dead_letter_task, id) ? RG_STR("") : last->dead_letter_task,
	};
	return rg_kept(rg_arena_copy(arena, rg_str(id), &ret_letter->id), err);
}

enum rg_sendlog_told rg_sendlog_told(const struct roger_message *message, int64_t *ret_at_ms)
{
	const bool waits = message->confirm_by_ms != 0, read = message->read;

	*ret_at_ms = 0;
	if (!message->key.length || !message->cycle.length)
		return RG_TOLD_NOTHING;
	if (message->archived_at_ms) {
		*ret_at_ms = message->archived_at_ms;
		return waits && !read ? RG_TOLD_GONE : RG_TOLD_NOTHING;
	}
	if (!waits && message->attempt > 1)
		return read ? RG_TOLD_NOTHING : RG_TOLD_DELIVERED;
	*ret_at_ms = read ? message->read_at_ms : message->created_at_ms;
	if (!waits)
		return read || message->claimed_by.length || message->handed_at_ms
			       ? RG_TOLD_NOTHING
			       : RG_TOLD_DELIVERED;
	if (!read)
		return RG_TOLD_BEGUN;
	if (rg_message_in_place(message))
		return RG_TOLD_IN_PLACE;
	/* A later acknowledgement is not the line that marked it read. */
	return message->acked_at_ms && message->acked_at_ms != message->read_at_ms
		       ? RG_TOLD_NOTHING
		       : RG_TOLD_DELIVERED;
}

bool rg_sendlog_begins(const struct roger_message *message)
{
	int64_t unused;

	return rg_sendlog_told(message, &unused) == RG_TOLD_BEGUN;
}

int rg_sendlog_plain(const struct roger_message *message, struct roger_str cycle,
		     struct rg_arena *arena, struct roger_message *ret_plain, struct roger_err *err)
{
	*ret_plain = *message;
	ret_plain->cycle = cycle;
	return rg_kept(rg_arena_print(arena, &ret_plain->key, "%.*s:send:%.*s",
				      RG_STR_ARGS(message->issue), RG_STR_ARGS(message->id)),
		       err);
}

bool rg_sendlog_is_plain(const struct roger_attempt *attempt)
{
	const struct roger_str key = attempt->key, id = attempt->message;

	return id.length && key.length > id.length + 6 &&
	       !memcmp(key.data + key.length - id.length, id.data, id.length) &&
	       !memcmp(key.data + key.length - id.length - 6, ":send:", 6);
}

/* ---------------------------------------------------------------- rules -- */

static bool is_due(const struct rg_key_history *history, const struct rg_sendlog_rules *rules,
		   int64_t now_ms, int64_t *ret_due_ms)
{
	int64_t wait_cycles;

	rg_assert(history->last != NULL);
	if (rules->retry_cycles) {
		wait_cycles = rules->retry_cycles * history->timeouts;
		return history->cycle - history->last_cycle >= wait_cycles;
	}
	*ret_due_ms = history->last->at_ms + rules->retry_after_ms;
	/* A clock that was set back must not delay longer than configured. */
	return now_ms >= *ret_due_ms || now_ms < history->last->at_ms;
}

/* May the cause be gone by now?  There may be room, or another configuration. */
static bool may_be_lifted(struct roger_str cause)
{
	static const char *const causes[] = { RG_CAUSE_FULL,	   RG_CAUSE_OTHER_FULL,
					      RG_CAUSE_ISSUE_FULL, RG_CAUSE_UNKNOWN,
					      RG_CAUSE_TOO_LONG,   RG_CAUSE_RETIRED,
					      RG_CAUSE_BREAKER,	   NULL };

	return rg_enum_find(causes, cause) >= 0;
}

enum rg_sendlog_answer rg_sendlog_judge(const struct rg_key_history *history,
					const struct rg_sendlog_rules *rules, int64_t now_ms,
					int64_t *ret_due_ms)
{
	*ret_due_ms = 0;
	if (!history->last)
		return RG_SEND_NEW;
	if (history->last->outcome != ROGER_TIMEOUT && history->last_cycle != history->cycle)
		return RG_SEND_NEW;
	if (history->last->outcome == ROGER_ERROR && may_be_lifted(history->last->cause))
		return RG_SEND_AGAIN;
	if (history->last->outcome != ROGER_TIMEOUT)
		return RG_SEND_SKIP;
	if (history->timeouts >= rules->max_attempts)
		return RG_SEND_USED_UP;
	return is_due(history, rules, now_ms, ret_due_ms) ? RG_SEND_AGAIN : RG_SEND_NOT_DUE;
}

static bool is_about(const struct roger_attempt *line, struct roger_str key,
		     struct roger_str target)
{
	return rg_str_equal(line->key, key) && rg_str_equal(line->to, target);
}

/* The attempts of one key to one target, each with its last line, in the order they began. */
struct attempts {
	const struct roger_attempt **items;
	size_t count;
};

static bool put_attempt(struct attempts *attempts, const struct roger_attempt *line,
			struct rg_arena *arena)
{
	size_t i;

	for (i = attempts->count; i > 0; i--)
		if (rg_str_equal(attempts->items[i - 1]->id, line->id)) {
			attempts->items[i - 1] = line;
			return true;
		}
	return rg_arena_append(arena, &attempts->items, &attempts->count, &line, sizeof line);
}

int rg_key_history(const struct roger_attempt *lines, size_t count, struct roger_str key,
		   struct roger_str target, struct rg_key_history *ret_history,
		   struct rg_arena *arena, struct roger_err *err)
{
	struct attempts attempts = { 0 };
	size_t i;

	for (i = 0; i < count; i++)
		if (!lines[i].pending && is_about(&lines[i], key, target) &&
		    !put_attempt(&attempts, &lines[i], arena))
			return rg_fail_memory(err);
	ret_history->last = attempts.count ? attempts.items[attempts.count - 1] : NULL;
	ret_history->timeouts = 0;
	for (i = attempts.count; i > 0 && attempts.items[i - 1]->outcome == ROGER_TIMEOUT; i--)
		ret_history->timeouts++;
	return ROGER_OK;
}

bool rg_sendlog_breaker_open(const struct roger_attempt *newest_first, size_t count,
			     int64_t failures, int64_t open_ms, int64_t now_ms,
			     int64_t *ret_until_ms)
{
	const struct roger_attempt *last = NULL, *attempt;
	int64_t in_a_row = 0;
	size_t i, k;

	for (i = 0; failures && i < count; i++) {
		attempt = &newest_first[i];
		if (attempt->pending || rg_sendlog_is_plain(attempt) ||
		    rg_str_is(attempt->cause, RG_CAUSE_BREAKER))
			continue;
		if (attempt->outcome != ROGER_TIMEOUT)
			break;
		last = last ? last : attempt;
		/* An attempt may have several lines. */
		for (k = 0; k < i && !rg_str_equal(attempt->id, newest_first[k].id);)
			k++;
		in_a_row += k == i;
	}
	if (!last)
		return false;
	*ret_until_ms = last->at_ms + open_ms;
	return in_a_row >= failures && now_ms < *ret_until_ms && now_ms >= last->at_ms;
}
