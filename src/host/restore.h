/*
 * restore - make a workspace file by file, so that it appears at once.
 *
 * The files are written to .roger.restore/ and synced; a rename makes that .roger/.  A killed
 * restore leaves its folder, which the next one empties; one that runs has a lock on it.
 */
#ifndef RG_RESTORE_H
#define RG_RESTORE_H

#include "host/workspace.h"

struct rg_restore {
	char root[4096];
	const char *made; /* the path of root, if it was made for this; else NULL; borrowed */
	int top, home;	  /* root, and the folder that is filled */
	int folder, file; /* the folder of the present file, and the file */
	char below[512];  /* the name of that folder from home */
};

/* Begin in the folder at path, made when missing.  ROGER_EREFUSED: it has a workspace. */
RG_CHECKED int rg_restore_begin(const char *path, struct rg_restore *ret_restore,
				struct roger_err *err);
/* Begin the next file, by its name from .roger/; add text.  ROGER_EDATA: not a name in a backup. */
RG_CHECKED int rg_restore_file(struct rg_restore *restore, const char *name, struct roger_err *err);
RG_CHECKED int rg_restore_write(struct rg_restore *restore, struct roger_str piece,
				struct roger_err *err);
/* Make it a workspace, durably. */
RG_CHECKED int rg_restore_finish(struct rg_restore *restore, struct roger_err *err);
/* Remove what was not finished. */
void rg_restore_close(struct rg_restore *restore);

#endif
