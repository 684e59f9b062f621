#!/usr/bin/env python3
"""Several workspaces of one `roger serve`: each has its own mail, tokens, events, tools and socket, and none is seen through another."""
import time

from lib_mcp import request
from lib_serve import *

TWO, THREE = (Path(FOLDER.name) / name for name in ("two", "three"))
for folder in (TWO, THREE):
    subprocess.run([ROGER, "init", folder], check=True, capture_output=True)


def at(folder, *words, status=0):
    ended = subprocess.run([ROGER, "--workspace", folder, *words], capture_output=True, text=True, timeout=60)
    if status is not None and ended.returncode != status:
        check(f"{' '.join(words)} in {folder.name}", False, (ended.returncode, ended.stderr))
    return ended.stdout.strip()


for what, also, says in (("no name", str(TWO), "NAME=FOLDER"), ("an empty name", f"={TWO}", "NAME=FOLDER"), ("no folder", "two=", "NAME=FOLDER"), ("a path as the name", f"a/b={TWO}", "NAME=FOLDER"),
                         ("its own workspace", f"one={WORKSPACE}", "has a server already"), ("no workspace", f"two={FOLDER.name}/none", "none")):
    refused = roger("serve", "--also", also, status=None, timeout=60)
    check(f"a further workspace with {what} is refused", refused.returncode not in (0, 1) and says in refused.stderr, (refused.returncode, refused.stderr))
refused = roger("serve", "--also", f"two={TWO}", "--also", f"two={THREE}", status=None, timeout=60)
check("so is a name that is there twice", refused.returncode == 65 and "twice" in refused.stderr, refused.stderr)

server = Server("--listen", "127.0.0.1:0", "--also", f"two={TWO}", "--also", f"three={THREE}")
TCP = f"http://127.0.0.1:{server.port}"
one, two = at(WORKSPACE, "token", "new", "bob", "--right", "act"), at(TWO, "token", "new", "bob", "--right", "act")
refused = subprocess.run([ROGER, "--workspace", TWO, "serve"], capture_output=True, text=True, timeout=60)
equal("each has its one server", refused.returncode, 75)


def far(where, token, *words, status=0):
    ended = subprocess.run([ROGER, *words], capture_output=True, text=True, timeout=60, cwd=FOLDER.name, env={**os.environ, "ROGER_SERVER": TCP + where, "ROGER_TOKEN": token})
    if ended.returncode != status:
        check(f"{' '.join(words)} at {where}", False, (ended.returncode, ended.stderr))
    return ended


def ask(path, token=None, body=None):
    return server.ask("GET" if body is None else "POST", path, body, {"Authorization": f"Bearer {token}"} if token else {}, server.tcp())


far("", one, "send", "amy", "in the first")
far("/w/two", two, "send", "amy", "in the second")
for folder, text in ((WORKSPACE, "in the first"), (TWO, "in the second"), (THREE, None)):
    equal(f"{folder.name} has its own mail", [m["content"] for m in json.loads(at(folder, "list", "--json", status=None))["messages"]], [text] if text else [])
equal("a token is of its workspace", (far("/w/two", one, "list", status=77).returncode, far("/w/three", two, "list", status=77).returncode, far("", two, "list", status=77).returncode), (77, 77, 77))
equal("a workspace that is not there is not told from one with other tokens", *(ask(f"/w/{name}/v1/status", two)[::2] for name in ("four", "three")))
for path in ("/w/two/v1/send", "/w/four/v1/send"):
    equal(f"{path} without a token is refused by its head", server.statuses(b"POST " + path.encode() + b" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n", True), [b"401"])
for path in ("/w/two", "/w/two/", "/w/two/login", "/w//v1/status", "/w/two/w/three/v1/status", "/w/two/../three/v1/status", "/w/tw/v1/status"):
    status = ask(path, two)[0]
    check(f"{path} is nothing", status in (401, 404), status)
equal("nor is it at a socket, which is of one workspace", server.get("/w/two/v1/status")[0], 404)
at(TWO, "send", "bob", "for two", "--as", "amy")
at(WORKSPACE, "send", "bob", "for one", "--as", "amy")
body = request(1, "tools/call", {"name": "inbox", "arguments": {}}, modern=True)


def inbox(path, token):
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "inbox"}
    return server.ask("POST", path, body, headers, server.tcp())


# The tools of the first one are there before those of the second, and after.
for path, token, own, other in (("/w/two/mcp", two, "for two", "for one"), ("/mcp", one, "for one", "for two"), ("/w/two/mcp", two, "for two", "for one")):
    said = inbox(path, token)
    check(f"the tools at {path} see its mail", said[0] == 200 and own in str(said[2]) and other not in str(said[2]), said)
connection = server.tcp()
connection.request("GET", "/w/two/v1/events?since=0.", headers={"Authorization": f"Bearer {two}"})
stream, events = connection.getresponse(), []
while "for two" not in "".join(events) and sum(line.startswith("event: message") for line in events) < 2:
    events.append(stream.readline().decode())
senders = {json.loads(line[6:])["data"]["from"] for line in events if line.startswith("data: {\"spec") and "\"from\"" in line}
equal("its events are its own", senders, {"bob", "amy"} if "amy" in senders else {"bob"})
time.sleep(2)
at(TWO, "send", "bob", "still there", "--as", "zoe")
while (line := stream.readline().decode()) and '"zoe"' not in line:
    pass
check("and go on as long as the token is good there", '"zoe"' in line)
at(TWO, "token", "revoke", "bob")
while line := stream.readline():
    events.append(line.decode())
check("a token that is revoked there ends its stream", True)
equal("and is worth nothing", ask("/w/two/v1/status", two)[0], 401)
equal("the other workspace goes on", ask("/v1/status", one)[0], 200)
three = at(THREE, "token", "new", "carl", "--right", "look")
figures = ask("/w/three/metrics", three)[2].decode()
check("each has its own figures", "roger_requests_total" not in figures or 'verb="send"' not in figures, figures)
for _ in range(100):
    chores = json.loads(at(THREE, "status", "--json")).get("chores", [])
    if len(chores) == 2:
        break
    time.sleep(0.2)
equal("and is looked after", sorted(chore["verb"] for chore in chores), ["bridge", "sweep"])
status, err = server.end()
equal("all end together", (status, err), (0, ""))
equal("and leave no socket", list(Path(FOLDER.name, "roger").glob("*.sock")), [])
used = json.loads(at(THREE, "token", "list", "--json"))["tokens"][0]
equal("of each it is kept when its tokens were used", used.get("used_from"), "127.0.0.1")
done()
