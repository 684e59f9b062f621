/*
 * harsh - a C library that makes nothing easy: memory runs out, at every place
 * in turn, and qsort() keeps no order among equals and looks at what compares.
 *
 * tests/meson.build links a test that includes this so that its calls of these,
 * also those of the library in it, come here.
 */
#ifndef TEST_HARSH_H
#define TEST_HARSH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

/* What an arena of scarce_everywhere() holds, and then the size of its next block. */
enum { SCARCE_ROOM = 1 << 16, SCARCE_BLOCK = 4 * SCARCE_ROOM };

static long scarce_left = -1;	      /* so many pieces, and no more; -1: any number */
static size_t scarce_size = SIZE_MAX; /* none of this size or a larger one */

static bool scarce_once; /* the one after those is refused, and no other */
static bool scarce_refused;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *piece, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *piece, size_t size);

static bool scarce_is_out(size_t size)
{
	if (size >= scarce_size || scarce_left == 0) {
		scarce_left -= scarce_once && scarce_left == 0;
		scarce_size = scarce_once ? SIZE_MAX : scarce_size;
		return scarce_refused = true;
	}
	scarce_left -= scarce_left > 0;
	return false;
}

void *__wrap_malloc(size_t size)
{
	void *piece = scarce_is_out(size) ? NULL : __real_malloc(size);

	/* What was there before: no text, no number and no address that anybody expects. */
	return piece ? memset(piece, 0xa5, size) : NULL;
}

void *__wrap_calloc(size_t count, size_t size)
{
	return scarce_is_out(count * size) ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *piece, size_t size)
{
	if (!piece)
		return __wrap_malloc(size);
	return scarce_is_out(size) ? NULL : __real_realloc(piece, size);
}

/* ------------------------------------------------------------------ order -- */

typedef int harsh_compare(const void *a, const void *b);
void __real_qsort(void *items, size_t count, size_t size, harsh_compare *compare);
void __wrap_qsort(void *items, size_t count, size_t size, harsh_compare *compare);

static int harsh_sign(int order)
{
	return (order > 0) - (order < 0);
}

/* Both ways round it says the same, and of one item that it is equal to itself. */
static void harsh_check(const char *items, size_t count, size_t size, harsh_compare *compare)
{
	size_t a, b;

	for (a = 0; a < count && a < 20; a++)
		for (b = 0; b <= a; b++)
			assert_int_equal(harsh_sign(compare(items + a * size, items + b * size)),
					 -harsh_sign(compare(items + b * size, items + a * size)));
}

void __wrap_qsort(void *items, size_t count, size_t size, harsh_compare *compare)
{
	char *piece = __real_malloc(count * size + 1), *to = items;
	size_t i;

	assert_non_null(items);
	assert_non_null(piece);
	harsh_check(items, count, size, compare);
	/* The real one may keep the order of equals, so that it is turned round before. */
	memcpy(piece, items, count * size);
	for (i = 0; i < count; i++)
		memcpy(to + i * size, piece + (count - 1 - i) * size, size);
	free(piece);
	__real_qsort(items, count, size, compare);
}

/* ----------------------------------------------------------------- memory -- */

/* What is tried: ROGER_OK, or what the call returned that got no memory. */
typedef int scarce_act(struct rg_arena *arena, struct roger_err *err);

/* An arena whose only block has so many bytes left. */
static inline struct rg_arena *scarce_arena(size_t room)
{
	struct rg_arena *arena = rg_arena_new();

	assert_non_null(arena);
	assert_non_null(rg_arena_room(arena, SCARCE_ROOM));
	rg_arena_reset(arena);
	assert_non_null(rg_arena_room(arena, SCARCE_ROOM - room));
	return arena;
}

static inline int scarce_try(scarce_act *act, size_t room, long pieces, size_t size)
{
	struct rg_arena *arena = scarce_arena(room);
	struct roger_err err = { 0 };
	int r;

	scarce_refused = false;
	scarce_left = pieces;
	scarce_size = size;
	r = act(arena, &err);
	scarce_left = -1;
	scarce_size = SIZE_MAX;
	assert_int_equal(r, scarce_refused ? ROGER_ENOMEM : ROGER_OK);
	assert_string_equal(err.message, scarce_refused ? "out of memory" : "");
	rg_arena_free(arena);
	return r;
}

static inline void scarce_each(scarce_act *act)
{
	size_t room;
	long pieces;

	for (pieces = 0; scarce_try(act, SCARCE_ROOM, pieces, SIZE_MAX) < 0; pieces++)
		assert_true(pieces < 1000);
	for (room = 0; scarce_try(act, room, -1, SCARCE_BLOCK) < 0; room += 16)
		assert_true(room < SCARCE_ROOM);
}

/*
 * Each piece that act asks for is refused, and so is each one of its arena: with
 * all that come after it, and alone.
 */
static inline void scarce_everywhere(scarce_act *act)
{
	scarce_each(act);
	scarce_once = true;
	scarce_each(act);
	scarce_once = false;
}

#endif
