#!/usr/bin/env python3
"""How a browser comes in to roger serve: `roger ui` makes a key, a key is a login once, and a login
is worth something for pages of this server alone."""
import stat
import threading

from lib_serve import *

os.environ.pop("DISPLAY", None)
os.environ.pop("WAYLAND_DISPLAY", None)
TOKENS = lambda: next(Path(FOLDER.name, "state", "roger").glob("*.tokens"))
ADDRESS = re.compile(r"(http://127\.0\.0\.1:\d+)/#k=([0-9a-f]{64})\n")

# ------------------------------------------------------------------------ roger ui

nobody = Server()
refused = roger("ui", status=77)
check("where the server has no TCP, `roger ui` says what to do", "--listen 127.0.0.1:8484" in refused.stderr, refused.stderr)
nobody.end()
server = Server("--listen", "127.0.0.1:0")


def key(*words):
    done_ = roger("ui", *words)
    found = ADDRESS.fullmatch(done_.stdout)
    check(f"roger ui {' '.join(words)} uses the server that runs", found and found.group(1) == f"http://127.0.0.1:{server.port}", (done_.stdout, done_.stderr))
    return found.group(2)


def post(path, body=None, headers=None, kind="application/json"):
    return server.ask("POST", path, body if isinstance(body, bytes) else json.dumps(body or {}).encode(), {"Content-Type": kind, **(headers or {})}, server.tcp())


def login(given):
    status, headers, reply = post("/login", {"key": given})
    return status, (headers["Set-Cookie"] or "").split(";")[0], reply


os.environ["SSH_CONNECTION"] = "::1 1 ::1 22"
check("over ssh it says how to get there", f"ssh -L {server.port}:127.0.0.1:{server.port} " in roger("ui").stderr)
os.environ.pop("SSH_CONNECTION")
first = key()
text = TOKENS().read_text()
check("the key is kept as a hash alone", first not in text and '"kind":"key"' in text)
equal("in a file of this user's", stat.S_IMODE(os.stat(TOKENS()).st_mode), 0o600)
status, headers, who = post("/login", {"key": first})
cookie = headers["Set-Cookie"].split("; ")
name, value = cookie[0].split("=")
equal("it is a login", (status, who["name"], who["right"], who["workspace"]), (200, "human", "act", str(WORKSPACE)))
check("whose cookie has port and workspace in its name", re.fullmatch(rf"roger-{server.port}-[0-9a-f]{{16}}", name), name)
check("and 32 random bytes", re.fullmatch("[0-9a-f]{64}", value), value)
equal("for this server's pages alone", cookie[1:], ["Path=/", "HttpOnly", "SameSite=Strict", "Max-Age=604800"])
check("of which a hash is kept", value not in TOKENS().read_text() and '"kind":"login"' in TOKENS().read_text())
equal("a key that was stolen comes too late", [login(first)[i] for i in (0, 1)], [403, ""])
COOKIE = f"{name}={value}"
OURS = {"Cookie": COOKIE, "Sec-Fetch-Site": "same-origin"}


def late(given):
    """As if it had been made two minutes ago."""
    lines = [json.loads(line) for line in TOKENS().read_text().splitlines()]
    for line in lines:
        if line["kind"] == given:
            line["expires_at"] -= 120_000 if given == "key" else 8 * 86_400_000
    beside = TOKENS().with_suffix(".test")
    beside.write_text("".join(json.dumps(line) + "\n" for line in lines))
    beside.chmod(0o600)
    beside.rename(TOKENS())


old = key()
kept = next(json.loads(line) for line in TOKENS().read_text().splitlines() if '"key"' in line)
equal("a key lives for a minute", kept["expires_at"] - kept["created_at"], 60_000)
late("key")
equal("and is worth nothing then", login(old)[0], 403)
for body, kind, status in (
    ({"key": "0" * 64}, "application/json", 403),
    ({"key": ""}, "application/json", 403),
    ({"keys": "x"}, "application/json", 422),
    ([], "application/json", 422),
    (b"{", "application/json", 422),
    (b"x" * 5000, "application/json", 422),
    (b"key=" + b"0" * 64, "application/x-www-form-urlencoded", 415),
    (b"key=x", "text/plain", 415),
):
    got = post("/login", body if isinstance(body, bytes) else body, kind=kind) if body != [] else post("/login", b"[]")
    equal(f"{body!r:.40} as {kind}: {status}", (got[0], got[1]["Set-Cookie"]), (status, None))
equal("a key is no token", server.ask("GET", "/v1/list", headers={"Authorization": f"Bearer {key()}"}, connection=server.tcp())[0], 401)
equal("nor is a login", server.ask("GET", "/v1/list", headers={"Authorization": f"Bearer {value}"}, connection=server.tcp())[0], 401)
fresh = key()
equal("nor a key a login", server.ask("GET", "/v1/list", headers={**OURS, "Cookie": f"{name}={fresh}"}, connection=server.tcp())[0], 401)
equal("a key in the query is none", post(f"/login?key={fresh}", {})[0] in (400, 422), True)

shared, answers = key(), []
several = [threading.Thread(target=lambda: answers.append(login(shared)[0])) for _ in range(8)]
for one in several:
    one.start()
for one in several:
    one.join()
equal("of several who come with one key at once, one is let in", sorted(answers), [200] + [403] * 7)

form = login(fresh)[1]
equal("a form of HTML is none", [post(path, b"key=x", {**OURS, "Cookie": form}, "application/x-www-form-urlencoded")[0] for path in ("/login", "/v1/send")], [415, 415])

# -------------------------------------------------- whose requests a login is good for

other = FOLDER.name + "/other"
subprocess.run([ROGER, "init", other], capture_output=True)
elsewhere = f"roger-{server.port}-{'0' * 16}={value}"
HOST = f"127.0.0.1:{server.port}"


def expected(host, origin, site, method, cookie):
    """The table: the first of these that is wrong decides."""
    if host not in (HOST, "localhost"):
        return 403
    if origin not in (None, f"http://{HOST}", "http://localhost:3000"):
        return 403
    if site not in (None, "same-origin", "none"):
        return 403
    if cookie != "good":
        return 401
    if origin is not None and origin != f"http://{host}":
        return 403
    if site == "same-origin" or method == "GET" and site == "none":
        return 200
    return 403


wrong, silent, tried = [], [], 0
for host in (HOST, "localhost", "evil.example.com"):
    for origin in (None, f"http://{HOST}", "http://localhost:3000", "http://evil.example.com", "null"):
        for site in (None, "same-origin", "none", "same-site", "cross-site", "nonsense"):
            for method in ("GET", "POST"):
                for kind in ("good", "none", "another workspace's", "made up"):
                    heads = {"Host": host, "Origin": origin, "Sec-Fetch-Site": site}
                    heads["Cookie"] = {"good": f"a=b; {name}=old; {COOKIE}; c", "none": None, "another workspace's": elsewhere, "made up": f"{name}={'0' * 64}"}[kind]
                    path, body = ("/v1/count", None) if method == "GET" else ("/v1/send", {"from": "human", "to": "bob", "content": "x"})
                    got, _, reply = server.ask(method, path, body, heads, server.tcp())
                    tried += 1
                    if got != expected(host, origin, site, method, kind):
                        wrong.append((host, origin, site, method, kind, got))
                    if got == 403 and not re.search("Host|Origin|Sec-Fetch-Site", reply["detail"]):
                        silent.append(reply)
equal(f"Host, Origin, Sec-Fetch-Site, method and cookie decide as the table says ({tried} requests)", wrong, [])
equal("each that is refused is told which header it was", silent, [])

# ------------------------------------------------------------------- who that is


def get(path, cookie=COOKIE):
    return server.ask("GET", path, headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}, connection=server.tcp())


def act(path, body, cookie=COOKIE):
    return post(path, body, {"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})


session = get("/v1/session")[2]
equal("who am I", (session["name"], session["right"], session["workspace"], session["url"]), ("human", "act", str(WORKSPACE), f"http://127.0.0.1:{server.port}"))
check("and in which zone is the server", session["zone"], session)
equal("that is no question for strangers", server.ask("GET", "/v1/session", connection=server.tcp())[0], 401)
equal("at the socket it is nobody by name", [server.get("/v1/session")[2][member] for member in ("name", "right")], [None, "administer"])
equal("a POST there is the verb", server.post("/v1/session", {})[0], 200)
looker, actor = login(key("--as", "ann", "--right", "look"))[1], login(key("--as", "ann", "--right", "act"))[1]
SEND = {"from": "ann", "to": "bob", "content": "hello"}
equal("one that may look does not write", act("/v1/send", SEND, looker)[0], 403)
sent = act("/v1/send", SEND, actor)
equal("one that may act does", sent[0], 200)
equal("as itself", act("/v1/send", {**SEND, "from": "al"}, actor)[0], 403)
sent = sent[2]["messages"][0]["id"]
proved = lambda one: json.loads(roger("show", one, "--json").stdout)["messages"][0].get("proved")
equal("and its name is proved", proved(sent), "token")
mine = act("/v1/send", {**SEND, "from": "human"})[2]["messages"][0]["id"]
equal("as that of an administrator is", proved(mine), "token")
sole = login(key("--right", "administer"))[1]
equal("nor does a person who administers speak for another", [(status, reply.get("member")) for status, _, reply in (act("/v1/send", SEND), act("/v1/send", SEND, sole), act("/v1/receive", {"agent": "bob"}, sole), act("/v1/nack", {"agent": "bob", "ids": [sent]}, sole))], [(403, "from"), (403, "from"), (403, "agent"), (403, "agent")])

# Who administers acknowledges what another does not, and that is no look, no reading and no presence of it.
task = json.loads(roger("send", "--as", "ann", "test-9", "do it", "--json").stdout)["messages"][0]["id"]
equal("one who may act does not", act("/v1/ack", {"agent": "test-9", "ids": [task]})[0], 403)
equal("one who administers does", act("/v1/ack", {"agent": "test-9", "ids": [task], "note": "dealt with"}, sole)[0], 200)
line = json.loads((WORKSPACE / ".roger" / "messages.jsonl").read_text().splitlines()[-1])
equal("the line names the person", (line["id"], line["claimed_by"], line["ack_outcome"]), (task, "human", "done"))
traced = json.loads(roger("trace", task, "--json").stdout)["traces"][0]
steps = {one["step"]: one for one in traced["steps"]}
equal("it was neither looked at nor read", set(steps) & {"looked", "read", "claimed"}, set())
equal("trace says who and in whose place", (steps["acknowledged"]["who"], "in place of test-9, who did not read it" in steps["acknowledged"]["words"], "login human " in steps["acknowledged"]["words"]), ("human", True, True))
check("its sentence, too", "not read, acknowledged by human" in traced["summary"], traced["summary"])
said = [one for one in json.loads(roger("timeline", "--agent", "test-9", "--json").stdout)["events"] if one["kind"] in ("read", "looked", "acknowledged")]
equal("the timeline, too", [(one["kind"], one["actor"]) for one in said], [("acknowledged", "human")])
there = next(one for one in json.loads(roger("agents", "--json").stdout)["agents"] if one["name"] == "test-9")
equal("the agent was not seen to look", there.get("last_looked_at"), None)
noted = [one["action"]["details"] for one in map(json.loads, (WORKSPACE / ".roger" / "logs" / "activity.log.jsonl").read_text().splitlines()) if one["action"]["details"].get("verb") == "ack"][-1]
check("the note is the person's", noted["agent"] == "human" and noted["login"].startswith("login human "), noted)
seen = json.loads((WORKSPACE / ".roger" / "message-state.json").read_text())["lastSeen"]
equal("nor has it seen that number", seen.get("test-9"), None)
# Nor does it tell a sender who waits that it was read.
waiting = subprocess.Popen([ROGER, "--workspace", WORKSPACE, "send", "--as", "ann", "test-9", "read it", "--confirm", "read", "--within", "2m", "--key", "app:escalation:1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
while not (task := json.loads(roger("list", "--to", "test-9", "--unread", "--json", status=None).stdout)["messages"]):
    pass
act("/v1/ack", {"agent": "test-9", "ids": [task[0]["id"]]}, sole)
told = waiting.communicate()[1]
check("who waits is told who acknowledged it", waiting.returncode == 77 and "'test-9' has not read" in told and "'human' acknowledged it in its place" in told, (waiting.returncode, told))
attempts = [(one["outcome"], one.get("error_cause") or one.get("cause")) for one in json.loads(roger("log", "sends", "--json").stdout)["attempts"] if one["key"] == "app:escalation:1"]
equal("the attempt failed", attempts, [("error", "acknowledged by human, not read")])
roger("verify", "--quiet")
own = json.loads(roger("send", "--as", "ann", "human", "for you", "--json").stdout)["messages"][0]["id"]
act("/v1/ack", {"ids": [own]}, sole)
check("one's own mail is read by it", '"step":"read"' in roger("trace", own, "--json").stdout)
looked = lambda one: '"step":"looked"' in roger("trace", one, "--json").stdout
for who in (looker, actor, COOKIE):
    equal("a person sees the mail of another", get("/v1/inbox?agent=bob", who)[2]["messages"][0]["to"], "bob")
check("which is no look of that one", not looked(sent))
own = json.loads(roger("send", "--as", "bob", "ann", "for you", "--json").stdout)["messages"][0]["id"]
get("/v1/inbox?agent=ann", actor)
check("a look at one's own mail is one's own", looked(own))

# --------------------------------------------------------------------- its end

listed = roger("token", "list").stdout
check("logins are listed", re.search(r"^human  act  until .*  [0-9a-f]{8}  login$", listed, re.M), listed)
equal("a logout ends one", (act("/logout", {}, form)[0], get("/v1/count", form)[0], get("/v1/count")[0]), (204, 401, 200))
equal("and takes the cookie away", act("/logout", {}, form)[1]["Set-Cookie"].split("; ")[0::4], [f"{name}=", "Max-Age=0"])
equal("a page of another site ends none", (post("/logout", {}, {**OURS, "Sec-Fetch-Site": "cross-site"})[0], get("/v1/count")[0]), (403, 200))
stream = server.tcp()
stream.request("GET", "/v1/events", headers={"Cookie": looker, "Sec-Fetch-Site": "same-origin"})
watched = stream.getresponse()
equal("a login may follow events", (watched.status, watched.readline()[:3]), (200, b"ret"))
roger("token", "revoke", "ann")
secret = server.post("/v1/send", {"from": "al", "to": "secret", "content": "x"})[2]["messages"][0]["id"]
check("to revoke a name ends its streams, before the next event", not any(b'"' + secret.encode() in line for line in iter(watched.readline, b"")))
equal("to revoke a name ends its logins", [get("/v1/count", one)[0] for one in (looker, actor, COOKIE)], [401, 401, 200])
late("login")
equal("one that has expired is worth nothing", get("/v1/count")[0], 401)
lost = key()
equal("a server that is killed forgets no key", server.end(signal.SIGKILL)[0], -signal.SIGKILL)
server = Server("--listen", "127.0.0.1:0")
equal("the next one takes it, once", (login(lost)[0], login(lost)[0]), (200, 403))
equal("no secret is anywhere on disk", [one for one in (first, value, lost, fresh) if subprocess.run(["grep", "-rl", one, FOLDER.name], capture_output=True).stdout], [])
equal("it ends well", server.end(), (0, ""))

# --------------------------------------------------------- roger ui as the server

opened = Path(FOLDER.name) / "opened"
desktop = Path(FOLDER.name) / "bin"
desktop.mkdir()
os.mkfifo(opened)
(desktop / "xdg-open").write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
(desktop / "xdg-open").chmod(0o755)
process = subprocess.Popen(
    [ROGER, "--workspace", WORKSPACE, "ui", "--listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    env={**os.environ, "DISPLAY": ":9", "PATH": f"{desktop}:{os.environ['PATH']}"},
)
atexit.register(process.kill)
line = process.stdout.readline()
found = ADDRESS.fullmatch(line)
check("without a server `roger ui` is one", found, line)
equal("and opens its page", opened.read_text(), line)
server.port = int(found.group(1).rsplit(":", 1)[1])
equal("which lets in", login(found.group(2))[0], 200)
again = ADDRESS.fullmatch(roger("ui").stdout)
equal("a second one uses the first", (again.group(1), login(again.group(2))[0]), (found.group(1), 200))
busy = subprocess.run([ROGER, "--workspace", other, "ui", "--listen", f"127.0.0.1:{server.port}"], capture_output=True, text=True)
check("a port that is taken is an error that says so", busy.returncode == 73 and "--listen" in busy.stderr, busy.stderr)
process.terminate()
equal("it ends as a server does", process.wait(60), 0)

# ---------------------------------------------------------------- behind a proxy

server = Server("--listen", "127.0.0.1:0", "--behind-proxy", "roger.example.org")
found = re.fullmatch(r"https://roger\.example\.org/#k=([0-9a-f]{64})\n", roger("ui").stdout)
check("behind a proxy the address is the proxy's", found)
there = {"Host": "roger.example.org", "Origin": "https://roger.example.org", "Sec-Fetch-Site": "same-origin"}
status, headers, _ = post("/login", {"key": found.group(1)}, there)
check("and the cookie goes over TLS alone", status == 200 and "; Secure" in headers["Set-Cookie"], headers.items())
there["Cookie"] = headers["Set-Cookie"].split(";")[0]
equal("with which one is in", post("/v1/send", {"from": "human", "to": "bob", "content": "x"}, there)[0], 200)
equal("where the proxy passes the host on", post("/v1/send", {"from": "human", "to": "bob", "content": "x"}, {**there, "Host": "127.0.0.1"})[0], 403)
equal("it ends well", server.end(), (0, ""))
done()
