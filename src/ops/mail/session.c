/* session: the life of the counters (seed 002, manual clear on restart). */
#include "ops/op.h"

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_session_request *request = request_;
	struct roger_session_reply *reply = reply_;
	int r;

	r = rg_engine_session(roger->engine, request->fresh, &reply->epoch, err);
	return r < 0 ? r : rg_engine_agents(roger->engine, reply->memory, &reply->agents, err);
}

static const struct roger_field request_fields[] = {
	{ "new", ROGER_BOOL, offsetof(struct roger_session_request, fresh), 0, NULL, NULL,
	  "open a new session: counters and last seen start afresh, messages stay" },
	RG_END,
};
static const struct roger_record request_record = { "session", sizeof(struct roger_session_request),
						    request_fields };

static const struct roger_field reply_fields[] = {
	{ "epoch", ROGER_INT, offsetof(struct roger_session_reply, epoch), 0, NULL, NULL,
	  "number of the session" },
	{ "agents", ROGER_RECORDS, offsetof(struct roger_session_reply, agents), 0, NULL,
	  &rg_agent_record, "with the last number each used in it" },
	RG_END,
};
static const struct roger_record reply_record = { "session", sizeof(struct roger_session_reply),
						  reply_fields };

const struct roger_op rg_op_session = {
	.name = "session",
	.summary = "show the session, or open a new one",
	.examples = "roger session\nroger session new\n",
	.flags = ROGER_WRITES | ROGER_ADMINISTERS,
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
