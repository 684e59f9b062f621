#!/bin/sh
# Mail: send, look, take, answer, and find it again; what comes out is what
# went in, first in, first out, and a key is sent once.
. "$(dirname "$0")/lib.sh"

roger init -q
first=$(send_id --as plan implement 'one' --issue app-1 --type decision --pass 3 --metadata '{"a": [1, 2.50], "ü": "x"}')
second=$(send_id --as plan implement 'two' --issue app-2)
third=$(send_id --as test implement 'three')
like "an id" "$first" '^msg-[0-9]{13}-[a-z0-9]+$'

exits 0 "inbox" roger inbox --as implement --json
is "first in, first out" "$(printf '%s' "$out" | json '" ".join(m["content"] for m in d["messages"])')" "one two three"
is "the members of the first" "$(printf '%s' "$out" | json '[d["messages"][0][k] for k in ("issue","from","to","pass","type","metadata","read","read_at","seq","epoch")]')" \
	'["app-1", "plan", "implement", 3, "decision", {"a": [1, 2.5], "\u00fc": "x"}, false, null, 1, 1]'
is "metadata keeps its digits" "$(printf '%s' "$out" | grep -c '"metadata":{"a":\[1,2.50\],"ü":"x"}')" 1
exits 0 "looking changes nothing" roger inbox --as implement --issue app-2
like "one issue only" "$out" "two"
unlike "and no other" "$out" "one|three"
exits 0 "receive one" roger receive --as implement --limit 1
like "takes the oldest" "$out" "one"
like "and tells what is left" "$out" "2 more unread"
exits 0 "receive from one agent" roger receive --as implement --from test
like "takes its mail" "$out" "three"
exits 0 "receive the rest" roger receive --as implement
like "which is the middle one" "$out" "two"
exits 1 "then there is nothing" roger receive --as implement
exits 1 "in the inbox neither" roger inbox --as implement
is "all is read" "$(roger list --count --unread)" 0

# Answers.
answer=$(send_id --as implement plan 'an answer' --reply-to "$first" --issue app-1)
again=$(send_id --as plan implement 'thanks' --reply-to "$answer" --issue app-1)
exits 0 "reply needs no recipient" roger reply --as implement "$third" the build is --json green
is "and takes the words as they come" "$(roger list --from implement --newest --limit 1 --jsonl | json '[d["to"], d["issue"], d["reply_to"], d["content"]]')" "[\"test\", \"$(roger show "$third" --jsonl | json 'd["issue"]')\", \"$third\", \"the build is green\"]"
like "as help says, one to an own message goes to its recipient" "$(roger help reply | head -n 1) $(roger reply --as implement "$answer" more --dry-run --json | json 'd["messages"][0]["to"]')" 'your own goes to its recipient plan$'
roger archive -q --unread "$(roger list --from implement --newest --limit 1 --jsonl | json 'd["id"]')"
exits 0 "thread" roger show --thread "$answer" --json
is "holds all of it, oldest first" "$(printf '%s' "$out" | json '[m["id"] for m in d["messages"]]')" "[\"$first\", \"$answer\", \"$again\"]"
exits 0 "thread from its end" roger show --thread "$again" --json
is "is the same" "$(printf '%s' "$out" | json 'len(d["messages"])')" 3
exits 64 "thread takes one id" roger show --thread "$first" "$again"
answers=$(roger show --thread "$first" --json)
exits 0 "an old word" roger --workspace . thread "$first" --json
is "does what the new one does" "$out" "$answers"
is "and names it" "$err" "note: \`roger thread\` is now \`roger show --thread\`"
exits 0 "search" roger search 'an answer' --to plan
is "is list" "$out" "$(roger list 'an answer' --to plan)"
exits 0 "count" roger count --to plan -q
is "is list --count, and --quiet leaves the note out" "$out$err" "1"
exits 66 "delete" roger delete msg-none
is "is archive --unread, and an error stands alone" "${err%% *}" "roger:"
exits 0 "show" roger show "$third" "$first"
like "shows both" "$(printf '%s' "$out" | tr '\n' ' ')" "three.*one|one.*three"
exits 66 "show one that is not there" roger show msg-1-x
run roger send --as plan implement x --reply-to msg-1-x --dry-run
check "an answer to one that is not there is refused or noted ($status)" test "$status" = 66 -o -n "$err"

# Find.
is "list by sender" "$(roger list --from test --jsonl | wc -l)" 1
is "list by issue" "$(roger list --issue app-1 --jsonl | wc -l)" 3
is "list by type" "$(roger list --type decision --jsonl | json 'd["id"]')" "$first"
is "list by run" "$(roger list --pass 3 --jsonl | json 'd["id"]')" "$first"
is "list the unread" "$(roger list --unread --jsonl | wc -l)" 2
is "newest first" "$(roger list --newest --limit 1 --jsonl | json 'd["id"]')" "$again"
exits 0 "a page" roger list --limit 2 --json
next=$(printf '%s' "$out" | json 'd["next"]')
is "tells where to go on" "$(roger list --after "$next" --limit 1 --jsonl | json 'd["id"]')" "$third"
is "count" "$(roger list --count --to implement)" 4
is "search in content" "$(roger list answer --jsonl | json 'd["id"]')" "$answer"
is "search in metadata" "$(roger list ü --jsonl | json 'd["id"]')" "$first"
is "several words need no quotes" "$(roger list an answer --to plan --jsonl | json 'd["id"]')" "$answer"
is "and are counted" "$(roger list an answer --to plan --count) $(roger list --count nowhere)" "1 0"
exits 64 "all, not a page" roger list --count --limit 3
exits 1 "search in vain" roger list nowhere
for words in '"' 'a AND' '*' 'content:x' "o'clock" '(' '-x' 'NEAR(' '%'; do
	run roger list -- "$words"
	check "search for $words is no accident ($status)" test "$status" = 0 -o "$status" = 1 -o "$status" = 64
done
exits 0 "stats" roger report stats --json
is "count them all" "$(printf '%s' "$out" | json 'd["messages"]')" 5

# A key is sent once.
exits 0 "with a key" roger send --as plan implement keyed --key t1:do:c1 --json
key_id=$(printf '%s' "$out" | json 'd["messages"][0]["id"]')
exits 0 "again" roger send --as plan implement keyed --key t1:do:c1 --json
is "is the first result" "$(printf '%s' "$out" | json '[d["messages"][0]["id"], d["duplicate"]]')" "[\"$key_id\", true]"
exits 77 "another text under it is refused" roger send --as plan implement other --key t1:do:c1
exits 0 "another sender has its own" roger send --as test implement other --key t1:do:c1
exits 0 "another cycle, too" roger send --as plan implement keyed --key t1:do:c2
exits 0 "a key of another form is taken" roger send --as plan implement x --key t1
like "with a note" "$err" "note: .*task:verb:cycle"
exits 77 "another recipient under it is refused" roger send --as plan test keyed --key t1:do:c1
exits 77 "and another metadata" roger send --as plan implement keyed --key t1:do:c1 --metadata '{"x":1}'

# Texts as they are.
printf 'tab\there "quoted" \\ back\nsecond line \303\244\360\237\230\200\n\n' >text
exits 0 "a file" roger send -q --as plan writer --file text
exits 0 "standard input" sh -c '"$ROGER" send -q --as plan writer - <text'
roger receive --as writer --json >got
is "come out as they went in" \
	"$(json '[m["content"] == "tab\there \"quoted\" \\ back\nsecond line \u00e4\U0001f600\n\n" for m in d["messages"]]' <got)" "[true, true]"
exits 66 "a file that is not there" roger send --as plan writer --file nowhere
exits 65 "no UTF-8" roger send --as plan writer "$(printf 'a\377b')"
: >empty
exits 65 "an empty file" roger send --as plan writer --file empty
exits 64 "an empty text" roger send --as plan writer ''
printf 'a\000b' >nul
exits 65 "a NUL" roger send --as plan writer --file nul
python3 -c 'print("ä" * 10000, end="")' >most
exits 0 "10,000 characters" roger send -q --as plan writer --file most
python3 -c 'print("ä" * 10001, end="")' >more
exits 65 "and one more" roger send --as plan writer --file more
exits 65 "metadata that is no object" roger send --as plan writer x --metadata '[1]'
exits 65 "metadata that is no JSON" roger send --as plan writer x --metadata '{'
exits 65 "metadata beyond 5,000 characters" roger send --as plan writer x --metadata "{\"a\":\"$(printf 'x%.0s' $(seq 5000))\"}"
exits 0 "a dry run" roger send --as plan writer x --dry-run
unlike "stores nothing" "$(roger inbox --as writer)" '    x'

# Waiting.
exits 1 "wait ends in time" roger wait --as late --timeout 50ms
exits 1 "receive --wait, too" roger receive --as late --wait 50ms
"$ROGER" receive --as late --wait 20s >late.txt &
exits 0 "send to one who waits" roger send -q --as plan late 'at last'
wait $!
is "it comes back with success" $? 0
like "and with the message" "$(cat late.txt)" "at last"
exits 64 "who are you" roger inbox

# A person at a terminal is `human`, for every verb that asks who it is.
at_terminal() {
	env -u CLAUDECODE -u AI_AGENT -u GEMINI_CLI -u COPILOT_CLI -u OPENCODE python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null
}
exits 0 "a person sends" at_terminal "$ROGER" send -q plan 'which port?'
like "as human" "$(roger list --from human)" "which port"
exits 0 "an answer" roger reply -q --as plan @last '8080, and the rest is in the file'
like "is in the person's inbox" "$(at_terminal "$ROGER" inbox)" "8080"
exits 0 "the person answers" at_terminal "$ROGER" reply -q @last 'thanks'
like "in its name" "$(roger list --from human --to plan)" "thanks"
exits 0 "who looked is the person" roger trace --as plan "$(roger list --to human --print id | head -n 1)"
like "as its own look" "$(roger trace --as plan "$(roger list --to human --print id | head -n 1)")" "looked"
exits 0 "a claim" at_terminal "$ROGER" claim
exits 0 "an ack" at_terminal "$ROGER" ack "$(roger list --to human --print id | head -n 1)"
exits 1 "a receive" at_terminal "$ROGER" receive
exits 1 "a wait" at_terminal "$ROGER" wait --timeout 50ms
exits 0 "a briefing" at_terminal "$ROGER" prime
for variable in CLAUDECODE AI_AGENT CODEX_SANDBOX GEMINI_CLI COPILOT_CLI; do
	exits 64 "an agent's tool has terminals, too: $variable" at_terminal env $variable=1 "$ROGER" inbox
done
exits 77 "and sends as no person" at_terminal env CLAUDECODE=1 "$ROGER" send --as human plan x
like "with ROGER_AGENT it is that agent" "$(at_terminal env ROGER_AGENT=plan "$ROGER" inbox)" "thanks"

# Who took over gets what is unread, and sees for whom it was, on every surface.
roger send -q --as plan leaver 'half done: the port'
roger send -q --as leaver plan 'I am off'
exits 66 "a successor that nobody knows" roger agents retire leaver --to heir
exits 0 "is new, if that is said" roger agents retire leaver --to heir --new
like "the heir's inbox says for whom" "$(roger inbox --as heir)" "plan #.* for leaver"
like "so does the briefing" "$(roger prime --as heir)" "from plan #.*, for leaver"
like "and MCP" "$(printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
	'{"jsonrpc":"2.0","method":"notifications/initialized"}' '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inbox","arguments":{}}}' |
	roger mcp --as heir)" ", for leaver"
like "the leaver is told who gets it" "$(roger inbox --as leaver 2>&1)" "'heir' gets its mail"
like "status counts it once" "$(roger status)" "heir .*: 1 unread"
like "why says the same" "$(roger why heir)" "heir .*: 1 unread"
unlike "and nothing waits for the leaver" "$(roger status)" "leaver"
exits 0 "the heir takes it" roger receive --as heir

# A long list has whole ids; a number in it is refused, and not said to be of no message.
# shellcheck disable=SC2046
exits 65 "a hundred numbers and one" roger show --as plan $(seq -f 'plan#%g' 101)
like "are too many to look for" "$err" "of more than 100 each must be a whole id"
# shellcheck disable=SC2046
exits 0 "as many ids are not" roger show $(roger list --limit 1 --print id | sed $(printf '%.0s-e p ' $(seq 100)))
like "the line keeps its recipient, and says who read it" "$(roger show --json "$(roger list --to leaver --print id)")" '"to":"leaver".*"read_by":"heir"'
like "trace does, too" "$(roger trace --as heir "$(roger list --to leaver --print id)")" "read  *[^ ]* [^ ]*  heir"
exits 0 "verify" roger verify
exits 0 "doctor" roger doctor
done_testing
