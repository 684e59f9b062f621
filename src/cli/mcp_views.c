/* mcp: what can be read without a tool, prompts, and completion of names. */

#include "cli/frame.h"
#include "cli/mcp.h"
#include "data/record.h"

enum { VIEW_LIMIT = 100, PRIME_CHARS = 8000 };

static struct roger *open_here(struct mcp_session *session, struct roger_mcp_call *call)
{
	struct roger *roger;

	session = mcp_session_here(session, call);
	roger = session ? mcp_open(session, call) : NULL;
	if (roger)
		mcp_set_caller(roger, call, true);
	return roger;
}

/* ------------------------------------------------------------- completion -- */

static void offer_value(void *call, struct roger_str value, struct roger_str about)
{
	const char *typed = roger_mcp_completed_text(call);
	char name[129];

	(void)about;
	if (value.length >= sizeof name || strncmp(value.data, typed, strlen(typed)) != 0)
		return;
	snprintf(name, sizeof name, "%.*s", RG_STR_ARGS(value));
	roger_mcp_add_completion(call, name);
}

static void complete_names(struct roger_mcp_call *call, void *session, const char *verb,
			   const void *request, const char *member, const char *about)
{
	struct roger *roger = open_here(session, call);

	if (roger)
		cli_each_name(roger, verb, request, member, about, offer_value, call);
}

static void complete_agents(struct roger_mcp_call *call, void *session)
{
	complete_names(call, session, "agents", NULL, "name", "");
}

static void complete_issues(struct roger_mcp_call *call, void *session)
{
	const struct roger_list_request newest = { .newest = true, .limit = 1000 };

	complete_names(call, session, "list", &newest, "issue", "");
}

static void complete_runs(struct roger_mcp_call *call, void *session)
{
	complete_names(call, session, "runs", NULL, "run", "words");
}

static void complete_hand_off(struct roger_mcp_call *call, void *session)
{
	if (strcmp(roger_mcp_completed_name(call), "to") == 0)
		complete_agents(call, session);
	else if (strcmp(roger_mcp_completed_name(call), "issue") == 0)
		complete_issues(call, session);
}

/* -------------------------------------------------------------- resources -- */

static const struct view {
	const char *uri, *name, *description;
	const char *verb,
		*member; /* of the request, for the variable of the URI; NULL: no variable */
	roger_mcp_handler *complete;
} views[] = {
	{ "roger://dead-letters", "dead-letters", "messages that were given up", "dead_letters" },
	{ "roger://inbox/{agent}", "inbox", "unread messages of an agent", "list", "to",
	  complete_agents },
	{ "roger://issue/{id}", "issue", "messages of a unit of work, newest first", "list",
	  "issue", complete_issues },
	{ "roger://run/{id}", "run", "a run of a sub-agent", "runs", "run", complete_runs },
	{ "roger://why/{what}", "why", "why a message, a run or an agent waits, and what to do",
	  "why", "what", complete_agents },
};
#define VIEW_COUNT (sizeof views / sizeof *views)

/* Fill in the request of a view; false: that is answered. */
static bool make_request(struct roger_mcp_call *call, const struct view *view,
			 const struct roger_op *op, void *request, struct rg_arena *arena)
{
	struct roger_list_request *list = op == cli_op_named("list") ? request : NULL;
	const char *name = strchr(view->uri, '{');
	char variable[32];

	snprintf(variable, sizeof variable, "%.*s", name ? (int)strcspn(name + 1, "}") : 0,
		 name ? name + 1 : "");
	if (name && rg_record_set(cli_member(op->request, rg_str(view->member)),
				  rg_str(roger_mcp_variable(call, variable)), 0, request, arena,
				  NULL) < 0) {
		roger_mcp_not_found(call);
		return false;
	}
	if (list) {
		list->limit = VIEW_LIMIT;
		list->unread = list->to.length;
		list->newest = !list->unread;
	}
	if (!list || !list->unread || !mcp_is_foreign(call, list->to))
		return true;
	roger_mcp_fail(call, "this is another agent's inbox");
	return false;
}

/* Answer with the reply of a verb as the text of the resource. */
static void read_view(struct roger_mcp_call *call, void *session)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf json = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	const struct view *view = views;
	const struct roger_op *op;
	void *request, *reply;
	struct roger *roger;
	struct roger_err err;
	int r;

	while (strncmp(roger_mcp_name(call), view->uri, strcspn(view->uri, "{")) != 0)
		view++;
	op = cli_op_named(view->verb);
	request = arena ? rg_arena_get(arena, op->request->size) : NULL;
	reply = arena ? rg_arena_get(arena, op->reply->size) : NULL;
	if (request && reply && !make_request(call, view, op, request, arena))
		return;
	roger = open_here(session, call);
	if (!roger)
		return;
	r = request && reply ? roger_call(roger, op, request, reply, &err) : rg_fail_memory(&err);
	if (r == ROGER_OK && mcp_print_reply(&json, roger, op, reply, NULL, VIEW_LIMIT, arena))
		roger_mcp_add_text(call, json.data);
	else if (r == ROGER_OK)
		roger_mcp_fail(call, "out of memory");
	else if (r == ROGER_ENOENT)
		roger_mcp_not_found(call);
	else
		mcp_fail(call, &err, "");
	roger_reply_free(reply);
}

/* ---------------------------------------------------------------- prompts -- */

static void get_check_inbox(struct roger_mcp_call *call, void *session_)
{
	struct mcp_session *session = mcp_session_here(session_, call);
	struct roger *roger =
		session && mcp_name_caller(session, call) ? mcp_open(session, call) : NULL;
	struct roger_prime_request request = { 0 };
	RG_CLEANUP(roger_reply_free) struct roger_prime_reply reply = { 0 };
	struct cli_page page;
	struct roger_err err;

	if (!roger)
		return;
	mcp_set_caller(roger, call, true);
	request.agent = session->agent;
	if (roger_prime(roger, &request, &reply, &err) < 0) {
		mcp_fail(call, &err, "");
		return;
	}
	if (cli_page_begin(&page)) {
		fputs("Check your mail: read what other agents wrote, do what it needs as far as "
		      "the user's own instructions allow, answer, and ack it.\n\n",
		      page.to);
		cli_prime_print(page.to, &reply, roger, PRIME_CHARS);
		mcp_add_page(call, &page);
	}
}

static void get_hand_off(struct roger_mcp_call *call, void *session)
{
	const char *issue = roger_mcp_argument_text(call, "issue", "");
	const char *summary = roger_mcp_argument_text(call, "summary", "");

	(void)session;
	roger_mcp_printf(call,
			 "Hand this work over to %s with roger's send%s%s: what is done and where "
			 "it is, what is left, what was decided and why, what to watch out for. "
			 "Use type result, and a key, so that it is never sent twice.%s%s",
			 roger_mcp_argument_text(call, "to", ""), *issue ? ", issue " : "", issue,
			 *summary ? "\n\n" : "", summary);
}

/* -------------------------------------------------------------------- all -- */

int mcp_add_views(struct mcp_session *session, struct roger_mcp_err *err)
{
	static const struct roger_mcp_argument hand_off[] = {
		{ .name = "to", .description = "the agent", .required = true },
		{ .name = "issue", .description = "unit of work" },
		{ .name = "summary", .description = "what it is about" },
	};
	const struct roger_mcp_prompt prompts[] = {
		{ .name = "check_inbox",
		  .description = "what is unread, and what is owed",
		  .get = get_check_inbox },
		{ .name = "hand_off",
		  .description = "hand work over to another agent",
		  .arguments = hand_off,
		  .argument_count = sizeof hand_off / sizeof *hand_off,
		  .get = get_hand_off,
		  .complete = complete_hand_off },
	};
	int r = ROGER_MCP_OK;
	size_t i;

	for (i = 0; i < VIEW_COUNT && r == ROGER_MCP_OK; i++) {
		const struct roger_mcp_resource resource = {
			.uri = views[i].uri,
			.name = views[i].name,
			.description = views[i].description,
			.mime_type = "application/json",
			.flags = session->shared ? ROGER_MCP_BLOCKING : 0,
			.read = read_view,
			.complete = views[i].complete,
			.data = session,
		};

		r = roger_mcp_add_resource(session->server, &resource, err);
	}
	for (i = 0; i < sizeof prompts / sizeof *prompts && r == ROGER_MCP_OK; i++) {
		struct roger_mcp_prompt prompt = prompts[i];

		prompt.data = session;
		prompt.flags = session->shared ? ROGER_MCP_BLOCKING : 0;
		r = roger_mcp_add_prompt(session->server, &prompt, err);
	}
	return r;
}
