"""A workspace that the version before made, where each command opened the database itself, is upgraded in place; and that version
then finds nothing that it could use.

    script/postgres python3 tests/postgres/t8012-upgrade.py
runner: plain timeout 120
"""
import re

from lib_faults import *


def made_by_the_version_before(name):
    """Its tables, and lines that its own functions wrote."""
    files = Server(name, tables=False)
    for text in ("one", "two"):
        done = files.roger("send", "bob", text, "--as", "amy", "--key", f"t1:ask:{text == 'two':d}")
        assert done.returncode == 0, done.stderr
    bodies = [re.sub(r',"chain":"[0-9a-f]{16}"}$', "", line) for line in Path(files.home, "w/.roger/messages.jsonl").read_text().splitlines()]
    steps = [(Path(__file__).parent / "before.sql").read_text()]
    lines = ", ".join(f"convert_to($line${body}$line$, 'UTF8')" for body in bodies)
    for text in ("CREATE SCHEMA roger; CREATE TABLE roger.schema(version int PRIMARY KEY, sha256 text NOT NULL, at timestamptz NOT NULL DEFAULT now())",
                 *steps, "INSERT INTO roger.schema VALUES (1, ''), (2, '')", f"INSERT INTO roger.workspace(name) VALUES ('{name}')",
                 f"SELECT roger.append_1(1, 1, false, 1, 1, ARRAY[{lines}], 1, ARRAY['amy'::bytea, 'bob'::bytea], "
                 "ARRAY[0, 1, 2, 2, 2, 0, 0, 0]::bigint[], ARRAY[]::bigint[], NULL, NULL, false)"):
        done = sql(text)
        assert done.returncode == 0, done.stderr


sql("DROP SCHEMA IF EXISTS roger CASCADE")
made_by_the_version_before("team")
server = Server("team", tables=False)
server.env["ROGER_STORE"] = f"{SERVER}#team"
done = server.roger("serve")
tap.result([] if done.returncode == 78 and "roger upgrade" in done.stderr else [done.stderr], "a server does not touch older tables, and says what does")
done = server.roger("upgrade")
tap.result([] if done.returncode == 0 and "1 step" in done.stdout else [done.stdout + done.stderr], "roger upgrade does")
place = Place.__new__(Place)
place.name, place.servers = "team", [server.start()]
atexit.register(place.end)
tap.result([] if [one["content"] for one in place.lines()] == ["one", "two"] else [str(place.lines())], "the mail is there")
done = [place.run("send", "bob", "two", "--as", "amy", "--key", "t1:ask:1"), place.run("send", "bob", "three", "--as", "amy")]
tap.result([] if "sent before" in done[0].out + done[0].err else [done[0].out + done[0].err], "a key that was used is known")
tap.result([] if [one["seq"] for one in place.lines()] == [1, 2, 3] else [str(place.lines())], "numbers go on")
done = place.run("verify")
tap.result([] if done.returncode == 0 else [done.out + done.err], "the chain goes on over the other kind of sums")
left = sql("SELECT string_agg(proname, ' ') FROM pg_proc WHERE pronamespace = 'roger'::regnamespace AND proname LIKE '%\\_1'").stdout.strip()
tap.result([] if not left else [left], "no function of the version before is left")
tap.done()
