/*
 * wake: run the commands that tell agents of their mail, if one is due; or test the command of one
 * agent, to see how long it takes until the agent looks.
 */
#include "ops/tools/trust.h"
#include "ops/edge/waking.h"

#include <stdio.h>

#include "facts/wake.h"
#include "host/chore.h"

enum {
	AT_ONCE = 16, /* commands that run at once */
	FAR_POLL_MS = 100,
	POLL_MS = 2,	  /* poll interval: has a command ended, has an agent looked? */
	GATHER_MS = 1000, /* at most so long, mail is gathered before the next look */
	WITHIN_MS = 10000,
	STRANGERS_MAX = 10, /* unknown names that are reported */
};

/* A span of looking takes this many times its own time until the next one. */
enum { REST_FACTOR = 9 };

/* One look at all agents, or the test of one. */
struct round {
	struct roger *roger;
	struct roger_wake_reply *reply;
	struct rg_waking waking[AT_ONCE];
	size_t count;
	bool test;
	bool stopped;
	int64_t looked_before_ms; /* in a test: the last look before it */
};

/* Does the caller want us to go on? */
static bool may_go_on(struct round *round)
{
	struct roger *roger = round->roger;

	if (roger->tell && !roger->tell(roger->tell_context, "wake", 0, 0))
		round->stopped = true;
	return !round->stopped;
}

static void add_note(struct round *round, const char *text)
{
	rg_arena_note(round->reply->memory, &round->reply->notes, "%s", text);
}

/* ----------------------------------------------------------------- turns -- */

/* Take the agent's turn: one process at a time wakes it; with a server, one of this machine. */
static int take_turn(struct round *round, struct roger_str agent, bool *ret_taken,
		     struct roger_err *err)
{
	struct roger *roger = round->roger;
	char what[RG_NAME_CHARS_MAX + 8];

	if (!roger->remote)
		return rg_engine_turn_take(roger->engine, agent, ret_taken, err);
	snprintf(what, sizeof what, "wake %.*s", RG_STR_ARGS(agent));
	*ret_taken = roger->elsewhere->hold(roger->remote, what);
	return ROGER_OK;
}

static void end_turn(struct round *round, struct roger_str agent)
{
	if (!round->roger->remote)
		rg_engine_turn_end(round->roger->engine, agent);
}

/* -------------------------------------------------------------- attempts -- */

/* Note and remove attempts that have ended; enough: end the others, too. */
static int collect_ended(struct round *round, bool enough, struct roger_err *err)
{
	struct roger_wake_reply *reply = round->reply;
	size_t i = 0;
	bool over;
	int r;

	while (i < round->count) {
		struct roger_wake_attempt ended;

		r = rg_waking_over(round->roger, &round->waking[i], enough, round->test,
				   reply->memory, &over, &ended, err);
		if (over) {
			end_turn(round, round->waking[i].agent->name);
			round->waking[i] = round->waking[--round->count];
		} else {
			i++;
		}
		if (r < 0)
			return r;
		if (over)
			(void)!rg_arena_append(reply->memory, &reply->attempts.items,
					       &reply->attempts.count, &ended, sizeof ended);
	}
	return ROGER_OK;
}

/* Wait until no more than `most` commands run. */
static int await_ended(struct round *round, size_t most, struct roger_err *err)
{
	int r = ROGER_OK;

	while (r == ROGER_OK && round->count > most) {
		r = collect_ended(round, !may_go_on(round), err);
		if (r == ROGER_OK && round->count > most)
			rg_clock_sleep(POLL_MS);
	}
	return r;
}

/* After an error, end all commands and turns. */
static void give_up(struct round *round)
{
	while (round->count)
		(void)!collect_ended(round, true, NULL);
}

/* Start the command, if it is still due: another process may have run it meanwhile.  Needs the
 * agent's turn, which ends if nothing is started. */
static int start_waking(struct round *round, const struct rg_wake_agent *agent,
			struct roger_err *err)
{
	struct roger_wake_step_reply mail;
	int r;

	r = rg_waking_ask(round->roger, agent->name, false, round->reply->memory, &mail, err);
	round->looked_before_ms = mail.looked_at_ms;
	if (r == ROGER_OK && (round->test || (mail.there && !mail.wait_ms))) {
		r = rg_waking_start(round->roger, agent, &mail, round->reply->memory,
				    &round->waking[round->count], err);
		if (r == ROGER_OK) {
			round->count++;
			return ROGER_OK;
		}
		/* With the values of its mail the command is not trusted: go on with others. */
		if (r == ROGER_EREFUSED && !round->test) {
			add_note(round, err->message);
			r = ROGER_OK;
		}
	}
	end_turn(round, agent->name);
	return r;
}

static int try_start(struct round *round, const struct rg_wake_agent *agent, bool *ret_busy,
		     struct roger_err *err)
{
	bool taken = false;
	int r;

	r = await_ended(round, AT_ONCE - 1, err);
	if (r == ROGER_OK && !round->stopped)
		r = take_turn(round, agent->name, &taken, err);
	*ret_busy = !taken && !round->stopped;
	return r == ROGER_OK && taken ? start_waking(round, agent, err) : r;
}

/* ---------------------------------------------------------------- rounds -- */

/* Leave an agent out whose command may not run: note that, and go on with others. */
static int leave_out(struct round *round, const struct rg_wake_agent *agent, bool *ret_left,
		     struct roger_err *err)
{
	char setting[RG_NAME_CHARS_MAX + 16];
	bool may;
	int r;

	snprintf(setting, sizeof setting, "wake.agents.%.*s", RG_STR_ARGS(agent->name));
	r = rg_trust_may_run(round->roger, setting, agent->words, NULL, round->reply->memory, &may,
			     err);
	*ret_left = r == ROGER_OK && !may;
	if (*ret_left)
		add_note(round, round->roger->untold);
	round->roger->untold[0] = '\0';
	return r;
}

/* Fail if none of the commands may run, since wake does nothing else. */
static int check_trust(struct round *round, struct roger_err *err)
{
	const struct rg_config *config = round->roger->workspace->config;
	struct roger_wake_reply unread = { .memory = round->reply->memory };
	struct round unheard = { .roger = round->roger, .reply = &unread };
	bool left = true;
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < config->wake_agent_count && left && r == ROGER_OK; i++)
		r = leave_out(&unheard, &config->wake_agents[i], &left, err);
	if (r < 0 || !left || !config->wake_agent_count)
		return r;
	return rg_fail(
		err, ROGER_EREFUSED, 0,
		"no command of wake.agents is trusted, so nobody is woken; see `roger trust`");
}

static int look_after(struct round *round, const struct rg_wake_agent *agent, struct roger_err *err)
{
	struct roger_wake_reply *reply = round->reply;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_wake_step_reply mail;
	bool busy = false, left = false;
	int r;

	if (!arena)
		return rg_fail_memory(err);
	r = rg_waking_look(round->roger, agent->name, arena, &mail, err);
	if (r == ROGER_OK && mail.there && !mail.wait_ms)
		r = leave_out(round, agent, &left, err);
	if (r < 0 || !mail.there || left)
		return r;
	if (!mail.wait_ms) {
		r = try_start(round, agent, &busy, err);
		if (r == ROGER_OK && busy && !reply->busy++)
			rg_arena_note(reply->memory, &reply->notes,
				      "another process is waking '%.*s' right now",
				      RG_STR_ARGS(agent->name));
		return r;
	}
	reply->waiting++;
	if (!reply->next_ms || mail.wait_ms < reply->next_ms)
		reply->next_ms = mail.wait_ms;
	return ROGER_OK;
}

static int look_after_all(struct round *round, struct roger_err *err)
{
	const struct rg_config *config = round->roger->workspace->config;
	size_t i;
	int r = ROGER_OK;

	round->reply->waiting = round->reply->busy = round->reply->next_ms = 0;
	rg_chore_done(round->roger->workspace, "wake");
	if (!round->roger->remote)
		rg_engine_rest(round->roger->engine);
	for (i = 0; i < config->wake_agent_count && r == ROGER_OK && !round->stopped; i++)
		r = look_after(round, &config->wake_agents[i], err);
	return r < 0 ? r : await_ended(round, 0, err);
}

/* Return a mark that changes when something is stored. */
static uint32_t count_stored(struct round *round)
{
	struct roger *roger = round->roger;
	uint32_t mark = 0;

	if (!roger->remote)
		return rg_engine_wake_count(roger->engine);
	roger->elsewhere->watch(roger->remote, &mark, 0);
	return mark;
}

/* Sleep for left_ms at most, or until something is stored after the mark. */
static int sleep_for(struct round *round, uint32_t mark, int64_t left_ms, bool *ret_stored,
		     struct roger_err *err)
{
	struct roger *roger = round->roger;
	bool may;
	int r;

	if (roger->remote) {
		*ret_stored = roger->elsewhere->watch(roger->remote, &mark,
						      left_ms < GATHER_MS ? left_ms : GATHER_MS);
		return ROGER_OK;
	}
	rg_engine_sleep(roger->engine, mark, left_ms);
	/* Any agent's name makes the engine take in what other programs appended. */
	r = rg_engine_may_have_mail(roger->engine, roger->workspace->config->wake_agents[0].name,
				    &may, err);
	*ret_stored = rg_engine_wake_count(roger->engine) != mark;
	return r;
}

/*
 * Sleep until something was stored, or an attempt is due. Many messages in a row get one look
 * together: no attempt is due before its time, and looking takes a tenth of the time at most.
 */
static int rest_until_due(struct round *round, uint32_t mark, int64_t took_ns, int64_t until_ns,
			  struct roger_err *err)
{
	const struct rg_config *config = round->roger->workspace->config;
	int64_t due_ns = round->reply->next_ms
				 ? rg_clock_monotonic_ns() + round->reply->next_ms * 1000000
				 : INT64_MAX;
	int64_t gather_ms =
		config->wake_after_ms / 10 < GATHER_MS ? config->wake_after_ms / 10 : GATHER_MS;
	int64_t left_ms = (REST_FACTOR * took_ns) / 1000000;
	bool stored = false;
	int r = ROGER_OK;

	rg_clock_sleep(gather_ms > left_ms ? gather_ms : left_ms);
	while (r == ROGER_OK && !stored && may_go_on(round) && count_stored(round) == mark) {
		left_ms = ((due_ns < until_ns ? due_ns : until_ns) - rg_clock_monotonic_ns() +
			   999999) /
			  1000000;
		if (left_ms <= 0)
			break;
		r = sleep_for(round, mark, left_ms, &stored, err);
	}
	return r;
}

/* Is the name unknown?  A mistyped name would never be woken, and nobody would notice. */
static int is_stranger(struct round *round, struct roger_str agent, bool *ret_strange,
		       struct roger_err *err)
{
	struct roger *roger = round->roger;
	struct roger_wake_step_reply mail;
	int r = ROGER_OK;

	if (roger->remote)
		r = rg_waking_look(roger, agent, round->reply->memory, &mail, err);
	*ret_strange = r == ROGER_OK &&
		       !(roger->remote ? mail.known : rg_engine_knows(roger->engine, agent));
	return r;
}

static int note_strangers(struct round *round, struct roger_err *err)
{
	const struct rg_config *config = round->roger->workspace->config;
	struct roger_wake_reply *reply = round->reply;
	size_t strangers = 0, i;
	bool strange;
	int r = ROGER_OK;

	for (i = 0; i < config->wake_agent_count && r == ROGER_OK; i++) {
		r = is_stranger(round, config->wake_agents[i].name, &strange, err);
		if (r < 0 || !strange || strangers++ >= STRANGERS_MAX)
			continue;
		rg_arena_note(reply->memory, &reply->notes,
			      "wake.agents.%.*s: nobody of that name has sent or received anything",
			      RG_STR_ARGS(config->wake_agents[i].name));
	}
	if (strangers > STRANGERS_MAX)
		rg_arena_note(reply->memory, &reply->notes,
			      "and %zu more agent%s that nobody knows", strangers - STRANGERS_MAX,
			      rg_plural((int64_t)strangers - STRANGERS_MAX));
	if (!config->wake_agent_count)
		add_note(round, "nobody is configured to be woken; see wake.agents in config.yaml");
	return r;
}

static int look_for(struct round *round, int64_t timeout_ms, struct roger_err *err)
{
	int64_t until_ns = rg_clock_monotonic_ns() + timeout_ms * 1000000, start_ns;
	uint32_t mark;
	int r;

	/* A call that looks once has looked; one that waits would wait for nothing. */
	if (timeout_ms && !round->roger->workspace->config->wake_agent_count)
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "nobody is configured to be woken; name agents and their commands "
			       "as wake.agents in config.yaml");
	r = check_trust(round, err);
	if (r == ROGER_OK)
		r = note_strangers(round, err);
	while (r == ROGER_OK && round->roger->workspace->config->wake_agent_count) {
		start_ns = rg_clock_monotonic_ns();
		mark = count_stored(round);
		r = look_after_all(round, err);
		if (r < 0 || round->reply->attempts.count || round->stopped || !timeout_ms ||
		    rg_clock_monotonic_ns() >= until_ns)
			break;
		r = rest_until_due(round, mark, rg_clock_monotonic_ns() - start_ns, until_ns, err);
	}
	return r;
}

/* ------------------------------------------------------------------ test -- */

/* Is there a newer look than before, or another oldest message?  *ret_at_ms: now by our clock,
 * since the log may be a server's; 0: no. */
static int has_looked(struct round *round, const struct roger_wake_attempt *attempt,
		      int64_t *ret_at_ms, struct roger_err *err)
{
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct roger_wake_step_reply mail;
	int r = arena ? rg_waking_ask(round->roger, attempt->agent, false, arena, &mail, err)
		      : rg_fail_memory(err);

	*ret_at_ms = 0;
	if (r == ROGER_OK &&
	    (mail.looked_at_ms > round->looked_before_ms ||
	     (attempt->ids.count &&
	      (!mail.ids.count || !rg_str_equal(mail.ids.items[0], attempt->ids.items[0])))))
		*ret_at_ms = rg_clock_ms();
	return r;
}

static int await_look(struct round *round, struct roger_wake_attempt *attempt, int64_t within_ms,
		      struct roger_err *err)
{
	int64_t until_ms = rg_clock_monotonic_ms() + within_ms, at_ms = 0;
	int r = ROGER_OK;

	while (r == ROGER_OK) {
		r = has_looked(round, attempt, &at_ms, err);
		if (r < 0 || at_ms || rg_clock_monotonic_ms() >= until_ms || !may_go_on(round))
			break;
		rg_clock_sleep(round->roger->remote ? FAR_POLL_MS : POLL_MS);
	}
	attempt->looked = at_ms != 0;
	/* Round up to whole milliseconds; a clock that was set back tells nothing. */
	if (at_ms == attempt->started_at_ms)
		attempt->looked_ms = 1;
	else if (at_ms > attempt->started_at_ms)
		attempt->looked_ms = at_ms - attempt->started_at_ms;
	return r;
}

/* Start the test.  Messages that were shown before count as new, so that the next look shows. */
static int start_test(struct round *round, const struct rg_wake_agent *agent, struct roger_err *err)
{
	struct roger_wake_step_reply mail;
	bool busy;
	int r;

	r = rg_waking_ask(round->roger, agent->name, true, round->reply->memory, &mail, err);
	if (r < 0)
		return r;
	r = try_start(round, agent, &busy, err);
	if (r == ROGER_OK && busy)
		r = rg_fail(err, ROGER_ETIMEOUT, 0,
			    "another process is waking '%.*s' right now; try again",
			    RG_STR_ARGS(agent->name));
	return r < 0 ? r : await_ended(round, 0, err);
}

static int test_command(struct round *round, const struct roger_wake_request *request,
			struct roger_err *err)
{
	const struct rg_wake_agent *agent =
		rg_config_wake(round->roger->workspace->config, request->agent);
	const struct roger_wake_attempt_list *attempts = &round->reply->attempts;
	int64_t within_ms = request->within_ms ? request->within_ms : WITHIN_MS;
	bool left;
	int r;

	if (!agent)
		return rg_fail_member(err, ROGER_ENOENT, "agent",
				      "agent: no command is configured for '%.*s'; name one as "
				      "wake.agents.%.*s in config.yaml",
				      RG_STR_ARGS(request->agent), RG_STR_ARGS(request->agent));
	r = leave_out(round, agent, &left, err);
	if (r == ROGER_OK && left)
		r = rg_fail_member(
			err, ROGER_EREFUSED, "agent",
			"agent: the command for '%.*s' is not trusted; see `roger trust`",
			RG_STR_ARGS(agent->name));
	if (r == ROGER_OK)
		r = start_test(round, agent, err);
	if (r < 0 || !attempts->count)
		return r;
	if (!attempts->items[0].count) {
		add_note(round,
			 "it has no unread mail: send it some to see how long it takes to look");
		return ROGER_OK;
	}
	/* A command that failed has woken nobody: do not wait. */
	if (!attempts->items[0].ok)
		within_ms = 0;
	return await_look(round, (struct roger_wake_attempt *)(uintptr_t)attempts->items, within_ms,
			  err);
}

/* ------------------------------------------------------------------ verb -- */

static int check_wake(const struct roger_wake_request *request, struct roger_err *err)
{
	if (!request->test && request->within_ms)
		return rg_fail_member(
			err, ROGER_EUSAGE, "within",
			"within: only with --test; to go on looking for a time, use --timeout");
	if (!request->test && request->agent.length)
		return rg_fail_member(
			err, ROGER_EUSAGE, "agent",
			"agent: only with --test; without it all agents with due mail are woken");
	if (request->test && request->timeout_ms)
		return rg_fail_member(err, ROGER_EUSAGE, "timeout",
				      "timeout: expected without --test; a test waits as long as "
				      "--within says");
	if (request->test && !request->agent.length)
		return rg_fail_member(err, ROGER_EUSAGE, "agent",
				      "which agent? `roger wake --test NAME`");
	return ROGER_OK;
}

/* With a server, open this machine's workspace: it says whom to wake, how, and what is trusted. */
static int open_own(struct roger *roger, struct roger_err *err)
{
	int r = rg_workspace_open(NULL, &roger->workspace, err);

	return r == ROGER_ENOENT
		       ? rg_fail(err, r, 0,
				 "no workspace here names commands: on this machine wake runs "
				 "those "
				 "of its own wake.agents; `ROGER_SERVER= roger init` makes one, "
				 "for .roger/config.yaml")
		       : r;
}

int rg_verb_wake(struct roger *roger, const struct roger_wake_request *request,
		 struct roger_wake_reply *reply, struct roger_err *err)
{
	struct round round = { .roger = roger, .reply = reply, .test = request->test };
	int r;

	r = check_wake(request, err);
	if (r == ROGER_OK && !roger->workspace)
		r = open_own(roger, err);
	if (r == ROGER_OK)
		r = request->test ? test_command(&round, request, err)
				  : look_for(&round, request->timeout_ms, err);
	give_up(&round);
	return r;
}
