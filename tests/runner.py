#!/usr/bin/env python3
"""Run the tests that match, count their TAP lines, end with `N passed, N failed`.

script/test builds first and then calls this.  A test is

    tests/unit/test_*.c, tests/spec/test_*.c    a cmocka program (tests/meson.build)
    fuzz/fuzz_*.c                               replays fuzz/corpus/*
    tests/{spec,cli,crash}/*.{sh,py}            a program that prints TAP; lib* are not tests
    tests/clients/t*.{sh,py}                    the same, with --with-clients
    tests/agents/t*.py                          the same, only with --with-agents: it drives the
                                                agents' own tools, which script/agents installed
    tests/packages/t*.py                        the same, only with --with-packages: what script/release
                                                made, in bare Debian systems
    tests/browser/t*.{py,mjs}                   the same, only with --with-browser: in Chromium
    script/lint                                 the same

and may say in its first lines

    # runner: plain         only with the ordinary build, not under the sanitizers
    # runner: sanitized     only under the sanitizers, like each of tests/cli that does not say plain;
                            on the ordinary build with --with-slow, and where tests are named
    # runner: slow          only with --with-slow, where all have ROGER_TEST_SLOW=1
    # runner: alone         nothing else at the same time
    # runner: timeout 300   seconds until it counts as hung (default 300)

Each runs in an empty folder of its own, with ROGER (the program), ROGER_BUILD
and ROGER_SOURCE in its environment.  A test fails with its TAP; it also fails
when it exits badly without saying why, prints no result, prints fewer results
than its plan, hangs, or when a sanitizer reported anything anywhere below it.
"""
import argparse
import concurrent.futures
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
RESULT = re.compile(r"^(not )?ok\b(.*)$")
PLAN = re.compile(r"^1\.\.(\d+)")
GONE = re.compile(r"==\d+==Unable to get registers from thread \d+\.\n")  # it ended while leaks were looked for: no error
SANITIZE_FACTOR = 4  # how much longer a test may take there
SLOW_FACTOR = 12  # and where it is thorough


@dataclass
class Test:
    name: str
    command: list
    build: Path
    sanitize: bool
    marks: dict = field(default_factory=dict)
    builds: dict = field(default_factory=dict)


@dataclass
class Outcome:
    test: Test
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    problems: list = field(default_factory=list)
    output: str = ""


RUNNING = {}  # title: when it began
QUIET_S = 5  # then a line says what runs


def title(test):
    return test.name + (" (sanitized)" if test.sanitize else "")


# ------------------------------------------------------------------ discovery


def marks_of(path):
    text = path.read_text(errors="replace")
    marks = {"thorough": True} if "ROGER_TEST_SLOW" in text else {}
    for line in text.splitlines()[:15]:
        found = re.search(r"runner: (.*)", line)
        for word in re.findall(r"(plain|sanitized|slow|alone|timeout)(?:\s+(\d+))?", found.group(1) if found else ""):
            marks[word[0]] = int(word[1]) if word[1] else True
    return marks


def scripts(clients):
    for folder in ("spec", "cli", "crash", "agents", "browser", "packages"):
        for path in sorted((SOURCE / "tests" / folder).glob("*")):
            if path.suffix in (".sh", ".py", ".mjs") and not path.name.startswith(("lib", "model")):
                yield path
    if clients:
        yield from sorted((SOURCE / "tests" / "clients").glob("t*.*"))


def interpreter(path):
    if path.suffix == ".py":
        return [sys.executable, str(path)]
    if path.suffix == ".mjs":
        return ["node", str(path)]
    first = path.read_text(errors="replace").split("\n", 1)[0]
    return ["bash" if "bash" in first else "sh", str(path)]


def tests_of(build, sanitize, clients):
    for folder in ("unit", "spec", "verbs"):
        for path in sorted((SOURCE / "tests" / folder).glob("test_*.c")):
            yield Test(f"{folder}/{path.stem}", [str(build / "tests" / path.stem)], build, sanitize, marks_of(path))
    for path in sorted((SOURCE / "mcp" / "tests").glob("test_*.c")):
        yield Test(f"unit/{path.stem}", [str(build / "mcp" / "tests" / path.stem)], build, sanitize, marks_of(path))
    for path in scripts(clients):
        yield Test(f"{path.parent.name}/{path.stem}", interpreter(path), build, sanitize, marks_of(path))


def replays(build):
    for path in sorted((SOURCE / "fuzz").glob("fuzz_*.c")):
        name = path.stem.removeprefix("fuzz_")
        corpus = SOURCE / "fuzz" / "corpus" / name
        if corpus.is_dir():
            yield Test(f"fuzz/{name}", [str(build / "tests" / f"replay_{name}"), str(corpus)], build, True)


def on_postgres(build, sanitize):
    server = str(SOURCE / "script" / "postgres")
    yield Test("postgres/verbs", [server, str(build / "tests" / "test_verbs"), "postgres,*"], build, sanitize, {"timeout": 600})
    yield Test("postgres/histories", [server, str(build / "tests" / "test_histories"), "postgres"], build, sanitize,
               marks_of(SOURCE / "tests" / "verbs" / "test_histories.c"))
    for path in [] if sanitize else sorted((SOURCE / "tests" / "postgres").glob("t*.*")):
        yield Test(f"postgres/{path.stem}", [server, *interpreter(path)], build, sanitize, marks_of(path))


def on_arm(folder):
    for test in tests_of(folder / "build", False, None):
        if test.name.startswith(("unit/", "spec/")) and test.command[0].startswith(str(folder)):
            yield Test(f"arm/{test.name}", [str(folder / "run"), *test.command], test.build, False, {"timeout": 600})


def on_release():
    """The server and its client are built otherwise for packages: static, with another TLS."""
    for path in sorted((SOURCE / "tests" / "cli").glob("t64*.*")):
        if "LD_PRELOAD" in path.read_text():
            continue  # nothing is preloaded into a static program
        yield Test(f"packages/{path.stem}", interpreter(path), SOURCE / "build-release" / platform.machine(), False, marks_of(path))


def is_once(test):
    """Does it run under the sanitizers alone?"""
    return "sanitized" in test.marks or (test.name.startswith("cli/") and "plain" not in test.marks)


def discover(plain, sanitize, clients, arm, postgres, packages, twice):
    yield Test("lint", ["sh", str(SOURCE / "script" / "lint")], plain, False)
    for test in tests_of(plain, False, clients):
        if twice or not is_once(test):
            yield test
    if arm:
        yield from on_arm(arm.resolve())
    if packages:
        yield from on_release()
    if postgres:
        yield from on_postgres(plain, False)
        yield from on_postgres(sanitize, True)
    yield from replays(sanitize)
    for test in tests_of(sanitize, True, None):
        if "plain" not in test.marks:
            yield test


# --------------------------------------------------------- the flagged suites

FLAGGED = SOURCE / "tests" / "flagged"
SUITES = {
    "agents": lambda test: test.name.startswith("agents/"),
    "arm": lambda test: test.name.startswith("arm/"),
    "browser": lambda test: test.name.startswith("browser/"),
    "clients": lambda test: test.name.startswith("clients/"),
    "packages": lambda test: test.name.startswith("packages/"),
    "postgres": lambda test: test.name.startswith("postgres/"),
    # Those that run by it alone, and those that do more by it.
    "slow": lambda test: test.marks.keys() & {"slow", "thorough"} or test.name.startswith("crash/"),
}


def whole_suites(asked, everything, tests):
    """The suites that were asked for, but for those of which names left something out."""
    chosen = {id(test) for test in tests}
    for suite, is_of in SUITES.items():
        if getattr(asked, f"with_{suite}") and all(id(test) in chosen for test in everything if is_of(test)):
            yield suite


def commit_here():
    """`+` when something in the tree is not committed."""
    git = ["git", "-c", "safe.directory=*", "-C", str(SOURCE)]
    commit = subprocess.run([*git, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "status", "--porcelain", "--", ".", ":!tests/flagged"], capture_output=True, text=True)
    return commit.stdout.strip() + ("+" if changed.stdout else "") if commit.returncode == 0 else "unknown"


def note_suites(suites, outcomes):
    """One line for each suite in tests/flagged: when it last ran whole, on which commit, and what it said."""
    notes = dict(line.split(maxsplit=1) for line in FLAGGED.read_text().splitlines() if line) if FLAGGED.exists() else {}
    today = time.strftime("%Y-%m-%d", time.gmtime())
    for suite in suites:
        of_it = [outcome for outcome in outcomes if SUITES[suite](outcome.test)]
        said = ", ".join(f"{sum(getattr(outcome, word) for outcome in of_it)} {word}" for word in ("passed", "failed", "skipped"))
        notes[suite] = f"{today} {commit_here()} {said}"
    if suites:
        new = FLAGGED.with_name(f"flagged.{os.getpid()}")
        new.write_text("".join(f"{suite} {notes[suite]}\n" for suite in SUITES if suite in notes))
        new.rename(FLAGGED)
    for suite in SUITES:
        print(f"--with-{suite:<9} last ran: {notes.get(suite, 'never')}")


# -------------------------------------------------------------------- running


def environment(test, folder, reports):
    env = {k: v for k, v in os.environ.items() if not k.startswith("ROGER") and k not in ("NO_COLOR", "CLICOLOR_FORCE")}
    # What a sanitizer finds goes to a file, so that no test can overlook it.
    common = f"exitcode=99:log_path={reports}/report"
    leaks = "detect_leaks=0:" if test.name.startswith("crash/") else ""  # does not work while traced
    env.update(
        ROGER=str(test.build / "roger"),
        ROGER_BUILD=str(test.build),
        **test.builds,
        ROGER_SOURCE=str(SOURCE),
        # python3 is this one: what chooses among several costs more than most tests.
        PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        ROGER_BROWSER=os.environ.get("ROGER_BROWSER_DIR", str(SOURCE / "build-browser")),
        ROGER_AGENTS=os.environ.get("ROGER_AGENTS_DIR", str(SOURCE / "build-agents")),
        TMPDIR=str(folder),
        HOME=str(folder),
        LC_ALL="C.UTF-8",
        TZ="UTC",
        CMOCKA_MESSAGE_OUTPUT="TAP",
        ASAN_OPTIONS=f"{leaks}detect_stack_use_after_return=1:{common}",
        UBSAN_OPTIONS=f"print_stacktrace=1:{common}",
    )
    return env


def execute(test, folder, reports):
    limit = test.marks.get("timeout", 300) * (SANITIZE_FACTOR if test.sanitize else 1)
    process = subprocess.Popen(
        test.command,
        cwd=folder,
        env=environment(test, folder, reports),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit)
        problem = None
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        problem = f"hung: killed after {limit} s"
    return output.decode(errors="replace"), process.returncode, problem


def count_tap(outcome):
    """Count the results; the output shows which ones failed."""
    planned = None
    for line in outcome.output.splitlines():
        plan, result = PLAN.match(line), RESULT.match(line)
        if plan:
            planned = int(plan.group(1))
        elif result and re.search(r"#\s*skip", result.group(2), re.IGNORECASE):
            outcome.skipped += 1
            print(f"      {outcome.test.name}: {line}", flush=True)
        elif result and result.group(1):
            outcome.failed += 1
        elif result:
            outcome.passed += 1
    return planned


def judge(outcome, status, problem, reports):
    planned = count_tap(outcome)
    seen = outcome.passed + outcome.failed + outcome.skipped
    faults = [problem] if problem else []
    if not problem and planned is not None and seen < planned:
        faults.append(f"planned {planned} results, printed {seen}, exit status {status}")
    elif not problem and seen == 0:
        faults.append(f"printed no result, exit status {status}")
    elif not problem and status != 0 and outcome.failed == 0:
        faults.append(f"exit status {status}")
    for report in sorted(reports.glob("*")):
        text = GONE.sub("", report.read_text(errors="replace"))
        if text.strip():
            faults.append(f"sanitizer report:\n{text[:4000]}")
    outcome.failed += len(faults)
    outcome.problems += faults


def run(test):
    outcome = Outcome(test)
    RUNNING[title(test)] = began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="roger-test.", ignore_cleanup_errors=True) as top:
        folder, reports = Path(top, "work"), Path(top, "reports")
        folder.mkdir()
        reports.mkdir()
        if shutil.which(test.command[0]):
            outcome.output, status, problem = execute(test, folder, reports)
            if test.name.startswith("fuzz/") and status == 0:
                outcome.output += f"ok - {outcome.output.strip()}\n"
        else:
            status, problem = None, f"'{test.command[0]}' was not built"
        judge(outcome, status, problem, reports)
    del RUNNING[title(test)]
    outcome.seconds = time.monotonic() - began
    return outcome


# ------------------------------------------------------------------ reporting


def tell(outcome):
    test = outcome.test
    word = "FAIL" if outcome.failed else "ok"
    skipped = f", {outcome.skipped} skipped" if outcome.skipped else ""
    print(f"{word:<5} {title(test):<46} {outcome.passed:>4} passed{skipped}  {outcome.seconds:6.1f} s", flush=True)
    for problem in outcome.problems:
        print("      " + problem.replace("\n", "\n      "))
    if outcome.failed:
        lines = [line for line in outcome.output.splitlines() if not line.startswith("ok ")][-60:]
        print("\n".join("      | " + line for line in lines), flush=True)


def tell_running(total, ended):
    """Nothing ended for a while: what is it that takes so long?"""
    now = time.monotonic()
    longest = sorted(RUNNING.items(), key=lambda one: one[1])[:4]
    names = ", ".join(f"{name} {now - began:.0f} s" for name, began in longest)
    print(f"...   {ended} of {total}: {names}", flush=True)


def run_all(tests, jobs):
    """What takes long comes first, so that nothing is left to wait for in the end."""
    together = sorted((test for test in tests if "alone" not in test.marks), key=lambda test: -test.marks.get("timeout", 0))
    outcomes = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        pending = {pool.submit(run, test) for test in together}
        while pending:
            done, pending = concurrent.futures.wait(pending, QUIET_S, concurrent.futures.FIRST_COMPLETED)
            for one in done:
                outcomes.append(one.result())
                tell(outcomes[-1])
            if not done:
                tell_running(len(tests), len(outcomes))
    for test in tests:
        if "alone" in test.marks:
            outcomes.append(run(test))
            tell(outcomes[-1])
    return outcomes


def main():
    parser = argparse.ArgumentParser(description="run roger's tests")
    parser.add_argument("--plain", type=Path, required=True, help="the ordinary build")
    parser.add_argument("--sanitize", type=Path, required=True, help="the build with sanitizers")
    parser.add_argument("--debug", type=Path, default="build-debug", help="the build without optimizing")
    parser.add_argument("--thread", type=Path, default="build-thread", help="the build with the thread sanitizer")
    parser.add_argument("--with-slow", action="store_true", help="the slow tests, too, and the others thoroughly")
    parser.add_argument("--with-clients", type=Path, metavar="FOLDER", help="the tests with what script/clients put there, too")
    parser.add_argument("--with-arm", type=Path, metavar="FOLDER", help="the unit tests that script/arm built there, too")
    parser.add_argument("--with-postgres", action="store_true", help="also the store in PostgreSQL")
    parser.add_argument("--with-agents", action="store_true", help="also those with the agents' own tools")
    parser.add_argument("--with-browser", action="store_true", help="also those in a browser")
    parser.add_argument("--with-packages", action="store_true", help="also what script/release made, in bare Debian systems")
    parser.add_argument("--jobs", type=int, default=2 * os.cpu_count(), help="so many tests at a time: many of them wait")
    parser.add_argument("names", nargs="*", help="only tests whose name contains one of these")
    asked = parser.parse_args()
    # What a shell's "&" or nohup lets us ignore, a test must not: what is caught has its default in a child.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    if asked.with_clients:
        os.environ["MCP_CLIENTS"] = str(asked.with_clients.resolve())
    everything = [
        test
        for test in discover(asked.plain.resolve(), asked.sanitize.resolve(), asked.with_clients, asked.with_arm, asked.with_postgres, asked.with_packages,
                             asked.with_slow or asked.names)
        if (asked.with_slow or "slow" not in test.marks)
        and (asked.with_agents or not test.name.startswith("agents/"))
        and (asked.with_browser or not test.name.startswith("browser/"))
        and (asked.with_packages or not test.name.startswith("packages/"))
    ]
    tests = [test for test in everything if not asked.names or any(name in test.name for name in asked.names)]
    if not tests:
        print("no test of that name")
        print("0 passed, 1 failed")
        return 1
    for test in tests:
        test.builds = {"ROGER_DYNAMIC": str(asked.debug.resolve() / "roger"), "ROGER_THREAD": str(asked.thread.resolve()),
                       "ROGER_FAULTS": str(asked.debug.resolve() / "tests/faults.so")}
        if asked.with_slow:
            test.builds["ROGER_TEST_SLOW"] = "1"
            test.marks["timeout"] = SLOW_FACTOR * test.marks.get("timeout", 300)
    suites = list(whole_suites(asked, everything, tests))
    outcomes = run_all(tests, asked.jobs)
    passed, failed = sum(o.passed for o in outcomes), sum(o.failed for o in outcomes)
    note_suites(suites, outcomes)
    broken = sorted({o.test.name for o in outcomes if o.failed})
    if broken:
        print("failed: " + " ".join(broken))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
