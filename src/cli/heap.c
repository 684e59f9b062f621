/*
 * heap - malloc and its kin, for a program that ends soon.
 *
 * A command takes little memory and ends.  For that musl maps and unmaps pages
 * a dozen times: a send takes 0.72 ms of processor, and 0.57 ms with this (28 system
 * calls and 18 page faults fewer); an inbox of 50 messages far back made 250
 * calls for memory.  So here the first pieces come one after the other from a
 * region of the program, of which only what is used takes memory.  What is freed
 * is used again if it is the last piece, and else stays unused.  What does not
 * fit comes from musl; when that has nothing, small pieces come from a reserve,
 * so that an error can still be reported.
 *
 * Linked into build/roger where that is built with musl, with --wrap: the
 * functions below stand for those whose names they wrap, in the parts as well,
 * and memcmp() for musl's, which goes byte by byte.
 */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *piece, size_t size);
void __real_free(void *piece);

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *piece, size_t size);
void __wrap_free(void *piece);

enum { USUAL_BYTES = 4080 << 10, REGION_BYTES = 4096 << 10, SMALL_BYTES = 2048, ALIGNMENT = 16 };

/* Stands in front of each piece: how many bytes the piece may hold. */
struct head {
	_Alignas(ALIGNMENT) size_t room;
};

static _Alignas(ALIGNMENT) char region[REGION_BYTES];
static _Atomic size_t used;
/* No piece from this offset on was ever freed, so new pieces there are zero. */
static _Atomic size_t clean;

static size_t round_up(size_t size)
{
	return (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static int is_ours(const void *piece)
{
	return (uintptr_t)piece - (uintptr_t)region < REGION_BYTES;
}

/* The offset of a piece in the region. */
static size_t start_of(const void *piece)
{
	return (size_t)((const char *)piece - region);
}

static struct head *head_of(void *piece)
{
	return (struct head *)(void *)(region + start_of(piece) - sizeof(struct head));
}

/* Take a piece of the region before end; NULL: there is no room for it. */
static void *take_piece(size_t size, size_t end)
{
	size_t before = atomic_load_explicit(&used, memory_order_relaxed), room;
	struct head *head;

	if (size > end - sizeof *head)
		return NULL;
	/* At least one byte: a pointer to the end of the region would not be recognised. */
	room = round_up(size ? size : 1);
	do {
		if (before > end || sizeof *head + room > end - before)
			return NULL;
	} while (
		!atomic_compare_exchange_weak_explicit(&used, &before, before + sizeof *head + room,
						       memory_order_relaxed, memory_order_relaxed));
	head = (struct head *)(void *)(region + before);
	head->room = room;
	return head + 1;
}

/* Grow a piece in place if it is the last one; returns whether it is. */
static int grow_last(void *piece, size_t size)
{
	struct head *head = head_of(piece);
	size_t start = start_of(piece), end = start + head->room;

	if (start > USUAL_BYTES || size > USUAL_BYTES - start)
		return 0;
	if (!atomic_compare_exchange_strong_explicit(&used, &end, start + round_up(size),
						     memory_order_relaxed, memory_order_relaxed))
		return 0;
	head->room = round_up(size);
	return 1;
}

void *__wrap_malloc(size_t size)
{
	void *piece = take_piece(size, USUAL_BYTES);

	if (!piece)
		piece = __real_malloc(size);
	return piece || size > SMALL_BYTES ? piece : take_piece(size, REGION_BYTES);
}

/* musl's calloc() calls malloc(), which is wrapped, and looks into the piece, so it is only called
 * for pieces larger than the region.  These take memory only once they are used. */
void *__wrap_calloc(size_t count, size_t size)
{
	size_t bytes, start, dirty;
	char *piece;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > REGION_BYTES)
		return __real_calloc(count, size);
	piece = __wrap_malloc(bytes);
	if (!piece || !is_ours(piece))
		return piece ? memset(piece, 0, bytes) : NULL;
	start = start_of(piece);
	dirty = atomic_load(&clean);
	dirty = dirty > start ? dirty - start : 0;
	memset(piece, 0, dirty < bytes ? dirty : bytes);
	return piece;
}

void *__wrap_realloc(void *piece, size_t size)
{
	void *moved;

	if (!piece)
		return __wrap_malloc(size);
	if (!is_ours(piece))
		return __real_realloc(piece, size);
	if (size <= head_of(piece)->room || grow_last(piece, size))
		return piece;
	moved = __wrap_malloc(size);
	if (moved)
		memcpy(moved, piece, head_of(piece)->room);
	return moved;
}

/* A piece of the region is used again only if it is the last one. */
void __wrap_free(void *piece)
{
	size_t before = atomic_load_explicit(&clean, memory_order_relaxed), end;

	if (!is_ours(piece)) {
		__real_free(piece);
		return;
	}
	end = start_of(piece) + head_of(piece)->room;
	while (before < end && !atomic_compare_exchange_weak(&clean, &before, end))
		;
	atomic_compare_exchange_strong_explicit(&used, &end, start_of(piece) - sizeof(struct head),
						memory_order_relaxed, memory_order_relaxed);
}

int memcmp(const void *one, const void *other, size_t size)
{
	const unsigned char *a = one, *b = other;
	uint64_t x, y;

	for (; size >= sizeof x; size -= sizeof x, a += sizeof x, b += sizeof y) {
		memcpy(&x, a, sizeof x);
		memcpy(&y, b, sizeof y);
		if (x != y)
			break;
	}
	for (; size && *a == *b; size--, a++, b++)
		;
	return size ? *a - *b : 0;
}
