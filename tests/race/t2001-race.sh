#!/bin/sh
# runner: plain
# runner: timeout 300
# The mapped-file protocol has no data race: race.c and the library, built with
# clang's ThreadSanitizer, run without a report.  Then once more with a race made
# on purpose, so that a silence means something.
. "$(dirname "$0")/../cli/lib.sh"

command -v clang >/dev/null || {
	echo "ok 1 - no data race # SKIP clang is not installed"
	echo "1..1"
	exit 0
}
parts="sqlite3 yaml-0.1 libsodium yyjson"

build() { # PROGRAM OPTION...
	_program=$1
	shift
	# shellcheck disable=SC2046
	find "$source_dir/src" -name '*.c' ! -path '*/cli/*' -print0 |
		xargs -0 -P "$(nproc)" -n 8 sh -c '
			out=$1; shift
			for file in "$@"; do
				case $file in -*) continue ;; esac
				clang $FLAGS -c "$file" -o "$out/$(echo "$file" | tr / _).o" || exit 255
			done' build "$objects" || return
	clang $FLAGS "$@" -Wl,--wrap=mmap -Wl,--wrap=munmap "$source_dir/tests/race/race.c" "$objects"/*.o \
		-o "$_program" $(pkg-config --libs $parts) -lm -lpthread
}

objects=$here/objects
mkdir "$objects" "$here/place" "$here/place2"
FLAGS="-std=c17 -g -O1 -fsanitize=thread -fno-omit-frame-pointer -D_GNU_SOURCE -DROGER_BUILD
	-I$source_dir/include -I$source_dir/src $(pkg-config --cflags $parts)"
export FLAGS
export TSAN_OPTIONS="exitcode=66 halt_on_error=0 second_deadlock_stack=1"

check "built with the thread sanitizer" build "$here/race"
run "$here/race" "$here/place"
note "$out"
is "no data race" "$status" 0
[ "$status" = 0 ] || note "$(printf '%s\n' "$err" | head -n 120)"

done_testing
