#!/usr/bin/env python3
# runner: timeout 300
"""Every command through a server, over TCP with a token and by its socket, does what it does beside files; `run` watches
its program where it was typed; what cannot be done from elsewhere ends with 64 and says so."""
from lib_serve import *
import lib_through
from lib_through import ELSEWHERE_NOT, STAY, WALK, Side

TWIN = Path(FOLDER.name) / "twin"
TWIN.mkdir()
subprocess.run([ROGER, "init", TWIN], check=True, capture_output=True)
ENV = {**{name: value for name, value in os.environ.items() if not name.startswith("ROGER")}, "TZ": "UTC", "PATH": f"{ROGER.parent}:{os.environ['PATH']}"}
TRUST = {"ROGER_TRUST": f"{WORKSPACE.resolve()}:{TWIN.resolve()}"}
serving = Server("--listen", "127.0.0.1:0", env={**os.environ, **TRUST})
admin = roger("token", "new", "root", "--right", "administer").stdout.strip()
beside = Side(ROGER, f"{FOLDER.name}/beside", {**ENV, **TRUST}, ["--workspace", TWIN])
FAR = {**ENV, "HOME": f"{FOLDER.name}/home", "XDG_STATE_HOME": f"{FOLDER.name}/home/state"}
os.makedirs(FAR["XDG_STATE_HOME"])
through = Side(ROGER, f"{FOLDER.name}/through", {**FAR, "ROGER_SERVER": f"http://127.0.0.1:{serving.port}", "ROGER_TOKEN": admin})
local = Side(ROGER, f"{FOLDER.name}/local", {**FAR, "ROGER_SERVER": f"unix:{serving.path}"})

lib_through.walk(beside, through, check, equal, skip=("bridge", "wake"))
walked = {name for name, _, _ in WALK} | set(ELSEWHERE_NOT) | {"top"}
equal("no command is left out", sorted(lib_through.commands(ROGER) - walked), [])
for name, words in ELSEWHERE_NOT.items():
    code, out, err = through.run(words)
    check(f"{name} is for the machine with the workspace, and says so", (code, out) == (64, "") and "ROGER_SERVER" in err, (code, out, err))
equal("the bridge of the workspace's own machine works by its socket", local.run(["bridge", "--once"])[0], 1)
(WORKSPACE / ".roger/triggers").mkdir(exist_ok=True)
(WORKSPACE / ".roger/triggers/tim.txt").write_text("(al #91): by a trigger file\n")
local.run(["bridge", "--once"])
equal("and takes in its files", [m["content"] for m in json.loads(through.run(["inbox", "--as", "tim", "--json"])[1])["messages"]], ["by a trigger file"])

# -------------------------------------------------------------- a run far away
told = through.run(["run", "--as", "lead", "--run", "far-1", "--", "sh", "-c", 'echo "$ROGER_RUN_ID $ROGER_AGENT $ROGER_SERVER $PWD"'])
equal("its program has its names, the server, and the folder where it was typed", (told[0], told[1].split()), (0, ["far-1", "far-1", f"http://127.0.0.1:{serving.port}", through.folder]))
orphan = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "far-2", "--", "sh", "-c", "echo started; read x <fifo"], stdout=subprocess.PIPE, text=True, cwd=through.folder, env=through.environment)
os.mkfifo(f"{through.folder}/fifo")
orphan.stdout.readline()
held = through.run(["run", "--as", "lead", "--run", "far-2", "--", "true"])
check("one that is watched is not taken over", held[0] == 77 and "is watched by process" in held[2], held)
orphan.kill()
orphan.wait()
heir = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "far-2", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=through.folder, env=through.environment)
for _ in range(600):
    if "taken over" in json.dumps(json.loads(through.run(["runs", "far-2", "--json"])[1])["runs"][0]["notes"]):
        break
    signal.sigtimedwait([], 0.1)
with open(f"{through.folder}/fifo", "w") as fifo:
    fifo.write("go\n")
reply = json.loads(heir.communicate(timeout=60)[1])
equal("who watched it was killed: the next one takes it over, and tells its owner", (reply["adopted"], reply["ended"], bool(reply["message"])), (True, "lost", True))

# The server is started again while the program runs: the end is told all the same.
late = subprocess.Popen([ROGER, "run", "--as", "lead", "--run", "far-3", "--", "sh", "-c", "echo begun; read x <fifo; echo ended"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=through.folder, env=through.environment)
late.stdout.readline()
port = serving.port
serving.end()
with open(f"{through.folder}/fifo", "w") as fifo:
    fifo.write("go\n")
equal("its output does not wait for a server", late.stdout.readline(), "ended\n")
serving = Server("--listen", f"127.0.0.1:{port}", env={**os.environ, **TRUST})
equal("a server that is started again is told of the end", (late.wait(100), json.loads(through.run(["runs", "far-3", "--json"])[1])["runs"][0]["status"]), (0, "done_but_not_forwarded"))

# A token that may act runs as its agent; what its child would say is its own.
act = {**through.environment, "ROGER_TOKEN": roger("token", "new", "lead", "--right", "act").stdout.strip()}
mine = Side(ROGER, f"{FOLDER.name}/mine", act)
equal("with a token that may act", mine.run(["run", "--run", "act-1", "--", "echo", "fine"])[:2], (0, "fine\n"))
begun = json.loads(through.run(["log", "activity", "--task", "act-1", "--json"])[1])["activities"]
check("the log names the token", all("token lead" in json.dumps(one) for one in begun) and len(begun) >= 2, begun)
refused = mine.run(["run", "--run", "act-2", "--child", "al", "--", "touch", "ran"])
check("a result in another's name is refused before anything runs", refused[0] == 77 and not os.path.exists(f"{mine.folder}/ran"), refused)
serving.end()
done()
