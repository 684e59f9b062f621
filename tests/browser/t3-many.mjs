/*
 * The page of roger serve on 100,000 messages, 200 agents and 1,000 runs, hostile text among
 * them (script/test --with-browser): few elements, any row at once, no event missed.
 */
// runner: plain
// runner: slow
// runner: timeout 1200
import { check, drawn, equal, finish, judge, launch, login, missing, skipAll, test } from "./lib_browser.mjs";
import { large } from "./lib_fixture.mjs";

const why = missing();
if (why)
	skipAll(why);

const MESSAGES = 100_000;
const RUNS = 1_000;
const { server } = await large({ messages: MESSAGES, runs: RUNS });
const browser = await launch();
const window = await login(browser, server);
const { page } = window;
const elements = () => page.evaluate(() => document.querySelectorAll("*").length);
const { messages } = (await server.get("/v1/stats")).body;

async function openView(view) {
	await page.goto(server.origin + view);
	await drawn(page);
}

await test("views", async () => {
	for (const view of ["/", "/inbox", "/inbox/agent-033", "/timeline", "/timeline/app-42", "/threads", "/runs", "/runs?status=blocked", "/dead", "/list", "/list?text=part+77", "/activity", "/status"]) {
		await openView(view);
		check(`${view}: at most 1,500 elements`, await elements() <= 1500, await elements());
		equal(`${view}: axe has nothing against it`, await judge(window), []);
	}
	equal("nothing went wrong", window.faults, []);
});

await test("rows", async () => {
	await openView("/list");
	await page.getByText(`${messages.toLocaleString("en")} messages`).first().waitFor();
	check("the number of all messages is there", true);
	equal("and screen readers are told it", Number(await page.getByRole("grid").getAttribute("aria-rowcount")), messages + 1);
	/* 5,000 rows down: what is far away does not exist, what was asked for comes. */
	let most = 0;
	for (let row = 100; row <= 5000; row += 100) {
		await page.evaluate((at) => { const grid = document.querySelector("roger-grid"); grid.scrollTop = at * 32; }, row);
		await page.waitForFunction((at) => [...document.querySelectorAll("roger-grid [role=row]:not(.coming):not(.head)")].some((one) => Math.abs(one.getAttribute("aria-rowindex") - at) < 30), row);
		most = Math.max(most, await elements());
	}
	check("scrolling makes no elements", most <= 1500, most);
	const shown = await page.locator("roger-grid [role=row]:not(.head) a").first().getAttribute("href");
	check("a row far down is a message", /^\/message\/msg-/.test(shown), shown);
	equal("nothing went wrong", window.faults, []);
});

await test("search", async () => {
	await openView("/list?text=build%2F99903.log");
	await page.getByRole("link", { name: "message 99903:" }).waitFor();
	check("a word is found among all", true);
	await openView("/runs");
	await page.getByText(`${RUNS.toLocaleString("en")} runs`).waitFor();
	check("all runs are there", true);
	await openView("/inbox");
	check("200 agents and more are there", Number(await page.getByRole("grid").getAttribute("aria-rowcount")) > 200);
});

await test("live", async () => {
	const SENT = 300;
	await openView("/inbox/zoe");
	await page.evaluate(() => {
		globalThis.seen = new Set();
		const stream = new EventSource("/v1/events");
		stream.addEventListener("message", (event) => {
			const { id, data } = JSON.parse(event.data);
			if (data.to === "zoe")
				globalThis.seen.add(id);
		});
		return new Promise((ready) => stream.addEventListener("open", ready));
	});
	for (let i = 0; i < SENT; i++)
		await server.post("send", { from: "dave", to: ["zoe"], content: `live ${i}`, issue: "live" });
	await page.waitForFunction((sent) => globalThis.seen.size >= sent, SENT);
	await page.waitForFunction((sent) => document.querySelector("roger-grid").getAttribute("aria-rowcount") >= sent + 1, SENT);
	equal(`${SENT} events sent, ${SENT} seen`, await page.evaluate(() => globalThis.seen.size), SENT);
	equal("all of them are in its inbox", (await server.get("/v1/count?to=zoe&unread=true")).body.count, SENT);
	equal("nothing went wrong", window.faults, []);
});

await finish();
