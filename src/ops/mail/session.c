/* session: the life of the counters (seed 002, manual clear on restart). */
#include "ops/op.h"

int rg_verb_session(struct roger *roger, const struct roger_session_request *request,
		    struct roger_session_reply *reply, struct roger_err *err)
{
	int r = rg_engine_session(roger->engine, request->new_, &reply->epoch, err);

	return r < 0 ? r
		     : rg_engine_agents(roger->engine, NULL, reply->memory, &reply->agents, err);
}
