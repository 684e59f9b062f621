#!/bin/sh
# All git worktrees of a repository share one workspace, that of the main checkout: mail, hooks,
# setup, trust, names.  A .git file leads nowhere else, and what a worktree had is not lost.
. "$(dirname "$0")/lib.sh"
need_git worktrees

repository() { # NAME TREE...
	git init -q "$1" && (
		cd "$1" || exit 1
		git commit -q --allow-empty -m start
		shift
		for tree; do git worktree add -q "../$tree" 2>/dev/null; done
	)
}
hook() { # TOOL EVENT [INPUT]
	printf '%s' "${3-}" | below "$1" "$ROGER" hook "$1" "$2" 2>/dev/null
}
at() { # FOLDER WORDS...
	(cd "$1" && shift && "$ROGER" "$@")
}
where() { at "$1" status --json 2>/dev/null | json 'd["workspace"]'; }

# ------------------------------------------------------------ one for all
repository main one two three four
exits 66 "no workspace yet" at one inbox --as ann
like "the main checkout was looked at, too" "$err" "nor does the main checkout, '$here/main'"
exits 0 "init in a worktree" at two init
like "makes it in the main checkout" "$out" "made a workspace in $here/main$"
like "and says why" "$err" "note: $here/two is a git worktree of it"
check "there" test -d main/.roger
check "and not here" test ! -e two/.roger
like "init in the next" "$(at three init 2>/dev/null)" "there is a workspace in $here/main"
roger trust --workspace one --list | grep -q "$here/main" && trusted=yes
is "it is trusted" "${trusted-no}" yes
for tree in one two three four main; do is "$tree has it" "$(where $tree)" "$here/main"; done
exits 0 "a message from one" at one send bob hello --as ann
is "arrives in the other" "$(at two receive --as bob --json | json 'd["messages"][0]["content"]')" hello
mkdir -p three/deep/er
is "from below" "$(where three/deep/er)" "$here/main"
is "by option" "$(roger status --json --workspace four 2>/dev/null | json 'd["workspace"]')" "$here/main"
is "by variable" "$(ROGER_WORKSPACE=four roger status --json 2>/dev/null | json 'd["workspace"]')" "$here/main"
exits 0 "run, too" at four run --as ann -- sh -c 'echo done'
is "in its own folder" "$(at four run --as ann -- pwd | head -1)" "$here/four"
mkdir -p main/.roger/triggers
printf '(LEAD #1): from a file\n' >main/.roger/triggers/bob.txt
exits 0 "trigger files are taken in from a worktree" at one bridge --once
is "once" "$(at two receive --as bob --json | json 'd["messages"][0]["content"]')" "from a file"

# ------------------------------------------------------------ names
exits 0 "a hook in a worktree" hook claude session-start '{"hook_event_name":"SessionStart","session_id":"s0"}'
names() { for tree; do (cd "$tree" && hook claude session-start "{\"hook_event_name\":\"SessionStart\",\"session_id\":\"$tree\"}" >/dev/null); done; }
names one two three main
is "agents that nobody named are told apart" "$(at main status --json | json '[w["agent"] for w in d["worktrees"] if w["agent"].startswith("claude")]')" \
	'["claude@one", "claude@three", "claude@two"]'
like "in the main checkout it is the tool" "$(at main activity --json)" '"agent":"claude"'

at main send claude@two 'for two' --as ann -q
is "mail finds the one" "$(cd two && hook claude prompt | grep -c 'for two')" 1
is "and not the next" "$(cd one && hook claude prompt | grep -c 'for two')" 0
ROGER_AGENT=plan; export ROGER_AGENT
is "who has a name keeps it" "$(cd one && at ../main send plan mine --as ann -q && hook claude prompt | grep -c mine)" 1
unset ROGER_AGENT
like "status says who sits where" "$(at main status)" "claude@three was in $here/three"

# Over MCP by the client's own name, or by what setup wrote: the same names as the hooks have.
speak() { # WORKTREE CLIENT WORDS...
	_tree=$1 _client=$2
	shift 2
	(cd "$_tree" && printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"'"$_client"'","version":"2"}}}' \
		'{"jsonrpc":"2.0","method":"notifications/initialized"}' \
		'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"send","arguments":{"to":["mcp-reader"],"content":"from '"$_tree"'"}}}' | roger mcp "$@" >/dev/null 2>&1)
}
for tree in one two three main; do
	speak $tree claude-code
	speak $tree claude-code --for claude
	speak $tree codex-mcp-client
done
speak one claude-code --as named
is "over MCP, too" "$(at main list --to mcp-reader --json | json '" ".join(sorted({m["from"] + "=" + m["content"][5:] for m in d["messages"]}))')" \
	'claude=main claude@one=one claude@three=three claude@two=two codex=main codex@one=one codex@three=three codex@two=two named=one'
is "so nobody has two" "$(at main list --to mcp-reader --count)" 13

# ------------------------------------------------------------ setup
exits 0 "setup in a worktree" at one setup claude --yes
check "writes where the tool looks" test -s one/.claude/settings.local.json
exits 0 "and in the next" at two setup claude --yes
is "with one record" "$(find "$XDG_STATE_HOME/roger/setup" -name '*.json' | wc -l)" 1
like "doctor tries the links of this worktree" "$(at two doctor)" "links to agents' tools tried, and fine"
exits 0 "removed from one" at main setup --remove --yes
check "it is gone from all" test ! -e one/.claude -a ! -e two/.claude
unlike "and from git's folder" "$(cat main/.git/info/exclude)" roger

# ------------------------------------------------------------ one that git put there
mkdir three/.roger
printf '# mine\n' >three/.roger/config.yaml
exits 0 "a .roger in a worktree" at three send bob x --as ann
is "is not used" "$(where three)" "$here/main"
rm main/.roger/worktrees/three.told
like "a line says so" "$(at three agents 2>&1 >/dev/null)" "note: .*all worktrees share the workspace in '$here/main'; '$here/three/.roger' is not used$"
is "once" "$(at three agents 2>&1 >/dev/null)" ""
is "as is one below, which the main checkout has, too" "$(mkdir -p main/sub && at main init sub -q && mkdir -p four/sub && where four/sub)" "$here/main/sub"
rm -r main/sub/.roger

# ------------------------------------------------------------ removed, recycled
at main send claude@two 'before' --as ann -q
git -C main worktree remove --force ../two
like "a removed worktree is named, and whose mail waits" "$(at main status)" "claude@two's worktree is gone: [0-9]+ unread"
like "and who else could get it" "$(at main status)" "^ +roger agents retire claude@two --to NAME"
like "the mail is there" "$(at main inbox --as claude@two)" before
git -C main worktree add -q ../two 2>/dev/null || git -C main worktree add -q ../two two
exits 0 "a later one in its place" at two agents
like "is another" "$(at main status --json)" '"standing":"recycled"'
(cd two && hook claude session-start '{"hook_event_name":"SessionStart","session_id":"new"}' >out)
unlike "whose agent does not get the mail of the first" "$(cat two/out)" "before"
like "and has another name" "$(at main status --json)" '"agent":"claude@two.2",[^}]*/two"'
like "the first one's mail waits" "$(at main status)" "claude@two's worktree is gone, and another is in its place: [0-9]+ unread"
exits 0 "moved by git" git -C main worktree move ../four ../five
is "it is still one" "$(where five)" "$here/main"
mv five six
exits 66 "moved by hand, it is none" at six inbox --as ann
like "and is told how it becomes one" "$err" "git worktree repair"
git -C main worktree repair ../six >/dev/null 2>&1
is "again" "$(where six)" "$here/main"

# ------------------------------------------------------------ bare, submodules, other file systems
git clone -q --bare main bare.git 2>/dev/null
git -C bare.git worktree add -q ../left -b left && git -C bare.git worktree add -q ../right -b right
exits 0 "of a bare repository" at left init -q
is "it is in its folder" "$(where right)" "$here/bare.git"
check "and git does not mind" git -C left status --porcelain
mkdir around && git clone -q --bare main around/.bare 2>/dev/null && printf 'gitdir: ./.bare\n' >around/.git
git -C around worktree add -q a -b a && git -C around worktree add -q b -b b
exits 0 "with a folder around it" at around/a init -q
is "it is there" "$(where around/b)" "$here/around"
git -C main -c protocol.file.allow=always submodule add -q "$here/bare.git" module 2>/dev/null
git -C main commit -qm module
is "a submodule has that of what it is in" "$(where main/module)" "$here/main"
git -C one -c protocol.file.allow=always merge -q main >/dev/null 2>&1 || git -C one merge -q master >/dev/null 2>&1
git -C one -c protocol.file.allow=always submodule update -q --init 2>/dev/null
check "in a worktree" test -f one/module/.git
is "as well" "$(where one/module)" "$here/main"
exits 0 "or one of its own" at main/module init -q
is "which counts there" "$(where main/module)" "$here/main/module"
if [ -w /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" != "$(stat -f -c %T .)" ]; then
	shm=$(mktemp -d /dev/shm/roger.XXXXXX)
	git -C main worktree add -q "$shm/far" -b far
	is "a worktree on another file system" "$(where "$shm/far")" "$here/main"
	rm -rf "$shm"
else
	result 0 "a worktree on another file system # SKIP there is none here"
fi

# ------------------------------------------------------------ what came with somebody else's files
mkdir stranger && cd stranger || exit 1
printf 'gitdir: %s/main/.git/worktrees/one\n' "$here" >.git
exits 66 "a .git file that names another's worktree" roger inbox --as ann
printf 'gitdir: %s/main/.git\n' "$here" >.git
exits 66 "the repository itself" roger inbox --as ann
mkdir -p fake/worktrees/x && printf '%s/main/.git\n' "$here" >fake/worktrees/x/commondir && printf '%s/stranger/.git\n' "$here" >fake/worktrees/x/gitdir
printf 'gitdir: fake/worktrees/x\n' >.git
exits 66 "a folder of its own that names the repository" roger inbox --as ann
mkdir -p fake && ln -s "$here/main/.git/worktrees" fake/links
printf 'gitdir: fake/links/../links/one\n' >.git
exits 66 "links and .." roger inbox --as ann
rm -r .git && ln -s "$here/one/.git" .git
exits 66 "a link to a worktree's" roger inbox --as ann
rm .git && cp "$here/one/.git" .git
exits 66 "a copy of a worktree is none" roger inbox --as ann
printf 'gitdir: ' >.git
exits 66 "one that says nothing" roger inbox --as ann
head -c 70000 /dev/zero >.git
exits 66 "one that is no text" roger inbox --as ann
# All of it came along: then it is a workspace that nobody trusts.
mkdir -p all/.git/worktrees/x all/.roger
printf '../..\n' >all/.git/worktrees/x/commondir && printf '%s/stranger/.git\n' "$here" >all/.git/worktrees/x/gitdir
printf 'gitdir: all/.git/worktrees/x\n' >.git
like "a whole one that came along is not trusted" "$(roger prime --as ann 2>&1)" "not trusted"
if [ "$(id -u)" = 0 ]; then
	chown 65534 .git
	exits 66 "a .git file of another user" roger inbox --as ann
	chown -R 0 . && chown 65534 "$here/main/.git/worktrees/one"
	exits 66 "a repository that another user may write" at "$here/one" inbox --as ann
	chown 0 "$here/main/.git/worktrees/one"
else
	result 0 "files of another user # SKIP needs root"
fi
cd "$here" || exit 1
ln -s "$here/stranger" main/linked && mkdir -p one/linked stranger/.roger
is "a link in the main checkout is not followed" "$(where one/linked)" "$here/main"

# ------------------------------------------------------------ what a worktree had
repository old left2 right2
mkdir left2/.roger
exits 0 "a workspace that a worktree has for itself" at left2 send bob kept --as ann
is "is used while there is no other" "$(where left2)" "$here/left2"
rm -f left2/.roger/worktrees/left2.told
like "a line says that it is alone, and what to do" "$(at left2 agents 2>&1 >/dev/null)" "roger move --from $here/left2/.roger $here/old"
like "init leaves it" "$(at left2 init 2>/dev/null)" "there is a workspace in $here/left2"
exits 0 "and move takes it in" roger move --from left2/.roger old
is "for all" "$(at right2 receive --as bob --json 2>/dev/null | json 'd["messages"][0]["content"]')" kept
is "itself, too" "$(where left2)" "$here/old"
is "without a further word" "$(at left2 agents 2>&1 >/dev/null)" ""
mkdir right2/.roger
at right2 send bob kept --as ann -q --workspace right2/.roger 2>/dev/null
(cd right2 && roger send bob second --as ann --workspace "$here/right2/.roger" -q 2>/dev/null)
like "where both have mail a line names it" "$(at right2 agents 2>&1 >/dev/null)" "'$here/right2/.roger' is not used, but has mail: .roger move --from $here/right2/.roger $here/old. takes it in"
mv right2/.roger kept
mkdir "o'clock" && git -C old worktree add -q -b quoted "../o'clock/a b" && mv kept "o'clock/a b/.roger"
told=$(at "o'clock/a b" agents 2>&1 >/dev/null | sed -n 's/.*has mail: .\(roger move .*\). takes it in.*/\1/p')
exits 77 "what it names is not trusted" eval "${told:-false}"
like "which is said with a command that fits any path" "$err" "in '$here/o'clock/a b' is not trusted, .*run .roger trust --workspace .roger. there"
(cd "o'clock/a b" && roger trust --workspace .roger --accept "$(roger trust --workspace .roger --show --json | json 'd["sha256"]')" >/dev/null)
exits 0 "in a path with a quote and a blank, too: the command can be pasted" eval "${told:-false}"
done_testing
