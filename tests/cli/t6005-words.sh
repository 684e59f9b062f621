#!/bin/sh
# Words that people type for a command: each is unknown, each answer fits a line, and
# the commands and options that it advises exist.
. "$(dirname "$0")/lib.sh"

roger init -q
words=$(sed -n '/^} synonyms/,/^};/p' "$source_dir/src/cli/synonyms.c" | grep -o '{ "[^"]*"' | cut -d '"' -f 2 | tr '|' '\n')
[ "$(printf '%s\n' "$words" | wc -l)" -gt 100 ]
result $? "there are more than a hundred"
is "each once" "$(printf '%s\n' "$words" | sort | uniq -d)" ""
bad=''
for word in $words; do
	run roger "$word"
	case $status:$err in
	"64:roger: unknown command '$word': "*) ;;
	*) bad="$bad $word=$status:$err" ;;
	esac
	printf '%s\n' "$err" >>answers
done
is "each is an unknown command, and answered" "$bad" ""
is "in one short line" "$(grep -E '.{161}' answers)" ""
sort -u answers | grep -o '`roger [^`]*`' | tr -d '`' | sort -u >advised
[ "$(wc -l <advised)" -gt 30 ]
result $? "they advise commands"
while IFS= read -r line; do
	# shellcheck disable=SC2086
	set -- $line
	case "$2 ${3:-}" in
	"dead redeliver") page=$("$ROGER" help dead redeliver 2>&1) || bad="$bad '$line'" ;;
	*) page=$("$ROGER" help "$2" 2>&1) || bad="$bad '$line'" ;;
	esac
	for option in $(printf '%s\n' "$line" | grep -o -- ' --[a-z]*'); do
		case $page in *"$option"*) ;; *) [ "$option" = --jsonl ] || bad="$bad '$line'" ;; esac
	done
done <advised
is "which exist, with their options" "$bad" ""
done_testing
