/*
 * frame - messages for a model: the words of others, marked as such, and kept apart from
 * what roger says.
 *
 * Each line of a message follows "> ", so that no text can end its frame; characters
 * that control the terminal or reorder text are made visible.
 */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include <stdio.h>

#include "base/str.h"

/* About how many characters make one token of a model. */
enum { CLI_TOKEN_CHARS = 4 };

/* Words about what roger is for where a tool has messages of its own, and what those are for. */
extern const char cli_reach[];

/* Print what comes before messages: whose words they are. */
void cli_frame_begin(FILE *to);

/* Print how much is unread, and the first note about that mailbox. */
void cli_frame_unread(FILE *to, int64_t unread, const struct roger_strs *notes);

/*
 * Does a message fit into the rest of a budget of characters?  *ret_bytes: how much
 * of its text does; *left becomes less.  The first one always fits, if not with all
 * of its text.
 */
bool cli_frame_fits(const struct roger_message *message, bool first, size_t *left,
		    size_t *ret_bytes);

/*
 * Print as many messages, whole or cut, as a budget of characters allows, at least the
 * first; returns how many.  reader: whose mail it is, "": anybody's.
 */
size_t cli_frame_messages(FILE *to, const struct roger_message_list *messages,
			  struct roger_str reader, size_t chars_max);

/* Record that the first ones were shown to their reader, so that they count as looked at. */
void cli_frame_shown(struct roger *roger, struct roger_str reader,
		     const struct roger_message_list *messages, size_t count);

/*
 * prime.c: print the briefing of an agent in about chars_max characters, with what is damaged in
 * the workspace (NULL: that is reported elsewhere); returns how many of the messages are in it.
 */
size_t cli_prime_print(FILE *to, const struct roger_prime_reply *reply, const struct roger *roger,
		       size_t chars_max);

#endif
