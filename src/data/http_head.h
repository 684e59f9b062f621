/*
 * http_head - may a request over HTTP be answered, by its head alone?  Pure rules.
 *
 * The head must be one that every reader on the way understands alike (RFC 9112): where a proxy
 * and a server disagree on the end of a request, one client can speak in the name of another.  The
 * request must also come from an allowed place, and be meant for this server: a page of another
 * site reaches a server on this machine, too.
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
	bool bodiless; /* the method has no body: some readers would not look for one */
};

/* Who may talk to a server: hosts, with a port or for any port, and origins in full. */
struct rg_http_allowed {
	const char *const *hosts, *const *origins;
	size_t host_count, origin_count;
};

/* The fault of a head, in words for the client; NULL: none.  After a fault the connection must
 * be closed. */
const char *rg_http_head_fault(const struct rg_http_head *head);

/* Why a request came to the wrong server or from the wrong place, by Host, Origin and
 * Sec-Fetch-Site; NULL: they are fine. */
const char *rg_http_head_foreign(const struct rg_http_head *head,
				 const struct rg_http_allowed *allowed);

/* Is this Host ours: localhost, 127.0.0.1, [::1], or one of the list, with any port? */
bool rg_http_host_is_ours(const char *host, const struct rg_http_allowed *allowed);

/* May this Origin talk to us: http(s) of a host that is ours, or one of the list in full? */
bool rg_http_origin_is_ours(const char *origin, const struct rg_http_allowed *allowed);

/* Does an Accept header take this type ("application/json")?  NULL takes everything. */
bool rg_http_accepts(const char *accept, const char *type);

/* The words after the number in a status line. */
const char *rg_http_reason(int status);

#endif
