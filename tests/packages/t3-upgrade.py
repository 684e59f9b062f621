#!/usr/bin/env python3
# runner: plain
# runner: alone
# runner: timeout 900
"""A package is exchanged while programs of the version before run: mcp, wake, bridge, serve, a claim and senders.
Nothing is lost, nothing comes twice, and who is to be ended is told.
Then back to the version before. script/systems builds that one."""
import threading

from lib import *

OLD = SYSTEMS / "before"
if not (OLD / "roger").exists():
    print("ok 1 - no version before # skip script/systems could not build it\n1..1")
    sys.exit(0)

system = System("bookworm")
names = [deb("roger"), deb("roger-serve")]
system.bring(*names)


def deb_before(name, inside):
    """The same package with the programs of the version before."""
    tree = system.top / name
    subprocess.run(["dpkg-deb", "-R", OUT / deb(name), tree], check=True)
    for path, program in inside.items():
        shutil.copy(OLD / program, tree / path)
    control = tree / "DEBIAN/control"
    control.write_text(control.read_text().replace(f"Version: {VERSION}", "Version: 0.0.9").replace(f"(= {VERSION})", "(= 0.0.9)"))
    (tree / "DEBIAN/md5sums").unlink()
    subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, system.root_path(f"/tmp/{deb(name, '0.0.9')}")], check=True, capture_output=True)
    return f"/tmp/{deb(name, '0.0.9')}"


old = " ".join([deb_before("roger", {"usr/bin/roger": "roger", "usr/libexec/roger/roger-remote": "roger"}), deb_before("roger-serve", {"usr/libexec/roger/roger-serve": "roger-serve"})])
new = " ".join(f"/tmp/{name}" for name in names)
told = system.run("apt-get -qq install -y --no-install-recommends libevent-core-2.1-7 libevent-extra-2.1-7 libpq5 libsqlite3-0 libyaml-0-2 libsodium23 libutf8proc2")
shutil.copy("/usr/lib/x86_64-linux-gnu/libyyjson.so.0", system.root_path("/usr/lib/x86_64-linux-gnu"))
first_message(system, "the version before", f"dpkg -i {old}")

system.root_path("/root/project/.roger/config.yaml").write_text("wake:\n  agents:\n    test: [/bin/true]\n")
told = system.run("roger trust --accept $(roger trust --show | grep -o '[0-9a-f]\\{64\\}' | head -n 1)", folder="/root/project")
check("an agent has a command", told.returncode == 0, (told.stdout, told.stderr))
sent, waits, refused = set(), [0], []


def call(words, member="messages"):
    began = time.monotonic()
    told_ = system.run(words, folder="/root/project")
    took = time.monotonic() - began
    waits.append(took)
    return told_, took


def send(text, who="plan"):
    told_, took = call(["roger", "send", "--as", who, "--new", "--key", f"up:status-update:{len(sent)}-{text.replace(' ', '-')}", "test", text])
    if told_.returncode == 0:
        sent.add(text)
    else:
        refused.append((text, told_.returncode, told_.stderr.strip(), round(took, 1)))
    return told_


class Living:
    """What runs on while its program is exchanged."""

    def __init__(self):
        self.mcp = system.start("exec roger mcp --as amy", folder="/root/project")
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        self.mcp.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self.mcp.stdin.flush()
        self.others = [system.start(f"exec roger {words}", folder="/root/project") for words in ("serve --listen 127.0.0.1:0", "bridge", "wake")]
        self.others[0].stdout.readline()
        time.sleep(0.3)

    def ask(self, method, params):
        self.mcp.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n")
        self.mcp.stdin.flush()
        while True:
            line = self.mcp.stdout.readline()
            if not line or '"id":1' in line.replace(" ", ""):
                return line

    def send(self, text):
        began = time.monotonic()
        line = self.ask("tools/call", {"name": "send", "arguments": {"to": ["test"], "content": text}})
        waits.append(time.monotonic() - began)
        if '"isError":true' in line.replace(" ", "") or '"error"' in line or not line:
            refused.append((text, "mcp", line[:300], round(time.monotonic() - began, 1)))
        else:
            sent.add(text)

    def end(self):
        said = []
        for process in (self.mcp, *self.others):
            process.stdin.close()
        system.run("for p in /proc/[0-9]*; do read -r a <$p/comm 2>/dev/null; case $a in roger*) kill ${p#/proc/};; esac; done; true")
        for process in (self.mcp, *self.others):
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                said.append(process.args)
        return said


def traffic(living, what, count=6):
    """Senders of both kinds beside each other."""
    def one(number):
        send(f"{what} {number}")

    threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    if living:
        living.send(f"{what} mcp")
    for thread in threads:
        thread.join()


def stored():
    told_ = system.run(["roger", "list", "--to", "test", "--limit", "0", "--jsonl"], folder="/root/project")
    return [json.loads(line)["content"] for line in told_.stdout.splitlines()]


def settle(what):
    """With all of the other version ended, everything is there, once."""
    texts = [text for text in stored() if text != "the first message"]
    equal(f"{what}: nothing is lost", sorted(sent - set(texts)), [])
    equal(f"{what}: nothing comes twice", sorted(text for text in set(texts) if texts.count(text) > 1), [])
    told_ = system.run("roger verify --quiet; roger doctor --quiet", folder="/root/project")
    check(f"{what}: the journals are sound", told_.returncode == 0, (told_.stdout, told_.stderr))


def exchange(what, packages):
    """The package of `packages` takes the place of the one whose programs run."""
    living = Living()
    traffic(living, f"before the {what}")
    system.run("roger claim --as test --worker w1 --lease 5m", folder="/root/project")
    told_ = system.run(f"dpkg -i --force-downgrade {packages}")
    check(f"{what}: dpkg exchanges the programs that run", told_.returncode == 0, told_.stderr[-500:])
    check(f"{what}: and says who is to be restarted", "restart them" in told_.stdout and all(f"roger {word}" in told_.stdout for word in ("mcp", "serve", "bridge", "wake")), told_.stdout)
    here = {path.resolve() for path in (OLD / "roger", SOURCE / "build-release/x86_64/roger")}
    check(f"{what}: they are of two versions", len(here) == 2 and len({path.read_bytes() for path in here}) == 2)
    refused.clear()
    traffic(living, f"beside the {what}")
    for text, status, said, took in refused[:4]:
        print(f"# {what}: '{text}' was not stored: {status} after {took} s: {said[:300]}")
    print(f"# {what}: {len(refused)} of 7 sends beside the other version were refused")
    check(f"{what}: who was refused was told what to end", all("end" in said or "restart" in said or "stop" in said for _, _, said, _ in refused), refused[:3])
    check(f"{what}: what ran can be ended", not living.end())
    again, took = call(["roger", "send", "--as", "plan", "test", f"after the {what}"])
    sent.add(f"after the {what}")
    print(f"# {what}: the first send after it took {took:.2f} s")
    check(f"{what}: the first send after it", again.returncode == 0, again.stderr)
    told_ = system.run("roger ack --as test --worker w1 $(roger list --to test --limit 0 --jsonl | sed -n 's/.*\"id\":\"\\([^\"]*\\)\".*\"claimed_by\":\"w1\".*/\\1/p')", folder="/root/project")
    check(f"{what}: the claim of the version before is acknowledged", told_.returncode == 0, (told_.stdout, told_.stderr))
    settle(what)


exchange("upgrade", new)
exchange("downgrade", old)
print(f"# the longest wait of anybody was {max(waits):.2f} s")
system.end()
done()
