#!/bin/sh
# runner: plain alone timeout 400
# The demonstration with a primary and a standby proves what it says, and leaves files.
# Run by script/postgres, whose server it kills.
. "$(dirname "$0")/../cli/lib.sh"

ROGER_BUILD_DIR=${ROGER_BUILD:-$(dirname "$ROGER")}
export ROGER_BUILD_DIR
exits 0 "script/demo --postgres" "$source_dir/script/demo" --postgres
like "it killed the primary" "$out" "and the primary are killed with -9"
is "it proves twelve things" "$(printf '%s\n' "$out" | grep -c '^ok  ')" 12
unlike "and fails in none" "$out" "NOT OK"
like "its last line sums up" "$out" "20 sent, 20 stored, 0 lost, 0 doubled, one agent and the primary killed"
exits 0 "what it leaves behind are files, intact" roger verify --workspace "$ROGER_BUILD_DIR/demo-postgres/one"
is "with every message" "$(roger list --count --workspace "$ROGER_BUILD_DIR/demo-postgres/one")" 20
done_testing
