#!/bin/sh
# runner: plain
# Aim: a lock that is given back while the control file is outgrown, again and
# again, is free afterwards: ../race/outgrown.c, which outgrows it at that moment.
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here" || exit 1
mkdir "$work/place"
if ! "${CC:-cc}" -std=c17 -D_GNU_SOURCE -g -O1 -Isrc -Iinclude -Wl,--wrap=munmap tests/race/outgrown.c \
	src/store/journal.c src/store/control.c src/store/lock.c src/store/process.c src/store/lines.c src/store/file.c \
	src/base/*.c -lsodium -lutf8proc -o "$work/outgrown" 2>"$work/log"; then
	sed 's/^/# /' "$work/log"
	echo "not ok 1 - builds"
	exit 1
fi
"$work/outgrown" "$work/place"
