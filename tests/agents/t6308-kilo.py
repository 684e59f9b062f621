#!/usr/bin/env python3
# runner: plain alone
# runner: timeout 900
"""Kilo, the real one, with a scripted model: it sends, it is shown its mail at the
next turn exactly once and not as the user's words, and it goes on when roger does
not."""
from lib import *

test_send(Kilo)
test_scopes(Kilo)
test_mail(Kilo)
test_inbox(Kilo)
test_trouble(Kilo)
done()
