"""The command line's tests, with every workspace in PostgreSQL: the same output, the same exit codes.

Each runs as it is, with a roger that keeps the workspace of each folder in the database (on_postgres.c).  The lists below
name what is left out, and why; a test that would pass must not be there.

    script/postgres python3 tests/postgres/t8010-cli.py [NAME...]
runner: plain timeout 900
"""
import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "crash"))
import lib

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ROGER_BUILD", "build")).resolve()
ROGER = BUILD / "tests/postgres/roger"
tap = lib.Tap()

# These use no workspace, or one of another program.
LEFT_OUT = ("t0001-help", "t0003-docs", "t0006-examples", "t0004-mutate", "t5001-header", "t5002-library", "t5003-older-programs", "t5004-install", "t5005-parts",
            "t5006-same-bytes", "t5007-adding", "t5008-bench-history", "t6009-words", "t6104-versions", "t6213-mcp-library",
            # Their client is another program, and what they try is the way to the server.
            "t6408-remote", "t6409-remote-cut",
            # It looks at the state of a file after each of its breaches, and restores a copy of the folder.
            "t4702-doctor",
            # It forges journals with the chain of files; here the server computes another.
            "t4703-seal",
            # It stops a command as soon as messages.jsonl grows; here that is shown when the command ends, after 20,000 messages.
            "t6002-terminal",
            # It cuts messages.jsonl at each byte of a line, as a crash does.
            "t4603-operators-day")
# Results that are about files: why, and which.
FILES = {
    "t2001-workspace": ("a folder without the right to write", "without the right to write", "that is what it says"),
    "t2004-trust": ("links and owners of files", "is told", "and left", "nothing is written through a link: send-log",
                    "nothing is written through a link: logs", "nothing is written through a link: state",
                    "and what it makes there is the owner's", "and a container's root leaves no file of its own"),
    "t4201-numbers": ("a message-state.json that is gone", "one that is missing is said to be", "and says so"),
    # A handle of a database brings messages.db up with an answer, at most once a second.
    "t4203-origin": ("messages.db of a handle that lives on", "messages.db has all after a look", "and after another", "and a change"),
    "t4204-handout": ("who holds a lock is known only on one machine", "and names the first"),
    "t4301-sends": ("a send log that is gone", "doctor says what is missing"),
    "t4401-runs": ("a link in place of a document", "and the others with what is wrong", "by sweep neither"),
    "t4403-run": ("a folder without the right to write", "and its exit status is told", "by one who failed"),
    "t4405-run-streams": ("the system's C library takes more memory", "in bounded memory", "is heard in bounded memory"),
    "t4501-activity": ("the end of a line that a crash cut off", "is told, too", "finds members of nobody by line", "with a newline behind it, it is"),
    "t4502-notes": ("a log that cannot be written", "says so"),
    "t4611-wake": ("a log that cannot be written", "without a log nobody is woken", "says why", "with a note"),
    "t4612-trace": ("a log that is gone", "the time of a claim is not known then", "and said so", "a look is noted again"),
    "t4701-verify": ("links, purged and cut files", "and told", "a symbolic link in place of a log", "is told", "and has started over",
                     "status says what to do", "doctor, too", "and goes through the rest", "nothing is sent",
                     # What is in the database is not gone with a file.
                     *(f"{name} gone: verify" for name in (
                         "state/subagent-delivery-watchdog/r2.json", "dead-letters.jsonl", "logs/activity.log.jsonl", "send-log/lead.jsonl",
                         "messages_archive/app-1.jsonl", "cleanup_metrics.jsonl")),
                     "gone: names it", "gone: so does status", "gone: and doctor", "gone: also when it was begun anew", "gone: a person accepts it",
                     "who asks for runs is told, by name only while a note has it", "and who asks for dead letters"),
    "t6201-mcp": ("libpq takes more memory; a server that runs looks at its tables, not at the file", "at most 6 MiB of memory",
                  "inbox tells that a line is damaged"),
    "t6102-hooks": ("files of the store's own", "what excludes them is for the owner alone", "an agent that begins is told of damage, also without mail",
                    "and with the mail that it is shown", "accepted, it is told no more"),
}


def run(path):
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="roger-cli.", ignore_cleanup_errors=True) as folder:
        env = dict(lib.ENV, ROGER=str(ROGER), ROGER_BUILD=str(BUILD), ROGER_SOURCE=str(SOURCE), TMPDIR=folder, HOME=folder,
                   LC_ALL="C.UTF-8", TZ="UTC", ROGER_DYNAMIC=os.environ.get("ROGER_DYNAMIC", ""))
        env.pop("ROGER_TRUST_COMMANDS", None)
        command = [sys.executable if path.suffix == ".py" else "sh", str(path)]
        try:
            done = subprocess.run(command, cwd=folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=240, errors="replace")
        except subprocess.TimeoutExpired as slow:
            return path.stem, ["hung: " + (slow.stdout or b"")[-300:].decode(errors="replace")], 0, time.monotonic() - began
        finally:
            end_what_is_left(folder)
    return path.stem, *judge(path.stem, done), time.monotonic() - began


def end_what_is_left(folder):
    """Of a test that was cut off: it has the folder in its environment."""
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"TMPDIR={folder}\0".encode() in path.read_bytes():
                os.kill(int(path.parent.name), signal.SIGKILL)
        except OSError:
            pass


def judge(name, done):
    """What failed and is not on the list, with its notes; what is on the list and passed."""
    listed, failed, faults, shown, good = set(FILES.get(name, ("",))[1:]), set(), [], False, 0
    for line in done.stdout.splitlines():
        found = re.match(r"(not )?ok \d+ - (.*)", line)
        if found:
            good += not found[1]
            shown = bool(found[1]) and found[2] not in listed
            failed |= {found[2]} if found[1] else set()
        if shown:
            faults.append(line)
    faults += [f"passes here: {one}" for one in sorted(listed - failed)]
    if done.returncode and not re.search("^not ok", done.stdout, re.M):
        faults.append(f"exit {done.returncode}: {done.stderr[-500:]}")
    return faults, good


# What a shell's "&" or nohup lets us ignore, a test must not.
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)
names = sys.argv[1:]
paths = [path for path in sorted((SOURCE / "tests/cli").glob("t*.*"))
         if path.stem not in LEFT_OUT and (not names or any(name in path.stem for name in names))]
with concurrent.futures.ThreadPoolExecutor(2 * os.cpu_count()) as pool:
    for name, faults, good, seconds in pool.map(run, paths):
        tap.result(faults, f"{name}: {good} results, {seconds:.0f} s", 1000)
tap.done()
