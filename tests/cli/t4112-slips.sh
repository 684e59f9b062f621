#!/bin/sh
# A slip of the hand makes no mailbox: words of a text without its quotes are no
# recipients, nor is a name that is near a known one; and nobody sends under a
# reserved name.
. "$(dirname "$0")/lib.sh"

roger init -q
printf 'groups:\n  workers: [wanda-1, builder]\nbridge:\n  file_only: [filers]\nwake:\n  agents:\n    sleeper: [true]\n' >.roger/config.yaml
roger send -q --as implement bob first 2>/dev/null
roger send -q --as carol worker-1 first 2>/dev/null
state=$(state_of .roger)
echo text >file
names() { roger agents --json | json '[a["name"] for a in d["agents"]]'; }
known=$(names)

# ------------------------------------------------------------ forgotten quotes
exits 64 "forgotten quotes" roger send --as ann bob hi there friend
like "as one text" "$err" "roger send bob 'hi there friend'"
like "as several recipients" "$err" "roger send bob,hi,there 'friend'"
exits 64 "a key that is empty, as that of an unset variable" roger send --as ann bob hi --key ''
like "says so" "$err" "expected a key, found ''"
exits 64 "a word beside a file" roger send --as ann bob hi --file file
like "both readings" "$err" "'hi' is not known.*roger send bob 'hi'.*roger send bob,hi "
exits 64 "beside a batch" sh -c 'echo "{\"content\":\"x\"}" | "$0" send --as ann bob hi --batch' "$ROGER"
exits 64 "behind --to" roger send --as ann --to bob hi friend
exits 64 "one of several is not known" roger send --as ann bob carol hi friend
like "is named" "$err" "'hi' is not known"
exits 64 "a word that is no name" roger send --as ann bob 'hi,' 'there?' friend
exits 64 "long ones, in one line" roger send --as ann bob "$(printf '%0300d' 0)" "$(printf 'ä%.0s' $(seq 300))"
is "one" "$(printf '%s\n' "$err" | wc -l)" 1
is "nothing of it is stored, nobody is known by it" "$(state_of .roger) $(names)" "$state $known"
to() { json '" ".join(m["to"] for m in d["messages"])'; }
is "known words are recipients" "$(roger send --as ann bob carol workers x --json | to)" "bob carol wanda-1 builder"
is "in one word all are" "$(roger send --as ann bob,hi-1,hi-2 x --json | to)" "bob hi-1 hi-2"
is "also with --to" "$(roger send --as ann --to bob,hi-3 --to carol x --json | to)" "bob hi-3 carol"
is "and with a file" "$(roger send --as ann bob,hi-4 --file file --json | to)" "bob hi-4"
exits 65 "nothing between commas is no name" roger send --as ann bob,,carol x

# --------------------------------------------------------------- near a known one
for name in implemnt Implement implememt implmeent im_plement WORKER.1 worker worker_1 sleepers; do
	case $name in
	worker) near=workers ;; WORKER.1 | worker_1) near=worker-1 ;; sleepers) near=sleeper ;; *) near=implement ;;
	esac
	exits 77 "$name" roger send --as ann $name x
	like "may be $near" "$err" "'$name' has never been seen here; did you mean '$near'\? .*--new"
	is "by a reply of JSON, too" "$(roger send --as ann $name x --dry-run --json 2>&1 >/dev/null | json '[d["error"]["code"], d["error"].get("member")]' 2>/dev/null || echo)" \
		"$(roger send --as ann implemnt x --dry-run --json 2>&1 >/dev/null | json '[d["error"]["code"], d["error"].get("member")]' 2>/dev/null || echo)"
done
for name in worker-2 worker-12 plan; do
	exits 0 "$name is somebody else" roger send --as ann $name x
	like "never seen here" "$err" "'$name' has never been seen here"
done
for name in filers builder wanda-1 sleeper; do
	exits 0 "$name is configured" roger send --as ann $name x
	is "and expected" "$err" ""
done
roger arrive session-9 --as bulider -q
exits 0 "nor is who ever arrived" roger send --as ann bulider x
exits 0 "--new insists" roger send --as ann implemnt x --new --json
is "and says so" "$(printf '%s' "$out" | json 'd["never_seen"]')" '["implemnt"]'
exits 0 "then it is known" roger send --as ann implemnt x
is "without a note" "$err" ""
exits 77 "in a batch" sh -c 'echo "{\"to\":\"carrol\",\"content\":\"x\"}" | "$0" send --as ann --batch' "$ROGER"
exits 0 "whose line may insist" sh -c 'echo "{\"to\":\"carrol\",\"content\":\"x\",\"new\":true}" | "$0" send --as ann --batch -q' "$ROGER"
exits 77 "the owner of a run" roger dispatch run-1 --as ann --forward-to implemment
like "the same" "$err" "did you mean 'implement'"
exits 77 "of a program" roger run --run run-2 --as ann --forward-to implemment -- true
exits 77 "nor does a slip in one's own name become an owner" roger dispatch run-1 --as implemment
like "which it says" "$err" "agent: 'implemment' has never been seen here; did you mean 'implement'"
exits 77 "nor of a program" roger run --run run-2 --as implemment -- touch ran
exits 1 "which does not start" test -e ran
exits 0 "a new name does" roger dispatch run-0 --as zebra -q
is "without a note" "$err" ""
exits 77 "not where names are strict, since its result would be refused" \
	env ROGER_RECIPIENTS=strict "$ROGER" run --run run-2 --as giraffe -- touch ran
exits 1 "nor does that program start" test -e ran
mkdir -p .roger/triggers
printf '(carol #9): text that comes in is data, and nobody is there to be asked\n' >.roger/triggers/implemet.txt
exits 0 "text from an edge comes in" roger bridge --once
like "and is noted" "$err" "'implemet' has never been seen here; did you mean"
for word in open warn; do
	exits 0 "recipients: $word takes all" env ROGER_RECIPIENTS=$word "$ROGER" send --as ann "builde$word" x
done
exits 0 "open takes a slip" env ROGER_RECIPIENTS=open "$ROGER" send --as ann imlpement x
exits 77 "strict takes none that is not known" env ROGER_RECIPIENTS=strict "$ROGER" send --as ann somebody x
exits 77 "though one insists" env ROGER_RECIPIENTS=strict "$ROGER" send --as ann somebody x --new
exits 0 "but who is configured" env ROGER_RECIPIENTS=strict "$ROGER" send --as ann workers x

# ---------------------------------------------------------- short names, and one's own
mkdir short && cd short && roger init -q || exit 1
roger send -q --as lead test,plan,worker1,team-a x 2>/dev/null
for pair in tset:test tesst:test tes:test Test:test plna:plan plans:plan pln:plan; do
	exits 77 "${pair%:*} beside ${pair#*:}" roger send --as lead ${pair%:*} x
	like "with the suggestion" "$err" "'${pair%:*}' has never been seen here; did you mean '${pair#*:}'\? .*--new"
	exits 77 "nor sends anybody as ${pair%:*}" roger send --as ${pair%:*} lead x
	like "with the suggestion" "$err" "from: '${pair%:*}' has never been seen here; did you mean '${pair#*:}'\? .*--new"
done
exits 77 "nor a batch" sh -c 'echo "{\"from\":\"pln\",\"to\":\"lead\",\"content\":\"x\"}" | "$0" send --batch' "$ROGER"
exits 77 "nor an answer" roger reply "$(roger list --to test --print id)" --as pln x
is "nothing of it is stored, nobody is known by it" "$(roger list --count) $(roger agents --json | json 'len(d["agents"])')" "4 5"
for name in worker2 team-b planner reviewer; do
	exits 0 "$name is somebody else" roger send --as lead $name x
	exits 0 "who sends at once" roger send --as $name-7 lead x
	is "without a word" "$err" ""
done
roger arrive session-1 --as pan -q
exits 0 "and so is whose tool began a session" roger send --as pan lead x
exits 0 "one may insist" roger send --as pln lead x --new
exits 0 "then it is known" roger send --as pln lead x
exits 0 "open takes all" env ROGER_RECIPIENTS=open "$ROGER" send --as lead tset,tesst x
roger receive -q --as test
exits 77 "what only got mail, beside one that looked, is suggested to nobody" roger send --as lead teest x
like "but the one that looked" "$err" "did you mean 'test'"
exits 0 "else it is a new name" roger send --as lead tsett x
like "that is near nothing" "$err" "'tsett' has never been seen here; did you mean 'test'|'tsett' has never been seen here$"
exits 0 "strict is about recipients" env ROGER_RECIPIENTS=strict "$ROGER" send --as newcomer lead x
cd .. || exit 1

# ------------------------------------------------------------ where nothing is found
roger dispatch build-2 --as plan --within 10m -q 2>/dev/null
roger send -q --issue app-42 --as plan bob x
exits 66 "a run" roger runs bulid-2
like "near one that is there" "$err" "no run 'bulid-2'; did you mean 'build-2'\? \`roger runs\` lists them"
exits 66 "a task" roger timeline app-4
like "near an issue" "$err" "did you mean 'app-42'"
exits 66 "an agent" roger timeline --agent pln
like "near one that is there" "$err" "nothing is known of the agent 'pln'; did you mean 'plan'"
exits 66 "a run, by what alone" roger timeline bulid-2
like "the nearest of all" "$err" "did you mean 'build-2'"
for words in 'list --from pln' 'list --to pln' 'claim --as pln' 'wait --timeout 1ms --as pln' 'inbox --as pln'; do
	# shellcheck disable=SC2086 # words
	exits 1 "nothing: $words" roger $words
	like "and who may be meant" "$err" "note: 'pln' has neither sent nor got anything here; did you mean 'plan'"
done
exits 1 "a known name without mail" roger claim --as plan --issue none
is "is no slip" "$err" ""
exits 66 "nothing is near" roger runs zzzzzz
is "nor suggested" "$err" "roger: no run 'zzzzzz'; \`roger runs\` lists them"
exits 65 "what is no name" roger send --as plan 'b@@!d' x
like "is quoted" "$err" "to: 'b@@!d' is not a name"
exits 65 "a long one" roger list --from "$(printf 'ä %0300d' 0)"
is "is cut, in one line" "$(printf '%s\n' "$err" | wc -l) $(printf '%s' "$err" | grep -c "'ä 0*\.\.\.' is not a name")" "1 1"

# ---------------------------------------------------------------- reserved names
for name in roger ROGER user User system assistant all ALL workers Workers; do
	exits 77 "nobody sends as $name" roger send --as $name bob x
	like "who is told" "$err" "'$name' (is reserved|is a group)"
	exits 77 "nor in a batch" sh -c 'echo "{\"from\":\"$1\",\"to\":\"bob\",\"content\":\"x\"}" | "$0" send --as ann --batch' "$ROGER" $name
done
exits 77 "roger reads no mail" roger send --as bob roger thanks
like "it is told" "$err" "reads no mail"
exits 77 "nor results" roger dispatch run-3 --as ann --forward-to Roger
exits 77 "human sends from a terminal" roger send --as human bob x
like "it is told" "$err" "only from a terminal, without ROGER_AGENT"
at_terminal() { python3 -c 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null; }
exits 0 "from there" at_terminal "$ROGER" send --as human bob 'a person'
exits 77 "but no agent there" at_terminal env ROGER_AGENT=ann "$ROGER" send --as human bob 'an agent'
printf '{"id":"f-1","issue_id":"general","from_phase":"system","to_phase":"bob","run_counter":1,"message_type":"data","content":"theirs","metadata":null,"read":false,"created_at":1736328000000,"read_at":null}\n' >>.roger/messages.jsonl
like "lines of other programs are read whatever their sender" "$(roger receive --as bob --limit 100)" "theirs"
exits 0 "verify" roger verify
done_testing
