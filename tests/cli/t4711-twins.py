#!/usr/bin/env python3
# runner: timeout 300
"""Random commands with random options, one after the other in workspaces that must answer alike: in a
plain one; in one whose index, table and control file are removed before each command; in one that is
replaced by its own backup now and then; in one that a server answers for; and in one where agents
call the tools of `roger mcp` as far as it has them.  The exit status and both outputs are compared
whole, but for what must differ: ids, instants and spans, and who asked; of a tool, whether it refuses,
and each member that it answers with.

    ROGER=build/roger python3 tests/cli/t4711-twins.py

ROGER_SEED takes another seed than 1, ROGER_CALLS another number of commands.
"""
import atexit
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib_mcp import Client  # noqa: E402
from lib_tap import check, done, equal  # noqa: E402

ROGER = Path(os.environ["ROGER"]).resolve()
SANITIZED = b"__asan" in ROGER.read_bytes()
SEED = int(os.environ.get("ROGER_SEED", "1"))
CALLS = int(os.environ.get("ROGER_CALLS", "60" if SANITIZED else "150"))
DERIVED = ("messages.db*", "messages.control", "messages.checkpoint")
NAMES = ("plan", "impl", "review", "Ünit", "a.b-c_d", "impl2", "lead")
# A value of an option, by its name; ids, runs and senders are added below.
VALUES = {
    "issue": ("login", "db", "i-3"), "task": ("t1", "x y"), "run": ("r0", "r1", "r2"), "type": ("context", "result", "decision", "data", "wrong"),
    "since": ("1h", "2026-01-01"), "until": ("1h", "2099-01-01"), "limit": ("1", "2", "5", "0", "-1", "x"), "pass": ("1", "2"), "after": ("1", "3"),
    "within": ("1h", "10m", "x"), "lease": ("1h", "10m", "x"), "expected-by": ("2099-01-01", "2020-01-01", "0s"), "by": ("1h", "x"),
    "exit": ("0", "3", "x"), "max-age-days": ("1",), "keep-per-agent": ("1", "3"), "keep-passes": ("1",), "tokens": ("100", "5"), "metadata": ('{"a":1}', "[1]", "{"),
}
PEOPLE = ("as", "from", "to", "agent", "worker", "name", "child", "forward-to")
IDS = ("id", "ids", "message", "reply-to", "what")
COMMANDS = ["send"] * 7 + ["receive", "claim", "ack"] * 2 + [
    "reply", "inbox", "nack", "archive", "cleanup", "dead redeliver", "dispatch", "complete", "runs forward", "runs extend", "runs sweep", "runs recover",
    "agents retire", "log", "dismiss", "log purge", "prime", "status", "list", "show", "why", "trace", "timeline", "report", "report stats", "runs", "agents", "dead",
    "log sends", "log activity", "log cycle", "verify"]
# inbox is asked for at the end: a look of an agent is noted again where the control file was lost.
TOOLS = {"send": "send", "ack": "ack", "agents": "agents", "dead": "dead_letters", "show": "thread", "dispatch": "run", "complete": "run", "runs": "run"}
ACTIONS = {"dispatch": "dispatch", "complete": "complete", "runs": "status"}
# What waits, follows, reads another input, or says by itself how far the time is.
LEFT = {"file", "out", "import", "follow", "result-file", "mermaid", "wait", "at", "retry", "entry", "confirm", "batch", "seal", "key-file", "cite", "lines"}

FOLDER = tempfile.TemporaryDirectory(prefix="roger-twins-")
PLAIN_ENV = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER", "XDG_"))}


class Twin:
    """A workspace, what makes it another one before each command, and the ids that were given there."""

    def __init__(self, name, before=None):
        self.name, self.before, self.ids, self.seen = name, before, [], {}
        self.folder = Path(FOLDER.name, name.replace(" ", "-"))
        self.folder.mkdir()
        self.env = {**PLAIN_ENV, "HOME": str(self.folder), "TZ": "UTC"}
        self.must("init")

    def run(self, *words, **more):
        return subprocess.run([ROGER, *words], cwd=self.folder, env={**self.env, **more}, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)

    def must(self, *words):
        ended = self.run(*words)
        if ended.returncode:
            check(f"{self.name}: {' '.join(map(str, words))}", False, (ended.returncode, ended.stdout, ended.stderr))
        return ended.stdout

    def same(self, text):
        """The text without what differs from run to run, or by who asked."""
        text = re.sub(r"\b(?:msg|dl|snd|att)-[0-9a-f]{6,}(?:-[0-9a-f]+)?", lambda found: f"<id {self.seen.setdefault(found[0], len(self.seen))}>", text)
        text = text.replace(str(self.folder), "<w>")
        text = re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?|\b\d\d:\d\d:\d\d(\.\d+)?\b", "<time>", text)
        text = re.sub(r"\b\d+(\.\d+)? ?(ms|s|min|h|d|m)\b( \d+(ms|s|m|min|h)\b)?( ago)?", "<span>", text)
        text = re.sub(r'"(took|look_p50|look_p95|look_max|latency_p50|latency_p95|latency_max)_ms":\d+|"(chain|bytes|head)":("[^"]*"|\d+)', "<number>", text)
        text = re.sub(r',?"chores":\[[^]]*\]|^chores: .*\n|,"(store|served_by)":"[^"]*"|^journals in .*\n', "", text, flags=re.M)
        # Who asked: the process and its user, or the socket; and what the server wrote a moment later.
        text = re.sub(r' \((?:uid \d+, \w+|socket)\)|, run by (?:uid \d+, \w+|socket)|"(?:parent|login)":"[^"]*",?|,?"uid":\d+|,"derived":true', "", text)
        text = re.sub(r"(?:[;,] )?\b(?:parent \w+|uid \d+|login socket)\b", "", text).replace("; ", ", ").replace(",}", "}")
        return re.sub(r" {2,}", "  ", re.sub(r"(?<=  ), ", "", text))


class Agents(Twin):
    """A workspace whose agents call tools; a command without one is run, as in the others."""

    def __init__(self, name):
        super().__init__(name)
        self.clients, self.tools = {}, {}

    def client(self, agent):
        if agent not in self.clients:
            client = Client([ROGER, "--workspace", self.folder, "mcp", "--as", agent], {**self.env, "XDG_STATE_HOME": str(self.folder / ".local/state")})
            client.hello()
            self.tools = {tool["name"]: tool["inputSchema"]["properties"] for tool in client.ask("tools/list")["result"]["tools"]}
            self.clients[agent] = client
        return self.clients[agent]

    def call(self, command, given):
        """The answer of the tool that does the same; None: none does."""
        agent = given.get("as", "plan" if command in ("agents", "dead", "runs", "show") else "")
        if command not in TOOLS or agent not in NAMES or not agent.isascii() or (command == "show") != ("thread" in given):
            return None
        client, tool = self.client(agent), self.tools[TOOLS[command]]
        arguments = {"action": ACTIONS[command]} if command in ACTIONS else {}
        for name, value in given.items():
            name = {"ids": "id", "thread": "as"}.get(name, name) if command == "show" else name.replace("-", "_")
            if name != "as" and name not in tool:
                return None
            if name != "as":
                number = tool[name].get("type") == "integer" and value.lstrip("-").isdigit()
                arguments[name] = int(value) if number else value
        return client.call(TOOLS[command], arguments)


def without_derived(twin):
    for pattern in DERIVED:
        for file in (twin.folder / ".roger").glob(pattern):
            file.unlink()


def restored(twin):
    if randomly.random() < 0.12:
        backup = twin.folder.with_suffix(f".{len(list(twin.folder.parent.iterdir()))}")
        twin.must("backup", backup)
        shutil.rmtree(twin.folder / ".roger")
        twin.must("restore", backup)
        twin.must("trust", "--accept", json.loads(twin.run("trust", "--show", "--json").stdout)["sha256"])


randomly = random.Random(SEED)
plain = Twin("plain")
twins = [Twin("without what is derived", without_derived), Twin("restored", restored)]
if (ROGER.parent / "roger-serve").exists():
    served = Twin("through a server")
    server = subprocess.Popen([ROGER, "serve", "--socket", served.folder / "s"], cwd=served.folder, env=served.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    atexit.register(server.kill)
    server.stdout.readline()
    served.env["ROGER_SERVER"] = f"unix:{served.folder / 's'}"
    twins.append(served)
agents = Agents("with tools of MCP")
twins.append(agents)
table = {command["name"]: command["options"] for command in json.loads(plain.must("help", "--json"))["commands"]}


def value_of(option, turn):
    """One value for each twin: an id is another one in each."""
    name = option["name"]
    if name in IDS and plain.ids and randomly.random() < 0.9:
        which = randomly.randrange(len(plain.ids))
        return [twin.ids[which] for twin in (plain, *twins)]
    if option.get("values"):
        value = randomly.choice(option["values"])
    elif name in PEOPLE:
        value = randomly.choice(NAMES * 3 + ("nobody", "human", "all", "roger"))
    elif name == "key":
        value = f"k{randomly.randint(0, turn)}"
    elif name in IDS:
        value = randomly.choice(NAMES + VALUES["run"] + ("msg-none", "plan#1"))
    else:
        value = randomly.choice(VALUES.get(name, ("x", "hello", "two\nlines \u202e")))
    return [value] * (1 + len(twins))


def command_of(turn):
    """The words of a random command, for each twin."""
    command = randomly.choice(COMMANDS)
    # The width of a span decides where their lines break, and how many fit.
    form = ["--json"] if command in ("send", "status", "report", "prime") else randomly.choice((["--json"], []))
    lines = [[*form, *command.split()] for _ in range(1 + len(twins))]
    given = {}  # what the last of them, which has tools, is asked
    for option in table[command]:
        name, place = option["name"], option.get("place")
        likely = 0.97 if option.get("required") or (name == "key" and command in ("send", "reply")) else 0.95 if name == "as" else 0.15
        if name in LEFT or randomly.random() > likely:
            continue
        values = value_of(option, turn)
        if place and values[0].startswith("-"):
            continue
        given[name] = values[-1] if option.get("value") else True
        for line, value in zip(lines, values):
            if place and (option.get("required") or command in ("send", "reply", "show", "trace", "why")):
                line += [value]
            else:
                line += [f"--{name}", *([value] if option.get("value") else [])]
    # A server gives a message without a key one.
    if command in ("send", "reply"):
        for line in lines:
            line += ["--new"] if command == "send" else []
            line += [] if "--key" in line else ["--key", f"n{turn}"]
        given = {"key": f"n{turn}", **given, "new": True}
    return command, lines, given


def tell_alike(what, words, ended, told):
    """Compare what a tool tells with what the command of the plain workspace said."""
    result, refused = told.get("result", {"isError": True}), ended.returncode not in (0, 1)
    if refused or result.get("isError"):
        return equal_or_told(f"{what} is refused", bool(result.get("isError")), refused)
    members, said = result["structuredContent"], json.loads(ended.stdout)
    members.pop("about", None)
    said = {name: said.get(name) for name in members}
    if "ack" in words:
        said["messages"] = [{name: message.get(name) for name in members["messages"][0]} for message in said["messages"]]
    equal_or_told(what, *(twin.same(json.dumps(told)) for twin, told in ((agents, members), (plain, said))))


def equal_or_told(what, got, wanted):
    if got != wanted:
        equal(f"seed {SEED}: {what}", got, wanted)


done_well = tools = 0
for turn in range(CALLS):
    command, lines, given = command_of(turn)
    told, answers = agents.call(command, given) if "--json" in lines[0] else None, []
    tools += told is not None
    for twin, words in zip((plain, *twins), lines):
        if twin is agents and told:
            tell_alike(f"{twin.name}, turn {turn}: {words!r}", words, first, told)
            stdout = json.dumps(told.get("result", {}).get("structuredContent"), separators=(",", ":"))
        else:
            if twin.before:
                twin.before(twin)
            ended = twin.run(*words)
            first = ended if twin is plain else first
            answers.append((twin, (ended.returncode, twin.same(ended.stdout), twin.same(ended.stderr))))
            stdout = ended.stdout
        if "send" in words and first.returncode == 0 and '"id":"' in stdout:
            twin.ids.append(re.search(r'"id":"([^"]*)"', stdout)[1])
    done_well += first.returncode == 0
    for twin, answer in answers[1:]:
        equal_or_told(f"{twin.name}, turn {turn}: {' '.join(lines[0])!r}", answer, answers[0][1])
check(f"{CALLS} commands are answered alike in {1 + len(twins)} workspaces", True)
check("a fifth of them, or more, did what they were told", done_well * 5 > CALLS, done_well)
check("some of them are tools", tools * 50 > CALLS, tools)
for name, client in agents.clients.items():
    tell_alike(f"{agents.name}: inbox of {name}", (), plain.run("--json", "inbox", "--as", name), client.call("inbox"))
    check("a server of MCP ends well", client.end()[0] == 0)
for twin in twins[2:]:
    if twin.env.pop("ROGER_SERVER", None):
        server.terminate()
        check("the server ends well", server.wait(60) == 0)
for twin in (plain, *twins):
    ended = twin.run("doctor")
    check(f"{twin.name}: doctor finds nothing", ended.returncode == 0, ended.stdout)
done()
