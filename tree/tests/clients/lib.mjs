/*
 * lib - what the programs over the public client share: where it is, and TAP.
 */
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const require = createRequire(path.join(process.env.MCP_CLIENTS, 'package.json'));
export const load = (name) => import(pathToFileURL(require.resolve(name)));

let number = 0;
let failures = 0;

export function check(name, good, note) {
	number++;
	failures += good ? 0 : 1;
	console.log(`${good ? 'ok' : 'not ok'} ${number} - ${name}`);
	if (!good && note !== undefined) console.log('# ' + JSON.stringify(note)?.slice(0, 1500));
}

export function equal(name, got, expected) {
	check(name, isDeepStrictEqual(got, expected), { got, expected });
}

export function done() {
	console.log(`1..${number}`);
	process.exit(failures > 0 ? 1 : 0);
}
