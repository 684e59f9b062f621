/*
 * unicode - what a character is, as the Unicode database has it.  The only user
 * of utf8proc.
 */
#ifndef RG_UNICODE_H
#define RG_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Does it control a terminal, reorder the text on screen, or hide text?
 * Controls, bidirectional embeddings, overrides and isolates, tags, variation selectors from 17 on.
 * Joiners and marks are not harmful: Persian, Hindi and many emoji are spelt with them.
 */
bool rg_char_is_harmful(uint32_t c);

/* Is it invisible: a control, a format character, or a line separator? */
bool rg_char_is_unseen(uint32_t c);

/* Does it separate lines or paragraphs (U+2028, U+2029)? */
bool rg_char_ends_line(uint32_t c);

/* The columns of a terminal that it takes: 0, 1 or 2. */
size_t rg_char_columns(uint32_t c);

/* Write the character as UTF-8 at to, which has room for 4 bytes; returns its length. */
size_t rg_char_put(char *to, uint32_t c);

#endif
