/*
 * history - events of all systems in one order, and figures over many.
 *
 * Pure, and knows no system: an event says for itself when it was and where
 * that is written.  A new kind is a value in roger.h and a row of the table in
 * history.c: its name, and its place among what happens at one instant.
 */
#ifndef RG_HISTORY_H
#define RG_HISTORY_H

#include "data/record.h"

extern const char *const rg_event_kinds[];
extern const struct roger_record rg_event_record;

struct rg_note;
struct rg_run_document;

/* An event as the stream has it: what it says, and what it is read from. */
struct rg_event {
	struct roger_event said;
	int64_t line;	   /* of messages.jsonl, where it is told there, */
	int64_t byte;	   /* and where that begins */
	int64_t before_ms; /* until when a lease is; when a run began, or is to end */
	int outcome;	   /* of an attempt: enum roger_attempt_outcome, or: */
#define RG_ATTEMPT_PENDING (ROGER_ERROR + 1)
	int before;   /* the one that was logged before it, plus one */
	bool undated; /* when is not known: after what was before it */
	bool open;    /* nothing has settled it since */
	bool echo;    /* another event tells the same */

	const struct roger_message *message;
	const struct roger_attempt *attempt;
	const struct roger_dead_letter *letter;
	const struct roger_damage *damage;
	const struct rg_note *note;
	const struct rg_run_document *document;
};

/* A list of events. */
struct rg_history {
	struct rg_arena *arena;
	struct rg_event *items;
	size_t count;
};

/*
 * Put them in order, leave out those outside of since .. until (0: open).  What
 * happened at one instant is ordered by cause: as the journal has it, and beside
 * that as one thing leads to another; then as it was put in.
 */
RG_CHECKED int rg_history_arrange(struct rg_history *history, int64_t since_ms, int64_t until_ms,
				  struct roger_err *err);

/* Who did something, or to whom, as they first come up. */
RG_CHECKED int rg_history_agents(const struct roger_events *events, struct rg_arena *arena,
				 struct roger_strs *ret_agents, struct roger_err *err);

/* --------------------------------------------------------------- figures -- */

/* The smallest of these that percent of them do not exceed; 0 of none.  Sorts them. */
int64_t rg_percentile(int64_t *values, size_t count, int percent);

/* part of whole in thousandths, rounded down; 0 of nothing. */
int64_t rg_permille(int64_t part, int64_t whole);

/* Figures by name, each found again quickly: slots is a table, NULL name data: free. */
struct rg_counter {
	struct rg_arena *arena;
	struct roger_figure *slots;
	size_t capacity, count;
};

/* The count of a name, to be changed until the next call; NULL: out of memory. */
int64_t *rg_counter_of(struct rg_counter *counter, struct roger_str name);

/* All of them, the largest first, then by name. */
RG_CHECKED int rg_counter_figures(const struct rg_counter *counter,
				  struct roger_figures *ret_figures, struct roger_err *err);

#endif
