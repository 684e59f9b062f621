/* log: one entry of the activity log, judged before it is written. */
#include "ops/caller.h"
#include "ops/note.h"

#include "facts/activity.h"

static void add_agent(struct roger_str details, struct roger_str agent, struct rg_buf *out)
{
	rg_buf_add(out, details.data, details.length - 1);
	rg_json_add_member(out, "agent", agent);
	rg_buf_add_char(out, '}');
}

/* Normalize the details, and add who acted if they do not say it. */
static int make_details(const struct roger_log_request *request, struct rg_arena *arena,
			struct roger_str *ret, struct roger_err *err)
{
	static const struct roger_field field = { "details", ROGER_OBJECT, 0, 0, NULL, NULL, "" };
	struct rg_buf text = { .maximum = SIZE_MAX };
	const struct rg_json *json;
	int r = ROGER_OK;

	*ret = RG_STR("{}");
	if (request->details.length)
		r = rg_record_set(&field, request->details, 0, ret, arena, err);
	if (r == ROGER_OK)
		r = rg_json_read_within(*ret, arena, &json, err);
	if (r < 0 || !request->agent.length || rg_json_member(rg_json_root(json), "agent"))
		return r;
	add_agent(*ret, request->agent, &text);
	*ret = rg_arena_take(arena, &text);
	return ROGER_OK;
}

static int refuse_actor(const struct roger *roger, const char *member, struct roger_err *err)
{
	return rg_fail_member(err, ROGER_EREFUSED, member,
			      "%s: an entry of this token is of now and of '%.*s', and no note of "
			      "roger's own; leave the member out",
			      member, RG_STR_ARGS(roger->caller.name));
}

/* Refuse an object that says somebody else than the caller acted, or roger itself. */
static int check_actor(const struct roger *roger, const struct rg_value *object,
		       struct roger_err *err)
{
	const struct rg_value *agent = rg_json_member(object, "agent"),
			      *tool = rg_json_member(object, "tool");

	if (agent && !rg_name_fits(roger->caller.name, rg_json_str(agent)))
		return refuse_actor(roger, "agent", err);
	return tool && rg_config_is_roger(rg_json_str(tool)) ? refuse_actor(roger, "tool", err)
							     : ROGER_OK;
}

/* A caller bound to one name may only write what that agent did, now: check that, and set it. */
static int claim_entry(const struct roger *roger, struct rg_arena *arena,
		       struct roger_activity *entry, struct roger_err *err)
{
	const struct roger_str unknown[] = { entry->unknown, entry->action_unknown,
					     entry->outcome_unknown };
	struct rg_buf details = { .maximum = SIZE_MAX };
	const struct rg_json *json;
	struct roger_str object;
	char now[32];
	size_t i;
	int r = ROGER_OK;

	for (i = 0; i < sizeof unknown / sizeof *unknown && r == ROGER_OK; i++) {
		r = rg_kept(rg_arena_print(arena, &object, "{%.*s}", RG_STR_ARGS(unknown[i])), err);
		if (r == ROGER_OK)
			r = rg_json_read_within(object, arena, &json, err);
		if (r == ROGER_OK)
			r = check_actor(roger, rg_json_root(json), err);
	}
	if (r == ROGER_OK)
		r = rg_json_read_within(entry->details, arena, &json, err);
	if (r == ROGER_OK)
		r = check_actor(roger, rg_json_root(json), err);
	if (r < 0)
		return r;
	entry->at_ms = rg_clock_ms();
	rg_clock_print_utc(entry->at_ms, now);
	if (rg_json_member(rg_json_root(json), "agent"))
		rg_buf_add_str(&details, entry->details);
	else
		add_agent(entry->details, roger->caller.name, &details);
	entry->timestamp = rg_arena_str(arena, rg_str(now));
	entry->details = rg_arena_take(arena, &details);
	return ROGER_OK;
}

static int compose_entry(const struct roger_log_request *request, struct rg_arena *arena,
			 struct roger_activity *entry, struct roger_err *err)
{
	char timestamp[32];
	int r;

	if (!request->task.length)
		return rg_fail_member(err, ROGER_EUSAGE, "task",
				      "no task: name the task of the entry");
	if (request->type == 0)
		return rg_fail_member(err, ROGER_EUSAGE, "type",
				      "no type: name the kind of action, such as TOOL_EXEC");
	if (request->at_ms < 0 || request->at_ms > RG_TIME_MS_MAX)
		return rg_fail_member(err, ROGER_EDATA, "at",
				      "at: expected an instant from 1970 to 9999");
	entry->at_ms = request->at_ms ? request->at_ms : rg_clock_ms();
	rg_clock_print_utc(entry->at_ms, timestamp);
	entry->timestamp = rg_arena_str(arena, rg_str(timestamp));
	entry->task = request->task;
	entry->type = request->type;
	entry->status = request->status ? request->status : ROGER_SUCCESS;
	entry->message = request->message;
	entry->evidence = request->evidence;
	r = make_details(request, arena, &entry->details, err);
	return r < 0 || rg_record_keep(&rg_activity_record, entry, arena) ? r : rg_fail_memory(err);
}

/* Read an entry of another tool: its content is kept, its layout is not. */
static int read_entry(const struct roger_log_request *request, struct rg_arena *arena,
		      struct roger_activity *entry, struct roger_err *err)
{
	int r;

	if (request->task.length || request->type)
		return rg_fail_member(
			err, ROGER_EUSAGE, "entry",
			"entry: is complete by itself; give it without task and type");
	r = rg_activity_check_null(request->entry, arena, err);
	if (r == ROGER_OK)
		r = rg_log_kind_read_words(RG_LOG_ACTIVITY, request->entry, arena, entry, err);
	return r;
}

int rg_verb_log(struct roger *roger, const struct roger_log_request *request,
		struct roger_activity_reply *reply, struct roger_err *err)
{
	struct roger_activity *entry = rg_arena_get(reply->memory, sizeof *entry);
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	int r;

	if (!entry)
		return rg_fail_memory(err);
	if (request->entry.length)
		r = read_entry(request, reply->memory, entry, err);
	else
		r = compose_entry(request, reply->memory, entry, err);
	if (r == ROGER_OK && rg_caller_is_bound(roger))
		r = request->at_ms ? refuse_actor(roger, "at", err)
				   : claim_entry(roger, reply->memory, entry, err);
	if (r == ROGER_OK)
		r = rg_kept(!rg_arena_failed(reply->memory), err);
	if (r == ROGER_OK)
		r = rg_activity_print(entry, &line, err);
	if (r == ROGER_OK)
		r = rg_note_append(roger, rg_buf_str(&line), true, err);
	reply->activities = (struct roger_activity_list){ entry, 1 };
	return r;
}
