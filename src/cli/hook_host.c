#include "cli/hook_host.h"

#include "base/terminal.h"
#include "data/json.h"
#include "data/record.h"

enum { ALWAYS_MAX = 7, NEVER_MAX = 8 };

/* Members that only Copilot, VS Code and Cursor write. */
#define OTHERS "sessionId", "hookEventName", "conversation_id", "cursor_version"

#define PLUGIN_NEVER OTHERS, "hook_event_name", "transcript_path", "timestamp"

/*
 * The members that a tool writes at each event, and those that it never does; tests/unit/
 * test_hook_host.c has what each one wrote.  `timestamp` is what Copilot, VS Code and
 * Qwen Code add to the form of Claude Code.
 */
static const struct shape {
	int tool;
	const char *always[ALWAYS_MAX], *never[NEVER_MAX];
} shapes[] = {
	{ CLI_HOOK_CLAUDE,
	  { "session_id", "transcript_path", "cwd", "hook_event_name" },
	  { OTHERS, "timestamp", "turn_id" } },
	{ CLI_HOOK_CODEX,
	  { "session_id", "transcript_path", "cwd", "hook_event_name", "model", "permission_mode" },
	  { OTHERS, "timestamp", "prompt_id" } },
	{ CLI_HOOK_GEMINI,
	  { "session_id", "transcript_path", "cwd", "hook_event_name", "timestamp" },
	  { OTHERS, "permission_mode", "prompt_id", "turn_id" } },
	/* integrations/opencode/roger.js writes these. */
	{ CLI_HOOK_OPENCODE, { "session_id", "cwd" }, { PLUGIN_NEVER } },
	{ CLI_HOOK_KILO, { "session_id", "cwd" }, { PLUGIN_NEVER } },
	{ CLI_HOOK_QWEN,
	  { "session_id", "transcript_path", "cwd", "hook_event_name", "timestamp",
	    "permission_mode" },
	  { OTHERS, "turn_id" } },
	{ CLI_HOOK_COPILOT,
	  { "sessionId", "timestamp", "cwd" },
	  { "hookEventName", "hook_event_name", "conversation_id" } },
	/* These two are from the documentation of the tools. */
	{ CLI_HOOK_VSCODE,
	  { "sessionId", "hookEventName" },
	  { "hook_event_name", "conversation_id" } },
	{ CLI_HOOK_CURSOR,
	  { "conversation_id", "hook_event_name" },
	  { "sessionId", "hookEventName" } },
};
#define SHAPE_COUNT (sizeof shapes / sizeof *shapes)

/* Names of the programs of tools. */
static const struct {
	const char *name;
	int tool;
} programs[] = {
	{ "claude", CLI_HOOK_CLAUDE },	    { "codex", CLI_HOOK_CODEX },
	{ "gemini", CLI_HOOK_GEMINI },	    { "opencode", CLI_HOOK_OPENCODE },
	{ "copilot", CLI_HOOK_COPILOT },    { "qwen", CLI_HOOK_QWEN },
	{ "kilo", CLI_HOOK_KILO },	    { "kilocode", CLI_HOOK_KILO },
	{ "cursor", CLI_HOOK_CURSOR },	    { "cursor-agent", CLI_HOOK_CURSOR },
	{ "code", CLI_HOOK_VSCODE },	    { "code-insiders", CLI_HOOK_VSCODE },
	{ "code-server", CLI_HOOK_VSCODE }, { ".kilo", CLI_HOOK_KILO },
};

#define VARIABLE(name, tool) { name, CLI_HOOK_##tool },
static const struct {
	const char *name;
	int tool;
} variables[] = { RG_TOOL_VARIABLES(VARIABLE) };
#undef VARIABLE

/* ------------------------------------------------------------------ input -- */

/* Does the input have all of these members, or (all false) any of them? */
static bool has_members(const struct rg_value *input, const char *const *names, bool all)
{
	for (; *names; names++)
		if (!rg_json_member(input, *names) == all)
			return !all;
	return all;
}

/* The tools whose form the input has, as bits; *ret_not: those that never write such input. */
static unsigned match_shapes(const struct rg_value *input, unsigned *ret_not)
{
	unsigned fits = 0;
	size_t i;

	*ret_not = 0;
	for (i = 0; i < SHAPE_COUNT; i++) {
		if (has_members(input, shapes[i].never, false))
			*ret_not |= 1u << shapes[i].tool;
		else if (has_members(input, shapes[i].always, true))
			fits |= 1u << shapes[i].tool;
	}
	return fits;
}

/* ---------------------------------------------------------------- program -- */

/* The last part of a path, without an ending that says how it is run. */
static struct roger_str base_name(struct roger_str path)
{
	static const char *const endings[] = { ".exe", ".js", ".mjs", ".cjs" };
	size_t i;

	for (i = path.length; i > 0 && path.data[i - 1] != '/'; i--)
		;
	path = (struct roger_str){ path.data + i, path.length - i };
	for (i = 0; i < sizeof endings / sizeof *endings; i++)
		if (rg_str_ends(path, endings[i]) && path.length > strlen(endings[i]))
			path.length -= strlen(endings[i]);
	return path;
}

/* Is this the name of the program, also with a machine: codex-x86_64-unknown-linux-musl? */
static bool is_called(struct roger_str name, const char *program)
{
	struct roger_str rest;

	if (!rg_str_begins(name, program))
		return false;
	rest = (struct roger_str){ name.data + strlen(program), name.length - strlen(program) };
	return !rest.length || rg_str_begins(rest, "-x86_64") || rg_str_begins(rest, "-aarch64") ||
	       rg_str_begins(rest, "-linux");
}

static int find_program(struct roger_str path)
{
	struct roger_str name = base_name(path);
	size_t i;

	for (i = 0; i < sizeof programs / sizeof *programs; i++)
		if (is_called(name, programs[i].name))
			return programs[i].tool;
	return CLI_HOOK_NO_TOOL;
}

int cli_hook_tool_of(const struct roger_strs *words)
{
	static const char *const interpreters[] = { "node", "bun", "deno", NULL };
	int tool = CLI_HOOK_NO_TOOL;
	size_t i;

	for (i = 0; i < words->count && i < 2 && !tool; i++)
		tool = find_program(words->items[i]);
	if (tool || words->count < 2 || rg_enum_find(interpreters, base_name(words->items[1])) < 0)
		return tool;
	while (i < words->count && words->items[i].length && words->items[i].data[0] == '-')
		i++;
	return i < words->count ? find_program(words->items[i]) : CLI_HOOK_NO_TOOL;
}

/* --------------------------------------------------------------- variables -- */

/* The tool whose variables are set; CLI_HOOK_OTHER: two tools have theirs set. */
static int find_by_variables(char *(*variable)(const char *name))
{
	/* Several tools set this to their name, such as claude-code_2-1-330_harness. */
	const char *value = variable("AI_AGENT");
	int found = value && *value ? CLI_HOOK_CLAUDE : CLI_HOOK_NO_TOOL;
	size_t i;

	while (found && found < CLI_HOOK_OTHER &&
	       !rg_str_begins(rg_str(value), rg_hook_tool_names[found]))
		found++;

	for (i = 0; i < sizeof variables / sizeof *variables; i++) {
		value = variable(variables[i].name);
		if (!value || !*value || found == variables[i].tool)
			continue;
		if (found)
			return CLI_HOOK_OTHER;
		found = variables[i].tool;
	}
	return found;
}

/* --------------------------------------------------------------------- all -- */

enum cli_hook_host cli_hook_host(int tool, const struct cli_hook_clues *clues)
{
	unsigned never, fits = match_shapes(clues->input, &never), asked = 1u << tool;
	int found;

	if (never & asked)
		return CLI_HOOK_FOREIGN;
	/* Exactly one tool has this form. */
	if (fits && !(fits & (fits - 1)))
		return fits == asked ? CLI_HOOK_OWN : CLI_HOOK_FOREIGN;
	found = clues->program(NULL);
	if (!found)
		found = find_by_variables(clues->variable);
	if (found)
		return found == tool ? CLI_HOOK_OWN : CLI_HOOK_FOREIGN;
	/* Of two tools that write the same, neither runs the hooks of the other. */
	if (fits & asked)
		return CLI_HOOK_OWN;
	/* Tools name the event; a person does not. */
	return rg_json_member(clues->input, "hook_event_name") ? CLI_HOOK_FOREIGN
							       : CLI_HOOK_BY_HAND;
}
