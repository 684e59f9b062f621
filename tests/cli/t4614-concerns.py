#!/usr/bin/env python3
"""Troubles, each in a workspace of its own: status names each as one concern, in at most 12 lines of
80 columns; the command that it advises returns at once, reads nobody's mail and loses none; and when
those have done what is theirs, all is quiet.

    ROGER=build/roger python3 tests/cli/t4614-concerns.py
"""
# runner: timeout 300
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import lib_tap

ROGER = os.path.abspath(os.environ["ROGER"])
HERE = Path.cwd() / "t4614"
ENV = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER", "XDG", "CLICOLOR"))}
ENV |= {"HOME": str(HERE / "home"), "XDG_STATE_HOME": str(HERE / "state"), "XDG_RUNTIME_DIR": str(HERE / "run"), "ROGER": ROGER, "ROGER_TRUST_COMMANDS": "1"}


class Place:
    """A workspace, and what agents do in it."""

    def __init__(self, name, config=""):
        self.root = HERE / name.replace(" ", "-")
        self.root.mkdir(parents=True)
        self.run("init")
        self.data = self.root / ".roger"
        if config:
            (self.data / "config.yaml").write_text(config)

    def run(self, *words, text=None, **env):
        return subprocess.run([ROGER, *words], cwd=self.root, env={**ENV, **env}, input=text or "", capture_output=True, text=True, timeout=60)

    def json(self, *words):
        return json.loads(self.run(*words, "--json").stdout)

    def send(self, sender, to, text, *words):
        return self.run("send", "--as", sender, "--new", to, text, "--print", "id", *words).stdout.strip()

    def status(self):
        return self.json("status")["concerns"]

    def read(self, *agents):
        for agent in agents:
            self.run("receive", "--as", agent, "--limit", "100")

    def kinds(self):
        """Each concern, and each part of an agent's mail, with whom it is about."""
        return {(c["kind"], c.get("subject")) for c in self.status()} | {(p["name"], c.get("subject")) for c in self.status() for p in c.get("parts", [])}


def waiting_text(p):
    folder = p.data / "triggers"
    folder.mkdir(exist_ok=True)
    (folder / "bob.txt").write_text("(AMY #1): hello")
    os.utime(folder / "bob.txt", (time.time() - 60,) * 2)


def waker_to_come(p):
    """Somebody woke agents when the clock was a day ahead."""
    (p.data / "chores").mkdir(exist_ok=True)
    then = int(time.time() + 86400) * 1000
    (p.data / "chores/wake").write_text(f"{then}\n{then}\n1\nroger-serve\n")


def failing_wakes(p):
    p.send("amy", "bob", "hi")
    p.run("wake", "--once")


def two_sessions(p):
    for session in ("one", "two", "one"):
        p.run("arrive", session, "--as", "bob", "--tool", "claude")


def refused_work(outcome):
    def plant(p):
        p.run("ack", p.send("amy", "bob", "do it"), "--as", "bob", "--outcome", outcome, "--note", "no disk")
    return plant


def key_again(p):
    for text in ("one", "other"):
        p.run("send", "--as", "amy", "--new", "bob", text, "--key", "t:escalation:1")
    p.read("bob")


def clock_back(p):
    p.send("amy", "bob", "hi")
    p.read("bob")
    now = int(time.time() * 1000)
    line = {"id": f"msg-{now}-abc", "issue_id": "app", "from_phase": "amy", "to_phase": "bob", "run_counter": 1, "message_type": "context", "content": "x",
            "metadata": None, "read": True, "created_at": now + 7200000, "read_at": now + 7200001}
    with open(p.data / "messages.jsonl", "a", encoding="utf-8") as journal:
        journal.write(json.dumps(line, separators=(",", ":")) + "\n")


def clock_back_since(p):
    """What is newest is of now; the clock is still behind what was sent before it."""
    clock_back(p)
    p.send("amy", "bob", "by the present clock")
    p.read("bob")


def clock_back_noted(p):
    """Only a note is of a time to come."""
    p.send("amy", "bob", "hi")
    p.read("bob")
    ahead = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 7200))
    note = {"timestamp": ahead, "task_id": "app", "action": {"type": "TOOL_EXEC", "details": {"tool": "make"}}, "outcome": {"status": "SUCCESS"}}
    with open(p.data / "logs/activity.log.jsonl", "a", encoding="utf-8") as log:
        log.write(json.dumps(note, separators=(",", ":")) + "\n")


def killer_task(p):
    p.send("amy", "bob", "boom")
    for _ in range(3):
        p.run("claim", "--as", "bob", "--worker", "w1", "--lease", "1ms")
        time.sleep(0.01)
    p.run("claim", "--as", "bob", "--worker", "w1")


def slip(p):
    p.send("amy", "test", "one")
    p.send("test", "amy", "two")
    p.read("test", "amy")
    p.send("amy", "tset", "three")


def failing_runs(p):
    for n in range(4):
        p.run("run", "--as", "lead", "--run", f"build-{n}", "--", "sh", "-c", "echo FATAL: no space >&2; exit 3")
    p.read("lead")


def overdue_run(p):
    p.run("dispatch", "late-1", "--as", "lead", "--within", "1s")
    time.sleep(1.1)


def unread_result(p):
    p.run("dispatch", "job-1", "--as", "lead")
    p.run("complete", "job-1", "--result", "done")


def full_box(p):
    for n in range(3):
        p.send("amy", "bob", f"text {n}")


def retired_target(p):
    p.send("amy", "bob", "hi")
    p.read("bob")
    p.run("agents", "retire", "bob")
    p.send("amy", "bob", "again")


def too_long(p):
    p.send("amy", "bob", "x" * 200)


def dead_letter(p):
    p.send("amy", "bob", "hi", "--key", "t:ask:1", "--confirm", "read", "--within", "1ms")


def two_damages(p):
    for n in range(4):
        p.send("amy", "bob", f"text {n}")
    p.read("bob")
    journal = p.data / "messages.jsonl"
    lines = journal.read_bytes().split(b"\n")
    for n in (0, 2):
        lines[n] = lines[n].replace(b"text ", b"TEXT ")
    journal.write_bytes(b"\n".join(lines))
    p.run("verify")


def stray(p):
    p.send("amy", "bob", "hi")
    p.read("bob")
    with open(p.data / "messages.jsonl", "a", encoding="utf-8") as journal:
        journal.write("no json\n")


def bad_document(p):
    folder = p.data / "state/subagent-delivery-watchdog"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bad.json").write_text("{")


def question(p):
    p.send("amy", "human", "which port?")
    p.send("amy", "bob", "hi", "--key", "t:ask:1", "--confirm", "read", "--within", "1ms")


def skipped(p):
    (p.data / "triggers").mkdir(exist_ok=True)
    (p.data / "triggers/bob.txt").write_text("(NOBODY-HERE #1): ")
    folder = p.data / "triggers/.skipped"
    folder.mkdir()
    (folder / "1-0123456789abcdef-0.bob.txt").write_text("(AMY #1): old")
    (p.data / "triggers/bob.txt").unlink()
    p.send("amy", "bob", "hi")
    p.read("bob")


def skipped_retired(p):
    skipped(p)
    p.run("agents", "retire", "bob")


def skipped_full(p):
    skipped(p)
    p.send("amy", "bob", "hi")


def breaker(p):
    for n in range(3):
        p.send("amy", "bob", "hi", "--key", f"t{n}:ask:1", "--confirm", "read", "--within", "1ms")


def breaker_retired(p):
    breaker(p)
    p.run("agents", "retire", "bob", "--to", "carl", "--new")


def mail_in_a_file(p):
    p.send("amy", "filer", "hi")
    p.run("bridge", "--once")


def odd_file(p):
    (p.data / "triggers/dir.txt").mkdir(parents=True)


def hanging_wake(p):
    p.send("amy", "bob", "hi")
    p.run("wake", "--once")


def two_keys_again(p):
    for sender in ("amy", "cid"):
        for text in ("one", "other"):
            p.run("send", "--as", sender, "--new", "bob", text, "--key", f"{sender}:escalation:1")
    p.read("bob")


def heir_of_heir(p):
    p.send("amy", "bob", "hi")
    p.run("claim", "--as", "bob")
    p.run("agents", "retire", "bob", "--to", "dora", "--new")
    p.run("agents", "retire", "dora", "--to", "eve", "--new")


def orphaned(p):
    p.send("carl", "amy", "hi")
    p.read("amy")
    heir_of_heir(p)
    p.run("agents", "retire", "eve")


def full_issue(p):
    for name in ("bob", "carl", "bob"):
        p.send("amy", name, "hi", "--issue", "app")


def archived_letter(p):
    dead_letter(p)
    p.run("archive", "--unread", p.json("list")["messages"][0]["id"])


def cut_journal(p):
    for n in range(4):
        p.send("amy", "bob", f"text {n}")
    p.read("bob")
    journal = p.data / "messages.jsonl"
    journal.write_bytes(journal.read_bytes()[:700])


def removed_log(p):
    p.send("amy", "bob", "hi")
    p.read("bob")
    p.run("status")
    (p.data / "logs/activity.log.jsonl").unlink()


def killed_run(p):
    p.run("run", "--as", "lead", "--run", "kill-1", "--", "sh", "-c", "echo half way; kill -9 $$")
    p.read("lead")


def coloured_run(p):
    p.run("run", "--as", "lead", "--run", "make", "--", "sh", "-c", "printf '\\033[1;31merror:\\033[0m\\tno space' >&2; exit 1")
    p.read("lead")


def lost_run(p):
    running = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "lost-1", "--", "sleep", "300"], cwd=p.root, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not (there := re.search(r'"child_pid":(\d+)', p.run("runs", "lost-1", "--json").stdout)):
        time.sleep(0.02)
    running.kill()
    running.wait()
    os.kill(int(there[1]), signal.SIGKILL)
    while p.json("runs", "lost-1")["runs"][0]["status"] == "active":
        time.sleep(0.02)


def stray_lines(p):
    p.send("amy", "bob", "hi", "--key", "t:ask:1")
    p.read("bob")
    with open(p.data / "send-log/amy.jsonl", "a", encoding="utf-8") as log:
        log.write("no json\nnone either\n")


def retired_sender(p):
    work = p.send("amy", "bob", "do it")
    p.run("agents", "retire", "amy")
    p.run("ack", work, "--as", "bob", "--outcome", "blocked", "--note", "no disk")


def keyed_killer(p):
    p.send("amy", "bob", "boom", "--key", "t:do:1")
    for _ in range(2):
        p.run("claim", "--as", "bob", "--lease", "1ms")
        time.sleep(0.01)
    p.status()


def each_other(p):
    for one, other in (("amy", "bob"), ("bob", "amy")):
        p.run("ack", p.send(one, other, "do it"), "--as", other, "--outcome", "rejected", "--note", "you do it")


def too_many_letters(p):
    for n in range(2):
        p.send("amy", "bob", "hi", "--key", f"t{n}:ask:1", "--confirm", "read", "--within", "1ms")


WAKE = "wake: {after: 0s, agents: {bob: ['sh', '-c', 'exit 7']}}\n"
ONE = "retries: {max_attempts: 1}\n"
# What is planted; how it is named, and of whom; a word of its sentence; its configuration; who reads afterwards ("-": only time helps).
TROUBLES = {
    "a text that nobody takes in": (waiting_text, ("triggers", "bob.txt"), "1 text has waited", "", "bob"),
    "nobody wakes": (lambda p: None, ("chores", "wake"), "nobody wakes agents", WAKE, ""),
    "nobody wakes since the clock went back": (waker_to_come, ("chores", "wake"), "nobody wakes agents", WAKE, ""),
    "wakes that fail": (failing_wakes, ("failed_wakes", "bob"), r"its wake command fails \(.*7", WAKE, "bob"),
    "two sessions": (two_sessions, ("sessions", "bob"), "2 sessions at once", "", "-"),
    "rejected work": (refused_work("rejected"), ("notices", "amy"), "1 came back", "", "amy"),
    "blocked work": (refused_work("blocked"), ("notices", "amy"), "1 came back", "", "amy"),
    "a key for another text": (key_again, ("keys", "amy"), "used a key again", "", "send"),
    "a clock that went back": (clock_back, ("clock", None), r"the clock went back, or amy's is (2h|1h 59m) ahead", "", "-"),
    "a clock that went back, and mail since": (clock_back_since, ("clock", None), r"the clock went back, or amy's is (2h|1h 59m) ahead", "", "-"),
    "a clock that went back, by a note alone": (clock_back_noted, ("clock", None), r"the clock went back, or another's is (2h|1h 59m) ahead", "", "-"),
    "a task that kills": (killer_task, ("dead_letters", "bob"), "1 given up", "", "bob amy"),
    "a slip": (slip, ("slips", "tset"), r"looks like a slip: tset \(test\)", "", "test"),
    "runs that fail alike": (failing_runs, ("blocked", "build-3"), '4 of 4 runs build-.*: failed: exit 3, last line "FATAL: no space"', "", ""),
    "an overdue run": (overdue_run, ("suspect_delivery_failure", "late-1"), "overdue by", "watchdog: {max_recoveries: 1, recovery_cooldown: 0s}\n", "late-1 lead"),
    "a result that nobody read": (unread_result, ("done_but_not_forwarded", "lead"), "1 result", "", "lead"),
    "a full mailbox": (full_box, ("full", "bob"), "1 refused, full in general", "size_limits: {max_messages_per_issue_phase: 2}\n", "bob resend bob"),
    "mail to somebody retired": (retired_target, ("refused", "bob"), "is retired: 1 refused", "", "elsewhere carl"),
    "a text that is too long": (too_long, ("refused", "amy"), r"could not send to bob \(text too long\), and has not repeated it", "size_limits: {max_content_length: 100}\n", "-"),
    "mail in a file": (mail_in_a_file, ("handed", "filer"), "1 unread, 1 in its file until it writes", "bridge: {file_only: [filer]}\n", "filer"),
    "an odd file": (odd_file, ("triggers", "dir.txt"), "dir.txt in .roger/triggers/ is not a regular file: move it away", "", "odd"),
    "a wake that hangs": (hanging_wake, ("failed_wakes", "bob"), r"its wake command fails \(killed after", "wake: {after: 0s, timeout: 300ms, agents: {bob: [sleep, '60']}}\n", "bob"),
    "keys of two for another text": (two_keys_again, ("keys", "amy"), "amy used a key again", "", "send sendcid"),
    "an heir of an heir": (heir_of_heir, ("mail", "eve"), "^eve never looked at its mail: 1 unread$", "", "eve"),
    "an heir that retired without one": (orphaned, ("retired", "bob"), "^bob is retired: 1 unread", "", "carl"),
    "a full issue": (full_issue, ("full", "app"), "issue app is full: 2 unread", "size_limits: {max_messages_per_issue: 2}\n", "bob carl app"),
    "an archived letter": (archived_letter, ("dead_letters", "bob"), "1 given up$", ONE, ""),
    "a journal that was cut": (cut_journal, ("damage", "messages.jsonl"), "shorter than it was: lines are missing; sends are refused", "", "bob"),
    "a log that was removed": (removed_log, ("damage", "logs/activity.log.jsonl"), "is gone: it was removed", "", ""),
    "a run that was killed": (killed_run, ("blocked", "kill-1"), 'run kill-1: killed by signal 9, last line "half way"$', "", ""),
    "a run that failed in colour": (coloured_run, ("blocked", "make"), 'run make: failed: exit 1, last line "error: no space"$', "", ""),
    "a run that nobody watches": (lost_run, ("blocked", "lost-1"), "run lost-1: lost; its program and the roger run that watched it are gone", "", "lead"),
    "stray lines in a log": (stray_lines, ("strays", "send-log/amy.jsonl"), "2 stray lines in send-log/amy.jsonl, first line", "", ""),
    "work of one that retired": (retired_sender, ("notices", "human"), "human has mail: 1 came back, 1 unread", "", "human"),
    "a lease that expired twice": (keyed_killer, ("lease", "bob"), "2 leases expired", "", "bob"),
    "two that refuse each other": (each_other, ("notices", "amy"), "^amy .*1 came back", "", "amy bob"),
    "too many dead letters": (too_many_letters, ("alarm", "1"), "alarm: 2 dead letters in cycle 1, and not all are settled", ONE + "dead_letters: {alarm: 1}\n", "bob"),
    "a dead letter": (dead_letter, ("dead_letters", "bob"), "1 given up, 1 late", ONE, "bob"),
    "two damaged places": (two_damages, ("damage", "messages.jsonl:1"), "is damaged, and . more place", "", ""),
    "a stray line": (stray, ("strays", "messages.jsonl"), "1 stray line", "", "accept"),
    "a document with errors": (bad_document, ("run_documents", "state/subagent-delivery-watchdog/bad.json"), "1 run document with errors", "", ""),
    "a question for a person": (question, ("mail", "human"), "human has mail", ONE, "human bob"),
    "a skipped text": (skipped, ("skipped", "1-0123456789abcdef-0.bob.txt"), "was skipped", "", "bob"),
    "a skipped text for one that retired": (skipped_retired, ("skipped", "1-0123456789abcdef-0.bob.txt"), "was skipped: its agent retired: name one, or remove the file", "", "carl"),
    "a skipped text for a full mailbox": (skipped_full, ("skipped", "1-0123456789abcdef-0.bob.txt"), "was skipped: no room; see its agent's mail, or remove the file", "size_limits: {max_messages_per_issue_phase: 1}\n", "bob"),
    "a sender that pauses, for somebody retired": (breaker_retired, ("breaker", "bob"), "^bob is retired: 1 refused, 1 sender pauses$", ONE + "breaker: {failures: 2, open_for: 1s}\n", "pause carl again carl"),
    "a sender that pauses": (breaker, ("breaker", "bob"), "2 late, 1 refused", ONE + "breaker: {failures: 2, open_for: 1s}\n", "pause again bob"),
}


def follow(p):
    """Each command that status and why advise, until there is no new one; returns whether each came back at once, and a list is of something."""
    followed = set()
    for _ in range(40):
        lines = [c["next"] for c in p.status()] + [p.json("why", c["subject"]).get("next") for c in p.status() if c["kind"] in ("mail", "blocked", "failed", "suspect_delivery_failure") and c.get("subject")]
        new = [line for line in lines if line and line not in followed]
        if not new:
            return True
        followed.add(new[0])
        began = time.monotonic()
        try:
            done = subprocess.run(["sh", "-c", re.sub(r"\broger\b", '"$ROGER"', new[0].replace("TEXT", "seen").replace("NAME", "carl"), count=1)], cwd=p.root, env=ENV, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=8)
            if done.returncode and new[0].startswith("roger list"):
                return f"{new[0]}: nothing there"
        except subprocess.TimeoutExpired:
            return f"{new[0]}: {time.monotonic() - began:.0f} s"
    return f"without an end: {followed}"


def cure(p, doings):
    """What is whose: to read, to send again, to go elsewhere."""
    for doing in doings.split():
        if doing in ("send", "resend", "again"):
            p.send("amy", "bob", {"send": "more", "resend": "text 2", "again": "hi"}[doing])
            p.read("bob")
        elif doing == "sendcid":
            p.send("cid", "bob", "more")
            p.read("bob")
        elif doing == "app":
            p.send("amy", "bob", "hi", "--issue", "app")
            p.read("bob")
        elif doing == "odd":
            (p.data / "triggers/dir.txt").rmdir()
        elif doing == "elsewhere":
            p.send("amy", "carl", "again")
        elif doing == "accept":
            # verify says which line, and how it is accepted.
            p.run(*re.search(r"roger (dismiss messages.jsonl:\d+ --reason TEXT)", p.run("verify").stdout)[1].split())
        elif doing == "late-1":
            p.run("complete", "late-1", "--result", "at last")
        elif doing == "pause":
            while ("breaker", "bob") in p.kinds():
                time.sleep(0.1)
        else:
            p.read(doing)


for name, (plant, named, sentence, config, doings) in TROUBLES.items():
    place = Place(name, config)
    plant(place)
    told = place.status()
    lib_tap.check(f"{name}: status names it", any(kind == named[0] and named[1] in (who, None) for kind, who in place.kinds()), told)
    lib_tap.check(f"{name}: in one sentence", sum(bool(re.search(sentence, c["words"])) for c in told) == 1, told)
    text = place.run("status", COLUMNS="80").stdout.splitlines()
    # A path in a command may be long, and the workspace's.
    lib_tap.check(f"{name}: on 12 lines of 80 columns", sum(1 + len(line) // 81 for line in text[:-1]) < 12 and all(len(line) <= 80 for line in text[:-1] if not line.startswith("   ")), text)
    lib_tap.equal(f"{name}: report has the same", [(c["kind"], c.get("subject"), c["count"]) for c in place.json("report")["concerns"]], [(c["kind"], c.get("subject"), c["count"]) for c in told])
    before = {m["id"]: m["read"] for m in place.json("list")["messages"]}
    lib_tap.equal(f"{name}: each command that is advised returns at once", follow(place), True)
    after = {m["id"]: m["read"] for m in place.json("list")["messages"]} | {m["id"]: before.get(m["id"]) for m in place.json("list", "--archived")["messages"]}
    lib_tap.equal(f"{name}: nobody's mail was read, none is lost", [i for i, read in before.items() if after.get(i) != read and name != "wakes that fail"], [])
    cure(place, doings)
    follow(place)
    if doings != "-":
        cure(place, doings if doings.endswith("bob") else "")
        lib_tap.check(f"{name}: then all is quiet", place.json("status")["quiet"], place.status())
place = Place("a question comes first", ONE)
question(place)
lib_tap.equal("a person's question stands before what is urgent", [c.get("subject") for c in place.status()], ["human", "bob"])
place = Place("a question to a person among many mailboxes")
for n in range(52):
    place.run("send", "--as", "amy", "--new", f"w{n}", "hi")
    place.run("send", "--as", "amy", "--new", f"w{n}", "hi")
place.send("amy", "human", "which port?")
lib_tap.equal("however many mailboxes are fuller", [c.get("subject") for c in place.status()][:1], ["human"])
place = Place("a day with much that failed " + 60 * "x")
two_damages(place)
for letter in "abcdefghijkl":
    place.run("run", "--as", "lead", "--run", f"job-{letter}", "--", "false")
    place.send("amy", 40 * letter, "hi")
text = place.run("status", COLUMNS="80").stdout.splitlines()
lib_tap.equal("what is wrong with the workspace itself stands before what failed in it", [c["kind"] for c in place.status()][:2], ["damage", "blocked"])
lib_tap.check("12 lines are enough, with a long path and long names", sum(1 + (len(line) - 1) // 80 for line in text if line) == 12 and text[-2].startswith("... and "), text)
lib_tap.done()
