#!/usr/bin/env python3
"""An operator's day: four agents as processes over plan, implement, test and review, and what
can go wrong in one day.  Afterwards status names each trouble and what to do, report has it
in a figure, timeline shows it; the advice is followed, and status says "all quiet".  No
command that is advised acts under another's name.

    ROGER=build/roger python3 tests/cli/t4603-operators-day.py
"""
# runner: timeout 300
import datetime
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROGER = os.path.abspath(os.environ["ROGER"])
NEXT = {"plan": "implement", "implement": "test", "test": "review", "review": "plan"}
count = failures = 0


def roger(agent, *words, code=0, text=None):
    """One command as an agent, or as the operator (None); its answer as JSON."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ROGER")}
    if agent:
        env["ROGER_AGENT"] = agent
    done = subprocess.run([ROGER, *words, "--json"], env=env, input=text or "", capture_output=True, text=True)
    if code is not None and done.returncode != code:
        raise SystemExit(f"Bail out! {words}: {done.returncode}: {done.stdout}{done.stderr}")
    answer = done.stdout or done.stderr[done.stderr.find("{"):]
    return json.loads(answer) if answer.startswith("{") else {"text": done.stdout + done.stderr}


def agent(name):
    """Reads what it is sent and hands it on, until the day is over."""
    while True:
        for message in roger(name, "receive", "--wait", "2m")["messages"]:
            if message["content"] == "the day is over":
                return
            if message["from"] not in (*NEXT, "lead"):
                continue
            if name == "implement":
                # The first build fails, the second does not.
                roger(name, "run", "--run", "build-1", "--issue", "app", "--", "sh", "-c", "exit 2", code=2)
                roger(name, "run", "--run", "build-2", "--issue", "app", "--", "true")
            if name == "review":
                roger(name, "send", "plan", "approved", "--type", "decision", "--issue", "app")
            elif message["content"] != "approved":
                roger(name, "send", NEXT[name], f"from {name}", "--type", "result", "--issue", "app",
                      "--key", f"app:status-update:{name}")
            else:
                for other in NEXT:
                    roger(name, "send", other, "the day is over", "--issue", "app")


if len(sys.argv) > 1:
    agent(sys.argv[1])
    sys.exit()


def check(name, good, told=""):
    global count, failures
    count += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}", flush=True)
    if not good:
        print("# " + str(told)[:3000].replace("\n", "\n# "), flush=True)


advised = set()


def status():
    answer = roger(None, "status")
    advised.update(c["next"] for c in answer["concerns"])
    return answer


def wait_for_deadlines():
    """Waits until all is over that status and the runs say is under way."""
    ends = [m[name] for m in roger(None, "list", "--unread")["messages"] for name in ("claimed_until", "confirm_by") if name in m]
    ends += [run["expected_by"] for run in roger(None, "runs")["runs"] if run["run"] == "child-1"]
    ends = [datetime.datetime.fromisoformat(end.replace("Z", "+00:00")).timestamp() * 1000 for end in ends]
    left = int(max(ends) - time.time() * 1000) + 1
    if left > 0:
        roger("lead", "wait", "--issue", "nothing-comes", "--timeout", f"{left}ms", code=None)


def hand_in(text):
    """A text that an agent leaves for plan, which only knows files."""
    os.makedirs(".roger/triggers", exist_ok=True)
    with open(".roger/triggers/new", "w") as file:
        file.write(text)
    os.rename(".roger/triggers/new", ".roger/triggers/plan.txt")
    return roger(None, "bridge", "--once", code=None)


place = tempfile.TemporaryDirectory()
os.chdir(place.name)
os.environ["XDG_STATE_HOME"] = place.name + "/state"
os.environ["HOME"] = place.name
roger(None, "init")
with open(".roger/config.yaml", "w") as file:
    file.write("size_limits: {max_messages_per_issue_phase: 8}\nretries: {max_attempts: 1, confirm_within: 50ms}\n"
               "watchdog: {max_recoveries: 1, recovery_cooldown: 0s}\nbridge: {file_only: [filer]}\n")

# ---- the work of the day
agents = [subprocess.Popen([sys.executable, os.path.abspath(__file__) if os.path.isabs(__file__) else
                            os.path.join(os.environ.get("OLDPWD", "/"), __file__), name],
                           env={**os.environ, "ROGER": ROGER}) for name in NEXT]
roger("lead", "send", "plan", "a feature", "--issue", "app")
check("the agents go through plan, implement, test and review", [a.wait(120) for a in agents] == [0] * 4)
check("each phase is in the timeline", {"plan", "implement", "test", "review"} <=
      {e.get("actor") for e in roger(None, "timeline", "app")["events"]})

# ---- what goes wrong
told = roger("plan", "send", "implemant", "is it done?", "--key", "app:escalation:name", code=77)
check("a wrong name is refused, with the right one", "did you mean 'implement'" in told["error"]["message"], told)

for number in range(8):
    roger("lead", "send", "review", f"noise {number}", "--issue", "noise")
told = roger("lead", "send", "all", "to everybody", "--issue", "noise", "--key", "noise:escalation:all")
check("a full box refuses its own copy and no other", [r["to"] for r in told.get("refused", [])] == ["review"] and
      {m["to"] for m in told["messages"]} == {"plan", "implement", "test", "filer"}, told)

worker = subprocess.Popen(["sh", "-c", '"$ROGER" send test "a task" --issue task --as lead -q && '
                           '"$ROGER" claim --as test --worker w1 --issue task --lease 1s -q >claimed && kill -9 $$'],
                          env={**os.environ, "ROGER": ROGER}, stderr=subprocess.DEVNULL)
check("a worker is killed with a task in hand", worker.wait(60) == -signal.SIGKILL)

roger("plan", "dispatch", "child-1", "--within", "1s", "--issue", "app")

roger("plan", "send", "review", "please answer", "--issue", "app", "--key", "app:escalation:dead", "--confirm", "read",
      "--within", "1ms", code=75)

hand_in("(filer #3): done")
told = hand_in("(filer #1): again, after a restart")
check("a file-only agent that begins anew is skipped, and that is told", told["skipped"] == 1, told)

epoch = roger(None, "agents", "session", "new")["epoch"]
check("a new session is opened", epoch == 2)

waiting = subprocess.Popen([ROGER, "send", "implement", "are you there?", "--issue", "second", "--key", "app:escalation:killed",
                            "--confirm", "read", "--within", "3s"], env={**os.environ, "ROGER_AGENT": "plan"},
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
roger("implement", "wait", "--issue", "second")
check("a send that waits is on record", roger(None, "log", "sends", "--outcome", "pending")["attempts"])
waiting.kill()
waiting.wait()

roger(None, "agents", "retire", "test", "--reason", "moved to another team")
told = roger("lead", "send", "test", "are you there?", "--key", "app:escalation:gone", code=77)
check("mail to somebody retired is refused, with the reason", "moved to another team" in told["error"]["message"], told)

with open(".roger/messages.jsonl", "r+b") as file:
    text = file.read()
    file.seek(text.rindex(b'"content":"') + 11)
    file.write(b"X")

wait_for_deadlines()

# ---- what the operator is told
now = status()
told = {(c["kind"], c.get("subject")) for c in now["concerns"]}
kinds = {kind for kind, _ in told}
parts = {(p["name"], c.get("subject")) for c in now["concerns"] for p in c.get("parts", [])}
check("status is not quiet", not now["quiet"])
for name, there in (
        ("the failed build", "build-1" in {subject for _, subject in told}),
        ("the lease that expired", ("lease", "test") in parts),
        ("the overdue child", ("suspect_delivery_failure", "child-1") in told),
        ("the dead letter", ("dead_letters", "review") in parts),
        ("the one of a sender that was killed", ("dead_letters", "implement") in parts),
        ("the sender that was killed", ("overdue", "implement") in parts),
        ("the damaged line", "damage" in kinds),
        ("the wrong name", any(c["kind"] == "refused" and c["subject"] == "plan" and "implemant" in c["words"]
                               for c in now["concerns"])),
        ("the full box", ("full", "review") in parts),
        ("the skipped text", "skipped" in kinds),
        ("mail to somebody retired", ("retired", "test") in parts),
        ("unread mail", ("unread", "review") in parts)):
    check(f"status names {name}", there, json.dumps(now["concerns"], indent=1))
check("each with a command", all(c["next"].startswith("roger ") for c in now["concerns"]), now)

report = roger(None, "report")
for name, there in (
        ("refusals", report.get("errors", 0) >= 2), ("the dead letter", report.get("dead_letters") == 2),
        ("attempts that timed out", report.get("timeouts", 0) >= 1),
        ("runs", report.get("runs") == 3), ("what is unread", report.get("unread", 0) > 8)):
    check(f"report has a figure of {name}", there, report)
groups = [[(c["kind"], c.get("subject"), c["count"]) for c in answer["concerns"]] for answer in (now, report)]
check("and what status names", groups[0] == groups[1], groups)
causes = {figure["name"]: figure["count"] for figure in report["refused_by_cause"]}
for cause in ("unknown name", "mailbox full", "retired"):
    check(f"report says why sends were refused: {cause}", causes.get(cause), causes)
check("report counts the failed build", report["failed_runs"] == 1, report)


def shown(name, kind, words="", *subject):
    lines = roger(None, "timeline", *subject)["events"]
    check(f"timeline shows {name}", any(e["kind"] == kind and words in json.dumps(e) for e in lines), "\n".join(map(json.dumps, lines)))


shown("the wrong name", "refused", "implemant", "--task", "app")
shown("the full box", "refused", "review", "--task", "noise")
shown("the failed build", "failed", "", "build-1")
shown("the task in hand", "claimed", "w1", "task")
shown("that its lease expired", "lease_expired", "", "task")
shown("the overdue child", "due", "", "child-1")
shown("the dead letter", "dead_letter", "", "app")
shown("the skipped text", "activity", "skipped: stale", "general")
shown("the new session", "session", "session 2", "--agent", "implement")
shown("the send whose sender was killed", "timeout", "", "--issue", "second")
shown("the damaged line", "damaged", "", "--agent", "plan")
shown("mail to somebody retired", "refused", "retired", "--agent", "test")

# ---- the advice is followed; what is an agent's to read, it reads
before = {m["id"]: m["read"] for m in roger(None, "list")["messages"]}


def advice():
    """What status advises, and what why says of the same."""
    for concern in status()["concerns"]:
        yield concern["next"]
        if concern.get("subject") and concern["kind"] in ("mail", "blocked", "failed", "suspect_delivery_failure"):
            yield roger(None, "why", concern["subject"])["next"]


def follow():
    """Every command that is advised, as the shell runs it, until nothing new is. Each returns at once."""
    followed = set()
    while new := [line for line in advice() if line and line not in followed]:
        followed.add(new[0])
        advised.add(new[0])
        subprocess.run(["sh", "-c", re.sub(r"\broger\b", '"$ROGER"', new[0].replace("TEXT", "seen").replace("NAME", "plan"), count=1)],
                       env={**os.environ, "ROGER": ROGER}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=20)


follow()
after = {m["id"]: m["read"] for m in roger(None, "list")["messages"]}
check("nothing is read because an operator looked", all(after[i] == read for i, read in before.items() if i in after))
left = {(c["kind"], c.get("subject")) for c in status()["concerns"]}
check("what is left is what agents have to do themselves",
      {kind for kind, _ in left} <= {"mail", "refused"}, left)
hand_in("(filer #5): I have read my file")
roger("plan", "send", "implement", "is it done?", "--key", "app:escalation:name")
for name in (*NEXT, "lead", "plan", "lead", "implement", "test"):
    roger(name, "receive", "--limit", "1000", code=None)
roger("lead", "send", "review", "are you there?", "--key", "app:escalation:gone")
roger("lead", "send", "all", "to everybody", "--issue", "noise", "--key", "noise:escalation:all")
for name in (*NEXT, "lead"):
    roger(name, "receive", "--limit", "1000", code=None)
follow()
now = status()
check("then status says all is quiet", now["quiet"], json.dumps(now["concerns"], indent=1))
check("no command that was advised acts under another's name", not any("--as" in line for line in advised), advised)
check("and doctor finds nothing that is left", roger(None, "doctor", code=None)["repairable"] == 0)
print(f"1..{count}")
sys.exit(failures > 0)
