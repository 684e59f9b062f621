"""What tests in Python print: TAP."""
import sys

number = failures = 0


def result(good, name, note=""):
    global number, failures
    number += 1
    failures += not good
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    if not good and note != "":
        print(f"# {note!r}"[:2000], flush=True)
    return good


def check(name, good, note=""):
    return result(bool(good), name, note)


def equal(name, got, expected):
    return result(got == expected, name, f"got {got!r}, expected {expected!r}")


def done():
    print(f"1..{number}")
    sys.exit(failures > 0)
