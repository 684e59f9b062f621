/*
 * story - a timeline as it is drawn: a lane for each agent, and a row for each event
 * that is seen, with the messages that the events are about.
 *
 * Claims are on the lane of the agent whose mailbox it is, whoever the worker was.
 */
#ifndef CLI_STORY_H
#define CLI_STORY_H

#include "cli/command.h"

enum cli_shape {
	CLI_UNSEEN,
	CLI_ARROW, /* from one lane to another, or to itself */
	CLI_NOTE,  /* on a lane */
	CLI_LINE,  /* across all */
	CLI_GAP,   /* nothing happened for a while */
};

/* Colours are known by number, for light and dark. */
enum cli_tint { CLI_GREY, CLI_BLUE, CLI_LEAF, CLI_PURPLE, CLI_BROWN, CLI_CRIMSON, CLI_TINTS };

/* What stands at the end of an arrow, or on a lane. */
enum cli_mark {
	CLI_MARK_DOT,
	CLI_MARK_HEAD,
	CLI_MARK_TIMEOUT,
	CLI_MARK_CLAIM,
	CLI_MARK_ACK,
	CLI_MARK_LAPSE,
	CLI_MARK_RETURN,
	CLI_MARK_DEAD,
	CLI_MARK_AGAIN,
	CLI_MARK_KILL,
	CLI_MARKS
};

struct cli_row {
	enum cli_shape shape;
	enum cli_tint tint;
	enum cli_mark mark;
	bool dashed;
	const struct roger_event *event; /* of a gap: the one after it */
	size_t from, to;		 /* lanes */
	struct roger_str label;		 /* "plan#3" of a message, else all there is to say */
	struct roger_str subject;	 /* of a message: how its text begins */
	struct roger_str detail;	 /* of a message: type, and when it was read */
};

/* A message that events are about. */
struct cli_told {
	struct roger_str id;
	const struct roger_message *message; /* NULL: it is gone */
	const struct roger_event *read;	     /* when; NULL: it was not */
	struct roger_str worker;	     /* who claimed it last */
};

struct cli_story {
	const struct roger_timeline_reply *reply;
	struct rg_arena *arena;
	struct roger_strs lanes;
	struct cli_row *rows;
	size_t count;
	struct cli_told *told; /* by id */
	size_t told_count;
	struct roger_messages_reply *pages; /* to free */
	size_t page_count;
};

/* From the last `events_max` events of a timeline, which is borrowed. */
RG_CHECKED int cli_story_load(struct roger *roger, const struct roger_timeline_reply *reply,
			      size_t events_max, struct cli_story *ret_story,
			      struct roger_err *err);
void cli_story_free(struct cli_story *story);

/* NULL: none of the events is about it. */
struct cli_told *cli_story_told(const struct cli_story *story, struct roger_str id);

/* "issue", "task", "run" or "agent". */
const char *cli_story_subject(const struct roger_timeline_reply *reply);

/*
 * The first row of a part that begins there or soon after, so that --until can name where
 * it begins; and how that is said: "the last 7 of 9 events; ..." and a command for the
 * others.  Where that would leave out too much the command is the one that prints all.
 */
size_t cli_story_cut(const struct cli_story *story, size_t row);
void cli_story_add_rest(const struct cli_story *story, size_t first, const char *form,
			struct rg_buf *ret_note, struct rg_buf *ret_command);

#endif
