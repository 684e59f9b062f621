#include "base/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Codex sets more variables than we know; people set CODEX_HOME and CODEX_API_KEY. */
static bool has_codex(void)
{
	char **variable;

	for (variable = environ; *variable; variable++)
		if (!strncmp(*variable, "CODEX_", 6) &&
		    strcspn(*variable, "=") + 1 < strlen(*variable) &&
		    strncmp(*variable, "CODEX_HOME=", 11) != 0 &&
		    strncmp(*variable, "CODEX_API_KEY=", 14) != 0)
			return true;
	return false;
}

static bool has_tool(void)
{
#define NAME(variable, tool) variable,
	static const char *const names[] = { "AI_AGENT", RG_TOOL_VARIABLES(NAME) };
#undef NAME
	size_t i;

	for (i = 0; i < sizeof names / sizeof *names; i++)
		if (is_set(names[i]))
			return true;
	return has_codex();
}

bool rg_terminal_has_person(void)
{
	return (isatty(STDIN_FILENO) || isatty(STDOUT_FILENO)) && !is_set("ROGER_AGENT") &&
	       !has_tool();
}
