"""Every command of `roger help`, through a server and beside files: the same facts, or a sentence why not."""
import difflib
import json
import os
import pty
import re
import select
import signal
import subprocess
import time

AS = ("--as", "al")
EVENT = json.dumps({"session_id": "s", "transcript_path": "", "cwd": "", "hook_event_name": ""})
ASK = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}) + "\n"

# A command, its words and its input; a seal is made into the current folder.
WALK = [
    ("send", ["send", "bob", "hello bob", *AS, "--key", "t:status-update:1", "--issue", "app"], None),
    ("send", ["send", "bob,carol", "-", *AS, "--type", "result", "--key", "t:status-update:2"], "two\nlines\n"),
    ("reply", ["reply", "al#1", "an answer", "--as", "bob", "--key", "r:status-update:1"], None),
    ("inbox", ["inbox", "--as", "bob"], None),
    ("list", ["list"], None),
    ("show", ["show", "al#1"], None),
    ("trace", ["trace", "t:status-update:1"], None),
    ("why", ["why", "bob"], None),
    ("prime", ["prime", "--as", "bob"], None),
    ("wait", ["wait", "--as", "bob", "--timeout", "1ms"], None),
    ("claim", ["claim", "--as", "bob", "--worker", "w1", "--limit", "1"], None),
    ("nack", ["nack", "al#1", "--as", "bob", "--worker", "w1"], None),
    ("receive", ["receive", "--as", "bob"], None),
    ("ack", ["ack", "al#1", "--as", "bob", "--note", "seen"], None),
    ("archive", ["archive", "al#1", "--reason", "done"], None),
    ("agents", ["agents"], None),
    ("agents session", ["agents", "session"], None),
    ("agents retire", ["agents", "retire", "carol", "--to", "bob"], None),
    ("run", ["run", *AS, "--run", "r1", "--issue", "app", "--", "sh", "-c", "echo out; echo err >&2; exit 3"], None),
    ("run", ["run", *AS, "--run", "r2", "--", "sh", "-c", "cat"], "through\n"),
    ("run", ["run", *AS, "--run", "r3", "--", "no-such-program"], None),
    ("run", ["run", *AS, "--run", "r4", "--timeout", "50ms", "--", "sleep", "60"], None),
    ("run", ["run", *AS, "--run", "r5", "--result-file", "left.md", "--", "sh", "-c", "echo 'it is done' >left.md"], None),
    ("run", ["run", *AS, "--run", "r6", "--result-file", "none.md", "--", "true"], None),
    ("run", ["run", *AS, "--run", "r7", "--child", "kid", "--result", "message", "--", "sh", "-c", 'roger send al "by myself" --type result --key k:result:1'], None),
    ("run", ["run", *AS, "--run", "r1", "--", "true"], None),
    ("run", ["run", "--", "true"], None),
    ("run", ["run", *AS], None),
    ("runs", ["runs", "r1"], None),
    ("runs", ["runs", "r4"], None),
    ("runs", ["runs"], None),
    ("dispatch", ["dispatch", "d1", *AS, "--within", "1h"], None),
    ("runs extend", ["runs", "extend", "d1", "--by", "1m"], None),
    ("complete", ["complete", "d1", "--result", "done", *AS], None),
    ("runs forward", ["runs", "forward", "d1"], None),
    ("runs recover", ["runs", "recover", "d1"], None),
    ("runs sweep", ["runs", "sweep"], None),
    ("dismiss", ["dismiss", "r4", "--reason", "seen", *AS], None),
    ("bridge", ["bridge", "--once"], None),
    ("bridge ingest", ["bridge", "ingest", "(al #90): from a file", "--as", "bob"], None),
    ("status", ["status", "--json"], None),
    ("timeline", ["timeline", "app"], None),
    ("report", ["report"], None),
    ("report stats", ["report", "stats"], None),
    ("log", ["log", "app", "FILE_READ", "--message", "read it", "--at", "2026-01-01T00:00:00Z"], None),
    ("log activity", ["log", "activity", "--until", "2026-01-02"], None),
    ("log sends", ["log", "sends"], None),
    ("log cycle", ["log", "cycle"], None),
    ("log purge", ["log", "purge"], None),
    ("dead", ["dead"], None),
    ("dead redeliver", ["dead", "redeliver", "none"], None),
    ("cleanup", ["cleanup", "--dry-run"], None),
    ("seal", ["seal", "--out", "a.seal"], None),
    ("verify", ["verify", "--seal", "a.seal"], None),
    ("verify", ["verify"], None),
    ("doctor", ["doctor"], None),
    ("doctor rebuild", ["doctor", "rebuild"], None),
    ("export", ["export", "app", "--html", "--out", "a.html"], None),
    ("config", ["config", "show"], None),
    ("schema", ["schema", "send"], None),
    ("help", ["help", "run"], None),
    ("version", ["version"], None),
    ("completion", ["completion", "bash"], None),
    ("hook", ["hook", "claude", "prompt", "--as", "hal"], EVENT),
    ("mcp", ["mcp", "--as", "bob"], ASK),
    ("wake", ["wake", "--once"], None),
]
# Commands that stay, which are killed after a while: what they print begins so.
STAY = {"log": ["log", "-f"], "list": ["list", "-f"], "timeline": ["timeline", "app", "-f"]}
# What only the machine of the workspace does, and says so with 64 from elsewhere.
ELSEWHERE_NOT = {
    "init": ["init"], "setup": ["setup", "claude"], "trust": ["trust"], "serve": ["serve"], "ui": ["ui"], "token": ["token", "list"],
    "move": ["move", "there"], "upgrade": ["upgrade"], "backup": ["backup", "x.tar"], "restore": ["restore", "x.tar"], "bridge": ["bridge", "--once"],
}


def facts(text):
    """What does not differ from workspace to workspace."""
    for pattern, to in ((r"(msg|run)-\d{13}-[0-9a-f]*", "<id>"), (r"remote-[0-9a-f]+:status-update:0", "<key>"), (r"\b[0-9a-f]{8,128}\b", "<hash>"),
                        (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d)?(\.\d+)?Z?", "<time>"), (r"\b1[0-9]{12}\b", "<time>"), (r"\b\d\d:\d\d(:\d\d)?\b", "<time>"),
                        (r"\b\d+(\.\d+)?(ms|s)\b( \d+(ms|s))?", "<span>"), (r'"(\w+_ms|took|duration|bytes|\w+_pid|\w+_start|pid_space|boot_id|attempt_no|looked|position|line)":"?[-0-9a-f]+"?', r'"\1":<n>'),
                        (r'"<time> dispatched by root <who>",', ""), (r"process +\d+, watched by \d+", "<process>"), (r"^chores: .*\n|^journals in .*\n|^standby of .*\n", ""), (r',"(chores|worktrees)":\[[^]]*\]|,"(served_by|standby|store|login|proved)":"[^"]*"', ""),
                        (r"/(tmp|dev/shm)/[^\s\"',]*", "<path>"), (r"run by (uid|token|socket)[^\n]*", "run by <who>"), (r"\(uid[^)]*\)|\(socket\)|\(token[^)]*\)|uid \d+[^\"\n]*", "<who>"), (r"\d+ MB", "<MB>"), (r"\d+ min left", "<left>"), (r"^.*: dispatched by root <who>.*\n", ""), (r"\d+ events|journal bytes +\d+", "<n>"), (r"(notes  )?<time> dispatched by root <who>\n +", r"\1"), (r"<time>\.\d+", "<time>"), (r"  +", "  ")):
        text = re.sub(pattern, to, text, flags=re.M)
    return text


class Side:
    """Where commands are typed: words before them, an environment, and a folder of its own."""

    def __init__(self, program, folder, environment, before=()):
        self.program, self.folder, self.environment, self.before = program, folder, environment, list(before)
        os.makedirs(folder, exist_ok=True)

    def run(self, words, input=None):
        done = subprocess.run([self.program, *self.before, *words], capture_output=True, text=True, cwd=self.folder, env=self.environment,
                              input=input or "", timeout=120)
        return done.returncode, done.stdout, done.stderr

    def begins(self, words):
        """The first line that a command prints which stays, and whether it ends when it is told to."""
        stays = subprocess.Popen([self.program, *self.before, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=self.environment)
        ready = select.select([stays.stdout], [], [], 60)[0]
        line = stays.stdout.readline() if ready else ""
        stays.send_signal(signal.SIGTERM)
        return bool(line.strip()), stays.wait(60), stays.stderr.read()

    def top(self):
        """What `roger top` has on its screen when q is typed; and its exit status."""
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(self.program, [str(self.program), *self.before, "top"], {**self.environment, "TERM": "xterm", "LINES": "40", "COLUMNS": "120"})
        shown, ends = b"", time.monotonic() + 60
        while b"AGENTS" not in shown and time.monotonic() < ends:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    shown += os.read(terminal, 65536)
                except OSError:
                    break
        os.write(terminal, b"q")
        return b"AGENTS" in shown, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), shown[-2000:]


def walk(beside, through, check, equal, skip=()):
    """Each command on both sides, in the same order."""
    for name, words, input in WALK:
        if name in skip:
            continue
        one, other = beside.run(words, input), through.run(words, input)
        said = [(code, facts(out), facts(err)) for code, out, err in (one, other)]
        if name == "verify":
            said = [(code, sorted(out.splitlines()), err) for code, out, err in said]
        if name in ("export", "seal"):
            said = [(code, "", err) for code, out, err in said]
        check(f"{name}: {' '.join(words)[:70]}", said[0] == said[1], "\n# ".join(difflib.unified_diff(*(json.dumps(one, indent=1).replace("\\n", "\n").splitlines() for one in said), "files", "server", n=0)))
    for name, words in STAY.items():
        equal(f"{name}: {' '.join(words)} begins, and ends when told", through.begins(words)[:2], beside.begins(words)[:2])
    for side, where in ((beside, "beside files"), (through, "through the server")):
        seen, code, shown = side.top()
        check(f"top {where}", seen and code == 0, (code, shown))


def commands(program):
    told = json.loads(subprocess.run([program, "help", "--json"], capture_output=True, text=True).stdout)
    return {one["name"] for one in told["commands"]}
