#!/usr/bin/env python3
# runner: plain
"""File systems that a workspace may be on, and those that it may not: by their kind, or by a trial.
Real mounts, in a mount namespace of its own: overlay, tmpfs, FUSE, a case-insensitive folder of ext4.
The kinds that this kernel cannot mount (NFS, 9p, virtiofs and others) are judged by their number in unit/test_disk.
"""
import contextlib
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lib_fuse
import lib_tap

ROGER = os.path.abspath(os.environ.get("ROGER", "build/roger"))
APART = ["unshare", "--mount", "--propagation", "private"]
LIBC = ctypes.CDLL(None, use_errno=True)


def mount(source, target, kind, options=""):
    if LIBC.mount(source.encode(), target.encode(), kind.encode(), 0, options.encode()):
        raise OSError(ctypes.get_errno(), f"mount {kind}")


class Tap:
    """A test's name last, since it is long."""

    @staticmethod
    def check(good, name, note=""):
        lib_tap.check(name, good, note)

    @staticmethod
    def skip(name, why):
        lib_tap.result(True, f"{name} # SKIP {why}")

    @staticmethod
    def done():
        lib_tap.done()


def roger(*words, **more):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("ROGER")} | more
    return subprocess.run([ROGER, *words], capture_output=True, text=True, env=environment, check=False, timeout=8)


def good(tap, top, name, folder, **more):
    done = roger("init", folder, **more)
    sent = roger("send", "bob", "hi", "--as", "ann", "--workspace", folder, **more)
    tap.check(done.returncode == 0 and sent.returncode == 0, f"{name} is fine", f"{done.stderr}{sent.stderr}")


def casefold(tap, top):
    name, image, folder = "a folder where case does not count is refused", f"{top}/image", f"{top}/fold"
    os.makedirs(folder)
    with open(image, "wb") as file:
        file.truncate(32 << 20)
    made = shutil.which("mkfs.ext4") and subprocess.run(["mkfs.ext4", "-q", "-O", "casefold", image], capture_output=True, check=False)
    if not made or made.returncode or subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, check=False).returncode:
        return tap.skip(name, "no such file system can be made here")
    os.makedirs(f"{folder}/x")
    if subprocess.run(["chattr", "+F", f"{folder}/x"], capture_output=True, check=False).returncode:
        return tap.skip(name, "no folder can be made so here")
    done = roger("init", f"{folder}/x")
    tap.check(done.returncode == 78 and "case" in done.stderr, name, f"{done.returncode}: {done.stderr}")
    tap.check(not os.path.exists(f"{folder}/x/.roger"), "nothing is made there", "a .roger")
    return None


def serve(top, folder):
    server = subprocess.Popen([ROGER, "serve", "--workspace", folder, "--socket", f"{top}/socket"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    server.stdout.readline()
    return server


def end(server):
    server.terminate()
    server.wait(60)


def full_btrfs(tap, top):
    """There a page of a mapped file is written to a new place, so a full disk has none for a file that is whole."""
    image, folder = f"{top}/image", f"{top}/full"
    os.makedirs(folder)
    with open(image, "wb") as file:
        file.truncate(128 << 20)
    made = shutil.which("mkfs.btrfs") and subprocess.run(["mkfs.btrfs", "-q", "-f", image], capture_output=True, check=False)
    if not made or made.returncode or subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, check=False).returncode:
        return tap.skip("a full Btrfs", "no such file system can be made here")
    place = ("--workspace", folder)
    good(tap, top, "Btrfs", folder)
    there = {"ROGER_SERVER": f"unix:{top}/socket"}
    servers = [serve(top, folder)]
    done = roger("status", **there)
    tap.check(done.returncode == 0, "a server of it answers", done.stderr)
    for size in (1 << 16, 1 << 10, 1 << 10):
        with contextlib.suppress(OSError), open(f"{folder}/fill", "ab", 0) as file:
            while file.write(bytes(size)):
                pass
        os.sync()
    for words in (("list",), ("inbox", "--as", "bob"), ("status",), ("verify",), ("doctor",)):
        done = roger(*words, *place)
        tap.check(done.returncode == 0, f"{words[0]} answers on a full Btrfs", done.stderr)
    for words in (("send", "bob", "hi", "--as", "ann"), ("receive", "--as", "bob")):
        done = roger(*words, *place)
        tap.check(done.returncode == 74 and "No space left" in done.stderr, f"{words[0]} says that it is full", f"{done.returncode}: {done.stderr}")
    for which, server in enumerate(servers):
        for words in (("list",), ("inbox", "--as", "bob"), ("status",), ("verify",), ("doctor",)) * 2:
            done = roger(*words, **there)
            tap.check(done.returncode == 0, f"{words[0]} answers through server {which} on a full Btrfs", done.stderr)
        done = roger("send", "bob", "hi", "--as", "ann", **there)
        tap.check(done.returncode == 74 and "No space left" in done.stderr, f"server {which} says that it is full", f"{done.returncode}: {done.stderr}")
        if which == 0:
            end(server)
            servers.append(serve(top, folder))
    os.remove(f"{folder}/fill")
    os.sync()
    done = roger("receive", "--as", "bob", *place)
    tap.check(done.returncode == 0, "once there is space, a receive succeeds", done.stderr)
    done = roger("send", "bob", "hi", "--as", "ann", **there)
    tap.check(done.returncode == 0, "and a send, through a server that began on the full disk", done.stderr)
    end(servers[1])
    return subprocess.run(["umount", folder], check=False)


def without_proc(tap, top):
    """There no control file can be judged; what to do about it is said."""
    folder = f"{top}/memory/bare"
    os.makedirs(folder)
    good(tap, top, "with /proc it", folder)
    for words in ("list", "send bob hi --as ann", "status"):
        done = subprocess.run([*APART, "sh", "-c", f"mount -t tmpfs none /proc && exec {ROGER} {words}"], capture_output=True, text=True, check=False, cwd=folder)
        tap.check(done.returncode == 74 and "mount /proc" in done.stderr, f"without it {words} says what is needed", f"{done.returncode}: {done.stderr}")


def refused(tap, name, folder, like, *words, **more):
    done = roger(*(words or ("init",)), folder, **more)
    tap.check(done.returncode == 78 and like in done.stderr, name, f"{done.returncode}: {done.stderr}")
    if not words:
        tap.check(not os.path.exists(f"{folder}/.roger"), f"{name}: nothing is made there", "a .roger")


def fuse(tap, top):
    folder = f"{top}/memory/fuse"
    os.makedirs(folder)
    try:
        lib_fuse.mount(folder)
    except OSError as error:
        return tap.skip("FUSE", str(error))
    good(tap, top, "FUSE that keeps what it says", folder)
    with open(f"{folder}/.roger/tried", encoding="utf-8") as file:
        tap.check(file.read() == f"fuse {os.stat(folder).st_dev}", "that it was tried is noted", "not so")
    other = f"{top}/other"
    os.makedirs(other)
    lib_fuse.mount(other, direct=True)
    shutil.copytree(f"{folder}/.roger", f"{other}/.roger")
    refused(tap, "one that was moved to FUSE whose files cannot be mapped", other, "cannot share a map", "list", "--workspace")
    LIBC.umount2(other.encode(), 2)
    lib_fuse.mount(other, everybody=True)
    good(tap, top, "FUSE that keeps no modes", other)
    done = roger("doctor", "--fix", "--workspace", other)
    tap.check(done.returncode == 65 and "expected mode 0600" in done.stdout and "[fixed]" not in done.stdout, "a mode that stays open is not fixed",
              f"{done.returncode}: {done.stdout}")
    LIBC.umount2(other.encode(), 2)
    os.remove(f"{folder}/.roger/tried")
    subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
    done = roger("list", "--workspace", folder)
    tap.check(done.returncode == 0, "what cannot be written, and so not tried, is read", done.stderr)
    subprocess.run(["mount", "-o", "remount,bind,rw", folder], check=True)
    text = f"from={folder};" "n=0; while [ $n -lt 8 ]; do n=$((n + 1)); $ROGER send bob $n --as w$1 --workspace $from -q || exit 1; done"
    writers = [subprocess.Popen(["sh", "-c", text, "sh", str(i)], env=os.environ | {"ROGER": ROGER}) for i in range(3)]
    tap.check([w.wait() for w in writers] == [0, 0, 0], "three write at once there")
    done = roger("verify", "--workspace", folder)
    tap.check(done.returncode == 0, "verify", done.stdout + done.stderr)
    LIBC.umount2(folder.encode(), 2)
    for name, how, like in (("FUSE whose files cannot be mapped", {"direct": True}, "cannot share a map"),
                            ("FUSE where case does not count", {"fold": True}, "in another case are the same"),
                            ("FUSE that is another machine's (sshfs)", {"kind": "fuse.sshfs"}, "roger serve")):
        lib_fuse.mount(folder, **how)
        refused(tap, name, folder, like)
        if "kind" in how:
            good(tap, top, f"{name}, with ROGER_DISK=alone", folder, ROGER_DISK="alone")
            # As if the workspace had been moved there later: every command says so.
            for words in (("send", "bob", "hi", "--as", "ann"), ("inbox", "--as", "bob"), ("status",), ("doctor",)):
                refused(tap, f"{words[0]} in one that was moved there", folder, "ROGER_SERVER", *words, "--workspace")
        LIBC.umount2(folder.encode(), 2)
    return None


def read_only(tap, folder):
    """What is there can be read; `status` says what cannot be written, and advises nothing that needs it."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    status = json.loads(roger("status", "--json", "--workspace", folder).stdout)
    steps = [concern["next"] for concern in status["concerns"] if concern["kind"] == "engine"]
    tap.check(steps == [None], "status advises no repair where nothing can be written", f"{steps}")
    subprocess.run(["mount", "-o", "remount,rw", folder], check=True)


def full(tap, top):
    """Where the index finds no room `status` says what helps, which doctor is not."""
    folder = f"{top}/memory/small"
    os.makedirs(folder)
    mount("tmpfs", folder, "tmpfs", "size=3m")
    good(tap, top, "a small tmpfs", folder)
    for name in os.listdir(f"{folder}/.roger"):
        if name.startswith("messages.db-index"):
            os.remove(f"{folder}/.roger/{name}")
    with contextlib.suppress(OSError), open(f"{folder}/fill", "ab", 0) as file:
        while file.write(bytes(1 << 10)):
            pass
    roger("send", "bob", "hi", "--as", "ann", "--workspace", folder)
    done = roger("status", "--json", "--workspace", folder)
    said = [(concern["words"], concern["next"]) for concern in json.loads(done.stdout)["concerns"] if concern["kind"] == "engine"]
    tap.check(len(said) == 1 and said[0][0].endswith("No space left on device; answered from memory; free some room") and said[0][1] is None,
              "status says that room helps on a full disk", f"{said} {done.stderr}")
    LIBC.umount2(folder.encode(), 2)


def main():
    tap = Tap()
    if os.geteuid() or not shutil.which("unshare"):
        tap.skip("mounts", "needs root and unshare")
    elif subprocess.run([*APART, "true"], capture_output=True, check=False).returncode:
        tap.skip("mounts", "no mount namespace can be made here, as in a chroot whose root is no mount")
        tap.done()
    if "inside" not in sys.argv:
        done = subprocess.run([*APART, sys.executable, __file__, "inside"], check=False)
        sys.exit(done.returncode)
    with tempfile.TemporaryDirectory() as top:
        os.environ["XDG_STATE_HOME"] = f"{top}/state"
        os.makedirs(f"{top}/memory")
        mount("tmpfs", f"{top}/memory", "tmpfs")
        good(tap, top, "tmpfs", f"{top}/memory")
        for part in ("lower", "upper", "work", "merged"):
            os.makedirs(f"{top}/memory/{part}")
        try:
            mount("overlay", f"{top}/memory/merged", "overlay",
                  f"lowerdir={top}/memory/lower,upperdir={top}/memory/upper,workdir={top}/memory/work")
            good(tap, top, "overlay", f"{top}/memory/merged")
            LIBC.umount2(f"{top}/memory/merged".encode(), 2)
        except OSError as error:
            tap.skip("overlay", str(error))
        without_proc(tap, top)
        read_only(tap, f"{top}/memory")
        full(tap, top)
        fuse(tap, top)
        casefold(tap, top)
        full_btrfs(tap, top)
        for folder in ("memory", "fold"):
            LIBC.umount2(f"{top}/{folder}".encode(), 2)
    tap.done()


main()
