#!/usr/bin/env python3
"""Many runs: the documents of closed runs are not read again, and every view says what it said.

Each view is asked while the index has no row of them, then with the rows, and then with another
index; then documents change, go away and come back, and each answer follows.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_tap as tap

ROGER = os.path.abspath(os.environ["ROGER"])
ENV = {name: value for name, value in os.environ.items() if not name.startswith("ROGER")}

RUNS = ".roger/state/subagent-delivery-watchdog"
VIEWS = (["status"], ["report"], ["runs", "sweep", "--dry-run"], ["timeline", "lead"], ["timeline", "done-7"],
         ["timeline", "failed-2"], ["timeline", "app"], ["prime", "--as", "lead"], ["runs"])


def roger(*words):
    return subprocess.run([ROGER, *words], capture_output=True, text=True, env=ENV, check=False)


def asked(*words):
    done = roger(*words, "--json")
    return json.loads(done.stdout) if done.stdout else {"stderr": done.stderr}


def views():
    found = {}
    for words in VIEWS:
        said = asked(*words)
        for member in ("chores", "sessions"):  # these tell of now
            said.pop(member, None)
        found[" ".join(words)] = re.sub(r"looked for [0-9.]+m?s", "looked for a while", json.dumps(said, sort_keys=True))
    return found


def differing(before, after):
    return [f"{name}: {before[name][:300]} != {after[name][:300]}" for name in before if before[name] != after[name]]


def write(name, text):
    with open(f"{RUNS}/{name}.json", "w", encoding="utf-8") as file:
        file.write(text)


def read(name):
    with open(f"{RUNS}/{name}.json", encoding="utf-8") as file:
        return file.read()


def copy_run(of, names):
    text = read(of)
    for name in names:
        write(name, text.replace(of, name))


def settle():
    """Let the documents be older than the time in which a change would have the same times."""
    newest = max(entry.stat().st_ctime for entry in os.scandir(RUNS))
    while time.time() < newest + 2.2:
        time.sleep(0.1)


def count_runs():
    said = asked("report")
    return said["runs"], said["completed"], said["blocked"]


def main():
    roger("init")
    roger("run", "--as", "lead", "--issue", "app", "--run", "done-0", "--", "true")
    roger("run", "--as", "lead", "--issue", "app", "--run", "failed-0", "--", "false")
    roger("receive", "--as", "lead")
    roger("runs", "sweep")
    roger("dismiss", "failed-0", "--reason", "seen")
    roger("run", "--as", "lead", "--issue", "app", "--run", "open-0", "--", "false")
    copy_run("done-0", [f"done-{i}" for i in range(1, 200)])
    copy_run("failed-0", [f"failed-{i}" for i in range(1, 10)])
    copy_run("open-0", [f"open-{i}" for i in range(1, 5)])
    views()  # leaves what looks at mail note
    fresh = views()
    settle()
    tap.equal("the first answer makes rows, and says the same", differing(fresh, views()), [])
    tap.equal("so does the next one, by the rows", differing(fresh, views()), [])
    os.remove(".roger/messages.db-index")
    tap.equal("and one with another index", differing(fresh, views()), [])
    tap.equal("report counts each run once", count_runs(), (215, 200, 15))
    asked("runs", "sweep", "--dry-run")

    names = [f"done-{i}" for i in range(7, 107)]  # so many that rows are there for some of them
    for name in names:
        write(name, read(name).replace('"childExit": "0"', '"childExit": "9"'))
    settle()
    tap.equal("documents that were altered in their places are read", asked("report")["failed_runs"], 115)
    for name in names:
        write(name, read(name).replace('"childExit": "9"', '"childExit": "0"'))
    settle()
    tap.equal("put back they are as before", differing(fresh, views()), [])

    os.rename(f"{RUNS}/failed-3.json", "kept.json")
    tap.equal("one that is gone is not counted", count_runs(), (214, 200, 14))
    os.rename("kept.json", f"{RUNS}/failed-3.json")
    tap.equal("and is when it is back", count_runs(), (215, 200, 15))
    found = [b for b in asked("doctor")["breaches"] if "otherwise" in b["what"]]
    tap.equal("doctor finds the same in the index", found, [])
    shutil.rmtree(RUNS)
    tap.equal("without documents there are no runs, whatever the index has", count_runs(), (0, 0, 0))
    tap.done()


main()
