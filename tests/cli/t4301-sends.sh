#!/bin/sh
# runner: timeout 300
# The send log: what was attempted with a key, what came of it, and what may be
# tried next, through cycles, timeouts, dead letters and purging.
. "$(dirname "$0")/lib.sh"
# Commands are configured here as the tests go; t2004-trust says when they may run.
export ROGER_TRUST_COMMANDS=1

roger init -q
log=.roger/send-log/ann.jsonl

# A key is sent once in a cycle.
exits 0 "send with a key" roger send --as ann bob 'one' --key app-1:status-update:c1 --json
first=$(printf '%s' "$out" | json 'd["messages"][0]["id"]')
is "its cycle and attempt" "$(printf '%s' "$out" | json '[d["cycle"],d["attempt"],d["duplicate"]]')" '["1", 1, false]'
exits 0 "again" roger send --as ann bob 'one' --key app-1:status-update:c1 --json
is "gives the first result" "$(printf '%s' "$out" | json '[d["messages"][0]["id"],d["duplicate"]]')" "[\"$first\", true]"
exits 77 "the same key with another text" roger send --as ann bob 'two' --key app-1:status-update:c1
like "names key and message" "$err" "app-1:status-update:c1.*$first"
is "one message" "$(roger list --count)" 1
is "one entry" "$(wc -l <$log)" 1
is "its members, the seed's eleven first" "$(json 'list(d)' <$log)" '["id", "sender", "target", "timestamp", "idempotent_key", "payload_chars", "outcome", "attempt", "max_attempts", "cycle_id", "dead_letter_task_id", "payload_bytes", "payload_sha256", "message_id", "chain"]'
is "what it says" "$(json '[d["sender"],d["target"],d["payload_chars"],d["outcome"],d["attempt"],d["max_attempts"],d["dead_letter_task_id"]]' <$log)" '["ann", "bob", 3, "delivered", 1, 3, null]'
is "the checksum is that of the content" "$(json 'd["payload_sha256"]' <$log)" "$(printf one | sha256sum | cut -d' ' -f1)"
exits 64 "a key that is empty" roger send --as ann bob 'one' --key ''
is "is none that was forgotten" "$(roger list --count)" 1
like "what fits no filter" "$(roger log sends --key none)" "^no entry fits$"
exits 65 "a bare number is no time" roger report --since 5
like "which says what is expected" "$err" "expected a time such as .*2h for 2 hours ago"
exits 0 "a key of its parts" roger send --as ann bob 'parts' --task app-1 --verb blocker-update --json
is "task, verb and cycle" "$(printf '%s' "$out" | json 'd["key"]')" "app-1:blocker-update:1"
for hidden in 202e 200d 00ad 2028 009b 001b e0041; do
	key=$(python3 -c 'import sys; print("app-1:status" + chr(int(sys.argv[1], 16)) + "-update:c1")' $hidden)
	exits 65 "a key with U+$hidden, which nobody sees" roger send --as ann bob 'hidden' --key "$key"
	like "and says so" "$err" "key: expected visible characters, found U\+0*$(printf %s $hidden | tr a-f A-F | sed 's/^0*//')"
done
exits 0 "a key of letters of any script" roger send --as ann bob 'seen' --dry-run --key 'аpp-1:größe:日本'
exits 0 "a verb that is not stable" roger send --as ann bob 'x' --key app-1:shouting:c1
like "is warned of" "$err" "shouting.*status-update"
exits 64 "a verb without a task" roger send --as ann bob x --verb escalation
exits 0 "one key to two" roger send --as ann bob,cid 'both' --key app-2:status-update:c1
is "is an entry for each" "$(roger log sends --key app-2:status-update:c1 --json | json 'sorted(a["to"] for a in d["attempts"])')" '["bob", "cid"]'
roger send --as ann bob 'no key' -q
is "without a key there is one, too" "$(roger log sends --json | json 'len(d["attempts"])')" 6

# Another cycle permits it.
exits 0 "a new cycle" roger log cycle new c-2 --as ann --json
is "is the current one" "$(printf '%s' "$out" | json '[d["current"],d["number"]]')" '["c-2", 2]'
exits 77 "no cycle twice" roger log cycle new c-2
exits 0 "the key in it" roger send --as ann bob 'one' --key app-1:status-update:c1 --json
is "is a new message" "$(printf '%s' "$out" | json '[d["messages"][0]["id"] == "'"$first"'", d["cycle"]]')" '[false, "c-2"]'
is "with an entry of its own" "$(roger log sends --key app-1:status-update:c1 --json | json '[a["cycle"] for a in d["attempts"]]')" '["1", "c-2"]'

# Reading confirmed, and not.
exits 64 "to confirm needs a key" roger send --as ann bob x --confirm read
exits 64 "within goes with it" roger send --as ann bob x --key a:escalation:1 --within 1s
(roger wait --as eve --timeout 20s -q >/dev/null; roger receive --as eve >/dev/null) &
exits 0 "read in time" roger send --as ann eve 'read me' --key app-3:escalation:c1 --confirm read --within 20s
wait
is "is delivered" "$(roger log sends --key app-3:escalation:c1 --json | json '[a["outcome"] for a in d["attempts"]]')" '["delivered"]'
send_late() {
	roger send --as ann bob 'read me' --key app-4:escalation:c1 --confirm read --within "${1-50ms}" "--json"
}
exits 75 "not read in time" send_late
is "may be tried again" "$(printf '%s' "$err" | json 'd["error"]["retryable"]')" true
late=$(roger log sends --key app-4:escalation:c1 --json | json 'd["attempts"][0]["message"]')
exits 75 "the next attempt" send_late
is "is of the same message" "$(roger log sends --key app-4:escalation:c1 --json | json '[[a["attempt"],a["outcome"],a["message"] == "'"$late"'"] for a in d["attempts"]]')" '[[1, "timeout", true], [2, "timeout", true]]'
exits 77 "with another text" roger send --as ann bob 'other' --key app-4:escalation:c1 --confirm read --within 50ms
is "no dead letter so far" "$(roger dead --json | json 'len(d["dead_letters"])')" 0
exits 75 "the third" send_late
like "is a dead letter" "$err" "dl-[0-9a-f]{32}"
exits 77 "there is no fourth" send_late
exits 0 "dead" roger dead --json
is "one dead letter" "$(printf '%s' "$out" | json '[[l["task"],l["to"],l["attempts"],l["status"],l["message"] == "'"$late"'"] for l in d["dead_letters"]]')" '[["app-4", "bob", 3, "undelivered", true]]'
like "and why" "$(roger dead)" "3 attempts, not read in time  "
letter=$(printf '%s' "$out" | json 'd["dead_letters"][0]["id"]')
is "its id stands in the entry" "$(roger log sends --key app-4:escalation:c1 --newest --limit 1 --json | json 'd["attempts"][0]["dead_letter_task"]')" "$letter"
is "one message in all of it" "$(roger list --key app-4:escalation:c1 --jsonl | wc -l)" 1
exits 75 "redeliver" roger dead redeliver "$letter" --within 50ms
is "not read in time either: it is to be delivered" "$(roger dead show "$letter" --json | json '[l["status"] for l in d["dead_letters"]]')" '["undelivered"]'
exits 0 "stale" roger dismiss "$letter" --reason 'done by hand'
is "is noted" "$(roger dead --status stale --json | json '[[l["id"] == "'"$letter"'",l["note"]] for l in d["dead_letters"]]')" '[[true, "done by hand"]]'
is "one dead letter still" "$(roger dead --json | json 'len(d["dead_letters"])')" 1
roger ack --as bob "$late" -q
is "read late: a correcting entry" "$(roger log sends --key app-4:escalation:c1 --newest --limit 1 --json | json '[d["attempts"][0]["attempt"],d["attempts"][0]["outcome"]]')" '[4, "delivered"]'
like "and the letter tells" "$(roger dead)" "read after all"
exits 77 "which need not go again" roger dead redeliver "$letter"
exits 77 "nor is it of no use" roger dismiss "$letter"
exits 66 "no such letter" roger dead show dl-0

# Retries by themselves, in cycles, and the task system.
cat >.roger/config.yaml <<'X'
retries:
  max_attempts: 2
  confirm_within: 50ms
dead_letters:
  command: [sh, -c, 'cat > ../filed.json; echo TASK-7; echo more']
  alarm: 1
X
exits 75 "retry" roger send --as dan bob 'marker-in-content' --key app-5:escalation:c1 --confirm read --retry
is "makes the attempts there are" "$(roger log sends --from dan --json | json '[[a["attempt"],a["dead_letter_task"]] for a in d["attempts"]]')" '[[1, null], [2, "TASK-7"]]'
is "the command got the letter" "$(json '[d["task_id"],d["target"],d["attempt_count"]]' <filed.json)" '["app-5", "bob", 2]'
is "which says what it became" "$(roger dead --task app-5 --json | json 'd["dead_letters"][0]["filed_as"]')" TASK-7
is "and no content" "$(grep -rl marker-in-content .roger filed.json | grep -v 'messages\.\(jsonl\|db\)')" ""
roger send --as dan bob 'x' --key app-6:escalation:c1 --confirm read --retry -q 2>err.txt
like "too many are an alarm" "$(cat err.txt)" 'alarm: 3 dead letters'
like "that dead shows" "$(roger dead)" "alarm"
cat >.roger/config.yaml <<'X'
retries:
  after_cycles: 1
  confirm_within: 30ms
breaker:
  failures: 2
  open_for: 1h
X
exits 75 "attempt one" roger send --as fay gus 'x' --key app-7:escalation:c1 --confirm read
exits 75 "the next is for the next cycle" roger send --as fay gus 'x' --key app-7:escalation:c1 --confirm read
like "and says so" "$err" "later cycle"
roger log cycle new -q
exits 75 "attempt two" roger send --as fay gus 'x' --key app-7:escalation:c1 --confirm read
is "of the same key" "$(roger log sends --from fay --json | json '[[a["attempt"],a["cycle"]] for a in d["attempts"]]')" '[[1, "c-2"], [2, "3"]]'
exits 75 "the breaker" roger send --as fay gus 'y' --key app-8:escalation:c1 --confirm read
like "answers at once" "$err" "breaker"
is "and nothing is stored" "$(roger list --key app-8:escalation:c1 --jsonl | wc -l)" 0
exits 0 "without confirming it may go" roger send --as fay gus 'y' --key app-8:escalation:c1

# A refusal for want of room holds as long as there is none.
cat >.roger/config.yaml <<'X'
size_limits:
  max_messages_per_issue_phase: 2
X
for i in 1 2; do roger send --as hugo ina "$i" --issue full -q; done
exits 77 "a full mailbox" roger send --as hugo ina 'x' --issue full --key app-9:status-update:c1
is "is an error" "$(roger log sends --from hugo --outcome error --json | json '[[a["outcome"],a["cause"]] for a in d["attempts"]]')" '[["error", "mailbox full"]]'
exits 77 "which holds while it is full" roger send --as hugo ina 'x' --issue full --key app-9:status-update:c1
roger receive --as ina -q
exits 0 "and not when there is room" roger send --as hugo ina 'x' --issue full --key app-9:status-update:c1
exits 0 "once" roger send --as hugo ina 'x' --issue full --key app-9:status-update:c1
is "that is" "$(roger list --issue full --unread --jsonl | wc -l)" 1
roger log cycle new -q

# Killed before the entry was written: whoever asks finds it.
roger send --as kim leo 'k' --key app-10:status-update:c1 -q
rm -rf .roger/send-log/kim.jsonl .roger/messages.control .roger/messages.db*
is "an entry that was lost is made anew" "$(roger log sends --from kim --json | json '[[a["outcome"],a["to"]] for a in d["attempts"]]')" '[["delivered", "leo"]]'
is "and nobody else's is doubled" "$(roger log sends --from ann --lines --json | json 'len(d["attempts"])')" "$(wc -l <$log)"

# A log that was deleted is damage until a person accepts it.
accept_gone() {
	while _file=$(roger status --json | json '" ".join(c["subject"] for c in d["concerns"] if c["kind"] == "damage")') && [ "$_file" ]; do
		roger dismiss "$_file" --reason "the test removed it" -q || break
	done
}

# A log that was deleted, or all: whoever reads them gets back what the journal says.
rm .roger/send-log/kim.jsonl
is "a log that was deleted is made again" "$(roger log sends --from kim --json | json '[a["to"] for a in d["attempts"]]')" '["leo"]'
rm .roger/send-log/kim.jsonl
like "also for one who asks for everybody's" "$(roger log sends)" "kim -> leo +delivered"
cp -r .roger/send-log kept-log
rm -r .roger/send-log
like "all of them are" "$(roger timeline --task app-10)" "kim -> leo .*send-log/kim.jsonl"
rm -r .roger/send-log
is "for a report" "$(roger report --json | json 'd["attempts"] > 0')" true
rm -r .roger/send-log
roger doctor --json >found.json
like "doctor says what is missing" "$(json '[b["what"] for b in d["breaches"]]' <found.json)" "there is no entry"
roger doctor --fix -q 2>/dev/null
accept_gone
is "and mends it" "$(roger doctor --json | json '[b for b in d["breaches"] if "there is no entry" in b["what"]]')" '[]'
rm -r .roger/send-log
mv kept-log .roger/send-log

# What a checkpoint says is in the logs is copied again when they are gone.
roger doctor rebuild -q
rm .roger/messages.control
roger send --as ann leo 'after a restart' --key app-11:status-update:c1 -q
cp -r .roger/send-log kept-log
rm -r .roger/send-log
is "also after a restart, from the beginning" "$(roger log sends --from kim --json | json '[a["to"] for a in d["attempts"]]')" '["leo"]'
rm -r .roger/send-log
mv kept-log .roger/send-log

# Of what has no key, too, and none twice.
roger send --as kim leo 'plain one' --issue plain -q
roger send --as kim leo 'plain two' --issue plain -q
roger receive --as leo -q
is "what has no key has entries" "$(roger log sends --from kim --json | json '[a["outcome"] for a in d["attempts"] if ":send:msg-" in a["key"]]')" '["delivered", "delivered"]'
rm .roger/messages.control
roger send --as kim leo 'plain three' --issue plain -q
is "none is doubled when nobody knows how far they are" "$(roger log sends --from kim --lines --json | json 'len([a for a in d["attempts"] if ":send:msg-" in a["key"]])')" 3
accept_gone
exits 0 "doctor" roger doctor

# Purging.
before=$(cat .roger/dead-letters.jsonl | wc -l)
roger log cycle new -q
exits 0 "purge, dry" roger log purge --dry-run --json
is "changes nothing" "$(roger log sends --from ann --lines --json | json 'len(d["attempts"])')" "$(wc -l <$log)"
exits 0 "purge" roger log purge --json
check "drops lines" test "$(printf '%s' "$out" | json 'd["purged"]')" -gt 0
is "the first cycle is gone" "$(roger log sends --cycle 1 --json | json 'len(d["attempts"])')" 0
is "dead letters are not" "$(wc -l <.roger/dead-letters.jsonl)" "$before"
is "an open timeout is not" "$(roger log sends --from fay --key app-7:escalation:c1 --json | json '[a["outcome"] for a in d["attempts"]]')" '["timeout", "timeout"]'
is "a purged key is remembered" "$(roger log sends --from ann --key app-2:status-update:c1 --json | json '[d["attempts"],[[p["outcome"],p["attempts"]] for p in d["purged"]]]')" '[[], [["delivered", 1]]]'
exits 0 "verify" roger verify
exits 0 "purge again" roger log purge
rm -rf .roger/messages.control .roger/messages.db
is "after a restart purged entries do not come back" "$(roger log sends --cycle 1 --json | json 'len(d["attempts"])')" 0

# Sends are ordered by time, also after a rebuild; those of the same millisecond by the name of the sender.
cd "$here" && mkdir order && cd order && roger init -q
for i in 1 2 3; do
	roger send --as "p$((4 - i))" --new bob "plain $i" -q 2>/dev/null
	sleep 0.003
	roger send --as k bob "keyed $i" --key "t:send:$i" -q 2>/dev/null
	sleep 0.003
done
in_order() { roger log sends "$@" --json | python3 -c '
import json, sys
print([a["message"] for a in json.load(sys.stdin)["attempts"]])'; }
order=$(roger list --jsonl | python3 -c 'import json, sys; print([json.loads(line)["id"] for line in sys.stdin])')
is "sends are in the order of their time" "$(in_order)" "$order"
rm -f .roger/messages.db*
is "also when the index was built anew" "$(in_order)" "$order"
rm -rf .roger/send-log .roger/messages.control
is "or the logs" "$(in_order)" "$order"
is "the newest is the last" "$(in_order --newest --limit 1)" "$(printf '%s' "$order" | python3 -c 'print([eval(input())[-1]])')"

# Whoever sent with a key, and whose entries were purged, has an empty log: else each look would read the journal from its start.
cd "$here" && mkdir purged && cd purged && roger init -q
roger send --as amy --new bob once --key t:escalation:1 -q 2>/dev/null
for i in 1 2 3; do roger log cycle new -q; done
roger log purge -q
rm .roger/send-log/amy.jsonl
is "what was purged is not made again" "$(roger log sends --from amy --json 2>/dev/null | json 'd["attempts"]')" "[]"
is "but the log is" "$(wc -c <.roger/send-log/amy.jsonl)" 0

cd "$here" && mkdir altered && cd altered && roger init -q
roger send --as amy --new --key a:b:1 bob one -q
sed -i 's/"content":"one"/"content":"two"/' .roger/messages.jsonl
exits 0 "a purge that finds the journal altered does not wait for its own lock" roger log purge
is "and status names the damage" "$(roger status --json | json '[c["kind"] for c in d["concerns"]][0]')" damage
done_testing
