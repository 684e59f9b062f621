/* crossing: text that came in becomes arrivals; the fresh ones are stored, in one commit. */
#include "ops/edge/crossing.h"

#include <stdio.h>

#include "ops/note.h"
#include "ops/mail/room.h"
#include "facts/message.h"
#include "facts/sequence.h"

enum { TRIES_MAX = 1000, NOTED_MAX = 100 };

/* ------------------------------------------------------------ arrivals -- */

/* Add an arrival that is refused for this reason; NULL: it is to be stored. */
static void push_arrival(struct rg_crossing *crossing, const struct rg_rolepiece *piece,
			 int64_t place, struct roger_str to, const char *why)
{
	struct rg_arrival *arrival =
		rg_arena_push(crossing->arena, &crossing->items, &crossing->count, sizeof *arrival);

	if (!arrival)
		return;
	arrival->kind = why ? ROGER_CROSSING_REFUSED : ROGER_CROSSING_TAKEN;
	arrival->settled = why;
	arrival->why = why ? rg_arena_str(crossing->arena, rg_str(why)) : RG_STR("");
	arrival->piece = piece;
	arrival->place = place;
	arrival->from = piece->line.role.length ? rg_crossing_name(rg_names_list(&crossing->known),
								   piece->line.role)
						: RG_STR("");
	arrival->to = to;
	if (!crossing->unnumbered && piece->line.number <= RG_SEQ_MAX)
		arrival->number = piece->line.number;
}

void rg_crossing_refuse(struct rg_crossing *crossing, const struct rg_crossing_target *target,
			const struct rg_rolepiece *piece, int64_t place, const char *why)
{
	push_arrival(crossing, piece, place, target->shown, why);
}

/* Say why a message cannot be taken in; "": it can. */
static void judge_message(const struct rg_crossing *crossing,
			  const struct rg_crossing_target *target, const struct rg_rolepiece *piece,
			  struct roger_str from, char why[500])
{
	const struct rg_config *config = crossing->roger->workspace->config;
	struct roger_err err;

	*why = '\0';
	if (rg_crossing_is_group(crossing, from))
		snprintf(why, 500, "'%.*s' is the name of a group, which cannot send",
			 RG_STR_ARGS(from));
	else if (rg_config_reserves_sender(config, from) || rg_config_is_person(from))
		snprintf(why, 500, "'%.*s' is reserved: nobody can send under it from here",
			 RG_STR_ARGS(from));
	else if (!crossing->unnumbered && piece->line.number > RG_EDGE_SEQ_MAX)
		snprintf(why, 500, "expected a number up to %lld", (long long)RG_EDGE_SEQ_MAX);
	else if (rg_message_check_content(piece->line.text, config->content_chars_max, &err) < 0)
		snprintf(why, 500, "%s", err.message);
	else
		snprintf(why, 500, "%.*s", RG_STR_ARGS(target->refused));
}

static bool goes_to(const struct rg_crossing *crossing, const struct rg_rolepiece *piece,
		    struct roger_str to)
{
	size_t i;

	for (i = 0; i < crossing->count; i++)
		if (crossing->items[i].piece == piece && rg_str_equal(crossing->items[i].to, to))
			return true;
	return false;
}

static void add_message(struct rg_crossing *crossing, const struct rg_crossing_target *target,
			const struct rg_rolepiece *piece, int64_t place)
{
	struct roger_str from = rg_crossing_name(rg_names_list(&crossing->known), piece->line.role);
	struct roger_str to;
	size_t i, count = 0;
	char why[500];

	judge_message(crossing, target, piece, from, why);
	for (i = 0; i < target->names.count && !*why; i++) {
		to = target->names.items[i];
		if (target->group && rg_str_equal(to, from))
			continue;
		count++;
		if (!crossing->several || !goes_to(crossing, piece, to))
			push_arrival(crossing, piece, place, to, NULL);
	}
	if (!count)
		rg_crossing_refuse(crossing, target, piece, place,
				   *why ? why : "nobody but the sender is known here yet");
}

void rg_crossing_add(struct rg_crossing *crossing, const struct rg_crossing_target *target,
		     const struct rg_rolepiece *piece, int64_t place)
{
	switch (piece->kind) {
	case RG_ROLEPIECE_MESSAGE:
		add_message(crossing, target, piece, place);
		break;
	case RG_ROLEPIECE_LOOSE:
		if (!rg_str_blank(piece->line.text))
			rg_crossing_refuse(
				crossing, target, piece, place,
				"text without a header, such as '(LEAD #5): ', before it");
		break;
	case RG_ROLEPIECE_BROKEN:
		rg_crossing_refuse(crossing, target, piece, place, piece->wrong);
		break;
	}
}

/* ------------------------------------------------------------- storing -- */

/* Make the message.  Its key is the place in the text that came in, and the recipient. */
static int make_message(struct rg_crossing *crossing, struct rg_arrival *arrival, int64_t now_ms,
			struct roger_err *err)
{
	int r;

	rg_assert(arrival->to.length > 0);
	arrival->message = (struct roger_message){
		.issue = crossing->issue.length ? crossing->issue : RG_STR("general"),
		.from = arrival->from,
		.to = arrival->to,
		.pass = 1,
		.type = ROGER_CONTEXT,
		.content = arrival->piece->line.text,
		.created_at_ms = now_ms,
		.via = rg_str(crossing->via),
	};
	if (crossing->id.length)
		arrival->message.key =
			rg_arena_text(crossing->arena, "%s:%.*s.%lld:%.*s", crossing->via,
				      RG_STR_ARGS(crossing->id), (long long)arrival->place,
				      RG_STR_ARGS(arrival->to));
	r = rg_op_new_id(crossing->roger, now_ms, crossing->arena, &arrival->message.id, err);
	return r < 0 ? r : rg_kept(!rg_arena_failed(crossing->arena), err);
}

static bool is_full(const struct rg_crossing *crossing, struct roger_str to)
{
	return crossing->full->all || rg_str_among(crossing->full->names, to);
}

static void hold_back(struct rg_arrival *arrival)
{
	arrival->kind = ROGER_CROSSING_WAITING;
	arrival->why = RG_STR("there is no room until older messages were read");
	arrival->settled = true;
}

/*
 * Judge the number fresh or stale, by the last one that the recipient has from the sender. marks
 * caches these numbers, and moves with what is taken in here.
 */
static int judge_number(struct rg_crossing *crossing, struct rg_arrival *arrival,
			struct rg_sequence *marks, struct roger_err *err)
{
	int64_t mark = 0;
	int r;

	rg_assert(rg_engine_is_exclusive(crossing->roger->engine));
	arrival->kind = ROGER_CROSSING_TAKEN;
	arrival->why = RG_STR("");
	if (!arrival->number)
		return ROGER_OK;
	if (!rg_sequence_seen(marks, arrival->to, arrival->from)) {
		r = rg_engine_accepted_number(crossing->roger->engine, arrival->to, arrival->from,
					      &mark, err);
		if (r == ROGER_OK)
			r = rg_sequence_raise_seen(marks, arrival->to, arrival->from, mark, err);
		if (r < 0)
			return r;
	}
	switch (rg_sequence_judge(marks, arrival->to, arrival->from, 0, arrival->number)) {
	case RG_FRESH:
	case RG_RESET:
	case RG_UNNUMBERED:
		return rg_sequence_raise_seen(marks, arrival->to, arrival->from, arrival->number,
					      err);
	case RG_STALE:
		break;
	}
	arrival->kind = ROGER_CROSSING_STALE;
	arrival->why = rg_arena_text(
		crossing->arena,
		"not above #%lld, the last one there: a copy, or the sender began anew (then "
		"`roger agents session new`); `roger bridge ingest --unnumbered` lets it in",
		(long long)rg_sequence_seen(marks, arrival->to, arrival->from));
	return ROGER_OK;
}

/* Judge the arrivals that are not settled, and stage those that are to be stored. */
static int put_arrivals(struct rg_crossing *crossing, struct rg_arrival *from,
			struct rg_arrival *to, struct rg_sequence *marks, struct roger_err *err)
{
	struct rg_arrival *arrival;
	int64_t now_ms = rg_clock_ms();
	int r = ROGER_OK;

	rg_assert(rg_engine_is_exclusive(crossing->roger->engine));
	for (arrival = from; arrival < to && r == ROGER_OK; arrival++) {
		if (arrival->settled)
			continue;
		r = judge_number(crossing, arrival, marks, err);
		if (r < 0 || arrival->kind != ROGER_CROSSING_TAKEN)
			continue;
		r = make_message(crossing, arrival, now_ms, err);
		if (r == ROGER_OK)
			r = rg_engine_bring(crossing->roger->engine, &arrival->message,
					    arrival->number, err);
	}
	return r < 0 ? r : rg_kept(!rg_arena_failed(crossing->arena), err);
}

static struct rg_arrival *arrival_of(struct rg_arrival *from, struct rg_arrival *to,
				     const struct roger_message *message)
{
	for (; from < to; from++)
		if (message == &from->message)
			return from;
	rg_assert(!"an arrival for every message");
	return NULL;
}

/* Is it about to be stored in the mailbox or issue that is full? */
static bool adds_to(const struct rg_arrival *arrival, const struct rg_outcome *outcome)
{
	return !arrival->settled && arrival->kind == ROGER_CROSSING_TAKEN &&
	       (outcome->verdict == RG_OVER_ISSUE || rg_str_equal(arrival->to, outcome->which->to));
}

static int64_t count_added(struct rg_arrival *from, struct rg_arrival *to,
			   const struct rg_outcome *outcome)
{
	int64_t adds = 0;

	for (; from < to; from++)
		adds += adds_to(from, outcome);
	return adds;
}

/* Note that the recipient, or the issue, is full, for later arrivals. */
static int note_full(struct rg_crossing *crossing, const struct rg_outcome *outcome,
		     struct roger_err *err)
{
	struct rg_crossing_full *full = crossing->full;

	if (outcome->verdict == RG_OVER_ISSUE) {
		full->all = true;
		return ROGER_OK;
	}
	return rg_kept(rg_arena_add(full->arena, &full->names, outcome->which->to), err);
}

static int make_room(struct rg_crossing *crossing, struct rg_arrival *from, struct rg_arrival *to,
		     const struct rg_outcome *outcome, struct roger_err *err)
{
	int64_t count;
	const struct rg_config *config = crossing->roger->workspace->config;
	struct rg_query unread = { .issue = outcome->which->issue, .unread = true };
	int64_t *archived = &crossing->reply->archived, room;
	int r;

	r = rg_room_make(crossing->roger, outcome, count_added(from, to, outcome), archived, err);
	if (r != ROGER_EREFUSED || crossing->whole)
		return r;
	if (outcome->verdict == RG_OVER_MAILBOX)
		unread.to = outcome->which->to;
	r = rg_engine_count(crossing->roger->engine, &unread, &room, err);
	if (r < 0)
		return r;
	room = (outcome->verdict == RG_OVER_MAILBOX ? config->messages_per_issue_phase_max
						    : config->messages_per_issue_max) -
	       room;
	/* The first ones have room; the others wait, and so do later ones. */
	r = note_full(crossing, outcome, err);
	for (count = 0; from < to; from++)
		if (adds_to(from, outcome) && ++count > room)
			hold_back(from);
	if (r < 0 || room <= 0)
		return r;
	r = rg_room_make(crossing->roger, outcome, count < room ? count : room, archived, err);
	return r == ROGER_EREFUSED ? ROGER_OK : r;
}

/* Try once to store the arrivals; *ret_done: all are settled. */
static int try_store(struct rg_crossing *crossing, struct rg_arrival *from, struct rg_arrival *to,
		     bool *ret_done, struct roger_err *err)
{
	struct rg_sequence *marks = NULL;
	struct rg_arrival *known;
	struct rg_outcome outcome;
	int r;

	r = rg_sequence_new(&marks, err);
	if (r == ROGER_OK)
		r = rg_engine_begin(crossing->roger->engine, true, err);
	if (r == ROGER_OK)
		r = put_arrivals(crossing, from, to, marks, err);
	if (r == ROGER_OK)
		r = rg_engine_commit(crossing->roger->engine, &outcome, err);
	rg_engine_rollback(crossing->roger->engine);
	rg_sequence_free(marks);
	if (r < 0)
		return r;
	switch (outcome.verdict) {
	case RG_COMMITTED:
		for (; from < to; from++)
			from->settled = true;
		*ret_done = true;
		break;
	case RG_KEY_KNOWN:
		known = arrival_of(from, to, outcome.which);
		known->kind = ROGER_CROSSING_KNOWN;
		known->settled = true;
		break;
	case RG_OVER_MAILBOX:
	case RG_OVER_ISSUE:
		r = make_room(crossing, from, to, &outcome, err);
		break;
	}
	return r;
}

/*
 * Settle an arrival that was stored before. If its key is found, it is stored again: the engine
 * then answers that the key is known, and makes the first result durable if its sync failed.
 */
static int settle_known(struct rg_crossing *crossing, struct rg_arrival *arrival,
			struct roger_err *err)
{
	struct rg_query query = { .from = arrival->from, .anywhere = true };
	struct roger_message_list found = { 0 };
	struct rg_outcome outcome;
	int r;

	rg_assert(!arrival->settled);
	r = make_message(crossing, arrival, rg_clock_ms(), err);
	query.key = arrival->message.key;
	if (r < 0 || !rg_engine_may_know_key(crossing->roger->engine, arrival->from, query.key))
		return r;
	r = rg_engine_find(crossing->roger->engine, &query, crossing->arena, &found, err);
	if (r < 0 || found.count == 0)
		return r;
	r = rg_engine_begin(crossing->roger->engine, true, err);
	if (r == ROGER_OK)
		r = rg_engine_bring(crossing->roger->engine, &arrival->message, arrival->number,
				    err);
	if (r == ROGER_OK)
		r = rg_engine_commit(crossing->roger->engine, &outcome, err);
	rg_engine_rollback(crossing->roger->engine);
	if (r < 0)
		return r;
	rg_assert(outcome.verdict == RG_KEY_KNOWN);
	arrival->settled = true;
	arrival->kind = ROGER_CROSSING_KNOWN;
	arrival->message.id = found.items[0].id;
	arrival->message.content = found.items[0].content;
	return ROGER_OK;
}

static int store_some(struct rg_crossing *crossing, struct rg_arrival *from, struct rg_arrival *to,
		      struct roger_err *err)
{
	struct rg_arrival *arrival;
	bool done = false;
	int tries, r = ROGER_OK;

	for (arrival = from; arrival < to; arrival++)
		if (!arrival->settled && is_full(crossing, arrival->to))
			hold_back(arrival);
	for (tries = 0; tries < TRIES_MAX && r == ROGER_OK && !done; tries++)
		r = try_store(crossing, from, to, &done, err);
	if (r == ROGER_OK && !done)
		return rg_fail(err, ROGER_ETIMEOUT, 0,
			       "too many messages arrive in this issue at once; try again");
	return r;
}

int rg_crossing_store(struct rg_crossing *crossing, struct roger_err *err)
{
	struct rg_arrival *from = crossing->items, *end, *to, *arrival;
	int r = rg_kept(!rg_arena_failed(crossing->arena), err);

	if (r < 0 || crossing->count == 0)
		return r;
	end = from + crossing->count;
	for (arrival = from; crossing->again && arrival < end && r == ROGER_OK; arrival++)
		if (!arrival->settled)
			r = settle_known(crossing, arrival, err);
	for (; from < end && r == ROGER_OK; from = to) {
		to = end - from > RG_BATCH_MAX ? from + RG_BATCH_MAX : end;
		r = store_some(crossing, from, to, err);
	}
	return r;
}

/* ------------------------------------------------------------- telling -- */

/* Make a text of a file name, which may be any bytes. */
static struct roger_str make_valid(struct rg_arena *arena, struct roger_str text)
{
	struct rg_buf valid = { .maximum = SIZE_MAX };
	size_t at, step, chars;
	uint32_t c;

	if (rg_utf8_count(text, &chars))
		return text;
	for (at = 0; at < text.length; at += step ? step : 1) {
		step = rg_utf8_next(text.data + at, text.length - at, &c);
		rg_buf_add(&valid, step ? text.data + at : "?", step ? step : 1);
	}
	return rg_arena_take(arena, &valid);
}

void rg_crossing_put(struct roger_bridge_reply *reply, const struct roger_crossing *item)
{
	int64_t *const counts[] = { [ROGER_CROSSING_TAKEN] = &reply->taken,
				    [ROGER_CROSSING_KNOWN] = &reply->known,
				    [ROGER_CROSSING_STALE] = &reply->skipped,
				    [ROGER_CROSSING_REFUSED] = &reply->skipped,
				    [ROGER_CROSSING_WAITING] = &reply->waiting,
				    [ROGER_CROSSING_WRITTEN] = &reply->written,
				    [ROGER_CROSSING_TROUBLE] = &reply->trouble };
	struct roger_crossing kept = *item;

	kept.file = make_valid(reply->memory, item->file);
	kept.to = make_valid(reply->memory, item->to);
	kept.why = make_valid(reply->memory, item->why);
	kept.kept = make_valid(reply->memory, item->kept);
	if (rg_record_keep(&rg_crossing_record, &kept, reply->memory) &&
	    rg_arena_append(reply->memory, &reply->crossings.items, &reply->crossings.count, &kept,
			    sizeof kept))
		(*counts[item->kind])++;
}

void rg_crossing_tell(struct rg_crossing *crossing, const struct rg_arrival *arrival)
{
	const struct roger_crossing item = {
		.kind = arrival->kind,
		.file = crossing->file,
		.line = (int64_t)arrival->piece->line_number,
		.from = arrival->from,
		.to = arrival->to,
		.seq = arrival->number,
		.id = arrival->kind == ROGER_CROSSING_TAKEN || arrival->kind == ROGER_CROSSING_KNOWN
			      ? arrival->message.id
			      : RG_STR(""),
		.why = arrival->why,
		.kept = arrival->kept,
	};

	rg_crossing_put(crossing->reply, &item);
}

static void note_one(struct roger *roger, const struct roger_op *op,
		     const struct roger_crossing *item)
{
	const struct rg_note note = {
		.verb = rg_str(op->name),
		.entry = { .status = ROGER_FAILURE,
			   .message = item->kind == ROGER_CROSSING_STALE
					      ? RG_STR("skipped: stale")
					      : RG_STR("skipped: refused"),
			   .evidence = item->kept },
		.from = item->from,
		.to = item->to,
		.file = item->file,
		.line = item->line,
		.seq = item->seq,
	};

	rg_note_try(roger, &note, "what was skipped is not");
}

void rg_crossing_note(struct roger *roger, const struct roger_op *op,
		      const struct roger_bridge_reply *reply)
{
	const struct roger_crossing *item = reply->crossings.items;
	size_t i, noted = 0;

	if (!roger->workspace->config->note_own)
		return;
	for (i = 0; i < reply->crossings.count && noted < NOTED_MAX; i++, item++) {
		if (item->kind != ROGER_CROSSING_STALE && item->kind != ROGER_CROSSING_REFUSED)
			continue;
		noted++;
		note_one(roger, op, item);
	}
}
