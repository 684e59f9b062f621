/* setup: the table of hooks, servers and texts for each tool, and the files they go into. */
#include "ops/tools/setup.h"

enum {
	PROJECT = 1 << ROGER_SETUP_PROJECT,
	USER = 1 << ROGER_SETUP_USER,
	STEALTH = 1 << ROGER_SETUP_STEALTH,
};

/* A hook's command, in each tool's words, and how long the tool waits for it. */
#define RUN "{\"type\": \"command\", \"command\": \"{run} "
#define NESTED(more) "\"hooks\": [" RUN "{command}{as}\"" more "}]}"
static const char plain[] = "{" NESTED(", \"timeout\": 10");
static const char any_tool[] = "{\"matcher\": \"*\", " NESTED(", \"timeout\": 10");
static const char named[] =
	"{\"matcher\": \"*\", " NESTED(", \"name\": \"roger\", \"timeout\": 10000");
static const char bash[] =
	"{\"type\": \"command\", \"bash\": \"{run} {command}{as}\", \"timeoutSec\": 10}";
/* A hook of Claude Code can wait in the background; exit status 2 wakes the agent. */
static const char rewake[] = "{" NESTED(", \"asyncRewake\": true, \"timeout\": 86400");

#define ARGS "\"mcp\", \"--for\", \"{tool}\"{as_words}"
#define COMMAND "\"command\": \"{roger}\", \"args\": [" ARGS "]"

static const char plain_server[] = "{" COMMAND "}";
/* roger has only eight tools, so the model need not search for them. */
static const char qwen_server[] = "{" COMMAND ", \"alwaysLoadTools\": true}";
static const char claude_server[] = "{\"type\": \"stdio\", " COMMAND "}";
static const char copilot_server[] = "{\"type\": \"local\", " COMMAND ", \"tools\": [\"*\"]}";
static const char codex_server[] = "[mcp_servers.roger]\n"
				   "command = \"{roger}\"\n"
				   "args = [" ARGS "]\n"
				   "env_vars = [\"ROGER_AGENT\", \"ROGER_ISSUE\", "
				   "\"ROGER_WORKSPACE\"]\n";

const char rg_setup_codex_wake[] =
	"wake:\n"
	"  agents:\n"
	"    \"{codex}\": [codex, queue, --thread, \"{session}\", --message,\n"
	"      \"roger: {count} new messages for {agent}, look into your inbox\", --resume]\n";

/* The plugin of OpenCode and of Kilo. */
static const char plugin[] =
#include "setup_plugin.h"
	;

static const char agents_block[] =
	"Other agents work here too, and write to you through roger. Run `roger prime` when you\n"
	"begin: it says who you are, what is unread and what you owe. Messages are from other\n"
	"agents, not from the user.\n";

#define HERE (PROJECT | STEALTH)
#define ANY (HERE | USER)
#define EXCLUDE NULL, "/info/exclude"

/* A hook, the files that have hooks, and a hook of Claude Code in either file. */
#define HOOK(event, value, command) value, (const char *const[]){ "hooks", event, NULL }, command
#define CODEX_HOOKS CLI_HOOK_CODEX, ANY, &codex, "/hooks.json"
#define GEMINI_HOOKS CLI_HOOK_GEMINI, ANY, &gemini, "/settings.json"
#define COPILOT_HOOKS CLI_HOOK_COPILOT, ANY, &copilot, "/hooks/roger.json"
#define QWEN_HOOKS CLI_HOOK_QWEN, ANY, &qwen, "/settings.json"
#define PLACE(...)                                                                                 \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}
#define CLAUDE_HOOK(...)                                                                           \
	PLACE(CLI_HOOK_CLAUDE, PROJECT | USER, &claude, "/settings.json", HOOK(__VA_ARGS__)),      \
		PLACE(CLI_HOOK_CLAUDE, STEALTH, &claude, "/settings.local.json",                   \
		      HOOK(__VA_ARGS__))

/* Where files are in a project, and those of a user. */
static const struct rg_setup_folder root = { "" };
static const struct rg_setup_folder workspace = { "/.roger", .shared = true };
static const struct rg_setup_folder claude = { "/.claude", "CLAUDE_CONFIG_DIR", "", "/.claude" };
static const struct rg_setup_folder claude_json = { NULL, "CLAUDE_CONFIG_DIR", "/.claude.json",
						    "/.claude.json" };
static const struct rg_setup_folder codex = { "/.codex", "CODEX_HOME", "", "/.codex" };
static const struct rg_setup_folder gemini = { "/.gemini", NULL, "", "/.gemini" };
static const struct rg_setup_folder opencode = { "/.opencode", "XDG_CONFIG_HOME", "/opencode",
						 "/.config/opencode" };
static const struct rg_setup_folder kilo = { "/.kilo", "XDG_CONFIG_HOME", "/kilo",
					     "/.config/kilo" };
static const struct rg_setup_folder copilot = { "/.github", "COPILOT_HOME", "", "/.copilot" };
static const struct rg_setup_folder qwen = { "/.qwen", "QWEN_HOME", "", "/.qwen" };

/* Where a server is in the settings of most tools, and the other members. */
static const char *const server[] = { "mcpServers", "roger", NULL };
static const char *const project_server[] = { "projects", "{root}", "mcpServers", "roger", NULL };
static const char *const version[] = { "version", NULL };

/* Each hook is put before those that are there. */
const struct rg_setup_place rg_setup_places[] = {
	/* Claude Code reads another file, and its hook says the same. */
	{ 0, PROJECT, &root, "/AGENTS.md", agents_block, NULL, "<!--", NULL, CLI_HOOK_CLAUDE },
	{ 0, STEALTH, EXCLUDE, ".roger/\n", NULL, "#" },
	{ CLI_HOOK_CLAUDE, STEALTH, EXCLUDE, "**/.claude/settings.local.json\n", NULL, "# claude" },
	{ CLI_HOOK_CODEX, STEALTH, EXCLUDE, "**/.codex/config.toml\n**/.codex/hooks.json\n", NULL,
	  "# codex" },
	{ CLI_HOOK_GEMINI, STEALTH, EXCLUDE, "**/.gemini/settings.json\n", NULL, "# gemini" },
	{ CLI_HOOK_OPENCODE, STEALTH, EXCLUDE, "**/.opencode/plugin/roger.js\n", NULL,
	  "# opencode" },
	{ CLI_HOOK_COPILOT, STEALTH, EXCLUDE, "**/.github/hooks/roger.json\n**/.github/mcp.json\n",
	  NULL, "# copilot" },
	{ CLI_HOOK_QWEN, STEALTH, EXCLUDE, "**/.qwen/settings.json\n", NULL, "# qwen" },
	{ CLI_HOOK_KILO, STEALTH, EXCLUDE, "**/.kilo/plugin/roger.js\n", NULL, "# kilo" },

	{ CLI_HOOK_CLAUDE, PROJECT, &root, "/.mcp.json", claude_server, server },
	{ CLI_HOOK_CLAUDE, USER, &claude_json, "", claude_server, server },
	{ CLI_HOOK_CLAUDE, STEALTH, &claude_json, "", claude_server, project_server },
	CLAUDE_HOOK("SessionStart", rewake, "idle"),
	CLAUDE_HOOK("SessionStart", plain, "session-start"),
	CLAUDE_HOOK("UserPromptSubmit", plain, "prompt"),
	CLAUDE_HOOK("PostToolUse", any_tool, "tool"),
	CLAUDE_HOOK("Stop", rewake, "idle"),
	CLAUDE_HOOK("Stop", plain, "stop"),

	{ CLI_HOOK_CODEX, HERE, &workspace, "/config.yaml", rg_setup_codex_wake, NULL, "#",
	  "wake" },
	{ CLI_HOOK_CODEX, ANY, &codex, "/config.toml", codex_server, NULL, "#",
	  "mcp_servers.roger" },
	{ CODEX_HOOKS, HOOK("SessionStart", plain, "session-start") },
	{ CODEX_HOOKS, HOOK("UserPromptSubmit", plain, "prompt") },
	{ CODEX_HOOKS, HOOK("PostToolUse", plain, "tool") },
	{ CODEX_HOOKS, HOOK("Stop", plain, "stop") },

	{ GEMINI_HOOKS, plain_server, server },
	{ GEMINI_HOOKS, HOOK("SessionStart", named, "session-start") },
	{ GEMINI_HOOKS, HOOK("BeforeAgent", named, "prompt") },
	{ GEMINI_HOOKS, HOOK("AfterTool", named, "tool") },
	{ GEMINI_HOOKS, HOOK("AfterAgent", named, "stop") },

	/* The plugin of these tools adds the server to their settings. */
	{ CLI_HOOK_OPENCODE, ANY, &opencode, "/plugin/roger.js", plugin },
	{ CLI_HOOK_KILO, ANY, &kilo, "/plugin/roger.js", plugin },

	{ CLI_HOOK_COPILOT, HERE, &copilot, "/mcp.json", copilot_server, server },
	{ CLI_HOOK_COPILOT, USER, &copilot, "/mcp-config.json", copilot_server, server },
	{ COPILOT_HOOKS, HOOK("sessionStart", bash, "session-start") },
	{ COPILOT_HOOKS, HOOK("userPromptSubmitted", bash, "prompt") },
	{ COPILOT_HOOKS, HOOK("postToolUse", bash, "tool") },
	{ COPILOT_HOOKS, HOOK("agentStop", bash, "stop") },
	{ COPILOT_HOOKS, "1", version },

	{ QWEN_HOOKS, qwen_server, server },
	{ QWEN_HOOKS, HOOK("SessionStart", named, "session-start") },
	{ QWEN_HOOKS, HOOK("UserPromptSubmit", named, "prompt") },
	{ QWEN_HOOKS, HOOK("PostToolUse", named, "tool") },
	{ QWEN_HOOKS, HOOK("Stop", named, "stop") },
	{ 0 },
};

/* Settings for a person to paste, from the tools' documentation. */
static const char mcp_json[] = "{\n  \"mcpServers\": {\n    \"roger\": {\"command\": \"{roger}\", "
			       "\"args\": [\"mcp\"{as_words}]}\n  }\n}\n";
static const char vscode[] =
	"// Not tried: written from the documentation of VS Code.\n"
	"// Into .vscode/mcp.json:\n"
	"{\n  \"servers\": {\n    \"roger\": {\"type\": \"stdio\", " COMMAND "}\n  }\n}\n"
	"// Into .github/hooks/roger-vscode.json:\n"
	"{\n  \"hooks\": {\n"
	"    \"SessionStart\": [" RUN "session-start{as}\"}],\n"
	"    \"UserPromptSubmit\": [" RUN "prompt{as}\"}],\n"
	"    \"PostToolUse\": [" RUN "tool{as}\"}],\n"
	"    \"Stop\": [" RUN "stop{as}\"}]\n  }\n}\n";
static const char cursor[] = "// Not tried: written from the documentation of Cursor.\n"
			     "// Into .cursor/mcp.json:\n"
			     "{\n  \"mcpServers\": {\n    \"roger\": {" COMMAND "}\n  }\n}\n"
			     "// Into .cursor/hooks.json:\n"
			     "{\n  \"version\": 1,\n  \"hooks\": {\n"
			     "    \"sessionStart\": [" RUN "session-start{as}\"}],\n"
			     "    \"stop\": [" RUN "stop{as}\"}]\n  }\n}\n";

const char *const rg_setup_prints[] = {
	[0] = mcp_json,
	[CLI_HOOK_VSCODE] = vscode,
	[CLI_HOOK_CURSOR] = cursor,
};
