/* merge - a workspace becomes part of another one that has mail already. */
#ifndef RG_MERGE_H
#define RG_MERGE_H

#include "ops/op.h"

/*
 * Each message of `from` gets into `to` under its id, with its state and a new number, and each
 * run; all that it was is kept there, too, as a backup in merged/.  Then `from` is moved to
 * `place`. A killed call leaves both usable, and the same call again continues.
 */
RG_CHECKED int rg_merge(struct roger *from, struct roger *to, struct roger_str place,
			struct roger_move_reply *reply, struct roger_err *err);

#endif
