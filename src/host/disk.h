/*
 * disk - may a workspace be on this file system?
 *
 * Locks, maps shared by processes and syncs must hold for whoever uses it.  Some file systems are
 * known for that, some for the opposite, since another machine, or another kernel, may use the
 * files, too; the others are tried, once.  ROGER_DISK=alone says that nobody else does.
 */
#ifndef RG_DISK_H
#define RG_DISK_H

#include "base/str.h"

enum rg_disk {
	RG_DISK_GOOD,
	RG_DISK_TRIED,	 /* once it was tried */
	RG_DISK_REFUSED, /* shared by machines, or without what a workspace needs */
};

/* By the number that statfs() gives and, of FUSE, the type that the mount has; name: for people. */
enum rg_disk rg_disk_judge(uint64_t magic, const char *type, const char **ret_name);

/*
 * Where this open folder is.  tried: of a workspace, which remembers that; else it is only judged.
 * ROGER_ECONFIG: not here, and what to do.
 */
RG_CHECKED int rg_disk_check(int folder, const char *path, bool tried, struct roger_err *err);

/* Locks, maps, appends, syncs, renames and names in two cases. */
RG_CHECKED int rg_disk_try(int folder, const char *path, struct roger_err *err);

#endif
