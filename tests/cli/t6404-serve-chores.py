#!/usr/bin/env python3
# runner: timeout 240
"""What roger serve does by itself, beside the commands and through kills: it wakes who is due,
sweeps, exchanges trigger files, and tries again what was not read in time."""
import threading

from lib_serve import *

woken = Path(FOLDER.name) / "woken"
(WORKSPACE / ".roger" / "config.yaml").write_text(
    f"wake:\n  after: 0s\n  agents:\n    bob: [touch, {woken}]\nbridge:\n  file_only: [paper]\n"
    "size_limits:\n  max_messages_per_issue_phase: 1000\n"
)
server = Server()
said = [c["words"] for c in json.loads(roger("status", "--json").stdout)["concerns"] if c["kind"] == "chores"]
equal("nobody says that no server runs, when this one may not run the command", [w for w in said if "no `roger serve`" in w], [])
check("but that nobody is woken is said", any("nobody wakes agents" in w for w in said), said)
server.end()
os.environ["ROGER_TRUST_COMMANDS"] = "1"
roger("dispatch", "late", "--as", "lead", "--within", "1ms")
[document] = WORKSPACE.rglob("late.json")
check("a run is open", json.loads(document.read_text())["status"] == "active")
server = Server()
roger("send", "--as", "al", "bob", "wake up")
while not woken.exists():
    server.get("/healthz")
check("who has mail is woken", True)
while json.loads(document.read_text())["status"] == "active":
    server.get("/healthz")
check("a run that is late is judged", True)
equal("a command beside it does the same", json.loads(roger("runs", "sweep", "--json").stdout)["runs"], 1)
for _ in range(5):  # slow verbs have 2 threads; beside these are under way 3 of its own at most, and the question
    threading.Thread(target=server.post, args=("/v1/wake", {"timeout": 3600000}), daemon=True).start()
while int(re.search(rb"requests_under_way (\d+)", server.get("/metrics")[2])[1]) < 6:
    pass
equal("to wait until somebody is woken keeps no slow verb waiting", server.get("/v1/verify")[0], 200)
boxes = WORKSPACE / ".roger" / "triggers"
roger("send", "--as", "al", "paper", "on paper")
while not (boxes / "paper.txt").exists() or "on paper" not in (boxes / "paper.txt").read_text():
    server.get("/healthz")
check("who only knows files gets its mail as a file", True)
equal("what it does by itself is no request", re.search(rb'verb="(sweep|wake|bridge)"', server.get("/metrics")[2]), None)

# ------------------------------------------------- trigger files, through kills

TEXTS = 120


def drop(first, last):
    """As foreign programs do it: a name of its own, then that of the agent."""
    for i in range(first, last):
        (boxes / f".draft{i}").write_text(f"(WORKER #{i}): text {i}\n")
        while (boxes / "carol.txt").exists():
            os.sched_yield()
        os.rename(boxes / f".draft{i}", boxes / "carol.txt")


def taken():
    return json.loads(roger("list", "--to", "carol", "--json", "--limit", "0").stdout)["messages"]


# One drop box holds one file until it is taken: so each round needs some look of somebody's.
writer = threading.Thread(target=drop, args=(1, TEXTS + 1), daemon=True)
writer.start()
kills = 0
while writer.is_alive():
    before = len(list(boxes.glob(".draft*")))
    roger("bridge", "--once", status=None)
    if kills < 6:
        server.get("/healthz")
        server.end(signal.SIGKILL)
        server = Server()
        kills += 1
while len(taken()) < TEXTS:
    server.get("/healthz")
equal("through kills, and beside the command, each text is taken in once and in order", [m["content"] for m in taken()], [f"text {i}" for i in range(1, TEXTS + 1)])

# ---------------------------------------------------------------------- retries

SEND = {"from": "al", "to": "dora", "content": "read me", "confirm": "read", "within": 50, "retry": True, "key": "t:escalation:1"}
status, headers, problem = server.post("/v1/send", SEND)
equal("what is not read in time is to be tried again", (status, problem["retry"], problem.get("member")), (503, "same-key", None))
mail = json.loads(roger("list", "--to", "dora", "--json").stdout)["messages"][0]
server.end(signal.SIGKILL)
server = Server()


def attempts(key):
    return {(a["attempt"], a["outcome"]) for a in json.loads(roger("log", "sends", "--key", key, "--json").stdout)["attempts"] if not a.get("pending")}


while roger("dead", "list", "--json", status=None).returncode:
    server.get("/healthz")
equal("then it is a dead letter", len(json.loads(roger("dead", "list", "--json").stdout)["dead_letters"]), 1)
equal("the server does, until it is a dead letter, also when it was killed", attempts("t:escalation:1"), {(i, "timeout") for i in (1, 2, 3)})
equal("it is one message all the time", [m["id"] for m in json.loads(roger("list", "--to", "dora", "--json").stdout)["messages"]], [mail["id"]])
asking = subprocess.Popen(
    [ROGER, "--workspace", WORKSPACE, "send", "--as", "al", "eve", "hello", "--confirm", "read", "--retry", "--within", "1ms", "--key", "t:escalation:2"],
    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
)
while not json.loads(roger("list", "--to", "eve", "--json", status=None).stdout)["messages"]:
    pass
asking.kill()
asking.wait()
while (3, "timeout") not in attempts("t:escalation:2"):
    roger("runs", "sweep")
equal("a sweep beside it does, also for a sender that was killed", attempts("t:escalation:2"), {(i, "timeout") for i in (1, 2, 3)})
server.post("/v1/send", {**SEND, "to": "fay", "key": "t:escalation:3"})
roger("receive", "--as", "fay")
roger("runs", "sweep")
roger("runs", "sweep")
check("what was read is not tried again", (2, "timeout") not in attempts("t:escalation:3"), attempts("t:escalation:3"))
server.post("/v1/send", {**SEND, "to": "gil", "key": "t:escalation:4", "retry": False})
roger("runs", "sweep")
roger("runs", "sweep")
equal("nor what nobody asked to have retried", attempts("t:escalation:4"), {(1, "timeout")})
equal("the workspace is sound", roger("doctor", "-q").returncode, 0)
equal("it ends well", server.end(), (0, ""))
done()
