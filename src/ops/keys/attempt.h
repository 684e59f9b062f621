/*
 * attempt - the send log as verbs use it: what is known of a key, what a
 * recipient confirmed, what is given up.
 */
#ifndef RG_ATTEMPT_H
#define RG_ATTEMPT_H

#include "ops/reading.h"

/* -------------------------------------------------------------- one key -- */

/* What is known of a sender's key. */
struct rg_key_use {
	struct roger_cycle cycle; /* the current one */
	struct roger_cycle_list cycles;
	struct roger_attempt *lines; /* of the key, as the log has them */
	size_t line_count;
	struct roger_message_list messages; /* sent with the key, in any cycle, archived or not */
	bool moved; /* another program's line says that one of this cycle is of another */
};

RG_CHECKED int rg_key_look_up(struct roger *roger, struct roger_str sender, struct roger_str key,
			      struct rg_arena *arena, struct rg_key_use *ret_use,
			      struct roger_err *err);

/* The newest message of the key to a target; NULL: none. */
const struct roger_message *rg_key_message(const struct rg_key_use *use, struct roger_str target);

/* What may be done with the key to this target now; *ret_last: its last attempt, or NULL. */
RG_CHECKED int rg_key_judge(struct roger *roger, const struct rg_key_use *use, struct roger_str key,
			    struct roger_str target, struct rg_arena *arena,
			    enum rg_sendlog_answer *ret_answer, struct rg_key_history *ret_history,
			    int64_t *ret_due_ms, struct roger_err *err);

/* ----------------------------------------------------------- confirming -- */

/* Can it still be read in time?  What says so and was written when the clock was ahead says nothing
 * now. */
bool rg_attempt_under_way(const struct roger_message *message);

/*
 * Begin the next attempt of these stored messages: each again, with its number
 * and until when it is to be read (within_ms 0: it need not be).  Those that
 * are read already are left, and those of which somebody began the next one
 * since attempt ended[i] ended: that one is at work.  At least one message.
 */
RG_CHECKED int rg_attempt_begin(struct roger *roger, const struct roger_str *ids,
				const int64_t *ended, size_t count, struct roger_str cycle,
				int64_t within_ms, struct rg_arena *arena, struct roger_err *err);

/*
 * Write the entry of an attempt whose time is over and whose sender is gone, if no line has its
 * outcome.  *ret_dead: this made its message a dead letter.  Not within records_begin and _end.
 */
RG_CHECKED int rg_attempt_settle(struct roger *roger, const struct roger_message *message,
				 const struct roger_attempt *lines, size_t count,
				 struct rg_arena *arena, bool *ret_settled, bool *ret_dead,
				 struct roger_err *err);

/*
 * The same for every attempt whose time is over, and for messages whose leases expired too often.
 * The dispatcher calls it before each verb with the flag `tells`.  Best effort.
 */
void rg_attempt_settle_overdue(struct roger *roger);

/* retry.c: begin the next attempt of all sends that asked for retries and are due.  Best effort. */
void rg_attempt_retry_due(struct roger *roger);

/*
 * Wait until these messages are read or their time is over.  What was not read
 * becomes a timeout in the send log, and a dead letter after the last attempt:
 * then the result is ROGER_ETIMEOUT.  ROGER_EREFUSED: one was archived unread.
 * At least one message.
 */
RG_CHECKED int rg_attempt_confirm(struct roger *roger, const struct roger_str *ids, size_t count,
				  int64_t within_ms, struct rg_arena *arena, struct roger_err *err);

/*
 * The dead letter of a stored message whose attempts are used up.  It is filed now if there is
 * none: fewer attempts are allowed than before, or dead-letters.jsonl is gone.
 */
RG_CHECKED int rg_attempt_used_up(struct roger *roger, const struct roger_attempt *last,
				  int64_t attempts, struct rg_arena *arena,
				  struct roger_dead_letter *ret_letter, struct roger_err *err);

/* Messages of which time alone has made something that no line tells yet. */
struct rg_due {
	struct roger_strs ids;
	bool settled; /* those that are late were settled, as far as that is possible */
};

/*
 * Drop from what was found the messages whose leases expired too often (claims.max_attempts):
 * nobody gets them.  Drop all while one of them was not read in time and that is not settled: it
 * was late before it was taken.  Needs an exclusive transaction.
 */
RG_CHECKED int rg_attempt_drop_due(struct roger *roger, struct roger_message_list *found,
				   struct rg_arena *arena, struct rg_due *due,
				   struct roger_err *err);

/* Write down what time made of these; needs no lock.  best_effort: what cannot be written is left
 * to the next who finds them. */
RG_CHECKED int rg_attempt_settle_due(struct roger *roger, struct rg_due *due, bool best_effort,
				     struct roger_err *err);

/*
 * Let take have free mail of the agent in a transaction, which it commits; once more as long as all
 * that it found was to be settled first.  taken: what the reply has.
 */
typedef int rg_attempt_taking(struct roger *roger, const void *request, void *reply,
			      struct rg_due *due, struct roger_err *err);
RG_CHECKED int rg_attempt_take(struct roger *roger, struct roger_str agent, rg_attempt_taking *take,
			       const void *request, void *reply,
			       const struct roger_message_list *taken, struct roger_err *err);

/* Give back what is a dead letter for its leases: it counts from 0 again. */
RG_CHECKED int rg_attempt_put_back(struct roger *roger, const struct roger_str *id,
				   struct rg_arena *arena, struct roger_err *err);

/* notice.c: may its sender be told what came of it?  Not of a notice, nor of what it sent itself.
 */
bool rg_notice_may(const struct roger *roger, const struct roger_message *message);
/* Tell the sender of this message, of which a notice is due, once. */
RG_CHECKED int rg_notice_send(struct roger *roger, const struct roger_message *message);
/* Its sender was told. */
RG_CHECKED int rg_attempt_told(struct roger *roger, const struct roger_str *id,
			       struct rg_arena *arena, struct roger_err *err);

/* Write down that messages were not stored, for a word's reason; best effort. */
void rg_attempt_failed(struct roger *roger, const struct roger_message *messages, size_t count,
		       enum roger_attempt_outcome outcome, const char *cause);

/* ROGER_ETIMEOUT: the breaker to its recipient is open, which goes into the send log. */
RG_CHECKED int rg_attempt_check_breaker(struct roger *roger, const struct roger_message *message,
					struct rg_arena *arena, struct roger_err *err);

/* What it counts as: its status; 0: it was read after all, and its sender had not let it be. */
static inline int rg_dead_letter_counts_as(const struct roger_dead_letter *letter)
{
	return letter->delivered_at_ms && letter->status != ROGER_STALE ? 0 : letter->status;
}

/* Dead letters with their status derived: when they were read after all; query with states. */
struct rg_records rg_read_letters(struct rg_reading *reading, const struct rg_log_query *query);

/* How many there are of a cycle, and whether these raise the alarm. */
RG_CHECKED int rg_dead_letters_of_cycle(struct roger *roger, struct roger_str cycle,
					struct rg_arena *arena, int64_t *ret_count, bool *ret_alarm,
					struct roger_err *err);

/* The cycle in force, for a verb that writes: opens the next where cycles.every says that it is
 * over. */
RG_CHECKED int rg_cycle_begin(struct roger *roger, struct rg_arena *arena,
			      struct roger_cycle *ret_cycle, struct roger_err *err);

#endif
