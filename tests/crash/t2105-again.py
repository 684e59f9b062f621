#!/usr/bin/env python3
# runner: plain
"""A keyed message is stored, its sender is told that this is not known, and sends again with the key.

The line of the first attempt stands in the journal, and so does that of the second.  Once the control file does not
know any more which sync failed, each has its entry `delivered`, whoever makes it: who reads a send log, or doctor.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

KEY = "t:status-update:1"
SEND = ["send", "--as", "ann", "bob", "once", "--key", KEY]


def judge(store, words):
    """Nobody knows what failed: words make the entries."""
    os.unlink(f"{store}/.roger/messages.control")
    lib.must(lib.call(store, words))
    try:
        lib.check_doctor(store)
    except lib.Fault as fault:
        return [str(fault)]
    entries = lib.entries_of(store)["ann", "bob", KEY, "1"]
    return [] if entries == {1: "delivered", 2: "delivered"} else [f"the log says {entries}"]


def main():
    lib.need_strace()
    tap = lib.Tap()
    with lib.workplace() as top:
        store = f"{top}/w"
        os.mkdir(store)
        lib.must(lib.call(store, ["init"]))
        first = lib.call(store, SEND, before=lib.injected("fdatasync", "error=EIO", 1))
        tap.result([] if first.returncode == 74 else [f"exit {first.returncode}: {first.stderr}"], "a sync fails")
        lib.must(lib.call(store, SEND))
        for words in (["log", "sends"], ["doctor", "--fix"], ["send", "--as", "cem", "bob", "x", "--key", "t:status-update:2"]):
            copy = lib.copy(store, f"{top}/copy")
            tap.result(judge(copy, words), f"both attempts have their entry after {words[0]}")
    tap.done()


main()
