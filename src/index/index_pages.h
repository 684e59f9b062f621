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
 * of it holes.  The root of one of the two is in force, and its checksums tell which of
 * them has a page.  So after a restart the first file is as the checkpoint left it,
 * whatever became of the second.
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

/* As in the file, in this machine's byte order. */
struct rg_pages_root {
	char magic[16];
	uint64_t sum;	  /* checksum of all that follows; 0: there is no whole root */
	uint64_t count;	  /* number of pages */
	uint64_t changes; /* how many changes since the index was built */
	uint64_t reach;	  /* bytes of the journal read */
	uint64_t era;	  /* the boot outside which it is not believed; 0: any */
	uint64_t base;	  /* in recent: sum of the root in file that it goes with; there random */
	uint64_t sealed;  /* in recent, 1: all of it was synced, so any boot believes it */
	uint64_t groups[RG_PAGES_GROUPS_MAX]; /* sums of the blocks */
};

struct rg_page_group {
	bool loaded, changed;
	bool place[RG_PAGE_GROUP];    /* the file where the page was found last, or put */
	uint64_t sums[RG_PAGE_GROUP]; /* 0: page never written, all zeros */
};

enum { RG_PAGES_FILE, RG_PAGES_RECENT, RG_PAGES_FILES };

struct rg_index_pages {
	const sqlite3_io_methods *methods; /* methods of the files */
	/* Changes go to the second; it is the first while the index is built, without checkpoints.
	 */
	sqlite3_file *files[RG_PAGES_FILES];
	uint64_t era;		    /* this boot; 0: any */
	struct rg_pages_root *root; /* the one in force, one of roots */
	bool known;		    /* root is what was read or written last */
	uint64_t seen, changes;	    /* sum and changes of the last root in force */
	uint64_t reach, next_reach; /* its reach, and the reach after this change */
	uint64_t count;		    /* pages now */
	size_t groups_end;	    /* no group from here on is in memory */
	bool writing;		    /* else a write restores a page for another process */
	bool changed;
	bool renewed; /* another process changed the root: cached pages are out of date */
	bool damaged; /* a checksum was wrong */
	/* All members above are zero between close and open. */
	struct rg_pages_root roots[RG_PAGES_FILES];
	struct rg_page_group *groups[RG_PAGES_GROUPS_MAX];
};

void rg_index_pages_deinit(struct rg_index_pages *pages);

/* All return SQLite codes; SQLITE_CORRUPT: a checksum was wrong. */

/* Read the root; needs a lock that keeps others from writing. */
int rg_index_pages_begin(struct rg_index_pages *pages);

/* Begin to write; needs the write lock.  Ends a checkpoint that another process began. */
int rg_index_pages_begin_writing(struct rg_index_pages *pages);

int rg_index_pages_read(struct rg_index_pages *pages, uint64_t number, void *to);

/* Without begin_writing(), only a page that fits its checksum is put back. */
int rg_index_pages_write(struct rg_index_pages *pages, uint64_t number, const void *page);
int rg_index_pages_cut(struct rg_index_pages *pages, uint64_t count);

/* Write the checksums of the written pages. */
int rg_index_pages_end(struct rg_index_pages *pages);

/* Make the index durable: recent is synced, copied into file, and emptied.  Needs a lock that keeps
 * others from writing; a process that dies here leaves that to the next that writes. */
int rg_index_pages_checkpoint(struct rg_index_pages *pages);

/* Discard changes that were not ended: read everything again. */
void rg_index_pages_forget(struct rg_index_pages *pages);

#endif
