/* report: figures over a time, or over cycles, from all logs. */
#include <stdlib.h>

#include "base/id.h"
#include "facts/note.h"
#include "ops/keys/attempt.h"
#include "ops/keys/breaker.h"
#include "ops/proof/stream.h"
#include "ops/runs/run_list.h"

/* Entries of the activity log that are looked at in one go. */
enum { ACTIVITY_PAGE = 10000 };

/* Beside those of enum roger_attempt_outcome. */
enum { PENDING = ROGER_ERROR + 1 };

struct spans {
	int64_t *items;
	size_t count;
};

/* A report on its way. */
struct counting {
	struct rg_stream stream;
	struct roger *roger;
	struct roger_report_reply *reply;
	struct rg_arena *arena;			   /* the reply's */
	bool archived;				   /* the row that is seen */
	struct spans latencies, looks;		   /* from stored to read; to the first look */
	struct rg_table attempted;		   /* messages that were: struct attempted */
	struct rg_counter causes, targets, cycles; /* of dead letters */
	struct rg_counter refusals;		   /* by cause */
	struct rg_counter places;		   /* of agents in the list below, from 1 */
	struct rg_counter earlier; /* attempts that timed out before the range: not counted yet */
	bool before_range;
	struct {
		struct roger_agent_figures *items;
		size_t count;
	} agents;
};

/* A message, or an attempt that came to none; ids stand for themselves by their hashes. */
struct attempted {
	uint64_t id;
	bool delivered;
};

static struct roger_agent_figures *figures_of(struct counting *counting, struct roger_str name)
{
	int64_t *place = rg_counter_of(&counting->places, name);
	struct roger_agent_figures *figures;

	if (!place)
		return NULL;
	if (*place)
		return &counting->agents.items[*place - 1];
	figures = rg_arena_push(counting->arena, &counting->agents.items, &counting->agents.count,
				sizeof *figures);
	if (!figures || !rg_arena_copy(counting->arena, name, &figures->name))
		return NULL;
	*place = (int64_t)counting->agents.count;
	return figures;
}

/* ----------------------------------------------------------------- range -- */

/* The place of a cycle; count: there is none of that name. */
static size_t find_cycle(const struct roger_cycle_list *cycles, struct roger_str id)
{
	size_t i;

	for (i = 0; i < cycles->count; i++)
		if (rg_str_equal(cycles->items[i].id, id))
			break;
	return i;
}

/* "7", or "5..7"; a cycle may have two dots in its name, then it is meant. */
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

static int set_cycles(struct counting *counting, struct roger_str text, struct roger_err *err)
{
	struct roger_report_reply *reply = counting->reply;
	struct roger_cycle_list cycles;
	struct roger_str *ids;
	size_t from, to, i;
	int r;

	r = rg_cycle_all(counting->roger, counting->arena, &cycles, err);
	if (r < 0)
		return r;
	if (!find_span(&cycles, text, &from, &to))
		return rg_fail_member(err, ROGER_ENOENT, "cycle",
				      "cycle: no such cycle; expected one, or FROM..TO; `roger "
				      "cycle list` shows them");
	ids = rg_arena_get(counting->arena, (to - from + 1) * sizeof *ids);
	if (!ids)
		return rg_fail_memory(err);
	for (i = from; i <= to; i++)
		ids[i - from] = cycles.items[i].id;
	reply->cycles = (struct roger_strs){ ids, to - from + 1 };
	reply->since_ms = cycles.items[from].opened_at_ms;
	reply->until_ms = to + 1 < cycles.count ? cycles.items[to + 1].opened_at_ms : 0;
	return ROGER_OK;
}

static int set_range(struct counting *counting, const struct roger_report_request *request,
		     struct roger_err *err)
{
	if (request->cycle.length && (request->since_ms || request->until_ms))
		return rg_fail_member(err, ROGER_EUSAGE, "cycle",
				      "cycle: expected cycles or a time, not both");
	counting->reply->since_ms = request->since_ms;
	counting->reply->until_ms = request->until_ms;
	return request->cycle.length ? set_cycles(counting, request->cycle, err) : ROGER_OK;
}

static bool is_within(const struct roger_report_reply *reply, int64_t at_ms)
{
	return at_ms >= reply->since_ms && (!reply->until_ms || at_ms < reply->until_ms);
}

/* -------------------------------------------------------------- messages -- */

/* From when it was stored, where its time is known, and no clock was set back in between. */
static int add_span(struct counting *counting, struct spans *spans, const struct rg_event *event,
		    struct roger_err *err)
{
	const int64_t ms = event->said.at_ms - event->message->created_at_ms;
	int64_t *place;

	if (event->undated || ms < 0)
		return ROGER_OK;
	place = rg_arena_push(counting->arena, &spans->items, &spans->count, sizeof *place);
	if (!place)
		return rg_fail_memory(err);
	*place = ms;
	return ROGER_OK;
}

static int count_stored(struct counting *counting, const struct rg_event *event,
			struct roger_err *err)
{
	struct roger_agent_figures *from = figures_of(counting, event->said.actor), *to;

	counting->reply->messages++;
	counting->reply->unread += !event->message->read && !counting->archived;
	if (from)
		from->sent++;
	to = from ? figures_of(counting, event->said.peer) : NULL;
	if (!to)
		return rg_fail_memory(err);
	to->received++;
	to->read += event->message->read;
	return ROGER_OK;
}

/* Nothing else is counted yet when messages are. */
static void count_afresh(struct counting *counting)
{
	struct roger_report_reply *reply = counting->reply;

	reply->messages = reply->read = reply->unread = reply->looked = reply->acknowledged = 0;
	counting->latencies.count = counting->looks.count = counting->agents.count = 0;
	counting->places = (struct rg_counter){ .arena = counting->arena };
}

static int see_row(void *context, const struct rg_survey_row *row, struct roger_err *err)
{
	struct counting *counting = context;
	const int64_t at_ms = row && row->read_at_ms ? row->read_at_ms : 1;
	struct roger_message message;

	if (!row) {
		count_afresh(counting);
		return ROGER_OK;
	}
	counting->archived = row->archived;
	message = (struct roger_message){ .id = row->id,
					  .from = row->from,
					  .to = row->to,
					  .read = row->read,
					  .created_at_ms = row->created_at_ms,
					  .read_at_ms = row->read_at_ms,
					  .claimed_by = row->claimed ? row->to : RG_STR(""),
					  .acked_at_ms = row->acked ? at_ms : 0 };
	return rg_stream_message(&counting->stream, &message, err);
}

static void summarize(struct spans *spans, int64_t *ret_p50, int64_t *ret_p95, int64_t *ret_max)
{
	*ret_p50 = rg_percentile(spans->items, spans->count, 50);
	*ret_p95 = rg_percentile(spans->items, spans->count, 95);
	*ret_max = rg_percentile(spans->items, spans->count, 100);
}

static int see_messages(struct counting *counting, struct roger_err *err)
{
	struct roger_report_reply *reply = counting->reply;
	int r;

	r = rg_engine_survey(counting->roger->engine, reply->since_ms, reply->until_ms, see_row,
			     counting, err);
	summarize(&counting->latencies, &reply->latency_p50_ms, &reply->latency_p95_ms,
		  &reply->latency_max_ms);
	summarize(&counting->looks, &reply->look_p50_ms, &reply->look_p95_ms, &reply->look_max_ms);
	return r;
}

/* -------------------------------------------------------------- attempts -- */

/* An attempt counts with its last line, and as late where an earlier one was a timeout. */
static int count_attempt(struct counting *counting, const struct rg_event *event,
			 struct roger_err *err)
{
	struct roger_report_reply *reply = counting->reply;
	const struct roger_attempt *attempt = event->attempt;
	int64_t *const by_outcome[] = { [ROGER_DELIVERED] = &reply->delivered,
					[ROGER_TIMEOUT] = &reply->timeouts,
					[ROGER_ERROR] = &reply->errors,
					[RG_ATTEMPT_PENDING] = &reply->pending };
	const struct roger_str id = attempt->message.length ? attempt->message : attempt->id;
	const bool ranged = counting->before_range || counting->earlier.count;
	int64_t *earlier = ranged ? rg_counter_of(&counting->earlier, attempt->id) : NULL;
	const bool again = event->before && !(earlier && *earlier);
	struct attempted *attempted;
	bool first;

	if (ranged && !earlier)
		return rg_fail_memory(err);
	if (earlier)
		*earlier = counting->before_range;
	if (counting->before_range)
		return ROGER_OK;
	if (again)
		--*by_outcome[event->before];
	++*by_outcome[event->outcome];
	reply->attempts += !again;
	reply->retries += !again && attempt->attempt > 1;
	reply->late += event->said.kind == ROGER_EVENT_LATE;
	attempted = rg_table_put(&counting->attempted, rg_hash(0, id.data, id.length), &first);
	if (!attempted)
		return rg_fail_memory(err);
	reply->attempted += first;
	reply->attempted_delivered += event->outcome == ROGER_DELIVERED && !attempted->delivered;
	attempted->delivered |= event->outcome == ROGER_DELIVERED;
	return ROGER_OK;
}

static int add_one(struct rg_counter *counter, struct roger_str name, struct roger_err *err)
{
	int64_t *times = rg_counter_of(counter, name.length ? name : RG_STR("unknown"));

	if (!times)
		return rg_fail_memory(err);
	++*times;
	return ROGER_OK;
}

static int count_timeout(struct counting *counting, const struct rg_event *event,
			 struct roger_err *err)
{
	struct roger_agent_figures *figures = figures_of(counting, event->said.actor);

	if (!figures)
		return rg_fail_memory(err);
	figures->timeouts += (event->outcome == ROGER_TIMEOUT) - (event->before == ROGER_TIMEOUT);
	return ROGER_OK;
}

/* Entries of a log: of a time, or of each cycle. */
static int see_log(struct counting *counting, enum rg_log log, struct roger_err *err)
{
	const struct roger_report_reply *reply = counting->reply;
	const size_t count = reply->cycles.count ? reply->cycles.count : 1;
	struct rg_log_query query = { .log = log, .plain = true };
	struct rg_log_entries found;
	size_t i;
	int r = ROGER_OK;

	if (!reply->cycles.count) {
		query.since_ms = reply->since_ms;
		query.until_ms = reply->until_ms;
	}
	for (i = 0; i < count && r == ROGER_OK; i++) {
		if (reply->cycles.count)
			query.cycle = reply->cycles.items[i];
		r = rg_engine_log_find(counting->roger->engine, &query, counting->stream.arena,
				       &found, err);
		if (r == ROGER_OK)
			r = rg_stream_entries(&counting->stream, log, found.items, found.count,
					      err);
	}
	return r;
}

/* What timed out before the range may be delivered late within it. */
static int see_earlier(struct counting *counting, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .state =
						    rg_str(rg_attempt_outcome_names[ROGER_TIMEOUT]),
					    .until_ms = counting->reply->since_ms };
	struct rg_log_entries found;
	int r;

	if (!query.until_ms || counting->reply->cycles.count)
		return ROGER_OK;
	r = rg_engine_log_find(counting->roger->engine, &query, counting->stream.arena, &found,
			       err);
	counting->before_range = true;
	if (r == ROGER_OK)
		r = rg_stream_entries(&counting->stream, RG_LOG_SENDS, found.items, found.count,
				      err);
	counting->before_range = false;
	return r;
}

/* ---------------------------------------------------------- dead letters -- */

static int count_letter(struct counting *counting, const struct rg_event *event,
			struct roger_err *err)
{
	struct roger_report_reply *reply = counting->reply;
	int64_t *const by_status[] = { [ROGER_UNDELIVERED] = &reply->dead_read,
				       [ROGER_REDELIVERED] = &reply->redelivered,
				       [ROGER_STALE] = &reply->stale };
	const bool read = event->message && event->message->read;
	int r;

	reply->dead_letters++;
	++*(event->open ? &reply->undelivered
	    : read	? &reply->dead_read
			: by_status[event->letter->status]);
	r = add_one(&counting->causes, event->letter->cause, err);
	if (r == ROGER_OK)
		r = add_one(&counting->targets, event->letter->to, err);
	return r < 0 ? r : add_one(&counting->cycles, event->letter->cycle, err);
}

static int figure_out(struct counting *counting, struct roger_err *err)
{
	const int64_t limit = counting->roger->workspace->config->dead_letter_alarm;
	struct roger_report_reply *reply = counting->reply;
	struct roger_figure_list cycles;
	int r;

	reply->delivery_permille = rg_permille(reply->delivered, reply->attempts);
	reply->message_permille = rg_permille(reply->attempted_delivered, reply->attempted);
	r = rg_counter_figures(&counting->causes, &reply->dead_by_cause, err);
	if (r == ROGER_OK)
		r = rg_counter_figures(&counting->targets, &reply->dead_by_recipient, err);
	if (r == ROGER_OK)
		r = rg_counter_figures(&counting->refusals, &reply->refused_by_cause, err);
	if (r == ROGER_OK)
		r = rg_counter_figures(&counting->cycles, &cycles, err);
	reply->alarm = r == ROGER_OK && limit && cycles.count && cycles.items[0].count > limit;
	return r;
}

/* ------------------------------------------------------------- activities -- */

/* Most notes of roger tell of something that went well, and need not be read. */
static bool may_count(struct roger_str text)
{
	static const char *const marks[] = { "\"duplicates\":", "\"FAILURE\"" };
	size_t i;

	for (i = 0; i < sizeof marks / sizeof *marks; i++)
		if (memmem(text.data, text.length, marks[i], strlen(marks[i])))
			return true;
	return rg_note_may_be(text, 1U << RG_NOTE_WOKEN | 1U << RG_NOTE_LOOKED |
					    1U << RG_NOTE_ACKNOWLEDGED);
}

/* A message is looked at when it is, also after the time that it was sent in; all else is
 * counted within. */
static void count_note(struct roger_report_reply *reply, const struct rg_note *note)
{
	const bool done = note->entry.status == ROGER_SUCCESS;

	if (!is_within(reply, note->entry.at_ms))
		return;
	if (note->kind == RG_NOTE_SENT) {
		reply->duplicates += note->duplicates;
		reply->conflicts += note->failure == RG_FAILURE_KEY;
	} else if (note->kind == RG_NOTE_WOKEN) {
		reply->wakes++;
		reply->failed_wakes += !done;
	}
}

static int see_activities(struct counting *counting, struct roger_err *err)
{
	struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
				      .kind = rg_str(rg_action_names[ROGER_TOOL_EXEC]),
				      .since_ms = counting->reply->since_ms,
				      .limit = ACTIVITY_PAGE };
	struct rg_arena *const kept = counting->stream.arena;
	struct rg_log_entries found = { 0 };
	struct rg_arena *arena;
	size_t i;
	int r;

	do {
		found.count = 0;
		counting->stream.arena = arena = rg_arena_new();
		r = arena ? rg_engine_log_find(counting->roger->engine, &query, arena, &found, err)
			  : rg_fail_memory(err);
		for (i = 0; r == ROGER_OK && i < found.count; i++)
			if (may_count(found.items[i].text))
				r = rg_stream_entries(&counting->stream, RG_LOG_ACTIVITY,
						      &found.items[i], 1, err);
		if (r == ROGER_OK && found.count)
			query.after = found.items[found.count - 1].position;
		rg_arena_free(arena);
	} while (r == ROGER_OK && found.count == ACTIVITY_PAGE);
	counting->stream.arena = kept;
	return r;
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
}

static int see_runs(struct counting *counting, struct roger_err *err)
{
	struct rg_run_list list;
	size_t i;
	int r;

	r = rg_run_list_load(counting->roger, true, counting->stream.arena, &list, err);
	for (i = 0; r == ROGER_OK && i < list.count; i++)
		if (is_within(counting->reply, list.documents[i].receipts.dispatched_ms))
			r = rg_stream_run(&counting->stream, &list.documents[i], err);
	return r;
}

/* ------------------------------------------------------------------ fold -- */

/* A kind that is not counted is no figure. */
static int count(void *context, const struct rg_event *event, struct roger_err *err)
{
	struct counting *counting = context;
	struct roger_report_reply *reply = counting->reply;
	int r;

	if (event->note)
		count_note(reply, event->note);
	if (event->attempt) {
		r = count_attempt(counting, event, err);
		if (r < 0 || counting->before_range)
			return r;
	}
	switch (event->note ? ROGER_EVENT_ACTIVITY : (enum roger_event_kind)event->said.kind) {
	case ROGER_EVENT_SENT:
		return count_stored(counting, event, err);
	case ROGER_EVENT_LOOKED:
		reply->looked++;
		return add_span(counting, &counting->looks, event, err);
	case ROGER_EVENT_READ:
		reply->read++;
		return add_span(counting, &counting->latencies, event, err);
	case ROGER_EVENT_ACKNOWLEDGED:
		reply->acknowledged++;
		break;
	case ROGER_EVENT_TIMEOUT:
	case ROGER_EVENT_LATE:
		return count_timeout(counting, event, err);
	case ROGER_EVENT_REFUSED:
		return add_one(&counting->refusals, event->attempt->cause, err);
	case ROGER_EVENT_DEAD_LETTER:
		return count_letter(counting, event, err);
	case ROGER_EVENT_DISPATCHED:
		count_run(reply, event->document);
		break;
	case ROGER_EVENT_DUE:
		reply->late_runs += event->document && event->document->receipts.completed_ms;
		break;
	case ROGER_EVENT_LOST:
		reply->lost_runs += event->open;
		break;
	default:
		break;
	}
	return ROGER_OK;
}

static int see_all(struct counting *counting, struct roger_err *err)
{
	struct rg_arena *scratch = rg_arena_new();
	int r = scratch ? ROGER_OK : rg_fail_memory(err);

	rg_stream_init(&counting->stream, counting->roger, scratch, count, counting);
	rg_table_init(&counting->attempted, sizeof(struct attempted));
	if (r == ROGER_OK)
		r = see_activities(counting, err);
	if (r == ROGER_OK)
		r = see_messages(counting, err);
	if (r == ROGER_OK)
		r = see_earlier(counting, err);
	if (r == ROGER_OK)
		r = see_log(counting, RG_LOG_SENDS, err);
	if (r == ROGER_OK)
		r = see_log(counting, RG_LOG_DEAD_LETTERS, err);
	if (r == ROGER_OK)
		r = see_runs(counting, err);
	rg_table_deinit(&counting->attempted);
	rg_stream_deinit(&counting->stream);
	rg_arena_free(scratch);
	return r < 0 ? r : figure_out(counting, err);
}

/* ------------------------------------------------------------------ verb -- */

static int compare_agents(const void *a, const void *b)
{
	const struct roger_agent_figures *x = a, *y = b;

	return strcmp(x->name.data, y->name.data);
}

int rg_verb_report(struct roger *roger, const struct roger_report_request *request,
		   struct roger_report_reply *reply, struct roger_err *err)
{
	struct counting counting = { .roger = roger,
				     .reply = reply,
				     .arena = reply->memory,
				     .causes.arena = reply->memory,
				     .targets.arena = reply->memory,
				     .cycles.arena = reply->memory,
				     .refusals.arena = reply->memory,
				     .places.arena = reply->memory,
				     .earlier.arena = reply->memory };
	struct rg_breakers breakers;
	int r;

	rg_attempt_settle_overdue(roger);
	r = set_range(&counting, request, err);
	if (r == ROGER_OK)
		r = see_all(&counting, err);
	if (r == ROGER_OK)
		r = rg_breakers_find(roger, reply->memory, &breakers, err);
	if (r == ROGER_OK)
		r = rg_status_figures(roger, reply->memory, &reply->concerns, err);
	if (r < 0)
		return r;
	reply->breakers = (int64_t)breakers.count;
	if (counting.agents.count)
		qsort(counting.agents.items, counting.agents.count, sizeof *counting.agents.items,
		      compare_agents);
	reply->agents =
		(struct roger_agent_figures_list){ counting.agents.items, counting.agents.count };
	return ROGER_OK;
}

#define FIGURE(member, flags, help)                                                                \
	{                                                                                          \
#member, ROGER_INT, AT(member), flags, NULL, NULL, help                            \
	}
#define NUMBER(member, help) FIGURE(member, 0, help)
#define MEASURE(member, help) FIGURE(member, ROGER_MEASURED, help)
#undef MEASURE
#undef NUMBER
#undef FIGURE
