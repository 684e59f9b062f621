/*
 * tally - keeping the control file's figures in step with messages.
 *
 * Under the append lock.  Figures may be too high, never too low: they rise
 * before a line is written and sink after it was.
 */
#ifndef RG_TALLY_H
#define RG_TALLY_H

#include "store/file/control.h"
#include "facts/message.h"

/* What one message needs at most in rg_control_has_room(). */
enum { RG_TALLY_AGENTS = 2, RG_TALLY_COUNTS = 3 };

/* A line that another writer left; for rg_journal_open(). */
bool rg_tally_adopt(void *context, struct rg_control *control, struct roger_str line, bool own);

/* A new message is about to be written; its number counts already. */
void rg_tally_add(struct rg_control *control, const struct roger_message *message);

/* It was not written after all, and nobody else saw the lock meanwhile. */
void rg_tally_undo(struct rg_control *control, const struct roger_message *message);

/* The state of a message was written. */
void rg_tally_change(struct rg_control *control, const struct roger_message *before,
		     const struct roger_message *after);

/* A message is about to be written with a number that its sender gave it, or none. */
void rg_tally_number(struct rg_control *control, const struct roger_message *message);

/* There is an agent of that name. */
void rg_tally_know(struct rg_control *control, struct roger_str name);

/* The next number of a sender in the epoch in force. */
int64_t rg_tally_next_number(struct rg_control *control, struct roger_str sender);

/* How many messages the mailbox and the issue may hold. */
int64_t rg_tally_mailbox(struct rg_control *control, const struct roger_message *message);
int64_t rg_tally_issue(struct rg_control *control, const struct roger_message *message);

/* Has the sender perhaps used the key? */
bool rg_tally_knows_key(struct rg_control *control, const struct roger_message *message);

#endif
