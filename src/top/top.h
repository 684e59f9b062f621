/*
 * top - what happens in a workspace, live, on a terminal: the program that `roger top` becomes.
 *
 * It only looks, by verbs that leave no note, so that nothing counts as looked at or read because
 * a person watched.  Only a key writes: a reply, and an acknowledgement of the person's own mail.
 *
 *     look.c    what is shown, asked of the library
 *     screen.c  cells of the terminal (curses)
 *     rows.c    the overview
 *     page.c    one message, agent or run, and the keys
 *     main.c    waiting for keys and for news
 */
#ifndef TOP_H
#define TOP_H

#include <stdio.h>

#include "base/str.h"

enum { TOP_AGENTS_MAX = 40, TOP_MAIL_MAX = 20, TOP_MESSAGES_MAX = 300, TOP_ID_BYTES = 200 };

/* ------------------------------------------------------------------ look -- */

/* An agent, and its oldest unread messages. */
struct top_agent {
	const struct roger_agent *agent;
	struct roger_messages_reply mail;
};

/* A claimed message, until when. */
struct top_claim {
	const struct roger_message *message;
};

/* All that is shown.  Its texts are the replies'. */
struct top_view {
	struct roger *roger;
	struct roger_agents_reply agents_reply;
	struct roger_runs_reply runs_reply;
	struct roger_messages_reply messages;
	struct top_agent agents[TOP_AGENTS_MAX]; /* those with most unread mail first */
	size_t agent_count;
	struct top_claim claims[TOP_AGENTS_MAX];
	size_t claim_count;
	const struct roger_run **runs; /* that are not over */
	size_t run_count;
	int64_t unread;
	char trouble[512]; /* why not all could be asked; "" */
};

/* Ask again; filter: of messages only those with this text in their names or words. */
void top_look(struct top_view *view, struct roger_str filter);
void top_view_deinit(struct top_view *view);

/* ---------------------------------------------------------------- screen -- */

enum top_style {
	TOP_PLAIN,
	TOP_BOLD,
	TOP_DIM,
	TOP_RED,
	TOP_GREEN,
	TOP_YELLOW,
	TOP_CYAN,
	TOP_REVERSE
};

void top_screen_open(bool colours);
void top_screen_close(void);
void top_screen_resize(void); /* to what the terminal is now */
int top_height(void);
int top_width(void);
void top_clear(void);
void top_show(void); /* write what changed */

/*
 * Put a text from column x on, on one line, at most that many columns, with what is harmful in it
 * shown as such (<U+202E>), and an ellipsis where it is cut.  Returns the column after it.
 */
int top_put(int y, int x, int columns, enum top_style style, struct roger_str text);
/* Blanks in reverse over the whole line: what is put there next stands on a bar. */
void top_bar(int y);
void top_cursor(int y, int x); /* x < 0: hidden */

/* A key: a character, or one of these; 0: none waits. */
enum top_key {
	TOP_UP = 0x110000,
	TOP_DOWN,
	TOP_PAGE_UP,
	TOP_PAGE_DOWN,
	TOP_HOME,
	TOP_END,
	TOP_ENTER,
	TOP_ESCAPE,
	TOP_BACKSPACE,
	TOP_OTHER
};
uint32_t top_key(void);

/* How many bytes of the text are its first line, where that is at most so wide; with what ends it.
 */
size_t top_line(struct roger_str text, int columns, size_t *ret_shown);

/* ------------------------------------------------------------------ rows -- */

enum top_row_kind {
	TOP_ROW_TITLE,
	TOP_ROW_AGENT,
	TOP_ROW_CLAIM,
	TOP_ROW_RUN,
	TOP_ROW_MESSAGE,
	TOP_ROW_MORE
};

/* "12 s", "5 min", "3 h", "2 d". */
void top_age(int64_t ms, char to[32]);

/* Milliseconds until an age changes. */
int64_t top_age_left(int64_t ms);

/* What is chosen, by name, so that it stays chosen while rows come and go. */
struct top_choice {
	enum top_row_kind kind;
	char id[TOP_ID_BYTES];
};

/* Draw the overview and make the choice fit; step: how many rows to go.  Returns for how long it
 * stays true. */
int64_t top_rows_draw(const struct top_view *view, struct top_choice *choice, int step);

/* ------------------------------------------------------------------ page -- */

struct top {
	struct top_view view;
	const char *workspace;
	struct roger_str self;
	struct top_choice choice;
	struct roger_str filter;
	char filter_text[128];
	char notice[512];
	bool open;			   /* a page is shown, in place of the overview */
	struct top_choice page;		   /* of what; TOP_ROW_TITLE: the keys */
	struct roger_messages_reply shown; /* its messages */
	struct rg_buf text;		   /* its lines */
	int64_t scroll;
	enum { TOP_NO_PROMPT, TOP_REPLY, TOP_FILTER } prompt;
	char typed[8192];
	char reply_id[TOP_ID_BYTES], reply_to[TOP_ID_BYTES], reply_issue[TOP_ID_BYTES];
	bool over;
};

/* Draw all; returns for how long it stays true. */
int64_t top_draw(struct top *top, int step);
/* Act on a key; true: ask the library again. */
bool top_press(struct top *top, uint32_t key);

#endif
