#!/usr/bin/env python3
# mcp: random calls of roger's own server, in every revision of the protocol: well
# formed and not, with half characters, lines of ten megabytes, cancelled waits,
# and servers that are killed.  Each call is answered once, with its id; what was
# sent comes back exactly; what was said to be stored is there afterwards.
# The seed is fixed: ROGER_SEED takes another, ROGER_CALLS another number of calls.
# runner: timeout 240
import json
import os
import queue
import random
import subprocess
import sys
import threading

ROGER = os.environ["ROGER"]
SEED = int(os.environ.get("ROGER_SEED", "13"))
SANITIZED = "sanitize" in os.environ.get("ROGER_BUILD", "") or b"__asan" in open(ROGER, "rb").read()
CALLS = int(os.environ.get("ROGER_CALLS", "400" if SANITIZED else "2000"))
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
LIMIT = 4 << 20
for name in list(os.environ):
    if name.startswith("ROGER_") and name not in ("ROGER_SOURCE", "ROGER_BUILD"):
        del os.environ[name]
number = failures = 0


def check(name, condition, told=""):
    global number, failures
    number += 1
    failures += not condition
    print(f"{'ok' if condition else 'not ok'} {number} - {name}", flush=True)
    if not condition:
        print(f"# seed {SEED}: {told!r}"[:2000], flush=True)


class Server:
    """One server; a thread reads what it says, so that neither waits for the other."""

    def __init__(self, revision):
        self.revision, self.answers, self.heard = revision, {}, queue.Queue()
        self.process = subprocess.Popen([ROGER, "mcp", "--as", "bob"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.thread = threading.Thread(target=self.listen, daemon=True)
        self.thread.start()
        if revision != MODERN:
            self.line({"id": "hello", "method": "initialize", "params": {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "random", "version": "1"}}})
            said = self.answer("hello")["result"]["protocolVersion"]
            check(f"{revision} is spoken", said == revision, said)

    def listen(self):
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # else it was killed in the middle of it
                self.heard.put(json.loads(line))
        self.heard.put(None)

    def write(self, data):
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def line(self, message):
        self.write(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def answer(self, wanted):
        while wanted not in self.answers:
            message = self.heard.get(timeout=60)
            if message is None:
                return None
            if "method" in message:
                continue
            if message.get("id") in self.answers:
                raise SystemExit(f"answered twice: {message}")
            self.answers[message.get("id")] = message
        return self.answers[wanted]

    def end(self):
        self.process.stdin.close()
        return self.process.wait(60)


ALPHABETS = (
    "abc \n\t\"\\{}[]:,",
    "\r\n\x01\x1b\x7f\x85\x9b",
    "\u202a\u202e\u2066\u2069\u200b\u200c\u200d\u200e\u200f\u061c\u2028\u2029\ufeff\u00ad\ufffd\ufffe",
    "äß日本語मराठीफ़مرحبا\U0001f468\U0001f469\U0001f467\U000e0041\U0001f3f4\U0010ffff",
)


def some_text(random, most=60):
    return "".join(random.choice(random.choice(ALPHABETS)) for _ in range(random.randint(1, most)))


def spelt(random, value):
    """As JSON, escaped or not, with blanks or not."""
    return json.dumps(value, ensure_ascii=random.random() < 0.5,
                      separators=random.choice(((",", ":"), (", ", ": ")))).encode()


def some_call(random, known):
    """(tool, arguments, the text that must come back or None)"""
    text = some_text(random)
    return random.choice((
        lambda: ("send", {"to": random.choice(("bob", ["bob"])), "content": text}, text),
        lambda: ("send", {"to": ["bob"], "content": text, "key": f"t{random.randint(0, 30)}:status-update:1"}, None),
        lambda: ("send", {"to": ["bob"], "content": text, "key": text}, None),
        lambda: ("send", {"to": random.choice(("", 7, None, [], [[]], "no such name", {"a": 1})), "content": text}, None),
        lambda: ("inbox", random.choice(({}, {"limit": random.randint(-2, 9)}, {"limit": "1"}, {"issue": text})), None),
        lambda: ("ack", {"ids": random.sample(known, min(len(known), random.randint(0, 3))) + random.choice(([], ["msg-none"]))}, None),
        lambda: ("ack", {"ids": random.choice(known or ["msg-none"])}, None),
        lambda: ("thread", {"id": random.choice(known or [text])}, None),
        lambda: ("agents", random.choice(({}, {"x": text})), None),
        lambda: ("run", {"action": random.choice(("dispatch", "complete", "status", text)), "run": f"r{random.randint(0, 9)}", "within": "1h"}, None),
        lambda: ("dead_letters", {}, None),
        lambda: ("wait", {"timeout": random.choice(("1ms", "20ms", "never", ""))}, None),
        lambda: (text, {}, None),
    ))()


def broken(random, line):
    """The same line with something wrong in it, but for its last member, the id."""
    at = line.rindex(b'"content"') + 11 if b'"content"' in line else line.index(b'"params"') + 1
    what = random.choice((b"\\ud83d", b"\\uDC00", b"\xed\xa0\xbd", b"\xff", b"\x01", b"\\x", b'"x":1,"x":2'))
    return line[:at] + what + line[at:]


def some_line(random, server, identity, known):
    """(the line, the text that must come back or None)"""
    tool, arguments, text = some_call(random, known)
    params = {"name": tool, "arguments": arguments}
    if server.revision == MODERN:
        params["_meta"] = {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": {}}
    members = {"jsonrpc": "2.0", "method": "tools/call", "params": params}
    members = {"id": identity, **members} if random.random() < 0.3 else {**members, "id": identity}
    line, luck = spelt(random, members), random.random()
    if luck < 0.1:
        return broken(random, line), None
    if luck < 0.102:
        params["arguments"] = {"to": ["bob"], "content": "\\\"{[\"id\":" * (10 << 20 >> 3)}
        return spelt(random, members), None
    return line, text


def play(random, revision, calls):
    server, known, wanted, sent, cancelled, badly = Server(revision), [], {}, {}, set(), []
    for i in range(calls):
        identity = random.choice((i + 1, f"call {i} \u00e9\"\\"))
        if random.random() < 0.03:
            params = {"name": "wait", "arguments": {"timeout": "10m", "issue": "nobody-writes"}}
            if revision == MODERN:
                params["_meta"] = {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": {}}
            server.line({"id": identity, "method": "tools/call", "params": params})
            server.line({"method": "notifications/cancelled", "params": {"requestId": identity, "reason": some_text(random)}})
            cancelled.add(identity)
            continue
        line, text = some_line(random, server, identity, known)
        server.write(line)
        wanted[identity] = text
        if random.random() < 0.7:  # else several are under way at once
            answer = server.answer(identity)
            result = (answer or {}).get("result", {})
            if not result and "error" not in (answer or {}):
                badly.append(answer)
            if text is not None and not result.get("isError"):
                message = result["structuredContent"]["messages"][0]["id"]
                sent[message] = text
                known.append(message)
    unanswered = [identity for identity in wanted if server.answer(identity) is None]
    check(f"{revision}: {len(wanted)} calls are answered with their ids", not unanswered and not badly, (unanswered, badly))
    check(f"{revision}: {len(cancelled)} cancelled waits are not", not cancelled & set(server.answers), cancelled & set(server.answers))
    check(f"{revision}: nothing is answered without an id", None not in server.answers, server.answers.get(None))
    exact(random, server, sent)
    check(f"{revision}: it ends well", server.end() == 0)
    return sent


def exact(random, server, sent):
    """What was sent comes back byte for byte, in the tool's JSON."""
    wrong = []
    for message in random.sample(sorted(sent), min(len(sent), 25)):
        line = {"id": f"exact {message}", "method": "tools/call", "params": {"name": "thread", "arguments": {"id": message}}}
        if server.revision == MODERN:
            line["params"]["_meta"] = {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": {}}
        server.line(line)
        told = server.answer(line["id"])["result"]["structuredContent"]["messages"][0]
        if told["content"] != sent[message] or "truncated" in told:
            wrong.append((sent[message], told))
    check(f"{server.revision}: texts are exact", sent and not wrong, wrong[:1])


def kill(random, revision):
    """A server that is killed in the middle of calls: what it said is stored is there."""
    server = Server(revision)
    meta = {"_meta": {PREFIX + "protocolVersion": MODERN, PREFIX + "clientCapabilities": {}}} if revision == MODERN else {}
    last, sent = random.randint(1, 40), {}
    for i in range(60):
        server.line({"id": i, "method": "tools/call", "params": {"name": "send", "arguments": {"to": ["killed"], "content": f"{revision} {i}"}, **meta}})
        if i == last:
            server.answer(random.randint(0, i))
            server.process.kill()
            break
    server.process.wait()
    server.thread.join(60)
    while (message := server.heard.get()) is not None:
        server.answers[message.get("id")] = message
    for identity, answer in server.answers.items():
        if isinstance(identity, int):
            sent[answer["result"]["structuredContent"]["messages"][0]["id"]] = f"{revision} {identity}"
    return sent


def stored(sent):
    """Which of them are not what verify's own reader finds."""
    found = {}
    for line in subprocess.run([ROGER, "list", "--jsonl", "--limit", "100000"], capture_output=True, check=True).stdout.splitlines():
        message = json.loads(line)
        found[message["id"]] = message["content"]
    return [one for one, text in sent.items() if found.get(one) != text]


subprocess.run([ROGER, "init", "-q"], check=True)
with open(".roger/config.yaml", "w") as config:
    config.write("size_limits:\n  max_messages_per_issue_phase: 5000\n  max_messages_per_issue: 10000\n")
dice = random.Random(SEED)
everything = {}
for one in LEGACY + (MODERN,):
    everything.update(play(dice, one, CALLS // 5))
for one in ("2025-11-25", MODERN):
    for _ in range(3):
        everything.update(kill(dice, one))
missing = stored(everything)
check(f"{len(everything)} messages that were said to be stored are, as they were sent", len(everything) > CALLS // 20 and not missing, missing[:5])
check("the workspace is sound", subprocess.run([ROGER, "doctor", "-q"]).returncode == 0)
print(f"1..{number}")
sys.exit(failures != 0)
