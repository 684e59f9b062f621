#!/bin/sh
# runner: plain
# runner: timeout 300
# Aim: the whole protocol of the mapped file has no data race: ../race/race.c and
# the library, built with clang's ThreadSanitizer, run without a report.  Then with
# a race made on purpose, so that the silence means something.
. "$(dirname "$0")/../cli/lib.sh"

if ! command -v clang >/dev/null; then
	echo "ok 1 - no data race # SKIP clang is not installed"
	echo "1..1"
	exit 0
fi

parts="sqlite3 yaml-0.1 libsodium libutf8proc yyjson"
FLAGS="-std=c17 -g -O1 -fsanitize=thread -fno-omit-frame-pointer -D_GNU_SOURCE -DROGER_BUILD
	-I$source_dir/include -I$source_dir/src -I${ROGER_BUILD:?with the headers it made}/src $(pkg-config --cflags $parts)"
OBJECTS=$here/objects
export FLAGS OBJECTS
mkdir "$OBJECTS" "$here/place" "$here/place2"

compile_all() {
	find "$source_dir/src" -name '*.c' ! -path '*/cli/*' ! -path '*/mcp/*' -print0 |
		xargs -0 -P "$(nproc)" -n 8 sh -c '
			for file; do
				clang $FLAGS -c "$file" -o "$OBJECTS/$(echo "$file" | tr / _).o" || exit 255
			done' compile
}

link() { # PROGRAM OPTION...
	_program=$1
	shift
	# shellcheck disable=SC2046,SC2086
	clang $FLAGS "$@" -Wl,--wrap=mmap -Wl,--wrap=munmap "$source_dir/tests/race/race.c" "$OBJECTS"/*.o \
		-o "$_program" $(pkg-config --libs $parts) -lm -lpthread
}

check "the library with the thread sanitizer" compile_all
check "the crowd" link "$here/race"
# The thread sanitizer heeds UBSAN_OPTIONS as well: the runner's would send reports elsewhere.
unset ASAN_OPTIONS UBSAN_OPTIONS
export TSAN_OPTIONS="exitcode=66"
run "$here/race" "$here/place"
note "$out"
is "no data race" "$status" 0
[ "$status" = 0 ] || note "$(printf '%s\n' "$err" | head -n 120)"

check "the crowd with a race" link "$here/racing" -DRACE_ON_PURPOSE
exits 66 "a race would be seen" "$here/racing" "$here/place2"

done_testing
