#!/bin/sh
# runner: timeout 300
# doctor: a breach of every rule, planted by somebody who keeps the chain whole,
# is found with its file and line; what is derived is mended, and then all is sound.
. "$(dirname "$0")/lib.sh"

tests=$source_dir/tests/cli
forge() { # FILE CODE
	python3 "$tests/lib_forge.py" ".roger/$1" "$2" || note "forge $1 failed"
	rm -f .roger/messages.db-index # or it would tell of the change before anybody else
}

roger init -q
for i in 1 2 3 4 5 6; do
	roger send --as ann bob "number $i" --issue app --key "app-$i:status-update:c1" -q
done
roger send --as ann bob,carol "to two" -q
roger receive --as bob --limit 2 -q
roger send --as bob ann "an answer" --issue app --reply-to "$(roger list --issue app --jsonl | head -n 1 | json 'd["id"]')" -q
roger archive --issue app -q
for i in 1 2 3; do
	roger send --as zoe bob "lost" --key lost:escalation:c1 --confirm read --within 1ms -q 2>/dev/null
done
roger send --as zoe bob "late" --key late:escalation:c1 --confirm read --within 1ms -q 2>/dev/null
roger dispatch run-1 --as ann --within 1h -q
roger complete run-1 --result done -q
roger receive --as ann -q
roger runs forward run-1 -q
roger dispatch run-2 --as ann --within 1h -q
roger log cycle new --as ann -q
roger list -q >/dev/null
exits 0 "a sound workspace" roger doctor --json
is "has no breaches" "$(printf '%s' "$out" | json '[d["damaged"], d["repairable"], d["notes"], d["left"], d["breaches"]]')" "[0, 0, 0, 0, []]"
is "all of it was gone through" "$(printf '%s' "$out" | json '[d["messages"], d["attempts"], d["runs"], d["bytes"] > 5000]')" "[$(wc -l <.roger/messages.jsonl), $(cat .roger/send-log/* | wc -l), 2, true]"
exits 0 "in words" roger doctor
like "in one line" "$out" "2 runs, 0 MB: sound$"
cp -r .roger sound
# A copy that gets the same inodes would be taken for the workspace itself.
rm sound/messages.control

again() {
	rm -rf .roger
	cp -rp sound .roger
}

# Breaches of that kind and words; $at is the first one's file and line.
found() { # NAME SEVERITY KIND PATTERN [FILE LINE]
	run roger doctor --json
	_hit=$(printf '%s' "$out" | python3 -c '
import json, re, sys
for b in json.load(sys.stdin)["breaches"]:
    if b["severity"] == sys.argv[1] and b["kind"] == sys.argv[2] and re.search(sys.argv[3], b["what"]):
        print(b["file"], b["line"])
        break' "$2" "$3" "$4")
	is "$1" "$_hit" "${5-} ${6-}"
	[ "$_hit" = "${5-} ${6-}" ] || note "$out"
	case $2 in
	note) is "$1: no breach" "$status" 0 ;;
	*) is "$1: exit 65" "$status" 65 ;;
	esac
}

damage() { # NAME KIND PATTERN FILE LINE
	found "$1" damage "$2" "$3" "$4" "$5"
	run roger doctor --fix --json
	is "$1: nothing mends it" "$status" 65
	again
}

noted() {
	found "$1" note "$2" "$3" "$4" "$5"
	again
}

# Planted anew each time: whoever asks an index mends it, too.
mended() { # NAME KIND PATTERN FILE LINE COMMAND
	_mended=$1 _kind=$2 _pattern=$3 _file=$4 _at=$5
	# What a copy lacks is made before.
	roger log sends -q >/dev/null
	eval "$6"
	found "$_mended" repairable "$_kind" "$_pattern" "$_file" "$_at"
	again
	roger log sends -q >/dev/null
	eval "$6"
	exits 65 "$_mended: in words" roger doctor
	like "$_mended: says how to mend it" "$out" "roger doctor --fix"
	again
	roger log sends -q >/dev/null
	eval "$6"
	set -- "$_mended"
	exits 0 "$1: --fix mends it" roger doctor --fix --json
	is "$1: and says so" "$(printf '%s' "$out" | json 'd["fixed"] > 0 and d["left"] == 0 and all(b["fixed"] for b in d["breaches"] if b["severity"] == "repairable")')" true
	exits 0 "$1: sound afterwards" roger doctor --json
	is "$1: without a breach" "$(printf '%s' "$out" | json 'd["repairable"]')" 0
	again
}

# ---- the chain
sed -i '4s/number/NUMBER/' .roger/messages.jsonl
damage "a byte changed" chain "altered" messages.jsonl 4
sed -i 2d .roger/send-log/ann.jsonl
roger doctor -q >/dev/null
roger doctor -q >/dev/null
is "what it finds is recorded, once" "$(grep -c '"file":"send-log/ann.jsonl","kind":"altered","line":2' .roger/damage.jsonl)" 1
damage "a line of a log taken out" chain "altered" send-log/ann.jsonl 2

# ---- messages
forge messages.jsonl 'lines[3]["id"] = lines[2]["id"]'
damage "an id used twice" message "rewritten: .* line 3" messages.jsonl 4
forge messages.jsonl 'lines[5]["seq"] = 2'
damage "a number that is not above the last" message "number is not higher" messages.jsonl 6
forge messages.jsonl 'lines[7]["to_phase"] = "bob"; lines[7]["seq"] = lines[6]["seq"]'
damage "two messages to one agent with one number" message "number is not higher" messages.jsonl 8
forge messages.jsonl 'lines[1]["epoch"] = 3'
damage "an epoch that goes back" message "its session had ended" messages.jsonl 3
forge messages.jsonl 'again = dict(lines[-1]); again["read"] = False; again["read_at"] = None; again.pop("archived_at", 0); again["read"] = False; read = next(l for l in lines if l["read"] and "archived_at" not in l); again = dict(read); again["read"] = False; again["read_at"] = None; lines.insert(lines.index(read) + 1, again)'
_line=$(python3 -c '
import json
for n, line in enumerate(open(".roger/messages.jsonl"), 1):
    if json.loads(line)["read"]:
        print(n + 1)
        break')
damage "unread again" message "read before" messages.jsonl "$_line"
forge messages.jsonl 'old = dict(next(l for l in lines if "archived_at" in l)); old.pop("archived_at"); old.pop("archive_reason"); lines.append(old)'
damage "back from the archive" message "archived before" messages.jsonl "$(wc -l <.roger/messages.jsonl)"
forge messages.jsonl 'lines[0]["read"] = True'
damage "read at no time" message "contradict" messages.jsonl 1
forge messages.jsonl 'lines[8]["read_at"] = 5'
noted "read before it was sent" message "according to the clocks" messages.jsonl 9
_line=$(grep -n '"reply_to"' .roger/messages.jsonl | cut -d: -f1 | head -n 1)
forge messages.jsonl '[line.update(reply_to="msg-1-none") for line in lines if "reply_to" in line]'
noted "an answer to nothing" message "reply_to names no message" messages.jsonl "$_line"
printf 'garbage\n' >>.roger/messages.jsonl
noted "a stray" shape "no message" messages.jsonl "$(wc -l <.roger/messages.jsonl)"
printf 'size_limits:\n  max_messages_per_issue_phase: 1\n  max_content_length: 5\n' >.roger/config.yaml
found "more messages than the limit" note limit "holds .* messages" messages.jsonl "$(grep -n '"number 6"' .roger/messages.jsonl | cut -d: -f1 | head -n 1)"
noted "a message longer than the limit" limit "content of 8 characters" messages.jsonl 1

# ---- what is derived from them
mended "an index with a flipped byte" index "cannot be read" messages.db-index 0 'roger doctor rebuild -q; printf x | dd of=.roger/messages.db-index bs=1 seek=70000 conv=notrunc 2>/dev/null'
mended "a table that lacks rows" index "rows of messages: 0" messages.db 0 'python3 -c '\''import sqlite3; d = sqlite3.connect(".roger/messages.db"); d.execute("delete from messages"); d.commit()'\'''
mended "a row of it changed" index "differs from the journal" messages.db 0 'python3 -c '\''import sqlite3; d = sqlite3.connect(".roger/messages.db"); d.execute("update messages set content = \"forged\" where rowid = 3"); d.commit()'\'''
mended "a trigger that somebody planted" index "a view or trigger" messages.db 0 'python3 -c '\''import sqlite3; sqlite3.connect(".roger/messages.db").execute("create trigger t after insert on messages begin delete from messages; end")'\'''
mended "a table that is none" index "cannot be read" messages.db 0 'printf '\''no database, this is'\'' | dd of=.roger/messages.db conv=notrunc 2>/dev/null'
mended "message-state.json is missing" state "it is missing" message-state.json 0 'roger send --as ann bob more -q; rm .roger/message-state.json'
mended "message-state.json is none" state "not JSON" message-state.json 0 'printf '\''{"epoch":0'\'' >.roger/message-state.json'
sed -i 's/"ann":[0-9]*/"ann":1/' .roger/message-state.json
found "a counter that is behind" note state "counter is below" message-state.json 0
exits 0 "is mended as well" roger doctor --fix -q
is "and right" "$(cat .roger/message-state.json)" "$(cat sound/message-state.json)"
sed -i 's/"bob":{"ann":[0-9]*/"bob":{"ann":1/' .roger/message-state.json
found "a number that was read is above that" note state "lastSeen" message-state.json 0
sed -i 's/"bob":{[^}]*}/"bob":{}/' .roger/message-state.json
found "a number that was read is missing" note state "lastSeen" message-state.json 0
again
sed -i 's/"ann":[0-9]*,/ /' .roger/message-state.json
found "a counter is missing" note state "a counter" message-state.json 0
again
mended "its session is over" state "epoch has ended" message-state.json 0 'roger agents session new -q; roger send --as ann bob "of the next one" -q; sed -i "s/\"epoch\":2/\"epoch\":1/" .roger/message-state.json'
_archived=$(grep -n '"archived_at"' .roger/messages.jsonl | cut -d: -f1 | head -n 1)
mended "the archive is gone" archive "missing in messages_archive" messages.jsonl "$_archived" 'rm -r .roger/messages_archive'
sed -i '2s/number/NUMBER/' .roger/messages_archive/app.jsonl
damage "another word in the archive" archive "not the message" messages_archive/app.jsonl 2
cat .roger/messages_archive/* | sort >before
sed -i 1d .roger/messages_archive/app.jsonl
roger doctor --fix -q >/dev/null
is "the archive holds the same lines as before" "$(cat .roger/messages_archive/* | sort | cmp - before && echo same)" same
again
for first in verify "doctor --fix"; do
	(
		rm -rf removed && mkdir removed && cd removed && roger init -q && roger send --as ann --new bob "one" -q
		roger archive --to bob --unread -q
		rm .roger/messages_archive/general.jsonl
		# shellcheck disable=SC2086
		roger $first -q
		roger doctor --fix -q
		roger doctor --json
	) >told 2>/dev/null
	is "an archive that was removed is damage, also when it was written again, and nothing else is: $first finds it" \
		"$(json '[[b["file"], b["severity"], b["what"]] for b in d["breaches"]]' <told)" \
		'[["messages_archive/general.jsonl", "damage", "gone: it was removed"]]'
done

(
	mkdir archived && cd archived && roger init -q && roger send --as ann --new bob "one" -q && roger receive --as bob -q
	python3 -c '
import json
with open(".roger/messages.jsonl", "r+") as file:
    line = json.loads(file.readlines()[-1])
    line.pop("chain")
    file.write(json.dumps({**line, "archived_at": line["read_at"] + 5, "archive_reason": "theirs"}) + "\n")'
	for option in "" --fix ""; do
		# shellcheck disable=SC2086
		roger doctor --json $option
	done
	cat .roger/messages_archive/general.jsonl
) >told 2>/dev/null
is "what another program archived, and put nowhere, is told, and put there by --fix" \
	"$(python3 -c 'import json; a, b, c, kept = map(json.loads, open("told")); print([[f["severity"], f["line"], f["what"], f["fixed"]] for d in (a, b, c) for f in d["breaches"]], c["left"], kept["content"], kept["archive_reason"])')" \
	"[['note', 3, 'archived by this line of another program, but missing in messages_archive/', False], ['note', 3, 'archived by this line of another program, but missing in messages_archive/', True]] 0 one theirs"

(
	mkdir many && cd many && roger init -q && roger send --as ann --new bob "one" -q && roger seal -q >/dev/null
	rm .roger/seal.pub && roger trust --revoke -q >/dev/null
	python3 -c '
import json
with open(".roger/messages.jsonl", "r+") as file:
    line = json.loads(file.readline())
    line.pop("chain")
    file.seek(0, 2)
    for n in range(1100):
        file.write(json.dumps({**line, "id": "theirs-%d" % n, "seq": n + 2, "read": True, "read_at": line["created_at"], "archived_at": line["created_at"]}) + "\n")'
	roger doctor --fix --json
	ls .roger/seal.pub >made
) >told 2>/dev/null
is "what --fix leaves is not made" "$(cat many/made)" ""
is "however much is mended, what is left is told" "$(json '[d["fixed"] > 1000, d["left"], [b["fixed"] for b in d["breaches"] if b["severity"] == "repairable"]]' <told)" "[true, 1, [false]]"

# ---- the send log
forge send-log/ann.jsonl 'lines[1]["payload_sha256"] = "0" * 64'
damage "another checksum" send_log "differ from the message" send-log/ann.jsonl 2
forge send-log/ann.jsonl 'lines[1]["payload_chars"] += 1'
damage "another length" send_log "differ from the message" send-log/ann.jsonl 2
forge send-log/ann.jsonl 'lines[2]["id"] = "snd-" + "0" * 32'
damage "an id that is not its own" send_log "id does not match" send-log/ann.jsonl 3
forge send-log/ann.jsonl 'lines.append(dict(lines[0], idempotent_key="never:sent:c1"))'
damage "delivered what was never sent" send_log "no such attempt" send-log/ann.jsonl "$(wc -l <.roger/send-log/ann.jsonl)"
forge send-log/zoe.jsonl 'lines[-1]["outcome"] = "delivered"'
damage "delivered what nobody read" send_log "no evidence" send-log/zoe.jsonl "$(wc -l <.roger/send-log/zoe.jsonl)"
forge send-log/ann.jsonl 'lines.append(dict(lines[0], outcome="timeout"))'
damage "delivered no longer" send_log "delivered before" send-log/ann.jsonl "$(wc -l <.roger/send-log/ann.jsonl)"
forge send-log/zoe.jsonl 'lines[0]["attempt"] = 7; lines[0]["cycle_id"] = "9"'
damage "a cycle that was never opened" send_log "never opened" send-log/zoe.jsonl 1
forge send-log/zoe.jsonl 'lines[-1]["attempt"] = 7'
damage "an attempt without the one before" send_log "attempt before it is missing" send-log/zoe.jsonl "$(wc -l <.roger/send-log/zoe.jsonl)"
forge send-log/zoe.jsonl 'del lines[2:4]'
noted "an attempt that nobody settled" send_log "no recorded outcome" send-log/zoe.jsonl 3
forge send-log/zoe.jsonl '[l.update(dead_letter_task_id="dl-none") for l in lines if l["dead_letter_task_id"]]'
damage "a dead letter that is none" send_log "dead letter that does not exist" send-log/zoe.jsonl 6
cp .roger/send-log/ann.jsonl .roger/send-log/eve.jsonl
damage "the log of another" send_log "in another sender's log" send-log/eve.jsonl 1
mended "an entry is missing" send_log "there is no entry" send-log/ann.jsonl 0 'sed -i "/app-6:status-update/,\$d" .roger/send-log/ann.jsonl'
mended "a log is missing" send_log "there is no entry" send-log/ann.jsonl 0 'rm .roger/send-log/ann.jsonl'

# ---- dead letters, cycles
mended "the dead letters are gone" dead_letter "is gone" send-log/zoe.jsonl 6 'rm .roger/dead-letters.jsonl'
rm .roger/dead-letters.jsonl
roger doctor --fix -q
is "mended, they are the same" "$(roger dead --json | json '[[d["key"], d["attempts"], d["status"]] for d in d["dead_letters"]]')" '[["lost:escalation:c1", 3, "undelivered"]]'
again
rm .roger/dead-letters.jsonl
exits 77 "the next send files it as well" roger send --as zoe bob "lost" --key lost:escalation:c1 --confirm read --within 1ms
like "and names it" "$err" "it is dead letter '$(roger dead --json | json 'd["dead_letters"][0]["id"]')'"
exits 0 "and all is well" roger doctor
again
forge dead-letters.jsonl 'lines.append(dict(lines[0], id="dl-" + "1" * 32))'
damage "a second dead letter" dead_letter "another dead letter" dead-letters.jsonl 2
forge dead-letters.jsonl 'lines[0]["payload_bytes"] = 1'
damage "a dead letter of something else" dead_letter "differ from the message" dead-letters.jsonl 1
rm .roger/dead-letters.jsonl
forge send-log/zoe.jsonl '[l.update(dead_letter_task_id=None) for l in lines]'
damage "given up without a dead letter" dead_letter "no dead letter" send-log/zoe.jsonl 6
forge cycles.jsonl 'lines.append(dict(lines[0], id="7", number=7))'
damage "cycles that are not in order" cycle "number is not the next one" cycles.jsonl 2

# ---- runs
runs=.roger/state/subagent-delivery-watchdog
sed -i 's/"forwardedToMain": false/"forwardedToMain": true/' $runs/run-2.json
damage "forwarded without a completion" run "forwardedToMain" state/subagent-delivery-watchdog/run-2.json 0
sed -i 's/"resultMessageId": ".*"/"resultMessageId": "msg-1-none"/' $runs/run-1.json
damage "a result that is no message" run "resultMessageId names no" state/subagent-delivery-watchdog/run-1.json 0
_unread=$(roger list --to bob --jsonl | tail -n 1 | json 'd["id"]')
sed -i 's/"forwardEvidence": ".*"/"forwardEvidence": "'"$_unread"'"/' $runs/run-1.json
damage "evidence that nobody read" run "nobody read" state/subagent-delivery-watchdog/run-1.json 0
cp $runs/run-1.json $runs/run-3.json
damage "a document under another name" run "runId" state/subagent-delivery-watchdog/run-3.json 0
mv $runs/run-2.json elsewhere.json && ln -s ../../../elsewhere.json $runs/run-2.json
is "a link is one breach" "$(roger doctor --json | json '[b["kind"] for b in d["breaches"]]')" '["place"]'
damage "a link to a document" place "symbolic link" state/subagent-delivery-watchdog/run-2.json 0
sed -i 's/"expectedBy": ".*"/"expectedBy": "'"$(json 'd["dispatchAt"]' <$runs/run-2.json)"'"/' $runs/run-2.json
found "a status that time has overtaken" note run "it says active" state/subagent-delivery-watchdog/run-2.json 0
exits 0 "is written down" roger doctor --fix -q
is "as sweep does" "$(json 'd["status"]' <$runs/run-2.json)" suspect_delivery_failure
again

# ---- places and modes
mended "a journal that others may read" mode "0600" messages.jsonl 0 'chmod 644 .roger/messages.jsonl'
mended "a folder that others may read" mode "0700" send-log 0 'chmod 755 .roger/send-log'
mended "an index that its owner may not read" mode "owner may not read it; expected mode 0600" messages.db-index 0 \
	'chmod 0 .roger/messages.db-index'
ln -s /etc/passwd .roger/triggers
damage "a symbolic link" place "does not follow; move it away" triggers 0
mkfifo .roger/pipe
damage "a pipe" place "neither a file nor a folder; move it away" pipe 0
for file in id messages.db send-log/dan.jsonl messages_archive/app-9.jsonl; do
	rm -f .roger/$file && (umask 077 && mkdir .roger/$file)
	damage "a folder as $file" place "a folder, where roger has a file; move it away" $file 0
done
rm .roger/message-state.json && mkdir -m 755 .roger/message-state.json
like "status says what to do with it" "$(roger status)" "message-state.json cannot be read: .* move it away"
unlike "and nothing else" "$(roger status)" "doctor --fix"
unlike "nor does doctor" "$(roger doctor)" "doctor --fix|expected mode"
(umask 022 && mkdir .roger/notes.json.d)
like "but a folder of another name is closed like any" "$(roger doctor)" "notes.json.d.*expected mode 0700"
rmdir .roger/notes.json.d
damage "a folder as message-state.json" state "move it away" message-state.json 0
(umask 077 && echo >.roger/message-state.json.new-4194303)
found "what a killed process left" note place "killed" message-state.json.new-4194303 0
exits 0 "goes" roger doctor --fix -q
is "away" "$(ls .roger | grep -c new)" 0
rm -rf .roger/triggers .roger/pipe
(umask 077 && mkdir -p .roger/triggers/.handing)
# What is left in the folders inside, whatever its mode; but not of one that lives, nor what others drop.
leftovers() { find .roger -name '*.new-*' | sort | tr '\n' ' '; }
echo >.roger/triggers/.handing/bob.new-4194303
echo >$runs/run-1.json.new-4194303
echo >$runs/run-2.json.new-4194302
(umask 077 && echo >.roger/triggers/.handing/ann.new-$$)
echo >.roger/triggers/mine.new-4194303
exits 0 "all of them go at once" roger doctor --fix
like "each is told" "$out" "triggers/.handing/bob.new-4194303: left by a process that was killed .fixed."
is "and what is not ours stays" "$(leftovers)" ".roger/triggers/.handing/ann.new-$$ .roger/triggers/mine.new-4194303 "
rm -r .roger/triggers
again
roger seal -q >/dev/null
echo "$(printf '%064d' 7)" >.roger/seal.pub
damage "a public key of somebody else" seal "not its public half" seal.key 0
mended "a public key that is gone" seal "missing" seal.key 0 'roger seal -q >/dev/null; rm .roger/seal.pub'
mkdir -m 700 .roger/seal.key
damage "a folder with the name of the key" seal "not a regular file" seal.key 0

# ---- a backup made of links
ln .roger/messages.jsonl backup.jsonl
exits 0 "a journal with two names is no breach" roger doctor
like "but told: what is added is added to both" "$out" "messages.jsonl: 2 names lead to it"
rm backup.jsonl
unlike "and then no more" "$(roger doctor)" "names lead to it"

# ---- what another program says of the reading
mkdir other && cd other && roger init -q
roger send --as ann --new bob x -q
printf '{"id":"msg-1-a","issue_id":"app","from_phase":"ann","to_phase":"bob","message_type":"context","content":"hi","metadata":null,"run_counter":1,"created_at":1,"read":true,"read_at":null}\n' >>.roger/messages.jsonl
roger ack msg-1-a --as bob --outcome done -q
roger archive msg-1-a --as bob -q
exits 0 "lines of roger that repeat it are no damage" roger doctor
is "and it is told once" "$(printf '%s\n' "$out" | grep -c 'read and read_at contradict')" 1
cd ..

# ---- another program that writes as seed 004 says: a line, then its row
cd other || exit 1
printf '{"id":"msg-1-b","issue_id":"app","from_phase":"kim","to_phase":"bob","run_counter":1,"message_type":"context","content":"hi","metadata":null,"read":false,"created_at":1,"read_at":null}\n' >>.roger/messages.jsonl
python3 -c 'import sqlite3; db = sqlite3.connect(".roger/messages.db"); db.execute("INSERT INTO messages VALUES(\"msg-1-b\", \"app\", \"kim\", \"bob\", 1, \"context\", \"hi\", NULL, 0, 1, NULL)"); db.commit()'
exits 0 "a row whose line was not read yet is no breach" roger doctor
unlike "and not told" "$out" "messages.db"
roger list -q >/dev/null
python3 -c 'import sqlite3; db = sqlite3.connect(".roger/messages.db"); db.execute("DELETE FROM messages WHERE from_phase = \"kim\""); db.commit()'
exits 65 "a row that is gone is one" roger doctor
like "of messages.db" "$out" "messages.db: rows of messages"
cd ..

# ---- many at once, and a place where nothing can be written
for i in $(seq 1500); do printf 'garbage\n'; done >>.roger/messages.jsonl
exits 0 "many notes" roger doctor --json
is "are counted all and told in part" "$(printf '%s' "$out" | json '[d["notes"], len(d["breaches"])]')" "[1500, 1000]"
run roger doctor
is "people are shown the first of each kind" "$(printf '%s\n' "$out" | grep -c '^  messages.jsonl line')" 1
like "and how many more" "$out" "and 999 more of this kind"
roger seal -q >/dev/null
printf '%064d\n' 7 >.roger/seal.pub
run roger doctor
like "and what is broken at the end" "$(printf '%s\n' "$out" | tail -n 2 | head -n 1)" "^  seal.key.*public half"
roger doctor --fix -q
again
exits 64 "no such option" roger doctor --mend

# What another program made before roger did, under the name of its table, is no damage.
cd "$HOME" && mkdir early && cd early && roger init -q && roger send --as ann bob hi --new -q
(umask 077 && : >.roger/messages.db)
exits 0 "an empty messages.db" roger doctor
roger inbox --as bob >/dev/null && roger send --as ann bob more -q && roger inbox --as bob >/dev/null
is "gets its rows from who reads next" "$(python3 -c 'import sqlite3; print(sqlite3.connect(".roger/messages.db").execute("select count(*) > 0 from messages").fetchone()[0])')" 1

# A file of nothing but a hole is not read for hours.
cd "$HOME" && mkdir hole && cd hole && roger init -q && roger send --as ann bob hi --new -q
if truncate -s 1T .roger/logs/activity.log.jsonl 2>/dev/null; then
	exits 65 "a log of 1 TiB" roger doctor
	like "is not read" "$out" "logs/activity.log.jsonl: 'activity.log.jsonl' is longer than 256 GiB"
	exits 0 "nor by a send" roger send --as ann bob more
	truncate -s 1T .roger/messages.jsonl
	exits 77 "nor is a journal" roger inbox --as bob
fi
done_testing
