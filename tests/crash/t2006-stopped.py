#!/usr/bin/env python3
# runner: plain
# runner: timeout 300
"""A holder of a lock that is stopped in the middle, or killed while it holds it.

Others wait for a bounded time and then name the process that makes no progress; what does not
need the lock is not held up at all; once the holder is gone the next command
works at once.
"""
import concurrent.futures
import contextlib
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

BOUND, QUICK = 50.0, 9.0  # seconds: it ends; less than RG_LOCK_WAIT_MS, so no lock was waited for
SEND = ["send", "--as", "zoe", "--issue", "stopped", "bob", "behind"]
READS = [["list", "--jsonl"], ["inbox", "--as", "bob"], ["list", "--count", "--to", "bob"]]


def warm_copy(store, to):
    """With a control file that holds and an index that lags; the same command then makes the same calls."""
    lib.copy(store, to)
    lib.must(lib.call(to, ["send", "--as", "ann", "--issue", "other", "zoe", "one more"]))
    return to


class Stopped:
    """A verb stopped when its chosen call is done; killed at the end."""

    def __init__(self, verb, store, pick, folder):
        calls = lib.calls_of(verb, warm_copy(store, f"{folder}/traced"), folder)
        name, number, _ = pick(calls)
        words = lib.injected(name, "signal=SIGSTOP", number)
        self.strace = subprocess.Popen([*words, lib.ROGER, *verb.words, "--workspace", store], env=lib.env_for(store),
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid = self.wait_until_stopped()

    def wait_until_stopped(self):
        until = time.monotonic() + 10
        while time.monotonic() < until:
            with open(f"/proc/{self.strace.pid}/task/{self.strace.pid}/children", encoding="ascii") as children:
                for pid in children.read().split():
                    # strace forks by itself, too: such a child is gone before it is looked at.
                    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                            if stat.read().rsplit(")", 1)[1].split()[0] in "tT" and self.still(pid):
                                return int(pid)
            time.sleep(0.02)
        raise RuntimeError("it did not stop")

    @staticmethod
    def still(pid):
        """Traced calls stop for a moment too: only one that stays where it is counts."""
        def place():
            with open(f"/proc/{pid}/status", encoding="utf-8") as status:
                return re.findall(r"State:\s+[tT].*|ctxt_switches:\s+\d+", status.read())
        before = place()
        time.sleep(0.15)
        return place() == before

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        self.strace.wait(10)


def timed(store, words):
    began = time.monotonic()
    done = lib.call(store, words, timeout=60)
    return done, time.monotonic() - began


def journal_write(calls):
    return next(c for c in calls if c[0] == "write" and "/messages.jsonl>" in c[2])


def journal_sync(calls):
    return next(c for c in calls if c[0] == "fdatasync" and "/messages.jsonl>" in c[2])


def before_the_append(calls):
    """The last message that is read outside of the append lock: with the message lock, no more."""
    locked, picked = False, None
    for call in calls[:calls.index(journal_write(calls))]:
        if call[0] == "flock":
            locked = "LOCK_UN" not in call[2]
        elif call[0] == "pread64" and "/messages.jsonl>" in call[2] and not locked:
            picked = call
    return picked


def index_write(calls):
    return next(c for c in calls if c[0] == "pwrite64" and "/messages.db" in c[2])


def check_held_up(stopped, store, words, faults):
    """What it says."""
    done, took = timed(store, words)
    if done.returncode != 75:
        faults.append(f"{words[0]}: exit {done.returncode} after {took:.1f} s in place of 75: {done.stderr.strip()}")
    elif took > BOUND:
        faults.append(f"{words[0]}: held up for {took:.1f} s")
    elif f"held by process {stopped.pid}" not in done.stderr:
        faults.append(f"{words[0]}: does not name the holder: {done.stderr.strip()}")
    return done.stderr


def check_unsure(store, stderr, faults):
    """What was written is there once the holder is gone, under the id that was told."""
    told = re.findall(r"may still be stored: (msg-[0-9a-f-]+)", stderr)
    if len(told) != 1 or lib.call(store, ["show", told[0]]).returncode:
        faults.append(f"it is not told under which id it may be stored: {stderr.strip()}")


def check_free(store, words, faults, codes=(0, 1)):
    done, took = timed(store, words)
    if done.returncode not in codes or took > QUICK:
        faults.append(f"{words[0]}: exit {done.returncode} after {took:.1f} s: {done.stderr.strip()}")


def scenario(store, verb, pick, held_up, free, folder):
    faults = []
    base = warm_copy(store, f"{folder}/store")
    stopped = Stopped(verb, base, pick, folder)
    try:
        for words in free:
            check_free(base, words, faults)
        with concurrent.futures.ThreadPoolExecutor(len(held_up) or 1) as pool:
            said = list(pool.map(lambda words: check_held_up(stopped, base, words, faults), held_up))
    finally:
        stopped.kill()
    if pick is journal_sync:
        check_unsure(base, said[0], faults)
    for words in [SEND, *READS, ["receive", "--as", "bob"], ["doctor", "rebuild"], *READS]:
        check_free(base, words, faults)
    lib.gather_broken(base, faults)
    return faults


def main():
    lib.need_strace()
    tap = lib.Tap()
    receive = ["receive", "--as", "bob"]
    with lib.workplace() as top, concurrent.futures.ThreadPoolExecutor(4) as pool:
        store = lib.make_store(top)
        verbs = {verb.name: verb for verb in lib.verbs(store)}
        reader = lib.Verb("list", ["list", "--jsonl"], None)
        scenarios = {
            "the append lock": (verbs["send"], journal_write, [SEND, receive], READS),
            "a sync": (verbs["send"], journal_sync, [SEND], READS),
            "the message lock": (verbs["receive"], before_the_append, [receive], [SEND, *READS]),
            "the index": (reader, index_write, [], [SEND, ["inbox", "--as", "nobody"]]),
        }
        running = {}
        for name, (verb, pick, held_up, free) in scenarios.items():
            folder = f"{top}/{len(running)}"
            os.mkdir(folder)
            running[name] = pool.submit(scenario, store, verb, pick, held_up, free, folder)
        for name, future in running.items():
            tap.result(future.result(), f"a stopped holder of {name}")
    tap.done()


main()
