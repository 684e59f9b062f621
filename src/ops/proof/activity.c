/* activity: entries of the activity log, by task, type, status, time and citation. */
#include "ops/records.h"

static struct rg_log_query query_of(const struct roger_activity_request *request)
{
	struct rg_log_query query = {
		.log = RG_LOG_ACTIVITY,
		.task = request->task,
		.citation = request->evidence,
		.since_ms = request->since_ms,
		.until_ms = request->until_ms,
		.newest = request->newest,
		.after_line = request->after,
		/* Bad lines are reported once, not on every page. */
		.strays = request->after == 0,
	};

	if (request->type)
		query.kind = rg_str(rg_action_names[request->type]);
	if (request->status)
		query.state = rg_str(rg_status_names[request->status]);
	return query;
}

static int add_entry(struct roger_activity_reply *reply, const struct rg_log_entry *entry,
		     struct roger_err *err)
{
	union rg_log_record record;
	struct roger_err why;
	int r;

	r = rg_log_kind_read(RG_LOG_ACTIVITY, entry->text, reply->memory, &record, &why);
	if (r == ROGER_EDATA)
		return rg_records_add_bad(reply->memory, &reply->lines, entry->file, entry->line,
					  rg_str(why.message), err);
	record.activity.line = entry->line;
	return rg_kept(r == ROGER_OK && rg_arena_append(reply->memory, &reply->activities.items,
							&reply->activities.count, &record.activity,
							sizeof record.activity),
		       err);
}

int rg_verb_activity(struct roger *roger, const struct roger_activity_request *request,
		     struct roger_activity_reply *reply, struct roger_err *err)
{
	int64_t limit = request->limit ? request->limit : RG_PAGE_MAX;
	struct rg_log_query query;
	struct rg_log_entries found;
	size_t i;
	int r;

	if (request->after < 0)
		return rg_fail_member(err, ROGER_EDATA, "after",
				      "after: expected a line of the log");
	query = query_of(request);
	query.limit = limit + 1;
	r = rg_engine_log_find(roger->engine, &query, reply->memory, &found, err);
	if (r < 0)
		return r;
	reply->more = (int64_t)found.count > limit;
	if (reply->more) {
		found.count = (size_t)limit;
		reply->next = found.items[limit - 1].line;
	}
	for (i = 0; i < found.stray_count && r == ROGER_OK; i++)
		r = rg_records_add_bad(reply->memory, &reply->lines, found.strays[i].file,
				       found.strays[i].line, found.strays[i].text, err);
	for (i = 0; i < found.count && r == ROGER_OK; i++)
		r = add_entry(reply, &found.items[i], err);
	return r;
}
