/*
 * input - read a whole file or standard input; write text into a new file.
 */
#ifndef CLI_INPUT_H
#define CLI_INPUT_H

#include "base/arena.h"

/*
 * Read into out, unchanged.  path NULL: standard input.
 * member: what the error names if the input is longer than bytes_max.
 */
RG_CHECKED int cli_read_input(const char *path, const char *member, size_t bytes_max,
			      struct rg_buf *out, struct roger_err *err);

/* Like cli_read_input(), into an arena. */
RG_CHECKED int cli_read_text(const char *path, const char *member, size_t bytes_max,
			     struct rg_arena *arena, struct roger_str *ret, struct roger_err *err);

/* Write text into a file that must not exist yet, and sync it. */
RG_CHECKED int cli_write_output(const char *path, struct roger_str text, struct roger_err *err);

#endif
