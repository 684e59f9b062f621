/* mcp: what can be read without a tool, prompts, and completion of names. */
#include <stdlib.h>

#include "cli/frame.h"
#include "cli/mcp.h"
#include "data/record.h"

enum { VIEW_LIMIT = 100, PRIME_CHARS = 8000 };

static const char json_type[] = "application/json";

/* -------------------------------------------------------------- resources -- */

static struct roger *open_here(struct mcp_session *session, struct roger_mcp_call *call)
{
	struct roger *roger;

	session = mcp_session_here(session, call);
	roger = session ? mcp_open(session, call) : NULL;
	if (roger)
		mcp_set_caller(roger, call, true);
	return roger;
}

/* Answer with the reply of a verb as the text of the resource. */
static void read_verb(struct roger_mcp_call *call, struct mcp_session *session, const char *verb,
		      const void *request)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf json = { .maximum = SIZE_MAX };
	struct roger *roger = open_here(session, call);
	const struct roger_op *op = cli_op_named(verb);
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = roger ? rg_arena_new() : NULL;
	void *reply = arena ? rg_arena_get(arena, op->reply->size) : NULL;
	struct roger_err err;
	int r;

	if (!roger)
		return;
	r = reply ? roger_call(roger, op, request, reply, &err) : rg_fail_memory(&err);
	if (r == ROGER_OK && mcp_print_reply(&json, roger, op, reply, VIEW_LIMIT, arena))
		roger_mcp_add_text(call, json.data);
	else if (r == ROGER_OK)
		roger_mcp_fail(call, "out of memory");
	else if (r == ROGER_ENOENT)
		roger_mcp_not_found(call);
	else
		mcp_fail(call, &err, "");
	roger_reply_free(reply);
}

/* Take a name from the URI; false: it is not valid, and "not found" is answered. */
static bool take_name(struct roger_mcp_call *call, const char *variable, struct roger_str *ret_name)
{
	*ret_name = rg_str(roger_mcp_variable(call, variable));
	if (ret_name->data && rg_name_valid(*ret_name))
		return true;
	roger_mcp_not_found(call);
	return false;
}

static void read_inbox(struct roger_mcp_call *call, void *session)
{
	struct roger_list_request request = { .unread = true, .limit = VIEW_LIMIT };

	if (!take_name(call, "agent", &request.to))
		return;
	if (mcp_is_foreign(call, request.to))
		roger_mcp_fail(call, "this is another agent's inbox");
	else
		read_verb(call, session, "list", &request);
}

static void read_issue(struct roger_mcp_call *call, void *session)
{
	struct roger_list_request request = { .newest = true, .limit = VIEW_LIMIT };

	if (take_name(call, "id", &request.issue))
		read_verb(call, session, "list", &request);
}

static void read_run(struct roger_mcp_call *call, void *session)
{
	struct roger_runs_request request = { 0 };

	if (take_name(call, "id", &request.run))
		read_verb(call, session, "runs", &request);
}

static void read_why(struct roger_mcp_call *call, void *session)
{
	struct roger_why_request request = { .what = rg_str(roger_mcp_variable(call, "what")) };

	read_verb(call, session, "why", &request);
}

static void read_letters(struct roger_mcp_call *call, void *session)
{
	const struct roger_dead_letters_request request = { 0 };

	read_verb(call, session, "dead_letters", &request);
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
	static const struct roger_mcp_resource resources[] = {
		{ .uri = "roger://dead-letters",
		  .name = "dead-letters",
		  .description = "messages that were given up",
		  .read = read_letters },
		{ .uri = "roger://inbox/{agent}",
		  .name = "inbox",
		  .description = "unread messages of an agent",
		  .read = read_inbox,
		  .complete = complete_agents },
		{ .uri = "roger://issue/{id}",
		  .name = "issue",
		  .description = "messages of a unit of work, newest first",
		  .read = read_issue,
		  .complete = complete_issues },
		{ .uri = "roger://run/{id}",
		  .name = "run",
		  .description = "a run of a sub-agent",
		  .read = read_run,
		  .complete = complete_runs },
		{ .uri = "roger://why/{what}",
		  .name = "why",
		  .description = "why a message, a run or an agent waits, and what to do",
		  .read = read_why,
		  .complete = complete_agents },
	};
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

	for (i = 0; i < sizeof resources / sizeof *resources && r == ROGER_MCP_OK; i++) {
		struct roger_mcp_resource resource = resources[i];

		resource.mime_type = json_type;
		resource.data = session;
		resource.flags = session->shared ? ROGER_MCP_BLOCKING : 0;
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
