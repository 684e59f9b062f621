#!/bin/sh
# runner: plain
# Aim: the lock of the mapped file orders what it guards, by the thread sanitizer.
# The runner's UBSAN_OPTIONS would send reports elsewhere.
unset ASAN_OPTIONS UBSAN_OPTIONS
. "$(dirname "$0")/../cli/lib.sh"

exits 0 "no race, no turn lost" "${ROGER_THREAD:-$source_dir/build-thread}/tests/threads"
note "$out"
like "and turns were taken" "$out" '[0-9]'

done_testing
