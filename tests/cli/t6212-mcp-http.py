#!/usr/bin/env python3
# runner: timeout 240
"""The MCP library over streamable HTTP: who is let in, headers and body, sessions,
streams of events, cancelling by hanging up, and hostile requests."""
import base64
import http.client
import json
import re
import resource
import socket
import subprocess
import threading
import time

import lib_idle
from lib_http import converse, hostile
from lib_mcp import *

need_fixture()
TOKEN = "fixture-token-0123"


class Server:
    def __init__(self, *arguments, **more):
        self.process = subprocess.Popen(
            [str(FIXTURE), "--http", "0", *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more
        )
        self.port = int(self.process.stdout.readline().split(b":")[2].split(b"/")[0])

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=15)

    def post(self, body, headers=None, connection=None, path="/mcp", method="POST"):
        """Status, headers, body; a header of None is left out."""
        connection = connection or self.connect()
        given = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        given.update(headers or {})
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, data, {k: v for k, v in given.items() if v is not None})
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()

    def modern(self, method, params=None, headers=None, identity=1, **more):
        body = request(identity, method, params, True, **more)
        given = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        for name in ("name", "uri"):
            if method in ("tools/call", "prompts/get", "resources/read") and name in (params or {}):
                given["Mcp-Name"] = params[name]
        given.update(headers or {})
        status, heads, data = self.post(body, given)
        return status, heads, message_of(heads, data)

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(20)
        return status, self.process.stderr.read()


def events_of(data):
    lines = data.decode().splitlines()
    return [json.loads(line[6:]) for line in lines if line.startswith("data: ")]


def message_of(headers, data):
    if headers.get("Content-Type") == "text/event-stream":
        return events_of(data)
    return json.loads(data) if data else None


def error_code(data):
    return json.loads(data)["error"]["code"]


server = Server()

# -------------------------------------------------------------- who is let in

ping = request(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
for host, status in (
    (f"localhost:{server.port}", 200),
    ("localhost", 200),
    ("LOCALHOST:1", 200),
    ("127.0.0.1", 200),
    ("[::1]:80", 200),
    ("evil.example.com", 403),
    ("evil.example.com:80", 403),
    ("localhost.evil.example.com", 403),
    ("localhost@evil.example.com", 403),
    ("127.0.0.1.nip.io", 403),
    ("localhost:", 403),
    ("localhost:8x", 403),
    ("", 403),
):
    equal(f"Host '{host}'", server.post(ping, {"Host": host})[0], status)
for origin, status in (
    (f"http://localhost:{server.port}", 200),
    ("https://127.0.0.1", 200),
    ("http://[::1]:9", 200),
    ("http://evil.example.com", 403),
    ("http://localhost.evil.example.com", 403),
    ("http://localhost:80/path", 403),
    ("file://localhost", 403),
    ("null", 403),
    ("", 403),
):
    equal(f"Origin '{origin}'", server.post(ping, {"Origin": origin})[0], status)
check("a refusal is an error without an id", "id" not in json.loads(server.post(ping, {"Host": "evil"})[2]))
equal("another path", server.post(ping, path="/other")[0], 404)
equal("a path with a query", server.post(ping, path="/mcp?x=1")[0], 200)
for kind, status in (("application/json; charset=utf-8", 200), ("Application/JSON", 200), ("text/plain", 415), ("application/jsonp", 415), (None, 415)):
    equal(f"Content-Type {kind}", server.post(ping, {"Content-Type": kind})[0], status)
for accept, status in (("*/*", 200), ("application/*;q=0.5", 200), ("application/json", 200), (None, 200), ("text/html", 406), ("text/event-stream", 406)):
    equal(f"Accept {accept}", server.post(ping, {"Accept": accept})[0], status)
for method in ("GET", "DELETE", "PUT", "OPTIONS", "PATCH"):
    equal(f"{method} without a session", server.post(None, method=method)[0], 405)

# ------------------------------------------------------------------ hostile heads


def statuses(raw):
    said = converse(lambda: socket.create_connection(("127.0.0.1", server.port), timeout=15), raw)
    return re.findall(rb"HTTP/1\.[0-9] ([0-9]{3}) ", said)


BODY = json.dumps(ping).encode()
START = b"Host: localhost\r\nContent-Type: application/json\r\n"
HIDDEN = b"POST /mcp HTTP/1.1\r\n" + START + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
LAST = HIDDEN.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)
equal("two requests in one piece are both answered", statuses(HIDDEN + LAST), [b"200", b"200"])
for what, raw in hostile(b"/mcp", BODY):
    # 417, 501: libevent's own answers to an odd expectation and to an unknown method.
    check(f"{what}: refused, and nothing after it is answered", statuses(raw + LAST) in ([b"400"], [b"417"], [b"501"]), statuses(raw + LAST))
for site, status in (("cross-site", 403), ("same-site", 403), ("nonsense", 403), ("same-origin", 200), ("none", 200)):
    equal(f"Sec-Fetch-Site {site}", server.post(ping, {"Sec-Fetch-Site": site})[0], status)

# -------------------------------------------------------------------- modern

status, headers, answer = server.modern("server/discover")
equal("discover", (status, answer["result"]["supportedVersions"][0]), (200, MODERN))
check("no session is made", "Mcp-Session-Id" not in headers)
equal("a session id is ignored", server.modern("server/discover", headers={"Mcp-Session-Id": "nothing"})[0], 200)
for name, headers, code in (
    ("no Mcp-Method", {"Mcp-Method": None}, -32020),
    ("another Mcp-Method", {"Mcp-Method": "prompts/list"}, -32020),
    ("Mcp-Method in capitals", {"Mcp-Method": "TOOLS/LIST"}, -32020),
    ("no version in the headers", {"MCP-Protocol-Version": None}, -32020),
    ("another version in the headers", {"MCP-Protocol-Version": "2025-11-25"}, -32020),
):
    status, _, answer = server.modern("tools/list", headers=headers)
    equal(name, (status, answer["error"]["code"], answer["id"]), (400, code, 1))
equal("blanks around a value", server.modern("tools/list", headers={"Mcp-Method": "  tools/list \t"})[0], 200)
status, _, answer = server.modern("tools/list", version="2030-01-01", headers={"MCP-Protocol-Version": "2030-01-01"})
equal("a version of the future", (status, answer["error"]["code"], answer["error"]["data"]["requested"]), (400, -32022, "2030-01-01"))
body = {"jsonrpc": "2.0", "id": 4, "method": "tools/list"}
status, _, data = server.post(body, {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"})
equal("a modern header without _meta", (status, error_code(data)), (400, -32602))
status, _, answer = server.modern("ping")
equal("a method that is gone", (status, answer["error"]["code"]), (404, -32601))
call = {"name": "test_simple_text", "arguments": {}}
equal("a call", server.modern("tools/call", call)[2]["result"]["content"][0]["type"], "text")
status, _, answer = server.modern("tools/call", call, {"Mcp-Name": "other"})
equal("another Mcp-Name", (status, answer["error"]["code"]), (400, -32020))
equal("no Mcp-Name", server.modern("tools/call", call, {"Mcp-Name": None})[0], 400)
encoded = "=?base64?" + base64.b64encode(b"test_simple_text").decode() + "?="
equal("Mcp-Name in base64", server.modern("tools/call", call, {"Mcp-Name": encoded})[0], 200)
equal("Mcp-Name in bad base64", server.modern("tools/call", call, {"Mcp-Name": encoded[:-4] + "!?="})[0], 400)
status, _, answer = server.modern("tools/call", {"name": "no_such", "arguments": {}})
equal("an unknown tool", (status, answer["error"]["code"]), (200, -32602))
status, _, answer = server.modern("resources/read", {"uri": "test://nowhere"})
equal("an unknown resource", answer["error"]["data"], {"uri": "test://nowhere"})
status, _, answer = server.modern("tools/call", {"name": "test_missing_capability", "arguments": {}})
equal("a capability that is missing", (status, answer["error"]["code"]), (400, -32021))


def with_region(arguments, **headers):
    status, _, answer = server.modern("tools/call", {"name": "test_custom_header", "arguments": arguments}, {k.replace("_", "-"): v for k, v in headers.items()})
    return status, answer.get("error", {}).get("code")


equal("an argument as a header", with_region({"region": "us", "count": 42}, Mcp_Param_Region="us", Mcp_Param_Count="42.0"), (200, None))
equal("one that is not there needs none", with_region({"region": "us"}, Mcp_Param_Region="us"), (200, None))
equal("its header is missing", with_region({"region": "us"}), (400, -32020))
equal("its header says otherwise", with_region({"region": "us"}, Mcp_Param_Region="eu"), (400, -32020))
equal("a number's header says otherwise", with_region({"region": "us", "count": 42}, Mcp_Param_Region="us", Mcp_Param_Count="43"), (400, -32020))
equal("a header without its argument", with_region({"region": "us"}, Mcp_Param_Region="us", Mcp_Param_Count="43"), (400, -32020))

status, headers, notes = server.modern("tools/call", {"name": "test_tool_with_progress", "arguments": {}}, **{"progressToken": 5})
equal("progress makes it a stream", (headers["Content-Type"], headers["X-Accel-Buffering"]), ("text/event-stream", "no"))
equal("progress, then the answer", [n["params"]["progress"] if "params" in n else n["id"] for n in notes], [0, 50, 100, 1])
body = request(1, "tools/call", {"name": "test_tool_with_progress", "arguments": {}}, True, progressToken=5)
status, headers, data = server.post(body, {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "test_tool_with_progress", "Accept": "application/json"})
equal("no stream for who takes none", (status, headers["Content-Type"], json.loads(data)["id"]), (200, "application/json", 1))
equal("a note", server.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}, {"MCP-Protocol-Version": MODERN, "Mcp-Method": "notifications/cancelled"})[::2], (202, b""))


class Stream:
    """An open request, read event by event; each event comes in a chunk of its own."""

    def __init__(self, server, body, headers, method="POST"):
        self.socket = socket.create_connection(("127.0.0.1", server.port))
        data = json.dumps(body).encode() if body else b""
        given = {"Host": "localhost", "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        given.update({**headers, "Content-Length": len(data)})
        heads = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        self.socket.sendall(f"{method} /mcp HTTP/1.1\r\n{heads}\r\n".encode() + data)
        self.rest, self.comments = b"", 0
        self.status = int(self.line(10).split()[1])

    def line(self, seconds):
        self.socket.settimeout(seconds)
        while b"\n" not in self.rest:
            try:
                data = self.socket.recv(65536)
            except (TimeoutError, ConnectionError):
                return None
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.rstrip(b"\r")

    def event(self, seconds=5):
        """The next one; None: none came in time, or there is none any more."""
        end = False
        while True:
            line = self.line(seconds)
            if line is None or (end and line == b""):
                return None
            end = line == b"0"
            if line.startswith(b"data: "):
                return json.loads(line[6:])
            self.comments += line.startswith(b":")

    def close(self):
        self.socket.close()


def listen(filter, identity="L"):
    return Stream(server, request(identity, "subscriptions/listen", {"notifications": filter}, True), {"MCP-Protocol-Version": MODERN, "Mcp-Method": "subscriptions/listen"})


def touch(uri, times=1):
    return server.modern("tools/call", {"name": "own_touch", "arguments": {"uri": uri, "times": times}})


one, two = listen({"resourceSubscriptions": ["test://watched-resource"]}), listen({"toolsListChanged": True}, "M")
equal("acknowledged", [s.event()["params"]["_meta"][META + "subscriptionId"] for s in (one, two)], ["L", "M"])
touch("test://watched-resource")
equal("an update goes to who asked", one.event()["params"]["uri"], "test://watched-resource")
server.modern("tools/call", {"name": "test_trigger_tool_change", "arguments": {}})
equal("a change to who asked for that", two.event()["method"], "notifications/tools/list_changed")
equal("nothing else", (one.event(0.2), two.event(0.2)), (None, None))
one.close(), two.close()
one = listen({})
one.event()
until = time.monotonic() + 30
while not one.comments and time.monotonic() < until:
    one.event(0.2)
check("an idle stream shows signs of life", one.comments >= 1)
one.close()


def counted():
    """Threads of the server: waiting calls hold one each."""
    return len(list(Path(f"/proc/{server.process.pid}/task").iterdir()))


wait = request(1, "tools/call", {"name": "own_wait", "arguments": {"ms": 60000}}, True)
given = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "own_wait"}
for i in range(40):
    raw = socket.create_connection(("127.0.0.1", server.port))
    data = json.dumps(wait).encode()
    heads = "".join(f"{k}: {v}\r\n" for k, v in given.items())
    raw.sendall(f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{heads}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    if i % 2:
        time.sleep(0.01)
    raw.close()
began = time.monotonic()
status, _, answer = server.modern("tools/call", {"name": "own_wait", "arguments": {"ms": 10}})
check("hanging up cancels: forty waits of a minute hold up nobody", status == 200 and time.monotonic() - began < 60, time.monotonic() - began)

status, headers, notes = server.modern("tools/call", {"name": "own_wait", "arguments": {"ms": 7000}})
equal("an answer that takes long is a stream, before its client gives up", (headers["Content-Type"], text_of(notes[-1])), ("text/event-stream", "waited"))

# ------------------------------------------------------------------- sessions

status, headers, data = server.post(ping)
session = headers["Mcp-Session-Id"]
equal("a session begins", (status, json.loads(data)["result"]["protocolVersion"]), (200, "2025-11-25"))
check("its id is random and visible", len(session) == 32 and session != server.post(ping)[1]["Mcp-Session-Id"], session)
check("a rejected initialize begins none", "Mcp-Session-Id" not in server.post(request(1, "initialize"))[1])
ours = {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-11-25"}
equal("initialized", server.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, ours)[0], 202)
equal("a list", server.post(request(2, "tools/list"), ours)[0], 200)
equal("without the id", server.post(request(2, "tools/list"))[0], 400)
equal("with another id", server.post(request(2, "tools/list"), {"Mcp-Session-Id": "0" * 32})[0], 404)
equal("legacy errors are answers", error_code(server.post(request(2, "no/such"), ours)[2]), -32601)
stream = Stream(server, None, {**ours, "Accept": "text/event-stream"}, "GET")
equal("the session's own stream", stream.status, 200)
equal("only one", server.post(None, {**ours, "Accept": "text/event-stream"}, method="GET")[0], 409)
equal("a stream for who takes none", server.post(None, {**ours, "Accept": "application/json"}, method="GET")[0], 406)
server.post(request(3, "resources/subscribe", {"uri": "test://watched-resource"}), ours)
touch("test://watched-resource")
equal("an update", stream.event()["params"], {"uri": "test://watched-resource"})
stream.close()
time.sleep(0.3)
touch("test://watched-resource")
stream = Stream(server, None, {**ours, "Accept": "text/event-stream"}, "GET")
equal("one that came while nobody listened is told after", stream.event()["params"], {"uri": "test://watched-resource"})

asking = server.post(request(1, "initialize", {"protocolVersion": "2025-06-18", "capabilities": {"elicitation": {}}}))[1]["Mcp-Session-Id"]
theirs = {"Mcp-Session-Id": asking}
call = Stream(server, request(9, "tools/call", {"name": "test_input_required_result_elicitation"}), theirs)
question = call.event()
equal("a question on the call's stream", question["method"], "elicitation/create")
answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {"name": "Eve"}}}
equal("answered from another session: taken, and for nothing", server.post(answer, ours)[0], 202)
equal("nothing happens", call.event(0.2), None)
answer["result"]["content"]["name"] = "Ann"
equal("answered", server.post(answer, theirs)[0], 202)
equal("goes on", text_of(call.event()), "Hello, Ann!")
waiting = Stream(server, request(10, "tools/call", {"name": "test_input_required_result_elicitation"}), theirs)
waiting.event()
equal("ending a session", server.post(None, theirs, method="DELETE")[0], 200)
equal("ends its calls", waiting.event(), None)
equal("and it is gone", server.post(request(2, "ping"), theirs)[0], 404)
equal("the other one is not", server.post(request(2, "ping"), ours)[0], 200)
for i in range(300):
    server.post(ping)
equal("old sessions make room for new ones, those in use stay", server.post(request(2, "ping"), ours)[0], 200)

# -------------------------------------------------------------- hostile input

for name, body, status in (
    ("no JSON", b"nonsense", 400),
    ("nothing", b"", 400),
    ("a batch", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', 400),
    ("deep nesting", b"[" * 100000, 400),
    ("bad UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', 400),
):
    equal(name, server.post(body)[0], status)
try:
    status = server.post(b'{"x":"' + b"x" * (5 << 20) + b'"}')[0]
except (BrokenPipeError, ConnectionResetError):
    status = 413
check("a body that is too long", status in (400, 413), status)
try:
    status = server.post(ping, {"X-Long": "x" * 100000})[0]
except (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected):
    status = 400
check("headers that are too long", status in (400, 413, 431), status)


def raw(data, wait=0.3, half_close=False):
    connection = socket.create_connection(("127.0.0.1", server.port))
    connection.settimeout(wait)
    got = b""
    try:
        connection.sendall(data)
        if half_close:
            connection.shutdown(socket.SHUT_WR)
        while True:
            piece = connection.recv(65536)
            if not piece:
                break
            got += piece
    except (TimeoutError, ConnectionError):
        pass
    connection.close()
    return got


body = json.dumps(request(1, "server/discover", modern=True)).encode()
whole = (
    f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: {MODERN}\r\n"
    f"Mcp-Method: server/discover\r\nContent-Length: {len(body)}\r\n\r\n"
).encode() + body
slow = whole.replace(body, b"")
slow_body = json.dumps(request(1, "tools/call", {"name": "own_wait", "arguments": {"ms": 200}}, True)).encode()
slow = (
    f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: {MODERN}\r\n"
    f"Mcp-Method: tools/call\r\nMcp-Name: own_wait\r\nContent-Length: {len(slow_body)}\r\n\r\n"
).encode() + slow_body
check("requests one behind the other", raw(whole * 3).count(b'"resultType"') >= 1)
check("more behind one that takes time", raw(slow + whole, 1).count(b'"resultType"') >= 1)
raw(slow + b"garbage\r\n\r\n" * 100, 0.5)
raw(b"\x00\xff" * 1000)
raw(b"GET / HTTP/9.9\r\n\r\n")
raw(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n")
raw(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999\r\n\r\n")
raw(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")
raw(whole[:-10], 0.2, True)
raw(slow, 0.05)
for cut in range(0, len(whole), 37):
    raw(whole[:cut], 0.01)
equal("and it still serves", server.modern("server/discover")[0], 200)

results = []


def many(count):
    connection = server.connect()
    for i in range(count):
        body = request(i, "tools/call", {"name": "own_echo", "arguments": {"i": i}}, True)
        given = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "own_echo"}
        results.append(json.loads(server.post(body, given, connection)[2])["result"]["structuredContent"]["i"] == i)


threads = [threading.Thread(target=many, args=(50,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
equal("eight clients at once", (len(results), all(results)), (400, True))
one = listen({"resourceSubscriptions": ["test://watched-resource"]})
one.event()
waiting = threading.Thread(target=lambda: server.post(wait, given))
server.process.stdin.close()
last = one.event()
equal("at the end a subscription gets its answer", last and last["result"]["resultType"], "complete")
equal("and the process ends well", (server.process.wait(20), server.process.stderr.read()), (0, b""))

# -------------------------------------------------------- no more descriptors


def few():
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def served():
    """The status, as soon as the server has noticed that others left."""
    for _ in range(200):
        try:
            return server.modern("server/discover")[0]
        except OSError:
            time.sleep(0.05)
    return None


server = Server(preexec_fn=few)
crowd = [socket.create_connection(("127.0.0.1", server.port)) for i in range(120)]
restless = lib_idle.awake(server.process.pid)
check("a server with a crowd beyond its descriptors sleeps", not restless, restless)
for connection in crowd:
    connection.close()
equal("and once it is gone, it serves", served(), 200)
equal("a clean end", server.end(), (0, b""))

# --------------------------------------------------------------------- tokens

server = Server("--token")
equal("without a token", server.post(ping)[0], 401)
equal("it says what is missing", server.post(ping)[1]["WWW-Authenticate"], "Bearer")
for header in ("Bearer", "Bearer ", "Bearer fixture-token-012", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN):
    equal(f"with '{header}'", server.post(ping, {"Authorization": header})[0], 401)
equal("with a token", server.post(ping, {"Authorization": f"Bearer {TOKEN}"})[0], 200)
status, _, answer = server.modern("tools/call", {"name": "own_who", "arguments": {}}, {"Authorization": f"Bearer {TOKEN}"})
equal("the call knows whose it is", text_of(answer).split("|")[0], "ann")
equal("a clean end", server.end(), (0, b""))
done()
