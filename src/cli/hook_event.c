#include "cli/hook_event.h"

#include "data/json.h"

/* What the tools call the events, where they do not say it themselves. */
static const char *const event_names[][CLI_HOOK_KINDS] = {
	[CLI_HOOK_CLAUDE] = { "", "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop",
			      "Stop" },
	[CLI_HOOK_CODEX] = { "", "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop",
			     "Stop" },
	[CLI_HOOK_GEMINI] = { "", "SessionStart", "BeforeAgent", "AfterTool", "AfterAgent",
			      "AfterAgent" },
	[CLI_HOOK_OPENCODE] = { "", "session.created", "chat.message", "tool.execute.after",
				"session.idle", "session.idle" },
};

/* A text among the members, or nothing. */
static struct roger_str read_text(const struct rg_value *root, const char *name)
{
	return rg_json_str(rg_json_member(root, name));
}

struct rg_json *cli_hook_read(struct cli_hook_event *event, struct roger_str input)
{
	const struct rg_value *root;
	struct rg_json *json = NULL;

	event->name = rg_str(event_names[event->tool][event->kind]);
	if (!input.length || rg_json_read(input, &json, NULL) < 0)
		return NULL;
	root = rg_json_root(json);
	if (read_text(root, "hook_event_name").length)
		event->name = read_text(root, "hook_event_name");
	event->session = read_text(root, "session_id");
	/* Gemini CLI keeps no context of hooks with its sessions. */
	event->resumed =
		event->tool != CLI_HOOK_GEMINI && rg_str_is(read_text(root, "source"), "resume");
	event->in_subagent = read_text(root, "agent_id").length > 0;
	event->stopped_before =
		rg_json_kind(rg_json_member(root, "stop_hook_active")) == RG_JSON_TRUE;
	return json;
}

void cli_hook_print(const struct cli_hook_event *event, struct roger_str text, struct rg_buf *out)
{
	if (event->tool == CLI_HOOK_OPENCODE) {
		rg_buf_add_text(out, "{\"additionalContext\":");
		rg_json_add_string(out, text);
	} else if (event->kind == CLI_HOOK_STOP) {
		rg_buf_printf(out, "{\"decision\":\"%s\",\"reason\":",
			      event->tool == CLI_HOOK_GEMINI ? "deny" : "block");
		rg_json_add_string(out, text);
	} else {
		rg_buf_add_text(out, "{\"hookSpecificOutput\":{\"hookEventName\":");
		rg_json_add_string(out, event->name);
		rg_buf_add_text(out, ",\"additionalContext\":");
		rg_json_add_string(out, text);
		rg_buf_add_char(out, '}');
	}
	rg_buf_add_text(out, "}\n");
}
