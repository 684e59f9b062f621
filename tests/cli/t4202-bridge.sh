#!/bin/sh
# The bridge takes in trigger files in whatever form other programs write them,
# once, with the numbers their senders gave; what it skips it tells and keeps.
. "$(dirname "$0")/lib.sh"

boxes=$here/.roger/triggers
config() {
	cat >"$here/.roger/config.yaml"
}
bridge() {
	roger bridge --once "$@"
}
json_lines() { # EXPRESSION over m
	python3 -c '
import json, sys
print(json.dumps([eval(sys.argv[1], {"m": json.loads(line)}) for line in sys.stdin]))' "$1"
}
# What an agent has, in its order: number and content.
mail_of() { # AGENT
	roger list --to "$1" --jsonl | json_lines '[m.get("seq", 0), m["content"]]'
}
kept() {
	cat "$boxes"/.skipped/* 2>/dev/null
}
forget_kept() {
	rm -f "$boxes"/.skipped/*
}

roger init -q
config <<'END'
groups:
  workers: [wa, wb]
  night-shift: [wb, wc]
END
exits 1 "nothing there" bridge
check "the folder is made" test -d "$boxes"

# ---- forms
printf '(LEAD #1): one\n' >"$boxes/bob.txt"
exits 0 "a file comes in" bridge
like "who, which number, to whom" "$out" 'took LEAD #1 -> bob  bob.txt line 1'
like "a name never seen is noted" "$err" "'bob' has never been seen here"
check "and is taken away" test ! -e "$boxes/bob.txt"
printf '(LEAD #2): two' >"$boxes/bob.txt"
bridge -q
printf '(LEAD#3): three\r\nmore of it\r\n(LEAD   #5): five\r\n' >"$boxes/bob.txt"
bridge -q
printf '\357\273\277(LEAD #6): with a mark\n\357\273\277(LEAD #7): and another\n' >"$boxes/bob.txt"
bridge -q
printf '\377\376(\0L\0E\0A\0D\0 \0#\0008\0)\0:\0 \0w\0i\0d\0e\0\374\0\r\0\n\0' >"$boxes/bob.txt"
bridge -q
printf '(LEAD): no number\n(LEAD #0): zero\n' >"$boxes/bob.txt"
bridge -q
printf '(LEAD #9): nine\n' >"$boxes/.tmp"
mv "$boxes/.tmp" "$boxes/bob.txt"
bridge -q
printf '(LEAD #10): linked\n' >other
ln other "$boxes/bob.txt"
bridge -q
is "one line end, several messages, CR LF, marks, UTF-16LE, no number, by rename and by link" "$(mail_of bob)" \
	'[[1, "one"], [2, "two"], [3, "three\nmore of it"], [5, "five"], [6, "with a mark"], [7, "and another"], [8, "wide\u00fc"], [0, "no number"], [0, "zero"], [9, "nine"], [10, "linked"]]'
is "no number takes none" "$(roger list --to bob --jsonl | json_lines '"epoch" in m and "seq" in m' | json 'd.count(False)')" 2
is "nothing was skipped" "$(kept)" ""
is "the member via names the edge" "$(roger list --to bob --jsonl | json_lines 'm["via"]' | json 'sorted(set(d))')" '["bridge"]'

# ---- one counter, whatever the route
roger send -q --as LEAD carol 'by roger' 2>/dev/null
is "roger's own numbers go on above" "$(mail_of carol)" '[[11, "by roger"]]'
printf '(LEAD #11): crossed with it\n' >"$boxes/bob.txt"
bridge -q
is "another recipient may get that number" "$(mail_of bob | json 'd[-1]')" '[11, "crossed with it"]'

# ---- stale, told and kept
printf '(LEAD #12): twelve\n(LEAD #4): late\n(LEAD #12): a copy\n(LEAD #14): gap\n' >"$boxes/bob.txt"
exits 0 "some of it is stale" bridge
is "the rest came in" "$(mail_of bob | json 'd[-2:]')" '[[12, "twelve"], [14, "gap"]]'
like "told: who, number, file and line" "$err" 'skipped LEAD #4 -> bob  bob.txt line 2: not above #12'
like "what to do" "$err" 'roger agents session new.*ingest --unnumbered'
like "where its text is" "$err" 'its text is in \.roger/triggers/\.skipped/'
is "its text is there, the rest not" "$(kept)" '(LEAD #4): late
(LEAD #12): a copy'
run roger log --status FAILURE --jsonl
is "noted, without its text" "$(printf '%s\n' "$out" | json_lines '[m["outcome"]["message"], m["action"]["details"]["from"], m["action"]["details"]["seq"]]')" \
	'[["skipped: stale", "LEAD", 4], ["skipped: stale", "LEAD", 12]]'
unlike "not a word of it" "$(cat .roger/logs/*)" 'late|twelve'
mkdir -p sub bin
ln -s "$ROGER" bin/roger
advice=$(roger status --json | json '[c["next"] for c in d["concerns"] if c["kind"] == "skipped"][0]')
exits 0 "let in by hand, as status says, in any folder" sh -c "cd sub && PATH=$here/bin:\$PATH && $advice"
is "without numbers" "$(mail_of bob | json 'd[-2:]')" '[[0, "late"], [0, "a copy"]]'
forget_kept

roger receive --as bob -q --limit 50
printf '(LEAD #14): again\n(LEAD #15): next\n' >"$boxes/bob.txt"
bridge -q 2>/dev/null
is "what was read is not taken again" "$(mail_of bob | json 'd[-1]')" '[15, "next"]'
forget_kept

# ---- bad text
printf 'hello?\n(LEAD #16): good\n(LEAD #17): b\377d\nmore\n(LEAD #99999999999999999999): big\n(LEAD #281474976710656): big too\n(LEAD #18): \n(LEAD #19): fine\n' >"$boxes/bob.txt"
exits 0 "good and bad" bridge
is "the good ones came in" "$(mail_of bob | json 'd[-2:]')" '[[16, "good"], [19, "fine"]]'
for line in 1 3 5 6 7; do
	like "line $line is told" "$err" "bob.txt line $line: "
done
is "their text is kept" "$(kept | wc -l)" 6
forget_kept
printf '(LEAD #3): stale\n(roger #1): refused\n' >"$boxes/bob.txt"
bridge -q 2>/dev/null
is "what is stale can be let in without what is refused" "$(cat "$boxes"/.skipped/[0-9]*)" '(LEAD #3): stale'
is "what is refused is kept beside" "$(cat "$boxes"/.skipped/refused-*)" '(roger #1): refused'
forget_kept
printf '(LEAD #20): nul \000\n(LEAD #21): after it\n' >"$boxes/bob.txt"
bridge -q 2>/dev/null
is "a NUL spoils its message only" "$(mail_of bob | json 'd[-1]')" '[21, "after it"]'
python3 -c 'print("(LEAD #22): " + "x" * 10001)' >"$boxes/bob.txt"
run bridge
like "one that is too long is told" "$err" 'expected at most 10000 characters'
printf '\n \n' >"$boxes/bob.txt"
exits 1 "blank text is nothing" bridge
: >"$boxes/bob.txt"
exits 1 "an empty file is left where it is" bridge
check "there it is" test -f "$boxes/bob.txt"
rm -f "$boxes/bob.txt"
forget_kept
head -c 4300000 /dev/zero >"$boxes/bob.txt"
run bridge
like "a file that is too long is put aside whole" "$err" 'larger than 4194304 bytes'
is "there it is" "$(kept | wc -c)" 4300000
forget_kept

# ---- who is meant
printf '(lead #23): by another case\n' >"$boxes/BOB.TXT"
bridge -q
is "names are matched without case" "$(roger list --to bob --newest --limit 1 --jsonl | json_lines '[m["from"], m["to"]]')" '[["LEAD", "bob"]]'
printf '(LEAD #24): to a name with a slash\n' >"$boxes/team%2Fx.txt"
bridge -q 2>/dev/null
is "file names are encoded names" "$(mail_of team/x)" '[[24, "to a name with a slash"]]'
printf '(LEAD #25): x\n' >"$boxes/no name.txt"
run bridge
like "a file name that is none is told" "$err" 'no name of an agent'
printf '(LEAD #25): x\n' >"$boxes/bob.txt.tmp"
exits 1 "others' files are left alone" bridge
rm -f "$boxes/bob.txt.tmp"
forget_kept

printf '(wa #1): to workers\n' >"$boxes/workers.txt"
printf '(WC #1): to the night shift\n' >"$boxes/Night-Shift.txt"
touch -d '1 minute ago' "$boxes/Night-Shift.txt" # the older file is taken first
bridge -q 2>/dev/null
roger send --as LEAD --new ghost 'it never looks' -q
printf '(wa #2): to all\n' >"$boxes/all.txt"
run bridge
like "the answer names who gets nothing of it" "$err" '^note: skipped: .*ghost [(]never looked at its mail here[)]'
is "a group, without the sender" "$(mail_of wb)" '[[1, "to the night shift"], [1, "to workers"], [2, "to all"]]'
is "the sender gets nothing of its own" "$(mail_of wa)" '[]'
is "all: everybody who was ever here but the sender, with one number" \
	"$(roger list --from wa --jsonl | json_lines '[m["to"], m["seq"]] if m["content"] == "to all" else 0' | json 'sorted(x for x in d if x)')" \
	'[["LEAD", 2], ["bob", 2], ["wb", 2], ["wc", 2]]'
printf '(workers #1): x\n' >"$boxes/bob.txt"
run bridge
like "a group cannot send" "$err" "the name of a group"
printf '(WORKERS #1): x\n(NIGHT-SHIFT #1): x\n(All #1): x\n' >"$boxes/bob.txt"
run bridge --json
is "nor in capital letters, as roles are written" "$(printf '%s' "$out" | json '[[c["kind"], c["from"]] for c in d["crossings"]]')" \
	'[["refused", "WORKERS"], ["refused", "NIGHT-SHIFT"], ["refused", "All"]]'
exits 77 "no agent may be called so" roger send --as Night-Shift bob 'really called so'
printf '(roger #1): x\n(USER #1): x\n(System): x\n(assistant #1): x\n(human #1): x\n' >"$boxes/bob.txt"
run bridge --json
is "nor may text come in under a reserved name" "$(printf '%s' "$out" | json 'sorted(c["from"] for c in d["crossings"] if c["kind"] == "refused")')" \
	'["System", "USER", "assistant", "human", "roger"]'
forget_kept

config <<'END'
wake:
  agents:
    sleeper: [true]
END
printf '(LEAD #28): up\n' >"$boxes/SLEEPER.txt"
exits 0 "who is to be woken is known" bridge
is "and no other by that name in capital letters" "$(mail_of sleeper)" '[[28, "up"]]'

config <<'END'
recipients: strict
END
printf '(LEAD #26): x\n' >"$boxes/bbo.txt"
printf '(LEAD #27): x\n' >"$boxes/workers.txt"
run bridge
like "strict: an unknown name is refused" "$err" "'bbo' has never been seen here \(recipients: strict\); did you mean 'bob'\?"
like "a group that is not configured, too" "$err" "no group 'workers' is configured"
is "the texts are kept" "$(kept | wc -l)" 2
forget_kept

# ---- no room
config <<'END'
size_limits:
  max_messages_per_issue_phase: 3
END
(umask 022 && for i in 1 2 3 4 5 6 7 8; do echo "(LEAD #$i): $i"; done >"$boxes/crowd.txt")
run bridge
is "what waits is told in two lines a file" "$(printf '%s\n' "$err" | grep waiting | tr '\n' ' ')" \
	"waiting LEAD #4 -> crowd  crowd.txt line 4: there is no room until older messages were read waiting, too: 4 more of that file "
check "taken as its writer made it" test "$(stat -c %a "$boxes"/.taken/*)" = 644
exits 0 "which is no breach" roger doctor
for i in 1 2; do roger receive --as crowd -q && bridge -q; done
printf '(LEAD #31): f1\n(LEAD #32): f2\n(LEAD #33): f3\n(LEAD #34): f4\n(LEAD #35): f5\n' >"$boxes/full.txt"
exits 0 "more than fits" bridge
is "what fits came in" "$(mail_of full)" '[[31, "f1"], [32, "f2"], [33, "f3"]]'
like "the rest waits" "$err" 'waiting LEAD #34 -> full.*no room'
printf '(LEAD #36): f6\n' >"$boxes/full.txt"
bridge -q 2>/dev/null
is "and is not overtaken" "$(mail_of full | json 'len(d)')" 3
roger receive --as full -q
exits 0 "once there is room" bridge
is "all of it is there, once, in its order" "$(roger list --to full --jsonl | json_lines 'm["content"]') $(ls "$boxes/.taken" | wc -l)" '["f4", "f5", "f6"] 0'
config <<'END'
END

# ---- sessions
roger agents session new -q
printf '(LEAD #1): in a new session\n' >"$boxes/bob.txt"
bridge -q
is "numbers begin anew in a new session" "$(roger list --to bob --newest --limit 1 --jsonl | json_lines '[m["seq"], m["epoch"]]')" '[[1, 2]]'

# ---- as JSON
printf '(LEAD #2): x\n(LEAD #2): x\n' >"$boxes/bob.txt"
exits 0 "as JSON" bridge --json
is "every crossing" "$(printf '%s' "$out" | json '[[c["kind"], c["line"], c["seq"]] for c in d["crossings"]]')" '[["taken", 1, 2], ["stale", 2, 2]]'
is "and figures" "$(printf '%s' "$out" | json '[d["taken"], d["skipped"], d["trouble"]]')" '[1, 1, 0]'

# ---- things that are no files
mkdir "$boxes/dir.txt"
mkfifo "$boxes/fifo.txt"
printf '(LEAD #3): secret\n' >secret
ln -s ../../secret "$boxes/link.txt"
exits 77 "no files" bridge
like "a folder is told" "$err" "trouble  dir.txt: 'dir.txt' is not a regular file"
like "a pipe" "$err" "fifo.txt"
like "a link" "$err" "'link.txt' is a symbolic link, which roger does not follow"
check "all of them stay" test -L "$boxes/link.txt" -a -p "$boxes/fifo.txt" -a -d "$boxes/dir.txt"
rm -r "$boxes/dir.txt" "$boxes/fifo.txt" "$boxes/link.txt"

ln -s ../../../secret "$boxes/.taken/1700000000000-00112233445566ff-0.bob.txt"
mkfifo "$boxes/.taken/1700000000001-00112233445566ff-0.bob.txt"
exits 77 "planted among those that were taken" timeout 10 "$ROGER" bridge --once
like "a link is told, not followed" "$err" "symbolic link"
unlike "its text is nowhere" "$(roger list --to bob --jsonl)" secret
rm "$boxes"/.taken/*
printf 'bridge:\n  file_only: [filer]\n' | config
echo '{"agent":1' >"$boxes/.handing/filer"
exits 1 "a note that makes no sense is dropped" bridge
check "it is gone" test ! -e "$boxes/.handing/filer"
config <<'END'
END

# ---- standard input
exits 0 "ingest" sh -c "printf '(LEAD #4): in\n(LEAD #5): both\n' | '$ROGER' ingest --to bob --to carol"
is "to several" "$(mail_of carol | json 'd[-2:]')" '[[4, "in"], [5, "both"]]'
exits 0 "again: stale, and no fault" sh -c "printf '(LEAD #4): in\n' | '$ROGER' ingest --to bob"
like "told" "$err" 'skipped LEAD #4 -> bob line 1: not above #5'
exits 65 "text without a header" sh -c "echo hello | '$ROGER' ingest --to bob"
exits 1 "nothing" sh -c ": | '$ROGER' ingest --to bob"
exits 64 "once, and waiting" roger bridge --once --timeout 3s
like "says which to take" "$err" "wait: expected without --once"
exits 64 "to nobody" sh -c "echo '(A): x' | '$ROGER' ingest"
exits 0 "to oneself" sh -c "echo '(A): x' | '$ROGER' ingest --as bob"

# ---- which one was written first; names; two encodings
forget_kept
printf '(OLDER #4): in a file\n' >"$boxes/bob.txt"
sleep 0.05
printf '(OLDER #5): to all\n' >"$boxes/all.txt"
exits 0 "the older file first" bridge
is "nothing of it is stale" "$(roger list --from OLDER --to bob --jsonl | json_lines 'm["seq"]')" '[4, 5]'

printf '(LEAD #6): x\n' >"$boxes/$(printf '\377').txt"
printf '(LEAD #6): y\n' >"$boxes/$(printf '\376').txt"
noted=$(roger log --status FAILURE --jsonl | wc -l)
exits 0 "a name that is no text" bridge --json
is "is told as text" "$(printf '%s' "$out" | json '[c["file"] for c in d["crossings"]]')" '["?.txt", "?.txt"]'
is "and noted" "$(($(roger log --status FAILURE --limit 1000 --jsonl | wc -l) - noted))" 2
forget_kept

printf 'y\n' >"$boxes/.taken/999999999999999999-00112233445566ff-0.x.txt"
printf '(LEAD #6): not last\n' >"$boxes/bob.txt"
exits 0 "a name from beyond all times" bridge
is "does not spoil those to come" "$(mail_of bob | json 'd[-1]')" '[6, "not last"]'
rm "$boxes"/.taken/*

printf '\377\376(\0W\0 \0#\0001\0)\0:\0 \0w\0\r\0\n\0(W #2): narrow\n(W #3): narrow\n(\0W\0 \0#\0004\0)\0:\0 \0w\0\n\0' >"$boxes/bob.txt"
bridge -q
printf '(W #5): narrow\n\377\376(\0W\0 \0#\0006\0)\0:\0 \0w\0\n\0(W #7): narrow\n' >"$boxes/bob.txt"
bridge -q
is "writers of both encodings" "$(roger list --from W --jsonl | json_lines '[m["seq"], m["content"]]')" \
	'[[1, "w"], [2, "narrow"], [3, "narrow"], [4, "w"], [5, "narrow"], [6, "w"], [7, "narrow"]]'

# ---- writers that keep their file
soon() { # COUNT QUERY...
	want=$1
	shift
	for _ in $(seq 80); do
		[ "$(roger list --count "$@")" = "$want" ] && break
		sleep 0.1
	done
	roger list --count "$@"
}
"$ROGER" bridge >log 2>log.err &
server=$!
python3 - "$boxes" "$ROGER" <<'END'
import os, subprocess, sys, time
boxes, roger = sys.argv[1:]
def stored(sender, count):
    for _ in range(80):
        if int(subprocess.run([roger, "list", "--count", "--from", sender], stdout=subprocess.PIPE).stdout) >= count:
            return
        time.sleep(0.1)
box = open(f"{boxes}/bob.txt", "w")
box.write("(REW #1): the first message, long\n"); box.flush(); stored("REW", 1)
box.seek(0); box.truncate(); box.write("(REW #2): second\n"); box.flush(); stored("REW", 2)
box.seek(0); box.truncate(); box.write("(REW #3): longer than it was before\n(REW #4): 4\n"); box.flush(); stored("REW", 4)
box.close()
box = open(f"{boxes}/bob.txt", "w")
for i in range(1, 7):
    box.write(f"(BIG #{i}): x\n(BIG): " + "\n" * 1000000); box.flush(); stored("BIG", i)
box.write("(BIG #7): the end\n"); box.close()
END
is "who empties it and begins anew loses nothing" "$(soon 4 --from REW)" 4
is "nor who writes more than a file may hold, bit by bit" "$(soon 7 --from BIG)" 7
is "nothing of it was kept aside" "$(grep -c larger log.err)" 0
exec 3>"$boxes/never-seen.txt"
printf '(HELD #1): a\n(HELD #2): unfin' >&3
is "whole messages of it" "$(soon 1 --from HELD)" 1
# Two more rounds.
for tick in 1 2; do
	printf '(TICK #%s): x\n' $tick >"$boxes/bob.txt"
	soon $tick --from TICK >/dev/null
done
is "a name never seen is told once" "$(grep -c "'never-seen' has never" log.err)" 1
rm -rf "$boxes"
# Longer than the second after which it looks without being told.
sleep 1.2
mkdir -p "$boxes"
printf '(AGAIN #1): after the folder came back\n' >"$boxes/bob.txt"
is "a folder that was removed and made again" "$(soon 1 --from AGAIN)" 1
exec 3>&-
kill "$server"
wait "$server"
is "the bridge ends well" "$?" 0
forget_kept

# ---- files of others, which only root can make for this test
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null &&
	other=$(mktemp -d /tmp/roger-other.XXXXXX) && chmod 777 "$other" &&
	setpriv --reuid=65534 --regid=65534 --clear-groups sh -c "cd '$other' && '$ROGER' init -q" 2>/dev/null; then
	bridge_of_other() {
		setpriv --reuid=65534 --regid=65534 --clear-groups \
			sh -c 'cd "$1" && shift && ROGER_TRUST=$(pwd -P) exec "$@"' sh "$other" "$ROGER" bridge --once "$@"
	}
	bridge_of_other >/dev/null 2>&1
	drops=$other/.roger/triggers
	printf '(LEAD #1): closed to others\n' >"$drops/bob.txt"
	chmod 600 "$drops/bob.txt"
	printf '(LEAD #1): open to others\n' >"$drops/zoe.txt"
	run bridge_of_other
	sleep 0.3
	exits 77 "a file that may not be read" bridge_of_other
	like "is told" "$err" 'trouble.*bob.txt'
	like "and the others come in" "$out" 'took LEAD #1 -> zoe'
	chmod 644 "$drops"/.taken/*
	sleep 0.3
	exits 0 "once it may be read" bridge_of_other
	like "it comes in" "$out" 'took LEAD #1 -> bob'
	rm -f "$drops"/.taken/*

	exec 3>"$drops/bob.txt"
	printf '(LEAD #2): first\n(LEAD #3): half of' >&3
	sleep 0.3
	run bridge_of_other
	unlike "where nobody tells of writers, no half message is taken" "$out" '#3'
	printf ' it and the rest\n(LEAD #4): not lost\n' >&3
	sleep 0.3
	exits 0 "and what is written later" bridge_of_other
	like "comes in" "$out" 'took LEAD #4 -> bob'
	exec 3>&-
	check "its file stays for a while" test -n "$(ls "$drops/.taken")"

	printf 'bridge:\n  file_only: [bob, zoe]\n' >"$other/.roger/config.yaml"
	chmod 644 "$other/.roger/config.yaml"
	: >"$drops/bob.txt"
	chmod 600 "$drops/bob.txt"
	run bridge_of_other
	like "a file that may not be written is told" "$err" 'trouble.* -> bob  bob.txt'
	check "the others get theirs" test -s "$drops/zoe.txt"
	rm -rf "$other"
fi

exits 0 "verify" roger verify -q
exits 0 "doctor" roger doctor -q
done_testing
