/*
 * table - a hash table; a 64-bit hash identifies an entry in place of its text.
 *
 * For large sets whose texts need not be kept.  Entries are of one size,
 * start with their hash as a uint64_t, and begin at multiples of 8 bytes; 0 is stored as 1.
 * Each takes its size and 5 to 11 bytes more.
 */
#ifndef RG_TABLE_H
#define RG_TABLE_H

#include "base/str.h"

enum { RG_TABLE_CHUNKS = 26 };

struct rg_table {
	uint32_t *slots;
	uint64_t *chunks[RG_TABLE_CHUNKS]; /* entries, in the order they were put */
	size_t entry_size;
	size_t capacity; /* slots, a power of two */
	size_t count;
};

void rg_table_init(struct rg_table *table, size_t entry_size);
void rg_table_deinit(struct rg_table *table);

/* Make the slots large enough for that many entries; false: out of memory. */
RG_CHECKED bool rg_table_reserve(struct rg_table *table, size_t count);

/* The entry of a hash; NULL: there is none. */
void *rg_table_find(const struct rg_table *table, uint64_t hash);

/*
 * Find the entry of a hash, or add one that holds nothing but its hash (*ret_new).  NULL: out of
 * memory.  Entries never move.
 */
void *rg_table_put(struct rg_table *table, uint64_t hash, bool *ret_new);

/* Entries one by one, in the order they were put: start with *i = 0; NULL at the end. */
void *rg_table_next(const struct rg_table *table, size_t *i);

#endif
