#!/usr/bin/env python3
# runner: plain
# runner: timeout 900
"""roger run, killed and failing at every system call of its own.

Its program goes on, and is started once whatever happens and however often it
is tried again.  Afterwards the run is what its evidence says: nothing, when its
receipt was never written; blocked, when its program ended unseen; done, when
its result is in the mailbox.  Its owner is told once.  Exit 0 is never a lie.
"""
import collections
import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib
from lib import Fault

SOME = 6
LOOKING = lib.LOOKING | {"ioctl", "mmap", "munmap", "stat", "lstat", "madvise"}
PROGRAMS = {  # what the program does once it has said that it was started
    "words": "echo it is done",
    "fails": "exit 3",
    "message": f'{lib.ROGER} complete r1 --result "it is done" >/dev/null; echo chatter',
}
ERRORS = dict({
    "openat": "EMFILE EIO", "open": "EMFILE EIO", "write": "ENOSPC EINTR", "writev": "ENOSPC EINTR", "read": "EIO EINTR",
    "readv": "EIO", "pread64": "EIO", "pwrite64": "ENOSPC", "fdatasync": "EIO", "fsync": "EIO", "renameat": "EIO",
    "renameat2": "EIO", "rename": "EIO", "mkdirat": "ENOSPC", "mkdir": "ENOSPC", "unlinkat": "EIO", "fcntl": "EINTR",
    "futex": "EINTR", "mmap": "ENOMEM", "flock": "EINTR", "newfstatat": "EIO", "fstat": "EIO", "lseek": "EINVAL",
    # Of watching a program.
    "fork": "EAGAIN ENOMEM", "clone": "EAGAIN ENOMEM", "vfork": "EAGAIN", "clone3": "EAGAIN", "socketpair": "EMFILE",
    "pipe2": "EMFILE ENFILE", "poll": "EINTR ENOMEM", "ppoll": "EINTR ENOMEM", "waitid": "EINTR", "wait4": "EINTR",
    "pidfd_open": "ENOSYS EMFILE", "sendto": "EINTR", "recvfrom": "EINTR", "kill": "EPERM", "setpgid": "EACCES",
    "ioctl": "EIO", "getrandom": "EINTR",
})


def words_of(store, program):
    return ["run", "--run", "r1", "--as", "lead", "--child", "kid", "--",
            "sh", "-c", f"echo x >>{store}/starts; {PROGRAMS[program]}"]


def call(store, program, before=()):
    argv = words_of(store, program)
    return lib.call(store, argv[:1] + ["--workspace", store] + argv[1:], before=before)


# lib.call() puts --workspace behind everything, where it would be the program's.
lib_call_words = lib.call


def run_call(store, words, stdin=None, before=(), timeout=30, **more):
    if words[0] != "run":
        return lib_call_words(store, words, stdin=stdin, before=before, timeout=timeout, **more)
    argv = [*before, lib.ROGER, *words]
    try:
        return lib.subprocess.run(argv, stdin=lib.subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                                  env=lib.env_for(store), timeout=timeout, check=False)
    except lib.subprocess.TimeoutExpired:
        return lib.subprocess.CompletedProcess(argv, 124, "", f"hung for {timeout} s")


lib.call = run_call


def calls_of(store, program, folder):
    """(name, number, text) of the calls that roger itself makes."""
    trace = f"{folder}/trace"
    call(store, program, before=["strace", "-qq", "-y", "-o", trace])
    counts, calls, started = collections.Counter(), [], False
    with open(trace, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            found = re.match(r"([a-z_0-9]+)\(", line)
            if not found:
                continue
            started = started or bool(lib.STARTED.search(line))
            counts[found.group(1)] += 1
            if started:
                calls.append((found.group(1), counts[found.group(1)], line))
    return calls


def points(store, program, folder):
    by_name = collections.defaultdict(list)
    for name, number, text in calls_of(store, program, folder):
        if name not in lib.DULL - {"ioctl"}:
            by_name[name].append((number, text))
    for name, calls in sorted(by_name.items()):
        if name in LOOKING and not lib.SLOW:
            making = [one for one in calls if "O_CREAT" in one[1]]
            calls = sorted({*calls[:: len(calls) // SOME + 1], *making})
        for number, _ in calls:
            yield name, number


def injected(name, what, when):
    return ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={name}", "-e", f"inject={name}:{what}:when={when}"]


# ------------------------------------------------------------------ checking


def document(store):
    path = f"{store}/.roger/state/subagent-delivery-watchdog/r1.json"
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def starts(store):
    try:
        with open(f"{store}/starts", encoding="ascii") as file:
            return len(file.readlines())
    except FileNotFoundError:
        return 0


def let_it_end(store):
    """Whatever became of roger, its program ends by itself."""
    there = document(store)
    end = time.monotonic() + 20
    while there and time.monotonic() < end:
        try:
            with open(f"/proc/{there['processes']['childPid']}/stat", encoding="ascii", errors="replace") as stat:
                if stat.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except (FileNotFoundError, ProcessLookupError):  # gone before it is opened, or before it is read
            return
        time.sleep(0.005)
    if there:
        raise Fault("its program does not end")


def told(store):
    """How many messages of each type its owner got about it."""
    living, archived = lib.listed(store)
    mine = [m for m in living + archived if m["to"] == "lead"]
    return collections.Counter(m["type"] for m in mine)


def check_state(store, program, done, swept):
    if starts(store) > 1:
        raise Fault(f"started {starts(store)} times")
    there, messages = document(store), told(store)
    if messages["result"] > 1 or messages["context"] > (2 if swept else 1):
        raise Fault(f"its owner was told {dict(messages)}")
    if there is None:
        if starts(store) or messages:
            raise Fault("started, or told, without a receipt")
        if done.returncode == 0:
            raise Fault("acknowledged, and there is no receipt")
        return
    shown = lib.call(store, ["runs", "r1", "--json"])
    if shown.returncode:
        raise Fault(f"runs exits {shown.returncode}: {shown.stderr.strip()}")
    run = json.loads(shown.stdout)["runs"][0]
    wanted = "done_but_not_forwarded" if run["completed_at"] else "blocked"
    if run["status"] != wanted:
        raise Fault(f"it is {run['status']}, and not {wanted}: {run['status_reason']}")
    if run["completed_at"] and (not run.get("result_message") or messages["result"] != 1):
        raise Fault(f"it is complete, and its owner was told {dict(messages)}")
    if swept and not run["completed_at"] and messages["result"]:
        raise Fault("a result is in the mailbox, and the sweep has not found it")
    if done.returncode == 0 and program != "fails" and not run["completed_at"]:
        raise Fault("acknowledged, but not complete")
    if done.returncode == 3 and program == "fails" and run.get("exit") != 3:
        raise Fault(f"its exit status is {run.get('exit')}")


def check_again(store, program, swept):
    """The same command again settles what is there, or starts what never was."""
    before, never = document(store), document(store) is None
    done = call(store, program)
    exits = {"fails": (3,)}.get(program, (0,)) if never else (0, 1, 77)
    if done.returncode not in exits:
        raise Fault(f"the next one exits {done.returncode}: {done.stderr.strip()[-200:]}")
    if never and starts(store) != 1:
        raise Fault("nothing was there, and the next one starts nothing")
    if before and before["completionReceivedAt"] and done.returncode != 77:
        raise Fault(f"it was complete, and the next one exits {done.returncode}")
    check_state(store, program, done, swept)
    run = document(store)
    messages = told(store)
    if not messages["result"] + messages["context"]:
        raise Fault("its owner was never told")
    if done.returncode in (0, 1, 3) and not run.get("childExit"):
        raise Fault("it was settled, and nothing is known of its end")


def check_after(store, program, done, sweep, tally=None):
    let_it_end(store)
    check_state(store, program, done, False)
    if tally is not None:
        there = document(store)
        tally["never began" if there is None else "done" if there["completionReceivedAt"] else
              "failed" if there.get("childExit") else "begun" if starts(store) else "dispatched"] += 1
    if sweep and document(store):
        swept = lib.call(store, ["runs", "sweep", "--json"])
        if swept.returncode:
            raise Fault(f"sweep exits {swept.returncode}: {swept.stderr.strip()[-200:]}")
        check_state(store, program, done, True)
        if json.loads(lib.call(store, ["runs", "--json"]).stdout)["troubles"]:
            raise Fault("the sweep has not written down what it found")
    check_again(store, program, sweep)
    lib.check_verify(store)
    lib.check_doctor(store)


# -------------------------------------------------------------------- tests


def base_of(seed, folder):
    base = lib.copy(seed, f"{folder}/try")
    lib_call_words(base, ["inbox", "--as", "nobody"])
    return base


def kill_everywhere(seed, program, sweep, top):
    tally, states = collections.Counter(), collections.Counter()

    def one(point, folder):
        base = base_of(seed, folder)
        done = call(base, program, before=injected(point[0], "signal=KILL", point[1]))
        tally["killed"] += done.returncode in (-9, 137)
        try:
            if done.returncode not in (-9, 137, 0, 3):
                raise Fault(f"exit {done.returncode} in place of a kill: {done.stderr.strip()[-100:]}")
            check_after(base, program, done, sweep, states)
        except Fault as fault:
            return f"{point[0]}#{point[1]}: {fault}"
        return None

    faults = lib.parallel(one, list(points(base_of(seed, top), program, top)))
    if not tally["killed"]:
        faults.append("not killed once: nothing was tested")
    if program == "words" and not (states["never began"] and states["begun"] and states["done"]):
        faults.append(f"not killed in every state: {dict(states)}")
    print(f"# {dict(states)}")
    return faults, tally["killed"]


def fail_everywhere(seed, program, sticky, top, of=None):
    def one(point, folder):
        name, number, error = point
        base = base_of(seed, folder)
        done = call(base, program, before=injected(name, f"error={error}", f"{number}+" if sticky else number))
        try:
            if done.returncode == 124:
                raise Fault("hangs")
            if done.returncode < 0 or done.returncode > 128:
                raise Fault(f"dies of signal {abs(done.returncode) % 128}")
            if done.returncode not in (0, 3) and not done.stderr.strip() and not name.startswith("write"):
                raise Fault(f"exit {done.returncode} and not a word")
            check_after(base, program, done, False)
        except Fault as fault:
            return f"{name}#{number}{'+' if sticky else ''} {error}: {fault}"
        return None

    todo = []
    for name, number in points(base_of(seed, top), program, top):
        if of and name != of:
            continue
        errors = [e for e in ERRORS.get(name, "").split() if not (sticky and (e in ("EINTR",) or "poll" in name or name == "fcntl"))]
        todo += [(name, number, error) for error in (errors if lib.SLOW or not sticky else errors[:1])]
    if sticky and not lib.SLOW:
        todo = todo[::3]
    return lib.parallel(one, todo), len(todo)


def main():
    lib.need_strace()
    tap = lib.Tap()
    with lib.workplace() as top:
        seed = f"{top}/seed"
        os.mkdir(seed)
        lib.must(lib_call_words(seed, ["init"]))
        lib.must(lib_call_words(seed, ["send", "--as", "kid", "lead2", "hello"]))
        names = sys.argv[1:] or (list(PROGRAMS) if lib.SLOW else ["words", "fails"])
        for program in names:
            for sweep in (False, True):
                faults, killed = kill_everywhere(seed, program, sweep, top)
                tap.result(faults, f"{program}: killed at {killed} calls{', then swept' if sweep else ''}")
        for program in names if lib.SLOW else names[:1]:
            for sticky in (False, True):
                faults, failed = fail_everywhere(seed, program, sticky, top)
                tap.result(faults, f"{program}: {failed} calls failed {'from then on' if sticky else 'once'}")
        if not lib.SLOW and "fails" in names:
            faults, failed = fail_everywhere(seed, "fails", False, top, "write")
            tap.result(faults, f"fails: {failed} writes failed once, and its owner is told of how it ended, or that nobody knows")
    tap.done()


main()
