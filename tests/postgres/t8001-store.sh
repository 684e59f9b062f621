#!/bin/sh
# `store: postgres://...`: a workspace in a database, its server, and commands on two machines.
# Run by script/postgres, which has started a server: TEST_POSTGRES is its address.
. "$(dirname "$0")/../cli/lib.sh"

export HOME="$here/home" XDG_RUNTIME_DIR="$here/run"
mkdir -m 700 "$HOME" "$XDG_RUNTIME_DIR"
mkdir one two other
team="$TEST_POSTGRES#team$$"
serve() {
	"$ROGER" serve >served 2>&1 &
	server=$!
	until grep -q listening served; do kill -0 $server || break; done
}

# ------------------------------------------------------------ setting up
cd one || exit 1
exits 0 "a workspace" roger init
echo "store: $team" >.roger/config.yaml
exits 78 "a file's address is not used unasked" roger serve
like "that needs trust" "$err" "config.yaml:1: store: .*only after .roger trust"
exits 78 "not even by init" roger init
run roger trust
like "trust shows it" "$out" "store is 'postgres://"
exits 0 "a person trusts it" roger trust --accept "$(printf '%s\n' "$out" | sed -n 's/.*--accept //p')"
exits 78 "without tables nothing works" roger serve
like "and the answer says what makes them" "$err" "roger init"
exits 0 "init makes the tables" roger init
exits 0 "and does nothing the second time" roger init
exits 69 "no command opens the database" roger send bob 'from one' --as amy --key k1
like "and says what to start" "$err" "roger serve"
serve
exits 0 "a send, through the server" roger send bob 'from one' --as amy --key k1
exits 0 "the same key once more" roger send bob 'from one' --as amy --key k1
like "is the same message" "$out$err" "sent before with this key"
check "no journal is a file here" test ! -e .roger/messages.jsonl
exits 0 "a command that is watched where it runs" roger run --as amy -- true
like "reports through the server" "$err" "exit 0; reported to amy in msg-"

cd ../two || exit 1
export ROGER_SERVER="unix:$(sed -n 's/listening at //p' ../one/served)"
exits 0 "the mail is there, on another machine" roger receive --as bob
like "word for word" "$out" "from one"
printf 'from two, on standard input\n' >text
run sh -c '"$ROGER" send amy - --as bob <text'
is "standard input reaches the server" "$status" 0
printf '{"session_id":"","transcript_path":"","hook_event_name":"","cwd":"%s","prompt":"x"}' "$PWD" >event
run sh -c '"$ROGER" hook claude prompt --as amy <event'
like "so does a hook's event" "$out" "from two, on standard input"
unset ROGER_SERVER

cd ../one || exit 1
"$ROGER" wait --as bob --timeout 20s >woken 2>&1 &
waiting=$!
exits 0 "the other machine has one more" roger list --to amy
like "and this one sees what was sent there" "$out" "from two"
exits 0 "a send wakes who waits" roger send bob 'wake up' --as amy
wait $waiting
is "which answers" "$?" 0
exits 0 "sound" roger doctor
exits 0 "intact" roger verify
exits 0 "a seal" roger seal --out sealed
kill $server
wait $server
is "the server ends in order" "$?" 0

# ------------------------------------------------------------ what goes wrong
cd ../other || exit 1
roger init >/dev/null
secret=postgres://me:hush-hush@127.0.0.1:1/none
exits 78 "no password in a file" sh -c "echo 'store: $secret' >.roger/config.yaml && '$ROGER' list"
unlike "which nobody repeats" "$out$err" "hush"
rm .roger/config.yaml
exits 69 "a server that is not there" env ROGER_STORE="$secret" "$ROGER" serve
unlike "its password is not told" "$out$err" "hush"
exits 78 "no address" env ROGER_STORE='postgres://me:hush-hush@h:nonsense/x' "$ROGER" serve
unlike "which is not repeated either" "$out$err" "hush"
exits 78 "a workspace that nobody added" env ROGER_STORE="$TEST_POSTGRES#nobody" "$ROGER" serve
like "and the answer says who does" "$err" "roger init"
# A slip in the name would make another workspace, empty: a person at a terminal is asked.
at_terminal() { # ANSWER COMMAND...
	printf '%s\n' "$1" >answer
	shift
	run sh -c 'python3 -c "import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))" "$@" <answer' sh "$@"
}
slip=$TEST_POSTGRES#taem$$
names() { psql "SELECT string_agg(name, ' ' ORDER BY ws) FROM roger.workspace"; }
psql() { "$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1)/psql" -qAt "$TEST_POSTGRES" -c "$1"; }
at_terminal n env ROGER_STORE="$slip" "$ROGER" init
is "whoever says no at a terminal makes no second workspace" "$status $(names)" "77 team$$"
like "having been shown which there are" "$out$err" "but 'team$$'; is the name behind # right"
like "and asked" "$out$err" "make it there, empty\? \[y/N\]"
at_terminal y env ROGER_STORE="$slip" "$ROGER" init
is "whoever says yes makes it" "$status $(names)" "0 team$$ taem$$"
at_terminal n env ROGER_STORE="$slip" "$ROGER" init
unlike "and is not asked of one that is there" "$status$out$err" "y/N"
at_terminal n env ROGER_STORE="$TEST_POSTGRES#third$$" "$ROGER" init --second
is "nor with --second" "$status $(names)" "0 team$$ taem$$ third$$"
exits 0 "nor without a terminal" env ROGER_STORE="$TEST_POSTGRES#fourth$$" "$ROGER" init
psql "INSERT INTO roger.schema VALUES (1000, '')"
exits 78 "tables of a newer roger" env ROGER_STORE="$team" "$ROGER" serve
like "which says so" "$err" "newer"
exits 78 "nor does init touch them" env ROGER_STORE="$team" "$ROGER" init
psql "DELETE FROM roger.schema WHERE version = 1000"
run psql "DELETE FROM roger.line"
like "journals are append-only" "$err" "append-only"
run psql "UPDATE roger.line SET text = ''"
like "and are not changed" "$err" "append-only"

# ------------------------------------------------------------ what the owner of the tables can do
cd ../one || exit 1
psql "SET session_replication_role = replica; DELETE FROM roger.line l WHERE start = (SELECT max(start) FROM roger.line m JOIN
	roger.workspace w ON w.messages = m.journal WHERE w.name = 'team$$' AND m.journal = l.journal)"
serve
exits 1 "after two heartbeats the server remembers no line" roger wait --as nobody --timeout 2s
exits 65 "the last line is taken away" roger verify --seal sealed
like "which is told" "$out" "^messages.jsonl line [0-9]+ .*: not the line that was sealed"
kill $server
wait $server

done_testing
