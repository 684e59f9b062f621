#!/bin/sh
# Several recipients, groups, and all: one number, one message for each, never
# one for the sender; unknown names are noted, and refused where names are strict.
. "$(dirname "$0")/lib.sh"

roger init -q
printf 'groups:\n  workers: [w1, w2, w3]\n  leads: [plan]\n' >.roger/config.yaml
recipients() { json '" ".join(m["to"] for m in d["messages"])'; }

exits 0 "two at once" roger send --as plan implement,test hello --json
is "get one each" "$(printf '%s' "$out" | recipients)" "implement test"
is "under one number" "$(roger list --jsonl | json 'd["seq"]' 2>/dev/null || roger list --jsonl | cut -d '"' -f 1 | wc -l)" 2
is "which is 1 for both" "$(roger list --json | json '[m["seq"] for m in d["messages"]]')" "[1, 1]"
exits 0 "the same name twice" roger send --as plan implement,implement hello --json
is "gets it once" "$(printf '%s' "$out" | recipients)" "implement"
exits 0 "a group" roger send --as w2 workers hello --json
is "is everyone in it but the sender" "$(printf '%s' "$out" | recipients)" "w1 w3"
exits 0 "a group and one of it" roger send --as plan workers,w1,x hello --json
is "each once" "$(printf '%s' "$out" | recipients)" "w1 w2 w3 x"
exits 0 "all" roger send --as test all hello --json
is "is everyone who was ever here but the sender" "$(printf '%s' "$out" | json 'sorted(m["to"] for m in d["messages"])')" \
	'["plan", "w1", "w2", "w3"]'
is "and says who only ever got mail" "$(printf '%s' "$out" | json 'sorted(m["to"] for m in d["skipped"])')" '["implement", "x"]'
state=$(state_of .roger)
for name in all workers; do
	exits 77 "'$name' is no sender" roger send --as $name plan hello
	for verb in inbox receive claim wait prime; do
		exits 77 "'$name' has no $verb" roger $verb --as $name
	done
done
run roger send --as plan leads hello
check "a group of nobody but the sender is an error ($status)" test "$status" -ge 64
is "nothing changed" "$(state_of .roger)" "$state"

exits 0 "a name never seen, far from a known one" roger send --as plan implments hello
is "is noted" "$err" "note: 'implments' has never been seen here"
exits 0 "in JSON, too" roger send --as plan tset hello --new --json
like "in the reply" "$(printf '%s' "$out" | json 'd["notes"]') $(printf '%s' "$out" | json 'd["never_seen"]')" "did you mean 'test'.*tset"
# Another program writes to names that are reserved: nobody reads that, and it is no recipient of all.
for name in all workers; do
	printf '{"id":"f-%s","issue_id":"general","from_phase":"ext","to_phase":"%s","run_counter":1,"message_type":"data","content":"x","metadata":null,"read":false,"created_at":1736328000000,"read_at":null}\n' $name $name >>.roger/messages.jsonl
done
exits 0 "all, with strangers' mail to reserved names" roger send --as plan all hello --json
is "goes to agents" "$(printf '%s' "$out" | json '[m["to"] for m in d["messages"] if m["to"] in ("all", "workers")]')" '[]'
exits 77 "a slip for a group is refused" roger send --as plan worker hello
like "with the group" "$err" "did you mean 'workers'"
run roger send --as plan bill hello
unlike "never with all, which is no slip of the hand" "$err" "'all'"
echo 'recipients: strict' >>.roger/config.yaml
state=$(state_of .roger)
exits 77 "where names are strict it is refused" roger send --as plan implementt hello
like "with the nearest" "$err" "did you mean 'implement'"
exits 77 "among others, too" roger send --as plan test,implementt hello
is "and nobody gets anything" "$(state_of .roger)" "$state"
exits 0 "members of a group are known" roger send --as plan w1 hello
exits 0 "as is the sender itself" roger send --as plan plan 'note to myself'
exits 0 "and those who only ever got mail" roger send --as plan x hello
exits 0 "ROGER_RECIPIENTS comes before the file" env ROGER_RECIPIENTS=warn "$ROGER" send --as plan new hello
exits 0 "agents" roger agents --json
is "tells of each" "$(printf '%s' "$out" | json '[(a["sent"], a["received"], a["unread"]) for a in d["agents"] if a["name"] == "test"]')" '[[4, 2, 2]]'
exits 0 "verify" roger verify

# Many groups, and many new names in one batch.
mkdir many && cd many && roger init -q
{
	printf 'size_limits:\n  max_messages_per_issue: 100000\ngroups:\n'
	seq 0 9999 | sed 's/.*/  group-&: [one-&, two-&, common]/'
} >.roger/config.yaml
exits 0 "10,000 groups" roger send --as lead group-9999 hello --json
is "each has its members" "$(printf '%s' "$out" | recipients)" "one-9999 two-9999 common"
exits 0 "members are known" roger send --as lead two-5000 hello
like "without a note" "<$err>" "<>"
exits 77 "a slip for one of the groups is refused" roger send --as lead gruop-777 hello
like "with the group" "$err" "did you mean 'group-777'"
exits 77 "a group cannot send, whatever its case" roger send --as GROUP-77 lead hello
batch() { sed 's/.*/{"from":"lead","to":"&","content":"hello"}/'; }
seq 1 3000 | sed 's/.*/name-&-x/' | batch >new.jsonl
exits 0 "a batch to 3,000 new names" roger send --batch <new.jsonl
like "each is noted" "$err" "'name-3000-x' has never been seen here"
is "each is stored" "$(roger report stats --json | json 'd["messages"]')" 3004
{ seq 3001 3400 | sed 's/.*/name-&-x/' && echo nmae-2999-x; } | batch >new.jsonl
exits 77 "one of them a slip for one of those" roger send --batch <new.jsonl
like "is refused with that" "$err" "'nmae-2999-x' has never been seen here; did you mean 'name-2999-x'"
is "nothing of its request is stored" "$(roger report stats --json | json 'd["messages"]')" 3004
seq 3001 3040 | sed 's/.*/name-&-x/' | batch >new.jsonl
exits 0 "forty new names, of which digits differ" roger send --batch <new.jsonl
is "are all noted" "$(printf '%s\n' "$err" | grep -c 'never been seen')" 40
unlike "and none is said to mean another" "$err" "did you mean"
done_testing
