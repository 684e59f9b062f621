#include "cli/hook_event.h"

#include "data/json.h"

/* Names of events, for input that does not have the name. */
static const char *const usual_names[CLI_HOOK_KINDS] = {
	"", "SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "Stop"
};
static const char *const gemini_names[CLI_HOOK_KINDS] = {
	"", "SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "AfterAgent"
};

/* The form in which a tool takes a text for its model, and one at the end of a turn. */
static const struct form {
	const char *context; /* the member; NULL: within hookSpecificOutput */
	const char *stop;    /* NULL: with decision "block" */
} forms[CLI_HOOK_OTHER + 1] = {
	[CLI_HOOK_GEMINI] = { NULL, "\"decision\":\"deny\",\"reason\"" },
	[CLI_HOOK_OPENCODE] = { "\"additionalContext\"", "\"additionalContext\"" },
	[CLI_HOOK_KILO] = { "\"additionalContext\"", "\"additionalContext\"" },
	[CLI_HOOK_COPILOT] = { "\"additionalContext\"", NULL },
	[CLI_HOOK_CURSOR] = { "\"additional_context\"", "\"followup_message\"" },
};

/* The text of a member, or nothing. */
static struct roger_str read_text(const struct rg_value *root, const char *name)
{
	return rg_json_str(rg_json_member(root, name));
}

struct rg_json *cli_hook_read(struct cli_hook_event *event, struct roger_str input)
{
	static const char *const sessions[] = { "session_id", "sessionId", "conversation_id" };
	const struct rg_value *root;
	struct rg_json *json = NULL;
	int64_t loops;
	size_t i;

	event->name =
		rg_str((event->tool == CLI_HOOK_GEMINI ? gemini_names : usual_names)[event->kind]);
	if (!input.length || rg_json_read(input, &json, NULL) < 0)
		return NULL;
	root = rg_json_root(json);
	if (read_text(root, "hook_event_name").length)
		event->name = read_text(root, "hook_event_name");
	for (i = 0; i < sizeof sessions / sizeof *sessions && !event->session.length; i++)
		event->session = read_text(root, sessions[i]);
	/* These tools keep no context of hooks with their sessions. */
	event->resumed = event->tool != CLI_HOOK_GEMINI && event->tool != CLI_HOOK_COPILOT &&
			 event->tool != CLI_HOOK_QWEN &&
			 rg_str_is(read_text(root, "source"), "resume");
	/* Copilot runs the hooks of the start and of the first prompt together, and keeps what
	 * the second one says. */
	event->by_prompt = event->tool == CLI_HOOK_COPILOT && event->session.length;
	event->in_subagent = read_text(root, "agent_id").length > 0;
	event->stopped_before =
		rg_json_kind(rg_json_member(root, "stop_hook_active")) == RG_JSON_TRUE ||
		(rg_json_int(rg_json_member(root, "loop_count"), &loops) && loops > 0);
	return json;
}

void cli_hook_print(const struct cli_hook_event *event, struct roger_str text, struct rg_buf *out)
{
	const struct form *form = &forms[event->tool];
	const char *stop = form->stop ? form->stop : "\"decision\":\"block\",\"reason\"";
	const char *member = event->kind == CLI_HOOK_STOP ? stop : form->context;

	if (event->tool == CLI_HOOK_OTHER) {
		rg_buf_add_str(out, text);
		return;
	}
	rg_buf_add_char(out, '{');
	if (!member) {
		rg_buf_add_text(out, "\"hookSpecificOutput\":{\"hookEventName\":");
		rg_json_add_string(out, event->name);
		rg_buf_add_char(out, ',');
	}
	rg_buf_printf(out, "%s:", member ? member : "\"additionalContext\"");
	rg_json_add_string(out, text);
	rg_buf_add_text(out, member ? "}\n" : "}}\n");
}
