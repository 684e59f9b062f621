#include "base/table.h"

#include <stdlib.h>

enum { CAPACITY_FIRST = 64 };

void rg_table_init(struct rg_table *table, size_t entry_size)
{
	rg_assert(entry_size % sizeof *table->slots == 0);
	*table = (struct rg_table){ .entry_size = entry_size };
}

void rg_table_deinit(struct rg_table *table)
{
	free(table->slots);
	table->slots = NULL;
	table->capacity = table->count = 0;
}

static uint64_t *slot_at(const struct rg_table *table, size_t at)
{
	return table->slots + at * (table->entry_size / sizeof *table->slots);
}

/* The slot that holds the hash, or the free one where it belongs. */
static uint64_t *place_of(const struct rg_table *table, uint64_t hash)
{
	size_t at = (size_t)hash & (table->capacity - 1);

	while (*slot_at(table, at) && *slot_at(table, at) != hash)
		at = (at + 1) & (table->capacity - 1);
	return slot_at(table, at);
}

void *rg_table_find(const struct rg_table *table, uint64_t hash)
{
	uint64_t *slot = table->capacity ? place_of(table, hash ? hash : 1) : NULL;

	return slot && *slot ? slot : NULL;
}

static bool is_full(size_t count, size_t capacity)
{
	return count >= capacity / 4 * 3;
}

bool rg_table_reserve(struct rg_table *table, size_t count)
{
	struct rg_table grown = *table;
	uint64_t *slot;
	size_t i;

	if (!grown.capacity)
		grown.capacity = CAPACITY_FIRST;
	while (is_full(count, grown.capacity))
		grown.capacity *= 2;
	if (grown.capacity == table->capacity)
		return true;
	grown.slots = calloc(grown.capacity, grown.entry_size);
	if (!grown.slots)
		return false;
	for (i = 0; i < table->capacity; i++) {
		slot = slot_at(table, i);
		if (*slot)
			memcpy(place_of(&grown, *slot), slot, grown.entry_size);
	}
	free(table->slots);
	*table = grown;
	return true;
}

void *rg_table_put(struct rg_table *table, uint64_t hash, bool *ret_new)
{
	uint64_t *slot;

	if (is_full(table->count, table->capacity) && !rg_table_reserve(table, table->count))
		return NULL;
	slot = place_of(table, hash ? hash : 1);
	*ret_new = *slot == 0;
	if (*ret_new) {
		*slot = hash ? hash : 1;
		table->count++;
	}
	return slot;
}

void *rg_table_next(const struct rg_table *table, size_t *i)
{
	uint64_t *slot;

	while (*i < table->capacity) {
		slot = slot_at(table, (*i)++);
		if (*slot)
			return slot;
	}
	return NULL;
}
