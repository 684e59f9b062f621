/*
 * demo-page - for script/demo --page: the page of roger serve, open while agents hand over work.
 *
 *     node demo-page.mjs WORKSPACE
 *
 * Makes `page-open` there once it looks, and pictures when one agent was killed and, when
 * `finished` is there, of how it ended.
 */
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Workspace, drawn, launch, login, missing } from "../tests/browser/lib_browser.mjs";

const why = missing();
if (why)
	throw new Error(why);

const place = process.argv[2];
const at = (name) => path.join(place, name);
const seen = async (name) => {
	while (!existsSync(at(name)))
		await page.waitForTimeout(50);
};
const picture = async (name) => {
	await page.screenshot({ path: at(`${name}.png`) });
	console.log(`${path.relative(process.cwd(), at(name)) || name}.png`);
};

const workspace = new Workspace("", place);
const server = await workspace.serve();
const browser = await launch();
const { page, faults } = await login(browser, server, { viewport: { width: 1100, height: 680 } });
writeFileSync(at("page-open"), "");

await seen("in-the-middle");
await page.getByRole("grid", { name: "Agents" }).getByRole("link", { name: "implement", exact: true }).waitFor();
await picture("page-killed");
await seen("finished");
await picture("page-now");
const [task] = (await server.get("/v1/list?text=%22migrate+the+rows%22")).body.messages;
for (const [name, view] of [["page-timeline", "/timeline/app-42"], ["page-message", `/message/${task.id}`], ["page-thread", `/thread/${task.id}`]]) {
	await page.goto(server.origin + view);
	await drawn(page);
	await picture(name);
}
await page.emulateMedia({ colorScheme: "dark" });
await picture("page-dark");
await browser.close();
await server.end();
if (faults.length)
	console.error(faults.join("\n"));
process.exit(faults.length ? 1 : 0);
