/*
 * Reading and writing messages.
 *
 * A client waits for the id that it sent, so a message that cannot be read is answered under that
 * id; of a line beyond the limit only the outermost id is kept.  With a surrogate without its
 * other half a text is not JSON: the half is replaced by as many bytes, and the message is read
 * again.
 */
#include "wire.h"

#include <stdlib.h>

#include "base/limits.h"
#include "scan.h"

/* ------------------------------------------------------------ reading -- */

static int fail_bad(struct roger_err *err, int code, const char *what)
{
	rg_fail(err, ROGER_EDATA, 0, "%s", what);
	return code;
}

/* Does any string or name hold U+0000?  C would see less of it than was checked. */
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

/* Read an id, a string or a whole number, as JSON. */
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

/* ------------------------------------------------------------- faults -- */

static const char half_character[] = "half a character";

/* The UTF-16 unit of an escape; < 0: there is no escape. */
static long unit_at(const char *data, size_t length)
{
	char digits[5] = "";

	if (length < 6 || data[0] != '\\' || data[1] != 'u')
		return -1;
	memcpy(digits, data + 2, 4);
	return strspn(digits, "0123456789abcdefABCDEF") == 4 ? strtol(digits, NULL, 16) : -1;
}

/* The fault of an escape, and its bytes; NULL: none. */
static const char *escape_fault(const char *data, size_t length, size_t *ret_bytes)
{
	long unit = unit_at(data, length), next;

	*ret_bytes = unit < 0 ? 2 : 6;
	if (unit < 0xd800 || unit > 0xdfff)
		return NULL;
	next = unit_at(data + 6, length - 6);
	if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff)
		return half_character;
	*ret_bytes = 12;
	return NULL;
}

/* The fault of a character, and its bytes; NULL: none.  Half a character may be encoded like a
 * whole one, in three bytes. */
static const char *character_fault(const char *data, size_t length, size_t *ret_bytes)
{
	const unsigned char *bytes = (const unsigned char *)data;
	uint32_t c;

	*ret_bytes = rg_utf8_next(data, length, &c);
	if (*ret_bytes)
		return NULL;
	if (length >= 3 && bytes[0] == 0xed && bytes[1] >> 5 == 5 && bytes[2] >> 6 == 2) {
		*ret_bytes = 3;
		return half_character;
	}
	*ret_bytes = 1;
	return "a byte that is no UTF-8";
}

/*
 * Replace each invalid character by text of the same length, and print the first fault; return
 * false if all characters are valid.
 */
static bool mend_text(char *data, size_t length, struct rg_arena *arena, struct roger_str *fault)
{
	static const char *const instead[] = { [1] = "?", [3] = "\xef\xbf\xbd", [6] = "\\ufffd" };
	const char *first = NULL, *what;
	size_t at, bytes, place = 0;

	for (at = 0; at < length; at += bytes) {
		what = data[at] == '\\' ? escape_fault(data + at, length - at, &bytes)
					: character_fault(data + at, length - at, &bytes);
		if (!what)
			continue;
		memcpy(data + at, instead[bytes], bytes);
		place = first ? place : at + 1;
		first = first ? first : what;
	}
	return first &&
	       rg_arena_print(arena, fault,
			      "%s at byte %zu of the message; nothing was done, send whole "
			      "characters",
			      first, place);
}

/* Read text again with its faults mended; false: it has none, or others, too. */
static bool read_mended(struct roger_str text, struct rg_arena *arena,
			const struct rg_json **ret_json, struct roger_str *ret_fault)
{
	char *copy = rg_arena_room(arena, text.length + 1);

	if (!copy)
		return false;
	memcpy(copy, text.data, text.length);
	return mend_text(copy, text.length, arena, ret_fault) &&
	       rg_json_read_within((struct roger_str){ copy, text.length }, arena, ret_json,
				   NULL) == ROGER_OK;
}

void rg_mcp_read_scanned(const struct rg_mcp_scan *scan, struct rg_arena *arena,
			 struct rg_mcp_message *message)
{
	struct roger_str id = rg_mcp_scan_id(scan);
	const struct rg_json *json = NULL;

	*message = (struct rg_mcp_message){ .id = { "", 0 }, .method = { "", 0 } };
	if (scan->has_answer && !scan->has_method)
		message->form = RG_MCP_RESPONSE;
	if (!id.length || rg_json_read_within(id, arena, &json, NULL) < 0 ||
	    !read_id(rg_json_root(json), arena, &message->id))
		message->id = RG_STR("");
}

static int read_nothing(struct roger_str text, struct rg_arena *arena,
			struct rg_mcp_message *message)
{
	struct rg_mcp_scan scan = { .depth = 0 };

	rg_mcp_scan_feed(&scan, text);
	rg_mcp_read_scanned(&scan, arena, message);
	return RG_MCP_BAD_JSON;
}

/* ----------------------------------------------------------- messages -- */

static int read_response(const struct rg_value *root, struct rg_mcp_message *message,
			 struct roger_err *err)
{
	message->result = rg_json_member(root, "result");
	message->error = rg_json_member(root, "error");
	if (!message->result == !message->error)
		return fail_bad(err, RG_MCP_BAD_REQUEST,
				"expected 'method', or one of 'result', 'error'");
	message->form = RG_MCP_RESPONSE;
	/* An answer with a fault does not count. */
	if (message->fault.length)
		message->result = NULL;
	return ROGER_OK;
}

static int read_call(const struct rg_value *root, const struct rg_value *method,
		     struct rg_mcp_message *message, struct roger_err *err)
{
	const struct rg_value *params = rg_json_member(root, "params");

	message->form = message->id.length ? RG_MCP_REQUEST : RG_MCP_NOTIFICATION;
	if (rg_json_kind(method) != RG_JSON_STRING)
		return fail_bad(err, RG_MCP_BAD_REQUEST, "'method' is no string");
	message->method = rg_json_str(method);
	if (params && rg_json_kind(params) != RG_JSON_OBJECT)
		return fail_bad(err, RG_MCP_BAD_REQUEST, "'params' is no object");
	message->params = params;
	return ROGER_OK;
}

int rg_mcp_read(struct roger_str text, struct rg_arena *arena, struct rg_mcp_message *message,
		struct roger_err *err)
{
	const struct rg_json *json = NULL;
	const struct rg_value *root, *id, *method;

	*message =
		(struct rg_mcp_message){ .id = { "", 0 }, .method = { "", 0 }, .fault = { "", 0 } };
	if (rg_json_read_within(text, arena, &json, err) < 0 &&
	    !read_mended(text, arena, &json, &message->fault))
		return read_nothing(text, arena, message);
	root = rg_json_root(json);
	if (rg_json_kind(root) == RG_JSON_ARRAY)
		return fail_bad(err, RG_MCP_BAD_REQUEST, "a batch; expected one message at a time");
	if (rg_json_kind(root) != RG_JSON_OBJECT)
		return fail_bad(err, RG_MCP_BAD_REQUEST, "a message is a JSON object");

	id = rg_json_member(root, "id");
	if (id && !read_id(id, arena, &message->id))
		return fail_bad(err, RG_MCP_BAD_REQUEST, "'id' is no string or whole number");
	if (!rg_str_is(rg_json_str(rg_json_member(root, "jsonrpc")), "2.0"))
		return fail_bad(err, RG_MCP_BAD_REQUEST, "expected \"jsonrpc\":\"2.0\"");
	if (memmem(text.data, text.length, "\\u0000", 6) && has_nul(root))
		return fail_bad(err, RG_MCP_BAD_REQUEST,
				"a string holds a NUL character (\\u0000)");
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
