#!/usr/bin/env python3
"""Tokens of roger serve: who may do what over TCP, and that none is kept anywhere."""
import shutil
import stat
import subprocess

from lib_serve import *


def new(*words):
    return roger("token", "new", *words).stdout.strip()


look, act, most = new("grafana"), new("bob", "--right", "act"), new("ann", "--right", "administer", "--expires", "1h")
late = new("old", "--expires", "1ms")
kept = list(Path(FOLDER.name, "state", "roger").glob("*.tokens"))
equal("they are in one file of this user", [stat.S_IMODE(os.stat(path).st_mode) for path in kept], [0o600])
text = kept[0].read_text()
check("which holds none of them", not any(token in text or token[6:] in text for token in (look, act, most)))
found = subprocess.run(["grep", "-rlE", "roger-[0-9a-f]{64}", FOLDER.name], capture_output=True, text=True).stdout
equal("nor does any other file", found, "")
listed = roger("token", "list").stdout
check("they are listed by name and right", all(word in listed for word in ("grafana  look", "bob  act", "ann  administer", "old  look  expired")), listed)
equal("also as one object of JSON", [one["name"] for one in json.loads(roger("token", "list", "--json").stdout)["tokens"]][:2], ["grafana", "bob"])
roger("token", "bob", status=64)
roger("token", "new", status=64)
roger("token", "revoke", "nobody", status=66)

config = WORKSPACE / ".roger" / "config.yaml"
before = config.read_text()
config.write_text(before + "groups: {Team: [ann, bob]}\n")
for name in ("roger", "ALL", "user", "System", "assistant", "team"):
    for right in ("look", "act", "administer"):
        said = roger("token", "new", name, "--right", right, status=77).stderr
        check(f"none for {name}, which no agent may be: {right}", f"'{name}', a name that no agent may have" in said, said)
equal("nothing was made", roger("token", "list").stdout, listed)
config.write_text(before)

server = Server("--listen", "127.0.0.1:0")


def ask(token, method, path, body=None, scheme="Bearer "):
    headers = {"Authorization": scheme + token} if token else {}
    status, _, reply = server.ask(method, path, body, headers, server.tcp())
    return status, reply


SEND = {"to": "carol", "content": "x"}
for name, token, scheme, status in (
    ("no token", None, "", 401),
    ("one that may look", look, "Bearer ", 200),
    ("the same in small letters", look, "bearer ", 200),
    ("a token as a password", look, "Basic ", 401),
    ("another scheme", look, "Token ", 401),
    ("one that expired", late, "Bearer ", 401),
    ("half a token", look[:-1], "Bearer ", 401),
    ("its hash", json.loads(text.splitlines()[0])["sha256"], "Bearer ", 401),
    ("nothing", "", "Bearer ", 401),
):
    equal(f"{name}: {status}", ask(token, "GET", "/v1/list", scheme=scheme)[0], status)
equal("a token in the query is none", ask(None, "GET", f"/v1/list?token={look}")[0], 401)
for verb, body, statuses in (
    ("send", SEND, (403, 200, 400)),
    ("receive", {}, (403, 200, 200)),
    ("cleanup", {}, (403, 403, 200)),
    ("rebuild", {}, (403, 403, 200)),
    ("purge", {}, (403, 403, 200)),
):
    equal(f"{verb}: look, act, administer", tuple(ask(token, "POST", f"/v1/{verb}", body)[0] for token in (look, act, most)), statuses)
equal("metrics need one", (ask(None, "GET", "/metrics")[0], ask(look, "GET", "/metrics")[0]), (401, 200))
equal("events, too", ask(None, "GET", "/v1/events")[0], 401)
sent = server.get("/v1/list?to=carol")[2]["messages"]
equal("who acts is the agent of the token", [json.loads(roger("list", "--to", "carol", "--from", "bob", "--json").stdout)["messages"][0]["id"]], [sent[0]["id"]])
status, problem = ask(act, "POST", "/v1/send", {**SEND, "from": "al"})
equal("and nobody else", (status, problem["member"]), (403, "from"))
status, problem = ask(act, "GET", "/v1/inbox?agent=carol")
equal("whose mail it looks at as its own is its own", (status, problem["member"]), (403, "agent"))
ours = json.loads(roger("show", sent[0]["id"], "--json").stdout)["messages"][0]
equal("the message says how its sender is known", (ours["from"], ours.get("proved")), ("bob", "token"))
journal = WORKSPACE / ".roger" / "messages.jsonl"
check("in its line, too", '"proved":"token"' in next(line for line in journal.read_text().splitlines() if sent[0]["id"] in line))
check("show and trace say it", all("sender proved by token" in roger(verb, sent[0]["id"]).stdout for verb in ("show", "trace")))
equal("trace as JSON, too", json.loads(roger("trace", sent[0]["id"], "--json").stdout)["traces"][0].get("proved"), "token")
equal("no request can say it of itself", ask(act, "POST", "/v1/send", {**SEND, "proved": "token"})[0], 422)
server.post("/v1/send", {**SEND, "from": "bob", "content": "by the socket"})
ask(most, "POST", "/v1/send", {**SEND, "from": "bob", "content": "for another"})
roger("send", "--as", "bob", "carol", "by the command")
unproved = [m for m in server.get("/v1/list?to=carol&from=bob")[2]["messages"] if m["id"] != sent[0]["id"]]
equal("the socket, an administrator and a command prove nothing", [m.get("proved") for m in unproved], [None] * 3)
ASK = """import http.client, json, os, socket, sys
client = http.client.HTTPConnection("localhost")
client.sock = socket.socket(socket.AF_UNIX)
client.sock.connect(sys.argv[1])
client.request("POST", "/v1/send", json.dumps({"from": sys.argv[2], "to": "seen", "content": sys.argv[3]}), {"Content-Type": "application/json"})
print(client.getresponse().status)"""


def by_process(agent, sender, text):
    words = [sys.executable, "-c", ASK, server.path, sender, text]
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **({"ROGER_AGENT": agent} if agent is not None else {})})
    proved = {m["content"]: m.get("proved") for m in json.loads(roger("list", "--to", "seen", "--json").stdout)["messages"]}
    return done.stdout.strip(), proved.get(text)


try:
    one, other = socket.socketpair()
    os.close(one.getsockopt(socket.SOL_SOCKET, 77))
except OSError:
    print("# no SO_PEERPIDFD here: nobody is observed")
else:
    equal("who runs as an agent is seen to at the socket", by_process("al", "al", "one"), ("200", "observed"))
    equal("and is no other", by_process("al", "bob", "two"), ("200", None))
    equal("who runs as nobody is not", by_process(None, "al", "three"), ("200", None))
    equal("nor as what is no name", by_process("", "al", "four"), ("200", None))
    equal("one who runs as human has shown no token", by_process("human", "human", "five")[1], None)
    check("show says so", "sender observed" in roger("show", json.loads(roger("list", "--to", "seen", "--json").stdout)["messages"][0]["id"]).stdout)
equal("an administrator speaks for whom it names", ask(most, "POST", "/v1/send", {**SEND, "from": "al"})[0], 200)
ask(look, "GET", "/v1/inbox?agent=carol")
check("a look with a token that may look is not the agent's", '"step":"looked"' not in roger("trace", sent[0]["id"], "--json").stdout)
server.get("/v1/inbox?agent=carol")
check("as one at the socket is", '"step":"looked"' in roger("trace", sent[0]["id"], "--json").stdout)
roger("token", "revoke", "bob")
equal("one that was revoked is worth nothing at once", ask(act, "POST", "/v1/send", SEND)[0], 401)
check("also where it was the agent's only one", "bob" not in roger("token", "list").stdout)
os.chmod(kept[0], 0o644)
equal("a file that others may read is not believed", ask(look, "GET", "/v1/list")[0], 401)
os.chmod(kept[0], 0o600)
equal("until it is this user's alone again", ask(look, "GET", "/v1/list")[0], 200)
roger("ack", "--as", "carol", sent[0]["id"])
equal("it stays when the message changes", json.loads(roger("show", sent[0]["id"], "--json").stdout)["messages"][0].get("proved"), "token")
equal("the journals are whole", roger("verify").returncode, 0)
equal("it ends well", server.end(), (0, ""))
listed = roger("token", "list").stdout
check("a list says when and from where each was used", re.search(r"^grafana  look  until .*  used .* from 127\.0\.0\.1$", listed, re.M), listed)
used = {one["name"]: one for one in json.loads(roger("token", "list", "--json").stdout)["tokens"]}
equal("as JSON, too", (used["grafana"]["used_from"], "used_at" in used["grafana"], "used_at" in used["old"] if "old" in used else False), ("127.0.0.1", True, False))

# Another workspace at the same path is another one; so is one for whose token nobody knows it.
key = subprocess.Popen([ROGER, "--workspace", WORKSPACE, "ui", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "DISPLAY": ""})
address, secret = re.fullmatch(r"(http://\S+)/#k=(\w+)\n", key.stdout.readline()).groups()
server.port = int(address.rsplit(":", 1)[1])
status, headers, _ = server.post("/login", {"key": secret}, headers={"Sec-Fetch-Site": "same-origin"}, connection=server.tcp())
cookie = headers["Set-Cookie"].split(";")[0]
enter = lambda: server.get("/v1/count", headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}, connection=server.tcp())[0]
equal("a login and a token are good", (status, enter(), ask(look, "GET", "/v1/list")[0]), (200, 200, 200))
key.terminate()
key.wait(60)
shutil.rmtree(WORKSPACE / ".roger")
subprocess.run([ROGER, "init", WORKSPACE], check=True, capture_output=True)
port = server.port
server = Server("--listen", f"127.0.0.1:{port}")
equal("after `rm -rf .roger; roger init` neither is", (enter(), ask(look, "GET", "/v1/list")[0], ask(most, "POST", "/v1/send", SEND)[0]), (401, 401, 401))
check("which the list says", "of another workspace" in roger("token", "list").stdout, roger("token", "list").stdout)
fresh = new("fresh")
equal("a new one is", ask(fresh, "GET", "/v1/list")[0], 200)
kept[0].write_text(re.sub(r',"workspace":"[0-9a-f]*"', "", kept[0].read_text()))
equal("one of an older roger, which does not say its workspace, is not", ask(fresh, "GET", "/v1/list")[0], 401)
old = new("last")
(WORKSPACE / ".roger").rename(WORKSPACE / "moved")
subprocess.run([ROGER, "init", WORKSPACE], check=True, capture_output=True)
status, _, said = server.post("/v1/send", {**SEND, "from": "al"})
equal("where the workspace is another one since, the socket takes nothing", (status, said["exit"]), (503, 69))
check("and says what to do", "start the server again" in said["detail"], said)
equal("nor does TCP, with tokens of either", (ask(old, "GET", "/v1/list")[0], ask(new("newer"), "GET", "/v1/list")[0]), (503, 503))
shutil.rmtree(WORKSPACE / ".roger")
(WORKSPACE / "moved").rename(WORKSPACE / ".roger")
equal("until it is back", (server.post("/v1/send", {**SEND, "from": "al"})[0], ask(old, "GET", "/v1/list")[0]), (200, 200))
equal("it ends well again", server.end(), (0, ""))
done()
