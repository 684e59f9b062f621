#!/bin/sh
# runner: plain
# What `meson install` puts in place: everything a packager or a person wants, and
# it works from there; and what whoever builds is not asked for.
. "$(dirname "$0")/lib.sh"

check "install" env DESTDIR="$here/root" meson install -C "${ROGER_BUILD:-$(dirname "$ROGER")}" --no-rebuild --quiet
prefix=$here/root/usr/local
# The folder of libraries may have the machine's name in it, or be lib64.
installed=$(cd "$prefix" && find . -type f -o -type l | sed 's|^\./||; s|^lib/[^/]*-linux-[^/]*/|lib/|; s|^lib64/|lib/|' | sort)
# Where the loader and pkg-config look below /usr/local, on a bare Debian, too: not lib64, whatever meson knows of the machine.
is "libraries go to lib by themselves" "$(meson introspect --buildoptions "$source_dir/meson.build" |
	python3 -c 'import json, sys; print([o["value"] for o in json.load(sys.stdin) if o["name"] == "libdir"])')" "['lib']"
for file in bin/roger include/roger.h include/roger-mcp.h \
	lib/libroger.so lib/libroger.so.0.1.0 lib/libroger.a lib/libroger-mcp.so lib/libroger-mcp.so.0 lib/libroger-mcp.a \
	lib/pkgconfig/roger.pc lib/pkgconfig/roger-mcp.pc share/man/man1/roger.1 \
	share/bash-completion/completions/roger share/zsh/site-functions/_roger share/fish/vendor_completions.d/roger.fish \
	share/doc/roger/LICENSE share/doc/roger/NOTICE share/doc/roger/SECURITY.md share/doc/roger/README.md share/doc/roger/CHANGELOG.md \
	$([ -x "$(dirname "$ROGER")/roger-serve" ] && echo libexec/roger/roger-serve) \
	$([ ! -x "$(dirname "$ROGER")/roger-remote" ] || echo libexec/roger/roger-remote) \
	$(cd "$source_dir" && git -c 'safe.directory=*' ls-files 'docs/*.md' | sed 's|^docs|share/doc/roger|') \
	$(cd "$source_dir" && git -c 'safe.directory=*' ls-files integrations | sed 's|^|share/roger/|'); do
	printf '%s\n' "$installed" | grep -qx "$file" || note "missing: $file"
done >missing
is "all is there" "$(cat missing)" ""
is "and nothing of the build" "$(printf '%s\n' "$installed" | grep -E '\.(o|c|py|sh)$|test|bench')" ""

mkdir bin
ln -s "$prefix/bin/roger" bin/roger
PATH=$here/bin:$PATH
if [ -x "$prefix/libexec/roger/roger-serve" ]; then
	"$prefix/bin/roger" init "$here/served" >/dev/null
	run timeout 60 "$prefix/bin/roger" --workspace "$here/served" serve --listen 0.0.0.0:1
	like "serve finds its program" "$err" "not of the loopback"
	mv "$prefix/libexec/roger/roger-serve" "$here/away"
	run timeout 60 "$prefix/bin/roger" --workspace "$here/served" serve
	is "without it there is an error" "$status" 69
	like "which says what it needs" "$err" "built where libevent"
	mv "$here/away" "$prefix/libexec/roger/roger-serve"
fi
if command -v mandoc >/dev/null; then
	like "the manual can be read" "$(mandoc -T markdown "$prefix/share/man/man1/roger.1")" "roger"
	is "each command has a page" "$(roger help --all | awk 'NF == 1 { listed = 1 } !NF { listed = 0 } listed && /^  [a-z]/ && NF > 1 { print $1 }' | while read -r command; do
		[ -e "$prefix/share/man/man1/roger-$command.1" ] || echo "$command"
	done)" ""
	is "mandoc is content with each" "$(mandoc -T lint -W warning "$prefix"/share/man/man1/*.1 2>&1)" ""
fi
if command -v groff >/dev/null; then
	is "groff, too" "$(groff -mandoc -Tutf8 -ww -z "$prefix"/share/man/man1/*.1 2>&1)" ""
fi
loads() { # SHELL EXPECTED COMMAND...
	shell=$1 expected=$2
	shift 2
	if command -v "$shell" >/dev/null; then
		is "$shell completes with what was installed" "$("$@" 2>&1 | sort | tr '\n' ' ')" "$expected"
	fi
}
loads bash "receive " bash --norc --noprofile -c '
	. "$1/share/bash-completion/completions/roger"
	COMP_LINE="roger rec" COMP_POINT=9 COMP_WORDS=(roger rec) COMP_CWORD=1
	_roger roger rec roger
	printf "%s\n" "${COMPREPLY[@]}"' bash "$prefix"
loads zsh "receive " zsh -f -c '
	fpath=("$1/share/zsh/site-functions" $fpath)
	autoload -U compinit && compinit -u -d "$PWD/dump"
	compset() { :; }; compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@"; }
	words=(roger rec) CURRENT=2
	${_comps[roger]}' zsh "$prefix"
loads fish "receive " env XDG_DATA_DIRS="$prefix/share" fish --no-config -c '
	set -p fish_complete_path '"$prefix"'/share/fish/vendor_completions.d; complete -C "roger rec" | cut -f 1'

# Another compiler has other warnings: they are errors for script/test only.
is "warnings stop nobody's build" "$(meson introspect --buildoptions "$source_dir/meson.build" |
	python3 -c 'import json, sys; print([o["value"] for o in json.load(sys.stdin) if o["name"] == "werror"])')" "[False]"
done_testing
