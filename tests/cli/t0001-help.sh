#!/bin/sh
# Help, and the first things that are typed wrong: each is answered by what is right.  What
# README.md shows is run by t0003-docs.
. "$(dirname "$0")/lib.sh"

exits 0 "help opens with examples" roger help
like "and names the commands" "$out" "receive +take unread mail"
for command in $("$ROGER" help --all | sed -n '/^start/,$s/^  \([a-z]*\) .*/\1/p'); do
	run roger help "$command"
	[ "$status" = 0 ] && [ -n "$out" ] && [ -z "$err" ]
	result $? "roger help $command"
	is "within 80 columns" "$(printf '%s\n' "$out" | grep -E '.{81}')" ""
done
is "all of help is" "$("$ROGER" help --all | grep -E '.{81}')" ""
"$ROGER" help >front && "$ROGER" help --all >all
is "help shows few commands, help --all every one, each once" "$(sed -n '/^start/,$s/^  \([a-z -]*\)\(  .*\)*$/\1/p' all | sed 's/ *$//' | sort | uniq -d)" ""
like "in groups" "$(cat front)" "
mail
  send "
is "those that a person needs every day" "$(sed -n '/^start/,/^Every/s/^  [a-z]* .*/x/p' front | wc -l)" "16"
is "a rare one only with --all" "$(grep -c '^  wake' front) $(grep -c '^  wake' all)" "0 1"
exits 0 "--version" roger --version
like "says the version" "$out" '^roger [0-9]+\.[0-9]+\.[0-9]+$'
exits 64 "no command is a usage error" roger
like "and the next step in an empty folder is named" "$err" 'Next: `roger init` makes a workspace'
mkdir project && cd project && : >AGENTS.md
run roger
like "in a project with agents' tools" "$err" 'Next: `roger init && roger setup`'
roger init --quiet
run roger
like "and in a workspace" "$err" 'Next: `roger status`'
mv .roger ../cloned && mkdir ../clone && mv ../cloned ../clone/.roger && cd ../clone || exit 1
run roger
like "in one that nobody trusts here" "$err" 'Next: `roger trust`'
cd .. && rm -rf project clone
exits 64 "an unknown command is a usage error" roger recieve
like "and the right one is suggested" "$err" "did you mean 'receive'"
exits 64 "an unknown option is a usage error" roger list --issu x
like "and the right one is suggested" "$err" "did you mean '--issue'"
exits 0 "version" roger version
like "says it, too" "$out" '^roger [0-9.]+$'
exits 0 "version as JSON" roger version --json
like "is an object" "$out" '^\{"format":1,"version":"[0-9.]+"\}$'
exits 64 "a word of other tools" roger ls
is "is answered by what does that here" "$err" "roger: unknown command 'ls': \`roger list\` lists messages"
exits 64 "help of it" roger help grep
like "the same" "$err" 'roger list WORDS'
exits 64 "a part of another command alone" roger redeliver dl-1 --reason 'once more'
is "is answered by the whole line" "$err" "roger: \`roger redeliver\` is now \`roger dead redeliver dl-1 --reason 'once more'\`"
for line in 'run --limit 1h=--timeout' 'run --run-id x=--run' 'send bob --run 2=--pass' 'list --run 2=--pass' 'cleanup --keep-runs 2=--keep-passes' 'bridge --wait 1s=--timeout' 'wake --for 1s=--timeout' 'extend r --why x=--reason' 'settle r --why x=--reason' \
	'dead stale d --note x=--reason' 'dead redeliver d --note x=--reason' 'show m --trace=roger trace' 'session --new=roger agents session new' 'cycle --new=roger log cycle new'; do
	# shellcheck disable=SC2086
	exits 64 "an option that has another name: ${line%%=*}" roger ${line%%=*}
	like "is answered by that" "$err" "is now .${line#*=}.\$"
done
for line in 'accept=dismiss' 'activity=log activity' 'arrive=_arrive' 'count=list' 'cycle=log cycle' 'dead stale=dismiss' 'delete=archive' 'extend=runs extend' \
	'forward=runs forward' 'ingest=bridge ingest' 'looked=_looked' 'purge=log purge' 'rebuild=doctor rebuild' 'recover=runs recover' 'search=list' 'sends=log sends' \
	'session=agents session' 'settle=dismiss' 'stale=dismiss' 'stats=report stats' 'sweep=runs sweep' 'thread=show'; do
	# shellcheck disable=SC2086
	exits 0 "an old name is taken: ${line%%=*}" roger ${line%%=*} --help
	like "as ${line#*=}" "$out" "^usage: roger ${line#*=} "
	is "with one note" "${err%% is now *}$(printf '%s' "$err" | wc -l)" "note: \`roger ${line%%=*}\`0"
done
exits 0 "help of a command of two words" roger help dead redeliver
like "names it" "$out" "^usage: roger dead redeliver id"
exits 0 "help of an old name" roger help dead stale
like "is that of the new one" "$out" "^usage: roger dismiss what"
like "help of a command names those that begin with it" "$(roger help runs)" "^  runs sweep +check all runs"
is "roger help shows sixteen commands" "$(roger help --json | json '[len([c for c in d["commands"] if c["front"]])]')" "[16]"
is "and with --all no more than it had before" "$(roger help --json | json 'len({c["name"].split()[0] for c in d["commands"]})')" 50
for line in '--vresion' '-x' '--workspace' '--as' '--issue x send' '--json --bogus' '--quiet' '--color blue'; do
	# shellcheck disable=SC2086
	exits 64 "what stands before the command is looked at: $line" roger $line
	is "and told in one line" "$out$(printf '%s\n' "$err" | wc -l)" 1
done
for short in -v -V; do
	is "a short option for the version: $short" "$(roger $short)" "$(roger --version)"
done
is "no time at all is not said to be the usual time" "$(roger help --all --json | json '[c["name"] for c in d["commands"] for o in c["options"] if o["kind"] == "span" and "0: as configured" in o["help"]]')" "[]"
roger help --all --json | json '"\n".join(c["name"] + " --" + o["name"] for c in d["commands"] for o in c["options"] if "; 0: " in o["help"])' >zero
check "help says of some options what 0 does" [ -s zero ]
while read -r line; do
	# shellcheck disable=SC2086
	run roger $line 0
	unlike "and takes it: $line" "$err" ": expected"
	# shellcheck disable=SC2086
	run roger $line -1
	unlike "and leaves it out of no error" "$err" "from 1 up"
done <zero
exits 64 "whose mail as a word" roger inbox bob
like "and the option for it is suggested" "$err" "did you mean '--as bob'"
run roger --vresion
like "and the right one is suggested" "$err" "did you mean '--version'"
run roger --issue x send
like "or where it belongs" "$err" "'--issue' before the command"
exits 64 "options, and no command" roger --as plan
like "tell what is missing" "$err" "which command"
exits 0 "--help behind other options" roger --as plan --help
exits 64 "help of an unknown command" roger help snd
like "suggests one" "$err" "did you mean 'send'"
exits 64 "an unknown word" roger config shwo
like "suggests one" "$err" "did you mean 'show'"
done_testing
