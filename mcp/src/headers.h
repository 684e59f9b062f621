/* headers - the headers of a request over HTTP that must agree with its body.  Pure rules. */
#ifndef RG_MCP_HEADERS_H
#define RG_MCP_HEADERS_H

#include "data/http_head.h"
#include "mcp.h"

/* A modern request must have its version, method and name in the headers, too. */
RG_CHECKED int rg_mcp_headers_check(const struct rg_mcp_headers *headers,
				    const struct rg_mcp_message *message, struct roger_str version,
				    struct roger_err *err);

/* Arguments that the tool's schema marks with x-mcp-header must be in the headers, too. */
RG_CHECKED int rg_mcp_headers_check_arguments(const struct rg_mcp_headers *headers,
					      const struct rg_value *schema,
					      const struct rg_value *arguments,
					      struct roger_err *err);

#endif
