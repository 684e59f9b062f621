#!/usr/bin/env python3
"""npm_packages - fetch the packages of a package-lock.json without npm.

    script/npm_packages.py LOCKFILE FOLDER

Each lands in FOLDER/node_modules/NAME when its bytes have the SHA-512 that the lock
file names; no script of a package runs. No address of a registry stands here: npm's settings
name it (npm_config_registry, or `registry=` in an npmrc), else npm itself is asked, where it is
installed. Proxies, CA files, strict-ssl and tokens of these settings count, too.

Does nothing when FOLDER has what LOCKFILE names. Exit 69: there is no registry, or it cannot
be reached; 65: what came is not what the lock file names.
"""
import base64
import hashlib
import io
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path, PurePosixPath

BYTES_MAX = 64 << 20  # of a package as it comes
UNPACKED_MAX = 512 << 20
TIMEOUT_S = 60


def stop(status, text):
    print(f"npm_packages: {text}", file=sys.stderr)
    sys.exit(status)


# ----------------------------------------------------------------- npm's settings


def read_npmrc(path):
    """The settings of one file; ${NAME} is a variable of the environment."""
    settings = {}
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return settings
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals or line.lstrip().startswith((";", "#", "[")):
            continue
        value = value.strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        value = re.sub(r"\$\{(\w+)\??\}", lambda found: os.environ.get(found[1], ""), value)
        if value:
            settings[name.strip()] = value
    return settings


def read_environment():
    """npm_config_https_proxy is https-proxy, in small letters or in capitals."""
    settings = {}
    for name, value in os.environ.items():
        if name.lower().startswith("npm_config_") and value:
            settings[name.lower().removeprefix("npm_config_").replace("_", "-")] = value
    return settings


def global_npmrcs(environment):
    """Where Debian's npm has it, and where others do: beside their node."""
    if "globalconfig" in environment:
        return [Path(environment["globalconfig"])]
    node = shutil.which("node")
    prefixes = [environment.get("prefix"), os.environ.get("PREFIX"), node and Path(node).resolve().parent.parent, "/usr/local"]
    return [*(Path(prefix) / "etc/npmrc" for prefix in prefixes if prefix), Path("/etc/npmrc")]


def read_settings(project):
    """What comes first counts: the environment, the project, the user, the machine."""
    environment = read_environment()
    user = environment.get("userconfig") or os.path.expanduser("~/.npmrc")
    settings = {}
    for path in [*reversed(global_npmrcs(environment)), Path(user), project / ".npmrc"]:
        settings.update(read_npmrc(path))
    return {**settings, **environment}


def ask_npm():
    """npm has a registry even where no setting names one."""
    if not shutil.which("npm"):
        return None
    done = subprocess.run(["npm", "config", "get", "registry"], capture_output=True, text=True, check=False)
    said = done.stdout.strip()
    return said if done.returncode == 0 and said.startswith(("http://", "https://")) else None


def find_registry(settings):
    registry = settings.get("registry") or ask_npm()
    if not registry:
        stop(69, "npm's settings name no registry: set npm_config_registry, or registry= in ~/.npmrc")
    if not registry.startswith(("http://", "https://")):
        stop(69, "the registry of npm's settings is no http or https address")
    return registry.rstrip("/") + "/"


# ----------------------------------------------------------------------- fetching


def authorization(settings, registry):
    """npm keeps it under the address without its scheme, or under a folder above that."""
    place = "//" + registry.split("//", 1)[1]
    while len(place) > 2:
        found = {word: settings.get(f"{place}:{word}") for word in ("_authToken", "_auth", "username", "_password")}
        if found["_authToken"]:
            return "Bearer " + found["_authToken"]
        if found["_auth"]:
            return "Basic " + found["_auth"]
        if found["username"] and found["_password"]:
            password = base64.b64decode(found["_password"]).decode()
            return "Basic " + base64.b64encode(f"{found['username']}:{password}".encode()).decode()
        place = place[: place.rstrip("/").rfind("/") + 1]
    return None


def make_opener(settings):
    context = ssl.create_default_context()
    for path in (settings.get("cafile"), os.environ.get("NODE_EXTRA_CA_CERTS")):
        try:
            if path:
                context.load_verify_locations(path)
        except (OSError, ssl.SSLError):
            print(f"npm_packages: cannot read the certificates in '{path}'; going on without", file=sys.stderr)
    if settings.get("strict-ssl") == "false":
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    proxies = urllib.request.getproxies()
    for scheme in ("http", "https"):
        proxy = settings.get("https-proxy") if scheme == "https" else None
        proxy = proxy or settings.get("proxy")
        if proxy and proxy not in ("null", "false"):
            proxies[scheme] = proxy
    if settings.get("noproxy"):
        os.environ["no_proxy"] = settings["noproxy"]
    return urllib.request.build_opener(urllib.request.ProxyHandler(proxies), urllib.request.HTTPSHandler(context=context))


def fetch(opener, registry, authority, name, version):
    """As npm asks, under the name that a registry gives each tarball."""
    address = f"{registry}{urllib.parse.quote(name, safe='@/')}/-/{name.rsplit('/', 1)[-1]}-{version}.tgz"
    request = urllib.request.Request(address, headers={"User-Agent": "roger-tests"})
    if authority:  # not for whomever the registry sends us to
        request.add_unredirected_header("Authorization", authority)
    try:
        with opener.open(request, timeout=TIMEOUT_S) as answer:
            data = answer.read(BYTES_MAX + 1)
    except urllib.error.HTTPError as error:
        stop(69, f"the registry of npm's settings answers {error.code} for {name} {version}")
    except (OSError, ValueError, urllib.error.URLError) as error:
        reason = getattr(error, "reason", error)
        stop(69, f"the registry of npm's settings cannot be reached: {reason}")
    if len(data) > BYTES_MAX:
        stop(65, f"{name} {version} is larger than {BYTES_MAX >> 20} MiB")
    return data


def check_hash(name, version, integrity, data):
    expected = [word[7:] for word in integrity.split() if word.startswith("sha512-")]
    found = base64.b64encode(hashlib.sha512(data).digest()).decode()
    if len(expected) != 1 or found != expected[0]:
        stop(65, f"{name} {version} is not what the lock file names: its SHA-512 is {found}")


# ---------------------------------------------------------------------- unpacking


def unpack(name, data, into):
    """Plain files alone, each below the package's first folder, none twice."""
    size = 0
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        for member in archive:
            parts = PurePosixPath(member.name).parts
            if member.isdir():
                continue
            if not member.isreg() or len(parts) < 2 or ".." in parts or member.name.startswith("/") or "\\" in member.name:
                stop(65, f"{name} has '{ascii(member.name)[1:-1]}', which is no plain file of the package")
            size += member.size
            if size > UNPACKED_MAX:
                stop(65, f"{name} is larger than {UNPACKED_MAX >> 20} MiB")
            path = into.joinpath(*parts[1:])
            path.parent.mkdir(parents=True, exist_ok=True)
            with open(path, "xb") as file:
                shutil.copyfileobj(archive.extractfile(member), file)
            path.chmod(0o755 if member.mode & 0o100 else 0o644)


def packages_of(lock):
    for path, package in lock["packages"].items():
        name = path.removeprefix("node_modules/")
        if not path:
            continue
        if not re.fullmatch(r"(@[a-z0-9][\w.-]*/)?[a-z0-9][\w.-]*", name) or not re.fullmatch(r"\d[\w.+-]*", package["version"]):
            stop(65, f"the lock file has '{ascii(path)[1:-1]}', which is no package at its top")
        yield name, package["version"], package["integrity"]


def main():
    if len(sys.argv) != 3:
        stop(64, "usage: script/npm_packages.py LOCKFILE FOLDER")
    lock_file, folder = Path(sys.argv[1]), Path(sys.argv[2])
    lock, installed = lock_file.read_bytes(), folder / "installed"
    if installed.is_file() and installed.read_bytes() == lock:
        return
    settings = read_settings(Path(__file__).resolve().parent.parent)
    registry = find_registry(settings)
    opener, authority = make_opener(settings), authorization(settings, registry)
    came = []
    for name, version, integrity in packages_of(json.loads(lock)):
        data = fetch(opener, registry, authority, name, version)
        check_hash(name, version, integrity, data)
        came.append((name, data))
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in came:
        try:
            unpack(name, data, folder / "node_modules" / name)
        except (OSError, tarfile.TarError, EOFError) as error:
            stop(65, f"{name} cannot be unpacked: {error}")
    shutil.copy(lock_file, installed)


main()
