#include "cli/story.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"

enum {
	GAP_MS = 60 * 1000,
	SUBJECT_BYTES = 400,
	LANES_MAX = 60, /* the last one is of all others */
	IDS_A_PAGE = 500,
	CUT_ROWS = 40,
	PART_EVENTS = 5000, /* more than a picture has room for */
};

struct style {
	enum cli_shape shape;
	enum cli_tint tint;
	enum cli_mark mark;
	bool dashed;
	const char *label; /* before the words; NULL: the words are enough */
};

/* When a message was read is said with it; a delivery is an arrow anyway. */
static const struct style styles[] = {
	[ROGER_EVENT_CYCLE] = { CLI_LINE, CLI_GREY, CLI_MARK_DOT, true, NULL },
	[ROGER_EVENT_DISPATCHED] = { CLI_ARROW, CLI_BLUE, CLI_MARK_HEAD, true, "dispatched" },
	[ROGER_EVENT_SENT] = { CLI_ARROW, CLI_GREY, CLI_MARK_HEAD, false, NULL },
	[ROGER_EVENT_WAKE] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, "woken" },
	[ROGER_EVENT_LOOKED] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, NULL },
	[ROGER_EVENT_LATE] = { CLI_ARROW, CLI_LEAF, CLI_MARK_HEAD, true, "delivered late" },
	[ROGER_EVENT_DUE] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, "due" },
	[ROGER_EVENT_TIMEOUT] = { CLI_ARROW, CLI_CRIMSON, CLI_MARK_TIMEOUT, true, "timeout" },
	[ROGER_EVENT_REFUSED] = { CLI_ARROW, CLI_CRIMSON, CLI_MARK_TIMEOUT, true, "refused" },
	[ROGER_EVENT_DEAD_LETTER] = { CLI_NOTE, CLI_CRIMSON, CLI_MARK_DEAD, false, "dead letter" },
	[ROGER_EVENT_REDELIVERED] = { CLI_NOTE, CLI_BLUE, CLI_MARK_AGAIN, false, "redelivered" },
	[ROGER_EVENT_STALE] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, "stale" },
	[ROGER_EVENT_RECOVERY] = { CLI_NOTE, CLI_BLUE, CLI_MARK_AGAIN, false, NULL },
	[ROGER_EVENT_COMPLETED] = { CLI_ARROW, CLI_BLUE, CLI_MARK_HEAD, true, "completed" },
	[ROGER_EVENT_FORWARDED] = { CLI_NOTE, CLI_LEAF, CLI_MARK_DOT, false, "forwarded" },
	[ROGER_EVENT_RUN_NOTE] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, NULL },
	[ROGER_EVENT_ACTIVITY] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, NULL },
	[ROGER_EVENT_SESSION] = { CLI_LINE, CLI_GREY, CLI_MARK_DOT, true, NULL },
	[ROGER_EVENT_CLAIMED] = { CLI_NOTE, CLI_BROWN, CLI_MARK_CLAIM, false, "claimed" },
	[ROGER_EVENT_RETURNED] = { CLI_NOTE, CLI_BROWN, CLI_MARK_RETURN, false, "returned" },
	[ROGER_EVENT_LEASE_EXPIRED] = { CLI_NOTE, CLI_CRIMSON, CLI_MARK_LAPSE, false, NULL },
	[ROGER_EVENT_ACKNOWLEDGED] = { CLI_NOTE, CLI_LEAF, CLI_MARK_ACK, false, "acknowledged" },
	[ROGER_EVENT_LOST] = { CLI_NOTE, CLI_CRIMSON, CLI_MARK_KILL, false, "lost" },
	[ROGER_EVENT_FAILED] = { CLI_NOTE, CLI_CRIMSON, CLI_MARK_KILL, false, NULL },
	[ROGER_EVENT_DAMAGED] = { CLI_LINE, CLI_CRIMSON, CLI_MARK_DOT, true, "damaged" },
	[ROGER_EVENT_ACCEPTED] = { CLI_LINE, CLI_GREY, CLI_MARK_DOT, true, NULL },
	[ROGER_EVENT_HANDED] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, "handed over" },
	[ROGER_EVENT_SETTLED] = { CLI_NOTE, CLI_GREY, CLI_MARK_DOT, false, "settled" },
	[ROGER_EVENT_ATTEMPTED] = { CLI_UNSEEN, CLI_GREY, CLI_MARK_DOT, false, NULL },
};

/* -------------------------------------------------------------- messages -- */

static int compare_told(const void *a, const void *b)
{
	const struct roger_str *x = &((const struct cli_told *)a)->id,
			       *y = &((const struct cli_told *)b)->id;
	size_t shorter = x->length < y->length ? x->length : y->length;
	int order = memcmp(x->data, y->data, shorter);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

struct cli_told *cli_story_told(const struct cli_story *story, struct roger_str id)
{
	const struct cli_told wanted = { .id = id };

	return story->told_count && id.length ? bsearch(&wanted, story->told, story->told_count,
							sizeof *story->told, compare_told)
					      : NULL;
}

/* The messages of all ids, each once, in the order of their ids. */
static int list_told(struct cli_story *story, const struct roger_event *events, size_t count,
		     struct roger_err *err)
{
	struct cli_told *told = rg_arena_get(story->arena, count * sizeof *told + 1);
	size_t i, kept = 0;

	if (!told)
		return rg_fail_memory(err);
	for (i = 0; i < count; i++)
		if (events[i].message.length)
			told[story->told_count++].id = events[i].message;
	if (story->told_count)
		qsort(told, story->told_count, sizeof *told, compare_told);
	for (i = 0; i < story->told_count; i++)
		if (!kept || compare_told(&told[i], &told[kept - 1]) != 0)
			told[kept++] = told[i];
	story->told = told;
	story->told_count = kept;
	for (i = 0; i < count; i++) {
		told = cli_story_told(story, events[i].message);
		if (told && !told->read && events[i].kind == ROGER_EVENT_READ)
			told->read = &events[i];
	}
	return ROGER_OK;
}

/* Those of a page that are there: one that is gone must not hide the others. */
static int load_page(struct roger *roger, struct cli_story *story, size_t at, size_t count,
		     struct roger_err *err)
{
	struct roger_messages_reply *page = &story->pages[story->page_count];
	struct roger_str ids[IDS_A_PAGE];
	struct cli_told *told;
	size_t i;
	int r;

	for (i = 0; i < count; i++)
		ids[i] = story->told[at + i].id;
	r = roger_show(roger, &(struct roger_show_request){ .ids = { ids, count } }, page, err);
	if (r == ROGER_ENOENT && count > 1) {
		r = load_page(roger, story, at, count / 2, err);
		return r < 0 ? r : load_page(roger, story, at + count / 2, count - count / 2, err);
	}
	if (r < 0)
		return r == ROGER_ENOENT ? ROGER_OK : r;
	story->page_count++;
	for (i = 0; i < page->messages.count; i++) {
		told = cli_story_told(story, page->messages.items[i].id);
		if (told)
			told->message = &page->messages.items[i];
	}
	return ROGER_OK;
}

static int load_messages(struct roger *roger, struct cli_story *story, struct roger_err *err)
{
	size_t at, count;
	int r = ROGER_OK;

	story->pages = rg_arena_get(story->arena, (story->told_count + 1) * sizeof *story->pages);
	if (!story->pages)
		return rg_fail_memory(err);
	for (at = 0; at < story->told_count && r == ROGER_OK; at += count) {
		count = story->told_count - at;
		count = count < IDS_A_PAGE ? count : IDS_A_PAGE;
		r = load_page(roger, story, at, count, err);
	}
	return r;
}

/* ------------------------------------------------------------------ words -- */

/* The beginning of a text on one line: blanks and line ends are one blank. */
static void add_subject(struct rg_buf *out, struct roger_str text)
{
	bool blank = false;
	size_t i;

	for (i = 0; i < text.length && (i < SUBJECT_BYTES || (text.data[i] & 0xc0) == 0x80); i++) {
		if (strchr(" \t\r\n", text.data[i])) {
			blank = out->length > 0;
			continue;
		}
		if (blank)
			rg_buf_add_char(out, ' ');
		blank = false;
		rg_buf_add_char(out, text.data[i]);
	}
	if (i < text.length)
		rg_buf_add_text(out, "…");
}

static struct roger_str sender_of(const struct roger_event *event, const struct cli_told *told)
{
	if (told && told->message)
		return told->message->from;
	return event->kind == ROGER_EVENT_SENT ? event->actor : event->peer;
}

/* "plan#3" */
static void add_number(struct rg_buf *out, const struct roger_event *event,
		       const struct cli_told *told)
{
	const int64_t seq = told && told->message ? told->message->seq : event->seq;

	rg_buf_add_str(out, sender_of(event, told));
	if (seq)
		rg_buf_printf(out, "#%lld", (long long)seq);
}

static void add_detail(struct rg_buf *out, const struct roger_event *event,
		       const struct cli_told *told)
{
	char span[32];

	rg_buf_add_text(out, cli_value_name(cli_item_record("timeline"), "type", event->type));
	if (!told || !told->read) {
		rg_buf_add_text(out, " · unread");
		return;
	}
	rg_clock_print_span(told->read->at_ms > event->at_ms ? told->read->at_ms - event->at_ms : 0,
			    span);
	rg_buf_printf(out, " · read after %s", span);
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

	if (event->kind == ROGER_EVENT_LEASE_EXPIRED) {
		rg_buf_printf(
			out, "%.*s's lease on ",
			RG_STR_ARGS(told && told->worker.length ? told->worker : event->actor));
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
		rg_buf_printf(out, ": %s",
			      cli_value_name(cli_item_record("list"), "ack_outcome",
					     message->ack_outcome));
}

/* "run r1: timeout plan#4: attempt 1 of 3" */
static void add_words(struct rg_buf *out, const struct roger_event *event,
		      const struct cli_told *told)
{
	const char *label = styles[event->kind].label;

	if (event->run.length)
		rg_buf_printf(out, "run %.*s: ", RG_STR_ARGS(event->run));
	if (label)
		rg_buf_add_text(out, label);
	if (label && told && told->message) {
		rg_buf_add_char(out, ' ');
		add_number(out, event, told);
	}
	rg_buf_add_text(out, label && event->words.length ? ": " : "");
	rg_buf_add_str(out, event->words);
}

static int write_row(struct cli_story *story, const struct cli_told *told, struct cli_row *row,
		     struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf label = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf subject = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf detail = { .maximum = SIZE_MAX };

	if (row->event->kind == ROGER_EVENT_SENT) {
		add_number(&label, row->event, told);
		if (told && told->message)
			add_subject(&subject, told->message->content);
		add_detail(&detail, row->event, told);
	} else if (is_of_claim(row->event)) {
		add_claim(&label, row->event, told);
	} else {
		add_words(&label, row->event, told);
	}
	return rg_arena_keep(story->arena, &label, &row->label) &&
			       rg_arena_keep(story->arena, &subject, &row->subject) &&
			       rg_arena_keep(story->arena, &detail, &row->detail)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

/* ------------------------------------------------------------------- rows -- */

/* The lane of an agent, which is added where it is new; the last one is of all others. */
static size_t lane_of(struct cli_story *story, struct roger_str name)
{
	size_t i;

	for (i = 0; i < story->lanes.count; i++)
		if (rg_str_equal(story->lanes.items[i], name))
			return i;
	if (i + 1 < LANES_MAX)
		return rg_arena_add(story->arena, &story->lanes, name) ? i : 0;
	if (i < LANES_MAX && !rg_arena_add(story->arena, &story->lanes, RG_STR("others")))
		return 0;
	return LANES_MAX - 1;
}

/* An arrow without a second end is a note, and a note of nobody goes across. */
static void place_row(struct cli_story *story, const struct cli_told *told, struct cli_row *row)
{
	const struct style *style = &styles[row->event->kind];
	struct roger_str actor = row->event->actor, peer = row->event->peer;

	row->shape = style->shape;
	row->mark = style->mark;
	row->dashed = style->dashed;
	row->tint = row->event->kind == ROGER_EVENT_SENT ? (enum cli_tint)row->event->type
							 : style->tint;
	if (is_of_claim(row->event) && told && told->message)
		actor = told->message->to;
	if (row->shape != CLI_LINE && actor.length)
		row->from = row->to = lane_of(story, actor);
	else
		row->shape = CLI_LINE;
	if (row->shape == CLI_ARROW && peer.length)
		row->to = lane_of(story, peer);
	else if (row->shape == CLI_ARROW)
		row->shape = CLI_NOTE;
}

static int add_gap(struct cli_story *story, const struct roger_event *event, int64_t before_ms,
		   struct roger_err *err)
{
	struct cli_row *row = &story->rows[story->count];
	char span[32];

	if (!before_ms || event->at_ms - before_ms < GAP_MS)
		return ROGER_OK;
	*row = (struct cli_row){ .shape = CLI_GAP, .event = event, .tint = CLI_GREY };
	rg_clock_print_span(event->at_ms - before_ms, span);
	story->count++;
	return rg_arena_print(story->arena, &row->label, "… %s …", span) ? ROGER_OK
									 : rg_fail_memory(err);
}

static int add_row(struct cli_story *story, const struct roger_event *event, int64_t *before_ms,
		   struct roger_err *err)
{
	struct cli_told *told = cli_story_told(story, event->message);
	struct cli_row *row;
	int r;

	if (styles[event->kind].shape == CLI_UNSEEN)
		return ROGER_OK;
	r = add_gap(story, event, *before_ms, err);
	if (r < 0)
		return r;
	*before_ms = event->at_ms;
	row = &story->rows[story->count++];
	*row = (struct cli_row){ .event = event };
	place_row(story, told, row);
	if (told && event->kind == ROGER_EVENT_CLAIMED)
		told->worker = event->actor;
	return write_row(story, told, row, err);
}

int cli_story_load(struct roger *roger, const struct roger_timeline_reply *reply, size_t events_max,
		   struct cli_story *ret_story, struct roger_err *err)
{
	struct cli_story story = { .reply = reply, .arena = rg_arena_new() };
	const size_t count = reply->events.count < events_max ? reply->events.count : events_max;
	const struct roger_event *events = reply->events.items + (reply->events.count - count);
	int64_t before_ms = 0;
	size_t i;
	int r = ROGER_OK;

	if (story.arena)
		story.rows = rg_arena_get(story.arena, 2 * count * sizeof *story.rows + 1);
	if (!story.rows)
		r = rg_fail_memory(err);
	if (r == ROGER_OK)
		r = list_told(&story, events, count, err);
	if (r == ROGER_OK)
		r = load_messages(roger, &story, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = add_row(&story, &events[i], &before_ms, err);
	if (r < 0)
		cli_story_free(&story);
	else
		*ret_story = story;
	return r;
}

void cli_story_free(struct cli_story *story)
{
	size_t i;

	for (i = 0; i < story->page_count; i++)
		roger_reply_free(&story->pages[i]);
	story->arena = rg_arena_free(story->arena);
}

/* ------------------------------------------------------------------- cuts -- */

const char *cli_story_subject(const struct roger_timeline_reply *reply)
{
	return cli_value_name(cli_op_named("timeline")->reply, "subject", reply->subject);
}

static bool begins_instant(const struct cli_story *story, size_t row)
{
	const struct roger_event *event = story->rows[row].event;

	return event == story->reply->events.items || event[-1].at_ms != event->at_ms;
}

size_t cli_story_cut(const struct cli_story *story, size_t row)
{
	size_t first;

	for (first = row; row && first < story->count && first < row + CUT_ROWS; first++)
		if (story->rows[first].shape != CLI_GAP && begins_instant(story, first))
			return first;
	return row;
}

void cli_story_add_rest(const struct cli_story *story, size_t first, const char *form,
			struct rg_buf *ret_note, struct rg_buf *ret_command)
{
	const struct roger_event_list *events = &story->reply->events;
	const struct roger_event *event = story->rows[first].event;
	const long long shown = events->items + events->count - event;
	char until[32];

	rg_clock_print_utc(event->at_ms, until);
	rg_buf_printf(ret_note, "the last %lld of %s%zu events; the earlier ones:", shown,
		      story->reply->more ? "more than " : "", events->count);
	rg_buf_printf(ret_command, "roger timeline --%s ", cli_story_subject(story->reply));
	rg_buf_add_shell_word(ret_command, story->reply->what);
	if (begins_instant(story, first))
		rg_buf_printf(ret_command, " --until %s --limit %d --%s", until, PART_EVENTS, form);
	else
		rg_buf_printf(ret_command, " --limit %d", RG_EVENTS_MAX);
}
