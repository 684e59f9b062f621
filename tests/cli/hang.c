/*
 * hang - preloaded into a program of shared parts: as long as the file that HANG names is there,
 * its disk stands still: who reads at an offset, or syncs, waits.
 */
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static void wait_for_disk(int fd)
{
	const char *path = getenv("HANG");
	struct statfs where;

	if (fstatfs(fd, &where) != 0 || where.f_type == PROC_SUPER_MAGIC)
		return;
	while (path && syscall(SYS_faccessat, -100, path, F_OK) == 0)
		usleep(20000);
}

ssize_t pread64(int fd, void *to, size_t size, off64_t from)
{
	wait_for_disk(fd);
	return syscall(SYS_pread64, fd, to, size, from);
}

int fdatasync(int fd)
{
	wait_for_disk(fd);
	return (int)syscall(SYS_fdatasync, fd);
}
