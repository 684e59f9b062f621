#include "cli/diagram.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/unicode.h"

/* ---------------------------------------------------------------- widths -- */

/*
 * Columns that a character takes at most in any font it may be shown in: scripts that
 * fonts of one width lack are wider there, and marks on marks do not go on for ever.
 */
static size_t width_of(uint32_t c, size_t *marks)
{
	const size_t columns = rg_char_is_harmful(c) ? 2 : rg_char_columns(c);

	/* Vowel signs are marks, too, and take room. */
	if (!columns)
		return ++*marks > 2 || (c >= 0x590 && c < 0x1ab0);
	*marks = 0;
	if (c < 0x590 || (c >= 0x2000 && c < 0x2c00))
		return columns;
	if ((c >= 0xfdf0 && c < 0xfe00) || (c >= 0x12000 && c < 0x12550) || c == 0x2e3b)
		return 12;
	return 2;
}

/* How many bytes fit into these columns, and how many columns these take. */
static size_t fit(struct roger_str text, size_t columns, size_t *ret_taken)
{
	size_t at = 0, marks = 0, taken = 0, step, width;
	uint32_t c;

	for (; at < text.length; at += step ? step : 1) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		width = step ? width_of(c, &marks) : 1;
		if (taken + width > columns)
			break;
		taken += width;
	}
	*ret_taken = taken;
	return at;
}

typedef void add_text(struct rg_buf *out, struct roger_str text);

/* As much as fits into these columns; an ellipsis at the end says that it was cut. */
static void add_cut(struct rg_buf *out, struct roger_str text, size_t columns, add_text *add)
{
	size_t taken;
	bool whole = fit(text, columns, &taken) == text.length;

	if (!whole)
		text.length = fit(text, columns ? columns - 1 : 0, &taken);
	add(out, text);
	if (!whole)
		add(out, RG_STR("…"));
}

static size_t columns_of(struct roger_str text)
{
	size_t taken;

	fit(text, SIZE_MAX, &taken);
	return taken;
}

/* --------------------------------------------------------------- mermaid -- */

/* Viewers refuse 50,000 characters. */
enum { MERMAID_MAX = 49000, MERMAID_NAME = 30, MERMAID_SUBJECT = 48, MERMAID_LABEL = 120 };

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Mermaid ends a block at this word, wherever it is. */
static bool is_end(struct roger_str text, size_t at)
{
	return text.length - at >= 3 && strncasecmp(text.data + at, "end", 3) == 0 &&
	       (at == 0 || !is_letter(text.data[at - 1])) &&
	       (text.length - at == 3 || !is_letter(text.data[at + 3]));
}

/* What is no plain character of a sentence is written as #number; */
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

static void add_mermaid_row(const struct cli_story *story, const struct cli_row *row,
			    struct rg_buf *out)
{
	static const char across[] = "    Note over p0,p%zu: ", over[] = "    Note over p%zu: ";
	const size_t last = story->lanes.count ? story->lanes.count - 1 : 0;

	if (row->shape == CLI_ARROW)
		rg_buf_printf(out, "    p%zu%sp%zu: ", row->from,
			      row->mark == CLI_MARK_TIMEOUT ? "--x"
			      : row->dashed		    ? "-->>"
							    : "->>",
			      row->to);
	else if (row->shape == CLI_NOTE)
		rg_buf_printf(out, over, row->from);
	else
		rg_buf_printf(out, last ? across : over, last);
	add_cut(out, row->label, MERMAID_LABEL, add_mermaid);
	if (row->subject.length) {
		rg_buf_add_char(out, ' ');
		add_cut(out, row->subject, MERMAID_SUBJECT, add_mermaid);
	}
	if (row->detail.length) {
		rg_buf_add_text(out, " (");
		add_mermaid(out, row->detail);
		rg_buf_add_char(out, ')');
	}
	rg_buf_add_char(out, '\n');
}

static void add_participants(const struct cli_story *story, struct rg_buf *out)
{
	size_t i;

	rg_buf_add_text(out, "sequenceDiagram\n");
	for (i = 0; i < story->lanes.count; i++) {
		rg_buf_printf(out, "    participant p%zu as ", i);
		add_cut(out, story->lanes.items[i], MERMAID_NAME, add_mermaid);
		rg_buf_add_char(out, '\n');
	}
	if (!story->lanes.count)
		rg_buf_add_text(out, "    participant p0 as nobody\n");
}

static void add_mermaid_rest(const struct cli_story *story, size_t first, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf note = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf command = { .maximum = SIZE_MAX };

	if (!first && !story->reply->more)
		return;
	cli_story_add_rest(story, first, "mermaid", &note, &command);
	rg_buf_add_text(out, "    Note over p0: ");
	add_mermaid(out, rg_buf_str(&note));
	rg_buf_add_char(out, ' ');
	add_cut(out, rg_buf_str(&command), MERMAID_LABEL - 10, add_mermaid);
	rg_buf_add_char(out, '\n');
}

void cli_diagram_mermaid(const struct cli_story *story, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	size_t room, first = story->count, i;

	add_participants(story, out);
	for (room = MERMAID_MAX - out->length; first > 0; first--) {
		rg_buf_clear(&line);
		add_mermaid_row(story, &story->rows[first - 1], &line);
		if (line.length > room)
			break;
		room -= line.length;
	}
	first = cli_story_cut(story, first);
	if (story->count)
		add_mermaid_rest(story, first, out);
	for (i = first; i < story->count; i++)
		add_mermaid_row(story, &story->rows[i], out);
}

/* ------------------------------------------------------------------- svg -- */

/* Pixels.  Viewers draw no more than 32,767. */
enum {
	HEIGHT_MAX = 32700,
	TIME_WIDTH = 92,
	MARGIN = 16,
	HEAD = 44, /* above the legend */
	NAMES = 30,
	LEGEND_ROW = 18,
	LANE_LEAST = 212,
	LANE_MOST = 300,
	WIDTH = 1180, /* that is aimed at */
	LOOP = 26,    /* of an arrow to oneself */
	BAR = 7,      /* from one claim to another that goes on beside it */
	BARS_MAX = 4,
	NOTE_MOST = 520,
};

/* Hundredths of a pixel that a column takes at most, in fonts of 11 pixels. */
enum { COLUMN = 693 };

#define TINTS(grey, blue, leaf, purple, brown, crimson)                                            \
	".rt .k0{color:" grey "}.rt .k1{color:" blue "}.rt .k2{color:" leaf                        \
	"}.rt .k3{color:" purple "}.rt .k4{color:" brown "}.rt .k5{color:" crimson "}"

const char cli_diagram_style[] =
	".rt{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;color:#1f2328}"
	".rt text{fill:currentColor;stroke:#fff;stroke-width:3px;paint-order:stroke;"
	"unicode-bidi:isolate}"
	".rt .h{font-weight:bold;font-size:15px}.rt .b{font-weight:bold}.rt .m{text-anchor:middle}"
	".rt .e{text-anchor:end}.rt .g{fill:#fff}"
	".rt line,.rt path{stroke:currentColor;fill:none}.rt .f{fill:currentColor}"
	".rt .d{stroke-dasharray:5 4}.rt .w{stroke-width:2px}.rt .l{color:#d0d7de}"
	".rt .c{fill:currentColor;opacity:.35}" TINTS(
		"#57606a", "#0969da", "#1a7f37", "#8250df", "#8a5a00",
		"#cf222e") "@media (prefers-color-scheme:dark){.rt{color:#e6edf3}.rt "
			   "text{stroke:#0d1117}"
			   ".rt .g{fill:#0d1117}.rt .l{color:#3d444d}" TINTS(
				   "#9198a1", "#58a6ff", "#3fb950", "#bc8cff", "#d29922",
				   "#ff7b72") "}";

struct bar {
	size_t last; /* row that it ends at */
	size_t slot;
	bool open;
};

struct picture {
	const struct cli_story *story;
	struct rg_buf *out;
	size_t first;
	struct bar *bars; /* by row */
	int *y;		  /* by row: where it begins; one more at the end */
	int lane, width, top, height;
	bool within;
};

void cli_diagram_add_xml(struct rg_buf *out, struct roger_str text)
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

/* Text of a class, cut to the pixels that it has. */
static void draw_text(const struct picture *picture, const char *class, int x, int y, int room,
		      struct roger_str text)
{
	rg_buf_printf(picture->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
	add_cut(picture->out, text, room > 0 ? (size_t)room * 100 / COLUMN : 0,
		cli_diagram_add_xml);
	rg_buf_add_text(picture->out, "</text>\n");
}

static int lane_x(const struct picture *picture, size_t lane)
{
	return MARGIN + TIME_WIDTH + picture->lane / 2 + (int)lane * picture->lane;
}

/* ----------------------------------------------------------------- marks -- */

static const char *const mark_names[CLI_MARKS] = {
	[CLI_MARK_TIMEOUT] = "timeout or refused",
	[CLI_MARK_CLAIM] = "claimed",
	[CLI_MARK_ACK] = "acknowledged",
	[CLI_MARK_LAPSE] = "lease expired",
	[CLI_MARK_RETURN] = "returned",
	[CLI_MARK_DEAD] = "dead letter",
	[CLI_MARK_AGAIN] = "redelivered or recovered",
	[CLI_MARK_KILL] = "failed, killed or lost",
};

static void draw_mark(const struct picture *picture, enum cli_mark mark, int x, int y)
{
	/* From its middle on; the ones that are filled begin with a blank. */
	static const char *const paths[CLI_MARKS] = {
		[CLI_MARK_TIMEOUT] = "m-5-5l10 10m0-10l-10 10",
		[CLI_MARK_ACK] = "m-5 0l4 4l7-8",
		[CLI_MARK_LAPSE] = "m-5-5l10 10m0-10l-10 10",
		[CLI_MARK_RETURN] = "m0-5l5 5l-5 5l-5-5z",
		[CLI_MARK_DEAD] = " m-5-5h10v10h-10z",
		[CLI_MARK_AGAIN] = "m4-3a5 5 0 1 0 1 4m0-8v4h-4",
		[CLI_MARK_KILL] = "m-6-6h12v12h-12zm3 3l6 6m0-6l-6 6",
	};

	if (paths[mark])
		rg_buf_printf(picture->out, "<path class=\"%s\" d=\"M%d %d%s\"/>\n",
			      paths[mark][0] == ' ' ? "f" : "w", x, y, paths[mark]);
	else
		rg_buf_printf(picture->out, "<circle class=\"f\" cx=\"%d\" cy=\"%d\" r=\"3.5\"/>\n",
			      x, y);
}

/* ---------------------------------------------------------------- layout -- */

static int height_of(const struct cli_row *row)
{
	if (row->shape == CLI_ARROW)
		return row->detail.length ? 42 : 30;
	return 24;
}

static bool is_end_of_claim(const struct cli_row *row)
{
	return row->mark == CLI_MARK_ACK || row->mark == CLI_MARK_LAPSE ||
	       row->mark == CLI_MARK_RETURN || row->mark == CLI_MARK_CLAIM;
}

/* Where the claim of a row ends, and beside how many others it is drawn. */
static void measure_bar(const struct picture *picture, size_t row)
{
	const struct cli_story *story = picture->story;
	const struct cli_row *rows = story->rows;
	struct bar *bar = &picture->bars[row];
	unsigned taken = 0;
	size_t i;

	/* It may be where an earlier claim of the same message ended. */
	bar->slot = 0;
	for (i = row + 1; i < story->count; i++)
		if (is_end_of_claim(&rows[i]) && rows[i].shape == CLI_NOTE &&
		    rg_str_equal(rows[i].event->message, rows[row].event->message))
			break;
	bar->open = i == story->count;
	bar->last = bar->open ? i - 1 : i;
	for (i = picture->first; i < row; i++)
		if (picture->bars[i].last > row && rows[i].from == rows[row].from)
			taken |= 1U << picture->bars[i].slot;
	while (bar->slot + 1 < BARS_MAX && taken >> bar->slot & 1)
		bar->slot++;
	if (!bar->open)
		picture->bars[bar->last].slot = bar->slot;
}

static bool measure(struct picture *picture)
{
	const struct cli_story *story = picture->story;
	const size_t lanes = story->lanes.count ? story->lanes.count : 1;
	size_t i;
	int y;

	picture->lane = (WIDTH - 2 * MARGIN - TIME_WIDTH) / (int)lanes;
	if (picture->lane < LANE_LEAST)
		picture->lane = LANE_LEAST;
	if (picture->lane > LANE_MOST)
		picture->lane = LANE_MOST;
	picture->width = 2 * MARGIN + TIME_WIDTH + (int)lanes * picture->lane;
	if (picture->width < 640)
		picture->width = 640;
	picture->bars = rg_arena_get(story->arena, (story->count + 1) * sizeof *picture->bars);
	picture->y = rg_arena_get(story->arena, (story->count + 1) * sizeof *picture->y);
	if (!picture->bars || !picture->y)
		return false;
	/* Room for the legend in any case. */
	for (y = 400, i = story->count; i > 0; i--) {
		y += height_of(&story->rows[i - 1]);
		if (y > HEIGHT_MAX)
			break;
	}
	picture->first = cli_story_cut(story, i);
	for (i = picture->first; i < story->count; i++)
		if (story->rows[i].shape == CLI_NOTE && story->rows[i].mark == CLI_MARK_CLAIM)
			measure_bar(picture, i);
	return true;
}

static void place_rows(struct picture *picture)
{
	size_t i;
	int y = picture->top + 8;

	for (i = picture->first; i < picture->story->count; i++) {
		picture->y[i] = y;
		y += height_of(&picture->story->rows[i]);
	}
	picture->y[i] = y;
	picture->height = y + 12 + NAMES;
}

/* ------------------------------------------------------------------ head -- */

/* Local times, with the zone. */
static void add_times(const struct picture *picture, struct rg_buf *out)
{
	const struct cli_row *rows = picture->story->rows;
	time_t from = (time_t)(rows[picture->first].event->at_ms / 1000),
	       to = (time_t)(rows[picture->story->count - 1].event->at_ms / 1000);
	char first[32] = "", last[48] = "";
	struct tm tm;

	if (localtime_r(&from, &tm))
		strftime(first, sizeof first, "%Y-%m-%d %H:%M:%S", &tm);
	if (localtime_r(&to, &tm))
		strftime(last, sizeof last, "%Y-%m-%d %H:%M:%S (UTC%z)", &tm);
	rg_buf_printf(out, "%s to %s, not to scale", first, last);
}

static void draw_rest(struct picture *picture)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf note = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf command = { .maximum = SIZE_MAX };
	const int room = picture->width - 2 * MARGIN;

	if (!picture->first && !picture->story->reply->more)
		return;
	cli_story_add_rest(picture->story, picture->first, "svg", &note, &command);
	rg_buf_add_text(picture->out, "<g class=\"k4\">\n");
	draw_text(picture, "b", MARGIN, picture->top + 14, room, rg_buf_str(&note));
	draw_text(picture, "b", MARGIN, picture->top + 30, room, rg_buf_str(&command));
	rg_buf_add_text(picture->out, "</g>\n");
	picture->top += 38;
}

static void add_legend(struct picture *picture, int *x, const char *name)
{
	const int width = (int)strlen(name) * COLUMN / 100 + 34;

	if (*x + width > picture->width - MARGIN && *x > MARGIN) {
		*x = MARGIN;
		picture->top += LEGEND_ROW;
	}
}

/* Only what there is to see. */
static void draw_legend(struct picture *picture)
{
	static const enum cli_tint tints[CLI_MARKS] = {
		[CLI_MARK_TIMEOUT] = CLI_CRIMSON, [CLI_MARK_CLAIM] = CLI_BROWN,
		[CLI_MARK_ACK] = CLI_LEAF,	  [CLI_MARK_LAPSE] = CLI_CRIMSON,
		[CLI_MARK_RETURN] = CLI_BROWN,	  [CLI_MARK_DEAD] = CLI_CRIMSON,
		[CLI_MARK_AGAIN] = CLI_BLUE,	  [CLI_MARK_KILL] = CLI_CRIMSON,
	};
	unsigned seen_types = 0, seen_marks = 0;
	const char *type;
	int x = MARGIN;
	size_t i;

	for (i = picture->first; i < picture->story->count; i++) {
		const struct cli_row *row = &picture->story->rows[i];

		seen_marks |= row->shape == CLI_GAP ? 0 : 1U << row->mark;
		if (row->event->kind == ROGER_EVENT_SENT && row->shape != CLI_GAP)
			seen_types |= 1U << row->tint;
	}
	picture->top = HEAD + LEGEND_ROW;
	for (i = 1; i < CLI_CRIMSON; i++) {
		if (!(seen_types >> i & 1))
			continue;
		type = cli_value_name(cli_item_record("timeline"), "type", (int)i);
		add_legend(picture, &x, type);
		rg_buf_printf(picture->out,
			      "<g class=\"k%zu\"><line class=\"w\" x1=\"%d\" y1=\"%d\" x2=\"%d\""
			      " y2=\"%d\"/>",
			      i, x, picture->top - 4, x + 14, picture->top - 4);
		draw_text(picture, "", x + 19, picture->top, 200, rg_str(type));
		rg_buf_add_text(picture->out, "</g>\n");
		x += (int)strlen(type) * COLUMN / 100 + 34;
	}
	for (i = 0; i < CLI_MARKS; i++) {
		if (!mark_names[i] || !(seen_marks >> i & 1))
			continue;
		add_legend(picture, &x, mark_names[i]);
		rg_buf_printf(picture->out, "<g class=\"k%d\">", (int)tints[i]);
		draw_mark(picture, (enum cli_mark)i, x + 7, picture->top - 4);
		draw_text(picture, "", x + 19, picture->top, 300, rg_str(mark_names[i]));
		rg_buf_add_text(picture->out, "</g>\n");
		x += (int)strlen(mark_names[i]) * COLUMN / 100 + 34;
	}
}

static void add_titled(struct rg_buf *out, const char *element, struct roger_str text)
{
	rg_buf_printf(out, "<%s>", element);
	cli_diagram_add_xml(out, text);
	rg_buf_printf(out, "</%s>", element);
}

static void draw_head(struct picture *picture)
{
	const struct cli_story *story = picture->story;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf title = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf times = { .maximum = SIZE_MAX };

	rg_buf_printf(&title, "%s %.*s", cli_story_subject(story->reply),
		      RG_STR_ARGS(story->reply->what));
	if (story->count)
		add_times(picture, &times);
	else
		rg_buf_add_text(&times, "no events");
	add_titled(picture->out, "title", rg_buf_str(&title));
	rg_buf_printf(picture->out, "<desc>A sequence diagram: %zu agents, %zu events; ",
		      story->lanes.count, story->reply->events.count);
	cli_diagram_add_xml(picture->out, rg_buf_str(&times));
	rg_buf_add_text(picture->out, "</desc>\n<rect class=\"g\" width=\"100%\""
				      " height=\"100%\"/>\n");
	/* Its letters are wider than those that room is measured in. */
	draw_text(picture, "h", MARGIN, 24, (picture->width - 2 * MARGIN) * 11 / 15,
		  rg_buf_str(&title));
	rg_buf_add_text(picture->out, "<g class=\"k0\">");
	draw_text(picture, "", MARGIN, 41, picture->width - 2 * MARGIN, rg_buf_str(&times));
	rg_buf_add_text(picture->out, "</g>\n");
}

static void draw_names(const struct picture *picture, int y)
{
	size_t i;

	for (i = 0; i < picture->story->lanes.count; i++) {
		rg_buf_add_text(picture->out, "<g>");
		add_titled(picture->out, "title", picture->story->lanes.items[i]);
		draw_text(picture, "b m", lane_x(picture, i), y, picture->lane - 12,
			  picture->story->lanes.items[i]);
		rg_buf_add_text(picture->out, "</g>\n");
	}
}

static void draw_lanes(const struct picture *picture)
{
	size_t i;

	rg_buf_add_text(picture->out, "<g class=\"l\">\n");
	for (i = 0; i < picture->story->lanes.count; i++)
		rg_buf_printf(picture->out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
			      lane_x(picture, i), picture->top, lane_x(picture, i),
			      picture->height - NAMES);
	rg_buf_add_text(picture->out, "</g>\n");
}

/* ------------------------------------------------------------------ rows -- */

/* Seconds, and the day where it is another one than before. */
static void draw_time(const struct picture *picture, size_t row, int y)
{
	const struct cli_row *rows = picture->story->rows;
	time_t now = (time_t)(rows[row].event->at_ms / 1000), then = 0;
	char day[24] = "", last[24] = "", text[32] = "";
	struct tm tm;

	if (row > picture->first)
		then = (time_t)(rows[row - 1].event->at_ms / 1000);
	if (row > picture->first + 1 && rows[row - 1].shape == CLI_GAP)
		then = (time_t)(rows[row - 2].event->at_ms / 1000);
	if (then && localtime_r(&then, &tm))
		strftime(last, sizeof last, "%Y-%m-%d", &tm);
	if (!localtime_r(&now, &tm))
		return;
	strftime(day, sizeof day, "%Y-%m-%d", &tm);
	rg_buf_add_text(picture->out, "<g class=\"k0\">");
	if (strcmp(day, last) != 0)
		draw_text(picture, "", MARGIN, y - 12, TIME_WIDTH, rg_str(day));
	snprintf(text, sizeof text, "%02d:%02d:%02d.%03d", tm.tm_hour, tm.tm_min, tm.tm_sec,
		 (int)(rows[row].event->at_ms % 1000));
	draw_text(picture, "", MARGIN, y, TIME_WIDTH, rg_str(text));
	rg_buf_add_text(picture->out, "</g>");
}

static void draw_bar(const struct picture *picture, size_t row)
{
	const struct bar *bar = &picture->bars[row];
	const int x = lane_x(picture, picture->story->rows[row].from) + (int)bar->slot * BAR,
		  from = picture->y[row] + 12,
		  to = bar->open ? picture->y[picture->story->count] : picture->y[bar->last] + 12;
	const enum cli_tint tint =
		bar->open || picture->story->rows[bar->last].mark == CLI_MARK_CLAIM
			? CLI_BROWN
			: picture->story->rows[bar->last].tint;

	rg_buf_printf(picture->out,
		      "<g class=\"k%d\"><rect class=\"c\" x=\"%d\" y=\"%d\" width=\"5\""
		      " height=\"%d\"/></g>\n",
		      (int)tint, x - 2, from, to > from ? to - from : 1);
}

static void draw_arrow(const struct picture *picture, const struct cli_row *row, int y)
{
	const int from = lane_x(picture, row->from), to = lane_x(picture, row->to);
	const char *dashes = row->dashed ? " class=\"d\"" : "";
	int back = to > from ? -7 : 7, tip = y;

	if (from == to) {
		rg_buf_printf(picture->out, "<path%s d=\"M%d %dh%dv8h-%d\"/>\n", dashes, from,
			      y - 4, LOOP, LOOP - 7);
		tip = y + 4;
	} else {
		rg_buf_printf(picture->out, "<line%s x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
			      dashes, from, y, to + back, y);
	}
	if (row->mark == CLI_MARK_HEAD)
		rg_buf_printf(picture->out, "<path class=\"f\" d=\"M%d %dl%d-4v8z\"/>\n", to, tip,
			      back);
	else
		draw_mark(picture, row->mark, to + 2 * back, tip);
}

/* "plan#3 a text": a long name leaves half of the room to the text, and the number is whole. */
static void draw_subject(const struct picture *picture, const struct cli_row *row, size_t columns)
{
	struct roger_str name = row->label, number = { "", 0 };
	const char *hash = memrchr(name.data, '#', name.length);
	size_t taken = columns_of(name), digits;

	if (hash) {
		name.length = (size_t)(hash - name.data);
		number = (struct roger_str){ hash, row->label.length - name.length };
	}
	digits = number.length;
	if (taken > columns / 2)
		taken = columns / 2 > digits ? columns / 2 : digits;
	rg_buf_add_text(picture->out, "<tspan class=\"b\">");
	add_cut(picture->out, name, taken - digits, cli_diagram_add_xml);
	rg_buf_add_str(picture->out, number);
	rg_buf_add_text(picture->out, "</tspan> ");
	add_cut(picture->out, row->subject, columns > taken ? columns - taken - 1 : 0,
		cli_diagram_add_xml);
}

/* The label on the arrow, what it is and when it was read below. */
static void draw_message(const struct picture *picture, const struct cli_row *row, int y)
{
	const int from = lane_x(picture, row->from), to = lane_x(picture, row->to);
	const bool loop = from == to;
	const bool last = row->to + 1 == picture->story->lanes.count;
	const int beside = last ? picture->lane / 2 + MARGIN : picture->lane - 8,
		  room = loop ? beside - LOOP - 8 : abs(to - from) - 22,
		  x = loop ? from + LOOP + 6 : (from + to) / 2;
	const size_t columns = (size_t)(room > 0 ? room : 0) * 100 / COLUMN;
	const char *class = loop ? "" : "m";

	rg_buf_printf(picture->out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y - 6);
	if (row->detail.length)
		draw_subject(picture, row, columns);
	else
		add_cut(picture->out, row->label, columns, cli_diagram_add_xml);
	rg_buf_add_text(picture->out, "</text>\n");
	draw_arrow(picture, row, y);
	if (row->detail.length)
		draw_text(picture, class, x, y + 14, room, row->detail);
}

/*
 * To the right of its mark, over other lanes where it must, since nothing else is in its
 * row; to the left where there is more room.
 */
static void draw_note(const struct picture *picture, size_t i, int y)
{
	const struct cli_row *row = &picture->story->rows[i];
	const int slot = (int)picture->bars[i].slot * BAR, x = lane_x(picture, row->from) + slot,
		  right = picture->width - MARGIN - x - 12,
		  left = x - slot - 12 - MARGIN - TIME_WIDTH;
	const bool fits = (int)columns_of(row->label) <= right * 100 / COLUMN;

	draw_mark(picture, row->mark, x, y);
	if (fits || right >= left)
		draw_text(picture, "", x + 12, y + 4, right < NOTE_MOST ? right : NOTE_MOST,
			  row->label);
	else
		draw_text(picture, "e", x - slot - 12, y + 4, left < NOTE_MOST ? left : NOTE_MOST,
			  row->label);
}

static void draw_across(const struct picture *picture, const struct cli_row *row, int y)
{
	const int left = MARGIN + TIME_WIDTH, right = picture->width - MARGIN;

	rg_buf_printf(picture->out, "<line class=\"d\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n",
		      left, y, right, y);
	draw_text(picture, "m", (left + right) / 2, y + 4, right - left - 20, row->label);
}

static void draw_row(const struct picture *picture, size_t i)
{
	const struct cli_row *row = &picture->story->rows[i];
	const int y = picture->y[i] + (row->shape == CLI_ARROW ? 20 : 12);

	if (row->shape != CLI_GAP)
		draw_time(picture, i, y + 4);
	rg_buf_printf(picture->out, "<g class=\"k%d\"><title>", (int)row->tint);
	cli_diagram_add_xml(picture->out, row->label);
	if (row->detail.length) {
		rg_buf_printf(picture->out, " to ");
		cli_diagram_add_xml(picture->out, picture->story->lanes.items[row->to]);
		rg_buf_add_text(picture->out, ": ");
		cli_diagram_add_xml(picture->out, row->subject);
		rg_buf_add_text(picture->out, " (");
		cli_diagram_add_xml(picture->out, row->detail);
		rg_buf_add_char(picture->out, ')');
	}
	rg_buf_add_text(picture->out, "</title>");
	if (row->shape == CLI_ARROW)
		draw_message(picture, row, y);
	else if (row->shape == CLI_NOTE)
		draw_note(picture, i, y);
	else
		draw_across(picture, row, y);
	rg_buf_add_text(picture->out, "</g>\n");
}

static void draw(struct picture *picture)
{
	struct rg_buf *out = picture->out;
	RG_CLEANUP(rg_buf_deinit) struct rg_buf head = { .maximum = SIZE_MAX };
	size_t i;

	/* The head decides how high all is. */
	picture->out = &head;
	draw_head(picture);
	draw_legend(picture);
	if (picture->story->count)
		draw_rest(picture);
	picture->top += NAMES;
	place_rows(picture);
	picture->out = out;
	if (!picture->within)
		rg_buf_add_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	rg_buf_printf(out,
		      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"rt\" role=\"img\""
		      " width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
		      picture->width, picture->height, picture->width, picture->height);
	if (!picture->within)
		rg_buf_printf(out, "<style>%s</style>\n", cli_diagram_style);
	rg_buf_add_str(out, rg_buf_str(&head));
	out->failed |= head.failed;
	draw_lanes(picture);
	draw_names(picture, picture->top - 8);
	for (i = picture->first; i < picture->story->count; i++)
		if (picture->bars[i].last)
			draw_bar(picture, i);
	for (i = picture->first; i < picture->story->count; i++)
		draw_row(picture, i);
	draw_names(picture, picture->height - NAMES + 18);
	rg_buf_add_text(out, "</svg>\n");
}

void cli_diagram_svg(const struct cli_story *story, bool within, struct rg_buf *out)
{
	struct picture picture = { .story = story, .out = out, .within = within };

	if (measure(&picture))
		draw(&picture);
	else
		out->failed = true;
}
