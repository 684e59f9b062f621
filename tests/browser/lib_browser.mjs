/*
 * lib_browser - a workspace of a test's own, a `roger serve` of it, Chromium, and TAP.
 *
 * playwright-core drives Debian's Chromium; script/bootstrap browser installs both.  Every page
 * is watched: what it asks of others, what its console and its policy say, each dialog.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";

const SOURCE = process.env.ROGER_SOURCE ?? path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "../..");
const MODULES = process.env.ROGER_BROWSER ?? path.join(SOURCE, "build-browser");
export const ROGER = path.resolve(process.env.ROGER ?? path.join(SOURCE, "build/roger"));

/* A fault of the page shows as an event that never comes: long, so that a busy machine is none. */
export const PATIENCE_MS = Number(process.env.PATIENCE_MS ?? 120_000);

/* ------------------------------------------------------------------- TAP */

let number = 0;
let failures = 0;

export function check(name, good, note) {
	number++;
	if (!good)
		failures++;
	console.log(`${good ? "ok" : "not ok"} ${number} - ${name}`);
	if (!good && note !== undefined)
		console.log(`# ${(JSON.stringify(note) ?? String(note)).slice(0, 2000)}`);
	return Boolean(good);
}

export function equal(name, got, expected) {
	return check(name, JSON.stringify(got) === JSON.stringify(expected), { got, expected });
}

export function skipAll(why) {
	console.log(`1..0 # skip ${why}`);
	process.exit(0);
}

/* Each test is a function, so that one that throws is a failure and the others go on.
 * `node t2-page.mjs WORD` runs those whose name holds the word. */
export async function test(name, run) {
	if (!name.includes(process.argv[2] ?? ""))
		return;
	try {
		await run();
	} catch (error) {
		check(`${name}: goes through`, false, String(error.stack ?? error));
	}
}

export function done() {
	console.log(`1..${number}`);
	process.exitCode = failures ? 1 : 0;
}

/* ------------------------------------------------------------- the browser */

export function load(name) {
	return createRequire(MODULES + "/")(name);
}

export function missing() {
	if (!existsSync("/usr/bin/chromium"))
		return "no chromium here";
	if (!existsSync(path.join(MODULES, "node_modules/playwright-core")))
		return "no playwright-core here: script/bootstrap browser installs it";
	return existsSync(path.join(path.dirname(ROGER), "roger-serve")) ? null : "roger serve was built without libevent";
}

export async function launch() {
	const { chromium } = load("playwright-core");
	const browser = await chromium.launch({
		executablePath: "/usr/bin/chromium",
		chromiumSandbox: false,
		args: ["--disable-gpu", "--disable-dev-shm-usage", "--force-color-profile=srgb"],
		timeout: PATIENCE_MS,
	});
	atEnd(() => browser.close());
	return browser;
}

/* A window of its own, and what is to be seen in `faults`: nothing. */
export async function open(browser, server, options = {}) {
	const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light", ...options });
	context.setDefaultTimeout(PATIENCE_MS);
	context.setDefaultNavigationTimeout(PATIENCE_MS);
	const faults = [];
	/* A violation of the policy is an event of the document; the console says it, too. */
	await context.addInitScript(() => addEventListener("securitypolicyviolation", (event) =>
		console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`)));
	context.on("page", (page) => {
		page.on("dialog", (dialog) => {
			faults.push(`dialog: ${dialog.message()}`);
			dialog.dismiss();
		});
		page.on("pageerror", (error) => faults.push(`error: ${error.stack ?? error}`));
		page.on("console", (message) => {
			if (["error", "warning"].includes(message.type()))
				faults.push(`console: ${message.text()} ${message.location().url}`);
		});
		page.on("request", (request) => {
			if (!request.url().startsWith(server.origin + "/") && !request.url().startsWith("about:"))
				faults.push(`foreign: ${request.url()}`);
		});
		page.on("popup", (popup) => faults.push(`popup: ${popup.url()}`));
	});
	return { context, faults, page: await context.newPage() };
}

/* Comes in with a key of one use; the state serves for more windows. */
export async function login(browser, server, options, as) {
	const window = await open(browser, server, options);
	await window.page.goto(server.address(as));
	await drawn(window.page);
	return window;
}

/* The page says whether it is live once its first view is drawn; a later one fills its list. */
export async function drawn(page) {
	await page.waitForFunction(() => document.getElementById("live")?.textContent);
}

/* What axe has against what is to be seen; what it tries itself is no fault of the page. */
export async function judge(window) {
	const before = window.faults.length;
	if (!await window.page.evaluate(() => Boolean(globalThis.axe)))
		await window.page.evaluate(load("axe-core").source);
	const { violations } = await window.page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
	window.faults.splice(before);
	return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((node) => `${node.target} ${node.any[0]?.message ?? ""}`).join("; ")}`);
}

/* ----------------------------------------------------------- the workspace */

const ends = [];
function atEnd(end) {
	ends.push(end);
}

export async function finish() {
	for (const end of ends.reverse())
		await end();
	done();
}

export class Workspace {
	/* A new one, or the one at a place. */
	constructor(config = "", place = undefined) {
		/* Sockets have short names. */
		this.folder = mkdtempSync(path.join(tmpdir(), "roger-"));
		this.path = place ?? path.join(this.folder, "w");
		mkdirSync(path.join(this.folder, "state"), { mode: 0o700 });
		this.env = { PATH: process.env.PATH, LC_ALL: "C.UTF-8", TZ: "UTC", HOME: this.folder, XDG_RUNTIME_DIR: this.folder,
			XDG_STATE_HOME: path.join(this.folder, "state") };
		for (const name of ["ASAN_OPTIONS", "UBSAN_OPTIONS"])
			if (process.env[name])
				this.env[name] = process.env[name];
		if (place) {
			/* What is trusted is known there. */
			Object.assign(this.env, { HOME: process.env.HOME, XDG_STATE_HOME: process.env.XDG_STATE_HOME ?? path.join(process.env.HOME, ".local/state") });
		} else {
			mkdirSync(this.path);
			this.roger("init", this.path, "--quiet");
		}
		if (config)
			writeFileSync(path.join(this.path, ".roger/config.yaml"), config);
		atEnd(() => rmSync(this.folder, { recursive: true, force: true }));
	}

	/* What it printed; an exit of 1, nothing there, is an answer. */
	roger(...words) {
		const options = typeof words.at(-1) === "object" ? words.pop() : {};
		const ran = spawnSync(ROGER, words, { cwd: this.path, env: this.env, encoding: "utf8", maxBuffer: 1 << 30, ...options });
		if (ran.status !== 0 && ran.status !== 1 && ran.status !== options.status)
			throw new Error(`roger ${words.join(" ").slice(0, 200)}: ${ran.status ?? ran.error} ${ran.stderr}`);
		return ran.stdout;
	}

	json(...words) {
		return JSON.parse(this.roger(...words, "--json"));
	}

	async serve(...words) {
		const server = new Server(this);
		await server.start(words);
		return server;
	}
}

export class Server {
	constructor(workspace) {
		this.workspace = workspace;
		this.agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
	}

	start(words) {
		const { path: cwd, env } = this.workspace;
		this.process = spawn(ROGER, ["serve", "--listen", "127.0.0.1:0", ...words], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
		atEnd(() => this.end());
		process.on("exit", () => this.process.kill("SIGKILL"));
		this.process.stdout.setEncoding("utf8");
		return new Promise((ready, failed) => {
			let said = "";
			this.process.on("exit", (status) => failed(new Error(`roger serve ended with ${status}: ${said}`)));
			this.process.stdout.on("data", (text) => {
				said += text;
				const [, socket] = /^listening at (.*)\n/m.exec(said) ?? [];
				const [, port] = /^listening on port (\d+).*\n/m.exec(said) ?? [];
				if (socket && port) {
					Object.assign(this, { socket, port: Number(port), origin: `http://127.0.0.1:${port}` });
					ready(this);
				}
			});
		});
	}

	/* By the socket, where no token is needed. */
	ask(method, target, body) {
		const headers = body === undefined ? {} : { "Content-Type": "application/json" };
		return new Promise((resolve, reject) => {
			const request = http.request({ socketPath: this.socket, host: "localhost", method, path: target, headers, agent: this.agent }, (answer) => {
				let text = "";
				answer.setEncoding("utf8");
				answer.on("data", (part) => { text += part; });
				answer.on("end", () => resolve({ status: answer.statusCode, body: text && JSON.parse(text) }));
			});
			request.on("error", reject);
			request.end(body === undefined ? undefined : JSON.stringify(body));
		});
	}

	get(target) {
		return this.ask("GET", target);
	}

	post(verb, body) {
		return this.ask("POST", `/v1/${verb}`, body);
	}

	/* The address with a key for one login, as a person gets it. */
	address(as = "human") {
		const [address] = /http:\/\/\S+#k=\S+/.exec(this.workspace.roger("ui", "--as", as, "--right", "administer", { timeout: PATIENCE_MS })) ?? [];
		if (!address)
			throw new Error("roger ui printed no address");
		return address;
	}

	memory(name) {
		return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${this.process.pid}/status`, "utf8"))[1]);
	}

	ticks() {
		const fields = readFileSync(`/proc/${this.process.pid}/stat`, "utf8").replace(/^.*\) /, "").split(" ");
		return Number(fields[11]) + Number(fields[12]);
	}

	end() {
		this.agent.destroy();
		if (this.process.exitCode !== null || this.process.signalCode !== null)
			return null;
		return new Promise((ended) => {
			this.process.removeAllListeners("exit");
			this.process.on("exit", ended);
			this.process.kill("SIGTERM");
		});
	}
}
