/*
 * The page of roger serve in Chromium (script/test --with-browser): what was sent is what is
 * shown, and none of it runs; every view is usable by eye, by keyboard and by screen
 * reader; it is live, and true without being live.
 */
// runner: plain
// runner: timeout 1200
import { spawn } from "node:child_process";
import { ROGER, Workspace, check, drawn, equal, finish, judge, launch, login, missing, open, skipAll, test } from "./lib_browser.mjs";
import { HOSTILE, LONG, NAMES, QUESTION, batch, small } from "./lib_fixture.mjs";

const why = missing();
if (why)
	skipAll(why);

const { workspace, server } = await small();
const browser = await launch();
const all = async (query) => (await server.get(`/v1/list?limit=1000&${query}`)).body.messages;
const idOf = async (content) => (await all("issue=hostile")).find((message) => message.content === content).id;

/* --------------------------------------------------------------- coming in */

const first = await login(browser, server);
const person = await first.context.storageState(); /* the login that later windows share */
await first.context.close();

await test("login", async () => {
	const address = server.address();
	const window = await open(browser, server);
	await window.page.goto(server.origin + "/list");
	await window.page.getByRole("button", { name: "Come in" }).waitFor();
	check("without a key nothing is shown", !/implement|review/.test(await window.page.textContent("body")));
	const visited = await window.page.evaluate(() => history.length);
	await window.page.goto(address);
	await drawn(window.page);
	equal("the key of one use leads in, and leaves the address", new URL(window.page.url()).hash, "");
	equal("so it is in no list of visited pages", await window.page.evaluate(() => history.length), visited + 1);
	equal("the login is a cookie for this server alone, closed to scripts", (await window.context.cookies()).map(({ httpOnly, sameSite }) => [httpOnly, sameSite]), [[true, "Strict"]]);
	const second = await open(browser, server);
	await second.page.goto(address);
	await second.page.getByRole("button", { name: "Come in" }).waitFor();
	equal("a second time the key is worth nothing", (await second.context.cookies()).length, 0);
	await second.context.close();
	await window.context.close();
});

/* ------------------------------------------------------------------- views */

const hostileId = await idOf(HOSTILE[0]);
const longId = await idOf(LONG);
const VIEWS = ["/", "/inbox", "/inbox/mallory", "/inbox/__proto__", "/timeline", "/timeline/hostile", "/threads", `/thread/${longId}`, `/message/${hostileId}`, `/message/${longId}`,
	"/runs", "/runs/build-7", "/dead", "/list", "/list?text=nothing+has+this", "/activity", "/status", "/send", `/send?reply=${hostileId}`, "/verb/send", "/verb/list",
	`/inbox/${encodeURIComponent("../../etc/passwd")}`, `/timeline/${encodeURIComponent("//out.test/x")}`];

async function openView(window, view) {
	await window.page.goto(server.origin + view);
	await drawn(window.page);
}

async function lookAt(colorScheme, width) {
	const window = await open(browser, server, { storageState: person, colorScheme, viewport: { width, height: 800 }, reducedMotion: "reduce" });
	for (const view of VIEWS) {
		await openView(window, view);
		const name = `${view.replace(/msg-\w+/, "ID")}, ${colorScheme}, ${width}`;
		equal(`${name}: axe has nothing against it`, await judge(window), []);
		equal(`${name}: it is as wide as the window`, await window.page.evaluate(() => document.documentElement.scrollWidth), width);
	}
	await openView(window, "/");
	await window.page.keyboard.press("?");
	await window.page.getByRole("dialog").waitFor();
	equal(`the keys, ${colorScheme}, ${width}: axe has nothing against them`, await judge(window), []);
	await window.page.keyboard.press("Escape");
	await window.page.keyboard.press("Control+k");
	await window.page.getByRole("option").first().waitFor();
	equal(`the palette, ${colorScheme}, ${width}: axe has nothing against it`, await judge(window), []);
	equal(`${colorScheme}, ${width}: no dialog, nothing foreign, nothing to complain of`, window.faults, []);
	await window.context.close();
}
for (const theme of ["light", "dark"])
	for (const width of [1280, 320])
		await test(`views, ${theme}, ${width}`, () => lookAt(theme, width));

await test("the login form", async () => {
	for (const colorScheme of ["light", "dark"]) {
		const window = await open(browser, server, { colorScheme, viewport: { width: 320, height: 800 } });
		await window.page.goto(server.origin + "/");
		await window.page.getByRole("button", { name: "Come in" }).waitFor();
		equal(`the form for a key, ${colorScheme}: axe has nothing against it`, await judge(window), []);
		await window.context.close();
	}
});

/* ------------------------------------------------------------------ causes */

await test("causes", async () => {
	const window = await open(browser, server, { storageState: person });
	const { page } = window, asked = [];
	page.on("request", (request) => { const found = /\/v1\/(\w+)/.exec(request.url()); if (found && !["events", "session"].includes(found[1])) asked.push(found[1]); });
	await openView(window, "/");
	await page.locator(".concerns").waitFor();
	equal("the first view asks twice", asked.sort(), ["list", "status"]);
	const told = (await server.get("/v1/status")).body.concerns, sentence = (text) => text.replace(/[\d.]+ ?(ms|s|min|m|h|days|d)\b/g, "T").replace(/(T )+T/g, "T");
	const shown = await page.locator(".concerns li").evaluateAll((rows) => rows.map((row) => [row.className, row.querySelector(".what").textContent, row.querySelector("code")?.textContent ?? ""]));
	equal("what needs attention is what status says, in its order", shown.map(([urgency, words, next]) => [urgency, sentence(words), next]), told.slice(0, 12).map((c) => [c.urgency, sentence(c.words), c.next]));
	equal("with as many left", told.length > 12 ? await page.textContent(".troubles .rest") : "", told.length > 12 ? `and ${told.length - 12} more` : "");
	equal("the count beside status is that of status", await page.textContent('nav a[href="/status"] b'), String(told.length));
	await openView(window, "/status");
	equal("and status says who does the chores", (await page.textContent(".chores")).match(/\w+(?=: )/g), (await server.get("/v1/status")).body.chores.map((c) => c.verb));
	await openView(window, "/");
	await page.locator(".concerns code", { hasText: "roger runs build-7" }).click();
	await page.waitForURL(/\/runs\/build-7$/);
	for (const [view, what] of [["/runs/build-7", "build-7"], ["/inbox/review", "review"], [`/message/${longId}`, longId]]) {
		await openView(window, view);
		await page.locator(".why span").waitFor();
		equal(`${what.slice(0, 8)}: why it waits is what why says`, sentence(await page.textContent(".why span")), sentence((await server.get(`/v1/why?what=${what}`)).body.words));
	}
	equal("nothing went wrong", window.faults, []);
	await window.context.close();
});

/* ------------------------------------------------------------------- texts */

await test("texts", async () => {
	const window = await open(browser, server, { storageState: person });
	const wrong = [];
	for (const message of await all("to=mallory")) {
		await openView(window, `/message/${message.id}`);
		const shown = await window.page.evaluate(() => document.querySelector(".message .text").textContent);
		if (shown !== message.content)
			wrong.push({ sent: message.content.slice(0, 80), shown: shown.slice(0, 80) });
	}
	equal(`${HOSTILE.length} hostile texts are shown as they were sent, to the character`, wrong, []);
	await openView(window, `/message/${longId}`);
	const more = window.page.getByRole("button", { name: "Show all" });
	if (await more.count())
		await more.click();
	await window.page.waitForFunction((end) => document.querySelector(".message .text").textContent.endsWith(end), LONG.slice(-20));
	check("so is one of 64 KiB", await window.page.evaluate(() => document.querySelector(".message .text").textContent) === LONG);
	await openView(window, `/message/${(await all("from=mallory&to=human"))[0].id}`);
	check("and metadata", (await window.page.textContent(".message")).includes("<img src=x onerror=alert(1)>"));
	await openView(window, "/inbox");
	const names = await window.page.getByRole("row").allInnerTexts();
	equal("hostile names are names", NAMES.filter((name) => !names.some((row) => row.includes(name.slice(0, 20)))), []);
	equal("none of it ran, none was fetched", window.faults, []);
	await window.context.close();
});

/* --------------------------------------------------------------- the ladder */

/* What the rungs are called, and which step of `roger trace --json` each stands for. */
const RUNGS = { stored: "stored", delivered: "delivered", "wake attempted": "wake", "handed to file": "handed", "looked at": "looked", claimed: "claimed", "given back": "returned",
	"lease expired": "lease_expired", read: "read", acknowledged: "acknowledged", "timed out": "timeout", dead: "dead", redelivered: "redelivered", stale: "stale", archived: "archived" };
const ALWAYS = ["stored", "wake", "looked", "read", "acknowledged"];

/* A message in every state, with a key and without. */
function everyState(place) {
	const r = (...words) => place.roger(...words);
	const ids = {};
	for (const key of ["", "keyed "]) {
		const made = (state, to = state) => {
			const name = `${key ? "k" : "p"}-${to.replace(" ", "-")}`;
			const words = ["send", "--as", "lead", "--new", name, state, "--print", "id", ...key ? ["--key", `${state.replace(/\W/g, "")}:update:c1`] : []];
			ids[key + state] = r(...words).trim();
			return name;
		};
		made("stored");
		made("handed", "filer");
		r("inbox", "--as", made("looked"));
		r("receive", "--as", made("read"));
		r("claim", "--as", made("claimed"));
		const back = made("given back");
		r("claim", "--as", back);
		r("nack", ids[`${key}given back`], "--as", back);
		r("claim", "--as", made("lease expired"), "--lease", "1s");
		for (const outcome of ["done", "blocked", "rejected"])
			r("ack", "--as", made(outcome), ids[key + outcome], "--outcome", outcome);
		made("archived unread");
		r("archive", ids[`${key}archived unread`], "--unread", "--reason", "of no use");
		const done = made("archived");
		r("receive", "--as", done);
		r("archive", ids[`${key}archived`]);
		made("woken");
	}
	for (const [state, times] of [["timed out", 1], ["dead", 2], ["redelivered", 2], ["stale", 2]]) {
		const words = ["send", "--as", "lead", "--new", `c-${state.split(" ")[0]}`, state, "--key", `${state.replace(/\W/g, "")}:ask:c1`, "--confirm", "read", "--within", "1ms"];
		for (let i = 0; i < times; i++)
			r(...words, { status: 75 });
		ids[state] = place.json("list", "--to", words[4]).messages[0].id;
	}
	ids["one of several"] = r("send", "--as", "lead", "--new", "s-first,s-second", "to two", "--print", "id").trim().split("\n")[1];
	r("receive", "--as", "s-first");
	const letter = (name) => place.json("dead", "--to", name).dead_letters[0].id;
	r("dead", "redeliver", letter("c-redelivered"), { status: 75 });
	r("dismiss", letter("c-stale"), "--reason", "done by hand");
	r("bridge", "--once");
	r("wake", "--once");
	return ids;
}

await test("the ladder", async () => {
	const place = new Workspace(`bridge:
  file_only: [p-filer, k-filer]
wake:
  after: 0s
  agents:
    p-woken: ["true"]
    k-woken: ["false"]
retries:
  max_attempts: 2
recipients: open
`);
	place.env.ROGER_TRUST_COMMANDS = "1";
	const ids = everyState(place);
	for (const state of ["lease expired", "keyed lease expired"])
		while (!place.roger("trace", ids[state], "--json").includes("lease_expired"))
			await new Promise((ready) => setTimeout(ready, 50));
	const other = await place.serve();
	const window = await login(browser, other);
	const rungs = () => window.page.evaluate(() => [...document.querySelectorAll(".stations li")].map((li) => {
		const [words, proof] = [...li.querySelectorAll("small")].map((part) => part.textContent);
		return { name: li.querySelector("b").textContent, done: li.className === "done", at: li.querySelector("time")?.title, words, proof, says: li.querySelector("span")?.textContent };
	}));
	const seen = new Set();
	for (const [state, id] of Object.entries(ids)) {
		await window.page.goto(`${other.origin}/message/${id}`);
		await window.page.locator(".stations").waitFor();
		const { steps, reached } = place.json("trace", id).traces.find((trace) => trace.id === id);
		const shown = await rungs();
		for (const { step } of steps)
			seen.add(step);
		const wanted = Object.entries(RUNGS).map(([name, kind]) => ({ name, step: steps.find(({ step }) => step === kind), kind })).filter(({ step, kind }) => step || ALWAYS.includes(kind));
		equal(`${state}: the rungs are the steps of its trace`, shown.map(({ name, done }) => [name, done]), wanted.map(({ name, step }) => [name, Boolean(step)]));
		equal(`${state}: with what it says, and the line that proves it`, shown.filter(({ done }) => done).map(({ words, proof }) => [words, proof]),
			wanted.filter(({ step }) => step).map(({ step }) => [step.words ?? "", `${step.file}:${step.line}`]));
		equal(`${state}: each at its instant, or not known`, shown.filter(({ done, at, says }) => done && !at && says !== "time not known"), []);
		equal(`${state}: how far it got`, (await window.page.textContent("h1 + span, header span")).includes(reached.replaceAll("_", " ")), true);
	}
	equal("every rung was there", Object.values(RUNGS).filter((kind) => !seen.has(kind)), []);
	/* A person's click is no evidence of the agent's. */
	const task = place.roger("send", "--as", "lead", "--new", "test-9", "task", "--print", "id").trim();
	await window.page.goto(`${other.origin}/message/${task}`);
	await window.page.locator(".stations").waitFor();
	await window.page.keyboard.press("e");
	const dialog = window.page.getByRole("dialog");
	await dialog.waitFor();
	check("who acknowledges another's mail is told that it is recorded as human's", (await dialog.textContent()).includes("as human, in place of test-9"));
	await dialog.getByRole("button", { name: "Acknowledge" }).click();
	await window.page.locator(".stations li.done", { hasText: "acknowledged" }).waitFor();
	const { steps, reached } = place.json("trace", task).traces[0];
	equal("then it is acknowledged by human, and neither looked at nor read", [reached, steps.map(({ step }) => step).filter((step) => step !== "wake"), steps.at(-1).who], ["acknowledged", ["stored", "acknowledged"], "human"]);
	equal("on the page, too", (await rungs()).filter(({ done }) => done).map(({ name }) => name).filter((name) => name !== "wake attempted"), ["stored", "acknowledged"]);
	equal("nothing went wrong on the way", window.faults, []);
	await window.context.close();
});

/* ---------------------------------------------------------------- addresses */

await test("addresses", async () => {
	const window = await open(browser, server, { storageState: person });
	const { page } = window;
	await openView(window, "/list?to=review");
	equal("a filter in an address is in the field", await page.inputValue("#filter"), "--to review");
	equal("and in the rows", await page.locator("roger-grid [role=row]:not(.head)").count(), 2);
	equal("the same command is shown", await page.textContent(".cmd code"), "roger list --newest --to review");
	await page.locator("roger-grid [role=row]:not(.head)").first().getByRole("link").click();
	await page.waitForURL(/\/message\//);
	await page.locator(".message .text").waitFor();
	await page.goBack();
	await page.locator("#filter").waitFor();
	equal("back is where one was", new URL(page.url()).pathname + new URL(page.url()).search, "/list?to=review");
	await page.fill("#filter", "--from plan --unread");
	await page.keyboard.press("Enter");
	await page.waitForURL(/from=plan/);
	equal("a filter goes into the address", new URL(page.url()).search, "?from=plan&unread=true");
	await page.goForward();
	await page.goBack();
	await page.waitForURL(/to=review/);
	equal("nothing went wrong", window.faults, []);
	await window.context.close();
});

/* ------------------------------------------------- as the terminal has it */

await test("the same as at the terminal", async () => {
	const place = new Workspace("retries:\n  max_attempts: 1\n");
	place.roger("bridge", "ingest", "--to", "bob", "--text", "(ZED): no number");
	place.roger("run", "--as", "lead", "--run", "build-9", "--", "sh", "-c", "exit 3", { status: 3 });
	place.roger("dismiss", "build-9", "--reason", "seen");
	place.roger("send", "--as", "lead", "bob", "in vain", "--key", "app:ask:c1", "--confirm", "read", "--within", "1ms", { status: 75 });
	place.roger("dismiss", place.json("dead").dead_letters[0].id, "--reason", "done by hand");
	const root = place.roger("send", "--as", "lead", "bob", "begin", "--print", "id").trim();
	batch(place, Array.from({ length: 320 }, (_, i) => ({ from: "bob", to: i % 2 ? "ann" : "lead", content: `answer ${i}`, issue: `part-${i % 8}`, reply_to: root })));
	const other = await place.serve();
	const window = await login(browser, other);
	const says = async (address, words) => {
		await window.page.goto(other.origin + address);
		return window.page.getByText(words).first().waitFor({ timeout: 10_000 }).then(() => true, () => false);
	};
	check("a message without a number has none", await says(`/message/${place.json("list", "--from", "ZED").messages[0].id}`, "Message of ZED"));
	equal("nor a session", (await window.page.textContent("main")).includes("undefined"), false);
	check("a run that was dismissed has its status", await says("/runs", "failed: exit 3"));
	check("dead letters of any status are listed, as the filter says", await says("/dead?status=any", "app:ask:c1"));
	check("a long thread says how much of it is here", await says(`/thread/${root}`, "321 messages, the first 300 of them here"));
	equal("nothing went wrong on the way", window.faults, []);
	await window.context.close();
});

/* ------------------------------------------------------------ the main job */

/* Down the rows until one says this; and up, should the first of them have been passed. */
async function moveTo(page, text) {
	await page.getByRole("row").getByRole("link", { name: text, exact: true }).first().waitFor();
	for (const key of ["j".repeat(100), "k".repeat(200)].join("")) {
		if (await page.evaluate((wanted) => document.activeElement?.closest("[role=row]")?.querySelector("a")?.textContent === wanted, text))
			return;
		await page.keyboard.press(key);
	}
	throw new Error(`no row says ${text}`);
}

/* On by Tab until what has the focus is named so. */
async function tabTo(page, name, key = "Tab") {
	for (let i = 0; i < 100; i++) {
		if (await page.evaluate((wanted) => document.activeElement?.textContent.startsWith(wanted), name))
			return;
		await page.keyboard.press(key);
	}
	throw new Error(`Tab never comes to ${name}`);
}

await test("the main job, by keyboard", async () => {
	const window = await open(browser, server, { storageState: person });
	const { page } = window;
	await openView(window, "/");
	await page.locator(".concerns").waitFor();
	await tabTo(page, "review ");
	await page.keyboard.press("Enter");
	await page.waitForURL(/\/inbox\/review\?unread=true$/);
	await moveTo(page, QUESTION);
	await page.keyboard.press("Enter");
	await page.locator(".message .text").waitFor();
	equal("the question that is stuck is found and read", await page.textContent(".message .text"), QUESTION);
	await page.keyboard.press("r");
	await page.waitForURL(/\/send\?reply=/);
	await page.waitForFunction(() => document.activeElement?.name === "content");
	await page.keyboard.type("review is stuck; I look at it <b>now</b>");
	await page.keyboard.press("Control+Enter");
	await page.waitForURL(/\/thread\//);
	await page.getByText("review is stuck; I look at it <b>now</b>").first().waitFor();
	const [answer] = await all("from=human");
	const [question] = await all("to=review&key=app-42:escalation:c1");
	equal("the reply is stored, once, as an answer", [(await all("from=human")).length, answer.to, answer.reply_to], [1, "implement", question.id]);

	await page.keyboard.press("g");
	await page.keyboard.press("d");
	await page.waitForURL(/\/dead$/);
	await moveTo(page, "app-42:escalation:c1");
	await page.keyboard.press("x");
	await page.getByRole("toolbar").waitFor();
	await tabTo(page, "Redeliver", "Shift+Tab");
	await page.keyboard.press("Enter");
	await page.getByRole("dialog").waitFor();
	await tabTo(page, "Redeliver");
	await page.keyboard.press("Enter");
	/* It is being delivered; its receiver comes back, and reads it, now or a little late. */
	while ((await all("to=review&key=app-42:escalation:c1"))[0].attempt !== 2)
		await page.waitForTimeout(20);
	workspace.roger("receive", "--as", "review", "--quiet");
	await page.waitForFunction(() => /redelivered\.|read\.|not read yet|not done/.test(document.getElementById("said").textContent));
	const [letter] = (await server.get("/v1/dead_letters")).body.dead_letters;
	check("the dead letter was delivered", letter.status === "redelivered" || letter.delivered_at, letter);
	await openView(window, "/dead");
	await page.getByRole("grid").and(page.locator(".none")).waitFor();
	check("and is no concern any more", !await page.getByRole("button", { name: "Redeliver" }).count());
	window.faults = window.faults.filter((fault) => !/503 .*redeliver$/.test(fault));
	equal("nothing went wrong", window.faults, []);
	await window.context.close();
});

/* --------------------------------------------------------------------- runs */

await test("what a program printed", async () => {
	workspace.roger("run", "--as", "plan", "--run", "build-9", "--quiet", "--", "sh", "-c", "echo compiling; echo '<b>FATAL</b>: no space' >&2; exit 3", { status: 3 });
	const [run] = (await server.get("/v1/runs?run=build-9")).body.runs;
	const window = await open(browser, server, { storageState: person });
	const { page } = window;
	await openView(window, "/runs/build-9");
	await page.locator("pre.stderr").waitFor();
	equal("the last lines are those of the verb", [await page.textContent("pre.stdout"), await page.textContent("pre.stderr")], [run.stdout_lines.join("\n"), run.stderr_lines.join("\n")]);
	equal("as they were printed", run.stderr_lines, ["<b>FATAL</b>: no space"]);
	equal("so is the command", await page.textContent("dd code"), run.command);
	check("and how it ended, in words", (await page.textContent(".badge")) === run.words && run.words === "failed: exit 3, result unread", run.words);
	await openView(window, "/runs");
	check("in the list, too", (await page.textContent("roger-grid")).includes(run.words));
	await window.context.close();
});

/* ---------------------------------------------------------- without script */

await test("without script", async () => {
	const window = await open(browser, server, { javaScriptEnabled: false });
	await window.page.goto(server.origin + "/");
	check("the page says what shows the same", (await window.page.textContent("noscript, body")).includes("roger status"));
	equal("nothing went wrong", window.faults, []);
	await window.context.close();
});

/* -------------------------------------------------------------------- live */

const SENT = 200;
const rowsOf = (page) => page.locator("roger-grid").getAttribute("aria-rowcount");

await test("live", async () => {
	const window = await open(browser, server, { storageState: person });
	const { page } = window;
	await openView(window, "/inbox/carol");
	await page.evaluate(() => {
		globalThis.seen = [];
		const stream = new EventSource("/v1/events");
		stream.addEventListener("message", (event) => {
			const { data } = JSON.parse(event.data);
			if (data.to === "carol")
				globalThis.seen.push(data.seq);
		});
		return new Promise((ready) => stream.addEventListener("open", ready));
	});
	for (let i = 0; i < SENT; i++)
		await server.post("send", { from: "dave", to: ["carol"], content: `live ${i}`, issue: "live" });
	await page.waitForFunction((sent) => globalThis.seen.length >= sent, SENT);
	await page.waitForFunction((sent) => document.querySelector("roger-grid").getAttribute("aria-rowcount") >= sent + 1, SENT);
	equal(`${SENT} events sent, ${SENT} seen, in their order`, await page.evaluate(() => globalThis.seen), Array.from({ length: SENT }, (_, i) => i + 1));
	equal("and each has its row", Number(await rowsOf(page)) - 1, SENT);
	const hidden = await open(browser, server, { storageState: person });
	await openView(hidden, "/inbox/carol");
	equal("a reload says the same", Number(await rowsOf(hidden.page)) - 1, SENT);
	check("few elements hold them", await page.evaluate(() => document.querySelectorAll("*").length) <= 1500);
	equal("nothing went wrong", [...window.faults, ...hidden.faults], []);
	await hidden.context.close();
	await window.context.close();
});

await test("without events", async () => {
	const window = await open(browser, server, { storageState: person });
	const { page } = window;
	await window.context.route("**/v1/events*", (route) => route.abort());
	await openView(window, "/inbox/erin");
	await page.waitForFunction(() => document.getElementById("live").textContent === "not live");
	check("the page says that it is not live", true);
	batch(workspace, [{ from: "dave", to: "erin", content: "not announced", issue: "live" }]);
	await page.reload();
	await page.getByText("not announced").waitFor();
	check("a reload is true", true);
	equal("nothing else went wrong", window.faults.filter((fault) => !/\/v1\/events/.test(fault)), []);
	await window.context.close();
});

/* A server that ends and comes back. */
await test("a server that comes back", async () => {
	const window = await open(browser, server, { storageState: person });
	const { page } = window;
	await openView(window, "/inbox/frank");
	await server.end();
	await page.waitForFunction(() => document.getElementById("live").textContent === "not live");
	batch(workspace, [{ from: "dave", to: "frank", content: "sent while it was away", issue: "live" }]);
	const again = spawn(ROGER, ["serve", "--listen", `127.0.0.1:${server.port}`], { cwd: workspace.path, env: workspace.env, stdio: "ignore" });
	process.on("exit", () => again.kill("SIGKILL"));
	try {
		await page.getByText("sent while it was away").waitFor();
		check("the page goes on by itself", true);
	} finally {
		again.kill("SIGKILL");
	}
	await window.context.close();
});

await finish();
