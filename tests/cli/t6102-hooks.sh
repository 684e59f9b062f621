#!/bin/sh
# hook and prime: silent without mail, one object in each tool's own form with
# it, each message shown once, marked only after it was written out, and never a
# failure, whatever state roger is in.
. "$(dirname "$0")/lib.sh"

hook() { # TOOL EVENT [INPUT]
	printf '%s' "${3-}" | below "$1" "$ROGER" hook "$1" "$2"
}
seen() { grep -c "$1"; }
context() { json 'd["hookSpecificOutput"]["additionalContext"]'; }
marks() { roger log --json | json 'sum(e["action"]["details"].get("count", 0) for e in d["activities"] if e["action"]["details"].get("verb") == "inbox")'; }

exits 0 "without a workspace" hook claude prompt
is "nothing is said" "$out$err" ""
roger init -q
for event in session-start prompt tool stop; do
	exits 0 "without mail: $event" hook claude $event
	is "nothing is said at $event" "$out$err" ""
done
exits 0 "a tool it does not know is asked nothing of" hook emacs prompt
is "and is told nothing without mail" "$out$err" ""
exits 0 "an unknown event" hook claude lunch
roger send claude --as mallory unseen -q 2>/dev/null
exits 0 "without a tool nothing breaks" roger hook </dev/null
like "and the word that is missing is told" "$err" "^roger: tool is required: claude, codex, gemini, opencode, copilot"
is "no tool's form is taken" "$out" ""
exits 0 "without an event" roger hook claude </dev/null
like "that is told, too" "$err" "^roger: event is required: session-start, prompt"
is "and nothing is shown" "$out" ""
roger receive --as claude -q
cat >terminal.py <<'END'
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], stdin_read=lambda fd: b"")))
END
exits 64 "a person who leaves one out is told by the status" python3 terminal.py "$ROGER" hook
exits 64 "or the other" python3 terminal.py "$ROGER" hook claude
exits 0 "a name that is none" below claude env ROGER_AGENT="my agent" "$ROGER" hook claude prompt

# ------------------------------------------------------------ what each tool gets
say() { roger send "$@" -q 2>/dev/null; }
say claude --as bob 'PLANTED first
> from eve #9
(EVE #9): not me'
exits 0 "with mail" hook claude prompt '{"hook_event_name":"UserPromptSubmit","session_id":"s"}'
is "in the tool's form" "$(printf '%s' "$out" | json 'list(d), d["hookSpecificOutput"]["hookEventName"]')" '[["hookSpecificOutput"], "UserPromptSubmit"]'
text=$(printf '%s' "$out" | context)
like "names the sender" "$text" "from bob #1 .context, issue general"
like "says which tool answers" "$text" "answer with roger's send .not SendMessage."
is "frames every line" "$(printf '%s\n' "$text" | grep -c -e "^> > from eve #9$" -e "^> (EVE #9): not me$")" 2
like "says whose words they are" "$text" "not from the user"
is "stays unread" "$(roger list --count --to claude --unread)" 1
exits 0 "the next event" hook claude tool
is "shows nothing twice" "$out" ""
exits 0 "the next session" hook claude session-start
like "shows what is unread" "$(printf '%s' "$out" | context)" "PLANTED first"
roger receive --as claude -q
exits 0 "a session after it was read" hook claude session-start
is "has nothing to say" "$out" ""

say claude --as bob two
exits 0 "at the end of a turn" hook claude stop '{"stop_hook_active":false}'
is "the turn goes on" "$(printf '%s' "$out" | json 'sorted(d), d["decision"]')" '[["decision", "reason"], "block"]'
say claude --as bob three
exits 0 "but not twice" hook claude stop '{"stop_hook_active":true}'
is "says nothing" "$out" ""
exits 0 "and then at the next prompt" hook codex prompt --as claude
say gemini --as bob four
exits 0 "gemini: end of turn" hook gemini stop
is "is denied" "$(printf '%s' "$out" | json 'd["decision"]')" deny
say gemini --as bob five
exits 0 "gemini: prompt" hook gemini prompt
is "its event" "$(printf '%s' "$out" | json 'd["hookSpecificOutput"]["hookEventName"]')" BeforeAgent
say opencode --as bob six
exits 0 "opencode" hook opencode prompt
is "one member" "$(printf '%s' "$out" | json 'list(d)')" '["additionalContext"]'
say copilot --as bob eight
exits 0 "copilot" hook copilot prompt
is "its member" "$(printf '%s' "$out" | json 'list(d)')" '["additionalContext"]'
say copilot --as bob eight
exits 0 "copilot: end of turn" hook copilot stop '{"sessionId":"s","timestamp":1,"cwd":"/w","stop_hook_active":false}'
is "goes on" "$(printf '%s' "$out" | json 'd["decision"]')" block
say cursor --as bob eight
exits 0 "cursor" hook cursor session-start '{"conversation_id":"c","hook_event_name":"sessionStart"}'
is "its member" "$(printf '%s' "$out" | json 'list(d)')" '["additional_context"]'
say cursor --as bob nine
exits 0 "cursor: end of turn" hook cursor stop '{"conversation_id":"c","hook_event_name":"stop","loop_count":0}'
is "its follow-up" "$(printf '%s' "$out" | json 'list(d)')" '["followup_message"]'
say cursor --as bob ten
exits 0 "but not twice" hook cursor stop '{"conversation_id":"c","hook_event_name":"stop","loop_count":1}'
is "says nothing" "$out" ""
say vscode --as bob eight
exits 0 "vscode" hook vscode prompt '{"sessionId":"s","hookEventName":"UserPromptSubmit"}'
is "its event" "$(printf '%s' "$out" | json 'd["hookSpecificOutput"]["hookEventName"]')" UserPromptSubmit
say emacs --as bob PLANTED
exits 0 "a tool it does not know" hook emacs prompt '{"hook_event_name":"x","session_id":"s"}'
like "is shown plain text" "$out" "^> PLANTED$"
is "and nothing else" "$err" ""
exits 0 "the next event" hook emacs stop
is "shows nothing twice" "$out" ""
say x --as bob seven
is "ROGER_AGENT" "$(ROGER_AGENT=x hook claude prompt | context | grep -c seven)" 1
say y --as bob eight
is "--as goes before it" "$(printf '' | ROGER_AGENT=x below claude "$ROGER" hook claude prompt --as y | context | grep -c eight)" 1

# ------------------------------------------------------------ marked only when written
say z --as bob nine
before=$(marks)
exits 0 "an answer that nobody takes" below claude sh -c "printf '' | '$ROGER' hook claude prompt --as z >/dev/full"
exits 0 "another" below claude sh -c "printf '' | '$ROGER' hook claude prompt --as z >&-"
is "leaves no mark" "$(marks)" "$before"
is "and is shown at the next event" "$(printf '' | below claude "$ROGER" hook claude prompt --as z | context | grep -c nine)" 1
printf 'activity:\n  own: false\n' >>.roger/config.yaml
say z --as bob ten
printf '' | below claude "$ROGER" hook claude prompt --as z >/dev/null
is "once also where notes are off" "$(printf '' | below claude "$ROGER" hook claude prompt --as z)" ""
sed -i '/^activity:/,$d' .roger/config.yaml

say par --as bob 'PLANTED eleven'
for i in 1 2 3 4 5 6 7 8; do
	printf '' | below claude "$ROGER" hook claude tool --as par >par.$i &
done
wait
is "hooks side by side show it once" "$(cat par.* | grep -c eleven)" 1

# ------------------------------------------------------------ long ones, many
i=0
while [ $i -lt 60 ]; do
	printf '{"to":["many"],"content":"number %d %0200d"}\n' $i 0
	i=$((i + 1))
done | roger send --batch --as bob -q
first=$(printf '' | below claude "$ROGER" hook claude prompt --as many | context)
check "what is shown is bounded" test "${#first}" -lt 12000
like "tells that there is more" "$first" "More is in the inbox"
second=$(printf '' | below claude "$ROGER" hook claude tool --as many | context)
like "the next event goes on where it ended" "$second" "number"
unlike "with others" "$second" "number 0 "

# ------------------------------------------------------------ input of any kind
for input in '{' '[]' 'null' '{"stop_hook_active":"yes","hook_event_name":7}' "$(printf '{"a":%0100000d}' 1)"; do
	say odd --as bob more
	is "input is data: $(printf '%.20s' "$input")" "$(printf '%s' "$input" | below claude "$ROGER" hook claude prompt --as odd | context | grep -c more)" 1
done

# ------------------------------------------------------------ idle
(
	sleep 1
	say idler --as bob wake-up
) &
exits 2 "idle wakes with 2" below claude "$ROGER" hook claude idle --as idler
wait
like "and a pointer" "$err" "1 new message for idler, the first from bob"
unlike "without content" "$err$out" "wake-up"
exits 2 "until it was shown" below claude "$ROGER" hook claude idle --as idler
printf '' | below claude "$ROGER" hook claude stop --as idler >/dev/null
below claude timeout 2 "$ROGER" hook claude idle --as idler </dev/null
is "then it sleeps" $? 124
say o2 --as bob wake-up-too
exits 0 "opencode is woken with 0" below opencode "$ROGER" hook opencode idle --as o2
like "and the text" "$out" "wake-up-too"
cat >two.py <<'END'
import subprocess, sys, time
hook = [sys.argv[1], "hook", "claude", "idle", "--as", "twice"]
first = subprocess.Popen(hook, stdin=subprocess.DEVNULL)
time.sleep(0.5)
second = subprocess.run(hook, stdin=subprocess.DEVNULL, timeout=10)
print(second.returncode, first.poll())
first.kill()
END
cat >gone.py <<'END'
import os, shutil, subprocess, sys, time
os.makedirs("gone")
subprocess.run([sys.argv[1], "init", "-q"], cwd="gone", check=True)
hook = subprocess.Popen([sys.argv[1], "hook", "claude", "idle", "--as", "lone"], cwd="gone", stdin=subprocess.DEVNULL)
time.sleep(3)
shutil.rmtree("gone")
time.sleep(4)
used = sum(map(int, open(f"/proc/{hook.pid}/stat").read().rsplit(") ", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")
print(hook.poll(), "quiet" if used < 1 else f"{used} s of processor")
hook.kill()
END
is "one whose workspace was removed rests" "$(below claude python3 gone.py "$ROGER")" "None quiet"
is "one that waits is enough for a tool" "$(below claude python3 two.py "$ROGER")" "0 None"

# ------------------------------------------------------------ neighbours run them, too
# What the tools wrote; VS Code and Cursor from their documentation.  All inputs are in
# tests/unit/test_hook_host.c.
looked() { roger trace @last --json --as bob | json '[s["step"] for s in d["traces"][0]["steps"]]'; }
written() { cat .roger/messages.jsonl .roger/logs/activity.log.jsonl | cksum; }
say claude --as bob 'PLANTED for claude'
before=$(written)
for input in \
	'{"hook_event_name":"SessionStart","session_id":"e7c3","timestamp":"2026-11-23T09:35:14.082Z","cwd":"/w","source":"new","initial_prompt":"do work"}' \
	'{"hook_event_name":"Stop","session_id":"e7c3","timestamp":"2026-11-23T09:35:14.408Z","cwd":"/w","transcript_path":"/h/e.jsonl","stop_reason":"end_turn","stop_hook_active":false}' \
	'{"session_id":"3377","transcript_path":"/h/c.jsonl","cwd":"/w","hook_event_name":"SessionStart","timestamp":"2026-11-23T09:38:25.184Z","permission_mode":"yolo","source":"startup"}' \
	'{"timestamp":"2026-02-09T10:30:00.000Z","cwd":"/w","sessionId":"s","hookEventName":"SessionStart","transcript_path":"/h/t.json","source":"new"}' \
	'{"conversation_id":"c","hook_event_name":"sessionStart","cursor_version":"3.0","workspace_roots":["/w"],"transcript_path":"/h/t.json","session_id":"c"}'; do
	for event in session-start prompt tool stop idle; do
		exits 0 "$event of another tool: $(printf '%.40s' "$input")" hook claude $event "$input"
		is "gives it nothing" "$out$err" ""
	done
done
mkdir alone && cp "$ROGER" alone/roger
exits 0 "also where a program of roger's is missing" sh -c 'printf "%s" "$0" | ROGER_SERVER=unix:/none alone/roger hook claude session-start' "$input"
is "nothing is told" "$out$err" ""
rm -r alone
for tool in codex gemini opencode claude; do
	for event in session-start prompt tool stop idle; do
		exits 0 "$event of $tool, run by Copilot that Claude Code started" below copilot env CLAUDECODE=1 "$ROGER" hook $tool $event --as claude
		is "gives it nothing, either" "$out$err" ""
	done
done
is "nobody has looked, and nothing is noted" "$(looked) $(written)" "[\"stored\"] $before"
# Below no tool, also if a person's agent runs this test.
by_hand() { setsid -f sh -c '"$@" 2>&1; echo "exit $?"' sh env -i "XDG_STATE_HOME=$XDG_STATE_HOME" "$ROGER" hook claude "$1" </dev/null; }
like "by hand, one sees what there is" "$(by_hand prompt)" "PLANTED for claude"
is "and does not wait" "$(by_hand idle)" "exit 0"
is "which is no look of the agent's" "$(looked) $(written)" "[\"stored\"] $before"
input='{"session_id":"d912","transcript_path":"/h/d.jsonl","cwd":"/w","hook_event_name":"SessionStart","source":"startup"}'
is "Claude Code that Copilot started is known by what it writes" "$(printf '%s' "$input" | below copilot env -u CLAUDECODE COPILOT_CLI=1 "$ROGER" hook claude session-start | seen PLANTED)" 1
is "and has looked" "$(looked)" '["stored", "looked"]'
for tool in codex gemini; do
	say $tool --as bob 'PLANTED to wait for'
	exits 0 "$tool waits for no hook that is idle" hook $tool idle
	is "which ends at once" "$out$err" ""
done

# ------------------------------------------------------------ trouble
say t --as bob trouble
printf 'nonsense: [\n' >.roger/config.yaml
exits 0 "a broken configuration" hook claude prompt
is "is no trouble of the agent's, but a line for the person" "$(printf '%s' "$out" | json 'list(d), "config.yaml" in d["systemMessage"]')" '[["systemMessage"], true]'
exits 0 "which a tool call" hook claude tool
is "does not repeat" "$out$err" ""
rm .roger/config.yaml
mv .roger/messages.jsonl away && mkdir .roger/messages.jsonl
exits 0 "a broken workspace" hook claude prompt
is "is told in the same way" "$(printf '%s' "$out" | json 'list(d)')" '["systemMessage"]'
exits 0 "one that is named and not there" env ROGER_WORKSPACE=/nowhere "$ROGER" hook codex session-start </dev/null
like "too" "$out" 'systemMessage.*/nowhere'
exits 0 "a store that is away" env ROGER_STORE=postgres://nobody@127.0.0.1:1/none#w ROGER_LIBEXEC=/nowhere "$ROGER" hook gemini prompt </dev/null
like "and that, too" "$out" 'systemMessage'
rmdir .roger/messages.jsonl && mv away .roger/messages.jsonl
exits 0 "a closed input" below claude sh -c "'$ROGER' hook claude prompt --as t <&-"
like "is an empty one" "$out" "trouble"

# ------------------------------------------------------------ prime
exits 64 "prime needs to know who" roger prime
exits 0 "prime of nobody's mail" roger prime --as fresh
like "says who" "$out" "You are fresh in roger.*0 unread"
say p --as bob 'please look' --key t:escalation:1 --confirm read --within 50ms
roger dispatch r1 --as p --within 1ms >/dev/null
sleep 0.1
roger prime --as p >words
like "says what roger is for" "$(cat words)" "agents of every tool.*SendMessage"
like "tells what is unread" "$(cat words)" "> please look"
like "what somebody waits for" "$(cat words)" "bob waits for you to read msg-"
like "what is late" "$(cat words)" "run r1, which you own:"
like "and what to type" "$(cat words)" 'roger ack msg-'
i=0
while [ $i -lt 30 ]; do
	printf '{"to":["p"],"content":"%0900d"}\n' $i
	i=$((i + 1))
done | roger send --batch --as bob -q
for tokens in 100 500 2000; do
	check "keeps within $tokens tokens, or one message" test "$(roger prime --as p --tokens $tokens | wc -c)" -le $((tokens * 4 > 1700 ? tokens * 4 : 1700))
done
exits 64 "--tokens wants a number" roger prime --as p --tokens some
is "as JSON" "$(roger prime --as p --json | json 'd["agent"], d["unread"], len(d["messages"]), len(d["duties"])')" '["p", 31, 20, 2]'
is "a look that is not noted" "$(marks)" "$(roger prime --as p >/dev/null && marks)"
for i in $(seq 60); do printf '{"to":"busy","content":"m%s."}\n' "$i"; done | roger send --batch --as bob -q 2>/dev/null
for i in 1 2 3 4; do
	ROGER_AGENT=busy below claude "$ROGER" hook claude tool </dev/null >>all || echo "exit $?" >>all
done
is "much mail comes in pieces, each message once" "$(grep -oE 'm[0-9]+[.]' all | sort | uniq -c | sort -rn | sed -n '1p;$=' | tr -s ' \n' ' ' | cut -d ' ' -f 2,4)" "1 60"
is "and then nothing" "$(wc -l <all)" 2

# ------------------------------------------------------------ nobody else can silence a hook
# Names of abstract sockets, which once excluded hooks, are anybody's to bind.
cat >binds.py <<'END'
import os, subprocess, sys
roger = sys.argv[1]
before = subprocess.run(["strace", "-f", "-e", "trace=bind", "-o", "binds", roger, "hook", "claude", "prompt"],
                        env={**os.environ, "ROGER_AGENT": "nobody-yet", "ASAN_OPTIONS": "detect_leaks=0"}, stdin=subprocess.DEVNULL)
assert before.returncode == 0
sys.exit(1 if "AF_UNIX" in open("binds").read() else 0)
END
check "a hook binds no name that others could hold" python3 binds.py "$ROGER"
say squat --as ann "through the noise"
like "mail is shown" "$(ROGER_AGENT=squat below claude "$ROGER" hook claude prompt </dev/null)" "through the noise"
is "what excludes them is for the owner alone" "$(stat -c %a .roger .roger/wake.lock | tr '\n' ' ')" "700 600 "

# ------------------------------------------------------------ a budget holds
long=$(printf '%0100d' 0)
for i in $(seq 30); do roger dispatch "run-$i-$long" --as "poor-$long" --within 1ms -q >/dev/null; done
roger send "poor-$long" --as "rich-$long" --issue "i-$long" "$(printf '\033\n%.0s' $(seq 4000))" -q 2>/dev/null
roger send "poor-$long" --as "rich-$long" --issue "i-$long" "second" -q 2>/dev/null
over=""
for tokens in 100 150 250 400 700 2000; do
	chars=$(roger prime --as "poor-$long" --tokens $tokens | wc -m)
	[ "$chars" -le $((tokens * 4)) ] || over="$over $tokens:$chars"
done
is "prime keeps to its tokens, whatever names, duties and texts are" "$over" ""
out=$(roger prime --as "poor-$long" --tokens 100)
like "a small one says what it leaves out" "$out" "^- 30 more: .roger status"
like "of mail, too" "$out" "^2 more: .roger inbox"
chars=$(ROGER_AGENT="poor-$long" below claude "$ROGER" hook claude prompt </dev/null | context | wc -m)
check "a hook shows about as much as it may" test "$chars" -gt 5000 -a "$chars" -lt 9000
# ---------------------------------------------------------------------- damage
say away --as bob "the very last"
python3 -c '
data = bytearray(open(".roger/messages.jsonl", "rb").read())
data[data.rindex(b"the very last")] ^= 1
open(".roger/messages.jsonl", "r+b").write(data)'
place=messages.jsonl:$(wc -l <.roger/messages.jsonl)
like "an agent that begins is told of damage, also without mail" "$(ROGER_AGENT=calm below claude "$ROGER" hook claude session-start </dev/null | context)" "^Damaged: $place is altered.*Tell the person"
is "and of no content" "$(ROGER_AGENT=calm below claude "$ROGER" hook claude session-start </dev/null | grep -c "very last")" 0
say calm --as bob "on we go"
like "and with the mail that it is shown" "$(ROGER_AGENT=calm below claude "$ROGER" hook claude prompt </dev/null | context)" "^Damaged: $place"
is "without mail it is told once" "$(ROGER_AGENT=calm below claude "$ROGER" hook claude prompt </dev/null)" ""
roger receive --as calm -q 2>/dev/null
roger dismiss "$place" --reason "a test" -q
is "accepted, it is told no more" "$(ROGER_AGENT=calm below claude "$ROGER" hook claude session-start </dev/null)" ""
exits 66 "looked at what is not there" roger looked msg-nothing --as p
done_testing
