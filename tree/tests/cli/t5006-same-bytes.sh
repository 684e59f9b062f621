#!/bin/sh
# runner: plain
# runner: slow
# runner: timeout 1800
# The same sources make the same bytes: the parts and the program, built in two
# folders, are equal, and hold no path of the machine.
. "$(dirname "$0")/lib.sh"

export CCACHE_DISABLE=1
# Another compiler makes another program, without the parts.
unset CC
copies="$here/one/roger $here/another/folder/for/it"
for copy in $copies; do
	mkdir -p "$copy"
	(cd "$source_dir" && git -c 'safe.directory=*' ls-files -z | xargs -0 tar -cf -) | tar -C "$copy" -xf -
	(cd "$copy" && script/parts) >"$here/log" 2>&1
	parts=$?
	if [ $parts = 69 ]; then
		echo "ok 1 - the parts cannot be had here # SKIP $(tail -n 1 "$here/log")"
		echo 1..1
		exit
	fi
done
is "the parts are built" "$parts" 0
# Inside the sources in one place, outside in the other.
check "built inside the sources" sh -c "cd '$here/one/roger' && meson setup build && ninja -C build roger"
check "and outside of them" sh -c "meson setup '$here/elsewhere' '$here/another/folder/for/it' && ninja -C '$here/elsewhere' roger"
one=$here/one/roger another=$here/another/folder/for/it
for file in "$one"/build-parts/lib/*.a; do
	check "${file##*/} is the same" cmp "$file" "$another/build-parts/lib/${file##*/}"
done
check "the program is the same" cmp "$one/build/roger" "$here/elsewhere/roger"
is "no path of the folder is in it" "$(grep -a -c -F "$here" "$one/build/roger" "$one"/build-parts/lib/*.a | grep -v ':0$')" ""
is "nor one that leads out of it" "$(grep -a -o '\.\./[a-z./]*\.[ch]' "$one/build/roger")" ""
done_testing
