#!/bin/sh
# runner: plain
# What script/mutate changes in a source file and what it leaves alone, and that
# each mutant which makes no difference is one that it still makes.
. "$(dirname "$0")/lib.sh"
cd "$source_dir" || exit 1

exits 0 "the mutants of the example" script/mutate --list tests/mutate/example.c
is "are those written down" "$out" "$(cat tests/mutate/example.txt)"
files=$(sed -n 's/^\(src[^ ]*\) .*/\1/p' tests/mutate/equivalent.txt | sort -u)
# shellcheck disable=SC2086 # a list of names
exits 0 "those that make no difference are all there" script/mutate --list $files
unlike "by their words" "$out" "no such mutant"
exits 1 "what is no C file" script/mutate --list script/mutate.py
like "is named" "$err" "script/mutate.py: not a C file of this project"
