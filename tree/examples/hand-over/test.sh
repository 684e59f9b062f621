#!/bin/sh
# test - tries what comes from implement; the first try of task 3 fails.
. "$(dirname "$0")/phase.sh"

while :; do
	next
	case $content in
	task\ 3:\ done)
		sleep 0.2
		tell "$from" --type result --reply-to "$id" 'task 3: fails, the list is empty'
		;;
	task*)
		sleep 0.2
		tell review --type result --reply-to "$id" "${content%%:*}: passes"
		;;
	approved*) exit 0 ;;
	esac
done
