#!/bin/sh
# trace: every step of a message with its time and the line it
# is written in, for each recipient; by id and by key; living, claimed, given
# back, timed out, given up, archived; and the figures of report.
. "$(dirname "$0")/lib.sh"
# Commands are configured here as the tests go; t2004-trust says when they may run.
export ROGER_TRUST_COMMANDS=1

roger init -q
cat >.roger/config.yaml <<'END'
retries:
  max_attempts: 2
wake:
  after: 0s
  agents:
    bob: ["true"]
END
steps() { roger trace --json "$@" | json '[[s["step"] for s in t["steps"]] for t in d["traces"]]'; }
reached() { roger trace --json "$@" | json '[t["reached"] for t in d["traces"]]'; }
row() { roger trace "$1" | grep -E "^  $2 "; }

exits 66 "no such message" roger trace msg-1-x
like "says how to find one" "$err" "no message 'msg-1-x', and none with that key; .*also of what was not stored"
exits 64 "nothing" roger trace
exits 65 "too much" roger trace 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21

# ---------------------------------------------------------------- looked at, read
one=$(send_id --as ann bob 'PLANTED one' --issue app)
is "stored" "$(steps "$one")" '[["stored"]]'
is "with its line, and where that begins" "$(roger trace "$one" --json | json '[d["traces"][0]["steps"][0][k] for k in ("file", "line", "who")]')" \
	'["messages.jsonl", 1, "ann"]'
is "a dash for what has not been" "$(roger trace "$one" | grep -c -E '^  (wake attempted|looked at|read|acknowledged|timed out|dead) +-$')" 6
roger wake --once -q
env ROGER_AGENT=bob "$ROGER" inbox -q
env ROGER_AGENT=bob "$ROGER" inbox -q
is "woken and looked at" "$(steps "$one")" '[["stored", "wake", "looked"]]'
like "with the evidence" "$(row "$one" 'looked at')" 'bob  logs/activity.log.jsonl:3$'
like "of the attempt, too" "$(row "$one" 'wake attempted')" 'exit 0  logs/activity.log.jsonl:2$'
is "reached" "$(reached "$one")" '["looked"]'
roger receive --as bob -q
is "read" "$(steps "$one")" '[["stored", "wake", "looked", "read"]]'
like "in its line" "$(row "$one" read)" 'bob  read after [0-9.]+m?s, run by uid [0-9]+, [a-z]+.*  messages.jsonl:2$'
is "that line begins there" "$(tail -c +$(($(roger trace "$one" --json | json 'd["traces"][0]["steps"][3]["byte"]') + 1)) .roger/messages.jsonl | head -n 1 | json 'd["read"]')" true
roger wake --once -q
is "no hint for what is read" "$(reached "$one")" '["read"]'

# Taken without a look.
two=$(send_id --as ann bob 'PLANTED two' --issue app)
roger receive --as bob -q
is "who takes it sees it" "$(steps "$two")" '[["stored", "looked", "read"]]'
like "by what" "$(row "$two" 'looked at')" 'bob  by receive, run by uid .*  messages.jsonl:4$'

# ---------------------------------------------------------------- claims
three=$(send_id --as ann carol 'PLANTED three' --issue app)
roger claim --as carol --worker w1 --lease 1h -q
is "claimed" "$(steps "$three")" '[["stored", "looked", "claimed"]]'
roger nack --as carol --worker w1 "$three" -q
roger claim --as carol --worker w2 --lease 1h -q
roger ack --as carol --worker w2 "$three" -q
is "given back, claimed again, acknowledged" "$(steps "$three")" \
	'[["stored", "looked", "claimed", "returned", "claimed", "read", "acknowledged"]]'
is "by whom" "$(roger trace "$three" --json | json '[s.get("who") for s in d["traces"][0]["steps"]][2:]')" '["w1", "w1", "w2", "carol", "w2"]'
is "claims have their time" "$(roger trace "$three" --json | json 'all("at" in s for s in d["traces"][0]["steps"])')" true
is "in the order of the journal" "$(roger trace "$three" --json | json '[s["line"] for s in d["traces"][0]["steps"]][2:]')" '[6, 7, 8, 9, 9]'
four=$(send_id --as ann carol 'PLANTED four' --issue app)
roger ack --as carol "$four" -q
is "an ack without a claim" "$(steps "$four")" '[["stored", "looked", "read", "acknowledged"]]'

# ---------------------------------------------------------------- several recipients
five=$(roger send --as ann bob,carol,dave,eve 'PLANTED five' --issue app --json 2>/dev/null | json 'd["messages"][2]["id"]')
send_id --as ann bob 'PLANTED next' --issue app >/dev/null
roger receive --as carol -q
is "one of several tells of all, and of that one first" "$(roger trace "$five" --json | json '[[t["to"], t["reached"]] for t in d["traces"]]')" \
	'[["dave", "stored"], ["bob", "stored"], ["carol", "read"], ["eve", "stored"]]'
roger archive --issue app -q 2>/dev/null
is "archived ones, too" "$(roger trace "$five" --json | json '[[t["to"], t["steps"][-1]["step"]] for t in d["traces"]]')" \
	'[["dave", "stored"], ["bob", "stored"], ["carol", "archived"], ["eve", "stored"]]'
is "all is known of an archived one" "$(steps "$three")" \
	'[["stored", "looked", "claimed", "returned", "claimed", "read", "acknowledged", "archived"]]'

# Archived unread: later attempts are for what came later.
for i in 1 2; do roger receive --as bob -q; done
gone=$(send_id --as ann bob 'PLANTED gone' --issue app)
roger wake --once -q
env ROGER_AGENT=bob "$ROGER" inbox -q
roger archive --unread "$gone" -q
later=$(send_id --as ann bob 'PLANTED later' --issue app)
sleep 0.01
roger wake --once -q
is "the later one woke its agent" "$(steps "$later")" '[["stored", "wake"]]'
is "and that is none of the archived one's" "$(steps "$gone")" '[["stored", "wake", "looked", "archived"]]'
roger receive --as bob -q

# ---------------------------------------------------------------- keys
roger send --as ann frank 'PLANTED six' --key t:escalation:1 --confirm read --within 10ms -q 2>/dev/null
is "timed out" "$(steps t:escalation:1)" '[["stored", "timeout"]]'
roger send --as ann frank 'PLANTED six' --key t:escalation:1 --confirm read --within 10ms -q 2>/dev/null
is "given up" "$(steps t:escalation:1)" '[["stored", "timeout", "timeout", "dead"]]'
is "reached that" "$(reached t:escalation:1)" '["dead"]'
like "with the evidence" "$(roger trace "$(roger list --to frank --jsonl | json 'd["id"]')")" '^  dead .* dead-letters.jsonl:1$'
like "each attempt" "$(roger trace t:escalation:1)" '^  timed out .*attempt 1 of 2.* send-log/ann.jsonl:2$'
roger receive --as frank -q
is "read after all, which is no ack" "$(reached t:escalation:1)" '["read"]'
like "and its sender knows" "$(roger trace t:escalation:1)" '^  delivered .*attempt 2 of 2, after its timeout'
roger send --as ann bob 'PLANTED seven' --key t:report:1 -q
is "a plain key is delivered at once" "$(steps t:report:1)" '[["stored", "delivered"]]'
roger send --as gus bob 'PLANTED eight' --key t:report:1 -q
is "a key of two senders" "$(roger trace t:report:1 --json | json '[t["from"] for t in d["traces"]]')" '["ann", "gus"]'
is "of one of them" "$(roger trace t:report:1 --from gus --json | json '[t["from"] for t in d["traces"]]')" '["gus"]'

# ---------------------------------------------------------------- other programs
printf '%s\n' '{"id":"odd \"id\" \\ x","issue_id":"app","from_phase":"zoe","to_phase":"bob","run_counter":1,"message_type":"data","content":"PLANTED\u001b[31m","metadata":null,"read":false,"created_at":1700000000000,"read_at":null}' \
	'{"id":"odd \u0022id\u0022 \\ x","issue_id":"app","from_phase":"zoe","to_phase":"bob","run_counter":1,"message_type":"data","content":"PLANTED","metadata":null,"read":true,"created_at":1700000000000,"read_at":1700000001000}' >>.roger/messages.jsonl
is "an id with escapes" "$(steps 'odd "id" \ x')" '[["stored", "read"]]'
mv .roger/messages.db-index .roger/gone
is "without an index" "$(steps "$three")" \
	'[["stored", "looked", "claimed", "returned", "claimed", "read", "acknowledged", "archived"]]'
rm -f .roger/logs/activity.log.jsonl
is "without the activity log" "$(steps "$three")" \
	'[["stored", "looked", "claimed", "returned", "claimed", "read", "acknowledged", "archived"]]'
is "the time of a claim is in its line" "$(roger trace "$three" --json | json '["at" in s for s in d["traces"][0]["steps"]][2]')" true
# Lines of older programs do not say it.
printf '%s\n' '{"id":"older","issue_id":"app","from_phase":"zoe","to_phase":"bob","run_counter":1,"message_type":"data","content":"x","metadata":null,"read":false,"created_at":1700000000000,"read_at":null}' \
	'{"id":"older","issue_id":"app","from_phase":"zoe","to_phase":"bob","run_counter":1,"message_type":"data","content":"x","metadata":null,"read":false,"created_at":1700000000000,"read_at":null,"claimed_by":"w1","claimed_until":4700000000000}' >>.roger/messages.jsonl
like "or not known, and said so" "$(roger trace older)" "^  claimed +time not known +w1"

# ---------------------------------------------------------------- figures
rm -rf .roger && roger init -q
printf 'wake:\n  after: 0s\n  agents:\n    bob: ["true"]\n    eve: ["false"]\n' >.roger/config.yaml
for i in 1 2 3; do roger send --as ann bob,eve "PLANTED $i" -q 2>/dev/null; done
roger wake --once -q
env ROGER_AGENT=bob "$ROGER" inbox --limit 2 -q
env ROGER_AGENT=bob "$ROGER" inbox -q
roger claim --as bob --limit 2 -q
roger list --to bob --jsonl | head -n 2 | while read -r line; do roger ack --as bob "$(printf '%s' "$line" | json 'd["id"]')" -q; done
rm .roger/messages.control # with which it is forgotten what was shown
env ROGER_AGENT=bob "$ROGER" inbox -q
roger wake --test bob --within 1ms -q
env ROGER_AGENT=bob "$ROGER" inbox -q
is "a look is noted again" "$(grep -c '"verb":"inbox"' .roger/logs/activity.log.jsonl)" 4
is "report counts each message once" "$(roger report --json | json '[d[k] for k in ("messages", "wakes", "failed_wakes", "looked", "read", "acknowledged")]')" \
	"[6, 3, 1, 3, 2, 2]"
is "and how long a look took" "$(roger report --json | json '0 <= d["look_p50_ms"] <= d["look_p95_ms"] <= d["look_max_ms"] < 60000')" true
like "for people" "$(roger report)" "^wakes attempted +3$"
like "a timeline tells of it" "$(roger timeline --agent bob)" "looked +bob +looked at 2 new messages"
like "and of waking" "$(roger timeline --agent eve)" "wake +eve +to report 3 unread, attempt 1: exit 1"
check "drawn, too" roger timeline --agent bob --mermaid


# What a trace takes for a look, report counts: by the journal alone, too.
rm -rf .roger && roger init -q
printf 'activity: {own: false}\n' >.roger/config.yaml
for to in bob bob eve eve kim; do roger send --as ann $to "PLANTED" -q 2>/dev/null; done
roger receive --as bob --limit 1 -q
roger claim --as eve --limit 1 -q
roger nack --as eve "$(roger list --to eve --limit 1 --jsonl | json 'd["id"]')" -q
roger claim --as kim -q
roger ack --as kim "$(roger list --to kim --jsonl | json 'd["id"]')" -q
traced() { # STEP: how many messages have it
	roger list --jsonl | while read -r line; do
		roger trace "$(printf '%s' "$line" | json 'd["id"]')" --json | json 'sum(s["step"] == "'"$1"'" for s in d["traces"][0]["steps"]) > 0'
	done | grep -c true
}
is "without notes a look shows by what was taken" "$(roger report --json | json '[d["looked"], d["read"]]')" "[3, 2]"
is "and traces say the same" "$(traced looked) $(traced read)" "3 2"
roger archive --issue general -q 2>/dev/null
is "of archived ones, too" "$(roger report --json | json '[d["looked"], d["read"]]')" "[3, 2]"
is "nothing was noted" "$(cat .roger/logs/activity.log.jsonl 2>/dev/null)" ""
roger send --as ann bob "PLANTED" -q
roger list --jsonl | json '1' >/dev/null 2>&1
{ roger trace "$(roger list --limit 1 --jsonl | json 'd["id"]')" --json; roger report --json; roger timeline --agent bob --json; } >all 2>&1
is "no content" "$(grep -c PLANTED all)" 0

# A piece that no id of roger's has is looked for only where another program gave an id.
exits 66 "a piece of no id" roger show zz-1
like "is told" "$err" "no message 'zz-1'"
printf '{"id":"other/zz-17","issue_id":"i","from_phase":"x","to_phase":"bob","run_counter":1,"message_type":"context","content":"c","metadata":null,"read":false,"created_at":1,"read_at":null}\n' >>.roger/messages.jsonl
is "of an id that another program gave it is found" "$(roger show zz-1 --json | json '[m["id"] for m in d["messages"]]')" '["other/zz-17"]'
rm -f .roger/messages.db-index
is "also by a new index" "$(roger show zz-1 --json | json '[m["id"] for m in d["messages"]]')" '["other/zz-17"]'
roger archive --issue i -q
is "and in the archive" "$(roger show zz-1 --json | json '[m["id"] for m in d["messages"]]')" '["other/zz-17"]'
exits 66 "no other piece is" roger show zz-2
done_testing
