/*
 * history - events of all sources in one order, and statistics over many.
 *
 * Pure, and independent of the sources: an event says when it was and where that
 * is written.  A new kind is a value in roger.h and a row of the table in
 * history.c: its name, and its order among events of the same instant.
 */
#ifndef RG_HISTORY_H
#define RG_HISTORY_H

#include "base/names.h"
#include "facts/query.h"

/*
 * An event, and the other columns of its row in the table of events (facts/query.h).
 * Its texts live until the next event, unless they were copied.
 */
struct rg_event {
	struct roger_event said;
	int log;	    /* the log of its row: enum rg_log */
	int flags;	    /* enum rg_row_flag */
	bool open;	    /* nothing has settled it yet */
	bool echo;	    /* another event reports the same thing */
	int64_t of;	    /* position of its message; 0: an entry of a log */
	int64_t position;   /* of its row; orders the rows of one journal */
	int64_t line, byte; /* its place in messages.jsonl; 0: not from there */
	/* By kind: the end of a claim, the outcome of an acknowledgement, the number of an attempt
	 * to send or to wake, the duplicates of another note, the time by which a dispatched run is
	 * expected. */
	int64_t number;
	int outcome;	  /* of an attempt to send or to wake, 0: none; a sent message's pass */
	int64_t before;	  /* by kind: the outcome that an attempt had before this line, the session
			   * of a sent message, the newest message's position at a wake, the line
			   * of damage in damage.jsonl */
	int64_t since_ms; /* by kind: the time of an attempt's line before this one; when the
			   * message of a claim, look or reading was stored; when a run was
			   * dispatched */
	struct roger_str id;   /* id of the entry */
	struct roger_str to;   /* recipient of the message */
	struct roger_str text; /* what else the row says: a cause, who had the lease */
	struct roger_str ran;  /* who ran roger: "uid 1000, bash", where a note says so */
};

/* Called for each event; a negative result stops.  event NULL: forget the events so far, they come
 * again from the start. */
typedef int rg_event_see(void *context, const struct rg_event *event, struct roger_err *err);

/* A growing list of events. */
struct rg_history {
	struct rg_arena *arena;
	struct rg_event *items;
	size_t count;
};

/* Sort events, dropping those outside since..until (0: open).  Within one instant causes come
 * first: journal order, then what one event leads to, then the order of adding. */
RG_CHECKED int rg_history_arrange(struct rg_history *history, int64_t since_ms, int64_t until_ms,
				  struct roger_err *err);

/* Actors and peers, in the order in which they first appear. */
struct roger_strs rg_history_agents(const struct roger_event_list *events, struct rg_arena *arena);

/* --------------------------------------------------------------- figures -- */

/* The smallest value that percent of them do not exceed; ROGER_UNKNOWN if there are none.  None is
 * below 0. */
int64_t rg_percentile(const int64_t *values, size_t count, int percent);

/* part of whole in thousandths, rounded down; ROGER_UNKNOWN if whole is 0. */
int64_t rg_permille(int64_t part, int64_t whole);

/* Counters by name; starts as { .names.arena = arena }. */
struct rg_counter {
	struct rg_names names;
	int64_t *counts; /* of each name */
	size_t count;
	/* What could not be counted once memory ran out, which the arena remembers. */
	int64_t lost;
};

/* A name's counter, valid until the next call. */
int64_t *rg_counter_of(struct rg_counter *counter, struct roger_str name);

/* All counters, largest first, then by name. */
struct roger_figure_list rg_counter_figures(const struct rg_counter *counter);

#endif
