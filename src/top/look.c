/* What is shown, asked of the library by verbs that leave no note. */
#include <roger.h>
#include <stdlib.h>

#include "base/clock.h"
#include "top/top.h"

static void keep_trouble(struct top_view *view, int r, const struct roger_err *err)
{
	if (r < 0 && !view->trouble[0])
		snprintf(view->trouble, sizeof view->trouble, "%s", err->message);
}

void top_view_deinit(struct top_view *view)
{
	size_t i;

	for (i = 0; i < view->agent_count; i++)
		roger_reply_free(&view->agents[i].mail);
	roger_reply_free(&view->agents_reply);
	roger_reply_free(&view->runs_reply);
	roger_reply_free(&view->messages);
	free(view->runs);
	*view = (struct top_view){ .roger = view->roger };
}

/* Most unread mail first, then by name. */
static int compare_agents(const void *a, const void *b)
{
	const struct roger_agent *x = *(const struct roger_agent *const *)a,
				 *y = *(const struct roger_agent *const *)b;

	return x->unread != y->unread ? (x->unread < y->unread) - (x->unread > y->unread)
				      : strcmp(x->name.data, y->name.data);
}

static void look_at_mail(struct top_view *view, struct top_agent *agent)
{
	const struct roger_list_request request = { .to = agent->agent->name,
						    .unread = true,
						    .limit = TOP_MAIL_MAX };
	struct roger_err err;
	size_t i;

	if (!agent->agent->unread)
		return;
	keep_trouble(view, roger_list(view->roger, &request, &agent->mail, &err), &err);
	/* Claims take the oldest first. */
	for (i = 0; i < agent->mail.messages.count && view->claim_count < TOP_AGENTS_MAX; i++)
		if (agent->mail.messages.items[i].claimed_until_ms > rg_clock_ms())
			view->claims[view->claim_count++].message = &agent->mail.messages.items[i];
}

static void look_at_agents(struct top_view *view)
{
	const struct roger_empty_request request = { 0 };
	const struct roger_agent **all;
	struct roger_err err;
	size_t i, count;

	keep_trouble(view, roger_agents(view->roger, &request, &view->agents_reply, &err), &err);
	count = view->agents_reply.agents.count;
	all = calloc(count + 1, sizeof *all);
	for (i = 0; all && i < count; i++) {
		all[i] = &view->agents_reply.agents.items[i];
		view->unread += all[i]->unread;
	}
	if (all)
		qsort(all, count, sizeof *all, compare_agents);
	for (i = 0; all && i < count && i < TOP_AGENTS_MAX; i++) {
		view->agents[i] = (struct top_agent){ .agent = all[i] };
		view->agent_count++;
		look_at_mail(view, &view->agents[i]);
	}
	free(all);
}

static bool is_over(const struct roger_run *run)
{
	return run->status == ROGER_RUN_COMPLETED || run->status == ROGER_RUN_RECOVERED ||
	       run->settled_at.length;
}

static void look_at_runs(struct top_view *view)
{
	const struct roger_runs_request request = { .status = 0 };
	struct roger_err err;
	size_t i;

	keep_trouble(view, roger_runs(view->roger, &request, &view->runs_reply, &err), &err);
	view->runs = calloc(view->runs_reply.runs.count + 1, sizeof *view->runs);
	for (i = view->runs_reply.runs.count; view->runs && i > 0; i--)
		if (!is_over(&view->runs_reply.runs.items[i - 1]))
			view->runs[view->run_count++] = &view->runs_reply.runs.items[i - 1];
}

static bool has(struct roger_str text, struct roger_str part)
{
	return memmem(text.data, text.length, part.data, part.length);
}

static void look_at_messages(struct top_view *view, struct roger_str filter)
{
	const struct roger_list_request request = { .newest = true, .limit = TOP_MESSAGES_MAX };
	struct roger_message *items;
	struct roger_err err;
	size_t i, count = 0;

	keep_trouble(view, roger_list(view->roger, &request, &view->messages, &err), &err);
	if (!filter.length)
		return;
	items = (struct roger_message *)(uintptr_t)view->messages.messages.items;
	for (i = 0; i < view->messages.messages.count; i++)
		if (has(items[i].from, filter) || has(items[i].to, filter) ||
		    has(items[i].issue, filter) || has(items[i].content, filter))
			items[count++] = items[i];
	view->messages.messages.count = count;
}

void top_look(struct top_view *view, struct roger_str filter)
{
	top_view_deinit(view);
	look_at_agents(view);
	look_at_runs(view);
	look_at_messages(view, filter);
}
