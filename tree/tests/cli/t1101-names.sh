#!/bin/sh
# Names of agents and issues: what is allowed works everywhere, what is not is
# refused with a word about it, and no name leaves the workspace.
. "$(dirname "$0")/lib.sh"

roger init -q
long=$(printf 'a%.0s' $(seq 128))

for name in a A.b_c-d:e@f/g 0 _x .hidden a/../b ../up /etc/passwd x: "$long" CON a..b; do
	exits 0 "'$name' may send" roger send -q --as "$name" reader "from $name"
	exits 0 "'$name' may be sent to" roger send -q --as sender "$name" hello
	exits 0 "'$name' may read" roger receive --as "$name"
	exits 0 "'$name' may be an issue" roger send -q --as sender --issue "$name" reader hello
done
for name in '' -x -- 'a b' 'a	b' 'a
b' 'käse' 'a\b' "a'b" 'a*b' 'a$b' "${long}a" all; do
	state=$(state_of .roger)
	exits "$([ "$name" = all ] && echo 77 || echo 65)" "'$name' may not send" roger send --as "$name" reader hello
	like "and is told why" "$err" "^roger: .*(from|name)"
	is "in one line, and nothing changes" "$(printf '%s\n' "$err" | wc -l) $(state_of .roger)" "1 $state"
done
for name in '' 'a b' 'käse' "${long}a"; do
	exits 65 "'$name' may not be sent to" roger send --as sender -- "$name" hello
	exits 65 "'$name' may not be an issue" roger send --as sender --issue "$name" reader hello
	exits 65 "'$name' has no mail" roger inbox --as "$name"
done
exits 0 "names are case sensitive: mail for Bob" roger send -q --as sender Bob hello
exits 1 "is not for bob" roger inbox --as bob

# Archives are files named after issues.
roger receive --as reader --limit 1000 -q
for name in ../up /etc/passwd a/../b .hidden CON "$long"; do
	exits 0 "issue '$name' goes to an archive" roger archive --issue "$name"
done
exits 0 "another case is another file" roger send -q --as sender --issue con reader hello
roger receive -q --as reader
exits 0 "of an archive" roger archive --issue con
is "one archive for each issue" "$(find .roger/messages_archive -type f | wc -l)" 7
is "nothing outside of it" "$(find . -path ./.roger -prune -o -type f ! -name '.check' ! -name '.out' ! -name '.err' -print)" ""
is "nor hidden in it" "$(find .roger/messages_archive -name '.*' -type f)" ""
is "no folder below it" "$(find .roger/messages_archive -mindepth 1 -type d)" ""
exits 0 "verify is content" roger verify
done_testing
