/*
 * activity - who did what, and with what outcome.
 *
 * The record of seed 003; pure functions.  Entries are kept one per line in
 * logs/activity.log.jsonl, which other tools write too.  An entry is checked
 * before it is written; unknown members are kept.
 */
#ifndef RG_ACTIVITY_H
#define RG_ACTIVITY_H

#include "data/record.h"
#include "verbs.h"

/* Check the timestamp of a decoded entry, and set at_ms from it. */
RG_CHECKED int rg_activity_check(struct roger_activity *activity, struct roger_err *err);

/* Append the entry as a line to out.  ROGER_EDATA: too long for a line. */
RG_CHECKED int rg_activity_print(const struct roger_activity *activity, struct rg_buf *out,
				 struct roger_err *err);

/* Refuse an entry with a null that the schema forbids; other programs' entries with one are still
 * read. */
RG_CHECKED int rg_activity_check_null(struct roger_str entry, struct rg_arena *arena,
				      struct roger_err *err);

#endif
