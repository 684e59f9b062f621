#!/usr/bin/env python3
# runner: plain
# runner: timeout 900
"""Send logs among enemies: hostile keys and names, a log full of garbage, a
folder or a symbolic link where a log belongs, and a disk that is full at each
step of a keyed send, a timeout, a dead letter, a cycle and a purge.

Nothing leaves its folder, nobody's trouble is another sender's, nothing that
was acknowledged is lost or doubled, and with the obstacle gone all is as if it
had never been there.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

LINES = [b"\n", b"{}\n", b"null\n", b"[]\n", b'{"id":1}\n', b"\0" * 4096 + b"\n", b"\xff\xfe\n", b"x" * 70000 + b"\n",
         b"[" * 5000 + b"\n", b'{"id":"snd-1","sender":"ann","target":"bob","timestamp":"never","idempotent_key":"k"}\n',
         b'{"id":"snd-1","sender":"ann","target":"bob","timestamp":"2026-02-16T05:25:00Z","idempotent_key":"t:v:1",'
         b'"payload_chars":-1,"outcome":"delivered","attempt":0,"max_attempts":-5,"cycle_id":7}\n',
         b'{"id":"c","number":99999999999999999999,"opened_at":"2026-02-16T05:25:00Z"}\n', b"torn"]


def new_store(top, name, config=""):
    store = f"{top}/{name}"
    os.makedirs(store, exist_ok=True)
    lib.must(lib.call(store, ["init"]))
    with open(f"{store}/.roger/config.yaml", "w", encoding="utf-8") as file:
        file.write("breaker:\n  failures: 0\n" + config)
    return store


def send(store, key, sender="ann", text="x", **more):
    return lib.call(store, ["send", "--as", sender, "--key", key, "bob", text, "--json"], **more)


def confirm(store, key, sender="ann"):
    return lib.call(store, ["send", "--as", sender, "--key", key, "bob", "x", "--confirm", "read", "--within", "1ms", "--json"])


# --------------------------------------------------------------- keys, names


def keys(top):
    store, faults = new_store(top, "keys"), []
    good = ["t:v:1", "no form at all", "::::", "t:v:1:2:3:4", "'; drop table messages; --:v:1", '"},{"id":"x":v:1', "t:v:\\",
            "%s%n%s:v:1", "../../../etc/passwd:v:1", "-k:v:1", "ü:ß:🐝", "a" * 384, "ü" * 384, "🐝" * 384, "{}", "\\u0000:v:1",
            "t:" + "v" * 300 + ":1", "t:" + "é" * 100 + ":1", " : : "]
    bad = ["a" * 385, "ü" * 385, "t:v:1\n", "t:v\n:1", "\t:v:1", "t:v:\x1b[31m", "t:v:\x7f", "t:v:\r", b"t:v:\xff", b"\xc3:v:1",
           "a\u202eb:v:1", "a\u200bb:v:1", "\u2028:v:1"]
    for key in good:
        first, again, other = send(store, f"{key}"), send(store, key), send(store, key, text="y")
        if (first.returncode, again.returncode, other.returncode) != (0, 0, 77):
            faults.append(f"{key[:40]!r}: exits {first.returncode} {again.returncode} {other.returncode}: {first.stderr}")
            continue
        if not json.loads(again.stdout)["duplicate"]:
            faults.append(f"{key[:40]!r}: the second is no duplicate")
        told = lib.asked(store, "log", "sends", f"--key={key}")["attempts"]
        if len(told) != 1 or told[0]["key"] != key:
            faults.append(f"{key[:40]!r}: {told}")
        if confirm(store, "c" + key[1:]).returncode != 75 and len(key) > 1:
            faults.append(f"{key[:40]!r}: no timeout")
    for key in bad:
        done = send(store, key)
        if done.returncode != 65 or "\x1b" in done.stderr:
            faults.append(f"{key[:40]!r}: exit {done.returncode}: {done.stderr!r}")
    for words in (["log", "sends"], ["dead"], ["log", "sends", "--lines"]):
        done = lib.call(store, words)
        if done.returncode not in (0, 1) or "\u202e" in done.stdout or "\x1b" in done.stdout:
            faults.append(f"{words} exits {done.returncode}, or prints what it should not")
    lib.gather_faults(store, faults)
    return faults


def names(top):
    store, faults = new_store(top, "inner/names"), []
    good = ["../..", "..", ".", "../../x", "/etc/passwd", "a/b", "a:b", "@", ".hidden", "x.jsonl", "A", "a" * 128, "/" * 128]
    bad = ["", "-x", "a b", "a%2Fb", "a\nb", "a\x01", "ü", "a" * 129, "all", "%s", "a\\b", "$(touch x)"]
    for name in good:
        done = send(store, "t:status-update:1", sender=name)
        if done.returncode:
            faults.append(f"{name[:40]!r}: exit {done.returncode}: {done.stderr}")
        elif len(lib.asked(store, "log", "sends", f"--from={name}")["attempts"]) != 1:
            faults.append(f"{name[:40]!r}: no entry of its own")
    for name in bad:
        done = send(store, "t:status-update:1", sender=name)
        if done.returncode not in (64, 65, 77):
            faults.append(f"{name[:40]!r}: exit {done.returncode}")
    logs = os.listdir(f"{store}/.roger/send-log")
    if len(logs) != len(good):
        faults.append(f"{len(logs)} logs of {len(good)} senders: {sorted(logs)}")
    if sorted(os.listdir(f"{top}/inner")) != ["names"] or sorted(os.listdir(store)) != [".roger"]:
        faults.append(f"left its folder: {os.listdir(top)} {os.listdir(store)}")
    lib.gather_faults(store, faults)
    return faults


# ------------------------------------------------------------------- garbage


def garbage(top):
    """Every log takes every strange line; what is no entry is passed over, and all verbs go on."""
    store, faults = new_store(top, "garbage"), []
    lib.must(send(store, "t:status-update:1"))
    confirm(store, "t:escalation:1")
    for _ in range(3):
        lib.must(lib.call(store, ["log", "cycle", "new"]))
    logs = ["send-log/ann.jsonl", "dead-letters.jsonl", "cycles.jsonl", "key-digests.jsonl", "send-log/eve.jsonl"]
    for turn, line in enumerate(LINES):
        for name in logs:
            with open(f"{store}/.roger/{name}", "ab") as file:
                file.write(line)
        again = json.loads(lib.must(lib.call(store, ["log", "cycle", "--json"])).stdout)
        if again["number"] != 4 + turn // 4:
            faults.append(f"{line[:30]!r}: cycle {again['number']}")
        if turn % 4 == 3:
            lib.must(lib.call(store, ["log", "cycle", "new"]))
        done = [send(store, f"t:status-update:g{turn}"), send(store, f"t:status-update:g{turn}"),
                confirm(store, f"t:escalation:g{turn}"), confirm(store, f"t:escalation:g{turn}"),
                confirm(store, f"t:escalation:g{turn}"), confirm(store, f"t:escalation:g{turn}")]
        if [d.returncode for d in done] != [0, 0, 75, 75, 75, 77]:
            faults.append(f"{line[:30]!r}: exits {[d.returncode for d in done]}: {done[0].stderr}{done[2].stderr}{done[5].stderr}")
        if turn % 5 == 4:
            lib.must(lib.call(store, ["log", "purge"]))
    letters = lib.letters_of_known(store)
    if letters != len(LINES):
        faults.append(f"{letters} dead letters of {len(LINES)}")
    check_tolerant(store, faults)
    return faults


def check_tolerant(store, faults):
    try:
        living, archived = lib.check_once(store, [])
        entries = lib.entries_of(store)
        for message in living + archived:
            which = message["from"], message["to"], message["key"], message["cycle"]
            if not message.get("confirm_by") and which[2].startswith("t:status-update:g") and \
                    which[3] in ("5", "6", "7") and entries[which].get(1) != "delivered":
                faults.append(f"{which} has no entry")
        lib.check_verify(store)
    except lib.Fault as fault:
        faults.append(str(fault))


# --------------------------------------------------------- what is no file


def folder(path):
    os.makedirs(path)


def link_out(path):
    os.symlink(f"{os.path.dirname(path)}/../../victim", path)


def link_nowhere(path):
    os.symlink("nowhere", path)


def fifo(path):
    os.mkfifo(path)


def outcomes(store, *which):
    """Lines of the send logs, without those of attempts that are on record before their outcome is."""
    return [line for line in lib.asked(store, "log", "sends", "--lines", *which)["attempts"] if not line.get("pending")]


def one_obstacle(top, kind, put):
    """One sender's log is no file: it is told so, all others are as ever; with it gone, the entries come."""
    store, faults, sent = new_store(top, f"own-{kind}"), [], 0
    lib.must(send(store, "t:status-update:0", "kim"))
    put(f"{store}/.roger/send-log/ann.jsonl")
    with open(f"{store}/victim", "w", encoding="utf-8") as victim:
        victim.write("untouched")
    for turn in range(5):
        done = [send(store, f"t:status-update:{turn}"), send(store, f"t:status-update:{turn}", "kim"),
                send(store, f"t:status-update:{turn}", "kim")]
        sent += done[0].returncode == 0
        # What its log knows of a key cannot be told.
        if done[0].returncode not in (0, 77) or done[1].returncode or done[2].returncode:
            faults.append(f"exits {[d.returncode for d in done]}: {[d.stderr for d in done]}")
        if "ann.jsonl" not in done[0].stderr:
            faults.append("nobody was told of it")
        done = [confirm(store, f"t:escalation:{turn}", "kim"), confirm(store, f"t:escalation:{turn}", "kim")]
        if [d.returncode for d in done] != [75, 75]:
            faults.append(f"timeouts exit {[d.returncode for d in done]}: {[d.stderr for d in done]}")
        if confirm(store, f"t:escalation:{turn}").returncode not in (74, 77):
            faults.append("a timeout that could not be written down")
    kims = outcomes(store, "--from", "kim")
    if len(kims) != 5 + 10:
        faults.append(f"{len(kims)} lines of kim: {[(k['key'], k['attempt'], k['outcome']) for k in kims]}")
    if len(outcomes(store)) != 15:
        faults.append("all sends")
    done = lib.call(store, ["log", "sends", "--from", "ann"])
    if done.returncode not in (74, 77) or "ann.jsonl" not in done.stderr:
        faults.append(f"sends --from ann exits {done.returncode}: {done.stderr}")
    lib.must(lib.call(store, ["log", "purge"]))
    with open(f"{store}/victim", encoding="utf-8") as victim:
        if victim.read() != "untouched":
            faults.append("the victim was written to")
    path = f"{store}/.roger/send-log/ann.jsonl"
    shutil.rmtree(path) if kind == "folder" else os.unlink(path)
    for turn in range(5):
        confirm(store, f"t:escalation:{turn}")
    anns = lib.asked(store, "log", "sends", "--from", "ann", "--lines")["attempts"]
    if not sent or sum(a["outcome"] == "delivered" for a in anns) != sent:
        faults.append(f"with it gone: {anns}")
    lib.gather_faults(store, faults)
    return faults


def other_obstacle(top, name, kind, put):
    """The same in place of a log of all: the verbs that need it say so, the others go on; gone, all is well."""
    store, faults = new_store(top, f"{name.replace('/', '-')}-{kind}"), []
    path = f"{store}/.roger/{name}"
    put(path)
    done = [send(store, "t:status-update:1"), send(store, "t:status-update:1"), confirm(store, "t:escalation:1"),
            confirm(store, "t:escalation:1"), confirm(store, "t:escalation:1"), lib.call(store, ["log", "cycle", "new"]),
            lib.call(store, ["log", "sends"]), lib.call(store, ["dead"]), lib.call(store, ["log", "purge"])]
    for d in done:
        nothing = d.returncode == 1 and ("dead" in d.args or "sends" in d.args)
        if d.returncode < 0 or d.returncode >= 124 or (d.returncode and not d.stderr and not nothing):
            faults.append(f"{d.args[:3]} exits {d.returncode}: {d.stderr}")
    shutil.rmtree(path) if kind == "folder" else os.unlink(path)
    for _ in range(4):
        confirm(store, "t:escalation:1")
        lib.must(send(store, "t:status-update:1"))
    for words in (["log", "cycle", "new"], ["log", "sends"], ["dead"], ["log", "purge"]):
        lib.must(lib.call(store, words))
    if len(lib.letters_of(store)) != 1:
        faults.append("no dead letter with it gone")
    # In another cycle the key may be sent again.
    expected = 2 + (done[5].returncode == 0)
    if len(lib.asked(store, "list")["messages"]) != expected:
        faults.append(f"{len(lib.asked(store, 'list')['messages'])} messages")
    lib.gather_faults(store, faults)
    return faults


# ------------------------------------------------------------------ full disk


def full(top):
    """A disk with less and less room: each verb at each of these sizes."""
    path, faults, failed = f"{top}/disk", [], 0
    os.mkdir(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={2800 if lib.SLOW else 1400}k,nr_inodes=200", "none", path], check=True, capture_output=True)
    try:
        store = new_store(path, "store", "cycles:\n  keep: 3\nsize_limits:\n  max_messages_per_issue_phase: 500\n")
        sure = []
        for turn in range(60 if lib.SLOW else 24):
            lib.call(store, ["inbox", "--as", "nobody"])
            fill(path, (turn % 12) * 4096 // 2)
            key = f"{turn}"
            done = [send(store, f"t:status-update:{key}")] + [confirm(store, f"t:escalation:{key}") for _ in range(3)]
            done += [lib.call(store, ["log", "cycle", "new", "--json"]), lib.call(store, ["log", "purge"])]
            done += [lib.call(store, ["log", "sends", "--limit", "1"])]
            for d in done:
                if d.returncode < 0 or d.returncode >= 124 or (d.returncode and not d.stderr):
                    faults.append(f"turn {turn}: {d.args[1:3]} exits {d.returncode}: {d.stderr}")
            failed += sum(d.returncode not in (0, 75) for d in done)
            if done[0].returncode == 0:
                sure.append(json.loads(done[0].stdout)["messages"][0]["id"])
            os.unlink(f"{path}/filler")
            again = send(store, f"t:status-update:{key}")
            if again.returncode:
                faults.append(f"turn {turn}: with room again exit {again.returncode}: {again.stderr}")
            for _ in range(3):
                last = confirm(store, f"t:escalation:{key}")
            if last.returncode not in (75, 77):
                faults.append(f"turn {turn}: with room again the last attempt exits {last.returncode}: {last.stderr}")
            lib.must(lib.call(store, ["archive", "--unread", "--json", *sure])) if turn % 8 == 7 else None
            sure = [] if turn % 8 == 7 else sure
            try:
                lib.check_once(store, sure)
                if len(lib.letters_of(store)) != turn + 1:
                    faults.append(f"turn {turn}: {len(lib.letters_of(store))} dead letters")
            except lib.Fault as fault:
                faults.append(f"turn {turn}: {fault}")
        lib.gather_faults(store, faults)
        if not failed:
            faults.append("nothing failed: nothing was tested")
    finally:
        subprocess.run(["umount", "-l", path], check=False, capture_output=True)
    return faults, failed


def never_stored(top):
    """The journal alone cannot be written: timeouts, one dead letter, and the sender may go on trying."""
    store, faults = new_store(top, "never"), []
    lib.must(send(store, "t:status-update:0"))
    before = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", f"{store}/.roger/messages.jsonl", "-e",
              "inject=write,pwrite64,writev,pwritev:error=ENOSPC:when=1+"]
    for turn in range(5):
        done = send(store, "t:status-update:1", before=before)
        if done.returncode not in (73, 74) or not json.loads(done.stderr)["error"]["message"]:
            faults.append(f"turn {turn}: exit {done.returncode}: {done.stderr}")
        attempts = list(lib.entries_of(store)["ann", "bob", "t:status-update:1", "1"].values())
        if attempts != ["timeout"] * (turn + 1):
            faults.append(f"turn {turn}: {attempts}")
        if len(lib.letters_of(store)) != (turn >= 2):
            faults.append(f"turn {turn}: {len(lib.letters_of(store))} dead letters")
    done = lib.call(store, ["dead", "redeliver", lib.letters_of(store)[0]["id"], "--within", "1ms"])
    if done.returncode != 77:
        faults.append(f"redeliver exits {done.returncode}: {done.stderr}")
    done = send(store, "t:status-update:1")
    if done.returncode or json.loads(done.stdout)["duplicate"]:
        faults.append(f"with room again: exit {done.returncode}: {done.stdout}{done.stderr}")
    if lib.entries_of(store)["ann", "bob", "t:status-update:1", "1"].get(6) != "delivered":
        faults.append(f"with room again: {lib.entries_of(store)}")
    lib.gather_faults(store, faults)
    return faults


def fill(path, leave):
    with open(f"{path}/filler", "ab", buffering=0) as filler:
        while True:
            facts = os.statvfs(path)
            room = facts.f_bavail * facts.f_frsize - leave
            if room <= 0:
                return
            try:
                filler.write(b"f" * min(4096, room))
            except OSError:
                return


def main():
    tap = lib.Tap()
    with lib.workplace() as top:
        tap.result(keys(top), "hostile keys")
        tap.result(names(top), "hostile names")
        tap.result(garbage(top), f"logs with {len(LINES)} kinds of garbage")
        for kind, put in (("folder", folder), ("link", link_out), ("link nowhere", link_nowhere), ("fifo", fifo)):
            tap.result(one_obstacle(top, kind, put), f"a {kind} in place of a sender's log")
            for name in ("send-log", "dead-letters.jsonl", "cycles.jsonl", "key-digests.jsonl"):
                if (name, kind) == ("send-log", "folder"):
                    continue
                tap.result(other_obstacle(top, name, kind, put), f"a {kind} in place of {name}")
        if shutil.which("strace"):
            tap.result(never_stored(top), "a message that is never stored")
        else:
            tap.skip("a message that is never stored", "strace is not installed")
        if os.geteuid() == 0:
            faults, failed = full(top)
            tap.result(faults, f"a full disk, {failed} commands failed")
        else:
            tap.skip("a full disk", "needs root for a file system of its own")
    tap.done()


main()
