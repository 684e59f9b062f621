/* Checking a message, and calling the method that answers it. */
#include "base/limits.h"
#include "headers.h"
#include "request.h"

/* ------------------------------------------------------------ methods -- */

enum { LEGACY = 1, MODERN = 2, BOTH = 3 };
enum { ANY = RG_MCP_KINDS, COMPLETIONS, LOGGING };

static const struct method {
	const char *name;
	int eras;
	int offered; /* enum rg_mcp_kind, or one of those above */
	void (*run)(struct rg_mcp_request *request);
} methods[] = {
	{ "tools/call", BOTH, RG_MCP_TOOLS, rg_mcp_call_tool },
	{ "tools/list", BOTH, RG_MCP_TOOLS, rg_mcp_list_tools },
	{ "resources/read", BOTH, RG_MCP_RESOURCES, rg_mcp_read_resource },
	{ "resources/list", BOTH, RG_MCP_RESOURCES, rg_mcp_list_resources },
	{ "resources/templates/list", BOTH, RG_MCP_RESOURCES, rg_mcp_list_templates },
	{ "resources/subscribe", LEGACY, RG_MCP_RESOURCES, rg_mcp_subscribe },
	{ "resources/unsubscribe", LEGACY, RG_MCP_RESOURCES, rg_mcp_unsubscribe },
	{ "prompts/get", BOTH, RG_MCP_PROMPTS, rg_mcp_get_prompt },
	{ "prompts/list", BOTH, RG_MCP_PROMPTS, rg_mcp_list_prompts },
	{ "completion/complete", BOTH, COMPLETIONS, rg_mcp_complete },
	{ "subscriptions/listen", MODERN, ANY, rg_mcp_listen },
	{ "server/discover", MODERN, ANY, rg_mcp_discover },
	{ "initialize", LEGACY, ANY, rg_mcp_initialize },
	{ "ping", LEGACY, ANY, rg_mcp_answer_nothing },
	{ "logging/setLevel", LEGACY, LOGGING, rg_mcp_set_level },
};

static bool is_offered(const struct roger_mcp_server *server, int what)
{
	switch (what) {
	case ANY:
		return true;
	case COMPLETIONS:
		return server->completes;
	case LOGGING:
		return server->options.logging;
	case RG_MCP_RESOURCES:
		return server->offers[RG_MCP_RESOURCES] || server->offers[RG_MCP_TEMPLATES];
	default:
		return server->offers[what];
	}
}

static const struct method *find_method(const struct rg_mcp_request *request)
{
	int era = rg_mcp_is_modern(request->revision) ? MODERN : LEGACY;
	size_t i;

	for (i = 0; i < sizeof methods / sizeof *methods; i++)
		if (methods[i].eras & era && rg_str_is(request->message->method, methods[i].name))
			return is_offered(request->server, methods[i].offered) ? &methods[i] : NULL;
	return NULL;
}

/* --------------------------------------------------------------- eras -- */

static const struct rg_value *meta_of(const struct rg_mcp_message *message)
{
	return rg_json_member(message->params, "_meta");
}

bool rg_mcp_speaks_modern(const struct rg_mcp_message *message,
			  const struct rg_mcp_headers *headers)
{
	enum rg_mcp_revision said;

	if (rg_json_member(meta_of(message), RG_MCP_META "protocolVersion") ||
	    rg_str_is(message->method, "server/discover") ||
	    rg_str_is(message->method, "subscriptions/listen"))
		return true;
	if (!headers || !headers->version)
		return false;
	said = rg_mcp_revision_of(rg_str(headers->version));
	return said == RG_MCP_NONE || rg_mcp_is_modern(said);
}

/* A modern request must name its version and capabilities; false: it was rejected. */
static bool modern_passes(struct rg_mcp_request *request)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf data = { .maximum = SIZE_MAX };
	const struct rg_value *version =
		rg_json_member(request->meta, RG_MCP_META "protocolVersion");
	const struct rg_value *capabilities =
		rg_json_member(request->meta, RG_MCP_META "clientCapabilities");
	struct roger_err err = { 0 };

	if (rg_json_kind(version) != RG_JSON_STRING ||
	    rg_json_kind(capabilities) != RG_JSON_OBJECT) {
		rg_mcp_reject(request, RG_MCP_BAD_PARAMS,
			      "'_meta' needs '" RG_MCP_META
			      "protocolVersion' (a string) and '" RG_MCP_META
			      "clientCapabilities' (an object)");
		return false;
	}
	if (request->headers && rg_mcp_headers_check(request->headers, request->message,
						     rg_json_str(version), &err) < 0) {
		rg_mcp_reject(request, RG_MCP_BAD_HEADER, "%s", err.message);
		return false;
	}
	if (rg_mcp_is_modern(rg_mcp_revision_of(rg_json_str(version)))) {
		request->capabilities = capabilities;
		return true;
	}
	rg_buf_add_char(&data, '{');
	rg_mcp_put_versions(&data, "supported");
	rg_mcp_put_value(&data, "requested", version);
	rg_buf_add_char(&data, '}');
	rg_mcp_reject_with(
		request, RG_MCP_NO_VERSION, data.failed ? RG_STR("") : rg_buf_str(&data),
		RG_STR("unsupported protocol version; supported are 2026-07-28 and, after "
		       "'initialize', "
		       "2025-11-25 and 2025-06-18"));
	return false;
}

static bool legacy_passes(struct rg_mcp_request *request)
{
	request->capabilities = rg_json_root(request->peer->capabilities);
	request->revision = request->peer->revision;
	if (request->revision != RG_MCP_NONE || rg_str_is(request->message->method, "initialize") ||
	    rg_str_is(request->message->method, "ping"))
		return true;
	rg_mcp_reject(request, RG_MCP_BAD_REQUEST,
		      "expected 'initialize' (2025-11-25, 2025-06-18) first, or '_meta' with "
		      "'" RG_MCP_META "protocolVersion' (2026-07-28)");
	return false;
}

/* Is the id free?  Two open requests with the same id could not be told apart. */
static bool id_is_free(const struct rg_mcp_request *request)
{
	const struct roger_mcp_call *call;

	for (call = request->server->calls; call; call = call->next)
		if (call->peer == request->peer &&
		    rg_str_equal(call->message.id, request->message->id))
			return false;
	return !rg_mcp_listener_find_locked(request->server, request->peer, request->message->id);
}

static void answer_request(struct rg_mcp_request *request)
{
	const struct method *method;

	request->params = request->message->params;
	request->meta = meta_of(request->message);
	if (rg_mcp_speaks_modern(request->message, request->headers))
		request->revision = RG_MCP_2026_07_28;
	if (!id_is_free(request)) {
		rg_mcp_reject(request, RG_MCP_BAD_REQUEST,
			      "'id' is that of a request without an answer yet");
		return;
	}
	if (request->revision ? !modern_passes(request) : !legacy_passes(request))
		return;
	method = find_method(request);
	/* A tool tells the model of a fault itself. */
	if (method && request->message->fault.length && method->run != rg_mcp_call_tool)
		rg_mcp_reject(request, RG_MCP_BAD_JSON, "%s", request->message->fault.data);
	else if (method)
		method->run(request);
	else
		rg_mcp_reject(request, RG_MCP_NO_METHOD, "unknown method: '%.64s'",
			      request->message->method.data);
}

/* ------------------------------------------------------ notifications -- */

static void cancel_request(struct roger_mcp_server *server, const struct rg_mcp_peer *peer,
			   const struct rg_value *params)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf id = { .maximum = RG_MCP_ID_BYTES_MAX };
	struct rg_mcp_listener *listener;
	struct roger_mcp_call *call;

	if (!rg_mcp_is_id(rg_json_member(params, "requestId")))
		return;
	rg_json_print(rg_json_member(params, "requestId"), &id);
	if (id.failed)
		return;
	listener = rg_mcp_listener_find_locked(server, peer, rg_buf_str(&id));
	if (listener)
		rg_mcp_listener_end_locked(server, listener, false);
	for (call = server->calls; call; call = call->next)
		if (call->peer == peer && rg_str_equal(call->message.id, rg_buf_str(&id))) {
			rg_mcp_call_cancel_locked(call);
			return;
		}
}

void rg_mcp_dispatch(struct rg_mcp_stream *stream, const struct rg_mcp_message *message,
		     struct rg_arena *arena, const struct rg_mcp_headers *headers)
{
	struct rg_mcp_request request = {
		.server = stream->peer->server,
		.peer = stream->peer,
		.stream = stream,
		.message = message,
		.headers = headers,
		.arena = arena,
	};

	rg_mcp_lock(request.server);
	switch (message->form) {
	case RG_MCP_REQUEST:
		answer_request(&request);
		break;
	case RG_MCP_NOTIFICATION:
		if (rg_str_is(message->method, "notifications/cancelled"))
			cancel_request(request.server, request.peer, message->params);
		break;
	case RG_MCP_RESPONSE:
		rg_mcp_call_answered_locked(request.peer, message);
		break;
	}
	rg_mcp_arena_free_locked(request.server, request.arena);
	rg_mcp_unlock(request.server);
}

void rg_mcp_answer_unreadable(struct rg_mcp_stream *stream, const struct rg_mcp_message *message,
			      int code, const char *words)
{
	struct roger_mcp_server *server = stream->peer->server;
	struct rg_buf *out;

	struct roger_str id = message->id;

	rg_mcp_lock(server);
	if (message->form == RG_MCP_RESPONSE) {
		rg_mcp_call_answered_locked(stream->peer, message);
		/* Leave out the id: the client may wait for an answer to a request of its own
		 * with it. */
		id = RG_STR("");
	}
	out = rg_mcp_begin_locked(stream, true);
	if (out) {
		rg_mcp_put_head(out, id);
		rg_mcp_put_error(out, code, rg_str(words), RG_STR(""));
		rg_mcp_end_locked(stream, id, true, 400);
	}
	rg_mcp_unlock(server);
}
