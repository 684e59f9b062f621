#include "headers.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base64.h"

/* ----------------------------------------------------- host and origin -- */

/* Without the port, which anybody may choose; false: it is no host. */
static bool cut_port(const char *host, struct roger_str *ret)
{
	size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	size_t rest;

	if (length > strlen(host) || length == 0)
		return false;
	*ret = (struct roger_str){ host, length };
	if (host[length] == 0)
		return true;
	rest = strspn(host + length + 1, "0123456789");
	return host[length] == ':' && rest > 0 && rest <= 5 && host[length + 1 + rest] == 0;
}

static bool same_word(struct roger_str a, const char *b)
{
	return a.length == strlen(b) && strncasecmp(a.data, b, a.length) == 0;
}

bool rg_mcp_host_is_ours(const char *host, const char *const *hosts, size_t count)
{
	struct roger_str name;
	size_t i;

	if (!host || !cut_port(host, &name))
		return false;
	if (same_word(name, "localhost") || same_word(name, "127.0.0.1") ||
	    same_word(name, "[::1]"))
		return true;
	for (i = 0; i < count; i++)
		if (same_word(name, hosts[i]) || strcasecmp(host, hosts[i]) == 0)
			return true;
	return false;
}

bool rg_mcp_origin_is_ours(const char *origin, const char *const *hosts, size_t host_count,
			   const char *const *origins, size_t origin_count)
{
	size_t i;

	for (i = 0; i < origin_count; i++)
		if (strcasecmp(origin, origins[i]) == 0)
			return true;
	if (strncasecmp(origin, "http://", 7) == 0)
		return rg_mcp_host_is_ours(origin + 7, hosts, host_count);
	return strncasecmp(origin, "https://", 8) == 0 &&
	       rg_mcp_host_is_ours(origin + 8, hosts, host_count);
}

bool rg_mcp_accepts(const char *accept, const char *type)
{
	size_t length, kind = strcspn(type, "/");
	struct roger_str range;

	if (!accept)
		return true;
	for (; *accept; accept += length + (accept[length] == ',')) {
		length = strcspn(accept, ",");
		range = (struct roger_str){ accept + strspn(accept, " \t"), 0 };
		range.length = strcspn(range.data, ",; \t");
		if (same_word(range, type) || same_word(range, "*/*"))
			return true;
		if (range.length == kind + 2 && strncasecmp(range.data, type, kind + 1) == 0 &&
		    range.data[kind + 1] == '*')
			return true;
	}
	return false;
}

/* ----------------------------------------------------- header and body -- */

static int mismatch(struct roger_err *err, const char *header, const char *what)
{
	return rg_fail(err, ROGER_EDATA, 0, "header mismatch: '%s' %s", header, what);
}

/* The value without blanks around it, and out of "=?base64?...?=". */
static bool decode(const char *header, struct rg_buf *out)
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
		return mismatch(err, header, "is missing");
	if (!decode(value, &text))
		return mismatch(err, header, "holds characters, or base64, that it must not hold");
	if (!rg_str_equal(rg_buf_str(&text), body))
		return mismatch(err, header, "is not what the body says");
	return ROGER_OK;
}

/* What Mcp-Name repeats; NULL: this method has none. */
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

/* A header and an argument say the same: numbers by their value. */
static bool says(struct roger_str text, const struct rg_value *value)
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
		return found ? mismatch(err, header, "has no argument in the body") : ROGER_OK;
	if (!found)
		return mismatch(err, header, "is missing");
	if (!decode(found, &text))
		return mismatch(err, header, "holds characters, or base64, that it must not hold");
	return says(rg_buf_str(&text), value) ? ROGER_OK
					      : mismatch(err, header, "is not what the body says");
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
