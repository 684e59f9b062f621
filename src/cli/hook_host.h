/*
 * hook_host - which tool runs a hook.
 *
 * Tools run each other's hooks: GitHub Copilot CLI, VS Code and Cursor those of
 * .claude/settings.json, Copilot and Qwen Code those of a plugin for Claude Code.  And a
 * tool that was started in another one's shell has the variables of both.  So the members
 * of what a tool wrote decide first, then the nearest tool among the programs above the
 * hook, and the variables last.  Pure: the table is in hook_host.c.
 */
#ifndef CLI_HOOK_HOST_H
#define CLI_HOOK_HOST_H

#include "cli/hook_event.h"

struct rg_value;

struct cli_hook_clues {
	const struct rg_value *input;	  /* what the tool wrote; NULL: nothing, or no JSON */
	int (*program)(int64_t *ret_pid); /* the nearest tool above us: enum cli_hook_tool */
	char *(*variable)(const char *name);
};

enum cli_hook_host {
	CLI_HOOK_FOREIGN, /* another tool, or none can be told: nothing is shown */
	CLI_HOOK_BY_HAND, /* no tool at all: what is shown has reached nobody */
	CLI_HOOK_OWN,	  /* the tool that the hook was written for */
};
enum cli_hook_host cli_hook_host(int tool, const struct cli_hook_clues *clues);

/* Which tool runs as a process: its name, then the words that started it. */
int cli_hook_tool_of(const struct roger_strs *words);

/* hook.c: the nearest tool among the programs above us, and (or NULL) its process id; 0: none. */
int cli_tool_above(int64_t *ret_pid);

#endif
