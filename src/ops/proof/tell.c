/* Turning what was gathered into events: who, what, when, and where it is written. */
#include "ops/proof/gather.h"

#include <stdio.h>
#include <stdlib.h>

#include "ops/keys/attempt.h"
#include "ops/proof/note.h"
#include "facts/activity.h"
#include "facts/message.h"

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

/* The event with the words that were put together. */
static struct roger_event *add(struct telling *telling, enum roger_event_kind kind, int64_t at_ms,
			       struct roger_err *err)
{
	struct roger_event *event = rg_history_add(telling->history);

	if (!event || telling->words.failed ||
	    !rg_arena_copy(telling->history->arena, rg_buf_str(&telling->words), &event->words)) {
		rg_fail_memory(err);
		return NULL;
	}
	event->kind = (int)kind;
	event->at_ms = at_ms;
	return event;
}

/* -------------------------------------------------------------- messages -- */

static struct roger_event *add_of_message(struct telling *telling,
					  const struct roger_message *message,
					  enum roger_event_kind kind, int64_t at_ms,
					  struct roger_err *err)
{
	struct roger_event *event = add(telling, kind, at_ms, err);

	if (!event)
		return NULL;
	event->message_id = message->id;
	event->issue_id = message->issue_id;
	event->key = message->idempotent_key;
	event->seq = message->seq;
	event->type = message->message_type + 1;
	event->bytes = (int64_t)message->content.length;
	event->actor = message->to_phase;
	event->peer = message->from_phase;
	return event;
}

static int tell_sent(struct telling *telling, const struct roger_message *message,
		     struct roger_str file, struct roger_err *err)
{
	struct roger_event *event;

	begin(telling);
	rg_buf_printf(&telling->words, "%s, %zu bytes", rg_message_types[message->message_type],
		      message->content.length);
	if (message->run_counter > 1)
		rg_buf_printf(&telling->words, ", run %lld", (long long)message->run_counter);
	say(telling, ", in reply to ", message->reply_to);
	event = add_of_message(telling, message, ROGER_EVENT_SENT, message->created_at_ms, err);
	if (!event)
		return ROGER_ENOMEM;
	event->actor = message->from_phase;
	event->peer = message->to_phase;
	event->file = file;
	event->line = message->position;
	return ROGER_OK;
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
	return add_of_message(telling, message, ROGER_EVENT_READ, message->read_at_ms, err)
		       ? ROGER_OK
		       : ROGER_ENOMEM;
}

/* What an unread message still waits for. */
static int tell_due(struct telling *telling, const struct roger_message *message,
		    struct roger_err *err)
{
	if (message->read || message->archived_at_ms)
		return ROGER_OK;
	if (message->claimed_by.length) {
		begin(telling);
		say(telling, "claimed by ", message->claimed_by);
		rg_buf_add_text(&telling->words, message->claimed_until_ms > telling->now_ms
							 ? ", until then"
							 : ", whose lease ended");
		if (!add_of_message(telling, message, ROGER_EVENT_DUE, message->claimed_until_ms,
				    err))
			return ROGER_ENOMEM;
	}
	if (message->confirm_by_ms > telling->now_ms) {
		begin(telling);
		rg_buf_printf(&telling->words, "to be read by then, attempt %lld",
			      (long long)(message->attempt ? message->attempt : 1));
		if (!add_of_message(telling, message, ROGER_EVENT_DUE, message->confirm_by_ms, err))
			return ROGER_ENOMEM;
	}
	return ROGER_OK;
}

static int tell_archived(struct telling *telling, const struct roger_message *message,
			 struct roger_err *err)
{
	char name[RG_FILE_NAME_BYTES];
	struct roger_event *event;

	if (!message->archived_at_ms)
		return ROGER_OK;
	begin(telling);
	say_free(telling, "archived: ", message->archive_reason);
	event = add_of_message(telling, message, ROGER_EVENT_ARCHIVED, message->archived_at_ms,
			       err);
	if (!event)
		return ROGER_ENOMEM;
	event->actor = event->peer = (struct roger_str){ "", 0 };
	rg_workspace_file_name(message->issue_id, ".jsonl", name);
	return rg_arena_print(telling->history->arena, &event->file, "messages_archive/%s", name)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

static int compare_messages(const void *a, const void *b)
{
	const struct roger_message *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static int tell_messages(struct telling *telling, const struct rg_gathering *gathering,
			 struct roger_err *err)
{
	const struct roger_str file = gathering->roger->workspace->config->jsonl_file;
	size_t i;
	int r = ROGER_OK;

	if (gathering->messages.count)
		qsort(gathering->messages.items, gathering->messages.count,
		      sizeof *gathering->messages.items, compare_messages);
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

static int compare_entries(const void *a, const void *b)
{
	const struct rg_log_entry *x = a, *y = b;

	return (x->position > y->position) - (x->position < y->position);
}

static void sort_entries(struct rg_gathered_entries *entries)
{
	if (entries->count)
		qsort(entries->items, entries->count, sizeof *entries->items, compare_entries);
}

static struct roger_event *add_of_entry(struct telling *telling, const struct rg_log_entry *entry,
					enum roger_event_kind kind, int64_t at_ms,
					struct roger_err *err)
{
	struct roger_event *event = add(telling, kind, at_ms, err);

	if (!event)
		return NULL;
	event->file = entry->file;
	event->line = entry->line;
	return event;
}

/* What another line of the same attempt makes of it: before is its outcome plus one, 0: none. */
static bool kind_of_attempt(const struct roger_attempt *attempt, int64_t before,
			    enum roger_event_kind *ret_kind)
{
	if (before == attempt->outcome + 1)
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
	struct roger_event *event;
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
	event = add_of_entry(telling, entry, kind, attempt.timestamp_ms, err);
	if (!event)
		return ROGER_ENOMEM;
	event->actor = attempt.sender;
	event->peer = attempt.target;
	event->message_id = attempt.message_id;
	event->key = attempt.idempotent_key;
	event->task_id = rg_key_task(attempt.idempotent_key);
	event->bytes = attempt.payload_bytes;
	event->attempt = attempt.attempt;
	event->dead_letter_id = attempt.dead_letter_task_id;
	return ROGER_OK;
}

static int tell_attempts(struct telling *telling, struct rg_gathered_entries *entries,
			 struct roger_err *err)
{
	struct rg_counter outcomes = { .arena = telling->history->arena };
	size_t i;
	int r = ROGER_OK;

	sort_entries(entries);
	for (i = 0; i < entries->count && r == ROGER_OK; i++)
		r = tell_attempt(telling, &entries->items[i], &outcomes, err);
	return r;
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
	struct roger_event *event;
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
	event = add_of_entry(telling, entry, kinds[letter.status],
			     letter.updated_at_ms ? letter.updated_at_ms : letter.timestamp_ms,
			     err);
	if (!event)
		return ROGER_ENOMEM;
	if (letter.status == ROGER_UNDELIVERED)
		*first = (int64_t)history->count;
	event->actor = letter.sender;
	event->peer = letter.target;
	event->message_id = letter.message_id;
	event->key = letter.idempotent_key;
	event->task_id = letter.task_id;
	event->bytes = letter.payload_bytes;
	event->dead_letter_id = letter.id;
	return ROGER_OK;
}

static int tell_letters(struct telling *telling, struct rg_gathered_entries *entries,
			struct roger_err *err)
{
	struct rg_counter events = { .arena = telling->history->arena };
	size_t i;
	int r = ROGER_OK;

	sort_entries(entries);
	for (i = 0; i < entries->count && r == ROGER_OK; i++)
		r = tell_letter(telling, &entries->items[i], &events, err);
	return r;
}

/* ------------------------------------------------------------------ runs -- */

/* A run and the file that it is told from. */
struct told_run {
	const struct rg_run_document *document;
	struct roger_str file, sender;
};

static struct roger_event *add_of_run(struct telling *telling, const struct told_run *told,
				      enum roger_event_kind kind, int64_t at_ms,
				      struct roger_err *err)
{
	const struct roger_run *run = &told->document->run;
	struct roger_event *event = add(telling, kind, at_ms, err);

	if (!event)
		return NULL;
	event->actor = run->owner_agent;
	event->run_id = run->run_id;
	event->task_id = run->task_id;
	event->issue_id = run->issue_id;
	event->file = told->file;
	return event;
}

static int tell_receipts(struct telling *telling, const struct told_run *told,
			 struct roger_err *err)
{
	const struct rg_receipts *receipts = &told->document->receipts;
	const struct roger_run *run = &told->document->run;
	struct roger_event *event;
	char span[32];
	bool late;

	begin(telling);
	rg_clock_print_span(receipts->expected_by_ms - receipts->dispatched_ms, span);
	rg_buf_printf(&telling->words, "expected within %s", span);
	event = add_of_run(telling, told, ROGER_EVENT_DISPATCHED, receipts->dispatched_ms, err);
	if (!event)
		return ROGER_ENOMEM;
	event->peer = told->sender;

	late = receipts->completed_ms ? receipts->completed_ms > receipts->expected_by_ms
				      : !receipts->child_ended;
	if (late) {
		begin(telling);
		rg_buf_add_text(&telling->words, receipts->expected_by_ms > telling->now_ms
							 ? "is expected by then"
							 : "expected by then, and nothing came");
		if (!add_of_run(telling, told, ROGER_EVENT_DUE, receipts->expected_by_ms, err))
			return ROGER_ENOMEM;
	}
	if (!receipts->completed_ms)
		return ROGER_OK;
	begin(telling);
	rg_clock_print_span(receipts->completed_ms - receipts->dispatched_ms, span);
	rg_buf_printf(&telling->words, "after %s, by %.*s", span, RG_STR_ARGS(run->result_source));
	event = add_of_run(telling, told, ROGER_EVENT_COMPLETED, receipts->completed_ms, err);
	if (!event)
		return ROGER_ENOMEM;
	event->message_id = run->result_message_id;
	if (!rg_str_equal(told->sender, run->owner_agent)) {
		event->peer = event->actor;
		event->actor = told->sender;
	}
	return ROGER_OK;
}

/* When the message that confirmed the forward was read; else when it was judged so. */
static int tell_forward(struct telling *telling, const struct told_run *told,
			const struct rg_gathering *gathering, struct roger_err *err)
{
	const struct roger_run *run = &told->document->run;
	struct roger_event *event;
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
	event = add_of_run(telling, told, ROGER_EVENT_FORWARDED, at_ms, err);
	if (!event)
		return ROGER_ENOMEM;
	event->message_id = run->forward_evidence;
	return ROGER_OK;
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
	return add_of_run(telling, told, kind, at_ms, err) ? ROGER_OK : ROGER_ENOMEM;
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
	return add_of_run(telling, told, ROGER_EVENT_RECOVERY,
			  told->document->receipts.last_recovery_ms, err)
		       ? ROGER_OK
		       : ROGER_ENOMEM;
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
	return add_of_run(telling, told, ROGER_EVENT_RUN_NOTE, telling->now_ms, err) ? ROGER_OK
										     : ROGER_ENOMEM;
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
	r = tell_receipts(telling, &told, err);
	if (r == ROGER_OK)
		r = tell_notes(telling, &told, err);
	if (r == ROGER_OK)
		r = tell_forward(telling, &told, gathering, err);
	return r < 0 ? r : tell_judgement(telling, &told, err);
}

/* ------------------------------------------------------------ activities -- */

/* Verbs whose success shows in another log; and so does a send that timed out. */
static bool is_told_elsewhere(const struct roger_activity *activity, struct roger_str verb)
{
	static const char *const verbs[] = { "send",	"send_many", "receive",	  "claim",
					     "ack",	"nack",	     "archive",	  "delete",
					     "cleanup", "dispatch",  "complete",  "forward",
					     "extend",	"recover",   "redeliver", "stale",
					     "sweep",	"cycle",     NULL };

	if (activity->outcome_status == ROGER_FAILURE)
		return rg_str_is(verb, "send") && rg_str_is(activity->outcome_message, "retry");
	return verb.length && rg_enum_find(verbs, verb) >= 0;
}

static void say_activity(struct telling *telling, const struct roger_activity *activity,
			 const struct rg_own_note *note)
{
	if (note->verb.length)
		say_free(telling, "roger ", note->verb);
	else
		rg_buf_add_text(&telling->words, rg_activity_types[activity->action_type]);
	if (note->duplicates)
		rg_buf_add_text(&telling->words, ": skipped as a duplicate");
	else
		rg_buf_printf(&telling->words, " %s",
			      rg_activity_statuses[activity->outcome_status]);
	say_free(telling, ": ", activity->outcome_message);
	say_free(telling, ", because of ", activity->evidence_citation);
}

static void say_wake(struct telling *telling, const struct roger_activity *activity,
		     const struct rg_own_note *note)
{
	rg_buf_printf(&telling->words, "to tell of %lld unread, attempt %lld",
		      (long long)note->count, (long long)note->attempt);
	say_free(telling, ": ", activity->outcome_message);
}

static enum roger_event_kind kind_of_activity(const struct rg_own_note *note)
{
	if (rg_str_is(note->verb, "wake"))
		return ROGER_EVENT_WAKE;
	return rg_str_is(note->verb, "inbox") ? ROGER_EVENT_LOOKED : ROGER_EVENT_ACTIVITY;
}

static int tell_activity(struct telling *telling, const struct rg_log_entry *entry, bool own,
			 struct roger_err *err)
{
	struct rg_arena *arena = telling->history->arena;
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct roger_activity activity;
	struct rg_own_note note;
	struct roger_event *event;
	int r;

	r = rg_activity_read(entry->text, &json, arena, &activity, err);
	if (r == ROGER_EDATA)
		return ROGER_OK;
	if (r == ROGER_OK)
		r = rg_own_note(&activity, arena, &note, err);
	if (r < 0)
		return r;
	if (!own && !note.duplicates && is_told_elsewhere(&activity, note.verb))
		return ROGER_OK;
	begin(telling);
	if (rg_str_is(note.verb, "wake"))
		say_wake(telling, &activity, &note);
	else if (rg_str_is(note.verb, "inbox"))
		rg_buf_printf(&telling->words, "looked at %lld new message%s",
			      (long long)note.count, rg_plural(note.count));
	else
		say_activity(telling, &activity, &note);
	event = add_of_entry(telling, entry, kind_of_activity(&note), activity.at_ms, err);
	if (!event || !rg_arena_copy(arena, activity.task_id, &event->task_id))
		return rg_fail_memory(err);
	event->actor = note.agent;
	if (note.count == 1 && note.ids.count == 1)
		event->message_id = note.ids.items[0];
	return ROGER_OK;
}

/* ---------------------------------------------------------------- history -- */

int rg_tell_all(struct rg_gathering *gathering, bool own, struct rg_history *history,
		struct roger_err *err)
{
	struct telling telling = { .history = history, .now_ms = rg_clock_ms() };
	size_t i;
	int r;

	rg_buf_init(&telling.words, 65536);
	r = tell_messages(&telling, gathering, err);
	if (r == ROGER_OK)
		r = tell_attempts(&telling, &gathering->logs[RG_LOG_SENDS], err);
	if (r == ROGER_OK)
		r = tell_letters(&telling, &gathering->logs[RG_LOG_DEAD_LETTERS], err);
	for (i = 0; i < gathering->runs.count && r == ROGER_OK; i++)
		r = tell_run(&telling, gathering, &gathering->runs.items[i], err);
	sort_entries(&gathering->logs[RG_LOG_ACTIVITY]);
	for (i = 0; i < gathering->logs[RG_LOG_ACTIVITY].count && r == ROGER_OK; i++)
		r = tell_activity(&telling, &gathering->logs[RG_LOG_ACTIVITY].items[i], own, err);
	rg_buf_deinit(&telling.words);
	return r;
}

static int tell_cycle(struct telling *telling, const struct rg_log_entry *entry,
		      struct roger_err *err)
{
	struct roger_cycle cycle;
	struct roger_event *event;
	int r;

	r = rg_kind_read(RG_LOG_CYCLES, entry->text, telling->history->arena, &cycle, err);
	if (r < 0)
		return r;
	begin(telling);
	say(telling, "cycle ", cycle.id);
	event = add_of_entry(telling, entry, ROGER_EVENT_CYCLE, cycle.opened_at_ms, err);
	if (!event)
		return ROGER_ENOMEM;
	event->actor = cycle.opened_by;
	return ROGER_OK;
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
