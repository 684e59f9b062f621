"""Bare systems of script/systems, and what script/release made.

A System is a Debian with a folder of its own laid over it: what is installed there is in that folder
and goes with it.  It is a mount and process namespace; when its first process ends, all in it ends,
and nothing is mounted any more.
"""
import atexit
import json
import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

SOURCE = Path(os.environ["ROGER_SOURCE"])
sys.path.insert(0, str(SOURCE / "tests/cli"))
from lib_tap import *  # noqa: E402

OUT = SOURCE / "build-release/out"
SYSTEMS = Path(os.environ.get("ROGER_SYSTEMS_DIR", SOURCE / "build-systems"))
VERSION = re.search(r"version: '(.*?)'", (SOURCE / "meson.build").read_text())[1]
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# What a package manager keeps for itself, and what is no file of a package.
KEPT = re.compile(r"/(proc|sys|dev|tmp|run)(/|$)|/var/(lib/(dpkg|apt|systemd)|log|cache)(/|$)|/etc/ld\.so\.cache$|/root/\.npm(/|$)|/home/ann/\.npm(/|$)|"
                  r".*/node_modules$|/usr/local/etc/npmrc$")

if os.geteuid() != 0 or not (SYSTEMS / "complete").exists() or not (OUT / "SHA256SUMS").exists():
    print("ok 1 - no packages or no systems # skip script/test --with-packages makes both, as root\n1..1")
    sys.exit(0)

ENTER = """
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
mount --rbind /dev "$2/root/dev"
mount -t tmpfs tmpfs "$2/root/run"
exec chroot "$2/root" sh -c 'echo ready && exec sleep infinity'
"""


class System:
    def __init__(self, name, over=None):
        # Not below /tmp of the test's own where that is no file system for an overlay.
        self.top = Path(over or os.environ["TMPDIR"]) / f"system-{time.monotonic_ns()}"
        for folder in ("upper", "work", "root"):
            (self.top / folder).mkdir(parents=True)
        self.name, self.root = name, self.top / "root"
        self.first = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", ENTER, "sh", str(SYSTEMS / name), str(self.top)],
                                      stdout=subprocess.PIPE, text=True)
        atexit.register(self.end)
        if self.first.stdout.readline() != "ready\n":
            sys.exit("Bail out! no overlay can be mounted here")
        told = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.first.pid)], capture_output=True, text=True, check=True)
        self.pid = int(told.stdout)

    def end(self):
        self.first.kill()
        self.first.wait()

    def words(self, command, user="root", env=None, folder=None):
        home = "/root" if user == "root" else f"/home/{user}"
        settings = {"PATH": PATH, "HOME": home, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", "XDG_RUNTIME_DIR": "", **(env or {})}
        become = [] if user == "root" else ["setpriv", "--reuid=1000", "--regid=1000", "--clear-groups"]
        if isinstance(command, str):
            command = ["sh", "-c", command]
        return ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--root", "--wd", "--", *become, "env", "-i",
                *(f"{name}={value}" for name, value in settings.items() if value), "sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder or home, *command]

    def run(self, command, user="root", env=None, folder=None, **more):
        return subprocess.run(self.words(command, user, env, folder), capture_output=True, text=True, check=False, timeout=300, **more)

    def start(self, command, user="root", env=None, folder=None, **more):
        return subprocess.Popen(self.words(command, user, env, folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def bring(self, *names):
        """Files of the release, in /tmp of the system."""
        for name in names:
            shutil.copy(OUT / name, self.root_path("/tmp"))

    def root_path(self, path):
        return Path(f"/proc/{self.pid}/root{path}")

    def files(self):
        """Every path but those that are the package manager's own."""
        told = self.run("find / -xdev \\( -path /proc -o -path /dev -o -path /sys -o -path /run \\) -prune -o -print")
        return {path for path in told.stdout.splitlines() if not KEPT.match(path)}


def deb(name, version=VERSION):
    return f"{name}_{version}_amd64.deb"


FIRST = """
mkdir -p "$HOME/project" && cd "$HOME/project" && roger init --quiet &&
roger send --as plan --new test 'the first message' >/dev/null && roger receive --as test
"""


def first_message(system, what, install, user="root", env=None, by="root"):
    """From the start of the install to the first message received; the time is printed, and judged by nobody."""
    began = time.monotonic()
    done_ = system.run(install, by, env)
    installed = time.monotonic()
    got = system.run(FIRST, user, env)
    ended = time.monotonic()
    good = done_.returncode == 0 and "the first message" in got.stdout
    check(f"{system.name}, {user}: {what}: the first message comes", good, (done_.stderr[-600:], got.stdout, got.stderr))
    print(f"# {system.name}, {user}: {what}: {ended - began:.2f} s to the first message, {installed - began:.2f} s of it the install", flush=True)
    return good


def page(system, what, user="root", env=None):
    """`roger ui` as far as it goes without a browser: its link lets in, once, and the page and its files come."""
    ui = system.start("cd ~/project && exec roger ui --listen 127.0.0.1:0", user, env)
    line = ui.stdout.readline()
    found = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/#k=([0-9a-f]{64})\n", line)
    if not check(f"{system.name}, {user}: {what}: `roger ui` prints its link", found, (line, "" if line else ui.stderr.read())):
        return
    address, key = found.groups()
    text = urllib.request.urlopen(address + "/", timeout=30).read().decode()
    assets = set(re.findall(r"/assets/[0-9a-f]+/[\w.]+", text))
    sizes = [len(urllib.request.urlopen(address + asset, timeout=30).read()) for asset in assets]
    check(f"{system.name}, {user}: {what}: the page and its {len(assets)} files come", assets and all(sizes), (text[:300], sizes))
    login = urllib.request.Request(address + "/login", json.dumps({"key": key}).encode(), {"Content-Type": "application/json"})
    answer = urllib.request.urlopen(login, timeout=30)
    cookie = answer.headers["Set-Cookie"].split(";")[0]
    seen = urllib.request.urlopen(urllib.request.Request(address + "/v1/list", headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}), timeout=30)
    check(f"{system.name}, {user}: {what}: who has the link sees the message", "the first message" in seen.read().decode())
    system.run(["sh", "-c", "kill $(cat /proc/[0-9]*/stat | sed -n 's/^\\([0-9]*\\) (roger[^)]*).*/\\1/p')"])
    ui.wait(60)


def leaves_nothing(system, what, before, remove, user="root", by="root", env=None):
    """The project stays: it is the user's.  Neither do programs that still run count, of which there are none."""
    done_ = system.run(remove, by, env)
    home = "/root" if user == "root" else f"/home/{user}"
    system.run(f"rm -rf {home}/project {home}/.local/state/roger; rmdir {home}/.local/state {home}/.local 2>/dev/null")
    left = sorted(system.files() - before)
    check(f"{system.name}, {user}: {what}: removal leaves nothing", done_.returncode == 0 and not left, (done_.stderr[-300:], left[:12]))
