#!/bin/sh
# roger's own verbs in the activity log: who, which ids, how many and how it went;
# once for each verb, never for one that stored nothing, and never any content: a
# marker planted in every text is found in no file but those that hold messages.
. "$(dirname "$0")/lib.sh"

roger init -q
count() { roger log --jsonl "$@" | wc -l | tr -d ' '; }
last() { roger log --newest --limit 1 --jsonl | json "$1"; }

one=$(send_id --as plan bob 'hello' --issue app-42)
is "a send is noted" "$(last '[d["task"], d["action"], d["outcome"]]')" \
	"$(printf '%s' "[\"app-42\", {\"type\": \"TOOL_EXEC\", \"details\": {\"tool\": \"roger\", \"verb\": \"send\", \"agent\": \"plan\", \"ids\": [\"$one\"], \"count\": 1, \"seq\": 1, \"epoch\": 1}}, {\"status\": \"SUCCESS\"}]")"
roger send --as plan bob,carol,dave 'to three' -q 2>/dev/null
is "three recipients are one note of three" "$(last 'd["action"]["details"]["count"]')" 3
exits 66 "one that fails" roger send --as plan bob x --reply-to msg-1-x
is "is noted, with the kind of failure" "$(last 'd["outcome"]')" '{"status": "FAILURE", "message": "no_such: reply_to"}'
exits 64 "a verb that is refused before it runs" roger send --as plan
is "is none" "$(count)" 3
roger send --as plan bob 'nothing' --dry-run -q
is "a dry run is none" "$(count)" 3
exits 65 "not even one that fails" roger send --as plan bob x --type data --metadata '{}' --pass 1 --issue 'a b' --dry-run
is "really" "$(count)" 3
# From a file: of a pipe, what is there when its writer pauses is a batch of its own.
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo "{\"to\":\"pool\",\"content\":\"n $i\"}"; done >batch
roger send --as plan --batch -q <batch 2>/dev/null
is "a batch is one note" "$(count)" 4
is "with at most sixteen ids" "$(last '[len(d["action"]["details"]["ids"]), d["action"]["details"]["count"]]')" "[16, 20]"

roger receive --as bob -q
is "receive is noted" "$(last 'd["action"]["details"]["verb"]')" receive
exits 1 "finding nothing" roger receive --as bob
exits 1 "claiming nothing" roger claim --as bob
env ROGER_AGENT=pool "$ROGER" inbox >/dev/null
is "a look is noted, by its ids" "$(last '[d["action"]["details"]["verb"], len(d["action"]["details"]["ids"]), d["action"]["details"]["count"], d["action"]["details"]["position"]]')" \
	'["inbox", 20, 20, 24]'
env ROGER_AGENT=pool "$ROGER" inbox >/dev/null
env ROGER_AGENT=nobody "$ROGER" inbox >/dev/null
roger agents session -q
roger list >/dev/null
roger verify -q
roger cleanup --dry-run -q
is "and what shows or changes nothing new is not" "$(count)" 6
id=$(roger claim --as pool --worker w1 --json | json 'd["messages"][0]["id"]')
roger ack --as pool --worker w1 "$id" -q
is "ack names the message" "$(last '[d["action"]["details"]["verb"], d["action"]["details"]["ids"]]')" "[\"ack\", [\"$id\"]]"
exits 77 "another's message" roger ack --as carol "$id"
is "is refused" "$(last '[d["outcome"]["message"], d["action"]["details"]["agent"]]')" '["refused: ids", "carol"]'
roger ack --as pool --worker w1 "$id" -q
is "an ack that changes nothing is none" "$(last 'd["outcome"]["status"]')" FAILURE
roger agents session new -q
is "a session says its number, and who ran it" "$(last '[d["action"]["details"][name] for name in ("verb", "epoch")] + [name in d["action"]["details"] for name in ("uid", "parent")]')" '["session", 2, true, true]'
roger send --as plan worker-9 hello --new -q && roger agents retire worker-9 -q
is "a retirement says whose" "$(last '[d["action"]["details"][name] for name in ("verb", "name")]')" '["retire", "worker-9"]'
like "also in words" "$(roger log --newest --limit 1)" "retire .*name worker-9"
roger archive "$one" -q
is "archive says how many" "$(last '[d["action"]["details"]["ids"], d["action"]["details"]["archived"]]')" "[[\"$one\"], 1]"
roger doctor rebuild -q
is "rebuild is noted" "$(last 'd["action"]["details"]["verb"]')" rebuild
before=$(count)
roger log app-42 TOOL_EXEC -q
is "log is an entry, and no second one" "$(count)" $((before + 1))
roger send --as plan bob keyed --key app-9:report:1 -q
is "the task of a key" "$(last 'd["task"]')" app-9

printf 'activity:\n  own: false\n' >.roger/config.yaml
before=$(count)
roger send --as plan bob quiet -q
is "it can be switched off" "$(count)" "$before"
printf 'activity:\n  own: maybe\n' >.roger/config.yaml
exits 78 "a switch that is none" roger report stats
like "says what it takes" "$err" "activity.own: expected true or false"
: >.roger/config.yaml

# The marker, in every text that is content.
roger send --as plan bob 'PLANTED text' --metadata '{"PLANTED":"PLANTED"}' --issue m -q
roger send --as plan bob,carol 'PLANTED keyed' --key m:send:1 --issue m -q
roger send --as plan bob,carol 'PLANTED other' --key m:send:1 --issue m -q 2>/dev/null
echo '{"to":"bob","content":"PLANTED batch","metadata":{"a":"PLANTED"}}' | roger send --as plan --batch -q
echo 'PLANTED stdin' | roger send --as plan bob - -q
id=$(roger receive --as bob --limit 50 --json | json 'd["messages"][0]["id"]')
roger send --as bob plan --reply-to "$id" 'PLANTED reply' -q
roger send --as plan bob "$(python3 -c 'print("PLANTED " * 2000)')" -q 2>/dev/null
roger send --as plan bob x --metadata '{"PLANTED"' -q 2>/dev/null
roger send --as 'FOREIGN text' bob x -q 2>/dev/null
roger send --as plan 'FOREIGN text' x -q 2>/dev/null
roger send --as plan bob x --issue 'FOREIGN text' -q 2>/dev/null
roger send --as plan bob x --reply-to 'FOREIGN text' -q 2>/dev/null
roger send --as plan bob x --key 'FOREIGN text' -q 2>/dev/null
roger send --as plan bob y --key 'FOREIGN text' -q 2>/dev/null
roger ack --as bob 'FOREIGN text' -q 2>/dev/null
roger nack --as bob "$(printf 'FOREIGN\ntext')" -q 2>/dev/null
roger claim --as plan --worker w -q
roger list PLANTED >/dev/null
roger archive --issue m -q
roger archive --ids 'FOREIGN text' -q 2>/dev/null
roger archive --unread --issue m --reason PLANTED -q
roger cleanup -q
roger doctor rebuild -q
is "the marker is where messages and reasons are" "$(grep -lr PLANTED .roger | grep -c -E '^\.roger/(messages(\.jsonl|\.db|_archive/.*)|cleanup_metrics\.jsonl)$')" \
	"$(grep -lr PLANTED .roger | wc -l | tr -d ' ')"
check "it was planted" grep -q 'PLANTED reply' .roger/messages.jsonl
is "words that are no names are not repeated either" "$(grep -c FOREIGN .roger/logs/activity.log.jsonl)" 0

# A log that cannot be written is told, and stops nothing.
mkdir -p odd && roger init odd -q && mkdir -p odd/.roger/logs/activity.log.jsonl
exits 0 "a send without a log" roger send --workspace odd --as plan bob hello
like "says so" "$err" "done, but not noted in the activity log"
like "what nobody is named for is nobody's" "$(roger agents session new -q; roger log --newest --limit 1 | tr -s ' ')" "^[0-9-]+ [0-9:]+ - session "
done_testing
