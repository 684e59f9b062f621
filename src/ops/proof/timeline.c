/* timeline: what all logs know of an issue, a task, a run or an agent, as one history. */
#include "ops/proof/telling.h"

#include "base/nearest.h"
#include "ops/runs/run_list.h"

/* ------------------------------------------------------- what belongs to it -- */

/* How many of the logs are asked for a task: the two of mail, or the activity log, too. */
enum { LOGS_OF_MAIL = 2, LOGS_OF_TASKS };

static void tell_task(struct rg_telling *telling, struct roger_str task, size_t logs_count)
{
	static const enum rg_log logs[LOGS_OF_TASKS] = { RG_LOG_SENDS, RG_LOG_DEAD_LETTERS,
							 RG_LOG_ACTIVITY };
	struct rg_log_query query = { .task = task };
	size_t i;

	for (i = 0; i < logs_count; i++) {
		query.log = logs[i];
		rg_tell_entries(telling, query);
	}
}

/* Tell of messages with a key of the task; the send log may have purged some, and have others. */
static void tell_keyed(struct rg_telling *telling, struct roger_str task)
{
	rg_tell_messages(telling, (struct rg_query){ .key = task, .of_task = true });
	rg_tell_attempted(telling);
}

/* Tell of the messages that the runs gathered so far name. */
static void tell_results(struct rg_telling *telling)
{
	const struct roger_run *run;
	struct roger_strs ids = { 0 };
	size_t i;

	for (i = 0; i < telling->runs.count; i++) {
		run = &telling->runs.items[i].run;
		if (run->result_message.length)
			(void)!rg_arena_add(telling->arena, &ids, run->result_message);
		if (run->evidence.length)
			(void)!rg_arena_add(telling->arena, &ids, run->evidence);
	}
	rg_tell_ids(telling, ids);
}

static void tell_issue(struct rg_telling *telling, struct roger_str issue)
{
	char task[RG_FILE_NAME_BYTES];
	size_t i;

	rg_tell_messages(telling, (struct rg_query){ .issue = issue });
	rg_tell_attempts(telling, issue);
	tell_task(telling, issue, LOGS_OF_TASKS);
	rg_tell_runs(telling, issue, RG_RUN_ISSUE | RG_RUN_TASK);
	/* Tell what was sent, or could not be, about these runs. */
	for (i = 0; i < telling->runs.count; i++) {
		rg_workspace_file_name(telling->runs.items[i].run.run, "", task);
		tell_task(telling, rg_str(task), LOGS_OF_MAIL);
	}
}

static void tell_of_task(struct rg_telling *telling, struct roger_str task)
{
	tell_task(telling, task, LOGS_OF_TASKS);
	tell_keyed(telling, task);
	rg_tell_runs(telling, task, RG_RUN_TASK);
}

/* The messages about a run have keys whose task is its file's name. */
static void tell_run(struct rg_telling *telling, struct roger_str run_id)
{
	char task[RG_FILE_NAME_BYTES];

	rg_workspace_file_name(run_id, "", task);
	rg_tell_runs(telling, run_id, RG_RUN_ITSELF);
	tell_task(telling, rg_str(task), LOGS_OF_TASKS);
	if (!rg_str_is(run_id, task))
		tell_task(telling, run_id, LOGS_OF_TASKS);
	tell_keyed(telling, rg_str(task));
	tell_results(telling);
	rg_tell_attempts(telling, rg_str(task));
}

/* Tell of mail in boxes that the agent took over: what waits there, and what it has read. */
static void tell_taken_over(struct rg_telling *telling, struct roger_str agent)
{
	const struct rg_query query = { .to = agent,
					.gets = true,
					.anywhere = true,
					.until_ms = telling->until_ms,
					.newest = true,
					.limit = telling->limit };
	struct roger_message_list found = { 0 };
	const struct roger_message *message;
	struct roger_strs boxes, ids = { 0 };
	size_t i;

	if (rg_reading_got(&telling->reading,
			   rg_engine_boxes(telling->roger->engine, agent, telling->arena, &boxes,
					   telling->reading.err)) &&
	    boxes.count > 1)
		found = rg_read_messages(&telling->reading, &query);
	for (i = 0; i < found.count; i++) {
		message = &found.items[i];
		if (!rg_str_equal(message->to, agent) &&
		    (!message->read || rg_str_equal(message->read_by, agent)))
			(void)!rg_arena_add(telling->arena, &ids, message->id);
	}
	rg_tell_ids(telling, ids);
}

static bool is_empty(const struct rg_telling *telling)
{
	return !telling->history.count && !telling->runs.count;
}

static void tell_agent(struct rg_telling *telling, struct roger_str agent)
{
	enum { ACTIVITY = 5 };
	const bool own = telling->own;
	const struct rg_query messages[] = { { .from = agent }, { .to = agent } };
	const struct rg_log_query entries[] = {
		{ .log = RG_LOG_SENDS, .owner = agent },
		{ .log = RG_LOG_SENDS, .target = agent },
		{ .log = RG_LOG_DEAD_LETTERS, .owner = agent },
		{ .log = RG_LOG_DEAD_LETTERS, .target = agent },
		{ .log = RG_LOG_RETIRED, .owner = agent },
		[ACTIVITY] = { .log = RG_LOG_ACTIVITY, .owner = agent },
	};
	size_t i;

	for (i = 0; i < sizeof messages / sizeof *messages; i++)
		rg_tell_messages(telling, messages[i]);
	for (i = 0; i < sizeof entries / sizeof *entries; i++)
		rg_tell_entries(telling, entries[i]);
	tell_taken_over(telling, agent);
	rg_tell_runs(telling, agent, RG_RUN_OWNER | RG_RUN_CHILD);
	/* Perhaps there are only notes, about mail that another agent gets now. */
	if (is_empty(telling)) {
		telling->own = true;
		rg_tell_entries(telling, entries[ACTIVITY]);
		telling->own = own;
	}
}

/* -------------------------------------------------------------- the subject -- */

/* The function that tells the history of each kind of subject. */
static void (*const tells[])(struct rg_telling *, struct roger_str) = {
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
static void look_up(struct rg_telling *telling, struct roger_timeline_reply *reply)
{
	static const int order[] = { ROGER_SUBJECT_RUN, ROGER_SUBJECT_AGENT, ROGER_SUBJECT_ISSUE };
	const struct roger_str what = reply->what;
	const struct rg_query of_issue = { .issue = what, .anywhere = true, .limit = 1 };
	struct rg_engine *engine = telling->roger->engine;
	struct roger_str text = { NULL, 0 };
	const bool name = rg_name_valid(what);
	bool is[ROGER_SUBJECT_AGENT + 1] = { false };
	size_t i;

	if (name)
		rg_reading_got(&telling->reading, rg_engine_run_find(engine, what, telling->arena,
								     &text, telling->reading.err));
	is[ROGER_SUBJECT_ISSUE] = name && rg_read_messages(&telling->reading, &of_issue).count > 0;
	is[ROGER_SUBJECT_RUN] = text.data != NULL;
	is[ROGER_SUBJECT_AGENT] = name && rg_engine_knows(engine, what);
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
}

/* ------------------------------------------------------------------ verb -- */

/* Reply with the last events, as many as were asked for. */
static void reply_with(const struct rg_telling *telling, struct roger_timeline_reply *reply)
{
	const struct rg_history *history = &telling->history;
	const size_t limit = (size_t)telling->limit,
		     count = history->count < limit ? history->count : limit,
		     first = history->count - count;
	struct roger_event *events = rg_arena_get(reply->memory, count * sizeof *events);
	size_t i;

	for (i = 0; events && i < count; i++) {
		events[i] = history->items[first + i].said;
		events[i].undated = history->items[first + i].flags & RG_ROW_UNDATED;
	}
	reply->more = telling->more || history->count > limit;
	reply->events = (struct roger_event_list){ events, events ? count : 0 };
	reply->agents = rg_history_agents(&reply->events, reply->memory);
}

/* Find a known name near an unknown one; "": none. */
static struct roger_str find_near(struct roger *roger, enum roger_subject subject,
				  struct roger_str what, struct rg_arena *arena)
{
	const bool any = subject == ROGER_SUBJECT_TASK;
	struct roger_str nearest = { "", 0 };
	struct roger_strs names;

	if ((any || subject == ROGER_SUBJECT_ISSUE) &&
	    rg_engine_issues(roger->engine, 0, arena, &names, NULL) == ROGER_OK)
		rg_nearest_look(&nearest, what, rg_nearest_of(names, what));
	if ((any || subject == ROGER_SUBJECT_AGENT) &&
	    rg_engine_names(roger->engine, arena, &names, NULL) == ROGER_OK)
		rg_nearest_look(&nearest, what, rg_nearest_of(names, what));
	if (any || subject == ROGER_SUBJECT_RUN)
		rg_nearest_look(&nearest, what, rg_run_near(roger, what, arena));
	return nearest;
}

/* A name of no other kind may be a task, or an agent that never sent or got anything. */
static void tell_any(struct rg_telling *telling, bool guessed, struct roger_timeline_reply *reply)
{
	tells[reply->subject](telling, reply->what);
	if (!guessed || reply->subject != ROGER_SUBJECT_TASK || !is_empty(telling) ||
	    !rg_name_valid(reply->what))
		return;
	tell_agent(telling, reply->what);
	if (!is_empty(telling))
		reply->subject = ROGER_SUBJECT_AGENT;
}

static int tell_timeline(struct rg_telling *telling, const struct roger_timeline_request *request,
			 struct roger_timeline_reply *reply, struct roger_err *err)
{
	const bool guessed = !reply->subject;
	struct roger_str near;

	if (guessed)
		look_up(telling, reply);
	rg_reading_got(&telling->reading,
		       rg_engine_bring_sends_up(telling->roger->engine, false, err));
	tell_any(telling, guessed, reply);
	/* Later events show that the name is known; they are left out again below. */
	if (request->until_ms && is_empty(telling)) {
		telling->until_ms = 0;
		tell_any(telling, guessed, reply);
		telling->until_ms = request->until_ms;
		telling->more = false;
	}
	if (telling->reading.r == ROGER_OK && is_empty(telling)) {
		near = find_near(telling->roger, (enum roger_subject)reply->subject, reply->what,
				 telling->arena);
		return rg_fail(err, ROGER_ENOENT, 0, "nothing is known of %s %s '%.*s'" RG_MEANT,
			       guessed ? "any" : "the",
			       guessed ? "issue, task, run or agent"
				       : rg_subject_names[reply->subject],
			       RG_STR_ARGS(reply->what), RG_MEANT_ARGS(near));
	}
	rg_tell_rest(telling, request->since_ms);
	rg_tell_around(telling);
	reply_with(telling, reply);
	return telling->reading.r;
}

int rg_verb_timeline(struct roger *roger, const struct roger_timeline_request *request,
		     struct roger_timeline_reply *reply, struct roger_err *err)
{
	struct rg_telling telling;
	int r = named_subject(request, reply, err);

	if (r < 0)
		return r;
	rg_telling_init(&telling, roger, reply->memory, err);
	telling.until_ms = request->until_ms;
	telling.limit = request->limit ? request->limit : RG_PAGE_MAX;
	telling.own = request->own;
	r = tell_timeline(&telling, request, reply, err);
	rg_telling_deinit(&telling);
	return r;
}
