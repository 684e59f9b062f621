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

/* The entry of that id; NULL: none. */
const struct roger_damage *rg_damages_find(const struct roger_damage *items, size_t count,
					   struct roger_str id);

/* Add an entry, or replace that of its id. */
RG_CHECKED int rg_damages_put(struct rg_damages *damages, const struct roger_damage *damage,
			      struct roger_err *err);

/* What is recorded; the last entry of an id is its state.  The list is in arena.  Lines that are no
 * entry are left to verify. */
RG_CHECKED int rg_damages_read(struct rg_store *store, struct rg_arena *arena,
			       struct roger_damage_list *ret_damages, struct roger_err *err);

/* May anything be recorded?  A control file that was rebuilt has a count only after a process has
 * prepared it. */
bool rg_damages_may_be(struct rg_store *store);

/* Is the line that was damaged still there as it was found? */
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
	uint64_t mark; /* another one where the lines are others; 0: none */
};

/* The number of a journal; 0: messages. */
uint64_t rg_altered_file(const struct rg_log_file *journal);

/* Those of a list; in arena. */
RG_CHECKED int rg_altered_of(struct rg_store *store, const struct roger_damage_list *damages,
			     struct rg_arena *arena, struct rg_altered *ret_altered,
			     struct roger_err *err);
/* Those that are recorded, with memory of its own; what was there before is freed.  Where no damage
 * is known, it only looks at a number.  Not beside another thread. */
RG_CHECKED int rg_altered_load(struct rg_store *store, struct rg_altered *altered,
			       struct roger_err *err);
void rg_altered_deinit(struct rg_altered *altered);
bool rg_altered_has(const struct rg_altered *altered, uint64_t file, uint64_t start);

#endif
