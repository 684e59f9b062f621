/*
 * http_head - may a request over HTTP be answered, by its head alone?  Pure rules.
 *
 * The head must be one that every reader on the way understands alike (RFC 9112): a
 * proxy and a server that disagree on where a request ends let one client speak in the
 * name of another.  And it must come from where it may, to where it is meant for: a page
 * of another site reaches a server on this machine, too.
 */
#ifndef RG_HTTP_HEAD_H
#define RG_HTTP_HEAD_H

#include "base/str.h"

struct rg_http_field {
	const char *name, *value;
};

struct rg_http_head {
	int major, minor;   /* of HTTP */
	const char *target; /* as in the request line */
	const struct rg_http_field *fields;
	size_t count;
	bool bodiless; /* with this method no body comes: not every reader would look for one */
};

/* Who may talk to a server: names of hosts, with a port or for any port, and origins in full. */
struct rg_http_allowed {
	const char *const *hosts, *const *origins;
	size_t host_count, origin_count;
};

/* Why the connection must be closed after a refusal, in words for the client; NULL: the
 * head is fine. */
const char *rg_http_head_fault(const struct rg_http_head *head);

/* Why a browser or a name leads to the wrong server or comes from the wrong place; NULL:
 * Host, Origin and Sec-Fetch-Site are fine. */
const char *rg_http_head_foreign(const struct rg_http_head *head,
				 const struct rg_http_allowed *allowed);

/* Is this Host ours: localhost, 127.0.0.1, [::1], or one of the list, with any port? */
bool rg_http_host_is_ours(const char *host, const struct rg_http_allowed *allowed);

/* May this Origin talk to us: http(s) of a host that is ours, or one of the list in full? */
bool rg_http_origin_is_ours(const char *origin, const struct rg_http_allowed *allowed);

/* Does an Accept header take this type ("application/json")?  NULL takes everything. */
bool rg_http_accepts(const char *accept, const char *type);

#endif
