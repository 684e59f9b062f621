/* message - one message with its proof, its thread, and what can be answered to it. */
import { values } from "./names.js";
import { h, ask, copy, instant, line, marked, path, say, when } from "./dom.js";
import { article, route, textOf } from "./draw.js";
import { get, may, mayAs, newKey, post, self } from "./api.js";
import { tellWhy } from "./causes.js";

/* How the sender is known. */
function provenance(m) {
	const level = m.proved || "claimed";
	const words = { token: "proved by the token of this agent", observed: "seen by roger itself", claimed: "the sender says so; nothing proves it" }[level] || level;
	return h("p", { class: "proof" }, h("span", { class: "badge", "data-is": level }, level), h("span", {}, words, m.via && ", came in by " + line(m.via)));
}

/* The steps of a trace, in the order and by the names of `roger trace`; these are shown also where there is none yet. */
const ALWAYS = ["stored", "wake", "looked", "read", "acknowledged"];
const RUNGS = Object.entries(values.step).map(([kind, name]) => [kind, name, ALWAYS.includes(kind)]);
/* How far it got: each rung with the first such step, its instant and the line that proves it. No rung implies another. */
function evidence(trace) {
	const steps = trace?.steps || [];
	const rungs = RUNGS.map(([kind, name, always]) => ({ name, always, step: steps.find(s => s.step == kind) })).filter(rung => rung.always || rung.step);
	const last = rungs.findLastIndex(rung => rung.step);
	return h("ol", { class: "stations", "aria-label": "How far it got" }, rungs.map(({ name, step }, i) => h("li", { class: step ? "done" : "" }, h("b", {}, name), step
		? [step.at ? when(step.at, " ago") : h("span", {}, "time not known"), h("small", { title: line(step.words) }, line(step.words)), step.file && h("small", { title: "The line that proves it" }, `${line(step.file)}:${step.line ?? ""}`)]
		: h("span", {}, i < last ? "\u2013" : "not yet"))));
}
function allSteps(trace) {
	return h("details", {}, h("summary", {}, `All ${trace.steps.length} steps, with their evidence`), h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Steps" }, h("table", {}, h("thead", {}, h("tr", {}, ["Step", "When", "Who", "What", "Evidence"].map(t => h("th", { scope: "col" }, t)))),
		h("tbody", {}, trace.steps.map(s => h("tr", {}, h("td", {}, s.step.replaceAll("_", " ")), h("td", {}, s.at ? instant(s.at) : "time not known"), h("td", {}, line(s.who)), h("td", {}, line(s.words)), h("td", {}, s.file ? h("code", {}, `${line(s.file)}:${s.line ?? ""}`) : "")))))));
}

export const message = {
	nav: "list",
	open(page, id, query, signal) {
		page.title("Message");
		page.command("trace", id);
		const place = h("article", { class: "sheet message" }), why = h("p", { class: "why" });
		page.main.append(why, place);
		let shown, m, neighbours = {};
		const reply = () => may("act") && page.go(path("send", undefined, { reply: id }));
		const accept = () => ackRows(page, [m]).catch(page.failed);
		return {
			async look() {
				const [a, t] = await Promise.all([get("show", { ids: id }, signal), get("trace", { ids: id }, signal)]);
				m = a.messages[0];
				if (!m) { place.replaceChildren(h("p", { class: "trouble" }, "No message has this id.")); return; }
				await tellWhy(why, id, signal);
				const now = JSON.stringify([m, t.traces]);
				if (now == shown) return;
				shown = now;
				page.title(`${m.seq ? "#" + m.seq : "Message"} of ${line(m.from)}`, h("span", {}, t.traces[0] && "reached: " + t.traces[0].reached.replaceAll("_", " ")));
				page.buttons(may("act") && h("button", { type: "button", class: "main", onclick: reply }, "Reply"), !m.acked_at && mayAs(m.to) && h("button", { type: "button", onclick: accept }, "Acknowledge"), h("a", { class: "button", href: path("thread", id) }, "Thread"));
				const fact = (term, value) => value && [h("dt", {}, term), h("dd", {}, value)];
				place.replaceChildren(...[
					h("header", {}, h("p", { class: "top" }, route(m), h("span", { class: "badge", "data-is": m.type }, m.type), when(m.created_at, " ago")), provenance(m)),
					evidence(t.traces[0]),
					...[textOf(m)].flat(),
					m.metadata && h("details", { open: true }, h("summary", {}, "Metadata"), marked(h("pre", { tabindex: 0 }), JSON.stringify(m.metadata, null, 2))),
					h("dl", { class: "facts" }, fact("id", [h("code", {}, m.id), h("button", { type: "button", class: "quiet", onclick: () => copy(m.id) }, "Copy")]), fact("sent", instant(m.created_at)), fact("issue", m.issue && h("a", { href: path("timeline", m.issue) }, line(m.issue))), fact(m.epoch ? "session, pass" : "pass", [m.epoch, m.pass].filter(Boolean).join(", ")),
						fact("key", m.key && h("code", {}, line(m.key))), fact("answers", m.reply_to && h("a", { href: path("message", m.reply_to) }, line(m.reply_to))), fact("to be read by", m.confirm_by && when(m.confirm_by, " ago")), fact("claimed", m.claimed_by && [line(m.claimed_by), m.claimed_until && [" until ", when(m.claimed_until, " ago")]]),
						fact("outcome", m.acked_at && m.ack_outcome + (m.ack_note ? ": " + line(m.ack_note) : "")), fact("archived", m.archived_at && [when(m.archived_at, " ago"), m.archive_reason && ": " + line(m.archive_reason)])),
					t.traces[0] && allSteps(t.traces[0])].filter(Boolean));
			},
			keys: {
				r: reply, e: accept, t: () => page.go(path("thread", id)),
				j: () => step(1), k: () => step(-1),
			},
		};
		/* To the next one in the same mailbox. */
		async function step(by) {
			if (!m) return;
			try {
				const next = (await get("list", { to: m.to, after: id, limit: 1, ...(by > 0 ? { newest: true } : {}) }, signal)).messages[0];
				if (next) page.go(path("message", next.id), true); else say("No more in this mailbox.");
			} catch (e) { page.failed(e); }
		}
	},
};

/* ------------------------------------------------------------------------- thread -- */

const SHOWN_MOST = 300;
export const thread = {
	nav: "threads",
	open(page, id, query, signal) {
		page.title("Thread");
		page.command("show", "--thread", id);
		page.buttons(may("act") && h("button", { type: "button", class: "main", onclick: () => page.go(path("send", undefined, { reply: id })) }, "Reply"));
		const place = h("section", { class: "thread" });
		page.main.append(place);
		let shown;
		const move = by => {
			const all = [...place.children], at = all.indexOf(document.activeElement.closest?.("article"));
			all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus();
		};
		const chosen = () => document.activeElement.closest?.("article")?.dataset.id || id;
		return {
			async look() {
				const { messages } = await get("thread", { id }, signal), now = JSON.stringify(messages);
				if (now == shown) return;
				shown = now;
				const first = line(messages[0]?.content || "Thread");
				page.title(first.length > 60 ? first.slice(0, 58).replace(/\s\S*$/, "") + "\u2026" : first, `${messages.length} ${messages.length == 1 ? "message" : "messages"}${messages.length > SHOWN_MOST ? `, the first ${SHOWN_MOST} of them here` : ""}`);
				const depth = new Map();
				const at = chosen();
				place.replaceChildren(...messages.slice(0, SHOWN_MOST).map(m => {
					depth.set(m.id, depth.has(m.reply_to) ? depth.get(m.reply_to) + 1 : 0);
					const e = article(m, depth.get(m.id));
					e.classList.toggle("here", m.id == id);
					return e;
				}));
				[...place.children].find(e => e.dataset.id == at)?.focus();
			},
			keys: { j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1), Enter: () => page.go(path("message", chosen())), r: () => may("act") && page.go(path("send", undefined, { reply: chosen() })) },
		};
	},
};

/* -------------------------------------------------------------- acknowledgements -- */

/* What an administrator reads before acknowledging the mail of others. */
export const inPlace = names => {
	const others = names.filter(name => name != self());
	return others.length ? ` It is recorded as yours, as human, in place of ${others.map(line).join(", ")}, who ${others.length == 1 ? "has" : "have"} not read it and will not find it in the inbox.` : "";
};
export async function ackRows(page, rows) {
	const open = rows.filter(m => m && !m.acked_at);
	if (!open.length) { say("It is acknowledged already."); return; }
	const refused = open.find(m => !mayAs(m.to));
	if (refused) { say(`This login may not acknowledge mail of ${line(refused.to)}.`, "bad"); return; }
	const outcome = h("select", { "aria-label": "Outcome" }, Object.keys(values.ack_outcome).map(o => h("option", {}, o)));
	const note = h("input", { "aria-label": "Note", placeholder: "a note for the sender", maxlength: 500, autocomplete: "off" });
	const names = [...new Set(open.map(m => m.to))];
	const body = h("div", { class: "fields" }, h("p", {}, `For ${names.map(line).join(", ")}, ${open.length == 1 ? "this message is" : `these ${open.length} messages are`} dealt with from now on. That cannot be taken back.${inPlace(names)}`), h("label", {}, h("span", {}, "Outcome"), outcome), h("label", {}, h("span", {}, "Note"), note));
	if (await ask("Acknowledge", body, [["Cancel", ""], ["Acknowledge", "yes", "main"]]) != "yes") return;
	for (const to of names) await post("ack", { agent: to, ids: open.filter(m => m.to == to).map(m => m.id), outcome: outcome.value, ...(note.value ? { note: note.value } : {}) });
	say(open.length == 1 ? "Acknowledged." : open.length + " acknowledged.");
	page.refresh();
}

/* ------------------------------------------------------------------------ writing -- */

export const compose = {
	nav: "send",
	open(page, _, query, signal) {
		const answers = query.reply, key = newKey();
		page.title(answers ? "Reply" : "Write");
		const to = h("input", { name: "to", required: !answers, autocomplete: "off", spellcheck: "false", list: "agents", value: query.to || "", placeholder: "bob, or bob,carol, or all" });
		const issue = h("input", { name: "issue", autocomplete: "off", spellcheck: "false", value: query.issue || "" });
		const type = h("select", { name: "type" }, Object.keys(values.type).map(t => h("option", {}, t)));
		const text = h("textarea", { name: "content", required: true, rows: 10 });
		const known = h("datalist", { id: "agents" }), before = h("section", { class: "thread" }), trouble = h("p", { class: "trouble", role: "alert" });
		const field = (title, e, about) => h("label", {}, h("span", {}, title), e, about && h("small", {}, about));
		const button = h("button", { class: "main" }, answers ? "Send the reply" : "Send");
		const tell = () => page.command("--as", self(), ...answers ? ["reply", answers] : ["send", to.value || "NAME"], text.value || "TEXT", ...issue.value ? ["--issue", issue.value] : [], ...type.value != "context" ? ["--type", type.value] : []);
		const form = h("form", { class: "fields compose", oninput: tell, onsubmit: async event => {
			event.preventDefault();
			button.disabled = true;
			trouble.textContent = "";
			const common = { from: self(), content: text.value, type: type.value, ...(issue.value ? { issue: issue.value } : {}) };
			try {
				const reply = await (answers ? post("reply", { ...common, reply_to: answers }, key) : post("send", { ...common, to: to.value.split(/[\s,]+/).filter(Boolean) }, key));
				say(`Stored: ${reply.messages.length == 1 ? "#" + reply.seq + " to " + line(reply.messages[0].to) : reply.messages.length + " messages"}${reply.never_seen?.length ? "; never seen here: " + reply.never_seen.map(line).join(", ") : ""}`);
				page.go(answers ? path("thread", answers) : path("message", reply.messages[0].id), true);
			} catch (e) { trouble.textContent = (e.member ? e.member + ": " : "") + e.message; button.disabled = false; form.elements[e.member]?.focus(); }
		} }, h("p", { class: "dim" }, "As ", h("b", {}, self())), !answers && field("To", to), field("Text", text), h("div", { class: "pair" }, field("Issue", issue, answers && "empty: same issue as the message"), field("Type", type)), known, trouble,
			h("p", { class: "buttons" }, h("button", { type: "button", onclick: () => page.back() }, "Cancel"), button));
		text.addEventListener("keydown", event => { if ((event.ctrlKey || event.metaKey) && event.key == "Enter") form.requestSubmit(); });
		page.main.append(before, may("act") ? form : h("p", { class: "trouble" }, "This login may only look."));
		tell();
		return {
			async look(again) {
				if (again) return;
				if (answers) {
					const m = (await get("show", { ids: answers }, signal)).messages[0];
					if (m) before.replaceChildren(h("article", {}, h("p", { class: "top" }, route(m), when(m.created_at, " ago")), ...[textOf(m)].flat()));
				} else known.replaceChildren(...(await get("agents", {}, signal)).agents.filter(a => !a.retired).map(a => h("option", { value: a.name })));
				(answers || query.to ? text : to).focus();
			},
		};
	},
};
