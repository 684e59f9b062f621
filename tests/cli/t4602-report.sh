#!/bin/sh
# report and status: figures that can be counted by hand, over a time and over
# cycles; what needs attention, the most urgent first, and what to type next.
. "$(dirname "$0")/lib.sh"

roger init -q
cat >>.roger/config.yaml <<'END'
retries:
  max_attempts: 2
  after: 0
  confirm_within: 30ms
breaker:
  failures: 3
  open_for: 1h
dead_letters:
  alarm: 1
END
say() { roger send "$@" >/dev/null 2>&1; }
figure() { roger report --json | json "d['$1']"; }
concerns() { roger status --json | json '" ".join(c["kind"] for c in d["concerns"])'; }

exits 0 "nothing to worry about" roger status
like "says so" "$out" "^all quiet$"
like "and how it is" "$out" "0 agents, 0 unread, 0 active runs, session 1, cycle 1"
is "as JSON" "$(roger status --json | json 'd["quiet"], d["concerns"]')" '[true, []]'
exits 0 "an empty report" roger report
is "says no rate and no time of nothing" "$(roger report --json | json '[k for k in d if "permille" in k or k.endswith("_ms")]')" "[]"
like "and shows that" "$(roger report)" "^delivered, of attempts +-$"

# ------------------------------------------------------------ cycle 1
say --as alice bob 'PLANTED 1'
say --as alice bob 'PLANTED 2' --key t:status-update:1
say --as alice bob 'PLANTED 2' --key t:status-update:1
say --as alice bob 'PLANTED 2' --key t:status-update:1
say --as alice bob 'PLANTED other' --key t:status-update:1
is "unread mail" "$(roger status --json | json '[[c["kind"], c["subject"], c["count"], c["next"]] for c in d["concerns"]]')" \
	'[["keys", "alice", 1, "roger log sends --from alice --newest"], ["mail", "bob", 2, "roger list --unread --to bob"]]'
roger receive --as bob -q
is "is no concern once it is read; the key is, until its sender goes on" "$(concerns)" "keys"
for who in carol dave; do
	say --as alice $who 'PLANTED 3' --key $who:escalation:1 --confirm read --within 30ms
	say --as alice $who 'PLANTED 3' --key $who:escalation:1 --confirm read --within 30ms
done
roger receive --as dave -q
is "messages" "$(roger report --json | json 'd["messages"], d["read"], d["unread"]')" "[4, 3, 1]"
is "attempts" "$(roger report --json | json '[d[k] for k in ("attempts", "delivered", "timeouts", "errors", "retries", "late", "delivery_permille")]')" \
	"[6, 3, 3, 0, 2, 1, 500]"
is "duplicates prevented" "$(figure duplicates)" 2
is "conflicts" "$(figure conflicts)" 1
is "dead letters, of which one was read after all" "$(roger report --json | json '[d[k] for k in ("dead_letters", "undelivered", "dead_read", "alarm")]')" "[2, 1, 1, true]"
is "messages are counted beside attempts" "$(roger report --json | json '[d[k] for k in ("attempted", "attempted_delivered", "message_permille")]')" "[4, 3, 750]"
is "by cause" "$(figure dead_by_cause)" '[{"name": "not read in time", "count": 2}]'
is "by target" "$(figure dead_by_recipient)" '[{"name": "carol", "count": 1}, {"name": "dave", "count": 1}]'
is "latencies go up" "$(roger report --json | json '0 <= d["latency_p50_ms"] <= d["latency_p95_ms"] <= d["latency_max_ms"]')" true
is "agents" "$(figure agents | json '[[a["name"], a["sent"], a["received"], a["read"], a["timeouts"]] for a in d]')" \
	'[["alice", 4, 0, 0, 3], ["bob", 0, 2, 2, 0], ["carol", 0, 1, 0, 0], ["dave", 0, 1, 1, 0]]'
like "for people" "$(roger report)" "^delivered, of attempts +50\.0%$"
like "of both" "$(roger report)" "^  of messages +75\.0%$"

is "the most urgent first" "$(concerns)" "alarm mail"
like "with what to type" "$(roger status)" "^!! carol never looked at its mail: 1 given up, 1 late, 1 unread$"
unlike "what was read after all is none" "$(roger status)" "dave"
check "each command works" sh -c '
	"$0" status --json | python3 -c "import json, sys
for c in json.load(sys.stdin)[\"concerns\"]: print(c[\"next\"])" | while read -r _ words; do
		# shellcheck disable=SC2086
		"$0" $words >/dev/null 2>&1
		case $? in 0 | 1 | 75) ;; *) exit 1 ;; esac
	done' "$ROGER"

# ------------------------------------------------------------ cycle 2
roger log cycle new two -q
is "the alarm is for one cycle" "$(concerns | grep -c alarm)" 0
say --as alice bob 'PLANTED 2' --key t:status-update:1
roger dispatch slow --as alice --within 1s -q
roger dispatch failed --as alice -q
roger complete failed --exit 3 -q
roger dispatch done --as alice --child bob -q
roger complete done --result 'PLANTED result' -q
is "a cycle" "$(roger report --cycle two --json | json 'd["cycles"], d["attempts"], d["messages"], d["dead_letters"], d["runs"]')" '[["two"], 3, 3, 0, 3]'
is "cycles" "$(roger report --cycle 1..two --json | json 'd["cycles"], d["attempts"], d["messages"], d["dead_letters"]')" '[["1", "two"], 9, 7, 2]'
exits 66 "no such cycle" roger report --cycle 9
exits 66 "nor the other way round" roger report --cycle two..1
exits 64 "a time or cycles" roger report --cycle 1 --since 1h
is "a time in which nothing was" "$(roger report --since 2090-01-01 --json | json 'd["messages"], d["attempts"], d["runs"]')" "[0, 0, 0]"
is "before all" "$(roger report --until 2020-01-01 --json | json 'd["messages"]')" 0

# The slow one is late by then.
tries=0
until roger status --json | grep -q suspect || [ $tries = 400 ]; do
	tries=$((tries + 1))
	sleep 0.02
done
is "runs" "$(roger report --json | json '[d[k] for k in ("runs", "suspect", "not_forwarded", "blocked", "lost_runs")]')" "[3, 1, 1, 1, 1]"
like "a run that is blocked" "$(roger status)" "^!! run failed: failed: exit 3"
like "one that is late" "$(roger status)" "^!  run slow: overdue by "
like "one that was not heard" "$(roger status)" "^!  alice has not looked yet: 1 result, "

# ------------------------------------------------------------ leases, waits, strays
say --as alice erin 'PLANTED lease'
roger claim --as erin --worker w9 --lease 1ms -q
like "a lease that ended" "$(roger status)" "^!  erin looked [^ ]+ ago: 1 lease expired, 1 unread"
roger receive --as erin -q
unlike "read by now" "$(roger status)" "erin"
echo 'no json' >>.roger/messages.jsonl
echo 'no json' >>.roger/logs/activity.log.jsonl
like "a line that is no message" "$(roger status)" "1 stray line in messages.jsonl +roger verify"
like "nor an entry" "$(roger status)" "1 stray line in logs/activity.log.jsonl, first line [0-9]+"
echo '{' >.roger/state/subagent-delivery-watchdog/bad.json
like "a run's document" "$(roger status)" "1 run document with errors"

# ------------------------------------------------------------ the breaker
say --as alice frank 'PLANTED 4' --key f:escalation:1 --confirm read --within 20ms
say --as alice frank 'PLANTED 4' --key f:escalation:1 --confirm read --within 20ms
say --as alice frank 'PLANTED 5' --key g:escalation:1 --confirm read --within 20ms
like "a breaker" "$(roger status)" "^!! frank never looked at its mail: .*1 sender pauses"
is "counts" "$(figure breakers)" 1

check "a screen" [ "$(roger status | wc -l)" -le 12 ]
{ roger status; roger status --json; roger report; roger report --json; } >all 2>&1
is "no content" "$(grep -c PLANTED all)" 0
is "status is 0 whatever it tells" "$(roger status >/dev/null; echo $?)" 0
done_testing
