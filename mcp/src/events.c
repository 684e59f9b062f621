/* Which changes a client wants to be told, and telling them once there is room. */
#include <stdlib.h>

#include "base/limits.h"
#include "mcp.h"

/* ------------------------------------------------------------- wishes -- */

bool rg_mcp_wish_locked(struct roger_mcp_server *server, struct rg_mcp_wishes *wishes,
			struct roger_str uri, struct rg_arena *arena)
{
	struct rg_uri_names names;
	struct rg_mcp_uri *wish;

	for (wish = wishes->uris; wish; wish = wish->next)
		if (rg_str_is(uri, wish->text))
			return true;
	if (!rg_mcp_find_uri_locked(server, uri, arena, &names))
		return false;
	if (wishes->uri_count == RG_MCP_SUBSCRIPTIONS_MAX || uri.length > RG_MCP_URI_BYTES_MAX)
		return false;
	wish = malloc(sizeof *wish + uri.length + 1);
	if (!wish)
		return false;
	memcpy(wish->text, uri.data, uri.length);
	wish->text[uri.length] = 0;
	wish->late = false;
	wish->next = wishes->uris;
	wishes->uris = wish;
	wishes->uri_count++;
	if (server->listening)
		server->listening(server->listening_data);
	return true;
}

void rg_mcp_unwish(struct rg_mcp_wishes *wishes, struct roger_str uri)
{
	struct rg_mcp_uri **place, *wish;

	for (place = &wishes->uris; (wish = *place); place = &wish->next) {
		if (!rg_str_is(uri, wish->text))
			continue;
		*place = wish->next;
		free(wish);
		wishes->uri_count--;
		return;
	}
}

void rg_mcp_wishes_deinit(struct rg_mcp_wishes *wishes)
{
	struct rg_mcp_uri *wish, *next;

	for (wish = wishes->uris; wish; wish = next) {
		next = wish->next;
		free(wish);
	}
	*wishes = (struct rg_mcp_wishes){ 0 };
}

/* ------------------------------------------------------------ telling -- */

/* Is there room for a notification?  Otherwise the client gets a single one later, when it has
 * read what is waiting. */
static bool has_room(const struct rg_mcp_stream *stream)
{
	return stream->out.length + stream->backlog < RG_MCP_BACKLOG_BYTES;
}

/* id: of the listener, as JSON; NULL: a legacy client. */
static void notify_listener(struct rg_mcp_stream *stream, const char *method, const char *uri,
			    const char *id)
{
	struct rg_buf *out = rg_mcp_begin_locked(stream, false);

	if (!out)
		return;
	rg_buf_add_char(out, '{');
	rg_mcp_put_text(out, "jsonrpc", "2.0");
	rg_mcp_put_text(out, "method", method);
	if (uri || id) {
		rg_mcp_open(out, "params", '{');
		if (id) {
			rg_mcp_open(out, "_meta", '{');
			rg_mcp_put_json(out, "io.modelcontextprotocol/subscriptionId", rg_str(id));
			rg_mcp_close(out, '}');
		}
		rg_mcp_put_text(out, "uri", uri);
		rg_mcp_close(out, '}');
	}
	rg_mcp_close(out, '}');
	rg_mcp_end_locked(stream, RG_STR(""), false, 200);
}

/* Tell of changes to uri (NULL: to all uris); late_only: those that were not told yet. */
static void tell_uri(struct rg_mcp_wishes *wishes, struct rg_mcp_stream *stream, const char *id,
		     const char *uri, bool late_only)
{
	struct rg_mcp_uri *wish;

	for (wish = wishes->uris; wish; wish = wish->next) {
		if ((uri && strcmp(wish->text, uri) != 0) || (late_only && !wish->late))
			continue;
		wish->late = !stream || !has_room(stream);
		if (!wish->late)
			notify_listener(stream, "notifications/resources/updated", wish->text, id);
		else if (stream)
			stream->late = true;
	}
}

static void tell_lists(struct rg_mcp_wishes *wishes, struct rg_mcp_stream *stream, const char *id,
		       unsigned lists)
{
	static const char *const methods[] = { "notifications/tools/list_changed",
					       "notifications/resources/list_changed", NULL,
					       "notifications/prompts/list_changed" };
	int kind;

	for (kind = 0; kind < RG_MCP_KINDS; kind++) {
		if (!(lists & wishes->lists & 1u << kind) || !methods[kind])
			continue;
		if (stream && has_room(stream)) {
			wishes->late_lists &= ~(1u << kind);
			notify_listener(stream, methods[kind], NULL, id);
			continue;
		}
		wishes->late_lists |= 1u << kind;
		if (stream)
			stream->late = true;
	}
}

void roger_mcp_resource_updated(struct roger_mcp_server *server, const char *uri)
{
	struct rg_mcp_listener *listener;
	struct rg_mcp_peer *peer;

	rg_mcp_lock(server);
	for (peer = server->peers; peer; peer = peer->next)
		tell_uri(&peer->wishes, peer->stream, NULL, uri, false);
	for (listener = server->listeners; listener; listener = listener->next)
		tell_uri(&listener->wishes, listener->stream, listener->id, uri, false);
	rg_mcp_unlock(server);
}

bool roger_mcp_has_listeners(struct roger_mcp_server *server)
{
	const struct rg_mcp_listener *listener;
	const struct rg_mcp_peer *peer;
	bool found = false;

	rg_mcp_lock(server);
	for (peer = server->peers; peer && !found; peer = peer->next)
		found = peer->wishes.uri_count;
	for (listener = server->listeners; listener && !found; listener = listener->next)
		found = listener->wishes.uri_count;
	rg_mcp_unlock(server);
	return found;
}

void rg_mcp_list_changed_locked(struct roger_mcp_server *server, enum rg_mcp_kind kind)
{
	struct rg_mcp_listener *listener;
	struct rg_mcp_peer *peer;
	unsigned lists;

	/* For clients, templates are resources. */
	lists = 1u << (kind == RG_MCP_TEMPLATES ? RG_MCP_RESOURCES : kind);
	for (peer = server->peers; peer; peer = peer->next)
		tell_lists(&peer->wishes, peer->stream, NULL, lists);
	for (listener = server->listeners; listener; listener = listener->next)
		tell_lists(&listener->wishes, listener->stream, listener->id, lists);
}

void rg_mcp_catch_up_locked(struct rg_mcp_stream *stream)
{
	struct roger_mcp_server *server = stream->peer->server;
	struct rg_mcp_listener *listener;
	struct rg_mcp_peer *peer = stream->peer;

	if (!stream->late || !has_room(stream))
		return;
	stream->late = false;
	if (peer->stream == stream) {
		tell_lists(&peer->wishes, stream, NULL, peer->wishes.late_lists);
		tell_uri(&peer->wishes, stream, NULL, NULL, true);
	}
	for (listener = server->listeners; listener; listener = listener->next) {
		if (listener->stream != stream)
			continue;
		tell_lists(&listener->wishes, stream, listener->id, listener->wishes.late_lists);
		tell_uri(&listener->wishes, stream, listener->id, NULL, true);
	}
}

/* ---------------------------------------------------------- listeners -- */

struct rg_mcp_listener *rg_mcp_listener_find_locked(struct roger_mcp_server *server,
						    const struct rg_mcp_peer *peer,
						    struct roger_str id)
{
	struct rg_mcp_listener *listener;

	for (listener = server->listeners; listener; listener = listener->next)
		if (listener->peer == peer && rg_str_is(id, listener->id))
			return listener;
	return NULL;
}

/* Answer the listener's request, when it ends. */
static void answer_listener(struct roger_mcp_server *server, const struct rg_mcp_listener *listener)
{
	struct rg_buf *out = rg_mcp_begin_locked(listener->stream, true);

	if (!out)
		return;
	rg_mcp_put_head(out, rg_str(listener->id));
	rg_mcp_open(out, "result", '{');
	rg_mcp_put_text(out, "resultType", "complete");
	rg_mcp_open(out, "_meta", '{');
	rg_mcp_put_json(out, "io.modelcontextprotocol/subscriptionId", rg_str(listener->id));
	rg_mcp_put_server(server, out);
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
	rg_mcp_close(out, '}');
	rg_mcp_end_locked(listener->stream, rg_str(listener->id), true, 200);
}

void rg_mcp_listener_end_locked(struct roger_mcp_server *server, struct rg_mcp_listener *listener,
				bool told)
{
	struct rg_mcp_listener **place = &server->listeners;

	while (*place != listener)
		place = &(*place)->next;
	*place = listener->next;
	if (told)
		answer_listener(server, listener);
	listener->peer->listener_count--;
	rg_mcp_wishes_deinit(&listener->wishes);
	free(listener);
}

void rg_mcp_end_listeners_locked(struct roger_mcp_server *server)
{
	while (server->listeners)
		rg_mcp_listener_end_locked(server, server->listeners, true);
}
