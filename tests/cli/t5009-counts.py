#!/usr/bin/env python3
# No daily verb takes more instructions or system calls than bench/history says, by more than 3 %:
# where the counting programs are, and the build is what the table was made of.
# runner: plain
import os
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "bench"))
import count  # noqa: E402 it stands in bench/

HELP = "if it is worth that, `script/bench count --history` and commit bench/history with it, the reason in the message"
number = 0


def check(name, passed, *words):
    global number
    number += 1
    print(f"{'ok' if passed else 'not ok'} {number} - {name}", *(f"# {word}" for word in words), sep="\n", flush=True)


# The comparison, with planted figures.
table = {"send": (1000.0, 10.0), "inbox": (500.0, 4.0)}
check("3 % are none", count.compare({"send": (1030.0, 10.0)}, table) == ({}, {}))
check("more is told, of each count", count.compare({"send": (1031.0, 9.0), "inbox": (500.0, 5.0)}, table) == (
    {"send": "1031 instructions, were 1000: +3.1%", "inbox": "5 system calls, were 4: +25.0%"},
    {"send": "9 system calls, were 10: -10.0%"}))
check("less than one call is none", count.compare({"inbox": (500.0, 4.9)}, table) == ({}, {}))
check("so is what the table lacks", count.compare({"ack": (1.0, 1.0)}, table)[0] == {"ack": "not in bench/history"})
with open("history", "w") as file:
    file.writelines(["2026-01-01 aaaaaaa send/redis=1.0\n", *count.table_lines("gcc/here", table)])
check("the table is read as it was written", count.read_table("history") == ("gcc/here", table))

known, table = count.read_table(SOURCE / "bench" / "history")
build = os.path.dirname(os.path.abspath(os.environ["ROGER"]))
try:
    here = count.identity(build)
except count.Missing as missing:
    here = str(missing)
if here != known:
    number += 1
    print(f"ok {number} - nothing grew # SKIP not compared: the table is of {known}, this is {here}")
else:
    counts = count.count_all(build)
    grew, fell = count.compare(counts, table)
    for name in counts:
        check(f"{name} costs what bench/history says", name not in grew, *([grew[name], HELP] if name in grew else []))
    for name, words in fell.items():
        print(f"# less than bench/history says, keep it by `script/bench count --history`: {name}: {words}")
print(f"1..{number}")
