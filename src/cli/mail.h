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

/* A line for each, in columns, with the first line of its text; reader: whose mail it is, "":
 * anybody's. */
void cli_print_summaries(const struct cli_run *run, const struct roger_message_list *messages,
			 struct roger_str reader);

#endif
