#!/usr/bin/env python3
# runner: plain
# runner: alone
# runner: timeout 1800
"""Many senders, receivers, claimers and readers at once, some killed with -9.

Every acknowledged message is there exactly once, a killed send at most once;
numbers rise per sender and file order is number order; no message is handed to
two receivers or claimers; a reader never fails and never loses sight of one.
"""
import collections
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

WORKERS, EACH = (64, 500) if lib.SLOW else (16, 50)
KILLED = 0.1


def start(store, words):
    return subprocess.Popen([lib.ROGER, *words, "--workspace", store], env=lib.env_for(store), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")


def run(store, words, chance):
    """(exit status, output); killed at a random moment with that chance."""
    process = start(store, words)
    if chance.random() < KILLED:
        # A send takes less than a millisecond where nobody is in its way: half are killed at once.
        time.sleep(max(0, chance.random() - 0.5) * 0.012)
        process.send_signal(signal.SIGKILL)
    try:
        out, err = process.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        process.kill()
        return 124, "", "hung"
    return process.returncode, out, err.strip()


def send(number, store, results):
    chance, sent = random.Random(number), []
    for i in range(EACH):
        key = f"t{number}:s:{i}"
        to = ["pool"] if i % 3 else ["pool,bob"]
        words = ["send", "--as", f"sender-{number}", "--issue", f"i{number}-{i}", "--key", key, *to, key]
        status, out, err = run(store, words, chance)
        sent.append((key, status, lib.printed_ids(out), len(to[0].split(",")), err))
    results.put(("sent", sent))


def take(number, store, stop, results):
    """Even ones receive, odd ones claim and acknowledge; what they were handed counts once output is whole."""
    chance, handed, faults = random.Random(1000 + number), [], []
    me = f"w{number}"
    while not stop.is_set():
        if number % 2:
            words = ["claim", "--as", "pool", "--worker", me, "--limit", "3", "--lease", "1h", "--json"]
        else:
            words = ["receive", "--as", "bob", "--limit", "3", "--json"]
        status, out, err = run(store, words, chance)
        if status not in (0, 1, -9):
            faults.append(f"{words[0]} exits {status}: {err}")
        ids = [m["id"] for m in json.loads(out)["messages"]] if status == 0 else []
        handed += ids
        if ids and number % 2:
            status, out, err = run(store, ["ack", "--as", "pool", "--worker", me, *ids], chance)
            if status not in (0, -9):
                faults.append(f"ack exits {status}: {err}")
        time.sleep(0.01)
    results.put(("taken", (handed, faults)))


def watch(store, stop, results):
    before, faults, looks = set(), [], 0
    while not stop.is_set():
        done = lib.call(store, ["list", "--jsonl"], timeout=120)
        seen = set(lib.printed_ids(done.stdout))
        looks += 1
        if done.returncode not in (0, 1):
            faults.append(f"list exits {done.returncode}: {done.stderr.strip()}")
        elif before - seen:
            faults.append(f"{len(before - seen)} messages seen before are gone")
        before |= seen
        time.sleep(0.05)
    results.put(("watched", (looks, faults)))


def judge_sent(sent, living):
    counts, faults = collections.Counter(m["id"] for m in living), []
    by_key = collections.Counter(m["content"] for m in living)
    for key, status, ids, recipients, err in sent:
        if status not in (0, -9):
            faults.append(f"{key}: exit {status}: {err}")
        if status == 0 and (len(ids) != recipients or any(counts[i] != 1 for i in ids)):
            faults.append(f"{key}: acknowledged as {ids}, there {[counts[i] for i in ids]} times")
        if by_key[key] not in ((recipients,) if status == 0 else (0, recipients)):
            faults.append(f"{key}: {by_key[key]} messages for {recipients} recipients")
    return faults


def judge_journal(store):
    """File order is number order, and a number has one commit."""
    last, known, faults = {}, set(), []
    with open(f"{store}/.roger/messages.jsonl", "rb") as journal:
        for number, line in enumerate(journal, 1):
            try:
                message = json.loads(line)
            except ValueError:
                continue  # fenced off
            if message["id"] in known:
                continue
            known.add(message["id"])
            sender, seq = message["from_phase"], message["seq"]
            before, where = last.get(sender, (0, 0))
            if seq < before or (seq == before and where != number - 1):
                faults.append(f"line {number}: {sender} #{seq} after #{before}")
            last[sender] = seq, number
    return faults


def main():
    tap = lib.Tap()
    with lib.workplace() as top:
        store = f"{top}/store"
        lib.must(lib.call(store, ["init"]))
        results, stop = multiprocessing.Queue(), multiprocessing.Event()
        senders = [multiprocessing.Process(target=send, args=(n, store, results)) for n in range(WORKERS)]
        others = [multiprocessing.Process(target=take, args=(n, store, stop, results)) for n in range(4)]
        others.append(multiprocessing.Process(target=watch, args=(store, stop, results)))
        began = time.monotonic()
        for process in senders + others:
            process.start()
        sent = [entry for _ in senders for entry in results.get()[1]]
        took = time.monotonic() - began
        stop.set()
        rest = collections.defaultdict(list)
        for _ in others:
            kind, what = results.get()
            rest[kind].append(what)
        for process in senders + others:
            process.join()

        living, _ = lib.listed(store)
        killed = sum(status == -9 for _, status, *_ in sent)
        tap.result(judge_sent(sent, living),
                   f"{len(sent)} sends by {WORKERS} processes, {killed} killed, {len(sent) / took:.0f} a second")
        tap.result([] if killed else ["none was killed"], "some were killed")
        tap.result(judge_journal(store), "file order is number order")
        handed = collections.Counter(i for ids, _ in rest["taken"] for i in ids)
        faults = [fault for _, more in rest["taken"] for fault in more]
        faults += [f"{i} was handed over {n} times" for i, n in handed.items() if n > 1]
        faults += [] if handed else ["nothing was handed over"]
        tap.result(faults, f"{len(handed)} messages handed over, none twice")
        tap.result([fault for _, more in rest["watched"] for fault in more],
                   f"{sum(looks for looks, _ in rest['watched'])} looks at the list")
        try:
            lib.check_verify(store)
            tap.result([], "verify")
        except lib.Fault as fault:
            tap.result([str(fault)], "verify")
        before = [{k: m[k] for k in m} for m in living]
        lib.must(lib.call(store, ["doctor", "rebuild"]))
        tap.result([] if lib.listed(store)[0] == before else ["another list"], "the same list after a rebuild")
    tap.done()


main()
