#!/bin/sh
# One history from all logs: what happened, in its order, with the evidence;
# drawn as Mermaid and as SVG, whatever names and words hold; never any content.
. "$(dirname "$0")/lib.sh"

roger init -q
cat >>.roger/config.yaml <<'END'
retries:
  max_attempts: 3
  after: 0
END
say() { roger send "$@" >/dev/null 2>&1; }
kinds() { roger timeline "$@" --json | json '" ".join(e["kind"] for e in d["events"])'; }

# ------------------------------------------------------------ a story
say --as alice bob 'PLANTED one' --issue app
say --as alice bob 'PLANTED two' --issue app --key app:status-update:1
say --as alice bob 'PLANTED two' --issue app --key app:status-update:1
exits 77 "a conflict" roger send --as alice bob 'PLANTED three' --issue app --key app:status-update:1
roger receive --as bob -q
for _ in 1 2 3; do
	say --as bob carol 'PLANTED four' --issue app --key app:escalation:1 --confirm read --within 50ms
done
roger receive --as carol -q
roger cycle new -q
roger dispatch r1 --as alice --child bob --issue app --within 5m -q
roger complete r1 --as bob --result 'PLANTED result' -q
roger receive --as alice -q
roger forward r1 -q
roger log app --type FILE_WRITE --message 'wrote it' -q

exits 0 "the history of an issue" roger timeline app
like "says what it is" "$out" "^issue app, [0-9]+ events"
like "who, what, when, where" "$out" "sent +alice -> bob +#2 context, 11 bytes, key app:status-update:1 +messages.jsonl:2$"
like "a dead letter with its cause" "$out" "dead_letter +bob -> carol +given up after 3 attempts: not read in time, dl-[0-9a-f]+ +dead-letters.jsonl:1$"
is "in its order" "$(kinds app)" "sent sent delivered activity activity read read sent timeout timeout timeout dead_letter read late cycle dispatched sent delivered completed run_note read forwarded run_note activity"
is "each with its evidence" \
	"$(roger timeline app --json | json '[e["kind"] for e in d["events"] if e["kind"] not in ("read",) and "file" not in e]')" "[]"
is "which is there" "$(roger timeline app --json | json 'sorted({e["file"] for e in d["events"] if "file" in e})' | tr -d '[]",' )" \
	"cycles.jsonl dead-letters.jsonl logs/activity.log.jsonl messages.jsonl send-log/alice.jsonl send-log/bob.jsonl state/subagent-delivery-watchdog/r1.json"
is "instants go up" "$(roger timeline app --json | json 'd["events"] == sorted(d["events"], key=lambda e: e["at"])')" true
is "participants as they come up" "$(roger timeline app --json | json '" ".join(d["agents"])')" "alice bob carol"
like "a duplicate that was skipped" "$(roger timeline app)" "activity +alice +roger send: skipped as a duplicate"
is "by task" "$(roger timeline --task app --json | json 'sum(e["kind"] == "sent" for e in d["events"])')" 2
is "a run" "$(kinds r1)" "dispatched sent delivered completed run_note read forwarded run_note"
is "an agent" "$(roger timeline carol --json | json 'd["subject"], " ".join(e["kind"] for e in d["events"])')" \
	'["agent", "sent timeout timeout timeout dead_letter read late"]'
is "the last ones" "$(roger timeline app --limit 2 --json | json 'len(d["events"]), d["more"]')" '[2, true]'
is "a time" "$(kinds app --since 2090-01-01)" ""
exits 1 "without any event" roger timeline app --since 2090-01-01
is "roger's own notes, too" "$(roger timeline app --own --json | json 'sum(e["kind"] == "activity" for e in d["events"]) > 5')" true
exits 66 "nothing is known" roger timeline nosuch
exits 64 "of what?" roger timeline
exits 64 "one of them" roger timeline app --agent bob
exits 64 "one form" roger timeline app --svg --mermaid
say --as app alice hello
like "a name that is two things" "$(roger timeline app 2>&1)" "note: 'app' is an issue, too: --issue"
is "and which is meant" "$(roger timeline --issue app --json | json 'd["subject"]')" issue

# ------------------------------------------------------------ an archive, a lease, a wait
say --as alice dave 'PLANTED five' --issue old
roger receive --as dave -q
roger archive --issue old --reason 'of no use' -q
is "archived messages stay in it" "$(kinds --issue old)" "sent read archived"
say --as alice erin 'PLANTED six' --issue held
roger claim --as erin --worker w1 -q
like "a lease" "$(roger timeline held)" "due +erin <- alice +#[0-9]+ claimed by w1, until then"

# ------------------------------------------------------------ drawings
roger timeline --issue app --mermaid >app.mmd
is "mermaid" "$(head -n 1 app.mmd)" sequenceDiagram
cat >mermaid.py <<'END'
import re, sys
word = r"(?:[A-Za-z0-9 .,_\-:@/()']|#\d+;)"
lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
assert lines[0] == "sequenceDiagram" and lines[-1] == ""
known = set()
for line in lines[1:-1]:
    made = re.fullmatch(rf"    participant (p\d+) as {word}+", line)
    drawn = re.fullmatch(rf"    (?:(p\d+)(?:->>|-->>|--x)(p\d+)|Note over (p\d+)(?:,(p\d+))?): {word}+", line)
    assert made or drawn, line
    assert not re.search(r"\bend\b", line, re.I), line
    if made:
        known.add(made.group(1))
    else:
        assert {p for p in drawn.groups() if p} <= known, line
END
check "is valid" python3 mermaid.py app.mmd
like "an arrow for a message, and when it was read" "$(cat app.mmd)" "^    p0->>p1: #35;1 context, read after "
like "a timeout is crossed out" "$(cat app.mmd)" "^    p1--xp2: timeout: attempt 1 of 3"
cat >svg.py <<'END'
import sys
import xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()
ns = "{http://www.w3.org/2000/svg}"
assert root.tag == ns + "svg"
width, height = float(root.get("width")), float(root.get("height"))
assert {e.tag for e in root.iter()} <= {ns + t for t in ("svg", "rect", "text", "title", "line", "path", "circle")}
assert not any("href" in a or a.startswith("on") for e in root.iter() for a in e.attrib)
boxes = []
for text in root.findall(ns + "text"):
    size = float(text.get("font-size", 11))
    shown = (text.text or "") + "".join(c.tail or "" for c in text)
    x, y, span = float(text.get("x")), float(text.get("y")), len(shown) * size * 0.602
    x -= span / 2 if text.get("text-anchor") == "middle" else 0
    assert x >= 0 and x + span <= width + 1 and size <= y <= height, (shown, x, y)
    boxes.append((x, y - size * 0.8, x + span, y + 2, shown))
for i, a in enumerate(boxes):
    for b in boxes[i + 1:]:
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)
END
roger timeline --issue app --svg >app.svg
check "svg is valid, and no label lies on another" python3 svg.py app.svg
like "a timeout is dashed and red" "$(cat app.svg)" 'stroke="#cf222e" stroke-dasharray'
is "names at top and bottom" "$(grep -c '</title>alice</text>' app.svg)" 2

i=0
while [ $i -lt 200 ]; do
	i=$((i + 1))
	echo "{\"from\":\"agent-$((i % 7))-with-quite-a-long-name-for-a-lifeline\",\"to\":\"agent-$(((i + i / 7 + 1) % 7))\",\"content\":\"PLANTED $i\",\"issue\":\"big\"}"
done | roger send --batch -q
roger timeline big --svg >big.svg
check "200 messages are readable" python3 svg.py big.svg
roger timeline big --mermaid >big.mmd
check "as mermaid" python3 mermaid.py big.mmd

# ------------------------------------------------------------ hostile words
say --as end participant x --issue bad --key 'bad:<script>;"&]]>:end'
roger archive --issue old --reason x -q 2>/dev/null
roger dispatch run-bad --as end --child p0 --issue bad -q
sed 's/"childSessionKey": "p0"/"childSessionKey": "<b>\&amp;;end\\u0000"/; s/"notes": \[\]/"notes": ["2026-01-01T00:00:00Z <script>alert(1)<\/script>; end\\n%% \\u001b[31m \\u202e #x"]/' \
	.roger/state/subagent-delivery-watchdog/run-bad.json >b.json
sed -i 's/\\u0000/\\u0001/' b.json
cp b.json .roger/state/subagent-delivery-watchdog/run-bad.json
roger log bad --type FILE_READ --details '{"tool":"roger","verb":"<i>\n;end","agent":"<a href=x>\u0007&"}' \
	--message '</text><script>;end %% --> Note over' --evidence '"><x' -q
roger timeline bad --mermaid >bad.mmd
check "as mermaid" python3 mermaid.py bad.mmd
roger timeline bad --svg >bad.svg
check "as svg" python3 svg.py bad.svg
unlike "no markup" "$(cat bad.svg)" "<script|<i>|<a |<b>"
roger timeline bad >bad.txt
is "no control characters for people" "$(LC_ALL=C tr -d '\n[:print:]\200-\377' <bad.txt | wc -c)" 0
unlike "nothing that turns the reading order" "$(cat bad.txt)" "$(printf '\342\200\256')"

# ------------------------------------------------------------ content
for form in "" --json --jsonl --mermaid --svg --own; do
	for what in app big bad r1 "--agent bob" "--agent alice" "--issue held" "--issue old"; do
		# shellcheck disable=SC2086
		roger timeline $what $form
	done
done >all 2>&1
is "no content anywhere" "$(grep -c PLANTED all)" 0
done_testing
