/*
 * roger - roger's own server, driven by the public client library with random
 * calls in both eras: half characters, ten megabytes, cancelled waits, kill -9.
 * Every call is answered; texts come back exactly.  Prints TAP.
 */
import { execFileSync } from 'node:child_process';
import { check, done, equal, load } from './lib.mjs';

const { Client } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');
const roger = process.env.ROGER;
const calls = Number(process.env.ROGER_CALLS ?? 2000);

/* The same sequence each time. */
let state = Number(process.env.ROGER_SEED ?? 13);
function below(most) {
	state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
	return Math.floor((state / 2 ** 32) * most);
}
const one = (list) => list[below(list.length)];
const pieces = ['a', ' ', '\n', '\r\n', '\t', '"', '\\', '\u0001', '\u001b[31m', '\u0085', '\u00e9', '\u202e', '\u2066', '\u200d', '\u200c', '\u200f',
	'\ufeff', '\u2028', '\u00ad', '\u65e5\u672c', '\u{1f468}\u200d\u{1f469}\u200d\u{1f467}', '\u0645\u06cc\u200c\u062e', '\u0915\u094d\u200d\u0937', '\u{e0041}', '\u{10ffff}'];
const someText = () => Array.from({ length: 1 + below(30) }, () => one(pieces)).join('');
const text = (result) => result.content.map((item) => item.text).join('');

async function open(mode) {
	const client = new Client({ name: 'random', version: '1.0.0' }, { versionNegotiation: { mode } });
	const transport = new StdioClientTransport({ command: roger, args: ['mcp', '--as', 'bob'], stderr: 'pipe' });
	const odd = [];
	client.onerror = (error) => odd.push(String(error));
	await client.connect(transport);
	return { client, transport, odd };
}

/* How it ended: the result, or the code of the error. */
async function settled(promise) {
	try {
		return { result: await promise };
	} catch (error) {
		return { error: error.code ?? error.name, words: String(error.message) };
	}
}

function someCall(client, known) {
	const call = (name, args, options) => settled(client.callTool({ name, arguments: args }, { timeout: 60000, ...options }));
	const content = someText();
	return one([
		async () => {
			const end = await call('send', { to: one(['bob', ['bob']]), content });
			const message = end.result?.structuredContent?.messages[0].id;
			known.set(message, content);
			return message && !end.result.isError ? undefined : end;
		},
		async () => {
			const end = await call('send', { to: ['bob'], content: one([`${content}\ud83d`, `\ude00${content}`, `a\ud83d\ud83d\ude00`]) });
			return end.result?.isError && /half a character at byte \d+/.test(text(end.result)) ? undefined : end;
		},
		async () => {
			const end = await call('send', { to: ['bob'], content: 'x', key: `${content}\u202eevil` });
			return end.result?.isError && text(end.result).includes('key') ? undefined : end;
		},
		async () => {
			const wanted = one([...known.keys(), undefined]);
			if (!wanted) return undefined;
			const end = await call('thread', { id: wanted });
			return end.result?.structuredContent?.messages[0].content === known.get(wanted) ? undefined : end;
		},
		async () => {
			const abort = new AbortController();
			const waiting = call('wait', { timeout: '10m', issue: 'nobody-writes' }, { signal: abort.signal });
			await call('agents', {});
			abort.abort();
			return (await waiting).error ? undefined : 'not cancelled';
		},
		async () => {
			const end = await call(one(['inbox', 'agents', 'dead_letters', 'run', 'ack', 'wait']), one([{}, { limit: 3 }, { ids: [content] }, { timeout: '1ms' }, { action: 'status' }]));
			return end.result ? undefined : end;
		},
		async () => {
			const end = await settled(client.callTool({ name: content, arguments: {} }));
			return end.error === -32602 ? undefined : end;
		},
		async () => {
			const end = await settled(one([() => client.listTools(), () => client.listResources(), () => client.readResource({ uri: 'roger://dead-letters' }),
				() => client.getPrompt({ name: 'check_inbox' })])());
			return end.result ? undefined : end;
		},
	]);
}

async function play(era, mode, count) {
	const { client, odd } = await open(mode);
	const known = new Map();
	const bad = [];
	for (let done = 0; done < count; ) {
		const together = Math.min(count - done, 1 + below(8));
		const ends = await Promise.all(Array.from({ length: together }, () => someCall(client, known)()));
		bad.push(...ends.filter((end) => end !== undefined));
		done += together;
	}
	check(`${era}: ${count} random calls are each answered as they should`, bad.length === 0, bad.slice(0, 3));
	check(`${era}: and ${known.size} texts are exact`, known.size > count / 20);
	const long = await settled(client.callTool({ name: 'send', arguments: { to: ['bob'], content: '{"id":"\\'.repeat(10 << 17) } }, { timeout: 60000 }));
	check(`${era}: ten megabytes are refused with the limit`, /longer than 4194304 bytes/.test(long.words), long);
	equal(`${era}: half a character for a resource`, (await settled(client.readResource({ uri: 'roger://inbox/\ud83d' }))).error, -32700);
	check(`${era}: the client understood everything`, odd.length === 0, odd.slice(0, 3));
	await client.close();
}

async function kill(era, mode) {
	const { client, transport } = await open(mode);
	const sent = Array.from({ length: 40 }, (_, i) => settled(client.callTool({ name: 'send', arguments: { to: ['killed'], content: `${era} ${i}` } })));
	await sent[below(20)];
	process.kill(transport.pid, 'SIGKILL');
	const ends = await Promise.all(sent);
	check(`${era}: a killed server ends each call`, ends.every((end) => end.result || end.error), ends);
	const list = execFileSync(roger, ['list', '--to', 'killed', '--jsonl', '--limit', '1000']).toString().split('\n').filter(Boolean).map((line) => JSON.parse(line));
	const stored = new Map(list.map((message) => [message.id, message.content]));
	const lost = ends.filter((end, i) => end.result && stored.get(end.result.structuredContent.messages[0].id) !== `${era} ${i}`);
	check(`${era}: and what it said is stored is`, lost.length === 0 && ends.some((end) => end.result), lost);
	await client.close();
}

for (const [era, mode] of [['legacy', 'legacy'], ['modern', { pin: '2026-07-28' }]]) {
	await play(era, mode, calls / 2);
	await kill(era, mode);
}
done();
