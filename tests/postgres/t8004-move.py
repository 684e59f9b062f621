"""A workspace moves from files into PostgreSQL and back: byte for byte, seals and all, and killed at any call one side is it.

The account is by bytes: every journal and every run before, and after.  A side is the workspace when it shows its mail; the other
one must say 78, or be the empty target of a move that has not begun.

    script/postgres python3 tests/postgres/t8004-move.py
runner: plain timeout 900
"""
import collections
import concurrent.futures
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "crash"))
import lib

SERVER = os.environ["TEST_POSTGRES"]
PSQL = [sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1], "-qAtX", SERVER, "-c"]
TOP = Path(tempfile.mkdtemp(prefix="roger-move."))
ENV = dict(lib.ENV, HOME=str(TOP / "home"))
ACTIVITY = "logs/activity.log.jsonl"
os.makedirs(ENV["HOME"] + "/.local/state")
ENV.pop("XDG_RUNTIME_DIR", None)
tap = lib.Tap()
names = iter(range(100000))
AT_ONCE = 6


def run(where, *words, store=None, before=(), text=None):
    """A command, and where it needs a server, beside one of its own; one that does not start is the answer."""
    env = dict(ENV, ROGER_STORE=store) if store else ENV
    done = run_once(where, words, env, before, text)
    if done.returncode != 69 or "no `roger serve`" not in done.stderr:
        return done
    server = subprocess.Popen([lib.ROGER, "serve"], cwd=where, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if server.stdout.readline():
        done = run_once(where, words, env, before, text)
        server.terminate()
        server.communicate(timeout=60)
    else:
        done = subprocess.CompletedProcess(words, server.wait(), "", server.stderr.read())
        done.told = f"roger serve: {done.returncode} {done.stderr.strip()[:300]}"
    return done


def run_once(where, words, env, before, text):
    done = subprocess.run([*before, lib.ROGER, *words], cwd=where, env=env, input=text, stdin=None if text is not None else subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120)
    done.told = f"roger {' '.join(words[:2])}: {done.returncode} {done.stdout.strip()[:200]} {done.stderr.strip()[:300]}"
    return done


def must(*given, **more):
    done = run(*given, **more)
    if done.returncode:
        raise AssertionError(done.told)
    return done.stdout


def sql(text):
    return subprocess.run([*PSQL, text], check=True, capture_output=True, text=True).stdout.strip()


def wanted(done, status, words=""):
    """What is not as it should be of a command, as a list."""
    return [] if done.returncode == status and words in done.stdout + done.stderr else [f"{done.told}; expected {status} {words}"]


def address():
    """A workspace of its own in the database, with tables."""
    made = f"{SERVER}#move{next(names)}"
    folder = TOP / f"init{next(names)}"
    folder.mkdir()
    must(folder, "init", store=made)
    return made


def bytes_of(folder):
    """Every journal and document of a run, as they are."""
    top = Path(folder) / ".roger"
    return {str(path.relative_to(top)): path.read_bytes() for path in sorted(top.rglob("*"))
            if path.suffix == ".jsonl" or (path.suffix == ".json" and path.parent.name == "subagent-delivery-watchdog")}


def differences(before, after, more=()):
    """Files that are not the same; of those in more, one line more is right."""
    faults = [f"{name} is only on one side" for name in (before.keys() ^ after.keys()) - set(more)]
    for name in before.keys() & after.keys():
        rest = after[name][len(before[name]):]
        if not after[name].startswith(before[name]) or rest.count(b"\n") != (name in more) or (rest and not rest.endswith(b"\n")):
            faults.append(f"{name}: {len(before[name])} bytes before, {len(after[name])} after")
    return faults


def whole_workspace(folder):
    """One of everything that a journal may hold, and lines that are not roger's."""
    folder.mkdir()
    must(folder, "init")
    for number in range(4):
        must(folder, "send", "bob", f"text {number} ünïcode", "--as", "amy", "--key", f"t{number}:ask:1", "--issue", f"app-{number % 2}")
    must(folder, "send", "a/strange:name", "hello", "--as", "bob")
    with open(folder / ".roger/messages.jsonl", "ab") as file:
        file.write(b'not roger\'s \xff\xfe\n\n{"half":\n')
    must(folder, "send", "carl", "after it", "--as", "amy", "--key", "t9:ask:1")
    run(folder, "send", "carl", "nobody reads it", "--as", "amy", "--key", "t8:ask:1", "--confirm", "read", "--within", "100ms")
    must(folder, "receive", "--as", "bob")
    must(folder, "dispatch", "r1", "--as", "amy", "--issue", "app-1")
    must(folder, "archive", "--issue", "app-0")
    must(folder, "log", "cycle", "new")
    must(folder, "log", "cycle", "new")
    must(folder, "log", "purge")
    must(folder, "agents", "session", "new")
    must(folder, "send", "carl", "kept", "--as", "amy", "--key", "t10:ask:3")
    must(folder, "agents", "session", "new")
    with open(folder / ".roger/logs/activity.log.jsonl", "ab") as file:
        file.write(b"another program's line\n")
    return folder


def seal(folder, name, **more):
    path = TOP / name
    path.write_text(must(folder, "seal", **more))
    return path


def is_workspace(folder, store=None):
    """Does this side show its mail?  None: it refuses.  Files are asked as if no `store` were set."""
    config = folder / ".roger/config.yaml"
    text = config.read_text()
    if not store:
        config.write_text("".join(line for line in text.splitlines(True) if not line.startswith("store:")))
    done = run(folder, "list", "--count", store=store)
    config.write_text(text)
    if done.returncode == 78:
        return None
    if done.returncode:
        raise AssertionError(done.told)
    return int(done.stdout) > 0


def sound(folder):
    return wanted(run(folder, "verify"), 0) + wanted(run(folder, "doctor"), 0)


# ---------------------------------------------------------------- there and back


def there_and_back():
    folder = whole_workspace(TOP / "whole")
    sealed, epoch = seal(folder, "files.seal"), must(folder, "agents", "session")
    before, config = bytes_of(folder), (folder / ".roger/config.yaml").read_bytes()
    store = address()
    waiting = subprocess.Popen([lib.ROGER, "wait", "--as", "nobody", "--timeout", "60s"], cwd=folder, env=ENV, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    done = run(folder, "move", store)
    tap.result(wanted(done, 0, "both sides are the same"), "files move into PostgreSQL")
    tap.result(wanted(run(folder, "verify", "--seal", str(sealed)), 0) + sound(folder), "a seal of the files proves the tables, verify and doctor too")
    tap.result([] if must(folder, "agents", "session") == epoch else ["another epoch"], "a session that nobody has used is kept")
    tap.result([] if is_workspace(folder) is None else ["it answers"], "the files refuse with 78")
    told = waiting.communicate(timeout=60)[0]
    tap.result([] if waiting.returncode == 78 and store in told else [f"{waiting.returncode} {told}"], "so does a command that was waiting, and it names the new place")
    tap.result(wanted(run(folder, "move", store), 0, "nothing to do"), "the same move once more does nothing")
    tap.result(wanted(run(folder, "send", "carl", "kept", "--as", "amy", "--key", "t10:ask:3"), 0, "sent before"), "a key is known there")

    config_there = (folder / ".roger/config.yaml").read_text()
    done = run(folder, "move", ".")
    tap.result(wanted(done, 0, "both sides are the same") + [f for f in differences(before, bytes_of(folder), [ACTIVITY]) if ACTIVITY not in f],
               "and back: each journal as it was")
    line = json.loads(bytes_of(folder)[ACTIVITY].splitlines()[-1])
    tap.result([] if line["action"]["details"]["verb"] == "move" and "chain" in line else [str(line)], "but for one chained line that says so")
    tap.result([] if (folder / ".roger/config.yaml").read_bytes() == config and config_there.endswith(f"store: {store}\n") else [config_there[-300:]],
               "the configuration has the address there, and not a byte of it back")
    tap.result(wanted(run(folder, "verify", "--seal", str(sealed)), 0) + sound(folder), "the first seal holds")
    tap.result(wanted(run(folder, "list", store=store), 78, str(folder)), "the tables refuse with 78, and name the folder")
    return folder, store


def again_and_elsewhere(folder, store):
    """Where it was before only what is new is copied; a seal that is made there holds in files, in another folder too."""
    must(folder, "send", "bob", "between", "--as", "amy")
    tap.result(wanted(run(folder, "move", store), 0, "both sides"), "there again, over what was left there")
    must(folder, "send", "bob", "born in tables", "--as", "amy", "--key", "t10:ask:1")
    must(folder, "receive", "--as", "bob")
    sealed, other = seal(folder, "tables.seal"), TOP / "other"
    tap.result(wanted(run(folder, "move", str(other)), 0, "both sides"), "back into another folder")
    tap.result(wanted(run(other, "verify", "--seal", str(sealed), "--key", str(folder / ".roger/seal.pub")), 0) + sound(other),
               "a seal of the tables proves the files")
    tap.result(wanted(run(folder, "list"), 78, str(other)), "the first folder names the second")
    tap.result(wanted(run(other, "move", str(folder)), 0, "both sides"), "from files into files")


def same_at_once():
    folder = whole_workspace(TOP / "twice")
    before, store = bytes_of(folder), address()
    must(folder, "move", store)
    must(folder, "move", ".")
    after = bytes_of(folder)
    tap.result(differences(before, after, [ACTIVITY]), "there and back at once is the same bytes and one line")
    spoiled = dict(after, **{"messages.jsonl": after["messages.jsonl"][:-1] + b"!"})
    tap.result([] if differences(before, spoiled, [ACTIVITY]) and differences(before, before, [ACTIVITY]) else ["it does not"],
               "the account finds a byte and a missing line")


# ---------------------------------------------------------------- refusals


def refusals():
    folder = TOP / "refused"
    folder.mkdir()
    must(folder, "init")
    must(folder, "send", "bob", "hi", "--as", "amy")
    used = address()
    must(TOP / "twice", "send", "bob", "taken", "--as", "amy", store=used)
    before = bytes_of(folder)
    faults = wanted(run(folder, "move", used), 77, "already")
    faults += wanted(run(folder, "move", f"{SERVER}#nobody"), 78, "roger init")
    faults += wanted(run(folder, "move", "postgres://me:hush@127.0.0.1:1/x"), 78, "no password")
    faults += wanted(run(folder, "move", "postgres://me@127.0.0.1:1/x"), 69)
    sql("INSERT INTO roger.schema VALUES (1000, '')")
    faults += wanted(run(folder, "move", address_without_init()), 78, "newer")
    faults += wanted(run(folder, "upgrade", store=used), 78, "newer")
    sql("DELETE FROM roger.schema WHERE version = 1000")
    tap.result(faults, "refused: a target with mail, without tables or a name, with a newer schema, with a password, out of reach")
    holder = subprocess.Popen([lib.ROGER, "bridge"], cwd=folder, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_held(folder)
        faults = wanted(run(folder, "move", used), 77) + wanted(run(folder, "move", address()), 75, "bridge")
    finally:
        holder.terminate()
        holder.wait()
    tap.result(faults, "while a bridge is at work, the answer is 75")
    before.pop(ACTIVITY, None)
    tap.result(differences(before, {name: text for name, text in bytes_of(folder).items() if name in before}) + ([] if is_workspace(folder) else ["it is gone"]),
               "after all that the source is as it was")
    config = folder / ".roger/config.yaml"
    config.write_text("{store: ''}\n")
    tap.result(wanted(run(folder, "move", address()), 78, "line of its own"), "a setting that is on no line of its own is a person's to change")


def address_without_init():
    return f"{SERVER}#move0"


def until_held(folder):
    while run(folder, "bridge", "--once").returncode == 0:
        pass


def upgrades():
    folder = TOP / "old"
    folder.mkdir()
    must(folder, "init")
    tap.result(wanted(run(folder, "upgrade"), 0, "nothing to do"), "files need no upgrade")
    base = SERVER.replace("/postgres?", "/older?")
    sql("CREATE DATABASE older")
    store = f"{base}#team"
    subprocess.run([PSQL[0], "-qAtX", base, "-c", "CREATE SCHEMA roger; CREATE TABLE roger.schema(version int PRIMARY KEY, sha256 text NOT NULL, "
                    "at timestamptz NOT NULL DEFAULT now()); CREATE TABLE roger.workspace(ws int, name text)"], check=True)
    faults = wanted(run(folder, "list", store=store), 78, "roger upgrade")
    subprocess.run([PSQL[0], "-qAtX", base, "-c", "DROP TABLE roger.workspace"], check=True)
    faults += wanted(run(folder, "upgrade", store=store), 0, "applied") + wanted(run(folder, "upgrade", store=store), 0, "up to date")
    tap.result(faults + wanted(run(folder, "list", store=store), 1, "no messages"), "an older schema says so, and is upgraded once")


# ---------------------------------------------------------------- killed


CALLS = ("sendto", "write", "fsync", "fdatasync", "rename", "renameat", "renameat2", "unlinkat", "openat")


def copy(base, folder):
    """A workspace that a person trusts, as that of init."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(base, folder)
    must(folder, "trust", "--accept", json.loads(must(folder, "trust", "--show", "--json"))["sha256"])
    return folder


def calls_of(folder, target):
    """How often a whole move makes each call, by that thread that makes it most: strace counts each thread's."""
    trace = TOP / "trace"
    done = run(folder, "move", target, before=["strace", "-f", "-qq", "-o", trace, "-e", "trace=" + ",".join(CALLS)])
    if done.returncode:
        raise AssertionError(done.told)
    counts = collections.Counter((line.split()[0], line.split(None, 1)[1].split("(")[0]) for line in trace.read_text(errors="replace").splitlines() if "(" in line)
    return {name: max(count for (_, called), count in counts.items() if called == name) for name in CALLS if any(called == name for _, called in counts)}


def steps(counts):
    """The end of a move is where it is decided: every call there, and some of those before."""
    stride = 1 if lib.SLOW else 30
    for name, count in sorted(counts.items()):
        near = count if lib.SLOW else 4
        yield from ((name, number) for number in range(1, count + 1) if number > count - near or number % stride == 0)


def interrupted(folder, before, here, there, target, name, number, what):
    """One move that a call ends; then which side is it, and does the same move go on?"""
    done = run(folder, "move", target, before=lib.injected(name, what, number))
    sides = [is_workspace(folder, here), is_workspace(folder, there)]
    faults = [] if [bool(side) for side in sides].count(True) == 1 else [f"the workspace is in {sides}"]
    faults += [] if not sides[0] or sides[1] in (None, False) else ["both answer"]
    faults += [] if "No such" not in done.stderr and "Segmentation" not in done.stderr else [done.told]
    faults += wanted(run(folder, "move", target), 0)
    if is_workspace(folder, there) is not True or is_workspace(folder, here):
        faults.append("the same move did not go on")
    if not faults and there is None:
        faults += differences(before, bytes_of(folder), [ACTIVITY])
    faults += wanted(run(folder, "verify"), 0)
    return [f"{name} {number} ({what}): {fault}" for fault in faults]


def killed_there(folder, store, name, number):
    return interrupted(folder, {}, None, store, store, name, number, "signal=KILL")


def killed_back(folder, store, name, number):
    must(folder, "move", store)
    return interrupted(folder, bytes_of(folder), store, None, ".", name, number, "signal=KILL")


def kill_everywhere(base):
    """Each in a folder and a workspace of its own; most of the time is spent waiting, so several at once."""
    def kill_at(kill, name, number):
        folder = copy(base, TOP / f"killed{next(names)}")
        faults = kill(folder, address(), name, number)
        shutil.rmtree(folder)
        return faults

    model = copy(base, TOP / "model")
    there, back = calls_of(model, address()), calls_of(model, ".")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for calls, kill, what in ((there, killed_there, "there: one side is the workspace, and the same move continues"), (back, killed_back, "back")):
            asked = [pool.submit(kill_at, kill, *step) for step in steps(calls)]
            tap.result([fault for one in asked for fault in one.result()], f"killed at {len(asked)} calls on the way {what}")


def cut_copies(base):
    """A journal of several pieces; the network, or the disk, fails in the middle of them."""
    big = copy(base, TOP / "big")
    with open(big / ".roger/messages.jsonl", "a", encoding="utf-8") as file:
        for number in range(40000):
            file.write(json.dumps({"id": f"msg-1795230875337-{number:016x}", "issue_id": "big", "from_phase": "amy", "to_phase": "bob", "run_counter": 1,
                                   "message_type": "context", "content": f"{number} " + "x" * 150, "metadata": None, "read": False,
                                   "created_at": 1795230875337, "read_at": None}, separators=(",", ":")) + "\n")
    must(big, "verify")
    before, store = bytes_of(big), address()
    counts = calls_of_copy(big, store)
    faults = []
    # How often it sends depends on how fast the other side reads.
    for number in (counts["sendto"] // 8, counts["sendto"] // 4):
        target = address()
        done = run(big, "move", target, before=lib.injected("sendto", "error=ECONNRESET", f"{number}+"))
        faults += [] if done.returncode in (69, 75) else [done.told]
        faults += [] if is_workspace(big) and not is_workspace(big, target) else ["not the source"]
        faults += wanted(run(big, "move", target), 0, "both sides") + wanted(run(big, "move", "."), 0, "both sides")
    done = run(big, "move", address(), before=lib.injected("sendto", "error=ECONNRESET", f"{counts['sendto'] // 2}+"))
    after = bytes_of(big)
    faults += [] if after["messages.jsonl"] == before["messages.jsonl"] else ["messages are not the same"]
    tap.result(faults, "a copy of several pieces that the network cut goes on where it was")


def calls_of_copy(base, store):
    folder = copy(base, TOP / "counted")
    counts = calls_of(folder, store)
    shutil.rmtree(folder)
    return counts


lib.need_strace()
try:
    place = there_and_back()
    again_and_elsewhere(*place)
    same_at_once()
    refusals()
    upgrades()
    small = TOP / "small"
    small.mkdir()
    must(small, "init")
    must(small, "send", "bob", "one", "--as", "amy", "--key", "t1:ask:1")
    must(small, "send", "carl", "two", "--as", "bob")
    must(small, "dispatch", "r1", "--as", "amy")
    kill_everywhere(small)
    cut_copies(small)
    tap.done()
finally:
    shutil.rmtree(TOP, ignore_errors=True)
