#!/bin/sh
# runner: plain
# roger.h compiles alone, as C99, as C17 and as C++17, with every warning on.
. "$(dirname "$0")/lib.sh"

header=$source_dir/include/roger.h
warnings="-Wall -Wextra -Wpedantic -Wundef -Werror -fsyntax-only"
for compiler in gcc clang; do
	for standard in c99 c17; do
		# shellcheck disable=SC2086
		check "$compiler, $standard" $compiler -std=$standard $warnings -Wshadow -Wstrict-prototypes -x c "$header"
	done
done
for compiler in g++ clang++; do
	for standard in c++17 c++20; do
		# shellcheck disable=SC2086
		check "$compiler, $standard" $compiler -std=$standard $warnings -x c++ "$header"
	done
done
printf '#include <roger.h>\n#include <roger.h>\nint main() { roger_send_request request = {}; (void)request; return roger_ops() == nullptr; }\n' >use.cpp
check "used from C++, included twice" g++ -std=c++17 -Wall -Werror -I"$source_dir/include" -c use.cpp
done_testing
