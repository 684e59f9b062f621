#include "ops/keys/breaker.h"

#include "base/id.h"
#include "base/table.h"
#include "ops/keys/attempt.h"

/* How many of the newest timeouts are looked at. */
enum { LOOK_AT = 1000 };

int rg_breaker_look(struct roger *roger, struct roger_str sender, struct roger_str target,
		    struct rg_arena *arena, bool *ret_open, int64_t *ret_until_ms,
		    struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	struct rg_log_query query = { .log = RG_LOG_SENDS,
				      .owner = sender,
				      .target = target,
				      .state = RG_STR("timeout"),
				      .newest = true,
				      .limit = config->breaker_failures };
	struct rg_records found;
	int r = rg_records_read(roger, &query, arena, &found, err);

	/* If there are enough timeouts, look for other outcomes between them.  An attempt may have
	 * several lines, and messages without a key stand among them. */
	query.state = RG_STR("");
	query.limit = LOOK_AT;
	if (r == ROGER_OK && (int64_t)found.count >= config->breaker_failures)
		r = rg_records_read(roger, &query, arena, &found, err);
	*ret_open = r == ROGER_OK &&
		    rg_sendlog_breaker_open(found.attempts, found.count, config->breaker_failures,
					    config->breaker_open_ms, rg_clock_ms(), ret_until_ms);
	return r;
}

static uint64_t hash_of(const struct roger_attempt *timeout)
{
	return rg_hash(rg_hash(0, timeout->from.data, timeout->from.length), timeout->to.data,
		       timeout->to.length);
}

int rg_breakers_find(struct roger *roger, struct rg_arena *arena, struct rg_breakers *ret_breakers,
		     struct roger_err *err)
{
	const struct rg_config *config = roger->workspace->config;
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .state = RG_STR("timeout"),
					    .since_ms = rg_clock_ms() - config->breaker_open_ms,
					    .newest = true,
					    .by_time = true,
					    .limit = LOOK_AT };
	RG_CLEANUP(rg_table_deinit) struct rg_table pairs = { 0 }; /* sender and target */
	const struct roger_attempt *timeout;
	struct rg_records timeouts;
	struct rg_breaker breaker;
	bool first = false, open = false;
	int64_t until_ms;
	size_t i;
	int r;

	*ret_breakers = (struct rg_breakers){ 0 };
	if (!config->breaker_failures || !config->breaker_open_ms)
		return ROGER_OK;
	rg_table_init(&pairs, sizeof(uint64_t));
	r = rg_records_read(roger, &query, arena, &timeouts, err);
	/* Go from the oldest timeout to the newest, and look at each pair once. */
	for (i = timeouts.count; r == ROGER_OK && i-- > 0;) {
		timeout = &timeouts.attempts[i];
		r = rg_kept(rg_table_put(&pairs, hash_of(timeout), &first), err);
		if (r < 0 || !first)
			continue;
		r = rg_breaker_look(roger, timeout->from, timeout->to, arena, &open, &until_ms,
				    err);
		if (r < 0 || !open)
			continue;
		breaker = (struct rg_breaker){ timeout->from, timeout->to, until_ms };
		if (!rg_arena_append(arena, &ret_breakers->items, &ret_breakers->count, &breaker,
				     sizeof breaker))
			return rg_fail_memory(err);
	}
	return r;
}
