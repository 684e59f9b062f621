#!/bin/sh
# runner: plain
# The demonstration proves what it says, from a folder elsewhere.
. "$(dirname "$0")/lib.sh"

ROGER_BUILD_DIR=${ROGER_BUILD:-$(dirname "$ROGER")}
export ROGER_BUILD_DIR
exits 0 "script/demo" "$source_dir/script/demo"
like "it killed somebody" "$out" "killed with -9"
is "it proves eleven things" "$(printf '%s\n' "$out" | grep -c '^ok  ')" 11
unlike "and fails in none" "$out" "NOT OK"
exits 0 "what it leaves behind is intact" roger verify --workspace "$ROGER_BUILD_DIR/demo"
done_testing
