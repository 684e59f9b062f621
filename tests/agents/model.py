"""model - a scripted stand-in for the model behind an agent's command line tool.

One server on the loopback speaks the four protocols that the tools use:

    POST /v1/messages                           Anthropic   (Claude Code)
    POST /v1/responses                          OpenAI      (Codex)
    POST /v1/chat/completions                   OpenAI      (OpenCode, Kilo, Qwen Code, Copilot)
    POST /v1beta/models/M:streamGenerateContent Gemini      (Gemini CLI)

It answers each request of the conversation with the next step of its script: a
text to say, or a Call of a tool; when no step is left it says "All done.".
Requests beside the conversation (titles, summaries: those that offer no tools)
get a fixed answer and use up no step.  Every body is kept, and written to a
file: what reached the model, and how often, is what the tests look at.

Tools that a provider refuses are refused here, in the same way (400): one bad
schema spoils every request of the tool that offers it.
"""
import http.server
import json
import re
import threading
from dataclasses import dataclass, field

ALL_DONE = "All done."


@dataclass
class Call:
    """A call of a tool, by the end of its name: "send" finds "mcp__roger__send" and "roger-send"."""

    tool: str
    arguments: dict = field(default_factory=dict)


@dataclass
class Request:
    path: str
    body: dict
    step: object = None  # what was answered, None beside the conversation

    @property
    def text(self):
        """The conversation as it was sent, without the definitions of tools."""
        return "\n".join(text for member in CONVERSATION for text in strings(self.body.get(member)))

    @property
    def tools(self):
        return [name for name, _ in offered(self.body)]


CONVERSATION = ("system", "systemInstruction", "instructions", "messages", "input", "contents")


def strings(value):
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for member in value.values() if isinstance(value, dict) else value:
            yield from strings(member)


def offered(body):
    """(name, namespace) of each tool that a request offers, in any protocol."""
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            yield from ((inner["name"], tool["name"]) for inner in tool["tools"])
        elif "functionDeclarations" in tool:
            yield from ((inner["name"], None) for inner in tool["functionDeclarations"])
        elif "function" in tool:
            yield tool["function"]["name"], None
        elif "name" in tool:
            yield tool["name"], None


def find_tool(body, ending):
    """The tool of that name, of any server: mcp__roger__send, roger_send, ..."""
    for name, namespace in offered(body):
        if name == ending or name.endswith(("_" + ending, "-" + ending)):
            return name, namespace
    return None, None


# --------------------------------------------------------------------- refusals


def kinds(schema):
    """The types that a schema names; Gemini's own words for them are in capitals."""
    named = schema.get("type", [])
    return [str(kind).lower() for kind in (named if isinstance(named, list) else [named])]


def inner_schemas(schema):
    """(where, schema) of each schema directly inside."""
    for keyword in ("properties", "$defs"):
        yield from ((f"{keyword}[{name}]", inner) for name, inner in schema.get(keyword, {}).items())
    for keyword in ("anyOf", "oneOf", "allOf"):
        yield from ((f"{keyword}[{i}]", inner) for i, inner in enumerate(schema.get(keyword, [])))
    yield from ((keyword, schema[keyword]) for keyword in ("items", "additionalProperties") if keyword in schema)


def gemini_refuses(schema, top):
    if isinstance(schema.get("type"), list):
        return "type: Proto field is not repeating, cannot start list."
    if kinds(schema) == ["array"] and not isinstance(schema.get("items"), dict):
        return "items: missing field."
    if "items" in schema and kinds(schema) != ["array"]:
        return "items: field predicate failed: == Type.ARRAY"
    if "enum" in schema and (not schema["enum"] or not all(isinstance(value, str) and value for value in schema["enum"])):
        return "enum: only allowed for STRING type, and never empty"
    if any(name not in schema.get("properties", {}) for name in schema.get("required", [])):
        return "required: property is not defined"
    return "parameters: must be an object" if top and kinds(schema) != ["object"] else None


def openai_refuses(schema, top, strict=False):
    if "array" in kinds(schema) and not isinstance(schema.get("items"), (dict, bool)):
        return "array schema missing items."
    if top and (kinds(schema) != ["object"] or any(word in schema for word in ("oneOf", "anyOf", "allOf", "enum", "not"))):
        return "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
    if strict and "object" in kinds(schema):
        if schema.get("additionalProperties") is not False:
            return "'additionalProperties' is required to be supplied and to be false."
        if sorted(schema.get("required", [])) != sorted(schema.get("properties", {})):
            return "'required' is required to be supplied and to be an array including every key in properties."
    return None


def anthropic_refuses(schema, top):
    if top and (kinds(schema) != ["object"] or any(word in schema for word in ("oneOf", "allOf", "anyOf"))):
        return "input_schema: type must be object, without oneOf, allOf, or anyOf at the top level"
    if not all(re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name) for name in schema.get("properties", {})):
        return "input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    return None


def find_fault(schema, refuses, where="", **more):
    """The first place that a provider does not take, and its words; None: it takes all."""
    if isinstance(schema, bool):
        return None
    if not isinstance(schema, dict):
        return f"{where or 'schema'}: {schema!r} is not of type 'object', 'boolean'"
    words = refuses(schema, not where, **more)
    if words:
        return f"{where}: {words}"
    found = (find_fault(inner, refuses, f"{where}.{name}", **more) for name, inner in inner_schemas(schema))
    return next((fault for fault in found if fault), None)


def declared(body):
    """(name, schema, rules, more, pattern of names) of each tool that a request offers."""
    for tool in body.get("tools") or []:
        for inner in tool["tools"] if tool.get("type") == "namespace" else [tool]:
            for one in inner.get("functionDeclarations", []):
                schema = one.get("parametersJsonSchema", one.get("parameters", {"type": "object"}))
                yield one["name"], schema, gemini_refuses, {}, r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"
            if "input_schema" in inner:
                yield inner["name"], inner["input_schema"], anthropic_refuses, {}, r"[a-zA-Z0-9_-]{1,128}"
            function = inner.get("function", inner)
            if "parameters" in function:
                more = {"strict": bool(function.get("strict"))}
                yield function["name"], function["parameters"], openai_refuses, more, r"[a-zA-Z0-9_-]{1,64}"


def refusal(body):
    """Why a provider would refuse this request for the tools in it; None: it would not."""
    for name, schema, refuses, more, pattern in declared(body):
        if not re.fullmatch(pattern, name):
            return f"Invalid name of function '{name}': expected {pattern}"
        fault = find_fault(schema, refuses, **more)
        if fault:
            return f"Invalid schema for function '{name}': {fault}"
    return None


# -------------------------------------------------------------------- protocols
#
# Each makes the events of one answer, from a step and the tool that it calls.


def anthropic(step, name, _namespace, number):
    if isinstance(step, Call):
        block = {"type": "tool_use", "id": f"toolu_{number:06}", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(step.arguments)}
        reason = "tool_use"
    else:
        block = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": step}
        reason = "end_turn"
    usage = {"input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
    message = {
        "id": f"msg_{number:06}", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    for event in (
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ):
        yield event["type"], event


def responses(step, name, namespace, number):
    if isinstance(step, Call):
        item = {
            "type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}", "name": name,
            "arguments": json.dumps(step.arguments), "status": "completed",
        }  # fmt: skip
        if namespace:
            item["namespace"] = namespace
    else:
        content = [{"type": "output_text", "text": step, "annotations": []}]
        item = {
            "type": "message", "id": f"m_{number}", "role": "assistant", "status": "completed", "content": content,
        }  # fmt: skip
    answer = {"id": f"resp_{number}", "object": "response", "status": "in_progress", "output": []}
    usage = {
        "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15,
    }  # fmt: skip
    for event in (
        {"type": "response.created", "response": answer},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**answer, "status": "completed", "output": [item], "usage": usage}},
    ):
        yield event["type"], event


def chat(step, name, _namespace, number):
    if isinstance(step, Call):
        function = {"name": name, "arguments": json.dumps(step.arguments)}
        delta = {"tool_calls": [{"index": 0, "id": f"call_{number}", "type": "function", "function": function}]}
        reason = "tool_calls"
    else:
        delta, reason = {"content": step}, "stop"
    chunk = {"id": f"chat-{number}", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    delta["role"] = "assistant"
    for choice in ({"delta": delta, "finish_reason": None}, {"delta": {}, "finish_reason": reason}):
        yield None, {**chunk, "choices": [{"index": 0, **choice}], "usage": usage}
    yield None, "[DONE]"


def gemini(step, name, _namespace, _number):
    part = {"functionCall": {"name": name, "args": step.arguments}} if isinstance(step, Call) else {"text": step}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}
    yield None, {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}


PROTOCOLS = {
    "/v1/messages": anthropic,
    "/v1/responses": responses,
    "/v1/chat/completions": chat,
    ":streamGenerateContent": gemini,
}


# ----------------------------------------------------------------------- server


class Model:
    """`with Model([Call("send", {...}), "Sent."]) as model:`, then model.url and model.requests."""

    def __init__(self, script=(), log=None):
        self.script = list(script)
        self.requests = []
        self.refused = []  # why, of each request with tools that a provider refuses
        self.changed = threading.Condition()
        self.log = log
        model = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(200, "text/plain", b"")

            def do_GET(self):
                self.answer(200, "application/json", b'{"data":[],"models":[]}')

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self.answer(*model.respond(self.path.split("?")[0], body))

            def answer(self, status, kind, data):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def respond(self, path, data):
        body = json.loads(data or b"{}")
        refused = refusal(body)
        if refused:
            with self.changed:
                self.refused.append(refused)
            return 400, "application/json", json.dumps({"type": "error", "error": {
                "code": 400, "status": "INVALID_ARGUMENT", "type": "invalid_request_error", "message": refused}}).encode()
        protocol = next((p for end, p in PROTOCOLS.items() if path.endswith(end)), None)
        with self.changed:
            request = Request(path, body)
            if protocol and any(True for _ in offered(body)):
                request.step = self.script.pop(0) if self.script else ALL_DONE
            self.requests.append(request)
            number = len(self.requests)
            self.changed.notify_all()
            if self.log:
                with open(self.log, "a", encoding="utf-8") as file:
                    file.write(json.dumps({"path": path, "step": repr(request.step), "body": body}) + "\n")
        if not protocol:
            return 200, "application/json", json.dumps(beside(path)).encode()
        step, name, namespace = request.step or "A title", None, None
        if isinstance(step, Call):
            name, namespace = find_tool(body, step.tool)
            if not name:
                step = f"No tool {step.tool} is offered."
                request.step = step
        if not body.get("stream", True) and protocol is not gemini:
            return 200, "application/json", json.dumps(whole(protocol, step, name, namespace, number)).encode()
        return 200, "text/event-stream", b"".join(
            (f"event: {event}\n" if event else "").encode()
            + f"data: {value if isinstance(value, str) else json.dumps(value)}\n\n".encode()
            for event, value in protocol(step, name, namespace, number)
        )

    # ------------------------------------------------------ what tests look at

    @property
    def turns(self):
        """The requests of the conversation."""
        return [request for request in self.requests if request.step is not None]

    def wait(self, count, seconds=60):
        """Until so many requests of the conversation came; whether they did."""
        with self.changed:
            return self.changed.wait_for(lambda: len(self.turns) >= count, seconds)


def beside(path):
    """Requests that are no conversation at all."""
    if path.endswith("count_tokens"):
        return {"input_tokens": 10}
    if path.endswith(":countTokens"):
        return {"totalTokens": 10}
    if path.endswith(":generateContent"):
        return next(gemini("{}", None, None, 0))[1]
    return {}


def whole(protocol, step, name, namespace, number):
    """An answer that is not streamed."""
    events = [value for _, value in protocol(step, name, namespace, number)]
    if protocol is anthropic:
        block = events[1]["content_block"]
        block = {**block, "input": step.arguments} if isinstance(step, Call) else {**block, "text": step}
        return {**events[0]["message"], "content": [block], "stop_reason": events[4]["delta"]["stop_reason"]}
    if protocol is responses:
        return events[-1]["response"]
    return {
        "id": f"chat-{number}", "object": "chat.completion", "created": 1, "model": "fake", "usage": events[0]["usage"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": step}, "finish_reason": "stop"}],
    }  # fmt: skip
