/* log: one entry of the activity log, judged before it is written. */
#include "ops/proof/note.h"

#include "facts/activity.h"

static int check_text(const char *member, struct roger_str text, struct roger_err *err)
{
	size_t chars;

	if (rg_utf8_count(text, &chars))
		return ROGER_OK;
	return rg_fail_member(err, ROGER_EDATA, member, "%s: expected valid UTF-8 without NUL",
			      member);
}

static int check_parts(const struct roger_log_request *request, struct roger_err *err)
{
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
	r = check_text("task", request->task, err);
	if (r == ROGER_OK)
		r = check_text("message", request->message, err);
	return r == ROGER_OK ? check_text("evidence", request->evidence, err) : r;
}

/* Details from a program may come in any layout; who acted is added where they do not say it. */
static int make_details(const struct roger_log_request *request, struct rg_arena *arena,
			struct roger_str *ret, struct roger_err *err)
{
	static const struct roger_field field = { "details", ROGER_OBJECT, 0, 0, NULL, NULL, "" };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const struct rg_json *json;
	int r = ROGER_OK;

	*ret = RG_STR("{}");
	if (request->details.length)
		r = rg_record_set(&field, request->details, 0, ret, arena, err);
	if (r == ROGER_OK)
		r = rg_json_read_within(*ret, arena, &json, err);
	if (r < 0 || !request->agent.length || rg_json_member(rg_json_root(json), "agent"))
		return r;
	rg_buf_add(&text, ret->data, ret->length - 1);
	rg_json_add_key(&text, RG_STR("agent"));
	rg_json_add_string(&text, request->agent);
	rg_buf_add_char(&text, '}');
	return rg_arena_keep(arena, &text, ret) ? ROGER_OK : rg_fail_memory(err);
}

static int compose(const struct roger_log_request *request, struct rg_arena *arena,
		   struct roger_activity *entry, struct roger_err *err)
{
	char timestamp[32];
	int r;

	r = check_parts(request, err);
	if (r < 0)
		return r;
	entry->at_ms = request->at_ms ? request->at_ms : rg_clock_ms();
	rg_clock_print_utc(entry->at_ms, timestamp);
	if (!rg_arena_copy(arena, rg_str(timestamp), &entry->timestamp))
		return rg_fail_memory(err);
	entry->task = request->task;
	entry->type = request->type - 1;
	entry->status = request->status;
	entry->message = request->message;
	entry->evidence = request->evidence;
	r = make_details(request, arena, &entry->details, err);
	return r < 0 || rg_record_keep(&rg_activity_record, entry, arena) ? r : rg_fail_memory(err);
}

/* An entry of other tools: what it says is kept, how it is laid out is not. */
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
		r = rg_kind_take(RG_LOG_ACTIVITY, request->entry, arena, entry, err);
	return r == ROGER_OK && request->strict ? rg_activity_check_strict(entry, err) : r;
}

static int run_log(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_log_request *request = request_;
	struct roger_activity_reply *reply = reply_;
	struct roger_activity *entry = rg_arena_get(reply->memory, sizeof *entry);
	RG_CLEANUP(rg_buf_deinit) struct rg_buf line = { .maximum = SIZE_MAX };
	int r;

	if (!entry)
		return rg_fail_memory(err);
	if (request->entry.length)
		r = read_entry(request, reply->memory, entry, err);
	else
		r = compose(request, reply->memory, entry, err);
	if (r == ROGER_OK)
		r = rg_activity_print(entry, &line, err);
	if (r == ROGER_OK)
		r = rg_note_append(roger, rg_buf_str(&line), true, err);
	reply->activities = (struct roger_activities){ entry, 1 };
	return r;
}

/* As rg_activity_types, with none first: one is required. */
static const char *const type_names[] = { "",
					  "FILE_READ",
					  "FILE_WRITE",
					  "TOOL_EXEC",
					  "EXTERNAL_RAG_QUERY",
					  "PLAN_UPDATE",
					  "CRITIC_FEEDBACK",
					  NULL };

#define AT(member) offsetof(struct roger_log_request, member)
static const struct roger_field request_fields[] = {
	{ "task", ROGER_TEXT, AT(task), ROGER_PLACE, NULL, NULL,
	  "the task; - reads a whole entry, as JSON, from standard input" },
	{ "type", ROGER_ENUM, AT(type), ROGER_PLACE, type_names, NULL, "kind of action" },
	{ "details", ROGER_OBJECT, AT(details), 0, NULL, NULL, "a JSON object about the action" },
	{ "status", ROGER_ENUM, AT(status), 0, rg_activity_statuses, NULL,
	  "SUCCESS (the default), FAILURE or IN_PROGRESS" },
	{ "message", ROGER_TEXT, AT(message), 0, NULL, NULL, "the outcome in words" },
	{ "evidence", ROGER_TEXT, AT(evidence), 0, NULL, NULL, "the source that justifies it" },
	{ "at", ROGER_INSTANT, AT(at_ms), 0, NULL, NULL, "when it was (default now)" },
	{ "entry", ROGER_OBJECT, AT(entry), 0, NULL, NULL, "a whole entry, in place of its parts" },
	{ "strict", ROGER_BOOL, AT(strict), 0, NULL, NULL, "refuse members the schema lacks" },
	{ "agent", ROGER_NAME, AT(agent), ROGER_SELF, NULL, NULL,
	  "who acted (--as, else ROGER_AGENT), into the details" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "log", sizeof(struct roger_log_request),
						    request_fields };

static const struct roger_field reply_fields[] = {
	{ "activities", ROGER_RECORDS, offsetof(struct roger_activity_reply, activities), 0, NULL,
	  &rg_activity_record, "the entry as it was written" },
	RG_END,
};
static const struct roger_record reply_record = { "logged", sizeof(struct roger_activity_reply),
						  reply_fields };

const struct roger_op rg_op_log = {
	.name = "log",
	.summary = "write an entry of the activity log",
	.examples =
		"roger log --since yesterday\n"
		"roger log -f\n"
		"roger log app-42 FILE_WRITE --details '{\"path\":\"a.c\"}' --message 'new "
		"column'\n"
		"roger log app-42 CRITIC_FEEDBACK --status FAILURE --evidence 'review of PR 7'\n"
		"roger log - < entry.json\n"
		"roger log --import other-tool.log.jsonl\n",
	.flags = ROGER_WRITES | ROGER_UNNOTED,
	.request = &request_record,
	.reply = &reply_record,
	.run = run_log,
};
