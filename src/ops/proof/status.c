/*
 * status: what needs attention now, and what to type next.
 *
 * A fold over the events that are open.  The index says which messages and dead
 * letters these are, so that it costs what is wrong and not what there is: but for
 * the documents of the runs, which are all read.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/id.h"
#include "facts/damage.h"
#include "host/triggers.h"
#include "ops/keys/attempt.h"
#include "ops/keys/breaker.h"
#include "ops/mail/agents.h"
#include "ops/proof/seats.h"
#include "ops/proof/stream.h"
#include "ops/runs/run_list.h"
#include "ops/tools/trust.h"

enum {
	LETTERS_MAX = 2000, /* open dead letters */
	REFUSED_MAX = 200,  /* newest refusals of the cycle, not older than a day */
	WAITING_MAX = 2000, /* messages with a lease, or to be read by some time */
	MAILBOXES_MAX = 50, /* whose oldest message is looked up */
	EACH_MAX = 5,	    /* concerns of one kind; the rest is one more */
};

/* A mailbox that is not looked at for so long is more than a note. */
static const int64_t forgotten_ms = INT64_C(3600) * 1000;
static const int64_t refused_ms = INT64_C(86400) * 1000;

/* What a concern is about: its word, how urgent it is, and what is said of those beyond the first
 * few. */
enum topic {
	ALARM,
	DEAD,
	LOST,
	FAILED,
	SUSPECT,
	NOT_FORWARDED,
	DOCUMENTS,
	OVERDUE,
	WAITING,
	LEASE,
	HELD,
	BREAKER,
	REFUSED,
	FORGOTTEN,
	UNREAD,
	RETIRED,
	FULL,
	SKIPPED,
	STRAYS,
	LOG_STRAYS,
	UNTRUSTED,
	DAMAGE,
	ENGINE,
	TOPICS,
};
static const struct {
	const char *kind;
	enum roger_urgency urgency;
	const char *next, *one, *many;
} topics[TOPICS] = {
	[ALARM] = { "alarm", ROGER_URGENT, "", "", "" },
	[DEAD] = { "dead_letters", ROGER_URGENT, "roger dead --status undelivered",
		   "message that others did not get", "messages that others did not get" },
	[LOST] = { "blocked", ROGER_URGENT, "roger runs --status blocked", "run: blocked",
		   "runs: blocked" },
	[FAILED] = { "failed", ROGER_SOON, "roger runs", "run that failed", "runs that failed" },
	[SUSPECT] = { "suspect_delivery_failure", ROGER_SOON,
		      "roger runs --status suspect_delivery_failure",
		      "run: suspect_delivery_failure", "runs: suspect_delivery_failure" },
	[NOT_FORWARDED] = { "done_but_not_forwarded", ROGER_SOON,
			    "roger runs --status done_but_not_forwarded",
			    "run: done_but_not_forwarded", "runs: done_but_not_forwarded" },
	[DOCUMENTS] = { "run_documents", ROGER_SOON, "", "", "" },
	[OVERDUE] = { "overdue", ROGER_SOON, "roger sends --newest", "message that was to be read",
		      "messages that were to be read" },
	[WAITING] = { "waiting", ROGER_NOTICE, "roger sends --newest", "message that is to be read",
		      "messages that are to be read" },
	[LEASE] = { "lease", ROGER_SOON, "roger agents", "lease that expired",
		    "leases that expired" },
	[HELD] = { "held", ROGER_NOTICE, "roger agents", "lease", "leases" },
	[BREAKER] = { "breaker", ROGER_SOON, "roger sends --outcome timeout --newest",
		      "breaker is open", "breakers are open" },
	[REFUSED] = { "refused", ROGER_SOON, "roger sends --outcome error --newest",
		      "sender that was refused", "senders that were refused" },
	[FORGOTTEN] = { "unread", ROGER_SOON, "roger agents", "agent with unread mail",
			"agents with unread mail" },
	[UNREAD] = { "unread", ROGER_NOTICE, "roger agents", "agent with unread mail",
		     "agents with unread mail" },
	[RETIRED] = { "retired", ROGER_SOON, "roger agents", "retired agent with mail",
		      "retired agents with mail" },
	[FULL] = { "full", ROGER_SOON, "roger agents", "full mailbox", "full mailboxes" },
	[SKIPPED] = { "skipped", ROGER_SOON, "", "", "" },
	[STRAYS] = { "strays", ROGER_SOON, "", "", "" },
	[LOG_STRAYS] = { "strays", ROGER_NOTICE, "roger verify", "log with stray lines",
			 "logs with stray lines" },
	[UNTRUSTED] = { "untrusted", ROGER_SOON, "", "", "" },
	[DAMAGE] = { "damage", ROGER_URGENT, "roger verify", "damaged place", "damaged places" },
	[ENGINE] = { "engine", ROGER_NOTICE, "", "", "" },
};

/* What is open of one agent. */
struct group {
	struct roger_str name;
	struct roger_str id; /* of the first dead letter */
	bool gone;	     /* and its message is no longer in the mailbox */
	struct {
		struct roger_attempt *items;
		size_t count;
	} refused;		    /* in their order */
	struct roger_str peer, why; /* of the last one that is open */
	int64_t count, since_ms;
};
struct groups {
	struct group *items;
	size_t count;
};

/* The screen on its way. */
struct looking {
	struct roger *roger;
	struct roger_status_reply *reply;
	struct rg_arena *arena; /* the reply's */
	int64_t now_ms;
	bool failed; /* out of memory */
	struct rg_stream stream;
	int64_t counts[TOPICS];		/* of concerns, those that are left out too */
	struct groups letters, refused; /* by target; by sender */
	int64_t in_cycle, in_cycle_ms;	/* dead letters of this cycle, and the first of them */
	struct {
		struct roger_concern *items;
		size_t count;
	} concerns;
};

static int put(struct looking *looking, enum topic topic, struct roger_concern concern)
{
	struct roger_concern *place = rg_arena_push(looking->arena, &looking->concerns.items,
						    &looking->concerns.count, sizeof *place);

	concern.kind = rg_str(topics[topic].kind);
	concern.urgency = (int)topics[topic].urgency;
	if (!place)
		return ROGER_ENOMEM;
	*place = concern;
	return ROGER_OK;
}

/* A word of a command, as a shell takes it: much of what is named here, others wrote. */
static struct roger_str quoted(struct looking *looking, struct roger_str word)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	struct roger_str copy = { "", 0 };

	rg_buf_add_shell_word(&out, word);
	looking->failed |= out.failed || !rg_arena_copy(looking->arena, rg_buf_str(&out), &copy);
	return copy;
}

/* The command to type next. */
RG_PRINTF(2, 3)
static struct roger_str command(struct looking *looking, const char *format, ...)
{
	va_list arguments, again;
	size_t length;
	char *text;

	va_start(arguments, format);
	va_copy(again, arguments);
	length = (size_t)vsnprintf(NULL, 0, format, again);
	va_end(again);
	text = rg_arena_get(looking->arena, length + 1);
	if (text)
		vsnprintf(text, length + 1, format, arguments);
	va_end(arguments);
	looking->failed |= !text;
	return text ? (struct roger_str){ text, length } : (struct roger_str){ "", 0 };
}

/* One more concern. */
RG_PRINTF(7, 8)
static int say(struct looking *looking, enum topic topic, struct roger_str subject, int64_t count,
	       int64_t since_ms, struct roger_str next, const char *format, ...)
{
	struct roger_concern concern = {
		.subject = subject, .count = count, .since_ms = since_ms, .next = next
	};
	char words[1024];
	va_list arguments;

	if (looking->counts[topic]++ >= EACH_MAX)
		return ROGER_OK;
	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	if (looking->failed || !rg_arena_copy(looking->arena, rg_str(words), &concern.words))
		return ROGER_ENOMEM;
	return put(looking, topic, concern);
}

/* Those beyond the first few of each topic. */
static int say_rests(struct looking *looking)
{
	struct roger_concern concern;
	int topic, r = ROGER_OK;

	for (topic = 0; topic < TOPICS && r == ROGER_OK; topic++) {
		concern = (struct roger_concern){ .count = looking->counts[topic] - EACH_MAX,
						  .next = rg_str(topics[topic].next) };
		if (concern.count <= 0)
			continue;
		if (!rg_arena_print(looking->arena, &concern.words, "%lld more %s",
				    (long long)concern.count,
				    concern.count == 1 ? topics[topic].one : topics[topic].many))
			return ROGER_ENOMEM;
		r = put(looking, (enum topic)topic, concern);
	}
	return r;
}

/* ------------------------------------------------------------------ fold -- */

static struct group *group_of(struct looking *looking, struct groups *groups, struct roger_str name)
{
	struct group *group;
	size_t i;

	for (i = 0; i < groups->count; i++)
		if (rg_str_equal(groups->items[i].name, name))
			return &groups->items[i];
	group = rg_arena_push(looking->arena, &groups->items, &groups->count, sizeof *group);
	if (group)
		group->name = name;
	return group;
}

static int see_run(struct looking *looking, enum topic topic, const struct rg_event *event)
{
	const struct roger_run *run = &event->document->run;
	const char *const commands[] = { [LOST] = "settle",
					 [FAILED] = "settle",
					 [SUSPECT] = "recover",
					 [NOT_FORWARDED] = "forward" };
	const bool unread = topic == NOT_FORWARDED && run->result_message.length,
		   settled = topic == LOST || topic == FAILED;
	struct roger_str why =
		topic == FAILED ? rg_str(rg_run_outcome_names[run->outcome]) : run->status_reason;

	/* Its owner has to read the result first, and nobody else can do that. */
	if (topic == NOT_FORWARDED && event->document->way_out.length)
		return say(looking, topic, run->run, 1, event->said.at_ms, event->document->way_out,
			   "run %.*s: %.*s", RG_STR_ARGS(run->run), RG_STR_ARGS(why));
	return say(looking, topic, run->run, 1, event->said.at_ms,
		   command(looking, "roger %s %.*s%s", unread ? "trace" : commands[topic],
			   RG_STR_ARGS(quoted(looking, unread ? run->result_message : run->run)),
			   settled ? " --reason TEXT" : ""),
		   "run %.*s%s%.*s%s%.*s", RG_STR_ARGS(run->run), topic == FAILED ? " " : ": ",
		   RG_STR_ARGS(why), topic == FAILED && run->exit.length ? ": exit " : "",
		   RG_STR_ARGS(topic == FAILED ? run->exit : RG_STR("")));
}

/* To be read by some time. */
static int see_deadline(struct looking *looking, const struct rg_event *event)
{
	const struct roger_message *message = event->message;
	const bool over = event->said.at_ms <= looking->now_ms;
	char span[32];

	rg_clock_print_span(over ? looking->now_ms - event->said.at_ms
				 : event->said.at_ms - looking->now_ms,
			    span);
	return say(looking, over ? OVERDUE : WAITING, message->id, 1, event->said.at_ms,
		   command(looking, "roger sends --message %.*s",
			   RG_STR_ARGS(quoted(looking, message->id))),
		   "%.*s %s #%lld of %.*s, %s %s", RG_STR_ARGS(message->to),
		   over ? "has not read" : "is to read", (long long)message->seq,
		   RG_STR_ARGS(message->from), span, over ? "late" : "left");
}

/*
 * Not in force: over, or beyond what it may take (taken while the clock was ahead, or
 * under another configuration).  The mail is free, and nobody expects it.
 */
static int see_lease(struct looking *looking, const struct rg_event *event)
{
	const struct roger_message *message = event->message;
	const bool held = event->said.kind == ROGER_EVENT_DUE;
	const bool beyond = !held && message->claimed_until_ms > looking->now_ms;
	char until[32];

	rg_clock_print_utc(message->claimed_until_ms, until);
	return say(looking, held ? HELD : LEASE, message->id, 1, message->claimed_until_ms,
		   command(looking, "roger trace %.*s", RG_STR_ARGS(quoted(looking, message->id))),
		   "%.*s%s lease on #%lld of %.*s %s%s%s", RG_STR_ARGS(message->claimed_by), "'s",
		   (long long)message->seq, RG_STR_ARGS(message->from),
		   held	    ? "is held until "
		   : beyond ? "counts as expired: it says "
			    : "expired",
		   held || beyond ? until : "", beyond ? ", beyond claims.max_lease" : "");
}

static int see_damage(struct looking *looking, const struct roger_damage *damage)
{
	struct roger_str place;
	char line[32];

	snprintf(line, sizeof line, ":%lld", (long long)damage->line);
	if (!rg_arena_print(looking->arena, &place, "%.*s%s", RG_STR_ARGS(damage->file),
			    damage->line ? line : ""))
		return ROGER_ENOMEM;
	return say(looking, DAMAGE, place, 1, damage->noticed_at_ms,
		   command(looking, "roger accept %.*s --reason TEXT",
			   RG_STR_ARGS(quoted(looking, place))),
		   "%.*s is %s%s", RG_STR_ARGS(place), rg_damage_words(damage),
		   rg_damage_closes(damage) ? "; nothing is sent until a person accepts that" : "");
}

/* What is open is a concern. */
static int see(void *context, const struct rg_event *event, struct roger_err *err)
{
	struct looking *looking = context;

	(void)err;
	if (!event->open)
		return ROGER_OK;
	switch ((enum roger_event_kind)event->said.kind) {
	case ROGER_EVENT_LOST:
		return see_run(looking, LOST, event);
	case ROGER_EVENT_FAILED:
		return see_run(looking, FAILED, event);
	case ROGER_EVENT_COMPLETED:
		return see_run(looking, NOT_FORWARDED, event);
	case ROGER_EVENT_LEASE_EXPIRED:
		return see_lease(looking, event);
	case ROGER_EVENT_DAMAGED:
		return see_damage(looking, event->damage);
	case ROGER_EVENT_DUE:
		if (event->document)
			return event->document->run.status == ROGER_RUN_SUSPECT
				       ? see_run(looking, SUSPECT, event)
				       : ROGER_OK;
		return event->before_ms ? see_lease(looking, event) : see_deadline(looking, event);
	default:
		return ROGER_OK;
	}
}

/* --------------------------------------------------------------- sources -- */

static int compare_groups(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count) - (x->count > y->count)
				    : (x->since_ms > y->since_ms) - (x->since_ms < y->since_ms);
}

static int say_letters(struct looking *looking)
{
	const int64_t limit = looking->roger->workspace->config->dead_letter_alarm;
	const struct roger_str cycle = looking->reply->cycle;
	const struct group *group;
	size_t i;
	int r = ROGER_OK;

	if (limit && looking->in_cycle > limit)
		r = say(looking, ALARM, cycle, looking->in_cycle, looking->in_cycle_ms,
			command(looking, "roger dead --cycle %.*s",
				RG_STR_ARGS(quoted(looking, cycle))),
			"alarm: %lld dead letters in cycle %.*s", (long long)looking->in_cycle,
			RG_STR_ARGS(cycle));
	for (i = 0; r == ROGER_OK && i < looking->letters.count; i++) {
		group = &looking->letters.items[i];
		r = say(looking, DEAD, group->name, group->count, group->since_ms,
			command(looking, "roger dead %s %.*s", group->gone ? "stale" : "redeliver",
				RG_STR_ARGS(quoted(looking, group->id))),
			"%.*s did not read %lld message%s in time, given up",
			RG_STR_ARGS(group->name), (long long)group->count, rg_plural(group->count));
	}
	return r;
}

static int say_refused(struct looking *looking)
{
	const struct group *group;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < looking->refused.count; i++) {
		group = &looking->refused.items[i];
		if (!group->count)
			break;
		r = say(looking, REFUSED, group->name, group->count, group->since_ms,
			command(looking, "roger sends --from %.*s --outcome error --newest",
				RG_STR_ARGS(quoted(looking, group->name))),
			"%.*s could not send to %.*s (%.*s)%s, and has not sent it since",
			RG_STR_ARGS(group->name), RG_STR_ARGS(group->peer), RG_STR_ARGS(group->why),
			group->count == 1 ? "" : ", the last of several");
	}
	return r;
}

static void sort(struct groups *groups)
{
	if (groups->count)
		qsort(groups->items, groups->count, sizeof *groups->items, compare_groups);
}

/* What nothing has settled, by its rows: the newest of them, each with its log's id. */
struct open_rows {
	struct rg_arena *arena;
	struct open_row {
		struct roger_str id, owner;
	} * items;
	size_t count;
	int64_t in_cycle, since_ms; /* letters of the cycle that is asked for, and the first */
};

static int see_open(void *context, const struct rg_row *row, struct roger_err *err)
{
	struct open_rows *open = context;
	struct open_row *place;

	if (!row) {
		open->count = 0;
		return ROGER_OK;
	}
	place = rg_arena_push(open->arena, &open->items, &open->count, sizeof *place);
	return place && rg_arena_copy(open->arena, row->id, &place->id) &&
			       rg_arena_copy(open->arena, row->actor, &place->owner)
		       ? ROGER_OK
		       : rg_fail_memory(err);
}

static int see_of_cycle(void *context, const struct rg_row *row, struct roger_err *err)
{
	struct open_rows *open = context;

	(void)err;
	if (!row)
		open->in_cycle = 0;
	else if (row->kind == ROGER_EVENT_DEAD_LETTER && !(row->flags & RG_ROW_REPEAT) &&
		 !open->in_cycle++)
		open->since_ms = row->at_ms;
	return ROGER_OK;
}

/* Does its mailbox not have it any more? */
static int is_gone(struct looking *looking, struct roger_str message, bool *ret_gone,
		   struct roger_err *err)
{
	const struct rg_query query = { .ids = &message, .id_count = 1 };
	struct roger_message_list found;
	int r = rg_engine_find(looking->roger->engine, &query, looking->arena, &found, err);

	*ret_gone = r == ROGER_OK && !found.count;
	return r;
}

static int look_at_letter(struct looking *looking, struct roger_str id, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS, .id = id, .states = true };
	const struct roger_dead_letter *letter;
	struct rg_records found;
	struct group *group;
	int r;

	r = rg_dead_letters_find(looking->roger, &query, looking->arena, &found, err);
	if (r < 0 || !found.count || found.letters->delivered_at_ms ||
	    found.letters->status != ROGER_UNDELIVERED)
		return r;
	letter = found.letters;
	group = group_of(looking, &looking->letters, letter->to);
	if (!group)
		return rg_fail_memory(err);
	if (group->count++ && letter->at_ms >= group->since_ms)
		return ROGER_OK;
	group->since_ms = letter->at_ms;
	group->id = letter->id;
	return is_gone(looking, letter->message, &group->gone, err);
}

static int look_at_letters(struct looking *looking, struct roger_err *err)
{
	struct rg_row_query rows = { .log = RG_LOG_DEAD_LETTERS, .open = ROGER_EVENT_DEAD_LETTER };
	struct open_rows open = { .arena = looking->arena };
	size_t i;
	int r;

	r = rg_engine_rows(looking->roger->engine, &rows, see_open, &open, err);
	i = open.count > LETTERS_MAX ? open.count - LETTERS_MAX : 0;
	for (; r == ROGER_OK && i < open.count; i++)
		r = look_at_letter(looking, open.items[i].id, err);
	rows.open = 0;
	rows.cycle = looking->reply->cycle;
	if (r == ROGER_OK)
		r = rg_engine_rows(looking->roger->engine, &rows, see_of_cycle, &open, err);
	looking->in_cycle = open.in_cycle;
	looking->in_cycle_ms = open.since_ms;
	sort(&looking->letters);
	return r < 0 ? r : say_letters(looking);
}

static bool is_sent_after_all(const struct roger_attempt *refused,
			      const struct roger_message_list *later)
{
	const struct roger_message *message;
	char sha256[RG_SHA256_HEX_BYTES];
	size_t i;

	for (i = 0; i < later->count; i++) {
		message = &later->items[i];
		if (message->created_at_ms <= refused->at_ms)
			continue;
		if (rg_str_equal(message->key, refused->key))
			return true;
		if ((int64_t)message->content.length != refused->payload_bytes)
			continue;
		rg_sha256_hex(message->content, sha256);
		if (rg_str_is(refused->payload_sha256, sha256))
			return true;
	}
	return false;
}

/*
 * A refusal is open until its sender has sent the same, with the same key or the same text, to
 * whomever.  What was sent after the first is after the others, too, unless there is more of it.
 */
static int judge_refused(struct looking *looking, struct group *group, struct roger_err *err)
{
	struct rg_query query = { .from = group->name, .anywhere = true, .limit = RG_PAGE_MAX };
	const struct roger_attempt *attempt;
	struct roger_message_list later;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; r == ROGER_OK && i < group->refused.count; i++) {
		attempt = &group->refused.items[i];
		query.since_ms = attempt->at_ms + 1;
		if (!i || later.count >= RG_PAGE_MAX)
			r = rg_engine_find(looking->roger->engine, &query, looking->arena, &later,
					   err);
		if (r < 0 || is_sent_after_all(attempt, &later))
			continue;
		if (!group->count++)
			group->since_ms = attempt->at_ms;
		group->peer = attempt->to;
		group->why = attempt->cause;
	}
	return r;
}

static int add_refused(struct looking *looking, const struct open_row *row, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_SENDS, .owner = row->owner, .id = row->id, .states = true
	};
	struct roger_attempt *place;
	struct rg_records found;
	struct group *group;
	int r = rg_records_read(looking->roger, &query, looking->arena, &found, err);

	if (r < 0 || !found.count || found.attempts->outcome != ROGER_ERROR ||
	    found.attempts->pending)
		return r;
	group = group_of(looking, &looking->refused, found.attempts->from);
	place = group ? rg_arena_push(looking->arena, &group->refused.items, &group->refused.count,
				      sizeof *place)
		      : NULL;
	if (!place)
		return rg_fail_memory(err);
	*place = *found.attempts;
	return ROGER_OK;
}

/* Refusals of a day, by their senders.  A person has seen it at once, and whoever retired sends
 * nothing. */
static int look_at_refused(struct looking *looking, struct roger_err *err)
{
	const struct rg_row_query rows = { .log = RG_LOG_SENDS,
					   .open = ROGER_EVENT_REFUSED,
					   .cycle = looking->reply->cycle,
					   .since_ms = looking->now_ms - refused_ms };
	struct open_rows open = { .arena = looking->arena };
	struct roger_retired_list retired;
	struct group *group;
	size_t i;
	int r = rg_engine_bring_sends_up(looking->roger->engine, false, err);

	if (r == ROGER_OK)
		r = rg_engine_rows(looking->roger->engine, &rows, see_open, &open, err);
	i = open.count > REFUSED_MAX ? open.count - REFUSED_MAX : 0;
	for (; r == ROGER_OK && i < open.count; i++)
		r = add_refused(looking, &open.items[i], err);
	if (r == ROGER_OK && looking->refused.count)
		r = rg_agents_retired(looking->roger, looking->arena, &retired, err);
	for (i = 0; r == ROGER_OK && i < looking->refused.count; i++) {
		group = &looking->refused.items[i];
		if (!rg_config_is_person(group->name) && !rg_retired_find(&retired, group->name))
			r = judge_refused(looking, group, err);
	}
	sort(&looking->refused);
	return r < 0 ? r : say_refused(looking);
}

static int look_at_runs(struct looking *looking, struct roger_err *err)
{
	struct rg_run_list list;
	size_t i;
	int r;

	r = rg_run_list_load(looking->roger, true, looking->arena, &list, err);
	for (i = 0; r == ROGER_OK && i < list.count; i++) {
		looking->reply->active_runs += list.documents[i].run.status == ROGER_RUN_ACTIVE;
		r = rg_stream_run(&looking->stream, &list.documents[i], err);
	}
	if (r < 0 || !list.troubles.count)
		return r;
	return say(looking, DOCUMENTS, RG_STR(""), (int64_t)list.troubles.count, 0,
		   RG_STR("roger runs"), "%zu run document%s with errors", list.troubles.count,
		   rg_plural((int64_t)list.troubles.count));
}

static int look_at_waiting(struct looking *looking, struct roger_err *err)
{
	struct rg_gathering found;
	struct roger_strs ids;
	int r;

	rg_gathering_init(&found, looking->roger, looking->arena);
	r = rg_engine_overdue(looking->roger->engine, INT64_MAX, WAITING_MAX, looking->arena, &ids,
			      err);
	if (r == ROGER_OK)
		r = rg_gather_ids(&found, ids.items, ids.count, err);
	rg_gathering_sort(&found);
	return r < 0 ? r
		     : rg_stream_messages(&looking->stream, found.messages.items,
					  found.messages.count, err);
}

static int look_at_damages(struct looking *looking, struct roger_err *err)
{
	int r = rg_engine_find_removed(looking->roger->engine, err);

	return r < 0 ? r : rg_stream_damages(&looking->stream, err);
}

static int look_at_breakers(struct looking *looking, struct roger_err *err)
{
	const struct rg_breaker *breaker;
	struct rg_breakers breakers;
	char span[32];
	size_t i;
	int r;

	r = rg_breakers_find(looking->roger, looking->arena, &breakers, err);
	for (i = 0; r == ROGER_OK && i < breakers.count; i++) {
		breaker = &breakers.items[i];
		rg_clock_print_span(breaker->until_ms - looking->now_ms, span);
		r = say(looking, BREAKER, breaker->target, 1, breaker->until_ms,
			command(looking, "roger sends --from %.*s --to %.*s --newest",
				RG_STR_ARGS(quoted(looking, breaker->sender)),
				RG_STR_ARGS(quoted(looking, breaker->target))),
			"breaker: %.*s confirms nothing with %.*s for another %s",
			RG_STR_ARGS(breaker->sender), RG_STR_ARGS(breaker->target), span);
	}
	return r;
}

/* ------------------------------------------------------------------ mail -- */

/* Whose oldest unread message is the oldest. */
struct mailbox {
	const struct roger_agent *agent;
	struct roger_str name, why; /* why nobody takes its mail; "": somebody may */
	int64_t unread, since_ms;
	bool retired;
};

static int compare_unread(const void *a, const void *b)
{
	const struct mailbox *x = a, *y = b;

	return (x->unread < y->unread) - (x->unread > y->unread);
}

static int compare_since(const void *a, const void *b)
{
	const struct mailbox *x = a, *y = b;

	return (x->since_ms > y->since_ms) - (x->since_ms < y->since_ms);
}

static int say_mailbox(struct looking *looking, const struct mailbox *mailbox)
{
	const struct roger_str name = mailbox->name;
	const int64_t ms = looking->now_ms - mailbox->since_ms;
	char span[32];

	rg_clock_print_span(ms > 0 ? ms : 0, span);
	return say(looking,
		   mailbox->retired    ? RETIRED
		   : ms > forgotten_ms ? FORGOTTEN
				       : UNREAD,
		   name, mailbox->unread, mailbox->since_ms,
		   command(looking, "roger %s --unread --to %.*s%s",
			   mailbox->retired ? "archive" : "list",
			   RG_STR_ARGS(quoted(looking, name)),
			   mailbox->retired ? " --reason TEXT" : ""),
		   "%.*s has %lld unread, the oldest for %s%s%.*s", RG_STR_ARGS(name),
		   (long long)mailbox->unread, span, mailbox->why.length ? "; it " : "",
		   RG_STR_ARGS(mailbox->why));
}

static int judge_mailbox(struct looking *looking, const struct rg_names *ghosts,
			 const struct roger_retired_list *retired, struct mailbox *mailbox,
			 struct roger_err *err)
{
	/* With a time it is asked of the tables, which find one without reading many. */
	const struct rg_query query = {
		.to = mailbox->name, .unread = true, .since_ms = 1, .limit = 1
	};
	const struct roger_retired *gone = rg_retired_find(retired, mailbox->name);
	struct roger_message_list found;
	int r;

	if (rg_names_have(ghosts, mailbox->name))
		mailbox->why = RG_STR("never looked at its mail here");
	mailbox->retired = gone != NULL;
	if (gone && !rg_agents_why_retired(gone, looking->arena, &mailbox->why))
		return rg_fail_memory(err);
	r = rg_engine_find(looking->roger->engine, &query, looking->arena, &found, err);
	mailbox->since_ms =
		r == ROGER_OK && found.count ? found.items[0].created_at_ms : looking->now_ms;
	return r;
}

static int look_at_mail(struct looking *looking, struct roger_err *err)
{
	struct roger_agent *place;
	struct roger_agent_list agents, judged = { 0 };
	struct roger_retired_list retired;
	struct rg_names ghosts = { 0 };
	struct mailbox *mailboxes;
	size_t count = 0, i;
	int r;

	r = rg_engine_agents(looking->roger->engine, looking->arena, &agents, err);
	mailboxes = rg_arena_get(looking->arena, (agents.count + 1) * sizeof *mailboxes);
	if (r < 0 || !mailboxes)
		return r < 0 ? r : rg_fail_memory(err);
	looking->reply->agents = (int64_t)agents.count;
	for (i = 0; i < agents.count; i++) {
		looking->reply->unread += agents.items[i].unread;
		if (agents.items[i].unread > 0)
			mailboxes[count++] = (struct mailbox){ .name = agents.items[i].name,
							       .agent = &agents.items[i],
							       .unread = agents.items[i].unread };
	}
	if (!count)
		return ROGER_OK;
	qsort(mailboxes, count, sizeof *mailboxes, compare_unread);
	looking->counts[UNREAD] += count > MAILBOXES_MAX ? (int64_t)(count - MAILBOXES_MAX) : 0;
	if (count > MAILBOXES_MAX)
		count = MAILBOXES_MAX;
	for (i = 0; i < count; i++) {
		place = rg_arena_push(looking->arena, &judged.items, &judged.count, sizeof *place);
		if (!place)
			return rg_fail_memory(err);
		*place = *mailboxes[i].agent;
	}
	r = rg_agents_ghosts(looking->roger, &judged, looking->arena, &ghosts, err);
	if (r == ROGER_OK)
		r = rg_agents_retired(looking->roger, looking->arena, &retired, err);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = judge_mailbox(looking, &ghosts, &retired, &mailboxes[i], err);
	qsort(mailboxes, count, sizeof *mailboxes, compare_since);
	for (i = 0; i < count && r == ROGER_OK; i++)
		r = say_mailbox(looking, &mailboxes[i]);
	return r;
}

/* ------------------------------------------------------------------ room -- */

/* What is unread leaves no room: the next message is refused. */
static int look_at_box(struct looking *looking, struct roger_str issue, struct roger_str to,
		       int64_t limit, struct roger_err *err)
{
	const struct rg_query query = { .issue = issue, .to = to, .unread = true };
	struct roger_message_list found = { 0 };
	int64_t unread;
	int r;

	if (!rg_engine_may_hold(looking->roger->engine, issue, to, limit))
		return ROGER_OK;
	r = rg_engine_count(looking->roger->engine, &query, &unread, err);
	/* What was written to its recipient's file makes room, too. */
	if (r == ROGER_OK && unread >= limit && looking->roger->workspace->config->file_only.count)
		r = rg_engine_find(looking->roger->engine, &query, looking->arena, &found, err);
	while (found.count > 0)
		unread -= found.items[--found.count].handed_at_ms != 0;
	if (r < 0 || unread < limit)
		return r;
	return say(looking, FULL, to.length ? to : issue, unread, 0,
		   command(looking, "roger list --unread --issue %.*s%s%.*s",
			   RG_STR_ARGS(quoted(looking, issue)), to.length ? " --to " : "",
			   RG_STR_ARGS(to.length ? quoted(looking, to) : to)),
		   "%s%.*s%sissue %.*s is full: %lld unread, and what is sent to it is refused",
		   to.length ? "the mailbox of " : "", RG_STR_ARGS(to), to.length ? " in " : "",
		   RG_STR_ARGS(issue), (long long)unread);
}

/* Only where enough is unread at all is every issue asked for; who retired gets nothing anyway. */
static int look_at_room(struct looking *looking, struct roger_err *err)
{
	const struct rg_config *config = looking->roger->workspace->config;
	struct roger_retired_list retired;
	struct roger_agent_list agents;
	struct roger_strs issues;
	size_t i, k;
	int r;

	if (looking->reply->unread < config->messages_per_issue_phase_max &&
	    looking->reply->unread < config->messages_per_issue_max)
		return ROGER_OK;
	r = rg_engine_agents(looking->roger->engine, looking->arena, &agents, err);
	if (r == ROGER_OK)
		r = rg_engine_issues(looking->roger->engine, looking->arena, &issues, err);
	if (r == ROGER_OK)
		r = rg_agents_retired(looking->roger, looking->arena, &retired, err);
	for (i = 0; r == ROGER_OK && i < issues.count; i++) {
		if (looking->reply->unread >= config->messages_per_issue_max)
			r = look_at_box(looking, issues.items[i], RG_STR(""),
					config->messages_per_issue_max, err);
		for (k = 0; k < agents.count && r == ROGER_OK; k++)
			if (agents.items[k].unread >= config->messages_per_issue_phase_max &&
			    !rg_retired_find(&retired, agents.items[k].name))
				r = look_at_box(looking, issues.items[i], agents.items[k].name,
						config->messages_per_issue_phase_max, err);
	}
	return r;
}

/* Texts of trigger files that were not taken in stay there until a person lets them in, or not. */
static int look_at_skipped(struct looking *looking, struct roger_err *err)
{
	struct roger_str to = RG_STR("NAME"), file;
	struct roger_strs names;
	const char *dot;
	int r;

	r = rg_triggers_skipped(looking->roger->workspace, looking->arena, &names, err);
	if (r < 0 || !names.count)
		return r;
	if (!rg_arena_print(looking->arena, &file, "%.*s/.skipped/%.*s",
			    RG_STR_ARGS(looking->roger->workspace->config->trigger_dir),
			    RG_STR_ARGS(names.items[0])))
		return rg_fail_memory(err);
	file = quoted(looking, file);
	/* Its name ends in that of the trigger file, which is its recipient's. */
	dot = memchr(names.items[0].data, '.', names.items[0].length);
	if (dot && rg_trigger_is_name(rg_str(dot + 1)) &&
	    rg_name_valid(rg_trigger_stem(rg_str(dot + 1))))
		to = rg_trigger_stem(rg_str(dot + 1));
	return say(looking, SKIPPED, names.items[0], (int64_t)names.count, 0,
		   command(looking, "roger ingest --to %.*s --unnumbered --file %.*s && rm %.*s",
			   RG_STR_ARGS(to), RG_STR_ARGS(file), RG_STR_ARGS(file)),
		   "%zu trigger text%s skipped: let %s in or not, then remove the file",
		   names.count, names.count == 1 ? " was" : "s were",
		   names.count == 1 ? "it" : "them");
}

/* ----------------------------------------------------------------- files -- */

static int look_for_strays(struct looking *looking, struct roger_err *err)
{
	struct rg_log_query query = { .limit = 1, .strays = true };
	struct rg_log_entries found;
	struct roger_str file = looking->roger->workspace->config->jsonl_file;
	int64_t count = 0;
	size_t i;
	int r;

	r = rg_engine_strays(looking->roger->engine, &count, err);
	if (r == ROGER_OK && count)
		r = say(looking, STRAYS, file, count, 0, RG_STR("roger verify"),
			"%lld stray line%s in %.*s", (long long)count, rg_plural(count),
			RG_STR_ARGS(file));
	for (i = RG_LOG_MESSAGES + 1; i < RG_LOGS && r == ROGER_OK; i++) {
		if (!rg_kinds[i].chained)
			continue;
		query.log = (enum rg_log)i;
		r = rg_engine_log_find(looking->roger->engine, &query, looking->arena, &found, err);
		if (r < 0 || !found.stray_count)
			continue;
		r = say(looking, LOG_STRAYS, found.strays[0].file, (int64_t)found.stray_count, 0,
			i == RG_LOG_ACTIVITY ? RG_STR("roger activity --limit 1")
					     : RG_STR("roger verify"),
			"%zu stray line%s in a log, the first in %.*s, line %lld",
			found.stray_count, rg_plural((int64_t)found.stray_count),
			RG_STR_ARGS(found.strays[0].file), (long long)found.strays[0].line);
	}
	return r;
}

static int look_at_trust(struct looking *looking, struct roger_err *err)
{
	const char *why = rg_workspace_distrust(looking->roger->workspace);
	struct roger_str setting = { 0 };
	int64_t count;
	int r;

	if (*why && !looking->roger->workspace->git_busy)
		return say(looking, UNTRUSTED, RG_STR(""), 1, 0, RG_STR("roger trust"), "%s", why);
	r = rg_trust_count_commands(looking->roger, looking->arena, &count, &setting, err);
	if (r < 0 || !count)
		return r;
	return say(looking, UNTRUSTED, setting, count, 0, RG_STR("roger trust"),
		   "%lld configured command%s not trusted as %s now, and left out: "
		   "%.*s%s",
		   (long long)count, count == 1 ? " is" : "s are",
		   count == 1 ? "it is" : "they are", RG_STR_ARGS(setting),
		   count == 1 ? "" : " and others");
}

static int look_for_trouble(struct looking *looking)
{
	const char *trouble = rg_engine_trouble(looking->roger->engine);

	if (!*trouble)
		return ROGER_OK;
	return say(looking, ENGINE, RG_STR(""), 1, 0, RG_STR("roger rebuild"), "%s", trouble);
}

/* ------------------------------------------------------------------ verb -- */

/* The most urgent first; otherwise as they were found. */
static int arrange(struct looking *looking, struct roger_err *err)
{
	struct roger_concern *items;
	size_t count = 0, i;
	int urgency;

	items = rg_arena_get(looking->arena, looking->concerns.count * sizeof *items);
	if (!items)
		return rg_fail_memory(err);
	for (urgency = ROGER_URGENT; urgency <= ROGER_NOTICE; urgency++)
		for (i = 0; i < looking->concerns.count; i++)
			if (looking->concerns.items[i].urgency == urgency)
				items[count++] = looking->concerns.items[i];
	looking->reply->concerns = (struct roger_concern_list){ items, count };
	looking->reply->quiet = count == 0;
	return ROGER_OK;
}

static int look_at_all(struct looking *looking, struct roger_err *err)
{
	static int (*const looks[])(struct looking *, struct roger_err *) = {
		look_at_letters, look_at_runs,	look_at_waiting, look_at_breakers,
		look_at_refused, look_at_mail,	look_at_room,	 look_at_skipped,
		look_for_strays, look_at_trust, look_at_damages,
	};
	struct roger_cycle cycle;
	size_t i;
	int r;

	r = rg_cycle_current(looking->roger, looking->arena, &cycle, err);
	if (r < 0)
		return r;
	looking->reply->cycle = cycle.id;
	r = rg_engine_session(looking->roger->engine, false, &looking->reply->epoch, err);
	for (i = 0; i < sizeof looks / sizeof *looks && r == ROGER_OK; i++)
		r = looks[i](looking, err);
	if (r == ROGER_OK)
		r = look_for_trouble(looking);
	return r < 0 ? r : say_rests(looking);
}

static int look(struct looking *looking, struct roger *roger, struct roger_status_reply *reply,
		struct roger_err *err)
{
	int r;

	*looking = (struct looking){
		.roger = roger, .reply = reply, .arena = reply->memory, .now_ms = rg_clock_ms()
	};
	rg_attempt_settle_overdue(roger);
	reply->workspace = rg_str(roger->workspace->root);
	rg_stream_init(&looking->stream, roger, looking->arena, see, looking);
	r = look_at_all(looking, err);
	rg_stream_deinit(&looking->stream);
	return r == ROGER_ENOMEM ? rg_fail_memory(err) : r;
}

int rg_verb_status(struct roger *roger, const struct roger_empty_request *request,
		   struct roger_status_reply *reply, struct roger_err *err)
{
	struct looking looking;
	int r;

	(void)request;
	r = look(&looking, roger, reply, err);
	if (r == ROGER_OK)
		r = rg_seats_show(roger, reply->memory, &reply->worktrees, err);
	return r < 0 ? r : arrange(&looking, err);
}

int rg_status_figures(struct roger *roger, struct rg_arena *arena,
		      struct roger_figure_list *ret_figures, struct roger_err *err)
{
	struct roger_status_reply reply = { .memory = arena };
	struct rg_counter kinds = { .arena = arena };
	struct looking looking;
	int64_t *times;
	size_t i;
	int r;

	r = look(&looking, roger, &reply, err);
	for (i = 0; r == ROGER_OK && i < TOPICS; i++) {
		if (!looking.counts[i])
			continue;
		times = rg_counter_of(&kinds, rg_str(topics[i].kind));
		if (!times)
			return rg_fail_memory(err);
		*times += looking.counts[i];
	}
	return r < 0 ? r : rg_counter_figures(&kinds, ret_figures, err);
}
