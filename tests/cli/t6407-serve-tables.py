#!/usr/bin/env python3
# runner: timeout 300
"""Tables without script: every verb has a page, every link of a page leads somewhere, and no text of
anybody is anything but text."""
import html.parser
import random
import unicodedata
import urllib.parse

from lib_serve import *

random.seed(7)
TAGS = {
    "html", "head", "meta", "title", "link", "body", "nav", "main", "h1", "p", "a", "table", "caption", "tr", "th", "td", "form", "label", "input",
    "select", "option", "button", "details", "summary", "time", "pre", "b", "code",
}
ATTRIBUTES = {
    "lang", "charset", "name", "content", "rel", "href", "method", "action", "value", "title", "selected", "scope", "datetime", "autocomplete", "required",
}
EMPTY = {"meta", "link", "input"}


class Page(html.parser.HTMLParser):
    """What a browser makes of it: cells, links, values of inputs; and what is not as it should be."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.wrong, self.links, self.values, self.cells, self.words, self.fresh = [], [], [], [], [], "", False
        self.feed(text)
        self.close()
        self.wrong += [f"{tag} is not closed" for tag in self.open]

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS or not {name for name, _ in attributes} <= ATTRIBUTES:
            self.wrong.append((tag, attributes))
        given = dict(attributes)
        if tag not in EMPTY:
            self.open.append(tag)
        if "href" in given:
            self.links.append(given["href"])
        if tag == "input":
            self.values.append((given["name"], given.get("value")))
        if tag == "td":
            self.cells.append("")
        # A browser drops the line end that a <pre> begins with.
        self.fresh = tag == "pre"

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}>")

    def handle_data(self, data):
        if self.fresh:
            data, self.fresh = data.removeprefix("\n"), False
        self.words += data
        if self.cells and "td" in self.open:
            self.cells[-1] += data

    def handle_comment(self, data):
        self.wrong.append(("comment", data))

    handle_pi = unknown_decl = handle_comment


server = Server()
POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
MODE = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


def page(path, status=200, accept=MODE):
    got, headers, body = server.get(path, headers=accept)
    one = Page(body.decode())
    if got != status or one.wrong or headers["Content-Type"] != "text/html; charset=utf-8" or headers["Content-Security-Policy"] != POLICY:
        check(f"the page at {path} is well", False, (got, one.wrong, headers.items(), body[:300]))
    return one


def send(content, **more):
    return server.post("/v1/send", {"from": "al", "to": "bob", "content": content, **more})[2]["messages"][0]["id"]


# ------------------------------------------------------------- a page for every verb

ids = [send(f"number {i}", issue="app/x") for i in range(7)]
roger("dispatch", "run-1", "--as", "lead", "--within", "1h")
roger("log", "--as", "al", "--type", "TOOL_EXEC", "hello")
document = server.get("/openapi.json")[2]
verbs = [path[4:] for path in document["paths"]]
GIVEN = {"show": f"ids={ids[0]}", "trace": f"ids={ids[0]}", "thread": f"id={ids[0]}", "inbox": "agent=bob", "wait": "agent=bob&timeout=1ms", "prime": "agent=bob",
         "timeline": "what=app/x", "arrive": "agent=bob&session=s"}
pages = {verb: page(f"/v1/{verb}?{GIVEN.get(verb, '')}") for verb in verbs}
check("every verb has one", len(pages) > 40, len(pages))
index = page("/v1/")
equal("and they are listed", set(verbs) - {link[4:] for link in index.links}, set())
seen, dead, ahead = set(), [], ["/v1/", f"/v1/messages/{ids[0]}", f"/v1/threads/{ids[0]}", "/v1/runs/run-1"]
while ahead and len(seen) < 120:
    link = ahead.pop()
    if link in seen:
        continue
    seen.add(link)
    status, headers, body = server.get(link, headers=MODE)
    # Without what it needs a verb shows the form for it.
    if status != 200 and not (status == 400 and b"<form" in body):
        dead.append((link, status))
    if headers["Content-Type"].startswith("text/html"):
        one = Page(body.decode())
        dead += [(link, fault) for fault in one.wrong]
        ahead += sorted(set(one.links) - seen)
equal(f"every link leads somewhere ({len(seen)} followed)", dead, [])
check("a style comes from here", server.get("/table.css")[1]["Content-Type"].startswith("text/css"))
equal("the same address as JSON", server.get("/v1/list")[2]["messages"][0]["id"], ids[0])
equal("which is what takes anything", server.get("/v1/list", headers={"Accept": "*/*"})[1]["Content-Type"], "application/json")
equal("and what names it before a page", server.get("/v1/list", headers={"Accept": "application/json, text/html"})[1]["Content-Type"], "application/json")
equal("a form says where it comes from", server.get("/login", headers=MODE)[1]["Referrer-Policy"], "same-origin")
equal("and one is not taken for the other", server.get("/v1/list", headers=MODE)[1]["Vary"], "Accept")

check("a page of somebody's mail is no look of that one", '"step":"looked"' not in roger("trace", ids[0], "--json").stdout)

# ------------------------------------------------------------------- page by page

link, found, count = "/v1/list?issue=app%2Fx&limit=3&from=", [], 0
while link:
    one = page(link)
    count += 1
    found += [cell for cell in one.cells if cell in ids]
    link = next((one.links[i] for i in range(len(one.links)) if "after=" in one.links[i]), None)
check("a list goes on with the same question", count == 3 and sorted(set(found)) == sorted(ids), (count, found))
equal("how many there are is said", page("/v1/list?limit=2").cells[2], "7")
equal("or that nobody knows", page("/v1/list?limit=2&from=al").cells[2], "unknown")
first = page("/v1/list")
check("rows have a bound", dict(first.values)["limit"] == "100", first.values)
equal("a form says what was asked", dict(page("/v1/list?to=bob&since=2020-01-01T00:00:00Z&limit=5").values).items() >= {"to": "bob", "since": "2020-01-01T00:00:00.000Z", "limit": "5"}.items(), True)
asked = page(f"/v1/show?ids={ids[0]}&ids={ids[1]}&agent=")
equal("what may be repeated is, and one more", [value for name, value in asked.values if name == "ids"], [ids[0], ids[1], ""])

# ------------------------------------------------------------------- errors are pages

for path, status, words in (("/v1/nope", 404, "no verb"), ("/v1/show", 400, "ids is required"), ("/v1/messages/none", 404, "none"), ("/v1/list?limit=x", 422, "limit"), ("/nope", 404, "no such path")):
    check(f"{path}: {status}, as a page", words in page(path, status).words)
equal("and problems for programs", server.get("/v1/nope")[1]["Content-Type"], "application/problem+json")

# -------------------------------------------------------------- much is not all

for half in ("one", "two", "three"):
    server.post("/v1/send_many", {"from": "al", "items": [{"to": [f"many-{half}-{i}"], "content": "x", "issue": half, "new": True} for i in range(400)]})
many = page("/v1/agents")
check("a table has its bound, too", len([cell for cell in many.cells if cell.startswith("many")]) <= 1000 and "and 202 more" in many.words, many.words[-60:])

# -------------------------------------------------------------- text stays text


def steers(c):
    """Controls, and what reorders or hides a line: of Unicode's own tables."""
    return (unicodedata.category(c) == "Cc" and c not in "\n\t") or unicodedata.bidirectional(c) in (
        "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI",
    ) or 0xE0000 <= ord(c) <= 0xE007F or c in "\u2028\u2029"


def shown(text):
    return "".join(f"U+{ord(c):04X}" if steers(c) else c for c in text)


(WORKSPACE / ".roger" / "config.yaml").write_text("size_limits:\n  max_content_length: 200000\n")
server.end()
server = Server()
every = [chr(c) for c in range(1, 0x110000) if not 0xD800 <= c < 0xE000]
wrong = []
for at in range(0, len(every), 100000):
    text = "\n" + "".join(every[at : at + 100000])
    one = page(f"/v1/messages/{send(text)}")
    if shown(text) not in one.cells:
        cell = max(one.cells, key=len)
        place = next((i for i, (a, b) in enumerate(zip(shown(text), cell)) if a != b), min(len(cell), len(shown(text))))
        wrong.append((hex(at), place, shown(text)[place : place + 20], cell[place : place + 20]))
equal(f"each of the {len(every)} characters comes as itself, or as its number", wrong, [])
PIECES = ["<", ">", "&", '"', "'", "</td>", "</pre>", "<pre>", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<!--", "-->", "]]>", "<![CDATA[", "&lt;", "&amp", "&#x3c;",
          "&#60", "javascript:", "\u202e", "\u2066", "\n", "\t", " ", "\\", "\x1b[31m", "\x00"[:0], "é", "😀", "a", "</title>", "<svg/onload=alert(1)>", "{{7*7}}", "` onfocus=alert(1) x=`", "\r\n"]
wrong = []
for _ in range(60):
    text = "x" + "".join(random.choices(PIECES, k=random.randrange(1, 12)))
    number = send(text, metadata={"text": text})
    for path in (f"/v1/messages/{number}", f"/v1/list?newest=true&limit=2", f"/v1/list?limit=1&text={urllib.parse.quote(text)}&after=", f"/v1/show?ids={urllib.parse.quote(text)}"):
        status, headers, body = server.get(path, headers=MODE)
        one = Page(body.decode())
        if one.wrong or b"<script" in body or status == 500:
            wrong.append((path, text, one.wrong))
        if path.startswith("/v1/list?newest") and shown(text) not in one.cells or "text=" in path and status == 200 and ("text", shown(text)) not in one.values:
            wrong.append((path, text, one.cells, one.values))
equal("whatever stands in a message, its metadata or a question", wrong, [])
equal("it ends well", server.end(), (0, ""))
done()
