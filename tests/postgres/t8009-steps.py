"""A send of a program that lives is one call of the server and its barrier; the note follows.  From the server's own log.

    script/postgres python3 tests/postgres/t8009-steps.py
runner: plain alone timeout 120
"""
import os
import subprocess
import sys
from pathlib import Path

SERVER = os.environ["TEST_POSTGRES"]
os.environ["ROGER_STORE"] = f"{SERVER}#steps"
sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))
from lib_serve import *

PSQL = [sorted(Path("/usr/lib/postgresql").glob("*/bin/psql"))[-1], "-qAtX", SERVER]
LOG = Path(SERVER.split("host=")[1], "log")
SENDS = 20


def mark(text):
    subprocess.run([*PSQL, "-c", f"SELECT '{text}'"], check=True, capture_output=True)


def count(log, words):
    return sum("execute r" in line and words in line for line in log)


server = Server()
server.post("/v1/send", {"from": "amy", "to": "bob", "content": "the first looks around"})
server.post("/v1/send", {"from": "amy", "to": "bob", "content": "the second knows"})
subprocess.run([*PSQL, "-c", "ALTER SYSTEM SET log_statement = 'all'", "-c", "SELECT pg_reload_conf()"], check=True, capture_output=True)
while "begin-here" not in LOG.read_text(errors="replace"):
    mark("begin-here")
for number in range(SENDS):
    equal(f"send {number}", server.post("/v1/send", {"from": "amy", "to": "bob", "content": f"text {number}"})[0], 200)
mark("end-here")
log = LOG.read_text(errors="replace")
log = log[log.rindex("begin-here") : log.index("end-here")].splitlines()
equal("each is one step", count(log, "roger.append_1("), SENDS)
equal("for which no figure is asked", count(log, "name = ANY("), 0)
check("and one barrier", count(log, "pg_logical_emit_message") >= SENDS)
check("no transaction stays open between two questions", count(log, "BEGIN") == 0)
server.end()
done()
