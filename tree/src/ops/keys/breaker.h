/*
 * breaker - to whom nothing is sent for a while, since it let too much time out.
 */
#ifndef RG_BREAKER_H
#define RG_BREAKER_H

#include "ops/op.h"

struct rg_breaker {
	struct roger_str sender, target;
	int64_t until_ms;
};

struct rg_breakers {
	const struct rg_breaker *items;
	size_t count;
};

/* Those that are open now. */
RG_CHECKED int rg_breakers_find(struct roger *roger, struct rg_arena *arena,
				struct rg_breakers *ret_breakers, struct roger_err *err);

/* Is that of a sender and target open? */
RG_CHECKED int rg_breaker_look(struct roger *roger, struct roger_str sender,
			       struct roger_str target, struct rg_arena *arena, bool *ret_open,
			       int64_t *ret_until_ms, struct roger_err *err);

#endif
