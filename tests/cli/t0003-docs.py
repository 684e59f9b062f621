#!/usr/bin/env python3
"""Every block of every page works as it is: commands are run in order, each page in a
workspace of its own, settings are read, C is compiled and run, links lead somewhere."""
# runner: plain
# runner: timeout 240
import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
PROGRAM = Path(os.environ["ROGER"]).resolve()
PAGES = sorted([SOURCE / "README.md", SOURCE / "SECURITY.md", SOURCE / "CONTRIBUTING.md", *SOURCE.glob("docs/*.md"), *SOURCE.glob("mcp/docs/*.md"),
                SOURCE / "integrations/README.md"])
# What other tests run: tests/packages installs, t5009 has the binding of Python, t5007 applies each diff, t6213 compiles the MCP server,
# t2008 makes containers of the recipes of PLACES, test_control and test_journal compute the chain of FORMAT's example, tests/postgres has a server.
ELSEWHERE = {("README.md", "text"), ("PACKAGES.md", "sh"), ("CONTRIBUTING.md", "diff"), ("MCP.md", "c"), ("MCP.md", ""), ("FORMAT.md", ""), ("API.md", ""), ("LIBRARY.md", "python"), ("PLACES.md", "json"), ("PLACES.md", "bash"),
             ("POSTGRES.md", "sh"), ("POSTGRES.md", "sql"), ("POSTGRES.md", "")}
number = failures = 0


def check(name, good, told=""):
    global number, failures
    number += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    if not good:
        print("\n".join("# " + line for line in str(told).splitlines()[-20:]), flush=True)


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", **more)


def blocks_of(page):
    """Language and text of each block."""
    return re.findall(r"^```([a-z]*)\n(.*?)^```$", page.read_text(), re.S | re.M)


def is_elsewhere(page, language, text):
    return any(page.name == name and (language == what or (what and text.startswith(what))) for name, what in ELSEWHERE)


def environment(folder):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER_", "CLICOLOR"))}
    # What the examples run is not there, but for roger: setup finds no tool, and a pager has no terminal.
    return {**clean, "PATH": f"{folder}/bin:{clean['PATH']}", "HOME": str(folder), "XDG_STATE_HOME": f"{folder}/state"}


def prepare(folder):
    (folder / "bin").mkdir()
    (folder / "bin/roger").symlink_to(PROGRAM)
    (folder / "work").mkdir()
    return environment(folder)


# Each line that ends a command with more than 1 (nothing there) is named; `|| echo` takes the rest.
SHELL = """set -u
roger() {
    command roger "$@" || {
        set -- $? "$@"
        [ "$1" = 1 ] || [ "$1" = 75 ] || echo "$@" >>"$WRONG"
        return "$1"
    }
}
"""


def try_commands(page, text, folder, env):
    wrong = folder / "wrong"
    wrong.write_text("")
    done = run("sh", "-c", SHELL + text, cwd=folder / "work", env={**env, "WRONG": str(wrong)}, stdin=subprocess.DEVNULL, timeout=120)
    first = text.strip().splitlines()[0]
    check(f"{page.name}: the commands from '{first[:50]}'", done.returncode in (0, 1) and not wrong.read_text(), wrong.read_text() + done.stdout + done.stderr)
    return done


def try_settings(page, text, folder, env):
    config = folder / "work/.roger/config.yaml"
    before = config.read_text() if config.exists() else None
    config.write_text(text)
    done = run(folder / "bin/roger", "config", "--json", cwd=folder / "work", env=env)
    check(f"{page.name}: the settings from '{text.splitlines()[0]}'", done.returncode == 0 and "config.yaml" in done.stdout, done.stdout + done.stderr)
    config.unlink() if before is None else config.write_text(before)


def try_program(page, text, folder, env):
    (folder / "page.c").write_text(text)
    needs = run("pkg-config", "--libs", "sqlite3", "yaml-0.1", "libsodium", "libutf8proc", "yyjson").stdout.split()
    library = PROGRAM.parent / "src/libroger.a"
    done = run("gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", folder / "page.c", f"-I{PROGRAM.parent}/verbs", "-o", folder / "page", library, *needs, "-lm", "-lpthread")
    check(f"{page.name}: the program compiles", done.returncode == 0, done.stderr)
    done = run(folder / "page", cwd=folder / "work", env=env)
    check(f"{page.name}: and runs", done.returncode == 0 and "number" in done.stdout, done.stdout + done.stderr)


def try_page(page):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = prepare(folder)
        blocks = [one for one in blocks_of(page) if not is_elsewhere(page, *one)]
        if blocks and "roger init" not in blocks[0][1]:
            run(folder / "bin/roger", "init", "-q", cwd=folder / "work", env=env)
        commands = "".join(text for language, text in blocks if language == "sh")
        told = ""
        if commands:
            # One shell for the page: what it exports and names holds below.
            told = try_commands(page, commands, folder, env).stdout
        for language, text in blocks:
            if language == "yaml":
                try_settings(page, text, folder, env)
            elif language == "c":
                try_program(page, text, folder, env)
            elif language != "sh":
                check(f"{page.name}: a block of '{language}' is tried", False, text)
        return told


def try_links(page):
    lost = [link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()) if not (page.parent / link).exists()]
    check(f"{page.name}: its links lead to files", not lost, lost)


told = {}
for page in PAGES:
    try_links(page)
    told[str(page.relative_to(SOURCE))] = try_page(page)
check("README: the reply is in plan's inbox", "implement #1" in told["README.md"] and "done, see migrations/0007.sql" in told["README.md"], told["README.md"])
check("PROOF: what nobody read is not in time", "75: not in time" in told["docs/PROOF.md"], told["docs/PROOF.md"])
version = re.search(r"RG_INDEX_VERSION (\d+)", (SOURCE / "src/index/index_db.h").read_text()).group(1)
check("FORMAT: the version of the index", f"names this version ({version})" in (SOURCE / "docs/FORMAT.md").read_text(), version)
words = len((SOURCE / "README.md").read_text().split())
check("README is short", words <= 600, words)
print(f"1..{number}")
raise SystemExit(failures > 0)
