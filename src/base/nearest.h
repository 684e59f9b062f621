/*
 * nearest - which known word is close to a mistyped one: near enough to suggest it, and so near
 * that a name nobody used yet is taken for a slip of the hand.
 */
#ifndef RG_NEAREST_H
#define RG_NEAREST_H

#include "base/arena.h"

/*
 * How many letters must change, be added, be left out or swap to make one word
 * of the other; case counts half.  Words beyond 64 bytes are never near.
 */
size_t rg_distance(struct roger_str a, struct roger_str b);

/* Near enough to suggest? */
bool rg_is_near(struct roger_str typed, struct roger_str known);

/* The nearest word among those looked at, if one is near enough; of several, the first by name.
 * Starts zeroed: none. */
struct rg_nearest {
	struct roger_str word;
	size_t distance;
};

/* Look at one more word; true: it is the nearest so far. */
bool rg_nearest_look(struct rg_nearest *nearest, struct roger_str typed, struct roger_str known);

/* The nearest of some names; empty: none is near enough. */
struct roger_str rg_nearest_of(struct roger_strs names, struct roger_str typed);

/* "; did you mean 'NAME'?", or nothing. */
#define RG_MEANT "%s%.*s%s"
#define RG_MEANT_ARGS(near)                                                                        \
	(near).length ? "; did you mean '" : "", RG_STR_ARGS(near), (near).length ? "'?" : ""

/*
 * Is an unknown name likely to be a typing mistake for a known one?  They are the same without case
 * and `-_.`; or, in names of three characters and more, one letter is changed, missing, added or
 * swapped with its neighbour, and not in a last token of one or two characters (after the last of
 * `-_.:/`), such as that of worker-a.  A digit that differs is never a slip.
 */
bool rg_is_slip(struct roger_str typed, struct roger_str known);

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
