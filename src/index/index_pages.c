#include "index/index_pages.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ sums -- */

static uint64_t turn(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static uint64_t stir(uint64_t lane, uint64_t word)
{
	return turn(lane ^ word, 29) * 0x9e3779b97f4a7c15U;
}

/*
 * Each step is reversible, so a single changed word is always detected; other changes are missed
 * once in 2^64.  It does not protect against intent: whoever can write this file can write the
 * journal.  Ten times as fast as rg_hash().
 */
uint64_t rg_index_sum_of(uint64_t key, const void *data, size_t length)
{
	uint64_t lanes[4] = { key, ~key, key + 1, length }, words[4], sum = 0;
	const unsigned char *at = data;
	int i;

	for (; length >= sizeof words; length -= sizeof words, at += sizeof words) {
		memcpy(words, at, sizeof words);
		for (i = 0; i < 4; i++)
			lanes[i] = stir(lanes[i], words[i]);
	}
	for (i = 0; i < 4; i++)
		sum = stir(sum, lanes[i]);
	sum ^= sum >> 32;
	sum *= 0xd6e8feb86659fd93U;
	sum ^= sum >> 32;
	return sum ? sum : 1;
}

/* ---------------------------------------------------------------- places -- */

static sqlite3_int64 place_of_group(uint64_t group)
{
	return RG_PAGES_ROOT_BYTES + (sqlite3_int64)(group * (RG_PAGE_GROUP + 1)) * RG_PAGE_BYTES;
}

static sqlite3_int64 place_of(uint64_t number)
{
	return place_of_group(number / RG_PAGE_GROUP) +
	       (sqlite3_int64)(1 + number % RG_PAGE_GROUP) * RG_PAGE_BYTES;
}

static size_t groups_of(uint64_t count)
{
	return (size_t)((count + RG_PAGE_GROUP - 1) / RG_PAGE_GROUP);
}

static int damaged(struct rg_index_pages *pages)
{
	pages->damaged = true;
	return SQLITE_CORRUPT;
}

static int read_at(struct rg_index_pages *pages, void *to, size_t length, sqlite3_int64 at)
{
	int r = pages->methods->xRead(pages->file, to, (int)length, at);

	return r == SQLITE_IOERR_SHORT_READ ? damaged(pages) : r;
}

static int write_at(struct rg_index_pages *pages, const void *data, size_t length, sqlite3_int64 at)
{
	return pages->methods->xWrite(pages->file, data, (int)length, at);
}

/* ------------------------------------------------------------------ room -- */

void rg_index_pages_init(struct rg_index_pages *pages)
{
	*pages = (struct rg_index_pages){ 0 };
}

void rg_index_pages_forget(struct rg_index_pages *pages)
{
	size_t i;

	for (i = 0; i < pages->room; i++)
		if (pages->groups[i])
			pages->groups[i]->loaded = pages->groups[i]->changed = false;
	pages->sum = 0;
	pages->changed = false;
}

void rg_index_pages_deinit(struct rg_index_pages *pages)
{
	size_t i;

	for (i = 0; i < pages->room; i++)
		free(pages->groups[i]);
	free(pages->groups);
	free(pages->roots);
	rg_index_pages_init(pages);
}

static int make_room(struct rg_index_pages *pages, size_t groups)
{
	size_t room = pages->room ? pages->room : 8;
	void *grown;

	if (groups > RG_PAGES_GROUPS_MAX)
		return SQLITE_FULL;
	if (groups <= pages->room)
		return SQLITE_OK;
	while (room < groups)
		room *= 2;
	grown = realloc(pages->groups, room * sizeof *pages->groups);
	if (!grown)
		return SQLITE_NOMEM;
	pages->groups = grown;
	grown = realloc(pages->roots, room * sizeof *pages->roots);
	if (!grown)
		return SQLITE_NOMEM;
	pages->roots = grown;
	memset(pages->groups + pages->room, 0, (room - pages->room) * sizeof *pages->groups);
	memset(pages->roots + pages->room, 0, (room - pages->room) * sizeof *pages->roots);
	pages->room = room;
	return SQLITE_OK;
}

/* ------------------------------------------------------------------ root -- */

/* As in the file, in this machine's byte order. */
struct root {
	char magic[16];
	uint64_t sum;
	uint64_t count; /* number of pages */
	uint64_t changes;
	uint64_t reach;
};

_Static_assert(sizeof(struct root) == RG_PAGES_ROOT_HEAD, "the root's head is packed");

static uint64_t sum_of_root(const struct root *root, const uint64_t *roots)
{
	uint64_t words[4] = { root->count, root->changes, root->reach }, sum;
	size_t groups = groups_of(root->count), i, n;

	sum = rg_index_sum_of(0, words, sizeof words);
	for (i = 0; i < groups; i += n) {
		n = groups - i < 4 ? groups - i : 4;
		memset(words, 0, sizeof words);
		memcpy(words, roots + i, n * sizeof *words);
		sum = rg_index_sum_of(sum, words, sizeof words);
	}
	return sum;
}

static int read_root(struct rg_index_pages *pages, const struct root *root)
{
	size_t groups = groups_of(root->count), i;
	int r;

	if (memcmp(root->magic, RG_PAGES_MAGIC, sizeof root->magic) != 0 ||
	    root->count > (uint64_t)RG_PAGES_GROUPS_MAX * RG_PAGE_GROUP)
		return damaged(pages);
	r = make_room(pages, groups);
	if (r == SQLITE_OK && groups)
		r = read_at(pages, pages->roots, groups * sizeof *pages->roots, RG_PAGES_ROOT_HEAD);
	if (r != SQLITE_OK)
		return r;
	if (sum_of_root(root, pages->roots) != root->sum)
		return damaged(pages);
	for (i = 0; i < pages->room; i++)
		if (pages->groups[i])
			pages->groups[i]->loaded = false;
	/* A root older than one this handle has seen means that the file was put back. */
	if (root->sum != pages->seen &&
	    (root->changes <= pages->changes || root->reach < pages->reach))
		return damaged(pages);
	pages->sum = pages->seen = root->sum;
	pages->changes = root->changes;
	pages->reach = pages->next_reach = root->reach;
	pages->count = pages->stored = root->count;
	return SQLITE_OK;
}

/* An empty file is an index without pages. */
int rg_index_pages_begin(struct rg_index_pages *pages)
{
	sqlite3_int64 size;
	struct root root;
	int r;

	r = pages->methods->xFileSize(pages->file, &size);
	if (r != SQLITE_OK)
		return r;
	if (size == 0) {
		rg_index_pages_forget(pages);
		pages->count = pages->stored = 0;
		return pages->seen ? damaged(pages) : SQLITE_OK;
	}
	r = read_at(pages, &root, sizeof root, 0);
	pages->next_reach = pages->reach;
	if (r != SQLITE_OK || (pages->sum && root.sum == pages->sum))
		return r;
	rg_index_pages_forget(pages);
	return read_root(pages, &root);
}

/* ---------------------------------------------------------------- groups -- */

static uint64_t sum_of_group(uint64_t number, const struct rg_page_group *group)
{
	return rg_index_sum_of(~number, group->sums, sizeof group->sums);
}

static int load_group(struct rg_index_pages *pages, uint64_t number, struct rg_page_group *group)
{
	int r;

	memset(group->sums, 0, sizeof group->sums);
	if (number < groups_of(pages->stored)) {
		r = read_at(pages, group->sums, sizeof group->sums, place_of_group(number));
		if (r != SQLITE_OK)
			return r;
		if (sum_of_group(number, group) != pages->roots[number])
			return damaged(pages);
	}
	group->loaded = true;
	return SQLITE_OK;
}

static int find_group(struct rg_index_pages *pages, uint64_t number,
		      struct rg_page_group **ret_group)
{
	int r = make_room(pages, (size_t)number + 1);

	if (r != SQLITE_OK)
		return r;
	if (!pages->groups[number])
		pages->groups[number] = calloc(1, sizeof **pages->groups);
	*ret_group = pages->groups[number];
	if (!*ret_group)
		return SQLITE_NOMEM;
	return (*ret_group)->loaded ? SQLITE_OK : load_group(pages, number, *ret_group);
}

/* ----------------------------------------------------------------- pages -- */

int rg_index_pages_read(struct rg_index_pages *pages, uint64_t number, void *to)
{
	struct rg_page_group *group;
	uint64_t sum;
	int r;

	r = find_group(pages, number / RG_PAGE_GROUP, &group);
	if (r != SQLITE_OK)
		return r;
	sum = group->sums[number % RG_PAGE_GROUP];
	if (!sum) {
		memset(to, 0, RG_PAGE_BYTES);
		return SQLITE_OK;
	}
	r = read_at(pages, to, RG_PAGE_BYTES, place_of(number));
	if (r == SQLITE_OK && rg_index_sum_of(number, to, RG_PAGE_BYTES) != sum)
		r = damaged(pages);
	return r;
}

int rg_index_pages_write(struct rg_index_pages *pages, uint64_t number, const void *page)
{
	struct rg_page_group *group;
	int r;

	r = find_group(pages, number / RG_PAGE_GROUP, &group);
	if (r != SQLITE_OK)
		return r;
	group->sums[number % RG_PAGE_GROUP] = rg_index_sum_of(number, page, RG_PAGE_BYTES);
	group->changed = pages->changed = true;
	if (number >= pages->count)
		pages->count = number + 1;
	return write_at(pages, page, RG_PAGE_BYTES, place_of(number));
}

int rg_index_pages_restore(struct rg_index_pages *pages, uint64_t number, const void *page)
{
	struct rg_page_group *group;
	int r;

	if (number >= pages->count)
		return damaged(pages);
	r = find_group(pages, number / RG_PAGE_GROUP, &group);
	if (r != SQLITE_OK)
		return r;
	if (rg_index_sum_of(number, page, RG_PAGE_BYTES) != group->sums[number % RG_PAGE_GROUP])
		return damaged(pages);
	return write_at(pages, page, RG_PAGE_BYTES, place_of(number));
}

/* Clear the checksums after the end, so that old bytes there are not valid pages. */
static int drop_sums(struct rg_index_pages *pages, uint64_t from, uint64_t to)
{
	struct rg_page_group *group;
	int r;

	for (; from < to; from++) {
		r = find_group(pages, from / RG_PAGE_GROUP, &group);
		if (r != SQLITE_OK)
			return r;
		group->sums[from % RG_PAGE_GROUP] = 0;
		group->changed = true;
	}
	return SQLITE_OK;
}

int rg_index_pages_cut(struct rg_index_pages *pages, uint64_t count)
{
	int r = drop_sums(pages, count, pages->count);

	if (r != SQLITE_OK || count >= pages->count)
		return r;
	pages->count = count;
	pages->changed = true;
	return pages->methods->xTruncate(pages->file, count ? place_of(count - 1) + RG_PAGE_BYTES
							    : place_of_group(0));
}

/* ------------------------------------------------------------------- end -- */

static int write_group(struct rg_index_pages *pages, uint64_t number)
{
	struct rg_page_group *group = pages->groups[number];

	pages->roots[number] = sum_of_group(number, group);
	return write_at(pages, group->sums, sizeof group->sums, place_of_group(number));
}

static int write_root(struct rg_index_pages *pages)
{
	size_t groups = groups_of(pages->count);
	unsigned char bytes[512];
	struct root root = { .magic = RG_PAGES_MAGIC,
			     .count = pages->count,
			     .changes = pages->changes + 1,
			     .reach = pages->next_reach };
	size_t length = groups * sizeof *pages->roots;
	int r = SQLITE_OK;

	root.sum = sum_of_root(&root, pages->roots);
	/* In one write, unless it is large. */
	if (length <= sizeof bytes - sizeof root) {
		memcpy(bytes, &root, sizeof root);
		if (length)
			memcpy(bytes + sizeof root, pages->roots, length);
		r = write_at(pages, bytes, sizeof root + length, 0);
	} else {
		r = write_at(pages, pages->roots, length, RG_PAGES_ROOT_HEAD);
		if (r == SQLITE_OK)
			r = write_at(pages, &root, sizeof root, 0);
	}
	if (r == SQLITE_OK) {
		pages->sum = pages->seen = root.sum;
		pages->changes = root.changes;
		pages->reach = root.reach;
		pages->stored = pages->count;
		pages->changed = false;
	}
	return r;
}

int rg_index_pages_end(struct rg_index_pages *pages)
{
	size_t groups = groups_of(pages->count), i;
	int r = SQLITE_OK;

	if (!pages->changed)
		return SQLITE_OK;
	for (i = 0; i < groups && r == SQLITE_OK; i++)
		if (pages->groups[i] && pages->groups[i]->changed)
			r = write_group(pages, i);
	if (r == SQLITE_OK)
		r = write_root(pages);
	for (i = 0; i < pages->room && r == SQLITE_OK; i++)
		if (pages->groups[i])
			pages->groups[i]->changed = false;
	return r;
}
