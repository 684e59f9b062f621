#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 2400
"""Kilo, the real one, with a scripted model: it sends, it is shown its mail at the
next turn exactly once and not as the user's words, it goes on when roger does
not, and it is woken when it is idle."""
from lib import *

test_send(Kilo)
test_scopes(Kilo)
test_mail(Kilo)
test_inbox(Kilo)
test_trouble(Kilo)
with Place() as place_, Model([]) as model_:
    tool_ = Kilo(place_, model_)
    test_wake(tool_, lambda prompt: Session(tool_, prompt))
done()
