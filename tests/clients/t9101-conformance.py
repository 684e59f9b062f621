#!/usr/bin/env python3
# runner: plain
# runner: timeout 300
"""The public conformance suite of MCP against mcp/tests/mcp_fixture.c over
HTTP: every scenario that a revision requires of a server, and the ones beyond
that we hold ourselves to."""
import os
import subprocess
from pathlib import Path

from lib_conformance import *

server = subprocess.Popen([Path(os.environ["ROGER_BUILD"]) / "mcp/tests/mcp_fixture", "--http", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
# The suite wants the name.
url = server.stdout.readline().decode().strip().replace("127.0.0.1", "localhost")
for revision in REQUIRED:
    run(revision, url)
server.stdin.close()
check("the server ends well", server.wait(20) == 0)
done()
