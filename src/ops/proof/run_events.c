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
};

static struct rg_event of_run(const struct telling_run *of, enum roger_event_kind kind,
			      int64_t at_ms)
{
	const struct rg_run_document *document = of->document;
	const bool by_former = document->former.length && at_ms <= document->former_until_ms;

	return (struct rg_event){ .said = { .kind = (int)kind,
					    .at_ms = at_ms,
					    .actor = by_former ? document->former : of->run->owner,
					    .run = of->run->run,
					    .task = of->run->task,
					    .issue = of->run->issue,
					    .file = of->file },
				  .log = RG_LOGS,
				  .since_ms = document->receipts.dispatched_ms };
}

static int keep_event(const struct telling_run *of, struct rg_event event, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = 65536 };

	rg_say_run(&event, of->run, &words);
	event.said.words = rg_buf_str(&words);
	return words.failed ? rg_fail_memory(err) : rg_telling_keep(of->telling, &event, err);
}

/* Keep the events of its dispatch, its deadline if it was late or is open, and its completion. */
static int keep_result(const struct telling_run *of, struct roger_err *err)
{
	const struct rg_receipts *receipts = &of->document->receipts;
	const struct roger_str sender = rg_run_sender(of->telling->roger, of->run);
	struct rg_event event = of_run(of, ROGER_EVENT_DISPATCHED, receipts->dispatched_ms);
	int r;

	event.said.peer = sender;
	event.number = receipts->expected_by_ms;
	r = keep_event(of, event, err);
	event = of_run(of, ROGER_EVENT_DUE, receipts->expected_by_ms);
	event.open = of->run->status == ROGER_RUN_ACTIVE || of->run->status == ROGER_RUN_SUSPECT;
	if (r == ROGER_OK &&
	    (receipts->completed_ms ? receipts->completed_ms > receipts->expected_by_ms
				    : !receipts->child_ended))
		r = keep_event(of, event, err);
	if (r < 0 || !receipts->completed_ms)
		return r;
	event = of_run(of, ROGER_EVENT_COMPLETED, receipts->completed_ms);
	event.said.message = of->run->result_message;
	if (!rg_str_equal(sender, of->run->owner)) {
		event.said.peer = event.said.actor;
		event.said.actor = sender;
	}
	return keep_event(of, event, err);
}

/* Keep the forward, at the time when its message was read; else when the status was written. */
static int keep_forward(const struct telling_run *of, struct roger_err *err)
{
	const struct rg_history *history = &of->telling->history;
	const struct roger_str id = of->run->evidence;
	struct rg_event event = of_run(of, ROGER_EVENT_FORWARDED, 0);
	size_t i;

	if (!of->run->forwarded)
		return ROGER_OK;
	for (i = 0; i < history->count && id.length; i++)
		if (history->items[i].said.kind == ROGER_EVENT_READ &&
		    !(history->items[i].flags & RG_ROW_REPEAT) &&
		    rg_str_equal(history->items[i].said.message, id))
			event.said.at_ms = history->items[i].said.at_ms;
	if (!event.said.at_ms &&
	    !rg_clock_read_rfc3339(of->run->status_updated_at, &event.said.at_ms))
		event.said.at_ms = of->document->receipts.completed_ms;
	event.text = id.length ? RG_STR("the result was read") : RG_STR("confirmed by hand");
	event.said.message = id;
	return keep_event(of, event, err);
}

/* Keep the notes, such as "2026-04-24T02:50:00.000Z recovery attempt 1: ...".  A note without an
 * instant gets that of the dispatch. */
static int keep_notes(const struct telling_run *of, struct roger_err *err)
{
	static const char recovery[] = "recovery attempt ";
	const struct rg_receipts *receipts = &of->document->receipts;
	struct roger_str note, instant;
	struct rg_event event;
	const char *blank;
	bool told = false;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < of->run->notes.count && r == ROGER_OK; i++) {
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
		r = keep_event(of, event, err);
	}
	event = of_run(of, ROGER_EVENT_RECOVERY, receipts->last_recovery_ms);
	return r < 0 || told || !event.said.at_ms ? r : keep_event(of, event, err);
}

/* Keep a failure: that the child was lost or failed, and that somebody has dealt with it. */
static int keep_failure(const struct telling_run *of, struct roger_err *err)
{
	const struct roger_run *run = of->run;
	struct rg_event event = of_run(of, ROGER_EVENT_LOST, of->document->receipts.completed_ms);
	int r = ROGER_OK;

	/* The processes are gone, which is seen now and written nowhere. */
	if (of->document->receipts.child_lost && !run->exit.length)
		event.said.at_ms = of->telling->now_ms;
	if (!event.said.at_ms)
		(void)!rg_clock_read_rfc3339(run->ended_at, &event.said.at_ms);
	/* Documents of older programs only say when the status was last written. */
	if (!event.said.at_ms && !rg_clock_read_rfc3339(run->status_updated_at, &event.said.at_ms))
		event.said.at_ms = of->telling->now_ms;
	if (run->status == ROGER_RUN_BLOCKED)
		r = keep_event(of, event, err);
	event.said.kind = ROGER_EVENT_FAILED;
	if (r == ROGER_OK && run->outcome > ROGER_RUN_SUCCEEDED && run->outcome < ROGER_RUN_UNKNOWN)
		r = keep_event(of, event, err);
	event.said.kind = ROGER_EVENT_SETTLED;
	event.said.actor = run->settled_by;
	if (r < 0 || !rg_clock_read_rfc3339(run->settled_at, &event.said.at_ms))
		return r;
	return keep_event(of, event, err);
}

int rg_tell_run(struct rg_telling *telling, const struct rg_run_document *document,
		struct roger_err *err)
{
	struct telling_run of = { telling, document, &document->run, { "", 0 } };
	char name[RG_FILE_NAME_BYTES];
	int r;

	rg_workspace_file_name(document->run.run, ".json", name);
	if (!rg_arena_print(telling->arena, &of.file, RG_RUNS_SHOWN "/%s", name))
		return rg_fail_memory(err);
	r = keep_result(&of, err);
	if (r == ROGER_OK)
		r = keep_notes(&of, err);
	if (r == ROGER_OK)
		r = keep_forward(&of, err);
	return r < 0 ? r : keep_failure(&of, err);
}

int rg_tell_runs(struct rg_telling *telling, struct roger_str name, rg_run_fits *fits,
		 struct roger_err *err)
{
	const struct rg_run_wish wish = { .readers = true, .fits = fits, .name = name };
	struct rg_run_list list;
	struct roger_run run;
	size_t i;
	/* Invalid documents are reported by `runs`, and by `doctor`. */
	int r = rg_run_list_load(telling->roger, wish, telling->arena, &list, err);

	for (i = 0; r == ROGER_OK && i < list.count; i++) {
		/* Use the former owner: its successor did not dispatch the run. */
		run = list.documents[i].run;
		if (list.documents[i].former.length)
			run.owner = list.documents[i].former;
		if (list.documents[i].brief || !fits(&run, name))
			continue;
		if (!rg_arena_append(telling->arena, &telling->runs.items, &telling->runs.count,
				     &list.documents[i], sizeof list.documents[i]))
			return rg_fail_memory(err);
	}
	return r;
}
