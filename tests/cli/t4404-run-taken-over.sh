#!/bin/sh
# roger run that is killed: its program goes on, everybody sees from its
# processes how things are, the sweep says so, and a restart takes over what
# there is.  However many try, one program is started for one run.
. "$(dirname "$0")/lib.sh"

roger init -q
runs=.roger/state/subagent-delivery-watchdog
status_of() { roger runs "$1" --json | json 'd["runs"][0]["status"]'; }
member() { json "d.get('$1')" <"$runs/$2.json"; }
child_of() { json 'd["processes"]["childPid"]' <"$runs/$1.json"; }
told() { roger list --to lead --jsonl | grep -c "\"run\":\"$1\""; }
gone() { while kill -0 "$1" 2>/dev/null; do sleep 0.02; done; }
# Start one and kill it; its program stays.
orphan() { # RUN OPTION... -- COMMAND...
	_run=$1
	shift
	"$ROGER" run --run "$_run" --as lead -q "$@" &
	_pid=$!
	until [ -s "up-$_run" ]; do sleep 0.02; done
	kill -9 $_pid
	wait $_pid 2>/dev/null
}
waiting='echo $$ >up-$ROGER_RUN_ID; until [ -e "end-$ROGER_RUN_ID" ]; do sleep 0.02; done'

# Nobody comes back.
orphan left -- sh -c "$waiting" 2>/dev/null
check "its program goes on" kill -0 "$(child_of left)"
is "the run is open" "$(status_of left)" active
exits 0 "a sweep" roger runs sweep --json
is "leaves it alone" "$(printf '%s' "$out" | json '[d["active"], d["recoveries"], d["changes"]]')" '[1, 0, []]'
touch end-left
gone "$(child_of left)"
is "once it has ended without a word, the run is blocked" "$(status_of left)" blocked
like "for all to see" "$(roger status)" "run left: lost; its program and the roger run that watched it are gone"
is "reading writes nothing" "$(member status left)" active
exits 0 "a sweep" roger runs sweep --json
is "writes it down" "$(printf '%s' "$out" | json '[[c["run"], c["before"], c["after"]] for c in d["changes"]]') $(member childExit left)" \
	'[["left", "active", "blocked"]] lost'
is "and has looked for a result" "$(member recoveryAttemptCount left)" 1
check "a result may still come" roger complete left --result late

# The sweep finds what the program sent.
orphan sent --child kid -- sh -c "$waiting"'; "$0" send -q --type result --metadata "{\"run\":\"sent\"}" lead "from the child"' "$ROGER" 2>/dev/null
touch end-sent
gone "$(child_of sent)"
roger runs sweep -q
is "a message that was sent is found" "$(status_of sent) $(member resultSource sent)" "done_but_not_forwarded history_fetch"

# A restart, while the program lives.
orphan back -- sh -c "$waiting" 2>/dev/null
"$ROGER" run --run back --as lead -- touch second >out.back 2>err.back &
pid=$!
until grep -q 'taken over' $runs/back.json; do sleep 0.02; done
is "a restart watches it" "$(member processes back | json 'd["runnerPid"]')" $pid
exits 77 "a second one is refused" roger run --run back --as lead -- touch second
like "by whom" "$err" "watched by process $pid"
"$ROGER" complete back --result 'from the child' -q
touch end-back
wait $pid
is "until its end, which is a good one" $? 0
is "it does not start another" "$(ls second 2>/dev/null)" ""
is "the result is known" "$(status_of back)" done_but_not_forwarded
is "by its own receipt" "$(member resultSource back)" completion_event
like "and that nobody saw how it ended" "$(cat err.back)" "run back: lost"

# With nothing to show for it.
orphan mute -- sh -c "$waiting" 2>/dev/null
"$ROGER" run --run mute --as lead -q -- true &
pid=$!
until grep -q 'taken over' $runs/mute.json; do sleep 0.02; done
touch end-mute
wait $pid
is "without a result the exit status says so" "$? $(status_of mute)" "1 blocked"
is "and its owner is told" "$(told mute)" 1
notes=$(member notes mute)
exits 1 "a second call" roger run --run mute --as lead -q -- true
exits 1 "and again" roger run --run mute --as lead -q -- true
is "adds one note: that the child is gone, too" "$(($(member notes mute | grep -o taken | wc -l) - $(echo "$notes" | grep -o taken | wc -l))) $(member notes mute | grep -o 'child ended' | wc -l)" "1 1"

# Signals and a limit reach one that was taken over.
orphan stop -- sh -c "$waiting" 2>/dev/null
exits 1 "a limit, which counts from the dispatch" roger run --run stop --as lead --timeout 10ms -q
gone "$(child_of stop)"
result 0 "ends it"
orphan deaf -- sh -c '(trap "" TERM; exec sleep 22.375) & echo $$ >up-deaf; wait' 2>/dev/null
exits 1 "and, with its leader gone" roger run --run deaf --as lead --timeout 10ms --grace 10s -q
is "all of its group that does not listen" "$(count_running 'sleep 22[.]375')" 0

# A restart, when all is over.
orphan over -- sh -c "$waiting" 2>/dev/null
touch end-over
gone "$(child_of over)"
exits 1 "a restart settles it" roger run --run over --as lead -- touch second
like "and says what it knows" "$err" "its child is gone"
is "blocked" "$(status_of over)" blocked
is "told once" "$(told over)" 1
exits 1 "again" roger run --run over --as lead -- touch second
is "changes nothing" "$(told over)" 1
orphan file -- sh -c "$waiting; echo report >report.md" 2>/dev/null
touch end-file
gone "$(child_of file)"
exits 0 "its file is found" roger run --run file --as lead --result-file report.md -q
is "and is the result" "$(roger list --to lead --jsonl | grep '"run":"file"' | json '[d["type"], d["content"]]')" \
	'["result", "[lost]\nreport"]'
is "nothing was started" "$(ls second 2>/dev/null)" ""

# After a restart of the machine, and from another namespace.
orphan boot -- sh -c "$waiting" 2>/dev/null
sed -i 's/"bootId": "[^"]*"/"bootId": "00000000-0000-0000-0000-000000000000"/' $runs/boot.json
is "in another boot all are gone" "$(status_of boot)" blocked
touch end-boot
gone "$(child_of boot)"
orphan space -- sh -c "$waiting" 2>/dev/null
sed -i 's/"pidSpace": [0-9]*/"pidSpace": 1/' $runs/space.json
is "in another namespace nobody knows" "$(status_of space)" active
exits 77 "nor may anybody take over" roger run --run space --as lead
touch end-space
gone "$(child_of space)"
python3 - $runs/space.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["processes"].update(theirs=[1], childPid=1, childStart=1, runnerPid=99999999)
json.dump(d, open(sys.argv[1], "w"))
PY
check "members of others" roger complete space --result x -q
is "survive" "$(member processes space | json 'd["theirs"]')" '[1]'

# What a document calls a child may be anything.
python3 - $runs/space.json $runs/evil.json <<'PY'
import json, os, sys
os.umask(0o077)
d = json.load(open(sys.argv[1]))
start = open("/proc/1/stat").read().rpartition(")")[2].split()[19]
d.update(runId="evil", completionReceivedAt=None, resultSource=None, forwardedToMain=False)
d.pop("resultMessageId"), d.pop("childExit", None)
d["processes"].update(pidSpace=os.stat("/proc/self/ns/pid").st_ino, childPid=1, childStart=int(start))
json.dump(d, open(sys.argv[2], "w"))
ours = dict(d, runId="ours")
ours["processes"] = dict(d["processes"], childPid=os.getppid(),
                         childStart=int(open(f"/proc/{os.getppid()}/stat").read().rpartition(")")[2].split()[19]))
json.dump(ours, open(sys.argv[2].replace("evil", "ours"), "w"))
PY
exits 77 "not the first process" roger run --run evil --as lead --timeout 1ms
"$ROGER" run --run ours --as lead --timeout 1ms --grace 1ms -q 2>/dev/null &
pid=$!
until grep -q 'taken over' $runs/ours.json; do sleep 0.02; done
sleep 0.1
kill -9 $pid
result 0 "nor whoever asks is told to end"

# Many at once: one starts, and one takes over.
for i in 1 2 3 4 5 6 7 8; do
	"$ROGER" run --run race --as lead -q -- sh -c 'echo started >>starts; sleep 0.3' 2>/dev/null
	echo $? >>exits
done &
for i in 1 2 3 4 5 6 7 8; do
	"$ROGER" run --run race --as lead -q -- sh -c 'echo started >>starts; sleep 0.3' 2>/dev/null &
done
wait
is "one of many starts a program" "$(wc -l <starts | tr -d ' ')" 1
orphan heir -- sh -c "$waiting" 2>/dev/null
rm -f exits
for i in 1 2 3 4 5 6; do
	("$ROGER" run --run heir --as lead -q 2>/dev/null; echo $? >>exits) &
done
until [ "$(cat exits 2>/dev/null | wc -l)" = 5 ]; do sleep 0.02; done
is "one of many takes over" "$(sort -u exits)" 77
touch end-heir
wait
is "and settles it" "$(tail -n 1 exits) $(told heir)" "1 1"

# Heartbeats.
echo 'watchdog: {heartbeat: 50ms}' >.roger/config.yaml
"$ROGER" run --run beats --as lead --within 100ms -q -- sh -c "$waiting" &
pid=$!
until [ -s up-beats ]; do sleep 0.02; done
before=$(member heartbeatAt beats)
until [ "$(member heartbeatAt beats)" != "$before" ]; do sleep 0.02; done
check "it is seen to be watched over" test "$(member heartbeatAt beats)" \> "$before"
until [ "$(member status beats)" = suspect_delivery_failure ]; do sleep 0.02; done
result 0 "and its status is written down as time goes by"
touch end-beats
wait $pid
is "a late end is a completion" "$(status_of beats)" done_but_not_forwarded
rm .roger/config.yaml
exits 0 "everything holds" roger doctor
done_testing
