#!/bin/sh
# What went wrong where the message sequence comes from, one by one: none of it
# can happen here.
. "$(dirname "$0")/lib.sh"

boxes=$here/.roger/triggers
bridge() {
	roger bridge --once "$@"
}
contents() { # AGENT
	roger list --to "$1" --jsonl | python3 -c '
import json, sys
print(json.dumps([json.loads(line)["content"] for line in sys.stdin]))'
}
drop() { # AGENT TEXT
	printf '%s\n' "$2" >"$boxes/$1.txt"
}
roger init -q
bridge -q

# 1. A new session began at #1, and what was seen in the last one blocked it all.
drop bob '(LEAD #1): monday'
bridge -q 2>/dev/null
drop bob '(LEAD #7): much of monday'
bridge -q
roger receive --as bob -q
roger agents session new -q
drop bob '(LEAD #1): tuesday'
exits 0 "1: a new session starts at #1" bridge
like "1: and is let in" "$out" 'took LEAD #1'
is "1: what was seen before does not count" "$(json 'd["lastSeen"]' <.roger/message-state.json)" '{}'

# 2. A number counted as seen before its message was delivered, so its retry was skipped.
printf 'size_limits:\n  max_messages_per_issue_phase: 1\n' >.roger/config.yaml
drop tight '(LEAD #2): first'
bridge -q 2>/dev/null
drop tight '(LEAD #3): no room yet'
run bridge
like "2: what cannot be delivered waits" "$err" 'waiting LEAD #3 -> tight'
roger receive --as tight -q
exits 0 "2: its next try" bridge
like "2: is no duplicate" "$out" 'took LEAD #3'
: >.roger/config.yaml
roger inbox --as bob -q
is "2: a look is no reading" "$(json '"bob" in d["lastSeen"]' <.roger/message-state.json)" false

# 3. An agent began anew, the others did not: its #1 was dropped for good, silently.
drop bob '(LEAD #5): five'
bridge -q
drop bob '(LEAD #1): back again'
run bridge
like "3: a number that went back is told" "$err" 'skipped LEAD #1 -> bob.*the sender began anew \(then .roger agents session new.\)'
lost=$(ls -d "$boxes"/.skipped/*)
is "3: its text is kept" "$(cat "$lost")" '(LEAD #1): back again'
roger agents session new -q
exits 0 "3: after a new session" roger bridge ingest --to bob --file "$lost"
is "3: it is let in" "$(contents bob | json 'd[-1]')" 'back again'

# 4. A model forgot its own counter.
roger send -q --as LEAD bob 'roger counts'
roger send -q --as LEAD bob 'not the model'
is "4: roger gives the numbers" "$(roger list --to bob --from LEAD --newest --limit 2 --json | json '[m["seq"] for m in d["messages"]]')" '[3, 2]'
roger receive --as bob -q
drop bob '(LEAD #2): its own count'
run bridge
like "4: and tells when a text comes with an old one" "$err" 'skipped LEAD #2 -> bob'

# 5. A prefix of the transport hid the number; deduplication was off and nobody knew.
drop bob '[AGENT MSG - reply via bob.txt] (LEAD #4): behind a prefix'
run bridge
like "5: a header that is not at the start of a line is told" "$err" 'skipped.*text without a header'
unlike "5: and never taken as unnumbered" "$(contents bob)" 'behind a prefix'

# 6. Half-written files were read.
exec 3>"$boxes/bob.txt"
printf '(LEAD #6): half' >&3
exits 1 "6: nothing is read while somebody writes" bridge
printf ' and the other half\n' >&3
exec 3>&-
exits 0 "6: then all of it" bridge
is "6: in one piece" "$(contents bob | json 'd[-1]')" 'half and the other half'

# ... nor is text lost that a writer adds who never closes his file.
exec 3>>"$boxes/bob.txt"
printf '(LEAD #7): logged\n(LEAD #8): unfin' >&3
exits 0 "6: a writer who pauses is read up to there" roger bridge --timeout 5s
is "6: whole messages only" "$(contents bob | json 'd[-1]')" 'logged'
printf 'ished\n(LEAD #9): more\n' >&3
exits 0 "6: and goes on" roger bridge --timeout 5s
is "6: from where it was" "$(contents bob | json 'd[-2:]')" '["unfinished", "more"]'
exits 1 "6: not twice" bridge
printf '(LEAD #10): the last\n' >&3
exec 3>&-
exits 0 "6: to its end" bridge
is "6: nothing is lost" "$(contents bob | json 'd[-1]') $(ls "$boxes/.taken" | wc -l)" 'the last 0'

# 7. Files lost four of ten messages that came in quick succession.
printf 'size_limits:\n  max_messages_per_issue_phase: 10000\n  max_messages_per_issue: 10000\n' >.roger/config.yaml
"$ROGER" bridge >"$here/log" 2>&1 &
server=$!
python3 - "$boxes" <<'END'
import os, sys, threading
def rapid(name):
    for i in range(1, 101):
        with open(f"{sys.argv[1]}/quick.txt", "a") as box:
            box.write(f"({name} #{i}): {name} {i}\n")
threads = [threading.Thread(target=rapid, args=(name,)) for name in ("R1", "R2", "R3")]
for thread in threads: thread.start()
for thread in threads: thread.join()
END
for _ in $(seq 100); do
	[ "$(roger list --count --to quick)" = 300 ] && break
	roger wait --as quick --timeout 100ms -q
	sleep 0.1
done
is "7: of 300 in quick succession" "$(roger list --count --to quick)" 300
kill "$server"
wait "$server"
is "7: the bridge ends well" "$?" 0
unlike "7: none was skipped" "$(cat "$here/log")" 'skipped'

# 8. An acknowledgement was lost after the message was delivered: it came twice.
printf '(LEAD #11): once\n(LEAD): and this once, too\n' >"$boxes/.taken/1700000000000-00112233445566ff-0.bob.txt"
cp "$boxes/.taken/1700000000000-00112233445566ff-0.bob.txt" copy
bridge -q
cp copy "$boxes/.taken/1700000000000-00112233445566ff-0.bob.txt"
exits 0 "8: a file that was done with comes back, as after a power cut" bridge
like "8: that is known" "$out" 'had LEAD #11 -> bob'
is "8: and nothing comes twice" "$(contents bob | json '[d.count("once"), d.count("and this once, too")]')" '[1, 1]'

# 9. "Delivered" was said of what was dropped later.
drop bob '(LEAD #12): for certain'
run bridge --json
id=$(printf '%s' "$out" | json 'd["crossings"][0]["id"]')
is "9: taken means stored" "$(roger show "$id" --json | json 'd["messages"][0]["content"]')" 'for certain'

# 10. Impatient senders sent again under new ids; copies were found by their text.
drop bob '(LEAD #12): for certain'
run bridge
like "10: the same number is a copy" "$err" 'skipped LEAD #12'
drop bob '(LEAD #13): for certain'
bridge -q
is "10: the same words under a new number are no copy" "$(contents bob | json 'd.count("for certain")')" 2

exits 0 "verify" roger verify -q
exits 0 "doctor" roger doctor -q
# Programs of the seed read messages.db: after a look it has what was sent and read before.
cd "$here" && mkdir follow && cd follow && roger init -q
rows() { python3 -c 'import sqlite3; print(*sqlite3.connect(".roger/messages.db").execute("select count(*), sum(read) from messages").fetchone())'; }
for i in 1 2 3 4 5 6; do
	roger send --as lead --new worker "$i" -q 2>/dev/null
	roger receive --as worker -q >/dev/null
done
roger status >/dev/null
is "messages.db has all after a look" "$(rows)" "6 6"
roger send --as lead worker seven -q
roger list >/dev/null
is "and after another" "$(rows)" "7 6"
older() {
	while [ $(($(date +%s%3N) - $(date -r .roger/messages.db +%s%3N))) -le 1000 ]; do
		sleep 0.1
	done
}
roger send --as lead worker eight -q
older
roger inbox --as worker >/dev/null
is "where it is older than a second, a look at an inbox does" "$(rows)" "8 6"
older
roger send --as lead worker nine -q
is "and a change" "$(rows)" "9 6"
rm .roger/messages.db
roger list >/dev/null
is "one that is gone is made by a look, though no line is new" "$(rows)" "9 6"
# A program that writes there all the time keeps the file young: who only receives follows, too, before too much is new.
cd "$here" && mkdir busy && cd busy && roger init -q && roger send --as lead --new worker 0 -q && roger list >/dev/null
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	printf '{"id":"msg-1-%s","issue_id":"app","from_phase":"kim","to_phase":"worker","run_counter":1,"message_type":"data","content":"%0100000d","metadata":null,"read":false,"created_at":1,"read_at":null}\n' $i 0 >>.roger/messages.jsonl
	touch .roger/messages.db
	roger receive --as worker -q >/dev/null
done
check "messages.db is followed by who receives beside other writers" test "$(rows | cut -d' ' -f1)" -gt 10
cd "$here" && mkdir nothing && cd nothing && roger init -q
roger list >/dev/null
check "and by one at an empty workspace" test -s .roger/messages.db
done_testing
