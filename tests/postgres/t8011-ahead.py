"""A machine that has seen more than the server has: an older state was restored, or another workspace is asked from the same folder.

    script/postgres python3 tests/postgres/t8011-ahead.py
runner: plain timeout 300
"""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SERVER = os.environ["TEST_POSTGRES"]
TOP = Path(tempfile.mkdtemp(prefix="roger-ahead."))
os.environ["HOME"] = str(TOP)
os.environ["ROGER_STORE"] = f"{SERVER}#one"
sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))
from lib_serve import *

BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
TOLD = "the store lacks messages that this machine has seen"


def run(where, *words, store="one"):
    ran = subprocess.run([ROGER, *words], cwd=where, env=dict(os.environ, ROGER_STORE=f"{SERVER}#{store}"), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    ran.texts = [line.strip() for line in ran.stdout.splitlines() if line.startswith("    ")]
    return ran


def send(where, *texts, **more):
    for text in texts:
        run(where, "send", "bob", text, "--as", "amy", "--new", **more).check_returncode()


def machine(name):
    folder = TOP / name
    folder.mkdir()
    run(folder, "init").check_returncode()
    return folder


def restore(dump):
    subprocess.run([BIN / "psql", "-qAtX", SERVER, "-c", "DROP SCHEMA roger CASCADE"], check=True, capture_output=True)
    subprocess.run([BIN / "psql", "-qAtX", SERVER], input=dump, check=True, capture_output=True)


def is_right(what, where, texts, *, told, store="one"):
    """inbox, list and receive say what the server has; the first of them tells it."""
    ran = run(where, "inbox", "--as", "bob", store=store)
    equal(f"{what}: inbox", (ran.returncode, ran.texts, TOLD in ran.stderr), (0, texts, told))
    ran = run(where, "list", store=store)
    equal(f"{what}: list", [line for line in ran.stdout.splitlines() if line.endswith(tuple(texts))], ran.stdout.splitlines())
    ran = run(where, "list", "--count", store=store)
    equal(f"{what}: and not more", (ran.stdout.strip(), TOLD in ran.stderr), (str(len(texts)), False))
    ran = run(where, "receive", "--as", "bob", store=store)
    equal(f"{what}: receive", (ran.returncode, ran.texts), (0, texts))


here, there = machine("here"), machine("there")
send(here, "early 1", "early 2")
dump = subprocess.run([BIN / "pg_dump", SERVER], check=True, capture_output=True).stdout

send(here, "lost 1", "lost 2", "lost 3")
run(here, "list")
restore(dump)
is_right("restored", here, ["early 1", "early 2"], told=True)

restore(dump)
send(here, "lost 4", "lost 5", "lost 6")
run(here, "list")
restore(dump)
send(there, *(f"after {number}" for number in range(20)))
is_right("restored, and longer again", here, ["early 1", "early 2", *(f"after {number}" for number in range(20))], told=True)

run(here, "init", store="two")
send(here, "another", store="two")
is_right("another workspace in the same folder", here, ["another"], told=True, store="two")
send(there, "back")
ran = run(here, "inbox", "--as", "bob")
equal("and the first one again", (ran.returncode, ran.texts), (0, ["back"]))
ran = run(there, "inbox", "--as", "bob")
equal("a machine that is not ahead is told nothing", (ran.returncode, ran.texts, ran.stderr), (0, ["back"], ""))

# A program that lives across it.
server = Server()
server.post("/v1/send", {"from": "amy", "to": "bob", "content": "kept"})
dump = subprocess.run([BIN / "pg_dump", SERVER], check=True, capture_output=True).stdout
for number in range(5):
    server.post("/v1/send", {"from": "amy", "to": "bob", "content": f"lost {number}"})
server.get("/v1/list")
restore(dump)
send(there, *(f"later {number}" for number in range(10)), store="one")
answer = server.get("/v1/list")
equal("a server that was at work meanwhile has what is there", (answer[0], "kept" in str(answer), "later 9" in str(answer), "lost" in str(answer)), (200, True, True, False))
answer = server.post("/v1/receive", {"agent": "bob"})
equal("and hands it out", (answer[0], "kept" in str(answer), "later 9" in str(answer), "lost" in str(answer)), (200, True, True, False))
server.end()
shutil.rmtree(TOP, ignore_errors=True)
done()
