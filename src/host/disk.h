/*
 * disk - may a workspace be on this file system?
 *
 * Locks, shared maps and syncs must hold for every process that uses it.  Some file systems are
 * known to do that, some not to, since another machine, or another kernel, may use the files, too;
 * the others are tried, once.  ROGER_DISK=alone says that nobody else uses them.
 */
#ifndef RG_DISK_H
#define RG_DISK_H

#include "base/str.h"

enum rg_disk {
	RG_DISK_GOOD,
	RG_DISK_TRIED,	 /* once it was tried */
	RG_DISK_REFUSED, /* shared by machines, or without what a workspace needs */
};

/* Judge a file system by the number in statfs() and, for FUSE, its mount type; name: for people. */
enum rg_disk rg_disk_judge(uint64_t magic, const char *type, const char **ret_name);

/*
 * Check the path and file system of an open folder.  tried: try it once, and note that in there.
 * ROGER_ECONFIG: a workspace may not be here; err says what to do.
 */
RG_CHECKED int rg_disk_check(int folder, const char *path, bool tried, struct roger_err *err);

/* Try locks, maps, appends, syncs, renames and names in two cases; ROGER_ECONFIG: one fails. */
RG_CHECKED int rg_disk_try(int folder, const char *path, struct roger_err *err);

#endif
