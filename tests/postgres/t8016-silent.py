"""A database that goes silent in the middle of a read: nothing comes back, and nobody closes.  Whatever is asked then, by a command or at
/mcp, is answered within 10 seconds with 75; when the network is back, all goes on.

    script/postgres python3 tests/postgres/t8016-silent.py
runner: plain timeout 180
"""
import http.client

from lib_faults import *

LONGEST = 10.5  # with the start of a process


class Reading(Proxy):
    """All goes silent at the first message of the connection that reads, when that is wanted."""

    wanted = False

    def pass_on(self, link, message, armed):
        if self.wanted and link is self.links[-1]:
            self.wanted = False
            self.part()
        super().pass_on(link, message, armed)


class Unix(http.client.HTTPConnection):
    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(place.servers[0].socket)


def ask_mcp(tool, **arguments):
    """What a tool answers, and after how long."""
    meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": meta}}
    began, connection = time.monotonic(), Unix("localhost")
    connection.request("POST", "/mcp", json.dumps(body), {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Roger-Agent": "bob",
                                                          "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": tool})
    said = connection.getresponse().read().decode()
    return time.monotonic() - began, said


def judge_command(words, faults):
    began = time.monotonic()
    done = place.run(*words)
    took = time.monotonic() - began
    if done.returncode != 75 or took > LONGEST:
        faults.append(f"{words[0]}: {done.returncode} after {took:.1f} s: {done.err}")


def judge_tool(words, faults):
    took, said = ask_mcp(words[0], **words[1])
    if '"isError":true' not in said.replace(" ", "") or took > LONGEST:
        faults.append(f"/mcp {words[0]}: after {took:.1f} s: {said}")


proxy = Reading()
place = Place("silent", through=proxy)
place.send_all(Account(), "bob", [f"{i} " + "x" * 9000 for i in range(60)])
FIRST = place.lines()[0]["id"]
time.sleep(2)  # its line is in memory no more
place.must("show", FIRST)
tap.result([] if '"isError":true' not in (said := ask_mcp("inbox")[1]) else [said], "a tool of /mcp answers")
COMMANDS = [["show", FIRST], ["inbox", "--as", "bob"], ["receive", "--as", "bob"], ["claim", "--as", "bob", "--worker", "w"], ["send", "bob", "x", "--as", "amy"],
            ["verify"], ["list"], ["archive", FIRST, "--unread"], ["status"]]
TOOLS = [("inbox", {}), ("send", {"to": ["amy"], "content": "x"})]

for round_ in ("in the middle of a read", "for a while"):
    proxy.wanted = round_ == "in the middle of a read"
    faults = []
    askers = [threading.Thread(target=judge_command, args=(words, faults)) for words in COMMANDS]
    askers += [threading.Thread(target=judge_tool, args=(words, faults)) for words in TOOLS]
    for asker in askers:
        asker.start()
        time.sleep(0.1 if asker is askers[0] else 0)
    for asker in askers:
        asker.join()
    faults += ["it never went silent"] if proxy.wanted else []
    tap.result(faults, f"the database is silent {round_}: {len(askers)} at once, each is told 75 within 10 s")
proxy.join()
until("an answer", lambda: place.run("show", FIRST).returncode == 0)
tap.result([f"{verb}: {done.out} {done.err}" for verb in ("verify", "doctor") if (done := place.run(verb)).returncode], "afterwards all is there, and whole")
place.end()
proxy.close()
tap.done()
