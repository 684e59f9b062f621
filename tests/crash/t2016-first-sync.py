#!/usr/bin/env python3
# runner: plain
# runner: timeout 300
"""The first sync of a workspace takes long, or never ends: whoever reads meanwhile gets what stands there, or 75.

That is so after a start of the machine, in a copy, and without the control file; while the one that syncs is held up in
its fdatasync, and when it is stopped behind it.  No verb that reads says that there is nothing.
"""
import concurrent.futures
import contextlib
import json
import os
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

FIRST = {"list": ["list", "--jsonl"], "send": ["send", "--as", "ann", "--issue", "late", "eve", "late"],
         "claim": ["claim", "--as", "bob", "--worker", "w9"]}
HOLD_UP = {"held up": "delay_enter=60000000", "stopped": "signal=SIGSTOP"}


def readers(identity):
    """{verb: (words, what its answer must hold)}"""
    return {
        "list": (["list", "--jsonl"], "seed 5"), "inbox": (["inbox", "--as", "bob", "--json"], "seed 5"),
        "count": (["list", "--count", "--to", "bob"], "6"), "show": (["show", identity], "seed 2"),
        "search": (["list", "seed"], "seed"), "agents": (["agents", "--json"], '"bob"'),
        "stats": (["report", "stats", "--json"], '"agents":3'), "status": (["status", "--json"], '"bob"'),
        "timeline": (["timeline", "--issue", "work", "--json"], identity), "trace": (["trace", identity], "bob"),
        "wait": (["wait", "--as", "bob", "--timeout", "500ms"], "msg-"), "prime": (["prime", "--as", "bob"], "ann"),
        "thread": (["show", "--thread", identity], "seed 2"), "sends": (["log", "sends", "--json"], "work:send:1"),
        "report": (["report", "--json"], "ann"), "verify": (["verify", "--json"], '"messages":'),
    }


# ------------------------------------------------- a control file of another boot


def rotate(x, by):
    return (x << by | x >> 64 - by) & (1 << 64) - 1


def siphash(key, data):
    """H(key, data) of docs/FORMAT.md."""
    v = [key ^ 0x736F6D6570736575, 0x646F72616E646F6D, key ^ 0x6C7967656E657261, 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0] = v[0] + v[1] & (1 << 64) - 1
            v[2] = v[2] + v[3] & (1 << 64) - 1
            v[1], v[3] = rotate(v[1], 13) ^ v[0], rotate(v[3], 16) ^ v[2]
            v[0] = rotate(v[0], 32)
            v[2] = v[2] + v[1] & (1 << 64) - 1
            v[0] = v[0] + v[3] & (1 << 64) - 1
            v[1], v[3] = rotate(v[1], 17) ^ v[2], rotate(v[3], 21) ^ v[0]
            v[2] = rotate(v[2], 32)

    whole = data + bytes(-(len(data) + 1) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", whole):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 255
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def of_another_boot(store):
    with open(f"{store}/.roger/messages.control", "r+b") as control:
        head = bytearray(control.read(104))
        head[16:24] = b"01234567"
        head[12:16] = bytes(4)
        control.seek(0)
        control.write(head + struct.pack("<Q", siphash(struct.unpack("<I", head[8:12])[0], bytes(head))))


def make(state, store, folder):
    """The workspace in that state; a journal keeps its inode where it is not a copy."""
    to = lib.copy(store, f"{folder}/store")
    if state != "a copy":
        lib.must(lib.call(to, ["list"]))  # makes a control file for this journal
    if state == "another boot":
        of_another_boot(to)
    if state == "no control file":
        os.unlink(f"{to}/.roger/messages.control")
    os.unlink(f"{to}/.roger/messages.db")  # which might know the answer
    return to


# --------------------------------------------------------------------- running


class First:
    """The first to sync, held up at that."""

    def __init__(self, words, store, how):
        self.strace = subprocess.Popen([*lib.injected("fdatasync", HOLD_UP[how], 1), lib.ROGER, *words, "--workspace", store],
                                       env=lib.env_for(store), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.pid = None
        until = time.monotonic() + 10
        while self.strace.poll() is None and time.monotonic() < until and not self.is_held():
            time.sleep(0.02)

    def is_held(self):
        """Stopped by its tracer, and not for a moment only."""
        seen = []
        for _ in range(2):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError, IndexError):
                with open(f"/proc/{self.strace.pid}/task/{self.strace.pid}/children", encoding="ascii") as children:
                    self.pid = int(children.read().split()[0])
                with open(f"/proc/{self.pid}/status", encoding="utf-8") as status:
                    text = status.read()
                seen.append([line for line in text.splitlines() if line.startswith(("State:\tt", "State:\tT", "voluntary"))])
            time.sleep(0.1)
        return len(seen) == 2 and seen[0] == seen[1] and len(seen[0]) == 2

    def kill(self):
        if self.pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        self.strace.kill()
        self.strace.wait(10)


def ask(store, verb, words, wanted):
    done = lib.call(store, words, timeout=40)
    if done.returncode == 75 or (done.returncode == 0 and wanted in done.stdout):
        return None
    return f"{verb}: exit {done.returncode}: {(done.stdout + done.stderr).strip()[:150]}"


def scenario(store, state, verb, how, identity, folder):
    os.mkdir(folder)
    base = make(state, store, folder)
    first = First(FIRST[verb], base, how)
    try:
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda item: ask(base, item[0], *item[1]), readers(identity).items()))
    finally:
        first.kill()
    faults = [fault for fault in found if fault]
    lib.gather_broken(base, faults)
    return faults


def main():
    lib.need_strace()
    tap = lib.Tap()
    with lib.workplace() as top:
        store = lib.make_store(top)
        lib.must(lib.call(store, ["send", "--as", "ann", "--issue", "keyed", "--key", "work:send:1", "eve", "keyed"]))
        lib.must(lib.call(store, ["receive", "--as", "eve"]))
        lib.must(lib.call(store, ["list"]))
        identity = [json.loads(line)["id"] for line in lib.call(store, ["list", "--jsonl"]).stdout.splitlines()][2]
        for state in ("another boot", "a copy", "no control file"):
            for how in HOLD_UP:
                for verb in FIRST if lib.SLOW or state == "a copy" else ("list",):
                    faults = scenario(store, state, verb, how, identity, f"{top}/{tap.count}")
                    tap.result(faults, f"{state}: {verb} is {how} in the first sync")
    tap.done()


main()
