/*
 * told - the messages that the events of a timeline are about.
 */
#ifndef CLI_TOLD_H
#define CLI_TOLD_H

#include "cli/command.h"

/* A message that events are about. */
struct cli_told {
	struct roger_str id;
	const struct roger_message *message; /* NULL: it is gone */
	const struct roger_event *read;	     /* the event of its reading; NULL: none */
};

struct cli_told_list {
	struct cli_told *items; /* sorted by id */
	size_t count;
	struct roger_messages_reply *pages; /* the replies that hold the messages; to free */
	size_t page_count;
};

/* Ask for the messages of these events, which are borrowed. */
RG_CHECKED int cli_told_load(struct roger *roger, const struct roger_event *events, size_t count,
			     struct rg_arena *arena, struct cli_told_list *ret_list,
			     struct roger_err *err);
void cli_told_free(struct cli_told_list *list);

/* Find a message; NULL: none of the events is about it. */
struct cli_told *cli_told_find(const struct cli_told_list *list, struct roger_str id);

#endif
