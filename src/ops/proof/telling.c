#include "ops/proof/telling.h"

#include <stdio.h>
#include <stdlib.h>

#include "facts/message.h"
#include "facts/note.h"
#include "facts/person.h"
#include "facts/sentence.h"

enum {
	IDS_MAX = 500,	 /* ids in one query */
	LATE_MS = 60000, /* a note may be so much later than its event */
	NOTES_MAX = 64,
};

void rg_telling_init(struct rg_telling *telling, struct roger *roger, struct rg_arena *arena,
		     struct roger_err *err)
{
	*telling = (struct rg_telling){ .reading = { roger, arena, err, ROGER_OK },
					.roger = roger,
					.arena = arena,
					.now_ms = rg_clock_ms(),
					.history.arena = arena };
	rg_table_init(&telling->known, sizeof(uint64_t));
}

void rg_telling_deinit(struct rg_telling *telling)
{
	rg_table_deinit(&telling->known);
}

/* ------------------------------------------------------------------ asking -- */

void rg_telling_keep(struct rg_telling *telling, struct rg_event event)
{
	if (!event.position)
		event.position = (int64_t)telling->history.count + 1;
	rg_history_keep(&telling->history, &event);
}

/* Keep an event unless it is known: after the index was mended, all events come again. */
static int take_event(void *context, const struct rg_event *event, struct roger_err *err)
{
	struct rg_telling *telling = context;
	struct rg_event told;
	uint64_t hash;
	bool fresh;

	if (!event ||
	    (event->echo && !telling->steps && !(event->log == RG_LOG_ACTIVITY && telling->own)))
		return ROGER_OK;
	told = *event;
	if (!told.said.file.length)
		told.said.file = telling->roger->workspace->config->jsonl_file;
	/* A line has at most one event of each kind about a message. */
	const int64_t place[] = { told.of, told.said.line, told.before, told.log, told.said.kind };

	hash = rg_hash(0, told.said.file.data, told.said.file.length);
	if (!rg_table_put(&telling->known, rg_hash(hash, place, sizeof place), &fresh))
		return rg_fail_memory(err);
	if (fresh)
		rg_telling_keep(telling, told);
	return ROGER_OK;
}

static void ask_events(struct rg_telling *telling, const struct rg_query *messages,
		       const struct rg_log_query *entries)
{
	const struct rg_event_query query = { .messages = messages, .entries = entries };
	const int64_t limit = messages ? messages->limit : entries->limit;
	int64_t count = 0;

	rg_reading_got(&telling->reading,
		       rg_engine_events(telling->roger->engine, &query, take_event, telling, &count,
					telling->reading.err));
	telling->more |= limit && count >= limit;
}

void rg_tell_messages(struct rg_telling *telling, struct rg_query query)
{
	query.newest = true;
	query.until_ms = telling->until_ms;
	query.limit = telling->limit;
	ask_events(telling, &query, NULL);
	query.archived = true;
	ask_events(telling, &query, NULL);
}

void rg_tell_entries(struct rg_telling *telling, struct rg_log_query query)
{
	query.newest = true;
	/* Send logs are many files, and in which order they were read must not show. */
	query.by_time = query.log == RG_LOG_SENDS && !query.owner.length;
	query.until_ms = telling->until_ms;
	query.limit = telling->limit;
	ask_events(telling, NULL, &query);
}

/* Tell these messages, or the entries of another log that name one of them. */
static void tell_named(struct rg_telling *telling, enum rg_log log, struct roger_strs ids)
{
	struct rg_log_query entries = { .log = log };
	struct rg_query messages = { .anywhere = true };
	size_t done, some;

	for (done = 0; done < ids.count; done += some) {
		some = ids.count - done < IDS_MAX ? ids.count - done : IDS_MAX;
		messages.ids = entries.messages = ids.items + done;
		messages.id_count = entries.message_count = some;
		if (log == RG_LOG_MESSAGES)
			ask_events(telling, &messages, NULL);
		else
			rg_tell_entries(telling, entries);
	}
}

void rg_tell_ids(struct rg_telling *telling, struct roger_strs ids)
{
	tell_named(telling, RG_LOG_MESSAGES, ids);
}

void rg_tell_attempts(struct rg_telling *telling, struct roger_str task)
{
	const struct rg_history *history = &telling->history;
	struct roger_strs keyed = { 0 }, others = { 0 };
	const struct roger_event *said;
	size_t i;

	for (i = 0; i < history->count; i++) {
		said = &history->items[i].said;
		if (said->kind != ROGER_EVENT_SENT ||
		    (said->key.length && rg_str_equal(rg_key_task(said->key), task)))
			continue;
		(void)!rg_arena_add(telling->arena, &others, said->message);
		if (said->key.length)
			(void)!rg_arena_add(telling->arena, &keyed, said->message);
	}
	tell_named(telling, RG_LOG_SENDS, keyed);
	/* A message without a key may have a dead letter, too, when its leases expired. */
	tell_named(telling, RG_LOG_DEAD_LETTERS, others);
}

void rg_tell_attempted(struct rg_telling *telling)
{
	const struct rg_history *history = &telling->history;
	struct roger_strs ids = { 0 };
	size_t i;

	for (i = 0; i < history->count; i++)
		if (history->items[i].log == RG_LOG_SENDS && history->items[i].said.message.length)
			(void)!rg_arena_add(telling->arena, &ids, history->items[i].said.message);
	rg_tell_ids(telling, ids);
}

/* ---------------------------------------------------------- who ran it -- */

/* Print who ran a verb, like "uid 1000, bash, pts/3" or "token bob 1a2b3c4d". */
static struct roger_str print_ran(struct rg_telling *telling, const struct rg_note *note)
{
	static const char member[] = "\"uid\":";
	const struct roger_str more = note->numbers;
	const char *uid = rg_str_find_part(more, rg_str(member));

	if (!uid)
		return rg_arena_str(telling->arena, note->login);
	return rg_arena_text(telling->arena, "uid %lld%s%.*s%s%.*s",
			     strtoll(uid + sizeof member - 1, NULL, 10),
			     note->parent.length ? ", " : "", RG_STR_ARGS(note->parent),
			     note->terminal.length ? ", " : "", RG_STR_ARGS(note->terminal));
}

/* Say who may have run an event.  A note may name only some of its messages, or an issue, so it is
 * not known whether it is about this one. */
static void say_perhaps(struct rg_telling *telling, const struct rg_note *note,
			struct rg_event *event)
{
	const size_t named = note->ids.count;
	struct roger_str ran;
	char count[48] = "no message";

	if (event->ran.length || (named && note->count <= (int64_t)named) ||
	    (!rg_str_equal(note->agent, event->to) && note->kind != RG_NOTE_RECORDED &&
	     !rg_str_equal(note->agent, event->said.actor)))
		return;
	if (named)
		snprintf(count, sizeof count, "%zu of %lld", named, (long long)note->count);
	ran = print_ran(telling, note);
	if (ran.length)
		event->ran = rg_arena_text(telling->arena, "%.*s, perhaps: its note names %s",
					   RG_STR_ARGS(ran), count);
}

/* Find the first note of this kind, from the event's time to LATE_MS after until_ms, that names its
 * message.  Take from it who ran the verb, and the time if the event has none.  False: none. */
static bool look_in_notes(struct rg_telling *telling, enum rg_note_kind kind,
			  struct roger_str owner, int64_t until_ms, struct rg_event *event)
{
	const bool undated = event->flags & RG_ROW_UNDATED;
	const struct rg_log_query query = {
		.log = RG_LOG_ACTIVITY,
		.owner = owner,
		.step = rg_note_step_name(kind == RG_NOTE_RECORDED	 ? RG_STEP_NONE
					  : kind == RG_NOTE_ACKNOWLEDGED ? RG_STEP_ACK
									 : RG_STEP_LOOK),
		.since_ms = event->said.at_ms ? event->said.at_ms : 1,
		.until_ms = until_ms + LATE_MS,
		.limit = NOTES_MAX,
	};
	/* Each event has many notes read, so their memory is freed again. */
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_reading reading = telling->reading;
	struct rg_log_entries found;
	struct rg_note note;
	size_t i;

	if (!rg_reading_got(&telling->reading, rg_kept(arena, reading.err)))
		return false;
	reading.arena = arena;
	found = rg_read_entries(&reading, &query);
	if (!rg_reading_got(&telling->reading, reading.r))
		return false;
	for (i = 0; i < found.count; i++) {
		if (!rg_reading_got(&telling->reading,
				    rg_note_read(found.items[i].text, arena, &note, reading.err)))
			return false;
		if (note.kind != (int)kind || note.failure ||
		    (kind == RG_NOTE_RECORDED && !rg_str_is(note.verb, rg_op_archive.name) &&
		     !rg_str_is(note.verb, rg_op_cleanup.name)))
			continue;
		if (!rg_str_among(note.ids, event->said.message)) {
			say_perhaps(telling, &note, event);
			continue;
		}
		if (undated && note.entry.at_ms <= until_ms) {
			event->said.at_ms = note.entry.at_ms;
			event->flags &= ~RG_ROW_UNDATED;
		}
		event->ran = print_ran(telling, &note);
		return true;
	}
	return false;
}

/* Look for a note of the recipient, then of the actor that took over from it, then of anybody. */
static bool look_for_note(struct rg_telling *telling, enum rg_note_kind kind, int64_t until_ms,
			  struct rg_event *event)
{
	const struct roger_str actor = event->said.actor;

	if (!rg_str_is(actor, RG_PERSON) &&
	    look_in_notes(telling, kind, event->to, until_ms, event))
		return true;
	if (rg_str_equal(actor, event->to))
		return false;
	return look_in_notes(telling, kind, actor, until_ms, event) ||
	       (!event->ran.length && look_in_notes(telling, kind, RG_STR(""), until_ms, event));
}

/* Find who ran the verb that wrote an event's line, if a note of that time says so. */
static void look_for_ran(struct rg_telling *telling, struct rg_event *event)
{
	const int64_t at_ms = event->said.at_ms;
	const int kind = event->said.kind;

	if (event->flags & (RG_ROW_FOREIGN | RG_ROW_NOTE))
		return;
	if (kind == ROGER_EVENT_ARCHIVED)
		look_in_notes(telling, RG_NOTE_RECORDED, RG_STR(""), at_ms, event);
	if (kind == ROGER_EVENT_CLAIMED)
		look_for_note(telling, RG_NOTE_CLAIMED,
			      event->flags & RG_ROW_UNDATED ? event->number : at_ms, event);
	if (kind == ROGER_EVENT_READ && look_for_note(telling, RG_NOTE_READ, at_ms, event))
		return;
	/* An ack of a message that was not received is also its reading. */
	if (kind == ROGER_EVENT_READ || kind == ROGER_EVENT_ACKNOWLEDGED)
		look_for_note(telling, RG_NOTE_ACKNOWLEDGED, at_ms, event);
}

/* ------------------------------------------------ what no line says -- */

bool rg_flags_look(const struct roger *roger, int flags, struct roger_str to)
{
	return flags & RG_ROW_LOOK && !rg_config_is_file_only(roger->workspace->config, to);
}

/* Keep a look, too, if this claim or reading was the first look at its message. */
static void keep_look(struct rg_telling *telling, const struct rg_event *taking)
{
	const struct rg_history *history = &telling->history;
	const struct rg_event *ack;
	struct rg_event look = *taking;
	size_t i;

	if (!telling->steps || !rg_flags_look(telling->roger, taking->flags, taking->to))
		return;
	look.said.kind = ROGER_EVENT_LOOKED;
	look.text = RG_STR("by receive");
	/* If the same line also acknowledges the message, ack was the look. */
	for (i = 0; i < history->count; i++) {
		ack = &history->items[i];
		if (ack->said.kind == ROGER_EVENT_ACKNOWLEDGED && ack->of == taking->of &&
		    ack->said.line == taking->said.line &&
		    rg_str_equal(ack->said.file, taking->said.file))
			look.text = RG_STR("by ack");
	}
	if (taking->said.kind == ROGER_EVENT_CLAIMED)
		look.text = RG_STR("by claim");
	rg_telling_keep(telling, look);
}

/* Keep the end of a lease that no line ended: when it is due, or that it expired. */
static void keep_end(struct rg_telling *telling, const struct rg_event *claim)
{
	const int64_t longest_ms = telling->roger->workspace->config->lease_ms_max;
	struct rg_event end = *claim;

	if (claim->said.kind != ROGER_EVENT_CLAIMED || !claim->open)
		return;
	end.text = claim->said.actor;
	end.said.actor = claim->to;
	end.said.at_ms = claim->number;
	end.said.kind = ROGER_EVENT_DUE;
	end.flags = RG_ROW_BY_LEASE;
	end.ran = RG_STR("");
	if (claim->number <= telling->now_ms || claim->number - telling->now_ms > longest_ms) {
		end.said.kind = ROGER_EVENT_LEASE_EXPIRED;
		if (claim->number > telling->now_ms)
			end.said.at_ms = telling->now_ms;
	}
	rg_telling_keep(telling, end);
}

static void say_event(struct rg_telling *telling, struct rg_event *event)
{
	const struct rg_query query = { .ids = &event->said.message,
					.id_count = 1,
					.anywhere = true };
	struct rg_buf words = { .maximum = 65536 };
	struct roger_message_list found = { 0 };

	/* Only the journal has the reason of an archiving. */
	if (event->said.kind == ROGER_EVENT_ARCHIVED)
		found = rg_read_messages(&telling->reading, &query);
	if (found.count)
		event->text = found.items[0].archive_reason;
	rg_say_message(event, &words);
	event->said.words = rg_arena_take(telling->arena, &words);
}

/* ------------------------------------------------------------------- order -- */

/* Order log rows before message rows, since they lead to these; each in the order of its lines. */
static int compare_rows(const void *a, const void *b)
{
	static const int ranks[RG_LOGS + 1] = { [RG_LOG_ACTIVITY] = -3,
						[RG_LOG_SENDS] = -2,
						[RG_LOG_DEAD_LETTERS] = -1,
						[RG_LOGS] = 1 };
	const struct rg_event *x = a, *y = b;

	if (ranks[x->log] != ranks[y->log])
		return ranks[x->log] - ranks[y->log];
	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	return (x->position > y->position) - (x->position < y->position);
}

static void arrange_events(struct rg_telling *telling, int64_t since_ms)
{
	rg_reading_got(&telling->reading,
		       rg_history_arrange(&telling->history, since_ms, telling->until_ms,
					  telling->reading.err));
}

void rg_tell_rest(struct rg_telling *telling, int64_t since_ms)
{
	struct rg_history *history = &telling->history;
	struct rg_event event;
	size_t count, i;

	for (i = 0; i < telling->runs.count; i++)
		rg_tell_run(telling, &telling->runs.items[i]);
	count = history->count;
	for (i = 0; i < count; i++) {
		event = history->items[i];
		if (!event.of)
			continue;
		look_for_ran(telling, &event);
		history->items[i] = event;
		keep_look(telling, &event);
		keep_end(telling, &event);
	}
	for (i = 0; i < history->count; i++)
		if (history->items[i].of)
			say_event(telling, &history->items[i]);
	if (history->count)
		qsort(history->items, history->count, sizeof *history->items, compare_rows);
	arrange_events(telling, since_ms);
}

/* Keep an event for the first message of each session, but not of the first event's session. */
static void keep_sessions(struct rg_telling *telling, size_t count)
{
	struct rg_event event;
	int64_t session = 0;
	size_t i;

	for (i = 0; i < count; i++) {
		event = telling->history.items[i];
		if (event.said.kind != ROGER_EVENT_SENT || event.before <= session)
			continue;
		if (session) {
			event.said.kind = ROGER_EVENT_SESSION;
			event.said.seq = event.said.bytes = event.said.type = 0;
			event.said.peer = event.said.key = RG_STR("");
			say_event(telling, &event);
			rg_telling_keep(telling, event);
		}
		session = event.before;
	}
}

void rg_tell_around(struct rg_telling *telling)
{
	const struct rg_log_query damages = { .log = RG_LOG_DAMAGE };
	struct rg_log_query cycles = { .log = RG_LOG_CYCLES };
	const struct rg_history *history = &telling->history;
	const size_t before = history->count;

	if (!before)
		return;
	cycles.since_ms = history->items[0].said.at_ms;
	cycles.until_ms = history->items[before - 1].said.at_ms + 1;
	ask_events(telling, NULL, &cycles);
	keep_sessions(telling, before);
	rg_engine_note_rewrites(telling->roger->engine, true);
	ask_events(telling, NULL, &damages);
	arrange_events(telling, cycles.since_ms);
}
