/*
 * request - a request on its way to its answer, and the methods that answer it.
 *
 * All of this runs under the lock.  A method answers, starts a call that will, or opens a
 * subscription.
 */
#ifndef RG_MCP_REQUEST_H
#define RG_MCP_REQUEST_H

#include "mcp.h"

#define RG_MCP_META "io.modelcontextprotocol/"

struct rg_mcp_request {
	struct roger_mcp_server *server;
	struct rg_mcp_peer *peer;
	struct rg_mcp_stream *stream;
	const struct rg_mcp_message *message;
	const struct rg_mcp_headers *headers;
	struct rg_arena *arena; /* NULL once a call owns it */
	enum rg_mcp_revision revision;
	const struct rg_value *params, *meta, *capabilities;
};

/* Answer with an error of the protocol; data is JSON, or "". */
void rg_mcp_reject_with(struct rg_mcp_request *request, int code, struct roger_str data,
			struct roger_str words);
void rg_mcp_reject(struct rg_mcp_request *request, int code, const char *format, ...)
	RG_PRINTF(3, 4);

/* Begin a result, up to its members, and end it; NULL: nobody reads. */
struct rg_buf *rg_mcp_begin_result(struct rg_mcp_request *request);
void rg_mcp_end_result(struct rg_mcp_request *request, struct rg_buf *out);

/* Print the revisions that we name to clients. */
void rg_mcp_put_versions(struct rg_buf *out, const char *key);

/* Is the value fit for an id, or a token of progress? */
bool rg_mcp_is_id(const struct rg_value *value);

/* Take the uri from the params; false: it was rejected. */
bool rg_mcp_take_uri(struct rg_mcp_request *request, struct roger_str *ret_uri);
void rg_mcp_reject_uri(struct rg_mcp_request *request, struct roger_str uri);

/* The methods.  method_open.c: the handshake, and lists. */
void rg_mcp_initialize(struct rg_mcp_request *request);
void rg_mcp_discover(struct rg_mcp_request *request);
void rg_mcp_set_level(struct rg_mcp_request *request);
void rg_mcp_answer_nothing(struct rg_mcp_request *request);
void rg_mcp_list_tools(struct rg_mcp_request *request);
void rg_mcp_list_resources(struct rg_mcp_request *request);
void rg_mcp_list_templates(struct rg_mcp_request *request);
void rg_mcp_list_prompts(struct rg_mcp_request *request);

/* method_call.c: methods that a handler answers. */
void rg_mcp_call_tool(struct rg_mcp_request *request);
void rg_mcp_read_resource(struct rg_mcp_request *request);
void rg_mcp_get_prompt(struct rg_mcp_request *request);
void rg_mcp_complete(struct rg_mcp_request *request);

/* method_listen.c: subscriptions. */
void rg_mcp_subscribe(struct rg_mcp_request *request);
void rg_mcp_unsubscribe(struct rg_mcp_request *request);
void rg_mcp_listen(struct rg_mcp_request *request);

#endif
