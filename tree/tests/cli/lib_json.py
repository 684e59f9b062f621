"""Answers lib.sh's json(): one process for a whole test, since starting Python costs more than what is tested.

    lib_json.py ASK ANSWER TEST

Two named pipes, and the process that asks.  A question is an expression, a line that is a NUL, and the
JSON text, up to its end; an answer the exit status on a line, and the text.
"""
import contextlib
import json
import os
import signal
import sys


def answer(expression, text):
    try:
        d = json.loads(text)
    except ValueError:
        return 1, "no JSON: " + text[:200]
    try:
        value = eval(expression, {"json": json, "sys": sys, "d": d})
    except Exception as error:  # the test's own expression
        return 1, f"{type(error).__name__}: {error} in {expression}"
    return 0, value if isinstance(value, str) else json.dumps(value)


def end_with_the_test(*_):
    try:
        os.kill(int(sys.argv[3]), 0)
    except ProcessLookupError:
        sys.exit()


signal.signal(signal.SIGALRM, end_with_the_test)
signal.setitimer(signal.ITIMER_REAL, 10, 10)
while True:
    with open(sys.argv[1], encoding="utf-8", errors="surrogateescape", newline="") as ask:
        question, _, data = ask.read().partition("\n\0\n")
    status, words = answer(question, data)
    # Who asks may be gone before it has read all.
    with contextlib.suppress(BrokenPipeError):
        with open(sys.argv[2], "w", encoding="utf-8", errors="surrogateescape", newline="") as pipe:
            pipe.write(f"{status}\n{words}\n")
