/*
 * prime - the words that an agent begins with.
 */
#ifndef CLI_PRIME_H
#define CLI_PRIME_H

#include <stdio.h>

#include <roger.h>

/*
 * Print it in about chars_max characters, with what is damaged in the workspace (NULL: that
 * is reported elsewhere); returns how many of the messages are in it.
 */
size_t cli_prime_print(FILE *to, const struct roger_prime_reply *reply, const struct roger *roger,
		       size_t chars_max);

#endif
