/*
 * exit - what the exit status of roger means; it does not change meaning.
 *
 * Never 2: agents' hooks read that as "block".
 */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include <roger.h>

enum cli_exit {
	CLI_DONE = 0,
	CLI_NOTHING = 1,      /* nothing there: no mail, no match, nothing in time; not agreed */
	CLI_USAGE = 64,	      /* the command line is wrong */
	CLI_DATA = 65,	      /* the input is wrong, or verify found damage */
	CLI_NO_SUCH = 66,     /* no such message, agent, issue or workspace */
	CLI_ENGINE = 69,      /* the engine cannot be reached */
	CLI_BUG = 70,	      /* a bug: please report */
	CLI_CANT_CREATE = 73, /* a file cannot be created */
	CLI_IO = 74,	      /* reading, writing or syncing went wrong; out of memory */
	CLI_RETRY = 75,	      /* not done in time; safe to try again with the same key */
	CLI_REFUSED = 77,     /* a rule forbids it */
	CLI_CONFIG = 78,      /* the configuration is wrong */
};

static inline int cli_exit_of(int code)
{
	return code == ROGER_ENOMEM ? CLI_IO : -code;
}

#endif
