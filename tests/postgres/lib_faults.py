"""What the tests of faults share: the account of every message, and a proxy that lets a connection go wrong.

Each command notes what it meant to do and what was answered.  Afterwards: what was acknowledged is there exactly once,
what was not, at most once; a sender's numbers have no gap; nothing was handed over twice, and each reader got it in the
order of the journal; verify and doctor have no complaint.
"""
import atexit
import collections
import json
import os
import random
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
        self.dropping, self.silent = False, proxy.silent

    def cut(self):
        for one in (self.client, self.server):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def split(self):
        """Some of its bytes arrive, and then nothing."""
        self.server.sendall(self.message[: random.randrange(1, len(self.message) + 1)])
        self.dropping = True
        self.cut()

    def delay(self):
        """Longer than the server lets a transaction stand still."""
        self.proxy.over.wait(6)

    def swallow(self):
        """What the client sends from here on is lost, and nobody closes."""
        self.dropping = True

    def half_open(self):
        self.dropping = self.silent = True


# What happens at a message: before it is delivered, or after.
FAULTS = {"cut before": (Link.cut, None), "cut after": (None, Link.cut), "cut amid": (Link.split, None), "delayed": (Link.delay, None), "swallowed": (Link.swallow, None),
          "half-open": (Link.half_open, None)}


class Proxy:
    """A socket like the server's.  The connections that are armed have a fault: at message number `at` of all, or at the first that
    holds the bytes `at`."""

    def __init__(self, at=None, fault=None, host=HOST):
        self.host = host
        self.folder = tempfile.TemporaryDirectory(prefix="roger-proxy.")
        self.before, self.after = FAULTS.get(fault, fault) or (None, None)
        self.at, self.messages, self.armed, self.over, self.links = at, 0, True, threading.Event(), []
        self.struck = threading.Event()  # it has gone wrong
        self.silent = False  # nothing comes back
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
            link, armed = Link(self, client, server), self.armed
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
        link.message = message
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

    def part(self):
        """A cut network: what is sent arrives, and nothing comes back, until join()."""
        self.silent = True
        for link in self.links:
            link.silent = True

    def join(self):
        self.silent = False
        for link in self.links:
            link.cut()

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


# --------------------------------------------------------------------- roger


class Server:
    """A `roger serve` of a machine of its own: another home, another folder, another state."""

    def __init__(self, name, address=SERVER, prefix=(), tables=True):
        """tables: they are made, too."""
        self.name, self.prefix = name, prefix
        self.folder = tempfile.TemporaryDirectory(prefix="roger-place.")
        self.home, self.address, self.process = self.folder.name, address, None
        self.socket = f"{self.home}/s"
        self.env = dict(lib.ENV, HOME=self.home, XDG_STATE_HOME=self.home + "/state")
        self.env.pop("XDG_RUNTIME_DIR", None)
        if tables:
            self.env["ROGER_STORE"] = f"{address}#{name}"
        os.mkdir(self.home + "/state", 0o700)
        os.mkdir(self.home + "/w")
        done = self.roger("init")
        assert done.returncode == 0, done.stderr
        Path(self.home, "w/.roger/config.yaml").write_text("size_limits: {max_messages_per_issue: 100000, max_messages_per_issue_phase: 100000}\n")

    def roger(self, *words):
        return subprocess.run([lib.ROGER, *words], cwd=self.home + "/w", env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def start(self, through=None):
        """through: a proxy in place of the address."""
        env = dict(self.env, ROGER_STORE=through.address(self.name)) if through else self.env
        with open(self.home + "/err", "a", encoding="utf-8") as err:
            self.process = subprocess.Popen([*self.prefix, lib.ROGER, "serve", "--socket", self.socket], cwd=self.home + "/w", env=env,
                                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err, text=True, process_group=0 if self.prefix else None)
        self.process.stdout.readline()
        return self

    def kill(self, number=signal.SIGKILL):
        self.process.send_signal(number)

    def end(self):
        """faketime forks, and would be killed alone."""
        if self.process and self.prefix and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        if self.process:
            self.process.kill()
            self.process.wait()


class Place:
    """A workspace of the database with its servers, and commands that ask them."""

    def __init__(self, name, address=SERVER, servers=1, through=None, prefix=()):
        self.name = name
        self.servers = [Server(name, address, prefix).start(through) for _ in range(servers)]
        atexit.register(self.end)

    def end(self):
        for server in self.servers:
            server.end()

    def start(self, *words, prefix=(), **env):
        home = self.servers[0].home
        env = dict(lib.ENV, HOME=home, XDG_STATE_HOME=home + "/state", ROGER_SERVER=",".join("unix:" + one.socket for one in self.servers), **env)
        return subprocess.Popen([*prefix, lib.ROGER, *words], cwd=home, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

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
        path = Path(self.servers[0].home, "batch")
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


class Load:
    """Senders, with keys and without, and workers that share a mailbox, for as long as it takes."""

    def __init__(self, place, senders=3, takers=2):
        self.place, self.account, self.wrong, self.stop = place, Account(), [], False
        self.first = 0.0
        self.sure, self.worst, self.last, self.guard = 0, 0.0, time.monotonic(), threading.Lock()
        self.threads = [threading.Thread(target=self.work, args=(f"w{i}",)) for i in range(senders)]
        self.threads += [threading.Thread(target=self.take, args=(f"t{i}", i % 2)) for i in range(takers)]
        for thread in self.threads:
            thread.start()

    def judge(self, what, done, *more):
        if done.returncode not in (0, *more, *OPEN):
            self.wrong.append(f"{what}: {done.returncode} {done.err}")

    def work(self, name):
        number = 0
        while not self.stop:
            number += 1
            text = f"{name} {number}"
            self.account.send(text, False)
            keyed = ["--key", f"k-{name}-{number}"] if number % 2 else []
            done = self.place.run("send", "bob", text, "--as", name, *keyed)
            if done.returncode in OPEN and keyed:
                done = self.place.run("send", "bob", text, "--as", name, *keyed)
            self.account.send(text, done.returncode == 0)
            self.judge(text, done)
            if done.returncode == 0:
                with self.guard:
                    self.sure, self.worst, self.last = self.sure + 1, max(self.worst, time.monotonic() - self.last), time.monotonic()

    def take(self, name, claims):
        while not self.stop:
            words = ["claim", "--as", "bob", "--worker", name] if claims else ["receive", "--as", "bob"]
            done = self.place.run(*words, "--limit", "2", "--jsonl")
            self.judge(f"{name} {words[0]}", done, 1)
            if done.returncode:
                time.sleep(0.02)
                continue
            self.account.take(name, done.out)
            ids = [json.loads(line)["id"] for line in done.out.splitlines()]
            if claims and ids:
                done = self.place.run("ack", "--as", "bob", "--worker", name, *ids)
                self.judge(f"{name} ack", done)

    def more(self, count, seconds=60):
        before = self.sure
        until("sends", lambda: self.sure >= before + count, seconds)

    def after(self, count):
        """As more(), from now on: how long the first one takes is told."""
        began, before = time.monotonic(), self.sure
        until("a first send", lambda: self.sure > before)
        self.first = max(self.first, time.monotonic() - began)
        self.more(count)

    def end(self):
        self.stop = True
        for thread in self.threads:
            thread.join()

    def judge_all(self, what):
        tap.result(self.wrong, f"{len(self.account.sent)} sends through {what}: sent, or 75; worst gap {self.worst:.2f} s, first afterwards {self.first:.2f} s")
        tap.result(self.place.faults(self.account),
                   f"{self.sure} acknowledged: none lost, none doubled, no number missing, nothing handed over twice")
