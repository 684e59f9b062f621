"""What the tests of faults share: the account of every message, and a proxy that lets a connection go wrong.

Each command notes what it meant to do and what was answered.  Afterwards: what was acknowledged is there exactly once,
what was not, at most once; a sender's numbers have no gap; nothing was handed over twice, and each reader got it in the
order of the journal; verify and doctor have no complaint.
"""
import collections
import json
import os
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
HOST = SERVER.split("host=")[1]
BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
AS = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
OPEN = (69, 74, 75)  # the answer is open, or a plain no for now
tap = lib.Tap()


def sql(text, host=HOST, database="postgres"):
    return subprocess.run([BIN / "psql", "-qAtX", "-h", host, "-U", "roger", "-d", database, "-c", text], capture_output=True, text=True)


def until(what, condition, seconds=60):
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, f"{what}: not in time"
        time.sleep(0.02)


# ---------------------------------------------------------------- the account


def from_of(message):
    """Its name is another one in older programs."""
    return message.get("from", message.get("from_phase"))


class Account:
    """What was meant, and what was answered: the judge of everything here."""

    def __init__(self):
        self.sent = {}  # text: acknowledged?
        self.taken = collections.defaultdict(list)  # reader: texts
        self.guard = threading.Lock()

    def send(self, text, acknowledged):
        with self.guard:
            self.sent[text] = self.sent.get(text, False) or acknowledged

    def take(self, reader, out):
        """What a command printed as JSON lines."""
        with self.guard:
            self.taken[reader] += [json.loads(line)["content"] for line in out.splitlines()]

    def faults(self, messages):
        texts = [one["content"] for one in messages]
        there = collections.Counter(texts)
        found = [f"'{text}' was acknowledged and is not there" for text, sure in self.sent.items() if sure and not there[text]]
        found += [f"'{text}' is there {times} times" for text, times in there.items() if times > 1]
        found += [f"'{text}' is there, and nobody sent it" for text in there if text not in self.sent]
        for sender in sorted({from_of(one) for one in messages}):
            seqs = sorted(one["seq"] for one in messages if from_of(one) == sender)
            if seqs != list(range(1, len(seqs) + 1)):
                found.append(f"numbers of {sender}: {seqs}")
        return found + self.faults_of_taking(texts)

    def faults_of_taking(self, texts):
        times = collections.Counter(text for taken in self.taken.values() for text in taken)
        found = [f"'{text}' was handed over {count} times" for text, count in times.items() if count > 1]
        found += [f"'{text}' was handed over, and is not there" for text in times if text not in texts]
        place = {text: i for i, text in enumerate(texts)}
        for reader, taken in self.taken.items():
            order = [place.get(text, 0) for text in taken]
            if order != sorted(order):
                found.append(f"{reader} got {taken}, which is not their order")
        return found


def check_the_account():
    """It can fail."""
    def account(taken=()):
        made = Account()
        for text, sure in (("a", True), ("b", True), ("c", False)):
            made.send(text, sure)
        for text in taken:
            made.take("r", json.dumps({"content": text}))
        return made

    line = lambda text, seq: {"content": text, "from": "x", "seq": seq}
    good = [line("a", 1), line("b", 2)]
    faults = account("ab").faults(good)
    for taken, lines in (("", good[:1]), ("", good + [line("a", 3)]), ("", good + [line("d", 3)]), ("", [line("a", 1), line("b", 3)]),
                         ("aa", good), ("c", good), ("ba", good)):
        faults += [] if account(taken).faults(lines) else [f"unnoticed: {taken} {lines}"]
    tap.result(faults, "the account finds what is lost, doubled, foreign, misnumbered, handed over twice or out of order")


# ------------------------------------------------------------------ the proxy


class Link:
    """A connection through the proxy."""

    def __init__(self, proxy, client, server):
        self.proxy, self.client, self.server = proxy, client, server
        self.dropping = self.silent = False

    def cut(self):
        for one in (self.client, self.server):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def delay(self):
        """Longer than the server lets a transaction stand still."""
        self.proxy.over.wait(6)

    def swallow(self):
        """What the client sends from here on is lost, and nobody closes."""
        self.dropping = True

    def half_open(self):
        self.dropping = self.silent = True


# What happens at a message: before it is delivered, or after.
FAULTS = {"cut before": (Link.cut, None), "cut after": (None, Link.cut), "delayed": (Link.delay, None), "swallowed": (Link.swallow, None),
          "half-open": (Link.half_open, None)}


class Proxy:
    """A socket like the server's.  The first connection has a fault: at message number `at`, or at the first that holds the bytes `at`."""

    def __init__(self, at=None, fault=None, host=HOST):
        self.host = host
        self.folder = tempfile.TemporaryDirectory(prefix="roger-proxy.")
        self.before, self.after = FAULTS.get(fault, fault) or (None, None)
        self.at, self.messages, self.armed, self.over, self.links = at, 0, True, threading.Event(), []
        self.struck = threading.Event()  # it has gone wrong
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
                server.connect(self.host + "/.s.PGSQL.5432")
            except OSError:
                return
            link, armed, self.armed = Link(self, client, server), self.armed, False
            self.links.append(link)
            threading.Thread(target=self.back, args=(link,), daemon=True).start()
            threading.Thread(target=self.forth, args=(link, armed), daemon=True).start()

    def is_there(self, message):
        return self.at is not None and (self.at in message if isinstance(self.at, bytes) else self.messages == self.at)

    def pass_on(self, link, message, armed):
        self.messages += armed
        hit = armed and not self.struck.is_set() and self.is_there(message)
        if hit:
            self.struck.set()
        if hit and self.before:
            self.before(link)
        if not link.dropping:
            link.server.sendall(message)
        if hit and self.after:
            self.after(link)

    def forth(self, link, armed):
        rest, begun = b"", False
        try:
            while data := link.client.recv(65536):
                rest += data
                while (size := self.whole(rest, begun)) and size <= len(rest):
                    begun = True
                    self.pass_on(link, rest[:size], armed)
                    rest = rest[size:]
        except OSError:
            pass
        self.end(link)

    @staticmethod
    def whole(rest, begun):
        """The length of the message that begins here; 0: not known yet."""
        head = 1 if begun else 0
        return int.from_bytes(rest[head : head + 4], "big") + head if len(rest) >= head + 4 else 0

    def deliver(self, link, data):
        link.client.sendall(data)

    def back(self, link):
        try:
            while data := link.server.recv(65536):
                if not link.silent:
                    self.deliver(link, data)
        except OSError:
            pass
        self.end(link)

    def end(self, link):
        """Whoever is cut off does not hear that the other is gone."""
        if link.dropping:
            self.over.wait()
        link.cut()

    def close(self):
        self.over.set()
        self.listener.close()
        for link in self.links:
            link.cut()
        self.folder.cleanup()


class Deaf(Proxy):
    """Notifications do not come through."""

    def __init__(self):
        super().__init__()
        self.dropped, self.rest = 0, collections.defaultdict(bytes)

    def deliver(self, link, data):
        rest = self.rest[link] + data
        while (size := self.whole(rest, True)) and size <= len(rest):
            if rest[:1] == b"A":
                self.dropped += 1
            else:
                link.client.sendall(rest[:size])
            rest = rest[size:]
        self.rest[link] = rest


# --------------------------------------------------------------------- roger


class Place:
    """A workspace of the database, and the folder of one machine."""

    def __init__(self, name, address=SERVER, more=""):
        self.name, self.addressed = name, address
        self.folder = tempfile.TemporaryDirectory(prefix="roger-place.")
        self.must("init")
        Path(self.folder.name, ".roger/config.yaml").write_text(
            "size_limits: {max_messages_per_issue: 100000, max_messages_per_issue_phase: 100000}\n" + more)

    def start(self, *words, through=None, prefix=(), **env):
        address = through.address(self.name) if through else f"{self.addressed}#{self.name}"
        return subprocess.Popen([*prefix, lib.ROGER, *words], cwd=self.folder.name, env=dict(lib.ENV, HOME=self.folder.name, ROGER_STORE=address, **env),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, *words, **more):
        process = self.start(*words, **more)
        process.out, process.err = process.communicate(timeout=240)
        return process

    def must(self, *words, **more):
        done = self.run(*words, **more)
        assert done.returncode == 0, (words, done.returncode, done.err)
        return done.out

    def send_all(self, account, to, texts):
        """In one go, so that there is something to take."""
        path = Path(self.folder.name, "batch")
        path.write_text("".join(json.dumps({"to": to, "content": text}) + "\n" for text in texts))
        self.must("send", "--batch", "--as", "lead", prefix=["sh", "-c", 'exec "$@" <batch', "sh"])
        for text in texts:
            account.send(text, True)

    def lines(self):
        return [json.loads(line) for line in self.must("list", "--jsonl", "--limit", "100000").splitlines()]

    def faults(self, account):
        faults = account.faults(self.lines())
        for verb in ("verify", "doctor"):
            done = self.run(verb)
            faults += [f"{verb}: {done.returncode} {done.out} {done.err}"] if done.returncode else []
        return faults

    def count_messages(self, *words):
        """How many messages of the protocol such a command sends."""
        proxy = Proxy()
        done = self.run(*words, through=proxy)
        assert done.returncode == 0, done.err
        proxy.close()
        return proxy.messages
