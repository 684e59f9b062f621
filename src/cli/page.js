"use strict";
const by = id => document.getElementById(id);

/* ------------------------------------------------------------- search -- */
const box = by("q");
const rows = [...document.querySelectorAll("article, tbody tr")].map(e => [e, e.textContent.toLowerCase()]);
function search() {
	const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
	let found = 0, all = 0;
	for (const [e, text] of rows) {
		e.hidden = !words.every(word => text.includes(word));
		all += e.localName == "article";
		found += e.localName == "article" && !e.hidden;
	}
	by("found").textContent = words.length ? found + " of " + all + " messages" : "";
}
function follow() {
	if (!location.hash.startsWith("#q=")) return;
	try { box.value = decodeURIComponent(location.hash.slice(3)); } catch { return; }
	search();
}
box.oninput = () => {
	search();
	try { history.replaceState(null, "", "#q=" + encodeURIComponent(box.value)); } catch {}
};
onhashchange = follow;
onkeydown = e => {
	if (e.key != "/" || e.target == box || e.ctrlKey || e.metaKey || e.altKey) return;
	e.preventDefault();
	box.focus();
};
by("search").hidden = false;
follow();

/* --------------------------------------------------------------- seal -- */
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

/* The root of a journal's lines, from those that are here and the digests of the others. */
async function rootOf(cited, count) {
	const lines = new Map(cited.numbers.map((number, i) => [number, cited.lines[i]]));
	const proof = cited.proof.match(/.{64}/g) || [];
	let next = 0;
	async function node(first, count) {
		if (!cited.numbers.some(number => number >= first && number < first + count)) return hex(proof[next++]);
		if (count == 1) return digest(0, utf8(lines.get(first)));
		let half = 1;
		while (half * 2 < count) half *= 2;
		return digest(1, await node(first, half), await node(first + half, count - half));
	}
	const root = await node(1, count);
	if (next != proof.length || cited.numbers.some(number => number < 1 || number > count)) throw Error("proof");
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
	for (const cited of data.cited) {
		const entry = seal.entries.find(e => e.kind == "journal" && e.file == cited.file);
		let fits = false;
		try { fits = equal(await rootOf(cited, entry.lines || 0), hex(entry.root)); } catch {}
		if (!fits) return ["broken", "The lines of " + cited.file + " are not the ones that were sealed."];
		count += cited.numbers.length;
	}
	return count ? ["fits", count + " journal lines, all that this page carries, are sealed lines, each at its place."]
		: ["unknown", "The page carries no sealed lines."];
}

/* Is what is shown what the lines say? */
function messages(data) {
	const known = new Map();
	let good = 0, open = 0;
	for (const cited of data.cited)
		for (const line of cited.file == "messages.jsonl" ? cited.lines : []) {
			const message = JSON.parse(line);
			known.set(message.id, message);
		}
	for (const e of document.querySelectorAll("article")) {
		const id = e.id.slice(2), message = known.get(id), text = name => e.querySelector(name).textContent;
		if (!message) open++;
		else if (message.content === text(".body") && message.from_phase === text(".from") && message.to_phase === text(".to")) good++;
		else return ["broken", "The message " + id + " is not shown as its line has it."];
	}
	return open ? ["unknown", good + " messages are shown as their sealed lines have them; of " + open + " others no sealed line is here (later than the seal, or archived)."]
		: ["fits", "All " + good + " messages are shown as their sealed lines have them: sender, recipient and text."];
}

async function check() {
	const data = JSON.parse(by("data").textContent);
	if (!data.seal) return;
	const results = [];
	try {
		const seal = JSON.parse(data.seal);
		if (!globalThis.crypto || !crypto.subtle) throw 0;
		results.push(await signature(data, seal.public_key), await lines(data, seal), messages(data));
	} catch (e) {
		results.push(e === 0 ? ["unknown", "This browser gives no cryptography to a page like this: nothing was checked."]
			: ["broken", "The seal or a line cannot be read."]);
	}
	const has = result => results.some(r => r[0] == result);
	const verdict = has("broken") ? "broken" : has("unknown") ? "unknown" : "fits";
	by("verdict").textContent = { fits: "The seal fits.", broken: "The seal does NOT fit.", unknown: "Not all could be checked." }[verdict];
	by("results").replaceChildren(...results.map(([result, text]) => {
		const e = document.createElement("li");
		e.className = result;
		e.textContent = text;
		return e;
	}));
	by("seal").dataset.result = verdict;
}
check();
