/*
 * sendlog - what was attempted, what came of it, and what may be tried next.
 *
 * The records of seed 000 and the rules over them, pure: an engine
 * keeps the logs (send-log/<sender>.jsonl, dead-letters.jsonl, cycles.jsonl).
 * The last line for an id is its state.  An attempt is one key to one target:
 *
 *     new -> pending -> any of these      to be read in time: its sender waits, or did
 *     new -> delivered                    the message is durable, or was read in time
 *     new -> timeout -> delivered         read late: a correcting line of the same id
 *            timeout -> (next attempt)    after the last one: one dead letter
 *     new -> error                        refused for good, until another cycle
 */
#ifndef RG_SENDLOG_H
#define RG_SENDLOG_H

#include "data/record.h"

/* The cycle of those who never opened one. */
#define RG_FIRST_CYCLE "1"

/* Why roger refuses to store a message; what room or configuration may lift may be tried again. */
#define RG_CAUSE_FULL "mailbox full"
#define RG_CAUSE_UNKNOWN "unknown name"
#define RG_CAUSE_TOO_LONG "text too long"

extern const char *const rg_sendlog_outcomes[], *const rg_dead_letter_statuses[];
extern const struct roger_record rg_attempt_record, rg_dead_letter_record, rg_cycle_record,
	rg_digest_record;

/* ---------------------------------------------------------------- keys -- */

/* <task_id>:<action_verb>:<cycle_timestamp>, split at the first two colons. */
struct rg_key {
	struct roger_str task;
	struct roger_str verb;
	struct roger_str cycle;
};

/* False: it has not that form. */
bool rg_key_split(struct roger_str key, struct rg_key *ret_key);

/* One of the five that seed 000 calls stable? */
bool rg_key_verb_stable(struct roger_str verb);

/* The task an entry is about: that of its key, or the whole key where it has no form. */
struct roger_str rg_key_task(struct roger_str key);

/* ------------------------------------------------------------- entries -- */

/* "snd-" or "dl-" and 32 hexadecimal digits of a SHA-256; false: out of memory. */
enum { RG_SENDLOG_ID_BYTES = 40, RG_SHA256_HEX_BYTES = 65 };
RG_CHECKED bool rg_sendlog_id(const struct roger_attempt *attempt, char to[RG_SENDLOG_ID_BYTES]);
RG_CHECKED bool rg_dead_letter_id(const struct roger_attempt *last, char to[RG_SENDLOG_ID_BYTES]);

/* What a digest of a purged key is found by: sender and key, hashed. */
RG_CHECKED bool rg_digest_id(struct roger_str sender, struct roger_str key,
			     char to[RG_SENDLOG_ID_BYTES]);

/* The entry of an attempt to send this message; texts are the message's, or from arena. */
RG_CHECKED int rg_sendlog_entry(const struct roger_message *message, int64_t max_attempts,
				enum roger_attempt_outcome outcome, int64_t at_ms,
				struct rg_arena *arena, struct roger_attempt *ret_attempt,
				struct roger_err *err);

/*
 * Does this line of a message say that an attempt was delivered?  *ret_at_ms:
 * when; 0: the line does not say, for it is an attempt again of what is stored.
 */
bool rg_sendlog_delivers(const struct roger_message *message, int64_t *ret_at_ms);

/* May this line of a message begin an attempt that somebody waits for?  So may a later one. */
bool rg_sendlog_begins(const struct roger_message *message);

/*
 * A message without a key has an entry, too, under a key that stands in the log
 * only: ISSUE:send:ID.  It is delivered once it is stored, and nothing is judged by it.
 */
RG_CHECKED int rg_sendlog_plain(const struct roger_message *message, struct roger_str cycle,
				struct rg_arena *arena, struct roger_message *ret_plain,
				struct roger_err *err);
bool rg_sendlog_is_plain(const struct roger_attempt *attempt);

/* ---------------------------------------------------------------- rules -- */

struct rg_sendlog_rules {
	int64_t max_attempts;
	int64_t retry_after_ms; /* before the next attempt; or, when not 0: */
	int64_t retry_cycles;	/* so many times the number of the attempt */
};

/* What is known of one key to one target. */
struct rg_key_history {
	const struct roger_attempt *last; /* its last attempt; NULL: none */
	int64_t timeouts;		  /* consecutive ones, up to the last attempt */
	int64_t last_cycle;		  /* numbers of cycles: of the last attempt, */
	int64_t cycle;			  /* and the current one */
};

enum rg_sendlog_answer {
	RG_SEND_NEW,	 /* not known, or only in another cycle: send */
	RG_SEND_SKIP,	 /* delivered, or refused for good, in this cycle: the first result holds */
	RG_SEND_AGAIN,	 /* timed out: the next attempt of the same message */
	RG_SEND_NOT_DUE, /* timed out, and it is too early for the next attempt */
	RG_SEND_USED_UP, /* timed out as often as is allowed */
};

/* due_ms: instant of the next attempt, for RG_SEND_NOT_DUE; 0: it takes another cycle. */
enum rg_sendlog_answer rg_sendlog_judge(const struct rg_key_history *history,
					const struct rg_sendlog_rules *rules, int64_t now_ms,
					int64_t *ret_due_ms);

/*
 * The history of a key to a target from the lines of its sender's log, in
 * their order; lines of other keys and targets are passed over.
 */
RG_CHECKED int rg_key_history(const struct roger_attempt *lines, size_t count, struct roger_str key,
			      struct roger_str target, struct rg_key_history *ret_history,
			      struct rg_arena *arena, struct roger_err *err);

/*
 * Is the breaker to a target open?  lines: of that target, the newest first.
 * It opens after so many timeouts without anything else between, and lets one
 * attempt through once open_ms have passed since the last.
 */
bool rg_sendlog_breaker_open(const struct roger_attempt *newest_first, size_t count,
			     int64_t failures, int64_t open_ms, int64_t now_ms,
			     int64_t *ret_until_ms);

#endif
