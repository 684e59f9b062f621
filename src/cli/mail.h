/*
 * mail - messages for people.
 */
#ifndef CLI_MAIL_H
#define CLI_MAIL_H

#include "cli/command.h"

/* One message on one line, with the first line of its text. */
void cli_print_summary(const struct roger_message *message);

/* The number of this session, on a terminal; elsewhere, where nothing shows it, 0. */
int64_t cli_shown_epoch(const struct cli_run *run);

/* Many, in columns, for a terminal; epoch: of this session; own: all are to whoever looks. */
void cli_print_summaries(const struct roger_message_list *messages, int64_t epoch, bool own);

#endif
