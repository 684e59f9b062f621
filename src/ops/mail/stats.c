/* stats: figures about the workspace, or about an issue. */
#include "ops/op.h"

static int fill_issue(struct roger *roger, struct roger_str issue, struct roger_stats_reply *reply,
		      struct roger_err *err)
{
	const struct roger_issue_figures *figures;
	struct rg_issue_list found;
	int r = rg_engine_measure_issues(roger->engine, issue, true, reply->memory, &found, err);

	if (r < 0)
		return r;
	figures = found.count ? &found.items->figures : NULL;
	if (!figures || (!figures->messages && !figures->archived))
		return rg_fail_member(err, ROGER_ENOENT, "issue", "issue: no message of '%.*s'",
				      RG_STR_ARGS(issue));
	reply->messages = figures->messages;
	reply->unread = figures->unread;
	reply->archived = figures->archived;
	reply->bytes = figures->bytes;
	reply->issues = 1;
	reply->agents = found.items->agents;
	reply->context = found.items->types[ROGER_CONTEXT];
	reply->result = found.items->types[ROGER_RESULT];
	reply->decision = found.items->types[ROGER_DECISION];
	reply->data = found.items->types[ROGER_DATA];
	reply->oldest_at_ms = figures->oldest_at_ms;
	reply->newest_at_ms = figures->newest_at_ms;
	return ROGER_OK;
}

static int fill_each(struct roger *roger, struct roger_stats_reply *reply, struct roger_err *err)
{
	struct roger_issue_figures *items;
	struct rg_issue_list found;
	size_t i;
	int r = rg_engine_measure_issues(roger->engine, RG_STR(""), false, reply->memory, &found,
					 err);

	if (r < 0)
		return r;
	items = rg_arena_get(reply->memory, found.count * sizeof *items);
	if (!items)
		return rg_fail_memory(err);
	for (i = 0; i < found.count; i++)
		items[i] = found.items[i].figures;
	reply->by_issue = (struct roger_issue_figures_list){ items, found.count };
	return ROGER_OK;
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
