/* Events from the documents of runs.  The present judgement of a run is no event; the facts that it
 * is judged by are. */
#include "ops/proof/telling.h"

#include "facts/sentence.h"

/* A run whose events are collected. */
struct telling_run {
	struct rg_telling *telling;
	const struct rg_run_document *document;
	const struct roger_run *run;
	struct roger_str file;
	int64_t expected_by_ms; /* as dispatched */
};

/* By the owner in the document, whoever gets its mail now: a retirement can be undone. */
static struct rg_event of_run(const struct telling_run *of, enum roger_event_kind kind,
			      int64_t at_ms)
{
	const struct roger_str former = of->document->former;

	return (struct rg_event){ .said = { .kind = (int)kind,
					    .at_ms = at_ms,
					    .actor = former.length ? former : of->run->owner,
					    .run = of->run->run,
					    .task = of->run->task,
					    .issue = of->run->issue,
					    .file = of->file },
				  .log = RG_LOGS,
				  .since_ms = of->document->receipts.dispatched_ms };
}

static void keep_event(const struct telling_run *of, struct rg_event event)
{
	struct rg_buf words = { .maximum = 65536 };

	rg_say_run(&event, of->run, &words);
	event.said.words = rg_arena_take(of->telling->arena, &words);
	rg_telling_keep(of->telling, event);
}

/* Find what was told of a message; NULL: nothing of that kind. */
static const struct rg_event *find_told(const struct telling_run *of, enum roger_event_kind kind,
					struct roger_str message)
{
	const struct rg_history *history = &of->telling->history;
	const struct rg_event *found = NULL;
	size_t i;

	for (i = 0; i < history->count && message.length; i++)
		if (history->items[i].said.kind == (int)kind &&
		    !(history->items[i].flags & RG_ROW_REPEAT) &&
		    rg_str_equal(history->items[i].said.message, message))
			found = &history->items[i];
	return found;
}

/* Keep the events of its dispatch, its deadline if it was late or is open, and its completion. */
static void keep_result(const struct telling_run *of)
{
	const struct rg_receipts *receipts = &of->document->receipts;
	const struct roger_str sender = rg_run_sender(of->telling->roger, of->run);
	struct rg_event event = of_run(of, ROGER_EVENT_DISPATCHED, receipts->dispatched_ms);
	int64_t ended_ms = receipts->completed_ms;
	const struct rg_event *sent;

	event.said.peer = sender;
	event.number = of->expected_by_ms;
	keep_event(of, event);
	event = of_run(of, ROGER_EVENT_DUE, receipts->expected_by_ms);
	event.open = of->run->status == ROGER_RUN_ACTIVE || of->run->status == ROGER_RUN_SUSPECT;
	if (receipts->child_ended && !ended_ms)
		(void)!rg_clock_read_rfc3339(of->run->ended_at, &ended_ms);
	if (ended_ms ? ended_ms > receipts->expected_by_ms : !receipts->child_ended)
		keep_event(of, event);
	if (!receipts->completed_ms)
		return;
	event = of_run(of, ROGER_EVENT_COMPLETED, receipts->completed_ms);
	event.said.message = of->run->result_message;
	sent = find_told(of, ROGER_EVENT_SENT, of->run->result_message);
	if (!rg_str_equal(sender, event.said.actor)) {
		event.said.peer = sent ? sent->said.peer : event.said.actor;
		event.said.actor = sender;
	}
	keep_event(of, event);
}

/* Keep the forward, by whoever read its message, at that time; else when the status was written. */
static void keep_forward(const struct telling_run *of)
{
	const struct roger_str id = of->run->evidence;
	const struct rg_event *read = find_told(of, ROGER_EVENT_READ, id);
	struct rg_event event = of_run(of, ROGER_EVENT_FORWARDED, read ? read->said.at_ms : 0);

	if (!of->run->forwarded)
		return;
	/* An answer to the child, which the child reads, is evidence, too. */
	if (read && !rg_str_equal(read->said.actor, rg_run_sender(of->telling->roger, of->run)))
		event.said.actor = read->said.actor;
	if (!event.said.at_ms &&
	    !rg_clock_read_rfc3339(of->run->status_updated_at, &event.said.at_ms))
		event.said.at_ms = of->document->receipts.completed_ms;
	event.text = id.length ? RG_STR("the result was read") : RG_STR("confirmed by hand");
	event.said.message = id;
	keep_event(of, event);
}

/* A note of an extension says what it was extended from, which may have been over. */
static void keep_extension(struct telling_run *of, struct roger_str note, int64_t at_ms)
{
	static const char extended[] = "extended to 2026-04-24T02:50:00.000Z from ";
	const struct roger_str from = { note.data + sizeof extended - 1, 24 };
	int64_t from_ms;

	if (note.length < sizeof extended + from.length || !rg_str_begins(note, "extended to ") ||
	    !rg_clock_read_rfc3339(from, &from_ms))
		return;
	if (of->expected_by_ms == of->document->receipts.expected_by_ms)
		of->expected_by_ms = from_ms;
	if (from_ms < at_ms)
		keep_event(of, of_run(of, ROGER_EVENT_DUE, from_ms));
}

/* Keep the notes, such as "2026-04-24T02:50:00.000Z recovery attempt 1: ...".  A note without an
 * instant gets that of the dispatch. */
static void keep_notes(struct telling_run *of)
{
	static const char recovery[] = "recovery attempt ";
	const struct rg_receipts *receipts = &of->document->receipts;
	struct roger_str note, instant;
	struct rg_event event;
	const char *blank;
	bool told = false;
	size_t i;

	for (i = 0; i < of->run->notes.count; i++) {
		note = of->run->notes.items[i];
		blank = note.length ? memchr(note.data, ' ', note.length) : NULL;
		instant = (struct roger_str){ note.data, blank ? (size_t)(blank - note.data) : 0 };
		event = of_run(of, ROGER_EVENT_RUN_NOTE, receipts->dispatched_ms);
		if (instant.length && rg_clock_read_rfc3339(instant, &event.said.at_ms)) {
			note.data += instant.length + 1;
			note.length -= instant.length + 1;
		}
		if (note.length >= sizeof recovery && rg_str_begins(note, recovery)) {
			event.said.kind = ROGER_EVENT_RECOVERY;
			told = true;
		}
		event.text = note;
		keep_event(of, event);
		keep_extension(of, note, event.said.at_ms);
	}
	event = of_run(of, ROGER_EVENT_RECOVERY, receipts->last_recovery_ms);
	if (!told && event.said.at_ms)
		keep_event(of, event);
}

/* Keep a failure: that the child was lost or failed, and that somebody has dealt with it. */
static void keep_failure(const struct telling_run *of)
{
	const struct roger_run *run = of->run;
	struct rg_event event = of_run(of, ROGER_EVENT_LOST, 0);

	/* The processes are gone, which is seen now and written nowhere. */
	if (of->document->receipts.child_lost && !run->exit.length)
		event.said.at_ms = of->telling->now_ms;
	if (!event.said.at_ms)
		(void)!rg_clock_read_rfc3339(run->ended_at, &event.said.at_ms);
	if (!event.said.at_ms)
		event.said.at_ms = of->document->receipts.completed_ms;
	/* Documents of older programs only say when the status was last written. */
	if (!event.said.at_ms && !rg_clock_read_rfc3339(run->status_updated_at, &event.said.at_ms))
		event.said.at_ms = of->telling->now_ms;
	if (run->status == ROGER_RUN_BLOCKED)
		keep_event(of, event);
	event.said.kind = ROGER_EVENT_FAILED;
	if (run->outcome > ROGER_RUN_SUCCEEDED && run->outcome < ROGER_RUN_UNKNOWN)
		keep_event(of, event);
	event.said.kind = ROGER_EVENT_SETTLED;
	event.said.actor = run->settled_by;
	if (rg_clock_read_rfc3339(run->settled_at, &event.said.at_ms))
		keep_event(of, event);
}

void rg_tell_run(struct rg_telling *telling, const struct rg_run_document *document)
{
	struct telling_run of = {
		telling, document, &document->run, { "", 0 }, document->receipts.expected_by_ms
	};
	char name[RG_FILE_NAME_BYTES];

	rg_workspace_file_name(document->run.run, ".json", name);
	of.file = rg_arena_text(telling->arena, RG_RUNS_SHOWN "/%s", name);
	keep_notes(&of);
	keep_result(&of);
	keep_forward(&of);
	keep_failure(&of);
}

void rg_tell_runs(struct rg_telling *telling, struct roger_str name, unsigned members)
{
	/* Invalid documents are reported by `runs`, and by `doctor`. */
	const struct rg_run_wish wish = { .readers = true, .members = members, .name = name };
	const struct rg_run_list list = rg_read_runs(&telling->reading, wish);
	struct roger_run run;
	size_t i;

	for (i = 0; i < list.count; i++) {
		/* Use the former owner: its successor did not dispatch the run. */
		run = list.documents[i].run;
		if (list.documents[i].former.length)
			run.owner = list.documents[i].former;
		if (!list.documents[i].brief && rg_run_has(&run, members, name))
			(void)!rg_arena_append(telling->arena, &telling->runs.items,
					       &telling->runs.count, &list.documents[i],
					       sizeof list.documents[i]);
	}
}
