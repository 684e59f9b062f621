"""A server whose machine has seen more than the database has: an older state was restored.  Its index is made again, and it says so.

    script/postgres python3 tests/postgres/t8011-ahead.py
runner: plain timeout 120
"""
from lib_faults import *

TOLD = "the store lacks messages that this machine has seen"

place = Place("ahead")
server = place.servers[0]
for text in ("one", "two", "three"):
    place.must("send", "bob", text, "--as", "amy")
lines = [one["content"] for one in place.lines()]
place.must("status")
refused = server.roger("backup", f"{server.home}/all.tar")
tap.result([] if (refused.returncode, "dump its database" in refused.stderr) == (64, True) else [refused.stderr], "a backup is one of the database, which the command says")
server.kill(signal.SIGTERM)
server.process.wait()
# As the dump of a moment ago: without the last line, and before the server took its note.
done = sql("SET session_replication_role = replica; DELETE FROM roger.line USING roger.workspace w WHERE journal = w.messages AND start = "
           "(SELECT max(start) FROM roger.line WHERE journal = w.messages)")
assert done.returncode == 0, done.stderr
done = sql("UPDATE roger.workspace w SET bytes = start + length(text), chain = decode(substring(encode(text, 'escape') FROM '\"chain\":\"([0-9a-f]{16})\"}'), 'hex') "
           "FROM roger.line l WHERE journal = w.messages AND start = (SELECT max(start) FROM roger.line WHERE journal = w.messages)")
assert done.returncode == 0, done.stderr
server.start()
tap.result([] if lines == ["one", "two", "three"] and [one["content"] for one in place.lines()] == ["one", "two"] else [str(place.lines())],
           "what the database has is what there is")
place.must("send", "bob", "after", "--as", "amy")
tap.result([] if [one["content"] for one in place.lines()] == ["one", "two", "after"] else [str(place.lines())], "and mail goes on")
server.kill(signal.SIGTERM)
server.process.wait()
told = Path(server.home, "err").read_text()
tap.result([] if TOLD in told else [told], "whoever started the server is told")
tap.done()
