#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""backup and restore killed with -9 before each system call that changes something, and each of
these failing: there is the whole backup by its name, or none; the whole workspace, or none;
the workspace that was backed up stays sound; and the same command again, elsewhere or with the name
that is free, succeeds.
"""
import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

CHANGING = {"mkdir", "mkdirat", "openat", "open", "write", "pwrite64", "rename", "renameat", "renameat2", "unlink", "unlinkat",
            "rmdir", "fsync", "fdatasync", "flock", "ftruncate"}


def points_of(done, trace):
    return [(name, number) for name, number, text in lib.calls_in(done, False, trace)
            if name in CHANGING and (name not in ("openat", "open") or "O_CREAT" in text)]


def same(a, b):
    """Is it all of that workspace?"""
    for name in ("messages.jsonl", "send-log/ann.jsonl", "message-state.json", "config.yaml"):
        with open(f"{a}/.roger/{name}", "rb") as one, open(f"{b}/.roger/{name}", "rb") as other:
            if one.read() != other.read():
                return False
    return True


def try_backup(tap, top, store, whole):
    shutil.copytree(store, f"{top}/traced")
    trace = f"{top}/backup.trace"
    points = points_of(lib.must(lib.call(f"{top}/traced", ["backup", f"{top}/traced.tar"], **lib.recorded(False, trace))), trace)
    for kind, error in (("killed", None), ("failing", "EIO"), ("full", "ENOSPC")):

        def one(point, folder):
            name, number = point
            where = f"{name} {number} {kind}"
            tried, file = lib.copy(store, f"{folder}/w"), f"{folder}/b.tar"
            for left in os.listdir(folder):
                if left.startswith("b.tar"):
                    os.remove(f"{folder}/{left}")
            shutil.rmtree(f"{folder}/r", ignore_errors=True)
            done = lib.call(tried, ["backup", file], **lib.wrong(False, name, number, error))
            if os.path.exists(file):
                back = lib.call(tried, ["restore", file, "--to", f"{folder}/r"])
                if back.returncode or not same(f"{folder}/r", tried):
                    return f"{where}: a backup that is none: {back.stderr}"
            elif done.returncode == 0:
                return f"{where}: done, and there is no backup"
            elif error and any(left.startswith("b.tar") for left in os.listdir(folder)) and name not in ("unlink", "unlinkat"):
                return f"{where}: something is left"
            elif lib.call(tried, ["backup", file]).returncode:
                return f"{where}: the next one fails"
            if lib.call(tried, ["verify"]).returncode:
                return f"{where}: the workspace is damaged"
            return None

        tap.result(lib.parallel(one, points), f"backup: {kind} at each of {len(points)} calls")
    tap.result([] if len(points) >= 20 else [f"{len(points)} points"], "backup: enough points to mean something")
    lib.must(lib.call(store, ["backup", whole]))


def try_restore(tap, top, store, whole):
    trace = f"{top}/restore.trace"
    points = points_of(lib.must(lib.call(store, ["restore", whole, "--to", f"{top}/there"], **lib.recorded(False, trace))), trace)
    for kind, error in (("killed", None), ("failing", "EIO"), ("full", "ENOSPC")):

        def one(point, folder):
            name, number = point
            where, to = f"{name} {number} {kind}", f"{folder}/to"
            shutil.rmtree(to, ignore_errors=True)
            done = lib.call(store, ["restore", whole, "--to", to], **lib.wrong(False, name, number, error))
            if os.path.exists(f"{to}/.roger"):
                if not same(f"{top}/there", to):
                    return f"{where}: half a workspace"
                # Only the last sync of the folder may have failed.
                if lib.call(store, ["restore", whole, "--to", to]).returncode != 77:
                    return f"{where}: it is there, and was made again"
            elif done.returncode == 0:
                return f"{where}: done, and there is no workspace"
            elif lib.call(store, ["restore", whole, "--to", to]).returncode or not same(f"{top}/there", to):
                return f"{where}: the next one fails"
            if os.path.exists(f"{to}/.roger.restore"):
                return f"{where}: something is left"
            return None if lib.call(to, ["verify"]).returncode == 0 else f"{where}: it is damaged"

        tap.result(lib.parallel(one, points), f"restore: {kind} at each of {len(points)} calls")
    tap.result([] if len(points) >= 15 else [f"{len(points)} points"], "restore: enough points to mean something")


def main():
    lib.need_strace()
    tap = lib.Tap()
    with lib.workplace() as top:
        store, whole = f"{top}/store", f"{top}/whole.tar"
        os.makedirs(store)
        lib.must(lib.call(store, ["init"]))
        for i in range(3):
            lib.must(lib.call(store, ["send", "bob", "--as", "ann", f"text {i}", "--key", f"a:b:{i}"]))
        lib.must(lib.call(store, ["seal", "--out", f"{top}/first.seal"]))
        try_backup(tap, top, store, whole)
        try_restore(tap, top, store, whole)
    tap.done()


main()
