/*
 * nearest - which known word is so near a mistyped one that it was probably meant: it is suggested,
 * and a name that nobody used yet is taken for a slip of the hand.
 */
#ifndef RG_NEAREST_H
#define RG_NEAREST_H

#include "base/arena.h"

/*
 * Is an unknown word likely to be a typing mistake for a known one?  They are the same without case
 * and `-_.`; or, in words of three characters and more, one letter is changed, missing, added or
 * swapped with its neighbour, and not in a last token of one or two characters (after the last of
 * `-_.:/`), such as that of worker-a.  A digit that differs is never a slip.
 */
bool rg_is_slip(struct roger_str typed, struct roger_str known);

/* May one word be meant by the other: are they the same without case and `-_.`, or one character
 * apart? */
bool rg_is_near(struct roger_str a, struct roger_str b);

/* Look at one more word; true: it may be meant, and is the first by name that may, or the same.
 * *nearest starts empty. */
bool rg_nearest_look(struct roger_str *nearest, struct roger_str typed, struct roger_str known);

/* The first by name that may be meant; empty: none. */
struct roger_str rg_nearest_of(struct roger_strs names, struct roger_str typed);

/* "; did you mean 'NAME'?", or nothing. */
#define RG_MEANT "%s%.*s%s"
#define RG_MEANT_ARGS(near)                                                                        \
	(near).length ? "; did you mean '" : "", RG_STR_ARGS(near), (near).length ? "'?" : ""

/*
 * Known names, indexed by their plain form and by their forms without one letter, so that a slip
 * is found without comparing every name.
 */
struct rg_slips {
	struct roger_strs names;
	struct rg_slip {
		uint64_t hash;
		uint32_t name, next; /* places in names, and in slips from 1 */
	} * slips;
	size_t slip_count;
	uint32_t *heads;
	size_t head_count;
};

/* Make hashes of the names, which must outlive it; false: out of memory.  Without, only .names is
 * set, and rg_slips_find() compares with each. */
RG_CHECKED bool rg_slips_init(struct rg_slips *slips, struct roger_strs names,
			      struct rg_arena *arena);

/*
 * The first name from *at on that `typed` may be a slip for; empty: none.  Start with *at = 0,
 * which then moves behind the name that was found.
 */
struct roger_str rg_slips_find(const struct rg_slips *slips, struct roger_str typed, size_t *at);

#endif
