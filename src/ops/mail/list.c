/* list, count: messages by what they are, or by their words. */
#include "ops/op.h"

#include "facts/message.h"

static struct rg_query query_of(const struct roger_list_request *request)
{
	return (struct rg_query){
		.text = request->text,
		.issue = request->issue,
		.from = request->from,
		.to = request->to,
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

/* Where the page starts: behind a message that was shown. */
static int find_start(struct roger *roger, const struct roger_list_request *request,
		      struct rg_arena *arena, int64_t *ret_after, struct roger_err *err)
{
	const struct rg_query query = { .ids = &request->after, .id_count = 1, .anywhere = true };
	struct roger_messages found;
	int r;

	r = rg_engine_find(roger->engine, &query, arena, &found, err);
	if (r < 0)
		return r;
	if (found.count == 0)
		return rg_fail_member(err, ROGER_ENOENT, "after", "after: no message '%.*s'",
				      RG_STR_ARGS(request->after));
	*ret_after = found.items[0].position;
	return ROGER_OK;
}

/* All of them, where the page shows that, or the store keeps the number. */
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

	if (limit < 0 || limit > RG_PAGE_MAX)
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

static int run_list(struct roger *roger, const void *request, void *reply, struct roger_err *err)
{
	int r = check_text(request, err);

	return r < 0 ? r : find_page(roger, request, reply, err);
}

static int run_count(struct roger *roger, const void *request, void *reply_, struct roger_err *err)
{
	struct roger_count_reply *reply = reply_;
	const struct rg_query query = query_of(request);
	int r = check_text(request, err);

	return r < 0 ? r : rg_engine_count(roger->engine, &query, &reply->count, err);
}

/* As rg_message_types, with a name for "any" first. */
static const char *const type_names[] = { "any", "context", "result", "decision", "data", NULL };

#define AT(member) offsetof(struct roger_list_request, member)
#define FILTER_FIELDS                                                                              \
	{ "issue", ROGER_NAME, AT(issue), ROGER_ISSUE, NULL, NULL, "only of this unit of work" },  \
		{ "from", ROGER_NAME, AT(from), 0, NULL, NULL, "only from this agent" },           \
		{ "to", ROGER_NAME, AT(to), 0, NULL, NULL, "only to this agent" },                 \
		{ "type",                                                                          \
		  ROGER_ENUM,                                                                      \
		  AT(type),                                                                        \
		  0,                                                                               \
		  type_names,                                                                      \
		  NULL,                                                                            \
		  "context, result, decision or data" },                                           \
		{ "pass", ROGER_INT, AT(pass), 0, NULL, NULL, "only of this pass" },               \
		{ "unread", ROGER_BOOL, AT(unread), 0, NULL, NULL, "only unread" },                \
		{ "archived",                                                                      \
		  ROGER_BOOL,                                                                      \
		  AT(archived),                                                                    \
		  0,                                                                               \
		  NULL,                                                                            \
		  NULL,                                                                            \
		  "archived messages instead; not with WORDS" },                                   \
		{ "since",                                                                         \
		  ROGER_TIME,                                                                      \
		  AT(since_ms),                                                                    \
		  0,                                                                               \
		  NULL,                                                                            \
		  NULL,                                                                            \
		  "created at or after: a time, or 2h (ago)" },                                    \
		{ "until", ROGER_TIME, AT(until_ms), 0, NULL, NULL, "created before" },            \
	{                                                                                          \
		"key", ROGER_TEXT, AT(key), 0, NULL, NULL, "only with this idempotent key"         \
	}
#define PAGE_FIELDS                                                                                \
	{ "newest", ROGER_BOOL, AT(newest), 0, NULL, NULL, "newest first" },                       \
		{ "after",                                                                         \
		  ROGER_TEXT,                                                                      \
		  AT(after),                                                                       \
		  ROGER_SOUGHT,                                                                    \
		  NULL,                                                                            \
		  NULL,                                                                            \
		  "continue after this message" },                                                 \
	{                                                                                          \
		"limit", ROGER_INT, AT(limit), ROGER_OR_OFF, NULL, NULL,                           \
			"at most this many (at a terminal 1000); 0: all"                           \
	}
#define TEXT_FIELD                                                                                 \
	{                                                                                          \
		"text", ROGER_TEXT, AT(text), ROGER_PLACE, NULL, NULL,                             \
			"words that must all be there; wor* for a beginning"                       \
	}
static const struct roger_field list_fields[] = { TEXT_FIELD, FILTER_FIELDS, PAGE_FIELDS, RG_END };
static const struct roger_field count_fields[] = { TEXT_FIELD, FILTER_FIELDS, RG_END };
#undef AT
static const struct roger_record list_request = { "list", sizeof(struct roger_list_request),
						  list_fields };
static const struct roger_record count_request = { "count", sizeof(struct roger_list_request),
						   count_fields };

#define AT(member) offsetof(struct roger_messages_reply, member)
static const struct roger_field list_reply_fields[] = {
	{ "messages", ROGER_RECORDS, AT(messages), 0, NULL, &rg_message_record,
	  "first in, first out" },
	{ "more", ROGER_BOOL, AT(more), 0, NULL, NULL, "the limit cut the answer" },
	{ "next", ROGER_TEXT, AT(next), ROGER_SPARE, NULL, NULL, "give this as after to go on" },
	{ "total", ROGER_INT, AT(total), ROGER_MEASURED, NULL, NULL,
	  "all that match, of the first page; left out where it would have to be counted" },
	RG_END,
};
#undef AT
static const struct roger_record list_reply = { "messages", sizeof(struct roger_messages_reply),
						list_reply_fields };

static const struct roger_field count_reply_fields[] = {
	{ "count", ROGER_INT, offsetof(struct roger_count_reply, count), 0, NULL, NULL,
	  "how many" },
	RG_END,
};
static const struct roger_record count_reply = { "count", sizeof(struct roger_count_reply),
						 count_reply_fields };

const struct roger_op rg_op_list = {
	.name = "list",
	.summary = "list messages, or find them by their words",
	.examples = "roger list --issue app-42\nroger list --to bob --unread\n"
		    "roger list 'schema migr*' --from plan\n"
		    "roger list --newest --limit 10\nroger list --since yesterday --type decision "
		    "--jsonl\n"
		    "roger list --to bob --unread --count\n",
	.request = &list_request,
	.reply = &list_reply,
	.run = run_list,
};

const struct roger_op rg_op_count = {
	.name = "count",
	.summary = "count messages",
	.examples = "roger list --count\n",
	.flags = ROGER_NO_COMMAND,
	.request = &count_request,
	.reply = &count_reply,
	.run = run_count,
};
