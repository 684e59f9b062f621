/* draw - what a live page and an exported one have both: messages in threads, and events. */
import { tones } from "./names.js";
import { h, clock, instant, line, marked, ms, path, span, when } from "./dom.js";

const TEXT_MAX = 65536;

/* The text in a frame: what was sent, to the character. */
export function textOf(m, whole) {
	const frame = h("div", { class: "text", dir: "auto", tabindex: 0, role: "region", "aria-label": "Text" });
	if (whole || m.content.length <= TEXT_MAX) return marked(frame, m.content);
	marked(frame, m.content.slice(0, TEXT_MAX));
	return [frame, h("button", { type: "button", onclick: event => { event.target.remove(); marked(frame, m.content.slice(TEXT_MAX)); } }, `Show all ${m.content.length.toLocaleString("en")} characters`)];
}

const name = who => h("a", { href: path("inbox", who) }, line(who));
export const route = m => h("span", { class: "route" }, name(m.from), h("span", { class: "dim" }, " \u2192 "), name(m.to));

const stateOf = m => m.acked_at ? m.ack_outcome || "acked" : m.read ? "read" : "unread";
/* A message of a thread, as deep as its answers go. */
export function article(m, depth, props, whole) {
	const more = [m.seq && "#" + m.seq, m.read_at && "read after " + span(ms(m.read_at) - ms(m.created_at)), m.ack_note && "\u201c" + line(m.ack_note) + "\u201d",
		m.archived_at && "archived" + (m.archive_reason ? ": " + line(m.archive_reason) : "")].filter(Boolean).join(" \u00b7 ");
	return h("article", { class: "d" + Math.min(6, depth), "data-id": m.id, tabindex: 0, ...props },
		h("p", { class: "top" }, route(m), h("span", { class: "badge", "data-is": m.type }, m.type), h("a", { href: path("message", m.id) }, when(m.created_at, " ago")),
			more && h("small", { class: "dim" }, more), h("span", { class: "state", "data-is": m.read ? "read" : "unread" }, stateOf(m))), ...[textOf(m, whole)].flat());
}

/* ----------------------------------------------------------------------- events -- */

const bad = e => tones.event_kind[e.kind] == "bad";
/* Of a list of events; textOf: the text of a message, where it is known. */
export const events = textOf => ({
	name: "events", label: "Events", key: e => e.at + e.kind + e.actor + (e.message || e.run || "") + (e.line || ""), empty: "Nothing happened to it.", mark: e => e.gap ? "gap" : bad(e) ? "bad" : "",
	columns: [
		{ name: "clock", title: "Time", get: (e, cell) => { cell.title = e.undated ? "No line says when" : instant(e.at); return e.gap ? "" : e.undated ? "not known" : clock(e.at); } },
		{ name: "kind", title: "Event", link: true, get: (e, cell) => { cell.dataset.is = bad(e) ? "bad" : e.kind; return e.kind.replaceAll("_", " "); } },
		{ name: "from", title: "Who", get: e => e.actor },
		{ name: "to", title: "To", get: e => e.peer },
		{ name: "text", title: "What", get: (e, cell) => { const text = e.kind == "sent" && textOf(e.message); cell.title = e.words; return text ? text.slice(0, 300) : e.words; } },
		{ name: "seq", title: "No.", get: e => e.seq ? "#" + e.seq : "" },
		{ name: "file", title: "Evidence", get: e => e.file ? e.file + (e.line ? ":" + e.line : "") : "" },
	],
});
/* The newest first; time in which nothing happened is one line. */
export function withGaps(events) {
	const rows = [];
	events.forEach((e, i) => {
		const before = events[i - 1], still = before && ms(before.at) - ms(e.at);
		if (still > 30 * 60000) rows.push({ gap: true, at: e.at, kind: "", words: span(still) + " in which nothing happened" });
		rows.push(e);
	});
	return rows;
}
