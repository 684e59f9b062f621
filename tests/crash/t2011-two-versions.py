#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""Two versions at work on one workspace: the first that was given to anybody, and this one, with another control file.

While a process of the old one lives this one waits, refuses, and names it; once that is gone it goes on.  Then each
has senders and takers, which give way to each other.  Every message that was acknowledged is there once, is handed
over once, and has its own number, in order; both versions then call the workspace sound.
"""
import json
import os
import signal
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

OLD = "f653cf1"
SOURCE = os.environ.get("ROGER_SOURCE", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("ROGER_BUILD", f"{SOURCE}/build")
EACH, SENDERS, TAKERS = 60, 3, 2  # of each version
BUSY = (75, 77)  # the other version is at work; nothing was done


def build_old():
    """The program of that version, built once in the build folder; None where its sources cannot be had."""
    folder = f"{BUILD}/old-{OLD}"
    program = f"{folder}/build/roger"
    if os.path.exists(program):
        return program
    os.makedirs(folder, exist_ok=True)
    git = ["git", "-c", "safe.directory=*", "-C", SOURCE]
    archive = subprocess.run([*git, "archive", OLD], capture_output=True, check=False)
    if archive.returncode:
        return None
    subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "check": True}
    again = ["--wipe"] if os.path.exists(f"{folder}/build") else []  # one that was cut off
    subprocess.run(["meson", "setup", *again, f"{folder}/build", folder, "-Dstatic_parts=false", "-Doptimization=0",
                    "-Dwerror=false"], **quiet)
    subprocess.run(["ninja", "-C", f"{folder}/build", "roger"], **quiet)
    return program


class Work:
    def __init__(self, top):
        self.store = top
        self.acknowledged, self.taken, self.faults = [], [], []
        self.crashed_claims = 0  # of the old version: what each took was told to nobody
        self.lock = threading.Lock()

    def call(self, program, *words):
        return subprocess.run([program, *words, "--workspace", self.store], capture_output=True, text=True,
                              env=lib.env_for(self.store), timeout=60, check=False, stdin=subprocess.DEVNULL)

    def until_free(self, *words):
        """Its answer, once the other version is not at work.  The old one can crash where another process exchanges
        the control file, and is then tried again."""
        crashes = 0
        while True:
            done = self.call(*words)
            if words[0] != lib.ROGER and done.returncode == -signal.SIGSEGV and crashes < 3:
                crashes += 1
            elif done.returncode not in BUSY:
                return done

    def note(self, fault):
        with self.lock:
            self.faults.append(fault)

    def send(self, program, name):
        for i in range(EACH):
            done = self.until_free(program, "send", "worker", f"{name} {i}", "--as", name, "--json",
                                   *(["--key", f"{name}:send:{i}"] if i % 3 == 0 or program != lib.ROGER else []))
            if done.returncode:
                self.note(f"send {name} {i}: exit {done.returncode} {done.stderr.strip()}")
                continue
            reply = json.loads(done.stdout)
            with self.lock:
                self.acknowledged.append((name, reply["seq"], reply["messages"][0]["id"]))

    def take(self, program, number, over):
        idle = 0
        while idle < 2:
            done = self.call(program, "claim", "--as", "worker", "--worker", f"taker-{number}", "--lease", "10m", "--json")
            found = json.loads(done.stdout)["messages"] if done.returncode == 0 else []
            if program != lib.ROGER and done.returncode == -signal.SIGSEGV:
                with self.lock:
                    self.crashed_claims += 1
            elif done.returncode not in (0, 1, *BUSY):
                self.note(f"claim {number}: exit {done.returncode} {done.stderr.strip()}")
            for message in found:
                with self.lock:
                    self.taken.append(message["id"])
                done = self.until_free(program, "ack", message["id"], "--as", "worker", "--worker", f"taker-{number}")
                if done.returncode:
                    self.note(f"ack {number}: exit {done.returncode} {done.stderr.strip()}")
            idle = 0 if found or done.returncode in BUSY or not over.is_set() else idle + 1


class Server:
    """`roger mcp`, a process of the old version that lives on."""

    def __init__(self, program, store, agent):
        self.process = subprocess.Popen([program, "mcp", "--as", agent, "--workspace", store], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        env={**lib.ENV, "ROGER_TRUST": os.path.realpath(store)})
        self.number = 0
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                "clientInfo": {"name": "t", "version": "1"}})

    def ask(self, method, params):
        self.number += 1
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method,
                                             "params": params}) + "\n")
        self.process.stdin.flush()
        while True:
            answer = json.loads(self.process.stdout.readline())
            if answer.get("id") == self.number:
                return answer

    def look(self):
        self.ask("tools/call", {"name": "inbox", "arguments": {}})

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=30)


def judge(work, programs):
    faults = work.faults
    listed = [json.loads(line) for line in
              work.call(lib.ROGER, "list", "--to", "worker", "--jsonl", "--limit", "100000").stdout.splitlines()]
    ids = [message["id"] for message in listed]
    wanted = {identity for _, _, identity in work.acknowledged}
    faults += [f"{i} is lost" for i in wanted - set(ids)] + [f"{i} is there twice" for i in set(ids) if ids.count(i) > 1]
    faults += [f"{i} was given twice" for i in set(work.taken) if work.taken.count(i) > 1]
    untold = wanted - set(work.taken)
    if len(untold) > work.crashed_claims:
        faults += [f"{i} was given to nobody" for i in untold]
    last = {}
    for message in listed:
        if message["seq"] <= last.get(message["from"], 0):
            faults.append(f"{message['from']}: #{message['seq']} after #{last[message['from']]}")
        last[message["from"]] = message["seq"]
    for name, numbers in last.items():
        if numbers != EACH:
            faults.append(f"{name} ends at #{numbers}")
    for program in programs:
        done = work.call(program, "verify", "--json")
        # The old version waits for nobody, so both may write into this log at the same moment.
        faults += [f"verify by {program}: {finding}" for finding in json.loads(done.stdout)["findings"]
                   if not finding["file"].startswith("logs/")]
    return faults


def main():
    tap = lib.Tap()
    old = build_old()
    if not old:
        print(f"ok 1 - two versions at once # skip the sources of {OLD} are not in this clone")
        print("1..1")
        return
    programs = [old, lib.ROGER]
    with lib.workplace() as top:
        work = Work(f"{top}/w")
        os.mkdir(work.store)
        lib.must(work.call(old, "init"))
        with open(f"{work.store}/.roger/config.yaml", "w", encoding="utf-8") as file:
            file.write("size_limits: {max_messages_per_issue_phase: 100000, max_messages_per_issue: 100000}\n")
        server = Server(old, work.store, "worker")
        server.look()
        refused = work.call(lib.ROGER, "send", "worker", "refused", "--as", "new")
        tap.result([] if refused.returncode == 77 and str(server.process.pid) in refused.stderr else [str(refused)],
                   "while the old version is at work this one refuses, and names the process")
        server.look()
        tap.result([f"mcp ends with {status}" for status in [server.close()] if status], "which works on until its end")
        over = threading.Event()
        senders = [threading.Thread(target=work.send, args=(program, f"sender-{v}-{i}"))
                   for v, program in enumerate(programs) for i in range(SENDERS)]
        takers = [threading.Thread(target=work.take, args=(program, f"{v}-{i}", over))
                  for v, program in enumerate(programs) for i in range(TAKERS)]
        for thread in senders + takers:
            thread.start()
        for thread in senders:
            thread.join()
        over.set()
        for thread in takers:
            thread.join()
        tap.result(judge(work, programs), f"{OLD} and this version: {len(work.acknowledged)} messages, once and in order")
        tap.result([] if len(work.acknowledged) == 2 * SENDERS * EACH else [str(len(work.acknowledged))], "all were sent")
    tap.done()


main()
