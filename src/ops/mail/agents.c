/* agents: everyone who ever sent or received. */
#include "ops/op.h"

static int run(struct roger *roger, const void *request, void *reply_, struct roger_err *err)
{
	struct roger_agents_reply *reply = reply_;

	(void)request;
	return rg_engine_agents(roger->engine, reply->memory, &reply->agents, err);
}

static const struct roger_field fields[] = {
	{ "agents", ROGER_RECORDS, offsetof(struct roger_agents_reply, agents), 0, NULL,
	  &rg_agent_record, "by name" },
	RG_END,
};
static const struct roger_record reply_record = { "agents", sizeof(struct roger_agents_reply),
						  fields };

const struct roger_op rg_op_agents = {
	.name = "agents",
	.summary = "who is here, and who has unread mail",
	.examples = "roger agents\n",
	.flags = ROGER_TOOL,
	.tool = "Who is here.",
	.request = &rg_empty_request_record,
	.reply = &reply_record,
	.run = run,
};
