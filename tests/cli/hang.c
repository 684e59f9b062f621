/*
 * hang - preloaded into a program of shared parts: as long as the file that HANG names is there,
 * its disk stands still: who reads at an offset, or syncs, waits.  While there is one named by
 * FAILS, a sync fails; and one of messages where there is one named by ONCE, which is then taken
 * away: as many as it has bytes go well before.  SYNCS names a file that gets a byte for each sync.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static bool is_there(const char *variable)
{
	const char *path = getenv(variable);

	return path && syscall(SYS_faccessat, -100, path, F_OK) == 0;
}

static void wait_for_disk(int fd)
{
	struct statfs where;

	if (fstatfs(fd, &where) != 0 || where.f_type == PROC_SUPER_MAGIC)
		return;
	while (is_there("HANG"))
		usleep(20000);
}

ssize_t pread64(int fd, void *to, size_t size, off64_t from)
{
	wait_for_disk(fd);
	return syscall(SYS_pread64, fd, to, size, from);
}

static void count_sync(void)
{
	const char *path = getenv("SYNCS");
	int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;

	if (file >= 0 && write(file, ".", 1) == 1)
		close(file);
}

static bool has_messages(int fd)
{
	char link[64], path[4096];
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path - 1);
	path[length < 0 ? 0 : length] = '\0';
	return strstr(path, "/messages.jsonl") != NULL;
}

static bool fails_now(void)
{
	const char *path = getenv("ONCE");
	struct stat once;

	if (!path || stat(path, &once) != 0)
		return false;
	return once.st_size ? truncate(path, once.st_size - 1) != 0 : unlink(path) == 0;
}

int fdatasync(int fd)
{
	wait_for_disk(fd);
	count_sync();
	if (!is_there("FAILS") && !(has_messages(fd) && fails_now()))
		return (int)syscall(SYS_fdatasync, fd);
	errno = EIO;
	return -1;
}
