/*
 * slip - a new name that is likely a typing mistake for a known one.
 */
#ifndef RG_SLIP_H
#define RG_SLIP_H

#include "base/arena.h"

/*
 * Is an unknown name likely to be a typing mistake for a known one?  They are the same without case
 * and `-_.`; or, in names of three characters and more, one letter is changed, missing, added or
 * swapped with its neighbour, and not in a last token of one or two characters (after the last of
 * `-_.:/`), such as that of worker-a.  A digit that differs is never a slip.
 */
bool rg_is_slip(struct roger_str typed, struct roger_str known);

/*
 * Known names, kept so that those a name may be a slip for are found without a look at each: by
 * their plain form, and by what is left of them without one letter.
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

/* The names must outlive it; false: out of memory. */
RG_CHECKED bool rg_slips_init(struct rg_slips *slips, struct roger_strs names,
			      struct rg_arena *arena);

/*
 * The first of the names, from *at on, of which rg_is_slip() is true; without a length: none.  *at
 * starts at 0, and is where to go on.
 */
struct roger_str rg_slips_find(const struct rg_slips *slips, struct roger_str typed, size_t *at);

#endif
