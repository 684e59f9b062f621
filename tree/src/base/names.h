/*
 * names - a list of different texts in the order they came, with a hash to find them by.
 *
 * Starts as { .arena = arena }; everything lives there.  The texts are not copied.
 */
#ifndef RG_NAMES_H
#define RG_NAMES_H

#include "base/arena.h"

struct rg_names {
	struct rg_arena *arena;
	struct roger_str *items;
	size_t count;
	uint32_t *slots; /* places in items, from 1; none while a look at each is as fast */
	size_t slot_count;
};

/* Its place in items; SIZE_MAX: it is not among them. */
size_t rg_names_find(const struct rg_names *names, struct roger_str name);

/* Add it unless it is there; false: out of memory. */
RG_CHECKED bool rg_names_add(struct rg_names *names, struct roger_str name);

static inline bool rg_names_have(const struct rg_names *names, struct roger_str name)
{
	return rg_names_find(names, name) != SIZE_MAX;
}

static inline struct roger_strs rg_names_list(const struct rg_names *names)
{
	return (struct roger_strs){ names->items, names->count };
}

/* The hash of a text that goes on from another's; start with 0.  Not for texts of an enemy. */
uint64_t rg_names_hash(uint64_t before, const char *data, size_t length);

#endif
