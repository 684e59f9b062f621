#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Each block is at least four times as large as the one before, until one has LARGE_BYTES. */
enum { FIRST_BYTES = 1000, LARGE_BYTES = 1 << 20 };

struct block {
	struct block *next;
	size_t used;
	size_t size;
	_Alignas(16) char data[];
};

struct rg_arena {
	struct block *blocks;
	bool failed; /* a piece was refused */
};

struct rg_arena *rg_arena_new(void)
{
	return calloc(1, sizeof(struct rg_arena));
}

static void free_blocks(struct block *block)
{
	struct block *next;

	for (; block; block = next) {
		next = block->next;
		free(block);
	}
}

struct rg_arena *rg_arena_free(struct rg_arena *arena)
{
	if (!arena)
		return NULL;
	free_blocks(arena->blocks);
	free(arena);
	return NULL;
}

void rg_arena_reset(struct rg_arena *arena)
{
	struct block *block = arena->blocks;

	arena->failed = false;
	if (!block)
		return;
	/* Keep the newest block: it is the largest, or has at least LARGE_BYTES. */
	free_blocks(block->next);
	block->next = NULL;
	block->used = 0;
}

size_t rg_arena_held(const struct rg_arena *arena)
{
	const struct block *block;
	size_t bytes = 0;

	for (block = arena->blocks; block; block = block->next)
		bytes += sizeof *block + block->size;
	return bytes;
}

bool rg_arena_failed(const struct rg_arena *arena)
{
	return arena->failed;
}

static struct block *add_block(struct rg_arena *arena, size_t size)
{
	size_t least = FIRST_BYTES;
	struct block *block;

	if (arena->blocks)
		least = arena->blocks->size < LARGE_BYTES ? arena->blocks->size * 4 : LARGE_BYTES;
	if (size < least)
		size = least;
	if (size > SIZE_MAX - sizeof *block)
		return NULL;
	block = malloc(sizeof *block + size);
	if (!block)
		return NULL;
	block->next = arena->blocks;
	block->used = 0;
	block->size = size;
	arena->blocks = block;
	return block;
}

void *rg_arena_room(struct rg_arena *arena, size_t size)
{
	const size_t rounded = (size + 15) & ~(size_t)15;
	struct block *block = arena->blocks;
	void *piece;

	if (size > rounded)
		block = NULL;
	else if (!block || block->size - block->used < rounded)
		block = add_block(arena, rounded);
	arena->failed |= !block;
	if (!block)
		return NULL;

	piece = block->data + block->used;
	block->used += rounded;
	return piece;
}

void *rg_arena_get(struct rg_arena *arena, size_t size)
{
	void *piece = rg_arena_room(arena, size);

	return piece ? memset(piece, 0, size) : NULL;
}

bool rg_arena_copy(struct rg_arena *arena, struct roger_str text, struct roger_str *ret)
{
	char *copy = rg_arena_get(arena, text.length + 1);

	if (!copy)
		return false;
	if (text.length)
		memcpy(copy, text.data, text.length);
	*ret = (struct roger_str){ copy, text.length };
	return true;
}

bool rg_arena_keep(struct rg_arena *arena, struct rg_buf *buf, struct roger_str *ret)
{
	bool kept = !buf->failed && rg_arena_copy(arena, rg_buf_str(buf), ret);

	arena->failed |= !kept;
	rg_buf_deinit(buf);
	return kept;
}

struct roger_str rg_arena_str(struct rg_arena *arena, struct roger_str text)
{
	return rg_arena_copy(arena, text, &text) ? text : RG_STR("");
}

struct roger_str rg_arena_take(struct rg_arena *arena, struct rg_buf *buf)
{
	struct roger_str text = { "", 0 };

	(void)!rg_arena_keep(arena, buf, &text);
	return text;
}

bool rg_arena_vprint(struct rg_arena *arena, struct roger_str *ret, const char *format,
		     va_list arguments)
{
	va_list again;
	char *text, first[256];
	int length;

	va_copy(again, arguments);
	length = vsnprintf(first, sizeof first, format, again);
	va_end(again);
	text = length < 0 ? NULL : rg_arena_room(arena, (size_t)length + 1);
	arena->failed |= !text;
	if (!text)
		return false;
	if ((size_t)length < sizeof first)
		memcpy(text, first, (size_t)length + 1);
	else
		vsnprintf(text, (size_t)length + 1, format, arguments);
	*ret = (struct roger_str){ text, (size_t)length };
	return true;
}

bool rg_arena_print(struct rg_arena *arena, struct roger_str *ret, const char *format, ...)
{
	va_list arguments;
	bool printed;

	va_start(arguments, format);
	printed = rg_arena_vprint(arena, ret, format, arguments);
	va_end(arguments);
	return printed;
}

struct roger_str rg_arena_text(struct rg_arena *arena, const char *format, ...)
{
	struct roger_str text = { "", 0 };
	va_list arguments;

	va_start(arguments, format);
	(void)!rg_arena_vprint(arena, &text, format, arguments);
	va_end(arguments);
	return text;
}

bool rg_arena_add(struct rg_arena *arena, struct roger_strs *list, struct roger_str text)
{
	return rg_arena_copy(arena, text, &text) &&
	       rg_arena_append(arena, &list->items, &list->count, &text, sizeof text);
}

bool rg_arena_note(struct rg_arena *arena, struct roger_strs *list, const char *format, ...)
{
	struct roger_str text;
	va_list arguments;
	bool printed;

	va_start(arguments, format);
	printed = rg_arena_vprint(arena, &text, format, arguments);
	va_end(arguments);
	return printed && rg_arena_append(arena, &list->items, &list->count, &text, sizeof text);
}

/* Room doubles at every power of two, so a list of n costs at most 2n. */
void *rg_arena_push(struct rg_arena *arena, const void *items_pointer, size_t *count,
		    size_t item_size)
{
	void *items, *grown;

	rg_assert(item_size > 0);
	memcpy(&items, items_pointer, sizeof items);
	if ((*count & (*count - 1)) == 0) {
		grown = rg_arena_get(arena, (*count ? *count * 2 : 1) * item_size);
		if (!grown)
			return NULL;
		if (*count)
			memcpy(grown, items, *count * item_size);
		items = grown;
		memcpy((void *)(uintptr_t)items_pointer, &items, sizeof items);
	}
	return (char *)items + (*count)++ * item_size;
}

bool rg_arena_append(struct rg_arena *arena, const void *items_pointer, size_t *count,
		     const void *item, size_t item_size)
{
	void *place = rg_arena_push(arena, items_pointer, count, item_size);

	if (place)
		memcpy(place, item, item_size);
	return place;
}
