/*
 * run: a program as a run, from its dispatch to its end.
 *
 * The process is made first and waits at a gate; the document, which names it,
 * is on disk before it becomes the program.  So there is never a program that
 * nobody dispatched, nor two for one run: who finds a document does not start
 * another, but looks what became of the first.
 */
#include "ops/runs/run_watch.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "ops/runs/run_process.h"

static const char tell_who[] = "no program: give it after --, as in `roger run -- make check`";

int rg_run_tell(struct rg_run_watch *watch, const char *note, struct roger_err *err)
{
	struct roger_strs *notes = &watch->reply->notes;
	struct roger_str *place;

	place = rg_arena_push(watch->arena, &notes->items, &notes->count, sizeof *place);
	return place && rg_arena_copy(watch->arena, rg_str(note), place) ? ROGER_OK
									 : rg_fail_memory(err);
}

/* -------------------------------------------------------------- watching -- */

static void see(void *context, int stream, const void *data, size_t length)
{
	struct rg_run_watch *watch = context;

	rg_last_output_add(stream == STDOUT_FILENO ? &watch->output : &watch->errors, data, length);
}

static int change_beat(void *context, struct rg_run_document *document, int64_t now_ms,
		       struct rg_arena *arena, bool *ret_changed, struct roger_err *err)
{
	(void)context;
	*ret_changed = true;
	return rg_run_beat(&document->run, &document->receipts, now_ms, arena, err);
}

/* That it is watched over; when that cannot be written now, the next one may. */
static void beat(struct rg_run_watch *watch)
{
	struct rg_arena *arena = rg_arena_new();
	int r;

	if (!arena)
		return;
	r = rg_run_update_soon(watch->roger, watch->run_id, change_beat, NULL, arena, NULL);
	(void)r;
	rg_arena_free(arena);
}

/* What is to be done at which instant; INT64_MAX: never. */
struct clocks {
	int64_t beat_every_ns;
	int64_t beat_ns, limit_ns, kill_ns;
};

static int64_t earliest(const struct clocks *clocks)
{
	int64_t at = clocks->beat_ns;

	if (clocks->limit_ns < at)
		at = clocks->limit_ns;
	return clocks->kill_ns < at ? clocks->kill_ns : at;
}

static int64_t later_ns(int64_t from_ns, int64_t span_ms)
{
	return span_ms > (INT64_MAX - from_ns) / 1000000 ? INT64_MAX : from_ns + span_ms * 1000000;
}

/* Of its limit, which counts from the dispatch. */
static int64_t left_ms(const struct rg_run_watch *watch)
{
	int64_t past_ms = rg_clock_ms() - watch->document.receipts.dispatched_ms,
		left = watch->request->timeout_ms - (past_ms > 0 ? past_ms : 0);

	return left > 0 ? left : 0;
}

static struct clocks set_clocks(const struct rg_run_watch *watch)
{
	int64_t now_ns = rg_clock_monotonic_ns(),
		every_ms = watch->roger->workspace->config->heartbeat_ms;

	return (struct clocks){
		.beat_every_ns = every_ms * 1000000,
		.beat_ns = every_ms ? later_ns(now_ns, every_ms) : INT64_MAX,
		.limit_ns =
			watch->request->timeout_ms ? later_ns(now_ns, left_ms(watch)) : INT64_MAX,
		.kill_ns = INT64_MAX,
	};
}

/* It is told to end, and goes on if it was stopped, so that it hears it. */
static void tell_to_end(struct rg_run_watch *watch, struct clocks *clocks, int64_t now_ns)
{
	const struct roger_run_request *request = watch->request;

	rg_child_signal(watch->child, SIGTERM);
	rg_child_signal(watch->child, SIGCONT);
	watch->ended.limit_ms = request->timeout_ms;
	watch->reply->limit_reached = true;
	clocks->limit_ns = INT64_MAX;
	clocks->kill_ns = later_ns(now_ns, request->grace_ms ? request->grace_ms : RG_GRACE_MS);
}

static void do_what_is_due(struct rg_run_watch *watch, struct clocks *clocks)
{
	int64_t now_ns = rg_clock_monotonic_ns();

	if (now_ns >= clocks->limit_ns)
		tell_to_end(watch, clocks, now_ns);
	if (now_ns >= clocks->kill_ns) {
		rg_child_signal(watch->child, SIGKILL);
		clocks->kill_ns = INT64_MAX;
	}
	if (now_ns >= clocks->beat_ns) {
		beat(watch);
		clocks->beat_ns = rg_clock_monotonic_ns() + clocks->beat_every_ns;
	}
}

static void watch_to_its_end(struct rg_run_watch *watch)
{
	static const enum rg_ending endings[] = { [RG_CHILD_EXITED] = RG_ENDED_BY_ITSELF,
						  [RG_CHILD_SIGNALLED] = RG_ENDED_BY_SIGNAL,
						  [RG_CHILD_UNSEEN] = RG_ENDED_UNSEEN };
	struct clocks clocks = set_clocks(watch);

	while (!rg_child_watch(watch->child, earliest(&clocks), see, watch))
		do_what_is_due(watch, &clocks);
	watch->ended.ending = endings[rg_child_finish(watch->child, watch->ended.limit_ms > 0, see,
						      watch, &watch->ended.status)];
	watch->duration_ms = (rg_clock_monotonic_ns() - watch->began_ns) / 1000000;
}

/* ------------------------------------------------------------- beginning -- */

static int make_run_id(struct rg_run_watch *watch, struct roger_err *err)
{
	char id[RG_MESSAGE_ID_BYTES_MAX];
	size_t length;
	int r;

	watch->run_id = watch->request->run;
	if (watch->run_id.length)
		return ROGER_OK;
	r = rg_id_new(&watch->roger->ids, rg_clock_ms(), id, &length, err);
	if (r < 0)
		return r;
	/* As the id of a message, but for its first word. */
	memcpy(id, "run", 3);
	return rg_arena_copy(watch->arena, (struct roger_str){ id, length }, &watch->run_id)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

static int start_child(struct rg_run_watch *watch, struct roger_err *err)
{
	const struct roger_run_request *request = watch->request;
	struct roger_str agent = request->child.length ? request->child : watch->run_id, more[4];
	const struct rg_child_wish wish = {
		.words = request->command,
		.more = { more, request->issue.length ? 4 : 3 },
		.streams = request->streams,
		.output = watch->captures ? RG_CAPTURE_ALL : RG_CAPTURE_PIPED,
		.errors = RG_CAPTURE_PIPED,
	};
	RG_CLEANUP(rg_buf_deinit) struct rg_buf command = { .maximum = SIZE_MAX };

	rg_command_print(request->command, &command);
	if (!rg_arena_keep(watch->arena, &command, &watch->command) ||
	    !rg_arena_print(watch->arena, &more[0], "ROGER_RUN_ID=%.*s",
			    RG_STR_ARGS(watch->run_id)) ||
	    !rg_arena_print(watch->arena, &more[1], "ROGER_WORKSPACE=%s",
			    watch->roger->workspace->root) ||
	    !rg_arena_print(watch->arena, &more[2], "ROGER_AGENT=%.*s", RG_STR_ARGS(agent)) ||
	    !rg_arena_print(watch->arena, &more[3], "ROGER_ISSUE=%.*s",
			    RG_STR_ARGS(request->issue)))
		return rg_fail_memory(err);
	return rg_child_start(&wish, &watch->child, err);
}

/* The receipt, which names the process that waits, and us. */
static int dispatch(struct rg_run_watch *watch, struct roger_err *err)
{
	struct roger_run *run = &watch->document.run;
	struct rg_process self;
	int r;

	rg_process_self(&self);
	run->heartbeat_at = run->dispatched_at;
	rg_run_set_runner(run, &self);
	r = rg_run_set_child(run, rg_child_process(watch->child), watch->arena, err);
	if (r == ROGER_OK)
		r = rg_run_receipts(run, &watch->document.receipts, err);
	return r < 0 ? r : rg_run_put_new(watch->roger, run, watch->arena, err);
}

static int let_it_go(struct rg_run_watch *watch, struct roger_err *err)
{
	int error = rg_child_go(watch->child), status;
	char note[200];

	if (!error) {
		watch_to_its_end(watch);
		return ROGER_OK;
	}
	rg_child_finish(watch->child, false, see, watch, &status);
	watch->ended.ending = RG_ENDED_UNBEGUN;
	watch->ended.status = status;
	snprintf(note, sizeof note, "'%.100s': %s", watch->request->command.items[0].data,
		 strerror(error));
	return rg_run_tell(watch, note, err);
}

static int begin(struct rg_run_watch *watch, struct roger_err *err)
{
	const struct roger_run_request *request = watch->request;
	const struct roger_dispatch_request dispatch_request = {
		.run = watch->run_id,
		.agent = request->agent,
		.within_ms = request->within_ms,
		.child = request->child,
		.forward_to = request->forward_to,
		.issue = request->issue,
		.task = request->task,
	};
	int r;

	if (!request->command.count)
		return rg_fail_member(err, ROGER_EUSAGE, "command", "%s", tell_who);
	r = rg_run_make(watch->roger, &dispatch_request, watch->arena, &watch->document.run,
			&watch->reply->notes, err);
	if (r == ROGER_OK)
		r = start_child(watch, err);
	if (r == ROGER_OK)
		r = dispatch(watch, err);
	if (r < 0)
		return r;
	rg_run_note_begin(watch);
	return let_it_go(watch, err);
}

/* ----------------------------------------------------------- taking over -- */

static int refuse(const struct rg_run_watch *watch, const char *why, struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EREFUSED, "run",
			      "run '%.*s' %s; see `roger runs %.*s`, or give another id",
			      RG_STR_ARGS(watch->run_id), why, RG_STR_ARGS(watch->run_id));
}

/* What may be done with a run that is there, by whose hands it is in. */
static int check_free(const struct rg_run_watch *watch, const struct rg_run_document *document,
		      enum rg_run_hands hands, struct roger_err *err)
{
	const struct roger_run *run = &document->run;
	char why[100];

	if (document->receipts.completed_ms)
		return refuse(watch, "is completed", err);
	if (run->exit.length && !rg_str_is(run->exit, "lost"))
		return refuse(watch, "has ended", err);
	switch (hands) {
	case RG_HANDS_ORPHAN:
	case RG_HANDS_LOST:
		return ROGER_OK;
	case RG_HANDS_HELD:
		snprintf(why, sizeof why, "is watched by process %lld", (long long)run->runner_pid);
		return refuse(watch, why, err);
	case RG_HANDS_UNKNOWN:
		return refuse(watch,
			      "has processes that cannot be seen from here (another container?)",
			      err);
	case RG_HANDS_NONE:
		break;
	}
	return refuse(watch, "was dispatched to somebody else", err);
}

static int change_runner(void *context, struct rg_run_document *document, int64_t now_ms,
			 struct rg_arena *arena, bool *ret_changed, struct roger_err *err)
{
	const struct rg_run_watch *watch = context;
	enum rg_run_hands hands = rg_run_hands(&document->run);
	struct rg_process self;
	int r;

	r = check_free(watch, document, hands, err);
	if (r < 0)
		return r;
	rg_process_self(&self);
	rg_run_set_runner(&document->run, &self);
	/* Judged by what holds from now on. */
	if (!document->run.exit.length)
		document->receipts.child_ended = document->receipts.child_lost = false;
	*ret_changed = true;
	r = rg_run_beat(&document->run, &document->receipts, now_ms, arena, err);
	if (r < 0)
		return r;
	return rg_run_note(
		&document->run, now_ms,
		hands == RG_HANDS_ORPHAN
			? RG_STR("taken over: who watched it is gone, its child lives")
			: RG_STR("taken over: who watched it is gone, and so is its child"),
		arena, err);
}

/* From the one that is gone; of several that try, one gets it. */
static int take_over(struct rg_run_watch *watch, struct roger_err *err)
{
	struct rg_process child;
	bool changed;
	int r;

	r = rg_run_update(watch->roger, watch->run_id, change_runner, watch, watch->arena,
			  &watch->document, &changed, err);
	if (r < 0)
		return r;
	watch->reply->adopted = true;
	rg_run_child_process(&watch->document.run, &child);
	watch->ended.ending = RG_ENDED_UNSEEN;
	watch->late = rg_process_fate(&child) != RG_PROCESS_LIVES;
	if (watch->late)
		return rg_run_tell(watch, "its child is gone; this is what is known of its end",
				   err);
	r = rg_child_adopt(&child, watch->request->streams, &watch->child, err);
	if (r < 0)
		return r;
	watch_to_its_end(watch);
	return ROGER_OK;
}

/* ------------------------------------------------------------------ verb -- */

static int check_request(const struct roger_run_request *request, struct roger_err *err)
{
	if (!request->agent.length && !request->forward_to.length)
		return rg_fail_member(err, ROGER_EUSAGE, "forward_to",
				      "who gets the result? name an agent with --forward-to, or "
				      "yourself with --as");
	if (request->result_file.length && request->result == ROGER_RESULT_MESSAGE)
		return rg_fail_member(err, ROGER_EUSAGE, "result_file",
				      "give --result-file or --result, not both");
	if (request->grace_ms && !request->timeout_ms)
		return rg_fail_member(err, ROGER_EUSAGE, "grace", "--grace needs --timeout");
	return ROGER_OK;
}

static int fill_reply(struct rg_run_watch *watch, struct roger_err *err)
{
	struct roger_runs_reply shown = { .memory = watch->arena };
	struct roger_run_reply *reply = watch->reply;
	int r;

	r = rg_run_reply(&shown, &watch->document, err);
	if (r < 0)
		return r;
	reply->runs = shown.runs;
	reply->exit = rg_ended_exit_status(&watch->ended);
	reply->output_bytes = (int64_t)watch->output.bytes;
	reply->duration_ms = (rg_clock_monotonic_ns() - watch->began_ns) / 1000000;
	return ROGER_OK;
}

/* What a reader has not taken yet, now that nothing depends on it any more. */
static int pass_on_the_rest(struct rg_run_watch *watch, struct roger_err *err)
{
	char note[120];
	int error = watch->child ? rg_child_flush(watch->child) : 0;

	if (!error)
		return ROGER_OK;
	watch->reply->output_lost = true;
	snprintf(note, sizeof note, "not all of its output could be passed on: %.60s",
		 strerror(error));
	return rg_run_tell(watch, note, err);
}

/* Nothing says how it ended but we: whoever waits for its exit status is to know. */
static void tell_unwritten(const struct rg_run_watch *watch, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf ended = { .maximum = SIZE_MAX };
	char why[sizeof err->message];

	if (!err)
		return;
	rg_ended_describe(&watch->ended, &ended);
	if (ended.failed)
		return;
	memcpy(why, err->message, sizeof why);
	snprintf(err->message, sizeof err->message,
		 "the end of run '%.*s' (%.*s) is not written down: %.200s",
		 RG_STR_ARGS(watch->run_id), RG_STR_ARGS(rg_buf_str(&ended)), why);
}

/* What it printed is its reader's, whatever becomes of our records. */
static int end_run(struct rg_run_watch *watch, struct roger_err *err)
{
	int r, passed;

	r = rg_run_settle(watch, err);
	if (r < 0)
		tell_unwritten(watch, err);
	else
		r = fill_reply(watch, err);
	passed = pass_on_the_rest(watch, r == ROGER_OK ? err : NULL);
	return r < 0 ? r : passed;
}

static int watch_run(struct rg_run_watch *watch, struct roger_err *err)
{
	struct roger_str there;
	int r;

	r = make_run_id(watch, err);
	if (r == ROGER_OK)
		r = rg_engine_run_find(watch->roger->engine, watch->run_id, watch->arena, &there,
				       err);
	if (r < 0)
		return r;
	r = there.data ? take_over(watch, err) : begin(watch, err);
	return r == ROGER_OK ? end_run(watch, err) : r;
}

int rg_verb_run(struct roger *roger, const struct roger_run_request *request,
		struct roger_run_reply *reply, struct roger_err *err)
{
	struct rg_run_watch watch = {
		.roger = roger,
		.request = request,
		.reply = reply,
		.arena = reply->memory,
		.began_ns = rg_clock_monotonic_ns(),
		.captures = request->result != ROGER_RESULT_MESSAGE && !request->result_file.length,
	};
	int r;

	r = check_request(request, err);
	if (r < 0)
		return r;
	/* Room for the characters that are kept, whatever they are made of. */
	watch.output.capacity = watch.errors.capacity = RG_TAIL_CHARS_MAX * 4 + 4096;
	watch.output.data = rg_arena_get(watch.arena, watch.output.capacity);
	watch.errors.data = rg_arena_get(watch.arena, watch.errors.capacity);
	watch.ended.promised = !watch.captures;
	r = watch.output.data && watch.errors.data ? watch_run(&watch, err) : rg_fail_memory(err);
	rg_child_free(watch.child);
	return r;
}
