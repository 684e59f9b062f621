#!/usr/bin/env python3
# runner: timeout 600
"""The connection to the server breaks after any byte, and the server is killed between two tries:
nothing is lost and nothing is done twice.  What waits in the outbox goes out once, in its order,
whoever is killed at whatever step."""
import collections
import concurrent.futures
import contextlib
import select
import shutil
import threading

from lib_serve import *

if not (ROGER.parent / "roger-remote").exists():
    print("ok 1 - no client # skip built without libcurl\n1..1")
    sys.exit(0)
SLOW = os.environ.get("ROGER_TEST_SLOW", "0") not in ("", "0")
ELSEWHERE = Path(FOLDER.name) / "elsewhere"
ELSEWHERE.mkdir()
ENV = {name: value for name, value in os.environ.items() if not name.startswith(("ROGER", "XDG_"))}
homes = iter(range(1 << 30))


def new_home():
    home = Path(FOLDER.name) / f"home{next(homes)}"
    home.mkdir(mode=0o700)
    return home


HOME = new_home()


def start(*words, server, home=HOME, before=()):
    return subprocess.Popen(
        [*before, ROGER, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=ELSEWHERE, env={**ENV, "HOME": str(home), "ROGER_SERVER": f"unix:{server}"},
    )


def remote(*words, **more):
    process = start(*words, **more)
    out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(words, process.returncode, out, err)


class Proxy:
    """Forwards to the server; each connection is cut as the next of its plan says: (way, bytes)."""

    def __init__(self, plan=(), every=None):
        self.path = f"{FOLDER.name}/proxy{next(homes)}"
        self.plan, self.every = collections.deque(plan), every
        self.passed = {"up": 0, "down": 0}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen(16)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            way, left = self.plan.popleft() if self.plan else self.every or ("", 0)
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(server_path)
            except OSError:
                client.close()
                continue
            cut = threading.Event()
            for name, source, to in (("up", client, server), ("down", server, client)):
                threading.Thread(target=self.pump, args=(name, source, to, left if way == name else None, (client, server)), daemon=True).start()

    def pump(self, name, source, to, left, both):
        try:
            while data := source.recv(65536):
                if left is not None and len(data) >= left:
                    to.sendall(data[:left])
                    break
                self.passed[name] += len(data)
                to.sendall(data)
                left = left if left is None else left - len(data)
        except OSError:
            pass
        # What one side has sent before it ended arrives at the other.
        for end in both if left is not None else (to,):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_WR if end is to and left is None else socket.SHUT_RDWR)

    def end(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()


def length_of(*words):
    """How many bytes go up, and come down."""
    proxy = Proxy()
    remote(*words, server=proxy.path)
    proxy.end()
    return proxy.passed["up"], proxy.passed["down"]


def at_every_byte(words, step, times=1):
    """The answers of one command, cut once at each place, then let through."""
    up, down = length_of(*words(-1))
    places = [(way, n) for way, most in (("up", up), ("down", down)) for n in range(0, most + 1, step)]

    def run(number):
        proxy = Proxy([places[number]] * times)
        ended = remote(*words(number), server=proxy.path)
        proxy.end()
        return ended

    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        return list(pool.map(run, range(len(places))))


def good(name, ended):
    wrong = [(e.returncode, e.stdout, e.stderr) for e in ended if e.returncode != 0]
    check(f"{name}: {len(ended)} cuts, each ends with 0", not wrong, wrong[:3])


(WORKSPACE / ".roger/config.yaml").write_text("size_limits:\n  max_messages_per_issue_phase: 100000\n  max_messages_per_issue: 100000\n")
server = Server()
server_path = server.path
# Never an answer: to be looked at when all else is done.
mute = Proxy(every=("down", 20))
hopeless = start("send", "nobody", "perhaps", "--as", "al", server=mute.path)
hopeless_claim = start("claim", "--as", "lost", server=mute.path)

# ------------------------------------------------------------- a cut at any byte

sent = at_every_byte(lambda n: ("send", "bob", f"text {n}", "--as", "al", "--json"), 1)
good("send", sent)
stored = [m["content"] for m in json.loads(roger("list", "--to", "bob", "--limit", "0", "--json").stdout)["messages"]]
equal("0 lost, 0 doubled", (sorted(stored), len({json.loads(e.stdout)["messages"][0]["id"] for e in sent})), (sorted(f"text {n}" for n in range(-1, len(sent))), len(sent)))
check("and none is told to be a repetition", not any(json.loads(e.stdout)["duplicate"] for e in sent))

STEP = 1 if SLOW else 4
many = len(sent) * 3
subprocess.run([ROGER, "--workspace", WORKSPACE, "send", "--batch", "--as", "al", "--quiet"], check=True, text=True,
               input="".join(json.dumps({"to": [to], "content": f"{n}", "issue": f"i{n % 50}"}) + "\n" for n in range(many) for to in ("rec", "cla")))
for name, agent, words in (("receive", "rec", ("receive", "--as", "rec", "--limit", "1", "--json")), ("claim", "cla", ("claim", "--as", "cla", "--lease", "1d", "--json"))):
    taken = at_every_byte(lambda n: words, STEP, times=2)
    good(f"{name}, cut twice", taken)
    ids = [m["id"] for e in taken for m in json.loads(e.stdout or '{"messages":[]}')["messages"]]
    equal("each took another one", (len(ids), len(set(ids))), (len(taken), len(taken)))
    left = int(roger("list", "--to", agent, "--unread", "--count").stdout)
    # One more was taken to see how long an answer is.
    claimed = json.loads(roger("list", "--to", agent, "--limit", "0", "--json").stdout)["messages"]
    gone = many - left if agent == "rec" else sum(1 for m in claimed if m.get("claimed_by"))
    equal("and no other is gone", gone, len(taken) + 1)
    if agent == "cla":
        claimed_ids = ids
acked = at_every_byte(lambda n: ("ack", claimed_ids[n % len(claimed_ids)], "--as", "cla", "--note", f"{n}", "--json"), STEP)
good("ack", acked)

# -------------------------------------------------------- what the server remembers

subprocess.run([ROGER, "--workspace", WORKSPACE, "send", "--batch", "--as", "al", "--quiet"], check=True, text=True,
               input="".join(json.dumps({"to": ["kit"], "content": f"{n}", "issue": "kit"}) + "\n" for n in range(6)))
CLAIM = {"agent": "kit", "lease": 3600000}


def ask(key, body=CLAIM, path="/v1/claim", since=None):
    status, headers, reply = server.post(path, body, headers={"Idempotency-Key": key, **({"Roger-Tried": str(since)} if since else {})})
    return status, headers.get("Idempotent-Replayed"), [m["id"] for m in reply["messages"]] if status == 200 else reply


first = ask("k1")
equal("a claim is done once, and its answer kept", ask("k1"), (200, "true", first[2]))
check("by its key", ask("k2")[2] != first[2])
status, _, reply = ask("k1", {**CLAIM, "limit": 2})
equal("which is good for one request", (status, reply["member"], reply["exit"]), (422, "key", 77))
equal("and for one verb", ask("k1", {"agent": "kit", "limit": 1}, "/v1/receive")[:2], (200, None))
status, _, reply = ask("k3", {"agent": "kit", "lease": 1 << 60})
equal("an error is told again to who asks because a connection broke", ask("k3", {"agent": "kit", "lease": 1 << 60}, since=1), (status, "true", reply))
equal("and to nobody else", ask("k3", {"agent": "kit", "lease": 1 << 60})[:2], (status, None))
status, _, reply = ask("k4", since=1 << 40)
equal("what it may have forgotten, nobody knows", (status, reply["exit"]), (503, 75))
equal("a further try of what is newer than all it forgot is the first it sees", ask("k4", since=1)[:2], (200, None))

# ---------------------------------------------- the server is killed between two tries


class Killing(Proxy):
    """The first request is done, its answer lost, and the server with it; then there is another."""

    def accept(self):
        global server
        client = self.listener.accept()[0]
        upstream = socket.socket(socket.AF_UNIX)
        upstream.connect(server_path)
        # The request may come in pieces; the answer is to all of it.
        while upstream not in (ready := select.select([client, upstream], [], [])[0]):
            upstream.sendall(ready[0].recv(65536))
        server.end(signal.SIGKILL)
        server = Server()
        client.close()
        super().accept()


def killed(*words):
    proxy = Killing()
    ended = remote(*words, server=proxy.path)
    proxy.end()
    return ended


ended = killed("send", "dan", "once", "--as", "al")
equal("a send is done once, over a server that was killed", (ended.returncode, roger("list", "--to", "dan", "--count").stdout), (0, "1\n"))
ended = killed("send", "dan,eve", "both", "--as", "al", "--key", "k:status-update:1")
equal("to several, too", (ended.returncode, roger("list", "--key", "k:status-update:1", "--count").stdout), (0, "2\n"))
ended = killed("ack", roger("list", "--to", "dan", "--limit", "1", "--print", "id").stdout.strip(), "--as", "dan")
equal("an ack is one, however often", ended.returncode, 0)
ended = killed("receive", "--as", "eve")
check("of what cannot be done twice nobody knows", ended.returncode == 75 and "not known" in ended.stderr, (ended.returncode, ended.stdout, ended.stderr))

# -------------------------------------------------------------------- the outbox

server_path = server.path
server.end()
for n in range(3):
    ended = remote("send", "fay", f"waits {n}", "--as", "al", "--queue", server=server_path)
    check(f"without a server it is queued, and not called sent ({n})", ended.returncode == 0 and ended.stdout.startswith("queued"), (ended.returncode, ended.stdout, ended.stderr))
ended = remote("send", "fay", "waits 3", "--as", "al", "--queue", "--json", server=server_path)
equal("in JSON, too", json.loads(ended.stdout)["queued"], True)
ended = remote("send", "fay", "never", "--as", "al", server=server_path)
check("without --queue it ends with 75, and says that nobody answers and what waits", ended.returncode == 75 and "nobody answers" in ended.stderr and "4 messages" in ended.stderr, ended.stderr)
ended = remote("status", server=server_path)
check("every command says what waits", ended.returncode == 75 and "4 messages" in ended.stderr, ended.stderr)
for words in (("--batch",), ("fay", "x", "--confirm", "read", "--key", "a:escalation:1")):
    equal(f"not for {words[-1]}", remote("send", *words, "--as", "al", "--queue", server=server_path).returncode, 64)
home = new_home()
for name in ("hal", "gus"):
    remote("send", "nobody-like-that-at-all", "x" * 20000, "--as", name, "--queue", server=server_path, home=home)
remote("send", "gus", "good", "--as", "gus", "--queue", server=server_path, home=home)
server = Server("--listen", "127.0.0.1:0")
ended = remote("send", "fay", "waits 4", "--as", "al", server=server_path)
equal("with a server it goes out", ended.returncode, 0)
fay = json.loads(roger("list", "--to", "fay", "--json").stdout)["messages"]
equal("in its order, and what follows does not overtake it", [m["content"] for m in fay], [f"waits {n}" for n in range(5)])
ended = remote("status", "--json", server=server_path)
check("then nothing waits", ended.stderr == "" and not any(c["kind"] == "outbox" for c in json.loads(ended.stdout)["concerns"]), (ended.stdout, ended.stderr))
ended = remote("status", "--json", server=server_path, home=home)
check("a message that a rule refuses is reported", "2 messages that waited in the outbox were refused (the last is from 'gus'): content:" in ended.stderr, ended.stderr)
check("and stays in sight", any(c["kind"] == "outbox" and "2 refused, which can be removed" in c["words"] for c in json.loads(ended.stdout)["concerns"]), ended.stdout)
step = next(c["next"] for c in json.loads(ended.stdout)["concerns"] if c["kind"] == "outbox")
listed = subprocess.run(["sh", "-c", step], capture_output=True, text=True, env={**ENV, "HOME": str(home)})
check("where it is is the next step", ".refused" in listed.stdout, (step, listed.stdout, listed.stderr))
equal("and keeps nothing back", roger("list", "--to", "gus", "--count").stdout, "1\n")

# With another's token it waits.
tokens = {name: roger("token", "new", name, "--right", "act").stdout.strip() for name in ("ann", "ben")}
home = new_home()
port = server.port
server.end()


def by_token(name, *words):
    given = {**ENV, "HOME": str(home), "ROGER_SERVER": f"http://127.0.0.1:{port}", "ROGER_TOKEN": tokens[name]}
    return subprocess.run([ROGER, *words], capture_output=True, text=True, cwd=ELSEWHERE, env=given, stdin=subprocess.DEVNULL)


for name in tokens:
    equal(f"{name} queues", by_token(name, "send", "hal", f"of {name}", "--as", name, "--queue").returncode, 0)
server = Server("--listen", f"127.0.0.1:{port}")
ended = by_token("ben", "list", "--count")
equal("with a token goes what is its agent's", [m["content"] for m in json.loads(roger("list", "--to", "hal", "--json").stdout)["messages"]], ["of ben"])
check("and the rest waits for the other one", "1 message" in ended.stderr, ended.stderr)
by_token("ann", "list", "--count")
equal("which comes", roger("list", "--to", "hal", "--count").stdout, "2\n")

# ------------------------------------------------------------ killed at every step

CALLS = "mkdirat,openat,write,fdatasync,fsync,rename,renameat,renameat2,unlinkat,flock,socket,connect,sendto,recvfrom"


def recorded(words, home):
    log = Path(FOLDER.name) / "calls"
    remote(*words, server=server_path, home=home, before=["strace", "-f", "-qq", "-o", log, "-e", f"trace={CALLS}"])
    calls = []
    seen = collections.Counter()
    for line in log.read_text().splitlines():
        if found := re.match(r"\d+ +(\w+)\((.*)", line):
            seen[found[1]] += 1
            # Libraries are loaded before anything is done.
            if found[1] != "openat" or FOLDER.name in found[2] or "outbox" in found[2] or "lock" in found[2] or ".json" in found[2] or "AT_FDCWD" not in found[2]:
                calls.append((found[1], seen[found[1]]))
    return calls


def kill_at(call, number, words, home):
    return remote(*words, server=server_path, home=home,
                  before=["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={number}"])


if not shutil.which("strace") or subprocess.run(["strace", "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode:
    check("no strace here # skip it may not trace", True)
else:
    ENV["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"  # does not work while traced
    server.end()
    queue = lambda text: ("send", "ida", text, "--as", "al", "--queue")
    steps = recorded(queue("first"), new_home())
    waiting = {}
    for number, (call, count) in enumerate(steps):
        home = new_home()
        ended = kill_at(call, count, queue(f"q{number}"), home)
        waiting[f"q{number}"] = (home, "queued" in ended.stdout, f"{call} {count}")
    server = Server()
    for home, _, _ in waiting.values():
        remote("list", "--count", server=server_path, home=home)
    there = collections.Counter(m["content"] for m in json.loads(roger("list", "--to", "ida", "--limit", "0", "--json").stdout)["messages"])
    equal(f"killed at each of {len(steps)} steps of a queued send: what was called queued goes out", [w for text, (_, said, w) in waiting.items() if said and not there[text]], [])
    equal("nothing twice", [text for text, count in there.items() if count > 1], [])
    check("some were on disk, and some not", 0 < len(there) < len(steps), (len(there), len(steps)))

    def queued(text):
        home = new_home()
        global server
        for n in range(2):
            remote("send", "jim", f"{text} {n}", "--as", "al", "--queue", server=server_path + ".gone", home=home)
        folder = next((home / ".local/state/roger").glob("outbox-*"))
        # The outbox of the server that is there.
        folder.rename(folder.parent / outbox)
        return home

    home = new_home()
    server.end()
    remote(*queue("its name"), server=server_path, home=home)
    outbox = next((home / ".local/state/roger").glob("outbox-*")).name
    server = Server()
    steps = recorded(("list", "--count"), queued("measure"))
    for number, (call, count) in enumerate(steps):
        home = queued(f"f{number}")
        kill_at(call, count, ("list", "--count"), home)
        remote("list", "--count", server=server_path, home=home)
    texts = [m["content"] for m in json.loads(roger("list", "--to", "jim", "--limit", "0", "--json").stdout)["messages"]]
    expected = [f"{text} {n}" for text in ["measure", *(f"f{number}" for number in range(len(steps)))] for n in range(2)]
    equal(f"killed at each of {len(steps)} steps of sending what waits: each once, in its order", texts, expected)

# ------------------------------------------------------------------ never an answer

out, err = hopeless.communicate(timeout=120)
found = re.search(r"--key (\S+)", err)
check("where no answer ever comes, the outcome is not known (75), and the key is told", hopeless.returncode == 75 and "not known" in err and found, (hopeless.returncode, out, err))
mute.every = None
before = roger("list", "--to", "nobody", "--count").stdout
ended = remote("send", "nobody", "perhaps", "--as", "al", "--key", found[1] if found else "none", server=server_path)
equal("with it the same is sent once", (ended.returncode, roger("list", "--to", "nobody", "--count").stdout), (0, "1\n"))
hopeless_claim.communicate(timeout=120)
equal("so ends any verb", hopeless_claim.returncode, 75)
status, errors = server.end()
equal("the server ended in order", (status, errors), (0, ""))
done()
