/*
 * records - entries of logs as structs, and the cycles of the send log.
 */
#ifndef RG_RECORDS_H
#define RG_RECORDS_H

#include "ops/op.h"
#include "facts/sendlog.h"

/* Entries of one log. */
struct rg_records {
	union {
		void *items;
		struct roger_attempt *attempts;
		struct roger_dead_letter *letters;
		struct roger_cycle *cycles;
		struct roger_digest *digests;
		struct roger_cleanup *cleanups;
	};
	size_t count;
	size_t lines; /* how many lines were read for them */
};

/* Read the records that match, into arena; query->states: rg_records_states() of them. */
RG_CHECKED int rg_records_read(struct roger *roger, const struct rg_log_query *query,
			       struct rg_arena *arena, struct rg_records *ret_records,
			       struct roger_err *err);

/* Leave the last record of each id, at the place of its first.  Records must start with the id. */
RG_CHECKED int rg_records_states(enum rg_log log, struct rg_records *records,
				 struct roger_err *err);

/* Add records to one owner's log, durably, within records_begin and _end. */
RG_CHECKED int rg_records_write(struct roger *roger, enum rg_log log, struct roger_str owner,
				const void *items, size_t count, struct roger_err *err);

/* Add a line that is no entry, and why; of many lines, only the first are kept. */
RG_CHECKED int rg_records_add_bad(struct rg_arena *arena, struct roger_bad_line_list *lines,
				  struct roger_str file, int64_t line, struct roger_str what,
				  struct roger_err *err);

/* ---------------------------------------------------------------- cycles -- */

/* Find the cycle in force; RG_FIRST_CYCLE, number 1, as long as none was opened. */
RG_CHECKED int rg_cycle_current(struct roger *roger, struct rg_arena *arena,
				struct roger_cycle *ret_cycle, struct roger_err *err);

/* List all cycles in their order, with the first, which nobody opened. */
RG_CHECKED int rg_cycle_all(struct roger *roger, struct rg_arena *arena,
			    struct roger_cycle_list *ret_cycles, struct roger_err *err);

/* The number of a cycle; 0: there was none of that id. */
int64_t rg_cycle_number(const struct roger_cycle_list *cycles, struct roger_str id);

#endif
