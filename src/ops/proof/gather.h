/*
 * gather - what the journals hold of a subject, each piece once however many
 * questions it fits.  stream.h makes events of it.
 */
#ifndef RG_GATHER_H
#define RG_GATHER_H

#include "ops/runs/run_document.h"
#include "facts/history.h"

/* Messages, each once. */
struct rg_gathered_messages {
	struct rg_counter seen; /* ids */
	struct roger_message *items;
	size_t count;
};

/* Entries of one log, each once. */
struct rg_gathered_entries {
	struct rg_counter seen; /* positions */
	struct rg_log_entry *items;
	size_t count;
};

/* Everything that a history is told from. */
struct rg_gathering {
	struct roger *roger;
	struct rg_arena *arena;
	int64_t until_ms; /* 0: open */
	int64_t limit;	  /* so many of an answer, the newest */
	bool more;	  /* the limit cut one */
	struct rg_gathered_messages messages;
	struct rg_gathered_entries logs[RG_LOGS];
	struct {
		struct rg_run_document *items;
		size_t count;
	} runs;
};

void rg_gathering_init(struct rg_gathering *gathering, struct roger *roger, struct rg_arena *arena);

/* Living and archived messages that fit. */
RG_CHECKED int rg_gather_messages(struct rg_gathering *gathering, const struct rg_query *query,
				  struct roger_err *err);

/* Those of these ids. */
RG_CHECKED int rg_gather_ids(struct rg_gathering *gathering, const struct roger_str *ids,
			     size_t count, struct roger_err *err);

/* Entries that fit; the query's log says where they go. */
RG_CHECKED int rg_gather_entries(struct rg_gathering *gathering, const struct rg_log_query *query,
				 struct roger_err *err);

/* Attempts and dead letters of the messages gathered so far that have a key of another task. */
RG_CHECKED int rg_gather_attempts(struct rg_gathering *gathering, struct roger_str task,
				  struct roger_err *err);

/* The messages of the attempts gathered so far. */
RG_CHECKED int rg_gather_attempted(struct rg_gathering *gathering, struct roger_err *err);

/* The attempts to wake the recipients of these messages since they were stored. */
RG_CHECKED int rg_gather_wakes(struct rg_gathering *gathering, const struct roger_message *messages,
			       size_t count, struct roger_err *err);

/* The runs that fit; name stands in their documents somewhere. */
typedef bool rg_run_fits(const struct roger_run *run, struct roger_str name);
RG_CHECKED int rg_gather_runs(struct rg_gathering *gathering, struct roger_str name,
			      rg_run_fits *fits, struct roger_err *err);

/* What was gathered, in the order of each journal. */
void rg_gathering_sort(struct rg_gathering *gathering);

#endif
