#!/usr/bin/env python3
"""No line that is appended rewrites a message.  For each member of a message in turn a line changes
it, without a chain and with the one that roger would have written; then every view says what the
first line says, before and after `rebuild`, without index and control file, and from the archive;
verify, seal, doctor and status name the line.  What only changes the state goes on working, as the
origin's own programs write it.

    ROGER=build/roger python3 tests/cli/t4705-rewritten.py
"""
import glob
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_forge  # noqa: E402
from lib_tap import check, done, equal  # noqa: E402

ROGER = os.path.abspath(os.environ["ROGER"])
JOURNAL = ".roger/messages.jsonl"
ENV = {name: value for name, value in os.environ.items() if not name.startswith("ROGER")}
TEXT = ["--issue", "app", "--metadata", '{"n":1.50,"k":["v"]}', "--key", "t:do:1"]
FORGED = {"issue_id": "evil", "from_phase": "eve", "to_phase": "carol", "run_counter": 7,
          "message_type": "decision", "content": "pay 10000 euro", "metadata": {"n": 2},
          "created_at": 1700000000000, "seq": 99, "epoch": 3, "idempotent_key": "t:do:2", "cycle_id": "9",
          "reply_to": "msg-1", "via": "bridge", "proved": "token", "theirs": 2}
VIEWS = [["inbox", "--as", "bob"], ["inbox", "--as", "carol"], ["list"], ["list", "--to", "carol"],
         ["list", "--from", "eve"], ["list", "--issue", "evil"], ["list", "--search", "10000"],
         ["list", "--search", "euro"], ["show", "ID"], ["trace", "ID"], ["show", "--thread", "ID"], ["log", "sends"]]
# What a look leaves, and where a state stands.
PASSING = {"damage", "line", "byte", "notes", "summary", "at", "altered"}


def roger(*words):
    return subprocess.run([ROGER, *words], env=ENV, capture_output=True, text=True)


def answer(*words):
    return json.loads(roger(*words, "--json").stdout or "{}")


def journal():
    with open(JOURNAL, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def lasting(value):
    if isinstance(value, dict):
        return {key: lasting(inner) for key, inner in value.items() if key not in PASSING}
    if isinstance(value, list):
        return [lasting(inner) for inner in value
                if not (isinstance(inner, dict) and inner.get("step") == "looked")]
    return value


def views(message):
    return {" ".join(view): lasting(answer(*[message if word == "ID" else word for word in view]))
            for view in VIEWS}


def tail_chain():
    chain = 0
    with open(JOURNAL, "rb") as file:
        for line in file:
            body, _, rest = line.rpartition(b',"chain":"')
            stated = int(rest[:16], 16) if body and len(rest) == 19 else None
            if stated is not None and lib_forge.over(chain, body) == stated:
                chain = stated
            else:
                chain = lib_forge.over(chain, line)
    return chain


def append_text(text):
    with open(JOURNAL, "a", encoding="utf-8") as file:
        file.write(text + "\n")


def append(line, chained):
    text = json.dumps({name: value for name, value in line.items() if name != "chain"},
                      separators=(",", ":"), ensure_ascii=False)
    if chained:
        text = text[:-1] + ',"chain":"%016x"}' % lib_forge.over(tail_chain(), text[:-1].encode())
    append_text(text)


def begin(name, read, theirs=False):
    os.mkdir(name)
    os.chdir(name)
    roger("init")
    roger("send", "--as", "ann", "--new", "bob", *TEXT, "pay 10 euro")
    if theirs:
        first = {name: value for name, value in journal()[0].items() if name not in ("idempotent_key", "cycle_id")}
        append(dict(first, id="msg-1-theirs", theirs=1), False)
    roger("send", "--as", "ann", "bob", "--issue", "app", "second")
    if read:
        roger("receive", "--as", "bob", "--limit", "1")


def remove(*patterns):
    for pattern in patterns:
        for name in glob.glob(f".roger/{pattern}"):
            os.unlink(name)


def end():
    os.chdir("..")


def rewrite(member, chained, read):
    what = f"{member}, {'chained' if chained else 'plain'}, {'read' if read else 'unread'}"
    begin(what.replace(", ", "-"), read, member == "theirs")
    message = "msg-1-theirs" if member == "theirs" else journal()[0]["id"]
    first = next(line for line in journal() if line["id"] == message)
    last = [line for line in journal() if line["id"] == message][-1]
    before = views(message)
    roger("seal", "--out", "seal")
    forged = dict(last)
    forged[member] = FORGED[member]
    append(forged, chained)
    place = len(journal())

    # An epoch in a line whose chain fits opens a session, as any such line may.
    opens = member == "epoch" and chained
    for step in ("as it is", "without index and control", "rebuilt"):
        if step == "without index and control":
            remove("messages.db*", "messages.control", "messages.checkpoint")
        if step == "rebuilt":
            roger("doctor", "rebuild")
        now = views(message)
        equal(f"{what}: {step}", {key for key in before if now[key] != before[key]}, set())
    found = [(f["file"], f["line"]) for f in answer("verify")["findings"] if f["kind"] == "rewritten"]
    equal(f"{what}: verify names it", found, [("messages.jsonl", place)])
    equal(f"{what}: so does the seal", roger("verify", "--seal", "seal").returncode, 65)
    breaches = [b for b in answer("doctor")["breaches"] if b["severity"] == "damage"]
    equal(f"{what}: and doctor, once", [(b["kind"], b["line"]) for b in breaches], [("message", place)])
    check(f"{what}: and status", f"messages.jsonl:{place}" in roger("status").stdout)

    if member not in ("theirs",) and not opens:
        again = answer("send", "--as", "ann", "bob", *TEXT, "pay 10 euro")
        check(f"{what}: the true retry is a duplicate", again.get("duplicate"), again)
        equal(f"{what}: another text is refused",
              roger("send", "--as", "ann", "bob", *TEXT, "pay 10000 euro").returncode, 77)
    roger("receive", "--as", "bob")
    equal(f"{what}: archived", roger("archive", message).returncode, 0)
    with open(".roger/messages_archive/app.jsonl", encoding="utf-8") as file:
        kept = next(line for line in map(json.loads, file) if line["id"] == message)
    state = {"read", "read_at", "chain", "claimed_by", "claimed_until", "claimed_at"}
    equal(f"{what}: as it was", {key: kept.get(key) for key in first if key not in state},
          {key: value for key, value in first.items() if key not in state})
    append(forged, chained)
    shown = answer("show", message)["messages"][0]
    equal(f"{what}: and stays so", (shown["content"], shown["from"], shown["to"], shown["issue"]),
          (first["content"], "ann", "bob", "app"))
    end()


for number, member in enumerate(FORGED):
    rewrite(member, number % 2 == 0, number % 4 < 2)
for chained, read in ((False, False), (True, True), (True, False)):
    rewrite("content", chained, read)

# A first line that somebody altered is to blame; the later ones, which roger wrote truly, are not.
ALTERED = {"issue": ('"app"', '"apx"'), "sender": ('"ann"', '"eve"'), "recipient": ('"bob"', '"eve"'),
           "run": ('"run_counter":1', '"run_counter":7'), "type nobody has": ('"context"', '"content"'), "content": ("pay 10", "pay 90"),
           "metadata": ('["v"]', '["w"]'), "time": ('"created_at":1', '"created_at":2'), "number": ('"seq":1', '"seq":9'),
           "key": ("t:do:1", "t:do:2"), "cycle": ('"cycle_id":"1"', '"cycle_id":"9"'), "id": ("msg-1", "msg-2")}


def alter_first(member, how):
    begin(f"altered-{member}-{how}", True)
    with open(JOURNAL, encoding="utf-8") as file:
        lines = file.read().splitlines(True)
    message = json.loads(lines[0])["id"]
    place = next(i for i, later in enumerate(lines) if i and json.loads(later)["id"] == message)
    before, after = ALTERED[member]
    assert before in lines[0] and len(before) == len(after)
    lines[0] = lines[0].replace(before, after)
    if how == "without its chain":
        lines[0] = lines[0].replace('"chain"', '"chaim"')
    with open(JOURNAL, "w", encoding="utf-8") as file:
        file.write("".join(lines))
    if how == "seen by the index first":
        remove("messages.db*", "messages.control", "messages.checkpoint")
        roger("list")
        roger("status")
    innocent = [("messages.jsonl", i + 1) for i in range(len(lines)) if i > (how == "without its chain")] + [
        ("send-log/ann.jsonl", 1)]
    for step in ("as it is", "rebuilt", "archived"):
        what = f"first line, {member}, {how}, {step}"
        if step == "rebuilt":
            roger("doctor", "rebuild")
        if step == "archived":
            done = roger("archive", message)
            equal(f"{what}: it is", done.returncode, 0)
        found = {(f["file"], f["line"]) for f in answer("verify")["findings"]}
        told = {(b["file"], b["line"]) for b in answer("doctor")["breaches"] if b["severity"] == "damage"}
        equal(f"{what}: verify blames no other", found & set(innocent), set())
        check(f"{what}: but it", found, answer("verify"))
        equal(f"{what}: doctor says the same", told, found)
        check(f"{what}: status, too", f"messages.jsonl:{place + 1}" not in roger("status").stdout)
    end()


for member in ALTERED:
    for how in ("seen by verify first", "seen by the index first", "without its chain"):
        alter_first(member, how)

# What the send log copied from a line that cannot be read, and that no later line repeats, is not known to be wrong.
begin("unreadable", False)
with open(JOURNAL, encoding="utf-8") as file:
    text = file.read()
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write(text.replace('"content":', '"content"x', 1))
told = answer("doctor")["breaches"]
equal("its entry is not blamed", {(b["file"], b["line"]) for b in told if b["severity"] == "damage"}, {("messages.jsonl", 1)})
check("but named", [b for b in told if b["file"] == "send-log/ann.jsonl" and "cannot be read" in b["what"]], told)
end()

# What the origin writes when it has read: its eleven members, numbers in its own digits.
begin("origin", False)
first = journal()[0]
ELEVEN = ["id", "issue_id", "from_phase", "to_phase", "run_counter", "message_type", "content", "metadata",
          "read", "created_at", "read_at"]
mark = {name: first[name] for name in ELEVEN}
mark.update(metadata={"k": ["v"], "n": 1.5}, read=True, read_at=first["created_at"] + 5)
append(mark, False)
equal("the origin's read mark is no damage", roger("verify").returncode, 0)
shown = answer("show", first["id"])["messages"][0]
equal("what it lacks stays", (shown["read"], shown["seq"], shown["key"], shown["cycle"]), (True, 1, "t:do:1", "1"))
check("a true keyed retry is a duplicate", answer("send", "--as", "ann", "bob", *TEXT, "pay 10 euro").get("duplicate"))
equal("also after a rebuild", (roger("doctor", "rebuild").returncode,
      answer("send", "--as", "ann", "bob", *TEXT, "pay 10 euro").get("duplicate")), (0, True))
equal("doctor finds nothing", roger("doctor").returncode, 0)

# What somebody rewrote and the origin repeats in good faith is told once, and another rewrite again.
append(dict(first, content="pay 10000 euro"), False)
append(dict(mark, content="pay 10000 euro"), False)
equal("a repeated rewrite is told once", [f["line"] for f in answer("verify")["findings"]], [4])
equal("it is accepted", roger("dismiss", "messages.jsonl:4", "--reason", "known").returncode, 0)
equal("and no damage any more", roger("verify").returncode, 0)
equal("nor for status", answer("status").get("damage"), None)
append(dict(mark, content="pay 99999 euro"), False)
equal("another one is", [f["line"] for f in answer("verify")["findings"] if f["kind"] == "rewritten"], [6])
equal("the first line counts", answer("show", first["id"])["messages"][0]["content"], "pay 10 euro")
end()

# Whoever reads such a line may die before it is noted, and a copy may be taken then: others still tell it.
begin("unnoted", False)
roger("doctor", "rebuild")
append(dict(journal()[0], content="pay 10000 euro"), False)
place = len(journal())
roger("list")
remove("damage.jsonl", "messages.control")
check("a line that only the index knows is told", f"messages.jsonl:{place}" in (answer("agents").get("damage") or ""), answer("agents"))
check("and noted", os.path.exists(".roger/damage.jsonl"))
roger("doctor", "rebuild")
equal("once", open(".roger/damage.jsonl", encoding="utf-8").read().count("rewritten"), 1)
end()

# Another program's messages with a key that was used do not answer for it.
begin("twins", False)
sent = journal()[0]
append(dict(sent, id="msg-1-twin", content="pay 10000 euro"), False)
append(dict(sent, id="msg-1-carol", to_phase="carol"), False)
for step in ("as it is", "rebuilt"):
    again = answer("send", "--as", "ann", "bob", *TEXT, "pay 10 euro")
    equal(f"the true retry is the first message, {step}", [m["id"] for m in again.get("messages", [])], [sent["id"]])
    roger("doctor", "rebuild")
notes = [note["what"] for note in answer("doctor")["breaches"] if note["severity"] == "note"]
check("doctor names the twin", any("msg-1-twin" in note and "with the key of one before it" in note for note in notes), notes)
end()

# A program that repeats all it has read repeats the chain, too: of one message, or of several in a row.
for count in (1, 2, 3):
    begin(f"copies-{count}", False)
    roger("send", "--as", "ann", "bob", "--issue", "app", "third")
    for line in journal()[:count]:
        append_text(json.dumps(dict(line, read=True, read_at=line["created_at"] + 5), separators=(",", ":"), ensure_ascii=False))
    for step in ("at the end", "before a line of roger's"):
        found = answer("verify")
        equal(f"{count} lines copied, {step}: no damage", (found["damaged"], [f["kind"] for f in found["findings"]]), (0, ["foreign"] * count))
        equal(f"{count} lines copied, {step}: nor for doctor", roger("doctor").returncode, 0)
        roger("send", "--as", "ann", "bob", "--issue", "app", "behind")
    end()

# Neighbours that are copied as they are fit each other; the line of roger's behind them is not to blame.
for looks in (True, False):
    begin(f"neighbours-{looks}", False)
    roger("send", "--as", "ann", "bob", "--issue", "app", "third")
    with open(JOURNAL, encoding="utf-8") as file:
        for line in file.read().splitlines()[:2]:
            append_text(line)
            if looks:
                roger("log", "sends")
    roger("send", "--as", "ann", "bob", "--issue", "app", "behind")
    equal("a line behind copies is not blamed", [f for f in answer("verify")["findings"] if f["line"] == len(journal())], [])
    equal("nor is any of them", (roger("doctor").returncode, [f["kind"] for f in answer("verify")["findings"]]), (0, ["foreign"] * 2))
    end()

# In any other log, too: roger appends after what was copied there.
for copied in ([0], [1], [0, 1]):
    begin(f"copies-in-logs-{len(copied)}-{copied[0]}", False)
    roger("send", "--as", "ann", "bob", "--issue", "app", "third")
    roger("log", "sends")
    for name in (".roger/send-log/ann.jsonl", ".roger/logs/activity.log.jsonl"):
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines(True)
        with open(name, "a", encoding="utf-8") as file:
            file.write("".join(lines[number] for number in copied))
    for text in ("after", "after that"):
        for view in (("log", "sends"), ("log", "activity")):
            roger(*view)
        roger("send", "--as", "ann", "bob", "--issue", "app", text)
    equal(f"copies {copied} in other logs: nothing is seen twice", len(answer("log", "sends")["attempts"]), 5)
    found = answer("verify")
    equal(f"copies {copied} in other logs: none is out of place", [f["kind"] for f in found["findings"]], ["foreign"] * 2 * len(copied))
    equal(f"copies {copied} in other logs: nothing is damaged", (roger("verify").returncode, roger("doctor").returncode), (0, 0))
    end()

# Put in where the next line of roger's was there already, they are out of place from the first one on.
begin("put-in", False)
for text in ("third", "behind"):
    roger("send", "--as", "ann", "bob", "--issue", "app", text)
with open(JOURNAL, encoding="utf-8") as file:
    lines = file.read().splitlines(True)
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write("".join(lines[:3] + lines[:2] + lines[3:]))
remove("messages.control", "messages.checkpoint", "message-state.json")
found = [f for f in answer("verify")["findings"] if f["kind"] == "altered"]
check("the first copy is named, too", [f["line"] for f in found] == [5] and "from line 4 on" in found[0]["what"], found)
end()

# A line that is altered, too, is recorded as such: of many at once, and where it was known to rewrite its message.
def recorded(line):
    with open(".roger/damage.jsonl", encoding="utf-8") as file:
        return [entry["kind"] for entry in map(json.loads, file) if entry["line"] == line]


for count, step in ((99, "status"), (99, "verify"), (260, "verify")):
    begin(f"many-{count}-{step}", False)
    first = journal()[0]
    for number in range(count):
        append(dict(first, content=f"pay {number}000 euro"), False)
    roger("send", "--as", "ann", "bob", "--issue", "app", "behind")
    with open(JOURNAL, encoding="utf-8") as file:
        lines = file.read().splitlines(True)
    lines.insert(len(lines) - 1, json.dumps(dict(first, content="pay 200000 euro"), separators=(",", ":"), ensure_ascii=False) + "\n")
    with open(JOURNAL, "w", encoding="utf-8") as file:
        file.write("".join(lines))
    remove("messages.control", "messages.checkpoint", "message-state.json")
    roger(step)
    if step == "verify":
        equal(f"{count + 1} lines: one verify records all", [n for n in range(3, len(lines)) if not recorded(n)], [])
    roger("verify")
    equal(f"{count + 1} lines, {step} first: the last is known to be altered", recorded(len(lines) - 1)[-1:], ["altered"])
    equal(f"{count + 1} lines, {step} first: all are recorded", [n for n in range(3, len(lines)) if not recorded(n)], [])
    size = os.path.getsize(".roger/damage.jsonl")
    roger("verify")
    equal(f"{count + 1} lines, {step} first: each once", os.path.getsize(".roger/damage.jsonl"), size)
    end()

# Of more than are recorded at once nobody says how many there are.
begin("too-many", False)
first = journal()[0]
for number in range(1100):
    append(dict(first, content=f"pay {number}000 euro"), False)
told = roger("verify").stdout
equal("verify shows the first, and says how many more there are", (told.count("messages.jsonl line "), "\n... and 100 more damaged places\n" in told, "damaged in 1100 places" in told), (1000, True, True))
equal("so does doctor", "  ... and 100 more\n" in roger("doctor").stdout, True)
equal("status says that there are at least that many", ", and at least 1099 more places" in roger("status").stdout, True)
equal("so does the note beside an answer", " (and at least 1099 more); " in roger("count").stderr, True)
end()

# What roger writes behind such a copy is known as roger's, also by who begins to read there.
begin("behind-a-copy", False)
roger("send", "--as", "ann", "bob", "--key", "t:do:9", "--confirm", "read", "--within", "1ms", "read me")
for line in journal()[:2]:
    append_text(json.dumps(dict(line, read=True, read_at=line["created_at"] + 5), separators=(",", ":"), ensure_ascii=False))
    roger("log", "sends")
roger("receive", "--as", "bob")
equal("a message that was read after a copied line has its entry", [a["outcome"] for a in answer("log", "sends", "--from", "ann")["attempts"]
      if a["key"] == "t:do:9"][-1:], ["delivered"])
equal("and doctor misses nothing", roger("doctor").returncode, 0)
end()

# A higher attempt may be of another cycle; that of another program's line does not open the key again.
for cycle, attempt in (("9", 2), ("zz", 7)):
    begin(f"moved-{cycle}", False)
    sent = journal()[0]
    append(dict(sent, cycle_id=cycle, attempt=attempt), False)
    for step in ("as it is", "rebuilt"):
        again = answer("send", "--as", "ann", "bob", *TEXT, "pay 10 euro")
        equal(f"moved to {cycle}, the true retry is a duplicate, {step}",
              (again.get("duplicate"), [m["id"] for m in again.get("messages", [])]), (True, [sent["id"]]))
        equal(f"moved to {cycle}, another text is refused, {step}",
              roger("send", "--as", "ann", "bob", *TEXT, "pay 10000 euro").returncode, 77)
        roger("doctor", "rebuild")
    equal(f"moved to {cycle}, nothing is stored twice", len({line["id"] for line in journal()}), 2)
    roger("log", "cycle", "new", "--as", "ann")
    again = answer("send", "--as", "ann", "bob", *TEXT, "pay 10 euro")
    equal(f"moved to {cycle}, a new cycle opens the key", (again.get("duplicate"), len({line["id"] for line in journal()})), (False, 3))
    end()

# A line without run_counter counts as one of the first run, which another line may leave out.
begin("counter", False)
line = {name: first[name] for name in ELEVEN if name != "run_counter"}
line["id"] = "msg-1-seed"
append(line, False)
equal("it is a message", [m["pass"] for m in answer("list", "--to", "bob")["messages"]][-1], 1)
equal("for verify", (answer("verify")["messages"], answer("verify")["strays"]), (3, 0))
equal("for doctor", roger("doctor").returncode, 0)
roger("receive", "--as", "bob")
append(line, False)
equal("what lacks it is no rewrite", roger("verify").returncode, 0)
end()
done()
