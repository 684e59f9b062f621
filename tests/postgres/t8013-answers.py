"""The leader is killed between its commit and its answer: whoever asks again, asks the other server, and is told what was done.

The network of the leader goes silent behind the commit: it reaches the database, and nothing comes back.

    script/postgres python3 tests/postgres/t8013-answers.py
runner: plain timeout 120
"""
from lib_faults import *


def silence(link):
    link.silent = True


def killed_before_its_answer(what, *words):
    """What such a command printed, and what is left for the next one."""
    proxy = Proxy()
    place = Place(f"answers {what}", servers=0)
    place.servers = [Server(place.name).start(proxy), Server(place.name).start()]
    leader, account = place.servers[0], Account()
    place.send_all(account, "bob", [f"{what} {i}" for i in range(3)])
    proxy.before, proxy.after, proxy.at = None, silence, words[-1].encode() if what == "send" else b'"read":true' if what == "receive" else b"claimed_by"
    asked = place.start(*words)
    until("commit", lambda: proxy.struck.is_set())
    until("stored", lambda: sql(f"SELECT 1 FROM roger.messages WHERE workspace = '{place.name}' AND line LIKE '%{proxy.at.decode()}%'").stdout)
    leader.kill()
    out, err = asked.communicate(timeout=60)
    rest = place.run(*words) if what != "send" else None
    return place, account, (asked.returncode, out, err), rest


for what, words in (("receive", ["receive", "--as", "bob", "--limit", "2", "--jsonl"]), ("claim", ["claim", "--as", "bob", "--worker", "w", "--limit", "2", "--jsonl"])):
    place, account, (status, out, err), rest = killed_before_its_answer(what, *words)
    account.take("bob", out)
    account.take("bob", rest.out)
    faults = [] if status == 0 else [f"{status} {err}"]
    faults += [] if account.taken["bob"] == [f"{what} {i}" for i in range(3)] else [str(account.taken["bob"])]
    tap.result(faults + place.faults(account), f"{what}: the other server gives the messages that the first one took, and the next ones once")
    place.end()

place, account, (status, out, err), _ = killed_before_its_answer("send", "send", "bob", "--as", "amy", "only once")
account.send("only once", status == 0)
tap.result(([] if status == 0 else [f"{status} {err}"]) + place.faults(account), "a send without a key is stored once")
place.end()


def deposed_before_its_answer():
    """The leader lives on: what it had begun ends with 75, and it follows, and leads again."""
    proxy, account = Proxy(), Account()
    place = Place("deposed", servers=0)
    place.servers = [Server(place.name).start(proxy), Server(place.name).start()]
    first, second = place.servers
    place.send_all(account, "bob", ["before"])
    proxy.before, proxy.after, proxy.at = None, silence, b"meanwhile"
    alone = Place.__new__(Place)
    alone.servers = [first]
    account.send("meanwhile", False)
    asked = alone.start("send", "bob", "meanwhile", "--as", "amy")
    until("commit", lambda: proxy.struck.is_set())
    proxy.part()
    account.send("at the other", place.run("send", "bob", "at the other", "--as", "amy").returncode == 0)
    proxy.join()
    out, err = asked.communicate(timeout=60)
    account.send("meanwhile", asked.returncode == 0)
    faults = [] if asked.returncode in OPEN else [f"what it had begun: {asked.returncode} {out} {err}"]
    faults += [] if account.sent["at the other"] else ["the other one does not lead"]
    second.kill()
    second.process.wait()
    account.send("again", place.run("send", "bob", "again", "--as", "amy").returncode == 0)
    faults += [] if account.sent["again"] and first.process.poll() is None else [f"it does not lead again: {Path(first.home, 'err').read_text()}"]
    tap.result(faults + place.faults(account), "a leader that is deposed before its answer says 75, follows, and leads again")
    place.end()


deposed_before_its_answer()
tap.done()
