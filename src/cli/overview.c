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
	static const char *const marks[] = {
		[ROGER_URGENT] = "!!", [ROGER_SOON] = "! ", [ROGER_NOTICE] = "- "
	};
	const size_t words = cli_columns(concern->words), both = width_of(concern);
	const bool beside = both <= screen;
	size_t blanks = beside && width > words ? width - words : 0;

	if (beside && blanks > screen - both)
		blanks = screen - both;
	cli_say("%S%s%. ", cli_look(rg_urgency_tones, concern->urgency, CLI_DIM),
		marks[concern->urgency]);
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

/* Print chores in a row that one process does together. */
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

/* A row of the report; its name begins with a blank if it is a part of the one above. */
struct figure {
	const char *name;
	enum { NUMBER, SPAN, RATE, CAUSES, TITLE } kind;
	size_t at; /* in the reply; a part whose title has a number is left out where that is 0 */
	enum cli_style style; /* of a number that is not 0 */
};
#define AT(member) offsetof(struct roger_report_reply, member)

static const struct figure figures[] = {
	{ "messages", TITLE },
	{ "sent", NUMBER, AT(messages) },
	{ "  looked at", NUMBER, AT(looked) },
	{ "  read", NUMBER, AT(read) },
	{ "  acknowledged", NUMBER, AT(acknowledged) },
	{ "  unread", NUMBER, AT(unread), CLI_YELLOW },
	{ "wakes attempted", NUMBER, AT(wakes) },
	{ "  failed", NUMBER, AT(failed_wakes), CLI_YELLOW },
	{ "time to first look: median", SPAN, AT(look_p50_ms) },
	{ "  p95", SPAN, AT(look_p95_ms) },
	{ "time to read: median", SPAN, AT(latency_p50_ms) },
	{ "  p95", SPAN, AT(latency_p95_ms) },
	{ "  longest", SPAN, AT(latency_max_ms) },
	{ "sends, with a key or without", TITLE },
	{ "attempts", NUMBER, AT(attempts) },
	{ "  delivered", NUMBER, AT(delivered), CLI_GREEN },
	{ "    late", NUMBER, AT(late), CLI_YELLOW },
	{ "  timed out", NUMBER, AT(timeouts), CLI_YELLOW },
	{ "  pending", NUMBER, AT(pending) },
	{ "  refused", NUMBER, AT(errors), CLI_RED },
	{ "because", CAUSES, AT(refused_by_cause) },
	{ "delivered, of attempts", RATE, AT(delivery_permille) },
	{ "  of messages", RATE, AT(message_permille) },
	{ "retries", NUMBER, AT(retries) },
	{ "duplicates prevented", NUMBER, AT(duplicates) },
	{ "refused for their key", NUMBER, AT(conflicts), CLI_YELLOW },
	{ "texts not taken in", NUMBER, AT(skipped), CLI_YELLOW },
	{ "senders that pause now", NUMBER, AT(breakers), CLI_RED },
	{ "dead letters", TITLE, AT(dead_letters) },
	{ "given up", NUMBER, AT(dead_letters), CLI_RED },
	{ "  undelivered", NUMBER, AT(undelivered), CLI_RED },
	{ "  read after all", NUMBER, AT(dead_read) },
	{ "  redelivered", NUMBER, AT(redelivered) },
	{ "  stale", NUMBER, AT(stale) },
	{ "because", CAUSES, AT(dead_by_cause) },
	{ "to", CAUSES, AT(dead_by_recipient) },
	{ "runs", TITLE, AT(runs) },
	{ "dispatched", NUMBER, AT(runs) },
	{ "  running", NUMBER, AT(active) },
	{ "  overdue", NUMBER, AT(suspect), CLI_YELLOW },
	{ "  finished, result unread", NUMBER, AT(not_forwarded), CLI_YELLOW },
	{ "  done", NUMBER, AT(completed), CLI_GREEN },
	{ "  done, recovered", NUMBER, AT(recovered), CLI_GREEN },
	{ "  failed, lost or given up", NUMBER, AT(blocked), CLI_RED },
	{ "child succeeded", NUMBER, AT(succeeded_runs), CLI_GREEN },
	{ "  failed", NUMBER, AT(failed_runs), CLI_RED },
	{ "  killed", NUMBER, AT(killed_runs), CLI_RED },
	{ "  timed out", NUMBER, AT(timed_out_runs), CLI_RED },
	{ "  ended unseen", NUMBER, AT(unknown_runs), CLI_YELLOW },
	{ "late", NUMBER, AT(late_runs), CLI_YELLOW },
	{ "lost", NUMBER, AT(lost_runs), CLI_RED },
	{ "recovery attempts", NUMBER, AT(recoveries) },
};

static void print_title(const char *title)
{
	cli_say("\n%S%s%.\n", CLI_BOLD, title);
}

static void print_figure(const struct figure *figure, const void *at)
{
	const int64_t number = figure->kind == CAUSES ? 0 : *(const int64_t *)at;
	const struct roger_figure_list *causes = at;
	char text[32] = "-";
	size_t i;

	for (i = 0; figure->kind == CAUSES && i < causes->count; i++)
		cli_say("  %s %*t %12d\n", figure->name, 25 - (int)strlen(figure->name),
			causes->items[i].name, causes->items[i].count);
	if (figure->kind == CAUSES)
		return;
	if (figure->kind == NUMBER)
		snprintf(text, sizeof text, "%lld", (long long)number);
	else if (figure->kind == SPAN && number != ROGER_UNKNOWN)
		rg_clock_print_span(number, text);
	else if (number != ROGER_UNKNOWN)
		snprintf(text, sizeof text, "%lld.%lld%%", (long long)number / 10,
			 (long long)number % 10);
	/* The sign of a rate stands behind the column. */
	fprintf(cli_out, "%-28s %s%*s%s\n", figure->name,
		figure->style && number ? cli_style(figure->style) : "",
		figure->kind == RATE ? 13 : 12, text,
		figure->style && number ? cli_style(CLI_PLAIN) : "");
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
	const struct figure *figure, *end = figures + sizeof figures / sizeof *figures;
	bool told = true;

	print_range(reply);
	for (figure = figures; figure < end; figure++) {
		const void *at = (const char *)reply + figure->at;

		if (figure->kind == TITLE)
			told = !figure->at || *(const int64_t *)at;
		if (told && figure->kind == TITLE)
			print_title(figure->name);
		else if (told)
			print_figure(figure, at);
	}
	if (reply->alarm)
		cli_say("%Salarm: too many dead letters in one cycle%.\n", CLI_RED);
	if (reply->concerns.count)
		print_title("needs attention now");
	print_concerns(&reply->concerns, STATUS_LINES);
	if (reply->agents.count)
		print_agents(&reply->agents);
}

CLI_COMMAND(report, "report", .paged = true, .print = print_report);
