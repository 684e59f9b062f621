/*
 * damage - what was found damaged in a file, and who has accepted that: the
 * record of damage.jsonl.
 *
 * The id stands for what was found, so the same damage is noted once; what
 * changes again has another id.
 */
#ifndef RG_DAMAGE_H
#define RG_DAMAGE_H

#include "data/record.h"

enum { RG_DAMAGE_ID_BYTES = 40 };

extern const struct roger_record rg_damage_record;
extern const char *const rg_damage_kinds[];

/* Of its other members.  False: out of memory. */
RG_CHECKED bool rg_damage_id(const struct roger_damage *damage, char to[RG_DAMAGE_ID_BYTES]);

/* Has a person accepted that something of this file is gone, or is not what it was? */
bool rg_damages_accepted(const struct roger_damages *damages, struct roger_str file);

/* Is it about the file as such, and may nothing be added to that until it is accepted? */
bool rg_damage_closes(const struct roger_damage *damage);

/* In words, without the place. */
const char *rg_damage_words(const struct roger_damage *damage);

#endif
