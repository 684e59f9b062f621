#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""OpenCode, the real one, with a scripted model: it sends, it is shown its mail at
the next turn exactly once and not as the user's words, it goes on when roger does
not, and it is woken when it is idle."""
from lib import *

test_send(OpenCode)
test_scopes(OpenCode)
test_mail(OpenCode)
test_inbox(OpenCode)
test_trouble(OpenCode)
with Place() as place_, Model([]) as model_:
    tool_ = OpenCode(place_, model_)
    test_wake(tool_, lambda prompt: Session(tool_, prompt))
done()
