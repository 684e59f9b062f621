/* waking: which mail waits for an agent, when telling it is due, and one run of its command. */
#include "ops/edge/waking.h"

#include "ops/note.h"
#include "ops/reading.h"
#include "ops/tools/trust.h"
#include "facts/wake.h"

/* Count no more attempts than it takes to reach the longest backoff. */
enum { ATTEMPTS_MAX = 40 };

/* --------------------------------------------------- what the log tells -- */

/* The newest entry of a step, with its details. */
struct step {
	bool there;
	int64_t at_ms;
	int64_t log_position; /* order of the log */
	int64_t position;     /* of the newest message that it names; 0: not known */
	struct roger_str last_id;
};

static struct step read_step(struct rg_reading *reading, const struct rg_log_entry *entry)
{
	struct step step = { .there = true,
			     .at_ms = entry->at_ms,
			     .log_position = entry->position };
	struct rg_note note;

	if (!rg_reading_got(reading,
			    rg_note_read(entry->text, reading->arena, &note, reading->err)))
		return step;
	step.position = note.position;
	if (note.ids.count)
		step.last_id = note.ids.items[note.ids.count - 1];
	return step;
}

/* Find the last look, and its position, since a note of receive or claim names only ids. */
static struct step find_last_look(struct rg_reading *reading, struct roger_str agent)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .owner = agent,
					    .step = rg_note_step_name(RG_STEP_LOOK),
					    .newest = true,
					    .limit = 1 };
	const struct rg_log_entries found = rg_read_entries(reading, &query);
	struct roger_message_list named = { 0 };
	struct step look = { 0 };
	const struct rg_query by_id = { .ids = &look.last_id, .id_count = 1, .anywhere = true };

	if (found.count)
		look = read_step(reading, &found.items[0]);
	if (!look.position && look.last_id.length)
		named = rg_read_messages(reading, &by_id);
	if (named.count)
		look.position = named.items[0].position;
	return look;
}

/* Count the attempts for a message since the last look, by the order in the log, not by clocks. */
static void count_attempts(struct rg_reading *reading, struct roger_str agent,
			   const struct step *look, int64_t position, struct rg_wake_case *known)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .owner = agent,
					    .step = rg_note_step_name(RG_STEP_WAKE),
					    .newest = true,
					    .limit = ATTEMPTS_MAX };
	const struct rg_log_entries found = rg_read_entries(reading, &query);
	struct step wake;
	size_t i;

	for (i = 0; i < found.count; i++) {
		if (look->there && found.items[i].position < look->log_position)
			break;
		wake = read_step(reading, &found.items[i]);
		if (wake.position < position)
			break;
		if (known->attempts++ == 0)
			known->attempt_ms = wake.at_ms;
	}
}

/* ----------------------------------------------------------------- mail -- */

static struct rg_query free_mail(struct roger_str agent)
{
	return (struct rg_query){
		.unread = true, .to = agent, .gets = true, .free_at_ms = rg_clock_ms(), .limit = 1
	};
}

/*
 * Find which message waits, and since when: the oldest that is newer than all shown ones, else the
 * oldest that was shown and left; it waits since the last look, or since it came if that was later.
 */
static int64_t find_waiting(struct rg_reading *reading, struct roger_str agent,
			    const struct roger_message *oldest, const struct step *look,
			    int64_t *ret_since_ms)
{
	struct rg_query query = free_mail(agent);
	struct roger_message_list found = { 0 };

	query.after = look->position;
	if (look->position >= oldest->position)
		found = rg_read_messages(reading, &query);
	if (found.count)
		oldest = &found.items[0];
	*ret_since_ms = look->there && look->at_ms > oldest->created_at_ms ? look->at_ms
									   : oldest->created_at_ms;
	return oldest->position;
}

static void judge_wait(struct rg_reading *reading, struct roger_str agent,
		       const struct roger_message *oldest, bool with_log,
		       struct roger_wake_step_reply *mail)
{
	const struct rg_config *config = reading->roger->workspace->config;
	const struct rg_wake_rules rules = { config->wake_after_ms, config->wake_backoff_ms,
					     config->wake_backoff_most_ms };
	struct rg_wake_case known = { .since_ms = oldest->created_at_ms };
	struct step look;
	int64_t position;

	/* Mail that has just come waits at least so long, whatever the log says. */
	mail->wait_ms = rg_wake_wait(&rules, &known, rg_clock_ms());
	if (mail->wait_ms && !with_log)
		return;
	look = find_last_look(reading, agent);
	position = find_waiting(reading, agent, oldest, &look, &known.since_ms);
	count_attempts(reading, agent, &look, position, &known);
	mail->attempts = known.attempts;
	mail->wait_ms = rg_wake_wait(&rules, &known, rg_clock_ms());
}

/* Collect what goes into command, environment and log, without ids that are not names. */
static void describe_mail(struct rg_reading *reading, struct roger_str agent,
			  struct roger_wake_step_reply *mail)
{
	struct rg_query query = free_mail(agent);
	struct roger_message_list found;
	size_t i;

	query.limit = RG_NOTED_IDS_MAX;
	found = rg_read_messages(reading, &query);
	if (!found.count)
		return;
	for (i = 0; i < found.count; i++)
		if (rg_name_valid(found.items[i].id))
			(void)!rg_arena_add(reading->arena, &mail->ids, found.items[i].id);
	mail->issue = found.items[0].issue;
	mail->id = rg_name_valid(found.items[0].id) ? found.items[0].id : RG_STR("");
	query.limit = 1;
	query.newest = true;
	found = rg_read_messages(reading, &query);
	if (found.count)
		mail->position = found.items[0].position;
}

static struct roger_str only_name(struct roger_str text)
{
	return rg_name_valid(text) ? text : RG_STR("");
}

int rg_waking_ask(struct roger *roger, struct roger_str agent, bool test, struct rg_arena *arena,
		  struct roger_wake_step_reply *ret_mail, struct roger_err *err)
{
	const struct roger_wake_step_request request = { .step = RG_WAKE_LOOKS,
							 .agent = agent,
							 .test = test };
	int r;

	*ret_mail = (struct roger_wake_step_reply){ .memory = arena };
	r = rg_op_ask(roger, &rg_op_wake_step, &request, ret_mail, err);
	/* Only names go into the words of a command, whoever gives them. */
	ret_mail->id = only_name(ret_mail->id);
	ret_mail->issue = only_name(ret_mail->issue);
	ret_mail->session = only_name(ret_mail->session);
	return r;
}

/* Look at an agent's mail; details: with count, ids, id, issue and position, for an attempt. */
static int look_at_mail(struct roger *roger, struct roger_str agent, bool details,
			struct rg_arena *arena, struct roger_wake_step_reply *ret_mail,
			struct roger_err *err)
{
	const struct rg_query query = free_mail(agent),
			      all = { .unread = true, .to = agent, .gets = true };
	struct rg_reading reading = { roger, arena, err, ROGER_OK };
	struct rg_engine *engine = roger->engine;
	struct roger_message_list found;
	bool may;

	*ret_mail = (struct roger_wake_step_reply){ .memory = arena };
	if (!rg_reading_got(&reading, rg_engine_may_have_mail(engine, agent, &may, err)) || !may)
		return reading.r;
	found = rg_read_messages(&reading, &query);
	/* Counting also corrects the figure that rg_engine_may_have_mail() uses. */
	if (details || !found.count)
		rg_reading_got(&reading, rg_engine_count(engine, &all, &ret_mail->count, err));
	if (!found.count)
		return reading.r;
	ret_mail->there = true;
	judge_wait(&reading, agent, &found.items[0], details, ret_mail);
	if (details)
		describe_mail(&reading, agent, ret_mail);
	return reading.r < 0 ? reading.r : rg_kept(!rg_arena_failed(arena), err);
}

int rg_waking_look(struct roger *roger, struct roger_str agent, struct rg_arena *arena,
		   struct roger_wake_step_reply *ret_mail, struct roger_err *err)
{
	return roger->remote ? rg_waking_ask(roger, agent, false, arena, ret_mail, err)
			     : look_at_mail(roger, agent, false, arena, ret_mail, err);
}

/* -------------------------------------------------------------- starting -- */

static struct roger_strs fill_words(const struct rg_wake_agent *agent,
				    const struct rg_wake_values *values, struct rg_arena *arena)
{
	struct roger_str *words = rg_arena_get(arena, agent->words.count * sizeof *words);
	size_t i;

	for (i = 0; words && i < agent->words.count; i++) {
		struct rg_buf word = { .maximum = SIZE_MAX };

		rg_wake_fill(agent->words.items[i], values, &word);
		words[i] = rg_arena_take(arena, &word);
	}
	return (struct roger_strs){ words, agent->words.count };
}

int rg_waking_start(struct roger *roger, const struct rg_wake_agent *agent,
		    const struct roger_wake_step_reply *mail, struct rg_arena *arena,
		    struct rg_waking *ret_waking, struct roger_err *err)
{
	struct rg_wake_values values = { agent->name, mail->issue, mail->id, mail->count,
					 mail->session };
	struct rg_program program = { .timeout_ms = roger->workspace->config->wake_timeout_ms };
	struct roger_strs *more = &program.more;
	int r;

	program.words = fill_words(agent, &values, arena);
	rg_arena_note(arena, more, "ROGER_AGENT=%.*s", RG_STR_ARGS(values.agent));
	rg_arena_note(arena, more, "ROGER_WORKSPACE=%s", roger->workspace->root);
	rg_arena_note(arena, more, "ROGER_WAKE_COUNT=%lld", (long long)values.count);
	rg_arena_note(arena, more, "ROGER_WAKE_ISSUE=%.*s", RG_STR_ARGS(values.issue));
	rg_arena_note(arena, more, "ROGER_WAKE_ID=%.*s", RG_STR_ARGS(values.id));
	r = rg_kept(!rg_arena_failed(arena), err);
	if (r == ROGER_OK)
		r = rg_trust_check_filled(roger, agent->words, &program, arena, err);
	if (r < 0)
		return r;
	*ret_waking = (struct rg_waking){ .agent = agent, .mail = *mail, .at_ms = rg_clock_ms() };
	return rg_program_launch(&program, &ret_waking->launched, err);
}

/* ---------------------------------------------------------------- ending -- */

/* Write the note of an attempt, synced: the attempt is reported only then. */
static int write_note(struct roger *roger, const struct roger_wake_step_request *woken,
		      int64_t at_ms, struct roger_err *err)
{
	const struct rg_note note = { .kind = RG_NOTE_WOKEN,
				      .entry = { .task = woken->issue,
						 .at_ms = at_ms,
						 .status =
							 woken->ok ? ROGER_SUCCESS : ROGER_FAILURE,
						 .message = woken->ended },
				      .agent = woken->agent,
				      .ids = woken->ids,
				      .count = woken->count,
				      .position = woken->position,
				      .attempt = woken->attempt,
				      .program = woken->program,
				      .test = woken->test,
				      .more = { { "took_ms", woken->took_ms } } };

	return rg_note_write(roger, &note, true, err);
}

static int tell_woken(struct roger *roger, const struct rg_waking *waking,
		      const struct roger_wake_attempt *attempt, bool test, struct rg_arena *arena,
		      struct roger_err *err)
{
	const struct roger_wake_step_request woken = { .step = RG_WAKE_WOKEN,
						       .agent = waking->agent->name,
						       .test = test,
						       .ids = waking->mail.ids,
						       .issue = waking->mail.issue,
						       .count = waking->mail.count,
						       .position = waking->mail.position,
						       .attempt = attempt->attempt,
						       .program = waking->agent->words.items[0],
						       .ok = attempt->ok,
						       .ended = attempt->ended,
						       .took_ms = attempt->took_ms };
	struct roger_wake_step_reply reply = { .memory = arena };

	return roger->remote ? rg_op_ask(roger, &rg_op_wake_step, &woken, &reply, err)
			     : write_note(roger, &woken, waking->at_ms, err);
}

int rg_waking_over(struct roger *roger, struct rg_waking *waking, bool enough, bool test,
		   struct rg_arena *arena, bool *ret_over, struct roger_wake_attempt *ret_attempt,
		   struct roger_err *err)
{
	const struct rg_program program = { .timeout_ms =
						    roger->workspace->config->wake_timeout_ms };
	struct roger_wake_attempt attempt = { 0 };
	struct rg_program_result result;
	struct rg_buf ended;
	int r;

	*ret_over = rg_program_over(&waking->launched, enough, &result);
	if (!*ret_over)
		return ROGER_OK;
	rg_buf_init(&ended, SIZE_MAX);
	if (enough && result.end == RG_PROGRAM_TIMED_OUT)
		rg_buf_add_text(&ended, "stopped");
	else
		rg_program_describe(&program, &result, &ended);
	attempt = (struct roger_wake_attempt){
		.agent = waking->agent->name,
		.ids = waking->mail.ids,
		.count = waking->mail.count,
		.attempt = waking->mail.attempts + 1,
		.ok = result.end == RG_PROGRAM_EXITED && result.status == 0,
		.started_at_ms = waking->at_ms,
		.took_ms = waking->launched.took_ns / 1000000,
	};
	r = rg_arena_keep(arena, &ended, &attempt.ended)
		    ? tell_woken(roger, waking, &attempt, test, arena, err)
		    : rg_fail_memory(err);
	if (r == ROGER_OK)
		*ret_attempt = attempt;
	return r;
}

/* ------------------------------------------------------------------ verb -- */

static int answer_look(struct roger *roger, const struct roger_wake_step_request *request,
		       struct roger_wake_step_reply *reply, struct roger_err *err)
{
	struct rg_reading reading = { roger, reply->memory, err, ROGER_OK };
	struct step look;
	int r = look_at_mail(roger, request->agent, true, reply->memory, reply, err);

	if (r == ROGER_OK && request->test)
		rg_engine_note_shown(roger->engine, request->agent, reply->ids.items,
				     reply->ids.count, false);
	if (r == ROGER_OK)
		r = rg_arrive_last(roger, request->agent, reply->memory, &reply->session, err);
	if (r < 0)
		return r;
	look = find_last_look(&reading, request->agent);
	reply->looked_at_ms = look.at_ms;
	reply->known = rg_engine_knows(roger->engine, request->agent);
	return reading.r;
}

int rg_verb_wake_step(struct roger *roger, const struct roger_wake_step_request *request,
		      struct roger_wake_step_reply *reply, struct roger_err *err)
{
	return request->step == RG_WAKE_LOOKS
		       ? answer_look(roger, request, reply, err)
		       : write_note(roger, request, rg_clock_ms() - request->took_ms, err);
}
