/*
 * outside - files that belong to other programs: a person's or a project's
 * settings, in which roger changes what it was asked to.
 *
 * Unlike roger's own files: links are followed, modes are kept, new files get the
 * usual mode.  A file is replaced whole by a rename, so that a reader sees the old
 * one or the new one.
 */
#ifndef RG_OUTSIDE_H
#define RG_OUTSIDE_H

#include "base/str.h"

/* Read a whole file into out; ROGER_EREFUSED: it is not regular, or larger than bytes_max. */
RG_CHECKED int rg_outside_read(const char *path, size_t bytes_max, struct rg_buf *out,
			       bool *ret_found, struct roger_err *err);

/*
 * Replace a file durably, and make missing folders.  before: the text it had when the
 * new one was made from it; if it has changed since, ROGER_EREFUSED and no change.
 * NULL: it is a file of roger's own, readable by its owner alone.  Without data: likewise,
 * and it replaces none.
 */
RG_CHECKED int rg_outside_put(const char *path, const struct roger_str *before,
			      struct roger_str text, struct roger_err *err);

/* Make the folders that a path lies in, each that is missing with this mode. */
RG_CHECKED int rg_outside_make_folders(const char *path, unsigned mode, struct roger_err *err);

/* Remove a file, and up to that many of the folders it is in that are empty then. */
RG_CHECKED int rg_outside_remove(const char *path, int64_t folders, struct roger_err *err);

/*
 * Lock the folder of a record, so that no other process changes what it describes.
 * make: make that folder; else *ret_lock is RG_NO_FILE where it is missing.  The lock
 * ends with the descriptor, and so with the process; ROGER_ETIMEOUT when another
 * process keeps it too long.
 */
RG_CHECKED int rg_outside_lock(const char *record, bool make, int *ret_lock, struct roger_err *err);

/* Cut off the last part of a path, and return it; NULL: it is the only part. */
char *rg_outside_cut(char *path);

/* Change folder to the nearest one, it or one above, that holds something of that name. */
bool rg_outside_climb(char folder[4096], const char *name);

/* Read the path after a word in a one-line file of git's, relative to base; false: none. */
bool rg_outside_pointer(const char *file, const char *word, const char *base, char to[4096]);

/*
 * The git folder of the repository that a folder is in: .git, or what it points to in
 * a linked working tree or a submodule.  false: none.
 */
bool rg_outside_git_folder(const char *folder, char to[4096]);

/* The git folder of the one working tree at base, with its own index; false: base has no .git. */
bool rg_outside_git_own(const char *base, char to[4096]);

/* Is there something of that name? */
bool rg_outside_is_there(const char *path);

/* Find the program of that name along PATH, whose relative parts begin at base. */
bool rg_outside_along_path(const char *name, const char *base, char to[4096]);

/*
 * Find roger along PATH, by a whole path.  A script of that name does not count: the launcher of
 * npm costs 80 ms at each hook, and settings should name the program that it starts.
 */
bool rg_outside_roger(char to[4096]);

/* The program file of this process; false: unknown. */
bool rg_outside_own_program(char to[4096]);

#endif
