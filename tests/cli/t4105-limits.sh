#!/bin/sh
# The limits: 100 for an issue and recipient, 500 for an issue.  One more
# archives what is read, oldest and least first; never what is unread; and what
# is archived stays archived.
. "$(dirname "$0")/lib.sh"

roger init -q
fill() { # COUNT TO ISSUE [TYPE]
	python3 -c '
import json, sys
for i in range(int(sys.argv[1])):
    print(json.dumps({"to": [sys.argv[2]], "issue": sys.argv[3], "content": f"m{i}", "type": sys.argv[4]}))' "$1" "$2" "$3" "${4-context}" |
		roger send --as plan --batch -q
}

check "100 messages fit" fill 100 bob i1
state=$(state_of .roger)
exits 77 "the 101st is refused while all are unread" roger send --as plan bob --issue i1 more
like "with what to do" "$err" "read"
is "and nothing changes" "$(state_of .roger)" "$state"
is "nor does the sender's number" "$(roger agents --json | json '[a["seq"] for a in d["agents"] if a["name"] == "plan"]')" "[100]"
exits 77 "among others, too" roger send --as plan carol bob --issue i1 more
is "nobody gets it" "$(roger list --count --to carol)" 0

# A dry run says the same, in the same words, and leaves all as it is.
same_said() { # WHAT ARGUMENT...
	_what=$1
	shift
	state=$(state_of .roger)
	run "$ROGER" send --as plan "$@" --dry-run
	_dry="$status $err"
	is "$_what: a dry run writes nothing" "$(state_of .roger)" "$state"
	run "$ROGER" send --as plan "$@"
	is "$_what: it says what the send says" "$_dry" "$status $err"
}
same_said "a full mailbox" bob --issue i1 more
same_said "one of several" carol bob --issue i1 more
exits 0 "another issue has room, dry" roger send -q --as plan bob --issue i2 more --dry-run
exits 0 "another issue has room" roger send -q --as plan bob --issue i2 more
exits 0 "another recipient, too" roger send -q --as plan carol --issue i1 more

roger receive --as bob --issue i1 --limit 1 -q
exits 0 "one is read: the 101st fits, dry" roger send --as plan bob --issue i1 new --dry-run
is "and nothing was archived" "$(roger list --archived --jsonl)" ""
exits 0 "one is read: the 101st fits" roger send --as plan bob --issue i1 new --json
is "one was archived" "$(printf '%s' "$out" | json 'd["archived"]')" 1
is "the oldest read one" "$(roger list --archived --jsonl | json 'd["content"]')" m0
like "with a reason" "$(roger list --archived --jsonl | json 'd["archive_reason"]')" "limit"
is "it is in its file" "$(grep -c '"content":"m0"' .roger/messages_archive/i1.jsonl)" 1
is "100 are left" "$(roger list --count --to bob --issue i1)" 100
exits 0 "rebuild" roger doctor rebuild
is "does not bring it back" "$(roger list --to bob --issue i1 --jsonl | grep -c '"m0"')" 0
rm .roger/messages.db*
is "nor does a lost index" "$(roger list --count --to bob --issue i1)" 100
is "nor does reading it from the archive" "$(roger list --archived --jsonl | wc -l)" 1
roger receive --as bob --issue i1 --limit 1 -q
exits 0 "one more is read: one more fits" roger send -q --as plan bob --issue i1 new
exits 77 "then no more" roger send --as plan bob --issue i1 new

# Of the same age, data goes before result before decision before context.
printf 'size_limits:\n  max_messages_per_issue_phase: 4\n  max_messages_per_issue: 6\n' >.roger/config.yaml
for type in context decision result data; do
	echo "{\"to\":[\"dora\"],\"issue\":\"order\",\"type\":\"$type\",\"content\":\"$type\"}"
done >batch
roger send -q --as plan --batch <batch
roger receive --as dora -q
archived() { roger list --archived --issue order --jsonl | sed 's/.*"content":"\([a-z]*\)".*/\1/' | sort | tr '\n' ' '; }
roger send -q --as plan dora --issue order new
is "data leaves first" "$(archived)" "data "
roger send -q --as plan dora --issue order new
is "then result" "$(archived)" "data result "
roger send -q --as plan dora --issue order new
is "then decision" "$(archived)" "data decision result "
# The limit of the issue.
exits 0 "a fifth for the issue" roger send -q --as plan eve --issue order x
exits 0 "a sixth" roger send -q --as plan eve --issue order x
exits 0 "the seventh archives what anyone has read" roger send --as plan eve --issue order x --json
is "one" "$(printf '%s' "$out" | json 'd["archived"]')" 1
same_said "a full issue" fred --issue order x
exits 77 "when all is unread the issue is full" roger send --as plan fred --issue order x
like "and says which limit" "$err" "max_messages_per_issue"
exits 0 "a batch beyond the limit archives what it must" roger receive --as eve -q
run sh -c 'for i in 1 2 3; do echo "{\"to\":[\"eve\"],\"content\":\"b$i\",\"issue\":\"order\"}"; done | "$ROGER" send --as plan --batch'
is "and fits" "$status" 0
is "the issue holds its limit" "$(roger list --count --issue order)" 6

# A key that was used needs no room.
printf 'size_limits: {max_messages_per_issue_phase: 1}\n' >.roger/config.yaml
roger send --as plan gus --issue keyed --key a:escalation:1 text -q
exits 0 "a known key, dry" roger send --as plan gus --issue keyed --key a:escalation:1 text --dry-run --json
is "is a duplicate" "$(printf '%s' "$out" | json 'd["duplicate"]')" true
same_said "what the key was not used for" gus --issue keyed --key a:escalation:1 other
same_said "another key" gus --issue keyed --key b:escalation:1 text
exits 77 "a batch, dry" sh -c 'for i in 1 2; do echo "{\"to\":[\"hal\"],\"content\":\"b$i\"}"; done | "$ROGER" send --as plan --batch --dry-run'
exits 0 "verify" roger verify
done_testing
