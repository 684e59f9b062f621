"""A client that stands still (SIGSTOP) inside each lock: others go on, or get 75 after a while, and nothing is lost.

    script/postgres python3 tests/postgres/t8006-locks.py
runner: plain timeout 600
"""
import concurrent.futures
import signal

from lib_faults import *

WAKE = "wake:\n  after: 0s\n  agents:\n" + "".join(f"    z{i}: [\"true\"]\n" for i in range(200))
# What takes a lock, in command number n.  Locks are of the session, but that of appends: a row, in a transaction.
VERBS = {
    "append": (lambda n: ["send", "bob", f"text {n}", "--as", "amy"], "a.state = 'idle in transaction' OR a.backend_xid IS NOT NULL"),
    "change": (lambda n: ["receive", "--as", "bob", "--limit", "1", "--jsonl"], "l.locktype = 'advisory'"),
    "records": (lambda n: ["dispatch", f"run{n}", "--as", "lead", "--within", "1h"], "l.locktype = 'advisory'"),
    "bridge": (lambda n: ["bridge", "--once"], "l.locktype = 'advisory'"),
    "turns": (lambda n: ["wake", "--once"], "l.locktype = 'advisory'"),
}
STOPS, HELD = (10**6, 10**6) if lib.SLOW else (40, 3)


class Still(Proxy):
    """At a message the client stands still; what its connection holds by then is noted."""

    def __init__(self, at, holds):
        super().__init__(at, (self.stop, None))
        self.sleeper, self.ready, self.holds, self.held, self.server, self.stopped = None, threading.Event(), holds, False, 0, threading.Event()

    def deliver(self, link, data):
        at = data.find(b"K\0\0\0\x0c")
        self.server = self.server or (int.from_bytes(data[at + 5 : at + 9], "big") if at >= 0 else 0)
        super().deliver(link, data)

    def stop(self, link):
        self.ready.wait()
        os.kill(self.sleeper.pid, signal.SIGSTOP)
        if self.server:
            until("idle", lambda: sql(f"SELECT 1 FROM pg_stat_activity WHERE pid = {self.server} AND wait_event IS DISTINCT FROM 'ClientRead'").stdout == "")
            self.held = sql(f"SELECT 1 FROM pg_stat_activity a LEFT JOIN pg_locks l USING (pid) WHERE pid = {self.server} AND ({self.holds})").stdout != ""
        self.stopped.set()


def prepare(lock):
    """Two machines with one workspace, and something to do."""
    places, account = [Place(f"still {lock}", more=WAKE), Place(f"still {lock}", more=WAKE)], Account()
    places[0].send_all(account, "bob", [f"first {i}" for i in range(200)])
    for place in places:
        os.makedirs(f"{place.folder.name}/.roger/triggers", exist_ok=True)
    return places, account


def ready(lock, place, account, number):
    """Something to do for it that nobody did before."""
    if lock == "turns":
        place.must("send", f"z{number}", f"mail {number}", "--as", "lead")
        account.send(f"mail {number}", True)


def note(lock, account, number, done):
    """What a command was meant to do, and what it answered."""
    if lock == "append":
        account.send(f"text {number}", done.returncode == 0)
    if lock == "change" and done.returncode == 0:
        account.take(f"reader {number}", done.out)
    return [] if done.returncode in (0, 1, *OPEN) else [f"{lock} {number}: {done.returncode} {done.err}"]


def stand_still(lock):
    words, holds = VERBS[lock]
    places, account = prepare(lock)
    account.send("text 0", True) if lock == "append" else None
    ready(lock, places[0], account, 0)
    counting = Proxy()
    counted = places[0].run(*words(0), through=counting)
    counting.close()
    faults, held, number = note(lock, account, 0, counted), 0, 0
    for message in range(4, counting.messages, max(1, counting.messages // STOPS)):
        if held == HELD:
            break
        proxy, number = Still(message, holds), number + 2
        ready(lock, places[0], account, number)
        proxy.sleeper = sleeper = places[0].start(*words(number), through=proxy)
        proxy.ready.set()
        until("stop", lambda: proxy.stopped.is_set() or sleeper.poll() is not None)
        if proxy.held:
            held += 1
            faults += note(lock, account, number + 1, places[1].run(*words(number + 1)))
        if sleeper.poll() is None:
            os.kill(sleeper.pid, signal.SIGCONT)
        sleeper.out, sleeper.err = sleeper.communicate(timeout=120)
        proxy.close()
        faults += note(lock, account, number, sleeper)
    after = places[1].run(*words(number + 3))
    faults += note(lock, account, number + 3, after) + ([f"afterwards: {after.returncode} {after.err}"] if after.returncode not in (0, 1) else [])
    return held, faults + places[1].faults(account) + ([] if held else ["it never stood still inside the lock"])


check_the_account()
with concurrent.futures.ThreadPoolExecutor(5) as pool:
    for lock, (held, faults) in zip(VERBS, pool.map(stand_still, VERBS)):
        tap.result(faults, f"standing still {held} times inside the lock '{lock}': others go on, or get 75, and the account is right")
tap.done()
