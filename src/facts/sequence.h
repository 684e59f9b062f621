/*
 * sequence - the numbers that senders have used and readers have accepted.
 *
 * A sender has one counter for everything it sends.  A reader keeps the highest
 * number it accepted from each sender and skips anything at or below it.  Numbers
 * belong to an epoch, which starts them again.  Pure rules over message-state.json
 * (seed 002).
 */
#ifndef RG_SEQUENCE_H
#define RG_SEQUENCE_H

#include "base/arena.h"

enum rg_freshness {
	RG_FRESH,      /* higher than all accepted ones: process it */
	RG_STALE,      /* not higher than them, or of an older epoch: skip it */
	RG_UNNUMBERED, /* the sender does not number: always process it */
	RG_RESET,      /* the number is of a newer epoch: process it and forget older numbers */
};

/* The last number that a sender used (no reader), or that a reader accepted from it. */
struct rg_number {
	struct roger_str reader; /* "": the number is the sender's own counter */
	struct roger_str sender;
	int64_t seq;
};

/* message-state.json: the seed's two members, and epoch.  Only the functions below change it. */
struct rg_sequence {
	struct rg_arena *memory;
	int64_t epoch;		   /* from 1 */
	struct rg_number *numbers; /* sorted by reader, then sender, no duplicates */
	size_t count;
	struct roger_str unknown; /* unknown members, as "a":1,"b":2 */
	uint64_t journal_bytes;	  /* the journal's size when this was written; 0: not recorded */
	uint64_t journal_chain;	  /* the journal's chain at that size */
	bool cleared; /* as read: no numbers and no epoch, so another program cleared it */
	bool foreign; /* as read: numbers and no epoch, so another program wrote it */
};

RG_CHECKED int rg_sequence_new(struct rg_sequence **ret_sequence, struct roger_err *err);
struct rg_sequence *rg_sequence_free(struct rg_sequence *sequence);

/* Decode message-state.json.  Missing members are empty, a missing epoch is 1.  ROGER_EDATA:
 * invalid names, numbers above RG_SEQ_MAX or RG_EPOCH_MAX, or another shape than the seed's. */
RG_CHECKED int rg_sequence_read(struct roger_str text, struct rg_sequence **ret_sequence,
				struct roger_err *err);

/* Print the document: one line with its newline, names sorted. */
void rg_sequence_print(const struct rg_sequence *sequence, struct rg_buf *out);

/* Judge a number against what the reader accepted.  Number 0: RG_UNNUMBERED, whatever the epoch.
 * Epoch 0: the current one.  A sender not seen before starts at 0; gaps are fine. */
enum rg_freshness rg_sequence_judge(const struct rg_sequence *sequence, struct roger_str reader,
				    struct roger_str sender, int64_t epoch, int64_t number);

/* Return the last number that reader accepted from sender, or, reader "", that sender used; 0:
 * none. */
int64_t rg_sequence_seen(const struct rg_sequence *sequence, struct roger_str reader,
			 struct roger_str sender);

/* Raise a counter, or an accepted number, to at least number (0 to RG_SEQ_MAX). */
RG_CHECKED int rg_sequence_raise_count(struct rg_sequence *sequence, struct roger_str agent,
				       int64_t number, struct roger_err *err);
RG_CHECKED int rg_sequence_raise_seen(struct rg_sequence *sequence, struct roger_str reader,
				      struct roger_str sender, int64_t number,
				      struct roger_err *err);

/* Raise numbers to those of another document, whatever its epoch. */
RG_CHECKED int rg_sequence_add(struct rg_sequence *sequence, const struct rg_sequence *other,
			       struct roger_err *err);
/* True if it has all numbers of another document, or higher ones. */
bool rg_sequence_covers(const struct rg_sequence *sequence, const struct rg_sequence *other);

/* Start a new session (seed 002, option C): clear all numbers and raise the epoch, unless it is
 * RG_EPOCH_MAX. */
void rg_sequence_renew(struct rg_sequence *sequence);

#endif
