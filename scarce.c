
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int armed;
static long count, at = -1;
static int due(void)
{
	if (!armed)
		return 0;
	if (at < 0)
		at = atol(getenv("FAIL_AT"));
	if (__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) != at)
		return 0;
	errno = ENOMEM;
	return 1;
}
void *malloc(size_t size)
{
	static void *(*next)(size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "malloc");
	return due() ? 0 : next(size);
}
void *calloc(size_t items, size_t size)
{
	static void *(*next)(size_t, size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "calloc");
	return due() ? 0 : next(items, size);
}
void *realloc(void *piece, size_t size)
{
	static void *(*next)(void *, size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "realloc");
	return due() ? 0 : next(piece, size);
}
ssize_t read(int fd, void *to, size_t size)
{
	static ssize_t (*next)(int, void *, size_t);
	if (!next)
		next = dlsym(RTLD_NEXT, "read");
	armed |= fd == 0;
	return next(fd, to, size);
}
__attribute__((destructor)) static void tell(void)
{
	armed = 0;
	dprintf(2, "allocations %ld\n", count);
}
