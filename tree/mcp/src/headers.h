/*
 * headers - what a request over HTTP may say outside its body, and which of it
 * must agree with the body.  Pure rules.
 */
#ifndef RG_MCP_HEADERS_H
#define RG_MCP_HEADERS_H

#include "mcp.h"

/* Is this Host ours: localhost, 127.0.0.1, [::1], or one of the list, with any port? */
bool rg_mcp_host_is_ours(const char *host, const char *const *hosts, size_t count);

/* May this Origin talk to us: http(s) of a host that is ours, or one of the list as it stands? */
bool rg_mcp_origin_is_ours(const char *origin, const char *const *hosts, size_t host_count,
			   const char *const *origins, size_t origin_count);

/* Does an Accept header take this type ("application/json")?  NULL takes everything. */
bool rg_mcp_accepts(const char *accept, const char *type);

/* Version, method and name must stand in the headers of a modern request as in its body. */
RG_CHECKED int rg_mcp_headers_check(const struct rg_mcp_headers *headers,
				    const struct rg_mcp_message *message, struct roger_str version,
				    struct roger_err *err);

/* Arguments that the tool's schema marks with x-mcp-header stand in the headers, too. */
RG_CHECKED int rg_mcp_headers_check_arguments(const struct rg_mcp_headers *headers,
					      const struct rg_value *schema,
					      const struct rg_value *arguments,
					      struct roger_err *err);

#endif
