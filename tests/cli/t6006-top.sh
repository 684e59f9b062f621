#!/bin/sh
# `roger top` in a terminal (tmux): it shows agents, claims, runs and the last messages, follows
# what happens, replies and acknowledges by keys, marks nothing as looked at by itself, fits small and
# large screens, shows harmful text as such, sleeps while nothing happens, and puts the screen back.
. "$(dirname "$0")/lib.sh"

if ! command -v tmux >/dev/null; then
	echo "1..0 # SKIP tmux is not there"
	exit 0
fi

# ---------------------------------------------------------- without a terminal --

exits 64 "without a terminal it says what to use" roger top
like "which is" "$err" "roger list -f"

# -------------------------------------------------------------- in a terminal --

screen() { tmux -L "$$" capture-pane -p -t top; }
press() { tmux -L "$$" send-keys -t top "$@"; }
# Wait until the screen has, or has no more, what matches.
shows() { # NAME PATTERN
	_tries=0
	until screen | grep -qE -- "$2"; do
		_tries=$((_tries + 1))
		[ $_tries -lt 400 ] || break
		sleep 0.05
	done
	screen | grep -qE -- "$2"
	_status=$?
	result $_status "$1"
	[ $_status = 0 ] || note "$(screen)"
}
hides() { # NAME PATTERN
	_tries=0
	while screen | grep -qE -- "$2" && [ $_tries -lt 400 ]; do
		_tries=$((_tries + 1))
		sleep 0.05
	done
	is "$1" "$(screen | grep -E -- "$2")" ""
}
# What is typed before the shell has the terminal again may be lost.
wait_for_shell() {
	for _ in 1 2 3 4 5; do
		press C-j 'stty sane; clear; echo cl''ean' C-j
		sleep 1
		! screen | grep -q '^clean' || break
	done
}
start() { # COLUMNS LINES COMMAND
	tmux -L "$$" -f /dev/null new-session -d -s top -x "$1" -y "$2" "$3"
}
find_program() { pgrep -P "$(tmux -L "$$" display-message -p -t top '#{pane_pid}')"; }
trap 'tmux -L $$ kill-server 2>/dev/null; cd / && kill $_json_server; rm -rf "$here" "$_state" "$_json_pipes"' EXIT

roger init -q
roger trust -q >/dev/null 2>&1
for text in one two three; do roger send -q --as amy --issue plan bob "$text" 2>/dev/null; done
roger send -q --as amy eve "$(printf 'evil \342\200\256txt \033[31m red')" 2>/dev/null
roger send -q --as bob human 'may I?' 2>/dev/null
roger send -q --as amy --new zoe 'who are you?' 2>/dev/null
roger claim -q --as bob --worker w1 >/dev/null
roger dispatch run-1 -q --as amy --child kid --within 1h >/dev/null 2>&1
notes=$(grep -c . .roger/logs/activity.log.jsonl)

start 80 24 "printf 'before\n'; TERM=screen '$ROGER' top; echo ended with \$?; exec sh"
shows "agents, and who waits for whom" '^ bob +3 unread, from amy .*; looked'
shows "claims, with their holder" '^ w1 +holds #1 of amy for bob, lease ends in . min'
shows "runs" '^ run-1 +running, .* for amy'
shows "the last messages" 'amy #3 -> bob  three'
shows "what is harmful is shown as such" 'evil <U\+202E>txt <U\+001B>\[31m red'

roger send -q --as amy bob 'sent beside it' 2>/dev/null
shows "what is sent meanwhile appears" 'bob  sent beside it'
shows "and is counted" '^ bob +4 unread'

tmux -L "$$" resize-window -t top -x 60 -y 15
shows "it fits 60x15" '^j k go  Enter open  r reply'
is "with 15 lines" "$(screen | wc -l)" 15
shows "with what is cut marked" '…$'
shows "where there is no room it says how many there are" '^ and 1 more'
press Home j j j Enter
shows "and Enter shows them" 'zoe never looked at its mail'
tmux -L "$$" resize-window -t top -x 200 -y 50
shows "and 200x50, where nothing need be cut" 'amy #4 -> eve'
shows "with the end of a long line" 'red$'
tmux -L "$$" resize-window -t top -x 20 -y 4
shows "and a tiny one" '^ roger top'
tmux -L "$$" resize-window -t top -x 80 -y 24
shows "and is whole again" '^LAST MESSAGES'

press '?'
shows "? names the keys" 'acknowledge the message'
press q
shows "q goes back" '^AGENTS'
shows "it says how many causes there are" '^ roger top +[0-9]+ to look at '
shows "it begins with what status says" '^NEEDS ATTENTION'
press Home Enter
shows "Enter opens one of that" '^ +roger '
press q
for _ in 1 2 3 4; do press j; done
press Enter
shows "Enter opens an agent with its unread mail" '^bob: 4 unread'
press q
press / 'may I' Enter
shows "/ shows only what has the text" "only 'may I'"
hides "and nothing else" 'amy #3 -> bob  three'
press End Enter
shows "Enter opens a message" '^ +may I\?'
shows "with where it belongs" '^bob#1 -> human +context +general'

# -------------------------------------------------- what the person did until now --

is "watching left no note, but for the send" "$(grep -c . .roger/logs/activity.log.jsonl)" "$((notes + 1))"
is "and nothing is looked at or read" "$(roger list --unread --jsonl | grep -c .)" 7

press r
shows "r asks for a reply" '^reply to bob:'
press 'yes, do' Enter
shows "which is sent" 'sent #1 to bob'
question=$(roger list --from bob --json | json 'd["messages"][0]["id"]')
is "and in the journal, as a reply" "$(roger list --from human --json |
	json 'd["messages"][0]["reply_to"] + " " + d["messages"][0]["content"]')" "$question yes, do"
press e
shows "e acknowledges" '^acknowledged'
is "which the journal has, too" "$(roger list --to human --json | json 'd["messages"][0]["read"]')" true
press q / BSpace Enter
press / Enter
shows "without a filter all is shown" 'amy #3 -> bob  three'
press Home End Enter
shows "mail of another" '^ +one'
press e
shows "is not acknowledged" "is for 'bob', not for 'human'"
press q

# ---------------------------------------------------------------- what it costs --

program=$(find_program)
python3 "$source_dir/tests/cli/lib_idle.py" "$program"
result $? "it sleeps while nothing happens"

press q
shows "q ends it with 0" '^ended with 0'
shows "and the screen is as before" '^before'

# ------------------------------------------------------------------- its ends --

press "TERM=screen '$ROGER' top --as bob; echo ended with \$?" Enter
shows "--as says who acts" '^ *roger top .* as bob'
kill -9 "$(find_program)"
shows "killed" 'ended with 137'
check "nothing is locked after kill -9" timeout 10 "$ROGER" send -q --as amy bob 'after the kill'
wait_for_shell
shows "the shell has the terminal again" '^clean'
press "TERM=screen '$ROGER' top; echo again \$?" Enter
shows "it starts again" 'after the kill'
kill "$(find_program)"
shows "SIGTERM ends it with 0" '^again 0'
press "TERM=screen '$ROGER' top; echo aborted \$?; stty -a | grep -o 'icanon.*'" Enter
shows "it starts again" '^LAST MESSAGES'
kill -ABRT "$(find_program)"
shows "aborted it leaves, too" '^aborted 134'
shows "and the terminal is as it was" '^icanon'
press "clear; TERM=screen '$ROGER' top" Enter
shows "it starts again" '^LAST MESSAGES'
kill -TSTP "$(find_program)"
shows "it can be stopped" 'Stopped'
wait_for_shell
press fg Enter
shows "stopped, it comes back" '^LAST MESSAGES'
press q
wait_for_shell
press "clear; TERM=dumb '$ROGER' top; echo dumb \$?" Enter
shows "a dumb terminal is refused" '^dumb 64'
done_testing
