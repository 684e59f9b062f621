/*
 * concerns_mail: collect the mail that waits for an agent or has a problem in one box for
 * each agent, and make a concern of each box.
 *
 * The index knows which messages and dead letters are open, so the time that this takes
 * depends on the number of problems and not on the number of messages.
 */
#include "ops/proof/concerns.h"

#include <stdlib.h>

#include "base/nearest.h"
#include "facts/message.h"
#include "facts/note.h"
#include "facts/person.h"
#include "ops/keys/attempt.h"
#include "ops/keys/breaker.h"

enum {
	LETTERS_MAX = 2000, /* open dead letters */
	LETTERS_AT_ONCE = 250,
	REFUSED_MAX = 200,  /* newest refusals of the cycle, not older than a day */
	WAITING_MAX = 2000, /* messages with a lease or a deadline for being read */
	ROWS_MAX = 500,	    /* messages whose rows are asked for at once */
	MAILBOXES_MAX = 50, /* mailboxes whose oldest message is looked up */
	NOTICES_MAX = 100,  /* messages of roger to one agent */
	HANDED_MAX = 500,   /* messages that may be in an agent's file */
	WORDS_BYTES = 77,   /* of a sentence, which is one line of a terminal beside a mark */
	SLIPS_MAX = 3,	    /* slips that are named */
	WAKES_MAX = 20,	    /* attempts to wake an agent */
	SESSIONS_MAX = 200, /* newest notes that a session began */
};

/* A message that is unread for so long makes its mailbox more urgent than a notice. */
static const int64_t forgotten_ms = INT64_C(3600) * 1000;
static const int64_t refused_ms = INT64_C(86400) * 1000;

static const struct {
	const char *kind;
	enum roger_urgency urgency;
	const char *one, *many;
} parts[RG_PARTS] = {
	[RG_PART_DEAD] = { "dead_letters", ROGER_URGENT, "given up", "given up" },
	[RG_PART_OVERDUE] = { "overdue", ROGER_SOON, "late", "late" },
	[RG_PART_WAKES] = { "failed_wakes", ROGER_SOON, "failed wake", "failed wakes" },
	[RG_PART_REFUSED] = { "refused", ROGER_SOON, "refused", "refused" },
	[RG_PART_LEASE] = { "lease", ROGER_SOON, "lease expired", "leases expired" },
	[RG_PART_FULL] = { "full", ROGER_SOON, "issue full", "issues full" },
	[RG_PART_BREAKER] = { "breaker", ROGER_SOON, "sender pauses", "senders pause" },
	[RG_PART_RESULTS] = { "done_but_not_forwarded", ROGER_SOON, "result", "results" },
	[RG_PART_NOTICES] = { "notices", ROGER_SOON, "came back", "came back" },
	[RG_PART_RETIRED] = { "retired", ROGER_SOON, NULL, NULL },
	[RG_PART_SESSIONS] = { "sessions", ROGER_SOON, "session at once",
			       "sessions at once (give one another ROGER_AGENT)" },
	[RG_PART_UNREAD] = { "unread", ROGER_NOTICE, "unread", "unread" },
	[RG_PART_HANDED] = { "handed", ROGER_NOTICE, "in its file until it writes",
			     "in its file until it writes" },
	[RG_PART_WAITING] = { "waiting", ROGER_NOTICE, "awaited", "awaited" },
	[RG_PART_HELD] = { "held", ROGER_NOTICE, "in work", "in work" },
};

/* ----------------------------------------------------------------- boxes -- */

struct rg_agent_mail *rg_concerns_box(const struct rg_concerns *concerns, struct roger_str name)
{
	size_t i;

	for (i = 0; i < concerns->boxes.count; i++)
		if (rg_str_equal(concerns->boxes.items[i].name, name))
			return &concerns->boxes.items[i];
	return NULL;
}

struct rg_agent_mail *rg_concerns_mail(struct rg_concerns *concerns, struct roger_str name,
				       enum rg_part part, int64_t count, int64_t since_ms)
{
	struct rg_agent_mail *box = rg_concerns_box(concerns, name);

	if (!box)
		box = rg_arena_push(concerns->arena, &concerns->boxes.items, &concerns->boxes.count,
				    sizeof *box);
	box = box ? box : &concerns->spare;
	box->name = name;
	box->retired = rg_retired_find(&concerns->retired, name);
	box->parts[part] += count;
	if (since_ms && (!box->since_ms || since_ms < box->since_ms))
		box->since_ms = since_ms;
	return box;
}

/* ---------------------------------------------------------- dead letters -- */

struct roger_str rg_concerns_letter_way_out(struct rg_concerns *concerns,
					    const struct roger_dead_letter *letter)
{
	const struct rg_query by_id = { .ids = &letter->message, .id_count = 1 };
	const struct roger_message_list there = rg_read_messages(&concerns->reading, &by_id);

	if (there.count && !there.items[0].dead_at_ms)
		return RG_STR("");
	return rg_concerns_command(concerns, there.count ? "dead redeliver" : "dismiss", letter->id,
				   "");
}

static void judge_letter(struct rg_concerns *concerns, const struct roger_dead_letter *letter)
{
	struct rg_agent_mail *box;

	if (rg_dead_letter_counts_as(letter) != ROGER_UNDELIVERED)
		return;
	box = rg_concerns_mail(concerns, rg_retired_owner(&concerns->retired, letter->to),
			       RG_PART_DEAD, 1, letter->at_ms);
	if (!box->way_out.length)
		box->way_out = rg_concerns_letter_way_out(concerns, letter);
}

/* Judge the letters of these rows: by their messages, which have one each, or one by its id. */
static void judge_letters(struct rg_concerns *concerns, const struct rg_event *rows, size_t count)
{
	struct rg_log_query query = { .log = RG_LOG_DEAD_LETTERS, .states = true };
	struct roger_str messages[LETTERS_AT_ONCE];
	struct rg_records found;
	size_t i;

	for (i = 0; i < count; i++)
		messages[i] = rows[i].said.message;
	if (messages[0].length) {
		query.messages = messages;
		query.message_count = count;
	} else {
		query.id = rows->id;
	}
	found = rg_read_letters(&concerns->reading, &query);
	for (i = 0; i < found.count; i++)
		judge_letter(concerns, &found.letters[i]);
}

/* Add the alarm if the cycle has more dead letters than the limit.  Needs an open one: the alarm
 * ends when the last is settled. */
static void look_for_alarm(struct rg_concerns *concerns)
{
	const struct rg_log_query rows = { .log = RG_LOG_DEAD_LETTERS,
					   .cycle = concerns->reply->cycle };
	const int64_t limit = concerns->roger->workspace->config->dead_letter_alarm;
	const struct rg_history found = rg_read_rows(&concerns->reading, &rows);
	struct roger_concern concern = { .subject = rows.cycle };
	size_t i;

	for (i = 0; i < found.count; i++)
		if (found.items[i].said.kind == ROGER_EVENT_DEAD_LETTER &&
		    !(found.items[i].flags & RG_ROW_REPEAT) && !concern.count++)
			concern.since_ms = found.items[i].said.at_ms;
	if (!limit || concern.count <= limit)
		return;
	concern.next = rg_concerns_command(concerns, "dead --cycle", concern.subject, "");
	rg_concerns_add(concerns, ROGER_URGENT, "alarm", concern,
			"alarm: %lld dead letters in cycle %.*s, and not all are settled",
			(long long)concern.count, RG_STR_ARGS(concern.subject));
}

static void look_at_letters(struct rg_concerns *concerns)
{
	const struct rg_log_query rows = { .log = RG_LOG_DEAD_LETTERS,
					   .open = ROGER_EVENT_DEAD_LETTER };
	const struct rg_history open = rg_read_rows(&concerns->reading, &rows);
	size_t i, some;
	bool any = false;

	for (i = open.count > LETTERS_MAX ? open.count - LETTERS_MAX : 0; i < open.count;
	     i += some) {
		some = 1;
		while (open.items[i].said.message.length && some < LETTERS_AT_ONCE &&
		       i + some < open.count && open.items[i + some].said.message.length)
			some++;
		judge_letters(concerns, &open.items[i], some);
	}
	for (i = 0; i < concerns->boxes.count; i++)
		any |= concerns->boxes.items[i].parts[RG_PART_DEAD] > 0;
	if (any)
		look_for_alarm(concerns);
}

/* -------------------------------------------------------------- refusals -- */

struct refusal {
	const struct roger_attempt *attempt;
	size_t looked; /* how many later messages of its sender were compared with it */
	bool over;     /* a later message repeats it */
};

/* True if the message repeats the refused send: it has the same key or the same text.  sha256: the
 * hash of the message's text, which is computed when it is first needed. */
static bool is_same(const struct roger_attempt *refused, const struct roger_message *message,
		    char sha256[RG_SHA256_HEX_BYTES])
{
	if (rg_str_equal(message->key, refused->key))
		return true;
	if ((int64_t)message->content.length != refused->payload_bytes)
		return false;
	if (!*sha256)
		rg_sha256_hex(message->content, sha256);
	return rg_str_is(refused->payload_sha256, sha256);
}

static void compare_refusals(struct refusal *refusals, size_t count,
			     const struct roger_message *message)
{
	char sha256[RG_SHA256_HEX_BYTES] = "";
	size_t i;

	for (i = 0; i < count; i++)
		if (!refusals[i].over && refusals[i].looked < RG_PAGE_MAX &&
		    refusals[i].attempt->at_ms < message->created_at_ms) {
			refusals[i].looked++;
			refusals[i].over = is_same(refusals[i].attempt, message, sha256);
		}
}

/* Find which refused sends of one sender were repeated, to any recipient.  Each page of its
 * messages is read once; a refusal is compared with the first RG_PAGE_MAX messages after it. */
static void look_for_repeats(struct rg_concerns *concerns, struct refusal *refusals, size_t count)
{
	struct rg_query query = { .anywhere = true, .limit = RG_PAGE_MAX };
	struct roger_message_list page;
	int64_t read_ms = 0, at_ms; /* messages from query.since_ms to read_ms were read */
	size_t first = 0, i;

	for (;;) {
		while (first < count &&
		       (refusals[first].over || refusals[first].looked >= RG_PAGE_MAX))
			first++;
		if (first == count)
			return;
		at_ms = refusals[first].attempt->at_ms;
		if (at_ms >= read_ms || at_ms < query.since_ms - 1) {
			query.since_ms = at_ms + 1;
			query.after = 0;
		}
		query.from = refusals[first].attempt->from;
		page = rg_read_messages(&concerns->reading, &query);
		for (i = 0; i < page.count; i++)
			compare_refusals(refusals, count, &page.items[i]);
		if (page.count < RG_PAGE_MAX)
			return;
		query.after = page.items[page.count - 1].position;
		read_ms = page.items[page.count - 1].created_at_ms;
	}
}

/* True if the recipient is the problem: it is full, retired or silent.  Else the sender is. */
static bool is_about_target(struct roger_str cause)
{
	return rg_str_is(cause, RG_CAUSE_FULL) || rg_str_is(cause, RG_CAUSE_RETIRED) ||
	       rg_str_is(cause, RG_CAUSE_BREAKER);
}

/* Report refused sends that were not repeated, in the recipient's mail or as one concern. */
static void say_refused(struct rg_concerns *concerns, const struct refusal *refusals, size_t count)
{
	const struct roger_attempt *one, *last = NULL;
	struct roger_concern concern = { 0 };
	size_t i;

	for (i = 0; i < count; i++) {
		one = refusals[i].attempt;
		if (!refusals[i].over && is_about_target(one->cause)) {
			rg_concerns_mail(concerns, one->to, RG_PART_REFUSED, 1, one->at_ms);
		} else if (!refusals[i].over) {
			concern.since_ms = concern.count++ ? concern.since_ms : one->at_ms;
			last = one;
		}
	}
	if (!last)
		return;
	concern.subject = last->from;
	concern.next = rg_concerns_command(concerns, "log sends --from", last->from,
					   " --outcome error --newest");
	if (concern.count == 1)
		rg_concerns_add(concerns, ROGER_SOON, "refused", concern,
				"%.*s could not send to %.*s (%.*s), and has not repeated it",
				RG_STR_ARGS(last->from), RG_STR_ARGS(last->to),
				RG_STR_ARGS(last->cause));
	else
		rg_concerns_add(concerns, ROGER_SOON, "refused", concern,
				"%lld refused sends of %.*s were not repeated, the last to %.*s: "
				"%.*s",
				(long long)concern.count, RG_STR_ARGS(last->from),
				RG_STR_ARGS(last->to), RG_STR_ARGS(last->cause));
}

/* Report the refused sends of a sender.  A person saw them at once, and a retired agent sends
 * nothing, so both are left out. */
static void judge_sender(struct rg_concerns *concerns, struct roger_str from,
			 const struct rg_history *rows)
{
	struct rg_log_query query = { .log = RG_LOG_SENDS, .owner = from, .states = true };
	struct refusal *refusals = NULL, one = { 0 };
	struct rg_records found;
	size_t count = 0, i;

	if (rg_config_is_person(from) || rg_retired_find(&concerns->retired, from))
		return;
	for (i = 0; i < rows->count; i++) {
		if (!rg_str_equal(rows->items[i].said.actor, from))
			continue;
		query.id = rows->items[i].id;
		found = rg_read_records(&concerns->reading, &query);
		one.attempt = found.attempts;
		if (found.count && one.attempt->outcome == ROGER_ERROR && !one.attempt->pending)
			(void)!rg_arena_append(concerns->arena, &refusals, &count, &one,
					       sizeof one);
	}
	look_for_repeats(concerns, refusals, count);
	say_refused(concerns, refusals, count);
}

/* Look at the refused sends of this cycle and the last day, sender by sender. */
static void look_at_refused(struct rg_concerns *concerns)
{
	const struct rg_log_query rows = { .log = RG_LOG_SENDS,
					   .open = ROGER_EVENT_REFUSED,
					   .cycle = concerns->reply->cycle,
					   .since_ms = concerns->now_ms - refused_ms };
	struct rg_names senders = { .arena = concerns->arena };
	struct rg_history open;
	size_t i;

	rg_reading_got(&concerns->reading, rg_engine_bring_sends_up(concerns->roger->engine, false,
								    concerns->reading.err));
	open = rg_read_rows(&concerns->reading, &rows);
	if (open.count > REFUSED_MAX) {
		open.items += open.count - REFUSED_MAX;
		open.count = REFUSED_MAX;
	}
	for (i = 0; i < open.count; i++)
		(void)!rg_names_add(&senders, open.items[i].said.actor);
	for (i = 0; i < senders.count; i++)
		judge_sender(concerns, senders.items[i], &open);
}

/* ------------------------------------------------------ leases, deadlines -- */

/*
 * Count the leases of a message that are in force or expired; message->leases leaves out those that
 * were given back.  open: no line ended the last lease.  An open lease whose time is over, or is
 * longer than a lease may be (taken while the clock was ahead, or under another configuration), is
 * not in force.
 */
static void judge_lease(struct rg_concerns *concerns, const struct roger_message *message,
			bool open)
{
	const int64_t longest_ms = concerns->roger->workspace->config->lease_ms_max;
	const bool held = open && rg_message_claimed(message, concerns->now_ms, longest_ms);
	const int64_t taken = message->leases || !open ? message->leases : 1,
		      expired = held ? taken - 1 : taken;
	const struct roger_str owner = rg_retired_owner(&concerns->retired, message->to);

	/* The lease of an agent that retired ended when another agent took over. */
	if (held &&
	    (!rg_str_equal(message->claimed_by, message->to) || rg_str_equal(owner, message->to))) {
		rg_concerns_mail(concerns, owner, RG_PART_HELD, 1, message->created_at_ms);
		if (concerns->reply->claims.count < RG_PAGE_MAX)
			rg_arena_note(concerns->arena, &concerns->reply->claims, "%.*s",
				      RG_STR_ARGS(message->id));
	}
	if (expired)
		rg_concerns_mail(concerns, owner, RG_PART_LEASE, expired, message->created_at_ms);
}

/* Count the leases of messages.  Needs them in the order of the journal, as their rows are. */
static void judge_leases(struct rg_concerns *concerns, const struct roger_message *messages,
			 size_t count)
{
	int64_t of[ROWS_MAX];
	const struct rg_log_query query = { .of = of, .of_count = count };
	const struct rg_event *row;
	struct rg_history rows;
	bool open;
	size_t i, k = 0;

	for (i = 0; i < count; i++)
		of[i] = messages[i].position;
	rows = rg_read_rows(&concerns->reading, &query);
	for (i = 0; i < count; i++) {
		open = false;
		for (; k < rows.count && rows.items[k].of <= of[i]; k++) {
			row = &rows.items[k];
			if (row->of == of[i] && row->said.kind == ROGER_EVENT_CLAIMED)
				open = row->open;
		}
		if (open || !messages[i].dead_at_ms)
			judge_lease(concerns, &messages[i], open);
	}
}

static void look_at_waiting(struct rg_concerns *concerns)
{
	struct rg_query query = { .limit = WAITING_MAX };
	struct roger_message_list found;
	struct roger_message *items;
	struct roger_strs ids;
	size_t count = 0, i, some;

	if (!rg_reading_got(&concerns->reading,
			    rg_engine_overdue(concerns->roger->engine, INT64_MAX, false,
					      WAITING_MAX, concerns->arena, &ids,
					      concerns->reading.err)) ||
	    !ids.count)
		return;
	query.ids = ids.items;
	query.id_count = ids.count;
	found = rg_read_messages(&concerns->reading, &query);
	items = (struct roger_message *)(uintptr_t)found.items;
	for (i = 0; i < found.count; i++) {
		if (items[i].read || items[i].archived_at_ms)
			continue;
		if (items[i].confirm_by_ms)
			rg_concerns_mail(
				concerns, rg_retired_owner(&concerns->retired, items[i].to),
				rg_attempt_under_way(&items[i]) ? RG_PART_WAITING : RG_PART_OVERDUE,
				1, items[i].created_at_ms);
		if (items[i].claimed_until_ms)
			items[count++] = items[i];
	}
	for (i = 0; i < count; i += some) {
		some = count - i < ROWS_MAX ? count - i : ROWS_MAX;
		judge_leases(concerns, items + i, some);
	}
}

static void look_at_breakers(struct rg_concerns *concerns)
{
	const struct rg_breakers breakers = rg_read_breakers(&concerns->reading);
	size_t i;

	for (i = 0; i < breakers.count; i++)
		rg_concerns_mail(concerns, breakers.items[i].target, RG_PART_BREAKER, 1, 0);
}

/* ---------------------------------------------------------------- unread -- */

/* Order mailboxes: a person's first, then the fullest. */
static int compare_unread(const struct roger_agent *x, const struct roger_agent *y)
{
	const bool person = rg_config_is_person(x->name);

	return person != rg_config_is_person(y->name)
		       ? (person ? -1 : 1)
		       : (x->unread < y->unread) - (x->unread > y->unread);
}

/* Count the unread notices of roger to an agent, whose keys have ":notice:".  Usually roger has
 * sent none, and is no known agent. */
static void count_notices(struct rg_concerns *concerns, struct rg_agent_mail *box)
{
	/* With since_ms the query uses the tables, which do not read the texts. */
	const struct rg_query query = { .from = RG_STR("roger"),
					.to = box->name,
					.gets = true,
					.unread = true,
					.since_ms = 1,
					.limit = NOTICES_MAX };
	static const char mark[] = ":notice:";
	struct roger_message_list found;
	struct roger_str key;
	size_t i;

	if (!rg_engine_agent_of(&concerns->agents, query.from))
		return;
	found = rg_read_messages(&concerns->reading, &query);
	for (i = 0; i < found.count; i++) {
		key = found.items[i].key;
		box->parts[RG_PART_NOTICES] += rg_str_find_part(key, rg_str(mark)) != NULL;
	}
}

static void add_unread(struct rg_concerns *concerns, const struct roger_agent *agent)
{
	const bool file_only =
		rg_config_is_file_only(concerns->roger->workspace->config, agent->name);
	/* With since_ms the query uses the tables, which find the oldest without reading many.  The
	 * mail in the file of an agent that only uses files counts as read when it writes. */
	const struct rg_query query = { .to = agent->name,
					.gets = true,
					.unread = true,
					.since_ms = 1,
					.limit = file_only ? HANDED_MAX : 1 };
	const struct roger_message_list found = rg_read_messages(&concerns->reading, &query);
	const int64_t oldest_ms = found.count ? found.items[0].created_at_ms : concerns->now_ms;
	struct rg_agent_mail *box =
		rg_concerns_mail(concerns, agent->name, RG_PART_UNREAD, agent->unread, oldest_ms);
	size_t i;

	box->oldest_ms = oldest_ms;
	box->parts[RG_PART_RETIRED] = box->retired ? agent->unread : 0;
	for (i = 0; file_only && i < found.count; i++)
		box->parts[RG_PART_HANDED] += found.items[i].handed_at_ms != 0;
	count_notices(concerns, box);
}

static void look_at_unread(struct rg_concerns *concerns)
{
	const struct roger_agent_list *agents = &concerns->agents;
	const struct roger_agent *full[MAILBOXES_MAX + 1], *agent;
	struct roger_concern concern = { .next = RG_STR("roger agents") };
	size_t count = 0, i, at;

	/* Keep the fullest mailboxes, the fullest first; the last place is for what falls out. */
	for (i = 0; i < agents->count; i++) {
		agent = &agents->items[i];
		concerns->reply->unread += agent->unread;
		if (agent->unread <= 0)
			continue;
		at = count++ < MAILBOXES_MAX ? count - 1 : MAILBOXES_MAX;
		for (; at && compare_unread(agent, full[at - 1]) < 0; at--)
			full[at] = full[at - 1];
		full[at] = agent;
	}
	for (i = 0; i < count && i < MAILBOXES_MAX; i++)
		add_unread(concerns, full[i]);
	concern.count = (int64_t)count - MAILBOXES_MAX;
	if (concern.count > 0)
		rg_concerns_add(concerns, ROGER_NOTICE, "mail", concern,
				"%lld more agent%s unread mail", (long long)concern.count,
				concern.count == 1 ? " has" : "s have");
}

/* For each name that only ever got mail, find the nearest name of an agent that has sent some and
 * is not retired. */
static void find_slips(struct rg_concerns *concerns, const struct rg_names *ghosts)
{
	const struct roger_agent_list *agents = &concerns->agents;
	struct rg_names real = { .arena = concerns->arena };
	size_t i;

	for (i = 0; i < agents->count; i++)
		if (agents->items[i].sent && !rg_names_have(ghosts, agents->items[i].name) &&
		    !rg_retired_find(&concerns->retired, agents->items[i].name))
			(void)!rg_names_add(&real, agents->items[i].name);
	for (i = 0; i < concerns->boxes.count; i++)
		if (concerns->boxes.items[i].ghost && !concerns->boxes.items[i].retired)
			concerns->boxes.items[i].near =
				rg_nearest_of(rg_names_list(&real), concerns->boxes.items[i].name);
}

/* Fill in the boxes when each agent last looked, whether its name only ever got mail, and what
 * became of its worktree. */
static void judge_boxes(struct rg_concerns *concerns)
{
	struct roger_agent_list judged = { 0 };
	struct rg_names ghosts = { 0 };
	struct rg_agent_mail *box;
	struct rg_reading *reading = &concerns->reading;
	const struct roger_agent *agent;
	size_t i;

	for (i = 0; i < concerns->boxes.count; i++) {
		agent = rg_engine_agent_of(&concerns->agents, concerns->boxes.items[i].name);
		if (agent)
			(void)!rg_arena_append(concerns->arena, &judged.items, &judged.count, agent,
					       sizeof *agent);
	}
	if (!rg_reading_got(reading,
			    rg_engine_last_looks(concerns->roger->engine,
						 (struct roger_agent *)(uintptr_t)judged.items,
						 judged.count, reading->err)) ||
	    !rg_reading_got(reading, rg_agents_ghosts(concerns->roger, &judged, concerns->arena,
						      &ghosts, reading->err)))
		return;
	for (i = 0; i < judged.count; i++) {
		box = rg_concerns_box(concerns, judged.items[i].name);
		box->looked_ms = judged.items[i].last_looked_at_ms;
		box->ghost = rg_names_have(&ghosts, box->name);
	}
	for (i = 0; i < concerns->seats.count; i++) {
		box = rg_concerns_box(concerns, concerns->seats.items[i].agent);
		if (box)
			box->seat = concerns->seats.items[i].standing;
	}
	if (ghosts.count)
		find_slips(concerns, &ghosts);
}

/* ------------------------------------------------------------------ room -- */

/* Report an issue, or the mailbox of `to` in it, that is so full of unread mail that the next send
 * is refused.  to "": the whole issue. */
static void look_at_room_of(struct rg_concerns *concerns, struct roger_str issue,
			    struct roger_str to, int64_t limit)
{
	const struct rg_query query = { .issue = issue, .to = to, .unread = true };
	struct rg_engine *engine = concerns->roger->engine;
	struct roger_message_list found = { 0 };
	struct roger_concern concern = { .subject = issue };
	int64_t unread;

	if (!rg_engine_may_hold(engine, issue, to, limit) ||
	    !rg_reading_got(&concerns->reading,
			    rg_engine_count(engine, &query, &unread, concerns->reading.err)))
		return;
	/* Messages in their recipient's file make room, too. */
	if (unread >= limit && concerns->roger->workspace->config->file_only.count)
		found = rg_read_messages(&concerns->reading, &query);
	while (found.count > 0)
		unread -= found.items[--found.count].handed_at_ms != 0;
	if (unread < limit)
		return;
	if (to.length) {
		rg_concerns_mail(concerns, to, RG_PART_FULL, 1, 0)->issue = issue;
		return;
	}
	concern.count = unread;
	concern.next = rg_concerns_command(concerns, "list --unread --issue", issue, "");
	rg_concerns_add(concerns, ROGER_SOON, "full", concern,
			"issue %.*s is full: %lld unread, and what is sent in it is refused",
			RG_STR_ARGS(issue), (long long)unread);
}

/* Look for full issues and mailboxes.  Only issues with enough unread mail are looked at, and no
 * retired agents, since they get nothing anyway. */
static void look_at_room(struct rg_concerns *concerns)
{
	const struct roger_agent_list *agents = &concerns->agents;
	const struct rg_config *config = concerns->roger->workspace->config;
	const int64_t least = config->messages_per_issue_phase_max < config->messages_per_issue_max
				      ? config->messages_per_issue_phase_max
				      : config->messages_per_issue_max;
	struct roger_strs issues, full = { 0 };
	size_t i, k;

	if (concerns->reply->unread < least)
		return;
	for (i = 0; i < agents->count; i++)
		if (agents->items[i].unread >= config->messages_per_issue_phase_max &&
		    !rg_retired_find(&concerns->retired, agents->items[i].name))
			(void)!rg_arena_add(concerns->arena, &full, agents->items[i].name);
	if (!rg_reading_got(&concerns->reading,
			    rg_engine_issues(concerns->roger->engine, least, concerns->arena,
					     &issues, concerns->reading.err)))
		return;
	for (i = 0; i < issues.count; i++) {
		if (concerns->reply->unread >= config->messages_per_issue_max)
			look_at_room_of(concerns, issues.items[i], RG_STR(""),
					config->messages_per_issue_max);
		for (k = 0; k < full.count; k++)
			look_at_room_of(concerns, issues.items[i], full.items[k],
					config->messages_per_issue_phase_max);
	}
}

/* -------------------------------------------------------- wakes, sessions -- */

/* Count the failed attempts to wake an agent with mail since it looked last, after the last that
 * succeeded. */
static void look_at_wakes(struct rg_concerns *concerns, struct rg_agent_mail *box)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .owner = box->name,
					    .step = rg_note_step_name(RG_STEP_WAKE),
					    .since_ms = box->looked_ms > box->oldest_ms
								? box->looked_ms
								: box->oldest_ms,
					    .newest = true,
					    .limit = WAKES_MAX };
	struct rg_log_entries found;
	struct rg_note note;
	size_t i;

	if (!box->oldest_ms || !rg_config_wake(concerns->roger->workspace->config, box->name))
		return;
	found = rg_read_entries(&concerns->reading, &query);
	for (i = 0; i < found.count; i++) {
		if (!rg_reading_got(&concerns->reading,
				    rg_note_read(found.items[i].text, concerns->arena, &note,
						 concerns->reading.err)) ||
		    note.entry.status != ROGER_FAILURE)
			return;
		if (!box->parts[RG_PART_WAKES]++)
			box->failed = note.entry.message;
	}
}

/* Find agents with two sessions that alternate: both are live, and take each other's mail. */
static void look_at_sessions(struct rg_concerns *concerns)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .step = rg_note_step_name(RG_STEP_SESSION),
					    .since_ms = concerns->now_ms - forgotten_ms,
					    .newest = true,
					    .limit = SESSIONS_MAX };
	const struct rg_log_entries found = rg_read_entries(&concerns->reading, &query);
	struct rg_note *notes;
	struct rg_agent_mail *box;
	size_t i, j, k;

	if (found.count < 3)
		return;
	notes = rg_arena_get(concerns->arena, found.count * sizeof *notes);
	for (i = 0; i < found.count; i++)
		if (!notes || !rg_reading_got(&concerns->reading,
					      rg_note_read(found.items[i].text, concerns->arena,
							   &notes[i], concerns->reading.err)))
			return;
	for (i = 0; i < found.count; i++) {
		for (j = i + 1; j < found.count && !rg_str_equal(notes[j].agent, notes[i].agent);)
			j++;
		for (k = j + 1; k < found.count && !rg_str_equal(notes[k].agent, notes[i].agent);)
			k++;
		box = rg_concerns_box(concerns, notes[i].agent);
		if (k >= found.count || !rg_str_equal(notes[i].session, notes[k].session) ||
		    rg_str_equal(notes[i].session, notes[j].session) ||
		    (box && box->parts[RG_PART_SESSIONS]))
			continue;
		rg_concerns_mail(concerns, notes[i].agent, RG_PART_SESSIONS, 2,
				 notes[k].entry.at_ms);
	}
}

void rg_concerns_look_at_mail(struct rg_concerns *concerns)
{
	static void (*const looks[])(struct rg_concerns *) = {
		look_at_letters,  look_at_waiting, look_at_breakers, look_at_refused,
		look_at_sessions, look_at_unread,  look_at_room,     judge_boxes,
	};
	struct rg_reading *reading = &concerns->reading;
	size_t i;

	rg_reading_got(reading, rg_agents_all(concerns->roger, NULL, concerns->arena,
					      &concerns->agents, reading->err));
	for (i = 0; i < sizeof looks / sizeof *looks && reading->r == ROGER_OK; i++)
		looks[i](concerns);
	for (i = 0; i < concerns->boxes.count; i++)
		look_at_wakes(concerns, &concerns->boxes.items[i]);
	concerns->reply->agents = (int64_t)concerns->agents.count;
}

const struct rg_agent_mail *rg_concerns_find_box(struct rg_concerns *concerns,
						 struct roger_str name)
{
	const struct rg_agent_mail *box = rg_concerns_box(concerns, name);
	const struct roger_agent *agent = rg_engine_agent_of(&concerns->agents, name);

	if (!agent || agent->unread <= 0 || (box && box->parts[RG_PART_UNREAD]))
		return box;
	add_unread(concerns, agent);
	judge_boxes(concerns);
	look_at_wakes(concerns, rg_concerns_mail(concerns, name, RG_PART_UNREAD, 0, 0));
	return rg_concerns_box(concerns, name);
}

/* ----------------------------------------------------------------- words -- */

/* Print the agent's name, and its own state. */
static void print_state(const struct rg_concerns *concerns, const struct rg_agent_mail *box,
			struct rg_buf *out)
{
	const struct rg_config *config = concerns->roger->workspace->config;
	char span[32];

	rg_buf_add_str(out, box->name);
	if (box->retired) {
		rg_buf_add_text(out, " is retired");
	} else if (rg_config_is_person(box->name)) {
		rg_buf_add_text(out, " has mail");
	} else if (rg_config_reserves(config, box->name)) {
		rg_buf_add_text(out, " is a group, and reads nothing");
	} else if (box->seat == ROGER_SEAT_GONE) {
		rg_buf_add_text(out, "'s worktree is gone");
	} else if (box->seat == ROGER_SEAT_RECYCLED) {
		rg_buf_add_text(out, "'s worktree is gone, and another is in its place");
	} else if (box->ghost) {
		rg_buf_add_text(out, " never looked at its mail");
	} else if (box->looked_ms) {
		rg_clock_print_span(
			concerns->now_ms > box->looked_ms ? concerns->now_ms - box->looked_ms : 0,
			span);
		rg_buf_printf(out,
			      box->oldest_ms > box->looked_ms ? " has not looked for %s"
							      : " looked %s ago",
			      span);
	} else if (box->oldest_ms && !rg_config_is_file_only(config, box->name)) {
		rg_buf_add_text(out, " has not looked yet");
	}
}

static void print_part(const struct rg_agent_mail *box, enum rg_part part, struct rg_buf *out)
{
	const int64_t count = box->parts[part];

	if (part == RG_PART_WAKES)
		rg_buf_printf(out, "its wake command fails (%.*s)", RG_STR_ARGS(box->failed));
	else if (part == RG_PART_FULL && count == 1)
		rg_buf_printf(out, "full in %.*s", RG_STR_ARGS(box->issue));
	else
		rg_buf_printf(out, "%lld %s", (long long)count,
			      count == 1 ? parts[part].one : parts[part].many);
}

struct roger_str rg_agent_mail_words(struct rg_concerns *concerns, const struct rg_agent_mail *box,
				     size_t most)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf part = { .maximum = 4096 };
	struct rg_buf out = part;
	const char *between = ": ", *rest = ", ...";
	size_t last = RG_PARTS, i;

	while (last && (!box->parts[last - 1] || !parts[last - 1].one))
		last--;
	print_state(concerns, box, &out);
	for (i = 0; i < last; i++) {
		if (!box->parts[i] || !parts[i].one)
			continue;
		rg_buf_clear(&part);
		rg_buf_add_text(&part, between);
		print_part(box, (enum rg_part)i, &part);
		between = ", ";
		if (out.length + part.length + (i + 1 < last ? strlen(rest) : 0) > most) {
			rg_buf_add_text(&out, rest);
			break;
		}
		rg_buf_add_str(&out, rg_buf_str(&part));
	}
	out.failed |= part.failed;
	return rg_arena_take(concerns->arena, &out);
}

static bool has_only(const struct rg_agent_mail *box, enum rg_part part)
{
	size_t i;

	for (i = 0; i < RG_PARTS; i++)
		if (box->parts[i] && i != (size_t)part)
			return false;
	return box->parts[part] > 0;
}

/* The command returns at once, and takes no mail from anybody. */
struct roger_str rg_agent_mail_next(struct rg_concerns *concerns, const struct rg_agent_mail *box)
{
	const struct rg_config *config = concerns->roger->workspace->config;
	const struct roger_str name = box->name;

	if (box->way_out.length)
		return box->way_out;
	if (rg_config_is_person(name))
		return RG_STR("roger inbox --as " RG_PERSON);
	/* A group has no mailbox: another program wrote the message. */
	if (rg_config_reserves(config, name) && box->parts[RG_PART_UNREAD])
		return rg_concerns_command(concerns, "archive --unread --to", name, "");
	/* No mail waits, so show the send logs, which have what was not stored. */
	if (!box->parts[RG_PART_UNREAD] && box->parts[RG_PART_BREAKER])
		return rg_concerns_command(concerns, "log sends --to", name, " --newest");
	if (!box->parts[RG_PART_UNREAD] && box->parts[RG_PART_REFUSED])
		return rg_concerns_command(concerns, "log sends --to", name,
					   " --outcome error --newest");
	if (has_only(box, RG_PART_SESSIONS))
		return rg_concerns_command(concerns, "timeline --agent", name, "");
	/* A name with a worktree in it has no agent any more when that worktree is gone. */
	if (box->parts[RG_PART_RETIRED] || (box->seat && memchr(name.data, '@', name.length)))
		return rg_concerns_command(concerns, "agents retire", name, " --to NAME");
	if (box->parts[RG_PART_WAKES])
		return rg_concerns_command(concerns, "wake --test", name, "");
	if (box->parts[RG_PART_FULL] == 1)
		return rg_arena_text(concerns->arena, "roger list --unread --issue %.*s --to %.*s",
				     RG_STR_ARGS(rg_concerns_quote(concerns, box->issue)),
				     RG_STR_ARGS(rg_concerns_quote(concerns, name)));
	if (rg_config_is_file_only(config, name) &&
	    box->parts[RG_PART_HANDED] < box->parts[RG_PART_UNREAD])
		return RG_STR("roger bridge --once");
	return rg_concerns_command(concerns, "list --unread --to", name, "");
}

/* -------------------------------------------------------------- concerns -- */

static enum roger_urgency urgency_of(const struct rg_concerns *concerns,
				     const struct rg_agent_mail *box)
{
	enum roger_urgency urgency = ROGER_NOTICE;
	size_t i;

	if ((box->oldest_ms && concerns->now_ms - box->oldest_ms > forgotten_ms) ||
	    rg_config_is_person(box->name))
		urgency = ROGER_SOON;
	for (i = 0; i < RG_PARTS; i++)
		if (box->parts[i] && parts[i].urgency < urgency)
			urgency = parts[i].urgency;
	return urgency;
}

static struct roger_figure_list list_parts(struct rg_concerns *concerns,
					   const int64_t counts[RG_PARTS])
{
	struct roger_figure_list list = { 0 };
	size_t i;

	for (i = 0; i < RG_PARTS; i++) {
		const struct roger_figure figure = { rg_str(parts[i].kind), counts[i] };

		if (counts[i])
			(void)!rg_arena_append(concerns->arena, &list.items, &list.count, &figure,
					       sizeof figure);
	}
	return list;
}

static void say_box(struct rg_concerns *concerns, const struct rg_agent_mail *box)
{
	struct roger_concern concern = { .subject = box->name,
					 .count = box->parts[RG_PART_UNREAD],
					 .since_ms = box->since_ms,
					 .next = rg_agent_mail_next(concerns, box),
					 .parts = list_parts(concerns, box->parts) };
	const struct roger_str words = rg_agent_mail_words(concerns, box, WORDS_BYTES);
	size_t i;

	for (i = 0; i < RG_PARTS && !concern.count; i++)
		concern.count = box->parts[i];
	rg_concerns_add(concerns, urgency_of(concerns, box), "mail", concern, "%.*s",
			RG_STR_ARGS(words));
}

/* Add one concern for all probable slips of names. */
static void say_slips(struct rg_concerns *concerns)
{
	struct rg_buf names = { .maximum = 4096 };
	struct roger_str told;
	const struct rg_agent_mail *box, *first = NULL;
	struct roger_concern concern = { 0 };
	int64_t all[RG_PARTS] = { 0 };
	size_t i, k;
	for (i = 0; i < concerns->boxes.count; i++) {
		box = &concerns->boxes.items[i];
		if (!box->near.length)
			continue;
		first = first ? first : box;
		for (k = 0; k < RG_PARTS; k++)
			all[k] += box->parts[k];
		if (!concern.since_ms || box->since_ms < concern.since_ms)
			concern.since_ms = box->since_ms;
		if (concern.count++ < SLIPS_MAX)
			rg_buf_printf(&names, "%s%.*s (%.*s)", names.length ? ", " : "",
				      RG_STR_ARGS(box->name), RG_STR_ARGS(box->near));
	}
	told = rg_arena_take(concerns->arena, &names);
	if (!first)
		return;
	concern.subject = first->name;
	concern.next = rg_arena_text(concerns->arena, "roger agents retire %.*s --to %.*s",
				     RG_STR_ARGS(rg_concerns_quote(concerns, first->name)),
				     RG_STR_ARGS(rg_concerns_quote(concerns, first->near)));
	concern.parts = list_parts(concerns, all);
	rg_concerns_add(concerns, ROGER_SOON, "slips", concern, "%lld name%s like %s: %.*s%s",
			(long long)concern.count, concern.count == 1 ? " looks" : "s look",
			concern.count == 1 ? "a slip" : "slips", RG_STR_ARGS(told),
			concern.count > SLIPS_MAX ? ", ..." : "");
}

static int compare_boxes(const void *a, const void *b)
{
	const struct rg_agent_mail *x = a, *y = b;

	return x->since_ms != y->since_ms
		       ? (x->since_ms > y->since_ms) - (x->since_ms < y->since_ms)
		       : strcmp(x->name.data, y->name.data);
}

void rg_concerns_say_mail(struct rg_concerns *concerns)
{
	size_t i;

	if (concerns->boxes.count)
		qsort(concerns->boxes.items, concerns->boxes.count, sizeof *concerns->boxes.items,
		      compare_boxes);
	say_slips(concerns);
	for (i = 0; i < concerns->boxes.count; i++)
		if (!concerns->boxes.items[i].near.length)
			say_box(concerns, &concerns->boxes.items[i]);
}
