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
	uint32_t *slots; /* places in items, from 1; NULL while a linear search is as fast */
	size_t slot_count;
};

/* The place of a name in items; SIZE_MAX: the name is not there. */
size_t rg_names_find(const struct rg_names *names, struct roger_str name);

/* Add the name unless it is there; false: out of memory. */
RG_CHECKED bool rg_names_add(struct rg_names *names, struct roger_str name);

static inline bool rg_names_have(const struct rg_names *names, struct roger_str name)
{
	return rg_names_find(names, name) != SIZE_MAX;
}

static inline struct roger_strs rg_names_list(const struct rg_names *names)
{
	return (struct roger_strs){ names->items, names->count };
}

/* Hash a text after one with the hash `before`; first: 0.  Attackers can make texts collide. */
uint64_t rg_names_hash(uint64_t before, const char *data, size_t length);

#endif
