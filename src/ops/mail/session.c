/* session: the life of the counters (seed 002, manual clear on restart). */
#include "ops/op.h"

int rg_verb_session(struct roger *roger, const struct roger_session_request *request,
		    struct roger_session_reply *reply, struct roger_err *err)
{
	struct roger_agents_reply found = { .memory = reply->memory };
	int r = rg_engine_session(roger->engine, request->new_, &reply->epoch, err);

	if (r == ROGER_OK)
		r = rg_verb_agents(roger, &(struct roger_agents_request){ 0 }, &found, err);
	reply->agents = found.agents;
	return r;
}
