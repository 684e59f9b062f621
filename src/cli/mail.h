/*
 * mail - messages for people.
 */
#ifndef CLI_MAIL_H
#define CLI_MAIL_H

#include "cli/command.h"

/* One message on one line, its text cut to what fits. */
void cli_print_summary(const struct roger_message *message);

#endif
