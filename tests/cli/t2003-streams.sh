#!/bin/sh
# Started without standard input, output or error, roger writes nothing of what
# it says into the workspace's files; an interrupted start leaves none behind.
. "$(dirname "$0")/lib.sh"

roger init -q
for closed in '<&-' '>&-' '2>&-' '<&- >&-' '<&- 2>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
	for command in 'send --as a new$$ hello' 'send --as a new$$ hello --json' 'inbox --as b' 'receive --as b' 'claim --as b' \
		'list' 'show nope' 'bogus' 'list --bogus' 'rebuild' 'session new' 'cleanup' 'stats' 'verify'; do
		sh -c "\"\$ROGER\" $command $closed" >/dev/null 2>&1
		[ $? -lt 128 ] || note "'$command $closed' died"
	done
	exits 0 "with $closed all files stay well" roger verify
	like "and hold nothing else" "$out" ", 0 without: intact"
done
is "no file holds what is said to people" "$(grep -El 'roger: |note: |made a|session [0-9]|\(dry run' -r .roger --include='*.jsonl' --include='*.json' --include='*.control')" ""

# Each line of an error is one write, so the lines of several commands on one terminal stay whole.
cat >writes.py <<'END'
import socket, subprocess, sys
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
subprocess.run(sys.argv[1:], stderr=theirs, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
ours.setblocking(False)
print(ours.recv(4096).endswith(b"\n"))
END
is "an error is one write" "$(python3 writes.py "$ROGER" show nope 2>&1; python3 writes.py "$ROGER" bogus --json 2>&1)" "True
True"

# Many begin at once in a folder that has nothing yet.
mkdir fresh
for i in 1 2 3 4 5 6 7 8; do
	{ "$ROGER" init -q fresh && "$ROGER" --workspace fresh send -q --as "s$i" all-of-us "$i"; } 2>"fresh.$i" &
done
wait
is "all of them are heard" "$(roger --workspace fresh list --count)" 8
is "without an error" "$(cat fresh.? | grep -v '^note: ')" ""
exits 0 "and the journal is well" roger --workspace fresh verify
done_testing
