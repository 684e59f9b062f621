#include "ops/proof/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "facts/message.h"
#include "facts/note.h"
#include "ops/caller.h"
#include "ops/keys/attempt.h"

/* What was seen of a message so far. */
struct life {
	uint64_t id;		     /* hashed */
	const struct rg_state *last; /* its state before; NULL: none */
	int64_t at_ms;		     /* of the last event that has a time */
	bool held, looked, acknowledged;
	int64_t attempt; /* the last one that the send log knows */
	struct noted {
		int64_t at_ms, line; /* 0: it is not noted */
		struct roger_str file;
		struct roger_str ran; /* who ran it, or "" */
	} shown, read, acked;	      /* the first time */
	struct {
		struct noted *items;
		size_t count, used;
	} claims; /* by the notes */
};

void rg_stream_init(struct rg_stream *stream, struct roger *roger, struct rg_arena *arena,
		    rg_event_see *see, void *context)
{
	*stream = (struct rg_stream){ .roger = roger,
				      .arena = arena,
				      .see = see,
				      .context = context,
				      .now_ms = rg_clock_ms(),
				      .attempts.arena = arena };
	rg_table_init(&stream->lives, sizeof(struct life));
}

void rg_stream_deinit(struct rg_stream *stream)
{
	rg_table_deinit(&stream->lives);
}

static struct life *find_life(const struct rg_stream *stream, struct roger_str id)
{
	return rg_table_find(&stream->lives, rg_hash(0, id.data, id.length));
}

static struct life *life_of(struct rg_stream *stream, struct roger_str id)
{
	bool fresh;

	return rg_table_put(&stream->lives, rg_hash(0, id.data, id.length), &fresh);
}

static int see(struct rg_stream *stream, const struct rg_event *event, struct roger_err *err)
{
	return stream->see(stream->context, event, err);
}

/* -------------------------------------------------------------- messages -- */

static struct rg_event of_message(const struct rg_stream *stream, const struct rg_state *state,
				  enum roger_event_kind kind, int64_t at_ms)
{
	const struct roger_message *message = &state->message;
	const bool told = state->line != 0;

	return (struct rg_event){
		.said = { .kind = (int)kind,
			  .at_ms = at_ms,
			  .message = message->id,
			  .issue = message->issue,
			  .key = message->key,
			  .seq = message->seq,
			  .type = message->type,
			  .bytes = state->bytes,
			  .actor = message->to,
			  .peer = message->from,
			  .file = told ? stream->roger->workspace->config->jsonl_file : RG_STR(""),
			  .line = state->line },
		.line = state->line,
		.byte = state->byte,
		.message = message,
	};
}

/* As it is: where its time is not known, it comes after what was before it. */
static int see_dated(struct rg_stream *stream, struct life *life, struct rg_event *event,
		     struct roger_err *err)
{
	event->undated = !event->said.at_ms;
	if (event->undated)
		event->said.at_ms = life->at_ms;
	life->at_ms = event->said.at_ms;
	return see(stream, event, err);
}

/* What is written to a file was not looked at. */
static bool is_file_only(const struct rg_stream *stream, struct roger_str agent)
{
	const struct roger_strs *names = &stream->roger->workspace->config->file_only;
	size_t i;

	for (i = 0; i < names->count; i++)
		if (rg_str_equal(names->items[i], agent))
			return true;
	return false;
}

/* Who takes it sees it, unless it was seen before. */
static int see_taking(struct rg_stream *stream, struct life *life, struct rg_event *taking,
		      struct roger_err *err)
{
	struct rg_event looked;
	int r = ROGER_OK;

	/* What another program marked says nothing of a look. */
	if (!life->looked && !taking->foreign && !is_file_only(stream, taking->message->to)) {
		life->looked = true;
		looked = *taking;
		looked.said.kind = ROGER_EVENT_LOOKED;
		looked.said.words = taking->said.kind == ROGER_EVENT_CLAIMED ? RG_STR("by claim")
									     : RG_STR("by receive");
		looked.echo = true;
		r = see_dated(stream, life, &looked, err);
	}
	return r < 0 ? r : see_dated(stream, life, taking, err);
}

/* What a note tells of a message. */
static int see_noted(struct rg_stream *stream, const struct rg_state *state,
		     enum roger_event_kind kind, const struct noted *noted, bool *ret_done,
		     struct roger_err *err)
{
	struct rg_event event;

	if (*ret_done || !noted->at_ms)
		return ROGER_OK;
	event = of_message(stream, state, kind, noted->at_ms);
	*ret_done = event.echo = true;
	event.said.file = noted->file;
	event.said.line = noted->line;
	event.line = event.byte = 0;
	return see(stream, &event, err);
}

static int see_stored(struct rg_stream *stream, struct life *life, const struct rg_state *state,
		      struct roger_err *err)
{
	const struct roger_message *message = &state->message;
	struct rg_event event = of_message(stream, state, ROGER_EVENT_SENT, message->created_at_ms);
	int r;

	event.said.actor = message->from;
	event.said.peer = message->to;
	r = see_dated(stream, life, &event, err);
	return r < 0 ? r
		     : see_noted(stream, state, ROGER_EVENT_LOOKED, &life->shown, &life->looked,
				 err);
}

/* The first note of a claim that can be the one of this lease; notes may come late. */
static struct noted find_claim(struct life *life, int64_t until_ms)
{
	enum { LATE_MS = 60000 };
	const struct noted none = { 0 };
	struct noted noted;

	while (life->claims.used < life->claims.count) {
		noted = life->claims.items[life->claims.used];
		if (noted.at_ms > until_ms + LATE_MS)
			break;
		life->claims.used++;
		if (noted.at_ms >= life->at_ms)
			return noted.at_ms <= until_ms ? noted : none;
	}
	return none;
}

static int see_lease_end(struct rg_stream *stream, struct life *life, const struct rg_state *state,
			 struct roger_err *err)
{
	const struct rg_state *before = life->last;
	const struct roger_message *after = &state->message;
	const bool done = after->read || after->archived_at_ms;
	const int64_t end_ms = after->read ? after->read_at_ms : after->archived_at_ms;
	struct rg_event event = of_message(stream, before, ROGER_EVENT_LEASE_EXPIRED,
					   before->message.claimed_until_ms);

	life->held = false;
	if (!done && rg_str_equal(before->message.claimed_by, after->claimed_by) &&
	    after->claimed_until_ms < before->message.claimed_until_ms) {
		event = of_message(stream, state, ROGER_EVENT_RETURNED, after->claimed_until_ms);
		event.said.actor = after->claimed_by;
	} else if (done && end_ms < before->message.claimed_until_ms) {
		return ROGER_OK;
	}
	return see_dated(stream, life, &event, err);
}

static int see_claim(struct rg_stream *stream, struct life *life, const struct rg_state *state,
		     struct roger_err *err)
{
	const struct noted noted = find_claim(life, state->message.claimed_until_ms);
	/* Lines of older programs do not say when: who got it may have noted that. */
	const int64_t at_ms = state->message.claimed_at_ms;
	struct rg_event event =
		of_message(stream, state, ROGER_EVENT_CLAIMED, at_ms ? at_ms : noted.at_ms);

	life->held = true;
	event.ran = noted.ran;
	event.said.actor = state->message.claimed_by;
	event.before_ms = state->message.claimed_until_ms;
	return see_taking(stream, life, &event, err);
}

static int see_lease(struct rg_stream *stream, struct life *life, const struct rg_state *state,
		     struct roger_err *err)
{
	const struct roger_message *before = life->last ? &life->last->message : NULL,
				   *after = &state->message;
	const bool same = before && rg_str_equal(before->claimed_by, after->claimed_by),
		   again = same && before->claimed_until_ms == after->claimed_until_ms,
		   shorter = same && before->claimed_until_ms > after->claimed_until_ms,
		   done = after->read || after->archived_at_ms;
	int r = ROGER_OK;

	if (life->held && (done || !again))
		r = see_lease_end(stream, life, state, err);
	if (r < 0 || done || again || shorter || !after->claimed_by.length)
		return r;
	return see_claim(stream, life, state, err);
}

static int see_handed(struct rg_stream *stream, struct life *life, const struct rg_state *state,
		      struct roger_err *err)
{
	const int64_t at_ms = state->message.handed_at_ms;
	struct rg_event event;

	if (!at_ms || (life->last && life->last->message.handed_at_ms))
		return ROGER_OK;
	event = of_message(stream, state, ROGER_EVENT_HANDED, at_ms);
	event.said.actor = RG_STR("roger");
	event.said.peer = state->message.to;
	event.said.words = RG_STR("into its file");
	return see_dated(stream, life, &event, err);
}

static int see_reading(struct rg_stream *stream, struct life *life, const struct rg_state *state,
		       struct roger_err *err)
{
	const struct roger_message *after = &state->message;
	struct rg_event event;

	if (!after->read || (life->last && life->last->message.read) || rg_message_in_place(after))
		return ROGER_OK;
	event = of_message(stream, state, ROGER_EVENT_READ, after->read_at_ms);
	event.foreign = state->foreign;
	event.handed = !state->foreign && after->handed_at_ms && is_file_only(stream, after->to);
	/* Acked without having been received: that is the reading, too. */
	event.ran = life->read.at_ms ? life->read.ran : life->acked.ran;
	return see_taking(stream, life, &event, err);
}

/*
 * Where the line does not say when, as lines of older programs: read under a lease
 * that was in force, it was acknowledged by the worker.
 */
static int see_acknowledged(struct rg_stream *stream, struct life *life,
			    const struct rg_state *state, bool held, struct roger_err *err)
{
	const struct roger_message *before = life->last ? &life->last->message : NULL,
				   *after = &state->message;
	const bool by_worker = held && after->read && before->claimed_until_ms > after->read_at_ms;
	struct rg_event event;

	if (after->acked_at_ms ? before && before->acked_at_ms == after->acked_at_ms &&
					 before->ack_outcome == after->ack_outcome
			       : !by_worker)
		return ROGER_OK;
	life->acknowledged = true;
	event = of_message(stream, state, ROGER_EVENT_ACKNOWLEDGED,
			   after->acked_at_ms ? after->acked_at_ms : after->read_at_ms);
	event.ran = life->acked.ran;
	if (after->acked_at_ms && after->claimed_by.length)
		event.said.actor = after->claimed_by;
	else if (by_worker)
		event.said.actor = before->claimed_by;
	event.said.words = after->ack_outcome ? rg_str(rg_ack_outcome_names[after->ack_outcome])
					      : RG_STR("by ack");
	if (state->foreign &&
	    !rg_arena_print(stream->arena, &event.said.words, "%.*s, written by another program",
			    RG_STR_ARGS(event.said.words)))
		return rg_fail_memory(err);
	if (before && before->ack_outcome && after->ack_outcome &&
	    !rg_arena_print(stream->arena, &event.said.words, "%s, corrects %s",
			    rg_ack_outcome_names[after->ack_outcome],
			    rg_ack_outcome_names[before->ack_outcome]))
		return rg_fail_memory(err);
	if (rg_message_in_place(after) &&
	    !rg_arena_print(stream->arena, &event.said.words,
			    "%s, in place of %.*s, who did not read it",
			    rg_ack_outcome_names[after->ack_outcome], RG_STR_ARGS(after->to)))
		return rg_fail_memory(err);
	return see_dated(stream, life, &event, err);
}

static int see_archived(struct rg_stream *stream, struct life *life, const struct rg_state *state,
			struct roger_err *err)
{
	const struct roger_message *after = &state->message;
	struct rg_event event;

	if (!after->archived_at_ms || (life->last && life->last->message.archived_at_ms))
		return ROGER_OK;
	event = of_message(stream, state, ROGER_EVENT_ARCHIVED, after->archived_at_ms);
	event.said.actor = event.said.peer = RG_STR("");
	return see_dated(stream, life, &event, err);
}

static int see_state(struct rg_stream *stream, struct life *life, const struct rg_state *state,
		     struct roger_err *err)
{
	const bool held = life->held;
	int r = ROGER_OK;

	if (!life->last)
		r = see_stored(stream, life, state, err);
	if (r == ROGER_OK)
		r = see_lease(stream, life, state, err);
	if (r == ROGER_OK)
		r = see_handed(stream, life, state, err);
	if (r == ROGER_OK)
		r = see_reading(stream, life, state, err);
	if (r == ROGER_OK)
		r = see_acknowledged(stream, life, state, held, err);
	if (r == ROGER_OK)
		r = see_archived(stream, life, state, err);
	life->last = state;
	return r;
}

/* What an unread message still waits for, or waited for in vain. */
static int see_rest(struct rg_stream *stream, struct life *life, struct roger_err *err)
{
	const struct rg_state *last = life->last;
	const struct roger_message *message = &last->message;
	const int64_t longest_ms = stream->roger->workspace->config->lease_ms_max,
		      until_ms = message->claimed_until_ms;
	struct rg_event event;
	int r;

	r = see_noted(stream, last, ROGER_EVENT_ACKNOWLEDGED, &life->acked, &life->acknowledged,
		      err);
	if (r < 0 || message->read || message->archived_at_ms)
		return r;
	event = of_message(stream, last, ROGER_EVENT_DUE, until_ms);
	event.open = true;
	event.before_ms = until_ms;
	if (life->held && !rg_message_claimed(message, stream->now_ms, longest_ms)) {
		event.said.kind = ROGER_EVENT_LEASE_EXPIRED;
		if (until_ms > stream->now_ms)
			event.said.at_ms = stream->now_ms;
	}
	if (life->held)
		r = see(stream, &event, err);
	if (r < 0 || !message->confirm_by_ms)
		return r;
	event = of_message(stream, last, ROGER_EVENT_DUE, message->confirm_by_ms);
	event.open = true;
	event.echo = message->confirm_by_ms <= stream->now_ms && life->attempt >= message->attempt;
	return see(stream, &event, err);
}

int rg_stream_message(struct rg_stream *stream, const struct roger_message *message,
		      struct roger_err *err)
{
	const struct rg_state state = { .message = *message,
					.bytes = (int64_t)message->content.length };
	const struct life *known = stream->lives.count ? find_life(stream, message->id) : NULL;
	struct life life = { 0 };
	int r;

	if (known)
		life = *known;
	r = see_state(stream, &life, &state, err);
	return r < 0 ? r : see_rest(stream, &life, err);
}

int rg_stream_messages(struct rg_stream *stream, const struct roger_message *messages, size_t count,
		       const struct rg_states *states, struct roger_err *err)
{
	struct life *life;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < states->count; i++) {
		life = life_of(stream, states->items[i].message.id);
		r = life ? see_state(stream, life, &states->items[i], err) : rg_fail_memory(err);
	}
	for (i = 0; r == ROGER_OK && i < count; i++) {
		life = find_life(stream, messages[i].id);
		r = life && life->last ? see_rest(stream, life, err)
				       : rg_stream_message(stream, &messages[i], err);
	}
	return r;
}

/* ----------------------------------------------------------------- notes -- */

/* What succeeded shows in another log; and so does a send that timed out. */
static bool is_echo(const struct rg_note *note)
{
	if (note->duplicates)
		return false;
	switch (note->kind) {
	case RG_NOTE_SENT:
		return !note->failure || note->failure == RG_FAILURE_RETRY;
	case RG_NOTE_READ:
	case RG_NOTE_CLAIMED:
	case RG_NOTE_ACKNOWLEDGED:
	case RG_NOTE_RECORDED:
		return !note->failure;
	case RG_NOTE_FOREIGN:
	case RG_NOTE_VERB:
	case RG_NOTE_LOOKED:
	case RG_NOTE_WOKEN:
	case RG_NOTE_ARRIVED:
	case RG_NOTE_RAN:
		break;
	}
	return false;
}

/* Who ran a verb, for people: "uid 1000, bash, pts/3", or "token bob 1a2b3c4d". */
static int print_ran(struct rg_stream *stream, const struct rg_note *note,
		     struct roger_str *ret_ran, struct roger_err *err)
{
	static const char member[] = "\"uid\":";
	const struct roger_str more = note->numbers;
	const char *uid =
		more.length ? memmem(more.data, more.length, member, sizeof member - 1) : NULL;

	*ret_ran = note->login;
	if (!uid)
		return ROGER_OK;
	return rg_arena_print(stream->arena, ret_ran, "uid %lld%s%.*s%s%.*s",
			      strtoll(uid + sizeof member - 1, NULL, 10),
			      note->parent.length ? ", " : "", RG_STR_ARGS(note->parent),
			      note->terminal.length ? ", " : "", RG_STR_ARGS(note->terminal))
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

/* When its messages were shown, read, claimed, acknowledged, and who ran that. */
static int remember(struct rg_stream *stream, const struct rg_note *note,
		    const struct rg_log_entry *entry, struct roger_err *err)
{
	struct noted noted = { note->entry.at_ms, entry->line, entry->file, { "", 0 } }, *place;
	struct life *life;
	size_t i;
	int r = print_ran(stream, note, &noted.ran, err);

	for (i = 0; r == ROGER_OK && i < note->ids.count; i++) {
		life = life_of(stream, note->ids.items[i]);
		if (!life)
			return rg_fail_memory(err);
		place = note->kind == RG_NOTE_LOOKED	     ? &life->shown
			: note->kind == RG_NOTE_READ	     ? &life->read
			: note->kind == RG_NOTE_ACKNOWLEDGED ? &life->acked
							     : NULL;
		if (!place)
			place = rg_arena_push(stream->arena, &life->claims.items,
					      &life->claims.count, sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		if (!place->at_ms)
			*place = noted;
	}
	return r;
}

static int see_note(struct rg_stream *stream, const struct rg_log_entry *entry,
		    struct roger_err *err)
{
	struct rg_note note;
	struct rg_event event = { .note = &note };
	int r;

	r = rg_note_read(entry->text, stream->arena, &note, err);
	if (r < 0 || !note.entry.timestamp.length)
		return r;
	if (!note.failure && (note.kind == RG_NOTE_LOOKED || note.kind == RG_NOTE_READ ||
			      note.kind == RG_NOTE_CLAIMED || note.kind == RG_NOTE_ACKNOWLEDGED))
		r = remember(stream, &note, entry, err);
	if (r < 0)
		return r;
	event.echo = is_echo(&note);
	event.said =
		(struct roger_event){ .kind = note.kind == RG_NOTE_WOKEN    ? ROGER_EVENT_WAKE
					      : note.kind == RG_NOTE_LOOKED ? ROGER_EVENT_LOOKED
									    : ROGER_EVENT_ACTIVITY,
				      .at_ms = note.entry.at_ms,
				      .task = note.entry.task,
				      .actor = note.agent,
				      .attempt = note.kind == RG_NOTE_WOKEN ? note.attempt : 0,
				      .file = entry->file,
				      .line = entry->line };
	if (note.count == 1 && note.ids.count == 1)
		event.said.message = note.ids.items[0];
	return see(stream, &event, err);
}

/* -------------------------------------------------------------- attempts -- */

/* What a line makes of an attempt, after one that settled it. */
static enum roger_event_kind kind_of_attempt(const struct roger_attempt *attempt, bool again)
{
	if (attempt->pending)
		return ROGER_EVENT_ATTEMPTED;
	switch ((enum roger_attempt_outcome)attempt->outcome) {
	case ROGER_DELIVERED:
		return again ? ROGER_EVENT_LATE : ROGER_EVENT_DELIVERED;
	case ROGER_TIMEOUT:
		return ROGER_EVENT_TIMEOUT;
	case ROGER_ERROR:
		break;
	}
	return ROGER_EVENT_REFUSED;
}

static int see_attempt(struct rg_stream *stream, const struct rg_log_entry *entry,
		       struct roger_err *err)
{
	struct roger_attempt attempt = { 0 };
	struct rg_event event = { .attempt = &attempt };
	int64_t *before, outcome;
	struct life *life;
	bool plain;
	int r;

	r = rg_kind_read(RG_LOG_SENDS, entry->text, stream->arena, &attempt, err);
	if (r < 0)
		return r;
	plain = rg_sendlog_is_plain(&attempt);
	outcome = attempt.pending ? RG_ATTEMPT_PENDING : attempt.outcome;
	before = rg_counter_of(&stream->attempts, attempt.id);
	life = attempt.message.length ? life_of(stream, attempt.message) : NULL;
	if (!before || (attempt.message.length && !life))
		return rg_fail_memory(err);
	if (life && life->attempt < attempt.attempt && !attempt.pending && !plain)
		life->attempt = attempt.attempt;
	if (*before == outcome)
		return ROGER_OK;
	event.before = (int)*before;
	event.outcome = (int)outcome;
	/* Of a message without a key that it is stored says as much. */
	event.echo = attempt.pending || (plain && attempt.outcome == ROGER_DELIVERED);
	event.said = (struct roger_event){ .kind = (int)kind_of_attempt(
						   &attempt, *before && *before <= ROGER_ERROR),
					   .at_ms = attempt.at_ms,
					   .file = entry->file,
					   .line = entry->line,
					   .actor = attempt.from,
					   .peer = attempt.to,
					   .message = attempt.message,
					   .key = attempt.key,
					   .task = rg_key_task(attempt.key),
					   .bytes = attempt.payload_bytes,
					   .attempt = attempt.attempt,
					   .dead_letter = attempt.dead_letter_task };
	*before = outcome;
	return see(stream, &event, err);
}

/* ---------------------------------------------------------- dead letters -- */

/* One letter: its first line, what its last ones say of it, and its message. */
struct letter {
	uint64_t id;
	bool told;
	struct roger_dead_letter last;
	const struct roger_message *message; /* NULL: not looked for, or purged */
};

/* All of them, and whether their messages were read after all. */
static int fold_letters(struct rg_stream *stream, const struct rg_log_entry *entries, size_t count,
			struct rg_table *letters, struct roger_err *err)
{
	struct roger_dead_letter line;
	struct letter *letter;
	bool fresh;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < count && r == ROGER_OK; i++) {
		r = rg_kind_read(RG_LOG_DEAD_LETTERS, entries[i].text, stream->arena, &line, err);
		letter = r < 0 ? NULL
			       : rg_table_put(letters, rg_hash(0, line.id.data, line.id.length),
					      &fresh);
		if (!letter)
			return r < 0 ? r : rg_fail_memory(err);
		letter->last = line;
	}
	return r;
}

static bool is_letter_open(const struct rg_stream *stream, const struct letter *letter)
{
	return rg_dead_letter_open(&letter->last, letter->message, stream->now_ms);
}

static int find_messages(struct rg_stream *stream, struct rg_table *letters, struct roger_err *err)
{
	struct rg_counter places = { .arena = stream->arena }; /* from 1 */
	struct rg_gathering found;
	struct letter *letter;
	struct roger_str *ids = rg_arena_get(stream->arena, letters->count * sizeof *ids);
	size_t count = 0, i;
	int64_t *place;
	int r = ids ? ROGER_OK : rg_fail_memory(err);

	for (i = 0; r == ROGER_OK && (letter = rg_table_next(letters, &i));)
		if (letter->last.status != ROGER_STALE)
			ids[count++] = letter->last.message;
	rg_gathering_init(&found, stream->roger, stream->arena);
	if (r == ROGER_OK)
		r = rg_gather_ids(&found, ids, count, err);
	for (i = 0; r == ROGER_OK && i < found.messages.count; i++) {
		place = rg_counter_of(&places, found.messages.items[i].id);
		if (!place)
			return rg_fail_memory(err);
		*place = (int64_t)i + 1;
	}
	for (i = 0; r == ROGER_OK && (letter = rg_table_next(letters, &i));) {
		place = rg_counter_of(&places, letter->last.message);
		if (!place)
			return rg_fail_memory(err);
		if (*place)
			letter->message = &found.messages.items[*place - 1];
	}
	return r;
}

/* Its line again with a name of the task system is the same event. */
static int see_letter(struct rg_stream *stream, const struct rg_log_entry *entry,
		      struct rg_table *letters, struct roger_err *err)
{
	static const enum roger_event_kind kinds[] = { [ROGER_UNDELIVERED] =
							       ROGER_EVENT_DEAD_LETTER,
						       [ROGER_REDELIVERED] =
							       ROGER_EVENT_REDELIVERED,
						       [ROGER_STALE] = ROGER_EVENT_STALE };
	struct roger_dead_letter line;
	struct rg_event event = { .letter = &line };
	struct letter *letter;
	int r;

	r = rg_kind_read(RG_LOG_DEAD_LETTERS, entry->text, stream->arena, &line, err);
	if (r < 0)
		return r;
	letter = rg_table_find(letters, rg_hash(0, line.id.data, line.id.length));
	if (line.status == ROGER_UNDELIVERED) {
		if (letter->told)
			return ROGER_OK;
		letter->told = true;
		event.open = is_letter_open(stream, letter);
		event.letter = &letter->last;
		event.message = letter->message;
	}
	event.said = (struct roger_event){
		.kind = (int)kinds[line.status],
		.at_ms = line.updated_at_ms && line.status != ROGER_UNDELIVERED ? line.updated_at_ms
										: line.at_ms,
		.file = entry->file,
		.line = entry->line,
		.actor = line.from,
		.peer = line.to,
		.message = line.message,
		.key = line.key,
		.task = line.task,
		.bytes = line.payload_bytes,
		.dead_letter = line.id,
	};
	return see(stream, &event, err);
}

static int see_letters(struct rg_stream *stream, const struct rg_log_entry *entries, size_t count,
		       struct roger_err *err)
{
	struct rg_table letters;
	size_t i;
	int r;

	rg_table_init(&letters, sizeof(struct letter));
	r = fold_letters(stream, entries, count, &letters, err);
	if (r == ROGER_OK)
		r = find_messages(stream, &letters, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = see_letter(stream, &entries[i], &letters, err);
	rg_table_deinit(&letters);
	return r;
}

static int see_cycle(struct rg_stream *stream, const struct rg_log_entry *entry,
		     struct roger_err *err)
{
	struct rg_event event = {
		.said = { .kind = ROGER_EVENT_CYCLE, .file = entry->file, .line = entry->line }
	};
	struct roger_cycle cycle;
	int r;

	r = rg_kind_read(RG_LOG_CYCLES, entry->text, stream->arena, &cycle, err);
	if (r < 0)
		return r;
	event.said.at_ms = cycle.opened_at_ms;
	event.said.actor = cycle.opened_by;
	if (!rg_arena_print(stream->arena, &event.said.words, "cycle %.*s", RG_STR_ARGS(cycle.id)))
		return rg_fail_memory(err);
	return see(stream, &event, err);
}

int rg_stream_entries(struct rg_stream *stream, enum rg_log log, const struct rg_log_entry *entries,
		      size_t count, struct roger_err *err)
{
	static int (*const seers[RG_LOGS])(struct rg_stream *, const struct rg_log_entry *,
					   struct roger_err *) = {
		[RG_LOG_ACTIVITY] = see_note,
		[RG_LOG_SENDS] = see_attempt,
		[RG_LOG_CYCLES] = see_cycle,
	};
	size_t i;
	int r = ROGER_OK;

	if (log == RG_LOG_DEAD_LETTERS)
		return see_letters(stream, entries, count, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = seers[log](stream, &entries[i], err);
	return r;
}

/* ------------------------------------------------------------------ runs -- */

static struct rg_event of_run(const struct rg_run_document *document, struct roger_str file,
			      enum roger_event_kind kind, int64_t at_ms)
{
	const struct roger_run *run = &document->run;

	return (struct rg_event){ .said = { .kind = (int)kind,
					    .at_ms = at_ms,
					    .actor = at_ms < document->former_until_ms
							     ? document->former
							     : run->owner,
					    .run = run->run,
					    .task = run->task,
					    .issue = run->issue,
					    .file = file },
				  .before_ms = document->receipts.dispatched_ms,
				  .document = document };
}

/* Dispatched, late or not, and completed. */
static int see_result(struct rg_stream *stream, const struct rg_run_document *document,
		      struct roger_str file, struct roger_err *err)
{
	const struct rg_receipts *receipts = &document->receipts;
	const struct roger_run *run = &document->run;
	const struct roger_str sender = rg_run_sender(stream->roger, run);
	struct rg_event event =
		of_run(document, file, ROGER_EVENT_DISPATCHED, receipts->dispatched_ms);
	int r;

	event.said.peer = sender;
	event.before_ms = receipts->expected_by_ms;
	r = see(stream, &event, err);
	event = of_run(document, file, ROGER_EVENT_DUE, receipts->expected_by_ms);
	event.open = run->status == ROGER_RUN_ACTIVE || run->status == ROGER_RUN_SUSPECT;
	if (r == ROGER_OK &&
	    (receipts->completed_ms ? receipts->completed_ms > receipts->expected_by_ms
				    : !receipts->child_ended))
		r = see(stream, &event, err);
	if (r < 0 || !receipts->completed_ms)
		return r;
	event = of_run(document, file, ROGER_EVENT_COMPLETED, receipts->completed_ms);
	/* What nobody can read any more may be settled. */
	event.open = run->status == ROGER_RUN_NOT_FORWARDED &&
		     !(run->settled_at.length && document->way_out.length);
	event.said.message = run->result_message;
	if (!rg_str_equal(sender, run->owner)) {
		event.said.peer = event.said.actor;
		event.said.actor = sender;
	}
	return see(stream, &event, err);
}

/* When the message that confirmed the forward was read; else when it was judged so. */
static int see_forward(struct rg_stream *stream, const struct rg_run_document *document,
		       struct roger_str file, struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	const struct roger_str id = run->evidence;
	struct rg_event event = of_run(document, file, ROGER_EVENT_FORWARDED, 0);
	const struct life *life = id.length ? find_life(stream, id) : NULL;

	if (!run->forwarded)
		return ROGER_OK;
	if (life && life->last)
		event.said.at_ms = life->last->message.read_at_ms;
	if (!event.said.at_ms && !rg_clock_read_rfc3339(run->status_updated_at, &event.said.at_ms))
		event.said.at_ms = document->receipts.completed_ms;
	event.said.words = id.length ? RG_STR("the result was read") : RG_STR("confirmed by hand");
	event.said.message = id;
	return see(stream, &event, err);
}

/* "2026-04-24T02:50:00.000Z recovery attempt 1: ..."; a note without an instant has none of its
 * own. */
static int see_run_note(struct rg_stream *stream, const struct rg_run_document *document,
			struct roger_str file, struct roger_str note, bool *ret_recovery,
			struct roger_err *err)
{
	static const char recovery[] = "recovery attempt ";
	const char *blank = note.length ? memchr(note.data, ' ', note.length) : NULL;
	const struct roger_str instant = { note.data, blank ? (size_t)(blank - note.data) : 0 };
	struct rg_event event =
		of_run(document, file, ROGER_EVENT_RUN_NOTE, document->receipts.dispatched_ms);

	if (instant.length && rg_clock_read_rfc3339(instant, &event.said.at_ms)) {
		note.data += instant.length + 1;
		note.length -= instant.length + 1;
	}
	if (note.length > sizeof recovery - 1 &&
	    memcmp(note.data, recovery, sizeof recovery - 1) == 0) {
		event.said.kind = ROGER_EVENT_RECOVERY;
		*ret_recovery = true;
	}
	event.said.words = note;
	return see(stream, &event, err);
}

static int see_run_notes(struct rg_stream *stream, const struct rg_run_document *document,
			 struct roger_str file, struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	const struct rg_event recovery =
		of_run(document, file, ROGER_EVENT_RECOVERY, document->receipts.last_recovery_ms);
	bool told = false;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < run->notes.count && r == ROGER_OK; i++)
		r = see_run_note(stream, document, file, run->notes.items[i], &told, err);
	return r < 0 || told || !recovery.said.at_ms ? r : see(stream, &recovery, err);
}

/* How the child ended, where it did not end well, until somebody has dealt with it. */
static int see_failure(struct rg_stream *stream, const struct rg_run_document *document,
		       struct roger_str file, struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	struct rg_event event =
		of_run(document, file, ROGER_EVENT_FAILED, document->receipts.completed_ms);
	int r = ROGER_OK;

	if (!event.said.at_ms)
		(void)!rg_clock_read_rfc3339(run->ended_at, &event.said.at_ms);
	/* Documents of older programs say when the status was last written. */
	if (!event.said.at_ms && !rg_clock_read_rfc3339(run->status_updated_at, &event.said.at_ms))
		event.said.at_ms = stream->now_ms;
	event.open = rg_run_wants_settling(run);
	if (run->status == ROGER_RUN_BLOCKED) {
		event.said.kind = ROGER_EVENT_LOST;
		r = see(stream, &event, err);
		event.open = false;
	}
	event.said.kind = ROGER_EVENT_FAILED;
	if (r == ROGER_OK && run->outcome > ROGER_RUN_SUCCEEDED && run->outcome < ROGER_RUN_UNKNOWN)
		r = see(stream, &event, err);
	event.said.kind = ROGER_EVENT_SETTLED;
	event.said.actor = run->settled_by;
	event.open = false;
	if (r < 0 || !rg_clock_read_rfc3339(run->settled_at, &event.said.at_ms))
		return r;
	return see(stream, &event, err);
}

/* What its evidence says by now, where nobody has written that down yet. */
static int see_judgement(struct rg_stream *stream, const struct rg_run_document *document,
			 struct roger_str file, struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	struct rg_event event = of_run(document, file, ROGER_EVENT_RUN_NOTE, stream->now_ms);

	if ((int)document->stored == run->status || run->status == ROGER_RUN_BLOCKED)
		return ROGER_OK;
	if (!rg_arena_print(stream->arena, &event.said.words, "now %s: %.*s",
			    rg_run_status_names[run->status], RG_STR_ARGS(run->status_reason)))
		return rg_fail_memory(err);
	return see(stream, &event, err);
}

int rg_stream_run(struct rg_stream *stream, const struct rg_run_document *document,
		  struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	struct roger_str file;
	int r;

	rg_workspace_file_name(document->run.run, ".json", name);
	if (!rg_arena_print(stream->arena, &file, "state/subagent-delivery-watchdog/%s", name))
		return rg_fail_memory(err);
	r = see_result(stream, document, file, err);
	if (r == ROGER_OK)
		r = see_run_notes(stream, document, file, err);
	if (r == ROGER_OK)
		r = see_forward(stream, document, file, err);
	if (r == ROGER_OK)
		r = see_failure(stream, document, file, err);
	return r < 0 ? r : see_judgement(stream, document, file, err);
}

/* ---------------------------------------------------------------- damage -- */

int rg_stream_damages(struct rg_stream *stream, struct roger_err *err)
{
	struct roger_damage_list damages;
	const struct roger_damage *damage;
	struct rg_event event;
	size_t i;
	int r;

	rg_engine_note_rewrites(stream->roger->engine, true);
	r = rg_engine_damages(stream->roger->engine, stream->arena, &damages, err);
	for (i = 0; r == ROGER_OK && i < damages.count; i++) {
		damage = &damages.items[i];
		event = (struct rg_event){ .said = { .kind = ROGER_EVENT_DAMAGED,
						     .at_ms = damage->noticed_at_ms,
						     .file = damage->file,
						     .line = damage->line },
					   .open = !damage->accepted_at_ms,
					   .damage = damage };
		r = see(stream, &event, err);
		if (r < 0 || event.open)
			continue;
		event.said.kind = ROGER_EVENT_ACCEPTED;
		event.said.at_ms = damage->accepted_at_ms;
		event.said.actor = damage->accepted_by;
		r = see(stream, &event, err);
	}
	return r;
}

/* ------------------------------------------------------------- a history -- */

struct keeping {
	struct rg_stream stream;
	struct rg_history *history;
	struct rg_buf words;
	bool echoes; /* of messages too */
};

static int keep(void *context, const struct rg_event *event, struct roger_err *err)
{
	struct keeping *keeping = context;
	struct rg_history *history = keeping->history;
	struct rg_event *place;

	if (event->echo && !event->note && !keeping->echoes)
		return ROGER_OK;
	place = rg_arena_push(history->arena, &history->items, &history->count, sizeof *place);
	rg_buf_clear(&keeping->words);
	rg_event_print(event, &keeping->words);
	if (!place || keeping->words.failed)
		return rg_fail_memory(err);
	*place = *event;
	if (event->note) {
		struct rg_note *note = rg_arena_get(history->arena, sizeof *note);

		if (!note)
			return rg_fail_memory(err);
		*note = *event->note;
		place->note = note;
	}
	place->attempt = NULL;
	place->letter = NULL;
	return rg_arena_copy(history->arena, rg_buf_str(&keeping->words), &place->said.words)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

static void keep_init(struct keeping *keeping, struct roger *roger, bool echoes,
		      struct rg_history *history)
{
	keeping->echoes = echoes;
	keeping->history = history;
	rg_buf_init(&keeping->words, 65536);
	rg_stream_init(&keeping->stream, roger, history->arena, keep, keeping);
}

static void keep_deinit(struct keeping *keeping)
{
	rg_buf_deinit(&keeping->words);
	rg_stream_deinit(&keeping->stream);
}

static int see_gathered(struct rg_stream *stream, const struct rg_gathering *gathering,
			const struct rg_states *states, struct roger_err *err)
{
	static const enum rg_log logs[] = { RG_LOG_ACTIVITY, RG_LOG_SENDS, RG_LOG_DEAD_LETTERS };
	const struct rg_gathered_entries *log;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < sizeof logs / sizeof *logs && r == ROGER_OK; i++) {
		log = &gathering->logs[logs[i]];
		r = rg_stream_entries(stream, logs[i], log->items, log->count, err);
	}
	if (r == ROGER_OK)
		r = rg_stream_messages(stream, gathering->messages.items, gathering->messages.count,
				       states, err);
	for (i = 0; i < gathering->runs.count && r == ROGER_OK; i++)
		r = rg_stream_run(stream, &gathering->runs.items[i], err);
	return r;
}

/* When a message was claimed is in no line: who got it may have noted that. */
static int gather_claims(struct rg_gathering *gathering, const struct rg_states *states,
			 struct roger_err *err)
{
	struct roger_message *claimed =
		rg_arena_get(gathering->arena, states->count * sizeof *claimed);
	size_t count = 0, i;

	if (!claimed)
		return rg_fail_memory(err);
	for (i = 0; i < states->count; i++)
		if (states->items[i].message.claimed_by.length)
			claimed[count++] = states->items[i].message;
	return rg_gather_notes(gathering, claimed, count, false, err);
}

int rg_stream_gathered(struct rg_gathering *gathering, bool traced, struct rg_history *history,
		       struct roger_err *err)
{
	const struct rg_gathered_messages *messages = &gathering->messages;
	struct rg_states states;
	struct keeping keeping;
	int r;

	rg_gathering_sort(gathering);
	r = rg_engine_states(gathering->roger->engine, messages->items, messages->count,
			     gathering->arena, &states, err);
	if (r == ROGER_OK)
		r = traced ? rg_gather_notes(gathering, messages->items, messages->count, true, err)
			   : gather_claims(gathering, &states, err);
	if (r < 0)
		return r;
	rg_gathering_sort(gathering);
	keep_init(&keeping, gathering->roger, traced, history);
	r = see_gathered(&keeping.stream, gathering, &states, err);
	keep_deinit(&keeping);
	return r;
}

/* The first message of each session but that of the first event. */
static int see_sessions(struct rg_stream *stream, const struct rg_history *history,
			struct roger_err *err)
{
	const size_t count = history->count;
	struct rg_event event;
	int64_t epoch = 0;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < count && r == ROGER_OK; i++) {
		event = history->items[i];
		if (event.said.kind != ROGER_EVENT_SENT || event.message->epoch <= epoch)
			continue;
		if (epoch) {
			event.said.kind = ROGER_EVENT_SESSION;
			event.said.seq = event.said.bytes = event.said.type = 0;
			event.said.peer = event.said.key = RG_STR("");
			if (!rg_arena_print(stream->arena, &event.said.words, "session %lld",
					    (long long)event.message->epoch))
				return rg_fail_memory(err);
			r = see(stream, &event, err);
		}
		epoch = event.message->epoch;
	}
	return r;
}

int rg_stream_around(struct roger *roger, struct rg_history *history, int64_t until_ms,
		     struct roger_err *err)
{
	struct rg_log_query query = { .log = RG_LOG_CYCLES };
	const size_t before = history->count;
	struct rg_log_entries found;
	struct keeping keeping;
	int r;

	if (!before)
		return ROGER_OK;
	query.since_ms = history->items[0].said.at_ms;
	query.until_ms = history->items[history->count - 1].said.at_ms + 1;
	keep_init(&keeping, roger, true, history);
	r = rg_engine_log_find(roger->engine, &query, history->arena, &found, err);
	if (r == ROGER_OK)
		r = rg_stream_entries(&keeping.stream, RG_LOG_CYCLES, found.items, found.count,
				      err);
	if (r == ROGER_OK)
		r = see_sessions(&keeping.stream, history, err);
	if (r == ROGER_OK)
		r = rg_stream_damages(&keeping.stream, err);
	keep_deinit(&keeping);
	return r < 0 || history->count == before
		       ? r
		       : rg_history_arrange(history, query.since_ms, until_ms, err);
}

bool rg_event_is_of(const struct rg_event *event, const struct roger_message *message)
{
	const struct rg_note *note = event->note;
	size_t i;

	if (!note)
		return rg_str_equal(event->said.message, message->id);
	/* An attempt to wake its agent, while it was the newest or an older one, and waited. */
	if (event->said.kind == ROGER_EVENT_WAKE)
		return rg_str_equal(note->agent, message->to) &&
		       note->position >= message->position &&
		       (!message->read || event->said.at_ms <= message->read_at_ms) &&
		       (!message->archived_at_ms || event->said.at_ms <= message->archived_at_ms);
	for (i = 0; i < note->ids.count; i++)
		if (rg_str_equal(note->ids.items[i], message->id))
			return true;
	return false;
}
