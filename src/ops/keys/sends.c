/* sends: attempts in the send log, and their outcomes (seed 000). */
#include "ops/keys/attempt.h"

/* Find the digest of a key that the log has no more entries of. */
static void find_digest(struct rg_reading *reading, const struct roger_sends_request *request,
			struct roger_sends_reply *reply)
{
	struct rg_log_query query = { .log = RG_LOG_DIGESTS, .states = true };
	char id[RG_SENDLOG_ID_BYTES];
	struct rg_records found;

	if (!request->key.length || !request->from.length)
		return;
	if (!rg_reading_got(reading,
			    rg_kept(rg_digest_id(request->from, request->key, id), reading->err)))
		return;
	query.id = rg_str(id);
	found = rg_read_records(reading, &query);
	reply->purged = (struct roger_digest_list){ found.digests, found.count };
}

int rg_verb_sends(struct roger *roger, const struct roger_sends_request *request,
		  struct roger_sends_reply *reply, struct roger_err *err)
{
	const size_t limit = request->limit ? (size_t)request->limit : RG_PAGE_MAX;
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .plain = true,
					    .owner = request->from,
					    .target = request->to,
					    .task = request->task,
					    .key = request->key,
					    .message = request->message,
					    .cycle = request->cycle,
					    .since_ms = request->since_ms,
					    .until_ms = request->until_ms,
					    .last = !request->lines,
					    .outcome = request->outcome,
					    .newest = request->newest,
					    .by_time = true,
					    .limit = (int64_t)limit + 1 };
	struct rg_reading reading = { roger, reply->memory, err, ROGER_OK };
	const struct rg_records found = rg_read_records(&reading, &query);

	reply->more = found.count > limit;
	reply->attempts =
		(struct roger_attempt_list){ found.attempts, reply->more ? limit : found.count };
	if (!found.count)
		find_digest(&reading, request, reply);
	return reading.r;
}
