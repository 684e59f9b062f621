#!/bin/sh
# runner: plain
# roger.h compiles alone, as C99, as C17 and as C++17, with every warning on.
. "$(dirname "$0")/lib.sh"

compiles_alone "$ROGER_BUILD/verbs/roger.h"
printf '#include <roger.h>\n#include <roger.h>\nint main() { roger_send_request request = {}; request.from = ROGER_STR("bob"); return roger_ops() == nullptr; }\n' >use.cpp
check "used from C++, included twice" g++ -std=c++17 -Wall -Werror -I"$ROGER_BUILD/verbs" -c use.cpp
done_testing
