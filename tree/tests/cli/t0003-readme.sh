#!/bin/sh
# What README.md and the manual show can be pasted: "The proof" behind the session,
# and each example of the manual with the mail it speaks of.
. "$(dirname "$0")/lib.sh"

blocks() { # FIRST LAST
	awk -v first="$1" -v last="$2" '/^```sh$/ { n++; on = n >= first && n <= last; next } /^```$/ { on = 0 } on' "$source_dir/README.md"
}
proof=$(awk '/^```sh$/ { n++ } /^## The proof/ { print n + 1; exit }' "$source_dir/README.md")
mkdir -p clone/build bin
ln -s "$ROGER" clone/build/roger
# What `make test` is where the example stands.
printf '#!/bin/sh\necho made\n' >bin/make
chmod +x bin/make
PATH=$here/bin:$PATH
{
	echo 'roger() { command roger "$@" || { set -- $? "$@"; [ $1 = 1 ] || echo "$@" >>"$wrong"; return $1; }; }'
	blocks 2 2
	blocks "$proof" $((proof + 2))
} >pasted
check "the proof has commands" test "$(blocks "$proof" $((proof + 2)) | grep -c '^roger')" -ge 8
wrong=$here/wrong
export wrong
run sh -c 'cd clone && . ../pasted'
is "README: of the proof, behind the session, one ends with more than 1" "$(cut -d ' ' -f 1-4 wrong)" "75 send implement please"
like "each send is an attempt" "$out" "app-42:blocker-update.*delivered|delivered.*app-42:blocker-update"
like "which nobody reads in time" "$out" "75: not in time"
unlike "no command is wrong" "$err" "see .roger|expected|has to be|missing"

roger init -q
example=$(grep '^roger .*--key' "$source_dir/docs/man/roger.1")
exits 0 "manual: the example of --key" sh -c "ROGER_AGENT=plan; export ROGER_AGENT; PATH=\"$here/clone/build:\$PATH\"; $example"
is "without a warning but that of a new name" "$(printf '%s\n' "$err" | grep -cv "^note: 'lead' has never been seen here$")" 0
done_testing
