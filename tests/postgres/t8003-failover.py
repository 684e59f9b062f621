"""Two servers of one workspace, and a primary with two standbys: the leader is killed, or stopped; then the primary is killed, and the
standby that has the most promoted.  Nothing acknowledged is lost or doubled, nothing is given twice, nothing was shown that vanished.

The worst gap is told, not judged: it depends on the machine.

    script/postgres python3 tests/postgres/t8003-failover.py
runner: plain alone timeout 900
"""
from lib_cluster import *

ROUNDS = 100 if lib.SLOW else 3


def leader_of(place):
    """Which of the servers answers."""
    leader = sql(f"SELECT leader FROM roger.workspace WHERE name = '{place.name}'", place.host).stdout
    return next(one for one in place.servers if leader.startswith(f"process {one.process.pid} "))


def lead_dies(place, load):
    for _ in range(ROUNDS):
        load.more(12)
        leader = leader_of(place)
        leader.kill()
        leader.process.wait()
        load.after(6)
        # Its machine may be another one next time.
        shutil.rmtree(leader.home + "/state")
        os.mkdir(leader.home + "/state", 0o700)
        leader.start()


def lead_stands_still(place, load):
    """For so long that another one leads; asked at once when it wakes, it knows that."""
    for _ in range(ROUNDS):
        load.more(12)
        leader = leader_of(place)
        leader.kill(signal.SIGSTOP)
        load.after(6)
        if lib.SLOW:
            time.sleep(10)
        leader.kill(signal.SIGCONT)
        alone = Place.__new__(Place)
        alone.servers = [leader]
        done = alone.run("list", "--jsonl", "--limit", "1")
        if done.returncode == 0:
            load.wrong.append("whoever led before answers")
        if leader.process.poll() is not None:
            load.wrong.append(f"whoever led before has ended: {Path(leader.home, 'err').read_text()}")


def network_parts(place, load):
    """Between the database and whoever leads: the other one leads."""
    for _ in range(ROUNDS):
        load.more(12)
        leader = leader_of(place)
        leader.proxy.part()
        load.after(6)
        leader.proxy.join()


def in_one_go(cluster, what, name, disturb, proxies=()):
    place = Place(name, cluster.address, servers=0 if proxies else 2)
    for proxy in proxies:
        place.servers.append(Server(name, cluster.address).start(proxy))
        place.servers[-1].proxy = proxy
    place.host = cluster.primary
    load = Load(place)
    try:
        disturb(place, load)
    finally:
        load.end()
    load.judge_all(f"{ROUNDS} times {what}")
    place.end()


def primary_dies(cluster):
    def disturb(place, load):
        seal = Path(place.servers[0].home, "seal")
        for _ in range(ROUNDS):
            load.more(20)
            if not seal.exists():
                place.must("seal", "--out", str(seal))
            cluster.fail_over()
            load.after(10)
            cluster.add_standbys()
        load.end()
        done = place.run("verify", "--seal", str(seal))
        tap.result([done.out + done.err] if done.returncode else [], "a seal of before the first failover holds on the survivor")

    in_one_go(cluster, "the primary killed", "primary", disturb)


def named(place):
    """The standby, as status says it."""
    return json.loads(place.must("status", "--json")).get("standby")


def standby_is_gone(cluster):
    """Nothing is stored for sure, and so nothing is acknowledged; what was confirmed is shown."""
    place, account = Place("alone", cluster.address), Account()
    place.host = cluster.primary
    place.send_all(account, "bob", ["before"])
    until("its name", lambda: named(place) == "walreceiver, walreceiver, waited for as ANY 1 (*)")
    cluster.kill_standbys()
    until("its absence", lambda: named(place) == "none is connected, of ANY 1 (*)")
    account.send("meanwhile", False)
    # What waits for locks that others hold while they wait for the standby says why, too, before its client gives up.
    began = time.monotonic()
    waiting = {words[0]: place.start(*words) for words in (("send", "bob", "meanwhile", "--as", "amy"), ("receive", "--as", "bob"), ("claim", "--as", "bob", "--worker", "w"),
                                                           ("dispatch", "r1", "--as", "amy"), ("archive", "--issue", "none"))}
    seen, faults = place.run("list", "--jsonl"), []
    for verb, one in waiting.items():
        err = one.communicate(timeout=60)[1]
        if one.returncode not in (1, 66, 75) or "not known" in err or time.monotonic() - began > 12 or (verb == "send" and "has not confirmed" not in err):
            faults.append(f"{verb} after {time.monotonic() - began:.1f} s: {one.returncode} {err}")
    sent = waiting["send"]
    faults += [] if sent.returncode == 75 else [f"a send: {sent.returncode}"]
    faults += [] if seen.returncode == 0 and "before" in seen.out and "meanwhile" not in seen.out else [f"a look: {seen.returncode} {seen.out} {seen.err}"]
    # One each to lead, to write and to read, and one that is just ending.
    sessions = int(sql("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'roger'", cluster.primary).stdout)
    faults += [] if sessions <= 4 else [f"{sessions} sessions of one server"]
    cluster.add_standbys()
    account.send("after", place.run("send", "bob", "after", "--as", "amy").returncode == 0)
    faults += [] if account.sent["after"] else ["no send goes through afterwards"]
    tap.result(faults + place.faults(account), "the standbys gone: a send ends with 75, a look shows what was confirmed, and with a new one mail goes on")
    place.end()


check_the_account()
cluster = Cluster()
try:
    standby_is_gone(cluster)
    in_one_go(cluster, "the leader killed", "leader", lead_dies)
    in_one_go(cluster, "the leader stopped", "stopped", lead_stands_still)
    in_one_go(cluster, "the leader's network cut", "cut", network_parts, [Proxy(host=cluster.primary) for _ in range(2)])
    primary_dies(cluster)
finally:
    cluster.end()
check_what_is_left()
tap.done()
