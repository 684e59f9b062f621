/* The pages of the index file, their checksums, roots and checkpoints. */
#include "index/index_pages.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct rg_pages_root) == RG_PAGES_ROOT_BYTES, "the root is packed");
_Static_assert(offsetof(struct rg_pages_root, groups) == RG_PAGES_ROOT_HEAD, "and its head");

/* ------------------------------------------------------------------ sums -- */

static uint64_t rotate_left(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static uint64_t stir_lane(uint64_t lane, uint64_t word)
{
	return rotate_left(lane ^ word, 29) * 0x9e3779b97f4a7c15U;
}

/*
 * The checksum of length bytes, a multiple of 32.  Each step is reversible, so a single changed
 * word is always detected; other changes are missed once in 2^64.  It does not protect against
 * intent: whoever can write this file can write the journal.  Ten times as fast as rg_hash().
 */
static uint64_t sum_of(uint64_t key, const void *data, size_t length)
{
	uint64_t lanes[4] = { key, ~key, key + 1, length }, words[4], sum = 0;
	const unsigned char *at = data;
	int i;

	rg_assert(length % sizeof words == 0);
	for (; length >= sizeof words; length -= sizeof words, at += sizeof words) {
		memcpy(words, at, sizeof words);
		for (i = 0; i < 4; i++)
			lanes[i] = stir_lane(lanes[i], words[i]);
	}
	for (i = 0; i < 4; i++)
		sum = stir_lane(sum, lanes[i]);
	sum ^= sum >> 32;
	sum *= 0xd6e8feb86659fd93U;
	sum ^= sum >> 32;
	return sum ? sum : 1;
}

static uint64_t sum_of_group(uint64_t number, const uint64_t sums[RG_PAGE_GROUP])
{
	return sum_of(~number, sums, RG_PAGE_GROUP * sizeof *sums);
}

static size_t groups_of(uint64_t count)
{
	return (size_t)((count + RG_PAGE_GROUP - 1) / RG_PAGE_GROUP);
}

static size_t bytes_of_groups(uint64_t count)
{
	return groups_of(count) * sizeof(uint64_t);
}

static uint64_t sum_of_root(const struct rg_pages_root *root)
{
	uint64_t words[8] = { root->count, root->changes, root->reach,
			      root->era,   root->base,	  root->sealed },
		 sum = sum_of(0, words, sizeof words);
	size_t left = groups_of(root->count), n;
	const uint64_t *at = root->groups;

	for (; left; left -= n, at += n) {
		n = left < 4 ? left : 4;
		memset(words, 0, 4 * sizeof *words);
		memcpy(words, at, n * sizeof *words);
		sum = sum_of(sum, words, 4 * sizeof *words);
	}
	return sum;
}

/* ----------------------------------------------------------------- files -- */

static sqlite3_int64 place_of_group(uint64_t group)
{
	return RG_PAGES_ROOT_BYTES + (sqlite3_int64)(group * (RG_PAGE_GROUP + 1)) * RG_PAGE_BYTES;
}

static sqlite3_int64 place_of(uint64_t number)
{
	return place_of_group(number / RG_PAGE_GROUP) +
	       (sqlite3_int64)(1 + number % RG_PAGE_GROUP) * RG_PAGE_BYTES;
}

static int fail_damaged(struct rg_index_pages *pages)
{
	pages->damaged = true;
	return SQLITE_CORRUPT;
}

static int read_at(struct rg_index_pages *pages, int which, void *to, size_t length,
		   sqlite3_int64 at)
{
	return pages->methods->xRead(pages->files[which], to, (int)length, at);
}

static int write_at(struct rg_index_pages *pages, int which, const void *data, size_t length,
		    sqlite3_int64 at)
{
	return pages->methods->xWrite(pages->files[which], data, (int)length, at);
}

static int sync_file(struct rg_index_pages *pages, int which)
{
	return pages->methods->xSync(pages->files[which],
				     SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

/* Read the block with this sum from one of the files.  Each is tried twice: a checkpoint may just
 * be copying the block from one to the other. */
static int read_block(struct rg_index_pages *pages, uint64_t key, void *to, sqlite3_int64 at,
		      uint64_t sum, bool *place)
{
	int tries, r;

	for (tries = 0; tries < 4; tries++, *place = !*place) {
		r = read_at(pages, *place, to, RG_PAGE_BYTES, at);
		if (r != SQLITE_OK && r != SQLITE_IOERR_SHORT_READ)
			return r;
		if (r == SQLITE_OK && sum_of(key, to, RG_PAGE_BYTES) == sum)
			return SQLITE_OK;
	}
	return fail_damaged(pages);
}

/* ------------------------------------------------------------------ root -- */

void rg_index_pages_forget(struct rg_index_pages *pages)
{
	size_t i;

	for (i = 0; i < pages->groups_end; i++)
		if (pages->groups[i])
			pages->groups[i]->loaded = pages->groups[i]->changed = false;
	pages->known = pages->changed = false;
}

void rg_index_pages_deinit(struct rg_index_pages *pages)
{
	while (pages->groups_end) {
		free(pages->groups[--pages->groups_end]);
		pages->groups[pages->groups_end] = NULL;
	}
	memset(pages, 0, offsetof(struct rg_index_pages, roots));
}

/* Read the root of a file; its sum is 0 if there is no whole one. */
static int read_root(struct rg_index_pages *pages, int which)
{
	struct rg_pages_root *root = &pages->roots[which];
	int r = read_at(pages, which, root, RG_PAGES_ROOT_HEAD, 0);

	if (r == SQLITE_OK && memcmp(root->magic, RG_PAGES_MAGIC, sizeof root->magic) == 0 &&
	    root->count <= (uint64_t)RG_PAGES_GROUPS_MAX * RG_PAGE_GROUP) {
		r = read_at(pages, which, root->groups, bytes_of_groups(root->count),
			    RG_PAGES_ROOT_HEAD);
		if (r == SQLITE_OK && sum_of_root(root) == root->sum)
			return SQLITE_OK;
	}
	memset(root, 0, RG_PAGES_ROOT_HEAD);
	return r == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : r;
}

static bool is_believed(const struct rg_index_pages *pages, const struct rg_pages_root *root)
{
	return root->sum && (root->sealed || !root->era || !pages->era || root->era == pages->era);
}

static void use_root(struct rg_index_pages *pages, struct rg_pages_root *root)
{
	pages->root = root;
	pages->known = true;
	pages->seen = root->sum;
	pages->changes = root->changes;
	pages->reach = pages->next_reach = root->reach;
	pages->count = root->count;
}

/* Use the root in recent if it fits the root in file, else the one in file. */
static int read_roots(struct rg_index_pages *pages)
{
	struct rg_pages_root *root = &pages->roots[RG_PAGES_FILE],
			     *recent = &pages->roots[RG_PAGES_RECENT];
	sqlite3_int64 size;
	int r = pages->methods->xFileSize(pages->files[RG_PAGES_FILE], &size);

	rg_index_pages_forget(pages);
	if (r == SQLITE_OK)
		r = read_root(pages, RG_PAGES_FILE);
	if (r == SQLITE_OK)
		r = read_root(pages, RG_PAGES_RECENT);
	if (r != SQLITE_OK)
		return r;
	/* While a sealed root is copied, the one in file may be torn. */
	if (size && is_believed(pages, recent) &&
	    (root->sum ? recent->base == root->sum : recent->sealed))
		root = recent;
	/* An empty file is an index without pages. */
	if (size && !is_believed(pages, root))
		return fail_damaged(pages);
	if (root->sum != pages->seen) {
		/* The file was put back from an earlier time. */
		if (root->changes <= pages->changes || root->reach < pages->reach)
			return fail_damaged(pages);
		pages->renewed = true;
	}
	use_root(pages, root);
	return SQLITE_OK;
}

/* Is the root on disk still the one that was read? */
static bool is_same(struct rg_index_pages *pages)
{
	const sqlite3_int64 at = offsetof(struct rg_pages_root, sum);
	uint64_t sum;
	int r = read_at(pages, RG_PAGES_RECENT, &sum, sizeof sum, at);

	if (r == SQLITE_IOERR_SHORT_READ && pages->root == &pages->roots[RG_PAGES_FILE])
		r = read_at(pages, RG_PAGES_FILE, &sum, sizeof sum, at);
	return r == SQLITE_OK && sum == pages->root->sum;
}

int rg_index_pages_begin(struct rg_index_pages *pages)
{
	rg_assert(!pages->writing && !pages->changed);
	if (!pages->known || !is_same(pages))
		return read_roots(pages);
	pages->next_reach = pages->reach;
	return SQLITE_OK;
}

enum kind {
	CHANGED, /* committed, for this boot */
	SEALED,	 /* for any boot, since all of its pages are on disk: it will be copied */
	COPIED,	 /* in file, for any boot */
};

/* Write a root in one write, after the pages that it vouches for.  In file its base is random, so
 * that no recent pages of another index fit it, even if that had the same content. */
static int write_root(struct rg_index_pages *pages, enum kind kind)
{
	const int which = kind == COPIED ? RG_PAGES_FILE : RG_PAGES_RECENT;
	struct rg_pages_root *root = &pages->roots[which];
	int r = kind == CHANGED ? SQLITE_OK : sync_file(pages, which);

	rg_assert(pages->known && (kind != CHANGED || pages->writing));
	if (r != SQLITE_OK)
		return r;
	if (kind != CHANGED && pages->root != root)
		memcpy(root->groups, pages->root->groups, bytes_of_groups(pages->count));
	memcpy(root->magic, RG_PAGES_MAGIC, sizeof root->magic);
	root->base = pages->roots[RG_PAGES_FILE].sum;
	if (pages->files[which] == pages->files[RG_PAGES_FILE])
		sqlite3_randomness(sizeof root->base, &root->base);
	root->count = pages->count;
	root->changes = pages->changes + 1;
	root->reach = kind == CHANGED ? pages->next_reach : pages->reach;
	root->era = kind == COPIED ? 0 : pages->era;
	root->sealed = kind == SEALED;
	root->sum = sum_of_root(root);
	r = write_at(pages, which, root, RG_PAGES_ROOT_HEAD + bytes_of_groups(root->count), 0);
	if (r == SQLITE_OK && kind == COPIED)
		r = sync_file(pages, which);
	if (r != SQLITE_OK)
		return r;
	use_root(pages, root);
	pages->changed = false;
	return SQLITE_OK;
}

/* ----------------------------------------------------------------- pages -- */

static int load_group(struct rg_index_pages *pages, uint64_t number, struct rg_page_group *group)
{
	bool place = pages->root == &pages->roots[RG_PAGES_RECENT];
	int r = SQLITE_OK;

	rg_assert(!group->changed);
	memset(group, 0, sizeof *group);
	if (number < groups_of(pages->root->count))
		r = read_block(pages, ~number, group->sums, place_of_group(number),
			       pages->root->groups[number], &place);
	group->loaded = r == SQLITE_OK;
	return r;
}

/* Find the group of a page, and load it if needed. */
static int find_group(struct rg_index_pages *pages, uint64_t page, struct rg_page_group **ret_group)
{
	const uint64_t number = page / RG_PAGE_GROUP;

	if (number >= RG_PAGES_GROUPS_MAX)
		return SQLITE_FULL;
	if (!pages->groups[number])
		pages->groups[number] = calloc(1, sizeof **pages->groups);
	*ret_group = pages->groups[number];
	if (!*ret_group)
		return SQLITE_NOMEM;
	if (number >= pages->groups_end)
		pages->groups_end = (size_t)number + 1;
	return (*ret_group)->loaded ? SQLITE_OK : load_group(pages, number, *ret_group);
}

int rg_index_pages_read(struct rg_index_pages *pages, uint64_t number, void *to)
{
	const size_t at = number % RG_PAGE_GROUP;
	struct rg_page_group *group;
	int r = find_group(pages, number, &group);

	if (r != SQLITE_OK)
		return r;
	if (group->sums[at])
		return read_block(pages, number, to, place_of(number), group->sums[at],
				  &group->place[at]);
	memset(to, 0, RG_PAGE_BYTES);
	return SQLITE_OK;
}

int rg_index_pages_write(struct rg_index_pages *pages, uint64_t number, const void *page)
{
	const uint64_t sum = sum_of(number, page, RG_PAGE_BYTES);
	const size_t at = number % RG_PAGE_GROUP;
	struct rg_page_group *group;
	int r = find_group(pages, number, &group);

	if (r != SQLITE_OK)
		return r;
	if (!pages->writing && sum != group->sums[at])
		return fail_damaged(pages);
	if (pages->writing)
		group->changed = pages->changed = true;
	if (number >= pages->count)
		pages->count = number + 1;
	group->sums[at] = sum;
	group->place[at] = RG_PAGES_RECENT;
	return write_at(pages, RG_PAGES_RECENT, page, RG_PAGE_BYTES, place_of(number));
}

/* Cut the database to count pages.  What the files have beyond has no sum, so it is no page. */
int rg_index_pages_cut(struct rg_index_pages *pages, uint64_t count)
{
	struct rg_page_group *group;
	int r;

	if (!pages->writing)
		return count == pages->count ? SQLITE_OK : fail_damaged(pages);
	for (; pages->count > count; pages->count--) {
		r = find_group(pages, pages->count - 1, &group);
		if (r != SQLITE_OK)
			return r;
		group->sums[(pages->count - 1) % RG_PAGE_GROUP] = 0;
		group->changed = pages->changed = true;
	}
	return SQLITE_OK;
}

int rg_index_pages_end(struct rg_index_pages *pages)
{
	struct rg_pages_root *root = &pages->roots[RG_PAGES_RECENT];
	const size_t groups = groups_of(pages->count);
	struct rg_page_group *group;
	size_t i;
	int r;

	if (!pages->changed)
		return SQLITE_OK;
	if (pages->root != root)
		memcpy(root->groups, pages->root->groups, bytes_of_groups(pages->root->count));
	for (i = 0; i < groups && i < pages->groups_end; i++) {
		group = pages->groups[i];
		if (!group || !group->changed)
			continue;
		root->groups[i] = sum_of_group(i, group->sums);
		r = write_at(pages, RG_PAGES_RECENT, group->sums, sizeof group->sums,
			     place_of_group(i));
		if (r != SQLITE_OK)
			return r;
	}
	r = write_root(pages, CHANGED);
	for (i = 0; i < pages->groups_end && r == SQLITE_OK; i++)
		if (pages->groups[i])
			pages->groups[i]->changed = false;
	return r;
}

/* ------------------------------------------------------------ checkpoints -- */

/* Copy the pages of a group that differ in file, and its sums.  If the root there does not vouch
 * for its sums, as after a copy that ended midway, copy all pages. */
static int copy_group(struct rg_index_pages *pages, uint64_t number)
{
	const struct rg_pages_root *root = &pages->roots[RG_PAGES_FILE];
	const uint64_t sum = number < groups_of(root->count) ? root->groups[number] : 0;
	uint64_t before[RG_PAGE_GROUP], page = number * RG_PAGE_GROUP;
	unsigned char bytes[RG_PAGE_BYTES];
	struct rg_page_group *group;
	int i, r;

	rg_assert(number < groups_of(pages->count));
	if (sum == pages->root->groups[number])
		return SQLITE_OK;
	r = find_group(pages, page, &group);
	if (read_at(pages, RG_PAGES_FILE, before, sizeof before, place_of_group(number)) !=
		    SQLITE_OK ||
	    sum_of_group(number, before) != sum)
		memset(before, 0, sizeof before);
	for (i = 0; i < RG_PAGE_GROUP && r == SQLITE_OK; i++, page++) {
		if (!group->sums[i] || group->sums[i] == before[i])
			continue;
		r = rg_index_pages_read(pages, page, bytes);
		if (r == SQLITE_OK)
			r = write_at(pages, RG_PAGES_FILE, bytes, sizeof bytes, place_of(page));
	}
	if (r != SQLITE_OK)
		return r;
	return write_at(pages, RG_PAGES_FILE, group->sums, sizeof group->sums,
			place_of_group(number));
}

/* Copy the sealed pages, at whatever step another process left off.  The root in file stays the
 * former one until all pages are on disk. */
static int copy_all(struct rg_index_pages *pages)
{
	const size_t groups = groups_of(pages->count);
	int r = sync_file(pages, RG_PAGES_RECENT);
	size_t i;

	for (i = 0; i < groups && r == SQLITE_OK; i++)
		r = copy_group(pages, i);
	if (r == SQLITE_OK)
		r = write_root(pages, COPIED);
	if (r != SQLITE_OK)
		return r;
	/* The root in recent no longer fits the one in file. */
	pages->roots[RG_PAGES_RECENT].sealed = 0;
	return pages->methods->xTruncate(pages->files[RG_PAGES_RECENT], 0);
}

int rg_index_pages_begin_writing(struct rg_index_pages *pages)
{
	rg_assert(!pages->writing);
	pages->writing = true;
	return pages->roots[RG_PAGES_RECENT].sealed ? copy_all(pages) : SQLITE_OK;
}

int rg_index_pages_checkpoint(struct rg_index_pages *pages)
{
	int r;

	rg_assert(!pages->writing && !pages->changed);
	if (!pages->known || pages->files[RG_PAGES_FILE] == pages->files[RG_PAGES_RECENT])
		return SQLITE_OK;
	if (pages->roots[RG_PAGES_RECENT].sealed)
		return copy_all(pages);
	/* Nothing has changed since the last checkpoint. */
	if (pages->root == &pages->roots[RG_PAGES_FILE] && !pages->root->era)
		return SQLITE_OK;
	/* A file that was just made is not on disk yet. */
	r = sync_file(pages, RG_PAGES_FILE);
	if (r == SQLITE_OK)
		r = write_root(pages, SEALED);
	return r == SQLITE_OK ? copy_all(pages) : r;
}
