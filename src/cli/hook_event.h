/*
 * hook_event - what an agent's tool says to a hook, and the form in which it
 * takes the hook's answer to its model.  Pure.
 */
#ifndef CLI_HOOK_EVENT_H
#define CLI_HOOK_EVENT_H

#include "base/str.h"

enum cli_hook_tool {
	CLI_HOOK_NO_TOOL,
	CLI_HOOK_CLAUDE,
	CLI_HOOK_CODEX,
	CLI_HOOK_GEMINI,
	CLI_HOOK_OPENCODE,
	CLI_HOOK_OTHER /* one that roger writes no hooks for */
};
enum cli_hook_kind {
	CLI_HOOK_NO_EVENT,
	CLI_HOOK_SESSION_START,
	CLI_HOOK_PROMPT,
	CLI_HOOK_TOOL,
	CLI_HOOK_STOP,
	CLI_HOOK_IDLE,
	CLI_HOOK_KINDS
};
extern const char *const cli_hook_tools[], *const cli_hook_kinds[];

struct cli_hook_event {
	int tool; /* enum cli_hook_tool */
	int kind; /* enum cli_hook_kind */
	struct roger_str name;
	struct roger_str session; /* the tool's name for it, or nothing */
	bool stopped_before;	  /* a hook has already kept the tool from stopping */
	bool resumed;		  /* the session knows what was shown before */
	bool in_subagent;	  /* it runs in a sub-agent, not in the agent itself */
};

/*
 * Fill in the rest of event, whose tool and kind are set, from what the tool
 * wrote; all of that may be missing.  Returns what the texts point into, or NULL.
 */
struct rg_json *cli_hook_read(struct cli_hook_event *event, struct roger_str input);

/* The answer as one line, in the tool's own form. */
void cli_hook_print(const struct cli_hook_event *event, struct roger_str text, struct rg_buf *out);

#endif
