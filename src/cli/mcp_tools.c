/* mcp: the table of tools, how a call of a tool calls its verb, and how the reply is printed. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/escape.h"
#include "cli/frame.h"
#include "cli/mcp.h"
#include "data/json.h"
#include "data/record.h"

enum {
	RESULT_CHARS = 20000, /* the most text of messages in one result */
	WAIT_STEP_MS = 250,   /* how often a waiting call checks whether it was cancelled */
	WAIT_DEFAULT_MS = 5 * 60 * 1000,
	WAIT_MOST_MS = 24 * 3600 * 1000,
	PROGRESS_MS = 5000,
	MEMBERS_MAX = 8,
};

/* ---------------------------------------------------------------- telling -- */

static void tell_send(FILE *to, const struct mcp_tool *tool)
{
	const struct roger_send_reply *reply = tool->reply;
	size_t i;

	for (i = 0; i < reply->messages.count; i++)
		cli_say_to(to, "%s: %t to %t, your number %d\n",
			   reply->duplicate ? "sent already, with this key" : "stored",
			   reply->messages.items[i].id, reply->messages.items[i].to, reply->seq);
	for (i = 0; i < reply->notes.count; i++)
		cli_say_to(to, "note: %t\n", reply->notes.items[i]);
}

static void print_rest(FILE *to, size_t count)
{
	if (count)
		fprintf(to, "\n%zu more; ack these first, or ask for fewer.\n", count);
}

static void tell_messages(FILE *to, const struct mcp_tool *tool,
			  const struct roger_message_list *messages, struct roger_str reader)
{
	cli_frame_begin(to);
	tool->session->shown = cli_frame_messages(to, messages, reader, RESULT_CHARS);
	print_rest(to, messages->count - tool->session->shown);
}

static void tell_inbox(FILE *to, const struct mcp_tool *tool)
{
	const struct roger_inbox_reply *reply = tool->reply;

	fprintf(to, "%s has ", tool->session->agent.data);
	cli_frame_unread(to, reply->unread, &reply->notes);
	if (!reply->messages.count)
		return;
	tell_messages(to, tool, &reply->messages, tool->session->agent);
	fputs("\nAnswer with send and reply_to; ack the ids that are dealt with.\n", to);
}

static void tell_thread(FILE *to, const struct mcp_tool *tool)
{
	const struct roger_messages_reply *reply = tool->reply;

	tell_messages(to, tool, &reply->messages, RG_STR(""));
}

/* The agent knows which messages it acks, so this does not list them. */
static void tell_ack(FILE *to, const struct mcp_tool *tool)
{
	const struct roger_messages_reply *reply = tool->reply;

	if (reply->messages.count == 1)
		cli_say_to(to, "read: %t from %t\n", reply->messages.items[0].id,
			   reply->messages.items[0].from);
	else
		fprintf(to, "read: %zu messages\n", reply->messages.count);
}

static void tell_wait(FILE *to, const struct mcp_tool *tool)
{
	const struct roger_wait_reply *reply = tool->reply;

	cli_say_to(to,
		   reply->found ? "There is mail%(, the first from %t%). Look with inbox."
				: "Nothing came in time.",
		   rg_name_valid(reply->from) ? reply->from : RG_STR(""));
}

static void tell_agents(FILE *to, const struct mcp_tool *tool)
{
	fprintf(to, "You are %s.\n", tool->session->agent.data);
	cli_print_record(to, cli_op_named("agents")->reply, tool->reply);
}

static void tell_runs(FILE *to, const struct mcp_tool *tool)
{
	const struct roger_runs_reply *reply = tool->reply;
	size_t i;

	if (!reply->runs.count)
		fputs("no such runs\n", to);
	for (i = 0; i < reply->runs.count; i++) {
		const struct roger_run *run = &reply->runs.items[i];

		cli_say_to(to, "%t: %t%(; %t%)%(; result in message %t%)\n", run->run, run->words,
			   run->why, run->result_message);
	}
}

/* ---------------------------------------------------------------- calling -- */

static int set_argument(struct roger_mcp_call *call, const struct roger_field *field,
			const struct roger_mcp_value *value, void *request, struct rg_arena *arena,
			struct roger_err *err)
{
	const struct roger_mcp_value *item;
	const char *text = "";
	size_t i = 0;
	int r = ROGER_OK;

	switch (roger_mcp_kind_of(value)) {
	case ROGER_MCP_FALSE:
	case ROGER_MCP_NULL:
		return ROGER_OK;
	case ROGER_MCP_ARRAY:
		while (r == ROGER_OK && roger_mcp_next(value, &i, NULL, &item))
			r = rg_record_set(field, rg_str(roger_mcp_text_of(item, "")), rg_clock_ms(),
					  request, arena, err);
		return r;
	case ROGER_MCP_NUMBER:
	case ROGER_MCP_OBJECT:
		text = roger_mcp_json_of(call, value);
		break;
	case ROGER_MCP_STRING:
		text = roger_mcp_text_of(value, "");
		break;
	case ROGER_MCP_TRUE:
		break;
	}
	return text ? rg_record_set(field, rg_str(text), rg_clock_ms(), request, arena, err)
		    : rg_fail_memory(err);
}

/* Fill in the request of a verb from the arguments of the call, and the calling agent. */
static int make_request(const struct mcp_tool *tool, struct roger_mcp_call *call,
			struct roger_str agent, const struct roger_op *op, void *request,
			struct rg_arena *arena, struct roger_err *err)
{
	const struct roger_mcp_value *value;
	const struct roger_field *field;
	const char *name;
	int r = ROGER_OK;
	size_t i = 0;

	while (r == ROGER_OK && roger_mcp_next(roger_mcp_arguments(call), &i, &name, &value)) {
		field = mcp_field(op->request, name);
		if (field)
			r = set_argument(call, field, value, request, arena, err);
		else if (!tool->words->actions || strcmp(name, "action") != 0)
			r = rg_fail(err, ROGER_EUSAGE, 0, "%s: not for this action; leave it out",
				    name);
	}
	for (field = op->request->fields; field->name && r == ROGER_OK; field++)
		if (field->flags & ROGER_SELF)
			r = rg_record_set(field, agent, 0, request, arena, err);
	return r;
}

/* Return the list of messages in a reply, or NULL. */
static struct roger_message_list *messages_of(const struct roger_op *op, void *reply)
{
	const struct roger_field *field;

	for (field = op->reply->fields; field->name; field++)
		if (field->record == cli_item_record("list"))
			return (struct roger_message_list *)((char *)reply + field->offset);
	return NULL;
}

/* True if a message's unknown members include this name; a text that contains it counts, too. */
static bool has_member(struct roger_str members, const char *name)
{
	return rg_str_find_part(members, rg_str(name));
}

/*
 * Cut the messages to those in the text of the result, and each to its part there, since
 * some clients show the model the JSON in place of the text.  shown: how many messages are
 * in the text; 0: all stay, without their texts.
 */
static bool cut_messages(struct roger_message_list *messages, size_t shown, struct rg_arena *arena)
{
	struct roger_message *items = rg_arena_get(arena, messages->count * sizeof *items);
	size_t i, all, bytes = 0, left = RESULT_CHARS;
	struct roger_str before;
	bool kept = items;

	for (i = 0; i < messages->count && kept; i++) {
		if (shown && !cli_frame_fits(&messages->items[i], i == 0, &left, &bytes))
			break;
		items[i] = messages->items[i];
		before = items[i].unknown;
		all = items[i].content.length;
		if (bytes == all)
			continue;
		/* A message's own "truncated" and "bytes" give way to these. */
		if (has_member(before, "\"truncated\"") || has_member(before, "\"bytes\""))
			before = RG_STR("");
		items[i].content.length = bytes;
		kept = rg_arena_print(arena, &items[i].unknown,
				      "%.*s%s\"truncated\":true,\"bytes\":%zu", RG_STR_ARGS(before),
				      before.length ? "," : "", all);
	}
	if (kept)
		*messages = (struct roger_message_list){ items, i };
	return kept;
}

/* Begin the JSON with "about", the words with which the text begins. */
static void add_about(struct rg_buf *json, size_t left_out, bool cut)
{
	RG_CLEANUP(cli_page_free) struct cli_page page = { 0 };

	if (!cli_page_begin(&page)) {
		json->failed = true;
		return;
	}
	cli_frame_begin(page.to);
	print_rest(page.to, left_out);
	if (cut)
		fputs("A text with \"truncated\" is its beginning; `roger show ID` has all.\n",
		      page.to);
	json->failed |= !cli_page_end(&page);
	rg_buf_add_text(json, "{\"about\":");
	rg_json_add_string(json, (struct roger_str){ page.text, page.length });
}

/* Print these members of each message, and nothing that its sender wrote. */
static void print_members(struct rg_buf *json, const struct roger_message_list *messages,
			  const char *const *members)
{
	struct roger_record record = *cli_item_record("list");
	struct roger_field fields[MEMBERS_MAX + 1] = { 0 };
	size_t count = 0, i;

	for (; record.fields->name && count < MEMBERS_MAX; record.fields++)
		if (rg_enum_find(members, rg_str(record.fields->name)) >= 0)
			fields[count++] = *record.fields;
	record.fields = fields;
	rg_buf_add_text(json, "{\"messages\":[");
	for (i = 0; i < messages->count; i++) {
		rg_buf_add_text(json, i ? "," : "");
		rg_words_encode(&record, &messages->items[i], json);
	}
	rg_buf_add_text(json, "]}");
}

bool mcp_print_reply(struct rg_buf *json, const struct roger *roger, const struct roger_op *op,
		     void *reply, const char *const *members, size_t shown, struct rg_arena *arena)
{
	struct roger_message_list *messages = messages_of(op, reply);
	RG_CLEANUP(rg_buf_deinit) struct rg_buf plain = { .maximum = SIZE_MAX };
	size_t count = messages && !members ? messages->count : 0;

	if (count && !cut_messages(messages, shown, arena))
		return false;
	if (members)
		print_members(&plain, messages, members);
	else
		rg_words_encode(op->reply, reply, &plain);
	if (*roger_damage(roger) && plain.length) {
		plain.length--;
		cli_add_damage(roger, &plain);
		rg_buf_add_char(&plain, '}');
	}
	if (plain.failed)
		return false;
	if (count) {
		/* Only the last message may be cut. */
		add_about(json, count - messages->count,
			  shown && has_member(messages->items[messages->count - 1].unknown,
					      "\"truncated\":true"));
		plain.data[0] = ',';
	}
	rg_buf_add_escaped(json, RG_IN_JSON, rg_buf_str(&plain));
	rg_buf_add_char(json, 0);
	return !json->failed;
}

void mcp_add_page(struct roger_mcp_call *call, struct cli_page *page)
{
	if (cli_page_end(page) && page->length)
		roger_mcp_add_text(call, page->text);
	free(page->text);
}

static void answer_call(struct mcp_tool *tool, const struct roger *roger,
			struct roger_mcp_call *call, const struct roger_op *op, void *reply,
			struct rg_arena *arena)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf json = { .maximum = SIZE_MAX };
	struct cli_page page;

	tool->reply = reply;
	if (cli_page_begin(&page)) {
		if (tool->words->tell)
			tool->words->tell(page.to, tool);
		else
			cli_print_record(page.to, op->reply, reply);
		cli_print_damage(page.to, roger);
		mcp_add_page(call, &page);
	}
	if (mcp_print_reply(&json, roger, op, reply, tool->words->members, tool->session->shown,
			    arena))
		roger_mcp_set_structured(call, json.data);
	else
		roger_mcp_fail(call, "out of memory; ask for less");
}

struct roger *mcp_open(struct mcp_session *session, struct roger_mcp_call *call)
{
	const char *why = mcp_distrust(session, &session->roger);

	if (*why)
		roger_mcp_fail(call, "%s", why);
	return *why ? NULL : session->roger;
}

/* True if the call neither waits for another agent nor reads everything. */
static bool is_quick(const struct roger_op *op, const void *request)
{
	const struct roger_field *waits = rg_find_flag(op->request, ROGER_WAITS);

	return !(op->flags & ROGER_SLOW) && (!waits || rg_field_unset(waits, request));
}

static bool tell_progress(void *call, const char *what, int64_t done, int64_t total)
{
	roger_mcp_not_late(call);
	if (total > 0)
		roger_mcp_progress(call, (double)done, (double)total, what);
	return !roger_mcp_cancelled(call);
}

/* Call the verb.  After ROGER_EIO the open files may have been replaced: open the workspace again,
 * and repeat the call if it does not write. */
static int call_current(const struct mcp_tool *tool, struct roger_mcp_call *call,
			const struct roger_op *op, void *request, void *reply,
			struct roger_err *err)
{
	struct mcp_session *session = tool->session;
	int r = roger_call(session->roger, op, request, reply, err);

	if (r != ROGER_EIO)
		return r;
	session->roger = roger_close(session->roger);
	if ((op->flags & ROGER_WRITES) || !mcp_open(session, call))
		return r;
	mcp_set_caller(session->roger, call, is_quick(op, request));
	return roger_call(session->roger, op, request, reply, err);
}

static void call_verb(struct mcp_tool *tool, struct roger_mcp_call *call, const struct roger_op *op,
		      struct rg_arena *arena)
{
	void *request = rg_arena_get(arena, op->request->size);
	void *reply = rg_arena_get(arena, op->reply->size);
	struct roger_err err;
	int r;

	if (!mcp_open(tool->session, call))
		return;
	if (!request || !reply) {
		roger_mcp_fail(call, "out of memory");
		return;
	}
	r = make_request(tool, call, tool->session->agent, op, request, arena, &err);
	if (op == cli_op_named("inbox"))
		((struct roger_inbox_request *)request)->unnoted = true;
	mcp_set_caller(tool->session->roger, call, is_quick(op, request));
	roger_on_progress(tool->session->roger, tell_progress, call);
	if (r == ROGER_OK)
		r = (tool->words->run ? tool->words->run : call_current)(tool, call, op, request,
									 reply, &err);
	if (tool->session->roger)
		roger_on_progress(tool->session->roger, NULL, NULL);
	if (r < 0) {
		mcp_fail(call, &err, r == ROGER_ETIMEOUT ? "; try again with the same key" : "");
		return;
	}
	tool->session->shown = 0;
	answer_call(tool, tool->session->roger, call, op, reply, arena);
	if (op == cli_op_named("inbox") && !mcp_only_looks(call))
		cli_frame_shown(tool->session->roger, tool->session->agent,
				&((const struct roger_inbox_reply *)reply)->messages,
				tool->session->shown);
	roger_reply_free(reply);
}

static void call_tool(struct roger_mcp_call *call, void *data)
{
	struct mcp_tool tool = *(const struct mcp_tool *)data;
	const struct roger_op *op = mcp_verb(&tool, roger_mcp_argument_text(call, "action", ""));
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();

	tool.session = mcp_session_here(tool.session, call);
	if (!arena || !op)
		roger_mcp_fail(call, arena ? "no such action" : "out of memory");
	else if (tool.session && mcp_name_caller(tool.session, call))
		call_verb(&tool, call, op, arena);
}

/* ---------------------------------------------------------------- waiting -- */

/* Wait in steps, so that a cancelled call ends. */
static int wait_for_mail(const struct mcp_tool *tool, struct roger_mcp_call *call,
			 const struct roger_op *op, void *request_, void *reply_,
			 struct roger_err *err)
{
	struct roger *roger = tool->session->roger;
	struct roger_wait_request *request = request_;
	struct roger_wait_reply *reply = reply_;
	const int64_t start_ns = rg_clock_monotonic_ns(),
		      all_ms = request->timeout_ms ? request->timeout_ms : WAIT_DEFAULT_MS;
	int64_t gone_ms, told_ms = 0;
	int r;

	(void)op;
	if (all_ms > WAIT_MOST_MS)
		return rg_fail(err, ROGER_EUSAGE, 0, "timeout: expected at most 24h");
	mcp_set_caller(roger, call, false);
	for (;;) {
		gone_ms = (rg_clock_monotonic_ns() - start_ns) / 1000000;
		request->timeout_ms =
			all_ms - gone_ms < WAIT_STEP_MS ? all_ms - gone_ms : WAIT_STEP_MS;
		if (request->timeout_ms < 1)
			request->timeout_ms = 1;
		r = roger_wait(roger, request, reply, err);
		if (r < 0 || reply->found || gone_ms >= all_ms || roger_mcp_cancelled(call))
			return r;
		roger_reply_free(reply);
		roger_mcp_not_late(call);
		if (gone_ms - told_ms >= PROGRESS_MS) {
			told_ms = gone_ms;
			roger_mcp_progress(call, (double)gone_ms / 1000, (double)all_ms / 1000,
					   "waiting for mail");
		}
	}
}

/* A waiting call runs on its own thread, so it needs its own handle. */
static void call_wait(struct roger_mcp_call *call, void *data)
{
	struct mcp_tool tool = *(const struct mcp_tool *)data;
	RG_CLEANUP(rg_arena_freep) struct rg_arena *arena = rg_arena_new();
	struct mcp_session own = { .server = tool.session->server,
				   .workspace = tool.session->workspace };

	if (!mcp_open(&own, call)) {
		roger_close(own.roger);
		return;
	}
	own.agent = mcp_agent_of(tool.session, own.roger, roger_mcp_caller(call),
				 roger_mcp_client_name(call), own.agent_name);
	tool.session = &own;
	if (!own.agent.length)
		mcp_fail_nameless(call);
	else if (!arena)
		roger_mcp_fail(call, "out of memory");
	else
		call_verb(&tool, call, tool.op, arena);
	roger_close(own.roger);
}

/* ------------------------------------------------------------------ table -- */

#define LOOKS "{\"readOnlyHint\":true,\"openWorldHint\":false}"
#define WRITES "{\"openWorldHint\":false}"
#define ADDS "{\"destructiveHint\":false,\"openWorldHint\":false}"
/* For tools whose second call with the same arguments changes nothing. */
#define WRITES_ONCE "{\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}"
#define ALWAYS "{\"anthropic/alwaysLoad\":true}"
#define HINT(words) "{\"anthropic/searchHint\":\"" words "\"}"

static const char *const acked_members[] = { "id", "ack_outcome", "ack_note", NULL };
static const struct mcp_action run_actions[] = {
	{ "dispatch", "dispatch" },
	{ "complete", "complete" },
	{ "status", "runs" },
	{ 0 },
};

/* Tools of one verb have its name; tools of several verbs come last. */
static const struct mcp_words own[] = {
	{ .name = "send",
	  /* Without a key, another call is another message. */
	  .annotations = ADDS,
	  .meta = ALWAYS,
	  .tell = tell_send },
	{ .name = "inbox", .meta = ALWAYS, .tell = tell_inbox },
	{ .name = "ack",
	  .members = acked_members,
	  .annotations = WRITES_ONCE,
	  .meta = HINT("mark messages read"),
	  .tell = tell_ack },
	{ .name = "wait",
	  .meta = HINT("wait for mail"),
	  .flags = ROGER_MCP_BLOCKING,
	  .run = wait_for_mail,
	  .tell = tell_wait },
	{ .name = "thread", .meta = HINT("conversation"), .tell = tell_thread },
	{ .name = "agents", .meta = HINT("list agents"), .tell = tell_agents },
	{ .name = "dead_letters", .meta = HINT("undelivered mail") },
	{ .name = "run",
	  .actions = run_actions,
	  .description = "Runs of sub-agents: dispatch before you start one, complete with its "
			 "result; status: what is late or lost.",
	  .annotations = WRITES_ONCE,
	  .meta = HINT("sub-agent runs, watchdog"),
	  .tell = tell_runs },
};
#define OWN_COUNT (sizeof own / sizeof *own)

static int add_tool(const struct mcp_tool *tool, const char *name, struct roger_mcp_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf in = { .maximum = SIZE_MAX };
	RG_CLEANUP(rg_buf_deinit) struct rg_buf out = { .maximum = SIZE_MAX };
	const struct mcp_words *words = tool->words;
	const struct roger_op *op = tool->op;
	struct roger_mcp_tool one = { .name = name,
				      .description = words->description ? words->description
						     : op->tool		? op->tool
									: op->summary,
				      .annotations = words->annotations		? words->annotations
						     : op->flags & ROGER_WRITES ? WRITES
										: LOOKS,
				      .meta = words->meta,
				      .flags = words->flags | ROGER_MCP_LONE_ITEMS |
					       (tool->session->shared ? ROGER_MCP_BLOCKING : 0),
				      .call = words->run ? call_wait : call_tool,
				      .data = (void *)(uintptr_t)tool };

	mcp_print_input_schema(tool, &in);
	mcp_print_output_schema(tool, &out);
	rg_buf_add_char(&in, 0);
	rg_buf_add_char(&out, 0);
	one.input_schema = in.data;
	one.output_schema = out.data;
	return in.failed || out.failed ? ROGER_MCP_ENOMEM
				       : roger_mcp_add_tool(tool->session->server, &one, err);
}

int mcp_add_tools(struct mcp_session *session, struct roger_mcp_err *err)
{
	static const struct mcp_words none = { 0 };
	struct mcp_tool *tools = session->tools;
	const struct roger_op *const *ops = roger_ops();
	size_t count = 0, i;
	int r = ROGER_MCP_OK;

	for (; *ops && count < MCP_TOOLS_MAX && r == ROGER_MCP_OK; ops++) {
		if (!((*ops)->flags & ROGER_TOOL))
			continue;
		tools[count] = (struct mcp_tool){ session, *ops, &none };
		for (i = 0; i < OWN_COUNT; i++)
			if (!own[i].actions && strcmp(own[i].name, (*ops)->name) == 0)
				tools[count].words = &own[i];
		r = add_tool(&tools[count++], (*ops)->name, err);
	}
	for (i = 0; i < OWN_COUNT && count < MCP_TOOLS_MAX && r == ROGER_MCP_OK; i++) {
		if (!own[i].actions)
			continue;
		tools[count] = (struct mcp_tool){ session, cli_op_named("runs"), &own[i] };
		r = add_tool(&tools[count++], own[i].name, err);
	}
	return r == ROGER_MCP_OK ? mcp_add_views(session, err) : r;
}
