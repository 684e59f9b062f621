#!/usr/bin/env python3
# runner: plain
# runner: timeout 300
"""Somebody writes over messages.control, or puts another one in its place, while everything is at work.

Servers, a bridge, a waiting reader, keyed and plain senders and takers go on meanwhile.  Nobody dies of a signal,
everybody ends soon after SIGTERM, what was acknowledged is there once, each key once, nothing is handed out twice, and
the journal is whole.  The storm is the same in each run but for who comes first; ROGER_TEST_SEED makes another one.
"""
import collections
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

SEED = int(os.environ.get("ROGER_TEST_SEED", "15"))
ROUNDS = 1200 if lib.SLOW else 80  # acts of the vandal
EACH = 100000  # messages of each sender, at most
ENDED_S, STUCK_S = 5, 60           # less than any wait for another process, and more than all of them
FIXED = 448                        # bytes before the slots, about


class Storm:
    def __init__(self, store, other):
        self.store, self.control = store, f"{store}/.roger/messages.control"
        self.other = other
        self.lock, self.over = threading.Lock(), threading.Event()
        self.faults, self.codes = [], collections.Counter()
        self.acknowledged, self.keyed, self.given = [], {}, []

    def note(self, fault):
        with self.lock:
            self.faults.append(fault)

    def call(self, *words):
        done = lib.call(self.store, words, timeout=STUCK_S, stdin="")
        with self.lock:
            self.codes[done.returncode] += 1
        if done.returncode < 0 or done.returncode in (70, 124):
            self.note(f"{' '.join(words)} ends with {done.returncode}: {done.stderr.strip()[-200:]}")
        return done

    # ------------------------------------------------------------ at work

    def send_keyed(self, name, which):
        """Two call themselves so and send the same, each until it is acknowledged."""
        for i in range(EACH):
            key = f"{which}:send:{i}"
            while not self.over.is_set():
                done = self.call("send", "worker", f"keyed {key}", "--as", name, "--key", key, "--json")
                if done.returncode == 0:
                    identity = json.loads(done.stdout)["messages"][0]["id"]
                    with self.lock:
                        if self.keyed.setdefault((name, key), identity) != identity:
                            self.faults.append(f"{key} of {name} has two ids")
                    break

    def send_plain(self, name):
        for i in range(EACH):
            if self.over.is_set():
                return
            done = self.call("send", "worker", f"plain {i}", "--as", name, "--json")
            if done.returncode == 0:
                with self.lock:
                    self.acknowledged.append(json.loads(done.stdout)["messages"][0]["id"])

    def take(self, worker):
        while not self.over.is_set():
            done = self.call("claim", "--as", "worker", "--worker", worker, "--lease", "5h", "--json")
            for message in json.loads(done.stdout)["messages"] if done.returncode == 0 else []:
                with self.lock:
                    self.given.append(message["id"])
                while self.call("ack", message["id"], "--as", "worker", "--worker", worker).returncode == 75:
                    pass

    def look(self):
        while not self.over.is_set():
            self.call("inbox", "--as", "worker", "--limit", "1")

    # ------------------------------------------------------------- the vandal

    def truncate(self, chance):
        os.truncate(self.control, chance.choice([0, 1, 100, FIXED, 4096, 5000]))

    def write(self, at, data):
        file = os.open(self.control, os.O_WRONLY)
        try:
            os.pwrite(file, data, at)
        finally:
            os.close(file)

    def zero(self, chance):
        self.write(0, bytes(chance.choice([FIXED, os.stat(self.control).st_size])))

    def scribble_fixed(self, chance):
        self.write(0, chance.randbytes(FIXED))

    def scribble_word(self, chance):
        """One word of the fixed part, a lock among them."""
        self.write(chance.randrange(0, FIXED, 8), chance.randbytes(8))

    def scribble_slots(self, chance):
        size = max(os.stat(self.control).st_size, FIXED + 1)
        for _ in range(chance.choice([1, 50])):
            self.write(chance.randrange(FIXED, size), chance.choice([bytes(16), chance.randbytes(16)]))

    def exchange(self, chance):
        shutil.copyfile(self.other, f"{self.control}.mine")
        os.rename(f"{self.control}.mine", self.control)

    def overwrite(self, chance):
        with open(self.other, "rb") as other:
            self.write(0, other.read())

    def remove(self, chance):
        os.unlink(self.control)

    def rage(self):
        chance = random.Random(SEED)
        acts = [self.truncate, self.zero, self.scribble_fixed, self.scribble_word, self.scribble_slots, self.exchange,
                self.overwrite, self.remove]
        for i in range(ROUNDS):
            act = acts[i % len(acts)]
            try:
                act(chance)
            except FileNotFoundError:
                pass  # nobody has made it anew yet
            time.sleep(chance.choice([0.01, 0.05, 0.1, 0.2]))  # the pace of the storm; nothing is awaited


class Long:
    """A process that lives through it all."""

    def __init__(self, storm, *words):
        self.words, self.storm = words, storm
        self.process = subprocess.Popen([lib.ROGER, *words, "--workspace", storm.store], stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        env=lib.env_for(storm.store))

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            _, said = self.process.communicate(timeout=ENDED_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            return [f"{self.words[0]} does not end by SIGTERM"]
        if self.process.returncode not in (0, 1, 74, 75, -signal.SIGTERM):
            return [f"{self.words[0]} ends with {self.process.returncode}: {said.strip()[-300:]}"]
        return []


def mcp_calls(storm, server, over):
    """Calls of tools, one after the other; what comes back is not read but by the system."""
    calls = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}]
    try:
        while not over.is_set() and server.process.poll() is None:
            call = calls.pop() if calls else {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                              "params": {"name": "inbox", "arguments": {}}}
            server.process.stdin.write(json.dumps(call) + "\n")
            server.process.stdin.flush()
            over.wait(0.02)
    except BrokenPipeError:
        storm.note("mcp is gone")


def judge(storm):
    faults = list(storm.faults)
    try:
        living, archived = lib.check_once(storm.store, storm.acknowledged + list(storm.keyed.values()))
        keys = collections.Counter((m["from"], m["key"]) for m in living + archived if "key" in m)
        faults += [f"key {key} is there {count} times" for key, count in keys.items() if count > 1]
        lib.check_verify(storm.store)
        lib.check_doctor(storm.store)
    except lib.Fault as fault:
        faults.append(str(fault))
    faults += [f"{i} was given {n} times" for i, n in collections.Counter(storm.given).items() if n > 1]
    return faults


def run(top):
    other = lib.make_store(top)
    storm = Storm(f"{top}/w", f"{other}/.roger/messages.control")
    os.mkdir(storm.store)
    lib.must(lib.call(storm.store, ["init"]))
    with open(f"{storm.store}/.roger/config.yaml", "w", encoding="utf-8") as config:
        config.write("size_limits: {max_messages_per_issue_phase: 1000000, max_messages_per_issue: 1000000}\n")
    lib.must(lib.call(storm.store, ["send", "--as", "first", "worker", "hello"]))
    long = [Long(storm, "mcp", "--as", "worker"), Long(storm, "wait", "--as", "nobody", "--timeout", "1h"),
            Long(storm, "bridge", "--timeout", "1h")]
    work = [threading.Thread(target=target, args=args) for target, args in [
        (storm.send_keyed, ("k1", "a")), (storm.send_keyed, ("k1", "a")), (storm.send_keyed, ("k2", "b")),
        (storm.send_plain, ("p1",)), (storm.take, ("t1",)), (storm.take, ("t2",)), (storm.look, ()),
        (mcp_calls, (storm, long[0], storm.over))]]
    for thread in work:
        thread.start()
    storm.rage()
    storm.over.set()
    for thread in work:
        thread.join()
    ended = [fault for process in long for fault in process.end()]
    print(f"# exit statuses {dict(storm.codes)}, {len(storm.keyed)} keyed, {len(storm.acknowledged)} plain, "
          f"{len(storm.given)} given", flush=True)
    return storm, ended


def main():
    tap = lib.Tap()
    with lib.workplace() as top:
        storm, ended = run(top)
        tap.result(ended, "who lives through it ends by SIGTERM, and of nothing else")
        tap.result(judge(storm), "what was acknowledged is there once, keys are there once, nothing was given twice")
        tap.result([] if storm.keyed and storm.acknowledged and storm.given else ["too little"],
                   "messages went through all the time")
    tap.done()


main()
