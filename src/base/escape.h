/*
 * escape - text inside another language: a character that the language cannot take is printed by
 * its rule, a row of a table for each target.
 */
#ifndef RG_ESCAPE_H
#define RG_ESCAPE_H

#include "base/str.h"

enum rg_target {
	RG_IN_ADDRESS, /* a part of a URL: %2F */
	RG_IN_SCRIPT,  /* JSON within <script>, where no tag may begin: \u003c */
	RG_IN_JSON,    /* JSON in which invisible characters are escaped: \u202e */
	RG_IN_MERMAID, /* a label of Mermaid: #35; and U+FFFD for a harmful character */
	RG_IN_LINE,    /* a line of a terminal: <U+202E> */
	RG_IN_LINES,   /* as RG_IN_LINE, but keeps tabs and line ends; CR LF is one */
	RG_IN_SIGHT,   /* a line in which every invisible character is shown */
};

/*
 * Take the next piece off a text: a part that is kept as it is, or one escaped character, printed
 * at `to`.  false: the text is at its end.
 */
enum { RG_ESCAPED_BYTES = 16 };
bool rg_escape_next(enum rg_target target, struct roger_str *text, char to[RG_ESCAPED_BYTES],
		    struct roger_str *ret_piece);

void rg_buf_add_escaped(struct rg_buf *out, enum rg_target target, struct roger_str text);

/* Add a word of a command that a person is to type: as rg_buf_add_shell_word(), but one with an
 * invisible character as $'...' with all but ASCII as \342, which sh need not know. */
void rg_buf_add_typed_word(struct rg_buf *out, struct roger_str word);

#endif
