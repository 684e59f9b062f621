/*
 * exit - exit statuses.  verbs/host says what each one means, which does not change.
 */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include <roger.h>

enum cli_exit {
	CLI_DONE = 0,
	CLI_NOTHING = 1, /* nothing there, or not in time */
	CLI_USAGE = -ROGER_EUSAGE,
	CLI_DATA = -ROGER_EDATA,
	CLI_IO = -ROGER_EIO,
	CLI_RETRY = -ROGER_ETIMEOUT,
	CLI_REFUSED = -ROGER_EREFUSED,
};

static inline int cli_exit_of(int code)
{
	return code == ROGER_ENOMEM ? CLI_IO : -code;
}

#endif
