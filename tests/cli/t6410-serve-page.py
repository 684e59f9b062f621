#!/usr/bin/env python3
# runner: timeout 240
"""The page of roger serve: its files, their addresses, and what a browser is told to allow."""
import gzip
import re

from lib_serve import *

SOURCE = Path(os.environ["ROGER_SOURCE"]) / "src/page"
server = Server("--listen", "127.0.0.1:0")

status, headers, page = server.ask("GET", "/", connection=server.tcp())
equal("the page is there, over TCP without a token", (status, headers["Content-Type"]), (200, "text/html; charset=utf-8"))
equal("it is not kept", headers["Cache-Control"], "no-store")
policy = dict(part.split(" ", 1) for part in headers["Content-Security-Policy"].split("; "))
wanted = {"default-src": "'none'", "script-src": "'self'", "base-uri": "'none'", "frame-ancestors": "'none'",
          "require-trusted-types-for": "'script'", "trusted-types": "'none'"}
equal("scripts of others, frames, and HTML made of text are forbidden", {name: policy.get(name) for name in wanted}, wanted)
equal("and nothing is weakened", re.findall(r"unsafe|\*|https?:|data:|blob:", headers["Content-Security-Policy"]), [])
check("no address of it is told to others", headers["Referrer-Policy"] == "no-referrer")
equal("no script and no style stands in the page itself", re.findall(rb"<script(?![^>]* src=)|<style|\son\w+=|style=", page), [])
for path in ("/inbox/bob", "/timeline/app-42", "/message/msg-1", "/thread/msg-1", "/runs", "/dead", "/list?text=a", "/activity", "/status", "/send"):
    equal(f"{path} is the page", server.get(path)[2], page)
for path in ("/inboxes", "/assets/", "/assets/0/page.js", "/assets/0/../page.js", "/favicon.ico"):
    equal(f"{path} is not", server.get(path)[0], 404)
equal("a target that begins with // is refused", server.get("//inbox")[0], 400)
equal("nor is a POST", server.post("/inbox/bob", {})[0], 404)

files = re.findall(r'(?:src|href)="(/assets/([0-9a-f]{16})/([^"]+))"', page.decode())
check("it names a style, an icon and a script", {"page.css", "icon.svg", "page.js"} <= {name for _, _, name in files}, files)
equal("all with one hash", len({hash for _, hash, _ in files}), 1)
folder = files[0][0].rsplit("/", 1)[0]
total = 0
sources = sorted(path for path in SOURCE.iterdir() if path.is_file())  # page/export is for `roger export`
for source in sources:
    if source.name == "index.html":
        continue
    status, headers, data = server.get(f"{folder}/{source.name}")
    check(f"{source.name} is there", status == 200 and data == source.read_bytes().replace(b"/assets/0/", folder.encode() + b"/"), (status, len(data)))
    equal("for ever", headers["Cache-Control"], "public, max-age=31536000, immutable")
    status, headers, packed = server.get(f"{folder}/{source.name}", headers={"Accept-Encoding": "br, gzip"})
    check("and compressed", headers["Content-Encoding"] == "gzip" and gzip.decompress(packed) == data)
    equal("unless that is refused", server.get(f"{folder}/{source.name}", headers={"Accept-Encoding": "gzip;q=0"})[1]["Content-Encoding"], None)
    total += len(packed)
    for name in re.findall(r'(?:from|import) "\./([^"]+)"', data.decode()):
        equal(f"what it imports is there: {name}", server.get(f"{folder}/{name}")[0], 200)
check("at most 12 files", len(sources) <= 12)
check("at most 60 kB on the wire", total <= 60000, total)
server.end()

# ----------------------------------------------------------- for working on it

copy = Path(FOLDER.name) / "assets"
(copy / "sub").mkdir(parents=True)
(copy / "index.html").write_text("<p>mine</p>")
(copy / "a.js").write_text("1")
(Path(FOLDER.name) / "secret").write_text("no")
server = Server("--assets", copy)
equal("--assets takes the page from a folder", server.get("/inbox/bob")[2], b"<p>mine</p>")
status, headers, data = server.get("/assets/0/a.js")
equal("and its files, which are not kept", (status, data, headers["Cache-Control"]), (200, b"1", "no-store"))
for path in ("/assets/0/../secret", "/assets/0/..%2fsecret", "/assets/0/%2e%2e/secret", "/assets/0/sub/../../secret", "/assets/0/b.js", "/assets/0/.", "/assets/0/"):
    equal(f"nothing else: {path}", server.get(path)[0], 404)
server.end()
done()
