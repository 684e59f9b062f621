#!/bin/sh
# runner: plain
# The installed library: programs find it through pkg-config, shared and static;
# it shows only what roger.h names, prints nothing and never exits.
. "$(dirname "$0")/lib.sh"

check "install" env DESTDIR="$here/root" meson install -C "${ROGER_BUILD:-$(dirname "$ROGER")}" --no-rebuild --quiet
pc=$(find root -name roger.pc)
library=$(dirname "$(dirname "$pc")")
export PKG_CONFIG_SYSROOT_DIR="$here/root" PKG_CONFIG_PATH="$here/$(dirname "$pc")"
check "pkg-config finds it" pkg-config --exists 'roger >= 0.1'
# Only our own parts are below the sysroot.
flags=$(pkg-config --cflags --libs roger)

for example in ping_pong watch; do
	# shellcheck disable=SC2086
	check "$example: compiles" gcc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror "$source_dir/examples/$example.c" -o $example $flags
	like "$example: uses the shared library" "$(readelf -d $example)" 'NEEDED.*libroger\.so\.0-[0-9a-f]{8}'
done
LD_LIBRARY_PATH=$here/$library
export LD_LIBRARY_PATH
exits 66 "without a workspace it fails" ./ping_pong
like "with one line" "$err" "no workspace"
roger init -q
exits 0 "ping_pong runs" ./ping_pong 3
is "six turns" "$(printf '%s\n' "$out" | grep -c got)" 6
is "are six messages" "$(roger list --count --issue ping-pong)" 6
roger send -q --as somebody watcher hello 2>/dev/null
exits 0 "watch sees mail" ./watch watcher 10
like "without its text" "$out" "#1 +somebody +general +5 bytes"
exits 1 "and ends when nothing comes" ./watch nobody 1

shared=$(find root -name 'libroger.so.0-*')
is "nothing but roger_ is visible" "$(nm -D --defined-only "$shared" | awk '$3 !~ /^roger_/ { print $3 }')" ""
for function in $(sed -n 's/^ROGER_API.*[ *]\(roger_[a-z_]*\)(.*/\1/p' "$ROGER_BUILD/verbs/roger.h"); do
	nm -D --defined-only "$shared" | grep -q " $function$" || note "missing: $function"
done >missing
is "and all of roger.h is" "$(cat missing)" ""
# _exit ends the child of a fork whose command cannot be run.
unlike "it neither prints nor exits" "$(nm -D --undefined-only "$shared" | awk '{ print $2 }' | sed 's/@.*//' | grep -vx 'fprintf\|stderr\|abort')" \
	'^(printf|puts|putchar|exit|perror|syslog|stdout)$'

static=$(find root -name libroger.a)
check "there is a static library" test -n "$static"
# shellcheck disable=SC2046
check "it links" gcc -std=c99 -D_POSIX_C_SOURCE=200809L "$source_dir/examples/ping_pong.c" -I"$here/root/usr/local/include" -o static_ping_pong \
	"$static" $(env -u PKG_CONFIG_SYSROOT_DIR pkg-config --libs sqlite3 yaml-0.1 libsodium libutf8proc yyjson) -lm -lpthread
unlike "without the shared one" "$(readelf -d static_ping_pong)" libroger
exits 0 "and runs" ./static_ping_pong 2
# What the archive needs is told, too.
# shellcheck disable=SC2046
check "pkg-config --static links, too" gcc -std=c99 -D_POSIX_C_SOURCE=200809L "$source_dir/examples/watch.c" -o static_watch \
	$(pkg-config --static --cflags --libs roger | sed 's/-lroger/-Wl,-Bstatic -lroger -Wl,-Bdynamic/')
unlike "without the shared one" "$(readelf -d static_watch)" libroger
# As many programs are linked for containers; the archive has what Debian has no archive of.
if ! pkg-config --static --libs roger | grep -q yyjson; then
	# shellcheck disable=SC2046
	check "wholly static" gcc -static -std=c99 -D_POSIX_C_SOURCE=200809L "$source_dir/examples/watch.c" -o wholly_static $(pkg-config --static --cflags --libs roger)
	exits 1 "which runs" ./wholly_static nobody 1
fi

# The program of docs/LIBRARY.md, from what was installed.
sed -n '/^```c$/,/^```$/p' "$source_dir/docs/LIBRARY.md" | sed '/^```/d' >program.c
# shellcheck disable=SC2086
check "the program of LIBRARY.md compiles" gcc -Wall -Wextra -Werror program.c -o program $flags
exits 0 "and runs" ./program
like "as it says" "$out" "^number 1 is on disk$"
exits 0 "the installed program runs" env LD_LIBRARY_PATH= "$here/root/usr/local/bin/roger" --version
done_testing
