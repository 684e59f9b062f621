#!/usr/bin/env python3
# runner: plain
# runner: timeout 240
"""Sends that come to a server at once share a sync (hang.c counts), and each has a verdict of its own: refused ones, those with
a key, to a stranger and without sense are among them.  Where the sync fails all of it is unsure, where the disk is full what
did not fit; after kill -9 whatever was answered is there exactly once."""
import contextlib
import random
import threading

import lib_serve
from lib_serve import *

PLACES = {name: Path(FOLDER.name) / name.lower() for name in ("HANG", "FAILS", "ONCE", "SYNCS")}
ENV = {**os.environ, "LD_PRELOAD": str(Path(os.environ["ROGER_BUILD"]).resolve() / "tests/hang.so"), **{name: str(path) for name, path in PLACES.items()}}
(WORKSPACE / ".roger/config.yaml").write_text("size_limits:\n  max_messages_per_issue_phase: 100\n  max_messages_per_issue: 100000\n")


def stored():
    """How often each text is there, journal and index agreeing on how many there are."""
    lines = [json.loads(line) for line in (WORKSPACE / ".roger/messages.jsonl").read_text().splitlines()]
    texts = list({line["id"]: line["content"] for line in lines}.values())
    count = json.loads(roger("count", "--json").stdout)["count"]
    equal("as many are counted", count, len(texts))
    return {text: texts.count(text) for text in texts}


def stored_ids():
    """In order."""
    return list(dict.fromkeys(json.loads(line)["id"] for line in (WORKSPACE / ".roger/messages.jsonl").read_text().splitlines()))


def notes(status):
    entries = [json.loads(line) for line in (WORKSPACE / ".roger/logs/activity.log.jsonl").read_text().splitlines()]
    return [e for e in entries if e["outcome"]["status"] == status and "send" in json.dumps(e["action"])]


def attempts():
    """What the send logs say of messages with a key."""
    return [json.loads(line) for path in sorted((WORKSPACE / ".roger/send-log").glob("*.jsonl")) for line in path.read_text().splitlines()]


def at_once(bodies):
    """All come while the disk stands still; then it goes on.  [(status, answer)]"""
    PLACES["HANG"].touch()
    asking = []
    for body in bodies:
        body, headers = body if isinstance(body, tuple) else (body, {})
        client = server.local()
        client.request("POST", "/v1/send", json.dumps(body), {"Content-Type": "application/json", **headers})
        asking.append(client)
    PLACES["HANG"].unlink()
    answers = [client.getresponse() for client in asking]
    return [(answer.status, json.loads(answer.read())) for answer in answers]


def mail(to, text, **more):
    return {"from": "amy", "to": [to], "content": text, **more}


# ------------------------------------------------------------- a verdict of its own
server = Server(env=ENV)
KEY = {"Idempotency-Key": "known"}
first = server.post("/v1/send", mail("bob", "with a key"), headers=KEY)[2]["messages"][0]["id"]
server.post("/v1/send", mail("reviewer", "so that it is known", new=True))
for i in range(98):
    roger("send", "narrow", f"narrow {i}", "--as", "amy", "-q")
before = len(PLACES["SYNCS"].read_bytes())
plain = [mail("bob", f"plain {i}", issue=f"p{i % 5}") for i in range(120)]
kinds = {
    "plain": plain[:60], "room for two of six": [mail("narrow", f"box {i}") for i in range(6)], "a slip": [mail("reviewr", "slip")], "a stranger": [mail("somebody", "stranger")],
    "a key again": [(mail("bob", "with a key"), KEY)], "a key of another text": [(mail("bob", "other"), KEY)],
    "new keys": [(mail("bob", f"key {i}", issue=f"k{i % 5}"), {"Idempotency-Key": f"new-{i}"}) for i in range(60)], "the same key twice": [mail("bob", "twice", key="twice")] * 2,
    "nobody": [{"from": "amy", "to": [], "content": "nobody"}], "too long": [mail("bob", "x" * 20000)], "to itself and another": [{"from": "amy", "to": ["bob", "eve"], "content": "two"}],
    "more": plain[60:],
}
asked = [(kind, body) for kind, bodies in kinds.items() for body in bodies]
answers = at_once([body for _, body in asked])
syncs = len(PLACES["SYNCS"].read_bytes()) - before
told = {kind: sorted(status for (k, _), (status, _) in zip(asked, answers) if k == kind) for kind in kinds}
equal("each has its own verdict", told, {
    "plain": [200] * 60, "room for two of six": [200, 200, 403, 403, 403, 403], "a slip": [403], "a stranger": [200], "a key again": [200], "a key of another text": [422],
    "new keys": [200] * 60, "the same key twice": [200, 200], "nobody": [400], "too long": [422], "to itself and another": [200], "more": [200] * 60})
check("and most share a sync", syncs < 25, syncs)
named = dict(zip([kind for kind, _ in asked], [answer for _, answer in answers]))
equal("who sends a key again gets the first message", named["a key again"]["messages"][0]["id"], first)
equal("who is a stranger is told", named["a stranger"]["never_seen"], ["somebody"])
ids = [m["id"] for status, answer in answers if status == 200 for m in answer["messages"]]
equal("each message is another one", len(set(ids) - {first}), len(ids) - 2)
texts = stored()
equal("one that came twice is there once", texts.get("twice"), 1)
equal("each with a key is there once", [texts.get(f"key {i}") for i in range(60)], [1] * 60)
equal("and each key has its entry", sorted((a["idempotent_key"], a["outcome"]) for a in attempts() if a["idempotent_key"].startswith("new-")), sorted((f"new-{i}", "delivered") for i in range(60)))
equal("each plain one is there once", [texts.get(body["content"]) for body in plain], [1] * 120)
equal("what was refused is not", [text for text in ("slip", "other", "nobody", "x" * 20000) if text in texts], [])
equal("and what is to two is there twice", texts["two"], 2)
equal("every send that did something is noted", len(notes("SUCCESS")), 2 + 98 + sum(told[kind].count(200) for kind in told if kind != "a key again"))
equal("and every refusal", sorted(e["outcome"]["message"] for e in notes("FAILURE")), ["data: content"] + ["refused"] * 4 + ["refused: to"])

# ------------------------------------------------------------------- a stream of them
stream = server.raw()
stream.sendall(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
heard = b""


def hear(what):
    global heard
    while what not in heard:
        more = stream.recv(65536)
        if not more:
            return
        heard += more


hear(b"event: open")
already = set(stored_ids())
for i in range(12):
    server.post("/v1/send", mail("ann", f"event {i}"))
    if i % 4 == 0:
        roger("send", "ann", f"by a command {i}", "--as", "amy", "-q")
    elif i % 4 == 1:
        roger("nack", json.loads(roger("claim", "--as", "ann", "--json").stdout)["messages"][0]["id"], "--as", "ann", "-q")
    elif i % 4 == 2:
        again = json.loads((WORKSPACE / ".roger/messages.jsonl").read_text().splitlines()[-1])
        with open(WORKSPACE / ".roger/messages.jsonl", "a") as journal:
            journal.write(json.dumps({k: v for k, v in again.items() if k != "chain"}) + "\n")
            journal.write(json.dumps({"id": f"theirs-{i}", "issue_id": "general", "from_phase": "else", "to_phase": "ann", "run_counter": 1, "message_type": "context", "content": "theirs", "metadata": None, "read": False,
                                      "created_at": 1736328000000 + i, "read_at": None}) + "\n")
    elif i % 4 == 3:
        roger("receive", "--as", "ann", "--limit", "1", "-q")
    hear(stored_ids()[-1].encode())
for i in range(4):
    server.post("/v1/send", mail("ann", f"last {i}"))
wanted = [id for id in stored_ids() if id not in already]
hear(wanted[-1].encode())
named = [json.loads(line[6:])["id"] for line in heard.decode().splitlines() if line.startswith("data: {") and '"roger.message"' in line]
equal("a stream names each new message once, in order, whoever wrote it and whatever becomes of it", named, wanted)
stream.close()

# ------------------------------------------------------------------ a sync that fails
PLACES["FAILS"].touch()
lost = at_once([mail("eve", f"lost {i}") for i in range(16)])
PLACES["FAILS"].unlink()
equal("where the sync fails nobody is told that it is stored", {(status, answer.get("exit"), answer.get("retry")) for status, answer in lost}, {(500, 74, "never")})
for turn in range(10):  # on a slow machine one sync may be for all of them
    PLACES["ONCE"].write_text("1")  # the sync of the first, during which the others come
    keyed = [(mail("eve", f"lost key {turn} {i}", new=True), {"Idempotency-Key": f"lost-{turn}-{i}"}) for i in range(8)]
    answers = at_once([mail("eve", f"first {turn}"), *keyed])
    told = [status for status, _ in answers[1:]]
    if 500 in told:
        break
    PLACES["ONCE"].unlink(missing_ok=True)
check("senders with a key hear of a failed sync, too", 500 in told and not PLACES["ONCE"].exists(), told)
equal("the send log says so of each", sorted((a["idempotent_key"], a["outcome"], a.get("cause")) for a in attempts() if a["idempotent_key"].startswith(f"lost-{turn}-")),
      [(f"lost-{turn}-{i}",) + (("delivered", None) if status == 200 else ("timeout", "not known to be on disk")) for i, status in enumerate(told)])
equal("the same key sends it again", {status for status, _ in at_once(keyed)}, {200})
equal("the next one is stored", server.post("/v1/send", mail("eve", "after"))[0], 200)
equal("none is there twice", [text for text, count in stored().items() if count > 1 and text not in ("two", "theirs")], [])
equal("it ends", server.end()[0], 0)
equal("and all is well", roger("doctor", status=None).returncode, 0)

# --------------------------------------------------------------------------- kill -9
answered, asked = [], []


def keep_sending(who):
    client = server.local()
    for i in range(100000):
        text = f"{turn} {who} {i}"
        asked.append(text)
        try:
            status = server.post("/v1/send", {"from": f"w{who}", "to": [f"r{who}"], "content": text, "issue": f"i{turn}"}, connection=client, headers={"Idempotency-Key": text.replace(" ", "-")} if who % 2 else {})[0]
        except (OSError, http.client.HTTPException):
            return
        answered.append(text) if status == 200 else None


for turn in range(5):
    server = Server()
    threads = [threading.Thread(target=keep_sending, args=(who,)) for who in range(16)]
    for thread in threads:
        thread.start()
    threads[0].join(random.uniform(0.1, 0.4))
    server.process.kill()
    for thread in threads:
        thread.join()
    server.process.wait()
texts = stored()
check("many were answered before the ends", len(answered) > 50, len(answered))
equal("whatever was answered is there exactly once", [text for text in answered if texts.get(text) != 1], [])
equal("and nothing twice", [text for text in asked if texts.get(text, 0) > 1], [])
equal("all is well then, too", roger("doctor", status=None).returncode, 0)

# ---------------------------------------------------------------------- a full disk
small = Path(FOLDER.name) / "small"
small.mkdir()
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "none", small], capture_output=True).returncode:
    print("# no small file system here: a full disk is not tried")
    done()
    sys.exit(0)
atexit.register(subprocess.run, ["umount", "-l", small])
subprocess.run([ROGER, "init", small], check=True, capture_output=True)
lib_serve.WORKSPACE = WORKSPACE = small
server = lib_serve.Server("--socket", FOLDER.name + "/small.sock", env=ENV)
server.post("/v1/send", mail("bob", "before"))
with open(small / "filler", "ab", buffering=0) as filler:
    try:
        while filler.write(b"f" * 4096):
            pass
    except OSError:
        pass
os.truncate(small / "filler", os.path.getsize(small / "filler") - (100 << 10))
bodies = [mail("bob", f"{i} " + "z" * 9000) for i in range(40)]
answers = at_once(bodies)
(small / "filler").unlink()
statuses = [status for status, _ in answers]
check("some fit on the disk and some do not", set(statuses) == {200, 507}, statuses)
texts = {}
for line in (small / ".roger/messages.jsonl").read_text().splitlines():
    with contextlib.suppress(ValueError):
        text = json.loads(line)["content"]
        texts[text] = texts.get(text, 0) + 1
equal("those that fit are there once, the others not", [texts.get(body["content"], 0) for body in bodies], [int(status == 200) for status in statuses])
equal("with room there is a next one", server.post("/v1/send", mail("bob", "after"))[0], 200)
equal("it ends", server.end()[0], 0)
done()
