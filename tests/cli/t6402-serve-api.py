#!/usr/bin/env python3
# runner: timeout 300
"""The API of roger serve: every verb from its OpenAPI document, the same answers as the command
line, keys through kills, tags, events without a gap and without a double, metrics."""
import random
import threading
import time
import urllib.parse

import lib_metrics
import lib_schema
from lib_serve import *

random.seed(1)
server = Server()

# ---------------------------------------------------------------- every verb

document = server.get("/openapi.json")[2]
verbs = {path[4:]: item for path, item in document["paths"].items()}
check("it is a document of OpenAPI 3.1 with every verb but those that run programs or need no workspace",
      document["openapi"] == "3.1.0" and {"send", "send_many", "doctor", "timeline"} <= set(verbs) and not {"run", "init", "setup", "trust"} & set(verbs))
try:
    from openapi_spec_validator import validate

    validate(document)
    check("which a validator takes", True)
except ImportError:
    print("# no openapi_spec_validator here")


ID = server.post("/v1/send", {"from": "al", "to": "bob", "content": "hello bob", "issue": "app"})[2]["messages"][0]["id"]
SAMPLES = {
    "from": "al", "agent": "bob", "to": ["bob"], "content": "text", "ids": [ID], "id": ID, "reply_to": ID, "name": "carol", "text": "hello", "run": "run-1",
    "run_id": "run-1", "place": "messages.jsonl:1", "reason": "test", "task": "t", "type": None, "what": "bob", "evidence": None, "items": [{"to": ["bob"], "content": "many"}],
    "worker": "w", "session": "s", "by": None, "source": None, "by_ms": None, "why": "later",
}
NOT_THERE = {"run_step", "accept", "dismiss", "redeliver", "stale", "extend", "forward", "settle", "recover", "complete", "nack", "log_import", "wake", "retire", "archive", "delete"}
wrong, called = [], 0
for verb, item in verbs.items():
    method, operation = next(iter(item.items()))
    values = {}
    if method == "post":
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        members, required = schema["properties"], schema.get("required", [])
    else:
        members = {p["name"]: p["schema"] for p in operation["parameters"]}
        required = [p["name"] for p in operation["parameters"] if p["required"]]
    for name in members:
        if name in required or name in ("agent", "from") and name in members and verb not in ("list", "count", "search", "sends", "dead_letters", "timeline"):
            value = SAMPLES.get(name) or (members[name].get("enum") or ["x"])[-1]
            values[name] = value if members[name]["type"] == "array" or not isinstance(value, list) else value[0]
    if verb in ("show", "thread", "ack", "looked", "claim", "nack", "trace"):
        values.update({name: [ID] for name in ("ids",) if name in members})
    if method == "post":
        status, _, reply = server.post(f"/v1/{verb}", values)
    else:
        query = "&".join(f"{name}={item}" for name, value in values.items() for item in (value if isinstance(value, list) else [value]))
        status, _, reply = server.get(f"/v1/{verb}?{query}" + ("&timeout=10ms" if verb == "wait" else ""))
    called += 1
    if status == 200:
        found = lib_schema.wrong(operation["responses"]["200"]["content"]["application/json"]["schema"], reply, verb)
        if found:
            wrong.append(found)
    elif status not in (400, 403, 404, 422) or not reply["type"].startswith("urn:roger:error:") or verb not in NOT_THERE | {"timeline", "log", "arrive", "purge"}:
        wrong.append((verb, status, reply, values))
equal("every verb can be called by the document, and answers as it says", wrong, [])
check("all of them", called > 40, called)
ours, theirs = server.get("/v1/list?issue=app")[2], json.loads(roger("list", "--issue", "app", "--json").stdout)
equal("a reply is that of --json", ours, theirs)
ours, theirs = server.get("/v1/list?from=bbo")[2], json.loads(roger("list", "--from", "bbo", "--json", status=1).stdout)
check("also that of nothing, with a note", ours == theirs and "did you mean 'bob'?" in ours["notes"][0], (ours, theirs))
keyless = server.post("/v1/send", {"from": "ann", "to": ["bob"], "content": "x", "key": ""})
equal("an empty key is refused, as it is on the command line", (keyless[0], keyless[2]["detail"]), (400, "key: expected a key, found ''"))
whole = server.get("/v1/list?json=" + urllib.parse.quote(json.dumps({"from": "bbo"})))[2]
equal("a query may be the whole request as JSON", whole, theirs)
equal("alone", server.get("/v1/list?json=%7B%7D&issue=app")[0], 400)
equal("and an object", server.get("/v1/list?json=5")[0], 422)
told = server.post("/v1/send", {"from": "ann", "to": ["bob"], "contnet": "x"})
equal("an unknown member is refused, with the one that is near", (told[0], "did you mean 'content'?" in told[2]["detail"]), (422, True))
queried = server.get("/v1/list?isue=app")
equal("in a query, too", (queried[0], queried[2]["detail"]), (422, "'isue' is no member roger knows here; did you mean 'issue'?"))
spanned = server.post("/v1/claim", {"agent": "bob", "lease": "10s"})
equal("a span in words is answered with the form it has in JSON", (spanned[0], spanned[2]["detail"]), (422, "lease: expected a whole number of ms, such as 10000 for 10s"))
lacking = [server.post("/v1/reply", {"from": "ann", "content": "x"}), server.get("/v1/thread"), server.get("/v1/thread?json=%7B%7D")]
two = server.post("/v1/send_many", {"from": "al", "items": [{"to": ["bob"], "content": "x"}, {"to": ["bob"], "content": "x", "reply_to": "msg-none"}]})
equal("which one of many sends is wrong is a figure, beside words that are those of one", (two[0], two[2]["member"], two[2].get("item"), two[2]["detail"][:9]), (404, "reply_to", 2, "reply_to:"))
equal("a member that is missing is the same in JSON and in a query", [(status, said["exit"], said["member"]) for status, _, said in lacking], [(400, 64, "reply_to"), (400, 64, "id"), (400, 64, "id")])
equal("a member may be repeated", len(server.get(f"/v1/show?ids={ID}&ids={ID}")[2]["messages"]) >= 1, True)
status, _, reply = server.get("/v1/list?to=al&limit=1&to=bob")
equal("but not one that is no list", (status, reply["member"], reply["detail"]), (400, "to", "member 'to' comes twice"))
equal("an error has its exit status", server.get("/v1/show?ids=nothing-of-that-name")[2]["exit"], 66)
page = server.get("/v1/list?limit=1")[2]
following = server.get(f"/v1/list?limit=1&after={page['next']}")[2]
equal("its first page says how many there are", (page["total"], server.get("/v1/list?issue=app&limit=1")[2]["total"]), (server.get("/v1/count")[2]["count"], server.get("/v1/count?issue=app")[2]["count"]))
equal("where that is not kept it does not", server.get("/v1/list?from=al&limit=1")[2].get("total"), None)
equal("the command says it, too", json.loads(roger("list", "--limit", "1", "--json").stdout)["total"], page["total"])
check("a list goes on after its next", page["more"] and following["messages"][0]["id"] != page["messages"][0]["id"])

# ------------------------------------------------------------------------- tags

status, headers, _ = server.get(f"/v1/messages/{ID}")
tag = headers["ETag"]
equal("a message has a tag", (status, len(tag)), (200, 18))
equal("who has it is not sent it again", server.get(f"/v1/messages/{ID}", headers={"If-None-Match": tag})[0::2], (304, b""))
server.post("/v1/ack", {"agent": "bob", "ids": [ID], "note": "seen"})
changed = server.get(f"/v1/messages/{ID}", headers={"If-None-Match": tag})
check("until something changes", changed[0] == 200 and changed[1]["ETag"] != tag)
ACK = {"agent": "bob"}
ID2 = server.post("/v1/send", {"from": "al", "to": "bob", "content": "which of you", "issue": "app"})[2]["messages"][0]["id"]
tag2 = server.get(f"/v1/messages/{ID2}")[1]["ETag"]
stale = server.post("/v1/ack", {**ACK, "ids": [ID2]}, headers={"If-Match": tag})
equal("who has seen another state of it does not ack it", (stale[0], stale[2]["type"]), (412, "urn:roger:error:changed"))
equal("nor with a tag that is only alike", server.post("/v1/ack", {**ACK, "ids": [ID2]}, headers={"If-Match": f"W/{tag2}"})[0], 412)
equal("nor archives it", server.post("/v1/archive", {"ids": [ID2], "unread": True}, headers={"If-Match": tag})[0], 412)
equal("it is as it was", server.get(f"/v1/messages/{ID2}")[1]["ETag"], tag2)
answers = []
several = [threading.Thread(target=lambda: answers.append(server.post("/v1/ack", {**ACK, "ids": [ID2]}, headers={"If-Match": f'"other", {tag2}'})[0])) for _ in range(8)]
for one in several:
    one.start()
for one in several:
    one.join()
equal("of several who have seen the same, one is the first", sorted(answers), [200] + [412] * 7)
tag2 = server.get(f"/v1/messages/{ID2}")[1]["ETag"]
equal("who looks again archives it", server.post("/v1/archive", {"ids": [ID2]}, headers={"If-Match": tag2})[0], 200)
equal("any state will do", server.post("/v1/ack", {**ACK, "ids": [ID]}, headers={"If-Match": "*"})[0], 200)
equal("it is for one message", server.post("/v1/ack", {**ACK, "ids": [ID, ID2]}, headers={"If-Match": tag})[0], 400)
equal("and for what changes one", server.post("/v1/send", {"from": "al", "to": "bob", "content": "x"}, headers={"If-Match": tag})[0], 400)
equal("a message that is not there", server.post("/v1/ack", {**ACK, "ids": ["msg-none"]}, headers={"If-Match": "*"})[0], 404)
equal("a thread has one", server.get(f"/v1/threads/{ID}")[0], 200)
equal("a message that is not there", server.get("/v1/messages/none-of-these")[0], 404)

# --------------------------------------------------------------- keys and kills

KEYED = {"from": "al", "to": "keyed", "content": "once"}
first = server.post("/v1/send", KEYED, headers={"Idempotency-Key": '"t:status-update:0"'})
again = server.post("/v1/send", KEYED, headers={"Idempotency-Key": "t:status-update:0"})
check("the same key is answered with the first result", first[0] == again[0] == 200 and first[2]["messages"] == again[2]["messages"])
equal("and says so", (first[1].get("Idempotent-Replayed"), again[1].get("Idempotent-Replayed")), (None, "true"))
other = server.post("/v1/send", {**KEYED, "content": "twice"}, headers={"Idempotency-Key": "t:status-update:0"})
equal("another text with it is refused", (other[0], other[2]["member"]), (422, "key"))
for round_ in range(1, 9):
    body = json.dumps(KEYED).encode()
    raw = (
        b"POST /v1/send HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: t:status-update:%d\r\nContent-Length: %d\r\n\r\n"
        % (round_, len(body)) + body
    )
    clients = [server.raw() for _ in range(3)]
    for client in clients:
        client.sendall(raw)
    if round_ % 2:
        clients[0].recv(1)
    server.end(signal.SIGKILL)
    for client in clients:
        client.close()
    server = Server()
    equal(f"after a kill the same key goes through ({round_})", server.post("/v1/send", KEYED, headers={"Idempotency-Key": f"t:status-update:{round_}"})[0], 200)
equal("each was stored once", server.get("/v1/count?to=keyed")[2]["count"], 9)

# ----------------------------------------------------------------------- events


class Stream:
    def __init__(self, last=None):
        self.connection = server.local()
        self.connection.request("GET", "/v1/events", headers={"Last-Event-ID": last} if last is not None else {})
        self.answer = self.connection.getresponse()

    def event(self):
        """The next: its id, its kind, its data."""
        got = {}
        while line := self.answer.readline().decode().rstrip("\n") or not got:
            if isinstance(line, str) and ": " in line and not line.startswith(":"):
                name, value = line.split(": ", 1)
                got[name] = value
        return got.get("id"), got.get("event"), json.loads(got.get("data", "{}"))

    def close(self):
        self.connection.close()


fresh = Stream()
last, kind, _ = fresh.event()
equal("a stream says where it begins", (fresh.answer.status, kind), (200, "open"))
WRITERS, EACH = 8, 25
before = server.get("/v1/count")[2]["count"]


def write(writer):
    for i in range(EACH):
        if i % 5:
            server.post("/v1/send", {"from": f"writer{writer}", "to": f"reader{writer}", "content": f"secret{i}", "issue": "busy"})
        else:
            roger("send", "--as", f"writer{writer}", "--issue", "busy", f"reader{writer}", f"secret{i}")


writers = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
for writer in writers:
    writer.start()
seen, activities, connects, text = [], [], 0, ""
while len(seen) < WRITERS * EACH:
    stream = Stream(last)
    connects += 1
    for _ in range(random.randrange(1, 40)):
        if len(seen) == WRITERS * EACH:
            break
        last, kind, data = stream.event()
        text += json.dumps(data)
        (seen if kind == "message" else activities).append(data["id"])
    stream.close()
for writer in writers:
    writer.join()
stored = [message["id"] for message in server.get("/v1/list?issue=busy")[2]["messages"]]
equal("through reconnects no message is missed", set(stored) - set(seen), set())
equal("none is told twice", [one for one in set(seen) if seen.count(one) > 1], [])
equal("they come in the order of the journal", seen == stored, True)
check("there were reconnects", connects > 5, connects)
equal("no note of the activity log came twice", len(activities), len(set(activities)))
check("and no text of anybody was in it", "secret" not in text)
stream = Stream("12.msg-that-never-was")
equal("who was at a place that is gone is told to look at everything", stream.event()[1], "reset")
equal("a place that is none", Stream("yesterday").answer.status, 400)
streams = [Stream() for _ in range(62)]
equal("there may be 64 streams", (streams[-1].answer.status, Stream().answer.status), (200, 503))
for one in streams + [stream]:
    one.close()
while Stream().answer.status != 200:
    pass
check("and those that close make room", True)
fresh.close()

# ---------------------------------------------------------------------- figures

status, headers, text = server.get("/metrics")
text = text.decode()
equal("metrics", (status, headers["Content-Type"]), (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"))
samples = lib_metrics.parse(text)
check("a strict reader takes them", len(samples) > 30)
server.post("/v1/send", {"from": 'q"\\', "to": "bob", "content": "x"})
server.post("/v1/log", {"agent": "ann-in-metrics", "text": "words-in-metrics", "task": "task-in-metrics"})
later = lib_metrics.parse(server.get("/metrics")[2].decode())
check("counters only rise", all(later[key] >= value for key, value in samples.items() if key[0].endswith(("_total", "_bucket", "_count", "_sum"))))
values = {value for name, labels in later for _, value in labels}
allowed = set(verbs) | {"mcp", "done", "refused", "failed", "+Inf"} | {str(float(v)).removesuffix(".0") for v in (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 10)}
equal("labels hold the words of roger and nobody else's", values - allowed, set())
for broken in (text[:-6], text.replace("# TYPE", "# KIND", 1), text.replace(" counter", " gauge", 1), text + "x 1\n", text.replace('le="+Inf"', 'le="Inf"', 1), text.replace("\nroger_agents ", "\nroger_other "), text.replace('verb="', 'verb="a"b', 1), text.replace("\n", "\n\n", 1)):
    try:
        lib_metrics.parse(broken)
        check("and not what is broken", False, broken[:200])
    except (lib_metrics.Wrong, KeyError, ValueError):
        pass
equal("its methods and types are those of any look", (server.ask("POST", "/metrics", {})[0], server.ask("POST", "/healthz", {})[0], server.ask("POST", "/readyz", {})[0]), (405, 405, 405))
equal("healthz says that and no more", (server.get("/healthz")[2], server.get("/readyz")[2]), ({"ok": True}, {"ok": True}))
check("no name of anybody is in them", not re.search("writer|reader|bob|busy", text))
check("sends are counted", re.search(r'roger_requests_total\{verb="send",outcome="done"\} 1\d\d\n', text), text)
equal("ready", server.get("/readyz")[0], 200)
old = server.post("/v1/send", {"from_phase": "writer", "to": "reader", "content": "old", "new": True})
equal("an older name of a member is taken, and said to be one", (old[0], old[1].get("Roger-Note")), (200, "from_phase is called from now"))

# ----------------------------------------------------------------- who waits for mail


def waiting(agent):
    connection = server.local()
    connection.request("POST", "/v1/receive", json.dumps({"agent": agent, "wait": 30000}), {"Content-Type": "application/json"})
    return connection


def done_receives():
    found = re.search(r'roger_requests_total\{verb="receive",outcome="done"\} (\d+)', server.get("/metrics")[2].decode())
    return int(found.group(1)) if found else 0


sleepers = [waiting(f"sleeper-{i}") for i in range(60)]
for i in range(60):
    server.post("/v1/send", {"from": "writer", "to": f"sleeper-{i}", "content": f"for {i}", "new": True})
answers = [one.getresponse() for one in sleepers]
equal("sixty may wait for mail at once, and each gets its own", [[m["content"] for m in json.loads(a.read())["messages"]] for a in answers], [[f"for {i}"] for i in range(60)])
before = done_receives()
waiting("gone").close()
ends = time.monotonic() + 20
while done_receives() == before and time.monotonic() < ends:
    time.sleep(0.1)
check("who hangs up waits no more", time.monotonic() < ends)
server.post("/v1/send", {"from": "writer", "to": "gone", "content": "later", "new": True})
hung = [waiting(f"hung-{i}") for i in range(9)]
for i, one in enumerate(hung):
    one.close()
    server.post("/v1/send", {"from": "writer", "to": f"hung-{i}", "content": f"for {i}", "new": True})
left = [[m["content"] for m in server.post("/v1/receive", {"agent": f"hung-{i}"})[2]["messages"]] for i in range(9)]
equal("and does not take mail that comes at once", left, [[f"for {i}"] for i in range(9)])
equal("and takes no mail that comes later", [m["content"] for m in server.post("/v1/receive", {"agent": "gone"})[2]["messages"]], ["later"])

# --------------------------------------------- events, of an index that was made anew


def told(stream, task):
    """Where the stream is when it has told of that task of the activity log, and the tasks up to there."""
    tasks, ends, place, asked = [], time.monotonic() + 10, None, 0
    while task not in tasks and time.monotonic() < ends:
        asked += 1
        sent = server.post("/v1/send", {"from": "writer", "to": "sentinel", "content": "x", "issue": f"after-{task}-{asked // 50}"})[2]["messages"][0]["id"]
        kind = data = None
        while (kind, data and data["id"]) != ("message", sent) and task not in tasks:
            place, kind, data = stream.event()
            if kind == "activity" and not data["data"]["task"].startswith("after-"):
                tasks.append(data["data"]["task"])
    stream.close()
    return place, tasks


stream = Stream()
stream.event()
roger("log", "before", "FILE_WRITE")
place, tasks = told(stream, "before")
equal("an entry of the activity log is told", tasks, ["before"])
for round_ in ("all-at-once", "log-alone"):
    server.end()
    for file in (WORKSPACE / ".roger").glob("messages.db-index*"):
        file.unlink()
    if round_ == "all-at-once":
        roger("doctor", "rebuild")
    server = Server()
    roger("log", round_, "FILE_WRITE")
    place, tasks = told(Stream(place), round_)
    equal(f"and none is missed or told twice by an index that was made anew, {round_}", tasks, ["general", round_] if round_ == "all-at-once" else [round_])
stream = Stream(place)
roger("log", "while-it-is-open", "FILE_WRITE")
roger("doctor", "rebuild")
place, tasks = told(stream, "general")
equal("nor to who listens meanwhile", tasks, ["while-it-is-open", "general"])
for what, gone in (("a place in a log that was longer is gone", place.replace("-", "-9", 1)), ("so is one of an older server", re.sub("-[0-9]*", "", place, count=1))):
    stream = Stream(gone)
    while (kind := stream.event()[1]) == "message":
        pass
    equal(what, kind, "reset")
    stream.close()

idle = [Stream() for _ in range(4)]
equal("it ends well with streams open", server.end(), (0, ""))
check("which end, too", all(one.answer.read() is not None for one in idle))
done()
