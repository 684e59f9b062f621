/* sends: what the send log says was attempted, and what came of it (seed 000). */
#include "ops/keys/attempt.h"

/* As an outcome to ask for: it comes after those of enum roger_attempt_outcome. */
enum { PENDING = ROGER_ERROR + 1 };

static struct rg_log_query query_of(const struct roger_sends_request *request)
{
	return (struct rg_log_query){
		.log = RG_LOG_SENDS,
		.plain = true,
		.owner = request->from,
		.target = request->to,
		.task = request->task,
		.key = request->key,
		.message = request->message,
		.cycle = request->cycle,
		.since_ms = request->since_ms,
		.until_ms = request->until_ms,
		.states = !request->lines,
	};
}

static void reverse(struct roger_attempt *items, size_t count)
{
	struct roger_attempt spare;
	size_t i;

	for (i = 0; i < count / 2; i++) {
		spare = items[i];
		items[i] = items[count - 1 - i];
		items[count - 1 - i] = spare;
	}
}

/* Those of an outcome, in the order asked for, as many as asked for. */
static void choose(const struct roger_sends_request *request, struct roger_attempt *items,
		   size_t count, struct roger_sends_reply *reply)
{
	size_t limit = request->limit ? (size_t)request->limit : RG_PAGE_MAX, kept = 0, i;

	for (i = 0; i < count; i++)
		if (!request->outcome ||
		    (items[i].pending ? PENDING : items[i].outcome) == request->outcome - 1)
			items[kept++] = items[i];
	if (request->newest)
		reverse(items, kept);
	reply->more = kept > limit;
	reply->attempts = (struct roger_attempts){ items, reply->more ? limit : kept };
}

/* The log has forgotten the key: what its digest says. */
static int find_digest(struct roger *roger, const struct roger_sends_request *request,
		       struct roger_sends_reply *reply, struct roger_err *err)
{
	struct rg_log_query query = { .log = RG_LOG_DIGESTS, .states = true };
	char id[RG_SENDLOG_ID_BYTES];
	struct rg_records found;
	int r;

	if (!request->key.length || !request->from.length)
		return ROGER_OK;
	if (!rg_digest_id(request->from, request->key, id))
		return rg_fail_memory(err);
	query.id = rg_str(id);
	r = rg_records_read(roger, &query, reply->memory, &found, err);
	if (r == ROGER_OK)
		reply->purged = (struct roger_digests){ found.digests, found.count };
	return r;
}

static int run(struct roger *roger, const void *request_, void *reply_, struct roger_err *err)
{
	const struct roger_sends_request *request = request_;
	const struct rg_log_query query = query_of(request);
	struct roger_sends_reply *reply = reply_;
	struct rg_records found;
	int r;

	if (request->limit < 0 || request->limit > RG_BATCH_MAX)
		return rg_fail_member(err, ROGER_EDATA, "limit", "limit: expected 1 to %d",
				      RG_BATCH_MAX);
	rg_attempt_settle_overdue(roger);
	r = rg_records_read(roger, &query, reply->memory, &found, err);
	if (r < 0)
		return r;
	choose(request, found.attempts, found.count, reply);
	return found.count ? ROGER_OK : find_digest(roger, request, reply, err);
}

static const char *const outcome_names[] = {
	"any", "delivered", "timeout", "error", "pending", NULL
};

#define AT(member) offsetof(struct roger_sends_request, member)
static const struct roger_field request_fields[] = {
	{ "from", ROGER_NAME, AT(from), 0, NULL, NULL, "only of this sender" },
	{ "to", ROGER_NAME, AT(to), 0, NULL, NULL, "only to this agent" },
	{ "task", ROGER_TEXT, AT(task), 0, NULL, NULL, "only with a key of this task" },
	{ "key", ROGER_TEXT, AT(key), ROGER_KEY, NULL, NULL, "only with this key" },
	{ "message", ROGER_TEXT, AT(message), ROGER_SOUGHT, NULL, NULL,
	  "only of the message with this id" },
	{ "cycle", ROGER_NAME, AT(cycle), 0, NULL, NULL, "only of this cycle" },
	{ "outcome", ROGER_ENUM, AT(outcome), 0, outcome_names, NULL,
	  "delivered, timeout, error, or pending (not decided yet)" },
	{ "since", ROGER_TIME, AT(since_ms), 0, NULL, NULL, "at or after this instant" },
	{ "until", ROGER_TIME, AT(until_ms), 0, NULL, NULL, "before this instant" },
	{ "lines", ROGER_BOOL, AT(lines), 0, NULL, NULL,
	  "every line of the log, not only the last of each attempt" },
	{ "newest", ROGER_BOOL, AT(newest), 0, NULL, NULL, "the last ones first" },
	{ "limit", ROGER_INT, AT(limit), 0, NULL, NULL, "at most this many (default 1000)" },
	RG_END,
};
#undef AT
static const struct roger_record request_record = { "sends", sizeof(struct roger_sends_request),
						    request_fields };

#define AT(member) offsetof(struct roger_sends_reply, member)
static const struct roger_field reply_fields[] = {
	{ "attempts", ROGER_RECORDS, AT(attempts), 0, NULL, &rg_attempt_record, "in their order" },
	{ "purged", ROGER_RECORDS, AT(purged), ROGER_SPARE, NULL, &rg_digest_record,
	  "of a key that was asked for with its sender: what is left of it" },
	{ "more", ROGER_BOOL, AT(more), 0, NULL, NULL, "the limit cut the answer" },
	RG_END,
};
#undef AT
static const struct roger_record reply_record = { "sends", sizeof(struct roger_sends_reply),
						  reply_fields };

const struct roger_op rg_op_sends = {
	.name = "sends",
	.summary = "list sends that have a key, with their outcome",
	.examples = "roger sends\nroger sends --from alice --outcome timeout\n"
		    "roger sends --task app-42 --lines --json\n",
	.request = &request_record,
	.reply = &reply_record,
	.run = run,
};
