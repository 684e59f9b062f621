/*
 * damages - what damage.jsonl records, and which lines were altered.
 */
#ifndef RG_DAMAGES_H
#define RG_DAMAGES_H

#include "store/store.h"

struct rg_damages {
	struct roger_damage *items;
	size_t count;
	struct rg_arena *arena;
};

/* The entry with that id; NULL: none. */
const struct roger_damage *rg_damages_find(const struct roger_damage *items, size_t count,
					   struct roger_str id);

/* Add an entry, or replace the one with its id. */
RG_CHECKED int rg_damages_put(struct rg_damages *damages, const struct roger_damage *damage,
			      struct roger_err *err);

/* Read damage.jsonl.  The last entry of an id is its state; the list is in arena.  Lines that
 * are no entries are left to verify. */
RG_CHECKED int rg_damages_read(struct rg_store *store, struct rg_arena *arena,
			       struct roger_damage_list *ret_damages, struct roger_err *err);

/* May damage be recorded?  After the control file was rebuilt, this is known only once a process
 * has prepared it. */
bool rg_damages_may_be(struct rg_store *store);

/* Are the damaged bytes still as they were found? */
bool rg_damage_stands(struct rg_store *store, const struct rg_log_file *journal,
		      const struct roger_damage *damage);

struct rg_altered_line {
	uint64_t file; /* rg_altered_file() */
	uint64_t start;
};

/* The lines that are known to be altered, accepted or not: nothing is derived from what such a line
 * says. */
struct rg_altered {
	struct rg_arena *memory;       /* NULL: there is none */
	struct rg_altered_line *lines; /* in order */
	size_t count;
	uint64_t mark; /* a hash of the lines; 0: none */
};

/* The number of a journal in struct rg_altered_line; 0: messages. */
uint64_t rg_altered_file(const struct rg_log_file *journal);

/* The altered lines of a list of damages; in arena. */
RG_CHECKED int rg_altered_of(struct rg_store *store, const struct roger_damage_list *damages,
			     struct rg_arena *arena, struct rg_altered *ret_altered,
			     struct roger_err *err);
/* Load the altered lines that are recorded, and free those that were loaded before.  Where no
 * damage is known, this only reads a flag.  Not thread-safe. */
RG_CHECKED int rg_altered_load(struct rg_store *store, struct rg_altered *altered,
			       struct roger_err *err);
void rg_altered_deinit(struct rg_altered *altered);
bool rg_altered_has(const struct rg_altered *altered, uint64_t file, uint64_t start);

#endif
