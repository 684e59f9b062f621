#!/usr/bin/env python3
# runner: timeout 240
"""roger serve from outside: its socket, who is let in, what is refused, and that what a
client makes it keep has an end."""
import concurrent.futures
import itertools
import re
import shutil
import stat
import time

from lib_http import converse, hostile, odd, pieces
from lib_serve import *

# ------------------------------------------------------------------- its socket

server = Server("--listen", "127.0.0.1:0")
equal("the socket is this user's alone", stat.S_IMODE(os.stat(server.path).st_mode), 0o600)
equal("and so is its folder", stat.S_IMODE(os.stat(os.path.dirname(server.path)).st_mode), 0o700)
equal("it lives", server.get("/healthz")[0], 200)
equal("also over TCP, for whom no token is needed there", server.ask("GET", "/healthz", connection=server.tcp())[0], 200)
second = roger("serve", status=75)
check("a workspace has one server", "has a server already" in second.stderr, second.stderr)
check("which is left alone", os.path.exists(server.path))
for address, word in (("0.0.0.0:0", "loopback"), ("[::]:0", "loopback"), ("127.0.0.1", "ADDRESS:PORT"), ("localhost:80", "ADDRESS:PORT"), ("127.0.0.1:66000", "ADDRESS:PORT")):
    other = FOLDER.name + "/other"
    subprocess.run([ROGER, "init", other], capture_output=True)
    refused = subprocess.run([ROGER, "--workspace", other, "serve", "--listen", address], capture_output=True, text=True)
    check(f"--listen {address} is refused, and why", refused.returncode in (65, 77) and word in refused.stderr, refused.stderr)

# ------------------------------------------------------------------ who is let in

SEND = {"from": "al", "to": "bob", "content": "hello"}


# Each route: its method, and whether it is there for those without a token.
SOME = {("localhost", None, None), ("127.0.0.1:9", "http://localhost:1", "same-origin")}
ROUTES = {"/v1/send": ("POST", False), "/v1/status": ("GET", False), "/v1/messages/none": ("GET", False), "/metrics": ("GET", False), "/healthz": ("GET", True), "/openapi.json": ("GET", True), "/mcp": ("POST", False)}
# Where the method is looked at before the token; everywhere else it is the other way round.
METHOD_FIRST = ("/metrics", "/healthz", "/openapi.json")


def expected(path, host, origin, site, method, kind, tcp):
    """The table: the first of these that is wrong decides."""
    right, is_open = ROUTES[path]
    fits = method == right or (method == "HEAD" and right == "GET")
    if host not in ("localhost", "127.0.0.1:9"):
        return 403
    if origin not in (None, "http://localhost:1"):
        return 403
    if site not in (None, "same-origin", "none"):
        return 403
    if tcp and not is_open and not (path in METHOD_FIRST and not fits):
        return 401
    if path == "/mcp" and method in ("POST", "GET", "DELETE"):
        return {"GET": 405, "DELETE": 405}.get(method) or (400 if kind in JSON else 415)
    if not fits:
        return 405
    if method == "POST" and kind not in JSON:
        return 415
    return 404 if path == "/v1/messages/none" else 200


JSON = ("application/json", "application/json; charset=utf-8", "Application/JSON")
TYPES = (*JSON, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "", None)
HOSTS = ("localhost", "127.0.0.1:9", "evil.example.com", "127.0.0.1.nip.io", "localhost:x", "")
ORIGINS = (None, "http://localhost:1", "http://evil.example.com", "null", "http://localhost.evil.example.com", "")
SITES = (None, "same-origin", "none", "same-site", "cross-site", "")
METHODS = ("POST", "GET", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD", "TRACE")
wrong, tried = [], 0
for path, tcp in ((path, tcp) for path in ROUTES for tcp in (False, True)):
    # One at a time may be wrong, and of a verb that writes all of them at once.
    rows = itertools.product(HOSTS, ORIGINS, SITES, METHODS, TYPES)
    for host, origin, site, method, kind in rows:
        odd_ones = (host not in HOSTS[:2]) + (origin not in ORIGINS[:2]) + (site not in SITES[:3])
        if (method != "POST" and kind is not None) or odd_ones > (3 if path == "/v1/send" and kind in (None, JSON[0]) else 1):
            continue
        if path != "/v1/send" and (host, origin, site) not in SOME and odd_ones == 0:
            continue
        heads = {"Host": host, "Origin": origin, "Sec-Fetch-Site": site, "Content-Type": kind}
        body = (SEND if path == "/v1/send" else {}) if method == "POST" else None
        got, headers, _ = server.ask(method, path, body, heads, server.tcp() if tcp else None)
        tried += 1
        if got != expected(path, host, origin, site, method, kind, tcp) or any("access-control" in name.lower() for name in headers):
            wrong.append((path, host, origin, site, method, kind, tcp, got))
check("all combinations are tried", tried > 8000, tried)
equal("Host, Origin, Sec-Fetch-Site, method, type and token decide as the table says", wrong, [])
equal("a GET does not write", server.get("/v1/send?to=bob")[1]["Allow"], "POST")
equal("a POST does not look, but HEAD does", server.ask("POST", "/v1/count", {})[1]["Allow"], "GET, HEAD")


def of_one(head):
    """What is the same in two answers to the same question: all but the time."""
    return {name: value for name, value in head.items() if name != "Date"}


for path in ("/", "/healthz", "/v1/count", "/v1/session", "/v1/messages/none", "/nowhere", "/v1/send"):
    looked, asked = server.ask("GET", path), server.ask("HEAD", path)
    equal(f"HEAD {path} is as GET without a body", (asked[0], of_one(asked[1]), asked[2]), (looked[0], of_one(looked[1]), b""))
equal("HEAD of events ends at once", server.ask("HEAD", "/v1/events")[:1], (200,))
ONE = b" HTTP/1.1\r\nHost: localhost\r\n"
said = converse(server.raw, [b"HEAD /healthz" + ONE + b"\r\n" + b"GET /healthz" + ONE + b"Connection: close\r\n\r\n"])
equal("and the next answer follows its head", re.findall(rb"\r\n\r\n(.*?)(?:HTTP|$)", said, re.S), [b"", b'{"ok":true}'])
status, headers, problem = server.ask("GET", "/v1/status", connection=server.tcp())
equal("without a token TCP gives nothing", (status, headers["WWW-Authenticate"]), (401, "Bearer"))
equal("a refusal is a problem of RFC 9457", (headers["Content-Type"], problem["type"], problem["status"]), ("application/problem+json", "urn:roger:error:token", 401))

# ------------------------------------------------------------------ hostile heads

BODY = json.dumps(SEND).encode()
LAST = b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(BODY) + BODY
before = server.get("/v1/count")[2]["count"]
MORE = [
    ("nothing but a line end", b"\r\n\r\n"),
    ("half a request line", b"POST /v1/send\r\n\r\n"),
    ("an unknown method", b"BREW /v1/send HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ("another protocol", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
    ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    ("a target that is no path", b"GET * HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ("a proxy's method", b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ("a line without a colon", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nnothing\r\n\r\n"),
    ("a header without a name", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n"),
    ("a head without end", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 100000),
    ("a target without end", b"GET /" + b"x" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    ("a chunk whose size is a word", LAST.split(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
    ("a chunk below nothing", LAST.split(b"Content-Length")[0] + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n"),
    ("a length beyond all", LAST.split(b"Content-Length")[0] + b"Content-Length: 99999999999\r\n\r\n"),
    ("a length that wraps around", LAST.split(b"Content-Length")[0] + b"Content-Length: 18446744073709551618\r\n\r\n{}"),
    ("a name of another site", b"GET /v1/status HTTP/1.1\r\nHost: evil.example.com\r\n\r\n"),
    ("a host with a user", b"GET /v1/status HTTP/1.1\r\nHost: localhost@evil.example.com\r\n\r\n"),
]
# What was refused has one answer; what cannot be read as a request, such as HTTP/2, may have none.
REFUSED = ([b"400"], [b"401"], [b"403"], [b"405"], [b"413"], [b"417"], [b"431"], [b"501"], [b"414"], [])


def in_pieces(parts):
    return re.findall(rb"HTTP/1\.[0-9] ([0-9]{3}) ", converse(server.raw, parts))


HEAD = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: %s\r\nContent-Length: 9999\r\n\r\n"
EARLY = ((b"400 Bad Request", hostile(b"/v1/send", BODY)[0][1]), (b"401 Unauthorized", HEAD % (b"/v1/send", b"application/json")), (b"422 Unprocessable Content", HEAD % (b"/login", b"application/json")))
equal("the status line has its words, also where the head alone is refused", [re.findall(rb"HTTP/1.1 (.*)\r", converse(lambda: server.raw(True), raw))[:1] for _, raw in EARLY], [[words] for words, _ in EARLY])
# Many are tried at once, since the server keeps each refused connection open for a second.
cases = [(what, tcp, raw + LAST) for tcp in (False, True) for what, raw in (*hostile(b"/v1/send", BODY), *odd(b"/v1/send", BODY), *MORE)]
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    answers = list(pool.map(lambda case: server.statuses(case[2], case[1]), cases))
    equal("hostile requests are refused, and nothing after them is answered", [(case[:2], got) for case, got in zip(cases, answers) if got not in REFUSED], [])
    check("all of them", len(answers) >= 2 * 47, len(answers))
    cases = [(what, parts) for what, raw in odd(b"/v1/send", BODY) for parts in pieces(raw + LAST)]
    answers = list(pool.map(lambda case: in_pieces(case[1]), cases))
    equal("also when they come byte by byte", [(what, len(parts), got) for (what, parts), got in zip(cases, answers) if got not in REFUSED], [])
before_good = server.get("/v1/count?to=chunky")[2]["count"]
GOOD = json.dumps({"from": "al", "to": "chunky", "content": "in chunks"}).encode()
CHUNKS = LAST.split(b"Connection")[0] + b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(b"%X\r\n%b\r\n" % (len(p), p) for p in (GOOD[:3], GOOD[3:4], GOOD[4:])) + b"0\r\n\r\n"
for parts in pieces(CHUNKS + CHUNKS + LAST):
    got = in_pieces(parts)
    equal(f"chunks as they should be are taken, three requests in {len(parts)} pieces", got, [b"200"] * 3)
equal("each once", server.get("/v1/count?to=chunky")[2]["count"], before_good + 6)
before += 9  # of chunks, and of what followed them
equal("and nothing of them was sent", server.get("/v1/count")[2]["count"], before)
for what, path, body, status in (
    ("no JSON", "/v1/send", b"{", 422),
    ("an array", "/v1/send", b"[]", 422),
    ("two members of one name", "/v1/send", b'{"to":"a","to":"b"}', 422),
    ("a member nobody knows", "/v1/send", {"from": "al", "to": "bob", "contents": "x"}, 422),
    ("no text", "/v1/send", {"from": "al", "to": "bob"}, 400),
    ("nobody to send to", "/v1/send", {"from": "al", "content": "x"}, 400),
    ("no sender", "/v1/send", {"to": "bob", "content": "x"}, 400),
    ("a NUL", "/v1/send", b'{"from":"al","to":"bob","content":"a\\u0000b"}', 422),
    ("deep nesting", "/v1/send", b'{"metadata":' + b'{"a":' * 5000 + b"1" + b"}" * 5001, 422),
    ("a query beside a body", "/v1/send?to=x", SEND, 400),
    ("a verb that runs programs", "/v1/run", {"command": ["true"]}, 404),
    ("a verb of no workspace", "/v1/init", {}, 404),
    ("no verb", "/v1/none", {}, 404),
    ("no path", "/v2/send", SEND, 404),
    ("a path upwards", "/v1/../v1/send", SEND, 404),
):
    got, _, problem = server.post(path, body)
    check(f"{what}: {status}, and in words", got == status and problem["detail"] and problem["status"] == status, (got, problem))

# --------------------------------------------------- what a client makes it keep


def threads():
    return int(re.search(r"Threads:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text()).group(1))


idle = [server.raw() for _ in range(1000)]
equal("with a thousand who only connect there is room for one more", server.get("/v1/status")[0], 200)
while len(os.listdir(f"/proc/{server.process.pid}/fd")) > 600:
    server.get("/healthz")
check("and the oldest of them go", True)
for client in idle:
    client.close()
half = [server.raw() for _ in range(300)]
for client in half:
    client.sendall(b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nX")
equal("with three hundred who begin a request, too", server.get("/v1/status")[0], 200)
for client in half:
    client.close()
big = [server.raw() for _ in range(24)]
sent = b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000000\r\n\r\n" + b" " * (16 << 20)
hung_up = 0
for client in big:
    try:
        client.sendall(sent)
    except OSError:
        hung_up += 1
# 128 MiB are eight of them.
check("bodies that do not end have a bound together", hung_up >= 24 - 9, hung_up)
equal("and others are served", server.get("/v1/status")[0], 200)
for client in big:
    client.close()
waiting = [server.local() for _ in range(40)]
for i, client in enumerate(waiting):
    client.request("GET", f"/v1/wait?agent=nobody{i}&timeout=60s")
while threads() < 41:
    pass
check("who waits keeps nobody from sending, and has a thread each", server.post("/v1/send", SEND)[0] == 200 and threads() < 80, threads())

# ------------------------------------------------------------------------ its end

equal("SIGTERM ends it well, also while some wait", server.end(), (0, ""))
check("and takes the socket away", not os.path.exists(server.path))
for client in waiting:
    client.close()

server = Server()
equal("SIGKILL", server.end(signal.SIGKILL)[0], -signal.SIGKILL)
check("leaves the socket", os.path.exists(server.path))
server = Server()
equal("which is in nobody's way", server.get("/healthz")[0], 200)
server.end()
Path(server.path).write_text("mine")
refused = roger("serve", status=73)
check("a file in its place is not removed", "no socket of yours" in refused.stderr and os.path.exists(server.path), refused.stderr)
os.unlink(server.path)

# ------------------------------------------------- what an earlier request met

server = Server()
server.post("/v1/send", SEND)
(WORKSPACE / ".roger/message-state.json").write_text("torn")
server.post("/v1/send", SEND)
met = [one["words"] for one in server.get("/v1/status")[2]["concerns"] if one["kind"] == "engine"]
roger("send", "bob", "mends it", "--as", "ann", "--new")
json.loads((WORKSPACE / ".roger/message-state.json").read_text())
# Each thread of the server has a handle of its own.
engines = [[one["words"] for one in server.get("/v1/status")[2]["concerns"] if one["kind"] == "engine"] for _ in range(8)]
equal("a document that was damaged is a concern until it is mended", (len(met), engines), (1, [[]] * 8))
check("and the server said so once", server.end()[1].count("message-state.json is damaged") == 1)

# ------------------------------------------------- settings that change meanwhile

settings = WORKSPACE / ".roger/config.yaml"
before = settings.read_text()
server = Server()
to_group = {"from": "ann", "to": ["crew"], "content": "all hands", "new": True}
equal("a name", len(server.post("/v1/send", to_group)[2]["messages"]), 1)
settings.write_text(before + "groups: {crew: [kay, lee]}\n")
time.sleep(1.1)
equal("that becomes a group is one a second later", [one["to"] for one in server.post("/v1/send", to_group)[2]["messages"]], ["kay", "lee"])
settings.write_text(before + "groups: [\n")
time.sleep(1.1)
equal("with a wrong setting all stays as it was", len(server.post("/v1/send", to_group)[2]["messages"]), 2)
settings.write_text(before)
time.sleep(1.1)
equal("the end of a group is seen", len(server.post("/v1/send", to_group)[2]["messages"]), 1)
settings.write_text(before + "groups: {crew: [kay, lee, max]}\nstorage: {trigger_dir: logs/elsewhere}\n")
time.sleep(1.1)
equal("with another place all stays as it was", len(server.post("/v1/send", to_group)[2]["messages"]), 1)
settings.write_text(before)
os.truncate(WORKSPACE / ".roger/messages.control", 0)
equal("a mapped file that another program cut short ends no server", server.post("/v1/send", to_group)[0], 200)
said = server.end()[1]
equal("the server said once what was wrong", said.count("the settings before are still in use"), 1)
equal("and once that a place waits for the next start", said.count("start this program again: until then it uses the settings before"), 1)

# ------------------------------------------------------------ a service manager

hears = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
hears.bind(FOLDER.name + "/notify")
listener = socket.socket(socket.AF_UNIX)
listener.bind(FOLDER.name + "/passed")
listener.listen()
starter = "import os, sys; os.dup2(int(sys.argv[1]), 3); os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1'); os.execv(sys.argv[2], sys.argv[2:])"
# As the unit of the examples has it.
unit = (Path(__file__).parents[2] / "examples/systemd/roger@.service").read_text()
said = dict(re.findall(r"^(\w+)=(.*)$", unit, re.MULTILINE))
equal("the unit waits for that, in the folder", (said["Type"], said["WorkingDirectory"]), ("notify", "%f"))
if shutil.which("systemd-analyze"):
    Path("roger@tmp.service").write_text(unit.replace("/usr/bin/roger", str(ROGER)))
    judged = subprocess.run(["systemd-analyze", "verify", "./roger@tmp.service"], capture_output=True, text=True)
    check("systemd has nothing to say of it", "roger@" not in judged.stderr, judged.stderr)
managed = subprocess.Popen(
    [sys.executable, "-c", starter, str(listener.fileno()), str(ROGER), *said["ExecStart"].split()[1:]],
    cwd=WORKSPACE, pass_fds=[listener.fileno()], env={**os.environ, "NOTIFY_SOCKET": FOLDER.name + "/notify"},
)
hears.settimeout(60)
equal("it says when it is ready", hears.recv(100), b"READY=1")
connection = Unix(FOLDER.name + "/passed")
connection.request("GET", "/v1/status")
equal("and serves the socket that it was passed", connection.getresponse().status, 200)
managed.terminate()
equal("and says that it ends", hears.recv(100), b"STOPPING=1")
equal("and ends", managed.wait(60), 0)
check("leaving the socket to the manager", os.path.exists(FOLDER.name + "/passed"))

# ------------------------------------------------------------- an empty home

home = Path(FOLDER.name) / "home"
home.mkdir()
bare = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
server = Server(env={**bare, "HOME": str(home), "ROGER_TRUST": str(WORKSPACE.resolve())})
equal("in an empty home it makes the folders of its socket, for this user alone",
      [stat.S_IMODE(os.stat(home / name).st_mode) for name in (".local", ".local/state", ".local/state/roger")], [0o700] * 3)
server.end()
done()
