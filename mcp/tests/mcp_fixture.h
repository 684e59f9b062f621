/*
 * mcp_fixture - the server of the conformance suite, for programs of tests.
 */
#ifndef MCP_FIXTURE_H
#define MCP_FIXTURE_H

#include <roger-mcp.h>

/* options may be NULL; its names are the fixture's own. */
struct roger_mcp_server *mcp_fixture_new(const struct roger_mcp_options *options);

/* Its tools, resources and prompts, for a server of others; that has options.logging. */
void mcp_fixture_add(struct roger_mcp_server *server);

#endif
