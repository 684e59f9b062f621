/* The overview: agents, claims, runs and the last messages, one below the other. */
#include <roger.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "top/top.h"

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

struct row {
	enum top_row_kind kind;
	struct roger_str id;
	const void *item;
	int64_t count; /* of a title, and of those that are left out */
};

struct rows {
	const struct top_view *view;
	struct row items[4 * TOP_AGENTS_MAX + TOP_MESSAGES_MAX];
	size_t count;
	int64_t now_ms;
	int64_t true_for_ms;
	int width, name_width;
};

void top_age(int64_t ms, char to[32])
{
	if (ms < MINUTE)
		snprintf(to, 32, "%lld s", (long long)(ms < 0 ? 0 : ms / SECOND));
	else if (ms < HOUR)
		snprintf(to, 32, "%lld min", (long long)(ms / MINUTE));
	else if (ms < (int64_t)48 * HOUR)
		snprintf(to, 32, "%lld h", (long long)(ms / HOUR));
	else
		snprintf(to, 32, "%lld d", (long long)(ms / ((int64_t)24 * HOUR)));
}

int64_t top_age_left(int64_t ms)
{
	return ms < 0 ? -ms : ms < MINUTE ? SECOND - ms % SECOND : MINUTE - ms % MINUTE;
}

/* How old, in words; what is shown has to be drawn again when that changes. */
static void add_age(struct rows *rows, struct rg_buf *line, int64_t at_ms)
{
	int64_t age = rows->now_ms > at_ms ? rows->now_ms - at_ms : at_ms - rows->now_ms;
	int64_t left = rows->now_ms > at_ms ? top_age_left(age) : age % SECOND + 1;
	char text[32];

	top_age(age, text);
	rg_buf_add_text(line, text);
	if (left < rows->true_for_ms)
		rows->true_for_ms = left;
}

static void add_time(struct rows *rows, struct rg_buf *line, int64_t at_ms)
{
	time_t seconds = (time_t)(at_ms / 1000);
	struct tm tm;
	char text[32];

	if (!localtime_r(&seconds, &tm))
		return;
	strftime(text, sizeof text, rows->now_ms - at_ms < 12 * HOUR ? "%H:%M:%S" : "%m-%d %H:%M",
		 &tm);
	rg_buf_printf(line, "%-11s ", text);
}

/* ----------------------------------------------------------- which there are -- */

static void add(struct rows *rows, enum top_row_kind kind, struct roger_str id, const void *item,
		int64_t count)
{
	if (rows->count < sizeof rows->items / sizeof *rows->items)
		rows->items[rows->count++] = (struct row){ kind, id, item, count };
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static void add_more(struct rows *rows, size_t all, size_t shown)
{
	if (all > shown)
		add(rows, TOP_ROW_MORE, RG_STR(""), NULL, (int64_t)(all - shown));
}

/* Each part has a share of the screen; the last messages have what is left. */
static void collect(struct rows *rows)
{
	const struct top_view *view = rows->view;
	size_t height = (size_t)top_height(), share = height / 4 < 3 ? 3 : height / 4, shown, i;
	const size_t all = view->agents_reply.agents.count;

	add(rows, TOP_ROW_TITLE, RG_STR("AGENTS"), NULL, (int64_t)all);
	shown = least(view->agent_count, share);
	for (i = 0; i < shown; i++)
		add(rows, TOP_ROW_AGENT, view->agents[i].agent->name, &view->agents[i], 0);
	add_more(rows, all, shown);
	shown = least(view->claim_count, share);
	if (shown)
		add(rows, TOP_ROW_TITLE, RG_STR("CLAIMS"), NULL, (int64_t)view->claim_count);
	for (i = 0; i < shown; i++)
		add(rows, TOP_ROW_CLAIM, view->claims[i].message->id, view->claims[i].message, 0);
	add_more(rows, view->claim_count, shown);
	shown = least(view->run_count, share);
	if (shown)
		add(rows, TOP_ROW_TITLE, RG_STR("RUNS"), NULL, (int64_t)view->run_count);
	for (i = 0; i < shown; i++)
		add(rows, TOP_ROW_RUN, view->runs[i]->run, view->runs[i], 0);
	add_more(rows, view->run_count, shown);
	add(rows, TOP_ROW_TITLE, RG_STR("LAST MESSAGES"), NULL, -1);
	for (i = 0; i < view->messages.messages.count; i++)
		add(rows, TOP_ROW_MESSAGE, view->messages.messages.items[i].id,
		    &view->messages.messages.items[i], 0);
}

/* --------------------------------------------------------------- one line -- */

static void put(const struct rows *rows, int y, int x, enum top_style style,
		const struct rg_buf *line)
{
	top_put(y, x, rows->width - x, style, rg_buf_str((struct rg_buf *)(uintptr_t)line));
}

/* A name in a column of its own; the line goes on after it. */
static int put_name(const struct rows *rows, int y, int x, struct roger_str name)
{
	top_put(y, x, rows->name_width, TOP_BOLD, name);
	return x + rows->name_width + 1;
}

static void draw_agent(struct rows *rows, int y, const struct top_agent *item, struct rg_buf *line)
{
	const struct roger_agent *agent = item->agent;
	const struct roger_message *oldest = item->mail.messages.items;
	int x = put_name(rows, y, 1, agent->name);

	rg_buf_printf(line, "%5lld unread", (long long)agent->unread);
	if (agent->unread && item->mail.messages.count) {
		rg_buf_add_text(line, ", for ");
		add_age(rows, line, oldest->created_at_ms);
		rg_buf_printf(line, " from %.*s", RG_STR_ARGS(oldest->from));
	}
	if (agent->unread && agent->last_looked_at_ms) {
		rg_buf_add_text(line, "; looked ");
		add_age(rows, line, agent->last_looked_at_ms);
		rg_buf_add_text(line, " ago");
	} else if (agent->unread) {
		rg_buf_add_text(line, "; never looked");
	}
	if (agent->retired)
		rg_buf_add_text(line, "; retired");
	put(rows, y, x, agent->unread ? TOP_YELLOW : TOP_PLAIN, line);
}

static void draw_claim(struct rows *rows, int y, const struct roger_message *message,
		       struct rg_buf *line)
{
	int x = put_name(rows, y, 1, message->claimed_by);

	rg_buf_printf(line, "holds #%lld of %.*s for %.*s, for ", (long long)message->seq,
		      RG_STR_ARGS(message->from), RG_STR_ARGS(message->to));
	add_age(rows, line, message->claimed_until_ms);
	rg_buf_add_text(line, " more");
	put(rows, y, x, TOP_CYAN, line);
}

static void draw_run(struct rows *rows, int y, const struct roger_run *run, struct rg_buf *line)
{
	static const char *const names[] = { "",	  "active",    "suspect", "not forwarded",
					     "completed", "recovered", "blocked" };
	static const enum top_style styles[] = { TOP_PLAIN, TOP_CYAN,  TOP_YELLOW, TOP_YELLOW,
						 TOP_GREEN, TOP_GREEN, TOP_RED };
	int x = put_name(rows, y, 1, run->run);
	int64_t at_ms;

	rg_buf_printf(line, "%s for %.*s", names[run->status], RG_STR_ARGS(run->owner));
	if (rg_clock_read_rfc3339(run->dispatched_at, &at_ms)) {
		rg_buf_add_text(line, ", since ");
		add_age(rows, line, at_ms);
	}
	rg_buf_printf(line, "; %.*s", RG_STR_ARGS(run->status_reason));
	put(rows, y, x, styles[run->status], line);
}

static void draw_message(struct rows *rows, int y, const struct roger_message *message,
			 struct rg_buf *line)
{
	add_time(rows, line, message->created_at_ms);
	put(rows, y, 1, TOP_DIM, line);
	rg_buf_clear(line);
	rg_buf_printf(line, "%s%.*s #%lld -> %.*s  ", message->read ? " " : "*",
		      RG_STR_ARGS(message->from), (long long)message->seq,
		      RG_STR_ARGS(message->to));
	rg_buf_add_str(line, message->content);
	put(rows, y, 13, message->read ? TOP_PLAIN : TOP_BOLD, line);
}

static void draw_row(struct rows *rows, int y, const struct row *row)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };

	switch (row->kind) {
	case TOP_ROW_TITLE:
		rg_buf_add_str(&line, row->id);
		if (row->count >= 0)
			rg_buf_printf(&line, " (%lld)", (long long)row->count);
		put(rows, y, 0, TOP_DIM, &line);
		break;
	case TOP_ROW_MORE:
		rg_buf_printf(&line, "and %lld more", (long long)row->count);
		put(rows, y, 1, TOP_DIM, &line);
		break;
	case TOP_ROW_AGENT:
		draw_agent(rows, y, row->item, &line);
		break;
	case TOP_ROW_CLAIM:
		draw_claim(rows, y, row->item, &line);
		break;
	case TOP_ROW_RUN:
		draw_run(rows, y, row->item, &line);
		break;
	case TOP_ROW_MESSAGE:
		draw_message(rows, y, row->item, &line);
		break;
	}
}

/* ----------------------------------------------------------------- choice -- */

static bool may_choose(const struct row *row)
{
	return row->kind != TOP_ROW_TITLE && row->kind != TOP_ROW_MORE;
}

static size_t find_choice(const struct rows *rows, const struct top_choice *choice)
{
	size_t i, first = rows->count;

	for (i = rows->count; i > 0; i--) {
		if (!may_choose(&rows->items[i - 1]))
			continue;
		first = i - 1;
		if (rows->items[i - 1].kind == choice->kind &&
		    rg_str_is(rows->items[i - 1].id, choice->id))
			return i - 1;
	}
	return first;
}

/* Go that many rows that can be chosen, as far as there are some. */
static size_t go(const struct rows *rows, size_t at, int step)
{
	size_t to = at;

	while (step) {
		do
			to += step > 0 ? 1 : (size_t)-1;
		while (to < rows->count && !may_choose(&rows->items[to]));
		if (to >= rows->count)
			break;
		at = to;
		step += step > 0 ? -1 : 1;
	}
	return at;
}

int64_t top_rows_draw(const struct top_view *view, struct top_choice *choice, int step)
{
	static struct rows rows;
	const size_t room = top_height() > 3 ? (size_t)top_height() - 2 : 1;
	size_t at, first, i;

	rows = (struct rows){ .view = view,
			      .now_ms = rg_clock_ms(),
			      .true_for_ms = INT64_C(24) * HOUR,
			      .width = top_width(),
			      .name_width = top_width() / 5 < 12 ? 12 : top_width() / 5 };
	collect(&rows);
	at = go(&rows, find_choice(&rows, choice), step);
	first = at >= room ? at - room + 1 : 0;
	if (at < rows.count) {
		choice->kind = rows.items[at].kind;
		snprintf(choice->id, sizeof choice->id, "%.*s", RG_STR_ARGS(rows.items[at].id));
	}
	for (i = first; i < rows.count && i < first + room; i++) {
		if (i == at)
			top_bar(1 + (int)(i - first));
		draw_row(&rows, 1 + (int)(i - first), &rows.items[i]);
	}
	return rows.true_for_ms;
}
