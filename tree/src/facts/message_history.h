/*
 * message_history - the rules that a whole journal of messages must follow.
 *
 * Lines are checked in order against those before: an id belongs to one message,
 * what was read stays read, what was archived is final, a sender's numbers rise
 * (except over an edge, which has its own).  Pure rules over 64-bit hashes: a
 * message costs 24 bytes.  It also adds up what an index of the journal must hold.
 */
#ifndef RG_MESSAGE_HISTORY_H
#define RG_MESSAGE_HISTORY_H

#include "base/table.h"

/* What is wrong with a line; several may apply. */
enum rg_message_fault {
	RG_MESSAGE_ID_TAKEN = 1 << 0,
	RG_MESSAGE_UNREAD_AGAIN = 1 << 1,
	RG_MESSAGE_AFTER_ARCHIVE = 1 << 2,
	RG_MESSAGE_NUMBER_BACK = 1 << 3,
	RG_MESSAGE_EPOCH_BACK = 1 << 4,
	RG_MESSAGE_READ_WHEN = 1 << 5,
	/* Odd, but not an error: */
	RG_MESSAGE_READ_EARLY = 1 << 6,
	RG_MESSAGE_ANSWERS_NONE = 1 << 7,
};
enum { RG_MESSAGE_FAULTS = 8, RG_MESSAGE_ODD = RG_MESSAGE_READ_EARLY | RG_MESSAGE_ANSWERS_NONE };

/* Descriptions of the faults, in the order of the enum. */
extern const char *const rg_message_fault_texts[];

/* Sums of what the tables of an index hold. */
enum { RG_MESSAGE_SUMS = 18 };
struct rg_message_sums {
	int64_t offset; /* bytes of the journal read */
	int64_t rows;	/* sum of rg_message_row() over live messages; may overflow */
	union {
		int64_t all[RG_MESSAGE_SUMS];
		struct {
			int64_t lines, strays;
			int64_t messages, unread; /* live messages */
			int64_t mailbox, mailbox_positions;
			int64_t archived, archived_positions;
			int64_t keys, replies;
			int64_t sent, received, agents_unread;
			int64_t seen, seen_numbers;  /* pairs of reader and sender */
			int64_t edges, edge_numbers; /* the same, over an edge */
			int64_t in_issues;	     /* live messages, as counted for each issue */
		};
	};
};
extern const char *const rg_message_sum_names[RG_MESSAGE_SUMS];

/* The counters of an agent. */
struct rg_message_agent {
	uint64_t hash;
	int64_t epoch, seq;	    /* last number it used */
	uint64_t same_send;	    /* identifies the messages of one send */
	uint64_t to_first, to_last; /* recipients of that number */
	int64_t unread;
};

/* The number that a reader accepted from a sender. */
struct rg_message_seen {
	uint64_t hash;
	int64_t epoch, seq;
};

struct rg_message_history {
	struct rg_table messages, agents, seen, edges;
	struct rg_message_sums sums;
	int64_t epoch; /* highest one that roger wrote */
	struct rg_buf scratch;
};

void rg_message_history_init(struct rg_message_history *history);
void rg_message_history_deinit(struct rg_message_history *history);

/* The result for a line. */
struct rg_message_step {
	unsigned faults; /* of enum rg_message_fault */
	bool added;	 /* a new message */
	bool left;	 /* it is archived now */
};

/* Check the message of a line.  own: roger wrote the line; a foreign line is data and its faults
 * are not roger's. */
RG_CHECKED int rg_message_history_take(struct rg_message_history *history,
				       const struct roger_message *message, int64_t line, bool own,
				       struct rg_message_step *ret_step, struct roger_err *err);

/* Look up an id: the line where it first was, and its state. */
struct rg_message_known {
	int64_t line;
	bool read;
	bool archived;
};
bool rg_message_history_find(const struct rg_message_history *history, struct roger_str id,
			     struct rg_message_known *ret_known);

/* NULL: this name never sent or received. */
const struct rg_message_agent *rg_message_history_agent(const struct rg_message_history *history,
							struct roger_str name);
const struct rg_message_seen *rg_message_history_seen(const struct rg_message_history *history,
						      struct roger_str reader,
						      struct roger_str sender);

/* Hash of the parts of a message that never change, as stored in the table of seed 004. */
uint64_t rg_message_text(struct rg_buf *scratch, const struct roger_message *message);

/* Hash of a message's row in the table of seed 004. */
int64_t rg_message_row(struct rg_buf *scratch, const struct roger_message *message);

#endif
