/*
 * status: what needs attention now, and what to type next.
 *
 * Asks the index only, so that it costs what is wrong and not what there is:
 * but for the documents of the runs, which are all read.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ops/keys/attempt.h"
#include "ops/keys/breaker.h"
#include "ops/proof/stream.h"
#include "ops/runs/run_list.h"
#include "ops/tools/trust.h"
#include "facts/damage.h"
#include "facts/history.h"
#include "facts/message.h"

enum {
	LINES_MAX = 2000,   /* newest lines of dead letters that are looked at */
	WAITING_MAX = 2000, /* messages with a lease, or to be read by some time */
	MAILBOXES_MAX = 50, /* whose oldest message is looked up */
	EACH_MAX = 5,	    /* concerns of one kind; the rest is one more */
};

/* A mailbox that is not looked at for so long is more than a note. */
static const int64_t forgotten_ms = INT64_C(3600) * 1000;

/* The screen on its way. */
struct looking {
	struct roger *roger;
	struct roger_status_reply *reply;
	struct rg_arena *arena; /* the reply's */
	int64_t now_ms;
	struct {
		struct roger_concern *items;
		size_t count;
	} concerns;
};

/* One more concern; its command and its words are printed, with a new line between them. */
RG_PRINTF(3, 4)
static int say(struct looking *looking, struct roger_concern concern, const char *format, ...)
{
	struct roger_concern *place = rg_arena_push(looking->arena, &looking->concerns.items,
						    &looking->concerns.count, sizeof *place);
	char text[1024], *words;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	words = strchrnul(text, '\n');
	if (*words)
		*words++ = '\0';
	if (!place || !rg_arena_copy(looking->arena, rg_str(text), &concern.next) ||
	    !rg_arena_copy(looking->arena, rg_str(words), &concern.words))
		return ROGER_ENOMEM;
	*place = concern;
	return ROGER_OK;
}

static struct roger_concern of(enum roger_urgency urgency, const char *kind,
			       struct roger_str subject, int64_t count, int64_t since_ms)
{
	return (struct roger_concern){ .urgency = (int)urgency,
				       .kind = rg_str(kind),
				       .subject = subject,
				       .count = count,
				       .since_ms = since_ms };
}

/* Those beyond the first few; what: "more %s", and a plural where its count is not one. */
static int say_rest(struct looking *looking, enum roger_urgency urgency, const char *kind,
		    int64_t count, const char *next, const char *one, const char *many)
{
	if (count <= 0)
		return ROGER_OK;
	return say(looking, of(urgency, kind, RG_STR(""), count, 0), "%s\n%lld more %s", next,
		   (long long)count, count == 1 ? one : many);
}

/* ---------------------------------------------------------- dead letters -- */

struct letters {
	struct roger_dead_letter *items;
	size_t count;
};

/* The states of the newest ones. */
static int read_letters(struct looking *looking, struct letters *ret_letters, struct roger_err *err)
{
	const struct rg_log_query query = {
		.log = RG_LOG_DEAD_LETTERS, .newest = true, .limit = LINES_MAX, .states = true
	};
	struct rg_records found;
	int r = rg_records_read(looking->roger, &query, looking->arena, &found, err);

	*ret_letters = (struct letters){ found.letters, found.count };
	return r;
}

/* Leave out those that are dealt with, or were read after all. */
static int keep_undelivered(struct looking *looking, struct letters *letters, struct roger_err *err)
{
	struct rg_counter read = { .arena = looking->arena };
	struct roger_str *ids = rg_arena_get(looking->arena, letters->count * sizeof *ids);
	struct rg_gathering found;
	size_t count = 0, i;
	int64_t *times;
	int r = ids ? ROGER_OK : rg_fail_memory(err);

	for (i = 0; i < letters->count && r == ROGER_OK; i++)
		if (letters->items[i].status == ROGER_UNDELIVERED) {
			ids[count] = letters->items[i].message_id;
			letters->items[count++] = letters->items[i];
		}
	letters->count = r == ROGER_OK ? count : 0;
	rg_gathering_init(&found, looking->roger, looking->arena);
	if (r == ROGER_OK)
		r = rg_gather_ids(&found, ids, count, err);
	for (i = 0; r == ROGER_OK && i < found.messages.count; i++) {
		times = rg_counter_of(&read, found.messages.items[i].id);
		if (!times)
			return rg_fail_memory(err);
		*times += found.messages.items[i].read;
	}
	for (count = 0, i = 0; r == ROGER_OK && i < letters->count; i++) {
		times = rg_counter_of(&read, letters->items[i].message_id);
		if (!times)
			return rg_fail_memory(err);
		if (!*times)
			letters->items[count++] = letters->items[i];
	}
	letters->count = count;
	return r;
}

static int look_for_alarm(struct looking *looking, const struct letters *letters)
{
	const int64_t limit = looking->roger->workspace->config->dead_letter_alarm;
	const struct roger_str cycle = looking->reply->cycle;
	int64_t count = 0, since_ms = 0;
	size_t i;

	for (i = 0; i < letters->count; i++)
		if (rg_str_equal(letters->items[i].cycle_id, cycle) && count++ == 0)
			since_ms = letters->items[i].timestamp_ms;
	if (!limit || count <= limit)
		return ROGER_OK;
	return say(looking, of(ROGER_URGENT, "alarm", cycle, count, since_ms),
		   "roger dead --cycle %.*s\nalarm: %lld dead letters in cycle %.*s",
		   RG_STR_ARGS(cycle), (long long)count, RG_STR_ARGS(cycle));
}

static int add_letters(struct looking *looking, const struct letters *letters,
		       const struct roger_figure *target)
{
	int64_t since_ms = 0;
	size_t i;

	for (i = 0; i < letters->count; i++)
		if (rg_str_equal(letters->items[i].target, target->name) &&
		    (!since_ms || letters->items[i].timestamp_ms < since_ms))
			since_ms = letters->items[i].timestamp_ms;
	return say(looking, of(ROGER_URGENT, "dead_letters", target->name, target->count, since_ms),
		   "roger dead --to %.*s --status undelivered\n"
		   "%.*s did not get %lld message%s, given up",
		   RG_STR_ARGS(target->name), RG_STR_ARGS(target->name), (long long)target->count,
		   rg_plural(target->count));
}

static int look_at_letters(struct looking *looking, struct roger_err *err)
{
	struct rg_counter targets = { .arena = looking->arena };
	struct roger_figures figures;
	struct letters letters;
	int64_t *times, rest = 0;
	size_t i;
	int r;

	r = read_letters(looking, &letters, err);
	if (r == ROGER_OK)
		r = look_for_alarm(looking, &letters);
	if (r == ROGER_OK)
		r = keep_undelivered(looking, &letters, err);
	for (i = 0; r == ROGER_OK && i < letters.count; i++) {
		times = rg_counter_of(&targets, letters.items[i].target);
		if (!times)
			return rg_fail_memory(err);
		++*times;
	}
	if (r == ROGER_OK)
		r = rg_counter_figures(&targets, &figures, err);
	for (i = 0; r == ROGER_OK && i < figures.count; i++) {
		if (i < EACH_MAX)
			r = add_letters(looking, &letters, &figures.items[i]);
		else
			rest += figures.items[i].count;
	}
	return r < 0 ? r
		     : say_rest(looking, ROGER_URGENT, "dead_letters", rest,
				"roger dead --status undelivered",
				"message that others did not get",
				"messages that others did not get");
}

/* ------------------------------------------------------------------ runs -- */

static int add_run(struct looking *looking, const struct rg_run_document *document)
{
	static const char *const commands[] = { [ROGER_RUN_SUSPECT] = "recover",
						[ROGER_RUN_NOT_FORWARDED] = "forward",
						[ROGER_RUN_BLOCKED] = "settle" };
	const struct roger_run *run = &document->run;
	enum roger_urgency urgency = run->status == ROGER_RUN_BLOCKED ? ROGER_URGENT : ROGER_SOON;
	int64_t since_ms = document->receipts.expected_by_ms;
	const char *command = commands[run->status];
	struct roger_str whose = run->run_id;

	if (run->status == ROGER_RUN_NOT_FORWARDED)
		since_ms = document->receipts.completed_ms;
	/* Its owner has to read the result first, and nobody else can do that. */
	if (run->status == ROGER_RUN_NOT_FORWARDED && run->result_message_id.length) {
		command = "trace";
		whose = run->result_message_id;
	}
	return say(looking, of(urgency, rg_run_statuses[run->status], run->run_id, 1, since_ms),
		   "roger %s %.*s%s\nrun %.*s: %.*s", command, RG_STR_ARGS(whose),
		   run->status == ROGER_RUN_BLOCKED ? " --why TEXT" : "", RG_STR_ARGS(run->run_id),
		   RG_STR_ARGS(run->status_reason));
}

static int add_more_runs(struct looking *looking, enum roger_run_status status, int64_t count)
{
	const char *name = rg_run_statuses[status];

	return say(looking,
		   of(status == ROGER_RUN_BLOCKED ? ROGER_URGENT : ROGER_SOON, name, RG_STR(""),
		      count, 0),
		   "roger runs --status %s\n%lld more run%s: %s", name, (long long)count,
		   rg_plural(count), name);
}

/* A blocked one is listed until somebody has dealt with it. */
static bool is_listed(const struct roger_run *run, enum roger_run_status status)
{
	return run->status == (int)status &&
	       (status != ROGER_RUN_BLOCKED || rg_run_wants_settling(run));
}

/* Runs whose result may well have arrived, but whose child failed. */
static int look_at_failures(struct looking *looking, const struct rg_run_list *list)
{
	const struct roger_run *run;
	int64_t count = 0;
	int r = ROGER_OK;
	size_t i;

	for (i = 0; i < list->count && r == ROGER_OK; i++) {
		run = &list->documents[i].run;
		if (run->status == ROGER_RUN_BLOCKED || !rg_run_wants_settling(run) ||
		    count++ >= EACH_MAX)
			continue;
		r = say(looking,
			of(ROGER_SOON, rg_run_outcomes[run->outcome], run->run_id, 1,
			   list->documents[i].receipts.completed_ms),
			"roger settle %.*s --why TEXT\nrun %.*s %s%s%.*s", RG_STR_ARGS(run->run_id),
			RG_STR_ARGS(run->run_id), rg_run_outcomes[run->outcome],
			run->child_exit.length ? ": exit " : "", RG_STR_ARGS(run->child_exit));
	}
	return r < 0 ? r
		     : say_rest(looking, ROGER_SOON, "failed", count - EACH_MAX, "roger runs",
				"run that failed", "runs that failed");
}

static int look_at_runs(struct looking *looking, struct roger_err *err)
{
	static const enum roger_run_status bad[] = { ROGER_RUN_BLOCKED, ROGER_RUN_SUSPECT,
						     ROGER_RUN_NOT_FORWARDED };
	struct rg_run_list list;
	int64_t count, invalid;
	size_t i, k;
	int r;

	r = rg_run_list_load(looking->roger, true, looking->arena, &list, err);
	if (r < 0)
		return r;
	for (k = 0; k < sizeof bad / sizeof *bad && r == ROGER_OK; k++) {
		for (count = 0, i = 0; i < list.count && r == ROGER_OK; i++)
			if (is_listed(&list.documents[i].run, bad[k]) && count++ < EACH_MAX)
				r = add_run(looking, &list.documents[i]);
		if (r == ROGER_OK && count > EACH_MAX)
			r = add_more_runs(looking, bad[k], count - EACH_MAX);
	}
	if (r == ROGER_OK)
		r = look_at_failures(looking, &list);
	for (i = 0; i < list.count; i++)
		looking->reply->active_runs += list.documents[i].run.status == ROGER_RUN_ACTIVE;
	invalid = (int64_t)list.troubles.count;
	if (r == ROGER_OK && invalid)
		r = say(looking, of(ROGER_SOON, "run_documents", RG_STR(""), invalid, 0),
			"roger runs\n%lld run document%s with errors", (long long)invalid,
			rg_plural(invalid));
	return r;
}

/* --------------------------------------------------------------- waiting -- */

static int add_waiting(struct looking *looking, const struct roger_message *message)
{
	bool over = message->confirm_by_ms <= looking->now_ms;
	char span[32];

	rg_clock_print_span(over ? looking->now_ms - message->confirm_by_ms
				 : message->confirm_by_ms - looking->now_ms,
			    span);
	return say(looking,
		   of(over ? ROGER_SOON : ROGER_NOTICE, over ? "overdue" : "waiting", message->id,
		      1, message->confirm_by_ms),
		   "roger sends --message %.*s\n%.*s %s #%lld of %.*s, %s %s",
		   RG_STR_ARGS(message->id), RG_STR_ARGS(message->to_phase),
		   over ? "has not read" : "is to read", (long long)message->seq,
		   RG_STR_ARGS(message->from_phase), span, over ? "late" : "left");
}

/*
 * A lease that is not in force: over, or beyond what it may take (taken while the
 * clock was ahead, or under another configuration).  The mail is free, and nobody
 * expects it.
 */
static int add_lease(struct looking *looking, const struct roger_message *message)
{
	const struct roger_concern concern =
		of(ROGER_SOON, "lease", message->id, 1, message->claimed_until_ms);
	const struct roger_str to = message->to_phase, by = message->claimed_by,
			       from = message->from_phase;
	char until[32];

	if (message->claimed_until_ms <= looking->now_ms)
		return say(looking, concern,
			   "roger list --unread --to %.*s\n%.*s let its lease on #%lld of %.*s end",
			   RG_STR_ARGS(to), RG_STR_ARGS(by), (long long)message->seq,
			   RG_STR_ARGS(from));
	rg_clock_print_utc(message->claimed_until_ms, until);
	return say(
		looking, concern,
		"roger list --unread --to %.*s\nthe lease of %.*s on #%lld of %.*s says %s, beyond "
		"claims.max_lease: it has ended",
		RG_STR_ARGS(to), RG_STR_ARGS(by), (long long)message->seq, RG_STR_ARGS(from),
		until);
}

static int look_at_lease(struct looking *looking, const struct roger_message *message,
			 int64_t *leases)
{
	int64_t longest_ms = looking->roger->workspace->config->lease_ms_max;

	if (!message->claimed_by.length || message->read ||
	    rg_message_claimed(message, looking->now_ms, longest_ms) || (*leases)++ >= EACH_MAX)
		return ROGER_OK;
	return add_lease(looking, message);
}

static int look_at_waiting(struct looking *looking, struct roger_err *err)
{
	const struct roger_message *message;
	int64_t waiting = 0, leases = 0;
	struct rg_gathering found;
	struct roger_strs ids;
	size_t i;
	int r;

	rg_gathering_init(&found, looking->roger, looking->arena);
	r = rg_engine_overdue(looking->roger->engine, INT64_MAX, WAITING_MAX, looking->arena, &ids,
			      err);
	if (r == ROGER_OK)
		r = rg_gather_ids(&found, ids.items, ids.count, err);
	for (i = 0; r == ROGER_OK && i < found.messages.count; i++) {
		message = &found.messages.items[i];
		if (message->confirm_by_ms && waiting++ < EACH_MAX)
			r = add_waiting(looking, message);
		if (r == ROGER_OK)
			r = look_at_lease(looking, message, &leases);
	}
	if (r == ROGER_OK)
		r = say_rest(looking, ROGER_SOON, "overdue", waiting - EACH_MAX,
			     "roger sends --newest", "messages that are to be read",
			     "messages that are to be read");
	return r < 0 ? r
		     : say_rest(looking, ROGER_SOON, "lease", leases - EACH_MAX, "roger agents",
				"leases that ended", "leases that ended");
}

static int look_at_breakers(struct looking *looking, struct roger_err *err)
{
	struct rg_breakers breakers;
	char span[32];
	size_t i;
	int r;

	r = rg_breakers_find(looking->roger, looking->arena, &breakers, err);
	for (i = 0; r == ROGER_OK && i < breakers.count && i < EACH_MAX; i++) {
		const struct rg_breaker *breaker = &breakers.items[i];

		rg_clock_print_span(breaker->until_ms - looking->now_ms, span);
		r = say(looking, of(ROGER_SOON, "breaker", breaker->target, 1, breaker->until_ms),
			"roger sends --from %.*s --to %.*s --newest\n"
			"breaker: %.*s confirms nothing with %.*s for another %s",
			RG_STR_ARGS(breaker->sender), RG_STR_ARGS(breaker->target),
			RG_STR_ARGS(breaker->sender), RG_STR_ARGS(breaker->target), span);
	}
	return r < 0 ? r
		     : say_rest(looking, ROGER_SOON, "breaker", (int64_t)breakers.count - EACH_MAX,
				"roger sends --outcome timeout --newest", "breakers are open",
				"breakers are open");
}

/* ------------------------------------------------------------------ mail -- */

static int compare_unread(const void *a, const void *b)
{
	const struct roger_agent *x = a, *y = b;

	return (x->unread < y->unread) - (x->unread > y->unread);
}

static int compare_since(const void *a, const void *b)
{
	const struct roger_concern *x = a, *y = b;

	return (x->since_ms > y->since_ms) - (x->since_ms < y->since_ms);
}

/* When the oldest unread message of an agent came. */
static int find_oldest(struct looking *looking, const struct roger_agent *agent, int64_t *ret_at_ms,
		       struct roger_err *err)
{
	const struct rg_query query = { .to = agent->name, .unread = true, .limit = 1 };
	struct roger_messages found;
	int r;

	r = rg_engine_find(looking->roger->engine, &query, looking->arena, &found, err);
	*ret_at_ms = r == ROGER_OK && found.count ? found.items[0].created_at_ms : looking->now_ms;
	return r;
}

static int add_mailbox(struct looking *looking, const struct roger_concern *mailbox)
{
	enum roger_urgency urgency =
		looking->now_ms - mailbox->since_ms > forgotten_ms ? ROGER_SOON : ROGER_NOTICE;
	struct roger_str name = mailbox->subject;
	char span[32];

	rg_clock_print_span(
		mailbox->since_ms < looking->now_ms ? looking->now_ms - mailbox->since_ms : 0,
		span);
	return say(looking, of(urgency, "unread", name, mailbox->count, mailbox->since_ms),
		   "roger list --unread --to %.*s\n%.*s has %lld unread, the oldest for %s",
		   RG_STR_ARGS(name), RG_STR_ARGS(name), (long long)mailbox->count, span);
}

/* Those whose oldest message is the oldest. */
static int look_at_mail(struct looking *looking, struct roger_err *err)
{
	struct roger_concern mailboxes[MAILBOXES_MAX];
	struct roger_agent_list agents;
	struct roger_agent *sorted;
	size_t count = 0, unread = 0, i;
	int r;

	r = rg_engine_agents(looking->roger->engine, looking->arena, &agents, err);
	if (r < 0)
		return r;
	looking->reply->agents = (int64_t)agents.count;
	sorted = rg_arena_get(looking->arena, agents.count * sizeof *sorted);
	if (!sorted)
		return rg_fail_memory(err);
	for (i = 0; i < agents.count; i++) {
		looking->reply->unread += agents.items[i].unread;
		if (agents.items[i].unread > 0)
			sorted[unread++] = agents.items[i];
	}
	if (unread)
		qsort(sorted, unread, sizeof *sorted, compare_unread);
	for (; count < unread && count < MAILBOXES_MAX && r == ROGER_OK; count++) {
		mailboxes[count] = (struct roger_concern){ .subject = sorted[count].name,
							   .count = sorted[count].unread };
		r = find_oldest(looking, &sorted[count], &mailboxes[count].since_ms, err);
	}
	if (r < 0)
		return r;
	if (count)
		qsort(mailboxes, count, sizeof *mailboxes, compare_since);
	for (i = 0; i < count && i < EACH_MAX && r == ROGER_OK; i++)
		r = add_mailbox(looking, &mailboxes[i]);
	return r < 0 ? r
		     : say_rest(looking, ROGER_NOTICE, "unread", (int64_t)unread - EACH_MAX,
				"roger agents", "agent with unread mail",
				"agents with unread mail");
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
		r = say(looking, of(ROGER_SOON, "strays", file, count, 0),
			"roger verify\n%lld stray line%s in %.*s", (long long)count,
			rg_plural(count), RG_STR_ARGS(file));
	for (i = RG_LOG_MESSAGES + 1; i < RG_LOGS && r == ROGER_OK; i++) {
		if (!rg_kinds[i].chained)
			continue;
		query.log = (enum rg_log)i;
		r = rg_engine_log_find(looking->roger->engine, &query, looking->arena, &found, err);
		if (r < 0 || !found.stray_count)
			continue;
		r = say(looking,
			of(ROGER_NOTICE, "strays", found.strays[0].file, (int64_t)found.stray_count,
			   0),
			"roger %s\n%zu stray line%s in a log, the first in %.*s, line %lld",
			i == RG_LOG_ACTIVITY ? "activity --limit 1" : "verify", found.stray_count,
			rg_plural((int64_t)found.stray_count), RG_STR_ARGS(found.strays[0].file),
			(long long)found.strays[0].line);
	}
	return r;
}

static int look_at_trust(struct looking *looking, struct roger_err *err)
{
	struct roger_str setting = { 0 };
	const struct rg_trust *trust;
	int64_t count;
	int r;

	r = rg_workspace_trust(looking->roger->workspace, &trust, err);
	if (r == ROGER_OK && !trust->mailbox)
		return say(looking, of(ROGER_SOON, "untrusted", RG_STR(""), 1, 0),
			   "roger trust\nthis workspace is not trusted: its mail is shown to no "
			   "agent unasked, "
			   "and its commands do not run");
	if (r == ROGER_OK)
		r = rg_trust_count_commands(looking->roger, looking->arena, &count, &setting, err);
	if (r < 0 || !count)
		return r;
	return say(looking, of(ROGER_SOON, "untrusted", setting, count, 0),
		   "roger trust\n%lld configured command%s not trusted as %s now, and left out: "
		   "%.*s%s",
		   (long long)count, count == 1 ? " is" : "s are",
		   count == 1 ? "it is" : "they are", RG_STR_ARGS(setting),
		   count == 1 ? "" : " and others");
}

static int look_at_damage(struct looking *looking, struct roger_err *err)
{
	const struct roger_damage *damage;
	struct roger_damages damages;
	struct roger_str place;
	char line[32];
	size_t i;
	int r;

	r = rg_engine_damages(looking->roger->engine, looking->arena, &damages, err);
	for (i = 0; i < damages.count && r == ROGER_OK; i++) {
		damage = &damages.items[i];
		if (damage->accepted_at_ms)
			continue;
		snprintf(line, sizeof line, ":%lld", (long long)damage->line);
		if (!rg_arena_print(looking->arena, &place, "%.*s%s", RG_STR_ARGS(damage->file),
				    damage->line ? line : ""))
			return rg_fail_memory(err);
		r = say(looking, of(ROGER_URGENT, "damage", place, 1, damage->noticed_at_ms),
			"roger accept %.*s --reason TEXT\n%.*s is %s%s", RG_STR_ARGS(place),
			RG_STR_ARGS(place), rg_damage_words(damage),
			rg_damage_closes(damage) ? "; nothing is sent until a person accepts that"
						 : "");
	}
	return r;
}

static int look_for_trouble(struct looking *looking)
{
	const char *trouble = rg_engine_trouble(looking->roger->engine);

	if (!*trouble)
		return ROGER_OK;
	return say(looking, of(ROGER_NOTICE, "engine", RG_STR(""), 1, 0), "roger rebuild\n%s",
		   trouble);
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
	looking->reply->concerns = (struct roger_concerns){ items, count };
	looking->reply->quiet = count == 0;
	return ROGER_OK;
}

static int look(struct looking *looking, struct roger_err *err)
{
	struct roger_cycle cycle;
	int r;

	r = rg_cycle_current(looking->roger, looking->arena, &cycle, err);
	if (r < 0)
		return r;
	looking->reply->cycle = cycle.id;
	r = rg_engine_session(looking->roger->engine, false, &looking->reply->epoch, err);
	if (r == ROGER_OK)
		r = look_at_letters(looking, err);
	if (r == ROGER_OK)
		r = look_at_runs(looking, err);
	if (r == ROGER_OK)
		r = look_at_waiting(looking, err);
	if (r == ROGER_OK)
		r = look_at_breakers(looking, err);
	if (r == ROGER_OK)
		r = look_at_mail(looking, err);
	if (r == ROGER_OK)
		r = look_for_strays(looking, err);
	if (r == ROGER_OK)
		r = look_at_trust(looking, err);
	if (r == ROGER_OK)
		r = look_at_damage(looking, err);
	return r < 0 ? r : look_for_trouble(looking);
}

static int run(struct roger *roger, const void *request, void *reply_, struct roger_err *err)
{
	struct roger_status_reply *reply = reply_;
	struct looking looking = {
		.roger = roger, .reply = reply, .arena = reply->memory, .now_ms = rg_clock_ms()
	};
	int r;

	(void)request;
	reply->workspace = rg_str(roger->workspace->root);
	r = look(&looking, err);
	if (r == ROGER_ENOMEM)
		return rg_fail_memory(err);
	return r < 0 ? r : arrange(&looking, err);
}

static const char *const urgency_names[] = { "urgent", "soon", "notice", NULL };

#define AT(member) offsetof(struct roger_concern, member)
static const struct roger_field concern_fields[] = {
	{ "urgency", ROGER_ENUM, AT(urgency), 0, urgency_names, NULL, "urgent, soon or notice" },
	{ "kind", ROGER_TEXT, AT(kind), 0, NULL, NULL, "a word for programs" },
	{ "subject", ROGER_TEXT, AT(subject), ROGER_SPARE, NULL, NULL, "whom or what it is about" },
	{ "count", ROGER_INT, AT(count), 0, NULL, NULL, "how many of them" },
	{ "since", ROGER_TIME, AT(since_ms), ROGER_SPARE, NULL, NULL, "from when on" },
	{ "words", ROGER_TEXT, AT(words), 0, NULL, NULL, "one line for people; no content" },
	{ "next", ROGER_TEXT, AT(next), 0, NULL, NULL, "the command to type next" },
	RG_END,
};
#undef AT
const struct roger_record rg_concern_record = { "concern", sizeof(struct roger_concern),
						concern_fields };

#define AT(member) offsetof(struct roger_status_reply, member)
static const struct roger_field reply_fields[] = {
	{ "concerns", ROGER_RECORDS, AT(concerns), 0, NULL, &rg_concern_record,
	  "the most urgent first" },
	{ "quiet", ROGER_BOOL, AT(quiet), 0, NULL, NULL, "there are none" },
	{ "unread", ROGER_INT, AT(unread), 0, NULL, NULL, "unread messages of all" },
	{ "agents", ROGER_INT, AT(agents), 0, NULL, NULL, "agents ever seen" },
	{ "active_runs", ROGER_INT, AT(active_runs), 0, NULL, NULL, "runs under way" },
	{ "cycle", ROGER_TEXT, AT(cycle), 0, NULL, NULL, "the current one" },
	{ "epoch", ROGER_INT, AT(epoch), 0, NULL, NULL, "number of the session" },
	{ "workspace", ROGER_TEXT, AT(workspace), 0, NULL, NULL, "the folder that holds .roger" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "status", sizeof(struct roger_status_reply),
						  reply_fields };

const struct roger_op rg_op_status = {
	.name = "status",
	.summary = "what needs attention now, and what to type next",
	.examples = "roger status\nroger status --json\n",
	.request = &rg_empty_request_record,
	.reply = &reply_record,
	.run = run,
};
