#!/usr/bin/env python3
# runner: plain
# runner: timeout 900
"""Damage is told, and an innocent power cut is none (STEPS.md, "Damage of the journal").

Each byte of the last line flipped, the journal cut at each length, emptied,
removed, exchanged, overwritten, an older one put back: in the same boot and in
another one (lib.reboot()), with the control file gone, and with the index gone as well.  The next command that
reads says so; mail goes on where the line alone is damaged, and nothing is
added where the journal is not the one that was written; status, verify and
doctor say it until somebody accepts it; numbers and keys stay used.  Torn
ends, copies, restored folders and holes in logs that were not synced are none.
ROGER_TEST_SLOW=1 tries every byte and every length.
"""
import contextlib
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

JOURNAL = ".roger/messages.jsonl"
KEY = "t:status-update:last"
# What is forgotten since: the files that are gone, and whether the machine was started again.
FORGOTTEN = [([], False), (["messages.control"], False), (["messages.control", "messages.db-index"], False)]
FORGOTTEN += [([], True), (["messages.control"], True)] if lib.can_reboot() else []


def run(store, *words):
    return lib.call(store, list(words))


def make(folder, name, sender="ann", count=4):
    store = f"{folder}/{name}"
    lib.must(run(store, "init"))
    for i in range(count):
        lib.must(run(store, "send", "--as", sender, "--issue", "i", "--key", f"t:status-update:{i}", "bob", f"number {i}"))
    lib.must(run(store, "receive", "--as", "bob", "--limit", "1"))
    return store


def finish(store):
    """The last line, with a key, which the send log and message-state.json know of."""
    lib.must(run(store, "send", "--as", "ann", "--issue", "i", "--key", KEY, "carol", "the last"))


def write(path, data):
    with open(path, "r+b") as file:
        file.write(data)
        file.truncate()


def expect(faults, what, done, status, text=""):
    if done.returncode != status or text not in done.stdout + done.stderr:
        faults.append(f"{what}: exit {done.returncode}, not {status} with {text!r}: {(done.stdout + done.stderr)[-600:]!r}")


def place_of(store):
    with open(f"{store}/.roger/damage.jsonl", encoding="utf-8") as lines:
        entry = [json.loads(line) for line in lines][-1]
    return entry["file"] + (f":{entry['line']}" if entry["line"] else "")


def check(store, closed, reader):
    """closed: nothing may be added until it is accepted; None: either may be."""
    faults = []
    done = run(store, *reader, "--json")
    expect(faults, "the next that reads", done, done.returncode if done.returncode in (0, 1) else 0, '"damage":"messages.jsonl')
    done = run(store, "list")
    expect(faults, "and says so to people", done, 1 if done.stdout.startswith("no messages\n") else 0, "note: messages.jsonl")
    sent = run(store, "send", "--as", "ann", "bob", "more", "--json")
    if closed is not None:
        expect(faults, "a send", sent, 65 if closed else 0)
    expect(faults, "status", run(store, "status"), 0, "roger dismiss messages.jsonl")
    expect(faults, "verify", run(store, "verify"), 65)
    expect(faults, "doctor", run(store, "doctor"), 65)
    if faults:
        return faults
    expect(faults, "accept", run(store, "dismiss", place_of(store), "--reason", "a test"), 0)
    expect(faults, "verify afterwards", run(store, "verify"), 0)
    done = run(store, "send", "--as", "ann", "bob", "after", "--json")
    expect(faults, "a send afterwards", done, 0)
    if done.returncode == 0 and json.loads(done.stdout)["seq"] <= 5:
        faults.append(f"a number is given again: {done.stdout}")
    expect(faults, "doctor afterwards", run(store, "doctor"), 0)
    for name in ("messages.control", "messages.db-index"):
        os.unlink(f"{store}/.roger/{name}")
    if lib.can_reboot():
        lib.reboot(store)
    expect(faults, "verify after a start", run(store, "verify"), 0)
    expect(faults, "a send after a start", run(store, "send", "--as", "ann", "bob", "again"), 0)
    return faults


def key_is_used(store):
    done = run(store, "send", "--as", "ann", "--issue", "i", "--key", KEY, "carol", "the last", "--json")
    if done.returncode == 0 and not json.loads(done.stdout)["duplicate"]:
        return [f"the key is given again: {done.stdout}"]
    return [] if done.returncode in (0, 77) else [f"the key: exit {done.returncode}: {done.stderr}"]


def damaged(seed, top, cases, closed, reader=("inbox", "--as", "carol")):
    """Each (name, change), by every way of forgetting."""
    work = [(name, change, *forgotten) for name, change in cases for forgotten in FORGOTTEN]

    def one(item, folder):
        name, change, gone, rebooted = item
        store = lib.copy(seed, f"{folder}/store")
        # Not a copy any more: who reads here has a control file of this journal.
        lib.must(run(store, "list"))
        finish(store)
        change(store)
        for file in gone:
            # A version that has another index has none of that name.
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{store}/.roger/{file}")
        if rebooted:
            lib.reboot(store)
        faults = check(store, closed, reader)
        if not faults:
            faults = key_is_used(store)
        return f"{name}, without {gone}{', in another boot' * rebooted}: {faults[0]}" if faults else None

    return lib.parallel(one, work), len(work)


def sample(line):
    """Every byte; or some, the last ones, and the first of each value: so that it still is a message, but another one."""
    values = [found.end() for found in re.finditer(rb'":"?', line)]
    return range(len(line)) if lib.SLOW else sorted({*range(0, len(line), 23), *values, *range(len(line) - 32, len(line))})


def flips(line):
    length = len(line)

    def flip(at, bit):
        def change(store):
            data = bytearray(lib.read_file(f"{store}/{JOURNAL}"))
            data[at - length] ^= 1 << bit
            write(f"{store}/{JOURNAL}", bytes(data))
        return change
    bits = range(8) if lib.SLOW else (2,)
    return [(f"bit {bit} of byte {at} of {length}", flip(at, bit)) for at in sample(line) for bit in bits]


def cuts(size):
    return [(f"cut to {to} of {size}", lambda store, to=to: os.truncate(f"{store}/{JOURNAL}", to))
            for to in (range(size) if lib.SLOW else sorted({0, 1, size // 2, *range(0, size, 137), size - 30, size - 2, size - 1}))]


def exchanges(other, older):
    def removed(store):
        os.unlink(f"{store}/{JOURNAL}")

    def renamed(source):
        def change(store):
            shutil.copy(f"{source}/{JOURNAL}", f"{store}/put")
            os.rename(f"{store}/put", f"{store}/{JOURNAL}")
        return change

    def overwritten(store):
        write(f"{store}/{JOURNAL}", lib.read_file(f"{other}/{JOURNAL}"))

    return [("removed", removed), ("of another workspace", renamed(other)), ("overwritten", overwritten),
            ("an older one", renamed(older))]


# ----------------------------------------------------------------- innocent


def innocent_logs(seed, top):
    """Holes of NULs as a power cut leaves them in logs that were not synced."""
    cases = []
    for name in (".roger/logs/activity.log.jsonl", ".roger/send-log/ann.jsonl"):
        data = lib.read_file(f"{seed}/{name}")
        ends = [i + 1 for i, byte in enumerate(data) if byte == 10]
        for start, end in ((ends[0], ends[1]), (ends[0] + 10, ends[2] + 20), (ends[0] - 5, ends[1] + 7), (0, ends[0]),
                           (len(data) - 100, len(data)), (ends[-2], len(data))):
            cases.append((name, data, start, end))

    def one(case, folder):
        name, data, start, end = case
        store = lib.copy(seed, f"{folder}/store")
        write(f"{store}/{name}", data[:start] + bytes(end - start) + data[end:])
        faults = []
        expect(faults, "verify", run(store, "verify"), 0)
        lib.must(run(store, "send", "--as", "ann", "bob", "on", "--key", "t:status-update:on"))
        expect(faults, "verify after more", run(store, "verify"), 0)
        expect(faults, "doctor", run(store, "doctor", "--fix"), 0)
        expect(faults, "doctor again", run(store, "doctor", "--json"), 0)
        torn = [f for f in json.loads(run(store, "verify", "--json").stdout)["findings"] if f["kind"] == "torn"]
        if torn and "recorded that" not in torn[0]["what"]:
            faults.append(f"doctor --fix recorded nothing: {torn}")
        return f"{name} {start} to {end}: {faults[0]}" if faults else None

    return lib.parallel(one, cases), len(cases)


def small_holes(seed, top):
    """A NUL that no disk leaves excuses nothing: it is damage of a log, and doctor does not call it lost with the machine."""
    faults = []
    for name in (".roger/logs/activity.log.jsonl", ".roger/send-log/ann.jsonl"):
        data = lib.read_file(f"{seed}/{name}")
        lines = data.splitlines(True)
        second = len(lines[0])
        for what, altered in (("one in the middle", data[:second + 20] + b"\0" + data[second + 21:]),
                              ("one at the end", data[:second + len(lines[1]) - 2] + b"\0" + data[second + len(lines[1]) - 1:]),
                              ("a line of one", data[:second] + b"\0\n" + data[second:].replace(b"ann", b"eve", 1))):
            store = lib.copy(seed, f"{top}/store")
            write(f"{store}/{name}", altered)
            expect(faults, f"{name}, {what}: verify", run(store, "verify"), 65)
            expect(faults, f"{name}, {what}: doctor", run(store, "doctor", "--fix"), 65)
            expect(faults, f"{name}, {what}: verify again", run(store, "verify"), 65)
    return faults


def innocent_copies(seed, top):
    faults = []
    copy = lib.copy(seed, f"{top}/copy")
    finish(copy)
    kept = lib.copy(copy, f"{top}/kept")
    lib.must(run(copy, "send", "--as", "ann", "bob", "not in the backup"))
    lib.must(run(copy, "list"))
    shutil.rmtree(f"{copy}/.roger")
    shutil.copytree(f"{kept}/.roger", f"{copy}/.roger")
    for store in (copy, kept):
        expect(faults, "a copy or a restored folder", run(store, "list", "--json"), 0)
        expect(faults, "verify", run(store, "verify"), 0)
        if os.path.exists(f"{store}/.roger/damage.jsonl"):
            faults.append("called damage")
    return faults


def middle(seed, top):
    """A line in the middle is verify's to find; accepted there, it is told no more."""
    faults = []
    store = lib.copy(seed, f"{top}/middle")
    data = bytearray(lib.read_file(f"{store}/{JOURNAL}"))
    data[data.index(b"number 0") + 7] ^= 1
    write(f"{store}/{JOURNAL}", bytes(data))
    expect(faults, "verify", run(store, "verify"), 65, "line 1")
    expect(faults, "nothing there", run(store, "dismiss", "messages.jsonl:2", "--reason", "x"), 66)
    expect(faults, "accept", run(store, "dismiss", "messages.jsonl:1", "--reason", "x"), 0)
    # The line that says it is read repeats the text as it was: that is no rewrite, since line 1 is not what was written.
    expect(faults, "and nothing of what repeats it", run(store, "dismiss", "messages.jsonl:5", "--reason", "x"), 66)
    expect(faults, "verify", run(store, "verify"), 0, "line 1")
    data[data.index(b"number 2") + 7] ^= 4
    write(f"{store}/{JOURNAL}", bytes(data))
    expect(faults, "another line is another damage", run(store, "verify"), 65, "line 3")
    return faults


def many_names(seed, top):
    """A message-state.json of many names lacks the last second: nothing of it is given again."""
    faults = []
    senders = "".join(f'{{"from":"agent-number-{i}","to":"bob","content":"x"}}\n' for i in range(70))
    for name, cut in (("gone", 0), ("shorter", 5000)):
        store = lib.copy(seed, f"{top}/many-{name}")
        lib.must(lib.call(store, ["send", "--batch", "--quiet", "--new"], stdin=senders))
        for i in range(5):
            done = run(store, "send", "--as", "ann", "bob", f"number {i}", "--json")
        os.truncate(f"{store}/{JOURNAL}", cut)
        expect(faults, name, run(store, "list", "--json"), 1 if cut == 0 else 0, '"damage":"messages.jsonl')
        expect(faults, "accept", run(store, "dismiss", "messages.jsonl", "--reason", "a test"), 0)
        expect(faults, "verify afterwards", run(store, "verify"), 0)
        after = run(store, "send", "--as", "ann", "bob", "after", "--json")
        expect(faults, f"{name}: a send afterwards", after, 0)
        if not faults and json.loads(after.stdout)["seq"] <= json.loads(done.stdout)["seq"]:
            faults.append(f"{name}: a number is given again: {after.stdout}")
    return faults


def boots(seed, top):
    """A boot that is shown as another one is taken for that."""
    store = lib.copy(seed, f"{top}/boots")
    found = []
    for again in (False, True, True):
        if again:
            lib.reboot(store)
        lib.must(run(store, "list"))
        found.append(lib.read_file(f"{store}/.roger/messages.control")[16:52])
    return [f"its control file says {found}"] if len(set(found)) != 3 else []


def main():
    tap = lib.Tap()
    with lib.workplace() as top:
        seed, other, older = make(top, "seed"), make(top, "other", "zed", 12), make(top, "older")
        shutil.copy(f"{seed}/{JOURNAL}", f"{older}/{JOURNAL}")
        whole = lib.copy(seed, f"{top}/whole")
        finish(whole)
        size, last = len(lib.read_file(f"{whole}/{JOURNAL}")), lib.read_file(f"{whole}/{JOURNAL}").splitlines(True)[-1]
        if lib.can_reboot():
            tap.result(boots(seed, top), "another boot is another one")
        else:
            tap.skip("another boot", "no ROGER_DYNAMIC and ROGER_FAULTS")
        faults, count = damaged(seed, top, flips(last), False)
        tap.result(faults, f"{count} times a byte of the last line is another")
        faults, count = damaged(seed, top, flips(last), False, ("send", "--as", "ann", "bob", "behind it"))
        tap.result(faults, f"{count} times it is, and the next command sends")
        faults, count = damaged(seed, top, cuts(size), True, ("list",))
        tap.result(faults, f"{count} times the journal is shorter")
        faults, count = damaged(seed, top, exchanges(other, older), True, ("list",))
        tap.result(faults, f"{count} times another file is in its place")
        tap.result(many_names(seed, top), "so it is with many names, and no number is given again")
        faults, count = innocent_logs(whole, top)
        tap.result(faults, f"{count} holes in logs that were not synced are no damage")
        tap.result(small_holes(whole, top), "a NUL that no disk leaves there excuses nothing")
        tap.result(innocent_copies(seed, top), "copies, and a folder that was restored as a whole, are no damage")
        tap.result(middle(seed, top), "a line in the middle is accepted as it stands, and no other")
    tap.done()


main()
