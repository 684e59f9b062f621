/* palette - any view and any verb by its name; the keys; and a form for each verb. */
import { commandOf } from "./causes.js";
import { losses } from "./names.js";
import { h, ask, command, line, marked, path } from "./dom.js";
import { get, may, newKey, openapi, post, self } from "./api.js";

/* ------------------------------------------------------------------- the palette -- */

async function entries(nav) {
	const found = nav.map(([name, to, key]) => ({ name, what: "view", to, key: "g " + key }));
	if (may("act")) found.push({ name: "send", what: "write a message", to: "/send" });
	const table = await openapi();
	for (const [where, methods] of Object.entries(table.paths)) {
		const verb = /^\/v1\/(\w+)$/.exec(where)?.[1], does = Object.values(methods)[0];
		if (verb && !HAVE_VIEWS.has(verb) && mayUse(does)) found.push({ name: verb.replaceAll("_", " "), what: does.summary, to: path("verb", verb) });
	}
	return found;
}
const HAVE_VIEWS = new Set(["send", "reply", "inbox", "list", "count", "show", "trace", "thread", "timeline", "runs", "dead_letters", "activity", "status", "wait",
	"settle", "stale", "accept", "looked", "arrive"]); /* dismiss does the first three; hooks the others */
const mayUse = does => may(does["x-right"] || (does.requestBody ? "act" : "look"));

/* In the order of the letters typed, the nearest first. */
function fits(entry, typed) {
	const name = entry.name + " " + entry.what, at = name.indexOf(typed);
	return at < 0 ? -1 : at == 0 ? 0 : at < entry.name.length ? 1 : 2;
}

export async function palette(page, nav) {
	if (document.querySelector("dialog[open]")) return;
	const input = h("input", { type: "text", role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-label": "Go to a view or a verb", placeholder: "Go to a view, or any verb of roger", autocomplete: "off", spellcheck: "false" });
	const list = h("ul", { id: "found", role: "listbox", "aria-label": "Found" });
	const box = h("dialog", { class: "palette", "aria-label": "Palette", onclose: () => box.remove() }, input, list);
	let all = [], shown = [], at = 0;
	const go = entry => { box.close(); if (entry) page.go(entry.to); };
	const draw = () => {
		const typed = input.value.trim().toLowerCase();
		shown = all.map(e => [fits(e, typed), e]).filter(([n]) => n >= 0).sort((a, b) => a[0] - b[0]).map(([, e]) => e).slice(0, 60);
		at = Math.max(0, Math.min(at, shown.length - 1));
		list.replaceChildren(...shown.map((e, i) => h("li", { id: "found-" + i, role: "option", "aria-selected": i == at ? "true" : "false", onclick: () => go(e) }, h("b", {}, e.name), h("span", {}, e.what), e.key && h("kbd", {}, e.key))));
		input.setAttribute("aria-activedescendant", shown.length ? "found-" + at : "");
		list.children[at]?.scrollIntoView({ block: "nearest" });
	};
	input.addEventListener("input", () => { at = 0; draw(); });
	input.addEventListener("keydown", event => {
		const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
		if (step) { at += step; event.preventDefault(); draw(); }
		if (event.key == "Enter") { event.preventDefault(); go(shown[at]); }
	});
	box.addEventListener("click", event => { if (event.target == box) box.close(); });
	document.body.append(box);
	box.showModal();
	try { all = await entries(nav); draw(); } catch (e) { page.failed(e); }
}

/* -------------------------------------------------------------------------- help -- */

const KEYS = [["j k", "next, previous"], ["Enter", "open"], ["Esc", "back"], ["/", "filter, in the words of the command line"], ["Ctrl K", "any view, any verb"],
	["x", "select"], ["c", "write a message"], ["r", "reply"], ["e", "acknowledge"], ["g n", "now"], ["g i", "inbox"], ["g t", "timeline"], ["g h", "threads"], ["g r", "runs"],
	["g d", "dead letters"], ["g l", "list and search"], ["g a", "activity"], ["g s", "status"], ["?", "this help"]];

export function help(on, set) {
	const box = h("input", { type: "checkbox", id: "keys-on", onchange: () => set(box.checked) });
	box.checked = on;
	ask("Keys", h("div", {}, h("dl", { class: "keys" }, KEYS.map(([key, what]) => [h("dt", {}, key.split(" ").map(k => h("kbd", {}, k))), h("dd", {}, what)])),
		h("label", { class: "check" }, box, "single-letter shortcuts (never in a field)")), [["Close", "", "main"]]);
}

/* -------------------------------------------------------------------- a verb's form -- */

/* A verb that loses nothing and writes only adds a record. */
export async function confirmLoss(verb, what) {
	return !losses[verb] || await ask(what, h("p", {}, losses[verb]), [["Cancel", ""], [verb[0].toUpperCase() + verb.slice(1).replaceAll("_", " "), "yes", "danger"]]) == "yes";
}

function fieldOf(name, schema, required, about) {
	const kinds = [schema.type].flat().filter(kind => kind != "null"), words = schema.enum?.filter(word => word !== null);
	const props = { name, id: "f-" + name, required: required && !kinds.includes("boolean") };
	let input;
	if (words) input = h("select", props, h("option", { value: "" }, ""), words.map(word => h("option", {}, word)));
	else if (kinds.includes("boolean")) input = h("input", { ...props, type: "checkbox" });
	else if (name == "content" || name == "text" || kinds.includes("object")) input = h("textarea", { ...props, rows: 4 });
	else input = h("input", { ...props, autocomplete: "off", spellcheck: "false" });
	input.kinds = kinds;
	const title = h("span", {}, name.replaceAll("_", " "), props.required && " *"), said = h("small", {}, about || schema.description || "");
	return input.type == "checkbox" ? h("label", { class: "check" }, input, title, said) : h("label", {}, title, input, said);
}
function valueOf(input) {
	if (input.type == "checkbox") return input.checked || undefined;
	const text = input.value;
	if (!text) return undefined;
	if (input.kinds.includes("array")) return text.split(/[\s,]+/).filter(Boolean);
	if (input.kinds.includes("object")) return JSON.parse(text);
	if (input.kinds.includes("integer") && /^-?\d+$/.test(text)) return Number(text);
	return text;
}
/* Any reply: an object as its members, a list of objects as a table. */
export function shown(value) {
	if (value === null || value === undefined) return h("span", { class: "dim" }, "\u2013");
	if (Array.isArray(value) && value.length && typeof value[0] == "object") {
		const names = [...new Set(value.flatMap(Object.keys))].filter(name => value.some(v => v[name] !== null && v[name] !== undefined));
		return h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table" }, h("table", {}, h("thead", {}, h("tr", {}, names.map(name => h("th", { scope: "col" }, name)))),
			h("tbody", {}, value.slice(0, 200).map(row => h("tr", {}, names.map(name => h("td", {}, shown(row[name]))))))));
	}
	if (Array.isArray(value)) return h("span", {}, value.length ? value.map(line).join(", ") : "none");
	if (typeof value == "object") return h("dl", { class: "facts" }, Object.entries(value).filter(([name]) => name != "format").map(([name, v]) => [h("dt", {}, name.replaceAll("_", " ")), h("dd", {}, shown(v))]));
	return marked(h("span", {}), String(value));
}

export const verb = {
	nav: "verb",
	open(page, name, query, signal) {
		const answer = h("section", { "aria-live": "polite" });
		page.title(name.replaceAll("_", " "));
		page.command(...commandOf(name));
		return {
			async look(again) {
				if (again) return;
				const does = Object.values((await openapi()).paths["/v1/" + name] || {})[0];
				if (!does) { page.main.replaceChildren(h("p", { class: "trouble" }, "No verb of this name.")); return; }
				page.facts(does.summary);
				const writes = Boolean(does.requestBody), schema = does.requestBody?.content["application/json"].schema;
				const fields = writes ? Object.entries(schema.properties).map(([n, s]) => fieldOf(n, s, schema.required?.includes(n), s.description))
					: (does.parameters || []).map(p => fieldOf(p.name, p.schema, p.required, p.description));
				const form = h("form", { class: "fields", hidden: !writes && !fields.length }, fields, h("p", { class: "buttons" }, h("button", { class: "main" }, writes ? "Do it" : "Look")));
				for (const input of form.elements) {
					if (input.name && query[input.name]) { if (input.type == "checkbox") input.checked = query[input.name] == "true"; else input.value = query[input.name]; }
					if ((input.name == "agent" || input.name == "from") && writes && !input.value) input.value = self();
				}
				const read = () => Object.fromEntries([...form.elements].filter(e => e.name).map(e => [e.name, valueOf(e)]).filter(([, v]) => v !== undefined));
				const tell = () => { try { page.command(...commandOf(name), ...Object.entries(read()).flatMap(([k, v]) => v === true ? ["--" + k.replaceAll("_", "-")] : ["--" + k.replaceAll("_", "-"), typeof v == "object" ? (Array.isArray(v) ? v.join(",") : JSON.stringify(v)) : v])); } catch { /* metadata that is not finished */ } };
				form.addEventListener("input", tell);
				form.addEventListener("submit", async event => {
					event.preventDefault();
					try {
						const request = read();
						if (writes && !request.dry_run && !await confirmLoss(name, name.replaceAll("_", " ") + "?")) return;
						answer.replaceChildren(h("h2", {}, "Answer"), shown(writes ? await post(name, request, schema.properties.key ? newKey() : undefined) : await get(name, request, signal)));
					} catch (e) { answer.replaceChildren(h("p", { class: "trouble" }, e.message)); form.elements[e.member]?.focus?.(); }
				});
				tell();
				page.main.replaceChildren(form, answer);
				if (!writes && form.checkValidity()) form.requestSubmit();
			},
		};
	},
};
