/* report: figures of a time range, or of cycles, counted from the rows of all logs. */
#include <stdlib.h>

#include "base/id.h"
#include "ops/keys/attempt.h"
#include "ops/keys/breaker.h"
#include "ops/proof/concerns.h"
#include "ops/proof/telling.h"
#include "ops/runs/run_list.h"

/* A list of spans in ms.  Of many messages it takes the most memory, so realloc() grows it. */
struct spans {
	int64_t *items;
	size_t count, room;
};

/* The state of a report while it is counted. */
struct counting {
	struct rg_reading reading; /* into an arena that goes before the reply does */
	struct roger *roger;
	struct roger_report_reply *reply;
	struct rg_arena *arena;	       /* the reply's */
	int64_t plain_entries;	       /* send log entries of messages without a key */
	int64_t plain;		       /* messages without a key and entry: one attempt each */
	int64_t listed, kept_ms;       /* messages from this byte and time on have no entry */
	int64_t carried;	       /* those with a key from this byte on may have none yet */
	int64_t recent, newest;	       /* positions: the first such message; the last message */
	struct rg_altered altered;     /* altered lines, which are no attempts */
	bool again;		       /* the index was mended, so count from the start */
	struct spans latencies, looks; /* from stored to read; from stored to the first look */
	/* Attempted messages, or attempts without one, by the hash of their ids, whose lowest bit
	 * tells whether it was delivered; one that was delivered after it failed is there twice. */
	struct rg_table attempted;
	struct rg_counter causes, targets, cycles; /* of dead letters */
	struct rg_counter refusals;		   /* by cause */
	struct rg_counter places;		   /* places in the list of agents, from 1 */
	struct {
		struct roger_agent_figures *items;
		size_t count;
	} agents;
	struct roger_agent_figures nobody;
};

static int count_again(struct counting *counting)
{
	counting->again = true;
	return ROGER_OK;
}

/* The figures of an agent; once memory ran out, which the arena remembers, those of nobody. */
static struct roger_agent_figures *figures_of(struct counting *counting, struct roger_str name)
{
	int64_t *place = rg_counter_of(&counting->places, name);
	struct roger_agent_figures *figures;

	if (*place)
		return &counting->agents.items[*place - 1];
	figures = rg_arena_push(counting->arena, &counting->agents.items, &counting->agents.count,
				sizeof *figures);
	if (!figures)
		return &counting->nobody;
	figures->name = rg_arena_str(counting->arena, name);
	*place = (int64_t)counting->agents.count;
	return figures;
}

/* ----------------------------------------------------------------- range -- */

/* Return the place of a cycle, or the count if none has that name. */
static size_t find_cycle(const struct roger_cycle_list *cycles, struct roger_str id)
{
	size_t i;

	for (i = 0; i < cycles->count; i++)
		if (rg_str_equal(cycles->items[i].id, id))
			break;
	return i;
}

/* Find the cycles of "7" or "5..7"; false: there are none.  A cycle of just that name comes first,
 * since a name may contain two dots. */
static bool find_span(const struct roger_cycle_list *cycles, struct roger_str text,
		      size_t *ret_from, size_t *ret_to)
{
	size_t i;

	*ret_from = *ret_to = find_cycle(cycles, text);
	for (i = 1; *ret_from == cycles->count && i + 2 < text.length; i++) {
		if (text.data[i] != '.' || text.data[i + 1] != '.')
			continue;
		*ret_from = find_cycle(cycles, (struct roger_str){ text.data, i });
		*ret_to = find_cycle(cycles,
				     (struct roger_str){ text.data + i + 2, text.length - i - 2 });
		if (*ret_to == cycles->count)
			*ret_from = cycles->count;
	}
	return *ret_from < cycles->count && *ret_from <= *ret_to;
}

/* Return the earliest beginning of these cycles, as the clock may have been set back between two;
 * 0: there are none. */
static int64_t first_opened(const struct roger_cycle_list *cycles, size_t from, size_t to)
{
	int64_t first_ms = from < to ? cycles->items[from].opened_at_ms : 0;
	size_t i;

	for (i = from; i < to; i++)
		if (cycles->items[i].opened_at_ms < first_ms)
			first_ms = cycles->items[i].opened_at_ms;
	return first_ms;
}

static int set_cycles(struct roger *roger, struct roger_str text, struct roger_report_reply *reply,
		      struct roger_err *err)
{
	struct roger_cycle_list cycles;
	struct roger_str *ids;
	size_t from, to, i;
	int r;

	r = rg_cycle_all(roger, reply->memory, &cycles, err);
	if (r < 0)
		return r;
	if (!find_span(&cycles, text, &from, &to))
		return rg_fail_member(err, ROGER_ENOENT, "cycle",
				      "cycle: no such cycle; expected one, or FROM..TO; `roger "
				      "log cycle list` shows them");
	ids = rg_arena_get(reply->memory, (to - from + 1) * sizeof *ids);
	if (!ids)
		return rg_fail_memory(err);
	for (i = from; i <= to; i++)
		ids[i - from] = cycles.items[i].id;
	reply->cycles = (struct roger_strs){ ids, to - from + 1 };
	/* An instant belongs to the last cycle that had begun by then. */
	reply->since_ms = first_opened(&cycles, from, to + 1);
	reply->until_ms = first_opened(&cycles, to + 1, cycles.count);
	return ROGER_OK;
}

/* -------------------------------------------------------------- messages -- */

/* Add the span since the message was stored, unless the row's time is unknown or earlier. */
static int add_span(struct spans *spans, const struct rg_event *row, struct roger_err *err)
{
	const int64_t ms = row->said.at_ms - row->since_ms;
	int64_t *items;

	if (row->flags & RG_ROW_UNDATED || !row->since_ms || ms < 0)
		return ROGER_OK;
	if (spans->count == spans->room) {
		items = realloc(spans->items, (2 * spans->room + 1024) * sizeof *items);
		if (!items)
			return rg_fail_memory(err);
		spans->items = items;
		spans->room = 2 * spans->room + 1024;
	}
	spans->items[spans->count++] = ms;
	return ROGER_OK;
}

static void count_stored(struct counting *counting, const struct rg_event *row)
{
	counting->reply->messages++;
	if (row->byte >= counting->carried && (!counting->recent || row->of < counting->recent))
		counting->recent = row->of;
	if (row->of > counting->newest)
		counting->newest = row->of;
	if (row->flags & RG_ROW_PLAIN && row->byte >= counting->listed &&
	    row->said.at_ms >= counting->kept_ms &&
	    !rg_altered_has(&counting->altered, 0, (uint64_t)row->byte))
		counting->plain++;
	figures_of(counting, row->said.actor)->sent++;
	figures_of(counting, row->said.peer)->received++;
}

/* Return the agent whose mailbox has the message: its reading counts there, whoever read it. */
static struct roger_str mailbox_of(const struct rg_event *row)
{
	return row->said.peer.length ? row->said.peer : row->said.actor;
}

/* Count a row of a message that was sent in the range; the row itself may be later.  row NULL: the
 * index was mended. */
static int see_message(void *context, const struct rg_event *row, struct roger_err *err)
{
	struct counting *counting = context;
	struct roger_report_reply *reply = counting->reply;
	int r = ROGER_OK;

	if (!row)
		return count_again(counting);
	if (row->said.kind == ROGER_EVENT_LOOKED ||
	    rg_flags_look(counting->roger, row->flags, mailbox_of(row))) {
		reply->looked++;
		r = add_span(&counting->looks, row, err);
	}
	if (r < 0)
		return r;
	if (row->said.kind == ROGER_EVENT_SENT)
		count_stored(counting, row);
	if (row->said.kind == ROGER_EVENT_SENT || row->flags & RG_ROW_REPEAT)
		return ROGER_OK;
	reply->acknowledged += row->said.kind == ROGER_EVENT_ACKNOWLEDGED;
	if (row->said.kind != ROGER_EVENT_READ)
		return ROGER_OK;
	reply->read++;
	figures_of(counting, mailbox_of(row))->read++;
	return add_span(&counting->latencies, row, err);
}

static void summarize_spans(struct spans *spans, int64_t *ret_p50, int64_t *ret_p95,
			    int64_t *ret_max)
{
	*ret_p50 = rg_percentile(spans->items, spans->count, 50);
	*ret_p95 = rg_percentile(spans->items, spans->count, 95);
	*ret_max = rg_percentile(spans->items, spans->count, 100);
	free(spans->items);
	*spans = (struct spans){ 0 };
}

static void see_messages(struct counting *counting)
{
	struct roger_report_reply *reply = counting->reply;
	const struct rg_log_query query = { .since_ms = reply->since_ms,
					    .until_ms = reply->until_ms };
	const struct rg_query unread = { .unread = true,
					 .since_ms = reply->since_ms,
					 .until_ms = reply->until_ms };
	const struct rg_event_query rows = { .rows = &query, .counted = &unread };

	rg_reading_got(&counting->reading,
		       rg_engine_events(counting->roger->engine, &rows, see_message, counting,
					&reply->unread, counting->reading.err));
	summarize_spans(&counting->latencies, &reply->latency_p50_ms, &reply->latency_p95_ms,
			&reply->latency_max_ms);
	summarize_spans(&counting->looks, &reply->look_p50_ms, &reply->look_p95_ms,
			&reply->look_max_ms);
}

/* -------------------------------------------------------------- attempts -- */

/* Remember that the message of this hash, or an attempt without one, was attempted. *ret_first: it
 * was not known; *ret_fresh: nor with this outcome. */
static int note_attempted(struct counting *counting, struct roger_str id, bool delivered,
			  bool *ret_first, bool *ret_fresh, struct roger_err *err)
{
	const uint64_t hash = rg_hash(0, id.data, id.length) | 1;

	*ret_first = !rg_table_find(&counting->attempted, delivered ? hash ^ 1 : hash);
	if (!rg_table_put(&counting->attempted, delivered ? hash : hash ^ 1, ret_fresh))
		return rg_fail_memory(err);
	*ret_first = *ret_first && *ret_fresh;
	return ROGER_OK;
}

/* Count an attempt by its last line in the range.  An attempt that timed out before the range may
 * be delivered late in it. */
static int count_attempt(struct counting *counting, const struct rg_event *row,
			 struct roger_err *err)
{
	struct roger_report_reply *reply = counting->reply;
	int64_t *const by_outcome[] = { [ROGER_DELIVERED] = &reply->delivered,
					[ROGER_TIMEOUT] = &reply->timeouts,
					[ROGER_ERROR] = &reply->errors,
					[RG_ATTEMPT_PENDING] = &reply->pending };
	const struct roger_str id = row->said.message.length ? row->said.message : row->id;
	const bool again = row->before && (reply->cycles.count || row->since_ms >= reply->since_ms);
	const bool delivered = row->outcome == ROGER_DELIVERED;
	bool first, fresh;

	if (again)
		--*by_outcome[row->before];
	++*by_outcome[row->outcome];
	reply->attempts += !again;
	reply->retries += !again && row->number > 1;
	reply->late += row->said.kind == ROGER_EVENT_LATE;
	if (note_attempted(counting, id, delivered, &first, &fresh, err) < 0)
		return ROGER_ENOMEM;
	reply->attempted += first;
	reply->attempted_delivered += delivered && fresh;
	return ROGER_OK;
}

static void add_one(struct rg_counter *counter, struct roger_str name)
{
	++*rg_counter_of(counter, name.length ? name : RG_STR("unknown"));
}

static int see_attempt(void *context, const struct rg_event *row, struct roger_err *err)
{
	struct counting *counting = context;

	if (!row)
		return count_again(counting);
	if (row->flags & RG_ROW_REPEAT)
		return ROGER_OK;
	counting->plain_entries += row->outcome == ROGER_DELIVERED && row->flags & RG_ROW_PLAIN;
	if (row->said.kind == ROGER_EVENT_TIMEOUT || row->said.kind == ROGER_EVENT_LATE)
		figures_of(counting, row->said.actor)->timeouts +=
			(row->outcome == ROGER_TIMEOUT) - (row->before == ROGER_TIMEOUT);
	if (row->said.kind == ROGER_EVENT_REFUSED)
		add_one(&counting->refusals, row->text);
	return count_attempt(counting, row, err);
}

static int see_any(void *context, const struct rg_event *row, struct roger_err *err)
{
	(void)err;
	*(bool *)context = row && row->outcome == ROGER_DELIVERED && row->flags & RG_ROW_PLAIN;
	return *(bool *)context ? ROGER_EREFUSED : ROGER_OK;
}

/*
 * Find from which byte and time on messages without a key have no entries in the send logs.  Older
 * ones have entries, or purge removed them, so they count by these.  If that byte is unknown, but
 * such entries exist, the logs are brought up first.
 */
static void find_plain(struct counting *counting)
{
	const int64_t kept = counting->roger->workspace->config->cycles_kept;
	const struct rg_log_query sends = { .log = RG_LOG_SENDS };
	struct rg_engine *engine = counting->roger->engine;
	struct rg_reading *reading = &counting->reading;
	struct roger_cycle_list cycles = { 0 };
	bool any = false;
	int r;

	rg_reading_got(reading, rg_engine_bring_sends_up(engine, false, reading->err));
	counting->carried = (int64_t)rg_engine_sends_carried(engine, false);
	if (!counting->carried)
		counting->carried = INT64_MAX;
	if (reading->r == ROGER_OK && !rg_engine_sends_carried(engine, true)) {
		r = rg_engine_rows(engine, &sends, see_any, &any, reading->err);
		if (any)
			r = rg_engine_bring_sends_up(engine, true, reading->err);
		rg_reading_got(reading, r);
	}
	counting->listed = (int64_t)rg_engine_sends_carried(engine, true);
	if (rg_reading_got(reading, rg_engine_altered(engine, counting->arena, &counting->altered,
						      reading->err)))
		rg_reading_got(reading, rg_cycle_all(counting->roger, counting->arena, &cycles,
						     reading->err));
	/* The list begins with the cycle that nobody opened. */
	if (kept && (int64_t)cycles.count > kept)
		counting->kept_ms =
			first_opened(&cycles, cycles.count - (size_t)kept, cycles.count);
}

/* Return the ranges of the report by their number: each cycle, or the time.  False: no more. */
static bool find_range(const struct counting *counting, size_t i, struct roger_str *ret_cycle,
		       int64_t *ret_since_ms, int64_t *ret_until_ms)
{
	const struct roger_report_reply *reply = counting->reply;

	if (reply->cycles.count) {
		if (i < reply->cycles.count)
			*ret_cycle = reply->cycles.items[i];
		return i < reply->cycles.count;
	}
	*ret_since_ms = reply->since_ms;
	*ret_until_ms = reply->until_ms;
	return i == 0;
}

static void see_attempts(struct counting *counting)
{
	struct rg_log_query query = { .log = RG_LOG_SENDS };
	size_t i;

	for (i = 0; find_range(counting, i, &query.cycle, &query.since_ms, &query.until_ms); i++)
		rg_reading_got(&counting->reading,
			       rg_engine_rows(counting->roger->engine, &query, see_attempt,
					      counting, counting->reading.err));
}

/* The sending of a message is an attempt that was delivered, also before its log says so. */
static void count_delivered(struct roger_report_reply *reply, int64_t attempts, int64_t messages)
{
	reply->attempts += attempts;
	reply->delivered += attempts;
	reply->attempted += messages;
	reply->attempted_delivered += attempts;
}

/* Count the attempts that the send logs did not have when they were read: of messages without a
 * key, and of those with one that were stored meanwhile. */
static void see_unlogged(struct counting *counting)
{
	struct roger_report_reply *reply = counting->reply;
	const struct rg_query recent = { .anywhere = true,
					 .after = counting->recent - 1,
					 .since_ms = reply->since_ms,
					 .until_ms = reply->until_ms };
	struct roger_message_list found = { 0 };
	const struct roger_message *message;
	bool first, fresh;
	size_t i;

	/* If the byte is still unknown (nothing may be written), subtract the found entries. */
	if (!counting->listed)
		counting->plain -= counting->plain < counting->plain_entries
					   ? counting->plain
					   : counting->plain_entries;
	count_delivered(reply, counting->plain, counting->plain);
	if (counting->recent)
		found = rg_read_messages(&counting->reading, &recent);
	for (i = 0; i < found.count; i++) {
		message = &found.items[i];
		if (message->position > counting->newest || !message->key.length || !message->seq)
			continue;
		if (rg_reading_got(&counting->reading,
				   note_attempted(counting, message->id, true, &first, &fresh,
						  counting->reading.err)) &&
		    fresh)
			count_delivered(reply, 1, first);
	}
}

/* ---------------------------------------------------------- dead letters -- */

static void count_letter(struct counting *counting, const struct roger_dead_letter *letter)
{
	struct roger_report_reply *reply = counting->reply;
	int64_t *const by_status[] = { [0] = &reply->dead_read,
				       [ROGER_UNDELIVERED] = &reply->undelivered,
				       [ROGER_REDELIVERED] = &reply->redelivered,
				       [ROGER_STALE] = &reply->stale };

	reply->dead_letters++;
	++*by_status[rg_dead_letter_counts_as(letter)];
	add_one(&counting->causes, letter->cause);
	add_one(&counting->targets, letter->to);
	add_one(&counting->cycles, letter->cycle);
}

static void figure_out(struct counting *counting)
{
	const int64_t limit = counting->roger->workspace->config->dead_letter_alarm;
	struct roger_report_reply *reply = counting->reply;
	const struct roger_figure_list cycles = rg_counter_figures(&counting->cycles);

	reply->delivery_permille = rg_permille(reply->delivered, reply->attempts);
	reply->message_permille = rg_permille(reply->attempted_delivered, reply->attempted);
	reply->dead_by_cause = rg_counter_figures(&counting->causes);
	reply->dead_by_recipient = rg_counter_figures(&counting->targets);
	reply->refused_by_cause = rg_counter_figures(&counting->refusals);
	reply->alarm = limit && cycles.count && cycles.items[0].count > limit;
}

/* ------------------------------------------------------------- activities -- */

static int see_note(void *context, const struct rg_event *row, struct roger_err *err)
{
	struct counting *counting = context;
	struct roger_report_reply *reply = counting->reply;

	(void)err;
	if (!row)
		return count_again(counting);
	reply->duplicates += row->said.kind == ROGER_EVENT_WAKE ? 0 : row->number;
	reply->conflicts += (row->flags & RG_ROW_CONFLICT) != 0;
	reply->skipped += (row->flags & RG_ROW_SKIPPED) != 0;
	reply->wakes += row->said.kind == ROGER_EVENT_WAKE;
	reply->failed_wakes += row->said.kind == ROGER_EVENT_WAKE && row->outcome != ROGER_SUCCESS;
	return ROGER_OK;
}

/* ------------------------------------------------------------------ runs -- */

static void count_run(struct roger_report_reply *reply, const struct rg_run_document *document)
{
	int64_t *const by_status[] = { [ROGER_RUN_ACTIVE] = &reply->active,
				       [ROGER_RUN_SUSPECT] = &reply->suspect,
				       [ROGER_RUN_NOT_FORWARDED] = &reply->not_forwarded,
				       [ROGER_RUN_COMPLETED] = &reply->completed,
				       [ROGER_RUN_RECOVERED] = &reply->recovered,
				       [ROGER_RUN_BLOCKED] = &reply->blocked };
	int64_t unended = 0;
	int64_t *const by_outcome[] = { &unended,
					&reply->succeeded_runs,
					&reply->failed_runs,
					&reply->killed_runs,
					&reply->timed_out_runs,
					&reply->unknown_runs };

	reply->runs++;
	++*by_outcome[document->run.outcome];
	++*by_status[document->run.status];
	reply->recoveries += document->receipts.recoveries;
	reply->late_runs += document->receipts.completed_ms > document->receipts.expected_by_ms;
	reply->lost_runs +=
		document->run.status == ROGER_RUN_BLOCKED && rg_run_wants_settling(&document->run);
}

static void see_runs(struct counting *counting)
{
	const struct rg_run_list list =
		rg_read_runs(&counting->reading, (struct rg_run_wish){ .readers = true });
	const struct roger_report_reply *reply = counting->reply;
	int64_t at_ms;
	size_t i;

	for (i = 0; i < list.count; i++) {
		at_ms = list.documents[i].receipts.dispatched_ms;
		if (at_ms >= reply->since_ms && (!reply->until_ms || at_ms < reply->until_ms))
			count_run(counting->reply, &list.documents[i]);
	}
}

/* Count the dead letters of the time, or of each cycle. */
static void see_letters(struct counting *counting)
{
	struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS, .states = true };
	struct rg_records found;
	size_t i, k;

	for (i = 0; find_range(counting, i, &query.cycle, &query.since_ms, &query.until_ms); i++) {
		found = rg_read_letters(&counting->reading, &query);
		for (k = 0; k < found.count; k++)
			count_letter(counting, &found.letters[k]);
	}
}

static int see_all(struct counting *counting, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *scratch = rg_arena_new();
	const struct rg_log_query notes = { .log = RG_LOG_ACTIVITY,
					    .counted = true,
					    .since_ms = counting->reply->since_ms,
					    .until_ms = counting->reply->until_ms };
	static void (*const sights[])(struct counting *) = {
		find_plain,  see_attempts, see_messages, see_unlogged,
		see_letters, see_runs,	   figure_out,
	};
	struct rg_reading *reading = &counting->reading;
	size_t i;

	if (!scratch)
		return rg_fail_memory(err);
	*reading = (struct rg_reading){ counting->roger, scratch, err, ROGER_OK };
	rg_table_init(&counting->attempted, sizeof(uint64_t));
	rg_reading_got(reading,
		       rg_engine_rows(counting->roger->engine, &notes, see_note, counting, err));
	for (i = 0; reading->r == ROGER_OK && i < sizeof sights / sizeof *sights; i++)
		sights[i](counting);
	rg_table_deinit(&counting->attempted);
	return reading->r;
}

/* ------------------------------------------------------------------ verb -- */

int rg_verb_report(struct roger *roger, const struct roger_report_request *request,
		   struct roger_report_reply *reply, struct roger_err *err)
{
	struct roger_report_reply nothing = *reply;
	struct counting counting;
	struct roger_status_reply now = { .memory = reply->memory };
	struct rg_concerns concerns;
	int tries = 3, r = ROGER_OK;

	if (request->cycle.length && (request->since_ms || request->until_ms))
		return rg_fail_member(err, ROGER_EUSAGE, "cycle",
				      "cycle: expected cycles or a time, not both");
	nothing.since_ms = request->since_ms;
	nothing.until_ms = request->until_ms;
	if (request->cycle.length)
		r = set_cycles(roger, request->cycle, &nothing, err);
	do {
		*reply = nothing;
		counting = (struct counting){ .roger = roger,
					      .reply = reply,
					      .arena = reply->memory,
					      .causes.names.arena = reply->memory,
					      .targets.names.arena = reply->memory,
					      .cycles.names.arena = reply->memory,
					      .refusals.names.arena = reply->memory,
					      .places.names.arena = reply->memory };
		if (r == ROGER_OK)
			r = see_all(&counting, err);
	} while (r == ROGER_OK && counting.again && tries--);
	if (r < 0)
		return r;
	rg_concerns_find(&concerns, roger, &now, err);
	reply->concerns = now.concerns;
	reply->breakers = (int64_t)rg_read_breakers(&concerns.reading).count;
	/* rg_str_compare() orders figures by name, since each begins with its name. */
	if (counting.agents.count)
		qsort(counting.agents.items, counting.agents.count, sizeof *counting.agents.items,
		      rg_str_compare);
	reply->agents =
		(struct roger_agent_figures_list){ counting.agents.items, counting.agents.count };
	return concerns.reading.r;
}
