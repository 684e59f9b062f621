/*
 * lib_fixture - workspaces to look at: one of a few agents in which something is stuck, and one
 * of many.  In both, every text that anybody may choose is hostile to a page.
 */
import { Workspace } from "./lib_browser.mjs";

/* After the HTML5 Security Cheatsheet and the Big List of Naughty Strings, and what has hurt pages
 * of this kind.  `out` stands for a host that must not be asked. */
const OUT = "http://out.test";
export const HOSTILE = [
	"<script>alert(1)</script>", "</script><script>alert(1)</script>", "<!--<script>alert(1)</script>-->", "<ScRiPt src=" + OUT + "/x.js></sCrIpT>",
	"<img src=x onerror=alert(1)>", `<img src="${OUT}/i.png">`, "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "<svg onload=alert(1)>",
	"<svg><animate onbegin=alert(1) attributeName=x dur=1s>", "<math><mtext><table><mglyph><style><!--</style><img title=\"--&gt;&lt;img src=1 onerror=alert(1)&gt;\">",
	"<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>", "<iframe src=javascript:alert(1)>", `<object data="${OUT}/o.swf">`, `<embed src="${OUT}/e">`,
	`<link rel=stylesheet href="${OUT}/c.css">`, `<style>@import url(${OUT}/c.css); *{background:url(${OUT}/b.png)}</style>`, `<base href="${OUT}/">`,
	`<meta http-equiv=refresh content="0;url=${OUT}/r">`, `<form action="${OUT}/f"><button autofocus onfocus=alert(1)>x</button></form>`, "<a href=javascript:alert(1)>x</a>",
	"javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "<details open ontoggle=alert(1)>", "<video><source onerror=alert(1)>", "<body onload=alert(1)>",
	"<input onfocus=alert(1) autofocus>", "<marquee onstart=alert(1)>", "<template><script>alert(1)</script></template>", "<plaintext>", "<textarea>", "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
	"${alert(1)} {{constructor.constructor('alert(1)')()}} #{1+1} <%= 1 %>", "&lt;b&gt; &amp; &#65; &nbsp; &", "]]> <![CDATA[ x", "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY y SYSTEM \"file:///etc/passwd\">]>&y;",
	"__proto__", "constructor", "undefined", "null", "NaN", "true", "0", "-0", "1e1000", "[object Object]", "'; DROP TABLE messages; --", "../../../../etc/passwd", "%00 %0a %2e%2e%2f %n%s%x",
	"\u202eevil\u202c txt.exe", "\u2066 isolated \u2069 \u200e\u200f", "zero\u200bwidth\u200cjoin\u200der \ufeff", "a\u2028b\u2029c", "\u0001\u0002\u001b[31mred\u001b[0m\u007f\u0080\u009f", "line\r\nline\rline\n\n  two  blanks\ttab  ",
	"\ufffe\uffff \ufffd", "Z\u0351\u036b\u0343\u036a\u0302A\u0334\u0335\u031cL\u0355G\u0338\u0321O\u0327", "👩‍👩‍👧 🇨🇭 🏳️‍🌈", "نسخة עברית 漢字 ไทย", "ﷺ ﷽", "e\u0301 ﬁ ſ İ ı ß", "𝒽ℯ𝓁𝓁ℴ 𝟘𝟙", "田中さんにあげて下さい", "( ͡° ͜ʖ ͡°)", "\u00a0\u2003blank\u3000",
	"x".repeat(10_000), "word ".repeat(400), "\n".repeat(60) + "below many lines",
];

/* Names have few characters; these are the worst of them. */
export const NAMES = ["__proto__", "constructor", "toString", "javascript:alert/1", "//out.test/x", "../../etc/passwd", "a/../b", ".", "0", "undefined",
	"Bob@out.test:80/x", "n".repeat(128), "hasOwnProperty", "x:y:z", "index.html", "assets/page.js", "v1/login"];
export const LONG = "64 KiB of text, with a mark at its end. ".repeat(1700).slice(0, 65_500) + " <b>the mark</b> \u202ethe end";

const CONFIG = `size_limits:
  max_content_length: 100000
  max_messages_per_issue_phase: 1000000
  max_messages_per_issue: 1000000
retries:
  max_attempts: 1
breaker:
  failures: 1000
recipients: open
`;

export function batch(workspace, messages) {
	workspace.roger("send", "--batch", "--quiet", { input: messages.map((one) => JSON.stringify(one)).join("\n") + "\n" });
}

/* What nobody reads in time is a dead letter. */
async function giveUp(server, from, to, content, key) {
	const { status, body } = await server.post("send", { from, to: [to], content, issue: "app-42", key, confirm: "read", within: 1 });
	if (status !== 503)
		throw new Error(`no dead letter: ${status} ${JSON.stringify(body)}`);
}

async function mustPost(server, verb, body) {
	const { status, body: reply } = await server.post(verb, body);
	if (status !== 200)
		throw new Error(`${verb}: ${status} ${JSON.stringify(reply)}`);
	return reply;
}

export const QUESTION = "is migration 7 good? I cannot go on without you";

/* plan, implement, test and review work on app-42; review does not look at its mail. */
export async function small() {
	const workspace = new Workspace(CONFIG);
	batch(workspace, [
		{ from: "plan", to: "implement", content: "please add a column \"owner\" to the table", issue: "app-42" },
		{ from: "plan", to: "test", content: "the owner column comes with migration 7", issue: "app-42" },
		{ from: "implement", to: "review", content: "migrations/0007.sql is ready for review", issue: "app-42", type: "result" },
		{ from: "plan", to: "human", content: "review has been silent since this morning", issue: "app-42", type: "decision" },
	]);
	workspace.roger("receive", "--as", "implement", "--quiet");
	workspace.roger("receive", "--as", "test", "--quiet");
	const server = await workspace.serve();
	await giveUp(server, "implement", "review", QUESTION, "app-42:escalation:c1");
	await mustPost(server, "dispatch", { run: "build-7", agent: "plan", within: 1000, task: "build the branch", issue: "app-42" });
	await mustPost(server, "dispatch", { run: "build-8", agent: "plan", child: "tester", within: 3_600_000, issue: "app-42" });
	batch(workspace, HOSTILE.map((content, i) => ({ from: NAMES[i % NAMES.length], to: "mallory", content, issue: "hostile" })));
	batch(workspace, [{ from: "mallory", to: "human", content: HOSTILE[0], issue: "hostile", metadata: { "<img src=x onerror=alert(1)>": HOSTILE[2] } },
		{ from: "mallory", to: "human", content: LONG, issue: "hostile" },
		...NAMES.map((name) => ({ from: "mallory", to: name, content: `to ${name}`, issue: name }))]);
	workspace.roger("log", "--as", "mallory", HOSTILE[1], { status: 64 });
	return { workspace, server };
}

const pad = (number) => String(number).padStart(3, "0");
const agentName = (number, agents) => (number < NAMES.length ? NAMES[number] : `agent-${pad(number % agents)}`);

function* mail(from, to, agents) {
	for (let i = from; i < to; i++) {
		const hostile = i % 50 === 0;
		yield {
			from: agentName((i * 7) % agents, agents), to: agentName((i * 13 + 1) % agents, agents), issue: i % 97 ? `app-${i % 500}` : NAMES[i % NAMES.length],
			content: hostile ? HOSTILE[(i / 50) % HOSTILE.length] : `message ${i}: the ${i % 2 ? "tests" : "build"} of part ${i % 500} came through; see build/${i}.log`,
			type: ["context", "result", "decision", "data"][i % 4],
		};
	}
}

/* Most of it read; of the rest some is unread, and some was given up. */
export async function large({ messages = 100_000, agents = 200, runs = 1_000, letters = 60, unread = 0.05 } = {}) {
	const workspace = new Workspace(CONFIG);
	const read = Math.round(messages * (1 - unread));
	batch(workspace, [...mail(0, read, agents)]);
	const server = await workspace.serve();
	for (let i = 0; i < agents; i++)
		while ((await server.post("receive", { agent: agentName(i, agents), limit: 1000 })).body.messages?.length)
			;
	batch(workspace, [...mail(read, messages - letters, agents)]);
	batch(workspace, [{ from: "mallory", to: "human", content: LONG, issue: "hostile" }]);
	for (let i = 0; i < runs; i++) {
		await mustPost(server, "dispatch", { run: `run-${pad(i)}`, agent: agentName(i % agents, agents), within: i % 3 ? 3_600_000 : 1000, issue: `app-${i % 500}`,
			task: i % 10 ? `task ${i}` : HOSTILE[i % HOSTILE.length].slice(0, 100) });
		if (i % 4 === 1)
			await mustPost(server, "complete", { run: `run-${pad(i)}`, ...(i % 8 === 1 ? { failed: true } : { result: `done ${i}` }) });
	}
	for (let i = 0; i < letters - 1; i++)
		await giveUp(server, agentName(i % 7 + 20, agents), agentName(i % 11, agents), `given up ${i}: ${HOSTILE[i % HOSTILE.length]}`, `task-${i}:escalation:c1`);
	return { workspace, server };
}
