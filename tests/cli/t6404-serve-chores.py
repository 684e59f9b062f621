#!/usr/bin/env python3
"""What roger serve does by itself: it wakes who is due, and sweeps, beside the commands."""
from lib_serve import *

woken = Path(FOLDER.name) / "woken"
(WORKSPACE / ".roger" / "config.yaml").write_text(f"wake:\n  after: 0s\n  agents:\n    bob: [touch, {woken}]\n")
os.environ["ROGER_TRUST_COMMANDS"] = "1"
roger("dispatch", "late", "--as", "lead", "--within", "1ms")
[document] = WORKSPACE.rglob("late.json")
check("a run is open", json.loads(document.read_text())["status"] == "active")
server = Server()
roger("send", "--as", "al", "bob", "wake up")
while not woken.exists():
    server.get("/healthz")
check("who has mail is woken", True)
while json.loads(document.read_text())["status"] == "active":
    server.get("/healthz")
check("a run that is late is judged", True)
equal("a command beside it does the same", json.loads(roger("sweep", "--json").stdout)["runs"], 1)
equal("what it does by itself is no request", re.search(rb'verb="(sweep|wake)"', server.get("/metrics")[2]), None)
equal("it ends well", server.end(), (0, ""))
done()
