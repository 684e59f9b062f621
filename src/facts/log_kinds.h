/*
 * log_kinds - the table of journals: where each is, what its lines are, and what they
 * can be found by.
 *
 * Everything that appends, reads, indexes, checks or seals journals uses this
 * table: a new journal is a row of it and a value here.
 */
#ifndef RG_LOG_KINDS_H
#define RG_LOG_KINDS_H

#include "data/record.h"
#include "verbs.h"

/* The logs, in the order in which verify and seals list them. */
enum rg_log {
	RG_LOG_MESSAGES,
	RG_LOG_CYCLES,
	RG_LOG_DEAD_LETTERS,
	RG_LOG_SENDS,
	RG_LOG_DIGESTS, /* of purged keys */
	RG_LOG_RETIRED, /* agents that get no more mail */
	RG_LOG_DAMAGE,	/* damage that was found */
	RG_LOG_ACTIVITY,
	RG_LOG_ARCHIVE,
	RG_LOG_CLEANUPS,
	RG_LOG_SESSIONS, /* numbers of another program that a session began with */
	RG_LOG_OUTPUTS,	 /* the last lines that programs printed */
	RG_LOGS
};

/* The columns by which entries can be found. */
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
/* The columns' names in the table of events. */
extern const char *const rg_column_names[RG_COLUMNS];

struct rg_columns {
	int64_t at_ms;
	struct roger_str texts[RG_COLUMNS]; /* "": not set */
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
	struct rg_session session;
	struct rg_run_output output;
};

struct rg_log_kind {
	const char *folder; /* within the data folder, ending in a slash; "": the data folder */
	const char *file;   /* NULL: one file per owner */
	const struct roger_record *record;
	bool chained;	   /* its lines have chains; others are not verified or sealed */
	bool may_lose_end; /* lines are not always synced at once */
	int (*check)(void *record, struct roger_err *err); /* checks beyond the fields */

	/* The members that are columns of the index. */
	const char *at, *members[RG_COLUMNS];
	void (*derive)(const union rg_log_record *record, struct rg_arena *arena,
		       struct rg_columns *columns); /* computes columns that are not members */

	/* Set where the configuration may place the file: its first bytes, and the word for an
	 * entry in errors. */
	const char *start, *noun;
};
extern const struct rg_log_kind rg_log_kinds[RG_LOGS];

/* May the file at this path from the data folder be this log?  Only folders are compared, since
 * the configuration may name the file. */
bool rg_log_kind_has(enum rg_log log, struct roger_str file);

/* Decode a line into a record of its kind; texts are in arena.  ROGER_EDATA: not an entry, err
 * says why. */
RG_CHECKED int rg_log_kind_read(enum rg_log log, struct roger_str line, struct rg_arena *arena,
				void *ret_record, struct roger_err *err);

/* Like rg_log_kind_read(), for a line that may have roger's words in place of the seeds' names. */
RG_CHECKED int rg_log_kind_read_words(enum rg_log log, struct roger_str line,
				      struct rg_arena *arena, void *ret_record,
				      struct roger_err *err);

/* Fill in the columns of an entry. */
void rg_log_kind_columns(enum rg_log log, const union rg_log_record *record, struct rg_arena *arena,
			 struct rg_columns *ret_columns);

/* Does a log, other than the messages, have a file or folder of this name in the data folder? */
bool rg_log_kinds_use(struct roger_str name);

#endif
