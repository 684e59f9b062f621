/*
 * records - entries of logs as structs, and the cycles of the send log.
 */
#ifndef RG_RECORDS_H
#define RG_RECORDS_H

#include "ops/op.h"
#include "facts/sendlog.h"

/* One entry, decoded; its texts are in arena. */
RG_CHECKED int rg_records_decode(struct roger_str text, const struct roger_record *type,
				 struct rg_arena *arena, void *record, struct roger_err *err);

/*
 * Entries of a log, decoded; items of type->size each.  Entries are valid, the
 * index passes over others.
 */
RG_CHECKED int rg_records_read(struct roger *roger, const struct rg_log_query *query,
			       const struct roger_record *type, struct rg_arena *arena,
			       void **ret_items, size_t *ret_count, struct roger_err *err);

/*
 * Of records that start with their id, keep the last for each id, where its
 * first stood.  Returns how many are left.
 */
RG_CHECKED int rg_records_states(void *items, size_t item_size, size_t *count,
				 struct roger_err *err);

/* Add records of one owner's log, within records_begin and _end. */
RG_CHECKED int rg_records_write(struct roger *roger, enum rg_log log, struct roger_str owner,
				const struct roger_record *type, const void *items, size_t count,
				bool durable, struct roger_err *err);

/* ---------------------------------------------------------------- cycles -- */

/* The cycle in force; RG_FIRST_CYCLE, 1, as long as none was opened. */
RG_CHECKED int rg_cycle_current(struct roger *roger, struct rg_arena *arena,
				struct roger_cycle *ret_cycle, struct roger_err *err);

/* All cycles, the first that nobody opened included, in their order. */
RG_CHECKED int rg_cycle_all(struct roger *roger, struct rg_arena *arena,
			    struct roger_cycles *ret_cycles, struct roger_err *err);

/* The number of a cycle; 0: there was none of that id. */
int64_t rg_cycle_number(const struct roger_cycles *cycles, struct roger_str id);

#endif
