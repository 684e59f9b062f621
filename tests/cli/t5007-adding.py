#!/usr/bin/env python3
# What CONTRIBUTING.md says about adding, done to the letter: its diffs are applied
# to a copy of the sources, that is built, and the new verb, setting and tool are used.
# The manual and the table of settings are as script/manual makes them, here and there.
# runner: plain
# runner: timeout 600
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

SOURCE = Path(os.environ.get("ROGER_SOURCE", Path(__file__).resolve().parent.parent.parent))
PROGRAM = os.path.abspath(os.environ["ROGER"])
for name in list(os.environ):
    if name.startswith("ROGER_"):
        del os.environ[name]
os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
number = 0


def check(name, good, told=""):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
    if not good:
        print("\n".join("# " + line for line in str(told).splitlines()[-20:]), flush=True)
    return good


def run(*words, **more):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, errors="replace", **more)


def told(done):
    return done.stdout + done.stderr


done = run(SOURCE / "script/manual", "--check", env={**os.environ, "ROGER": PROGRAM})
check("manual and table of settings are what the program tells", done.returncode == 0, told(done))

tree, build, program = Path("tree").resolve(), Path("tree/build").resolve(), Path("tree/build/roger").resolve()
tree.mkdir()
listed = run("git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
for name in filter(None, listed.stdout.split("\0")):
    if (SOURCE / name).is_file():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(SOURCE / name, tree / name)
diffs = re.findall(r"^```diff\n(.*?)^```$", (SOURCE / "CONTRIBUTING.md").read_text(), re.S | re.M)
check("there are five diffs", len(diffs) == 5, len(diffs))
check("a verb is two files, a setting and a tool one row, a log a row and its name, a store a folder and a row",
      [len(re.findall(r"^\+\+\+ ", diff, re.M)) for diff in diffs] == [2, 2, 1, 2, 3] and diffs[2].count("\n+  ") == 1)
for name, diff in zip(("verb", "setting", "tool", "log", "store"), diffs):
    done = run("patch", "-p1", "-F0", "--batch", "--no-backup-if-mismatch", cwd=tree, input=diff)
    check(f"the diff of the {name} applies", done.returncode == 0, told(done))
# Without debugging information a compiler's cache knows the files that are as they were.
done = run("meson", "setup", build, tree, "-Dstatic_parts=false", "-Dbuildtype=plain", "-Dwerror=true")
check("it is set up", done.returncode == 0, told(done))
done = run("ninja", "-C", build, "roger")
if not check("it builds, without a warning", done.returncode == 0, told(done)):
    print(f"1..{number}")
    raise SystemExit(1)

done = run("ninja", "-C", build, "tests/test_verbs")
check("the store builds", done.returncode == 0, told(done))
done = run(build / "tests/test_verbs", "slow, mail*", env={**os.environ, "ROGER_SOURCE": str(tree)})
check("mail works on it", done.returncode == 0 and told(done).count("slow, mail: ") > 9, told(done))

check("a workspace", run(program, "init", "-q").returncode == 0)
done = run(program, "words", "some short and considerable words")
check("the verb is a command", done.stdout == "words      5\nlong ones  1\n", told(done))
done = run(program, "words", "--text", "one two", "--json")
check("with options and --json", json.loads(done.stdout) == {"format": 1, "words": 2, "long_ones": 0}, told(done))
done = run(program, "schema", "words")
check("it has a schema", json.loads(done.stdout)["required"] == ["format", "words", "long_ones"], told(done))
done = run(program, "words")
check("what is missing is told", done.returncode == 64 and "text" in done.stderr, told(done))
help_ = run(program, "help", "words").stdout
check("help tells about it", "count the words of a text" in help_ and "usage: roger words text [options]" in help_, help_)
check("and lists it", re.search(r"^  words +count the words of a text$", run(program, "help", "--all").stdout, re.M))
check("completion knows it", "words" in run(program, "__complete", "--", "wor").stdout.split())
use = tree / "use.c"
use.write_text("""#include <roger.h>
#include <stdio.h>
int main(void)
{
	struct roger *roger = NULL;
	struct roger_words_request request = { .text = { "one two", 7 } };
	struct roger_words_reply reply;

	if (roger_open(NULL, &roger, NULL) < 0 || roger_words(roger, &request, &reply, NULL) < 0)
		return 1;
	printf("%d\\n", (int)reply.words);
	roger_reply_free(&reply);
	roger_close(roger);
	return 0;
}
""")
run("ninja", "-C", build, "src/libroger.so.0.1.0")
done = run("cc", use, f"-I{build}/verbs", f"-L{build}/src", "-lroger", f"-Wl,-rpath,{build}/src", "-o", "use")
check("a program calls it", done.returncode == 0 and run("./use").stdout == "2\n", told(done))

shown = {one["key"]: one for one in json.loads(run(program, "config", "--json").stdout)["settings"]}
check("the setting is shown with its default", shown.get("words.long", {}).get("value") == "8", shown.get("words.long"))
check("its bounds and what it is for", shown["words.long"]["about"].startswith("1 to 1000000: characters from"))
config = Path(".roger/config.yaml")
check("init wrote it as a comment", "# words:\n#   long: 8  # 1 to 1000000: " in config.read_text(), config.read_text())
config.write_text("words:\n  long: 5\n")
check("it counts", run(program, "words", "some short words", "--jsonl").stdout == '{"format":1,"words":3,"long_ones":2}\n')
config.write_text("words:\n  long: 0\n")
done = run(program, "words", "x")
check("a value out of bounds is refused", done.returncode == 78 and "config.yaml:2: words.long: expected" in done.stderr, told(done))
config.write_text("")

Path(".roger/reviews").mkdir()
Path(".roger/reviews/amy.jsonl").write_text("no entry\n")
done = run(program, "verify", "--json")
check("the log is verified", "reviews/amy.jsonl" in [one["file"] for one in json.loads(done.stdout)["findings"]], told(done))

requests = [{"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                         "clientInfo": {"name": "t", "version": "1"}}},
            {"id": 2, "method": "tools/list", "params": {}},
            {"id": 3, "method": "tools/call", "params": {"name": "words", "arguments": {"text": "a considerable word"}}},
            {"id": 4, "method": "tools/call", "params": {"name": "words", "arguments": {"txt": "a"}}}]
done = run(program, "mcp", "--as", "bob", input="".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in requests))
answers = {one["id"]: one.get("result") for one in map(json.loads, done.stdout.splitlines())}
tool = next((one for one in answers[2]["tools"] if one["name"] == "words"), {})
check("the verb is a tool", tool.get("description") == "count the words of a text", tool)
check("with the field as its argument", tool.get("inputSchema") == {
    "type": "object", "properties": {"text": {"type": "string", "description": "words, with blanks between them"}},
    "required": ["text"], "additionalProperties": False}, tool)
check("and the reply as its result", answers[3]["structuredContent"] == {"words": 3, "long_ones": 1} and
      tool["outputSchema"]["required"] == ["words", "long_ones"], answers[3])
check("which a model can read", answers[3]["content"][0]["text"] == "words      3\nlong ones  1\n", answers[3])
check("an argument that is none is an error", answers[4]["isError"] is True, answers[4])

done = run(tree / "script/manual", "--check", env={**os.environ, "ROGER": str(program)})
check("the manual lacks them", done.returncode == 1 and "roger.1 and docs/CONFIGURATION.md" in told(done), told(done))
done = run(tree / "script/manual", env={**os.environ, "ROGER": str(program)})
check("until script/manual has run", done.returncode == 0, told(done))
done = run(tree / "script/manual", "--pages", tree / "pages", env={**os.environ, "ROGER": str(program)})
page, table = (tree / "pages/roger-words.1").read_text(), (tree / "docs/CONFIGURATION.md").read_text()
check("then it lists the command", ".It Xr roger-words 1\nCount the words of a text." in (tree / "docs/man/roger.1").read_text())
check("which has a page", ".Nd count the words of a text\n.Sh SYNOPSIS\n.Nm roger\n.Cm words\n.Ar text\n.Op Ar options" in page, page[-2000:])
check("and the setting", "| `words.long` | `8` | 1 to 1000000: characters from which on a word is a long one |" in table)
print(f"1..{number}")
raise SystemExit(0)
