/*
 * page - what the page of roger serve costs, in Chromium: names and numbers, one a line.
 *
 *     node bench/page.mjs MESSAGES MINUTES     how many messages there are, and how long events come
 */
import { drawn, launch, login, missing } from "../tests/browser/lib_browser.mjs";
import { large } from "../tests/browser/lib_fixture.mjs";

const why = missing();
if (why)
	throw new Error(why);

const [messages, minutes] = process.argv.slice(2).map(Number);
const tell = (name, value) => console.log(name, Number(value.toFixed(2)));
const sorted = (values) => values.sort((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const p95 = (values) => sorted(values)[Math.floor(values.length * 0.95)];
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

const { server } = await large({ messages });
const browser = await launch();
const window = await login(browser, server);
const { page } = window;
const devtools = await window.context.newCDPSession(page);

/* -------------------------------------------------------------------- files */

const files = new Map();
page.on("response", async (answer) => {
	if (answer.url().includes("/assets/"))
		files.set(answer.url(), Number((await answer.allHeaders())["content-length"]));
});
await devtools.send("Network.setCacheDisabled", { cacheDisabled: true });
await page.goto(server.origin + "/list");
await drawn(page);
await pause(500);
tell("assets", files.size);
tell("assets_kb", [...files.values()].reduce((sum, size) => sum + size, 0) / 1000);
await devtools.send("Network.setCacheDisabled", { cacheDisabled: false });

/* --------------------------------------------------------------------- rows */

/* From the navigation to the frame that has rows. */
await window.context.addInitScript(() => {
	new MutationObserver((_, observer) => {
		if (!document.querySelector("roger-grid [role=row][aria-rowindex='2']"))
			return;
		observer.disconnect();
		requestAnimationFrame(() => { globalThis.firstRows = performance.now(); });
	}).observe(document, { childList: true, subtree: true });
});
const opened = [];
for (let i = 0; i < 15; i++) {
	await page.goto(server.origin + "/list");
	opened.push(await (await page.waitForFunction(() => globalThis.firstRows)).jsonValue());
}
tell("first_rows_ms", median(opened));

const replies = [];
let bytes = 0;
for (let i = 0; i < 100; i++) {
	const began = performance.now();
	bytes = JSON.stringify((await server.get("/v1/list?newest=true&limit=100")).body).length;
	replies.push(performance.now() - began);
}
tell("list_ms", median(replies));
tell("list_kb", bytes / 1000);

/* Five thousand rows are loaded once; then to any of them. */
await drawn(page);
const jump = (row) => page.evaluate(async (at) => {
	const grid = document.querySelector("roger-grid"), began = performance.now();
	const there = () => [...grid.querySelectorAll("[role=row]:not(.coming):not(.head)")].some((one) => Math.abs(one.getAttribute("aria-rowindex") - at - 2) < 5);
	do {
		grid.scrollTop = at * 32;
		await new Promise(requestAnimationFrame);
	} while (!there());
	return performance.now() - began;
}, row);
for (let row = 100; row <= 5000; row += 100)
	await jump(row);
const jumps = [];
for (let i = 0; i < 40; i++)
	jumps.push(await jump((i * 1977) % 5000));
tell("jump_ms", median(jumps));
tell("scroll_p95_ms", p95(await page.evaluate(async () => {
	const grid = document.querySelector("roger-grid"), spans = [];
	grid.scrollTop = 0;
	for (let i = 0, last = performance.now(); i < 400; i++) {
		grid.scrollTop += 96;
		const now = await new Promise(requestAnimationFrame);
		spans.push(now - last);
		last = now;
	}
	return spans.slice(5);
})));
tell("nodes", await page.evaluate(() => document.querySelectorAll("*").length));

/* ------------------------------------------------------------------- events */

await page.goto(server.origin + "/inbox/zoe");
await drawn(page);
await page.evaluate(() => {
	globalThis.painted = new Map();
	new MutationObserver(() => requestAnimationFrame(() => {
		for (const [, number] of document.querySelector("roger-grid").textContent.matchAll(/pixel (\d+);/g))
			if (!globalThis.painted.has(number))
				globalThis.painted.set(number, Date.now());
	})).observe(document.querySelector("roger-grid"), { childList: true, subtree: true, characterData: true });
});
const sent = [];
const until = Date.now() + minutes * 60_000;
for (let i = 0; Date.now() < until; i++) {
	sent.push(Date.now());
	await server.post("send", { from: "dave", to: ["zoe"], content: `pixel ${i};`, issue: "live" });
	await pause(Math.max(0, sent[0] + (i + 1) * 50 - Date.now()));
}
await page.waitForFunction((last) => globalThis.painted.has(last), String(sent.length - 1));
const painted = new Map(await page.evaluate(() => [...globalThis.painted]));
tell("pixel_p50_ms", median(sent.map((at, i) => painted.get(String(i)) - at).filter((span) => span >= 0)));
tell("missed", sent.length - painted.size);
await devtools.send("HeapProfiler.collectGarbage");
await devtools.send("Performance.enable");
tell("heap_mb", (await devtools.send("Performance.getMetrics")).metrics.find(({ name }) => name === "JSHeapUsedSize").value / 1e6);
tell("rss_mb", server.memory("VmRSS") * 1024 / 1e6);

/* Nothing happens: hundredths of a second of the processor in ten seconds. */
await pause(3000);
const before = server.ticks();
await pause(10_000);
tell("idle_percent", (server.ticks() - before) / 10);

await browser.close();
await server.end();
process.exit(0);
