#!/bin/sh
# Nothing that a person may have mistyped is a silent success, and --json is JSON
# also where there is nothing to say.
. "$(dirname "$0")/lib.sh"

roger init -q
roger send -q --as implement reviewer hello --issue app 2>/dev/null
roger receive -q --as reviewer >got

exits 1 "wait, in vain" roger wait --as reviewer --timeout 10ms
like "says so" "$err" "no mail came in time"
exits 1 "but not with -q" roger wait --as reviewer --timeout 10ms -q
is "nothing" "$out$err" ""
for line in list 'list nobody-said-that' 'list --archived' inbox receive agents 'agents session' runs status 'trace implement#1' 'why implement#1' 'timeline app' report 'report stats' 'log activity' 'log activity --task none' \
	'log sends' 'log cycle' dead 'show implement#1' config verify doctor 'trust --list' 'trust --revoke --workspace other'; do
	# shellcheck disable=SC2086 # a command with its words
	run env ROGER_AGENT=reviewer "$ROGER" $line
	said=$status
	# shellcheck disable=SC2086
	exits "$said" "$line -q ends as without" env ROGER_AGENT=reviewer "$ROGER" $line -q
	is "and says nothing for people" "$out" ""
done
for unread in '' --unread; do
	# shellcheck disable=SC2086 # an option, or none
	exits 66 "archive $unread of an issue that is none" roger archive $unread --issue ap
	like "names the one" "$err" "no message of 'ap'; did you mean 'app'"
done
exits 0 "of one that is" roger archive --issue app
exits 0 "and again" roger archive --issue app
for verb in inbox receive; do
	exits 1 "$verb of a name that nobody knows" roger $verb --as reviewr
	like "says so" "$err" "'reviewr' has neither sent nor got anything here; did you mean 'reviewer'"
	exits 1 "in JSON" roger $verb --as reviewr --json
	like "too" "$(printf '%s' "$out" | json 'd["notes"]')" "did you mean 'reviewer'"
	exits 1 "of one that is known" roger $verb --as reviewer
	is "nothing of that" "$err" ""
done
roger arrive session-1 --as newcomer -q
exits 1 "of who arrived, and had no mail yet" roger inbox --as newcomer
like "nothing is said that is not so" "$err" "'newcomer' has neither sent nor got anything here"
unlike "and nobody else is meant" "$err" "did you mean"

exits 1 "ingest of nothing" roger bridge ingest --to reviewer --json </dev/null
is "is JSON" "$(printf '%s' "$out" | json 'd["crossings"]')" "[]"
exits 1 "for a person" roger bridge ingest --to reviewer </dev/null
like "a word" "$err" "nothing came in"
for shell in bash zsh fish; do
	is "completion for $shell as JSON" "$(roger completion $shell --json | json 'd["completion"]')" "$(roger completion $shell)"
done
done_testing
