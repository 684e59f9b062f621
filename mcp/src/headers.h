/*
 * headers - what a request over HTTP may say outside its body, and which of it
 * must agree with the body.  Pure rules.
 */
#ifndef RG_MCP_HEADERS_H
#define RG_MCP_HEADERS_H

#include "data/http_head.h"
#include "mcp.h"

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
