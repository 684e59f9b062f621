/* dispatch, complete, forward, extend, settle, recover, runs, sweep: runs of sub-agents. */
#include "base/clock.h"
#include "base/limits.h"
#include "cli/command.h"
#include "cli/input.h"
#include "cli/term.h"

enum { STATUS_COLUMNS = 24, OUTCOME_COLUMNS = 18, NAME_COLUMNS_MAX = 40 };

/* ---------------------------------------------------------------- looks -- */

static const char *status_name(int status)
{
	/* The first name is that of any. */
	return cli_value_name(cli_op_named("runs")->request, "status", status + 1);
}

static enum cli_style status_style(int status)
{
	switch ((enum roger_run_status)status) {
	case ROGER_RUN_ACTIVE:
		return CLI_CYAN;
	case ROGER_RUN_SUSPECT:
	case ROGER_RUN_NOT_FORWARDED:
		return CLI_YELLOW;
	case ROGER_RUN_COMPLETED:
	case ROGER_RUN_RECOVERED:
		return CLI_GREEN;
	case ROGER_RUN_BLOCKED:
		return CLI_RED;
	}
	return CLI_PLAIN;
}

static void print_status(int status, size_t width)
{
	cli_say("%S%*s%.", status_style(status), (int)width, status_name(status));
}

/* How the child ended: "failed (3)"; nothing where that is not known to be so. */
static void print_outcome(const struct roger_run *run, size_t width)
{
	static const char *const names[] = { "",       "succeeded", "failed",
					     "killed", "timed out", "unknown" };
	const struct roger_str ended = run->exit;
	bool bad = run->outcome >= ROGER_RUN_FAILED && run->outcome <= ROGER_RUN_TIMED_OUT;
	char text[64];

	if (bad && ended.length && !rg_str_is(ended, "failed"))
		snprintf(text, sizeof text, "%s (%.40s)", names[run->outcome], ended.data);
	else
		snprintf(text, sizeof text, "%s", names[run->outcome]);
	cli_say("%S%*t%.", bad ? CLI_RED : CLI_PLAIN, (int)width, rg_str(text));
}

/* An instant of a document, in local time; as it stands, where it is none. */
static void print_instant(struct roger_str text)
{
	int64_t ms;

	if (rg_clock_read_rfc3339(text, &ms))
		cli_print_time(cli_out, ms);
	else
		cli_print_text(cli_out, text.length ? text : RG_STR("-"), false);
}

/* "build-7  done_but_not_forwarded  why" */
static void print_line(const struct roger_run *run)
{
	cli_say("%S%t%.  ", CLI_BOLD, run->run);
	print_status(run->status, 0);
	cli_say(run->outcome ? "  " : "");
	print_outcome(run, 0);
	cli_say("\n  %t\n", run->status_reason);
}

static void print_row(const char *name, struct roger_str value)
{
	if (value.length)
		cli_say("  %S%-12s%. %t\n", CLI_DIM, name, value);
}

static void print_instant_row(const char *name, struct roger_str value, const char *link,
			      struct roger_str more)
{
	if (!value.length)
		return;
	cli_say("  %S%-12s%. ", CLI_DIM, name);
	print_instant(value);
	if (more.length)
		cli_say("%s%t", link, more);
	cli_say("\n");
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
	print_row("forwarded", !run->forwarded	      ? RG_STR("not confirmed")
			       : run->evidence.length ? run->evidence
						      : RG_STR("confirmed"));
	if (run->recovery_attempts)
		cli_say("  %S%-12s%. %d\n", CLI_DIM, "recoveries", run->recovery_attempts);
	print_instant_row("last one", run->last_recovery_at, ": ", run->recovery_action);
	for (i = 0; i < run->notes.count; i++)
		print_row(i ? "" : "notes", run->notes.items[i]);
}

static size_t width_of(const struct roger_run_list *runs, size_t least, bool owners)
{
	size_t width = least, columns, i;

	for (i = 0; i < runs->count; i++) {
		columns = cli_columns(owners ? runs->items[i].owner : runs->items[i].run);
		if (columns > width)
			width = columns;
	}
	return width < NAME_COLUMNS_MAX ? width : NAME_COLUMNS_MAX;
}

static void print_table(const struct roger_run_list *runs)
{
	size_t run_width = width_of(runs, 3, false), owner_width = width_of(runs, 5, true), i;

	cli_say("%S%*s  %*s  %*s  %*s  %-19s  why%.\n", CLI_BOLD, (int)run_width, "run",
		STATUS_COLUMNS, "status", OUTCOME_COLUMNS, "outcome", (int)owner_width, "owner",
		"expected by");
	for (i = 0; i < runs->count; i++) {
		cli_say("%*t  ", (int)run_width, runs->items[i].run);
		print_status(runs->items[i].status, STATUS_COLUMNS);
		cli_say("  ");
		print_outcome(&runs->items[i], OUTCOME_COLUMNS);
		cli_say("  %*t  ", (int)owner_width,
			runs->items[i].owner.length ? runs->items[i].owner : RG_STR("-"));
		print_instant(runs->items[i].expected_by);
		cli_say("  %S%t%.\n", CLI_DIM, runs->items[i].status_reason);
	}
}

static void print_troubles(const struct roger_run_troubles *troubles)
{
	const struct roger_run_trouble *trouble;
	size_t i;

	for (i = 0; i < troubles->count; i++) {
		trouble = &troubles->items[i];
		cli_say("%S%s: %.%t: %t\n", trouble->invalid ? CLI_RED : CLI_YELLOW,
			trouble->invalid ? "not valid" : "note",
			trouble->file.length ? trouble->file : trouble->run, trouble->what);
	}
}

/* --------------------------------------------------------------- replies -- */

static void print_receipt(const struct cli_run *run, const void *reply_)
{
	const struct roger_runs_reply *reply = reply_;

	(void)run;
	cli_print_notes(&reply->notes);
	print_line(&reply->runs.items[0]);
	if (!reply->changed)
		fputs("  (it said so already)\n", cli_out);
}

static void print_runs(const struct cli_run *run, const void *reply_)
{
	const struct roger_runs_request *request = run->request;
	const struct roger_runs_reply *reply = reply_;

	if (request->run.length)
		print_detail(&reply->runs.items[0]);
	else if (reply->runs.count)
		print_table(&reply->runs);
	else
		fputs("no runs\n", cli_out);
	print_troubles(&reply->troubles);
}

/* -------------------------------------------------------------- commands -- */

/* A result of - is read from standard input; an empty one is none. */
static int read_result(struct cli_run *run, struct roger_err *err)
{
	struct roger_complete_request *request = run->request;

	return rg_str_is(request->result, "-") ? cli_read_text(NULL, "result", RG_LINE_BYTES_MAX,
							       run->arena, &request->result, err)
					       : ROGER_OK;
}

static int run_complete(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	int r = read_result(run, err);

	return r == ROGER_OK ? cli_call(run, ret_exit, err) : r;
}

const struct cli_command cli_dispatch = { .name = "dispatch", .print = print_receipt };
const struct cli_command cli_complete_run = { .name = "complete",
					      .run = run_complete,
					      .print = print_receipt };
const struct cli_command cli_forward = { .name = "forward", .print = print_receipt };
const struct cli_command cli_extend = { .name = "extend", .print = print_receipt };
const struct cli_command cli_settle = { .name = "settle", .print = print_receipt };
const struct cli_command cli_recover = { .name = "recover", .print = print_receipt };
const struct cli_command cli_runs = { .name = "runs", .print = print_runs };
