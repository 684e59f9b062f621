#!/bin/sh
# --json and --jsonl: every reply is JSON, every error is an object on standard
# error with the documented exit status in it, and nothing else is printed.
. "$(dirname "$0")/lib.sh"

roger init -q
a=$(send_id --as plan bob one)
b=$(send_id --as plan bob two --reply-to "$a")
roger receive -q --as bob

is_json() { # NAME COMMAND...
	_name=$1
	shift
	run "$@"
	printf '%s' "$out" | python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read())' 2>/dev/null
	result $? "$_name prints JSON"
	is "and nothing else" "$err" ""
	case $_name in
	"send --batch") set -- roger batch ;;
	"log --import") set -- roger log_import ;;
	count) set -- roger count ;;
	rebuild) set -- roger "doctor rebuild" ;;
	session*) set -- roger "agents session" ;;
	stats) set -- roger "report stats" ;;
	activity*) set -- roger "log activity" ;;
	esac
	[ "$1" = roger ] || return 0
	is "as roger schema $2 says" "$(printf '%s' "$out" | python3 "$source_dir/tests/cli/lib_schema.py" "$2" 2>&1)" ""
}
is_json init roger init more --json
is_json send roger send --as plan carol one --json
is_json "send --dry-run" roger send --as plan carol one --json --dry-run
is_json "send --batch" sh -c 'echo "{\"to\":[\"bob\"],\"content\":\"x\"}" | "$ROGER" send --as plan --batch --json'
is_json inbox roger inbox --as bob --json
is_json "inbox of nobody" roger inbox --as nobody --json
is_json receive roger receive --as bob --json
is_json "receive nothing" roger receive --as bob --json
is_json wait roger wait --as carol --timeout 1s --json
is_json "wait for nothing" roger wait --as nobody --timeout 10ms --json
is_json claim roger claim --as carol --json
is_json nack roger nack --as carol "$(roger list --to carol --jsonl | json 'd["id"]')" --json
is_json ack roger ack --as bob "$a" --json
is_json show roger show "$a" --json
is_json thread roger show --thread "$a" --json
is_json list roger list --json
is_json "list of nothing" roger list --issue nothing --json
is_json search roger list one --json
is_json "search for nothing" roger list nothing --json
is_json count roger list --count --json
is_json agents roger agents --json
is_json session roger agents session --json
is_json "session new" roger agents session new --json
is_json archive roger archive "$a" --json
is_json cleanup roger cleanup --json
is_json delete roger archive --unread "$b" --json
is_json log roger log app-42 TOOL_EXEC --json
is_json "log --import" roger log --import .roger/logs/activity.log.jsonl --json
is_json activity roger log --json
is_json "activity of nothing" roger log --task nothing --json
is_json stats roger report stats --json
is_json rebuild roger doctor rebuild --json
is_json verify roger verify --json
is_json config roger config show --json
is_json schema roger schema --json
is_json version roger version --json
is "which has its format" "$(roger version --json | json 'd["format"]')" 1
if [ -x "$(dirname "$ROGER")/roger-serve" ]; then
	is_json "token new" roger token new bob --json
	is "with its text, this once" "$(printf '%s' "$out" | json '[(t["name"], t["token"][:6]) for t in d["tokens"]]')" '[["bob", "roger-"]]'
	is_json "token list" roger token list --json
	is "without it" "$(printf '%s' "$out" | json '[(t["name"], "token" in t) for t in d["tokens"]]')" '[["bob", false]]'
	is_json "token revoke" roger token revoke bob --json
	like "quietly, too" "$(roger token new bob -q)" '^roger-[0-9a-f]{64}$'
	roger token revoke bob
fi
is_json "help of a command" roger help send --json
is "with its options" "$(printf '%s' "$out" | json '[(o["name"], o["kind"], o.get("value"), o.get("values")) for o in d["commands"][0]["options"] if o["name"] in ("to", "type", "retry", "batch")]')" \
	'[["to", "texts", "NAME", null], ["type", "enum", "TYPE", ["context", "result", "decision", "data"]], ["retry", "flag", null, null], ["batch", "flag", null, null]]'
is_json help roger help --json
for _command in $(printf '%s' "$out" | json '" ".join(c["name"] for c in d["commands"] if " " not in c["name"])' | tr -d '"'); do
	roger help "$_command" >/dev/null && roger help --all | grep -q "^  $_command " || echo "$_command" >>unknown
done
is "each command in it is in help --all" "$(cat unknown 2>/dev/null)" ""
is "each option says what it is for" "$(printf '%s' "$out" | json '[o["name"] for o in d["options"] if not o["help"]]')" "[]"
is "a command that does two things names the other" "$(roger help log --json | json 'd["commands"][0]["otherwise"]')" "log activity"
is "a word is no option" "$(roger help session --json | json 'd["commands"][0]["options"]')" "[]"
is "as many as there" "$(printf '%s' "$out" | json 'len(d["commands"])')" "$(roger help --all | awk '/^start$/ { on = 1 } /^Every/ { on = 0 } on && /^  [a-z]/' | wc -l)"
is "list --jsonl is a line a message" "$(roger list --jsonl | wc -l)" "$(roger list --count)"
is "agents --jsonl is a line an agent" "$(roger agents --jsonl | json 'd["name"]' 2>/dev/null || roger agents --jsonl | wc -l)" 3

is_error() { # STATUS CODE NAME COMMAND...
	_want=$1 _code=$2 _name=$3
	shift 3
	run "$@"
	is "$_name exits with $_want" "$status" "$_want"
	is "$_name: an object says so" "$(printf '%s' "$err" | json '[sorted(d), d["error"]["code"], d["error"]["exit"], bool(d["error"]["message"]), type(d["error"]["retryable"]).__name__]' 2>&1)" \
		"[[\"error\", \"format\"], \"$_code\", $_want, true, \"bool\"]"
	is "$_name: as roger schema error says" "$(printf '%s' "$err" | python3 "$source_dir/tests/cli/lib_schema.py" error 2>&1)" ""
	is "$_name: nothing on standard output" "$out" ""
}
is_error 64 usage "no recipient" roger send --as plan --json
is_error 64 usage "no agent" roger inbox --json
is_error 64 usage "an unknown option" roger list --json --bogus
is_error 64 usage "an unknown option before --json" roger list --bogus --json
is_error 65 data "a -- that is the value of an option" roger list --since -- --json
is_error 64 usage "an unknown command" roger bogus --json
is_error 64 usage "no command" roger --json
is_error 64 usage "an unknown option, and no command" roger --json --bogus
is_error 64 usage "an option without its value, and no command" roger --json --as
is_error 65 data "a bad name" roger send --as 'a b' bob x --json
is_error 65 data "a bad type" roger send --as a bob x --type gossip --json
is_error 65 data "a bad number" roger list --limit many --json
is_error 65 data "a bad kind of action" roger log app-42 GOSSIP --json
is_error 65 data "an entry that is none" roger log --entry '{}' --json
is_error 65 data "a bad line of a batch" sh -c 'echo "{" | "$ROGER" send --as plan --batch --json'
is_error 66 no_such "no such message" roger show msg-1-x --json
is_error 66 no_such "no such message to list after" roger list --after msg-1-x --json
is_error 66 no_such "no workspace" roger report stats --json --workspace /
is_error 77 refused "another text under a key" sh -c '"$ROGER" send -q --as k bob x --key a:b:c; "$ROGER" send --as k bob y --key a:b:c --json'
echo 'recipients: maybe' >.roger/config.yaml
is_error 78 config "a bad configuration" roger report stats --json
: >.roger/config.yaml

# Damage is told of, with a status of its own.
sed -i '1s/one/eno/' .roger/messages.jsonl
exits 65 "verify finds an altered line" roger verify --json
is "and places it" "$(printf '%s' "$out" | json '[d["damaged"] > 0, d["findings"][0]["line"]]')" "[true, 1]"
exits 65 "in words, too" roger verify
like "with line and byte" "$out" "line 1 \(byte 0\)"
# ------------------------------------------------------------ one member of an answer
id=$(roger send print --as sender 'two
lines' --new --print id)
is "send --print id" "$(roger list --to print --print id)" "$id"
is "a text as it is" "$(roger show "$id" --print content)" 'two
lines'
is "a number, a yes, and what is unset" "$(roger show "$id" --print seq; roger show "$id" --print read; roger show "$id" --print reply_to)" '1
false'
is "a member of the answer itself" "$(roger inbox --as print --print unread)" 1
is "of each item" "$(roger send a,b --as sender hi --new --print to)" 'a
b'
exits 64 "a member that there is not" roger send a --as sender hi --print nothing
like "is named before anything is done" "$err $(roger list --to a --print id | grep -c .)" "^roger: option '--print': the answer of send has no member 'nothing'.* 1$"
exits 64 "nor is an empty one" roger list --print ""
is "it may stand before the command" "$(roger --print to list --to a)" a
exits 66 "an error is in words" roger show nothing --print id
like "as for people" "$err" "^roger: no message"
# What takes or lists ends with 1 when there is nothing, and what says how things are with 0.
mkdir empty && cd empty && roger init -q || exit 1
rm -f .roger/logs/*
while read -r words; do
	# shellcheck disable=SC2086 # words
	for form in "" --json --jsonl; do
		exits 1 "nothing: $words $form" roger $words $form
	done
done <<'END'
inbox --as a
receive --as a
claim --as a
wait --as a --timeout 1ms
list
list word
list --from a
list --newest --limit 1
agents
sends
sends --from a
dead
activity
log
runs
wake --once
bridge --once
cleanup --history
END
[ ! -x "$(dirname "$ROGER")/roger-serve" ] || exits 1 "nothing: token list" roger token list
exits 1 "nothing: trust --list" env XDG_STATE_HOME="$here/nobody" "$ROGER" trust --list
for words in status report stats verify 'list --count' cycle session sweep doctor; do
	# shellcheck disable=SC2086 # words
	exits 0 "how things are: $words" roger $words
done
cd .. || exit 1
# An exit status is a number, also in the outside form of a text.
mkdir ended && cd ended && roger init -q || exit 1
roger run --run build-3 --as lead -q -- sh -c 'exit 3' 2>/dev/null
roger run --run build-9 --as lead -q -- sh -c 'kill -9 $$' 2>/dev/null
is_json runs roger runs --json
is "an exit status is a number" "$(roger runs --json | json '[r["exit"] for r in d["runs"]]')" '[3, "signal 9"]'
cd .. || exit 1
done_testing
