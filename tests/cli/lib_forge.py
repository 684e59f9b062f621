#!/usr/bin/env python3
"""Rewrite a journal as somebody would who knows how its chain is made.

    forge.py FILE CODE

CODE is Python over `lines`, a list of objects, one for each line; what it
leaves there is written back, chained anew (docs/FORMAT.md, "The chain").  Of
messages.jsonl, every witness goes, too: what else says how it ended.
"""
import contextlib
import json
import os
import struct
import sys

MASK = (1 << 64) - 1


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def siphash(key, data):
    """SipHash-2-4 under a key of 8 bytes and 8 zero bytes, 64 bits, little-endian."""
    v0, v1, v2, v3 = 0x736F6D6570736575 ^ key, 0x646F72616E646F6D, 0x6C7967656E657261 ^ key, 0x7465646279746573

    def rounds(count):
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0 = (v0 + v1) & MASK
            v2 = (v2 + v3) & MASK
            v1, v3 = rotate(v1, 13) ^ v0, rotate(v3, 16) ^ v2
            v0 = rotate(v0, 32)
            v2 = (v2 + v1) & MASK
            v0 = (v0 + v3) & MASK
            v1, v3 = rotate(v1, 17) ^ v2, rotate(v3, 21) ^ v0
            v2 = rotate(v2, 32)

    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        v3 ^= word
        rounds(2)
        v0 ^= word
    v2 ^= 255
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


def over(chain, data):
    for at in range(0, max(len(data), 1), 65536):
        chain = siphash(chain, data[at:at + 65536])
    return chain


def forget(folder):
    for name in ("messages.control", "messages.db-index"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(f"{folder}/{name}")
    with open(f"{folder}/message-state.json", encoding="utf-8") as file:
        state = json.load(file)
    state.pop("journal", None)
    with open(f"{folder}/message-state.json", "w", encoding="utf-8") as file:
        json.dump(state, file)


def main():
    path, code = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    scope = {"lines": lines}
    exec(code, scope)
    chain, out = 0, b""
    for line in scope["lines"]:
        line.pop("chain", None)
        body = json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode()[:-1]
        chain = over(chain, body)
        out += body + b',"chain":"%016x"}\n' % chain
    with open(path, "wb") as file:
        file.write(out)
    if os.path.basename(path) == "messages.jsonl":
        forget(os.path.dirname(path))


if __name__ == "__main__":
    main()
