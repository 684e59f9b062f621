/* show: messages by id.  thread: a message and all that answers it, directly or not. */
#include "ops/op.h"

static bool is_there(const struct roger_message_list *messages, struct roger_str id)
{
	size_t i;

	for (i = 0; i < messages->count; i++)
		if (rg_str_equal(messages->items[i].id, id))
			return true;
	return false;
}

int rg_verb_show(struct roger *roger, const struct roger_show_request *request,
		 struct roger_messages_reply *reply, struct roger_err *err)
{
	const struct rg_query query = { .ids = request->ids.items,
					.id_count = request->ids.count,
					.anywhere = true };
	size_t i;
	int r;

	if (request->ids.count > RG_PAGE_MAX)
		return rg_fail_member(err, ROGER_EDATA, "ids", "ids: expected at most %d",
				      RG_PAGE_MAX);
	r = rg_engine_find(roger->engine, &query, reply->memory, &reply->messages, err);
	for (i = 0; i < request->ids.count && r == ROGER_OK; i++)
		if (!is_there(&reply->messages, request->ids.items[i]))
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
	if (r == ROGER_OK && !is_there(&reply->messages, request->id))
		r = rg_fail_member(err, ROGER_ENOENT, "id",
				   "no message '%.*s'; `roger list` shows ids, @last is the newest",
				   RG_STR_ARGS(request->id));
	return r;
}
