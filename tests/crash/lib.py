"""What the crash tests share: a workspace, the verbs that write, and what must hold afterwards.

To run one alone:

    ROGER=build/roger python3 tests/crash/t2001-kill.py [VERB...]

Every test prints TAP.  They need strace, and some of them root; a test that
cannot run says so in a line with SKIP.  ROGER_TEST_SLOW=1 makes them thorough.
"""
import collections
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field

ROGER = os.path.abspath(os.environ.get("ROGER", "build/roger"))
SLOW = os.environ.get("ROGER_TEST_SLOW", "0") not in ("", "0")
BUG_SIGNALS = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGSEGV,
               signal.SIGSYS, signal.SIGPIPE}
ENV = {k: v for k, v in os.environ.items() if not k.startswith("ROGER")}
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


def call(store, words, stdin=None, before=(), timeout=30, **more):
    """Run roger; a hang shows as exit status 124."""
    argv = [*before, ROGER, *words, "--workspace", store]
    try:
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, errors="replace", env=ENV,
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
  max_messages_per_issue_phase: 8
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
    """A sender's numbers rise; one send to several has one number."""
    last = {}
    for message in messages:
        sender, number = (message["from_phase"], message["epoch"]), message["seq"]
        mailbox = *sender, message["to_phase"]
        if number < last.get(sender, 0) or number <= last.get(mailbox, 0):
            raise Fault(f"numbers of {sender} go {last[sender]} then {number}")
        last[sender] = last[mailbox] = number


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


def all_or_nothing(prefix, count):
    def look(store, done, living, archived):
        there = sum(message["content"].startswith(prefix) for message in living + archived)
        if there not in ((count,) if done.returncode == 0 else (0, count)):
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
    shown = call(store, ["session", "show", "--json"])
    if shown.returncode:
        raise Fault(f"session show exits {shown.returncode}: {shown.stderr.strip()}")
    if done.returncode == 0 and json.loads(shown.stdout)["epoch"] != json.loads(done.stdout)["epoch"]:
        raise Fault(f"session new said {done.stdout.strip()}, session show says {shown.stdout.strip()}")


def nothing(store, done, living, archived):
    pass


def batch():
    lines = [{"to": ["bob"], "content": f"batch {i}", "issue": "batch", "key": f"t:batch:{i}"} for i in range(5)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def verbs(store):
    """The writing verbs on a workspace; ids are taken from it."""
    living, _ = listed(store)
    read = [m["id"] for m in living if m["read"]]
    claimed = [m["id"] for m in living if m.get("claimed_by")]
    ann = ["--as", "ann", "--issue", "work"]
    return [
        Verb("send", ["send", *ann, "--key", "t:send:1", "bob", "single"], all_or_nothing("single", 1)),
        Verb("send-multi", ["send", *ann, "--key", "t:send:2", "bob", "eve", "kim", "multi"],
             all_or_nothing("multi", 3)),
        Verb("send-batch", ["send", "--as", "ann", "--batch"], all_or_nothing("batch", 5), stdin=batch()),
        Verb("send-full", ["send", *ann, "--key", "t:send:3", "bob", "single"], all_or_nothing("single", 1),
             prepare=[["send", *ann, "bob", "more"]] * 2),
        Verb("receive", ["receive", "--as", "bob", "--json"], all_of(lambda m: m["read"]), also=(0, 1)),
        Verb("claim", ["claim", "--as", "bob", "--worker", "w1", "--limit", "2", "--lease", "1h", "--json"],
             all_of(lambda m: m.get("claimed_by") == "w1"), also=(0, 1)),
        Verb("ack", ["ack", "--as", "bob", "--worker", "w0", "--json", *claimed], all_of(lambda m: m["read"]),
             also=(0, 66, 77)),
        Verb("nack", ["nack", "--as", "bob", "--worker", "w0", "--json", *claimed],
             all_of(lambda m: not m.get("claimed_by")), also=(0, 66, 77)),
        Verb("archive", ["archive", "--json", *read], gone(len(read)), also=(0, 66)),
        Verb("delete", ["delete", "--json", *[m["id"] for m in living[:4]]], gone(4), also=(0, 66)),
        Verb("cleanup", ["cleanup", "--keep-per-phase", "1", "--json"], gone(len(read))),
        Verb("session", ["session", "new", "--json"], same_epoch),
        Verb("rebuild", ["rebuild", "--json"], nothing),
        Verb("init", ["init"], nothing),
    ]


def chosen(store):
    """The verbs named on the command line, or all."""
    return [verb for verb in verbs(store) if not sys.argv[1:] or verb.name in sys.argv[1:]]


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
    return base


def prepared(verb, store, folder):
    """A copy of the store after what the verb needs beforehand, and the ids acknowledged in it."""
    to = copy(store, f"{folder}/{verb.name}")
    for words in verb.prepare:
        must(call(to, words))
    living, archived = listed(to)
    return to, [message["id"] for message in living + archived if verb.name != "init"]


def check_after(verb, base, acknowledged, first):
    """After a trouble: everything holds, and the next commands just work.  Raises Fault."""
    if verb.name == "init":
        check_next(verb, base)
    living, archived = check_once(base, acknowledged)
    verb.promised(base, first, living, archived)
    check_archive(base, archived)
    check_verify(base)
    second = check_next(verb, base)
    living, archived = check_once(base, acknowledged)
    verb.promised(base, second, living, archived)
    done = call(base, ["send", "--as", "ann", "--issue", "after", "zoe", "fresh"])
    if done.returncode:
        raise Fault(f"a send afterwards exits {done.returncode}: {done.stderr.strip()[-200:]}")
    living, archived = check_once(base, acknowledged + printed_ids(done.stdout))
    check_archive(base, archived)
    check_verify(base)


def check_next(verb, base):
    done = run_verb(verb, base)
    if done.returncode not in verb.also:
        raise Fault(f"the next {verb.name} exits {done.returncode}: {done.stderr.strip()[-200:]}")
    return done


# ------------------------------------------------------------------- points

# Calls of the loader and of starting up, which touch nothing of ours.
STARTED = re.compile(r"rt_sigaction\(SIGPIPE")


def calls_of(verb, base, folder):
    """[(name, number from the start of the process, text)] of the calls that the program itself makes."""
    trace = f"{folder}/trace"
    done = run_verb(verb, base, before=["strace", "-f", "-qq", "-y", "-o", trace])
    if done.returncode not in verb.also:
        raise RuntimeError(f"{verb.name} fails without any fault: {done.returncode} {done.stderr}")
    counts, calls, started = collections.Counter(), [], False
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


def injected(name, what, when, trace="/dev/null"):
    return ["strace", "-f", "-qq", "-y", "-o", trace, "-e", f"trace={name}", "-e", f"inject={name}:{what}:when={when}"]


# Calls that say nothing about files, and calls that only look: a kill between
# two of these finds what it finds before the next call that changes something.
DULL = {"exit_group", "rt_sigaction", "umask", "brk", "ioctl", "geteuid", "prlimit64"}
LOOKING = {"newfstatat", "pread64", "fcntl", "close", "getpid", "read", "lseek", "openat", "open", "pwrite64", "fstat",
           "rt_sigprocmask", "fchown", "clock_gettime"}


def points(verb, base, folder, some):
    """(name, number) of the calls to interfere with: all that change something, and some of the others."""
    by_name = collections.defaultdict(list)
    for name, number, text in calls_of(verb, base, folder):
        if name not in DULL:
            by_name[name].append((number, text))
    for name, calls in sorted(by_name.items()):
        if name in LOOKING and not SLOW:
            making = [call for call in calls if "O_CREAT" in call[1]]
            calls = sorted({*calls[:: len(calls) // some + 1], *making[:some]})
        for number, _ in calls:
            yield name, number
