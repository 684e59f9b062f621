#!/usr/bin/env python3
# What script/bench keeps of a run and says of it, with planted figures: nothing is timed.
# runner: plain
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("bench", str(SOURCE / "script" / "bench"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("bench", loader))
loader.exec_module(bench)
number = 0


def check(name, got, wanted):
    global number
    number += 1
    print(f"{'ok' if got == wanted else 'not ok'} {number} - {name}", flush=True)
    if got != wanted:
        print(f"# got    {got!r}\n# wanted {wanted!r}", flush=True)


def series(**figures):
    made = bench.Series()
    made.add({"p50_us": 1, "p99_us": 1, "rate": 1, **figures})
    return made


path = "history"
check("the first line has nothing before it",
      bench.add_to_history(path, "2026-01-01", "aaaaaaa", {"send/redis": (1.0, True), "hook/empty": (2.0, False)}), [])
check("one commit, one line, ratios by name", open(path).read().splitlines()[1:],
      ["2026-01-01 aaaaaaa hook/empty=2.000 send/redis=1.000"])
check("5 % is not told", bench.add_to_history(path, "2026-01-02", "bbbbbbb", {"send/redis": (1.05, True)}), [])
check("what a line lacks is compared with the line before; less of a span is better",
      bench.add_to_history(path, "2026-01-03", "ccccccc", {"send/redis": (0.84, True), "hook/empty": (1.5, False)}),
      ["hook/empty: 2.00x at aaaaaaa, now 1.50x: -25 %, better",
       "send/redis: 1.05x at bbbbbbb, now 0.84x: -20 %, worse"])
check("the same commit again is compared with the commits before, and keeps one line",
      (bench.add_to_history(path, "2026-01-04", "ccccccc", {"send/redis": (1.25, True)}), open(path).read().splitlines()[1:]),
      (["send/redis: 1.05x at bbbbbbb, now 1.25x: +19 %, better"],
       ["2026-01-01 aaaaaaa hook/empty=2.000 send/redis=1.000", "2026-01-02 bbbbbbb send/redis=1.050",
        "2026-01-04 ccccccc hook/empty=1.500 send/redis=1.250"]))

table = bench.Table()
table.rates("send, 8 processes, 400 B", series(rate=95), "redis, always", series(rate=100), 1.5, floor=series(rate=99))
table.rates("", series(rate=90), "beanstalkd", series(rate=100), 1.5, floor=series(rate=99))
table.times("hook", series(p50_us=105), "empty", series(p50_us=100), 1.0, floor=series(p50_us=101))
check("within 5 % of the floor is met", [row[-3:] for row in table.rows],
      [(">= 1.5x", "0.99x", "yes"), (">= 1.5x", "0.99x", "NO"), ("<= 1.0x", "1.01x", "yes")])
check("a row without a name is the figure above it", table.figures,
      {"send-8-processes-400-b/redis-always": (0.95, True), "send-8-processes-400-b/beanstalkd": (0.9, True),
       "hook/empty": (1.05, False)})
print(f"1..{number}")
