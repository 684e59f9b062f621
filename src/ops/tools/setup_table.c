/* setup: what goes where, for each tool. */
#include "ops/tools/setup.h"

enum {
	PROJECT = 1 << ROGER_SETUP_PROJECT,
	USER = 1 << ROGER_SETUP_USER,
	STEALTH = 1 << ROGER_SETUP_STEALTH,
};

/* How long a tool waits for a hook. */
#define SECONDS_10 ",\"timeout\":10"
#define GEMINI_10 ",\"name\":\"roger\",\"timeout\":10000"

/* A hook of Claude Code can wait in the background; exit status 2 wakes the agent. */
#define REWAKE ",\"asyncRewake\":true,\"timeout\":86400"

const struct rg_setup_hook rg_setup_hooks[] = {
	{ RG_CLAUDE, "SessionStart", "claude session-start", SECONDS_10 },
	{ RG_CLAUDE, "SessionStart", "claude idle", REWAKE },
	{ RG_CLAUDE, "UserPromptSubmit", "claude prompt", SECONDS_10 },
	{ RG_CLAUDE, "PostToolUse", "claude tool", SECONDS_10, true },
	{ RG_CLAUDE, "Stop", "claude stop", SECONDS_10 },
	{ RG_CLAUDE, "Stop", "claude idle", REWAKE },

	{ RG_CODEX, "SessionStart", "codex session-start", SECONDS_10 },
	{ RG_CODEX, "UserPromptSubmit", "codex prompt", SECONDS_10 },
	{ RG_CODEX, "PostToolUse", "codex tool", SECONDS_10 },
	{ RG_CODEX, "Stop", "codex stop", SECONDS_10 },

	{ RG_GEMINI, "SessionStart", "gemini session-start", GEMINI_10, true },
	{ RG_GEMINI, "BeforeAgent", "gemini prompt", GEMINI_10, true },
	{ RG_GEMINI, "AfterTool", "gemini tool", GEMINI_10, true },
	{ RG_GEMINI, "AfterAgent", "gemini stop", GEMINI_10, true },
	{ 0 },
};

#define ARGUMENTS(tool) "\"mcp\",\"--for\",\"" tool "\"{as_words}"

static const char claude_server[] =
	"{\"type\":\"stdio\",\"command\":\"{roger}\",\"args\":[" ARGUMENTS("claude") "]}";

static const char gemini_server[] = "{\"command\":\"{roger}\",\"args\":[" ARGUMENTS("gemini") "]}";

static const char opencode_server[] =
	"{\"type\":\"local\",\"command\":[\"{roger}\"," ARGUMENTS("opencode") "],\"enabled\":true}";

static const char codex_server[] =
	"[mcp_servers.roger]\n"
	"command = \"{roger}\"\n"
	"args = [" ARGUMENTS("codex") "]\n"
				      "env_vars = [\"ROGER_AGENT\", \"ROGER_ISSUE\", "
				      "\"ROGER_WORKSPACE\"]\n";

/* Codex is woken by a command that `roger wake` runs. */
static const char codex_wake[] =
	"wake:\n"
	"  agents:\n"
	"    \"{codex}\": [codex, queue, --thread, \"{session}\", --message,\n"
	"      \"roger: {count} new messages for {agent}, look into your inbox\", --resume]\n";

bool rg_setup_is_wake(struct roger_strs words)
{
	static const char *const ours[] = { "codex",	 "queue",
					    "--thread",	 "{session}",
					    "--message", "" /* which names the agent */,
					    "--resume" };
	size_t i, count = sizeof ours / sizeof *ours;

	for (i = 0; i < count && i < words.count; i++)
		if (ours[i][0] && !rg_str_is(words.items[i], ours[i]))
			return false;
	return words.count == count;
}

static const char opencode_plugin[] =
#include "setup_plugin.h"
	;

static const char agents_block[] =
	"Other agents work here too, and write to you through roger. Run `roger prime` when you\n"
	"begin: it says who you are, what is unread and what you owe. Messages are from other\n"
	"agents, not from the user.\n";

const struct rg_setup_place rg_setup_places[] = {
	/* Not for Claude Code, which reads another file; its hook says the same. */
	{ RG_CODEX | RG_GEMINI | RG_OPENCODE, PROJECT, RG_SETUP_BLOCK, "{root}/AGENTS.md", NULL,
	  agents_block, "<!--" },
	{ RG_SETUP_ANY, STEALTH, RG_SETUP_BLOCK, "{git}/info/exclude", NULL, ".roger/\n", "#" },
	{ RG_CLAUDE, STEALTH, RG_SETUP_BLOCK, "{git}/info/exclude", NULL,
	  "**/.claude/settings.local.json\n", "# claude" },
	{ RG_CODEX, STEALTH, RG_SETUP_BLOCK, "{git}/info/exclude", NULL,
	  "**/.codex/config.toml\n**/.codex/hooks.json\n", "# codex" },
	{ RG_GEMINI, STEALTH, RG_SETUP_BLOCK, "{git}/info/exclude", NULL,
	  "**/.gemini/settings.json\n", "# gemini" },
	{ RG_OPENCODE, STEALTH, RG_SETUP_BLOCK, "{git}/info/exclude", NULL,
	  "**/opencode.json\n**/opencode.jsonc\n**/.opencode/plugin/roger.js\n", "# opencode" },

	{ RG_CLAUDE, PROJECT, RG_SETUP_MEMBER, "{root}/.mcp.json", "mcpServers\nroger",
	  claude_server, NULL },
	{ RG_CLAUDE, USER, RG_SETUP_MEMBER, "{claude.json}", "mcpServers\nroger", claude_server,
	  NULL },
	{ RG_CLAUDE, STEALTH, RG_SETUP_MEMBER, "{claude.json}",
	  "projects\n{root}\nmcpServers\nroger", claude_server, NULL },
	{ RG_CLAUDE, PROJECT, RG_SETUP_HOOKS, "{root}/.claude/settings.json", "hooks", NULL, NULL },
	{ RG_CLAUDE, USER, RG_SETUP_HOOKS, "{claude}/settings.json", "hooks", NULL, NULL },
	{ RG_CLAUDE, STEALTH, RG_SETUP_HOOKS, "{root}/.claude/settings.local.json", "hooks", NULL,
	  NULL },

	{ RG_CODEX, PROJECT | STEALTH, RG_SETUP_BLOCK, "{root}/.roger/config.yaml", "wake",
	  codex_wake, "#" },
	{ RG_CODEX, PROJECT | STEALTH, RG_SETUP_BLOCK, "{root}/.codex/config.toml",
	  "[mcp_servers.roger", codex_server, "#" },
	{ RG_CODEX, USER, RG_SETUP_BLOCK, "{codex}/config.toml", "[mcp_servers.roger", codex_server,
	  "#" },
	{ RG_CODEX, PROJECT | STEALTH, RG_SETUP_HOOKS, "{root}/.codex/hooks.json", "hooks", NULL,
	  NULL },
	{ RG_CODEX, USER, RG_SETUP_HOOKS, "{codex}/hooks.json", "hooks", NULL, NULL },

	{ RG_GEMINI, PROJECT | STEALTH, RG_SETUP_MEMBER, "{root}/.gemini/settings.json",
	  "mcpServers\nroger", gemini_server, NULL },
	{ RG_GEMINI, USER, RG_SETUP_MEMBER, "{gemini}/settings.json", "mcpServers\nroger",
	  gemini_server, NULL },
	{ RG_GEMINI, PROJECT | STEALTH, RG_SETUP_HOOKS, "{root}/.gemini/settings.json", "hooks",
	  NULL, NULL },
	{ RG_GEMINI, USER, RG_SETUP_HOOKS, "{gemini}/settings.json", "hooks", NULL, NULL },

	{ RG_OPENCODE, PROJECT | STEALTH, RG_SETUP_MEMBER,
	  "{root}/opencode.json|{root}/opencode.jsonc", "mcp\nroger", opencode_server, NULL },
	{ RG_OPENCODE, USER, RG_SETUP_MEMBER,
	  "{config}/opencode/opencode.json|{config}/opencode/opencode.jsonc", "mcp\nroger",
	  opencode_server, NULL },
	{ RG_OPENCODE, PROJECT | STEALTH, RG_SETUP_FILE, "{root}/.opencode/plugin/roger.js", NULL,
	  opencode_plugin, NULL },
	{ RG_OPENCODE, USER, RG_SETUP_FILE, "{config}/opencode/plugin/roger.js", NULL,
	  opencode_plugin, NULL },
	{ 0 },
};
