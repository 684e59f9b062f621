"""What a network can do to a server, and what befalls clients and processes of PostgreSQL, with an account of every message.

A proxy of its own knows where a message of the protocol ends.  After some of those that `roger serve` sends it cuts the connection
(the message delivered, or not), delays, swallows or goes dead without closing.

    script/postgres python3 tests/postgres/t8002-faults.py
runner: plain alone timeout 900
"""
from lib_faults import *

SLOW_FAULTS = ("delayed", "swallowed", "half-open")
ROUNDS = 100 if lib.SLOW else 6


class Pooler(Proxy):
    """As PgBouncer: the number of the server's process that it tells is one of its own."""

    def deliver(self, link, data):
        at = data.find(b"K\0\0\0\x0c")
        link.client.sendall(data if at < 0 else data[: at + 5] + b"\0\0\0\x01" + data[at + 9 :])


def a_pooler_is_refused():
    proxy, server = Pooler(), Server("pooler")
    server.env["ROGER_STORE"] = proxy.address("pooler")
    done = server.roger("serve")
    proxy.close()
    tap.result([] if done.returncode == 78 and "pooler" in done.stderr else [f"{done.returncode} {done.stderr}"], "a pooler is refused")


def through_a_bad_network(faults):
    """One server, whose connections go wrong again and again."""
    proxy = Proxy()
    place = Place("network " + faults[0], through=proxy)
    load = Load(place)
    dice = random.Random(7)
    for _ in range(ROUNDS):
        load.more(8)
        fault = dice.choice(faults)
        proxy.before, proxy.after = FAULTS[fault]
        proxy.struck.clear()
        proxy.at = proxy.messages + dice.randrange(1, 12)
        until(fault, lambda: proxy.struck.is_set())
    load.more(8)
    load.end()
    load.judge_all(f"{ROUNDS} times {' or '.join(faults)}")
    proxy.close()
    place.end()


def killed_clients():
    """A command that is killed anywhere: what it did is there once or not at all, and nobody waits for it."""
    place, dice = Place("clients"), random.Random(11)
    load = Load(place)
    for number in range(ROUNDS * 4):
        text = f"killed {number}"
        load.account.send(text, False)
        victim = place.start("send", "bob", text, "--as", "victim")
        time.sleep(dice.random() * 0.02)
        victim.kill()
        victim.communicate()
    load.more(8)
    load.end()
    load.judge_all(f"{ROUNDS * 4} killed commands")
    place.end()


def killed_backends():
    """kill -9 of a process of PostgreSQL throws all of them out, with what they had not written."""
    place = Place("kills")
    load = Load(place)
    for _ in range(ROUNDS // 2):
        load.more(12)
        answer = sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'roger' LIMIT 1").stdout.strip()
        if answer:
            os.kill(int(answer), signal.SIGKILL)
    load.more(12)
    load.end()
    load.judge_all(f"{ROUNDS // 2} kills of a process of PostgreSQL")
    place.end()


check_the_account()
a_pooler_is_refused()
through_a_bad_network(("cut before", "cut after", "cut amid"))
through_a_bad_network(SLOW_FAULTS)
killed_clients()
killed_backends()
tap.done()
