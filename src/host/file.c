#include "host/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/stat.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/limits.h"

/* Move a descriptor above 2: where a standard stream is closed, a new file would take its number,
 * and receive what is printed. */
static int move_up(int file)
{
	int moved = fcntl(file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1), error = errno;

	close(file);
	errno = error;
	return moved;
}

static int open_again(int folder, const char *name, int flags, mode_t mode)
{
	int file;

	do
		file = openat(folder, name, flags | O_CLOEXEC, mode);
	while (file < 0 && errno == EINTR);
	return file < 0 || file > STDERR_FILENO ? file : move_up(file);
}

/*
 * Files that root makes belong to the owner of their folder, so that a workspace that
 * is mounted into a container or used through sudo stays usable by its owner.
 */
static void give_to_owner(int folder, const char *name, int made)
{
	const char *slash = strrchr(name, '/');
	char above[4096] = ".";
	struct stat facts;

	if (geteuid() != 0)
		return;
	if (slash)
		snprintf(above, sizeof above, "%.*s", slash > name ? (int)(slash - name) : 1, name);
	if (fstatat(folder, above, &facts, 0) < 0 || facts.st_uid == 0)
		return;
	if (made >= 0)
		(void)!fchown(made, facts.st_uid, facts.st_gid);
	else
		(void)!fchownat(folder, name, facts.st_uid, facts.st_gid, AT_SYMLINK_NOFOLLOW);
}

static int fail_open(const char *name, int error, bool create, struct roger_err *err)
{
	if (error == ELOOP)
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%s' is a symbolic link, which roger does not follow", name);
	/* A socket, or a device without a driver. */
	if (error == ENXIO)
		return rg_fail(err, ROGER_EREFUSED, 0, "'%s' is not a regular file; move it away",
			       name);
	return rg_fail(err,
		       create		 ? rg_code_of_create(error)
		       : error == ENOMEM ? ROGER_ENOMEM
					 : ROGER_EIO,
		       error, "cannot open '%s'", name);
}

static struct rg_file_facts facts_of(const struct stat *facts)
{
	return (struct rg_file_facts){ facts->st_dev,
				       facts->st_ino,
				       facts->st_size,
				       (int64_t)facts->st_ctim.tv_sec * 1000 +
					       facts->st_ctim.tv_nsec / 1000000,
				       (int64_t)((uint64_t)facts->st_mtim.tv_sec * 1000000000 +
						 (uint64_t)facts->st_mtim.tv_nsec),
				       facts->st_uid,
				       (int64_t)facts->st_nlink,
				       (facts->st_mode & (S_IWGRP | S_IWOTH)) != 0,
				       (facts->st_mode & (S_IRWXG | S_IRWXO)) != 0,
				       (facts->st_mode & S_IRUSR) != 0,
				       S_ISREG(facts->st_mode)	 ? RG_FILE_REGULAR
				       : S_ISDIR(facts->st_mode) ? RG_FILE_FOLDER
				       : S_ISLNK(facts->st_mode) ? RG_FILE_LINK
								 : RG_FILE_OTHER };
}

static int check_length(int64_t bytes, const char *name, struct roger_err *err)
{
	if (bytes <= RG_FILE_BYTES_MAX)
		return ROGER_OK;
	return rg_fail(
		err, ROGER_EREFUSED, 0,
		"'%s' is longer than %d GiB; cut it off behind its last line, or move it away",
		name, (int)(RG_FILE_BYTES_MAX >> 30));
}

/* Refuse anything but a regular file. */
static int check_regular(const struct rg_file_facts *facts, const char *name, struct roger_err *err)
{
	if (facts->kind == RG_FILE_LINK)
		return fail_open(name, ELOOP, false, err);
	if (facts->kind != RG_FILE_REGULAR)
		return fail_open(name, ENXIO, false, err);
	return check_length(facts->size, name, err);
}

int rg_file_open_facts(int folder, const char *name, enum rg_file_way way, int *ret_file,
		       struct rg_file_facts *ret_facts, struct roger_err *err)
{
	static const int flags[] = {
		[RG_FILE_READ] = O_RDONLY,
		[RG_FILE_CHANGE] = O_RDWR,
		[RG_FILE_APPEND] = O_RDWR | O_APPEND,
		[RG_FILE_CREATE_APPEND] = O_RDWR | O_APPEND | O_CREAT,
		[RG_FILE_CREATE_NEW] = O_RDWR | O_CREAT | O_EXCL,
	};
	bool create = flags[way] & O_CREAT;
	int file, r;

	/* O_NONBLOCK: opening a FIFO of that name must not block. */
	file = open_again(folder, name, flags[way] | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0600);
	if (file < 0 && errno == ENOENT && !create) {
		*ret_file = RG_NO_FILE;
		return ROGER_OK;
	}
	if (file < 0 && errno == EISDIR)
		return rg_fail(err, ROGER_EREFUSED, 0, "'%s' is a folder; move it away", name);
	if (file < 0)
		return fail_open(name, errno, create, err);
	if (create)
		give_to_owner(folder, name, file);

	r = rg_file_facts(file, name, ret_facts, err);
	if (r == ROGER_OK)
		r = check_regular(ret_facts, name, err);
	*ret_file = r < 0 ? rg_file_close(file) : file;
	return r;
}

int rg_file_open(int folder, const char *name, enum rg_file_way way, int *ret_file,
		 struct roger_err *err)
{
	struct rg_file_facts facts;

	return rg_file_open_facts(folder, name, way, ret_file, &facts, err);
}

int rg_file_close(int file)
{
	if (file >= 0)
		close(file);
	return RG_NO_FILE;
}

void rg_file_closep(int *file)
{
	*file = rg_file_close(*file);
}

int rg_file_open_folder(int folder, const char *path, int *ret_folder, struct roger_err *err)
{
	int file = open_again(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	if (file < 0 && errno == ENOENT) {
		*ret_folder = RG_NO_FILE;
		return ROGER_OK;
	}
	if (file < 0 && errno == ENOTDIR)
		return rg_fail(err, ROGER_EREFUSED, 0, "'%s' is not a folder, or a symbolic link",
			       path);
	if (file < 0)
		return fail_open(path, errno, false, err);
	*ret_folder = file;
	return ROGER_OK;
}

int rg_file_make_folder(int folder, const char *name, bool *ret_made, struct roger_err *err)
{
	const bool made = mkdirat(folder, name, 0700) == 0;

	if (!made && errno != EEXIST)
		return rg_fail(err, rg_code_of_create(errno), errno, "make the folder '%s'", name);
	if (ret_made)
		*ret_made = made;
	if (!made)
		return ROGER_OK;
	give_to_owner(folder, name, RG_NO_FILE);
	return folder == AT_FDCWD ? ROGER_OK : rg_file_sync_folder(folder, name, err);
}

int rg_file_open_made_folder(int folder, const char *name, int *ret_folder, struct roger_err *err)
{
	int r = rg_file_open_folder(folder, name, ret_folder, err);

	if (r < 0 || *ret_folder != RG_NO_FILE)
		return r;
	r = rg_file_make_folder(folder, name, NULL, err);
	if (r == ROGER_OK)
		r = rg_file_open_folder(folder, name, ret_folder, err);
	if (r == ROGER_OK && *ret_folder == RG_NO_FILE)
		r = rg_fail(err, ROGER_ECREATE, 0, "the folder '%s' went away", name);
	return r;
}

int rg_file_open_below(int folder, const char *path, bool make, int *ret_folder,
		       struct roger_err *err)
{
	int outer = folder, inner = RG_NO_FILE, r;
	char part[256];
	size_t length;

	do {
		length = strcspn(path, "/");
		snprintf(part, sizeof part, "%.*s", (int)length, path);
		r = make ? rg_file_open_made_folder(outer, part, &inner, err)
			 : rg_file_open_folder(outer, part, &inner, err);
		if (outer != folder)
			rg_file_close(outer);
		outer = r == ROGER_OK ? inner : RG_NO_FILE;
		path += length + (path[length] == '/');
	} while (*path && outer != RG_NO_FILE);
	*ret_folder = outer;
	return r;
}

int rg_file_facts(int file, const char *name, struct rg_file_facts *ret_facts,
		  struct roger_err *err)
{
	struct stat facts;

	if (fstat(file, &facts) < 0)
		return rg_fail(err, ROGER_EIO, errno, "look at '%s'", name);
	*ret_facts = facts_of(&facts);
	return ROGER_OK;
}

int rg_file_look(int folder, const char *name, struct rg_file_facts *ret_facts,
		 struct roger_err *err)
{
	int r = rg_file_examine(folder, name, ret_facts, err);

	if (r == ROGER_OK && ret_facts->kind)
		r = check_regular(ret_facts, name, err);
	if (r < 0)
		*ret_facts = (struct rg_file_facts){ 0 };
	return r;
}

int rg_file_examine(int folder, const char *name, struct rg_file_facts *ret_facts,
		    struct roger_err *err)
{
	struct stat facts;

	*ret_facts = (struct rg_file_facts){ .kind = RG_FILE_NONE };
	if (fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0)
		*ret_facts = facts_of(&facts);
	else if (errno != ENOENT)
		return rg_fail(err, ROGER_EIO, errno, "look at '%s'", name);
	return ROGER_OK;
}

enum rg_file_kind rg_file_kind(int folder, const char *name)
{
	struct rg_file_facts facts;

	(void)!rg_file_examine(folder, name, &facts, NULL);
	return facts.kind;
}

int rg_file_close_to_others(int folder, const char *name, struct roger_err *err)
{
	struct rg_file_facts facts;
	int r = rg_file_examine(folder, name, &facts, err);

	/* By its name: a file that its owner may not read cannot be opened. */
	if (r == ROGER_OK && fchmodat(folder, name, facts.kind == RG_FILE_FOLDER ? 0700 : 0600,
				      AT_SYMLINK_NOFOLLOW) < 0)
		return rg_fail(err, ROGER_EIO, errno, "change the mode of '%s'", name);
	return r;
}

bool rg_file_is_tight(int file)
{
	enum { TIGHT_BYTES = 16 << 20 };
	struct statfs disk;

	return fstatfs(file, &disk) == 0 &&
	       (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize < TIGHT_BYTES;
}

static int seek_file(int file, int from, const char *name, uint64_t *ret_offset,
		     struct roger_err *err)
{
	off_t offset = lseek(file, 0, from);

	if (offset < 0)
		return rg_fail(err, ROGER_EIO, errno, "look at '%s'", name);
	*ret_offset = (uint64_t)offset;
	return ROGER_OK;
}

int rg_file_size(int file, const char *name, uint64_t *ret_size, struct roger_err *err)
{
	int r = seek_file(file, SEEK_END, name, ret_size, err);

	return r < 0 ? r : check_length((int64_t)*ret_size, name, err);
}

/*
 * Only the inode number is asked for: once a file's times were asked for, its next
 * write has to update them, which takes longer than the write.
 */
bool rg_file_is(int folder, const char *name, uint64_t device, uint64_t inode)
{
	struct statx facts;
	struct stat plain;

	if (syscall(SYS_statx, folder, name, AT_SYMLINK_NOFOLLOW, STATX_INO, &facts) == 0)
		return makedev(facts.stx_dev_major, facts.stx_dev_minor) == device &&
		       facts.stx_ino == inode;
	/* Some sandboxes do not know this call. */
	return (errno == ENOSYS || errno == EPERM) &&
	       fstatat(folder, name, &plain, AT_SYMLINK_NOFOLLOW) == 0 && plain.st_dev == device &&
	       plain.st_ino == inode;
}

void rg_file_remove_folder(int folder, const char *name)
{
	unlinkat(folder, name, AT_REMOVEDIR);
}

bool rg_file_is_there(int folder, const char *name)
{
	return rg_file_kind(folder, name) != RG_FILE_NONE;
}

bool rg_file_owner(const char *path, int64_t *ret_owner)
{
	struct stat facts;

	if (stat(path, &facts) < 0)
		return false;
	*ret_owner = facts.st_uid;
	return true;
}

uint64_t rg_file_inode(const char *path)
{
	struct stat facts;

	return stat(path, &facts) < 0 ? 0 : facts.st_ino;
}

static int read_all(int file, const char *name, size_t size, size_t bytes_max, struct rg_buf *out,
		    struct roger_err *err)
{
	/* Most files that are read whole are small, and tell their size; those of /proc do
	 * not. */
	size_t piece = size && size < (64 << 10) ? size : 1000, got = 0;
	char *room;
	int r;

	for (; size <= bytes_max && out->length <= bytes_max; piece = 4000) {
		room = rg_buf_room(out, piece);
		if (!room)
			return rg_fail_memory(err);
		r = rg_file_read_at(file, room, piece, (int64_t)out->length, &got, err);
		if (r < 0)
			return r;
		out->length += got;
		if (out->length <= bytes_max && (got < piece || out->length == size))
			return ROGER_OK;
	}
	return rg_fail(err, ROGER_EDATA, 0, "'%s' is larger than %zu bytes", name, bytes_max);
}

bool rg_file_read_lines(int folder, const char *name, char *text, size_t size,
			struct roger_str *lines, size_t count, struct rg_file_facts *ret_facts)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	size_t got = 0, i;
	char *at = text, *end;

	if (rg_file_open_facts(folder, name, RG_FILE_READ, &file, ret_facts, NULL) < 0 ||
	    file == RG_NO_FILE || rg_file_read_at(file, text, size - 1, 0, &got, NULL) < 0)
		return false;
	text[got] = '\0';
	for (i = 0; i < count; i++, at = end + 1) {
		end = strchr(at, '\n');
		if (!end)
			return false;
		*end = '\0';
		lines[i] = rg_str(at);
	}
	return true;
}

int rg_file_read_first(const char *path, size_t bytes_max, struct rg_buf *out,
		       struct rg_file_facts *ret_facts, bool *ret_found, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	size_t got = 0;
	char *room;
	int r;

	r = rg_file_open_facts(AT_FDCWD, path, RG_FILE_READ, &file, ret_facts, err);
	*ret_found = file != RG_NO_FILE;
	if (r < 0 || !*ret_found)
		return r;
	room = rg_buf_room(out, bytes_max);
	if (!room)
		return rg_fail_memory(err);
	r = rg_file_read_at(file, room, bytes_max, 0, &got, err);
	out->length += got;
	return r;
}

int rg_file_read_all(int folder, const char *name, size_t bytes_max, struct rg_buf *out,
		     bool *ret_found, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	struct rg_file_facts facts = { 0 };
	int r = rg_file_open_facts(folder, name, RG_FILE_READ, &file, &facts, err);

	if (ret_found)
		*ret_found = file != RG_NO_FILE;
	return file == RG_NO_FILE ? r
				  : read_all(file, name, (size_t)facts.size, bytes_max, out, err);
}

int rg_file_read_text(int folder, const char *name, size_t bytes_max, struct rg_arena *arena,
		      struct roger_str *ret_text, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = SIZE_MAX };
	bool found = false;
	int r = rg_file_read_all(folder, name, bytes_max, &text, &found, err);

	*ret_text = (struct roger_str){ NULL, 0 };
	return r < 0 || !found ? r
			       : rg_kept(rg_arena_copy(arena, rg_buf_str(&text), ret_text), err);
}

int rg_file_read_own(int folder, const char *name, const char *shown, size_t bytes_max,
		     struct rg_buf *out, struct rg_file_facts *ret_facts, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r;

	*ret_facts = (struct rg_file_facts){ 0 };
	r = rg_file_open_facts(folder, name, RG_FILE_READ, &file, ret_facts, err);
	if (file == RG_NO_FILE)
		return r;
	if (ret_facts->open_to_others || ret_facts->owner != (int64_t)geteuid())
		return rg_fail(err, ROGER_EREFUSED, 0,
			       "'%s' is not a file that is yours alone; expected mode 0600", shown);
	return read_all(file, shown, (size_t)ret_facts->size, bytes_max, out, err);
}

int rg_file_read_some(int file, void *to, size_t length, int64_t offset, size_t *ret_length,
		      struct roger_err *err)
{
	ssize_t got;

	do
		got = pread(file, to, length, offset);
	while (got < 0 && errno == EINTR);
	*ret_length = got > 0 ? (size_t)got : 0;
	return got >= 0 ? ROGER_OK
			: rg_fail(err, ROGER_EIO, errno, "read at byte %lld", (long long)offset);
}

int rg_file_read_at(int file, void *to, size_t length, int64_t offset, size_t *ret_length,
		    struct roger_err *err)
{
	size_t done = 0, got = 1;
	int r = ROGER_OK;

	for (; got && done < length && r == ROGER_OK; done += got)
		r = rg_file_read_some(file, (char *)to + done, length - done,
				      offset + (int64_t)done, &got, err);
	*ret_length = done;
	return r;
}

int rg_file_write(int file, const void *data, size_t length, const char *name,
		  struct roger_err *err)
{
	size_t done = 0;
	ssize_t put;

	while (done < length) {
		put = write(file, (const char *)data + done, length - done);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return rg_fail(err, ROGER_EIO, errno, "write to '%s'", name);
		done += (size_t)put;
	}
	return ROGER_OK;
}

int rg_file_tell(int file, const char *name, uint64_t *ret_offset, struct roger_err *err)
{
	return seek_file(file, SEEK_CUR, name, ret_offset, err);
}

int rg_file_sync(int file, const char *name, struct roger_err *err)
{
	int r;

	do
		r = fdatasync(file);
	while (r < 0 && errno == EINTR);
	return r < 0 ? rg_fail(err, ROGER_EIO, errno, "sync '%s'", name) : ROGER_OK;
}

int rg_file_sync_folder(int folder, const char *name, struct roger_err *err)
{
	int r;

	do
		r = fsync(folder);
	while (r < 0 && errno == EINTR);
	return r < 0 ? rg_fail(err, ROGER_EIO, errno, "sync the folder of '%s'", name) : ROGER_OK;
}

static int write_new(int folder, const char *name, const char *spare, struct roger_str text,
		     bool durable, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r;

	r = rg_file_open(folder, spare, RG_FILE_CREATE_NEW, &file, NULL);
	if (r < 0) {
		unlinkat(folder, spare, 0);
		r = rg_file_open(folder, spare, RG_FILE_CREATE_NEW, &file, err);
	}
	if (r == ROGER_OK)
		r = rg_file_write(file, text.data, text.length, name, err);
	return r == ROGER_OK && durable ? rg_file_sync(file, name, err) : r;
}

/*
 * A plain rename over another file makes some file systems write the new one
 * out at once.  What need not last is exchanged with the old one instead, which
 * is then removed: as atomic, and a third of the time.
 */
static int put_in_place(int folder, const char *name, const char *spare, bool durable)
{
	struct stat facts;

	/* Not every C library has renameat2().  A folder under the name is not swapped away.
	 */
	if (!durable && fstatat(folder, name, &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
	    !S_ISDIR(facts.st_mode) &&
	    syscall(SYS_renameat2, folder, spare, folder, name, RENAME_EXCHANGE) == 0) {
		unlinkat(folder, spare, 0);
		return 0;
	}
	return renameat(folder, spare, folder, name);
}

uint64_t rg_file_own_namespace(void)
{
	static const uint64_t first_time =
		0xEFFFFFFA; /* inode of the time namespace that every boot begins with */
	static _Atomic uint64_t space;
	uint64_t time;

	if (space)
		return space;
	time = rg_file_inode("/proc/self/ns/time");
	space = rg_file_inode("/proc/self/ns/pid") ^ (time ? time ^ first_time : 0);
	return space;
}

void rg_file_spare(const char *name, char to[RG_SPARE_BYTES])
{
	snprintf(to, RG_SPARE_BYTES, "%.220s.new-%llu-%d", name,
		 (unsigned long long)rg_file_own_namespace(), (int)getpid());
}

int rg_file_rename(int folder, const char *from, const char *to, bool durable,
		   struct roger_err *err)
{
	if (put_in_place(folder, to, from, durable) < 0)
		return rg_fail(err, rg_code_of_create(errno), errno, "put '%s' in its place", to);
	return durable ? rg_file_sync_folder(folder, to, err) : ROGER_OK;
}

int rg_file_replace(int folder, const char *name, struct roger_str text, bool durable,
		    struct roger_err *err)
{
	char spare[RG_SPARE_BYTES];
	int r;

	rg_file_spare(name, spare);
	r = write_new(folder, name, spare, text, durable, err);
	if (r == ROGER_OK)
		r = rg_file_rename(folder, spare, name, durable, err);
	if (r < 0)
		unlinkat(folder, spare, 0);
	return r;
}

int rg_file_move(int from_folder, const char *from, int to_folder, const char *to, bool *ret_moved,
		 struct roger_err *err)
{
	int r = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, RENAME_NOREPLACE);

	/* Some file systems know no such flag. */
	if (r < 0 && errno == EINVAL)
		r = renameat(from_folder, from, to_folder, to);
	*ret_moved = r == 0;
	if (r < 0 && errno != ENOENT)
		return rg_fail(err, rg_code_of_create(errno), errno, "move '%s'", from);
	return ROGER_OK;
}

/*
 * A read lease is refused while anybody has the file open for writing.  A process that
 * opens it for writing during the lease is held up for a moment, and this process gets
 * a signal: SIGURG, which is ignored by default, in place of SIGIO, which kills.
 */
enum rg_file_writers rg_file_writers(int file)
{
	int r;

	if (fcntl(file, F_SETSIG, SIGURG) < 0)
		return RG_FILE_UNTOLD;
	do
		r = fcntl(file, F_SETLEASE, F_RDLCK);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return errno == EAGAIN ? RG_FILE_WRITER : RG_FILE_UNTOLD;
	fcntl(file, F_SETLEASE, F_UNLCK);
	return RG_FILE_NO_WRITER;
}

int rg_file_remove(int folder, const char *name, struct roger_err *err)
{
	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
		return ROGER_OK;
	return rg_fail(err, ROGER_EIO, errno, "remove '%s'", name);
}

int rg_file_list_folder(int folder, const char *name, struct rg_arena *arena,
			struct roger_strs *ret_names, struct roger_err *err)
{
	/* Reading a folder moves the offset of its descriptor, so it gets one of its own. */
	int own = open_again(folder, ".", O_RDONLY | O_DIRECTORY, 0), r = ROGER_OK;
	struct roger_strs names = { 0 };
	const struct dirent *entry;
	DIR *stream;

	stream = own < 0 ? NULL : fdopendir(own);
	if (!stream) {
		r = rg_fail(err, ROGER_EIO, errno, "list the folder '%s'", name);
		rg_file_close(own);
		return r;
	}
	errno = 0;
	while (r == ROGER_OK && (entry = readdir(stream))) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    !rg_arena_add(arena, &names, rg_str(entry->d_name)))
			r = rg_fail_memory(err);
		errno = 0;
	}
	if (r == ROGER_OK && errno)
		r = rg_fail(err, ROGER_EIO, errno, "list the folder '%s'", name);
	closedir(stream);
	*ret_names = names;
	return r;
}

int rg_file_open_nowhere(int *ret_file, struct roger_err *err)
{
	int file = open_again(AT_FDCWD, "/dev/null", O_RDWR, 0);

	if (file < 0)
		return fail_open("/dev/null", errno, false, err);
	*ret_file = file;
	return ROGER_OK;
}

int rg_file_open_unwaiting(int descriptor)
{
	char path[40];
	int file;

	snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
	file = open_again(AT_FDCWD, path, O_WRONLY | O_NONBLOCK | O_NOCTTY, 0);
	return file < 0 ? RG_NO_FILE : file;
}

int rg_file_move_up(int *file, struct roger_err *err)
{
	if (*file > STDERR_FILENO)
		return ROGER_OK;
	*file = move_up(*file);
	return *file < 0 ? rg_fail(err, ROGER_EIO, errno, "move a descriptor") : ROGER_OK;
}

int rg_file_lock(int file, const char *name, int64_t wait_ms, struct roger_err *err)
{
	int64_t until = 0, now;

	while (flock(file, LOCK_EX | LOCK_NB) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return rg_fail(err, ROGER_EIO, errno, "lock '%s'", name);
		now = rg_clock_monotonic_ns();
		until = until ? until : now + wait_ms * 1000000;
		if (now > until)
			return rg_fail(err, ROGER_ETIMEOUT, 0,
				       "another process keeps '%s' locked; try again", name);
		rg_clock_sleep(2);
	}
	return ROGER_OK;
}

void rg_file_unlock(int file)
{
	flock(file, LOCK_UN);
}

/* A lock of the open file, not of the process, so that handles of one process exclude each other.
 */
static int lock_byte(int file, short type, int64_t byte)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)byte, .l_len = 1
	};
	int r;

	do
		r = fcntl(file, F_OFD_SETLK, &lock);
	while (r < 0 && errno == EINTR);
	return r;
}

int rg_file_lock_byte(int file, int64_t byte, const char *name, bool *ret_locked,
		      struct roger_err *err)
{
	if (lock_byte(file, F_WRLCK, byte) == 0) {
		*ret_locked = true;
		return ROGER_OK;
	}
	if (errno != EAGAIN && errno != EACCES)
		return rg_fail(err, ROGER_EIO, errno, "lock '%s'", name);
	*ret_locked = false;
	return ROGER_OK;
}

void rg_file_unlock_byte(int file, int64_t byte)
{
	(void)!lock_byte(file, F_UNLCK, byte);
}

bool rg_file_bytes_locked(int file, int64_t from, int64_t count)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = count
	};

	return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

int rg_file_map(int file, size_t size, const char *name, void **ret_map, struct roger_err *err)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

	if (map == MAP_FAILED)
		return rg_fail(err, errno == ENOMEM ? ROGER_ENOMEM : ROGER_EIO, errno, "map '%s'",
			       name);
	*ret_map = map;
	return ROGER_OK;
}

/* Calls only what a signal handler may call. */
bool rg_file_map_zeros(void *map, size_t size)
{
	return mmap(map, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) == map;
}

void rg_file_unmap(void *map, size_t size)
{
	if (map)
		munmap(map, size);
}
