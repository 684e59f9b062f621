/*
 * places - folders and files of the data folder, and who may use them.
 */
#ifndef RG_PLACES_H
#define RG_PLACES_H

#include "base/arena.h"

/* Called for each problem with a place; fixed: it was mended.  Texts are borrowed. */
typedef int rg_place_see(void *context, const struct roger_breach *problem, bool fixed,
			 struct roger_err *err);

/* Look at everything in an open folder; fix: mend what can be mended. */
RG_CHECKED int rg_places_check(int folder, bool fix, rg_place_see *see, void *context,
			       struct roger_err *err);

#endif
