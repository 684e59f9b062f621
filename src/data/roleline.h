/*
 * roleline - the text form of messages, "(ROLE #5): hello" (seed 002).
 *
 * A message starts at a line that begins with the header and runs to the next
 * header or the end.  Text may start with a byte order mark, be UTF-16LE, and
 * end its lines with CR LF, which are read as LF.  "(ROLE#5):" and "(ROLE):"
 * are headers too, and a byte order mark may precede any of them; any other line
 * belongs to the message before it.  One function reads, one prints, and what
 * was read and printed reads the same.
 */
#ifndef RG_ROLELINE_H
#define RG_ROLELINE_H

#include "base/arena.h"

struct rg_roleline {
	struct roger_str role; /* as written: letters, digits, '-', '_'; always a valid name */
	int64_t number;	       /* 0: none given, or #0 */
	struct roger_str text; /* without the header, one space after it, and the last line end */
};

/* The kinds of pieces of a text, all of whose bytes belong to one piece. */
enum rg_rolepiece_kind {
	RG_ROLEPIECE_MESSAGE,
	RG_ROLEPIECE_LOOSE, /* before the first header */
	RG_ROLEPIECE_BROKEN /* with invalid UTF-8, or a number that is too big */
};

struct rg_rolepiece {
	enum rg_rolepiece_kind kind;
	struct rg_roleline line; /* of a broken one as far as its header can be read */
	size_t line_number;	 /* where it starts; of a broken one where it breaks; from 1 */
	const char *wrong;	 /* of a broken one: what was expected */
	struct roger_str raw;	 /* as it came: a slice of the text, with its line ends */
};

struct rg_rolepieces {
	const struct rg_rolepiece *items;
	size_t count;
	struct roger_str mark; /* the bytes before the first piece: a byte order mark, or none */
	size_t whole;	       /* bytes up to the end of the last line that has its line end */
};

/*
 * Split a text into pieces, in order; their texts are copied into arena.  A broken piece ends at
 * the next header, so the pieces after it are read.
 */
RG_CHECKED int rg_roleline_split(struct roger_str text, struct rg_arena *arena,
				 struct rg_rolepieces *ret_pieces, struct roger_err *err);

/*
 * "(ROLE #5): text\n"; number 0 prints "(ROLE): text\n".  A further line of the
 * text that looks like a header is indented by one space, so that no text
 * can speak for another sender.
 */
void rg_roleline_print(const struct rg_roleline *line, struct rg_buf *out);

#endif
