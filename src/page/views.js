/* views - what each address shows. */
import { values } from "./names.js";
import { h, copy, line, ms, path, say, span, when } from "./dom.js";
import { get, may, mayAs, post, self } from "./api.js";
import { events, withGaps } from "./draw.js";
import { grid } from "./grid.js";
import { concernRow, tellWhy } from "./causes.js";
import { confirmLoss, shown, verb } from "./palette.js";
import { ackRows, inPlace, compose, message, thread } from "./message.js";

/* ------------------------------------------------------------------ messages as rows -- */

export const stateOf = m => m.archived_at ? "archived" : m.acked_at ? m.ack_outcome || "acked"
	: m.read ? "read" : m.claimed_until && ms(m.claimed_until) > Date.now() ? "claimed" : "unread";

const columns = {
	time: { name: "time", title: "Age", time: true, get: m => m.created_at },
	from: { name: "from", title: "From", get: m => m.from },
	to: { name: "to", title: "To", get: m => m.to },
	issue: { name: "issue", title: "Issue", get: m => m.issue },
	type: { name: "type", title: "Type", get: (m, cell) => { cell.dataset.is = m.type; return m.type; } },
	text: { name: "text", title: "Text", link: true, get: m => m.content.slice(0, 300) },
	state: { name: "state", title: "State", get: (m, cell) => { const s = stateOf(m); cell.dataset.is = s; return s; } },
};
const messageGrid = (page, more) => grid({
	name: "messages", label: "Messages", columns: ["time", "from", "to", "issue", "type", "text", "state"].filter(c => !more.without?.includes(c)).map(c => columns[c]),
	key: m => m.id, href: m => path("message", m.id), open: m => page.go(path("message", m.id)), mark: m => m.read ? "" : "unread", select: m => true, failed: page.failed, ...more,
});

const LIST_FLAGS = ["unread", "archived", "newest", "oldest"];
/* The words of the address as the request of `list`; newest first unless said otherwise. */
function listRequest(query) {
	const { oldest, ...request } = query;
	return oldest ? request : { newest: true, ...request };
}
const listWords = (query, placed) => [query[placed], ...Object.entries(listRequest(query)).flatMap(([name, value]) => name == placed ? [] : value === true || value == "true" ? ["--" + name] : ["--" + name, value])];

/* Page after page of messages; the total comes from the server where it says one. */
const pages = (request, signal) => async after => {
	const reply = await get("list", { ...request, after, limit: 100 }, signal);
	return { rows: reply.messages, next: reply.more ? reply.next : undefined };
};
/* How many there are in all: after the rows, and not each time, but once more after the last. */
function counting(rows, request, signal) {
	const { newest, oldest, after, ...members } = request;
	let last = 0, later;
	return async function count() {
		clearTimeout(later);
		if (rows.complete || signal.aborted) return;
		const wait = last + 3000 - Date.now();
		if (wait > 0) { later = setTimeout(() => count().catch(() => {}), wait); return; }
		last = Date.now();
		rows.total = (await get("count", members, signal)).count;
		rows.draw(false);
	};
}
const looksAt = (page, rows, count) => async again => {
	await (again ? rows.refresh() : rows.restart());
	count?.().catch(page.failed);
};

/* What can be done with what is selected. */
function bulk(page, list, actions) {
	const bar = h("div", { class: "bulk", role: "toolbar", "aria-label": "Selected" });
	list.pickedChanged = () => {
		const rows = [...list.picked.values()], fit = actions.filter(a => rows.every(a.fits || (() => true)));
		bar.classList.toggle("on", rows.length > 0);
		bar.replaceChildren(h("span", {}, rows.length + " selected"), ...fit.map(a => h("button", { type: "button", onclick: () => a.run(rows).then(() => list.unpick()).catch(page.failed) }, a.name)),
			h("button", { type: "button", class: "quiet", onclick: () => list.unpick() }, "None"));
	};
	return bar;
}
const fresh = list => {
	const pill = h("button", { type: "button", class: "pill", hidden: true, onclick: () => { list.scrollTop = 0; list.restart(); } });
	list.drawn = () => {
		pill.hidden = !list.fresh;
		if (list.fresh) pill.textContent = list.fresh >= 100 ? "100 or more new" : list.fresh + " new";
		list.counted?.();
	};
	return pill;
};
const write = (page, query) => may("act") && page.go(path("send", undefined, query));
const writeButton = (page, to) => may("act") && h("button", { type: "button", onclick: () => write(page, { to }) }, "Write");
const ackAction = page => ({ name: "Acknowledge", fits: m => !m.acked_at && mayAs(m.to), run: rows => ackRows(page, rows) });
const copyIds = { name: "Copy ids", run: async rows => copy(rows.map(m => m.id).join(" ")) };

const list = {
	open(page, _, query, signal) {
		page.title("Messages");
		page.command("list", ...listWords(query, "text"));
		page.buttons(writeButton(page));
		const rows = messageGrid(page, { load: pages(listRequest(query), signal), empty: "No message fits." });
		const pill = fresh(rows);
		rows.counted = () => page.facts(rows.total !== undefined ? rows.total.toLocaleString("en") + (rows.total == 1 ? " message" : " messages") : "");
		page.main.append(page.filter("/list", "words, --from NAME, --to NAME, --issue NAME, --unread, --since 2h", LIST_FLAGS, "text"), bulk(page, rows, [ackAction(page), copyIds]), pill, rows);
		return { look: looksAt(page, rows, counting(rows, listRequest(query), signal)), keys: messageKeys(page, rows) };
	},
};
function messageKeys(page, rows) {
	const of = () => [...page.main.querySelectorAll("roger-grid")].find(g => g.contains(document.activeElement)) || rows;
	return {
		r: () => { const m = of().chosen; if (m?.content !== undefined) write(page, { reply: m.id }); },
		e: () => { const g = of(), all = g.picked.size ? [...g.picked.values()] : [g.chosen]; if (all[0]?.content !== undefined) ackRows(page, all).then(() => g.unpick()).catch(page.failed); },
		c: () => write(page),
	};
}

/* ---------------------------------------------------------------------------- now -- */

const CAUSES = 12;
const readStatus = signal => get("status", {}, signal);
function drawCauses(page, place, s, most) {
	const left = s.concerns.length - most;
	place.replaceChildren(s.concerns.length ? h("ul", { class: "concerns" }, s.concerns.slice(0, most).map(concernRow)) : "",
		s.quiet ? h("p", { class: "calm" }, "Nothing needs attention.") : left > 0 ? h("p", { class: "rest" }, h("a", { href: "/status" }, `and ${left} more`)) : "");
	const mine = s.concerns.find(c => c.kind == "mail" && c.subject == self());
	page.counts({ "/": 0, "/inbox": mine?.count ?? 0, "/status": s.concerns.length, "/dead": s.concerns.flatMap(c => c.parts || []).reduce((sum, p) => sum + (p.name == "dead_letters" ? p.count : 0), 0) });
}

const now = {
	nav: "",
	open(page, _, query, signal) {
		let looks = 0, tookMs = 0, later;
		page.title("Now");
		page.command("status");
		page.buttons(writeButton(page));
		const recent = messageGrid(page, { whole: true, select: undefined, most: 60, label: "Latest messages", empty: "No message yet. `roger send NAME TEXT` makes the first.",
			load: async () => ({ rows: (await get("list", { newest: true, limit: 60 }, signal)).messages }) });
		const causes = h("section", { class: "troubles", "aria-label": "What needs attention" });
		page.main.append(h("h2", {}, "What needs attention"), causes, h("h2", {}, "Latest messages ", h("a", { href: "/list", class: "more" }, "all")), recent);
		async function lookAtCauses() {
			const began = Date.now(), s = await readStatus(signal);
			tookMs = Date.now() - began;
			looks = Date.now();
			drawCauses(page, causes, s, CAUSES);
			page.facts(`${s.unread.toLocaleString("en")} unread \u00b7 ${s.agents} agents \u00b7 ${s.active_runs} ${s.active_runs == 1 ? "run" : "runs"} active`);
		}
		return {
			/* The messages each time; the causes not as often. */
			async look(again) {
				clearTimeout(later);
				if (!again) await Promise.all([recent.restart(), lookAtCauses()]);
				else {
					later = setTimeout(() => { if (!signal.aborted) lookAtCauses().catch(page.failed); }, Math.max(0, looks + Math.max(1000, 10 * tookMs) - Date.now()));
					await recent.restart();
				}
			},
			keys: messageKeys(page, recent),
		};
	},
};

/* ------------------------------------------------------------------------- agents -- */

/* Each agent, with what status says of its mail. */
async function readAgents(signal) {
	const [agents, s] = await Promise.all([get("agents", {}, signal), readStatus(signal)]);
	for (const a of agents.agents)
		a.cause = s.concerns.find(c => c.kind == "mail" && c.subject == a.name);
	agents.agents.sort((a, b) => Boolean(b.unread) - Boolean(a.unread) || b.unread - a.unread || (a.name < b.name ? -1 : 1));
	return agents.agents;
}
const agentsGrid = (page, more) => grid({
	name: "agents", label: "Agents", whole: false, key: a => a.name, href: a => path("inbox", a.name), open: a => page.go(path("inbox", a.name)), failed: page.failed,
	mark: a => (a.cause?.urgency == "urgent" ? "urgent " : "") + (a.unread ? "unread" : a.retired ? "dim" : ""),
	columns: [
		{ name: "name", title: "Agent", link: true, get: a => a.name },
		{ name: "unread", title: "Unread", get: a => a.unread ? a.unread.toLocaleString("en") : "\u2013" },
		{ name: "since", title: "Oldest", time: true, get: a => a.cause?.since },
		{ name: "looked", title: "Looked", time: true, suffix: " ago", get: (a, cell) => { cell.dataset.none = a.last_looked_at ? "" : a.unread ? "never looked" : "\u2013"; return a.last_looked_at; } },
		{ name: "alarm", title: "How it is", get: (a, cell) => { cell.dataset.is = a.cause?.urgency == "urgent" ? "bad" : a.cause?.urgency == "soon" ? "soon" : ""; return a.cause ? line(a.cause.words.replace(/^[^:]*: /, "")) : ""; } },
	],
	...more,
});

/* -------------------------------------------------------------------------- inbox -- */

const inbox = {
	open(page, name, query, signal) {
		return name ? openInbox(page, name, query, signal) : openInboxes(page, signal);
	},
};
function openInboxes(page, signal) {
	page.title("Inboxes");
	page.command("agents");
	let agents = [];
	const people = agentsGrid(page, { load: async () => ({ rows: agents, total: agents.length }), empty: "No agent yet." });
	page.main.append(people);
	return {
		async look() {
			agents = await readAgents(signal);
			page.facts(agents.length + " agents");
			await people.restart();
		},
	};
}
function openInbox(page, name, query, signal) {
	const base = path("inbox", name), request = { ...listRequest(query), to: name }, unread = query.unread == "true";
	page.title("Inbox of " + line(name));
	page.command("list", ...listWords({ to: name, ...query }, "text"));
	const rows = messageGrid(page, { without: ["to"], load: pages(request, signal), empty: unread ? "All is read." : "No mail yet." });
	const all = mayAs(name) && h("button", { type: "button", onclick: () => ackAll(page, { ...request, unread: true }, name).catch(page.failed) }, "Acknowledge all");
	page.buttons(h("a", { class: "button", href: path("inbox", name, unread ? {} : { ...query, unread: "true" }) }, unread ? "Show all" : "Only unread"), all,
		writeButton(page, name));
	const pill = fresh(rows), count = counting(rows, request, signal), why = h("p", { class: "why" });
	page.main.append(why, page.filter(base, "words, --from NAME, --issue NAME, --unread, --since 2h", LIST_FLAGS, "text"), bulk(page, rows, [ackAction(page), copyIds]), pill, rows);
	return {
		async look(again) {
			await looksAt(page, rows, count)(again);
			const agents = await get("agents", {}, signal);
			const a = agents.agents.find(one => one.name == name);
			if (a) await tellWhy(why, name, signal);
			page.facts(...(a ? [`${a.unread.toLocaleString("en")} unread of ${a.received.toLocaleString("en")} \u00b7 `, a.last_looked_at ? ["looked ", when(a.last_looked_at, " ago")] : "never looked", a.retired && " \u00b7 retired",
				" \u00b7 ", h("a", { href: path("timeline", undefined, { agent: name }) }, "timeline")].flat() : ["nobody has this name"]));
		},
		keys: { ...messageKeys(page, rows), c: () => write(page, { to: name }) },
	};
}
/* The filter is the selection: all that match, a hundred at a time. */
async function ackAll(page, request, name) {
	const { count } = await get("count", { ...request, newest: undefined });
	if (!count) { say("Nothing is unread."); return; }
	if (!await confirmLoss("ack", `Acknowledge all ${count.toLocaleString("en")} unread messages that match?${inPlace([name])}`)) return;
	for (let reply; (reply = await get("list", { ...request, limit: 100 })).messages.length;)
		await post("ack", { agent: name, ids: reply.messages.map(m => m.id) });
	say("Acknowledged.");
	page.refresh();
}

/* ------------------------------------------------------------------------ threads -- */

const threads = {
	open(page, _, query, signal) {
		page.title("Threads");
		page.command("report", "stats", "--by-issue");
		const rows = grid({ name: "issues", label: "Issues", key: i => i.issue, failed: page.failed, empty: "No issue yet.", open: i => page.go(path("list", undefined, { issue: i.issue })), href: i => path("list", undefined, { issue: i.issue }),
			mark: i => i.unread ? "unread" : "",
			columns: [{ name: "name", title: "Issue", link: true, get: i => i.issue || "(none)" }, { name: "number", title: "Messages", get: i => i.messages.toLocaleString("en") }, { name: "unread", title: "Unread", get: i => i.unread ? i.unread.toLocaleString("en") : "\u2013" },
				{ name: "archived", title: "Archived", get: i => i.archived ? i.archived.toLocaleString("en") : "\u2013" }, { name: "time", title: "Latest", time: true, suffix: " ago", get: i => i.newest_at }, { name: "begun", title: "Begun", time: true, suffix: " ago", get: i => i.oldest_at }],
			load: async () => { const { by_issue } = await get("stats", { by_issue: true }, signal); by_issue.sort((a, b) => ms(b.newest_at) - ms(a.newest_at)); page.facts(by_issue.length + " issues"); return { rows: by_issue, total: by_issue.length, next: undefined }; } });
		page.main.append(rows);
		return { look: again => again ? rows.refresh() : rows.restart(), keys: { t: () => rows.chosen && page.go(path("timeline", rows.chosen.issue)) } };
	},
};

/* ----------------------------------------------------------------------- timeline -- */

const TIMELINE_FLAGS = ["own"];
const timeline = {
	open(page, what, query, signal) {
		const request = { ...query, what: what || undefined }, named = what || query.issue || query.task || query.run || query.agent;
		page.title(named ? "Timeline of " + line(named) : "Timeline");
		page.command("timeline", what, ...Object.entries(query).flatMap(([k, v]) => v == "true" ? ["--" + k] : ["--" + k, v]));
		const field = page.filter("/timeline", "an issue, a task, a run or an agent; --agent NAME, --since 2h, --own", TIMELINE_FLAGS, "what");
		field.querySelector("input").value = [what, field.querySelector("input").value].filter(Boolean).join(" ");
		page.main.append(field);
		if (query.what) { page.go(path("timeline", query.what, { ...query, what: undefined }), true); return {}; }
		if (!named) return openTimelines(page, signal);
		const rows = grid({ ...events(id => texts.get(id)), failed: page.failed, href: e => placeOf(e), open: e => { const to = placeOf(e); if (to) page.go(to); },
			load: async () => {
				const reply = await get("timeline", { limit: 1000, ...request }, signal);
				page.facts(`${reply.events.length.toLocaleString("en")} events${reply.more ? ", the last of more" : ""} \u00b7 ${reply.subject} \u00b7 ${reply.agents.length} agents`);
				return { rows: withGaps(reply.events.reverse()) };
			} });
		const texts = new Map();
		rows.drawn = () => { clearTimeout(rows.reading); rows.reading = setTimeout(() => readTexts(rows, texts, signal).catch(page.failed), 60); };
		page.main.append(rows);
		return { look: again => again ? rows.refresh() : rows.restart() };
	},
};
/* The words of the messages that are in the window: the timeline says only that they were sent. */
async function readTexts(rows, texts, signal) {
	const ids = [...new Set([...rows.shown.keys()].map(i => rows.row(i)).filter(e => e?.kind == "sent" && e.message && !texts.has(e.message)).map(e => e.message))].slice(0, 60);
	if (!ids.length || signal.aborted) return;
	for (const id of ids) texts.set(id, "");
	for (const m of (await get("show", { ids }, signal)).messages) texts.set(m.id, m.content);
	rows.draw(true);
}
const placeOf = e => e.message ? path("message", e.message) : e.run ? path("runs", e.run) : e.dead_letter ? "/dead" : undefined;
function openTimelines(page, signal) {
	const choices = h("section", { class: "choices" });
	page.main.append(choices);
	return {
		async look(again) {
			if (again) return;
			const [stats, agents, runs] = await Promise.all([get("stats", { by_issue: true }, signal), get("agents", {}, signal), get("runs", {}, signal)]);
			const part = (title, names, to) => names.length && [h("h2", {}, title), h("p", { class: "tags" }, names.slice(0, 60).map(name => h("a", { href: to(name) }, line(name))))];
			choices.replaceChildren(...[part("Issues", stats.by_issue.sort((a, b) => ms(b.newest_at) - ms(a.newest_at)).map(i => i.issue).filter(Boolean), name => path("timeline", name)), part("Agents", agents.agents.map(a => a.name), name => path("timeline", undefined, { agent: name })),
				part("Runs", runs.runs.map(r => r.run).reverse(), name => path("timeline", undefined, { run: name }))].flat().filter(Boolean));
		},
	};
}

/* --------------------------------------------------------------------------- runs -- */

const STATUS = values.run_status;
const TONE = { active: "soon", suspect_delivery_failure: "bad", done_but_not_forwarded: "soon", completed: "good", recovered: "good", blocked: "bad" };
const runs = {
	open(page, name, query, signal) {
		if (name) return openRun(page, name, signal);
		page.title("Runs");
		page.command("runs", ...Object.entries(query).flatMap(([k, v]) => ["--" + k, v]));
		const rows = grid({ name: "runs", label: "Runs", key: r => r.run, href: r => path("runs", r.run), open: r => page.go(path("runs", r.run)), failed: page.failed, empty: "No run fits.",
			mark: r => r.status == "blocked" || r.status.startsWith("suspect") ? "urgent" : "",
			columns: [
				{ name: "name", title: "Run", link: true, get: r => r.run },
				{ name: "status", title: "Status", get: (r, cell) => { cell.dataset.is = r.settled_at ? "" : TONE[r.status]; return r.words; } },
				{ name: "from", title: "For", get: r => r.owner },
				{ name: "to", title: "By", get: r => r.child },
				{ name: "issue", title: "Issue", get: r => r.issue },
				{ name: "time", title: "Begun", time: true, suffix: " ago", get: r => r.dispatched_at },
				{ name: "begun", title: "Due", time: true, suffix: " ago", get: r => r.expected_by },
				{ name: "text", title: "Why", get: r => r.why },
			],
			load: async () => { const { runs } = await get("runs", query, signal); page.facts(runs.length.toLocaleString("en") + (runs.length == 1 ? " run" : " runs")); return { rows: runs.sort((a, b) => ms(b.dispatched_at) - ms(a.dispatched_at)), total: runs.length }; } });
		const chips = h("p", { class: "tags", role: "group", "aria-label": "Status" }, h("a", { href: "/runs", "aria-current": query.status ? null : "true" }, "all"), Object.entries(STATUS).map(([s, words]) => h("a", { href: path("runs", undefined, { ...query, status: s }), "aria-current": query.status == s ? "true" : null }, words)));
		page.main.append(chips, rows);
		return { look: again => again ? rows.refresh() : rows.restart() };
	},
};
function openRun(page, name, signal) {
	page.title("Run " + line(name));
	page.command("runs", name);
	const place = h("article", { class: "sheet" }), why = h("p", { class: "why" });
	page.main.append(why, place);
	return {
		async look() {
			const r = (await get("runs", { run: name }, signal)).runs[0];
			if (!r) { place.replaceChildren(h("p", { class: "trouble" }, "No run of this name.")); return; }
			await tellWhy(why, name, signal);
			page.facts(h("span", { class: "badge", "data-is": TONE[r.status] }, r.words), " ", line(r.why || ""));
			page.buttons(...mayAs(r.owner, r.child) ? [["recover", r.status.startsWith("suspect")], ["extend", r.status == "active" || r.status.startsWith("suspect")], ["forward", r.status == "done_but_not_forwarded"], ["dismiss", r.status == "blocked" || r.outcome == "failed"]]
				.filter(([, fits]) => fits && !r.settled_at).map(([v]) => h("a", { class: "button", href: path("verb", v, { [v == "dismiss" ? "what" : "run"]: name }) }, v[0].toUpperCase() + v.slice(1))) : [], h("a", { class: "button", href: path("timeline", undefined, { run: name }) }, "Timeline"));
			const fact = (term, value) => value && [h("dt", {}, term), h("dd", {}, value)];
			const mail = id => id && h("a", { href: path("message", id) }, id);
			place.replaceChildren(h("dl", { class: "facts" }, fact("for", r.owner && h("a", { href: path("inbox", r.owner) }, r.owner)), fact("by", line(r.child)), fact("issue", r.issue && h("a", { href: path("timeline", r.issue) }, r.issue)), fact("begun", when(r.dispatched_at, " ago")),
				fact("due", when(r.expected_by, " ago")), fact("ended", r.completed_at && when(r.completed_at, " ago")), fact("command", r.command && h("code", {}, line(r.command))), fact("took", r.command && `${(r.duration_ms / 1000).toLocaleString("en")} s`), fact("result", mail(r.result_message)), fact("failure", mail(r.failure_message)),
				fact("known by", line(r.source)), fact("recovery", r.recovery_action && `${line(r.recovery_action)}, ${r.recovery_attempts} times`), fact("settled", r.settled_at && [when(r.settled_at, " ago"), " by ", line(r.settled_by)])),
				...["stdout", "stderr"].map(stream => {
					const lines = r[stream + "_lines"], kept = !(r.not_kept || []).includes(stream);
					return lines || !kept ? [h("h2", {}, "Last lines of " + stream), lines ? h("pre", { class: stream }, lines.map(line).join("\n")) : h("p", {}, "not kept: it was a terminal")] : [];
				}).flat(),
				h("h2", {}, "What happened"), h("ol", { class: "notes" }, (r.notes || []).map(note => { const found = /^(\S+Z) (.*)$/s.exec(note); return h("li", {}, found ? [when(found[1], " ago"), h("span", {}, line(found[2]))] : line(note)); })));
		},
	};
}

/* ------------------------------------------------------------------- dead letters -- */

const dead = {
	open(page, _, query, signal) {
		const { status = "undelivered", ...more } = query, request = status == "any" ? more : { status, ...more };
		let letters = [];
		page.title("Dead letters");
		page.command("dead", ...Object.entries(request).flatMap(([k, v]) => ["--" + k.replaceAll("_", "-"), v]));
		const rows = grid({ name: "dead", label: "Dead letters by receiver and cause", key: d => d.id || "group " + d.to + d.cause, failed: page.failed, empty: "No dead letter: everything was delivered.", select: d => d.id,
			mark: d => d.group ? "group" : isOpen(d) ? "unread" : "dim", href: d => d.message && path("message", d.message), open: d => d.group ? page.go(path("dead", undefined, { ...query, to: d.to })) : d.message && page.go(path("message", d.message)),
			columns: [
				{ name: "text", title: "Key", link: true, get: d => d.group ? `${d.to}: ${d.cause}` : d.key },
				{ name: "number", title: "Count", get: d => d.group ? String(d.group) : "" },
				{ name: "from", title: "From", get: d => d.from },
				{ name: "to", title: "To", get: d => d.group ? "" : d.to },
				{ name: "attempts", title: "Tries", get: d => d.attempts ? String(d.attempts) : "" },
				{ name: "time", title: "Given up", time: true, suffix: " ago", get: d => d.at },
				{ name: "state", title: "State", get: (d, cell) => { cell.dataset.is = isOpen(d) ? "bad" : ""; return d.delivered_at && d.status != "stale" ? "read after all" : d.status || ""; } },
			],
			load: async () => {
				const reply = await get("dead_letters", request, signal);
				letters = reply.dead_letters;
				page.facts(`${letters.length.toLocaleString("en")} ${letters.length == 1 ? "letter" : "letters"} \u00b7 cycle ${reply.cycle}${reply.alarm ? " \u00b7 alarm" : ""}`);
				const n = letters.filter(open).length;
				page.buttons(n > 0 && h("button", { type: "button", class: "danger", onclick: () => each(letters.filter(open), "redeliver").catch(page.failed) }, `Redeliver all ${n} that match`));
				return { rows: grouped(letters) };
			} });
		async function each(list, what) {
			if (!await confirmLoss(what, `${what == "stale" ? "Mark" : "Redeliver"} ${list.length} ${list.length == 1 ? "letter" : "letters"}${what == "stale" ? " as no longer needed" : ""}?`)) return;
			const queue = [...list], refused = [];
			let done = 0, waiting = 0;
			/* Each waits for its reading, a few at a time; the more there are, the shorter. */
			const within = list.length <= 4 ? 10000 : 1000;
			if (what == "redeliver") say("Sent once more; waiting until it is read\u2026", "long");
			await Promise.all([1, 2, 3, 4].map(async () => {
				for (let d; (d = queue.shift()); say(`${++done} of ${list.length}`))
					try { await post(what, { id: d.id, reason: "from the page, by " + self(), ...(what == "redeliver" ? { within } : {}) }); } catch (e) { if (e.status == 503 && what == "redeliver") waiting++; else refused.push(e.message); }
			}));
			await rows.restart();
			if (refused.length) say(`${refused.length} of ${list.length} not done: ${refused[0]}`, "bad");
			else say(what == "stale" ? `${done} marked as no longer needed.` : [done - waiting && `${done - waiting} redelivered.`, waiting && `${waiting} sent once more, and not read yet.`].filter(Boolean).join(" "));
		}
		const open = d => isOpen(d) && mayAs(d.from);
		page.main.append(page.filter("/dead", "--to NAME, --from NAME, --task TASK, --status any, --cycle N", [], "ids"),
			bulk(page, rows, [{ name: "Redeliver", fits: open, run: list => each(list, "redeliver") }, { name: "No longer needed", fits: open, run: list => each(list, "stale") }, { name: "Copy ids", run: copyIds.run }]), rows);
		return { look: again => again ? rows.refresh() : rows.restart() };
	},
};
const isOpen = d => d.status == "undelivered" && !d.delivered_at;
function grouped(letters) {
	const groups = new Map();
	for (const d of letters) {
		const key = d.to + "\n" + d.cause;
		if (!groups.has(key)) groups.set(key, []);
		groups.get(key).push(d);
	}
	return [...groups.values()].sort((a, b) => b.length - a.length).flatMap(list => [{ group: list.length, to: list[0].to, cause: list[0].cause || "given up" }, ...list]);
}

/* ----------------------------------------------------------------------- activity -- */

const activity = {
	open(page, _, query, signal) {
		const { oldest, ...rest } = query, request = oldest ? rest : { newest: true, ...rest };
		page.title("Activity");
		page.command("log", ...Object.entries(request).flatMap(([k, v]) => v === true || v == "true" ? ["--" + k] : ["--" + k, v]));
		const words = a => { const { tool, verb, agent, epoch, ...more } = a.action.details || {}; return a.outcome.message || [tool != "roger" && tool, verb, ...Object.entries(more).filter(([, v]) => typeof v != "object").map(([k, v]) => k + " " + v)].filter(Boolean).join(", "); };
		const rows = grid({ name: "activity", label: "Activity", key: a => a.at + a.task + JSON.stringify(a.action), failed: page.failed, empty: "No entry fits.", mark: a => a.outcome.status == "FAILURE" ? "bad" : "",
			href: a => a.task && path("timeline", undefined, { task: a.task }), open: a => page.go(path("timeline", undefined, { task: a.task })),
			columns: [
				{ name: "time", title: "Age", time: true, get: a => a.at },
				{ name: "kind", title: "Kind", get: a => a.action.type.replaceAll("_", " ").toLowerCase() },
				{ name: "issue", title: "Task", link: true, get: a => a.task },
				{ name: "from", title: "Who", get: a => a.action.details?.agent || "" },
				{ name: "text", title: "What", get: words },
				{ name: "state", title: "Outcome", get: (a, cell) => { cell.dataset.is = { FAILURE: "bad", SUCCESS: "" }[a.outcome.status] ?? "soon"; return a.outcome.status.replaceAll("_", " ").toLowerCase(); } },
			],
			load: async after => { const reply = await get("activity", { ...request, after, limit: 100 }, signal); return { rows: reply.activities, next: reply.more ? reply.next : undefined }; } });
		const pill = fresh(rows);
		page.main.append(page.filter("/activity", "--task TASK, --type TOOL_EXEC, --status FAILURE, --since 2h", ["newest", "oldest"], "task"), pill, rows);
		return { look: again => again ? rows.refresh() : rows.restart() };
	},
};

/* ------------------------------------------------------------------------- status -- */

const status = {
	open(page, _, query, signal) {
		page.title("Status");
		page.command("status");
		const concerns = h("ul", { class: "concerns all" }), calm = h("p", { class: "calm", hidden: true }, "Nothing needs attention."), figures = h("dl", { class: "figures" }), chores = h("p", { class: "dim chores" }), checked = h("section", { "aria-live": "polite" });
		let reported = 0;
		const check = async verb => {
			checked.replaceChildren(h("p", { class: "dim" }, "Reading every journal\u2026"));
			try { checked.replaceChildren(checkedWords(verb, verb == "verify" ? await get("verify", {}, signal) : await post("doctor", {}))); } catch (e) { checked.replaceChildren(h("p", { class: "trouble" }, e.message)); }
		};
		page.buttons(h("button", { type: "button", onclick: () => check("verify") }, "Verify the chains"), may("administer") && h("button", { type: "button", onclick: () => check("doctor") }, "Ask the doctor"),
			h("a", { class: "button", href: path("verb", "config") }, "Settings"));
		page.main.append(figures, chores, checked, h("h2", {}, "What needs attention"), calm, concerns);
		return {
			async look() {
				const s = await readStatus(signal);
				calm.hidden = !s.quiet;
				concerns.replaceChildren(...s.concerns.map(concernRow));
				chores.replaceChildren(...(s.chores || []).flatMap(c => [`${c.verb}: `, line(c.by), `${c.pid ? ` (${c.pid})` : ""}, begun `, when(c.since, " ago"), ", last done ", when(c.last, " ago"), ". "]));
				page.facts(`${s.concerns.length} to look at \u00b7 session ${s.epoch} \u00b7 cycle ${s.cycle}`);
				if (Date.now() - reported < 30000) return;
				const r = await get("report", {}, signal);
				reported = Date.now();
				const part = permille => (permille / 10).toLocaleString("en") + " %";
				const figure = (name, value, to) => h("div", {}, h("dt", {}, to ? h("a", { href: to }, name) : name), h("dd", {}, value));
				figures.replaceChildren(...[figure("messages", r.messages.toLocaleString("en"), "/list"), figure("unread", r.unread.toLocaleString("en"), "/list?unread=true"), figure("read, median", span(r.latency_p50_ms)), figure("read, p95", span(r.latency_p95_ms)),
					figure("sends delivered", r.attempted ? part(r.message_permille) : "\u2013"), figure("given up", String(r.undelivered), "/dead"), figure("active runs", String(r.active), "/runs?status=active"), figure("runs overdue", String(r.suspect), "/runs?status=suspect_delivery_failure"),
					figure("agents", String(s.agents), "/inbox"), figure("woken", r.wakes.toLocaleString("en") + (r.failed_wakes ? `, ${r.failed_wakes} failed` : ""))]);
			},
		};
	},
};
function checkedWords(verb, reply) {
	const bad = verb == "verify" ? reply.damaged : reply.damaged + reply.left;
	return h("div", { class: "checked " + (bad ? "bad" : "good") }, h("p", {}, h("strong", {}, bad ? "Not all is well. " : "All is well. "),
		verb == "verify" ? `${reply.lines.toLocaleString("en")} lines read, ${reply.chained.toLocaleString("en")} in the hash chain, ${reply.damaged} damaged, ${reply.strays} stray.` : `${reply.lines.toLocaleString("en")} lines, ${reply.messages.toLocaleString("en")} messages, ${reply.runs} runs: ${reply.damaged} damaged, ${reply.repairable} repairable, ${reply.notes} notes.`),
		(reply.findings || reply.breaches || []).length > 0 && shown(reply.findings || reply.breaches));
}

export const views = { "": now, inbox, timeline, message, thread, threads, runs, dead, list, activity, status, send: compose, verb };
