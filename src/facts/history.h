/*
 * history - events of all sources in one order, and statistics over many.
 *
 * Pure, and independent of the sources: an event says when it was and where that
 * is written.  A new kind is a value in roger.h and a row of the table in
 * history.c: its name, and its order among events of the same instant.
 */
#ifndef RG_HISTORY_H
#define RG_HISTORY_H

#include "data/record.h"
#include "verbs.h"

struct rg_note;
struct rg_run_document;

/* An event, and what it was derived from. */
struct rg_event {
	struct roger_event said;
	int64_t line;	   /* line of messages.jsonl, 0: none */
	int64_t byte;	   /* offset of that line */
	int64_t before_ms; /* end of a lease or run limit, or start of a run */
	int outcome;	   /* of an attempt: enum roger_attempt_outcome, or: */
#define RG_ATTEMPT_PENDING (ROGER_ERROR + 1)
	int before;	      /* the same of the entry logged before it; 0: none */
	bool undated;	      /* time unknown: comes after the event before it */
	bool open;	      /* not settled since */
	bool foreign;	      /* another program's line says so */
	bool handed;	      /* to an agent that only knows files, which spoke again */
	bool echo;	      /* another event reports the same */
	struct roger_str ran; /* who ran it: "uid 1000, bash", where a note says so */

	const struct roger_message *message;
	const struct roger_attempt *attempt;
	const struct roger_dead_letter *letter;
	const struct roger_damage *damage;
	const struct rg_note *note;
	const struct rg_run_document *document;
};

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

/* The smallest value that percent of them do not exceed; ROGER_UNKNOWN if there are none.  Sorts
 * values. */
int64_t rg_percentile(int64_t *values, size_t count, int percent);

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
