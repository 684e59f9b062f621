/*
 * top: what status, agents, runs and list say, on one screen, as it changes.
 *
 * It only looks, by verbs that leave no note, so that nothing counts as looked at or read because
 * a person watched.  Only a key writes: a reply, and an acknowledgement of the person's own mail.
 * What is opened is what the command of it prints.
 */
#include <poll.h>
#include <signal.h>
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
	UNREAD_MAX = 20,  /* of these, messages */
	NEWEST_MAX = 300, /* messages */
	WAIT_MS = 250,	  /* for a key; other programs wake nobody who waits for keys */
	AGAIN_MS = 5000,  /* time alone brings something, too */
	REST = 4,	  /* looking takes at most a fifth of the time, */
	REST_LONG = 50,	  /* and a fiftieth while nothing is stored */
	HEAD_BYTES = 400, /* of a text in a row */
	NAME_COLUMNS = 16,
	FAR = 1000000
};

static const char *const titles[] = { "NEEDS ATTENTION", "AGENTS", "CLAIMS", "RUNS",
				      "LAST MESSAGES" };

enum section { ATTENTION, AGENTS, CLAIMS, RUNS, MESSAGES, SECTIONS, KEYS = SECTIONS };

/* A line of the overview. */
struct row {
	enum section section;
	size_t number; /* in its section, from 1; 0: its title */
	const void
		*item; /* a concern, an agent, a run or a message; NULL: those that are left out */
	struct roger_str id, text;
	enum cli_style style;
};

/* What is meant, by name, so that it stays chosen while rows come and go. */
struct choice {
	enum section section;
	char id[512], from[160]; /* from: of a message */
};

struct top {
	struct cli_run *run;
	struct roger_str self;
	/* What there is: replies, and rows that point into them. */
	struct rg_arena *arena;
	struct roger_status_reply status;
	struct roger_agents_reply agents;
	struct roger_runs_reply runs;
	struct roger_messages_reply newest, mail[MAIL_MAX]; /* of an agent, the oldest unread */
	struct row *rows;
	size_t row_count;
	struct cli_page line;	    /* the text of the next row */
	bool whole[SECTIONS];	    /* shown to its end */
	size_t first;		    /* of what is shown, the row at the top */
	struct choice choice, page; /* page: what is open */
	bool open, over, due;
	struct rg_buf text; /* of the page */
	int64_t scroll;
	enum { NO_PROMPT, REPLY, FILTER } prompt;
	char typed[8192], filter[128], notice[512];
};

/* ------------------------------------------------------------------ look -- */

static void tell(struct top *top, const char *text)
{
	if (!*top->notice)
		snprintf(top->notice, sizeof top->notice, "%s", text);
}

static void heed(struct top *top, int r, const struct roger_err *err)
{
	if (r < 0)
		tell(top, err->message);
}

/* Add a row of the line that was said, after a title where it is the first of its section.  Of a
 * section that nobody opened there are few, but for messages. */
static void add(struct top *top, enum section section, size_t number, struct roger_str id,
		const void *item, enum cli_style style)
{
	const size_t height = cli_screen_height(), few = height < 24 ? 3 : height / 6;
	const bool cut = section != MESSAGES && !top->whole[section] && number > few;
	struct row *row;
	struct roger_str text;

	if (!item && !cut)
		return;
	if (!item)
		cli_say_to(top->line.to, " and %d more", (int64_t)(number - few));
	fflush(top->line.to);
	text = (struct roger_str){ top->line.text, (size_t)ftell(top->line.to) };
	rewind(top->line.to);
	if ((item && cut) || !rg_arena_copy(top->arena, text, &text))
		return;
	if (!top->row_count || top->rows[top->row_count - 1].section != section) {
		row = rg_arena_push(top->arena, &top->rows, &top->row_count, sizeof *row);
		if (row)
			*row = (struct row){ .section = section,
					     .style = CLI_DIM,
					     .text = rg_str(titles[section]) };
	}
	row = rg_arena_push(top->arena, &top->rows, &top->row_count, sizeof *row);
	if (row)
		*row = (struct row){ section, number, item, id, text, style };
}

static void add_concerns(struct top *top)
{
	static const enum cli_style styles[] = {
		[ROGER_URGENT] = CLI_RED, [ROGER_SOON] = CLI_YELLOW, [ROGER_NOTICE] = CLI_PLAIN
	};
	const struct roger_concern_list *all = &top->status.concerns;
	size_t i;

	for (i = 0; i < all->count; i++) {
		cli_say_to(top->line.to, " %t  %t", all->items[i].words, all->items[i].next);
		add(top, ATTENTION, i + 1, all->items[i].words, &all->items[i],
		    styles[all->items[i].urgency]);
	}
	add(top, ATTENTION, all->count, RG_STR("more"), NULL, CLI_DIM);
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
	FILE *to = top->line.to;
	struct roger_err err;

	cli_say_to(to, " %*t %5d unread", NAME_COLUMNS, agent->name, agent->unread);
	if (agent->unread && which < MAIL_MAX)
		heed(top, roger_list(top->run->roger, &request, &top->mail[which], &err), &err);
	if (which < MAIL_MAX && top->mail[which].messages.count)
		cli_say_to(to, ", from %t %w", top->mail[which].messages.items[0].from,
			   top->mail[which].messages.items[0].created_at_ms);
	if (agent->unread)
		cli_say_to(to, agent->last_looked_at_ms ? "; looked %w" : "; never looked",
			   agent->last_looked_at_ms);
	cli_say_to(to, agent->retired ? "; retired" : "");
	add(top, AGENTS, which + 1, agent->name, agent, agent->unread ? CLI_YELLOW : CLI_PLAIN);
}

/* Claims take the oldest first, so those of an agent are among its oldest unread messages. */
static void add_claims(struct top *top)
{
	const struct roger_message *message;
	size_t i, j, count = 0;

	for (i = 0; i < MAIL_MAX; i++)
		for (j = 0; j < top->mail[i].messages.count; j++) {
			message = &top->mail[i].messages.items[j];
			if (message->claimed_until_ms <= rg_clock_ms())
				continue;
			cli_say_to(top->line.to, " %*t holds #%d of %t for %t, until %w",
				   NAME_COLUMNS, message->claimed_by, message->seq, message->from,
				   message->to, message->claimed_until_ms);
			add(top, CLAIMS, ++count, message->id, message, CLI_CYAN);
		}
	add(top, CLAIMS, count, RG_STR("more"), NULL, CLI_DIM);
}

static void add_runs(struct top *top)
{
	const struct roger_run_list *all = &top->runs.runs;
	const struct roger_run *run;
	size_t i, count = 0;
	int64_t at_ms;

	for (i = all->count; i > 0; i--) {
		run = &all->items[i - 1];
		if (run->status == ROGER_RUN_COMPLETED || run->status == ROGER_RUN_RECOVERED ||
		    run->settled_at.length)
			continue;
		cli_say_to(top->line.to, " %*t %t for %t", NAME_COLUMNS, run->run, run->words,
			   run->owner);
		if (rg_clock_read_rfc3339(run->dispatched_at, &at_ms))
			cli_say_to(top->line.to, ", begun %w", at_ms);
		cli_say_to(top->line.to, run->why.length ? "; %t" : "", run->why);
		add(top, RUNS, ++count, run->run, run,
		    run->status == ROGER_RUN_ACTIVE    ? CLI_CYAN
		    : run->status == ROGER_RUN_BLOCKED ? CLI_RED
						       : CLI_YELLOW);
	}
	add(top, RUNS, count, RG_STR("more"), NULL, CLI_DIM);
}

/* The beginning of the text, with blanks for its line ends. */
static void add_message(struct top *top, const struct roger_message *message)
{
	char head[HEAD_BYTES], when[CLI_TIME_BYTES];
	struct roger_str text = message->content;
	FILE *to = top->line.to;
	size_t i;

	text.length = text.length < sizeof head ? text.length : sizeof head;
	for (i = 0; i < text.length; i++)
		head[i] = strchr("\r\n\t", text.data[i]) ? ' ' : text.data[i];
	cli_say_to(to, " %-11s %s%t #%d -> %t  ", cli_when(message->created_at_ms, when),
		   message->read ? " " : "*", message->from, message->seq, message->to);
	cli_print_text(to, (struct roger_str){ head, text.length }, false);
	add(top, MESSAGES, 1, message->id, message, message->read ? CLI_PLAIN : CLI_BOLD);
}

static void add_all(struct top *top)
{
	const struct roger_agent_list *agents = &top->agents.agents;
	const struct roger_message_list *all = &top->newest.messages;
	size_t i;

	add_concerns(top);
	if (agents->count)
		qsort((void *)(uintptr_t)agents->items, agents->count, sizeof *agents->items,
		      compare_agents);
	for (i = 0; i < agents->count; i++)
		add_agent(top, &agents->items[i], i);
	add(top, AGENTS, agents->count, RG_STR("more"), NULL, CLI_DIM);
	add_claims(top);
	add_runs(top);
	for (i = 0; i < all->count; i++)
		add_message(top, &all->items[i]);
}

static void forget(struct top *top)
{
	size_t i;

	for (i = 0; i < MAIL_MAX; i++)
		roger_reply_free(&top->mail[i]);
	roger_reply_free(&top->status);
	roger_reply_free(&top->agents);
	roger_reply_free(&top->runs);
	roger_reply_free(&top->newest);
	memset(top->mail, 0, sizeof top->mail);
	rg_arena_reset(top->arena);
	top->rows = NULL;
	top->row_count = 0;
}

static void look(struct top *top)
{
	const struct roger_list_request newest = { .text = rg_str(top->filter),
						   .newest = true,
						   .limit = NEWEST_MAX };
	const struct roger_empty_request none = { 0 };
	const struct roger_agents_request all = { 0 };
	const struct roger_runs_request runs = { .status = 0 };
	struct roger *roger = top->run->roger;
	struct roger_err err;

	forget(top);
	heed(top, roger_status(roger, &none, &top->status, &err), &err);
	heed(top, roger_agents(roger, &all, &top->agents, &err), &err);
	heed(top, roger_runs(roger, &runs, &top->runs, &err), &err);
	heed(top, roger_list(roger, &newest, &top->newest, &err), &err);
	if (!cli_page_begin(&top->line))
		return;
	add_all(top);
	(void)cli_page_end(&top->line);
	free(top->line.text);
}

/* ---------------------------------------------------------------- choice -- */

/* Its row; NULL: it is gone. */
static const struct row *find(const struct top *top, const struct choice *choice)
{
	const struct row *row = top->rows;
	size_t i;

	for (i = 0; i < top->row_count; i++, row++)
		if (row->number && row->section == choice->section &&
		    rg_str_is(row->id, choice->id))
			return row;
	return NULL;
}

/* Choose the row that many rows on, as far as there are some; a title is passed by. */
static void go(struct top *top, int64_t step)
{
	const struct row *row = find(top, &top->choice);
	const int64_t last = (int64_t)top->row_count - 1;
	int64_t at = (row ? row - top->rows : 0) + step;

	if (top->open)
		top->scroll += step;
	if (top->open || last < 0)
		return;
	at = at < 0 ? 0 : at > last ? last : at;
	if (!top->rows[at].number)
		at += step < 0 && at ? -1 : 1;
	if (at > last)
		return;
	row = &top->rows[at];
	top->choice.section = row->section;
	snprintf(top->choice.id, sizeof top->choice.id, "%.*s", RG_STR_ARGS(row->id));
	if (row->section == MESSAGES || row->section == CLAIMS)
		snprintf(top->choice.from, sizeof top->choice.from, "%.*s",
			 RG_STR_ARGS(((const struct roger_message *)row->item)->from));
}

/* ------------------------------------------------------------------ page -- */

static const char keys_text[] =
	"j k, arrows     go down and up\n"
	"PgDn PgUp       a page\n"
	"Home End        to the first, to the last\n"
	"Enter           open the message, agent, run or trouble, or the rest of a list; watching "
	"marks nothing as looked at or read\n"
	"r               reply to the message, as the name at the top; Enter sends it, Esc drops "
	"it\n"
	"e               acknowledge the message, which must be to that name\n"
	"/               only messages with this text; empty: all\n"
	"q, Esc          back, and out\n"
	"\n"
	"`roger top --as NAME` acts as NAME; so does ROGER_AGENT; else it is human.\n"
	"*, bold         not read yet\n";

/* What the command prints for people. */
static void print_as(const struct top *top, const char *command, void *request, const void *reply)
{
	struct cli_run run = *top->run;

	run.request = request;
	run.reply = reply;
	cli_find_command(rg_str(command))->print(&run);
}

static void print_page(const struct top *top, const struct row *row)
{
	const struct roger_concern *concern = row->item;
	const struct roger_agent *agent = row->item;
	struct roger_runs_request request = { .run = row->id };
	struct roger_runs_reply run = { .runs = { row->item, 1 } };
	struct roger_messages_reply mail = { .messages = { row->item, 1 } };

	if (row->section == ATTENTION) {
		print_as(top, "why", NULL,
			 &(struct roger_why_reply){ .words = concern->words,
						    .next = concern->next });
		return;
	}
	if (row->section == RUNS) {
		print_as(top, "runs", &request, &run);
		return;
	}
	if (row->section == AGENTS) {
		cli_say("%t: %d unread, the oldest first\n\n", row->id, agent->unread);
		mail.messages.count = 0;
		if (row->number <= MAIL_MAX)
			mail.messages = top->mail[row->number - 1].messages;
	}
	print_as(top, "show", NULL, &mail);
}

/* What is opened, as it is now; what is gone stays as it was seen last. */
static void fill_page(struct top *top)
{
	const struct row *row = find(top, &top->page);
	FILE *out = cli_out;
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };
	size_t length;
	char *rest;

	if ((!row && top->page.section != KEYS) || !cli_page_begin(&page))
		return;
	cli_out = page.to;
	if (row)
		print_page(top, row);
	else
		fputs(keys_text, cli_out);
	cli_out = out;
	rg_buf_clear(&top->text);
	rest = cli_page_end(&page) ? page.text : NULL;
	for (; rest && *rest; rest += length + (rest[length] != '\0')) {
		length = strcspn(rest, "\n");
		cli_screen_fold(&top->text, (struct roger_str){ rest, length }, cli_screen_width());
		rg_buf_add_char(&top->text, '\n');
	}
}

/* --------------------------------------------------------------- drawing -- */

/* A line that fits, harmless, with blanks to its end where a bar is to be seen. */
static void put(struct rg_buf *frame, enum cli_style style, bool bar, struct roger_str text)
{
	const size_t width = cli_screen_width();
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };

	if (!cli_page_begin(&page))
		return;
	fprintf(page.to, "%s%s", bar ? "\033[7m" : "", style ? cli_style(style) : "");
	cli_print_cut(page.to, text, width);
	fprintf(page.to, "%*s\n",
		bar && cli_columns(text) < width ? (int)(width - cli_columns(text)) : 0, "");
	if (cli_page_end(&page))
		rg_buf_add(frame, page.text, page.length);
}

/* The rows that fit, so far that the one that is chosen is among them, and the first title. */
static void put_rows(struct top *top, struct rg_buf *frame, size_t room)
{
	const struct row *chosen = find(top, &top->choice);
	const size_t at = chosen ? (size_t)(chosen - top->rows) : 0;
	size_t i;

	if (top->first >= at)
		top->first = at ? at - 1 : 0;
	if (at >= top->first + room)
		top->first = at - room + 1;
	for (i = top->first; i < top->first + room; i++) {
		if (i < top->row_count)
			put(frame, top->rows[i].style, &top->rows[i] == chosen, top->rows[i].text);
		else
			rg_buf_add_char(frame, '\n');
	}
}

static void put_page(struct top *top, struct rg_buf *frame, int64_t room)
{
	const struct roger_str text = rg_buf_str(&top->text);
	int64_t count = 0, line = 0;
	size_t i;

	for (i = 0; i < text.length; i++)
		count += text.data[i] == '\n';
	top->scroll = top->scroll > count - room ? count - room : top->scroll;
	top->scroll = top->scroll < 0 ? 0 : top->scroll;
	for (i = 0; i < text.length; line += text.data[i++] == '\n')
		if (line >= top->scroll && line < top->scroll + room)
			rg_buf_add_char(frame, text.data[i]);
	for (line = count; line < room; line++)
		rg_buf_add_char(frame, '\n');
}

/* What is typed ends where it does not fit; returns the column of the cursor, 0: none. */
static size_t put_foot(const struct top *top, struct rg_buf *frame)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const char *typed = top->typed;

	if (!top->prompt) {
		put(frame, *top->notice ? CLI_YELLOW : CLI_DIM, false,
		    rg_str(*top->notice ? top->notice
			   : top->open	? "j k scroll  r reply  e ack  q back"
					: "j k go  Enter open  r reply  e ack  / filter  ? keys  q "
					  "quit"));
		return 0;
	}
	while (cli_columns(rg_str(typed)) > cli_screen_width() / 2)
		for (typed++; (*typed & 0xc0) == 0x80; typed++)
			;
	rg_buf_add_text(&text, top->prompt == REPLY ? "reply to " : "only messages with");
	rg_buf_printf(&text, "%s: %s", top->prompt == REPLY ? top->page.from : "", typed);
	put(frame, CLI_PLAIN, false, rg_buf_str(&text));
	return cli_columns(rg_buf_str(&text)) + 1;
}

static void draw(struct top *top)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf frame = { .maximum = SIZE_MAX };
	const size_t room = cli_screen_height() > 3 ? cli_screen_height() - 2 : 1;
	const int64_t concerns = (int64_t)top->status.concerns.count;
	RG_CLEANUP(cli_page_free) struct cli_page head = { 0 };
	size_t cursor;

	if (!cli_page_begin(&head))
		return;
	cli_say_to(head.to, concerns ? " roger top  %d to look at" : " roger top  all quiet",
		   concerns);
	cli_say_to(head.to, "  %d agent%p  %d unread  %d run%p  as %t", top->status.agents,
		   top->status.unread, top->status.active_runs, top->self);
	cli_say_to(head.to, *top->filter ? "  only '%s'" : "", top->filter);
	if (cli_page_end(&head))
		put(&frame, CLI_BOLD, true, (struct roger_str){ head.text, head.length });
	go(top, 0);
	if (top->open)
		put_page(top, &frame, (int64_t)room);
	else
		put_rows(top, &frame, room);
	cursor = put_foot(top, &frame);
	cli_screen_draw(rg_buf_str(&frame), cursor);
}

/* ---------------------------------------------------------------- acting -- */

/* The message that is meant, and what is wrong where there is none. */
static bool find_message(struct top *top)
{
	if (!top->open)
		top->page = top->choice;
	if (top->page.section == MESSAGES || top->page.section == CLAIMS)
		return true;
	tell(top, "choose a message first");
	return false;
}

static void reply(struct top *top)
{
	const struct roger_send_request request = { .from = top->self,
						    .content = rg_str(top->typed),
						    .reply_to = rg_str(top->page.id) };
	RG_CLEANUP(roger_reply_free) struct roger_send_reply sent = { 0 };
	struct roger_err err;

	if (!*top->typed)
		tell(top, "nothing was typed, so nothing was sent");
	else
		heed(top, roger_reply(top->run->roger, &request, &sent, &err), &err);
	if (!*top->notice)
		snprintf(top->notice, sizeof top->notice, "sent #%lld to %s", (long long)sent.seq,
			 top->page.from);
}

static void acknowledge(struct top *top)
{
	const struct roger_str id = rg_str(top->page.id);
	const struct roger_ack_request request = { .agent = top->self,
						   .ids = { (void *)(uintptr_t)&id, 1 } };
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply done = { 0 };
	struct roger_err err;

	heed(top, roger_ack(top->run->roger, &request, &done, &err), &err);
	tell(top, "acknowledged");
}

/* ------------------------------------------------------------------ keys -- */

static void type(struct top *top, uint32_t key)
{
	size_t length = strlen(top->typed);

	if (key == CLI_KEY_ENTER && top->prompt == REPLY)
		reply(top);
	else if (key == CLI_KEY_ENTER)
		snprintf(top->filter, sizeof top->filter, "%.120s", top->typed);
	if (key == CLI_KEY_ENTER || key == CLI_KEY_ESCAPE) {
		top->prompt = NO_PROMPT;
		top->due = true;
	} else if (key == CLI_KEY_BACKSPACE) {
		while (length && (top->typed[--length] & 0xc0) == 0x80)
			;
		top->typed[length] = '\0';
	} else if (key < CLI_KEY_UP && key >= ' ' && length + 5 < sizeof top->typed) {
		length += rg_char_put(top->typed + length, key);
		top->typed[length] = '\0';
	}
}

static void open_page(struct top *top, enum section section)
{
	const struct row *row = find(top, &top->choice);

	if (section != KEYS && !(row && row->item)) {
		top->whole[section] = top->due = true;
		return;
	}
	top->page = top->choice;
	top->page.section = section;
	top->open = true;
	top->scroll = 0;
	fill_page(top);
}

static void press(struct top *top, uint32_t key)
{
	const int64_t screen = cli_screen_height() > 4 ? (int64_t)cli_screen_height() - 3 : 1;

	*top->notice = '\0';
	if (top->prompt)
		type(top, key);
	else if (key == 'j' || key == CLI_KEY_DOWN)
		go(top, 1);
	else if (key == 'k' || key == CLI_KEY_UP)
		go(top, -1);
	else if (key == CLI_KEY_PAGE_DOWN || key == CLI_KEY_PAGE_UP)
		go(top, key == CLI_KEY_PAGE_DOWN ? screen : -screen);
	else if (key == CLI_KEY_HOME || key == CLI_KEY_END)
		go(top, key == CLI_KEY_END ? FAR : -FAR);
	else if (key == '?')
		open_page(top, KEYS);
	else if (key == CLI_KEY_ENTER && !top->open)
		open_page(top, top->choice.section);
	else if (key == '/')
		*top->typed = '\0', top->prompt = FILTER;
	else if (key == 'r' && find_message(top))
		*top->typed = '\0', top->prompt = REPLY;
	else if (key == 'e' && find_message(top)) {
		acknowledge(top);
		top->due = true;
	} else if (key == 'q' || key == CLI_KEY_ESCAPE) {
		top->over = !top->open && key == 'q';
		top->open = false;
	}
}

/* ------------------------------------------------------------------ loop -- */

static volatile sig_atomic_t resized = 1;

static void on_resize(int number)
{
	(void)number;
	resized = 1;
}

/* Wait for a key, for what is stored, and for what time brings. */
static void watch(struct top *top)
{
	struct pollfd keyboard = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t began_ns, cost_ns, next_ns = 0, again_ns = 0;
	uint32_t mark = 0, key;

	for (top->due = true; !top->over && !cli_stopped();) {
		cli_screen_enter();
		if (resized) {
			resized = 0;
			cli_screen_measure();
			again_ns = 0;
		}
		began_ns = rg_clock_monotonic_ns();
		if ((top->due && began_ns >= next_ns) || began_ns >= again_ns) {
			top->due = false;
			look(top);
			cost_ns = rg_clock_monotonic_ns() - began_ns;
			next_ns = began_ns + (1 + REST) * cost_ns;
			again_ns = began_ns + REST_LONG * cost_ns + (int64_t)AGAIN_MS * 1000000;
		}
		if (top->open)
			fill_page(top);
		draw(top);
		poll(&keyboard, 1, WAIT_MS);
		/* The terminal is gone. */
		top->over |= (keyboard.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
		top->due |= roger_watch(top->run->roger, &mark, 1);
		while (!top->over && (key = cli_screen_key()))
			press(top, key);
	}
	cli_screen_leave();
}

static int run_top(struct cli_run *run, int *ret_exit, struct roger_err *err)
{
	static struct top top = { .text = { .maximum = SIZE_MAX } };
	const struct rg_top_request *request = run->request;
	const char *term = getenv("TERM");
	int r;

	*ret_exit = CLI_DONE;
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
	if (!top.arena)
		return rg_fail_memory(err);
	look(&top);
	cli_progress_end();
	cli_stop_catch(run);
	signal(SIGWINCH, on_resize);
	watch(&top);
	forget(&top);
	rg_buf_deinit(&top.text);
	top.arena = rg_arena_free(top.arena);
	return ROGER_OK;
}

CLI_COMMAND(top, "top", .own = &rg_op_top, .run = run_top);
