/*
 * mail - print messages for people.
 */
#ifndef CLI_MAIL_H
#define CLI_MAIL_H

#include "cli/command.h"

/* True if the message is for an agent from which reader took over.  reader "": false. */
static inline bool cli_mail_is_for_other(const struct roger_message *message,
					 struct roger_str reader)
{
	return reader.length && !rg_str_equal(message->to, reader);
}

/* Print a line for each message, in columns, with the first line of its text.  reader: the agent
 * whose mailbox is shown, or "". */
void cli_print_summaries(const struct cli_run *run, const struct roger_message_list *messages,
			 struct roger_str reader);

#endif
