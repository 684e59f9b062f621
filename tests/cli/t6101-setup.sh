#!/bin/sh
# setup: shown first, then done, the same when done again, and taken out byte
# for byte, whatever people keep in their settings and change afterwards.
. "$(dirname "$0")/lib.sh"

mkdir home bin project
export HOME="$here/home"
unset CLAUDE_CONFIG_DIR CODEX_HOME XDG_CONFIG_HOME XDG_STATE_HOME
for tool in claude codex; do
	printf '#!/bin/sh\n' >bin/$tool
	chmod +x bin/$tool
done
ln -s "$ROGER" bin/roger
path=$PATH
PATH=$here/bin:$PATH
cd project || exit 1
git init -q . 2>/dev/null || mkdir .git .git/info
mkdir -p .claude sub
printf '{\n\t// mine\n\t"permissions": {"allow": ["x"]},\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"type": "command", "command": "say done"}]},\n\t\t]\n\t}\n}' >.claude/settings.json
printf '# Agents\r\n\r\nbe nice' >AGENTS.md
chmod 640 AGENTS.md
cp -a . ../before
every="claude codex gemini opencode copilot qwen kilo"
# Most of this is about the scope that writes most.
roger() {
	case "$*" in
	setup*--scope*) "$ROGER" "$@" ;;
	setup*) "$ROGER" "$@" --scope project ;;
	*) "$ROGER" "$@" ;;
	esac
}
unchanged() { rm -rf .roger && diff -r . ../before; }

# ------------------------------------------------------------ looking
exits 0 "--dry-run" roger setup --dry-run
like "shows what comes into a file that is there" "$out" "^  +.*roger hook claude stop"
like "and what stays around it" "$out" "^   .*say done"
like "finds the tools that are installed" "$out" "codex/config.toml: to be made"
unlike "and no others" "$out" "gemini"
exits 1 "without a terminal and without --yes" roger setup </dev/null
like "says how" "$err" "nothing is written: say it again with --yes"
check "and wrote nothing" unchanged
exits 64 "a tool it does not know" roger setup emacs
like "names those it knows" "$err" "claude, codex, gemini, opencode, copilot, qwen or kilo; of another, .roger setup --print. says"

exits 64 "a tool that is only printed" roger setup cursor
for what in mcp-json vscode cursor; do
	exits 0 "--print $what" "$ROGER" setup --print $what
	is "every piece of it is JSON" "$(printf '%s' "$out" | python3 -c '
import json, re, sys
print(all(map(json.loads, filter(str.strip, re.split("//.*", sys.stdin.read())))))')" True
	like "names the server" "$out" '"command": ".*roger", "args": ."mcp"'
done
like "cursor's hooks" "$out" 'roger hook cursor session-start"'
like "says that it was not tried" "$out" "^// Not tried"
exits 64 "--print of another" "$ROGER" setup --print emacs
like "names those" "$err" "expected mcp-json, vscode or cursor"
check "and wrote nothing" unchanged

# ------------------------------------------------------------ doing
cd sub || exit 1
# shellcheck disable=SC2086
exits 0 "set up, from a folder below" roger setup $every --yes
cd .. || exit 1
like "tells what a person has left to do" "$out" "codex: trust the folder"
check "there is a workspace" test -d .roger
is "the server of claude" "$(json 'd["mcpServers"]["roger"]["args"]' <.mcp.json)" '["mcp", "--for", "claude"]'
is "hooks of gemini" "$(json 'sorted(d["hooks"])' <.gemini/settings.json)" '["AfterAgent", "AfterTool", "BeforeAgent", "SessionStart"]'
check "the plugin of opencode is the one of integrations/" cmp .opencode/plugin/roger.js "$source_dir/integrations/opencode/roger.js"
check "and kilo's knows its tool" sh -c 'sed s/opencode/kilo/g .opencode/plugin/roger.js | cmp - .kilo/plugin/roger.js'
is "hooks of copilot" "$(json 'd["version"], d["hooks"]["agentStop"][0]["type"], sorted(d["hooks"])' <.github/hooks/roger.json)" '[1, "command", ["agentStop", "postToolUse", "sessionStart", "userPromptSubmitted"]]'
is "its server" "$(json 'd["mcpServers"]["roger"]["args"]' <.github/mcp.json)" '["mcp", "--for", "copilot"]'
is "hooks of qwen" "$(json 'sorted(d["hooks"]), d["mcpServers"]["roger"]["command"]' <.qwen/settings.json)" '[["PostToolUse", "SessionStart", "Stop", "UserPromptSubmit"], "roger"]'
like "the server of codex" "$(cat .codex/config.toml)" "^args = .*--for"
check "the comment of a person stays" grep -q '// mine' .claude/settings.json
check "and the hook" grep -q 'say done' .claude/settings.json
is "a mode stays" "$(stat -c %a AGENTS.md)" 640
is "new files have the usual one" "$(stat -c %a .mcp.json)" 644
is "the block is short" "$(sed -n '/roger:begin/,/roger:end/p' AGENTS.md | wc -l)" 5
exits 0 "doctor tries each link" roger doctor
like "and tells" "$out" "27 links to agents' tools tried, and fine"
is "as JSON" "$(roger doctor --json | json 'd["broken_links"], sorted(set(e["tool"] for e in d["links"]))')" '[0, ["claude", "codex", "copilot", "gemini", "kilo", "opencode", "qwen"]]'
sed 's/"command": "roger",/"command": "no-such-roger",/' .mcp.json >../broken && cp .mcp.json ../whole && cp ../broken .mcp.json
sed 's/roger hook codex stop/roger hook codex stopp/' .codex/hooks.json >../broken && cp .codex/hooks.json ../hooks && cp ../broken .codex/hooks.json
exits 65 "doctor finds links that are broken" roger doctor
like "a server" "$out" "^claude: server of .*mcp.json: it is not the command that setup writes; not tried"
like "a hook" "$out" "^codex: hook at Stop of .*hooks.json: it is not the command that setup writes; not tried"
sed 's#"command": "roger",#"command": "/nowhere/roger",#' ../whole >.mcp.json
sed 's#roger hook codex stop#/nowhere/roger hook codex stop#' ../hooks >.codex/hooks.json
cp .kilo/plugin/roger.js ../plugin && cp .github/hooks/roger.json ../own
sed -i 's#^const ROGER = "roger"#const ROGER = "/nowhere/roger"#' .kilo/plugin/roger.js
sed -i 's#exec roger hook copilot stop#exec /nowhere/roger hook copilot stop#' .github/hooks/roger.json
exits 65 "and those whose program is gone" roger doctor
like "of a server" "$out" "^claude: server of .*its program '/nowhere/roger' is gone; .roger setup claude. names this one"
like "of a hook" "$out" "^codex: hook at Stop of .*its program '/nowhere/roger' is gone; .roger setup codex. names this one"
like "of a plugin" "$out" "^kilo: server of .*kilo/plugin/roger.js: its program '/nowhere/roger' is gone"
like "of a tool's own file" "$out" "^copilot: hook at agentStop of .*hooks/roger.json: its program '/nowhere/roger' is gone"
cp ../plugin .kilo/plugin/roger.js && cp ../own .github/hooks/roger.json
cp ../whole .mcp.json && cp ../hooks .codex/hooks.json
check "codex is woken by a command" grep -q '"codex": .codex, queue, --thread, "{session}"' .roger/config.yaml
check "and the configuration is sound" roger config show
cp -a . ../once
# shellcheck disable=SC2086
exits 0 "set up again" roger setup $every --yes
like "says that all is well" "$out" "settings.json: is as it should be"
check "and changes nothing" diff -r . ../once
exits 0 "under another name" roger setup claude opencode --name builder --yes
like "the plugin knows it" "$(cat .opencode/plugin/roger.js)" '^const WORDS = ."opencode", "--as", "builder".'
is "the server knows it" "$(json 'd["mcpServers"]["roger"]["args"]' <.mcp.json)" '["mcp", "--for", "claude", "--as", "builder"]'
is "hooks are replaced, not doubled" "$(grep -c 'hook claude stop --as builder' .claude/settings.json) $(grep -c 'hook claude stop' .claude/settings.json)" "1 1"
exits 0 "as JSON" roger setup --json --dry-run
is "all is one object" "$(printf '%s' "$out" | json 'd["tools"], d["made_workspace"]')" '[["claude", "codex"], false]'
exits 1 "nor without an answer to its question" roger setup gemini --name other --json
is "is there anything but one object" "$(printf '%s' "$out" | json 'd["changes"] > 0')$err" 'true'

# ------------------------------------------------------------ for everybody who clones it
commands() {
	python3 - .claude/settings.json .codex/hooks.json .gemini/settings.json <<'END'
import json, sys
for name in sys.argv[1:]:
    text = open(name).read().replace("// mine", "")
    for event in json.loads(text.replace(",\n\t\t]", "\n\t\t]"))["hooks"].values():
        for entry in event:
            for hook in entry["hooks"]:
                if "roger" in hook["command"]:
                    print(hook["command"])
END
}
commands >../commands
is "hooks of three tools" "$(wc -l <../commands)" 14
mkdir ../without && ln -s /bin/sh /bin/cat ../without/
while read -r command; do
	exits 0 "silent where roger is missing: $command" env -i HOME="$HOME" PATH="$here/without" /bin/sh -c "$command" </dev/null
	is "nothing is printed" "$out$err" ""
done <../commands
check "Claude Code reads no AGENTS.md, so it gets no block" sh -c 'rm -rf ../solo && mkdir ../solo && cd ../solo && git init -q . 2>/dev/null; "$0" setup claude --scope project --yes >/dev/null && "$0" setup claude --scope project --yes >/dev/null && test ! -e AGENTS.md -a ! -e CLAUDE.md' "$ROGER"
check "nor is one made that others read" sh -c 'cd ../solo && printf "mine\n" >CLAUDE.md && "$0" setup claude codex --scope project --yes >/dev/null && test "$(cat CLAUDE.md)" = mine && grep -q roger:begin AGENTS.md' "$ROGER"
mkdir ../default && (cd ../default && git init -q . 2>/dev/null || mkdir -p .git/info)
# shellcheck disable=SC2086
check "unless told otherwise, nothing of it is for others" sh -c 'cd ../default && roger=$0 && "$roger" setup "$@" --yes >/dev/null && { ! git status >/dev/null 2>&1 || test -z "$(git status --porcelain --untracked-files=all)"; } && test -e .claude/settings.local.json -a ! -e .mcp.json' "$ROGER" $every
check "and one word takes it out" sh -c 'cd ../default && "$0" setup --remove --yes >/dev/null && test ! -e .claude && test ! -e .codex' "$ROGER"
like "the command that it wrote may run" "$(cd ../default && "$ROGER" setup codex --yes >/dev/null && "$ROGER" trust --json | json '[c["trusted"] for c in d["commands"]]')" "true"

# ------------------------------------------------------------ out again
exits 0 "remove one tool" roger setup --remove opencode --yes
check "takes its files" test ! -e .opencode
check "and no others" test -e .mcp.json -a -e .gemini/settings.json
check "what all share stays" grep -q roger:begin AGENTS.md
exits 0 "remove the rest" roger setup --remove --yes
check "byte for byte" unchanged
exits 0 "remove nothing" roger setup --remove --yes
like "says so" "$out" "nothing of roger is there"

# ------------------------------------------------------------ changed by others meanwhile
roger setup claude --yes >/dev/null
sed -i 's/"say done"/"say well done"/' .claude/settings.json
printf 'more\n' >>AGENTS.md
exits 0 "remove after others changed the files" roger setup --remove --yes
sed 's/"say done"/"say well done"/' ../before/.claude/settings.json >../wanted
check "leaves their change alone" cmp .claude/settings.json ../wanted
printf '# Agents\r\n\r\nbe nicemore\n' >../wanted
check "and in text" cmp AGENTS.md ../wanted
cp ../before/AGENTS.md ../before/.claude/settings.json . && mv settings.json .claude/
roger setup claude --yes >/dev/null
python3 - <<'END'
import json
path = ".mcp.json"
data = json.load(open(path))
data["mcpServers"]["other"] = {"command": "x"}
json.dump(data, open(path, "w"))
END
exits 0 "remove from a file that was written anew" roger setup --remove --yes
is "takes ours only" "$(json 'd' <.mcp.json)" '{"mcpServers": {"other": {"command": "x"}}}'
rm .mcp.json
roger setup claude --yes >/dev/null
rm -r "$HOME/.local/state/roger/setup"
exits 0 "remove without the record" roger setup --remove --yes
check "finds what is ours by its looks" sh -c '! grep -rq "roger" .claude AGENTS.md .mcp.json'
rm -rf .mcp.json && cp ../before/AGENTS.md . && cp ../before/.claude/settings.json .claude/

# ------------------------------------------------------------ what people have already
printf '{"mcpServers": {"roger": {"command": "/opt/mine"}}}\n' >.mcp.json
exits 0 "remove where nothing was set up" roger setup --remove --yes
is "leaves a server of that name that is none of ours" "$(cat .mcp.json)" '{"mcpServers": {"roger": {"command": "/opt/mine"}}}'
printf '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "hcom hook claude stop"}]}]}}' >.claude/settings.json
rm -rf ../mine && cp -a . ../mine && rm -rf ../mine/.roger
roger setup claude --yes >/dev/null
check "another program's hook of a like name stays" grep -q 'hcom hook claude stop' .claude/settings.json
roger setup --remove --yes >/dev/null
rm -rf .roger
check "a person's own entry comes back" diff -r . ../mine
cp ../before/.claude/settings.json .claude/ && rm .mcp.json
roger setup claude --yes >/dev/null
python3 - <<'END'
import json, re
path = ".claude/settings.json"
text = open(path).read()
text = re.sub(r'("command": "[^"]*roger hook claude stop",)', r'"command": "./lint.sh"}, {"type": "command", \1', text)
open(path, "w").write(text)
END
exits 77 "a hook of somebody else in our list" roger setup claude --name other --yes
like "is told" "$out" "settings.json:.*holds roger's hook in one list with others"
roger setup --remove --yes >/dev/null
check "and stays" grep -q './lint.sh' .claude/settings.json
rm -rf .roger .mcp.json && cp ../before/AGENTS.md . && cp ../before/.claude/settings.json .claude/
printf '#!/bin/sh\ntouch "%s/owned"\n' "$here" >../evil && chmod +x ../evil
printf '{"mcpServers": {"roger": {"command": "%s/evil"}}}\n' "$here" >.mcp.json
printf '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "%s/evil; roger hook claude stop"}]}]}}' "$here" >.claude/settings.json
roger init -q
roger doctor >/dev/null
check "doctor runs no program that a repository brings along" test ! -e ../owned
rm -rf .roger .mcp.json && cp ../before/.claude/settings.json .claude/
for text in '[mcp_servers]
roger = {command = "x"}' '[mcp_servers."roger"]' '  [ mcp_servers.roger ]'; do
	mkdir -p .codex && printf '%s\n' "$text" >.codex/config.toml
	roger setup codex --yes >../out
	is "a server that is there: $(printf '%s' "$text" | tail -n 1)" "$(grep -c 'roger:begin' .codex/config.toml)" 0
	roger setup --remove --yes >/dev/null
	rm -rf .codex .roger
done
for text in '{recipients: warn}' 'recipients: warn
...'; do
	roger init -q && printf '%s\n' "$text" >.roger/config.yaml
	roger setup codex --name @bob --yes >/dev/null
	check "the configuration stays sound" roger config show
	roger setup --remove --yes >/dev/null
	rm -rf .roger .codex
done
roger setup codex --name @bob --yes >/dev/null
check "a name that YAML minds" roger config show
printf 'nonsense: [\n' >>.roger/config.yaml
exits 0 "the way back needs no configuration" roger setup --remove --yes
check "and is gone" test ! -e .codex
for tool in claude codex; do roger setup $tool --yes >/dev/null; done
sed -i '/nonsense/d' .roger/config.yaml
for tool in claude codex; do roger setup $tool --yes >/dev/null; done
for tool in claude codex; do roger setup --remove $tool --yes >/dev/null; done
check "what all share goes with the last" sh -c '! grep -q roger:begin AGENTS.md'
rm -rf .roger .codex .mcp.json && cp ../before/AGENTS.md . && cp ../before/.claude/settings.json .claude/

# ------------------------------------------------------------ scopes
exits 0 "for the user" roger setup claude codex --scope user --yes
check "nothing in the project" unchanged
check "the server" grep -q '"roger"' "$HOME/.claude.json"
check "the hooks" grep -q 'hook codex stop' "$HOME/.codex/hooks.json"
exits 0 "and out" roger setup --scope user --remove --yes
is "nothing is left" "$(find "$HOME" -type f | grep -v /roger/trust/)" ""
mkdir ../nobody
HOME=$here/nobody "$ROGER" setup claude codex --scope user --yes >/dev/null
HOME=$here/nobody "$ROGER" setup codex --remove --scope user --yes >/dev/null
exits 0 "out of a home that was empty" env HOME="$here/nobody" "$ROGER" setup --remove --scope user --yes
is "no folder stays that setup made" "$(ls -A ../nobody)" ""
mkdir -p ../nobody/.local/state
HOME=$here/nobody "$ROGER" setup claude --scope user --yes >/dev/null
HOME=$here/nobody "$ROGER" setup --remove --scope user --yes >/dev/null
is "those that were there do" "$(cd ../nobody && find . -type d)" "$(printf '.\n./.local\n./.local/state')"
mkdir ../claude ../state
homeless() { env -u HOME CLAUDE_CONFIG_DIR="$here/claude" XDG_STATE_HOME="$here/state" "$ROGER" setup "$@" --scope user --yes; }
exits 0 "without HOME" homeless claude
check "what has a folder of its own is set up" grep -q 'hook claude stop' ../claude/settings.json
exits 64 "and the rest is not" homeless codex
exits 0 "out again, without naming tools" homeless --remove
is "all of it" "$(find ../claude ../state -type f)" ""
exits 64 "a tool that is named wants its place" homeless --remove codex
like "which is told" "$err" "HOME: not set"
printf 'keep\n' >.git/info/exclude
rm -rf ../before && cp -a . ../before
exits 0 "in stealth" roger setup claude codex --scope stealth --yes
if command -v git >/dev/null && git status >/dev/null 2>&1; then
	is "git sees nothing but what it saw" "$(git status --porcelain --untracked-files=all | grep -v -e AGENTS.md -e '\.claude/settings\.json')" ""
fi
is "the server is the project's alone" "$(json 'list(d["projects"])' <"$HOME/.claude.json")" "[\"$PWD\"]"
exits 0 "and out of stealth" roger setup --scope stealth --remove --yes
check "byte for byte from there, too" unchanged
for project in one two; do
	mkdir ../$project && cd ../$project || exit 1
	git init -q . 2>/dev/null || mkdir -p .git/info
	# shellcheck disable=SC2086
	exits 0 "in stealth, project $project" roger setup $every --scope stealth --yes
	if git status >/dev/null 2>&1; then
		is "git sees nothing in $project" "$(git status --porcelain --untracked-files=all)" ""
	fi
done
cp -a . ../two.before
cd ../one || exit 1
exits 0 "one leaves stealth" roger setup --scope stealth --remove --yes
is "nothing stays in it" "$(ls -A)" "$(printf '.git\n.roger')"
cd ../two || exit 1
check "the other keeps every server and hook" diff -r . ../two.before
like "doctor finds them there" "$(roger doctor)" "27 links to agents' tools tried, and fine"
exits 0 "then one tool" roger setup gemini --scope stealth --remove --yes
unlike "takes its names out of git's list" "$(cat .git/info/exclude)" gemini
like "and no others'" "$(cat .git/info/exclude)" "opencode/plugin/roger.js"
roger setup --scope stealth --remove --yes >/dev/null
if git status >/dev/null 2>&1; then
	mkdir .gemini .qwen && printf '{"theme": "x"}\n' | tee .qwen/settings.json >.gemini/settings.json
	git add .gemini
	run roger setup gemini qwen --scope stealth --yes
	like "a file that git tracks is left" "$out" "settings.json: left as it is: git tracks it"
	is "as it is" "$(cat .gemini/settings.json)" '{"theme": "x"}'
	like "one that it does not is changed" "$(cat .qwen/settings.json)" '"mcpServers"'
	is "and git sees no change" "$(git status --porcelain --untracked-files=all)" "A  .gemini/settings.json"
	roger setup --scope stealth --remove --yes >/dev/null
	is "and out again" "$(cat .qwen/settings.json)" '{"theme": "x"}'
	printf x >../index && cp .git/index ../index.whole && cp ../index .git/index
	"$ROGER" setup qwen --scope stealth --yes >../out
	like "without a whole index nobody knows, and it is left" "$(cat ../out)" "qwen/settings.json: left as it is: git tracks it, or its index cannot be read"
	cp ../index.whole .git/index
	PATH=$(mktemp -d -p "$here") "$ROGER" setup qwen --scope stealth --yes >../out
	like "git itself is not needed" "$(cat .qwen/settings.json)" '"mcpServers"'
	roger setup --scope stealth --remove --yes >/dev/null
fi
rm ../two.before -r
cd ../project || exit 1
is "nor does anything of roger in a person's own settings" "$(grep -rl '"roger"' "$HOME")" ""

# ------------------------------------------------------------ what is refused, and what is not followed
printf '{ "mcpServers": [ ] }' >.mcp.json
exits 77 "a file of another shape" roger setup claude --yes
like "is left and told" "$out" "mcp.json: left as it is: line 1: mcpServers: expected an object"
is "untouched" "$(cat .mcp.json)" '{ "mcpServers": [ ] }'
roger setup --remove --yes >/dev/null
printf '{ "a": ' >.mcp.json
exits 77 "a torn file" roger setup claude --yes
like "is left, too" "$out" "mcp.json: left as it is: line 1: not JSON: unexpected end"
roger setup --remove --yes >/dev/null
rm .mcp.json
rm -rf .roger ../tidy && cp -a . ../tidy
for what in "mkdir .mcp.json" "mkfifo .mcp.json" "ln -s nowhere .mcp.json"; do
	$what
	exits 77 "in the place of a file: $what" roger setup claude --yes
	like "is left, and the reason told" "$out" "mcp.json: left as it is: .*mcp.json' is "
	check "and holds up no other file" grep -q 'roger hook claude stop' .claude/settings.json
	rm -r .mcp.json
	exits 0 "nor the way back" roger setup --remove --yes
	rm -rf .roger
	check "byte for byte: $what" diff -r . ../tidy
done
roger setup claude --yes >/dev/null
mv .mcp.json ../whole && mkdir .mcp.json
exits 77 "a file that became a folder since" roger setup --remove --yes
like "is left" "$out" "mcp.json: left as it is"
check "what is in the others goes" sh -c '! grep -q roger .claude/settings.json AGENTS.md'
exits 77 "nothing else is there" roger setup --remove --yes
rmdir .mcp.json && mv ../whole .mcp.json
exits 0 "once it is back" roger setup --remove --yes
rm -rf .roger
check "the record has kept what was done to it" diff -r . ../tidy
mkdir -p .codex && printf '[mcp_servers.roger]\ncommand = "mine"\n' >.codex/config.toml
exits 77 "a server of that name is there" roger setup codex --yes
like "is not doubled" "$out" "config.toml: left as it is: it has .* already"
roger setup --remove --yes >/dev/null
mkdir -p .opencode/plugin && printf 'mine\n' >.opencode/plugin/roger.js
exits 77 "a plugin of that name is there" roger setup opencode --yes
like "is kept" "$out" "roger.js: left as it is: it is not a file of roger"
roger setup --remove --yes >/dev/null
is "also afterwards" "$(cat .opencode/plugin/roger.js)" mine
mkdir ../dotfiles && printf '{}' >../dotfiles/settings.json
rm -f .claude/settings.json && ln -s ../../dotfiles/settings.json .claude/settings.json
exits 77 "a link that may have come with the repository" roger setup claude --yes
like "is not followed out of the project" "$out" "settings.json: left as it is: a link leads out of the project"
is "nothing is written there" "$(cat ../dotfiles/settings.json)" "{}"
roger setup --remove --yes >/dev/null
mkdir config && mv ../dotfiles/settings.json config/ && ln -sf ../config/settings.json .claude/settings.json
roger setup claude --yes >/dev/null
check "one within it is" test -L .claude/settings.json
check "to where it leads" grep -q 'hook claude' config/settings.json
roger setup --remove --yes >/dev/null
is "and back" "$(cat config/settings.json)" "{}"
rm -r config
mkdir -p "$HOME/.claude" && printf '{}' >../dotfiles/settings.json && ln -sf "$here/dotfiles/settings.json" "$HOME/.claude/settings.json"
"$ROGER" setup claude --scope user --yes >/dev/null
check "a person's own, in the home folder, is followed anywhere" grep -q 'hook claude' ../dotfiles/settings.json
"$ROGER" setup --remove --scope user --yes >/dev/null
is "and back from there" "$(cat ../dotfiles/settings.json)" "{}"
rm "$HOME/.claude/settings.json"
record="$HOME/.local/state/roger/setup/$(printf %s "$PWD" | sha256sum | cut -c 1-32).json"
roger setup claude --yes >/dev/null
check "the record stands outside the project" test -f "$record" -a ! -e .roger/setup.json
roger setup --remove --yes >/dev/null
mkdir -p "$(dirname "$record")"
printf '{"version":1,"files":[{"file":7}]}' >"$record"
exits 65 "a record that is none" roger setup claude --yes
like "is told" "$err" "json' is not a record of setup"
rm "$record"
printf '{"mcpServers": {}, "mcpServers": {"other": {}}}' >.mcp.json
roger setup claude --yes >../out
like "a name that comes twice is left" "$(cat ../out)" "mcp.json: left as it is: line 1: expected each name once"
roger setup --remove --yes >/dev/null
rm -rf .roger .mcp.json .codex && mkdir .codex
printf '\376\377\0#' >AGENTS.md
printf 'mcp_servers = { other = { command = "x" } }\n' >.codex/config.toml
roger setup codex --yes >../out
like "a text that is not UTF-8 is left" "$(cat ../out)" "AGENTS.md: left as it is: it is not UTF-8 text"
like "and a table in braces" "$(cat ../out)" "config.toml: left as it is: it is not written so"
roger setup --remove --yes >/dev/null
printf '[mcp_servers.roger2]\ncommand = "x"\n' >.codex/config.toml
printf '<!-- roger:begin -->\nmine\n' >AGENTS.md
cp AGENTS.md ../mine.md
roger setup codex --yes >/dev/null
check "another server of a like name is in nobody's way" grep -q '^.mcp_servers.roger]' .codex/config.toml
cp AGENTS.md ../once.md
roger setup codex --name other --yes >/dev/null
check "lines behind a mark that never ended are not ours" cmp AGENTS.md ../once.md
roger setup --remove --yes >/dev/null
check "and stay" cmp AGENTS.md ../mine.md
exits 64 "a folder of settings that moves with us" env CODEX_HOME=there "$ROGER" setup codex --scope user --yes
like "is named" "$err" "CODEX_HOME: expected a path that starts with '/'"
rm -rf .codex .roger AGENTS.md

# ------------------------------------------------------------ two at once
wrong=""
for round in 1 2 3 4 5; do
	mkdir ../many && cd ../many || exit 1
	roger init -q
	for tool in $every; do roger setup $tool --yes >/dev/null 2>>../many.err & done
	wait
	[ "$(ls -A)" = "$(printf '%s\n' .claude .codex .gemini .github .kilo .mcp.json .opencode .qwen .roger AGENTS.md)" ] ||
		wrong="$wrong made:$round"
	roger setup --remove --yes >/dev/null
	[ "$(ls -A)" = .roger ] || wrong="$wrong left:$round"
	cd ../project && rm -rf ../many
done
is "each waits for the other, and the record knows all" "$wrong$(cat ../many.err)" ""

# ------------------------------------------------------------ a path with everything in it
strange="$here/a \"q\" \\b 'c' \$d"
mkdir -p "$strange/.git/info" && cd "$strange" || exit 1
printf '{}' >"$HOME/.claude.json"
roger setup claude --scope stealth --yes >/dev/null
is "stealth writes it as JSON does" "$(json 'list(d["projects"])[0]' <"$HOME/.claude.json")" "$strange"
cp "$HOME/.claude.json" ../once.json
roger setup claude --scope stealth --yes >/dev/null
check "and finds it again" cmp "$HOME/.claude.json" ../once.json
like "doctor, too" "$(roger doctor)" "5 links to agents' tools tried, and fine"
roger setup --scope stealth --remove --yes >/dev/null
is "and takes it out" "$(cat "$HOME/.claude.json" .git/info/exclude 2>&1 | head -c 2)" "{}"
rm "$HOME/.claude.json"
cd ../project || exit 1

# ------------------------------------------------------------ a path that is long
folder=$(printf '%0200d' 0)
mkdir far && cd far || exit 1
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do
	mkdir "$folder" && cd "$folder" || exit 1
done
mkdir -p .git/info && cp -a . ../before
roger init -q
exits 0 "far below, all files are found" roger setup claude --scope stealth --yes
check "in the project" test -f .claude/settings.local.json
exits 0 "and out" roger setup --scope stealth --remove --yes
rm -r .roger
check "byte for byte from far below, too" diff -r . ../before
is "nothing is made on the way there" "$(cd "$here/project/far" && find . -mindepth 1 ! -name "$folder" | grep -v -e /.git -e /before)" ""
cd "$here/project" && rm -r far
CODEX_HOME=/$(printf '%04090d' 0) exits 77 "a place that is too long for a path" "$ROGER" setup codex --scope user --yes
like "is told" "$out" "config.toml: left as it is: look for "
"$ROGER" setup --scope user --remove --yes >/dev/null 2>&1

# ------------------------------------------------------------ a further working tree
if command -v git >/dev/null && git init -q ../trunk 2>/dev/null; then
	cd ../trunk || exit 1
	git -c user.name=a -c user.email=a@b commit -q --allow-empty -m start
	git worktree add -q ../branch 2>/dev/null
	mkdir ../branch/below && cd ../branch/below && roger init -q
	cp ../../trunk/.git/info/exclude ../../exclude
	exits 0 "stealth in a working tree, from a folder of it" roger setup claude --scope stealth --yes
	is "git sees nothing there either" "$(git status --porcelain --untracked-files=all)" ""
	exits 0 "out again" roger setup claude --scope stealth --remove --yes
	check "byte for byte" cmp ../../trunk/.git/info/exclude ../../exclude
	cd ../../project || exit 1
fi
PATH=$path
exits 66 "no tool is installed" env PATH=/usr/bin:/bin "$ROGER" setup --dry-run
like "asks for one" "$err" "name the one you want set up"
exits 0 "roger is not along PATH" env PATH=/usr/bin:/bin "$ROGER" setup claude --yes
like "is told" "$out" "note: roger is not along PATH"
exits 0 "roger is along PATH" env PATH="$here/bin:/usr/bin:/bin" "$ROGER" setup claude --yes
like "and named by its place there, which stays where another version comes" "$(cat .claude/settings.local.json)" "\"command\": \"$here/bin/roger hook claude stop\""
like "which doctor tries" "$(PATH="$here/bin:/usr/bin:/bin" "$ROGER" doctor)" "links to agents' tools tried, and fine"
mkdir ../launcher && printf '#!/bin/sh\n' >../launcher/roger && chmod +x ../launcher/roger
exits 0 "a script of that name is, such as npm's launcher" env PATH="$here/launcher:/usr/bin:/bin" "$ROGER" setup claude --yes
is "then settings name the program" "$(grep -c "\"command\": \"$ROGER hook claude" .claude/settings.local.json)" 6
done_testing
