#!/bin/sh
# send --batch: JSON lines in, all stored in order; a bad line is named and
# nothing after it is stored; what is sent already stays.
. "$(dirname "$0")/lib.sh"

roger init -q
python3 -c '
import json
for i in range(1300):
    print(json.dumps({"to": ["bob", "carol"] if i % 100 == 0 else ["bob"], "content": f"number {i}", "issue": f"i{i // 50}", "key": f"k{i}:send:1"}))' >batch.jsonl
exits 0 "1,300 sends" sh -c '"$ROGER" send --as alice --batch <batch.jsonl'
like "are told" "$out" "1300 sends, 1313 messages"
is "and stored" "$(roger list --count)" 1313
is "in their order" "$(roger list --to bob --jsonl | python3 -c '
import json, sys
got = [json.loads(line) for line in sys.stdin]
print([m["content"] for m in got] == [f"number {i}" for i in range(1300)], [m["seq"] for m in got] == list(range(1, 1301)))')" "True True"
exits 0 "again with the same keys" sh -c '"$ROGER" send --as alice --batch --json <batch.jsonl'
is "nothing is stored twice" "$(printf '%s' "$out" | json '[d["sent"], d["stored"], d["duplicates"]]')" "[1300, 0, 1300]"
is "nor anything else" "$(roger list --count)" 1313

# What a line leaves out comes from the command line.
printf '{"content":"a"}\n\n{"content":"b","to":["dave"],"issue":"x","type":"data","pass":4,"metadata":{"k":1},"from":"zoe"}\n' >short.jsonl
exits 0 "defaults from the command line" sh -c '"$ROGER" send --as alice --batch --issue y --type result erin <short.jsonl'
is "where a line has none" "$(roger list --issue y --jsonl | json '[d["from"], d["to"], d["type"], d["content"]]')" '["alice", "erin", "result", "a"]'
is "and only there" "$(roger list --issue x --jsonl | json '[d["from"], d["to"], d["type"], d["pass"], d["metadata"]]')" '["zoe", "dave", "data", 4, {"k": 1}]'

# Names of members that were others before.
printf '{"content":"old","to_phase":["old"],"issue_id":"o"}\n{"content":"old","to_phase":["old"],"issue_id":"o"}\n' >old.jsonl
exits 0 "older names" sh -c '"$ROGER" send --as alice --new --batch <old.jsonl'
is "are taken" "$(roger list --issue o --to old --count)" 2
is "with one note" "$(printf '%s\n' "$err" | grep -c "is called")" 1
exits 0 "a copied message" sh -c 'grep content...old .roger/messages.jsonl | head -n 1 | "$ROGER" send --as alice --batch --new'
is "has the words of its file" "$(printf '%s\n' "$err" | grep -c "is called")" 0

bad() { # NAME PATTERN LINE
	state=$(state_of .roger)
	printf '{"to":["bob"],"content":"before"}\n%s\n{"to":["bob"],"content":"after"}\n' "$3" >bad.jsonl
	exits 65 "$1" sh -c '"$ROGER" send --as alice --batch --issue bad <bad.jsonl'
	like "$1: the line is named" "$err" "line 2: .*$2"
	is "$1: what is said to be stored is" "$(roger list --count --issue bad)" "$(printf '%s' "$err" | sed 's/.*; \([0-9]*\) sends before.*/\1/')"
	is "$1: nothing after it" "$(roger list --issue bad --jsonl | grep -c after)" 0
}
bad "no JSON" "" '{"to":'
bad "not an object" "" '[]'
bad "no content" content '{"to":["bob"]}'
bad "no recipient" "to" '{"content":"x"}'
bad "a bad name" "to" '{"to":["b b"],"content":"x"}'
bad "a bad type" "type" '{"to":["bob"],"content":"x","type":"gossip"}'
bad "a member of another kind" content '{"to":["bob"],"content":5}'
bad "a misspelt member" "contnt" '{"to":["bob"],"content":"x","contnt":"y"}'
bad "a member twice" "content" '{"to":["bob"],"content":"x","content":"y"}'
bad "a bad sender" "from" '{"to":["bob"],"content":"x","from":"a b"}'
printf '{"to":["bob"],"content":"before"}\n{"to":["bob"],"content":"%s"}\n' "$(python3 -c 'print("x" * 10001)')" >bad.jsonl
exits 65 "too long a text" sh -c '"$ROGER" send --as alice --batch --issue bad <bad.jsonl'
like "the line is named" "$err" "line 2: content: .*10001"

# A stream: who sends line by line and waits for each receipt gets it.
mkfifo lines receipts
"$ROGER" send --as alice --batch --jsonl --issue stream <lines >receipts &
sender=$!
exec 3>lines 4<receipts
echo '{"to":["bob"],"content":"first"}' >&3
receipt=$(timeout 5 head -n 1 <&4)
like "a receipt comes before the stream ends" "$receipt" '"id":"msg-'
is "and means stored" "$(roger list --count --issue stream)" 1
echo '{"to":["bob"],"content":"second"}' >&3
exec 3>&-
wait $sender
is "the stream ends well" $? 0
exec 4<&-
is "and is stored whole" "$(roger list --count --issue stream)" 2

# What list prints is taken, and so are lines of a journal.  What only roger can set, it sets anew.
roger init -q other
fields='[d[k] for k in ("from", "to", "issue", "type", "pass", "content", "metadata")]'
roger list --issue x --jsonl >copy.jsonl
exits 0 "what list prints" roger --workspace other send --batch --new <copy.jsonl
is "arrives" "$(roger --workspace other list --jsonl | json "$fields")" "$(json "$fields" <copy.jsonl)"
is "with a number, an id and a life of its own" "$(cat copy.jsonl >both; roger --workspace other list --jsonl >>both; cut -d, -f1 both | sort -u | wc -l | tr -d ' ')" 2
grep '"issue_id":"x"' .roger/messages.jsonl | head -n 1 >line.jsonl
exits 0 "a line of a journal" roger --workspace other send --batch --new --json <line.jsonl
is "is another message" "$(roger --workspace other list --count --from zoe)" 2
# Also where roger itself, and a person, wrote some of it, and where names are near each other.
roger init -q said
(
	cd said || exit
	roger run --run build-1 --as lead -q -- false 2>/dev/null
	roger send --as lead -q plan,test one
	roger send --as lead -q plans,tests --new two
	python3 -c 'import os, pty, sys; pty.spawn(sys.argv[1:])' "$ROGER" send --as human lead 'a person' </dev/null >/dev/null
	roger list --jsonl
) >said.jsonl 2>/dev/null
is "roger and a person are among them" "$(roger --workspace said list --print from | sort -u | tr '\n' ' ')" 'human lead roger '
roger init -q again
exits 0 "the rest goes on" roger --workspace again send --batch <said.jsonl
like "which is said" "$err" "note: 2 messages of roger itself or of a person left out"
is "all of it" "$(roger --workspace again list --print content)" "$(roger --workspace said list --from lead --print content)"
is "in JSON, too" "$(roger --workspace again send --batch --json <said.jsonl 2>/dev/null | json '[d["sent"], d["stored"], d["left_out"]]')" '[4, 4, 2]'
exits 77 "a line that is no copy is refused as ever" sh -c 'echo "{\"from\":\"roger\",\"to\":\"bob\",\"content\":\"x\"}" | "$ROGER" send --as zoe --batch'
printf '{"to":"bob","content":"x","created_at":1}\n' >typed.jsonl
exits 65 "a line without an id may not say more" roger send --as zoe --batch <typed.jsonl
is "answers have a format" "$(roger list --json | json 'next(iter(d.items()))')" '["format", 1]'
exits 66 "errors, too" roger show msg-none --json
is "first" "$(printf '%s' "$err" | json 'next(iter(d.items()))')" '["format", 1]'
is "lines have none" "$(roger list --limit 1 --jsonl | grep -c format)" 0
exits 0 "an empty batch" sh -c '"$ROGER" send --as alice --batch </dev/null'
exits 0 "verify" roger verify

# What each line has of its own cannot stand for all of them.
for option in '--key t:v:c' '--task t' '--verb v' '--reply-to x' "--metadata {}" '--confirm read' '--within 1s' --retry; do
	state=$(state_of .roger)
	exits 64 "not with $option" sh -c "\"\$ROGER\" send --as alice --batch bob $option <short.jsonl"
	is "$option: nothing is stored" "$(state_of .roger)" "$state"
done

# A limit is passed in some line, and that one is named.
mkdir limited
roger init -q limited
printf 'size_limits:\n  max_messages_per_issue_phase: 2\n' >limited/.roger/config.yaml
for to in c c d b b b e; do
	echo "{\"to\":\"$to\",\"content\":\"x\"}"
done >over.jsonl
for dry in '' --dry-run; do
	exits 77 "over a limit $dry" sh -c "\"\$ROGER\" --workspace limited send --as alice --batch -q $dry <over.jsonl"
	like "the line is named $dry" "$err" "line 6: the mailbox of 'b' for issue .* is full"
done
is "nothing is stored" "$(roger --workspace limited list --count)" 0
head -n 3 over.jsonl >fits.jsonl
exits 0 "a dry run" sh -c '"$ROGER" --workspace limited send --as alice --batch --dry-run <fits.jsonl'
like "says that it is one" "$out" "3 sends.*dry run"
is "and notes each name once" "$(printf '%s\n' "$err" | sort)" "$(printf '%s\n' "$err" | sort -u)"
done_testing
