#!/usr/bin/env python3
# runner: plain
# runner: timeout 3000
"""The index is never believed when it is wrong.

A workspace is copied, one thing in its index files is changed (a bit, bytes,
pages exchanged or put back from before, SQL statements, a write-ahead log,
connections that other programs keep open, rollback journals that were left
behind), and the next command must answer as one does that has no index at all:
no key is stored twice, nothing that was read or leased is handed out, nothing
that is unread is withheld.  One in four is asked in another boot.  Then the same under load.  Then another program
does what seed 004 says, for each of many messages: it appends a line and
inserts or replaces a row; each is handed out once, and nothing is made anew.

ROGER_TEST_SLOW=1: 10,000 changes at rest, 1,000 under load, 100,000 rows.  Words
say which part to do: rest, load, rows.
"""
import collections
import glob
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

AT_REST, UNDER_LOAD, ROWS = (10000, 1000, 100000) if lib.SLOW else (240, 24, 600)
SEED = int(os.environ.get("ROGER_TEST_SEED", "20"))
PAGE = 4096
AGENTS = ("ann", "bob", "eve", "kim")
CONFIG = "size_limits:\n  max_messages_per_issue_phase: 1000000\n  max_messages_per_issue: 1000000\nactivity:\n  own: false\n"


def told(store, words):
    done = lib.call(store, words)
    return done.returncode, done.stdout


# ------------------------------------------------------------------ the workspace


def ids_of(text):
    return [m["id"] for m in json.loads(text)["messages"]]


def fill(store, rounds, rng):
    """Messages in every state: unread, read, leased, archived, with keys, answered."""
    for n in rounds:
        for i, agent in enumerate(AGENTS):
            lib.must(lib.call(store, ["send", "--as", agent, AGENTS[(i + 1) % 4], f"word{n} of {agent} " + "x" * rng.randrange(900),
                                      "--issue", f"i{n % 3}", "--key", f"k{n}:status-update:1", "-q"]))
        lib.must(lib.call(store, ["receive", "--as", AGENTS[n % 4], "--limit", "2", "-q"]))
        lib.must(lib.call(store, ["claim", "--as", AGENTS[(n + 1) % 4], "--worker", "w", "--lease", "1h", "--limit", "1", "-q"]))


def make(folder, rng):
    """A workspace, and the index files as they once were."""
    store = f"{folder}/store"
    os.mkdir(store)
    lib.must(subprocess.run([lib.ROGER, "init", store, "-q"], capture_output=True, text=True, check=False, env=lib.env_for(store)))
    with open(f"{store}/.roger/config.yaml", "w", encoding="utf-8") as config:
        config.write(CONFIG)
    fill(store, range(0, 12), rng)
    lib.must(lib.call(store, ["archive", "--issue", "i2", "-q"]))
    lib.must(lib.call(store, ["doctor", "rebuild", "-q"]))
    lib.must(lib.call(store, ["list", "word1", "-q"]))
    before = {name: lib.read_file(f"{store}/.roger/{name}") for name in index_files(store)}
    fill(store, range(12, 24), rng)
    for words in PROBES_THAT_READ:
        told(store, words)
    lib.must(lib.call(store, ["list", "word1", "-q"]))
    return store, before


def index_files(store):
    return sorted(os.path.basename(p) for p in glob.glob(f"{store}/.roger/messages.db*") if not p.endswith("-journal"))


def write(path, data):
    with open(path, "r+b" if os.path.exists(path) else "wb") as file:  # the same file, as a disk would change it
        file.write(data)
        file.truncate()


def drain(store, agent, taken):
    """Whatever is left, in as many pieces as it takes."""
    while True:
        done = lib.call(store, ["receive", "--as", agent, "--limit", "1000", "--json"], timeout=60)
        if done.returncode == 1:
            return
        taken.update(ids_of(lib.must(done).stdout))


# ------------------------------------------------------------------------ probes

PROBES_THAT_READ = (
    [["list", "--json"], ["list", "--archived", "--json"], ["list", "--issue", "i1", "--json"], ["list", "--from", "ann", "--json"],
     ["list", "--limit", "3", "--json"], ["agents", "--json"], ["log", "sends", "--lines", "--json"],
     ["list", "word3", "--json"], ["report", "stats", "--json"]]
    + [["inbox", "--as", a, "--json"] for a in AGENTS] + [["list", "--count", "--to", a] for a in AGENTS]
    + [["list", "--count", "--to", a, "--issue", "i1"] for a in AGENTS])
PROBES_THAT_WRITE = (
    [["receive", "--as", a, "--json"] for a in AGENTS] + [["receive", "--as", a, "--limit", "1", "--json"] for a in AGENTS]
    + [["claim", "--as", a, "--worker", "v", "--json"] for a in AGENTS]
    + [["send", "--as", a, AGENTS[(i + 1) % 4], "PLACE", "--issue", f"i{n % 3}", "--key", f"k{n}:status-update:1", "--json"]
       for i, a in enumerate(AGENTS) for n in range(0, 24, 5)])
# What is new with each call.
PASSING = ("claimed_until", "claimed_at", "read_at", "journal_bytes", "at", "took_ms", "chain")


def plain(value):
    """Without what differs from call to call."""
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items() if k not in PASSING}
    return [plain(v) for v in value] if isinstance(value, list) else value


def answer(store, words, texts):
    if "PLACE" in words:
        words = [texts[words[words.index("--key") + 1], words[2]] if w == "PLACE" else w for w in words]
    code, out = told(store, words)
    try:
        got = plain(json.loads(out))
    except ValueError:
        return code, out
    if "sends" in words:  # of several logs, in the order in which they were read
        got["attempts"].sort(key=lambda attempt: attempt["id"])
    return code, got


def keys_in(store):
    """How many messages each sender stored with each key."""
    seen = collections.defaultdict(set)
    with open(f"{store}/.roger/messages.jsonl", encoding="utf-8", errors="replace") as journal:
        for line in journal:
            try:
                m = json.loads(line)
            except ValueError:
                continue
            if m.get("idempotent_key"):
                seen[m["from_phase"], m["idempotent_key"]].add(m["id"])
    return seen


def texts_of(store):
    with open(f"{store}/.roger/messages.jsonl", encoding="utf-8") as journal:
        return {(m["idempotent_key"], m["from_phase"]): m["content"] for m in map(json.loads, journal) if m.get("idempotent_key")}


# ----------------------------------------------------------------------- changes

SQL = [
    "delete from keys", "delete from keys where key like 'k5:%'",
    "delete from messages", "delete from messages where to_phase = 'bob'", "delete from leases", "update leases set until = 1",
    "update messages set read = 0", "update messages set read = 1", "update messages set rowid = rowid + 1000",
    "update messages set to_phase = 'eve' where to_phase = 'bob'", "update messages set content = 'forged'",
    "update messages set issue_id = 'i1'", "delete from archived", "update messages set offset = 0",
    "update messages set length = length - 1", "update messages set line = position",
    "update agents set unread = 0", "update agents set seq = 1", "delete from last_seen",
    "delete from replies", "delete from log_entries", "update log_files set offset = 0",
    "insert or replace into messages select * from messages where to_phase = 'bob'", "vacuum", "reindex", "pragma user_version = 3",
    "drop index idx_messages_to_phase", "drop index messages_mailbox", "drop table messages",
    "create trigger t after insert on messages begin delete from messages; end",
    "update progress set lines = 1, offset = 0", "update progress set archived = 0",
]


def change_bytes(store, name, rng, before):
    path, size = f"{store}/.roger/{name}", os.path.getsize(f"{store}/.roger/{name}")
    data, at = bytearray(lib.read_file(path)), rng.randrange(max(size, 1))
    kind = rng.choice(("bit", "byte", "run", "page", "zeros", "swap", "stale", "stale", "file", "cut"))
    pages = size // PAGE
    one, other = rng.randrange(max(pages, 1)) * PAGE, rng.randrange(max(pages, 1)) * PAGE
    if kind == "bit":
        data[at] ^= 1 << rng.randrange(8)
    elif kind == "byte":
        data[at] = rng.randrange(256)
    elif kind == "run":
        data[at:at + 40] = rng.randbytes(len(data[at:at + 40]))
    elif kind == "page":
        data[one:one + PAGE] = rng.randbytes(PAGE)
    elif kind == "zeros":
        data[one:one + PAGE] = bytes(PAGE)
    elif kind == "swap":
        data[one:one + PAGE], data[other:other + PAGE] = data[other:other + PAGE], data[one:one + PAGE]
    elif kind == "stale":
        old = before[name][one:one + PAGE]
        data[one:one + len(old)] = old
    elif kind == "file":
        data = bytearray(before[name])
    else:
        data = data[:at]
    write(path, bytes(data))
    return f"{kind} at {at if kind in ('bit', 'byte', 'run', 'cut') else one} of {name}", None


def run_sql(path, sql, kept=False, wal=False):
    db = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        if wal:
            db.execute("pragma journal_mode = wal")
        db.execute(sql)
    except sqlite3.Error:
        pass
    if kept:
        return db
    db.close()
    return None


def change_sql(store, rng):
    sql = rng.choice(SQL)
    way = rng.choice(("closed", "closed", "open", "wal", "unfinished"))
    path = f"{store}/.roger/messages.db"
    if way == "unfinished":  # an open transaction, and what it leaves when it is killed
        db = sqlite3.connect(path, isolation_level=None, timeout=0)
        try:
            db.execute("pragma cache_size = 1")
            db.execute("begin immediate")
            db.execute(sql)
            for name in ("messages.db", "messages.db-journal"):
                if os.path.exists(f"{store}/.roger/{name}"):
                    shutil.copy(f"{store}/.roger/{name}", f"{store}/{name}.killed")
        except sqlite3.Error:
            pass
        db.close()
        for name in ("messages.db", "messages.db-journal"):
            if os.path.exists(f"{store}/{name}.killed"):
                os.replace(f"{store}/{name}.killed", f"{store}/.roger/{name}")
        return f"killed in '{sql}'", None
    return f"{way}: '{sql}'", run_sql(path, sql, way in ("open", "wal"), way == "wal")


def change_beside(store, name, rng, before):
    """Files that belong to a database, left there by somebody."""
    old = before[name]
    kind = rng.choice(("journal", "hot", "wal"))
    page = rng.randrange(max(len(old) // PAGE, 1)) * PAGE
    if kind == "journal":
        write(f"{store}/.roger/{name}-journal", rng.randbytes(rng.randrange(5000)))
    elif kind == "wal":
        write(f"{store}/.roger/{name}-wal", rng.randbytes(rng.randrange(5000)))
    else:
        write(f"{store}/.roger/{name}-journal", hot_journal(old, page // PAGE + 1))
    return f"{kind} beside {name}", None


def hot_journal(old, number):
    """A rollback journal of SQLite's that would put back one page as it was."""
    nonce, page = 12345, old[(number - 1) * PAGE:number * PAGE].ljust(PAGE, b"\0")
    total = (nonce + sum(page[at] for at in range(PAGE - 200, 0, -200))) & 0xFFFFFFFF
    head = bytes.fromhex("d9d505f920a163d7") + b"".join(
        n.to_bytes(4, "big") for n in (1, nonce, max(len(old) // PAGE, 1), 512, PAGE))
    return head.ljust(512, b"\0") + number.to_bytes(4, "big") + page + total.to_bytes(4, "big")


def change(store, rng, before):
    name = rng.choice(sorted(before))
    roll = rng.random()
    if roll < 0.6:
        return change_bytes(store, name, rng, before)
    return change_sql(store, rng) if roll < 0.9 else change_beside(store, name, rng, before)


# ------------------------------------------------------------------------ at rest


def right_answers(store, texts, folder):
    """By copies without an index."""
    right = {}
    for words in PROBES_THAT_READ + PROBES_THAT_WRITE:
        base = lib.copy(store, f"{folder}/base")
        for path in glob.glob(f"{base}/.roger/messages.db*"):
            os.unlink(path)
        right[tuple(words)] = answer(base, words, texts)
    return right


def wrong_at_rest(store, before, right, texts, n, folder):
    rng = random.Random(SEED * 1000003 + n)
    base = lib.copy(store, f"{folder}/base")
    what, kept = change(base, rng, before)
    if n % 4 == 3 and lib.can_reboot():
        lib.reboot(base)
    first = rng.choice(PROBES_THAT_WRITE if rng.random() < 0.6 else PROBES_THAT_READ)
    probes = [rng.choice(PROBES_THAT_READ) for _ in range(rng.randrange(2))] + [first]
    try:
        for words in probes:
            got = answer(base, words, texts)
            if got != right[tuple(words)]:
                return f"{n}: {what}: {' '.join(words)}: {str(got)[:300]} in place of {str(right[tuple(words)])[:300]}"
        doubled = [k for k, ids in keys_in(base).items() if len(ids) > 1]
        return f"{n}: {what}: {doubled[0]} is stored twice" if doubled else None
    finally:
        if kept:
            kept.close()


def at_rest(tap):
    with lib.workplace() as folder:
        store, before = make(folder, random.Random(SEED))
        texts = texts_of(store)
        right = right_answers(store, texts, folder)
        faults = lib.parallel(lambda n, at: wrong_at_rest(store, before, right, texts, n, at), range(AT_REST))
        tap.result(faults, f"{AT_REST} changes at rest: every next answer is that of the journal")


# --------------------------------------------------------------------- under load


class Load:
    """Senders and takers that go on until they are told to end."""

    def __init__(self, store):
        self.store, self.over, self.faults, self.taken = store, threading.Event(), [], collections.Counter()
        self.sent = collections.defaultdict(set)
        self.threads = [threading.Thread(target=self.send, args=(n,)) for n in range(2)]
        self.threads += [threading.Thread(target=self.take, args=(w,)) for w in ("v", "w")]
        for thread in self.threads:
            thread.start()

    def call(self, words):
        done = lib.call(self.store, words, timeout=60)
        if done.returncode not in (0, 1, 75):
            self.faults.append(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
        return json.loads(done.stdout) if done.returncode == 0 else None

    def send(self, which):
        n = 0
        while not self.over.is_set():
            for _ in range(2):  # the second is the first once more
                got = self.call(["send", "--as", f"s{which}", "bob", f"text {n}", "--key", f"l{n}:status-update:1", "--json"])
                self.sent[which, n] |= {m["id"] for m in (got or {}).get("messages", [])}
            n += 1

    def take(self, worker):
        while not self.over.is_set():
            got = self.call(["receive", "--as", "bob", "--limit", "2", "--json"])
            self.taken.update(m["id"] for m in (got or {}).get("messages", []))
            self.call(["inbox", "--as", worker, "--json"])

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join()
        drain(self.store, "bob", self.taken)


def disturb(store, rng, before):
    """One change while others are at work; what is in the way now is no matter."""
    try:
        _, kept = change(store, rng, before)
        if kept:
            kept.close()
        return True
    except (OSError, IndexError, ValueError, sqlite3.Error):
        return False


def under_load(tap):
    rng = random.Random(SEED + 1)
    with lib.workplace() as folder:
        store, before = make(folder, rng)
        load, made = Load(store), 0
        while made < UNDER_LOAD:
            made += disturb(store, rng, before)
            time.sleep(0.005)  # a pace, nothing is waited for
        load.end()
        faults = load.faults
        mine = {k: ids for k, ids in keys_in(store).items() if k[1].startswith("l")}
        faults += [f"{k} is stored {len(ids)} times" for k, ids in mine.items() if len(ids) > 1]
        faults += [f"{k}: answered with {len(ids)} ids" for k, ids in load.sent.items() if len(ids) > 1]
        faults += [f"{i} was given {n} times" for i, n in load.taken.items() if n > 1]
        faults += [f"{i} was withheld" for ids in mine.values() for i in ids if i not in load.taken]
        done = lib.call(store, ["verify"])
        faults += [f"verify: {done.stdout}{done.stderr}"] if done.returncode else []
        tap.result(faults, f"{UNDER_LOAD} changes under load: {len(mine)} keys once, {len(load.taken)} messages given once")


# -------------------------------------------------------------- another program


def line_of(n):
    return {"id": f"msg-{1700000000000 + n}-{n:016x}", "issue_id": "i", "from_phase": "zoe", "to_phase": f"r{n % 50}", "run_counter": 1,
            "message_type": "data", "content": f"foreign {n}", "metadata": None, "read": False, "created_at": 1700000000000 + n, "read_at": None}


UPSERTS = ["insert or replace into messages values (?,?,?,?,?,?,?,?,?,?,?)",
           "insert into messages values (?,?,?,?,?,?,?,?,?,?,?) on conflict(id) do update set read = excluded.read, content = excluded.content"]


def foreign_rows(tap):
    rng, faults, given = random.Random(SEED + 2), [], collections.Counter()
    with lib.workplace() as folder:
        store, _ = make(folder, rng)
        lib.must(lib.call(store, ["doctor", "rebuild", "-q"]))
        files = {name: os.stat(f"{store}/.roger/{name}").st_ino for name in index_files(store)}
        db = sqlite3.connect(f"{store}/.roger/messages.db", isolation_level=None, timeout=60)
        db.execute("pragma synchronous = off")
        with open(f"{store}/.roger/messages.jsonl", "a", encoding="utf-8") as journal:
            for n in range(ROWS):
                m = line_of(n)
                journal.write(json.dumps(m, separators=(",", ":")) + "\n")
                journal.flush()
                db.execute(UPSERTS[n % 2], list(m.values()))
                if n % 10 == 9 or n < 50:
                    done = lib.call(store, ["receive", "--as", m["to_phase"], "--json"])
                    got = ids_of(done.stdout) if done.returncode == 0 else []
                    given.update(got)
                    if m["id"] not in got:
                        faults.append(f"{n}: not given: {done.returncode} {got} {done.stderr}")
                    if lib.call(store, ["receive", "--as", m["to_phase"], "--json"]).returncode != 1:
                        faults.append(f"{n}: given again")
        db.close()
        for n in range(50):
            drain(store, f"r{n}", given)
        now = {name: os.stat(f"{store}/.roger/{name}").st_ino for name in files}
        faults += [f"{name} was made anew" for name in files if files[name] != now[name]]
        faults += [f"{i} was given {n} times" for i, n in given.items() if n != 1]
        faults += [f"{ROWS - len(given)} were not given"] if len(given) != ROWS else []
        done = lib.call(store, ["doctor"])
        faults += [f"doctor: {done.stdout}{done.stderr}"] if done.returncode else []
        tap.result(faults, f"{ROWS} rows of another program: each given once, nothing made anew")


def main():
    tap = lib.Tap()
    parts = {"rest": at_rest, "load": under_load, "rows": foreign_rows}
    for name in sys.argv[1:] or parts:
        parts[name](tap)
    tap.done()


main()
