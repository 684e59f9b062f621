#!/usr/bin/env python3
# examples/roger.py, a binding of 120 lines that is made from roger_ops(): what it sends, reads and
# answers is what the command line says; every verb is there; errors name the member.
# runner: plain
import json
import os
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
PROGRAM = os.path.abspath(os.environ["ROGER"])
BUILD = Path(os.environ.get("ROGER_BUILD", Path(PROGRAM).parent))
os.environ["LIBROGER"] = str(BUILD.resolve() / "src/libroger.so")
os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
sys.path.insert(0, str(SOURCE / "examples"))
import roger  # noqa: E402

number = 0


def check(name, good, told=""):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}" + ("" if good else f"\n# {told}"), flush=True)


def command(*words):
    return json.loads(subprocess.run([PROGRAM, *words, "--json"], capture_output=True, text=True).stdout)


subprocess.run([PROGRAM, "init", "-q"], check=True)
with roger.open(".") as mail:
    sent = mail.send(from_="plan", to=["bob", "carol"], content="start here", type="result", metadata='{"a":1}', new=True)
    shown = command("show", *(one["id"] for one in sent["messages"]))["messages"]
    check("both are stored", [(one["from"], one["to"], one["type"], one["content"], one["metadata"]) for one in shown] ==
          [("plan", name, "result", "start here", {"a": 1}) for name in ("bob", "carol")], shown)
    check("the reply has the number", sent["seq"] == shown[0]["seq"] == 1, sent)
    found = mail.inbox(agent="bob")
    check("an inbox is the command's", [one["id"] for one in found["messages"]] == [one["id"] for one in command("inbox", "--as", "bob")["messages"]], found)
    acked = mail.ack(agent="bob", ids=["plan#1"], outcome="blocked", note="no disk")["messages"]
    check("an enum is a word", acked[0]["ack_outcome"] == "blocked" and acked[0]["read"] is True, acked)
    many = mail.send_many(items=[{"from": "plan", "to": ["bob"], "content": str(i)} for i in range(20)])
    check("records in a request", many["stored"] == 20 and [one["seq"] for one in many["items"]] == list(range(2, 22)), many)
    try:
        mail.show(ids=["msg-none"])
        check("an error is raised", False)
    except roger.Error as error:
        check("an error has its code and its member", error.args[:2] == (-66, "ids"), error.args)
    try:
        mail.show(idz=[])
        check("a member that there is not", False)
    except KeyError as error:
        check("a member that there is not", "idz" in str(error), error)
    check("status", mail.status()["unread"] == command("status")["unread"])
statuses = next(field for field in roger.until(lambda field: field.name is None, roger.OPS["runs"].contents.request.contents.fields) if field.name == b"status")
check("an enum has words for people beside its names", (statuses.names[2], statuses.labels[2]) == (b"suspect_delivery_failure", b"overdue"))
check("every verb is there", {"send", "trace", "doctor", "seal"} <= set(roger.OPS) and len(roger.OPS) > 50, sorted(roger.OPS))
check("it is short", len((SOURCE / "examples/roger.py").read_text().splitlines()) < 120)
print(f"1..{number}")
