#!/usr/bin/env python3
# runner: plain
# runner: slow
# runner: timeout 3600
"""script/release makes the same bytes twice, from two clones in two folders."""
import hashlib

from lib import *

TOP = Path(os.environ["TMPDIR"])
commit, sums, git = None, [], ["git", "-c", "safe.directory=*"]
for name in ("one/roger", "another/folder/for/it"):
    clone = TOP / name
    clone.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([*git, "clone", "--quiet", SOURCE, clone], check=True, capture_output=True)
    # The sources may get a further commit meanwhile.
    commit = commit or subprocess.run([*git, "-C", clone, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run([*git, "-C", clone, "checkout", "--quiet", commit], check=True)
    made = subprocess.run(["script/release"], cwd=clone, env={**os.environ, "CCACHE_DISABLE": "1"}, capture_output=True, text=True)
    check(f"released in {name}", made.returncode == 0, made.stderr[-900:])
    sums.append({path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in (clone / "build-release/out").glob("*")})
    here = [path.name for path in (clone / "build-release").glob("*/stripped/*") if str(TOP).encode() in path.read_bytes()]
    equal("no path of the folder is in it", here, [])
for name in sorted(sums[0].keys() | sums[1].keys()):
    equal(name, sums[1].get(name), sums[0].get(name))
done()
