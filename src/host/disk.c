#include "host/disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "data/record.h"
#include "host/file.h"

enum { MAP_BYTES = 4096, TYPE_BYTES = 64, MOUNTS_BYTES_MAX = 4 << 20 };

static const char tried_name[] = "tried";

static const struct {
	uint64_t magic;
	enum rg_disk disk;
	const char *name;
} disks[] = {
	{ 0xEF53, RG_DISK_GOOD, "ext4" },
	{ 0x58465342, RG_DISK_GOOD, "XFS" },
	{ 0x9123683E, RG_DISK_GOOD, "Btrfs" },
	{ 0x01021994, RG_DISK_GOOD, "tmpfs" },
	{ 0x794C7630, RG_DISK_GOOD, "overlay" },
	{ 0x2FC12FC1, RG_DISK_GOOD, "ZFS" },
	{ 0xF2F52010, RG_DISK_GOOD, "F2FS" },
	{ 0xCA451A4E, RG_DISK_GOOD, "bcachefs" },
	{ 0x858458F6, RG_DISK_GOOD, "ramfs" },
	{ 0x73717368, RG_DISK_GOOD, "squashfs" },
	{ 0xE0F5E1E2, RG_DISK_GOOD, "EROFS" },
	{ 0x6969, RG_DISK_REFUSED, "NFS" },
	{ 0x01021997, RG_DISK_REFUSED, "9p" },
	{ 0x517B, RG_DISK_REFUSED, "SMB" },
	{ 0xFF534D42, RG_DISK_REFUSED, "SMB" },
	{ 0xFE534D42, RG_DISK_REFUSED, "SMB" },
	{ 0x5346414F, RG_DISK_REFUSED, "AFS" },
	{ 0x6B414653, RG_DISK_REFUSED, "AFS" },
	{ 0x00C36400, RG_DISK_REFUSED, "Ceph" },
	{ 0x0BD00BD0, RG_DISK_REFUSED, "Lustre" },
	{ 0x786F4256, RG_DISK_REFUSED, "a folder shared by VirtualBox" },
	{ 0x4D44, RG_DISK_REFUSED, "FAT" },
	{ 0x2011BAB0, RG_DISK_REFUSED, "exFAT" },
};
static const uint64_t fuse = 0x65735546;

enum rg_disk rg_disk_judge(uint64_t magic, const char *type, const char **ret_name)
{
	/* Types of FUSE whose files another machine, or another kernel, has, too. */
	static const char *const far[] = { "virtiofs",	       "fuse.sshfs",
					   "fuse.rclone",      "fuse.s3fs",
					   "fuse.gcsfuse",     "fuse.glusterfs",
					   "fuse.grpcfuse",    "fuse.osxfs",
					   "fuse.vmhgfs-fuse", NULL };
	size_t i;

	*ret_name = type[0] ? type : "a file system that roger does not know";
	if (magic == fuse && rg_enum_find(far, rg_str(type)) >= 0)
		return RG_DISK_REFUSED;
	for (i = 0; i < sizeof disks / sizeof *disks; i++)
		if (disks[i].magic == magic) {
			*ret_name = disks[i].name;
			return disks[i].disk;
		}
	return RG_DISK_TRIED;
}

/* Find the type of a folder's mount in /proc/self/mountinfo; "": not known. */
static void find_type(int folder, char to[TYPE_BYTES])
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char wanted[48];
	const char *line, *type;
	struct stat facts;

	to[0] = '\0';
	if (fstat(folder, &facts) < 0 ||
	    rg_file_read_all(-1, "/proc/self/mountinfo", MOUNTS_BYTES_MAX, &text, NULL, NULL) < 0)
		return;
	rg_buf_add_char(&text, '\0');
	snprintf(wanted, sizeof wanted, " %u:%u ", major(facts.st_dev), minor(facts.st_dev));
	line = text.failed ? NULL : strstr(text.data, wanted);
	type = line ? strstr(line, " - ") : NULL;
	if (type)
		snprintf(to, TYPE_BYTES, "%.*s", (int)strcspn(type + 3, " \n"), type + 3);
}

static int fail_on_disk(const char *path, const char *name, const char *why, struct roger_err *err)
{
	return rg_fail(err, ROGER_ECONFIG, 0,
		       "'%.2000s' is on %s, %s: keep the workspace on a disk of one machine, run "
		       "`roger serve` there, and set ROGER_SERVER here",
		       path, name, why);
}

/* Try the folder, unless a note in it says that this file system was tried: one kind may be
 * several that keep different promises, so its device is noted, too. */
static int try_once(int folder, const char *path, const char *name, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	char note[TYPE_BYTES + 24];
	struct stat facts = { 0 };
	int r;

	(void)!fstat(folder, &facts);
	snprintf(note, sizeof note, "%s %llu", name, (unsigned long long)facts.st_dev);
	if (rg_file_read_all(folder, tried_name, sizeof note, &text, NULL, NULL) == ROGER_OK &&
	    rg_str_is(rg_buf_str(&text), note))
		return ROGER_OK;
	r = rg_disk_try(folder, path, err);
	/* Where this cannot be noted, it is tried each time. */
	if (r == ROGER_OK)
		(void)!rg_file_replace(folder, tried_name, rg_str(note), true, NULL);
	return r;
}

int rg_disk_check(int folder, const char *path, bool tried, struct roger_err *err)
{
	const char *name, *said = getenv("ROGER_DISK");
	char type[TYPE_BYTES];
	struct statfs facts;
	enum rg_disk disk;
	uint64_t magic;
	size_t chars;

	if (!rg_utf8_count(rg_str(path), &chars))
		return rg_fail(err, ROGER_ECONFIG, 0,
			       "the path '%s' is not UTF-8, as answers and trust have it; give its "
			       "folder another name",
			       path);
	if (fstatfs(folder, &facts) < 0)
		return ROGER_OK;
	magic = (uint32_t)facts.f_type;
	if (rg_disk_judge(magic, "", &name) == RG_DISK_GOOD)
		return ROGER_OK;
	find_type(folder, type);
	disk = rg_disk_judge(magic, type, &name);
	if (disk == RG_DISK_REFUSED && (!said || strcmp(said, "alone") != 0))
		return fail_on_disk(
			path, name,
			"which other machines may use, too, and where locks and maps do not "
			"hold between them (ROGER_DISK=alone, where nobody else does)",
			err);
	/* What is only read needs none of it. */
	return tried && !(facts.f_flags & ST_RDONLY) ? try_once(folder, path, name, err) : ROGER_OK;
}

/* ---------------------------------------------------------------- trying -- */

/* Do two descriptors of a file see the same locks, map and appends?  *ret_why: what is not. */
static int try_pair(int folder, const char *name, const char **ret_why, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int one = RG_NO_FILE;
	RG_CLEANUP(rg_file_closep) int other = RG_NO_FILE;
	void *first = NULL, *second = NULL;
	char page[MAP_BYTES] = "x", seen = 0;
	bool locked = false;
	size_t got;
	int r;

	/* A full disk says nothing about its kind. */
	r = rg_file_open(folder, name, RG_FILE_CREATE_NEW, &one, err);
	if (r == ROGER_OK)
		r = rg_file_write(one, page, sizeof page, name, err);
	if (r == ROGER_OK)
		r = rg_file_sync(one, name, err);
	if (r == ROGER_OK)
		r = rg_file_open(folder, name, RG_FILE_APPEND, &other, err);
	if (r < 0)
		return r;
	*ret_why = "where a lock on a file does not keep others out";
	if (rg_file_lock(one, name, 0, NULL) < 0 || rg_file_lock(other, name, 0, NULL) == ROGER_OK)
		return ROGER_OK;
	if (rg_file_lock_byte(one, 7, name, &locked, NULL) < 0 || !locked ||
	    rg_file_lock_byte(other, 7, name, &locked, NULL) < 0 || locked)
		return ROGER_OK;
	*ret_why = "where processes cannot share a map of a file";
	r = rg_file_map(one, sizeof page, name, &first, err);
	if (r == ROGER_OK)
		r = rg_file_map(other, sizeof page, name, &second, err);
	if (r == ROGER_OK) {
		((volatile char *)first)[9] = 'y';
		if (((volatile char *)second)[9] == 'y')
			*ret_why = NULL;
	}
	rg_file_unmap(first, first ? sizeof page : 0);
	rg_file_unmap(second, second ? sizeof page : 0);
	/* A lack of memory says nothing of a disk. */
	if (*ret_why)
		return r == ROGER_ENOMEM ? r : ROGER_OK;
	r = rg_file_write(other, "z", 1, name, err);
	if (r == ROGER_OK && (rg_file_read_at(one, &seen, 1, sizeof page, &got, NULL) < 0 ||
			      got != 1 || seen != 'z'))
		*ret_why = "where what is appended is not seen by others";
	return r;
}

int rg_disk_try(int folder, const char *path, struct roger_err *err)
{
	char name[RG_SPARE_BYTES], upper[RG_SPARE_BYTES], next[RG_SPARE_BYTES];
	const char *why = NULL;
	int r;

	rg_file_spare("try", name);
	rg_file_spare("TRY", upper);
	rg_file_spare(tried_name, next);
	(void)!rg_file_remove(folder, name, NULL);
	r = try_pair(folder, name, &why, err);
	if (r == ROGER_OK && !why && rg_file_is_there(folder, upper))
		why = "where names in another case are the same, so agents' files would be, too";
	if (!why &&
	    (rg_file_rename(folder, name, next, true, NULL) < 0 || rg_file_is_there(folder, name)))
		why = "where a file cannot be put in its place";
	(void)!rg_file_remove(folder, name, NULL);
	(void)!rg_file_remove(folder, next, NULL);
	return r == ROGER_OK && why ? fail_on_disk(path, "a file system", why, err) : r;
}
