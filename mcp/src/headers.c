#include "headers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base64.h"

/* ----------------------------------------------------- header and body -- */

static int fail_mismatch(struct roger_err *err, const char *header, const char *what)
{
	return rg_fail(err, ROGER_EDATA, 0, "header mismatch: '%s' %s", header, what);
}

/* Take the blanks off the value, and decode "=?base64?...?=". */
static bool decode_header(const char *header, struct rg_buf *out)
{
	static const char start[] = "=?base64?", end[] = "?=";
	struct roger_str text = { header + strspn(header, " \t"), 0 };
	size_t i;

	text.length = strlen(text.data);
	while (text.length && strchr(" \t", text.data[text.length - 1]))
		text.length--;
	for (i = 0; i < text.length; i++)
		if ((unsigned char)text.data[i] >= 0x7f ||
		    ((unsigned char)text.data[i] < 0x20 && text.data[i] != '\t'))
			return false;
	if (text.length < sizeof start + sizeof end - 2 ||
	    memcmp(text.data, start, sizeof start - 1) != 0 ||
	    memcmp(text.data + text.length - 2, end, 2) != 0) {
		rg_buf_add_str(out, text);
		return !out->failed;
	}
	text.data += sizeof start - 1;
	text.length -= sizeof start - 1 + 2;
	return rg_base64_read(text, out);
}

static int check_same(const char *header, const char *value, struct roger_str body,
		      struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };

	if (!value)
		return fail_mismatch(err, header, "is missing");
	if (!decode_header(value, &text))
		return fail_mismatch(err, header,
				     "holds characters, or base64, that it must not hold");
	if (!rg_str_equal(rg_buf_str(&text), body))
		return fail_mismatch(err, header, "is not what the body says");
	return ROGER_OK;
}

/* The value that Mcp-Name must repeat; NULL: this method has none. */
static const struct rg_value *name_of(const struct rg_mcp_message *message)
{
	if (rg_str_is(message->method, "tools/call") || rg_str_is(message->method, "prompts/get"))
		return rg_json_member(message->params, "name");
	if (rg_str_is(message->method, "resources/read"))
		return rg_json_member(message->params, "uri");
	return NULL;
}

int rg_mcp_headers_check(const struct rg_mcp_headers *headers, const struct rg_mcp_message *message,
			 struct roger_str version, struct roger_err *err)
{
	const struct rg_value *name = name_of(message);
	int r;

	r = check_same("MCP-Protocol-Version", headers->version, version, err);
	if (r == ROGER_OK)
		r = check_same("Mcp-Method", headers->method, message->method, err);
	if (r == ROGER_OK && rg_json_kind(name) == RG_JSON_STRING)
		r = check_same("Mcp-Name", headers->name, rg_json_str(name), err);
	return r;
}

/* Does the header say the same as the argument?  Numbers are compared by value. */
static bool says_same(struct roger_str text, const struct rg_value *value)
{
	struct roger_str digits = rg_json_digits(value);
	char a[64], b[64], *end;

	switch (rg_json_kind(value)) {
	case RG_JSON_STRING:
		return rg_str_equal(text, rg_json_str(value));
	case RG_JSON_TRUE:
		return rg_str_is(text, "true");
	case RG_JSON_FALSE:
		return rg_str_is(text, "false");
	case RG_JSON_NUMBER:
		if (text.length == 0 || text.length >= sizeof a || digits.length >= sizeof b)
			return false;
		snprintf(a, sizeof a, "%.*s", RG_STR_ARGS(text));
		snprintf(b, sizeof b, "%.*s", RG_STR_ARGS(digits));
		return strtod(a, &end) == strtod(b, NULL) && *end == 0;
	default:
		return false;
	}
}

static int check_argument(const struct rg_mcp_headers *headers, struct roger_str name,
			  const struct rg_value *value, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char header[160];
	const char *found;

	snprintf(header, sizeof header, "Mcp-Param-%.*s", RG_STR_ARGS(name));
	found = headers->find(headers->request, header);
	if (!value || rg_json_kind(value) == RG_JSON_NULL)
		return found ? fail_mismatch(err, header, "has no argument in the body") : ROGER_OK;
	if (!found)
		return fail_mismatch(err, header, "is missing");
	if (!decode_header(found, &text))
		return fail_mismatch(err, header,
				     "holds characters, or base64, that it must not hold");
	return says_same(rg_buf_str(&text), value)
		       ? ROGER_OK
		       : fail_mismatch(err, header, "is not what the body says");
}

/* Recursion is bounded by the depth of the schema. */
int rg_mcp_headers_check_arguments(const struct rg_mcp_headers *headers,
				   const struct rg_value *schema, const struct rg_value *arguments,
				   struct roger_err *err)
{
	const struct rg_value *properties = rg_json_member(schema, "properties");
	const struct rg_value *property = NULL, *value, *header;
	struct roger_str name;
	size_t i = 0;
	int r;

	while (rg_json_next(properties, &i, &name, &property)) {
		value = rg_json_member_of(arguments, name);
		header = rg_json_member(property, "x-mcp-header");
		if (header) {
			r = check_argument(headers, rg_json_str(header), value, err);
			if (r < 0)
				return r;
		}
		r = rg_mcp_headers_check_arguments(headers, property, value, err);
		if (r < 0)
			return r;
	}
	return ROGER_OK;
}
