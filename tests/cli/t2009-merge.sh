#!/bin/sh
# runner: timeout 240
# What a git worktree has in a workspace of its own gets into the one of the main checkout, which has mail
# already: messages with their ids and states, archived ones and runs, nothing lost or doubled, also where
# the move is killed or somebody writes meanwhile.
. "$(dirname "$0")/lib.sh"
need_git merging

git init -q main && git -C main commit -q --allow-empty -m start
for tree in one two three; do
	git -C main worktree add -q "../$tree" 2>/dev/null
	mkdir $tree/.roger
done
in_one() { roger "$@" --workspace one/.roger 2>/dev/null; }
in_main() { roger "$@" --workspace main 2>/dev/null; }
trusted() { # FOLDER
	roger trust --workspace "$1" --accept "$(roger trust --workspace "$1" --show --json | json 'd["sha256"]')" -q >/dev/null
}
field() { # ID EXPRESSION: of that message, in main
	in_main show "$1" --json | json "d[\"messages\"][0].get($2)"
}

id=$(in_one send bob first --as ann --key task:1:a --json | json 'd["messages"][0]["id"]')
pair=$(in_one send bob,cat 'to two' --as ann --new --json | json 'd["messages"][1]["id"]')
in_one receive --as bob --limit 1 -q >/dev/null
claimed=$(in_one send dog claimed --as ann --new --json | json 'd["messages"][0]["id"]')
in_one claim --as dog --worker w1 --lease 1h -q >/dev/null
done_id=$(in_one send eve finished --as ann --new --issue other --json | json 'd["messages"][0]["id"]')
in_one receive --as eve -q >/dev/null
in_one ack "$done_id" --as eve --outcome blocked --note why -q
in_one archive --issue other -q >/dev/null
(cd one && roger run --as ann --run r1 --workspace "$here/one/.roger" -- sh -c 'echo fine' >/dev/null 2>&1)
(cd one && roger run --as ann --run both --workspace "$here/one/.roger" -- true >/dev/null 2>&1)
roger init -q main
in_main send bob here --as ann -q --new
other=$(in_main send bob theirs --as ann --key task:1:a --json | json 'd["messages"][0]["id"]')
(cd main && roger run --as bob --run both -- sh -c 'echo other' >/dev/null 2>&1)
before=$(in_main list --count)
count=$(($(in_one list --count) + $(in_one list --archived --count)))

exits 77 "what nobody trusts is not taken in" roger move --from one/.roger main
like "and the error says how to trust it" "$err" "in '$here/one' is not trusted, .*run .roger trust --workspace .roger. there"
is "nothing is done" "$(in_main list --count)" "$before"
trusted one/.roger

# Neither is done while a roger run is at work: that would not find its run in the new place.
(cd one && exec "$ROGER" run --as ann --run busy --within 1h --workspace "$here/one/.roger" -q -- sh -c 'until [ -e end ]; do sleep 0.02; done') 2>/dev/null &
busy=$!
until in_one runs busy -q >/dev/null; do sleep 0.02; done
for target in main elsewhere; do
	exits 75 "a run that is at work holds up a move into $target" roger move --from one/.roger $target
	like "the error names it, and says what to do" "$err" "run 'busy' is at work, .*process $busy, .*: move once it has ended, or stop that"
done
is "nothing was taken in" "$(in_main list --count) $(grep -c . elsewhere/.roger/messages.jsonl)" "$before 0"
touch one/end
wait $busy
is "and the run gets its end" "$? $(in_one runs busy --json | json 'd["runs"][0]["exit"]')" "0 0"
count=$(($(in_one list --count) + $(in_one list --archived --count)))

exits 0 "move takes it in" roger move --from one/.roger main --json
is "every message" "$(printf '%s' "$out" | json 'd["messages"]')" "$count"
is "each once" "$(($(in_main list --count) + $(in_main list --archived --count)))" $((before + count))
is "every run, but one whose id is another's" "$(printf '%s' "$out" | json 'd["runs"]')" 2
like "that is told" "$out" "1 of the runs are only in the backup"
like "a key that is another message's is, too" "$out" "2 of the messages have lost their key"
kept=$(printf '%s' "$out" | json 'd["kept"]')
is "under its id, as it was read" "$(field "$id" '"content"') $(field "$id" '"read"')" "first true"
is "without the key that is another's" "$(field "$id" '"idempotent_key"')$(field "$id" '"key"')" "nullnull"
is "which still has it" "$(in_main show "$other" --json | grep -c 'task:1:a')" 1
is "unread mail is unread" "$(field "$pair" '"read"')" false
is "a claim holds" "$(field "$claimed" '"claimed_by"')" w1
exits 0 "and its worker ends it" roger ack "$claimed" --as dog --worker w1 --workspace main -q
is "what was archived is" "$(in_main list --archived --json | json '[m["id"] for m in d["messages"]]')" "[\"$done_id\"]"
like "with what was said of it" "$(in_main show "$done_id" --json)" '"ack_outcome":"blocked".*"ack_note":"why"'
is "no two have one number, but what was sent at once" "$(in_main list --json --limit 1000 | json 'sorted([m["seq"] for m in d["messages"] if m["from"]=="ann" and m["id"] != "'"$pair"'"]) == sorted({m["seq"] for m in d["messages"] if m["from"]=="ann"})')" true
is "numbers go on" "$(in_main send bob next --as ann --json | json 'd["seq"]')" $(($(in_main list --json --limit 1000 | json 'max(m["seq"] for m in d["messages"] if m["from"]=="ann")')))
like "a run's result is there" "$(in_main runs r1)" "finished, result unread"
is "and what it printed" "$(in_main runs r1 --json | json 'd["runs"][0]["stdout_lines"]')" '["fine"]'
is "of two runs of one id that of its own" "$(in_main runs both --json | json 'd["runs"][0]["stdout_lines"]')" '["other"]'
exits 0 "verify" roger verify --workspace main
run roger doctor --json --workspace main
is "doctor finds nothing to mend" "$(printf '%s' "$out" | json 'd["damaged"] + d["repairable"]')" 0
like "the log says it" "$(in_main activity --json)" '"from":"'"$here/one"
exits 0 "all that it was is kept" roger restore "$kept" --to old
is "also the other run of that id" "$(roger runs both --json --workspace old 2>/dev/null | json 'd["runs"][0]["owner"]')" ann
is "and numbers" "$(roger show "$claimed" --json --workspace old 2>/dev/null | json 'd["messages"][0]["seq"]')" 3
exits 0 "again" roger move --from one/.roger main
is "is nothing" "$(($(in_main list --count) + $(in_main list --archived --count)))" $((before + count + 1))
exits 78 "who still uses the old one is told where it is" roger send bob late --as ann --workspace one/.roger
like "by its place" "$err" "$here/main"
is "the worktree says no more" "$(cd one && roger agents 2>&1 >/dev/null)" ""
git -C main worktree remove --force ../one
check "a removed worktree takes nothing away" test -s "$kept"

# ---------------------------------------------------------------- a copy
mkdir first && roger init -q first
roger send --as ann --new bob both -q --workspace first
cp -R first second
roger receive --as bob -q --workspace second >/dev/null 2>&1
trusted second
exits 0 "what was copied, and used since, is taken in" roger move --from second/.roger first
like "and what was read only there is told" "$err" "1 of the messages were here already, unread, and read there"

# ---------------------------------------------------------------- killed
seq 250 | sed 's/.*/{"to":["bob"],"content":"many &","issue":"many&"}/' | roger send --batch --as cow --new -q --workspace two/.roger 2>/dev/null
trusted two/.roger
for wait in 0.02 0.04 0.06 0.08 0.1 0.12 0.15 0.2; do
	timeout -s KILL $wait roger move --from two/.roger main -q >/dev/null 2>&1
done
exits 0 "after kills the same move goes on" roger move --from two/.roger main
is "each message is there once" "$(in_main list --jsonl --from cow --limit 1000 | sort -u | wc -l) $(in_main list --count --from cow)" "250 250"
is "with a number each" "$(in_main list --json --from cow --limit 1000 | json 'sorted(m["seq"] for m in d["messages"]) == list(range(1, 251))')" true

# --------------------------------------------------------- somebody writes
roger send bob begin --as owl --new -q --workspace three/.roger 2>/dev/null
trusted three/.roger
(
	sent=1
	while roger send owl "n $sent" --as owl --issue "i$((sent / 40))" -q --workspace three/.roger 2>/dev/null; do
		sent=$((sent + 1))
		roger receive --as owl -q --workspace three/.roger >/dev/null 2>&1
	done
	echo $sent >sent
) &
status=75
while [ $status = 75 ]; do
	roger move --from three/.roger main -q >/dev/null 2>err
	status=$?
done
is "under load it ends, or says that somebody writes" "$status" 0
wait
is "what was stored is there" "$(in_main list --count --from owl)" "$(cat sent)"
exits 0 "verify at the end" roger verify --workspace main
run roger doctor --json --workspace main
is "and doctor" "$(printf '%s' "$out" | json 'd["damaged"] + d["repairable"]')" 0

# A target that was left half-made says what is to be done, also where the move went on to another place.
mkdir away half && roger init -q away && roger init -q half
roger send bob hi --as ann --new -q --workspace away 2>/dev/null
printf 'incoming %s\n' "$here/away" >half/.roger/move
exits 78 "a half-made target is no workspace" roger list --workspace half
like "the error says what finishes it, and when to remove it" "$err" "here from '$here/away'; .*the same .roger move., from there, finishes it; if the workspace was moved to another place since, remove it here"
exits 0 "the move to another place is finished" roger move --from away gone
exits 78 "from where the first target is refused" roger move --from gone half
rm -r half/.roger
exits 0 "until it is removed" roger move --from gone half
is "then all is there" "$(roger list --count --workspace half)" 1
done_testing
