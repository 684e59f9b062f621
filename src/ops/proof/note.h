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

/*
 * Details of a note, a JSON object from its brace on: whose verb it was; the ids
 * of messages, at least the first of them, and how many there are; a number.
 */
void rg_note_begin(struct rg_buf *out, const char *verb, struct roger_str agent);
void rg_note_ids(struct rg_buf *out, const struct roger_str *ids, size_t id_count, int64_t count);
void rg_note_number(struct rg_buf *out, const char *name, int64_t number);

/* Add one entry to the activity log; durable: on disk when it returns. */
RG_CHECKED int rg_note_write(struct roger *roger, const struct roger_activity *entry, bool durable,
			     struct roger_err *err);

/* What an entry tells of one of roger's own verbs; texts and ids are the arena's. */
struct rg_own_note {
	struct roger_str verb; /* "": roger did not write it */
	struct roger_str agent;
	struct roger_strs ids; /* of messages: the first of them, */
	int64_t count;	       /* and how many there were */
	int64_t position;      /* of wake and inbox: of the newest message */
	int64_t attempt;       /* of wake */
	int64_t duplicates;
};
RG_CHECKED int rg_own_note(const struct roger_activity *activity, struct rg_arena *arena,
			   struct rg_own_note *ret_note, struct roger_err *err);

/* The same from an entry of the log, which is decoded, too. */
RG_CHECKED int rg_own_note_read(const struct rg_log_entry *entry, struct rg_arena *arena,
				struct roger_activity *ret_activity, struct rg_own_note *ret_note,
				struct roger_err *err);

#endif
