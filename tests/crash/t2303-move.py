#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""move, into a new folder and into one that has mail, killed at each call that changes something,
and these failing: every message is on one side at least, what status and doctor advise on
both sides helps, the same move again succeeds, and then all of it is in the new place, each message once,
and the old place refuses.  A damaged workspace is not moved, and makes no other.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

CHANGING = {"mkdir", "mkdirat", "openat", "open", "write", "pwrite64", "rename", "renameat", "renameat2", "unlink", "unlinkat",
            "rmdir", "fsync", "fdatasync", "flock", "ftruncate", "linkat", "link", "writev", "pwritev", "syscall"}
WAYS = (("killed", None), ("failing", "EIO"), ("full", "ENOSPC"))


def some_of(points, error):
    """With --with-slow all; else a third, of each way another one."""
    return points if lib.SLOW else points[("EIO", "ENOSPC", None).index(error) :: 3]


def make_sides(top):
    """A workspace with read, claimed and archived messages, keys and a run, and another one with mail of its own."""
    source = lib.make_store(top)
    for words in (["send", "--as", "ann", "bob", "keyed", "--issue", "keys", "--key", "t:send:1"], ["dispatch", "r1", "--as", "ann", "--child", "bob", "--within", "2h"],
                  ["complete", "r1", "--as", "bob", "--result", "done"], ["send", "--as", "ann", "cid", "old", "--issue", "old"], ["archive", "--unread", "--issue", "old"]):
        lib.must(lib.call(source, words))
    other = f"{top}/other"
    lib.must(lib.call(other, ["init"]))
    lib.must(lib.call(other, ["send", "--as", "eve", "bob", "of the other side", "--issue", "theirs"]))
    return source, other


def ids_of(store):
    living, archived = lib.listed(store)
    return sorted(message["id"] for message in living + archived)


def advised(store):
    """Follow what status advises, but for what ends a message's or a person's wait."""
    for concern in lib.asked(store, "status")["concerns"]:
        words = concern.get("next", "").split()
        if words[:2] in (["roger", "doctor"], ["roger", "verify"]) and lib.call(store, words[1:]).returncode not in (0, 65):
            raise lib.Fault(f"'{concern['next']}' fails")


def is_half(store):
    """Does the store refuse everybody, and say what to do, since it is the half-made target of a move?"""
    done = lib.call(store, ["status"])
    return done.returncode == 78 and "the same `roger move`" in done.stderr


def check_whole(store, wanted):
    advised(store)
    if ids_of(store) != wanted:
        raise lib.Fault(f"{len(ids_of(store))} messages are there, expected {len(wanted)}")
    if lib.asked(store, "runs", "r1")["runs"][0]["run"] != "r1":
        raise lib.Fault("the run is not there")
    lib.check_once(store, wanted)
    lib.check_verify(store)
    lib.check_doctor(store)


def try_move(tap, top, name, source, target):
    forked, trace = lib.forks(), f"{top}/move.trace"
    before = ids_of(source)
    wanted = sorted(before + (ids_of(target) if target else []))

    def sides(folder):
        for left in ("from", "to"):
            shutil.rmtree(f"{folder}/{left}", ignore_errors=True)
        if target:
            lib.copy(target, f"{folder}/to")
        return lib.copy(source, f"{folder}/from"), f"{folder}/to"

    old, new = sides(top)
    done = lib.must(lib.call(old, ["move", new], **lib.recorded(forked, trace)))
    points = [(call, number) for call, number, text in lib.calls_in(done, forked, trace)
              if call in CHANGING and (call not in ("openat", "open") or "O_CREAT" in text or lib.SLOW)]
    check_whole(new, wanted)

    for kind, error in WAYS:

        def one(point, folder):
            old, new = sides(folder)
            done = lib.call(old, ["move", new], **lib.wrong(forked, *point, error))
            try:
                if done.returncode == 124 or (done.returncode < 0 and error):
                    raise lib.Fault(f"ends with {done.returncode}")
                said = lib.call(old, ["list", "--limit", "1"])
                if said.returncode == 0:
                    advised(old)
                    if ids_of(old) != before:
                        raise lib.Fault("the source stays, and has lost messages")
                elif said.returncode != 78:
                    raise lib.Fault(f"list in the source: {said.returncode} {said.stderr}")
                if os.path.exists(f"{new}/.roger/config.yaml") and not is_half(new):
                    advised(new)
                    if said.returncode == 78 and not set(before) <= set(ids_of(new)):
                        raise lib.Fault("the source is given up, and not all is in the target")
                again = lib.call(old, ["move", new])
                if again.returncode:
                    raise lib.Fault(f"after exit {done.returncode} the same move: {again.returncode} {again.stderr.strip()[-300:]}")
                check_whole(new, wanted)
                if lib.call(old, ["send", "--as", "ann", "bob", "late"]).returncode != 78:
                    raise lib.Fault("the old place takes mail")
            except lib.Fault as fault:
                return f"{point[0]} {point[1]} {kind}: {fault}"
            return None

        todo = some_of(points, error)
        tap.result(lib.parallel(one, todo), f"{name}: {kind} at {len(todo)} calls")
    tap.result([] if len(points) >= 20 else [f"{len(points)} points"], f"{name}: enough points to mean something")


def try_damaged(tap, top, source):
    """Refused before anything is made, whatever else fails."""
    forked, trace = lib.forks(), f"{top}/damaged.trace"
    lib.seen(lib.alter)(lib.copy(source, f"{top}/damaged"))
    done = lib.call(lib.copy(f"{top}/damaged", f"{top}/from"), ["move", f"{top}/nowhere"], **lib.recorded(forked, trace))
    points = [(call, number) for call, number, _ in lib.calls_in(done, forked, trace) if call not in lib.DULL]
    tap.result([] if done.returncode == 65 and not os.path.exists(f"{top}/nowhere") else [str(done)], "a damaged workspace is not moved, and makes no other")
    for kind, error in WAYS:

        def one(point, folder):
            old, new = lib.copy(f"{top}/damaged", f"{folder}/from"), f"{folder}/to"
            shutil.rmtree(new, ignore_errors=True)
            done = lib.call(old, ["move", new], **lib.wrong(forked, *point, error))
            return f"{point[0]} {point[1]} {kind}: exit {done.returncode}, and there is one" if done.returncode == 0 or os.path.exists(new) else None

        todo = some_of(points, error)
        tap.result(lib.parallel(one, todo), f"a damaged one, move {kind} at {len(todo)} calls: there is no other")


def main():
    lib.need_strace()
    tap = lib.Tap()
    with lib.workplace() as top:
        source, other = make_sides(top)
        try_damaged(tap, top, source)
        try_move(tap, top, "into a new folder", source, None)
        try_move(tap, top, "into one with mail", source, other)
    tap.done()


main()
