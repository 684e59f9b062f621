"""The primary is killed under load, and its synchronous standby promoted: nothing acknowledged is lost or doubled, nothing
is given twice, and nothing was shown that vanished.

Then the new primary gets a standby of its own, and so on.  The worst gap is told, not judged: it depends on the machine.

    script/postgres python3 tests/postgres/t8003-failover.py
runner: plain alone timeout 900
"""
from lib_cluster import *

ROUNDS, CLAIMS, WORKERS = (100, 50, 3) if lib.SLOW else (3, 3, 3)


# ------------------------------------------------------------------ under load


class Load:
    """Senders that go on for the whole time."""

    def __init__(self, cluster):
        self.place, self.account, self.wrong, self.stop = Place("load", cluster.address), Account(), [], False
        self.sure, self.worst, self.last = 0, 0.0, time.monotonic()

    def work(self, name):
        number = 0
        while not self.stop:
            number += 1
            text = f"{name} {number}"
            self.account.send(text, False)
            done = self.place.run("send", "bob", text, "--as", name)
            self.account.send(text, done.returncode == 0)
            if done.returncode == 0:
                self.sure, self.worst, self.last = self.sure + 1, max(self.worst, time.monotonic() - self.last), time.monotonic()
            elif done.returncode not in OPEN:
                self.wrong.append(f"{text}: {done.returncode} {done.err}")

    def more(self, count):
        before = self.sure
        until("sends", lambda: self.sure >= before + count)


def under_load(cluster):
    load = Load(cluster)
    seal = Path(load.place.folder.name, "seal")
    threads = [threading.Thread(target=load.work, args=(f"w{i}",)) for i in range(WORKERS)]
    for thread in threads:
        thread.start()
    try:
        for round_ in range(ROUNDS):
            load.more(20)
            if not seal.exists():
                load.place.must("seal", "--out", str(seal))
            cluster.fail_over()
            load.more(10)
            cluster.add_standby()
    finally:
        load.stop = True
    for thread in threads:
        thread.join()
    tap.result(load.wrong, f"{len(load.account.sent)} sends through {ROUNDS} failovers: sent, or 75 or 69; worst gap {load.worst:.2f} s")
    tap.result(load.place.faults(load.account), f"{load.sure} acknowledged: none lost, none doubled, no number missing")
    done = load.place.run("verify", "--seal", str(seal))
    tap.result([done.out + done.err] if done.returncode else [], "a seal of before the first failover holds on the survivor")


# ----------------------------------------------------------- two claimers, one killed


class BeforeBarrier(Proxy):
    """The commit of a claim comes through, its barrier does not; and from then on the standby gets nothing."""

    def __init__(self, host):
        super().__init__(b"S", (self.stop_sending, Link.swallow), host)
        self.claimed = False

    def is_there(self, message):
        self.claimed |= b"claimed_by" in message
        return self.claimed and message[:1] == b"S"

    def stop_sending(self, _):
        os.kill(int(sql("SELECT pid FROM pg_stat_replication", self.host).stdout), signal.SIGSTOP)


def holders(out):
    """Who holds what, as somebody saw it."""
    return {one["content"]: one["claimed_by"] for one in map(json.loads, out.splitlines()) if one.get("claimed_by")}


def claim_around(cluster, number):
    """One is killed between the commit of its claim and the barrier.  Another claims and a third looks; then the primary goes."""
    place, account = Place(f"claims {number}", cluster.address), Account()
    machines = [Place(f"claims {number}", cluster.address) for _ in range(2)]
    place.send_all(account, "bob", [f"{number} {i}" for i in range(5)])
    claim = lambda who: ["claim", "--as", "bob", "--worker", who, "--limit", "1", "--jsonl"]
    proxy = BeforeBarrier(cluster.primary)
    first = place.start(*claim("first"), through=proxy)
    until("commit", lambda: "first" in sql(f"SELECT line FROM roger.messages WHERE workspace = '{place.name}'", cluster.primary).stdout)
    first.kill()
    first.communicate()
    proxy.close()
    others = [machines[0].start(*claim("second")), machines[1].start("list", "--jsonl")]
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
    until("both", lambda: int(sql(waiting, cluster.primary).stdout) + sum(one.poll() is not None for one in others) >= 2)
    cluster.fail_over()
    (out, err), (seen, _) = [one.communicate(timeout=120) for one in others]
    faults = [] if others[0].returncode in (0, *OPEN) else [f"second: {others[0].returncode} {err}"]
    account.take("second", out if others[0].returncode == 0 else "")
    shown = holders(seen if others[1].returncode == 0 else "")
    while (rest := place.run(*claim("third"))).returncode == 0:
        account.take("third", rest.out)
    held = holders(place.must("list", "--jsonl"))
    faults += [f"'{text}' was shown as held by {who}, and it was not so" for text, who in shown.items() if held.get(text) != who]
    faults += [] if len(account.taken["second"] + account.taken["third"]) >= 4 else [f"taken: {account.taken}"]
    cluster.add_standby()
    return faults + place.faults(account)


check_the_account()
cluster = Cluster()
try:
    faults = [f"{number}: {fault}" for number in range(CLAIMS) for fault in claim_around(cluster, number)]
    tap.result(faults, f"{CLAIMS} times a claimer killed between commit and barrier, then the primary: nothing given twice, nothing shown that vanished")
    under_load(cluster)
finally:
    cluster.end()
check_what_is_left()
tap.done()
