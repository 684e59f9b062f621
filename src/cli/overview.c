/* status, why, report: how it is, and how it went. */
#include <string.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/grid.h"
#include "cli/screen.h"

/* Lines of a screen, and columns. */
enum { STATUS_LINES = 12, COLUMNS = 80, WORDS_COLUMNS_MAX = 60, MARK_COLUMNS = 3 };

/* ---------------------------------------------------------------- status -- */

/* Columns of the words with what to type beside them. */
static size_t width_of(const struct roger_concern *concern)
{
	return MARK_COLUMNS + cli_columns(concern->words) + 2 + cli_columns(concern->next);
}

/* How many lines a concern takes. */
static size_t lines_of(const struct roger_concern *concern, size_t screen)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf next = { .maximum = SIZE_MAX };

	if (!concern->next.length || width_of(concern) <= screen)
		return 1;
	rg_buf_printf(&next, "%*s%.*s", MARK_COLUMNS + 2, "", RG_STR_ARGS(concern->next));
	return 1 + cli_screen_lines(rg_buf_str(&next), screen);
}

/* Print the words, and what to type: beside them if both fit, in a column if possible, else below.
 */
static void print_concern(const struct roger_concern *concern, size_t width, size_t screen)
{
	static const struct {
		const char *mark;
		enum cli_style style;
	} marks[] = { [ROGER_URGENT] = { "!!", CLI_RED },
		      [ROGER_SOON] = { "! ", CLI_YELLOW },
		      [ROGER_NOTICE] = { "- ", CLI_DIM } };
	const size_t words = cli_columns(concern->words), both = width_of(concern);
	const bool beside = both <= screen;
	size_t blanks = beside && width > words ? width - words : 0;

	if (beside && blanks > screen - both)
		blanks = screen - both;
	cli_say("%S%s%. ", marks[concern->urgency].style, marks[concern->urgency].mark);
	if (cli_screen_width())
		cli_print_cut(cli_out, concern->words, screen - MARK_COLUMNS);
	else
		cli_say("%t", concern->words);
	if (concern->next.length)
		cli_say("%*s%s  %S%t%.", (int)blanks, "", beside ? "" : "\n   ", CLI_CYAN,
			concern->next);
	cli_say("\n");
}

static size_t screen_columns(void)
{
	return cli_screen_width() ? cli_screen_width() : COLUMNS;
}

/* Print the first concerns in that many lines; returns how many lines are left. */
static size_t print_concerns(const struct roger_concern_list *concerns, size_t lines)
{
	const size_t screen = screen_columns();
	size_t width = 0, took, i;

	for (i = 0; i < concerns->count && i < lines; i++)
		if (cli_columns(concerns->items[i].words) > width &&
		    cli_columns(concerns->items[i].words) <= WORDS_COLUMNS_MAX)
			width = cli_columns(concerns->items[i].words);
	for (i = 0; i < concerns->count; i++) {
		took = lines_of(&concerns->items[i], screen);
		/* The last line is for those that are left out. */
		if (took + (i + 1 < concerns->count) > lines)
			break;
		print_concern(&concerns->items[i], width, screen);
		lines -= took;
	}
	if (i < concerns->count) {
		cli_say("... and %d more: %Sroger top%., or --json\n",
			(int64_t)(concerns->count - i), CLI_CYAN);
		lines -= lines > 0;
	}
	return lines;
}

/* Chores in a row that one process does are told together. */
static void say_chores(FILE *to, const struct roger_chore_list *chores)
{
	size_t i;

	for (i = 0; i < chores->count; i++) {
		cli_say_to(to, "%S%s%t%.", CLI_DIM, i ? ", " : "chores: ", chores->items[i].verb);
		if (i + 1 < chores->count && chores->items[i].pid &&
		    chores->items[i].pid == chores->items[i + 1].pid)
			continue;
		cli_say_to(to, "%S by %t", CLI_DIM, chores->items[i].by);
		if (chores->items[i].pid)
			cli_say_to(to, " (%d)", chores->items[i].pid);
		cli_say_to(to, " %s%w%.",
			   chores->items[i].last_ms > chores->items[i].since_ms ? "since " : "",
			   chores->items[i].since_ms);
	}
	if (chores->count)
		cli_say_to(to, "\n");
}

void cli_say_place(FILE *to, struct roger_str store, struct roger_str served_by,
		   struct roger_str standby)
{
	if (served_by.length)
		cli_say_to(to, "%Sjournals in %t, served by %t%.\n", CLI_DIM, store, served_by);
	cli_say_to(to, "%(%Sstandby of the database: %t%.\n%)", CLI_DIM, standby);
}

/* Print the figures into a page, for below the concerns; returns how many lines they take. */
static size_t say_figures(struct cli_page *page, const struct roger_status_reply *reply)
{
	if (!cli_page_begin(page))
		return 0;
	say_chores(page->to, &reply->chores);
	cli_say_to(page->to,
		   "%S%d agent%p, %d unread, %d active run%p, session %d, cycle %t, in %t%.\n",
		   CLI_DIM, reply->agents, reply->unread, reply->active_runs, reply->epoch,
		   reply->cycle, reply->workspace);
	cli_say_place(page->to, reply->store, reply->served_by, reply->standby);
	if (!cli_page_end(page))
		return 0;
	return cli_screen_lines((struct roger_str){ page->text, page->length }, screen_columns()) -
	       1;
}

static void print_status(const struct cli_run *run)
{
	const struct roger_status_reply *reply = run->reply;
	RG_CLEANUP(cli_page_free) struct cli_page figures = { 0 };
	const struct roger_seat *seat;
	size_t lines = STATUS_LINES - say_figures(&figures, reply), i;

	lines = print_concerns(&reply->concerns, lines);
	/* An agent whose git worktree is gone is a concern, as long as mail waits for it. */
	for (i = 0; i < reply->worktrees.count && lines; i++) {
		seat = &reply->worktrees.items[i];
		if (seat->standing != ROGER_SEAT_THERE)
			continue;
		cli_say("- %t was in %t %w\n", seat->agent, seat->path, seat->seen_at_ms);
		lines--;
	}
	if (reply->quiet)
		cli_say("%Sall quiet%.\n", CLI_GREEN);
	if (figures.text)
		fputs(figures.text, cli_out);
}

CLI_COMMAND(status, "status", .print = print_status);

/* ------------------------------------------------------------------- why -- */

static void print_why(const struct cli_run *run)
{
	const struct roger_why_reply *reply = run->reply;

	cli_say("%t\n%(  %S%t%.\n%)", reply->words, CLI_CYAN, reply->next);
}

CLI_COMMAND(why, "why", .print = print_why);

/* ---------------------------------------------------------------- report -- */

/* Print a number; its name begins with a blank if it is a part of the one above. */
static void print_number(const char *name, int64_t number, enum cli_style style)
{
	fprintf(cli_out, "%-28s %s%12lld%s\n", name, number ? cli_style(style) : "",
		(long long)number, number ? cli_style(CLI_PLAIN) : "");
}

static void print_span(const char *name, int64_t ms)
{
	char span[32] = "-";

	if (ms != ROGER_UNKNOWN)
		rg_clock_print_span(ms, span);
	fprintf(cli_out, "%-28s %12s\n", name, span);
}

static void print_title(const char *title)
{
	cli_say("\n%S%s%.\n", CLI_BOLD, title);
}

static void print_range(const struct roger_report_reply *reply)
{
	size_t i;

	cli_say(reply->since_ms ? "%Sfrom %w to " : "%Sfrom the start to ", CLI_BOLD,
		reply->since_ms);
	cli_say(reply->until_ms ? "%w" : "now", reply->until_ms);
	for (i = 0; i < reply->cycles.count; i++)
		cli_say("%s%t", i ? ", " : ", cycle ", reply->cycles.items[i]);
	cli_say("%.\n");
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
	print_span("time to first look: median", reply->look_p50_ms);
	print_span("  p95", reply->look_p95_ms);
	print_span("time to read: median", reply->latency_p50_ms);
	print_span("  p95", reply->latency_p95_ms);
	print_span("  longest", reply->latency_max_ms);
}

static void print_rate(const char *name, int64_t permille)
{
	if (permille == ROGER_UNKNOWN)
		fprintf(cli_out, "%-28s %12s\n", name, "-");
	else
		fprintf(cli_out, "%-28s %10lld.%lld%%\n", name, (long long)permille / 10,
			(long long)permille % 10);
}

static void print_figures(const char *before, const struct roger_figure_list *figures)
{
	size_t i;

	for (i = 0; i < figures->count; i++)
		cli_say("  %s %*t %12d\n", before, 25 - (int)strlen(before), figures->items[i].name,
			figures->items[i].count);
}

static void print_attempts(const struct roger_report_reply *reply)
{
	print_title("sends, with a key or without");
	print_number("attempts", reply->attempts, CLI_PLAIN);
	print_number("  delivered", reply->delivered, CLI_GREEN);
	print_number("    late", reply->late, CLI_YELLOW);
	print_number("  timed out", reply->timeouts, CLI_YELLOW);
	print_number("  pending", reply->pending, CLI_PLAIN);
	print_number("  refused", reply->errors, CLI_RED);
	print_figures("because", &reply->refused_by_cause);
	print_rate("delivered, of attempts", reply->delivery_permille);
	print_rate("  of messages", reply->message_permille);
	print_number("retries", reply->retries, CLI_PLAIN);
	print_number("duplicates prevented", reply->duplicates, CLI_PLAIN);
	print_number("refused for their key", reply->conflicts, CLI_YELLOW);
	print_number("senders that pause now", reply->breakers, CLI_RED);
}

static void print_letters(const struct roger_report_reply *reply)
{
	print_title("dead letters");
	print_number("given up", reply->dead_letters, CLI_RED);
	print_number("  undelivered", reply->undelivered, CLI_RED);
	print_number("  read after all", reply->dead_read, CLI_PLAIN);
	print_number("  redelivered", reply->redelivered, CLI_PLAIN);
	print_number("  stale", reply->stale, CLI_PLAIN);
	print_figures("because", &reply->dead_by_cause);
	print_figures("to", &reply->dead_by_recipient);
	if (reply->alarm)
		cli_say("%Salarm: too many in one cycle%.\n", CLI_RED);
}

static void print_runs(const struct roger_report_reply *reply)
{
	print_title("runs");
	print_number("dispatched", reply->runs, CLI_PLAIN);
	print_number("  running", reply->active, CLI_PLAIN);
	print_number("  overdue", reply->suspect, CLI_YELLOW);
	print_number("  finished, result unread", reply->not_forwarded, CLI_YELLOW);
	print_number("  done", reply->completed, CLI_GREEN);
	print_number("  done, recovered", reply->recovered, CLI_GREEN);
	print_number("  failed, lost or given up", reply->blocked, CLI_RED);
	print_number("child succeeded", reply->succeeded_runs, CLI_GREEN);
	print_number("  failed", reply->failed_runs, CLI_RED);
	print_number("  killed", reply->killed_runs, CLI_RED);
	print_number("  timed out", reply->timed_out_runs, CLI_RED);
	print_number("  ended unseen", reply->unknown_runs, CLI_YELLOW);
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
	cli_say("\n%S%*t  %s%.\n", CLI_BOLD, (int)width, RG_STR("agent"),
		"     sent   received       read   timeouts");
	for (i = 0; i < agents->count; i++)
		cli_say("%*t  %9d  %9d  %9d  %9d\n", (int)width, agents->items[i].name,
			agents->items[i].sent, agents->items[i].received, agents->items[i].read,
			agents->items[i].timeouts);
}

static void print_report(const struct cli_run *run)
{
	const struct roger_report_reply *reply = run->reply;

	print_range(reply);
	print_messages(reply);
	print_attempts(reply);
	if (reply->dead_letters)
		print_letters(reply);
	if (reply->runs)
		print_runs(reply);
	if (reply->concerns.count)
		print_title("needs attention now");
	print_concerns(&reply->concerns, STATUS_LINES);
	if (reply->agents.count)
		print_agents(&reply->agents);
}

CLI_COMMAND(report, "report", .paged = true, .print = print_report);
