/* arrive: an agent's tool began a session. */
#include "ops/edge/arrive.h"

#include "data/json.h"
#include "ops/proof/note.h"
#include "facts/activity.h"

int rg_arrive_last(struct roger *roger, struct roger_str agent, struct rg_arena *arena,
		   struct roger_str *ret_session, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .owner = agent,
					    .step = RG_STR("session"),
					    .newest = true,
					    .limit = 1 };
	struct roger_activity activity = { 0 };
	const struct rg_value *value = NULL;
	struct rg_json *entry = NULL;
	const struct rg_json *details;
	struct rg_log_entries found;
	int r;

	*ret_session = (struct roger_str){ "", 0 };
	r = rg_engine_log_find(roger->engine, &query, arena, &found, err);
	if (r < 0 || !found.count)
		return r;
	r = rg_activity_read(found.items[0].text, &entry, arena, &activity, err);
	if (r == ROGER_OK)
		r = rg_json_read_within(activity.action_details, arena, &details, err);
	if (r == ROGER_OK)
		value = rg_json_member(rg_json_root(details), "session");
	/* Others may write such entries, too: a name, or nothing. */
	if (value && rg_json_kind(value) == RG_JSON_STRING && rg_name_valid(rg_json_str(value)) &&
	    !rg_arena_copy(arena, rg_json_str(value), ret_session))
		r = rg_fail_memory(err);
	rg_json_free(entry);
	return r;
}

static int note(struct roger *roger, const struct roger_arrive_request *request,
		struct roger_err *err)
{
	struct roger_activity entry = { .action_type = ROGER_TOOL_EXEC };
	struct rg_buf details;
	char timestamp[32];
	int r;

	rg_clock_print_utc(rg_clock_ms(), timestamp);
	entry.timestamp = rg_str(timestamp);
	rg_buf_init(&details, SIZE_MAX);
	rg_note_begin(&details, "arrive", request->agent);
	if (request->tool.length) {
		rg_json_add_key(&details, RG_STR("for"));
		rg_json_add_string(&details, request->tool);
	}
	rg_json_add_key(&details, RG_STR("session"));
	rg_json_add_string(&details, request->session);
	rg_buf_add_char(&details, '}');
	entry.action_details = rg_buf_str(&details);
	r = details.failed ? rg_fail_memory(err) : rg_note_write(roger, &entry, false, err);
	rg_buf_deinit(&details);
	return r;
}

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_arrive_request *request = request_;
	struct roger_arrive_reply *reply = reply_;
	struct roger_str last;
	int r;

	r = rg_arrive_last(roger, request->agent, reply->memory, &last, err);
	if (r < 0 || rg_str_equal(last, request->session))
		return r;
	r = note(roger, request, err);
	reply->noted = r == ROGER_OK;
	return r;
}

#define AT(member) offsetof(struct roger_arrive_request, member)
static const struct roger_field request_fields[] = {
	{ "agent", ROGER_NAME, AT(agent), ROGER_SELF | ROGER_REQUIRED, NULL, NULL,
	  "who is there (--as, else ROGER_AGENT)" },
	{ "session", ROGER_NAME, AT(session), ROGER_REQUIRED | ROGER_PLACE, NULL, NULL,
	  "as the tool names it" },
	{ "tool", ROGER_NAME, AT(tool), 0, NULL, NULL, "claude, codex..." },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "arrive", sizeof(struct roger_arrive_request),
						    request_fields };

static const struct roger_field reply_fields[] = {
	{ "noted", ROGER_BOOL, offsetof(struct roger_arrive_reply, noted), 0, NULL, NULL,
	  "false: it was known" },
	RG_END,
};
static const struct roger_record reply_record = { "arrive", sizeof(struct roger_arrive_reply),
						  reply_fields };

const struct roger_op rg_op_arrive = {
	.name = "arrive",
	.summary = "note which session an agent's tool began, for who wakes it",
	.examples = "roger arrive 0199a213-81c0-7800-8aa1-bbab2a035a53 --tool codex --as bob\n",
	.flags = ROGER_UNNOTED,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
