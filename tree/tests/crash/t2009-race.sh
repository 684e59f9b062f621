#!/bin/sh
# runner: plain
# runner: timeout 300
# Aim: the whole protocol of the mapped file has no data race: ../race/race.c and
# the library, built with clang's ThreadSanitizer, run without a report.  Then with
# a race made on purpose, so that the silence means something.
. "$(dirname "$0")/../cli/lib.sh"

thread=${ROGER_THREAD:-$source_dir/build-thread}
mkdir place place2
# The thread sanitizer heeds UBSAN_OPTIONS as well: the runner's would send reports elsewhere.
unset ASAN_OPTIONS UBSAN_OPTIONS
export TSAN_OPTIONS="exitcode=66"
check "the library with the thread sanitizer" test -e "$thread/src/libinside.a"
check "the crowd" test -x "$thread/tests/race"
run "$thread/tests/race" "$here/place"
note "$out"
is "no data race" "$status" 0
[ "$status" = 0 ] || note "$(printf '%s\n' "$err" | head -n 120)"

check "the crowd with a race" test -x "$thread/tests/racing"
exits 66 "a race would be seen" "$thread/tests/racing" "$here/place2"

done_testing
