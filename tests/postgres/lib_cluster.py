"""A primary and its synchronous standby, which change places when the primary is killed."""
import shutil

from lib_faults import *

KILLED = []  # shared memory of servers that were killed


def add_standby(primary, folder):
    """A copy of the primary that follows it; from now on the primary waits for it."""
    shutil.rmtree(f"{folder}/data", ignore_errors=True)
    subprocess.run([*AS, BIN / "pg_basebackup", "-h", primary, "-U", "roger", "-D", f"{folder}/data", "-R", "-X", "stream", "-c", "fast"],
                   check=True, cwd=folder)
    with open(f"{folder}/data/postgresql.auto.conf", "a", encoding="utf-8") as conf:
        conf.write(f"unix_socket_directories = '{folder}'\nsynchronous_standby_names = ''\n")
    with open(f"{folder}/log", "ab") as log:
        subprocess.Popen([*AS, BIN / "postgres", "-D", f"{folder}/data"], stdout=log, stderr=log, cwd=folder)
    until("standby", lambda: sql("SELECT 1", folder).stdout == "1\n")
    sql("ALTER SYSTEM SET synchronous_standby_names = '*'", primary)
    sql("SELECT pg_reload_conf()", primary)
    until("synchronous", lambda: "sync" in sql("SELECT sync_state FROM pg_stat_replication", primary).stdout)


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


class Cluster:
    """The server of script/postgres, and another beside it."""

    def __init__(self):
        self.second = tempfile.mkdtemp(prefix="roger-postgres.", dir=Path(HOST).parent)
        os.chmod(self.second, 0o711)
        if AS:
            shutil.chown(self.second, "postgres")
        self.primary, self.standby = HOST, self.second
        self.address = f"postgres://roger@/postgres?host={HOST},{self.second}"
        self.add_standby()

    def add_standby(self):
        add_standby(self.primary, self.standby)

    def fail_over(self):
        kill(self.primary)
        assert sql("SELECT pg_promote()", self.standby).stdout == "t\n"
        self.primary, self.standby = self.standby, self.primary

    def end(self):
        for folder in (HOST, self.second):
            if sql("SELECT 1", folder).returncode == 0:
                kill(folder)
        shutil.rmtree(self.second, ignore_errors=True)


def check_what_is_left():
    faults = [f"segment {one} is left" for one in KILLED if subprocess.run(["ipcs", "-m", "-i", one], capture_output=True).stdout]
    faults += [] if KILLED else ["no server was killed"]
    faults += ["a server is left"] if sql("SELECT 1").returncode == 0 else []
    tap.result(faults, f"{len(KILLED)} servers killed: nothing of them is left")
