"""What is around a workspace in PostgreSQL: clocks, poolers, rights, a full disk.

    script/postgres python3 tests/postgres/t8005-around.py
runner: plain alone timeout 600
"""
import datetime
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
    faults, instant = [], lambda text: datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    for off in ("+1h", "-1h"):
        place, account = Place(f"clock {off}", servers=2), Account()
        place.servers[1].end()
        place.servers[1].prefix = ["faketime", "-f", off]
        place.servers[1].start()
        place.send_all(account, "bob", [f"{off} {i}" for i in range(2)])
        claim = lambda who: place.run("claim", "--as", "bob", "--worker", who, "--lease", "10m", "--limit", "1", "--jsonl")
        account.take("bob", claim("first").out)
        before = place.lines()[-1]["created_at"]
        place.servers[0].end()
        account.take("bob", claim("second").out)
        again = claim("third")
        faults += [f"{off}: claimed again: {again.out}"] if again.returncode != 1 else []
        account.send(f"by {off}", place.run("send", "bob", f"by {off}", "--as", "amy").returncode == 0)
        place.servers[0].start()
        place.servers[1].end()
        account.send("after", place.run("send", "bob", "after", "--as", "amy").returncode == 0)
        times = [one["created_at"] for one in place.lines()]
        faults += [f"{off}: sent at {times} after {before}"] if times != sorted(times) or instant(times[-1]) - instant(before) > 3000 else []
        faults += place.faults(account)
        place.end()
    tap.result(faults, "a clock that is an hour off gives no message twice, and dates none in another hour")


# ---------------------------------------------------------------------- poolers


def pgbouncer():
    program = shutil.which("pgbouncer") or "/usr/sbin/pgbouncer"
    if not os.path.exists(program):
        return tap.skip("PgBouncer", "pgbouncer is not installed")
    server = Server("pooled")
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
                server.env["ROGER_STORE"] = f"postgres://roger@/postgres?host={folder}&port=6432#pooled"
                done = server.roger("serve")
            finally:
                pooler.terminate()
                pooler.wait()
            tap.result([] if done.returncode == 78 and "pooler" in done.stderr else [f"{done.returncode} {done.stderr}"],
                       f"PgBouncer, pool_mode = {mode}: refused")


# ---------------------------------------------------------------------- rights


def rights():
    place, account = Place("rights"), Account()
    place.send_all(account, "bob", ["before"])
    for role in ("stranger", "reader"):
        sql(f"CREATE ROLE {role} LOGIN")
    sql("GRANT USAGE ON SCHEMA roger TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA roger TO reader")
    faults = []
    other = Server("rights")
    place.servers[0].kill(signal.SIGTERM)
    place.servers[0].process.wait()
    for role in ("stranger", "reader", "nobody"):
        other.env["ROGER_STORE"] = SERVER.replace("roger@", f"{role}@") + "#rights"
        for words in (["serve"], ["init"]):
            done = other.roger(*words)
            faults += [] if done.returncode == 77 and "PostgreSQL" in done.stderr else [f"{role}, {words}: {done.returncode} {done.stdout} {done.stderr}"]
    tap.result(faults, "a role without rights, one that may only read, and one that is not there: refused with 77")
    place.servers[0].start()
    rest = place.run("receive", "--as", "bob", "--jsonl")
    account.take("bob", rest.out)
    tap.result(place.faults(account) + ([] if account.taken["bob"] == ["before"] else [rest.out + rest.err]), "nothing was changed by them")
    place.end()


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


clocks()
pgbouncer()
rights()
full_disk()
tap.done()
