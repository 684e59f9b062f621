/* dispatch, complete, forward, extend, recover, runs, sweep: runs of sub-agents; dismiss. */
#include "base/clock.h"
#include "base/limits.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/grid.h"

/* "build-7  failed: exit 3", and what else there is to say of that. */
static void print_line(const struct roger_run *run)
{
	cli_say("%S%t%.  %S%t%.\n%(  %t\n%)", CLI_BOLD, run->run,
		cli_look(rg_run_status_tones, run->status, CLI_PLAIN), run->words, run->why);
}

static void print_row(const char *name, struct roger_str value)
{
	if (value.length)
		cli_say("  %S%-12s%. %t\n", CLI_DIM, name, value);
}

/* An instant of a document, in local time; text that is no instant is printed unchanged. */
static void print_instant_row(const char *name, struct roger_str value, const char *link,
			      struct roger_str more)
{
	int64_t ms;

	if (!value.length)
		return;
	cli_say("  %S%-12s%. ", CLI_DIM, name);
	if (rg_clock_read_rfc3339(value, &ms))
		cli_say("%w", ms);
	else
		cli_say("%t", value);
	cli_say(more.length ? "%s%t\n" : "\n", link, more);
}

/* The last lines of a stream, each in a row of its own. */
static void print_lines(const struct roger_run *run, const char *stream, struct roger_strs lines)
{
	size_t i;

	if (rg_str_among(run->not_kept, rg_str(stream)))
		cli_say("  %S%-12s (not kept: it was a terminal)%.\n", CLI_DIM, stream);
	for (i = 0; i < lines.count; i++)
		cli_say("  %S%-12s%. %t\n", CLI_DIM, i ? "" : stream, lines.items[i]);
}

/* Print what was run, for how long, and what it printed last; a script has lines of its own. */
static void print_output(const struct roger_run *run)
{
	struct roger_str rest = run->command, line;
	const char *name = "command";
	char took[32];

	if (!rest.length)
		return;
	for (; rg_str_next_line(&rest, &line); name = "")
		print_row(name, line);
	rg_clock_print_span(run->duration_ms, took);
	print_row("took", rg_str(took));
	print_lines(run, "stdout", run->stdout_lines);
	print_lines(run, "stderr", run->stderr_lines);
}

static void print_detail(const struct roger_run *run)
{
	size_t i;

	print_line(run);
	print_row("child", run->child);
	print_row("owner", run->owner);
	print_row("issue", run->issue);
	print_row("task", run->task);
	print_instant_row("dispatched", run->dispatched_at, "", RG_STR(""));
	print_instant_row("expected by", run->expected_by, "", RG_STR(""));
	print_instant_row("completed", run->completed_at, ", known by ", run->source);
	print_row("child exit", run->exit);
	if (run->child_pid)
		cli_say("  %S%-12s%. %d, watched by %d\n", CLI_DIM, "process", run->child_pid,
			run->runner_pid);
	print_instant_row("settled", run->settled_at, run->settled_by.length ? ", by " : "",
			  run->settled_by);
	print_instant_row("heartbeat", run->heartbeat_at, "", RG_STR(""));
	print_row("result", run->result_message);
	print_row("result read", !run->forwarded	? RG_STR("not confirmed")
				 : run->evidence.length ? run->evidence
							: RG_STR("confirmed"));
	if (run->recovery_attempts)
		cli_say("  %S%-12s%. %d\n", CLI_DIM, "recoveries", run->recovery_attempts);
	print_instant_row("last one", run->last_recovery_at, ": ", run->recovery_action);
	for (i = 0; i < run->notes.count; i++)
		print_row(i ? "" : "notes", run->notes.items[i]);
	print_output(run);
}

static void print_table(const struct cli_run *run, const struct roger_run_list *runs)
{
	static const char *const titles[] = { "run", "status", "owner", "expected by", "why" };
	enum { TITLES = sizeof titles / sizeof *titles };
	struct cli_grid grid = { .arena = run->arena, .columns = TITLES, .titled = true };
	const struct roger_run *one;
	int64_t ms;
	size_t i;

	for (i = 0; i < TITLES; i++)
		cli_grid_say(&grid, CLI_BOLD, 0, "%s", titles[i]);
	for (i = 0; i < runs->count; i++) {
		one = &runs->items[i];
		cli_grid_say(&grid, CLI_PLAIN, CLI_WHOLE, "%t", one->run);
		cli_grid_say(&grid, cli_look(rg_run_status_tones, one->status, CLI_PLAIN),
			     CLI_WHOLE, "%t", one->words);
		cli_grid_say(&grid, CLI_PLAIN, 0, one->owner.length ? "%t" : "-", one->owner);
		if (rg_clock_read_rfc3339(one->expected_by, &ms))
			cli_grid_say(&grid, CLI_PLAIN, CLI_WHOLE, "%w", ms);
		else
			cli_grid_say(&grid, CLI_PLAIN, 0, "%t", one->expected_by);
		cli_grid_say(&grid, CLI_DIM, 0, "%t", one->why);
	}
	cli_grid_print(cli_out, &grid);
}

/* --------------------------------------------------------------- replies -- */

static void print_receipt(const struct cli_run *run)
{
	const struct roger_runs_reply *reply = run->reply;

	cli_print_notes(&reply->notes);
	print_line(&reply->runs.items[0]);
	if (!reply->changed)
		fputs("  (it said so already)\n", cli_out);
}

static void print_runs(const struct cli_run *run)
{
	const struct roger_runs_request *request = run->request;
	const struct roger_runs_reply *reply = run->reply;
	struct roger_why_request ask = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_why_reply why = { 0 };
	const struct roger_run_trouble *trouble;
	size_t i;

	if (request->run.length) {
		print_detail(&reply->runs.items[0]);
		/* The command that ends the trouble, as `roger why` says it. */
		ask.what = reply->runs.items[0].run;
		if (roger_why(run->roger, &ask, &why, NULL) == ROGER_OK)
			print_row("next", why.next);
	} else if (reply->runs.count)
		print_table(run, &reply->runs);
	else
		cli_say("no runs\n");
	for (i = 0; i < reply->troubles.count; i++) {
		trouble = &reply->troubles.items[i];
		cli_say("%S%s: %.%t: %t\n", trouble->invalid ? CLI_RED : CLI_YELLOW,
			trouble->invalid ? "not valid" : "note",
			trouble->file.length ? trouble->file : trouble->run, trouble->what);
	}
}

/* -------------------------------------------------------------- commands -- */

/* A result of - is read from standard input; an empty one is no result. */
static int run_complete(struct cli_run *run, struct roger_err *err)
{
	struct roger_complete_request *request = run->request;
	int r = ROGER_OK;

	if (rg_str_is(request->result, "-"))
		r = cli_read_text(NULL, "result", RG_LINE_BYTES_MAX, run->arena, &request->result,
				  err);
	return r == ROGER_OK ? cli_call(run, err) : r;
}

/* Print what was dismissed. */
static void print_dismissed(const struct cli_run *run)
{
	const struct roger_dismiss_reply *reply = run->reply;
	const struct roger_damage *damage;
	size_t i;

	if (reply->runs.count)
		print_line(&reply->runs.items[0]);
	if (reply->dead_letters.count)
		cli_say("dead letter %S%t%.: no longer needed\n", CLI_BOLD,
			reply->dead_letters.items[0].id);
	for (i = 0; i < reply->damages.count; i++) {
		damage = &reply->damages.items[i];
		cli_say("%t%( line %d%): accepted by %t\n", damage->file, damage->line,
			damage->accepted_by);
	}
	if (!reply->changed)
		fputs("  (it said so already)\n", cli_out);
}

/* A deadline as people write it is in the zone of this machine, wherever the workspace is. */
static int take_deadline(struct cli_run *run, struct roger_err *err)
{
	struct roger_dispatch_request *request = run->request;
	char text[32];
	int64_t ms;

	/* The verb says what is wrong with any other. */
	if (rg_clock_read_rfc3339(request->expected_by, &ms) ||
	    rg_clock_read(request->expected_by, rg_clock_ms(), &ms))
		return ROGER_OK;
	rg_clock_print_utc(ms, text);
	return rg_kept(rg_arena_copy(run->arena, rg_str(text), &request->expected_by), err);
}

/* A run may have the name of the command: then say how it is shown. */
static int run_namesake(struct cli_run *run, struct roger_err *err)
{
	const char *name = run->command->verb;
	const struct roger_runs_request request = { .run = rg_str(name) };
	RG_CLEANUP(roger_reply_free) struct roger_runs_reply reply = { 0 };

	if (roger_runs(run->roger, &request, &reply, NULL) == ROGER_OK)
		cli_print_note(rg_arena_text(run->arena, "`roger runs --run %s` shows the run '%s'",
					     name, name));
	return cli_call(run, err);
}

CLI_COMMAND(dismiss, "dismiss", .print = print_dismissed);
CLI_COMMAND(dispatch, "dispatch", .prepare = take_deadline, .print = print_receipt);
CLI_COMMAND(complete_run, "complete", .run = run_complete, .print = print_receipt);
CLI_COMMAND(forward, "runs forward", .verb = "forward", .run = run_namesake,
	    .print = print_receipt);
CLI_COMMAND(extend, "runs extend", .verb = "extend", .run = run_namesake, .print = print_receipt);
CLI_COMMAND(recover, "runs recover", .verb = "recover", .run = run_namesake,
	    .print = print_receipt);
CLI_COMMAND(sweep, "runs sweep", .verb = "sweep", .run = run_namesake);
CLI_COMMAND(runs, "runs", .paged = true, .print = print_runs, .nothing = true);
