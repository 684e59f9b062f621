/*
 * grid - a list of rows: one line each, moved through by keys, drawn through a window.
 *
 * A window of some eighty elements is re-pointed as the list is scrolled; what is not near
 * it does not exist in the document.  Rows come in pages of 100 by cursor, and 20 pages are
 * kept; of a page that was dropped the cursor stays, so it is fetched again when needed.
 */
import { h, line, setTime } from "./dom.js";

const PAGE = 100, PAGES_MAX = 20, BEYOND = 10;

export class Grid extends HTMLElement {
	/*
	 * name, label; columns: [{ name, title, get(row, cell) }], where a cell's text is what
	 * get returns; key(row), href(row); load(after) -> { rows, next }; whole: no window, all
	 * rows at once, as many as most; open(row); mark(row): a class; empty: words.
	 */
	set(options) {
		Object.assign(this, { most: Infinity, mark: () => "", href: () => "", empty: "Nothing here." }, options);
		this.classList.add("g-" + this.name);
		this.setAttribute("role", "grid");
		this.setAttribute("aria-label", this.label);
		this.setAttribute("aria-colcount", this.columns.length);
		if (this.select) this.columns = [{ name: "pick", title: "" }, ...this.columns];
		this.setAttribute("aria-multiselectable", Boolean(this.select));
		this.head = h("div", { class: "head row", role: "row", "aria-rowindex": 1 },
			this.columns.map(c => h("span", { role: "columnheader", class: "c-" + c.name }, c.title)));
		this.space = h("div", { class: "space", role: "rowgroup" });
		this.replaceChildren(h("div", { role: "rowgroup", class: "heads" }, this.head), this.space);
		this.shown = new Map();
		this.picked = new Map();
		this.at = 0;
		this.clear();
		if (!this.whole) this.addEventListener("scroll", () => this.later(), { passive: true });
		this.space.addEventListener("click", event => this.clicked(event));
		this.addEventListener("focusin", event => { const i = event.target.closest?.(".row")?.index; if (i >= 0) this.at = i; });
		return this;
	}
	connectedCallback() {
		this.watching = new ResizeObserver(() => this.later());
		this.watching.observe(this);
	}
	disconnectedCallback() { this.watching.disconnect(); }

	/* --------------------------------------------------------------------- rows -- */

	clear() {
		this.pages = new Map();
		this.cursors = [undefined];
		this.known = 0;
		this.complete = false;
		this.loading = new Map();
		this.version = (this.version || 0) + 1;
	}
	row(i) { return this.pages.get(Math.floor(i / PAGE))?.[i % PAGE]; }
	get count() { return Math.min(this.most, this.known); }

	take(k, reply) {
		this.pages.set(k, reply.rows);
		this.known = Math.max(this.known, k * PAGE + reply.rows.length);
		if (reply.next !== undefined && reply.rows.length) this.cursors[k + 1] = reply.next;
		else { this.complete = true; this.known = k * PAGE + reply.rows.length; }
		this.total = this.complete ? this.known : reply.total ?? this.total;
		const here = Math.floor(this.at / PAGE), near = Math.floor((this.first || 0) / PAGE);
		for (const page of [...this.pages.keys()].sort((a, b) => Math.abs(b - near) - Math.abs(a - near)))
			if (this.pages.size > PAGES_MAX && page != here) this.pages.delete(page);
	}
	fetch(k) {
		if (this.loading.has(k)) return this.loading.get(k);
		if (k > 0 && this.cursors[k] === undefined) return undefined;
		const version = this.version;
		const coming = this.load(this.cursors[k]).then(reply => {
			if (version != this.version) return;
			this.take(k, reply);
			this.draw(true);
		}).catch(e => this.failed?.(e)).finally(() => { if (this.loading.get(k) == coming) this.loading.delete(k); });
		this.loading.set(k, coming);
		return coming;
	}

	/* From the beginning, as it is now; what is chosen stays chosen where it is still there. */
	async restart() {
		const version = ++this.version, key = this.chosen && this.key(this.chosen);
		const reply = await this.load(undefined);
		if (version != this.version) return;
		this.begun = true;
		this.clear();
		this.take(0, reply);
		const found = reply.rows.findIndex(row => this.key(row) == key);
		this.at = Math.max(0, found < 0 ? Math.min(this.at, this.count - 1) : found);
		this.fresh = 0;
		const had = this.contains(document.activeElement);
		this.draw(true);
		/* The row may be another element now. */
		if (had) this.shown.get(this.at)?.focus({ preventScroll: true });
	}
	get chosen() { return this.row(this.at); }

	/* Something may have changed: look again, and move nothing under the reader's eyes. */
	async refresh() {
		if (this.whole || this.scrollTop < this.height) return this.restart();
		const version = this.version, top = this.row(0) && this.key(this.row(0));
		const reply = await this.load(undefined);
		if (version != this.version) return;
		const found = top === undefined ? -1 : reply.rows.findIndex(row => this.key(row) == top);
		this.fresh = found < 0 ? reply.rows.length : found;
		const from = Math.floor(this.first / PAGE), to = Math.floor((this.first + this.window) / PAGE);
		for (let k = Math.max(1, from); k <= to; k++) if (this.pages.has(k)) { const again = await this.load(this.cursors[k]); if (version == this.version) this.take(k, again); }
		this.draw(true);
	}

	/* -------------------------------------------------------------------- drawing -- */

	later() {
		if (this.due) return;
		this.due = requestAnimationFrame(() => { this.due = 0; this.draw(false); });
	}
	get height() { return parseFloat(getComputedStyle(this).getPropertyValue("--row")) || 32; }

	newRow() {
		const cells = this.columns.map((c, i) => h(c.time ? "time" : "span", { role: "gridcell", class: "c-" + c.name, "data-suffix": c.suffix, "aria-colindex": i + 1 }, c.link && h("a", { tabindex: -1 })));
		const e = h("div", { role: "row", tabindex: -1 }, cells);
		e.cells = cells;
		this.space.append(e);
		return e;
	}
	fill(e, i) {
		const row = this.row(i);
		e.index = i;
		e.setAttribute("aria-rowindex", i + 2);
		e.className = "row " + (row ? this.mark(row) : "coming");
		if (this.select) e.setAttribute("aria-selected", Boolean(row && this.picked.has(this.key(row))));
		this.columns.forEach((c, n) => {
			if (!c.get) return;
			const cell = e.cells[n], value = row ? c.get(row, cell) : "", place = c.link ? cell.firstChild : cell;
			if (c.link) { const to = row && this.href(row); if (to) place.setAttribute("href", to); else place.removeAttribute("href"); }
			if (c.time) setTime(cell, value);
			else { const text = line(value); if (place.textContent != text) place.textContent = text; }
		});
	}
	draw(all) {
		/* What is there at first is for who made it to ask for. */
		if (!this.isConnected || !this.begun) return;
		const count = this.count, height = this.height;
		const rows = this.whole ? count : Math.ceil(this.clientHeight / height);
		this.window = rows;
		this.first = this.whole ? 0 : Math.max(0, Math.floor(this.scrollTop / height) - BEYOND);
		const last = Math.min(count, this.whole ? count : this.first + rows + 2 * BEYOND);
		this.setAttribute("aria-rowcount", (this.total ?? (this.complete ? count : -2)) + 1);
		this.classList.toggle("none", this.complete && count == 0);
		this.space.dataset.empty = this.empty;
		if (!this.whole) {
			const all = (count + (this.complete ? 0 : 1)) * height;
			this.space.style.height = all + "px";
			this.style.maxHeight = Math.max(all, 96) + this.head.offsetHeight + 3 + "px";
		}
		this.point(last, all, height);
		this.want(last);
		this.drawn?.();
	}
	/* Each index of the window, and the chosen one, gets an element. */
	point(last, all, height) {
		const wanted = i => (i >= this.first && i < last) || (i == this.at && i < this.count);
		const free = [];
		for (const [i, e] of this.shown) if (!wanted(i)) { free.push(e); this.shown.delete(i); }
		const show = i => {
			let e = this.shown.get(i);
			if (!e) {
				e = free.pop() || this.newRow();
				this.shown.set(i, e);
				this.fill(e, i);
			} else if (all) this.fill(e, i);
			e.tabIndex = i == this.at ? 0 : -1;
			if (!this.whole) e.style.transform = `translateY(${i * height}px)`;
		};
		for (let i = this.first; i < last; i++) show(i);
		if (this.at < this.count) show(this.at);
		for (const e of free) e.remove();
		if (this.whole) this.space.append(...[...this.shown].sort((a, b) => a[0] - b[0]).map(([, e]) => e).filter((e, i) => this.space.children[i] != e));
	}
	want(last) {
		for (let k = Math.floor(this.first / PAGE); k <= Math.floor(Math.max(0, last - 1) / PAGE); k++) if (!this.pages.has(k)) this.fetch(k);
		if (!this.complete && last + BEYOND >= this.count && this.count < this.most) this.fetch(this.cursors.length - 1);
	}

	/* --------------------------------------------------------------------- moving -- */

	go(to, focus = true, still = false) {
		if (!this.count) return false;
		const before = this.at;
		this.at = Math.max(0, Math.min(this.count - 1, to));
		if (!this.whole) {
			const height = this.height, top = this.at * height, room = this.clientHeight - this.head.offsetHeight;
			if (top < this.scrollTop) this.scrollTop = top;
			else if (top + height > this.scrollTop + room) this.scrollTop = top + height - room;
		}
		this.draw(false);
		const e = this.shown.get(this.at);
		if (focus) e?.focus({ preventScroll: still || !this.whole });
		return this.at != before;
	}
	clicked(event) {
		const e = event.target.closest(".row"), row = e && this.row(e.index);
		if (!row || event.defaultPrevented || event.target.closest("a,button") || getSelection().type == "Range") return;
		this.go(e.index);
		if (event.target.matches(".c-pick") || event.ctrlKey || event.metaKey || event.shiftKey) this.pick();
		else this.open?.(row);
	}
	pick() {
		const row = this.chosen;
		if (!this.select || !row || !this.select(row)) return;
		const key = this.key(row);
		if (!this.picked.delete(key)) this.picked.set(key, row);
		this.draw(true);
		this.pickedChanged?.();
	}
	unpick() {
		this.picked.clear();
		this.draw(true);
		this.pickedChanged?.();
	}
	/* Did the key mean something here? */
	press(key) {
		const page = Math.max(1, (this.window || 10) - 2);
		const steps = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
		if (key in steps) return this.contains(document.activeElement) ? this.go(this.at + steps[key]) || !/^(j|k|Arrow)/.test(key) : this.go(this.at) || true;
		if (key == "Enter" && this.chosen) { this.open?.(this.chosen); return true; }
		if (key == "x" || key == " ") { if (!this.select) return false; this.pick(); return true; }
		return false;
	}
}
customElements.define("roger-grid", Grid);
export const grid = options => new Grid().set(options);
