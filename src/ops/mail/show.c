/* show: messages by id.  thread: a message and all that answers it, directly or not. */
#include "facts/message.h"
#include "ops/op.h"

int rg_verb_show(struct roger *roger, const struct roger_show_request *request,
		 struct roger_messages_reply *reply, struct roger_err *err)
{
	size_t i;
	int r;

	r = rg_engine_find_ids(roger->engine, request->ids.items, request->ids.count, reply->memory,
			       &reply->messages, err);
	for (i = 0; i < request->ids.count && r == ROGER_OK; i++)
		if (!rg_messages_find(&reply->messages, request->ids.items[i]))
			r = rg_fail_member(
				err, ROGER_ENOENT, "ids",
				"no message '%.*s'; `roger list` shows ids, @last is the newest",
				RG_STR_ARGS(request->ids.items[i]));
	return r;
}

int rg_verb_thread(struct roger *roger, const struct roger_thread_request *request,
		   struct roger_messages_reply *reply, struct roger_err *err)
{
	const struct rg_query query = { .thread = request->id, .anywhere = true };
	int r;

	r = rg_engine_find(roger->engine, &query, reply->memory, &reply->messages, err);
	if (r == ROGER_OK && !rg_messages_find(&reply->messages, request->id))
		r = rg_fail_member(err, ROGER_ENOENT, "id",
				   "no message '%.*s'; `roger list` shows ids, @last is the newest",
				   RG_STR_ARGS(request->id));
	return r;
}
