# runner: timeout 300
# A page that holds a timeline with all its messages as data: exactly their texts, whatever they
# are, nothing from elsewhere, a policy that lets nothing else in, and the proof of its lines.
# What a browser makes of it is seen in tests/browser.
. "$(dirname "$0")/lib.sh"

roger init -q
page() { python3 "$source_dir/tests/cli/lib_page.py" "$1" >"$1.json"; }
of() { json "$2" <"$1.json"; }
bodies='[m["content"] for r in d["data"]["messages"] for m in r["messages"]]'

# ------------------------------------------------------------ a page
first=$(roger send --as plan implement 'add the column' --issue app --json | json 'd["messages"][0]["id"]')
roger claim --as implement --worker w1 -q
second=$(roger send --as implement plan 'done' --issue app --reply-to "$first" --type result --json | json 'd["messages"][0]["id"]')
roger ack --as implement --worker w1 "$first" -q
roger send --as plan implement 'another thing' --issue app -q
roger send --as plan implement 'thank you' --issue app --reply-to "$second" -q
roger send --as plan implement 'of something else' --issue other -q
exits 0 "a page" roger export app --html --out app.html
is "in a file" "$out" ""
check "that can be read" page app.html
is "with each message" "$(of app.html "sorted($bodies)")" '["add the column", "another thing", "done", "thank you"]'
is "as its line has it" "$(of app.html '[[m["from"], m["to"], m["reply_to"]] for r in d["data"]["messages"] for m in r["messages"] if m["content"] == "done"]')" \
	"[[\"implement\", \"plan\", \"$first\"]]"
is "and each event" "$(of app.html 'd["data"]["timeline"]')" "$(roger timeline app --json | json '{k: v for k, v in d.items() if k != "format"}')"
is "a policy with its own script and style, and nothing else" "$(of app.html 'd["policy"]')" true
is "no handlers, no styles in elements" "$(of app.html 'd["handlers"]')" "[]"
is "nothing from elsewhere" "$(of app.html 'd["urls"]')" "[]"
is "its script and style are small" "$(of app.html 'd["own"] < 70000')" true
is "without a seal it holds no lines" "$(of app.html 'sorted(d["data"])')" '["messages", "timeline"]'
unlike "nothing of other issues" "$(cat app.html)" "of something else"
exits 73 "a file that is there is left alone" roger export app --html --out app.html
exits 0 "to standard output" roger export --issue app --html
like "is the page" "$out" "^<!doctype html>"
exits 64 "as what?" roger export app
exits 64 "a page is no JSON" roger export app --html --json
exits 64 "of what?" roger export --html
exits 66 "nothing is known" roger export nosuch --html
exits 64 "a key without a seal" roger export app --html --key x
exits 66 "a seal that is not there" roger export app --html --seal nosuch
echo '{}' >none.seal
exits 65 "that is none" roger export app --html --seal none.seal
roger export app --html --limit 3 >few.html
check "a few" page few.html
is "what the limit leaves out" "$(of few.html 'd["data"]["timeline"]["more"]')" true
for what in "--agent plan" "--task app" "other"; do
	# shellcheck disable=SC2086
	roger export $what --html >any.html 2>/dev/null || continue
	check "of $what" page any.html
done

# ------------------------------------------------------------ a seal
roger seal --out app.seal -q
roger send --as plan implement 'later than the seal' --issue app -q
exits 0 "with a seal" roger export app --html --seal app.seal --out sealed.html
check "can be read" page sealed.html
is "the lines that it shows, and no others" "$(of sealed.html '[[c["file"], c["numbers"]] for c in d["data"]["verified"]["cited"] if c["file"] == "messages.jsonl"]')" \
	'[["messages.jsonl", "1 2 3 4 5 6"]]'
is "as they are" "$(of sealed.html 'd["data"]["verified"]["cited"][0]["lines"][3]')" "$(sed -n 4p .roger/messages.jsonl)"
is "what was signed, and its signature" "$(python3 - sealed.html.json app.seal <<'END'
import json, sys
page, seal = json.load(open(sys.argv[1]))["data"], json.load(open(sys.argv[2]))
print(page["signature"] == seal.pop("signature") and json.loads(page["seal"]) == seal and page["seal"] == json.dumps(seal, separators=(",", ":"), ensure_ascii=False))
END
)" True
is "what roger found" "$(of sealed.html 'd["data"]["verified"]["damaged"]')" 0
like "what is not proved" "$(cat sealed.html)" "whose key it is.*|that nothing is left out"
cp -r . ../damaged.$$ && mv ../damaged.$$ damaged
sed -i '1s/add the column/add the colimn/' damaged/.roger/messages.jsonl
roger --workspace damaged export app --html --seal app.seal >damaged.html 2>/dev/null
check "of what is damaged" page damaged.html
is "damage is named" "$(of damaged.html 'd["data"]["verified"]["damaged"] > 0 and len(d["data"]["verified"]["findings"]) > 0')" true

# ------------------------------------------------------------ texts that want out
cat >hostile.py <<'END'
import json
texts = ["</script><script>alert(1)</script>", "<!--<script>", "-->]]>", "<img src=x onerror=alert(1)>", "&lt;b&gt; &amp; &#65;", "a\u2028b\u2029c",
         "\u202eevil\u202d \u2066x", "\r\nline\rline\n\n  two  blanks\ttab", "\x01\x02\x1b[31m\x7f\x80\x85\x9f", "\ufeff\ufffe\uffff\ufdd0", "\n\nbegins with newlines",
         "x" * 10000, "<plaintext>", "</div></article></main></body></html>", "<svg onload=alert(1)>", "javascript:alert(1)", "{{7*7}} ${7*7} `x`",
         "\"'><iframe srcdoc='<script>alert(1)</script>'>", "\U000e0041\U000e007f tags", "a\u0300" * 500, "<style>*{display:none}</style>", "\u0000".replace("\u0000", "␀")]
json.dump(texts, open("texts.json", "w"))
for text in texts:
    print(json.dumps({"from": "amy", "to": "ben", "content": text, "issue": "hostile", "metadata": {"</script>": "<!--"}}))
END
python3 hostile.py | roger send --batch -q
roger seal --out hostile.seal -q
roger export --issue hostile --html --seal hostile.seal --out hostile.html
check "hostile texts" page hostile.html
is "are data, exactly" "$(python3 - hostile.html.json texts.json <<'END'
import json, sys
page, texts = (json.load(open(name)) for name in sys.argv[1:])
shown = [m["content"] for reply in page["data"]["messages"] for m in reply["messages"]]
print(sorted(shown) == sorted(texts) or [(a, b) for a, b in zip(sorted(shown), sorted(texts)) if a != b][:2])
END
)" True
is "no element is theirs" "$(of hostile.html 'sorted(set(d["tags"]) & set("img iframe plaintext object embed link base form q".split()))')" "[]"
is "nor a policy" "$(of hostile.html 'd["policy"]')" true

# ------------------------------------------------------------ many
i=0
printf 'size_limits:\n  max_messages_per_issue: 10000\n  max_messages_per_issue_phase: 10000\n' >>.roger/config.yaml
while [ $i -lt 3000 ]; do
	i=$((i + 1))
	echo "{\"from\":\"amy\",\"to\":\"ben\",\"content\":\"number $i\",\"issue\":\"many\"}"
done | roger send --batch -q
roger export --issue many --html >many.html
check "many messages" page many.html
is "are the last 2,000" "$(of many.html "len($bodies), 'number 1001' in $bodies, 'number 1000' in $bodies")" '[2000, true, false]'
done_testing
