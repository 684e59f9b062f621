#!/usr/bin/env python3
"""A name by itself: two sessions of a tool at a time have two names, which each is told, at its
hooks and by MCP alike; when one has ended its name is free; and two sessions under a name that
somebody gave them are named by status.

    ROGER=build/roger python3 tests/cli/t2010-sessions.py
"""
# runner: timeout 120
import json
import os
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import lib_tap

ROGER = os.path.abspath(os.environ["ROGER"])
HERE = Path.cwd() / "t2010"
WORK = HERE / "work"
TOOLS = ("ROGER", "XDG", "CLICOLOR", "CLAUDE", "CODEX", "GEMINI", "COPILOT", "AI_AGENT", "OPENCODE")
ENV = {name: value for name, value in os.environ.items() if not name.startswith(TOOLS)}
ENV |= {"HOME": str(HERE / "home"), "XDG_STATE_HOME": str(HERE / "state"), "XDG_RUNTIME_DIR": str(HERE / "run")}


class Claude:
    """A program of that name, which does what it reads."""

    def __init__(self, **env):
        self.process = subprocess.Popen([HERE / "claude"], cwd=WORK, env=ENV | env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, command, *lines):
        (HERE / "input").write_text("\n".join(lines) + "\n")
        self.process.stdin.write(f"{command} <{HERE}/input\n")
        self.process.stdin.flush()
        told = []
        while (line := self.process.stdout.readline()) not in ("that is all\n", ""):
            told.append(line)
        return "".join(told)

    def hook(self, event, session):
        kinds = {"session-start": "SessionStart", "prompt": "UserPromptSubmit"}
        return self.do(f"{ROGER} hook claude {event}", json.dumps({"session_id": session, "transcript_path": "x", "cwd": str(WORK), "hook_event_name": kinds[event],
                                                                  "source": "startup", "prompt": "x", "permission_mode": "default"}))

    def end(self):
        self.process.kill()
        self.process.wait()


def roger(*words):
    return subprocess.run([ROGER, *words], cwd=WORK, env=ENV, capture_output=True, text=True, stdin=subprocess.DEVNULL)


WORK.mkdir(parents=True)
(HERE / "claude").write_text("#!/bin/sh\nwhile read -r line; do eval \"$line\"; echo 'that is all'; done\n")
(HERE / "claude").chmod(0o755)
roger("init")
roger("send", "--as", "plan", "--new", "claude", "for the first")

one, two = Claude(), Claude()
told = one.hook("session-start", "s1")
lib_tap.check("the first session has the tool's name", "You are claude in roger" in told and "for the first" in told, told)
told = two.hook("session-start", "s2")
lib_tap.check("the second has one of its own, and is told so", "You are claude-2 in roger" in told and "for the first" not in told, told)
lib_tap.check("agents shows it, though it has neither sent nor got anything", "claude-2" in [a["name"] for a in json.loads(roger("agents", "--json").stdout)["agents"]], roger("agents").stdout)
roger("send", "--as", "plan", "--new", "claude-2", "for the second")
told = one.hook("prompt", "s1")
lib_tap.check("mail of one is not shown to the other", "for the second" not in told, told)
told = two.hook("prompt", "s2")
lib_tap.check("but to the one that it is for", "for the second" in told, told)
told = two.do(f"{ROGER} mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "claude-code", "version": "1"}}}),
              json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}),
              json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "send", "arguments": {"to": ["plan"], "content": "by MCP"}}}))
lib_tap.check("which its instructions say", "You are 'claude-2'" in told, told[:600])
lib_tap.equal("by MCP it has the same name", [m["from"] for m in json.loads(roger("list", "--to", "plan", "--json").stdout)["messages"]], ["claude-2"])
lib_tap.check("a session that goes on keeps its name", "claude-2" not in one.hook("session-start", "s3"))
two.end()
three = Claude()
told = three.hook("session-start", "s4")
lib_tap.check("when a session has ended the next one has its name", "You are claude-2 in roger" in told, told)
lib_tap.equal("two names are two agents: nobody shares a mailbox", [c for c in json.loads(roger("status", "--json").stdout)["concerns"] for p in c.get("parts", []) if p["name"] == "sessions"], [])
for session in (one, three):
    session.end()

# Under a name that was given them.
one, two = Claude(ROGER_AGENT="bob"), Claude(ROGER_AGENT="bob")
told = [session.hook("prompt", name) for session, name in ((one, "s5"), (two, "s6"), (one, "s5"), (two, "s6"), (one, "s5"), (two, "s6"))]
lib_tap.equal("both are told of the other, once", ["Another session is at work under your name, bob" in text for text in told], [False, False, True, True, False, False])
lib_tap.check("two sessions under one name are named", "bob" in [c["subject"] for c in json.loads(roger("status", "--json").stdout)["concerns"] for p in c.get("parts", []) if p["name"] == "sessions"], roger("status").stdout)
for session in (one, two):
    session.end()
lib_tap.done()
