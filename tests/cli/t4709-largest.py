#!/usr/bin/env python3
"""What comes from outside has a largest size: of that size it is taken, and one more is refused with the
limit, or told, before memory is taken for it.  The last is seen with files of 8 GiB without blocks, by a
process that may have 512 MiB.

    ROGER=build/roger python3 tests/cli/t4709-largest.py
"""
import glob
import http.server
import json
import os
import resource
import subprocess
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from lib_tap import check, done  # noqa: E402

ROGER = os.path.abspath(os.environ["ROGER"])
ENV = {name: value for name, value in os.environ.items() if not name.startswith("ROGER")}
ENV.update(HOME=os.getcwd(), XDG_STATE_HOME=os.getcwd() + "/state", XDG_RUNTIME_DIR=os.getcwd())
MIB = 1 << 20
os.mkdir("state", 0o700)


def roger(*words, said="", bounded=False, **env):
    def bound():
        resource.setrlimit(resource.RLIMIT_AS, (512 * MIB, 512 * MIB))
    # The sanitizers need more for themselves.
    bound = bound if bounded and b"__asan" not in open(ROGER, "rb").read() else None
    return subprocess.run([ROGER, *words], env=ENV | env, input=said, capture_output=True, text=True, preexec_fn=bound)


def both(name, size, make, words, status, named, **more):
    """make(n) puts n of it there and gives the words of the command and its input."""
    fits = roger(*words, said=make(size) or "", **more)
    over = roger(*words, said=make(size + 1) or "", **more)
    check(f"{name}: {size} are taken", fits.returncode == 0, (fits.returncode, fits.stderr[:300]))
    check(f"{name}: one more is refused with the limit",
          over.returncode == status and (named or str(size)) in over.stderr.replace(",", ""), (over.returncode, over.stderr[:300]))


def huge(name, path, words, status, **more):
    """A file of 8 GiB in its place."""
    was = open(path, "rb").read() if os.path.exists(path) else None
    with open(path, "wb") as file:
        file.truncate(8 << 30)
    got = roger(*words, bounded=True, **more)
    check(f"{name} of 8 GiB: refused, and no memory is taken for it",
          got.returncode == status and "memory" not in got.stderr and "is missing" not in got.stderr and (got.stdout + got.stderr).strip(),
          (got.returncode, got.stderr[:300]))
    os.unlink(path)
    if was is not None:
        with open(path, "wb") as file:
            file.write(was)


assert roger("init").returncode == 0
HERE = os.getcwd()


# ------------------------------------------------------------------ values --

both("characters of a message", 10000, lambda n: "é" * n, ["send", "--as", "amy", "bob", "-"], 65, "")
both("characters of metadata", 5000, lambda n: json.dumps({"from": "amy", "to": "bob", "content": "x",
                                                             "metadata": {"k": "x" * (n - 8)}}) + "\n",
     ["send", "--batch"], 65, "")
for name in ("--as", "to"):
    fits, over = (roger("send", "--as", *(("n" * n, "bob") if name == "--as" else ("amy", "n" * n)), "--new", "x") for n in (128, 129))
    check(f"a name of 128 characters is taken as {name}, one of 129 is not",
          fits.returncode == 0 and over.returncode in (64, 65) and "128" in over.stderr, (fits, over.stderr[:300]))
many = "".join(json.dumps({"from": "amy", "to": "bob", "content": str(i), "issue": f"i{i % 40}"}) + "\n" for i in range(201))
assert roger("send", "--batch", "--quiet", said=many).returncode == 0
ids = [json.loads(line)["id"] for line in open(".roger/messages.jsonl") if json.loads(line)["to_phase"] == "bob"]
fits, over = (roger("ack", "--as", "bob", *ids[:n]) for n in (200, 201))
check("200 ids are acked, 201 are refused", fits.returncode == 0 and over.returncode in (64, 65) and "200" in over.stderr,
      (fits.stderr[:300], over.stderr[:300]))
fits, over = (roger("show", *["msg-1"] * n) for n in (1000, 1001))
check("1000 ids are looked up, 1001 are refused", fits.returncode == 66 and over.returncode in (64, 65) and "1000" in over.stderr,
      (fits.returncode, over.stderr[:300]))
deep = [json.dumps({"from": "amy", "to": "bob", "content": "x"})[:-1] + ',"metadata":' + '{"a":' * (n - 1) + "1" + "}" * n + "\n" for n in (64, 65)]
fits, over = (roger("send", "--batch", said=line) for line in deep)
check("JSON is read 64 deep, and not 65", fits.returncode == 0 and over.returncode == 65 and "64" in over.stderr, (fits.stderr[:200], over.stderr[:300]))
entry = '{"timestamp":"2026-01-02T03:04:05Z","task_id":"t","action":{"type":"TOOL_EXEC","details":{"k":"%s"}},"outcome":{"status":"SUCCESS"}}\n'
both("characters of details", 65536, lambda n: entry % ("x" * (n - 8)), ["log", "-"], 65, "")

both("bytes of an agent's file", 4 * MIB, lambda n: "\n" * (n - 13) + "(ZED #%d): hi\n" % (n % 10), ["bridge", "ingest", "--to", "bob"], 65, "")

# ------------------------------------------------------------------- files --


def config(size):
    with open(".roger/config.yaml", "w") as file:
        file.write("size_limits:\n  max_content_length: 9000\n" + "#" * 70 + "\n")
        file.write("# " + "x" * (size - file.tell() - 3) + "\n")


both("bytes of a configuration", 4 * MIB, config, ["list"], 78, "")
huge("a configuration", ".roger/config.yaml", ["list"], 78)
config(1000)
before = open(".roger/messages.jsonl", "rb").read()
line = '{"id":"msg-9","issue_id":"general","from_phase":"zed","to_phase":"bob","run_counter":1,"message_type":"context","content":"%s",' \
       '"metadata":null,"read":false,"created_at":1,"read_at":null}'
for more, status in ((0, 0), (1, 65)):
    with open(".roger/messages.jsonl", "wb") as file:
        file.write(before + (line % ("x" * (8 * MIB + more - len(line % "")))).encode() + b"\n")
    got = roger("verify")
    check(f"a line of another program of 8 MiB {'and one byte ' * more}is {'told' if more else 'read'}",
          got.returncode == status if not more else "longer than" in got.stdout + got.stderr, (got.returncode, got.stdout[-600:], got.stderr[:300]))
    check("  the rest is answered", roger("list", "--limit", "1").returncode == 0)
with open(".roger/messages.jsonl", "wb") as file:
    file.write(before)
roger("dismiss", "messages.jsonl", "--reason", "test")
trust = glob.glob("state/roger/trust/*.json")[0]
huge("what a person trusts", trust, ["trust"], 77)
with open("import.jsonl", "wb") as file:
    file.truncate((512 << 20) + 1)
got = roger("log", "--import", "import.jsonl", bounded=True)
check("entries to import of 512 MiB and one byte: refused with the limit", got.returncode == 65 and "536870912" in got.stderr, (got.returncode, got.stderr[:300]))
huge("entries to import", "import.jsonl", ["log", "--import", "import.jsonl"], 65)
huge("a seal", "seal.json", ["verify", "--seal", "seal.json"], 65)
# It is made anew, and that is said.
huge("message-state.json", ".roger/message-state.json", ["agents", "session"], 0)
os.makedirs(".config/roger", 0o700)
open(".config/roger/servers", "w").close()
os.chmod(".config/roger/servers", 0o600)
huge("the list of servers", ".config/roger/servers", ["list"], 65, ROGER_SERVER="http://127.0.0.1:9")

# ------------------------------------------------------------------ answers --


class Talker(http.server.BaseHTTPRequestHandler):
    """A server that claims more than a client takes."""

    def do_POST(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str((128 << 20) + 1))
        self.end_headers()
        for _ in range(129):
            try:
                self.wfile.write(b" " * MIB)
            except OSError:
                break

    do_GET = do_POST

    def log_message(self, *_):
        pass


# Another program's line of nearly 8 MiB, with no room for what becomes of it: who gets it could not mark it read, nor what is behind.
LONG = {"id": "msg-1-long", "issue_id": "app", "from_phase": "kim", "to_phase": "bob", "run_counter": 1, "message_type": "context",
        "content": "x" * (8 * MIB - 400), "metadata": None, "read": False, "created_at": 1, "read_at": None}
os.mkdir("long")
os.chdir("long")
roger("init")
roger("send", "--as", "ann", "--new", "bob", "before")
with open(".roger/messages.jsonl", "a", encoding="ascii") as file:
    file.write(json.dumps(LONG, separators=(",", ":")) + "\n")
roger("send", "--as", "ann", "bob", "behind")
got = roger("receive", "--as", "bob", "--json")
check("a message with no room for its state is none, and other mail is received",
      (got.returncode, [m["content"] for m in json.loads(got.stdout or "{}").get("messages", [])]) == (0, ["before", "behind"]), got.stderr[:300])
strays = [f for f in json.loads(roger("verify", "--json").stdout)["findings"] if f["kind"] == "stray"]
check("verify names its line", [f["line"] for f in strays] == [2], strays)
check("doctor counts no message more", roger("doctor").returncode == 0)
check("status tells of it", "stray" in roger("status").stdout)
os.chdir("..")

server = http.server.HTTPServer(("127.0.0.1", 0), Talker)
threading.Thread(target=server.serve_forever, daemon=True).start()
got = roger("list", bounded=True, ROGER_SERVER=f"http://127.0.0.1:{server.server_port}", ROGER_TOKEN="x" * 43)
check("an answer of a server of 128 MiB and one byte: refused, and no memory is taken for it",
      got.returncode in (65, 69, 74) and "memory" not in got.stderr, (got.returncode, got.stderr[:300]))
done()
