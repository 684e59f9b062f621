"""The leader is killed between its commit and its answer: whoever asks again, asks the other server, and is told what was done.

The network of the leader goes silent behind the commit: it reaches the database, and nothing comes back.

    script/postgres python3 tests/postgres/t8013-answers.py
runner: plain timeout 120
"""
from lib_faults import *


def writes(place):
    return int(sql(f"SELECT writes FROM roger.workspace WHERE name = '{place.name}'").stdout)


def killed_before_its_answer(what, prepare, judge):
    """prepare: words, how they are started, and bytes of what they write."""
    proxy, account, before = Proxy(), Account(), []
    place = Place(f"answers {what}", servers=0)
    place.servers = [Server(place.name).start(proxy), Server(place.name).start()]
    place.send_all(account, "bob", [f"{what} {i}" for i in range(3)])
    words, prefix, mark = prepare(place, account)
    proxy.before, proxy.after, proxy.at = lambda link: before.append(writes(place)), lambda link: proxy.part(), mark.encode()
    asked = place.start(*words, prefix=prefix)
    until("commit", lambda: before)
    until("stored", lambda: writes(place) > before[0])
    place.servers[0].kill()
    out, err = asked.communicate(timeout=60)
    faults = [] if asked.returncode == 0 else [f"{asked.returncode} {err}"]
    faults += judge(place, account, words, out) + place.faults(account)
    tap.result(faults, f"{what}: the other server gives the answer of the first one, and nothing is done twice")
    place.end()


def send(place, account):
    account.send("only once", True)
    return ["send", "bob", "--as", "amy", "only once"], [], "only once"


def send_unsure(place, account):
    account.send("meanwhile", False)
    return ["send", "bob", "--as", "amy", "meanwhile"], [], "meanwhile"


def send_many(place, account):
    Path(place.servers[0].home, "batch").write_text("".join(json.dumps({"to": "bob", "content": text}) + "\n" for text in ("many 1", "many 2")))
    account.send("many 1", True)
    account.send("many 2", True)
    return ["send", "--batch", "--as", "amy"], ["sh", "-c", 'exec "$@" <batch', "sh"], "many 2"


def complete(place, account):
    place.must("dispatch", "r1", "--as", "amy")
    account.send("the result", True)
    return ["complete", "r1", "--exit", "0", "--result", "the result"], [], "the result"


def receive(place, account):
    return ["receive", "--as", "bob", "--limit", "2", "--jsonl"], [], '"read":true'


def claim(place, account):
    return ["claim", "--as", "bob", "--worker", "w", "--limit", "2", "--jsonl"], [], "claimed_by"


def ack(place, account):
    out = place.must(*claim(place, account)[0])
    account.take("bob", out)
    return ["ack", "--as", "bob", "--worker", "w", *[json.loads(line)["id"] for line in out.splitlines()]], [], '"read":true'


def is_stored(place, account, words, out):
    return []


def is_taken(place, account, words, out):
    """What comes next is what is left."""
    if words[0] != "ack":
        account.take("bob", out)
    account.take("bob", place.must("claim", "--as", "bob", "--worker", "w2", "--jsonl"))
    return [] if account.taken["bob"] == list(account.sent) else [str(account.taken["bob"])]


def deposed_before_its_answer(prepare):
    """The leader lives on, cut off: what it had begun is not stored and ends with 75; it follows, and leads again."""
    proxy, account = Proxy(), Account()
    place = Place(f"deposed {prepare.__name__}", servers=0)
    place.servers = [Server(place.name).start(proxy), Server(place.name).start()]
    first, second = place.servers
    place.send_all(account, "bob", ["before"])
    words, _, mark = prepare(place, account)
    proxy.before, proxy.after, proxy.at = lambda link: (proxy.part(), link.swallow()), None, mark.encode()
    alone = Place.__new__(Place)
    alone.servers = [first]
    asked = alone.start(*words)
    until("commit", lambda: proxy.struck.is_set())
    until("another leader", lambda: sql(f"SELECT leader FROM roger.workspace WHERE name = '{place.name}'").stdout.startswith(f"process {second.process.pid} "))
    account.send("at the other", place.run("send", "bob", "at the other", "--as", "amy").returncode == 0)
    proxy.join()
    out, err = asked.communicate(timeout=60)
    faults = [] if asked.returncode in OPEN else [f"what it had begun: {asked.returncode} {out} {err}"]
    faults += [] if account.sent["at the other"] else ["the other one does not lead"]
    second.kill()
    second.process.wait()
    account.send("again", place.run("send", "bob", "again", "--as", "amy").returncode == 0)
    faults += [] if account.sent["again"] and first.process.poll() is None else [f"it does not lead again: {Path(first.home, 'err').read_text()}"]
    tap.result(faults + place.faults(account), f"{words[0]}: a leader that is deposed before its answer says 75, follows, and leads again")
    place.end()


for prepare in (send, send_many, complete):
    killed_before_its_answer(prepare.__name__, prepare, is_stored)
for prepare in (receive, claim, ack):
    killed_before_its_answer(prepare.__name__, prepare, is_taken)
for prepare in (send_unsure, receive):
    deposed_before_its_answer(prepare)
tap.done()
