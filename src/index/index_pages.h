/*
 * index_pages - the pages of the index in its file, each with a sum.
 *
 * The file is roger's alone: no other program reads or writes it.  A sum over
 * number and content of each page is kept apart from the page, in a block for
 * so many pages; a sum over each block is kept in the root, and the root has
 * one of its own.  So a page that was changed, moved or put back from before is
 * no page, whoever did it and however.  A whole file from before is one, but not
 * for who has seen it later.
 *
 *     root | sums of 512 pages | 512 pages | sums of 512 pages | ...
 */
#ifndef RG_INDEX_PAGES_H
#define RG_INDEX_PAGES_H

#include <sqlite3.h>

#include "base/str.h"

enum {
	RG_PAGE_BYTES = 4096,
	RG_PAGE_GROUP = 512,	     /* pages to a block of sums */
	RG_PAGES_ROOT_BYTES = 65536, /* room for the root */
	RG_PAGES_ROOT_HEAD = 48,     /* of it, before the sums of the blocks */
	RG_PAGES_GROUPS_MAX = (RG_PAGES_ROOT_BYTES - RG_PAGES_ROOT_HEAD) / 8,
};

#define RG_PAGES_MAGIC "roger index 6\n\0" /* 16 bytes with the last NUL */

struct rg_page_group {
	bool loaded, changed;
	uint64_t sums[RG_PAGE_GROUP]; /* 0: a page never written, all zeros */
};

struct rg_index_pages {
	sqlite3_file *file;
	const sqlite3_io_methods *methods; /* of the file below */
	uint64_t sum;			   /* of the root, and so of everything; 0: none was read */
	uint64_t seen;			   /* the last sum that was right */
	uint64_t changes;		   /* so many, as that root says */
	uint64_t reach;			   /* how far the journal is read, */
	uint64_t next_reach;		   /* and will be after this change */
	uint64_t count;			   /* of pages, as they are now */
	uint64_t stored;		   /* as the root says */
	uint64_t *roots;		   /* the sums of the groups, as the root says */
	struct rg_page_group **groups;
	size_t room; /* of both */
	bool changed;
	bool damaged; /* something was not as it was written */
};

void rg_index_pages_init(struct rg_index_pages *pages);
void rg_index_pages_deinit(struct rg_index_pages *pages);

/* All return codes of SQLite; SQLITE_CORRUPT: something is not as it was written. */

/* Read the root, under a lock that keeps others from writing. */
int rg_index_pages_begin(struct rg_index_pages *pages);

int rg_index_pages_read(struct rg_index_pages *pages, uint64_t number, void *to);
int rg_index_pages_write(struct rg_index_pages *pages, uint64_t number, const void *page);

/* Write a page that is to be again what its sum says. */
int rg_index_pages_restore(struct rg_index_pages *pages, uint64_t number, const void *page);

int rg_index_pages_cut(struct rg_index_pages *pages, uint64_t count);

/* The sums of what was written, into the file. */
int rg_index_pages_end(struct rg_index_pages *pages);

/* What was not ended never was: read all of it again. */
void rg_index_pages_forget(struct rg_index_pages *pages);

/* Over so many bytes, a multiple of 32. */
uint64_t rg_index_sum_of(uint64_t key, const void *data, size_t length);

#endif
