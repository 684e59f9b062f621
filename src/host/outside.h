/*
 * outside - files that belong to other programs: a person's or a project's
 * settings, in which roger changes what it was asked to.
 *
 * Other rules hold here than for our own: a link is the person's own and is
 * followed, modes stay, new files get the usual ones.  A file is replaced
 * whole, by a rename beside it, so that whoever reads it sees the old one or
 * the new one.
 */
#ifndef RG_OUTSIDE_H
#define RG_OUTSIDE_H

#include "base/str.h"

/* A whole file into out; ROGER_EREFUSED when it is no regular one or larger than bytes_max. */
RG_CHECKED int rg_outside_read(const char *path, size_t bytes_max, struct rg_buf *out,
			       bool *ret_found, struct roger_err *err);

/*
 * Put a text in its place, durably, with the folders on the way.  before: what
 * stood there when the text was made of it; where something else does by now,
 * ROGER_EREFUSED, and that stays.  NULL: the file is ours, and for its owner alone.
 */
RG_CHECKED int rg_outside_put(const char *path, const struct roger_str *before,
			      struct roger_str text, struct roger_err *err);

/* Remove a file, and so many of the folders it is in as are empty then. */
RG_CHECKED int rg_outside_remove(const char *path, int64_t folders, struct roger_err *err);

/*
 * Be the only one who changes what a record tells of, in the folder that holds
 * it.  make: that folder, too; else *ret_lock is RG_NO_FILE where it is missing.
 * The lock goes with the descriptor, and so with the process; ROGER_ETIMEOUT
 * when another keeps it too long.
 */
RG_CHECKED int rg_outside_lock(const char *record, bool make, int *ret_lock, struct roger_err *err);

/* Change folder to the nearest one, it or one above, that holds something of that name. */
bool rg_outside_climb(char folder[4096], const char *name);

/*
 * What git keeps for the repository that a folder is in: its .git, or what
 * stands for that in a further working tree or a submodule.  false: none.
 */
bool rg_outside_git_folder(const char *folder, char to[4096]);

/*
 * Would git show that a file, which is there, changed?  Yes, too, when it is in
 * a repository and git cannot be asked whether it tracks the file.
 */
bool rg_outside_git_may_show(const char *path);

/* Is there something of that name? */
bool rg_outside_is_there(const char *path);

/* Is there a program of that name along PATH? */
bool rg_outside_along_path(const char *name);

/* The file that this process runs; false: it cannot be told. */
bool rg_outside_own_program(char to[4096]);

#endif
