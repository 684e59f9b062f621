/*
 * arena - many small pieces of memory that are freed as one.
 *
 * A reply and a set of decoded records own one; their slices point into it.  It remembers that
 * memory ran out, so what only prints texts into it need not say so: whoever stores or answers
 * with them asks rg_arena_failed() first.
 */
#ifndef RG_ARENA_H
#define RG_ARENA_H

#include <stdarg.h>

#include "base/str.h"

struct rg_arena;

/* NULL: out of memory. */
struct rg_arena *rg_arena_new(void);
struct rg_arena *rg_arena_free(struct rg_arena *arena);
static inline void rg_arena_freep(struct rg_arena **arena)
{
	*arena = rg_arena_free(*arena);
}

/*
 * Forget all pieces.  The newest block is kept for the next ones, so that filling an
 * arena again and again need not ask the system for memory each time.
 */
void rg_arena_reset(struct rg_arena *arena);

/* How many bytes its blocks take. */
size_t rg_arena_held(const struct rg_arena *arena);

/* Was a piece refused since it was made or reset?  Then texts in it may be missing. */
bool rg_arena_failed(const struct rg_arena *arena);

/* Zeroed memory, aligned for anything; NULL: out of memory. */
void *rg_arena_get(struct rg_arena *arena, size_t size);

/* Like rg_arena_get(), but not zeroed. */
void *rg_arena_room(struct rg_arena *arena, size_t size);

/* A copy that ends with a NUL, in *ret; false: out of memory. */
RG_CHECKED bool rg_arena_copy(struct rg_arena *arena, struct roger_str text, struct roger_str *ret);

/* Copy what was printed into a buffer, which is freed; false: it failed, or out of memory. */
RG_CHECKED bool rg_arena_keep(struct rg_arena *arena, struct rg_buf *buf, struct roger_str *ret);

/* Print a text into the arena as printf() would; false: out of memory. */
RG_CHECKED bool rg_arena_print(struct rg_arena *arena, struct roger_str *ret, const char *format,
			       ...) RG_PRINTF(3, 4);
RG_CHECKED bool rg_arena_vprint(struct rg_arena *arena, struct roger_str *ret, const char *format,
				va_list arguments) RG_PRINTF(3, 0);

/* The same three; "" if memory ran out, which the arena remembers. */
struct roger_str rg_arena_str(struct rg_arena *arena, struct roger_str text);
struct roger_str rg_arena_take(struct rg_arena *arena, struct rg_buf *buf);
struct roger_str rg_arena_text(struct rg_arena *arena, const char *format, ...) RG_PRINTF(2, 3);

/* Make a list one item longer, and return the new item, zeroed; NULL: out of memory. */
void *rg_arena_push(struct rg_arena *arena, const void *items_pointer, size_t *count,
		    size_t item_size);

/* Append a copy of an item's bytes to a list; false: out of memory, and the list is unchanged. */
RG_CHECKED bool rg_arena_append(struct rg_arena *arena, const void *items_pointer, size_t *count,
				const void *item, size_t item_size);

/* Add a copy of a text to a list; false: out of memory. */
RG_CHECKED bool rg_arena_add(struct rg_arena *arena, struct roger_strs *list,
			     struct roger_str text);

/* Add a text to a list, printed as printf() would; false: out of memory, which need not be looked
 * at here: the arena remembers. */
bool rg_arena_note(struct rg_arena *arena, struct roger_strs *list, const char *format, ...)
	RG_PRINTF(3, 4);

#endif
