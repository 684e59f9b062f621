/*
 * metrics - what left an issue, by whatever verb: a line for each issue and verb.
 */
#ifndef RG_METRICS_H
#define RG_METRICS_H

#include "ops/op.h"

struct rg_metrics {
	struct roger *roger;
	struct rg_arena *arena;
	struct roger_str verb, reason;
	struct roger_cleanup *items;
	size_t count;
};

/* This message leaves; called before the first of its issue does. */
RG_CHECKED int rg_metrics_moved(struct rg_metrics *metrics, const struct roger_message *message,
				struct roger_err *err);

/* Write down what left; nothing where nothing did. */
RG_CHECKED int rg_metrics_save(struct rg_metrics *metrics, struct roger_err *err);

/* Content and metadata of messages. */
int64_t rg_metrics_bytes(const struct roger_message_list *messages);

#endif
