#include "mcp/wire.h"

#include <stdlib.h>

#include "base/limits.h"

/* ------------------------------------------------------------ reading -- */

static int bad(struct roger_err *err, int code, const char *what)
{
	rg_fail(err, ROGER_EDATA, 0, "%s", what);
	return code;
}

/* U+0000 in any string or name: C would see less of it than was checked. */
static bool has_nul(const struct rg_value *value)
{
	const struct rg_value *inner = NULL;
	struct roger_str key = { "", 0 }, text;
	size_t i = 0;

	if (rg_json_kind(value) == RG_JSON_STRING) {
		text = rg_json_str(value);
		return memchr(text.data, 0, text.length) != NULL;
	}
	while (rg_json_next(value, &i, &key, &inner))
		if (memchr(key.data, 0, key.length) || has_nul(inner))
			return true;
	return false;
}

/* A string or a whole number, as JSON. */
static bool read_id(const struct rg_value *id, struct rg_arena *arena, struct roger_str *ret)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = RG_MCP_ID_BYTES_MAX };
	enum rg_json_kind kind = rg_json_kind(id);
	struct roger_str digits = rg_json_digits(id);

	if (kind == RG_JSON_NUMBER && strcspn(digits.data, ".eE") < digits.length)
		return false;
	if (kind != RG_JSON_STRING && kind != RG_JSON_NUMBER)
		return false;
	rg_json_print(id, &text);
	return !text.failed && rg_arena_copy(arena, rg_buf_str(&text), ret);
}

static int read_response(const struct rg_value *root, struct rg_mcp_message *message,
			 struct roger_err *err)
{
	message->form = RG_MCP_RESPONSE;
	message->result = rg_json_member(root, "result");
	message->error = rg_json_member(root, "error");
	if (!message->result == !message->error)
		return bad(err, RG_MCP_BAD_REQUEST,
			   "expected 'method', or one of 'result', 'error'");
	return ROGER_OK;
}

static int read_call(const struct rg_value *root, const struct rg_value *method,
		     struct rg_mcp_message *message, struct roger_err *err)
{
	const struct rg_value *params = rg_json_member(root, "params");

	message->form = message->id.length ? RG_MCP_REQUEST : RG_MCP_NOTIFICATION;
	if (rg_json_kind(method) != RG_JSON_STRING)
		return bad(err, RG_MCP_BAD_REQUEST, "'method' is no string");
	message->method = rg_json_str(method);
	if (params && rg_json_kind(params) != RG_JSON_OBJECT)
		return bad(err, RG_MCP_BAD_REQUEST, "'params' is no object");
	message->params = params;
	return ROGER_OK;
}

int rg_mcp_read(struct roger_str text, struct rg_arena *arena, struct rg_mcp_message *message,
		struct roger_err *err)
{
	const struct rg_json *json = NULL;
	const struct rg_value *root, *id, *method;

	*message = (struct rg_mcp_message){ .id = { "", 0 }, .method = { "", 0 } };
	if (rg_json_read_within(text, arena, &json, err) < 0)
		return RG_MCP_BAD_JSON;
	root = rg_json_root(json);
	if (rg_json_kind(root) == RG_JSON_ARRAY)
		return bad(err, RG_MCP_BAD_REQUEST, "a batch; expected one message at a time");
	if (rg_json_kind(root) != RG_JSON_OBJECT)
		return bad(err, RG_MCP_BAD_REQUEST, "a message is a JSON object");

	id = rg_json_member(root, "id");
	if (id && !read_id(id, arena, &message->id))
		return bad(err, RG_MCP_BAD_REQUEST, "'id' is no string or whole number");
	if (!rg_str_is(rg_json_str(rg_json_member(root, "jsonrpc")), "2.0"))
		return bad(err, RG_MCP_BAD_REQUEST, "expected \"jsonrpc\":\"2.0\"");
	if (memmem(text.data, text.length, "\\u0000", 6) && has_nul(root))
		return bad(err, RG_MCP_BAD_REQUEST, "a string holds a NUL character (\\u0000)");
	method = rg_json_member(root, "method");
	return method ? read_call(root, method, message, err) : read_response(root, message, err);
}

/* ------------------------------------------------------------ writing -- */

void rg_mcp_put_str(struct rg_buf *out, const char *key, struct roger_str text)
{
	rg_json_add_key(out, rg_str(key));
	rg_json_add_string(out, text);
}

void rg_mcp_put_text(struct rg_buf *out, const char *key, const char *text)
{
	if (text)
		rg_mcp_put_str(out, key, rg_str(text));
}

void rg_mcp_put_json(struct rg_buf *out, const char *key, struct roger_str json)
{
	rg_json_add_key(out, rg_str(key));
	rg_buf_add_str(out, json);
}

void rg_mcp_put_buf(struct rg_buf *out, const char *key, const struct rg_buf *json)
{
	rg_mcp_put_json(out, key, rg_buf_str(json));
	out->failed |= json->failed;
}

void rg_mcp_put_value(struct rg_buf *out, const char *key, const struct rg_value *value)
{
	rg_json_add_key(out, rg_str(key));
	rg_json_print(value, out);
}

void rg_mcp_put_int(struct rg_buf *out, const char *key, int64_t number)
{
	rg_json_add_key(out, rg_str(key));
	rg_buf_add_int(out, number);
}

void rg_mcp_put_bool(struct rg_buf *out, const char *key, bool value)
{
	rg_json_add_key(out, rg_str(key));
	rg_buf_add_text(out, value ? "true" : "false");
}

void rg_mcp_next_item(struct rg_buf *out)
{
	if (out->length && out->data[out->length - 1] != '[')
		rg_buf_add_char(out, ',');
}

void rg_mcp_open(struct rg_buf *out, const char *key, char bracket)
{
	if (key)
		rg_json_add_key(out, rg_str(key));
	else
		rg_mcp_next_item(out);
	rg_buf_add_char(out, bracket);
}

void rg_mcp_close(struct rg_buf *out, char bracket)
{
	rg_buf_add_char(out, bracket);
}

int rg_mcp_compact(const char *json, enum rg_json_kind kind, struct rg_buf *out,
		   struct roger_err *err)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *read = NULL;
	int r;

	r = rg_json_read(rg_str(json), &read, err);
	if (r < 0)
		return r;
	if (rg_json_kind(rg_json_root(read)) != kind)
		return rg_fail(err, ROGER_EDATA, 0, "expected %s of JSON", rg_json_kind_name(kind));
	rg_json_print(rg_json_root(read), out);
	return out->failed ? rg_fail_memory(err) : ROGER_OK;
}
