/* causes - what needs attention, and why one thing waits, with the safe step as a button. */
import { h, copy, line, path, split, when } from "./dom.js";
import { get } from "./api.js";

/* Verbs whose command has two words, by the first. */
const PARTS = { dead: ["redeliver"], agents: ["retire", "session"], log: ["activity", "sends", "cycle", "purge"], runs: ["forward", "extend", "recover", "sweep"], doctor: ["rebuild"], report: ["stats"], bridge: ["ingest"] };
export function commandOf(verb) {
	const first = Object.keys(PARTS).find(word => PARTS[word].includes(verb));
	return first ? [first, verb] : verb == "dead_letters" ? ["dead"] : [verb.replaceAll("_", "-")];
}
/* What a command of `roger` opens here: a view, or the form of its verb with its words filled in. */
const PLACES = { retire: "name", dismiss: "what", redeliver: "id", recover: "run", forward: "run", complete: "run", wake: "agent", archive: "ids", trace: "ids", runs: "run", inbox: "agent", timeline: "what" };
function opens(text) {
	const [, ...words] = split(text), request = {};
	const verb = PARTS[words[0]]?.includes(words[1]) ? words.splice(0, 2)[1] : words.shift();
	if (text.includes("&&") || !verb) return undefined;
	for (let i = 0; i < words.length; i++) {
		const name = words[i].startsWith("--") ? words[i].slice(2) : PLACES[verb], more = words[i + 1];
		if (!name) return undefined;
		if (!words[i].startsWith("--")) request[name] = words[i];
		else if (name == "once") continue;
		else if (more === undefined || more.startsWith("--") || ["unread", "newest", "test"].includes(name)) request[name] = "true";
		else { if (!["TEXT", "NAME"].includes(more)) request[name] = more; i++; }
	}
	if (verb == "list") return path("list", undefined, request);
	if (verb == "runs" || verb == "trace") return request[PLACES[verb]] ? path(verb == "runs" ? "runs" : "message", request[PLACES[verb]]) : "/runs";
	if (verb == "dead") return "/dead";
	if (verb == "inbox" && request.as) return path("inbox", request.as, { unread: "true" });
	if (verb == "timeline") return path("timeline", undefined, request);
	return ["agents", "rebuild", "trust", "top"].includes(verb) ? verb == "agents" ? "/inbox" : undefined : path("verb", verb, request);
}
/* The safe step: a button that leads there; where this page has no such place it is copied. */
function stepOf(next) {
	const to = next && opens(next);
	return to ? h("a", { class: "button quiet", href: to, title: next }, h("code", {}, next)) : next && h("button", { type: "button", class: "quiet", title: "Copy: " + next, onclick: () => copy(next) }, h("code", {}, next));
}
const KIND_PLACE = { alarm: () => "/dead", mail: c => c.subject ? path("inbox", c.subject, { unread: "true" }) : "/inbox", slips: () => "/inbox", blocked: c => path("runs", c.subject), failed: c => path("runs", c.subject),
	suspect_delivery_failure: c => path("runs", c.subject), done_but_not_forwarded: c => path("runs", c.subject), run_documents: () => "/runs", clock: c => path("message", c.subject) };
/* One cause: its sentence, since when, and the safe step. */
export function concernRow(c) {
	const to = KIND_PLACE[c.kind]?.(c);
	return h("li", { class: c.urgency }, h("span", { class: "what", title: line(c.words) }, to ? h("a", { href: to }, line(c.words)) : line(c.words)), c.since ? when(c.since) : h("span", {}),
		stepOf(c.next));
}

/* Why a message, a run or an agent waits, in one sentence; what is not known says nothing. */
export async function tellWhy(place, what, signal) {
	try {
		const w = await get("why", { what }, signal);
		place.replaceChildren(h("span", {}, line(w.words)), " ", stepOf(w.next) || "");
	} catch (e) { if (e.name == "AbortError") throw e; place.replaceChildren(); }
}
