#!/bin/sh
# implement - takes its tasks under a lease, so that one it dies over comes
# back, and sends results under a key, so that one it repeats is sent once.
. "$(dirname "$0")/phase.sh"

# Crosses with the tasks that are on their way here.
say "-> plan: a question"
tell plan --key app-42:ask:1 'question: may the column be null?'
approved=
while :; do
	id=$(roger claim --worker "$WORKER" --lease 2s --print id) || {
		# What is left may still be under the lease of one that died.
		[ -z "$approved" ] || [ "$(roger list --count --unread --to implement)" != 0 ] || exit 0
		roger wait --timeout 20s -q
		continue
	}
	from=$(roger show "$id" --print from) content=$(roger show "$id" --print content)
	say "<- $from: $content"
	case $content in
	task*fails*)
		sleep 0.3
		tell test --type result --reply-to "$id" --key "$id:fix:1" "${content%%:*}: done, with a fix"
		;;
	task*)
		sleep 0.4
		tell test --type result --reply-to "$id" --key "$id:do:1" "${content%%:*}: done"
		# The worst moment: the result is sent, the task is not settled.
		case $content in
		task\ 2*)
			if [ "$WORKER" = w1 ]; then
				touch "$DEMO/in-the-middle"
				sleep 60
			fi
			;;
		esac
		;;
	esac
	roger ack -q --worker "$WORKER" "$id"
	case $content in
	approved*) approved=1 ;;
	esac
done
