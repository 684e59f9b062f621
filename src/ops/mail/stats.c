/* stats: figures about the workspace, or about an issue. */
#include "ops/mail/metrics.h"

#include "facts/message.h"

/* ---------------------------------------------------------------- issues -- */

static bool is_first(const struct roger_message_list *messages, size_t which, struct roger_str name)
{
	size_t i;

	for (i = 0; i < which; i++)
		if (rg_str_equal(messages->items[i].from, name) ||
		    rg_str_equal(messages->items[i].to, name))
			return false;
	return true;
}

/* Count who sent or got the messages that are not archived, and their types. */
static void count_living(const struct roger_message_list *living, struct roger_stats_reply *reply)
{
	int64_t *const types[] = { [ROGER_CONTEXT] = &reply->context,
				   [ROGER_RESULT] = &reply->result,
				   [ROGER_DECISION] = &reply->decision,
				   [ROGER_DATA] = &reply->data };
	const struct roger_message *message;
	size_t i;

	for (i = 0; i < living->count; i++) {
		message = &living->items[i];
		++*types[message->type];
		reply->agents += is_first(living, i, message->from);
		reply->agents += !rg_str_equal(message->from, message->to) &&
				 is_first(living, i, message->to);
	}
}

static int measure_issue(struct roger *roger, struct roger_str issue, struct rg_arena *arena,
			 struct roger_issue_figures *ret_figures,
			 struct roger_message_list *ret_living, struct roger_err *err)
{
	const struct rg_query living = { .issue = issue },
			      gone = { .issue = issue, .archived = true };
	size_t i;
	int r;

	*ret_figures = (struct roger_issue_figures){ .issue = issue };
	r = rg_engine_find(roger->engine, &living, arena, ret_living, err);
	if (r == ROGER_OK)
		r = rg_engine_count(roger->engine, &gone, &ret_figures->archived, err);
	for (i = 0; r == ROGER_OK && i < ret_living->count; i++)
		ret_figures->unread += !ret_living->items[i].read;
	if (r < 0 || !ret_living->count)
		return r;
	ret_figures->messages = (int64_t)ret_living->count;
	ret_figures->bytes = rg_metrics_bytes(ret_living);
	ret_figures->oldest_at_ms = ret_living->items[0].created_at_ms;
	ret_figures->newest_at_ms = ret_living->items[ret_living->count - 1].created_at_ms;
	return ROGER_OK;
}

static int fill_issue(struct roger *roger, struct roger_str issue, struct roger_stats_reply *reply,
		      struct roger_err *err)
{
	struct roger_issue_figures figures;
	struct roger_message_list living;
	int r = measure_issue(roger, issue, reply->memory, &figures, &living, err);

	if (r < 0)
		return r;
	if (!living.count && !figures.archived)
		return rg_fail_member(err, ROGER_ENOENT, "issue", "issue: no message of '%.*s'",
				      RG_STR_ARGS(issue));
	reply->messages = figures.messages;
	reply->unread = figures.unread;
	reply->archived = figures.archived;
	reply->bytes = figures.bytes;
	reply->issues = 1;
	reply->oldest_at_ms = figures.oldest_at_ms;
	reply->newest_at_ms = figures.newest_at_ms;
	count_living(&living, reply);
	return ROGER_OK;
}

static int fill_each(struct roger *roger, struct roger_stats_reply *reply, struct roger_err *err)
{
	struct roger_issue_figures *items;
	struct roger_message_list living;
	struct roger_strs issues;
	size_t i;
	int r = rg_engine_issues(roger->engine, 0, reply->memory, &issues, err);

	items = rg_arena_get(reply->memory, issues.count * sizeof *items);
	if (r == ROGER_OK && !items)
		r = rg_fail_memory(err);
	for (i = 0; r == ROGER_OK && i < issues.count; i++) {
		RG_CLEANUP(rg_arena_freep) struct rg_arena *scratch = rg_arena_new();

		r = scratch ? measure_issue(roger, issues.items[i], scratch, &items[i], &living,
					    err)
			    : rg_fail_memory(err);
	}
	if (r == ROGER_OK)
		reply->by_issue = (struct roger_issue_figures_list){ items, issues.count };
	return r;
}

int rg_verb_stats(struct roger *roger, const struct roger_stats_request *request,
		  struct roger_stats_reply *reply, struct roger_err *err)
{
	int r;

	if (request->issue.length && request->by_issue)
		return rg_fail_member(err, ROGER_EUSAGE, "by_issue",
				      "by_issue: expected an issue or all of them, not both");
	if (request->issue.length)
		return fill_issue(roger, request->issue, reply, err);
	r = rg_engine_figures(roger->engine, reply, err);
	return r < 0 || !request->by_issue ? r : fill_each(roger, reply, err);
}
