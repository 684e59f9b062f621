/*
 * sendlog_history - check send logs and dead letters against the messages of a
 * journal.
 *
 * Pass in cycles first, then messages with a key, then dead letters, then entries,
 * each in order.  Pure rules over 64-bit hashes.  Entries of old cycles may have
 * been purged, so a missing one is no fault.
 */
#ifndef RG_SENDLOG_HISTORY_H
#define RG_SENDLOG_HISTORY_H

#include "base/table.h"
#include "facts/sendlog.h"

/* What is wrong with an entry or a dead letter; several may apply. */
enum rg_sendlog_fault {
	RG_SENDLOG_ID_WRONG = 1 << 0,
	RG_SENDLOG_PAYLOAD_WRONG = 1 << 1,
	RG_SENDLOG_NO_MESSAGE = 1 << 2,
	RG_SENDLOG_NOT_READ = 1 << 3,
	RG_SENDLOG_GAP = 1 << 4,
	RG_SENDLOG_TAKEN_BACK = 1 << 5,
	RG_SENDLOG_NO_LETTER = 1 << 6,
	RG_SENDLOG_NO_CYCLE = 1 << 7,
	RG_SENDLOG_SECOND_LETTER = 1 << 8,
	RG_SENDLOG_CYCLE_ORDER = 1 << 9,
	/* Odd, but not an error: */
	RG_SENDLOG_UNSETTLED = 1 << 10,
	/* The message has no dead letter at all, which can be filed again; said once for each. */
	RG_SENDLOG_LETTER_LOST = 1 << 11,
};
enum { RG_SENDLOG_FAULTS = 12, RG_SENDLOG_ODD = RG_SENDLOG_UNSETTLED };

/* Descriptions of the faults, in the order of the enum. */
extern const char *const rg_sendlog_fault_texts[];

struct rg_sendlog_history {
	struct rg_table cycles;	  /* cycle ids and numbers */
	struct rg_table expected; /* entries that follow from messages */
	struct rg_table payloads; /* of messages with a key */
	struct rg_table letters;  /* dead letters by message and by name */
	struct rg_table entries;  /* entries seen */
	struct rg_table targets;  /* per sender's key and target */
	int64_t cycle;		  /* number of the last one */
	int64_t cycles_kept;
	struct rg_arena *arena;
};

/* cycles_kept: how many cycles purge leaves, including the last. */
RG_CHECKED int rg_sendlog_history_init(struct rg_sendlog_history *history, int64_t cycles_kept,
				       struct roger_err *err);
void rg_sendlog_history_deinit(struct rg_sendlog_history *history);

RG_CHECKED int rg_sendlog_history_cycle(struct rg_sendlog_history *history,
					const struct roger_cycle *cycle, unsigned *ret_faults,
					struct roger_err *err);

/* A journal line of a message with a key, at byte offset.  demanded: if delivered, its entry must
 * exist by now. */
RG_CHECKED int rg_sendlog_history_message(struct rg_sendlog_history *history,
					  const struct roger_message *message, uint64_t offset,
					  bool demanded, struct roger_err *err);

RG_CHECKED int rg_sendlog_history_letter(struct rg_sendlog_history *history,
					 const struct roger_dead_letter *letter,
					 unsigned *ret_faults, struct roger_err *err);

/* An entry; log and line are returned by rg_sendlog_history_next_given_up(). */
RG_CHECKED int rg_sendlog_history_entry(struct rg_sendlog_history *history,
					const struct roger_attempt *entry, uint32_t log,
					int64_t line, unsigned *ret_faults, struct roger_err *err);

/* Iterate over delivered attempts without an entry: start with *i = 0; false at the end.
 * *ret_offset: the journal line that should have caused it. */
bool rg_sendlog_history_next_missing(const struct rg_sendlog_history *history, size_t *i,
				     uint64_t *ret_offset);

/* Iterate over keys and targets that used up their attempts and have no dead letter. */
bool rg_sendlog_history_next_given_up(const struct rg_sendlog_history *history, size_t *i,
				      uint32_t *ret_log, int64_t *ret_line);

#endif
