#!/usr/bin/env python3
# runner: plain
# runner: timeout 300
"""The public conformance suite of MCP at /mcp of roger serve, over TCP and with the token of an agent:
all that the revisions require of a server, with the tools of the suite beside roger's own; and at
roger serve as it is, those scenarios that call no such tool."""
import os
import re
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

from lib_conformance import *

BUILD = Path(os.environ["ROGER_BUILD"])
OWN = {
    "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams", "dns-rebinding-protection", "server-session-lifecycle"],
    "2026-07-28": ["tools-list", "resources-list", "prompts-list", "caching", "server-sse-multiple-streams", "dns-rebinding-protection", "sep-2164-resource-not-found", "http-header-validation"],
}
if not (BUILD / "roger-serve").exists():
    print("ok 1 - no server # skip built without libevent\n1..1")
    sys.exit(0)


def pump(one, other):
    try:
        while part := one.recv(65536):
            other.sendall(part)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def relay(client, port, token):
    """One request: the suite cannot be given a token, so it is put in here, and nothing else is changed."""
    head = b""
    while b"\r\n\r\n" not in head:
        part = client.recv(65536)
        if not part:
            return client.close()
        head += part
    head, rest = head.split(b"\r\n\r\n", 1)
    head = re.sub(rb"(?i)\r\nconnection:[^\r]*", b"", head)
    with client, socket.create_connection(("127.0.0.1", port)) as server:
        server.sendall(head + b"\r\nAuthorization: Bearer " + token.encode() + b"\r\nConnection: close\r\n\r\n" + rest)
        threading.Thread(target=pump, args=(client, server), daemon=True).start()
        pump(server, client)


def front(port, token):
    """Where the suite connects."""
    listener = socket.create_server(("127.0.0.1", 0))

    def accept():
        while True:
            threading.Thread(target=relay, args=(listener.accept()[0], port, token), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return f"http://localhost:{listener.getsockname()[1]}/mcp"


# Sockets have short names.
folder = tempfile.TemporaryDirectory(prefix="roger-")
os.environ.update(XDG_RUNTIME_DIR=folder.name, XDG_STATE_HOME=folder.name, HOME=folder.name)
roger = [os.environ["ROGER"], "--workspace", folder.name + "/w"]
subprocess.run([*roger[:1], "init", "-q", folder.name + "/w"], check=True)
token = subprocess.run([*roger, "token", "new", "ann", "--right", "act"], check=True, capture_output=True, text=True).stdout.strip()
for program, only in ((BUILD / "tests/serve_fixture", {}), (Path(os.environ["ROGER"]), OWN)):
    server = subprocess.Popen([program, *roger[1:], "serve", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    port = next(int(found.group(1)) for line in server.stdout if (found := re.match(r"listening on port (\d+)", line)))
    print(f"# {program.name}")
    for revision in REQUIRED:
        run(revision, front(port, token), only.get(revision))
    server.terminate()
    check(f"{program.name} ends well", server.wait(60) == 0)
done()
