#!/bin/sh
# review - asks one question, and approves when three tasks have passed.
. "$(dirname "$0")/phase.sh"

passed=0 answered=no asked=no
while [ $passed -lt 3 ] || [ $answered = no ]; do
	next
	case $content in
	*passes) passed=$((passed + 1)) ;;
	answer*) answered=yes ;;
	esac
	if [ $passed -ge 1 ] && [ $asked = no ]; then
		asked=yes
		say "-> plan: a question"
		tell plan --reply-to "$id" 'question: is the new column public?'
	fi
done
say "-> all: approved"
tell all --type decision 'approved: app-42 is done'
