#!/bin/sh
# Completion, as bash, zsh and fish run it: commands, options, agents, issues, ids.
. "$(dirname "$0")/lib.sh"

mkdir bin
ln -s "$ROGER" bin/roger
PATH=$here/bin:$PATH
roger init -q
printf 'groups:\n  workers: [x, y]\n' >.roger/config.yaml
roger send -q --as plan implement hello --issue app-42 2>/dev/null
roger send -q --as plan imp:roved hello --issue app-43 2>/dev/null
id=$(roger list --newest --limit 1 --jsonl | json 'd["id"]')

id1=$(roger list --to implement --jsonl | json 'd["id"]')
roger dispatch -q build-7 --as plan --within 1h
printf 'retries:\n  max_attempts: 1\n' >>.roger/config.yaml
roger send -q --as late gone 'try it' --issue app-43 --key t:do:1 --confirm read --within 1ms 2>/dev/null
letter=$(roger dead --jsonl | json 'd["id"]')

in_bash() { # LINE
	bash --norc --noprofile -c '
		eval "$(roger completion bash)"
		COMP_LINE=$1 COMP_POINT=${#1}
		# As readline breaks it.
		read -r -a COMP_WORDS <<<"$1"; [[ $1 == *" " ]] && COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		_roger roger "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
		printf "%s\n" "${COMPREPLY[@]}"' bash "$1"
}
in_zsh() { # LINE
	zsh -f -c '
		compdef() { :; }
		compset() { :; }
		_files() { :; }
		compadd() { while [[ $1 == -* ]]; do [[ $1 == -- ]] && { shift; break; }; [[ $1 == -d ]] && { [[ $2 == shown && -n $TEXTS ]] && print -l -- "$shown[@]"; shift; }; shift; done; [[ -n $TEXTS ]] || print -l -- "$@"; }
		eval "$(roger completion zsh)"
		words=("${(@s: :)1}") CURRENT=${#words}
		_roger' zsh "$1"
}
in_fish() { # LINE
	fish --no-config -c 'source (roger completion fish | psub); complete -C $argv[1]' "$1" | cut -f 1
}
roger send -q --new --as plan greek 'καλημέρα, né' --issue app-42 2>/dev/null
like "what a message begins with, whole characters" "$(roger __complete -- show msg- | head -n 1)" "καλημέρα, né$"
for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		result 0 "$shell # skip not installed"
		continue
	fi
	completes() { # NAME LINE EXPECTED
		is "$shell: $1" "$(in_$shell "$2" 2>&1 | sed '/^$/d' | sort | tr '\n' ' ')" "$3"
	}
	completes "commands" "roger rep" "reply report "
	completes "options" "roger send --re" "--reply-to --retry "
	completes "options of every command" "roger report stats --wo" "--workspace "
	completes "agents" "roger send im" "imp:roved implement "
	cd / || exit 1
	HOME=$(dirname "$here") completes "in a folder of the home folder" "roger --workspace ~/$(basename "$here") send im" "imp:roved implement "
	cd "$here" || exit 1
	completes "a group" "roger send wor" "workers "
	completes "everyone" "roger send al" "all "
	completes "no group as a sender" "roger list --from wor" ""
	completes "more agents" "roger send implement pl" "plan "
	completes "agents behind --as" "roger inbox --as pl" "plan "
	completes "issues" "roger inbox --issue app-" "app-42 app-43 "
	completes "types" "roger send --type d" "data decision "
	completes "colours" "roger inbox --color a" "always auto "
	completes "ids" "roger show ${id%???}" "$id "
	completes "words of a command" "roger agents session n" "new "
	completes "but not of another" "roger config n" ""
	completes "all words of one" "roger log cycle " "current list new "
	completes "a second word of a command" "roger dead re" "redeliver "
	completes "dead letters" "roger dismiss dl-" "$letter "
	completes "agents behind a command of two words" "roger agents retire im" "imp:roved implement "
	completes "one's own mail" "roger ack --as implement msg-" "$id1 "
	completes "nobody else's" "roger ack --as plan msg-" ""
	completes "runs" "roger complete bu" "build-7 "
	completes "and what a timeline has" "roger timeline bu" "build-7 "
	completes "an issue is one of these" "roger timeline app-" "app-42 app-43 "
	completes "tools" "roger setup c" "claude codex copilot "
	completes "options that show the log, too" "roger log --de" "--details "
	completes "and those" "roger log --unt" "--until "
	completes "the id of a thread" "roger show --thread ${id%???}" "$id "
	completes "no agent for a file" "roger send --file pl" ""
	completes "no command for a folder" "roger --workspace stat" ""
	completes "an agent called as a command is" "roger --as list stat" "status "
	completes "shells" "roger completion b" "bash "
	completes "nothing" "roger send zzz" ""
	completes "options before the command" "roger --workspace . stat" "status "
done
for shell in zsh fish; do
	command -v $shell >/dev/null || continue
	completes "issues behind =" "roger inbox --issue=app-" "--issue=app-42 --issue=app-43 "
done
if command -v fish >/dev/null; then
	is "fish: a file" "$(in_fish 'roger send --file b')" "bin/"
	is "fish: a folder" "$(in_fish 'roger --workspace b')" "bin/"
fi
is "bash: issues behind =" "$(in_bash 'roger inbox --issue=' | sort | tr '\n' ' ')" "app-42 app-43 "
is "bash: a name with a colon, behind the colon" "$(in_bash 'roger send imp:r')" "roved"
roger send -q --new --as plan w@est hello 2>/dev/null
is "bash: a name with an at sign, which readline leaves in the word" "$(in_bash 'roger send w@')" "@est"
if command -v zsh >/dev/null; then
	is "zsh: in a quoted folder" "$(cd / && in_zsh "roger --workspace \"$here\" send w@" | sed '/^$/d')" "w@est"
else
	result 0 "zsh: in a quoted folder # skip not installed"
fi

# What they are, beside them.
like "bash: told with the list, which is a second tabulator" "$(COMP_TYPE=63 in_bash 'roger re')" "^receive +\(take unread mail and mark it read\)"
is "bash: but not into the line" "$(COMP_TYPE=9 in_bash 'roger rece')" "receive"
is "bash: one alone is put into the line" "$(COMP_TYPE=63 in_bash 'roger rece')" "receive"
like "zsh: beside each" "$(TEXTS=1 in_zsh 'roger show --th')" '^--thread  -- the whole thread'
if command -v fish >/dev/null; then
	like "fish: beside each" "$(fish --no-config -c 'source (roger completion fish | psub); complete -C "roger ack --as implement msg-"')" "msg-.*	hello"
fi

# In a zsh and a fish that are really there, with a key pressed.
# Needs a pseudo-terminal, which a bare chroot has not.
if zsh -c "zmodload zsh/zpty && zpty z true" >/dev/null 2>&1; then
	cat >press.zsh <<-'END'
		zmodload zsh/zpty
		zpty z 'TERM=dumb zsh -f -i'
		zpty -w z 'PS1=; autoload -Uz compinit; compinit -u -D; source <(roger completion zsh); print rea""dy'
		zpty -r -m z line '*ready*'
		zpty -w -n z $'roger inb\t--as pl\t>out; print do""ne\n'
		zpty -r -m z line '*done*'
		zpty -d z
	END
	run timeout 60 zsh -f press.zsh
	is "zsh: the tabulator completes on a terminal" "$status $(cat out)" "0 no mail"
fi
cd / || exit
exits 0 "outside of a workspace it is silent" roger __complete -- send ''
is "on both outputs" "$out$err" ""
done_testing
