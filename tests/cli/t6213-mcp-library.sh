#!/bin/sh
# runner: plain
# libroger-mcp for other programs: its header compiles alone, as C and as C++; it
# is found through pkg-config, shows only what the header names, prints nothing
# and never exits; the example is a whole server, and uses nothing else.
. "$(dirname "$0")/lib.sh"

header=$source_dir/mcp/include/roger-mcp.h
build=${ROGER_BUILD:-$(dirname "$ROGER")}
compiles_alone "$header"
printf '#include <roger.h>\n#include <roger-mcp.h>\nint main() { roger_mcp_options options = {}; return roger_mcp_server_new(&options) != nullptr; }\n' >use.cpp
check "used from C++, beside roger.h" g++ -std=c++17 -Wall -Werror -I"$ROGER_BUILD/verbs" -I"$source_dir/mcp/include" -c use.cpp

check "install" env DESTDIR="$here/root" meson install -C "$build" --no-rebuild --quiet
pc=$(find root -name roger-mcp.pc)
library=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_SYSROOT_DIR="$here/root" PKG_CONFIG_PATH="$here/$(dirname "$pc")"
flags=$(pkg-config --cflags --libs roger-mcp)
# shellcheck disable=SC2086
check "the example compiles" gcc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror "$source_dir/examples/mcp_clock.c" -o clock $flags
like "it uses the shared library" "$(readelf -d clock)" 'NEEDED.*libroger-mcp\.so\.0'
unlike "and roger's own not at all" "$(readelf -d clock)" 'libroger\.so'
export LD_LIBRARY_PATH="$here/$library"

meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
cat >input <<END
{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{$meta}}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"time","arguments":{"hours_from_utc":2},$meta}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"time","arguments":{"hours_from_utc":99},$meta}}
{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"clock://zone",$meta}}
END
run ./clock <input
is "it ends with its input" "$status$err" 0
like "lists its tool" "$(printf '%s\n' "$out" | sed -n 1p)" '"name":"time"'
like "tells the time" "$(printf '%s\n' "$out" | sed -n 2p)" '"text":"It is [0-9:]{8}\."'
like "says what is wrong" "$(printf '%s\n' "$out" | sed -n 3p)" "'hours_from_utc' is too large; expected 14 or less"
like "gives its resource" "$(printf '%s\n' "$out" | sed -n 4p)" '"text":"UTC"'
is "and says nothing else" "$(printf '%s\n' "$out" | wc -l)" 4

shared=$(find root -name 'libroger-mcp.so.0')
is "nothing but roger_mcp_ is visible" "$(nm -D --defined-only "$shared" | awk '$3 !~ /^roger_mcp_/ { print $3 }')" ""
for function in $(grep -v typedef "$header" | grep -Eo '\broger_mcp_[a-z_]+\(' | tr -d '(' | sort -u); do
	case $function in
	roger_mcp_http_*) pkg-config --exists libevent_extra || continue ;;
	esac
	nm -D --defined-only "$shared" | grep -q " $function$" || note "missing: $function"
done >missing
is "and all of the header is" "$(cat missing)" ""
unlike "it neither prints nor exits" "$(nm -D --undefined-only "$shared" | awk '{ print $2 }' | sed 's/@.*//' | grep -vx 'fprintf\|stderr\|abort')" \
	'^(printf|puts|putchar|exit|_exit|perror|syslog|stdout)$'
# shellcheck disable=SC2046
check "a static server links" gcc -std=c99 -D_POSIX_C_SOURCE=200809L "$source_dir/examples/mcp_clock.c" -I"$source_dir/mcp/include" -o static_clock \
	"$(find root -name libroger-mcp.a)" $(env -u PKG_CONFIG_SYSROOT_DIR pkg-config --libs libsodium yyjson) -lm -lpthread
unlike "without HTTP it needs no libevent" "$(readelf -d static_clock)" 'libevent|libroger'
# shellcheck disable=SC2046
check "pkg-config --static links, too" gcc -std=c99 -D_POSIX_C_SOURCE=200809L "$source_dir/examples/mcp_clock.c" -o static_clock_too \
	$(pkg-config --static --cflags --libs roger-mcp | sed 's/-lroger-mcp/-Wl,-Bstatic -lroger-mcp -Wl,-Bdynamic/')
run ./static_clock <input
is "and runs" "$status" 0

# By itself, without roger.
check "it is set up alone" meson setup alone "$source_dir/mcp" -Dbuildtype=debug
check "and builds alone" ninja -C alone src/libroger-mcp.so.0.1.0

# The server of mcp/docs/MCP.md is a whole one, too.
sed -n '/^```c$/,/^```$/{/^```/d;p}' "$source_dir/mcp/docs/MCP.md" >manual.c
# shellcheck disable=SC2086
check "the server of mcp/docs/MCP.md compiles" gcc -std=c99 -Wall -Wextra -Werror manual.c -o manual $flags
cat >input <<END
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","arguments":{"name":"Ann"},$meta}}
END
run ./manual <input
like "and greets" "$out" '"text":"Hello, Ann\."'
done_testing
