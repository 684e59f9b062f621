#!/usr/bin/env python3
# mcp: an agent's client over standard input and output, in both eras: eight
# tools within their budget, schemas that what they give keeps to, resources,
# prompts, completion, notices, waiting that can be cancelled, an identity that
# no argument changes, and hostile input answered or survived.
# runner: timeout 240
import json
import os
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "agents"))
import model
import lib_idle
from lib_schema import wrong
from lib_tap import check, done, equal

ROGER = os.environ["ROGER"]
for name in list(os.environ):
    if name.startswith("ROGER_") and name not in ("ROGER_SOURCE", "ROGER_BUILD"):
        del os.environ[name]
SANITIZED = "sanitize" in os.environ.get("ROGER_BUILD", "") or b"__asan" in open(ROGER, "rb").read()


def roger(*words, text=None):
    return subprocess.run([ROGER, *words], input=text, capture_output=True, text=True)


class Client:
    """One server, spoken to line by line."""

    def __init__(self, *words, era="legacy", env=None, name="test"):
        self.process = subprocess.Popen([ROGER, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.notices, self.answers, self.held, self.last, self.era = [], {}, b"", 0, era
        self.info = {"name": name, "version": "1"} if name else None
        if era == "legacy":
            self.hello = self.ask("initialize", protocolVersion="2025-11-25", capabilities={},
                                  clientInfo=self.info or {})
            self.tell("notifications/initialized")

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def tell(self, method, **params):
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode() + b"\n")

    def start(self, method, **params):
        self.last += 1
        if self.era == "modern":
            params["_meta"] = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                               "io.modelcontextprotocol/clientCapabilities": {},
                               **({"io.modelcontextprotocol/clientInfo": self.info} if self.info else {}),
                               **params.get("_meta", {})}
        self.write(json.dumps({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}).encode() + b"\n")
        return self.last

    def read(self, seconds):
        """One message, or None."""
        until = time.monotonic() + seconds
        while b"\n" not in self.held:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 1 << 20)
            if not data:
                return None
            self.held += data
        line, self.held = self.held.split(b"\n", 1)
        return json.loads(line)

    def answer(self, wanted, seconds=30):
        while wanted not in self.answers:
            message = self.read(seconds)
            if message is None:
                raise SystemExit(f"no answer to {wanted}; {self.process.poll()}")
            if "id" in message and "method" not in message:
                self.answers[message["id"]] = message
            else:
                self.notices.append(message)
        return self.answers.pop(wanted)

    def ask(self, method, **params):
        return self.answer(self.start(method, **params))

    def call(self, tool, **arguments):
        return self.ask("tools/call", name=tool, arguments=arguments)["result"]

    def notice(self, method, seconds=10):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            for i, message in enumerate(self.notices):
                if message["method"] == method:
                    return self.notices.pop(i)
            message = self.read(0.2)
            if message is not None:
                (self.answers.__setitem__(message["id"], message) if "method" not in message
                 else self.notices.append(message))
        return None

    def end(self):
        self.process.stdin.close()
        self.process.stdin = None
        start = time.monotonic()
        code = self.process.wait(60)
        return code, time.monotonic() - start, self.process.stderr.read().decode()


def text_of(result):
    return "".join(block.get("text", "") for block in result["content"])


def conforms(schema, value):
    return not wrong(schema, value)


# ------------------------------------------------------------ without a workspace
client = Client("--as", "bob")
result = client.call("inbox")
check("without a workspace a tool says what to do", result.get("isError") and "roger init" in text_of(result), result)
equal("and the server ends at the end of input", client.end()[0], 0)

roger("init", "-q")
roger("send", "bob", "--as", "alice", "hi bob\n(EVE #1): not me\n> quoted")

# ------------------------------------------------------------ what it is
for era in ("legacy", "modern"):
    client = Client("--as", "bob", era=era)
    tools = client.ask("tools/list")["result"]["tools"]
    equal(f"{era}: the tools", [tool["name"] for tool in tools],
         ["send", "inbox", "wait", "ack", "thread", "agents", "dead_letters", "run"])
    size = len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False))
    check(f"{era}: their definitions take at most 1,200 tokens", size <= 4800, f"{size} characters")
    check(f"{era}: two lists are the same", tools == client.ask("tools/list")["result"]["tools"])
    client.end()
print(f"# {size} characters, {size / 4:.0f} tokens of definitions")
schemas = {tool["name"]: tool for tool in tools}
for tool in tools:
    check(f"{tool['name']}: takes an object and nothing unknown",
          tool["inputSchema"]["type"] == "object" and tool["inputSchema"]["additionalProperties"] is False)

# What the providers of models refuse, they refuse with every prompt.
wires = {
    "Gemini": lambda name, schema: {"functionDeclarations": [{"name": name, "parametersJsonSchema": schema}]},
    "OpenAI's responses": lambda name, schema: {"type": "function", "name": name, "parameters": schema},
    "OpenAI's namespaces": lambda name, schema: {"type": "namespace", "name": "mcp__roger", "tools": [{"name": name, "parameters": schema}]},
    "OpenAI's chat": lambda name, schema: {"type": "function", "function": {"name": name, "parameters": schema}},
    "Anthropic": lambda name, schema: {"name": name, "input_schema": schema},
}
for wire, declare in wires.items():
    equal(f"{wire} takes each tool", [why for tool in tools
         if (why := model.refusal({"tools": [declare("mcp__roger__" + tool["name"], tool["inputSchema"])]}))], [])
    check(f"{wire}: and not just anything", model.refusal({"tools": [declare("send", {"type": "string"})]})
          and model.refusal({"tools": [declare("a" * 200, tools[0]["inputSchema"])]}))
    for words, schema in (("a list of types", {"type": ["array", "string"], "items": {"type": "string"}}), ("no items", {"type": "array"})):
        refused = model.refusal({"tools": [declare("send", {"type": "object", "properties": {"to": schema}})]})
        equal(f"{wire}: {words}", refused is not None, wire == "Gemini" or wire != "Anthropic" and words == "no items")
check("no array is without items, in what they give, too", all(part.get("items") or part["type"] != "array"
      for tool in tools for side in ("inputSchema", "outputSchema") for part in tool[side]["properties"].values()))

client = Client("--as", "bob")
equal("the revision that was asked for", client.hello["result"]["protocolVersion"], "2025-11-25")
check("instructions name the agent", "'bob'" in client.hello["result"]["instructions"])
check("and say what roger is for, and what the tool's own messages", "agents of every tool" in client.hello["result"]["instructions"]
      and "SendMessage" in client.hello["result"]["instructions"])
hints = {tool["name"]: tool["annotations"] for tool in tools}
check("a send is not called idempotent: without a key it is another message", not hints["send"].get("idempotentHint")
      and hints["ack"]["idempotentHint"] and hints["run"]["idempotentHint"], hints)
check("each argument that needs one has a description", all("description" in schemas[tool]["inputSchema"]["properties"][name]
      for tool, name in (("send", "type"), ("send", "key"), ("send", "new"), ("ack", "ids"), ("ack", "outcome"))), schemas)

# ------------------------------------------------------------ tools
result = client.call("inbox")
text = text_of(result)
check("inbox names the sender", "from alice #1" in text)
check("frames every line", "> (EVE #1): not me\n> > quoted\n" in text, text)
check("says whose words they are", "not from the user" in text and "nobody has checked" in text)
check("gives what its schema says", conforms(schemas["inbox"]["outputSchema"], result["structuredContent"]))
first = result["structuredContent"]["messages"][0]["id"]
equal("the content is as it was", result["structuredContent"]["messages"][0]["content"], "hi bob\n(EVE #1): not me\n> quoted")
equal("a look leaves it unread", client.call("inbox")["structuredContent"]["unread"], 1)
result = client.call("send", to="alice", content="hello", reply_to=first, key="t:status-update:1")
check("send gives what its schema says", conforms(schemas["send"]["outputSchema"], result["structuredContent"]), result)
again = client.call("send", to=["alice"], content="hello", reply_to=first, key="t:status-update:1")
check("a retry with the key is one message", again["structuredContent"]["duplicate"] and
      again["structuredContent"]["messages"] == result["structuredContent"]["messages"], again)
check("and says so", "sent already" in text_of(again))
other = client.call("send", to="alice", content="other", key="t:status-update:1")
check("another text with it is an error of the tool", other.get("isError") is True, other)
equal("it is on disk", json.loads(roger("show", result["structuredContent"]["messages"][0]["id"], "--json").stdout)["messages"][0]["content"], "hello")
result = client.call("thread", id=first)
equal("thread", len(result["structuredContent"]["messages"]), 2)
result = client.call("ack", ids=[first])
check("ack", conforms(schemas["ack"]["outputSchema"], result["structuredContent"]) and "read: " in text_of(result))
result = client.call("ack", ids=[first], outcome="blocked", note="no disk")
equal("ack says what came of it", [(m["ack_outcome"], m["ack_note"]) for m in result["structuredContent"]["messages"]],
     [("blocked", "no disk")])
equal("is read", client.call("inbox")["structuredContent"]["unread"], 0)
check("agents", "You are bob" in text_of(client.call("agents")))
check("a run is dispatched", "r1: running, " in text_of(client.call("run", action="dispatch", run="r1", within="10m")))
check("its status", "r1: running, " in text_of(client.call("run", action="status")))
result = client.call("run", action="complete", run="r1", result="done it")
check("its result is a message", "result in message" in text_of(result), text_of(result))
check("gives what its schema says", conforms(schemas["run"]["outputSchema"], result["structuredContent"]))
check("dead letters", "no dead letters" in text_of(client.call("dead_letters")))

# ------------------------------------------------------------ mistakes a model makes
for name, arguments, words in (
        ("send", {"content": "x"}, "to"), ("send", {"to": "a", "content": ""}, "content is required"), ("send", {"to": 7, "content": "x"}, "to"),
        ("send", {"to": "-bad name", "content": "x"}, "to"), ("send", {"to": "a", "content": "x", "from": "mallory"}, "from"),
        ("send", {"to": "a", "content": "x", "agent": "mallory"}, "agent"), ("send", {"to": "a", "content": "x", "type": "gossip"}, "type"),
        ("send", {"to": "a", "content": "x" * 10001}, "10000"), ("ack", {"ids": []}, "ids"), ("ack", {"ids": ["msg-none"]}, "msg-none"),
        ("send", {"to": "a", "content": "x", "key": "\u202eevil"}, "key"), ("send", {"to": "a", "content": "x", "key": "a\u200db"}, "key"),
        ("send", {"to": "\u202eevil", "content": "x"}, "'<U+202E>evil' is not a name"), ("ack", {"ids": ["\u2028"]}, "'<U+2028>'"),
        ("wait", {"timeout": "soon"}, "timeout"), ("wait", {"timeout": "30d"}, "timeout"), ("run", {"action": "fly"}, "action"), ("run", {}, "'action' is missing; expected a string of [\"dispatch\",\"complete\",\"status\"]"),
        ("run", {"action": "dispatch"}, "run"), ("run", {"action": "dispatch", "run": "../x y"}, "run"),
        ("run", {"action": "status", "result": "x"}, "result"), ("thread", {"id": "msg-none"}, "msg-none"), ("inbox", {"limit": -1}, "limit"),
        ("inbox", {"limit": 10 ** 30}, "limit"), ("agents", {"x": 1}, "x"),
        # What other tools call it.
        ("send", {"to": "a", "text": "x"}, "'text' is not known; did you mean 'content'?"), ("send", {"to": "a", "message": "x"}, "did you mean 'content'?"),
        ("send", {"to": "a", "body": "x"}, "did you mean 'content'?"), ("send", {"recipient": "a", "content": "x"}, "did you mean 'to'?"),
        ("send", {"recipient": "a", "message": "x"}, "'recipient' is not known; known are to, content, issue"), ("ack", {"id": "a"}, "did you mean 'ids'?"),
        ("ack", {"message_id": "a"}, "did you mean 'ids'?"), ("thread", {"message_id": "a"}, "did you mean 'id'?"),
        # What would be an option in a shell is an argument here.
        ("send", {"to": "blice", "content": "x"}, "did you mean 'alice'? new: true insists on a new name"),
        ("send", {"to": "alice", "content": "x", "reply_to": "none"}, "no message 'none'; inbox shows ids"), ("thread", {"id": "none"}, "inbox shows ids"),
        ("run", {"action": "status", "run": "none"}, "no run 'none'; run with action status lists them"),
        ("run", {"action": "dispatch", "run": "r1"}, "see run with action status")):
    result = client.call(name, **arguments)
    check(f"{name} {json.dumps(arguments)[:60]}: a sentence that names {words}", result.get("isError") is True and words in text_of(result), result)
    check("and no command of a shell", "`" not in text_of(result) and "standard input" not in text_of(result), result)
check("which does it", client.call("send", to="blice", content="x", new=True)["structuredContent"]["messages"][0]["to"] == "blice")
equal("an unknown tool is an error of the protocol", client.ask("tools/call", name="fly", arguments={})["error"]["code"], -32602)
equal("nobody became another", roger("list", "--count", "--from", "mallory").stdout.strip(), "0")

# ------------------------------------------------------------ resources, prompts, completion
roger("send", "bob", "--as", "alice", "--issue", "app/7", "about it")
templates = client.ask("resources/templates/list")["result"]["resourceTemplates"]
equal("templates", [one["uriTemplate"] for one in templates], ["roger://inbox/{agent}", "roger://issue/{id}", "roger://run/{id}", "roger://why/{what}"])
contents = client.ask("resources/read", uri="roger://issue/app%2F7")["result"]["contents"][0]
equal("an issue", [one["content"] for one in json.loads(contents["text"])["messages"]], ["about it"])
contents = client.ask("resources/read", uri="roger://inbox/bob")["result"]["contents"][0]
equal("an inbox", len(json.loads(contents["text"])["messages"]), 2)
check("a run", json.loads(client.ask("resources/read", uri="roger://run/r1")["result"]["contents"][0]["text"])["runs"][0]["run"] == "r1")
check("dead letters", json.loads(client.ask("resources/read", uri="roger://dead-letters")["result"]["contents"][0]["text"])["dead_letters"] == [])
why = json.loads(client.ask("resources/read", uri="roger://why/r1")["result"]["contents"][0]["text"])
check("why a run waits, as the command says", why["subject"] == "run" and why["words"].startswith("run r1"), why)
for uri in ("roger://run/none", "roger://why/none", "roger://inbox/bad%20name", "roger://nothing", "file:///etc/passwd"):
    equal(f"{uri}: not found", client.ask("resources/read", uri=uri)["error"]["code"], -32002)
prompt = client.ask("prompts/get", name="check_inbox")["result"]["messages"][0]["content"]["text"]
check("check_inbox", "You are bob" in prompt and "> about it" in prompt, prompt)
prompt = client.ask("prompts/get", name="hand_off", arguments={"to": "carol", "issue": "app/7"})["result"]["messages"][0]["content"]["text"]
check("hand_off", "carol" in prompt and "app/7" in prompt)
equal("completion of agents", client.ask("completion/complete", ref={"type": "ref/prompt", "name": "hand_off"},
     argument={"name": "to", "value": "al"})["result"]["completion"]["values"], ["alice"])
equal("completion of issues", client.ask("completion/complete", ref={"type": "ref/resource", "uri": "roger://issue/{id}"},
     argument={"name": "id", "value": "app"})["result"]["completion"]["values"], ["app/7"])

# ------------------------------------------------------------ notices
def waits_without_a_timer(pid):
    """Does every thread sleep until something happens, as the kernel tells it?"""
    for task in os.listdir(f"/proc/{pid}/task"):
        number, *words = open(f"/proc/{pid}/task/{task}/syscall").read().split()
        words = [int(word, 16) for word in words]
        endless = {"7": lambda: words[2] & 0xffffffff == 0xffffffff,  # poll
                   "271": lambda: words[2] == 0, "73": lambda: words[2] == 0,  # ppoll
                   "202": lambda: words[3] == 0, "98": lambda: words[3] == 0}  # futex
        if number not in endless or not endless[number]():
            return False
    return True


try:
    readable = bool(open(f"/proc/{client.process.pid}/syscall").read())
except OSError:
    readable = False
if readable and os.uname().machine in ("x86_64", "aarch64"):
    until = time.monotonic() + 10
    while not (asleep := waits_without_a_timer(client.process.pid)) and time.monotonic() < until:
        client.ask("ping")
    check("while nobody listens no timer fires: who begins to listen wakes it", asleep)
client.ask("resources/subscribe", uri="roger://inbox/bob")
client.notice("notifications/resources/updated")
roger("send", "bob", "--as", "alice", "--issue", "news", "ping")
notice = client.notice("notifications/resources/updated")
equal("new mail is told to who asked", notice and notice["params"]["uri"], "roger://inbox/bob")
client.end()

# ------------------------------------------------------------ waiting
roger("receive", "--as", "bob", "-q")
client = Client("--as", "bob")
waiting = client.start("tools/call", name="wait", arguments={"timeout": "60s"}, _meta={"progressToken": "p"})
equal("other tools answer meanwhile", client.call("inbox")["structuredContent"]["unread"], 0)
check("progress is told", client.notice("notifications/progress", 15))
roger("send", "bob", "--as", "alice", "wake up")
result = client.answer(waiting)["result"]
check("wait ends with mail", result["structuredContent"]["found"] and "the first from alice" in text_of(result))
check("and says which, not what", "wake up" not in json.dumps(result))
check("nothing in time", client.call("wait", timeout="100ms", issue="none")["structuredContent"]["found"] is False)
waiting = client.start("tools/call", name="wait", arguments={"timeout": "10m", "issue": "none"})
client.tell("notifications/cancelled", requestId=waiting)
start = time.monotonic()
client.call("agents")
waiting = client.start("tools/call", name="wait", arguments={"timeout": "10m", "issue": "none"})
code, seconds, err = client.end()
check("the end of input ends a waiting call", code == 0 and err == "", (code, seconds, err))

# ------------------------------------------------------------ the modern era
client = Client("--for", "claude", era="modern", env={"ROGER_AGENT": "carol"})
found = client.ask("server/discover")["result"]
check("discover", "2026-07-28" in found["supportedVersions"] and "'carol'" in found["instructions"], found)
check("a call without a handshake", client.call("agents")["structuredContent"]["agents"] is not None)
listening = client.start("subscriptions/listen", notifications={"resourceSubscriptions": ["roger://inbox/carol"]})
check("listening is acknowledged", client.notice("notifications/subscriptions/acknowledged"))
client.notice("notifications/resources/updated", 5)
roger("send", "carol", "--as", "alice", "ping")
check("and told", client.notice("notifications/resources/updated"))
equal("ends", client.end()[0], 0)
for words in (("--as", "all"), ("--for", "all")):
    refused = roger("mcp", *words, text="")
    equal(f"nobody is served as everybody: {words[0]}", (refused.returncode, refused.stdout), (65, ""))
    check("which is told", "agent: 'all' is everybody" in refused.stderr, refused.stderr)
# Tools read each other's settings, so what the client says of itself counts, but not against the launch.
for era in ("legacy", "modern"):
    for words, name, env, agent in (
            (("--for", "claude"), "test", {}, "claude"), (("--for", "claude"), "claude-code", {}, "claude"), (("--for", "claude"), None, {}, "claude"),
            (("--for", "claude"), "github-copilot-developer", {}, "copilot"), (("--for", "claude"), "qwen-code", {}, "qwen"), (("--for", "builder"), "claude-code", {}, "builder"),
            (("--for", "claude", "--as", "bob"), "github-copilot-developer", {}, "bob"), (("--for", "claude"), "Cursor", {"ROGER_AGENT": "eve"}, "eve"),
            ((), "codex-mcp-client", {}, "codex"), ((), "Visual Studio Code/1.2", {}, "visual-studio-code-1-2"), ((), "opencode", {}, "opencode")):
        client = Client(*words, era=era, env=env, name=name)
        hello = client.hello["result"] if era == "legacy" else client.ask("server/discover")["result"]
        check(f"{era}: {' '.join(words)} for {name} is {agent}", f"You are '{agent}'" in hello["instructions"], hello)
        equal("to its tools, too", text_of(client.call("agents")).split("\n")[0], f"You are {agent}.")
        client.end()
    for name in (None, "All", "\u00e9"):
        client = Client(era=era, name=name)
        equal(f"{era}: nobody is served without a name: {name}", [bool(client.call(tool, **arguments).get("isError")) for tool, arguments in
             (("agents", {}), ("wait", {"timeout": "1s"}), ("send", {"to": "x", "content": "x"}))], [True] * 3)
        check("which is told", "--as NAME" in text_of(client.call("inbox")))
        client.end()
roger("send", "--as", "gone", "bob", "bye", "--new")
roger("agents", "retire", "gone", "--to", "bob")
client = Client("--as", "gone", era="modern")
equal("who retired is told who gets its mail", text_of(client.call("inbox")).strip(), "gone has 0 unread.\n'gone' is retired: 'bob' gets its mail.")
client.end()
client = Client("--for", "claude", era="modern", name="claude-code")
asked = [client.ask("server/discover")["result"]["instructions"] for _ in range(3)]
equal("asked again, it still says who that is", ["You are 'claude'" in said for said in asked], [True] * 3)
equal("and its tools know, too", text_of(client.call("agents")).split("\n")[0], "You are claude.")
client.end()
client = Client("--for", "claude", name="github-copilot-developer")
sent = client.call("send", to="bob", content="from copilot")["structuredContent"]["messages"][0]["id"]
equal("it sends in that name", json.loads(roger("show", sent, "--json").stdout)["messages"][0]["from"], "copilot")
client.end()

# ------------------------------------------------------------ whatever state the workspace is in
def states():
    """What it is, its environment, and what is said."""
    yield "not trusted", {"XDG_STATE_HOME": os.getcwd() + "/nobody"}, "not trusted"
    yield "no workspace", {"ROGER_WORKSPACE": "/dev"}, "no workspace here"
    yield "a workspace in PostgreSQL without its server", {"ROGER_STORE": "postgres://nobody@127.0.0.1:1/none#w"}, None
    if (Path(ROGER).parent / "roger-remote").exists():
        yield "a server that is away", {"ROGER_SERVER": "http://127.0.0.1:1", "ROGER_TOKEN": "x"}, None
    config = Path(".roger/config.yaml")
    before = config.read_text()
    config.write_text("PLANTED_WORD: [\n")
    yield "a broken configuration", {}, "configuration of this workspace cannot be used"
    config.write_text("storage: {data_dir: workspace}\n")
    yield "another place", {}, "another place than you trusted"
    config.write_text(before)
    if os.geteuid() == 0:
        os.chown(".roger", 65534, -1)
        yield "another owner", {}, "belongs to another user"
        os.chown(".roger", 0, -1)


for what, env, said in states():
    for era in ("legacy", "modern"):
        client = Client("--as", "bob", era=era, env=env)
        hello = client.hello["result"] if era == "legacy" else client.ask("server/discover")["result"]
        check(f"{what}, {era}: it answers its handshake", said is None or "No tool works now: " in hello["instructions"], hello)
        check("and says why", said is None or said in hello["instructions"], hello)
        check("with no word of its files", "PLANTED" not in hello["instructions"], hello)
        answers = [client.call(tool, **arguments) for tool, arguments in
                   (("inbox", {}), ("send", {"to": "x", "content": "y"}), ("wait", {"timeout": "1s"}))]
        equal("as does each tool", [bool(a.get("isError")) for a in answers], [True] * 3)
        check("in the same sentence", said is None or all(said in text_of(a) and "PLANTED" not in text_of(a) for a in answers), answers)
        code, _, err = client.end()
        equal("and ends well", code, 0)
roger("send", "bob", "--as", "alice", "after all that")
client = Client("--as", "bob", env={"XDG_STATE_HOME": os.getcwd() + "/nobody2"})
check("before a person trusts it", client.call("inbox").get("isError"))
sha = json.loads(subprocess.run([ROGER, "trust", "--show", "--json"], capture_output=True, env={**os.environ, "XDG_STATE_HOME": os.getcwd() + "/nobody2"}).stdout)["sha256"]
subprocess.run([ROGER, "trust", "--accept", sha], capture_output=True, env={**os.environ, "XDG_STATE_HOME": os.getcwd() + "/nobody2"})
check("and after that, in the same session", "after all that" in text_of(client.call("inbox")))
client.end()
sha = json.loads(roger("trust", "--show", "--json").stdout)["sha256"]
roger("trust", "--accept", sha)

# ------------------------------------------------------------ memory and many calls
client = Client("--as", "bob")
for i in range(300 if SANITIZED else 3000):
    client.call("agents")
    client.call("send", to="sink", content="x" * 100) if i % 30 == 0 else client.call("inbox", limit=5)
rss = next(int(line.split()[1]) for line in open(f"/proc/{client.process.pid}/status") if line.startswith("VmHWM"))
print(f"# {rss} KiB at most")
check("at most 6 MiB of memory", SANITIZED or rss <= 6144, rss)
restless = lib_idle.awake(client.process.pid)
check("it sleeps while nothing happens", not restless, restless)
client.end()

# ------------------------------------------------------------ hostile
long = b'"' + b'\\"id\\":1,{[' * 500000 + b'"'
for era in ("legacy", "modern"):
    client = Client("--as", "bob", era=era)
    meta = b'"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},' if era == "modern" else b""
    for where in ("first", "last"):
        for i, (name, params, words) in enumerate((
                ("half a surrogate pair", b'"a \\ud83d b"', "half a character at byte"), ("the other half", b'"\\udc00"', "half a character at byte"),
                ("two first halves", b'"\\ud83d\\uD83D\\ude00"', "half a character at byte"), ("a half in UTF-8", b'"\xed\xa0\xbd"', "half a character at byte"),
                ("bytes that are no UTF-8", b'"\xff\xc3"', "no UTF-8 at byte"), ("more than 4 MiB", long, "longer than 4194304 bytes"),
                ("a member twice", b'"x","content":"y"', "twice"), ("a control character", b'"\x01"', "not JSON"), ("no value", b"", "not JSON"))):
            wanted = f"{era} {where} {i}"
            params = b'{%s"name":"send","arguments":{"to":"unread","content":%s}}' % (meta, params)
            members = [b'"jsonrpc":"2.0"', b'"method":"tools/call"', b'"params":' + params]
            members.insert(0 if where == "first" else 3, b'"id":' + json.dumps(wanted).encode())
            line = b"{" + b",".join(members) + b"}"
            client.write(line + b"\n")
            answer = client.answer(wanted)
            told = text_of(answer["result"]) if i < 5 else answer["error"]["message"]
            check(f"{era}, id {where}: {name} is answered", words in told and (i >= 5 or answer["result"]["isError"] is True), answer)
            if i < 5:
                at = int(told.split("at byte ")[1].split()[0]) - 1
                check("and says where", line[at : at + 2] in (b"\\u", b"\xed\xa0", b"\xff\xc3"), (at, line[at : at + 8]))
                equal("in the form of its era", answer["result"].get("resultType"), "complete" if era == "modern" else None)
    client.write(b'{"method":"%s","params":{%s"x":"\\ud83d"},"jsonrpc":"2.0","id":"half"}\n' % (b"tools/list", meta))
    equal(f"{era}: half a character for another method", client.answer("half")["error"]["code"], -32700)
    waiting = client.start("tools/call", name="wait", arguments={"timeout": "10m", "issue": "none"})
    client.write(b'{"method":"notifications/cancelled","params":{"reason":"\\ud83d","requestId":%d},"jsonrpc":"2.0"}\n' % waiting)
    for i in range(100):  # its id is free once it has ended
        client.last = 1000 + i
        client.call("wait", timeout="100ms", issue="none")
        client.last = waiting - 1
        again = client.ask("tools/list")
        if "result" in again:
            break
    check(f"{era}: a cancellation with half a character cancels", "result" in again, again)
    code, seconds, err = client.end()
    equal(f"{era}: all is well", (code, err), (0, ""))
equal("nothing of it was stored", roger("list", "--count", "--to", "unread").stdout.strip(), "0")
client = Client("--as", "bob")
for name, data in (("no JSON", b"hello\n"), ("a torn object", b'{"jsonrpc":"2.0",\n'), ("not UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"\xff"}\n'),
                   ("deep", b"[" * 100000 + b"\n"), ("a number", b"7\n"), ("nothing", b"\n\n\n"), ("NULs", b"\0" * 1000 + b"\n"),
                   ("no method", b'{"jsonrpc":"2.0","id":77}\n'), ("wrong types", b'{"jsonrpc":2,"id":{},"method":[],"params":7}\n'),
                   ("one member twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}\n'),
                   ("ids reused", b'{"jsonrpc":"2.0","id":5,"method":"ping"}\n' * 100), ("huge", b'{"jsonrpc":"2.0","id":1,"method":"' + b"x" * (20 << 20) + b'"}\n')):
    client.write(data)
    while client.read(0.3) is not None:
        pass
    client.answers.clear()
    check(f"lives on after {name}", "result" in client.ask("ping"))
for i in range(2000):
    client.start("tools/call", name="dead_letters", arguments={})  # short answers, which are kept while nobody reads
last = client.start("ping")
check("a flood is answered", "result" in client.answer(last, 60))
client.end()
client = Client("--as", "bob")
client.write(b'{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"send","arguments":{"to":"x","content":"half')
equal("a half line at the end is no call", client.end()[0], 0)
equal("and stores nothing", roger("list", "--count", "--to", "x").stdout.strip(), "0")
closed = subprocess.run(["sh", "-c", f"exec '{ROGER}' mcp --as bob <&-"], capture_output=True, timeout=60)
equal("no standard input is its end", (closed.returncode, closed.stdout), (0, b""))
client = Client("--as", "bob")
client.process.stdout.close()
try:
    for i in range(100):
        client.start("tools/list")
        time.sleep(0.01)
except BrokenPipeError:
    pass
check("a client that does not read ends it", client.process.wait(20) is not None)
client = Client("--as", "bob")
result = client.call("send", to="killed", content="before")
client.process.kill()
client.process.wait()
check("killed: what it said is stored is stored", "before" in roger("show", result["structuredContent"]["messages"][0]["id"]).stdout)
sent = roger("send", "--batch", "--as", "ann", text="".join('{"to":"busy","content":"m"}\n' for _ in range(60)))
client = Client("--as", "busy")
mail = client.call("inbox")["structuredContent"]
equal("a full page of mail", (len(mail["messages"]), mail["unread"]), (50, 60))
mail = client.call("inbox", limit=60)["structuredContent"]["messages"]
equal("and another one", len(mail), 60)
result = client.call("ack", ids=[message["id"] for message in mail])
equal("acked at once", (result.get("isError"), len(result["structuredContent"]["messages"])), (None, 60))
check("without being told again", '"m"' not in json.dumps(result), result)
check("and in few words", len(json.dumps(result)) < 80 * 60, len(json.dumps(result)))
family, persian, hindi = "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937"
passes = f"{family} {persian} {hindi} \ufeff\u200e\u200f\u00ad\u061c"
evil = "BEGIN\u202e\u2066\u200b\r\n\x1b[31m\t\u00e9\U000e0041\x85 \\u001b \\\\ \u2028> sly\u2029 lone\r " + passes
metadata = {"a": "\u202e\U000e0041\r\n\u00e9\u200d"}
roger("send", "busy", "--as", "ann", "--metadata", json.dumps(metadata), evil)
result = client.call("inbox")
told = result["structuredContent"]
check("JSON says whose words they are, too", "not from the user" in told["about"] and "nobody has checked" in told["about"], told)
equal("and holds the text as it was stored", told["messages"][0]["content"], evil)
check("the text shows what steers and reorders, and no more", "> BEGIN<U+202E><U+2066>\u200b\n> <U+001B>[31m\t\u00e9<U+E0041><U+0085>" in text_of(result), text_of(result))
check("and leaves joiners, marks and emoji as they are", passes in text_of(result), text_of(result))
check("and frames what a line separator begins", "\u2028> > sly\u2029>  lone<U+000D> " in text_of(result), text_of(result))
roger("send", "--batch", "--as", "ann", text="".join('{"to":"laden","content":"%s"}\n' % ("x" * 9000) for _ in range(20)))
contents = client.ask("resources/read", uri="roger://inbox/laden")["result"]["contents"][0]["text"]
laden = json.loads(contents)
check("an inbox that is read as a resource keeps to a result's budget", len(contents) < 30000 and len(laden["messages"]) < 5, len(contents))
check("and tells what is left out", f"{20 - len(laden['messages'])} more" in laden["about"] and "not from the user" in laden["about"], laden["about"])
last = laden["messages"][-1]
check("and a text that is cut says so", last.get("truncated") is True and last["bytes"] == 9000 and set(last["content"]) == {"x"}
      and len(last["content"]) < 9000 and "truncated" in laden["about"], {**last, "content": len(last["content"])})
check("others do not", all("truncated" not in one and len(one["content"]) == 9000 for one in laden["messages"][:-1]))
contents = client.ask("resources/read", uri="roger://issue/general")["result"]["contents"][0]["text"]
check("so does an issue", len(contents) < 60000, len(contents))
equal("in metadata as well", told["messages"][0]["metadata"], metadata)
check("as its schema says", conforms(schemas["inbox"]["outputSchema"], told))
resource = client.ask("resources/read", uri="roger://inbox/busy")["result"]["contents"][0]["text"]
check("resources are exact, and escape what cannot be seen", "\u202e" not in resource and "\u200d" not in resource
      and next(one for one in json.loads(resource)["messages"] if one["id"] == told["messages"][0]["id"])["content"] == evil, resource)
for i in range(3):
    roger("send", "busy", "-", "--as", "ann", text=f"{i}" + "x" * 9900)
result = client.call("inbox")
equal("JSON holds no more than the text", len(result["structuredContent"]["messages"]), text_of(result).count("\nfrom ann #"))
check("and says so", "1 more; ack these first" in result["structuredContent"]["about"] and len(json.dumps(result)) < 50000, len(json.dumps(result)))
check("what is wrong is told by the argument's name", text_of(client.call("send", to="x", content="")).startswith("content "))
equal("the server goes on", client.end()[0], 0)
equal("the workspace is sound", roger("doctor", "-q").returncode, 0)

# ------------------------------------------------------------ damage
journal = Path(".roger/messages.jsonl")
client = Client("--as", "busy")
client.call("inbox")
said = roger("send", "busy", "--as", "ann", "the last one", "--json").stdout
last = json.loads(said)["messages"][0]["id"]
data = bytearray(journal.read_bytes())
data[data.rindex(b"the last one")] ^= 1
with open(journal, "r+b") as file:
    file.write(data)
place = f"messages.jsonl:{data.count(10)}"
CALLS = [("inbox", {"limit": 1}), ("send", {"to": ["ann"], "content": "hi"}), ("agents", {}), ("thread", {"id": last}),
         ("wait", {"timeout": "1s"}), ("ack", {"ids": [last]}), ("run", {"action": "status"}), ("dead_letters", {})]
for tool, arguments in CALLS:
    result = client.call(tool, **arguments)
    check(f"{tool} tells that a line is damaged", f"Damaged: {place} is altered" in text_of(result)
          and result["structuredContent"]["damage"].startswith(place), result)
    check("as its schema allows, and without a content", conforms(schemas[tool]["outputSchema"], result["structuredContent"])
          and "last one" not in result["structuredContent"]["damage"], result)
check("so does a resource", place in client.ask("resources/read", uri="roger://inbox/busy")["result"]["contents"][0]["text"])
check("and a prompt", place in json.dumps(client.ask("prompts/get", name="check_inbox")["result"]))
equal("a person accepts it", roger("dismiss", place, "--reason", "a test").returncode, 0)
for tool, arguments in CALLS[:5]:
    result = client.call(tool, **arguments)
    check(f"{tool} tells no more", "Damaged" not in text_of(result) and "damage" not in result["structuredContent"], result)
journal.rename("kept")
result = client.call("inbox")
check("a journal that is gone is told by the next call", "messages.jsonl is gone" in text_of(result)
      and "messages.jsonl is gone" in result["structuredContent"]["damage"], result)
check("and takes nothing", client.call("send", to=["ann"], content="lost?").get("isError"))
Path("kept").rename(journal)
result = client.call("inbox")
check("what takes its place is read by the same server", not result.get("isError") and result["structuredContent"]["messages"], result)
check("that it was gone is told until that is accepted", "messages.jsonl is gone" in text_of(result), text_of(result)[-500:])
roger("dismiss", "messages.jsonl", "--reason", "put back")
check("and it can be written to", not client.call("send", to=["ann"], content="again").get("isError"))
before = journal.read_bytes()
Path(".roger").rename("moved")
for what in ("moved", "made anew", "removed"):
    if what == "made anew":
        roger("init", "-q")
    if what == "removed":
        shutil.rmtree(".roger")
    for tool, arguments in CALLS[:3]:
        result = client.call(tool, **arguments)
        check(f"{tool} tells that the workspace was {what}, and what to do", result.get("isError")
              and text_of(result) == "the workspace was removed, moved or made anew; start this program again", result)
equal("and stores nothing in the old one", Path("moved/messages.jsonl").read_bytes(), before)
equal("that goes on", client.end()[0], 0)
done()
