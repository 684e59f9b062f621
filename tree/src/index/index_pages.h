/*
 * index_pages - the index file as pages, each with a checksum.
 *
 * Only roger reads and writes the file.  The checksum of a page covers its number
 * and content and is stored apart from it, in a block for 512 pages; the root has
 * a checksum of each block, and one of itself.  So a page that was changed, moved
 * or put back from an earlier time is detected.  A whole earlier file is not,
 * except by a handle that has seen a later one.
 *
 *     root | checksums of 512 pages | 512 pages | checksums of 512 pages | ...
 *
 * What changed since the last checkpoint is in a second file of the same layout, most
 * of it holes.  The checksums tell which of the two has a page.  So after a restart the
 * first file is as the checkpoint left it, whatever became of the second.
 */
#ifndef RG_INDEX_PAGES_H
#define RG_INDEX_PAGES_H

#include <sqlite3.h>

#include "base/str.h"

enum {
	RG_PAGE_BYTES = 4096,
	RG_PAGE_GROUP = 512,	     /* pages per block of checksums */
	RG_PAGES_ROOT_BYTES = 65536, /* size of the root */
	RG_PAGES_ROOT_HEAD = 72,     /* size of the root before the blocks' checksums */
	RG_PAGES_GROUPS_MAX = (RG_PAGES_ROOT_BYTES - RG_PAGES_ROOT_HEAD) / 8,
};

#define RG_PAGES_MAGIC "roger index 7\n\0" /* 16 bytes with the last NUL */

struct rg_page_group {
	bool loaded, changed;
	bool recent[RG_PAGE_GROUP];   /* where the page was found last, or put */
	uint64_t sums[RG_PAGE_GROUP]; /* 0: page never written, all zeros */
};

struct rg_index_pages {
	sqlite3_file *file;
	const sqlite3_io_methods *methods; /* of the file below */
	sqlite3_file *recent; /* what changed since the checkpoint; NULL: changes go to file */
	uint64_t era;	      /* this boot; 0: any */
	uint64_t base;	      /* checksum of the root in file that recent goes with */
	bool in_recent;	      /* the root in force is there */
	bool durable;	      /* nothing changed since the checkpoint */
	bool sealed;	      /* the root in force is sealed: its copy into file is not finished */
	uint64_t sum;	      /* checksum of the root, and so of everything; 0: not read yet */
	uint64_t seen;	      /* last valid root checksum */
	uint64_t changes;     /* number of changes, from the root */
	uint64_t reach;	      /* bytes of the journal read */
	uint64_t next_reach;  /* the same after this change */
	uint64_t count;	      /* pages now */
	uint64_t stored;      /* pages according to the root */
	uint64_t *roots;      /* checksums of the groups, from the root */
	struct rg_page_group **groups;
	size_t room; /* allocated, of both arrays */
	bool changed;
	bool damaged; /* a checksum was wrong */
};

void rg_index_pages_init(struct rg_index_pages *pages);
void rg_index_pages_deinit(struct rg_index_pages *pages);

/* All return SQLite codes; SQLITE_CORRUPT: a checksum was wrong. */

/* Read the root; needs a lock that keeps others from writing. */
int rg_index_pages_begin(struct rg_index_pages *pages);

int rg_index_pages_read(struct rg_index_pages *pages, uint64_t number, void *to);
int rg_index_pages_write(struct rg_index_pages *pages, uint64_t number, const void *page);

/* Write a page back; its old checksum must match. */
int rg_index_pages_restore(struct rg_index_pages *pages, uint64_t number, const void *page);

int rg_index_pages_cut(struct rg_index_pages *pages, uint64_t count);

/* Write the checksums of the written pages. */
int rg_index_pages_end(struct rg_index_pages *pages);

/* Make all of it durable: recent is synced, copied into file, and emptied.  Needs a lock that keeps
 * others from writing; a process that dies here leaves that to the next that writes. */
int rg_index_pages_checkpoint(struct rg_index_pages *pages);

/* Discard changes that were not ended: read everything again. */
void rg_index_pages_forget(struct rg_index_pages *pages);

/* Checksum of length bytes, a multiple of 32. */
uint64_t rg_index_sum_of(uint64_t key, const void *data, size_t length);

#endif
