/*
 * message_cleanup - which read messages of an issue are no longer needed.
 *
 * Pure functions (seed 004).  An unread message stays; a read one goes when it is
 * too old, when enough newer ones went to the same phase, or when it belongs to a
 * run before the last ones.  A limit of 0 switches its rule off.
 */
#ifndef RG_MESSAGE_CLEANUP_H
#define RG_MESSAGE_CLEANUP_H

#include "data/record.h"
#include "verbs.h"

enum rg_cleanup { RG_KEEP, RG_KEEP_UNREAD, RG_TOO_OLD, RG_TOO_MANY, RG_OLD_RUN };

struct rg_cleanup_rules {
	int64_t max_age_days;
	int64_t keep_per_phase;
	int64_t keep_runs;
};

/* Judge all messages of one issue, oldest first; verdicts has one element for each.  keep_unread
 * marks unread messages that a rule would otherwise remove. */
void rg_message_cleanup(const struct roger_message *messages, size_t count,
			const struct rg_cleanup_rules *rules, int64_t now_ms,
			enum rg_cleanup *verdicts);

const char *rg_message_cleanup_reason(enum rg_cleanup verdict);

#endif
