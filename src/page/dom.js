/* dom - elements, and text of agents shown so that nothing in it can hide. */

/* h("a", { class: "x", href: "/", onclick: f }, "text", element, ...) */
export function h(name, props, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(props || {})) {
		if (value === undefined || value === null || value === false) continue;
		if (typeof value == "function") e.addEventListener(key.slice(2), value);
		else e.setAttribute(key, value === true ? "" : value);
	}
	e.append(...children.flat(Infinity).filter(child => child !== undefined && child !== null && child !== false));
	return e;
}

/* ------------------------------------------------------- what cannot be seen -- */

/* Joined pictures are one character to a reader; whatever else has no shape of its own is shown. */
const HIDDEN = /\p{Extended_Pictographic}(?:[\ufe0f\u{1f3fb}-\u{1f3ff}]?\u200d\p{Extended_Pictographic})+|[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0e\uffa0\u{e0100}-\u{e01ef}]/gu;
const NAMES = {
	0x00: "null", 0x07: "bell", 0x08: "backspace", 0x0d: "carriage return", 0x1b: "escape", 0x7f: "delete", 0xad: "soft hyphen",
	0x200b: "zero width space", 0x200c: "zero width non-joiner", 0x200d: "zero width joiner", 0x200e: "left-to-right mark", 0x200f: "right-to-left mark",
	0x202a: "left-to-right embedding", 0x202b: "right-to-left embedding", 0x202c: "pop directional formatting", 0x202d: "left-to-right override",
	0x202e: "right-to-left override", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate", 0x2068: "first strong isolate",
	0x2069: "pop directional isolate", 0xfeff: "byte order mark",
};
const code = character => "U+" + character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
const isPicture = found => /^\p{Extended_Pictographic}/u.test(found);

/* On one line, with what cannot be seen spelled out. */
export function line(text) {
	return String(text ?? "").replace(HIDDEN, found => isPicture(found) ? found : "\u2039" + code(found) + "\u203a").replace(/\s+/g, " ").trim();
}

/* Into an element: its text stays what was sent; what cannot be seen has a label beside it. */
export function marked(element, text) {
	let at = 0;
	for (const found of text.matchAll(HIDDEN)) {
		if (isPicture(found[0])) continue;
		element.append(text.slice(at, found.index));
		element.append(h("span", { class: "x", "data-code": code(found[0]), title: code(found[0]) + " " + (NAMES[found[0].codePointAt(0)] || "not visible") }, found[0]));
		at = found.index + found[0].length;
	}
	element.append(text.slice(at));
	return element;
}

/* ---------------------------------------------------------------------- times -- */

let zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
let instants, clocks;
export function setZone(name) {
	try {
		instants = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium", timeZone: name });
		clocks = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium", timeZone: name });
		zone = name;
	} catch { setZone("UTC"); }
}
setZone(zone);
export const zoneName = () => zone;

export const ms = time => typeof time == "number" ? time : Date.parse(time);
export const instant = time => instants.format(ms(time)) + " " + zone;
export const clock = time => clocks.format(ms(time));

/* "12 s", "5 min", "3 h", "2 d", as `roger top` has it. */
export function span(length) {
	const s = Math.max(0, Math.floor(length / 1000));
	if (s < 60) return s + " s";
	if (s < 3600) return Math.floor(s / 60) + " min";
	if (s < 48 * 3600) return Math.floor(s / 3600) + " h";
	return Math.floor(s / 86400) + " d";
}
export function ago(time) {
	const length = Date.now() - ms(time);
	return length < 0 ? "in " + span(-length) : length < 1000 ? "now" : span(length);
}

export function setTime(e, time) {
	if (!time) {
		e.textContent = "";
		e.removeAttribute("datetime");
		e.title = "";
		return e;
	}
	e.dateTime = new Date(ms(time)).toISOString();
	e.textContent = ago(time) + (e.dataset.suffix && ms(time) < Date.now() - 1000 ? e.dataset.suffix : "");
	e.title = instant(time);
	return e;
}
export const when = (time, suffix) => setTime(h("time", { "data-suffix": suffix }), time);
export function tickTimes() {
	for (const e of document.querySelectorAll("time[datetime]")) setTime(e, e.dateTime);
}

/* ------------------------------------------------------------------- commands -- */

const quoted = word => /^[\w@%+=:,.\/-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";
export const command = words => words.filter(word => word !== undefined && word !== "").map(word => quoted(String(word))).join(" ");

/* The words of a line as a shell splits them. */
export function split(text) {
	return [...text.matchAll(/(?:[^\s'"]|'[^']*'?|"[^"]*"?)+/g)].map(found => found[0].replace(/'([^']*)'?|"([^"]*)"?/g, (_, a, b) => a ?? b));
}

/* A browser takes the names "." and ".." out of a path, also when they are written as %2e. */
const segment = name => encodeURIComponent(/^\.\.?$/.test(name) ? name.replaceAll(".", "%2e") : name);
export const unsegment = parts => { const name = parts.map(decodeURIComponent).join("/"); return /^(%2e){1,2}$/.test(name) ? decodeURIComponent(name) : name; };
let places = (view, name, query) => {
	const words = new URLSearchParams(Object.entries(query || {}).filter(([, value]) => value !== undefined && value !== "")).toString();
	return "/" + view + (name === undefined ? "" : "/" + segment(name)) + (words ? "?" + words : "");
};
export const path = (view, name, query) => places(view, name, query);
/* For a page that has other places, or none (undefined). */
export function setPlaces(to) { places = to; }

/* One answer of the person; buttons: [label, value, class]. */
export function ask(title, body, buttons) {
	return new Promise(resolve => {
		const box = h("dialog", { class: "ask", "aria-labelledby": "ask-title", onclose: () => { box.remove(); resolve(box.returnValue); } },
			h("h2", { id: "ask-title" }, title), body,
			h("p", { class: "buttons" }, buttons.map(([label, value, kind]) => h("button", { type: "button", class: kind, onclick: () => box.close(value) }, label))));
		document.body.append(box);
		box.showModal();
	});
}

let saying;
/* What happened, for eyes and for screen readers. */
export function say(text, kind) {
	const e = document.getElementById("said");
	e.textContent = text;
	e.className = kind || "";
	clearTimeout(saying);
	saying = setTimeout(() => { e.textContent = ""; }, kind ? 15000 : 5000);
}

export async function copy(text) {
	try { await navigator.clipboard.writeText(text); say("Copied: " + text); }
	catch { say("This browser does not allow it: select and copy it", "bad"); }
}
