/*
 * arena - many small pieces of memory that are freed as one.
 *
 * A reply and a set of decoded records own one; their slices point into it.
 */
#ifndef RG_ARENA_H
#define RG_ARENA_H

#include "base/str.h"

struct rg_arena;

/* NULL: out of memory. */
struct rg_arena *rg_arena_new(void);
struct rg_arena *rg_arena_free(struct rg_arena *arena);

/*
 * Forget all pieces.  A large block stays for the next ones: who fills an arena
 * again and again need not ask the system for memory each time.
 */
void rg_arena_reset(struct rg_arena *arena);

/* How many bytes its blocks take. */
size_t rg_arena_held(const struct rg_arena *arena);

/* Zeroed memory, aligned for anything; NULL: out of memory. */
void *rg_arena_get(struct rg_arena *arena, size_t size);

/* The same, with anything in it. */
void *rg_arena_room(struct rg_arena *arena, size_t size);

/* A copy with a NUL behind it, in *ret; false: out of memory. */
RG_CHECKED bool rg_arena_copy(struct rg_arena *arena, struct roger_str text, struct roger_str *ret);

/* The same of what was printed into a buffer, and the end of that. */
RG_CHECKED bool rg_arena_keep(struct rg_arena *arena, struct rg_buf *buf, struct roger_str *ret);

/* The same of what is printed now. */
RG_CHECKED bool rg_arena_print(struct rg_arena *arena, struct roger_str *ret, const char *format,
			       ...) __attribute__((format(printf, 3, 4)));

/* A list that grows by one: the place of the new item, zeroed; NULL: out of memory. */
void *rg_arena_push(struct rg_arena *arena, const void *items_pointer, size_t *count,
		    size_t item_size);

/* The same of a copy of a text. */
RG_CHECKED bool rg_arena_add(struct rg_arena *arena, struct roger_strs *list,
			     struct roger_str text);

#endif
