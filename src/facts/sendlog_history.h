/*
 * sendlog_history - what send logs and dead letters may say of the messages
 * that a journal holds.
 *
 * First the cycles are taken, then messages with a key, then dead letters, then
 * entries, each in their order.  Pure rules over hashes of 64 bits.  Entries
 * of old cycles may have been purged, so the lack of one is none then.
 */
#ifndef RG_SENDLOG_HISTORY_H
#define RG_SENDLOG_HISTORY_H

#include "base/table.h"
#include "facts/sendlog.h"

/* What is wrong with an entry or a dead letter; several may be. */
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
	/* Odd, but no more: */
	RG_SENDLOG_UNSETTLED = 1 << 10,
};
enum { RG_SENDLOG_FAULTS = 11, RG_SENDLOG_ODD = RG_SENDLOG_UNSETTLED };

/* In words. */
extern const char *const rg_sendlog_fault_texts[];

struct rg_sendlog_history {
	struct rg_table cycles;	  /* ids of cycles, and their numbers */
	struct rg_table expected; /* entries that messages make */
	struct rg_table payloads; /* of messages with a key */
	struct rg_table letters;  /* dead letters by message, and by their names */
	struct rg_table entries;  /* entries that were there */
	struct rg_table targets;  /* a sender's key to a target */
	int64_t cycle;		  /* number of the last */
	int64_t cycles_kept;
	struct rg_arena *arena;
};

/* cycles_kept: purge leaves so many, the last included. */
RG_CHECKED int rg_sendlog_history_init(struct rg_sendlog_history *history, int64_t cycles_kept,
				       struct roger_err *err);
void rg_sendlog_history_deinit(struct rg_sendlog_history *history);

RG_CHECKED int rg_sendlog_history_cycle(struct rg_sendlog_history *history,
					const struct roger_cycle *cycle, unsigned *ret_faults,
					struct roger_err *err);

/*
 * A line of a message with a key, at byte offset of the journal.  demanded: a
 * delivered attempt must have its entry by now.
 */
RG_CHECKED int rg_sendlog_history_message(struct rg_sendlog_history *history,
					  const struct roger_message *message, uint64_t offset,
					  bool demanded, struct roger_err *err);

RG_CHECKED int rg_sendlog_history_letter(struct rg_sendlog_history *history,
					 const struct roger_dead_letter *letter,
					 unsigned *ret_faults, struct roger_err *err);

/* log, line: where it stands, for rg_sendlog_history_next_given_up(). */
RG_CHECKED int rg_sendlog_history_entry(struct rg_sendlog_history *history,
					const struct roger_attempt *entry, uint32_t log,
					int64_t line, unsigned *ret_faults, struct roger_err *err);

/*
 * Delivered attempts without an entry that says so: start with i = 0; false at
 * the end.  *ret_offset: the line of the journal that should have made it.
 */
bool rg_sendlog_history_next_missing(const struct rg_sendlog_history *history, size_t *i,
				     uint64_t *ret_offset);

/* Keys to a target that timed out as often as is allowed, without a dead letter. */
bool rg_sendlog_history_next_given_up(const struct rg_sendlog_history *history, size_t *i,
				      uint32_t *ret_log, int64_t *ret_line);

#endif
