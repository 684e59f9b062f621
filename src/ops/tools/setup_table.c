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
	{ RG_CLAUDE, "SessionStart", "claude idle", REWAKE },
	{ RG_CLAUDE, "SessionStart", "claude session-start", SECONDS_10 },
	{ RG_CLAUDE, "UserPromptSubmit", "claude prompt", SECONDS_10 },
	{ RG_CLAUDE, "PostToolUse", "claude tool", SECONDS_10, true },
	{ RG_CLAUDE, "Stop", "claude idle", REWAKE },
	{ RG_CLAUDE, "Stop", "claude stop", SECONDS_10 },

	{ RG_CODEX, "SessionStart", "codex session-start", SECONDS_10 },
	{ RG_CODEX, "UserPromptSubmit", "codex prompt", SECONDS_10 },
	{ RG_CODEX, "PostToolUse", "codex tool", SECONDS_10 },
	{ RG_CODEX, "Stop", "codex stop", SECONDS_10 },

	{ RG_GEMINI, "SessionStart", "gemini session-start", NAMED_10, true },
	{ RG_GEMINI, "BeforeAgent", "gemini prompt", NAMED_10, true },
	{ RG_GEMINI, "AfterTool", "gemini tool", NAMED_10, true },
	{ RG_GEMINI, "AfterAgent", "gemini stop", NAMED_10, true },

	{ RG_COPILOT, "sessionStart", "copilot session-start", COPILOT_10 },
	{ RG_COPILOT, "userPromptSubmitted", "copilot prompt", COPILOT_10 },
	{ RG_COPILOT, "postToolUse", "copilot tool", COPILOT_10 },
	{ RG_COPILOT, "agentStop", "copilot stop", COPILOT_10 },

	{ RG_QWEN, "SessionStart", "qwen session-start", NAMED_10, true },
	{ RG_QWEN, "UserPromptSubmit", "qwen prompt", NAMED_10, true },
	{ RG_QWEN, "PostToolUse", "qwen tool", NAMED_10, true },
	{ RG_QWEN, "Stop", "qwen stop", NAMED_10, true },
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

/* Codex is woken by a command that `roger wake` runs. */
static const char codex_wake[] =
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
#define EXCLUDE "{git}/info/exclude"
#define SERVER "mcpServers\nroger"
#define MEMBER RG_SETUP_MEMBER
#define HOOKS RG_SETUP_HOOKS
#define BLOCK RG_SETUP_BLOCK
#define WHOLE RG_SETUP_FILE

const struct rg_setup_place rg_setup_places[] = {
	/* Claude Code reads another file, and its hook says the same. */
	{ RG_SETUP_ANY & ~RG_CLAUDE, PROJECT, BLOCK, "{root}/AGENTS.md", NULL, agents_block,
	  "<!--" },
	{ RG_SETUP_ANY, STEALTH, BLOCK, EXCLUDE, NULL, ".roger/\n", "#" },
	{ RG_CLAUDE, STEALTH, BLOCK, EXCLUDE, NULL, "**/.claude/settings.local.json\n",
	  "# claude" },
	{ RG_CODEX, STEALTH, BLOCK, EXCLUDE, NULL, "**/.codex/config.toml\n**/.codex/hooks.json\n",
	  "# codex" },
	{ RG_GEMINI, STEALTH, BLOCK, EXCLUDE, NULL, "**/.gemini/settings.json\n", "# gemini" },
	{ RG_OPENCODE, STEALTH, BLOCK, EXCLUDE, NULL, "**/.opencode/plugin/roger.js\n",
	  "# opencode" },
	{ RG_COPILOT, STEALTH, BLOCK, EXCLUDE, NULL,
	  "**/.github/hooks/roger.json\n**/.github/mcp.json\n", "# copilot" },
	{ RG_QWEN, STEALTH, BLOCK, EXCLUDE, NULL, "**/.qwen/settings.json\n", "# qwen" },
	{ RG_KILO, STEALTH, BLOCK, EXCLUDE, NULL, "**/.kilo/plugin/roger.js\n", "# kilo" },

	{ RG_CLAUDE, PROJECT, MEMBER, "{root}/.mcp.json", SERVER, claude_server, NULL },
	{ RG_CLAUDE, USER, MEMBER, "{claude.json}", SERVER, claude_server, NULL },
	{ RG_CLAUDE, STEALTH, MEMBER, "{claude.json}", "projects\n{root}\n" SERVER, claude_server,
	  NULL },
	{ RG_CLAUDE, PROJECT, HOOKS, "{root}/.claude/settings.json", "hooks", NULL, NULL },
	{ RG_CLAUDE, USER, HOOKS, "{claude}/settings.json", "hooks", NULL, NULL },
	{ RG_CLAUDE, STEALTH, HOOKS, "{root}/.claude/settings.local.json", "hooks", NULL, NULL },

	{ RG_CODEX, HERE, BLOCK, "{root}/.roger/config.yaml", "wake", codex_wake, "#" },
	{ RG_CODEX, HERE, BLOCK, "{root}/.codex/config.toml", "[mcp_servers.roger", codex_server,
	  "#" },
	{ RG_CODEX, USER, BLOCK, "{codex}/config.toml", "[mcp_servers.roger", codex_server, "#" },
	{ RG_CODEX, HERE, HOOKS, "{root}/.codex/hooks.json", "hooks", NULL, NULL },
	{ RG_CODEX, USER, HOOKS, "{codex}/hooks.json", "hooks", NULL, NULL },

	{ RG_GEMINI, HERE, MEMBER, "{root}/.gemini/settings.json", SERVER, plain_server, NULL },
	{ RG_GEMINI, USER, MEMBER, "{gemini}/settings.json", SERVER, plain_server, NULL },
	{ RG_GEMINI, HERE, HOOKS, "{root}/.gemini/settings.json", "hooks", NULL, NULL },
	{ RG_GEMINI, USER, HOOKS, "{gemini}/settings.json", "hooks", NULL, NULL },

	/* The plugin of these tools adds the server to their settings. */
	{ RG_OPENCODE, HERE, WHOLE, "{root}/.opencode/plugin/roger.js", NULL, plugin, NULL },
	{ RG_OPENCODE, USER, WHOLE, "{config}/opencode/plugin/roger.js", NULL, plugin, NULL },
	{ RG_KILO, HERE, WHOLE, "{root}/.kilo/plugin/roger.js", NULL, plugin, NULL },
	{ RG_KILO, USER, WHOLE, "{config}/kilo/plugin/roger.js", NULL, plugin, NULL },

	{ RG_COPILOT, HERE, MEMBER, "{root}/.github/mcp.json", SERVER, copilot_server, NULL },
	{ RG_COPILOT, USER, MEMBER, "{copilot}/mcp-config.json", SERVER, copilot_server, NULL },
	{ RG_COPILOT, HERE, HOOKS, "{root}/.github/hooks/roger.json", "hooks", NULL, NULL },
	{ RG_COPILOT, HERE, MEMBER, "{root}/.github/hooks/roger.json", "version", "1", NULL },
	{ RG_COPILOT, USER, HOOKS, "{copilot}/hooks/roger.json", "hooks", NULL, NULL },
	{ RG_COPILOT, USER, MEMBER, "{copilot}/hooks/roger.json", "version", "1", NULL },

	{ RG_QWEN, HERE, MEMBER, "{root}/.qwen/settings.json", SERVER, qwen_server, NULL },
	{ RG_QWEN, USER, MEMBER, "{qwen}/settings.json", SERVER, qwen_server, NULL },
	{ RG_QWEN, HERE, HOOKS, "{root}/.qwen/settings.json", "hooks", NULL, NULL },
	{ RG_QWEN, USER, HOOKS, "{qwen}/settings.json", "hooks", NULL, NULL },
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
