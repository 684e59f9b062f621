#!/usr/bin/env python3
"""An error in a text of verbs/ names its file and line, and what was expected; the texts as they are have none, and
another struct is another library."""
# runner: plain
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
sys.path.insert(0, str(SOURCE / "tests/cli"))
sys.dont_write_bytecode = True
from lib_tap import check, done, equal  # noqa: E402

HERE = Path("t5010").resolve()
FAULTS = [  # file, what stands there, what in its place, and what the error says
    ("mail", "  from      name     self", "  from      nmae     self", "expected a kind"),
    ("mail", "  from      name     self", "  from      name     slef", "no word 'slef'"),
    ("mail", "  messages    receipt[]", "  messages    reciept[]", "there is no record 'reciept'"),
    ("mail", "verb send(send) send: send", "verb send(sned) send: send", "there is no request 'sned'"),
    ("mail", "verb send(send) send: send", "verb send(send) sned: send", "there is no reply 'sned'"),
    ("mail", "  is writes tool own", "  is wirtes tool own", "no flag 'wirtes'"),
    ("mail", "  fails NOENT: reply_to", "  fails ENOENT: reply_to", "fails ENOENT: there is no such error"),
    ("mail", "  $ roger send bob", "  roger send bob", "expected: $ example"),
    ("mail", "request send\n", "rqeuest send\n", "expected enum, record"),
    ("proof", "settles sent  ", "settles snet  ", "settles 'snet', which is no value"),
    ("host", "  usage   64  ", "  usage   xx  ", "expected: name number"),
    ("host", "number    10000    1..RG", "nubmer    10000    1..RG", "kinds are number"),
    ("host", "0s..7d ", "0s     ", "expected least..most"),
    ("cli", "request hook\n", "request mcp\n", "there is a request 'mcp_request' already, at cli:"),
]


def generate(folder, *words):
    return subprocess.run([sys.executable, str(folder / "verbs/generate.py"), *map(str, words)], capture_output=True, text=True)


def copy():
    shutil.rmtree(HERE, ignore_errors=True)
    HERE.mkdir()
    shutil.copytree(SOURCE / "verbs", HERE / "verbs", ignore=shutil.ignore_patterns("__pycache__"))
    (HERE / "include").mkdir()
    shutil.copy(SOURCE / "include/roger.h.in", HERE / "include")
    return HERE


tree = copy()
made = generate(tree, tree)
equal("the texts have no error", (made.returncode, made.stderr), (0, ""))
layout = generate(tree, "--layout").stdout
for name, stands, put, said in FAULTS:
    tree = copy()
    path = tree / "verbs" / name
    text = path.read_text()
    if not check(f"{said}: its place is there", stands in text):
        continue
    path.write_text(text.replace(stands, put, 1))
    made = generate(tree, tree)
    place = re.match(r"verbs/([a-z]+):(\d+): (.*)", made.stderr)
    near = text[:text.index(stands)].count("\n") + 1
    check(f"{said}: is said, with file and line", made.returncode == 1 and place and place[1] == name and said in place[3], made.stderr)
    # That of the member, or of the head of its block.
    check(f"{said}: at the line", place and 0 <= near - int(place[2]) <= (0 if "verb" not in stands and "request" not in stands else 12), (near, made.stderr))
tree = copy()
path = tree / "verbs/mail"
path.write_text(path.read_text().replace("  unread          int   -- of these unread\n", "  unread          int   -- of these unread\n  other           int   -- one more\n", 1))
check("another struct is another library", generate(tree, "--layout").stdout not in (layout, ""))
tree = copy()
path = tree / "include/roger.h.in"
path.write_text(path.read_text().replace("\tconst char *help;\n", "\tconst char *help, *more;\n", 1))
check("so is one of the header", generate(tree, "--layout").stdout not in (layout, ""))
shutil.rmtree(HERE)
done()
