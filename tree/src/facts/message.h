/*
 * message - what a message is, which ones may be sent, which ones are archived
 * first.
 *
 * The record of seed 004 and its rules; pure functions.  A journal line holds one
 * message; the last line with an id is the message's state.
 */
#ifndef RG_MESSAGE_H
#define RG_MESSAGE_H

#include "data/record.h"

extern const char *const rg_message_types[], *const rg_ack_outcomes[];
extern const struct roger_record rg_message_record;

/* Decode a message from a line.  Its texts point into *ret_json, which the caller frees after use,
 * and into arena.  ROGER_EDATA: not a message; err says why and names the member. */
RG_CHECKED int rg_message_read(struct roger_str line, struct rg_json **ret_json,
			       struct rg_arena *arena, struct roger_message *ret_message,
			       struct roger_err *err);

/* Like rg_message_read(), but everything is in arena, which needs four times the line's size. */
RG_CHECKED int rg_message_read_within(struct roger_str line, struct rg_arena *arena,
				      struct roger_message *ret_message, struct roger_err *err);

/* Read from a line that roger wrote, without a look at what is between them, the members that say
 * whose message it is and what became of it; texts point into the line.  False: read all of it. */
RG_CHECKED bool rg_message_skim(struct roger_str line, struct roger_message *ret_message);

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

/* qsort() order of read struct roger_message for archiving (seed 004, "Size Limits"): oldest
 * first; of the same age data, result, decision, context.  Unread messages are never archived. */
int rg_message_archive_order(const void *a, const void *b);

/* Is the message's lease still held at now_ms? */
static inline bool rg_message_claimed(const struct roger_message *message, int64_t now_ms,
				      int64_t lease_ms_max)
{
	return message->claimed_by.length > 0 && message->claimed_until_ms > now_ms &&
	       message->claimed_until_ms - now_ms <= lease_ms_max;
}

#endif
