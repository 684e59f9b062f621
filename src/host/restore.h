/*
 * restore - a workspace that is made file by file, and is there at once.
 *
 * The files get into .roger.restore/ beside, each synced, and its rename is the workspace.  Who is
 * killed leaves that folder, which the next one empties; a lock on it says that it is at work.
 */
#ifndef RG_RESTORE_H
#define RG_RESTORE_H

#include "host/workspace.h"

struct rg_restore {
	char root[4096];
	int top, home;	  /* root, and the folder that is filled */
	int folder, file; /* where the present file is, and it */
	char below[512];  /* the name of that folder from home */
};

/* In the folder at path, made when missing.  ROGER_EREFUSED: there is a workspace. */
RG_CHECKED int rg_restore_begin(const char *path, struct rg_restore *ret_restore,
				struct roger_err *err);
/* The next file, by its name from .roger/; then its text.  ROGER_EDATA: it may not be called so. */
RG_CHECKED int rg_restore_file(struct rg_restore *restore, const char *name, struct roger_err *err);
RG_CHECKED int rg_restore_write(struct rg_restore *restore, struct roger_str piece,
				struct roger_err *err);
/* From now on it is a workspace, durably. */
RG_CHECKED int rg_restore_finish(struct rg_restore *restore, struct roger_err *err);
/* What was not finished goes away. */
void rg_restore_close(struct rg_restore *restore);

#endif
