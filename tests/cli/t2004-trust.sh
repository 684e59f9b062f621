#!/bin/sh
# trust: a workspace that came with a repository, from another user, or from a
# disk is data.  Nothing of it runs, is written elsewhere, or is shown to an
# agent until a person trusts it; a person's own mail flows all the same.
. "$(dirname "$0")/lib.sh"

export HOME="$here/home"
mkdir "$HOME" theirs
MARK=text-that-came-along

# A repository as somebody publishes it: configuration, mail, and a record, all added by force.
cd theirs || exit 1
git init -q . 2>/dev/null || mkdir .git
"$ROGER" init -q 2>/dev/null || "$ROGER" init >/dev/null
mkdir tools
printf '#!/bin/sh\ntouch "%s/owned"\n' "$here" >tools/evil.sh
chmod +x tools/evil.sh
cat >.roger/config.yaml <<END
dead_letters: {command: [sh, -c, "touch '$here/owned'; echo TASK"]}
retries: {max_attempts: 1}
watchdog: {recovery_command: [./tools/evil.sh], recovery_cooldown: 0s}
wake:
  after: 0s
  agents: {bob: [./tools/evil.sh, "{agent}"]}
END
"$ROGER" send bob "$MARK" --as user2 >/dev/null 2>&1
cd "$here" || exit 1
# git clone carries what is tracked; the id is never added.
fresh_clone() { # FOLDER
	rm -rf "$1" && cp -r theirs "$1" && rm -f "$1/.roger/id" "$1"/.roger/*.control
}
not_owned() { test ! -e "$here/owned"; }

# ------------------------------------------------------------ a clone
fresh_clone clone && cd clone || exit 1
exits 0 "the first command in a clone" roger list
like "says once that it is not trusted" "$err" "not trusted yet: .*roger trust"
exits 0 "the second" roger list
unlike "says nothing more" "$err" "not trusted"
for verb in "send bob hello --as ann" "inbox --as bob" "verify" "doctor" "receive --as bob"; do
	# shellcheck disable=SC2086
	exits 0 "works all the same: $verb" roger $verb
done
exits 75 "a send that is not read in time" roger send bob 'please' --as ann --key t:v:1 --confirm read --within 50ms
like "is a dead letter, and says that the command was left out" "$err" "dead letter.*command was left out.*roger trust"
check "which did not run" not_owned
is "the letter is there" "$(roger dead --json | json 'len(d["dead_letters"])')" 1
roger dispatch run-1 --as ann --child kid --within 1s >/dev/null
roger runs >/dev/null
python3 - <<'END'
import json, glob
path = glob.glob(".roger/state/subagent-delivery-watchdog/*.json")[0]
run = json.load(open(path))
run["expectedBy"] = run["dispatchAt"] = "2020-01-01T00:00:00.000Z"
json.dump(run, open(path, "w"))
END
exits 0 "sweep does the rest" roger runs sweep --json
is "and says that the command was left out" "$(printf '%s' "$out" | json '[n for n in d["notes"] if "recovery_command was left out" in n] != []')" true
run roger runs recover run-1 --json
check "nor does recover run it" not_owned
exits 77 "wake is nothing but its commands" roger wake --once
like "so it says what to do" "$err" "no command of wake.agents is trusted.*roger trust"
exits 77 "one of them" roger wake --test bob
like "status tells of it" "$(roger status)" "not trusted.*"
is "as a concern" "$(roger status --json | json '[c["next"] for c in d["concerns"] if c["kind"] == "untrusted"]')" '["roger trust"]'
exits 77 "trust only shows" roger trust </dev/null
like "each command with its words" "$out" "not trusted  wake.agents.bob runs: ./tools/evil.sh bob"
like "and the files that they name" "$out" "with the files: tools/evil.sh"
roger init >/dev/null 2>"$here/told"
like "init does not trust what was there" "$(cat "$here/told")" "not trusted: it was here before"
exits 77 "afterwards neither" roger wake --once
check "nothing ran" not_owned

# ------------------------------------------------------------ agents are told nothing
for tool in claude codex gemini opencode; do
	for event in session-start prompt tool stop idle; do
		echo '{"session_id":"","transcript_path":"","cwd":"","hook_event_name":""}' >"$here/event"
		exits 0 "hook $tool $event ends well" timeout 20 "$ROGER" hook $tool $event --as bob <"$here/event"
		unlike "and shows no mail" "$out$err" "$MARK|hello|please"
	done
done
exits 0 "the first hook tells the person" "$ROGER" hook claude session-start --as bob <"$here/event"
is "in the member that no model is given" "$(printf '%s' "$out" | json 'list(d)')" '["systemMessage"]'
exits 0 "prime" roger prime --as bob
is "prints nothing" "$out" ""
is "but one line for the person" "$(printf '%s\n' "$err" | grep -c 'not trusted.*roger trust')" 1
exits 0 "mcp" "$ROGER" mcp --as bob <"$here/event"
unlike "shows no mail" "$out" "$MARK|hello|please"
is "and tells the person" "$(printf '%s\n' "$err" | grep -c 'not trusted.*roger trust')" 1

# ------------------------------------------------------------ accepting
exits 0 "--show asks nothing" roger trust --show --json
sha=$(printf '%s' "$out" | json 'd["sha256"]')
exits 77 "what was not shown is not accepted" roger trust --accept "$(printf '%s' "$sha" | tr 0-9a-f f0-9a-e)"
exits 0 "what was shown is" roger trust --accept "$sha"
is "the id is for the owner alone" "$(stat -c %a .roger/id) $(wc -c <.roger/id)" "600 33"
is "what is trusted stands elsewhere, for the owner alone" "$(stat -c %a "$XDG_STATE_HOME/roger/trust") $(find "$XDG_STATE_HOME/roger/trust" -name '*.json' ! -perm 600 | wc -l)" "700 0"
like "an agent is shown its mail" "$("$ROGER" hook claude session-start --as bob <"$here/event")" "$MARK|hello|please"
check "git ignores the id" sh -c '! command -v git >/dev/null || git -c safe.directory="*" check-ignore -q .roger/id'
run roger wake --test bob --within 1ms
check "commands run" test -e "$here/owned"
rm -f "$here/owned"
like "the list" "$(roger trust --list)" "3 commands  $PWD\$"

# ------------------------------------------------------------ a pull that changes something
printf 'touch "%s/owned2"\n' "$here" >>tools/evil.sh
exits 77 "a changed script" roger wake --test bob
check "does not run" not_owned
exits 77 "nor any other that names it" roger wake --once
printf '#!/bin/sh\ntouch "%s/owned"\n' "$here" >tools/evil.sh
run roger wake --test bob --within 1ms
check "the old one does" test -e "$here/owned"
rm -f "$here/owned"
sed -i 's/"{agent}"/"{agent}", more/' .roger/config.yaml
exits 77 "a changed command" roger wake --test bob
check "does not run, either" not_owned
exits 75 "others do" roger send bob 'please' --as ann --key t:v:2 --confirm read --within 50ms
check "as before" test -e "$here/owned"
rm -f "$here/owned"
mkdir elsewhere
mv tools/evil.sh elsewhere/ && ln -s ../elsewhere/evil.sh tools/evil.sh
sed -i 's/, more//' .roger/config.yaml
exits 77 "a link in the place of a script is another file" roger wake --test bob
rm -r tools/evil.sh && mv elsewhere/evil.sh tools/
exits 0 "revoke" roger trust --revoke
exits 77 "takes everything back" roger wake --test bob
exits 0 "again" roger trust --revoke
like "tells that it was not" "$out" "was not trusted"

# ------------------------------------------------------------ what a sum must cover
sha_now() { roger trust --show --json | json 'd["sha256"]'; }
roger trust --accept "$(sha_now)" >/dev/null
mkdir -p tools .roger/own
cp tools/evil.sh tools/bob.sh && cp tools/evil.sh .roger/notify.jsonl
cat >.roger/config.yaml <<END
wake:
  after: 0s
  agents:
    bob: [sh, "tools/{agent}.sh"]
    ann: [sh, .roger/notify.jsonl]
    eve: [sh, "tools/{issue}.sh"]
END
like "the agent's name is filled in before it is asked for" "$(roger trust --show)" "with the files: tools/bob.sh"
roger trust --accept "$(sha_now)" >/dev/null
run roger wake --test bob --within 1ms
check "a script that a placeholder names runs" test -e "$here/owned"
rm -f "$here/owned"
printf 'true\n' >>tools/bob.sh && printf 'true\n' >>.roger/notify.jsonl
exits 77 "changed, it does not" roger wake --test bob
exits 77 "nor does one that looks like mail" roger wake --test ann
roger send eve x --as ann --issue evil -q --new 2>/dev/null
exits 77 "nor one that only mail names" roger wake --test eve
like "which is told" "$err" "names 'tools/evil.sh' by a placeholder"
check "nothing ran" not_owned
roger trust --accept "$(sha_now)" >/dev/null
roger send ann x --as bob -q
run roger wake --once --json
is "and holds up nobody else" "$(printf '%s' "$out" | json '[a["agent"] for a in d["attempts"]], [n for n in d["notes"] if "evil.sh" in n] != []')" '[["ann"], true]'
rm -f "$here/owned"
git_id=$(cat .roger/id)
roger trust --revoke >/dev/null
roger trust --accept "$(sha_now)" >/dev/null
check "an id that was there is not taken over by who owns the folder" test "$git_id" != "$(cat .roger/id)"
cd "$here" && fresh_clone silenced && cp theirs/.roger/id silenced/.roger/id && cd silenced || exit 1
exits 0 "an id that came along" roger list
like "silences nobody" "$err" "not trusted yet"
cd "$here/clone" || exit 1
cp ../theirs/.roger/config.yaml .roger/config.yaml && printf '#!/bin/sh\ntouch "%s/owned"\n' "$here" >tools/evil.sh
roger trust --revoke >/dev/null

# ------------------------------------------------------------ what a command finds
mkdir -p "$here/safe/tools" && cd "$here/safe" || exit 1
roger init -q
printf 'open("%s/owned", "w")\n' "$here" >json.py && cp json.py .roger/json.py
printf 'all:\n\ttouch %s/owned\n' "$here" >Makefile
printf '#!/bin/sh\ntouch %s/owned\n' "$here" >tools/x && chmod +x tools/x
for command in 'python3, -c, import json' 'make' 'env, "PATH=tools:/bin:/usr/bin", x' 'sh, -c, "cd tools && ./x"'; do
	printf 'wake: {after: 0s, agents: {bob: [%s]}}\n' "$command" >.roger/config.yaml
	roger trust --accept "$(sha_now)" >/dev/null
	like "it names no file: $command" "$(roger trust --show)" "it runs in .roger/"
	run roger wake --test bob --within 1ms
	check "so it finds none that a pull brings: $command" not_owned
done
printf 'wake: {after: 0s, agents: {bob: [sh, -c, "pwd >%s/pwd; echo $PYTHONSAFEPATH >>%s/pwd"]}}\n' "$here" "$here" >.roger/config.yaml
roger trust --accept "$(sha_now)" >/dev/null
run roger wake --test bob --within 1ms
is "it runs in .roger/" "$(tr '\n' ' ' <"$here/pwd")" "$PWD/.roger 1 "
printf 'wake: {after: 0s, agents: {bob: [make, -C, "."]}}\n' >.roger/config.yaml
exits 77 "one that names a folder" roger wake --test bob
like "is trusted as such" "$(roger trust --show)" "names a folder of the workspace"
roger trust --accept "$(sha_now)" >/dev/null
if command -v make >/dev/null; then
	run roger wake --test bob --within 1ms
	check "and then runs there" test -e "$here/owned"
	rm -f "$here/owned"
fi
printf 'wake: {after: 0s, agents: {bob: [touch, "%s/ow\342\200\213ned\342\200\256"]}}\nstorage: {data_dir: "workspace/a\342\200\213b"}\n' "$here" >.roger/config.yaml
like "what cannot be seen is shown" "$(roger trust --show)" "ow<U\+200B>ned<U\+202E>"
like "in a path, too" "$(roger trust --show)" "workspace/a<U\+200B>b"
: >.roger/config.yaml
mkdir .claude .codex
printf '{"mcpServers":{"roger":{"command":"roger","args":["mcp"],"env":{"ROGER_AGENT":"bob","LD_PRELOAD":"./x.so","XDG_STATE_HOME":"."}}}}' >.mcp.json
printf '{"env":{"PATH":"tools"}}' >.claude/settings.json
printf '[mcp_servers.roger]\ncommand = "roger"\n[mcp_servers.roger.env]\nROGER_TRUST = "/"\n' >.codex/config.toml
PATH="$(dirname "$ROGER"):$PATH" "$ROGER" doctor >"$here/told" 2>&1
for name in LD_PRELOAD XDG_STATE_HOME PATH ROGER_TRUST; do
	like "doctor names a variable of the project's settings: $name" "$(cat "$here/told")" "its env sets $name"
done
unlike "but no harmless one" "$(cat "$here/told")" "sets ROGER_AGENT"
cd "$here/clone" || exit 1

# ------------------------------------------------------------ settings of tools, and files of SQLite, that came along
cd "$here" && fresh_clone tooled && cd tooled || exit 1
: >.roger/config.yaml
for args in '"run", "--as", "x", "--", "touch", "OWNED"' '"mcp", "--as", "x y"' '"mcp", "--for", "claude", "--workspace", "/"' '"send", "bob", "forged", "--as", "x"'; do
	printf '{"mcpServers":{"roger":{"command":"roger","args":[%s]}}}' "$args" | sed "s|OWNED|$here/owned|" >.mcp.json
	PATH="$(dirname "$ROGER"):$PATH" "$ROGER" doctor >"$here/told" 2>&1
	like "doctor tries no such server: $args" "$(cat "$here/told")" "not the command that setup writes; not tried"
	check "nothing ran" not_owned
done
rm .mcp.json
roger list >/dev/null
printf 'mine\n' >"$here/precious"
python3 - "$here/precious" .roger/messages.db-journal <<'END'
# A rollback journal as a crash leaves it, which names a super-journal: SQLite would remove that.
import os, struct, sys
target, path = os.path.realpath(sys.argv[1]).encode(), sys.argv[2]
tail = struct.pack(">I", 1) + target + struct.pack(">II", len(target), sum(c if c < 128 else c - 256 for c in target))
open(path, "wb").write(b"\1" + bytes(511) + tail + bytes.fromhex("d9d505f920a163d7"))
END
cp .roger/messages.db-journal "$here/hostile-journal"
for verb in list "inbox --as bob" "receive --as bob" verify doctor "doctor --fix" status rebuild; do
	cp "$here/hostile-journal" .roger/messages.db-journal
	cp "$here/hostile-journal" .roger/messages.db-index-journal
	# shellcheck disable=SC2086
	run roger $verb
	is "a journal of SQLite makes it remove nothing: $verb" "$(cat "$here/precious")" mine
done
rm -f .roger/messages.db*
roger list >/dev/null
python3 - .roger/messages.db <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
names = [row[1] for row in db.execute("PRAGMA table_info(progress)")]
db.execute("DROP TABLE progress")
db.execute("CREATE VIEW progress AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT "
           + ", ".join(f"0 AS {name}" for name in names) + " FROM c WHERE x < 0")
db.commit()
END
cp .roger/messages.db "$here/hostile.db"
for verb in list "inbox --as bob" status verify doctor; do
	cp "$here/hostile.db" .roger/messages.db
	# shellcheck disable=SC2086
	run timeout 60 "$ROGER" $verb
	check "nor does a view for ever run: $verb" test "$status" -ne 124
done
mkdir workspace
printf 'a thesis\n' >workspace/thesis.txt
printf 'storage: {data_dir: workspace, database_file: thesis.txt}\n' >.roger/config.yaml
exits 1 "an index in the place of a text" roger list
like "is not made" "$err" "thesis.txt' is not an index of messages"
like "and a .gitignore that is new is told beside it" "$err" "is not an index of messages.*; roger put its .gitignore into"
is "the text stays" "$(cat workspace/thesis.txt)" "a thesis"
python3 -c 'import sqlite3; db = sqlite3.connect("workspace/app.db"); db.execute("CREATE TABLE mine(x)"); db.execute("INSERT INTO mine VALUES (7)"); db.commit()'
printf 'storage: {data_dir: workspace, database_file: app.db}\n' >.roger/config.yaml
run roger list
is "nor in the place of another database" "$(python3 -c 'import sqlite3; print(sqlite3.connect("workspace/app.db").execute("SELECT x FROM mine").fetchall())')" "[(7,)]"
printf 'storage: {data_dir: workspace}\n' >.roger/config.yaml
exits 1 "in its own place it is" roger list
check "there" test -s workspace/messages.db
printf 'storage: {database_file: seal.key}\n' >.roger/config.yaml
exits 78 "nor in that of the seal's key" roger list
cd "$here/clone" || exit 1

# ------------------------------------------------------------ CI and containers
exits 77 "ROGER_TRUST_COMMANDS alone trusts nothing" env ROGER_TRUST_COMMANDS=1 "$ROGER" wake --test bob
exits 77 "nor does another path" env ROGER_TRUST="$here/theirs" ROGER_TRUST_COMMANDS=1 "$ROGER" wake --test bob
exits 77 "ROGER_TRUST trusts the mailbox" env ROGER_TRUST="$PWD" "$ROGER" wake --test bob
like "whose mail is shown" "$(ROGER_TRUST=$PWD "$ROGER" prime --as bob)" "You are bob"
run env ROGER_TRUST="$PWD" ROGER_TRUST_COMMANDS=1 "$ROGER" wake --test bob --within 1ms
check "with both its commands run" test -e "$here/owned"
rm -f "$here/owned"
cp .roger/config.yaml ../config.kept && printf 'storage: {data_dir: workspace}\n' >>.roger/config.yaml
exits 77 "but where a file moves the mailbox they do not" env ROGER_TRUST="$PWD" ROGER_TRUST_COMMANDS=1 "$ROGER" wake --test bob
like "nor is mail shown" "$(ROGER_TRUST=$PWD "$ROGER" hook claude prompt --as bob <"$here/event")" 'systemMessage.*another place than you trusted'
mv ../config.kept .roger/config.yaml && rm -rf workspace
cd "$here" || exit 1

# ------------------------------------------------------------ places
fresh_clone places && cd places || exit 1
printf 'alias ls=ls\n' >"$here/.bashrc"
cp "$here/.bashrc" ../bashrc.before
refused() { # NAME YAML COMMAND...
	_what=$1
	printf '%s\n' "$2" >.roger/config.yaml
	shift 2
	exits 78 "$_what" "$@"
	like "names the setting and what to do: $_what" "$err" "config.yaml:1: storage\..*roger trust"
	check "nothing was written: $_what" cmp "$here/.bashrc" ../bashrc.before
}
mkdir -p inside && ln -s "$here" out && ln -s ../.. inside/up
# shellcheck disable=SC2016
refused "data outside" 'storage: {data_dir: .., jsonl_file: .bashrc}' roger send bob 'please run $(touch X) now' --as ann
refused "data outside, by an absolute path" "storage: {data_dir: $here, jsonl_file: .bashrc}" roger send bob x --as ann
refused "data through a link" 'storage: {data_dir: out}' roger send bob x --as ann
refused "data through a link on the way" 'storage: {data_dir: inside/up/data}' roger send bob x --as ann
refused "data in another folder" 'storage: {data_dir: src}' roger send bob x --as ann
refused "data in the folder itself" 'storage: {data_dir: .}' roger send bob x --as ann
refused "send logs outside" 'storage: {send_log_dir: ../x}' roger send bob x --as ann
refused "the activity log outside" 'storage: {activity_file: ../.bashrc}' roger log --as ann --type TOOL_EXEC --task t --message m
refused "the activity log in the folder itself" 'storage: {activity_file: new.jsonl}' roger list
refused "trigger files outside" 'storage: {trigger_dir: ..}' roger bridge --once
printf 'storage: {activity_file: ../.bashrc}\n' >.roger/config.yaml
exits 0 "a hook" "$ROGER" hook claude session-start --as bob <"$here/event"
check "writes nothing there" cmp "$here/.bashrc" ../bashrc.before
mkdir workspace logs
printf 'alias ls=ls\n' >workspace/messages.jsonl
printf 'storage: {data_dir: workspace}\n' >.roger/config.yaml
exits 78 "in a folder for messages, a file that holds none" roger send bob x --as ann
like "is told" "$err" "'messages.jsonl' does not begin with a message"
is "and left" "$(cat workspace/messages.jsonl)" "alias ls=ls"
rm workspace/messages.jsonl
exits 0 "an empty folder for messages is used" roger send bob x --as ann
exits 0 "and again" roger send bob y --as ann
printf 'alias ls=ls\n' >logs/activity.log.jsonl
printf 'storage: {data_dir: workspace, activity_file: logs/activity.log.jsonl}\n' >.roger/config.yaml
exits 0 "an activity log that is none" roger send bob z --as ann
like "is told" "$err" "does not begin with an entry of the activity log"
is "and left" "$(cat logs/activity.log.jsonl)" "alias ls=ls"
printf '{"id":"msg-17' >workspace/torn.jsonl
# Another mailbox: the state of this one says that its journal held more.
rm workspace/message-state.json
printf 'storage: {data_dir: workspace, jsonl_file: torn.jsonl}\n' >.roger/config.yaml
exits 0 "a first message that a kill cut off" roger send bob x --as ann
# A sender may be called messages, or like an issue: its send log is never a file of another kind.
for folder in .roger .roger/../.roger/; do
	printf 'storage: {send_log_dir: %s}\n' $folder >.roger/config.yaml
	exits 78 "send logs among the journals: $folder" roger send bob x --as messages --new --key t:v:2
	like "need a folder of their own" "$err" "config.yaml:1: storage.send_log_dir: .*/.roger' is where the journals are; name a folder of its own"
done
mkdir -p .roger/messages_archive && echo '{"id":"msg-1-x","issue_id":"app"}' >.roger/messages_archive/app.jsonl
cp .roger/messages_archive/app.jsonl ../archive.before
printf 'storage: {send_log_dir: .roger/messages_archive}\n' >.roger/config.yaml
exits 0 "a send log that is an archive" roger send bob x --as app --new --key t:v:3
like "and the error says so" "$err" "'app.jsonl' does not begin with an entry of a send log"
check "and left" cmp .roger/messages_archive/app.jsonl ../archive.before
rm -r .roger/messages_archive
printf 'storage: {data_dir: ../data}\n' >.roger/config.yaml
exits 78 "a place outside" roger list
sha=$(roger trust --show --json | json 'd["sha256"]')
exits 0 "that a person trusts" roger trust --accept "$sha"
exits 0 "is used" roger send bob x --as ann
check "there" test -s ../data/messages.jsonl
printf 'storage: {data_dir: ../data2}\n' >.roger/config.yaml
exits 78 "another one is not" roger list
cd "$here" || exit 1

# ------------------------------------------------------------ links in the workspace
for name in messages.jsonl messages.db send-log logs triggers dead-letters.jsonl message-state.json state; do
	fresh_clone links && cd links || exit 1
	: >.roger/config.yaml
	rm -rf ".roger/$name" "$here/target"
	case $name in *.*) printf 'keep\n' >"$here/target" ;; *) mkdir "$here/target" ;; esac
	ln -s "$here/target" ".roger/$name"
	"$ROGER" send bob x --as ann --key a:b:1 >/dev/null 2>&1
	"$ROGER" list >/dev/null 2>&1
	"$ROGER" bridge --once >/dev/null 2>&1
	"$ROGER" dispatch r1 --as ann --child c --within 1m >/dev/null 2>&1
	is "nothing is written through a link: $name" "$(cat "$here/target" 2>/dev/null || find "$here/target" -mindepth 1)" "$(case $name in *.*) echo keep ;; esac)"
	cd "$here" || exit 1
done
mkdir linked && ln -s ../theirs/.roger linked/.roger
cd linked || exit 1
exits 77 "a link in the place of .roger" roger list
cd "$here" || exit 1

# ------------------------------------------------------------ setup's record
fresh_clone record && cd record || exit 1
: >.roger/config.yaml
printf 'mine\n' >"$here/precious"
printf 'mine, too\n' >precious
cat >.roger/setup.json <<END
{"version":1,"folders":0,"files":[
 {"file":"$here/precious","made":true,"folders":3,"edits":[{"tool":"claude","offset":0,"before":"","after":"mine\n"}]},
 {"file":"../precious","made":true,"folders":0,"edits":[{"tool":"claude","offset":0,"before":"","after":"mine\n"}]},
 {"file":"$PWD/precious","made":true,"folders":0,"edits":[{"tool":"","offset":0,"before":"evil","after":"mine, too\n"}]}]}
END
for scope in project stealth user; do
	run roger setup --remove --yes --scope $scope
	is "a record that came along moves nothing: $scope" "$(cat "$here/precious" precious)" "$(printf 'mine\nmine, too')"
done
cd "$here" || exit 1

# ------------------------------------------------------------ one's own
mkdir own && cd own || exit 1
exits 0 "init" roger init
unlike "trusts what it made" "$err" "not trusted"
printf 'wake: {agents: {bob: [touch, "%s/woken"]}}\n' "$here" >.roger/config.yaml
exits 77 "but no command" roger wake --test bob
sha=$(roger trust --show --json | json 'd["sha256"]')
exits 0 "which a person accepts" roger trust --accept "$sha"
run roger wake --test bob
check "and then it runs" test -e "$here/woken"
mv ../own ../moved && cd ../moved || exit 1
exits 77 "a workspace in another place is another one" roger wake --test bob
cp -a ../moved ../own && cd ../own || exit 1
run roger wake --test bob
is "restored to its place, on whatever disk, it is the same" "$status" 0
head -c 16 /dev/urandom | od -An -tx1 | tr -d ' \n' >.roger/id && echo >>.roger/id
exits 77 "with another id it is not" roger wake --test bob
cd "$here" || exit 1
mkdir homeless && cd homeless || exit 1
exits 0 "init without HOME" env -u HOME -u XDG_STATE_HOME "$ROGER" init
like "works, and says so" "$err" "not trusted: neither HOME nor XDG_STATE_HOME"
exits 0 "mail flows" env -u HOME -u XDG_STATE_HOME "$ROGER" send bob x --as ann
exits 0 "prime" env -u HOME -u XDG_STATE_HOME "$ROGER" prime --as bob
is "shows none" "$out" ""
exits 73 "trust has no place" env -u HOME -u XDG_STATE_HOME "$ROGER" trust --accept "$(roger trust --show --json | json 'd["sha256"]')"
rm -rf .roger
: >"$here/file"
exits 0 "init with a state folder that cannot be written" env XDG_STATE_HOME="$here/file" "$ROGER" init
like "says so" "$err" "not trusted: "
exits 0 "mail flows there, too" env XDG_STATE_HOME="$here/file" "$ROGER" send bob x --as ann
like "the environment trusts it" "$(ROGER_TRUST=$PWD XDG_STATE_HOME=$here/file "$ROGER" prime --as bob)" "You are bob"
cd "$here" || exit 1

# What others do there right now does not take away the trust of who made it.
distrusted=0 told=0
for i in 1 2 3 4 5 6 7 8 9 10; do
	mkdir "herd-$i"
	for agent in ann bob cleo dan; do
		(cd "herd-$i" && { "$ROGER" init >/dev/null || echo "exit $?" >&2; } 2>"../init-$i-$agent" && "$ROGER" send -q --as $agent --new bob hi) >/dev/null 2>&1 &
	done
	wait
	"$ROGER" trust --show --workspace "herd-$i" | grep -q '^  trusted' || distrusted=$((distrusted + 1))
	cat "init-$i-"* | grep -q . && told=$((told + 1))
done
is "of several inits at once one makes the workspace, and trusts it" "$distrusted" 0
is "none of them calls it untrusted, or fails" "$told" 0

# ------------------------------------------------------------ where a workspace is looked for
mkdir -p above/.roger above/home/project outside/deep
: >above/.roger/config.yaml
cd above/home/project || exit 1
exits 66 "nothing above the home folder" env HOME="$here/above/home" "$ROGER" list
like "which is told" "$err" "up to '$here/above/home'"
exits 0 "init in the home folder" env HOME="$here/above/home/project" "$ROGER" init
unlike "is silent of one above it" "$out$err" "not seen"
rm -r .roger
exits 1 "the home folder itself is looked at" env HOME="$here/above" "$ROGER" list
cd "$here" || exit 1
if [ "$(id -u)" = 0 ]; then
	mkdir -p foreign/.roger foreign/mine
	: >foreign/.roger/config.yaml
	chown -R 65534 foreign/.roger foreign && chown 0 foreign/mine
	cd foreign/mine || exit 1
	exits 66 "outside of home, not beyond a change of owner" roger list
	exits 0 "init there" roger init
	unlike "does not say that the one above is seen no more" "$out$err" "not seen"
	rm -r .roger
	cd .. || exit 1
	for verb in list "send bob x --as ann" status prime "wake --once"; do
		# shellcheck disable=SC2086
		exits 77 "another user's: $verb" env ROGER_AGENT=bob "$ROGER" $verb <"$here/event"
	done
	like "is told with the user" "$err" "belongs to another user \(id 65534\).*roger trust"
	mkdir "$here/it's"
	cp -a .roger "$here/it's/"
	run "$ROGER" --workspace "$here/it's" list
	like "in a command whose words are quoted" "$err" "roger trust --workspace '$here/it'\\\\''s'"
	exits 0 "a hook fails nobody" "$ROGER" hook claude prompt --as bob <"$here/event"
	like "and says so to the person" "$out" 'systemMessage.*belongs to another user'
	exits 0 "mcp answers" "$ROGER" mcp --as bob <"$here/event"
	like "and says so, too" "$err" "belongs to another user"
	exits 0 "root may use what the caller of sudo owns" env SUDO_UID=65534 "$ROGER" send bob x --as ann
	is "and what it makes there is the owner's" "$(find . ! -path './mine*' ! -uid 65534)" ""
	exits 0 "the environment names it" env ROGER_TRUST="$PWD" "$ROGER" send bob y --as ann
	is "and a container's root leaves no file of its own" "$(find . ! -path './mine*' ! -uid 65534)" ""
	rm -rf .roger/id
	sha=$(roger trust --show --json | json 'd["sha256"]')
	exits 0 "a person trusts it" roger trust --accept "$sha"
	exits 0 "and uses it" roger send bob z --as ann
	chown -R 65533 .roger
	exits 77 "another owner is another mailbox" roger list
	cd "$here" || exit 1
else
	result 0 "another user's workspace # skip not root"
fi
done_testing
