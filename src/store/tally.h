/*
 * tally - what a store's figures mean, and how they follow messages.
 *
 * Functions that change figures need RG_LOCK_APPEND.  A figure may be too high,
 * never too low: it rises before a line is written and falls after.
 */
#ifndef RG_TALLY_H
#define RG_TALLY_H

#include "facts/message.h"
#include "store/store.h"

/* The most new figures that one message needs. */
enum { RG_TALLY_AGENTS = 2, RG_TALLY_COUNTS = 3 };

/* The current epoch; 0: unknown. */
int64_t rg_tally_epoch(struct rg_store *store);
void rg_tally_set_epoch(struct rg_store *store, int64_t epoch);

/* Is the agent known? */
bool rg_tally_knows_agent(struct rg_store *store, struct roger_str name);

/* Look up an agent; false: unknown. */
bool rg_tally_find_agent(struct rg_store *store, struct roger_str name,
			 struct rg_figure *ret_agent);
void rg_tally_put_agent(struct rg_store *store, struct roger_str name,
			const struct rg_figure *agent);

/* The hash of the counter of an issue's messages, or of those to one agent in it (to; else ""). */
uint64_t rg_tally_box(struct roger_str issue, struct roger_str to);

/* The counter of a hash from rg_count_hash(); 0 if there is none. */
uint64_t rg_tally_count(struct rg_store *store, uint64_t hash);
void rg_tally_put_count(struct rg_store *store, uint64_t hash, uint64_t count);

/* Count a line that another writer appended; see struct rg_store_above. */
bool rg_tally_adopt(struct rg_store *store, struct roger_str line, bool own);

/* Messages in a mailbox and in its issue. */
struct rg_tally_counts {
	int64_t mailbox, issue;
};

/* Count a message before it is written; its recipient is known from then on.  Returns the counts
 * with it. */
struct rg_tally_counts rg_tally_add(struct rg_store *store, const struct roger_message *message);

/* Undo rg_tally_add(): the message was not written.  The lock was held since. */
void rg_tally_undo(struct rg_store *store, const struct roger_message *message);

/* Count the change of a message's state, after it was written. */
void rg_tally_change(struct rg_store *store, const struct roger_message *before,
		     const struct roger_message *after);

/* Remember that the sender used this number, and so all lower ones, before it is written. */
void rg_tally_number(struct rg_store *store, struct roger_str sender, int64_t epoch, int64_t seq);

/* The next number of a sender in the current epoch. */
int64_t rg_tally_next_number(struct rg_store *store, struct roger_str sender, int64_t epoch);

/* May the sender have used this key before?  False is certain. */
bool rg_tally_knows_key(struct rg_store *store, const struct roger_message *message);

#endif
