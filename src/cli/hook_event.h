/*
 * hook_event - what an agent's tool says to a hook, and the form in which it
 * takes the hook's answer to its model.  Pure.
 */
#ifndef CLI_HOOK_EVENT_H
#define CLI_HOOK_EVENT_H

#include "base/str.h"
#include "verbs.h"

/* Values beside those of enum rg_hook_tool and enum rg_hook_event. */
enum {
	CLI_HOOK_NO_TOOL,
	CLI_HOOK_OTHER = CLI_HOOK_CURSOR + 1, /* any other */
	CLI_HOOK_NO_EVENT = 0,
	CLI_HOOK_KINDS = CLI_HOOK_IDLE + 1,
};

struct cli_hook_event {
	int tool; /* enum rg_hook_tool */
	int kind; /* enum rg_hook_event */
	struct roger_str name;
	struct roger_str session; /* the tool's name for it, or nothing */
	bool stopped_before;	  /* a hook has already kept the tool from stopping */
	bool resumed;		  /* the session knows what was shown before */
	bool by_prompt;		  /* its briefing comes with the first prompt, not at the start */
	bool in_subagent;	  /* it runs in a sub-agent, not in the agent itself */
};

/*
 * Fill in the rest of event, whose tool and kind are set, from what the tool
 * wrote; all of that may be missing.  Returns what the texts point into, or NULL.
 */
struct rg_json *cli_hook_read(struct cli_hook_event *event, struct roger_str input);

/* The answer in the tool's own form: one line of JSON, or the text as it is. */
void cli_hook_print(const struct cli_hook_event *event, struct roger_str text, struct rg_buf *out);

#endif
