#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""Too few open files, too little memory, too small files: every verb that writes.

It works, or says why not with the right exit status; it dies of no signal, and
the next command, with enough of everything, just works.
"""
import os
import resource
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

LOADER = 127  # the loader has its own words for too little


def limited(kind, amount):
    def limit():
        resource.setrlimit(kind, (amount, amount))
    return limit


def least_memory():
    """The least address space in KiB in which the program starts."""
    low, high = 1 << 10, 1 << 20
    while high - low > 64:
        middle = (low + high) // 2
        done = lib.subprocess.run([lib.ROGER, "--version"], capture_output=True, check=False,
                                  preexec_fn=limited(resource.RLIMIT_AS, middle << 10))
        low, high = (low, middle) if done.returncode == 0 else (middle, high)
    return high


def squeeze(verb, store, kind, amounts, codes, top):
    seed, acknowledged = lib.prepared(verb, store, top)
    failed = []

    def one(amount, folder):
        base = lib.base_for(verb, seed, folder, True)
        first = lib.run_verb(verb, base, preexec_fn=limited(kind, amount))
        if first.returncode not in verb.also:
            failed.append(amount)
        if first.returncode < 0 or first.returncode == 124:
            return f"with {amount}: ends with {first.returncode}"
        if first.returncode not in (*verb.also, *codes, LOADER):
            return f"with {amount}: exit {first.returncode}: {first.stderr.strip()}"
        if first.returncode not in verb.also and not first.stderr.strip():
            return f"with {amount}: exit {first.returncode} without a word"
        try:
            lib.check_after(verb, base, acknowledged, first)
        except lib.Fault as fault:
            return f"with {amount}: {fault}"
        return None

    return lib.parallel(one, amounts), len(failed)


def large_answers(top, memory):
    """Who only asks gets all of it, or hears that it is lost."""
    store = lib.make_store(top)
    for _ in range(20):
        lib.call(store, ["send", "--as", "a", "big", "x" * 9000])
    faults, failed = [], 0
    for words in (["inbox", "--as", "big", "--json"], ["list", "--to", "big", "--json"], ["list", "--to", "big", "--jsonl"],
                  ["timeline", "big", "--json"], ["log", "--json"]):
        whole = lib.call(store, words)
        for amount in memory:
            done = lib.call(store, words, preexec_fn=limited(resource.RLIMIT_AS, amount))
            failed += done.returncode != whole.returncode
            if done.returncode == whole.returncode and abs(len(done.stdout) - len(whole.stdout)) > 2000:
                faults.append(f"{words[0]} with {amount}: {len(done.stdout)} of {len(whole.stdout)} characters, exit {done.returncode}")
            if done.returncode != whole.returncode and not done.stderr.strip():
                faults.append(f"{words[0]} with {amount}: exit {done.returncode} without a word")
    return faults, failed


def main():
    tap, failures = lib.Tap(), 0
    start = least_memory()
    memory = [(start + k) << 10 for k in (*range(0, 1024, 16 if lib.SLOW else 64), *range(1024, 6144, 1024))]
    scarcities = [
        ("open files", resource.RLIMIT_NOFILE, list(range(3, 14)), (71, 73, 74)),
        ("memory", resource.RLIMIT_AS, memory, (71, 73, 74)),
        ("file size", resource.RLIMIT_FSIZE, [0, 100, 1000, 1800, 2000, 4096, 20000, 60000], (71, 73, 74)),
    ]
    with lib.workplace() as top:
        store = lib.make_store(top)
        for verb in lib.chosen(store):
            for what, kind, amounts, codes in scarcities:
                faults, failed = squeeze(verb, store, kind, amounts, codes, top)
                tap.result(faults, f"{verb.name}: {what} at {len(amounts)} amounts, {failed} too few")
                failures += failed
        # Damage that cannot be recorded is told as that.
        for verb in [] if lib.SLOW else [verb for verb in lib.verbs(store) if verb.name == "send-behind"]:
            what, kind, amounts, codes = scarcities[-1]
            faults, failed = squeeze(verb, store, kind, amounts, codes, top)
            tap.result(faults, f"{verb.name}: {what} at {len(amounts)} amounts, {failed} too few")
        faults, failed = large_answers(f"{top}/large", memory)
        tap.result(faults, f"large answers at {len(memory)} amounts, {failed} too few")
    tap.result([] if failures else ["nothing was ever scarce"], f"{failures} refusals")
    tap.done()


main()
