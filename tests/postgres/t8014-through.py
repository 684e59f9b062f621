"""Every command of a workspace in PostgreSQL, by the socket of its server, does what it does beside files.

    script/postgres python3 tests/postgres/t8014-through.py
runner: plain timeout 300
"""
from lib_cluster import *

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))
import lib_through

cluster = Cluster()
atexit.register(cluster.end)
server = Server("through", cluster.address)
# At the place where commands look for it.
server.env["XDG_RUNTIME_DIR"] = server.home
server.process = subprocess.Popen([lib.ROGER, "serve"], cwd=server.home + "/w", env=server.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
server.process.stdout.readline()
with tempfile.TemporaryDirectory(prefix="roger-twin.") as folder:
    twin = Path(folder, "w")
    env = {name: value for name, value in server.env.items() if name != "ROGER_STORE"}
    subprocess.run([lib.ROGER, "init", twin], check=True, capture_output=True, env=env)
    env["PATH"] = f"{Path(lib.ROGER).parent}:{os.environ['PATH']}"
    beside = lib_through.Side(lib.ROGER, f"{folder}/beside", {**env, "ROGER_TRUST": str(twin)}, ["--workspace", twin])
    through = lib_through.Side(lib.ROGER, f"{folder}/through", {**server.env, "PATH": env["PATH"]}, ["--workspace", server.home + "/w"])

    def check(name, good, note=""):
        tap.result([] if good else [str(note)[:3000]], name)

    def equal(name, got, expected):
        check(name, got == expected, (got, expected))

    lib_through.walk(beside, through, check, equal, skip=("config",))
    status = json.loads(through.run(["status", "--json"])[1])
    check("status names the database and the server", "through" in status["store"] and "process" in status["served_by"], status)
    standby = "walreceiver, walreceiver, waited for as ANY 1 (*)"
    check("and the standby, as doctor does", status["standby"] == standby and f"standby of the database: {standby}" in through.run(["doctor"])[1], status)
    server.end()
tap.done()
