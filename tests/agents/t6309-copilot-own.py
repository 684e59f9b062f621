#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""GitHub Copilot CLI, the real one, set up for itself, with a scripted model: it sends,
it is shown its mail at the next turn exactly once and not as the user's words, and it
goes on when roger does not.  It has no way to be woken."""
from lib import *

test_send(Copilot)
test_scopes(Copilot)
test_mail(Copilot)
test_inbox(Copilot)
test_between_tools(Copilot, lambda command: Call("bash", {"command": command, "description": "x"}))
test_trouble(Copilot)
done()
