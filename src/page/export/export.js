/*
 * export - one history as a page of its own, which `roger export` wrote with its data: what the
 * live page draws of it, drawn by the same modules.
 */
import { h, instant, line, ms, setPlaces } from "../dom.js";
import { article, events, withGaps } from "../draw.js";
import { grid } from "../grid.js";
import { check } from "./seal.js";

const PAGE = 100;
const by = id => document.getElementById(id);
const data = JSON.parse(by("data").textContent);
/* In the order in which they come up. */
const told = new Map(data.timeline.events.map((e, i) => [e.message, i]).reverse());
const all = data.messages.flatMap(reply => reply.messages).sort((a, b) => ms(a.created_at) - ms(b.created_at) || told.get(a.id) - told.get(b.id));
const known = new Map(all.map(m => [m.id, m]));
const happened = withGaps(data.timeline.events.reverse());
/* Only its own messages are places here. */
setPlaces((view, name) => view == "message" && known.has(name) ? "#m-" + encodeURIComponent(name) : undefined);

/* --------------------------------------------------------------------- messages -- */

/* A message, then what answers it; those that answer each other in a ring come last. */
function* inThreads() {
	const answers = Map.groupBy(all, m => known.has(m.reply_to) ? m.reply_to : ""), done = new Set();
	for (const root of [...answers.get("") ?? [], ...all]) {
		const ahead = [[root, 0]];
		while (ahead.length) {
			const [m, depth] = ahead.pop();
			if (done.has(m.id)) continue;
			done.add(m.id);
			yield [m, depth];
			ahead.push(...(answers.get(m.id) ?? []).map(answer => [answer, depth + 1]).reverse());
		}
	}
}
const articles = [...inThreads()].map(([m, depth]) => article(m, depth, { id: "m-" + m.id }, true));

/* ----------------------------------------------------------------------- events -- */

let rows = happened;
const list = grid({ ...events(id => known.get(id)?.content), href: e => known.has(e.message) ? "#m-" + encodeURIComponent(e.message) : undefined,
	open: e => { if (known.has(e.message)) by("m-" + e.message).scrollIntoView(); },
	load: async (after = 0) => ({ rows: rows.slice(after, after + PAGE), next: after + PAGE < rows.length ? after + PAGE : undefined, total: rows.length }) });

/* ----------------------------------------------------------------------- search -- */

const box = h("input", { id: "filter", type: "search", autocomplete: "off", placeholder: "Search", "aria-label": "Search", oninput: () => {
	search();
	try { history.replaceState(null, "", "#q=" + encodeURIComponent(box.value)); } catch { /* not of a file */ }
} });
const found = h("output", { id: "found", for: "filter" });
const texts = articles.map(e => [e, e.textContent.toLowerCase()]);
function search() {
	const words = box.value.toLowerCase().split(/\s+/).filter(Boolean), fits = text => words.every(word => text.includes(word));
	for (const [e, text] of texts) e.hidden = !fits(text);
	found.textContent = words.length ? articles.filter(e => !e.hidden).length + " of " + articles.length + " messages" : "";
	rows = words.length ? happened.filter(e => fits([e.kind, e.actor, e.peer, e.words, e.file, known.get(e.message)?.content].join(" ").toLowerCase())) : happened;
	list.restart();
}
function follow() {
	if (!location.hash.startsWith("#q=")) return;
	try { box.value = decodeURIComponent(location.hash.slice(3)); } catch { return; }
	search();
}

/* ------------------------------------------------------------------------- seal -- */

/* As they are to be seen, not as they came. */
const shown = () => articles.map(e => {
	const m = known.get(e.dataset.id), [from, to] = [...e.querySelectorAll(".route a")].map(a => a.textContent);
	return { id: m.id, from: from == line(m.from) ? m.from : from, to: to == line(m.to) ? m.to : to, content: e.querySelector(".text").textContent };
});
async function judge() {
	if (!data.seal) {
		by("verdict").textContent = "There is no seal: nothing here can be checked.";
		by("seal").append(h("p", { class: "dim" }, "With one, made by ", h("code", {}, "roger seal --out FILE"), ", ", h("code", {}, "roger export --seal FILE"), " puts into the page what proves its lines."));
		return;
	}
	const results = await check(data, shown()), has = result => results.some(r => r[0] == result);
	const verdict = has("broken") ? "broken" : has("unknown") ? "unknown" : "fits";
	by("verdict").textContent = { fits: "The seal fits.", broken: "The seal does NOT fit.", unknown: "Not all could be checked." }[verdict];
	by("verdict").after(h("ul", { id: "results" }, results.map(([result, words]) => h("li", { "data-is": { fits: "good", broken: "bad", unknown: "soon" }[result] }, words))), ...sealed());
	by("seal").dataset.result = verdict;
}
function sealed() {
	const { made_at, public_key } = JSON.parse(data.seal), { damaged, findings } = data.verified;
	return [h("p", {}, "Sealed " + instant(made_at) + ", with the key ", h("code", {}, public_key)),
		damaged ? h("div", {}, h("p", {}, h("strong", {}, `When this page was made, roger found damage in ${damaged} places:`)), h("ul", {}, findings.slice(0, 20).map(f => h("li", {}, `${line(f.file)}:${f.line ?? 0}: ${line(f.what)}`))))
			: h("p", {}, "When this page was made, roger compared all journals with the seal, whole, and found no damage."),
		h("details", {}, h("summary", {}, "What is proved, and what is not"),
			h("p", {}, "Proved, where the check above says so: the seal was signed with this key; the journal lines in this page are, byte for byte and each at its place, lines of the journals that were sealed; sender, recipient and text of the messages are those of their lines."),
			h("p", {}, "Not proved:"), h("ul", {}, [
				"whose key it is. Compare it with one that you have from elsewhere.",
				"that nothing is left out. Lines that are not in this page are only known by their digests.",
				"states, delays and events: that is what roger read in the journals. Documents of runs, and what is later than the seal, are not covered.",
				"that what was written is true, or when the seal was made: both are the writer's word.",
				"this page itself. Whoever can change it can change its check. Who wants to be certain takes the journals and the seal: roger verify --seal FILE.",
			].map(words => h("li", {}, words))))];
}

/* ------------------------------------------------------------------------- page -- */

const about = document.querySelector("meta[name=date]").content;
const of = data.timeline.subject + " " + line(data.timeline.what), times = data.timeline.events;
document.title = of;
by("title").textContent = of;
by("facts").textContent = `${all.length} messages and ${times.length} events` + (times.length ? `, ${instant(times.at(-1).at)} to ${instant(times[0].at)}` : "") +
	`; exported ${instant(about)} by ${document.querySelector("meta[name=generator]").content}`;
by("main").append(...[
	data.timeline.more && h("p", { class: "trouble" }, "Earlier events, and messages that only they are about, are left out: see roger export --limit N, or --since and --until."),
	h("form", { id: "filters", role: "search", onsubmit: event => event.preventDefault() }, box, found),
	h("h2", { id: "messages" }, `Messages (${all.length})`), h("section", { class: "thread" }, articles),
	h("h2", { id: "events" }, `Events (${times.length})`), list].filter(Boolean));
list.restart();
/* It is read much later, so ages would not help. */
for (const e of document.querySelectorAll("article time")) e.textContent = instant(e.dateTime);
addEventListener("hashchange", follow);
addEventListener("keydown", event => {
	if (event.key != "/" || event.target == box || event.ctrlKey || event.metaKey || event.altKey) return;
	event.preventDefault();
	box.focus();
});
follow();
judge();
