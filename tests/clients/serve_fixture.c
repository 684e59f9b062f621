/*
 * serve_fixture - roger-serve whose /mcp has, beside roger's own, the tools, resources and
 * prompts that the public conformance suite of MCP calls.  All else is the server as it is:
 * its gate, its tokens, its loop, its threads.
 */
#include "../../mcp/tests/mcp_fixture.h"

struct roger_mcp_server *__real_roger_mcp_server_new(const struct roger_mcp_options *options);
struct roger_mcp_server *__wrap_roger_mcp_server_new(const struct roger_mcp_options *options);

struct roger_mcp_server *__wrap_roger_mcp_server_new(const struct roger_mcp_options *options)
{
	struct roger_mcp_options with_logging = *options;
	struct roger_mcp_server *server;

	with_logging.logging = true;
	server = __real_roger_mcp_server_new(&with_logging);
	if (server)
		mcp_fixture_add(server);
	return server;
}
