#include <stdlib.h>

#include "base/limits.h"
#include "request.h"

void rg_mcp_subscribe(struct rg_mcp_request *request)
{
	struct roger_str uri;

	if (!rg_mcp_take_uri(request, &uri))
		return;
	if (rg_mcp_wish_locked(request->server, &request->peer->wishes, uri, request->arena))
		rg_mcp_answer_nothing(request);
	else if (request->peer->wishes.uri_count == RG_MCP_SUBSCRIPTIONS_MAX)
		rg_mcp_reject(request, RG_MCP_INTERNAL, "%d subscriptions are there already",
			      RG_MCP_SUBSCRIPTIONS_MAX);
	else
		rg_mcp_reject_uri(request, uri);
}

void rg_mcp_unsubscribe(struct rg_mcp_request *request)
{
	struct roger_str uri;

	if (!rg_mcp_take_uri(request, &uri))
		return;
	rg_mcp_unwish(&request->peer->wishes, uri);
	rg_mcp_answer_nothing(request);
}

/* Take those of the client's wishes that the server offers. */
static void take_wishes(struct rg_mcp_request *request, const struct rg_value *filter,
			struct rg_mcp_wishes *wishes)
{
	static const char *const lists[] = { "toolsListChanged", "resourcesListChanged", NULL,
					     "promptsListChanged" };
	const bool *offers = request->server->offers;
	const struct rg_value *uri = NULL, *uris = rg_json_member(filter, "resourceSubscriptions");
	struct roger_str key;
	size_t i = 0;
	int kind;

	for (kind = 0; kind < RG_MCP_KINDS; kind++) {
		if (!lists[kind] || !rg_json_member(filter, lists[kind]))
			continue;
		if (rg_json_kind(rg_json_member(filter, lists[kind])) != RG_JSON_TRUE)
			continue;
		if (offers[kind] || (kind == RG_MCP_RESOURCES && offers[RG_MCP_TEMPLATES]))
			wishes->lists |= 1u << kind;
	}
	while (rg_json_kind(uris) == RG_JSON_ARRAY && rg_json_next(uris, &i, &key, &uri))
		if (rg_json_kind(uri) == RG_JSON_STRING)
			rg_mcp_wish_locked(request->server, wishes, rg_json_str(uri),
					   request->arena);
}

static void acknowledge_wishes(struct rg_mcp_request *request, const struct rg_mcp_wishes *wishes)
{
	struct rg_buf *out = rg_mcp_begin_locked(request->stream, false);
	const struct rg_mcp_uri *uri;

	if (!out)
		return;
	rg_buf_add_char(out, '{');
	rg_mcp_put_text(out, "jsonrpc", "2.0");
	rg_mcp_put_text(out, "method", "notifications/subscriptions/acknowledged");
	rg_mcp_open(out, "params", '{');
	rg_mcp_open(out, "_meta", '{');
	rg_mcp_put_json(out, RG_MCP_META "subscriptionId", request->message->id);
	rg_mcp_close(out, '}');
	rg_mcp_open(out, "notifications", '{');
	if (wishes->lists & 1u << RG_MCP_TOOLS)
		rg_mcp_put_bool(out, "toolsListChanged", true);
	if (wishes->lists & 1u << RG_MCP_PROMPTS)
		rg_mcp_put_bool(out, "promptsListChanged", true);
	if (wishes->lists & 1u << RG_MCP_RESOURCES)
		rg_mcp_put_bool(out, "resourcesListChanged", true);
	if (wishes->uris) {
		rg_mcp_open(out, "resourceSubscriptions", '[');
		for (uri = wishes->uris; uri; uri = uri->next) {
			rg_mcp_next_item(out);
			rg_json_add_string(out, rg_str(uri->text));
		}
		rg_mcp_close(out, ']');
	}
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
	rg_mcp_end_locked(request->stream, RG_STR(""), false, 200);
}

void rg_mcp_listen(struct rg_mcp_request *request)
{
	const struct rg_value *filter = rg_json_member(request->params, "notifications");
	struct roger_mcp_server *server = request->server;
	struct roger_str id = request->message->id;
	struct rg_mcp_listener *listener;

	if (rg_json_kind(filter) != RG_JSON_OBJECT) {
		rg_mcp_reject(request, RG_MCP_BAD_PARAMS, "'notifications' is no object");
		return;
	}
	if (request->peer->listener_count == RG_MCP_LISTENERS_MAX) {
		rg_mcp_reject(request, RG_MCP_INTERNAL, "%d subscriptions are open already",
			      RG_MCP_LISTENERS_MAX);
		return;
	}
	listener = calloc(1, sizeof *listener + id.length + 1);
	if (!listener) {
		rg_mcp_reject(request, RG_MCP_INTERNAL, "out of memory");
		return;
	}
	memcpy(listener->id, id.data, id.length);
	listener->peer = request->peer;
	listener->stream = request->stream;
	take_wishes(request, filter, &listener->wishes);
	acknowledge_wishes(request, &listener->wishes);
	request->peer->listener_count++;
	listener->next = server->listeners;
	server->listeners = listener;
}
