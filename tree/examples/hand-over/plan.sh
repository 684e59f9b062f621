#!/bin/sh
# plan - hands out the work, answers questions, ends when the review is done.
. "$(dirname "$0")/phase.sh"

say "-> implement: three tasks; -> test, review: a note"
tell implement --type decision 'task 1: add the column'
tell implement --type decision 'task 2: migrate the rows'
tell implement --type decision 'task 3: show it in the list'
tell test,review 'app-42 is on its way, in three tasks'
while :; do
	next
	case $content in
	question*null*) tell "$from" --reply-to "$id" 'answer: no, never null' ;;
	question*) tell "$from" --reply-to "$id" 'answer: yes, that is public' ;;
	approved*) exit 0 ;;
	esac
done
