#include "data/http_head.h"

#include <string.h>
#include <strings.h>

/* More digits than the length of any body has, and few enough for the number not to overflow. */
enum { LENGTH_DIGITS_MAX = 15 };

static const char digits[] = "0123456789";

/* ------------------------------------------------------------- the head -- */

/* Is the name a token of RFC 9110?  A blank in it would end it for some readers. */
static bool is_token(const char *name)
{
	static const char characters[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
					 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	return *name && name[strspn(name, characters)] == '\0';
}

static bool is_text(const char *value)
{
	for (; *value; value++)
		if (((unsigned char)*value < 0x20 && *value != '\t') || *value == 0x7f)
			return false;
	return true;
}

/* Is the target a path?  Some readers would end it at a blank, and see a host behind "//". */
static bool is_path(const char *target)
{
	const char *c;

	for (c = target; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return false;
	return target[0] == '/' && target[1] != '/';
}

/* How often a header comes; *ret is the value of the last one, or NULL. */
static size_t count_field(const struct rg_http_head *head, const char *name, const char **ret)
{
	size_t i, found = 0;

	*ret = NULL;
	for (i = 0; i < head->count; i++)
		if (strcasecmp(head->fields[i].name, name) == 0) {
			*ret = head->fields[i].value;
			found++;
		}
	return found;
}

static bool is_length(const char *value)
{
	size_t length = strspn(value, digits);

	return length > 0 && length <= LENGTH_DIGITS_MAX && value[length] == '\0';
}

/* The end of the body must be told at most once, and plainly; NULL: it is. */
static const char *body_fault(const struct rg_http_head *head)
{
	const char *length, *coding;
	size_t lengths = count_field(head, "Content-Length", &length);
	size_t codings = count_field(head, "Transfer-Encoding", &coding);

	if (lengths > 1)
		return "expected the header 'Content-Length' once";
	if (lengths && !is_length(length))
		return "expected digits in the header 'Content-Length'";
	if (codings && lengths)
		return "expected 'Content-Length' or 'Transfer-Encoding', not both";
	if (codings > 1 || (codings && strcasecmp(coding, "chunked") != 0))
		return "expected 'chunked' in the header 'Transfer-Encoding'";
	if (head->bodiless && (codings || (lengths && strspn(length, "0") < strlen(length))))
		return "expected no body with this method";
	if (codings && head->minor == 0)
		return "expected HTTP/1.1 for the header 'Transfer-Encoding'";
	return NULL;
}

const char *rg_http_head_fault(const struct rg_http_head *head)
{
	const char *host, *expect, *value;
	size_t i;

	if (head->major != 1 || head->minor < 0 || head->minor > 1)
		return "expected HTTP/1.0 or HTTP/1.1";
	for (i = 0; i < head->count; i++)
		if (!is_token(head->fields[i].name) || !is_text(head->fields[i].value))
			return "expected headers of the form 'Name: value'";
	if (count_field(head, "Host", &host) != 1)
		return "expected the header 'Host' once";
	if (count_field(head, "Authorization", &value) > 1)
		return "expected the header 'Authorization' once";
	if (count_field(head, "Idempotency-Key", &value) > 1)
		return "expected the header 'Idempotency-Key' once";
	if (count_field(head, "Expect", &expect) && strcasecmp(expect, "100-continue") != 0)
		return "expected '100-continue' in the header 'Expect'";
	/* A target with a host is meant for proxies, and may name another host than Host does. */
	if (!head->target || !is_path(head->target))
		return "expected a path that begins with one '/'";
	return body_fault(head);
}

/* ----------------------------------------------------- host and origin -- */

/* Cut off the port, which may be any; false: the text is no host. */
static bool cut_port(const char *host, struct roger_str *ret)
{
	size_t length = host[0] == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
	size_t rest;

	if (length > strlen(host) || length == 0)
		return false;
	*ret = (struct roger_str){ host, length };
	if (host[length] == 0)
		return true;
	rest = strspn(host + length + 1, digits);
	return host[length] == ':' && rest > 0 && rest <= 5 && host[length + 1 + rest] == 0;
}

static bool same_word(struct roger_str a, const char *b)
{
	return a.length == strlen(b) && strncasecmp(a.data, b, a.length) == 0;
}

bool rg_http_host_is_ours(const char *host, const struct rg_http_allowed *allowed)
{
	struct roger_str name;
	size_t i;

	if (!host || !cut_port(host, &name))
		return false;
	if (same_word(name, "localhost") || same_word(name, "127.0.0.1") ||
	    same_word(name, "[::1]"))
		return true;
	for (i = 0; i < allowed->host_count; i++)
		if (same_word(name, allowed->hosts[i]) || strcasecmp(host, allowed->hosts[i]) == 0)
			return true;
	return false;
}

/* Is the origin one of those that are allowed in full? */
static bool is_named(const char *origin, const struct rg_http_allowed *allowed)
{
	size_t i;

	for (i = 0; i < allowed->origin_count; i++)
		if (strcasecmp(origin, allowed->origins[i]) == 0)
			return true;
	return false;
}

bool rg_http_origin_is_ours(const char *origin, const struct rg_http_allowed *allowed)
{
	if (is_named(origin, allowed))
		return true;
	if (strncasecmp(origin, "http://", 7) == 0)
		return rg_http_host_is_ours(origin + 7, allowed);
	return strncasecmp(origin, "https://", 8) == 0 && rg_http_host_is_ours(origin + 8, allowed);
}

/* Did a page of another site ask?  The browser says so, and no page can change it. */
static bool is_of_another_site(const char *site)
{
	return strcasecmp(site, "same-origin") != 0 && strcasecmp(site, "none") != 0;
}

const char *rg_http_head_foreign(const struct rg_http_head *head,
				 const struct rg_http_allowed *allowed)
{
	const char *host, *origin, *site;
	size_t sites;

	count_field(head, "Host", &host);
	if (!rg_http_host_is_ours(host, allowed))
		return "expected a host of this server in the header 'Host': localhost, "
		       "127.0.0.1, [::1], or one that it was told of";
	if (count_field(head, "Origin", &origin) > 1 ||
	    (origin && !rg_http_origin_is_ours(origin, allowed)))
		return "expected no header 'Origin', or one of a host of this server";
	sites = count_field(head, "Sec-Fetch-Site", &site);
	if (sites && (sites > 1 || is_of_another_site(site)) &&
	    !(origin && is_named(origin, allowed)))
		return "expected 'same-origin' or 'none' in the header 'Sec-Fetch-Site': a page "
		       "of another site asks";
	return NULL;
}

bool rg_http_accepts(const char *accept, const char *type)
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

/* -------------------------------------------------------------- reasons -- */

const char *rg_http_reason(int status)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{ 200, "OK" },
		{ 202, "Accepted" },
		{ 204, "No Content" },
		{ 304, "Not Modified" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 406, "Not Acceptable" },
		{ 409, "Conflict" },
		{ 412, "Precondition Failed" },
		{ 413, "Content Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 422, "Unprocessable Content" },
		{ 431, "Request Header Fields Too Large" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 507, "Insufficient Storage" },
	};
	size_t i;

	for (i = 0; i < sizeof reasons / sizeof *reasons; i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return status < 400 ? "OK" : "Refused";
}
