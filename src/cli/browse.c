/* browse: the desktop's own program that opens an address. */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/command.h"

extern char **environ;

/* Without a screen xdg-open would start a browser for terminals, in this one. */
static const char *find_opener(void)
{
#ifdef __APPLE__
	return "open";
#else
	const char *x = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");

	return (x && *x) || (wayland && *wayland) ? "xdg-open" : NULL;
#endif
}

/* Start the opener, and do not wait: it may run as long as the browser.  Its output is dropped. */
void cli_browse(const char *url)
{
	const char *opener = find_opener();
	char *const words[] = { (char *)(uintptr_t)opener, (char *)(uintptr_t)url, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid;
	int fd;

	if (!opener)
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	for (fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	if (posix_spawnp(&pid, opener, &actions, &attributes, words, environ) != 0)
		pid = 0;
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
}
