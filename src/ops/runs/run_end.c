/* The end of a `roger run`: what its owner is told, and what is written down. */
#include "ops/runs/run_watch.h"

#include <stdio.h>
#include <unistd.h>

#include "ops/note.h"
#include "ops/records.h"
#include "host/file.h"
#include "facts/message.h"

enum {
	TRIES = 6,	     /* where somebody else is at work at that moment */
	PAUSE_MS = 40,	     /* before the second, then doubled */
	HEADING_CHARS = 300, /* for what is said above the words */
	SLACK_MS = 10,	     /* a file's time may be so far behind the clock */
};

/* What is told of it, and what came of telling. */
struct telling {
	struct rg_run_watch *watch;
	enum rg_verdict_of_end verdict;
	struct rg_buf words, errors;
	bool cut;
	int64_t bytes; /* of all there was */
	struct roger_str message_id;
	struct roger_str
		undelivered; /* why it could not be sent; "": it was, or nothing was to be */
	struct roger_str child_exit, ended;
};

/* ----------------------------------------------------------------- words -- */

static size_t chars_for(const struct rg_run_watch *watch, size_t most)
{
	int64_t room = watch->roger->workspace->config->content_chars_max;

	room = room > 2 * HEADING_CHARS ? room - HEADING_CHARS : room;
	return (size_t)room < most ? (size_t)room : most;
}

/* One that was there before is none of its doing. */
static int read_file(struct telling *telling, struct roger_err *err)
{
	struct rg_run_watch *watch = telling->watch;
	struct roger_str path;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	size_t chars = chars_for(watch, SIZE_MAX);
	struct rg_file_facts facts;
	struct roger_err inner;
	const char *trouble = NULL;
	bool found = false;
	char note[520];
	int r;

	if (!rg_arena_copy(watch->arena, watch->request->result_file, &path))
		return rg_fail_memory(err);
	r = rg_file_read_first(path.data, chars * 4 + 4096, &text, &facts, &found, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		trouble = inner.message;
	else if (!found)
		trouble = "it is not there";
	else if (facts.changed_ms < watch->document.receipts.dispatched_ms - SLACK_MS)
		trouble = "it is older than the run";
	if (trouble) {
		snprintf(note, sizeof note, "no result file: %.400s", trouble);
		return rg_run_tell(watch, note, err);
	}
	rg_text_words(rg_buf_str(&text), chars, &telling->words, &telling->cut);
	telling->bytes = facts.size;
	return ROGER_OK;
}

static int find_words(struct telling *telling, struct roger_err *err)
{
	struct rg_run_watch *watch = telling->watch;

	if (watch->request->result_file.length)
		return read_file(telling, err);
	if (!watch->captures)
		return ROGER_OK;
	rg_last_output_words(&watch->output, RG_TAIL_LINES_MAX, chars_for(watch, RG_TAIL_CHARS_MAX),
			     &telling->words, &telling->cut);
	telling->bytes = (int64_t)watch->output.bytes;
	return telling->words.failed ? rg_fail_memory(err) : ROGER_OK;
}

/* What is told beside what it left: half of the room, so that both are heard. */
static int find_last_words(struct telling *telling, struct rg_last_words *ret_words,
			   struct roger_err *err)
{
	struct rg_run_watch *watch = telling->watch;
	size_t chars = chars_for(watch, RG_TAIL_CHARS_MAX * 2) / 2;
	bool cut;

	if (telling->verdict == RG_END_FAILED && !telling->words.length)
		rg_last_output_words(&watch->output, RG_TAIL_LINES_MAX, chars, &telling->words,
				     &telling->cut);
	rg_last_output_words(&watch->errors, RG_TAIL_LINES_MAX, chars, &telling->errors, &cut);
	*ret_words = (struct rg_last_words){ .output = rg_buf_str(&telling->words),
					     .errors = rg_buf_str(&telling->errors),
					     .cut = telling->cut,
					     .bytes = telling->bytes,
					     .command = watch->command,
					     .duration_ms = watch->duration_ms };
	return telling->words.failed || telling->errors.failed ? rg_fail_memory(err) : ROGER_OK;
}

/* A completion that is there already, or a message that it sent. */
static int find_message(struct telling *telling, struct roger_err *err)
{
	struct rg_run_watch *watch = telling->watch;
	const struct roger_message *message;
	int r;

	r = rg_run_load(watch->roger, watch->run_id, watch->arena, &watch->document, err);
	if (r < 0)
		return r;
	if (watch->document.receipts.completed_ms) {
		watch->ended.message = true;
		telling->message_id = watch->document.run.result_message;
		return ROGER_OK;
	}
	watch->ended.failed =
		watch->document.run.exit.length && !rg_str_is(watch->document.run.exit, "lost");
	r = rg_run_find_result(watch->roger, &watch->document, watch->arena, &message, err);
	if (r < 0 || !message)
		return r;
	watch->ended.message = true;
	telling->message_id = message->id;
	return ROGER_OK;
}

static int judge(struct telling *telling, struct roger_err *err)
{
	struct rg_buf child_exit = { .maximum = SIZE_MAX }, ended = child_exit;
	struct rg_run_watch *watch = telling->watch;
	int r;

	r = find_message(telling, err);
	if (r == ROGER_OK && !watch->ended.message)
		r = find_words(telling, err);
	if (r < 0)
		return r;
	watch->ended.words = telling->words.length > 0;
	telling->verdict = rg_ended_judge(&watch->ended);
	rg_ended_child_exit(&watch->ended, &child_exit);
	if (!rg_arena_keep(watch->arena, &child_exit, &telling->child_exit))
		return rg_fail_memory(err);
	rg_ended_describe(&watch->ended, &ended);
	return rg_arena_keep(watch->arena, &ended, &telling->ended) ? ROGER_OK
								    : rg_fail_memory(err);
}

/* --------------------------------------------------------------- telling -- */

/* A rule that forbids the message, such as a mailbox that is full, does not undo the end. */
static int send(struct telling *telling, struct roger_str content, struct roger_err *err)
{
	struct rg_run_watch *watch = telling->watch;
	const struct roger_run *run = &watch->document.run;
	struct roger_err inner = { 0 };
	int r;

	/* An own text that is no message is no reason to leave its end unwritten. */
	if (telling->verdict == RG_END_FAILED)
		return rg_run_notify(watch->roger, run, run->owner, "run-end", 1, content,
				     watch->arena, &telling->message_id, &telling->undelivered,
				     err);
	r = rg_run_deliver(watch->roger, run, content, RG_STR(""), watch->arena,
			   &telling->message_id, &telling->undelivered, &inner);
	if (r == ROGER_EREFUSED || r == ROGER_EDATA)
		return rg_arena_copy(watch->arena, rg_str(inner.message), &telling->undelivered)
			       ? ROGER_OK
			       : rg_fail_memory(err);
	if (r < 0 && err)
		*err = inner;
	return r;
}

static int deliver(struct telling *telling, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf message = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf fitting = { .maximum = SIZE_MAX };
	struct rg_run_watch *watch = telling->watch;
	struct rg_last_words words;
	char note[700];
	bool cut;
	int r;

	if (telling->verdict == RG_END_MESSAGE || !watch->document.run.owner.length)
		return ROGER_OK;
	r = find_last_words(telling, &words, err);
	if (r < 0)
		return r;
	rg_ended_message(&watch->ended, telling->verdict, watch->run_id, &words, &message);
	rg_text_words(rg_buf_str(&message),
		      (size_t)watch->roger->workspace->config->content_chars_max, &fitting, &cut);
	if (message.failed || fitting.failed)
		return rg_fail_memory(err);
	r = send(telling, rg_buf_str(&fitting), err);
	if (r < 0 || !telling->undelivered.length)
		return r;
	watch->reply->untold = true;
	snprintf(note, sizeof note, "could not be reported to its owner: %.400s%s%.*s%s",
		 telling->undelivered.data,
		 telling->verdict == RG_END_FAILED ? "" : "; later: `roger complete ",
		 telling->verdict == RG_END_FAILED ? 0 : (int)watch->run_id.length,
		 watch->run_id.data,
		 telling->verdict == RG_END_FAILED ? ""
		 : telling->message_id.length	   ? "`"
						   : " --result TEXT`");
	return rg_run_tell(watch, note, err);
}

/* ------------------------------------------------------------- documents -- */

static int add_note(const struct telling *telling, struct rg_run_document *document, int64_t now_ms,
		    struct rg_arena *arena, struct roger_err *err)
{
	const struct roger_str nothing = { "", 0 };

	return rg_run_note_end(&document->run, telling->ended,
			       telling->verdict == RG_END_FAILED ? telling->message_id : nothing,
			       telling->undelivered, now_ms, arena, err);
}

/* What it printed last, once; that it cannot be kept is no reason to leave its end unwritten. */
static int keep_output(struct rg_run_watch *watch, int64_t now_ms, struct roger_err *err)
{
	struct roger_str not_kept[2];
	struct rg_run_output line = { .id = watch->run_id,
				      .at_ms = now_ms,
				      .command = watch->command,
				      .duration_ms = watch->duration_ms,
				      .not_kept = { not_kept, 0 } };
	struct roger_err inner;
	char note[520];
	int r;

	if (watch->kept || !watch->command.length)
		return ROGER_OK;
	watch->kept = true;
	if (!rg_child_captures(watch->child, STDOUT_FILENO))
		not_kept[line.not_kept.count++] = RG_STR("stdout");
	if (!rg_child_captures(watch->child, STDERR_FILENO))
		not_kept[line.not_kept.count++] = RG_STR("stderr");
	if (!rg_last_output_lines(&watch->output, watch->arena, &line.stdout_lines) ||
	    !rg_last_output_lines(&watch->errors, watch->arena, &line.stderr_lines))
		return rg_fail_memory(err);
	r = rg_records_write(watch->roger, RG_LOG_OUTPUTS, RG_STR(""), &line, 1, &inner);
	if (r == ROGER_OK)
		return r;
	snprintf(note, sizeof note, "its last lines could not be kept: %.400s", inner.message);
	return rg_run_tell(watch, note, err);
}

static int change_end(void *context, struct rg_run_document *document, int64_t now_ms,
		      struct rg_arena *arena, bool *ret_changed, struct roger_err *err)
{
	const struct telling *telling = context;
	struct roger_run *run = &document->run;
	bool changed = false;
	int r = ROGER_OK;

	*ret_changed = true;
	r = keep_output(telling->watch, now_ms, err);
	if (r < 0)
		return r;
	run->limit_reached |= telling->watch->ended.limit_ms > 0;
	/* It may have completed itself, or have been completed, at any time. */
	if (document->receipts.completed_ms) {
		if (!run->exit.length || rg_str_is(run->exit, "lost"))
			run->exit = telling->child_exit;
	} else if (telling->verdict == RG_END_FAILED) {
		/* What was said of it before its end stands. */
		if (run->exit.length && !rg_str_is(run->exit, "lost"))
			return add_note(telling, document, now_ms, arena, err);
		run->exit = (struct roger_str){ "", 0 };
		r = rg_run_end_child(run, &document->receipts, telling->child_exit, &changed, err);
		run->failure_message = telling->message_id;
		document->receipts.child_lost = telling->watch->ended.ending == RG_ENDED_UNSEEN;
	} else {
		r = rg_run_complete(run, &document->receipts,
				    telling->watch->late && telling->verdict == RG_END_MESSAGE
					    ? RG_STR("history_fetch")
					    : RG_STR("completion_event"),
				    now_ms, arena, &changed, err);
		run->result_message = telling->message_id;
		run->exit = telling->child_exit;
	}
	return r < 0 ? r : add_note(telling, document, now_ms, arena, err);
}

static int write_down(struct telling *telling, struct roger_err *err)
{
	struct rg_run_watch *watch = telling->watch;
	bool changed;

	return rg_run_update(watch->roger, watch->run_id, change_end, telling, watch->arena,
			     &watch->document, &changed, err);
}

/* -------------------------------------------------------- the activity log -- */

/* Where a program is, and what it is called with, may say anything; its name alone does not. */
static struct roger_str program_name(const struct roger_run_request *request)
{
	struct roger_str name = { "", 0 };
	const char *slash;

	if (request->command.count)
		name = request->command.items[0];
	slash = name.length ? memrchr(name.data, '/', name.length) : NULL;
	if (slash)
		name = (struct roger_str){ slash + 1,
					   name.length - (size_t)(slash + 1 - name.data) };
	return rg_name_valid(name) ? name : RG_STR("");
}

/* What is the same of its begin and its end; failing is told by roger_notice(). */
static void note(struct rg_run_watch *watch, struct rg_note *note)
{
	const struct roger_run *run = &watch->document.run;

	if (!watch->roger->workspace->config->note_own)
		return;
	note->kind = RG_NOTE_RAN;
	note->entry.task = run->issue.length ? run->issue : watch->run_id;
	note->agent = watch->request->agent;
	note->run = watch->run_id;
	note->program = program_name(watch->request);
	rg_note_try(watch->roger, note, "done, but not");
}

void rg_run_note_begin(struct rg_run_watch *watch)
{
	struct rg_note begun = { .entry.status = ROGER_IN_PROGRESS };

	note(watch, &begun);
}

static void note_end(const struct telling *telling)
{
	struct rg_run_watch *watch = telling->watch;
	int status = rg_ended_exit_status(&watch->ended);
	struct rg_note ended = {
		.entry = { .status = status == 0 && telling->verdict != RG_END_FAILED
					     ? ROGER_SUCCESS
					     : ROGER_FAILURE,
			   .message = telling->ended,
			   .evidence = telling->message_id },
		.more = { { "exit", status },
			  { "duration_ms", (rg_clock_monotonic_ns() - watch->began_ns) / 1000000 },
			  { "output_bytes", (int64_t)watch->output.bytes } },
	};

	note(watch, &ended);
}

/* ------------------------------------------------------------------- all -- */

/* A step that another was in the way of is made again; a killed one is made again by the next. */
static int insist(int (*step)(struct telling *telling, struct roger_err *err),
		  struct telling *telling, struct roger_err *err)
{
	int64_t pause_ms = PAUSE_MS;
	int r, i;

	for (i = 1; (r = step(telling, err)) == ROGER_ETIMEOUT && i < TRIES; i++, pause_ms *= 2)
		rg_clock_sleep(pause_ms);
	return r;
}

int rg_run_settle(struct rg_run_watch *watch, struct roger_err *err)
{
	struct telling telling = { .watch = watch };
	int r;

	rg_buf_init(&telling.words, SIZE_MAX);
	rg_buf_init(&telling.errors, SIZE_MAX);
	r = insist(judge, &telling, err);
	if (r == ROGER_OK)
		r = insist(deliver, &telling, err);
	if (r == ROGER_OK)
		r = insist(write_down, &telling, err);
	if (r == ROGER_OK) {
		note_end(&telling);
		watch->reply->ended = telling.ended;
		watch->reply->message = telling.message_id;
	}
	rg_buf_deinit(&telling.words);
	rg_buf_deinit(&telling.errors);
	return r;
}
