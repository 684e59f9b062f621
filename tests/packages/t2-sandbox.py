#!/usr/bin/env python3
# runner: plain
# runner: timeout 900
"""Where less is there than on a machine: without /proc, with a read-only home, with a read-only project, as an
unknown user, without calls that older kernels lack (strace lets them fail), and on 64-bit ARM (under qemu)."""
import tempfile

from lib import *

ARM = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
HAND_OVER = "cd ~/project && roger send --as plan test 'again' >/dev/null && roger claim --as test --worker w1 >/dev/null && roger ack --as test --worker w1 @last >/dev/null && roger status"

system = System("bookworm")
system.bring(deb("roger"), deb("roger-serve"))
system.run(f"dpkg -i /tmp/{deb('roger')} /tmp/{deb('roger-serve')}")
first_message(system, "everything is there", "true")
told = system.run(HAND_OVER)
check("a claim and its ack", told.returncode == 0, told.stderr)

# ------------------------------------------------------------------ without /proc

told = system.run("unshare -m sh -c 'umount -l /proc; cd ~/project; roger send --as plan test hi; echo $?'")
check("without /proc there is one sentence that says so, and 69 or 74", re.search(r"^roger: .*/proc", told.stderr, re.M) and len(told.stderr.splitlines()) <= 2, (told.stdout, told.stderr))
print(f"# without /proc: {told.stderr.strip()} ({told.stdout.strip()})")

# ------------------------------------------------------ what may not be written

system.run("cp -a ~/project ~/home-project && mkdir /srv/w && cp -a ~/project/. /srv/w")
told = system.run("unshare -m sh -c 'mount --bind /root /root && mount -o remount,ro,bind /root; touch ~/x 2>/dev/null && echo writable; cd /srv/w; roger send --as plan test hi && roger receive --as test'")
check("with a read-only home a workspace elsewhere works", "writable" not in told.stdout and "hi" in told.stdout, (told.stdout, told.stderr))
told = system.run("unshare -m sh -c 'mount --bind /srv/w /srv/w && mount -o remount,ro,bind /srv/w; cd /srv/w; roger list --limit 1; echo $?; roger send --as plan test hi; echo $?'")
check("a read-only workspace can be read, and a send says why not", "0" in told.stdout.split() and told.stdout.split()[-1] != "0" and "read-only" in told.stderr.lower(), (told.stdout, told.stderr))
told = system.run("chmod 777 /srv && setpriv --reuid=4711 --regid=4711 --clear-groups env HOME=/nonexistent sh -c 'mkdir /srv/u && cd /srv/u && roger init --quiet && roger send --as plan --new test hi && roger receive --as test'")
check("a user whom no file names, without a home", "hi" in told.stdout, (told.stdout, told.stderr))

# ------------------------------------------------------------------ older kernels

# Newest first, with the kernel that brought it; ENOSYS is what an older one says, and what gVisor says to some.
LATER = {"close_range": "5.9", "pidfd_open": "5.3", "statx": "4.11", "openat2": "5.6", "faccessat2": "5.8", "copy_file_range": "4.5", "preadv2": "4.6"}
with tempfile.TemporaryDirectory() as folder:
    program = system.top / "upper/usr/bin/roger"
    env = {"PATH": f"{program.parent}:{os.environ['PATH']}", "HOME": folder, "XDG_STATE_HOME": folder}
    calls = ",".join(LATER)
    for what, command in {"a hand-over": "roger init --quiet && roger send --as plan --new test hi && roger claim --as test --worker w && roger ack --as test --worker w @last",
                          "a run": "roger run --as plan -- echo done", "verify": "roger verify --quiet"}.items():
        told = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={calls}:error=ENOSYS", "sh", "-c", command], cwd=folder, env=env, capture_output=True, text=True)
        check(f"{what} without {calls}", told.returncode == 0, (told.stdout, told.stderr))
    for call in ("renameat2", "memfd_create", "getrandom"):
        told = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={call}:error=ENOSYS", "sh", "-c", "roger send --as plan test hi && roger receive --as test && roger verify --quiet"],
                              cwd=folder, env=env, capture_output=True, text=True)
        print(f"# without {call}: exit {told.returncode} {told.stderr.strip()[:200]}")
        check(f"without {call} it works, or says what is not there", told.returncode == 0 or told.stderr.startswith("roger: "), (told.stdout, told.stderr))
system.end()

# -------------------------------------------------------------------------- ARM

if not ARM:
    result(True, "64-bit ARM # skip no qemu-user here")
else:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-xzf", OUT / f"roger-{VERSION}-linux-aarch64.tar.gz", "-C", folder, "--strip-components=1"], check=True)
        env = {"PATH": os.environ["PATH"], "HOME": folder, "XDG_STATE_HOME": folder}

        def arm(program, *words):
            return subprocess.run([ARM, f"{folder}/{program}", *words], cwd=folder, env=env, capture_output=True, text=True)

        arm("bin/roger", "init", "--quiet")
        arm("bin/roger", "send", "--as", "plan", "--new", "test", "the first message")
        told = arm("bin/roger", "receive", "--as", "test")
        check("on 64-bit ARM the first message comes", "the first message" in told.stdout, (told.stdout, told.stderr))
        told = arm("bin/roger", "verify")
        check("and its journal is sound", told.returncode == 0, (told.stdout, told.stderr))
        server = subprocess.Popen([ARM, f"{folder}/libexec/roger/roger-serve", "serve", "--listen", "127.0.0.1:0"], cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        atexit.register(server.kill)
        lines = [server.stdout.readline(), server.stdout.readline()]
        found = re.search(r"port (\d+)", "".join(lines))
        check("roger-serve of it listens", found, lines)
        check("and has the page", found and b"<title" in urllib.request.urlopen(f"http://127.0.0.1:{found[1]}/", timeout=60).read(), lines)
        env["ROGER_SERVER"] = "unix:" + re.search(r"(/\S+\.sock)", "".join(lines))[1]
        told = arm("libexec/roger/roger-remote", "send", "--as", "plan", "test", "over the server")
        check("roger-remote of it asks that server", told.returncode == 0, (told.stdout, told.stderr))
        env["ROGER_SERVER"] = "https://localhost:1"
        told = arm("libexec/roger/roger-remote", "status")
        check("and speaks of TLS what there is to say", "nobody answers at this address" in told.stderr, told.stderr)
        server.kill()
done()
