# lib - what the tests of the command line share.  To run one alone:
#
#     ROGER=build/roger sh tests/cli/t0001-help.sh
#
# Each works in an empty folder that goes away, with nothing of roger's in the
# environment, and prints TAP.  Functions keep to variables that start with _,
# and to $status, $out, $err.
# shellcheck shell=sh disable=SC2034
set -u

case ${ROGER:?the program to test} in
/*) ;;
*) ROGER=$PWD/$ROGER ;;
esac
source_dir=${ROGER_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
unset ROGER_AGENT ROGER_STORE ROGER_ISSUE ROGER_WORKSPACE ROGER_RECIPIENTS ROGER_ENGINE ROGER_TRUST ROGER_TRUST_COMMANDS NO_COLOR
umask 022
here=$(mktemp -d)
# What a person trusts, which no test may leave behind.
_state=$(mktemp -d)
export XDG_STATE_HOME="$_state"
_json_pipes=$(mktemp -d)
mkfifo "$_json_pipes/ask" "$_json_pipes/answer"
# No child of this shell, so that `wait` is for the test's own.
_json_server=$(python3 "$source_dir/tests/cli/lib_json.py" "$_json_pipes/ask" "$_json_pipes/answer" $$ </dev/null >/dev/null & echo $!)
trap 'cd / && kill $_json_server; rm -rf "$here" "$_state" "$_json_pipes"' EXIT
cd "$here" || exit 1
_number=0
_failures=0
_newline='
'
_tab='	'

roger() {
	"$ROGER" "$@"
}

# Run a command below a program that is called like an agent's tool, as its hooks are.
below() { # TOOL COMMAND...
	[ -x "$_state/tools/$1" ] || {
		mkdir -p "$_state/tools"
		printf '#!/bin/sh\n"$@"\nexit $?\n' >"$_state/tools/$1"
		chmod +x "$_state/tools/$1"
	}
	_tool=$_state/tools/$1
	shift
	"$_tool" "$@"
}

result() { # STATUS NAME
	_number=$((_number + 1))
	case $2 in
	*"$_newline"* | *"$_tab"*) _line=$(printf '%s' "$2" | tr '\n\t' '  ') ;;
	*) _line=$2 ;;
	esac
	if [ "$1" = 0 ]; then
		printf 'ok %d - %s\n' "$_number" "$_line"
	else
		_failures=$((_failures + 1))
		printf 'not ok %d - %s\n' "$_number" "$_line"
	fi
}

note() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

# The command succeeds.
check() { # NAME COMMAND...
	_name=$1
	shift
	"$@" >"$here/.check" 2>&1
	_status=$?
	result $_status "$_name"
	[ $_status = 0 ] || note "exit $_status: $(cat "$here/.check")"
}

# Run a command; afterwards $status, $out and $err tell.
run() {
	"$@" >"$here/.out" 2>"$here/.err"
	status=$?
	out= err=
	[ -s "$here/.out" ] && out=$(cat "$here/.out")
	[ -s "$here/.err" ] && err=$(cat "$here/.err")
	:
}

# The command exits with that status; $out and $err tell the rest.
exits() { # STATUS NAME COMMAND...
	_expected=$1 _name=$2
	shift 2
	run "$@"
	is "$_name" "$status" "$_expected"
	[ "$status" = "$_expected" ] || note "out: $out
err: $err"
}

is() { # NAME GOT EXPECTED
	if [ "$2" = "$3" ]; then
		result 0 "$1"
	else
		result 1 "$1"
		note "got '$2', expected '$3'"
	fi
}

like() { # NAME TEXT PATTERN
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		result 0 "$1"
	else
		result 1 "$1"
		note "'$2' does not match '$3'"
	fi
}

unlike() { # NAME TEXT PATTERN
	if printf '%s\n' "$2" | grep -Eq -- "$3"; then
		result 1 "$1"
		note "'$2' matches '$3'"
	else
		result 0 "$1"
	fi
}

# How many processes with these words this test has: they are in its folder, another checkout's are not.
count_running() { # PATTERN
	pgrep -f "$1" | while read -r _pid; do readlink "/proc/$_pid/cwd"; done | grep -c "^$here"
}

# A header needs nothing before it, in any standard of C and C++, with every warning on.
compiles_alone() { # FILE
	_warnings="-Wall -Wextra -Wpedantic -Wundef -Werror -fsyntax-only"
	for _compiler in gcc clang; do
		for _standard in c99 c17; do
			# shellcheck disable=SC2086
			check "$_compiler, $_standard" $_compiler -std=$_standard $_warnings -Wshadow -Wstrict-prototypes -x c "$1"
		done
	done
	for _compiler in g++ clang++; do
		for _standard in c++17 c++20; do
			# shellcheck disable=SC2086
			check "$_compiler, $_standard" $_compiler -std=$_standard $_warnings -x c++ "$1"
		done
	done
}

# A Python expression over d, the JSON on standard input.  One at a time; one may read from another.
json() { # EXPRESSION
	_text=$(cat)
	printf '%s\n\000\n%s' "$1" "$_text" >"$_json_pipes/ask"
	{
		IFS= read -r _said
		if [ "$_said" = 0 ]; then cat; else cat >&2; fi
	} <"$_json_pipes/answer"
	return "$_said"
}

# Everything that could change in a workspace, as one word.
state_of() { # FOLDER
	(cd "$1" && cat messages.jsonl messages_archive/* 2>/dev/null | cksum)
}

# The id of a message just sent: the first word of what send prints.
send_id() {
	roger send "$@" 2>/dev/null | cut -d ' ' -f 1
}

done_testing() {
	echo "1..$_number"
	[ "$_failures" = 0 ]
	exit
}

# For tests of repositories: git has no settings and a name, HOME is new, and $here is the folder's real path.
need_git() { # WHAT
	command -v git >/dev/null || {
		result 0 "$1 # SKIP git is not installed"
		done_testing
		exit
	}
	export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
	export HOME="$here/home"
	mkdir home
	here=$(pwd -P)
	cd "$here" || exit 1
}
