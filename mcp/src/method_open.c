/* Methods that begin a connection, and lists. */
#include <stdlib.h>

#include "base/limits.h"
#include "request.h"

/* ------------------------------------------------------------ opening -- */

static void put_list_capability(struct rg_buf *out, const char *key, bool subscribe)
{
	rg_mcp_open(out, key, '{');
	if (subscribe)
		rg_mcp_put_bool(out, "subscribe", true);
	rg_mcp_put_bool(out, "listChanged", true);
	rg_mcp_close(out, '}');
}

static void put_empty(struct rg_buf *out, const char *key)
{
	rg_mcp_open(out, key, '{');
	rg_mcp_close(out, '}');
}

static void put_capabilities(struct roger_mcp_server *server, struct rg_buf *out)
{
	rg_mcp_open(out, "capabilities", '{');
	if (server->completes)
		put_empty(out, "completions");
	if (server->options.logging)
		put_empty(out, "logging");
	if (server->offers[RG_MCP_PROMPTS])
		put_list_capability(out, "prompts", false);
	if (server->offers[RG_MCP_RESOURCES] || server->offers[RG_MCP_TEMPLATES])
		put_list_capability(out, "resources", true);
	if (server->offers[RG_MCP_TOOLS])
		put_list_capability(out, "tools", false);
	rg_mcp_close(out, '}');
}

static char *copy_text(const struct rg_value *value)
{
	struct roger_str text = rg_json_str(value);

	return strndup(text.data, text.length < 256 ? text.length : 256);
}

/* Keep the client's name, version and capabilities. */
static bool keep_client(struct rg_mcp_peer *peer, const struct rg_value *params)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	const struct rg_value *info = rg_json_member(params, "clientInfo");

	rg_json_print(rg_json_member(params, "capabilities"), &text);
	peer->client_name = copy_text(rg_json_member(info, "name"));
	peer->client_version = copy_text(rg_json_member(info, "version"));
	return peer->client_name && peer->client_version && !text.failed &&
	       rg_json_read(rg_buf_str(&text), &peer->capabilities, NULL) == ROGER_OK;
}

static void put_instructions(struct roger_mcp_server *server, const char *caller,
			     const char *client_name, struct rg_buf *out)
{
	if (server->instruct)
		rg_mcp_put_text(out, "instructions",
				server->instruct(caller, client_name, server->instruct_data));
	else
		rg_mcp_put_text(out, "instructions", server->instructions);
}

void rg_mcp_initialize(struct rg_mcp_request *request)
{
	const struct rg_value *version = rg_json_member(request->params, "protocolVersion");
	struct roger_mcp_server *server = request->server;
	struct rg_mcp_peer *peer = request->peer;
	enum rg_mcp_revision wanted = rg_mcp_revision_of(rg_json_str(version));
	struct rg_buf *out;

	if (peer->revision != RG_MCP_NONE) {
		rg_mcp_reject(request, RG_MCP_BAD_REQUEST, "'initialize' was answered already");
		return;
	}
	if (rg_json_kind(version) != RG_JSON_STRING ||
	    rg_json_kind(rg_json_member(request->params, "capabilities")) != RG_JSON_OBJECT) {
		rg_mcp_reject(
			request, RG_MCP_BAD_PARAMS,
			"'initialize' needs 'protocolVersion' (a string) and 'capabilities' (an "
			"object)");
		return;
	}
	if (!keep_client(peer, request->params)) {
		rg_mcp_reject(request, RG_MCP_INTERNAL, "out of memory");
		return;
	}
	/* Another version is answered with the newest one that uses `initialize`. */
	peer->revision =
		wanted == RG_MCP_NONE || rg_mcp_is_modern(wanted) ? RG_MCP_2025_11_25 : wanted;
	peer->log_level = rg_mcp_level_of(RG_STR("info"));
	peer->wishes.lists = ~0u;

	out = rg_mcp_begin_result(request);
	if (!out)
		return;
	rg_mcp_put_text(out, "protocolVersion", rg_mcp_revision_name(peer->revision));
	put_capabilities(server, out);
	rg_mcp_open(out, "serverInfo", '{');
	rg_mcp_put_text(out, "name", server->name);
	rg_mcp_put_text(out, "title", server->title);
	rg_mcp_put_text(out, "version", server->version);
	rg_mcp_close(out, '}');
	put_instructions(server, peer->caller, peer->client_name, out);
	rg_mcp_end_result(request, out);
}

void rg_mcp_discover(struct rg_mcp_request *request)
{
	const struct rg_value *info = rg_json_member(request->meta, RG_MCP_META "clientInfo");
	const struct rg_value *name = rg_json_member(info, "name");
	struct rg_buf *out = rg_mcp_begin_result(request);

	if (!out)
		return;
	rg_mcp_put_versions(out, "supportedVersions");
	put_capabilities(request->server, out);
	put_instructions(request->server, request->stream->peer->caller,
			 name ? rg_json_str(name).data : NULL, out);
	/* Instructions for one client must not be cached for the next. */
	rg_mcp_put_cache(out, request->server->options.list_ttl_ms, !request->server->instruct);
	rg_mcp_end_result(request, out);
}

void rg_mcp_set_level(struct rg_mcp_request *request)
{
	int level = rg_mcp_level_of(rg_json_str(rg_json_member(request->params, "level")));

	if (level < 0) {
		rg_mcp_reject(
			request, RG_MCP_BAD_PARAMS,
			"'level' is none of debug, info, notice, warning, error, critical, alert, "
			"emergency");
		return;
	}
	request->peer->log_level = level;
	rg_mcp_answer_nothing(request);
}

/* -------------------------------------------------------------- lists -- */

static void list_items(struct rg_mcp_request *request, enum rg_mcp_kind kind)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf items = { .maximum = RG_MCP_UNSENT_BYTES_MAX };
	const struct rg_value *cursor = rg_json_member(request->params, "cursor");
	struct rg_buf *out;

	if (!rg_mcp_list_locked(request->server, kind, cursor, &items)) {
		rg_mcp_reject(
			request, RG_MCP_BAD_PARAMS,
			"'cursor' is none that this server gave; leave it out to start again");
		return;
	}
	out = rg_mcp_begin_result(request);
	if (!out)
		return;
	if (!out->failed && out->data[out->length - 1] != '{')
		rg_buf_add_char(out, ',');
	rg_buf_add_str(out, rg_buf_str(&items));
	out->failed |= items.failed;
	if (rg_mcp_is_modern(request->revision))
		rg_mcp_put_cache(out, request->server->options.list_ttl_ms, true);
	rg_mcp_end_result(request, out);
}

void rg_mcp_list_tools(struct rg_mcp_request *request)
{
	list_items(request, RG_MCP_TOOLS);
}

void rg_mcp_list_resources(struct rg_mcp_request *request)
{
	list_items(request, RG_MCP_RESOURCES);
}

void rg_mcp_list_templates(struct rg_mcp_request *request)
{
	list_items(request, RG_MCP_TEMPLATES);
}

void rg_mcp_list_prompts(struct rg_mcp_request *request)
{
	list_items(request, RG_MCP_PROMPTS);
}
