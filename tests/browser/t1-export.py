#!/usr/bin/env python3
"""An exported page in Chromium (script/test --with-browser): texts are what was sent, whatever
they are; nothing is run but the page's own script, nothing is fetched; the seal is judged
rightly, also where something was changed; the search finds.
"""
# runner: plain
# runner: timeout 600
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, os.environ["ROGER_SOURCE"] + "/tests/cli")
import lib_page

ROGER = os.environ["ROGER"]
HERE = Path.cwd()
ENV = {k: v for k, v in os.environ.items() if not k.startswith("ROGER_")} | {"XDG_STATE_HOME": str(HERE / "state"), "HOME": str(HERE)}
number = 0
failures = 0


def check(name, got, expected):
    global number, failures
    number += 1
    if got == expected:
        print(f"ok {number} - {name}", flush=True)
        return
    failures += 1
    print(f"not ok {number} - {name}\n# got {got!r:.900}\n# expected {expected!r:.900}", flush=True)


def roger(*words, given=None):
    return subprocess.run([ROGER, *words], input=given, env=ENV, check=True, capture_output=True, text=True).stdout


# ------------------------------------------------------------------ the browser


class Server(http.server.BaseHTTPRequestHandler):
    asked = []

    def do_GET(self):
        Server.asked.append(self.path)
        path = HERE / self.path.lstrip("/")
        self.send_response(200 if path.suffix == ".html" and path.exists() else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        if path.suffix == ".html" and path.exists():
            self.wfile.write(path.read_bytes())

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()
PORT = server.server_port


def browse(url):
    """What is there after the page's script has run, and what the console said."""
    done = subprocess.run(
        ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", f"--user-data-dir={HERE}/profile", "--enable-logging=stderr",
         f"--host-resolver-rules=MAP plain.test 127.0.0.1", "--virtual-time-budget=30000", "--dump-dom", url],
        capture_output=True, timeout=120, env=ENV)
    console = [line for line in done.stderr.decode(errors="replace").splitlines() if "CONSOLE" in line]
    (HERE / "dom.html").write_bytes(done.stdout)
    page, text = lib_page.read(HERE / "dom.html")
    found = re.search(r'id="seal"[^>]* data-result="(\w+)"', text)
    shown = re.search(r'id="found"[^>]*>([^<]*)', text)
    return {
        "bodies": [a["body"] for a in page.articles],
        "articles": page.articles,
        "hidden": len(re.findall(r'<article [^>]*hidden=""', text)),
        "result": found.group(1) if found else None,
        "verdict": re.search(r'id="verdict"[^>]*>([^<]*)', text).group(1),
        "results": [{"good": "fits", "bad": "broken", "soon": "unknown"}[word] for word in re.findall(r'<li data-is="(\w+)"', text)],
        "found": shown and shown.group(1),
        "title": re.search(r"<title>([^<]*)", text).group(1),
        "console": console,
    }


def browse_file(name, fragment=""):
    return browse(f"file://{HERE}/{name}{fragment}")


if not shutil.which("chromium"):
    print("1..0 # skip no chromium here")
    sys.exit(0)

# ------------------------------------------------------------------ what was sent

LINK = f"http://127.0.0.1:{PORT}"
TEXTS = [
    "an ordinary text\nof two lines", "</script><script>document.title='RUN'</script>", "<!--<script>", "--></div></article>",
    f"<img src={LINK}/img onerror=\"document.title='RUN'\">", f"<link rel=stylesheet href={LINK}/css><style>@import url({LINK}/css2)</style>",
    f"<iframe src={LINK}/frame srcdoc='<script>parent.document.title=1</script>'></iframe>", f"<meta http-equiv=refresh content='0;url={LINK}/refresh'>",
    f"<form action={LINK}/form><button autofocus onfocus=alert(1)>", "<svg onload=alert(1)><animate onbegin=alert(1)>", "a\u2028b\u2029c", "\u202eevil\u202d \u2066x",
    "\r\nline\rline\n\n  two  blanks\ttab", "\x01\x1b[31m\x7f\x80\x85\x9f", "\ufeff\ufffe\uffff", "\n\nbegins with newlines", "x" * 10000, "&lt;b&gt; &amp; &#65; &nbsp;",
    "<plaintext>", "<textarea>", "<noscript><p>", "<base href=//evil.test/>", "👩‍👩‍👧 نسخة 漢字 e\u0301", "javascript:alert(1)", "the needle is here",
]
roger("init", "-q")
lines = [json.dumps({"from": "amy", "to": "ben", "content": text, "issue": "app"}) for text in TEXTS]
roger("send", "--batch", "-q", given="\n".join(lines) + "\n")
roger("receive", "--as", "ben", "-q")
roger("seal", "--out", "app.seal")
roger("export", "app", "--html", "--seal", "app.seal", "--out", "app.html")
roger("export", "app", "--html", "--out", "bare.html")

seen = browse_file("app.html")
check("texts are what was sent", sorted(seen["bodies"]), sorted(TEXTS))
check("the console has nothing to say", seen["console"], [])
check("no script of theirs ran", seen["title"], "issue app")
check("the seal fits", (seen["result"], seen["results"], seen["verdict"]), ("fits", ["fits", "fits", "fits"], "The seal fits."))
check("everything is shown", (seen["hidden"], seen["found"]), (0, ""))

seen = browse_file("app.html", "#q=Needle%20THE")
check("the search finds", (seen["hidden"], seen["found"]), (len(TEXTS) - 1, f"1 of {len(TEXTS)} messages"))
seen = browse_file("app.html", "#q=nothing-has-this")
check("or does not", (seen["hidden"], seen["found"]), (len(TEXTS), f"0 of {len(TEXTS)} messages"))
seen = browse_file("app.html", "#q=%E0%A4%A")
check("a broken address does no harm", (seen["hidden"], seen["result"]), (0, "fits"))

seen = browse_file("bare.html")
check("without a seal nothing is claimed", (seen["result"], seen["results"], seen["verdict"]), ("unknown", [], "There is no seal: nothing here can be checked."))

# ------------------------------------------------------------------ threads


def send(content, *more):
    return json.loads(roger("send", "--as", "plan", "implement", content, "--json", *more))["messages"][0]["id"]


first = send("add the column", "--issue", "threads")
second = send("done", "--issue", "threads", "--reply-to", first)
send("another thing", "--issue", "threads")
send("thank you", "--issue", "threads", "--reply-to", second)
roger("export", "threads", "--html", "--out", "threads.html")
check("answers follow what they answer", [[a["depth"], a["body"]] for a in browse_file("threads.html")["articles"]],
      [["d0", "add the column"], ["d1", "done"], ["d2", "thank you"], ["d0", "another thing"]])
line = {"issue_id": "ring", "from_phase": "amy", "to_phase": "ben", "run_counter": 1, "message_type": "context", "content": "ring", "metadata": None, "read": False, "created_at": 1795383055066, "read_at": None}
with open(HERE / ".roger/messages.jsonl", "a") as journal:
    for one, other in (("msg-1795383055066-0000000000000001", "msg-1795383055066-0000000000000002"), ("msg-1795383055066-0000000000000002", "msg-1795383055066-0000000000000001")):
        journal.write(json.dumps({"id": one, **line, "reply_to": other}, separators=(",", ":")) + "\n")
    journal.write(json.dumps({"id": "data", **line, "issue_id": "ids"}, separators=(",", ":")) + "\n")
roger("export", "--issue", "ring", "--html", "--out", "ring.html")
check("those in a ring are there, each once", len(browse_file("ring.html")["articles"]), 2)
roger("export", "--issue", "ids", "--html", "--out", "ids.html")
check("a foreign id is not that of an element of the page", [a["id"] for a in browse_file("ids.html")["articles"]], ["m-data"])

# ------------------------------------------------------------------ changed

good = (HERE / "app.html").read_bytes()
assert good.count(b':"the needle is here"') == 1


def changed(name, old, new, expected, results=None):
    assert old in good, old
    (HERE / "changed.html").write_bytes(good.replace(old, new, 1))
    seen = browse_file("changed.html")
    check(f"{name}: {expected}", seen["result"], expected)
    if results:
        check(f"{name}: which of them", seen["results"], results)
    return seen


changed("a text that is shown", b':"the needle is here"', b':"the noodle is here"', "broken", ["fits", "fits", "broken"])
changed("who sent it", b'"from":"amy"', b'"from":"ann"', "broken", ["fits", "fits", "broken"])
changed("a journal line", b"\\\"content\\\":\\\"the needle", b"\\\"content\\\":\\\"the noodle", "broken", ["fits", "broken", "fits"])
changed("whichever comes first", b"an ordinary text", b"an 0rdinary text", "broken")
both = good.replace(b"the needle is here", b"the noodle is here")
(HERE / "changed.html").write_bytes(both)
check("both, wherever they are: broken", browse_file("changed.html")["results"], ["fits", "broken", "fits"])
digit = re.search(rb'"signature":"(.)', good).group(1)
changed("the signature", b'"signature":"' + digit, b'"signature":"' + (b"1" if digit == b"0" else b"0"), "broken", ["broken", "fits", "fits"])
changed("the seal", b'\\"version\\":2', b'\\"version\\":3', "broken", ["broken", "fits", "fits"])
key = re.search(rb'\\"public_key\\":\\"(\w+)', good).group(1)
changed("the key", key + b'\\"', key[::-1] + b'\\"', "broken")
seen = changed("the script", b'"The seal fits."', b'"The seal is fine."', "unknown")
check("then it does not run, and the page says so", seen["verdict"], "Nothing was checked, and nothing is shown: the script of this page did not run.")
check("since the policy forbids it", any("Content Security Policy" in line for line in seen["console"]), True)
seen = changed("a script put in", b'<main id="main">', b"<main id=main><script>document.title='RUN'</script>", "fits")
check("does not run", seen["title"], "issue app")
seen = changed("an image put in", b'<main id="main">', f"<main id=main><img src={LINK}/planted>".encode(), "fits")
check("is not fetched", Server.asked, [])

# Where there is no cryptography.
seen = browse(f"http://plain.test:{PORT}/app.html")
check("a browser that cannot check says so", (seen["result"], seen["results"], seen["verdict"]), ("unknown", ["unknown"], "Not all could be checked."))
check("the page alone was fetched", [path for path in Server.asked if path != "/favicon.ico"], ["/app.html"])

print(f"1..{number}")
sys.exit(1 if failures else 0)
