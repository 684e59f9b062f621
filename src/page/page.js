/*
 * page - the frame around the views: addresses, keys, who we are, what is live.
 *
 * The address is the state: a view is opened from its path and query, and nothing else is
 * remembered.  A view is first drawn from a plain GET; an event only says: look again.
 */
import { h, command, copy, path, say, setZone, split, tickTimes, unsegment, zoneName } from "./dom.js";
import { follow, login, logout, may, Problem, state, whoami } from "./api.js";
import { views } from "./views.js";
import { palette, help } from "./palette.js";

const NAV = [["now", "/", "n"], ["inbox", "/inbox", "i"], ["timeline", "/timeline", "t"], ["threads", "/threads", "h"], ["runs", "/runs", "r"],
	["dead letters", "/dead", "d"], ["messages", "/list", "l"], ["activity", "/activity", "a"], ["status", "/status", "s"]];
const hasKeys = () => localStorage.getItem("keys") != "off";

/* ---------------------------------------------------------------------- shell -- */

const main = h("main", { id: "main", tabindex: -1 });
const title = h("h1", {});
const facts = h("p", { id: "facts" });
const buttons = h("div", { id: "buttons" });
const shownCommand = h("code", {});
const live = h("span", { id: "live", role: "status" });
const zone = h("span", { id: "zone" });
const counts = {};

function switchTheme(to) {
	if (to) localStorage.setItem("theme", to);
	const theme = localStorage.getItem("theme") || "auto";
	document.documentElement.dataset.theme = theme;
	themeButton.textContent = { auto: "Theme: system", light: "Theme: light", dark: "Theme: dark" }[theme];
}
const themeButton = h("button", { type: "button", class: "quiet", onclick: () => switchTheme({ auto: "light", light: "dark", dark: "auto" }[document.documentElement.dataset.theme]) });
const nav = h("nav", { id: "nav", "aria-label": "Views" });
const menu = h("button", { type: "button", id: "menu", class: "quiet", "aria-expanded": "false", "aria-controls": "nav", onclick: () => toggleMenu() }, "Menu");
function toggleMenu(open = menu.getAttribute("aria-expanded") != "true") {
	menu.setAttribute("aria-expanded", open);
	nav.classList.toggle("open", open);
}

function drawNav() {
	const item = ([name, to, key]) => h("a", { href: to, "data-view": to.slice(1) },
		h("span", {}, name), counts[to] ||= h("b", {}), h("kbd", { "aria-hidden": "true" }, "g " + key));
	const who = state.session;
	nav.replaceChildren(
		h("a", { href: "/", class: "brand", title: who.workspace }, h("strong", {}, "roger"), h("span", {}, who.workspace.split("/").pop())),
		...NAV.map(item),
		h("div", { class: "foot" },
			h("p", { class: "dim" }, who.name || "socket", " \u00b7 may ", who.right),
			themeButton,
			h("button", { type: "button", class: "quiet", onclick: () => help(hasKeys(), setKeys) }, "Keys and help", h("kbd", { "aria-hidden": "true" }, "?")),
			who.name && h("button", { type: "button", class: "quiet", onclick: leave }, "Log out")));
}
function setKeys(on) {
	localStorage.setItem("keys", on ? "on" : "off");
	document.documentElement.classList.toggle("no-keys", !on);
}
async function leave() {
	await logout().catch(e => say(e.message, "bad"));
	location.assign("/");
}

/* --------------------------------------------------------------------- views -- */

let view, running;

/* What a view uses of the page. */
const page = {
	main,
	go(to, replace) {
		const depth = history.state?.depth || 0;
		history[replace ? "replaceState" : "pushState"]({ depth: replace ? depth : depth + 1 }, "", to);
		return open();
	},
	/* To the view before, but never to a page that is not ours. */
	back() {
		if (history.state?.depth) history.back();
		else if (location.pathname != "/") page.go("/", true);
	},
	title(text, more) { title.replaceChildren(text); facts.replaceChildren(...[more ?? ""].flat()); document.title = text + " \u00b7 roger"; },
	facts(...more) { facts.replaceChildren(...more.filter(Boolean)); },
	buttons(...list) { buttons.replaceChildren(...list.filter(Boolean)); },
	command(...words) { shownCommand.textContent = command(["roger", ...words]); },
	/* A field for the words that the command line has; they are the query of the address. */
	filter(base, words, flags, placed) {
		const here = new URLSearchParams(location.search), given = [];
		for (const [name, value] of here) given.push(...(name == placed ? [value] : flags.includes(name) ? (value == "true" ? ["--" + name] : []) : ["--" + name, value]));
		const input = h("input", { id: "filter", type: "search", value: command(given), placeholder: words, autocomplete: "off", spellcheck: "false", "aria-label": "Filter, in the words of the command line" });
		const to = () => page.go(base + readFilter(input.value, flags, placed));
		return h("form", { id: "filters", role: "search", onsubmit: event => { event.preventDefault(); to(); } }, input, h("kbd", { "aria-hidden": "true" }, "/"));
	},
	query: () => Object.fromEntries(new URLSearchParams(location.search)),
	failed,
	refresh: () => look(),
	counts(of) { for (const [to, n] of Object.entries(of)) if (counts[to]) counts[to].textContent = n ? n.toLocaleString("en") : ""; },
};

/* "backfill --to bob --unread", also "to:bob": as a query. */
export function readFilter(text, flags, placed) {
	const query = new URLSearchParams(), rest = [], words = split(text);
	while (words.length) {
		const word = words.shift(), found = /^(?:--([\w-]+)(?:=(.*))?|(from|to|issue|type|pass|since|until|key|task|status|cycle|run|agent):(.+))$/su.exec(word);
		const name = (found?.[1] || found?.[3] || "").replaceAll("-", "_");
		if (!found) rest.push(word);
		else if (flags.includes(name)) query.set(name, "true");
		else query.append(name, found[2] ?? found[4] ?? words.shift() ?? "");
	}
	if (rest.length) query.set(placed, rest.join(" "));
	return query.size ? "?" + query : "";
}

/* What a view that was left still waited for, is nothing that went wrong. */
addEventListener("unhandledrejection", event => { if (event.reason?.name == "AbortError") event.preventDefault(); });

function failed(e) {
	if (e.name == "AbortError") return;
	if (!(e instanceof Problem)) { console.error(e); say(String(e), "bad"); return; }
	if (e.status == 401) { enter(); return; }
	say((e.member ? e.member + ": " : "") + e.message, "bad");
	if (view && !view.drawn) main.replaceChildren(h("p", { class: "trouble" }, e.message));
}

async function open() {
	const [, name = "", ...rest] = location.pathname.split("/");
	const opening = new AbortController();
	running?.abort();
	running = opening;
	toggleMenu(false);
	for (const a of nav.querySelectorAll("a[data-view]")) {
		const here = a.dataset.view == (views[name]?.nav ?? name);
		if (here) a.setAttribute("aria-current", "page"); else a.removeAttribute("aria-current");
	}
	page.buttons();
	page.facts();
	main.className = "v-" + (name || "now");
	main.replaceChildren();
	main.scrollTop = 0;
	try {
		view = { drawn: false };
		const what = unsegment(rest);
		Object.assign(view, views[name].open(page, what, page.query(), opening.signal));
		await view.look?.();
		if (!opening.signal.aborted) { view.drawn = true; arrive(); }
	} catch (e) { if (!opening.signal.aborted) failed(e); }
}
/* After a look for a view's own rows the first of them has the keys. */
function arrive() {
	const grid = [...main.querySelectorAll("roger-grid")].find(one => one.count);
	if (grid && (document.activeElement == document.body || document.activeElement == main)) grid.go(grid.at, true, true);
}

/* At most as often as takes a quarter of the time, and never over what is selected. */
let asked, looking, lookMs = 0, looked = 0;
function mayLook() { return !document.hidden && getSelection().type != "Range" && !document.querySelector("dialog[open]"); }
async function look() {
	clearTimeout(asked);
	asked = undefined;
	if (looking || !view?.look) { asked = setTimeout(look, 100); return; }
	if (!mayLook()) { asked = setTimeout(look, 500); return; }
	looking = true;
	const began = performance.now(), signal = running.signal;
	try { await view.look(true); } catch (e) { if (!signal.aborted) failed(e); }
	looking = false;
	looked = performance.now();
	lookMs = looked - began;
}
function lookSoon() {
	if (asked || !view?.drawn) return;
	asked = setTimeout(look, Math.max(0, looked + Math.min(10000, Math.max(30, 4 * lookMs)) - performance.now()));
}

function navigate(event) {
	const a = event.target.closest?.("a[href]");
	if (!a || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || a.target) return;
	const to = new URL(a.href);
	if (to.origin != location.origin || !Object.hasOwn(views, to.pathname.split("/")[1])) return;
	event.preventDefault();
	page.go(to.pathname + to.search);
}

/* ----------------------------------------------------------------------- keys -- */

let prefix = -Infinity;
const inField = e => e.target.matches?.("input, textarea, select, [contenteditable]");

function press(event) {
	if ((event.ctrlKey || event.metaKey) && event.key == "k") { event.preventDefault(); palette(page, NAV); return; }
	if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
	if (inField(event)) { if (event.key == "Escape") { event.preventDefault(); event.target.blur(); arrive(); } return; }
	if (act(event)) event.preventDefault();
}
function act(event) {
	const key = event.key, arrows = /^(Arrow|Page|Home|End|Enter|Escape| )/.test(key);
	if (!hasKeys() && !arrows) return false;
	if (event.timeStamp - prefix < 1500) {
		prefix = -Infinity;
		const to = NAV.find(([, , k]) => k == key);
		if (to) { page.go(to[1]); return true; }
	}
	if (key == "g") { prefix = event.timeStamp; return true; }
	if (key == "?") { help(hasKeys(), setKeys); return true; }
	if (key == "/") { const e = document.getElementById("filter"); e?.focus(); e?.select(); return Boolean(e); }
	if (key == "Escape") return back();
	if (event.target.matches?.("button, a, summary") && (key == "Enter" || key == " ")) return false;
	const wanted = view?.keys?.[key];
	if (wanted) { wanted(); return true; }
	return moveIn(key);
}
function back() {
	const picked = [...main.querySelectorAll("roger-grid")].find(grid => grid.picked.size);
	if (nav.classList.contains("open")) toggleMenu(false);
	else if (picked) picked.unpick();
	else page.back();
	return true;
}
/* In the list that has the focus; at its end, in the next one. */
function moveIn(key) {
	const grids = [...main.querySelectorAll("roger-grid")].filter(grid => grid.count);
	const i = Math.max(0, grids.findIndex(grid => grid.contains(document.activeElement)));
	if (!grids.length) return false;
	if (grids[i].press(key)) return true;
	if (key == "j" || key == "ArrowDown") return grids[i + 1]?.go(0) || true;
	if (key == "k" || key == "ArrowUp") return i > 0 && grids[i - 1].go(Infinity) || true;
	return false;
}

/* ---------------------------------------------------------------------- login -- */

function enter() {
	state.lost = true;
	const input = h("input", { name: "key", autocomplete: "off", spellcheck: "false", required: true, "aria-label": "Key" });
	const form = h("form", { class: "enter", onsubmit: async event => {
		event.preventDefault();
		try { await login(input.value.trim().replace(/^.*#k=/, "")); location.reload(); }
		catch (e) { form.querySelector(".trouble").textContent = e.message; input.select(); }
	} }, h("h1", {}, "roger"), h("p", {}, "This browser is not known here. ", h("code", {}, "roger ui"), " opens it, or prints an address with a key that is good once:"),
		input, h("p", { class: "trouble", role: "alert" }), h("button", { class: "main" }, "Come in"));
	document.body.replaceChildren(h("main", { class: "enter" }, form));
	input.focus();
}
async function useKey() {
	const found = /^#k=(.+)$/.exec(location.hash);
	if (!found) return;
	history.replaceState(null, "", location.pathname + location.search);
	await login(found[1]);
}

/* ---------------------------------------------------------------------- start -- */

function build() {
	document.body.replaceChildren(
		h("a", { href: "#main", class: "skip" }, "To the content"), nav,
		h("header", {}, menu, h("div", { class: "heading" }, title, facts), buttons), main,
		h("footer", {}, h("span", { class: "cmd" }, h("span", { class: "dim", "aria-hidden": "true" }, "$ "), shownCommand,
			h("button", { type: "button", class: "quiet", title: "Copy the command that shows the same (c)", onclick: () => copy(shownCommand.textContent) }, "Copy")),
		h("output", { id: "said", role: "status" }), live, zone));
	drawNav();
	switchTheme();
	setKeys(hasKeys());
	setZone(state.session.zone);
	zone.textContent = zoneName();
	zone.title = "Times are the server's, in this zone";
}
async function start() {
	switchTheme();
	try { await useKey(); await whoami(); }
	catch (e) { if (e.status == 401 || e.status == 403) enter(); else document.body.replaceChildren(h("main", { class: "enter" }, h("p", { class: "trouble" }, e.message))); return; }
	build();
	addEventListener("popstate", open);
	document.addEventListener("click", navigate);
	document.addEventListener("keydown", press);
	setInterval(() => { if (mayLook()) tickTimes(); }, 5000);
	await open();
	follow(lookSoon, alive => { live.textContent = alive ? "live" : "not live"; live.className = alive ? "good" : "bad"; live.title = alive ? "New events are shown as they come" : "No stream of events now: reload to look again"; });
}
start();
