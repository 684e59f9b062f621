/*
 * tally - what a store's figures mean, and keeping them in step with messages.
 *
 * Under the append lock.  Figures may be too high, never too low: they rise
 * before a line is written and sink after it was.
 */
#ifndef RG_TALLY_H
#define RG_TALLY_H

#include "facts/message.h"
#include "store/store.h"

/* What one message needs at most: new figures. */
enum { RG_TALLY_AGENTS = 2, RG_TALLY_COUNTS = 3 };

/* The epoch in force; 0 where nothing is known. */
int64_t rg_tally_epoch(struct rg_store *store);
void rg_tally_set_epoch(struct rg_store *store, int64_t epoch);

/* An agent's figure; false: there is none. */
bool rg_tally_find_agent(struct rg_store *store, struct roger_str name,
			 struct rg_figure *ret_agent);
void rg_tally_put_agent(struct rg_store *store, struct roger_str name,
			const struct rg_figure *agent);

/* What was counted by rg_count_hash(); 0: nothing. */
uint64_t rg_tally_count(struct rg_store *store, uint64_t hash);
void rg_tally_put_count(struct rg_store *store, uint64_t hash, uint64_t count);

/* A line that another writer left; for struct rg_store_above. */
bool rg_tally_adopt(struct rg_store *store, struct roger_str line, bool own);

/* A new message is about to be written; its number counts already. */
void rg_tally_add(struct rg_store *store, const struct roger_message *message);

/* It was not written after all, and nobody else saw the lock meanwhile. */
void rg_tally_undo(struct rg_store *store, const struct roger_message *message);

/* The state of a message was written. */
void rg_tally_change(struct rg_store *store, const struct roger_message *before,
		     const struct roger_message *after);

/* A message is about to be written with a number that its sender gave it, or none. */
void rg_tally_number(struct rg_store *store, const struct roger_message *message);

/* There is an agent of that name. */
void rg_tally_know(struct rg_store *store, struct roger_str name);

/* The next number of a sender in the epoch in force. */
int64_t rg_tally_next_number(struct rg_store *store, struct roger_str sender);

/* How many messages the mailbox and the issue may hold. */
int64_t rg_tally_mailbox(struct rg_store *store, const struct roger_message *message);
int64_t rg_tally_issue(struct rg_store *store, const struct roger_message *message);

/* Has the sender perhaps used the key? */
bool rg_tally_knows_key(struct rg_store *store, const struct roger_message *message);

#endif
