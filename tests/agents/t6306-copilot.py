#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""GitHub Copilot CLI, the real one, in a project that is set up for Claude Code, whose
hooks it runs, too: it starts, answers and ends, and Claude Code's mail stays Claude
Code's, also when one of the two is started from the other one's shell."""
import fcntl
import struct
import termios

from lib import *

PLUGIN = (["plugin", "marketplace", "add", str(integrations())], ["plugin", "install", "roger@roger"])


class Window(Terminal):
    """Copilot wants to know what terminal it has."""

    def __init__(self, tool, *words):
        super().__init__(tool, *words)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def read(self):
        answered = False
        try:
            while piece := os.read(self.fd, 65536):
                self.screen += piece
                if not answered and b"\x1b[c" in self.screen:
                    answered = True
                    self.type("\x1b[?62c")
        except OSError:
            pass


def steps(place):
    """How far the last message to Claude Code got."""
    last = place.roger("list", "--to", "claude", "--newest", "--limit", "1", "--json").stdout
    traced = place.roger("trace", json.loads(last)["messages"][0]["id"], "--json").stdout
    return [step["step"] for step in json.loads(traced)["traces"][0]["steps"]]


def arrivals(place):
    """The sessions that were noted."""
    entries = json.loads(place.roger("log", "--json").stdout)["activities"]
    return [entry for entry in entries if entry["action"]["details"].get("verb") == "arrive"]


def is_untouched(place, mark, what):
    """Nothing happened in Claude Code's name."""
    ok(place.mail("claude") == [("bob", mark)], f"{what}: Claude Code's mail is unread", place.mail("claude"))
    ok(steps(place) == ["stored"], f"{what}: and nobody has looked at it", steps(place))
    ok(not arrivals(place), f"{what}: no session of Claude Code is noted", arrivals(place))


def set_up(place, tool, scope):
    if scope != "plugin":
        written = place.roger("setup", "claude", "--scope", scope, "--yes")
        return ok(written.returncode == 0, f"{scope}: it is set up for Claude Code", written.stderr)
    ended = [tool.run(*words) for words in PLUGIN]
    well = all(one is not None and one.returncode == 0 for one in ended)
    return ok(well, "plugin: Copilot installs the plugin for Claude Code", [one and one.stderr for one in ended])


def test_beside(scope):
    """In the project of Claude Code: nothing of it is Copilot's."""
    with Place() as place, Model([Call("bash", {"command": "true", "description": "x"}), "Done."]) as model:
        tool, mark = Copilot(place, model, setup=False), MARK % scope
        set_up(place, tool, scope)
        place.send("claude", mark)
        turn = tool.turn("do some work")
        ok(turn.is_well and len(turn.requests) == 2, f"{scope}: a turn of Copilot ends well", turn.story)
        ok(set(turn.counts(mark)) == {0}, f"{scope}: it is shown no mail of Claude Code", turn.counts(mark))
        is_untouched(place, mark, scope)
        ok(not until_quiet(place), f"{scope}: nothing is left running", place.leftovers())
        place.end_leftovers()


def test_window():
    """The same with a person in front of it, who then goes."""
    with Place() as place, Model([]) as model:
        tool, mark = Copilot(place, model, setup=False), MARK % "window"
        set_up(place, tool, "project")
        place.send("claude", mark)
        window = Window(tool, "-i", "do some work", *tool.permissions[:1])
        ok(until(lambda: "Do you trust" in window.text), "in a window Copilot asks", window.text[-1500:])
        window.type("\r")
        ok(model.wait(1), "then begins", window.text[-1500:])
        time.sleep(2.5)  # for what should not come
        ok(model.turns[0].text.count(mark) == 0, "window: it is shown no mail of Claude Code", window.text[-1500:])
        waits = [words for _, words in place.leftovers() if "hook" in words and "roger" in words]
        ok(not waits, "window: no hook is left to wait", waits)
        is_untouched(place, mark, "window")
        window.kill()
        place.end_leftovers()


def started_by(outer, inner, shell, words):
    """A turn of the outer tool, in which it starts a turn of the inner one in its shell."""
    (outer.place.work / "letter").write_text(MARK % "inner")
    send = f"{ROGER} send claude --file letter --as bob"
    settings = " ".join(f"{name}='{value}'" for name, value in inner.wants().items())
    start = f"{send} && {settings} {inner.name} {words}"
    outer.model.script = [Call(shell, {"command": start, "description": "x", "timeout": 60000}), "Done."]
    turn = outer.turn("start the other one")
    ok(turn.is_well, f"{outer.name} starts {inner.name} and ends well", turn.story)
    ok(bool(inner.model.turns), f"{inner.name} had its turn", turn.story)
    return turn


def test_claude_from_copilot():
    with Place() as place, Model([]) as copilots, Model([]) as claudes:
        outer, inner = Copilot(place, copilots, setup=False), Claude(place, claudes)
        turn = started_by(outer, inner, "bash", "-p 'good morning'")
        mark = MARK % "inner"
        counts = [request.text.count(mark) for request in claudes.turns]
        ok(set(counts) == {1}, "Claude Code below Copilot is shown its mail, once", counts, turn.story)
        ok(set(turn.counts(mark)) == {0}, "and Copilot is not", turn.counts(mark))
        ok(steps(place) == ["stored", "looked"], "Claude Code has looked at it", steps(place))
        ok(len(arrivals(place)) == 1, "and one session of it is noted", arrivals(place))
        place.end_leftovers()


def test_copilot_from_claude():
    with Place() as place, Model([]) as claudes, Model([]) as copilots:
        outer, inner = Claude(place, claudes), Copilot(place, copilots, setup=False)
        turn = started_by(outer, inner, "Bash", f"-p 'good morning' {' '.join(inner.permissions)}")
        mark = MARK % "inner"
        counts = [request.text.count(mark) for request in copilots.turns]
        ok(set(counts) == {0}, "Copilot below Claude Code is shown nothing of it", counts)
        counts = turn.counts(mark)
        ok(counts[:1] == [0] and counts[-1:] == [1], "Claude Code is, when its shell is done, once", counts, turn.story)
        ok(steps(place) == ["stored", "looked"], "and has looked", steps(place))
        ok(len(arrivals(place)) == 1, "one session of Claude Code is noted, and none of Copilot", arrivals(place))
        place.end_leftovers()

for scope_ in ("project", "stealth", "user", "plugin"):
    test_beside(scope_)
test_window()
test_claude_from_copilot()
test_copilot_from_claude()
done()
