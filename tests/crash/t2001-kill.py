#!/usr/bin/env python3
# runner: plain
# runner: timeout 900
"""kill -9 at every system call of every verb that writes.

After each: list works, every acknowledged message is there once, verify finds
nothing, and the next commands just work.  Once with a control file that holds
and once with one that has to be made anew, as after a restart of the machine.
"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

SOME = 5
COLD = ("send", "send-multi", "receive")  # also with a control file to be made


def kill_everywhere(verb, store, warm, top):
    seed, acknowledged = lib.prepared(verb, store, top)
    tally = collections.Counter()

    def one(point, folder):
        name, number = point
        base = lib.base_for(verb, seed, folder, warm)
        first, _ = lib.go_wrong(verb, base, name, number, folder=folder)
        tally["killed"] += first.returncode in (-9, 137)
        if first.returncode not in (-9, 137, *verb.also):
            return f"{name}#{number}: exit {first.returncode} in place of a kill"
        try:
            lib.check_after(verb, base, acknowledged, first)
        except lib.Fault as fault:
            return f"{name}#{number}: {fault}"
        return None

    todo = list(lib.points(verb, lib.base_for(verb, seed, top, warm), top, SOME))
    faults = lib.parallel(one, todo)
    if not tally["killed"]:
        faults.append("not killed once: nothing was tested")
    return faults, tally["killed"]


def main():
    lib.need_strace()
    tap, points = lib.Tap(), 0
    with lib.workplace() as top:
        store = lib.make_store(top)
        for verb in lib.chosen(store):
            for warm in (True, False) if lib.SLOW or verb.name in COLD else (True,):
                faults, killed = kill_everywhere(verb, store, warm, top)
                state = "" if warm else ", control file made anew"
                tap.result(faults, f"{verb.name}: killed at {killed} calls{state}")
                points += killed
    print(f"# {points} kills")
    tap.done()


main()
