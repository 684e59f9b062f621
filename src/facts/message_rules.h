/*
 * message_rules - what a line of a journal may say of its message.
 *
 * Each line is judged by the lines before it: a read message stays read, an archived one
 * is final, a sender's numbers rise (except over an edge, which has its own numbers).
 * Pure rules over 64-bit hashes; the caller, who reads the journal, keeps the messages.
 */
#ifndef RG_MESSAGE_RULES_H
#define RG_MESSAGE_RULES_H

#include "base/table.h"

/* The faults of a line; several may apply. */
enum rg_message_fault {
	RG_MESSAGE_UNREAD_AGAIN = 1 << 0,
	RG_MESSAGE_AFTER_ARCHIVE = 1 << 1,
	RG_MESSAGE_NUMBER_BACK = 1 << 2,
	RG_MESSAGE_EPOCH_BACK = 1 << 3,
	RG_MESSAGE_READ_WHEN = 1 << 4,
	/* Odd, but not an error: */
	RG_MESSAGE_READ_EARLY = 1 << 5,
	RG_MESSAGE_ANSWERS_NONE = 1 << 6,
};
enum { RG_MESSAGE_FAULTS = 7, RG_MESSAGE_ODD = RG_MESSAGE_READ_EARLY | RG_MESSAGE_ANSWERS_NONE };

/* Descriptions of the faults, in the order of the enum. */
extern const char *const rg_message_fault_texts[];

/* Does no message begin with such a state?  If roger wrote it, an earlier line is lost. */
static inline bool rg_message_is_later(const struct roger_message *message)
{
	return message->read || message->leases || message->archived_at_ms;
}

/* What earlier lines say about a line's message. */
struct rg_message_before {
	bool known;
	bool read, archived;
	bool foreign;  /* another program wrote the last of them, or when it was read */
	bool answered; /* the message of its reply_to is among them */
};

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

/* The numbers of all pairs of reader and sender, and their sum. */
struct rg_message_marks {
	struct rg_table pairs;
	int64_t numbers;
};

struct rg_message_rules {
	struct rg_table agents;
	struct rg_message_marks seen, edges;
	int64_t keys, replies; /* how many messages have a key; a reply_to */
	int64_t epoch;	       /* highest one that roger wrote */
};

void rg_message_rules_init(struct rg_message_rules *rules);
void rg_message_rules_deinit(struct rg_message_rules *rules);

/* Judge a line's message.  own: roger wrote the line; a foreign line is data, and its faults are
 * not roger's.  *ret_faults: of enum rg_message_fault. */
RG_CHECKED int rg_message_rules_take(struct rg_message_rules *rules,
				     const struct rg_message_before *before,
				     const struct roger_message *message, bool own,
				     unsigned *ret_faults, struct roger_err *err);

/* Find the counters of a name; NULL: it never sent or received. */
const struct rg_message_agent *rg_message_rules_agent(const struct rg_message_rules *rules,
						      struct roger_str name);

#endif
