#!/bin/sh
# runner: timeout 240
# Programs that were compiled against another header than the library's: one with
# shorter and one with longer structs.  Under the address sanitizer, with guards around
# all that they hand over: nothing of theirs is overwritten, lists are read right.
. "$(dirname "$0")/lib.sh"

library=${ROGER_BUILD:-$(dirname "$ROGER")}/src
abi=$source_dir/tests/abi

run_with() { # NAME HEADER FLAG...
	name=$1 header=$2
	shift 2
	mkdir "$name"
	check "$name: compiles" clang -std=c99 -g -fsanitize=address "$@" -DROGER_HEADER="\"$header\"" \
		"$abi/older_program.c" -o "$name/program" -L"$library" -lroger -Wl,-rpath,"$library"
	mkdir "$name/place"
	(cd "$name/place" && roger init -q)
	(cd "$name/place" && "$here/$name/program") >"$name/out" 2>"$name/err"
	is "$name: ends well" "$?" 0
	is "$name: every answer is right" "$(grep -c '^ok' "$name/out") $(grep '^not ok' "$name/out")" \
		"$(sed -n 's/^1\.\.//p' "$name/out") "
	is "$name: nothing from the sanitizer" "$(head -n 20 "$name/err")" ""
}

# The header without the last member of some structs, or with one more.
change_header() { # PYTHON
	python3 -c "
import re, sys
text = open('$source_dir/include/roger.h').read()
def last(struct, change):
    global text
    text, count = re.subn(r'(struct %s \{\n.*?)(\t[^\n]*\n)(\};)' % struct, change, text, count=1, flags=re.S)
    assert count == 1, struct
grown = ('roger_send_request', 'roger_send_reply', 'roger_message', 'roger_messages_reply', 'roger_status_reply', 'roger_run')
$1
sys.stdout.write(text)"
}
change_header "
for struct in grown: last(struct, r'\1\3')" >shorter.h
change_header "
for struct in grown: last(struct, r'\1\2\tint64_t later;\n\3')" >longer.h

run_with shorter "$here/shorter.h"
run_with longer "$here/longer.h" -DNEWER
done_testing
