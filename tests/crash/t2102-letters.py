#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""A dead-letter command that does everything wrong.

It hangs, fails, is missing, prints nothing, garbage or 100 MB, leaves somebody
behind who holds its output, never reads what it gets: each time the send
answers in time, the dead letter is there once, and what was sent is in no file
but those of messages.  What happened while a slow one ran is not undone.
"""
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

MARKER, META = "marker-in-content-7d1f", "marker-in-metadata-7d1f"
MAY_HOLD = ("messages.jsonl", "messages.db", "messages_archive")
LIMIT = 1.0  # seconds that the command may take
PATIENCE = 50  # the commands that hang take a minute
NUL = "printf 'a\\000b\\n'"
FLOOD = "i=0; while [ $i -lt 1600 ]; do printf '%065536d' 0; i=$((i+1)); done; echo; echo T"

# name, arguments, what it is filed as, whether it is killed
COMMANDS = [
    ("answers", ["sh", "-c", "cat >/dev/null; echo TASK-1"], "TASK-1", False),
    ("answers without reading", ["echo", "TASK-2"], "TASK-2", False),
    ("answers in two lines", ["printf", "TASK-3\\nmore\\n"], "TASK-3", False),
    ("answers without a newline", ["printf", "TASK-4"], "TASK-4", False),
    ("answers in a CRLF line", ["printf", "TASK-5 \\r\\n"], "TASK-5", False),
    ("answers with quotes", ["printf", "T\"',\\\\6ü\\n"], "T\"',\\6ü", False),
    ("prints nothing", ["true"], None, False),
    ("prints an empty line first", ["printf", "\\nTASK\\n"], None, False),
    ("fails", ["sh", "-c", "echo TASK; exit 3"], None, False),
    ("dies of a signal", ["sh", "-c", "echo TASK; kill -9 $$"], None, False),
    ("prints what is not UTF-8", ["printf", "\\377\\376\\n"], None, False),
    ("prints a NUL", ["sh", "-c", NUL], None, False),
    ("prints control characters", ["printf", "a\\033[31mb\\n"], None, False),
    ("prints a tab", ["printf", "a\\tb\\n"], None, False),
    ("prints a long name", ["sh", "-c", "printf '%0500d\\n' 7"], None, False),
    ("prints 100 MB", ["sh", "-c", FLOOD], None, False),
    ("prints for ever", ["yes", "x" * 200], None, True),
    ("hangs", ["sleep", "60"], None, True),
    ("hangs and ignores", ["sh", "-c", "trap '' TERM INT HUP; echo T; while :; do sleep 60; done"], None, True),
    ("leaves somebody behind", ["sh", "-c", "sleep 60 & echo TASK-9"], "TASK-9", False),
    ("closes its output and hangs", ["sh", "-c", "exec >&- 2>&-; sleep 60"], None, True),
    ("echoes what it got", ["cat"], None, False),
    ("is missing", ["/nowhere/at/all"], None, False),
    ("is not a program", ["/etc/passwd"], None, False),
    ("is a folder", ["/tmp"], None, False),
    ("has arguments that a shell would take", ["printf", "%s\\n", "$(touch pwned); `touch pwned`"],
     "$(touch pwned); `touch pwned`", False),
]


def configure(store, command, more=""):
    with open(f"{store}/.roger/config.yaml", "w", encoding="utf-8") as config:
        config.write("retries:\n  max_attempts: 1\nbreaker:\n  failures: 0\ndead_letters:\n"
                     f"  command: {json.dumps(command)}\n  command_timeout: {int(LIMIT * 1000)}ms\n{more}")


def send(store, key, *more):
    return lib.call(store, ["send", "--as", "ann", "--key", key, "bob", MARKER, "--metadata", json.dumps({META: META}),
                            "--confirm", "read", "--within", "1ms", "--json", *more])


def leaks(store):
    """Files that hold a marker and may not."""
    found = subprocess.run(["grep", "-rlaE", f"{MARKER}|{META}", store], capture_output=True, text=True, check=False)
    return [path for path in found.stdout.splitlines() if not os.path.relpath(path, f"{store}/.roger").startswith(MAY_HOLD)]


def one_command(top, index, command, filed, killed):
    store, faults, key = f"{top}/{index}", [], "t:escalation:1"
    lib.must(lib.call(store, ["init"]))
    configure(store, command)
    began = time.monotonic()
    done = send(store, key)
    took = time.monotonic() - began
    if done.returncode != 75 or json.loads(done.stderr)["error"]["code"] != "retry":
        faults.append(f"exit {done.returncode}: {done.stderr.strip()[-300:]}")
    if MARKER in done.stdout + done.stderr:
        faults.append(f"content in what it says: {done.stderr}")
    if took > PATIENCE or (killed and took < LIMIT * 0.9):
        faults.append(f"took {took:.1f} s")
    letters = lib.letters_of(store)
    if len(letters) != 1 or letters[0].get("filed_as") != filed:
        faults.append(f"dead letters: {letters}")
    attempts = lib.asked(store, "log", "sends")["attempts"]
    if len(attempts) != 1 or attempts[0]["dead_letter_task"] != (filed or letters[0]["id"]):
        faults.append(f"attempts: {attempts}")
    if send(store, key).returncode != 77 or len(lib.letters_of(store)) != 1:
        faults.append("the next send with the key")
    if leaks(store):
        faults.append(f"content in {leaks(store)}")
    if os.path.exists(f"{store}/pwned") or os.path.exists(f"{store}/.roger/pwned"):
        faults.append("a shell ran it")
    lib.check_verify(store)
    return faults


def what_it_gets(top):
    """The letter as one JSON line on its standard input, in .roger/, and nothing of the content."""
    store, faults = f"{top}/gets", []
    lib.must(lib.call(store, ["init"]))
    configure(store, ["sh", "-c", "cat >in; env >env; pwd >pwd; ls -l /proc/self/fd >fds; echo T"])
    send(store, "t:escalation:1")
    with open(f"{store}/.roger/in", encoding="utf-8") as lines:
        letter = json.loads(lines.readline())
        if lines.read():
            faults.append("more than one line")
    expected = {"task_id": "t", "sender": "ann", "target": "bob", "attempt_count": 1, "status": "undelivered",
                "idempotent_key": "t:escalation:1", "payload_bytes": len(MARKER)}
    wrong = {name: letter.get(name) for name, value in expected.items() if letter.get(name) != value}
    if wrong:
        faults.append(f"the letter says {wrong}")
    if leaks(store):
        faults.append(f"content in {leaks(store)}")
    return faults


def slow_one(top, kind):
    """While the command runs, the message is read, redelivered, or marked: that holds, and the name is noted."""
    store, faults = f"{top}/{kind}", []
    lib.must(lib.call(store, ["init"]))
    configure(store, ["sh", "-c", "touch running; while ! [ -e go ]; do sleep 0.02; done; echo TASK-9"],
              "  alarm: 100\n")
    letter = lib.letter_id("ann", "bob", "t:escalation:1", "1", 1)
    words = ["send", "--as", "ann", "--key", "t:escalation:1", "bob", "x", "--confirm", "read", "--within", "1ms"]
    with subprocess.Popen([lib.ROGER, *words, "--workspace", store], stderr=subprocess.DEVNULL, env=lib.env_for(store)) as sending:
        while not os.path.exists(f"{store}/.roger/running"):
            time.sleep(0.01)
        if kind == "read":
            lib.must(lib.call(store, ["receive", "--as", "bob"]))
        elif kind == "stale":
            lib.must(lib.call(store, ["dismiss", letter, "--reason", "by hand"]))
        else:
            lib.call(store, ["dead", "redeliver", letter, "--within", "1ms"])
        with open(f"{store}/.roger/go", "w", encoding="utf-8"):
            pass
        if sending.wait(20) != 75:
            faults.append(f"exit {sending.returncode}")
    letters, attempts = lib.letters_of(store), lib.asked(store, "log", "sends")["attempts"]
    if len(letters) != 1 or letters[0].get("filed_as") != "TASK-9":
        faults.append(f"letters {letters}")
    if kind == "read" and (attempts[0]["outcome"] != "delivered" or not letters[0].get("delivered_at")):
        faults.append(f"read meanwhile, but {attempts} {letters}")
    # Not read in time once more, it is to be delivered; its line says what was tried.
    with open(f"{store}/.roger/dead-letters.jsonl", encoding="utf-8") as file:
        last = json.loads(file.read().splitlines()[-1])
    if kind != "read" and last["status"] != ("stale" if kind == "stale" else "redelivered"):
        faults.append(f"marked {kind} meanwhile, but {last} {letters}")
    if kind == "stale" and letters[0].get("note") != "by hand":
        faults.append(f"the note is gone: {letters}")
    if attempts[0]["dead_letter_task"] != "TASK-9":
        faults.append(f"the entry names no task: {attempts}")
    return faults


def nobody_knows(top):
    """The write of a last allowed attempt fails: its letter is no damage, and the key delivers it after all."""
    store, faults, words = f"{top}/unsure", [], ["send", "--as", "ann", "--key", "t:escalation:1", "bob", "x"]
    lib.must(lib.call(store, ["init"]))
    configure(store, ["true"])
    lib.must(lib.call(store, ["send", "--as", "ann", "--new", "bob", "hi"]))
    done = lib.call(store, words, before=lib.injected("write", "error=EIO", 1))
    if done.returncode != 74 or [(letter["cause"], letter["status"]) for letter in lib.letters_of(store)] != [("not known to be on disk", "undelivered")]:
        faults.append(f"exit {done.returncode}: {lib.letters_of(store)}")
    for when in ("", ", delivered after all"):
        found = lib.call(store, ["doctor"])
        if found.returncode:
            faults.append(f"doctor{when}: {found.stdout}")
        if lib.call(store, words).returncode not in (0, 77):
            faults.append(f"the next send with the key{when}")
    if [attempt["outcome"] for attempt in lib.asked(store, "log", "sends", "--key", "t:escalation:1")["attempts"]] != ["timeout", "delivered"]:
        faults.append(f"attempts: {lib.asked(store, 'log', 'sends')}")
    return faults


def every_verb(top):
    """The markers through everything that writes: found in messages, their index and their archive only."""
    store = f"{top}/verbs"
    lib.must(lib.call(store, ["init"]))
    configure(store, ["cat"])
    letter = lib.letter_id("ann", "bob", "t:escalation:1", "1", 1)
    send(store, "t:escalation:1")
    send(store, "t:escalation:1")
    conflict = lib.call(store, ["send", "--as", "ann", "--key", "t:escalation:1", "bob", MARKER + "!"])
    lib.call(store, ["dead", "redeliver", letter, "--within", "1ms"])
    lib.must(lib.call(store, ["dismiss", letter, "--reason", "done"]))
    lib.must(lib.call(store, ["receive", "--as", "bob"]))
    for words in (["send", "--as", "ann", "--key", "t:status-update:2", "kim", MARKER], ["log", "cycle", "new"], ["log", "cycle", "new"],
                  ["log", "cycle", "new"], ["log", "cycle", "new"], ["log", "purge"], ["cleanup", "--keep-per-agent", "1"], ["doctor", "rebuild"],
                  ["log", "sends"], ["dead"], ["verify"]):
        done = lib.call(store, words)
        if done.returncode not in (0, 1):
            return [f"{words} exits {done.returncode}: {done.stderr.strip()}"]
    faults = [f"content in {path}" for path in leaks(store)]
    if conflict.returncode != 77 or MARKER in conflict.stderr:
        faults.append(f"a conflict: {conflict.returncode} {conflict.stderr}")
    return faults


def main():
    lib.need_strace()
    tap = lib.Tap()
    with lib.workplace() as top:
        for index, (name, command, filed, killed) in enumerate(COMMANDS):
            try:
                tap.result(one_command(top, index, command, filed, killed), f"a command that {name}")
            except lib.Fault as fault:
                tap.result([str(fault)], f"a command that {name}")
        tap.result(what_it_gets(top), "what it gets")
        for kind in ("read", "stale", "redeliver"):
            tap.result(slow_one(top, kind), f"a slow command, meanwhile {kind}")
        tap.result(nobody_knows(top), "a last attempt of which nobody knows whether it was stored")
        tap.result(every_verb(top), "no content in any other file")
    tap.done()


main()
