#include "cli/diagram.h"

#include <time.h>

#include "base/clock.h"
#include "base/unicode.h"
#include "cli/term.h"

/* What an event becomes. */
enum shape {
	NOTHING,
	ARROW, /* from one lifeline to another */
	NOTE,  /* on a lifeline */
	LINE,  /* across all */
};

struct style {
	enum shape shape;
	const char *label; /* before the words; NULL: the words tell enough */
	const char *colour;
	bool dashed;
};

static const char red[] = "#cf222e", green[] = "#1a7f37", grey[] = "#57606a", blue[] = "#0969da";

/* What is read is told with the message, what is delivered is an arrow anyway. */
static const struct style styles[] = {
	[ROGER_EVENT_CYCLE] = { LINE, NULL, grey, true },
	[ROGER_EVENT_DISPATCHED] = { ARROW, "dispatched", blue, true },
	[ROGER_EVENT_SENT] = { ARROW, NULL, grey, false },
	[ROGER_EVENT_WAKE] = { NOTE, NULL, grey, false },
	[ROGER_EVENT_LOOKED] = { NOTE, NULL, grey, false },
	[ROGER_EVENT_LATE] = { ARROW, "delivered late", green, true },
	[ROGER_EVENT_DUE] = { NOTE, "due", grey, false },
	[ROGER_EVENT_TIMEOUT] = { ARROW, "timeout", red, true },
	[ROGER_EVENT_REFUSED] = { ARROW, "refused", red, true },
	[ROGER_EVENT_DEAD_LETTER] = { NOTE, "dead letter", red, false },
	[ROGER_EVENT_REDELIVERED] = { NOTE, "redelivered", grey, false },
	[ROGER_EVENT_STALE] = { NOTE, "stale", grey, false },
	[ROGER_EVENT_RECOVERY] = { NOTE, NULL, red, false },
	[ROGER_EVENT_COMPLETED] = { ARROW, "completed", blue, true },
	[ROGER_EVENT_FORWARDED] = { NOTE, "forwarded", green, false },
	[ROGER_EVENT_RUN_NOTE] = { NOTE, NULL, grey, false },
	[ROGER_EVENT_ACTIVITY] = { NOTE, NULL, grey, false },
	[ROGER_EVENT_ARCHIVED] = { NOTHING, NULL, grey, false },
	[ROGER_EVENT_SESSION] = { LINE, NULL, grey, true },
	[ROGER_EVENT_CLAIMED] = { NOTE, "claimed", grey, false },
	[ROGER_EVENT_RETURNED] = { NOTE, NULL, grey, false },
	[ROGER_EVENT_LEASE_EXPIRED] = { NOTE, NULL, red, false },
	[ROGER_EVENT_ACKNOWLEDGED] = { NOTE, "acknowledged", green, false },
	[ROGER_EVENT_LOST] = { NOTE, "lost", red, false },
	[ROGER_EVENT_DAMAGED] = { LINE, "damaged", red, true },
	[ROGER_EVENT_ACCEPTED] = { LINE, NULL, grey, true },
	[ROGER_EVENT_HANDED] = { NOTE, "handed over", grey, false },
	[ROGER_EVENT_FAILED] = { NOTE, NULL, red, false },
	[ROGER_EVENT_SETTLED] = { NOTE, "settled", grey, false },
	[ROGER_EVENT_ATTEMPTED] = { NOTE, NULL, grey, false },
};

/* By roger_event.type. */
static const char *const type_names[] = { "", "context", "result", "decision", "data" };
static const char *const type_colours[] = { grey, "#0969da", "#1a7f37", "#8250df", "#9a6700" };

/* The lifeline of an agent; count of them: it has none. */
static size_t lane_of(const struct roger_timeline_reply *reply, struct roger_str name)
{
	size_t i;

	for (i = 0; i < reply->agents.count; i++)
		if (name.length && rg_str_equal(reply->agents.items[i], name))
			break;
	return i;
}

/* An arrow without a second end is a note, a note of nobody goes across. */
static enum shape shape_of(const struct roger_timeline_reply *reply,
			   const struct roger_event *event)
{
	enum shape shape = styles[event->kind].shape;

	if (shape == ARROW && lane_of(reply, event->peer) == reply->agents.count)
		shape = NOTE;
	if (shape != NOTHING && lane_of(reply, event->actor) == reply->agents.count)
		shape = LINE;
	return shape;
}

/* When a message was read, among the events behind its sending; NULL: it was not. */
static const struct roger_event *reading_of(const struct roger_timeline_reply *reply,
					    const struct roger_event *sent)
{
	const struct roger_event *event;

	for (event = sent; event < reply->events.items + reply->events.count; event++)
		if (event->kind == ROGER_EVENT_READ && rg_str_equal(event->message, sent->message))
			return event;
	return NULL;
}

/* "#5 result, read after 3.2s", "run r1: timeout, attempt 1 of 3". */
static void add_label(const struct roger_timeline_reply *reply, const struct roger_event *event,
		      struct rg_buf *out)
{
	const struct roger_event *reading;

	if (event->run.length)
		rg_buf_printf(out, "run %.*s: ", RG_STR_ARGS(event->run));
	if (event->kind == ROGER_EVENT_SENT) {
		if (event->seq)
			rg_buf_printf(out, "#%lld ", (long long)event->seq);
		reading = reading_of(reply, event);
		rg_buf_printf(out, "%s, %.*s", type_names[event->type],
			      RG_STR_ARGS(reading ? reading->words : RG_STR("unread")));
		return;
	}
	if (styles[event->kind].label)
		rg_buf_printf(out, "%s: ", styles[event->kind].label);
	rg_buf_add_str(out, event->words);
}

/* --------------------------------------------------------------- mermaid -- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Mermaid ends a block at this word, wherever it stands. */
static bool is_end(struct roger_str text, size_t at)
{
	return text.length - at >= 3 && strncasecmp(text.data + at, "end", 3) == 0 &&
	       (at == 0 || !is_letter(text.data[at - 1])) &&
	       (text.length - at == 3 || !is_letter(text.data[at + 3]));
}

/* What is no plain character of a sentence goes out as #number; */
static void add_mermaid(struct rg_buf *out, struct roger_str text)
{
	size_t at = 0, step;
	uint32_t c;

	while (at < text.length) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		if (!step || rg_char_is_harmful(c))
			c = 0xfffd;
		if (c < 0x80 && !is_end(text, at) &&
		    (is_letter((char)c) || strchr(" .,_-:@/()'", (int)c)))
			rg_buf_add_char(out, (char)c);
		else
			rg_buf_printf(out, "#%u;", (unsigned)c);
		at += step ? step : 1;
	}
}

static void add_mermaid_event(const struct roger_timeline_reply *reply,
			      const struct roger_event *event, struct rg_buf *out)
{
	const struct style *style = &styles[event->kind];
	size_t last = reply->agents.count ? reply->agents.count - 1 : 0;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf label = { .maximum = SIZE_MAX };
	enum shape shape = shape_of(reply, event);
	const char *arrow = style->colour == red ? "--x" : style->dashed ? "-->>" : "->>";

	switch (shape) {
	case NOTHING:
		return;
	case ARROW:
		rg_buf_printf(out, "    p%zu%sp%zu: ", lane_of(reply, event->actor), arrow,
			      lane_of(reply, event->peer));
		break;
	case NOTE:
		rg_buf_printf(out, "    Note over p%zu: ", lane_of(reply, event->actor));
		break;
	case LINE:
		rg_buf_printf(out, last ? "    Note over p0,p%zu: " : "    Note over p%zu: ", last);
		break;
	}
	add_label(reply, event, &label);
	add_mermaid(out, rg_buf_str(&label));
	rg_buf_add_char(out, '\n');
}

void cli_diagram_mermaid(const struct roger_timeline_reply *reply, struct rg_buf *out)
{
	size_t i;

	rg_buf_add_text(out, "sequenceDiagram\n");
	for (i = 0; i < reply->agents.count; i++) {
		rg_buf_printf(out, "    participant p%zu as ", i);
		add_mermaid(out, reply->agents.items[i]);
		rg_buf_add_char(out, '\n');
	}
	if (!reply->agents.count)
		rg_buf_add_text(out, "    participant p0 as nobody\n");
	for (i = 0; i < reply->events.count; i++)
		add_mermaid_event(reply, &reply->events.items[i], out);
}

/* ------------------------------------------------------------------- svg -- */

/* Pixels.  The font has one width, so that what a label takes is known. */
enum {
	ROW = 26,
	TIME_WIDTH = 92,
	MARGIN = 16,
	TOP = 84,
	BOTTOM = 44,
	LANE_LEAST = 150,
	LANE_MOST = 260,
	WIDTH_LEAST = 640,
	NAME_CHARS = 30,
	LOOP = 26, /* of an arrow to oneself */
};
static const double char_width = 6.7; /* at 11 pixels */

struct picture {
	const struct roger_timeline_reply *reply;
	struct rg_buf *out;
	size_t rows;
	int lane, width, height;
};

static void add_xml(struct rg_buf *out, struct roger_str text)
{
	size_t at = 0, step;
	uint32_t c;

	while (at < text.length) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		if (!step || rg_char_is_harmful(c) || (c & 0xfffe) == 0xfffe)
			rg_buf_add_text(out, "\xef\xbf\xbd");
		else if (c == '&')
			rg_buf_add_text(out, "&amp;");
		else if (c == '<')
			rg_buf_add_text(out, "&lt;");
		else if (c == '>')
			rg_buf_add_text(out, "&gt;");
		else if (c == '"')
			rg_buf_add_text(out, "&quot;");
		else
			rg_buf_add(out, text.data + at, step);
		at += step ? step : 1;
	}
}

/* As much as fits into so many characters; the rest is three dots. */
static void add_cut(struct rg_buf *out, struct roger_str text, size_t chars)
{
	if (cli_columns(text) <= chars) {
		add_xml(out, text);
		return;
	}
	text.length = cli_bytes_within(text, chars > 3 ? chars - 3 : 0);
	add_xml(out, text);
	rg_buf_add_text(out, "...");
}

static int lane_x(const struct picture *picture, size_t lane)
{
	return MARGIN + TIME_WIDTH + picture->lane / 2 + (int)lane * picture->lane;
}

static int row_y(size_t row)
{
	return TOP + (int)row * ROW + ROW;
}

static void measure(struct picture *picture)
{
	const struct roger_timeline_reply *reply = picture->reply;
	size_t widest = 0, lanes = reply->agents.count ? reply->agents.count : 1, i;

	for (i = 0; i < reply->agents.count; i++)
		if (cli_columns(reply->agents.items[i]) > widest)
			widest = cli_columns(reply->agents.items[i]);
	if (widest > NAME_CHARS)
		widest = NAME_CHARS;
	for (i = 0; i < reply->events.count; i++)
		picture->rows += shape_of(reply, &reply->events.items[i]) != NOTHING;
	picture->lane = (int)((double)widest * char_width) + 2 * MARGIN;
	if (picture->lane < LANE_LEAST)
		picture->lane = LANE_LEAST;
	if (picture->lane > LANE_MOST)
		picture->lane = LANE_MOST;
	picture->width = 2 * MARGIN + TIME_WIDTH + (int)lanes * picture->lane;
	if (picture->width < WIDTH_LEAST)
		picture->width = WIDTH_LEAST;
	picture->height = TOP + (int)(picture->rows + 1) * ROW + BOTTOM;
}

static void draw_names(const struct picture *picture, int y)
{
	const struct roger_strs *agents = &picture->reply->agents;
	size_t i;

	for (i = 0; i < agents->count; i++) {
		rg_buf_printf(picture->out,
			      "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" font-weight=\"bold\">"
			      "<title>",
			      lane_x(picture, i), y);
		add_xml(picture->out, agents->items[i]);
		rg_buf_add_text(picture->out, "</title>");
		add_cut(picture->out, agents->items[i], NAME_CHARS);
		rg_buf_add_text(picture->out, "</text>\n");
	}
}

static void draw_lifelines(const struct picture *picture)
{
	size_t i;

	for (i = 0; i < picture->reply->agents.count; i++)
		rg_buf_printf(
			picture->out,
			"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#d0d7de\"/>\n",
			lane_x(picture, i), TOP, lane_x(picture, i), picture->height - BOTTOM);
}

static void draw_legend(const struct picture *picture)
{
	int x = MARGIN + TIME_WIDTH;
	size_t i;

	for (i = 1; i < sizeof type_names / sizeof *type_names; i++) {
		rg_buf_printf(picture->out, "<text x=\"%d\" y=\"44\" fill=\"%s\">%s</text>\n", x,
			      type_colours[i], type_names[i]);
		x += (int)((double)(strlen(type_names[i]) + 2) * char_width);
	}
	rg_buf_printf(picture->out, "<text x=\"%d\" y=\"44\" fill=\"%s\">- - timeout</text>\n", x,
		      red);
}

/* Seconds, and the day where it is another one than before. */
static void draw_time(const struct picture *picture, int64_t at_ms, int64_t before_ms, int y)
{
	time_t now = (time_t)(at_ms / 1000), then = (time_t)(before_ms / 1000);
	char day[24] = "", last[24] = "", clock[24] = "";
	struct tm tm;

	if (localtime_r(&now, &tm)) {
		strftime(day, sizeof day, "%Y-%m-%d", &tm);
		strftime(clock, sizeof clock, "%H:%M:%S", &tm);
	}
	if (before_ms && localtime_r(&then, &tm))
		strftime(last, sizeof last, "%Y-%m-%d", &tm);
	if (strcmp(day, last) != 0)
		rg_buf_printf(picture->out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>\n",
			      MARGIN, y - 12, grey, day);
	rg_buf_printf(picture->out, "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s.%03lld</text>\n",
		      MARGIN, y, grey, clock, (long long)(at_ms % 1000));
}

/* One label a row: it may be as wide as the picture, and never leaves it. */
static void draw_label(const struct picture *picture, int x, int y, const char *colour,
		       struct roger_str label)
{
	int left = MARGIN + TIME_WIDTH, right = picture->width - MARGIN, half;
	size_t most = (size_t)((double)(right - left) / char_width), chars = cli_columns(label);

	half = (int)((double)(chars < most ? chars : most) * char_width / 2) + 1;
	if (x - half < left)
		x = left + half;
	if (x + half > right)
		x = right - half;
	rg_buf_printf(picture->out,
		      "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\" fill=\"%s\" stroke=\"#fff\""
		      " stroke-width=\"3\" paint-order=\"stroke\"><title>",
		      x, y, colour);
	add_xml(picture->out, label);
	rg_buf_add_text(picture->out, "</title>");
	add_cut(picture->out, label, most);
	rg_buf_add_text(picture->out, "</text>\n");
}

static void draw_arrow(const struct picture *picture, int from, int to, int y, const char *colour,
		       bool dashed)
{
	int back = to > from ? -7 : 7;
	const char *dashes = dashed ? " stroke-dasharray=\"5 4\"" : "";

	if (from == to) {
		rg_buf_printf(picture->out,
			      "<path d=\"M%d %d h%d v8 h-%d\" fill=\"none\" stroke=\"%s\"%s/>\n",
			      from, y - 4, LOOP, LOOP - 7, colour, dashes);
		y += 4;
		back = 7;
	} else {
		rg_buf_printf(picture->out,
			      "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\"%s/>\n",
			      from, y, to + back, y, colour, dashes);
	}
	rg_buf_printf(picture->out, "<path d=\"M%d %d l%d -4 v8 z\" fill=\"%s\"/>\n", to, y, back,
		      colour);
}

static void draw_event(const struct picture *picture, const struct roger_event *event,
		       enum shape shape, int y)
{
	const struct roger_timeline_reply *reply = picture->reply;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf label = { .maximum = SIZE_MAX };
	const char *colour = event->kind == ROGER_EVENT_SENT ? type_colours[event->type]
							     : styles[event->kind].colour;
	int from = lane_x(picture, lane_of(reply, event->actor)), to = from, x = from;

	add_label(reply, event, &label);
	if (shape == ARROW) {
		to = lane_x(picture, lane_of(reply, event->peer));
		x = (from + to) / 2;
		draw_arrow(picture, from, to, y, colour, styles[event->kind].dashed);
	} else if (shape == NOTE) {
		rg_buf_printf(picture->out, "<circle cx=\"%d\" cy=\"%d\" r=\"3.5\" fill=\"%s\"/>\n",
			      from, y, colour);
	} else {
		x = picture->width / 2;
		rg_buf_printf(picture->out,
			      "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\""
			      " stroke-dasharray=\"2 3\"/>\n",
			      MARGIN + TIME_WIDTH, y, picture->width - MARGIN, y, colour);
	}
	draw_label(picture, x, y - 6, colour, rg_buf_str(&label));
}

static void draw_events(const struct picture *picture)
{
	const struct roger_events *events = &picture->reply->events;
	int64_t before_ms = 0;
	enum shape shape;
	size_t row = 0, i;

	for (i = 0; i < events->count; i++) {
		shape = shape_of(picture->reply, &events->items[i]);
		if (shape == NOTHING)
			continue;
		draw_time(picture, events->items[i].at_ms, before_ms, row_y(row));
		draw_event(picture, &events->items[i], shape, row_y(row));
		before_ms = events->items[i].at_ms;
		row++;
	}
}

void cli_diagram_svg(const struct roger_timeline_reply *reply, struct rg_buf *out)
{
	static const char *const subjects[] = { "issue", "task", "run", "agent" };
	struct picture picture = { .reply = reply, .out = out };

	measure(&picture);
	rg_buf_printf(out,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
		      " viewBox=\"0 0 %d %d\" font-family=\"ui-monospace, Menlo, Consolas,"
		      " 'DejaVu Sans Mono', monospace\" font-size=\"11\" fill=\"#1f2328\">\n"
		      "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
		      "<text x=\"%d\" y=\"26\" font-size=\"15\" font-weight=\"bold\">%s ",
		      picture.width, picture.height, picture.width, picture.height, MARGIN,
		      subjects[reply->subject]);
	add_cut(out, reply->what, (size_t)picture.width / 10 - 10);
	rg_buf_add_text(out, "</text>\n");
	draw_legend(&picture);
	draw_lifelines(&picture);
	draw_names(&picture, TOP - 8);
	draw_events(&picture);
	draw_names(&picture, picture.height - BOTTOM + 18);
	rg_buf_add_text(out, "</svg>\n");
}
