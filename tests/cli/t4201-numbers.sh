#!/bin/sh
# Each agent has one counter for everything it sends; a new session starts them
# over under the next epoch, and history stays.
. "$(dirname "$0")/lib.sh"

roger init -q
for i in 1 2 3; do
	roger send -q --as plan bob "$i" --issue "i$i" 2>/dev/null
done
roger send -q --as bob plan,carol answer 2>/dev/null
exits 0 "session" roger agents session --json
is "numbers of each sender" "$(printf '%s' "$out" | json '[d["epoch"], {a["name"]: a["seq"] for a in d["agents"] if a["seq"]}]')" '[1, {"bob": 1, "plan": 3}]'
run roger send --as plan all 'no text' --dry-run
exits 65 "a refused send" roger send --as plan 'b b' x
roger send -q --as plan bob 4
is "takes no number, nor does a dry run" "$(roger list --from plan --newest --limit 1 --jsonl | json 'd["seq"]')" 4

roger receive --as bob -q
is "last seen moves when mail is taken" "$(json 'd["lastSeen"]["bob"]["plan"]' <.roger/message-state.json)" 4
roger inbox --as carol -q
is "not when it is looked at" "$(json '"carol" in d["lastSeen"]' <.roger/message-state.json)" false
is "the counters are in the same file" "$(json '[d["counters"]["plan"], d["counters"]["bob"], d["epoch"]]' <.roger/message-state.json 2>/dev/null || cat .roger/message-state.json)" "[4, 1, 1]"

exits 0 "session new" roger agents session new
like "says so" "$out" "session 2"
is "counters and last seen are empty" "$(json '[d[k] for k in ("counters", "lastSeen", "epoch")]' <.roger/message-state.json)" "[{}, {}, 2]"
is "history stays" "$(roger list --count)" 6
exits 0 "and unread mail" roger inbox --as carol
roger send -q --as plan bob fresh
is "numbers begin at 1 in epoch 2" "$(roger list --from plan --newest --limit 1 --jsonl | json '[d["seq"], d["epoch"]]')" "[1, 2]"
exits 0 "session show" roger agents session show
exits 64 "session of another word" roger agents session old
exits 64 "session of two words at once" roger agents session show --new
is "opens none" "$(json 'd["epoch"]' <.roger/message-state.json)" 2
for word in n ne 'new|show' w ''; do
	exits 64 "'$word' is not new" roger agents session "$word"
done
is "still the second" "$(roger agents session --json | json 'd["epoch"]')" 2

rm .roger/message-state.json
roger send -q --as plan bob again
is "a lost state file is made anew from the journal" "$(roger list --from plan --newest --limit 1 --jsonl | json '[d["seq"], d["epoch"]]')" "[2, 2]"
echo '{"torn' >.roger/message-state.json
roger send -q --as plan bob again
is "as is a damaged one" "$(roger list --from plan --newest --limit 1 --jsonl | json '[d["seq"], d["epoch"]]')" "[3, 2]"

# Many senders at once, some under one name.
for i in 1 2 3 4 5 6; do
	for n in 1 2 3 4 5; do
		roger send -q --as "$([ "$i" -gt 3 ] && echo shared || echo "s$i")" sink "$i.$n" --issue crowd 2>/dev/null
	done &
done
wait
is "numbers are given once, without a gap" "$(roger list --issue crowd --jsonl | python3 -c '
import collections, json, sys
numbers = collections.defaultdict(list)
for line in sys.stdin:
    m = json.loads(line)
    numbers[m["from"]].append(m["seq"])
print(all(n == list(range(1, len(n) + 1)) for n in numbers.values()), sum(map(len, numbers.values())))')" "True 30"

# Clearing message-state.json, as the seed's app does at a fresh start, opens a session.
mkdir app && cd app && roger init -q 2>/dev/null
state=.roger/message-state.json
session() { roger agents session --json | json 'd["epoch"]'; }
printf '{"counters":{},"lastSeen":{}}' >$state
is "where nobody has a number yet there is nothing to clear" "$(session)" 1
roger send --as lead w one -q 2>/dev/null
roger send --as lead w two -q
printf '{\n  "counters": {},\n  "lastSeen": {}\n}\n' >$state
is "the first to come opens it" "$(session)" 2
roger send --as lead w three -q
is "once, and numbers start afresh" "$(roger list --jsonl | tail -n 1 | json '[d["seq"], d["epoch"]]')" "[1, 2]"
roger receive --as w -q
printf '{"counters":{},"lastSeen":{}}' >$state
roger send --as lead w four -q
is "a send, too" "$(roger list --jsonl | tail -n 1 | json '[d["seq"], d["epoch"]]')" "[1, 3]"
rm $state
like "one that is missing is said to be" "$(roger status)" "message-state.json is missing: it is rebuilt, and no new session"
exits 0 "a send rebuilds it" roger send --as lead w five
like "and says so" "$err" "message-state.json is missing"
is "in the same session" "$(session) $(json 'd["counters"]' <$state)" '3 {"lead": 2}'
printf '{"counters":{"lead":1},"lastS' >$state
like "as of one that is torn" "$(roger status)" "message-state.json is damaged"
: >$state
like "or empty" "$(roger status)" "message-state.json is damaged"
exits 0 "rebuild mends it" roger doctor rebuild
is "then nothing is said" "$(roger status | grep -c message-state)" 0
: >$state
exits 0 "so does what status advises" $(roger status --json | json '[c["next"] for c in d["concerns"] if c["kind"] == "engine"][0]')
is "and nothing is said" "$(roger status | grep -c message-state)" 0
is "nor begun" "$(session)" 3
for agent in a b c d e f g h i j k l; do
	roger send --as "agent-$agent" w 'a number for each' --issue many -q
done
cp $state whole
head -c 200 whole >$state
like "a longer one that is torn is said to be, too" "$(roger status)" "message-state.json is damaged"
mv whole $state
# A long one is only seen by who writes it next.
printf '{"counters":{},%200s"lastSeen":{}}' '' >$state
roger send --as lead w six -q
is "one that was cleared and is long is seen at the next writing" "$(session)" 4
cd ..
exits 0 "verify" roger verify

# ------------------------------------------------ a document of the seed's program
# taken FOLDER COUNTERS-AND-LASTSEEN: a new workspace with such a document.
taken() {
	cd "$here" && mkdir "$1" && cd "$1" && roger init -q && printf '%s' "$2" >.roger/message-state.json
}
forget() { rm -f .roger/messages.control .roger/messages.checkpoint .roger/messages.db*; }
old_and_new() { printf '(WORKER-A #3): old\n(WORKER-A #4): new\n' | roger bridge ingest --to LEAD --json 2>/dev/null | json '[d["taken"], d["skipped"]]'; }
given() { roger send --as "$1" --new WORKER-B next --json 2>/dev/null | json 'd["seq"]'; }
taken seed '{"counters":{"LEAD":5},"lastSeen":{"LEAD":{"WORKER-A":3}}}'
is "what a reader saw before roger came is stale" "$(old_and_new)" "[1, 1]"
is "a sender goes on" "$(given LEAD)" 6
is "and so does who was only seen" "$(given WORKER-A)" 5
is "the document has both" "$(json '[d["counters"], d["lastSeen"], d["epoch"]]' <.roger/message-state.json)" '[{"LEAD": 6, "WORKER-A": 5}, {"LEAD": {"WORKER-A": 3}}, 1]'
forget
is "so it stays without what is derived" "$(given LEAD) $(old_and_new)" "7 [0, 2]"
rm .roger/message-state.json
forget
is "and without the document" "$(given LEAD) $(old_and_new)" "8 [0, 2]"
exits 0 "rebuild" roger doctor rebuild
is "changes nothing" "$(given LEAD) $(old_and_new)" "9 [0, 2]"
exits 0 "doctor" roger doctor
exits 0 "verify" roger verify
like "names the journal that has them" "$out" "sessions.jsonl +1 lines"
exits 0 "a new session" roger agents session new
is "forgets them" "$(given LEAD) $(old_and_new)" "1 [2, 0]"

taken numbered '{"counters":{"LEAD":5},"lastSeen":{"LEAD":{"WORKER-A":3}},"epoch":4}'
roger status >/dev/null
is "a document with an epoch is taken over whole" "$(given LEAD) $(old_and_new) $(roger agents session --json | json 'd["epoch"]')" "6 [1, 1] 4"
cd "$here" && mkdir begun && cd begun && roger init -q && roger status >/dev/null
printf '{"counters":{"LEAD":5},"epoch":4}' >.roger/message-state.json
is "also by who knew another epoch" "$(given LEAD) $(json '[d["counters"], d["epoch"]]' <.roger/message-state.json)" '6 [{"LEAD": 6}, 4]'
is "its numbers are written down once" "$(wc -l <.roger/sessions.jsonl)" 1

taken early '{"counters":{"LEAD":5},"lastSeen":{"LEAD":{"WORKER-A":3}}}'
roger status >/dev/null
forget
rm .roger/message-state.json
is "one look takes them over" "$(given LEAD) $(old_and_new)" "6 [1, 1]"

taken cleared '{"lastSeen":{"LEAD":{"WORKER-A":3}}}'
roger status >/dev/null
printf '{"counters":{},"lastSeen":{}}' >.roger/message-state.json
is "clearing clears what was taken over, too" "$(old_and_new) $(roger agents session --json | json 'd["epoch"]')" "[2, 0] 2"

for document in '{"counters":{"LEAD":281474976710656},"lastSeen":{}}' '{"counters":{"LEAD":-1},"lastSeen":{}}' '{"counters":{"LEAD":5' '[1]'; do
	taken "odd-${#document}" "$document"
	exits 0 "a send beside $document" roger send --as LEAD --new b x
	like "says that it is not taken over" "$err" "message-state.json .*its numbers are not taken over"
	is "and begins with 1" "$(roger list --jsonl | json 'd["seq"]')" 1
done
cd "$here" && mkdir late && cd late && roger init -q && roger send -q --as a --new b x 2>/dev/null
printf '{"counters":{"LEAD":5,"WORKER-A":3,"WORKER-B":2,"REVIEWER":4},"lastSeen":{"LEAD":{"WORKER-A":3,"WORKER-B":2,"REVIEWER":4}}}' >.roger/message-state.json
exits 0 "a document that comes after the first message" roger send --as LEAD --new b x
like "is not taken over" "$err" "not taken over: there are messages already"
is "nor left" "$(given LEAD) $(json 'd["counters"]["LEAD"]' <.roger/message-state.json)" "2 2"

# A long document is left by who only sends to who looks.
cd "$here" && mkdir long && cd long && roger init -q
python3 -c 'for i in range(600): print("{\"from\":\"%s-%d\",\"to\":\"b\",\"content\":\"x\",\"issue\":\"i%d\"}" % ("a" * 120, i, i))' | roger send --batch --new -q 2>/dev/null
roger receive --as b -q >/dev/null
like "a long message-state.json" "$(wc -c <.roger/message-state.json)" "[0-9]{5}"
roger send -q --as b --new c x 2>/dev/null
is "is not written by a send" "$(json '"b" in d["counters"]' <.roger/message-state.json)" false
touch -d '2 seconds ago' .roger/message-state.json
roger receive --as c -q >/dev/null
is "but by the next who looks" "$(json 'd["counters"]["b"]' <.roger/message-state.json)" 1

# One of 1,024 bytes or more is written once a second by commands that end. On a slow machine a second may have passed.
cd "$here" && mkdir medium && cd medium && roger init -q
python3 -c 'for i in range(30): print("{\"from\":\"%s-%d\",\"to\":\"b\",\"content\":\"x\"}" % ("a" * 60, i))' | roger send --batch --new -q 2>/dev/null
written=true
for try in 1 2 3 4 5; do
	touch .roger/message-state.json
	roger send -q --as "b$try" --new c x 2>/dev/null
	[ "$(json "\"b$try\" in d['counters']" <.roger/message-state.json)" = true ] || written=false
done
is "a document that was just written is left" "$written" false
touch -d '2 seconds ago' .roger/message-state.json
roger send -q --as b --new c x 2>/dev/null
is "and written a second later" "$(json '[d["counters"][a] for a in ("b", "b1", "b5")]' <.roger/message-state.json)" "[1, 1, 1]"
touch -d 'next year' .roger/message-state.json
roger send -q --as b --new c x 2>/dev/null
is "also where the clock was set back" "$(json 'd["counters"]["b"]' <.roger/message-state.json)" 2
done_testing
