/*
 * message - what a message is, which ones may be sent, which ones are archived
 * first.
 *
 * The record of seed 004 and its rules; pure functions.  A journal line holds one
 * message.  The first line with an id says what the message is; the last one is its
 * state.
 */
#ifndef RG_MESSAGE_H
#define RG_MESSAGE_H

#include "data/record.h"
#include "verbs.h"

/* Decode a message from a line.  Its texts point into *ret_json, which the caller frees after use,
 * and into arena.  ROGER_EDATA: not a message; err says why and names the member. */
RG_CHECKED int rg_message_read(struct roger_str line, struct rg_json **ret_json,
			       struct rg_arena *arena, struct roger_message *ret_message,
			       struct roger_err *err);

/* Like rg_message_read(), but everything is in arena, which needs four times the line's size. */
RG_CHECKED int rg_message_read_within(struct roger_str line, struct rg_arena *arena,
				      struct roger_message *ret_message, struct roger_err *err);

/* Read only the members that say whose message it is and what became of it; texts point into the
 * line.  False: the line is not as roger writes them, and needs rg_message_read(). */
RG_CHECKED bool rg_message_skim(struct roger_str line, struct roger_message *ret_message);

/* A keyed hash over what no later line may change.  If it is equal for two lines of an id, the
 * later one rewrites and lacks nothing; else rg_message_read_later() finds out what. */
uint64_t rg_message_hash(uint64_t key, const struct roger_message *message);

/* Copy what the message is, and lasting state that the later line lacks, from the first line. */
void rg_message_follow(const struct roger_message *first, struct roger_message *later);

/* Forget what became of the message since it was sent. */
void rg_message_as_sent(struct roger_message *message);

/* A member that a later line rewrites ("": one that roger does not know), and a keyed hash of its
 * new value. */
struct rg_rewrite {
	const char *member;
	uint64_t value;
};
enum { RG_REWRITES_MAX = 24 };
struct rg_rewrites {
	struct rg_rewrite items[RG_REWRITES_MAX];
	size_t count;
};

/* Read the two lines, compare them, and complete the later one (rg_message_follow()).  The message
 * is in arena, and the lines must outlive it. */
RG_CHECKED int rg_message_read_later(uint64_t key, struct roger_str first_line,
				     struct roger_str line, struct rg_arena *arena,
				     struct roger_message *ret_message,
				     struct rg_rewrites *ret_rewrites, struct roger_err *err);

/* Hash the members in the table of seed 004 that never change; and, from that, its whole row. */
uint64_t rg_message_text_hash(struct rg_buf *scratch, const struct roger_message *message);
uint32_t rg_message_row_hash(uint64_t text, const struct roger_message *message);

/* Check what the field table cannot: the bounds of ids and numbers. */
RG_CHECKED int rg_message_check(const struct roger_message *message, struct roger_err *err);

/* Print the message as a JSON object without its closing brace.  *ret_number_at: if it has no seq
 * yet, where rg_message_print_number() inserts it, else SIZE_MAX. */
void rg_message_print(const struct roger_message *message, struct rg_buf *out,
		      size_t *ret_number_at);
void rg_message_print_number(int64_t seq, int64_t epoch, struct rg_buf *out);

/* Check a text before it is sent; chars_max counts characters. */
RG_CHECKED int rg_message_check_content(struct roger_str content, int64_t chars_max,
					struct roger_err *err);
RG_CHECKED int rg_message_check_metadata(struct roger_str metadata, int64_t chars_max,
					 struct roger_err *err);

/* Is it a valid idempotency key? */
RG_CHECKED int rg_message_check_key(struct roger_str key, struct roger_err *err);

/* Find the message with this id; NULL: the list has none. */
const struct roger_message *rg_messages_find(const struct roger_message_list *messages,
					     struct roger_str id);

/* qsort() order of read struct roger_message for archiving (seed 004, "Size Limits"): oldest
 * first; of the same age data, result, decision, context.  Unread messages are never archived. */
int rg_message_archive_order(const void *a, const void *b);

/* qsort() order of struct roger_message by position in the journal. */
int rg_message_place_order(const void *a, const void *b);

/* Is the message's lease still held at now_ms? */
static inline bool rg_message_claimed(const struct roger_message *message, int64_t now_ms,
				      int64_t lease_ms_max)
{
	return message->claimed_by.length > 0 && message->claimed_until_ms > now_ms &&
	       message->claimed_until_ms - now_ms <= lease_ms_max;
}

/* Does somebody else than this worker of the agent hold the message?  The lease of a retired agent
 * is its successor's. */
static inline bool rg_message_withheld(const struct roger_message *message, struct roger_str worker,
				       struct roger_str agent, int64_t now_ms, int64_t lease_ms_max)
{
	return rg_message_claimed(message, now_ms, lease_ms_max) &&
	       !rg_str_equal(message->claimed_by, worker) &&
	       (!rg_str_equal(message->claimed_by, message->to) ||
		rg_str_equal(message->to, agent));
}

/* The value for read_by: "" for the recipient itself, else the agent, which took over from it. */
static inline struct roger_str rg_message_reader(const struct roger_message *message,
						 struct roger_str agent)
{
	return rg_str_equal(message->to, agent) ? (struct roger_str){ "", 0 } : agent;
}

/* Might a line that says this be the first of its message?  A later line for which that is true
 * must be announced (rg_shared.own_from). */
static inline bool rg_message_is_as_sent(const struct roger_message *message)
{
	return !message->read && !message->archived_at_ms && !message->dead_at_ms &&
	       !message->claimed_by.length;
}

/* How many bytes its text and metadata have. */
static inline int64_t rg_message_bytes(const struct roger_message *message)
{
	return (int64_t)(message->content.length + message->metadata.length);
}

/* Are both messages from one send to several recipients? */
static inline bool rg_message_same_send(const struct roger_message *a,
					const struct roger_message *b)
{
	return a->seq && a->seq == b->seq && a->epoch == b->epoch && rg_str_equal(a->from, b->from);
}

/* Was it claimed leases_max times without an outcome, and is the last lease over? */
static inline bool rg_message_worn(const struct roger_message *message, int64_t now_ms,
				   int64_t lease_ms_max, int64_t leases_max)
{
	return leases_max && message->leases >= leases_max && message->claimed_by.length &&
	       !message->read && !message->archived_at_ms && !message->dead_at_ms &&
	       !rg_message_claimed(message, now_ms, lease_ms_max);
}

#endif
