/*
 * mail - messages for people.
 */
#ifndef CLI_MAIL_H
#define CLI_MAIL_H

#include "cli/command.h"

/* In the mail of reader, since it took over from the recipient?  reader "": anybody looks. */
static inline bool cli_mail_is_for_other(const struct roger_message *message,
					 struct roger_str reader)
{
	return reader.length && !rg_str_equal(message->to, reader);
}

/* One message on one line, with the first line of its text. */
void cli_print_summary(const struct roger_message *message);

/* The number of this session, on a terminal; elsewhere, where nothing shows it, 0. */
int64_t cli_shown_epoch(const struct cli_run *run);

/* Many, in columns, for a terminal; epoch: of this session; reader: whose mail it is, "":
 * anybody's.
 */
void cli_print_summaries(const struct roger_message_list *messages, int64_t epoch,
			 struct roger_str reader);

#endif
