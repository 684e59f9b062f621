/*
 * finding - how what verify found is judged, by the engine and by the command line.
 */
#ifndef RG_DATA_FINDING_H
#define RG_DATA_FINDING_H

#include "verbs.h"

/* Is this kind of finding damage, not just information? */
static inline bool rg_finding_is_damage(int kind)
{
	return kind == ROGER_ALTERED || kind == ROGER_REWRITTEN || kind == ROGER_UNREADABLE ||
	       kind == ROGER_TRUNCATED || kind == ROGER_MISSING || kind == ROGER_OTHER_KEY;
}

#endif
