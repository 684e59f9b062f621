#!/bin/sh
# What steers a terminal or turns reading round is neutralised for people and
# escaped but intact in JSON; colours come only where they are wanted.
. "$(dirname "$0")/lib.sh"

roger init -q
python3 - >hostile.json <<'END'
import json
hostile = ("\x1b[2J\x1b]0;title\x07 \x9b31m \x7f \x08\r over \u202eright-to-left\u202c \u2066x\u2069 \u200b\u200e\ufeff"
           " \u2028\u2029 \U000e0041 tab\tand\nline \U0001f468\u200d\U0001f469\u200d\U0001f467 \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645")
json.dump({"to": ["bob"], "content": hostile, "metadata": {"k": hostile}}, open("message.json", "w"))
open("hostile", "w", newline="").write(hostile)
END
check "hostile text is sent as it is" sh -c '"$ROGER" send --as eve --batch -q <message.json'
id=$(roger list --jsonl | json 'd["id"]')

# The bytes that must not come out, wherever the text is printed for people.
harmless() { # NAME COMMAND...
	_name=$1
	shift
	"$@" >harm 2>&1
	python3 - <<'END'
import sys, unicodedata
text = open("harm", newline="", encoding="utf-8").read()
bad = [c for c in text if c not in "\n\t" and (unicodedata.category(c) == "Cc" or 0xe0000 <= ord(c) < 0xe0080
       or unicodedata.bidirectional(c) in ("LRE", "LRO", "RLE", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"))]
print("#", [hex(ord(c)) for c in bad]) if bad else None
sys.exit(bool(bad))
END
	result $? "$_name prints nothing harmful"
}
harmless inbox roger inbox --as bob
like "but shows what was there" "$(cat harm)" "<U\+001B>\[2J.*<U\+202E>right-to-left"
like "joiners stay" "$(cat harm)" "$(printf '\360\237\221\250\342\200\215\360\237\221\251\342\200\215\360\237\221\247 \331\205\333\214\342\200\214')"
harmless list roger list
harmless search roger list over
harmless show roger show "$id"
harmless thread roger show --thread "$id"
harmless "inbox --json" roger inbox --as bob --json
harmless "list --jsonl" roger list --jsonl
check "JSON is without what cannot be seen" python3 -c '
import sys, unicodedata
sys.exit(any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c != "\n" for c in open("harm", newline="", encoding="utf-8").read()))'
harmless claim roger claim --as bob
harmless receive roger receive --as bob
harmless "an error about an option" roger list "$(printf -- '--\033[2J')"
harmless "an error about a command" roger "$(printf '\033[2J\302\233')"
harmless "an error about a word" roger list --count "$(printf '\033[2J')"
harmless "an error about a name" roger inbox --as "$(printf '\033[2J')"
harmless "an error about a file" roger send --as a b --file "$(printf '\033[2J')"
harmless "an error about a folder" roger --workspace "$(printf '/\033[2J')" stats
harmless "an error about an id" roger show "$(printf '\033[2J')"
harmless "an error about a type" roger list --type "$(printf '\033[2J')"
harmless "an error about JSON" roger send --as a b x --metadata "$(printf '{\033')"
harmless "an error of a command with --json" roger show "$(printf '\033[2J')" --json
harmless "an unknown command with --json" roger "$(printf '\033[2J')" --json
mkdir "$(printf 'a\033[2Jb')"
harmless "a folder's name" roger init "$(printf 'a\033[2Jb')"
harmless "a folder's name again" roger --workspace "$(printf 'a\033[2Jb')" config show
printf 'groups:\n  workers: ["\\e[2J"]\n' >.roger/config.yaml
harmless "an error about the configuration" roger report stats
: >.roger/config.yaml
printf '{"id":"x\\u001b[2J","issue_id":"\\u202ei","from_phase":"\\u001b[2J","to_phase":"bob","run_counter":1,"message_type":"context","content":"c","metadata":null,"read":false,"created_at":1,"read_at":null}\n' >>.roger/messages.jsonl
harmless "verify of another program's line" roger verify
harmless "inbox of another program's names" roger inbox --as bob
harmless "agents of another program's names" roger agents

is "JSON holds the text intact" "$(roger show "$id" --json | python3 -c '
import json, sys
m = json.load(sys.stdin)["messages"][0]
print(m["content"] == open("hostile", newline="").read() == m["metadata"]["k"])')" True

# Colours.
escape=$(printf '\033')
unlike "no colours in a pipe" "$(roger agents)" "$escape"
like "--color always" "$(roger agents --color always)" "$escape"
unlike "--color never" "$(CLICOLOR_FORCE=1 roger agents --color never)" "$escape"
unlike "NO_COLOR" "$(NO_COLOR=1 CLICOLOR_FORCE=1 roger agents)" "$escape"
in_terminal() { # COMMAND
	TERM=xterm script -qec "$1" /dev/null </dev/null
}
# A bare chroot has no pseudo-terminals.
if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
	like "colours on a terminal" "$(in_terminal "'$ROGER' agents")" "$escape"
	unlike "but not with NO_COLOR" "$(NO_COLOR=1 in_terminal "'$ROGER' agents")" "$escape"
	for i in 1 2 3; do
		roger send --as plan bob "once more" --key late:escalation:1 --confirm read --within 1ms 2>/dev/null
	done
	letter=$(roger dead --json | json 'd["dead_letters"][0]["id"]')
	said=$(in_terminal "'$ROGER' dead redeliver $letter --within 1ms")
	like "a command that waits by itself says so" "$said" "waiting until it is read"
	like "and does not advise itself" "$said" "roger why msg-"
	# Work of more than a second: it is stopped for one after its beginning was stored.
	mkdir slowly && (cd slowly && roger init -q)
	awk 'BEGIN { for (i = 0; i < 50000; i++) printf "{\"to\":[\"bob%d\"],\"issue\":\"i%d\",\"content\":\"x\"}\n", i, i / 200 }' >slowly/batch
	cat >slowly/work <<-END
		cd slowly
		'$ROGER' send --batch --as amy \$1 <batch &
		until [ "\$(wc -c <.roger/messages.jsonl)" -gt "\$2" ]; do kill -0 \$! || break; done
		kill -STOP \$!
		sleep 1.1
		kill -CONT \$!
		wait
	END
	like "long work says how far it is on a terminal" "$(in_terminal "sh slowly/work -- 0")" "send: .* of .*B, .*B/s, .* left"
	unlike "but not with --quiet" "$(in_terminal "sh slowly/work --quiet $(wc -c <slowly/.roger/messages.jsonl)")" "left"
	unlike "and short work does not" "$(in_terminal "'$ROGER' rebuild")" "left"
fi
unlike "nor anything elsewhere" "$(roger doctor rebuild 2>&1)" "left"

# A pipe that is closed, a disk that is full.
python3 -c '
for i in range(400):
    print("{\"to\":[\"many\"],\"issue\":\"%d\",\"content\":\"%s\"}" % (i // 50, "x" * 2000))' | roger send --as plan --batch -q
roger list --json 2>pipe-error | head -c 10 >/dev/null
is "a closed pipe is no crash" "$(cat pipe-error)" ""
run sh -c '"$ROGER" list >/dev/full'
is "a full disk is told" "$status" 74
like "in one line" "$err" "^roger: write to standard output"

# ------------------------------------------------------------ line ends of other systems
rm -rf .roger && roger init -q
printf 'one\r\ntwo\rover\r\n\r\nthree\r' >crlf
roger send bob --as eve --file crlf -q
id=$(roger list --jsonl | json 'd["id"]')
shown='one|two<U+000D>over||three<U+000D>|'
is "CR LF ends a line, CR alone is shown" "$(roger show "$id" --color never | grep -A9 one | sed 's/^ *//' | tr '\n' '|')" "$shown"
is "to a model, too" "$(roger prime --as bob | grep '^>' | sed 's/^> //' | tr '\n' '|')" "$shown"
wire='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"inbox","arguments":{}}}'
is "a tool's JSON keeps each byte" "$(printf '%s\n' "$wire" | roger mcp --as bob | tail -n 1 | json 'd["result"]["structuredContent"]["messages"][0]["content"] == "one\r\ntwo\rover\r\n\r\nthree\r"')" true
python3 - "$ROGER" "$id" <<'END'
import json, subprocess, sys
out = json.loads(subprocess.run([sys.argv[1], "show", sys.argv[2], "--json"], capture_output=True).stdout)
sys.exit(out["messages"][0]["content"] != "one\r\ntwo\rover\r\n\r\nthree\r")
END
result $? "what is stored, and --json, keep each byte"
cut=""
for size in 0 1 2 3 4 5 6 7 8 9 10; do
	python3 -c 'import sys; sys.stdout.write("x" * int(sys.argv[1]) + "\r\n" * 4000)' $size >long
	roger send "cut$size" --as eve --file long -q 2>/dev/null
	cut="$cut$(roger prime --as "cut$size" --tokens 2000 | grep -c -e 000D -e '(cut after')"
done
is "a budget cuts no line end in two" "$cut" 11111111111
done_testing
