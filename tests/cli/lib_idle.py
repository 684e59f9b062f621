#!/usr/bin/env python3
"""Whether processes sleep while nothing happens.  A busy machine charges ticks to who did not use
them, so what counts is how often a process is woken: one that looks again and again is woken each
time, and each read of a busy disk counts as well.  One that never sleeps uses up the period.

    python3 lib_idle.py PID      # exit 0: it sleeps
"""
import glob
import os
import sys
import threading
import time

PERIOD_S, WAKES_A_SECOND, SHARE = 4, 60, 0.4


def woken(pid):
    times = 0
    for path in glob.glob(f"/proc/{pid}/task/*/status"):
        with open(path, encoding="ascii", errors="replace") as status:
            times += sum(int(line.split()[1]) for line in status if "ctxt_switches" in line)
    return times


def used_s(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        return sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def rates(pids):
    """Of each process: how often it is woken in a second, and which share of the time it uses."""
    before, start = {pid: (woken(pid), used_s(pid)) for pid in pids}, time.monotonic()
    threading.Event().wait(PERIOD_S)
    passed = time.monotonic() - start
    return {pid: ((woken(pid) - wakes) / passed, (used_s(pid) - used) / passed) for pid, (wakes, used) in before.items()}


def awake(*pids):
    """The processes that do not sleep, with their rates.  What was begun before may end in the first period."""
    for _ in range(2):
        found = {pid: rate for pid, rate in rates(pids).items() if rate[0] > WAKES_A_SECOND or rate[1] > SHARE}
        if not found:
            break
    return found


if __name__ == "__main__":
    bad = awake(*map(int, sys.argv[1:]))
    for pid, (wakes, share) in bad.items():
        print(f"# process {pid} is woken {wakes:.1f} times a second and uses {share:.0%} of the time")
    sys.exit(bool(bad))
