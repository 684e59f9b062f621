#!/usr/bin/env python3
"""-f of list, activity and timeline prints what is there and then each new thing once: never
twice and never not, with eight writers, while mail is read and archived and the index is
rebuilt or deleted.  It sleeps while nothing happens, and ends when it is told to or when nobody
reads it any more.

    ROGER=build/roger python3 tests/cli/t6005-follow.py
"""
import collections
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading

import lib_idle
from lib_tap import check, done

ROGER = os.path.abspath(os.environ["ROGER"])
for name in list(os.environ):
    if name.startswith("ROGER"):
        del os.environ[name]
WRITERS, EACH, PATIENCE = 8, 30, 120


def roger(*words):
    return subprocess.run([ROGER, *words], capture_output=True, text=True)


def read_line(text):
    """But for its position, which is another one in another index."""
    read = json.loads(text)
    read.pop("position", None)
    return read


def listed(*words):
    return [read_line(line) for line in roger(*words, "--jsonl").stdout.splitlines()]


class Follower:
    """A command with -f; its lines as they come."""

    def __init__(self, *words):
        self.process = subprocess.Popen([ROGER, *words, "-f", "--jsonl"], stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.came = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.came:
                self.lines.append(read_line(line))
                self.came.notify()

    def until(self, what):
        with self.came:
            return self.came.wait_for(lambda: what(self.lines), PATIENCE)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


folder = tempfile.TemporaryDirectory()
os.environ["XDG_STATE_HOME"] = folder.name + "/state"
os.chdir(folder.name)
roger("init")
for number in range(12):
    roger("send", "--as", "amy", "--issue", "old", "bob", f"before {number}")

messages = Follower("list")
check("list -f begins with the last ten", messages.until(lambda lines: len(lines) == 10), messages.lines)
check("which are the last", [m["content"] for m in messages.lines] == [f"before {n}" for n in range(2, 12)], messages.lines)
entries = Follower("log", "--limit", "3")
check("activity -f with as many as --limit says", entries.until(lambda lines: len(lines) == 3), entries.lines)
roger("send", "--as", "amy", "--issue", "work", "bob", "first")
events = Follower("timeline", "--issue", "work")
check("timeline -f with what there is", events.until(lambda lines: len(lines) >= 1), events.lines)


def write(writer):
    for number in range(EACH):
        roger("send", "--as", f"w{writer}", "--issue", "work", f"r{writer}", f"{writer} {number}")


def read(writer):
    while not over.is_set():
        roger("receive", "--as", f"r{writer}", "--limit", "5")


def disturb():
    while not over.is_set():
        roger("archive", "--issue", "work")
        roger("doctor", "rebuild")
        for path in glob.glob(".roger/messages.db*"):
            try:
                os.unlink(path)
            except FileNotFoundError:
                pass


over = threading.Event()
writers = [threading.Thread(target=write, args=(n,)) for n in range(WRITERS)]
others = [threading.Thread(target=read, args=(n,)) for n in (0, 3)] + [threading.Thread(target=disturb)]
for thread in writers + others:
    thread.start()
for thread in writers:
    thread.join()
over.set()
for thread in others:
    thread.join()
roger("archive", "--issue", "work")
roger("send", "--as", "amy", "--issue", "work", "bob", "last")

wanted = [f"{w} {n}" for w in range(WRITERS) for n in range(EACH)] + ["first", "last"]
messages.until(lambda lines: lines[-1]["content"] == "last")
shown = [m["content"] for m in messages.lines[10:]]
check("list -f shows each message once, archived ones too", sorted(shown) == sorted(wanted), collections.Counter(shown) - collections.Counter(wanted) or
      collections.Counter(wanted) - collections.Counter(shown))
check("in the order of the journal", [s for s in shown if s in ("first", "last")] == ["first", "last"] and
      all([n for n in shown if n.startswith(f"{w} ")] == [f"{w} {n}" for n in range(EACH)] for w in range(WRITERS)), shown)
whole = listed("log")
start = next(i for i, entry in enumerate(whole) if entry == entries.lines[0])
entries.until(lambda lines: len(lines) >= len(whole) - start)
check("activity -f shows each line of the log once, in order", entries.lines == whole[start:], (len(entries.lines), len(whole) - start))
sent = collections.Counter(m["id"] for m in listed("list", "--issue", "work") + listed("list", "--issue", "work", "--archived"))
events.until(lambda lines: sum(e["kind"] == "sent" for e in lines) >= len(sent))
told = collections.Counter(e["message"] for e in events.lines if e["kind"] == "sent")
check("timeline -f tells of each send once", told == sent, (told - sent, sent - told))
reads = collections.Counter(m["id"] for m in listed("list", "--issue", "work", "--archived") if m["read"])
events.until(lambda lines: sum(e["kind"] == "read" for e in lines) >= len(reads))
told = collections.Counter(e["message"] for e in events.lines if e["kind"] == "read")
check("and of each reading", told == reads, (told - reads, reads - told))
check("and says nothing twice", max(collections.Counter(json.dumps(e) for e in events.lines).values()) == 1)

# A log that is replaced is shown from its start.
os.rename(".roger/logs/activity.log.jsonl", "moved")
roger("log", "t1", "PLAN_UPDATE", "--message", "in a new log")
check("a log that was replaced is followed", entries.until(lambda lines: lines[-1]["task"] == "t1"), entries.lines[-1:])

# What it costs to wait.
followers = {"list": messages, "activity": entries, "timeline": events}
restless = lib_idle.awake(*[follower.process.pid for follower in followers.values()])
for name, follower in followers.items():
    check(f"{name} -f sleeps while nothing happens", follower.process.pid not in restless, restless)

check("SIGTERM ends it with 0", messages.end() == 0, messages.process.returncode)
check("and SIGINT", entries.end(signal.SIGINT) == 0, entries.process.returncode)
events.end()
closed = subprocess.Popen([ROGER, "list", "-f"], stdout=subprocess.PIPE)
closed.stdout.readline()
closed.stdout.close()
check("a closed pipe ends it, also while nothing comes", closed.wait(PATIENCE) == 74, closed.returncode)
people = subprocess.Popen([ROGER, "list", "-f", "--limit", "1"], stdout=subprocess.PIPE, text=True)
line = people.stdout.readline()
check("and it is for people, too", "last" in line, line)
people.terminate()
people.wait()
for words in (["list", "-f", "--json"], ["list", "-f", "--newest"], ["timeline", "x", "-f", "--mermaid"], ["log", "-f", "--after", "3"], ["inbox", "-f"]):
    refused = roger(*words)
    check(f"{' '.join(words)} is refused", refused.returncode == 64, refused.stderr)
done()
