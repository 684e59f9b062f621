"""A primary and two standbys, of which each commit waits for one; when the primary is killed the one that has the most is promoted."""
import shutil

from lib_faults import *

KILLED = []  # shared memory of servers that were killed


def add_standby(primary, folder):
    """A copy of the primary that follows it."""
    shutil.rmtree(f"{folder}/data", ignore_errors=True)
    subprocess.run([*AS, BIN / "pg_basebackup", "-h", primary, "-U", "roger", "-D", f"{folder}/data", "-R", "-X", "stream", "-c", "fast"],
                   check=True, cwd=folder)
    with open(f"{folder}/data/postgresql.auto.conf", "a", encoding="utf-8") as conf:
        conf.write(f"unix_socket_directories = '{folder}'\n")
    with open(f"{folder}/log", "ab") as log:
        subprocess.Popen([*AS, BIN / "postgres", "-D", f"{folder}/data"], stdout=log, stderr=log, cwd=folder)
    until("standby", lambda: sql("SELECT pg_is_in_recovery()", folder).stdout == "t\n")


def set_up(folder, name, value):
    done = sql(f"ALTER SYSTEM SET {name} = {value}", folder)
    assert done.returncode == 0 and sql("SELECT pg_reload_conf()", folder).stdout == "t\n", done.stderr


def family(folder):
    """All processes of a server, the first of them first."""
    leader = int(Path(folder, "data/postmaster.pid").read_text().splitlines()[0])
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(leader)], capture_output=True, text=True).stdout.split()
    return [leader, *map(int, children)]


def kill(folder):
    """All of a server at once, as its machine would."""
    os.kill(family(folder)[0], signal.SIGSTOP)
    for pid in family(folder)[::-1]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    until("killed", lambda: sql("SELECT 1", folder).returncode != 0)
    # With the machine its shared memory would be gone, too.
    segment = Path(folder, "data/postmaster.pid").read_text().splitlines()[6].split()[1]
    subprocess.run(["ipcrm", "-m", segment], stderr=subprocess.DEVNULL)
    KILLED.append(segment)


def last_of_log(folder):
    return "".join(Path(folder, "log").read_text(errors="replace").splitlines(True)[-40:])


class Cluster:
    """The server of script/postgres, and two beside it."""

    def __init__(self):
        self.primary, self.standbys, self.dead = HOST, [], [self.make_folder() for _ in range(2)]
        self.made = list(self.dead)
        self.address = f"postgres://roger@/postgres?host={','.join([HOST, *self.made])}"
        self.add_standbys()
        set_up(HOST, "synchronous_standby_names", "'ANY 1 (*)'")
        until("synchronous", lambda: self.states() == "quorum\nquorum\n")

    @staticmethod
    def make_folder():
        folder = tempfile.mkdtemp(prefix="roger-postgres.", dir=Path(HOST).parent)
        os.chmod(folder, 0o711)
        if AS:
            shutil.chown(folder, "postgres")
        return folder

    def states(self):
        return sql("SELECT sync_state FROM pg_stat_replication WHERE state = 'streaming'", self.primary).stdout

    def add_standbys(self):
        """Whoever is gone comes back as one."""
        while self.dead:
            folder = self.dead.pop()
            add_standby(self.primary, folder)
            self.standbys.append(folder)
        try:
            until("streaming", lambda: self.states().count("\n") == len(self.standbys))
        except AssertionError:
            for folder in (self.primary, *self.standbys):
                print(f"== {folder}\n{last_of_log(folder)}")
            raise

    def kill_standbys(self):
        while self.standbys:
            self.dead.append(self.standbys.pop())
            kill(self.dead[-1])

    def fail_over(self):
        kill(self.primary)
        self.dead.append(self.primary)
        self.primary = max(self.standbys, key=lambda one: int(sql("SELECT pg_wal_lsn_diff(pg_last_wal_receive_lsn(), '0/0')", one).stdout))
        self.standbys.remove(self.primary)
        # A standby may cancel whoever waits for its promotion, as any query of before.
        sql("SELECT pg_promote(false)", self.primary)
        until("promoted", lambda: sql("SELECT pg_is_in_recovery()", self.primary).stdout == "f\n")
        for one in self.standbys:
            set_up(one, "primary_conninfo", f"'host={self.primary} user=roger'")

    def end(self):
        for folder in (HOST, *self.made):
            if sql("SELECT 1", folder).returncode == 0:
                kill(folder)
        for folder in self.made:
            shutil.rmtree(folder, ignore_errors=True)


def check_what_is_left():
    faults = [f"segment {one} is left" for one in KILLED if subprocess.run(["ipcs", "-m", "-i", one], capture_output=True).stdout]
    faults += [] if KILLED else ["no server was killed"]
    faults += ["a server is left"] if sql("SELECT 1").returncode == 0 else []
    tap.result(faults, f"{len(KILLED)} servers killed: nothing of them is left")
