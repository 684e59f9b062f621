#!/usr/bin/env python3
"""Every example of every help text, and so of every manual page, and of roger.1 itself, runs as it is: in a workspace
with the agents, messages, runs and files that examples speak of. What needs a terminal, a network or another program is
listed here, with the reason."""
# runner: plain
import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
sys.path.insert(0, str(SOURCE / "tests/cli"))
sys.dont_write_bytecode = True
import lib_tap

PROGRAM = Path(os.environ["ROGER"]).resolve()
HERE = Path.cwd() / "t0006"
LIVE, KEPT, BIN = HERE / "live", HERE / "kept", HERE / "bin"
WORK = LIVE / "work"
LEFT_OUT = {
    "roger move postgres://roger@db.example/roger#team": "a database elsewhere; tests/postgres has it",
    "claude mcp add roger -- roger mcp --for claude": "a program of others; tests/agents has it",
    "curl --unix-socket \"$XDG_RUNTIME_DIR\"/roger/*.sock http://localhost/v1/status": "a program of others; t6401 asks the same",
    "roger trust --accept SHA256": "SHA256 stands for what --show prints; t2004 has it",
    "roger top": "a terminal; t6006 has it",
    "roger top --as lead": "a terminal; t6006 has it",
}
# They go on until they are told to stop: that they began is all that is asked.
ENDLESS = {"roger wake", "roger bridge", "roger bridge --timeout 10s --json", "roger log -f", "roger serve", "roger serve --listen 127.0.0.1:8484",
           "roger serve --listen 127.0.0.1:8484 --also team-b=/srv/team-b",
           "roger ui", "roger ui --as ann --right look", "roger ui --listen 127.0.0.1:8485", "roger mcp --as bob"}
# Who reads once a letter is on its way again.
READER = "(until roger dead --status redelivered --print id | grep -q .; do sleep 0.05; done; roger receive -q --as carol --limit 99) >reader 2>&1 &"
# What is there before the examples of a command, or before one.
BEFORE = {
    "roger serve --listen 127.0.0.1:8484 --also team-b=/srv/team-b": "roger init -q team-b",
    "setup": "rm .roger/config.yaml",
    "ack": "roger send -q --as plan bob x",
    "agents retire": "roger send -q --as worker-2 bob x; roger receive -q --as carol",
    "roger agents retire carol --undo": "roger agents retire carol -q",
    "dead redeliver": READER,
    "roger dead redeliver dl-5f0c...": READER,
    "dispatch": "rm .roger/state/subagent-delivery-watchdog/*",
    "runs forward": "roger complete build-7 -q --result done; roger receive -q --as lead --limit 99",
    "roger log --import other-tool.log.jsonl": "cp entry.json other-tool.log.jsonl",
    "run": "rm .roger/state/subagent-delivery-watchdog/*",
    "roger dismiss build-7 --reason 'the mirror was down; build-8 passed'": "roger complete build-7 -q --failed",
    "report": "for n in 2 3 4 5; do roger log cycle new -q; done",
    "roger dismiss messages.jsonl:12 --reason 'bad disk, bob was asked to resend'": "sed -i '12s/x/y/' .roger/messages.jsonl; roger verify -q || :",
    "roger dismiss messages.jsonl --reason 'restored the backup of Monday'": "sed -i '$d' .roger/messages.jsonl; roger verify -q || :",
    "roger bridge ingest --to bob --unnumbered --file .roger/triggers/.skipped/NAME": "mkdir -p .roger/triggers/.skipped; echo '(PLAN #9): late' >.roger/triggers/.skipped/NAME",
    "roger restore /media/usb/app-42.tar --to ~/project": "roger backup -q usb/app-42.tar",
    "roger verify --seal app-42.seal": "roger seal -q --out app-42.seal",
    "roger verify --seal /media/usb/app-42.seal": "roger seal -q --out usb/app-42.seal",
    "roger export app-42 --html --seal app-42.seal --out app-42.html": "roger seal -q --out app-42.seal",
    "roger token revoke bob": "roger token new -q bob --right act",
}
AS = {"dismiss": "lead"}
# An id stands for one that only this prints.
ID = {"nack": "roger claim --as tests --worker w1 --print id", "runs forward": "roger list --to lead --newest --limit 1 --print id",
      "dead": "roger dead --print id | head -n 1", "dead redeliver": "roger dead --print id | head -n 1", "dismiss": "roger dead --print id | head -n 1"}

ENV = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER", "XDG", "CLICOLOR"))}
ENV |= {"PATH": f"{BIN}:{ENV['PATH']}", "HOME": str(HERE / "home"), "XDG_STATE_HOME": str(LIVE / "state"), "XDG_RUNTIME_DIR": str(HERE / "run"),
        "ROGER_AGENT": "bob", "ROGER_TRUST_COMMANDS": "1", "PAGER": "cat", "BROWSER": "true"}


def free_port(_):
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


def run(text):
    return subprocess.run(["timeout", "60", "bash", "-c", text], cwd=WORK, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def must(text):
    done = run(text)
    if done.returncode > 1:
        raise SystemExit(f"Bail out! {text}: {done.returncode} {done.stderr}")
    return done.stdout


def prepare():
    for folder in (WORK, BIN, HERE / "home/.config/fish/completions", HERE / "run", WORK / "usb"):
        folder.mkdir(parents=True)
    (HERE / "run").chmod(0o700)
    for name in ("claude", "codex"):
        (BIN / name).write_text("#!/bin/sh\necho 1.0\n")
    (BIN / "make").write_text("#!/bin/sh\necho checked\n")
    for path in BIN.iterdir():
        path.chmod(0o755)
    for path in PROGRAM.parent.glob("roger*"):
        if path.is_file() and os.access(path, os.X_OK):
            (BIN / path.name).symlink_to(path)
    must("""roger init -q
        for to in bob tests carol worker lead; do for n in 1 2 3; do roger send -q --new --issue app-42 --as plan $to "schema $n x"; done; done
        for n in 1 2 3; do roger send -q --new --issue app-42 --as lead bob "lead $n"; done
        roger send -q --as alice dave x --key app-42:escalation:1
        for who in bob alice; do roger send -q --new --as $who builder x; done
        roger dispatch build-7 -q --as lead --within 1s --issue app-42
        printf '#!/bin/sh\\necho done >report.md\\n' >agent.sh
        chmod +x agent.sh
        printf 'groups:\\n  workers: [worker, tests]\\nwake:\\n  agents:\\n    builder: [roger, inbox, --as, builder]\\n' >.roger/config.yaml
        echo report | tee report.md plan.md >/dev/null; echo '(LEAD #7): hand over' >handover.txt
        echo '{"to":"bob","content":"x"}' >messages.jsonl; roger log -q app-1 TOOL_EXEC
        head -n 1 .roger/logs/activity.log.jsonl | sed 's/,"chain":"[^"]*"//' >entry.json""")
    # Messages of the ids that examples name, as another program writes them.
    lines = [{"id": name, "issue_id": "app-42", "from_phase": "plan", "to_phase": to, "run_counter": 1, "message_type": "data", "content": "x",
              "metadata": None, "read": name.endswith("abcd"), "created_at": 1736328000000, "read_at": 1736328000001 if name.endswith("abcd") else None}
             for name, to in (("msg-1736328000000-0123abcd", "bob"), ("msg-1736328000000-abc", "bob"), ("msg-1795230875337-e08637aa662d4377", "tests"))]
    with open(WORK / ".roger/messages.jsonl", "a", encoding="utf-8") as journal:
        journal.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    for n in range(3):
        run("roger send -q --as alice carol given-up --key app-42:ask:1 --confirm read --within 1ms")
    shutil.copytree(LIVE, KEPT)


def try_one(command, example):
    if example in LEFT_OUT:
        return
    shutil.rmtree(LIVE)
    shutil.copytree(KEPT, LIVE)
    before = [BEFORE[one] for one in (command, example) if one in BEFORE]
    text = example.replace("/media/usb", "usb").replace("~/project", "project").replace("/srv/team-b", "team-b")
    # Another run of this test may have these.
    text = re.sub(r"127\.0\.0\.1:\d+", free_port, text)
    if command in ID:
        before.append(f"id=$({ID[command]})")
        text = re.sub(r"(msg|dl)-[-0-9a-f.]+", "$id", text)
    if command in AS:
        text = f"export ROGER_AGENT={AS[command]}; {text}"
    text = f"timeout 0.5 {text}" if example in ENDLESS else text
    # What was begun in the background has ended before the next example takes its place.
    done = run("\n".join([*before, text, "status=$?; wait; exit $status"]))
    taken = command == "ui" and "Address already in use" in done.stderr
    lib_tap.check(f"{command}: {example}", taken or done.returncode in ((0, 1, 124) if example in ENDLESS else (0, 1)),
                  (done.returncode, done.stdout[-300:], done.stderr))


prepare()
seen = set()
for one in json.loads(must("roger help --json"))["commands"]:
    for example in one["examples"]:
        seen.add(example)
        try_one(one["name"], example)
manual = (SOURCE / "docs/man/roger.1").read_text().split(".Sh EXAMPLES")[1].split(".Sh")[0]
for block in re.findall(r"^\.Bd.*?\n(.*?)^\.Ed", manual, re.S | re.M):
    try_one("roger.1", block.replace("\\e", "\\"))
lib_tap.equal("what is left out is an example", sorted((LEFT_OUT.keys() | ENDLESS) - seen), [])
lib_tap.done()
