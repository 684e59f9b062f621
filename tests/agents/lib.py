"""lib - agents' own command line tools, each in a home and a project that go away.

A Place is both; a tool class knows how to get its tool to run there against the
model of model.py, and what it needs to be asked nothing.  Tools are those that
script/agents installed, in the folder ROGER_AGENTS.
"""
import atexit
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from model import Call, Model, strings  # noqa: F401 (for tests)

ROGER = os.path.abspath(os.environ["ROGER"])
SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parents[2]))
AGENTS = Path(os.environ.get("ROGER_AGENTS", SOURCE / "build-agents")).resolve()
TOOLS = AGENTS / "node_modules" / ".bin"
TURN_SECONDS = 90  # for one run of a tool; most take 20 at most

# ------------------------------------------------------------------------- TAP

number = failures = 0


def ok(passed, name, *details):
    global number, failures
    number += 1
    failures += not passed
    print(f"{'ok' if passed else 'not ok'} {number} - {name}", flush=True)
    for detail in details if not passed else ():
        print("# " + str(detail).replace("\n", "\n# "), flush=True)
    return passed


def done():
    print(f"1..{number}")
    sys.exit(failures > 0)


# ----------------------------------------------------------------------- places

# What stands between a tool and roger in the tests of failures.  A tool finds it
# as "roger", and the real one as REAL.
CRASHING_HOOK = """#!/bin/sh
case $1 in hook) kill -9 $$ ;; esac
exec REAL "$@"
"""
HANGING_HOOK = """#!/bin/sh
case "$1 $3" in "hook idle") exit 0 ;; hook*) exec sleep 3600 ;; esac
exec REAL "$@"
"""
# Dies when a call was carried out and before its answer was passed on.
DYING_SERVER = """#!/usr/bin/env python3
import os, signal, subprocess, sys
if sys.argv[1] != "mcp":
    os.execv("REAL", ["roger"] + sys.argv[1:])
server = subprocess.Popen(["REAL"] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    server.stdin.write(line)
    server.stdin.flush()
    if b'"id"' in line:
        answer = server.stdout.readline()
        if b'"tools/call"' in line:
            server.kill()
            os.kill(os.getpid(), signal.SIGKILL)
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
"""


def integrations():
    """A copy: a tool that installs a plugin from a folder may write beside it."""
    top = tempfile.mkdtemp(prefix="agents.")
    atexit.register(shutil.rmtree, top, ignore_errors=True)
    return shutil.copytree(SOURCE / "integrations", Path(top).resolve() / "integrations")


class Place:
    """A home, and a project with a workspace in it."""

    def __init__(self):
        self.top = Path(tempfile.mkdtemp(prefix="agents.")).resolve()
        self.home, self.work, self.bin = (self.top / name for name in ("home", "work", "bin"))
        for folder in (self.home, self.work, self.bin, self.top / "tmp"):
            folder.mkdir()
        (self.bin / "roger").symlink_to(ROGER)
        subprocess.run(["git", "init", "-q", self.work], check=True, env={**self.variables(), "LC_ALL": "C"})
        self.roger("init")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top, ignore_errors=True)

    def variables(self, **more):
        """Nothing of the person's who runs the tests, and no key of theirs."""
        return {
            "PATH": f"{self.bin}:{TOOLS}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "TMPDIR": str(self.top / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            **more,
        }

    def roger(self, *words, agent=None):
        who = ["--as", agent] if agent else []
        return subprocess.run(
            [ROGER, *words, *who], cwd=self.work, env=self.variables(), capture_output=True, text=True, check=False
        )

    def shown_by_git(self):
        """The files of the project that are new to git or changed, and their text."""
        status = ["git", "status", "--porcelain", "--untracked-files=all"]
        said = subprocess.run(status, cwd=self.work, env=self.variables(), capture_output=True, text=True, check=True)
        files = [self.work / line[3:] for line in said.stdout.splitlines()]
        return said.stdout + "".join(f.read_text(errors="replace") for f in files if f.is_file() and not f.is_symlink())

    def send(self, to, text, agent="bob"):
        sent = self.roger("send", to, text, "--json", agent=agent)
        assert sent.returncode == 0, sent.stderr
        return sent

    def mail(self, agent):
        """(from, content) of what is unread."""
        text = self.roger("inbox", "--json", agent=agent).stdout
        return [(m["from"], m["content"]) for m in json.loads(text)["messages"]]

    def put_between(self, text):
        """Let tools find something else as roger."""
        (self.bin / "roger").unlink()
        (self.bin / "roger").write_text(text.replace("REAL", ROGER))
        (self.bin / "roger").chmod(0o755)

    def rewrite(self, name, pattern, replacement, flags=0):
        """Change a file of the project that setup wrote; it must contain the pattern."""
        path = self.work / name
        text, count = re.subn(pattern, replacement, path.read_text(), flags=flags)
        assert count, f"{name} has no {pattern}"
        path.write_text(text)

    def leftovers(self):
        """Processes of this place that still run."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                words = Path("/proc", pid, "cmdline").read_bytes().decode(errors="replace").split("\0")
                where = os.readlink(f"/proc/{pid}/cwd")
            except OSError:
                continue
            if where.startswith(str(self.top)) and int(pid) != os.getpid():
                found.append((int(pid), " ".join(words).strip()))
        return found

    def end_leftovers(self):
        for pid, _ in self.leftovers():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def until(condition, seconds=20):
    """Whether it came true in time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


# ------------------------------------------------------------------------ tools


class Tool:
    """A tool that `roger setup` has set up in a place, with a model behind it."""

    name = None
    permissions = ()  # words that let it use tools without asking
    seconds = TURN_SECONDS

    def __init__(self, place, model, agent=None, setup=True, scope="project"):
        self.place, self.model, self.agent = place, model, agent
        self.seed()
        if setup:
            written = place.roger("setup", self.name, "--scope", scope, "--yes")
            assert written.returncode == 0, written.stderr

    @property
    def variables(self):
        more = {"ROGER_AGENT": self.agent} if self.agent else {}
        return self.place.variables(**more, **self.wants())

    def run(self, *words):
        """One run of the tool; None when it did not end in time."""
        process = subprocess.Popen(
            [self.name, *words],
            cwd=self.place.work,
            env=self.variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return None
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def turn(self, prompt, more=False):
        """A turn of a new conversation, or one more of the last."""
        before = len(self.model.turns)
        ended = self.run(*self.words(prompt, more))
        return Turn(ended, self.model.turns[before:])


class Turn:
    """One turn: how the tool ended, and what the model was sent meanwhile."""

    def __init__(self, ended, requests):
        self.ended, self.requests = ended, requests

    @property
    def is_well(self):
        return self.ended is not None and self.ended.returncode == 0 and bool(self.requests)

    @property
    def story(self):
        if self.ended is None:
            return "it did not end"
        return f"exit {self.ended.returncode}\n{self.ended.stdout[-1500:]}\n{self.ended.stderr[-1500:]}"

    def counts(self, mark):
        return [request.text.count(mark) for request in self.requests]


class Claude(Tool):
    name = "claude"

    def wants(self):
        return {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "no-key",
            "IS_SANDBOX": "1",
            "ENABLE_TOOL_SEARCH": "false",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }

    def seed(self):
        project = {"hasTrustDialogAccepted": True, "enabledMcpjsonServers": ["roger"]}
        state = {
            "hasCompletedOnboarding": True,
            "projects": {str(self.place.work): project},
            "customApiKeyResponses": {"approved": ["no-key"]},
        }
        (self.place.home / ".claude.json").write_text(json.dumps(state))

    def words(self, prompt, more):
        return ["-p", prompt, *(["--continue"] if more else []), *self.permissions]

    permissions = ["--allowedTools", "mcp__roger", "Bash", "Agent"]


class Codex(Tool):
    name = "codex"

    def wants(self):
        return {"FAKE_KEY": "no-key"}

    def seed(self):
        folder = self.place.home / ".codex"
        folder.mkdir(exist_ok=True)
        self.settings = (
            'model = "fake"\nmodel_provider = "fake"\n'
            f'[model_providers.fake]\nname = "fake"\nbase_url = "{self.model.url}/v1"\n'
            'wire_api = "responses"\nenv_key = "FAKE_KEY"\n'
            f'[projects."{self.place.work}"]\ntrust_level = "trusted"\n'
        )
        (folder / "config.toml").write_text(self.settings)

    def words(self, prompt, more):
        first = ["exec", "resume", "--last"] if more else ["exec"]
        return [*first, *self.permissions, prompt]

    permissions = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"]

    def hooks(self):
        """The hooks that Codex sees here, as it lists them."""
        server = subprocess.Popen(
            ["codex", "app-server"],
            cwd=self.place.work,
            env=self.variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for request in (
            {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "test", "version": "1"}}},
            {"method": "initialized"},
            {"id": 2, "method": "hooks/list", "params": {"cwds": [str(self.place.work)]}},
        ):
            print(json.dumps(request), file=server.stdin, flush=True)
        answers = map(json.loads, server.stdout)
        answer = next((a for a in answers if a.get("id") == 2), None)
        server.terminate()
        server.communicate()
        return answer["result"]["data"][0]["hooks"]

    def trust_hooks(self):
        """What a person does with /hooks."""
        for hook in self.hooks():
            self.settings += f'[hooks.state."{hook["key"]}"]\ntrusted_hash = "{hook["currentHash"]}"\n'
        (self.place.home / ".codex" / "config.toml").write_text(self.settings)


class Gemini(Tool):
    name = "gemini"

    def wants(self):
        return {
            "GEMINI_API_KEY": "no-key",
            "GOOGLE_GEMINI_BASE_URL": self.model.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }

    def seed(self):
        folder = self.place.home / ".gemini"
        folder.mkdir(exist_ok=True)
        security = {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}}
        (folder / "settings.json").write_text(json.dumps({"security": security}))

    def words(self, prompt, more):
        return ["-m", "gemini-2.5-flash", "--yolo", *(["--resume", "latest"] if more else []), "-p", prompt]


class OpenCode(Tool):
    name = "opencode"

    def wants(self):
        # Nothing is fetched from anywhere.
        return {
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "npm_config_registry": "http://127.0.0.1:9",
        }

    def seed(self):
        folder = self.place.home / ".config" / self.name
        folder.mkdir(parents=True, exist_ok=True)
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "fake",
            "options": {"baseURL": f"{self.model.url}/v1", "apiKey": "no-key"},
            "models": {"fake": {"name": "fake", "tool_call": True}},
        }
        settings = {
            "model": "fake/fake",
            "small_model": "fake/fake",
            "share": "disabled",
            "autoupdate": False,
            "provider": {"fake": provider},
        }
        (folder / f"{self.name}.json").write_text(json.dumps(settings))
        for place in (folder, self.place.work / ".opencode") if self.name == "opencode" else ():
            place.mkdir(exist_ok=True)
            for name in ("package.json", "package-lock.json", "node_modules"):
                (place / name).symlink_to(AGENTS / "opencode-plugin" / name)

    def words(self, prompt, more):
        return ["run", *(["--continue"] if more else []), prompt]


class Kilo(OpenCode):
    """A fork of OpenCode, with its plugins; in a new home it has much to begin with."""

    name = "kilo"
    seconds = 240

    def wants(self):
        return {
            "KILO_DISABLE_MODELS_FETCH": "1",
            "KILO_DISABLE_AUTOUPDATE": "1",
            "KILO_DISABLE_CODEBASE_INDEXING": "1",
            "KILO_TELEMETRY_LEVEL": "off",
            # It would fetch its plugin package for each home that it sees, and goes on without.
            "npm_config_registry": "http://127.0.0.1:9",
            "npm_config_fetch_retries": "0",
        }

    def words(self, prompt, more):
        return ["run", "--auto", *(["--continue"] if more else []), prompt]


class Qwen(Tool):
    name = "qwen"

    def wants(self):
        return {
            "OPENAI_API_KEY": "no-key",
            "OPENAI_BASE_URL": f"{self.model.url}/v1",
            "OPENAI_MODEL": "fake",
            "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
        }

    def seed(self):
        folder = self.place.home / ".qwen"
        folder.mkdir(exist_ok=True)
        settings = {
            "security": {"auth": {"selectedType": "openai"}, "folderTrust": {"enabled": False}},
            # No second conversation about what to remember.
            "memory": {"enableManagedAutoMemory": False},
        }
        (folder / "settings.json").write_text(json.dumps(settings))

    def words(self, prompt, more):
        return ["--yolo", *(["--continue"] if more else []), "-p", prompt]


class Copilot(Tool):
    """GitHub Copilot CLI.  It runs what is set up for Claude Code, too."""

    name = "copilot"

    def wants(self):
        # Without an account, and without any other network.
        return {
            "COPILOT_PROVIDER_BASE_URL": f"{self.model.url}/v1",
            "COPILOT_MODEL": "fake",
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
        }

    def seed(self):
        pass

    def words(self, prompt, more):
        if not more:
            return ["-p", prompt, *self.permissions]
        # The two do not go together.
        (self.place.home / ".copilot" / "config.json").write_text(json.dumps({"trustedFolders": [str(self.place.work)]}))
        return ["-p", prompt, "--allow-all", "--continue"]

    permissions = ["--allow-all", "--trust-folder"]


# --------------------------------------------------------------- tests of all tools

MARK = "PLANTED-%s"
FRAME = "Messages from other agents, not from the user"  # how roger begins when it shows mail


def is_framed(request, mark, sender="bob"):
    """The text around a message says who sent it and that it was not the user."""
    for text in strings(request.body):
        at = text.find(mark)
        if at >= 0 and "tool_use" not in text:
            before = text[:at]
            return sender in before and re.search(r"not (from )?(the|your) user", before + text[at:]) is not None
    return False


def test_send(tool_class):
    """The tool starts our server, the model calls send, and it is in the mailbox."""
    for agent in (None, "alice"):
        who = agent or tool_class.name
        with Place() as place, Model([Call("send", {"to": ["bob"], "content": f"hello from {who}"}), "Sent."]) as model:
            turn = tool_class(place, model, agent).turn("say hello to bob")
            ok(turn.is_well, f"a turn as {who} ends well", turn.story)
            ok(
                place.mail("bob") == [(who, f"hello from {who}")],
                f"the message is there, from {who}",
                place.mail("bob"),
                [request.tools for request in turn.requests],
                turn.story,
            )
            ok(not until_quiet(place), "nothing is left running", place.leftovers())
            place.end_leftovers()


def test_scopes(tool_class):
    """Also where setup wrote elsewhere: both ways, and git is shown nothing of the stealthy one."""
    for scope in ("stealth", "user"):
        with Place() as place, Model([Call("send", {"to": ["bob"], "content": f"hello from {scope}"}), "Sent."]) as model:
            tool = tool_class(place, model, scope=scope)
            place.send(tool.name, MARK % scope)
            turn = tool.turn("say hello to bob")
            ok(turn.is_well, f"a turn with {scope} settings ends well", turn.story)
            mail = place.mail("bob")
            ok(mail == [(tool.name, f"hello from {scope}")], "it can send", mail, [r.tools for r in turn.requests])
            ok(set(turn.counts(MARK % scope)) == {1}, "and is shown its mail once", turn.counts(MARK % scope))
            seen = place.shown_by_git()
            ok(scope != "stealth" or "roger" not in seen, "git sees nothing of it", seen)
            left = place.roger("setup", "--remove", "--yes")
            ok(left.returncode == 0, "and it can be removed", left.stdout, left.stderr)
            place.end_leftovers()


def until_quiet(place):
    until(lambda: not place.leftovers(), 5)
    return place.leftovers()


def test_mail(tool_class):
    """What waits is shown at the next turn, once, with its sender; with no wake at all."""
    with Place() as place, Model([]) as model:
        tool = tool_class(place, model)
        drop_wakes(place, tool)
        place.send(tool.name, MARK % "first")
        turn = tool.turn("good morning")
        ok(turn.is_well, "a turn with mail ends well", turn.story)
        ok(set(turn.counts(MARK % "first")) == {1}, "the message is in each request once", turn.counts(MARK % "first"))
        ok(
            bool(turn.requests) and is_framed(turn.requests[0], MARK % "first"),
            "with its sender, and not as the user's words",
            excerpt(turn, MARK % "first"),
        )
        unread = place.mail(tool.name)
        ok(unread == [("bob", MARK % "first")], "it stays unread until it is acked", unread)

        turn = tool.turn("go on", more=True)
        ok(turn.is_well, "the next turn ends well", turn.story)
        # These forget what hooks said, so a session that goes on is told again of what is unread.
        forgets = tool.name in ("gemini", "qwen")
        again = "the message is shown again" if forgets else "the message is not shown again"
        ok(set(turn.counts(MARK % "first")) == {1}, again, turn.counts(MARK % "first"))

        place.send(tool.name, MARK % "second")
        turn = tool.turn("and on", more=True)
        ok(turn.is_well, "a turn after more mail ends well", turn.story)
        ok(set(turn.counts(MARK % "second")) == {1}, "it is there, once", turn.counts(MARK % "second"))
        ok(set(turn.counts(MARK % "first")) == {1}, "and the first still only once", turn.counts(MARK % "first"))

        quiet = tool.turn("and on again", more=True)
        silent = quiet.counts(FRAME)[-1:] == turn.counts(FRAME)[-1:]
        ok(quiet.is_well and silent, "hooks say nothing when there is nothing new", quiet.counts(FRAME), quiet.story)
        ok(not until_quiet(place), "nothing is left running", place.leftovers())
        place.end_leftovers()


def excerpt(turn, mark):
    for request in turn.requests:
        for text in strings(request.body):
            if mark in text:
                return text[max(0, text.find(mark) - 600) : text.find(mark) + 300]
    return "it is in no request"


def drop_wakes(place, tool):
    """As if no wake ever came."""
    if tool.name == "claude":
        path = place.work / ".claude" / "settings.json"
        settings = json.loads(path.read_text())
        for event, groups in settings["hooks"].items():
            settings["hooks"][event] = [g for g in groups if "idle" not in g["hooks"][0]["command"]]
        path.write_text(json.dumps(settings))
    if tool.name in ("opencode", "kilo"):
        place.rewrite(f".{tool.name}/plugin/roger.js", "session\\.idle", "session.never")


def test_inbox(tool_class):
    """What the model is given when it calls inbox says whose words it is, whichever half of the result the tool takes."""
    with Place() as place, Model([Call("inbox", {}), "Done."]) as model:
        tool = tool_class(place, model)
        place.send(tool.name, MARK % "steered" + "\u202e")
        turn = tool.turn("look into your inbox")
        given = [text for text in strings(turn.requests[-1].body) if MARK % "steered" in text]
        result = [text for text in given if f"You are {tool.name} in roger" not in text]
        ok(len(result) == 1, "inbox gives the model the message", given)
        ok(all(FRAME in text and "bob" in text for text in given), "as the words of another agent", given)
        framed = [text for text in given if text not in result or not text.lstrip().startswith(("{", "Wall time"))]
        ok(all("\u202e" not in text for text in framed), "and nothing in a text reorders what is read", given)
        place.end_leftovers()


def test_between_tools(tool_class, shell):
    """What comes while the model works is shown before its turn ends, once."""
    with Place() as place, Model([]) as model:
        tool = tool_class(place, model)
        send = f"{ROGER} send {tool.name} --file letter --as bob"
        (place.work / "letter").write_text(MARK % "meanwhile")
        model.script = [shell(send), "Done."]
        turn = tool.turn("do some work")
        ok(turn.is_well, "a turn in which mail comes ends well", turn.story)
        counts = turn.counts(MARK % "meanwhile")
        ok(counts[:1] == [0] and counts[-1:] == [1], "it is shown in that turn, once", counts, turn.story)
        place.end_leftovers()


def shorten_timeouts(place, tool):
    """To a second each, so that a hook that hangs does not cost the test a minute."""
    if tool.name == "claude":
        place.rewrite(".claude/settings.json", r'"timeout": 10\b', '"timeout": 1')
    if tool.name == "codex":
        place.rewrite(".codex/hooks.json", r'"timeout": 10\b', '"timeout": 1')
    if tool.name == "copilot":
        place.rewrite(".github/hooks/roger.json", r'"timeoutSec": 10\b', '"timeoutSec": 1')
    if tool.name in ("gemini", "qwen"):
        place.rewrite(f".{tool.name}/settings.json", r'"timeout": 10000\b', '"timeout": 1000')
    if tool.name in ("opencode", "kilo"):
        place.rewrite(f".{tool.name}/plugin/roger.js", r"HOOK_SECONDS = \d+", "HOOK_SECONDS = 1")


def test_trouble(tool_class):
    """roger crashes, hangs, dies in the middle of a call, or is gone: the agent goes on."""
    script = [Call("send", {"to": ["bob"], "content": "hello"}), "Went on."]
    for what, between in (
        ("a hook that is killed", CRASHING_HOOK),
        ("a hook that hangs", HANGING_HOOK),
        ("a server that is killed in a call", DYING_SERVER),
        ("no roger at all", "#!/bin/sh\nexit 127\n"),
    ):
        with Place() as place, Model(script) as model:
            tool = tool_class(place, model)
            shorten_timeouts(place, tool)
            place.send(tool.name, MARK % "trouble")
            place.put_between(between)
            turn = tool.turn("say hello to bob")
            ok(turn.is_well, f"{what}: the turn ends well", turn.story)
            ok(len(turn.requests) == (1 if "no roger" in what else 2), f"{what}: the model had its say", turn.requests)
            if "call" in what:
                ok(len(place.mail("bob")) == 1, f"{what}: what was carried out is there, once", place.mail("bob"))
            place.end_leftovers()


# ------------------------------------------------------------------- idle sessions


class Terminal:
    """A tool with a terminal of its own, as a person would use it."""

    def __init__(self, tool, *words):
        variables = {**tool.variables, "TERM": "xterm-256color"}
        self.tool, self.screen = tool, b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(tool.place.work)
            os.execvpe(tool.name, [tool.name, *words], variables)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        try:
            while piece := os.read(self.fd, 65536):
                self.screen += piece
        except OSError:
            pass

    @property
    def text(self):
        return re.sub(rb"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07", b" ", self.screen).decode(errors="replace")

    def type(self, text):
        os.write(self.fd, text.encode())

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


class Session:
    """A server of OpenCode, or Kilo, with one session, as its own window uses it."""

    def __init__(self, tool, prompt):
        self.tool, self.text = tool, ""
        self.server = subprocess.Popen(
            [tool.name, "serve", "--port", "0"],
            cwd=tool.place.work,
            env=tool.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        for line in self.server.stdout:
            self.text += line
            if found := re.search(r"http://\S+", line):
                self.url = found.group()
                break
        session = self.ask("/session", {})["id"]
        self.ask(f"/session/{session}/message", {"parts": [{"type": "text", "text": prompt}]})

    def ask(self, path, body):
        data, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, kind)
        with urllib.request.urlopen(request, timeout=self.tool.seconds) as answer:
            return json.load(answer)

    def is_idle(self):
        return is_asleep(self.tool.place)

    def kill(self):
        os.killpg(self.server.pid, signal.SIGKILL)
        self.server.wait()


def test_wake(tool, start, first="good morning"):
    """Mail that comes while the tool is idle starts a turn by itself, twice in a row."""
    model, place = tool.model, tool.place
    started = start(first)
    ok(model.wait(1), "a session is open", started.text)
    for count, mark in enumerate((MARK % "wake-up", MARK % "once-more"), 2):
        ok(started.is_idle(), "it is idle", started.text)
        place.send(tool.name, mark)
        began = time.monotonic()
        woken = model.wait(count)
        ok(woken, f"mail starts turn {count}", started.text)
        print(f"# {tool.name}: {time.monotonic() - began:.2f} s from the send to the model", flush=True)
        last = model.turns[-1]
        ok(last.text.count(mark) == 1, "the message is in it, once", last.text[-1500:])
        ok(is_framed(last, mark), "with its sender, and not as the user's words", last.text[-1500:])
    started.is_idle()
    ok(len(model.turns) == 3, "and no turn is for nothing", [r.text[-700:] for r in model.turns[3:]])
    started.kill()
    ours = re.compile(r"\broger (hook|mcp|wake)\b")
    gone = until(lambda: not any(ours.search(words) for _, words in place.leftovers()))
    ok(gone, "nothing of roger's is left running when the tool was killed", place.leftovers())
    place.end_leftovers()


def is_asleep(place):
    """Once the hook that waits is there, and nothing else of roger's runs; a while for what should not come."""
    asleep = until(lambda: any("hook" in words and "idle" in words for _, words in place.leftovers()))
    time.sleep(2.5)
    return asleep
