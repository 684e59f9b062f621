"""The rules of docs/ARCHITECTURE.md, checked over the sources; see script/lint."""
import ast
import functools
import re
import shutil
import subprocess
import sys
from pathlib import Path

# Who may include whom, by folder of src/; anything may include its own folder,
# the C library, and, but for cli, <roger.h> through base.
EDGES = {
    "base": "",
    "data": "base",
    "facts": "base data",
    "host": "base data facts",
    "store": "base data facts host",
    "store/file": "base data facts host store",
    "store/process": "base data facts host store",
    "store/memory": "base data facts host store store/process",
    "store/postgres": "base data facts host store store/process",
    "index": "base data facts host store",
    "engine": "base data facts host store index",
    "proof": "base data facts host store index engine",
    "ops": "base data facts host engine",
    "api": "base data facts host store engine ops remote",
    "mcp": "base data",
    "cli": "base data",
    # A command of a program of its own, which has all of the command line in it.
    "serve": "base data host cli",
    # In place of an engine.
    "remote": "base data host",
    "remote/curl": "base data host remote",
}

# The rooms from the ground up: a function calls into its own room, or into one below.
ROOMS = (
    "base", "data", "facts", "host", "store", "store/file", "store/process", "store/memory", "store/postgres", "index", "engine",
    "proof", "ops", "ops/tools", "ops/keys", "ops/mail", "ops/edge", "ops/runs", "ops/proof", "ops/care", "api",
    "remote", "remote/curl", "cli", "serve",
)
# Calls that go up all the same, and why.
CALLS_UP = {
    "rg_file_store_open": "which store an address names is asked in one place, store.c",
    "rg_postgres_store_open": "the same",
    "rg_postgres_prepare": "the same",
    "serve_run": "a command of roger-serve, which has all of the command line in it",
    "serve_token_run": "the same",
    "serve_ui_run": "the same",
}
OPERATIONS_MAX = 21  # of the seam, store/store.h

# Headers that meson makes, by their names.
GENERATED = {"verbs.h", "settings.h", "setup_plugin.h", "completion.h", "postgres_migrations.h"}

# Records and verbs are described in verbs/; these tables are of a program alone, or of a file of its own.
TABLES_LEFT = re.compile(r"src/(cli|serve|remote)/\w+\.c|src/facts/note\.c|src/host/trust\.c")
TABLE = re.compile(r"struct roger_field \w+\[|\boffsetof\(struct roger_\w+_(request|reply)\b")

# What stands at the top, and the folders below each folder there.
FOLDERS = {
    "": ".clang-format .editorconfig .gitignore CHANGELOG.md CONTRIBUTING.md LICENSE NOTICE README.md SECURITY.md "
    "meson.build meson_options.txt",
    ".ci": "",
    "bench": "",
    "docs": "man",
    "examples": "hand-over nginx systemd",
    "fuzz": "corpus",
    "include": "",
    "integrations": ".claude-plugin beads gemini opencode plugin",
    "mcp": "docs include src tests",
    "packages": "",
    "verbs": "",
    "script": "",
    "src": " ".join({folder.split("/")[0] for folder in EDGES} | {"page"}),
    "tests": "abi agents browser cli clients crash mutate packages postgres race spec unit verbs",
}

# The rules of these never include each other's.
SYSTEMS = ("message", "sequence", "sendlog", "watchdog", "activity")

# A foreign header and the files that own it.
HEADER_OWNERS = {
    "sqlite3.h": r"src/index/index\w*\.[ch]",
    "yyjson.h": r"src/data/json\.c",
    "yaml.h": r"src/data/yaml\.c",
    "sodium.h": r"src/base/(id|sign)\.c|mcp/src/base64\.c",
    "utf8proc.h": r"src/base/unicode\.c",
    "curl/curl.h": r"src/remote/curl/\w+\.[ch]",
    "libpq-fe.h": r"src/store/postgres/.*",
    "event2/buffer.h": r"mcp/src/http\w*\.[ch]|src/serve/\w+\.[ch]",
    "event2/bufferevent.h": r"mcp/src/http\w*\.[ch]|src/serve/\w+\.[ch]",
    "event2/event.h": r"mcp/src/http\w*\.[ch]|src/serve/\w+\.[ch]",
    "event2/http.h": r"mcp/src/http\w*\.[ch]|src/serve/\w+\.[ch]",
    "event2/listener.h": r"mcp/src/http\w*\.[ch]|src/serve/\w+\.[ch]",
}

# What only a store, and the host, know: above them these do.
HOST_OWNERS = {
    # The index's own files; trigger files and outboxes; the settings of tools; what a run left as its result.
    "host/file.h": r"src/index/index_file\.c|src/ops/(edge|tools)/.*|src/ops/runs/run\.c",
    "host/watch.h": r"src/ops/edge/.*",
}
ABOVE_STORE = ("src/index/", "src/engine/", "src/proof/", "src/ops/", "src/api/")
# In code above a store; ops/ may say them in help.
STORE_NAME = re.compile(r'"[^"\n]*(?:messages\.(?:jsonl|control)|message-state\.json|\.jsonl?")[^"\n]*"?|\brg_boot_id\b')

# Calls with a side effect, and the files that own it.
CALL_OWNERS = [
    (
        "files are touched in host/file.c",
        "open|openat|open64|creat|fopen|fdopen|freopen|pwrite|pwritev|rename|renameat|renameat2|unlink|unlinkat"
        "|remove|mkdir|mkdirat|rmdir|symlink|link|linkat|chmod|fchmod|fchmodat|ftruncate|truncate|fallocate"
        "|posix_fallocate|fsync|fdatasync|sync_file_range|mmap|flock|mkstemp|mkdtemp|tmpfile",
        # The command line reads files that a person names, and nothing else.
        # A socket is a file, too; and tokens, and their uses, are this user's, of no workspace.
        r"src/host/file\.c|src/host/outside\.c|src/cli/input\.c|src/serve/(listen|token|use)\.c",
    ),
    # What a front end writes to is standard output.
    ("bytes are written in host/file.c", "write|writev", r"src/host/file\.c|src/host/child\.c|mcp/src/stdio\.c|src/cli/.*"),
    ("the clock is read in base/clock.c", "clock_gettime|gettimeofday|time|nanosleep|clock_nanosleep|usleep|sleep", r"src/base/clock\.c"),
    ("folders are watched in host/watch.c", r"inotify_\w+", r"src/host/watch\.c"),
    ("random bytes are drawn in base/id.c", r"getrandom|getentropy|rand|random|srand|randombytes\w*", r"src/base/id\.c"),
    (
        "printing and ending is for the front ends",
        "printf|fprintf|vprintf|vfprintf|dprintf|puts|fputs|putchar|fputc|putc|perror|exit|_exit|_Exit|abort|syslog",
        # rg_assert is the end of everything; a child that cannot become a program ends, too.
        r"src/cli/.*|src/base/err\.c|src/host/child\.c",
    ),
    (
        "programs are run in host/child.c",
        r"fork|vfork|_Fork|clone|posix_spawnp?|execl|execle|execlp|execv|execve|execvp|execvpe|fexecve|execveat"
        "|wait|wait3|wait4|waitpid|waitid|setpgid|setsid",
        # The pager and the browser are programs of the person at the terminal; a command that is a program of its own
        # takes the place of this one.
        r"src/host/child\.c|src/cli/(?:screen|become)\.c",
    ),
    ("calls that no size bounds, or that start a shell", "strcpy|strcat|sprintf|vsprintf|gets|stpcpy|strtok|alloca|system|popen", None),
]

# What nothing is decided by: a verb's name is compared by looking up its row, and
# what an error says is for people.  A pattern is of what is compared with a literal.
COMPARED = re.compile(r"\b(?:strn?cmp|strn?casecmp|strstr|memcmp|memmem|rg_str_is)\s*\(([^;{}]*?\"[^;{}]*?)\)")
NOT_COMPARED = [
    ("verbs are told apart by an enum, or by their rows", r"\b(?:command|op|verb)\b\)?(?:->|\.)name\b|\bverb\b", r"src/facts/note\.c"),
    ("errors are told apart by their codes", r"\bmessage\b", None),
    ("fields are told apart by their flags", r"\bfield\w*(?:->|\.)name\b", r"src/cli/(?!parse)\w+\.c"),
]

TEXT_SUFFIXES = {".c", ".h", ".js", ".css", ".html", ".py", ".sh", ".md", ".build", ".1", ""}
# Text of agents is text: no script of ours makes HTML, styles or programs of it.
MARKUP = re.compile(r"\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|srcdoc|eval|Function|setHTML\w*|parseFromString)\b|document\.write|javascript:")
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)

# clang-format changes its mind between versions; this one counts.
FORMAT_VERSION = 14

results = []


def report(name, findings):
    results.append(bool(findings))
    print(f"{'not ok' if findings else 'ok'} {len(results)} - {name}")
    for finding in findings[:40]:
        print(f"  {finding}")
    if len(findings) > 40:
        print(f"  and {len(findings) - 40} more")


def skip(name, why):
    results.append(False)
    print(f"ok {len(results)} - {name} # skip {why}")


# -------------------------------------------------------------------- sources


def project_files():
    """Everything that is, or could be, committed."""
    listed = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True
    )
    if listed.returncode == 0:
        names = listed.stdout.splitlines()
    else:
        names = [str(p) for p in Path(".").rglob("*") if not str(p).startswith((".git/", "build"))]
    return [Path(name) for name in sorted(set(names)) if Path(name).is_file()]


@functools.cache
def code_of(path):
    """The source with comments and strings blanked, lines kept."""
    return COMMENT_OR_STRING.sub(
        lambda found: re.sub(r"[^\n]", " ", found.group()), path.read_text(errors="replace")
    )


def folder_of(path):
    folder = str(Path(path).parent)
    while folder not in EDGES and "/" in folder:
        folder = folder.rsplit("/", 1)[0]
    return folder


def includes_of(path):
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1) == "<", found.group(2)


# --------------------------------------------------------------- architecture


def includes_point_down(sources):
    for path in sources:
        of_mcp = str(path).startswith("mcp/")
        here = "mcp" if of_mcp else folder_of(path.relative_to("src"))
        if here not in EDGES:
            yield f"{path}: folder '{here}' is not among the floors of script/lint.py"
            continue
        allowed = EDGES[here].split() + [here]
        for number, system, name in includes_of(path):
            there = "mcp" if of_mcp and "/" not in name else folder_of(name)
            if not system and there not in allowed and name not in GENERATED:
                yield f"{path}:{number}: {here}/ may not include '{name}'"


DEFINITION = re.compile(r"^(?!static\b)[a-z][\w *]*?\b(\w+)\([^;{}]*\)\n\{", re.MULTILINE)
CALL = re.compile(r"\b(\w+)\s*\(")


def room_of(path):
    parts = Path(path).relative_to("src").parts[:-1]
    return "/".join(parts[:2])


def calls_point_down(sources):
    """By functions of one definition, whatever is included."""
    ours = [path for path in sources if path.suffix == ".c" and str(path).startswith("src/")]
    homes = {}
    for path in ours:
        for name in DEFINITION.findall(code_of(path)):
            if not name.startswith(("rg_", "cli_", "serve_", "roger_", "mcp_")):
                continue  # the C library's, in cli/heap.c
            homes.setdefault(name, set()).add(room_of(path))
    for path in ours:
        here = ROOMS.index(room_of(path))
        for name in sorted(set(CALL.findall(code_of(path)))):
            there = homes.get(name, ())
            if len(there) == 1 and name not in CALLS_UP and ROOMS.index(*there) > here:
                yield f"{path}: calls {name}() of {next(iter(there))}/, which is above it"


def operations_of_the_seam():
    found = re.search(r"struct rg_store_ops \{(.*?)\n\};", code_of(Path("src/store/store.h")), re.DOTALL)
    count = len(re.findall(r"\(\*\w+\)\s*\(", found.group(1))) if found else 0
    if not 0 < count <= OPERATIONS_MAX:
        yield f"src/store/store.h: {count} operations, and {OPERATIONS_MAX} at most are wanted"


def system_of(name):
    stem = Path(name).stem
    return next((system for system in SYSTEMS if stem == system or stem.startswith(system + "_")), None)


def systems_stay_apart(sources):
    for path in sources:
        mine = system_of(path.name)
        if not str(path).startswith("src/facts/") or not mine:
            continue
        for number, system, name in includes_of(path):
            other = system_of(name) if name.startswith("facts/") else None
            if other and other != mine:
                yield f"{path}:{number}: the rules of '{mine}' include those of '{other}'"


def headers_have_owners(sources):
    for path in sources:
        for number, system, name in includes_of(path):
            owner = HEADER_OWNERS.get(name)
            if owner and not re.fullmatch(owner, str(path)):
                yield f"{path}:{number}: <{name}> belongs to {owner}"


def calls_have_owner(sources, calls, owner):
    pattern = re.compile(rf"(?<![\w.>])({calls})\s*\(")
    for path in sources:
        if owner and re.fullmatch(owner, str(path)):
            continue
        for number, line in enumerate(code_of(path).splitlines(), 1):
            found = pattern.search(line)
            if found:
                yield f"{path}:{number}: {found.group(1)}()"


TAG = re.compile(r"^(?:static\s+)?(?:const\s+)?(?:struct|enum|union)\s+((?:rg|roger|cli)_\w+)\s*\{", re.MULTILINE)


def tags_are_unique(sources):
    """One tag, one meaning: also in files that never meet."""
    first = {}
    for path in sources:
        for tag in TAG.findall(path.read_text(errors="replace")):
            if tag in first:
                yield f"{path}: '{tag}' is another one in {first[tag]}"
            first[tag] = path


COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
DOCUMENT = re.compile(r"[\w./-]*\w\.md\b")
# What agents' tools read, in other people's projects.
OF_OTHERS = {"AGENTS.md", "CLAUDE.md", "GEMINI.md"}


def documents_are_there(sources, files):
    known = {str(path) for path in files} | {path.name for path in files}
    for path in sources:
        for comment in COMMENT.findall(path.read_text(errors="replace")):
            for name in DOCUMENT.findall(comment):
                if name not in known and name not in OF_OTHERS:
                    yield f"{path}: no document '{name}' is in the repository"


def files_are_below(sources):
    for path in sources:
        if not str(path).startswith(ABOVE_STORE):
            continue
        for number, _, name in includes_of(path):
            owner = HOST_OWNERS.get(name)
            if owner and not re.fullmatch(owner, str(path)):
                yield f"{path}:{number}: above the store '{name}' belongs to {owner}"
        text = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), path.read_text(), flags=re.DOTALL)
        for number, line in enumerate(text.splitlines(), 1):
            if not str(path).startswith("src/ops/") and STORE_NAME.search(line):
                yield f"{path}:{number}: {line.strip()}"


def compared_with_words(sources, subject, owner):
    for path in sources:
        if str(path).startswith("mcp/") or (owner and re.fullmatch(owner, str(path))):
            continue
        text = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found.group()), path.read_text(), flags=re.DOTALL)
        for found in COMPARED.finditer(text):
            if re.search(subject, re.sub(r'"(?:\\.|[^"\\])*"', "", found.group(1))):
                yield f"{path}:{text.count(chr(10), 0, found.start()) + 1}: {' '.join(found.group().split())}"


# ----------------------------------------------------------------------- form


def described_by_hand(sources):
    for path in sources:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if str(path).startswith("src/") and TABLE.search(line) and not TABLES_LEFT.fullmatch(str(path)):
                yield f"{path}:{number}: a record or verb belongs into verbs/"
            elif str(path).startswith("src/ops/") and "offsetof(" in line:
                yield f"{path}:{number}: a table of fields belongs into verbs/"


STATIC = re.compile(r"^(?:_Noreturn )?static\b[\w *]*?\b(\w+)\([^;{}]*\)\n\{", re.MULTILINE)


def named_in_one_word(sources):
    """Out of its file, as in a stack, `look` or `put` says nothing."""
    for path in sources:
        for name in STATIC.findall(code_of(path)):
            if "_" not in name:
                yield f"{path}: {name}() needs a verb and a noun"


def over_budget():
    told = subprocess.run([sys.executable, "script/lines"], capture_output=True, text=True)
    return told.stderr.splitlines() if told.returncode else []


def is_text(path):
    return path.suffix in TEXT_SUFFIXES and not str(path).startswith("fuzz/corpus/")


def left_by_runs(files):
    """Workspaces, programs and folders that nobody knows are what tests and tools leave behind, and no sources."""
    strange = set()
    for path in files:
        if ".roger" in path.parts or path.read_bytes()[:4] == b"\x7fELF":
            yield str(path)
        top, *below = path.parts[:-1] or ("", path.name)
        if top not in FOLDERS or (below and below[0] not in FOLDERS[top].split()):
            strange.add("/".join((top, *below[: top in FOLDERS])).lstrip("/"))
    for name in sorted(strange):
        yield f"{name}: not in FOLDERS of script/lint.py"


def trailing_space(files):
    for path in files:
        for number, line in enumerate(path.read_text(errors="replace").split("\n"), 1):
            if line != line.rstrip():
                yield f"{path}:{number}"


def makes_markup(files):
    for path in files:
        if not str(path).startswith("src/page/"):
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if MARKUP.search(line):
                yield f"{path}:{number}: {line.strip()}"


def unfinished(files):
    for path in files:
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = UNFINISHED.search(line)
            if found:
                yield f"{path}:{number}: {found.group()}"


def tool(*command):
    """Nothing when the command is content, else what it says."""
    done = subprocess.run(command, capture_output=True, text=True)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).splitlines() or [f"exit {done.returncode}"]


def check_format(files):
    version = re.search(r"version (\d+)", subprocess.run(["clang-format", "--version"], capture_output=True, text=True).stdout)
    if not version or int(version.group(1)) != FORMAT_VERSION:
        return skip("clang-format", f"counts with version {FORMAT_VERSION} only")
    said = tool("clang-format", "--dry-run", "-Werror", *map(str, files))
    wrong = {line.split(":", 1)[0] for line in said if "clang-format-violations" in line}
    return report("clang-format is content", sorted(wrong) or said)


def check_scripts(files):
    findings = []
    for path in files:
        first = path.read_text(errors="replace").split("\n", 1)[0]
        if path.suffix == ".py":
            try:
                ast.parse(path.read_text(), str(path))
            except SyntaxError as error:
                findings.append(f"{path}:{error.lineno}: {error.msg}")
        elif first.startswith("#!") and re.search(r"\b(ba)?sh\b", first):
            findings += tool("bash" if "bash" in first else "sh", "-n", str(path))
    report("scripts parse", findings)


def check_manual(files):
    pages = [str(path) for path in files if re.fullmatch(r"docs/man/.*\.\d", str(path))]
    if not pages:
        return
    if not shutil.which("mandoc"):
        skip("manual pages", "no mandoc here")
    else:
        report("mandoc is content with the manual", tool("mandoc", "-T", "lint", "-W", "warning", *pages))


def main():
    files = project_files()
    sources = [path for path in files if str(path).startswith(("src/", "mcp/src/")) and path.suffix in (".c", ".h")]
    c_files = [path for path in files if path.suffix in (".c", ".h")]
    texts = [path for path in files if is_text(path)]

    report("includes point down", list(includes_point_down(sources)))
    report("calls go into the same room, or down", list(calls_point_down(sources)))
    report("the seam has no more operations", list(operations_of_the_seam()))
    report("what is above a store knows no files", list(files_are_below(sources)))
    report("the five systems stay apart", list(systems_stay_apart(sources)))
    report("no two structs share a tag", list(tags_are_unique(sources)))
    report("comments name documents that are there", list(documents_are_there(c_files, files)))
    report("foreign headers have one owner", list(headers_have_owners(sources)))
    for name, calls, owner in CALL_OWNERS:
        findings = list(calls_have_owner(sources, calls, owner))
        report(name if owner else f"none of the {name}", findings)
    for name, subject, owner in NOT_COMPARED:
        report(name, list(compared_with_words(sources, subject, owner)))
    report("records and verbs are described once, in verbs/", list(described_by_hand(sources)))
    report("functions of one file are named by a verb and a noun", list(named_in_one_word(sources)))
    report("no room is over its budget of lines", over_budget())
    report("nothing that a run leaves behind is among the sources", list(left_by_runs(files)))
    report("no trailing white space", list(trailing_space(texts)))
    report("the page makes no markup of text", list(makes_markup(texts)))
    report("nothing marked as unfinished", list(unfinished(texts)))
    check_format(c_files)
    check_scripts(texts)
    check_manual(files)
    print(f"1..{len(results)}")
    return 1 if any(results) else 0


sys.exit(main())
