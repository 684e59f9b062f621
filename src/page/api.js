/* api - the server's verbs, who we are to it, and its events. */

import { values, verbs } from "./names.js";

/* What the server said, in its words (RFC 9457). */
export class Problem extends Error {
	constructor(status, said) {
		super(said.detail || "the server answered " + status);
		this.status = status;
		this.member = said.member;
		this.kind = (said.type || "").replace("urn:roger:error:", "");
	}
}

export const state = { session: null, lost: false };

async function call(method, path, body, headers, signal) {
	let answer, said;
	try {
		answer = await fetch(path, { method, body, signal, headers: { Accept: "application/json", ...headers }, credentials: "same-origin", cache: "no-store", redirect: "error" });
		said = /json/.test(answer.headers.get("Content-Type")) ? await answer.json() : {};
	} catch (e) {
		if (e.name == "AbortError") throw e;
		throw new Problem(0, { detail: "no answer: is `roger serve` running?" });
	}
	/* What takes long is fetched when it is there. */
	if (answer.status == 409 && said.key) {
		await new Promise(later => setTimeout(later, 1000));
		return call(method, path, body, { ...headers, "Idempotency-Key": said.key }, signal);
	}
	if (!answer.ok) throw new Problem(answer.status, said);
	return said;
}

/* A slip of ours is found at once, and not by a server that leaves out what it does not know. */
function checked(verb, members) {
	for (const name of Object.keys(members || {}))
		if (!verbs[verb]?.includes(name)) throw new Problem(0, { detail: `${verb}: there is no member '${name}'` });
	return members;
}

function query(members) {
	const words = new URLSearchParams();
	for (const [name, value] of Object.entries(members || {}))
		for (const one of Array.isArray(value) ? value : [value])
			if (one !== undefined && one !== "" && one !== false) words.append(name, one);
	return words.size ? "?" + words : "";
}

export const get = (verb, members, signal) => call("GET", "/v1/" + verb + query(checked(verb, members)), undefined, undefined, signal);
/* With a key of our own, so that the same twice is stored once. */
export const newKey = () => "page:" + crypto.randomUUID() + ":1";
export const post = (verb, members, key) =>
	call("POST", "/v1/" + verb, JSON.stringify(checked(verb, members)), { "Content-Type": "application/json", ...(key ? { "Idempotency-Key": key } : {}) });

let table;
export const openapi = () => table ||= call("GET", "/openapi.json").catch(e => { table = undefined; throw e; });

/* -------------------------------------------------------------------- who we are -- */

export const login = key => call("POST", "/login", JSON.stringify({ key }), { "Content-Type": "application/json" });
export const logout = () => call("POST", "/logout", "{}", { "Content-Type": "application/json" });

const RIGHTS = Object.keys(values.right);
/* Who sees only their own mail acts like others. */
const held = () => state.session?.right === "own" ? "act" : state.session?.right || "look";
export const may = right => RIGHTS.indexOf(held()) >= RIGHTS.indexOf(right);
/* Who writes: whose login it is, also where that one administers. */
export const self = () => state.session?.name || "human";
/* Ours to deal with; who administers does so in place of the others, by name. */
export const mayAs = (...names) => may("administer") || (may("act") && names.includes(self()));

export async function whoami() {
	state.session = await call("GET", "/v1/session");
	return state.session;
}

/* ----------------------------------------------------------------------- events -- */

/*
 * One stream for all tabs of this browser: the tab that holds the lock reads it and tells
 * the others.  A tab that is hidden neither holds the lock nor listens.
 */
export function follow(told, changed) {
	const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("roger-events") : null;
	let source, leaving, missing = false;

	function open() {
		source = new EventSource("/v1/events");
		const pass = event => {
			const what = { kind: event.type, id: event.lastEventId };
			told(what);
			channel?.postMessage(what);
		};
		for (const kind of ["message", "activity", "reset"]) source.addEventListener(kind, pass);
		/* A stream that is a new one begins now: what came before is looked for. */
		source.addEventListener("open", () => { changed(true); if (missing) told({ kind: "reset" }); missing = false; });
		/* The browser tries again by itself, but not after an answer that is an error. */
		source.onerror = () => {
			changed(false);
			missing = true;
			const { signal } = leaving || {}, lost = source;
			if (lost.readyState == EventSource.CLOSED) setTimeout(() => { if (signal && !signal.aborted && lost == source && !state.lost) open(); }, 3000);
		};
	}
	function start() {
		if (leaving) return;
		leaving = new AbortController();
		const { signal } = leaving;
		changed(true);
		const hold = () => new Promise(resolve => {
			open();
			signal.addEventListener("abort", () => { source.close(); resolve(); });
		});
		if (navigator.locks) navigator.locks.request("roger-events", { signal }, hold).catch(() => {});
		else hold();
	}
	function stop() {
		leaving?.abort();
		leaving = undefined;
	}
	if (channel) channel.onmessage = event => { if (leaving) told(event.data); };
	document.addEventListener("visibilitychange", () => {
		if (document.hidden) return stop();
		start();
		told({ kind: "reset" });
	});
	addEventListener("pagehide", stop);
	addEventListener("pageshow", () => { if (!document.hidden) start(); });
	if (!document.hidden) start();
}
