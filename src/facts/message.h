/*
 * message - what a message is, which one may be sent, which one leaves first.
 *
 * The record of seed 004 and the rules over it, pure: an engine
 * stores messages, a journal line holds one, the last line for an id is its
 * state.
 */
#ifndef RG_MESSAGE_H
#define RG_MESSAGE_H

#include "data/record.h"

extern const char *const rg_message_types[], *const rg_ack_outcomes[];
extern const struct roger_record rg_message_record;

/*
 * A message from one line of text.  Slices point into json, which the caller
 * frees after use, and into arena.  ROGER_EDATA: the line is no message; err
 * says why and names the member.
 */
RG_CHECKED int rg_message_read(struct roger_str line, struct rg_json **ret_json,
			       struct rg_arena *arena, struct roger_message *ret_message,
			       struct roger_err *err);

/* The same with nothing to free but the arena, which then holds four times the line. */
RG_CHECKED int rg_message_read_within(struct roger_str line, struct rg_arena *arena,
				      struct roger_message *ret_message, struct roger_err *err);

/* What the field table does not say: ids and numbers have bounds. */
RG_CHECKED int rg_message_check(const struct roger_message *message, struct roger_err *err);

/*
 * The message as a JSON object without its closing brace.  When it has no seq
 * yet, *ret_number_at is where rg_message_print_number() belongs; SIZE_MAX: it
 * has one.
 */
void rg_message_print(const struct roger_message *message, struct rg_buf *out,
		      size_t *ret_number_at);
void rg_message_print_number(int64_t seq, int64_t epoch, struct rg_buf *out);

/* May this text be sent?  Lengths in characters. */
RG_CHECKED int rg_message_check_content(struct roger_str content, int64_t chars_max,
					struct roger_err *err);
RG_CHECKED int rg_message_check_metadata(struct roger_str metadata, int64_t chars_max,
					 struct roger_err *err);

/* Can this be an idempotent key at all? */
RG_CHECKED int rg_message_check_key(struct roger_str key, struct roger_err *err);

/*
 * Which of two read messages is archived first (seed 004, "Size Limits"):
 * the older; of one age data, result, decision, context.  For qsort; items are
 * struct roger_message.  Unread messages are never candidates.
 */
int rg_message_archive_order(const void *a, const void *b);

/* Is the lease on a message still held at now? */
static inline bool rg_message_claimed(const struct roger_message *message, int64_t now_ms,
				      int64_t lease_ms_max)
{
	return message->claimed_by.length > 0 && message->claimed_until_ms > now_ms &&
	       message->claimed_until_ms - now_ms <= lease_ms_max;
}

#endif
