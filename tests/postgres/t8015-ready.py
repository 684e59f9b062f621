"""After a move a server has many lines to read.  It updates its index and its logs in the background; a request that needs them before
that is refused at once, and does not wait.

    script/postgres python3 tests/postgres/t8015-ready.py
runner: plain timeout 180
"""
from lib_faults import *

LINES = 60000
UNREADY = "this server is getting ready"

server, files = Server("ready"), Server("files", tables=False)
journal = Path(files.home, "w/.roger/messages.jsonl")
with open(journal, "a", encoding="utf-8") as file:
    for number in range(LINES):
        file.write(json.dumps({"id": f"msg-1795230875337-{number:016x}", "issue_id": f"big-{number % 50}", "from_phase": "amy", "to_phase": "bob",
                               "run_counter": 1, "message_type": "context", "content": f"{number} " + "x" * 100, "metadata": None, "read": True,
                               "created_at": 1795230875337, "read_at": 1795230875338}, separators=(",", ":")) + "\n")
done = files.roger("send", "bob", "with a key", "--as", "amy", "--key", "t1:ask:1")
tap.result([done.stderr] if done.returncode else [], "a send in files")
files.env["ROGER_TRUST"] = files.home + "/w"
done = files.roger("move", server.env["ROGER_STORE"])
tap.result([done.stderr] if done.returncode else [], f"{LINES} lines move")


def judge(what, words):
    """Asked before the server has begun with it, and until it is done."""
    place = Place.__new__(Place)
    place.name, place.servers = "ready", [server]
    server.start()
    faults, answers = [], []
    while not answers or answers[-1].returncode:
        answers.append(place.run(*words))
        if answers[-1].returncode and (answers[-1].returncode != 75 or UNREADY not in answers[-1].err):
            faults.append(f"{answers[-1].returncode} {answers[-1].err}")
            break
        time.sleep(0.05)
    told = sum(UNREADY in one.err for one in answers)
    faults += [] if told else ["the first answer waited for all lines to be read"]
    tap.result(faults, f"{what}: told {told} times to try again, and then done")
    return place


place = judge("a first send", ["send", "bob", "first", "--as", "amy", "--key", "t2:ask:1"])
done = place.run("send", "bob", "with a key", "--as", "amy", "--key", "t1:ask:1")
tap.result([] if done.returncode == 0 and "sent before" in done.out + done.err else [f"{done.returncode} {done.out} {done.err}"], "a key that was used in files is known")
server.end()
server.process = None
place = judge("after a start, too", ["send", "bob", "second", "--as", "amy", "--key", "t3:ask:1"])
tap.result([f"{verb}: {done.out} {done.err}" for verb in ("verify", "doctor") if (done := place.run(verb)).returncode], "verify and doctor have no complaint")
server.end()
tap.done()
