/*
 * later - a later line of a message, read together with the first one of its id.
 *
 * Only needed where their hashes differ (rg_message_hash): another program wrote
 * the later line in its own way, or rewrote the message.
 */
#ifndef RG_LATER_H
#define RG_LATER_H

#include "facts/message.h"
#include "store/store.h"

/* The place of a line in messages. */
struct rg_place {
	uint64_t offset;
	size_t length;
};

/* Read the message with its later line applied; memory from arena.  See rg_message_compare(). */
RG_CHECKED int rg_later_read(struct rg_store *store, uint64_t key, struct rg_place first,
			     struct rg_place later, struct rg_arena *arena,
			     struct roger_message *ret_message, struct rg_rewrites *ret_rewrites,
			     struct roger_err *err);

#endif
