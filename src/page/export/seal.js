/* seal - does a seal fit the lines that are here, and are the messages what these say? */

const hex = text => Uint8Array.from(text.match(/../g) || [], digits => parseInt(digits, 16));
const utf8 = text => new TextEncoder().encode(text);
const equal = (a, b) => a.length == b.length && a.every((x, i) => x == b[i]);

async function digest(kind, ...parts) {
	const all = new Uint8Array(1 + parts.reduce((sum, part) => sum + part.length, 0));
	let at = 1;
	all[0] = kind;
	for (const part of parts) {
		all.set(part, at);
		at += part.length;
	}
	return new Uint8Array(await crypto.subtle.digest("SHA-256", all));
}

const numbersOf = cited => cited.numbers.split(" ").filter(Boolean).map(Number);
/* The root of a journal's lines, from those that are here and the digests of the others. */
async function rootOf(cited, count) {
	const numbers = numbersOf(cited), lines = new Map(numbers.map((number, i) => [number, cited.lines[i]]));
	const proof = cited.proof.match(/.{64}/g) || [];
	let next = 0;
	async function node(first, count) {
		if (!numbers.some(number => number >= first && number < first + count)) return hex(proof[next++]);
		if (count == 1) return digest(0, utf8(lines.get(first)));
		let half = 1;
		while (half * 2 < count) half *= 2;
		return digest(1, await node(first, half), await node(first + half, count - half));
	}
	const root = await node(1, count);
	if (next != proof.length || numbers.some(number => number < 1 || number > count)) throw Error("proof");
	return root;
}

async function signature(data, key) {
	try {
		key = await crypto.subtle.importKey("raw", hex(key), "Ed25519", false, ["verify"]);
	} catch {
		return ["unknown", "This browser cannot check the signature of the seal (no Ed25519)."];
	}
	return await crypto.subtle.verify("Ed25519", key, hex(data.signature), utf8(data.seal))
		? ["fits", "The seal is signed with its key."] : ["broken", "The signature does not fit the seal: it proves nothing."];
}

async function lines(data, seal) {
	let count = 0;
	for (const cited of data.verified.cited) {
		const entry = seal.entries.find(e => e.kind == "journal" && e.file == cited.file);
		let fits = false;
		try { fits = equal(await rootOf(cited, entry.lines || 0), hex(entry.root)); } catch {}
		if (!fits) return ["broken", "The lines of " + cited.file + " are not the ones that were sealed."];
		count += numbersOf(cited).length;
	}
	return count ? ["fits", count + " journal lines, all that this page carries, are sealed lines, each at its place."]
		: ["unknown", "The page carries no sealed lines."];
}

/* Is what is shown what the lines say? */
function messages(data, shown) {
	const known = new Map();
	let good = 0, open = 0;
	for (const cited of data.verified.cited)
		for (const line of cited.file == "messages.jsonl" ? cited.lines : []) {
			const message = JSON.parse(line);
			known.set(message.id, message);
		}
	for (const m of shown) {
		const message = known.get(m.id);
		if (!message) open++;
		else if (message.content === m.content && message.from_phase === m.from && message.to_phase === m.to) good++;
		else return ["broken", "The message " + m.id + " is not shown as its line has it."];
	}
	return open ? ["unknown", good + " messages are shown as their sealed lines have them; of " + open + " others no sealed line is here (later than the seal, or archived)."]
		: ["fits", "All " + good + " messages are shown as their sealed lines have them: sender, recipient and text."];
}

/* What each check said: [["fits" | "broken" | "unknown", words], ...]; shown: id, from, to and content, as they are shown. */
export async function check(data, shown) {
	try {
		const seal = JSON.parse(data.seal);
		if (!globalThis.crypto || !crypto.subtle) return [["unknown", "This browser gives no cryptography to a page like this: nothing was checked."]];
		return [await signature(data, seal.public_key), await lines(data, seal), messages(data, shown)];
	} catch {
		return [["broken", "The seal or a line cannot be read."]];
	}
}
