/* wire - read a message of JSON-RPC, and write members of one. */
#ifndef RG_MCP_WIRE_H
#define RG_MCP_WIRE_H

#include "data/json.h"

/* Errors of JSON-RPC and MCP. */
enum {
	RG_MCP_BAD_JSON = -32700,
	RG_MCP_BAD_REQUEST = -32600,
	RG_MCP_NO_METHOD = -32601,
	RG_MCP_BAD_PARAMS = -32602,
	RG_MCP_INTERNAL = -32603,
	RG_MCP_NO_RESOURCE = -32002, /* up to 2025-11-25 */
	RG_MCP_BAD_HEADER = -32020,  /* from 2026-07-28 on, like those below */
	RG_MCP_NO_CAPABILITY = -32021,
	RG_MCP_NO_VERSION = -32022,
};

enum rg_mcp_form { RG_MCP_REQUEST, RG_MCP_NOTIFICATION, RG_MCP_RESPONSE };

/* A message; everything points into the arena it was read in. */
struct rg_mcp_message {
	enum rg_mcp_form form;
	struct roger_str id; /* as JSON: 7 or "seven"; "": none */
	struct roger_str method;
	const struct rg_value *params; /* an object, or NULL */
	const struct rg_value *result; /* of a response; NULL: it is an error */
	const struct rg_value *error;
	struct roger_str fault; /* what is wrong with its texts, in words; "": nothing */
};

struct rg_mcp_scan;

/*
 * Read a message.  A negative result is the code of the error that answers it, with its words in
 * err; message->id is then the id to answer, if it could be found.  Half a surrogate pair, and
 * bytes that are not UTF-8, do not make a message unreadable: they are replaced, and there is a
 * fault.
 */
RG_CHECKED int rg_mcp_read(struct roger_str text, struct rg_arena *arena,
			   struct rg_mcp_message *message, struct roger_err *err);

/* Fill in what is known of a message that was only scanned: its form, and its id, if any. */
void rg_mcp_read_scanned(const struct rg_mcp_scan *scan, struct rg_arena *arena,
			 struct rg_mcp_message *message);

/* Write members of the object that out ends in, or items of the array.  An error makes out fail. */
void rg_mcp_put_text(struct rg_buf *out, const char *key, const char *text);
void rg_mcp_put_str(struct rg_buf *out, const char *key, struct roger_str text);
void rg_mcp_put_json(struct rg_buf *out, const char *key, struct roger_str json);
void rg_mcp_put_buf(struct rg_buf *out, const char *key, const struct rg_buf *json);
void rg_mcp_put_value(struct rg_buf *out, const char *key, const struct rg_value *value);
void rg_mcp_put_int(struct rg_buf *out, const char *key, int64_t number);
void rg_mcp_put_bool(struct rg_buf *out, const char *key, bool value);
void rg_mcp_open(struct rg_buf *out, const char *key, char bracket); /* key NULL: an item */
void rg_mcp_close(struct rg_buf *out, char bracket);
void rg_mcp_next_item(struct rg_buf *out); /* adds a comma if one is needed */

/* Print JSON text on one line; false: it is not JSON (or not of that kind). */
RG_CHECKED int rg_mcp_compact(const char *json, enum rg_json_kind kind, struct rg_buf *out,
			      struct roger_err *err);

#endif
