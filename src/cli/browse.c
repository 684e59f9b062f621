/* browse: the desktop's own program that opens an address. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/screen.h"

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

/* This does not wait for the opener: it may run as long as the browser. */
void cli_browse(const char *url)
{
	const char *opener = find_opener();
	char *const words[] = { (char *)(uintptr_t)opener, (char *)(uintptr_t)url, NULL };

	if (opener)
		(void)cli_start_program(words, -1);
}
