#!/usr/bin/env python3
# runner: plain
# runner: timeout 240
"""Clients of roger serve that do not read, do not write on, or only connect: what they cost has a
bound, and they are ended when their time is up; whoever comes again has missed nothing.  Time is
made to pass 60 times as fast for the server (hurry.c), so that none is waited for here."""
import resource
import threading
import time

from lib_serve import *

server = Server("--listen", "127.0.0.1:0", env={**os.environ, "LD_PRELOAD": str(Path(os.environ["ROGER_BUILD"]).resolve() / "tests/hurry.so")})
STREAMS, MESSAGES = 64, 3000


def memory():
    """Peak, in KiB, of what is in memory."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text()).group(1))


def ended(clients):
    """All that each was sent until it was hung up on; a client that is not would hang the test."""
    said = []
    for client in clients:
        data = b""
        try:
            while part := client.recv(65536):
                data += part
        except ConnectionResetError:
            pass
        client.close()
        said.append(data)
    return said


for tcp in (False, True):
    where = "over TCP" if tcp else "at the socket"
    equal(f"who says nothing is hung up on {where}", ended([server.raw(tcp) for _ in range(300)]), [b""] * 300)
    idle = [server.raw(tcp) for _ in range(1000)]
    said = ended(idle)
    check(f"a thousand who wait are, too {where}", not any(said))
    for what, raw in (
        ("half a head", b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nX"),
        ("half a request line", b"POS"),
        ("no body", b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n"),
        ("half a body", b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"),
        ("half a chunk", b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"),
        ("a request and a half", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /he"),
    ):
        clients = [server.raw(tcp) for _ in range(50)]
        for client in clients:
            client.sendall(raw)
        check(f"{what} is given up {where}", all(one.count(b"HTTP/1.1 200") == raw.count(b"\r\n\r\nGET") for one in ended(clients)))
slow = [server.raw() for _ in range(20)]
drips = 0
while slow:
    for client in list(slow):
        try:
            client.sendall(b"GET /" if not drips else b"x")
        except OSError:
            slow.remove(client)
            client.close()
    drips += 1
    server.get("/healthz")
check("who sends a byte now and then has no longer", True)
equal("and others are served", server.get("/v1/status")[0], 200)

# ------------------------------------------------------ streams that nobody reads

before = memory()
streams = [server.raw() for _ in range(STREAMS)]
for stream in streams:
    stream.sendall(b"GET /v1/events?since=0. HTTP/1.1\r\nHost: localhost\r\n\r\n")
one_more = server.get("/v1/events")
equal("there are no more than 64 streams", one_more[0], 503)
for start in range(0, MESSAGES, 500):
    items = [{"to": [f"r{i}"], "content": "secret", "issue": f"i{i}"} for i in range(start, start + 500)]
    status = (503,)
    # The eight seconds until it is said to be late are 130 ms here.
    while status[0] in (409, 503):
        status = server.post("/v1/send_many", {"from": "al", "items": items}, headers={"Idempotency-Key": f"batch-{start}"})
    if status[0] != 200:
        check("messages are sent", False, status)
        done()
# As long as nobody reads.
while b"roger_event_streams 0\n" not in server.get("/metrics")[2]:
    pass
said = ended(streams)
grown = memory() - before
# 32 KiB that wait, a page on its way, and what the system's allocator makes of it.
check("streams that nobody reads are ended, and cost little", grown < STREAMS * 256 + 16384, grown)
check("none of them had all", all(one.count(b"event: message") < MESSAGES for one in said), max(one.count(b"event: message") for one in said))
stored = [m["id"] for m in json.loads(roger("list", "--limit", "0", "--json").stdout)["messages"]]
equal("all was stored", len(stored), MESSAGES)


def ids_of(text):
    """Ids of messages, and the place after the last whole event."""
    events = [event for event in text.split(b"\n\n") if b"\nevent: message" in event and event.endswith(b"}}")]
    return [json.loads(event.split(b"data: ")[1])["id"] for event in events]


def whole(raw):
    """Without the head and the sizes of chunks; what was cut off at the end is left out."""
    body, text = raw.split(b"\r\n\r\n", 1)[1], b""
    while b"\r\n" in body:
        size, rest = body.split(b"\r\n", 1)
        length = int(size, 16)
        text += rest[:length]
        body = rest[length + 2 :]
    return text[: text.rfind(b"\n\n") + 2]


for text in (whole(said[0]), whole(said[-1])):
    seen = ids_of(text)
    place = re.findall(rb"^id: (.*)$", text, re.M)[-1].decode()
    again = server.raw()
    again.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\nLast-Event-ID: " + place.encode() + b"\r\n\r\n")
    got = b""
    while got.count(b"event: message") + len(seen) < MESSAGES:
        got += again.recv(65536)
    again.close()
    while not got.endswith(b"\r\n"):
        got += b"\r\n"
    rest = [i.decode() for i in re.findall(rb'"type":"roger.message".*?"id":"(msg-[^"]*)"', got)]
    equal("who comes again with its last id has missed nothing, and has nothing twice", seen + rest, stored)
equal("it ends well", server.end(), (0, ""))

# ------------------------------------------------------------- few descriptors


def few(count):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


server = Server(preexec_fn=few(20))
status, said = server.end()
check("with too few descriptors it does not start, and says how many it needs", status == 78 and "needs 64 open files" in said, (status, said))
server = Server(preexec_fn=few(64))
idle = [server.raw() for _ in range(80)]
last = server.local()
last.timeout = 40
try:
    equal("an idle connection is closed if another one needs its descriptor", server.get("/v1/status", connection=last)[0], 200)
except TimeoutError as error:
    check("an idle connection is closed if another one needs its descriptor", False, error)
[client.close() for client in idle]
answers = []


def insist(number):
    """Send as often as the server says that it is busy, for five seconds."""
    status, until = 503, time.monotonic() + 5
    while status == 503 and time.monotonic() < until:
        status, headers, said = server.post("/v1/send", {"from": f"al{number}", "to": ["bob"], "content": "x"}, headers={"Idempotency-Key": f"few-{number}"})
        answers.append((status, headers.get("Retry-After"), said.get("retry")))
        time.sleep(0.3)


crowd = [threading.Thread(target=insist, args=(number,)) for number in range(80)]
[one.start() for one in crowd]
[one.join() for one in crowd]
answered, until = set(), time.monotonic() + 30


def ask_on(number):
    """Ask again and again on one connection, until everybody has been answered once."""
    client = server.raw()
    while len(answered) < 80 and time.monotonic() < until:
        try:
            client.settimeout(1)
            client.sendall(b"GET /v1/count HTTP/1.1\r\nHost: localhost\r\n\r\n")
            said = client.recv(65536)
            answered.update([number] if said else [])
        except TimeoutError:
            continue
        except OSError:
            said = b""
        if not said or b"\r\nConnection: close\r\n" in said:
            client.close()
            client = server.raw()
        time.sleep(0.05)
    client.close()


askers = [threading.Thread(target=ask_on, args=(number,)) for number in range(80)]
[one.start() for one in askers]
[one.join() for one in askers]
equal("a client that repeats requests on one connection keeps nobody out", len(answered), 80)
equal("busy clients are answered, or told to come again", set(answers) - {(200, None, None), (503, "1", "same-key")}, set())
server.end()
done()
