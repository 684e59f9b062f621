#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""Gemini CLI, the real one, with a scripted model: it sends, it is shown its mail at
the next turn exactly once and not as the user's words, and it goes on when roger
does not.  It has no way to be woken."""
from lib import *

test_send(Gemini)
test_scopes(Gemini)
test_mail(Gemini)
test_inbox(Gemini)
test_between_tools(Gemini, lambda command: Call("run_shell_command", {"command": command}))
test_trouble(Gemini)
done()
