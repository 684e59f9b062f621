"""What a send costs the database: one write for its line, at most one more for what is noted of it; many at once are one.

    script/postgres python3 tests/postgres/t8009-steps.py
runner: plain timeout 120
"""
from lib_faults import *


def writes():
    return int(sql(f"SELECT writes FROM roger.workspace WHERE name = '{place.name}'").stdout)


def cost(work):
    """In writes, once nothing is on its way any more."""
    before, work_done = writes(), work()
    last = -1
    while writes() != last:
        last = writes()
        time.sleep(0.2)
    assert work_done is None or work_done
    return last - before


place, account = Place("steps"), Account()
place.must("send", "bob", "first", "--as", "amy")
began = time.monotonic()
one = cost(lambda: [place.must("send", "bob", f"text {i}", "--as", "amy") for i in range(20)])
# What a server does each second writes, too.
most = 20 * 2 + 10 + 2 * int(time.monotonic() - began)
tap.result([] if one <= most else [f"{one} writes"], f"20 sends, one after another: {one} writes")
many = cost(lambda: place.send_all(account, "bob", [f"batch {i}" for i in range(500)]))
tap.result([] if many <= 12 else [f"{many} writes"], f"500 in one request: {many} writes")
looks = cost(lambda: [place.run("list", "--limit", "1") for _ in range(5)])
tap.result([] if looks == 0 else [f"{looks} writes"], "a look: none")
tap.done()
