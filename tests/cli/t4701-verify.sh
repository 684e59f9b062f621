#!/bin/sh
# verify over all journals: what was altered, taken out, swapped or cut in any of
# them is found there, with its file and line; what purge rewrote is sound.
. "$(dirname "$0")/lib.sh"

roger init -q
for i in 1 2 3 4 5 6; do
	roger send --as ann bob "number $i" --key "app-$i:status-update:c1" -q
done
roger receive --as bob -q
roger send --as zoe bob "late" --key late:escalation:c1 --confirm read --within 1ms -q 2>/dev/null
roger log cycle new --as ann -q
roger log app-1 FILE_READ -q
exits 0 "a sound workspace" roger verify --json
is "every journal has its row" "$(printf '%s' "$out" | json 'sorted(j["file"] for j in d["journals"])')" '["cycles.jsonl", "logs/activity.log.jsonl", "messages.jsonl", "send-log/ann.jsonl", "send-log/zoe.jsonl"]'
is "all of their lines are chained" "$(printf '%s' "$out" | json 'all(j["lines"] == j["chained"] > 0 and j["damaged"] == j["strays"] == 0 for j in d["journals"])')" true
is "with bytes and head" "$(printf '%s' "$out" | json '[(j["bytes"], j["head"]) for j in d["journals"] if j["file"] == "send-log/ann.jsonl"][0]')" "[$(wc -c <.roger/send-log/ann.jsonl), \"$(tail -n 1 .roger/send-log/ann.jsonl | json 'd["chain"]')\"]"
exits 0 "in words" roger verify
like "with a line for each" "$out" "^send-log/ann.jsonl +6 lines, +6 chained, 0 no entries"
cp -r .roger sound

again() {
	rm -rf .roger
	cp -r sound .roger
}

found() { # NAME FILE LINE [KIND]
	exits 65 "$1 in $2" roger verify --json
	is "$1: file and line" "$(printf '%s' "$out" | json '[[f["file"], f["line"], f["kind"]] for f in d["findings"] if f["kind"] == "'"${4:-altered}"'"][0]')" "[\"$2\", $3, \"${4:-altered}\"]"
	is "$1: the byte is that of the line" "$(printf '%s' "$out" | json '[f["byte"] for f in d["findings"] if f["kind"] == "altered"][0]')" "$(head -n $(($3 - 1)) ".roger/$2" | wc -c)"
	exits 65 "$1 in words" roger verify
	like "$1: named" "$out" "^$2 line $3 "
	again
}

for file in messages.jsonl send-log/ann.jsonl logs/activity.log.jsonl; do
	sed -i '3s/a/b/' ".roger/$file"
	found "a byte changed" $file 3
	sed -i 2d ".roger/$file"
	found "a line taken out" $file 2
	sed -i '2{h;d};3{G}' ".roger/$file"
	found "two lines swapped" $file 2
	sed -i '1{p}' ".roger/$file"
	found "a line doubled" $file 2
done
sed -i 1s/opened/closed/ .roger/cycles.jsonl
found "the only line" cycles.jsonl 1

# What is no damage.
printf 'a word of another program\n' >>.roger/send-log/ann.jsonl
printf 'half a' >>.roger/dead-letters.jsonl
exits 0 "strays and torn ends are none" roger verify --json
is "and told" "$(printf '%s' "$out" | json '[[f["file"], f["line"], f["kind"]] for f in d["findings"]]')" '[["dead-letters.jsonl", 1, "torn"], ["send-log/ann.jsonl", 7, "stray"]]'
is "the totals are those of messages.jsonl" "$(printf '%s' "$out" | json '[d["strays"], d["lines"] == d["messages"] == d["chained"]]')" "[0, true]"
again

# Something else in place of a log.
mkdir elsewhere
mv .roger/dead-letters.jsonl elsewhere 2>/dev/null
ln -s ../elsewhere/x .roger/dead-letters.jsonl
exits 65 "a symbolic link in place of a log" roger verify --json
is "is told" "$(printf '%s' "$out" | json '[[f["file"], f["kind"]] for f in d["findings"]]')" '[["dead-letters.jsonl", "unreadable"]]'
again

# Purge chains anew.
for i in 1 2 3; do roger log cycle new --as ann -q; done
like "purge drops lines" "$(roger log purge)" "^purged +6"
exits 0 "a purged log is sound" roger verify --json
is "and has started over" "$(printf '%s' "$out" | json '[j["lines"] for j in d["journals"] if j["file"] == "send-log/ann.jsonl"]')" "[0]"
# A journal that is shorter than it was is closed, and can still be asked about, also where
# a key in its send logs is open.
again
truncate -s -300 .roger/messages.jsonl
for verb in status report sends dead 'timeline --agent bob' 'trace app-1:status-update:c1' seal; do
	# shellcheck disable=SC2086
	exits "$([ "$verb" = dead ] && echo 1 || echo 0)" "$verb over a journal that was cut" roger $verb
done
like "status says what to do" "$(roger status 2>&1)" 'roger dismiss messages.jsonl --reason TEXT'
exits 65 "doctor, too" roger doctor
like "and goes through the rest" "$out" '^  messages.jsonl: shorter than it was'
exits 65 "nothing is sent" roger send --as ann bob more
roger dismiss messages.jsonl --reason seen -q
exits 75 "the key that was open still is, and its next attempt is made" roger send --as zoe bob "late" --key late:escalation:c1 \
	--confirm read --within 1ms
unlike "what was cut off is accepted with the rest" "$(roger status)" 'stray'
is "that is the second" "$(roger log sends --key late:escalation:c1 --json | json '[a["attempt"] for a in d["attempts"]]')" "[1, 2]"

# ---------------------------------------------------------------- files that are gone
# What roger wrote and is not there is damage, told by everybody, until a person accepts it.
cd "$here" && mkdir gone && cd gone && roger init -q
roger dispatch r1 --as lead --child kid --issue app-1 -q 2>/dev/null
roger dispatch r2 --as lead --child kid --issue app-1 -q 2>/dev/null
for i in 1 2 3; do
	roger send --as lead kid x --key t:escalation:1 --confirm read --within 2ms >/dev/null 2>&1
done
roger complete r1 --result ok -q 2>/dev/null
roger archive --unread --issue app-1 -q
exits 0 "where nothing is gone" roger verify
roger list >/dev/null
for file in state/subagent-delivery-watchdog/r2.json dead-letters.jsonl logs/activity.log.jsonl send-log/lead.jsonl messages_archive/app-1.jsonl cleanup_metrics.jsonl; do
	rm ".roger/$file"
	exits 65 "$file gone: verify" roger verify
	like "gone: names it" "$out" "^$file: gone"
	like "gone: so does status" "$(roger status)" "^!! $file is gone: it was removed"
	like "gone: and doctor" "$(roger doctor)" "^  $file: gone: it was removed"
	roger send --as lead kid "after $file" --key "t:send:$file" -q 2>/dev/null
	exits 65 "gone: also when it was begun anew" roger verify
	exits 0 "gone: a person accepts it" roger dismiss "$file" --reason 'by hand'
	exits 0 "then it is not missed" roger verify
	is "nor by status" "$(roger status | grep -c 'gone: it was')" 0
done
rm .roger/state/subagent-delivery-watchdog/r1.json
like "who asks for runs is told, by name only while a note has it" "$(roger runs 2>&1 >/dev/null)" "state/subagent-delivery-watchdog is gone: it was removed"
roger dismiss state/subagent-delivery-watchdog --reason 'by hand' -q
roger receive --as kid -q
for i in 1 2 3; do
	roger send --as lead kid x --key t:escalation:2 --confirm read --within 2ms >/dev/null 2>&1
done
rm .roger/dead-letters.jsonl
like "and who asks for dead letters" "$(roger dead 2>&1 >/dev/null)" "dead-letters.jsonl is gone: it was removed"
roger dismiss dead-letters.jsonl --reason 'by hand' -q
mkdir -p copy/.roger && cp .roger/messages.jsonl .roger/config.yaml .roger/id copy/.roger
exits 0 "where nothing is known nothing is claimed" roger --workspace copy verify
: >aside
for file in dead-letters.jsonl cycles.jsonl; do
	ln -s ../../aside "copy/.roger/$file"
	roger --workspace copy status >/dev/null 2>&1
	exits 65 "a link in the place of $file" roger --workspace copy doctor
	rm "copy/.roger/$file"
	exits 0 "where it is taken away, no $file is missed, which was never there" roger --workspace copy verify
done

# ------------------------------------------- what a line said before it was altered
mkdir altered && cd altered && roger init -q
for i in 1 2 3; do
	roger send --as ann bob "number $i" --new -q
done
sed -i '2s/number/NUMBER/' .roger/messages.jsonl
like "no entry is made of an altered line, and it is named" "$(roger log sends 2>&1 >/dev/null)" "messages.jsonl:2 is altered"
is "its text is in no log" "$(roger log sends --json | json '[a["message"] for a in d["attempts"]]')" "$(python3 -c '
import json
print(json.dumps([json.loads(line)["id"] for line in open(".roger/messages.jsonl") if "NUMBER" not in line]))')"
is "what is made later says so" "$(roger log sends --json | json '[a["derived"] for a in d["attempts"]]')" "[true, true]"
roger verify -q
id=$(roger list --jsonl | sed -n 2p | json 'd["id"]' | tr -d '"')
for view in "show $id" list "trace $id" "inbox --as bob"; do
	like "$view says that it is altered" "$(roger $view 2>/dev/null)" "altered"
done
roger dismiss messages.jsonl:2 --reason 'by hand' -q
for view in "show $id" list "trace $id" "inbox --as bob"; do
	like "$view: and accepted" "$(roger $view)" "accepted as altered"
	like "$view: for programs" "$(roger $view --json)" '"altered":"accepted as altered"'
done
is "the others are not" "$(roger list --json | json '[m.get("altered", "") for m in d["messages"]]')" '["", "accepted as altered", ""]'
exits 0 "verify" roger verify
like "names it once, as accepted" "$out" "^messages.jsonl line 2 .*: accepted: altered"
like "and the rest as intact" "$out" "intact, but for 1 accepted place$"
like "doctor says what follows" "$(roger doctor)" "no entry of a send log is made of it"
roger receive --as bob -q
unlike "it is said and not stored" "$(cat .roger/messages.jsonl)" '"altered"'
cd ..

# A file may be named like a command of a shell: what verify says to type runs nothing of it.
mkdir named && cd named && roger init -q
mkdir -p .roger/send-log
echo '{}' >'.roger/send-log/$(touch ran).jsonl'
advice=$(roger verify | sed -n 's/TEXT$/seen/; s/^once you have seen what is no entry: //p')
exits 0 "what verify says to type" env PATH="$(dirname "$ROGER"):$PATH" sh -c "$advice"
check "runs nothing that a file is named after" test ! -e ran
unlike "and settles that line" "$(roger verify)" "once you have seen"
cd ..

# A file's name may have what nobody sees or types; the command that is suggested can be typed.
cd "$HOME" && mkdir unseen && cd unseen && roger init -q && roger dispatch r1 --as lead -q
printf '{bad' >".roger/state/subagent-delivery-watchdog/$(printf 'a\342\200\256b').json"
like "a name that cannot be seen is spelt" "$(roger status)" "roger dismiss .'state/subagent-delivery-watchdog/a.342.200.256b.json' --reason"
done_testing
