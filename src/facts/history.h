/*
 * history - events of all sources in one order, and statistics over many.
 *
 * Pure, and independent of the sources: an event says when it was and where that
 * is written.  A new kind is a value in roger.h and a row of the table in
 * history.c: its name, and its order among events of the same instant.
 */
#ifndef RG_HISTORY_H
#define RG_HISTORY_H

#include "facts/query.h"

/*
 * An event, and what its row of the table of events says beside it (facts/query.h).
 * Texts live until the next one, unless they were copied.
 */
struct rg_event {
	struct roger_event said;
	int log;	    /* of its row: enum rg_log */
	int flags;	    /* enum rg_row_flag */
	bool open;	    /* nothing has settled it yet */
	bool echo;	    /* another event reports the same */
	int64_t of;	    /* position of its message; 0: an entry of a log */
	int64_t position;   /* of its row; of two journals it says nothing */
	int64_t line, byte; /* of messages.jsonl; 0: not from there */
	/* Of a claim when it ends; of an acknowledgement its outcome; of an attempt its number,
	 * also of one to wake an agent; of another note its duplicates; of a run dispatched by when
	 * it is expected. */
	int64_t number;
	int outcome; /* of an attempt, and of one to wake; 0: none; of a message sent: its pass */
	int64_t before;	  /* of an attempt: the outcome of its line before; of a message sent: its
			   * session; of a wake: the newest message; of damage: its line in
			   * damage.jsonl */
	int64_t since_ms; /* of an attempt: when that was; of a claim, look, reading: when the
			   * message was stored; of a run: when it was dispatched */
	struct roger_str id;   /* of the entry */
	struct roger_str to;   /* recipient of the message */
	struct roger_str text; /* what else the row says: a cause, who had the lease */
	struct roger_str ran;  /* who ran it: "uid 1000, bash", where a note says so */
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
RG_CHECKED int rg_history_agents(const struct roger_event_list *events, struct rg_arena *arena,
				 struct roger_strs *ret_agents, struct roger_err *err);

/* --------------------------------------------------------------- figures -- */

/* The smallest value that percent of them do not exceed; ROGER_UNKNOWN if there are none.  None is
 * below 0. */
int64_t rg_percentile(const int64_t *values, size_t count, int percent);

/* part of whole in thousandths, rounded down; ROGER_UNKNOWN if whole is 0. */
int64_t rg_permille(int64_t part, int64_t whole);

/* Counters by name; slots is a hash table, NULL name data: free slot. */
struct rg_counter {
	struct rg_arena *arena;
	struct roger_figure *slots;
	size_t capacity, count;
};

/* A name's counter, valid until the next call; NULL: out of memory. */
int64_t *rg_counter_of(struct rg_counter *counter, struct roger_str name);

/* All counters, largest first, then by name. */
RG_CHECKED int rg_counter_figures(const struct rg_counter *counter,
				  struct roger_figure_list *ret_figures, struct roger_err *err);

#endif
