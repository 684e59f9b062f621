/*
 * history - events of all five systems in one order, and figures over many.
 *
 * Pure, and knows no system: an event says for itself when it was and where
 * that is written.  What happened at one instant is ordered by its kind, as
 * one thing leads to another, and then stays as it was put in.
 */
#ifndef RG_HISTORY_H
#define RG_HISTORY_H

#include "data/record.h"

extern const char *const rg_event_kinds[];
extern const struct roger_record rg_event_record;

/* A list of events on its way into a reply. */
struct rg_history {
	struct rg_arena *arena;
	struct roger_event *items;
	size_t count;
};

/* The place of one more event, zeroed; NULL: out of memory. */
struct roger_event *rg_history_add(struct rg_history *history);

/* Put them in order, leave out those outside of since .. until (0: open). */
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
