#include "ops/runs/run_step.h"

#include <stdio.h>

#include "ops/runs/run_process.h"

/* ------------------------------------------------------------- beginning -- */

/* Set the processes.  Those of another machine are marked: nobody can see here if they live. */
static void set_processes(const struct roger_run_step_request *request, struct rg_arena *arena,
			  struct roger_run *run)
{
	char here[RG_BOOT_ID_BYTES];

	rg_boot_id(here);
	run->boot_id = rg_arena_text(arena, "%s%.*s",
				     rg_str_is(request->boot_id, here) ? "" : RG_BOOT_ELSEWHERE,
				     RG_STR_ARGS(request->boot_id));
	run->pid_space = request->pid_space;
	run->child_pid = request->child_pid;
	run->child_start = request->child_start;
	run->runner_pid = request->runner_pid;
	run->runner_start = request->runner_start;
}

int rg_run_fail_unowned(struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EUSAGE, "forward_to",
			      "who gets the result? name an agent with --forward-to, or yourself "
			      "with --as");
}

/* Before the program runs, check that the caller may give a result in the child's name. */
static int check_result(const struct roger *roger, const struct roger_run_step_request *request,
			const struct roger_run *run, struct roger_err *err)
{
	if (request->result == ROGER_RESULT_MESSAGE || rg_run_may_speak(roger, run))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EREFUSED, "child",
			      "child: the result would come from '%.*s', whom this token is not "
			      "for; leave the child out, or give --result message",
			      RG_STR_ARGS(run->child));
}

/* Write the receipt, which names the process that waits at the gate, and its runner. */
static int begin_run(struct roger *roger, const struct roger_run_step_request *request,
		     struct roger_run_reply *reply, struct rg_run_document *document,
		     struct roger_err *err)
{
	const struct roger_dispatch_request dispatch = {
		.run = request->run,
		.agent = request->agent,
		.within_ms = request->within_ms,
		.child = request->child,
		.forward_to = request->forward_to,
		.issue = request->issue,
		.task = request->task,
	};
	struct rg_note begun = { .entry.status = ROGER_IN_PROGRESS };
	struct roger_run *run = &document->run;
	int r;

	if (!request->agent.length && !request->forward_to.length)
		return rg_run_fail_unowned(err);
	r = rg_run_make(roger, &dispatch, reply->memory, run, &reply->notes, err);
	if (r == ROGER_OK)
		r = rg_run_may_change(roger, run, err);
	if (r == ROGER_OK)
		r = check_result(roger, request, run, err);
	if (r < 0)
		return r;
	run->heartbeat_at = run->dispatched_at;
	set_processes(request, reply->memory, run);
	r = rg_run_receipts(run, &document->receipts, err);
	if (r == ROGER_OK)
		r = rg_run_put_new(roger, run, reply->memory, err);
	if (r == ROGER_OK)
		rg_run_note_ran(roger, request, run, &begun);
	return r;
}

/* ----------------------------------------------------------- taking over -- */

static int refuse_run(const struct roger_run *run, const char *why, struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EREFUSED, "run",
			      "run '%.*s' %s; see `roger runs %.*s`, or give another id",
			      RG_STR_ARGS(run->run), why, RG_STR_ARGS(run->run));
}

int rg_run_check_free(const struct roger_run *run, enum rg_run_hands hands, struct roger_err *err)
{
	char why[100];

	if (run->completed_at.length)
		return refuse_run(run, "is completed", err);
	if (run->exit.length && !rg_str_is(run->exit, "lost"))
		return refuse_run(run, "has ended", err);
	switch (hands) {
	case RG_HANDS_ORPHAN:
	case RG_HANDS_LOST:
		return ROGER_OK;
	case RG_HANDS_HELD:
		snprintf(why, sizeof why, "is watched by process %lld", (long long)run->runner_pid);
		return refuse_run(run, why, err);
	case RG_HANDS_UNKNOWN:
		return refuse_run(run,
				  "has processes that cannot be seen from here (another "
				  "container, or another machine?)",
				  err);
	case RG_HANDS_NONE:
		break;
	}
	return refuse_run(run, "was dispatched to somebody else", err);
}

static int change_beat(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	(void)context;
	(void)err;
	rg_run_beat(edit);
	return ROGER_OK;
}

/* Set a new runner, if the former one is still the one that was seen to be gone. */
static int change_runner(void *context, struct rg_run_edit *edit, struct roger_err *err)
{
	const struct roger_run_step_request *request = context;
	struct roger_run *run = edit->run;
	const bool same = run->runner_pid == request->former_pid &&
			  run->runner_start == request->former_start &&
			  rg_str_equal(run->boot_id, request->boot_id);
	int r;

	r = rg_run_check_free(run, same ? RG_HANDS_LOST : RG_HANDS_HELD, err);
	if (r < 0)
		return r;
	run->runner_pid = request->runner_pid;
	run->runner_start = request->runner_start;
	/* From now on the child counts as watched, not as lost. */
	if (!run->exit.length)
		edit->receipts->child_ended = edit->receipts->child_lost = false;
	rg_run_beat(edit);
	if (request->orphan)
		rg_run_note(edit, "taken over: who watched it is gone, its child lives");
	else
		rg_run_note_once(edit, RG_STR("taken over: who watched it is gone, and so is its "
					      "child"));
	return ROGER_OK;
}

/* ------------------------------------------------------------------ verb -- */

static int take_step(struct roger *roger, const struct roger_run_step_request *request,
		     struct roger_run_reply *reply, struct rg_run_document *document,
		     struct roger_err *err)
{
	bool changed;

	switch ((enum rg_run_step)request->step) {
	case RG_RUN_BEGINS:
		return begin_run(roger, request, reply, document, err);
	case RG_RUN_ADOPTED:
		return rg_run_update(roger, request->run, change_runner, (void *)(uintptr_t)request,
				     reply->memory, document, &changed, err);
	case RG_RUN_LIVES:
		return rg_run_update_soon(roger, request->run, change_beat, NULL, reply->memory,
					  err);
	case RG_RUN_ENDED:
		break;
	}
	if (!request->ending)
		return rg_fail_member(err, ROGER_EUSAGE, "ending", "ending: how did it end?");
	return rg_run_settle(roger, request, reply, document, err);
}

int rg_verb_run_step(struct roger *roger, const struct roger_run_step_request *request,
		     struct roger_run_reply *reply, struct roger_err *err)
{
	struct roger_runs_reply shown = { .memory = reply->memory };
	struct rg_run_document document;
	int r;

	r = take_step(roger, request, reply, &document, err);
	reply->heartbeat_ms = roger->workspace->config->heartbeat_ms;
	reply->chars_max = roger->workspace->config->content_chars_max;
	if (r < 0 || request->step == RG_RUN_LIVES)
		return r;
	r = rg_run_reply(&shown, &document, err);
	reply->runs = shown.runs;
	return r;
}
