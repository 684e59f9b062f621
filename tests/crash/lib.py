"""What the crash tests share: a workspace, the verbs that write, and what must hold afterwards.

To run one alone:

    ROGER=build/roger python3 tests/crash/t2001-kill.py [VERB...]

Every test prints TAP.  They need strace, and some of them root; a test that
cannot run says so in a line with SKIP.  ROGER_TEST_SLOW=1 makes them thorough.
"""
import collections
import concurrent.futures
import contextlib
import errno
import hashlib
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from dataclasses import dataclass, field

ROGER = os.path.abspath(os.environ.get("ROGER", "build/roger"))
SLOW = os.environ.get("ROGER_TEST_SLOW", "0") not in ("", "0")
# Then it hangs.  A verb that waits three times for ten seconds does not, nor one that is traced on a busy machine.
HANGS_S = 300 if SLOW else 30
BUG_SIGNALS = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV,
               signal.SIGSYS, signal.SIGPIPE}
# roger again, linked dynamically, and what lets its calls go wrong in a fork (faults.c).
FORKS = {"program": os.environ.get("ROGER_DYNAMIC", ""), "preload": os.environ.get("ROGER_FAULTS", "")}
ENV = {k: v for k, v in os.environ.items() if not k.startswith("ROGER")}
ENV["ROGER_TRUST_COMMANDS"] = "1"  # what is configured here may run; cli/t2004-trust says when
SEED = 6  # messages a workspace starts with


# ---------------------------------------------------------------------- TAP


class Tap:
    def __init__(self):
        self.count = self.failures = 0

    def result(self, faults, name, told=8):
        self.count += 1
        self.failures += bool(faults)
        print(f"{'not ' if faults else ''}ok {self.count} - {name}", flush=True)
        for fault in faults[:told]:
            print(f"# {fault}", flush=True)
        if len(faults) > told:
            print(f"# ... {len(faults)} faults in all", flush=True)

    def skip(self, name, why):
        self.count += 1
        print(f"ok {self.count} - {name} # SKIP {why}", flush=True)

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failures else 0)


def skip_all(why):
    print(f"1..0 # SKIP {why}\nok 1 - nothing # SKIP {why}")
    sys.exit(0)


def need_strace():
    try:
        tried = subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True, check=False)
    except FileNotFoundError:
        skip_all("strace is not installed")
    if tried.returncode:
        skip_all("strace may not trace here")


# ------------------------------------------------------------------ running


@contextlib.contextmanager
def workplace(parent=None):
    """A folder that goes away; in memory where there is such a place."""
    parent = parent or ("/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    folder = tempfile.mkdtemp(prefix="roger-crash.", dir=parent)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def env_for(store):
    """The environment of roger there, which is trusted, copy or not: so that each run makes the same calls."""
    env = {**ENV, "ROGER_TRUST": os.path.realpath(store)}
    return {**env, "FAULTS_BOOT_ID": f"{store}/boot_id"} if is_rebooted(store) else env


def reboot(store):
    """From here on roger takes the machine for one that was started again since, in this workspace and its copies."""
    with open(f"{store}/boot_id", "w", encoding="ascii") as file:
        file.write(f"{uuid.uuid4()}\n")


def is_rebooted(store):
    return os.path.exists(f"{store}/boot_id")


def can_reboot():
    """Only faults.c can show another boot."""
    return all(os.path.exists(path) for path in FORKS.values())


class Forks:
    """roger, forked for each call by one process that faults.c made of it: ten times as quick as to start it."""

    local = threading.local()

    def __init__(self):
        self.server = subprocess.Popen([FORKS["program"]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0,
                                       env={**ENV, "LD_PRELOAD": FORKS["preload"]})

    def __del__(self):
        self.server.stdin.close()
        self.server.stdout.close()
        self.server.wait()

    @classmethod
    def mine(cls):
        """That of this thread."""
        if not hasattr(cls.local, "forks"):
            cls.local.forks = cls()
        return cls.local.forks

    def ask(self, *texts):
        request = b"".join(os.fsencode(text) + b"\0" for text in texts)
        self.server.stdin.write(struct.pack("=Q", len(request)) + request)

    def read(self, count, until):
        got = b""
        while len(got) < count:
            ready, _, _ = select.select([self.server.stdout], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError
            part = self.server.stdout.read(count - len(got))
            if not part:
                raise RuntimeError(f"{FORKS['program']} with {FORKS['preload']} is gone")
            got += part
        return got

    def call(self, words, stdin, env, fault, timeout, cwd="/"):
        """Like subprocess.run(); with .calls, the lines of what was recorded or went wrong."""
        until = time.monotonic() + timeout
        try:
            if fault:
                self.ask("end")
            self.ask(fault, cwd, stdin or "", str(len(env)), *(f"{name}={value}" for name, value in env.items()), *words)
            status, *lengths = struct.unpack("=4Q", self.read(32, until))
            out, err, calls = (self.read(length, until).decode(errors="replace") for length in lengths)
        except TimeoutError:
            self.server.kill()  # and the fork dies with it
            self.server.wait()
            del Forks.local.forks
            raise subprocess.TimeoutExpired(words, timeout) from None
        done = subprocess.CompletedProcess(words, os.waitstatus_to_exitcode(status), out, err)
        done.calls = calls.splitlines()
        return done


def forks():
    """Is there what faults.c needs?  Not when slow: strace sees calls that libc makes by itself."""
    return not SLOW and can_reboot()


def call(store, words, stdin=None, before=(), timeout=HANGS_S, fault="", **more):
    """Run roger; a hang shows as exit status 124."""
    argv = [*before, ROGER, *words, "--workspace", store]
    if not before and not more and (fault or forks() or is_rebooted(store)) and "\0" not in (stdin or ""):
        try:
            return Forks.mine().call([*words, "--workspace", store], stdin, env_for(store), fault, timeout)
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(argv, 124, "", f"hung for {timeout} s")
    try:
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, errors="replace", env=env_for(store),
                              timeout=timeout, check=False, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(argv, 124, "", f"hung for {timeout} s")


def must(done):
    if done.returncode:
        raise RuntimeError(f"{done.args} exits {done.returncode}: {done.stderr}")
    return done


def copy(store, to):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(store, to, symlinks=True)
    return to


def parallel(work, items):
    """work(item, folder) for each, with a folder per worker; the results that are not None."""
    with workplace() as top, concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        free = collections.deque()
        for i in range(os.cpu_count() or 1):
            os.mkdir(f"{top}/{i}")
            free.append(f"{top}/{i}")

        def one(item):
            folder = free.popleft()
            try:
                return work(item, folder)
            finally:
                free.append(folder)

        return [result for result in pool.map(one, items) if result is not None]


# ---------------------------------------------------------------- workspace

CONFIG = """\
size_limits:
  max_messages_per_issue_phase: 10
wake:
  after: 0s
  backoff: 1h
  backoff_most: 1h
  agents:
    bob: ["true"]
bridge:
  file_only: [filer]
"""


def make_store(folder):
    """A workspace with read, unread and claimed messages, and an index that lags one behind."""
    store = f"{folder}/seed"
    must(call(store, ["init"]))
    with open(f"{store}/.roger/config.yaml", "w", encoding="utf-8") as config:
        config.write(CONFIG)
    for i in range(SEED - 1):
        must(call(store, ["send", "--as", "ann", "--issue", "work", "bob", f"seed {i}"]))
        if i == 1:
            must(call(store, ["receive", "--as", "bob", "--json"]))
    must(call(store, ["claim", "--as", "bob", "--worker", "w0", "--lease", "1h"]))
    must(call(store, ["send", "--as", "ann", "--issue", "work", "bob", f"seed {SEED - 1}"]))
    return store


def listed(store):
    """All messages, living and archived, as list shows them; ids may come twice only if roger is wrong."""
    living, archived = call(store, ["list", "--jsonl"]), call(store, ["list", "--archived", "--jsonl"])
    for done in (living, archived):
        if done.returncode not in (0, 1):
            raise Fault(f"list exits {done.returncode}: {done.stderr.strip()[-200:]}")
    return ([json.loads(line) for line in living.stdout.splitlines()],
            [json.loads(line) for line in archived.stdout.splitlines()])


class Fault(Exception):
    pass


def check_order(messages):
    """A sender's numbers rise; one send to several has one number.  What came over an edge rises in each mailbox."""
    last = {}
    for message in messages:
        if "seq" not in message:
            continue
        sender, number = (message["from"], message["epoch"]), message["seq"]
        mailbox = *sender, message["to"]
        if (number < last.get(sender, 0) and "via" not in message) or number <= last.get(mailbox, 0):
            raise Fault(f"numbers of {sender} go {last[sender]} then {number}")
        last[sender] = max(last.get(sender, 0), number)
        last[mailbox] = number


def check_once(store, acknowledged):
    """Every id there once, living or archived; numbers rise in the order of the file."""
    living, archived = listed(store)
    counts = collections.Counter(message["id"] for message in living + archived)
    lost = [i for i in acknowledged if not counts[i]]
    twice = [i for i, n in counts.items() if n > 1]
    if lost:
        raise Fault(f"{len(lost)} acknowledged lost, first {lost[0]}")
    if twice:
        raise Fault(f"{len(twice)} there twice, first {twice[0]}")
    check_order(living)
    return living, archived


def check_verify(store):
    done = call(store, ["verify", "--json"])
    if done.returncode:
        raise Fault(f"verify exits {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}")


def check_doctor(store):
    """Whatever was interrupted: no rule is broken, and nothing is left to repair but modes, which tests have set."""
    done = call(store, ["doctor", "--json"])
    if done.returncode not in (0, 65):
        raise Fault(f"doctor exits {done.returncode}: {done.stderr.strip()[-300:]}")
    breaches = [breach for breach in json.loads(done.stdout)["breaches"]
                if breach["severity"] != "note" and breach["kind"] != "mode"]
    if breaches:
        raise Fault(f"doctor finds {breaches[:3]}")


def check_archive(store, archived):
    """What has left the index is in the archive's files, each once."""
    folder, ids = f"{store}/.roger/messages_archive", collections.Counter()
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        with open(f"{folder}/{name}", encoding="utf-8") as lines:
            for line in lines:
                with contextlib.suppress(ValueError):
                    ids[json.loads(line)["id"]] += 1
    for message in archived:
        if ids[message["id"]] != 1:
            raise Fault(f"archived message {message['id']} is {ids[message['id']]} times in the archive")


# -------------------------------------------------------------------- verbs


@dataclass
class Verb:
    """A verb that writes.  promised(store, done, living, archived) raises Fault where exit 0 lied."""

    name: str
    words: list
    promised: object
    stdin: str = None
    also: tuple = (0,)  # exit statuses of the next try
    prepare: list = field(default_factory=list)
    files: dict = field(default_factory=dict)  # that stand in triggers/
    logs: bool = False  # look at the send logs, too
    own_syncs: int = 0  # what it syncs after these is done besides (a notice), and may fail; 0: nothing is
    spoil: object = None  # spoil(store) damages it right before the verb
    after: object = None  # after(store, done) raises Fault, in place of check_after()


def all_or_nothing(prefix, count, cut=False):
    """cut: of a write that the system cut short (74), the whole lines that reached the file stand (STEPS.md)."""
    def look(store, done, living, archived):
        there = sum(message["content"].startswith(prefix) for message in living + archived)
        some = range(count + 1) if cut and done.returncode == 74 else (0, count)
        if there not in ((count,) if done.returncode == 0 else some):
            raise Fault(f"{there} of {count} '{prefix}' are there after exit {done.returncode}")
    return look


def printed_ids(output):
    return re.findall(r"msg-\d+-[0-9a-f]+", output)


def all_of(wanted):
    """Each message that the output names satisfies wanted, once acknowledged."""
    def look(store, done, living, archived):
        where = {message["id"]: message for message in living + archived}
        for i in printed_ids(done.stdout) if done.returncode == 0 else ():
            if i in where and not wanted(where[i]):
                raise Fault(f"{i} was acknowledged, but is {where[i]}")
    return look


def gone(count):
    def look(store, done, living, archived):
        if done.returncode == 0 and len(archived) < count:
            raise Fault(f"{len(archived)} of {count} are archived")
    return look


def same_epoch(store, done, living, archived):
    shown = call(store, ["agents", "session", "show", "--json"])
    if shown.returncode:
        raise Fault(f"session show exits {shown.returncode}: {shown.stderr.strip()}")
    if done.returncode == 0 and json.loads(shown.stdout)["epoch"] != json.loads(done.stdout)["epoch"]:
        raise Fault(f"session new said {done.stdout.strip()}, session show says {shown.stdout.strip()}")


def run_says(run, wanted, messages=0):
    """The run's document is whole, whatever happened; once acknowledged, wanted holds.  Its result is there once."""
    def look(store, done, living, archived):
        shown = call(store, ["runs", run, "--json"])
        if shown.returncode == 66 and done.returncode:
            return
        if shown.returncode:
            raise Fault(f"runs {run} exits {shown.returncode}: {shown.stderr.strip()}")
        found = json.loads(shown.stdout)["runs"][0]
        if done.returncode == 0 and not wanted(found):
            raise Fault(f"acknowledged, but the run is {found}")
        results = sum(m["type"] == "result" and f'"{run}"' in json.dumps(m) for m in living + archived)
        if results > 1 or results < (messages if done.returncode == 0 or found["completed_at"] else 0):
            raise Fault(f"its result is there {results} times")
    return look


# ---------------------------------------------------------------- send logs


def letter_id(sender, target, key, cycle, attempt):
    text = "".join(json.dumps(part) for part in (sender, target, key, cycle)) + str(attempt)
    return "dl-" + hashlib.sha256(text.encode()).hexdigest()[:32]


def asked(store, *words):
    done = call(store, [*words, "--json"])
    if done.returncode not in (0, 1):
        raise Fault(f"{' '.join(words)} exits {done.returncode}: {done.stderr.strip()[-200:]}")
    return json.loads(done.stdout)


def entries_of(store):
    """{(sender, target, key, cycle): [outcome of attempt 1, of 2, ...]}; each attempt is there once, none is left out."""
    entries = collections.defaultdict(dict)
    for entry in asked(store, "log", "sends", "--limit", "4096")["attempts"]:
        which = entry["from"], entry["to"], entry["key"], entry["cycle"]
        if entry["attempt"] in entries[which]:
            raise Fault(f"attempt {entry['attempt']} of {which} is there twice")
        entries[which][entry["attempt"]] = entry["outcome"]
    return entries


def letters_of(store):
    """The dead letters, one for a message at most, and as the file has them."""
    letters = asked(store, "dead")["dead_letters"]
    messages = collections.Counter(letter["message"] for letter in letters)
    ids, path = set(), f"{store}/.roger/dead-letters.jsonl"
    with open(path, encoding="utf-8") if os.path.exists(path) else contextlib.nullcontext(()) as lines:
        for line in lines:
            with contextlib.suppress(ValueError):
                ids.add(json.loads(line)["id"])
    if messages and messages.most_common(1)[0][1] > 1:
        raise Fault(f"{messages.most_common(1)[0]} dead letters for one message")
    if ids != {letter["id"] for letter in letters}:
        raise Fault(f"dead shows {len(letters)} letters, the file holds {len(ids)}")
    return letters


def letters_of_known(store):
    return len({letter["id"] for letter in asked(store, "dead")["dead_letters"]})


def is_sure(store):
    return not os.path.exists(f"{store}/unsure")


def check_sends(store, living, archived, sure=True):
    """What was delivered has its entry; of a key and target there is one message and one dead letter at most.

    Not sure: a line may be there although nobody knows that it is on disk.
    """
    entries, messages = entries_of(store), collections.Counter()
    old = {cycle["id"] for cycle in asked(store, "log", "cycle")["cycles"][:-3]}
    letters_of(store)
    for message in living + archived:
        if not message.get("key") or message["cycle"] in old:
            continue
        which = message["from"], message["to"], message["key"], message["cycle"]
        messages[which] += 1
        attempt = message.get("attempt", 1)
        delivered = message["read"] or not message.get("confirm_by")
        if sure and is_sure(store) and delivered and entries[which].get(attempt) != "delivered":
            raise Fault(f"{message['id']} was delivered, but attempt {attempt} of {which} is {entries[which]}")
        if [n for n in range(1, attempt) if not entries[which].get(n)] and message["cycle"] == "1":
            raise Fault(f"attempts of {which} are missing: {entries[which]}")
    twice = [which for which, count in messages.items() if count > 1]
    if twice:
        raise Fault(f"{twice[0]} has {messages[twice[0]]} messages")


def gather_broken(store, faults):
    """The chains, and each message there once."""
    try:
        check_verify(store)
        check_once(store, [])
    except Fault as fault:
        faults.append(str(fault))


def gather_faults(store, faults):
    """Messages, what was sent with keys, and the chains, of a store where nothing else is known."""
    try:
        living, archived = check_once(store, [])
        check_sends(store, living, archived)
        check_verify(store)
    except Fault as fault:
        faults.append(str(fault))


def letters_are(count, wanted=lambda letter: True):
    """So many dead letters, all as wanted, once it was acknowledged; never more."""
    def look(store, done, living, archived):
        letters, sure = letters_of(store), done.returncode in (0, 75)
        if len(letters) > count or (sure and len(letters) < count):
            raise Fault(f"{len(letters)} dead letters after exit {done.returncode}")
        if sure and not all(wanted(letter) for letter in letters):
            raise Fault(f"after exit {done.returncode} the dead letter is {letters}")
    return look


def cycles_rise(store, done, living, archived):
    cycles = asked(store, "log", "cycle")["cycles"]
    if [cycle["number"] for cycle in cycles] != list(range(1, len(cycles) + 1)):
        raise Fault(f"the cycles are {cycles}")
    if done.returncode == 0 and json.loads(done.stdout)["number"] > len(cycles):
        raise Fault(f"a cycle is gone: {done.stdout}")


def purged(store, done, living, archived):
    """Entries of the last three cycles stay; a key of an old one is in the log, or remembered."""
    kept = {which[2] for which in entries_of(store)}
    for key in ("t:send:c2", "t:send:c3", "t:send:c4", "t:escalation:1"):
        if key not in kept:
            raise Fault(f"the entry of '{key}' is gone")
    old = asked(store, "log", "sends", "--from", "ann", "--key", "t:send:c1")
    if not old["attempts"] and not old.get("purged"):
        raise Fault("a purged key is forgotten")
    if done.returncode == 0 and old["attempts"]:
        raise Fault("an entry of the first cycle is still there")


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def read_late(store, done, living, archived):
    """What was timed out and then read is delivered."""
    read = [m for m in living + archived if m["issue"] == "late" and m["read"]]
    if done.returncode == 0 and not read:
        raise Fault("acknowledged, but not read")
    outcomes = entries_of(store)["ann", "bob", "t:escalation:1", "1"]
    if done.returncode == 74:  # from then on it shows as read, and nobody knows whether that is on disk
        with open(f"{store}/unsure", "w", encoding="utf-8"):
            pass
    if outcomes != {1: "delivered" if read else "timeout"} and is_sure(store):
        raise Fault(f"read: {bool(read)}, but its entry says {outcomes}")


def logged(task, least, most):
    """The activity log can be read; once acknowledged, so many entries of the task are there: of one call or of two."""
    def look(store, done, living, archived):
        shown = call(store, ["log", "--task", task, "--jsonl"])
        if shown.returncode not in (0, 1):  # 1: there are none
            raise Fault(f"log exits {shown.returncode}: {shown.stderr.strip()}")
        count = len([json.loads(line) for line in shown.stdout.splitlines()])
        if count > most or (done.returncode == 0 and count < least):
            raise Fault(f"{count} entries are there after exit {done.returncode}, expected {least} to {most}")
    return look


def looked(store, done, living, archived):
    """What an inbox showed changed no message; its note names each message once, unless a kill came in between."""
    noted = collections.Counter(i for entry in activities(store, "inbox") for i in entry["action"]["details"]["ids"])
    if any(times > 2 for times in noted.values()):
        raise Fault(f"looks are noted {max(noted.values())} times")
    if done.returncode == 0 and "note:" not in done.stderr and not noted:
        raise Fault("a look is not noted, and nobody says so")
    if sum(not m["read"] for m in living if m["to"] == "bob") < SEED - 2:
        raise Fault("a look changed a message")


def woken(store, done, living, archived):
    """Losing a hint loses no message; one that was told of is in the log."""
    attempts = activities(store, "wake")
    if done.returncode == 0 and "attempt 1" in done.stdout and not attempts:
        raise Fault("an attempt was told of, and is not in the log")
    if len(attempts) > 2:
        raise Fault(f"{len(attempts)} attempts")
    if sum(not m["read"] for m in living if m["to"] == "bob") < SEED - 2:
        raise Fault("waking changed a message")


def activities(store, verb):
    shown = call(store, ["log", "--jsonl"])
    if shown.returncode not in (0, 1):
        raise Fault(f"activity exits {shown.returncode}: {shown.stderr.strip()}")
    entries = [json.loads(line) for line in shown.stdout.splitlines()]
    return [entry for entry in entries if entry["action"]["details"].get("verb") == verb]


def foreign_entries(task, count):
    return "".join(json.dumps({"timestamp": f"2025-10-05T14:40:{i:02}Z", "task_id": task,
                               "action": {"type": "TOOL_EXEC", "details": {"n": i}},
                               "outcome": {"status": "SUCCESS"}}) + "\n" for i in range(count))


def sealed(store, done, living, archived):
    """What was acknowledged is proved by the key that is there; a key half-made is no hindrance."""
    if done.returncode == 0:
        proved = call(store, ["verify", "--seal", "-"], stdin=done.stdout)
        if proved.returncode:
            raise Fault(f"verify --seal exits {proved.returncode}: {(proved.stdout + proved.stderr).strip()[-300:]}")
    again = call(store, ["seal"])
    if again.returncode:
        raise Fault(f"the next seal exits {again.returncode}: {again.stderr.strip()[-200:]}")
    if done.returncode == 0 and json.loads(again.stdout)["public_key"] != json.loads(done.stdout)["public_key"]:
        raise Fault("the key is another one")


TRIGGERS = {"bob.txt": "(LEAD #1): bridged 1\n(LEAD #3): bridged 2\n(LEAD #2): stale\n",
            "eve.txt": "(LEAD #2): bridged 3\n(LEAD): bridged 4",
            ".taken/1700000000000-00112233445566ff-0.kim.txt": "(LEAD #1): bridged 5\nand more\n"}


def standing(store):
    """Everything that stands in triggers/, whether it was taken or not."""
    texts = []
    for folder in (f"{store}/.roger/triggers", f"{store}/.roger/triggers/.taken", f"{store}/.roger/triggers/.skipped"):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if os.path.isfile(f"{folder}/{name}"):
                with open(f"{folder}/{name}", encoding="utf-8") as file:
                    texts.append(file.read())
    return "\n".join(texts)


def bridged(store, done, living, archived):
    """Each text came in once, or still stands there; what is stale is kept."""
    # Whether somebody still writes could not be told: it waits for the next time.
    untold = any(line.startswith("fcntl ") and "/.taken/" in line for line in getattr(done, "calls", []))
    there = collections.Counter(m["content"].split("\n")[0] for m in living + archived if m.get("via"))
    texts = standing(store)
    for i in range(1, 6):
        text = f"bridged {i}"
        if there[text] > 1:
            raise Fault(f"'{text}' came in {there[text]} times")
        if not there[text] and text not in texts:
            raise Fault(f"'{text}' is gone")
        if not there[text] and done.returncode == 0 and not untold:
            raise Fault(f"'{text}' did not come in")
    if there["stale"] or "stale" not in texts:
        raise Fault("what is stale came in, or is gone")


def written_out(store, done, living, archived):
    """Mail of an agent that knows files stands in its file once, and only what stands there is read."""
    path, text = f"{store}/.roger/triggers/filer.txt", ""
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            text = file.read()
    for message in living:
        if message["to"] != "filer":
            continue
        count = text.count(message["content"])
        if count > 1 or (message.get("handed_at") and not count) or (done.returncode == 0 and not message.get("handed_at")):
            raise Fault(f"{message['id']} stands there {count} times, read: {message['read']}")


def nothing(store, done, living, archived):
    pass


# ------------------------------------------------------------------- damage


def alter(store):
    """One bit of the last line's text."""
    with open(f"{store}/.roger/messages.jsonl", "r+b") as journal:
        data = journal.read()
        at = data.rindex(b'"content":"') + 11
        journal.seek(at)
        journal.write(bytes([data[at] ^ 1]))


def empty(store):
    os.truncate(f"{store}/.roger/messages.jsonl", 0)


def forget_and_cut(store):
    """So that message-state.json is all that knows how long the journal was."""
    os.unlink(f"{store}/.roger/messages.control")
    os.truncate(f"{store}/.roger/messages.jsonl", os.path.getsize(f"{store}/.roger/messages.jsonl") // 2)


def seen(spoil):
    """Damage that a command has found and written down."""
    def make(store):
        spoil(store)
        call(store, ["list"])
    return make


def damages_in(store):
    """{id: its last line} of damage.jsonl."""
    path, found = f"{store}/.roger/damage.jsonl", {}
    with open(path, encoding="utf-8") if os.path.exists(path) else contextlib.nullcontext(()) as lines:
        for line in lines:
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                found[entry["id"]] = entry
    return found


def check_reported(store, reported):
    """Is it said wherever it must be, once, or nowhere?"""
    done = call(store, ["list", "--json"])
    if done.returncode not in (0, 1) or ('"damage":"messages.jsonl' in done.stdout) != reported:
        raise Fault(f"reported: {reported}, but list says {done.returncode} {(done.stdout + done.stderr)[-300:]}")
    for verb in ("verify", "doctor"):
        done = call(store, [verb])
        if done.returncode != (65 if reported else 0):
            raise Fault(f"reported: {reported}, but {verb} exits {done.returncode}: {(done.stdout + done.stderr)[-300:]}")
    if ("roger dismiss messages.jsonl" in call(store, ["status"]).stdout) != reported:
        raise Fault(f"reported: {reported}, but not so by status")
    if len(damages_in(store)) != 1:
        raise Fault(f"it is noted as {list(damages_in(store).values())}")


def check_accepted(store):
    """After that nothing is damaged, and mail flows."""
    entry = next(iter(damages_in(store).values()))
    if "accepted_at" not in entry:
        place = entry["file"] + (f":{entry['line']}" if entry["line"] else "")
        must(call(store, ["dismiss", place, "--reason", "a test"]))
    check_reported(store, False)
    done = call(store, ["send", "--as", "ann", "bob", "after it", "--json"])
    if done.returncode:
        raise Fault(f"a send afterwards exits {done.returncode}: {done.stderr.strip()[-200:]}")
    if json.loads(done.stdout)["seq"] <= SEED:
        raise Fault(f"a number is given again: {done.stdout}")
    check_reported(store, False)


def found_once(store, done):
    """Who answered has said it, whoever was killed; it is said until somebody accepts it."""
    if done.returncode in (0, 1) and '"damage":"messages.jsonl' not in done.stdout:
        raise Fault(f"answered without a word of it: {done.stdout[-300:]}")
    check_reported(store, True)
    check_accepted(store)


def told_once(store, message, due):
    """Its sender has one notice of a message that was refused or died, once the chores were done, and never two."""
    must(call(store, ["runs", "sweep"]))
    living, archived = listed(store)
    notices = [m for m in living + archived if m.get("key") == f"{message['id']}:notice:1"]
    if len(notices) != due or any(m["from"] != "roger" or m["to"] != message["from"] for m in notices):
        raise Fault(f"due: {due}, notices: {notices}")


def refused(store, done, living, archived):
    for message in [m for m in living if m.get("claimed_by") == "w0"]:
        if done.returncode == 0 and message.get("ack_outcome") != "rejected":
            raise Fault(f"acknowledged, but {message}")
        told_once(store, message, int(message.get("ack_outcome") == "rejected"))


def worn_out(store, done, living, archived):
    """What eve's workers let expire is given to nobody; once that was answered it is a dead letter, once."""
    [message] = [m for m in living if m.get("key") == "t:send:9"]
    letters = letters_of(store)
    if message.get("leases", 0) > 3:
        raise Fault(f"given once more: {message}")
    if len(letters) > 1 or (done.returncode in (0, 1) and not (letters and message.get("dead_at"))):
        raise Fault(f"dead letters {letters} of {message}")
    if message.get("dead_at") and not letters:
        raise Fault(f"dead without a letter: {message}")
    told_once(store, message, 1)


def put_back(store, done, living, archived):
    """It is in the mailbox before its letter says so."""
    [message] = [m for m in living if m.get("key") == "t:send:9"]
    [letter] = letters_of(store)
    if letter["status"] == "redelivered" and message.get("dead_at"):
        raise Fault(f"redelivered, and dead: {message}")
    if done.returncode == 0 and letter["status"] != "redelivered":
        raise Fault(f"the letter says {letter['status']}")


def seeds_numbers(store):
    """A new workspace with the numbers of seed 002's program."""
    shutil.rmtree(f"{store}/.roger")
    must(call(store, ["init"]))
    with open(f"{store}/.roger/message-state.json", "w", encoding="utf-8") as state:
        state.write('{"counters":{"LEAD":5},"lastSeen":{"LEAD":{"W":3}}}')


def numbers_taken(store, done):
    """They go on, with and without the control file and the index."""
    for name in ("", "messages.control", "messages.db-index"):
        if name and os.path.exists(f"{store}/.roger/{name}"):
            os.unlink(f"{store}/.roger/{name}")
        must(call(store, ["send", "--as", "LEAD", "--new", "W", "next"]))
        stale = call(store, ["bridge", "ingest", "--to", "LEAD", "--json"], stdin="(W #3): old\n")
        if '"skipped":1' not in stale.stdout:
            raise Fault(f"a stale number came in: {stale.stdout.strip()[-200:]}")
    living, _ = listed(store)
    numbers = [message["seq"] for message in living]
    if len(set(numbers)) < len(numbers) or min(numbers) < 6:
        raise Fault(f"numbers given: {numbers}")
    check_verify(store)
    check_doctor(store)


def accepted_or_not(store, done):
    """One or the other, and once it was acknowledged the one."""
    accepted = any("accepted_at" in entry for entry in damages_in(store).values())
    if done.returncode == 0 and not accepted:
        raise Fault("acknowledged, but not accepted")
    check_reported(store, not accepted)
    check_accepted(store)


def batch():
    lines = [{"to": ["bob"], "content": f"batch {i}", "issue": "batch", "key": f"t:batch:{i}"} for i in range(5)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def lines_of(store):
    with open(f"{store}/.roger/messages.jsonl", "rb") as journal:
        return journal.read().count(b"\n")


def verbs(store):
    """The writing verbs on a workspace; ids are taken from it."""
    living, _ = listed(store)
    read = [m["id"] for m in living if m["read"]]
    claimed = [m["id"] for m in living if m.get("claimed_by")]
    ann = ["--as", "ann", "--issue", "work"]
    dispatch = ["dispatch", "r1", "--as", "bob", "--child", "kid", "--issue", "work"]
    confirm = ["send", "--as", "ann", "--issue", "late", "--key", "t:escalation:1", "bob", "confirmed", "--confirm", "read",
               "--within", "2ms"]
    letter, cycle = letter_id("ann", "bob", "t:escalation:1", "1", 3), ["log", "cycle", "new", "--as", "ann"]
    keyed = [["send", *ann, "--key", f"t:send:c{i}", "kim", "keyed"] for i in range(5)]
    worn = [["send", *ann, "--key", "t:send:9", "eve", "task"], *[["claim", "--as", "eve", "--lease", "1ms"]] * 3]
    return [
        Verb("send", ["send", *ann, "--key", "t:send:1", "bob", "single"], all_or_nothing("single", 1)),
        Verb("send-multi", ["send", *ann, "--key", "t:send:2", "bob,eve,kim", "multi"],
             all_or_nothing("multi", 3)),
        Verb("send-batch", ["send", "--as", "ann", "--batch"], all_or_nothing("batch", 5, cut=True), stdin=batch()),
        Verb("send-full", ["send", *ann, "--key", "t:send:3", "bob", "single"], all_or_nothing("single", 1),
             prepare=[["send", *ann, "bob", "more"]] * 4),  # two leave: one for it, one beyond
        Verb("receive", ["receive", "--as", "bob", "--json"], all_of(lambda m: m["read"]), also=(0, 1)),
        Verb("claim", ["claim", "--as", "bob", "--worker", "w1", "--limit", "2", "--lease", "1h", "--json"],
             all_of(lambda m: m.get("claimed_by") == "w1"), also=(0, 1)),
        Verb("claim-worn", ["claim", "--as", "eve", "--json"], worn_out, also=(0, 1), own_syncs=1,
             prepare=[*worn, ["send", *ann, "eve", "next"]]),
        Verb("put-back", ["dead", "redeliver", letter_id("ann", "eve", "t:send:9", "1", 1), "--json"], put_back, prepare=[*worn, ["runs", "sweep"]]),
        Verb("ack", ["ack", "--as", "bob", "--worker", "w0", "--json", *claimed], all_of(lambda m: m["read"]),
             also=(0, 66, 77)),
        Verb("ack-refused", ["ack", "--as", "bob", "--worker", "w0", "--outcome", "rejected", "--note", "why", "--json", *claimed],
             refused, also=(0, 66, 77), own_syncs=1),
        Verb("nack", ["nack", "--as", "bob", "--worker", "w0", "--json", *claimed],
             all_of(lambda m: m.get("claimed_until", "") <= time.strftime("%Y-%m-%dT%H:%M:%S.999Z", time.gmtime())), also=(0, 66, 77)),
        Verb("archive", ["archive", "--json", *read], gone(len(read)), also=(0, 66)),
        Verb("delete", ["archive", "--unread", "--json", *[m["id"] for m in living[:4]]], gone(4), also=(0, 66)),
        Verb("cleanup", ["cleanup", "--keep-per-agent", "1", "--json"], gone(len(read))),
        Verb("dispatch", ["dispatch", "r1", "--as", "bob", "--child", "kid"], run_says("r1", lambda r: r["status"] == "active"),
             also=(0, 77)),
        Verb("complete", ["complete", "r1", "--result", "it is done"],
             run_says("r1", lambda r: r["completed_at"] and r["result_message"], 1), prepare=[dispatch]),
        Verb("complete-failed", ["complete", "r1", "--exit", "3"],
             run_says("r1", lambda r: r["status"] == "blocked"), prepare=[dispatch]),
        Verb("forward", ["runs", "forward", "r1"], run_says("r1", lambda r: r["status"] == "completed", 1),
             prepare=[dispatch, ["complete", "r1", "--result", "done"], ["receive", "--as", "bob"]]),
        Verb("extend", ["runs", "extend", "r1", "--by", "1m"], run_says("r1", lambda r: r["extensions"] >= 1),
             prepare=[dispatch]),
        Verb("recover", ["runs", "recover", "r1"], run_says("r1", lambda r: r["recovery_attempts"] >= 1),
             prepare=[dispatch, ["complete", "r1", "--failed"]], also=(0, 77)),
        Verb("settle", ["dismiss", "r1", "--reason", "seen"], run_says("r1", lambda r: r["settled_at"]),
             prepare=[dispatch, ["complete", "r1", "--failed"]]),
        Verb("sweep", ["runs", "sweep"], run_says("r1", lambda r: r["status"] == "completed", 1),
             prepare=[dispatch, ["complete", "r1", "--result", "done"], ["receive", "--as", "bob"]]),
        Verb("keyed", keyed[1], all_or_nothing("keyed", 1), logs=True),
        Verb("keyed-multi", ["send", *ann, "--key", "t:status-update:2", "bob,eve,kim", "keyed"],
             all_or_nothing("keyed", 3), logs=True),
        Verb("confirm", confirm, all_or_nothing("confirmed", 1), also=(75,), logs=True),
        Verb("confirm-again", confirm, all_or_nothing("confirmed", 1), also=(75,), logs=True, prepare=[confirm]),
        Verb("confirm-last", confirm, letters_are(1), also=(75, 77), logs=True, prepare=[confirm, confirm]),
        Verb("stored-again", confirm[:-4], all_or_nothing("confirmed", 1), logs=True, prepare=[confirm]),
        # Nobody reads it in time, so it is undelivered again, after a redelivery.
        Verb("redeliver", ["dead", "redeliver", letter, "--within", "2ms"], letters_are(1, lambda l: l.get("updated_at")),
             also=(75,), logs=True, prepare=[confirm] * 3),
        Verb("stale", ["dismiss", letter, "--reason", "no use"], letters_are(1, lambda l: l["status"] == "stale"), logs=True,
             prepare=[confirm] * 3),
        Verb("cycle", [*cycle, "--json"], cycles_rise, logs=True),
        Verb("purge", ["log", "purge", "--json"], purged, logs=True,
             prepare=[keyed[1], confirm, cycle, keyed[2], cycle, keyed[3], cycle, keyed[4]]),
        Verb("read-late", ["receive", "--as", "bob", "--issue", "late", "--json"], read_late, also=(0, 1), logs=True,
             prepare=[confirm]),
        Verb("look", ["inbox", "--as", "bob", "--json"], looked, also=(0, 1)),
        Verb("wake", ["wake", "--once"], woken, also=(0, 1)),
        Verb("log", ["log", "by-hand", "TOOL_EXEC"], logged("by-hand", 1, 2)),
        Verb("log-import", ["log", "--import", "-"], logged("foreign", 5, 10), stdin=foreign_entries("foreign", 5)),
        Verb("bridge-in", ["bridge", "--once", "--json"], bridged, also=(0, 1), files=TRIGGERS),
        Verb("bridge-out", ["bridge", "--once", "--json"], written_out, also=(0, 1),
             prepare=[["send", *ann, "filer", f"out {i}\nand more of it"] for i in range(3)],
             files={"filer.txt": "(bob #1): unread, and without its line end"}),
        Verb("ingest", ["bridge", "ingest", "--to", "eve"], all_or_nothing("ingested", 2), also=(0,),
             stdin="(LEAD #1): ingested 1\n(LEAD #2): ingested 2\n"),
        Verb("session", ["agents", "session", "new", "--json"], same_epoch),
        Verb("take-numbers", ["send", "--as", "LEAD", "--new", "W", "first"], nothing, spoil=seeds_numbers, after=numbers_taken),
        Verb("seal", ["seal"], sealed),
        Verb("look-altered", ["list", "--json"], nothing, spoil=alter, after=found_once),
        Verb("look-emptied", ["list", "--json"], nothing, also=(0, 1), spoil=empty, after=found_once),
        Verb("look-cut", ["list", "--json"], nothing, also=(0, 1), spoil=forget_and_cut, after=found_once),
        Verb("send-behind", ["send", *ann, "bob", "behind", "--json"], nothing, spoil=alter, after=found_once),
        Verb("accept-line", ["dismiss", f"messages.jsonl:{lines_of(store)}", "--reason", "why"], nothing, spoil=seen(alter),
             after=accepted_or_not),
        Verb("accept-journal", ["dismiss", "messages.jsonl", "--reason", "why"], nothing, spoil=seen(empty),
             after=accepted_or_not),
        Verb("rebuild", ["doctor", "rebuild", "--json"], nothing),
        Verb("init", ["init"], nothing),
    ]


# What takes too long for every run, and is much like another verb: with SLOW, or by name.
RARE = {"look-emptied", "look-cut", "send-behind", "accept-line", "complete-failed", "extend", "recover", "settle", "keyed-multi", "confirm-again", "stored-again", "stale", "cycle",
        "log-import", "forward", "delete", "ingest", "send-full", "redeliver", "confirm-last", "log", "nack", "put-back"}


def chosen(store):
    """The verbs named on the command line, or all."""
    names = set(sys.argv[1:])
    return [verb for verb in verbs(store) if (verb.name in names if names else SLOW or verb.name not in RARE)]


def run_verb(verb, store, before=(), **more):
    return call(store, verb.words, stdin=verb.stdin, before=before, **more)


def base_for(verb, store, folder, warm):
    """A workspace for the verb; warm: with a control file that holds."""
    base = f"{folder}/try"
    if verb.name == "init":
        shutil.rmtree(base, ignore_errors=True)
        os.mkdir(base)
        return base
    copy(store, base)
    if warm:
        call(base, ["inbox", "--as", "nobody"])
    if verb.spoil:
        verb.spoil(base)
    return base


def prepared(verb, store, folder):
    """A copy of the store after what the verb needs beforehand, and the ids acknowledged in it."""
    to = copy(store, f"{folder}/{verb.name}")
    for name, text in verb.files.items():
        os.makedirs(os.path.dirname(f"{to}/.roger/triggers/{name}"), exist_ok=True)
        with open(f"{to}/.roger/triggers/{name}", "w", encoding="utf-8") as trigger:
            trigger.write(text)
    for words in verb.prepare:
        done = call(to, words)
        if done.returncode != 75 or "--confirm" not in words:
            must(done)
        if "--lease" in words:
            time.sleep(0.005)  # it is over when the next one asks
    living, archived = listed(to)
    return to, [message["id"] for message in living + archived if verb.name != "init"]


def check_after(verb, base, acknowledged, first):
    """After a trouble: everything holds, and the next commands just work.  Raises Fault."""
    if verb.after:
        verb.after(base, first)
        return
    if verb.name == "init":
        check_next(verb, base)
    living, archived = check_once(base, acknowledged)
    verb.promised(base, first, living, archived)
    check_archive(base, archived)
    if verb.logs:
        check_sends(base, living, archived, first.returncode != 74)
    check_verify(base)
    check_doctor(base)
    second = check_next(verb, base)
    done = call(base, ["send", "--as", "ann", "--issue", "after", "zoe", "fresh"])
    if done.returncode:
        raise Fault(f"a send afterwards exits {done.returncode}: {done.stderr.strip()[-200:]}")
    fresh = printed_ids(done.stdout)
    # One look for both: the fresh one is nothing that the verb says anything of.
    living, archived = check_once(base, acknowledged + fresh)
    verb.promised(base, second, [message for message in living if message["id"] not in fresh], archived)
    check_archive(base, archived)
    if verb.logs:
        check_sends(base, living, archived)
    check_verify(base)


def check_next(verb, base):
    done = run_verb(verb, base)
    if done.returncode not in verb.also:
        raise Fault(f"the next {verb.name} exits {done.returncode}: {done.stderr.strip()[-200:]}")
    return done


# ------------------------------------------------------------------- points

# Calls of the loader and of starting up, which touch nothing of ours.
STARTED = re.compile(r"rt_sigaction\(SIGPIPE")


def recorded(forked, trace):
    """What to give call() so that it records the calls that roger makes."""
    return {"fault": "record"} if forked else {"before": ["strace", "-f", "-qq", "-y", "-o", trace]}


def calls_in(done, forked, trace):
    """[(name, number from the start of the process, text)] of the calls that the program itself made."""
    counts, calls, started = collections.Counter(), [], False
    for line in done.calls if forked else ():
        name, text = line.split(" ", 1)
        counts[name] += 1
        calls.append((name, counts[name], text))
    if forked:
        return calls
    with open(trace, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = re.match(r"(\d+)\s+([a-z_0-9]+)\(", line)
            if not found:
                continue
            started = started or bool(STARTED.search(line))
            thread, name = found.groups()
            counts[thread, name] += 1
            if started:
                calls.append((name, counts[thread, name], line.strip()))
    return calls


def calls_of(verb, base, folder, forked=False):
    trace = f"{folder}/trace"
    done = run_verb(verb, base, **recorded(forked, trace))
    if done.returncode not in verb.also:
        raise RuntimeError(f"{verb.name} fails without any fault: {done.returncode} {done.stderr}")
    return calls_in(done, forked, trace)


def injected(name, what, when, trace="/dev/null"):
    return ["strace", "-f", "-qq", "-y", "-o", trace, "-e", f"trace={name}", "-e", f"inject={name}:{what}:when={when}"]


TRACED = {"send", "receive", "claim"}  # important enough to see also what libc does by itself


def forked(verb):
    """Do forks serve for this verb, or is it strace?"""
    return forks() and verb.name not in TRACED


def wrong(forked, name, number, error=None, sticky=False, trace="/dev/null"):
    """What to give call() so that the call of that number, and with sticky all later ones, fails, or kills."""
    if forked:
        last = 2**32 - 1 if sticky else number
        return {"fault": f"{name} {number} {last} {getattr(errno, error) if error else 0}"}
    return {"before": injected(name, f"error={error}" if error else "signal=KILL", f"{number}+" if sticky else number, trace)}


def go_wrong(verb, base, name, number, error=None, sticky=False, folder=""):
    """Run the verb like that: how it ended, and a line with the path for each call that went wrong."""
    trace = f"{folder}/trace"
    done = run_verb(verb, base, **wrong(forked(verb), name, number, error, sticky, trace))
    if forked(verb):
        return done, getattr(done, "calls", [])
    with open(trace, encoding="utf-8", errors="replace") as lines:
        return done, [line for line in lines if "INJECTED" in line]


# Calls that say nothing about files, and calls that only look: a kill between
# two of these finds what it finds before the next call that changes something.
DULL = {"exit_group", "rt_sigaction", "umask", "brk", "ioctl", "geteuid", "prlimit64"}
LOOKING = {"newfstatat", "pread64", "fcntl", "close", "getpid", "read", "lseek", "openat", "open", "pwrite64", "fstat",
           "rt_sigprocmask", "fchown", "clock_gettime", "stat", "lstat", "statx", "readlink", "madvise", "munmap", "mmap"}


def points(verb, base, folder, some):
    """(name, number) of the calls to interfere with: all that change something, and some of the others."""
    by_name = collections.defaultdict(list)
    for name, number, text in calls_of(verb, base, folder, forked(verb)):
        if name not in DULL:
            by_name[name].append((number, text))
    for name, calls in sorted(by_name.items()):
        if name in LOOKING and not SLOW:
            making = [call for call in calls if "O_CREAT" in call[1]]
            calls = sorted({*calls[:: len(calls) // some + 1], *making[:some]})
        for number, _ in calls:
            yield name, number
