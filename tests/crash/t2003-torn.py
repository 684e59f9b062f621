#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""The write of the journal torn after every byte.

The journal ends anywhere inside the lines of a send that nobody acknowledged:
once with the control file that was in force, as after a kill, and once with a
new one, as after a power cut.  Nothing acknowledged is lost, what was torn
stays torn, the send tried again with its key lands once, verify finds nothing.
Then bytes that roger never wrote: blocks of NULs, halves of characters, foreign
lines without an end, and an archive's torn last line.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

JOURNAL = ".roger/messages.jsonl"
STRANGE = [b"\0" * 4096, b"\0" * 3 + b"\n", b"\xe2\x82", b"\xff\xfe\n", b"{", b"\n\n\n", b"\r\n", b'{"id":"x"}', b'{"id":"x"}\n',
           b'{"id":"msg-1-foreign","issue_id":"i","from_phase":"f","to_phase":"bob"', b"[" * 5000, b"x" * 70000, b"\xef\xbb\xbf{}\n",
           b',"chain":"0123456789abcdef"}', b" torn\n"]


def add(store, data):
    with open(f"{store}/{JOURNAL}", "ab") as journal:
        journal.write(data)


def check(verb, base, acknowledged):
    """As after a kill, with the verb never acknowledged."""
    lib.check_after(verb, base, acknowledged, lib.subprocess.CompletedProcess([], -9, "", ""))


def tear(verb, store, warm, step, top):
    seed, acknowledged = lib.prepared(verb, store, top)
    whole = lib.copy(seed, f"{top}/whole")
    lib.must(lib.run_verb(verb, whole))
    size = os.path.getsize(f"{seed}/{JOURNAL}")
    with open(f"{whole}/{JOURNAL}", "rb") as journal:
        added = journal.read()[size:]

    def one(length, folder):
        base = lib.base_for(verb, seed, folder, warm)
        add(base, added[:length])
        try:
            check(verb, base, acknowledged)
        except lib.Fault as fault:
            return f"after {length} of {len(added)} bytes: {fault}"
        return None

    # The last ones matter most: a line that lacks no more than its newline.
    lengths = sorted({*range(0, len(added), step), *range(len(added) - 40, len(added))})
    if verb.name != "send":  # of several lines some may stand whole; whoever reads them has them
        first = added.index(b"\n")
        lengths = [n for n in lengths if n <= first]
    return lib.parallel(one, lengths), len(lengths)


def strange(store, warm, top):
    verb = next(v for v in lib.verbs(store) if v.name == "send")
    seed, acknowledged = lib.prepared(verb, store, top)

    def one(data, folder):
        base = lib.base_for(verb, seed, folder, warm)
        add(base, data)
        try:
            check(verb, base, acknowledged)
        except lib.Fault as fault:
            return f"{data[:60]!r}: {fault}"
        return None

    return lib.parallel(one, STRANGE)


def torn_archive(store, top):
    """An archive cut anywhere in its last line, whose message is still in the journal as living."""
    verb = next(v for v in lib.verbs(store) if v.name == "archive")
    seed, acknowledged = lib.prepared(verb, store, top)
    whole = lib.copy(seed, f"{top}/whole")
    lib.must(lib.run_verb(verb, whole))
    archive = ".roger/messages_archive"
    name = os.listdir(f"{whole}/{archive}")[0]
    with open(f"{whole}/{archive}/{name}", "rb") as file:
        lines = file.read()

    def one(length, folder):
        base = lib.base_for(verb, seed, folder, True)
        os.mkdir(f"{base}/{archive}")
        with open(f"{base}/{archive}/{name}", "wb") as file:
            file.write(lines[:length])
        try:
            check(verb, base, acknowledged)
            lib.check_doctor(base)
        except lib.Fault as fault:
            return f"after {length} of {len(lines)} bytes: {fault}"
        return None

    lengths = [*range(0, len(lines), 1 if lib.SLOW else 23), len(lines) - 2, len(lines) - 1, len(lines)]
    return lib.parallel(one, lengths), len(lengths)


def main():
    tap = lib.Tap()
    with lib.workplace() as top:
        store = lib.make_store(top)
        verbs = {verb.name: verb for verb in lib.verbs(store)}
        for name, step in (("send", 1), ("receive", 1 if lib.SLOW else 17), ("send-multi", 1 if lib.SLOW else 17)):
            for warm in (True, False):
                faults, count = tear(verbs[name], store, warm, step, top)
                tap.result(faults, f"{name}: torn after {count} lengths, control file {'held' if warm else 'made anew'}")
        for warm in (True, False):
            tap.result(strange(store, warm, top),
                       f"{len(STRANGE)} strange ends of a journal, control file {'held' if warm else 'made anew'}")
        faults, count = torn_archive(store, top)
        tap.result(faults, f"archive torn at {count} lengths")
    tap.done()


main()
