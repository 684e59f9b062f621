/* activity: entries of the activity log, by task, type, status, time and citation. */
#include "ops/op.h"

#include "facts/activity.h"

enum { BAD_LINES_MAX = 1000 };

static struct rg_log_query query_of(const struct roger_activity_request *request)
{
	struct rg_log_query query = {
		.log = RG_LOG_ACTIVITY,
		.task = request->task,
		.citation = request->evidence,
		.since_ms = request->since_ms,
		.until_ms = request->until_ms,
		.newest = request->newest,
		.after = request->after,
		/* Bad lines are told once, not on every page. */
		.strays = request->after == 0,
	};

	if (request->type)
		query.kind = rg_str(rg_activity_types[request->type - 1]);
	if (request->status)
		query.state = rg_str(rg_activity_statuses[request->status - 1]);
	return query;
}

static int check(const struct roger_activity_request *request, struct roger_err *err)
{
	if (request->limit < 0 || request->limit > RG_PAGE_MAX)
		return rg_fail_member(err, ROGER_EDATA, "limit", "limit: expected 1 to %d",
				      RG_PAGE_MAX);
	if (request->after < 0)
		return rg_fail_member(err, ROGER_EDATA, "after", "after: expected a position");
	return ROGER_OK;
}

/* What the reply consists of, as it grows. */
struct answer {
	struct rg_arena *arena;
	bool strict;
	struct {
		struct roger_activity *items;
		size_t count;
	} activities;
	struct {
		struct roger_bad_line *items;
		size_t count;
	} bad;
};

static int add_bad(struct answer *answer, struct roger_str file, int64_t line, struct roger_str why,
		   struct roger_err *err)
{
	struct roger_bad_line *bad;

	if (answer->bad.count == BAD_LINES_MAX)
		return ROGER_OK;
	bad = rg_arena_push(answer->arena, &answer->bad.items, &answer->bad.count, sizeof *bad);
	if (!bad || !rg_arena_copy(answer->arena, why, &bad->what))
		return rg_fail_memory(err);
	bad->file = file;
	bad->line = line;
	return ROGER_OK;
}

static int add_entry(struct answer *answer, const struct rg_log_entry *entry, struct roger_err *err)
{
	union rg_log_record record;
	struct roger_activity *place;
	struct roger_err why;
	int r;

	r = rg_kind_read(RG_LOG_ACTIVITY, entry->text, answer->arena, &record, &why);
	if (r == ROGER_OK && answer->strict)
		r = rg_activity_check_strict(&record.activity, &why);
	if (r == ROGER_EDATA)
		return add_bad(answer, entry->file, entry->line, rg_str(why.message), err);
	place = r < 0 ? NULL
		      : rg_arena_push(answer->arena, &answer->activities.items,
				      &answer->activities.count, sizeof *place);
	if (!place)
		return rg_fail_memory(err);
	*place = record.activity;
	place->line = entry->line;
	place->position = entry->position;
	return ROGER_OK;
}

static int run_activity(struct roger *roger, const void *request_, void *reply_,
			struct roger_err *err)
{
	const struct roger_activity_request *request = request_;
	struct roger_activity_reply *reply = reply_;
	int64_t limit = request->limit ? request->limit : RG_PAGE_MAX;
	struct answer answer = { .arena = reply->memory, .strict = request->strict };
	struct rg_log_query query;
	struct rg_log_entries found;
	size_t i;
	int r;

	r = check(request, err);
	if (r < 0)
		return r;
	query = query_of(request);
	query.limit = limit + 1;
	r = rg_engine_log_find(roger->engine, &query, reply->memory, &found, err);
	if (r < 0)
		return r;
	reply->more = (int64_t)found.count > limit;
	if (reply->more) {
		found.count = (size_t)limit;
		reply->next = found.items[limit - 1].position;
	}
	for (i = 0; i < found.stray_count && r == ROGER_OK; i++)
		r = add_bad(&answer, found.strays[i].file, found.strays[i].line,
			    found.strays[i].text, err);
	for (i = 0; i < found.count && r == ROGER_OK; i++)
		r = add_entry(&answer, &found.items[i], err);
	reply->activities =
		(struct roger_activities){ answer.activities.items, answer.activities.count };
	reply->lines = (struct roger_bad_lines){ answer.bad.items, answer.bad.count };
	return r;
}

#define AT(member) offsetof(struct roger_bad_line, member)
static const struct roger_field bad_line_fields[] = {
	{ "line", ROGER_INT, AT(line), 0, NULL, NULL, "from 1" },
	{ "file", ROGER_TEXT, AT(file), ROGER_SPARE, NULL, NULL, "of the log" },
	{ "what", ROGER_TEXT, AT(what), 0, NULL, NULL, "why it is bad" },
	RG_END,
};
#undef AT
const struct roger_record rg_bad_line_record = { "line", sizeof(struct roger_bad_line),
						 bad_line_fields };

/* As rg_activity_types and rg_activity_statuses, with a name for "any" first. */
static const char *const type_names[] = {
	"any",	       "FILE_READ",	  "FILE_WRITE", "TOOL_EXEC", "EXTERNAL_RAG_QUERY",
	"PLAN_UPDATE", "CRITIC_FEEDBACK", NULL
};
static const char *const status_names[] = { "any", "SUCCESS", "FAILURE", "IN_PROGRESS", NULL };

#define AT(member) offsetof(struct roger_activity_request, member)
static const struct roger_field request_fields[] = {
	{ "task", ROGER_TEXT, AT(task), 0, NULL, NULL, "only of this task" },
	{ "type", ROGER_ENUM, AT(type), 0, type_names, NULL,
	  "only of this kind: FILE_READ, FILE_WRITE, TOOL_EXEC, EXTERNAL_RAG_QUERY, PLAN_UPDATE, "
	  "CRITIC_FEEDBACK" },
	{ "status", ROGER_ENUM, AT(status), 0, status_names, NULL,
	  "only with this outcome: SUCCESS, FAILURE, IN_PROGRESS" },
	{ "since", ROGER_TIME, AT(since_ms), 0, NULL, NULL, "at or after: a time, or 2h (ago)" },
	{ "until", ROGER_TIME, AT(until_ms), 0, NULL, NULL, "before" },
	{ "evidence", ROGER_TEXT, AT(evidence), 0, NULL, NULL, "only with this citation" },
	{ "newest", ROGER_BOOL, AT(newest), 0, NULL, NULL, "the last ones first" },
	{ "after", ROGER_INT, AT(after), 0, NULL, NULL, "continue after this position" },
	{ "limit", ROGER_INT, AT(limit), 0, NULL, NULL, "at most this many" },
	{ "strict", ROGER_BOOL, AT(strict), 0, NULL, NULL,
	  "entries with members the schema lacks are bad lines" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "activity",
						    sizeof(struct roger_activity_request),
						    request_fields };

#define AT(member) offsetof(struct roger_activity_reply, member)
static const struct roger_field reply_fields[] = {
	{ "activities", ROGER_RECORDS, AT(activities), 0, NULL, &rg_activity_record,
	  "in the order of the log" },
	{ "lines", ROGER_RECORDS, AT(lines), 0, NULL, &rg_bad_line_record,
	  "lines of the log that are no entries" },
	{ "more", ROGER_BOOL, AT(more), 0, NULL, NULL, "the limit cut the answer" },
	{ "next", ROGER_INT, AT(next), ROGER_SPARE, NULL, NULL, "give this as after to go on" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "activities", sizeof(struct roger_activity_reply),
						  reply_fields };

const struct roger_op rg_op_activity = {
	.name = "activity",
	.summary = "show who did what, from the activity log",
	.examples = "roger activity --task app-42\nroger activity --status FAILURE --since 2h\n"
		    "roger activity --newest --limit 20\n"
		    "roger activity --type TOOL_EXEC --jsonl\n",
	.request = &request_record,
	.reply = &reply_record,
	.run = run_activity,
};
