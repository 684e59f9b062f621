/*
 * note - what a verb tells of itself in the activity log: who, what kind, ids
 * and numbers.  Never any content.
 */
#ifndef RG_NOTE_H
#define RG_NOTE_H

#include "ops/op.h"

/*
 * Add the entry of a verb that ran and came to code; reply is filled when that
 * is ROGER_OK.  What goes wrong here is told by roger_notice() and changes
 * nothing of what the verb came to.
 */
void rg_note(struct roger *roger, const struct roger_op *op, const void *request, const void *reply,
	     int code, const struct roger_err *err);

/* How many sends of the reply, of `send` or `send_many`, were known already. */
int64_t rg_note_duplicates(const struct roger_op *op, const void *reply);

/* Add one entry to the activity log; durable: on disk when it returns. */
RG_CHECKED int rg_note_write(struct roger *roger, const struct roger_activity *entry, bool durable,
			     struct roger_err *err);

#endif
