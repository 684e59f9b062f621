/*
 * kinds - the journals of a workspace, one row each: where it stands, what a
 * line of it is, and what of that can be asked for.
 *
 * Whoever adds to journals, reads, indexes, checks or seals them goes by this
 * table: a new one is a row and its value here.
 */
#ifndef RG_KINDS_H
#define RG_KINDS_H

#include "data/record.h"

/* In the order in which verify and seals list them. */
enum rg_log {
	RG_LOG_MESSAGES,
	RG_LOG_CYCLES,
	RG_LOG_DEAD_LETTERS,
	RG_LOG_SENDS,
	RG_LOG_DIGESTS, /* of purged keys */
	RG_LOG_RETIRED, /* agents that get no more mail */
	RG_LOG_DAMAGE,	/* what was found damaged */
	RG_LOG_ACTIVITY,
	RG_LOG_ARCHIVE,
	RG_LOG_CLEANUPS,
	RG_LOGS
};

/* What entries can be found by. */
enum rg_column {
	RG_COLUMN_ID,
	RG_COLUMN_OWNER,
	RG_COLUMN_TASK,
	RG_COLUMN_KEY,
	RG_COLUMN_TARGET,
	RG_COLUMN_MESSAGE,
	RG_COLUMN_CYCLE,
	RG_COLUMN_STATE,
	RG_COLUMN_KIND,
	RG_COLUMN_CITATION,
	RG_COLUMN_STEP,
	RG_COLUMNS
};
extern const char *const rg_column_names[RG_COLUMNS];

struct rg_columns {
	int64_t at_ms;
	struct roger_str texts[RG_COLUMNS]; /* "": has none */
};

union rg_log_record {
	struct roger_message message;
	struct roger_cycle cycle;
	struct roger_dead_letter letter;
	struct roger_attempt attempt;
	struct roger_digest digest;
	struct roger_retirement retirement;
	struct roger_damage damage;
	struct roger_activity activity;
	struct roger_cleanup cleanup;
};

struct rg_kind {
	const char *folder; /* from the data folder, with a slash; "": in it */
	const char *file;   /* NULL: a file for each owner */
	const struct roger_record *record;
	bool chained;	   /* roger's lines carry a chain; others are not verified or sealed */
	bool may_lose_end; /* not all lines are synced at once */
	int (*check)(void *record, struct roger_err *err); /* beside its fields */

	/* Members that the index has columns for. */
	const char *at, *members[RG_COLUMNS];
	void (*derive)(const union rg_log_record *record, struct rg_arena *arena,
		       struct rg_columns *columns); /* columns that are no members */

	/* Where the configuration may place it: a file that stands there begins with this, and is
	 * said to hold that. */
	const char *start, *noun;
};
extern const struct rg_kind rg_kinds[RG_LOGS];

/* An entry from one line into a record of its kind, whose texts are the arena's.  ROGER_EDATA: it
 * is none; err says why. */
RG_CHECKED int rg_kind_read(enum rg_log log, struct roger_str line, struct rg_arena *arena,
			    void *ret_record, struct roger_err *err);

/* What can be asked for of an entry. */
void rg_kind_columns(enum rg_log log, const union rg_log_record *record, struct rg_arena *arena,
		     struct rg_columns *ret_columns);

/* Is it the name of such a file or folder in the data folder? */
bool rg_kinds_use(struct roger_str name);

#endif
