#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""setup killed with -9 before each system call that changes something, and each
of these failing: other people's settings are as they were or as they are to
be, never torn; setup once more makes them whole, and --remove gives back every
byte.  A hook and a server under the same treatment end well and lose no mail.
"""
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

TOOLS = ["claude", "codex", "gemini", "opencode", "copilot"]
CHANGING = {"mkdir", "mkdirat", "openat", "open", "write", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir",
            "fsync", "fdatasync", "fchmod"}
FILES = {
    ".claude/settings.json": '{\n  // mine\n  "hooks": {"Stop": [{"hooks": []}]},\n}',
    "AGENTS.md": "# Agents\r\nbe nice",
    ".codex/config.toml": 'model = "x"\n',
    ".gemini/settings.json": "{}",
    ".github/mcp.json": '{"mcpServers": {"x": {}}}',
}


def project(folder):
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in FILES.items():
        os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        with open(f"{folder}/{name}", "w", encoding="utf-8", newline="") as file:
            file.write(text)
    return folder


def setup(folder, *words, before=(), fault=""):
    environment = {**lib.ENV, "HOME": f"{folder}/home", "PATH": "/usr/bin:/bin"}
    words = ["setup", *TOOLS, "--scope", "project", *words, "--yes"]
    if lib.forks() and not before:
        return lib.Forks.mine().call(words, "", environment, fault, 60, folder)
    return subprocess.run([*before, lib.ROGER, *words], cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=60, check=False)


def contents(folder):
    found = {}
    for top, _, names in os.walk(folder):
        if "/.roger" in top or "/home" in top:
            continue
        for name in names:
            with open(f"{top}/{name}", encoding="utf-8", newline="") as file:
                found[os.path.relpath(f"{top}/{name}", folder)] = file.read()
    return found


def calls(folder, *words):
    trace = f"{folder}.trace"
    done = setup(folder, *words, **lib.recorded(lib.forks(), trace))
    return [(name, number) for name, number, text in lib.calls_in(done, lib.forks(), trace)
            if name in CHANGING and (name not in ("openat", "open") or "O_CREAT" in text)]


def spares(found):
    """Files on their way, which a killed one leaves: they hold nothing that is not elsewhere."""
    return {name for name in found if re.search(r"\.roger-\d+$", name)}


def check(folder, wanted_each, faults, where):
    found = contents(folder)
    for name in spares(found):
        del found[name]
        os.remove(f"{folder}/{name}")
    for name, text in found.items():
        if text not in [wanted.get(name) for wanted in wanted_each]:
            faults.append(f"{where}: {name} is neither as it was nor as it is to be")
    for name in FILES:
        if name not in found:
            faults.append(f"{where}: {name} is gone")


def heal(folder, done, before, faults, where):
    again = setup(folder)
    if again.returncode or contents(folder) != done:
        faults.append(f"{where}: setting up again exits {again.returncode} and does not complete it: {again.stderr}")
    away = setup(folder, "--remove")
    if away.returncode or contents(folder) != before:
        faults.append(f"{where}: removing exits {away.returncode} and leaves {sorted(set(contents(folder)) ^ set(before))}")


def disturb(tap, top, what, words, start):
    before = contents(project(f"{top}/before"))
    ready = project(f"{top}/ready")
    setup(ready)
    done = contents(ready)
    tried = project(f"{top}/traced")
    if start:
        setup(tried)
    points = calls(tried, *words)
    for kind, error in (("killed", None), ("failing", "EIO"), ("full", "ENOSPC")):
        faults = []

        def one(point, folder):
            name, number = point
            mine = []
            where = f"{name} {number} {kind}"
            tried = project(f"{folder}/p")
            if start:
                setup(tried)
            setup(tried, *words, **lib.wrong(lib.forks(), name, number, error))
            check(tried, [before, done], mine, where)
            heal(tried, done, before, mine, where)
            return mine or None

        for more in lib.parallel(one, points):
            faults += more
        tap.result(faults, f"{what}: {kind} at each of {len(points)} calls")
    if len(points) < 20:
        tap.result([f"{len(points)} points"], f"{what}: enough points to mean something")


# What Claude Code writes at least; a hook does nothing for another tool.
EVENT = '{"session_id":"","transcript_path":"","cwd":"","hook_event_name":""}'


def mail(tap, top):
    """A hook killed before each call: the message is unread, and shown at the next event at the latest."""
    store = f"{top}/mail"
    os.makedirs(store)
    lib.must(lib.call(store, ["init"]))
    lib.must(lib.call(store, ["send", "bob", "--as", "ann", "MARK"]))
    trace = f"{top}/hook.trace"
    done = lib.call(lib.copy(store, f"{top}/traced-mail"), ["hook", "claude", "prompt", "--as", "bob"],
                    **lib.recorded(lib.forks(), trace), stdin=EVENT)
    points = [(name, number) for name, number, _ in lib.calls_in(done, lib.forks(), trace) if name not in lib.DULL]
    for kind, error in (("killed", None), ("failing", "EIO")):
        faults = []

        def one(point, folder):
            name, number = point
            tried = lib.copy(store, f"{folder}/w")
            first = lib.call(tried, ["hook", "claude", "prompt", "--as", "bob"], stdin=EVENT,
                             **lib.wrong(lib.forks(), name, number, error))
            told = first.stdout.count("MARK")
            # Without memory there is no program yet that could do better, and 74 blocks no agent.
            if kind == "failing" and first.returncode and (name not in ("mmap", "arch_prctl") or first.returncode == 2):
                return f"{name} {number} failing: the agent is told {first.returncode}"
            second = lib.call(tried, ["hook", "claude", "tool", "--as", "bob"], stdin=EVENT)
            third = lib.call(tried, ["hook", "claude", "tool", "--as", "bob"], stdin=EVENT)
            if second.returncode or not told + second.stdout.count("MARK"):
                return f"{name} {number} {kind}: never shown; exit {second.returncode}"
            if third.stdout:
                return f"{name} {number} {kind}: shown again and again"
            unread = json.loads(lib.call(tried, ["list", "--count", "--to", "bob", "--unread", "--json"]).stdout)["count"]
            return None if unread == 1 else f"{name} {number} {kind}: {unread} unread"

        faults = lib.parallel(one, points)
        tap.result(faults, f"a hook {kind} at each of {len(points)} calls")


def main():
    lib.need_strace()
    tap = lib.Tap()
    with lib.workplace() as top:
        disturb(tap, top, "setup", [], start=False)
        disturb(tap, top, "setup --remove", ["--remove"], start=True)
        mail(tap, top)
    tap.done()


main()
