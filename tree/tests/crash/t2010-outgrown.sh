#!/bin/sh
# runner: plain
# Aim: a lock that is given back while the control file is outgrown, again and
# again, is free afterwards: ../race/outgrown.c, which outgrows it at that moment.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${ROGER_BUILD:-build}/tests/outgrown" "$folder"
