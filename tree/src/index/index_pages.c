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

static int write_to(struct rg_index_pages *pages, sqlite3_file *file, const void *data,
		    size_t length, sqlite3_int64 at)
{
	return pages->methods->xWrite(file, data, (int)length, at);
}

static int write_at(struct rg_index_pages *pages, const void *data, size_t length, sqlite3_int64 at)
{
	return write_to(pages, pages->recent ? pages->recent : pages->file, data, length, at);
}

/* The block with this sum, in one of the files.  Each is tried twice: a checkpoint may just be
 * copying it from one to the other. */
static int read_block(struct rg_index_pages *pages, uint64_t key, void *to, sqlite3_int64 at,
		      uint64_t sum, bool *recent)
{
	int tries, r;

	for (tries = 0; tries < 4; tries++, *recent = !*recent) {
		if (*recent && !pages->recent)
			continue;
		r = pages->methods->xRead(*recent ? pages->recent : pages->file, to, RG_PAGE_BYTES,
					  at);
		if (r != SQLITE_OK && r != SQLITE_IOERR_SHORT_READ)
			return r;
		if (r == SQLITE_OK && rg_index_sum_of(key, to, RG_PAGE_BYTES) == sum)
			return SQLITE_OK;
	}
	return damaged(pages);
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
	uint64_t era;  /* the boot outside which it is not believed; 0: durable */
	uint64_t base; /* in recent: the sum of the root in file that it goes with; there random */
	uint64_t sealed; /* 1: and in any boot, since all of it was synced */
};

_Static_assert(sizeof(struct root) == RG_PAGES_ROOT_HEAD, "the root's head is packed");

static uint64_t sum_of_root(const struct root *root, const uint64_t *roots)
{
	uint64_t words[8] = { root->count, root->changes, root->reach,
			      root->era,   root->base,	  root->sealed },
		 sum;
	size_t groups = groups_of(root->count), i, n;

	sum = rg_index_sum_of(0, words, sizeof words);
	for (i = 0; i < groups; i += n) {
		n = groups - i < 4 ? groups - i : 4;
		memset(words, 0, 4 * sizeof *words);
		memcpy(words, roots + i, n * sizeof *words);
		sum = rg_index_sum_of(sum, words, 4 * sizeof *words);
	}
	return sum;
}

/* Read the sums of the groups, too.  SQLITE_CORRUPT: there is no whole root. */
static int read_root_of(struct rg_index_pages *pages, sqlite3_file *file, struct root *root,
			uint64_t **roots)
{
	size_t bytes;
	int r = pages->methods->xRead(file, root, sizeof *root, 0);

	*roots = NULL;
	if (r != SQLITE_OK)
		return r == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : r;
	if (memcmp(root->magic, RG_PAGES_MAGIC, sizeof root->magic) != 0 ||
	    root->count > (uint64_t)RG_PAGES_GROUPS_MAX * RG_PAGE_GROUP)
		return SQLITE_CORRUPT;
	bytes = groups_of(root->count) * sizeof **roots;
	*roots = malloc(bytes + 1);
	if (!*roots)
		return SQLITE_NOMEM;
	if (bytes)
		r = pages->methods->xRead(file, *roots, (int)bytes, RG_PAGES_ROOT_HEAD);
	if (r == SQLITE_OK && sum_of_root(root, *roots) == root->sum)
		return SQLITE_OK;
	free(*roots);
	*roots = NULL;
	return r == SQLITE_OK || r == SQLITE_IOERR_SHORT_READ ? SQLITE_CORRUPT : r;
}

/* A root older than one this handle has seen means that the file was put back. */
static int use_root(struct rg_index_pages *pages, const struct root *root, const uint64_t *roots)
{
	size_t groups = groups_of(root->count);
	int r = make_room(pages, groups);

	if (r != SQLITE_OK)
		return r;
	rg_index_pages_forget(pages);
	if (root->sum != pages->seen &&
	    (root->changes <= pages->changes || root->reach < pages->reach))
		return damaged(pages);
	if (groups)
		memcpy(pages->roots, roots, groups * sizeof *roots);
	pages->sum = pages->seen = root->sum;
	pages->changes = root->changes;
	pages->reach = pages->next_reach = root->reach;
	pages->count = pages->stored = root->count;
	pages->sealed = root->sealed;
	return SQLITE_OK;
}

static bool is_now(const struct rg_index_pages *pages, uint64_t era)
{
	return !era || !pages->era || era == pages->era;
}

/* That of recent, where it goes with what is in file, else that of file. */
static int read_root(struct rg_index_pages *pages)
{
	uint64_t *roots = NULL, *recent_roots = NULL;
	struct root root = { 0 }, recent = { 0 };
	int r, of_recent = SQLITE_CORRUPT;

	r = read_root_of(pages, pages->file, &root, &roots);
	if (pages->recent && (r == SQLITE_OK || r == SQLITE_CORRUPT))
		of_recent = read_root_of(pages, pages->recent, &recent, &recent_roots);
	/* A sealed root is being copied: that of file may be torn. */
	pages->in_recent = of_recent == SQLITE_OK &&
			   is_now(pages, recent.sealed ? 0 : recent.era) &&
			   (r == SQLITE_OK ? recent.base == root.sum : recent.sealed);
	pages->base = r == SQLITE_OK ? root.sum : recent.base;
	pages->durable = !pages->in_recent && !root.era;
	if (pages->in_recent)
		r = use_root(pages, &recent, recent_roots);
	else if (r == SQLITE_OK)
		r = is_now(pages, root.era) ? use_root(pages, &root, roots) : damaged(pages);
	else if (r == SQLITE_CORRUPT)
		r = damaged(pages);
	free(roots);
	free(recent_roots);
	return r;
}

/* Is the root in force still the one that was read? */
static int look_at_root(struct rg_index_pages *pages, bool *ret_same)
{
	struct root root;
	int r = SQLITE_IOERR_SHORT_READ;

	*ret_same = false;
	if (pages->recent)
		r = pages->methods->xRead(pages->recent, &root, sizeof root, 0);
	if (r == SQLITE_IOERR_SHORT_READ && !pages->in_recent)
		r = pages->methods->xRead(pages->file, &root, sizeof root, 0);
	*ret_same = r == SQLITE_OK && pages->sum && root.sum == pages->sum;
	return r == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : r;
}

/* An empty file is an index without pages. */
int rg_index_pages_begin(struct rg_index_pages *pages)
{
	sqlite3_int64 size;
	bool same;
	int r;

	r = pages->methods->xFileSize(pages->file, &size);
	if (r != SQLITE_OK)
		return r;
	if (size == 0) {
		rg_index_pages_forget(pages);
		pages->count = pages->stored = 0;
		return pages->seen ? damaged(pages) : SQLITE_OK;
	}
	pages->next_reach = pages->reach;
	r = look_at_root(pages, &same);
	if (r != SQLITE_OK || same)
		return r;
	return read_root(pages);
}

/* ---------------------------------------------------------------- groups -- */

static uint64_t sum_of_group(uint64_t number, const uint64_t sums[RG_PAGE_GROUP])
{
	return rg_index_sum_of(~number, sums, RG_PAGE_GROUP * sizeof *sums);
}

static int load_group(struct rg_index_pages *pages, uint64_t number, struct rg_page_group *group)
{
	bool recent = pages->in_recent;
	int r;

	memset(group->sums, 0, sizeof group->sums);
	memset(group->recent, 0, sizeof group->recent);
	if (number < groups_of(pages->stored)) {
		r = read_block(pages, ~number, group->sums, place_of_group(number),
			       pages->roots[number], &recent);
		if (r != SQLITE_OK)
			return r;
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

static int finish(struct rg_index_pages *pages);

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
	return read_block(pages, number, to, place_of(number), sum,
			  &group->recent[number % RG_PAGE_GROUP]);
}

int rg_index_pages_write(struct rg_index_pages *pages, uint64_t number, const void *page)
{
	struct rg_page_group *group;
	int r = finish(pages);

	if (r == SQLITE_OK)
		r = find_group(pages, number / RG_PAGE_GROUP, &group);
	if (r != SQLITE_OK)
		return r;
	group->sums[number % RG_PAGE_GROUP] = rg_index_sum_of(number, page, RG_PAGE_BYTES);
	group->recent[number % RG_PAGE_GROUP] = pages->recent != NULL;
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
	group->recent[number % RG_PAGE_GROUP] = pages->recent != NULL;
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
	int r = finish(pages);

	if (r == SQLITE_OK)
		r = drop_sums(pages, count, pages->count);
	if (r != SQLITE_OK || count >= pages->count)
		return r;
	pages->count = count;
	pages->changed = true;
	/* What is left after the end has no sum, and is overwritten or cut by the next checkpoint.
	 */
	if (pages->recent)
		return SQLITE_OK;
	return pages->methods->xTruncate(pages->file, count ? place_of(count - 1) + RG_PAGE_BYTES
							    : place_of_group(0));
}

/* ------------------------------------------------------------------- end -- */

static int write_group(struct rg_index_pages *pages, uint64_t number)
{
	struct rg_page_group *group = pages->groups[number];

	pages->roots[number] = sum_of_group(number, group->sums);
	return write_at(pages, group->sums, sizeof group->sums, place_of_group(number));
}

/* In one write, unless it is large. */
static int put_root(struct rg_index_pages *pages, sqlite3_file *file, struct root *root)
{
	size_t length = groups_of(root->count) * sizeof *pages->roots;
	unsigned char bytes[512];
	int r;

	memcpy(root->magic, RG_PAGES_MAGIC, sizeof root->magic);
	root->sum = sum_of_root(root, pages->roots);
	if (length <= sizeof bytes - sizeof *root) {
		memcpy(bytes, root, sizeof *root);
		if (length)
			memcpy(bytes + sizeof *root, pages->roots, length);
		return write_to(pages, file, bytes, sizeof *root + length, 0);
	}
	r = write_to(pages, file, pages->roots, length, RG_PAGES_ROOT_HEAD);
	return r == SQLITE_OK ? write_to(pages, file, root, sizeof *root, 0) : r;
}

static int write_root(struct rg_index_pages *pages, bool sealed)
{
	struct root root = { .count = pages->count,
			     .changes = pages->changes + 1,
			     .reach = pages->next_reach,
			     .era = pages->era,
			     .base = pages->base,
			     .sealed = sealed };
	int r;

	/* No recent pages of an index that was rebuilt go with this one, though it is the same. */
	if (!pages->recent)
		sqlite3_randomness(sizeof root.base, &root.base);
	r = put_root(pages, pages->recent ? pages->recent : pages->file, &root);
	if (r == SQLITE_OK) {
		pages->sum = pages->seen = root.sum;
		pages->changes = root.changes;
		pages->reach = root.reach;
		pages->stored = pages->count;
		pages->in_recent = pages->recent != NULL;
		pages->durable = false;
		pages->sealed = sealed;
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
		r = write_root(pages, false);
	for (i = 0; i < pages->room && r == SQLITE_OK; i++)
		if (pages->groups[i])
			pages->groups[i]->changed = false;
	return r;
}

/* ------------------------------------------------------------ checkpoints -- */

static int sync_file(struct rg_index_pages *pages, sqlite3_file *file)
{
	return pages->methods->xSync(file, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
}

/* The sums of a group in file; none where its root does not vouch for them, as after a copy that
 * ended midway. */
static int read_before(struct rg_index_pages *pages, uint64_t number, const uint64_t *sum,
		       uint64_t before[RG_PAGE_GROUP])
{
	const size_t bytes = RG_PAGE_GROUP * sizeof *before;
	int r = SQLITE_OK;

	if (sum)
		r = pages->methods->xRead(pages->file, before, (int)bytes, place_of_group(number));
	if (!sum || r != SQLITE_OK || sum_of_group(number, before) != *sum)
		memset(before, 0, bytes);
	return r == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : r;
}

/* Copy the pages of a group that differ in file, and its sums. */
static int copy_group(struct rg_index_pages *pages, uint64_t number, const uint64_t *sum)
{
	uint64_t before[RG_PAGE_GROUP], page = number * RG_PAGE_GROUP;
	unsigned char bytes[RG_PAGE_BYTES];
	struct rg_page_group *group;
	int i, r;

	if (sum && *sum == pages->roots[number])
		return SQLITE_OK;
	r = find_group(pages, number, &group);
	if (r == SQLITE_OK)
		r = read_before(pages, number, sum, before);
	for (i = 0; i < RG_PAGE_GROUP && r == SQLITE_OK; i++, page++) {
		if (!group->sums[i] || group->sums[i] == before[i])
			continue;
		r = rg_index_pages_read(pages, page, bytes);
		if (r == SQLITE_OK)
			r = write_to(pages, pages->file, bytes, sizeof bytes, place_of(page));
	}
	return r == SQLITE_OK ? write_to(pages, pages->file, group->sums, sizeof group->sums,
					 place_of_group(number))
			      : r;
}

static int copy_groups(struct rg_index_pages *pages)
{
	size_t groups = groups_of(pages->count), before, i;
	struct root root = { 0 };
	uint64_t *roots;
	int r = read_root_of(pages, pages->file, &root, &roots);

	if (r != SQLITE_OK && r != SQLITE_CORRUPT)
		return r;
	before = roots ? groups_of(root.count) : 0;
	for (i = 0, r = SQLITE_OK; i < groups && r == SQLITE_OK; i++)
		r = copy_group(pages, i, i < before ? &roots[i] : NULL);
	free(roots);
	return r;
}

/* The root of file is of what was there before, until all of it is on disk. */
static int copy_all(struct rg_index_pages *pages)
{
	struct root root = { .count = pages->count,
			     .changes = pages->changes + 1,
			     .reach = pages->reach };
	int r = copy_groups(pages);

	if (r == SQLITE_OK)
		r = sync_file(pages, pages->file);
	if (r == SQLITE_OK)
		r = put_root(pages, pages->file, &root);
	if (r == SQLITE_OK)
		r = sync_file(pages, pages->file);
	/* The root in recent goes with another one now. */
	if (r == SQLITE_OK)
		r = pages->methods->xTruncate(pages->recent, 0);
	if (r == SQLITE_OK) {
		pages->base = pages->sum = pages->seen = root.sum;
		pages->changes = root.changes;
		pages->in_recent = pages->sealed = false;
		pages->durable = true;
	}
	return r;
}

/* A process died while it copied. */
static int finish(struct rg_index_pages *pages)
{
	return pages->sealed ? copy_all(pages) : SQLITE_OK;
}

int rg_index_pages_checkpoint(struct rg_index_pages *pages)
{
	int r = finish(pages);

	if (r != SQLITE_OK || !pages->recent || pages->durable || !pages->sum)
		return r;
	/* A file that was just made is not on disk either. */
	r = sync_file(pages, pages->file);
	/* All that the sealed root needs is there before it. */
	if (r == SQLITE_OK)
		r = sync_file(pages, pages->recent);
	if (r == SQLITE_OK)
		r = write_root(pages, true);
	if (r == SQLITE_OK)
		r = sync_file(pages, pages->recent);
	return r == SQLITE_OK ? copy_all(pages) : r;
}
