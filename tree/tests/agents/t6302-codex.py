#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""Codex, the real one, with a scripted model: it sends, it is shown its mail at the
next turn exactly once and not as the user's words, it goes on when roger does not,
and it is woken when it is idle."""
from lib import *


class Session:
    """A thread that a server of Codex holds, woken by the command that the settings name."""

    def __init__(self, tool, prompt):
        self.tool, self.place = tool, tool.place
        first = tool.run("exec", *tool.permissions, "--json", prompt)
        self.text = first.stdout if first else "it did not end"
        self.waker = start_wake(tool)
        self.server = subprocess.Popen(
            ["codex", "app-server", "--listen", "unix://"],
            cwd=self.place.work,
            env=tool.variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def is_idle(self):
        time.sleep(2.5)
        return self.server.poll() is None and self.waker.poll() is None

    def kill(self):
        for process in (self.server, self.waker):
            process.kill()
            process.wait()


class Window(Terminal):
    """Codex as a person opens it; it starts a server of its own, which outlives it."""

    def __init__(self, tool, prompt):
        super().__init__(tool, *tool.permissions[1:], prompt)
        self.waker = start_wake(tool)

    def is_idle(self):
        time.sleep(2.5)
        return self.waker.poll() is None

    def kill(self):
        super().kill()
        self.waker.kill()
        self.waker.wait()
        self.tool.run("app-server", "daemon", "stop")


def start_wake(tool):
    """roger wake, with the command that setup wrote, only at once."""
    path = tool.place.work / ".roger" / "config.yaml"
    text = path.read_text(encoding="utf-8")
    ok(text.count("\nwake:\n") == 1, "setup wrote the command that wakes Codex", text)
    path.write_text(text.replace("\nwake:\n", "\nwake:\n  after: 0s\n"), encoding="utf-8")
    return subprocess.Popen(["roger", "wake"], cwd=tool.place.work, env=tool.variables, stdout=subprocess.DEVNULL)


def test_trust():
    """What setup writes runs as soon as a person trusts it, and not before."""
    with Place() as place, Model([]) as model:
        tool = Codex(place, model)
        tool.permissions = tool.permissions[1:]
        place.send("codex", MARK % "trust")
        ok({hook["trustStatus"] for hook in tool.hooks()} == {"untrusted"}, "Codex sees the hooks, not trusted yet")
        ok(set(tool.turn("hello").counts(MARK % "trust")) == {0}, "hooks do not run before that")
        tool.trust_hooks()
        ok({hook["trustStatus"] for hook in tool.hooks()} == {"trusted"}, "then they are trusted", tool.hooks())
        ok(set(tool.turn("hello").counts(MARK % "trust")) == {1}, "and run")

test_send(Codex)
test_scopes(Codex)
test_mail(Codex)
test_inbox(Codex)
test_between_tools(Codex, lambda command: Call("exec_command", {"cmd": command}))
test_trouble(Codex)
test_trust()
for kind in (Session, Window):
    with Place() as place_, Model([]) as model_:
        tool_ = Codex(place_, model_)
        tool_.trust_hooks()
        test_wake(tool_, lambda prompt, kind=kind, tool=tool_: kind(tool, prompt))
done()
