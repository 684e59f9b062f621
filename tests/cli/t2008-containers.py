#!/usr/bin/env python3
# runner: plain
# runner: timeout 240
"""Two containers that share a workspace: one kernel, two pid namespaces with processes of the same numbers.

They are made of namespaces by what the recipes of docs/PLACES.md say (mounts, variables, folder),
since no engine is needed for that.  What one cannot see of the other is called that, and never gone.
"""
import contextlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_tap as tap

ROGER = os.path.abspath(os.environ.get("ROGER", "build/roger"))
SOURCE = os.environ.get("ROGER_SOURCE") or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UNSHARE = ["unshare", *(["--user", "--map-root-user"] if os.geteuid() else []), "--mount", "--pid", "--fork", "--kill-child"]


def options(text):
    """Of a mount: "type=bind,source=...,target=...,readonly"."""
    return dict(part.partition("=")[::2] for part in text.split(","))


class Recipe:
    """What a recipe says: mounts, variables, the folder to begin in."""

    def __init__(self, mounts, variables, folder):
        self.mounts, self.variables, self.folder = [options(m) for m in mounts], variables, folder

    @classmethod
    def devcontainer(cls, text, folder):
        said = json.loads(text.replace("${localWorkspaceFolder}", folder))
        return cls([said["workspaceMount"], *said["mounts"]], said["containerEnv"], said["workspaceFolder"])

    @classmethod
    def docker(cls, text, folder):
        words = shlex.split(text.replace("\\\n", " ").replace("$PWD", folder))
        after = [(words[i], words[i + 1]) for i in range(len(words) - 1)]
        return cls([v for o, v in after if o == "--mount"], dict(v.split("=", 1) for o, v in after if o == "--env"),
                   dict(after)["--workdir"])


class Container:
    """A shell in namespaces of its own, with a root of its own, that is given commands."""

    def __init__(self, recipe, root):
        os.makedirs(root)
        lines = [f"mount -t tmpfs none {root}"]
        for place in ("usr", "bin", "sbin", "lib", "lib64", "etc", "dev"):
            if os.path.islink(f"/{place}"):
                lines.append(f"ln -s {os.readlink('/' + place)} {root}/{place}")
            elif os.path.isdir(f"/{place}"):
                lines.append(f"mkdir {root}/{place} && mount --rbind /{place} {root}/{place}")
        for mount in recipe.mounts:
            source, target = mount["source"], f"{root}{mount['target']}"
            if source.endswith("/roger"):
                # In a read-only folder of the host there is no place for it.
                source, target = ROGER, f"{root}/program"
            into = f"mkdir -p {target}" if os.path.isdir(source) else f"mkdir -p {os.path.dirname(target)} && touch {target}"
            lines.append(f"{into} && mount --bind {source} {target}")
        lines += [f"mkdir -p {root}/proc {root}/tmp && mount -t proc proc {root}/proc",
                  f"cd {root} && exec chroot . /bin/sh -c 'cd {recipe.folder} && exec sh'"]
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("ROGER", "XDG", "HOME"))}
        self.shell = subprocess.Popen([*UNSHARE, "sh", "-ec", "\n".join(lines)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True, env=keep | recipe.variables | {"HOME": "/tmp"})

    def __call__(self, command):
        """What it prints, and its status."""
        self.shell.stdin.write(f"roger() {{ /program \"$@\"; }}\n{{ {command}\n}} </dev/null 2>&1\necho \"=$?=\"\n")
        self.shell.stdin.flush()
        lines = []
        for line in self.shell.stdout:
            end = re.search(r"=(\d+)=\n$", line)
            if end:
                return "".join([*lines, line[:end.start()]]), int(end[1])
            lines.append(line)
        return "".join(lines), -1

    def kill(self):
        self.shell.kill()
        self.shell.wait()

    def processes(self):
        """As this namespace sees them, the first one's parent last."""
        found, to_do = [], [self.shell.pid]
        while to_do:
            pid = to_do.pop()
            # One that has ended meanwhile has none.
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
                to_do += (more := [int(p) for p in children.read().split()])
                found += more
        return found

    def signal(self, number):
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def pause(self):
        """All of it; a signal takes its time, and who runs may start others until it is stopped."""
        for tries in range(2000):
            self.signal(signal.SIGSTOP)
            states = set()
            for pid in self.processes():
                with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as stat:
                    states.add(stat.read().rsplit(")", 1)[1].split()[0])
            # Who started a child by vfork waits (D) until the child, which is stopped, does something.
            if states <= set("TtZX" if tries < 100 else "TtZXD"):
                return
            time.sleep(0.001)
        raise RuntimeError(f"it does not stop: {states}")


def recipes(folder):
    with open(f"{SOURCE}/docs/PLACES.md", encoding="utf-8") as file:
        text = file.read()
    return (Recipe.docker(re.search(r"```bash\n(docker run.*?)```", text, re.S)[1], folder),
            Recipe.devcontainer(re.search(r"```json\n(\{\n  \"image\".*?)```", text, re.S)[1], folder))


def says(name, container, command, status=0, like=None, unlike=r"\b(gone|dead|killed)\b"):
    printed, got = container(command)
    good = got == status and (like is None or re.search(like, printed)) and not re.search(unlike, printed)
    tap.check(name, good, f"{command}: {got}: {printed}")
    return printed


def mail(one, two):
    says("init in one", one, "roger init -q", unlike="not trusted")
    says("send", one, "roger send bob hello --as ann -q")
    says("the other has it", two, "roger receive --as bob", like="hello")
    one("roger wait --as bob --timeout 60s >/tmp/waited 2>&1 &")
    says("send to who waits in the other", two, "roger send bob wake --as ann -q")
    says("who waits is woken", one, "wait; cat /tmp/waited", like="msg-")
    says("who is told to be here", two, "roger agents", like="ann")


def same_numbers(one, two):
    """Both write the same documents, by processes of the same numbers: no file of one is taken by the other."""
    loop = "i=0; while [ $i -lt 60 ]; do roger send bob $i --as {0} --issue {0} --key {0}:k:$i -q || exit 1; roger receive --as {0} -q >/dev/null; i=$((i+1)); done"
    for name, container in (("cat", one), ("dog", two)):
        container(f"( {loop.format(name)} ) >/tmp/loop 2>&1 & loop=$!")
    for container in (one, two):
        says("processes of the same numbers write beside each other", container, "wait $loop; s=$?; cat /tmp/loop; (exit $s)", like="^$")
    says("nothing is lost", one, "roger list --count --to bob --from cat; roger list --count --to bob --from dog", like="^60\n60\n$")


def claims(one, two):
    two("roger send bob task --as ann -q")
    one("roger claim --as bob --worker w1 --lease 1h -q; sleep 1000 & ")
    says("a claim of the other is one", two, "roger list --to bob --unread --json", like='"claimed_by":"w1"')
    says("status says nothing else", two, "roger status")
    says("nor is it claimed again", two, "roger claim --as bob --worker w2 --json", unlike='"content":"task"')


def runs(one, two):
    one("(roger run --as ann --run far -- sleep 1000) >/tmp/run 2>&1 & sleep 0")
    says("its run is there", two, "i=0; until roger runs far >/dev/null 2>&1 || [ $i = 300 ]; do i=$((i+1)); sleep 0.1; done; roger runs far", like="cannot be seen from here")
    says("in the list, too", two, "roger runs", like="far.*: its processes cannot be seen from here")
    says("where it is, it can", one, "roger runs far", unlike="cannot be seen")
    says("it is not taken over", two, "roger run --as ann --run far -- true", 77, "cannot be seen from here")
    for verb in ("status", "sweep", "doctor", "agents", "prime --as ann", "recover far"):
        says(f"{verb} says nothing of it that nobody knows", two, f"roger {verb}", *((77,) if verb.startswith("recover") else ()))


def times(one):
    """Of another time namespace a process has another start time, and may seem gone where its number is seen."""
    inside = "unshare --time --boottime -30 --fork"
    if one(f"{inside} true")[1]:
        tap.result(True, "time namespaces # SKIP none can be made here")
        return
    one(f"mkfifo /tmp/fifo; ({inside} /program run --as ann --run timed -- sh -c 'read x </tmp/fifo') >/tmp/run 2>&1 &")
    one("i=0; until roger runs timed 2>/dev/null | grep -q process || [ $i = 300 ]; do i=$((i+1)); sleep 0.1; done")
    says("a run of another time namespace is not lost", one, "roger runs timed", like="cannot be seen from here", unlike="lost|gone")
    says("it ends", one, "echo >/tmp/fifo; i=0; until grep -q reported /tmp/run || [ $i = 300 ]; do i=$((i+1)); sleep 0.1; done; cat /tmp/run", like="exit 0; reported")


def leftovers(one, two):
    """What is on its way in one container is not what a killed process left."""
    space = one("stat -L -c %i /proc/self/ns/pid")[0].strip()
    file = f".roger/message-state.json.new-{space}-7"
    one(f"umask 077; echo half >{file}")
    says("a document on its way is left alone", two, f"roger doctor --fix; cat {file}", like="half")
    one(f"touch -d '2 hours ago' {file}")
    own = two("stat -L -c %i /proc/self/ns/pid")[0].strip()
    two(f"umask 077; echo half >.roger/message-state.json.new-{own}-99999")
    says("one's own is removed", two, "roger doctor --fix", like=f"{own}-99999: left by a process that was killed .fixed", unlike="gone")
    one(f"rm {file}")


def locks(one, two, folder):
    """A paused container keeps its lock, and is named; one that was killed loses it."""
    two("roger send owl before --as ann -q --new; roger send hen after --as ann -q --new")
    one("(while roger send owl load --as owl -q && roger receive --as owl -q >/dev/null; do :; done) >/dev/null 2>&1 & sleep 0")
    for _ in range(400):
        # It must get somewhere between two looks.
        time.sleep(0.005)
        one.pause()
        with open(f"{folder}/.roger/messages.control", "rb") as file:
            page = file.read(512)
        if any(page[128:136]):
            break
        one.signal(signal.SIGCONT)
    else:
        tap.result(True, "a paused container keeps its lock # SKIP it was never caught with it")
        return
    says("a paused container keeps its lock", two, "roger receive --as hen", 75, "held by process \\d+ of another container")
    one.kill()
    says("a killed one does not", two, "roger receive --as hen", like="after")


def main():
    if subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode or not shutil.which("chroot"):
        tap.result(True, "containers # SKIP no namespaces can be made here")
        tap.done()
    with tempfile.TemporaryDirectory() as top:
        folder = f"{top}/project"
        os.makedirs(folder)
        one, two = [Container(recipe, f"{top}/{name}") for recipe, name in zip(recipes(folder), ("one", "two"))]
        try:
            tap.check("their processes have the same numbers", one("echo $$") == two("echo $$"))
            mail(one, two)
            same_numbers(one, two)
            claims(one, two)
            runs(one, two)
            times(one)
            leftovers(one, two)
            locks(one, two, folder)
            if one.shell.poll() is None:
                one.kill()
            says("of a container that ended a run cannot be seen either", two, "roger runs far", like="cannot be seen from here")
            says("and all is well", two, "roger verify && roger doctor")
        finally:
            for container in (one, two):
                container.kill()
    tap.done()


main()
