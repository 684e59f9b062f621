#!/usr/bin/env python3
# runner: timeout 180
"""The MCP library over standard input and output: both eras, every rule that a
client can see, hostile input, and the end.  The server is mcp/tests/mcp_fixture.c."""
import json
import os
import time

from lib_mcp import *

need_fixture()

# ------------------------------------------------------------------- opening

client = Client()
early = client.ask("tools/list")
equal("before anything is said, a list is refused", early["error"]["code"], -32600)
check("naming the versions", MODERN in early["error"]["message"] and "2025-11-25" in early["error"]["message"], early)
equal("ping is answered before that", client.ask("ping")["result"], {})
hello = client.hello()
equal("initialize is answered with its version", hello["result"]["protocolVersion"], "2025-11-25")
equal("and who we are", hello["result"]["serverInfo"], {"name": "mcp_fixture", "title": "Fixture", "version": "1.0.0"})
equal("and what we can", sorted(hello["result"]["capabilities"]), ["completions", "logging", "prompts", "resources", "tools"])
equal("and how we are used", hello["result"]["instructions"], "A server for tests.")
check("nothing modern is in it", "resultType" not in hello["result"] and "_meta" not in hello["result"], hello)
equal("a second one is refused", client.hello()["error"]["code"], -32600)
equal("and changes nothing", client.ask("ping")["result"], {})
client.end()
for asked, expected in (
    ("2025-06-18", "2025-06-18"),
    ("2025-03-26", "2025-03-26"),
    ("2024-11-05", "2024-11-05"),
    ("1999-01-01", "2025-11-25"),
    (MODERN, "2025-11-25"),
):
    client = Client()
    equal(f"initialize for {asked}", client.hello(asked)["result"]["protocolVersion"], expected)
    equal(f"a call in {asked}", text_of(client.call("test_simple_text")), "This is a simple text response for testing.")
    client.end()
client = Client()
for params in ({}, {"protocolVersion": 7, "capabilities": {}}, {"protocolVersion": "2025-11-25"}, {"protocolVersion": "2025-11-25", "capabilities": []}):
    equal(f"initialize with {sorted(params)} is bad", client.ask("initialize", params)["error"]["code"], -32602)
equal("and may be said again", client.hello()["result"]["protocolVersion"], "2025-11-25")
client.end()

# -------------------------------------------------------------------- modern

client = Client()
found = client.ask("server/discover", modern=True)["result"]
equal("discover names the versions", found["supportedVersions"], [MODERN, "2025-11-25", "2025-06-18"])
check("is cacheable", found["ttlMs"] >= 0 and found["cacheScope"] == "public", found)
equal("is complete", found["resultType"], "complete")
equal("says who we are in _meta", found["_meta"][META + "serverInfo"]["name"], "mcp_fixture")
check("and how we are used", found["instructions"])
for name, params in (
    ("no _meta", {}),
    ("no version", {"_meta": {META + "clientCapabilities": {}}}),
    ("no capabilities", {"_meta": {META + "protocolVersion": MODERN}}),
    ("a version that is no string", {"_meta": {META + "protocolVersion": 1, META + "clientCapabilities": {}}}),
    ("capabilities that are no object", {"_meta": {META + "protocolVersion": MODERN, META + "clientCapabilities": True}}),
    ("a _meta that is no object", {"_meta": "x"}),
):
    equal(f"discover with {name}", client.ask("server/discover", params)["error"]["code"], -32602)
wrong = client.ask("tools/list", modern=True, version="2027-01-01")["error"]
equal("another version", wrong["code"], -32022)
equal("is told which there are", wrong["data"], {"supported": found["supportedVersions"], "requested": "2027-01-01"})
equal("a legacy version is not spoken so", client.ask("tools/list", modern=True, version="2025-11-25")["error"]["code"], -32022)
for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "no/such"):
    equal(f"{method} is no modern method", client.ask(method, modern=True)["error"]["code"], -32601)
for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
    answer = client.ask(method, modern=True)["result"]
    check(f"{method} may be cached", answer["ttlMs"] >= 0 and answer["cacheScope"] == "public" and answer["resultType"] == "complete", answer)
    equal(f"{method} is the same again", client.ask(method, modern=True)["result"], answer)
answer = client.ask("resources/read", {"uri": "test://static-text"}, modern=True)["result"]
check("what is read is private and stale", answer["ttlMs"] == 0 and answer["cacheScope"] == "private", answer)
equal("no handshake was needed for a call", text_of(client.call("test_simple_text", modern=True)), "This is a simple text response for testing.")
missing = client.ask("resources/read", {"uri": "test://nowhere"}, modern=True)["error"]
equal("no such resource", (missing["code"], missing["data"]), (-32602, {"uri": "test://nowhere"}))
missing = client.ask("resources/read", {"uri": "test://template/missing/data"}, modern=True)["error"]
equal("a handler that finds none", (missing["code"], missing["data"]), (-32602, {"uri": "test://template/missing/data"}))
equal("legacy is still to come", client.ask("tools/list")["error"]["code"], -32600)
hello = client.hello()
equal("both eras in one process", hello["result"]["protocolVersion"], "2025-11-25")
missing = client.ask("resources/read", {"uri": "test://nowhere"})["error"]
equal("no such resource, in legacy", (missing["code"], missing["data"]), (-32002, {"uri": "test://nowhere"}))
equal("who calls, legacy", text_of(client.call("own_who")), "|test|1|2025-11-25")
who = client.ask(
    "tools/call", {"name": "own_who", "_meta": meta(**{META + "clientInfo": {"name": "other", "version": "2"}})}
)
equal("who calls, modern", text_of(who), f"|other|2|{MODERN}")
client.end()

# ------------------------------------------------------------- lists, pages

client = Client(env={"MCP_FIXTURE_PAGE": "7"})
client.hello()
names, cursor, pages = [], None, 0
while True:
    page = client.ask("tools/list", {"cursor": cursor} if cursor else None)["result"]
    names += [tool["name"] for tool in page["tools"]]
    pages += 1
    cursor = page.get("nextCursor")
    if not cursor:
        break
check("pages, each tool once", pages == (len(names) + 6) // 7 and len(set(names)) == len(names) > 30, (pages, names))
first = client.ask("tools/list")["result"]
client.call("test_trigger_tool_change")
second = client.ask("tools/list", {"cursor": first["nextCursor"]})["result"]
equal("a page goes on where it was, whatever was added", second["tools"][0]["name"], names[7])
for cursor in ("p", "x1", "pzz", "p1 ", "p" + "f" * 13, "", 7, None, ["p1"]):
    equal(f"cursor {cursor!r}", client.ask("tools/list", {"cursor": cursor})["error"]["code"], -32602)
client.end()

# --------------------------------------------------------------------- tools

client = Client()
client.hello()
equal("an unknown tool is an error of the protocol", client.call("no_such")["error"]["code"], -32602)
equal("so are arguments that are no object", client.ask("tools/call", {"name": "own_echo", "arguments": [1]})["error"]["code"], -32602)
for name, tool, arguments, sentence in (
    ("missing", "own_touch", {}, "own_touch: 'uri' is missing; expected a string"),
    ("of another type", "own_touch", {"uri": 7}, "own_touch: 'uri' is a number; expected a string"),
    ("too small", "own_touch", {"uri": "x", "times": 0}, "own_touch: 'times' is too small; expected 1 or more"),
    ("too large", "own_touch", {"uri": "x", "times": 1e9}, "own_touch: 'times' is too large; expected 100000 or less"),
    ("no whole number", "own_touch", {"uri": "x", "times": 1.5}, "own_touch: 'times' is a number; expected an integer"),
    ("unknown", "own_wait", {"mss": 1}, "own_wait: 'mss' is not known; did you mean 'ms'?"),
    ("too many", "test_simple_text", {"x": 1}, "test_simple_text: 'x' is not known; leave it out"),
):
    answer = client.call(tool, arguments)
    equal(f"an argument that is {name}", (text_of(answer), answer["result"]["isError"]), (sentence, True))
answer = client.call("test_error_handling")["result"]
equal("a tool that fails says so", (answer["isError"], answer["content"][0]["text"]), (True, "This tool intentionally returns an error for testing"))
answer = client.call("own_echo", {"a": [1, 2.50, {"b": "ä\t\"\\ 𝄞"}], "big": 12345678901234567890})["result"]
equal("structured content is what it was", answer["structuredContent"], {"a": [1, 2.5, {"b": "ä\t\"\\ 𝄞"}], "big": 12345678901234567890})
equal("and stands there as text", json.loads(answer["content"][0]["text"]), answer["structuredContent"])
equal("what keeps its output schema", client.call("own_structured")["result"]["structuredContent"], {"count": 3})
answer = client.call("own_structured", {"wrong": "yes"})["result"]
check("what does not is an error", answer["isError"] and "structuredContent" not in answer and "'count'" in answer["content"][0]["text"], answer)
equal("a call that ends on another thread", text_of(client.call("own_defer")), "later")
equal("a large answer", len(text_of(client.call("own_large", {"bytes": 3000000}))), 3000000)
check("an answer beyond all bounds", "too long" in client.call("own_large", {"bytes": 40000000})["error"]["message"])

# --------------------------------------------- prompts, templates, completion

equal("a prompt", client.ask("prompts/get", {"name": "test_simple_prompt"})["result"]["messages"][0]["role"], "user")
equal("an unknown prompt", client.ask("prompts/get", {"name": "no_such"})["error"]["code"], -32602)
answer = client.ask("prompts/get", {"name": "test_prompt_with_arguments", "arguments": {"arg1": "x"}})["error"]
equal("a prompt without what it needs", (answer["code"], answer["message"]), (-32602, "argument 'arg2' is missing"))
answer = client.ask("prompts/get", {"name": "test_prompt_with_arguments", "arguments": {"arg1": "x", "arg2": 2}})["error"]
equal("a prompt's arguments are text", answer["message"], "argument 'arg2' is no string")
answer = client.ask("resources/read", {"uri": "test://template/a%20b%2Fc/data"})["result"]["contents"][0]
equal("a template's name is decoded", json.loads(answer["text"])["id"], "a b/c")
equal("the uri is what was asked for", answer["uri"], "test://template/a%20b%2Fc/data")
for uri in ("test://template//data", "test://template/a/b/data", "test://template/a/data?x", "test://template/%zz/data", "test://template/%00/data", "test://template/a/dat", "", "x" * 3000):
    check(f"no uri of the template: {uri[:40]!r}", client.ask("resources/read", {"uri": uri})["error"]["code"] in (-32002, -32602))
equal("a resource that cannot be read", client.ask("resources/read", {"uri": "test://template/bad/data"})["error"]["code"], -32603)


def complete(ref, name, value):
    return client.ask("completion/complete", {"ref": ref, "argument": {"name": name, "value": value}})


prompt = {"type": "ref/prompt", "name": "test_prompt_with_arguments"}
equal("completion", complete(prompt, "arg1", "par")["result"]["completion"]["values"], ["paris", "park", "party"])
equal("completion of less", complete(prompt, "arg1", "park")["result"]["completion"]["values"], ["park"])
template = {"type": "ref/resource", "uri": "test://template/{id}/data"}
answer = complete(template, "id", "")["result"]["completion"]
equal("a hundred values at most", (len(answer["values"]), answer["total"], answer["hasMore"]), (100, 150, True))
equal("a prompt that completes nothing", complete({"type": "ref/prompt", "name": "test_simple_prompt"}, "x", "")["result"]["completion"]["values"], [])
equal("completion of what is not there", complete({"type": "ref/prompt", "name": "no_such"}, "x", "")["error"]["code"], -32602)

# ------------------------------------------------------ progress, log, cancel

answer = client.ask("tools/call", {"name": "test_tool_with_progress", "_meta": {"progressToken": "token"}})
steps = [n["params"] for n in client.notes if n["method"] == "notifications/progress"]
equal("progress rises", [(s["progress"], s["total"], s["progressToken"]) for s in steps], [(0, 100, "token"), (50, 100, "token"), (100, 100, "token")])
equal("with words", steps[1].get("message"), "half of it")
client.call("test_tool_with_progress")
equal("no progress where nobody asked", client.notes, [])
client.call("test_tool_with_logging")
equal("a log", [n["params"]["data"] for n in client.notes], ["Tool execution started", "Tool processing data", "Tool execution completed"])
equal("of a level", client.ask("logging/setLevel", {"level": "warning"})["result"], {})
client.call("test_tool_with_logging")
equal("that is too low now", client.notes, [])
equal("a level that is none", client.ask("logging/setLevel", {"level": "loud"})["error"]["code"], -32602)
client.call("test_logging_tool", modern=True)
equal("no log without a level, modern", client.notes, [])
client.ask("tools/call", {"name": "test_logging_tool", "_meta": meta(**{META + "logLevel": "info"})})
equal("a log with a level, modern", len(client.notes), 3)

client.notes = []
client.send(request("endless", "tools/call", {"name": "own_wait"}))
client.send(request("slow", "tools/call", {"name": "own_wait", "arguments": {"ms": 600}}))
equal("a waiting call holds up nobody", text_of(client.call("test_simple_text")), "This is a simple text response for testing.")
equal("and ends", next((text_of(note) for note in client.notes if note.get("id") == "slow"), None) or text_of(client.answer("slow")), "waited")
client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "endless"}})
client.send(request("gone", "tools/call", {"name": "own_wait"}))
client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone", "reason": "test"}})
client.notes = []
equal("a cancelled call says nothing more", (client.call("test_simple_text")["id"], client.read(0.2)), (client.last, None))
client.send(request("gone", "tools/call", {"name": "own_echo", "arguments": {"again": 1}}))
equal("its id is free again", client.answer("gone")["result"]["structuredContent"], {"again": 1})
for params in ({}, {"requestId": None}, {"requestId": "nobody"}, {"requestId": {}}, {"requestId": 1.5}):
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})
client.send({"jsonrpc": "2.0", "method": "notifications/no_such"}, {"jsonrpc": "2.0", "method": "tools/call"})
equal("what cancels nothing, or notes nothing, is passed over", client.ask("ping")["result"], {})
client.send(request("busy", "tools/call", {"name": "own_wait", "arguments": {"ms": 300}}))
client.send(request("busy", "tools/call", {"name": "test_simple_text"}))
equal("an id in use", client.answer("busy")["error"]["code"], -32600)
equal("is still answered", text_of(client.answer("busy")), "waited")
for i in range(300):
    client.send(request(f"w{i}", "tools/call", {"name": "own_wait", "arguments": {"ms": 60000}}))
refused = client.read()
check("too many calls are refused", "unanswered" in refused["error"]["message"], refused)
for i in range(300):
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": f"w{i}"}})
client.notes = []
equal("and work is done again once they are gone", client.ask("ping")["result"], {})
deadline = time.monotonic() + 10
while "error" in client.call("test_simple_text") and time.monotonic() < deadline:
    pass
equal("all of it", text_of(client.call("test_simple_text")), "This is a simple text response for testing.")

# -------------------------------------------------------------- subscriptions

equal("subscribe", client.ask("resources/subscribe", {"uri": "test://watched-resource"})["result"], {})
client.call("own_touch", {"uri": "test://watched-resource"})
equal("an update is told", [n["params"] for n in client.notes], [{"uri": "test://watched-resource"}])
client.call("own_touch", {"uri": "test://example-resource"})
equal("of nothing else", client.notes, [])
equal("subscribe by a template", client.ask("resources/subscribe", {"uri": "test://template/7/data"})["result"], {})
client.call("own_touch", {"uri": "test://template/7/data"})
equal("is told, too", [n["params"]["uri"] for n in client.notes], ["test://template/7/data"])
equal("unsubscribe", client.ask("resources/unsubscribe", {"uri": "test://watched-resource"})["result"], {})
client.call("own_touch", {"uri": "test://watched-resource"})
equal("is told no more", client.notes, [])
equal("nothing to subscribe to", client.ask("resources/subscribe", {"uri": "test://nowhere"})["error"]["code"], -32002)
client.call("test_trigger_tool_change")
equal("a changed list is told", [n["method"] for n in client.notes], ["notifications/tools/list_changed"])
client.end()

client = Client()
client.send(request("sub", "subscriptions/listen", {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["test://watched-resource", "test://nowhere"], "noSuchThing": True}}, modern=True))
first = client.read()
equal("a subscription is acknowledged first", first["method"], "notifications/subscriptions/acknowledged")
equal("as far as it is honoured", first["params"]["notifications"], {"toolsListChanged": True, "resourceSubscriptions": ["test://watched-resource"]})
equal("with its id", first["params"]["_meta"], {META + "subscriptionId": "sub"})
client.call("own_touch", {"uri": "test://watched-resource"}, modern=True)
client.call("test_trigger_prompt_change", modern=True)
equal("what nobody asked for is not told", client.notes, [])
client.call("own_touch", {"uri": "test://watched-resource"}, modern=True)
equal("an update is told with its id", [n["params"] for n in client.notes], [{"_meta": {META + "subscriptionId": "sub"}, "uri": "test://watched-resource"}])
client.send(request(77, "subscriptions/listen", {"notifications": {"promptsListChanged": True}}, modern=True))
client.read()
client.call("test_trigger_prompt_change", modern=True)
equal("two subscriptions are two", [(n["method"], n["params"]["_meta"][META + "subscriptionId"]) for n in client.notes], [("notifications/prompts/list_changed", 77)])
client.send(request("sub", "subscriptions/listen", {"notifications": {}}, modern=True))
client.notes = []
equal("an id in use by a subscription", client.answer("sub")["error"]["code"], -32600)
client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "sub"}})
client.call("own_touch", {"uri": "test://watched-resource"}, modern=True)
equal("a cancelled one is told nothing", client.notes, [])
equal("a filter that is none", client.ask("subscriptions/listen", {"notifications": []}, modern=True)["error"]["code"], -32602)
for i in range(70):
    client.send(request(f"many{i}", "subscriptions/listen", {"notifications": {}}, modern=True))
answers = [client.read() for i in range(70)]
check("too many are refused", sum("error" in a for a in answers) == 70 - 63, [a for a in answers if "error" in a][:2])
client.process.terminate()
last = [client.read() for i in range(64)]
equal("when the server ends, each gets its answer", sorted({m["result"]["resultType"] for m in last if m}), ["complete"])
equal("and the process ends well", client.process.wait(10), 0)

# ------------------------------------------------------------- asking the client

client = Client()
client.hello(capabilities={"elicitation": {}, "sampling": {}, "roots": {}})
client.notes = []
client.send(request("ask", "tools/call", {"name": "test_input_required_result_multiple_inputs"}))
asked = {q["method"]: q for q in (client.read(), client.read(), client.read())}
equal("legacy: questions are requests", sorted(asked), ["elicitation/create", "roots/list", "sampling/createMessage"])
client.send({"jsonrpc": "2.0", "id": asked["roots/list"]["id"], "result": {"roots": []}})
client.send({"jsonrpc": "2.0", "id": asked["roots/list"]["id"], "result": {"roots": []}})
client.send({"jsonrpc": "2.0", "id": "no-such", "result": {}})
equal("other calls go on", client.ask("ping")["result"], {})
client.send({"jsonrpc": "2.0", "id": asked["elicitation/create"]["id"], "result": {"action": "accept", "content": {"name": "Ann"}}})
client.send({"jsonrpc": "2.0", "id": asked["sampling/createMessage"]["id"], "result": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "hi"}}})
equal("all answers make the result", text_of(client.answer("ask")), "Ann: all three are there")
client.send(request("rounds", "tools/call", {"name": "test_input_required_result_multi_round"}))
client.send({"jsonrpc": "2.0", "id": client.read()["id"], "result": {"action": "accept", "content": {"name": "Ann"}}})
client.send({"jsonrpc": "2.0", "id": client.read()["id"], "result": {"action": "accept", "content": {"color": "red"}}})
equal("round after round", text_of(client.answer("rounds")), "Ann likes red")
client.send(request("no", "tools/call", {"name": "test_input_required_result_elicitation"}))
client.send({"jsonrpc": "2.0", "id": client.read()["id"], "error": {"code": -1, "message": "no"}})
check("a client that refuses", client.answer("no")["result"]["isError"])
client.send(request("gone", "tools/call", {"name": "test_input_required_result_elicitation"}))
question = client.read()
client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "gone"}})
client.send({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept", "content": {}}})
equal("cancelled while it asks", (client.ask("ping")["result"], client.read(0.1)), ({}, None))
client.end()
client = Client()
client.hello()
answer = client.call("test_input_required_result_elicitation")["result"]
check("legacy: a client that cannot be asked", answer["isError"] and "elicitation" in answer["content"][0]["text"], answer)
missing = client.call("test_missing_capability", modern=True)["error"]
equal("modern: the same", (missing["code"], missing["data"]), (-32021, {"requiredCapabilities": {"sampling": {}}}))
can = {"elicitation": {}}
first = client.call("test_input_required_result_request_state", modern=True, capabilities=can)["result"]
equal("modern: what is needed", (first["resultType"], list(first["inputRequests"])), ("input_required", ["confirm"]))


def again(tool, state, arguments=None, responses=None):
    params = {"name": tool, "arguments": arguments or {}, "inputResponses": responses or {"confirm": {"action": "accept", "content": {"ok": True}}}}
    if state is not None:
        params["requestState"] = state
    return client.ask("tools/call", params, modern=True, capabilities=can)


state = first["requestState"]
equal("and what it was kept for", text_of(again("test_input_required_result_request_state", state)), "state-ok")
parts = state.split(".")
for name, bad in (
    ("changed", state[:-2] + ("A" if state[-2] != "A" else "B") + state[-1]),
    ("longer", state + "-TAMPERED"),
    ("of another time", ".".join([str(int(parts[0]) + 1)] + parts[1:])),
    ("with another mark", ".".join([parts[0], "0" * 64, parts[2]])),
    ("cut", parts[0] + "." + parts[1]),
    ("empty", ""),
    ("no string", 7),
):
    equal(f"a state that is {name}", again("test_input_required_result_request_state", bad)["error"]["code"], -32602)
equal("a state of another tool", again("test_input_required_result_tampered_state", state)["error"]["code"], -32602)
equal("responses that are none", again("test_input_required_result_request_state", state, responses=[1])["error"]["code"], -32602)
client.end()

# -------------------------------------------------------------- hostile input

client = Client(sockets=True)
for name, line, code in (
    ("no JSON", b"nonsense", -32700),
    ("half of it", b'{"jsonrpc":"2.0","id":1,', -32700),
    ("no UTF-8", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\xff"}}', -32700),
    ("a member twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700),
    ("deep nesting", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":' + b"[" * 5000 + b"]" * 5000 + b"}}", -32700),
    ("more behind it", b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}', -32700),
    ("a batch", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
    ("an empty batch", b"[]", -32600),
    ("a string", b'"ping"', -32600),
    ("a number", b"7", -32600),
    ("an empty object", b"{}", -32600),
    ("another version", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
    ("no version", b'{"id":1,"method":"ping"}', -32600),
    ("an id that is null", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    ("an id that is a fraction", b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
    ("an id that is an object", b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
    ("an id that is too long", b'{"jsonrpc":"2.0","id":"' + b"i" * 400 + b'","method":"ping"}', -32600),
    ("a method that is a number", b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    ("params that are a list", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600),
    ("a NUL in a string", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"a\\u0000b"}}', -32600),
    ("a NUL in a name", b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"\\u0000":1}}', -32600),
    ("result and error", b'{"jsonrpc":"2.0","id":1,"result":{},"error":{}}', -32600),
    ("a line that is too long", b'{"x":"' + b"x" * (5 << 20) + b'"}', -32600),
):
    client.write(line + b"\n")
    answer = client.read()
    equal(name, answer and answer["error"]["code"], code)
client.write(b'\n\r\n  \n{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
equal("empty lines are passed over", client.read(), {"jsonrpc": "2.0", "id": 1, "result": {}})
client.write(b'{"jsonrpc":"2.0","id":"\\\\u0000","method":"ping"}\n')
equal("what only looks like a NUL is none", client.read(), {"jsonrpc": "2.0", "id": "\\u0000", "result": {}})
client.write(b'{"jsonrpc":"2.0","id":-0,"method":"ping"}\n{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"ping"}\n')
equal("a long number is an id", [client.read()["result"], client.read()["result"]], [{}, {}])
client.write(b'{"jsonrpc":"2.0","id":"\xc3\xa4","method":"p')
time.sleep(0.05)
client.write(b'ing"}\n')
equal("a message in two pieces", client.read(), {"jsonrpc": "2.0", "id": "ä", "result": {}})
client.write(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
status, rest, errors = client.end()
equal("what has no newline at the end of input is a message", json.loads(rest), {"jsonrpc": "2.0", "id": "last", "result": {}})
equal("the end of input is a clean end", (status, errors), (0, b""))

client = Client()
client.hello()
client.send(request("sleeper", "tools/call", {"name": "own_wait"}))
client.ask("ping")
status, rest, errors = client.end()
# The wait is one of a minute.
equal("the end comes although somebody waits", (status, rest, errors), (0, b"", b""))

client = Client()
client.hello()
client.process.stdout.close()
for i in range(2000):
    try:
        client.send(request(i, "tools/list"))
    except BrokenPipeError:
        break
try:
    client.process.stdin.close()
except BrokenPipeError:
    pass
equal("an output that closed is a clean end", (client.process.wait(10), client.process.stderr.read()), (0, b""))

for sockets in (False, True):
    client = Client(sockets=sockets)
    client.hello()
    flood = b"".join(json.dumps(request(i, "tools/list")).encode() + b"\n" for i in range(2000))
    child = os.fork()
    if child == 0:
        try:
            client.write(flood)
        finally:
            os._exit(0)
    time.sleep(0.3)
    resident = int(open(f"/proc/{client.process.pid}/statm").read().split()[1]) * 4096
    ids = [client.read()["id"] for i in range(2000)]
    os.waitpid(child, 0)
    equal(f"a flood is answered in order, {'socket' if sockets else 'pipe'}", ids, list(range(2000)))
    if "san" not in str(BUILD):
        check("and not piled up meanwhile", resident < 16 << 20, resident)
    client.notes = []
    client.ask("resources/subscribe", {"uri": "test://watched-resource"})
    client.send(request("touch", "tools/call", {"name": "own_touch", "arguments": {"uri": "test://watched-resource", "times": 100000}}))
    time.sleep(0.3)
    client.answer("touch")
    notes, more = len(client.notes), client.read(0.3)
    while more:
        notes, more = notes + 1, client.read(0.3)
    check("a client that does not read is not told all of it", 0 < notes < 60000, notes)
    client.call("own_touch", {"uri": "test://watched-resource"})
    equal("but the next change", len(client.notes), 1)
    status, rest, errors = client.end()
    equal("and a clean end", (status, rest, errors), (0, b"", b""))

if "san" not in str(BUILD):
    client = Client()
    client.hello()
    for i in range(2000):
        client.call("own_echo", {"i": i})
    resident = int(open(f"/proc/{client.process.pid}/statm").read().split()[1]) * 4096
    check(f"six MiB of memory at most ({resident >> 10} KiB)", resident <= 6 << 20, resident)
    client.end()
done()
