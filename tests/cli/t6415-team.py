#!/usr/bin/env python3
# runner: timeout 300
"""A team and a CI farm: a token of `ci-*`, the right `own`, `roger wake` on another machine, and two workspaces behind one
nginx (the example, where nginx is installed), whose 502 is nobody there."""
import shutil
import threading
import time

from lib_serve import *

ENV = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER", "XDG_"))}
FAR = Path(FOLDER.name) / "far"
FAR.mkdir()
ENV.update(HOME=str(FAR), TZ="UTC", PATH=f"{ROGER.parent}:{os.environ['PATH']}", XDG_STATE_HOME=str(FAR / "state"))
(FAR / "state").mkdir(mode=0o700)
serving = Server("--listen", "127.0.0.1:0")
TCP = f"http://127.0.0.1:{serving.port}"
TOKENS = {name: roger("token", "new", name, "--right", right).stdout.strip()
          for name, right in (("ci-*", "act"), ("eve", "own"), ("x-*", "own"), ("root", "administer"), ("bob", "act"))}


def far(who, *words, status=0, server=None, **more):
    ended = subprocess.run([ROGER, *words], capture_output=True, text=True, cwd=FAR, timeout=120,
                           env={**ENV, "ROGER_SERVER": server or TCP, "ROGER_TOKEN": TOKENS[who], **more.pop("env", {})}, stdin=subprocess.DEVNULL, **more)
    if status is not None and ended.returncode != status:
        check(f"{who}: {' '.join(words)} ends with {status}", False, (ended.returncode, ended.stdout, ended.stderr))
    return ended


def ask(who, verb, body=None, **more):
    headers = {"Authorization": f"Bearer {TOKENS[who]}", **more}
    return (serving.get if body is None else lambda path, **rest: serving.post(path, body, **rest))(f"/v1/{verb}", headers=headers, connection=serving.tcp())


equal("a session says what the token may do", [ask(who, "session")[2]["right"] for who in ("bob", "eve", "root")], ["act", "own", "administer"])

# --------------------------------------------------------------------- a pattern
for wrong in ("*", "c*i", "**", "ci-**", "a b*", ""):
    check(f"'{wrong}' is no name of a token", roger("token", "new", wrong, status=None).returncode in (64, 65))
far("ci-*", "send", "lead", "built", "--as", "ci-17")
sent = json.loads(far("root", "list", "--from", "ci-17", "--json").stdout)["messages"][0]
equal("a token of ci-* proves ci-17", sent.get("proved"), "token")
for name in ("ci-", "ci", "bob", "CI-1", "xci-1"):
    ended = far("ci-*", "send", "lead", "as another", "--as", name, status=None)
    check(f"but not '{name}'", ended.returncode in (65, 77), (ended.returncode, ended.stderr))
for verb in ("send", "receive", "claim", "log", "dispatch", "settle", "complete"):
    code, _, said = ask("ci-*", verb, {"to": ["lead"], "content": "x"} if verb == "send" else {"run": "n-1", "reason": "x"} if verb == "settle"
                        else {"run": "n-1"} if verb in ("dispatch", "complete") else {"task": "t", "type": "TOOL_EXEC"} if verb == "log" else {})
    check(f"{verb} without a name is refused: a pattern is nobody", code // 100 == 4, (code, said))
equal("one of the farm has its own mail", json.loads(far("ci-*", "receive", "--as", "ci-18", "--json", status=1).stdout)["messages"], [])
far("root", "send", "ci-18", "for the farm", "--as", "lead")
equal("and takes it", json.loads(far("ci-*", "receive", "--json", env={"ROGER_AGENT": "ci-18"}).stdout)["messages"][0]["content"], "for the farm")
equal("a run of the farm, for another of it", far("ci-*", "run", "--as", "ci-17", "--child", "ci-18", "--", "echo", "fine").stdout, "fine\n")
names = {m["from"] for m in json.loads(far("root", "list", "--json").stdout)["messages"]}
check("nothing was stored under a name that does not fit", names <= {"ci-17", "ci-18", "lead", "run"}, names)
check("with a token a name need not be said", json.loads(far("bob", "inbox", "--json", status=1).stdout)["unread"] == 0 and "who are you" not in far("bob", "receive", status=1).stderr)
for words in (("inbox", "--limit", "1"), ("wait", "--timeout", "10ms"), ("prime", "--issue", "none")):
    check(f"nor with {words[1]}", "bob" in (lambda ended: ended.stdout + ended.stderr)(far("bob", *words, status=int(words[0] != "prime"))))
told = far("bob", "inbox", "--as", "lead", status=77)
check("nor is it anybody's choice", "token is for 'bob'; say that name (--as, or ROGER_AGENT), or none\n" in told.stderr, told.stderr)
equal("which a hook with another name says", far("bob", "hook", "any", "prompt", "--as", "lead").stderr, told.stderr)
equal("one without a name has the token's", far("bob", "hook", "any", "prompt").stderr, "")
told = far("ci-*", "inbox", "--as", "lead", status=77)
check("of a pattern, which is no name", "say a name that fits (--as, or ROGER_AGENT)\n" in told.stderr, told.stderr)
used = {one["name"]: one for one in json.loads(roger("token", "list", "--json").stdout)["tokens"]}
for _ in range(100):
    if "used_at" in used["ci-*"]:
        break
    time.sleep(0.2)
    used = {one["name"]: one for one in json.loads(roger("token", "list", "--json").stdout)["tokens"]}
equal("the list of tokens says when and from where each was used", (used["ci-*"].get("used_from"), "used_at" in used["x-*"]), ("127.0.0.1", False))

# --------------------------------------------------------------------------- own
far("root", "send", "eve", "for eve", "--as", "ann", "--issue", "app", "--new")
far("root", "send", "bob", "a secret of ann's", "--as", "ann", "--issue", "app", "--new")
SECRET = json.loads(far("root", "list", "--to", "bob", "--json").stdout)["messages"][0]["id"]
equal("own sees its mail", json.loads(far("eve", "inbox", "--json").stdout)["messages"][0]["content"], "for eve")
far("eve", "send", "ann", "an answer", "--issue", "app")
equal("sends, and lists what it sent", [m["content"] for m in json.loads(far("eve", "list", "--from", "eve", "--json").stdout)["messages"]], ["an answer"])
equal("and got", [m["content"] for m in json.loads(far("eve", "list", "--to", "eve", "--json").stdout)["messages"]], ["for eve"])
for words in (["list"], ["list", "--to", "bob"], ["list", "--from", "ann"], ["list", "--from", "ann", "--to", "bob"]):
    equal(f"not {' '.join(words)}", far("eve", *words, status=77).stdout, "")
equal("of two messages it is shown its own", [m["content"] for m in json.loads(far("eve", "show", SECRET, "eve#1", "--json").stdout)["messages"]], ["an answer"])
equal("a run with a name is begun", far("eve", "run", "--run", "eves", "--", "true").returncode, 0)
check("once", "'eves'" in far("eve", "run", "--run", "eves", "--", "true", status=77).stderr)
equal("another's is not there", far("eve", "show", SECRET, status=66).stdout, "")
far("root", "dispatch", "anns-run", "--as", "ann", "--child", "bob")
for words, status in ((["show", "msg-17"], 64), (["show", "ann#2"], 66), (["reply", SECRET, "x"], 66), (["reply", "ann#2", "x"], 66), (["reply", SECRET[-8:], "x"], 66),
                      (["ack", SECRET], 66), (["ack", *[SECRET] * 101], 66), (["ack", *["@last"] * 101], 65), (["nack", SECRET], 66), (["send", "ann", "x", "--reply-to", SECRET], 66), (["complete", "anns-run", "--failed"], 66),
                      (["complete", "anns-ru", "--failed"], 66), (["complete", "eves", "--message", SECRET[-8:]], 66), (["send", "boob", "x"], 77)):
    ended = far("eve", *words, status=status)
    check(f"{' '.join(words[:2])} names nobody else and no run of others", not re.search("bob|'anns-run'[^ ]| to lead", ended.stdout + ended.stderr), ended.stderr)
for verb, theirs, nobodys in (("show", "ann#2", "zed#1"), ("ack", "ann#2", "zed#1"), ("reply", "ann#2", "zed#1"), ("complete", "anns-run", "zeds-run")):
    there, absent = (far("eve", verb, name, *(("--failed",) if verb == "complete" else ("x",) if verb == "reply" else ()), status=66).stderr.replace(name, "X")
                     for name in (theirs, nobodys))
    equal(f"{verb} does not tell what others have from what nobody has", there, absent)
far("root", "send", "carol", "for the heir", "--as", "ann", "--new")
far("root", "agents", "retire", "carol", "--to", "eve")
INHERITED = json.loads(far("root", "list", "--to", "carol", "--json").stdout)["messages"][0]["id"]
equal("what eve takes over is shown", [m["content"] for m in json.loads(far("eve", "show", INHERITED, "--json").stdout)["messages"]], ["for the heir"])
equal("and acknowledged", far("eve", "ack", INHERITED[-8:]).returncode, 0)
openapi = serving.get("/openapi.json")[2]["paths"]
OWN = {"send", "send_many", "reply", "inbox", "receive", "wait", "claim", "ack", "nack", "looked", "arrive", "prime", "list", "show", "dispatch", "complete", "run_step", "wake_step"}
leaks = []
for path, does in openapi.items():
    verb = path[4:]
    if not path.startswith("/v1/") or verb == "wait" or "post" not in does and "get" not in does or "{" in path:
        continue
    code, _, said = ask("eve", verb, {} if "post" in does else None)
    if verb not in OWN and code not in (400, 403, 422):
        leaks.append((verb, code, said))
    if "secret" in json.dumps(said if not isinstance(said, bytes) else said.decode()) or SECRET in str(said):
        leaks.append((verb, "secret"))
equal("every other verb is refused, and none tells of the secret", leaks, [])
for verb, query in (("show", f"ids={SECRET}"), ("list", "to=eve&issue=app"), ("list", "from=eve&content=secret"), ("list", "to=eve&anywhere=true"), ("prime", ""), ("inbox", "")):
    code, _, said = serving.get(f"/v1/{verb}?{query}", headers={"Authorization": f"Bearer {TOKENS['eve']}"}, connection=serving.tcp())
    check(f"{verb}?{query.split('=')[0]} tells nothing of it", "secret" not in json.dumps(said), said)
for path in (f"/v1/messages/{SECRET}", f"/v1/threads/{SECRET}"):
    check(f"{path[:12]} neither", serving.get(path, headers={"Authorization": f"Bearer {TOKENS['eve']}"}, connection=serving.tcp())[0] in (403, 404))
connection = serving.tcp()
connection.request("GET", "/v1/events?since=0.", headers={"Authorization": f"Bearer {TOKENS['eve']}"})
stream, events = connection.getresponse(), []
far("root", "send", "bob", "more of ann's", "--as", "ann")
far("root", "send", "eve", "the last one", "--as", "ann")
while len([one for one in events if one.startswith("data: {\"spec") and "\"to\":\"eve\"" in one]) < 2:
    events.append(stream.readline().decode())
told = [json.loads(one[6:]) for one in events if one.startswith("data: {\"spec")]
check("its events are of its own mail", told and all("eve" in (one["data"].get("from"), one["data"].get("to")) for one in told), told)
connection.close()

# ------------------------------------------------------------------- remote wake
far("bob", "wake", "--once", status=66)
subprocess.run([ROGER, "init"], cwd=FAR, env=ENV, check=True, capture_output=True)
woken = FAR / "woken"
woken.mkdir()
command = FAR / "wake-bob"
command.write_text(f'#!/bin/sh\necho "$ROGER_AGENT $ROGER_WAKE_COUNT $1" >>{woken}/told\nroger receive --as bob --json >{woken}/mail 2>{woken}/err\n')
command.chmod(0o755)
(FAR / ".roger/config.yaml").write_text(f"wake: {{after: 0s, agents: {{bob: [{command}, '{{id}}']}}}}\n")
refused = far("bob", "wake", "--once", status=77)
check("a command that this machine does not trust does not run", "trust" in refused.stderr and not (woken / "told").exists(), refused.stderr)
digest = json.loads(subprocess.run([ROGER, "trust", "--show", "--json"], cwd=FAR, env=ENV, capture_output=True, text=True).stdout)
accepted = subprocess.run([ROGER, "trust", "--accept", digest["sha256"]], cwd=FAR, env=ENV, capture_output=True, text=True)
equal("a person trusts it there", (accepted.returncode, accepted.stderr), (0, ""))
trusted = ENV
waker = subprocess.Popen([ROGER, "wake"], cwd=FAR, env={**trusted, "ROGER_SERVER": TCP, "ROGER_TOKEN": TOKENS["bob"]}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until(what, condition):
    ends = time.monotonic() + 60
    while not condition():
        if time.monotonic() > ends:
            check(what, False, (waker.poll(), (woken / "err").read_text() if (woken / "err").exists() else "never"))
            return
        time.sleep(0.05)


until("the command runs", lambda: (woken / "mail").exists() and (woken / "mail").read_text())
mail = json.loads((woken / "mail").read_text())["messages"]
check("mail that is there wakes bob on his machine, by its own command", {m["content"] for m in mail} >= {"a secret of ann's"}, mail)
line = (woken / "told").read_text().splitlines()[0].split()
equal("which is told of what", (line[0], line[2]), ("bob", mail[0]["id"]))
# The attempt is written down once the command has ended, and that is after it took its mail.
until("the attempt is in the record, by the token", lambda: "token bob" in far("root", "log", "--json").stdout and "wake" in far("root", "trace", SECRET, "--json").stdout)
(woken / "mail").unlink()
port = serving.port
serving.end()
serving = Server("--listen", f"127.0.0.1:{port}")
far("root", "send", "bob", "after the server was started again", "--as", "ann")
until("it goes on when the server is started again", lambda: (woken / "mail").exists() and "started again" in (woken / "mail").read_text())
check("it goes on when the server is started again", (woken / "mail").exists())
waker.terminate()
equal("and ends when it is told to", waker.wait(60), 0)
far("root", "send", "bob", "a test", "--as", "ann")
tested = far("bob", "wake", "--test", "bob", status=0, env=trusted)
check("a test says how long it took to look", "looked at its mail after" in tested.stdout, tested.stdout)
foreign = far("eve", "wake", "--test", "bob", status=77, env=trusted)
check("a token wakes for its own agents alone", "for 'eve'" in foreign.stderr, foreign.stderr)

# ------------------------------------------------------------------------- nginx
nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
if not nginx:
    result(True, "two workspaces behind one nginx # skip nginx is not installed")
    serving.end()
    done()
    sys.exit(0)
SECOND = Path(FOLDER.name) / "second"
SECOND.mkdir()
subprocess.run([ROGER, "init", SECOND], check=True, capture_output=True)
serving.end()
ports = []
for _ in range(2):
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        ports.append(one.getsockname()[1])
HOST = "localhost"
OPTIONS = ("--listen", f"127.0.0.1:{ports[0]}", "--behind-proxy", HOST, "--also", f"team-b={SECOND}")
serving = Server(*OPTIONS)
TOKENS["two"] = subprocess.run([ROGER, "--workspace", SECOND, "token", "new", "two", "--right", "act"], capture_output=True, text=True).stdout.strip()
subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                "-days", "2", "-keyout", f"{FOLDER.name}/key", "-out", f"{FOLDER.name}/pem"], check=True, capture_output=True)
example = Path(__file__).parents[2] / "examples/nginx"
conf = (example / "roger.conf").read_text()
for of, to in (("listen 443 ssl", f"listen 127.0.0.1:{ports[1]} ssl"), ("roger.example.org;", f"{HOST};"), ("/etc/ssl/certs/roger.example.org.pem", f"{FOLDER.name}/pem"),
               ("/etc/ssl/private/roger.example.org.key", f"{FOLDER.name}/key"), ("127.0.0.1:8484", f"127.0.0.1:{ports[0]}"),
               ("/etc/nginx/roger-proxy.conf", str(example / "roger-proxy.conf"))):
    assert of in conf, of
    conf = conf.replace(of, to)
temporary = "".join(f"{kind}_temp_path {FOLDER.name}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
Path(FOLDER.name, "nginx.conf").write_text(f"daemon off;\npid {FOLDER.name}/nginx.pid;\nerror_log {FOLDER.name}/nginx.log;\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{conf}}}\n")
proxy = subprocess.Popen([nginx, "-c", f"{FOLDER.name}/nginx.conf", "-e", f"{FOLDER.name}/nginx.log"], stderr=subprocess.DEVNULL)
atexit.register(proxy.kill)
TLS = {"SSL_CERT_FILE": f"{FOLDER.name}/pem"}
A, B = (f"https://{HOST}:{ports[1]}{where}" for where in ("", "/w/team-b"))
for _ in range(100):
    if far("bob", "list", "--count", server=A, env=TLS, status=None).returncode == 0:
        break
    time.sleep(0.1)
far("bob", "send", "ann", "through nginx", server=A, env=TLS)
equal("two workspaces behind one nginx: a message is in the one", far("two", "list", "--count", server=B, env=TLS, status=None).stdout.strip(), "0")
equal("and a token of the one is none in the other", far("bob", "list", "--count", server=B, env=TLS, status=77).returncode, 77)
follower = subprocess.Popen([ROGER, "list", "-f", "--jsonl", "--to", "fay"], stdout=subprocess.PIPE, text=True, cwd=FAR, env={**ENV, **TLS, "ROGER_SERVER": A, "ROGER_TOKEN": TOKENS["bob"]})
timer = threading.Timer(1, lambda: far("bob", "send", "fay", "an event", server=A, env=TLS))
timer.start()
equal("events come through at once", json.loads(follower.stdout.readline())["content"], "an event")
timer.join()
follower.terminate()
follower.wait()
serving.end()
queued = far("bob", "send", "ann", "while it was down", "--queue", server=A, env=TLS)
check("where nginx says 502, --queue queues", "queued" in queued.stdout, (queued.stdout, queued.stderr))
late = far("bob", "list", "--count", server=A, env=TLS, status=75)
check("and the next command says since when it is down", "down since" in late.stderr and "status 502" in late.stderr, late.stderr)
serving = Server(*OPTIONS)
far("bob", "status", server=A, env=TLS)
equal("what waited is sent when it is back", [m["content"] for m in json.loads(far("bob", "list", "--to", "ann", "--newest", "--limit", "1", "--json", server=A, env=TLS).stdout)["messages"]], ["while it was down"])
proxy.terminate()
proxy.wait()
serving.end()
done()
