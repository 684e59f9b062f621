/*
 * term - printing for people: colours, columns, progress, and text from
 * agents made harmless.
 */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdarg.h>
#include <stdio.h>

#include "base/str.h"

/*
 * The stream for answers: standard output, whose interrupted writes are taken up
 * again (stdio gives up on them and drops what it held).
 */
extern FILE *cli_out;

enum cli_style { CLI_PLAIN, CLI_BOLD, CLI_DIM, CLI_RED, CLI_GREEN, CLI_YELLOW, CLI_CYAN };

/* Open cli_out; false: out of memory. */
bool cli_term_open(void);

/* Write out what cli_out holds; 0, or the errno of the first write since it was opened that lost
 * something. */
int cli_term_flush(void);

/* Note that an answer could not be built; the first error counts. */
void cli_term_lose(int error);

/* Whether a write of cli_out has lost something by now. */
bool cli_term_lost(void);

/* Set up colours and the bar.  when: "auto", "always" or "never"; auto heeds NO_COLOR,
 * CLICOLOR_FORCE, TERM and whether it is a terminal.  quiet: no bar. */
void cli_term_init(const char *when, bool quiet);

/* Start a style; CLI_PLAIN ends it.  "" without colours. */
const char *cli_style(enum cli_style style);

/*
 * Print text with what is harmful in it (base/unicode.h) shown as such: <U+202E>.
 * lines: line ends and tabs may stay, and CR LF is one end, of which LF is printed;
 * else it is one line, and line separators are shown, too.
 */
void cli_print_text(FILE *to, struct roger_str text, bool lines);

/* Is there a CR LF at this offset? */
bool cli_is_crlf(struct roger_str text, size_t at);

/* How many columns text takes once printed on one line. */
size_t cli_columns(struct roger_str text);

/* How many bytes of it fit into that many columns. */
size_t cli_bytes_within(struct roger_str text, size_t columns);

/* "WHAT: TEXT" on standard error, folded where that is a terminal. */
void cli_complain(const char *what, struct roger_str text);

/* "note: TEXT" for people, a line each, on standard error. */
void cli_print_note(struct roger_str text);
void cli_print_notes(const struct roger_strs *texts);

/*
 * Print to cli_out, text from agents made harmless.  %t struct roger_str, %q the same
 * with everything that cannot be seen shown, %s a
 * string, %d int64_t, %p "s" unless the last %d was 1, %w int64_t as
 * cli_when(), %S the enum cli_style from here on, %. plain again.  %-9s, %8d, %*t (an
 * int before it): padded to that many columns, %t and %s on the right.  What is between %( and %)
 * is left out where its first thing, styles apart, is unset; there is no * in it.
 */
#define cli_say(...) cli_say_to(cli_out, __VA_ARGS__)
void cli_say_to(FILE *to, const char *format, ...);

/* Like cli_say_to(), with %t printed as it is. */
void cli_say_plain(FILE *to, const char *format, va_list arguments);

/* Print a message's text: each line, also after a line separator, follows the indent. */
void cli_print_body(FILE *to, struct roger_str text, const char *indent);

/* "2026-02-16 05:25:01" local time, or "-"; in to, where it needs room. */
enum { CLI_TIME_BYTES = 40 };
const char *cli_time(int64_t ms, char to[CLI_TIME_BYTES]);

/* Like cli_time(); on a terminal, up to a week from now, "5 min ago", "in 2 h". */
const char *cli_when(int64_t ms, char to[CLI_TIME_BYTES]);

/* Print the time zone of instants that were printed, if any were, on a terminal. */
void cli_print_zone(void);

/* Text printed into memory, freed after its end.  false: out of memory. */
struct cli_page {
	FILE *to;
	char *text;
	size_t length;
};
bool cli_page_begin(struct cli_page *page);
bool cli_page_end(struct cli_page *page);
void cli_page_free(struct cli_page *page); /* for RG_CLEANUP */

/* "index: 312 MB of 1.2 GB, 98 MB/s, 9 s left", or "search: 1.2M of 3.0M messages, ...". */
struct cli_work {
	const char *what; /* the `what` of roger_progress */
	int64_t from;	  /* what was done when it began */
	int64_t done, total, elapsed_ns;
};
enum { CLI_PROGRESS_BYTES = 240 };
void cli_progress_words(const struct cli_work *work, char to[CLI_PROGRESS_BYTES]);

/* Show work of more than a second on a line of standard error, if that is a terminal; for
 * roger_on_progress(). */
bool cli_progress(void *context, const char *what, int64_t done, int64_t total);
void cli_progress_end(void);

/* Every JSON answer begins with its format: 1 until a member changes its name, kind or meaning. */
#define CLI_FORMAT "{\"format\":1"

/*
 * Print JSON, with what cannot be seen escaped, and a line end.  Without memory, output
 * to cli_out counts as lost.
 */
void cli_print_json(FILE *to, const struct rg_buf *json);

#endif
