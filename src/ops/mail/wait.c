/* wait: block until there is unread mail; says which, not what. */
#include "ops/mail/send.h"

int rg_verb_wait(struct roger *roger, const struct roger_wait_request *request,
		 struct roger_wait_reply *reply, struct roger_err *err)
{
	struct roger_message found;
	int r;

	r = rg_engine_wait(roger->engine, request->agent, request->issue, RG_STR(""),
			   request->timeout_ms, reply->memory, &found, err);
	if (r < 0)
		return r;
	reply->found = found.id.length > 0;
	reply->id = found.id;
	reply->from = found.from;
	reply->issue = found.issue;
	reply->seq = found.seq;
	return reply->found ? ROGER_OK
			    : rg_send_note_reader(roger, reply->memory, request->agent,
						  &reply->notes, err);
}
