/*
 * index_tail - internals of answers beyond the tables: from the lines after
 * them (index_tail.c), and the mailboxes of agents that were asked for
 * (index_mail.c).
 */
#ifndef RG_INDEX_TAIL_H
#define RG_INDEX_TAIL_H

#include "index/index_db.h"

/* A message: what it is, its state now, and whether it is unread in the tables. */
struct rg_late {
	struct roger_str id, issue, from, to;
	int64_t seq, epoch;
	struct rg_entry at; /* place of its last line, and what is known of the first */
	int64_t leased_until_ms;
	bool read, archived;
	bool was_unread;
};

struct rg_late_slot {
	uint64_t hash;
	struct rg_late *late;
};

/* The unread messages of an agent, oldest first; a message that is read later stays. */
struct rg_box {
	struct roger_str agent;
	struct rg_lates old, fresh; /* in the tables; first seen in a line after them */
	size_t old_read;	    /* how many of old, from its start, are read now */
	size_t fresh_read;
	int64_t loaded; /* old has the messages up to this position */
	int64_t unread;
};

static inline bool rg_late_unread(const struct rg_late *late)
{
	return !late->read && !late->archived;
}

/* Read lines up to reach.  *ret_over false: the tables must answer. */
int rg_index_tail_follow(struct rg_index *index, struct rg_index_reach reach, bool *ret_over,
			 struct roger_err *err);

/* Bytes at the end of the journal that are read at first. */
enum { RG_ALONE_BYTES = 4096 };

/*
 * While the tables are not open: read the last bytes of the journal, up to its end, or what is new
 * since.  *ret_over false: the tables must answer.  Else each line tells whether its message is
 * new, or it is a later state of one.
 */
int rg_index_tail_alone(struct rg_index *index, uint64_t end, uint64_t bytes,
			const struct rg_query *query, bool *ret_over, struct roger_err *err);
/* Does the box have all unread messages of the agent? */
bool rg_index_tail_has_all(const struct rg_index *index, const struct rg_box *box);

/* Did the tables change during an attempt?  Then it must be repeated; *tries starts at 0. */
bool rg_index_tail_again(struct rg_index *index, int *tries, int *r, bool *over);

/* Begin a transaction that keeps the tables as they are until the attempt ends.  ROGER_ETIMEOUT:
 * they have changed since the lines were read. */
int rg_index_tail_look(struct rg_index *index, struct roger_err *err);

/* Find the state of an id, also in the tables.  NULL: they have none, or (*ret_archived) it is
 * final. */
int rg_index_tail_state(struct rg_index *index, struct roger_str id, struct rg_late **ret_late,
			bool *ret_archived, struct roger_err *err);

/* Add the state of the message in a row of RG_SQL_STATE_GET or RG_SQL_BOX_GET. */
int rg_index_tail_add(struct rg_index *index, sqlite3_stmt *row, struct rg_late **ret_late,
		      struct roger_err *err);

/* Find the mailbox of an agent; NULL: nobody asked for it. */
struct rg_box *rg_index_box(const struct rg_index *index, struct roger_str agent);
int rg_index_box_push(struct rg_index *index, struct rg_lates *list, struct rg_late *late,
		      struct roger_err *err);

#endif
