/* terminal - who sits there: a person, or the tool of an agent, which has terminals, too. */
#ifndef RG_TERMINAL_H
#define RG_TERMINAL_H

#include <stdbool.h>

/* The name of a person. */
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
 * Is whoever says no name a person?  So it is where standard input or output is a terminal (a
 * command with neither belongs to a script), ROGER_AGENT is not set, and no variable says that an
 * agent's tool started it.  Anybody can lie about all that: it tells slips from people.
 */
bool rg_terminal_has_person(void);

#endif
