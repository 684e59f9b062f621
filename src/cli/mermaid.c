/*
 * A timeline as a Mermaid sequence diagram: a lane for each agent, an arrow for each message.
 *
 * Claims are on the lane of the agent whose mailbox it is, whoever the worker was.  Names and
 * texts are escaped, so they cannot break the diagram.  A diagram that is longer than viewers
 * show loses its first events, and a note says so.
 */
#include <ctype.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/limits.h"
#include "cli/mermaid.h"
#include "cli/told.h"

enum {
	EVENTS_MAX = 6000, /* more than a diagram has room for */
	CHARS_MAX = 49000, /* viewers refuse 50,000 */
	NAME = 30,	   /* NAME, SUBJECT and LABEL are columns */
	SUBJECT = 48,
	LABEL = 120,
	GAP_MS = 60 * 1000,
	LANES_MAX = 60, /* the last lane is for all other agents */
	CUT_ROWS = 40,
	PART_EVENTS = 5000,
};

#define KIND(name) (UINT64_C(1) << ROGER_EVENT_##name)

/* Not drawn: the arrow of a message says when it was read, and shows its delivery. */
static const uint64_t unseen = KIND(DELIVERED) | KIND(READ) | KIND(ARCHIVED) | KIND(ATTEMPTED);
/* Drawn as an arrow from one lane to another, or to itself; other events are notes on a lane. */
static const uint64_t arrows = KIND(DISPATCHED) | KIND(SENT) | KIND(LATE) | KIND(TIMEOUT) |
			       KIND(REFUSED) | KIND(COMPLETED);
static const uint64_t crossed = KIND(TIMEOUT) | KIND(REFUSED);
/* Drawn as a note over all lanes. */
static const uint64_t across = KIND(CYCLE) | KIND(SESSION) | KIND(DAMAGED) | KIND(ACCEPTED);
static const uint64_t claims =
	KIND(CLAIMED) | KIND(RETURNED) | KIND(LEASE_EXPIRED) | KIND(ACKNOWLEDGED);

static bool is_of(uint64_t kinds, const struct roger_event *event)
{
	return kinds >> event->kind & 1;
}

/* An event, and the offset of its line in the text. */
struct row {
	const struct roger_event *event;
	size_t at;
};

struct picture {
	const struct roger_timeline_reply *reply;
	struct rg_arena *arena;
	struct cli_told_list told;
	struct roger_strs lanes;
	struct rg_buf text; /* the lines of all events */
	struct row *rows;
	size_t count;
	bool failed; /* out of memory */
};

/* ------------------------------------------------------------------- text -- */

/* True if the word "end" is at this offset: Mermaid ends a block there, wherever it is. */
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

/* Add as much of the text as fits into these columns, and at most 4 bytes for each, since combining
 * marks take no columns. */
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

/* ------------------------------------------------------------------ words -- */

/* Add the sender and number of an event's message, like "plan#3". */
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

/* Add "plan#3 first line of the text (context · read after 2s)". */
static void add_sent(struct rg_buf *out, const struct roger_event *event,
		     const struct cli_told *told)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf number = { .maximum = SIZE_MAX };
	struct roger_str read = told && told->read ? told->read->words : RG_STR("unread");

	add_number(&number, event, told);
	add_cut(out, rg_buf_str(&number), LABEL);
	if (told && told->message) {
		rg_buf_add_char(out, ' ');
		add_cut(out, rg_str_first_line(told->message->content), SUBJECT);
	}
	/* What follows says who ran the reader. */
	read.length = strcspn(read.data, ",");
	rg_buf_printf(out, " (%s #183; ", rg_type_names[event->type]);
	add_escaped(out, read);
	rg_buf_add_char(out, ')');
	out->failed |= number.failed;
}

/* Add the label of an event, as "run r1: timeout plan#4: attempt 1 of 3"; an agent is named that is
 * not the one of the lane, as "claimed plan#3 (w1): until ...". */
static void add_label(struct rg_buf *out, const struct roger_event *event,
		      const struct cli_told *told)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf words = { .maximum = SIZE_MAX };
	const struct roger_message *message = told ? told->message : NULL;
	const char *kind = rg_event_kind_names[event->kind];

	if (event->kind == ROGER_EVENT_SENT) {
		add_sent(out, event, told);
		return;
	}
	if (event->run.length)
		rg_buf_printf(&words, "run %.*s: ", RG_STR_ARGS(event->run));
	if (!rg_str_begins(event->words, kind)) {
		rg_buf_add_text(&words, kind);
		if (message || is_of(claims, event)) {
			rg_buf_add_char(&words, ' ');
			add_number(&words, event, told);
		}
		if (message && is_of(claims, event) && event->actor.length &&
		    !rg_str_equal(event->actor, message->to))
			rg_buf_printf(&words, " (%.*s)", RG_STR_ARGS(event->actor));
		rg_buf_add_text(&words, event->words.length ? ": " : "");
	}
	rg_buf_add_str(&words, event->words);
	add_cut(out, rg_buf_str(&words), LABEL);
	out->failed |= words.failed;
}

/* ------------------------------------------------------------------- rows -- */

/* Return the lane of an agent; a new one is added.  The last lane is for all other agents. */
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

/* Begin a note over all lanes. */
static void begin_across(const struct picture *picture, struct rg_buf *out)
{
	rg_buf_add_text(out, "    Note over p0");
	if (picture->lanes.count > 1)
		rg_buf_printf(out, ",p%zu", picture->lanes.count - 1);
	rg_buf_add_text(out, ": ");
}

/* Begin an event's line: an arrow, a note on a lane if it has no peer, or a note over all lanes if
 * it has no actor. */
static void begin_line(struct picture *picture, const struct roger_event *event,
		       const struct cli_told *told, struct rg_buf *out)
{
	struct roger_str actor = event->actor;
	size_t from;

	if (is_of(claims, event) && told && told->message)
		actor = told->message->to;
	if (is_of(across, event) || !actor.length) {
		begin_across(picture, out);
		return;
	}
	from = lane_of(picture, actor);
	if (is_of(arrows, event) && event->peer.length)
		rg_buf_printf(out, "    p%zu%sp%zu: ", from,
			      is_of(crossed, event)		? "--x"
			      : event->kind == ROGER_EVENT_SENT ? "->>"
								: "-->>",
			      lane_of(picture, event->peer));
	else
		rg_buf_printf(out, "    Note over p%zu: ", from);
}

/* Draw the events.  lanes: only find the lanes, since a note over all needs their number. */
static void add_events(struct picture *picture, size_t first, bool lanes)
{
	const struct roger_event *event = picture->reply->events.items + first,
				 *end = picture->reply->events.items + picture->reply->events.count;
	struct rg_buf *out = &picture->text;
	const struct cli_told *told;
	int64_t before_ms = 0;
	char span[32];

	rg_buf_clear(out);
	for (; event < end; event++) {
		if (is_of(unseen, event))
			continue;
		told = cli_told_find(&picture->told, event->message);
		if (lanes) {
			begin_line(picture, event, told, out);
			continue;
		}
		picture->rows[picture->count++] = (struct row){ event, out->length };
		if (before_ms && event->at_ms - before_ms >= GAP_MS) {
			rg_clock_print_span(event->at_ms - before_ms, span);
			begin_across(picture, out);
			rg_buf_printf(out, "#8230; %s #8230;\n", span);
		}
		before_ms = event->at_ms;
		begin_line(picture, event, told, out);
		add_label(out, event, told);
		rg_buf_add_char(out, '\n');
	}
}

/* ------------------------------------------------------------------- cuts -- */

static bool begins_instant(const struct picture *picture, size_t row)
{
	const struct roger_event *event = picture->rows[row].event;

	return event == picture->reply->events.items || event[-1].at_ms != event->at_ms;
}

/* Return the first row from there on that begins an instant, so that --until can name the cut; or
 * row itself if none is near. */
static size_t cut_row(const struct picture *picture, size_t row)
{
	size_t first;

	for (first = row; row && first < picture->count && first < row + CUT_ROWS; first++)
		if (begins_instant(picture, first))
			return first;
	return row;
}

/* Add a note "the last 7 of 9 events; ..." with a command for the earlier ones; if --until cannot
 * name the cut, with the command that prints all. */
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
	rg_buf_add_typed_word(&command, picture->reply->what);
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

int cli_add_mermaid(struct roger *roger, const struct roger_timeline_reply *reply,
		    struct rg_buf *out, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct picture picture = { .reply = reply, .arena = arena, .text.maximum = SIZE_MAX };
	const struct roger_event_list *events = &reply->events;
	const size_t start = events->count > EVENTS_MAX ? events->count - EVENTS_MAX : 0;
	size_t lane, first = 0;
	int r;

	if (arena)
		picture.rows = rg_arena_get(arena, events->count * sizeof *picture.rows + 1);
	if (!picture.rows)
		return rg_fail_memory(err);
	r = cli_told_load(roger, events->items + start, events->count - start, arena, &picture.told,
			  err);
	if (r < 0)
		return r;
	add_events(&picture, start, true);
	add_events(&picture, start, false);
	rg_buf_add_text(out, "sequenceDiagram\n");
	for (lane = 0; lane < picture.lanes.count; lane++) {
		rg_buf_printf(out, "    participant p%zu as ", lane);
		add_cut(out, picture.lanes.items[lane], NAME);
		rg_buf_add_char(out, '\n');
	}
	if (!picture.lanes.count)
		rg_buf_add_text(out, "    participant p0 as nobody\n");
	while (first < picture.count &&
	       picture.text.length - picture.rows[first].at + out->length > CHARS_MAX)
		first++;
	first = cut_row(&picture, first);
	if (picture.count && (first || reply->more))
		add_rest(&picture, first, out);
	if (first < picture.count)
		rg_buf_add(out, picture.text.data + picture.rows[first].at,
			   picture.text.length - picture.rows[first].at);
	out->failed |= picture.failed || picture.text.failed;
	rg_buf_deinit(&picture.text);
	cli_told_free(&picture.told);
	return rg_kept(!out->failed, err);
}
