#!/bin/sh
# One history from all logs: what happened, in its order, with the evidence;
# drawn as Mermaid, whatever names and words hold, with the beginnings of
# the texts; otherwise never any content.
# runner: timeout 300
. "$(dirname "$0")/lib.sh"

roger init -q
cat >>.roger/config.yaml <<'END'
retries:
  max_attempts: 3
  after: 0
size_limits:
  max_messages_per_issue: 10000
  max_messages_per_issue_phase: 10000
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
roger log cycle new -q
roger dispatch r1 --as alice --child bob --issue app --within 5m -q
roger complete r1 --as bob --result 'PLANTED result' -q
roger receive --as alice -q
roger runs forward r1 -q
roger log app --type FILE_WRITE --message 'wrote it' -q

exits 0 "the history of an issue" roger timeline app
like "says what it is" "$out" "^issue app, [0-9]+ events"
like "who, what, when, where" "$out" "sent +alice -> bob +#2 PLANTED two, key app:status-update:1 +messages.jsonl:2$"
is "what was sent only for people" "$(roger timeline app --json | grep -c PLANTED)" 0
like "a result says that it is one" "$out" "sent +(bob|run) -> [a-z]+ +#[0-9]+ result: PLANTED result"
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
like "of any kind" "$err" "nothing is known of any issue, task, run or agent 'nosuch'"
exits 64 "of what?" roger timeline
exits 64 "one of them" roger timeline app --agent bob
exits 64 "one form" roger timeline app --json --mermaid
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
like "an arrow for a message, and when it was read" "$(cat app.mmd)" "^    p0->>p1: alice#35;1 PLANTED one \\(context #183; read after "
like "a timeout is crossed out" "$(cat app.mmd)" "^    p1--xp2: timeout bob#35;1: attempt 1 of 3"

# ------------------------------------------------------------ claims, lapses, kills, gaps
say --as alice zoe 'the first task' --issue claims
roger claim --as zoe --worker w1 --lease 50ms -q
roger wait --as zoe --timeout 10s -q
id=$(roger claim --as zoe --worker w2 --json | json 'd["messages"][0]["id"]')
roger nack --as zoe --worker w2 "$id" -q
roger claim --as zoe --worker w3 -q
roger ack --as zoe --worker w3 "$id" -q
roger timeline claims --mermaid >claims.mmd
for words in 'claimed alice#35;5 \(w1\)' 'lease_expired alice#35;5: the lease of w1 expired' 'returned alice#35;5 \(w2\)' 'acknowledged alice#35;5 \(w3\)'; do
	like "who claimed, gave back, fell silent and was done: $words" "$(cat claims.mmd)" "^    Note over p1: $words"
done
unlike "workers are no agents" "$(cat claims.mmd)" "participant p[0-9]+ as w1"
roger run --run killed --issue kills --as zoe --within 1m -q -- sh -c 'kill -9 $$' >/dev/null 2>&1
like "a child that was killed" "$(roger timeline --issue kills --mermaid)" "^    Note over p[0-9]: run killed: .*killed"
say --as alice yan 'before' --issue gap
sed 's/"id":"msg-\([0-9]*\)/"id":"msg-1\1/; s/"created_at":[0-9]*/"created_at":1700000000000/; s/,"chain":.*/}/' .roger/messages.jsonl | grep '"issue_id":"gap"' >line
cat line >>.roger/messages.jsonl
like "a gap is marked" "$(roger timeline gap --mermaid)" "^    Note over p0,p1: #8230; [0-9]+d [0-9]+h #8230;"

# ------------------------------------------------------------ from 10 to 5,000
batch() { # ISSUE COUNT
	i=0
	while [ $i -lt "$2" ]; do
		i=$((i + 1))
		echo "{\"from\":\"agent-$((i % 7))-with-quite-a-long-name-for-a-lane\",\"to\":\"agent-$(((i + i / 7 + 1) % 7))\",\"content\":\"PLANTED $i, with a text that is too long to be shown, 漢字 and e\u0301\",\"issue\":\"$1\"}"
	done >lines
	# In parts, of which each has an instant of its own.
	split -a 4 -l 30 lines part.
	for part in part.*; do
		roger send --batch -q <"$part"
		rm "$part"
	done
}
batch ten 10
batch thousands 5000
roger timeline ten --mermaid >ten.mmd
check "ten messages are valid" python3 mermaid.py ten.mmd
like "and readable" "$(cat ten.mmd)" "agent-1.*#8230;.*PLANTED|agent-1-with-quite-a-long-name-for-a-lane#35;1 PLANTED"
unlike "and all of them" "$(cat ten.mmd)" "the earlier ones"
roger timeline thousands --limit 100000 --mermaid >big.mmd
check "as mermaid" python3 mermaid.py big.mmd
check "which viewers show" test "$(wc -m <big.mmd)" -lt 50000
like "and it says so" "$(cat big.mmd)" "^    Note over p0: the last [0-9]+ of 5000 events#59; the earlier ones: roger timeline --issue thousands --until "
like "so it does of what the limit leaves out" "$(roger timeline thousands --limit 1000 --mermaid)" "of more than 1000 events"
eval "$(grep -o 'roger timeline --issue thousands --until .*' big.mmd | head -n 1)" >earlier.mmd
check "the command shows what comes before" python3 mermaid.py earlier.mmd
is "and no event is in both" "$(grep -ho 'PLANTED [0-9]*' big.mmd earlier.mmd | sort | uniq -d)" ""
last=$(grep -o 'PLANTED [0-9]*' earlier.mmd | tail -n 1)
is "nor in neither" "PLANTED $((${last#* } + 1))" "$(grep -o 'PLANTED [0-9]*' big.mmd | head -n 1)"

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
unlike "no markup" "$(cat bad.mmd)" "<script|<i>|<a |<b>"
roger timeline bad >bad.txt
is "no control characters for people" "$(LC_ALL=C tr -d '\n[:print:]\200-\377' <bad.txt | wc -c)" 0
unlike "nothing that turns the reading order" "$(cat bad.txt)" "$(printf '\342\200\256')"

cat >hostile.py <<'END'
import json
texts = ["</text></svg><script>alert(1)</script>", "]]>&amp;&#0;<!-- ", "\u202eright to left\u2066", "a\u0300" + "\u0301" * 3000, "x" * 9000,
         "\ufdfd" * 60, "\U0001f468\u200d\U0001f469" * 40, "\u2028\u2029\ufffe\uffff\ufeff", "\x01\x1b[31m\x7f\x85", "end\nend; %% --> p0", "நிநிநிநி" * 40]
for i, text in enumerate(texts):
    print(json.dumps({"from": "amy", "to": "ben", "content": text, "issue": "worse"}))
END
python3 hostile.py | roger send --batch -q
roger timeline worse --mermaid >worse.mmd
check "texts that want out" python3 mermaid.py worse.mmd

# ------------------------------------------------------------ content
for form in --json --jsonl; do
	for what in app big bad r1 "--agent bob" "--agent alice" "--issue held" "--issue old"; do
		# shellcheck disable=SC2086
		roger timeline $what $form
	done
done >all 2>&1
is "no content in what programs read" "$(grep -c PLANTED all)" 0
done_testing
