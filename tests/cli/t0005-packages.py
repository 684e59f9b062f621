#!/usr/bin/env python3
"""script/npm_packages.py takes what the lock file names, from where npm's settings say, and nothing
else; tests/runner.py notes when a suite with a switch last ran, and its last line stays the last."""
# runner: plain
import base64
import hashlib
import http.server
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import threading
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
sys.path.insert(0, str(SOURCE / "tests/cli"))
sys.dont_write_bytecode = True
import lib_tap

HERE = Path.cwd() / "t0005"
HERE.mkdir()
HOME = HERE / "home"
HOME.mkdir()
TARBALLS = {}
ASKED = []


class Registry(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ASKED.append((self.path, self.headers.get("Authorization")))
        if self.path.startswith("/moved/"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/moved"))
            self.end_headers()
            return
        data = TARBALLS.get(self.path.rsplit("/", 1)[-1])
        self.send_response(200 if data else 404)
        self.end_headers()
        self.wfile.write(data or b"")

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
threading.Thread(target=server.serve_forever, daemon=True).start()
PLACE = f"//127.0.0.1:{server.server_port}"
REGISTRY = f"http:{PLACE}"


def tarball(**members):
    """Names to bytes, or to what else a member is."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, what in members.items():
            member = tarfile.TarInfo(name)
            if isinstance(what, bytes):
                member.size = len(what)
            else:
                member.type, member.linkname = what
            archive.addfile(member, io.BytesIO(what if isinstance(what, bytes) else b""))
    return made.getvalue()


def integrity(data):
    return "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()


def lock(data, name="some-thing"):
    TARBALLS["some-thing-1.2.3.tgz"] = data
    path = HERE / "lock.json"
    path.write_text(json.dumps({"packages": {"": {}, f"node_modules/{name}": {"version": "1.2.3", "integrity": integrity(data)}}}))
    return path


def fetch(path, into="out", npmrc=None, project=None, **variables):
    """With these settings of npm, and without npm."""
    (HOME / ".npmrc").write_text(npmrc or "")
    ASKED.clear()
    env = {name: value for name, value in os.environ.items() if not name.lower().startswith("npm_config_") and not name.lower().endswith("proxy")}
    env.update({"HOME": str(HOME), "PATH": f"{HERE}/none", "npm_config_globalconfig": f"{HERE}/none/npmrc", **variables})
    done = subprocess.run([sys.executable, str(SOURCE / "script/npm_packages.py"), str(path), str(HERE / into)], env=env, capture_output=True, text=True)
    return done.returncode, done.stderr


GOOD = tarball(**{"package/index.js": b"1;\n", "package/lib/a.js": b"2;\n"})
OUT = HERE / "out/node_modules/some-thing"

# ------------------------------------------------------------------ where from

for file in (SOURCE / "tests/browser").glob("package*.json"):
    lib_tap.equal(f"no address stands in {file.name}", re.findall(r"\w+://[^\"]*", file.read_text()), [])
status, said = fetch(lock(GOOD))
lib_tap.equal("without a registry: unavailable", status, 69)
lib_tap.check("and what to do", "npm's settings name no registry: set npm_config_registry" in said, said)
lib_tap.equal("by the environment", fetch(lock(GOOD), npm_config_registry=REGISTRY), (0, ""))
lib_tap.equal("unpacked", ((OUT / "index.js").read_bytes(), (OUT / "lib/a.js").read_bytes()), (b"1;\n", b"2;\n"))
lib_tap.equal("asked once, without a token", ASKED, [("/some-thing/-/some-thing-1.2.3.tgz", None)])
lib_tap.equal("nothing is fetched twice", (fetch(lock(GOOD), npm_config_registry="http://127.0.0.1:1"), ASKED), ((0, ""), []))
lib_tap.equal("in capitals", fetch(lock(GOOD), "two", NPM_CONFIG_REGISTRY=f"{REGISTRY}/"), (0, ""))
lib_tap.equal("by ~/.npmrc, with a token of the variables", fetch(
    lock(GOOD), "three", npmrc=f"; a comment\nregistry = \"{REGISTRY}/npm/\"\n{PLACE}/:_authToken=${{SECRET}}\n", SECRET="s3"), (0, ""))
lib_tap.equal("which is shown", ASKED, [("/npm/some-thing/-/some-thing-1.2.3.tgz", "Bearer s3")])
lib_tap.equal("not where the registry sends us", fetch(lock(GOOD), "four", npmrc=f"registry={REGISTRY}/moved\n{PLACE}/moved/:_auth=dTpw\n"), (0, ""))
lib_tap.equal("but to it", [token for _, token in ASKED], ["Basic dTpw", None])
(HERE / "global").write_text(f"registry={REGISTRY}\n")
lib_tap.equal("by the machine's npmrc", fetch(lock(GOOD), "five", npm_config_globalconfig=f"{HERE}/global"), (0, ""))
status, said = fetch(lock(GOOD), "six", npm_config_registry="http://127.0.0.1:1")
lib_tap.equal("nobody there", (status, said.count("\n")), (69, 1))
(HERE / "other.json").write_text(lock(GOOD).read_text().replace("1.2.3", "1.2.4"))
status, said = fetch(HERE / "other.json", "six", npm_config_registry=REGISTRY)
lib_tap.equal("not there", (status, "answers 404 for some-thing 1.2.4" in said), (69, True))

# ------------------------------------------------------------------------ what

wanted = lock(GOOD)
TARBALLS["some-thing-1.2.3.tgz"] = tarball(**{"package/index.js": b"0;\n"})
status, said = fetch(wanted, "six", npm_config_registry=REGISTRY)
lib_tap.equal("other bytes", (status, "is not what the lock file names" in said, (HERE / "six").exists()), (65, True, False))
wanted.write_text(wanted.read_text().replace("sha512-", "sha1-"))
lib_tap.equal("no SHA-512", fetch(wanted, "six", npm_config_registry=REGISTRY)[0], 65)
for name, members in {
    "a way out": {"package/../../../evil": b"x"}, "an absolute name": {"/package/evil": b"x"}, "a link": {"package/a": (tarfile.SYMTYPE, "/")},
    "a hard link": {"package/a": (tarfile.LNKTYPE, "../x")}, "a device": {"package/a": (tarfile.CHRTYPE, "")}, "no folder": {"evil": b"x"},
}.items():
    status, said = fetch(lock(tarball(**members)), "six", npm_config_registry=REGISTRY)
    lib_tap.equal(f"{name} is refused, with what it is", (status, "which is no plain file of the package" in said), (65, True))
lib_tap.equal("what is no archive", fetch(lock(b"nothing"), "six", npm_config_registry=REGISTRY)[0], 65)
lib_tap.equal("a package that leaves the folder", fetch(lock(GOOD, "../../evil"), "six", npm_config_registry=REGISTRY)[0], 65)
lib_tap.equal("nothing of these is anywhere", sorted(path.name for path in HERE.rglob("*evil*")), [])
lib_tap.equal("and the next try is a new one", (HERE / "six/installed").exists(), False)

# --------------------------------------------------------- tests/flagged

tree = HERE / "tree"
(tree / "tests/browser").mkdir(parents=True)
(tree / "tests/runner.py").write_text((SOURCE / "tests/runner.py").read_text())
for name in ("t1", "t2"):
    (tree / f"tests/browser/{name}.py").write_text("# runner: plain\nprint('ok 1')\nprint('1..1')\n")
(tree / "tests/flagged").write_text("arm 2020-01-02 0123456789 7 passed, 1 failed, 0 skipped\n")


def suite(*words):
    done = subprocess.run([sys.executable, str(tree / "tests/runner.py"), "--plain", str(tree), "--sanitize", str(tree), *words],
                          capture_output=True, text=True, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(HERE)})
    return done.stdout.splitlines()


said = suite("--with-browser", "browser/t1")
lib_tap.equal("a part of a suite is not noted", ((tree / "tests/flagged").read_text().count("\n"), said[-1]), (1, "1 passed, 0 failed"))
lib_tap.equal("what is known is told", [line for line in said if "last ran" in line][:3], [
    "--with-agents    last ran: never", "--with-arm       last ran: 2020-01-02 0123456789 7 passed, 1 failed, 0 skipped", "--with-browser   last ran: never"])
said = suite("--with-browser", "browser/")
note = (tree / "tests/flagged").read_text().splitlines()
lib_tap.equal("a whole one is, beside the others", (note[0][:14], re.sub(r"\d{4}-\d\d-\d\d", "DAY", note[1]), said[-1]),
              ("arm 2020-01-02", "browser DAY unknown 2 passed, 0 failed, 0 skipped", "2 passed, 0 failed"))

# ------------------------------------------------- what script/bootstrap removes

if "VERSION_CODENAME=bookworm" in Path("/etc/os-release").read_text():
    # Where nothing is installed yet: clang's runtime and yyjson are asked for by name.
    bare = HERE / "bare"
    runtime = bare / "clang/linux"
    (bare / "script").mkdir(parents=True)
    (bare / "bin").mkdir()
    runtime.mkdir(parents=True)
    (runtime / "mine.a").write_text("")
    for name in ("bootstrap", "pins"):
        (bare / "script" / name).write_bytes((SOURCE / "script" / name).read_bytes())
    (bare / "script/debian.sh").write_text((SOURCE / "script/debian.sh").read_text() + '''
fetch_pinned() { : >"$1/newer.deb"; echo "$1" >made; }
as_root() { "$@"; }
''')
    for name, text in {
        "bin/clang": f'case $1 in -dumpversion) echo 14 ;; *) echo {runtime} ;; esac', "bin/apt-cache": "exit 1",
        "bin/apt-get": 'echo "$*" >>asked', "bin/pkg-config": 'case $* in *yyjson*) [ -e asked ] ;; esac', "script/parts": "exit 0",
    }.items():
        (bare / name).write_text(f"#!/bin/sh\n{text}\n")
        (bare / name).chmod(0o755)
    done = subprocess.run(["sh", "script/bootstrap", "test"], cwd=bare, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{bare}/bin:{os.environ['PATH']}"})
    asked = (bare / "asked").read_text()
    lib_tap.equal("what is missing is installed", (done.returncode, "libclang-rt-14-dev" in asked, "newer.deb" in asked), (0, True, True))
    lib_tap.equal("its own folder is removed", Path((bare / "made").read_text().strip()).exists(), False)
    lib_tap.equal("and nothing else", (runtime / "mine.a").exists(), True)
lib_tap.done()
