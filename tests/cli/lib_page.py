"""Read an exported page: lib_page.py FILE prints what a browser would make of it, as JSON."""
import base64
import hashlib
import html.parser
import json
import re
import sys

VOID = {"meta", "input", "br", "img"}
# HTML allows these to be closed by what follows.
LOOSE = {"th"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.path, self.tags, self.attributes, self.articles, self.styles, self.scripts = [], set(), set(), [], [], []
        self.policy, self.data, self.urls = "", "", []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.tags.add(tag)
        self.attributes |= set(attrs)
        self.urls += [v for k, v in attrs.items() if k in ("href", "src", "action", "data", "xlink:href")]
        if attrs.get("http-equiv") == "Content-Security-Policy":
            self.policy = attrs["content"]
        if tag in VOID:
            return
        if tag in LOOSE and self.path and self.path[-1][0] == tag:
            self.path.pop()
        self.path.append((tag, attrs))
        if tag == "article":
            self.articles.append({"id": attrs["id"], "depth": attrs["class"], "body": ""})

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        while self.path and self.path[-1][0] in LOOSE and self.path[-1][0] != tag:
            self.path.pop()
        assert self.path and self.path[-1][0] == tag, (tag, self.path, self.getpos())
        self.path.pop()

    def handle_data(self, data):
        tag, attrs = self.path[-1] if self.path else ("", {})
        if tag == "style":
            self.styles.append(data)
        elif tag == "script" and attrs.get("type") == "application/json":
            self.data += data
        elif tag == "script":
            self.scripts.append(data)
        if self.articles and any(a.get("class") == "text" for _, a in self.path):
            self.articles[-1]["body"] += data


def read(path):
    page = Page()
    text = open(path, encoding="utf-8", newline="").read()
    page.feed(text)
    page.close()
    assert not page.path, page.path
    return page, text


def main():
    page, text = read(sys.argv[1])
    digests = ["'sha256-%s'" % base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in page.scripts + page.styles]
    policy = f"default-src 'none'; script-src {digests[0]}; style-src {digests[1]}; base-uri 'none'; form-action 'none'"
    print(json.dumps({
        "policy": page.policy == policy and len(digests) == 2,
        "tags": sorted(page.tags),
        "handlers": sorted(a for a in page.attributes if a.startswith("on") or a == "style"),
        "urls": sorted(u for u in page.urls if not u.startswith("#")),
        "data": json.loads(page.data),
        "bytes": len(text),
        "own": len(page.scripts[0]) + len(page.styles[0]),
    }))


if __name__ == "__main__":
    main()
