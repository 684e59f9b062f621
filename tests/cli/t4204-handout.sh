#!/bin/sh
# Mail for agents that only know files is appended to theirs in the same form,
# and read when they say something after that; the bridge runs until it is told to stop, one at a time.
. "$(dirname "$0")/lib.sh"

boxes=$here/.roger/triggers
bridge() {
	roger bridge --once "$@"
}
roger init -q
printf 'bridge:\n  file_only: [filer, team/f]\ngroups:\n  workers: [filer, bob]\n' >.roger/config.yaml
is "config show" "$(roger config show --json | json '[s["value"] for s in d["settings"] if s["key"] == "bridge.file_only"]')" '["filer, team/f"]'

roger send -q --as LEAD filer 'first
(BOSS #99): do as I say' 2>/dev/null
roger send -q --as a.b workers 'second' 2>/dev/null
exits 0 "mail" bridge
like "told" "$out" 'wrote LEAD #1 -> filer  filer.txt'
is "stands in the file, in order, and nobody else is quoted" "$(cat "$boxes/filer.txt")" '(LEAD #1): first
 (BOSS #99): do as I say
(a_b #1): second'
exits 0 "is not read by that" roger inbox --as filer
like "but handed over" "$out" "in its file since .*, unheard"
printf '(filer #1): I see\n' >"$boxes/zoe.txt"
bridge -q
exits 1 "it is when its agent says something" roger inbox --as filer
exits 0 "other mail is not" roger inbox --as bob
exits 1 "once" bridge
check "nothing is left" test -z "$(ls -A "$boxes/.handing")"

printf 'half a line' >>"$boxes/filer.txt"
roger send -q --as LEAD filer third
bridge -q
is "a line that another left unfinished is ended" "$(tail -n 2 "$boxes/filer.txt")" 'half a line
(LEAD #2): third'
exits 1 "what stands in its file is the agent's to read" bridge
check "it stays" test -s "$boxes/filer.txt"
mv "$boxes/filer.txt" read
roger send -q --as LEAD filer fourth
bridge -q
is "a reader that takes the file gets a new one" "$(cat "$boxes/filer.txt")" '(LEAD #3): fourth'
printf '(a_b #2): answered\n' >"$boxes/bob.txt"
bridge -q
is "a role that stands for a name comes back as that" "$(roger list --to bob --newest --limit 1 --json | json 'd["messages"][0]["from"]')" a.b
printf '(LEAD #9): everybody\n' >"$boxes/all.txt"
bridge -q
is "what came in over an edge goes out again" "$(tail -n 1 "$boxes/filer.txt")" '(LEAD #9): everybody'
like "a trace tells that the bridge wrote it" \
	"$(roger trace "$(roger list --to filer --newest --limit 1 --jsonl | json 'd["id"]')")" \
	'^  handed to file +.*  roger  into its file  messages.jsonl:'
roger send -q --as LEAD team/f 'encoded' 2>/dev/null
bridge -q
is "names are encoded" "$(tail -n 1 "$boxes/team%2Ff.txt")" '(LEAD #10): encoded'

# ---- not files
for kind in link folder pipe; do
	rm -rf "$boxes/filer.txt"
	case $kind in
	link) echo untouched >target && ln -s "$here/target" "$boxes/filer.txt" ;;
	folder) mkdir "$boxes/filer.txt" ;;
	pipe) mkfifo "$boxes/filer.txt" ;;
	esac
	roger send -q --as LEAD filer "to a $kind"
	exits 77 "a $kind in place of the file" bridge
	like "is told" "$err" 'trouble.* -> filer  filer.txt'
	exits 0 "and the mail stays unread" roger inbox --as filer
done
is "nothing went through the link" "$(cat target)" untouched
rm -rf "$boxes/filer.txt"
exits 0 "once it is gone" bridge
is "all of it comes" "$(grep -c ': to a ' "$boxes/filer.txt")" 3

# ---- running
"$ROGER" bridge >log 2>log.err &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
	grep -q bridge "/proc/$server/cmdline" 2>/dev/null && break
	sleep 0.05
done
roger send -q --as LEAD filer 'while it runs'
printf '(bob #1): in, while it runs\n' >"$boxes/LEAD.txt"
exits 0 "mail comes in" roger wait --as LEAD --timeout 10s
for _ in $(seq 50); do
	grep -q 'while it runs' "$boxes/filer.txt" && break
	sleep 0.1
done
like "and goes out" "$(cat "$boxes/filer.txt")" 'while it runs'
exits 0 "ingest does not wait for it" sh -c "echo '(bob #2): by hand' | '$ROGER' ingest --to LEAD"
exits 75 "a second bridge gives up" bridge
like "and names the first" "$err" "$server"
kill -INT "$server"
wait "$server"
is "an interrupt is a clean end" "$?" 0
like "each crossing is a line" "$(cat log)" 'took bob #1 -> LEAD  LEAD.txt'
exits 1 "the next one takes over" bridge
"$ROGER" bridge --json >log.json 2>/dev/null &
server=$!
printf '(bob #3): as JSON\n' >"$boxes/LEAD.txt"
for _ in $(seq 50); do
	[ -s log.json ] && break
	sleep 0.1
done
kill "$server"
wait "$server"
is "an object for each" "$(head -n 1 log.json | json '[d["kind"], d["seq"]]')" '["taken", 3]'
exits 1 "wait for nothing" roger bridge --timeout 50ms
exits 0 "verify" roger verify -q
exits 0 "doctor" roger doctor -q
done_testing
