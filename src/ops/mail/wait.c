/* wait: block until there is unread mail; says which, not what. */
#include "ops/op.h"

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_wait_request *request = request_;
	struct roger_wait_reply *reply = reply_;
	struct rg_found found;
	int r;

	r = rg_engine_wait(roger->engine, request->agent, request->issue, RG_STR(""),
			   request->timeout_ms, reply->memory, &found, err);
	if (r < 0)
		return r;
	reply->found = found.found;
	reply->id = found.id;
	reply->from = found.from_phase;
	reply->issue = found.issue_id;
	reply->seq = found.seq;
	return ROGER_OK;
}

#define AT(member) offsetof(struct roger_wait_request, member)
static const struct roger_field request_fields[] = {
	{ "agent", ROGER_NAME, AT(agent), ROGER_SELF | ROGER_REQUIRED, NULL, NULL,
	  "whose mail (default ROGER_AGENT)" },
	{ "issue", ROGER_NAME, AT(issue), ROGER_ISSUE, NULL, NULL, "only of this unit of work" },
	{ "timeout", ROGER_SPAN, AT(timeout_ms), ROGER_WAITS | ROGER_IN_PARTS | ROGER_ENDLESS, NULL,
	  NULL, "give up after this long (default: never)" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "wait", sizeof(struct roger_wait_request),
						    request_fields };

#define AT(member) offsetof(struct roger_wait_reply, member)
static const struct roger_field reply_fields[] = {
	{ "found", ROGER_BOOL, AT(found), 0, NULL, NULL, "false: nothing came in time" },
	{ "id", ROGER_TEXT, AT(id), ROGER_SPARE | ROGER_ID, NULL, NULL, "of the oldest one found" },
	{ "from", ROGER_NAME, AT(from), ROGER_SPARE, NULL, NULL, "its sender" },
	{ "issue", ROGER_NAME, AT(issue), ROGER_SPARE | ROGER_ISSUE, NULL, NULL,
	  "its unit of work" },
	{ "seq", ROGER_INT, AT(seq), ROGER_SPARE, NULL, NULL, "its number" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "mail", sizeof(struct roger_wait_reply),
						  reply_fields };

const struct roger_op rg_op_wait = {
	.name = "wait",
	.summary = "wait until there is unread mail; take nothing",
	.examples = "roger wait\nroger wait --timeout 10m && roger receive\n",
	.flags = ROGER_TOOL,
	.tool = "Wait until you have unread mail.",
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
