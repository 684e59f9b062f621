#!/usr/bin/env python3
# runner: plain
# runner: timeout 240
"""A server whose disk stands still (hang.c) answers all the same: each request within 10 seconds with 75, and what is slow by
nature with how far it is, and with a key where none was given; each is done once, and its answer is told when it is there.
So does each call at /mcp."""
import itertools
import pty
import select
import threading
import time

from lib_mcp import request
from lib_serve import *

HANG = Path(FOLDER.name) / "hang"
ENV = {**os.environ, "LD_PRELOAD": str(Path(os.environ["ROGER_BUILD"]).resolve() / "tests/hang.so"), "HANG": str(HANG)}
server = Server(env=ENV)
FAR = {**os.environ, "ROGER_SERVER": f"unix:{server.path}"}
LONGEST = 10


def timed(what):
    began = time.monotonic()
    return what(), time.monotonic() - began


def until(what, condition, within=60):
    ends = time.monotonic() + within
    while not (got := condition()):
        if time.monotonic() > ends:
            check(what, False, "never")
            return got
        time.sleep(0.1)
    return got


def far(*words):
    return subprocess.run([ROGER, *words], capture_output=True, text=True, env=FAR, cwd=FOLDER.name, timeout=60)


for i in range(3):
    roger("send", "bob", f"before {i}", "--as", "amy")
ID = json.loads(roger("list", "--json").stdout)["messages"][0]["id"]

# ------------------------------------------------------------------ quick verbs
HANG.touch()
KEY = {"Idempotency-Key": "one-key"}
SEND = {"from": "amy", "to": ["bob"], "content": "only once"}
(status, _, said), took = timed(lambda: server.post("/v1/send", SEND, headers=KEY))
check("a send is answered with 75 within 10 s", (status, said["exit"], said["retry"]) == (503, 75, "same-key") and 7 < took < LONGEST, (status, said, took))
check("which says that nobody knows", "not known whether it was done" in said["detail"], said)
status, _, said = server.post("/v1/send", SEND, headers={**KEY, "Roger-Tried": str(int(took * 1000))})
equal("the same is under way, to whoever asks again", (status, said["type"], said["retry"]), (409, "urn:roger:error:under-way", "same-key"))
(status, _, said), took = timed(lambda: server.get(f"/v1/messages/{ID}"))
check("so is a look", (status, said["exit"]) == (503, 75) and "try again" in said["detail"] and took < LONGEST, (status, said, took))
(status, _, _), took = timed(lambda: server.get("/healthz"))
check("meanwhile the loop is alive", status == 200 and took < 1, (status, took))
ended, took = timed(lambda: far("send", "bob", "by a command", "--as", "amy"))
check("a command ends with 75 within 10 s, and with the key", ended.returncode == 75 and "--key" in ended.stderr and took < LONGEST + 0.5, (ended.stderr, took))
command_key = re.search(r"--key (\S+)", ended.stderr)
HANG.unlink()
status, headers, said = until("it is done", lambda: (got := server.post("/v1/send", SEND, headers={**KEY, "Roger-Tried": "9000"}))[0] != 409 and got)
equal("when the disk goes on, its answer is told", (status, headers["Idempotent-Replayed"]), (200, "true"))
if command_key:
    equal("the command's too", far("send", "bob", "by a command", "--as", "amy", "--key", command_key.group(1)).returncode, 0)
equal("each is stored once", sorted(m["content"] for m in json.loads(roger("list", "--json").stdout)["messages"]),
      ["before 0", "before 1", "before 2", "by a command", "only once"])

# ------------------------------------------------------------------- slow verbs
HANG.touch()
KEY = {"Idempotency-Key": "two-key"}
(status, _, said), took = timed(lambda: server.get("/v1/verify", headers=KEY))
check("what is slow is said to be under way, soon", (status, said["type"], said["what"], said["total"]) == (409, "urn:roger:error:under-way", "verify", 0) and took < 4, (status, said, took))
equal("and for how long", server.get("/v1/verify", headers=KEY)[2]["done"] in (2, 3, 4), True)
equal("the key of another question is not taken", server.get("/v1/verify?cite=messages.jsonl:1", headers=KEY)[0], 422)
(status, _, keyless), took = timed(lambda: server.get("/v1/verify"))
check("who gives no key is answered within 10 s, and given one", (status, keyless["what"]) == (409, "verify") and keyless["key"] in keyless["detail"] and 7 < took < LONGEST,
      (status, keyless, took))
GIVEN = {"Idempotency-Key": keyless.get("key", "none")}
status, _, said = server.get("/v1/verify", headers=GIVEN)
equal("by which it is the same that is under way", (status, said["done"] >= 7), (409, True))

main, other = pty.openpty()
asked = subprocess.Popen([ROGER, "verify", "--json"], stdout=subprocess.PIPE, stderr=other, env=FAR, cwd=FOLDER.name)
os.close(other)
shown = b""
ends = time.monotonic() + 30
while b"under way for" not in shown and time.monotonic() < ends:
    if select.select([main], [], [], 1)[0]:
        shown += os.read(main, 4096)
check("a command shows that", b"verify: under way for" in shown, shown)
time.sleep(LONGEST)
equal("and goes on, also after 10 s, as long as the server says so", asked.poll(), None)
HANG.unlink()
status, headers, said = until("the answer comes by the given key", lambda: (got := server.get("/v1/verify", headers=GIVEN))[0] != 409 and got)
equal("and is told what came of it", (status, headers["Idempotent-Replayed"], said["damaged"]), (200, "true", 0))
out = asked.communicate(timeout=60)[0]
equal("and so has the command", (asked.returncode, json.loads(out)["damaged"]), (0, 0))
status, headers, said = until("the answer comes", lambda: (got := server.get("/v1/verify", headers=KEY))[0] != 409 and got)
equal("who asked with a key is told what came of it", (status, headers["Idempotent-Replayed"], said["damaged"]), (200, "true", 0))
status, headers, _ = server.get("/v1/verify", headers=KEY)
equal("once: then it is another question", (status, headers["Idempotent-Replayed"]), (200, None))

# ------------------------------------------------------------- those that write
HANG.touch()
KEY = {"Idempotency-Key": "three-key"}
(status, _, said), took = timed(lambda: server.post("/v1/archive", {"ids": [ID], "unread": True}, headers=KEY))
check("what administers is under way, too", (status, said["what"]) == (409, "archive") and took < 4, (status, said, took))
HANG.unlink()
status, _, said = until("it is archived", lambda: (got := server.post("/v1/archive", {"ids": [ID], "unread": True}, headers={**KEY, "Roger-Tried": "3000"}))[0] != 409 and got)
equal("it is done once, and told", (status, said.get("archived")), (200, 1))

# ------------------------------------------------------------------------- /mcp
TYPES = {"Accept": "application/json, text/event-stream", "Roger-Agent": "carl"}
_, headers, _ = server.post("/mcp", request(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}), headers=TYPES)
IDS = itertools.count(1)
TYPES["Mcp-Session-Id"] = headers["Mcp-Session-Id"]


def tool(name, **arguments):
    return rpc("tools/call", {"name": name, "arguments": arguments})["result"]


def rpc(method, params):
    _, _, said = server.post("/mcp", request(next(IDS), method, params), headers=TYPES)
    return said if isinstance(said, dict) else json.loads([line for line in said.splitlines() if line.startswith(b"data: ")][-1][6:])


tool("inbox")
HANG.touch()
answers = {}
calls = {"send": lambda: tool("send", to=["bob"], content="by a tool", key="tool-key"), "inbox": lambda: tool("inbox"),
         "read": lambda: rpc("resources/read", {"uri": "roger://inbox/carl"})}
threads = [threading.Thread(target=lambda name=name, call=call: answers.update({name: timed(call)})) for name, call in calls.items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
for name in ("send", "inbox"):
    said, took = answers.get(name, ({}, 0))
    check(f"the tool {name} is answered within 10 s, and told that nobody knows", said.get("isError") and "not known whether" in said["content"][0]["text"] and 7 < took < LONGEST,
          (said, took))
said, took = answers.get("read", ({}, 0))
check("so is a resource", "not known whether" in said.get("error", {}).get("message", "") and took < LONGEST, (said, took))
HANG.unlink()
said = until("it is sent", lambda: not (got := tool("send", to=["bob"], content="by a tool", key="tool-key")).get("isError") and got)
equal("by its key it is stored once", [m["content"] for m in json.loads(roger("list", "--json").stdout)["messages"]].count("by a tool"), 1)
equal("and tools work again", tool("inbox").get("isError"), None)

# --------------------------------------------------------------- the server ends
HANG.touch()
asked = subprocess.Popen([ROGER, "verify"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=FAR, cwd=FOLDER.name)
time.sleep(4)
server.process.kill()
began = time.monotonic()
err = asked.communicate(timeout=60)[1]
check("a server that is gone meanwhile is noticed", asked.returncode == 75 and time.monotonic() - began < LONGEST, (asked.returncode, err))
HANG.unlink()
done()
