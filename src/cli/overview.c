/* report, status: how it went, and how it is. */
#include "base/clock.h"
#include "cli/command.h"
#include "cli/term.h"

/* Lines of a screen. */
enum { CONCERNS_MAX = 18, WORDS_COLUMNS_MAX = 60 };

/* ---------------------------------------------------------------- report -- */

/* Each with a blank before it where it is a part of the one above. */
static void print_number(const char *name, int64_t number, enum cli_style style)
{
	fprintf(cli_out, "%-28s %s%12lld%s\n", name, number ? cli_style(style) : "",
		(long long)number, number ? cli_style(CLI_PLAIN) : "");
}

static void print_span(const char *name, int64_t ms)
{
	char span[32];

	rg_clock_print_span(ms, span);
	fprintf(cli_out, "%-28s %12s\n", name, span);
}

static void print_title(const char *title)
{
	fprintf(cli_out, "\n%s%s%s\n", cli_style(CLI_BOLD), title, cli_style(CLI_PLAIN));
}

static void print_range(const struct roger_report_reply *reply)
{
	size_t i;

	fprintf(cli_out, "%sfrom ", cli_style(CLI_BOLD));
	if (reply->since_ms)
		cli_print_time(cli_out, reply->since_ms);
	else
		fputs("the start", cli_out);
	fputs(" to ", cli_out);
	if (reply->until_ms)
		cli_print_time(cli_out, reply->until_ms);
	else
		fputs("now", cli_out);
	for (i = 0; i < reply->cycles.count; i++) {
		fputs(i ? ", " : ", cycle ", cli_out);
		cli_print_text(cli_out, reply->cycles.items[i], false);
	}
	fprintf(cli_out, "%s\n", cli_style(CLI_PLAIN));
}

static void print_messages(const struct roger_report_reply *reply)
{
	print_title("messages");
	print_number("sent", reply->messages, CLI_PLAIN);
	print_number("  looked at", reply->looked, CLI_PLAIN);
	print_number("  read", reply->read, CLI_PLAIN);
	print_number("  acknowledged", reply->acknowledged, CLI_PLAIN);
	print_number("  unread", reply->unread, CLI_YELLOW);
	print_number("wakes attempted", reply->wakes, CLI_PLAIN);
	print_number("  failed", reply->failed_wakes, CLI_YELLOW);
	print_span("from stored to look, half in", reply->look_p50_ms);
	print_span("  95 of a hundred in", reply->look_p95_ms);
	print_span("from stored to read, half in", reply->latency_p50_ms);
	print_span("  95 of a hundred in", reply->latency_p95_ms);
	print_span("  all in", reply->latency_max_ms);
}

static void print_attempts(const struct roger_report_reply *reply)
{
	print_title("sends with a key");
	print_number("attempts", reply->attempts, CLI_PLAIN);
	print_number("  delivered", reply->delivered, CLI_GREEN);
	print_number("    late", reply->late, CLI_YELLOW);
	print_number("  timed out", reply->timeouts, CLI_YELLOW);
	print_number("  refused", reply->errors, CLI_RED);
	fprintf(cli_out, "%-28s %10lld.%lld%%\n", "delivery rate",
		(long long)reply->delivery_permille / 10, (long long)reply->delivery_permille % 10);
	print_number("retries", reply->retries, CLI_PLAIN);
	print_number("duplicates prevented", reply->duplicates, CLI_PLAIN);
	print_number("conflicts", reply->conflicts, CLI_YELLOW);
	print_number("breakers open now", reply->breakers, CLI_RED);
}

static void print_figures(const char *before, const struct roger_figures *figures)
{
	size_t i;

	for (i = 0; i < figures->count; i++) {
		fprintf(cli_out, "  %s ", before);
		cli_print_padded(cli_out, figures->items[i].name, 25 - strlen(before));
		fprintf(cli_out, " %12lld\n", (long long)figures->items[i].count);
	}
}

static void print_letters(const struct roger_report_reply *reply)
{
	print_title("dead letters");
	print_number("given up", reply->dead_letters, CLI_RED);
	print_number("  undelivered", reply->undelivered, CLI_RED);
	print_number("  redelivered", reply->redelivered, CLI_PLAIN);
	print_number("  stale", reply->stale, CLI_PLAIN);
	print_figures("because", &reply->dead_by_cause);
	print_figures("to", &reply->dead_by_target);
	if (reply->alarm)
		fprintf(cli_out, "%salarm: too many in one cycle%s\n", cli_style(CLI_RED),
			cli_style(CLI_PLAIN));
}

static void print_runs(const struct roger_report_reply *reply)
{
	print_title("runs");
	print_number("dispatched", reply->runs, CLI_PLAIN);
	print_number("  active", reply->active, CLI_PLAIN);
	print_number("  suspect", reply->suspect, CLI_YELLOW);
	print_number("  done, not forwarded", reply->not_forwarded, CLI_YELLOW);
	print_number("  completed", reply->completed, CLI_GREEN);
	print_number("  recovered", reply->recovered, CLI_GREEN);
	print_number("  blocked", reply->blocked, CLI_RED);
	print_number("late", reply->late_runs, CLI_YELLOW);
	print_number("lost", reply->lost_runs, CLI_RED);
	print_number("recovery attempts", reply->recoveries, CLI_PLAIN);
}

static void print_agents(const struct roger_agent_figures_list *agents)
{
	size_t width = 5, i;

	for (i = 0; i < agents->count; i++)
		if (agents->items[i].name.length > width)
			width = agents->items[i].name.length;
	fprintf(cli_out, "\n%s%-*s  %9s  %9s  %9s  %9s%s\n", cli_style(CLI_BOLD), (int)width,
		"agent", "sent", "received", "read", "timeouts", cli_style(CLI_PLAIN));
	for (i = 0; i < agents->count; i++) {
		cli_print_padded(cli_out, agents->items[i].name, width);
		fprintf(cli_out, "  %9lld  %9lld  %9lld  %9lld\n", (long long)agents->items[i].sent,
			(long long)agents->items[i].received, (long long)agents->items[i].read,
			(long long)agents->items[i].timeouts);
	}
}

static void print_report(const struct cli_run *run, const void *reply_)
{
	const struct roger_report_reply *reply = reply_;

	(void)run;
	print_range(reply);
	print_messages(reply);
	print_attempts(reply);
	if (reply->dead_letters)
		print_letters(reply);
	if (reply->runs)
		print_runs(reply);
	if (reply->agents.count)
		print_agents(&reply->agents);
}

const struct cli_command cli_report = { .name = "report", .print = print_report };

/* ---------------------------------------------------------------- status -- */

/* What is wrong, and beside it what to type; below, where the words are too long for that. */
static void print_concern(const struct roger_concern *concern, size_t width)
{
	static const struct {
		const char *mark;
		enum cli_style style;
	} marks[] = { { "!!", CLI_RED }, { "! ", CLI_YELLOW }, { "- ", CLI_DIM } };

	fprintf(cli_out, "%s%s%s ", cli_style(marks[concern->urgency].style),
		marks[concern->urgency].mark, cli_style(CLI_PLAIN));
	cli_print_padded(cli_out, concern->words, width);
	if (cli_columns(concern->words) > width)
		fprintf(cli_out, "\n%*s", (int)width + 3, "");
	fprintf(cli_out, "  %s", cli_style(CLI_CYAN));
	cli_print_text(cli_out, concern->next, false);
	fprintf(cli_out, "%s\n", cli_style(CLI_PLAIN));
}

/* Nothing there: a good sign.  Else one line of figures below what is wrong. */
static void print_status(const struct cli_run *run, const void *reply_)
{
	const struct roger_status_reply *reply = reply_;
	size_t width = 0, i;

	(void)run;
	for (i = 0; i < reply->concerns.count && i < CONCERNS_MAX; i++)
		if (cli_columns(reply->concerns.items[i].words) > width)
			width = cli_columns(reply->concerns.items[i].words);
	if (width > WORDS_COLUMNS_MAX)
		width = WORDS_COLUMNS_MAX;
	for (i = 0; i < reply->concerns.count && i < CONCERNS_MAX; i++)
		print_concern(&reply->concerns.items[i], width);
	if (i < reply->concerns.count)
		fprintf(cli_out, "... and %zu more; --json has them all\n",
			reply->concerns.count - i);
	if (reply->quiet)
		fprintf(cli_out, "%sall quiet%s\n", cli_style(CLI_GREEN), cli_style(CLI_PLAIN));
	fprintf(cli_out, "%s%lld agent%s, %lld unread, %lld run%s under way, session %lld, cycle ",
		cli_style(CLI_DIM), (long long)reply->agents, rg_plural(reply->agents),
		(long long)reply->unread, (long long)reply->active_runs,
		rg_plural(reply->active_runs), (long long)reply->epoch);
	cli_print_text(cli_out, reply->cycle, false);
	fputs(", in ", cli_out);
	cli_print_text(cli_out, reply->workspace, false);
	fprintf(cli_out, "%s\n", cli_style(CLI_PLAIN));
}

const struct cli_command cli_status = { .name = "status", .print = print_status };
