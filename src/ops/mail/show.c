/* show: messages by id.  thread: a message and all that answers it, directly or not. */
#include "ops/op.h"

static bool is_there(const struct roger_messages *messages, struct roger_str id)
{
	size_t i;

	for (i = 0; i < messages->count; i++)
		if (rg_str_equal(messages->items[i].id, id))
			return true;
	return false;
}

static int run_show(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_show_request *request = request_;
	const struct rg_query query = { .ids = request->ids.items,
					.id_count = request->ids.count,
					.anywhere = true };
	struct roger_messages_reply *reply = reply_;
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

static int run_thread(struct roger *roger, const void *request_, void *reply_,
		      struct roger_err *err)
{
	const struct roger_thread_request *request = request_;
	const struct rg_query query = { .thread = request->id, .anywhere = true };
	struct roger_messages_reply *reply = reply_;
	int r;

	r = rg_engine_find(roger->engine, &query, reply->memory, &reply->messages, err);
	if (r == ROGER_OK && !is_there(&reply->messages, request->id))
		r = rg_fail_member(err, ROGER_ENOENT, "id",
				   "no message '%.*s'; `roger list` shows ids, @last is the newest",
				   RG_STR_ARGS(request->id));
	return r;
}

static const struct roger_field show_fields[] = {
	{ "ids", ROGER_TEXTS, offsetof(struct roger_show_request, ids),
	  ROGER_REQUIRED | ROGER_PLACE | ROGER_ID | ROGER_SOUGHT, NULL, NULL,
	  "ids of messages, NAME#N, @last, or a piece of an id" },
	{ "agent", ROGER_NAME, offsetof(struct roger_show_request, agent), ROGER_SELF, NULL, NULL,
	  "who asks" },
	RG_END,
};
static const struct roger_record show_record = { "show", sizeof(struct roger_show_request),
						 show_fields };

static const struct roger_field thread_fields[] = {
	{ "id", ROGER_TEXT, offsetof(struct roger_thread_request, id),
	  ROGER_REQUIRED | ROGER_PLACE | ROGER_ID | ROGER_SOUGHT, NULL, NULL,
	  "the id of any message in it" },
	{ "agent", ROGER_NAME, offsetof(struct roger_thread_request, agent), ROGER_SELF, NULL, NULL,
	  "who asks" },
	RG_END,
};
static const struct roger_record thread_record = { "thread", sizeof(struct roger_thread_request),
						   thread_fields };

const struct roger_op rg_op_show = {
	.name = "show",
	.summary = "show whole messages",
	.examples = "roger show msg-1736328000000-0123abcd\n"
		    "roger show --thread msg-1736328000000-0123abcd\n",
	.request = &show_record,
	.reply = &rg_messages_reply_record,
	.run = run_show,
};

const struct roger_op rg_op_thread = {
	.name = "thread",
	.summary = "show a message and all that belongs to it",
	.examples = "roger show --thread msg-1736328000000-0123abcd\n",
	.flags = ROGER_TOOL | ROGER_NO_COMMAND,
	.tool = "All messages of a thread, oldest first.",
	.request = &thread_record,
	.reply = &rg_messages_reply_record,
	.run = run_thread,
};
