/*
 * stop - for commands that go on until somebody ends them: SIGINT, SIGTERM or
 * SIGHUP end what the library waits for, and then the command.
 */
#ifndef CLI_STOP_H
#define CLI_STOP_H

#include "cli/command.h"

void cli_stop_catch(const struct cli_run *run);
bool cli_stopped(void);

#endif
