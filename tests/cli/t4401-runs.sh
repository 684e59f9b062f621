#!/bin/sh
# Runs of sub-agents, from dispatch to confirmed forward: every status follows
# from evidence, contradictions are refused, documents of other tools are taken
# when valid and told when not, and of two writers one wins.
. "$(dirname "$0")/lib.sh"

roger init -q
runs=.roger/state/subagent-delivery-watchdog
status_of() { roger runs "$1" --json | json 'd["runs"][0]["status"]'; }
member() { json "d['$1']" <"$runs/$2.json"; }

# A run that goes well.
check "dispatch" roger dispatch good --as lead --child tester --issue app --within 5m
is "makes the folder and the document" "$(ls $runs)" good.json
is "with the seed's members in its order" "$(json 'list(d)[:14]' <$runs/good.json)" \
	"$(json 'list(d)' <"$source_dir/tests/spec/001-run.json")"
is "for nobody else to read" "$(stat -c %a $runs/good.json)" 600
is "active" "$(status_of good)" active
exits 77 "a second dispatch" roger dispatch good --as lead
exits 77 "a forward before the completion" roger runs forward good
like "says what is missing" "$err" "no completion receipt"
exits 77 "a recovery while there is time" roger runs recover good
check "extend" roger runs extend good --by 5m --reason "slow mirror"
like "is noted" "$(member notes good)" "extended to .*slow mirror"
exits 65 "too long an extension" roger runs extend good --by 2d
check "complete with a result" sh -c 'echo "all PLANTED pass" | "$0" complete good --exit 0 --result -' "$ROGER"
is "is not the end" "$(status_of good)" done_but_not_forwarded
exits 0 "to say so again" roger complete good
like "changes nothing" "$out" "said so already"
exits 77 "another source is refused" roger complete good --source manual_recovery
exits 77 "so is a failure" roger complete good --failed
exits 77 "and more time" roger runs extend good --by 1m
exits 77 "forward while the result is unread" roger runs forward good
like "names the message and its reader" "$err" "msg-.*not yet read by 'lead'"
exits 66 "evidence that is not there" roger runs forward good --evidence msg-1-x
is "the result is a message from the child" \
	"$(roger inbox --as lead --json | json '[[m["from"], m["type"], m["issue"], m["metadata"]] for m in d["messages"]]')" \
	'[["tester", "result", "app", {"run": "good"}]]'
roger receive --as lead -q
check "once it is read, forward" roger runs forward good
is "completes the run" "$(status_of good)" completed
is "with the message as evidence" "$(member forwardEvidence good)" "$(member resultMessageId good)"
roger doctor rebuild -q
is "no content outside of the messages" "$(grep -rl PLANTED .roger | sed 's,.*/,,' | sort | tr '\n' ' ')" "messages.db messages.jsonl "

# One that fails.
roger dispatch bad --as lead -q
exits 65 "an exit status that is none" roger complete bad --exit 256
exits 64 "a result of a failure" roger complete bad --failed --result x
check "a failed child" roger complete bad --exit 3
is "blocks the run" "$(status_of bad)" blocked
like "with a reason" "$(member statusReason bad)" "child ended without a result .exit 3"
exits 77 "and needs no more time" roger runs extend bad --by 1m
check "a result may still come" roger complete bad --result late
is "and counts" "$(status_of bad)" done_but_not_forwarded

# Names, times, owners.
check "any name is a file of its own" roger dispatch ../../x:y --as lead -q
is "in its folder" "$(ls $runs | grep x)" "%2E.%2F..%2Fx%3Ay.json"
exits 65 "but not this one" roger dispatch 'a b'
exits 65 "a deadline in the past" roger dispatch past --expected-by 2020-01-01T00:00:00Z
exits 65 "or that is none" roger dispatch past --expected-by soon
exits 0 "a deadline as people write it" roger dispatch -q --expected-by 'tomorrow 10:00' --json soon
like "is stored as RFC 3339" "$out" '"expected_by":"20[0-9-]*T[0-9:.]*Z"'
roger complete -q soon --failed
exits 64 "or two" roger dispatch past --within 1m --expected-by 2090-01-01T00:00:00Z
roger dispatch far --expected-by 2090-01-01T08:00:00+08:00 -q
is "a deadline keeps its offset" "$(member expectedBy far)" 2090-01-01T08:00:00+08:00
exits 77 "a result that nobody is to get" roger complete far --result x
exits 65 "a group gets none" roger dispatch grouped --forward-to all
id=$(send_id --as far boss 'here it is')
check "one that was sent already" roger complete far --message "$id"
exits 66 "unknown run" roger complete nosuch

# Documents of others.
sed 's/run_2026_04_24_abc123/seed/' "$source_dir/tests/spec/001-run.json" >$runs/seed.json
before=$(cksum <$runs/seed.json)
is "the seed's is late by now" "$(status_of seed)" suspect_delivery_failure
is "which reading does not write" "$(cksum <$runs/seed.json)" "$before"
unlike "and says nothing of: time does that to every run" "$(roger runs)" "note:"
sed 's/"forwardedToMain": false/"forwardedToMain": true/; s/"run_[^"]*"/"odd"/' \
	"$source_dir/tests/spec/001-run.json" >$runs/odd.json
echo '{' >$runs/broken.json
cp $runs/seed.json $runs/other.json
ln -s seed.json $runs/link.json
echo 'for people' >$runs/README.md
exits 0 "runs lists what is valid" roger runs --json
is "and the others with what is wrong" \
	"$(printf '%s' "$out" | json 'sorted(t["file"] for t in d["troubles"] if t["invalid"])')" \
	'["broken.json", "link.json", "odd.json", "other.json"]'
like "by member" "$out" "forwardedToMain: is true without a completion"
exits 65 "one that is not valid is not changed" roger complete odd
like "and the error says why" "$err" "left alone: forwardedToMain"
is "by sweep neither" "$(roger runs sweep --json | json '[t["file"] for t in d["troubles"]]' | tr -d '[]" ' | tr , '\n' | sort | tr '\n' ' ')" \
	"broken.json link.json odd.json other.json "
rm $runs/odd.json $runs/broken.json $runs/other.json $runs/link.json
python3 - $runs/seed.json <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["theirs"] = {"a": [1, 2.50]}
open(sys.argv[1], "w").write(json.dumps(d))
PY
check "members of others" roger complete seed --source history_fetch
is "survive" "$(member theirs seed)" '{"a": [1, 2.5]}'
is "and so do its instants" "$(member dispatchAt seed)" 2026-04-24T10:40:00+08:00

# sweep.
roger receive --as lead -q
exits 0 "sweep, to look" roger runs sweep --dry-run --json
is "would confirm what was read" "$(printf '%s' "$out" | json 'd["forwarded"]')" 1
is "and does nothing" "$(member status bad)" done_but_not_forwarded
like "in words" "$(roger runs sweep --dry-run | tr -s ' \n' ' ')" "forwarded 1 recoveries 0 escalations 0 .*dry run: nothing is changed"
like "a change, too" "$(roger runs sweep --dry-run | tr -s ' ')" "bad finished, result unread done"
exits 0 "sweep" roger runs sweep --json
is "confirms" "$(printf '%s' "$out" | json '[d["forwarded"], [[c["run"], c["before"], c["after"]] for c in d["changes"]]]')" \
	'[1, [["bad", "done_but_not_forwarded", "completed"]]]'
is "once" "$(roger runs sweep --json | json '[d["forwarded"], d["changes"]]')" '[0, []]'
is "filters" "$(roger runs --status completed --json | json '[r["run"] for r in d["runs"]]')" '["good", "bad"]'
is "also in people's words" "$(roger runs --status done --json | json '[r["run"] for r in d["runs"]]')" '["good", "bad"]'
exits 65 "but no other ones" roger runs --status finish
is "by issue" "$(roger runs --issue app --jsonl | json 'd["run"]')" good

# Many at once: one document, one message, one note for each change.
roger dispatch race --as lead -q
for i in 1 2 3 4 5 6 7 8; do
	roger complete race --result same >"c$i" 2>&1 &
done
wait
is "eight completions are one message" "$(roger list --to lead --jsonl | grep -c '"run":"race"')" 1
is "and one receipt" "$(cat c? | grep -c 'said so already')" 7
roger dispatch busy --as lead --within 1h -q
for i in 1 2 3 4 5 6; do
	roger runs extend busy --by 1m -q 2>/dev/null &
done
wait
is "six extensions are three" "$(member extensionCount busy)" 3
is "each noted" "$(json 'len(d["notes"])' <$runs/busy.json)" 3
for i in 1 2 3 4 5 6; do
	roger dispatch twins --child "c$i" -q 2>/dev/null && echo "$i" >>won &
done
wait
is "six dispatches are one" "$(wc -l <won | tr -d ' ')" 1
is "and it is whole" "$(member childSessionKey twins)" "c$(cat won)"
for name in sweep recover extend forward; do
	run roger runs "$name"
	unlike "no run is named $name: nothing is said" "$err" "shows the run"
	roger dispatch "$name" --as lead --child kid -q
	run roger runs "$name"
	like "$name is a command and a run: it is said how the run is shown" "$err" "\`roger runs --run $name\` shows the run '$name'"
	like "and so it is" "$(roger runs --run "$name")" "^$name  running"
done
is "nothing is left beside" "$(ls $runs | grep -c new)" 0
done_testing
