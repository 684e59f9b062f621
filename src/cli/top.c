/*
 * top: what status, agents, runs and list say, on one screen, as it changes.
 *
 * It only looks, by verbs that leave no note, so that nothing counts as looked at or read because
 * a person watched.  Only a key writes: a reply, and an acknowledgement of the person's own mail.
 * An opened row shows what its command prints.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/unicode.h"
#include "cli/command.h"
#include "cli/grid.h"
#include "cli/screen.h"

enum {
	MAIL_MAX = 40,	  /* agents whose oldest mail is asked for */
	UNREAD_MAX = 20,  /* unread messages that are asked for of each */
	NEWEST_MAX = 300, /* messages */
	WAIT_MS = 250,	  /* for a key; other programs wake nobody who waits for keys */
	AGAIN_MS = 5000,  /* time alone brings something, too */
	REST = 4,	  /* looking takes at most a fifth of the time, */
	REST_LONG = 50,	  /* and a fiftieth while nothing is stored */
	HEAD_BYTES = 400, /* of a text that a row shows */
	NAME_COLUMNS = 16
};

static const char *const names[] = { "NEEDS ATTENTION", "AGENTS", "CLAIMS", "RUNS",
				     "LAST MESSAGES" };

enum section { ATTENTION, AGENTS, CLAIMS, RUNS, MESSAGES, SECTIONS };

/* A line of the overview. */
struct row {
	enum section section;
	size_t number;	  /* in its section, from 1; 0: its title */
	const void *item; /* a concern, agent, run or message; NULL: "and N more" */
	struct roger_str id, text;
	enum cli_style style;
};

struct top {
	struct cli_run *run;
	struct roger_str self;
	/* What is shown: replies, and rows that point into them. */
	struct rg_arena *arena;
	struct roger_status_reply status;
	struct roger_agents_reply agents;
	struct roger_runs_reply runs;
	struct roger_messages_reply newest, held,
		mail[MAIL_MAX + 1]; /* an agent's oldest unread mail */
	struct row *rows;
	size_t row_count, counts[SECTIONS], first; /* first: the row at the top of the screen */
	struct cli_page line;			   /* the text of the next row */
	bool whole[SECTIONS], over, due;	   /* whole: sections that show all rows */
	/* The chosen row, by name, so that it stays chosen while rows come and go. */
	enum section section;
	char id[512], from[160]; /* from: "": it is no message */
	enum { NOTHING, ROW, KEYS } open;
	struct rg_buf text; /* text of what is open */
	int64_t scroll;
	enum { NO_PROMPT, REPLY, FILTER } prompt;
	char typed[8192], filter[128], notice[512];
};

/* Set the notice to text if `so`, and if there is no notice yet. */
static void tell_notice(struct top *top, bool so, const char *text)
{
	if (so && !*top->notice)
		snprintf(top->notice, sizeof top->notice, "%s", text);
}

/* Return the line that was printed so far, and begin the next one. */
static struct roger_str take_line(struct top *top)
{
	struct roger_str line;

	fflush(top->line.to);
	line = (struct roger_str){ top->line.text, (size_t)ftell(top->line.to) };
	rewind(top->line.to);
	return line;
}

static void push_row(struct top *top, struct row row)
{
	struct row *place = rg_arena_push(top->arena, &top->rows, &top->row_count, sizeof row);

	if (place)
		*place = row;
}

/* Add a row with the printed line, after the title if it is the first of its section.  A section
 * that nobody opened has few rows, but for messages, and the last says how many more there are. */
static void add_row(struct top *top, enum section section, struct roger_str id, const void *item,
		    enum cli_style style)
{
	const size_t height = cli_screen_height(), few = height < 24 ? 3 : height / 6;
	struct row row = { section, ++top->counts[section], item, id, .style = style };

	if (section != MESSAGES && !top->whole[section] && row.number > few) {
		(void)take_line(top);
		cli_say_to(top->line.to, " and %d more", (int64_t)(row.number - few));
		top->row_count -= row.number > few + 1;
		row = (struct row){ section, few + 1, NULL, RG_STR("more"), .style = CLI_DIM };
	}
	if (!rg_arena_copy(top->arena, take_line(top), &row.text))
		return;
	if (row.number == 1)
		push_row(top,
			 (struct row){ section, 0, NULL, { 0 }, rg_str(names[section]), CLI_DIM });
	push_row(top, row);
}

static void add_concerns(struct top *top)
{
	const struct roger_concern *concern = top->status.concerns.items;
	size_t i;

	for (i = 0; i < top->status.concerns.count; i++, concern++) {
		cli_say_to(top->line.to, " %t  %t", concern->words, concern->next);
		add_row(top, ATTENTION, concern->words, concern,
			cli_look(rg_urgency_tones, concern->urgency, CLI_PLAIN));
	}
}

/* Most unread mail first, then by name. */
static int compare_agents(const void *a, const void *b)
{
	const struct roger_agent *x = a, *y = b;

	return x->unread != y->unread ? (x->unread < y->unread) - (x->unread > y->unread)
				      : strcmp(x->name.data, y->name.data);
}

static void add_agent(struct top *top, const struct roger_agent *agent, size_t which)
{
	const struct roger_list_request request = { .to = agent->name,
						    .unread = true,
						    .limit = UNREAD_MAX };
	struct roger_messages_reply *mail = &top->mail[which < MAIL_MAX ? which : MAIL_MAX];
	FILE *to = top->line.to;
	struct roger_err err;

	cli_say_to(to, " %*t %5d unread", NAME_COLUMNS, agent->name, agent->unread);
	if (agent->unread && which < MAIL_MAX) {
		tell_notice(top, roger_list(top->run->roger, &request, mail, &err) < 0,
			    err.message);
		if (mail->messages.count)
			cli_say_to(to, ", from %t %w", mail->messages.items[0].from,
				   mail->messages.items[0].created_at_ms);
	}
	if (agent->unread)
		cli_say_to(to, agent->last_looked_at_ms ? "; looked %w" : "; never looked",
			   agent->last_looked_at_ms);
	cli_say_to(to, agent->retired ? "; retired" : "");
	add_row(top, AGENTS, agent->name, agent, agent->unread ? CLI_YELLOW : CLI_PLAIN);
}

static void add_claims(struct top *top)
{
	struct roger_show_request held = { .ids = top->status.claims };
	const struct roger_message *message;
	struct roger_err err;
	size_t i;

	if (held.ids.count)
		tell_notice(top, roger_show(top->run->roger, &held, &top->held, &err) < 0,
			    err.message);
	for (i = 0; i < top->held.messages.count; i++) {
		message = &top->held.messages.items[i];
		cli_say_to(top->line.to, " %*t holds #%d of %t for %t, lease ends %w", NAME_COLUMNS,
			   message->claimed_by, message->seq, message->from, message->to,
			   message->claimed_until_ms);
		add_row(top, CLAIMS, message->id, message, CLI_CYAN);
	}
}

static void add_runs(struct top *top)
{
	const struct roger_run *run;
	size_t i;
	int64_t at_ms;

	for (i = top->runs.runs.count; i > 0; i--) {
		run = &top->runs.runs.items[i - 1];
		if (run->status == ROGER_RUN_COMPLETED || run->status == ROGER_RUN_RECOVERED ||
		    run->settled_at.length)
			continue;
		cli_say_to(top->line.to, " %*t %t for %t%(, begun %w%)%(; %t%)", NAME_COLUMNS,
			   run->run, run->words, run->owner,
			   rg_clock_read_rfc3339(run->dispatched_at, &at_ms) ? at_ms : 0, run->why);
		add_row(top, RUNS, run->run, run,
			cli_look(rg_run_status_tones, run->status, CLI_PLAIN));
	}
}

/* Add a row for a message, with the beginning of its first line. */
static void add_message(struct top *top, const struct roger_message *message)
{
	struct roger_str head = { message->content.data, 0 };
	char when[CLI_TIME_BYTES];

	while (head.length < message->content.length && head.length < HEAD_BYTES &&
	       !strchr("\r\n", head.data[head.length]))
		head.length++;
	cli_say_to(top->line.to, " %-11s %s%t #%d -> %t  %t%s",
		   cli_when(message->created_at_ms, when), message->read ? " " : "*", message->from,
		   message->seq, message->to, head,
		   head.length < message->content.length ? " …" : "");
	add_row(top, MESSAGES, message->id, message, message->read ? CLI_PLAIN : CLI_BOLD);
}

static void forget_replies(struct top *top)
{
	size_t i;

	for (i = 0; i < MAIL_MAX; i++)
		roger_reply_free(&top->mail[i]);
	roger_reply_free(&top->status);
	roger_reply_free(&top->agents);
	roger_reply_free(&top->runs);
	roger_reply_free(&top->newest);
	roger_reply_free(&top->held);
	memset(top->mail, 0, sizeof top->mail);
	memset(&top->held, 0, sizeof top->held);
	memset(top->counts, 0, sizeof top->counts);
	rg_arena_reset(top->arena);
	top->rows = NULL;
	top->row_count = 0;
}

static void ask_all(struct top *top)
{
	const struct roger_list_request newest = { .text = rg_str(top->filter),
						   .newest = true,
						   .limit = NEWEST_MAX };
	const struct roger_empty_request none = { 0 };
	const struct roger_agents_request all = { 0 };
	const struct roger_runs_request runs = { 0 };
	const struct roger_agent_list *agents = &top->agents.agents;
	struct roger *roger = top->run->roger;
	struct roger_err err;
	size_t i;

	forget_replies(top);
	tell_notice(top, roger_status(roger, &none, &top->status, &err) < 0, err.message);
	tell_notice(top, roger_agents(roger, &all, &top->agents, &err) < 0, err.message);
	tell_notice(top, roger_runs(roger, &runs, &top->runs, &err) < 0, err.message);
	tell_notice(top, roger_list(roger, &newest, &top->newest, &err) < 0, err.message);
	add_concerns(top);
	if (agents->count)
		qsort((void *)(uintptr_t)agents->items, agents->count, sizeof *agents->items,
		      compare_agents);
	for (i = 0; i < agents->count; i++)
		add_agent(top, &agents->items[i], i);
	add_claims(top);
	add_runs(top);
	for (i = 0; i < top->newest.messages.count; i++)
		add_message(top, &top->newest.messages.items[i]);
}

/* Find the chosen row; NULL: it is gone. */
static const struct row *find_row(const struct top *top)
{
	const struct row *row = top->rows;

	for (; row < top->rows + top->row_count; row++)
		if (row->number && row->section == top->section && rg_str_is(row->id, top->id))
			return row;
	return NULL;
}

/* Choose the row that many rows on, within bounds, and no title; or scroll what is open. */
static void move_cursor(struct top *top, int64_t step)
{
	const struct row *row = find_row(top);
	const struct roger_message *message;
	const int64_t last = (int64_t)top->row_count - 1;
	int64_t at = (row ? row - top->rows : 0) + step;

	top->scroll += top->open ? step : 0;
	if (top->open || top->prompt || last < 0)
		return;
	at = at < 0 ? 0 : at > last ? last : at;
	if (!top->rows[at].number)
		at += step < 0 && at ? -1 : 1;
	if (at > last)
		return;
	row = &top->rows[at];
	message = row->section == MESSAGES || row->section == CLAIMS ? row->item : NULL;
	top->section = row->section;
	snprintf(top->id, sizeof top->id, "%.*s", RG_STR_ARGS(row->id));
	snprintf(top->from, sizeof top->from, "%.*s",
		 RG_STR_ARGS(message ? message->from : RG_STR("")));
}

/* --------------------------------------------------------------- drawing -- */

static const char keys_text[] =
	"j k, arrows     go down and up\n"
	"PgDn PgUp       a page\n"
	"Home End        to the first, to the last\n"
	"Enter           open it, or the rest of a list; nothing is marked as looked at or read\n"
	"r               reply to the message, as the name at the top; Esc drops it\n"
	"e               acknowledge the message, which must be to that name\n"
	"/               only messages with this text; empty: all\n"
	"q, Esc          back, and out\n\n"
	"`roger top --as NAME` acts as NAME; so does ROGER_AGENT; else it is human.\n"
	"*, bold         not read yet\n";

/* Print what the row's command prints for people. */
static void print_page(const struct top *top, const struct row *row)
{
	const struct roger_concern *concern = row->item;
	const struct roger_agent *agent = row->item;
	struct roger_why_reply why = { 0 };
	struct roger_runs_request request = { .run = row->id };
	struct roger_runs_reply runs = { .runs = { row->item, 1 } };
	struct roger_messages_reply mail = { .messages = { row->item, 1 } };
	struct cli_run run = *top->run;
	const char *command = "show";

	run.reply = &mail;
	if (row->section == ATTENTION) {
		command = "why";
		why = (struct roger_why_reply){ .words = concern->words, .next = concern->next };
		run.reply = &why;
	} else if (row->section == RUNS) {
		command = "runs";
		run.request = &request;
		run.reply = &runs;
	} else if (row->section == AGENTS) {
		cli_say("%t: %d unread, the oldest first\n\n", row->id, agent->unread);
		mail = top->mail[row->number <= MAIL_MAX ? row->number - 1 : MAIL_MAX];
	}
	cli_find_command(rg_str(command))->print(&run);
}

/* Print a line, cut to the screen and harmless; bar: inverse, with blanks to its end. */
static void put_line(FILE *to, enum cli_style style, bool bar, struct roger_str text)
{
	const size_t width = cli_screen_width(), columns = cli_columns(text);

	fprintf(to, "%s%s", bar ? "\033[7m" : "", style ? cli_style(style) : "");
	cli_print_cut(to, text, width);
	fprintf(to, "%*s\n", bar && columns < width ? (int)(width - columns) : 0, "");
}

/* Print the rows that fit, scrolled so that the chosen one is among them. */
static void put_rows(struct top *top, FILE *to, size_t room)
{
	const struct row *chosen = find_row(top), *row;
	const size_t at = chosen ? (size_t)(chosen - top->rows) : 0;

	if (top->first >= at)
		top->first = at ? at - 1 : 0;
	if (at >= top->first + room)
		top->first = at - room + 1;
	for (row = top->rows + top->first; room; room--, row++)
		if (row < top->rows + top->row_count)
			put_line(to, row->style, row == chosen, row->text);
		else
			fputc('\n', to);
}

/* Print what is open, as it is now; what is gone stays as it was last seen. */
static void put_page(struct top *top, FILE *to, int64_t room)
{
	const struct row *row = find_row(top);
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };
	FILE *out = cli_out;
	int64_t line;
	size_t i;
	char c;

	if ((row || top->open == KEYS) && cli_page_begin(&page)) {
		cli_out = page.to;
		if (top->open == KEYS)
			fputs(keys_text, cli_out);
		else
			print_page(top, row);
		cli_out = out;
		rg_buf_clear(&top->text);
		if (cli_page_end(&page))
			cli_screen_fold(&top->text, (struct roger_str){ page.text, page.length },
					cli_screen_width());
	}
	line = rg_str_line(rg_buf_str(&top->text), top->text.length) - 1;
	top->scroll = top->scroll > line - room ? line - room : top->scroll;
	top->scroll = top->scroll < 0 ? 0 : top->scroll;
	for (i = 0, line = -top->scroll; line < room; line += c == '\n') {
		c = i < top->text.length ? top->text.data[i++] : '\n';
		if (line >= 0)
			fputc(c, to);
	}
}

/* Print the last line; returns the column of the cursor where something is typed, else 0. */
static size_t put_foot(struct top *top, FILE *to)
{
	const char *typed = top->typed,
		   *keys = top->open
				   ? "j k scroll  r reply  e ack  q back"
				   : "j k go  Enter open  r reply  e ack  / filter  ? keys  q quit";
	struct roger_str line;

	while (cli_columns(rg_str(typed)) > cli_screen_width() / 2)
		for (typed++; (*typed & 0xc0) == 0x80; typed++)
			;
	if (top->prompt)
		fprintf(top->line.to,
			top->prompt == REPLY ? "reply to %s: %s" : "only messages with%.0s: %s",
			top->from, typed);
	else
		fputs(*top->notice ? top->notice : keys, top->line.to);
	line = take_line(top);
	put_line(to, top->prompt ? CLI_PLAIN : *top->notice ? CLI_YELLOW : CLI_DIM, false, line);
	return top->prompt ? cli_columns(line) + 1 : 0;
}

static void draw_screen(struct top *top)
{
	const size_t room = cli_screen_height() > 3 ? cli_screen_height() - 2 : 1;
	const int64_t count = (int64_t)top->status.concerns.count;
	RG_CLEANUP(cli_page_free) struct cli_page frame = { 0 };
	FILE *line = top->line.to;
	size_t cursor;

	if (!cli_page_begin(&frame))
		return;
	cli_say_to(line, count ? " roger top  %d to look at" : " roger top  all quiet", count);
	cli_say_to(line, "  %d agent%p  %d unread  %d run%p  as %t%(  only '%s'%)",
		   top->status.agents, top->status.unread, top->status.active_runs, top->self,
		   top->filter);
	put_line(frame.to, CLI_BOLD, true, take_line(top));
	move_cursor(top, 0);
	if (top->open)
		put_page(top, frame.to, (int64_t)room);
	else
		put_rows(top, frame.to, room);
	cursor = put_foot(top, frame.to);
	if (cli_page_end(&frame))
		cli_screen_draw((struct roger_str){ frame.text, frame.length }, cursor);
}

static void reply_typed(struct top *top)
{
	const struct roger_send_request request = { .from = top->self,
						    .content = rg_str(top->typed),
						    .reply_to = rg_str(top->id) };
	RG_CLEANUP(roger_reply_free) struct roger_send_reply sent = { 0 };
	struct roger_err err;

	tell_notice(top, !*top->typed, "nothing was typed, so nothing was sent");
	if (*top->typed)
		tell_notice(top, roger_reply(top->run->roger, &request, &sent, &err) < 0,
			    err.message);
	if (!*top->notice)
		snprintf(top->notice, sizeof top->notice, "sent #%lld to %s", (long long)sent.seq,
			 top->from);
}

static void ack_message(struct top *top)
{
	struct roger_str id = rg_str(top->id);
	const struct roger_ack_request request = { .agent = top->self, .ids = { &id, 1 } };
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply done = { 0 };
	struct roger_err err;

	tell_notice(top, roger_ack(top->run->roger, &request, &done, &err) < 0, err.message);
	tell_notice(top, true, "acknowledged");
	top->due = true;
}

static void type_key(struct top *top, uint32_t key)
{
	size_t length = strlen(top->typed);

	if (key == CLI_KEY_ENTER && top->prompt == REPLY)
		reply_typed(top);
	else if (key == CLI_KEY_ENTER)
		snprintf(top->filter, sizeof top->filter, "%.120s", top->typed);
	if (key == CLI_KEY_ENTER || key == CLI_KEY_ESCAPE) {
		top->prompt = NO_PROMPT;
		top->due = true;
	} else {
		if (key < CLI_KEY_UP && key >= ' ' && length + 5 < sizeof top->typed)
			length += rg_char_put(top->typed + length, key);
		while (key == CLI_KEY_BACKSPACE && length && (top->typed[--length] & 0xc0) == 0x80)
			;
		top->typed[length] = '\0';
	}
}

static void press_key(struct top *top, uint32_t key)
{
	const int64_t screen = cli_screen_height() > 4 ? (int64_t)cli_screen_height() - 3 : 1;
	const bool is_message = *top->from && top->open != KEYS;
	const struct row *row = find_row(top);

	*top->notice = '\0';
	if (top->prompt)
		type_key(top, key);
	else if (key == 'j' || key == CLI_KEY_DOWN)
		move_cursor(top, 1);
	else if (key == 'k' || key == CLI_KEY_UP)
		move_cursor(top, -1);
	else if (key == CLI_KEY_PAGE_DOWN || key == CLI_KEY_PAGE_UP)
		move_cursor(top, key == CLI_KEY_PAGE_DOWN ? screen : -screen);
	else if (key == CLI_KEY_HOME || key == CLI_KEY_END)
		move_cursor(top, key == CLI_KEY_END ? INT32_MAX : -INT32_MAX);
	else if (key == '?')
		top->open = KEYS;
	else if (key == CLI_KEY_ENTER && !top->open && row && row->item)
		top->open = ROW;
	else if (key == CLI_KEY_ENTER && !top->open)
		top->whole[top->section] = top->due = true;
	else if (key == '/' || (key == 'r' && is_message))
		*top->typed = '\0', top->prompt = key == 'r' ? REPLY : FILTER;
	else if (key == 'e' && is_message)
		ack_message(top);
	else if (key == 'r' || key == 'e')
		tell_notice(top, true, "choose a message first");
	else if (key == 'q' || key == CLI_KEY_ESCAPE) {
		top->over = !top->open && key == 'q';
		top->open = NOTHING;
	}
	if (!top->open) {
		top->scroll = 0;
		rg_buf_clear(&top->text);
	}
}

/* Wait for a key, for what is stored, and for what time brings. */
static void watch_screen(struct top *top)
{
	struct pollfd keyboard = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t began_ns, cost_ns, next_ns = 0, again_ns = 0;
	uint32_t mark = 0, key;

	for (top->due = true; !top->over && !cli_stopped();) {
		cli_screen_enter();
		began_ns = rg_clock_monotonic_ns();
		if (cli_screen_measure() || (top->due && began_ns >= next_ns) ||
		    began_ns >= again_ns) {
			top->due = false;
			ask_all(top);
			cost_ns = rg_clock_monotonic_ns() - began_ns;
			next_ns = began_ns + (1 + REST) * cost_ns;
			again_ns = began_ns + REST_LONG * cost_ns + (int64_t)AGAIN_MS * 1000000;
		}
		draw_screen(top);
		poll(&keyboard, 1, WAIT_MS);
		/* The terminal is gone. */
		top->over |= (keyboard.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
		top->due |= roger_watch(top->run->roger, &mark, 1);
		while (!top->over && (key = cli_screen_key()))
			press_key(top, key);
	}
	cli_screen_leave();
}

static int run_top(struct cli_run *run, struct roger_err *err)
{
	static struct top top = { .text = { .maximum = SIZE_MAX } };
	const struct rg_top_request *request = run->request;
	const char *term = getenv("TERM");
	int r;

	if (run->form != CLI_HUMAN || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term ||
	    !*term || strcmp(term, "dumb") == 0)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "top needs a terminal; without one use `roger status`, or `roger "
			       "list -f --jsonl`");
	run->quiet = true;
	top.run = run;
	top.self = request->agent.length ? request->agent : RG_STR("human");
	r = cli_open(run->workspace, &run->roger, err);
	if (r < 0)
		return r;
	roger_on_progress(run->roger, cli_progress, NULL);
	top.arena = rg_arena_new();
	if (!top.arena || !cli_page_begin(&top.line))
		return rg_fail_memory(err);
	ask_all(&top);
	cli_progress_end();
	cli_stop_catch(run);
	watch_screen(&top);
	forget_replies(&top);
	(void)cli_page_end(&top.line);
	cli_page_free(&top.line);
	rg_buf_deinit(&top.text);
	top.arena = rg_arena_free(top.arena);
	return ROGER_OK;
}

CLI_COMMAND(top, "top", .own = &rg_op_top, .run = run_top);
