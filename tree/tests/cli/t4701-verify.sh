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
roger cycle new --as ann -q
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
for i in 1 2 3; do roger cycle new --as ann -q; done
like "purge drops lines" "$(roger purge)" "^purged +6"
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
like "status says what to do" "$(roger status 2>&1)" 'roger accept messages.jsonl --reason TEXT'
exits 65 "doctor, too" roger doctor
like "and goes through the rest" "$out" '^  messages.jsonl: shorter than it was'
exits 65 "nothing is sent" roger send --as ann bob more
roger accept messages.jsonl --reason seen -q
exits 75 "the key that was open still is, and its next attempt is made" roger send --as zoe bob "late" --key late:escalation:c1 \
	--confirm read --within 1ms
unlike "what was cut off is accepted with the rest" "$(roger status)" 'stray'
is "that is the second" "$(roger sends --key late:escalation:c1 --json | json '[a["attempt"] for a in d["attempts"]]')" "[1, 2]"
done_testing
