/*
 * A timeline as a Mermaid sequence diagram: a lane for each agent, an arrow for each message.
 *
 * Claims are on the lane of the agent whose mailbox it is, whoever the worker was.  Names and
 * texts are made harmless, whatever they hold.  What is longer than viewers show is cut at its
 * beginning, and says so.
 */
#include <ctype.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "cli/mermaid.h"
#include "cli/told.h"

enum {
	EVENTS_MAX = 6000, /* more than a diagram has room for */
	CHARS_MAX = 49000, /* viewers refuse 50,000 */
	NAME = 30,	   /* columns, as those that follow */
	SUBJECT = 48,
	LABEL = 120,
	SUBJECT_BYTES = 400,
	GAP_MS = 60 * 1000,
	LANES_MAX = 60, /* the last one is of all others */
	CUT_ROWS = 40,
	PART_EVENTS = 5000,
};

enum shape {
	UNSEEN,
	ARROW, /* from one lane to another, or to itself */
	NOTE,  /* on a lane */
	ACROSS /* all lanes */
};

static const char plain[] = "->>", dashed[] = "-->>", crossed[] = "--x";

/* When a message was read is said with it; a delivery is an arrow anyway. */
static const struct {
	enum shape shape;
	const char *arrow;
	const char *label; /* before the words; NULL: the words are enough */
} styles[] = {
	[ROGER_EVENT_CYCLE] = { ACROSS },
	[ROGER_EVENT_DISPATCHED] = { ARROW, dashed, "dispatched" },
	[ROGER_EVENT_SENT] = { ARROW, plain },
	[ROGER_EVENT_WAKE] = { NOTE, .label = "woken" },
	[ROGER_EVENT_LOOKED] = { NOTE },
	[ROGER_EVENT_LATE] = { ARROW, dashed, "delivered late" },
	[ROGER_EVENT_DUE] = { NOTE, .label = "due" },
	[ROGER_EVENT_TIMEOUT] = { ARROW, crossed, "timeout" },
	[ROGER_EVENT_REFUSED] = { ARROW, crossed, "refused" },
	[ROGER_EVENT_DEAD_LETTER] = { NOTE, .label = "dead letter" },
	[ROGER_EVENT_REDELIVERED] = { NOTE, .label = "redelivered" },
	[ROGER_EVENT_STALE] = { NOTE, .label = "stale" },
	[ROGER_EVENT_RECOVERY] = { NOTE },
	[ROGER_EVENT_COMPLETED] = { ARROW, dashed, "completed" },
	[ROGER_EVENT_FORWARDED] = { NOTE, .label = "result read" },
	[ROGER_EVENT_RUN_NOTE] = { NOTE },
	[ROGER_EVENT_ACTIVITY] = { NOTE },
	[ROGER_EVENT_SESSION] = { ACROSS },
	[ROGER_EVENT_CLAIMED] = { NOTE, .label = "claimed" },
	[ROGER_EVENT_RETURNED] = { NOTE, .label = "returned" },
	[ROGER_EVENT_LEASE_EXPIRED] = { NOTE },
	[ROGER_EVENT_ACKNOWLEDGED] = { NOTE, .label = "acknowledged" },
	[ROGER_EVENT_LOST] = { NOTE, .label = "lost" },
	[ROGER_EVENT_FAILED] = { NOTE },
	[ROGER_EVENT_DAMAGED] = { ACROSS, .label = "damaged" },
	[ROGER_EVENT_ACCEPTED] = { ACROSS },
	[ROGER_EVENT_HANDED] = { NOTE, .label = "handed over" },
	[ROGER_EVENT_SETTLED] = { NOTE, .label = "settled" },
	[ROGER_EVENT_ATTEMPTED] = { UNSEEN },
};

struct row {
	const struct roger_event *event; /* of a gap: the one after it */
	bool gap, across;		 /* across: all lanes */
	struct roger_str text;
};

struct picture {
	const struct roger_timeline_reply *reply;
	struct rg_arena *arena;
	struct cli_told_list told;
	struct roger_strs lanes;
	struct row *rows;
	size_t count;
	bool failed; /* out of memory */
};

/* ------------------------------------------------------------------- text -- */

/* Mermaid ends a block at this word, wherever it is. */
static bool is_end(struct roger_str text, size_t at)
{
	return text.length - at >= 3 && strncasecmp(text.data + at, "end", 3) == 0 &&
	       (at == 0 || !isalnum((unsigned char)text.data[at - 1])) &&
	       (text.length - at == 3 || !isalnum((unsigned char)text.data[at + 3]));
}

static void add_escaped(struct rg_buf *out, struct roger_str text)
{
	size_t at, from = 0;

	for (at = 0; at < text.length; at++) {
		if (!is_end(text, at))
			continue;
		rg_buf_add_escaped(out, RG_IN_MERMAID,
				   (struct roger_str){ text.data + from, at - from });
		rg_buf_printf(out, "#%u;", (unsigned char)text.data[at]);
		from = at + 1;
	}
	rg_buf_add_escaped(out, RG_IN_MERMAID,
			   (struct roger_str){ text.data + from, text.length - from });
}

/* As much as fits into these columns; marks take none, and have an end, too. */
static void add_cut(struct rg_buf *out, struct roger_str text, size_t columns)
{
	size_t fits = cli_bytes_within(text, columns);
	const bool cut = fits < text.length || fits > 4 * columns;

	if (cut) {
		fits = cli_bytes_within(text, columns - 1);
		text = rg_str_first(text, fits < 4 * columns ? fits : 4 * columns);
	}
	add_escaped(out, text);
	if (cut)
		add_escaped(out, RG_STR("…"));
}

/* The beginning of a text on one line: blanks and line ends are one blank. */
static void add_subject(struct rg_buf *out, struct roger_str text)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	size_t i;

	for (i = 0; i < text.length && (i < SUBJECT_BYTES || (text.data[i] & 0xc0) == 0x80); i++) {
		if (!strchr(" \t\r\n", text.data[i]))
			rg_buf_add_char(&line, text.data[i]);
		else if (line.length && line.data[line.length - 1] != ' ')
			rg_buf_add_char(&line, ' ');
	}
	out->failed |= line.failed;
	rg_buf_add_char(out, ' ');
	add_cut(out, rg_buf_str(&line), SUBJECT);
}

/* ------------------------------------------------------------------ words -- */

/* "plan#3" */
static void add_number(struct rg_buf *out, const struct roger_event *event,
		       const struct cli_told *told)
{
	const struct roger_message *message = told ? told->message : NULL;
	const int64_t seq = message ? message->seq : event->seq;

	rg_buf_add_str(out, message			      ? message->from
			    : event->kind == ROGER_EVENT_SENT ? event->actor
							      : event->peer);
	if (seq)
		rg_buf_printf(out, "#%lld", (long long)seq);
}

static bool is_of_claim(const struct roger_event *event)
{
	return event->kind == ROGER_EVENT_CLAIMED || event->kind == ROGER_EVENT_RETURNED ||
	       event->kind == ROGER_EVENT_LEASE_EXPIRED || event->kind == ROGER_EVENT_ACKNOWLEDGED;
}

/* "claimed plan#3 (w1)": a worker is named where it is not the agent itself. */
static void add_claim(struct rg_buf *out, const struct roger_event *event,
		      const struct cli_told *told)
{
	const struct roger_message *message = told ? told->message : NULL;
	const struct roger_str worker = told && told->worker.length ? told->worker : event->actor;

	if (event->kind == ROGER_EVENT_LEASE_EXPIRED) {
		rg_buf_printf(out, "%.*s's lease on ", RG_STR_ARGS(worker));
		add_number(out, event, told);
		rg_buf_add_text(out, " expired");
		return;
	}
	rg_buf_printf(out, "%s ", styles[event->kind].label);
	add_number(out, event, told);
	if (event->actor.length && !(message && rg_str_equal(event->actor, message->to)))
		rg_buf_printf(out, " (%.*s)", RG_STR_ARGS(event->actor));
	if (event->kind == ROGER_EVENT_ACKNOWLEDGED && message &&
	    message->ack_outcome > ROGER_ACK_DONE)
		rg_buf_printf(out, ": %s", rg_ack_outcome_names[message->ack_outcome]);
}

/* "plan#3 the beginning of it (context · read after 2 s)" */
static void add_sent(struct rg_buf *out, const struct roger_event *event,
		     const struct cli_told *told)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf number = { .maximum = SIZE_MAX };
	int64_t waited_ms = 0;
	char span[32];

	add_number(&number, event, told);
	add_cut(out, rg_buf_str(&number), LABEL);
	if (told && told->message && told->message->content.length)
		add_subject(out, told->message->content);
	rg_buf_printf(out, " (%s #183; ", rg_type_names[event->type]);
	if (told && told->read && told->read->at_ms > event->at_ms)
		waited_ms = told->read->at_ms - event->at_ms;
	rg_clock_print_span(waited_ms, span);
	rg_buf_printf(out,
		      !told || !told->read  ? "unread)"
		      : told->read->undated ? "read)"
					    : "read after %s)",
		      span);
	out->failed |= number.failed;
}

/* "run r1: timeout plan#4: attempt 1 of 3" */
static void add_label(struct rg_buf *out, const struct roger_event *event,
		      const struct cli_told *told)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = SIZE_MAX };
	const char *label = styles[event->kind].label;

	if (event->kind == ROGER_EVENT_SENT) {
		add_sent(out, event, told);
		return;
	}
	if (is_of_claim(event)) {
		add_claim(&words, event, told);
	} else {
		if (event->run.length)
			rg_buf_printf(&words, "run %.*s: ", RG_STR_ARGS(event->run));
		rg_buf_add_text(&words, label ? label : "");
		if (label && told && told->message) {
			rg_buf_add_char(&words, ' ');
			add_number(&words, event, told);
		}
		rg_buf_add_text(&words, label && event->words.length ? ": " : "");
		rg_buf_add_str(&words, event->words);
	}
	add_cut(out, rg_buf_str(&words), LABEL);
	out->failed |= words.failed;
}

/* ------------------------------------------------------------------- rows -- */

/* The lane of an agent, which is added where it is new; the last one is of all others. */
static size_t lane_of(struct picture *picture, struct roger_str name)
{
	struct roger_strs *lanes = &picture->lanes;
	size_t i;

	for (i = 0; i < lanes->count; i++)
		if (rg_str_equal(lanes->items[i], name))
			return i;
	if (i == LANES_MAX)
		return i - 1;
	if (i == LANES_MAX - 1)
		name = RG_STR("others");
	picture->failed |= !rg_arena_add(picture->arena, lanes, name);
	return i;
}

/* An arrow without a second end is a note, and a note of nobody goes across (true): how many lanes
 * that is, is not known yet. */
static bool begin_line(struct picture *picture, const struct roger_event *event,
		       const struct cli_told *told, struct rg_buf *out)
{
	const enum shape shape = styles[event->kind].shape;
	struct roger_str actor = event->actor;
	size_t from;

	if (is_of_claim(event) && told && told->message)
		actor = told->message->to;
	if (shape == ACROSS || !actor.length)
		return true;
	from = lane_of(picture, actor);
	if (shape == ARROW && event->peer.length)
		rg_buf_printf(out, "    p%zu%sp%zu: ", from, styles[event->kind].arrow,
			      lane_of(picture, event->peer));
	else
		rg_buf_printf(out, "    Note over p%zu: ", from);
	return false;
}

static void add_row(struct picture *picture, const struct row *row, struct rg_buf *line)
{
	rg_buf_add_char(line, '\n');
	picture->rows[picture->count] = *row;
	picture->failed |=
		!rg_arena_keep(picture->arena, line, &picture->rows[picture->count].text);
	picture->count++;
}

static void add_event(struct picture *picture, const struct roger_event *event, int64_t *before_ms)
{
	struct cli_told *told = cli_told_find(&picture->told, event->message);
	struct row gap = { .event = event, .gap = true, .across = true }, row = { .event = event };
	struct rg_buf line = { .maximum = SIZE_MAX }, pause = { .maximum = SIZE_MAX };
	char span[32];

	if (styles[event->kind].shape == UNSEEN)
		return;
	if (*before_ms && event->at_ms - *before_ms >= GAP_MS) {
		rg_clock_print_span(event->at_ms - *before_ms, span);
		rg_buf_printf(&pause, "#8230; %s #8230;", span);
		add_row(picture, &gap, &pause);
	}
	*before_ms = event->at_ms;
	row.across = begin_line(picture, event, told, &line);
	if (told && event->kind == ROGER_EVENT_CLAIMED)
		told->worker = event->actor;
	add_label(&line, event, told);
	add_row(picture, &row, &line);
}

/* ------------------------------------------------------------------- cuts -- */

static bool begins_instant(const struct picture *picture, size_t row)
{
	const struct roger_event *event = picture->rows[row].event;

	return event == picture->reply->events.items || event[-1].at_ms != event->at_ms;
}

/* The first row of a part that begins there or soon after, so that --until can name where. */
static size_t cut(const struct picture *picture, size_t row)
{
	size_t first;

	for (first = row; row && first < picture->count && first < row + CUT_ROWS; first++)
		if (!picture->rows[first].gap && begins_instant(picture, first))
			return first;
	return row;
}

/* "the last 7 of 9 events; ..." and a command for the others; where that would leave out too
 * much the command is the one that prints all. */
static void add_rest(const struct picture *picture, size_t first, struct rg_buf *out)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf note = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf command = { .maximum = SIZE_MAX };
	const struct roger_event_list *events = &picture->reply->events;
	const struct roger_event *event = picture->rows[first].event;
	char until[32];

	rg_clock_print_utc(event->at_ms, until);
	rg_buf_printf(&note, "the last %lld of %s%zu events; the earlier ones:",
		      (long long)(events->items + events->count - event),
		      picture->reply->more ? "more than " : "", events->count);
	rg_buf_printf(&command, "roger timeline --%s ", rg_subject_names[picture->reply->subject]);
	rg_buf_add_shell_word(&command, picture->reply->what);
	if (begins_instant(picture, first))
		rg_buf_printf(&command, " --until %s --limit %d --mermaid", until, PART_EVENTS);
	else
		rg_buf_printf(&command, " --limit %d", RG_EVENTS_MAX);
	rg_buf_add_text(out, "    Note over p0: ");
	add_escaped(out, rg_buf_str(&note));
	rg_buf_add_char(out, ' ');
	add_cut(out, rg_buf_str(&command), LABEL - 10);
	rg_buf_add_char(out, '\n');
	out->failed |= note.failed || command.failed;
}

/* ---------------------------------------------------------------- diagram -- */

static void add_rows(const struct picture *picture, struct rg_buf *out)
{
	enum { ACROSS_CHARS = sizeof "    Note over p0,p59: " };
	size_t room = CHARS_MAX - out->length, first = picture->count, i;

	for (; first && picture->rows[first - 1].text.length + ACROSS_CHARS <= room; first--)
		room -= picture->rows[first - 1].text.length + ACROSS_CHARS;
	first = cut(picture, first);
	if (picture->count && (first || picture->reply->more))
		add_rest(picture, first, out);
	for (i = first; i < picture->count; i++) {
		if (picture->rows[i].across && picture->lanes.count > 1)
			rg_buf_printf(out, "    Note over p0,p%zu: ", picture->lanes.count - 1);
		else if (picture->rows[i].across)
			rg_buf_add_text(out, "    Note over p0: ");
		rg_buf_add_str(out, picture->rows[i].text);
	}
}

int cli_add_mermaid(struct roger *roger, const struct roger_timeline_reply *reply,
		    struct rg_buf *out, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct picture picture = { .reply = reply, .arena = arena };
	const struct roger_event_list *events = &reply->events;
	size_t i = events->count > EVENTS_MAX ? events->count - EVENTS_MAX : 0;
	int64_t before_ms = 0;
	size_t lane;
	int r;

	if (arena)
		picture.rows = rg_arena_get(arena, 2 * events->count * sizeof *picture.rows + 1);
	if (!picture.rows)
		return rg_fail_memory(err);
	r = cli_told_load(roger, events->items + i, events->count - i, arena, &picture.told, err);
	if (r < 0)
		return r;
	for (; i < events->count; i++)
		add_event(&picture, &events->items[i], &before_ms);
	rg_buf_add_text(out, "sequenceDiagram\n");
	for (lane = 0; lane < picture.lanes.count; lane++) {
		rg_buf_printf(out, "    participant p%zu as ", lane);
		add_cut(out, picture.lanes.items[lane], NAME);
		rg_buf_add_char(out, '\n');
	}
	if (!picture.lanes.count)
		rg_buf_add_text(out, "    participant p0 as nobody\n");
	if (!picture.failed)
		add_rows(&picture, out);
	cli_told_free(&picture.told);
	return picture.failed || out->failed ? rg_fail_memory(err) : ROGER_OK;
}
