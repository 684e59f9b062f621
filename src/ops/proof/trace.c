/*
 * trace: how far a message got, to each of its recipients, and where each step
 * is written: its states in the journal, what the send log and the dead letters
 * say, and the notes of waking and looking in the activity log.
 */
#include "ops/proof/gather.h"

#include <stdio.h>
#include <stdlib.h>

#include "facts/note.h"

enum {
	TRACES_MAX = 1000,
	NOTES_MAX = 10000, /* of an agent, while its message waits */
	WHATS_MAX = 20,
	NEIGHBOURS = 64, /* messages of one send stand side by side: so many are looked at a time */
};

static const char *const step_names[] = {
	"stored",	"wake",	     "looked",	"claimed", "returned", "read",
	"acknowledged", "delivered", "timeout", "refused", "dead",     "redelivered",
	"stale",	"archived",  "handed",	NULL,
};

/* A step on its way: order tells apart what happened at one instant, or at none. */
struct placed {
	struct roger_trace_step step;
	int64_t sort_ms;
	size_t order;
};

/* One message and its steps. */
struct tracing {
	struct roger *roger;
	struct rg_arena *arena;
	const struct roger_message *message;
	struct rg_states states;
	int64_t last_ms; /* of the last step whose time is known */
	struct {
		struct placed *items;
		size_t count;
	} steps;
};

/* ----------------------------------------------------------------- steps -- */

static struct roger_trace_step *add(struct tracing *tracing, enum roger_step kind, int64_t at_ms,
				    struct roger_str who, struct roger_err *err)
{
	struct placed *placed = rg_arena_push(tracing->arena, &tracing->steps.items,
					      &tracing->steps.count, sizeof *placed);

	if (!placed) {
		rg_fail_memory(err);
		return NULL;
	}
	if (at_ms)
		tracing->last_ms = at_ms;
	*placed = (struct placed){ { .step = (int)kind, .at_ms = at_ms, .who = who },
				   tracing->last_ms,
				   tracing->steps.count };
	return &placed->step;
}

static bool has(const struct tracing *tracing, enum roger_step kind)
{
	size_t i;

	for (i = 0; i < tracing->steps.count; i++)
		if (tracing->steps.items[i].step.step == (int)kind)
			return true;
	return false;
}

static int say(struct tracing *tracing, struct roger_trace_step *step, struct roger_str words,
	       struct roger_err *err)
{
	return rg_arena_copy(tracing->arena, words, &step->words) ? ROGER_OK : rg_fail_memory(err);
}

/* ----------------------------------------------------- states in the journal -- */

static int add_state(struct tracing *tracing, const struct rg_state *state, enum roger_step kind,
		     int64_t at_ms, struct roger_str who, const char *words, struct roger_err *err)
{
	struct roger_trace_step *step = add(tracing, kind, at_ms, who, err);

	if (!step)
		return ROGER_ENOMEM;
	step->file = tracing->roger->workspace->config->jsonl_file;
	step->line = state->line;
	step->byte = state->byte;
	return say(tracing, step, rg_str(words), err);
}

/* Was the lease of this state still held when that one was read? */
static bool is_ack(const struct roger_message *before, const struct roger_message *after)
{
	return before->claimed_by.length && before->claimed_until_ms > after->read_at_ms;
}

static int tell_reading(struct tracing *tracing, const struct roger_message *before,
			const struct rg_state *state, struct roger_err *err)
{
	const struct roger_message *after = &state->message;
	bool acked = before && is_ack(before, after);
	int r;

	r = add_state(tracing, state, ROGER_STEP_READ, after->read_at_ms, after->to_phase, "", err);
	if (r == ROGER_OK && acked)
		r = add_state(tracing, state, ROGER_STEP_ACKNOWLEDGED, after->read_at_ms,
			      before->claimed_by, "by ack", err);
	return r;
}

/* When a lease began is in no line; the note of the claim tells, where there is one. */
static int tell_claim(struct tracing *tracing, const struct roger_message *before,
		      const struct rg_state *state, struct roger_err *err)
{
	const struct roger_message *after = &state->message;
	char until[32], words[64];

	if (!after->claimed_by.length || after->read || after->archived_at_ms ||
	    (before && rg_str_equal(before->claimed_by, after->claimed_by) &&
	     before->claimed_until_ms == after->claimed_until_ms))
		return ROGER_OK;
	if (before && rg_str_equal(before->claimed_by, after->claimed_by) &&
	    after->claimed_until_ms < before->claimed_until_ms)
		return add_state(tracing, state, ROGER_STEP_RETURNED, after->claimed_until_ms,
				 after->claimed_by, "", err);
	rg_clock_print_utc(after->claimed_until_ms, until);
	snprintf(words, sizeof words, "until %s", until);
	return add_state(tracing, state, ROGER_STEP_CLAIMED, 0, after->claimed_by, words, err);
}

static int tell_state(struct tracing *tracing, const struct roger_message *before,
		      const struct rg_state *state, struct roger_err *err)
{
	const struct roger_message *after = &state->message;
	char words[128];
	int r = ROGER_OK;

	if (!before)
		r = add_state(tracing, state, ROGER_STEP_STORED, after->created_at_ms,
			      after->from_phase, "", err);
	if (r == ROGER_OK)
		r = tell_claim(tracing, before, state, err);
	if (r == ROGER_OK && after->handed_at_ms && (!before || !before->handed_at_ms))
		r = add_state(tracing, state, ROGER_STEP_HANDED, after->handed_at_ms,
			      RG_STR("roger"), "into its file", err);
	if (r == ROGER_OK && after->read && (!before || !before->read))
		r = tell_reading(tracing, before, state, err);
	if (r == ROGER_OK && after->archived_at_ms && (!before || !before->archived_at_ms)) {
		snprintf(words, sizeof words, "%.*s",
			 after->archive_reason.length < 100 ? (int)after->archive_reason.length
							    : 100,
			 after->archive_reason.data);
		r = add_state(tracing, state, ROGER_STEP_ARCHIVED, after->archived_at_ms,
			      RG_STR(""), words, err);
	}
	return r;
}

static int tell_states(struct tracing *tracing, struct roger_err *err)
{
	const struct rg_state *states;
	size_t i;
	int r;

	r = rg_engine_states(tracing->roger->engine, tracing->message, tracing->arena,
			     &tracing->states, err);
	states = tracing->states.items;
	for (i = 0; r == ROGER_OK && i < tracing->states.count; i++)
		r = tell_state(tracing, i ? &states[i - 1].message : NULL, &states[i], err);
	return r;
}

/* ------------------------------------------------------ notes in the activity log -- */

static bool names(const struct rg_note *note, struct roger_str id)
{
	size_t i;

	for (i = 0; i < note->ids.count; i++)
		if (rg_str_equal(note->ids.items[i], id))
			return true;
	return false;
}

static int add_note(struct tracing *tracing, const struct rg_log_entry *entry, enum roger_step kind,
		    struct roger_str words, int64_t attempt, struct roger_err *err)
{
	struct roger_trace_step *step =
		add(tracing, kind, entry->at_ms,
		    kind == ROGER_STEP_WAKE ? RG_STR("") : tracing->message->to_phase, err);

	if (!step)
		return ROGER_ENOMEM;
	step->file = entry->file;
	step->line = entry->line;
	step->attempt = attempt;
	return say(tracing, step, words, err);
}

/* The first claim of the journal whose time is not known yet. */
static void date_claim(struct tracing *tracing, int64_t at_ms)
{
	size_t i;

	for (i = 0; i < tracing->steps.count; i++) {
		struct placed *placed = &tracing->steps.items[i];

		if (placed->step.step != ROGER_STEP_CLAIMED || placed->step.at_ms)
			continue;
		placed->step.at_ms = placed->sort_ms = at_ms;
		return;
	}
}

static int tell_note(struct tracing *tracing, const struct rg_log_entry *entry,
		     struct roger_err *err)
{
	const struct roger_message *message = tracing->message;
	struct rg_note note;
	int r;

	r = rg_note_read(entry->text, tracing->arena, &note, err);
	if (r < 0)
		return r;
	if (note.kind == RG_NOTE_WOKEN) {
		if (note.position < message->position ||
		    (message->read && entry->at_ms > message->read_at_ms) ||
		    (message->archived_at_ms && entry->at_ms > message->archived_at_ms))
			return ROGER_OK;
		return add_note(tracing, entry, ROGER_STEP_WAKE, note.entry.outcome_message,
				note.attempt, err);
	}
	if (!names(&note, message->id))
		return ROGER_OK;
	if (note.kind == RG_NOTE_CLAIMED)
		date_claim(tracing, entry->at_ms);
	if (note.kind == RG_NOTE_ACKNOWLEDGED && !has(tracing, ROGER_STEP_ACKNOWLEDGED))
		return add_note(tracing, entry, ROGER_STEP_ACKNOWLEDGED, RG_STR("by ack"), 0, err);
	if (note.kind == RG_NOTE_LOOKED && !has(tracing, ROGER_STEP_LOOKED))
		return add_note(tracing, entry, ROGER_STEP_LOOKED, RG_STR(""), 0, err);
	return ROGER_OK;
}

/* While it waited, and a little longer: the notes are written when all is done. */
static int tell_notes(struct tracing *tracing, struct roger_err *err)
{
	static const enum rg_note_step steps[] = { RG_STEP_WAKE, RG_STEP_LOOK, RG_STEP_ACK };
	enum { LATE_MS = 60000 };
	const struct roger_message *message = tracing->message;
	struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
				      .owner = message->to_phase,
				      .since_ms = message->created_at_ms,
				      .limit = NOTES_MAX };
	struct rg_log_entries found;
	size_t i, k;
	int r = ROGER_OK;

	if (message->read && message->read_at_ms >= message->created_at_ms)
		query.until_ms = message->read_at_ms + LATE_MS;
	for (i = 0; i < sizeof steps / sizeof *steps && r == ROGER_OK; i++) {
		query.step = rg_note_step_name(steps[i]);
		r = rg_engine_log_find(tracing->roger->engine, &query, tracing->arena, &found, err);
		for (k = 0; r == ROGER_OK && k < found.count; k++)
			r = tell_note(tracing, &found.items[k], err);
	}
	return r;
}

/* Who took it saw it; report counts it so, too. */
static int tell_taking(struct tracing *tracing, struct roger_err *err)
{
	struct roger_trace_step *step;
	const struct placed *taken = NULL;
	size_t i;

	if (has(tracing, ROGER_STEP_LOOKED) || has(tracing, ROGER_STEP_HANDED))
		return ROGER_OK;
	for (i = 0; i < tracing->steps.count && !taken; i++)
		if (tracing->steps.items[i].step.step == ROGER_STEP_CLAIMED ||
		    tracing->steps.items[i].step.step == ROGER_STEP_READ)
			taken = &tracing->steps.items[i];
	if (!taken)
		return ROGER_OK;
	i = (size_t)(taken - tracing->steps.items);
	step = add(tracing, ROGER_STEP_LOOKED, taken->step.at_ms, taken->step.who, err);
	if (!step)
		return ROGER_ENOMEM;
	taken = &tracing->steps.items[i];
	step->file = taken->step.file;
	step->line = taken->step.line;
	step->byte = taken->step.byte;
	tracing->steps.items[tracing->steps.count - 1].sort_ms = taken->sort_ms;
	tracing->steps.items[tracing->steps.count - 1].order = i;
	return say(tracing, step,
		   taken->step.step == ROGER_STEP_CLAIMED ? RG_STR("by claim")
							  : RG_STR("by receive"),
		   err);
}

/* ------------------------------------------------- send log and dead letters -- */

static bool step_of(const struct tracing *tracing, const struct roger_event *event,
		    enum roger_step *ret_step)
{
	switch ((enum roger_event_kind)event->kind) {
	case ROGER_EVENT_DELIVERED:
	case ROGER_EVENT_LATE:
		/* With a deadline, delivered means that its sender knows of the reading. */
		*ret_step = tracing->states.count && tracing->message->confirm_by_ms
				    ? ROGER_STEP_ACKNOWLEDGED
				    : ROGER_STEP_DELIVERED;
		return true;
	case ROGER_EVENT_TIMEOUT:
		*ret_step = ROGER_STEP_TIMEOUT;
		return true;
	case ROGER_EVENT_REFUSED:
		*ret_step = ROGER_STEP_REFUSED;
		return true;
	case ROGER_EVENT_DEAD_LETTER:
		*ret_step = ROGER_STEP_DEAD;
		return true;
	case ROGER_EVENT_REDELIVERED:
		*ret_step = ROGER_STEP_REDELIVERED;
		return true;
	case ROGER_EVENT_STALE:
		*ret_step = ROGER_STEP_STALE;
		return true;
	case ROGER_EVENT_CYCLE:
	case ROGER_EVENT_DISPATCHED:
	case ROGER_EVENT_SENT:
	case ROGER_EVENT_WAKE:
	case ROGER_EVENT_LOOKED:
	case ROGER_EVENT_READ:
	case ROGER_EVENT_DUE:
	case ROGER_EVENT_RECOVERY:
	case ROGER_EVENT_COMPLETED:
	case ROGER_EVENT_FORWARDED:
	case ROGER_EVENT_RUN_NOTE:
	case ROGER_EVENT_ACTIVITY:
	case ROGER_EVENT_ARCHIVED:
		break;
	}
	return false;
}

static int tell_events(struct tracing *tracing, const struct rg_history *history,
		       struct roger_err *err)
{
	struct roger_trace_step *step;
	enum roger_step kind = ROGER_STEP_STORED;
	size_t i;

	for (i = 0; i < history->count; i++) {
		const struct roger_event *event = &history->items[i];

		if (!rg_str_equal(event->message_id, tracing->message->id) ||
		    !step_of(tracing, event, &kind))
			continue;
		step = add(tracing, kind, event->at_ms, event->actor, err);
		if (!step)
			return ROGER_ENOMEM;
		step->words = event->words;
		step->attempt = event->attempt;
		step->file = event->file;
		step->line = event->line;
	}
	return ROGER_OK;
}

/* --------------------------------------------------------------- one message -- */

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->sort_ms != y->sort_ms)
		return x->sort_ms < y->sort_ms ? -1 : 1;
	/* At one instant as one thing leads to another; one whose time is not known stays put. */
	if (x->step.at_ms && y->step.at_ms && x->step.step != y->step.step)
		return x->step.step - y->step.step;
	return (x->order > y->order) - (x->order < y->order);
}

/* Given up counts while nobody has read it. */
static enum roger_step reached_by(const struct tracing *tracing)
{
	static const enum roger_step way[] = { ROGER_STEP_ACKNOWLEDGED, ROGER_STEP_READ,
					       ROGER_STEP_DEAD,		ROGER_STEP_CLAIMED,
					       ROGER_STEP_LOOKED,	ROGER_STEP_HANDED,
					       ROGER_STEP_WAKE };
	size_t i;

	for (i = 0; i < sizeof way / sizeof *way; i++)
		if (has(tracing, way[i]))
			return way[i];
	return ROGER_STEP_STORED;
}

static int finish(struct tracing *tracing, struct roger_trace *trace, struct roger_err *err)
{
	const struct roger_message *message = tracing->message;
	struct roger_trace_step *steps =
		rg_arena_get(tracing->arena, tracing->steps.count * sizeof *steps);
	size_t i;

	if (!steps)
		return rg_fail_memory(err);
	if (tracing->steps.count)
		qsort(tracing->steps.items, tracing->steps.count, sizeof *tracing->steps.items,
		      compare_placed);
	for (i = 0; i < tracing->steps.count; i++)
		steps[i] = tracing->steps.items[i].step;
	*trace = (struct roger_trace){ .id = message->id,
				       .from = message->from_phase,
				       .to = message->to_phase,
				       .issue = message->issue_id,
				       .key = message->idempotent_key,
				       .seq = message->seq,
				       .reached = (int)reached_by(tracing),
				       .steps = { steps, tracing->steps.count } };
	return ROGER_OK;
}

static int trace_one(struct roger *roger, const struct roger_message *message,
		     const struct rg_history *history, struct rg_arena *arena,
		     struct roger_trace *trace, struct roger_err *err)
{
	struct tracing tracing = { .roger = roger, .arena = arena, .message = message };
	int r;

	r = tell_states(&tracing, err);
	if (r == ROGER_OK)
		r = tell_events(&tracing, history, err);
	if (r == ROGER_OK)
		r = tell_notes(&tracing, err);
	if (r == ROGER_OK)
		r = tell_taking(&tracing, err);
	return r < 0 ? r : finish(&tracing, trace, err);
}

/* ------------------------------------------------------------- which messages -- */

static bool same_send(const struct roger_message *a, const struct roger_message *b)
{
	return a->seq && a->seq == b->seq && a->epoch == b->epoch &&
	       rg_str_equal(a->from_phase, b->from_phase);
}

/* Neighbours to one side, living or archived, as far as they are of the same send. */
static int gather_side(struct rg_gathering *gathering, const struct roger_message *message,
		       bool newest, bool archived, struct roger_err *err)
{
	struct rg_query query = { .archived = archived,
				  .newest = newest,
				  .after = message->position,
				  .limit = NEIGHBOURS };
	struct roger_messages found;
	struct roger_str *ids;
	size_t count;
	int r;

	do {
		r = rg_engine_find(gathering->roger->engine, &query, gathering->arena, &found, err);
		if (r < 0)
			return r;
		ids = rg_arena_get(gathering->arena, found.count * sizeof *ids);
		if (!ids)
			return rg_fail_memory(err);
		for (count = 0; count < found.count; count++) {
			if (!same_send(message, &found.items[count]))
				break;
			ids[count] = found.items[count].id;
			query.after = found.items[count].position;
		}
		r = rg_gather_ids(gathering, ids, count, err);
	} while (r == ROGER_OK && count == NEIGHBOURS && gathering->messages.count <= TRACES_MAX);
	return r;
}

/* Several recipients have their messages in lines side by side. */
static int gather_send(struct rg_gathering *gathering, const struct roger_message *message,
		       struct roger_err *err)
{
	int side, r = ROGER_OK;

	for (side = 0; side < 4 && message->seq && r == ROGER_OK; side++)
		r = gather_side(gathering, message, side & 1, side & 2, err);
	return r;
}

/* An id; else a key. */
static int gather_what(struct rg_gathering *gathering, struct roger_str what, struct roger_str from,
		       struct roger_err *err)
{
	const struct rg_query by_id = { .ids = &what, .id_count = 1, .anywhere = true };
	const struct rg_query by_key = { .key = what, .from = from, .anywhere = true };
	struct roger_messages found;
	size_t i;
	int r;

	r = rg_engine_find(gathering->roger->engine, &by_id, gathering->arena, &found, err);
	if (r == ROGER_OK && !found.count)
		r = rg_engine_find(gathering->roger->engine, &by_key, gathering->arena, &found,
				   err);
	if (r == ROGER_OK && !found.count)
		return rg_fail_member(err, ROGER_ENOENT, "ids",
				      "no message '%.*s', and none with that key; `roger list` "
				      "names them, `roger sends` the keys",
				      RG_STR_ARGS(what));
	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		r = rg_gather_ids(gathering, &found.items[i].id, 1, err);
		if (r == ROGER_OK)
			r = gather_send(gathering, &found.items[i], err);
	}
	return r;
}

static int trace_all(struct rg_gathering *gathering, struct roger_trace_reply *reply,
		     struct roger_err *err)
{
	struct rg_history history = { .arena = reply->memory };
	struct roger_trace *traces;
	size_t count = gathering->messages.count, i;
	int r;

	rg_gathering_sort(gathering);
	reply->more = count > TRACES_MAX;
	if (count > TRACES_MAX)
		count = gathering->messages.count = TRACES_MAX;
	traces = rg_arena_get(reply->memory, count * sizeof *traces);
	if (!traces)
		return rg_fail_memory(err);
	r = rg_gather_attempts(gathering, RG_STR(""), err);
	if (r == ROGER_OK)
		r = rg_tell_all(gathering, false, &history, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = trace_one(gathering->roger, &gathering->messages.items[i], &history,
			      reply->memory, &traces[i], err);
	reply->traces = (struct roger_traces){ traces, count };
	return r;
}

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_trace_request *request = request_;
	struct roger_trace_reply *reply = reply_;
	struct rg_gathering gathering;
	size_t i;
	int r = ROGER_OK;

	if (request->ids.count > WHATS_MAX)
		return rg_fail_member(err, ROGER_EDATA, "ids", "ids: expected at most %d",
				      WHATS_MAX);
	rg_gathering_init(&gathering, roger, reply->memory);
	for (i = 0; i < request->ids.count && r == ROGER_OK; i++)
		r = gather_what(&gathering, request->ids.items[i], request->from, err);
	return r < 0 ? r : trace_all(&gathering, reply, err);
}

#define AT(member) offsetof(struct roger_trace_request, member)
static const struct roger_field request_fields[] = {
	{ "ids", ROGER_TEXTS, AT(ids), ROGER_REQUIRED | ROGER_PLACE | ROGER_ID, NULL, NULL,
	  "ids of messages, or keys" },
	{ "from", ROGER_NAME, AT(from), 0, NULL, NULL, "of a key: only of this sender" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "trace", sizeof(struct roger_trace_request),
						    request_fields };

#define AT(member) offsetof(struct roger_trace_step, member)
static const struct roger_field step_fields[] = {
	{ "step", ROGER_ENUM, AT(step), 0, step_names, NULL, "what happened" },
	{ "at", ROGER_INSTANT, AT(at_ms), ROGER_SPARE, NULL, NULL, "when; left out: not known" },
	{ "who", ROGER_TEXT, AT(who), ROGER_SPARE, NULL, NULL, "who did it" },
	{ "words", ROGER_TEXT, AT(words), ROGER_SPARE, NULL, NULL, "for people; no content" },
	{ "attempt", ROGER_INT, AT(attempt), ROGER_SPARE, NULL, NULL, "number of the attempt" },
	{ "file", ROGER_TEXT, AT(file), ROGER_SPARE, NULL, NULL, "evidence: where it is written" },
	{ "line", ROGER_INT, AT(line), ROGER_SPARE, NULL, NULL, "in that file, from 1" },
	{ "byte", ROGER_INT, AT(byte), ROGER_SPARE, NULL, NULL,
	  "where that line begins; left out: 0, or not known" },
	RG_END,
};
#undef AT
static const struct roger_record step_record = { "step", sizeof(struct roger_trace_step),
						 step_fields };

#define AT(member) offsetof(struct roger_trace, member)
static const struct roger_field trace_fields[] = {
	{ "id", ROGER_TEXT, AT(id), ROGER_ID, NULL, NULL, "of the message" },
	{ "from", ROGER_NAME, AT(from), 0, NULL, NULL, "its sender" },
	{ "to", ROGER_NAME, AT(to), 0, NULL, NULL, "its recipient" },
	{ "issue", ROGER_NAME, AT(issue), ROGER_ISSUE, NULL, NULL, "its unit of work" },
	{ "key", ROGER_TEXT, AT(key), ROGER_SPARE | ROGER_KEY, NULL, NULL, "idempotent key" },
	{ "seq", ROGER_INT, AT(seq), ROGER_SPARE, NULL, NULL, "the sender's number" },
	{ "reached", ROGER_ENUM, AT(reached), 0, step_names, NULL,
	  "stored, wake, handed, looked, claimed, read, acknowledged or dead" },
	{ "steps", ROGER_RECORDS, AT(steps), 0, NULL, &step_record, "in their order" },
	RG_END,
};
#undef AT
static const struct roger_record trace_record = { "trace", sizeof(struct roger_trace),
						  trace_fields };

#define AT(member) offsetof(struct roger_trace_reply, member)
static const struct roger_field reply_fields[] = {
	{ "traces", ROGER_RECORDS, AT(traces), 0, NULL, &trace_record, "one for each recipient" },
	{ "more", ROGER_BOOL, AT(more), 0, NULL, NULL, "there were further recipients" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "traces", sizeof(struct roger_trace_reply),
						  reply_fields };

const struct roger_op rg_op_trace = {
	.name = "trace",
	.summary = "how far messages got, each step with its evidence",
	.examples = "roger trace msg-1736328000000-0123abcd\nroger trace app-42:escalation:1 "
		    "--json\n",
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
