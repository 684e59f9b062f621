#include "host/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "host/file.h"

struct rg_watch {
	int events;
};

int rg_watch_new(struct rg_watch **ret_watch, struct roger_err *err)
{
	struct rg_watch *watch = calloc(1, sizeof *watch);
	int r;

	if (!watch)
		return rg_fail_memory(err);
	watch->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->events < 0) {
		r = rg_fail(err, ROGER_EIO, errno, "watch folders");
		free(watch);
		return r;
	}
	r = rg_file_move_up(&watch->events, err);
	if (r < 0) {
		free(watch);
		return r;
	}
	*ret_watch = watch;
	return ROGER_OK;
}

struct rg_watch *rg_watch_free(struct rg_watch *watch)
{
	if (watch)
		rg_file_close(watch->events);
	free(watch);
	return NULL;
}

/* By its open descriptor, so that it is the very folder that we work in. */
bool rg_watch_folder(struct rg_watch *watch, int folder)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d/.", folder);
	/* A hard link is reported as a created file only. */
	return inotify_add_watch(watch->events, path,
				 IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR) >= 0;
}

bool rg_watch_file(struct rg_watch *watch, int folder, const char *name)
{
	char path[4200];

	snprintf(path, sizeof path, "/proc/self/fd/%d/%.4096s", folder, name);
	return inotify_add_watch(watch->events, path, IN_MODIFY | IN_DONT_FOLLOW) >= 0;
}

/* What happened does not matter, and there may be much of it. */
static void forget_events(struct rg_watch *watch)
{
	char events[16384];
	ssize_t got;

	do
		got = read(watch->events, events, sizeof events);
	while (got > 0 || (got < 0 && errno == EINTR));
}

enum rg_watch_end rg_watch_wait(struct rg_watch *watch, int64_t wait_ms)
{
	struct pollfd input = { .fd = watch ? watch->events : -1, .events = POLLIN };
	int timeout = wait_ms > 86400000 ? 86400000 : (int)wait_ms, woken;

	woken = poll(&input, 1, timeout);
	if (woken > 0)
		forget_events(watch);
	return woken > 0 ? RG_WATCH_CHANGE : woken == 0 ? RG_WATCH_TIME : RG_WATCH_SIGNAL;
}
