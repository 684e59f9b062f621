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

/* True if the agent was woken when the message waited for it.  Of a message that another clock read
 * before its own time, that is not known, and not said. */
static bool was_waiting(const struct rg_event *wake, const struct roger_message *message)
{
	const int64_t at_ms = wake->said.at_ms;

	return rg_str_equal(wake->said.actor, message->to) && wake->before >= message->position &&
	       (!message->read || at_ms <= message->read_at_ms) &&
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
static void add_waiting(struct rg_reading *reading, const struct roger_message *message,
			const struct roger_trace *trace, struct rg_buf *out)
{
	const int64_t now_ms = rg_clock_ms();
	struct rg_query before = { .unread = true, .newest = true, .after = message->position };
	struct roger *roger = reading->roger;
	struct roger_agent agent = { 0 };
	struct roger_retired_list retired;
	int64_t unread, looked_ms;

	if (!rg_reading_got(reading, rg_engine_retired(roger->engine, reading->arena, &retired,
						       reading->err)))
		return;
	agent.name = rg_retired_owner(&retired, message->to);
	before.to = agent.name;
	before.gets = !rg_retired_find(&retired, agent.name);
	/* If another agent took the mailbox over, only looks of that agent count. */
	looked_ms = last_time(trace, ROGER_STEP_LOOKED,
			      rg_str_equal(agent.name, trace->to) ? RG_STR("") : agent.name);
	if (!rg_reading_got(reading,
			    rg_engine_last_looks(roger->engine, &agent, 1, reading->err)) ||
	    !rg_reading_got(reading,
			    rg_engine_count(roger->engine, &before, &unread, reading->err)))
		return;
	if (rg_message_claimed(message, now_ms, roger->workspace->config->lease_ms_max)) {
		rg_buf_printf(out, ", %.*s has it", RG_STR_ARGS(message->claimed_by));
		add_time(out, " until ", message->claimed_until_ms, now_ms);
		return;
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
}

static void summarize_trace(struct rg_reading *reading, const struct roger_message *message,
			    struct roger_trace *trace)
{
	static const struct {
		enum roger_step step;
		const char *words;
	} ends[] = { { ROGER_STEP_HANDED, ", written to its file " },
		     { ROGER_STEP_READ, ", read " },
		     { ROGER_STEP_ACKNOWLEDGED, ", acknowledged " },
		     { ROGER_STEP_DEAD, ", given up " },
		     { ROGER_STEP_ARCHIVED, ", archived " } };
	struct rg_buf out = { .maximum = 4096 };
	const int64_t now_ms = rg_clock_ms();
	int64_t at_ms, expired = 0;
	size_t i;

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
		add_waiting(reading, message, trace, &out);
	trace->summary = rg_arena_take(reading->arena, &out);
}

/* Has the message an open dead letter? */
static bool is_dead(struct rg_reading *reading, const struct roger_message *message)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS,
					    .message = message->id,
					    .states = true };
	const struct rg_records found = rg_read_letters(reading, &query);
	bool dead = false;
	size_t i;

	for (i = 0; i < found.count; i++)
		dead |= rg_dead_letter_counts_as(&found.letters[i]) == ROGER_UNDELIVERED;
	return dead;
}

static struct roger_trace trace_one(struct rg_reading *reading, const struct roger_message *message,
				    const struct rg_history *history)
{
	struct roger_trace trace = { .id = message->id,
				     .from = message->from,
				     .to = message->to,
				     .issue = message->issue,
				     .key = message->key,
				     .seq = message->seq,
				     .epoch = message->epoch,
				     .proved = message->proved,
				     .altered = message->altered };
	struct roger_trace_step one;
	const struct rg_event *event;
	enum roger_step step;
	unsigned seen = 0;
	size_t i;

	for (i = 0; i < history->count; i++) {
		event = &history->items[i];
		if (!step_of(event, message, &step))
			continue;
		one = (struct roger_trace_step){ .step = (int)step,
						 .at_ms = event->flags & RG_ROW_UNDATED
								  ? 0
								  : event->said.at_ms,
						 .who = event->said.actor,
						 .words = event->said.words,
						 .attempt = event->said.attempt,
						 .file = event->said.file,
						 .line = event->said.line,
						 .byte = event->byte };
		(void)!rg_arena_append(reading->arena, &trace.steps.items, &trace.steps.count, &one,
				       sizeof one);
		/* Another program may have taken a reading back. */
		if (step != ROGER_STEP_READ || message->read)
			seen |= 1U << step;
	}
	trace.reached =
		(int)reached_by(seen, seen & 1U << ROGER_STEP_DEAD && is_dead(reading, message));
	summarize_trace(reading, message, &trace);
	return trace;
}

/* ------------------------------------------------------------- which messages -- */

struct finding {
	struct rg_reading *reading;
	struct rg_arena *arena;
	struct rg_table known;	     /* hashes of the ids in items */
	struct roger_message *items; /* those that were asked for, then others of their sends */
	size_t count, asked;
};

static void add_message(struct finding *finding, const struct roger_message *message)
{
	bool fresh = false;
	const uint64_t hash = rg_hash(0, message->id.data, message->id.length);

	if (!rg_table_put(&finding->known, hash, &fresh))
		rg_reading_got(finding->reading, rg_fail_memory(finding->reading->err));
	if (fresh)
		(void)!rg_arena_append(finding->arena, &finding->items, &finding->count, message,
				       sizeof *message);
}

/* Add all others of a message's send, which were stored at the same time. */
static void add_send(struct finding *finding, const struct roger_message *message)
{
	const struct rg_query query = { .from = message->from,
					.since_ms = message->created_at_ms,
					.until_ms = message->created_at_ms + 1,
					.anywhere = true };
	struct roger_message_list found = { 0 };
	size_t i;

	if (message->seq)
		found = rg_read_messages(finding->reading, &query);
	for (i = 0; i < found.count; i++)
		if (rg_message_same_send(message, &found.items[i]))
			add_message(finding, &found.items[i]);
}

/* Find messages by id, else by key. */
static void find_asked(struct finding *finding, struct roger_str what, struct roger_str from)
{
	const struct rg_query by_id = { .ids = &what, .id_count = 1, .anywhere = true };
	const struct rg_query by_key = { .key = what, .from = from, .anywhere = true };
	struct rg_reading *reading = finding->reading;
	struct roger_message_list found = rg_read_messages(reading, &by_id);
	size_t i;

	if (reading->r == ROGER_OK && !found.count)
		found = rg_read_messages(reading, &by_key);
	if (reading->r == ROGER_OK && !found.count)
		reading->r = rg_fail_member(
			reading->err, ROGER_ENOENT, "ids",
			"no message '%.*s', and none with that key; `roger list` shows "
			"ids, `roger log sends` keys, also of what was not stored",
			RG_STR_ARGS(what));
	for (i = 0; i < found.count; i++)
		add_message(finding, &found.items[i]);
}

/* Tell the events of the messages, and when their recipients were woken. */
static void tell_all(struct rg_telling *telling, const struct roger_message *messages, size_t count)
{
	struct rg_log_query wakes = { .log = RG_LOG_ACTIVITY,
				      .step = rg_note_step_name(RG_STEP_WAKE) };
	struct roger_strs ids = { 0 };
	size_t i;

	for (i = 0; i < count; i++)
		(void)!rg_arena_add(telling->arena, &ids, messages[i].id);
	telling->steps = true;
	rg_reading_got(&telling->reading, rg_engine_bring_sends_up(telling->roger->engine, false,
								   telling->reading.err));
	rg_tell_ids(telling, ids);
	rg_tell_attempts(telling, RG_STR(""));
	for (i = 0; i < count; i++) {
		wakes.owner = messages[i].to;
		wakes.since_ms = messages[i].created_at_ms;
		rg_tell_entries(telling, wakes);
	}
	rg_tell_rest(telling, 0);
}

static void trace_all(struct finding *finding, struct rg_telling *telling,
		      struct roger_trace_reply *reply)
{
	struct roger_message *messages = finding->items;
	struct rg_reading *reading = finding->reading;
	struct roger_trace trace;
	size_t count = finding->count, i;

	if (count > 0) {
		qsort(messages, finding->asked, sizeof *messages, rg_message_place_order);
		qsort(messages + finding->asked, count - finding->asked, sizeof *messages,
		      rg_message_place_order);
	}
	reply->more = count > TRACES_MAX;
	if (count > TRACES_MAX)
		count = TRACES_MAX;
	reply->asked = (int64_t)(finding->asked < count ? finding->asked : count);
	rg_reading_got(reading, rg_engine_mark_altered(reading->roger->engine, messages, count,
						       reply->memory, reading->err));
	tell_all(telling, messages, count);
	for (i = 0; i < count && reading->r == ROGER_OK; i++) {
		trace = trace_one(reading, &messages[i], &telling->history);
		(void)!rg_arena_append(reply->memory, &reply->traces.items, &reply->traces.count,
				       &trace, sizeof trace);
	}
}

int rg_verb_trace(struct roger *roger, const struct roger_trace_request *request,
		  struct roger_trace_reply *reply, struct roger_err *err)
{
	struct rg_telling telling;
	struct finding finding = { .reading = &telling.reading, .arena = reply->memory };
	size_t i;

	rg_table_init(&finding.known, sizeof(uint64_t));
	rg_telling_init(&telling, roger, reply->memory, err);
	for (i = 0; i < request->ids.count && telling.reading.r == ROGER_OK; i++)
		find_asked(&finding, request->ids.items[i], request->from);
	finding.asked = finding.count;
	for (i = 0; i < finding.asked && telling.reading.r == ROGER_OK; i++)
		add_send(&finding, &finding.items[i]);
	if (telling.reading.r == ROGER_OK)
		trace_all(&finding, &telling, reply);
	rg_telling_deinit(&telling);
	rg_table_deinit(&finding.known);
	return telling.reading.r;
}
