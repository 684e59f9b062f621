/* list, count: messages by their properties, or by their words. */
#include "ops/mail/send.h"

#include "facts/message.h"

static struct rg_query query_of(const struct roger_list_request *request)
{
	return (struct rg_query){
		.text = request->text,
		.issue = request->issue,
		.from = request->from,
		.to = request->to,
		.gets = request->to.length && request->unread,
		.type = request->type,
		.run_counter = request->pass,
		.unread = request->unread,
		.archived = request->archived,
		.since_ms = request->since_ms,
		.until_ms = request->until_ms,
		.key = request->key,
		.newest = request->newest,
		.anywhere = request->anywhere,
	};
}

/* Find where the page starts: behind a message that was shown. */
static int find_start(struct roger *roger, const struct roger_list_request *request,
		      struct rg_arena *arena, int64_t *ret_after, struct roger_err *err)
{
	struct roger_message_list found;
	int r = rg_engine_find_ids(roger->engine, &request->after, 1, arena, &found, err);

	if (r < 0)
		return r;
	if (found.count == 0)
		return rg_fail_member(err, ROGER_ENOENT, "after", "after: no message '%.*s'",
				      RG_STR_ARGS(request->after));
	*ret_after = found.items[0].position;
	return ROGER_OK;
}

/* Find the total, if the page shows all, or the store keeps the number. */
static int find_total(struct roger *roger, const struct roger_list_request *request,
		      struct roger_messages_reply *reply, struct roger_err *err)
{
	const struct rg_query query = query_of(request);

	reply->total = ROGER_UNKNOWN;
	if (request->after.length)
		return ROGER_OK;
	if (!reply->more)
		reply->total = (int64_t)reply->messages.count;
	else if (rg_query_is_kept(&query))
		return rg_engine_count(roger->engine, &query, &reply->total, err);
	return ROGER_OK;
}

static int find_page(struct roger *roger, const struct roger_list_request *request,
		     struct roger_messages_reply *reply, struct roger_err *err)
{
	int64_t limit = request->limit ? request->limit : RG_PAGE_MAX;
	struct rg_query query = query_of(request);
	int r = ROGER_OK;

	/* Who asks for all of them asks for page after page. */
	if (limit < 0)
		return rg_fail_member(err, ROGER_EDATA, "limit", "limit: expected 1 to %d",
				      RG_PAGE_MAX);
	query.limit = limit + 1;
	if (request->after.length)
		r = find_start(roger, request, reply->memory, &query.after, err);
	if (r == ROGER_OK)
		r = rg_engine_find(roger->engine, &query, reply->memory, &reply->messages, err);
	if (r < 0)
		return r;
	reply->more = (int64_t)reply->messages.count > limit;
	if (reply->more) {
		reply->messages.count = (size_t)limit;
		reply->next = reply->messages.items[limit - 1].id;
	}
	return find_total(roger, request, reply, err);
}

static bool has_word(struct roger_str text)
{
	size_t i;

	for (i = 0; i < text.length; i++)
		if (!strchr(" \t\r\n*", text.data[i]))
			return true;
	return false;
}

static int check_text(const struct roger_list_request *request, struct roger_err *err)
{
	if (request->text.length && !has_word(request->text))
		return rg_fail_member(err, ROGER_EUSAGE, "text",
				      "text: expected a word to look for");
	if (request->text.length && request->archived)
		return rg_fail_member(err, ROGER_EUSAGE, "archived",
				      "archived messages cannot be searched; list them");
	return ROGER_OK;
}

int rg_verb_list(struct roger *roger, const struct roger_list_request *wanted,
		 struct roger_messages_reply *found, struct roger_err *err)
{
	int r = check_text(wanted, err);

	if (r == ROGER_OK)
		r = find_page(roger, wanted, found, err);
	if (r < 0 || found->messages.count || wanted->after.length)
		return r;
	if (wanted->from.length)
		r = rg_send_note_stranger(roger, found->memory, wanted->from, &found->notes, err);
	if (r == ROGER_OK && wanted->to.length)
		r = rg_send_note_stranger(roger, found->memory, wanted->to, &found->notes, err);
	return r;
}

int rg_verb_count(struct roger *roger, const struct roger_list_request *request,
		  struct roger_count_reply *reply, struct roger_err *err)
{
	const struct rg_query query = query_of(request);
	int r = check_text(request, err);

	return r < 0 ? r : rg_engine_count(roger->engine, &query, &reply->count, err);
}
