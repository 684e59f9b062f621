/* Turning what was gathered into events: who, what, when, and where it is written. */
#include "ops/proof/gather.h"

#include <stdio.h>
#include <stdlib.h>

#include "ops/keys/attempt.h"
#include "facts/message.h"
#include "facts/note.h"

/* Words from free text are cut to this. */
enum { FREE_BYTES_MAX = 240 };

/* An event on its way: words are put together, then kept. */
struct telling {
	struct rg_history *history;
	struct rg_buf words;
	int64_t now_ms;
};

static void begin(struct telling *telling)
{
	rg_buf_clear(&telling->words);
}

static void say(struct telling *telling, const char *name, struct roger_str value)
{
	if (value.length)
		rg_buf_printf(&telling->words, "%s%.*s", name, RG_STR_ARGS(value));
}

/* What a person or another program wrote: cut, without a broken character at its end. */
static void say_free(struct telling *telling, const char *name, struct roger_str text)
{
	if (text.length > FREE_BYTES_MAX) {
		text.length = FREE_BYTES_MAX;
		while (text.length && ((unsigned char)text.data[text.length] & 0xc0) == 0x80)
			text.length--;
	}
	say(telling, name, text);
}

/* The event, with the words that were put together. */
static int add(struct telling *telling, struct roger_event event, struct roger_err *err)
{
	struct roger_event *place = rg_history_add(telling->history);

	if (!place || telling->words.failed ||
	    !rg_arena_copy(telling->history->arena, rg_buf_str(&telling->words), &event.words))
		return rg_fail_memory(err);
	*place = event;
	return ROGER_OK;
}

/* -------------------------------------------------------------- messages -- */

static struct roger_event of_message(const struct roger_message *message,
				     enum roger_event_kind kind, int64_t at_ms)
{
	return (struct roger_event){ .kind = (int)kind,
				     .at_ms = at_ms,
				     .message_id = message->id,
				     .issue_id = message->issue_id,
				     .key = message->idempotent_key,
				     .seq = message->seq,
				     .type = message->message_type + 1,
				     .bytes = (int64_t)message->content.length,
				     .actor = message->to_phase,
				     .peer = message->from_phase };
}

static int tell_sent(struct telling *telling, const struct roger_message *message,
		     struct roger_str file, struct roger_err *err)
{
	struct roger_event event = of_message(message, ROGER_EVENT_SENT, message->created_at_ms);

	begin(telling);
	rg_buf_printf(&telling->words, "%s, %zu bytes", rg_message_types[message->message_type],
		      message->content.length);
	if (message->run_counter > 1)
		rg_buf_printf(&telling->words, ", run %lld", (long long)message->run_counter);
	say(telling, ", in reply to ", message->reply_to);
	event.actor = message->from_phase;
	event.peer = message->to_phase;
	event.file = file;
	event.line = message->position;
	return add(telling, event, err);
}

static int tell_read(struct telling *telling, const struct roger_message *message,
		     struct roger_err *err)
{
	char span[32];

	if (!message->read || !message->read_at_ms)
		return ROGER_OK;
	begin(telling);
	rg_clock_print_span(message->read_at_ms > message->created_at_ms
				    ? message->read_at_ms - message->created_at_ms
				    : 0,
			    span);
	rg_buf_printf(&telling->words, "read after %s", span);
	return add(telling, of_message(message, ROGER_EVENT_READ, message->read_at_ms), err);
}

/* What an unread message still waits for. */
static int tell_due(struct telling *telling, const struct roger_message *message,
		    struct roger_err *err)
{
	int r = ROGER_OK;

	if (message->read || message->archived_at_ms)
		return ROGER_OK;
	if (message->claimed_by.length) {
		begin(telling);
		say(telling, "claimed by ", message->claimed_by);
		rg_buf_add_text(&telling->words, message->claimed_until_ms > telling->now_ms
							 ? ", until then"
							 : ", whose lease ended");
		r = add(telling, of_message(message, ROGER_EVENT_DUE, message->claimed_until_ms),
			err);
	}
	if (r == ROGER_OK && message->confirm_by_ms > telling->now_ms) {
		begin(telling);
		rg_buf_printf(&telling->words, "to be read by then, attempt %lld",
			      (long long)(message->attempt ? message->attempt : 1));
		r = add(telling, of_message(message, ROGER_EVENT_DUE, message->confirm_by_ms), err);
	}
	return r;
}

static int tell_archived(struct telling *telling, const struct roger_message *message,
			 struct roger_err *err)
{
	struct roger_event event =
		of_message(message, ROGER_EVENT_ARCHIVED, message->archived_at_ms);
	char name[RG_FILE_NAME_BYTES];

	if (!message->archived_at_ms)
		return ROGER_OK;
	begin(telling);
	say_free(telling, "archived: ", message->archive_reason);
	event.actor = event.peer = (struct roger_str){ "", 0 };
	rg_workspace_file_name(message->issue_id, ".jsonl", name);
	return rg_arena_print(telling->history->arena, &event.file, "messages_archive/%s", name)
		       ? add(telling, event, err)
		       : rg_fail_memory(err);
}

static int tell_messages(struct telling *telling, const struct rg_gathering *gathering,
			 struct roger_err *err)
{
	const struct roger_str file = gathering->roger->workspace->config->jsonl_file;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < gathering->messages.count && r == ROGER_OK; i++) {
		const struct roger_message *message = &gathering->messages.items[i];

		r = tell_sent(telling, message, file, err);
		if (r == ROGER_OK)
			r = tell_read(telling, message, err);
		if (r == ROGER_OK)
			r = tell_due(telling, message, err);
		if (r == ROGER_OK)
			r = tell_archived(telling, message, err);
	}
	return r;
}

/* -------------------------------------------------------------- attempts -- */

/* What another line of the same attempt makes of it: before is its outcome plus one, 0: none. */
static bool kind_of_attempt(const struct roger_attempt *attempt, int64_t before,
			    enum roger_event_kind *ret_kind)
{
	/* A message that is to be read says by when itself. */
	if (attempt->pending || before == attempt->outcome + 1)
		return false;
	switch ((enum roger_attempt_outcome)attempt->outcome) {
	case ROGER_DELIVERED:
		*ret_kind = before ? ROGER_EVENT_LATE : ROGER_EVENT_DELIVERED;
		break;
	case ROGER_TIMEOUT:
		*ret_kind = ROGER_EVENT_TIMEOUT;
		break;
	case ROGER_ERROR:
		*ret_kind = ROGER_EVENT_REFUSED;
		break;
	}
	return true;
}

static void say_attempt(struct telling *telling, const struct roger_attempt *attempt,
			enum roger_event_kind kind)
{
	begin(telling);
	rg_buf_printf(&telling->words, "attempt %lld of %lld%s", (long long)attempt->attempt,
		      (long long)attempt->max_attempts,
		      kind == ROGER_EVENT_LATE ? ", after its timeout" : "");
	say_free(telling, ": ", attempt->cause);
	say(telling, ", key ", attempt->idempotent_key);
}

static int tell_attempt(struct telling *telling, const struct rg_log_entry *entry,
			struct rg_counter *outcomes, struct roger_err *err)
{
	struct rg_arena *arena = telling->history->arena;
	struct roger_attempt attempt = { 0 };
	enum roger_event_kind kind = ROGER_EVENT_DELIVERED;
	int64_t *before;
	int r;

	r = rg_kind_read(RG_LOG_SENDS, entry->text, arena, &attempt, err);
	if (r < 0)
		return r;
	before = rg_counter_of(outcomes, attempt.id);
	if (!before)
		return rg_fail_memory(err);
	if (!kind_of_attempt(&attempt, *before, &kind))
		return ROGER_OK;
	*before = attempt.outcome + 1;
	say_attempt(telling, &attempt, kind);
	return add(telling,
		   (struct roger_event){ .kind = (int)kind,
					 .at_ms = attempt.timestamp_ms,
					 .file = entry->file,
					 .line = entry->line,
					 .actor = attempt.sender,
					 .peer = attempt.target,
					 .message_id = attempt.message_id,
					 .key = attempt.idempotent_key,
					 .task_id = rg_key_task(attempt.idempotent_key),
					 .bytes = attempt.payload_bytes,
					 .attempt = attempt.attempt,
					 .dead_letter_id = attempt.dead_letter_task_id },
		   err);
}

/* ---------------------------------------------------------- dead letters -- */

static void say_letter(struct telling *telling, const struct roger_dead_letter *letter)
{
	begin(telling);
	if (letter->status == ROGER_UNDELIVERED) {
		rg_buf_printf(&telling->words, "given up after %lld attempt%s",
			      (long long)letter->attempt_count, rg_plural(letter->attempt_count));
		say_free(telling, ": ", letter->cause);
		say_free(telling, ", filed as ", letter->filed_as);
	} else {
		rg_buf_add_text(&telling->words, letter->status == ROGER_STALE
							 ? "no longer of use"
							 : "one more attempt");
		say_free(telling, ": ", letter->note);
	}
}

/* Its line again with a name of the task system changes the event of the first one. */
static int tell_letter(struct telling *telling, const struct rg_log_entry *entry,
		       struct rg_counter *events, struct roger_err *err)
{
	static const enum roger_event_kind kinds[] = { ROGER_EVENT_DEAD_LETTER,
						       ROGER_EVENT_REDELIVERED, ROGER_EVENT_STALE };
	struct rg_history *history = telling->history;
	struct roger_dead_letter letter;
	int64_t *first;
	int r;

	r = rg_kind_read(RG_LOG_DEAD_LETTERS, entry->text, history->arena, &letter, err);
	if (r < 0)
		return r;
	first = rg_counter_of(events, letter.id);
	if (!first)
		return rg_fail_memory(err);
	say_letter(telling, &letter);
	if (letter.status == ROGER_UNDELIVERED && *first)
		return rg_arena_copy(history->arena, rg_buf_str(&telling->words),
				     &history->items[*first - 1].words)
			       ? ROGER_OK
			       : rg_fail_memory(err);
	if (letter.status == ROGER_UNDELIVERED)
		*first = (int64_t)history->count + 1;
	return add(telling,
		   (struct roger_event){ .kind = (int)kinds[letter.status],
					 .at_ms = letter.updated_at_ms ? letter.updated_at_ms
								       : letter.timestamp_ms,
					 .file = entry->file,
					 .line = entry->line,
					 .actor = letter.sender,
					 .peer = letter.target,
					 .message_id = letter.message_id,
					 .key = letter.idempotent_key,
					 .task_id = letter.task_id,
					 .bytes = letter.payload_bytes,
					 .dead_letter_id = letter.id },
		   err);
}

/* Lines of a log; numbers are those that each needs to remember, by its id. */
static int tell_entries(struct telling *telling, const struct rg_gathered_entries *entries,
			int (*tell)(struct telling *telling, const struct rg_log_entry *entry,
				    struct rg_counter *numbers, struct roger_err *err),
			struct roger_err *err)
{
	struct rg_counter numbers = { .arena = telling->history->arena };
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < entries->count && r == ROGER_OK; i++)
		r = tell(telling, &entries->items[i], &numbers, err);
	return r;
}

/* ------------------------------------------------------------------ runs -- */

/* A run and the file that it is told from. */
struct told_run {
	const struct rg_run_document *document;
	struct roger_str file, sender;
};

static struct roger_event of_run(const struct told_run *told, enum roger_event_kind kind,
				 int64_t at_ms)
{
	const struct roger_run *run = &told->document->run;

	return (struct roger_event){ .kind = (int)kind,
				     .at_ms = at_ms,
				     .actor = run->owner_agent,
				     .run_id = run->run_id,
				     .task_id = run->task_id,
				     .issue_id = run->issue_id,
				     .file = told->file };
}

static int tell_dispatch(struct telling *telling, const struct told_run *told,
			 struct roger_err *err)
{
	const struct rg_receipts *receipts = &told->document->receipts;
	struct roger_event event = of_run(told, ROGER_EVENT_DISPATCHED, receipts->dispatched_ms);
	bool late = receipts->completed_ms ? receipts->completed_ms > receipts->expected_by_ms
					   : !receipts->child_ended;
	char span[32];
	int r;

	begin(telling);
	rg_clock_print_span(receipts->expected_by_ms - receipts->dispatched_ms, span);
	rg_buf_printf(&telling->words, "expected within %s", span);
	event.peer = told->sender;
	r = add(telling, event, err);
	if (r < 0 || !late)
		return r;
	begin(telling);
	rg_buf_add_text(&telling->words, receipts->expected_by_ms > telling->now_ms
						 ? "is expected by then"
						 : "expected by then, and nothing came");
	return add(telling, of_run(told, ROGER_EVENT_DUE, receipts->expected_by_ms), err);
}

static int tell_completion(struct telling *telling, const struct told_run *told,
			   struct roger_err *err)
{
	const struct rg_receipts *receipts = &told->document->receipts;
	const struct roger_run *run = &told->document->run;
	struct roger_event event = of_run(told, ROGER_EVENT_COMPLETED, receipts->completed_ms);
	char span[32];

	if (!receipts->completed_ms)
		return ROGER_OK;
	begin(telling);
	rg_clock_print_span(receipts->completed_ms - receipts->dispatched_ms, span);
	rg_buf_printf(&telling->words, "after %s, by %.*s; child: %s", span,
		      RG_STR_ARGS(run->result_source), rg_run_outcomes[run->outcome]);
	if (run->outcome > ROGER_RUN_SUCCEEDED)
		say(telling, ", exit ", run->child_exit);
	event.message_id = run->result_message_id;
	if (!rg_str_equal(told->sender, run->owner_agent)) {
		event.peer = event.actor;
		event.actor = told->sender;
	}
	return add(telling, event, err);
}

/* When the message that confirmed the forward was read; else when it was judged so. */
static int tell_forward(struct telling *telling, const struct told_run *told,
			const struct rg_gathering *gathering, struct roger_err *err)
{
	const struct roger_run *run = &told->document->run;
	struct roger_event event;
	int64_t at_ms = 0;
	size_t i;

	if (!run->forwarded_to_main)
		return ROGER_OK;
	for (i = 0; i < gathering->messages.count; i++)
		if (rg_str_equal(gathering->messages.items[i].id, run->forward_evidence))
			at_ms = gathering->messages.items[i].read_at_ms;
	if (!at_ms && !rg_clock_read_rfc3339(run->status_updated_at, &at_ms))
		at_ms = told->document->receipts.completed_ms;
	begin(telling);
	rg_buf_add_text(&telling->words,
			run->forward_evidence.length ? "the result was read" : "confirmed by hand");
	event = of_run(told, ROGER_EVENT_FORWARDED, at_ms);
	event.message_id = run->forward_evidence;
	return add(telling, event, err);
}

/* "2026-04-24T02:50:00.000Z recovery attempt 1: ..."; a note without an instant has none of its
 * own. */
static int tell_note(struct telling *telling, const struct told_run *told, struct roger_str note,
		     bool *ret_recovery, struct roger_err *err)
{
	static const char recovery[] = "recovery attempt ";
	const char *blank = note.length ? memchr(note.data, ' ', note.length) : NULL;
	struct roger_str instant = { note.data, blank ? (size_t)(blank - note.data) : 0 };
	enum roger_event_kind kind = ROGER_EVENT_RUN_NOTE;
	int64_t at_ms = told->document->receipts.dispatched_ms;

	if (instant.length && rg_clock_read_rfc3339(instant, &at_ms)) {
		note.data += instant.length + 1;
		note.length -= instant.length + 1;
	}
	if (note.length > sizeof recovery - 1 &&
	    memcmp(note.data, recovery, sizeof recovery - 1) == 0) {
		kind = ROGER_EVENT_RECOVERY;
		*ret_recovery = true;
	}
	begin(telling);
	say_free(telling, "", note);
	return add(telling, of_run(told, kind, at_ms), err);
}

static int tell_notes(struct telling *telling, const struct told_run *told, struct roger_err *err)
{
	const struct roger_run *run = &told->document->run;
	bool recovery = false;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < run->notes.count && r == ROGER_OK; i++)
		r = tell_note(telling, told, run->notes.items[i], &recovery, err);
	if (r < 0 || recovery || !told->document->receipts.last_recovery_ms)
		return r;
	begin(telling);
	rg_buf_printf(&telling->words, "attempt %lld", (long long)run->recovery_attempt_count);
	say_free(telling, ": ", run->recovery_action);
	return add(telling,
		   of_run(told, ROGER_EVENT_RECOVERY, told->document->receipts.last_recovery_ms),
		   err);
}

/* What its evidence says by now, where nobody has written that down yet. */
static int tell_judgement(struct telling *telling, const struct told_run *told,
			  struct roger_err *err)
{
	const struct roger_run *run = &told->document->run;

	if ((int)told->document->stored == run->status)
		return ROGER_OK;
	begin(telling);
	rg_buf_printf(&telling->words, "now %s: ", rg_run_statuses[run->status]);
	say_free(telling, "", run->status_reason);
	return add(telling, of_run(told, ROGER_EVENT_RUN_NOTE, telling->now_ms), err);
}

static int tell_run(struct telling *telling, const struct rg_gathering *gathering,
		    const struct rg_run_document *document, struct roger_err *err)
{
	struct told_run told = { .document = document,
				 .sender = rg_run_sender(gathering->roger, &document->run) };
	char name[RG_FILE_NAME_BYTES];
	int r;

	rg_workspace_file_name(document->run.run_id, ".json", name);
	if (!rg_arena_print(telling->history->arena, &told.file,
			    "state/subagent-delivery-watchdog/%s", name))
		return rg_fail_memory(err);
	r = tell_dispatch(telling, &told, err);
	if (r == ROGER_OK)
		r = tell_completion(telling, &told, err);
	if (r == ROGER_OK)
		r = tell_notes(telling, &told, err);
	if (r == ROGER_OK)
		r = tell_forward(telling, &told, gathering, err);
	return r < 0 ? r : tell_judgement(telling, &told, err);
}

/* ------------------------------------------------------------ activities -- */

/* What succeeded shows in another log; and so does a send that timed out. */
static bool is_told_elsewhere(const struct rg_note *note)
{
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

static void say_activity(struct telling *telling, const struct rg_note *note)
{
	if (note->kind)
		say_free(telling, "roger ", note->verb);
	else
		rg_buf_add_text(&telling->words, rg_activity_types[note->entry.action_type]);
	if (note->duplicates)
		rg_buf_add_text(&telling->words, ": skipped as a duplicate");
	else
		rg_buf_printf(&telling->words, " %s",
			      rg_activity_statuses[note->entry.outcome_status]);
	say_free(telling, ": ", note->entry.outcome_message);
	say_free(telling, ", because of ", note->entry.evidence_citation);
}

/* In words, and as which kind of event. */
static enum roger_event_kind say_note(struct telling *telling, const struct rg_note *note)
{
	begin(telling);
	if (note->kind == RG_NOTE_WOKEN) {
		rg_buf_printf(&telling->words, "to tell of %lld unread, attempt %lld",
			      (long long)note->count, (long long)note->attempt);
		say_free(telling, ": ", note->entry.outcome_message);
		return ROGER_EVENT_WAKE;
	}
	if (note->kind == RG_NOTE_LOOKED) {
		rg_buf_printf(&telling->words, "looked at %lld new message%s",
			      (long long)note->count, rg_plural(note->count));
		return ROGER_EVENT_LOOKED;
	}
	say_activity(telling, note);
	return ROGER_EVENT_ACTIVITY;
}

static int tell_activity(struct telling *telling, const struct rg_log_entry *entry, bool own,
			 struct roger_err *err)
{
	struct roger_event event = { .file = entry->file, .line = entry->line };
	struct rg_note note;
	int r;

	r = rg_note_read(entry->text, telling->history->arena, &note, err);
	if (r < 0 || !note.entry.timestamp.length)
		return r;
	if (!own && !note.duplicates && is_told_elsewhere(&note))
		return ROGER_OK;
	event.kind = (int)say_note(telling, &note);
	event.at_ms = note.entry.at_ms;
	event.task_id = note.entry.task_id;
	event.actor = note.agent;
	if (note.count == 1 && note.ids.count == 1)
		event.message_id = note.ids.items[0];
	return add(telling, event, err);
}

/* ---------------------------------------------------------------- history -- */

int rg_tell_all(struct rg_gathering *gathering, bool own, struct rg_history *history,
		struct roger_err *err)
{
	struct telling telling = { .history = history, .now_ms = rg_clock_ms() };
	size_t i;
	int r;

	rg_gathering_sort(gathering);
	rg_buf_init(&telling.words, 65536);
	r = tell_messages(&telling, gathering, err);
	if (r == ROGER_OK)
		r = tell_entries(&telling, &gathering->logs[RG_LOG_SENDS], tell_attempt, err);
	if (r == ROGER_OK)
		r = tell_entries(&telling, &gathering->logs[RG_LOG_DEAD_LETTERS], tell_letter, err);
	for (i = 0; i < gathering->runs.count && r == ROGER_OK; i++)
		r = tell_run(&telling, gathering, &gathering->runs.items[i], err);
	for (i = 0; i < gathering->logs[RG_LOG_ACTIVITY].count && r == ROGER_OK; i++)
		r = tell_activity(&telling, &gathering->logs[RG_LOG_ACTIVITY].items[i], own, err);
	rg_buf_deinit(&telling.words);
	return r;
}

static int tell_cycle(struct telling *telling, const struct rg_log_entry *entry,
		      struct roger_err *err)
{
	struct roger_cycle cycle;
	int r;

	r = rg_kind_read(RG_LOG_CYCLES, entry->text, telling->history->arena, &cycle, err);
	if (r < 0)
		return r;
	begin(telling);
	say(telling, "cycle ", cycle.id);
	return add(telling,
		   (struct roger_event){ .kind = ROGER_EVENT_CYCLE,
					 .at_ms = cycle.opened_at_ms,
					 .file = entry->file,
					 .line = entry->line,
					 .actor = cycle.opened_by },
		   err);
}

int rg_tell_cycles(struct roger *roger, struct rg_history *history, struct roger_err *err)
{
	struct rg_log_query query = { .log = RG_LOG_CYCLES };
	struct telling telling = { .history = history };
	struct rg_log_entries found;
	size_t i;
	int r;

	if (!history->count)
		return ROGER_OK;
	query.since_ms = history->items[0].at_ms;
	query.until_ms = history->items[history->count - 1].at_ms + 1;
	r = rg_engine_log_find(roger->engine, &query, history->arena, &found, err);
	rg_buf_init(&telling.words, 65536);
	for (i = 0; r == ROGER_OK && i < found.count; i++)
		r = tell_cycle(&telling, &found.items[i], err);
	rg_buf_deinit(&telling.words);
	return r;
}
