/*
 * The files of the index and of messages.db: find, check, create, replace.  They are not opened:
 * closing one would drop the locks that SQLite holds in this process.
 */
#include "index/index_db.h"

#include <stdio.h>

#include "base/id.h"
#include "host/file.h"

/* A SQLite rollback journal that names another file ends in: length, checksum, and this. */
static const unsigned char super_mark[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };

/* A rollback journal may make SQLite delete a file of any name (a "super-journal"). roger never
 * writes such a journal, so another program did, and the database may be its, too. */
static bool names_other_file(struct rg_index *index, const char *name, int64_t size)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	unsigned char end[sizeof super_mark];
	size_t got = 0;

	return size >= (int64_t)sizeof end &&
	       rg_file_open(index->folder, name, RG_FILE_READ, &file, NULL) == ROGER_OK &&
	       file != RG_NO_FILE &&
	       rg_file_read_at(file, end, sizeof end, size - (int64_t)sizeof end, &got, NULL) ==
		       ROGER_OK &&
	       got == sizeof end && memcmp(end, super_mark, sizeof end) == 0;
}

int64_t rg_index_file_changed_ms(struct rg_index *index, const char *name)
{
	struct rg_file_facts facts;

	return rg_file_look(index->folder, name, &facts, NULL) == ROGER_OK ? facts.changed_ms : 0;
}

int rg_index_file_find(struct rg_index *index, const char *name, uint64_t *ret_inode,
		       struct roger_err *err)
{
	struct rg_file_facts facts;
	char rollback[300];
	bool foreign;
	int r;

	*ret_inode = 0;
	snprintf(rollback, sizeof rollback, "%s-journal", name);
	r = rg_file_look(index->folder, rollback, &facts, err);
	foreign = r == ROGER_OK && names_other_file(index, rollback, facts.size);
	if (r == ROGER_OK)
		r = rg_file_look(index->folder, name, &facts, err);
	if (r < 0)
		return r;
	/* Open neither: both are rebuilt. */
	if (foreign)
		return rg_file_remove(index->folder, rollback, err);
	*ret_inode = facts.inode;
	return ROGER_OK;
}

uint64_t rg_index_file_inode(const struct rg_index *index)
{
	return rg_file_inode(index->path);
}

static void recent_name(const struct rg_index *index, char to[RG_INDEX_FRESH_BYTES])
{
	snprintf(to, RG_INDEX_FRESH_BYTES, "%.250s-recent", index->name);
}

int rg_index_file_recent(struct rg_index *index, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	char name[RG_INDEX_FRESH_BYTES];
	struct rg_file_facts facts;
	int r;

	recent_name(index, name);
	r = rg_file_look(index->folder, name, &facts, err);
	if (r < 0 || facts.inode)
		return r;
	return rg_file_open(index->folder, name, RG_FILE_CREATE_NEW, &file, err);
}

void rg_index_file_settings(const struct rg_index *index, struct rg_index_vfs *vfs, bool bulk)
{
	vfs->era = rg_hash(0, index->store->era, strlen(index->store->era)) | 1;
	vfs->recent = bulk ? NULL : index->recent_path;
}

int rg_index_file_refuse(const char *name, struct roger_err *err)
{
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "'%s' is not an index of messages and was left alone; correct "
		       "storage.database_file, or move it away",
		       name);
}

int rg_index_file_check(struct rg_index *index, const char *path, const char *magic,
			const char *name, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf start = { .maximum = SIZE_MAX };
	struct rg_file_facts facts;
	bool there = false;
	int r;

	if (!index->placed)
		return ROGER_OK;
	r = rg_file_read_first(path, strlen(magic) + 1, &start, &facts, &there, err);
	if (r < 0 || !there || !start.length ||
	    (start.length > strlen(magic) && memcmp(start.data, magic, strlen(magic)) == 0))
		return r;
	return rg_index_file_refuse(name, err);
}

int rg_index_file_begin(struct rg_index *index, const char *name, char fresh[RG_INDEX_FRESH_BYTES],
			struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r;

	snprintf(fresh, RG_INDEX_FRESH_BYTES, "%.250s.new", name);
	r = rg_file_remove(index->folder, fresh, err);
	return r < 0 ? r : rg_file_open(index->folder, fresh, RG_FILE_CREATE_NEW, &file, err);
}

int rg_index_file_end(struct rg_index *index, const char *name, const char *fresh, int r,
		      struct roger_err *err)
{
	char rollback[300], recent[RG_INDEX_FRESH_BYTES];

	snprintf(rollback, sizeof rollback, "%.250s-journal", name);
	/* The old file's rollback journal must never be applied to the new one. */
	if (r == ROGER_OK)
		r = rg_file_remove(index->folder, rollback, err);
	if (r == ROGER_OK)
		r = rg_file_rename(index->folder, fresh, name, false, err);
	/* No recent page fits the new file; removing them frees the space. */
	recent_name(index, recent);
	if (r == ROGER_OK && strcmp(name, index->name) == 0)
		(void)!rg_file_remove(index->folder, recent, NULL);
	if (r < 0)
		(void)!rg_file_remove(index->folder, fresh, NULL);
	return r;
}
