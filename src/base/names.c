#include "base/names.h"

enum { FEW = 16 };

uint64_t rg_names_hash(uint64_t before, const char *data, size_t length)
{
	uint64_t hash = before ^ 0xcbf29ce484222325;
	size_t i;

	/* FNV-1a.  Its low bits are good enough once the caller has folded in the high ones. */
	for (i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)data[i]) * 0x100000001b3;
	return hash ^ 0xcbf29ce484222325;
}

/* The slot of the name, or the free slot where it belongs. */
static uint32_t *slot_of(const struct rg_names *names, struct roger_str name)
{
	uint64_t hash = rg_names_hash(0, name.data, name.length);
	size_t at = (size_t)(hash ^ hash >> 32) & (names->slot_count - 1);

	while (names->slots[at] && !rg_str_equal(names->items[names->slots[at] - 1], name))
		at = (at + 1) & (names->slot_count - 1);
	return &names->slots[at];
}

size_t rg_names_find(const struct rg_names *names, struct roger_str name)
{
	uint32_t place;
	size_t i;

	if (names->slots) {
		place = *slot_of(names, name);
		return place ? place - 1 : SIZE_MAX;
	}
	for (i = 0; i < names->count; i++)
		if (rg_str_equal(names->items[i], name))
			return i;
	return SIZE_MAX;
}

/* Keep the slots at most half full; a few names need none.  False: out of memory. */
static bool make_slots(struct rg_names *names)
{
	size_t i;

	if (names->count < FEW || names->count * 2 < names->slot_count)
		return true;
	names->slot_count = names->slot_count ? names->slot_count * 4 : FEW * 8;
	names->slots = rg_arena_get(names->arena, names->slot_count * sizeof *names->slots);
	for (i = 0; names->slots && i < names->count; i++)
		*slot_of(names, names->items[i]) = (uint32_t)i + 1;
	return names->slots;
}

bool rg_names_add(struct rg_names *names, struct roger_str name)
{
	rg_assert(names->arena != NULL);
	if (rg_names_have(names, name))
		return true;
	if (!rg_arena_append(names->arena, &names->items, &names->count, &name, sizeof name))
		return false;
	if (names->slots)
		*slot_of(names, name) = (uint32_t)names->count;
	return make_slots(names);
}
