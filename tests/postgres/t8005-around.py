"""What is around a workspace in PostgreSQL: clocks, poolers, rights, a full disk, lost notifications.

    script/postgres python3 tests/postgres/t8005-around.py
runner: plain alone timeout 600
"""
import shutil
import signal
import threading

from lib_faults import *


def folder_for_all(prefix):
    """Beside the server's, since the runner's are closed to the user postgres."""
    return tempfile.TemporaryDirectory(prefix=prefix, dir=Path(HOST).parent)


# ---------------------------------------------------------------------- clocks


def clocks():
    """The server's clock counts: a lease is as long for a machine whose own clock is an hour off."""
    if not shutil.which("faketime"):
        return tap.skip("clocks", "faketime is not installed")
    faults = []
    for off in ("+1h", "-1h"):
        place, account = Place(f"clock {off}"), Account()
        place.send_all(account, "bob", [f"{off} {i}" for i in range(2)])
        wrong = ["faketime", "-f", off]
        for first, second in (((), wrong), (wrong, ())):
            taken = place.run("claim", "--as", "bob", "--worker", f"w{bool(first)}", "--lease", "10m", "--limit", "1", "--jsonl", prefix=first)
            account.take("bob", taken.out)
        again = place.run("claim", "--as", "bob", "--worker", "late", "--jsonl", prefix=wrong)
        account.take("late", again.out)
        faults += [f"{off}: claimed again: {again.out}"] if again.returncode != 1 else []
        before = place.lines()[-1]["created_at"]
        account.send(f"by {off}", place.run("send", "bob", f"by {off}", "--as", "amy", prefix=wrong).returncode == 0)
        account.send("after", place.run("send", "bob", "after", "--as", "amy").returncode == 0)
        times = [one["created_at"] for one in place.lines()]
        faults += [f"{off}: sent at {times} after {before}"] if times != sorted(times) or times[-1] - before > 3000000 else []
        faults += place.faults(account)
    tap.result(faults, "a clock that is an hour off gives no message twice, and dates none in another hour")


# ---------------------------------------------------------------------- poolers


def pgbouncer():
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not os.path.exists(program):
        return tap.skip("PgBouncer", "pgbouncer is not installed")
    place = Place("pooled")
    with folder_for_all("roger-pooler.") as folder:
        if AS:
            shutil.chown(folder, "postgres")
            os.chmod(folder, 0o755)
        for mode in ("transaction", "session"):
            Path(folder, "ini").write_text(f"[databases]\npostgres = host={HOST} user=roger\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = {folder}\n"
                                           f"listen_port = 6432\nauth_type = any\npool_mode = {mode}\nlogfile = {folder}/log\n"
                                           "ignore_startup_parameters = extra_float_digits\n")
            pooler = subprocess.Popen([*AS, program, "-q", f"{folder}/ini"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                until("PgBouncer", lambda: os.path.exists(f"{folder}/.s.PGSQL.6432") or pooler.poll() is not None)
                place.addressed = f"postgres://roger@/postgres?host={folder}&port=6432"
                done = place.run("send", "bob", "through a pooler", "--as", "amy")
            finally:
                pooler.terminate()
                pooler.wait()
            place.addressed = SERVER
            tap.result([] if done.returncode == 78 and "pooler" in done.err and not place.lines() else [f"{done.returncode} {done.err}"],
                       f"PgBouncer, pool_mode = {mode}: refused, and nothing is stored")


# ---------------------------------------------------------------------- rights


def rights():
    place, account = Place("rights"), Account()
    place.send_all(account, "bob", ["before"])
    for role in ("stranger", "reader"):
        sql(f"CREATE ROLE {role} LOGIN")
    sql("GRANT USAGE ON SCHEMA roger TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA roger TO reader")
    faults = []
    for role in ("stranger", "reader", "nobody"):
        place.addressed = SERVER.replace("roger@", f"{role}@")
        for words in (["send", "bob", role, "--as", "amy"], ["receive", "--as", "bob"], ["dispatch", "r", "--as", "amy"], ["init"]):
            done = place.run(*words)
            faults += [] if done.returncode == 77 and "PostgreSQL" in done.err else [f"{role}, {words}: {done.returncode} {done.out} {done.err}"]
    place.addressed = SERVER
    tap.result(faults, "a role without rights, one that may only read, and one that is not there: refused with 77")
    rest = place.run("receive", "--as", "bob", "--jsonl")
    account.take("bob", rest.out)
    tap.result(place.faults(account) + ([] if account.taken["bob"] == ["before"] else [rest.out + rest.err]), "nothing was changed by them")


# ------------------------------------------------------------------- a full disk


def fill(folder, keep):
    """All but so many bytes of what is left."""
    free = os.statvfs(folder)
    with open(f"{folder}/ballast", "wb") as ballast:
        os.posix_fallocate(ballast.fileno(), 0, free.f_bavail * free.f_bsize - keep)


class SmallServer:
    """A server whose data, with its log of changes, is on a disk of its own."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        shutil.chown(folder, "postgres")
        subprocess.run([*AS, BIN / "initdb", "-D", f"{folder}/data", "-U", "roger", "-A", "trust", "-E", "UTF8", "--locale=C", "--wal-segsize=1"],
                       check=True, capture_output=True, cwd=folder)
        with open(f"{folder}/data/postgresql.conf", "a", encoding="utf-8") as conf:
            conf.write(f"listen_addresses = ''\nunix_socket_directories = '{folder}'\nmin_wal_size = 2MB\nmax_wal_size = 4MB\nwal_recycle = off\n")

    def is_up(self):
        return sql("SELECT 1", self.folder).returncode == 0

    def start(self):
        self.process = subprocess.Popen([*AS, BIN / "postgres", "-D", f"{self.folder}/data"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        cwd=self.folder)
        until("server", self.is_up)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
        if self.process:
            self.process.wait()


def full_disk():
    with folder_for_all("roger-disk.") as folder:
        if os.getuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m,mode=755", "none", folder], capture_output=True).returncode:
            return tap.skip("a full disk", "a file system cannot be mounted here")
        try:
            server = SmallServer(folder)
            try:
                server.start()
                on_full_disk(server)
            finally:
                server.stop()
        finally:
            subprocess.run(["umount", folder], check=True)


def on_full_disk(server):
    place, account, faults, failed = Place("full", f"postgres://roger@/postgres?host={server.folder}"), Account(), [], threading.Event()

    def work(name):
        for number in range(400):
            text = f"{name} {number} " + os.urandom(4500).hex()
            account.send(text, False)
            done = place.run("send", "bob", text, "--as", name)
            account.send(text, done.returncode == 0)
            if done.returncode:
                failed.set()
                if done.returncode not in OPEN or "ERROR" in done.err:
                    faults.append(f"{name} {number}: {done.returncode} {done.err[:300]}")
            if failed.is_set():
                return

    account.send("first", place.run("send", "bob", "first", "--as", "amy").returncode == 0)
    fill(server.folder, 1 << 20)
    workers = [threading.Thread(target=work, args=(f"w{i}",)) for i in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    faults += [] if failed.is_set() else ["the disk never got full"]
    while_full = place.run("list", "--limit", "1")
    faults += [] if while_full.returncode in (0, *OPEN) else [f"a look: {while_full.returncode} {while_full.err}"]
    tap.result(faults, f"a full disk: sends fail with 69, 74 or 75 ({len(account.sent)} sends)")
    os.unlink(f"{server.folder}/ballast")
    if server.process.poll() is not None:
        server.start()
    until("server", server.is_up)
    account.send("after", place.run("send", "bob", "after", "--as", "amy").returncode == 0)
    faults = [fault[:300] for fault in place.faults(account)] + ([] if account.sent["after"] else ["no send goes through afterwards"])
    tap.result(faults, "and when there is room again, mail goes on, and nothing acknowledged is lost")


# ----------------------------------------------------------------- notifications


def is_waiting(name):
    return sql(f"SELECT 1 FROM roger.waiter w JOIN roger.workspace s USING (ws) WHERE s.name = '{name}' AND until > now()").stdout


def deaf(rounds):
    """A look once a second finds what no notification tells; how soon is told, not judged."""
    place, account, faults, worst, dropped = Place("deaf"), Account(), [], 0, 0
    for number in range(rounds):
        proxy = Deaf()
        waiting = place.start("wait", "--as", "bob", "--timeout", "100s", through=proxy)
        until("waiter", lambda: is_waiting("deaf"))
        account.send(f"deaf {number}", place.run("send", "bob", f"deaf {number}", "--as", "amy").returncode == 0)
        began = time.monotonic()
        waiting.out, waiting.err = waiting.communicate(timeout=200)
        worst = max(worst, time.monotonic() - began)
        faults += [f"{number}: {waiting.returncode} {waiting.err}"] if waiting.returncode else []
        account.take("bob", place.run("receive", "--as", "bob", "--jsonl").out)
        proxy.close()
        dropped += proxy.dropped
        sql("DELETE FROM roger.waiter")
    faults += [] if dropped else ["no notification was dropped"]
    tap.result(faults + place.faults(account), f"with {dropped} notifications dropped a wait ends all the same; at worst {worst:.2f} s later")


def dead_listener():
    """A connection that is dead without being closed, while it sleeps: before mail comes it is replaced."""
    place, account = Place("dead"), Account()
    proxy = Proxy()
    waiting = place.start("wait", "--as", "bob", "--timeout", "200s", through=proxy)
    until("waiter", lambda: is_waiting("dead"))
    proxy.links[0].half_open()
    began = time.monotonic()
    until("another connection", lambda: len(proxy.links) > 1 or waiting.poll() is not None, 150)
    found = time.monotonic() - began
    account.send("at last", place.run("send", "bob", "at last", "--as", "amy").returncode == 0)
    waiting.out, waiting.err = waiting.communicate(timeout=240)
    proxy.close()
    tap.result(([f"{waiting.returncode} {waiting.err}"] if waiting.returncode else []) + place.faults(account),
               f"a dead LISTEN connection was found after {found:.1f} s, and its wait hears of the mail")


clocks()
pgbouncer()
rights()
deaf(5)
dead_listener()
full_disk()
tap.done()
