#!/usr/bin/env python3
# runner: timeout 300
"""roger on a machine without a copy: ROGER_SERVER, its token, the same output and the same exit
status as beside the workspace; servers that lie, redirect or ask for another's token."""
import http.server
import shutil
import ssl
import threading
import time

from lib_serve import *

if not (ROGER.parent / "roger-remote").exists():
    print("ok 1 - no client # skip built without libcurl\n1..1")
    sys.exit(0)

# The other machine: an empty folder, another HOME.
ELSEWHERE = Path(FOLDER.name) / "elsewhere"
OTHER_HOME = Path(FOLDER.name) / "home"
for folder in (ELSEWHERE, OTHER_HOME):
    folder.mkdir(mode=0o700)
ENV = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER", "XDG_"))}
ENV.update(HOME=str(OTHER_HOME), TZ="UTC")
ENV["PATH"] = f"{ROGER.parent}:{ENV['PATH']}"
os.environ["TZ"] = "UTC"
TWIN = Path(FOLDER.name) / "twin"
TWIN.mkdir()
subprocess.run([ROGER, "init", TWIN], check=True, capture_output=True)
os.environ["ROGER_TRUST"] = str(WORKSPACE.resolve())


def remote(*words, server=None, token=None, status=None, env=None, **more):
    given = {**ENV, "ROGER_SERVER": server or f"unix:{serving.path}", **(env or {})}
    if token:
        given["ROGER_TOKEN"] = token
    ended = subprocess.run([ROGER, *map(str, words)], capture_output=True, text=True, cwd=ELSEWHERE, env=given, timeout=120, **more)
    if status is not None and ended.returncode != status:
        check(f"remote {' '.join(map(str, words))} ends with {status}", False, (ended.returncode, ended.stdout, ended.stderr))
    return ended


def local(*words, **more):
    return subprocess.run([ROGER, "--workspace", TWIN, *map(str, words)], capture_output=True, text=True, env={**ENV, "HOME": FOLDER.name, "ROGER_TRUST": str(TWIN.resolve())}, **more)


class Names:
    """What differs from run to run, and from workspace to workspace, by its order."""

    def __init__(self):
        self.ids = {}

    def same(self, text):
        text = re.sub(r"msg-\d{13}-[0-9a-f]{16}", lambda found: f"<id {self.ids.setdefault(found[0], len(self.ids))}>", text)
        text = re.sub(r"msg-\d{13}-[0-9a-f]*#8230;", "<cut id>", text)
        text = re.sub(r"(run by |\()(uid \d+(, \w+)*|socket)", r"\1<who>", text)
        text = text.replace(str(WORKSPACE), "<w>").replace(str(TWIN), "<w>")
        # The server does the chores of its own workspace.
        text = re.sub(r'^chores: .*\n|,"chores":\[[^]]*\]', "", text, flags=re.M)
        # These are noted in the activity log, late ones between two commands.
        text = re.sub(r'(activity\.log\.jsonl(?:","bytes":\d+,"lines":| +))\d+(,"chained":| lines, +)\d+', r"\1<lines>\2<lines>", text)
        text = re.sub(r'^(\{"format":1,"lines":)\d+(,"messages":\d+,"chained":)\d+|^\d+ lines?, \d+ chained', r"\1<lines>\2<lines>", text, flags=re.M)
        text = re.sub(r'("bytes":\d+,"lines":)\d+(,"messages":)', r"\1<lines>\2", text)
        text = re.sub(r'^journals in .*\n|,"store":"[^"]*","served_by":"[^"]*"', "", text, flags=re.M)
        text = re.sub(r"\b[0-9a-f]{16,128}\b", "<hash>", text)
        text = re.sub(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?Z?", "<time>", text)
        text = re.sub(r"\b1[0-9]{12}\b", "<time>", text)
        text = re.sub(r"\b\d\d:\d\d(:\d\d)?(\.\d+)?\b", "<time>", text)
        text = re.sub(r"\b\d+(\.\d+)?(ms|s)\b( \d+(ms|s))?|\b\d+ min(?= left)", "<span>", text)
        text = re.sub(r'"(took|looked|look_p50|look_p95|look_max|latency_p50|latency_p95|latency_max)(_ms)?":\d+', r'"\1":<span>', text)
        text = re.sub(r'("(?:journal_bytes|bytes)"|journal +):?[0-9]+', r"\1<bytes>", text)
        return re.sub(r"  +", "  ", text)


def first_id(names, number):
    return next(id for id, place in names.ids.items() if place == number)


serving = Server("--listen", "127.0.0.1:0")
here, there = Names(), Names()
called = set()
commands = {command["name"] for command in json.loads(subprocess.run([ROGER, "help", "--json"], capture_output=True, text=True).stdout)["commands"]}


def compare(*words, input=None, forms=("", "--json", "--jsonl")):
    """ID:N is the Nth id that either side has printed so far."""
    called.add(" ".join(words[:2]) if " ".join(words[:2]) in commands else words[0])
    for form in forms:
        more = [form] if form else []
        sides = []
        for run, names in ((local, here), (remote, there)):
            known = [first_id(names, int(word[3:])) if word.startswith("ID:") else word for word in words]
            ended = run(*known, *more, input=input)
            sides.append((ended.returncode, names.same(ended.stdout), names.same(ended.stderr)))
        if sides[0] != sides[1]:
            equal(f"{' '.join(words)} {form}", sides[1], sides[0])


before = len(called)
ONCE = ("",)
compare("send", "bob", "hello bob", "--as", "al", "--key", "t:status-update:1", "--issue", "app", forms=ONCE)
compare("send", "bob", "hello bob", "--as", "al", "--key", "t:status-update:1", "--issue", "app")
compare("send", "bob", "another text", "--as", "al", "--key", "t:status-update:1", "--issue", "app")
compare("send", "bob,carol", "-", "--as", "al", "--key", "t:status-update:2", "--type", "result", "--metadata", '{"a":[1,2.50,"x"]}', input="two\nlines \u202e\x1b[31m\n", forms=("--json",))
compare("send", "bob", "by its parts", "--as", "al", "--task", "part", "--verb", "escalation", forms=ONCE)
compare("send", "bbo", "a slip", "--as", "al", "--key", "t:status-update:3")
compare("send", "bob", "read it", "--as", "al", "--confirm", "read", "--within", "1s", forms=ONCE)
compare("send", "bob", "nothing", "--as", "al", "--dry-run")
compare("send", "bob", "--as", "al")
compare("send", "--batch", "--as", "al", input='{"to":["dan"],"content":"one","key":"b:status-update:1"}\n{"to":["dan"],"content":"two","key":"b:status-update:2"}\n', forms=("--json",))
compare("send", "--batch", "--as", "al", input='{"to":["dan"],"content":"one","key":"b:status-update:1"}\nnot json\n')
compare("send", "bob", "x" * 20000, "--as", "al", "--key", "long:status-update:1", forms=ONCE)
compare("inbox", "--as", "bob", "--limit", "1")
compare("inbox", "--as", "nobody-yet")
compare("list")
compare("list", "--type", "result", "--newest", "--limit", "1")
compare("list", "hello")
compare("list", "--count")
compare("why", "bob")
compare("why", "nobody-yet")
compare("why", "ID:0")
compare("list", "--since", "1h", "--until", "2100-01-01")
compare("list", "--limit", "0")
compare("list", "--print", "content", forms=ONCE)
compare("list", "--print", "nothing-of-that-name", forms=ONCE)
compare("show", "ID:0")
compare("show", "al#1", "--thread")
compare("show", "nothing-of-that-name")
compare("reply", "al#1", "an answer", "--as", "bob", "--key", "r:status-update:1", forms=ONCE)
compare("trace", "ID:0")
compare("trace", "t:status-update:2")
compare("prime", "--as", "bob")
compare("arrive", "--as", "bob", "--session", "s1", forms=ONCE)
compare("looked", "ID:0", "--as", "bob", forms=ONCE)
compare("receive", "--as", "carol")
compare("wait", "--as", "bob", "--timeout", "1ms")
compare("wait", "--as", "carol", "--timeout", "1ms")
compare("claim", "--as", "bob", "--lease", "1h", forms=("--json",))
compare("nack", "ID:0", "--as", "bob", forms=ONCE)
compare("claim", "--as", "bob", "--worker", "w1", "--limit", "2", forms=ONCE)
compare("ack", "ID:0", "--as", "bob", "--worker", "w1", "--note", "seen")
compare("ack", "ID:0", "--as", "dan")
compare("agents")
compare("agents retire", forms=ONCE)
compare("agents", "retire", "carol", "--to", "bob", "--reason", "gone", forms=ONCE)
compare("agents", "retire", "--json", forms=ONCE)
compare("agents", "session")
compare("agents", "session", "new", forms=ONCE)
compare("log", "cycle")
compare("log", "cycle", "new", forms=ONCE)
compare("log", "sends")
compare("log", "sends", "--from", "al", "--lines")
compare("dead")
compare("dead", "redeliver", "none-of-that-name")
compare("dismiss", "none-of-that-name")
compare("log", "purge", "--dry-run")
compare("log", "purge", forms=ONCE)
compare("log", "--task", "t1", "--type", "FILE_READ", "--status", "SUCCESS", "--message", "read it", "--at", "2026-01-01T00:00:00Z", forms=ONCE)
compare("log", "--import", "-", input='{"timestamp":"2026-01-01T00:00:00Z"}\n')
compare("log", "--task", "t1")
compare("log", "activity", "--until", "2026-01-02")
compare("activity", "--until", "2026-01-02")
compare("dispatch", "run-1", "--as", "al", "--within", "1h", "--issue", "app")
compare("runs", "extend", "run-1", "--by", "10m", "--reason", "slow", forms=ONCE)
compare("complete", "run-1", "--result", "done and dusted", forms=("--json",))
compare("runs", "forward", "run-1")
compare("dismiss", "run-1", "--as", "al")
compare("runs", "recover", "run-1")
compare("runs")
compare("runs", "run-1")
compare("runs", "sweep")
compare("status")
compare("report", "stats")
compare("report", "stats", "--by-issue")
compare("report")
compare("timeline", "app")
compare("timeline", "app", "--mermaid", forms=ONCE)
compare("timeline", "--agent", "bob", "--limit", "3")
many = "".join(f'{{"to":["m{n % 5}"],"content":"text {n}","issue":"many","key":"many:status-update:{n}","new":true}}\n' for n in range(400))
compare("send", "--batch", "--as", "al", input=many, forms=ONCE)
compare("timeline", "many", "--limit", "400", forms=ONCE)
compare("list", "--issue", "many", "--limit", "400", forms=("--json",))
compare("show", *(f"ID:{number}" for number in range(len(here.ids) - 400, len(here.ids))), forms=("--json",))
compare("archive", "ID:0", "--reason", "done", forms=("--json",))
compare("cleanup", "--keep-per-agent", "0", "--dry-run")
compare("cleanup", "--history")
compare("bridge", "ingest", "(al #9): from a file", "--as", "bob", forms=("--json",))
compare("verify")
compare("doctor")
compare("dismiss", "messages.jsonl:1", "--reason", "none")
compare("doctor", "rebuild")
compare("config", forms=ONCE)
compare("schema", "send")
compare("help", "send", forms=ONCE)
compare("version")
compare("send", "--as")
compare("inbox")
check("every verb answers and ends from another machine as it does beside the workspace, in every form", called, sorted(called))
LOCAL = {"init", "setup", "trust", "serve", "token", "ui", "move", "upgrade", "backup", "restore"}
OTHERWISE = {"hook", "mcp", "seal", "export", "completion", "run", "wake", "bridge", "top"}  # t6407
equal("none is left out", sorted(commands - called - LOCAL - OTHERWISE), [])

# ------------------------------------------------- what is for the other machine

for words in (["init"], ["setup", "claude"], ["trust"], ["serve"], ["ui"], ["token", "list"], ["move", "there"], ["upgrade"], ["backup", "x.tar"], ["restore", "x.tar"]):
    ended = remote(*words)
    check(f"{words[0]} is for the machine with the workspace, and says so", ended.returncode == 64 and "ROGER_SERVER" in ended.stderr, (ended.returncode, ended.stderr))
check("nothing was made here", not list(ELSEWHERE.iterdir()), list(ELSEWHERE.iterdir()))
equal("a workspace that is named is one of this machine", remote("--workspace", TWIN, "session", "--json").returncode, 0)

# ------------------------------------------------------------ keys, following, waiting

sent = remote("send", "eve", "unkeyed", "--as", "al", "--json", status=0)
equal("an unkeyed send prints what it prints beside the workspace", sorted(json.loads(sent.stdout)), sorted(json.loads(local("send", "eve", "unkeyed", "--as", "al", "--json").stdout)))
check("and has a key", json.loads(remote("list", "--to", "eve", "--json").stdout)["messages"][0].get("key", "").startswith("remote-"))
notes = [one for one in json.loads(remote("log", "--json").stdout)["activities"] if one["action"]["details"].get("verb") == "send"]
equal("which is no task of its note", (notes[-1]["task"], notes[-1]["action"]["details"]["agent"]), ("general", "al"))

follower = subprocess.Popen([ROGER, "list", "-f", "--jsonl", "--to", "fay"], stdout=subprocess.PIPE, text=True, cwd=ELSEWHERE, env={**ENV, "ROGER_SERVER": f"unix:{serving.path}"})
waiter = subprocess.Popen([ROGER, "wait", "--as", "fay"], stdout=subprocess.PIPE, text=True, cwd=ELSEWHERE, env={**ENV, "ROGER_SERVER": f"unix:{serving.path}"})
roger("send", "fay", "here it is", "--as", "al")
check("wait ends when a message comes", "al" in waiter.communicate(timeout=100)[0] and waiter.returncode == 0)
equal("list -f prints it", json.loads(follower.stdout.readline())["content"], "here it is")
roger("send", "fay", "and another", "--as", "al")
equal("and the next one", json.loads(follower.stdout.readline())["content"], "and another")
follower.terminate()
equal("and ends when it is told to", follower.wait(100), 0)
equal("receive takes them", [m["content"] for m in json.loads(remote("receive", "--as", "fay", "--wait", "1h", "--json").stdout)["messages"]], ["here it is", "and another"])
exported = remote("export", "app", "--html")
check("a page can be exported", exported.returncode == 0 and "hello bob" in exported.stdout, exported.stderr)
check("a seal is the server's", remote("seal").returncode == 0)

# ----------------------------------------------------------------------- tokens

tcp = f"http://127.0.0.1:{serving.port}"
tokens = {right: roger("token", "new", "gus", "--right", right).stdout.strip() for right in ("look", "act", "administer")}
equal("over TCP with a token", remote("list", "--count", server=tcp, token=tokens["look"]).returncode, 0)
revoked = roger("token", "new", "ray").stdout.strip()
roger("token", "revoke", "ray")
expired = roger("token", "new", "old", "--expires", "1ms").stdout.strip()
for name, token, says in (("no", None, "no token came"), ("a wrong", "roger-" + "0" * 64, "not known here"), ("a revoked", revoked, "not known here"),
                          ("an expired", expired, "has expired")):
    ended = remote("list", "--count", server=tcp, token=token)
    check(f"{name} token is refused, and the answer says which and what to do",
          ended.returncode == 77 and all(one in ended.stderr for one in (says, "`roger token new NAME`", "ROGER_TOKEN")) and ended.stderr.count("\n") == 1,
          (ended.returncode, ended.stderr))
ended = remote("send", "bob", "as gus", "--as", "gus", server=tcp, token=tokens["look"])
check("one that may look cannot send", ended.returncode == 77 and "may look" in ended.stderr, ended.stderr)
ended = remote("send", "bob", "as gus", "--as", "gus", server=tcp, token=tokens["act"], status=0)
equal("one that may act does, and it is proved", json.loads(remote("list", "--from", "gus", "--json").stdout)["messages"][0]["proved"], "token")
lists = {right: remote("list", "--limit", "0", server=tcp, token=token).stdout for right, token in tokens.items()}
check("a list is the same for each of them", "gus#1  " in lists["look"] and len(set(lists.values())) == 1, lists)
equal("but as nobody else", remote("send", "bob", "as al", "--as", "al", server=tcp, token=tokens["act"]).returncode, 77)
equal("nor does it administer", remote("doctor", "rebuild", server=tcp, token=tokens["act"]).returncode, 77)
equal("where another does", remote("doctor", "rebuild", server=tcp, token=tokens["administer"]).returncode, 0)

SERVERS = OTHER_HOME / ".config/roger/servers"
SERVERS.parent.mkdir(parents=True)
SERVERS.write_text(f"# mine\nhttps://example.org {tokens['look']}\n{tcp}/ {tokens['act']}\n")
SERVERS.chmod(0o600)
equal("a token may be in a file of the user's", remote("send", "bob", "by the file", "--as", "gus", server=tcp).returncode, 0)
SERVERS.write_text(f"\ufeff{tcp} {tokens['act']}\n")
equal("also behind the mark that some editors put before a text", remote("send", "bob", "by the file", "--as", "gus", server=tcp).returncode, 0)
SERVERS.chmod(0o640)
ended = remote("list", "--count", server=tcp)
check("which others cannot read", ended.returncode == 77 and "0600" in ended.stderr, ended.stderr)
SERVERS.chmod(0o600)
(ELSEWHERE / ".roger").mkdir()
(ELSEWHERE / ".roger/config.yaml").write_text(f"server: {tcp}\ntoken: {tokens['administer']}\n")
equal("no workspace names a server or a token", remote("doctor", "rebuild", server=tcp).returncode, 77)
(ELSEWHERE / ".roger/config.yaml").unlink()
(ELSEWHERE / ".roger").rmdir()

# --------------------------------------------------------------- strange servers


class Strange:
    """Answers each request with what it is given, and notes what it was told."""

    def __init__(self, status=200, headers=(), body=b"{}", tls=None):
        self.told = told = []
        self.asked = asked = threading.Semaphore(0)
        stall = self.stall

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            given = (status, body)

            def answer(self):
                status, body = self.given
                told.append((self.path, self.headers.get("Authorization"), self.rfile.read(int(self.headers.get("Content-Length") or 0))))
                asked.release()
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                if body is None:
                    stall(self)
                    return
                length = body if isinstance(body, int) else len(body)
                self.send_header("Content-Length", str(length))
                self.end_headers()
                try:
                    if isinstance(body, int):
                        for _ in range(body // 65536):
                            self.wfile.write(b"[" * 65536)
                    else:
                        self.wfile.write(body)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = answer

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *words: None
        self.over = threading.Event()
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"{'https' if tls else 'http'}://localhost:{self.server.server_port}"

    def stall(self, handler):
        handler.end_headers()
        self.over.wait(60)

    def end(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()


def strange(name, expected, words=("list", "--count"), says="", **given):
    server = Strange(**given)
    ended = remote(*words, server=server.url, token="roger-secret")
    check(name, ended.returncode in expected and says in ended.stderr and "\x1b" not in ended.stdout + ended.stderr and "roger-secret" not in ended.stdout + ended.stderr, (ended.returncode, ended.stdout[:300], ended.stderr))
    server.end()
    return server


# These take their time beside what follows.
mute = socket.create_server(("127.0.0.1", 0))
began = time.monotonic()
patient = {words: subprocess.Popen([ROGER, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ELSEWHERE, env={**ENV, "ROGER_SERVER": server})
           for words, server in ((("count",), f"http://127.0.0.1:{mute.getsockname()[1]}"), (("send", "nobody", "hi", "--as", "al", "--new"), f"http://localhost:{mute.getsockname()[1]}"),
                                 (("send", "nobody", "read me", "--as", "al", "--new", "--key", "r:status-update:7", "--confirm", "read", "--within", "12s"), f"unix:{serving.path}"))}
ended_at = {}


def wait_for(words):
    said = patient[words].communicate(timeout=100)
    ended_at[words] = (time.monotonic() - began, patient[words].returncode, *said)


waiters = [threading.Thread(target=wait_for, args=(words,)) for words in patient]
for waiter in waiters:
    waiter.start()

other = Strange()
for status in (301, 302, 307, 308):
    strange(f"a redirect ({status}) is not followed", [78], status=status, headers=[("Location", f"{other.url}/v1/count")], says="not followed")
equal("so nobody else sees the token", other.told, [])
ended = remote("list", "--count", server=other.url)
equal("a token of the file goes to its own server alone", [authorization for _, authorization, _ in other.told], [None])
other.end()
SEND = ("send", "bob", "hi", "--as", "al")
strange("an answer that is no JSON", [69], body=b"<html>", says="not one of roger's")
ended = remote("list", server=f"http://127.0.0.1:{serving.port}/elsewhere")
check("a path that the server does not have is no wrong command", ended.returncode == 69 and "no such path; is ROGER_SERVER right" in ended.stderr, (ended.returncode, ended.stderr))
strange("or of another kind", [69], body=b'{"format":1,"count":"many"}')
strange("or an object of another program", [69], words=("inbox", "--as", "bob"), body=b"{}", says="format: missing")
strange("which has stored nothing", [75], words=SEND, body=b'{"ok":true}', says="not known")
strange("of wrong types", [69], words=("inbox", "--as", "bob"), body=b'{"format":1,"messages":{"a":1},"unread":[]}')
strange("nested without end", [69], body=b"[" * 100000)
strange("without what it must have", [69], words=("inbox", "--as", "bob"), body=b'{"format":1,"messages":[{"id":"x"}]}')
strange("after a write, where nobody knows what came of it", [75], words=SEND, body=b"nonsense", says="not known")
strange("longer than anything is read", [69], body=(128 << 20) + (1 << 20), says="too long")
strange("an error of nobody's", [69], status=418, body=b"teapot")
strange("an error with control characters", [65], status=422, body=json.dumps({"type": "urn:roger:error:data", "detail": "\x1b[2Jx\ny", "member": "a\x07", "exit": 65}).encode(), says="?[2Jx?y")
strange("an exit status that is none", [69], status=500, body=b'{"type":"urn:roger:error:x","detail":"d","exit":0}')
strange("a store elsewhere is not looked for", [69], status=503, body=b'{"type":"urn:roger:error:engine","detail":"d","member":"store","exit":69}')
hostile = json.dumps({"format": 1, "messages": [{"id": "msg-1-1", "issue": "app", "from": "al", "to": "bob", "pass": 1, "type": "context", "content": "\x1b]0;t\x07\u202eevil", "metadata": None, "read": False, "created_at": 1795397390478, "read_at": None, "seq": 1, "epoch": 1, "what": {"is": "new"}}], "unread": 9223372036854775807, "notes": ["\x1b[31m"], "newer": [1]})
strange("text of agents is as harmless as ever", [0], words=("inbox", "--as", "bob", "--json"), body=hostile.encode())
stalled = Strange(body=None)
ended = remote("hook", "claude", "prompt", "--as", "bob", server=stalled.url, input="{}")
equal("a hook does not wait for a slow server, and says so", (ended.returncode, list(json.loads(ended.stdout))), (0, ["systemMessage"]))
# The hook noted that one as down, and a command gives it up after a second.
silent = Strange(body=None)
waiting = subprocess.Popen([ROGER, "send", "bob", "hi", "--as", "al"], stderr=subprocess.PIPE, text=True, cwd=ELSEWHERE, env={**ENV, "ROGER_SERVER": silent.url})
silent.asked.acquire()
waiting.send_signal(signal.SIGTERM)
equal("and a command ends when it is told to", waiting.wait(60), -signal.SIGTERM)
stalled.end()
silent.end()
# A time as people write it is in the zone of the machine where it is typed.
remote("dispatch", "zoned", "--as", "al", "--expected-by", "2090-01-01 10:00", env={"TZ": "Etc/GMT-14"}, status=0)
check("a deadline is in the zone of the machine where it is typed", '"expected_by":"2089-12-31T20:00:00.000Z"' in remote("runs", "zoned", "--json").stdout, remote("runs", "zoned", "--json").stdout)

# What waits in the outbox is sent when a server of roger says that it is stored, and not when anybody else answers.
portal_env = {"XDG_STATE_HOME": f"{FOLDER.name}/portal-state"}
for body in (b"<html>sign in</html>", b"", b"{}", b'{"ok":true}'):
    portal = Strange(status=502)
    remote("send", "bob", "kept", "--as", "al", "--queue", server=portal.url, env=portal_env, status=0)
    for down in Path(portal_env["XDG_STATE_HOME"]).rglob("down-*"):
        down.unlink()
    portal.server.RequestHandlerClass.given = (200, body)
    remote("list", server=portal.url, env=portal_env)
    portal.end()
    check(f"what waits in the outbox stays there where the answer is {body}", any(b"kept" in path.read_bytes() for path in Path(portal_env["XDG_STATE_HOME"]).rglob("*.json")))
    shutil.rmtree(portal_env["XDG_STATE_HOME"])

# A proxy that reaches nobody is nobody there; that is kept, and the next commands say since when.
for status in (502, 503, 504):
    gateway = Strange(status=status, body=b"<html>bad gateway</html>")
    ended = remote("send", "bob", "kept", "--as", "al", "--queue", server=gateway.url)
    check(f"{status}: --queue queues", ended.returncode == 0 and "queued" in ended.stdout, (ended.returncode, ended.stdout, ended.stderr))
    ended = remote("send", "bob", "", "--queue", server=gateway.url, token="of-somebody")
    check(f"{status}: but nothing that no server takes", ended.returncode == 64 and "content is required" in ended.stderr, (ended.returncode, ended.stderr))
    gateway.told.clear()
    ended = remote("inbox", "--as", "bob", server=gateway.url)
    check(f"{status}: the next command says since when it is down", ended.returncode == 75 and "down since 20" in ended.stderr and f"status {status}" in ended.stderr, (ended.returncode, ended.stderr))
    equal(f"{status}: having asked nothing but whether anybody is there", {path for path, _, _ in gateway.told}, {"/healthz"})
    ended = remote("hook", "claude", "prompt", "--as", "bob", server=gateway.url, input=json.dumps({"session_id": "s", "transcript_path": "", "cwd": "", "hook_event_name": ""}))
    check(f"{status}: a hook says so in one line", ended.returncode == 0 and "down since" in json.loads(ended.stdout)["systemMessage"] and json.loads(ended.stdout)["systemMessage"].count("\n") == 0, (ended.stdout, ended.stderr))
    gateway.end()
waits = [concern for concern in json.loads(remote("status", "--json").stdout)["concerns"] if "another server" in concern["words"]]
check("what waits for another address stays in sight", len(waits) == 1 and waits[0]["count"] == 1 and "1 message of this machine waits for another server, http://" in waits[0]["words"], waits)
step = subprocess.run(waits[0]["next"].replace("roger status", f"{ROGER} status"), shell=True, env={**ENV, "ROGER_SERVER": ""}, capture_output=True, text=True, cwd=ELSEWHERE)
check("and its step asks that one", step.returncode == 75 and "down since 20" in step.stderr and "1 message in the outbox" in step.stderr, (step.returncode, step.stderr))
# A server that takes connections and gives no answer costs one hook its time, and the next ones a second at most.
PROMPT = json.dumps({"session_id": "s", "transcript_path": "", "cwd": "", "hook_event_name": ""})


def take_connections(listener, closes):
    kept = []
    while True:
        try:
            kept.append(listener.accept()[0])
        except OSError:
            return
        if closes:
            kept.pop().close()


for number, (kind, closes) in enumerate(((socket.AF_UNIX, True), (socket.AF_UNIX, False), (socket.AF_INET, True), (socket.AF_INET, False))):
    listener = socket.socket(kind)
    listener.bind(f"{FOLDER.name}/mute-{number}" if kind == socket.AF_UNIX else ("127.0.0.1", 0))
    listener.listen()
    address = f"unix:{FOLDER.name}/mute-{number}" if kind == socket.AF_UNIX else f"http://127.0.0.1:{listener.getsockname()[1]}"
    threading.Thread(target=take_connections, args=(listener, closes), daemon=True).start()
    what = f"{'a unix socket' if kind == socket.AF_UNIX else 'a port'} that {'closes' if closes else 'says nothing'}"
    for words, limit, says in ((("prompt", "--as", "bob"), 4.5, ""), (("prompt", "--as", "bob"), 2.5, "down since 20"), (("prompt",), 2.5, "down since 20"), (("tool", "--as", "bob"), 2.5, None)):
        began = time.monotonic()
        ended = remote("hook", "claude", *words, server=address, token="roger-secret", input=PROMPT)
        took = time.monotonic() - began
        said = json.loads(ended.stdout)["systemMessage"] if ended.stdout else None
        check(f"{what}: hook {' '.join(words)}", ended.returncode == 0 and took < limit and (said is None if says is None else said and says in said and "did not answer within 5 s" not in said), (took, ended.stdout, ended.stderr))
    check(f"{what}: other commands say so, too", "down since 20" in remote("list", server=address, status=75).stderr)
    # Somebody answers again.
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    if kind == socket.AF_UNIX:
        os.unlink(f"{FOLDER.name}/mute-{number}")
        os.link(serving.path, f"{FOLDER.name}/mute-{number}")
        equal(f"{what}: and are answered once it answers", remote("hook", "claude", "prompt", "--as", "nobody-yet", server=address, input=PROMPT).stdout, "")
        remote("list", "--count", server=address, status=0)
for server in ("http://192.0.2.1:1", "ftp://localhost", "https://user:word@localhost", "https://localhost/?token=x", "unix:relative", "localhost:8484", "https://"):
    ended = remote("list", server=server)
    check(f"'{server}' is no server", ended.returncode == 78 and "ROGER_SERVER" in ended.stderr, (ended.returncode, ended.stderr))
nobody = socket.socket()
nobody.bind(("127.0.0.1", 0))
gone = f"http://127.0.0.1:{nobody.getsockname()[1]}"
for words in (("list",), SEND, ("ack", "x", "--as", "bob")):
    equal(f"without a connection {words[0]} ends with 75", remote(*words, server=gone).returncode, 75)
check("and a send says that nothing was done", "nothing was done" in remote(*SEND, server=gone).stderr)
crowded, waiting = socket.socket(socket.AF_UNIX), []
crowded.bind(f"{FOLDER.name}/crowded")
crowded.listen(0)
queue = []
while not queue or queue[-1] == 0:
    waiting.append(socket.socket(socket.AF_UNIX))
    waiting[-1].setblocking(False)
    queue.append(waiting[-1].connect_ex(f"{FOLDER.name}/crowded"))
ended = remote(*SEND, server=f"unix:{FOLDER.name}/crowded")
check("nor does one that stands in a queue until its time is up", ended.returncode == 75 and "nothing was done" in ended.stderr, (ended.returncode, ended.stderr))
equal("as an object, where that was asked for", json.loads(remote(*SEND, "--json", server=gone).stderr)["error"]["retryable"], True)

for waiter in waiters:
    waiter.join()
for words, (seconds, status, out, err) in ended_at.items():
    if "read me" in words:
        check("a send that waits for its reading is waited for as long", status == 75 and "not known" not in err and "read" in err, (seconds, status, out, err))
    else:
        check(f"a server that takes a command and says nothing costs {words[0]} ten seconds, once", status == 75 and 9 < seconds < 15 and "no answer" in err, (seconds, status, out, err))
# What waits in the outbox does not add to that, whether anybody knows already that nobody answers or not.
outbox_env = {"XDG_STATE_HOME": f"{FOLDER.name}/outbox-state"}
mute_server = f"http://127.0.0.1:{mute.getsockname()[1]}"
remote("send", "bob", "kept", "--as", "al", "--queue", server=mute_server, env=outbox_env, status=0)
for what, least, most in (("known", 0, 1.9), ("not known", 9, 15)):
    began = time.monotonic()
    ended = remote("list", server=mute_server, env=outbox_env, status=75)
    took = time.monotonic() - began
    check(f"with an outbox a command takes as long as without, where it is {what}", least <= took < most and "1 message in the outbox" in ended.stderr, (took, ended.stderr))
    for down in Path(outbox_env["XDG_STATE_HOME"]).rglob("down-*"):
        down.unlink()
ended = remote("send", "bob", "next", "--as", "al", server=mute_server, env=outbox_env, status=75)
check("a send that comes after the outbox was not done, and says so", "nothing was done" in ended.stderr and "not known" not in ended.stderr, ended.stderr)
mute.close()

# -------------------------------------------------------------------------- TLS

def certify(name, days):
    """A certificate that is its own authority, and the server's side of TLS with it."""
    path = f"{FOLDER.name}/{name}"
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost",
                    "-addext", "subjectAltName=DNS:localhost", "-keyout", path + ".key", "-out", path + ".csr"], check=True, capture_output=True)
    subprocess.run(["openssl", "x509", "-req", "-in", path + ".csr", "-signkey", path + ".key", "-days", days, "-copy_extensions", "copy",
                    "-out", path + ".pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path + ".pem", path + ".key")
    return {"SSL_CERT_FILE": path + ".pem"}, context


trusting, context = certify("cert", "2")
secure = Strange(body=b'{"format":1,"count":7}', tls=context)
ended = remote("list", "--count", server=secure.url, token="roger-secret", env=trusting)
equal("over TLS, by a certificate of an authority that is named", (ended.stdout, secure.told[0][1]), ("7\n", "Bearer roger-secret"))
# Of an authority of its own, so that the machine needs none.
other, _ = certify("other", "2")
over, context = certify("over", "-1")
late = Strange(tls=context)
plain = Strange()
Path(FOLDER.name, "empty.pem").write_text("no certificate\n")
UNKNOWN = secure.url.replace("localhost", "no-such-host.invalid")
KINDS = (("an authority that nobody named", secure.url, other, 77, "no authority"),
         ("a certificate for another name", secure.url.replace("localhost", "127.0.0.1"), trusting, 77, "another host name"),
         ("a certificate whose time is over", late.url, over, 77, "not valid at this time"),
         ("a file of authorities that is not there", secure.url, {"SSL_CERT_FILE": FOLDER.name + "/none.pem"}, 78, "SSL_CERT_FILE"),
         ("a file of authorities without any", secure.url, {"SSL_CERT_FILE": FOLDER.name + "/empty.pem"}, 78, "SSL_CERT_FILE"),
         ("a port where no TLS is spoken", plain.url.replace("http:", "https:"), other, 75, "TLS cannot be agreed on"),
         ("a port that is refused", gone, {}, 75, "nobody answers"),
         ("a socket that is not there", f"unix:{FOLDER.name}/none", {}, 75, "nobody answers"),
         ("a name that no DNS has", UNKNOWN, {}, 75, "no address is known for this host"),
         ("a proxy that is not there", secure.url, {"https_proxy": "http://127.0.0.1:1", **trusting}, 75, "https_proxy"),
         ("a proxy that no DNS has", UNKNOWN, {"https_proxy": "http://no-such-host.invalid:1"}, 75, "known for the proxy"))
for name, server, env, status, says in KINDS:
    ended = remote(*SEND, server=server, token="roger-secret", env=env)
    check(f"{name} has a sentence of its own", (ended.returncode, ended.stdout) == (status, "") and says in ended.stderr and ended.stderr.count("\n") == 1
          and "roger-secret" not in ended.stderr, (ended.returncode, ended.stderr))
equal("nothing was asked of any of them", [len(server.told) for server in (secure, late, plain)], [1, 0, 0])
late.end()
plain.end()
secure.end()

# -------------------------------------------------------------- agents' own tools

# What Claude Code writes at least; a hook does nothing for another tool.
EVENT = {"session_id": "s", "transcript_path": "", "cwd": "", "hook_event_name": ""}
roger("send", "hal", "look here", "--as", "al")
shown = remote("hook", "claude", "session-start", "--as", "hal", input=json.dumps(EVENT))
check("a hook shows the mail of the server", "look here" in shown.stdout, (shown.returncode, shown.stdout, shown.stderr))
equal("once", remote("hook", "claude", "prompt", "--as", "hal", input=json.dumps(EVENT)).stdout, "")
idle = subprocess.Popen([ROGER, "hook", "claude", "idle", "--as", "ida"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ELSEWHERE, env={**ENV, "ROGER_SERVER": f"unix:{serving.path}"})
idle.stdin.write(json.dumps({**EVENT, "session_id": "i"}))
idle.stdin.close()
roger("send", "ida", "wake up", "--as", "al")
equal("one that waits is woken", (idle.wait(100), "1 new message for ida" in idle.stderr.read()), (2, True))

numbers = iter(range(1, 1000))


def start_mcp(*words, server=f"unix:{serving.path}", **env):
    return subprocess.Popen([ROGER, "mcp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ELSEWHERE, env={**ENV, "ROGER_SERVER": server, **env})


def call(method, **params):
    number = next(numbers)
    mcp.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    mcp.stdin.flush()
    for line in mcp.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer.get("result", answer)


BEGIN = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
mcp = start_mcp("--as", "jo")
call("initialize", **BEGIN)
mcp.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
tool = call("tools/call", name="send", arguments={"to": ["kim"], "content": "by mcp"})
check("roger mcp sends by the server", not tool.get("isError"), tool)
equal("as its agent", json.loads(roger("list", "--to", "kim", "--json").stdout)["messages"][0]["from"], "jo")
roger("send", "jo", "for jo", "--as", "al")
check("and reads its mail there", "for jo" in json.dumps(call("tools/call", name="inbox", arguments={})))
check("and waits there", "al" in json.dumps(call("tools/call", name="wait", arguments={})))
mcp.stdin.close()
equal("and ends with its client", mcp.wait(60), 0)

# Whoever starts them without a name is the agent of the token; what it is for several, or administers, is for the tool's name.
PORT = f"http://127.0.0.1:{serving.port}"
for agent, right, own in (("tia", "act", "tia"), ("uma", "own", "uma"), ("most", "administer", "claude"), ("ci-*", "act", None)):
    token = roger("token", "new", agent, "--right", right).stdout.strip()
    for to in ({"tia", "uma", "claude"} & {own}):
        roger("send", to, f"for {agent}", "--as", "al", "--new")
    shown = remote("hook", "claude", "prompt", server=PORT, token=token, input=json.dumps({**EVENT, "session_id": f"s-{right}-{agent}"}))
    check(f"{agent}: a hook shows that agent's mail", f"for {agent}" in shown.stdout and f"You are {own}" in shown.stdout if own else "say a name that fits" in shown.stdout, (shown.stdout, shown.stderr))
    mcp = start_mcp("--for", "claude", server=PORT, ROGER_TOKEN=token)
    begun = call("initialize", **BEGIN)
    check(f"{agent}: roger mcp tells it who it is", f"You are '{own or 'claude'}'" in begun["instructions"], begun)
    mcp.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    sent = call("tools/call", name="send", arguments={"to": ["bob"], "content": f"from {agent}"})
    equal(f"{agent}: and sends as that one", json.loads(roger("list", "--to", "bob", "--newest", "--limit", "1", "--json").stdout)["messages"][0]["from"] if own else bool(sent.get("isError")), own or True)
    mcp.stdin.close()
    mcp.wait(60)
    said = remote("send", "bob", "hi", server=PORT, token=token)
    check(f"{agent}: a send without a name", said.returncode == (0 if own == agent else 64 if right == "administer" else 77) and (own == agent or "--as" in said.stderr), (said.returncode, said.stderr))
token, listens = roger("token", "new", "vic", "--right", "act").stdout.strip(), f"127.0.0.1:{serving.port}"
status, errors = serving.end()
equal("the server ended in order", (status, errors), (0, ""))
mcp = start_mcp("--for", "claude", server=PORT, ROGER_TOKEN=token)
call("initialize", **BEGIN)
mcp.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
check("roger mcp begins without its server, and a tool says that it is down", "nobody answers" in json.dumps(call("tools/call", name="inbox", arguments={})))
serving = Server("--listen", listens)
call("tools/call", name="send", arguments={"to": ["bob"], "content": "from vic"})
equal("once it is there the token says who sends", json.loads(roger("list", "--to", "bob", "--newest", "--limit", "1", "--json").stdout)["messages"][0]["from"], "vic")
mcp.stdin.close()
mcp.wait(60)
serving.end()
done()
