#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""Writers in every way, a bridge that is killed again and again: each message comes in exactly once.

They append in parts, put files in place by a link or a rename, several
messages at once, to one agent and to all; meanwhile mail of an agent that only
knows files is written out.
"""
import collections
import json
import os
import random
import re
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

SECONDS = 60 if lib.SLOW else 8
CONFIG = """\
size_limits:
  max_messages_per_issue_phase: 1000000
  max_messages_per_issue: 1000000
bridge:
  file_only: [filer]
"""


class Writers:
    """Each is a sender of its own, counts for itself, and remembers what it sent to whom."""

    def __init__(self, store):
        self.boxes = f"{store}/.roger/triggers"
        self.store = store
        self.sent = collections.defaultdict(list)
        self.until = time.monotonic() + SECONDS
        self.random = random.Random(7)

    def rounds(self, name):
        number = 0
        while time.monotonic() < self.until:
            number += 1
            yield f"({name} #{number}): {name} {number}\n"
            time.sleep(self.random.random() / 100)

    def append(self, name):
        """Whole lines, beside others who do the same."""
        for text in self.rounds(name):
            with open(f"{self.boxes}/bob.txt", "a", encoding="utf-8") as box:
                box.write(text)
            self.sent["bob"].append(text)

    def parts(self, name):
        """Open, write some, write the rest, close."""
        for text in self.rounds(name):
            cut = self.random.randrange(1, len(text))
            with open(f"{self.boxes}/kim.txt", "ab", buffering=0) as box:
                box.write(text[:cut].encode())
                time.sleep(self.random.random() / 100)
                box.write(text[cut:].encode())
            self.sent["kim"].append(text)

    def put(self, name):
        """A file of its own, put in place once the last one was taken."""
        for text in self.rounds(name):
            mine = f"{self.boxes}/.{name}.tmp"
            with open(mine, "w", encoding="utf-8") as box:
                box.write(text)
            while True:
                try:
                    os.link(mine, f"{self.boxes}/eve.txt")
                    break
                except FileExistsError:
                    time.sleep(0.001)
            os.unlink(mine)
            self.sent["eve"].append(text)

    def broadcast(self, name):
        for text in self.rounds(name):
            with open(f"{self.boxes}/all.txt", "a", encoding="utf-8") as box:
                box.write(text)
            self.sent["all"].append(text)
            time.sleep(0.05)

    def send(self, name):
        for i, _ in enumerate(self.rounds(name)):
            lib.must(lib.call(self.store, ["send", "--as", name, "filer", f"for filer {i}."]))
            self.sent["filer"].append(f"for filer {i}.")
            time.sleep(0.1)


def hammer(store):
    """Everything at once, and a bridge that lives 5 to 150 ms; how many were killed."""
    # "all" is who ever sent or looked, and nobody who only ever got mail.
    for agent in ("bob", "kim", "eve"):
        lib.must(lib.call(store, ["send", "--as", agent, "desk", f"{agent} is here"]))
    writers, kills = Writers(store), 0
    jobs = [("A1", writers.append), ("A2", writers.append), ("K1", writers.parts), ("P1", writers.put), ("P2", writers.put),
            ("B1", writers.broadcast), ("s1", writers.send)]
    threads = [threading.Thread(target=work, args=(name,)) for name, work in jobs]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        with subprocess.Popen([lib.ROGER, "bridge", "--workspace", store], env=lib.env_for(store), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as bridge:
            time.sleep(random.uniform(0.005, 0.15))
            kills += bridge.poll() is None
            bridge.kill()
    for thread in threads:
        thread.join()
    for _ in range(100):
        done = lib.call(store, ["bridge", "--timeout", "500ms"])
        if done.returncode == 1:
            break
        if done.returncode:
            raise lib.Fault(f"the last bridge exits {done.returncode}: {done.stderr[-300:]}")
    return writers.sent, kills


def compare(store, sent):
    """Faults: what is not there as often as it was sent."""
    messages, _ = lib.listed(store)
    there = collections.Counter((m["to"], m["content"]) for m in messages)
    faults = [f"{m} came in {n} times" for m, n in there.items() if n > 1]
    for to in ("bob", "kim", "eve", "all"):
        for text in sent[to]:
            content = text.split("): ")[1].rstrip("\n")
            missing = [agent for agent in (("bob", "kim", "eve", "filer") if to == "all" else (to,))
                       if not there[agent, content]]
            if missing:
                faults.append(f"'{content}' to {to} is not there for {missing}")
    with open(f"{store}/.roger/triggers/filer.txt", encoding="utf-8") as file:
        text = file.read()
    for content in sent["filer"]:
        if text.count(f"): {content}\n") != 1:
            faults.append(f"'{content}' stands in the file {text.count(content)} times")
    return faults


def main():
    tap = lib.Tap()
    with lib.workplace() as top:
        store = f"{top}/store"
        lib.must(lib.call(store, ["init"]))
        with open(f"{store}/.roger/config.yaml", "w", encoding="utf-8") as config:
            config.write(CONFIG)
        for agent in ("bob", "kim", "eve", "filer"):
            lib.must(lib.call(store, ["send", "--as", "lead", agent, "hello"]))
        lib.call(store, ["bridge", "--once"])
        sent, kills = hammer(store)
        faults = compare(store, sent)
        count = sum(len(texts) for texts in sent.values())
        tap.result(faults, f"{count} texts from seven writers came over once, past {kills} killed bridges")
        boxes = f"{store}/.roger/triggers"
        # A document on its way, of a killed bridge, may stay (STEPS.md); what it was to say does not.
        left = {name: [n for n in os.listdir(f"{boxes}/{name}") if not re.search(r"\.new-[\d-]+$", n)]
                for name in (".taken", ".skipped", ".handing")}
        tap.result([f"{name} holds {len(names)}, such as {names[0]}" for name, names in left.items() if names], "nothing is left over")
        for check in (lib.check_verify, lib.check_doctor):
            try:
                check(store)
                tap.result([], check.__name__)
            except lib.Fault as fault:
                tap.result([str(fault)], check.__name__)
        print(f"# {json.dumps({name: len(texts) for name, texts in sent.items()})}, {kills} kills")
    tap.done()


main()
