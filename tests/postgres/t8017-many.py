"""Two workspaces of one database in one server, and in a second one that follows both: when the first is killed, the second leads both, each with its
own mail; a server of files takes no workspace of a database in, and none of another database.

    script/postgres python3 tests/postgres/t8017-many.py
runner: plain timeout 120
"""
from lib_faults import *

NAMES = ("many-a", "many-b")


class Pair:
    """A machine with a workspace for each name, and one server."""

    def __init__(self):
        self.server = Server(NAMES[0])
        home = self.server.home
        self.env = {name: value for name, value in self.server.env.items() if name != "ROGER_STORE"}
        self.env.update(XDG_RUNTIME_DIR=home)
        for folder, name in zip(("w", "w2"), NAMES):
            self.make(folder, f"{SERVER}#{name}")

    def make(self, folder, address):
        """As a person does it."""
        folder = Path(self.server.home, folder)
        folder.mkdir(exist_ok=True)
        self.must("init", folder)
        if address:
            (folder / ".roger/config.yaml").write_text(f"store: '{address}'\n")
            self.must("trust", folder, "--accept", json.loads(self.must("trust", folder, "--show", "--json"))["sha256"])
            self.must("init", folder)

    def must(self, verb, folder, *words):
        done = subprocess.run([lib.ROGER, verb, *words], cwd=folder, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        assert done.returncode == 0 or "--show" in words, done.stderr
        return done.stdout

    def serve(self, *words):
        return subprocess.Popen([lib.ROGER, "serve", *words], cwd=self.server.home + "/w", env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def start(self):
        self.process = self.serve("--also", f"b={self.server.home}/w2")
        atexit.register(self.process.kill)
        said = [self.process.stdout.readline() for _ in range(2)]
        assert all(said), self.process.communicate()
        self.sockets = {NAMES[1]: said[0].split(" at ")[1].strip(), NAMES[0]: said[1].split(" at ")[1].strip()}
        return self


pairs = [Pair().start(), Pair().start()]


def run(name, *words):
    env = dict(lib.ENV, HOME=pairs[0].server.home, XDG_STATE_HOME=pairs[0].server.home + "/state", ROGER_SERVER=",".join("unix:" + one.sockets[name] for one in pairs))
    return subprocess.run([lib.ROGER, *words], cwd=pairs[0].server.home, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)


def mail(name):
    return [json.loads(line)["content"] for line in run(name, "list", "--jsonl").stdout.splitlines()]


faults = [done.stderr for name in NAMES if (done := run(name, "send", "bob", f"in {name}", "--as", "amy")).returncode]
tap.result(faults + [f"{name}: {mail(name)}" for name in NAMES if mail(name) != [f"in {name}"]], "each of two workspaces of one server has its mail")
leaders = sql("SELECT DISTINCT split_part(leader, ' ', 2) FROM roger.workspace").stdout.split()
tap.result([] if leaders == [str(pairs[0].process.pid)] else [str(leaders)], "and is led by that server")
pairs[0].process.kill()
pairs[0].process.wait()
began = time.monotonic()
faults = [done.stderr for name in NAMES if (done := run(name, "send", "bob", "afterwards", "--as", "amy")).returncode]
took = time.monotonic() - began
faults += [f"{name}: {mail(name)}" for name in NAMES if mail(name) != [f"in {name}", "afterwards"]]
tap.result(faults + ([f"{took:.1f} s"] if took > 6 else []), f"killed, the other one leads both after {took:.1f} s, with all that was sent")
tap.result([f"{name} {verb}: {done.stdout} {done.stderr}" for name in NAMES for verb in ("verify", "doctor") if (done := run(name, verb)).returncode], "verify and doctor have no complaint about either")
for what, folder, address in (("of files", "files", ""), ("of another database", "other", f"{SERVER.replace('/postgres?', '/template1?')}#x"),
                              ("that is the same one", "same", f"{SERVER}#{NAMES[0]}")):
    pairs[0].make(folder, address)
    refused = pairs[0].serve("--also", f"x={pairs[0].server.home}/{folder}")
    try:
        err = refused.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
        refused.kill()
        err = "it serves"
    tap.result([] if refused.returncode == 64 and "also" in err else [f"{refused.returncode} {err}"], f"a workspace {what} is refused")
pairs[1].process.terminate()
tap.result([] if pairs[1].process.wait(60) == 0 else ["it did not end well"], "both end together")
for pair in pairs:
    pair.server.end()
tap.done()
