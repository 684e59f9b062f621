/*
 * activity - who did what, and what came of it.
 *
 * The record of seed 003, pure: an engine keeps the entries, one a line, in
 * logs/activity.log.jsonl, where other tools write, too.  An entry is judged
 * before it is written; members that nobody knows survive.
 */
#ifndef RG_ACTIVITY_H
#define RG_ACTIVITY_H

#include "data/record.h"

extern const char *const rg_activity_types[], *const rg_activity_statuses[];
extern const struct roger_record rg_activity_record;

/* What the fields of a decoded entry do not say; it gets its at_ms. */
RG_CHECKED int rg_activity_check(struct roger_activity *activity, struct roger_err *err);

/* The entry as a line behind what out holds.  ROGER_EDATA: it is too long for one. */
RG_CHECKED int rg_activity_print(const struct roger_activity *activity, struct rg_buf *out,
				 struct roger_err *err);

/* The schema allows no null; those that others wrote are read all the same. */
RG_CHECKED int rg_activity_check_null(struct roger_str entry, struct rg_arena *arena,
				      struct roger_err *err);

/* Has it only members that roger knows? */
RG_CHECKED int rg_activity_check_strict(const struct roger_activity *activity,
					struct roger_err *err);

#endif
