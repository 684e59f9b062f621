#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""OpenCode, the real one, with a scripted model: it sends, it is shown its mail at
the next turn exactly once and not as the user's words, it goes on when roger does
not, and it is woken when it is idle."""
import re
import urllib.request

from lib import *


class Session:
    """A server of OpenCode with one session, as its own window uses it."""

    def __init__(self, tool, prompt):
        self.tool, self.text = tool, ""
        self.server = subprocess.Popen(
            ["opencode", "serve", "--port", "0"],
            cwd=tool.place.work,
            env=tool.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for line in self.server.stdout:
            self.text += line
            if found := re.search(r"http://\S+", line):
                self.url = found.group()
                break
        session = self.ask("/session", {})["id"]
        self.ask(f"/session/{session}/message", {"parts": [{"type": "text", "text": prompt}]})

    def ask(self, path, body):
        data, kind = json.dumps(body).encode(), {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, kind)
        with urllib.request.urlopen(request, timeout=TURN_SECONDS) as answer:
            return json.load(answer)

    def is_idle(self):
        return is_asleep(self.tool.place)

    def kill(self):
        self.server.kill()
        self.server.wait()

test_send(OpenCode)
test_scopes(OpenCode)
test_mail(OpenCode)
test_inbox(OpenCode)
test_trouble(OpenCode)
with Place() as place_, Model([]) as model_:
    tool_ = OpenCode(place_, model_)
    test_wake(tool_, lambda prompt: Session(tool_, prompt))
done()
