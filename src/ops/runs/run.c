/*
 * run: a program as a run, from its dispatch to its end.
 *
 * The process is made first and waits at a gate; the document, which names it,
 * is on disk before it becomes the program.  So there is never a program that nobody dispatched,
 * nor two for one run: a runner that finds a document starts no other program, but looks what
 * became of the first.
 */
#include "ops/runs/run_step.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "host/child.h"
#include "host/file.h"

enum {
	HEADING_CHARS = 300, /* room for the heading of a message */
	SLACK_MS = 10,	     /* how far a file's time may be behind the clock */
	END_TRIES = 60,	     /* how often a server is asked to write down the end */
	END_PAUSE_MS = 1000,
};

struct watch {
	struct roger *roger;
	const struct roger_run_request *request;
	struct roger_run_reply *reply;
	struct rg_arena *arena;
	struct roger_str run_id;
	int64_t dispatched_ms, beat_every_ms;
	int64_t chars_max;		      /* the longest message */
	struct rg_child *child;		      /* NULL: it is gone */
	struct rg_last_output output, errors; /* of streams that pass through us */
	struct roger_str command;	      /* "": another process started it */
	enum rg_ending ending;
	int status; /* exit status or signal */
	int64_t began_ns;
	bool captures; /* the result is in its output */
	bool late;     /* its end was found, not seen */
};

static const char tell_who[] = "no program: give it after --, as in `roger run -- make check`";

static int pass_on_notes(struct watch *watch, const struct roger_run_reply *told,
			 struct roger_err *err)
{
	size_t i;

	for (i = 0; i < told->notes.count; i++)
		rg_arena_note(watch->arena, &watch->reply->notes, "%.*s",
			      RG_STR_ARGS(told->notes.items[i]));
	return rg_kept(!rg_arena_failed(watch->arena), err);
}

/* Ask whoever has the run for a step: the engine here, or the server. */
static int ask_step(const struct watch *watch, struct roger_run_step_request *step,
		    struct rg_arena *arena, struct roger_run_reply *ret_told, struct roger_err *err)
{
	*ret_told = (struct roger_run_reply){ .memory = arena };
	step->run = watch->run_id;
	step->agent = watch->request->agent;
	return rg_op_ask(watch->roger, &rg_op_run_step, step, ret_told, err);
}

/* -------------------------------------------------------------- watching -- */

static void see_output(void *context, int stream, const void *data, size_t length)
{
	struct watch *watch = context;

	rg_last_output_add(stream == STDOUT_FILENO ? &watch->output : &watch->errors, data, length);
}

/* Record that the run is watched; if that cannot be written now, the next beat may be. */
static void note_alive(struct watch *watch)
{
	struct roger_run_step_request step = { .step = RG_RUN_LIVES };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_run_reply told;

	if (arena)
		(void)!ask_step(watch, &step, arena, &told, NULL);
}

/* When something is to be done next; INT64_MAX: never. */
struct clocks {
	int64_t beat_every_ns;
	int64_t beat_ns, limit_ns, kill_ns;
};

static int64_t earliest_ns(const struct clocks *clocks)
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

static struct clocks set_clocks(const struct watch *watch)
{
	int64_t now_ns = rg_clock_monotonic_ns(), every_ms = watch->beat_every_ms,
		past_ms = rg_clock_ms() - watch->dispatched_ms,
		left_ms = watch->request->timeout_ms - (past_ms > 0 ? past_ms : 0);

	/* The time limit counts from the dispatch. */
	return (struct clocks){
		.beat_every_ns = every_ms * 1000000,
		.beat_ns = every_ms ? later_ns(now_ns, every_ms) : INT64_MAX,
		.limit_ns = watch->request->timeout_ms ? later_ns(now_ns, left_ms > 0 ? left_ms : 0)
						       : INT64_MAX,
		.kill_ns = INT64_MAX,
	};
}

static void do_what_is_due(struct watch *watch, struct clocks *clocks)
{
	const struct roger_run_request *request = watch->request;
	int64_t now_ns = rg_clock_monotonic_ns();

	if (now_ns >= clocks->limit_ns) {
		/* Tell the child to end; a stopped one is continued, so that it gets the signal. */
		rg_child_signal(watch->child, SIGTERM);
		rg_child_signal(watch->child, SIGCONT);
		watch->reply->limit_reached = true;
		clocks->limit_ns = INT64_MAX;
		clocks->kill_ns =
			later_ns(now_ns, request->grace_ms ? request->grace_ms : RG_GRACE_MS);
	}
	if (now_ns >= clocks->kill_ns) {
		rg_child_signal(watch->child, SIGKILL);
		clocks->kill_ns = INT64_MAX;
	}
	if (now_ns >= clocks->beat_ns) {
		note_alive(watch);
		clocks->beat_ns = rg_clock_monotonic_ns() + clocks->beat_every_ns;
	}
}

static void watch_to_its_end(struct watch *watch)
{
	static const enum rg_ending endings[] = { [RG_CHILD_EXITED] = RG_ENDED_BY_ITSELF,
						  [RG_CHILD_SIGNALLED] = RG_ENDED_BY_SIGNAL,
						  [RG_CHILD_UNSEEN] = RG_ENDED_UNSEEN };
	struct clocks clocks = set_clocks(watch);

	while (!rg_child_watch(watch->child, earliest_ns(&clocks), see_output, watch))
		do_what_is_due(watch, &clocks);
	watch->ending = endings[rg_child_finish(watch->child, watch->reply->limit_reached,
						see_output, watch, &watch->status)];
}

/* -------------------------------------------------------------- its words -- */

static size_t chars_for(const struct watch *watch, size_t most)
{
	int64_t room = watch->chars_max;

	room = room > 2 * HEADING_CHARS ? room - HEADING_CHARS : room;
	return (size_t)room < most ? (size_t)room : most;
}

/* Read the result file.  A file older than the run is not its result. */
static int read_file(const struct watch *watch, struct roger_run_step_request *step,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	struct rg_buf words = { .maximum = SIZE_MAX };
	size_t chars = chars_for(watch, SIZE_MAX);
	struct rg_file_facts facts;
	struct roger_str path;
	struct roger_err inner;
	const char *trouble = NULL;
	bool found = false;
	int r;

	path = rg_arena_str(watch->arena, watch->request->result_file);
	r = rg_file_read_first(path.data, chars * 4 + 4096, &text, &facts, &found, &inner);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	if (r < 0)
		trouble = inner.message;
	else if (!found)
		trouble = "it is not there";
	else if (facts.changed_ms < watch->dispatched_ms - SLACK_MS)
		trouble = "it is older than the run";
	if (trouble) {
		step->wordless = rg_arena_text(watch->arena, "no result file: %.400s", trouble);
		return ROGER_OK;
	}
	rg_text_words(rg_buf_str(&text), chars, &words, &step->cut);
	step->bytes = facts.size;
	step->words = rg_arena_take(watch->arena, &words);
	return ROGER_OK;
}

static int find_words(const struct watch *watch, struct roger_run_step_request *step,
		      struct roger_err *err)
{
	struct rg_buf words = { .maximum = SIZE_MAX };

	if (watch->request->result_file.length)
		return read_file(watch, step, err);
	if (!watch->captures)
		return ROGER_OK;
	rg_last_output_words(&watch->output, RG_TAIL_LINES_MAX, chars_for(watch, RG_TAIL_CHARS_MAX),
			     &words, &step->cut);
	step->bytes = (int64_t)watch->output.bytes;
	step->words = rg_arena_take(watch->arena, &words);
	return ROGER_OK;
}

/* Find the last words of output and errors: each gets half of the room, so that both are shown. */
static void find_last_words(const struct watch *watch, struct roger_run_step_request *step)
{
	struct rg_buf output = { .maximum = SIZE_MAX }, errors = output;
	size_t chars = chars_for(watch, RG_TAIL_CHARS_MAX * 2) / 2;
	bool cut;

	if (!step->words.length)
		rg_last_output_words(&watch->output, RG_TAIL_LINES_MAX, chars, &output, &step->cut);
	rg_last_output_words(&watch->errors, RG_TAIL_LINES_MAX, chars, &errors, &cut);
	step->output = rg_arena_take(watch->arena, &output);
	step->errors = rg_arena_take(watch->arena, &errors);
}

/* Find the last lines that are kept in the log of outputs. */
static void find_lines(const struct watch *watch, struct roger_run_step_request *step)
{
	(void)!rg_last_output_lines(&watch->output, watch->arena, &step->stdout_lines);
	(void)!rg_last_output_lines(&watch->errors, watch->arena, &step->stderr_lines);
	if (!rg_child_captures(watch->child, STDOUT_FILENO))
		rg_arena_note(watch->arena, &step->not_kept, "stdout");
	if (!rg_child_captures(watch->child, STDERR_FILENO))
		rg_arena_note(watch->arena, &step->not_kept, "stderr");
}

/* ------------------------------------------------------------- beginning -- */

static int make_run_id(struct watch *watch, struct roger_err *err)
{
	int r;

	watch->run_id = watch->request->run;
	if (watch->run_id.length)
		return ROGER_OK;
	r = rg_op_new_id(watch->roger, rg_clock_ms(), watch->arena, &watch->run_id, err);
	/* Like the id of a message, but for its first word. */
	if (r == ROGER_OK)
		memcpy((char *)(uintptr_t)watch->run_id.data, "run", 3);
	return r;
}

static int start_child(struct watch *watch, struct roger_err *err)
{
	const struct roger_run_request *request = watch->request;
	const struct rg_workspace *workspace = watch->roger->workspace;
	struct roger_str agent = request->child.length ? request->child : watch->run_id;
	struct rg_child_wish wish = {
		.words = request->command,
		.streams = request->streams,
		.output = watch->captures ? RG_CAPTURE_ALL : RG_CAPTURE_PIPED,
		.errors = RG_CAPTURE_PIPED,
	};
	const struct {
		const char *name;
		struct roger_str value;
	} more[] = { { "ROGER_RUN_ID", watch->run_id },
		     { "ROGER_AGENT", agent },
		     { "ROGER_WORKSPACE", workspace ? rg_str(workspace->root) : RG_STR("") },
		     { "ROGER_ISSUE", request->issue } };
	struct rg_buf command = { .maximum = SIZE_MAX };
	size_t i;

	rg_command_print(request->command, &command);
	watch->command = rg_arena_take(watch->arena, &command);
	for (i = 0; i < sizeof more / sizeof *more; i++)
		if (more[i].value.length)
			rg_arena_note(watch->arena, &wish.more, "%s=%.*s", more[i].name,
				      RG_STR_ARGS(more[i].value));
	return rg_arena_failed(watch->arena) ? rg_fail_memory(err)
					     : rg_child_start(&wish, &watch->child, err);
}

/* Return the program's name.  Its path and arguments may hold anything, so they are not told. */
static struct roger_str program_name(const struct roger_run_request *request)
{
	const struct roger_str path =
		request->command.count ? request->command.items[0] : RG_STR("");
	const char *slash = path.length ? memrchr(path.data, '/', path.length) : NULL;
	const size_t before = slash ? (size_t)(slash + 1 - path.data) : 0;
	const struct roger_str name = { path.data + before, path.length - before };

	return rg_name_valid(name) ? name : RG_STR("");
}

/* Set the processes of a step: the child, and this runner.  The boot id points into child. */
static void name_processes(const struct rg_process *child, struct rg_process *kept,
			   struct roger_run_step_request *step)
{
	rg_process_find(getpid(), kept);
	step->runner_pid = kept->id;
	step->runner_start = kept->start;
	step->child_pid = child->id;
	step->child_start = child->start;
	step->pid_space = child->space;
	step->boot_id = rg_str(child->boot_id);
}

static int dispatch_run(struct watch *watch, struct roger_err *err)
{
	const struct roger_run_request *request = watch->request;
	struct roger_run_step_request step = {
		.step = RG_RUN_BEGINS,
		.within_ms = request->within_ms,
		.forward_to = request->forward_to,
		.issue = request->issue,
		.task = request->task,
		.child = request->child,
		.result = watch->captures || request->result_file.length ? ROGER_RESULT_OUTPUT
									 : ROGER_RESULT_MESSAGE,
		.program = program_name(request),
	};
	struct roger_run_reply told;
	struct rg_process self;
	int r;

	name_processes(rg_child_process(watch->child), &self, &step);
	watch->dispatched_ms = rg_clock_ms();
	r = ask_step(watch, &step, watch->arena, &told, err);
	if (r < 0)
		return r;
	watch->beat_every_ms = told.heartbeat_ms;
	watch->chars_max = told.chars_max;
	return pass_on_notes(watch, &told, err);
}

static void let_it_go(struct watch *watch)
{
	int error = rg_child_go(watch->child);

	if (!error) {
		watch_to_its_end(watch);
		return;
	}
	rg_child_finish(watch->child, false, see_output, watch, &watch->status);
	watch->ending = RG_ENDED_UNBEGUN;
	rg_arena_note(watch->arena, &watch->reply->notes, "'%.100s': %s",
		      watch->request->command.items[0].data, strerror(error));
}

static int begin_run(struct watch *watch, struct roger_err *err)
{
	int r;

	if (!watch->request->command.count)
		return rg_fail_member(err, ROGER_EUSAGE, "command", "%s", tell_who);
	r = start_child(watch, err);
	if (r == ROGER_OK)
		r = dispatch_run(watch, err);
	if (r == ROGER_OK)
		let_it_go(watch);
	return r;
}

/* ----------------------------------------------------------- taking over -- */

/* Find the run of that name; *ret_run NULL: there is none yet. */
static int find_run(const struct watch *watch, const struct roger_run **ret_run,
		    struct roger_err *err)
{
	const struct roger_runs_request request = { .run = watch->run_id };
	struct roger_runs_reply there = { .memory = watch->arena };
	int r = watch->request->run.length
			? rg_op_ask(watch->roger, &rg_op_runs, &request, &there, err)
			: ROGER_ENOENT;

	/* A server also finds a run by a part of its name. */
	*ret_run = r == ROGER_OK && there.runs.count &&
				   rg_str_equal(there.runs.items[0].run, watch->run_id)
			   ? there.runs.items
			   : NULL;
	/* A caller that may not look at runs begins one, which is refused if it is there. */
	return r == ROGER_ENOENT || r == ROGER_EREFUSED ? ROGER_OK : r;
}

/* Take a run over from a runner that is gone; of several that try, one gets it. */
static int take_over(struct watch *watch, const struct roger_run *run, struct roger_err *err)
{
	enum rg_run_hands hands = rg_run_hands(run);
	struct roger_run_step_request step = { .step = RG_RUN_ADOPTED,
					       .former_pid = run->runner_pid,
					       .former_start = run->runner_start,
					       .orphan = hands == RG_HANDS_ORPHAN };
	struct rg_process child, self;
	struct roger_run_reply told;
	int r;

	r = rg_run_check_free(run, hands, err);
	if (r < 0)
		return r;
	rg_run_child_process(run, &child);
	name_processes(&child, &self, &step);
	r = ask_step(watch, &step, watch->arena, &told, err);
	if (r < 0)
		return r;
	if (!rg_clock_read_rfc3339(run->dispatched_at, &watch->dispatched_ms))
		watch->dispatched_ms = rg_clock_ms();
	watch->beat_every_ms = told.heartbeat_ms;
	watch->chars_max = told.chars_max;
	watch->reply->adopted = true;
	watch->ending = RG_ENDED_UNSEEN;
	watch->late = rg_process_fate(&child) != RG_PROCESS_LIVES;
	if (watch->late) {
		rg_arena_note(watch->arena, &watch->reply->notes,
			      "its child is gone; this is what is known of its end");
		return ROGER_OK;
	}
	r = rg_child_adopt(&child, watch->request->streams, &watch->child, err);
	if (r < 0)
		return r;
	watch_to_its_end(watch);
	return ROGER_OK;
}

/* ------------------------------------------------------------------ verb -- */

static int check_request(const struct roger *roger, const struct roger_run_request *request,
			 struct roger_err *err)
{
	/* A server may know the caller by its token. */
	if (!roger->remote && !request->agent.length && !request->forward_to.length)
		return rg_run_fail_unowned(err);
	if (request->result_file.length && request->result == ROGER_RESULT_MESSAGE)
		return rg_fail_member(err, ROGER_EUSAGE, "result_file",
				      "give --result-file or --result, not both");
	if (request->grace_ms && !request->timeout_ms)
		return rg_fail_member(err, ROGER_EUSAGE, "grace", "--grace needs --timeout");
	return ROGER_OK;
}

/* Pass on output that the reader has not taken yet, now that nothing else waits for it. */
static void pass_on_the_rest(struct watch *watch)
{
	int error = watch->child ? rg_child_flush(watch->child) : 0;

	if (!error)
		return;
	watch->reply->output_lost = true;
	rg_arena_note(watch->arena, &watch->reply->notes,
		      "not all of its output could be passed on: %.60s", strerror(error));
}

/* Add how the run ended to the error: nothing else says it to whoever waits for its exit status. */
static void tell_unwritten(const struct watch *watch, int64_t limit_ms, struct roger_err *err)
{
	const struct rg_ended so = { watch->ending, watch->status, limit_ms };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf ended = { .maximum = SIZE_MAX };
	char why[sizeof err->message];

	if (!err)
		return;
	rg_ended_describe(&so, &ended);
	if (ended.failed)
		return;
	memcpy(why, err->message, sizeof why);
	snprintf(err->message, sizeof err->message,
		 "the end of run '%.*s' (%.*s) is not written down: %.200s",
		 RG_STR_ARGS(watch->run_id), RG_STR_ARGS(rg_buf_str(&ended)), why);
}

static int ask_end(struct watch *watch, struct roger_err *err)
{
	struct roger_run_reply *reply = watch->reply, told;
	struct roger_run_step_request step = {
		.step = RG_RUN_ENDED,
		.program = program_name(watch->request),
		.ending = (int)watch->ending,
		.status = watch->status,
		.limit_ms = reply->limit_reached ? watch->request->timeout_ms : 0,
		.promised = !watch->captures,
		.late = watch->late,
		.command = watch->command,
		.duration_ms = (rg_clock_monotonic_ns() - watch->began_ns) / 1000000,
		.output_bytes = (int64_t)watch->output.bytes,
	};
	int r, i;

	r = find_words(watch, &step, err);
	find_last_words(watch, &step);
	if (watch->command.length)
		find_lines(watch, &step);
	if (r == ROGER_OK)
		r = rg_kept(!rg_arena_failed(watch->arena), err);
	/* Wait for a server that is started again, or gives way to another. */
	for (i = 0; r == ROGER_OK; i++) {
		r = ask_step(watch, &step, watch->arena, &told, err);
		if (r != ROGER_ETIMEOUT || !watch->roger->remote || i == END_TRIES)
			break;
		rg_clock_sleep(END_PAUSE_MS);
		r = ROGER_OK;
	}
	if (r < 0) {
		tell_unwritten(watch, step.limit_ms, err);
		return r;
	}
	reply->runs = told.runs;
	reply->exit = told.exit;
	reply->ended = told.ended;
	reply->message = told.message;
	reply->untold = told.untold;
	reply->output_bytes = step.output_bytes;
	reply->duration_ms = step.duration_ms;
	return pass_on_notes(watch, &told, err);
}

static int watch_run(struct watch *watch, struct roger_err *err)
{
	const struct roger_run *there = NULL;
	int r;

	r = make_run_id(watch, err);
	if (r == ROGER_OK)
		r = find_run(watch, &there, err);
	if (r == ROGER_OK)
		r = there ? take_over(watch, there, err) : begin_run(watch, err);
	if (r < 0)
		return r;
	r = ask_end(watch, err);
	/* The reader gets the output, whatever becomes of our records. */
	pass_on_the_rest(watch);
	return r;
}

int rg_verb_run(struct roger *roger, const struct roger_run_request *request,
		struct roger_run_reply *reply, struct roger_err *err)
{
	struct watch watch = {
		.roger = roger,
		.request = request,
		.reply = reply,
		.arena = reply->memory,
		.began_ns = rg_clock_monotonic_ns(),
		.captures = request->result != ROGER_RESULT_MESSAGE && !request->result_file.length,
	};
	int r;

	r = check_request(roger, request, err);
	if (r < 0)
		return r;
	/* Room for all characters that are kept, however many bytes each takes. */
	watch.output.capacity = watch.errors.capacity = RG_TAIL_CHARS_MAX * 4 + 4096;
	watch.output.data = rg_arena_get(watch.arena, watch.output.capacity);
	watch.errors.data = rg_arena_get(watch.arena, watch.errors.capacity);
	r = watch.output.data && watch.errors.data ? watch_run(&watch, err) : rg_fail_memory(err);
	rg_child_free(watch.child);
	return r;
}
