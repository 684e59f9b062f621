/*
 * ask - make a request again, with the same key, until the server has said what became of it.
 *
 * A connection may break at any byte.  The server keeps its answers for a while by their keys, so
 * a further try is answered with the first result and nothing is done twice.
 */
#include <limits.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/id.h"
#include "base/limits.h"
#include "data/json.h"
#include "data/record.h"
#include "remote/remote.h"

enum {
	/* If nothing answers: how long until a server that was started again is there. */
	CONNECT_TRIES_MS = 1500,
	/* A hurried send is safe on disk, under its key; the tool of a hook waits for it. */
	HURRY_MS = 3 * 1000,
	/* With several servers: how long until another one leads. */
	TURN_TRIES_MS = 10 * 1000,
	/* If the request may have been done: how long to learn whether it was.  A try that had
	 * all of its time is the last one. */
	TRIES_MS = RG_ANSWER_WAIT_MS - 500,
	PAUSE_MS_MIN = 10,
	PAUSE_MS_MAX = 1000,
	TURN_PAUSE_MS_MAX = 100,
	SLOW_PAUSE_MS_MAX = 250,
};

static const char problem_type[] = "urn:roger:error:";

int remote_new_key(char to[REMOTE_KEY_BYTES], struct roger_err *err)
{
	uint64_t bits[2];
	int r = rg_random(bits, sizeof bits, err);

	/* All keys have this form, task:verb:cycle. */
	snprintf(to, REMOTE_KEY_BYTES, RG_KEY_OF_CLIENT "%016llx%016llx:status-update:0",
		 (unsigned long long)bits[0], (unsigned long long)bits[1]);
	return r;
}

/* ----------------------------------------------------------------- errors -- */

/* Read a problem; false: it is not one of roger's. */
static bool read_problem(const struct remote_answer *answer, struct rg_arena *arena,
			 struct rg_problem *ret)
{
	const struct rg_json *json;

	*ret = (struct rg_problem){ 0 };
	return rg_json_read_within(rg_buf_str(&answer->body), arena, &json, NULL) == ROGER_OK &&
	       rg_answer_decode(&rg_problem_record, rg_json_root(json), ret, arena, NULL) ==
		       ROGER_OK &&
	       rg_str_begins(ret->type, problem_type);
}

/* The code with which the command ends as it would without a server. */
static enum roger_code code_of(const struct rg_problem *problem, long status)
{
	const struct rg_exit *row;

	for (row = rg_exits; row->code; row++)
		if (*row->code && problem->exit == row->status)
			return (enum roger_code) - row->status;
	return status == 401 || status == 403 ? ROGER_EREFUSED
	       : status == 413		      ? ROGER_EDATA
	       : status < 400		      ? ROGER_ECONFIG
	       : status < 500		      ? ROGER_EUSAGE
					      : ROGER_EENGINE;
}

/* The member "token" is for a request that this token may not make.  The store is not named: it
 * is not this program's to look for. */
static int fail_problem(const struct rg_problem *problem, long status, struct roger_err *err)
{
	enum roger_code code = code_of(problem, status);
	char member[REMOTE_MEMBER_BYTES] = "";

	if (!problem->exit && code == ROGER_EREFUSED)
		snprintf(member, sizeof member, "token");
	else if (code != ROGER_EENGINE)
		snprintf(member, sizeof member, "%.*s", RG_STR_CUT(problem->member));
	rg_fail_member(err, code, member, "%.*s%s", RG_STR_ARGS(problem->detail),
		       status == 401 ? "; set it in ROGER_TOKEN" : "");
	if (err && problem->item > 0 && problem->item <= INT_MAX)
		err->item = (int)problem->item;
	return code;
}

static int fail_foreign(const struct remote *remote, long status, struct roger_err *err)
{
	if (status >= 300 && status < 400)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "%.200s: it sends elsewhere (status %ld), which is not followed: "
			       "the token is for this address alone",
			       remote->place->name, status);
	return rg_fail(err, ROGER_EENGINE, 0,
		       "%.200s: its answer is not one of roger's (status %ld); is ROGER_SERVER "
		       "right?",
		       remote->place->name, status);
}

/* ------------------------------------------------------------------- tries -- */

/* Is the outcome still open?  A proxy answered, or the server has too much to do, does it now,
 * or does not lead. */
static bool is_passing(const struct rg_problem *problem, bool known, long status)
{
	if (status == 429 || status == 502 || status == 504)
		return true;
	if (status == 409)
		return known && rg_str_is(problem->type, "urn:roger:error:under-way");
	return status == 503 && (!problem->exit || (known && rg_str_is(problem->member, "leader")));
}

/* Report how far the request is; false: the caller no longer waits. */
static bool tell_progress(struct remote *remote, const struct rg_problem *problem)
{
	if (!remote->tell || !problem->what.length)
		return true;
	snprintf(remote->what, sizeof remote->what, "%.*s", RG_STR_CUT(problem->what));
	return remote->tell(remote->tell_context, remote->what, problem->done, problem->total);
}

/* What an answer means: done, an error, or ROGER_ETIMEOUT (*ret_again: try again). */
static int judge_answer(struct remote *remote, const struct remote_answer *answer, bool *ret_again,
			struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct rg_problem problem;
	bool known;

	if (answer->status == 200)
		return ROGER_OK;
	if (!arena)
		return rg_fail_memory(err);
	known = read_problem(answer, arena, &problem);
	*ret_again = is_passing(&problem, known, answer->status) && tell_progress(remote, &problem);
	/* No verb says that: the path is wrong, or roger is older there. */
	if (known && answer->status == 404 && !problem.exit)
		return rg_fail(err, ROGER_EENGINE, 0,
			       "%.200s: %.*s; is ROGER_SERVER right, and its roger as new as this?",
			       remote->place->name, RG_STR_CUT(problem.detail));
	if (known)
		return *ret_again || answer->status == 409
			       ? rg_fail(err, ROGER_ETIMEOUT, 0, "%.200s: %.*s",
					 remote->place->name, RG_STR_ARGS(problem.detail))
			       : fail_problem(&problem, answer->status, err);
	if (remote_is_of_proxy(answer->status))
		return remote_fail_proxy(remote, answer->status, err);
	return fail_foreign(remote, answer->status, err);
}

static int fail_unreached(struct remote *remote, const struct remote_request *request,
			  bool maybe_done, struct roger_err *err)
{
	char why[sizeof err->message], since[32] = "";

	remote->unreached = true;
	remote->lost = remote->hurried;
	snprintf(remote->lost_why, sizeof remote->lost_why, "%.400s", err->message);
	/* There is no server, and the error says so already. */
	if (err->code == ROGER_EENGINE)
		return ROGER_EENGINE;
	if (remote->down_ms)
		rg_clock_print_utc(remote->down_ms, since);
	remote_down_note(remote, true);
	snprintf(why, sizeof why, "%.400s%s%s", err->message, *since ? "; down since " : "", since);
	if (!request->body.data)
		return rg_fail(err, ROGER_ETIMEOUT, 0, "%s", why);
	/* What comes after the outbox was not asked for. */
	if (!maybe_done || request->queued)
		return rg_fail(err, ROGER_ETIMEOUT, 0, "%.400s; nothing was done", why);
	return rg_fail(err, ROGER_ETIMEOUT, 0,
		       "%.300s; it is not known whether it was done%s%.60s%s", why,
		       *remote->key ? ": the same with --key " : "", remote->key,
		       *remote->key ? " is done at most once" : "");
}

/* The server is there, but what it waits for is not. */
static int fail_late(struct remote *remote, const struct remote_request *request,
		     struct roger_err *err)
{
	rg_fail(err, ROGER_ETIMEOUT, 0, "%.200s: it is there, and has no answer in time",
		remote->place->name);
	return fail_unreached(remote, request, request->body.data, err);
}

enum remote_outcome remote_try(struct remote *remote, const struct remote_request *request,
			       struct remote_answer *answer, struct roger_err *err)
{
	enum remote_outcome outcome = REMOTE_NEVER;

	rg_buf_deinit(&answer->body);
	*answer = (struct remote_answer){ 0 };
	rg_buf_init(&answer->body, REMOTE_ANSWER_BYTES_MAX);
	if (!remote->connection)
		remote->connection = remote->wire->open(remote);
	if (remote->connection)
		outcome = remote->wire->ask(remote, request, answer, err);
	else
		rg_fail_memory(err);
	if (!answer->too_long)
		return outcome;
	rg_fail(err, ROGER_EENGINE, 0, "%.200s: its answer is too long; ask for less",
		remote->place->name);
	return REMOTE_NEVER;
}

static int64_t ms_since(int64_t start_ns)
{
	return (rg_clock_monotonic_ns() - start_ns) / 1000000;
}

int remote_ask(struct remote *remote, struct remote_request *request, struct remote_answer *answer,
	       struct roger_err *err)
{
	const int64_t start_ns = rg_clock_monotonic_ns();
	int64_t heard_ns = start_ns; /* when the server last said that it is at work */
	const int64_t most_ms = request->slow		  ? SLOW_PAUSE_MS_MAX
				: remote->place_count > 1 ? TURN_PAUSE_MS_MAX
							  : PAUSE_MS_MAX;
	int64_t pause_ms = PAUSE_MS_MIN;
	enum remote_outcome outcome;
	bool maybe_done = false, again;
	size_t turns = 0;
	int r;

	remote_down_find(remote);
	if (remote->lost)
		rg_fail(err, ROGER_ETIMEOUT, 0, "%s", remote->lost_why);
	if (remote->lost || (remote->down_ms && !remote_is_there(remote, err)))
		return fail_unreached(remote, request, false, err);
	if (remote->place_count > 1 && request->turn_ms)
		request->within_ms = request->turn_ms;
	if (remote->hurried && request->within_ms > HURRY_MS)
		request->within_ms = HURRY_MS;
	for (;; request->since_ms = ms_since(start_ns) + 1) {
		outcome = remote_try(remote, request, answer, err);
		again = outcome != REMOTE_NEVER;
		r = outcome == REMOTE_NEVER ? (int)err->code : ROGER_ETIMEOUT;
		if (outcome == REMOTE_ANSWERED) {
			again = false;
			r = judge_answer(remote, answer, &again, err);
		}
		if (outcome == REMOTE_ANSWERED && !remote_is_of_proxy(answer->status))
			remote_down_note(remote, false);
		/* If a proxy reaches nobody, a send may be kept on disk here. */
		remote->unreached =
			outcome == REMOTE_ANSWERED && remote_is_of_proxy(answer->status);
		if (r == ROGER_ETIMEOUT && !again && strcmp(err->member, "late") == 0)
			return fail_late(remote, request, err);
		if (!again)
			return r;
		if (request->slow && answer->status == 409)
			heard_ns = rg_clock_monotonic_ns();
		maybe_done |= outcome == REMOTE_BROKEN || answer->status == 409 ||
			      answer->status == 502 || answer->status == 504;
		/* One of several servers leads; the others say so, or are not there. */
		if (remote_turn(remote) && ++turns < remote->place_count)
			continue;
		turns = 0;
		if (remote_is_interrupted() || remote->hurried ||
		    ms_since(heard_ns) > (maybe_done		    ? TRIES_MS
					  : remote->place_count > 1 ? TURN_TRIES_MS
								    : CONNECT_TRIES_MS))
			return fail_unreached(remote, request, maybe_done, err);
		rg_clock_sleep(pause_ms);
		pause_ms = pause_ms * 2 < most_ms ? pause_ms * 2 : most_ms;
	}
}
