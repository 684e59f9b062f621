/* The end of a `roger run`: what its owner gets to know, and what is written down. */
#include "ops/runs/run_step.h"

#include "ops/note.h"
#include "ops/records.h"

enum {
	TRIES = 6,     /* while another process is at work */
	PAUSE_MS = 40, /* before the second try, then doubled */
};

/* What the owner gets to know of the end, and what came of that. */
struct telling {
	struct roger *roger;
	const struct roger_run_step_request *request;
	struct roger_run_reply *reply;
	struct rg_arena *arena;
	struct rg_run_document document; /* as last read */
	struct rg_ended ended_so;
	bool kept; /* the last lines are in the log, or cannot be */
	enum rg_verdict_of_end verdict;
	struct roger_str message_id;
	struct roger_str
		undelivered; /* why the message was not sent; "": it was, or none was needed */
	struct roger_str child_exit, ended;
};

/* ------------------------------------------------------------- judgement -- */

/* Find a completion that is there already, or a message that the child sent. */
static int find_message(struct telling *telling, struct roger_err *err)
{
	const struct roger_message *message;
	int r;

	r = rg_run_load(telling->roger, telling->request->run, telling->arena, &telling->document,
			err);
	if (r == ROGER_OK)
		r = rg_run_may_change(telling->roger, &telling->document.run, err);
	if (r == ROGER_OK && telling->request->words.length &&
	    !rg_run_may_speak(telling->roger, &telling->document.run))
		r = rg_fail_member(err, ROGER_EREFUSED, "words",
				   "words: they would come from '%.*s', who is another one",
				   RG_STR_ARGS(telling->document.run.child));
	if (r < 0)
		return r;
	if (telling->document.receipts.completed_ms) {
		telling->ended_so.message = true;
		telling->message_id = telling->document.run.result_message;
		return ROGER_OK;
	}
	telling->ended_so.failed =
		telling->document.run.exit.length && !rg_str_is(telling->document.run.exit, "lost");
	r = rg_run_find_result(telling->roger, &telling->document, telling->arena, &message, err);
	if (r < 0 || !message)
		return r;
	telling->ended_so.message = true;
	telling->message_id = message->id;
	return ROGER_OK;
}

static int judge_end(struct telling *telling, struct roger_err *err)
{
	struct rg_buf child_exit = { .maximum = SIZE_MAX }, ended = child_exit;
	int r = find_message(telling, err);

	if (r < 0)
		return r;
	if (!telling->ended_so.message && telling->request->wordless.length)
		rg_arena_note(telling->arena, &telling->reply->notes, "%.*s",
			      RG_STR_ARGS(telling->request->wordless));
	telling->verdict = rg_ended_judge(&telling->ended_so);
	rg_ended_child_exit(&telling->ended_so, &child_exit);
	telling->child_exit = rg_arena_take(telling->arena, &child_exit);
	rg_ended_describe(&telling->ended_so, &ended);
	telling->ended = rg_arena_take(telling->arena, &ended);
	return ROGER_OK;
}

/* --------------------------------------------------------------- telling -- */

/* Send the message.  A rule that forbids it, such as a full mailbox, does not undo the end. */
static int send_result(struct telling *telling, struct roger_str content, struct roger_err *err)
{
	const struct roger_run *run = &telling->document.run;
	int r;

	/* A result that cannot be a message is no reason to leave the end unwritten. */
	if (telling->verdict == RG_END_FAILED)
		return rg_run_notify(telling->roger, run, run->owner, "run-end", 1, content,
				     telling->arena, &telling->message_id, &telling->undelivered,
				     err);
	r = rg_run_deliver(telling->roger, run, content, RG_STR(""), telling->arena,
			   &telling->message_id, &telling->undelivered, err);
	if (r != ROGER_EREFUSED && r != ROGER_EDATA)
		return r;
	telling->undelivered = rg_arena_str(telling->arena, rg_str(err->message));
	return ROGER_OK;
}

static int deliver_end(struct telling *telling, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf message = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf fitting = { .maximum = SIZE_MAX };
	const struct roger_run_step_request *request = telling->request;
	const struct rg_last_words words = { .output = telling->verdict == RG_END_FAILED &&
								       !request->words.length
							       ? request->output
							       : request->words,
					     .errors = request->errors,
					     .cut = request->cut,
					     .bytes = request->bytes,
					     .command = request->command,
					     .duration_ms = request->duration_ms };
	bool cut;
	int r;

	if (telling->verdict == RG_END_MESSAGE || !telling->document.run.owner.length)
		return ROGER_OK;
	rg_ended_message(&telling->ended_so, telling->verdict, telling->request->run, &words,
			 &message);
	rg_text_words(rg_buf_str(&message),
		      (size_t)telling->roger->workspace->config->content_chars_max, &fitting, &cut);
	if (message.failed || fitting.failed)
		return rg_fail_memory(err);
	r = send_result(telling, rg_buf_str(&fitting), err);
	if (r < 0 || !telling->undelivered.length)
		return r;
	telling->reply->untold = true;
	if (telling->verdict == RG_END_FAILED)
		rg_arena_note(telling->arena, &telling->reply->notes,
			      "could not be reported to its owner: %.400s",
			      telling->undelivered.data);
	else
		rg_arena_note(telling->arena, &telling->reply->notes,
			      "could not be reported to its owner: %.400s; later: `roger complete "
			      "%.*s%s`",
			      telling->undelivered.data, RG_STR_ARGS(request->run),
			      telling->message_id.length ? "" : " --result TEXT");
	return ROGER_OK;
}

/* ------------------------------------------------------------- documents -- */

/* Keep the last lines, once.  If they cannot be kept, the end is still written down. */
static void keep_output(struct telling *telling, int64_t now_ms)
{
	const struct rg_run_output line = { .id = telling->request->run,
					    .at_ms = now_ms,
					    .command = telling->request->command,
					    .duration_ms = telling->request->duration_ms,
					    .stdout_lines = telling->request->stdout_lines,
					    .stderr_lines = telling->request->stderr_lines,
					    .not_kept = telling->request->not_kept };
	struct roger_err inner;

	if (telling->kept || !telling->request->command.length)
		return;
	telling->kept = true;
	if (rg_records_write(telling->roger, RG_LOG_OUTPUTS, RG_STR(""), &line, 1, &inner) < 0)
		rg_arena_note(telling->arena, &telling->reply->notes,
			      "its last lines could not be kept: %.400s", inner.message);
}

static int change_end(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	struct telling *telling = context;
	const bool failed = telling->verdict == RG_END_FAILED;
	struct roger_run *run = edit->run;
	int r = ROGER_OK;

	keep_output(telling, edit->now_ms);
	edit->changed = true;
	run->limit_reached |= telling->ended_so.limit_ms > 0;
	/* The run may have been completed at any time, by its child or by others. */
	if (edit->receipts->completed_ms) {
		if (!run->exit.length || rg_str_is(run->exit, "lost"))
			run->exit = telling->child_exit;
	} else if (!failed) {
		r = rg_run_complete(edit,
				    telling->request->late && telling->verdict == RG_END_MESSAGE
					    ? RG_STR("history_fetch")
					    : RG_STR("completion_event"),
				    err);
		run->result_message = telling->message_id;
		run->exit = telling->child_exit;
	} else if (!run->exit.length || rg_str_is(run->exit, "lost")) {
		/* An exit status that was told before the end stands. */
		run->exit = (struct roger_str){ "", 0 };
		r = rg_run_end_child(edit, telling->child_exit, err);
		run->failure_message = telling->message_id;
		edit->receipts->child_lost = telling->ended_so.ending == RG_ENDED_UNSEEN;
	}
	if (r == ROGER_OK)
		rg_run_note_end(edit, telling->ended, failed ? telling->message_id : RG_STR(""),
				telling->undelivered);
	return r;
}

static int write_down(struct telling *telling, struct roger_err *err)
{
	bool changed;

	return rg_run_update(telling->roger, telling->request->run, change_end, telling,
			     telling->arena, &telling->document, &changed, err);
}

/* -------------------------------------------------------- the activity log -- */

/* Write the note of a run's begin or end; roger_notice() tells if that failed. */
void rg_run_note_ran(struct roger *roger, const struct roger_run_step_request *request,
		     const struct roger_run *run, struct rg_note *note)
{
	if (!roger->workspace->config->note_own)
		return;
	note->kind = RG_NOTE_RAN;
	note->entry.task = run->issue.length ? run->issue : request->run;
	note->agent = request->agent;
	note->run = request->run;
	/* The path and arguments of a program may hold anything; only its name is noted. */
	note->program = rg_name_valid(request->program) ? request->program : RG_STR("");
	if (roger->caller.how != RG_BY_FILES)
		rg_note_ran(roger, note);
	rg_note_try(roger, note, "done, but not");
}

static void note_end(const struct telling *telling)
{
	int status = rg_ended_exit_status(&telling->ended_so);
	struct rg_note ended = {
		.entry = { .status = status == 0 && telling->verdict != RG_END_FAILED
					     ? ROGER_SUCCESS
					     : ROGER_FAILURE,
			   .message = telling->ended,
			   .evidence = telling->message_id },
		.more = { { "exit", status },
			  { "duration_ms", telling->request->duration_ms },
			  { "output_bytes", telling->request->output_bytes } },
	};

	rg_run_note_ran(telling->roger, telling->request, &telling->document.run, &ended);
}

/* ------------------------------------------------------------------- all -- */

/* Repeat a step while another process is in the way.  After a kill the next runner repeats it. */
static int insist_on(int (*step)(struct telling *telling, struct roger_err *err),
		     struct telling *telling, struct roger_err *err)
{
	int64_t pause_ms = PAUSE_MS;
	int r, i;

	for (i = 1; (r = step(telling, err)) == ROGER_ETIMEOUT && i < TRIES; i++, pause_ms *= 2)
		rg_clock_sleep(pause_ms);
	return r;
}

int rg_run_settle(struct roger *roger, const struct roger_run_step_request *request,
		  struct roger_run_reply *reply, struct rg_run_document *ret_document,
		  struct roger_err *err)
{
	struct telling telling = {
		.roger = roger,
		.request = request,
		.reply = reply,
		.arena = reply->memory,
		.ended_so = { .ending = (enum rg_ending)request->ending,
			      .status = (int)request->status,
			      .limit_ms = request->limit_ms,
			      .words = request->words.length > 0,
			      .promised = request->promised },
	};
	int r;

	r = insist_on(judge_end, &telling, err);
	if (r == ROGER_OK)
		r = insist_on(deliver_end, &telling, err);
	if (r == ROGER_OK)
		r = insist_on(write_down, &telling, err);
	if (r < 0)
		return r;
	note_end(&telling);
	reply->exit = rg_ended_exit_status(&telling.ended_so);
	reply->ended = telling.ended;
	reply->message = telling.message_id;
	*ret_document = telling.document;
	return ROGER_OK;
}
