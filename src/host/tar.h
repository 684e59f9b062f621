/*
 * tar - read and write an archive in POSIX format (ustar, with pax records for long names and large
 * sizes), file by file; a backup is one.  It is written under a spare name, synced and renamed.
 */
#ifndef RG_TAR_H
#define RG_TAR_H

#include "host/file.h"

enum { RG_TAR_NAME_BYTES = 512 };

struct rg_tar {
	int file, folder; /* the archive, and the folder that it is in */
	char name[256], spare[RG_SPARE_BYTES];
	uint64_t left, pad; /* bytes left of the present file, and the padding after it */
	int64_t made_ms;
	int64_t at; /* the offset up to which it was read */
};

/* Begin a new archive, which gets its name when it is finished.  ROGER_EREFUSED: something has that
 * name.  made_ms: the time of its files. */
RG_CHECKED int rg_tar_make(const char *path, int64_t made_ms, struct rg_tar *ret_tar,
			   struct roger_err *err);
/* Begin the next file; then write its bytes in pieces, exactly size bytes in all. */
RG_CHECKED int rg_tar_add(struct rg_tar *tar, const char *name, uint64_t size,
			  struct roger_err *err);
RG_CHECKED int rg_tar_write(struct rg_tar *tar, struct roger_str piece, struct roger_err *err);
/* Sync the archive, whose last file is complete, and give it its name. */
RG_CHECKED int rg_tar_finish(struct rg_tar *tar, struct roger_err *err);

/* Open an archive whose first file must have this name; its bytes are read next. */
RG_CHECKED int rg_tar_open(const char *path, const char *first, struct rg_tar *ret_tar,
			   uint64_t *ret_size, struct roger_err *err);
/* Check that the next file has this name and size, and a header as rg_tar_add() writes it; or that
 * no file follows.  Else ROGER_EDATA. */
RG_CHECKED int rg_tar_expect(struct rg_tar *tar, const char *name, uint64_t size,
			     struct roger_err *err);
RG_CHECKED int rg_tar_expect_end(struct rg_tar *tar, struct roger_err *err);
RG_CHECKED int rg_tar_read(struct rg_tar *tar, char *room, size_t want, size_t *ret_got,
			   struct roger_err *err);

/* Close the archive; one that was not finished is removed. */
void rg_tar_close(struct rg_tar *tar);

#endif
