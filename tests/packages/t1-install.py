#!/usr/bin/env python3
# runner: plain
# runner: alone
# runner: timeout 1800
"""Each package in a bare Debian 12 and 13, as root and as an ordinary user: from the install to the first
message, the page of `roger ui`, and that removal leaves nothing. Times are printed; nobody judges them."""
import base64
import hashlib
import http.server
import threading

from lib import *

RELEASES = ("bookworm", "trixie")
TARBALL = f"roger-{VERSION}-linux-x86_64.tar.gz"


def of_tarball(release):
    system = System(release)
    system.bring(TARBALL)
    before = system.files()
    root = "tar -xzf /tmp/" + TARBALL + " -C /usr/local --strip-components=1"
    files = f"tar -tzf /tmp/{TARBALL} | sed 's|^[^/]*/||'"
    remove = f"cd %s && {files} | xargs -d '\\n' rm && {files} | sed 's|/[^/]*$||' | sort -ru | while read -r d; do rmdir -p --ignore-fail-on-non-empty \"$d\" 2>/dev/null; done; true"
    if first_message(system, "tarball", root):
        page(system, "tarball")
    leaves_nothing(system, "tarball", before, remove % "/usr/local")
    user = {"PATH": "/home/ann/.local/bin:" + PATH}
    own = f"mkdir -p ~/.local && tar -xzf /tmp/{TARBALL} -C ~/.local --strip-components=1"
    if first_message(system, "tarball", own, "ann", user, by="ann"):
        page(system, "tarball", "ann", user)
    leaves_nothing(system, "tarball", before, remove % "~/.local", "ann", "ann", user)
    system.end()


def of_debs(release):
    system = System(release)
    system.bring(deb("roger"), deb("roger-serve"))
    before = system.files()
    if first_message(system, ".deb roger", f"dpkg -i /tmp/{deb('roger')}"):
        told = system.run("cd ~/project && roger ui")
        check(f"{release}: without roger-serve `roger ui` says which package has it", told.returncode == 69 and "install the package roger-serve " in told.stderr, told.stderr)
        told = system.run("cd ~/project && echo 'store: postgres://roger@127.0.0.1:1/x' >.roger/config.yaml; roger trust --accept $(roger trust --show | grep -o '[0-9a-f]\\{64\\}' | head -n 1) >/dev/null; roger move .; rm .roger/config.yaml")
        check(f"{release}: without PostgreSQL `roger move` says which package has it", "this program has no PostgreSQL; install the package roger-serve-postgres" in told.stderr, told.stderr)
        told = system.run("printf q | script -qec 'roger top' /dev/null", env={"TERM": "vt100"}, folder="/root/project")
        check(f"{release}: `roger top` needs nothing beside it", told.returncode == 0 and "LAST MESSAGES" in told.stdout, (told.stdout, told.stderr))
        system.run("rm -rf ~/project")
    if first_message(system, ".debs roger and roger-serve", f"dpkg -i /tmp/{deb('roger')} /tmp/{deb('roger-serve')}"):
        page(system, ".deb roger-serve")
        told = system.run("mkdir ~/pg && cd ~/pg && roger init --quiet && echo 'store: postgres://roger@127.0.0.1:1/x' >.roger/config.yaml; roger trust --accept $(roger trust --show | grep -o '[0-9a-f]\\{64\\}' | head -n 1) >/dev/null; timeout 20 roger serve; rm -rf ~/pg")
        check(f"{release}: roger-serve says it, too, and does not run in circles", "install the package roger-serve-postgres" in told.stderr, told.stderr)
    if first_message(system, ".debs, used by", "true", "ann"):
        page(system, ".deb roger-serve", "ann")
    system.run("rm -rf ~/project ~/.local", "ann")
    leaves_nothing(system, ".debs", before, "dpkg -P roger-serve roger")
    system.end()


def of_postgres(release):
    system = System(release)
    system.bring(deb("roger"), deb("roger-serve"), deb("roger-serve-postgres"))
    before = system.files()
    packages = set(system.run("dpkg-query -W -f '${Package}\\n'").stdout.split())
    if first_message(system, ".debs roger and roger-serve-postgres, by apt", f"apt-get -qq install -y --no-install-recommends /tmp/{deb('roger')} /tmp/{deb('roger-serve-postgres')}"):
        page(system, ".deb roger-serve-postgres")
        told = system.run("mkdir ~/pg && cd ~/pg && roger init --quiet && echo 'store: postgres://roger@127.0.0.1:1/x' >.roger/config.yaml; roger trust --accept $(roger trust --show | grep -o '[0-9a-f]\\{64\\}' | head -n 1) >/dev/null; timeout 20 roger serve; rm -rf ~/pg")
        check(f"{release}: `roger serve` asks PostgreSQL", "PostgreSQL cannot be reached" in told.stderr, told.stderr)
    told = system.run(f"apt-get -qq install -y --no-install-recommends /tmp/{deb('roger-serve')} && dpkg -s roger-serve-postgres | grep Status")
    check(f"{release}: one takes the place of the other", "deinstall" in told.stdout or "not-installed" in told.stdout or "not installed" in told.stderr, (told.stdout, told.stderr))
    more = sorted(set(system.run("dpkg-query -W -f '${Package}\\n'").stdout.split()) - packages)
    leaves_nothing(system, ".debs with PostgreSQL", before, ["dpkg", "-P", *more])
    system.end()


PROGRAM = r"""
#include <stdio.h>
#include <roger.h>
#include <roger-mcp.h>
int main(void) { struct roger *r = NULL; struct roger_err e; int s = roger_open(NULL, &r, &e);
printf("%s %s %d\n", ROGER_VERSION, s ? e.message : "open", roger_mcp_server_new != NULL); roger_close(r); return s < 0; }
"""


def of_library(release):
    system = System(release)
    names = [deb(name) for name in ("roger", "libroger", "libroger-dev", "libroger-mcp", "libroger-mcp-dev")]
    system.bring(*names)
    before = system.files()
    packages = set(system.run("dpkg-query -W -f '${Package}\\n'").stdout.split())
    compiler = system.run("apt-get -qq install -y --no-install-recommends gcc libc6-dev pkg-config")
    told = system.run("apt-get -qq install -y --no-install-recommends " + " ".join("/tmp/" + name for name in names))
    check(f"{release}: the libraries are installed by their dependencies", told.returncode == 0 and compiler.returncode == 0, told.stderr[-600:])
    system.root_path("/root/p.c").write_text(PROGRAM)
    told = system.run("mkdir w && cd w && roger init --quiet && gcc -Wall -o p ../p.c $(pkg-config --cflags --libs roger roger-mcp) && ./p")
    check(f"{release}: a program is built with them, and runs", told.stdout == f"{VERSION} open 1\n", (told.stdout, told.stderr))
    told = system.run("cd w && apt-get -qq install -y --no-install-recommends libsqlite3-dev libyaml-dev libsodium-dev && "
                      "gcc -o s ../p.c $(dpkg -L libroger-dev libroger-mcp-dev | grep '[.]a$') $(pkg-config --static --libs-only-l roger | sed 's/-lroger //') && ldd s && ./s")
    check(f"{release}: and with the archives", f"{VERSION} open 1\n" in told.stdout and "libroger" not in told.stdout, (told.stdout, told.stderr[-900:]))
    more = sorted(set(system.run("dpkg-query -W -f '${Package}\\n'").stdout.split()) - packages)
    leaves_nothing(system, "libraries", before, "rm -rf w p.c; dpkg -P " + " ".join(more))
    system.end()


# ---------------------------------------------------------------------------- npm


class Registry(http.server.BaseHTTPRequestHandler):
    """A registry of npm that has our packages alone."""

    def do_GET(self):
        name = self.path.strip("/").split("/")[0]
        if self.path.endswith(".tgz"):
            return self.answer((OUT / self.path.rsplit("/", 1)[1]).read_bytes())
        path = OUT / f"{name}-{VERSION}.tgz"
        if not path.exists():
            return self.send_error(404)
        data = path.read_bytes()
        done_ = subprocess.run(["tar", "-xzOf", path, "package/package.json"], capture_output=True, check=True)
        package = {**json.loads(done_.stdout), "dist": {
            "tarball": f"http://127.0.0.1:{self.server.server_port}/{name}/-/{path.name}",
            "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode()}}
        return self.answer(json.dumps({"name": name, "dist-tags": {"latest": VERSION}, "versions": {VERSION: package}}).encode())

    def answer(self, data):
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def of_npm(release, registry):
    system = System(release + "-node")
    shutil.copytree(SYSTEMS / "npm/node_modules/npm", system.root_path("/usr/share/npm"))
    system.run("ln -s /usr/share/npm/bin/npm-cli.js /usr/local/bin/npm && chmod +x /usr/share/npm/bin/npm-cli.js")
    before = system.files()
    fetch = {"npm_config_registry": registry, "npm_config_fund": "false", "npm_config_audit": "false", "npm_config_update_notifier": "false"}
    if first_message(system, "npm install -g", "npm install -g roger-mail", env=fetch):
        page(system, "npm")
    told = system.run("cat /proc/self/status >/dev/null; npm ls -g --parseable | sort; find $(npm root -g)/roger-mail -name roger -path '*bin*'", env=fetch)
    native = told.stdout.strip().splitlines()[-1]
    check(f"{release}: the program of this platform came, no other", "arm64" not in told.stdout and native.endswith("linux-x64/bin/roger"), told.stdout)
    told = system.run("cd project && roger receive --as test; echo $?; roger wait --as test --timeout 1m & sleep 1; kill $!; wait $!; echo $?; sleep 0.2; cat /proc/[0-9]*/comm | grep -c roger")
    equal(f"{release}: the launcher ends as the program does, and passes signals on", told.stdout.split()[-3:-2] + told.stdout.split()[-1:], ["1", "0"])
    print(f"# {release}: under npm's launcher: {told.stdout.split()}")
    tools = {**fetch, "PATH": "/root/tools:" + PATH}
    told = system.run("mkdir tools && printf '#!/bin/sh\\n' >tools/claude && chmod +x tools/claude && cd project && roger setup claude --yes && roger doctor; "
                      "cat ~/.claude.json .claude/settings.local.json .mcp.json 2>/dev/null", env=tools)
    named = set(re.findall(r'[^" ]*/bin/roger\b', told.stdout))
    check(f"{release}: hooks and the entry of MCP name the program, not npm's launcher", named == {native}, (told.stdout[-1500:], told.stderr))
    check(f"{release}: doctor has tried them", "hook at " not in told.stderr and "not tried" not in told.stdout, told.stdout[:1500])
    system.run("npm install -g --force roger-mail", env=fetch)
    again = system.run("cd project && roger doctor", env=tools)
    check(f"{release}: they work after the package was installed again", again.returncode == 0, (again.stdout, again.stderr))
    other = f"npm uninstall -g roger-mail; mkdir /tmp/other && tar -xzf /tmp/{TARBALL} -C /tmp/other --strip-components=1 && cd project && /tmp/other/bin/roger doctor"
    system.bring(TARBALL)
    told = system.run(other, env=tools)
    check(f"{release}: doctor names each entry whose program is gone", told.returncode == 65 and len(re.findall(r"^claude: (?:server|hook at \w+) of ", told.stdout, re.M)) == 5, (told.stdout, told.stderr))
    system.run("npm install -g roger-mail", env=fetch)
    system.run("cd project && roger setup --remove --yes; rm -rf ~/tools ~/.claude*", env=tools)
    leaves_nothing(system, "npm", before, "npm uninstall -g roger-mail", env=fetch)
    own = {**fetch, "npm_config_prefix": "/home/ann/.local", "PATH": "/home/ann/.local/bin:" + PATH}
    if first_message(system, "npm install -g, own prefix", "npm install -g roger-mail", "ann", own, by="ann"):
        page(system, "npm", "ann", own)
    leaves_nothing(system, "npm", before, "npm uninstall -g roger-mail; rm -rf ~/.local", "ann", "ann", own)
    system.end()


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Registry)
threading.Thread(target=server.serve_forever, daemon=True).start()
for one in RELEASES:
    of_tarball(one)
    of_debs(one)
    of_postgres(one)
    of_library(one)
    of_npm(one, f"http://127.0.0.1:{server.server_port}/")
done()
