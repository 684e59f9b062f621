/*
 * damage - damage found in a file, and who has accepted it: the record of
 * damage.jsonl.
 *
 * The id is computed from what was found, so the same damage is recorded once;
 * damage that changes gets another id.
 */
#ifndef RG_DAMAGE_H
#define RG_DAMAGE_H

#include "data/record.h"
#include "verbs.h"

enum { RG_DAMAGE_ID_BYTES = 40 };

/* Compute the id from the other members; false: out of memory. */
RG_CHECKED bool rg_damage_id(const struct roger_damage *damage, char to[RG_DAMAGE_ID_BYTES]);

/* Has a person accepted that something of this file is missing or changed? */
bool rg_damages_accepted(const struct roger_damage_list *damages, struct roger_str file);

/* Does the damage close its file, so that nothing is appended until a person accepts it? */
bool rg_damage_closes(const struct roger_damage *damage);

/* Describe the damage for people, without its place. */
const char *rg_damage_words(const struct roger_damage *damage);

/* The words before a number of damaged places: "at least " once as many as can be are recorded. */
const char *rg_damages_unsure(size_t recorded);

#endif
