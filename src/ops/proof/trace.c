/* trace: how far a message got, to each of its recipients, and where each step is written. */
#include <stdlib.h>
#include <time.h>

#include "facts/message.h"
#include "facts/note.h"
#include "facts/retirement.h"
#include "ops/caller.h"
#include "ops/keys/attempt.h"
#include "ops/proof/telling.h"

enum { TRACES_MAX = 1000 };

/* ----------------------------------------------------------------- steps -- */

/* True if the agent was woken when the message waited for it.  A reading before the message's own
 * time comes from a clock that was behind, and is ignored. */
static bool was_waiting(const struct rg_event *wake, const struct roger_message *message)
{
	const int64_t at_ms = wake->said.at_ms;

	return rg_str_equal(wake->said.actor, message->to) && wake->before >= message->position &&
	       (!message->read || message->read_at_ms < message->created_at_ms ||
		at_ms <= message->read_at_ms) &&
	       (!message->archived_at_ms || at_ms <= message->archived_at_ms);
}

/* Return the step that an event is on the way of a message; false: it is no step. */
static bool step_of(const struct rg_event *event, const struct roger_message *message,
		    enum roger_step *ret_step)
{
	static const int steps[] = {
		[ROGER_EVENT_SENT] = ROGER_STEP_STORED,
		[ROGER_EVENT_WAKE] = ROGER_STEP_WAKE,
		[ROGER_EVENT_HANDED] = ROGER_STEP_HANDED,
		[ROGER_EVENT_LOOKED] = ROGER_STEP_LOOKED,
		[ROGER_EVENT_CLAIMED] = ROGER_STEP_CLAIMED,
		[ROGER_EVENT_RETURNED] = ROGER_STEP_RETURNED,
		[ROGER_EVENT_LEASE_EXPIRED] = ROGER_STEP_LEASE_EXPIRED,
		[ROGER_EVENT_READ] = ROGER_STEP_READ,
		[ROGER_EVENT_ACKNOWLEDGED] = ROGER_STEP_ACKNOWLEDGED,
		[ROGER_EVENT_DELIVERED] = ROGER_STEP_DELIVERED,
		[ROGER_EVENT_LATE] = ROGER_STEP_DELIVERED,
		[ROGER_EVENT_TIMEOUT] = ROGER_STEP_TIMEOUT,
		[ROGER_EVENT_REFUSED] = ROGER_STEP_REFUSED,
		[ROGER_EVENT_DEAD_LETTER] = ROGER_STEP_DEAD,
		[ROGER_EVENT_REDELIVERED] = ROGER_STEP_REDELIVERED,
		[ROGER_EVENT_STALE] = ROGER_STEP_STALE,
		[ROGER_EVENT_ARCHIVED] = ROGER_STEP_ARCHIVED,
	};
	const size_t kind = (size_t)event->said.kind;
	const int step = kind < sizeof steps / sizeof *steps ? steps[kind] : 0;

	*ret_step = (enum roger_step)step;
	/* For an unkeyed message, 'delivered' repeats 'sent'. */
	return step && !(step == ROGER_STEP_DELIVERED && event->echo) &&
	       (step == ROGER_STEP_WAKE ? was_waiting(event, message)
					: rg_str_equal(event->said.message, message->id));
}

/* Return how far a message got.  dead: it has an open dead letter, else ROGER_STEP_DEAD does not
 * count. */
static enum roger_step reached_by(unsigned steps, bool dead)
{
	static const enum roger_step way[] = { ROGER_STEP_ACKNOWLEDGED, ROGER_STEP_READ,
					       ROGER_STEP_DEAD,		ROGER_STEP_CLAIMED,
					       ROGER_STEP_LOOKED,	ROGER_STEP_HANDED,
					       ROGER_STEP_WAKE };
	size_t i;

	for (i = 0; i < sizeof way / sizeof *way; i++)
		if (steps & 1U << way[i] && (way[i] != ROGER_STEP_DEAD || dead))
			return way[i];
	return ROGER_STEP_STORED;
}

/* ----------------------------------------------------------- in a sentence -- */

/* Add a local time, with the day if it is not today. */
static void add_time(struct rg_buf *out, const char *before, int64_t at_ms, int64_t now_ms)
{
	const time_t at = (time_t)(at_ms / 1000), now = (time_t)(now_ms / 1000);
	struct tm then = { 0 }, today = { 0 };
	char text[32];

	localtime_r(&at, &then);
	localtime_r(&now, &today);
	strftime(text, sizeof text,
		 then.tm_year == today.tm_year && then.tm_yday == today.tm_yday ? "%H:%M"
										: "%Y-%m-%d %H:%M",
		 &then);
	rg_buf_printf(out, "%s%s", before, text);
}

/* Return when the step last happened, by who ("": by anybody); 0: never, or the time is unknown. */
static int64_t last_time(const struct roger_trace *trace, enum roger_step step,
			 struct roger_str who)
{
	const struct roger_trace_step *steps = trace->steps.items;
	size_t i;

	for (i = trace->steps.count; i > 0; i--)
		if (steps[i - 1].step == (int)step &&
		    (!who.length || rg_str_equal(steps[i - 1].who, who)))
			return steps[i - 1].at_ms;
	return 0;
}

/* Say why nobody has read a message yet: what its reader did, and how much is before it. */
static int add_waiting(struct roger *roger, const struct roger_message *message,
		       const struct roger_trace *trace, struct rg_arena *arena, struct rg_buf *out,
		       struct roger_err *err)
{
	const int64_t now_ms = rg_clock_ms();
	struct rg_query before = { .unread = true, .newest = true, .after = message->position };
	struct roger_agent agent = { 0 };
	struct roger_retired_list retired;
	int64_t unread, looked_ms;
	int r;

	r = rg_engine_retired(roger->engine, arena, &retired, err);
	if (r < 0)
		return r;
	agent.name = rg_retired_owner(&retired, message->to);
	before.to = agent.name;
	before.gets = !rg_retired_find(&retired, agent.name);
	/* If another agent took the mailbox over, only looks of that agent count. */
	looked_ms = last_time(trace, ROGER_STEP_LOOKED,
			      rg_str_equal(agent.name, trace->to) ? RG_STR("") : agent.name);
	r = rg_engine_last_looks(roger->engine, &agent, 1, err);
	if (r == ROGER_OK)
		r = rg_engine_count(roger->engine, &before, &unread, err);
	if (r < 0)
		return r;
	if (rg_message_claimed(message, now_ms, roger->workspace->config->lease_ms_max)) {
		rg_buf_printf(out, ", %.*s has it", RG_STR_ARGS(message->claimed_by));
		add_time(out, " until ", message->claimed_until_ms, now_ms);
		return ROGER_OK;
	}
	rg_buf_printf(out, ", %.*s", RG_STR_ARGS(agent.name));
	if (!rg_str_equal(agent.name, message->to))
		rg_buf_printf(out, " (for %.*s)", RG_STR_ARGS(message->to));
	if (looked_ms)
		add_time(out, " looked at it ", looked_ms, now_ms);
	else if (agent.last_looked_at_ms)
		add_time(out, " has not looked since ", agent.last_looked_at_ms, now_ms);
	else
		rg_buf_add_text(out, " has never looked");
	rg_buf_printf(out, "; %lld unread before it", (long long)unread);
	return ROGER_OK;
}

static int summarize_trace(struct roger *roger, const struct roger_message *message,
			   struct roger_trace *trace, struct rg_arena *arena, struct roger_err *err)
{
	static const struct {
		enum roger_step step;
		const char *words;
	} ends[] = { { ROGER_STEP_HANDED, ", written to its file " },
		     { ROGER_STEP_READ, ", read " },
		     { ROGER_STEP_ACKNOWLEDGED, ", acknowledged " },
		     { ROGER_STEP_DEAD, ", given up " },
		     { ROGER_STEP_ARCHIVED, ", archived " } };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = 4096 };
	const int64_t now_ms = rg_clock_ms();
	int64_t at_ms, expired = 0;
	size_t i;
	int r = ROGER_OK;

	add_time(&out, "stored ", message->created_at_ms, now_ms);
	for (i = 0; i < sizeof ends / sizeof *ends; i++) {
		at_ms = last_time(trace, ends[i].step, RG_STR(""));
		if (at_ms && (ends[i].step != ROGER_STEP_READ || message->read))
			add_time(&out,
				 ends[i].step == ROGER_STEP_ACKNOWLEDGED &&
						 rg_message_in_place(message)
					 ? ", not read, acknowledged by " RG_PERSON " "
					 : ends[i].words,
				 at_ms, now_ms);
	}
	if (message->read && !message->read_at_ms)
		rg_buf_add_text(&out, ", read, when is not known");
	for (i = 0; i < trace->steps.count; i++)
		expired += trace->steps.items[i].step == ROGER_STEP_LEASE_EXPIRED;
	if (expired)
		rg_buf_printf(&out, ", %lld lease%s expired", (long long)expired,
			      rg_plural(expired));
	if (message->altered)
		rg_buf_printf(&out, ", %s", rg_altered_names[message->altered]);
	if (!message->read && !message->acked_at_ms && !message->archived_at_ms)
		r = add_waiting(roger, message, trace, arena, &out, err);
	trace->summary = rg_arena_take(arena, &out);
	return r;
}

/* *ret_dead: whether the message has an open dead letter. */
static int is_dead(struct roger *roger, const struct roger_message *message, struct rg_arena *arena,
		   bool *ret_dead, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS,
					    .message = message->id,
					    .states = true };
	struct rg_records found;
	size_t i;
	int r = rg_dead_letters_find(roger, &query, arena, &found, err);

	*ret_dead = false;
	for (i = 0; r == ROGER_OK && i < found.count; i++)
		*ret_dead |= rg_dead_letter_counts_as(&found.letters[i]) == ROGER_UNDELIVERED;
	return r;
}

static int trace_one(struct roger *roger, const struct roger_message *message,
		     const struct rg_history *history, struct rg_arena *arena,
		     struct roger_trace *trace, struct roger_err *err)
{
	struct roger_trace_step *steps = NULL, *place;
	const struct rg_event *event;
	enum roger_step step;
	unsigned seen = 0;
	bool dead = false;
	size_t count = 0, i;
	int r;

	for (i = 0; i < history->count; i++) {
		event = &history->items[i];
		if (!step_of(event, message, &step))
			continue;
		place = rg_arena_push(arena, &steps, &count, sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		*place = (struct roger_trace_step){ .step = (int)step,
						    .at_ms = event->flags & RG_ROW_UNDATED
								     ? 0
								     : event->said.at_ms,
						    .who = event->said.actor,
						    .words = event->said.words,
						    .attempt = event->said.attempt,
						    .file = event->said.file,
						    .line = event->said.line,
						    .byte = event->byte };
		/* Another program may have taken a reading back. */
		if (step != ROGER_STEP_READ || message->read)
			seen |= 1U << step;
	}
	r = seen & 1U << ROGER_STEP_DEAD ? is_dead(roger, message, arena, &dead, err) : ROGER_OK;
	if (r < 0)
		return r;
	*trace = (struct roger_trace){ .id = message->id,
				       .from = message->from,
				       .to = message->to,
				       .issue = message->issue,
				       .key = message->key,
				       .seq = message->seq,
				       .proved = message->proved,
				       .altered = message->altered,
				       .reached = (int)reached_by(seen, dead),
				       .steps = { steps, count } };
	return ROGER_OK;
}

/* ------------------------------------------------------------- which messages -- */

struct finding {
	struct roger *roger;
	struct rg_arena *arena;
	struct rg_table known; /* hashes of the ids in items */
	struct roger_message *items;
	size_t count;
};

static int add_message(struct finding *finding, const struct roger_message *message,
		       struct roger_err *err)
{
	bool fresh;

	if (!rg_table_put(&finding->known, rg_hash(0, message->id.data, message->id.length),
			  &fresh))
		return rg_fail_memory(err);
	if (!fresh)
		return ROGER_OK;
	return rg_kept(rg_arena_append(finding->arena, &finding->items, &finding->count, message,
				       sizeof *message),
		       err);
}

/* Add a message and all others of its send, which were stored at the same time. */
static int add_send(struct finding *finding, const struct roger_message *message,
		    struct roger_err *err)
{
	const struct rg_query query = { .from = message->from,
					.since_ms = message->created_at_ms,
					.until_ms = message->created_at_ms + 1,
					.anywhere = true };
	struct roger_message_list found = { 0 };
	size_t i;
	int r = add_message(finding, message, err);

	if (r == ROGER_OK && message->seq)
		r = rg_engine_find(finding->roger->engine, &query, finding->arena, &found, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++)
		if (rg_message_same_send(message, &found.items[i]))
			r = add_message(finding, &found.items[i], err);
	return r;
}

/* Find messages by id, else by key, with all messages of their sends. */
static int find_what(struct finding *finding, struct roger_str what, struct roger_str from,
		     struct roger_err *err)
{
	const struct rg_query by_key = { .key = what, .from = from, .anywhere = true };
	struct rg_engine *engine = finding->roger->engine;
	struct roger_message_list found;
	size_t i;
	int r;

	r = rg_engine_find_ids(engine, &what, 1, finding->arena, &found, err);
	if (r == ROGER_OK && !found.count)
		r = rg_engine_find(engine, &by_key, finding->arena, &found, err);
	if (r == ROGER_OK && !found.count)
		return rg_fail_member(
			err, ROGER_ENOENT, "ids",
			"no message '%.*s', and none with that key; `roger list` shows "
			"ids, `roger log sends` keys, also of what was not stored",
			RG_STR_ARGS(what));
	for (i = 0; r == ROGER_OK && i < found.count; i++)
		r = add_send(finding, &found.items[i], err);
	return r;
}

/* Tell the events of the messages, and when their recipients were woken. */
static int tell_all(struct rg_telling *telling, const struct roger_message *messages, size_t count,
		    struct roger_err *err)
{
	struct rg_log_query wakes = { .log = RG_LOG_ACTIVITY,
				      .step = rg_note_step_name(RG_STEP_WAKE) };
	struct roger_strs ids = { 0 };
	size_t i;
	int r;

	for (i = 0; i < count; i++)
		(void)!rg_arena_add(telling->arena, &ids, messages[i].id);
	telling->steps = true;
	r = rg_engine_bring_sends_up(telling->roger->engine, false, err);
	if (r == ROGER_OK)
		r = rg_tell_ids(telling, ids.items, ids.count, err);
	if (r == ROGER_OK)
		r = rg_tell_attempts(telling, RG_STR(""), err);
	for (i = 0; i < count && r == ROGER_OK; i++) {
		wakes.owner = messages[i].to;
		wakes.since_ms = messages[i].created_at_ms;
		r = rg_tell_entries(telling, wakes, err);
	}
	return r < 0 ? r : rg_tell_rest(telling, 0, err);
}

static int trace_all(struct finding *finding, struct rg_telling *telling,
		     struct roger_trace_reply *reply, struct roger_err *err)
{
	struct roger_message *messages = finding->items;
	struct roger *roger = finding->roger;
	struct roger_trace *traces;
	size_t count = finding->count, i;
	int r;

	if (count)
		qsort(messages, count, sizeof *messages, rg_message_place_order);
	reply->more = count > TRACES_MAX;
	if (count > TRACES_MAX)
		count = TRACES_MAX;
	traces = rg_arena_get(reply->memory, count * sizeof *traces);
	if (!traces)
		return rg_fail_memory(err);
	r = rg_engine_mark_altered(roger->engine, messages, count, reply->memory, err);
	if (r == ROGER_OK)
		r = tell_all(telling, messages, count, err);
	for (i = 0; i < count && r == ROGER_OK; i++) {
		r = trace_one(roger, &messages[i], &telling->history, reply->memory, &traces[i],
			      err);
		if (r == ROGER_OK)
			r = summarize_trace(roger, &messages[i], &traces[i], reply->memory, err);
	}
	reply->traces = (struct roger_trace_list){ traces, count };
	return r;
}

int rg_verb_trace(struct roger *roger, const struct roger_trace_request *request,
		  struct roger_trace_reply *reply, struct roger_err *err)
{
	struct finding finding = { .roger = roger, .arena = reply->memory };
	struct rg_telling telling;
	size_t i;
	int r = ROGER_OK;

	rg_table_init(&finding.known, sizeof(uint64_t));
	rg_telling_init(&telling, roger, reply->memory);
	for (i = 0; i < request->ids.count && r == ROGER_OK; i++)
		r = find_what(&finding, request->ids.items[i], request->from, err);
	if (r == ROGER_OK)
		r = trace_all(&finding, &telling, reply, err);
	rg_telling_deinit(&telling);
	rg_table_deinit(&finding.known);
	return r;
}
