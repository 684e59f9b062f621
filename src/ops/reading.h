/*
 * reading - what a verb that only reads asks, until one of its questions fails.
 *
 * A failure is remembered, as an arena remembers that memory ran out; its answer is empty, and the
 * functions here ask nothing more.  The verb returns reading->r at its end, and what it made of
 * empty answers goes with its reply: so this is for verbs that change nothing.
 */
#ifndef RG_READING_H
#define RG_READING_H

#include "facts/history.h"
#include "ops/records.h"

struct rg_reading {
	struct roger *roger;
	struct rg_arena *arena;
	struct roger_err *err;
	int r; /* ROGER_OK until a question failed */
};

/* Remember the result of a question; true: it was answered, like all before it. */
bool rg_reading_got(struct rg_reading *reading, int r);

struct roger_message_list rg_read_messages(struct rg_reading *reading,
					   const struct rg_query *query);
struct rg_records rg_read_records(struct rg_reading *reading, const struct rg_log_query *query);
struct rg_log_entries rg_read_entries(struct rg_reading *reading, const struct rg_log_query *query);
/* Rows of the table of events: of messages in the order of the journal. */
struct rg_history rg_read_rows(struct rg_reading *reading, const struct rg_log_query *query);

/* Add a copy of an event; that memory ran out, the history's arena remembers. */
void rg_history_keep(struct rg_history *history, const struct rg_event *event);

#endif
