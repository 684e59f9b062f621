#!/usr/bin/env python3
"""A run keeps what its program printed last, of each stream, with the command and the
duration: in `runs RUN`, in the notice to its owner, and in no log that holds no content.

    ROGER=build/roger python3 tests/cli/t4406-run-output.py
"""
import glob
import hashlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import lib_tap

ROGER = os.path.abspath(os.environ["ROGER"])
SANITIZED = "sanitize" in ROGER or "-san" in ROGER
for name in list(os.environ):
    if name.startswith("ROGER"):
        del os.environ[name]
def roger(*words, **more):
    return subprocess.run([ROGER, *words], capture_output=True, text=True, check=False, **more)


def run(run_id, script, *options, **more):
    more = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "check": False, **more}
    return subprocess.run([ROGER, "run", "--as", "lead", "--run", run_id, "-q", *options, "--", "sh", "-c", script], **more)


def kept(run_id):
    return json.loads(roger("runs", run_id, "--json").stdout)["runs"][0]


def told(run_id):
    found = json.loads(roger("list", "--to", "lead", "--json").stdout)["messages"]
    return [m["content"] for m in found if (m["metadata"] or {}).get("run") == run_id]


def failing():
    done = run("build-7", "echo compiling; echo 'FATAL: no space' >&2; exit 3", "--result", "message")
    lib_tap.check("both streams pass", (done.stdout, done.stderr, done.returncode) == (b"compiling\n", b"FATAL: no space\n", 3), done)
    one = kept("build-7")
    lib_tap.check("its last lines are kept", (one["stdout_lines"], one["stderr_lines"]) == (["compiling"], ["FATAL: no space"]), one)
    lib_tap.check("with the command", one["command"] == "sh -c 'echo compiling; echo '\\''FATAL: no space'\\'' >&2; exit 3'", one["command"])
    lib_tap.check("and how long it took", 0 <= one["duration_ms"] < 60000 and "not_kept" not in one)
    text = roger("runs", "build-7").stdout
    lib_tap.check("people see them", re.search(r"^build-7  failed: exit 3$", text, re.M) and re.search(r"^  stdout +compiling$", text, re.M)
          and re.search(r"^  stderr +FATAL: no space$", text, re.M) and re.search(r"^  command +sh -c .*exit 3'$", text, re.M)
          and re.search(r"^  took +[0-9.]+m?s$", text, re.M), text)
    run("script", "echo one\necho two")
    text = roger("runs", "script").stdout
    lib_tap.check("a script has lines of its own", "  command      sh -c 'echo one\n               echo two'\n" in text, text)
    notice = told("build-7")[0]
    lib_tap.check("and so does its owner", notice.startswith("Run build-7 ended without a result: exit 3. It ran ") and
          notice.endswith("\nIts last words:\ncompiling\nIts last words on standard error:\nFATAL: no space"), notice)
    run("words", "echo half; echo WHY >&2; exit 3")
    lib_tap.check("a result beside a failure has them, too", told("words") == ["[exit 3]\nhalf\n[standard error]\nWHY"], told("words"))
    run("well", "echo fine; echo warning >&2")
    lib_tap.check("one that is good is the words alone", told("well") == ["fine"])
    lib_tap.check("its other stream is kept", kept("well")["stderr_lines"] == ["warning"])
    with open(".roger/state/subagent-delivery-watchdog/build-7.json", encoding="utf-8") as file:
        lib_tap.check("its document has none of it", not re.search("FATAL|compiling|command|duration", file.read()))


def bounds():
    run("many", "seq 1 100; seq 1001 1100 >&2")
    one = kept("many")
    lib_tap.check("the last twenty lines", one["stdout_lines"] == [str(n) for n in range(81, 101)] and one["stderr_lines"][0] == "1081", one)
    run("wide", "head -c 3000 /dev/zero | tr '\\0' w >&2; echo; exit 1")
    lib_tap.check("a line is cut", kept("wide")["stderr_lines"] == ["w" * 500 + "…"], kept("wide")["stderr_lines"])
    run("bar", "printf '10%%\\r50%%\\r100%%\\r\\nnext\\r\\n' >&2")
    lib_tap.check("of a progress bar its end", kept("bar")["stderr_lines"] == ["100%", "next"], kept("bar")["stderr_lines"])
    run("bytes", "printf 'a\\0\\377b' >&2")
    lib_tap.check("what is no text is replaced", kept("bytes")["stderr_lines"] == ["a\ufffd\ufffdb"])
    run("hostile", "printf '\\033[31mred\\033]0;title\\007 \\342\\200\\256evil\\n' >&2; exit 1")
    shown = subprocess.run([ROGER, "runs", "hostile"], capture_output=True, check=False).stdout
    lib_tap.check("what steers a terminal is shown as harmless", b"red" in shown and b"\x1b" not in shown and
          b"\x07" not in shown and "\u202e".encode() not in shown, shown)


def streams():
    data = os.urandom(2_000_000)
    with open("data", "wb") as file:
        file.write(data)
    done = run("raw", "cat data >&2")
    lib_tap.check("any bytes pass on standard error", done.stderr == data)
    with open("both", "wb") as file:
        run("same", "yes a | head -n 50000; yes b | head -n 50000 >&2", stdout=file, stderr=subprocess.STDOUT)
    with open("both", encoding="ascii") as file:
        text = file.read()
    lib_tap.check("into one file nothing is lost", [text.count(letter) for letter in "ab\n"] == [50000, 50000, 100000], len(text))
    child = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "flood", "-q", "--", "sh", "-c",
                              "head -c 200000000 /dev/zero >&2; echo END >&2"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    digest, peak = hashlib.md5(), 0
    for piece in iter(lambda: child.stderr.read(1 << 20), b""):
        digest.update(piece)
        with open(f"/proc/{child.pid}/status", encoding="ascii") as status:
            found = re.search(r"VmHWM:\s+(\d+)", status.read())
            peak = max(peak, int(found.group(1)) if found else 0)
    lib_tap.check("a flood passes", child.wait() == 0 and digest.hexdigest() == hashlib.md5(bytes(200_000_000) + b"END\n").hexdigest())
    lib_tap.check("in bounded memory", SANITIZED or peak <= 3072, f"{peak} KB")
    began = time.monotonic()
    done = run("daemon", "sleep 60 & echo $! >pid; echo up >&2")
    lib_tap.check("one that keeps the stream open keeps nobody", done.returncode == 0 and time.monotonic() - began < 30)
    with open("pid", encoding="ascii") as file:
        os.kill(int(file.read()), signal.SIGTERM)
    left, right = os.pipe()
    child = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "still", "-q", "--", "sh", "-c", "seq 30000 >&2; echo END"],
                             stdout=subprocess.PIPE, stderr=right)
    os.close(right)
    lib_tap.check("a reader of one stream is served though the other's stands still",
          child.stdout.read(0) == b"" and child.poll() is None)
    with os.fdopen(left, "rb") as stream:
        got = stream.read()
    lib_tap.check("which gets all", got.endswith(b"30000\n") and child.stdout.read() == b"END\n" and child.wait() == 0)
    subprocess.run(["sh", "-c", 'exec "$0" run --as lead --run shut -q -- sh -c "echo why >&2; exit 4" 2>&-', ROGER], check=False)
    lib_tap.check("where it is closed its lines are kept all the same", kept("shut")["stderr_lines"] == ["why"], kept("shut"))


def terminal():
    pid, master = pty.fork()
    if pid == 0:
        os.execv(ROGER, [ROGER, "run", "--as", "lead", "--run", "tty", "-q", "--", "sh", "-c",
                         "test -t 2 && echo yes >&2; test -t 1 && echo out; exit 5"])
    shown = b""
    while True:
        try:
            piece = os.read(master, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.waitpid(pid, 0)
    os.close(master)
    one = kept("tty")
    lib_tap.check("a terminal stays one", b"yes" in shown and b"out" in shown, shown)
    lib_tap.check("and is said not to be kept", one["not_kept"] == ["stderr"] and "stderr_lines" not in one, one)
    lib_tap.check("to people, too", "(not kept: it was a terminal)" in roger("runs", "tty").stdout)
    lib_tap.check("what passes through us is kept", one["stdout_lines"] == ["out"], one)


def ends():
    done = run("absent", "exit 9", "--timeout", "1ms", "--grace", "1ms")
    lib_tap.check("one that was killed at its limit", kept("absent")["words"] in ("timed out", "failed: exit 9"), kept("absent")["words"])
    run("wired", "echo last words >&2; kill -9 $$")
    lib_tap.check("killed", (kept("wired")["words"], kept("wired")["stderr_lines"]) == ("killed by signal 9", ["last words"]), kept("wired"))
    child = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "orphan", "-q", "--", "sh", "-c",
                              "echo begun; touch begun; until [ -e go ]; do sleep 0.02; done; echo later; echo more >&2;"
                              " seq 100000; touch done"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    while not os.path.exists("begun"):
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    lib_tap.check("where roger run is killed its program goes on", kept("orphan")["status"] == "active" and "command" not in kept("orphan"))
    open("go", "w", encoding="ascii").close()
    out, err = child.communicate(timeout=20)
    lib_tap.check("to its end", os.path.exists("done"))
    lib_tap.check("and what it prints goes on where it went", out == b"begun\nlater\n" + b"".join(b"%d\n" % n for n in range(1, 100001))
          and err == b"more\n", (out[:40], err))
    back = roger("run", "--as", "lead", "--run", "orphan", "--", "true")
    lib_tap.check("and who takes it over invents nothing", back.returncode == 1 and "command" not in kept("orphan"), back)


def nobody_left():
    child = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "alone", "-q", "--", "sh", "-c",
                              "touch up; until [ -e on ]; do sleep 0.02; done; seq 100000; echo more >&2; touch over"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while not os.path.exists("up"):
        time.sleep(0.01)
    child.kill()
    child.wait()
    child.stdout.close()
    child.stderr.close()
    open("on", "w", encoding="ascii").close()
    end = time.monotonic() + 20
    while not os.path.exists("over") and time.monotonic() < end:
        time.sleep(0.01)
    lib_tap.check("where its readers are gone, too, it goes on to its end", os.path.exists("over"))


def places():
    mode = os.stat(".roger/run-output.jsonl").st_mode & 0o777
    lib_tap.check("the file is private", mode == 0o600, oct(mode))
    logs = [*glob.glob(".roger/logs/*"), *glob.glob(".roger/send-log/*"), *glob.glob(".roger/*dead*"), *glob.glob(".roger/cycles*"),
            *glob.glob(".roger/state/subagent-delivery-watchdog/*")]
    leaks = [name for name in logs if re.search(rb"FATAL|compiling|last words", open(name, "rb").read())]
    lib_tap.check("no log without content has a word of it", logs and not leaks, leaks)
    lib_tap.check("doctor and verify agree", roger("doctor").returncode == 0 and roger("verify").returncode == 0,
          roger("doctor").stdout + roger("verify").stdout)
    before = kept("build-7")
    lib_tap.check("a backup", roger("backup", "../one.tar").returncode == 0)
    os.makedirs("../again", exist_ok=True)
    lib_tap.check("has it", roger("restore", "../one.tar", "--to", "../again").returncode == 0)
    there = json.loads(roger("runs", "build-7", "--json", cwd="../again").stdout)["runs"][0]
    lib_tap.check("as it was", all(there[name] == before[name] for name in ("command", "duration_ms", "stdout_lines", "stderr_lines")), there)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "work"))
        os.chdir(os.path.join(folder, "work"))
        subprocess.run([ROGER, "init", "-q"], check=True)
        failing()
        bounds()
        streams()
        terminal()
        ends()
        nobody_left()
        places()
        os.chdir("/")
    lib_tap.done()


main()
