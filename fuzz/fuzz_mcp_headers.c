/*
 * Lines of any text as what HTTP says beside the body: Host, Origin, Accept, a
 * version, a method, a name, a body; then a template of uris and a uri.  Only a
 * host of ours, as spelt here once more, is ours, and only it makes an origin
 * ours; a uri that a template takes has a value for each of its names.
 */
#include <strings.h>

#include "fuzz.h"
#include "headers.h"
#include "uri.h"

enum { HOST, ORIGIN, ACCEPT, VERSION, METHOD, NAME, BODY, TEMPLATE, URI, LINES };

static const char *const hosts[] = { "app.test" };
static const char *const origins[] = { "null" };
static const struct rg_http_allowed allowed = { hosts, origins, 1, 1 };

/* The text line by line, each with a NUL after it; missing ones are empty. */
static char *cut(const uint8_t *data, size_t size, char *lines[LINES])
{
	char *text = calloc(1, size + 1), *at = text;
	int i;

	rg_assert(text);
	if (size)
		memcpy(text, data, size);
	for (i = 0; i < LINES; i++) {
		lines[i] = at;
		at += strcspn(at, i == BODY ? "\x1e" : "\n");
		if (*at)
			*at++ = '\0';
	}
	return text;
}

static bool is_port(const char *text)
{
	size_t digits;

	if (*text != ':')
		return !*text;
	digits = strspn(text + 1, "0123456789");
	return digits >= 1 && digits <= 5 && !text[1 + digits];
}

static bool is_ours(const char *host)
{
	static const char *const ours[] = { "localhost", "127.0.0.1", "[::1]", "app.test" };
	size_t i;

	for (i = 0; i < sizeof ours / sizeof *ours; i++)
		if (!strncasecmp(host, ours[i], strlen(ours[i])) && is_port(host + strlen(ours[i])))
			return true;
	return false;
}

static bool is_origin(const char *origin)
{
	size_t scheme = !strncasecmp(origin, "http://", 7) ? 7 : 8;

	return !strcasecmp(origin, "null") ||
	       ((scheme == 7 || !strncasecmp(origin, "https://", 8)) && is_ours(origin + scheme));
}

static const char *find_nothing(const void *request, const char *name)
{
	(void)request;
	(void)name;
	return NULL;
}

static void check_body(char *lines[LINES], struct rg_arena *arena)
{
	const struct rg_mcp_headers headers = { lines[VERSION], lines[METHOD], lines[NAME],
						find_nothing, NULL };
	struct rg_mcp_message message = { 0 };
	struct roger_err err = { 0 };

	if (rg_mcp_read(rg_str(lines[BODY]), arena, &message, &err) < 0)
		return;
	(void)rg_mcp_speaks_modern(&message, &headers);
	if (rg_mcp_headers_check(&headers, &message, rg_str(lines[VERSION]), &err) < 0)
		fuzz_check_error(&err, ROGER_EDATA);
}

static void check_uri(const char *template, const char *uri, struct rg_arena *arena)
{
	struct roger_err err = { 0 };
	struct rg_uri_names names;
	size_t i, chars;

	if (rg_uri_check(rg_str(template), &err) < 0) {
		fuzz_check_error(&err, ROGER_EDATA);
		return;
	}
	if (!rg_uri_match(rg_str(template), rg_str(uri), arena, &names))
		return;
	rg_assert(names.count <= RG_URI_NAMES_MAX);
	rg_assert(names.count || !strcmp(template, uri));
	for (i = 0; i < names.count; i++)
		rg_assert(names.value[i].length && rg_utf8_count(names.value[i], &chars));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rg_arena *arena = rg_arena_new();
	char *lines[LINES], *text = cut(data, size, lines);

	rg_assert(arena);
	rg_assert(rg_http_host_is_ours(lines[HOST], &allowed) == is_ours(lines[HOST]));
	rg_assert(rg_http_origin_is_ours(lines[ORIGIN], &allowed) == is_origin(lines[ORIGIN]));
	if (rg_http_accepts(lines[ACCEPT], "application/json"))
		rg_assert(strchr(lines[ACCEPT], '/') &&
			  (strchr(lines[ACCEPT], '*') || strcasestr(lines[ACCEPT], "json")));
	check_body(lines, arena);
	check_uri(lines[TEMPLATE], lines[URI], arena);
	rg_arena_free(arena);
	free(text);
	return 0;
}
