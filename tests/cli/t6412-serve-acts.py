#!/usr/bin/env python3
"""Nobody speaks for another: with a token that may act, what is stored names its agent and no other,
whatever the request says, at every depth of every verb, over HTTP, /mcp, `send --batch` from another
machine and the page; runs and dead letters are changed by whose they are."""
import copy
import hashlib

from lib_mcp import MODERN
from lib_serve import *


def token(*words):
    return roger("token", "new", *words).stdout.strip()


def in_cli(*words, **more):
    return json.loads(roger(*words, "--json", **more).stdout or "{}")


TOKENS = {name: token(name, "--right", "act") for name in ("eve", "ann", "bob", "lead", "human")}
TOKENS["root"] = token("root", "--right", "administer")
# Afterwards that becomes the name of a group.
TOKENS["squad"] = token("Squad", "--right", "act")
(WORKSPACE / ".roger" / "config.yaml").write_text("groups: {squad: [ann, bob]}\n")
STATE = WORKSPACE / ".roger"
JOURNAL, LOG = STATE / "messages.jsonl", STATE / "logs" / "activity.log.jsonl"

# What ann, bob and lead have, which eve has no part in; and what is eve's own.
MAIL = in_cli("send", "--as", "ann", "bob", "a secret of ann's", "--key", "app:ask:1")["messages"][0]["id"]
OWN = in_cli("send", "--as", "ann", "eve", "for eve")["messages"][0]["id"]
roger("dispatch", "build-7", "--child", "tester", "--as", "lead")
roger("dispatch", "bare-7", "--as", "lead")
roger("dispatch", "own-7", "--child", "eve", "--forward-to", "eve", "--as", "eve")
for one in range(3):
    roger("send", "--as", "bob", "ann", "nobody reads this", "--key", f"app:dead:{one}", "--confirm", "read", "--within", "1ms", "--retry", status=75)
for name in ("tester", "carol"):
    roger("send", "--as", name, "lead", "hello")
LETTERS = in_cli("dead")["dead_letters"]
server = Server("--listen", "127.0.0.1:0")
if not LETTERS:
    roger("sweep")
    LETTERS = in_cli("dead")["dead_letters"]
check("there are dead letters of bob's", LETTERS and LETTERS[0]["from" if "from" in LETTERS[0] else "sender"] == "bob", LETTERS[:1])
LETTER = LETTERS[0]["id"]


def ask(who, verb, body, method="POST"):
    headers = {"Authorization": f"Bearer {TOKENS[who]}"}
    if method == "GET":
        from urllib.parse import urlencode

        return server.ask("GET", f"/v1/{verb}?{urlencode(body, True)}", headers=headers, connection=server.tcp())
    return server.ask(method, f"/v1/{verb}", body, headers, server.tcp())


def tool(who, name, **arguments):
    """The result of a tool of /mcp, in one request."""
    meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    headers = {"Authorization": f"Bearer {TOKENS[who]}", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": name}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments, "_meta": meta}}
    _, headers, data = server.ask("POST", "/mcp", body, headers, server.tcp())
    if headers.get("Content-Type") == "text/event-stream":
        data = [json.loads(line[6:]) for line in data.decode().splitlines() if line.startswith("data: ")][-1]
    return data.get("result") or data


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def others():
    """All that is stored and names an actor, but for what eve and roger itself do, and what a look notes."""
    mail = sorted((m["id"], m["from_phase"], m["to_phase"], m["read"], m.get("claimed_by"), m.get("ack_outcome"), m["content"]) for m in {m["id"]: m for m in lines(JOURNAL)}.values() if m["from_phase"] not in ("eve", "roger", "run") and m["to_phase"] != "eve")
    log = [line for line in lines(LOG) if line["action"]["details"].get("agent", "nobody") not in ("eve", "nobody")]
    runs = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in STATE.rglob("*.json") if "watchdog" in str(path) and "eve" not in path.read_text()}
    letters = [line for line in lines(STATE / "dead-letters.jsonl")]
    sends = sorted(line["id"] for path in STATE.glob("send-log/*.jsonl") if path.name != "eve.jsonl" for line in lines(path))
    return {"mail": mail, "log": log, "runs": runs, "letters": letters, "sends": sends}


def unchanged(what, before):
    after = others()
    wrong = [(kind, [one for one in after[kind] if one not in before[kind]][:2]) for kind in before if after[kind] != before[kind]]
    check(f"{what}: nothing of others is stored", not wrong, wrong)


# ------------------------------------------------------------------ the listed ways
before = others()
FORGED = {"to": ["bob"], "content": "X", "from": "ann"}
equal("send_many: a sender in an item", (ask("eve", "send_many", {"items": [FORGED]})[0], ask("eve", "send_many", {"items": [{"to": ["bob"], "content": "fine"}, FORGED]})[0]), (403, 403))
equal("send_many: the outer sender, with items that name none", ask("eve", "send_many", {"from": "ann", "items": [{"to": ["bob"], "content": "X"}]})[0], 403)
equal("send_many: in another case", ask("eve", "send_many", {"items": [{**FORGED, "from": "EVE"}]})[0], 403)
for name in ("ann", "Eve", "EVE", "human", "Human", "roger", "ROGER", "all", "eve ", "run", "tester"):
    equal(f"send as {name!r}", ask("eve", "send", {"to": "bob", "content": "X", "from": name})[0] // 100, 4)
equal("complete: another's run", ask("eve", "complete", {"run": "build-7", "result": "lie"})[0], 403)
equal("complete: as failed", ask("eve", "complete", {"run": "build-7", "failed": True})[0], 403)
equal("complete: as its child", ask("eve", "complete", {"run": "build-7", "result": "lie", "agent": "tester"})[0], 403)
equal("complete: a run without an agent's name", ask("eve", "complete", {"run": "bare-7", "result": "lie"})[0], 403)
equal("complete: with a message of one's own", ask("eve", "complete", {"run": "build-7", "message": OWN})[0], 403)
check("complete: by the tool", tool("eve", "run", action="complete", run="build-7", result="lie").get("isError"))
equal("dispatch: for two others", ask("eve", "dispatch", {"run": "forged-1", "child": "ann", "forward_to": "bob"})[0], 403)
check("dispatch: for another, by the tool", tool("eve", "run", action="dispatch", run="forged-2", forward_to="bob").get("isError"))
for name, step in (("of another's run", {"run": "build-7", "step": "ended", "ending": "by_itself", "words": "lie"}), ("as another's watcher", {"run": "build-7", "step": "adopted"}),
                   ("for two others", {"run": "forged-3", "step": "begins", "child": "ann", "forward_to": "bob"}),
                   ("whose result would be another's word", {"run": "forged-4", "step": "begins", "child": "ann"})):
    equal(f"run_step: {name}", ask("eve", "run_step", step)[0], 403)
equal("wake_step: of another", ask("eve", "wake_step", {"step": "woken", "agent": "bob"})[0], 403)
for verb, more in (("extend", {"by": 60000}), ("recover", {}), ("forward", {}), ("settle", {"reason": "x"})):
    equal(f"{verb}: another's run", ask("eve", verb, {"run": "build-7", **more})[0], 403)
for verb in ("stale", "redeliver"):
    equal(f"{verb}: another's dead letter", ask("eve", verb, {"id": LETTER, "reason": "x"})[0], 403)
for what in ("build-7", LETTER, "messages.jsonl:1"):
    equal(f"dismiss: {what}, which is another's", ask("eve", "dismiss", {"what": what, "reason": "x"})[0], 403)
ENTRY = {"timestamp": "2020-01-01T00:00:00Z", "task_id": "app", "action": {"type": "TOOL_EXEC", "details": {"agent": "bob", "path": "a.c"}}, "outcome": {"status": "SUCCESS"}}
equal("log: an entry of another", ask("eve", "log", {"entry": ENTRY})[0], 403)
for members in ({"details": {"agent": "bob"}}, {"details": {"agent": ["bob"]}}, {"details": {"tool": "roger", "verb": "receive", "ids": [MAIL]}}, {"agent": "bob"}, {"at": "2020-01-01T00:00:00Z"}):
    equal(f"log: {json.dumps(members)}", ask("eve", "log", {"task": "app", "type": "TOOL_EXEC", **members})[0], 403)
equal("log: another beside the details", ask("eve", "log", {"entry": {**ENTRY, "action": {"type": "TOOL_EXEC", "details": {}}, "agent": "bob"}})[0], 403)
for verb, body in (("claim", {"worker": "ann"}), ("ack", {"ids": [OWN], "worker": "ann"}), ("nack", {"ids": [OWN], "worker": "ann"}), ("ack", {"ids": [MAIL]}), ("ack", {"agent": "bob", "ids": [MAIL]}), ("receive", {"agent": "bob"}), ("claim", {"agent": "bob"}), ("reply", {"id": MAIL, "content": "x", "from": "bob"})):
    equal(f"{verb}: {', '.join(body)}", ask("eve", verb, body)[0], 403)
for verb, body in (("retire", {"name": "ann"}), ("session", {}), ("cycle", {"id": "c9", "by": "ann"}), ("archive", {"to": "bob"}), ("ingest", {"text": "(ANN #9): x", "agent": "bob"}), ("wake", {"agent": "bob"}), ("cleanup", {}), ("log_import", {"text": json.dumps(ENTRY)})):
    equal(f"{verb}: is for who administers", ask("eve", verb, body)[0], 403)
for verb, body in (("inbox", {}), ("prime", {}), ("wait", {"timeout": "1ms"}), ("looked", {"ids": MAIL}), ("arrive", {"session": "s1"})):
    equal(f"{verb}: of another", ask("eve", verb, {**body, "agent": "bob"}, "GET")[0], 403)
unchanged("all of these", before)

# ------------------------------------------- every string of every verb, at every depth
BASE = {
    "send": {"to": ["carol"], "content": "x"},
    "reply": {"id": OWN, "content": "x"},
    "send_many": {"items": [{"to": ["carol"], "content": "x"}, {"to": ["carol"], "content": "y"}]},
    "receive": {}, "claim": {}, "ack": {"ids": [OWN]}, "nack": {"ids": [OWN]},
    "redeliver": {"id": LETTER}, "stale": {"id": LETTER},
    "log": {"task": "app", "type": "TOOL_EXEC"},
    "dispatch": {"run": "own-%d"}, "complete": {"run": "build-7"}, "forward": {"run": "build-7"},
    "extend": {"run": "build-7", "by": 1000}, "settle": {"run": "build-7", "reason": "x"}, "dismiss": {"what": "build-7", "reason": "x"}, "recover": {"run": "build-7"},
    "run_step": {"step": "ended", "run": "build-7", "ending": "by_itself", "words": "lie"}, "wake_step": {"step": "woken"},
    "looked": {"ids": [MAIL]}, "arrive": {"session": "s2"},
}
PATHS = {verb[4:]: next(iter(does.items())) for verb, does in server.get("/openapi.json")[2]["paths"].items()}
ACTING = {verb: (method.upper(), does) for verb, (method, does) in PATHS.items() if does["x-right"] == "act"}
equal("each verb that writes without administering is tried here", sorted(set(ACTING) - set(BASE)), [])


def members(schema, way=()):
    """(where, schema) of all that can hold a name."""
    for name, one in schema.get("properties", {}).items():
        kinds = one.get("type", "string")
        if "array" in kinds and one["items"].get("type") == "object":
            yield from members(one["items"], way + (name, 0))
        elif "string" in kinds or "object" in kinds:
            yield way + (name,), one


def with_member(body, way, value):
    body = copy.deepcopy(body)
    place = body
    for step in way[:-1]:
        place = place[step]
    place[way[-1]] = value
    return body


actors, wrong = [], []
before = others()
for number, (verb, (method, does)) in enumerate(sorted(ACTING.items())):
    if method == "POST":
        found = members(does["requestBody"]["content"]["application/json"]["schema"])
    else:
        found = (((one["name"],), {**one["schema"], **one}) for one in does["parameters"])
    for way, schema in found:
        if "enum" in schema:
            continue
        for value in ("ann", "bob", "tester") if schema.get("type") != "object" else ({"agent": "ann"},):
            if way[-1] in ("to", "run") or (value == "ann" and way[-1] == "forward_to"):
                continue  # an addressee, or which run: both in the base
            body = json.loads(json.dumps(BASE[verb]).replace("%d", f"{number}-{value if isinstance(value, str) else 'o'}-{way[-1]}"))
            status = ask("eve", verb, with_member(body, way, value), method)[0]
            if schema.get("x-actor"):
                actors.append(f"{verb}.{way[-1]}")
                if status != 403:
                    wrong.append((verb, way, value, status))
equal("each member that names an actor is refused with another's name", wrong, [])
check("senders of items and workers are among them", {"send_many.from", "claim.worker", "ack.worker", "nack.worker", "log.agent", "dispatch.agent"} <= set(actors), sorted(set(actors)))
unchanged("every string of every verb", before)
stored = {m["from_phase"] for m in lines(JOURNAL)}
equal("the senders are those that were", stored - {"ann", "bob", "eve", "tester", "carol"}, set())

# ------------------------------------------------------------------- over /mcp
meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
headers = {"Authorization": f"Bearer {TOKENS['eve']}", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
TOOLS = server.ask("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}, headers, server.tcp())[2]["result"]["tools"]
NEEDED = {"send": {"to": ["carol"], "content": "x"}, "ack": {"ids": [MAIL]}, "wait": {"timeout": "1ms"}, "thread": {"id": MAIL}}
before = others()
for one in TOOLS:
    for action in one["inputSchema"]["properties"].get("action", {}).get("enum", [None]):
        for name in [*one["inputSchema"]["properties"], "from", "agent", "worker", "child", "by"]:
            if name == "action" or (name == "to" and one["name"] == "send"):
                continue
            given = {**NEEDED.get(one["name"], {}), **({"action": action, "run": "build-7"} if action else {}), name: "bob"}
            if name == "ids":
                given[name] = [MAIL]
            tool("eve", one["name"], **given)
unchanged("every argument of every tool", before)

# ------------------------------------------ roger send --batch on another machine
if (ROGER.parent / "roger-remote").exists():
    env = {**os.environ, "ROGER_SERVER": f"http://127.0.0.1:{server.port}", "ROGER_TOKEN": TOKENS["eve"], "HOME": FOLDER.name, "PATH": f"{ROGER.parent}:{os.environ['PATH']}"}

    def remote(*words, **more):
        return subprocess.run([ROGER, *words], capture_output=True, text=True, env=env, cwd=FOLDER.name, **more)

    before = others()
    batch = "".join(json.dumps({"to": ["carol"], "content": text, **sender}) + "\n" for text, sender in (("mine", {}), ("ann's", {"from": "ann"})))
    refused = remote("send", "--batch", input=batch)
    equal("a batch with another's line is refused", refused.returncode, 77)
    equal("as one is with another's name", remote("send", "--as", "ann", "carol", "x").returncode, 77)
    equal("and another's run", remote("complete", "build-7", "--result", "lie").returncode, 77)
    unchanged("a batch from another machine", before)
    check("nor is the rest of the batch", not any(m["content"] == "mine" for m in lines(JOURNAL)))
    equal("without that line it is stored", (remote("send", "--batch", input=batch.splitlines()[0] + "\n").returncode, [m["from_phase"] for m in lines(JOURNAL) if m["content"] == "mine"]), (0, ["eve"]))

# ------------------------------------------------------------- what may be done
sent = ask("eve", "send_many", {"items": [{"to": ["bob"], "content": "of eve"}, {"from": "eve", "to": ["bob"], "content": "of eve"}]})
equal("what names nobody, or oneself, is one's own", (sent[0], {(m["from_phase"], m.get("proved")) for m in lines(JOURNAL) if m["content"] == "of eve"}), (200, {("eve", "token")}))
equal("also as the outer sender", (ask("eve", "send_many", {"from": "eve", "items": [{"to": ["bob"], "content": "outer"}]})[0], [m["from_phase"] for m in lines(JOURNAL) if m["content"] == "outer"]), (200, ["eve"]))
entry = ask("eve", "log", {"entry": {**ENTRY, "action": {"type": "TOOL_EXEC", "details": {"path": "a.c"}}}})[2]
logged = lines(LOG)[-1]
equal("an entry is of the token's agent", logged["action"]["details"], {"path": "a.c", "agent": "eve"})
check("and of now", not logged["timestamp"].startswith("2020"), logged)
equal("a message of human's token is human's", (ask("human", "send", {"to": "bob", "content": "hi"})[0], [m["from_phase"] for m in lines(JOURNAL) if m["content"] == "hi"]), (200, ["human"]))

documents = lambda run: json.loads(next(path for path in STATE.rglob(f"{run}.json")).read_text())
equal("lead dispatches to tester", ask("lead", "dispatch", {"run": "r1", "child": "carol", "within": 60000})[0], 200)
status, _, problem = ask("lead", "complete", {"run": "r1", "result": "as carol"})
equal("its owner gives no result in the child's name", (status, problem.get("member")), (403, "result"))
check("nothing came of it", not any(m["content"] == "as carol" for m in lines(JOURNAL)) and documents("r1")["completionReceivedAt"] is None)
TOKENS["carol"] = token("carol", "--right", "act")
equal("its child does", ask("carol", "complete", {"run": "r1", "result": "by carol"})[0], 200)
result = next(m for m in lines(JOURNAL) if m["content"] == "by carol")
equal("in its own name, which is proved", (result["from_phase"], result["to_phase"], result.get("proved")), ("carol", "lead", "token"))
equal("the owner extends, settles and forwards", (ask("lead", "dispatch", {"run": "r2"})[0], ask("lead", "extend", {"run": "r2", "by": 60000})[0], ask("lead", "complete", {"run": "r2", "failed": True})[0], ask("lead", "settle", {"run": "r2", "reason": "done by hand"})[0]), (200,) * 4)
ask("lead", "ack", {"ids": [result["id"]]})
equal("forward: by its owner", ask("lead", "forward", {"run": "r1"})[0], 200)
notes = json.dumps([documents("r1"), documents("r2")])
for word in ("dispatched by lead (token lead ", "completed by carol (token carol ", "forwarded by lead (token lead ", "extended to", "settled by lead (token lead "):
    check(f"its notes: {word}", word in notes, notes)
equal("what oneself dispatched without an agent's name one may end", (ask("lead", "dispatch", {"run": "r3"})[0], ask("lead", "complete", {"run": "r3", "result": "ok"})[0]), (200, 200))
check("and by the tool", not tool("lead", "run", action="dispatch", run="r4").get("isError") and not tool("lead", "run", action="complete", run="r4", result="ok").get("isError"))
equal("who administers changes all of them", (ask("root", "extend", {"run": "build-7", "by": 60000})[0], ask("root", "stale", {"id": LETTER, "reason": "by root"})[0]), (200, 200))
equal("to whom it was is not whose it is", ask("ann", "stale", {"id": LETTER})[0], 403)
equal("whose a dead letter is marks it", ask("bob", "stale", {"id": LETTERS[-1]["id"], "reason": "late"})[0], 200)
noted = {line["id"]: line.get("note", "") for line in lines(STATE / "dead-letters.jsonl")}
check("both notes name the login", re.fullmatch(r"by root; by root \(token root [0-9a-f]{8}\)", noted[LETTER]) and "late; by bob (token bob " in noted[LETTERS[-1]["id"]], noted)
check("over the tool, too", not tool("eve", "ack", ids=[OWN]).get("isError"))

# A message that says it is the result of a run is one only from whom that run was given to.
ask("eve", "send", {"to": "lead", "content": "forged", "type": "result", "metadata": {"run": "late-7"}})
ask("lead", "dispatch", {"run": "late-7", "child": "carol", "within": 1})
ask("eve", "send", {"to": "lead", "content": "forged", "type": "result", "metadata": {"run": "late-7"}})
ask("eve", "send", {"to": "lead", "content": "forged", "type": "result", "key": "late-7:result:1"})
roger("recover", "late-7")
check("recover takes no other's message for it", documents("late-7").get("resultMessageId") is None and documents("late-7")["completionReceivedAt"] is None, documents("late-7"))
equal("a token for a reserved name may not act", (ask("squad", "log", {"task": "app", "type": "TOOL_EXEC"})[0], ask("squad", "ack", {"ids": [OWN]})[0]), (403, 403))

# Each note of a verb names the login, and none the server's own process.
first = {}
for line in lines(LOG):
    said = line["action"]["details"]
    if said.get("tool") == "roger" and said.get("agent") in ("eve", "lead", "carol", "root") and "login" in said:
        first.setdefault(said["verb"], said)
for verb in ("send", "send_many", "dispatch", "complete", "extend", "settle", "forward", "stale", "ack"):
    said = first.get(verb, {})
    check(f"the note of {verb} names the login", re.fullmatch(r"token (eve|lead|carol|root) [0-9a-f]{8}", said.get("login", "")) and not {"uid", "parent", "terminal"} & set(said), said)
server.post("/v1/extend", {"run": "bare-7", "by": 1000})
equal("one at the socket says so", [line["action"]["details"].get("login") for line in lines(LOG) if line["action"]["details"].get("verb") == "extend"][-1].split(",")[0], "socket")
equal("a command beside the server may do as before", roger("complete", "build-7", "--result", "by hand", "--as", "tester").returncode, 0)
check("trace says which token acknowledged", "token eve " in roger("trace", OWN).stdout, roger("trace", OWN).stdout)
equal("the journals are whole", roger("verify").returncode, 0)
equal("it ends well", server.end(), (0, ""))
done()
