#!/bin/sh
# runner: timeout 300
# A pull into a workspace that a person trusts: whatever it brings, no stranger's text reaches a
# model, no trigger file of git's is taken in, no key is exchanged, and no mail goes out with the
# next commit; and back on the branch that was trusted, all is as it was.
. "$(dirname "$0")/lib.sh"

export HOME="$here/home" GIT_CONFIG_NOSYSTEM=1 EMAIL=a@b GIT_AUTHOR_NAME=a GIT_COMMITTER_NAME=a
mkdir "$HOME"
command -v git >/dev/null || { echo "1..0 # SKIP without git"; exit 0; }
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global pull.ff only

OWN=own-text-of-the-victim STRANGER=strangers-text
forged() { # TO FROM
	printf '{"id":"msg-1-%s","issue_id":"general","run_counter":1,"from_phase":"%s","to_phase":"%s","message_type":"context","content":"%s","metadata":null,"read":false,"created_at":1736328000000,"read_at":null}\n' \
		"$(head -c 8 /dev/urandom | od -An -tx1 | tr -d ' \n')" "$2" "$1" "$STRANGER"
}

# A victim with mail, in a clone of a repository that both may push to.
begin() { # NAME
	cd "$here" || exit 1
	rm -rf remote.git hostile "$1" "$_state/roger"
	git init -q --bare remote.git
	git clone -q remote.git "$1" 2>/dev/null
	cd "$1" || exit 1
	echo readme >README && git add README && git commit -qm first && git push -q origin HEAD:main
	roger init -q
	git add -A && git commit -qm roger -q && git push -q origin HEAD:main
	roger send bob "$OWN" --as ann -q 2>/dev/null
	git clone -q ../remote.git ../hostile
	cd ../hostile || exit 1
}
# What stands in hostile/ is pushed; the victim pulls it.
pulled() { # NAME
	git add -Af . && git commit -qm hostile && git push -q origin HEAD:main
	cd "../$1" && git pull -q 2>/dev/null || note "pull failed"
}
event='{}'
hook() { printf '%s' "$event" | "$ROGER" hook "$@" --as bob; }

# Nothing of the stranger's is shown, and a person gets one line of what to do.
silent() { # NAME [PATTERN]
	_what=$1 _pattern=${2-roger trust}
	for _event in session-start prompt tool stop; do
		exits 0 "$_what: the hook at $_event ends well" hook claude $_event
		unlike "$_what: and shows nothing at $_event" "$out$err" "$STRANGER"
	done
	for _tool in claude codex gemini opencode; do
		for _event in session-start prompt; do
			run hook $_tool $_event
			is "$_what: $_tool at $_event has a line for the person alone" "$(printf '%s' "$out" | json 'list(d)')" '["systemMessage"]'
			like "$_what: that says what to do" "$out" "$_pattern"
		done
	done
	run roger prime --as bob
	is "$_what: is empty" "$out" ""
	like "$_what: but for a line" "$err" "$_pattern|^roger: "
	run python3 "$here/mcp.py" "$ROGER"
	like "$_what: mcp answers its handshake" "$out" '^initialize .*No tool works now'
	unlike "$_what: and shows nothing" "$out" "$STRANGER"
}
cat >"$here/mcp.py" <<'END2'
import json, subprocess, sys
call = lambda n, method, **params: json.dumps({"jsonrpc": "2.0", "id": n, "method": method, "params": params}) + "\n"
asked = (call(1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
         + '{"jsonrpc":"2.0","method":"notifications/initialized"}\n'
         + call(2, "tools/call", name="inbox", arguments={}) + call(3, "tools/call", name="wait", arguments={"timeout": "1s"})
         + call(4, "resources/read", uri="roger://inbox/bob"))
done = subprocess.run([sys.argv[1], "mcp", "--as", "bob"], input=asked, capture_output=True, text=True, timeout=60)
for line in sorted(done.stdout.splitlines(), key=lambda line: json.loads(line).get("id", 0)):
    said = json.loads(line)
    print({1: "initialize", 2: "inbox", 3: "wait", 4: "resource"}.get(said.get("id"), "?"), json.dumps(said.get("result", said.get("error"))))
print("exit", done.returncode)
END2
shown() { # NAME
	like "$1: one's own mail is shown" "$(hook claude session-start)" "$OWN"
}
nothing_staged() { # NAME
	git add -A . 2>/dev/null
	is "$1: no mail is in the next commit" "$(git diff --cached | grep -c -e "$OWN" -e 'more-of-it')" 0
}

# ------------------------------------------------------------ W2: another mailbox
begin a
mkdir workspace && printf 'storage: {data_dir: workspace}\n' >.roger/config.yaml && forged bob eve >workspace/messages.jsonl
pulled a
silent "data_dir"
exits 0 "other verbs work" roger list
like "and say a line" "$err" "another place than you trusted.*config.yaml:1: storage.data_dir.*roger trust"
exits 0 "also as JSON" roger list --json
like "beside the answer" "$err" "another place"
exits 77 "a send" roger send bob more-of-it --as ann
like "that the next commit would publish is refused" "$err" "git tracks files of this mailbox.*roger trust"
nothing_staged "data_dir"
git reset -q
exits 0 "what is asked for" roger trust --show
like "says where it is, and who says so" "$out" "not trusted +storage.data_dir is '$here/a/workspace', says .roger/config.yaml:1"
like "and that git tracks it" "$out" "workspace/messages.jsonl"
git checkout -q HEAD~1 2>/dev/null || note "checkout failed: $(git status --short)"
shown "back on the trusted commit"
unlike "nothing is said" "$(hook claude prompt)" systemMessage
git checkout -q main
silent "and forth"
exits 0 "a person may accept it" roger trust --accept "$(roger trust --show --json | json 'd["sha256"]')"
like "then it is shown" "$(hook claude session-start)" "$STRANGER"
is "the record holds the places" "$(json '[p["path"] for p in d["places"] if p["setting"] == "storage.data_dir"]' <"$(ls "$XDG_STATE_HOME"/roger/trust/*.json)")" "[\"$here/a/workspace\"]"
printf 'storage: {data_dir: workspace, trigger_dir: logs}\n' >.roger/config.yaml
silent "and then yet another place"

begin b
mkdir -p .agent-shepherd/config && : >.agent-shepherd/config/phase-messenger.yaml && forged bob eve >.agent-shepherd/messages.jsonl
pulled b
exits 78 "(c) two journals" roger list
silent "(c) two journals" "both hold messages"
rm .roger/messages.jsonl .roger/messages.control
silent "(b) the folder of the origin"
like "which file said so" "$(roger list 2>&1 >/dev/null)" "phase-messenger.yaml: storage.data_dir"

begin removed
cd ../removed || exit 1
mkdir workspace && printf 'storage: {data_dir: workspace}\n' >.roger/config.yaml
git add -A && git commit -qm moved && git push -q origin HEAD:main
roger trust --accept "$(roger trust --show --json | json 'd["sha256"]')" >/dev/null
roger send bob "$OWN" --as ann -q
shown "a place that a person chose"
nothing_staged "a place that a person chose"
like "which git is told" "$(cat workspace/.gitignore)" "^/messages\*$"
git reset -q
cd ../hostile && git pull -q && : >.roger/config.yaml
pulled removed
silent "a configuration that is gone"
like "other verbs say it, too" "$(roger inbox --as bob 2>&1 >/dev/null)" "default: storage.data_dir"

for name in messages.jsonl messages.control id damage.jsonl message-state.json send-log/ann.jsonl state/subagent-delivery-watchdog/r.json triggers/bob.txt triggers/.taken/1795427993373-8ba7d6e337d51ef5-0.bob.txt; do
	begin forced
	mkdir -p ".roger/$(dirname "$name")"
	case $name in
	id) cp ../forced/.roger/id .roger/id ;;
	*.txt) printf '(EVE #1): %s\n' "$STRANGER" >".roger/$name" ;;
	messages.control) # and all that would tell that the journal is another one
		forged bob eve >.roger/messages.jsonl
		for other in message-state.json messages.control messages.db messages.db-index; do : >.roger/$other; done
		;;
	*) forged bob eve >".roger/$name" ;;
	esac
	pulled forced
	hook claude session-start >out 2>&1
	unlike "forced $name: a hook shows nothing" "$(cat out)" "$STRANGER"
	like "forced $name: but a line" "$(cat out)" "git tracks files of this mailbox"
	exits 77 "forced $name: the bridge" roger bridge --once
	like "forced $name: says what to do" "$err" "no file is taken in.*git tracks.*roger trust"
	is "forced $name: no such mail" "$(roger list --from EVE --count 2>/dev/null)" 0
	like "forced $name: trust names it" "$(roger trust --show)" "$name"
	roger send bob more-of-it --as ann >/dev/null 2>&1
	nothing_staged "forced $name"
	git reset -q && git checkout -qf . 2>/dev/null
	case $name in id | messages.control) continue ;; esac # the victim's is gone with it: that is another mailbox
	git checkout -q HEAD~1
	is "forced $name: gone with the commit" "$(hook claude prompt | grep -c systemMessage)" 0
done

# ------------------------------------------------------------ W2: when git is at work
begin busy
cd ../busy || exit 1
mkdir -p .roger/triggers
printf '(LEAD #1): mine\n' >.roger/triggers/bob.txt
: >.git/index.lock
run roger bridge --once
like "while git writes files, none is taken in" "$out$err" "git is changing this workspace"
check "it stands there" test -s .roger/triggers/bob.txt
like "and a hook says so" "$(hook claude prompt)" "systemMessage.*git is changing"
rm .git/index.lock
git add -f .roger/triggers/bob.txt
like "status says it" "$(roger status)" "git tracks files of this mailbox"
# Sanitizers at work may not see a process end.
timeout -k 20 5 "$ROGER" serve >told 2>&1
if grep -q '^listening' told; then
	like "and the server, which takes in none" "$(cat told)" "trigger files are left where they are.*roger trust"
	check "either" test -s .roger/triggers/bob.txt
fi
git rm -q --cached .roger/triggers/bob.txt
exits 0 "and then it is" roger bridge --once
like "taken in" "$out" "LEAD #1 -> bob"
# One that has a workspace of its own, since its main checkout has none.
git worktree add -q ../worktree && rm -rf .roger
cd ../worktree || exit 1
mkdir -p .roger && roger init -q 2>/dev/null
roger trust --accept "$(roger trust --show --json | json 'd["sha256"]')" >/dev/null
forged bob eve >.roger/messages.jsonl
exits 0 "a file that git does not know" hook claude prompt
like "is as it was" "$out" "$STRANGER"
git add -f .roger/messages.jsonl
silent "in another working tree, with an index of its own" "git tracks"
for version in 2 3 4; do
	git update-index --index-version $version
	like "version $version of the index" "$(hook claude prompt)" "git tracks"
done
git update-index --split-index && touch new && git add new
like "an index in two files" "$(hook claude prompt)" "git tracks"
git rm -q --cached .roger/messages.jsonl
unlike "taken out again" "$(hook claude prompt)" "git tracks"
cd .. && rm -rf sha && git init -q --object-format=sha256 sha && cd sha && roger init -q
roger send bob "$OWN" --as ann -q 2>/dev/null
git add -A
shown "with SHA-256"
git add -f .roger/messages.jsonl
like "that git tracks it" "$(hook claude prompt)" "git tracks"
head -c 70 .git/index >cut && cp cut .git/index
like "an index that cannot be read" "$(hook claude prompt)" "index cannot be read"

# ------------------------------------------------------------ W4: mail in the next commit
for config in 'storage: {data_dir: logs}' 'storage: {data_dir: workspace/deep}' 'storage: {trigger_dir: workspace}
bridge: {file_only: [bob]}' 'storage: {send_log_dir: state, activity_file: logs/a.jsonl}' 'storage: {jsonl_file: mine.jsonl, database_file: "a b.db"}' 'storage: {data_dir: .agent-shepherd, trigger_dir: .agent-shepherd/t}'; do
	for hostile in none ignore deep; do
		begin layout
		printf '%s\n' "$config" >.roger/config.yaml
		mkdir -p logs workspace/deep state .agent-shepherd/t
		touch logs/keep workspace/keep workspace/deep/keep state/keep .agent-shepherd/keep .agent-shepherd/t/keep
		case $hostile in
		ignore)
			for folder in . .roger logs workspace workspace/deep state .agent-shepherd; do printf '!*\n!/*.jsonl\n!messages.jsonl\n' >$folder/.gitignore; done
			;;
		deep)
			mkdir -p .roger/send-log .roger/triggers
			for folder in .roger/send-log .roger/triggers; do printf '!*\n' >$folder/.gitignore; done
			rm .roger/.gitignore && ln -s ../README .roger/.gitignore
			;;
		esac
		pulled layout
		roger send bob more-of-it --as ann >/dev/null 2>&1
		roger bridge --once >/dev/null 2>&1
		nothing_staged "$hostile, $config: not trusted"
		git reset -q
		roger trust --accept "$(roger trust --show --json 2>/dev/null | json 'd["sha256"]')" >/dev/null 2>&1
		roger send bob more-of-it --as ann >/dev/null 2>&1
		roger bridge --once >/dev/null 2>&1
		nothing_staged "$hostile, $config: trusted"
		before=$(cat .gitignore */.gitignore .roger/.gitignore 2>/dev/null)
		roger list >/dev/null 2>&1
		is "nothing is written twice" "$(cat .gitignore */.gitignore .roger/.gitignore 2>/dev/null)" "$before"
	done
done

# ------------------------------------------------------------ W3: the key of seals
begin key
(cd ../key && roger seal --out ../mine.seal -q)
mkdir -p "$here/other"
(cd "$here/other" && roger init -q && roger send bob x --as ann -q 2>/dev/null; roger seal --out ../theirs.seal -q)
cp ../other/.roger/seal.key ../other/.roger/seal.pub .roger/
pulled key
exits 77 "a key that came with a pull" roger seal --out ../after.seal
like "is not used, and a person is told what to do" "$err" "roger trust"
exits 65 "a stranger's signature" roger verify --seal ../theirs.seal --json
like "is not taken for one's own" "$out" '"other_key"'
run roger verify --seal ../mine.seal
unlike "one's own is" "$out$err" "another key"
git rm -q --cached .roger/seal.key .roger/seal.pub
exits 77 "nor when git no longer tracks it" roger seal --out ../after.seal
like "since it is another one" "$err" "not the one that this workspace was sealed with.*roger trust"
rm .roger/seal.pub
exits 77 "nor without its public half" roger seal --out ../after.seal
exits 1 "which is not made for it" test -e .roger/seal.pub
like "trust shows it" "$(roger trust --show)" "sealed with another key than before: $(cat ../other/.roger/seal.pub)"
exits 0 "a person may accept it" roger trust --accept "$(roger trust --show --json | json 'd["sha256"]')"
exits 0 "then it is used" roger seal --out ../after.seal
begin firstkey
cp "$here/other/.roger/seal.key" "$here/other/.roger/seal.pub" .roger/
pulled firstkey
exits 77 "a key that came before the first seal" roger seal
begin oldkey
cd ../oldkey || exit 1
roger seal -q >/dev/null
python3 - "$XDG_STATE_HOME"/roger/trust/*.json <<'END2'
import json, sys
document = json.load(open(sys.argv[1]))
for name in "places", "tracked", "seal_key":
    document.pop(name, None)
json.dump(document, open(sys.argv[1], "w"))
END2
shown "a record of the version before"
exits 0 "whose key goes on working" roger seal -q
is "and is remembered" "$(json 'd["seal_key"]' <"$(ls "$XDG_STATE_HOME"/roger/trust/*.json)")" "$(cat .roger/seal.pub)"
done_testing
