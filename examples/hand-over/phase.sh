# phase - what the four phases share.  They run in a workspace, as the agent
# ROGER_AGENT, on the issue ROGER_ISSUE; script/demo starts them.
# shellcheck shell=sh
set -eu

case $ROGER_AGENT in
plan) colour=36 ;;
implement) colour=33 ;;
test) colour=35 ;;
*) colour=32 ;;
esac
if [ -t 1 ] && [ -z "${NO_COLOR-}" ]; then
	form="\033[${colour}m%-10s\033[0m %s\n"
else
	form='%-10s %s\n'
fi

say() {
	# shellcheck disable=SC2059 # colours
	printf "$form" "$ROGER_AGENT" "$*"
}

# Send, and note the ids: the demo counts them afterwards.
tell() { # as `roger send`
	sent=$(roger send "$@")
	printf '%s\n' "$sent" | cut -d ' ' -f 1 >>"$DEMO/sent.txt"
	case $sent in
	*'sent before with this key'*) say "   (that was sent already, before the kill: not sent again)" ;;
	esac
}

# Take the next message, waiting for it.
next() {
	id=$(roger receive --limit 1 --wait 20s --print id) || {
		say "waited in vain"
		exit 1
	}
	from=$(roger show "$id" --print from) content=$(roger show "$id" --print content)
	say "<- $from: $content"
}
