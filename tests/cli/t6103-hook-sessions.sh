#!/bin/sh
# hook: what the tools say of a session.  A subagent is told nothing, a session that
# goes on is not told twice, and a hook that waits ends when nobody listens any more.
. "$(dirname "$0")/lib.sh"
# Commands are configured here as the tests go; t2004-trust says when they may run.
export ROGER_TRUST_COMMANDS=1

hook() { # TOOL EVENT [INPUT]
	printf '%s' "${3-}" | below "$1" "$ROGER" hook "$1" "$2"
}
say() { roger send "$@" -q 2>/dev/null; }
seen() { grep -c "$1"; }

roger init -q
say claude --as bob 'PLANTED first'
exits 0 "in a subagent" hook claude tool '{"hook_event_name":"PostToolUse","agent_id":"a1","agent_type":"general-purpose"}'
is "nothing is said" "$out$err" ""
is "the agent itself is told" "$(hook claude tool '{"hook_event_name":"PostToolUse"}' | seen PLANTED)" 1

is "a session that goes on is not told again" "$(hook claude session-start '{"source":"resume"}')" ""
for source in startup clear compact; do
	is "one that begins is: $source" "$(hook claude session-start "{\"source\":\"$source\"}" | seen PLANTED)" 1
done
say claude --as bob 'PLANTED second'
is "one that goes on is told what is new" "$(hook claude session-start '{"source":"resume"}' | seen 'PLANTED second')" 1
say gemini --as bob 'PLANTED third'
hook gemini prompt >/dev/null
is "Gemini CLI forgets what hooks said" "$(hook gemini session-start '{"source":"resume"}' | seen PLANTED)" 1

# ------------------------------------------------------------ which session it is
sessions() { roger log --json | json '[e["action"]["details"]["session"] for e in d["activities"] if e["action"]["details"].get("verb") == "arrive"]'; }
roger init -q >/dev/null 2>&1
hook codex session-start '{"session_id":"thread-1","source":"startup"}' >/dev/null
hook codex session-start '{"session_id":"thread-1","source":"resume"}' >/dev/null
hook codex session-start '{"session_id":"thread-2","source":"startup"}' >/dev/null
hook codex prompt '{"session_id":"thread-3"}' >/dev/null
hook codex session-start '{"session_id":"../no; name"}' >/dev/null
is "is noted when it begins, or goes on after another, once" "$(sessions)" '["thread-1", "thread-2", "thread-3"]'
printf 'wake:\n  agents:\n    codex: [sh, -c, "echo $1 >../told", sh, "{session}"]\n    nobody: [sh, -c, "echo none$1 >../told", sh, "{session}"]\n' >>.roger/config.yaml
roger wake --test codex --within 1ms >/dev/null 2>&1
is "who wakes the agent is told the last one" "$(cat told)" thread-3
roger wake --test nobody --within 1ms >/dev/null 2>&1
is "and nothing where none is known" "$(cat told)" none
is "arrive, by hand" "$(roger arrive thread-9 --as codex --tool codex) $(roger arrive thread-9 --as codex)" "noted  yes
first  yes noted  no"
exits 65 "a session is a name" roger arrive 'a b' --as codex
sed -i '/^wake:/,$d' .roger/config.yaml

# Copilot runs both hooks at the same time, and forgets what the one of the start said.
say copilot --as bob 'PLANTED sixth'
copilot() { # EVENT SESSION
	hook copilot "$1" "{\"sessionId\":\"$2\",\"timestamp\":1,\"cwd\":\"/w\"}"
}
is "Copilot gets nothing when a session starts" "$(copilot session-start one)" ""
is "but at its first prompt, as at a start" "$(copilot prompt one | grep -c 'You are copilot in roger.*PLANTED sixth')" 1
is "and not again when the session is resumed" "$(copilot session-start one)$(copilot prompt one)" ""
say copilot --as bob 'PLANTED seventh'
is "then only what is new" "$(copilot session-start one)$(copilot prompt one | grep -c 'PLANTED sixth\|You are copilot in') " "0 "
is "another session gets both messages" "$(copilot session-start two)$(copilot prompt two | grep -o PLANTED | wc -l)" 2
is "and the first one not again" "$(copilot session-start one)$(copilot prompt one | grep -c PLANTED)" 0
is "a start without a session id gets the mail at once" "$(hook copilot session-start '{"sessionId":"","timestamp":1,"cwd":"/w"}' | seen PLANTED)" 1

# ------------------------------------------------------------ waiting
say claude --as bob 'PLANTED fourth'
unattended() {
	printf '{"session_id":"s"}' | CLAUDE_CODE_SESSION_ATTENDED=0 ROGER_WAKE=${1-} below claude timeout 20 "$ROGER" hook claude idle
}
exits 0 "nobody sits in front of Claude Code: idle ends at once" unattended
is "and says nothing" "$out$err" ""
exits 2 "but where it is asked for" unattended always
cat >waiters.py <<'END'
import os, socket, subprocess, sys, time

def wait(session, agent, **more):
    hook = subprocess.Popen(
        ["/bin/sh", "-c", f"'{sys.argv[1]}' hook claude idle --as {agent}; exit $?"],
        stdin=subprocess.PIPE, start_new_session=True, **more)
    hook.stdin.write(b'{"session_id":"%s"}' % session)
    hook.stdin.close()
    return hook

def child_of(pid):
    """Its first child, as soon as there is one."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if children := open(f"/proc/{pid}/task/{pid}/children").read().split():
            return int(children[0])
        time.sleep(0.01)

def waiting(shell):
    """Until the hook below that shell waits for mail: it sleeps in poll, ppoll, futex or futex_waitv."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if open(f"/proc/{child_of(shell)}/syscall").read().split()[0] in ("7", "271", "202", "449"):
            return
        time.sleep(0.01)

first = wait(b"one", "w")
waiting(first.pid)
print(wait(b"one", "w").wait(10), first.poll())
other = wait(b"two", "w")
waiting(other.pid)
print(other.poll())
subprocess.run([sys.argv[1], "send", "w", "x", "--as", "bob", "-q"], stderr=subprocess.DEVNULL)
print(first.wait(10), other.wait(10))

# The tool's end of what the hook says goes, the shell between them stays.
ours, its = socket.socketpair()
gone = wait(b"three", "gone", stdout=its, stderr=its)
its.close()
waiting(gone.pid)
ours.close()
subprocess.run([sys.argv[1], "send", "gone", "x", "--as", "bob", "-q"], stderr=subprocess.DEVNULL)
print(gone.wait(10))

# The tool goes; the shell between them stays, and what the hook writes to, too.
tool = subprocess.Popen(["./claude", "sh", "-c", f"'{sys.argv[1]}' hook claude idle --as left; echo $? >left.status"],
    stdin=subprocess.PIPE, stdout=open("left.out", "w"), stderr=subprocess.STDOUT, start_new_session=True)
tool.stdin.write(b'{"session_id":"left"}')
tool.stdin.close()
waiting(child_of(tool.pid))
tool.kill()
tool.wait()
subprocess.run([sys.argv[1], "send", "left", "x", "--as", "bob", "-q"], stderr=subprocess.DEVNULL)
until = time.monotonic() + 20
while not os.path.exists("left.status") or not open("left.status").read():
    if time.monotonic() > until:
        sys.exit("it waits on")
    time.sleep(0.02)
print(open("left.status").read().strip() + open("left.out").read())
END
printf '#!/bin/sh\n"$@"\nexit $?\n' >claude && chmod +x claude
below claude python3 waiters.py "$ROGER" >waiters 2>/dev/null
is "one that waits is enough for a session, whatever shells are between" "$(sed -n 1p waiters)" "0 None"
is "another session has its own" "$(sed -n 2p waiters)" "None"
is "both wake" "$(sed -n 3p waiters)" "2 2"
is "one whose tool is gone ends and wakes nobody" "$(sed -n 4p waiters)" "0"
is "so does one below a shell that stays, when its tool is gone" "$(sed -n 5p waiters)" "0"
done_testing
