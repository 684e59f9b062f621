"""What a program asks the server, from the server's own log: a send is one call and its barrier, and who waits is told.

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


def await_row(sql):
    while not subprocess.run([*PSQL, "-c", f"SELECT 'there' WHERE EXISTS ({sql})"], check=True, capture_output=True).stdout:
        pass


server = Server()
server.post("/v1/send", {"from": "amy", "to": "bob", "content": "the first looks around"})
server.post("/v1/send", {"from": "amy", "to": "bob", "content": "the second knows"})
subprocess.run([*PSQL, "-c", "ALTER SYSTEM SET log_statement = 'all'", "-c", "ALTER SYSTEM SET log_line_prefix = '%p '", "-c", "SELECT pg_reload_conf()"], check=True, capture_output=True)
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



def wake():
    """Somebody registers while a send is at its lines, so that the look of the wait may be too early.

    How often it was told, and whether it woke by that: what it is told of is durable, and a look by itself needs a barrier.
    """
    holder = subprocess.Popen(PSQL, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    holder.stdin.write("DELETE FROM roger.waiter; BEGIN; SELECT 'held' FROM roger.workspace FOR NO KEY UPDATE;\n")
    holder.stdin.flush()
    holder.stdout.readline()
    sender = subprocess.Popen([ROGER, "send", "cem", "as it registers", "--as", "amy", "--workspace", WORKSPACE], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    await_row("SELECT FROM pg_stat_activity WHERE query LIKE '%append_1%' AND wait_event_type = 'Lock'")
    waiter = subprocess.Popen([ROGER, "wait", "--as", "cem", "--workspace", WORKSPACE], stdout=subprocess.DEVNULL)
    await_row("SELECT FROM roger.waiter")
    mark("let-go")
    holder.communicate("COMMIT;\n")
    equal("it is sent, and found", (sender.wait(), waiter.wait()), (0, 0))
    log = LOG.read_text(errors="replace")
    roger("receive", "--as", "cem")
    listener = re.findall(r"^(\d+) .*: LISTEN", log, re.MULTILINE)[-1]
    log = log[log.rindex("let-go") :].splitlines()
    return count(log, "pg_notify("), not count([line for line in log if line.startswith(listener)], "pg_logical_emit_message")


# A look may come just before: not every time.
for turn in range(10):
    told, woken = wake()
    equal("who registered is told", told, 1)
    if woken:
        break
check("and wakes by it", woken)
done()
