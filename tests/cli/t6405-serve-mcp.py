#!/usr/bin/env python3
"""Agents over the Model Context Protocol at /mcp of roger serve: who they are, what they may
do, waiting, and that the gate is in front of it."""
import threading

from lib_http import hostile
from lib_mcp import MODERN, request
from lib_serve import *


def new(*words):
    return roger("token", "new", *words).stdout.strip()


look, bob, carol, most = new("bob"), new("bob", "--right", "act"), new("carol", "--right", "act"), new("ann", "--right", "administer")
server = Server("--listen", "127.0.0.1:0")
TYPES = {"Accept": "application/json, text/event-stream"}


def message_of(headers, data):
    if headers.get("Content-Type") == "text/event-stream":
        return [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ")][-1]
    return data


class Agent:
    """A client of one token, or at the socket."""

    def __init__(self, token=None, client="test", **headers):
        self.headers = {**TYPES, **({"Authorization": f"Bearer {token}"} if token else {}), **headers}
        self.connect = server.tcp if token else server.local
        self.client, self.last = client, 0

    def post(self, body, method="POST"):
        return server.ask(method, "/mcp", body, self.headers, self.connect())

    def ask(self, method, params=None):
        self.last += 1
        status, headers, data = self.post(request(self.last, method, params))
        return message_of(headers, data) if status == 200 else {"status": status, **(data or {})}

    def hello(self):
        body = request(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": self.client, "version": "1"}})
        _, headers, data = self.post(body)
        self.headers["Mcp-Session-Id"] = headers["Mcp-Session-Id"]
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return data

    def call(self, tool, **arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]


def text_of(result):
    return result["content"][0]["text"]


b, c = Agent(bob), Agent(carol)
hello = b.hello()["result"]
equal("a client is greeted by roger", hello["serverInfo"]["name"], "roger")
check("as the agent of its token, whatever it calls itself", "You are 'bob'" in hello["instructions"], hello["instructions"])
c.hello()
names = {tool["name"] for tool in b.ask("tools/list")["result"]["tools"]}
check("it has the tools of `roger mcp`", {"send", "inbox", "ack", "wait", "thread", "agents", "dead_letters", "run"} <= names, names)
sent = c.call("send", to=["bob"], content="look at this", key="k1")
check("one agent sends", not sent.get("isError"), sent)
again = c.call("send", to=["bob"], content="look at this", key="k1")
check("once, with its key", "sent already" in text_of(again), again)
inbox = b.call("inbox")
mail = inbox["structuredContent"]["messages"][0]
equal("the other finds it in its inbox", (mail["from"], mail["to"], mail["content"]), ("carol", "bob", "look at this"))
check("and was seen to look", '"step":"looked"' in roger("trace", mail["id"], "--json").stdout)
equal("whose sender is proved by its token", mail.get("proved"), "token")
refused = c.call("ack", ids=[mail["id"]])
check("a third agent cannot ack it", refused.get("isError"), refused)
refused = c.ask("resources/read", {"uri": "roger://inbox/bob"})
check("nor read that inbox as a resource", "error" in refused, refused)
check("its own it can", "result" in b.ask("resources/read", {"uri": "roger://inbox/bob"}))
stolen = Agent(carol, **{"Mcp-Session-Id": b.headers["Mcp-Session-Id"]})
equal("a session is of its token's agent alone", stolen.ask("tools/list")["status"], 404)
other = Agent(bob, **{"Roger-Agent": "carol"})
equal("a header makes nobody another than the token's agent", other.ask("tools/list")["status"], 403)
acked = b.call("ack", ids=[mail["id"]])
check("the one it is for can", not acked.get("isError"), acked)

# Waiting: progress on a stream, then the answer, while others are answered.
lines, told = [], threading.Event()


def wait():
    connection = server.tcp()
    body = request(77, "tools/call", {"name": "wait", "arguments": {"timeout": "60s"}, "_meta": {"progressToken": 1}})
    connection.request("POST", "/mcp", json.dumps(body), {**b.headers, "Content-Type": "application/json"})
    answer = connection.getresponse()
    lines.append(answer.headers["Content-Type"])
    for line in answer:
        if line.startswith(b"data: "):
            lines.append(json.loads(line[6:]))
            told.set()


waiting = threading.Thread(target=wait)
waiting.start()
check("a call that waits says so on a stream", told.wait(60))
c.call("send", to=["bob"], content="second")
waiting.join(60)
check("and is answered when mail comes", lines[0] == "text/event-stream" and "from carol" in text_of(lines[-1]["result"]), lines)

looker = Agent(look)
looker.hello()
second = looker.call("inbox")["structuredContent"]["messages"][0]
equal("one that may look reads", second["content"], "second")
check("and leaves no trace", '"step":"looked"' not in roger("trace", second["id"], "--json").stdout)
for tool, arguments in (("send", {"to": ["carol"], "content": "x"}), ("ack", {"ids": [second["id"]]}), ("run", {"action": "dispatch", "run": "r1"})):
    refused = looker.call(tool, **arguments)
    check(f"it cannot {tool}", refused.get("isError") and "may look" in text_of(refused), refused)
for name, headers in (("no token", {}), ("a wrong one", {"Authorization": "Bearer " + bob[:-1] + "x"}), ("a password", {"Authorization": "Basic " + bob})):
    status = server.ask("POST", "/mcp", request(1, "tools/list"), {**TYPES, **headers}, server.tcp())[0]
    equal(f"{name} is refused", status, 401)
roger("token", "revoke", "carol")
equal("so is one that was revoked, in a session that it had", c.ask("tools/list")["status"], 401)

for name, agent, who in (
    ("the name at the socket is a header's", Agent(client="x", **{"Roger-Agent": "dora"}), "dora"),
    ("else the client's own", Agent(client="codex-cli"), "codex"),
    ("an administrator names itself", Agent(most), "ann"),
    ("or another", Agent(most, **{"Roger-Agent": "eve"}), "eve"),
):
    agent.hello()
    agent.call("send", to=["bob"], content=name)
    equal(name, [m["from"] for m in server.get("/v1/list?to=bob")[2]["messages"] if m["content"] == name], [who])
equal("no name is everybody's", Agent(**{"Roger-Agent": "all"}).ask("tools/list")["status"], 400)
params = {"name": "agents", "arguments": {}, "_meta": {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}}
modern = Agent(bob, **{"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "agents"}).ask("tools/call", params)
check("a client without a handshake is served", "You are bob" in text_of(modern["result"]), modern)

for name, raw in hostile(b"/mcp", json.dumps(request(1, "ping")).encode()):
    statuses = server.statuses(raw)
    check(f"the gate is in front of it: {name}", len(statuses) <= 1 and not set(statuses) & {b"200", b"202"}, statuses)
for name, headers in (("another host", {"Host": "evil.example.com"}), ("another origin", {"Origin": "http://evil.example.com"}), ("another site", {"Sec-Fetch-Site": "cross-site"})):
    equal(f"{name} is refused", server.ask("POST", "/mcp", request(1, "ping"), {**TYPES, **headers})[0], 403)
equal("other methods, too", server.ask("PUT", "/mcp", b"{}", TYPES)[0], 405)

metrics = server.get("/metrics")[2].decode()
check("requests are counted, refused ones apart", all(re.search(rf'roger_requests_total{{verb="mcp",outcome="{outcome}"}} [1-9]', metrics) for outcome in ("done", "refused")), metrics)

# It ends while a client listens and another one waits.
listening, busy = server.tcp(), server.tcp()
listening.request("GET", "/mcp", headers={**b.headers, "Accept": "text/event-stream"})
stream = listening.getresponse()
check("a stream is open", stream.status == 200 and stream.readline().startswith(b":"))
body = request("slow", "tools/call", {"name": "wait", "arguments": {"timeout": "1h", "issue": "none"}})
busy.request("POST", "/mcp", json.dumps(body), {**b.headers, "Content-Type": "application/json"})
b.call("agents")
equal("it ends well", server.end(), (0, ""))
stream.read()
check("and nobody is left hanging", True)
done()
