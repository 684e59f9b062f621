"""What each daily verb costs in instructions and system calls: no quiet machine is needed.

A command is counted as a process, from its first instruction to its last; a
call of the library is the difference between two runs of bench/count.c, so
that what opening costs is left out.  Both programs are static and see the same
inputs and environment, so one build gives the same counts again (instructions
within 1 %: ids are other ones), on any machine at any load: their clock is bench/still.c.  Work
that is done at most once a second is counted only in the rows named "later".  The table stands in bench/history,
under what else decides the counts: compiler, parts, valgrind, processor.
"""
import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GROWTH = 0.030001
LEAST, MOST = 5, 25  # turns of the two runs of a call
CALLS = ("send", "send-plain", "send-key", "inbox-nothing", "inbox", "receive", "claim-ack")
COMMANDS = {
    "version": ["version"],
    "roger-send": ["--as", "lead", "send", "taker", "x" * 125],
    # A name that nobody has seen, and near a known one: who makes a slip is asked.
    "roger-send-first": ["--as", "lead-2", "send", "taker", "x" * 125],
    "roger-inbox-nothing": ["--as", "nobody", "inbox"],
    "roger-inbox": ["--as", "taker", "inbox", "--limit", "10"],
    "roger-receive": ["--as", "taker", "receive", "--limit", "1"],
    "roger-claim": ["--as", "taker", "claim"],
    "roger-wait": ["--as", "taker", "wait", "--timeout", "1s"],
    "roger-hook-nothing": ["--as", "nobody", "hook", "claude", "prompt"],
    "roger-hook": ["--as", "taker", "hook", "claude", "prompt"],
    "roger-hook-turn": ["hook", "claude", "prompt"],
    "roger-inbox-far": ["--as", "taker", "inbox", "--limit", "10"],
    # One issue among the unread messages of many.
    "roger-inbox-issue": ["--as", "other", "inbox", "--issue", "i9", "--limit", "10"],
    "roger-status": ["status"],
    # It counts no message.
    "roger-stats": ["report", "stats"],
}


def messages(count):
    """A batch of them, 100 in each issue."""
    return ["send", "--batch", "--quiet", "--new"], "".join(
        '{"from":"lead","to":"other","issue":"i%d","content":"%s"}\n' % (number // 100, "x" * 125) for number in range(count))


# What Claude Code writes to a hook at each turn, and what a workspace has seen before: that session, or messages
# after those of the taker.
TURN = '{"session_id":"s-1","transcript_path":"/t","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"go on"}'
BEFORE = {
    "roger-hook-turn": (COMMANDS["roger-hook-turn"], TURN),
    "roger-inbox-far": messages(100),
    "roger-inbox-issue": messages(1000),
    "roger-stats": messages(1000),
}
# A hook looks at all processes above it: here there is one.
ALONE = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"]
# send-plain: with this configuration.
PLAIN = "activity: {own: false}\n"
# The same where a second has passed since the last command.
LATER = {name + "-later": COMMANDS[name] for name in ("roger-send", "roger-inbox", "roger-receive")}


class Missing(Exception):
    """What it takes to count is not here."""


def run(words, home, now_ms, said=""):
    """With nothing of the caller's environment, so that every run sees the same stack."""
    done = subprocess.run(words, capture_output=True, text=True, input=said,
                          env={"PATH": "/usr/bin:/bin", "HOME": home, "XDG_STATE_HOME": home, "STILL_MS": str(now_ms)})
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")


def instructions(words, home, now_ms, said):
    out = os.path.join(home, "callgrind")
    run([*ALONE, "valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *words], home, now_ms, said)
    with open(out) as file:
        return next(int(line.split()[1]) for line in file if line.startswith(("summary:", "totals:")))


def system_calls(words, home, now_ms, said):
    out = os.path.join(home, "strace")
    run([*ALONE, "strace", "-f", "-qq", "-e", "signal=none", "-o", out, *words], home, now_ms, said)
    with open(out) as file:
        return sum(not re.match(r"\d+ +(<\.\.\.|\+\+\+)", line) for line in file)


def make_workspace(roger, home, config, before):
    """The same each time: 30 messages wait, and the index knows them.  Returns the time of that, in ms."""
    path, mail = os.path.join(home, "workspace"), os.path.join(home, "mail")
    os.makedirs(home)
    with open(mail, "w") as file:
        file.write(('{"from":"lead","to":"taker","content":"%s"}\n' % ("x" * 125)) * 30)
    run([roger, "init", path, "--quiet"], home, time.time_ns() // 1000000)
    with open(os.path.join(path, ".roger", "config.yaml"), "a") as file:
        file.write(config)
    run(["sh", "-c", '"$0" --workspace "$1" send --batch --quiet --new <"$2"', roger, path, mail], home, time.time_ns() // 1000000)
    if before:
        run([roger, "--workspace", path, *before[0]], home, time.time_ns() // 1000000, before[1])
    # The times of files are true ones, so the clocks must nearly agree.
    while True:
        now_ms = time.time_ns() // 1000000
        run([roger, "--workspace", path, "rebuild", "--quiet"], home, now_ms)
        made_ms = os.stat(os.path.join(path, ".roger", "messages.db")).st_ctime_ns // 1000000
        if made_ms - now_ms < 500:
            return made_ms


def count_one(count, folder, program, words, later=False, config="", before=None, said=""):
    home = os.path.join(folder, "home")
    path = os.path.join(home, "workspace")
    try:
        now_ms = make_workspace(os.path.join(os.path.dirname(program), "counted"), home, config, before)
        return count([program, *(path if word is None else word for word in words)], home, now_ms + (2000 if later else 100),
                     said)
    finally:
        shutil.rmtree(home)


def count_all(build, names=(*CALLS, *COMMANDS, *LATER)):
    """{name: (instructions, system calls)}."""
    counts = {}
    # The length of its path is part of what every run sees.
    with tempfile.TemporaryDirectory(prefix="roger-count-", dir="/tmp") as folder:
        def both(program, *words, **more):
            return [count_one(count, folder, os.path.join(build, "bench", program), words, **more)
                    for count in (instructions, system_calls)]

        for name in names:
            if name in CALLS:
                low, high = (both("count", None, name, str(turns), config=PLAIN if name.endswith("-plain") else "") for turns in (LEAST, MOST))
                counts[name] = tuple((most - least) / (MOST - LEAST) for least, most in zip(low, high))
            else:
                words = LATER.get(name) or COMMANDS[name]
                counts[name] = tuple(both("counted", "--workspace", None, *words, later=name in LATER, before=BEFORE.get(name),
                                          said=TURN if name == "roger-hook-turn" else ""))
    return counts


# -------------------------------------------------------------- the table --


def first_line(*words):
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[0].replace(" ", "_")


def identity(build):
    """What decides the counts beside the sources, as one word."""
    for name in ("valgrind", "strace", "gcc", "unshare"):
        if not shutil.which(name):
            raise Missing(f"no {name}")
    if subprocess.run([*ALONE, "true"], capture_output=True).returncode != 0:
        raise Missing("no namespace of processes (unshare)")
    if not os.path.exists(os.path.join(build, "bench", "count")):
        raise Missing("no bench/count: it is built where script/parts was run, by ninja bench-programs")
    pins = hashlib.sha256()
    for name in ("parts", "pins"):
        with open(os.path.join(ROOT, "script", name), "rb") as file:
            pins.update(file.read())
    with open("/proc/cpuinfo") as file:
        flags = next((line.split() for line in file if line.startswith("flags")), [])
    kind = "avx2" if "avx2" in flags else "plain"
    return "/".join([os.uname().machine + "-" + kind, first_line("gcc", "--version"), first_line("valgrind", "--version"),
                     "parts-" + pins.hexdigest()[:8]])


def read_table(path):
    """(identity, {name: (instructions, system calls)})."""
    known, table = None, {}
    with contextlib.suppress(FileNotFoundError), open(path) as file:
        for words in map(str.split, file):
            if words[:2] == ["count", "built"]:
                known = words[2]
            elif words[:1] == ["count"]:
                table[words[1]] = (float(words[2]), float(words[3]))
    return known, table


def table_lines(known, counts):
    return [f"count built {known}\n"] + [f"count {name} {most:.0f} {calls:.1f}\n" for name, (most, calls) in counts.items()]


def compare(counts, table):
    """({name: what grew}, {name: what fell}), by more than GROWTH, and by a whole one: means of calls move by less."""
    grew, fell = {}, {}
    for name, now in counts.items():
        if name not in table:
            grew[name] = "not in bench/history"
            continue
        for what, new, old in zip(("instructions", "system calls"), now, table[name]):
            change = new / old - 1
            if abs(change) > GROWTH and abs(new - old) > 0.95:
                moved = grew if change > 0 else fell
                moved[name] = (moved[name] + "; " if name in moved else "") + f"{new:.0f} {what}, were {old:.0f}: {change:+.1%}"
    return grew, fell
