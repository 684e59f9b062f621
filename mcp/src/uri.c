#include "uri.h"

#include "base/limits.h"

bool rg_uri_is_template(struct roger_str uri)
{
	return memchr(uri.data, '{', uri.length) != NULL;
}

static bool in_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* Read the name in braces that the text begins with.  Returns false if it begins otherwise. */
static bool read_name(struct roger_str text, struct roger_str *ret_name)
{
	size_t length = 1;

	while (length < text.length && in_name(text.data[length]))
		length++;
	if (length == 1 || length == text.length || text.data[length] != '}')
		return false;
	*ret_name = (struct roger_str){ text.data + 1, length - 1 };
	return true;
}

static bool is_known(const struct roger_str *names, size_t count, struct roger_str name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (rg_str_equal(names[i], name))
			return true;
	return false;
}

int rg_uri_check(struct roger_str text, struct roger_err *err)
{
	struct roger_str names[RG_URI_NAMES_MAX], rest, name;
	size_t at = 0, count = 0, chars;

	if (text.length == 0 || text.length > RG_MCP_URI_BYTES_MAX || !rg_utf8_count(text, &chars))
		return rg_fail(err, ROGER_EDATA, 0, "a uri has 1 to %d bytes",
			       RG_MCP_URI_BYTES_MAX);
	if (!memchr(text.data, ':', text.length))
		return rg_fail(err, ROGER_EDATA, 0, "uri '%.*s' has no scheme, like 'roger:'",
			       RG_STR_ARGS(text));
	while (at < text.length) {
		if (text.data[at] != '{' && text.data[at] != '}') {
			at++;
			continue;
		}
		rest = (struct roger_str){ text.data + at, text.length - at };
		if (!read_name(rest, &name) || is_known(names, count, name) ||
		    count == RG_URI_NAMES_MAX)
			return rg_fail(err, ROGER_EDATA, 0,
				       "uri '%.*s': expected at most %d names in braces, each once",
				       RG_STR_ARGS(text), RG_URI_NAMES_MAX);
		names[count++] = name;
		at += name.length + 2;
		if (at < text.length && text.data[at] == '{')
			return rg_fail(err, ROGER_EDATA, 0,
				       "uri '%.*s': two names need something between them",
				       RG_STR_ARGS(text));
	}
	return ROGER_OK;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decode %41 to A.  False: it is not text, or has a NUL, and so matches nothing. */
static bool decode_percent(struct roger_str text, struct rg_arena *arena, struct roger_str *ret)
{
	char *to = rg_arena_get(arena, text.length + 1);
	size_t at, length = 0, chars;
	int high, low;

	if (!to)
		return false;
	for (at = 0; at < text.length; at++) {
		if (text.data[at] != '%') {
			to[length++] = text.data[at];
			continue;
		}
		high = at + 2 < text.length ? digit_of(text.data[at + 1]) : -1;
		low = at + 2 < text.length ? digit_of(text.data[at + 2]) : -1;
		if (high < 0 || low < 0)
			return false;
		to[length++] = (char)(high << 4 | low);
		at += 2;
	}
	*ret = (struct roger_str){ to, length };
	return rg_utf8_count(*ret, &chars);
}

static size_t value_length(struct roger_str uri, struct roger_str follows)
{
	size_t length;

	for (length = 0; length < uri.length; length++) {
		if (strchr("/?#", uri.data[length]))
			break;
		/* Stop at the first place where the template's next text may begin. */
		if (length && follows.length && uri.data[length] == follows.data[0])
			break;
	}
	return length;
}

bool rg_uri_match(struct roger_str template, struct roger_str uri, struct rg_arena *arena,
		  struct rg_uri_names *names)
{
	struct roger_str name, value;

	names->count = 0;
	while (template.length) {
		if (template.data[0] != '{') {
			if (uri.length == 0 || uri.data[0] != template.data[0])
				return false;
			template.data++, template.length--;
			uri.data++, uri.length--;
			continue;
		}
		if (!read_name(template, &name) || names->count == RG_URI_NAMES_MAX)
			return false;
		template.data += name.length + 2;
		template.length -= name.length + 2;
		value = (struct roger_str){ uri.data, value_length(uri, template) };
		if (value.length == 0)
			return false;
		uri.data += value.length;
		uri.length -= value.length;
		names->name[names->count] = name;
		if (!decode_percent(value, arena, &names->value[names->count++]))
			return false;
	}
	return uri.length == 0;
}
