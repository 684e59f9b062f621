/* setup: the table of hooks, servers and texts for each tool, and the files they go into. */
#include "ops/tools/setup.h"

enum {
	PROJECT = 1 << ROGER_SETUP_PROJECT,
	USER = 1 << ROGER_SETUP_USER,
	STEALTH = 1 << ROGER_SETUP_STEALTH,
};

/* How long a tool waits for a hook, in each tool's words. */
#define SECONDS_10 ", \"timeout\": 10"
#define NAMED_10 ", \"name\": \"roger\", \"timeout\": 10000"
#define COPILOT_10 ", \"timeoutSec\": 10"

/* A hook of Claude Code can wait in the background; exit status 2 wakes the agent. */
#define REWAKE ", \"asyncRewake\": true, \"timeout\": 86400"

/* Each hook is put before those that are there. */
const struct rg_setup_hook rg_setup_hooks[] = {
	{ RG_CLAUDE, "SessionStart", "idle", REWAKE },
	{ RG_CLAUDE, "SessionStart", "session-start", SECONDS_10 },
	{ RG_CLAUDE, "UserPromptSubmit", "prompt", SECONDS_10 },
	{ RG_CLAUDE, "PostToolUse", "tool", SECONDS_10, true },
	{ RG_CLAUDE, "Stop", "idle", REWAKE },
	{ RG_CLAUDE, "Stop", "stop", SECONDS_10 },

	{ RG_CODEX, "SessionStart", "session-start", SECONDS_10 },
	{ RG_CODEX, "UserPromptSubmit", "prompt", SECONDS_10 },
	{ RG_CODEX, "PostToolUse", "tool", SECONDS_10 },
	{ RG_CODEX, "Stop", "stop", SECONDS_10 },

	{ RG_GEMINI, "SessionStart", "session-start", NAMED_10, true },
	{ RG_GEMINI, "BeforeAgent", "prompt", NAMED_10, true },
	{ RG_GEMINI, "AfterTool", "tool", NAMED_10, true },
	{ RG_GEMINI, "AfterAgent", "stop", NAMED_10, true },

	{ RG_COPILOT, "sessionStart", "session-start", COPILOT_10 },
	{ RG_COPILOT, "userPromptSubmitted", "prompt", COPILOT_10 },
	{ RG_COPILOT, "postToolUse", "tool", COPILOT_10 },
	{ RG_COPILOT, "agentStop", "stop", COPILOT_10 },

	{ RG_QWEN, "SessionStart", "session-start", NAMED_10, true },
	{ RG_QWEN, "UserPromptSubmit", "prompt", NAMED_10, true },
	{ RG_QWEN, "PostToolUse", "tool", NAMED_10, true },
	{ RG_QWEN, "Stop", "stop", NAMED_10, true },
	{ 0 },
};

#define COMMAND "\"command\": \"{roger}\", \"args\": [" RG_SETUP_SERVER_ARGS "]"

static const char plain_server[] = "{" COMMAND "}";
/* roger has only eight tools, so the model need not search for them. */
static const char qwen_server[] = "{" COMMAND ", \"alwaysLoadTools\": true}";
static const char claude_server[] = "{\"type\": \"stdio\", " COMMAND "}";
static const char copilot_server[] = "{\"type\": \"local\", " COMMAND ", \"tools\": [\"*\"]}";
static const char codex_server[] = "[mcp_servers.roger]\n"
				   "command = \"{roger}\"\n"
				   "args = [" RG_SETUP_SERVER_ARGS "]\n"
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

/* A hook in the printed settings. */
#define PASTED(event, ours)                                                                        \
	"    \"" event "\": [{\"type\": \"command\", \"command\": \"{shell} hook {tool} " ours     \
	"{as}\"}]"

#define HERE (PROJECT | STEALTH)
#define ANY (HERE | USER)
#define EXCLUDE "{git}/info/exclude"

/* Where a server stands in the settings of most tools, and the other members. */
static const char *const server[] = { "mcpServers", "roger", NULL };
static const char *const project_server[] = { "projects", "{root}", "mcpServers", "roger", NULL };
static const char *const hooks[] = { "hooks", NULL };
static const char *const version[] = { "version", NULL };

const struct rg_setup_place rg_setup_places[] = {
	/* Claude Code reads another file, and its hook says the same. */
	{ RG_SETUP_ANY & ~RG_CLAUDE, PROJECT, "{root}/AGENTS.md", agents_block, NULL, "<!--" },
	{ RG_SETUP_ANY, STEALTH, EXCLUDE, ".roger/\n", NULL, "#" },
	{ RG_CLAUDE, STEALTH, EXCLUDE, "**/.claude/settings.local.json\n", NULL, "# claude" },
	{ RG_CODEX, STEALTH, EXCLUDE, "**/.codex/config.toml\n**/.codex/hooks.json\n", NULL,
	  "# codex" },
	{ RG_GEMINI, STEALTH, EXCLUDE, "**/.gemini/settings.json\n", NULL, "# gemini" },
	{ RG_OPENCODE, STEALTH, EXCLUDE, "**/.opencode/plugin/roger.js\n", NULL, "# opencode" },
	{ RG_COPILOT, STEALTH, EXCLUDE, "**/.github/hooks/roger.json\n**/.github/mcp.json\n", NULL,
	  "# copilot" },
	{ RG_QWEN, STEALTH, EXCLUDE, "**/.qwen/settings.json\n", NULL, "# qwen" },
	{ RG_KILO, STEALTH, EXCLUDE, "**/.kilo/plugin/roger.js\n", NULL, "# kilo" },

	{ RG_CLAUDE, PROJECT, "{root}/.mcp.json", claude_server, server },
	{ RG_CLAUDE, USER, "{claude.json}", claude_server, server },
	{ RG_CLAUDE, STEALTH, "{claude.json}", claude_server, project_server },
	{ RG_CLAUDE, PROJECT | USER, "{claude}/settings.json", NULL, hooks },
	{ RG_CLAUDE, STEALTH, "{claude}/settings.local.json", NULL, hooks },

	{ RG_CODEX, HERE, "{root}/.roger/config.yaml", rg_setup_codex_wake, NULL, "#", "wake" },
	{ RG_CODEX, ANY, "{codex}/config.toml", codex_server, NULL, "#", "[mcp_servers.roger" },
	{ RG_CODEX, ANY, "{codex}/hooks.json", NULL, hooks },

	{ RG_GEMINI, ANY, "{gemini}/settings.json", plain_server, server },
	{ RG_GEMINI, ANY, "{gemini}/settings.json", NULL, hooks },

	/* The plugin of these tools adds the server to their settings. */
	{ RG_OPENCODE, ANY, "{opencode}/plugin/roger.js", plugin },
	{ RG_KILO, ANY, "{kilo}/plugin/roger.js", plugin },

	{ RG_COPILOT, HERE, "{copilot}/mcp.json", copilot_server, server },
	{ RG_COPILOT, USER, "{copilot}/mcp-config.json", copilot_server, server },
	{ RG_COPILOT, ANY, "{copilot}/hooks/roger.json", NULL, hooks },
	{ RG_COPILOT, ANY, "{copilot}/hooks/roger.json", "1", version },

	{ RG_QWEN, ANY, "{qwen}/settings.json", qwen_server, server },
	{ RG_QWEN, ANY, "{qwen}/settings.json", NULL, hooks },
	{ 0 },
};

/* Settings for a person to paste, from the tools' documentation. */
const struct rg_setup_print rg_setup_prints[] = {
	{ "mcp-json", "",
	  "{\n  \"mcpServers\": {\n    \"roger\": {\"command\": \"{roger}\", \"args\": "
	  "[\"mcp\"{as_words}]}\n  }\n}\n" },
	{ "vscode", "vscode",
	  "// Not tried: written from the documentation of VS Code.\n"
	  "// Into .vscode/mcp.json:\n"
	  "{\n  \"servers\": {\n    \"roger\": {\"type\": \"stdio\", " COMMAND "}\n  }\n}\n"
	  "// Into .github/hooks/roger-vscode.json:\n"
	  "{\n  \"hooks\": {\n" PASTED("SessionStart", "session-start") ",\n" PASTED(
		  "UserPromptSubmit",
		  "prompt") ",\n" PASTED("PostToolUse", "tool") ",\n" PASTED("Stop",
									     "stop") "\n  }\n}\n" },
	{ "cursor", "cursor",
	  "// Not tried: written from the documentation of Cursor.\n"
	  "// Into .cursor/mcp.json:\n"
	  "{\n  \"mcpServers\": {\n    \"roger\": {" COMMAND "}\n  }\n}\n"
	  "// Into .cursor/hooks.json:\n"
	  "{\n  \"version\": 1,\n  \"hooks\": {\n" PASTED(
		  "sessionStart", "session-start") ",\n" PASTED("stop", "stop") "\n  }\n}\n" },
	{ 0 },
};
