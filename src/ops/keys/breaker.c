#include "ops/keys/breaker.h"

#include "base/id.h"
#include "base/table.h"

/* How many of the newest timeouts are looked at. */
enum { LOOK_AT = 1000 };

bool rg_breaker_is_open(struct rg_reading *reading, struct roger_str sender,
			struct roger_str target, int64_t *ret_until_ms)
{
	const struct rg_config *config = reading->roger->workspace->config;
	struct rg_log_query query = { .log = RG_LOG_SENDS,
				      .owner = sender,
				      .target = target,
				      .state = RG_STR("timeout"),
				      .newest = true,
				      .limit = config->breaker_failures };
	struct rg_records found = rg_read_records(reading, &query);

	/* If there are enough timeouts, look for other outcomes between them.  An attempt may have
	 * several lines, and messages without a key stand among them. */
	query.state = RG_STR("");
	query.limit = LOOK_AT;
	if ((int64_t)found.count >= config->breaker_failures)
		found = rg_read_records(reading, &query);
	return rg_sendlog_breaker_open(found.attempts, found.count, config->breaker_failures,
				       config->breaker_open_ms, rg_clock_ms(), ret_until_ms);
}

static uint64_t hash_of(const struct roger_attempt *timeout)
{
	return rg_hash(rg_hash(0, timeout->from.data, timeout->from.length), timeout->to.data,
		       timeout->to.length);
}

struct rg_breakers rg_read_breakers(struct rg_reading *reading)
{
	const struct rg_config *config = reading->roger->workspace->config;
	const struct rg_log_query query = { .log = RG_LOG_SENDS,
					    .state = RG_STR("timeout"),
					    .since_ms = rg_clock_ms() - config->breaker_open_ms,
					    .newest = true,
					    .by_time = true,
					    .limit = LOOK_AT };
	RG_CLEANUP(rg_table_deinit) struct rg_table pairs = { 0 }; /* sender and target */
	struct rg_breakers open = { 0 };
	struct rg_breaker breaker;
	struct rg_records timeouts;
	bool first = false;
	size_t i;

	if (!config->breaker_failures || !config->breaker_open_ms)
		return open;
	rg_table_init(&pairs, sizeof(uint64_t));
	timeouts = rg_read_records(reading, &query);
	/* Go from the oldest timeout to the newest, and look at each pair once. */
	for (i = timeouts.count; i-- > 0;) {
		if (!rg_reading_got(
			    reading,
			    rg_kept(rg_table_put(&pairs, hash_of(&timeouts.attempts[i]), &first),
				    reading->err)))
			break;
		breaker = (struct rg_breaker){ timeouts.attempts[i].from, timeouts.attempts[i].to,
					       0 };
		if (first &&
		    rg_breaker_is_open(reading, breaker.sender, breaker.target, &breaker.until_ms))
			(void)!rg_arena_append(reading->arena, &open.items, &open.count, &breaker,
					       sizeof breaker);
	}
	return open;
}
