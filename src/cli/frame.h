/*
 * frame - messages as a model is to read them: the words of others, marked as
 * such, and held apart from what roger says.
 *
 * Each line of a message stands behind "> ", so that no text can end its frame;
 * characters that steer or reorder are shown as such.
 */
#ifndef CLI_FRAME_H
#define CLI_FRAME_H

#include <stdio.h>

#include "base/str.h"

/* A model reads about so many characters as one token. */
enum { CLI_TOKEN_CHARS = 4 };

/* What comes before messages: whose words they are. */
void cli_frame_begin(FILE *to);

/*
 * As many messages, whole or cut, as a budget of characters allows, at least the
 * first; returns how many.
 */
size_t cli_frame_messages(FILE *to, const struct roger_messages *messages, size_t chars_max);

#endif
