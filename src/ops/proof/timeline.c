/* timeline: what all logs know of an issue, a task, a run or an agent, as one history. */
#include "ops/keys/attempt.h"
#include "ops/proof/telling.h"

#include "base/nearest.h"
#include "ops/runs/run_list.h"

/* ------------------------------------------------------- what belongs to it -- */

/* How many of the logs are asked for a task: the two of mail, or the activity log, too. */
enum { LOGS_OF_MAIL = 2, LOGS_OF_TASKS };

static int tell_task(struct rg_telling *telling, struct roger_str task, size_t logs_count,
		     struct roger_err *err)
{
	static const enum rg_log logs[LOGS_OF_TASKS] = { RG_LOG_SENDS, RG_LOG_DEAD_LETTERS,
							 RG_LOG_ACTIVITY };
	struct rg_log_query query = { .task = task };
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < logs_count && r == ROGER_OK; i++) {
		query.log = logs[i];
		r = rg_tell_entries(telling, query, err);
	}
	return r;
}

/* Tell of messages with a key of the task; the send log may have purged some, and have others. */
static int tell_keyed(struct rg_telling *telling, struct roger_str task, struct roger_err *err)
{
	const struct rg_query query = { .key = task, .of_task = true };
	int r = rg_tell_messages(telling, query, err);

	return r < 0 ? r : rg_tell_attempted(telling, err);
}

/* Tell of the messages that the runs gathered so far name. */
static int tell_results(struct rg_telling *telling, struct roger_err *err)
{
	const struct roger_run *run;
	struct roger_str *ids;
	size_t count = 0, i;

	ids = rg_arena_get(telling->arena, 2 * telling->runs.count * sizeof *ids);
	if (!ids)
		return rg_fail_memory(err);
	for (i = 0; i < telling->runs.count; i++) {
		run = &telling->runs.items[i].run;
		if (run->result_message.length)
			ids[count++] = run->result_message;
		if (run->evidence.length)
			ids[count++] = run->evidence;
	}
	return rg_tell_ids(telling, ids, count, err);
}

static int tell_issue(struct rg_telling *telling, struct roger_str issue, struct roger_err *err)
{
	const struct rg_query query = { .issue = issue };
	char task[RG_FILE_NAME_BYTES];
	size_t i;
	int r;

	r = rg_tell_messages(telling, query, err);
	if (r == ROGER_OK)
		r = rg_tell_attempts(telling, issue, err);
	if (r == ROGER_OK)
		r = tell_task(telling, issue, LOGS_OF_TASKS, err);
	if (r == ROGER_OK)
		r = rg_tell_runs(telling, issue, RG_RUN_ISSUE | RG_RUN_TASK, err);
	/* Tell what was sent, or could not be, about these runs. */
	for (i = 0; i < telling->runs.count && r == ROGER_OK; i++) {
		rg_workspace_file_name(telling->runs.items[i].run.run, "", task);
		r = tell_task(telling, rg_str(task), LOGS_OF_MAIL, err);
	}
	return r;
}

static int tell_of_task(struct rg_telling *telling, struct roger_str task, struct roger_err *err)
{
	int r;

	r = tell_task(telling, task, LOGS_OF_TASKS, err);
	if (r == ROGER_OK)
		r = tell_keyed(telling, task, err);
	return r < 0 ? r : rg_tell_runs(telling, task, RG_RUN_TASK, err);
}

/* The messages about a run have keys whose task is its file's name. */
static int tell_run(struct rg_telling *telling, struct roger_str run_id, struct roger_err *err)
{
	char task[RG_FILE_NAME_BYTES];
	int r;

	rg_workspace_file_name(run_id, "", task);
	r = rg_tell_runs(telling, run_id, RG_RUN_ITSELF, err);
	if (r == ROGER_OK)
		r = tell_task(telling, rg_str(task), LOGS_OF_TASKS, err);
	if (r == ROGER_OK && !rg_str_is(run_id, task))
		r = tell_task(telling, run_id, LOGS_OF_TASKS, err);
	if (r == ROGER_OK)
		r = tell_keyed(telling, rg_str(task), err);
	if (r == ROGER_OK)
		r = tell_results(telling, err);
	return r < 0 ? r : rg_tell_attempts(telling, rg_str(task), err);
}

/* Tell of mail in boxes that the agent took over: what waits there, and what it has read. */
static int tell_taken_over(struct rg_telling *telling, struct roger_str agent,
			   struct roger_err *err)
{
	const struct rg_query query = { .to = agent,
					.gets = true,
					.anywhere = true,
					.until_ms = telling->until_ms,
					.newest = true,
					.limit = telling->limit };
	struct rg_engine *engine = telling->roger->engine;
	struct roger_message_list found = { 0 };
	const struct roger_message *message;
	struct roger_strs boxes, ids = { 0 };
	size_t i;
	int r;

	r = rg_engine_boxes(engine, agent, telling->arena, &boxes, err);
	if (r == ROGER_OK && boxes.count > 1)
		r = rg_engine_find(engine, &query, telling->arena, &found, err);
	for (i = 0; r == ROGER_OK && i < found.count; i++) {
		message = &found.items[i];
		if (rg_str_equal(message->to, agent) ||
		    (message->read && !rg_str_equal(message->read_by, agent)))
			continue;
		(void)!rg_arena_add(telling->arena, &ids, message->id);
	}
	return r < 0 ? r : rg_tell_ids(telling, ids.items, ids.count, err);
}

static bool is_empty(const struct rg_telling *telling)
{
	return !telling->history.count && !telling->runs.count;
}

static int tell_agent(struct rg_telling *telling, struct roger_str agent, struct roger_err *err)
{
	enum { ACTIVITY = 4 };
	const bool own = telling->own;
	const struct rg_query messages[] = { { .from = agent }, { .to = agent } };
	const struct rg_log_query entries[] = {
		{ .log = RG_LOG_SENDS, .owner = agent },
		{ .log = RG_LOG_SENDS, .target = agent },
		{ .log = RG_LOG_DEAD_LETTERS, .owner = agent },
		{ .log = RG_LOG_DEAD_LETTERS, .target = agent },
		[ACTIVITY] = { .log = RG_LOG_ACTIVITY, .owner = agent },
	};
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < sizeof messages / sizeof *messages && r == ROGER_OK; i++)
		r = rg_tell_messages(telling, messages[i], err);
	for (i = 0; i < sizeof entries / sizeof *entries && r == ROGER_OK; i++)
		r = rg_tell_entries(telling, entries[i], err);
	if (r == ROGER_OK)
		r = tell_taken_over(telling, agent, err);
	if (r == ROGER_OK)
		r = rg_tell_runs(telling, agent, RG_RUN_OWNER | RG_RUN_CHILD, err);
	/* Perhaps there are only notes, about mail that another agent gets now. */
	if (r == ROGER_OK && is_empty(telling)) {
		telling->own = true;
		r = rg_tell_entries(telling, entries[ACTIVITY], err);
		telling->own = own;
	}
	return r;
}

/* -------------------------------------------------------------- the subject -- */

/* The function that tells the history of each kind of subject. */
static int (*const tells[])(struct rg_telling *, struct roger_str, struct roger_err *) = {
	[ROGER_SUBJECT_ISSUE] = tell_issue,
	[ROGER_SUBJECT_TASK] = tell_of_task,
	[ROGER_SUBJECT_RUN] = tell_run,
	[ROGER_SUBJECT_AGENT] = tell_agent,
};

/* Take the subject from one of the four members named after it, or only the name from `what`. */
static int named_subject(const struct roger_timeline_request *request,
			 struct roger_timeline_reply *reply, struct roger_err *err)
{
	const struct roger_field *field = rg_op_timeline.request->fields;
	size_t count = request->what.length > 0;
	int subject;

	reply->what = request->what;
	for (; field->name; field++) {
		subject = rg_enum_find(rg_subject_names, rg_str(field->name));
		if (subject < 0 || rg_field_unset(field, request))
			continue;
		reply->subject = subject;
		reply->what = *(const struct roger_str *)rg_field_at(field, request);
		count++;
	}
	return count == 1 ? ROGER_OK
			  : rg_fail_member(err, ROGER_EUSAGE, "what",
					   "what: expected one issue, task, run or agent");
}

/* Find out which kind the name is of; a note says if it is of another one, too. */
static int look_up(struct roger *roger, struct roger_timeline_reply *reply, struct roger_err *err)
{
	static const int order[] = { ROGER_SUBJECT_RUN, ROGER_SUBJECT_AGENT, ROGER_SUBJECT_ISSUE };
	const struct roger_str what = reply->what;
	const struct rg_query of_issue = { .issue = what, .anywhere = true, .limit = 1 };
	struct roger_message_list found = { 0 };
	struct roger_str text = { NULL, 0 };
	const bool name = rg_name_valid(what);
	bool is[ROGER_SUBJECT_AGENT + 1] = { false };
	size_t i;
	int r = ROGER_OK;

	if (name)
		r = rg_engine_run_find(roger->engine, what, reply->memory, &text, err);
	if (r == ROGER_OK && name)
		r = rg_engine_find(roger->engine, &of_issue, reply->memory, &found, err);
	if (r < 0)
		return r;
	is[ROGER_SUBJECT_ISSUE] = found.count > 0;
	is[ROGER_SUBJECT_RUN] = text.data != NULL;
	is[ROGER_SUBJECT_AGENT] = name && rg_engine_knows(roger->engine, what);
	for (i = 0; i < sizeof order / sizeof *order; i++) {
		if (!is[order[i]])
			continue;
		if (!reply->subject)
			reply->subject = order[i];
		else
			rg_arena_note(reply->memory, &reply->notes,
				      "'%.*s' is an %s, too: --%s shows that", RG_STR_ARGS(what),
				      rg_subject_names[order[i]], rg_subject_names[order[i]]);
	}
	if (!reply->subject)
		reply->subject = ROGER_SUBJECT_TASK;
	return ROGER_OK;
}

/* ------------------------------------------------------------------ verb -- */

/* Reply with the last events, as many as were asked for. */
static int reply_with(struct rg_history *history, size_t limit, struct roger_timeline_reply *reply,
		      struct roger_err *err)
{
	const size_t count = history->count < limit ? history->count : limit;
	const struct rg_event *first = history->items + (history->count - count);
	struct roger_event *events = rg_arena_get(reply->memory, count * sizeof *events);
	size_t i;

	if (!events)
		return rg_fail_memory(err);
	for (i = 0; i < count; i++) {
		events[i] = first[i].said;
		events[i].undated = first[i].flags & RG_ROW_UNDATED;
	}
	reply->more |= history->count > limit;
	reply->events = (struct roger_event_list){ events, count };
	reply->agents = rg_history_agents(&reply->events, reply->memory);
	return ROGER_OK;
}

/* Find a known name near an unknown one; "": none. */
static struct roger_str find_near(struct roger *roger, enum roger_subject subject,
				  struct roger_str what, struct rg_arena *arena)
{
	const bool any = subject == ROGER_SUBJECT_TASK;
	struct rg_nearest nearest = { { "", 0 }, SIZE_MAX };
	struct roger_strs names;

	if ((any || subject == ROGER_SUBJECT_ISSUE) &&
	    rg_engine_issues(roger->engine, 0, arena, &names, NULL) == ROGER_OK)
		rg_nearest_look(&nearest, what, rg_nearest_of(names, what));
	if ((any || subject == ROGER_SUBJECT_AGENT) &&
	    rg_engine_names(roger->engine, arena, &names, NULL) == ROGER_OK)
		rg_nearest_look(&nearest, what, rg_nearest_of(names, what));
	if (any || subject == ROGER_SUBJECT_RUN)
		rg_nearest_look(&nearest, what, rg_run_near(roger, what, arena));
	return nearest.word;
}

/* A name of no other kind may be a task, or an agent that never sent or got anything. */
static int tell_any(struct rg_telling *telling, bool guessed, struct roger_timeline_reply *reply,
		    struct roger_err *err)
{
	int r = tells[reply->subject](telling, reply->what, err);

	if (r < 0 || !guessed || reply->subject != ROGER_SUBJECT_TASK || !is_empty(telling) ||
	    !rg_name_valid(reply->what))
		return r;
	r = tell_agent(telling, reply->what, err);
	if (r == ROGER_OK && !is_empty(telling))
		reply->subject = ROGER_SUBJECT_AGENT;
	return r;
}

static int tell_timeline(struct rg_telling *telling, const struct roger_timeline_request *request,
			 bool guessed, struct roger_timeline_reply *reply, struct roger_err *err)
{
	int r = tell_any(telling, guessed, reply, err);
	struct roger_str near;

	/* Later events show that the name is known; they are left out again below. */
	if (r == ROGER_OK && request->until_ms && is_empty(telling)) {
		telling->until_ms = 0;
		r = tell_any(telling, guessed, reply, err);
		telling->until_ms = request->until_ms;
		telling->more = false;
	}
	if (r == ROGER_OK && is_empty(telling)) {
		near = find_near(telling->roger, (enum roger_subject)reply->subject, reply->what,
				 telling->arena);
		return rg_fail(err, ROGER_ENOENT, 0, "nothing is known of the %s '%.*s'" RG_MEANT,
			       rg_subject_names[reply->subject], RG_STR_ARGS(reply->what),
			       RG_MEANT_ARGS(near));
	}
	if (r == ROGER_OK)
		r = rg_tell_rest(telling, request->since_ms, err);
	if (r == ROGER_OK)
		r = rg_tell_around(telling, err);
	reply->more = telling->more;
	return r < 0 ? r : reply_with(&telling->history, (size_t)telling->limit, reply, err);
}

int rg_verb_timeline(struct roger *roger, const struct roger_timeline_request *request,
		     struct roger_timeline_reply *reply, struct roger_err *err)
{
	struct rg_telling telling;
	bool guessed;
	int r;

	r = named_subject(request, reply, err);
	guessed = !reply->subject;
	if (r == ROGER_OK && guessed)
		r = look_up(roger, reply, err);
	if (r == ROGER_OK)
		r = rg_engine_bring_sends_up(roger->engine, false, err);
	if (r < 0)
		return r;
	rg_telling_init(&telling, roger, reply->memory);
	telling.until_ms = request->until_ms;
	telling.limit = request->limit ? request->limit : RG_PAGE_MAX;
	telling.own = request->own;
	r = tell_timeline(&telling, request, guessed, reply, err);
	rg_telling_deinit(&telling);
	return r;
}
