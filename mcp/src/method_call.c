/*
 * Methods that call a handler.
 *
 * Up to 2025-11-25 a server sends requests to its client; from 2026-07-28 on it ends a call with
 * what it needs and is called again.  Handlers are written the second way, which keeps no state;
 * for the first we ask, collect the answers and call the handler again.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "headers.h"
#include "request.h"
#include "schema.h"

static bool fill_call(struct roger_mcp_call *call, struct rg_mcp_request *request)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf token = { .maximum = RG_MCP_ID_BYTES_MAX };
	const struct rg_value *progress = rg_json_member(request->meta, "progressToken");
	const struct rg_value *info = rg_json_member(request->meta, RG_MCP_META "clientInfo");
	const struct rg_value *level = rg_json_member(request->meta, RG_MCP_META "logLevel");
	const struct rg_mcp_peer *peer = request->peer;
	bool modern = rg_mcp_is_modern(request->revision);
	int value = rg_mcp_level_of(rg_json_str(level));

	call->meta = request->meta;
	call->capabilities = request->capabilities;
	call->caller = peer->caller ? peer->caller : "";
	call->client_name =
		modern ? rg_json_str(rg_json_member(info, "name")).data : peer->client_name;
	call->client_version =
		modern ? rg_json_str(rg_json_member(info, "version")).data : peer->client_version;
	call->log_level = value < 0 ? RG_MCP_NO_LOG : value;
	if (rg_mcp_is_id(progress))
		rg_json_print(progress, &token);
	if (token.failed)
		rg_buf_clear(&token);
	return rg_arena_copy(request->arena, rg_buf_str(&token), &call->progress_token);
}

/* Make a call of this item, not begun yet; NULL: it was rejected. */
static struct roger_mcp_call *new_call(struct rg_mcp_request *request, enum rg_mcp_answer answer,
				       struct rg_mcp_item *item, struct roger_str name)
{
	struct roger_mcp_server *server = request->server;
	struct roger_mcp_call *call = NULL;

	if (server->call_count >= server->options.calls_max) {
		rg_mcp_reject(request, RG_MCP_INTERNAL,
			      "%zu calls are unanswered already; wait for one of them",
			      server->call_count);
		return NULL;
	}
	call = rg_arena_get(request->arena, sizeof *call);
	if (!call || !fill_call(call, request)) {
		rg_mcp_reject(request, RG_MCP_INTERNAL, "out of memory");
		return NULL;
	}
	call->server = server;
	call->message = *request->message;
	call->revision = request->revision;
	call->answer = answer;
	call->name = name;
	call->role = "user";
	call->item = item;
	call->handler = answer == RG_MCP_COMPLETE ? item->complete : item->handler;
	call->peer = request->peer;
	call->stream = request->stream;
	call->arena = request->arena;
	return call;
}

/* Take the client's answers that come with a modern call; false: they were rejected. */
static bool take_round(struct rg_mcp_request *request, struct roger_mcp_call *call)
{
	const struct rg_value *responses = rg_json_member(request->params, "inputResponses");
	const struct rg_value *state = rg_json_member(request->params, "requestState");

	if (!rg_mcp_is_modern(request->revision))
		return true;
	if (responses && rg_json_kind(responses) != RG_JSON_OBJECT) {
		rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "'inputResponses' is no object");
		return false;
	}
	call->input_responses = responses;
	if (!state)
		return true;
	call->kept = rg_mcp_unseal(call, rg_json_str(state), rg_clock_ms());
	if (call->kept)
		return true;
	rg_mcp_reject(request, RG_MCP_BAD_PARAMS,
		      "'requestState' is not of this call, was changed, or is too old; call again "
		      "without "
		      "it");
	return false;
}

/* Begin the call, which from here on owns the arena, and is counted. */
static void start_call(struct rg_mcp_request *request, struct roger_mcp_call *call)
{
	struct roger_mcp_server *server = request->server;

	rg_buf_init(&call->content, RG_MCP_UNSENT_BYTES_MAX / 2);
	rg_buf_init(&call->structured, RG_MCP_UNSENT_BYTES_MAX / 4);
	rg_buf_add_char(&call->content, '[');
	call->item->users++;
	call->peer->users++;
	call->stream->users++;
	call->next = server->calls;
	server->calls = call;
	server->call_count++;
	request->arena = NULL;
	rg_mcp_call_start_locked(call);
}

/* Tell the model of wrong arguments, which it can mend: a result, not an error of the protocol. */
static void tell_model(struct rg_mcp_request *request, const char *tool, const char *words)
{
	struct rg_buf *out = rg_mcp_begin_result(request);
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = 4096 };

	if (!out)
		return;
	rg_buf_printf(&text, "%s: %s", tool, words);
	rg_mcp_open(out, "content", '[');
	rg_mcp_open(out, NULL, '{');
	rg_mcp_put_text(out, "type", "text");
	rg_mcp_put_str(out, "text", rg_buf_str(&text));
	out->failed |= text.failed;
	rg_mcp_close(out, '}');
	rg_mcp_close(out, ']');
	rg_mcp_put_bool(out, "isError", true);
	rg_mcp_end_result(request, out);
}

static const struct rg_value *no_arguments(struct rg_arena *arena)
{
	const struct rg_json *json;

	if (rg_json_read_within(RG_STR("{}"), arena, &json, NULL) < 0)
		return NULL;
	return rg_json_root(json);
}

static bool arguments_pass(struct rg_mcp_request *request, const struct rg_mcp_item *item,
			   const struct rg_value *arguments)
{
	const struct rg_value *schema = rg_json_root(item->input_schema);
	struct roger_err err = { 0 };

	if (request->headers && rg_mcp_is_modern(request->revision) &&
	    rg_mcp_headers_check_arguments(request->headers, schema, arguments, &err) < 0) {
		rg_mcp_reject(request, RG_MCP_BAD_HEADER, "%s", err.message);
		return false;
	}
	if (rg_schema_accept(schema, arguments, item->flags & ROGER_MCP_LONE_ITEMS, &err) ==
	    ROGER_OK)
		return true;
	tell_model(request, item->key, err.message);
	return false;
}

void rg_mcp_call_tool(struct rg_mcp_request *request)
{
	const struct rg_value *name = rg_json_member(request->params, "name");
	const struct rg_value *arguments = rg_json_member(request->params, "arguments");
	struct rg_mcp_item *item;
	struct roger_mcp_call *call;

	item = rg_mcp_find_locked(request->server, RG_MCP_TOOLS, rg_json_str(name));
	if (!item) {
		rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "unknown tool: '%.64s'",
			      rg_json_str(name).data);
		return;
	}
	if (request->message->fault.length) {
		tell_model(request, item->key, request->message->fault.data);
		return;
	}
	arguments = arguments ? arguments : no_arguments(request->arena);
	if (rg_json_kind(arguments) != RG_JSON_OBJECT) {
		rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "'arguments' is no object");
		return;
	}
	if (!arguments_pass(request, item, arguments))
		return;
	call = new_call(request, RG_MCP_TOOL_CALL, item, rg_json_str(name));
	if (!call)
		return;
	call->arguments = arguments;
	if (take_round(request, call))
		start_call(request, call);
}

void rg_mcp_read_resource(struct rg_mcp_request *request)
{
	struct rg_uri_names names;
	struct rg_mcp_item *item;
	struct roger_mcp_call *call;
	struct roger_str uri;

	if (!rg_mcp_take_uri(request, &uri))
		return;
	item = rg_mcp_find_uri_locked(request->server, uri, request->arena, &names);
	if (!item) {
		rg_mcp_reject_uri(request, uri);
		return;
	}
	call = new_call(request, RG_MCP_READ, item, uri);
	if (!call)
		return;
	call->names = names;
	if (take_round(request, call))
		start_call(request, call);
}

/* Check a prompt's arguments: they are texts, and those required are there. */
static bool prompt_passes(struct rg_mcp_request *request, const struct rg_mcp_item *item,
			  const struct rg_value *arguments)
{
	const struct rg_value *value = NULL;
	struct roger_str name;
	char **required;
	size_t i = 0;

	if (arguments && rg_json_kind(arguments) != RG_JSON_OBJECT) {
		rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "'arguments' is no object");
		return false;
	}
	while (rg_json_next(arguments, &i, &name, &value))
		if (rg_json_kind(value) != RG_JSON_STRING) {
			rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "argument '%.64s' is no string",
				      name.data);
			return false;
		}
	for (required = item->required; *required; required++)
		if (!rg_json_member(arguments, *required)) {
			rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "argument '%s' is missing",
				      *required);
			return false;
		}
	return true;
}

void rg_mcp_get_prompt(struct rg_mcp_request *request)
{
	const struct rg_value *name = rg_json_member(request->params, "name");
	const struct rg_value *arguments = rg_json_member(request->params, "arguments");
	struct rg_mcp_item *item;
	struct roger_mcp_call *call;

	item = rg_mcp_find_locked(request->server, RG_MCP_PROMPTS, rg_json_str(name));
	if (!item) {
		rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "unknown prompt: '%.64s'",
			      rg_json_str(name).data);
		return;
	}
	if (!prompt_passes(request, item, arguments))
		return;
	call = new_call(request, RG_MCP_GET_PROMPT, item, rg_json_str(name));
	if (!call)
		return;
	call->arguments = arguments;
	if (take_round(request, call))
		start_call(request, call);
}

static struct rg_mcp_item *find_completed(struct rg_mcp_request *request,
					  const struct rg_value *ref)
{
	struct roger_str type = rg_json_str(rg_json_member(ref, "type"));

	if (rg_str_is(type, "ref/prompt"))
		return rg_mcp_find_locked(request->server, RG_MCP_PROMPTS,
					  rg_json_str(rg_json_member(ref, "name")));
	if (rg_str_is(type, "ref/resource"))
		return rg_mcp_find_locked(request->server, RG_MCP_TEMPLATES,
					  rg_json_str(rg_json_member(ref, "uri")));
	return NULL;
}

/* Complete a name for which there are no values. */
static void no_values(struct roger_mcp_call *call, void *data)
{
	(void)call;
	(void)data;
}

void rg_mcp_complete(struct rg_mcp_request *request)
{
	const struct rg_value *argument = rg_json_member(request->params, "argument");
	const struct rg_value *name = rg_json_member(argument, "name");
	const struct rg_value *text = rg_json_member(argument, "value");
	struct rg_mcp_item *item;
	struct roger_mcp_call *call;

	item = find_completed(request, rg_json_member(request->params, "ref"));
	if (!item || rg_json_kind(name) != RG_JSON_STRING || rg_json_kind(text) != RG_JSON_STRING) {
		rg_mcp_reject(
			request, RG_MCP_BAD_PARAMS,
			"expected 'ref' of a prompt or template that is there, and 'argument' with "
			"a name and "
			"a value");
		return;
	}
	call = new_call(request, RG_MCP_COMPLETE, item, rg_str(item->key));
	if (!call)
		return;
	call->completed_name = rg_json_str(name);
	call->completed_text = rg_json_str(text);
	/* The arguments that are filled in already. */
	call->arguments = rg_json_member(rg_json_member(request->params, "context"), "arguments");
	if (!call->handler)
		call->handler = no_values;
	start_call(request, call);
}
