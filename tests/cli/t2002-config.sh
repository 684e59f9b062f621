#!/bin/sh
# A bad configuration names the file, the line, the key and what was expected,
# exits 78 and stops everything; a good one is shown with its origins.
. "$(dirname "$0")/lib.sh"

roger init -q
config=.roger/config.yaml

bad() { # PATTERN NAME LINES...
	pattern=$1 name=$2
	shift 2
	printf '%s\n' "$@" >$config
	exits 78 "$name" roger send --as a b hello
	like "$name: the error" "$err" "$pattern"
	is "$name: one line" "$(printf '%s\n' "$err" | wc -l)" 1
}
bad "config.yaml:2:.*max_content_length" "a number that is none" 'size_limits:' '  max_content_length: many'
bad "config.yaml:2:.*max_content_length" "a number too large" 'size_limits:' '  max_content_length: 99999999999999999999'
bad "config.yaml:2:.*max_messages_per_issue.*1" "a number too small" 'size_limits:' '  max_messages_per_issue: 0'
bad "config.yaml:3:.*max_contnt_length" "a misspelt key" '# comment' 'size_limits:' '  max_contnt_length: 5'
bad "config.yaml:1:.*recipients" "a word that is none" 'recipients: sometimes'
bad "config.yaml:[0-9]+:" "no YAML" 'size_limits: [' 'x'
bad "config.yaml:[0-9]+:.*all" "a group with a reserved name" 'groups:' '  all: [a, b]'
bad "config.yaml:[0-9]+:.*name of an agent" "roger as a member" 'groups:' '  workers: [Roger]'
bad "config.yaml:[0-9]+:.*other than all and roger" "roger as a group" 'groups:' '  roger: [a]'
bad "config.yaml:[0-9]+:" "a member that is no name" 'groups:' '  workers: ["a b"]'
bad "config.yaml:3:.*recipients" "a key twice" 'recipients: warn' '# again' 'recipients: strict'
is "nothing was sent" "$(cat .roger/messages.jsonl 2>/dev/null | wc -l)" 0
printf 'recipients: maybe\n' >$config
exits 78 "every verb stops" roger inbox --as b
exits 78 "in JSON, too" roger inbox --as b --json
is "with the same status in it" "$(printf '%s' "$err" | json 'd["error"]["exit"]')" 78

printf 'size_limits:\n  max_content_length: 5\ngroups:\n  workers: [w1, w2]\n' >$config
exits 0 "config show" roger config show
like "a value of the file with its line" "$out" "max_content_length +5 +.*config.yaml:2"
like "a default" "$out" "max_metadata_length +5000 +default"
exits 65 "the limit counts" roger send --as a b 123456
exits 0 "in characters, not bytes" roger send -q --as a b 'äöüß€'

# An existing phase-messenger.yaml is read; what it says of others is ignored.
: >$config
mkdir -p .agent-shepherd/config
printf 'size_limits:\n  max_content_length: 3\nsomething_else:\n  x: 1\n' >.agent-shepherd/config/phase-messenger.yaml
exits 65 "phase-messenger.yaml counts" roger send --as a b 1234
exits 0 "and is named as the origin" roger config show --json
is "of its value" "$(printf '%s' "$out" | json '[s["value"] for s in d["settings"] if s["key"].endswith("max_content_length")]')" '["3"]'
printf 'size_limits:\n  max_content_length: 4\n' >$config
exits 0 "config.yaml comes before it" roger send -q --as a b 1234
rm $config
printf 'size_limits:\n  max_content_lenght: 3\n' >.agent-shepherd/config/phase-messenger.yaml
exits 78 "a mistyped key of phase-messenger.yaml stops" roger list --count
like "with its line and what was meant" "$err" "phase-messenger.yaml:2.*max_content_lenght.*did you mean 'size_limits.max_content_length'"
printf 'size_limits:\n  of_another_program: 3\n' >.agent-shepherd/config/phase-messenger.yaml
exits 0 "a key of another program does not" roger list --count
printf 'retries:\n  max_attempts: 99\nwake:\n  agents: 1\ngroups: 5\nrecipients: strict\n' >.agent-shepherd/config/phase-messenger.yaml
exits 0 "nor does a section of it that is called like one of ours" roger list --count

# Without storage: its messages are where the origin has them by default.
mkdir shared && cd shared && roger init -q 2>/dev/null
mkdir -p .agent-shepherd/config
printf 'size_limits:\n  max_content_length: 300\n' >.agent-shepherd/config/phase-messenger.yaml
printf '%s\n' '{"id":"msg-1736328000000-a","issue_id":"i","from_phase":"plan","to_phase":"test","run_counter":1,"message_type":"context","content":"theirs","metadata":null,"read":false,"created_at":1736328000000,"read_at":null}' >.agent-shepherd/messages.jsonl
is "the origin's messages are there" "$(roger list --jsonl | json 'd["content"]')" theirs
exits 0 "and a send comes to them" roger send -q --as plan test ours
is "in its file" "$(wc -l <.agent-shepherd/messages.jsonl) $(ls .roger/messages.jsonl 2>/dev/null)" "2 "
is "config show says why" "$(roger config show --json | json '[[s["value"], s["origin"]] for s in d["settings"] if s["key"] == "storage.data_dir"]')" \
	'[[".agent-shepherd", ".agent-shepherd/config/phase-messenger.yaml"]]'
cp .agent-shepherd/messages.jsonl .roger/
exits 78 "messages in both places" roger list --count
like "are both named" "$err" "\.roger/messages.jsonl and \.agent-shepherd/messages.jsonl .*storage.data_dir"
printf 'storage:\n  data_dir: .roger\n' >.roger/config.yaml
exits 0 "config.yaml decides" roger list --count
: >.roger/config.yaml
: >.agent-shepherd/messages.jsonl
exits 0 "one without a line does not count" roger send -q --as plan test mine
is "so roger's own stay" "$(wc -l <.roger/messages.jsonl)" 3
cd ..

# A long section of groups is read by itself, and only where groups are needed.
cd "$here" && mkdir long && cd long && roger init -q
long() { # what follows it
	printf 'size_limits:\n  max_messages_per_issue: 700\ngroups: # many\n'
	seq 1 2000 | sed 's/.*/  group-&: [one-&, two-&]/'
	printf '%s\n' "$@"
}
long '# more' '' 'recipients: open' >.roger/config.yaml
exits 0 "a long section of groups" roger config show --json
is "is shown with all others, each with its line" "$(printf '%s' "$out" | json '[[s["value"], s["origin"]] for s in d["settings"] if s["key"] in ("groups.group-2000", "recipients", "size_limits.max_messages_per_issue")]')" \
	'[["700", ".roger/config.yaml:2"], ["open", ".roger/config.yaml:2006"], ["one-2000, two-2000", ".roger/config.yaml:2003"]]'
exits 0 "a group of it gets mail" roger send --as lead group-1000 hello
exits 77 "a group of it has no inbox" roger inbox --as group-1000
long 'recipients: shut' >.roger/config.yaml
exits 78 "a wrong setting after it" roger inbox --as one-1000
like "has its line" "$err" "config.yaml:2004: recipients"
long '  group-bad: 5' >.roger/config.yaml
exits 78 "a wrong group in it" roger send --as lead one-1 hello
like "has its line, too" "$err" "config.yaml:2004: groups.group-bad: expected a list of agents"
exits 0 "who has mail can look at it all the same" roger inbox --as one-1000
exits 1 "a name that is no key of it is none of them" roger inbox --as nobody
exits 78 "one that is may be" roger inbox --as group-bad
exits 1 "as a hook looks, groups are not asked" roger inbox --as nobody --fresh
is "and it says nothing of the name" "$err" ""
long '  group-bad: [' >.roger/config.yaml
exits 78 "what is not YAML in it" roger send --as lead one-1 hello
like "has its line" "$err" "config.yaml:200[45]: "
long 'groups: {more: [a]}' >.roger/config.yaml
exits 78 "a second section" roger inbox --as one-1000
like "is one too many" "$err" "config.yaml:2004: 'groups' comes twice"
{ echo '{recipients: open,' && long '}' | sed 's/^  group-\(.*\): \(.*\)$/  "group-\1": \2,/; s/^groups:.*/groups: {/; s/^size.*//; s/^  max.*//' && echo '}'; } >.roger/config.yaml
exits 0 "in braces it is read as well" roger send --as lead group-7 hello --json
is "and is a group" "$(printf '%s' "$out" | json '[m["to"] for m in d["messages"]]')" '["one-7", "two-7"]'
done_testing
