/*
 * tar - an archive in the format of POSIX (ustar, with pax records where it has no room), one file
 * after the other; a backup is one.  Written beside, synced and renamed; read from its start.
 */
#ifndef RG_TAR_H
#define RG_TAR_H

#include "host/file.h"

enum { RG_TAR_NAME_BYTES = 512 };

struct rg_tar {
	int file, folder; /* the archive, and where it gets its name */
	char name[256], spare[RG_SPARE_BYTES];
	uint64_t left, pad; /* of the present file */
	int64_t made_ms;
	int64_t at; /* read up to here */
};

/* A new one, which has its name once it is finished.  ROGER_EREFUSED: something has that name. */
RG_CHECKED int rg_tar_make(const char *path, int64_t made_ms, struct rg_tar *ret_tar,
			   struct roger_err *err);
/* The next file; then its bytes, in pieces, exactly that many. */
RG_CHECKED int rg_tar_add(struct rg_tar *tar, const char *name, uint64_t size,
			  struct roger_err *err);
RG_CHECKED int rg_tar_write(struct rg_tar *tar, struct roger_str piece, struct roger_err *err);
/* Durable, and by its name. */
RG_CHECKED int rg_tar_finish(struct rg_tar *tar, struct roger_err *err);

/* Open one that begins with that file; its bytes are read next. */
RG_CHECKED int rg_tar_open(const char *path, const char *first, struct rg_tar *ret_tar,
			   uint64_t *ret_size, struct roger_err *err);
/* The next file must be this, and be written as rg_tar_add() writes it; then there must be no more.
 * Else ROGER_EDATA. */
RG_CHECKED int rg_tar_expect(struct rg_tar *tar, const char *name, uint64_t size,
			     struct roger_err *err);
RG_CHECKED int rg_tar_expect_end(struct rg_tar *tar, struct roger_err *err);
RG_CHECKED int rg_tar_read(struct rg_tar *tar, char *room, size_t want, size_t *ret_got,
			   struct roger_err *err);

/* What was not finished goes away. */
void rg_tar_close(struct rg_tar *tar);

#endif
