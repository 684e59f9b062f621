#include "ops/proof/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "facts/message.h"
#include "facts/note.h"
#include "facts/person.h"
#include "ops/caller.h"
#include "ops/keys/attempt.h"

/* A message that is told of. */
struct life {
	uint64_t id; /* hashed */
	const struct roger_message *message;
	bool held;	 /* under a lease that no line ended */
	int64_t attempt; /* the last one that the send log knows */
};

/* Notes are written when all is done. */
enum { LATE_MS = 60000, NOTES_MAX = 64, ROWS_MAX = 500 };

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

static struct rg_event of_message(const struct roger_message *message, enum roger_event_kind kind,
				  int64_t at_ms)
{
	return (struct rg_event){ .said = { .kind = (int)kind,
					    .at_ms = at_ms,
					    .message = message->id,
					    .issue = message->issue,
					    .key = message->key,
					    .seq = message->seq,
					    .type = message->type,
					    .bytes = (int64_t)message->content.length,
					    .actor = message->to,
					    .peer = message->from },
				  .message = message };
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

static bool names(const struct rg_note *note, struct roger_str id)
{
	size_t i;

	for (i = 0; i < note->ids.count; i++)
		if (rg_str_equal(note->ids.items[i], id))
			return true;
	return false;
}

/* The first note of such a verb, from then on and until so long after, that names the message:
 * when it was, if the event says nothing of that, and who ran it. */
static int look_for_note(struct rg_stream *stream, enum rg_note_kind kind, int64_t until_ms,
			 struct rg_event *event, bool *ret_found, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_ACTIVITY,
		.owner = rg_str_is(event->said.actor, RG_PERSON) ? RG_STR(RG_PERSON)
								 : event->message->to,
		.step = rg_note_step_name(kind == RG_NOTE_ACKNOWLEDGED ? RG_STEP_ACK
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
	r = rg_engine_log_find(stream->roger->engine, &query, stream->arena, &found, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		r = rg_note_read(found.items[i].text, stream->arena, &note, err);
		if (r < 0 || note.kind != (int)kind || !names(&note, event->said.message))
			continue;
		*ret_found = true;
		if (event->undated && note.entry.at_ms <= until_ms) {
			event->said.at_ms = note.entry.at_ms;
			event->undated = false;
		}
		return print_ran(stream, &note, &event->ran, err);
	}
	return r;
}

/* Who ran what a line tells of: a note of that time says so, if there is one. */
static int look_for_ran(struct rg_stream *stream, const struct rg_row *row, struct rg_event *event,
			struct roger_err *err)
{
	bool found = false;
	int r;

	if (event->foreign || !stream->ran || row->flags & RG_ROW_NOTE ||
	    (row->kind != ROGER_EVENT_CLAIMED && row->kind != ROGER_EVENT_READ &&
	     row->kind != ROGER_EVENT_ACKNOWLEDGED))
		return ROGER_OK;
	if (row->kind == ROGER_EVENT_CLAIMED)
		return look_for_note(stream, RG_NOTE_CLAIMED,
				     event->undated ? row->number : row->at_ms, event, &found, err);
	r = row->kind == ROGER_EVENT_ACKNOWLEDGED
		    ? ROGER_OK
		    : look_for_note(stream, RG_NOTE_READ, row->at_ms, event, &found, err);
	/* Acked without having been received: that is the reading, too. */
	return r < 0 || found ? r
			      : look_for_note(stream, RG_NOTE_ACKNOWLEDGED, row->at_ms, event,
					      &found, err);
}

static int print_expired(struct rg_stream *stream, struct roger_str worker, struct rg_event *event,
			 struct roger_err *err)
{
	return rg_arena_print(stream->arena, &event->said.words, "the lease of %.*s expired",
			      RG_STR_ARGS(worker))
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

/* Whose a row is, and what it says. */
static int fill_event(struct rg_stream *stream, const struct rg_row *row, struct rg_event *event,
		      struct roger_err *err)
{
	const struct roger_message *message = event->message;
	const struct roger_str actor = row->actor;

	event->said.words = row->detail;
	switch (row->kind) {
	case ROGER_EVENT_SENT:
		event->said.actor = message->from;
		event->said.peer = message->to;
		break;
	case ROGER_EVENT_CLAIMED:
	case ROGER_EVENT_RETURNED:
		event->said.actor = actor;
		event->before_ms = row->number;
		break;
	case ROGER_EVENT_LOOKED:
	case ROGER_EVENT_READ:
	case ROGER_EVENT_ACKNOWLEDGED:
		event->said.actor = actor.length ? actor : message->to;
		break;
	case ROGER_EVENT_LEASE_EXPIRED:
		return print_expired(stream, actor, event, err);
	case ROGER_EVENT_HANDED:
		event->said.actor = RG_STR("roger");
		event->said.peer = message->to;
		event->said.words = RG_STR("into its file");
		break;
	case ROGER_EVENT_ARCHIVED:
		event->said.actor = event->said.peer = RG_STR("");
		break;
	default:
		break;
	}
	return ROGER_OK;
}

struct rows {
	struct rg_arena *arena;
	struct rg_row *items;
	size_t count;
};

static int keep_row(void *context, const struct rg_row *row, struct roger_err *err)
{
	struct rows *rows = context;
	struct rg_row *place;

	if (!row) {
		rows->count = 0;
		return ROGER_OK;
	}
	place = rg_arena_push(rows->arena, &rows->items, &rows->count, sizeof *place);
	if (!place)
		return rg_fail_memory(err);
	*place = *row;
	return rg_arena_copy(rows->arena, row->actor, &place->actor) &&
			       rg_arena_copy(rows->arena, row->detail, &place->detail) &&
			       rg_arena_copy(rows->arena, row->file, &place->file)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

bool rg_row_is_look(const struct roger *roger, const struct rg_row *row, struct roger_str to)
{
	return row->kind == ROGER_EVENT_LOOKED ||
	       (row->flags & RG_ROW_LOOK && !rg_config_is_file_only(roger->workspace->config, to));
}

static struct rg_event of_row(const struct rg_stream *stream, const struct life *life,
			      const struct rg_row *row)
{
	const bool noted = row->flags & RG_ROW_NOTE;
	struct rg_event event =
		of_message(life->message, (enum roger_event_kind)row->kind, row->at_ms);

	event.said.file = noted ? row->file : stream->roger->workspace->config->jsonl_file;
	event.said.line = row->line;
	event.line = noted ? 0 : row->line;
	event.byte = noted ? 0 : row->byte;
	event.undated = row->flags & RG_ROW_UNDATED;
	event.foreign = row->flags & RG_ROW_FOREIGN;
	event.handed = row->flags & RG_ROW_HANDED;
	event.echo = noted;
	return event;
}

static int see_row(struct rg_stream *stream, struct life *life, const struct rg_row *row,
		   struct roger_err *err)
{
	struct rg_event event = of_row(stream, life, row), look;
	int r = fill_event(stream, row, &event, err);

	look = event;
	if (row->kind == ROGER_EVENT_CLAIMED)
		life->held = row->open;
	if (r == ROGER_OK)
		r = look_for_ran(stream, row, &event, err);
	if (r == ROGER_OK && rg_row_is_look(stream->roger, row, life->message->to)) {
		look.said.kind = ROGER_EVENT_LOOKED;
		look.said.at_ms = event.said.at_ms;
		look.undated = event.undated;
		look.echo = true;
		look.ran = event.ran;
		look.said.words = row->kind == ROGER_EVENT_CLAIMED ? RG_STR("by claim")
				  : row->kind == ROGER_EVENT_READ  ? RG_STR("by receive")
								   : RG_STR("");
		r = see(stream, &look, err);
	}
	return r < 0 || row->kind == ROGER_EVENT_LOOKED ? r : see(stream, &event, err);
}

/* What an unread message still waits for, or waited for in vain. */
static int see_rest(struct rg_stream *stream, const struct life *life, struct roger_err *err)
{
	const struct roger_message *message = life->message;
	const int64_t longest_ms = stream->roger->workspace->config->lease_ms_max,
		      until_ms = message->claimed_until_ms;
	struct rg_event event = of_message(message, ROGER_EVENT_DUE, until_ms);
	int r = ROGER_OK;

	if (message->read || message->archived_at_ms)
		return ROGER_OK;
	event.said.file = stream->roger->workspace->config->jsonl_file;
	event.said.line = event.line = message->line;
	event.byte = message->byte;
	event.before_ms = until_ms;
	if (life->held && !rg_message_claimed(message, stream->now_ms, longest_ms)) {
		event.said.kind = ROGER_EVENT_LEASE_EXPIRED;
		if (until_ms > stream->now_ms)
			event.said.at_ms = stream->now_ms;
		r = print_expired(stream, message->claimed_by, &event, err);
	}
	if (r == ROGER_OK && life->held)
		r = see(stream, &event, err);
	if (r < 0 || !message->confirm_by_ms)
		return r;
	event.said.kind = ROGER_EVENT_DUE;
	event.said.at_ms = message->confirm_by_ms;
	event.said.words = RG_STR("");
	event.before_ms = 0;
	event.echo = message->confirm_by_ms <= stream->now_ms && life->attempt >= message->attempt;
	return see(stream, &event, err);
}

/* The rows of some messages, which are in the order of their positions, as the rows are. */
static int see_some(struct rg_stream *stream, const struct roger_message *messages, size_t count,
		    struct roger_err *err)
{
	int64_t of[ROWS_MAX];
	const struct rg_row_query query = { .of = of, .of_count = count };
	struct rows rows = { .arena = stream->arena };
	struct life *life;
	size_t i, k = 0;
	int r;

	for (i = 0; i < count; i++)
		of[i] = messages[i].position;
	r = rg_engine_rows(stream->roger->engine, &query, keep_row, &rows, err);
	for (i = 0; i < count && r == ROGER_OK; i++) {
		life = life_of(stream, messages[i].id);
		if (!life)
			return rg_fail_memory(err);
		life->message = &messages[i];
		while (k < rows.count && rows.items[k].of < of[i])
			k++;
		for (; r == ROGER_OK && k < rows.count && rows.items[k].of == of[i]; k++)
			r = see_row(stream, life, &rows.items[k], err);
		if (r == ROGER_OK)
			r = see_rest(stream, life, err);
	}
	return r;
}

int rg_stream_messages(struct rg_stream *stream, const struct roger_message *messages, size_t count,
		       struct roger_err *err)
{
	size_t i, some;
	int r = ROGER_OK;

	for (i = 0; i < count && r == ROGER_OK; i += some) {
		some = count - i < ROWS_MAX ? count - i : ROWS_MAX;
		r = see_some(stream, messages + i, some, err);
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

static int see_note(struct rg_stream *stream, const struct rg_log_entry *entry,
		    struct roger_err *err)
{
	struct rg_note note;
	struct rg_event event = { .note = &note };
	int r;

	r = rg_note_read(entry->text, stream->arena, &note, err);
	if (r < 0 || !note.entry.timestamp.length)
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

/* Its line again with a name of the task system is the same event.  The first one is open while the
 * letter is, and told with what its last line says. */
static int see_letter(struct rg_stream *stream, const struct rg_log_entry *entry,
		      struct roger_err *err)
{
	static const enum roger_event_kind kinds[] = { [ROGER_UNDELIVERED] =
							       ROGER_EVENT_DEAD_LETTER,
						       [ROGER_REDELIVERED] =
							       ROGER_EVENT_REDELIVERED,
						       [ROGER_STALE] = ROGER_EVENT_STALE };
	struct rg_log_query states = { .log = RG_LOG_DEAD_LETTERS, .states = true };
	struct roger_dead_letter line;
	struct rg_event event = { .letter = &line };
	struct rg_records last;
	int64_t *told;
	int r;

	r = rg_kind_read(RG_LOG_DEAD_LETTERS, entry->text, stream->arena, &line, err);
	if (r < 0)
		return r;
	if (line.status == ROGER_UNDELIVERED) {
		told = rg_counter_of(&stream->attempts, line.id);
		if (!told)
			return rg_fail_memory(err);
		if ((*told)++)
			return ROGER_OK;
		states.id = line.id;
		r = rg_dead_letters_find(stream->roger, &states, stream->arena, &last, err);
		if (r < 0)
			return r;
		event.letter = last.count ? last.letters : &line;
		event.open =
			event.letter->status == ROGER_UNDELIVERED && !event.letter->delivered_at_ms;
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
		[RG_LOG_DEAD_LETTERS] = see_letter,
		[RG_LOG_CYCLES] = see_cycle,
	};
	size_t i;
	int r = ROGER_OK;

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
	if (life && life->message)
		event.said.at_ms = life->message->read_at_ms;
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
			struct roger_err *err)
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
				       err);
	for (i = 0; i < gathering->runs.count && r == ROGER_OK; i++)
		r = rg_stream_run(stream, &gathering->runs.items[i], err);
	return r;
}

int rg_stream_gathered(struct rg_gathering *gathering, bool traced, struct rg_history *history,
		       struct roger_err *err)
{
	const struct rg_gathered_messages *messages = &gathering->messages;
	struct keeping keeping;
	int r = ROGER_OK;

	if (traced)
		r = rg_gather_wakes(gathering, messages->items, messages->count, err);
	if (r < 0)
		return r;
	rg_gathering_sort(gathering);
	keep_init(&keeping, gathering->roger, traced, history);
	keeping.stream.ran = true;
	r = see_gathered(&keeping.stream, gathering, err);
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

	if (!note)
		return rg_str_equal(event->said.message, message->id);
	/* An attempt to wake its agent, while it was the newest or an older one, and waited; who
	 * read it by a clock that was behind says nothing of that. */
	if (event->said.kind == ROGER_EVENT_WAKE)
		return rg_str_equal(note->agent, message->to) &&
		       note->position >= message->position &&
		       (!message->read || message->read_at_ms < message->created_at_ms ||
			event->said.at_ms <= message->read_at_ms) &&
		       (!message->archived_at_ms || event->said.at_ms <= message->archived_at_ms);
	return names(note, message->id);
}
