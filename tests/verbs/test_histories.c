/*
 * Random histories: what one of trace, timeline, status and report calls read, late,
 * dead, expired, lost, failed or full, the others do, too.
 *
 * 600 of them, of fixed seeds; 10,000 with ROGER_TEST_SLOW.  A seed that fails is named,
 * and ROGER_SEED plays it alone.
 */
#include "scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

static struct scene scene;
static uint64_t seed, drawn;

/* How often each kind came up, so that nobody agrees about nothing. */
static int64_t came_up[ROGER_EVENT_ATTEMPTED + 1], full_boxes;

/* ---------------------------------------------------------------- drawing -- */

static unsigned draw(unsigned below)
{
	drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(drawn >> 33) % below;
}

static struct roger_str one_of(const char *const *names, unsigned count)
{
	return rg_str(names[draw(count)]);
}

static const char *const agents[] = { "amy", "bob", "eve" };

static struct roger_str agent(void)
{
	return one_of(agents, 3);
}

/* ---------------------------------------------------------------- a history -- */

/* Verbs may refuse: that is a history, too.  Texts live until the next call. */
static void send_one(void)
{
	static const char *const keys[] = { "", "app:a:1", "app:b:1", "app:c:1" };
	const struct roger_str to = agent(), key = one_of(keys, 4);
	const bool confirm = key.length && draw(2);
	const struct roger_send_request request = { .from = agent(),
						    .to = { &to, 1 },
						    .content = RG_STR("x"),
						    .issue = RG_STR("app"),
						    .key = key,
						    .within_ms = confirm,
						    .confirm = confirm };
	struct roger_send_reply reply = { 0 };

	(void)!roger_send(scene.roger, &request, &reply, NULL);
	roger_reply_free(&reply);
}

static void take_some(void)
{
	const struct roger_inbox_request request = { .agent = agent(), .limit = 1 + draw(3) };
	struct roger_inbox_reply reply = { 0 };

	if (draw(2))
		(void)!roger_receive(scene.roger, &request, &reply, NULL);
	else
		(void)!roger_inbox(scene.roger, &request, &reply, NULL);
	roger_reply_free(&reply);
}

/* A claim, and then perhaps what comes of it. */
static void claim_one(void)
{
	const struct roger_claim_request request = { .agent = agent(),
						     .worker = one_of(agents, 3),
						     .lease_ms = 1000 + draw(100000) };
	struct roger_messages_reply reply = { 0 }, done = { 0 };
	struct roger_ack_request settling = { .agent = request.agent, .worker = request.worker };
	struct roger_str id;

	if (roger_claim(scene.roger, &request, &reply, NULL) == ROGER_OK && reply.messages.count &&
	    draw(3)) {
		if (draw(3) == 0)
			scene_pass(50000);
		id = reply.messages.items[0].id;
		settling.ids = (struct roger_strs){ &id, 1 };
		if (draw(2))
			(void)!roger_ack(scene.roger, &settling, &done, NULL);
		else
			(void)!roger_nack(scene.roger, &settling, &done, NULL);
	}
	roger_reply_free(&reply);
	roger_reply_free(&done);
}

static void change_run(void)
{
	static const char *const names[] = { "r1", "r2", "r3" };
	const struct roger_dispatch_request dispatch = { .run_id = one_of(names, 3),
							 .agent = agent(),
							 .issue = RG_STR("app"),
							 .within_ms = 60000 };
	struct roger_complete_request complete = { .run_id = dispatch.run_id };
	struct roger_settle_request settle = { .run_id = dispatch.run_id, .why = RG_STR("seen") };
	struct roger_runs_reply reply = { 0 };

	switch (draw(6)) {
	case 0:
		complete.result = RG_STR("x");
		break;
	case 1:
		complete.failed = true;
		break;
	case 2:
		complete.child_exit = RG_STR("2");
		complete.result = RG_STR("x");
		break;
	default:
		(void)!roger_settle(scene.roger, &settle, &reply, NULL);
		roger_reply_free(&reply);
		(void)!roger_dispatch(scene.roger, &dispatch, &reply, NULL);
		roger_reply_free(&reply);
		return;
	}
	(void)!roger_complete(scene.roger, &complete, &reply, NULL);
	roger_reply_free(&reply);
}

static void change_letter(void)
{
	struct roger_dead_letters_request all = { 0 };
	struct roger_dead_letters_reply letters = { 0 };
	struct roger_redeliver_request again = { .within_ms = 1 };
	struct roger_stale_request stale = { 0 };
	struct roger_dead_letters_reply reply = { 0 };

	if (roger_dead_letters(scene.roger, &all, &letters, NULL) == ROGER_OK &&
	    letters.dead_letters.count) {
		again.id = stale.id =
			letters.dead_letters.items[draw((unsigned)letters.dead_letters.count)].id;
		if (draw(2))
			(void)!roger_redeliver(scene.roger, &again, &reply, NULL);
		else
			(void)!roger_stale(scene.roger, &stale, &reply, NULL);
	}
	roger_reply_free(&letters);
	roger_reply_free(&reply);
}

static void play(void)
{
	unsigned steps = 4 + draw(16);

	while (steps--)
		switch (draw(9)) {
		case 0:
		case 1:
		case 2:
			send_one();
			break;
		case 3:
			take_some();
			break;
		case 4:
			claim_one();
			break;
		case 5:
		case 6:
			change_run();
			break;
		case 7:
			change_letter();
			break;
		default:
			scene_pass(1 + draw(2) * 40000);
		}
}

/* ------------------------------------------------------------ four accounts -- */

struct accounts {
	struct roger_timeline_reply timeline;
	struct roger_trace_reply trace;
	struct roger_status_reply status;
	struct roger_report_reply report;
};

static void add_ids(struct roger_strs *ids, struct roger_str *to, bool archived)
{
	const struct roger_list_request all = { .archived = archived };
	static struct roger_messages_reply lists[2];
	struct roger_messages_reply *list = &lists[archived];
	size_t i;

	roger_reply_free(list);
	assert_int_equal(roger_list(scene.roger, &all, list, NULL), ROGER_OK);
	for (i = 0; i < list->messages.count; i++)
		to[ids->count++] = list->messages.items[i].id;
}

static void trace_all(struct accounts *accounts)
{
	struct roger_str ids[64];
	struct roger_trace_request request = { .ids = { ids, 0 } };

	add_ids(&request.ids, ids, false);
	add_ids(&request.ids, ids, true);
	/* As many as one trace takes. */
	assert_true(request.ids.count <= 20);
	if (request.ids.count)
		assert_int_equal(roger_trace(scene.roger, &request, &accounts->trace, NULL),
				 ROGER_OK);
}

static void read_all(struct accounts *accounts)
{
	const struct roger_timeline_request timeline = { .issue = RG_STR("app") };
	const struct roger_report_request report = { 0 };
	const struct roger_empty_request status = { 0 };
	int r;

	*accounts = (struct accounts){ 0 };
	/* It settles what is overdue, so it comes first. */
	assert_int_equal(roger_report(scene.roger, &report, &accounts->report, NULL), ROGER_OK);
	assert_int_equal(roger_status(scene.roger, &status, &accounts->status, NULL), ROGER_OK);
	r = roger_timeline(scene.roger, &timeline, &accounts->timeline, NULL);
	assert_true(r == ROGER_OK || r == ROGER_ENOENT);
	trace_all(accounts);
}

static void forget(struct accounts *accounts)
{
	roger_reply_free(&accounts->timeline);
	roger_reply_free(&accounts->trace);
	roger_reply_free(&accounts->status);
	roger_reply_free(&accounts->report);
}

static int64_t events(const struct accounts *accounts, enum roger_event_kind kind)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < accounts->timeline.events.count; i++)
		count += accounts->timeline.events.items[i].kind == (int)kind;
	return count;
}

static int64_t steps(const struct accounts *accounts, enum roger_step step)
{
	int64_t count = 0;
	size_t i, k;

	for (i = 0; i < accounts->trace.traces.count; i++)
		for (k = 0; k < accounts->trace.traces.items[i].steps.count; k++)
			count += accounts->trace.traces.items[i].steps.items[k].step == (int)step;
	return count;
}

static int64_t reached(const struct accounts *accounts, enum roger_step step)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < accounts->trace.traces.count; i++)
		count += accounts->trace.traces.items[i].reached == (int)step;
	return count;
}

static int64_t concerns(const struct accounts *accounts, const char *kind)
{
	int64_t count = 0;
	size_t i;

	for (i = 0; i < accounts->status.concerns.count; i++)
		if (rg_str_is(accounts->status.concerns.items[i].kind, kind))
			count += accounts->status.concerns.items[i].count;
	return count;
}

static void agree(const char *what, int64_t one, int64_t other)
{
	if (one != other)
		fail_msg("seed %llu: %s: %lld, and %lld", (unsigned long long)seed, what,
			 (long long)one, (long long)other);
}

/* ------------------------------------------------------------- no contradiction -- */

static void messages_agree(const struct accounts *accounts)
{
	const struct roger_report_reply *report = &accounts->report;

	agree("messages: report, timeline", report->messages, events(accounts, ROGER_EVENT_SENT));
	agree("stored: report, trace", report->messages, steps(accounts, ROGER_STEP_STORED));
	agree("read: report, timeline", report->read, events(accounts, ROGER_EVENT_READ));
	agree("read: report, trace", report->read, steps(accounts, ROGER_STEP_READ));
	agree("unread: report, status", report->unread, accounts->status.unread);
	agree("looked: report, trace", report->looked, steps(accounts, ROGER_STEP_LOOKED));
}

static void leases_agree(const struct accounts *accounts)
{
	const struct roger_trace_steps *way;
	int64_t expired = 0;
	size_t i, k;
	int last;

	agree("claimed: timeline, trace", events(accounts, ROGER_EVENT_CLAIMED),
	      steps(accounts, ROGER_STEP_CLAIMED));
	agree("given back: timeline, trace", events(accounts, ROGER_EVENT_RETURNED),
	      steps(accounts, ROGER_STEP_RETURNED));
	agree("expired: timeline, trace", events(accounts, ROGER_EVENT_LEASE_EXPIRED),
	      steps(accounts, ROGER_STEP_LEASE_EXPIRED));
	for (i = 0; i < accounts->trace.traces.count; i++) {
		way = &accounts->trace.traces.items[i].steps;
		for (last = -1, k = 0; k < way->count; k++)
			if (way->items[k].step == ROGER_STEP_CLAIMED ||
			    way->items[k].step == ROGER_STEP_RETURNED ||
			    way->items[k].step == ROGER_STEP_LEASE_EXPIRED ||
			    way->items[k].step == ROGER_STEP_READ)
				last = way->items[k].step;
		expired += last == ROGER_STEP_LEASE_EXPIRED;
	}
	agree("expired now: trace, status", expired, concerns(accounts, "lease"));
}

static void attempts_agree(const struct accounts *accounts)
{
	const struct roger_report_reply *report = &accounts->report;

	agree("late: report, timeline", report->late, events(accounts, ROGER_EVENT_LATE));
	agree("timed out: report, timeline", report->timeouts + report->late,
	      events(accounts, ROGER_EVENT_TIMEOUT));
	agree("timed out: timeline, trace", events(accounts, ROGER_EVENT_TIMEOUT),
	      steps(accounts, ROGER_STEP_TIMEOUT));
	agree("refused: report, timeline", report->errors, events(accounts, ROGER_EVENT_REFUSED));
	agree("given up: report, timeline", report->dead_letters,
	      events(accounts, ROGER_EVENT_DEAD_LETTER));
	agree("given up: report, trace", report->dead_letters, steps(accounts, ROGER_STEP_DEAD));
	agree("dead now: report, status", report->undelivered, concerns(accounts, "dead_letters"));
	agree("dead now: report, trace", report->undelivered, reached(accounts, ROGER_STEP_DEAD));
	agree("attempts add up", report->attempts,
	      report->delivered + report->timeouts + report->errors + report->pending);
	assert_true(report->attempted_delivered <= report->attempted &&
		    report->attempted <= report->attempts);
}

static bool has_event(const struct accounts *accounts, enum roger_event_kind kind,
		      struct roger_str run)
{
	size_t i;

	for (i = 0; i < accounts->timeline.events.count; i++)
		if (accounts->timeline.events.items[i].kind == (int)kind &&
		    rg_str_equal(accounts->timeline.events.items[i].run_id, run))
			return true;
	return false;
}

/* Runs that did not fail are settled, too: those whose result nobody can read. */
static int64_t settled_failures(const struct accounts *accounts)
{
	const struct roger_event *event;
	int64_t count = 0;
	size_t i;

	for (i = 0; i < accounts->timeline.events.count; i++) {
		event = &accounts->timeline.events.items[i];
		count += event->kind == ROGER_EVENT_SETTLED &&
			 (has_event(accounts, ROGER_EVENT_FAILED, event->run_id) ||
			  has_event(accounts, ROGER_EVENT_LOST, event->run_id));
	}
	return count;
}

static void runs_agree(const struct accounts *accounts)
{
	const struct roger_report_reply *report = &accounts->report;
	const int64_t failed = report->failed_runs + report->killed_runs + report->timed_out_runs;

	agree("runs: report, timeline", report->runs, events(accounts, ROGER_EVENT_DISPATCHED));
	agree("lost: report, timeline", report->lost_runs, events(accounts, ROGER_EVENT_LOST));
	agree("lost: report itself", report->lost_runs, report->blocked);
	agree("failed: report, timeline", failed, events(accounts, ROGER_EVENT_FAILED));
	agree("lost or failed, and not settled: timeline, status",
	      report->blocked + failed - /* both */ events(accounts, ROGER_EVENT_LOST) -
		      settled_failures(accounts),
	      concerns(accounts, "blocked") + concerns(accounts, "failed"));
	agree("suspect: report, status", report->suspect,
	      concerns(accounts, "suspect_delivery_failure"));
	if (!events(accounts, ROGER_EVENT_SETTLED))
		agree("not forwarded: report, status", report->not_forwarded,
		      concerns(accounts, "done_but_not_forwarded"));
	agree("under way: report, status", report->active, accounts->status.active_runs);
}

/* Full is what a send would be refused for. */
static void boxes_agree(const struct accounts *accounts)
{
	struct roger_str to;
	const struct roger_send_request request = { .from = RG_STR("amy"),
						    .to = { &to, 1 },
						    .content = RG_STR("x"),
						    .issue = RG_STR("app"),
						    .dry_run = true };
	struct roger_send_reply reply = { 0 };
	int64_t full = 0;
	size_t i;

	for (i = 0; i < 3; i++) {
		to = rg_str(agents[i]);
		full += roger_send(scene.roger, &request, &reply, NULL) == ROGER_EREFUSED;
		roger_reply_free(&reply);
	}
	for (i = 0; i < accounts->status.concerns.count; i++)
		full -= rg_str_is(accounts->status.concerns.items[i].kind, "full");
	agree("full: send, status", full, 0);
	full_boxes += concerns(accounts, "full");
	for (i = 0; i < accounts->timeline.events.count; i++)
		came_up[accounts->timeline.events.items[i].kind]++;
	agree("quiet", accounts->status.quiet, accounts->status.concerns.count == 0);
}

static void play_one(uint64_t number)
{
	struct accounts accounts;

	seed = number;
	drawn = number * UINT64_C(0x9e3779b97f4a7c15);
	scene_open(&scene, scene_stores,
		   "retries: {max_attempts: 2, after: 0}\n"
		   "breaker: {failures: 0}\n"
		   "size_limits: {max_messages_per_issue_phase: 4}\n");
	play();
	read_all(&accounts);
	messages_agree(&accounts);
	leases_agree(&accounts);
	attempts_agree(&accounts);
	runs_agree(&accounts);
	boxes_agree(&accounts);
	forget(&accounts);
	scene_close(&scene);
}

static void histories_have_no_contradiction(void **state)
{
	const char *alone = getenv("ROGER_SEED"), *slow = getenv("ROGER_TEST_SLOW");
	const uint64_t count = slow && *slow && strcmp(slow, "0") != 0 ? 10000 : 600;
	static const enum roger_event_kind expected[] = {
		ROGER_EVENT_SENT,	  ROGER_EVENT_DELIVERED, ROGER_EVENT_LOOKED,
		ROGER_EVENT_READ,	  ROGER_EVENT_LATE,	 ROGER_EVENT_DUE,
		ROGER_EVENT_TIMEOUT,	  ROGER_EVENT_REFUSED,	 ROGER_EVENT_DEAD_LETTER,
		ROGER_EVENT_REDELIVERED,  ROGER_EVENT_STALE,	 ROGER_EVENT_COMPLETED,
		ROGER_EVENT_CLAIMED,	  ROGER_EVENT_RETURNED,	 ROGER_EVENT_LEASE_EXPIRED,
		ROGER_EVENT_ACKNOWLEDGED, ROGER_EVENT_LOST,	 ROGER_EVENT_FAILED,
		ROGER_EVENT_SETTLED,
	};
	uint64_t number;
	size_t i;

	(void)state;
	if (alone)
		play_one(strtoull(alone, NULL, 10));
	for (number = 1; !alone && number <= count; number++)
		play_one(number);
	for (i = 0; !alone && i < sizeof expected / sizeof *expected; i++)
		if (!came_up[expected[i]])
			fail_msg("kind %d never came up", (int)expected[i]);
	assert_true(alone || full_boxes);
}

static int close_scene(void **state)
{
	(void)state;
	scene_close(&scene);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(histories_have_no_contradiction, close_scene),
	};

	unsetenv("ROGER_WORKSPACE");
	setenv("ROGER_AGENT", "tester", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
