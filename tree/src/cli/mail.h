/*
 * mail - messages for people.
 */
#ifndef CLI_MAIL_H
#define CLI_MAIL_H

#include "cli/command.h"

/* One message on one line, its text cut to what fits. */
void cli_print_summary(const struct roger_message *message);

/* How far the messages of these ids got: show --trace. */
RG_CHECKED int cli_show_trace(struct cli_run *run, const struct roger_strs *ids, int *ret_exit,
			      struct roger_err *err);

extern const struct cli_command cli_thread;

#endif
