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
hint=$(printf '%s\n' "$out" | sed -n 's/^look around: //p')
is "what it says to look around with works" "$(cd / && sh -c "$hint" | wc -l | tr -d ' ')" 20
exits 0 "what it leaves behind is intact" roger verify --workspace "$ROGER_BUILD_DIR/demo"
like "its diagram shows that the first worker fell silent with task 2" "$(roger timeline app-42 --mermaid --workspace "$ROGER_BUILD_DIR/demo")" \
	": lease_expired plan#35;2: the lease of w1 expired"
exits 0 "and so does its page, which a seal proves" sh -c '
	"$ROGER" seal --workspace "$ROGER_BUILD_DIR/demo" --out demo.seal -q &&
	"$ROGER" export app-42 --workspace "$ROGER_BUILD_DIR/demo" --html --seal demo.seal'
like "with its lines" "$out" '"proof":"[0-9a-f]'
done_testing
