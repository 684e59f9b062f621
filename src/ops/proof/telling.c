#include "ops/proof/telling.h"

#include <stdio.h>
#include <stdlib.h>

#include "facts/message.h"
#include "facts/note.h"
#include "facts/person.h"
#include "facts/sentence.h"
#include "ops/keys/attempt.h"

enum {
	IDS_MAX = 500,	 /* ids in one query */
	LATE_MS = 60000, /* a note may be so much later than its event */
	NOTES_MAX = 64,
};

void rg_telling_init(struct rg_telling *telling, struct roger *roger, struct rg_arena *arena)
{
	*telling = (struct rg_telling){
		.roger = roger, .arena = arena, .now_ms = rg_clock_ms(), .history.arena = arena
	};
	rg_table_init(&telling->known, sizeof(uint64_t));
}

void rg_telling_deinit(struct rg_telling *telling)
{
	rg_table_deinit(&telling->known);
}

/* ------------------------------------------------------------------ asking -- */

static int keep_row(void *history_, const struct rg_event *row, struct roger_err *err)
{
	struct rg_history *history = history_;
	struct rg_event kept;

	if (!row) {
		history->count = 0;
		return ROGER_OK;
	}
	kept = *row;
	return rg_kept(rg_record_keep(&rg_event_record, &kept.said, history->arena) &&
			       rg_arena_copy(history->arena, row->id, &kept.id) &&
			       rg_arena_copy(history->arena, row->to, &kept.to) &&
			       rg_arena_copy(history->arena, row->text, &kept.text) &&
			       rg_arena_append(history->arena, &history->items, &history->count,
					       &kept, sizeof kept),
		       err);
}

int rg_rows_load(struct roger *roger, const struct rg_log_query *query, struct rg_arena *arena,
		 struct rg_history *ret_rows, struct roger_err *err)
{
	*ret_rows = (struct rg_history){ .arena = arena };
	return rg_engine_rows(roger->engine, query, keep_row, ret_rows, err);
}

void rg_telling_keep(struct rg_telling *telling, struct rg_event event)
{
	if (!event.position)
		event.position = (int64_t)telling->history.count + 1;
	(void)!keep_row(&telling->history, &event, NULL);
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

static int ask_events(struct rg_telling *telling, const struct rg_query *messages,
		      const struct rg_log_query *entries, struct roger_err *err)
{
	const struct rg_event_query query = { .messages = messages, .entries = entries };
	const int64_t limit = messages ? messages->limit : entries->limit;
	int64_t count;
	int r = rg_engine_events(telling->roger->engine, &query, take_event, telling, &count, err);

	telling->more |= r == ROGER_OK && limit && count >= limit;
	return r;
}

int rg_tell_messages(struct rg_telling *telling, struct rg_query query, struct roger_err *err)
{
	int r;

	query.newest = true;
	query.until_ms = telling->until_ms;
	query.limit = telling->limit;
	r = ask_events(telling, &query, NULL, err);
	query.archived = true;
	return r < 0 ? r : ask_events(telling, &query, NULL, err);
}

int rg_tell_entries(struct rg_telling *telling, struct rg_log_query query, struct roger_err *err)
{
	query.newest = true;
	/* Send logs are many files, and in which order they were read must not show. */
	query.by_time = query.log == RG_LOG_SENDS && !query.owner.length;
	query.until_ms = telling->until_ms;
	query.limit = telling->limit;
	return ask_events(telling, NULL, &query, err);
}

/* Tell these messages, or the entries of another log that name one of them. */
static int tell_named(struct rg_telling *telling, enum rg_log log, const struct roger_str *ids,
		      size_t count, struct roger_err *err)
{
	struct rg_log_query entries = { .log = log };
	struct rg_query messages = { .anywhere = true };
	size_t done, some;
	int r = ROGER_OK;

	for (done = 0; done < count && r == ROGER_OK; done += some) {
		some = count - done < IDS_MAX ? count - done : IDS_MAX;
		messages.ids = entries.messages = ids + done;
		messages.id_count = entries.message_count = some;
		r = log == RG_LOG_MESSAGES ? ask_events(telling, &messages, NULL, err)
					   : rg_tell_entries(telling, entries, err);
	}
	return r;
}

int rg_tell_ids(struct rg_telling *telling, const struct roger_str *ids, size_t count,
		struct roger_err *err)
{
	return tell_named(telling, RG_LOG_MESSAGES, ids, count, err);
}

int rg_tell_attempts(struct rg_telling *telling, struct roger_str task, struct roger_err *err)
{
	const struct rg_history *history = &telling->history;
	struct roger_strs keyed = { 0 }, others = { 0 };
	const struct roger_event *said;
	size_t i;
	int r;

	for (i = 0; i < history->count; i++) {
		said = &history->items[i].said;
		if (said->kind != ROGER_EVENT_SENT ||
		    (said->key.length && rg_str_equal(rg_key_task(said->key), task)))
			continue;
		(void)!rg_arena_add(telling->arena, &others, said->message);
		if (said->key.length)
			(void)!rg_arena_add(telling->arena, &keyed, said->message);
	}
	r = tell_named(telling, RG_LOG_SENDS, keyed.items, keyed.count, err);
	/* A message without a key may have a dead letter, too, when its leases expired. */
	return r < 0 ? r
		     : tell_named(telling, RG_LOG_DEAD_LETTERS, others.items, others.count, err);
}

int rg_tell_attempted(struct rg_telling *telling, struct roger_err *err)
{
	const struct rg_history *history = &telling->history;
	struct roger_strs ids = { 0 };
	size_t i;

	for (i = 0; i < history->count; i++)
		if (history->items[i].log == RG_LOG_SENDS && history->items[i].said.message.length)
			(void)!rg_arena_add(telling->arena, &ids, history->items[i].said.message);
	return rg_tell_ids(telling, ids.items, ids.count, err);
}

/* ---------------------------------------------------------- who ran it -- */

/* Print who ran a verb, like "uid 1000, bash, pts/3" or "token bob 1a2b3c4d". */
static struct roger_str print_ran(struct rg_telling *telling, const struct rg_note *note)
{
	static const char member[] = "\"uid\":";
	const struct roger_str more = note->numbers;
	const char *uid =
		more.length ? memmem(more.data, more.length, member, sizeof member - 1) : NULL;

	if (!uid)
		return note->login;
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
 * message.  Take from it who ran the verb, and the time if the event has none. */
static int look_in_notes(struct rg_telling *telling, enum rg_note_kind kind, struct roger_str owner,
			 int64_t until_ms, struct rg_event *event, bool *ret_found,
			 struct roger_err *err)
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
	struct rg_log_entries found;
	struct rg_note note;
	size_t i;
	int r;

	*ret_found = false;
	r = rg_engine_log_find(telling->roger->engine, &query, telling->arena, &found, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		r = rg_note_read(found.items[i].text, telling->arena, &note, err);
		if (r < 0 || note.kind != (int)kind || note.failure ||
		    (kind == RG_NOTE_RECORDED && !rg_str_is(note.verb, rg_op_archive.name) &&
		     !rg_str_is(note.verb, rg_op_cleanup.name)))
			continue;
		if (!rg_str_among(note.ids, event->said.message)) {
			say_perhaps(telling, &note, event);
			continue;
		}
		*ret_found = true;
		if (undated && note.entry.at_ms <= until_ms) {
			event->said.at_ms = note.entry.at_ms;
			event->flags &= ~RG_ROW_UNDATED;
		}
		event->ran = print_ran(telling, &note);
		break;
	}
	return r;
}

/* Look for a note of the recipient, then of the actor that took over from it, then of anybody. */
static int look_for_note(struct rg_telling *telling, enum rg_note_kind kind, int64_t until_ms,
			 struct rg_event *event, bool *ret_found, struct roger_err *err)
{
	const struct roger_str actor = event->said.actor;
	int r = ROGER_OK;

	*ret_found = false;
	if (!rg_str_is(actor, RG_PERSON))
		r = look_in_notes(telling, kind, event->to, until_ms, event, ret_found, err);
	if (r == ROGER_OK && !*ret_found && !rg_str_equal(actor, event->to))
		r = look_in_notes(telling, kind, actor, until_ms, event, ret_found, err);
	return r < 0 || *ret_found || event->ran.length || rg_str_equal(actor, event->to)
		       ? r
		       : look_in_notes(telling, kind, RG_STR(""), until_ms, event, ret_found, err);
}

/* Find who ran the verb that wrote an event's line, if a note of that time says so. */
static int look_for_ran(struct rg_telling *telling, struct rg_event *event, struct roger_err *err)
{
	const int64_t at_ms = event->said.at_ms;
	const int kind = event->said.kind;
	bool found = false;
	int r = ROGER_OK;

	if (event->flags & (RG_ROW_FOREIGN | RG_ROW_NOTE))
		return ROGER_OK;
	if (kind == ROGER_EVENT_ARCHIVED)
		return look_in_notes(telling, RG_NOTE_RECORDED, RG_STR(""), at_ms, event, &found,
				     err);
	if (kind == ROGER_EVENT_CLAIMED)
		return look_for_note(telling, RG_NOTE_CLAIMED,
				     event->flags & RG_ROW_UNDATED ? event->number : at_ms, event,
				     &found, err);
	if (kind == ROGER_EVENT_READ)
		r = look_for_note(telling, RG_NOTE_READ, at_ms, event, &found, err);
	/* An ack of a message that was not received is also its reading. */
	if (r == ROGER_OK && !found &&
	    (kind == ROGER_EVENT_READ || kind == ROGER_EVENT_ACKNOWLEDGED))
		r = look_for_note(telling, RG_NOTE_ACKNOWLEDGED, at_ms, event, &found, err);
	return r;
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

static int say_event(struct rg_telling *telling, struct rg_event *event, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = 65536 };
	struct roger_message_list found = { 0 };
	int r = ROGER_OK;

	/* Only the journal has the reason of an archiving. */
	if (event->said.kind == ROGER_EVENT_ARCHIVED)
		r = rg_engine_find_ids(telling->roger->engine, &event->said.message, 1,
				       telling->arena, &found, err);
	if (r < 0)
		return r;
	if (found.count)
		event->text = found.items[0].archive_reason;
	rg_say_message(event, &words);
	event->said.words = rg_arena_take(telling->arena, &words);
	return ROGER_OK;
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

int rg_tell_rest(struct rg_telling *telling, int64_t since_ms, struct roger_err *err)
{
	struct rg_history *history = &telling->history;
	struct rg_event event;
	size_t count, i;
	int r = ROGER_OK;

	for (i = 0; i < telling->runs.count; i++)
		rg_tell_run(telling, &telling->runs.items[i]);
	count = history->count;
	for (i = 0; i < count && r == ROGER_OK; i++) {
		event = history->items[i];
		if (!event.of)
			continue;
		r = look_for_ran(telling, &event, err);
		history->items[i] = event;
		keep_look(telling, &event);
		keep_end(telling, &event);
	}
	for (i = 0; i < history->count && r == ROGER_OK; i++)
		if (history->items[i].of)
			r = say_event(telling, &history->items[i], err);
	if (r < 0)
		return r;
	if (history->count)
		qsort(history->items, history->count, sizeof *history->items, compare_rows);
	return rg_history_arrange(history, since_ms, telling->until_ms, err);
}

/* Keep an event for the first message of each session, but not of the first event's session. */
static int keep_sessions(struct rg_telling *telling, size_t count, struct roger_err *err)
{
	struct rg_event event;
	int64_t session = 0;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < count && r == ROGER_OK; i++) {
		event = telling->history.items[i];
		if (event.said.kind != ROGER_EVENT_SENT || event.before <= session)
			continue;
		if (session) {
			event.said.kind = ROGER_EVENT_SESSION;
			event.said.seq = event.said.bytes = event.said.type = 0;
			event.said.peer = event.said.key = RG_STR("");
			r = say_event(telling, &event, err);
			rg_telling_keep(telling, event);
		}
		session = event.before;
	}
	return r;
}

int rg_tell_around(struct rg_telling *telling, struct roger_err *err)
{
	const struct rg_log_query damages = { .log = RG_LOG_DAMAGE };
	struct rg_log_query cycles = { .log = RG_LOG_CYCLES };
	struct rg_history *history = &telling->history;
	const size_t before = history->count;
	int r;

	if (!before)
		return ROGER_OK;
	cycles.since_ms = history->items[0].said.at_ms;
	cycles.until_ms = history->items[before - 1].said.at_ms + 1;
	r = ask_events(telling, NULL, &cycles, err);
	if (r == ROGER_OK)
		r = keep_sessions(telling, before, err);
	rg_engine_note_rewrites(telling->roger->engine, true);
	if (r == ROGER_OK)
		r = ask_events(telling, NULL, &damages, err);
	return r < 0 ? r : rg_history_arrange(history, cycles.since_ms, telling->until_ms, err);
}
