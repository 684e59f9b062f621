/* One message, agent or run in full, the keys, and what a person does with them. */
#include <roger.h>

#include "base/clock.h"
#include "base/unicode.h"
#include "top/top.h"

static const char keys_text[] =
	"j k, arrows     go down and up\n"
	"PgDn PgUp       a page\n"
	"Home End        to the first, to the last\n"
	"Enter           open the message, agent or run; watching marks nothing as looked at or "
	"read\n"
	"r               reply to the message, as the name at the top; Enter sends it, Esc drops "
	"it\n"
	"e               acknowledge the message, which must be to that name\n"
	"/               only messages with this text; empty: all\n"
	"q, Esc          back, and out\n"
	"\n"
	"`roger top --as NAME` acts as NAME; so does ROGER_AGENT; else it is human.\n"
	"*, bold         not read yet\n";

static void set_notice(struct top *top, const char *text)
{
	snprintf(top->notice, sizeof top->notice, "%s", text);
}

/* ---------------------------------------------------------- what it says -- */

static void add_member(struct rg_buf *text, const char *name, struct roger_str value)
{
	if (value.length)
		rg_buf_printf(text, "%-11s %.*s\n", name, RG_STR_ARGS(value));
}

static void add_instant(struct rg_buf *text, const char *name, int64_t at_ms)
{
	char instant[32];

	if (!at_ms)
		return;
	rg_clock_print_utc(at_ms, instant);
	add_member(text, name, rg_str(instant));
}

static void add_message(struct rg_buf *text, const struct roger_message *message)
{
	rg_buf_printf(text, "%.*s #%lld -> %.*s\n", RG_STR_ARGS(message->from),
		      (long long)message->seq, RG_STR_ARGS(message->to));
	add_member(text, "id", message->id);
	add_member(text, "issue", message->issue);
	add_member(text, "in reply to", message->reply_to);
	add_instant(text, "sent", message->created_at_ms);
	add_instant(text, "read", message->read_at_ms);
	add_member(text, "claimed by", message->claimed_by);
	add_instant(text, "until", message->claimed_until_ms);
	add_instant(text, "acked", message->acked_at_ms);
	rg_buf_add_char(text, '\n');
	rg_buf_add_str(text, message->content);
	rg_buf_add_text(text, "\n\n");
	add_member(text, "metadata", message->metadata);
}

static void add_run(struct rg_buf *text, const struct roger_run *run)
{
	size_t i;

	add_member(text, "run", run->run);
	add_member(text, "owner", run->owner);
	add_member(text, "child", run->child);
	add_member(text, "issue", run->issue);
	add_member(text, "task", run->task);
	add_member(text, "dispatched", run->dispatched_at);
	add_member(text, "expected by", run->expected_by);
	add_member(text, "completed", run->completed_at);
	add_member(text, "exit", run->exit);
	add_member(text, "why", run->status_reason);
	for (i = 0; i < run->notes.count; i++)
		add_member(text, i ? "" : "notes", run->notes.items[i]);
}

static void add_runs(struct top *top)
{
	size_t i;

	for (i = 0; i < top->view.run_count; i++)
		if (rg_str_is(top->view.runs[i]->run, top->page.id))
			add_run(&top->text, top->view.runs[i]);
}

/* The message, or what an agent has not read. */
static int ask_messages(struct top *top, struct roger_err *err)
{
	const struct roger_str id = rg_str(top->page.id);
	const struct roger_show_request show = { .ids = { &id, 1 } };
	const struct roger_list_request mail = { .to = id, .unread = true, .limit = TOP_MAIL_MAX };

	roger_reply_free(&top->shown);
	top->shown = (struct roger_messages_reply){ 0 };
	return top->page.kind == TOP_ROW_AGENT
		       ? roger_list(top->view.roger, &mail, &top->shown, err)
		       : roger_show(top->view.roger, &show, &top->shown, err);
}

/* Ask for what the page shows, again. */
static void fill_page(struct top *top)
{
	struct roger_err err = { 0 };
	size_t i;

	rg_buf_clear(&top->text);
	if (top->page.kind == TOP_ROW_TITLE) {
		rg_buf_add_text(&top->text, keys_text);
		return;
	}
	if (top->page.kind == TOP_ROW_RUN) {
		add_runs(top);
		return;
	}
	if (ask_messages(top, &err) < 0)
		set_notice(top, err.message);
	if (top->page.kind == TOP_ROW_AGENT)
		rg_buf_printf(&top->text, "%s: %zu unread, the oldest first\n\n", top->page.id,
			      top->shown.messages.count);
	for (i = 0; i < top->shown.messages.count; i++)
		add_message(&top->text, &top->shown.messages.items[i]);
}

static void open_page(struct top *top, enum top_row_kind kind)
{
	top->page = top->choice;
	top->page.kind = kind;
	top->open = true;
	top->scroll = 0;
}

/* ---------------------------------------------------------------- drawing -- */

static void draw_page(struct top *top)
{
	struct roger_str text = rg_buf_str(&top->text), line;
	size_t shown, step;
	int64_t number = 0, room = top_height() - 2, count = 0;

	for (line = text; line.length; line.data += step, line.length -= step, count++)
		step = top_line(line, top_width() - 2, &shown);
	if (top->scroll > count - room)
		top->scroll = count - room;
	if (top->scroll < 0)
		top->scroll = 0;
	for (; text.length && number < top->scroll + room; number++) {
		step = top_line(text, top_width() - 2, &shown);
		if (number >= top->scroll)
			top_put(1 + (int)(number - top->scroll), 1, top_width() - 2, TOP_PLAIN,
				(struct roger_str){ text.data, shown });
		text.data += step;
		text.length -= step;
	}
}

static void draw_head(const struct top *top)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	const struct top_view *view = &top->view;

	rg_buf_printf(&line, " roger top  %zu agent%s  %lld unread  %zu run%s  as %.*s",
		      view->agents_reply.agents.count,
		      rg_plural((int64_t)view->agents_reply.agents.count), (long long)view->unread,
		      view->run_count, rg_plural((int64_t)view->run_count), RG_STR_ARGS(top->self));
	if (top->filter.length)
		rg_buf_printf(&line, "  only '%.*s'", RG_STR_ARGS(top->filter));
	top_bar(0);
	top_put(0, 0, top_width(), TOP_BOLD, rg_buf_str(&line));
}

/* The end of what is typed, where it does not fit. */
static void draw_prompt(const struct top *top, int y)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	struct roger_str typed = rg_str(top->typed);
	size_t shown;
	int x, room;

	if (top->prompt == TOP_REPLY)
		rg_buf_printf(&line, "reply to %s: ", top->reply_to);
	else
		rg_buf_add_text(&line, "only messages with: ");
	x = top_put(y, 0, top_width() / 2, TOP_BOLD, rg_buf_str(&line));
	room = top_width() - x - 1;
	while (typed.length && (top_line(typed, room, &shown), shown) < typed.length) {
		uint32_t c;
		size_t step = rg_utf8_next(typed.data, typed.length, &c);

		typed.data += step ? step : 1;
		typed.length -= step ? step : 1;
	}
	top_cursor(y, top_put(y, x, room, TOP_PLAIN, typed));
}

static void draw_foot(const struct top *top, int y)
{
	const char *keys = top->open
				   ? "j k scroll  r reply  e ack  q back"
				   : "j k go  Enter open  r reply  e ack  / filter  ? keys  q quit";

	top_cursor(0, -1);
	if (top->prompt)
		draw_prompt(top, y);
	else if (top->notice[0])
		top_put(y, 0, top_width(), TOP_YELLOW, rg_str(top->notice));
	else if (top->view.trouble[0])
		top_put(y, 0, top_width(), TOP_RED, rg_str(top->view.trouble));
	else
		top_put(y, 0, top_width(), TOP_DIM, rg_str(keys));
}

int64_t top_draw(struct top *top, int step)
{
	int64_t true_for_ms = INT64_MAX;

	top_clear();
	if (top->open) {
		fill_page(top);
		draw_page(top);
	} else {
		true_for_ms = top_rows_draw(&top->view, &top->choice, step);
	}
	draw_head(top);
	draw_foot(top, top_height() - 1);
	top_show();
	return true_for_ms;
}

/* ---------------------------------------------------------------- acting -- */

/* The message that is meant: of the page, or the one that is chosen; NULL: none is. */
static const struct roger_message *find_message(struct top *top)
{
	struct roger_err err;

	if (!top->open) {
		if (top->choice.kind != TOP_ROW_MESSAGE && top->choice.kind != TOP_ROW_CLAIM)
			return NULL;
		top->page = top->choice;
		if (ask_messages(top, &err) < 0)
			return NULL;
	} else if (top->page.kind != TOP_ROW_MESSAGE && top->page.kind != TOP_ROW_CLAIM) {
		return NULL;
	}
	return top->shown.messages.count ? top->shown.messages.items : NULL;
}

static void begin_reply(struct top *top)
{
	const struct roger_message *message = find_message(top);

	if (!message) {
		set_notice(top, "choose a message to reply to");
		return;
	}
	snprintf(top->reply_id, sizeof top->reply_id, "%.*s", RG_STR_ARGS(message->id));
	snprintf(top->reply_to, sizeof top->reply_to, "%.*s", RG_STR_ARGS(message->from));
	snprintf(top->reply_issue, sizeof top->reply_issue, "%.*s", RG_STR_ARGS(message->issue));
	top->typed[0] = '\0';
	top->prompt = TOP_REPLY;
}

static void reply(struct top *top)
{
	const struct roger_str to = rg_str(top->reply_to);
	const struct roger_send_request request = { .from = top->self,
						    .to = { &to, 1 },
						    .content = rg_str(top->typed),
						    .issue = rg_str(top->reply_issue),
						    .reply_to = rg_str(top->reply_id) };
	RG_CLEANUP(roger_reply_free) struct roger_send_reply sent = { 0 };
	struct roger_err err;

	if (!top->typed[0])
		set_notice(top, "nothing was typed, so nothing was sent");
	else if (roger_send(top->view.roger, &request, &sent, &err) < 0)
		set_notice(top, err.message);
	else
		snprintf(top->notice, sizeof top->notice, "sent #%lld to %s", (long long)sent.seq,
			 top->reply_to);
}

static void acknowledge(struct top *top)
{
	const struct roger_message *message = find_message(top);
	struct roger_ack_request request = { .agent = top->self };
	RG_CLEANUP(roger_reply_free) struct roger_messages_reply done = { 0 };
	struct roger_err err;

	if (!message) {
		set_notice(top, "choose a message to acknowledge");
		return;
	}
	if (!rg_str_equal(message->to, top->self)) {
		snprintf(top->notice, sizeof top->notice,
			 "it is to %.*s, who acknowledges it; you are %.*s",
			 RG_STR_ARGS(message->to), RG_STR_ARGS(top->self));
		return;
	}
	request.ids = (struct roger_strs){ &message->id, 1 };
	set_notice(top, roger_ack(top->view.roger, &request, &done, &err) < 0 ? err.message
									      : "acknowledged");
}

/* ----------------------------------------------------------------- keys -- */

static void end_prompt(struct top *top, bool taken)
{
	bool filtering = top->prompt == TOP_FILTER;

	top->prompt = TOP_NO_PROMPT;
	if (!taken)
		return;
	if (!filtering) {
		reply(top);
		return;
	}
	snprintf(top->filter_text, sizeof top->filter_text, "%.120s", top->typed);
	top->filter = rg_str(top->filter_text);
}

/* Returns whether the prompt ended. */
static bool type(struct top *top, uint32_t key)
{
	size_t length = strlen(top->typed);

	if (key == TOP_ENTER || key == TOP_ESCAPE) {
		end_prompt(top, key == TOP_ENTER);
		return true;
	}
	if (key == TOP_BACKSPACE) {
		while (length && (top->typed[--length] & 0xc0) == 0x80)
			;
		top->typed[length] = '\0';
	} else if (key < TOP_UP && key >= ' ' && length + 5 < sizeof top->typed) {
		length += rg_char_put(top->typed + length, key);
		top->typed[length] = '\0';
	}
	return false;
}

static int step_of(uint32_t key)
{
	const int page = top_height() > 4 ? top_height() - 3 : 1;

	switch (key) {
	case 'j':
	case TOP_DOWN:
		return 1;
	case 'k':
	case TOP_UP:
		return -1;
	case TOP_PAGE_DOWN:
		return page;
	case TOP_PAGE_UP:
		return -page;
	case TOP_HOME:
		return -100000;
	case TOP_END:
		return 100000;
	default:
		return 0;
	}
}

static bool press_letter(struct top *top, uint32_t key)
{
	switch (key) {
	case 'q':
	case TOP_ESCAPE:
		top->over = !top->open && key == 'q';
		top->open = false;
		return false;
	case '?':
		open_page(top, TOP_ROW_TITLE);
		return false;
	case TOP_ENTER:
		if (!top->open && top->choice.id[0])
			open_page(top, top->choice.kind);
		return false;
	case '/':
		top->typed[0] = '\0';
		top->prompt = TOP_FILTER;
		return false;
	case 'r':
		begin_reply(top);
		return false;
	case 'e':
		acknowledge(top);
		return true;
	default:
		return false;
	}
}

bool top_press(struct top *top, uint32_t key)
{
	int step = step_of(key);

	top->notice[0] = '\0';
	if (top->prompt)
		return type(top, key);
	if (step && top->open)
		top->scroll += step;
	else if (step)
		top_draw(top, step);
	else
		return press_letter(top, key);
	return false;
}
