/* sends: what the send log says was attempted, and what came of it (seed 000). */
#include "ops/keys/attempt.h"

#include <stdlib.h>

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

struct placed {
	struct roger_attempt attempt;
	size_t place;
};

/* By time, then by sender and as they stand in its log: in which order logs were read says nothing.
 */
static int compare(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;
	const struct roger_str p = x->attempt.from, q = y->attempt.from;
	int order = (x->attempt.at_ms > y->attempt.at_ms) - (x->attempt.at_ms < y->attempt.at_ms);

	if (!order)
		order = memcmp(p.data, q.data, p.length < q.length ? p.length : q.length);
	if (!order)
		order = (p.length > q.length) - (p.length < q.length);
	return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int sort(struct roger_attempt *items, size_t count, struct rg_arena *arena,
		struct roger_err *err)
{
	struct placed *placed = rg_arena_get(arena, (count + 1) * sizeof *placed);
	size_t i;

	if (!placed)
		return rg_fail_memory(err);
	for (i = 0; i < count; i++)
		placed[i] = (struct placed){ items[i], i };
	qsort(placed, count, sizeof *placed, compare);
	for (i = 0; i < count; i++)
		items[i] = placed[i].attempt;
	return ROGER_OK;
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
		if (!request->outcome || (items[i].pending ? (int)ROGER_SENDS_PENDING
							   : items[i].outcome) == request->outcome)
			items[kept++] = items[i];
	if (request->newest)
		reverse(items, kept);
	reply->more = kept > limit;
	reply->attempts = (struct roger_attempt_list){ items, reply->more ? limit : kept };
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
		reply->purged = (struct roger_digest_list){ found.digests, found.count };
	return r;
}

/* So many lines of the newest times: at least as many attempts as were asked for, and one more. The
 * last line of an attempt is its newest, so each is there with its state. */
static int read_newest(struct roger *roger, const struct roger_sends_request *request,
		       struct rg_log_query query, struct roger_sends_reply *reply,
		       struct rg_records *ret_found, struct roger_err *err)
{
	const size_t wanted = request->limit ? (size_t)request->limit : RG_PAGE_MAX;
	int64_t oldest_ms;
	size_t kept, i;
	int r;

	query.newest = query.by_time = true;
	for (query.limit = 2 * (int64_t)wanted + 8;; query.limit *= 4) {
		r = rg_records_read(roger, &query, reply->memory, ret_found, err);
		if (r < 0 || (int64_t)ret_found->lines < query.limit)
			return r;
		/* Of the last instant some may be missing. */
		oldest_ms = INT64_MAX;
		for (i = 0; i < ret_found->count; i++)
			if (ret_found->attempts[i].at_ms < oldest_ms)
				oldest_ms = ret_found->attempts[i].at_ms;
		for (kept = 0, i = 0; i < ret_found->count; i++)
			if (ret_found->attempts[i].at_ms > oldest_ms)
				ret_found->attempts[kept++] = ret_found->attempts[i];
		ret_found->count = kept;
		if (kept > wanted)
			return ROGER_OK;
	}
}

int rg_verb_sends(struct roger *roger, const struct roger_sends_request *request,
		  struct roger_sends_reply *reply, struct roger_err *err)
{
	const struct rg_log_query query = query_of(request);
	struct rg_records found;
	int r;

	if (request->limit < 0 || request->limit > RG_BATCH_MAX)
		return rg_fail_member(err, ROGER_EDATA, "limit", "limit: expected 1 to %d",
				      RG_BATCH_MAX);
	r = request->newest && !request->outcome
		    ? read_newest(roger, request, query, reply, &found, err)
		    : rg_records_read(roger, &query, reply->memory, &found, err);
	if (r == ROGER_OK)
		r = sort(found.attempts, found.count, reply->memory, err);
	if (r < 0)
		return r;
	choose(request, found.attempts, found.count, reply);
	return found.count ? ROGER_OK : find_digest(roger, request, reply, err);
}
