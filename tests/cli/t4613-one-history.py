#!/usr/bin/env python3
"""What happened is told once, and by every view alike: who read, who claimed and when, who dispatched, when a child ended,
what is lost, what time alone has made true; also where another program wrote the line, where an owner has retired since, where clocks went back.

    ROGER=build/roger python3 tests/cli/t4613-one-history.py
"""
import json
import os
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib_tap import check, done, equal  # noqa: E402

ROGER = os.path.abspath(os.environ["ROGER"])
ENV = {name: value for name, value in os.environ.items() if not name.startswith("ROGER")}
JOURNAL = ".roger/messages.jsonl"
ELEVEN = ["id", "issue_id", "from_phase", "to_phase", "run_counter", "message_type", "content", "metadata", "read", "created_at", "read_at"]


def roger(*words, stdin=""):
    return subprocess.run([ROGER, *words], env=ENV, capture_output=True, text=True, input=stdin)


def answer(*words, **more):
    return json.loads(roger(*words, "--json", **more).stdout or "{}")


def lines():
    with open(JOURNAL, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def by_others(message, **more):
    """As another program writes a later state: its eleven members and no chain."""
    line = {name: message.get(name) for name in ELEVEN}
    line.update(more)
    with open(JOURNAL, "a", encoding="utf-8") as file:
        file.write(json.dumps(line, separators=(",", ":")) + "\n")


def steps(message):
    return {step["step"]: step for step in answer("trace", message)["traces"][0]["steps"]}


def begin(name):
    os.mkdir(name)
    os.chdir(name)
    roger("init")


# ----------------------------------------------------------- what others mark

begin("marked")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("send", "--as", "ann", "bob", "two")
one, two = lines()
by_others(one, read=True, read_at=one["created_at"] + 5)
by_others(two, acked_at=two["created_at"] + 5, ack_outcome="done")
found = steps(one["id"])
equal("a read mark of another program is one, at its line", (found["read"]["words"], found["read"]["file"], found["read"]["line"]), ("marked read by another program", "messages.jsonl", 3))
check("and no look", "looked" not in found, found)
equal("timeline says the same", [e["words"] for e in answer("timeline", "general")["events"] if e["kind"] == "read"], ["marked read by another program"])
found = steps(two["id"])
check("so is an ack", "another program" in found["acknowledged"]["words"], found)
check("beside which nobody says that it was never looked at", "never looked" not in answer("trace", two["id"])["traces"][0]["summary"])
equal("report counts the mark as read, and no look", [answer("report")[name] for name in ("looked", "read", "acknowledged")], [0, 1, 1])
by_others(two, acked_at=two["created_at"] + 9, ack_outcome="done")
roger("ack", two["id"], "--as", "bob", "--outcome", "rejected")
said = [(step["step"], ", run by" in step["words"]) for step in answer("trace", two["id"])["traces"][0]["steps"]]
equal("each of another time is another ack, and only roger's says who ran it", said,
      [("stored", False), ("acknowledged", False), ("acknowledged", False), ("looked", True), ("read", True), ("acknowledged", True)])
equal("an acknowledgement that is repeated is shown as such, and a correction with what it corrects",
      [[e["words"].split(", run by")[0] for e in told if e["step" if "step" in e else "kind"].startswith("acknowledged")] for told in (answer("trace", two["id"])["traces"][0]["steps"], answer("timeline", "general")["events"])],
      [["done, written by another program", "done, again, written by another program", "rejected, corrects done"]] * 2)
equal("one that was not read is read with roger's", [answer("report")[name] for name in ("looked", "read", "acknowledged")], [1, 2, 1])
roger("send", "--as", "ann", "bob", "three", "--key", "t:a:1", "--confirm", "read", "--within", "1ms")
by_others(lines()[-1], read=True, read_at=int(time.time() * 1000))
equal("a send that waited has its reader then", [(a["outcome"], a["message"] == lines()[-1]["id"]) for a in answer("log", "sends", "--key", "t:a:1")["attempts"]], [("delivered", True)])
equal("late, by every view", ([answer("report")[name] for name in ("late", "timeouts")], "delivered" in steps(lines()[-1]["id"])), ([1, 0], True))
os.chdir("..")

begin("spoke")
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("bridge:\n  file_only: [filer]\n")
roger("send", "--as", "ann", "--new", "filer", "for the file")
roger("bridge", "--once")
os.unlink(".roger/triggers/filer.txt") if os.path.exists(".roger/triggers/filer.txt") else None
with open(".roger/triggers/ann.txt", "w", encoding="utf-8") as file:
    file.write("(filer #1): something else\n")
roger("bridge", "--once")
found = steps(lines()[0]["id"])
if check("who only knows files and speaks again has read", "read" in found, found):
    equal("in these words", found["read"]["words"], "spoke again after the hand-out")
os.chdir("..")

begin("again")
roger("send", "--as", "ann", "--new", "bob", "one")
one = lines()[0]
roger("receive", "--as", "bob")
by_others(one, read=False, read_at=None)
equal("what another program marks as unread is unread, in every view", ([answer("report")[name] for name in ("read", "unread")], answer("trace", one["id"])["traces"][0]["reached"], answer("inbox", "--as", "bob")["messages"][0]["read"]), ([0, 1], "looked", False))
roger("receive", "--as", "bob")
equal("and read once it is read again", ([answer("report")[name] for name in ("read", "unread", "looked")], answer("trace", one["id"])["traces"][0]["reached"]), ([1, 0, 1], "read"))
equal("both readings are history", [e["kind"] for e in answer("timeline", "general")["events"]].count("read"), 2)
equal("after a rebuild, too", (roger("doctor", "rebuild").returncode, [answer("report")[name] for name in ("read", "unread", "looked")]), (0, [1, 0, 1]))
by_others(one, id="future", created_at=one["created_at"] + 86400000)
roger("receive", "--as", "bob")
check("a clock ahead makes no delay", "clock" in steps("future")["read"]["words"] and answer("report")["latency_max_ms"] < 86400000, steps("future"))
os.chdir("..")

# --------------------------------------------------------------------- claims

begin("claims")
roger("send", "--as", "ann", "--new", "--batch", stdin="".join(json.dumps({"to": "bob", "content": f"m{n}"}) + "\n" for n in range(40)))
claimed = answer("claim", "--as", "bob", "--worker", "w", "--limit", "50")["messages"]
told = [steps(message["id"]) for message in claimed]
equal("forty are claimed", len(claimed), 40)
check("each says when, and by whom", all(s["claimed"]["at"] and s["claimed"]["who"] == "w" for s in told), told[-1])
check("the line says so", all(line["claimed_at"] for line in lines()[40:]))
equal("report counts each look", answer("report")["looked"], 40)
equal("once it is rebuilt, too", (roger("doctor", "rebuild").returncode, [steps(m["id"])["claimed"]["at"] for m in claimed]), (0, [s["claimed"]["at"] for s in told]))
roger("ack", claimed[0]["id"], "--as", "bob", "--worker", "w")
roger("nack", claimed[1]["id"], "--as", "bob", "--worker", "w")
check("an ack keeps it, a nack too", steps(claimed[0]["id"])["claimed"]["at"] and steps(claimed[1]["id"])["claimed"]["at"])
os.chdir("..")

# ----------------------------------------------------------------------- runs

begin("runs")
roger("dispatch", "r1", "--as", "lead", "--child", "kid")
roger("send", "--as", "kid", "--new", "lead", "hello")
roger("send", "--as", "lead", "--new", "heir", "hello")
roger("retire", "lead", "--to", "heir")
events = {e["kind"]: e for e in answer("timeline", "--run", "r1")["events"]}
equal("who dispatched stays who did, whoever inherits", events["dispatched"]["actor"], "lead")
roger("dispatch", "r2", "--as", "heir", "--child", "kid")
done_ = subprocess.run([ROGER, "run", "--run", "r3", "--as", "heir", "--", "sh", "-c", "exit 3"], env=ENV, capture_output=True, text=True)
document = ".roger/state/subagent-delivery-watchdog/r3.json"
with open(document, encoding="utf-8") as file:
    ended = json.load(file)["endedAt"]
before = [e["at"] for e in answer("timeline", "--run", "r3")["events"] if e["kind"] == "failed"]
time.sleep(0.05)
with open(document, encoding="utf-8") as file:
    text = json.load(file)
# As a later judgement leaves it.
text["statusUpdatedAt"] = "2031-01-01T00:00:00.000Z"
with open(document, "w", encoding="utf-8") as file:
    json.dump(text, file)
after = [e["at"] for e in answer("timeline", "--run", "r3")["events"] if e["kind"] == "failed"]
equal("a child failed when it ended, whenever that was last judged", (before, after), ([ended], [ended]))
equal("it is lost while nobody has dealt with it", answer("report")["lost_runs"], 1)
message = [m for m in answer("list", "--to", "heir")["messages"] if "r3" in m["content"]][0]
roger("receive", "--as", "heir")
roger("ack", message["id"], "--as", "heir")
equal("and then for no view", (answer("report")["lost_runs"], [c for c in answer("status")["concerns"] if c["subject"] == "r3"]), (0, []))
roger("dispatch", "r4", "--as", "heir", "--child", "kid", "--within", "1s")
time.sleep(1.2)
told = [(e["at"], e["kind"]) for e in answer("timeline", "--run", "r4")["events"]]
time.sleep(0.01)
equal("an overdue run has one event for that, dated when it was due", ([(e["at"], e["kind"]) for e in answer("timeline", "--run", "r4")["events"]], told[1:]),
      (told, [(answer("runs", "r4")["runs"][0]["expected_by"], "due")]))
swept = roger("runs", "sweep").stdout
check("a sweep that finds one overdue says nothing of no trouble", "suspect" in swept and "no troubles" not in swept, swept)
os.chdir("..")

begin("byhand")
roger("dispatch", "r5", "--as", "lead", "--child", "kid")
roger("complete", "r5", "--as", "kid", "--result", "the result")
document = ".roger/state/subagent-delivery-watchdog/r5.json"
with open(document, encoding="utf-8") as file:
    text = json.load(file)
text.update(forwardedToMain=True, status="completed", statusReason="Completion receipt and confirmed forward.")
with open(document, "w", encoding="utf-8") as file:
    json.dump(text, file)
run = answer("runs", "r5")["runs"][0]
equal("what a document says against the mailbox is not believed", (run["status"], run["forwarded"]), ("done_but_not_forwarded", False))
check("and the contradiction is named", "though the run's document says so" in run["status_reason"], run["status_reason"])
equal("by report, too", (answer("report")["not_forwarded"], answer("report")["completed"]), (1, 0))
equal("and by timeline", [e["kind"] for e in answer("timeline", "--run", "r5")["events"] if e["kind"] == "forwarded"], [])
check("and by status", "done_but_not_forwarded" in roger("status", "--json").stdout, roger("status").stdout)
roger("receive", "--as", "lead")
run = answer("runs", "r5")["runs"][0]
equal("until it is read", (run["status"], run["forwarded"]), ("completed", True))
os.chdir("..")

# --------------------------------------------------------- clocks, and slips

begin("clocks")
roger("send", "--as", "ann", "--new", "bob", "one")
one = lines()[0]
by_others(one, read=True, read_at=one["created_at"] - 60000)
check("a reading before its sending has no delay", answer("report").get("latency_p50_ms") is None, answer("report"))
roger("archive", "--issue", "genral")
equal("what was asked for in vain is not known by that", roger("timeline", "genral").returncode, 66)
roger("runs", "forward", "r9", "--as", "ann")
equal("nor is a run", roger("timeline", "r9").returncode, 66)
os.chdir("..")

# ------------------------------------------------------------- altered lines

begin("altered")
for word in ("one", "two", "three"):
    roger("send", "--as", "ann", "--new", "bob", word)
with open(JOURNAL, encoding="utf-8") as file:
    text = file.read()
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write(text.replace('"two"', '"TWO"'))
roger("status")
for accepted in (False, True):
    if accepted:
        roger("dismiss", "messages.jsonl:2", "--reason", "seen")
    sends, report = answer("log", "sends")["attempts"], answer("report")
    equal(f"an altered line proves no attempt, to report as to sends, {'accepted' if accepted else 'open'}",
          [report["attempts"], report["delivered"], len(sends)], [2, 2, 2])
os.chdir("..")

# ------------------------------------------------- a line without its newline

begin("cut")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("receive", "--as", "bob")
by_others(lines()[0], id="msg-1700000000000-0123456789abcdef", content="by others", read=False, read_at=None)
with open(JOURNAL, "rb+") as file:
    file.truncate(os.path.getsize(JOURNAL) - 1)
roger("send", "--as", "ann", "--new", "carl", "two")
equal("a message of another program that only lacked its newline is mail", [m["content"] for m in answer("inbox", "--as", "bob")["messages"]],
      ["by others"])
equal("and known to all figures", answer("doctor")["breaches"], [])
os.chdir("..")

# ------------------------------------------------------------- who looked, and when

begin("looked")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
one, two = lines()
by_others(one, read=True, read_at=4070908800000)
bob = [agent for agent in answer("agents")["agents"] if agent["name"] == "bob"][0]
equal("what another program marks is no look of its agent, to any view",
      (bob.get("last_looked_at"), answer("status")["concerns"][0]["words"], "bob has never looked" in answer("why", two["id"])["words"]),
      (None, "bob has not looked yet: 1 unread", True))
by_others(two, read=True)
equal("read at an instant that nobody knows is read, in trace as in why",
      [", read, when is not known" in words for words in (answer("trace", two["id"])["traces"][0]["summary"], answer("why", two["id"])["words"])], [True, True])
os.chdir("..")

begin("inherited")
roger("send", "--as", "ann", "--new", "old", "one")
roger("send", "--as", "ann", "--new", "heir", "two")
roger("agents", "retire", "old", "--to", "heir")
one, two = lines()[:2]
why = answer("why", one["id"])
equal("of mail that another has got, every view says who is waited for", (why["words"].split(", ", 1)[1], why.get("next")),
      ("heir (for old) has never looked; 0 unread before it", "roger list --unread --to heir"))
equal("and what is before it", answer("trace", two["id"])["traces"][0]["summary"].split("; ")[1], "1 unread before it")
ENV["ROGER_AGENT"] = "heir"
roger("inbox")
del ENV["ROGER_AGENT"]
found = answer("trace", one["id"])["traces"][0]
check("and who looked at it", "heir (for old) looked at it" in found["summary"] and steps(one["id"])["looked"]["who"] == "heir", found)
roger("receive", "--as", "heir")
equal("a successor's reading is told like its own", [step["read"]["words"].split(", ")[1].split(" ")[0] for step in (steps(one["id"]), steps(two["id"]))], ["run", "run"])
os.chdir("..")

begin("unmarked")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
    roger("receive", "--as", "bob")
with open(JOURNAL, encoding="utf-8") as file:
    text = file.read()
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write(text.replace('"read":true', '"read":fals', 1))
roger("verify")
equal("mail whose reading was altered is unread, to its reader and to every view",
      (answer("inbox", "--as", "bob")["unread"], answer("status")["unread"], answer("report")["unread"], len(answer("list", "--unread", "--to", "bob")["messages"]),
       [b["what"] for b in answer("doctor")["breaches"] if b["kind"] == "control"]), (1, 1, 1, 1, []))
equal("and is handed over again", [m["content"] for m in answer("receive", "--as", "bob")["messages"]], ["one"])
os.chdir("..")


def alter(number, old, new):
    """Another program changes a line where it stands; roger is not told."""
    with open(JOURNAL, encoding="utf-8") as file:
        text = file.read().splitlines(True)
    assert old in text[number - 1] and len(old) == len(new)
    text[number - 1] = text[number - 1].replace(old, new)
    with open(JOURNAL, "r+", encoding="utf-8") as file:
        file.write("".join(text))


def views(message):
    """What each view says became of a message."""
    shown = answer("show", message)["messages"][0]
    report, status = answer("report"), answer("status")
    return {"show": [shown["read"], shown.get("claimed_by"), shown.get("altered")],
            "list": [[m["read"], m.get("claimed_by")] for m in answer("list", "--to", "bob")["messages"][:1]],
            "trace": sorted(steps(message)), "timeline": [e["kind"] for e in answer("timeline", "general")["events"] if e.get("message") and e["kind"] != "activity"],
            "figures": [report["messages"], report["read"], report["unread"], status["unread"]],
            "concerns": [[c["kind"], c["subject"]] for c in status["concerns"]]}


begin("altered-claim")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("claim", "--as", "bob")
one = lines()[0]["id"]
alter(2, '"claimed_by":"bob"', '"claimed_by":"eve"')
roger("verify")
found = views(one)
equal("a claim whose line was altered is nobody's, in every view",
      found, {"show": [False, None, "altered"], "list": [[False, None]], "trace": ["stored"], "timeline": ["sent"],
              "figures": [1, 0, 1, 1], "concerns": [["damage", "messages.jsonl:2"], ["mail", "bob"]]})
roger("doctor", "rebuild")
equal("also after a rebuild", views(one), found)
roger("dismiss", "messages.jsonl:2", "--reason", "seen")
equal("and where a person has accepted it as it is", views(one), found | {"show": [False, None, "accepted as altered"], "concerns": [["mail", "bob"]]})
equal("the next claim counts", [answer("claim", "--as", "bob")["messages"][0]["content"], views(one)["show"], sorted(steps(one))],
      ["one", [False, "bob", "accepted as altered"], ["claimed", "looked", "stored"]])
os.chdir("..")

begin("reread")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("receive", "--as", "bob")
roger("send", "--as", "ann", "bob", "two")
one = lines()[0]["id"]
alter(2, '"seq":1', '"seq":7')
roger("verify")
os.remove(".roger/messages.control")
equal("a reading whose line was altered is none", [views(one)["show"], views(one)["trace"], views(one)["figures"], answer("inbox", "--as", "bob")["unread"]],
      [[False, None, "altered"], ["stored"], [2, 0, 2, 2], 2])
equal("doctor finds no other fault than that", [b["what"] for b in answer("doctor")["breaches"] if b["severity"] == "error"
                                              and "altered" not in b["what"]], [])
os.chdir("..")

begin("pretended")
roger("send", "--as", "ann", "--new", "bob", "one.")
one = lines()[0]["id"]
alter(1, '"content":"one.","metadata":null,"read":false', '"content":"one","metadata":null,"read":true  ')
equal("a first line that was altered to be read is mail that waits, to its reader and to every view",
      [answer("inbox", "--as", "bob")["unread"], views(one)["show"], views(one)["trace"], views(one)["figures"]], [1, [False, None, "altered"], ["stored"], [1, 0, 1, 1]])
os.chdir("..")

begin("unnoticed")
for word in ("one", "two", "three"):
    roger("send", "--as", "ann", "--new", "bob", word)
alter(1, '"one"', '"onf"')
first = answer("report")["attempts"]
equal("who counts first notices a line that was altered in the middle",
      [first, len(answer("log", "sends")["attempts"]), answer("report")["attempts"], answer("status")["concerns"][0]["subject"]], [2, 2, 2, "messages.jsonl:1"])
os.chdir("..")

begin("undated")
roger("send", "--as", "ann", "--new", "bob", "one")
by_others(lines()[0], read=True)
events = answer("timeline", "general")["events"]
equal("what has no instant is not told one", [[e["kind"], e.get("undated")] for e in events] + ["not known     read" in roger("timeline", "general").stdout],
      [["sent", None], ["read", True], True])
os.chdir("..")

begin("looked-first")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
alter(1, '"one"', '"onf"')
equal("the first status knows what it finds", [c["subject"] for c in answer("status")["concerns"]][:1], ["messages.jsonl:1"])
os.chdir("..")

begin("rebuilt-first")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
alter(1, '"one"', '"onf"')
roger("doctor", "rebuild")
equal("tables that are made anew hide no altered line", [[m.get("altered") for m in answer("list")["messages"]], answer("report")["attempts"]], [["altered", None], 1])
os.chdir("..")

begin("put-back")
for word in ("one", "two", "six", "ten"):
    roger("send", "--as", "ann", "--new", "bob", word)
with open(JOURNAL, encoding="utf-8") as file:
    whole = file.read()
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write("".join(line for line in whole.splitlines(True) if "six" not in line))
roger("status")
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write(whole)
places = [roger(view).stdout.count("messages.jsonl line 3") for view in ("verify", "status", "verify")]
with open(JOURNAL, encoding="utf-8") as file:
    equal("what was put back whole is left alone, and noted once", [file.read() == whole, places], [True, [1, 0, 1]])
os.chdir("..")

begin("cut-short")
for word in ("one", "two", "six"):
    roger("send", "--as", "ann", "--new", "bob", word)
roger("log", "sends")
with open(JOURNAL, encoding="utf-8") as file:
    text = file.read().splitlines(True)
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write("".join(text[:-1]))
equal("no attempt is counted twice while lines are missing", [answer("report")["attempts"], len(answer("log", "sends")["attempts"])], [3, 3])
os.chdir("..")

begin("repeated")
roger("send", "--as", "ann", "--new", "bob", "one")
one = lines()[0]
roger("ack", one["id"], "--as", "bob", "--outcome", "rejected", "--note", "no")
by_others(lines()[1], read=True, read_at=lines()[1]["read_at"])
shown = answer("show", one["id"])["messages"][0]
equal("an acknowledgement stays, whatever a later line lacks",
      [shown.get("ack_outcome"), shown.get("ack_note"), answer("report")["acknowledged"], "acknowledged" in steps(one["id"])], ["rejected", "no", 1, True])
begin("many")
roger("send", "--as", "ann", "--new", "--batch", stdin="".join(json.dumps({"to": f"w{n}x", "content": f"c{n}"}) + "\n" for n in range(10, 70)))
equal("of each of sixty mailboxes it is told why, also of those that status only counts",
      ({answer("why", f"w{n}x")["words"].split(": ")[-1] for n in range(10, 70)}, answer("why", lines()[-1]["id"]).get("next")), ({"1 unread"}, "roger list --unread --to w69x"))
os.chdir("..")

begin("left")
for run in ("r1", "r2"):
    roger("dispatch", run, "--as", "lead", "--child", "kid")
    roger("complete", run, "--as", "kid", "--result", run)
roger("receive", "--as", "lead", "--limit", "1")
roger("agents", "retire", "lead")
equal("a result whose owner retired, with no successor, waits in its mailbox, and every view says so",
      ([[c["subject"], c["words"], c["next"]] for c in answer("status")["concerns"]], answer("why", "r2")["words"].split(", ")[0], answer("why", "r2")["next"]),
      ([["lead", "lead is retired: 1 result, 1 unread", "roger agents retire lead --to NAME"]], "run r2 of lead: finished", "roger agents retire lead --to NAME"))
check("where it is, too", "`roger list --unread --to lead` shows it" in answer("why", "r2")["words"], answer("why", "r2")["words"])
equal("what it has read stays its own", [run["owner"] for run in answer("runs")["runs"]], ["lead", "lead"])
events = answer("timeline", "--run", "r1")["events"]
equal("and nobody is said to have noted what roger judges", {e["actor"] for e in events if e["kind"] == "run_note"}, {"lead"})
equal("that its result was read is told, at that instant", [e["at"] for e in events if e["kind"] == "forwarded"], [answer("list", "--to", "lead")["messages"][0]["read_at"]])
roger("agents", "retire", "lead", "--to", "human", "--new")
equal("who takes over has it", [[c["subject"], c["words"], c["next"]] for c in answer("status")["concerns"]], [["human", "human has mail: 1 result, 1 unread", "roger inbox --as human"]])
roger("receive", "--as", "human")
equal("until it is read", (answer("status")["concerns"], [[run["owner"], run["status"]] for run in answer("runs")["runs"]]), ([], [["lead", "completed"], ["human", "completed"]]))
os.chdir("..")

begin("expired")
roger("send", "--as", "ann", "--new", "--batch", stdin="".join(json.dumps({"to": "bob", "content": f"m{n}"}) + "\n" for n in range(3)))
one = lines()[0]["id"]
roger("claim", "--as", "bob", "--worker", "w1", "--limit", "3", "--lease", "1s")
time.sleep(1.1)


def expired():
    """Of all mail, by status; of the first message, by trace."""
    parts = [part["count"] for concern in answer("status")["concerns"] for part in concern["parts"] if part["name"] == "lease"]
    return parts, [step["step"] for step in answer("trace", one)["traces"][0]["steps"]].count("lease_expired")


found = [expired()]
for words in (("claim",), ("nack", one), ("claim", "--limit", "3")):
    roger(*words, "--as", "bob", "--worker", "w2")
    found.append(expired())
equal("a lease that expired has, whoever takes the message then or gives it back", found, [([3], 1)] * 4)
os.chdir("..")

begin("letters")
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("retries:\n  max_attempts: 1\n")
for task in ("a", "b", "c"):
    roger("send", "--as", "ann", "--new", "bob" if task != "c" else "carl", task, "--key", f"{task}:status-update:1", "--confirm", "read", "--within", "50ms")
roger("dismiss", answer("dead")["dead_letters"][1]["id"], "--as", "ann", "--reason", "by hand")
roger("receive", "--as", "bob")
report, text = answer("report"), roger("dead").stdout
equal("dead letters are counted by one rule, also what its sender let be before it was read",
      [(report[name], len(answer("dead", "--status", name)["dead_letters"]), text.count(f"  {name}")) for name in ("undelivered", "redelivered", "stale")], [(1, 1, 1), (0, 0, 0), (1, 1, 1)])
equal("read after all is the rest", (report["dead_read"], text.count("  read after all\n")), (1, 1))
os.chdir("..")

begin("by")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
roger("ack", lines()[0]["id"], "--as", "bob")
roger("receive", "--as", "bob")
equal("a look is by the command that its line is of", [steps(line["id"])["looked"]["words"].split(",")[0] for line in lines()[:2]], ["by ack", "by receive"])
os.chdir("..")

begin("strays")
with open(JOURNAL, "a", encoding="utf-8") as file:
    file.write('not json\n{"id":"x"}\n')
advised = []
while len(advised) < 4 and "roger dismiss " in (out := roger("verify").stdout):
    advised.append(out.split("roger dismiss ")[1].split()[0])
    roger("dismiss", advised[-1], "--reason", "seen")
equal("verify names each line that is no entry until a person has seen it", advised, ["messages.jsonl:1", "messages.jsonl:2"])
equal("then by no view it is to be looked at", ("intact, but for 2 accepted places" in roger("verify").stdout, answer("status")["concerns"], ["accepted: " in b["what"] for b in answer("doctor")["breaches"] if b["line"]]),
      (True, [], [True, True]))
equal("what was accepted is not accepted twice", (roger("dismiss", "messages.jsonl:1", "--reason", "again").returncode, answer("verify")["strays"]), (66, 2))
os.makedirs(".roger/state/subagent-delivery-watchdog", exist_ok=True)
with open(".roger/state/subagent-delivery-watchdog/r1.json", "w", encoding="utf-8") as file:
    file.write("no run")
place = [c["next"] for c in answer("status")["concerns"]][0].split()[2]
equal("nor is a run's document", [roger("dismiss", place, "--reason", "seen").returncode for _ in range(2)], [0, 66])
os.chdir("..")

begin("filed")
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("bridge:\n  file_only: [filer]\n")
roger("send", "--as", "ann", "--new", "filer", "for the file")
roger("bridge", "--once")
with open(".roger/triggers/ann.txt", "w", encoding="utf-8") as file:
    file.write("(filer #1): read\n")
roger("bridge", "--once")
equal("who only knows files has looked here for no view", ("looked" in steps(lines()[0]["id"]), "read" in steps(lines()[0]["id"]), answer("why", "filer")["words"]), (False, True, "filer has no unread mail"))
roger("send", "--as", "ann", "filer", "more")
equal("also when more waits", ([a.get("last_looked_at") for a in answer("agents")["agents"] if a["name"] == "filer"], [c["words"] for c in answer("status")["concerns"] if c["subject"] == "filer"]), ([None], ["filer: 1 unread"]))
with open(".roger/config.yaml", encoding="utf-8") as config:
    text = config.read()
with open(".roger/config.yaml", "w", encoding="utf-8") as config:
    config.write(text.replace("file_only: [filer]", "file_only: []"))
check("nor once it knows more than files", "looked" not in steps(lines()[0]["id"]), steps(lines()[0]["id"]))
os.chdir("..")

begin("claimed")
roger("send", "--as", "ann", "--new", "bob", "one")
now = int(time.time() * 1000)
by_others(lines()[0], claimed_by="w9", claimed_at=now, claimed_until=now + 600000)
equal("a claim by another program, which knows no sequence number, is read", (roger("status").returncode, steps(lines()[0]["id"])["claimed"]["who"]), (0, "w9"))
found = steps(lines()[0]["id"])
equal("a claim by another program is one, and no look", ("looked" in found, found["claimed"]["who"], found["claimed"]["words"].split(", ")[1:], answer("report")["looked"], answer("why", "bob")["words"]),
      (False, "w9", ["written by another program"], 0, "bob never looked at its mail: 1 unread, 1 in work"))
os.chdir("..")

begin("zero")
roger("send", "--as", "ann", "--new", "bob", "one")
by_others(lines()[0], id="msg-0-0", created_at=0)
told = [line.split("  ")[0] for line in roger("timeline", "general").stdout.splitlines()]
equal("an instant that cannot be is no day", told[1:3], ["not known", time.strftime("%Y-%m-%d")])
os.chdir("..")

begin("group")
roger("send", "--as", "ann", "--new", "bob", "one")
by_others(lines()[0], id="msg-1700000000000-0123456789abcdef", to_phase="all")
said = [(c["words"], c["next"]) for c in answer("status")["concerns"] if c["subject"] == "all"]
equal("a line to a group is nobody's mail", said, [("all is a group, and reads nothing: 1 unread", "roger archive --unread --to all")])
equal("and the advice ends it", (roger(*said[0][1].split()[1:]).returncode, [c["subject"] for c in answer("status")["concerns"]]), (0, ["bob"]))
os.chdir("..")

begin("log-line")
for key in "tu":
    roger("send", "--as", "ann", "--new", "bob", key, "--key", key + ":status-update:1")
roger("report")
with open(".roger/send-log/ann.jsonl", encoding="utf-8") as file:
    was = file.read()
with open(".roger/send-log/ann.jsonl", "w", encoding="utf-8") as file:
    file.write(was.replace('"delivered"', '"timeout"', 1))
shutil.copytree(".", "../log-first")
os.remove(".roger/messages.db-index")
def outcomes():
    return ([answer("report")["delivered"], answer("report")["timeouts"]],
            [line.split()[5] for line in roger("log", "sends").stdout.splitlines()],
            [(step["step"], step["words"]) for step in answer("trace", lines()[0]["id"])["traces"][0]["steps"]][1:])
equal("a line of a send log that was altered counts for no view, and the attempt gets its entry again", outcomes(), ([2, 0], ["delivered"] * 2, [("delivered", "attempt 1 of 3, key t:status-update:1")]))
equal("who saw it first has named it", [c["subject"] for c in answer("status")["concerns"]][:1], ["send-log/ann.jsonl:1"])
roger("dismiss", "send-log/ann.jsonl:1", "--reason", "seen")
equal("nor once a person has seen it", outcomes(), ([2, 0], ["delivered"] * 2, [("delivered", "attempt 1 of 3, key t:status-update:1")]))
roger("doctor", "rebuild")
equal("nor after rebuild", outcomes(), ([2, 0], ["delivered"] * 2, [("delivered", "attempt 1 of 3, key t:status-update:1")]))
os.chdir("..")

os.chdir("log-first")
first = [line.split()[5] for line in roger("log", "sends").stdout.splitlines()]
equal("log sends asked first, of rows that were made before, says so as well", (first, outcomes()), (["delivered"] * 2, ([2, 0], ["delivered"] * 2, [("delivered", "attempt 1 of 3, key t:status-update:1")])))
equal("and orders every line by time", [[a["key"][0] for a in answer("log", "sends", "--lines", "--limit", "1", *newest)["attempts"]] for newest in ([], ["--newest"])], [["t"], ["u"]])
os.chdir("..")

begin("no-archive")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
alter(1, '"one"', '"won"')
with open(".roger/messages_archive", "w", encoding="utf-8") as file:
    file.write("x")
equal("damage is noted where the archive is no folder", (roger("verify").returncode, [c["kind"] for c in answer("status")["concerns"]][:1], roger("dismiss", "messages.jsonl:1", "--reason", "seen").returncode), (65, ["damage"], 0))
os.chdir("..")

begin("accepted-back")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("receive", "--as", "bob")
roger("send", "--as", "ann", "bob", "two")
was = open(JOURNAL, encoding="utf-8").read()
alter(2, '"read_at":1', '"read_at":2')
roger("verify")
roger("dismiss", "messages.jsonl:2", "--reason", "seen")
def altered():
    shown = lines()[0]["id"]
    return [answer("show", shown)["messages"][0].get("altered"), "altered" in roger("trace", shown).stdout]
equal("a message with an accepted line is shown as that", altered(), ["accepted as altered", True])
with open(JOURNAL, "w", encoding="utf-8") as file:
    file.write(was)
equal("what was put back after that is as it was", altered() + [answer("show", lines()[0]["id"])["messages"][0]["read"]], [None, False, True])
os.chdir("..")

begin("archive")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
roger("receive", "--as", "bob")
roger("archive", lines()[0]["id"])
archive = ".roger/messages_archive/general.jsonl"
with open(archive, encoding="utf-8") as file:
    was = file.read()
with open(archive, "w", encoding="utf-8") as file:
    file.write(was.replace('"one"', '"won"'))
def looks():
    return [answer("doctor")["damaged"], answer("verify")["damaged"], [c["subject"] for c in answer("status")["concerns"]]]
equal("what doctor finds altered in the archive, verify and status say from then on", looks(), [1, 1, ["messages_archive/general.jsonl:1"]])
roger("dismiss", "messages_archive/general.jsonl:1", "--reason", "seen")
equal("until a person has seen it", looks() + [roger("doctor").stdout.count("accepted: ")], [0, 0, [], 1])
os.chdir("..")

# ------------------------------------------- what time alone makes true


def elsewhere(name):
    """Go on in a copy of this workspace, as it is now."""
    shutil.copytree(".", f"../{name}")
    os.chdir(f"../{name}")


def killed(sender, to, key, within):
    """A send that waits for its reading, and whose sender is gone."""
    waiting = subprocess.Popen([ROGER, "send", "--as", sender, "--new", to, key, "--key", key, "--confirm", "read", "--within", within],
                               env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(JOURNAL) or key not in [line.get("idempotent_key") for line in lines()]:
        time.sleep(0.02)
    waiting.kill()
    waiting.wait()


def instant(ms):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(ms // 1000)) + f".{ms % 1000:03}Z"


begin("due")
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("claims:\n  max_attempts: 2\nretries:\n  max_attempts: 1\n")
roger("send", "--as", "ann", "--new", "bob", "one")
killed("eve", "carl", "t:a:1", "1s")
one, two = (line["id"] for line in lines())
for worker in ("w1", "w2"):
    roger("claim", "--as", "bob", "--worker", worker, "--lease", "1s")
    time.sleep(1.1)
ends = {one: instant(lines()[-1]["claimed_until"]), two: instant(lines()[1]["confirm_by"])}


def became():
    """When each was given up, by every view that tells of it."""
    letters = {letter["message"]: letter["at"] for letter in answer("dead")["dead_letters"]}
    told = {event["message"]: event["at"] for event in answer("timeline", "general")["events"] if event["kind"] == "dead_letter"}
    dead = {message: steps(message).get("dead", {}).get("at") for message in (one, two)}
    late = [attempt["at"] for attempt in answer("log", "sends", "--key", "t:a:1")["attempts"] if attempt["outcome"] == "timeout"]
    return letters, told, dead, late, answer("show", one)["messages"][0].get("dead_at"), answer("report")["undelivered"]


views_of_it = {"status": ("status",), "report": ("report",), "trace": ("trace", one), "why": ("why", one), "sends": ("log", "sends"), "dead": ("dead",),
               "timeline": ("timeline", "general"), "agents": ("agents",), "list": ("list",), "count": ("list", "--count"), "show": ("show", one),
               "inbox": ("inbox", "--as", "bob"), "stats": ("report", "stats"), "receive": ("receive", "--as", "bob"), "archive": ("archive", two, "--unread")}
found = {}
for name, words in views_of_it.items():
    elsewhere(f"due-{name}")
    first = answer(*words)
    if name in ("list", "show", "inbox"):
        equal(f"{name} asked first shows that it died, and when", [m.get("dead_at") for m in first["messages"] if m["id"] == one], [ends[one]])
    if name == "agents":
        equal("agents asked first counts the notice of that", [a["unread"] for a in first["agents"] if a["name"] == "ann"], [1])
    found[name] = became()
    os.chdir("../due")
equal("what time has made true is dated when it became true, whatever was asked first", [name for name in found if found[name] != (ends, ends, ends, [ends[two]], ends[one], 2)], [])
for verb in (("receive", "--as", "carl"), ("ack", two, "--as", "carl")):
    for asked in ([], ["report"]):
        elsewhere(f"due-{verb[0]}-{len(asked)}")
        for name in asked:
            roger(name)
        roger(*verb)
        letter = [letter for letter in answer("dead")["dead_letters"] if letter["message"] == two]
        equal(f"what was not read in time was given up, also if {verb[0]} comes {'before' if not asked else 'after'} the report",
              ([(one_["at"], bool(one_["delivered_at"])) for one_ in letter], [answer("report")[name] for name in ("late", "timeouts", "dead_read")]), ([(ends[two], True)], [1, 0, 1]))
        os.chdir("../due")
os.chdir("..")

begin("gone-note")
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("retries:\n  max_attempts: 1\ncycles:\n  keep: 1\n")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("send", "--as", "ann", "bob", "two")
roger("send", "--as", "ann", "bob", "three", "--key", "d:a:1", "--confirm", "read", "--within", "100ms")
roger("status")
rows = [e["kind"] for e in answer("timeline", "--agent", "bob")["events"]]
with open(".roger/logs/activity.log.jsonl", encoding="utf-8") as file:
    text = file.read().splitlines(True)
with open(".roger/logs/activity.log.jsonl", "w", encoding="utf-8") as file:
    file.write("".join(text[:1] + text[2:]))
equal("a deadline that is over is no row, also where the rows are made anew", [[e["kind"] for e in answer("timeline", "--agent", "bob")["events"]] for _ in range(2)], [rows, rows])
roger("log", "cycle", "new")
roger("log", "cycle", "new")
roger("log", "purge")
check("nor where the attempt was purged", "due" not in [e["kind"] for e in answer("timeline", "--agent", "bob")["events"]], roger("timeline", "--agent", "bob").stdout)
os.chdir("..")

begin("twenty")
roger("send", "--as", "ann", "--new", "--batch", stdin="".join(json.dumps({"to": "bob", "content": f"m{n}"}) + "\n" for n in range(20)))
roger("receive", "--as", "bob", "--limit", "20")
ids = [line["id"] for line in lines()[:20]]
said = [steps(ids[n])["read"]["words"].split(", ", 1)[1] for n in (15, 16, 19)]
check("who ran it is told of the sixteen that the note names", said[0].startswith("run by uid ") and "perhaps" not in said[0], said)
check("of the others, that the note does not say so", said[1] == said[2] == said[0] + ", perhaps: its note names 16 of 20", said)
roger("archive", ids[0])
roger("archive", "--issue", "general")
said = [steps(ids[n])["archived"]["words"] for n in (0, 1)]
check("so it is of who archived it", ", run by uid " in said[0] and "perhaps" not in said[0] and said[1] == said[0] + ", perhaps: its note names no message", said)
os.chdir("..")

begin("taken-over")
for name in ("old", "heir"):
    roger("send", "--as", "ann", "--new", name, "to " + name)
roger("agents", "retire", "old", "--to", "heir")
roger("receive", "--as", "heir")
equal("mail that was taken over is read in its own mailbox, as it was received there",
      {a["name"]: [a["received"], a["read"]] for a in answer("report")["agents"]} | {a["name"]: [a["received"], a["received"] - a["unread"]] for a in answer("agents")["agents"]},
      {"ann": [0, 0], "old": [1, 1], "heir": [1, 1]})
equal("and that is what report says", {a["name"]: [a["received"], a["read"]] for a in answer("report")["agents"]}, {"ann": [0, 0], "old": [1, 1], "heir": [1, 1]})
os.chdir("..")

begin("worker")
for name in ("old", "heir"):
    roger("send", "--as", "ann", "--new", name, "to " + name)
roger("agents", "retire", "old", "--to", "heir")
roger("claim", "--as", "heir", "--worker", "w7")
check("who ran the claim of a successor's worker is told, too", ", run by uid " in steps(lines()[0]["id"])["claimed"]["words"], steps(lines()[0]["id"]))
os.chdir("..")

begin("archived-unread")
killed("ann", "bob", "t:a:1", "60s")
killed("ann", "bob", "t:b:1", "300ms")
killed("ann", "bob", "t:c:1", "60s")
soon, late, foreign = lines()
time.sleep(0.4)
roger("archive", soon["id"], late["id"], "--unread")
archived = [line["archived_at"] for line in lines() if "archived_at" in line][0]
now = int(time.time() * 1000)
by_others(foreign, archived_at=now, archive_reason="by hand")
equal("what was archived unread waits for nobody, though its sender is gone, and is over as of then",
      {a["key"]: [a["outcome"], a.get("pending"), a.get("cause"), a["at"]] for a in answer("log", "sends")["attempts"]},
      {"t:a:1": ["error", None, "archived unread", instant(archived)], "t:b:1": ["timeout", None, "not read in time", instant(late["confirm_by"])],
       "t:c:1": ["error", None, "archived unread", instant(now)]})
equal("report says so, too, and doctor finds no fault", ([answer("report")[name] for name in ("pending", "timeouts", "errors")], answer("doctor")["damaged"]), ([0, 1, 2], 0))
os.chdir("..")

begin("altered-stray")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
alter(1, '"read":false', '"read":fals ')
roger("verify")
for accepted in (False, True):
    if accepted:
        roger("dismiss", "messages.jsonl:1", "--reason", "seen")
    equal(f"a line that was altered until it is no message is damage, and no stray line besides, {'accepted' if accepted else 'open'}",
          [c["kind"] for c in answer("status")["concerns"] if c["kind"] in ("damage", "strays")], [] if accepted else ["damage"])
os.chdir("..")

begin("altered-archiving")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
roger("archive", lines()[0]["id"], "--unread")
alter(3, '"content":"one"', '"content":"ONE"')
roger("verify")
for made in ("as it is", "rebuilt"):
    equal(f"mail whose archiving was altered is where it was, {made}",
          (answer("inbox", "--as", "bob")["unread"], [m["content"] for m in answer("list", "--text", "one")["messages"]], answer("report")["unread"],
           [(a["name"], a["received"], a["unread"]) for a in answer("agents")["agents"]][1]), (2, ["one"], 2, ("bob", 2, 2)))
    roger("doctor", "rebuild")
os.chdir("..")

begin("altered-after")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
sent = lines()[0]["created_at"]
more = [{"archived_at": sent + 5, "archive_reason": "over"}, {"read": True, "read_at": sent + 9}]
subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib_forge.py"), JOURNAL, f"lines += [lines[0] | more for more in {more!r}]"], check=True)
alter(4, '"content":"one"', '"content":"ONE"')
roger("verify")
for made in ("as it is", "rebuilt"):
    equal(f"a line that was altered brings no archived mail back, {made}",
          (answer("inbox", "--as", "bob")["unread"], [m["content"] for m in answer("list")["messages"]], [m["content"] for m in answer("list", "--archived")["messages"]]), (1, ["two"], ["one"]))
    roger("doctor", "rebuild")
os.chdir("..")

begin("archived-only")
roger("send", "--as", "ann", "--new", "bob", "one")
with open(JOURNAL, encoding="utf-8") as file:
    line = json.loads(file.read())
by_others(line, id="theirs", issue_id="far", read=True, read_at=line["created_at"], archived_at=line["created_at"] + 5, archive_reason="theirs")
os.mkdir(".roger/messages_archive")
shutil.copy(JOURNAL, ".roger/messages_archive/far.jsonl")
roger("verify")
os.unlink(".roger/messages_archive/far.jsonl")
equal("an issue of which nothing but archived mail was ever seen has no mail, and its archive is missed",
      ([answer("report", "stats")[name] for name in ("messages", "issues", "archived", "context")], [f["file"] for f in answer("verify")["findings"]]), ([1, 1, 1, 1], ["messages_archive/far.jsonl"]))
os.chdir("..")

begin("not-written")
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("claims:\n  max_attempts: 1\n")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("claim", "--as", "bob", "--lease", "1s")
time.sleep(1.1)
os.mkdir(".roger/dead-letters.jsonl")
taken = subprocess.run(["timeout", "30", ROGER, "receive", "--as", "bob"], env=ENV, capture_output=True, text=True)
check("where a dead letter cannot be written, receive says so and ends", taken.returncode not in (0, 1, 124) and "dead-letters.jsonl" in taken.stderr, (taken.returncode, taken.stderr))
os.chdir("..")

begin("altered-log")
for word in ("one", "two", "three"):
    roger("send", "--as", "ann", "--new", "bob", word)
with open(".roger/logs/activity.log.jsonl", encoding="utf-8") as file:
    text = file.read()
with open(".roger/logs/activity.log.jsonl", "w", encoding="utf-8") as file:
    file.write(text.replace('"SUCCESS"', '"FAILURE"', 1))
roger("verify")
equal("a timeline names the file and the line that are damaged",
      [(e["file"], e["line"]) for e in answer("timeline", "--agent", "bob")["events"] if e["kind"] == "damaged"], [("logs/activity.log.jsonl", 1)])
os.chdir("..")

begin("look-gone")
roger("send", "--as", "ann", "--new", "bob", "one")
one = lines()[0]["id"]
subprocess.run([ROGER, "inbox"], env={**ENV, "ROGER_AGENT": "bob"}, capture_output=True)
check("a look is told from its note", "looked" in steps(one), steps(one))
with open(".roger/logs/activity.log.jsonl", encoding="utf-8") as file:
    text = [line for line in file if '"inbox"' not in line]
with open(".roger/logs/activity.log.jsonl", "w", encoding="utf-8") as file:
    file.writelines(text)
check("what only a note told is not told without it", "looked" not in steps(one), steps(one))
os.chdir("..")

begin("given-up")
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("retries:\n  max_attempts: 1\n")
roger("send", "--as", "ann", "--new", "bob", "one", "--key", "g:a:1", "--confirm", "read", "--within", "1ms")
said = [e["words"] for e in answer("timeline", "g")["events"] if e["kind"] == "dead_letter"]
roger("dead", "redeliver", answer("dead")["dead_letters"][0]["id"], "--within", "1ms", "--reason", "once more")
again = {e["kind"]: e["words"] for e in answer("timeline", "g")["events"]}
equal("that it was given up is told as before when it was sent once more", [said, again["dead_letter"][:8]], [said, said[0][:8]])
os.chdir("..")

# ------------------------------------- what an older roger left out


def older(*states):
    """A message, and what each later line has besides, as an older roger wrote it; instants are seconds after it was sent."""
    roger("send", "--as", "ann", "--new", "bob", "one")
    sent = lines()[0]["created_at"]
    said = [{name: sent + 1000 * value if name.endswith(("_at", "_until")) else value for name, value in state.items()} for state in states]
    subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib_forge.py"), JOURNAL,
                    f"for more in {said!r}: lines.append(lines[0] | more)"], check=True)
    os.unlink(".roger/logs/activity.log.jsonl")


def told():
    """Of the first message: who did what, and in which second after it was sent."""
    sent = lines()[0]["created_at"]
    return [[step["step"], step.get("who"), *[n for n in range(200) if step.get("at") == instant(sent + 1000 * n)]]
            for step in answer("trace", lines()[0]["id"])["traces"][0]["steps"]][1:]


held = {"claimed_by": "w1", "claimed_until": 60}
over = {"claimed_by": "w1", "read": True, "read_at": 5}
other = {"claimed_by": "w2", "claimed_until": 120}
for title, states, expected in (
        ("a claim that has no time is no first look where a reading has one; that was under its lease, and the ack of its holder",
         (held, over), [["claimed", "w1"], ["looked", "bob", 5], ["read", "bob", 5], ["acknowledged", "w1", 5]]),
        ("of two claims without a time, the first is the look", (held, other), [["looked", "w1"], ["claimed", "w1"], ["claimed", "w2"], ["lease_expired", "bob", 60]]),
        ("a reading when its lease was just over is no ack", (held, over | {"read_at": 60}), [["claimed", "w1"], ["looked", "bob", 60], ["lease_expired", "bob", 60], ["read", "bob", 60]]),
        ("nor is one by another agent", (held, over | {"read_by": "heir"}), [["claimed", "w1"], ["looked", "heir", 5], ["read", "heir", 5]]),
        ("nor one without a claim", ({"read": True, "read_at": 5},), [["looked", "bob", 5], ["read", "bob", 5]]),
        ("a worker whose claim the reading does not name has acknowledged, too", (held, {"read": True, "read_at": 5}),
         [["claimed", "w1"], ["looked", "bob", 5], ["read", "bob", 5], ["acknowledged", "w1", 5]]),
        ("a later line of what was read under a lease is no other ack", (held, over, over | {"archived_at": 9, "archive_reason": "over"}),
         [["claimed", "w1"], ["looked", "bob", 5], ["read", "bob", 5], ["acknowledged", "w1", 5], ["archived", None, 9]])):
    begin(f"older-{len(title)}")
    older(*states)
    equal(title, told(), expected)
    equal("report counts the same", [answer("report")[name] for name in ("looked", "read", "acknowledged")],
          [len([step for step in expected if step[0] == name]) for name in ("looked", "read", "acknowledged")])
    os.chdir("..")

begin("back")
for word in ("one", "two"):
    roger("send", "--as", "ann", "--new", "bob", word)
sent = lines()[0]["created_at"]
more = [{"read": True, "read_at": sent + 50000}, {"read": True, "read_at": sent + 5000}]
later = [{"id": "later", "epoch": 2, "seq": 1, "created_at": sent + 9000}, {"id": "older", "epoch": 1, "seq": 9, "created_at": sent + 3000}]
subprocess.run([sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib_forge.py"), JOURNAL,
                f"lines += [lines[n] | more for n, more in enumerate({more!r})] + [lines[0] | more for more in {later!r}]"], check=True)
os.unlink(".roger/logs/activity.log.jsonl")
ann, bob = answer("agents")["agents"]
equal("where clocks went back, the last reading and the last send are the latest ones, and the last number is of the newest session",
      (bob["last_looked_at"], ann["last_sent_at"], ann["seq"]), (instant(sent + 50000), instant(sent + 9000), 1))
os.chdir("..")

begin("marked-held")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("claim", "--as", "bob", "--worker", "w1", "--lease", "1h")
by_others(lines()[0], read=True, read_at=lines()[0]["created_at"] + 1000, claimed_by="w1")
equal("what another program marks as read under a lease is no ack", [step[0] for step in told()], ["looked", "claimed", "read"])
os.chdir("..")

begin("in-place")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("ack", lines()[0]["id"], "--as", "bob", "--worker", "human")
found = [told(), [answer("report")[name] for name in ("looked", "read", "acknowledged")]]
equal("what a person ended in place of its recipient was read by nobody", ([step[:2] for step in found[0]], found[1]), ([["acknowledged", "human"]], [0, 0, 1]))
by_others(lines()[-1])
equal("also once another program has written it again", [told(), [answer("report")[name] for name in ("looked", "read", "acknowledged")]], found)
os.chdir("..")

begin("born")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("receive", "--as", "bob")
one = lines()[0]
by_others(one, id="held", claimed_by="w", claimed_until=int(time.time() * 1000) + 600000)
by_others(one, id="acked", read=True, read_at=one["created_at"] + 5, acked_at=one["created_at"] + 5, ack_outcome="rejected")
by_others(one, id="acked", read=True, read_at=one["created_at"] + 5)
for made in ("in the lines", "in the tables", "rebuilt"):
    if made == "in the tables":
        roger("list", "--text", "one")
    if made == "rebuilt":
        roger("doctor", "rebuild")
    equal(f"what another program wrote as claimed is free for nobody else, and an ack is not forgotten for a later line, {made}",
          (answer("claim", "--as", "bob", "--worker", "w2").get("messages", []), answer("show", "acked")["messages"][0].get("ack_outcome")), ([], "rejected"))
os.chdir("..")

begin("noted")
roger("send", "--as", "ann", "--new", "bob", "one")
roger("receive", "--as", "bob")
one = lines()[0]["id"]
with open(".roger/logs/activity.log.jsonl", "a", encoding="utf-8") as file:
    file.write(json.dumps({"timestamp": instant(lines()[0]["created_at"] + 100000), "task_id": "general", "outcome": {"status": "SUCCESS"},
                           "action": {"type": "TOOL_EXEC", "details": {"tool": "roger", "verb": "ack", "agent": "bob", "ids": [one], "count": 1}}}) + "\n")


def acked():
    return [step["file"] for step in answer("trace", one)["traces"][0]["steps"] if step["step"] == "acknowledged"], answer("report")["acknowledged"]


found = [acked()]
for outcome in ("done", "done", "rejected"):
    roger("ack", one, "--as", "bob", "--outcome", outcome)
    found.append(acked())
equal("an ack known only from a note is shown from its line as soon as that exists, then from each line that corrects it, and counted once",
      found, [(["logs/activity.log.jsonl"], 1), ([JOURNAL[7:]], 1), ([JOURNAL[7:]], 1), ([JOURNAL[7:]] * 2, 1)])
os.unlink(".roger/messages.db-index")
equal("also where the table is made of both", acked(), found[-1])
os.chdir("..")

begin("turns")
found = []
for turn in range(3):
    for sender in ("zed", "ann", "bob"):
        roger("send", "--as", sender, "--new", "--key", f"t{turn}:{sender}", "eve", "x")
        roger("report")
for made in ("as they were sent", "file by file"):
    found.append([[event["at"], event["actor"], event["kind"]] for event in answer("timeline", "eve", "--limit", "4")["events"]])
    os.unlink(".roger/messages.db-index")
equal("a timeline with a limit shows the same sends in whatever order the send logs were read into the table", found[1], found[0])
check("which are the last", len(found[0]) == 4 and {by for _, by, _ in found[0]} == {"ann", "bob"})
os.chdir("..")

# --------------------------------------------- one moment, while others send

os.chdir("..")
begin("busy")
roger("send", "--as", "ann", "--new", "bob", "first")
ended = threading.Event()


def keep_busy(number):
    count = 0
    while not ended.is_set():
        count += 1
        roger("send", "--as", "ann", "bob", "more", "--key", f"k{number}:{count}")
        roger("send", "--as", "ann", "bob", "plain")
        roger("receive", "--as", "bob", "--limit", "1")


busy = [threading.Thread(target=keep_busy, args=(number,)) for number in range(3)]
for thread in busy:
    thread.start()
unlike, count = [], 0
while count < 20 or told["messages"] < 100:
    count, told = count + 1, answer("report")
    sums = (told["messages"], told["read"] + told["unread"], told["attempted_delivered"], told["delivered"] + told["pending"],
            sum(agent["received"] for agent in told["agents"]))
    if len(set(sums)) > 1:
        unlike.append(sums)
ended.set()
for thread in busy:
    thread.join()
equal("the figures of each report are of one moment", unlike, [])
os.chdir("..")

done()
