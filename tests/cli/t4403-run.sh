#!/bin/sh
# roger run: a program as a run.  Its receipt comes first, its streams, signals
# and exit status are its own, its end is the evidence, its owner is told in
# every case, and its result counts as forwarded once that was read.
. "$(dirname "$0")/lib.sh"

roger init -q
runs=.roger/state/subagent-delivery-watchdog
status_of() { roger runs "$1" --json | json 'd["runs"][0]["status"]'; }
member() { json "d.get('$1')" <"$runs/$2.json"; }
told() { # RUN: type and text of what its owner was told
	roger list --to lead --jsonl | python3 -c '
import json, re, sys
for line in sys.stdin:
    m = json.loads(line)
    if (m["metadata"] or {}).get("run") == sys.argv[1]:
        print(m["type"] + ": " + re.sub(" It ran [0-9][^:]*: ", " It ran TIME: ", m["content"]))' "$1"
}

# One that goes well.
printf 'one\000two\377\n\nthree' >bytes
exits 0 "a program" roger run --run good --as lead --child kid --issue app --within 5m -- cat bytes
check "prints what it prints" cmp .out bytes
like "what we say goes to standard error" "$err" "^roger: run good: exit 0; reported to lead in msg-"
is "its run is done" "$(status_of good)" done_but_not_forwarded
is "by its completion" "$(member resultSource good)" completion_event
is "with its exit status" "$(member childExit good)" 0
is "its owner was told, by the child" \
	"$(roger inbox --as lead --json | json '[[m["from"], m["type"], m["issue"], m["metadata"], m["content"]] for m in d["messages"]]')" \
	"$(printf '[["kid", "result", "app", {"run": "good"}, "one\\ufffdtwo\\ufffd\\n\\nthree"]]')"
id=$(member resultMessageId good)
roger claim --as lead -q && check "the owner acknowledges" roger ack "$id" --as lead
is "and the run is completed, whoever asks" "$(status_of good)" completed
is "for status" "$(roger status --json | json '[c for c in d["concerns"] if c["subject"] == "good"]')" '[]'
is "for report" "$(roger report --json | json 'd["completed"]')" 1
is "and once somebody writes it down" "$(roger runs sweep --json | json 'd["forwarded"]')" 1
is "with the message as evidence" "$(member forwardEvidence good)" "$id"
is "two entries tell of it" \
	"$(roger log --task app --json | json '[[a["outcome"]["status"], a["action"]["details"].get("exit")] for a in d["activities"] if a["action"]["details"]["verb"] == "run"]')" \
	'[["IN_PROGRESS", null], ["SUCCESS", 0]]'
like "and the timeline of its issue" "$(roger timeline app)" "roger run SUCCESS: exit 0"

# What it gets.
exits 0 "its environment" env ROGER_ISSUE=env-issue "$ROGER" run --run env --as lead --child kid -q -- \
	sh -c 'echo $ROGER_AGENT $ROGER_ISSUE $ROGER_RUN_ID $ROGER_WORKSPACE'
is "says who it is" "$out" "kid env-issue env $here"
exits 0 "by default" roger run --run env2 --as lead -q -- sh -c 'echo $ROGER_AGENT; umask; ls -l /proc/$$/fd | grep -c [.]roger/ || :'
is "it is its run, makes files as we would, and inherits nothing of ours" "$out" "env2
0022
0"
is "its input is ours" "$(echo words | roger run --as lead -q -- cat)" words
exits 0 "and so is standard error" roger run --as lead -q -- sh -c 'echo to stderr >&2'
is "untouched" "$err" "to stderr"
exits 0 "what is ignored stays so" sh -c 'trap "" HUP; exec "$0" run --as lead -q -- sh -c "kill -HUP \$\$; echo alive"' "$ROGER"
is "as under nohup" "$out" alive

# Nobody is made to say what it did not: without a child its result is from "run", whichever run it is.
sent_by() { roger list --from "$1" --json | json '[[m["to"], m["content"]] for m in d["messages"] if m["to"] != "lead"]'; }
exits 0 "for somebody else" roger run --run alone --as lead --forward-to chief -q -- sh -c 'echo "as $ROGER_AGENT"'
is "the result is from a run, whose program has a name of its own" "$(sent_by run)" '[["chief", "as alone"]]'
exits 1 "by its own" roger run --run alone-2 --as chief -q -- sh -c 'exit 1'
roger dispatch alone-3 --as chief -q && roger complete alone-3 --result words -q
is "and so is what complete sends" "$(sent_by run)" '[["chief", "as alone"], ["chief", "words"]]'
is "its end is from roger" "$(sent_by roger | sed 's/It ran.*"/It ran TIME"/')" '[["chief", "Run alone-2 ended without a result: exit 1. It ran TIME"]]'
exits 0 "one that is called as its owner" roger run --run chief --as chief -q -- echo words
roger dispatch keyed --child 'session 12' --as chief -q && roger complete keyed --result words -q
roger dispatch self --child chief --as chief -q && roger complete self --result words -q
is "or has no name" "$(roger list --from run --to chief --json | json 'len(d["messages"])')" 5
is "its owner said nothing, and used no number" "$(sent_by chief)" '[]'
exits 0 "an owner called run" roger run --run other --as run -q -- echo words
is "has it from roger" "$(roger list --from roger --to run --json | json '[m["content"] for m in d["messages"]]')" '["words"]'
is "runs make no agents" "$(roger agents --json | json '[a["name"] for a in d["agents"] if a["name"].startswith("alone")]')" '[]'
roger receive --as chief -q
roger receive --as run -q

# Every end: exit status, status of the run, what its owner is told.
ends() { # RUN EXIT STATUS TOLD COMMAND...
	_run=$1 _exit=$2 _wanted=$3 _told=$4
	shift 4
	exits "$_exit" "$_run: its own exit status" roger run --run "$_run" --as lead --timeout 10s -q -- "$@"
	is "$_run: $_wanted" "$(status_of "$_run")" "$_wanted"
	is "$_run: its owner is told" "$(told "$_run")" "$_told"
}
done=done_but_not_forwarded
ends e0-words 0 $done "result: it is done" echo it is done
ends e0-silent 0 $done "result: Run e0-silent is done and printed nothing: exit 0." true
ends e0-zeros 0 $done "result: Run e0-zeros is done and printed nothing to read: exit 0." head -c 70000 /dev/zero
ends e1-words 1 $done "result: [exit 1]
half of it" sh -c 'echo half of it; exit 1'
ends e1-silent 1 blocked "context: Run e1-silent ended without a result: exit 1. It ran TIME: sh -c 'echo why >&2; exit 1'
Its last words on standard error:
why" sh -c 'echo why >&2; exit 1'
ends e2 2 blocked "context: Run e2 ended without a result: exit 2. It ran TIME: sh -c 'exit 2'" sh -c 'exit 2'
ends signal 143 blocked "context: Run signal ended without a result: signal 15. It ran TIME: sh -c 'echo working; kill \$\$'
Its last words:
working" sh -c 'echo working; kill $$'
ends absent 127 blocked "context: Run absent ended without a result: not found. It ran TIME: ./no-such-program" ./no-such-program
touch plain
ends plain 126 blocked "context: Run plain ended without a result: cannot be run. It ran TIME: ./plain" ./plain
is "and named in its document" "$(member childExit signal)" "signal 15"
is "a failure is noted as one" \
	"$(roger log --task e1-silent --json | json '[a["outcome"] for a in d["activities"]][-1]')" \
	'{"status": "FAILURE", "message": "exit 1"}'

# The last of much, and that it is not all.
exits 0 "many lines" roger run --run lines --as lead -q -- seq 1000001 1000100
is "all of them pass" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 100
is "twenty are told" "$(told lines | sed -n '1p;2p;$p')" "result: [exit 0; this is part of 800 bytes]
1000081
1000100"
roger run --run long --as lead -q -- sh -c 'head -c 100000 /dev/zero | tr "\0" x' >/dev/null
is "and so many characters" "$(told long | tail -n 1 | tr -d '\n' | wc -c | tr -d ' ')" 4000
is "nothing of them stays but that" "$(grep -rlE 'x{4001}|1000005' .roger | tr '\n' ' ')" ""

# A file, a message.
exits 0 "a file" roger run --run file --as lead --result-file out.md -q -- sh -c 'echo log; echo report >out.md'
is "what it prints still passes" "$out" log
is "the file is the result" "$(told file)" "result: report"
exits 0 "one that was there before" roger run --run stale --as lead --result-file out.md -- true
like "is none of its doing" "$err" "older than the run"
is "so there is no result" "$(status_of stale)" blocked
is "although it ended well" "$(member childExit stale)" failed
exits 0 "no file" roger run --run none --as lead --result-file none.md -q -- echo words
is "is no result, either" "$(status_of none) $(told none)" \
	"blocked context: Run none ended without a result: exit 0. It ran TIME: echo words
Its last words:
words"
ln -s out.md link
mkfifo fifo
mkdir folder
for file in link fifo folder; do
	exits 0 "a $file" timeout 10 "$ROGER" run --run "file-$file" --as lead --result-file $file -- touch out.md
	like "is told" "$err" "no result file: .*(symbolic link|regular file|folder)"
	is "and no result" "$(status_of file-$file)" blocked
done
roger run --run huge --as lead --result-file huge.md -q -- sh -c 'head -c 3000000 /dev/zero | tr "\0" y >huge.md'
like "of a huge one" "$(told huge | sed -n 1p)" "this is part of 3000000 bytes"
is "the start is told" "$(told huge | tail -n 1 | tr -d '\n' | wc -c | tr -d ' ')" 9700
exits 0 "a message of its own" roger run --run msg --as lead --child kid -q -- sh -c \
	'"$0" send --type result --metadata "{\"run\":\"$ROGER_RUN_ID\"}" lead "my own words" -q; echo chatter' "$ROGER"
is "is the result" "$(told msg)" "result: my own words"
is "and no other" "$(roger runs msg --json | json 'd["runs"][0]["result_message"]')" \
	"$(roger list --to lead --jsonl | grep 'my own words' | json 'd["id"]')"
exits 3 "its own receipt" roger run --run own --as lead --result message -q -- \
	sh -c '"$0" complete "$ROGER_RUN_ID" --result "from within" -q; exit 3' "$ROGER"
is "is the completion" "$(told own) $(member childExit own)" "result: from within 3"
exits 0 "one that says that it failed" roger run --run said --as lead -q -- \
	sh -c '"$0" complete "$ROGER_RUN_ID" --failed -q; echo words' "$ROGER"
is "has failed" "$(status_of said) $(member childExit said)" "blocked failed"
exits 0 "none where one was promised" roger run --run mute --as lead --result message -q -- echo words
is "is no result" "$(status_of mute)" blocked
exits 64 "two sources" roger run --as lead --result message --result-file x -- true

# Its owner cannot be told: that is noted, and the end still stands.
echo 'size_limits: {max_messages_per_issue_phase: 1}' >.roger/config.yaml
roger send --as x boss --issue full hello -q 2>/dev/null
exits 77 "a full mailbox: not all is well" roger run --run full --as lead --forward-to boss --issue full -- echo words
like "is told" "$err" "could not be reported to its owner"
is "and noted" "$(status_of full) $(json '"could not be reported" in d["notes"][0]' <$runs/full.json)" "$done true"
like "and kept for a person, with what to do" "$err" "kept for 'human' in message msg-[^;]*; later: .roger complete full\`"
like "who was told by that" "$err" "reported to human in"
exits 3 "a status of its own goes first" roger run --run full-3 --as lead --forward-to boss --issue full -q -- \
	sh -c 'echo words; exit 3'
roger dispatch given --as boss --issue full -q
exits 0 "a result that is given by hand is on record" roger complete given --result "by hand"
exits 0 "and once, also when it is tried again" roger complete given --result "by hand"
like "which is why it is kept" "$err" "is full .limit 1,.*kept for 'human'"
is "once" "$(roger list --to human --issue given --jsonl | json 'd["content"]')" "by hand"
rm .roger/config.yaml
check "until there is room" roger complete given --result "by hand"
check "the result may be given later, or taken from the person" roger complete full
is "and is delivered" "$(roger list --to boss --type result --newest --limit 1 --jsonl | json 'd["content"]') $(member resultMessageId full)" \
	"words $(roger list --to boss --type result --newest --limit 1 --jsonl | json 'd["id"]')"
roger complete full --result words >again
like "once" "$(cat again)" "said so already"
exits 77 "another one is refused" roger complete full --result 'other words'
like "and named" "$err" "result: message 'msg-.*' delivered another one already"
is "and not sent" "$(roger list --count --to boss --type result)" 2

# Signals.
passes() { # SIGNAL
	"$ROGER" run --run "on-$1" --as lead -q -- \
		python3 -c '
import os, signal, sys, time
signal.signal(signal.SIG'"$1"', lambda *_: (os.write(1, b"got it\n"), os._exit(7)))
os.write(1, b"ready\n")
time.sleep(20)' >"on-$1" &
	_pid=$!
	until grep -qs ready "on-$1"; do sleep 0.02; done
	kill "-$1" $_pid
	wait $_pid
	is "$1 is passed on" "$? $(tail -n 1 "on-$1")" "7 got it"
}
for signal in TERM HUP USR1 USR2 WINCH URG; do passes $signal; done
check "and all that would end us, INT and QUIT, too" python3 - "$ROGER" <<'PY'
import resource, signal, subprocess, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF,
               signal.SIGXCPU, signal.SIGXFSZ, signal.SIGPIPE, signal.SIGPOLL, signal.SIGPWR,
               signal.SIGRTMIN + 2, signal.SIGRTMAX):
    run = subprocess.Popen([sys.argv[1], "run", "--as", "lead", "-q", "--", "sh", "-c", "echo ready; exec sleep 20"],
                           stdout=subprocess.PIPE, start_new_session=True,
                           preexec_fn=lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGQUIT)])
    run.stdout.readline()
    run.send_signal(number)
    if number == signal.SIGTSTP:  # we stop with it, and both go on
        import os
        _, status = os.waitpid(run.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status), status
        run.send_signal(signal.SIGCONT)
        run.send_signal(signal.SIGTERM)
        number = signal.SIGTERM
    assert run.wait(10) == 128 + number, (run.returncode, number)
PY
(
	ulimit -f 4000
	"$ROGER" run --run big --as lead -q -- sh -c 'head -c 5000000 /dev/zero; sleep 0.3; exit 5' >too-big 2>/dev/null
	echo $?
) >code
is "one of a write of ours is not" "$(cat code) $(member childExit big)" "5 5"

# A limit.
exits 65 "a limit of no time is none" roger run --run none --as lead --timeout 0 -q -- touch begun
like "is told" "$err" "timeout: expected a span of 1ms or more"
is "and nothing began" "$(ls begun 2>/dev/null)" ""
exits 143 "one that hangs is told to end" roger run --run hang --as lead --timeout 300ms -q -- sleep 20
like "and its owner why" "$(told hang)" "signal 15 after the limit of 300ms"
exits 137 "one that does not listen is killed" roger run --run deaf --as lead --timeout 300ms --grace 200ms -q -- \
	sh -c 'trap "" TERM; echo partial; sleep 21.375 & sleep 21.375; sleep 21.375'
like "with its last words" "$(told deaf)" "partial"
is "and all that it started" "$(count_running 'sleep 21[.]375')" 0
exits 0 "one that ends well when told" roger run --run heeds --as lead --timeout 300ms -q -- \
	sh -c 'trap "echo saved; exit 0" TERM; while :; do sleep 0.05; done'
# Whether a shell says that its sleep was terminated is a matter of time.
is "has given its result" "$(told heeds | head -n 2)" "result: [exit 0 after the limit of 300ms]
saved"
exits 64 "a grace without a limit" roger run --as lead --grace 1s -- true

# Its end cannot be written down.
roger init -q unwritten 2>/dev/null || (mkdir -p unwritten && cd unwritten && roger init -q)
(cd unwritten && "$ROGER" run --run lost --as lead -- sh -c 'seq 20000; rm -rf .roger/state; exit 3' 2>../lost.err
	echo $? >../lost.exit) | (sleep 0.5; cat >lost.out)
check "all of its output passes" sh -c 'seq 20000 | cmp - lost.out'
like "and its exit status is told" "$(cat lost.err)" "the end of run 'lost' .exit 3. is not written down: "
check "by one who failed" [ "$(cat lost.exit)" -ge 64 ]

# Names, owners.
exits 64 "nobody to get it" roger run -- true
like "says who is missing" "$err" "who gets the result"
exits 64 "nothing to run" roger run --as lead
exits 65 "a group" roger run --as lead --forward-to all -- true
exits 65 "a bad name" roger run --as lead --run 'a b' -- true
exits 77 "a name that was used" roger run --as lead --run good -- touch ran
exits 77 "also one that ended without a result" roger run --as lead --run e2 -- touch ran
roger dispatch elsewhere --as lead -q
exits 77 "or was given to somebody else" roger run --as lead --run elsewhere -- touch ran
check "starts nothing" test ! -e ran
exits 0 "a name of its own" roger run --as lead --json -- echo words
is "is told as JSON on standard error" "$(printf '%s' "$err" | json '[d["runs"][0]["run"][:4], d["exit"], d["ended"], d["adopted"]]')" \
	'["run-", 0, "exit 0", false]'
is "beside its output" "$out" words
echo 'activity: {own: false}' >.roger/config.yaml
before=$(wc -l <.roger/logs/activity.log.jsonl)
roger run --as lead -q -- true
is "nothing is noted where nothing is to be" "$(wc -l <.roger/logs/activity.log.jsonl)" "$before"
rm .roger/config.yaml
exits 0 "everything holds" roger doctor
done_testing
