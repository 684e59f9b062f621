/*
 * breaker - to whom nothing is sent for a while, since it let too much time out.
 */
#ifndef RG_BREAKER_H
#define RG_BREAKER_H

#include "ops/reading.h"

struct rg_breaker {
	struct roger_str sender, target;
	int64_t until_ms;
};

struct rg_breakers {
	const struct rg_breaker *items;
	size_t count;
};

/* Those that are open now. */
struct rg_breakers rg_read_breakers(struct rg_reading *reading);

/* Is that of a sender and target open? */
bool rg_breaker_is_open(struct rg_reading *reading, struct roger_str sender,
			struct roger_str target, int64_t *ret_until_ms);

#endif
