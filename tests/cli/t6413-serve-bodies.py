#!/usr/bin/env python3
"""Over TCP no body is read before it is known who sends it and what that one may do; what is thrown
away costs no memory; two Authorization headers are none; a full disk says that the same key is safe."""
import os
import threading

from lib_serve import *


def new(*words):
    return roger("token", "new", *words).stdout.strip()


look, act = new("grafana"), new("bob", "--right", "act")
server = Server("--listen", "127.0.0.1:0")
MIB = 1 << 20


def head(path="/v1/send", *fields, length=8 * MIB, token=None, kind="application/json"):
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", *fields]
    lines += [f"Authorization: Bearer {token}"] if token else []
    lines += [f"Content-Length: {length}"] if length is not None else ["Transfer-Encoding: chunked"]
    return "\r\n".join(lines + ["", ""]).encode()


def answer(raw, more=b"", tcp=True):
    """Status and body of the answer to a head, with nothing behind it; then what is still sent does no harm."""
    with server.raw(tcp=tcp) as client:
        client.sendall(raw)
        said = b""
        while b"\r\n\r\n" not in said or b"}" not in said:
            try:
                part = client.recv(65536)
            except TimeoutError:
                return 0, said
            if not part:
                break
            said += part
        try:
            client.sendall(more)
        except OSError:
            pass
    return int(said.split()[1]), said


for what, raw, status in (
    ("nobody", head(), 401),
    ("nobody, who waits to be asked for it", head("/v1/send", "Expect: 100-continue"), 401),
    ("nobody, in chunks", head(length=None), 401),
    ("nobody, to /mcp", head("/mcp"), 401),
    ("nobody, to a path that there is not", head("/x"), 401),
    ("a token that is none", head(token=act[:-1]), 401),
    ("one that may look", head(token=look), 403),
    ("one that may act, what is for who administers", head("/v1/purge", token=act), 403),
    ("a page of another site", head("/v1/send", "Origin: https://evil.example.com", token=act), 403),
    ("another name of this host", head(token=act).replace(b"localhost", b"evil.example.com"), 403),
    ("another type", head(token=act, kind="text/plain"), 415),
    ("a verb that looks", head("/v1/list", token=act), 405),
    ("a key that is long", head("/login", "Sec-Fetch-Site: same-origin", length=5000), 422),
    ("two tokens", head("/v1/send", f"Authorization: Bearer {act}", token=act), 400),
    ("two tokens, one of them good", head("/v1/send", "Authorization: Bearer x", token=act), 400),
    ("two tokens, without a body", head("/v1/send", f"authorization: Bearer {act}", token=act, length=0), 400),
    ("two keys of one request", head("/v1/send", "Idempotency-Key: a\r\nIdempotency-Key: b", token=act), 400),
    ("more than it takes", head(token=act, length=(8 << 20) + 1), 413),
    ("a line that ends oddly", head().replace(b"\r\nContent-Type", b"\nContent-Type"), 400),
):
    got, said = answer(raw, b"x" * 100)
    equal(f"{what}: {status} before the body is sent", got, status)
    check(f"{what}: in words, and once", b"urn:roger:error:" in said and said.count(b"HTTP/1.1") == 1, said)

# What libevent would refuse by itself, it would refuse in HTML.
for tcp, limit in ((False, 64 * MIB), (True, 8 * MIB)):
    for what, raw, status in (
        ("an unknown method", head(token=act, length=0).replace(b"POST", b"BREW"), 501),
        ("an unknown method, on the page", head("/", token=act, length=0).replace(b"POST", b"BREW"), 501),
        ("a head that is too long", head("/v1/send", "X: " + "x" * (64 << 10), token=act), 431),
        ("one of a GET", head("/v1/send", "X: " + "x" * (160 << 10), token=act).replace(b"POST", b"GET"), 431),
        ("an odd expectation", head("/v1/send", "Expect: 200-ok", token=act), 400),
        ("more than it takes", head(token=act, length=limit + 1), 413),
        ("a chunk that is too long", head(token=act, length=None) + b"%x\r\n" % (limit + 1), 413),
        ("chunks that become too long", head(token=act, length=None) + b"2\r\n{}\r\n%x\r\n" % (limit - 1), 413),
    ):
        got, said = answer(raw, b"x" * 100, tcp)
        check(f"{what}, {'TCP' if tcp else 'socket'}: {status} in JSON, and once", got == status and b"urn:roger:error:" in said and said.count(b"HTTP/1.1") == 1, said)


def resident():
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{server.process.pid}/status").read_text()).group(1)) // 1024


def send_much(raw):
    """A body whose last byte never comes."""
    client = server.raw(tcp=True)
    try:
        client.sendall(raw)
        for _ in range(7):
            client.sendall(b"x" * MIB)
    except OSError:
        pass
    clients.append(client)


before, clients = resident(), []
threads = [threading.Thread(target=send_much, args=(head(token=token),)) for token in (None, look) * 10]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# A sanitizer keeps what was freed.
if "sanitize" not in os.environ["ROGER"]:
    check("20 bodies of nobody's cost nothing", resident() - before < 12, (before, resident()))
good = {"to": "carol", "content": "y" * 9000}
headers = {"Authorization": f"Bearer {act}"}
equal("and keep nobody out", server.ask("POST", "/v1/send", good, headers, server.tcp())[0], 200)
for client in clients:
    client.close()

body = json.dumps(good).encode()
raw = head(token=act, length=len(body)) + body
with server.raw(tcp=True) as client:
    for i in range(len(raw)):
        client.sendall(raw[i : i + 1])
    said = client.recv(65536)
check("a good request may come byte by byte", said.startswith(b"HTTP/1.1 200"), said)
close = raw.replace(b"Content-Type", b"Connection: close\r\nContent-Type")
equal("and several at once", server.statuses(raw + raw + close, True), [b"200"] * 3)
equal("one that may not ends what comes behind it", server.statuses(raw + head(token=look, length=5) + b"{}   " + raw, True), [b"200", b"403"])
chunks = head(token=act, length=None) + b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"
check("chunks are taken", server.statuses(chunks + close, True) == [b"200"] * 2)
equal("it ends well", server.end(), (0, ""))

# ------------------------------------------------------------------ a full disk
small = Path(FOLDER.name) / "small"
small.mkdir()
mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", small], capture_output=True)
if mounted.returncode:
    print("# no small file system here: a full disk is not tried")
    done()
    sys.exit(0)
atexit.register(subprocess.run, ["umount", "-l", small])
WORKSPACE = small
subprocess.run([ROGER, "init", small], check=True, capture_output=True)
import lib_serve

lib_serve.WORKSPACE = small
server = lib_serve.Server("--socket", FOLDER.name + "/small.sock")
sent = server.post("/v1/send", {"from": "al", "to": "bob", "content": "before"})
(small / "filler").write_bytes(b"")
with open(small / "filler", "ab", buffering=0) as filler:
    try:
        while filler.write(b"f" * 4096):
            pass
    except OSError:
        pass
status, problem = None, {}
LONG = {"from": "al", "to": "bob", "content": "z" * 9000}
for number in range(40):
    status, _, problem = server.post("/v1/send", LONG, headers={"Idempotency-Key": f"app:full:{number}"})
    if status != 200:
        break
equal("a full disk is 507", (status, problem.get("retry"), problem.get("exit")), (507, "same-key", 74))
(small / "filler").unlink()
equal("with room again the same key is stored", server.post("/v1/send", LONG, headers={"Idempotency-Key": f"app:full:{number}"})[0], 200)
equal("once", server.get(f"/v1/count?key=app:full:{number}")[2]["count"], 1)
equal("it ends", server.end()[0], 0)
done()
