/*
 * Any bytes as what an agent's tool writes to a hook; the first one says which
 * tool and which event.  Whatever they are, the answer is one line of JSON that
 * holds the text unchanged, and the event's name as the tool wrote it.
 */
#include "cli/hook_event.h"
#include "data/json.h"
#include "fuzz.h"

/* Where each form has the text. */
static const struct rg_value *find_text(const struct cli_hook_event *event,
					const struct rg_value *root)
{
	static const char *const members[] = { "reason", "additionalContext", "additional_context",
					       "followup_message" };
	const struct rg_value *inner;
	size_t i;

	for (i = 0; i < sizeof members / sizeof *members; i++)
		if (rg_json_member(root, members[i]))
			return rg_json_member(root, members[i]);
	inner = rg_json_member(root, "hookSpecificOutput");
	rg_assert(rg_str_equal(rg_json_str(rg_json_member(inner, "hookEventName")), event->name));
	return rg_json_member(inner, "additionalContext");
}

static void check_answer(const struct cli_hook_event *event, struct roger_str text)
{
	RG_CLEANUP(rg_json_freep) struct rg_json *json = NULL;
	struct rg_buf out = { .maximum = SIZE_MAX };
	int r;

	cli_hook_print(event, text, &out);
	rg_assert(!out.failed && memchr(out.data, '\n', out.length) == out.data + out.length - 1);
	r = rg_json_read(rg_buf_str(&out), &json, NULL);
	rg_assert(r == ROGER_OK);
	rg_assert(rg_str_equal(rg_json_str(find_text(event, rg_json_root(json))), text));
	rg_buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cli_hook_event event = { 0 };
	struct rg_json *said;

	if (size == 0)
		return 0;
	event.tool = data[0] % CLI_HOOK_CURSOR + 1;
	event.kind = data[0] / CLI_HOOK_CURSOR % (CLI_HOOK_KINDS - 1) + 1;
	said = cli_hook_read(&event, (struct roger_str){ (const char *)data + 1, size - 1 });
	rg_assert(event.name.length);
	rg_assert(event.tool != CLI_HOOK_GEMINI || !event.resumed);
	check_answer(&event, event.session);
	check_answer(&event, RG_STR("\"<\n"));
	rg_json_free(said);
	return 0;
}
