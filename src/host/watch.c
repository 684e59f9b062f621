#include "host/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "host/file.h"

int rg_watch_open(void)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	return watch < 0 || rg_file_move_up(&watch, NULL) < 0 ? RG_NO_FILE : watch;
}

/* Uses the open descriptor, so that it watches the very folder that we work in. */
void rg_watch_folder(int watch, int folder)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d/.", folder);
	/* A hard link is reported as a created file only. */
	inotify_add_watch(watch, path, IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_ONLYDIR);
}

bool rg_watch_file(int watch, int folder, const char *name)
{
	char path[4200];

	snprintf(path, sizeof path, "/proc/self/fd/%d/%.4096s", folder, name);
	return inotify_add_watch(watch, path, IN_MODIFY | IN_DONT_FOLLOW) >= 0;
}

enum rg_watch_end rg_watch_wait(int watch, int64_t wait_ms)
{
	struct pollfd input = { .fd = watch, .events = POLLIN };
	int timeout = wait_ms > 86400000 ? 86400000 : (int)wait_ms,
	    woken = poll(&input, 1, timeout);
	char events[16384];
	ssize_t got = woken > 0;

	/* The events do not matter, and there may be many: read them all. */
	while (got > 0 || (got < 0 && errno == EINTR))
		got = read(watch, events, sizeof events);
	return woken > 0 ? RG_WATCH_CHANGE : woken == 0 ? RG_WATCH_TIME : RG_WATCH_SIGNAL;
}
