"""What the tests of the MCP library share: a client over pipes, one over HTTP, TAP."""
import json
import os
import select
import socket
import subprocess
import sys
import time
from pathlib import Path

from lib_tap import *

BUILD = Path(os.environ.get("ROGER_BUILD") or Path(os.environ["ROGER"]).parent).resolve()
FIXTURE = BUILD / "mcp" / "tests" / "mcp_fixture"
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


def need_fixture():
    if not FIXTURE.exists():
        print("ok 1 - no fixture server # skip built without libevent\n1..1")
        sys.exit(0)


def meta(version=MODERN, capabilities=None, **more):
    members = {META + "protocolVersion": version, META + "clientCapabilities": capabilities or {}}
    members.update(more)
    return members


def request(identity, method, params=None, modern=False, **more):
    message = {"jsonrpc": "2.0", "id": identity, "method": method}
    params = dict(params or {})
    if modern:
        params["_meta"] = meta(**more)
    if params:
        message["params"] = params
    return message


class Client:
    """A server over pipes; what it says, line by line."""

    def __init__(self, command=None, env=None, sockets=False):
        self.ours = None
        if sockets:
            self.ours, theirs = socket.socketpair()
            pipes = {"stdin": theirs, "stdout": theirs}
        else:
            pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen(
            command or [str(FIXTURE)], stderr=subprocess.PIPE, env={**os.environ, **(env or {})}, **pipes
        )
        if sockets:
            theirs.close()
            self.input, self.output = self.ours.fileno(), self.ours.fileno()
        else:
            self.input, self.output = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.rest = b""
        self.last = 0

    def write(self, data):
        while data:
            data = data[os.write(self.input, data[:65536]) :]

    def send(self, *messages):
        self.write(b"".join(json.dumps(m, ensure_ascii=False).encode() + b"\n" for m in messages))

    def read(self, seconds=10.0):
        """The next message; None: nothing came in time, or the output ended."""
        end = time.monotonic() + seconds
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.output], [], [], left)[0]:
                return None
            data = os.read(self.output, 1 << 16)
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def ask(self, method, params=None, modern=False, **more):
        """The answer; what comes before it is in self.notes."""
        self.last += 1
        self.notes = []
        self.send(request(self.last, method, params, modern, **more))
        return self.answer(self.last)

    def answer(self, identity, seconds=10.0):
        while True:
            message = self.read(seconds)
            if message is None or ("method" not in message and message.get("id") == identity):
                return message
            self.notes.append(message)

    def hello(self, version="2025-11-25", capabilities=None):
        answer = self.ask(
            "initialize",
            {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": {"name": "test", "version": "1"}},
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool, arguments=None, modern=False, **more):
        return self.ask("tools/call", {"name": tool, "arguments": arguments or {}}, modern, **more)

    def end(self, seconds=10):
        """Close its input; the exit status and what it said last."""
        if self.ours:
            self.ours.shutdown(socket.SHUT_WR)
        else:
            self.process.stdin.close()
        rest = self.rest
        while select.select([self.output], [], [], seconds)[0]:
            data = os.read(self.output, 1 << 16)
            if not data:
                break
            rest += data
        status = self.process.wait(seconds)
        errors = self.process.stderr.read()
        return status, rest, errors


def text_of(answer):
    return answer["result"]["content"][0]["text"]
