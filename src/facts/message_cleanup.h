/*
 * message_cleanup - which read messages of an issue are no longer needed.
 *
 * Pure rules (seed 004).  An unread message stays; a read one goes when it is
 * too old, when enough newer ones went to the same phase, or when it belongs to a
 * run before the last ones.  A limit of 0 switches its rule off.
 */
#ifndef RG_MESSAGE_CLEANUP_H
#define RG_MESSAGE_CLEANUP_H

#include "base/table.h"
#include "data/record.h"
#include "verbs.h"

enum rg_cleanup { RG_KEEP, RG_KEEP_UNREAD, RG_TOO_OLD, RG_TOO_MANY, RG_OLD_RUN };

struct rg_cleanup_rules {
	int64_t max_age_days;
	int64_t keep_per_phase;
	int64_t keep_runs;
};

/* Messages of one issue that are judged one after the other, the newest first. */
struct rg_cleaning {
	struct rg_cleanup_rules rules;
	int64_t newest_run; /* of all its messages */
	int64_t oldest_ms;  /* what was created before is too old */
	struct rg_table phases;
};
void rg_cleaning_init(struct rg_cleaning *cleaning, const struct rg_cleanup_rules *rules,
		      int64_t newest_run, int64_t now_ms);
void rg_cleaning_deinit(struct rg_cleaning *cleaning);

/* Judge the next message; keep_unread marks an unread one that a rule would otherwise remove. */
RG_CHECKED int rg_cleaning_judge(struct rg_cleaning *cleaning, const struct roger_message *message,
				 enum rg_cleanup *ret_verdict, struct roger_err *err);

const char *rg_message_cleanup_reason(enum rg_cleanup verdict);

#endif
