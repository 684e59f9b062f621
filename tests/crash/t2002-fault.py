#!/usr/bin/env python3
# runner: plain
# runner: timeout 1800
"""Every system call of every verb that writes fails, once and from then on.

Each with the errors it can give.  The verb exits 0 only when what it says
holds; otherwise it says why and dies of no signal.  A failed sync of the
journal is never acknowledged, and an interrupted call does not show at all.
Afterwards everything is as after a kill (t2001).
"""
import collections
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

ERRORS = {
    "openat": "EMFILE ENOSPC EIO EINTR EACCES EROFS ENFILE ENOMEM",
    "open": "EMFILE ENOSPC EIO EINTR EACCES EROFS",
    "writev": "ENOSPC EIO EINTR",
    "readv": "EIO EINTR",
    "fstat": "EIO",
    "rename": "ENOSPC EIO EACCES",
    "poll": "EINTR",
    "write": "ENOSPC EIO EINTR EDQUOT",
    "pwrite64": "ENOSPC EIO EINTR",
    "read": "EIO EINTR",
    "pread64": "EIO EINTR",
    "fdatasync": "EIO ENOSPC EINTR",
    "fsync": "EIO ENOSPC EINTR",
    "renameat": "ENOSPC EIO EACCES",
    "renameat2": "ENOSPC EIO EINVAL",
    "unlinkat": "EIO EACCES",
    "unlink": "EIO EACCES",
    "mkdirat": "ENOSPC EACCES",
    "mkdir": "ENOSPC EACCES",
    "ftruncate": "EIO EINTR",
    "flock": "EINTR ENOLCK",
    "fcntl": "EINTR ENOLCK EAGAIN",
    "futex": "EINTR",
    "mmap": "ENOMEM",
    "newfstatat": "EIO EACCES",
    "statx": "EIO ENOSYS EACCES",
    "lseek": "EINVAL",
    "getrandom": "EINTR",
    "getcwd": "ENOENT",
    "close": "EIO EINTR",
    "fchown": "EPERM",
}
PASSING = ("EINTR", "EAGAIN")  # no such error lasts
SLOW_STICKY = ("fcntl",)  # SQLite takes a file system without locks for a busy one, and waits
MENDED = {"openat", "write", "pwrite64", "read", "pread64", "fdatasync", "fsync", "flock", "futex", "getrandom"}
ONCE, STICKY = 2, 1  # so many calls of those that only look; all when slow


def judge(point, verb, first, hits):
    """What is wrong with how the verb itself took it."""
    name, number, error = point
    if first.returncode == 124:
        raise lib.Fault("hangs")
    if first.returncode < 0 or first.returncode > 128:
        raise lib.Fault(f"dies of signal {abs(first.returncode) % 128}")
    if first.returncode and not first.stderr.strip() and '"why":' not in first.stdout and not name.startswith("write"):
        raise lib.Fault(f"exit {first.returncode} and not a word")
    if first.returncode == 0 and error != "EINTR" and "sync" in name and any("/messages.jsonl" in h for h in hits):
        if verb.name not in ("rebuild", "init") and not verb.after and not 0 < verb.own_syncs < number:
            raise lib.Fault("acknowledged although the sync of the journal failed")
    if error == "EINTR" and name in MENDED and first.returncode not in verb.also:
        raise lib.Fault(f"EINTR shows: {first.stderr.strip()}")


def fail_everywhere(verb, store, sticky, top):
    seed, acknowledged = lib.prepared(verb, store, top)
    tally = collections.Counter()

    def one(point, folder):
        name, number, error = point
        base = lib.base_for(verb, seed, folder, True)
        first, hits = lib.go_wrong(verb, base, name, number, error, sticky, folder)
        # A wake knows no such error: who sleeps then sleeps on.
        if any("FUTEX_WAKE" in hit for hit in hits):
            return None
        tally["hit"] += bool(hits)
        try:
            judge(point, verb, first, hits)
            lib.check_after(verb, base, acknowledged, first)
        except lib.Fault as fault:
            return f"{name}#{number} {error}: {fault}"
        return None

    todo = []
    for name, number in lib.points(verb, lib.base_for(verb, seed, top, True), top, STICKY if sticky else ONCE):
        errors = [e for e in ERRORS.get(name, "").split() if not (sticky and e in PASSING)]
        if sticky and name in SLOW_STICKY and not lib.SLOW:
            continue
        # By turns, so that in a verb that makes a call often each error has its turn.
        first = number % len(errors) if errors else 0
        for error in errors if lib.SLOW else (errors[first:] + errors[:first])[: 1 if sticky else 2]:
            todo.append((name, number, error))
    faults = lib.parallel(one, todo)
    if not tally["hit"]:
        faults.append("no call failed: nothing was tested")
    return faults, tally["hit"]


def main():
    lib.need_strace()
    tap, points = lib.Tap(), 0
    with lib.workplace() as top:
        store = lib.make_store(top)
        for verb in lib.chosen(store):
            for sticky in (False, True):
                faults, hits = fail_everywhere(verb, store, sticky, top)
                tap.result(faults, f"{verb.name}: {hits} calls failed {'from then on' if sticky else 'once'}")
                points += hits
    print(f"# {points} failures")
    tap.done()


main()
