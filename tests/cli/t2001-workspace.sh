#!/bin/sh
# A workspace is found from below, by option or by environment; it is private;
# what is planted in it is refused.
. "$(dirname "$0")/lib.sh"

exits 66 "no workspace" roger inbox --as a
like "is told with where, and what to do" "$err" "from '.' up to '.*' holds .roger/;.*roger init"

umask 000
mkdir -p project/deep/er other
exits 0 "init" roger init project
like "says where" "$out" "/project$"
exits 0 "init again" roger init project
like "leaves it as it is" "$out" "there is a workspace"
(cd project/deep/er && roger send -q --as a b hello && roger agents session new -q && roger receive -q --as b && roger archive -q --issue general &&
	roger list hello >/dev/null; roger cleanup -q && roger doctor rebuild -q)
is "found from below" "$(wc -l <project/.roger/messages.jsonl)" 3
is "the folder is private" "$(stat -c %a project/.roger)" 700
is "and so is all in it" "$(find project/.roger -type f ! -perm 600 -o -type d ! -perm 700)" ""
umask 022

roger init -q other
exits 0 "--workspace names another" roger --workspace other send --as a b one
exits 0 "as does the environment" env ROGER_WORKSPACE=other "$ROGER" inbox --as b
exits 0 "an option comes before it" env ROGER_WORKSPACE=/nowhere "$ROGER" --workspace other inbox --as b
exits 64 "an empty word is none" roger --workspace "" inbox --as b
like "and says so" "$err" "option .--workspace. needs a value"
exits 66 "one that is not there" roger --workspace /nowhere inbox --as b
(cd project/deep && roger init -q er && cd er && roger send -q --as a b inner)
is "the nearest one counts" "$(cd project/deep/er && roger list --count)" 1
exits 0 "init makes folders above" roger init new/a/b
check "it is there" test -d new/a/b/.roger

# Planted things are never followed.
for thing in messages.jsonl messages.db messages.db-index messages.control message-state.json config.yaml messages_archive; do
	rm -rf trap target
	roger init -q trap
	: >target
	rm -rf "trap/.roger/$thing"
	ln -s "$here/target" "trap/.roger/$thing"
	run roger --workspace trap send -q --as a b hello
	roger --workspace trap receive -q --as b >/dev/null 2>&1
	roger --workspace trap archive -q --issue general >/dev/null 2>&1
	roger --workspace trap list hello >/dev/null 2>&1
	is "a symlink as $thing is not written through" "$(wc -c <target)" 0
	check "and is no crash ($status)" test "$status" -lt 128
	rm -rf trap
	roger init -q trap
	rm -rf "trap/.roger/$thing"
	mkdir "trap/.roger/$thing"
	run roger --workspace trap send -q --as a b hello
	check "a folder as $thing is no crash ($status)" test "$status" -lt 128
	if [ "$status" = 0 ]; then
		is "what was acknowledged is there" "$(roger --workspace trap inbox --as b | grep -c hello)" 1
	else
		like "it is told by name" "$err" "$thing|regular file|folder"
	fi
done

# Opening never blocks, and the error names the real reason.
rm -rf trap && roger init -q trap
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("trap/.roger/sessions.jsonl")'
exits 77 "a socket as sessions.jsonl" roger --workspace trap send -q --as a b hello
like "and the error says so" "$err" "'sessions.jsonl' is not a regular file; move it away"

rm -rf elsewhere
mkdir elsewhere
ln -s "$here/elsewhere" linked
mkdir linkedto
ln -s "$here/elsewhere" linkedto/.roger
run roger --workspace linkedto send -q --as a b hello
check "a symlink as .roger is refused ($status)" test "$status" -ge 64
is "and not followed" "$(ls -A elsewhere)" ""
# A workspace within another hides that one.
mkdir -p outer/inner
exits 0 "an outer one" roger init outer
is "has none above it" "$err" ""
exits 0 "an inner one" roger init outer/inner
like "tells of the one above" "$err" "note: .*$(cd outer && pwd -P) is not seen"
exits 0 "once more" roger init outer/inner --json
is "it is no news" "$(printf '%s' "$out" | json '"above" in d')" false
# Files of the seeds' programs that stand elsewhere are named, with what would use them.
mkdir -p seeds/workspace seeds/logs seeds/.agent-shepherd
mkdir -p stored/.roger
echo 'store: postgres://roger@127.0.0.1:1/roger#team' >stored/.roger/config.yaml
# A build without PostgreSQL says that it has none.
like "init asks for trust of a database that the settings name" "$(cd stored && roger init 2>&1)" "outside the workspace|has no PostgreSQL"
exits 0 "init beside nothing of theirs" roger init seeds
is "says nothing of it" "$err" ""
printf '{"counters":{"LEAD":5},"lastSeen":{}}' >seeds/workspace/message-state.json
: >seeds/logs/activity.log.jsonl
exits 0 "init beside their files" roger init seeds
like "names them and the settings" "$err" "^not used: workspace/message-state.json, logs/activity.log.jsonl; .storage: .data_dir: workspace, activity_file: logs/activity.log.jsonl.. in .roger/config.yaml uses them"
printf 'storage: {data_dir: workspace, activity_file: logs/activity.log.jsonl}\n' >seeds/.roger/config.yaml
exits 0 "init where they are used" roger init seeds
is "says nothing" "$err" ""
is "and their numbers go on" "$(roger --workspace seeds send --as LEAD --new b x --json | json 'd["seq"]')" 6
printf '' >seeds/.agent-shepherd/messages.jsonl
like "mail that is not used is named" "$(roger init seeds 2>&1 >/dev/null)" "not used: .agent-shepherd/messages.jsonl; .storage: .data_dir: .agent-shepherd.* uses it"

# A path that no JSON can hold, and that nobody could trust, is refused; below a workspace it does no harm.
bytes=$(printf 'b\377d')
mkdir -p "$bytes" "other/$bytes"
cd "$bytes"
exits 78 "a workspace in a path that is not UTF-8" roger init
cd ..
like "is refused with what to do" "$err" "is not UTF-8, .* another name"
check "and nothing is made" test ! -e "$bytes/.roger"
cp -r other/.roger "$bytes/"
exits 78 "nor is one used that was moved there" roger --workspace "$bytes" status --json
is "a folder below one may have such a name" "$(cd "other/$bytes" && roger list --count)" "$(cd other && roger list --count)"

# SQLite takes a path of 512 bytes.
folder=$(printf '%0200d' 0)
mkdir far
cd far || exit 1
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
	mkdir "$folder" && cd "$folder" || exit 1
done
roger init -q
roger send -q --as ann bob hello 2>/dev/null
exits 0 "far below: the tables are made" roger list --to bob
exits 0 "and used" roger status
is "without a word" "$err" ""
check "other programs have theirs" test -s .roger/messages.db
exits 0 "and both are rebuilt" roger doctor rebuild
cd "$here" || exit 1

# Who may not write is told so.
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	# Where everybody may go, which need not be so of the checkout, nor of TMPDIR.
	locked=$(mktemp -d /tmp/roger-locked.XXXXXX)
	chmod 755 "$locked"
	cp "$ROGER" "$locked/roger"
	(cd "$locked" && roger init -q && roger send -q bob x --as ann && chown -R 65534 . && chmod -R a-w .)
	exits 74 "without the right to write" setpriv --reuid=65534 --clear-groups env HOME=/ XDG_STATE_HOME=/ \
		"$locked/roger" send bob x --as ann --workspace "$locked"
	like "that is what it says" "$err" "Permission denied"
	exits 1 "a look at sends that no log has" setpriv --reuid=65534 --clear-groups env HOME=/ XDG_STATE_HOME=/ \
		"$locked/roger" log sends --workspace "$locked"
	like "says that they may be missing" "$err" "cannot be written: sends that they lack are not shown"
	exits 77 "another user's, who keeps it closed" setpriv --reuid=65533 --clear-groups env HOME=/ XDG_STATE_HOME=/ \
		"$locked/roger" list --workspace "$locked"
	like "learns who owns it" "$err" "belongs to another user \(id 65534\), who keeps it closed"
	like "what opens it" "$err" "roger serve"
	exits 77 "init beside it" setpriv --reuid=65533 --clear-groups env HOME=/ XDG_STATE_HOME=/ \
		"$locked/roger" init "$locked"
	(cd "$locked/.roger" && chmod -R u+w . && rm messages.control && : >sessions.jsonl && chown 0:0 sessions.jsonl && chmod 600 sessions.jsonl)
	exits 74 "numbers that may not be read" setpriv --reuid=65534 --clear-groups env HOME=/ XDG_STATE_HOME=/ \
		"$locked/roger" send bob x --as ann --workspace "$locked"
	like "and the error names the file" "$err" "'sessions.jsonl': Permission denied"
	rm -rf "$locked"
else
	result 0 "without the right to write # SKIP needs root and setpriv"
fi
done_testing
