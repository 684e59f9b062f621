"""The primary is killed under load, and its synchronous standby promoted: nothing acknowledged is lost or doubled.

Then the new primary gets a standby of its own, and so on.  The worst gap is told, not judged: it depends on the machine.

    script/postgres python3 tests/postgres/t8003-failover.py
runner: plain alone timeout 900
"""
import collections
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "crash"))
import lib

FIRST = os.environ["TEST_POSTGRES"].split("host=")[1]
BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
AS = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
ROUNDS, WORKERS = (100, 3) if lib.SLOW else (3, 3)
tap = lib.Tap()


def sql(folder, text):
    return subprocess.run([BIN / "psql", "-qAtX", "-h", folder, "-U", "roger", "-d", "postgres", "-c", text], capture_output=True, text=True)


def until(what, condition):
    ends = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < ends, f"{what}: not in time"
        time.sleep(0.02)


def add_standby(primary, folder):
    """A copy of the primary that follows it; from now on the primary waits for it."""
    shutil.rmtree(f"{folder}/data", ignore_errors=True)
    subprocess.run([*AS, BIN / "pg_basebackup", "-h", primary, "-U", "roger", "-D", f"{folder}/data", "-R", "-X", "stream", "-c", "fast"],
                   check=True, cwd=folder)
    with open(f"{folder}/data/postgresql.auto.conf", "a", encoding="utf-8") as conf:
        conf.write(f"unix_socket_directories = '{folder}'\nsynchronous_standby_names = ''\n")
    with open(f"{folder}/log", "ab") as log:
        subprocess.Popen([*AS, BIN / "postgres", "-D", f"{folder}/data"], stdout=log, stderr=log, cwd=folder)
    until("standby", lambda: sql(folder, "SELECT 1").stdout == "1\n")
    sql(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
    sql(primary, "SELECT pg_reload_conf()")
    until("synchronous", lambda: "sync" in sql(primary, "SELECT sync_state FROM pg_stat_replication").stdout)


def kill(folder):
    """All of a server at once, as its machine would."""
    leader = int(Path(folder, "data/postmaster.pid").read_text().splitlines()[0])
    os.kill(leader, signal.SIGSTOP)
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(leader)], capture_output=True, text=True).stdout.split()
    for pid in [*children, leader]:
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass
    until("killed", lambda: sql(folder, "SELECT 1").returncode != 0)


class Load:
    """Senders that go on for the whole time, and the account of what was answered."""

    def __init__(self, home, address):
        self.env = dict(lib.ENV, HOME=home, ROGER_STORE=address)
        self.home, self.guard, self.stop = home, threading.Lock(), False
        self.sure, self.asked, self.wrong, self.worst, self.last = set(), set(), [], 0.0, time.monotonic()

    def run(self, *words):
        return subprocess.run([lib.ROGER, *words], cwd=self.home, env=self.env, capture_output=True, text=True, stdin=subprocess.DEVNULL)

    def work(self, name):
        number = 0
        while not self.stop:
            number += 1
            text = f"{name} {number}"
            done = self.run("send", "bob", text, "--as", name)
            with self.guard:
                self.asked.add(text)
                if done.returncode == 0:
                    self.sure.add(text)
                    self.worst, self.last = max(self.worst, time.monotonic() - self.last), time.monotonic()
                elif done.returncode not in (69, 74, 75):
                    self.wrong.append(f"{text}: {done.returncode} {done.stderr}")

    def more(self, count):
        before = len(self.sure)
        until("sends", lambda: len(self.sure) >= before + count)


def judge(sure, asked, texts):
    there = collections.Counter(texts)
    return ([f"lost: {text}" for text in sorted(sure) if not there[text]] + [f"doubled: {text}" for text, times in there.items() if times > 1]
            + [f"never sent: {text}" for text in there if text not in asked])


tap.result([] if judge({"a"}, {"a"}, []) and judge({"a"}, {"a"}, ["a", "a"]) and judge(set(), set(), ["a"]) and not judge({"a"}, {"a"}, ["a"])
           else ["it does not"], "the account finds what is lost, doubled or foreign")
home = tempfile.mkdtemp(prefix="roger-home.")
second = tempfile.mkdtemp(prefix="roger-postgres.", dir=Path(FIRST).parent)
os.chmod(second, 0o711)
if AS:
    shutil.chown(second, "postgres")
try:
    load = Load(home, f"postgres://roger@/postgres?host={FIRST},{second}#failover")
    load.run("init")
    Path(home, ".roger/config.yaml").write_text("size_limits: {max_messages_per_issue: 1000000, max_messages_per_issue_phase: 1000000}\n")
    primary, standby = FIRST, second
    add_standby(primary, standby)
    threads = [threading.Thread(target=load.work, args=(f"w{i}",)) for i in range(WORKERS)]
    for thread in threads:
        thread.start()
    for round_ in range(ROUNDS):
        load.more(20)
        kill(primary)
        assert sql(standby, "SELECT pg_promote()").stdout == "t\n"
        load.more(10)
        primary, standby = standby, primary
        if round_ + 1 < ROUNDS:
            add_standby(primary, standby)
    load.stop = True
    for thread in threads:
        thread.join()
    lines = [json.loads(line) for line in load.run("list", "--jsonl", "--limit", "1000000").stdout.splitlines()]
    tap.result(load.wrong, f"{len(load.asked)} sends through {ROUNDS} failovers: sent, or 75 or 69; worst gap {load.worst:.2f} s")
    tap.result(judge(load.sure, load.asked, [one["content"] for one in lines]), f"{len(load.sure)} acknowledged: none lost, none doubled")
    for verb in ("verify", "doctor"):
        done = load.run(verb)
        tap.result([done.stdout + done.stderr] if done.returncode else [], verb)
finally:
    load.stop = True
    for folder in (FIRST, second):
        if Path(folder, "data/postmaster.pid").exists() and sql(folder, "SELECT 1").returncode == 0 and folder != FIRST:
            kill(folder)
    shutil.rmtree(second, ignore_errors=True)
    shutil.rmtree(home, ignore_errors=True)
tap.done()
