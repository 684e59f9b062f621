/* terminal - does a person run this, or an agent's tool, which may have a terminal, too? */
#ifndef RG_TERMINAL_H
#define RG_TERMINAL_H

#include <stdbool.h>

/* The name of the person, in mail. */
#define RG_PERSON "human"

/* Variables that agents' tools give to what they start, and the tool (as a suffix) of each. */
#define RG_TOOL_VARIABLES(X)                                                                       \
	X("CLAUDECODE", CLAUDE)                                                                    \
	X("CODEX_THREAD_ID", CODEX)                                                                \
	X("CODEX_MANAGED_BY_NPM", CODEX)                                                           \
	X("GEMINI_SESSION_ID", GEMINI)                                                             \
	X("GEMINI_CLI", GEMINI)                                                                    \
	X("OPENCODE", OPENCODE)                                                                    \
	X("COPILOT_CLI", COPILOT)                                                                  \
	X("QWEN_CODE_SESSION_ID", QWEN)                                                            \
	X("KILO", KILO)                                                                            \
	X("CURSOR_VERSION", CURSOR)

/*
 * Does a person run this command, if it gives no name?  Yes if standard input or output is a
 * terminal (a command with neither belongs to a script), ROGER_AGENT is not set, and no variable
 * says that an agent's tool started it.  Anybody can fake this: it prevents mistakes, not attacks.
 */
bool rg_terminal_has_person(void);

#endif
