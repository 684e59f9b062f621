"""Does a value conform to a JSON Schema?  Only the keywords that roger's schemas have.

As a program: lib_schema.py NAME, with the value on standard input: that `$ROGER schema NAME` allows it.
"""
import json
import os
import subprocess
import sys

KINDS = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
KNOWN = {"type", "enum", "const", "minimum", "properties", "required", "additionalProperties", "items", "description", "format", "title", "$schema"}


def is_type(types, value):
    types = [types] if isinstance(types, str) else types
    return any(isinstance(value, KINDS[one]) and (one == "boolean") == isinstance(value, bool) for one in types)


def wrong(schema, value, at="it"):
    """What is wrong first, else None."""
    more = sorted(set(schema) - KNOWN)
    if more:
        return f"{at}: this test does not know {more}"
    if "type" in schema and not is_type(schema["type"], value):
        return f"{at}: {value!r} is not {schema['type']}"
    if "enum" in schema and value not in schema["enum"] or "const" in schema and value != schema["const"]:
        return f"{at}: {value!r} is not as it has to be"
    if isinstance(value, list):
        return next((why for one in value if (why := wrong(schema.get("items", {}), one, at))), None)
    if not isinstance(value, dict):
        return None
    known = schema.get("properties", {})
    lost = [name for name in schema.get("required", []) if name not in value]
    strange = [name for name in value if name not in known and schema.get("additionalProperties") is False]
    if lost or strange:
        return f"{at}: without {lost}, and with {strange}"
    return next((why for name in value if name in known and (why := wrong(known[name], value[name], f"{at}.{name}"))), None)


if __name__ == "__main__":
    said = subprocess.run([os.environ["ROGER"], "schema", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    sys.exit(wrong(json.loads(said), json.load(sys.stdin)))
