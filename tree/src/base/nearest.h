/*
 * nearest - "did you mean": which known word is close to a mistyped one.
 */
#ifndef RG_NEAREST_H
#define RG_NEAREST_H

#include "base/str.h"

/*
 * How many letters must change, be added, be left out or swap to make one word
 * of the other; case counts half.  Words beyond 64 bytes are never near.
 */
size_t rg_distance(struct roger_str a, struct roger_str b);

/* Near enough to suggest? */
bool rg_is_near(struct roger_str typed, struct roger_str known);

/* The nearest of the words that were looked at, of those near enough; starts zeroed: none. */
struct rg_nearest {
	struct roger_str word;
	size_t distance;
};

/* Look at one more; true: it is the nearest now. */
bool rg_nearest_look(struct rg_nearest *nearest, struct roger_str typed, struct roger_str known);

/* The nearest of some names; without a length: none. */
struct roger_str rg_nearest_of(struct roger_strs names, struct roger_str typed);

#endif
