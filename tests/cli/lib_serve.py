"""A `roger serve` of a workspace of its own, and clients of it."""
import atexit
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

from lib_http import converse
from lib_tap import *

ROGER = Path(os.environ["ROGER"]).resolve()


if not (ROGER.parent / "roger-serve").exists():
    print("ok 1 - no server # skip built without libevent\n1..1")
    sys.exit(0)

# Sockets have short names, so this is not below the test's own folder.
FOLDER = tempfile.TemporaryDirectory(prefix="roger-")
os.environ.update(XDG_RUNTIME_DIR=FOLDER.name, XDG_STATE_HOME=FOLDER.name + "/state", HOME=FOLDER.name)
for name in ("ROGER_AGENT", "ROGER_WORKSPACE", "ROGER_ISSUE", "LISTEN_FDS", "LISTEN_PID", "NOTIFY_SOCKET"):
    os.environ.pop(name, None)
os.mkdir(FOLDER.name + "/state", 0o700)
WORKSPACE = Path(FOLDER.name) / "w"


def roger(*words, status=0, **more):
    done = subprocess.run([ROGER, "--workspace", WORKSPACE, *words], capture_output=True, text=True, **more)
    if done.returncode != status and status is not None:
        check(f"roger {' '.join(map(str, words))}", False, (done.returncode, done.stderr))
    return done


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)
        self.sock.settimeout(self.timeout)


class Server:
    def __init__(self, *words, **more):
        self.process = subprocess.Popen(
            [ROGER, "--workspace", WORKSPACE, "serve", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more
        )
        atexit.register(self.process.kill)
        self.path = self.port = None
        for line in self.process.stdout:
            if found := re.match(r"listening at (.*)\n", line):
                self.path = found.group(1)
            if found := re.match(r"listening on port (\d+)", line):
                self.port = int(found.group(1))
            if self.port or "--listen" not in words:
                break

    def local(self):
        return Unix(self.path)

    def tcp(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def raw(self, tcp=False):
        client = socket.socket(socket.AF_INET if tcp else socket.AF_UNIX)
        client.connect(("127.0.0.1", self.port) if tcp else self.path)
        client.settimeout(60)
        return client

    def statuses(self, raw, tcp=False):
        return re.findall(rb"HTTP/1\.[0-9] ([0-9]{3}) ", converse(lambda: self.raw(tcp), raw))

    def ask(self, method, path, body=None, headers=None, connection=None):
        """Status, headers, body as an object where it is JSON; a header of None is left out."""
        connection = connection or self.local()
        given = {"Content-Type": "application/json"} if method == "POST" else {}
        given.update(headers or {})
        data = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
        connection.request(method, path, data, {k: v for k, v in given.items() if v is not None})
        answer = connection.getresponse()
        data = answer.read()
        kind = answer.headers.get("Content-Type", "")
        return answer.status, answer.headers, json.loads(data) if kind.endswith("json") and data else data

    def get(self, path, **more):
        return self.ask("GET", path, **more)

    def post(self, path, body, **more):
        return self.ask("POST", path, body, **more)

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        status = self.process.wait(60)
        return status, self.process.stderr.read()


os.makedirs(WORKSPACE)
subprocess.run([ROGER, "init", WORKSPACE], check=True, capture_output=True)
