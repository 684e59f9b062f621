#include "base/table.h"

#include <stdlib.h>

/* A slot is 0, or the number of an entry (from 1) with some bits of its hash above it, so that
 * few wrong entries are looked at. */
enum { ENTRIES_FIRST = 16, NUMBER_BITS = 28, NUMBERS = (1 << NUMBER_BITS) - 1 };

void rg_table_init(struct rg_table *table, size_t entry_size)
{
	/* Where structs are aligned to 4 bytes, a size may be no multiple of 8. */
	const size_t words = (entry_size + sizeof(uint64_t) - 1) / sizeof(uint64_t);

	*table = (struct rg_table){ .entry_size = words * sizeof(uint64_t) };
}

void rg_table_deinit(struct rg_table *table)
{
	size_t i;

	for (i = 0; i < RG_TABLE_CHUNKS && table->chunks[i]; i++) {
		free(table->chunks[i]);
		table->chunks[i] = NULL;
	}
	free(table->slots);
	table->slots = NULL;
	table->capacity = table->count = 0;
}

/* The second chunk is as large as the first; each later one is as large as all before it. */
static size_t chunk_of(size_t i, size_t *ret_first)
{
	const size_t chunk =
		i < ENTRIES_FIRST ? 0 : 64 - (size_t)__builtin_clzll(i / ENTRIES_FIRST);

	*ret_first = chunk ? (size_t)ENTRIES_FIRST << (chunk - 1) : 0;
	return chunk;
}

static uint64_t *entry_at(const struct rg_table *table, size_t i)
{
	size_t first, chunk = chunk_of(i, &first);

	return table->chunks[chunk] + (i - first) * (table->entry_size / sizeof(uint64_t));
}

static uint32_t tag_of(uint64_t hash)
{
	return (uint32_t)(hash >> NUMBER_BITS) & ~(uint32_t)NUMBERS;
}

/* The slot that names the entry of a hash, or the free one where it belongs. */
static uint32_t *slot_of(const struct rg_table *table, uint64_t hash, uint64_t **ret_entry)
{
	const uint32_t tag = tag_of(hash);
	size_t at = (size_t)hash & (table->capacity - 1);
	uint32_t slot;

	while ((slot = table->slots[at])) {
		*ret_entry = (slot & ~(uint32_t)NUMBERS) == tag
				     ? entry_at(table, (slot & NUMBERS) - 1)
				     : NULL;
		if (*ret_entry && **ret_entry == hash)
			return &table->slots[at];
		at = (at + 1) & (table->capacity - 1);
	}
	*ret_entry = NULL;
	return &table->slots[at];
}

void *rg_table_find(const struct rg_table *table, uint64_t hash)
{
	uint64_t *entry = NULL;

	if (table->capacity)
		(void)slot_of(table, hash ? hash : 1, &entry);
	return entry;
}

static bool is_full(size_t count, size_t capacity)
{
	return count >= capacity / 4 * 3;
}

bool rg_table_reserve(struct rg_table *table, size_t count)
{
	size_t capacity = table->capacity ? table->capacity : ENTRIES_FIRST, i;
	uint64_t hash, *entry;
	uint32_t *slots;

	rg_assert(table->entry_size > 0);
	while (is_full(count, capacity))
		capacity *= 2;
	if (capacity == table->capacity)
		return true;
	slots = calloc(capacity, sizeof *slots);
	if (!slots)
		return false;
	free(table->slots);
	table->slots = slots;
	table->capacity = capacity;
	for (i = 0; i < table->count; i++) {
		hash = *entry_at(table, i);
		*slot_of(table, hash, &entry) = (uint32_t)(i + 1) | tag_of(hash);
	}
	return true;
}

static uint64_t *add_entry(struct rg_table *table)
{
	size_t first, chunk = chunk_of(table->count, &first);

	if (table->count == NUMBERS)
		return NULL;
	if (!table->chunks[chunk])
		table->chunks[chunk] = calloc(first ? first : ENTRIES_FIRST, table->entry_size);
	return table->chunks[chunk] ? entry_at(table, table->count++) : NULL;
}

void *rg_table_put(struct rg_table *table, uint64_t hash, bool *ret_new)
{
	uint64_t *entry;
	uint32_t *slot;

	if (is_full(table->count, table->capacity) && !rg_table_reserve(table, table->count))
		return NULL;
	hash = hash ? hash : 1;
	slot = slot_of(table, hash, &entry);
	*ret_new = !entry;
	if (entry)
		return entry;
	entry = add_entry(table);
	if (!entry)
		return NULL;
	*entry = hash;
	*slot = (uint32_t)table->count | tag_of(hash);
	return entry;
}

void *rg_table_next(const struct rg_table *table, size_t *i)
{
	return *i < table->count ? entry_at(table, (*i)++) : NULL;
}
