/*
 * stdio - the scenarios of the conformance suite, which speaks HTTP only, again
 * over standard input and output, by the public client library.  Prints TAP.
 */
import path from 'node:path';
import { check, done, equal, load } from './lib.mjs';

const { Client } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
const fixture = path.join(process.env.ROGER_BUILD, 'mcp', 'tests', 'mcp_fixture');

async function refused(name, promise, code) {
	try {
		const got = await promise;
		check(name, false, got);
	} catch (error) {
		equal(name, error.code, code);
	}
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const text = (result) => result.content[0].text;

async function open(mode, capabilities = {}) {
	const client = new Client({ name: 'stdio-replay', version: '1.0.0' }, { capabilities, versionNegotiation: { mode } });
	const transport = new StdioClientTransport({ command: fixture, stderr: 'pipe' });
	client.onerror = (error) => check('the client understands everything', false, String(error));
	await client.connect(transport);
	return client;
}

const all = { elicitation: {}, sampling: {}, roots: {} };

function answer(client) {
	client.setRequestHandler('elicitation/create', async (request) => {
		const wanted = Object.entries(request.params.requestedSchema.properties ?? {});
		const content = {};
		for (const [name, schema] of wanted)
			content[name] = schema.default ?? (schema.type === 'boolean' ? true : schema.type === 'array' ? ['value1'] : 'Alice');
		return { action: 'accept', content };
	});
	client.setRequestHandler('sampling/createMessage', async () => ({
		role: 'assistant',
		content: { type: 'text', text: 'Paris' },
		model: 'test-model',
		stopReason: 'endTurn',
	}));
	client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///test/root', name: 'Test Root' }] }));
}

async function scenarios(era, mode, version) {
	const client = await open(mode, all);
	answer(client);
	const say = (name) => `${era} ${name}`;
	const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, options);

	equal(say('opening'), [client.getNegotiatedProtocolVersion(), client.getServerVersion().name], [version, 'mcp_fixture']);
	equal(say('instructions'), client.getInstructions(), 'A server for tests.');
	if (era === 'legacy') {
		equal(say('ping'), await client.ping(), {});
		equal(say('logging-set-level'), await client.setLoggingLevel('info'), {});
	} else {
		check(say('discover'), (await client.discover()).supportedVersions.includes(version));
	}

	const tools = (await client.listTools()).tools;
	check(say('tools-list'), tools.length > 25 && tools.every((tool) => tool.description && tool.inputSchema.type === 'object'));
	equal(say('tools-call-simple-text'), text(await call('test_simple_text')), 'This is a simple text response for testing.');
	equal(say('tools-call-image'), (await call('test_image_content')).content[0].mimeType, 'image/png');
	equal(say('tools-call-audio'), (await call('test_audio_content')).content[0].mimeType, 'audio/wav');
	equal(say('tools-call-embedded-resource'), (await call('test_embedded_resource')).content[0].resource.uri, 'test://embedded-resource');
	equal(say('tools-call-mixed-content'), (await call('test_multiple_content_types')).content.map((item) => item.type), ['text', 'image', 'resource']);
	const error = await call('test_error_handling');
	equal(say('tools-call-error'), [error.isError, text(error)], [true, 'This tool intentionally returns an error for testing']);
	await refused(say('an unknown tool'), call('no_such'), -32602);
	check(say('arguments that do not fit'), (await call('test_sampling', { prompt: 1 })).isError);
	equal(say('structured content'), (await call('own_structured')).structuredContent, { count: 3 });

	const steps = [];
	await call('test_tool_with_progress', {}, { onprogress: (progress) => steps.push(progress.progress) });
	equal(say('tools-call-with-progress'), steps, [0, 50, 100]);
	const notes = [];
	client.setNotificationHandler('notifications/message', (note) => notes.push(note.params.data));
	await call('test_tool_with_logging');
	equal(say('tools-call-with-logging'), notes.length, era === 'legacy' ? 3 : 0);

	equal(say('tools-call-sampling'), text(await call('test_sampling', { prompt: 'hi' })), 'LLM response: Paris');
	check(say('tools-call-elicitation'), text(await call('test_elicitation', { message: 'who?' })).startsWith('User response: '));
	check(say('elicitation-sep1034-defaults'), text(await call('test_elicitation_sep1034_defaults')).includes('"age":30'));
	check(say('elicitation-sep1330-enums'), text(await call('test_elicitation_sep1330_enums')).includes('action=accept'));
	equal(say('input-required-result-basic-elicitation'), text(await call('test_input_required_result_elicitation')), 'Hello, Alice!');
	equal(say('input-required-result-basic-sampling'), text(await call('test_input_required_result_sampling')), 'Sampled: Paris');
	check(say('input-required-result-basic-list-roots'), text(await call('test_input_required_result_list_roots')).includes('file:///test/root'));
	equal(say('input-required-result-request-state'), text(await call('test_input_required_result_request_state')), 'state-ok');
	equal(say('input-required-result-multiple-input-requests'), text(await call('test_input_required_result_multiple_inputs')), 'Alice: all three are there');
	equal(say('input-required-result-multi-round'), text(await call('test_input_required_result_multi_round')), 'Alice likes Alice');
	const asked = await client.getPrompt({ name: 'test_input_required_result_prompt' });
	equal(say('input-required-result-non-tool-request'), asked.messages[0].content.text, 'In the context of Alice.');

	equal(say('server-sse-multiple-streams'), (await Promise.all([1, 2, 3].map(() => call('own_wait', { ms: 50 })))).map(text), ['waited', 'waited', 'waited']);
	const abort = new AbortController();
	const waiting = call('own_wait', {}, { signal: abort.signal }).then(() => 'answered', () => 'cancelled');
	setTimeout(() => abort.abort(), 50);
	equal(say('cancel'), await waiting, 'cancelled');

	const resources = (await client.listResources()).resources;
	check(say('resources-list'), resources.length === 4 && resources.every((r) => r.uri && r.name && r.description));
	equal(say('resources-templates-list'), (await client.listResourceTemplates()).resourceTemplates[0].uriTemplate, 'test://template/{id}/data');
	equal(say('resources-read-text'), (await client.readResource({ uri: 'test://static-text' })).contents[0].text, 'This is the content of the static text resource.');
	check(say('resources-read-binary'), (await client.readResource({ uri: 'test://static-binary' })).contents[0].blob.length > 50);
	equal(say('resources-templates-read'), JSON.parse((await client.readResource({ uri: 'test://template/123/data' })).contents[0].text).id, '123');
	// The library tells -32002 of the legacy revisions as what became of it.
	await refused(say('sep-2164-resource-not-found'), client.readResource({ uri: 'test://nowhere' }), -32602);

	const prompts = (await client.listPrompts()).prompts;
	check(say('prompts-list'), prompts.length >= 5 && prompts.every((prompt) => prompt.description));
	const simple = await client.getPrompt({ name: 'test_simple_prompt' });
	equal(say('prompts-get-simple'), simple.messages[0].content.text, 'This is a simple prompt for testing.');
	const filled = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'hello', arg2: 'world' } });
	equal(say('prompts-get-with-args'), filled.messages[0].content.text, "Prompt with arguments: arg1='hello', arg2='world'");
	const embedded = await client.getPrompt({ name: 'test_prompt_with_embedded_resource', arguments: { resourceUri: 'test://x' } });
	equal(say('prompts-get-embedded-resource'), embedded.messages[0].content.resource.uri, 'test://x');
	equal(say('prompts-get-with-image'), (await client.getPrompt({ name: 'test_prompt_with_image' })).messages[0].content.type, 'image');
	const completed = await client.complete({ ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'par' } });
	equal(say('completion-complete'), completed.completion.values, ['paris', 'park', 'party']);

	await changes(client, era, say, call);
	await client.close();
}

async function changes(client, era, say, call) {
	const uri = 'test://watched-resource';
	const seen = [];
	let subscription;

	client.setNotificationHandler('notifications/resources/updated', (note) => seen.push(note.params.uri));
	client.setNotificationHandler('notifications/tools/list_changed', () => seen.push('tools'));
	client.setNotificationHandler('notifications/prompts/list_changed', () => seen.push('prompts'));
	if (era === 'legacy') {
		await client.subscribeResource({ uri });
	} else {
		subscription = await client.listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] });
		equal(say('subscription acknowledged'), subscription.honoredFilter, { toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] });
	}
	await call('own_touch', { uri });
	await call('test_trigger_tool_change');
	await call('test_trigger_prompt_change');
	for (let i = 0; i < 100 && seen.length < 3; i++) await sleep(50);
	equal(say('resources-subscribe, list changes'), seen, [uri, 'tools', 'prompts']);
	if (era === 'legacy') await client.unsubscribeResource({ uri });
	else await subscription.close();
	seen.length = 0;
	await call('own_touch', { uri });
	await sleep(50);
	equal(say('resources-unsubscribe'), seen, []);
}

await scenarios('legacy', 'legacy', '2025-11-25');
await scenarios('modern', { pin: '2026-07-28' }, '2026-07-28');
const auto = await open('auto');
equal('a client that takes both comes in the modern way', auto.getNegotiatedProtocolVersion(), '2026-07-28');
await refused('input-required-result-capability-check', auto.callTool({ name: 'test_missing_capability', arguments: {} }), -32021);
await auto.close();
done();
