#!/usr/bin/env python3
# runner: plain
# runner: timeout 600
"""A checkpoint is believed only where it fits the journal, and then every answer is what reading the whole journal gives.

Workspaces of random histories lose their control file, by a restart of the machine or in a copy.  Each is asked with its
checkpoint and without.  The same with a checkpoint that is stale, torn, foreign or damaged, over a journal that was cut
or altered, after a kill at every step of making one and of starting from one, after each failed call, and in copies made
while others write.  ROGER_TEST_SEED makes other histories; words say which part to do.
"""
import contextlib
import glob
import json
import os
import random
import shutil
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib

SEED = int(os.environ.get("ROGER_TEST_SEED", "24"))
HISTORIES, FLIPS, COPIES = (40, 400, 60) if lib.SLOW else (3, 24, 6)
AGENTS = ("ann", "bob", "eve", "kim")
CONFIG = "size_limits:\n  max_messages_per_issue_phase: 6\n  max_messages_per_issue: 30\n"
CHECKPOINT_END = 496  # in messages.control: where the journal was when the last one was made


def place(store, name="checkpoint"):
    return f"{store}/.roger/messages.{name}"


def sends(store):
    return f"{store}/.roger/send-log"


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def make(folder):
    store = f"{folder}/store"
    lib.must(lib.call(store, ["init"]))
    with open(f"{store}/.roger/config.yaml", "w", encoding="utf-8") as config:
        config.write(CONFIG)
    return store


def act(store, rng, n):
    """One thing that happens; what the rules refuse is refused."""
    me, other = rng.sample(AGENTS, 2)
    issue, key = f"i{rng.randrange(3)}", f"k{rng.randrange(2 * n + 1)}:status-update:1"
    words = rng.choice([
        ["send", other, f"text {n} " + "x" * rng.randrange(300), "--issue", issue], ["send", other, f"keyed {key}", "--issue", issue, "--key", key],
        ["send", "all", f"to all {n}", "--issue", issue], ["send", f"new{n}", "hello", "--new"],
        ["receive", "--limit", "2"], ["claim", "--worker", "w", "--lease", "1h", "--limit", "1"], ["inbox"],
        ["archive", "--issue", issue] if n % 9 == 0 else ["receive"], ["agents", "session", "new"] if n % 11 == 0 else ["inbox", "--limit", "1"],
    ])
    as_me = [] if words[0] in ("archive", "agents") else ["--as", me]
    if words[0] == "archive" or rng.random() < 0.1:
        with open(place(store, "jsonl"), "a", encoding="utf-8") as journal:  # another program
            journal.write(f'{{"id":"x{n}","issue_id":"{issue}","from_phase":"out","to_phase":"{me}","run_counter":1,'
                          f'"message_type":"context","content":"from outside","metadata":null,"read":false,"created_at":1,"read_at":null}}\n')
    lib.call(store, [*words, *as_me, "-q"])


def forget(store):
    """The machine was started again, or the control file is lost."""
    lib.reboot(store) if lib.can_reboot() else None
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place(store, "control"))


PASSING = {"id", "created_at", "read_at", "claimed_until", "claimed_at", "chain", "journal_bytes", "at", "took_ms", "message_id", "sent_at", "last_sent_at", "since", "until",
           "index_bytes", "archived_at", "last_looked_at", "bytes", "head"}


def without_passing(value):
    if isinstance(value, dict):
        return {k: without_passing(v) for k, v in value.items() if k not in PASSING}
    if isinstance(value, list) and all(isinstance(v, dict) and "file" in v for v in value):
        value = sorted(value, key=lambda v: v["file"])
    return [without_passing(v) for v in value] if isinstance(value, list) else value


def answers(store, n):
    """Numbers, counts, limits, keys, what is unread, and the last looks."""
    told = []
    for words in ([["agents", "--json"], ["agents", "session", "show", "--json"]] + [["list", "--count", "--to", a] for a in AGENTS]
                  + [["inbox", "--as", a, "--json"] for a in (*AGENTS, "nobody", "new3")]
                  + [["list", "--json"]] + [["send", AGENTS[k % 4], f"keyed k{k}:status-update:1", "--as", AGENTS[(k + 1 + k // 4) % 4], "--issue", f"i{k % 3}",
                                             "--key", f"k{k}:status-update:1", "--json"] for k in range(0, 2 * n, 3)]
                  + [["send", a, f"limit {i}", "--as", "ann", "--issue", f"i{i}", "--json"] for a in AGENTS[1:] for i in range(3)]
                  + [["claim", "--as", a, "--worker", "v", "--json"] for a in AGENTS] + [["receive", "--as", a, "--json"] for a in AGENTS]
                  + [["log", "sends", "--jsonl"], ["agents", "--json"], ["verify", "--json"]]):
        done = lib.call(store, words)
        if words[:2] == ["log", "sends"]:  # those of messages that the questions sent have other ids
            done.stdout = sorted([a[k] for k in ("from", "to", "key", "outcome", "attempt")]
                                 for a in map(json.loads, done.stdout.splitlines()) if a["key"].startswith("k"))
        with contextlib.suppress(ValueError, TypeError):
            done.stdout = json.dumps(without_passing(json.loads(done.stdout)), sort_keys=True)
        told.append((words, done.returncode, done.stdout))
        if done.returncode not in (0, 1, 65, 77):
            raise lib.Fault(f"{words} exits {done.returncode}: {done.stderr.strip()[-200:]}")
    return told


def believed(store):
    """Was the control file, which was made since, made from a checkpoint?  Nothing that ran made another."""
    return struct.unpack("<Q", lib.read_file(place(store, "control"))[CHECKPOINT_END:CHECKPOINT_END + 8])[0] != 0


def differ(one, other):
    """The first two answers that differ, each from a little before the place where it does."""
    faults = []
    for a, b in zip(one, other):
        if a != b:
            texts = str(a[2]), str(b[2])
            at = max(0, len(os.path.commonprefix(texts)) - 120)
            faults.append(f"{a[0]}: {a[1]} ...{texts[0][at:at + 300]} in place of {b[1]} ...{texts[1][at:at + 300]}")
    return faults[:2]


def compare(store, folder, n, wanted=None, spoil=None):
    """Faults of a copy with the checkpoint, spoilt as spoil(copy) does, against one without; wanted: is it to be believed?"""
    copy, bare = lib.copy(store, f"{folder}/with"), lib.copy(store, f"{folder}/without")
    if spoil:
        spoil(copy)
        shutil.copy2(place(copy, "jsonl"), place(bare, "jsonl"))
        if os.path.isdir(sends(copy)):
            shutil.rmtree(sends(bare), ignore_errors=True)
            shutil.copytree(sends(copy), sends(bare))
    for path in (place(bare), *glob.glob(place(bare, "db*"))):
        os.unlink(path)
    faults = []
    for one in (copy, bare):
        forget(one)
    lib.call(copy, ["inbox", "--as", "nobody"])
    if wanted is not None and believed(copy) != wanted:
        faults.append(f"the checkpoint is {'not ' * wanted}believed")
    return faults + differ(answers(copy, n), answers(bare, n))


# ------------------------------------------------------------------------ parts


def histories(tap):
    for i in range(HISTORIES):
        rng = random.Random(SEED * 1000 + i)
        with lib.workplace() as folder:
            store, faults = make(folder), []
            for n in range(30):
                act(store, rng, n)
                if n in (9, 10, 24):
                    lib.must(lib.call(store, ["doctor", "rebuild", "-q"]))
                if n in (9, 17, 29):
                    faults += compare(store, folder, n, wanted=True)
        tap.result(faults, f"history {i}: all answers are those of a whole journal")


def made(folder, rng):
    """A workspace with a checkpoint, lines after it, and the checkpoint before it."""
    store = make(folder)
    for n in range(8):
        act(store, rng, n)
    lib.must(lib.call(store, ["doctor", "rebuild", "-q"]))
    stale = lib.read_file(place(store))
    for n in range(8, 20):
        act(store, rng, n)
    lib.must(lib.call(store, ["doctor", "rebuild", "-q"]))
    for n in range(20, 24):
        act(store, rng, n)
    return store, stale


def is_used(checkpoint, at):
    """Does the byte mean anything?  Not the mark, nor the rest of a name."""
    agents = struct.unpack("<I", checkpoint[72:76])[0]
    if at < 512:
        return at < 12 or 16 <= at < 112 or 208 <= at < 240
    slot, within = (at - 512) // 160 * 160 + 512, (at - 512) % 160
    return slot >= 512 + 160 * agents or not 24 + struct.unpack("<I", checkpoint[slot:slot + 4])[0] <= within < 152


def change(at, to):
    def spoil(store):
        data = bytearray(lib.read_file(place(store)))
        data[at:at + len(to)] = to
        write(place(store), bytes(data))
    return spoil


def damaged(tap):
    rng = random.Random(SEED)
    with lib.workplace() as folder:
        store, stale = made(folder, rng)
        whole = lib.read_file(place(store))
        tap.result(compare(store, folder, 24, wanted=True), "a checkpoint is believed")
        tap.result(compare(store, folder, 24, wanted=True, spoil=lambda s: write(place(s), stale)), "one from before is right, too")
        faults = []
        used = [i for i in range(len(whole)) if is_used(whole, i)]
        for at in [rng.choice(used) for _ in range(FLIPS)] + [0, 8, 16, 64, 80, 88, 96, 104, 208, 216, 224, 232, 512, len(whole) - 1]:
            faults += [f"bit at {at}: {f}" for f in compare(store, folder, 2, wanted=False, spoil=change(at, bytes([whole[at] ^ 1 << rng.randrange(8)])))]
        tap.result(faults, "a bit that changed is found")
        faults = []
        pieces = range(0, len(whole), 512) if lib.SLOW else range(0, len(whole), 4096)
        for at in pieces:
            faults += [f"cut at {at}: {f}" for f in compare(store, folder, 1, wanted=False, spoil=lambda s, at=at: write(place(s), whole[:at]))]
            for name, piece in ("old", stale[at:at + 512]), ("empty", bytes(len(whole[at:at + 512]))):
                if piece != whole[at:at + 512] and at + 512 <= len(whole):
                    faults += [f"{name} at {at}: {f}" for f in compare(store, folder, 1, wanted=False, spoil=change(at, piece))]
        tap.result(faults, "a torn one is found")
        other, _ = made(os.mkdir(f"{folder}/other") or f"{folder}/other", random.Random(SEED + 1))
        tap.result(compare(store, folder, 24, wanted=False, spoil=lambda s: write(place(s), lib.read_file(place(other)))), "that of another workspace is not believed")
        link = [compare(store, folder, 1, spoil=lambda s, make=make: (os.unlink(place(s)), make(place(s))))
                for make in (os.mkdir, lambda p: os.symlink("/etc/passwd", p), os.mkfifo)]
        tap.result(sum(link, []), "what is no file has no say")


def cut(at):
    def spoil(store):
        with open(place(store, "jsonl"), "r+b") as journal:
            lines = journal.read().splitlines(keepends=True)
            journal.truncate(sum(map(len, lines[:at(len(lines))])))
    return spoil


def alter(line):
    def spoil(store):
        with open(place(store, "jsonl"), "r+b") as journal:
            text = journal.read()
            ends = [i for i, c in enumerate(text) if c == 10]
            at = text.rindex(b'"run_counter":1', 0, ends[line(len(ends))]) + 14
            journal.seek(at)
            journal.write(b"7")
    return spoil


def journals(tap):
    """A journal that is shorter than a witness says is damaged, whatever the checkpoint says, which goes once the damage is noted."""
    with lib.workplace() as folder:
        store, _ = made(folder, random.Random(SEED))
        end = struct.unpack("<Q", lib.read_file(place(store))[208:216])[0]
        line = lib.read_file(place(store, "jsonl"))[:end].count(b"\n") - 1
        for name, spoil, wanted in (("cut below it", cut(lambda n: line // 2), False), ("cut behind it", cut(lambda n: n - 1), True),
                                    ("emptied", cut(lambda n: 0), False), ("altered where it was made", alter(lambda n: line), False),
                                    ("altered before it", alter(lambda n: line - 3), False), ("altered behind it", alter(lambda n: n - 1), None)):
            faults = compare(store, folder, 2, wanted=wanted, spoil=spoil)
            lib.call(f"{folder}/with", ["inbox", "--as", "bob"])
            if lib.call(f"{folder}/with", ["verify"]).returncode != 65:
                faults.append("verify says nothing")
            tap.result(faults, f"a journal that was {name}")


def by_itself(tap):
    """Whoever has answered makes one when enough was appended; it fits what follows, and the index is made durable with it."""
    with lib.workplace() as folder:
        store = make(folder)
        if lib.call(store, ["list"]).returncode != 1:
            raise lib.Fault("list of an empty workspace does not end with 1")
        lines = "".join(json.dumps({"to": AGENTS[n % 4], "content": f"{n} " + "x" * 9000, "issue": f"n{n}"}) + "\n" for n in range(1000))
        lib.must(lib.call(store, ["send", "--as", "ann", "--batch", "--new", "-q"], stdin=lines))
        faults = [] if os.path.exists(place(store)) else ["there is none after 9 MiB"]
        tap.result(faults or compare(store, folder, 2, wanted=True), "one is made after 8 MiB")
        look = [lib.ROGER, "inbox", "-q", "--workspace", store]  # of bob himself, not of a person
        log = f"{store}/.roger/logs/activity.log.jsonl"
        lib.must(lib.subprocess.run(look, env={**lib.env_for(store), "ROGER_AGENT": "bob"}, check=False, capture_output=True))
        lib.must(lib.call(store, ["doctor", "rebuild", "-q"]))
        forget(store)
        before = lib.read_file(log)
        lib.must(lib.subprocess.run(look, env={**lib.env_for(store), "ROGER_AGENT": "bob"}, check=False, capture_output=True))
        tap.result([] if lib.read_file(log) == before else ["the look is noted again"], "the last looks are in it")


def logs(tap):
    """Of the send logs, too, a power cut leaves what was there at the checkpoint; the rest is in the journal."""
    with lib.workplace() as folder:
        store, _ = made(folder, random.Random(SEED))
        lib.call(store, ["send", "bob", "keyed", "--as", "ann", "--key", "k900:status-update:1", "-q"])
        lib.must(lib.call(store, ["doctor", "rebuild", "-q"]))
        then = {name: lib.read_file(f"{sends(store)}/{name}") for name in os.listdir(sends(store))}
        for n in range(24, 40):
            act(store, random.Random(n), n)

        def spoil(copy):
            shutil.rmtree(sends(copy))
            os.mkdir(sends(copy))
            for name, text in then.items():
                write(f"{sends(copy)}/{name}", text)

        tap.result(compare(store, folder, 40, wanted=True, spoil=spoil), "send logs that end at the checkpoint")


def kills(tap):
    verbs = (lib.Verb("rebuild", ["doctor", "rebuild", "--json"], lib.nothing), lib.Verb("send", ["send", "bob", "recovered", "--as", "ann", "--json"], lib.nothing))
    with lib.workplace() as folder:
        store, _ = made(folder, random.Random(SEED))
        for verb in verbs:
            def one(point, work, verb=verb):
                (name, number), error = point
                copy = lib.copy(store, f"{work}/try")
                if verb.name == "send":
                    forget(copy)
                done, _ = lib.go_wrong(verb, copy, name, number, error, folder=work)
                if done.returncode in lib.BUG_SIGNALS or done.returncode == 124:
                    return f"{name} {number} {error}: ends with {done.returncode}"
                try:
                    faults = compare(copy, work, 24, wanted=None if os.path.exists(place(copy)) else False) if os.path.exists(place(copy)) else ["it is gone"]
                    lib.check_verify(copy)
                except lib.Fault as fault:
                    faults = [str(fault)]
                return f"{name} {number} {error}: {faults[0]}" if faults else None

            base = lib.copy(store, f"{folder}/base")
            if verb.name == "send":
                forget(base)
            points = list(lib.points(verb, base, folder, 3))
            for error, name in (None, "killed"), ("EIO", "refused"), ("ENOSPC", "without space"):
                faults = lib.parallel(one, [(point, error) for point in points])
                tap.result(faults, f"{verb.name} {name} at {len(points)} calls")


def copies(tap):
    """cp -r while others write, archive and make checkpoints."""
    with lib.workplace() as folder:
        rng = random.Random(SEED)
        store, _ = made(folder, rng)
        over, faults = threading.Event(), []

        def work(number):
            mine = random.Random(SEED + number)
            n = 100000 * number  # an id that comes again rewrites a message
            while not over.is_set():
                act(store, mine, n)
                n += 1
                if number == 1:
                    lib.call(store, ["doctor", "rebuild", "-q"])

        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        try:
            for i in range(COPIES):
                shutil.rmtree(f"{folder}/live", ignore_errors=True)
                lib.subprocess.run(["cp", "-r", store, f"{folder}/live"], check=False, capture_output=True)
                for spare in os.listdir(f"{folder}/live/.roger"):
                    if ".new" in spare:
                        os.unlink(f"{folder}/live/.roger/{spare}")
                if os.path.exists(place(f"{folder}/live")):
                    faults += [f"copy {i}: {f}" for f in compare(f"{folder}/live", folder, 12)]
        finally:
            over.set()
            for thread in threads:
                thread.join()
        tap.result(faults, "a copy made under load answers as without its checkpoint")


def main():
    tap = lib.Tap()
    parts = {"histories": histories, "damaged": damaged, "journals": journals, "by_itself": by_itself, "logs": logs, "kills": kills, "copies": copies}
    for name in sys.argv[1:] or parts:
        parts[name](tap)
    tap.done()


if __name__ == "__main__":
    main()
