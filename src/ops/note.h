/*
 * note - what a verb says of itself in the activity log, taken from its request
 * and its reply by the flags of their fields.
 */
#ifndef RG_OPS_NOTE_H
#define RG_OPS_NOTE_H

#include "ops/op.h"
#include "facts/note.h"

/* Note that a verb ran and returned code; reply is filled when that is ROGER_OK. */
void rg_note(struct roger *roger, const struct roger_op *op, const void *request, const void *reply,
	     int code, const struct roger_err *err);

/* Who runs this process; asked once for a handle. */
const struct rg_ran *rg_ran(struct roger *roger);

/* Put who ran the verb into the note: rg_ran(), or the token or login.  Texts are the handle's. */
void rg_note_ran(struct roger *roger, struct rg_note *note);

/* How many sends of a reply were known already. */
int64_t rg_note_duplicates(const struct roger_op *op, const void *reply);

/* Add a line to the activity log; durable: on disk when it returns. */
RG_CHECKED int rg_note_append(struct roger *roger, struct roger_str line, bool durable,
			      struct roger_err *err);

/* Add a note to the activity log, as rg_note_append() does a line. */
RG_CHECKED int rg_note_write(struct roger *roger, const struct rg_note *note, bool durable,
			     struct roger_err *err);

/* Write the notes that waited in roger->notes after rg_gather(); or, if the sends failed with this
 * code, one note of that. */
void rg_note_gathered(struct roger *roger, int code);

/*
 * rg_note_write() for a verb that succeeds even if its note fails: then roger_notice()
 * says that `missing` is not noted; NULL: it says nothing.
 */
void rg_note_try(struct roger *roger, const struct rg_note *note, const char *missing);

#endif
