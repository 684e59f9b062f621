"""What a network and a server can do to a command, with an account of every message (lib_faults.py).

A proxy of its own knows where a message of the protocol ends.  After those that the client sends it cuts the connection
(the message delivered, or not), delays, swallows or goes dead without closing; servers are killed under load.

    script/postgres python3 tests/postgres/t8002-faults.py
runner: plain timeout 900
"""
import concurrent.futures
import os
import signal
import threading
import time

from lib_faults import *

SLOW_FAULTS = ("delayed", "swallowed", "half-open")


class Pooler(Proxy):
    """As PgBouncer: the number of the server's process that it tells is one of its own."""

    def deliver(self, link, data):
        at = data.find(b"K\0\0\0\x0c")
        link.client.sendall(data if at < 0 else data[: at + 5] + b"\0\0\0\x01" + data[at + 9 :])


def spread(count, most):
    """At most so many messages of them, over all of the conversation."""
    most = count if lib.SLOW else min(most, count)
    return sorted({1 + i * (count - 1) // max(1, most - 1) for i in range(most)})


def each(cases, run_one, jobs=3):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return [fault for faults in pool.map(lambda case: run_one(*case), cases) for fault in faults]


def bad(done, what, *more):
    return [] if done.returncode in (0, *more, *OPEN) else [f"{what}: {done.returncode} {done.err}"]


# ------------------------------------------------------------------ what is done


def send(place, account, name, proxy):
    """Without an answer it is sent again under its key, and then it is there."""
    words = ["send", "bob", name, "--as", f"amy{len(name) % 3}", "--key", "k:" + name.replace(" ", "-")]
    account.send(name, False)
    done = place.run(*words, through=proxy)
    account.send(name, done.returncode == 0)
    proxy.close()
    again = place.run(*words) if done.returncode else done
    account.send(name, again.returncode == 0)
    return bad(done, name) + ([f"{name}, again: {again.returncode} {again.err}"] if again.returncode else [])


def plain(place, account, name, proxy):
    account.send(name, False)
    done = place.run("send", "bob", name, "--as", f"eve{len(name) % 3}", through=proxy)
    account.send(name, done.returncode == 0)
    return bad(done, name)


def receive(place, account, name, proxy):
    done = place.run("receive", "--as", "bob", "--limit", "1", "--jsonl", through=proxy)
    account.take(name, done.out if done.returncode == 0 else "")
    return bad(done, name, 1)


def claim(place, account, name, proxy):
    """What was claimed is settled by its holder, and by nobody else."""
    worker = name.replace(" ", "-")
    done = place.run("claim", "--as", "bob", "--worker", worker, "--limit", "1", "--jsonl", through=proxy)
    proxy.close()
    if done.returncode or not done.out:
        return bad(done, name, 1)
    account.take(name, done.out)
    id = json.loads(done.out)["id"]
    other, own = place.run("ack", "--as", "bob", "--worker", "other", id), place.run("ack", "--as", "bob", "--worker", worker, id)
    return [f"{name}: the ack of {who} {one.returncode} {one.err}" for who, one, right in (("another", other, 77), ("its own", own, 0)) if one.returncode != right]


def ack(place, account, name, proxy):
    """What was answered, or a second ack, says that it is settled."""
    worker = name.replace(" ", "-")
    out = place.must("claim", "--as", "bob", "--worker", worker, "--limit", "1", "--jsonl")
    account.take(name, out)
    words = ["ack", "--as", "bob", "--worker", worker, json.loads(out)["id"]]
    done = place.run(*words, through=proxy)
    proxy.close()
    again = place.run(*words)
    return bad(done, name) + ([f"{name}, again: {again.returncode} {again.err}"] if again.returncode else [])


def wait(place, account, name, proxy):
    """Whatever happens to its connection: it hears of the message."""
    waiting = place.start("wait", "--as", "zoe", "--timeout", "200s", through=proxy)
    until("fault", lambda: proxy.struck.is_set() or waiting.poll() is not None)
    done = place.run("send", "zoe", name, "--as", "lead")
    account.send(name, done.returncode == 0)
    waiting.out, waiting.err = waiting.communicate(timeout=240)
    return bad(done, name) + bad(waiting, name)


VERBS = {"a send": (plain, ["send", "bob", "count", "--as", "eve"]), "a send with a key": (send, ["send", "bob", "count", "--as", "eve", "--key", "count"]),
         "a receive": (receive, ["receive", "--as", "bob", "--limit", "1"]), "a claim": (claim, ["claim", "--as", "bob", "--limit", "1"]),
         "an ack": (ack, None), "a wait": (wait, ["wait", "--as", "bob"])}


def fresh(name, texts):
    place, account = Place(name), Account()
    place.send_all(account, "bob", texts)
    return place, account


def count_of(verb):
    """Messages of the protocol; the second of its kind, since the first brings the index up to date."""
    place, _ = fresh(f"count {verb}", [f"c{i}" for i in range(4)])
    words = VERBS[verb][1] or ["ack", "--as", "bob", json.loads(place.must("claim", "--as", "bob", "--limit", "1", "--jsonl"))["id"]]
    return place.count_messages(*words)


def cut(verb):
    """One workspace for all of them, each beside the others."""
    count = count_of(verb)
    place, account = fresh(f"cut {verb}", [f"{verb} {i}" for i in range(250)])
    at = spread(count, 8 if verb == "a wait" else 40)
    faults = each([(message, fault) for message in at for fault in ("cut before", "cut after")],
                  lambda message, fault: VERBS[verb][0](place, account, f"{verb} {fault} {message}", Proxy(message, fault)))
    tap.result(faults, f"{verb}, cut at {len(at)} of {count} messages: done, or 75 or 69")
    tap.result(place.faults(account), f"{verb}: none lost, none doubled, no number missing, nothing handed over twice")


def hang(verb, count):
    """Each in a workspace of its own, since who hangs may hold a lock; all at the same time, since they only wait."""
    def one(message, fault):
        place, account = fresh(f"{verb} {fault} {message}", [f"{verb} {i}" for i in range(3)])
        proxy = Proxy(message, fault)
        faults = VERBS[verb][0](place, account, f"{fault} {message}", proxy)
        proxy.close()
        rest = place.run("receive", "--as", "bob", "--jsonl")
        account.take("rest", rest.out)
        return [f"{verb} {fault} at {message}: {text}" for text in faults + bad(rest, "the rest", 1) + place.faults(account)]

    return [(one, message, fault) for message in spread(count, 5) for fault in SLOW_FAULTS]


def hang_all():
    verbs = [verb for verb in VERBS if verb != "a send"]
    cases = [case for verb in verbs for case in hang(verb, count_of(verb))]
    faults = each(cases, lambda one, message, fault: one(message, fault), 80)
    tap.result(faults, f"{len(cases)} of {', '.join(verbs)}: delayed, swallowed or half-open: done, or 75 or 69, and the account is right", 40)


def kill_servers(rounds):
    """kill -9 of a server process throws all of them out, with what they had not written."""
    place, account = Place("kills"), Account()
    stop, faults = threading.Event(), []

    def work(name):
        number = 0
        while not stop.is_set():
            number += 1
            account.send(f"{name} {number}", False)
            done = place.run("send", "bob", f"{name} {number}", "--as", name)
            account.send(f"{name} {number}", done.returncode == 0)
            faults.extend(bad(done, f"{name} {number}"))

    workers = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(3)]
    for worker in workers:
        worker.start()
    for _ in range(rounds):
        before = len(account.sent)
        until("sends", lambda: len(account.sent) >= before + 12)
        answer = sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'roger' AND pid <> pg_backend_pid() LIMIT 1").stdout.strip()
        if answer:
            os.kill(int(answer), signal.SIGKILL)
    stop.set()
    for worker in workers:
        worker.join()
    until("recovery", lambda: place.run("status").returncode == 0)
    tap.result(faults, f"server processes killed {rounds} times under load: sent, or 75 or 69")
    tap.result(place.faults(account), "nothing acknowledged is lost")


check_the_account()
proxy = Pooler()
done = Place("pooler").run("list", through=proxy)
proxy.close()
tap.result([] if done.returncode == 78 and "pooler" in done.err else [f"{done.returncode} {done.err}"], "a pooler is refused")
for verb in VERBS:
    cut(verb)
hang_all()
kill_servers(20 if lib.SLOW else 5)
tap.done()
