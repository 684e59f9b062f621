/*
 * message_history - what a whole journal of messages may say.
 *
 * Lines are taken one after the other and judged by those before: an id
 * belongs to one message, what was read stays read, what was archived is
 * final, the numbers of a sender rise, but for what came in over an edge with
 * numbers of its own.  Pure rules over hashes of 64 bits: a message costs 24
 * bytes.  It adds up what an index of the journal must hold.
 */
#ifndef RG_MESSAGE_HISTORY_H
#define RG_MESSAGE_HISTORY_H

#include "base/table.h"

/* What is wrong with a line; several may be. */
enum rg_message_fault {
	RG_MESSAGE_ID_TAKEN = 1 << 0,
	RG_MESSAGE_UNREAD_AGAIN = 1 << 1,
	RG_MESSAGE_AFTER_ARCHIVE = 1 << 2,
	RG_MESSAGE_NUMBER_BACK = 1 << 3,
	RG_MESSAGE_EPOCH_BACK = 1 << 4,
	RG_MESSAGE_READ_WHEN = 1 << 5,
	/* Odd, but no more: */
	RG_MESSAGE_READ_EARLY = 1 << 6,
	RG_MESSAGE_ANSWERS_NONE = 1 << 7,
};
enum { RG_MESSAGE_FAULTS = 8, RG_MESSAGE_ODD = RG_MESSAGE_READ_EARLY | RG_MESSAGE_ANSWERS_NONE };

/* In words. */
extern const char *const rg_message_fault_texts[];

/* What the tables of an index hold, summed up. */
enum { RG_MESSAGE_SUMS = 17 };
struct rg_message_sums {
	int64_t offset; /* how far the journal was read */
	int64_t rows;	/* sum of rg_message_row() of living messages, overflowing */
	union {
		int64_t all[RG_MESSAGE_SUMS];
		struct {
			int64_t lines, strays;
			int64_t messages, unread; /* living ones */
			int64_t mailbox, mailbox_positions;
			int64_t archived, archived_positions;
			int64_t keys, replies;
			int64_t sent, received, agents_unread;
			int64_t seen, seen_numbers;  /* pairs of reader and sender */
			int64_t edges, edge_numbers; /* the same of what came in over an edge */
		};
	};
};
extern const char *const rg_message_sum_names[RG_MESSAGE_SUMS];

/* What an agent stands at. */
struct rg_message_agent {
	uint64_t hash;
	int64_t epoch, seq;	    /* last number it used */
	uint64_t same_send;	    /* what the messages of one send share */
	uint64_t to_first, to_last; /* recipients of that number */
	int64_t unread;
};

/* What a reader has seen of a sender. */
struct rg_message_seen {
	uint64_t hash;
	int64_t epoch, seq;
};

struct rg_message_history {
	struct rg_table messages, agents, seen, edges;
	struct rg_message_sums sums;
	int64_t epoch; /* the largest that roger wrote */
	struct rg_buf scratch;
};

void rg_message_history_init(struct rg_message_history *history);
void rg_message_history_deinit(struct rg_message_history *history);

/* What became of a line. */
struct rg_message_step {
	unsigned faults; /* of enum rg_message_fault */
	bool added;	 /* a message that was not there before */
	bool left;	 /* it is archived now */
};

/*
 * The message of a line, and whether roger wrote that.  What another program
 * wrote is data: it is taken as it comes, and its faults are its own.
 */
RG_CHECKED int rg_message_history_take(struct rg_message_history *history,
				       const struct roger_message *message, int64_t line, bool own,
				       struct rg_message_step *ret_step, struct roger_err *err);

/* Is there a message of that id?  Where it first stood, and what it is now. */
struct rg_message_known {
	int64_t line;
	bool read;
	bool archived;
};
bool rg_message_history_find(const struct rg_message_history *history, struct roger_str id,
			     struct rg_message_known *ret_known);

/* NULL: nobody of that name ever sent or received. */
const struct rg_message_agent *rg_message_history_agent(const struct rg_message_history *history,
							struct roger_str name);
const struct rg_message_seen *rg_message_history_seen(const struct rg_message_history *history,
						      struct roger_str reader,
						      struct roger_str sender);

/* A hash of what of a message never changes, as far as the seed's table holds it. */
uint64_t rg_message_text(struct rg_buf *scratch, const struct roger_message *message);

/* A hash of the row that the seed's table holds of a message. */
int64_t rg_message_row(struct rg_buf *scratch, const struct roger_message *message);

#endif
