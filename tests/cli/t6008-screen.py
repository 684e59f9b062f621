#!/usr/bin/env python3
"""On a terminal no line is longer than it, nothing is broken within a word, columns are aligned and
a long answer goes through the person's pager; elsewhere nothing is cut."""

import atexit
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import unicodedata

ROGER = os.path.abspath(os.environ["ROGER"])
HERE = tempfile.mkdtemp()
atexit.register(shutil.rmtree, HERE, True)
os.chdir(HERE)
for name in list(os.environ):
    if name.startswith(("ROGER_", "LESS", "PAGER", "NO_COLOR", "CLICOLOR", "COLUMNS", "LINES")):
        del os.environ[name]
os.environ["XDG_STATE_HOME"] = os.path.join(HERE, "home")
os.environ["TZ"] = "Asia/Kolkata"
number = failures = 0


def result(good, name, note=""):
    global number, failures
    number += 1
    failures += not good
    print(("" if good else "not ") + f"ok {number} - {name}")
    if not good:
        print("# " + str(note)[:2000].replace("\n", "\n# "))


def roger(*args, **env):
    return subprocess.run([ROGER, *args], capture_output=True, text=True, env={**os.environ, **env})


def on_terminal(width, *args, height=500, raw=False, **env):
    """What a terminal of that size gets, and the exit status."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
    child = subprocess.Popen(
        [ROGER, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm", "ROGER_PAGER": "cat", **env},
    )
    os.close(theirs)
    pieces = []
    try:
        while piece := os.read(ours, 65536):
            pieces.append(piece)
    except OSError:
        pass
    os.close(ours)
    text = b"".join(pieces).decode().replace("\r\n", "\n")
    return text if raw else re.sub("\033\\[[0-9;]*m", "", text), child.wait()


def columns(text):
    wide = "WF"
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf")
        else 2
        if unicodedata.east_asian_width(c) in wide
        else 1
        for c in text
    )


def words(text):
    """Without the ends of lines, and what a list cuts."""
    return set(re.sub(r"[^\s]*…", " ", text).split())


result(roger("init", "-q").returncode == 0, "a workspace")
TEXTS = [
    "The quick brown fox jumps over the lazy dog, again and again, until everybody has seen it do so.",
    "汉字很宽所以它们占两列而不是一列 " * 6,
    "cafe\u0301 cou\u0302te\u0301 re\u0301sume\u0301 " * 8,
    "\u202eright to left\u202c \x1b[2J hostile \u200b text " * 3,
    "short",
    "first line\nsecond line " + "of many words " * 20 + "\n\ttab",
]
AGENTS = ["plan", "implementer-with-a-long-name/of-a-team", "bob", "eve"]
for i, text in enumerate(TEXTS * 2):
    sender, to = AGENTS[i % 4], AGENTS[(i + 1) % 4]
    message = {"from": sender, "to": [to], "content": text, "new": True}
    sent = roger("send", "--as", sender, to, text, "--new", "-q", "--issue", "app-42", "--key", f"task-{i}:escalation:1")
    if sent.returncode:
        result(False, "send", sent.stderr)
roger("receive", "--as", "bob", "-q")
roger("dispatch", "build-7", "--as", "plan", "--child", "kid", "-q")
roger("log", "app-42", "TOOL_EXEC", "--message", "compiled " * 12, "--evidence", "docs/evidence.md#1", "-q")
with open(".roger/config.yaml", "w", encoding="utf-8") as config:
    config.write("retries: {max_attempts: 1}\nbreaker: {failures: 0}\n")
roger("send", "--as", "plan", "bob", "given up", "-q", "--key", "t:escalation:1", "--confirm", "read", "--within", "1ms")
os.remove(".roger/config.yaml")
newest = json.loads(roger("list", "--newest", "--limit", "1", "--jsonl").stdout)["id"]

VERBS = [
    ["list"],
    ["list", "--newest"],
    ["inbox", "--as", "eve"],
    ["inbox", "--as", "bob"],
    ["list", "quick"],
    ["dead"],
    ["log"],
    ["runs"],
    ["runs", "build-7"],
    ["status"],
    ["help"],
    ["send", "--help"],
    ["agents"],
    ["log", "sends"],
    ["timeline", "app-42"],
    ["report"],
    ["trace", newest],
    ["show", newest],
]
for width in (60, 80, 200):
    for verb in VERBS:
        text, status = on_terminal(width, *verb)
        long = [line for line in text.split("\n") if columns(line) > width]
        result(status == 0 and not long, f"{' '.join(verb)} fits into {width} columns", f"{status} {long}")
        if width == 60:
            # Each word of a wide terminal is whole, unless no line could hold it.
            whole = {w for w in words(on_terminal(400, *verb)[0]) if columns(w) < 24 and w.isascii()}
            broken = [w for w in words(text) if w.isascii() and w not in whole]
            broken = [w for w in broken if any(w in other for other in whole) and not re.fullmatch(r"[0-9:.]+|[0-9]*(ms|s|min)", w)]
            result(not broken, f"{' '.join(verb)} breaks no word", broken)

# ------------------------------------------------------------------ columns
def starts(text, pattern):
    """In which columns the pattern begins, of the lines that have it."""
    return {columns(line[: m.start()]) for line in text.splitlines() if (m := re.search(pattern, line))}


text, status = on_terminal(60, "show", "msg-")
result(status == 64 and text.count("#") >= 3 and max(map(columns, text.splitlines())) <= 60, "an error fits, too", text)
AGO = r"(now|\d+ (s|min) ago)"
for width in (60, 80, 200):
    text, _ = on_terminal(width, "list")
    result(len(starts(text, AGO)) == 1, f"the columns of list are aligned in {width}", text)
    result(width == 200 or "…" in text, f"and long texts cut in {width}", text)
    text, _ = on_terminal(width, "log", "sends")
    result(len(starts(text, r"delivered")) == 1, f"the columns of sends are aligned in {width}", text)
    text, _ = on_terminal(width, "runs")
    result(len(starts(text, r"(status|running)")) == 1, f"the columns of runs are aligned in {width}", text)
    text, _ = on_terminal(width, "timeline", "app-42")
    result(text.count("times are in IST, UTC+0530") == 1, "its times are of a zone that is named", text)
    result(len(starts(text, r"(?<=\d  )(sent|delivered|read|activity)\b")) == 1, f"and those of timeline in {width}", text)
result("…" not in roger("list").stdout.replace(" …", ""), "elsewhere nothing is cut")
result(TEXTS[0] in roger("list").stdout, "and a text is whole")

# ------------------------------------------------------------- ids, as shown
text, _ = on_terminal(80, "list")
os.mkdir("names")
for where in [["init"], ["send", "--as", "architect", "reviewer-two-of-the-team", TEXTS[0], "--new"]]:
    subprocess.run([ROGER, *where, "-q"], cwd="names", check=True)
named, _ = on_terminal(80, "list", "--workspace", "names")
result(re.search(r"^\*  architect#1  -> reviewer-\S*…  +" + AGO + "  ", named) and columns(re.sub(r"^.*? (now|ago)  ", "", named.splitlines()[0])) == 40,
       "a text has 40 columns", named)
row = re.search(r"(plan#\d+)\s+-> (\S+)\s+" + AGO, text)
by_number = roger("show", row[1], "--jsonl").stdout
result(by_number != "" and json.loads(by_number)["to"] == row[2], "what list shows of an id can be typed", text)
row = re.search(r"^[* ]  ([0-9a-f]{8,})\s+implem\S+\s", text, re.M)
result(row and roger("show", row[1], "--jsonl").stdout, "also where the name is long", text)
result(text.splitlines()[0].startswith("*  plan#") and "given up" in text.splitlines()[0], "the newest is first", text)
row = re.search(r"(plan#\d+)", text)
by_number = roger("show", row[1], "--jsonl").stdout
wide, _ = on_terminal(200, "list")
row = [row[1], re.search(r"msg-\d+-([0-9a-f]{8})", next(line for line in wide.splitlines() if row[1] + " " in line))[1]]
result(roger("show", row[1], "--jsonl").stdout == by_number, "a wide one shows the whole id, too", wide)
roger("agents", "session", "new", "-q")
text, _ = on_terminal(80, "list")
result(row[0] + "@1 " in text and roger("show", row[0] + "@1", "--jsonl").stdout == by_number, "also in the next session", text)
raw, _ = on_terminal(200, "list", raw=True)
result(f"\033[1m{row[1]}\033[0m" in raw and "\033[2mmsg-" in raw, "its unique part is bright, the rest dim", raw)

# ------------------------------------------------- the newest of very many
with subprocess.Popen([ROGER, "send", "--as", "many", "--batch", "-q"], stdin=subprocess.PIPE, text=True) as batch:
    for i in range(1200):
        print(json.dumps({"to": ["full"], "issue": f"i{i // 90}", "content": f"text-{i}", "new": True}), file=batch.stdin)
text, status = on_terminal(80, "list", "--to", "full", height=2000)
lines = text.splitlines()
result(status == 0 and "text-1199" in lines[0] and "text-200" in lines[999], "a terminal gets the newest 1,000, the newest first", text[:300])
result(lines[1000] == "the newest 1000 of 1200; --limit 0 shows all", "and reads how many there are", lines[1000:])
text, _ = on_terminal(80, "list", "--to", "full", "--limit", "0", height=2000)
result(text.count("\n") >= 1200 and "text-0" in text and "newest" not in text, "--limit 0 shows all")
text, _ = on_terminal(80, "list", "--to", "full", "--limit", "2")
result("text-1199" in text.splitlines()[0] and "text-1198" in text.splitlines()[1], "--limit 2 shows the newest two", text)
after = text.split("--after ")[1].strip()
text, _ = on_terminal(80, "list", "--to", "full", "--limit", "2", "--newest", "--after", after)
result("text-1197" in text.splitlines()[0], "and says how to go on", text)
text, _ = on_terminal(80, "inbox", "--as", "full", height=2000)
lines = text.splitlines()
result("text-0" in lines[0] and "text-999" in lines[999] and lines[1000].startswith("1200 unread"), "an inbox has a line for each", lines[:2] + lines[998:])
result("200 more; `roger list --unread --to full` lists them" in lines[1001], "and says how many there are", lines[1000:])
result(roger("inbox", "--as", "full").stdout.count("text-") == 50, "elsewhere the first 50, whole")
text, _ = on_terminal(80, "inbox", "--as", "full", "--limit", "3")
result("\n    text-0\n" in text and "1197 more unread" in text, "few are shown whole", text)
text, _ = on_terminal(80, "log", "--task", "app-42")
result(re.search(AGO + r"  bob +receive +app-42 +SUCCESS", text) or re.search(AGO + r"  \S+ +send +app-42 +SUCCESS", text), "log says who did what", text)
text, _ = on_terminal(80, "timeline", "app-42")
result(re.search(r"^\d\d:\d\d:\d\d  sent +plan -> \S+…  #1 The quick brown", text, re.M), "a timeline says who sent what to whom", text)
result("The quick brown fox" in roger("timeline", "app-42").stdout and "The quick" not in roger("timeline", "app-42", "--json").stdout,
       "elsewhere, too, but not as JSON")
result(roger("list", "--to", "full").stdout.count("\n") == 1200, "elsewhere all are printed")

# ------------------------------------------------------------------- times
line = {"id": "msg-1-old", "issue_id": "i", "from_phase": "f", "to_phase": "t", "run_counter": 1, "message_type": "data"}
line |= {"content": "old", "metadata": None, "read": False, "created_at": 1700000000000, "read_at": None}
with open(".roger/messages.jsonl", "a", encoding="utf-8") as journal:
    print(json.dumps(line), file=journal)
text, _ = on_terminal(80, "list", "--from", "f")
result("  2023-11-15  " in text and text.count("times are in IST, UTC+0530") == 1, "an old time is a date, its zone named once", text)
text, _ = on_terminal(200, "list", "--from", "f")
result("2023-11-15 03:43:20" in text, "with the hour where there is room", text)
text, _ = on_terminal(80, "list", "--to", "full")
result("times are" not in text, "relative ones need none", text)

# ------------------------------------------------------------------ the pager
text, status = on_terminal(80, "help", height=20, ROGER_PAGER="sed s/^/P:/")
result(status == 0 and all(line.startswith("P:") for line in text.splitlines()), "a long answer is paged", text)
text, status = on_terminal(80, "help", height=900, ROGER_PAGER="sed s/^/P:/")
result("P:" not in text, "a short one is not", text)
text, status = on_terminal(80, "help", "--no-pager", height=20, ROGER_PAGER="sed s/^/P:/")
result("P:" not in text, "nor with --no-pager", text)
text, status = on_terminal(80, "help", height=20, ROGER_PAGER="sed s/^/P:/", ROGER_PAGER_IN_USE="1")
result("P:" not in text, "nor within a pager", text)
text, status = on_terminal(80, "list", "--json", height=2, ROGER_PAGER="sed s/^/P:/")
result("P:" not in text and status == 0 and json.loads(text.split("note:")[0]), "nor JSON, which is not folded", text)
text, status = on_terminal(80, "help", height=20, ROGER_PAGER="no-such-pager")
result(status == 0 and "roger send" in text, "one that cannot be started is done without", text)
text, status = on_terminal(300, "list", "--limit", "0", height=20, ROGER_PAGER="head -n 3")
result(status == 0 and text.count("\n") == 3, "leaving it early is no error", text)
text, status = on_terminal(80, "help", height=20, ROGER_PAGER="exit 3; true")
result(status == 0, "nor is how it ends", status)
text, status = on_terminal(80, "help", height=20, ROGER_PAGER="env | grep -e ^LESS= -e IN_USE")
result("LESS=FRX" in text and "ROGER_PAGER_IN_USE=1" in text, "less gets its options", text)
text, status = on_terminal(80, "help", height=20, ROGER_PAGER="env | grep ^LESS=", LESS="R")
result("LESS=R\n" in text, "unless the person chose others", text)
text, status = on_terminal(80, "show", "nothing", height=20, ROGER_PAGER="sed s/^/P:/")
result(status == 66, "an exit status stays", status)
with open(".roger/config.yaml", "a", encoding="utf-8") as config:
    config.write("pager: 'sed s/^/P:/'\n")
text, status = on_terminal(80, "list", height=2)
result("P:" not in text, "a workspace names no pager", text)
os.remove(".roger/config.yaml")

# ---------------------------------------------------------------- the size
text, status = on_terminal(0, "send", "--help", COLUMNS="50")
result(max(columns(line) for line in text.splitlines()) <= 50, "COLUMNS counts where the terminal does not say", text)
print(f"1..{number}")
sys.exit(bool(failures))
