#!/usr/bin/env python3
# runner: plain
# runner: timeout 900
"""Races over keys: many processes, one outcome.

Two and eight processes send one key at once, 1,000 times: one message, one
entry, and everybody is told of the same message.  Two give up a message at
once: one dead letter.  Eight open a cycle at once: no number twice.  A purge
beside senders and readers loses nothing of the current cycle, and no reader
stumbles over a log that is replaced under it.
"""
import collections
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

RACES = 1000
LAST_TIMEOUTS = 100 if lib.SLOW else 40


def at_once(store, commands):
    """Run them at the same time; their exit statuses and what they printed."""
    running = [subprocess.Popen([lib.ROGER, *words, "--workspace", store], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env=lib.env_for(store)) for words in commands]
    done = []
    for process in running:
        out, err = process.communicate(timeout=120)
        done.append(subprocess.CompletedProcess(process.args, process.returncode, out, err))
    return done


def new_store(top, name, config=""):
    store = f"{top}/{name}"
    lib.must(lib.call(store, ["init"]))
    with open(f"{store}/.roger/config.yaml", "w", encoding="utf-8") as file:
        file.write("size_limits:\n  max_messages_per_issue_phase: 100000\n  max_messages_per_issue: 100000\n" + config)
    return store


def one_key(top, processes, races):
    store, faults = new_store(top, f"key{processes}"), []
    for race in range(races):
        key = f"t:status-update:{race}"
        words = ["send", "--as", "ann", "--key", key, "bob", f"race {race}", "--json"]
        done = at_once(store, [words] * processes)
        bad = [d for d in done if d.returncode]
        if bad:
            faults.append(f"{key}: exit {bad[0].returncode}: {bad[0].stderr.strip()}")
            continue
        replies = [json.loads(d.stdout) for d in done]
        if len({r["messages"][0]["id"] for r in replies}) != 1 or sum(not r["duplicate"] for r in replies) != 1:
            faults.append(f"{key}: {replies}")
    counts = collections.Counter()
    with open(f"{store}/.roger/send-log/ann.jsonl", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            counts[entry["idempotent_key"]] += 1
            if entry["outcome"] != "delivered" or entry["attempt"] != 1:
                faults.append(f"an entry {line}")
    faults += [f"{key} has {count} entries" for key, count in counts.items() if count != 1]
    if len(counts) != races:
        faults.append(f"{len(counts)} keys of {races} have an entry")
    lib.gather_faults(store, faults)
    return faults


def two_texts(top, races):
    """One key, two texts: one is stored, the other is told so, and the log tells of no error."""
    store, faults = new_store(top, "texts"), []
    for race in range(races):
        key = f"t:status-update:{race}"
        done = at_once(store, [["send", "--as", "ann", "--key", key, "bob", f"{text} {race}", "--json"]
                               for text in ("one", "two")])
        if sorted(d.returncode for d in done) != [0, 77]:
            faults.append(f"{key}: exits {[d.returncode for d in done]}: {done[0].stderr} {done[1].stderr}")
    lib.gather_faults(store, faults)
    outcomes = {tuple(attempts.values()) for attempts in lib.entries_of(store).values()}
    if outcomes != {("delivered",)}:
        faults.append(f"outcomes {outcomes}")
    return faults


def confirm(key, within="20ms"):
    return ["send", "--as", "ann", "--key", key, "bob", "confirmed", "--confirm", "read", "--within", within]


def give_up_together(top, processes, races):
    """All attempts by several at once: three attempts, each with one entry, one dead letter."""
    store, faults = new_store(top, f"last{processes}", "breaker:\n  failures: 0\n"), []
    for race in range(races):
        key = f"t:escalation:{race}"
        for attempt in (1, 2, 3):
            done = at_once(store, [confirm(key)] * processes)
            # One that comes late begins the next, or is told that there is none.
            bad = [d for d in done if d.returncode not in (75, 77)]
            if bad:
                faults.append(f"{key}, attempt {attempt}: exit {bad[0].returncode}: {bad[0].stderr.strip()}")
            if not any(d.returncode == 75 for d in done):
                faults.append(f"{key}, attempt {attempt}: nobody timed out: {done[0].stderr.strip()}")
            if len(lib.entries_of(store)["ann", "bob", key, "1"]) >= 3:
                break
        attempts = lib.entries_of(store)["ann", "bob", key, "1"]
        if attempts != {1: "timeout", 2: "timeout", 3: "timeout"}:
            faults.append(f"{key}: {attempts}")
    try:
        letters = lib.letters_of(store)
        if len(letters) != races or any(letter["attempts"] != 3 for letter in letters):
            faults.append(f"{len(letters)} dead letters of {races}: {[x['attempts'] for x in letters][:20]}")
    except lib.Fault as fault:
        faults.append(str(fault))
    lib.gather_faults(store, faults)
    return faults


def redeliver_together(top, races):
    store, faults = new_store(top, "redeliver", "retries:\n  max_attempts: 1\nbreaker:\n  failures: 0\n"), []
    for race in range(races):
        key = f"t:escalation:{race}"
        lib.call(store, confirm(key, "1ms"))
        letter = lib.letter_id("ann", "bob", key, "1", 1)
        done = at_once(store, [["dead", "redeliver", letter, "--within", "30ms"]] * 3)
        if any(d.returncode != 75 for d in done):
            faults.append(f"{key}: {[(d.returncode, d.stderr) for d in done]}")
        attempts = lib.entries_of(store)["ann", "bob", key, "1"]
        if list(attempts) != list(range(1, len(attempts) + 1)) or set(attempts.values()) != {"timeout"}:
            faults.append(f"{key}: {attempts}")
    lib.gather_faults(store, faults)
    return faults


def cycles(top, processes, rounds):
    store, faults = new_store(top, "cycles"), []
    for _ in range(rounds):
        done = at_once(store, [["log", "cycle", "new", "--as", f"a{i}", "--json"] for i in range(processes)])
        if any(d.returncode for d in done):
            faults.append(f"exits {[(d.returncode, d.stderr) for d in done]}")
    found = lib.asked(store, "log", "cycle")["cycles"]
    if [c["number"] for c in found] != list(range(1, processes * rounds + 2)):
        faults.append(f"numbers {[c['number'] for c in found]}")
    if len({c["id"] for c in found}) != len(found):
        faults.append("an id comes twice")
    done = at_once(store, [["log", "cycle", "new", "same"]] * processes)
    if sorted(d.returncode for d in done) != [0] + [77] * (processes - 1):
        faults.append(f"one id: exits {[d.returncode for d in done]}")
    return faults


def purge_beside(top, rounds):
    store, faults, sent = new_store(top, "purge"), [], 0
    for turn in range(rounds):
        lib.must(lib.call(store, ["log", "cycle", "new"]))
        commands = [["send", "--as", f"s{i % 2}", "--key", f"t:status-update:{turn}.{i}", "bob", "x" * 50] for i in range(4)]
        commands += [["log", "purge"], ["log", "sends", "--limit", "4096"], ["log", "sends", "--from", "s0", "--limit", "4096"], ["log", "purge"]]
        done = at_once(store, commands[turn % 3:] + commands[:turn % 3])
        sent += 4
        bad = [d for d in done if d.returncode]
        if bad:
            faults.append(f"turn {turn}: {bad[0].args[1:3]} exits {bad[0].returncode}: {bad[0].stderr.strip()}")
        entries = lib.entries_of(store)
        for back in range(min(turn + 1, 3)):
            there = sum(which[2].startswith(f"t:status-update:{turn - back}.") for which in entries)
            if there != 4:
                faults.append(f"turn {turn}: {there} of 4 entries of {back} cycles before are there")
    lib.gather_faults(store, faults)
    return faults


def main():
    tap = lib.Tap()
    with lib.workplace() as top:
        tap.result(one_key(top, 2, RACES), f"one key, two processes, {RACES} races")
        count = RACES if lib.SLOW else 150
        tap.result(one_key(top, 8, count), f"one key, eight processes, {count} races")
        tap.result(two_texts(top, 200), "one key, two texts, 200 races")
        tap.result(give_up_together(top, 2, LAST_TIMEOUTS), f"two give up at once, {LAST_TIMEOUTS} messages")
        tap.result(give_up_together(top, 5, 10), "five give up at once, 10 messages")
        tap.result(redeliver_together(top, 10), "three redeliver at once, 10 messages")
        tap.result(cycles(top, 8, 10), "eight open a cycle at once, 10 times")
        tap.result(purge_beside(top, 40), "purge beside senders and readers, 40 cycles")
    tap.done()


main()
