#!/bin/sh
# Every version that stands in integrations/, and the first in CHANGELOG.md, is
# the program's: whoever installs a plugin learns from it what it speaks to.
. "$(dirname "$0")/lib.sh"

version=$(roger --version | sed 's/^roger //')
is "the build's" "$version" "$(sed -n "s/^ *version: '\([^']*\)',*$/\1/p" "$source_dir/meson.build" | head -n 1)"
is "the first in CHANGELOG.md" "$(sed -n 's/^## \([0-9.]*\).*/\1/p' "$source_dir/CHANGELOG.md" | head -n 1)" "$version"
find "$source_dir/integrations" -name '*.json' -exec grep -l '"version"' {} + | sort >files
for file in .claude-plugin/plugin.json .codex-plugin/plugin.json gemini-extension.json; do
	check "there is one in $file" grep -q "/$file\$" files
done
while read -r file; do
	is "${file#"$source_dir/"}" "$(json 'd["version"]' <"$file")" "$version"
done <files
done_testing
