/*
 * sendlog - which sends were attempted, with what outcome, and what may be tried
 * next.
 *
 * The records of seed 000 and their rules; pure functions.  The logs are
 * send-log/<sender>.jsonl, dead-letters.jsonl and cycles.jsonl.  The last line
 * with an id is its state.  An attempt is one idempotency key to one target:
 *
 *     new -> pending -> any of these      must be read in time: its sender waits for that
 *     new -> delivered                    the message is durable, or was read in time
 *     new -> timeout -> delivered         read late: a correcting line with the same id
 *            timeout -> (next attempt)    after the last one: one dead letter
 *     new -> error                        refused for good, until another cycle
 */
#ifndef RG_SENDLOG_H
#define RG_SENDLOG_H

#include "data/record.h"
#include "verbs.h"

/* The cycle before any was opened. */
#define RG_FIRST_CYCLE "1"

/* Why an attempt failed: the first three after the message was stored, the others before. */
#define RG_CAUSE_IN_PLACE "acknowledged by human, not read"
#define RG_CAUSE_LATE "not read in time"
#define RG_CAUSE_ARCHIVED "archived unread"
#define RG_CAUSE_FULL "mailbox full"
#define RG_CAUSE_OTHER_FULL "mailbox of another recipient full"
#define RG_CAUSE_ISSUE_FULL "issue full"
#define RG_CAUSE_UNKNOWN "unknown name"
#define RG_CAUSE_TOO_LONG "text too long"
#define RG_CAUSE_RETIRED "retired"
#define RG_CAUSE_BREAKER "breaker open"
/* Why nobody knows whether it was stored. */
#define RG_CAUSE_NO_SYNC "not known to be on disk"
#define RG_CAUSE_NO_TIME "not stored in time"
/* Why a message is a dead letter though it was delivered. */
#define RG_CAUSE_LEASES "leases expired"

/* ---------------------------------------------------------------- keys -- */

/* A key of the form <task_id>:<action_verb>:<cycle_timestamp>, split at the first two colons. */
struct rg_key {
	struct roger_str task;
	struct roger_str verb;
	struct roger_str cycle;
};

/* False: the key does not have this form. */
bool rg_key_split(struct roger_str key, struct rg_key *ret_key);

/* Is it one of the five verbs that seed 000 calls stable? */
bool rg_key_verb_stable(struct roger_str verb);

/* The task of a key, or the whole key if it has no task. */
struct roger_str rg_key_task(struct roger_str key);

/* ------------------------------------------------------------- entries -- */

/* "snd-" or "dl-" and 32 hex digits of a SHA-256; false: out of memory. */
enum { RG_SENDLOG_ID_BYTES = 40, RG_SHA256_HEX_BYTES = 65 };
RG_CHECKED bool rg_sendlog_id(const struct roger_attempt *attempt, char to[RG_SENDLOG_ID_BYTES]);
RG_CHECKED bool rg_dead_letter_id(const struct roger_attempt *last, char to[RG_SENDLOG_ID_BYTES]);

/* The id of a purged key's digest: sender and key, hashed. */
RG_CHECKED bool rg_digest_id(struct roger_str sender, struct roger_str key,
			     char to[RG_SENDLOG_ID_BYTES]);

/* The entry of an attempt to send this message; its texts are the message's or in arena. */
RG_CHECKED int rg_sendlog_entry(const struct roger_message *message, int64_t max_attempts,
				enum roger_attempt_outcome outcome, int64_t at_ms,
				struct rg_arena *arena, struct roger_attempt *ret_attempt,
				struct roger_err *err);

/* The dead letter after the last attempt; its texts are the entry's or in arena. */
RG_CHECKED int rg_sendlog_letter(const struct roger_attempt *last, int64_t attempts,
				 struct rg_arena *arena, struct roger_dead_letter *ret_letter,
				 struct roger_err *err);

/* What a line of a message says of its attempt, and the time of that.  The time is 0 if the line
 * begins another attempt of a stored message, since no line records when that began. */
enum rg_sendlog_told {
	RG_TOLD_NOTHING,
	RG_TOLD_BEGUN,	   /* its sender waits for it to be read */
	RG_TOLD_DELIVERED, /* it is durable, or was read if its sender waits for that */
	RG_TOLD_IN_PLACE,  /* nobody will read it: a person acknowledged it for its recipient */
	RG_TOLD_GONE,	   /* it was archived unread, though its sender waits */
};
enum rg_sendlog_told rg_sendlog_told(const struct roger_message *message, int64_t *ret_at_ms);
bool rg_sendlog_begins(const struct roger_message *message);

/*
 * A message without a key has an entry, too, under a key that is in the log
 * only: ISSUE:send:ID.  It is delivered once it is stored, and nothing is judged by it.
 */
RG_CHECKED int rg_sendlog_plain(const struct roger_message *message, struct roger_str cycle,
				struct rg_arena *arena, struct roger_message *ret_plain,
				struct roger_err *err);
bool rg_sendlog_is_plain(const struct roger_attempt *attempt);

/* ---------------------------------------------------------------- rules -- */

struct rg_sendlog_rules {
	int64_t max_attempts;
	int64_t retry_after_ms; /* delay before the next attempt, or if not 0: */
	int64_t retry_cycles;	/* cycles to wait, times the number of the attempt */
};

/* What the log says about one key to one target. */
struct rg_key_history {
	const struct roger_attempt *last; /* NULL: none */
	int64_t timeouts;		  /* consecutive, up to the last attempt */
	int64_t last_cycle;		  /* number of the last attempt's cycle */
	int64_t cycle;			  /* number of the current cycle */
};

enum rg_sendlog_answer {
	RG_SEND_NEW,	 /* unknown, or only in another cycle: send */
	RG_SEND_SKIP,	 /* delivered or refused for good in this cycle: return the first result */
	RG_SEND_AGAIN,	 /* timed out: next attempt of the same message */
	RG_SEND_NOT_DUE, /* timed out, too early for the next attempt */
	RG_SEND_USED_UP, /* timed out max_attempts times */
};

/* What to do with a key.  For RG_SEND_NOT_DUE, *ret_due_ms: time of the next attempt; 0: it needs
 * another cycle. */
enum rg_sendlog_answer rg_sendlog_judge(const struct rg_key_history *history,
					const struct rg_sendlog_rules *rules, int64_t now_ms,
					int64_t *ret_due_ms);

/* Compute the history of a key to a target from the lines of the sender's log, in order; other
 * lines are skipped. */
RG_CHECKED int rg_key_history(const struct roger_attempt *lines, size_t count, struct roger_str key,
			      struct roger_str target, struct rg_key_history *ret_history,
			      struct rg_arena *arena, struct roger_err *err);

/* Is the circuit breaker to a target open?  newest_first: the attempts to that target.  It opens
 * after failures consecutive timeouts, and lets one attempt through open_ms after the last. */
bool rg_sendlog_breaker_open(const struct roger_attempt *newest_first, size_t count,
			     int64_t failures, int64_t open_ms, int64_t now_ms,
			     int64_t *ret_until_ms);

#endif
