#!/usr/bin/env node
/*
 * roger as npm starts it: the program itself is in the package of this platform.
 * It costs the start of node; `roger setup` writes the path of the program, not of this.
 */
"use strict";

const { spawn } = require("child_process");
const name = `roger-mail-${process.platform}-${process.arch}`;

function find() {
	try {
		return require.resolve(`${name}/bin/roger`);
	} catch {
		console.error(
			`roger: the package ${name} is not installed: npm leaves it out with --omit=optional, ` +
				"and there is none but for linux-x64 and linux-arm64"
		);
		process.exit(69);
	}
}

/* Where node cannot become another program, it waits for it and ends as it does. */
function start(program, words) {
	const child = spawn(program, words, { stdio: "inherit" });

	/* The terminal tells both of ^C; what is sent to this one alone goes on to the program. */
	process.on("SIGINT", () => {});
	for (const signal of ["SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2"])
		process.on(signal, () => child.kill(signal));
	child.on("error", (error) => {
		console.error(`roger: ${program}: ${error.message}`);
		process.exit(69);
	});
	child.on("exit", (status, signal) => {
		if (!signal)
			process.exit(status);
		process.removeAllListeners(signal);
		process.kill(process.pid, signal);
	});
}

const program = find();
const words = process.argv.slice(2);

if (typeof process.execve === "function") {
	try {
		process.execve(program, [program, ...words], process.env);
	} catch {
		/* not allowed here */
	}
}
start(program, words);
