#!/bin/sh
# runner: plain
# Aim: the lock of the mapped file orders what it guards, by a thread sanitizer.
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo 1..2
cd "$here" || exit 1
if clang -std=c17 -D_GNU_SOURCE -g -O1 -ffunction-sections -Wl,--gc-sections -fsanitize=thread -Isrc \
	-Iinclude tests/race/threads.c src/store/lock.c src/store/process.c \
	src/store/file.c src/base/*.c -lsodium -pthread -o "$work/threads" 2>"$work/log"; then
	echo "ok 1 - builds with the thread sanitizer"
else
	sed 's/^/# /' "$work/log"
	echo "not ok 1 - builds with the thread sanitizer"
fi
if "$work/threads" >"$work/out" 2>&1; then
	echo "ok 2 - no race, no turn lost: $(cat "$work/out")"
else
	sed 's/^/# /' "$work/out" | head -n 40
	echo "not ok 2 - no race, no turn lost"
fi
