#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""Qwen Code, the real one, with a scripted model: it sends, it is shown its mail at
the next turn exactly once and not as the user's words, and it goes on when roger
does not.  It has no way to be woken."""
from lib import *

test_send(Qwen)
test_scopes(Qwen)
test_mail(Qwen)
test_inbox(Qwen)
test_between_tools(Qwen, lambda command: Call("run_shell_command", {"command": command, "is_background": False}))
test_trouble(Qwen)
done()
