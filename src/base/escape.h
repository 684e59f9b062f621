/*
 * escape - text within another language: what that does not take as it is, is written by its
 * rule, a row of a table for each target.
 */
#ifndef RG_ESCAPE_H
#define RG_ESCAPE_H

#include "base/str.h"

enum rg_target {
	RG_IN_ADDRESS, /* a part of a URL: %2F */
	RG_IN_SCRIPT,  /* JSON within <script>, where no tag may begin: \u003c */
	RG_IN_JSON,    /* JSON, with what cannot be seen spelt out: \u202e */
	RG_IN_MERMAID, /* #35; and what is harmful as U+FFFD */
	RG_IN_LINE,    /* a line of a terminal: <U+202E> */
	RG_IN_LINES,   /* the same, with line ends, of which CR LF is one, and tabs */
	RG_IN_SIGHT,   /* a line with all that cannot be seen: texts that differ look different */
};

/*
 * The next piece of a text, which is taken off it: as it is, or written into to.  false: it is at
 * its end.
 */
enum { RG_ESCAPED_BYTES = 16 };
bool rg_escape_next(enum rg_target target, struct roger_str *text, char to[RG_ESCAPED_BYTES],
		    struct roger_str *ret_piece);

void rg_buf_add_escaped(struct rg_buf *out, enum rg_target target, struct roger_str text);

#endif
