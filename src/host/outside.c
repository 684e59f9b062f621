#include "host/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "host/file.h"

enum { LOOKS_MAX = 100 };

static int fail_create(const char *path, const char *what, struct roger_err *err)
{
	return rg_fail(err, rg_code_of_create(errno), errno, "%s '%s'", what, path);
}

/* Resolve the links of a path; "": nothing is there.  A file that another process makes between the
 * two calls is found by the next try. */
static int resolve_path(const char *path, char to[PATH_MAX], struct roger_err *err)
{
	struct stat facts;
	int try;

	for (try = 0; try < LOOKS_MAX; try++) {
		if (realpath(path, to))
			return ROGER_OK;
		to[0] = '\0';
		if (errno != ENOENT)
			break;
		if (lstat(path, &facts) < 0)
			return ROGER_OK;
		if (S_ISLNK(facts.st_mode))
			return rg_fail(err, ROGER_EREFUSED, 0,
				       "'%s' is a link that leads nowhere; move it away", path);
	}
	return rg_fail(err, ROGER_EIO, errno, "look for '%s'", path);
}

int rg_outside_read(const char *path, size_t bytes_max, struct rg_buf *out, bool *ret_found,
		    struct roger_err *err)
{
	char real[PATH_MAX];
	struct stat facts;
	int r;

	*ret_found = false;
	r = resolve_path(path, real, err);
	if (r < 0 || !real[0])
		return r;
	if (stat(real, &facts) == 0 && S_ISREG(facts.st_mode) &&
	    (uint64_t)facts.st_size > bytes_max)
		return rg_fail(err, ROGER_EREFUSED, 0, "'%s' has more than %zu bytes", path,
			       bytes_max);
	return rg_file_read_all(AT_FDCWD, real, bytes_max, out, ret_found, err);
}

/* Return where the last part of a path starts. */
static size_t name_at(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

int rg_outside_make_folders(const char *path, unsigned mode, struct roger_err *err)
{
	char folder[PATH_MAX];
	size_t i, length = name_at(path);

	if (length >= sizeof folder)
		return rg_fail(err, ROGER_EDATA, 0, "'%.80s...' is too long a path", path);
	for (i = 1; i < length; i++) {
		if (path[i] != '/')
			continue;
		memcpy(folder, path, i);
		folder[i] = '\0';
		if (mkdir(folder, mode) < 0 && errno != EEXIST)
			return fail_create(folder, "make the folder", err);
	}
	return ROGER_OK;
}

/* Find the file to replace: the target of a link, or the path itself; and the mode for it. */
static int find_target(const char *path, char to[PATH_MAX], mode_t *ret_mode, struct roger_err *err)
{
	struct stat facts;
	mode_t mask;
	int r;

	r = resolve_path(path, to, err);
	if (r < 0)
		return r;
	if (!to[0])
		snprintf(to, PATH_MAX, "%s", path);
	if (stat(to, &facts) == 0) {
		*ret_mode = facts.st_mode & 07777;
		return S_ISREG(facts.st_mode) ? ROGER_OK
					      : rg_fail(err, ROGER_EREFUSED, 0,
							"'%s' is not a regular file", path);
	}
	mask = umask(0);
	umask(mask);
	*ret_mode = 0666 & ~mask;
	return ROGER_OK;
}

static int write_beside(const char *path, const char *spare, mode_t mode, struct roger_str text,
			struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int file = RG_NO_FILE;
	int r;

	r = rg_file_open(AT_FDCWD, spare, RG_FILE_CREATE_NEW, &file, err);
	if (r == ROGER_OK && fchmod(file, mode) < 0)
		r = fail_create(path, "set the mode of", err);
	if (r == ROGER_OK)
		r = rg_file_write(file, text.data, text.length, path, err);
	return r == ROGER_OK ? rg_file_sync(file, path, err) : r;
}

/* Make new names in the folder of a path durable. */
static int sync_folder_of(const char *path, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int folder = RG_NO_FILE;
	char name[PATH_MAX];
	size_t length = name_at(path);
	int r;

	snprintf(name, sizeof name, "%.*s", (int)(length ? length : 1), length ? path : ".");
	r = rg_file_open_folder(AT_FDCWD, name, &folder, err);
	return r == ROGER_OK && folder != RG_NO_FILE ? rg_file_sync_folder(folder, path, err) : r;
}

static int check_same(const char *path, struct roger_str before, struct roger_err *err)
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf now = { .maximum = SIZE_MAX };
	bool found;
	int r;

	r = rg_outside_read(path, before.length + 1, &now, &found, err);
	if (r == ROGER_OK && rg_str_equal(rg_buf_str(&now), before))
		return ROGER_OK;
	return rg_fail(err, ROGER_EREFUSED, 0,
		       "'%s' was changed by another program meanwhile; try again", path);
}

int rg_outside_put(const char *path, const struct roger_str *before, struct roger_str text,
		   struct roger_err *err)
{
	const bool made = before && !before->data;
	bool moved;
	char target[PATH_MAX], spare[PATH_MAX + 32];
	mode_t mode = 0600;
	int r;

	r = rg_outside_make_folders(path, before ? 0777 : 0700, err);
	if (r == ROGER_OK)
		r = find_target(path, target, &mode, err);
	if (r < 0)
		return r;
	if (!before || made)
		mode &= 0600;
	snprintf(spare, sizeof spare, "%s.roger-%d", target, (int)getpid());
	unlink(spare);
	r = write_beside(path, spare, mode, text, err);
	/* Check as late as possible, since the file's own program may write it, too. */
	if (r == ROGER_OK && before && !made)
		r = check_same(target, *before, err);
	if (r == ROGER_OK && made)
		r = rg_file_move(AT_FDCWD, spare, AT_FDCWD, target, &moved, err);
	else if (r == ROGER_OK && rename(spare, target) < 0)
		r = fail_create(path, "put in its place", err);
	if (r < 0) {
		unlink(spare);
		return r;
	}
	return sync_folder_of(target, err);
}

int rg_outside_remove(const char *path, int64_t folders, struct roger_err *err)
{
	char folder[PATH_MAX];
	int r;

	if (unlink(path) < 0 && errno != ENOENT)
		return rg_fail(err, ROGER_EIO, errno, "remove '%s'", path);
	r = sync_folder_of(path, err);
	snprintf(folder, sizeof folder, "%s", path);
	/* A folder that another program uses now stays. */
	while (r == ROGER_OK && folders-- > 0 && rg_outside_cut(folder) && rmdir(folder) == 0)
		continue;
	return r;
}

int rg_outside_lock(const char *record, bool make, int *ret_lock, struct roger_err *err)
{
	RG_CLEANUP(rg_file_closep) int lock = RG_NO_FILE;
	struct stat held, there;
	char folder[PATH_MAX];
	int r = ROGER_OK;

	snprintf(folder, sizeof folder, "%.*s", (int)name_at(record), record);
	for (;;) {
		if (make)
			r = rg_outside_make_folders(record, 0700, err);
		if (r == ROGER_OK)
			r = rg_file_open_folder(AT_FDCWD, folder, &lock, err);
		if (r == ROGER_OK && lock != RG_NO_FILE)
			r = rg_file_lock(lock, folder, RG_LOCK_WAIT_MS, err);
		if (r < 0)
			return r;
		if (lock == RG_NO_FILE && !make)
			return ROGER_OK;
		/* The previous holder may have removed the folder. */
		if (lock != RG_NO_FILE && fstat(lock, &held) == 0 && stat(folder, &there) == 0 &&
		    held.st_dev == there.st_dev && held.st_ino == there.st_ino)
			break;
		rg_file_closep(&lock);
	}
	*ret_lock = lock;
	lock = RG_NO_FILE;
	return ROGER_OK;
}

bool rg_outside_pointer(const char *file, const char *word, const char *base, char to[4096])
{
	RG_CLEANUP(rg_buf_deinit) struct rg_buf text = { .maximum = PATH_MAX };
	size_t start = strlen(word), length;

	if (rg_file_read_all(AT_FDCWD, file, PATH_MAX - 1, &text, NULL, NULL) < 0)
		return false;
	rg_buf_add_char(&text, '\n');
	if (text.failed || text.length < start || memcmp(text.data, word, start) != 0)
		return false;
	length = (size_t)((char *)memchr(text.data, '\n', text.length) - text.data);
	if (length <= start)
		return false;
	text.data[length] = '\0';
	return snprintf(to, PATH_MAX, "%s%s%s", text.data[start] == '/' ? "" : base,
			text.data[start] == '/' ? "" : "/", text.data + start) < PATH_MAX;
}

char *rg_outside_cut(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return NULL;
	*slash = '\0';
	return slash + 1;
}

bool rg_outside_climb(char folder[4096], const char *name)
{
	char path[PATH_MAX + 16];

	do {
		snprintf(path, sizeof path, "%s/%s", folder, name);
		if (rg_outside_is_there(path))
			return true;
	} while (rg_outside_cut(folder));
	return false;
}

bool rg_outside_git_own(const char *base, char to[4096])
{
	char git[PATH_MAX + 8];
	struct stat facts;

	snprintf(git, sizeof git, "%s/.git", base);
	if (stat(git, &facts) < 0)
		return false;
	if (S_ISDIR(facts.st_mode))
		return snprintf(to, PATH_MAX, "%s", git) < PATH_MAX;
	return rg_outside_pointer(git, "gitdir: ", base, to);
}

bool rg_outside_git_folder(const char *folder, char to[4096])
{
	char base[PATH_MAX], own[PATH_MAX], pointer[PATH_MAX + 16], shared[PATH_MAX];
	struct stat facts;

	snprintf(base, sizeof base, "%s", folder);
	if (!rg_outside_climb(base, ".git") || !rg_outside_git_own(base, own))
		return false;
	/* Worktrees share one repository. */
	snprintf(pointer, sizeof pointer, "%s/commondir", own);
	return realpath(rg_outside_pointer(pointer, "", own, shared) ? shared : own, to) &&
	       stat(to, &facts) == 0 && S_ISDIR(facts.st_mode);
}

bool rg_outside_is_there(const char *path)
{
	struct stat facts;

	return stat(path, &facts) == 0;
}

bool rg_outside_along_path(const char *name, const char *base, char to[4096])
{
	const char *part = getenv("PATH");
	struct stat facts;
	size_t length;

	for (; part; part = part[length] ? part + length + 1 : NULL) {
		length = strcspn(part, ":");
		if (snprintf(to, 4096, "%s%s%.*s/%s", *part == '/' ? "" : base,
			     *part == '/' ? "" : "/", (int)length, part, name) < 4096 &&
		    stat(to, &facts) == 0 && S_ISREG(facts.st_mode) && access(to, X_OK) == 0)
			return true;
	}
	return false;
}

static bool is_script(const char *file)
{
	RG_CLEANUP(rg_file_closep) int fd = open(file, O_RDONLY | O_CLOEXEC);
	char start[2];

	return fd >= 0 && read(fd, start, sizeof start) == 2 && memcmp(start, "#!", 2) == 0;
}

bool rg_outside_roger(char to[4096])
{
	return rg_outside_along_path("roger", ".", to) && to[0] == '/' && !is_script(to);
}

bool rg_outside_own_program(char to[4096])
{
	ssize_t length = readlink("/proc/self/exe", to, 4095);

	if (length <= 0)
		return false;
	to[length] = '\0';
	return true;
}
