#!/bin/sh
# Waking: the configured command of an agent runs when mail has waited without a
# look, one at a time, again until the mail is read, and ever later.  Each attempt
# is in the log, without content.  Commands that fail, hang, flood, fork or are
# not there lose nothing, and neither does losing every hint.
# runner: timeout 240
. "$(dirname "$0")/lib.sh"
# Commands are configured here as the tests go; t2004-trust says when they may run.
export ROGER_TRUST_COMMANDS=1

PATH=$(dirname "$ROGER"):$PATH # for commands that call roger
log=.roger/logs/activity.log.jsonl
configure() { # SETTINGS AGENT_LINE...
	{
		printf 'wake:\n'
		printf '%s' "$1" | tr ';' '\n' | sed 's/^ */  /'
		printf '\n  agents:\n'
		shift
		printf '    %s\n' "$@"
	} >.roger/config.yaml
}
wakes() { roger log --jsonl 2>/dev/null | grep -c '"verb":"wake"'; }
looks() { roger log --jsonl 2>/dev/null | grep '"verb":"inbox"' | grep -vc '"by":"person"'; }
last_wake() { grep '"verb":"wake"' $log | tail -n 1 | json "$1"; }
once() { roger wake --once --json 2>/dev/null | json "$1"; }
await() { # COMMAND...
	_tries=0
	until "$@" >/dev/null 2>&1 || [ $_tries = 500 ]; do
		_tries=$((_tries + 1))
		sleep 0.01
	done
	"$@" >/dev/null 2>&1
}

roger init -q
exits 1 "nobody is configured" roger wake --once
like "says so" "$err" "nobody is configured to be woken; see wake.agents"
exits 78 "waiting for nobody is no use" timeout 10 "$ROGER" wake
like "and says what is missing" "$err" "name agents and their commands as wake.agents"
exits 78 "not for a while, either" timeout 10 "$ROGER" wake --timeout 5s
configure 'after: 1h' 'bob: [touch, woken]'
exits 1 "no mail" roger wake --once
like "an agent that nobody knows is told" "$err" "wake.agents.bob: nobody of that name"
exits 64 "once and for some time" roger wake --once --timeout 1s
like "names the options as they are now" "$err" "expected one of --once, --timeout and --test"
exits 64 "a name without test" roger wake bob
like "says with what it goes" "$err" "agent: only with --test"
exits 64 "a time to look within, without test" timeout 10 "$ROGER" wake --within 3s
like "says so, and what else may be meant" "$err" "within: only with --test; .*--timeout"
exits 64 "with once, too" roger wake --once --within 3s
like "in the same words" "$err" "within: only with --test"
exits 64 "a test for some time" roger wake --test bob --timeout 3s
like "says what there is for that" "$err" "timeout: expected without --test; .*--within"
exits 64 "a test of nobody" roger wake --test
exits 66 "a test of one who is not configured" roger wake --test carol
like "help begins with examples" "$(roger wake --help | head -n 3)" "roger wake"

# ---------------------------------------------------------------- when
roger send --as ann bob 'PLANTED one' --issue app -q 2>/dev/null
exits 1 "mail that came just now" roger wake --once
is "waits" "$(once 'd["waiting"], d["next_ms"] > 3500000')" "[1, true]"
check "and nothing ran" [ ! -e .roger/woken ]
configure 'after: 0s; backoff: 1h; backoff_most: 1h' \
	'bob: [sh, -c, "echo {agent} {count} {issue} {id} $ROGER_AGENT $ROGER_WAKE_COUNT $ROGER_WAKE_ISSUE $ROGER_WAKE_ID $ROGER_WORKSPACE >>../woken; pwd >>../where"]'
id=$(roger list --to bob --jsonl | json 'd["id"]')
exits 0 "is due" roger wake --once
like "says how it went" "$out" "bob  exit 0 after [0-9]+ ms  1 unread, attempt 1"
is "the words and the environment" "$(cat woken)" "bob 1 app $id bob 1 app $id $here"
is "the folder, where no program finds files that a pull brings" "$(cat where)" "$here/.roger"
is "the log knows" "$(last_wake '[d["task_id"], d["outcome"], sorted(d["action"]["details"])]')" \
	'["app", {"status": "SUCCESS", "message": "exit 0"}, ["agent", "attempt", "count", "ids", "position", "program", "took_ms", "tool", "verb"]]'
is "whom and what of" "$(last_wake '[d["action"]["details"][k] for k in ("agent", "ids", "count", "position", "attempt", "program")]')" \
	"[\"bob\", [\"$id\"], 1, 1, 1, \"sh\"]"
exits 1 "the next is backed off" roger wake --once
configure 'after: 0s; backoff: 1s; backoff_most: 2s' 'bob: [touch, woken]'
until [ -n "$(once '[a["attempt"] for a in d["attempts"]]' | tee again | tr -d '[]')" ]; do sleep 0.05; done
is "then it comes again" "$(cat again)" "[2]"
configure 'after: 0s; backoff: 10m; backoff_most: 1h' 'bob: [touch, woken]'
is "and is backed off longer" "$(once 'd["attempts"], 1000000 < d["next_ms"] <= 1200000')" "[[], true]"
configure 'after: 0s; backoff: 10m; backoff_most: 15m' 'bob: [touch, woken]'
is "but no longer than the most" "$(once 'd["attempts"], 700000 < d["next_ms"] <= 900000')" "[[], true]"
roger inbox --as bob -q
is "a look of somebody else is not the agent's answer" "$(once 'd["attempts"]')" "[]"
env ROGER_AGENT=bob "$ROGER" inbox -q
is "a look is a step of its own" "$(looks)" 1
is "and counts as the agent's answer" "$(once 'd["attempts"][0]["attempt"]')" 1
env ROGER_AGENT=bob "$ROGER" inbox -q
env ROGER_AGENT=bob "$ROGER" inbox --issue app -q
is "looking again at the same is no news" "$(looks)" 1
roger receive --as bob -q
sleep 1.1
is "what is read wakes nobody" "$(once '[d["attempts"], d["waiting"], d["busy"]]')" "[[], 0, 0]"
roger send --as ann bob 'PLANTED two' --issue app -q
roger claim --as bob --lease 1h -q
is "nor what somebody works on" "$(once 'd["attempts"]')" "[]"
roger receive --as bob -q
id=$(roger list --to bob --newest --limit 1 --jsonl | json 'd["id"]')
roger ack --as bob "$id" -q
env ROGER_AGENT=bob "$ROGER" inbox -q
is "an inbox without mail tells nothing" "$(looks)" 1

# Two issues are two entries, and what was shown under one filter is news under none.
roger send --as ann bob 'PLANTED a' --issue ia -q
roger send --as ann bob 'PLANTED b' --issue ib -q
env ROGER_AGENT=bob "$ROGER" inbox --issue ib -q
env ROGER_AGENT=bob "$ROGER" inbox -q
is "each issue has its own" "$(grep '"verb":"inbox"' $log | tail -n 2 | sed 's/.*"task_id":"\([^"]*\)".*"count":\([0-9]*\).*/\1 \2/' | tr '\n' ' ')" "ib 1 ia 1 "
is "a limit shows the first only" "$(roger send --as ann bob,c d --issue ic -q 2>/dev/null; env ROGER_AGENT=bob "$ROGER" inbox --limit 2 -q; looks)" 3
roger receive --as bob -q

# ---------------------------------------------------------------- one at a time
configure 'after: 0s; backoff: 1s; timeout: 20s' \
	'bob: [sh, -c, "echo $$ >../running; echo run >>../runs; sleep 30"]'
roger send --as ann bob 'PLANTED three' -q
"$ROGER" wake --once >/dev/null &
first=$!
check "one is under way" await test -s running
is "another process leaves it alone" "$(once '[d["attempts"], d["busy"]]')" "[[], 1]"
exits 75 "even for a test" roger wake --test bob --within 1s
kill -9 $first
wait $first 2>/dev/null
child=$(cat running)
check "killed, it takes the command with it" await sh -c "! kill -0 $child"
is "nothing of it is in the log" "$(last_wake 'd["action"]["details"]["count"]')" 1
configure 'after: 0s' 'bob: [touch, again]'
is "and the next one has its turn" "$(once '[a["ok"] for a in d["attempts"]]')" "[true]"
roger receive --as bob -q

# ---------------------------------------------------------------- a test
configure 'after: 1h' 'bob: ["true"]'
exits 0 "a test without mail" roger wake --test bob
like "says what is missing" "$err" "no unread mail: send it some"
configure 'after: 1h' 'bob: [roger, inbox]'
roger send --as ann bob 'PLANTED four' -q
exits 0 "a test with mail, whose agent looks" roger wake --test bob
like "tells how long that took" "$out" "it looked at its mail after [0-9]+ ms"
is "as JSON" "$(roger wake --test bob --json | json '[(a["ok"], a["looked"], 0 <= a["looked_ms"] < 5000, a["took_ms"] >= 0) for a in d["attempts"]]')" \
	"[[true, true, true, true]]"
is "the log says that it was one" "$(last_wake 'd["action"]["details"]["test"]')" true
configure 'after: 1h' 'bob: [true]'
exits 75 "an agent that does not look" roger wake --test bob --within 50ms
like "is told" "$out" "did not look at its mail in time"
configure 'after: 1h' 'bob: [roger, receive]'
exits 0 "one that takes it looks" roger wake --test bob
configure 'after: 1h' 'bob: [false]'
exits 75 "a command that fails" roger wake --test bob

# ---------------------------------------------------------------- until stopped
configure 'after: 0s; backoff: 1s' 'bob: [roger, receive, -q]'
"$ROGER" wake --jsonl >live 2>/dev/null &
loop=$!
roger send --as ann bob 'PLANTED five' -q
check "mail is told of while it runs" await grep -q '"agent":"bob"' live
check "and was taken" await sh -c "'$ROGER' list --count --unread --to bob | grep -qx 0"
roger send --as ann bob 'PLANTED six' -q
check "again and again" await sh -c "'$ROGER' list --count --unread --to bob | grep -qx 0"
kill -TERM $loop
wait $loop
is "it ends when told to" "$?" 0
exits 0 "for a while, and no longer" timeout 60 "$ROGER" wake --timeout 300ms

# ---------------------------------------------------------------- hostile
mkdir folder
configure 'after: 0s; backoff: 1s; timeout: 300ms' \
	'gone: [/no/such/program]' 'fails: ["false"]' 'hangs: [sleep, 100]' 'folder: [./folder]' \
	'floods: [sh, -c, "yes | head -c 100000000"]' 'forks: [sh, -c, "for i in 1 2 3 4 5 6 7 8; do sleep 100 & done; sleep 100"]' \
	'deaf: [sh, -c, "trap : TERM INT HUP; while :; do :; done"]' 'a/b:c@d_e.f-g: [sh, -c, "echo {agent} >../odd"]' \
	'killer: [sh, -c, "kill -9 $$"]'
agents='gone fails hangs folder floods forks deaf a/b:c@d_e.f-g killer'
for agent in $agents; do
	roger send --as ann "$agent" "PLANTED for $agent" -q 2>/dev/null
done
exits 0 "every kind of broken command" roger wake --once
is "each was tried" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 9
for line in 'gone  exit 127, not found' 'fails  exit 1' 'hangs  killed after 300 ms  1 unread, attempt 1' 'folder  exit 126, cannot be run' \
	'forks  killed after 300 ms' 'deaf  killed after 300 ms' 'killer  signal 9' 'a/b:c@d_e.f-g  exit 0'; do
	like "$line" "$out" "$line"
done
is "an odd name is an argument" "$(cat odd)" 'a/b:c@d_e.f-g'
for agent in $agents; do
	roger receive --as "$agent" --json | json 'len(d["messages"])' >>got
done
is "and every message is received" "$(sort got | uniq -c | tr -s ' ')" " 9 1"
is "nothing runs on" "$(count_running 'sleep 100')" 0

# A clock that was set back: what is from the future delays nothing.
roger receive --as bob -q
configure 'after: 1h; backoff: 1h; backoff_most: 1h' 'bob: [touch, future]'
printf '%s\n' '{"id":"foreign 1","issue_id":"app","from_phase":"ann","to_phase":"bob","run_counter":1,"message_type":"data","content":"PLANTED","metadata":null,"read":false,"created_at":4102444800000,"read_at":null}' >>.roger/messages.jsonl
is "mail from the future" "$(once '[(a["agent"], a["ids"], a["count"]) for a in d["attempts"]]')" '[["bob", [], 1]]'
printf '%s\n' '{"timestamp":"2100-01-01T00:00:00Z","task_id":"app","action":{"type":"TOOL_EXEC","details":{"tool":"roger","verb":"wake","agent":"bob","position":1000000}},"outcome":{"status":"SUCCESS"}}' >>$log
is "an attempt in the future" "$(once '[a["attempt"] for a in d["attempts"]]')" "[3]"
is "counts once" "$(once 'd["attempts"]')" "[]"
printf '%s\n' '{"timestamp":"2026-01-01T00:00:00Z","task_id":"app","action":{"type":"TOOL_EXEC","details":{"tool":"roger","verb":"inbox","agent":"bob","position":"x","ids":[7,{}]}},"outcome":{"status":"SUCCESS"}}' 'no json' >>$log
is "notes that are none disturb nobody" "$(once '[a["attempt"] for a in d["attempts"]]')" "[1]"
roger receive --as bob -q

# Many agents.
{
	printf 'wake:\n  after: 0s\n  agents:\n'
	i=0
	while [ $i -lt 1000 ]; do
		printf '    agent-%d: [touch, x]\n' $i
		i=$((i + 1))
	done
} >.roger/config.yaml
exits 1 "a thousand agents without mail" roger wake --once
is "are told of in short" "$(printf "%s\n" "$err" | wc -l | tr -d " ")" 11
seq 0 39 | sed 's/.*/{"to":"agent-&","content":"PLANTED many"}/' | roger send --as ann --batch -q 2>/dev/null
is "some with mail" "$(once 'len(d["attempts"])')" 40
is "who did it has ended" "$(roger status --json | json '[[c["verb"], c["by"], c["pid"]] for c in d["chores"] if c["verb"] == "wake"]')" '[["wake", "roger", 0]]'
like "and has no number" "$(roger status)" "chores: .*wake by roger [^(]*$"

# Attempts are evidence, whatever verbs note of themselves.
printf 'activity:\n  own: false\nwake:\n  after: 0s\n  agents:\n    bob: ["true"]\n' >.roger/config.yaml
before=$(wakes)
shown=$(looks)
roger send --as ann bob 'PLANTED seven' -q
env ROGER_AGENT=bob "$ROGER" inbox -q
roger wake --once -q
is "an attempt is logged" "$(wakes)" $((before + 1))
is "a look is not" "$(looks)" "$shown"

# A log that cannot be read or written: nothing runs, and mail goes on.
configure 'after: 0s; backoff: 1s' 'bob: [touch, blind]'
mv .roger/logs .roger/logs-away && mkdir -p $log
run roger wake --once
check "without a log nobody is woken" [ "$status" -ge 65 ]
check "really" [ ! -e blind ]
like "says why" "$err" "activity.log.jsonl"
exits 0 "an inbox is shown all the same" env ROGER_AGENT=bob "$ROGER" inbox
like "with a note" "$err" "not noted in the activity log"
rm -rf .roger/logs && mv .roger/logs-away .roger/logs

is "the marker is where messages are" "$(grep -lr PLANTED .roger | grep -c -E '^\.roger/messages(\.jsonl|\.db|_archive/.*)$')" \
	"$(grep -lr PLANTED .roger | wc -l | tr -d ' ')"
check "everything holds" roger doctor -q
done_testing
