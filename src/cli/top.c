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
#include "cli/term.h"
#include "verbs.h"

enum {
	MAIL_MAX = 40,	  /* agents whose oldest mail is asked for */
	UNREAD_MAX = 20,  /* of these, messages */
	NEWEST_MAX = 300, /* messages */
	WAIT_MS = 250,	  /* for a key; other programs wake nobody who waits for keys */
	AGAIN_MS = 5000,  /* time alone brings something, too */
	REST = 4,	  /* looking takes at most a fifth of the time, */
	REST_LONG = 50,	  /* and a fiftieth while nothing is stored */
	HEAD_BYTES = 400, /* of a text in a row */
	FAR = 1000000
};

enum section { ATTENTION, AGENTS, CLAIMS, RUNS, MESSAGES, SECTIONS, KEYS = SECTIONS };

/* A line of the overview. */
struct row {
	enum section section;
	bool more;	  /* stands for those that are left out */
	size_t number;	  /* in its section, from 1; 0: its title; more: of how many */
	const void *item; /* a concern, an agent, a run or a message */
	struct roger_str id;
	enum cli_style style;
	size_t at, length; /* of its text */
};

/* What is meant, by name, so that it stays chosen while rows come and go. */
struct choice {
	enum section section;
	bool more;
	char id[256], from[160]; /* from: of a message */
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
	struct cli_page lines;	    /* the texts of all rows */
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

static void heed(struct top *top, int r, const struct roger_err *err)
{
	if (r < 0 && !*top->notice)
		snprintf(top->notice, sizeof top->notice, "%s", err->message);
}

/* How many lines of a section are shown until it is opened; of messages what there is room for. */
static size_t share_of(const struct top *top, enum section section)
{
	const size_t share = cli_screen_height() / 6 < 3 ? 3 : cli_screen_height() / 6;

	return section == MESSAGES || top->whole[section] ? SIZE_MAX : share;
}

/* The row whose text was just said, after a title where it is the first of its section. */
static void add(struct top *top, enum section section, size_t number, struct roger_str id,
		const void *item, enum cli_style style)
{
	const struct row *last = top->row_count ? &top->rows[top->row_count - 1] : NULL;
	const size_t at = last ? last->at + last->length : 0;
	struct row *row;

	fflush(top->lines.to);
	if (!last || last->section != section) {
		row = rg_arena_push(top->arena, &top->rows, &top->row_count, sizeof *row);
		if (row)
			*row = (struct row){ .section = section, .style = CLI_DIM, .at = at };
	}
	row = rg_arena_push(top->arena, &top->rows, &top->row_count, sizeof *row);
	if (row)
		*row = (struct row){ section, false, number, item,
				     id,      style, at,     top->lines.length - at };
}

static void add_more(struct top *top, enum section section, size_t count)
{
	if (count <= share_of(top, section))
		return;
	cli_say_to(top->lines.to, " and %d more", (int64_t)(count - share_of(top, section)));
	add(top, section, count, RG_STR(""), NULL, CLI_DIM);
	if (top->row_count)
		top->rows[top->row_count - 1].more = true;
}

/* A name in a column of its own. */
static void say_name(FILE *to, struct roger_str name)
{
	const size_t width = cli_screen_width() / 5 < 12 ? 12 : cli_screen_width() / 5,
		     columns = cli_columns(name);

	fputc(' ', to);
	cli_print_cut(to, name, width);
	fprintf(to, "%*s", columns < width ? (int)(width - columns) + 1 : 1, "");
}

static void add_concerns(struct top *top)
{
	static const enum cli_style styles[] = {
		[ROGER_URGENT] = CLI_RED, [ROGER_SOON] = CLI_YELLOW, [ROGER_NOTICE] = CLI_PLAIN
	};
	const struct roger_concern_list *all = &top->status.concerns;
	size_t i;

	for (i = 0; i < all->count; i++) {
		cli_say_to(top->lines.to, " %t  %t", all->items[i].words, all->items[i].next);
		add(top, ATTENTION, i + 1, all->items[i].next, &all->items[i],
		    styles[all->items[i].urgency]);
	}
	add_more(top, ATTENTION, all->count);
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
	FILE *to = top->lines.to;
	struct roger_err err;

	say_name(to, agent->name);
	cli_say_to(to, "%5d unread", agent->unread);
	if (agent->unread && which < MAIL_MAX)
		heed(top, roger_list(top->run->roger, &request, &top->mail[which], &err), &err);
	if (which < MAIL_MAX && top->mail[which].messages.count)
		cli_say_to(to, ", from %t %w", top->mail[which].messages.items[0].from,
			   top->mail[which].messages.items[0].created_at_ms);
	if (agent->unread && agent->last_looked_at_ms)
		cli_say_to(to, "; looked %w", agent->last_looked_at_ms);
	else if (agent->unread)
		cli_say_to(to, "; never looked");
	cli_say_to(to, agent->retired ? "; retired" : "");
	add(top, AGENTS, which + 1, agent->name, agent, agent->unread ? CLI_YELLOW : CLI_PLAIN);
}

static bool is_claimed(const struct roger_message *message)
{
	return message->claimed_until_ms > rg_clock_ms();
}

/* Claims take the oldest first, so those of an agent are among its oldest unread messages. */
static void add_claims(struct top *top)
{
	const struct roger_message *message;
	size_t i, j, count = 0;

	for (i = 0; i < MAIL_MAX; i++)
		for (j = 0; j < top->mail[i].messages.count; j++) {
			message = &top->mail[i].messages.items[j];
			if (!is_claimed(message))
				continue;
			say_name(top->lines.to, message->claimed_by);
			cli_say_to(top->lines.to, "holds #%d of %t for %t, until %w", message->seq,
				   message->from, message->to, message->claimed_until_ms);
			add(top, CLAIMS, ++count, message->id, message, CLI_CYAN);
		}
	add_more(top, CLAIMS, count);
}

static bool is_over(const struct roger_run *run)
{
	return run->status == ROGER_RUN_COMPLETED || run->status == ROGER_RUN_RECOVERED ||
	       run->settled_at.length;
}

static void add_runs(struct top *top)
{
	const struct roger_run_list *all = &top->runs.runs;
	const struct roger_run *run;
	size_t i, count = 0;
	int64_t at_ms;

	for (i = all->count; i > 0; i--) {
		run = &all->items[i - 1];
		if (is_over(run))
			continue;
		say_name(top->lines.to, run->run);
		cli_say_to(top->lines.to, "%t for %t", run->words, run->owner);
		if (rg_clock_read_rfc3339(run->dispatched_at, &at_ms))
			cli_say_to(top->lines.to, ", begun %w", at_ms);
		if (run->why.length)
			cli_say_to(top->lines.to, "; %t", run->why);
		add(top, RUNS, ++count, run->run, run,
		    run->status == ROGER_RUN_ACTIVE    ? CLI_CYAN
		    : run->status == ROGER_RUN_BLOCKED ? CLI_RED
						       : CLI_YELLOW);
	}
	add_more(top, RUNS, count);
}

/* The beginning of the text, with blanks for its line ends. */
static void add_message(struct top *top, const struct roger_message *message)
{
	char head[HEAD_BYTES], when[CLI_TIME_BYTES];
	struct roger_str text = message->content;
	FILE *to = top->lines.to;
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
	add_more(top, AGENTS, agents->count);
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
	free(top->lines.text);
	top->lines.text = NULL;
	top->rows = NULL;
	top->row_count = 0;
}

static void look(struct top *top)
{
	const struct roger_list_request newest = { .text = rg_str(top->filter),
						   .newest = true,
						   .limit = NEWEST_MAX };
	const struct roger_empty_request none = { 0 };
	const struct roger_runs_request runs = { .status = 0 };
	struct roger *roger = top->run->roger;
	struct roger_err err;

	forget(top);
	heed(top, roger_status(roger, &none, &top->status, &err), &err);
	heed(top, roger_agents(roger, &none, &top->agents, &err), &err);
	heed(top, roger_runs(roger, &runs, &top->runs, &err), &err);
	heed(top, roger_list(roger, &newest, &top->newest, &err), &err);
	if (!cli_page_begin(&top->lines))
		return;
	add_all(top);
	if (!cli_page_end(&top->lines))
		top->row_count = 0;
}

/* ---------------------------------------------------------------- choice -- */

static bool is_shown(const struct top *top, const struct row *row)
{
	return row->more == (row->number > share_of(top, row->section));
}

static bool is_meant(const struct row *row, const struct choice *choice)
{
	return row->section == choice->section && row->more == choice->more &&
	       (row->item || row->more) && rg_str_is(row->id, choice->id);
}

/* Its place; row_count: it is gone. */
static size_t find(const struct top *top, const struct choice *choice)
{
	size_t i = 0;

	while (i < top->row_count &&
	       !(is_meant(&top->rows[i], choice) && is_shown(top, &top->rows[i])))
		i++;
	return i;
}

/* Go that many rows that can be chosen, as far as there are some, from the one that is chosen. */
static void go(struct top *top, int64_t step)
{
	const size_t by = step < 0 ? (size_t)-1 : 1;
	const struct roger_message *message;
	const struct row *row;
	size_t at = find(top, &top->choice), i = at;

	if (top->open) {
		top->scroll += step;
		return;
	}
	if (at == top->row_count)
		for (i = at = 0; i + 1 < top->row_count && !top->rows[i].number; i++)
			at = i + 1;
	for (i = at; step && i < top->row_count; i += by) {
		if (i == at || !top->rows[i].number || !is_shown(top, &top->rows[i]))
			continue;
		at = i;
		step -= (int64_t)by;
	}
	row = at < top->row_count && top->rows[at].number ? &top->rows[at] : NULL;
	if (!row)
		return;
	message = row->item;
	top->choice = (struct choice){ .section = row->section, .more = row->more };
	snprintf(top->choice.id, sizeof top->choice.id, "%.*s", RG_STR_ARGS(row->id));
	if (row->section == MESSAGES || row->section == CLAIMS)
		snprintf(top->choice.from, sizeof top->choice.from, "%.*s",
			 RG_STR_ARGS(message->from));
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
	cli_find_command(rg_str(command))->print(&run, reply);
}

static void print_concern(const struct roger_concern *concern)
{
	size_t i;

	cli_say("%t\n", concern->words);
	if (concern->since_ms)
		cli_say("since %w\n", concern->since_ms);
	if (concern->next.length)
		cli_say("\n  %S%t%.\n", CLI_CYAN, concern->next);
	for (i = 0; i < concern->parts.count; i++)
		cli_say("%s%6d  %t\n", i ? "" : "\n", concern->parts.items[i].count,
			concern->parts.items[i].name);
}

static void print_page(const struct top *top, const struct row *row)
{
	const struct roger_agent *agent = row->item;
	struct roger_runs_request request = { .run = row->id };
	struct roger_runs_reply run = { .runs = { (void *)(uintptr_t)row->item, 1 } };
	struct roger_messages_reply mail = { .messages = { (void *)(uintptr_t)row->item, 1 } };

	switch (top->page.section) {
	case KEYS:
		fputs(keys_text, cli_out);
		return;
	case ATTENTION:
		print_concern(row->item);
		return;
	case RUNS:
		print_as(top, "runs", &request, &run);
		return;
	case AGENTS:
		cli_say("%t: %d unread, the oldest first\n\n", row->id, agent->unread);
		mail.messages = row->number <= MAIL_MAX ? top->mail[row->number - 1].messages
							: (struct roger_message_list){ 0 };
		break;
	case CLAIMS:
	case MESSAGES:
		break;
	}
	print_as(top, "show", NULL, &mail);
}

/* What is opened, as it is now; what is gone stays as it was seen last. */
static void fill_page(struct top *top)
{
	static const struct row none;
	const size_t at = top->page.section == KEYS ? 0 : find(top, &top->page);
	FILE *out = cli_out;
	struct cli_page page;
	size_t length;
	char *rest;

	if (top->page.section != KEYS && at == top->row_count)
		return;
	if (!cli_page_begin(&page))
		return;
	cli_out = page.to;
	print_page(top, top->page.section == KEYS ? &none : &top->rows[at]);
	cli_out = out;
	rg_buf_clear(&top->text);
	rest = cli_page_end(&page) ? page.text : NULL;
	for (; rest && *rest; rest += length + (rest[length] != '\0')) {
		length = strcspn(rest, "\n");
		cli_screen_fold(&top->text, (struct roger_str){ rest, length });
		rg_buf_add_char(&top->text, '\n');
	}
	free(page.text);
}

/* --------------------------------------------------------------- drawing -- */

/* A line that fits, harmless, with blanks to its end where a bar is to be seen. */
static void put(struct rg_buf *frame, enum cli_style style, bool bar, struct roger_str text)
{
	const size_t width = cli_screen_width();
	struct cli_page page;

	if (!cli_page_begin(&page))
		return;
	fprintf(page.to, "%s%s", bar ? "\033[7m" : "", style ? cli_style(style) : "");
	cli_print_cut(page.to, text, width);
	fprintf(page.to, "%*s\n",
		bar && cli_columns(text) < width ? (int)(width - cli_columns(text)) : 0, "");
	if (cli_page_end(&page))
		rg_buf_add(frame, page.text, page.length);
	free(page.text);
}

static const char *const titles[SECTIONS] = { "NEEDS ATTENTION", "AGENTS", "CLAIMS", "RUNS",
					      "LAST MESSAGES" };

/* The rows that are shown, so far that the one that is chosen is among them. */
static void put_rows(struct top *top, struct rg_buf *frame, size_t room)
{
	const size_t at = find(top, &top->choice);
	size_t i, before = 0, number = 0;

	for (i = 0; i < at && i < top->row_count; i++)
		before += is_shown(top, &top->rows[i]);
	/* With the first rows their title is to be seen. */
	if (top->first > before)
		top->first = before ? before - 1 : 0;
	if (before == 1)
		top->first = 0;
	if (before >= top->first + room)
		top->first = before - room + 1;
	for (i = 0; i < top->row_count && number < top->first + room; i++) {
		const struct row *row = &top->rows[i];

		if (is_shown(top, row) && number++ >= top->first)
			put(frame, row->style, i == at,
			    row->number
				    ? (struct roger_str){ top->lines.text + row->at, row->length }
				    : rg_str(titles[row->section]));
	}
	for (; number < top->first + room; number++)
		rg_buf_add_char(frame, '\n');
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
	RG_CLEANUP(rg_buf_deinit) struct rg_buf head = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf frame = { .maximum = SIZE_MAX };
	const size_t room = cli_screen_height() > 3 ? cli_screen_height() - 2 : 1,
		     concerns = top->status.concerns.count;
	char attention[40] = "all quiet";
	size_t cursor;

	go(top, 0);
	if (concerns)
		snprintf(attention, sizeof attention, "%lld to look at", (long long)concerns);
	rg_buf_printf(&head, " roger top  %s  %lld agent%s  %lld unread  %lld run%s  as %.*s",
		      attention, (long long)top->status.agents, rg_plural(top->status.agents),
		      (long long)top->status.unread, (long long)top->status.active_runs,
		      rg_plural(top->status.active_runs), RG_STR_ARGS(top->self));
	if (*top->filter)
		rg_buf_printf(&head, "  only '%s'", top->filter);
	put(&frame, CLI_BOLD, true, rg_buf_str(&head));
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
	const enum section section = top->open ? top->page.section : top->choice.section;

	if (section != MESSAGES && section != CLAIMS) {
		snprintf(top->notice, sizeof top->notice, "choose a message first");
		return false;
	}
	if (!top->open)
		top->page = top->choice;
	return true;
}

static void reply(struct top *top)
{
	const struct roger_send_request request = { .from = top->self,
						    .content = rg_str(top->typed),
						    .reply_to = rg_str(top->page.id) };
	RG_CLEANUP(roger_reply_free) struct roger_send_reply sent = { 0 };
	struct roger_err err;

	if (!*top->typed)
		snprintf(top->notice, sizeof top->notice, "nothing was typed, so nothing was sent");
	else if (roger_reply(top->run->roger, &request, &sent, &err) < 0)
		snprintf(top->notice, sizeof top->notice, "%s", err.message);
	else
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

	snprintf(top->notice, sizeof top->notice, "%s",
		 roger_ack(top->run->roger, &request, &done, &err) < 0 ? err.message
								       : "acknowledged");
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
	if (top->choice.more && section != KEYS) {
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
	int r = cli_need_workspace(run, "top", err);

	*ret_exit = CLI_DONE;
	if (r < 0)
		return r;
	if (run->form != CLI_HUMAN || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || !term ||
	    !*term || strcmp(term, "dumb") == 0)
		return rg_fail(err, ROGER_EUSAGE, 0,
			       "top needs a terminal; without one use `roger status`, or `roger "
			       "list -f --jsonl`");
	run->quiet = true;
	top.run = run;
	top.self = request->agent.length ? request->agent : RG_STR("human");
	r = roger_open(run->workspace, &run->roger, err);
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

const struct cli_command cli_top = { .name = "top", .own = &rg_op_top, .run = run_top };
