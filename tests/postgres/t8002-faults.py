"""What a network and a server can do to a send and a receive, with an account of every message.

A proxy of its own knows where a message of the protocol ends.  After each one that the client sends it cuts the
connection (the message delivered, or not), or stops the client; servers are killed under load.  Each command notes what
it meant to do and what was answered.  Afterwards: what was acknowledged is there exactly once, what was not, at most
once; a sender's numbers have no gap; nothing was handed over twice; verify and doctor have no complaint.

    script/postgres python3 tests/postgres/t8002-faults.py
runner: plain alone timeout 900
"""
import collections
import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "crash"))
import lib

SERVER = os.environ["TEST_POSTGRES"]
SOCKET = SERVER.split("host=")[1] + "/.s.PGSQL.5432"
PSQL = [sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1], "-qAtX", SERVER, "-c"]
tap = lib.Tap()


# ---------------------------------------------------------------- the account


def from_of(message):
    """Its name is another one in older programs."""
    return message.get("from", message.get("from_phase"))


class Account:
    """What was meant, and what was answered: the judge of everything here."""

    def __init__(self):
        self.sent = {}  # text: acknowledged?
        self.taken = collections.Counter()

    def send(self, text, acknowledged):
        self.sent[text] = self.sent.get(text, False) or acknowledged

    def faults(self, messages, senders):
        there = collections.Counter(one["content"] for one in messages)
        found = [f"'{text}' was acknowledged and is not there" for text, sure in self.sent.items() if sure and not there[text]]
        found += [f"'{text}' is there {times} times" for text, times in there.items() if times > 1]
        found += [f"'{text}' is there, and nobody sent it" for text in there if text not in self.sent]
        found += [f"'{text}' was handed over {times} times" for text, times in self.taken.items() if times > 1]
        for sender in senders:
            seqs = sorted(one["seq"] for one in messages if from_of(one) == sender)
            if seqs != list(range(1, len(seqs) + 1)):
                found.append(f"numbers of {sender}: {seqs}")
        return found


def check_the_account():
    """It can fail."""
    account = Account()
    for text, sure in (("a", True), ("b", True), ("c", False)):
        account.send(text, sure)
    line = lambda text, seq: {"content": text, "from": "x", "seq": seq}
    good = [line("a", 1), line("b", 2)]
    account.taken["a"] = 1
    wrong = [good[:1], good + [line("a", 3)], good + [line("d", 3)], [line("a", 1), line("b", 3)]]
    faults = account.faults(good, ["x"]) + [f"unnoticed: {one}" for one in wrong if not account.faults(one, ["x"])]
    account.taken["a"] = 2
    faults += [] if account.faults(good, ["x"]) else ["unnoticed: handed over twice"]
    tap.result(faults, "the account finds what is lost, doubled, foreign, misnumbered or handed over twice")


# ------------------------------------------------------------------ the proxy


class Proxy:
    """A socket like the server's.  act(client, server) is called at message `at` of the first connection; True: deliver it."""

    def __init__(self, at=None, act=None):
        self.folder = tempfile.TemporaryDirectory(prefix="roger-proxy.")
        self.at, self.act, self.messages, self.armed = at, act, 0, True
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.folder.name + "/.s.PGSQL.5432")
        self.listener.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def address(self, name):
        return f"postgres://roger@/postgres?host={self.folder.name}#{name}"

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                server.connect(SOCKET)
            except OSError:
                return
            armed, self.armed = self.armed, False
            threading.Thread(target=self.back, args=(client, server), daemon=True).start()
            threading.Thread(target=self.forth, args=(client, server, armed), daemon=True).start()

    def forth(self, client, server, armed):
        rest, begun = b"", False
        try:
            while data := client.recv(65536):
                rest += data
                while (size := self.whole(rest, begun)) and size <= len(rest):
                    begun = True
                    self.messages += armed
                    if armed and self.messages == self.at and not self.act(client, server):
                        raise OSError
                    server.sendall(rest[:size])
                    if armed and self.messages == self.at:
                        self.act(None, None)
                    rest = rest[size:]
        except OSError:
            pass
        self.shut(client, server)

    @staticmethod
    def whole(rest, begun):
        """The length of the message that begins here; 0: not known yet."""
        head = 1 if begun else 0
        return int.from_bytes(rest[head : head + 4], "big") + head if len(rest) >= head + 4 else 0

    def back(self, client, server):
        try:
            while data := server.recv(65536):
                client.sendall(data)
        except OSError:
            pass
        self.shut(client, server)

    @staticmethod
    def shut(*sockets):
        for one in sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.close()
        self.folder.cleanup()


class Pooler(Proxy):
    """As PgBouncer: the number of the server's process that it tells is one of its own."""

    def back(self, client, server):
        try:
            while data := server.recv(65536):
                at = data.find(b"K\0\0\0\x0c")
                client.sendall(data if at < 0 else data[: at + 5] + b"\0\0\0\x01" + data[at + 9 :])
        except OSError:
            pass
        self.shut(client, server)


class Cut:
    """Cuts at a message: delivered, or not."""

    def __init__(self, deliver):
        self.deliver = deliver

    def __call__(self, client, server):
        if client:
            self.client, self.server = client, server
            return self.deliver
        Proxy.shut(self.client, self.server)
        return True


# --------------------------------------------------------------------- roger


class Place:
    """A workspace of the database, and the folder of one machine."""

    def __init__(self, name):
        self.name = name
        self.folder = tempfile.TemporaryDirectory(prefix="roger-place.")
        self.run("init")
        Path(self.folder.name, ".roger/config.yaml").write_text("size_limits: {max_messages_per_issue: 100000, max_messages_per_issue_phase: 100000}\n")

    def start(self, *words, through=None):
        env = dict(lib.ENV, HOME=self.folder.name, ROGER_STORE=through.address(self.name) if through else f"{SERVER}#{self.name}")
        return subprocess.Popen([lib.ROGER, *words], cwd=self.folder.name, env=env, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words, through=None):
        process = self.start(*words, through=through)
        process.out, process.err = process.communicate(timeout=120)
        return process

    def lines(self):
        return [json.loads(line) for line in self.run("list", "--jsonl", "--limit", "100000").out.splitlines()]

    def senders(self):
        return sorted({from_of(one) for one in self.lines()})

    def check(self, account, senders, name):
        faults = account.faults(self.lines(), senders)
        for verb in ("verify", "doctor"):
            done = self.run(verb)
            faults += [f"{verb}: {done.returncode} {done.out} {done.err}"] if done.returncode else []
        tap.result(faults, name)


def count_messages(place, *words):
    proxy = Proxy()
    done = place.run(*words, through=proxy)
    assert done.returncode == 0, done.err
    proxy.close()
    return proxy.messages


OPEN = (69, 74, 75)  # the answer is open, or a plain no for now


def at_each_message(place, words, run_one):
    """run_one(message, deliver) for each message that such a command sends."""
    count = count_messages(place, *words)
    cases = [(message, deliver) for message in range(1, count + 1, 1 if lib.SLOW else 2) for deliver in (False, True)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return count, [fault for faults in pool.map(lambda one: run_one(*one), cases) for fault in faults]


def cut_sends(place, account, key):
    def one(message, deliver):
        text = f"{'key' if key else 'plain'} {message} {deliver}"
        words = ["send", "bob", text, "--as", f"amy{message % 2}{deliver}{key}", *(["--key", f"k-{text.replace(' ', '-')}"] if key else [])]
        proxy = Proxy(message, Cut(deliver))
        done = place.run(*words, through=proxy)
        proxy.close()
        account.send(text, done.returncode == 0)
        faults = [] if done.returncode in (0, *OPEN) else [f"{text}: {done.returncode} {done.err}"]
        if key and done.returncode:
            again = place.run(*words)
            account.send(text, again.returncode == 0)
            faults += [f"{text}, again: {again.returncode} {again.err}"] if again.returncode else []
        return faults

    account.send(f"first {key}", True)
    count, faults = at_each_message(place, ["send", "bob", f"first {key}", "--as", "first"], one)
    tap.result(faults, f"a send {'with' if key else 'without'} a key, cut at each of {count} messages: sent, or 75 or 69")


def cut_receives(place, account):
    for number in range(400):
        account.send(f"r{number}", True)
    batch = "".join(json.dumps({"to": "bob", "content": f"r{number}"}) + "\n" for number in range(400))
    done = subprocess.run([lib.ROGER, "send", "--batch", "--as", "lead"], input=batch, text=True, capture_output=True, cwd=place.folder.name,
                          env=dict(lib.ENV, HOME=place.folder.name, ROGER_STORE=f"{SERVER}#{place.name}"))
    assert done.returncode == 0, done.stderr
    guard = threading.Lock()

    def take(out):
        with guard:
            for line in out.splitlines():
                account.taken[json.loads(line)["content"]] += 1

    def one(message, deliver):
        proxy = Proxy(message, Cut(deliver))
        done = place.run("receive", "--as", "bob", "--limit", "1", "--jsonl", through=proxy)
        proxy.close()
        take(done.out if done.returncode == 0 else "")
        return [] if done.returncode in (0, 1, *OPEN) else [f"{message}: {done.returncode} {done.err}"]

    count = count_messages(place, "receive", "--as", "bob", "--limit", "1")
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        faults = sum(pool.map(lambda one_: one(*one_), [(m, d) for m in range(1, count + 1, 1 if lib.SLOW else 2) for d in (False, True)]), [])
    tap.result(faults, f"receives cut at each of {count} messages")


def stand_still(place, account):
    """SIGSTOP at some messages: others go on within the time of a lock, and the sleeper finds out."""
    faults = []
    count = count_messages(place, "send", "bob", "still 0", "--as", "carl")
    account.send("still 0", True)
    for message in range(8, count, 9):
        text, halted = f"still {message}", threading.Event()

        def halt(client, server):
            if client:
                os.kill(sleeper.pid, signal.SIGSTOP)
                halted.set()
            return True

        proxy = Proxy(message, halt)
        sleeper = place.start("send", "bob", text, "--as", "carl", through=proxy)
        while not halted.wait(0.1) and sleeper.poll() is None:
            pass
        other = place.run("send", "bob", f"beside {message}", "--as", "dora")
        account.send(f"beside {message}", other.returncode == 0)
        faults += [] if other.returncode == 0 else [f"beside {message}: {other.returncode} {other.err}"]
        if sleeper.poll() is None:
            os.kill(sleeper.pid, signal.SIGCONT)
        out, err = sleeper.communicate(timeout=60)
        account.send(text, sleeper.returncode == 0)
        faults += [] if sleeper.returncode in (0, *OPEN) else [f"{text}: {sleeper.returncode} {err}"]
        proxy.close()
    tap.result(faults, "a sender stands still at every ninth message: others send, and it is sent or 75")


def kill_servers(place, account, rounds):
    """kill -9 of a server process throws all of them out, with what they had not written."""
    stop, guard, faults = threading.Event(), threading.Lock(), []

    def work(name):
        number = 0
        while not stop.is_set():
            number += 1
            done = place.run("send", "bob", f"{name} {number}", "--as", name)
            with guard:
                account.send(f"{name} {number}", done.returncode == 0)
                if done.returncode not in (0, *OPEN):
                    faults.append(f"{name} {number}: {done.returncode} {done.err}")

    workers = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(rounds):
        before = len(account.sent)
        while len(account.sent) < before + 12:
            time.sleep(0.01)
        answer = subprocess.run([*PSQL, "SELECT pid FROM pg_stat_activity WHERE application_name = 'roger' AND pid <> pg_backend_pid() LIMIT 1"],
                                capture_output=True, text=True).stdout.strip()
        if answer:
            os.kill(int(answer), signal.SIGKILL)
    stop.set()
    for worker in workers:
        worker.join()
    while place.run("status").returncode:
        time.sleep(0.1)
    tap.result(faults, f"server processes killed {rounds} times under load: sent, or 75 or 69")


check_the_account()
place, account = Place("cuts"), Account()
proxy = Pooler()
done = place.run("list", through=proxy)
proxy.close()
tap.result([] if done.returncode == 78 and "pooler" in done.err else [f"{done.returncode} {done.err}"], "a pooler is refused")
cut_sends(place, account, False)
cut_sends(place, account, True)
place.check(account, place.senders(), f"{len(account.sent)} sends: none lost, none doubled, no number missing")

place, account = Place("takes"), Account()
cut_receives(place, account)
place.check(account, ["lead"], "nothing was handed over twice")

place, account = Place("still"), Account()
stand_still(place, account)
place.check(account, ["carl", "dora"], "all of it is there once")

place, account = Place("kills"), Account()
kill_servers(place, account, 20 if lib.SLOW else 5)
place.check(account, ["w0", "w1", "w2"], "nothing acknowledged is lost")
tap.done()
