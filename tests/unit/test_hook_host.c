/*
 * What cli/hook_host.h promises: a hook acts only for the tool that it was written for.
 * The inputs are what the real tools wrote, with shorter values: Claude Code 2.1.330,
 * Codex 0.169.0, Gemini CLI 0.61.0, our plugin in OpenCode 1.18.33, GitHub Copilot CLI
 * 1.0.102, Qwen Code 0.24.4 (with our plugin for Claude Code as its extension).  Those of
 * VS Code and Cursor, and older ones of Claude Code, are from their documentation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cli/hook_host.h"
#include "data/json.h"

#define ID "\"session_id\":\"d42c48d5-2ec9-42ec-b911-0d2e9c95b713\""
#define PATH_AND_CWD "\"transcript_path\":\"/h/s.jsonl\",\"cwd\":\"/w\""
#define NOW "\"timestamp\":\"2026-11-23T09:35:14.082Z\""
#define TURN "\"turn_id\":\"01a207c1-5be4-7330-aa81-4c91f399f60e\""
#define EVENT(name) "\"hook_event_name\":\"" name "\""

enum { CLAUDE = CLI_HOOK_CLAUDE, CODEX = CLI_HOOK_CODEX, GEMINI = CLI_HOOK_GEMINI };
enum { OPENCODE = CLI_HOOK_OPENCODE, COPILOT = CLI_HOOK_COPILOT, QWEN = CLI_HOOK_QWEN };
enum { KILO = CLI_HOOK_KILO, VSCODE = CLI_HOOK_VSCODE, CURSOR = CLI_HOOK_CURSOR };
enum { OTHER = CLI_HOOK_OTHER, NONE = CLI_HOOK_NO_TOOL };

/* What only one tool writes, whatever is above it and in its environment. */
static const struct {
	int tool;
	const char *input;
} certain[] = {
#define CLAUDE_MORE "\"prompt_id\":\"2a8d1e02\",\"permission_mode\":\"default\""
	{ CLAUDE, "{" ID "," PATH_AND_CWD "," EVENT("SessionStart") ",\"source\":\"startup\"}" },
	{ CLAUDE,
	  "{" ID "," PATH_AND_CWD "," EVENT("SessionStart") ",\"source\":\"startup\","
							    "\"model\":\"claude-opus-5-5\"}" },
	{ CLAUDE, "{" ID "," PATH_AND_CWD "," CLAUDE_MORE
		  "," EVENT("UserPromptSubmit") ",\"prompt\":\"do work\"}" },
	{ CLAUDE,
	  "{" ID "," PATH_AND_CWD "," CLAUDE_MORE ",\"effort\":{\"level\":\"medium\"}," EVENT(
		  "PostToolUse") ",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"true\"},"
				 "\"tool_response\":{\"stdout\":\"\"},\"tool_use_id\":\"toolu_1\","
				 "\"duration_ms\":41}" },
	{ CLAUDE,
	  "{" ID "," PATH_AND_CWD "," CLAUDE_MORE ",\"effort\":{\"level\":\"medium\"}," EVENT(
		  "Stop") ",\"stop_hook_active\":false,\"last_assistant_message\":\"Done.\","
			  "\"background_tasks\":[],\"session_crons\":[]}" },
	/* From the documentation of an older one. */
	{ CLAUDE, "{" ID "," PATH_AND_CWD ",\"permission_mode\":\"default\"," EVENT(
			  "UserPromptSubmit") ",\"prompt\":\"hi\"}" },
	{ CLAUDE, "{" ID "," PATH_AND_CWD
		  ",\"permission_mode\":\"default\"," EVENT("Stop") ",\"stop_hook_active\":true}" },

#define CODEX_MORE "\"model\":\"fake\",\"permission_mode\":\"bypassPermissions\""
	{ CODEX, "{" ID "," TURN "," PATH_AND_CWD
		 "," EVENT("UserPromptSubmit") "," CODEX_MORE ",\"prompt\":\"do work\"}" },
	{ CODEX, "{" ID "," TURN "," PATH_AND_CWD
		 "," EVENT("PostToolUse") "," CODEX_MORE ",\"tool_name\":\"Bash\",\"tool_input\":{"
					  "\"command\":\"true\"},\"tool_response\":\"\","
					  "\"tool_use_id\":\"call_1\"}" },
	{ CODEX,
	  "{" ID "," TURN "," PATH_AND_CWD
	  "," EVENT("Stop") "," CODEX_MORE
			    ",\"stop_hook_active\":false,\"last_assistant_message\":\"Done.\"}" },
	/* Its schema lets the path be null. */
	{ CODEX, "{" ID "," TURN ",\"transcript_path\":null,\"cwd\":\"/w\"," EVENT(
			 "Stop") "," CODEX_MORE
				 ",\"stop_hook_active\":false,\"last_assistant_message\":null}" },

	{ GEMINI,
	  "{" ID "," PATH_AND_CWD "," EVENT("SessionStart") "," NOW ",\"source\":\"startup\"}" },
	{ GEMINI,
	  "{" ID "," PATH_AND_CWD "," EVENT("BeforeAgent") "," NOW ",\"prompt\":\"do work\"}" },
	{ GEMINI, "{" ID "," PATH_AND_CWD
		  "," EVENT("AfterTool") "," NOW ",\"tool_name\":\"run_shell_command\",\"tool_"
					 "input\":{\"command\":\"true\"},"
					 "\"tool_response\":{\"llmContent\":\"\"}}" },
	{ GEMINI, "{" ID "," PATH_AND_CWD
		  "," EVENT("AfterAgent") "," NOW ",\"prompt\":\"do "
					  "work\",\"prompt_response\":\"Done.\",\"stop_"
					  "hook_active\":false}" },

	{ COPILOT, "{\"sessionId\":\"s\",\"timestamp\":1704614400000,\"cwd\":\"/w\","
		   "\"source\":\"new\",\"initialPrompt\":\"do work\"}" },
	{ COPILOT, "{\"sessionId\":\"s\",\"timestamp\":1704614400000,\"cwd\":\"/w\","
		   "\"prompt\":\"do work\"}" },
	{ COPILOT, "{\"sessionId\":\"s\",\"timestamp\":1704614400000,\"cwd\":\"/w\","
		   "\"transcriptPath\":\"/h/events.jsonl\",\"stopReason\":\"end_turn\","
		   "\"stop_hook_active\":false}" },

	{ QWEN,
	  "{" ID "," PATH_AND_CWD "," EVENT("SessionStart") "," NOW ",\"permission_mode\":\"yolo\","
							    "\"source\":\"startup\"}" },
	{ QWEN, "{" ID "," PATH_AND_CWD "," EVENT("Stop") "," NOW ",\"permission_mode\":\"yolo\","
							  "\"prompt_id\":\"p\",\"stop_hook_"
							  "active\":false}" },

	/* From the documentation. */
	{ VSCODE, "{" NOW ",\"cwd\":\"/w\",\"sessionId\":\"s\",\"hookEventName\":\"Stop\"}" },
	{ CURSOR, "{\"conversation_id\":\"c\"," EVENT("stop") ",\"cursor_version\":\"3.0\"}" },
};

/* What tools write that run the hooks of Claude Code. */
static const char *const neighbours[] = {
	/* GitHub Copilot CLI */
	"{" EVENT("SessionStart") "," ID "," NOW ",\"cwd\":\"/w\",\"source\":\"new\","
				  "\"initial_prompt\":\"do work\"}",
	"{" EVENT("UserPromptSubmit") "," ID "," NOW ",\"cwd\":\"/w\",\"prompt\":\"do work\"}",
	"{" EVENT("PostToolUse") "," ID "," NOW ",\"cwd\":\"/w\",\"tool_name\":\"Bash\","
				 "\"tool_input\":{\"command\":\"true\"},\"tool_result\":{\"result_"
				 "type\":\"success\"}}",
	"{" EVENT("Stop") "," ID "," NOW "," PATH_AND_CWD ",\"stop_reason\":\"end_turn\","
			  "\"stop_hook_active\":false}",
	/* Its own form, from the documentation. */
	"{\"sessionId\":\"s\",\"timestamp\":1704614400000,\"cwd\":\"/w\",\"source\":\"new\","
	"\"initialPrompt\":\"do work\"}",
	/* Qwen Code */
	"{" ID "," PATH_AND_CWD
	"," EVENT("SessionStart") "," NOW ",\"permission_mode\":\"yolo\","
				  "\"source\":\"startup\",\"model\":\"fake\"}",
	"{" ID "," PATH_AND_CWD
	"," EVENT("UserPromptSubmit") "," NOW ",\"permission_mode\":\"yolo\","
				      "\"prompt_id\":\"p\",\"prompt\":\"do "
				      "work\",\"submitted_prompt\":\"do work\"}",
	"{" ID "," PATH_AND_CWD
	"," EVENT("PostToolUse") "," NOW ",\"permission_mode\":\"yolo\","
				 "\"prompt_id\":\"p\",\"tool_name\":\"run_shell_command\",\"tool_"
				 "input\":{},"
				 "\"tool_response\":{},\"tool_use_id\":\"t\",\"tool_call_id\":"
				 "\"c\",\"duration_ms\":14}",
	"{" ID "," PATH_AND_CWD
	"," EVENT("Stop") "," NOW ",\"permission_mode\":\"yolo\","
			  "\"prompt_id\":\"p\",\"stop_hook_active\":false,\"last_assistant_"
			  "message\":\"Done.\","
			  "\"background_tasks\":[],\"crons\":[],\"context_limit\":200000}",
	/* VS Code, from the documentation: both spellings are in it. */
	"{" NOW ",\"cwd\":\"/w\",\"sessionId\":\"s\",\"hookEventName\":\"SessionStart\","
	"\"transcript_path\":\"/h/t.json\",\"source\":\"new\"}",
	"{" NOW "," PATH_AND_CWD "," ID "," EVENT("UserPromptSubmit") ",\"prompt\":\"x\"}",
	"{\"hookEventName\":\"Stop\",\"sessionId\":\"s\",\"stop_hook_active\":false}",
	/* Cursor, from the documentation. */
	"{\"conversation_id\":\"c\",\"generation_id\":\"g\",\"model\":\"m\"," EVENT(
		"sessionStart") ",\"cursor_version\":\"3.0\",\"workspace_roots\":[\"/"
				"w\"],\"user_email\":null,"
				"\"transcript_path\":\"/h/"
				"t.json\",\"session_id\":\"c\",\"composer_mode\":\"agent\"}",
	"{\"conversation_id\":\"c\"," ID "," PATH_AND_CWD
	"," EVENT("Stop") ",\"cursor_version\":\"3.0\"}",
};

/* What leaves open who wrote it. */
static const char *const open[] = {
	"",
	"{",
	"[]",
	"null",
	"7",
	"{}",
	"{\"session_id\":\"s\"}",
	"{\"source\":\"resume\"}",
	"{\"stop_hook_active\":false}",
	"{" EVENT("PostToolUse") ",\"agent_id\":\"a1\"}",
};

static int above;
static int get_above(int64_t *ret_pid)
{
	(void)ret_pid;
	return above;
}

static const char *const *set;
static char *get_variable(const char *name)
{
	const char *const *one;

	size_t length = strlen(name);

	for (one = set; one && *one; one++)
		if (strncmp(*one, name, length) == 0 && strchr("=", (*one)[length]))
			return (char *)(uintptr_t)((*one)[length] ? *one + length + 1 : "1");
	return NULL;
}

static enum cli_hook_host judge(int tool, const char *text, int program,
				const char *const *variables)
{
	struct cli_hook_clues clues = { .program = get_above, .variable = get_variable };
	struct rg_json *json = NULL;
	enum cli_hook_host host;

	above = program;
	set = variables;
	if (rg_json_read(rg_str(text), &json, NULL) == ROGER_OK)
		clues.input = rg_json_root(json);
	host = cli_hook_host(tool, &clues);
	rg_json_free(json);
	return host;
}

static const char *const of_claude[] = { "CLAUDECODE", NULL };
static const char *const of_copilot[] = { "COPILOT_CLI", NULL };
static const char *const of_harness[] = { "CLAUDECODE", "AI_AGENT=claude-code_2-1-330_harness",
					  NULL };
static const char *const of_another[] = { "AI_AGENT=devin", NULL };
static const char *const of_both[] = { "CLAUDECODE", "COPILOT_CLI", NULL };
static const char *const *const environments[] = { NULL,    of_claude,	of_copilot,
						   of_both, of_harness, of_another };

static bool acts(int tool, const char *text, int program, const char *const *variables)
{
	return judge(tool, text, program, variables) == CLI_HOOK_OWN;
}

/* Whatever is above, whatever is in the environment. */
static void check_everywhere(int tool, const char *text, enum cli_hook_host expected)
{
	size_t i;
	int program;

	for (program = NONE; program <= OTHER; program++)
		for (i = 0; i < sizeof environments / sizeof *environments; i++)
			if (judge(tool, text, program, environments[i]) != expected)
				fail_msg("hook of tool %d, below tool %d, environment %zu: %s",
					 tool, program, i, text ? text : "");
}

static void knows_each_tool_by_its_input(void **state)
{
	size_t i;
	int tool;

	(void)state;
	for (i = 0; i < sizeof certain / sizeof *certain; i++)
		for (tool = CLAUDE; tool <= CURSOR; tool++)
			check_everywhere(tool, certain[i].input,
					 tool == certain[i].tool ? CLI_HOOK_OWN : CLI_HOOK_FOREIGN);
}

static void does_nothing_for_neighbours(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof neighbours / sizeof *neighbours; i++)
		check_everywhere(CLAUDE, neighbours[i], CLI_HOOK_FOREIGN);
	/* The extension for Gemini CLI can be installed into Qwen Code, too. */
	for (i = 5; i < 9; i++)
		check_everywhere(GEMINI, neighbours[i], CLI_HOOK_FOREIGN);
}

static void asks_the_programs_above_then_the_variables(void **state)
{
	size_t i;
	int tool;

	(void)state;
	for (i = 0; i < sizeof open / sizeof *open; i++) {
		assert_false(acts(CLAUDE, open[i], NONE, NULL));
		assert_true(acts(CLAUDE, open[i], NONE, of_claude));
		assert_true(acts(CLAUDE, open[i], NONE, of_harness));
		assert_false(acts(CODEX, open[i], NONE, of_harness));
		assert_false(acts(CLAUDE, open[i], NONE, of_copilot));
		assert_false(acts(CLAUDE, open[i], NONE, of_both));
		assert_false(acts(CODEX, open[i], NONE, of_claude));
		for (tool = CLAUDE; tool <= GEMINI; tool++) {
			assert_true(acts(tool, open[i], tool, of_both));
			assert_false(acts(tool, open[i], OTHER, of_claude));
		}
	}
}

/* A person, or a test of one: no tool, whatever it is that was written. */
static void knows_what_no_tool_runs(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof open / sizeof *open; i++)
		assert_int_equal(judge(CLAUDE, open[i], NONE, NULL),
				 strstr(open[i], "hook_event_name") ? CLI_HOOK_FOREIGN
								    : CLI_HOOK_BY_HAND);
	assert_int_equal(judge(CLAUDE, "{}", NONE, of_both), CLI_HOOK_FOREIGN);
	assert_int_equal(judge(CLAUDE, "{}", NONE, of_another), CLI_HOOK_FOREIGN);
	assert_int_equal(judge(CLAUDE, "{}", OTHER, NULL), CLI_HOOK_FOREIGN);
}

/* Our plugin writes the same in both. */
static void tells_kilo_from_opencode_by_its_program(void **state)
{
	static const char *const of_kilo[] = { "KILO", NULL };
	const char *text = "{\"session_id\":\"ses_df83e8d9fffe6o8vmf6ZAWecLA\",\"cwd\":\"/w\"}";

	(void)state;
	assert_true(acts(OPENCODE, text, OPENCODE, of_kilo));
	assert_true(acts(OPENCODE, text, NONE, NULL));
	assert_false(acts(OPENCODE, text, KILO, NULL));
	assert_true(acts(KILO, text, KILO, NULL));
	assert_true(acts(KILO, text, NONE, of_kilo));
	assert_false(acts(KILO, text, OPENCODE, of_kilo));
	assert_false(acts(CLAUDE, text, KILO, NULL));
}

/* At its first event Codex writes what Claude Code could. */
static void tells_codex_by_its_program(void **state)
{
	static const char *const of_codex[] = { "CODEX_THREAD_ID", NULL };
	const char *text = "{" ID "," PATH_AND_CWD
			   "," EVENT("SessionStart") "," CODEX_MORE ",\"source\":\"startup\"}";

	(void)state;
	assert_true(acts(CODEX, text, CODEX, NULL));
	assert_true(acts(CODEX, text, NONE, NULL));
	assert_false(acts(CLAUDE, text, CODEX, of_claude));
	assert_true(acts(CLAUDE, text, CLAUDE, NULL));
	assert_true(acts(CODEX, text, NONE, of_codex));
	assert_false(acts(GEMINI, text, GEMINI, NULL));
}

/* A process as /proc has it: its name and the words that started it. */
static const struct {
	int tool;
	const char *words[5];
} processes[] = {
	{ CLAUDE, { "claude", "claude", "-p", "do work" } },
	{ CLAUDE, { "claude.exe", "/x/claude-code/bin/claude.exe" } },
	{ CLAUDE, { "node", "node", "--no-warnings", "/usr/local/bin/claude" } },
	{ CODEX, { "codex", "/x/vendor/x86_64-unknown-linux-musl/bin/codex", "exec" } },
	{ CODEX, { "codex-x86_64-un", "/usr/bin/codex-x86_64-unknown-linux-musl" } },
	{ GEMINI, { "MainThread", "/x/bin/node", "--max-old-space-size=12052", "/x/.bin/gemini" } },
	{ OPENCODE, { "opencode", "opencode", "run", "do work" } },
	{ COPILOT, { "MainThread", "/x/copilot-linux-x64/copilot", "-p", "do work" } },
	{ COPILOT, { "MainThread", "node", "/x/.bin/copilot", "-p" } },
	{ QWEN, { "MainThread", "node", "/x/.bin/qwen", "--yolo" } },
	{ KILO, { "kilo", "/x/cli-linux-x64/bin/kilo", "run", "do work" } },
	{ KILO, { ".kilo", "/x/cli/bin/.kilo", "serve", "--port", "0" } },
	{ VSCODE, { "code", "/usr/share/code/code", "--type=utility" } },
	{ CURSOR, { "cursor-agent", "cursor-agent" } },
	{ NONE, { "sh", "sh", "-c", "roger hook claude idle" } },
	{ NONE, { "bash", "/usr/bin/bash", "claude" } },
	{ NONE, { "vim", "vim", "claude" } },
	{ NONE, { "claudette", "claudette" } },
	{ NONE, { "codex-helper", "codex-helper" } },
	{ NONE, { "node", "node" } },
	{ NONE, { "node", "node", "--version" } },
	{ NONE, { "kthreadd" } },
	{ NONE, { "" } },
};

static void knows_programs(void **state)
{
	struct roger_str items[5];
	struct roger_strs words = { items, 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof processes / sizeof *processes; i++) {
		for (words.count = 0; words.count < 5 && processes[i].words[words.count];
		     words.count++)
			items[words.count] = rg_str(processes[i].words[words.count]);
		if (cli_hook_tool_of(&words) != processes[i].tool)
			fail_msg("process %zu: %s", i, processes[i].words[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_each_tool_by_its_input),
		cmocka_unit_test(does_nothing_for_neighbours),
		cmocka_unit_test(asks_the_programs_above_then_the_variables),
		cmocka_unit_test(knows_what_no_tool_runs),
		cmocka_unit_test(tells_codex_by_its_program),
		cmocka_unit_test(tells_kilo_from_opencode_by_its_program),
		cmocka_unit_test(knows_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
