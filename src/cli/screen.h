/*
 * screen - what a person reads on a terminal: lines folded between words, never within one that
 * fits into a line, and a pager when there is more than a screen.
 *
 * The pager is the person's: ROGER_PAGER, else PAGER, else less (with LESS=FRX); "cat" or ""
 * means no pager.  It is started by the first line that does not fit on the screen, and first gets
 * the lines before that, so a short answer starts no pager.  Leaving it early is no error.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <sys/types.h>

#include "base/str.h"

/* A mark in a line: where the line is folded, its rest is indented to this column. */
#define CLI_HANG "\001"

/* The size of the terminal of standard output; 0: it goes elsewhere. */
size_t cli_screen_width(void);

/* Fold lines from here on; paged: use a pager, too, if needed.  Does nothing without a
 * terminal. */
void cli_screen_begin(bool paged);

/* Write each byte as it is from here on, without a pager: for scripts, pictures, JSON. */
void cli_screen_raw(void);

/* Start no pager: what comes must be seen at once. */
void cli_screen_unpaged(void);

bool cli_screen_folds(void);

/* Write text; flush: also an unfinished line.  Return 0, or the errno of what was lost. */
int cli_screen_write(struct roger_str text);
int cli_screen_flush(void);

/* Print a line, folded, to standard error, which must be a terminal. */
void cli_screen_complain(struct roger_str line);

/* Let the pager end; true: there was one. */
bool cli_screen_end(void);

/* Start a program whose standard input is `input`; with -1 its three streams are /dev/null, and it
 * has a session of its own.  Returns its pid; 0: it could not be started. */
pid_t cli_start_program(char *const words[], int input);

/*
 * The whole screen, for a command that is watched: enter, then draw and read keys, then leave.
 * Leaving is safe in a handler of a signal, and does nothing if nobody has entered; a signal that
 * ends the process leaves by itself.
 */
void cli_screen_enter(void);
void cli_screen_leave(void);

/* Ask the terminal for its size again; true: it changed, and the next frame is drawn. */
bool cli_screen_measure(void);
size_t cli_screen_height(void);

/* How many lines of that width the text takes, folded, with what follows its last line end. */
size_t cli_screen_lines(struct roger_str text, size_t width);

/* Add lines, each folded to that width. */
void cli_screen_fold(struct rg_buf *out, struct roger_str text, size_t width);

/* Show lines, which must each have a line end, be harmless, and fit the screen; cursor: its column
 * in the last one, 0: none. */
void cli_screen_draw(struct roger_str lines, size_t cursor);

/* A key: a character, or one of these; 0: none waits. */
enum cli_key {
	CLI_KEY_UP = 0x110000,
	CLI_KEY_DOWN,
	CLI_KEY_PAGE_UP,
	CLI_KEY_PAGE_DOWN,
	CLI_KEY_HOME,
	CLI_KEY_END,
	CLI_KEY_ENTER,
	CLI_KEY_ESCAPE,
	CLI_KEY_BACKSPACE,
	CLI_KEY_OTHER
};
uint32_t cli_screen_key(void);

#endif
