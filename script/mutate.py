"""Change a C file in many small ways, one at a time, and run the tests that should notice.

  script/mutate src/facts/wake.c               every mutant against tests/unit/test_wake.c
  script/mutate src/facts/*.c                  one file after the other
  script/mutate src/facts/wake.c --again       only those that survived the last time
  script/mutate src/facts/wake.c --list        show the mutants, run nothing
  script/mutate src/store/file/lock.c --test test_lock --test tests/cli/t4104-claims.sh

A mutant that no test notices is printed with its place, the line as it is and as
it was changed.  Each is a missing check, or makes no difference that anybody can
see; the latter go into tests/mutate/equivalent.txt, with the reason.  Exit 1
when one survives.

Works on copies in build-mutate/ and changes nothing outside of it.
"""
import argparse
import bisect
import json
import os
import re
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

BUILD = Path("build-mutate")
EQUIVALENT = Path("tests/mutate/equivalent.txt")

# What else should notice a change of these files, after tests/unit/test_<module>.c.
MORE_TESTS = {
    "src/facts/": ["test_seeds"],
    "src/store/file/journal.c": ["tests/cli/t4101-mail.sh", "tests/cli/t4103-batch.sh", "tests/crash/t2003-torn.py"],
    "src/store/file/lock.c": ["tests/cli/t4101-mail.sh", "tests/cli/t4104-claims.sh"],
    "src/store/file/control.c": ["test_journal", "test_lock", "tests/cli/t4101-mail.sh"],
    "src/store/lines.c": ["test_journal", "test_log", "tests/crash/t2003-torn.py"],
    "src/store/chain.c": ["test_journal", "test_log", "tests/crash/t2003-torn.py"],
    "src/store/file/log.c": ["tests/cli/t4501-activity.sh"],
    "src/index/": ["test_index_check", "test_progress", "test_histories", "test_verbs", "test_index"],
    "src/index/index_events.c": ["tests/cli/t4612-trace.sh", "tests/cli/t4613-one-history.py"],
}

# --------------------------------------------------------------------- tokens

TOKEN = re.compile(
    r"""
    (?P<skip>\s+|/\*.*?\*/|//[^\n]*|^[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<number>\.?\d(?:[eE][+-]|[\w.])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<sign>\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
CLOSER = {"(": ")", "[": "]", "{": "}"}
ASSIGNS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
TYPE_WORDS = set(
    "const static struct enum union unsigned signed char short int long float double void bool volatile register"
    " extern _Alignas RG_CLEANUP FILE DIR".split()
)
# What becomes of an operator between two operands.
SWAPPED = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "&": ["|"], "|": ["&"], "^": ["|"],
    "<<": [">>"], ">>": ["<<"], "+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/="], "/=": ["*="],
    "|=": ["&=", "="], "&=": ["|=", "="], "^=": ["|="], "<<=": [">>="], ">>=": ["<<="],
}  # fmt: skip


@dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Mutant:
    start: int
    end: int
    new: str


@dataclass
class Function:
    """Where it is in the text: from start to its body's brace, and behind that's partner."""

    name: str
    returns: str
    parameters: list
    start: int
    named: int
    body: int
    end: int

    def head(self, text, name):
        return text[self.start : self.named] + name + text[self.named + len(self.name) : self.body]


def tokens_of(text):
    found = (Token(m.lastgroup, m.group(), m.start(), m.end()) for m in TOKEN.finditer(text))
    return [token for token in found if token.kind != "skip"]


def enums_of(paths):
    """The next name for each name of an enum: {"A": "B", "B": "A"}; one that is alone has None."""
    following = {}
    for path in paths:
        tokens = [token.text for token in tokens_of(path.read_text())]
        for i, word in enumerate(tokens):
            opened = next((k for k in (i + 1, i + 2) if tokens[k : k + 1] == ["{"]), None)
            if word != "enum" or opened is None:
                continue
            inside = tokens[opened : tokens.index("}", opened)]
            names = [b for a, b in zip(inside, inside[1:]) if a in "{," and re.match(r"[A-Za-z_]", b)]
            for a, b in zip(names, names[1:] + names[:1]):
                following[a] = b if a != b else None
    return following


class Mutants:
    """All mutants of one C file; what is no statement of a function is left alone."""

    def __init__(self, text, enums):
        self.text, self.enums = text, enums
        self.tokens = tokens_of(text)
        self.partner = self.pairs()
        self.found = []  # (function, mutant)
        self.function = self.returns = None
        self.inside = []  # of "loop" and "switch"
        self.all_functions()

    def pairs(self):
        partner, opened = {}, []
        for i, token in enumerate(self.tokens):
            if token.text in CLOSER:
                opened.append(i)
            elif token.text in CLOSER.values():
                partner[i] = opened.pop()
                partner[partner[i]] = i
        return partner

    def word(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def is_name(self, i):
        return 0 <= i < len(self.tokens) and self.tokens[i].kind == "name"

    def put(self, first, last, new):
        """The tokens from first to last, both included, become new."""
        mutant = Mutant(self.tokens[first].start, self.tokens[last].end, new)
        if self.text[mutant.start : mutant.end] != new:
            self.found.append((self.function, mutant))

    # ---------------------------------------------------------- statements

    def all_functions(self):
        i = start = 0
        while i < len(self.tokens):
            if self.word(i) == "{" and self.word(i - 1) == ")":
                # What follows "..." a copy of the function cannot be given.
                if self.word(i - 2) != "...":
                    self.begin_function(start, i)
                    self.statement(i)
                i = start = self.partner[i] + 1
            elif self.word(i) in CLOSER:
                i = self.partner[i] + 1
            else:
                i += 1
                if self.word(i - 1) == ";":
                    start = i

    def begin_function(self, start, body):
        opened = next(k for k in range(start, body) if self.word(k) == "(")
        words = [self.word(k) for k in range(start, opened - 1) if self.word(k) not in ("static", "inline", "const")]
        self.returns = "pointer" if "*" in words else words[-1]
        named, last = self.tokens[opened - 1], self.tokens[self.partner[body]]
        self.function = Function(
            named.text, self.returns, self.parameters(opened), self.tokens[start].start, named.start,
            self.tokens[body].start, last.end,
        )  # fmt: skip

    def parameters(self, opened):
        names, i, close = [], opened + 1, self.partner[opened]
        while i < close:
            end = min(self.end_of(i, (",", ")")), close)
            inner = next((k for k in range(i, end) if self.word(k) in ("(", "[")), end)
            # int (*compare)(...): the name is in the first parentheses.
            names.append(self.word(inner + 2) if self.word(inner) == "(" else self.word(inner - 1))
            i = end + 1
        return [] if names == ["void"] else names

    def end_of(self, i, stop=(";",)):
        """The first of these at or behind i, at its own level."""
        while self.word(i) not in stop:
            i = self.partner[i] + 1 if self.word(i) in CLOSER else i + 1
        return i

    def body(self, i, what):
        self.inside.append(what)
        i = self.statement(i)
        self.inside.pop()
        return i

    def statement(self, i):
        """Returns where the next statement begins."""
        word = self.word(i)
        if word == "{":
            end = self.partner[i]
            i += 1
            while i < end:
                i = self.statement(i)
            return end + 1
        if word == "if":
            end = self.partner[i + 1]
            self.condition(i + 2, end - 1, ["true", "false"])
            i = self.statement(end + 1)
            return self.statement(i + 1) if self.word(i) == "else" else i
        if word == "while":
            end = self.partner[i + 1]
            self.condition(i + 2, end - 1, ["false", "!"])
            return self.body(end + 1, "loop")
        if word == "do":
            i = self.body(i + 1, "loop")
            self.condition(i + 2, self.partner[i + 1] - 1, ["false", "!"])
            return self.end_of(i) + 1
        if word == "for":
            return self.loop(i)
        if word == "switch":
            end = self.partner[i + 1]
            self.expression(i + 2, end - 1)
            return self.body(end + 1, "switch")
        if word in ("case", "default"):
            end = self.end_of(i, (":",))
            self.expression(i + 1, end - 1)
            return end + 1
        if self.is_name(i) and self.word(i + 1) == ":":
            return i + 2
        end = self.end_of(i)
        if word in ("break", "continue"):
            self.jump(i, word)
        elif word == "return":
            self.give_back(i + 1, end - 1)
        elif word not in ("goto", ";", "rg_assert", "_Static_assert"):
            self.plain(i, end)
        return end + 1

    def loop(self, i):
        close = self.partner[i + 1]
        first = self.end_of(i + 2)
        second = self.end_of(first + 1)
        if first > i + 2:
            self.plain(i + 2, first, removable=False)
        if second > first + 1:
            self.condition(first + 1, second - 1, ["false", "!"])
        self.expression(second + 1, close - 1)
        return self.body(close + 1, "loop")

    def jump(self, i, word):
        if "loop" in self.inside:
            self.put(i, i, "continue" if word == "break" else "break")
        self.put(i, i + 1, ";")

    def condition(self, first, last, instead):
        text = self.text[self.tokens[first].start : self.tokens[last].end]
        for new in instead:
            self.put(first, last, f"!({text})" if new == "!" else new)
        self.expression(first, last)

    def give_back(self, first, last):
        if last < first:
            return
        instead = {"bool": ["true", "false"], "pointer": ["NULL"], "void": []}.get(self.returns, ["0"])
        if self.word(first) == "rg_fail_memory" or self.word(first) in ("rg_fail", "rg_fail_member"):
            instead = ["ROGER_OK"]
        elif self.returns == "int" and self.word(first) in ("r", "rc"):
            instead = ["ROGER_OK"]
        elif self.is_struct():
            instead = []
        for new in instead:
            if not (self.word(first) in ("ROGER_OK", "0", "NULL") and first == last):
                self.put(first, last, new)
        self.expression(first, last)

    def is_struct(self):
        return self.returns not in ("int", "bool", "pointer", "void", "unsigned", "char") and not self.returns.endswith("_t")

    def is_declaration(self, i):
        if self.word(i) in TYPE_WORDS or self.word(i).endswith("_t"):
            return True
        k = i + 1
        while self.word(k) == "*":
            k += 1
        return self.is_name(i) and self.is_name(k) and self.word(k + 1) in ("=", ";", ",", "[")

    def plain(self, i, end, removable=True):
        """A declaration, a call or an assignment, up to its semicolon."""
        if self.is_declaration(i):
            while i < end:
                i = self.end_of(i, (";", "="))
                if i < end:
                    stop = self.end_of(i + 1, (";", ","))
                    self.expression(i + 1, stop - 1)
                    i = stop
            return
        if removable:
            self.put(i, end, ";")
        self.expression(i, end - 1)

    # --------------------------------------------------------- expressions

    def is_cast(self, i):
        """Is this the closing parenthesis of a cast?"""
        opened = self.partner[i]
        inside = self.word(opened + 1)
        return not self.is_name(opened - 1) and (inside in TYPE_WORDS or inside.endswith("_t"))

    def is_binary(self, i):
        before = self.word(i - 1)
        if before == ")":
            return not self.is_cast(i - 1)
        if before == "]":
            return True
        return self.tokens[i - 1].kind in ("name", "number", "text") and before not in ("return", "case", "sizeof")

    def expression(self, first, last):
        i = first
        while i <= last:
            token = self.tokens[i]
            if token.text in ("sizeof", "offsetof", "_Alignof"):
                i = self.after_type(i)
                continue
            if token.text == "(" and self.is_cast(self.partner[i]):
                i = self.partner[i] + 1
                continue
            if token.kind == "number":
                self.number(i)
            elif token.kind == "name":
                self.name(i)
            elif token.kind == "sign":
                self.sign(i, first, last)
            i += 1

    def after_type(self, i):
        if self.word(i + 1) == "(":
            return self.partner[i + 1] + 1
        i += 1
        while self.word(i) in ("*", "&") or self.is_name(i) or self.word(i) in (".", "->"):
            i += 1
        return self.partner[i] + 1 if self.word(i) == "[" else i

    def number(self, i):
        found = re.fullmatch(r"(0[xX][0-9a-fA-F]+|\d+)([uUlL]*)", self.word(i))
        if not found:
            return
        number = int(found.group(1), 0)
        # { 0 } is how all of a struct is cleared.
        if (self.word(i - 1), self.word(i + 1), number) == ("{", "}", 0):
            return
        for new in (number + 1, number - 1) if number else (1,):
            self.put(i, i, (hex(new) if "x" in found.group(1).lower() else str(new)) + found.group(2))

    def name(self, i):
        word = self.word(i)
        if self.word(i - 1) in (".", "->") or self.word(i + 1) == "(":
            return
        if word in ("true", "false"):
            self.put(i, i, "false" if word == "true" else "true")
        elif self.enums.get(word):
            self.put(i, i, self.enums[word])
        if word in self.enums and not self.enums[word] or re.search(r"^(?!SIZE_|U?INT\d+_).*_(MAX|MIN|BYTES)$", word):
            self.put(i, i, f"({word} + 1)")
            self.put(i, i, f"({word} - 1)")

    def sign(self, i, first, last):
        word = self.word(i)
        if word in ("++", "--"):
            self.put(i, i, "--" if word == "++" else "++")
        elif word in ("!", "~"):
            self.put(i, i, "")
        elif word == "-" and not self.is_binary(i):
            self.put(i, i, "")
        elif word in ("&&", "||"):
            self.both(i, word, first, last)
        elif word == "?":
            start = self.back(i, {"?", ":"} | ASSIGNS, first)
            for new in ("true", "false"):
                self.put(start, i - 1, new)
        elif word in SWAPPED and (word in ASSIGNS or self.is_binary(i)) and not self.is_star_of_type(i):
            for new in SWAPPED[word]:
                self.put(i, i, new)

    def is_star_of_type(self, i):
        return self.word(i) == "*" and self.word(i + 1) == ")"

    def back(self, i, stop, first):
        """Where the operand before i begins."""
        while i > first and self.word(i - 1) not in stop | {",", ";", "(", "[", "{"}:
            i = self.partner[i - 1] if i - 1 in self.partner else i - 1
        return i

    def both(self, i, word, first, last):
        weaker = {"?", ":"} | ASSIGNS | ({"&&", "||"} if word == "&&" else {"||"})
        start, end = self.back(i, weaker, first), i + 1
        while end <= last and self.word(end) not in weaker | {",", ";", ")", "]", "}"}:
            end = self.partner[end] + 1 if self.word(end) in CLOSER else end + 1
        self.put(i, i, "||" if word == "&&" else "&&")
        self.put(start, end - 1, self.text[self.tokens[start].start : self.tokens[i - 1].end])
        self.put(start, end - 1, self.text[self.tokens[i + 1].start : self.tokens[end - 1].end])


# ------------------------------------------------------------------- a mutant


@dataclass
class Change:
    """A mutant with what is printed of it; its key finds it again after other changes."""

    number: int
    text: str
    function: "Function"
    body: str
    line: int
    was: str
    now: str

    @property
    def key(self):
        return self.function.name, self.was, self.now


def one_line(text):
    return " ".join(text.split())


def changes_of(text, enums):
    newlines = [m.start() for m in re.finditer("\n", text)]
    changes, seen = [], set()
    for function, mutant in Mutants(text, enums).found:
        changed = text[: mutant.start] + mutant.new + text[mutant.end :]
        if changed in seen:
            continue
        seen.add(changed)
        start = text.rfind("\n", 0, mutant.start) + 1
        end = text.find("\n", mutant.end)
        line = bisect.bisect_left(newlines, mutant.start) + 1
        now = text[start : mutant.start] + mutant.new + text[mutant.end : end]
        body = text[function.body : mutant.start] + mutant.new + text[mutant.end : function.end]
        number = len(changes) + 1
        changes.append(Change(number, changed, function, body, line, one_line(text[start:end]), one_line(now)))
    return changes


CHOOSE = """#include <stdlib.h>
static int mutant_chosen;
__attribute__((constructor)) static void mutant_choose(void)
{
	const char *text = getenv("MUTANT_CHOSEN");

	mutant_chosen = text ? atoi(text) : 0;
}
#line 1 "original"
"""


def together(text, changes):
    """All mutants in one source: a copy of its function for each, chosen by MUTANT_CHOSEN."""
    out, at = [CHOOSE], 0
    by_function = {}
    for change in changes:
        by_function.setdefault(change.function.body, []).append(change)
    for _, group in sorted(by_function.items()):
        function = group[0].function
        out += [text[at : function.start], function.head(text, function.name), ";\n"]
        for change in group:
            name = f"{function.name}_mutant_{change.number}"
            head = re.sub(r"^(?!static\b)", "static ", function.head(text, name))
            out.append(f'\n#line 1 "mutant {change.number}"\n{head}{change.body}\n')
        out.append(f'#line 1 "original"\n{function.head(text, function.name)}{{ switch (mutant_chosen) {{\n')
        for change in group:
            call = f"{function.name}_mutant_{change.number}({', '.join(function.parameters)});"
            out.append(f"case {change.number}: {call + ' return;' if function.returns == 'void' else 'return ' + call}\n")
        out.append("}\n" + text[function.body + 1 : function.end])
        at = function.end
    return "".join(out) + text[at:]


def read_equivalent():
    """The mutants that make no difference: {file: keys}."""
    known = {}
    text = EQUIVALENT.read_text() if EQUIVALENT.exists() else ""
    for block in re.sub(r"(?m)^#.*\n", "", text).strip().split("\n\n"):
        lines = [line.strip() for line in block.splitlines()]
        changed = [line[2:] for line in lines if line[:2] == "+ "]
        if block and (len(lines[0].split()) != 2 or lines[1][:2] != "- " or not changed or len(changed) + 2 >= len(lines)):
            sys.exit(f"{EQUIVALENT}: expected 'FILE FUNCTION', '- LINE', '+ CHANGED'..., the reason; found:\n{block}")
        for now in changed:
            name, function = lines[0].split()
            known.setdefault(name, set()).add((function, lines[1][2:], now))
    return known


# -------------------------------------------------------------------- building


def make_headers(folder):
    made = folder / "verbs"
    made.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "verbs/generate.py", made], check=True)
    return made


class Folder:
    """A build folder: knows how to compile one changed file and to link programs with it."""

    def __init__(self, path, options):
        self.path = path
        again = ["--reconfigure"] if (path / "build.ninja").exists() else []
        run_or_exit(["meson", "setup", *again, str(path), "-Dstatic_parts=false", *options])
        make_headers(path)
        self.commands, self.links = {}, {}
        for entry in json.loads((path / "compile_commands.json").read_text()):
            if entry["output"].startswith("src/libinside.a.p/"):
                self.commands[os.path.normpath(path / entry["file"])] = self.without_output(entry["command"])

    @staticmethod
    def without_output(command):
        """A compile command without ccache, warnings, dependencies, source and output."""
        words, kept, skip = shlex.split(command), [], False
        for word in words[1:] if words[0].endswith("ccache") else words:
            if not skip and word not in ("-MD", "-MQ", "-MF", "-o", "-c") and word[:2] != "-W":
                kept.append(word)
            skip = word in ("-MQ", "-MF", "-o", "-c")
        return [*kept, "-w", "-fno-diagnostics-color"]

    def program(self, name):
        """Build it once as it is; what remains is its link command."""
        if name not in self.links:
            run_or_exit(["ninja", "-C", str(self.path), name])
            asked = ["ninja", "-C", str(self.path), "-t", "commands", name]
            link = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.splitlines()[-1]
            words = shlex.split(link)
            at = words.index("-o")
            self.links[name] = words[:at] + words[at + 2 :]
        return self.links[name]

    def compile(self, source, shadow, to, *extra):
        """What the compiler says against it, or nothing."""
        command = [*self.commands[str(source)], *extra, "-c", str(shadow), "-o", str(to)]
        done = subprocess.run(command, cwd=self.path, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stderr or "?"

    def link(self, name, changed, to):
        words = self.program(name)
        # Before the archive, so that the archive's own one is not taken.
        run_or_exit([words[0], "-o", str(to), str(changed), *words[1:]], self.path)


def run_or_exit(command, folder=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


# --------------------------------------------------------------------- running


class Tests:
    """The tests of one file in one build folder, linked with all mutants of it."""

    def __init__(self, folder, source, names, room):
        self.folder, self.source, self.names = folder, source, names
        self.room = Path(tempfile.mkdtemp(dir=room))
        self.limits = {}

    @staticmethod
    def program_of(name):
        return f"tests/{name}" if name.startswith("test_") else "roger"

    def make(self, text, changes):
        """Returns the numbers of the mutants that do not compile."""
        shadow, broken, to = self.room / self.source.name, set(), self.room / "mutants.o"
        while True:
            shadow.write_text(together(text, [change for change in changes if change.number not in broken]))
            # What is used without a value must not happen to be 0.
            said = self.folder.compile(self.source, shadow, to, "-ftrivial-auto-var-init=pattern")
            if not said:
                break
            found = {int(number) for number in re.findall(r"(?m)^mutant (\d+):.* error: ", said)}
            if not found:
                sys.exit(f"{self.source}: the mutants together do not compile:\n{said[:3000]}")
            broken |= found
        for program in {self.program_of(name) for name in self.names}:
            (self.room / program).parent.mkdir(exist_ok=True)
            self.folder.link(program, to, self.room / program)
        return broken

    def check_unchanged(self):
        """Each must pass without a change; how long it takes then bounds it later."""
        for name in self.names:
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            if not self.content(name, 0, (600, 600)):
                sys.exit(f"{name} fails without any change")
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            self.limits[name] = (int(2 + 10 * used), 5 + 5 * (time.monotonic() - began))

    def notice(self, number):
        return not all(self.content(name, number, self.limits[name]) for name in self.names)

    def content(self, name, number, limits):
        """Does the test pass, within seconds of processor and of time?"""
        command = [self.room / self.program_of(name)]
        program = command[0]
        if not name.startswith("test_"):
            command = [sys.executable if name.endswith(".py") else "sh", Path(name).resolve()]
        folder = Path(tempfile.mkdtemp(dir=self.room))
        environment = dict(
            os.environ, ROGER=str(program), ROGER_BUILD=str(self.folder.path.resolve()), ROGER_SOURCE=os.getcwd(),
            TMPDIR=str(folder), CMOCKA_MESSAGE_OUTPUT="STDOUT", MUTANT_CHOSEN=str(number),
            ASAN_OPTIONS="detect_leaks=1:hard_rss_limit_mb=2000",
        )  # fmt: skip
        child = subprocess.Popen(
            command, cwd=folder, env=environment, start_new_session=True,
            preexec_fn=lambda: self.bound(limits[0]), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            return fails_nothing(child.stdout, time.monotonic() + limits[1]) and child.wait() == 0
        finally:
            end_group(child)
            child.stdout.close()
            shutil.rmtree(folder, ignore_errors=True)

    def bound(self, seconds):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
        if self.folder.path == BUILD:
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))


def fails_nothing(output, until):
    """Read what a test says, to its end, to the first failure, or for as long as it has."""
    said = b""
    while time.monotonic() < until:
        if not select.select([output], [], [], 1)[0]:
            continue
        piece = os.read(output.fileno(), 65536)
        said = said[-100:] + piece
        if not piece:
            return True
        if re.search(rb"(?m)^(not ok|\[  FAILED  \])", said):
            return False
    return False


def end_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()


class Trial:
    """One file: its mutants, and the folders in which they are tried."""

    def __init__(self, source, text, changes, names, room):
        self.source, self.text, self.room = source, text, room
        self.plain = Tests(Folder(BUILD, ["-Dbuildtype=debug"]), source, names, room)
        self.broken = self.plain.make(text, changes)
        self.plain.check_unchanged()
        self.strict = None

    def make_strict(self, changes):
        """The same under the sanitizers, for what survived."""
        options = ["-Dbuildtype=debug", "-Db_lundef=false", "-Db_sanitize=address,undefined"]
        options += ["-Dc_args=-fno-sanitize-recover=all"]
        units = [name for name in self.plain.names if name.startswith("test_")]
        self.strict = Tests(Folder(Path(f"{BUILD}-sanitize"), options), self.source, units, self.room)
        self.strict.make(self.text, changes)
        self.strict.check_unchanged()

    def machine_code(self, text):
        """What an optimizing compiler makes of it; equal code cannot be told apart."""
        place = Path(tempfile.mkdtemp(dir=self.room))
        shadow, to = place / self.source.name, place / "optimized.o"
        shadow.write_text(text)
        extra = ["-O2", "-g0", f"-ffile-prefix-map={shadow}={self.source.name}"]
        return to.read_bytes() if not self.plain.folder.compile(self.source, shadow, to, *extra) else None


# ----------------------------------------------------------------------- main


def tests_of(source, asked):
    if asked:
        return asked
    names = [f"test_{source.stem}"] if Path(f"tests/unit/test_{source.stem}.c").exists() else []
    for prefix, more in MORE_TESTS.items():
        if str(source).startswith(prefix):
            names += more
    return names or sys.exit(f"{source}: no tests/unit/test_{source.stem}.c; name one with --test")


def keep(changes, survives, jobs):
    """Those of the changes that survive, with a line of progress every few seconds."""
    left, done, began = [], 0, time.monotonic()
    told = began
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for change, survived in zip(changes, pool.map(survives, changes)):
                done += 1
                left += [change] if survived else []
                now = time.monotonic()
                if now - told > 5:
                    told = now
                    rate = done / (now - began) * 60
                    print(f"# {done} of {len(changes)}, {len(left)} left, {rate:.0f} a minute", file=sys.stderr, flush=True)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    return left


def show(source, change):
    print(f"{source}:{change.line} {change.function.name}\n\t- {change.was}\n\t+ {change.now}", flush=True)


def last_time(source):
    return BUILD / "survived" / (str(source).replace("/", "_") + ".json")


def mutate(source, options, room, known):
    """Returns how many survived."""
    text = source.read_text()
    made = make_headers(BUILD)  # roger.h, with the values of its enums
    headers = [*Path("src").rglob("*.h"), *made.glob("*.h"), source]
    changes = changes_of(text, enums_of(headers))
    every = {change.key for change in changes}
    if options.again and last_time(source).exists():
        wanted = {tuple(key) for key in json.loads(last_time(source).read_text())}
        changes = [change for change in changes if change.key in wanted]
    same = known.get(str(source), set())
    for key in same - every:
        print(f"{EQUIVALENT}: {source} has no such mutant any more: {key[0]}: {key[2]}")
    if options.list:
        for change in changes:
            show(source, change)
        return len(same - every)
    tried = [change for change in changes if change.key not in same]
    trial = Trial(source, text, tried, tests_of(source, options.test), room)
    tried = [change for change in tried if change.number not in trial.broken]
    left = keep(tried, lambda change: not trial.plain.notice(change.number), options.jobs)
    unchanged = trial.machine_code(text)
    visible = keep(left, lambda change: trial.machine_code(change.text) != unchanged, options.jobs)
    equivalent = len(changes) - len(tried) - len(trial.broken) + len(left) - len(visible)
    left = visible
    if left and not options.no_sanitize:
        trial.make_strict(left)
        left = keep(left, lambda change: not trial.strict.notice(change.number), options.jobs)
    for change in left:
        show(source, change)
    last_time(source).parent.mkdir(parents=True, exist_ok=True)
    last_time(source).write_text(json.dumps([change.key for change in left]))
    noticed = len(changes) - equivalent - len(left) - len(trial.broken)
    print(
        f"{source}: {len(changes)} mutants, {noticed} noticed, {equivalent} equivalent, "
        f"{len(left)} survived, {len(trial.broken)} did not compile",
        flush=True,
    )
    return len(left)


def main():
    parser = argparse.ArgumentParser(
        prog="script/mutate", usage="script/mutate FILE... [option...]", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--test", action="append", metavar="NAME", help="run these instead: test_lock, tests/cli/t4104-claims.sh")
    parser.add_argument("--again", action="store_true", help="only what survived the last time")
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    parser.add_argument("--no-sanitize", action="store_true", help="do not try survivors under the sanitizers")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="mutants at the same time (1)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    known = read_equivalent()
    survived = 0
    for source in options.files:
        source = Path(os.path.relpath(source.resolve()))
        if source.suffix != ".c" or not source.is_file():
            sys.exit(f"{source}: not a C file of this project")
        with tempfile.TemporaryDirectory(prefix="roger-mutate-") as room:
            survived += mutate(source, options, Path(room), known)
    return 1 if survived else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
