#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""A disk that fills up, has no inodes left, or turns read-only in the middle.

A command then fails with a reason and dies of no signal; reading goes on;
what was acknowledged is there once; with room again the next command works.
Needs root, for small file systems of its own.
"""
import os
import shutil
import random
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib


class Disk:
    """A small file system at a folder; made and gone with `with`."""

    def __init__(self, top, kind):
        self.top, self.kind, self.path = top, kind, f"{top}/{kind}"

    def __enter__(self):
        os.mkdir(self.path)
        if self.kind == "ext4":
            with open(f"{self.top}/image", "wb") as image:
                image.truncate(9 << 20)
            self.run("mkfs.ext4", "-q", "-F", "-m", "0", f"{self.top}/image")
            self.run("mount", "-o", "loop", f"{self.top}/image", self.path)
        else:
            inodes = 24 if self.kind == "inodes" else 400
            size = 2700 if lib.SLOW else 900  # room for what is sent meanwhile
            self.run("mount", "-t", "tmpfs", "-o", f"size={size}k,nr_inodes={inodes}", "none", self.path)
        return self

    def __exit__(self, *failure):
        subprocess.run(["umount", "-l", self.path], check=False, capture_output=True)

    @staticmethod
    def run(*words):
        subprocess.run(words, check=True, capture_output=True)

    def free(self):
        facts = os.statvfs(self.path)
        return facts.f_bavail * facts.f_frsize

    def fill(self, leave):
        with open(f"{self.path}/filler", "ab", buffering=0) as filler:
            while self.free() > leave:
                try:
                    filler.write(b"f" * min(4096, max(1, self.free() - leave)))
                except OSError:
                    return

    def give(self, size):
        path = f"{self.path}/filler"
        os.truncate(path, max(0, os.path.getsize(path) - size))


class Traffic:
    """Commands that write, by turns, and what they acknowledged."""

    def __init__(self, store):
        self.store, self.acknowledged, self.faults, self.tries, self.failed, self.last = store, [], [], 0, 0, ""
        self.random = random.Random(7)

    def words(self):
        kind = self.tries % 5
        if kind == 3:
            return ["receive", "--as", "bob", "--limit", "2", "--json"]
        if kind == 4 and self.acknowledged:
            return ["archive", "--unread", "--json", self.acknowledged[self.tries % len(self.acknowledged)]]
        body = "b" * self.random.choice((10, 3000))
        return ["send", "--as", "ann", "--issue", f"i{self.tries}", "bob", body]

    def one(self):
        """True: it worked."""
        words = self.words()
        done = lib.call(self.store, words)
        self.last = f"{words[:2]} exits {done.returncode}: {done.stderr.strip()}"
        self.tries += 1
        if done.returncode == 0 and words[0] == "send":
            self.acknowledged += lib.printed_ids(done.stdout)
        elif done.returncode < 0 or done.returncode >= 124:
            self.faults.append(f"{words[:2]} ends with {done.returncode}: {done.stderr.strip()[-200:]}")
        elif done.returncode not in (0, 1) and not done.stderr.strip():
            self.faults.append(f"{words[:2]} exits {done.returncode} without a word")
        self.failed += done.returncode not in (0, 1, 66)
        return done.returncode in (0, 1, 66)

    def look(self, when):
        try:
            lib.check_once(self.store, self.acknowledged)
        except lib.Fault as fault:
            self.faults.append(f"{when}: {fault}")

    def ask(self, when):
        """What asks for events has an answer, whether their rows can be written or not."""
        for words in (["report"], ["agents"], ["log"], ["why", "bob"], ["timeline", "--agent", "bob"], ["status"]):
            done = lib.call(self.store, words)
            if done.returncode:
                self.faults.append(f"{when}: {words} exits {done.returncode}: {done.stderr.strip()}")

    def end(self):
        """With room again: everything just works, with no repair by hand."""
        for _ in range(3):
            if not self.one():
                self.faults.append(f"with room again a command fails: {self.last}")
        self.look("with room again")
        try:
            lib.check_verify(self.store)
        except lib.Fault as fault:
            self.faults.append(str(fault))
        if not self.failed:
            self.faults.append("nothing failed: nothing was tested")


def fill_up(disk, traffic):
    # The index has the messages, and nothing asked for events yet.
    for _ in range(5):
        traffic.one()
    traffic.look("before")
    disk.fill(0)
    traffic.ask("full at once")
    disk.give(32 << 10)
    for turn in range(60 if lib.SLOW else 20):
        disk.fill(traffic.random.randrange(0, 24 << 10))
        failures = tries = 0
        while failures < 3 and tries < 60:
            failures += not traffic.one()
            tries += 1
        traffic.look(f"full, turn {turn}")
        disk.give(32 << 10)
    os.unlink(f"{disk.path}/filler")


def without_inodes(disk, traffic):
    made = []
    try:
        while True:
            made.append(f"{disk.path}/f{len(made)}")
            with open(made[-1], "wb"):
                pass
    except OSError:
        made.pop()
    for turn in range(20):
        traffic.one()
        if turn % 5 == 0:
            traffic.look(f"no inodes, turn {turn}")
    while made:
        os.unlink(made.pop())
    traffic.failed += 1  # a send needs no new file: it may well have worked


def read_only(disk, traffic):
    for turn in range(5):
        disk.run("mount", "-o", "remount,ro", disk.path)
        before = len(traffic.acknowledged)
        for _ in range(5):
            traffic.one()
        if len(traffic.acknowledged) > before:
            traffic.faults.append(f"turn {turn}: acknowledged on a read-only file system")
        traffic.look(f"read-only, turn {turn}")
        disk.run("mount", "-o", "remount,rw", disk.path)
        traffic.one()


def by_stranger(store, words):
    # The program may stand where a stranger cannot come: a copy beside the workspace.
    program = os.path.join(os.path.dirname(store), "roger")
    return lib.call(store, words, executable=program, user=65534, group=65534, extra_groups=())


def without_permission(top):
    """A workspace of somebody else: what may be read is read, all else is refused in words."""
    store, faults = lib.make_store(top), []
    os.chmod(top, 0o755)
    os.chmod(store, 0o755)
    os.chmod(shutil.copy(lib.ROGER, os.path.join(os.path.dirname(store), "roger")), 0o755)
    refused = ["list"], ["send", "--as", "a", "b", "x"], ["receive", "--as", "bob"], ["verify"], ["doctor", "rebuild"]
    for mode in (0o700, 0o755):
        os.chmod(f"{store}/.roger", mode)
        for words in refused:
            done = by_stranger(store, words)
            if done.returncode not in (66, 73, 74, 77, 78) or not done.stderr.strip():
                faults.append(f"{words} by a stranger, folder {mode:o}: exit {done.returncode} {done.stderr.strip()}")
    for folder, _, files in os.walk(f"{store}/.roger"):
        os.chmod(folder, 0o755)
        for name in files:
            os.chmod(f"{folder}/{name}", 0o644)
    for words in (["list"], ["inbox", "--as", "bob"], ["verify"], ["report", "stats"], ["timeline", "bob"]):
        done = by_stranger(store, words)
        if done.returncode:
            faults.append(f"{words} by a reader: exit {done.returncode} {done.stderr.strip()}")
    for words in (["send", "--as", "a", "b", "x"], ["receive", "--as", "bob"], ["doctor", "rebuild"], ["archive", "--to", "bob", "--unread"]):
        done = by_stranger(store, words)
        if done.returncode not in (73, 74, 77) or not done.stderr.strip():
            faults.append(f"{words} by a reader: exit {done.returncode} {done.stderr.strip()}")
    return faults


def main():
    tap = lib.Tap()
    ways = {"tmpfs": fill_up, "ext4": fill_up, "inodes": without_inodes, "readonly": read_only}
    with lib.workplace() as top:
        for kind, way in ways.items():
            if os.geteuid() != 0:
                tap.skip(kind, "needs root for a file system of its own")
                continue
            try:
                with Disk(top, kind) as disk:
                    store = f"{disk.path}/store"
                    os.mkdir(store)
                    lib.must(lib.call(store, ["init"]))
                    traffic = Traffic(store)
                    for _ in range(5):
                        traffic.one()
                    if traffic.failed:
                        raise RuntimeError("fails with room on the disk")
                    way(disk, traffic)
                    traffic.end()
                    tap.result(traffic.faults, f"{kind}: {traffic.tries} commands, {traffic.failed} failed")
            except (subprocess.CalledProcessError, FileNotFoundError) as error:
                tap.skip(kind, f"cannot mount one here: {error}")
        if os.geteuid() == 0:
            tap.result(without_permission(top), "without permission")
        else:
            tap.skip("without permission", "needs root to become somebody else")
    tap.done()


main()
