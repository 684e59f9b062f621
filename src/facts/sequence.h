/*
 * sequence - which numbers a sender has used, and which a reader has seen.
 *
 * A sender owns one counter for everything it sends.  A reader keeps the
 * highest number it accepted from each sender and skips anything at or below
 * it.  All of it belongs to an epoch, the life of the counters.  Pure rules:
 * an engine keeps both (message-state.json, seed 002).
 */
#ifndef RG_SEQUENCE_H
#define RG_SEQUENCE_H

#include "base/arena.h"

enum rg_freshness {
	RG_FRESH,      /* newer than anything seen: process it */
	RG_STALE,      /* at or below the last seen number, or an older epoch: skip it */
	RG_UNNUMBERED, /* the sender does not count: always process */
	RG_RESET,      /* a newer epoch: process it, and forget what was seen before */
};

struct rg_agent_counter {
	struct roger_str agent;
	int64_t seq;
};

struct rg_seen {
	struct roger_str reader;
	struct roger_str sender;
	int64_t seq;
};

/* message-state.json: the seed's two members, and epoch.  Only functions below add to it. */
struct rg_sequence {
	struct rg_arena *memory;
	int64_t epoch;			   /* 1 and up */
	struct rg_agent_counter *counters; /* in the order of names, each once */
	size_t counter_count;
	struct rg_seen *seen; /* in the order of readers, then senders; a pair comes once */
	size_t seen_count;
	struct roger_str unknown; /* members roger does not know: "a":1,"b":2 */
	uint64_t journal_bytes;	  /* so much of the journal was on disk then; 0: it is not said */
	uint64_t journal_chain;	  /* and the chain behind it */
	bool cleared; /* as read: nothing in both members, and no epoch: another program cleared it
		       */
};

RG_CHECKED int rg_sequence_new(struct rg_sequence **ret_sequence, struct roger_err *err);
struct rg_sequence *rg_sequence_free(struct rg_sequence *sequence);

/*
 * message-state.json from its text; what is missing is empty, a missing epoch
 * is 1.  ROGER_EDATA: names that are none, numbers beyond RG_SEQ_MAX or
 * RG_EPOCH_MAX, anything else than the seed's shape.
 */
RG_CHECKED int rg_sequence_read(struct roger_str text, struct rg_sequence **ret_sequence,
				struct roger_err *err);

/* The document: one line and a newline, each member in the order of names. */
void rg_sequence_print(const struct rg_sequence *sequence, struct rg_buf *out);

/*
 * Judge a number against what the reader has seen.  Without a number (0) it is
 * RG_UNNUMBERED whatever its epoch; epoch 0 stands for the current one; who was
 * never seen stands at 0; a gap is fine.
 */
enum rg_freshness rg_sequence_judge(const struct rg_sequence *sequence, struct roger_str reader,
				    struct roger_str sender, int64_t epoch, int64_t number);

/* The last number an agent used, or a reader has seen of a sender; 0: none. */
int64_t rg_sequence_counted(const struct rg_sequence *sequence, struct roger_str agent);
int64_t rg_sequence_seen(const struct rg_sequence *sequence, struct roger_str reader,
			 struct roger_str sender);

/* Set a counter, or what a reader has seen, to at least number, which is 0 to RG_SEQ_MAX. */
RG_CHECKED int rg_sequence_count(struct rg_sequence *sequence, struct roger_str agent,
				 int64_t number, struct roger_err *err);
RG_CHECKED int rg_sequence_see(struct rg_sequence *sequence, struct roger_str reader,
			       struct roger_str sender, int64_t number, struct roger_err *err);

/*
 * A new session (seed 002, option C): counters and lastSeen empty, the epoch
 * one higher, unless it stands at RG_EPOCH_MAX.
 */
void rg_sequence_renew(struct rg_sequence *sequence);

#endif
