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


def judge(what, words, at_once=False):
    """Asked before the server has begun with it, and until it is done; at_once: it has nothing to read."""
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
    if at_once and told:
        faults.append(f"told {told} times to try again")
    elif not at_once and not told:
        faults.append("the first answer waited for all lines to be read")
    tap.result(faults, f"{what}: at once" if at_once else f"{what}: told {told} times to try again, and then done")
    return place


place = judge("a first send", ["send", "bob", "first", "--as", "amy", "--key", "t2:ask:1"])
done = place.run("send", "bob", "with a key", "--as", "amy", "--key", "t1:ask:1")
tap.result([] if done.returncode == 0 and "sent before" in done.out + done.err else [f"{done.returncode} {done.out} {done.err}"], "a key that was used in files is known")
server.end()
server.process = None
place = judge("after a second start", ["send", "bob", "second", "--as", "amy", "--key", "t3:ask:1"], at_once=True)
done = place.run("log", "sends", "--as", "amy", "--jsonl")
tap.result([] if all(done.out.count(f'"t{number}:ask:1"') == 1 for number in (1, 2, 3)) else [done.out + done.err], "each of the three has one entry in the log")
server.end()
server.process = None
other = sql("UPDATE roger.document d SET text = convert_to(left(mark, -1) || translate(right(mark, 1), '0123456789abcdef', '123456789abcdef0'), 'UTF8') "
            "FROM (SELECT ws, convert_from(text, 'UTF8') AS mark FROM roger.document WHERE kind = 3) AS old WHERE d.ws = old.ws AND kind = 3 RETURNING 1")
tap.result([] if other.stdout.strip() == "1" else [str(other)], "the database keeps how far the logs are")
place = judge("after a start where other lines are meant", ["send", "bob", "third", "--as", "amy", "--key", "t4:ask:1"])
tap.result([f"{verb}: {done.out} {done.err}" for verb in ("verify", "doctor") if (done := place.run(verb)).returncode], "verify and doctor have no complaint")
server.end()
tap.done()
