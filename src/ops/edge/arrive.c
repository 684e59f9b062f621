/* arrive: an agent's tool began a session. */
#include "ops/edge/arrive.h"

#include "ops/proof/note.h"

int rg_arrive_last(struct roger *roger, struct roger_str agent, struct rg_arena *arena,
		   struct roger_str *ret_session, struct roger_err *err)
{
	const struct rg_log_query query = { .log = RG_LOG_ACTIVITY,
					    .owner = agent,
					    .step = rg_note_step_name(RG_STEP_SESSION),
					    .newest = true,
					    .limit = 1 };
	struct rg_log_entries found;
	struct rg_note note;
	int r;

	*ret_session = (struct roger_str){ "", 0 };
	r = rg_engine_log_find(roger->engine, &query, arena, &found, err);
	if (r < 0 || !found.count)
		return r;
	r = rg_note_read(found.items[0].text, arena, &note, err);
	/* Others may write such entries, too: a name, or nothing. */
	if (r == ROGER_OK && rg_name_valid(note.session))
		*ret_session = note.session;
	return r;
}

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_arrive_request *request = request_;
	struct roger_arrive_reply *reply = reply_;
	const struct rg_note note = { .kind = RG_NOTE_ARRIVED,
				      .agent = request->agent,
				      .for_tool = request->tool,
				      .session = request->session };
	struct roger_str last;
	int r;

	r = rg_arrive_last(roger, request->agent, reply->memory, &last, err);
	if (r < 0 || rg_str_equal(last, request->session))
		return r;
	r = rg_note_write(roger, &note, false, err);
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
	.summary = "record which session an agent's tool started, for wake",
	.examples = "roger arrive 0199a213-81c0-7800-8aa1-bbab2a035a53 --tool codex --as bob\n",
	.flags = ROGER_UNNOTED | ROGER_MARKS,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
