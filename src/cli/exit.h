/*
 * exit - what the exit status of roger means; it does not change meaning.
 *
 * Never 2: agents' hooks read that as "block".
 */
#ifndef CLI_EXIT_H
#define CLI_EXIT_H

#include <roger.h>

/* Name, number, and what help says of it. */
#define CLI_EXITS(X)                                                                               \
	X(DONE, 0, "done")                                                                         \
	X(NOTHING, 1, "nothing there or not in time")                                              \
	X(USAGE, 64, "wrong command line")                                                         \
	X(DATA, 65, "wrong data or damage found")                                                  \
	X(NO_SUCH, 66, "not found")                                                                \
	X(ENGINE, 69, "the store cannot be reached")                                               \
	X(BUG, 70, "a bug in roger")                                                               \
	X(CANT_CREATE, 73, "a file cannot be created")                                             \
	X(IO, 74, "reading, writing or syncing failed")                                            \
	X(RETRY, 75, "not done in time, try again with the same key")                              \
	X(REFUSED, 77, "a rule forbids it")                                                        \
	X(CONFIG, 78, "wrong configuration")

enum cli_exit {
#define X(name, status, meaning) CLI_##name = (status),
	CLI_EXITS(X)
#undef X
};

static inline int cli_exit_of(int code)
{
	return code == ROGER_ENOMEM ? CLI_IO : -code;
}

#endif
