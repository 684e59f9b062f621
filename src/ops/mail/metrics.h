/* metrics - what left an issue: a line for each issue and verb. */
#ifndef RG_METRICS_H
#define RG_METRICS_H

#include "ops/op.h"

struct rg_metrics {
	struct roger *roger;
	struct rg_arena *arena;
	struct roger_str verb, reason;
	struct rg_issue_list measured; /* the only issue, where it was measured before; or empty */
	struct roger_cleanup *items;
	size_t count;
};

/* Count a message that leaves; call this before the first message of its issue leaves. */
RG_CHECKED int rg_metrics_moved(struct rg_metrics *metrics, const struct roger_message *message,
				struct roger_err *err);

/* Record what left, if anything did. */
RG_CHECKED int rg_metrics_save(struct rg_metrics *metrics, struct roger_err *err);

#endif
